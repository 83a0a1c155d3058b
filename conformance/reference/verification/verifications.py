"""Submitting customers for review: what a submission needs, and how it goes on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from sqlalchemy import select

from conformance.reference import errors, fields, pages, rules
from conformance.reference.customers import customers, onboarding
from conformance.reference.store import BeneficialOwner, Customer, Document, Json, Verification
from conformance.reference.unit import new_id, timestamp
from conformance.reference.verification import documents, owners, sandbox

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from conformance.reference.unit import Ask, Unit


@dataclass(frozen=True, slots=True)
class Packet:
    """All that is known of a customer when it is submitted; documents by their holders."""

    customer: Customer
    owners: Sequence[BeneficialOwner]
    documents: Mapping[str, Sequence[Document]]


def create(unit: Unit, ask: Ask) -> Json:
    """Submit a customer for review, or tell what is missing for it."""
    body = fields.demand(ask.body, rules.SUBMISSION_FIELDS)
    customer = customers.get(unit, body["customerId"])
    refuse_unverified_contact(customer)
    refuse_reviewed(customer)
    packet = packet_of(unit, customer)
    found = missing(unit, packet) or asked_first(unit, customer)
    record = note(unit, customer, found)
    if is_acceptable(found):
        accept(unit, packet, hosted=False)
    return view(record, customer)


def refuse_unverified_contact(customer: Customer) -> None:
    """Refuse customers who have not verified every contact channel that has to be."""
    waiting = customers.unverified_channels(customer)
    if waiting:
        raise errors.Refusal(
            "CONFLICT", f"These channels have to be verified first: {', '.join(waiting)}."
        )


def refuse_reviewed(customer: Customer) -> None:
    """Refuse customers whose review is under way or over."""
    if "PENDING" not in rules.REVIEW_TRANSITIONS[customer.status]:
        raise errors.Refusal(
            "INVALID_STATE_TRANSITION", f"The customer's verification is {customer.status}."
        )


def packet_of(unit: Unit, customer: Customer) -> Packet:
    """Return all that is known of a customer."""
    persons = owners.of(unit, customer.id)
    holders = [customer.id, *(person.id for person in persons)]
    return Packet(customer, persons, {name: documents.of(unit, name) for name in holders})


def missing(unit: Unit, packet: Packet) -> list[Json]:
    """Return an error for each field and each document that a packet lacks."""
    suffix = sandbox.suffix_of(packet.customer, packet.owners)
    found = missing_fields(packet)
    if not sandbox.is_paperless(unit, packet.customer, suffix):
        found += missing_documents(packet, suffix)
    return found


def missing_fields(packet: Packet) -> list[Json]:
    """Return an error for each field that a packet lacks."""
    customer = packet.customer
    if customer.customer_type == "INDIVIDUAL":
        known = {**customer.details, "region": customer.region}
        needed = [
            path
            for path, persons in rules.INDIVIDUAL_NEEDS.items()
            if persons == rules.ALL_PERSONS or is_american(known)
        ]
        return lacking(customer.id, customer.details, needed)
    found = lacking(customer.id, customer.details, rules.BUSINESS_NEEDS)
    if not is_controlled(packet.owners):
        found.append(
            entry(customer.id, "MISSING_CONTROL_PERSON", "Nobody controls the business so far.")
        )
    for owner in packet.owners:
        found += [field_error(owner.id, path) for path in owner_lacks(owner)]
    return found


def owner_lacks(owner: BeneficialOwner) -> list[str]:
    """Return the paths of what is not known of an owner; passports number those from abroad."""
    waived = () if is_american(owner.person) else rules.NUMBERED_PERSONS
    return [path for path in owners.missing(owner) if path not in waived]


def lacking(resource_id: str, known: Json, needed: Iterable[str]) -> list[Json]:
    """Return an error for each needed field that is not among what is known of a resource."""
    return [
        field_error(resource_id, path)
        for path in needed
        if fields.at(known, path) in (fields.ABSENT, None, "", {})
    ]


def field_error(resource_id: str, path: str) -> Json:
    """Return the error of a field that is missing."""
    return entry(resource_id, "MISSING_FIELD", f"{path} is missing.", field=path)


def missing_documents(packet: Packet, suffix: str | None) -> list[Json]:
    """Return an error for each document that a packet lacks."""
    customer = packet.customer
    if customer.customer_type == "INDIVIDUAL":
        known = {**customer.details, "region": customer.region}
        if is_american(known) and suffix != "003":
            return []
        return unproven(packet, customer.id, kinds_of("IDENTITY"))
    found = []
    accepted = kinds_of("ADDRESS")
    if not any(paper.type in accepted for paper in packet.documents[customer.id]):
        found.append(address_error(customer.id, "A proof of the address is missing."))
    for owner in packet.owners:
        if not is_american(owner.person):
            others = [kind for kind in kinds_of("IDENTITY") if kind != "PASSPORT"]
            found += unproven(packet, owner.id, ["PASSPORT"])
            found += unproven(packet, owner.id, others)
    return found


def kinds_of(proof: str) -> list[str]:
    """Return the types of the documents that prove something."""
    return [name for name, kind in documents.DOCUMENT_TYPES.items() if kind.proves == proof]


def unproven(packet: Packet, holder_id: str, accepted: list[str]) -> list[Json]:
    """Return an error unless a holder's identity is proven by one of the accepted documents."""
    held = packet.documents[holder_id]
    if any(is_whole(kind, held) for kind in accepted):
        return []
    reason = f"A document of one of these types is missing: {', '.join(accepted)}."
    return [entry(holder_id, "MISSING_IDENTITY_DOCUMENT", reason, acceptedDocumentTypes=accepted)]


def address_error(holder_id: str, reason: str) -> Json:
    """Return the error of a proof of address that is missing."""
    accepted = kinds_of("ADDRESS")
    return entry(holder_id, "MISSING_PROOF_OF_ADDRESS", reason, acceptedDocumentTypes=accepted)


def is_whole(kind: str, held: Sequence[Document]) -> bool:
    """Return whether a document is among those held, with all of its sides."""
    sides = {paper.side for paper in held if paper.type == kind}
    return bool(sides) and sides.issuperset(documents.DOCUMENT_TYPES[kind].sides)


def is_american(person: Json) -> bool:
    """Return whether a person holds accounts as a US person does."""
    country = (person.get("address") or {}).get("country")
    return "US" in (person.get("region"), person.get("nationality"), country)


def is_controlled(owners: Sequence[BeneficialOwner]) -> bool:
    """Return whether one of the reported persons controls the business."""
    return any(rules.CONTROL_ROLE in owner.roles for owner in owners)


def asked_first(unit: Unit, customer: Customer) -> list[Json]:
    """Return what the sandbox asks some businesses for at their first submission."""
    known = select(Verification.id).where(Verification.customer_id == customer.id)
    if not sandbox.asks_first(customer) or unit.session.scalar(known.limit(1)) is not None:
        return []
    return [address_error(customer.id, "The proof of the address cannot be read. Submit again.")]


def entry(resource_id: str, kind: str, reason: str, **more: object) -> Json:
    """Return one entry of ``errors``."""
    return {"resourceId": resource_id, "type": kind, "reason": reason, **more}


def is_acceptable(found: list[Json]) -> bool:
    """Return whether a submission with these errors goes to review."""
    return not found


def note(unit: Unit, customer: Customer, found: list[Json]) -> Verification:
    """Keep a submission with its errors."""
    record = Verification(
        id=new_id("Verification"),
        customer_id=customer.id,
        status=status_of(found),
        errors=found,
        created_at=unit.now,
    )
    unit.session.add(record)
    return record


def status_of(found: list[Json]) -> str:
    """Return the status of a submission with these errors."""
    return "RESOLVE_ERRORS" if found else "IN_PROGRESS"


def accept(unit: Unit, packet: Packet, *, hosted: bool) -> None:
    """Begin the review of a customer; the sandbox decides some by itself."""
    customer = packet.customer
    onboarding.reach(unit, customer, "PENDING")
    suffix = sandbox.suffix_of(customer, packet.owners)
    outcome = sandbox.outcome_of(suffix, customer, hosted=hosted)
    if outcome is not None:
        job = partial(settle, customer_id=customer.id, outcome=outcome)
        unit.later(unit.settings.settlement_seconds, job)


def settle(unit: Unit, customer_id: str, outcome: str) -> None:
    """End a review, if nobody has ended it before."""
    customer = customers.get(unit, customer_id)
    if customer.status == "PENDING":
        onboarding.reach(unit, customer, outcome)


def complete_hosted(unit: Unit, customer: Customer) -> None:
    """Submit what a customer told in the hosted flow, where all is asked for that is missing."""
    refuse_reviewed(customer)
    found = asked_first(unit, customer)
    note(unit, customer, found)
    if is_acceptable(found):
        accept(unit, packet_of(unit, customer), hosted=True)


def list_for_customer(unit: Unit, ask: Ask) -> Json:
    """List the submissions of a customer, the last one first."""
    if "customerId" not in ask.query:
        message = "Expected the id of a customer."
        raise errors.invalid_input(errors.field_error("customerId", message, required=True))
    customer = customers.get(unit, ask.query["customerId"])
    query = select(Verification).where(Verification.customer_id == customer.id)
    page = pages.take(unit, query, Verification, pages.read(ask.query, descending=True))
    return page.view([view(row, customer) for row in page.rows])


def view(record: Verification, customer: Customer) -> Json:
    """Return a submission as clients see it."""
    return {
        "id": record.id,
        "customerId": record.customer_id,
        "verificationStatus": shown_status(record, customer),
        "errors": record.errors,
        "createdAt": timestamp(record.created_at),
    }


def shown_status(record: Verification, customer: Customer) -> str:
    """Return the status of a submission: that of its review, once it is over."""
    over = record.status == "IN_PROGRESS" and not rules.REVIEW_TRANSITIONS[customer.status]
    return customer.status if over else record.status
