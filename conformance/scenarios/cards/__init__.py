"""Scenarios of the area cards."""
