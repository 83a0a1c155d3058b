"""Scenarios of the area embedded wallets."""
