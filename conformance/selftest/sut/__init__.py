"""Tests of the system under test as the suite starts it."""
