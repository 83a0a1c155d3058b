"""Conforming variants of the area stablecoins."""
