"""Conforming variants of the area embedded wallets."""
