"""Mutants of the area embedded wallets."""
