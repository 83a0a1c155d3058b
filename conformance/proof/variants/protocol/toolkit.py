"""What conforming variants of several modules change."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from conformance.platform.part import Context
from conformance.platform.platform import Platform
from conformance.proof.kit.builders import Place, rescued
from conformance.proof.patch import Apply, Function, Patch
from conformance.reference import errors
from conformance.reference.store import ExternalAccount, InternalAccount
from conformance.reference.unit import clock

A_MOMENT = 0.1


def bind(patch: Patch, **bindings: Any) -> None:
    """Let tests have a profile with other bindings, as one of such a target has them."""

    def begin(init: Function, self: Platform, context: Context) -> None:
        profile = context.profile
        bound = profile.bindings.model_copy(update=bindings)
        init(self, replace(context, profile=profile.model_copy(update={"bindings": bound})))

    patch.wrap(Platform, "__init__", begin)


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
