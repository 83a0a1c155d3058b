"""Tests of the room fuzz."""
