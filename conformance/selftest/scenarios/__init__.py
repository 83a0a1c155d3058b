"""Tests of the room scenarios."""
