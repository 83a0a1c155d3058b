"""Mutants of the area cards."""
