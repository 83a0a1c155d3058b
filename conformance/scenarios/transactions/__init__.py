"""Scenarios of the area transactions."""
