"""Hosted flows of verification: links that lead a customer into one."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING
from urllib.parse import quote

from sqlalchemy import select

from conformance.reference import errors, fields, rules
from conformance.reference.customers import customers
from conformance.reference.store import Customer, Json, KycLink
from conformance.reference.unit import after, new_id, present, timestamp

if TYPE_CHECKING:
    from conformance.reference.unit import Ask, Unit


def create(unit: Unit, ask: Ask) -> Json:
    """Invite a customer to the hosted flow of its type; earlier links stay good."""
    customer = customers.get(unit, ask.params["customerId"])
    refuse_long_key(ask)
    body = fields.demand(ask.body, rules.KYC_LINK_FIELDS)
    refuse_unverified_contact(customer)
    provider = rules.HOSTED_FLOWS[customer.customer_type]
    link = KycLink(
        id=new_id("KycLink"),
        customer_id=customer.id,
        url=url_of(provider, body["redirectUri"]),
        used=False,
        expires_at=expiry_of(unit),
        created_at=unit.now,
    )
    unit.session.add(link)
    return view(link, provider)


def refuse_long_key(ask: Ask) -> None:
    """Refuse an ``Idempotency-Key`` that is too long."""
    key = ask.headers.get("idempotency-key", "")
    if len(key) > rules.MAX_IDEMPOTENCY_KEY_CHARS:
        message = f"Expected at most {rules.MAX_IDEMPOTENCY_KEY_CHARS} characters."
        raise errors.invalid_input(errors.field_error("Idempotency-Key", message))


def refuse_unverified_contact(customer: Customer) -> None:
    """Refuse the flow to a customer who has not verified every channel that has to be."""
    waiting = customers.unverified_channels(customer)
    if waiting:
        raise errors.Refusal(
            "CONFLICT", f"These channels have to be verified first: {', '.join(waiting)}."
        )


def url_of(provider: rules.HostedFlow, redirect_uri: str) -> str:
    """Return a new place where a flow starts; it knows where to lead the customer in the end."""
    return f"{provider.url}/{secrets.token_urlsafe(18)}?redirectUri={quote(redirect_uri, safe='')}"


def expiry_of(unit: Unit) -> int:
    """Return when a new link ends to work."""
    return after(unit.now, unit.settings.kyc_link_lifetime_seconds)


def view(link: KycLink, provider: rules.HostedFlow) -> Json:
    """Return the link as clients see it; a token where the provider's flow can be embedded."""
    return present(
        {
            "kycUrl": link.url,
            "expiresAt": timestamp(link.expires_at),
            "provider": provider.name,
            "token": secrets.token_urlsafe(24) if provider.embeddable else None,
        }
    )


def use(unit: Unit, customer: Customer, url: str) -> None:
    """Use up a link of a customer; refuses one that is unknown, used or expired."""
    query = select(KycLink).where(KycLink.customer_id == customer.id, KycLink.url == url)
    link = unit.session.scalar(query.limit(1))
    if link is None:
        raise errors.Refusal("NOT_FOUND", "The customer has no such link.")
    if link.used or link.expires_at <= unit.now:
        raise errors.Refusal("CONFLICT", "The link was used or has expired. Make a new one.")
    link.used = True
