"""What is wrong with the target as it is configured, told before anything runs."""

from __future__ import annotations


class TargetError(Exception):
    """The target cannot be tested as it is configured."""
