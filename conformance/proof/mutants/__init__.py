"""Mutants: references that break one requirement each."""
