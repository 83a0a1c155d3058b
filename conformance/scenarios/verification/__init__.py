"""Scenarios of the area verification."""
