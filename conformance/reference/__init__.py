"""The reference implementation of the payments interface."""
