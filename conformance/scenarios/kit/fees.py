"""Fees of the platform: the standing fee, and the fee of one quote."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conformance.platform.platform import Platform
from conformance.platform.resource import Json, arranged_body
from conformance.profile.resources import Corridor
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing

BASIS_POINTS = 150

FIXED = 250

FORMS: dict[str, dict[str, Any]] = {
    "rate": {"basis_points": BASIS_POINTS},
    "amount": {"fixed": FIXED},
    "both": {"basis_points": BASIS_POINTS, "fixed": FIXED},
}

"""The three forms of a standing fee."""


def arrange_quote(platform: Platform, body: Json) -> Json:
    """Create a quote and return it.

    Raises:
        PreconditionFailed: the request is refused, or its answer is no object.
    """
    quote = arranged_body(platform.api.create_quote(body))
    if not isinstance(quote, Mapping):
        raise PreconditionFailed(f"expected a quote, got {quote!r}")
    return quote


def own_fee(quote: Json) -> int:
    """Return the platform's fee in a quote, in the smallest unit; 0 where the quote shows none.

    Raises:
        PreconditionFailed: ``platformFeesIncluded`` is no integer.
    """
    fee = quote.get("platformFeesIncluded") or 0
    if not isinstance(fee, int):
        raise PreconditionFailed(f"platformFeesIncluded is {fee!r}")
    return fee


def corridors_not_from(
    currency: str, platform: Platform, *, crossing: bool = False
) -> list[Corridor]:
    """Return the first corridor of the profile from each sending currency but one.

    Args:
        currency: the code of the sending currency that is left out.
        platform: the suite in the part of a platform.
        crossing: whether only corridors between two currencies are looked at.

    Raises:
        ResourceMissing: the profile has no such corridor.
    """
    found: dict[str, Corridor] = {}
    for corridor in platform.profile.resources.corridors:
        if corridor.sending != currency and (
            corridor.sending != corridor.receiving or not crossing
        ):
            found.setdefault(corridor.sending, corridor)
    if not found:
        kind = "no cross-currency one" if crossing else "none"
        raise ResourceMissing(
            f"resources.corridors of the profile has {kind} from another than {currency}"
        )
    return list(found.values())
