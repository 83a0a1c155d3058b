"""Scenarios of the area quotes."""
