"""Chains of requests that nobody wrote down: each follows a link of the OpenAPI document.

Every answer is judged on the way as that of any other test is. What an answer has named can be
read, and no operation answers with a server error, wherever in a chain it is asked.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

import pytest

from conformance.contract.document import Operation, document
from conformance.platform.platform import Platform
from conformance.verdict.decisions import ResourceMissing, expect

if TYPE_CHECKING:
    from conformance.fuzz.links import Followed

_EXAMPLES_PER_WALK = 20

Check = Callable[..., AbstractContextManager[None]]


def _linked() -> dict[str, set[str]]:
    """Return the operations that links lead to, each with the parameters that links hand on."""
    found: dict[str, set[str]] = {}
    for operation in document().operations.values():
        for response in operation.raw["responses"].values():
            for link in response.get("links", {}).values():
                found.setdefault(link["operationId"], set()).update(link.get("parameters", ()))
    return found


def _is_read(operation: Operation, handed_on: set[str]) -> bool:
    """Return whether an operation reads a resource, and takes nothing but what links hand on."""
    known = {one["name"] for one in operation.raw["parameters"] if one["in"] != "header"}
    return operation.method == "GET" and "{" in operation.path and known <= handed_on


LINKED = [document().operations[name] for name in _linked()]
READ = [one for one in LINKED if _is_read(one, _linked()[one.id])]
"""The operations that read what an answer before them has named."""

DECIDED = (
    *(operation.requirement("server-error") for operation in LINKED),
    *(operation.requirement("accepted") for operation in READ),
)


@pytest.mark.requirement(*DECIDED)
def test_what_links_lead_to_is_answered(
    platform: Platform, check: Check, pytestconfig: pytest.Config, seeds: list[int]
) -> None:
    """What an answer has named can be read, and nothing in a chain meets a server error."""
    # A run that leaves fuzzing out need not import it.
    from conformance.fuzz.links import Walks, sources  # noqa: PLC0415 - see above

    examples = pytestconfig.getoption("fuzz_examples")
    walks = [Walks(platform, seed, examples) for seed in seeds]
    for done in walks:
        for operation in sources() * -(-examples // _EXAMPLES_PER_WALK):
            done.walk(operation)

    for operation in LINKED:
        followed = [one for done in walks for one in done.followed.get(operation.id, ())]
        with check(operation.requirement("server-error")):
            _expect_unbroken(operation, followed)
    for operation in READ:
        read = [one for done in walks for one in done.followed.get(operation.id, ()) if one.is_read]
        with check(accepted := operation.requirement("accepted")):
            _expect_read(operation, accepted, read)


def _expect_unbroken(operation: Operation, followed: list[Followed]) -> None:
    __tracebackhide__ = True
    offered = [one for one in followed if one.answer.offered]
    if not offered:
        raise ResourceMissing(f"no link that could be followed led to {operation.id}")
    for one in offered:
        _expect(one, "no server error", holds=not one.answer.broken)


def _expect_read(operation: Operation, accepted: str, read: list[Followed]) -> None:
    __tracebackhide__ = True
    answered = [one for one in read if one.answer.accepted or accepted in one.answer.breaks]
    if not answered:
        raise ResourceMissing(f"no link that could be followed led to {operation.id}")
    for one in answered:
        _expect(one, "what an answer before it has named to be read", holds=one.answer.accepted)
        shown = one.answer.body.get("id") if isinstance(one.answer.body, dict) else None
        is_named = shown is None or shown in one.path.values()
        _expect(one, f"the one that is named by {', '.join(one.path.values())}", holds=is_named)


def _expect(one: Followed, expected: str, *, holds: bool) -> None:
    __tracebackhide__ = True
    answer = one.answer
    expect(holds, expected, answer, f"after {one}", answer.exchange.id, difference=answer.refusal)
