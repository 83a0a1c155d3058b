"""Imports and reads once what every process of a measurement needs, before they are copied."""

from __future__ import annotations

from hypothesis import Phase, settings

from conformance.contract.catalogue import catalogue
from conformance.contract.judge import judge
from conformance.proof import features, mutation, tolerance

__all__ = ["features", "mutation", "tolerance"]

catalogue()
judge()

# A measurement asks whether a break is found, and nobody reads the walk that found it.
settings.register_profile("unshrunk", phases=[Phase.generate])
settings.load_profile("unshrunk")
