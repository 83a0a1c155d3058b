"""Mutants of the area protocol."""
