"""Mutants of external accounts of every type, declared from the examples in ``fixtures/accounts``.

Accounts of an unknown type, members that are shown otherwise than sent, and errors that name
something else.
"""

from __future__ import annotations

import re
from typing import Any

from conformance.proof.kit.tables import without_row
from conformance.proof.mutant import declare
from conformance.proof.mutants.external_accounts.account_rules import (
    INFO,
    misnamed,
    shown_member,
    snake_case,
)
from conformance.proof.patch import Apply
from conformance.reference.external_accounts import account_types
from conformance.testdata.accounts import account_examples


def _cut(value: Any) -> Any:
    return value[:-1] if isinstance(value, str) else value


def _counted(value: Any) -> Any:
    return int(value) if isinstance(value, str) else value


def _ending(value: Any) -> Any:
    return value[-1] if isinstance(value, str) else value


def _emptied(value: Any) -> Any:
    return "" if isinstance(value, str) else value


def _holder(path: str) -> str:
    return path.rpartition(".")[0] or "body"


def _declare_from_examples() -> None:
    declared: set[tuple[str, str]] = set()

    def once(requirement: str, name: str, statement: str, patch: Apply) -> None:
        if (requirement, name) not in declared:
            declared.add((requirement, name))
            declare(requirement, name, statement, patch)

    for found in account_examples().values():
        kind = found.account_type
        about = kind.lower()
        once(
            found.requirement,
            f"{about}-unknown",
            f"there is no {kind}",
            without_row(account_types, "ACCOUNT_TYPES", kind),
        )
        for member, requirement in found.shown.items():
            sent = str(found.body[INFO].get(member, "")).replace("#", "0")
            once(
                requirement,
                f"{about}-{member}-cut",
                f"{member} of {kind} is shown without its last character",
                shown_member(kind, member, _cut),
            )
            once(
                requirement,
                f"{about}-{member}-emptied",
                f"{member} of {kind} is shown without a character",
                shown_member(kind, member, _emptied),
            )
            once(
                requirement,
                f"{about}-{member}-ending",
                f"{member} of {kind} is shown by its last character alone",
                shown_member(kind, member, _ending),
            )
            if re.fullmatch(r"\+?\d+", sent):
                once(
                    requirement,
                    f"{about}-{member}-number",
                    f"{member} of {kind} is shown as a number",
                    shown_member(kind, member, _counted),
                )
        if found.naming is not None:
            once(
                found.naming,
                f"{about}-holder",
                f"errors about {kind} name the object alone",
                misnamed(kind, _holder),
            )
            once(
                found.naming,
                f"{about}-snake-case",
                f"errors about {kind} name the columns of a table",
                misnamed(kind, snake_case),
            )


_declare_from_examples()
