"""Conforming variants of the area webhooks."""
