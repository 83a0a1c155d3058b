"""Mutants of how the claim of an invitation is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance.proof.kit.builders import around
from conformance.proof.kit.tables import with_row, with_status, without_row
from conformance.proof.mutant import declare
from conformance.proof.patch import Apply, Patch
from conformance.reference import errors, invitations, rules
from conformance.reference.unit import Ask, Unit

_CODES = {
    "INV-00": ("CLAIMED", "INVITATION_ALREADY_CLAIMED"),
    "INV-01": ("CANCELLED", "INVITATION_CANCELLED"),
    "INV-02": ("UNCONFIGURED", "INVITATIONS_NOT_CONFIGURED"),
}


def _shown(name: str, value: Any) -> Apply:
    """Return the patch by which the refusal of a claim shows another member."""

    def changed(view: Callable[..., Any], refusal: errors.Refusal) -> Any:
        body = view(refusal)
        return {**body, name: value} if refusal.code.startswith("INVITATION") else body

    return around(errors, "view", changed)


for _prefix, (_state, _code) in _CODES.items():
    _first = 1 if _prefix == "INV-00" else 0
    _status, _named, _reason, _details = (f"{_prefix}{_first + n}" for n in range(4))
    declare(
        _status,
        "taken",
        f"an invitation at {_state} is claimed",
        without_row(rules, "UNCLAIMABLE", _state),
    )
    declare(_status, "conflict", f"{_code} is a conflict", with_status(_code, 409))
    declare(
        _named,
        "general",
        f"{_code} is told as any invalid input",
        with_row(rules, "UNCLAIMABLE", _state, ("INVALID_INPUT", "It cannot be claimed.")),
    )
    declare(_reason, "missing", f"{_code} gives no reason", _shown("reason", None))
    declare(_details, "list", f"{_code} gives a list as details", _shown("details", [_code]))


def _unknown(patch: Patch) -> None:
    def obliging(claim: Callable[..., Any], unit: Unit, ask: Ask) -> Any:
        try:
            return claim(unit, ask)
        except errors.Refusal as refusal:
            if refusal.code != "INVITATION_NOT_FOUND":
                raise
            return {}

    patch.wrap(invitations, "claim", obliging)


def _as_account(patch: Patch) -> None:
    def miscoded(claim: Callable[..., Any], unit: Unit, ask: Ask) -> Any:
        try:
            return claim(unit, ask)
        except errors.Refusal as refusal:
            raise errors.Refusal("ACCOUNT_NOT_FOUND", refusal.reason) from refusal

    patch.wrap(invitations, "claim", miscoded)


declare("INV-030", "taken", "an invitation that there is not is claimed", _unknown)
declare(
    "INV-030",
    "invalid",
    "it is an invalid request",
    with_status("INVITATION_NOT_FOUND", 400),
)
declare("INV-031", "account", "a missing invitation is told as a missing account", _as_account)
declare("INV-032", "missing", "a missing invitation gives no reason", _shown("reason", None))
declare("INV-033", "list", "a missing invitation gives a list", _shown("details", ["missing"]))
