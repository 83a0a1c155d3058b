"""Faults that can be planted, each with the line of the specification that it breaks."""

BUGS: dict[str, int] = {}
