"""Scenarios of the area protocol."""
