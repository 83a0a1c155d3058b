"""Tests of the room webhooks."""
