"""Profiles: what cannot be known about a target, read from YAML."""
