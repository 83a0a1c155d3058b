"""The mutants that no scenario is aimed at are those that were written down, and can be used."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.proof import unaimed
from conformance.proof.patch import Patch
from conformance.proof.unaimed.mutants import MUTANTS, statements

README = Path(unaimed.__path__[0]) / "README.md"


def test_each_that_was_written_down_exists() -> None:
    """The table of the README has the thirty mutants, in their order, each with a statement."""
    told = statements(README.read_text(encoding="utf-8"))

    assert list(told) == list(MUTANTS)
    assert len(told) == 30
    assert all(told.values())


@pytest.mark.parametrize("name", MUTANTS)
def test_each_changes_the_reference(name: str) -> None:
    """Its patch finds what it changes, and can be taken back."""
    patch = Patch()
    try:
        MUTANTS[name](patch)
        assert patch.changes
    finally:
        patch.revert()
