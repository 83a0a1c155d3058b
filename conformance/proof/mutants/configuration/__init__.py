"""Mutants of the area configuration."""
