"""Tests of the documents of the repository."""
