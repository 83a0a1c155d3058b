"""Scenarios of the area customers."""
