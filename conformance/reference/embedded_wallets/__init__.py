"""Embedded wallets, and what their owners sign with."""
