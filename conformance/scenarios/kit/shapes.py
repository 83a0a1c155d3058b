"""Members that the specification lists for a resource without a word on whether they may lack."""

from __future__ import annotations

from collections.abc import Mapping

from conformance.platform.resource import Json
from conformance.scenarios.kit.marks import Check


def expect_members(check: Check, resource: Json, members: Mapping[str, str]) -> None:
    """Decide for each requirement whether a resource shows a member; null is as good as none.

    Args:
        check: the fixture of the test.
        resource: what was answered.
        members: the member that each requirement is about, by the requirement's id.
    """
    for requirement_id, member in members.items():
        with check(requirement_id):
            assert resource.get(member) is not None, f"there is no {member}: {resource}"
