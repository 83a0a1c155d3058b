"""Conforming variants of the area cards."""
