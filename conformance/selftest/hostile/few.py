"""What the few scenarios decide, in the place of the catalogue.

``-p conformance.selftest.hostile.substitute`` puts it there in a process of its own.
"""

from __future__ import annotations

from conformance.contract.catalogue import Catalogue, catalogue
from conformance.selftest.hostile.scenarios import REQUIREMENTS


def few() -> Catalogue:
    """Return the catalogue of what the few scenarios decide."""
    known = catalogue()
    return Catalogue({name: known[name] for name in REQUIREMENTS})
