"""Mutants of how the claim of an invitation is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance.mutants.mutant import Patch, declare
from conformance.reference import errors
from conformance.reference.unit import Ask, Unit

_REFERENCE = "conformance.reference"
_STATUS = f"{_REFERENCE}.rules:ERROR_STATUS"
_STATES = f"{_REFERENCE}.rules:UNCLAIMABLE"
_CLAIM = f"{_REFERENCE}.invitations:claim"
_VIEW = f"{_REFERENCE}.errors:view"

_CODES = {
    "INV-00": ("CLAIMED", "INVITATION_ALREADY_CLAIMED"),
    "INV-01": ("CANCELLED", "INVITATION_CANCELLED"),
    "INV-02": ("UNCONFIGURED", "INVITATIONS_NOT_CONFIGURED"),
}


def _answers(code: str, status: int) -> Callable[[Patch], None]:
    return lambda patch: patch.row(_STATUS, code, status)


def _taken(state: str) -> Callable[[Patch], None]:
    return lambda patch: patch.drop(_STATES, state)


def _miscoded(state: str) -> Callable[[Patch], None]:
    return lambda patch: patch.row(_STATES, state, ("INVALID_INPUT", "It cannot be claimed."))


def _shown(name: str, value: Any) -> Callable[[Patch], None]:
    """Return the patch by which the refusal of a claim shows another member."""

    def wrapper(view: Callable[..., Any]) -> Callable[..., Any]:
        def changed(refusal: errors.Refusal) -> Any:
            body = view(refusal)
            return {**body, name: value} if refusal.code.startswith("INVITATION") else body

        return changed

    return lambda patch: patch.wrap(_VIEW, wrapper)


for _prefix, (_state, _code) in _CODES.items():
    _first = 1 if _prefix == "INV-00" else 0
    _status, _named, _reason, _details = (f"{_prefix}{_first + n}" for n in range(4))
    declare(_status, "taken", f"an invitation at {_state} is claimed", _taken(_state))
    declare(_status, "conflict", f"{_code} is a conflict", _answers(_code, 409))
    declare(_named, "general", f"{_code} is told as any invalid input", _miscoded(_state))
    declare(_reason, "missing", f"{_code} gives no reason", _shown("reason", None))
    declare(_details, "list", f"{_code} gives a list as details", _shown("details", [_code]))


def _unknown(patch: Patch) -> None:
    def wrapper(claim: Callable[..., Any]) -> Callable[..., Any]:
        def obliging(unit: Unit, ask: Ask) -> Any:
            try:
                return claim(unit, ask)
            except errors.Refusal as refusal:
                if refusal.code != "INVITATION_NOT_FOUND":
                    raise
                return {}

        return obliging

    patch.wrap(_CLAIM, wrapper)


def _as_account(patch: Patch) -> None:
    def wrapper(claim: Callable[..., Any]) -> Callable[..., Any]:
        def miscoded(unit: Unit, ask: Ask) -> Any:
            try:
                return claim(unit, ask)
            except errors.Refusal as refusal:
                raise errors.Refusal("ACCOUNT_NOT_FOUND", refusal.reason) from refusal

        return miscoded

    patch.wrap(_CLAIM, wrapper)


declare("INV-030", "taken", "an invitation that there is not is claimed", _unknown)
declare("INV-030", "invalid", "it is an invalid request", _answers("INVITATION_NOT_FOUND", 400))
declare("INV-031", "account", "a missing invitation is told as a missing account", _as_account)
declare("INV-032", "missing", "a missing invitation gives no reason", _shown("reason", None))
declare("INV-033", "list", "a missing invitation gives a list", _shown("details", ["missing"]))
