"""Verifying the mail address and phone of a customer.

Which channels have to be verified follows from the region: at creation, and again whenever the
customer changes. A channel that stays required keeps its status as long as its address is the
same; a new address has to be verified again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from conformance.reference import errors, fields, rules
from conformance.reference.customers import customers
from conformance.reference.store import Customer, Json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from conformance.reference.unit import Ask, Unit


def required_channels(region: Any) -> Sequence[str]:
    """Return the channels that a region wants verified."""
    return rules.CONTACT_CHANNELS.get(region, ()) if isinstance(region, str) else ()


def missing_errors(body: Any) -> list[Json]:
    """Return an error for each address that the region of a customer's members makes required."""
    if not isinstance(body, dict):
        return []
    wanted = [rules.CHANNEL_ADDRESS[name] for name in required_channels(body.get("region"))]
    message = "A value is required in this region."
    return [
        errors.field_error(name, message, required=True)
        for name in wanted
        if body.get(name) is None
    ]


def members_after(customer: Customer, body: Any) -> Json:
    """Return the members of a customer as a change would leave them."""
    changes = body if isinstance(body, dict) else {}
    return {**customer.details, "region": customer.region, **changes}


def begin(customer: Customer) -> None:
    """Open the channels that a new customer has to verify."""
    customer.contact = {name: fresh() for name in required_channels(customer.region)}


def renew(customer: Customer, before: Mapping[str, Any]) -> None:
    """Open and close channels after a change; ``before`` are the details until then."""
    customer.contact = {
        name: customer.contact[name]
        if name in customer.contact and is_same_address(customer, before, name)
        else fresh()
        for name in required_channels(customer.region)
    }


def is_same_address(customer: Customer, before: Mapping[str, Any], channel: str) -> bool:
    """Return whether a channel leads to where it led before a change."""
    member = rules.CHANNEL_ADDRESS[channel]
    return bool(customer.details.get(member) == before.get(member))


def fresh() -> Json:
    """Return a channel that no code was sent to yet."""
    return {"status": "PENDING", "code": None}


def send_email(unit: Unit, ask: Ask) -> None:
    """Send a one-time code to the mail address."""
    send(unit, ask, "email")


def send_phone(unit: Unit, ask: Ask) -> None:
    """Send a one-time code to the phone."""
    send(unit, ask, "phone")


def confirm_email(unit: Unit, ask: Ask) -> Json:
    """Take the code that reached the mail address."""
    return confirm(unit, ask, "email")


def confirm_phone(unit: Unit, ask: Ask) -> Json:
    """Take the code that reached the phone."""
    return confirm(unit, ask, "phone")


def send(unit: Unit, ask: Ask, channel: str) -> None:
    """Send a code to a channel; the sandbox sends the same one each time."""
    customer = customers.get(unit, ask.params["customerId"], lock=True)
    refuse_not_required(customer, channel)
    if customer.contact[channel]["status"] != "VERIFIED":
        put(unit, customer, channel, {"status": "PENDING", "code": rules.SANDBOX_CODE})


def confirm(unit: Unit, ask: Ask, channel: str) -> Json:
    """Verify a channel by the code that was sent to it, which is then used up."""
    customer = customers.get(unit, ask.params["customerId"], lock=True)
    refuse_not_required(customer, channel)
    body = fields.demand(ask.body, rules.CONTACT_CODE_FIELDS)
    if not is_right_code(customer.contact[channel], body["code"]):
        message = "Expected the code that was sent last and not used yet. Send a new one."
        raise errors.invalid_input(errors.field_error("code", message))
    put(unit, customer, channel, {"status": "VERIFIED", "code": None})
    return customers.view(customer)


def refuse_not_required(customer: Customer, channel: str) -> None:
    """Refuse to verify a channel that the customer does not have to verify."""
    if channel not in customer.contact:
        raise errors.Refusal("CONFLICT", f"The customer's {channel} needs no verification.")


def is_right_code(entry: Json, code: str) -> bool:
    """Return whether a code is the one that was sent to a channel last."""
    return entry["code"] is not None and bool(entry["code"] == code)


def put(unit: Unit, customer: Customer, channel: str, entry: Json) -> None:
    """Change what is known of one channel; the others stay as they are."""
    customer.contact = {**customer.contact, channel: entry}
    customer.updated_at = unit.now
