"""Valid beneficiaries, and what accounts in each currency ask of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import yaml

from conformance.contract.data import FIXTURES
from conformance.testdata.examples import ABSENT, Change, Json, change

WHOLE = "beneficiary"
_TAKEN = "taken"


@dataclass(frozen=True, slots=True)
class BeneficiaryExample:
    """A beneficiary, and the currencies of accounts that it can stand behind.

    ``beneficiary`` has a ``#`` for each digit that every test has its own of. ``sender`` is the
    kind of customer whose accounts they are; ``None`` for any. ``taken`` has by currency the rule
    that it is, and ``missing`` by currency the members that it may not go without. What is
    ``accepted`` and ``refused`` otherwise, and ``shown`` as sent by which rule, goes with
    ``currency``.

    With ``unregistered_sender`` a fault is sent by a business that has told no registrationNumber
    of its own: the text may mean that number or the beneficiary's.

    One that is only another ``form`` of an example need not be taken: what is refused of it has
    that example as its accepted twin.
    """

    name: str
    beneficiary: Mapping[str, Any]
    sender: Literal["INDIVIDUAL", "BUSINESS"] | None
    unregistered_sender: bool
    currency: str
    taken: Mapping[str, str]
    missing: Mapping[str, Sequence[Change]]
    shown: Mapping[str, str]
    accepted: Sequence[Change]
    refused: Sequence[Change]
    form: str | None

    @property
    def twin(self) -> Json:
        """The beneficiary that is taken where a change of this one is refused."""
        return dict((beneficiary_example(self.form) if self.form else self).beneficiary)

    @property
    def faults(self) -> Iterator[tuple[str, Change]]:
        """Every change that is refused, with the currency of an account that it is refused for."""
        for currency, changes in self.missing.items():
            yield from ((currency, found) for found in changes)
        yield from ((self.currency, found) for found in self.refused)

    def changed(self, found: Change) -> Json | None:
        """Return the beneficiary with one member sent otherwise; ``None`` if it is left out."""
        return None if found.member == WHOLE else found.applied(dict(self.beneficiary))


@cache
def beneficiary_examples() -> Mapping[str, BeneficiaryExample]:
    """Return every example by its name."""
    rows = [
        row
        for path in sorted((FIXTURES / "beneficiaries").glob("*.yaml"))
        for row in yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
    ]
    return {row["name"]: _example(row) for row in rows}


def beneficiary_example(name: str) -> BeneficiaryExample:
    """Return the example of a name."""
    return beneficiary_examples()[name]


def _example(row: Json) -> BeneficiaryExample:
    rules: Mapping[str, Mapping[str, str]] = row["currencies"]
    return BeneficiaryExample(
        name=row["name"],
        beneficiary=row["beneficiary"],
        sender=row.get("sender"),
        unregistered_sender=row.get("unregistered_sender", False),
        currency=next(iter(rules)),
        taken={currency: found[_TAKEN] for currency, found in rules.items()},
        missing={
            currency: [_without(row, name, rule) for name, rule in found.items() if name != _TAKEN]
            for currency, found in rules.items()
        },
        shown=row.get("shown", {}),
        accepted=[_change(row, found) for found in row.get("accepted", ())],
        refused=[_change(row, found) for found in row.get("refused", ())],
        form=row.get("form_of"),
    )


def _without(row: Json, member: str, rule: str) -> Change:
    """Return the change that leaves a member out."""
    return Change(rule, "none", member, ABSENT, _names(row["beneficiary"], member))


def _change(row: Json, found: Json) -> Change:
    return change({"names": _names(row["beneficiary"], found["member"]), **found})


def _names(beneficiary: Json, member: str) -> Sequence[str]:
    """Return what an error about a member may name: it, what it stands in, or what it holds."""
    names = member.split(".")
    inner: Any = beneficiary
    for name in names if member != WHOLE else ():
        inner = inner[name]
    return [*names, *inner] if isinstance(inner, dict) else names
