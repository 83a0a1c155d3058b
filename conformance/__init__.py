"""A conformance suite for a payments interface."""
