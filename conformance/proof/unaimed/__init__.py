"""Mutants of kinds that no scenario was written for, and which kind of test finds each."""
