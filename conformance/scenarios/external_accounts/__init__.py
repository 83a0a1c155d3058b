"""Scenarios of the area external accounts."""
