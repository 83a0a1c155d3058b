"""Mutants of the area authentication."""
