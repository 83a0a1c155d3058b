"""Conforming variants of the area customers."""
