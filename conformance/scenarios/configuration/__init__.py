"""Scenarios of the area configuration."""
