"""Invitations that cannot be claimed.

The specification does not show how a claim is sent; the profile gives the requests.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import pytest

from conformance.platform.platform import Platform
from conformance.scenarios.kit.cases import case
from conformance.scenarios.kit.marks import Check
from conformance.verdict.decisions import ResourceMissing


class Refusal(NamedTuple):
    """A refused claim: its request, and the status and codes of the refusal.

    ``ids`` are the requirements on the status, the code, the reason and the details.
    """

    request: str
    ids: tuple[str, str, str, str]
    status: int
    codes: tuple[str, ...]


REFUSALS = (
    Refusal(
        "invitation.claim_again",
        ("INV-001", "INV-002", "INV-003", "INV-004"),
        400,
        ("INVITATION_ALREADY_CLAIMED",),
    ),
    Refusal(
        "invitation.claim_cancelled",
        ("INV-010", "INV-011", "INV-012", "INV-013"),
        400,
        ("INVITATION_CANCELLED",),
    ),
    Refusal(
        "invitation.claim_unconfigured",
        ("INV-020", "INV-021", "INV-022", "INV-023"),
        400,
        ("INVITATIONS_NOT_CONFIGURED",),
    ),
    Refusal(
        "invitation.claim_unknown",
        ("INV-030", "INV-031", "INV-032", "INV-033"),
        404,
        ("INVITATION_NOT_FOUND", "NOT_FOUND"),
    ),
)


@pytest.mark.parametrize(
    "expected",
    [case(row.ids, row.request.partition("_")[2], row) for row in REFUSALS],
)
def test_an_invitation_that_is_not_open_is_refused(
    platform: Platform, check: Check, expected: Refusal
) -> None:
    """The refusal has its status, code and reason; an open invitation can be claimed."""
    twin = platform.triggers.ask("invitation.claim")

    refusal = platform.triggers.ask(expected.request)

    status, code, reason, details = expected.ids
    with check(status):
        refusal.refused(expected.status, twin=twin)
    with check(code):
        refusal.refused(expected.status, *expected.codes, twin=twin)
    body = refusal.body if isinstance(refusal.body, Mapping) else {}
    with check(reason):
        refusal.refused(refusal.status, twin=twin)
        assert isinstance(body.get("reason"), str), refusal
    with check(details):
        refusal.refused(refusal.status, twin=twin)
        if body.get("details") is None:
            raise ResourceMissing(
                "the error object has no details, which are optional; no key of the profile helps"
            )
        assert isinstance(body["details"], Mapping), refusal
