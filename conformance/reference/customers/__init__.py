"""Customers: who they are, and how they come to be approved."""
