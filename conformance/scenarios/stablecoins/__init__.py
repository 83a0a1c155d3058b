"""Scenarios of the area stablecoins."""
