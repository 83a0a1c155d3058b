"""Conforming variants of the area transactions."""
