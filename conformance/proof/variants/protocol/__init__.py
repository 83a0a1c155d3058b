"""Conforming variants of the area protocol."""
