"""Scenarios of the area authentication."""
