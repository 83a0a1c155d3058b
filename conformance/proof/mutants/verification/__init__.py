"""Mutants of the area verification."""
