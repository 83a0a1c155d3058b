"""Mutants of the area stablecoins."""
