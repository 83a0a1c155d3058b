"""Mutants of the area quotes."""
