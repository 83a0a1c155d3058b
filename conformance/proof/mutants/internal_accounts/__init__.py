"""Mutants of the area internal accounts."""
