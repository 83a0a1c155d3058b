"""A pytest plugin that puts the few scenarios in the place of the suite, for whole processes."""

from __future__ import annotations

from pathlib import Path

from conformance import plugin
from conformance.contract.catalogue import Catalogue, catalogue
from conformance.selftest.hostile.few import small_catalogue

_CATALOGUE = small_catalogue()


def _load(_folder: Path) -> Catalogue:
    return _CATALOGUE


# The process is that of the run, and ends with it.
Catalogue.load = staticmethod(_load)  # type: ignore[method-assign, assignment]
catalogue.cache_clear()
plugin._SUITE = (Path(__file__).parent,)  # type: ignore[assignment]
