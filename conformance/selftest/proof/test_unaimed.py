"""The mutants that no scenario is aimed at are those that were written down, and can be used."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from conformance.proof import unaimed
from conformance.proof.patch import MutantError, Patch
from conformance.proof.unaimed.mutants import MUTANTS, statements
from conformance.proof.unaimed.runner import judge, kind_of
from conformance.selftest.collection import ROOT

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


@pytest.mark.parametrize(
    ("module", "name", "kind"),
    [
        ("fuzz/test_operations.py", "test_createQuote", "generated"),
        ("fuzz/test_model.py", "test_payments_agree_with_the_model", "model"),
        ("fuzz/test_clients.py", "test_payments_of_several_clients", "clients"),
        ("scenarios/quotes/test_lost_answers.py", "test_x[after-sending]", "lost answers"),
        ("scenarios/quotes/test_quote_execution.py", "test_x[PROCESSING]", "curated"),
    ],
)
def test_each_test_is_of_a_kind(module: str, name: str, kind: str) -> None:
    """Its file tells the kind, or the moment at which it cuts the line."""
    item: Any = SimpleNamespace(name=name, path=ROOT / "conformance" / module)

    assert kind_of(item) == kind


def test_what_does_not_exist_is_told() -> None:
    """A mutant or a kind of another name is refused before anything runs."""
    with pytest.raises(MutantError, match="there is no 'x'"):
        judge(["x"], [], 1)
    with pytest.raises(MutantError, match="there is no 'luck'"):
        judge([], ["luck"], 1)
