"""Mutants of the area external accounts."""
