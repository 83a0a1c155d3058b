"""Valid external accounts with what differs from each in one member, from ``fixtures/accounts``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import yaml

from conformance.contract.data import FIXTURES
from conformance.testdata.examples import Change, Json, change


@dataclass(frozen=True, slots=True)
class AccountExample:
    """An external account that is accepted, with changes that are, and with others that are not.

    ``body`` holds its currency and ``accountInfo``, with a ``#`` for each digit that every test
    has its own of. ``shown`` has by member of ``accountInfo`` the rule that it is shown as sent.
    Errors about a change that is refused name its member by the rule ``naming``. Where ``country``
    is given, its ``bankName`` is one that the discoveries list there, if they list any.
    """

    name: str
    account_type: str
    requirement: str
    body: Mapping[str, Any]
    naming: str | None
    country: str | None
    shown: Mapping[str, str]
    accepted: Sequence[Change]
    refused: Sequence[Change]

    @property
    def currency(self) -> str:
        """Code of the currency that it holds."""
        return str(self.body["currency"])


@cache
def account_examples() -> Mapping[str, AccountExample]:
    """Return every example by its name.

    The first of a file is named as the file, the others ``file.example``.
    """
    found = {}
    for path in sorted((FIXTURES / "accounts").glob("*.yaml")):
        rows = yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
        for index, row in enumerate(rows):
            name = f"{path.stem}.{row['name']}" if index else path.stem
            found[name] = _example(name, row)
    return found


def account_example(name: str) -> AccountExample:
    """Return the example of a name, such as ``usd_account`` or ``cop_account.mobile_money``."""
    return account_examples()[name]


def _example(name: str, row: Json) -> AccountExample:
    info = row["accountInfo"]
    return AccountExample(
        name=name,
        account_type=info["accountType"],
        requirement=row["requirement"],
        body={"currency": row["currency"], "accountInfo": info},
        naming=row.get("naming"),
        country=row.get("country"),
        shown=row.get("shown", {}),
        accepted=[change(found) for found in row.get("accepted", ())],
        refused=[change(found) for found in row.get("refused", ())],
    )
