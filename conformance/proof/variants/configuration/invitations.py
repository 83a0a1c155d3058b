"""Conforming variants of the claims of invitations."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from conformance.proof.kit.builders import recoded, rescued
from conformance.proof.patch import Patch
from conformance.proof.variant import declare, variant
from conformance.reference import errors, invitations, routes
from conformance.reference.unit import Ask, Unit


@variant("N030", "the claim of an invitation is answered without a body", "forms")
def claimed_quietly(patch: Patch) -> None:
    patch.row(
        routes,
        "OPERATIONS",
        "claimInvitation",
        replace(routes.OPERATIONS["claimInvitation"], status=204),
    )


declare(
    "M40",
    "invitation-not-found",
    "an invitation that there is not is NOT_FOUND",
    recoded(invitations, "claim", "NOT_FOUND", "INVITATION_NOT_FOUND"),
    "codes",
)


@variant(
    "M75", "the refusal of an invitation has no details", "absent", (invitations, "claim"), rescued
)
def no_details(refusal: errors.Refusal, unit: Unit, ask: Ask) -> Any:
    raise errors.Refusal(refusal.code, refusal.reason) from refusal
