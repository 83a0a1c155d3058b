"""Scenarios of the area internal accounts."""
