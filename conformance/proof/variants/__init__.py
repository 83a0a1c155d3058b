"""Conforming variants: references that choose otherwise where the specification is open."""
