"""Mutants of the area transactions."""
