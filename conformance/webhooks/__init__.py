"""Webhooks: the listener that takes deliveries, and the proof of their signatures."""
