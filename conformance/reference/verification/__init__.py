"""The verification of customers."""
