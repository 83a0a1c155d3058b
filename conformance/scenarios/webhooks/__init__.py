"""Scenarios of the area webhooks."""
