"""Transactions, and what the rails make of them."""
