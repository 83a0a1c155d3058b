"""Mutants of operations of which the specification names the family alone."""

from __future__ import annotations

from conformance.proof.kit.builders import before
from conformance.proof.mutant import declare
from conformance.reference.cards import card_simulators, cards


def _breaks(*_: object) -> None:
    raise ZeroDivisionError


for _name, _place in (
    ("issuance", (cards, "issue")),
    ("authorization", (card_simulators, "approve")),
    ("clearing", (card_simulators, "settle")),
):
    declare("FAM-009", _name, f"the service breaks over a card's {_name}", before(*_place, _breaks))
