"""Quotes: their ends, fees, limits and states, and the transfers that came before them."""
