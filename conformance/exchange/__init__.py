"""The wire: one client that sends, bounds, judges and records every request."""
