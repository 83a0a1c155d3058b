"""Conforming variants of the area authentication."""
