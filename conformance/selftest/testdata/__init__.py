"""Tests of the room testdata."""
