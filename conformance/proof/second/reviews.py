"""The review of a customer: how it begins, and how it ends."""

from conformance.proof.second import customer_form, customer_views, internals
from conformance.proof.second.money import Json
from conformance.proof.second.world import World, now


def settle(world: World, customer: Json) -> None:
    """Give a new customer the status and the accounts that it starts with."""
    if world.persona.provisioned_at == "creation":
        internals.provision(world, customer)
    skips = f"skip:{customer['platformCustomerId']}" in world.switches
    if world.persona.regulated:
        decide(world, customer, "APPROVED")
    elif skips and customer["customerType"] == "INDIVIDUAL":
        suffix = suffix_of(world, customer)
        if suffix not in {"001", "003"}:
            begin_review(world, customer)
            decide(world, customer, "REJECTED" if suffix == "002" else "APPROVED")


def suffix_of(world: World, customer: Json) -> str:
    """Return the last three characters of what decides a sandbox review."""
    if customer["customerType"] == "BUSINESS":
        number, first = (
            customer_form.at(customer, "businessInfo.registrationNumber"),
            customer["_first_number"],
        )
        if number != first and world.has("suffix-of-creation"):
            number = first
        return str(number or "")[-3:]
    names = [customer.get("fullName") or ""]
    names += [
        owner["personalInfo"].get("lastName") or ""
        for owner in world.owners.values()
        if owner["customerId"] == customer["id"]
    ]
    return next((name[-3:] for name in names if name[-3:].isdigit()), "")


def begin_review(
    world: World, customer: Json, *, told: bool = True, submitted: bool = False
) -> None:
    """Move a customer to PENDING, with its event; do nothing where it is there or decided.

    It was `submitted` by the interface, and not by the hosted flow.
    """
    member = customer_views.status_name(customer)
    again = submitted and customer[member] == "PENDING" and world.has("resubmission-told-again")
    if customer[member] not in {"UNVERIFIED", "HOLD"} and not again:
        return
    alien = submitted and member == "kybStatus" and world.has("kyb-submission-moves-kyc-status")
    customer["kycStatus" if alien else member] = "PENDING"
    customer["updatedAt"] = now()
    if world.has("pending-account-pays"):
        # Accounts may be set up by then; without one there is none to pay from.
        internals.provision(world, customer)
    data = _told(world, customer)
    if member == "kycStatus" and world.has("pending-event-unverified"):
        data[member] = "UNVERIFIED"
    kind = _kind(customer)
    if kind == "KYB" and submitted and world.has("kyb-pending-as-kyc"):
        kind = "KYC"
    if told and not world.has("no-pending-event"):
        world.emit(f"CUSTOMER.{kind}_PENDING", data)


def decide(world: World, customer: Json, decision: str, *, provides: bool = True) -> None:
    """End the review of a customer, unless it has ended; approval provides its accounts."""
    member = customer_views.status_name(customer)
    if customer[member] in {"APPROVED", "REJECTED"}:
        return
    customer[member] = decision
    customer["updatedAt"] = now()
    if decision == "APPROVED" and provides:
        internals.provision(world, customer)
    if decision in {"APPROVED", "REJECTED"}:
        kind = _kind(customer)
        if decision == "REJECTED" and _is_untold(world, kind):
            return
        if kind == "KYB" and world.has("kyc-for-business"):
            kind = "KYC"
        if decision == "REJECTED" and kind == "KYB" and world.has("business-rejection-as-kyc"):
            kind = "KYC"
        told = _told(world, _namesake(world, customer))
        if (member, decision) == ("kybStatus", "APPROVED") and world.has("kyb-event-old-status"):
            told[member] = "PENDING"
        if kind == "KYC" and world.has("kyc-event-old-status"):
            told["kycStatus"] = "PENDING"
        world.emit(f"CUSTOMER.{kind}_{decision}", told)


def _is_untold(world: World, kind: str) -> bool:
    """Tell whether a planted bug keeps the rejection of a customer from being told."""
    if kind == "KYC":
        return world.has("rejection-untold")
    return world.has("business-rejection-untold")


def _namesake(world: World, customer: Json) -> Json:
    """Return whom events show: by a planted bug the first one with the same platformCustomerId."""
    first = next(iter(customer_views.namesakes(world, customer)), customer)
    return first if first is not customer and world.has("event-by-platform-id") else customer


def _told(world: World, customer: Json) -> Json:
    """Return a customer as events show it."""
    body = customer_views.shown(world, customer)
    if world.has("customer-events-bare-id"):
        body["id"] = customer["id"].partition(":")[2]
    if body.get("fullName") != customer["_first_name"] and world.has("events-of-first-name"):
        body["fullName"] = customer["_first_name"]
    if "contactVerification" in body and world.has("review-events-without-channels"):
        del body["contactVerification"]
    legal = customer["_first_legal"]
    renamed = "businessInfo" in body and body["businessInfo"].get("legalName") != legal
    if renamed and world.has("events-of-first-legal-name"):
        body["businessInfo"] = {**body["businessInfo"], "legalName": legal}
    if "businessInfo" in body and world.has("business-event-bare"):
        del body["businessInfo"]
    return body


def _kind(customer: Json) -> str:
    return customer_views.status_name(customer)[:3].upper()
