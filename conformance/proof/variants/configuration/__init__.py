"""Conforming variants of the area configuration."""
