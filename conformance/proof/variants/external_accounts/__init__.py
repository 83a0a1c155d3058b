"""Conforming variants of the area external accounts."""
