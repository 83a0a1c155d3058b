"""Tests of the room platform."""
