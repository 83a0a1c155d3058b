"""Tests of the reference implementation where no requirement sees what it does."""
