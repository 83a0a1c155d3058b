"""Accounts outside of the service, to which money is sent."""
