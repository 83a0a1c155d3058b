"""What conforming variants of several modules change."""

from __future__ import annotations

from typing import Any

from conformance.proof.kit.builders import Place, rescued
from conformance.proof.patch import Apply
from conformance.reference import errors
from conformance.reference.store import ExternalAccount, InternalAccount
from conformance.reference.unit import clock

A_MOMENT = 0.1


def is_young(row: InternalAccount | ExternalAccount) -> bool:
    """Return whether an account was created a moment ago."""
    moment = A_MOMENT if isinstance(row, ExternalAccount) else A_MOMENT / 2
    return clock() - row.created_at < moment * 1_000_000


def refuse(place: Place, codes: dict[str, str]) -> Apply:
    """Return a patch after which a function refuses with other codes."""

    def refusing(refusal: errors.Refusal, *arguments: Any) -> Any:
        code = codes.get(refusal.code, refusal.code)
        raise errors.Refusal(code, refusal.reason, refusal.details) from None

    return rescued(*place, refusing)


def refuse_customer() -> Any:
    """Refuse a customerId that no customer has, as a field that is not valid."""
    raise errors.invalid_input(errors.field_error("customerId", "No customer has this id."))
