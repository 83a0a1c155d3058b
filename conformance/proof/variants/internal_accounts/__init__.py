"""Conforming variants of the area internal accounts."""
