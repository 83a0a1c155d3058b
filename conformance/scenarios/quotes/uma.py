"""Payments to UMA addresses."""

from __future__ import annotations

from conformance.platform.platform import Platform
from conformance.platform.resource import Json, Resource, fill_template
from conformance.verdict.decisions import FeatureUndeclared, ResourceMissing


def receiver_address(platform: Platform) -> str:
    """Return the UMA address of a receiver who can be paid.

    Raises:
        FeatureUndeclared: the target does not offer UMA.
        ResourceMissing: the profile gives no such address.
    """
    if not platform.profile.features.uma:
        raise FeatureUndeclared("uma")
    address = platform.profile.bindings.uma_receiver
    if address is None:
        raise ResourceMissing("bindings.uma_receiver of the profile names nobody")
    return address


def uma_destination(
    platform: Platform, address: str | None, currency: str | None = None
) -> Resource:
    """Return the destination of a quote to a UMA address, or to no address for ``None``.

    With a ``currency`` the receiver is to be paid in it, where the profile says how that is told.
    """
    words = {"{umaAddress}": address, "{currency}": currency}
    destination: Resource = fill_template(platform.profile.bindings.uma_destination, words)
    return destination


def uma_quote(
    platform: Platform, source: Resource | None = None, *, currency: str | None = None
) -> Json:
    """Return the body of a quote to the UMA address of a receiver who can be paid.

    The ``currency`` is as in :func:`uma_destination`.
    """
    destination = uma_destination(platform, receiver_address(platform), currency)
    return {**platform.quotes.body(source, {"id": ""}, side="SENDING"), "destination": destination}
