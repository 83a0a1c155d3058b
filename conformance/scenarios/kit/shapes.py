"""Members of JSON values: those that a shape lists, and those that a value has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conformance.platform.resource import Json
from conformance.scenarios.kit.marks import Check


def expect_members(check: Check, resource: Json, members: Mapping[str, str]) -> None:
    """Decide for each requirement whether a resource shows a member; null is as good as none.

    The specification lists the members without a word on whether they may lack.

    Args:
        check: the fixture of the test.
        resource: what was answered.
        members: the member that each requirement is about, by the requirement's id.
    """
    for requirement_id, member in members.items():
        with check(requirement_id):
            assert resource.get(member) is not None, f"there is no {member}: {resource}"


def names_in(value: Any) -> set[str]:
    """Return the names of the members at every depth of a JSON value."""
    inner = list(value.values()) if isinstance(value, Mapping) else value
    if not isinstance(inner, list):
        return set()
    own = set(value) if isinstance(value, Mapping) else set()
    return own.union(*map(names_in, inner))
