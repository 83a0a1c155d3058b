"""Invitations: those that the sandbox keeps, each in a state of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.reference import errors, rules
from conformance.reference.unit import timestamp

if TYPE_CHECKING:
    from conformance.reference.store import Json
    from conformance.reference.unit import Ask, Unit


def claim(unit: Unit, ask: Ask) -> Json:
    """Claim an invitation by its code; the sandbox opens another one under the code of an open one.

    Raises ``Refusal`` (INVITATION_NOT_FOUND, and the code of a state that no claim is taken in).
    """
    code = ask.params["code"]
    told = {"invitation": code}
    state = rules.SANDBOX_INVITATIONS.get(code)
    if state is None:
        raise errors.Refusal("INVITATION_NOT_FOUND", "No invitation has this code.", told)
    if state in rules.UNCLAIMABLE:
        refused, reason = rules.UNCLAIMABLE[state]
        raise errors.Refusal(refused, reason, told)
    return {"code": code, "status": "CLAIMED", "claimedAt": timestamp(unit.now)}
