"""Stablecoins, and what becomes of them on their networks."""
