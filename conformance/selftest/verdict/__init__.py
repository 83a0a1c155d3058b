"""Tests of the room verdict."""
