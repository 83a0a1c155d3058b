"""Conforming variants of the area verification."""
