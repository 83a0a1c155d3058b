"""Conforming variants of the area quotes."""
