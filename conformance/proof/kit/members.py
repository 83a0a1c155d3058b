"""Mutants of members of resources, declared from tables."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from conformance.proof.kit.builders import Place, edited
from conformance.proof.kit.edits import ALL, put, without
from conformance.proof.mutant import declare

FORMLESS_ID = {"number": 17, "bare-id": "8d0cf2a4", "other-type": "Thing:8d0cf2a4"}
FORMLESS_TIME = {
    "seconds": 1_790_000_000,
    "local": "2026-01-15T09:00:00+02:00",
    "zoneless": "2026-01-15T09:00:00",
    "date": "2026-01-15",
}
UNKNOWN_WORD = {"number": 17, "unknown": "UNKNOWN"}


@dataclass(frozen=True, slots=True)
class Member:
    """A member of a resource and how careless implementations show it.

    ``view`` is the function that shows the resource, ``path`` the member's dotted path in it; ""
    is the resource itself. ``wrong`` holds by their names values that it may not have. One that is
    ``required`` may not be missing either.
    """

    requirement: str
    view: Place
    path: str
    wrong: dict[str, Any]
    required: bool = True


def declare_members(members: Iterable[Member]) -> None:
    """Declare a mutant for each wrong value of a member, and one for a required one's absence."""
    for member in members:
        name = member.path.replace(".", "-").replace(f"-{ALL}-", "-") or "body"
        if member.required:
            declare(
                member.requirement,
                f"{name}-missing",
                f"{member.path} is not there",
                edited(*member.view, without(member.path)),
            )
        for form, value in member.wrong.items():
            declare(
                member.requirement,
                f"{name}-{form}",
                f"{member.path or 'the answer'} is {json.dumps(value)[:40]}",
                edited(*member.view, put(member.path, value)),
            )
