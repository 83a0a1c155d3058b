"""Webhooks: signing and delivering them."""
