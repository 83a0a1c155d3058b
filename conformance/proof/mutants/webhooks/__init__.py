"""Mutants of the area webhooks."""
