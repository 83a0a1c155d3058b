"""A catalogue of the few requirements that the scenarios of the register decide.

``-p conformance.selftest.hostile.substitute`` puts it into a process of its own.
"""

from __future__ import annotations

from conformance.contract.catalogue import Catalogue, catalogue
from conformance.selftest.hostile.scenarios import REQUIREMENTS


def small_catalogue() -> Catalogue:
    """Return the catalogue of the few requirements."""
    complete = catalogue()
    return Catalogue({name: complete[name] for name in REQUIREMENTS})
