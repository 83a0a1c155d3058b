"""Curated tests: one module for each state machine, resource and family of errors."""
