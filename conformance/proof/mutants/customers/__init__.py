"""Mutants of the area customers."""
