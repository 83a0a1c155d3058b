"""The honest variants of submissions, of the states of a customer's verification, and its events.

What a group holds can be applied together, as in the other modules of variants.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from sqlalchemy import select

from conformance.mutants.mutant import Patch
from conformance.mutants.variant import declare, variant
from conformance.reference import (
    customers,
    documents,
    errors,
    onboarding,
    routes,
    sandbox,
    verifications,
)
from conformance.reference.store import Customer, Json, Verification
from conformance.reference.unit import Ask, Unit

Function = Callable[..., Any]

_REFERENCE = "conformance.reference"
_REVIEWS = f"{_REFERENCE}.verifications"
_ROUTES = f"{_REFERENCE}.routes:OPERATIONS"

_FIRST = "onboarding"
_SECOND = "other onboarding"
_A_MOMENT = 0.15


def _success(status: int, patch: Patch) -> None:
    row = replace(routes.OPERATIONS["createVerification"], status=status)
    patch.row(_ROUTES, "createVerification", row)


for _status, _group in ((201, _FIRST), (202, _SECOND)):
    declare(
        "N069",
        f"createVerification-{_status}",
        f"createVerification answers {_status}",
        partial(_success, _status),
        _group,
    )


# --- Errors ---------------------------------------------------------------------------------


def entries(change: Callable[[Json], Json], patch: Patch) -> None:
    """Show each entry of the errors as ``change`` returns it."""

    def wrapper(entry: Function) -> Function:
        return lambda *told, **more: change(entry(*told, **more))

    patch.wrap(f"{_REVIEWS}:entry", wrapper)


def reworded(old: str, new: str, entry: Json) -> Json:
    """Return an entry whose type has another name."""
    return {**entry, "type": new} if entry["type"] == old else entry


def rooted(prefix: str, entry: Json) -> Json:
    """Return an entry whose path begins elsewhere."""
    return {**entry, "field": prefix + entry["field"]} if "field" in entry else entry


def with_nulls(entry: Json) -> Json:
    """Return an entry with a null for what it does not need."""
    return {"field": None, "acceptedDocumentTypes": None, "severity": "BLOCKING", **entry}


ENTRIES: tuple[tuple[str, str, str, Callable[[Json], Json], str | None], ...] = (
    (
        "M35",
        "other-word-for-fields",
        "a missing field is told by another word",
        partial(reworded, "MISSING_FIELD", "FIELD_REQUIRED"),
        _FIRST,
    ),
    (
        "M35",
        "other-word-for-documents",
        "a missing document is told by another word",
        partial(reworded, "MISSING_IDENTITY_DOCUMENT", "DOCUMENT_REQUIRED"),
        _SECOND,
    ),
    (
        "M35",
        "one-word",
        "whatever is missing is told by one word",
        lambda entry: {**entry, "type": "INCOMPLETE"},
        None,
    ),
    ("M73", "from-the-body", "paths begin at the customer", partial(rooted, "customer."), _SECOND),
    ("M73", "from-elsewhere", "paths begin at the data", partial(rooted, "data."), None),
    ("M75", "entries-with-nulls", "entries have nulls for what they do not need", with_nulls, None),
)
"""Point, name, statement, change and group of each other way to tell what is missing."""

for _point, _name, _statement, _change, _together in ENTRIES:
    declare(_point, _name, _statement, partial(entries, _change), _together)


_CERTIFICATE = "CERTIFICATE_OF_INCORPORATION"


def _needs_more(change: Callable[[verifications.Packet], list[Json]], patch: Patch) -> None:
    def wrapper(missing: Function) -> Function:
        def lacking(packet: verifications.Packet, suffix: str | None) -> list[Json]:
            return [*missing(packet, suffix), *change(packet)]

        return lacking

    patch.wrap(f"{_REVIEWS}:missing_documents", wrapper)


def _identity(packet: verifications.Packet) -> list[Json]:
    customer = packet.customer
    if customer.customer_type == "BUSINESS" or not verifications.is_american(customer.details):
        return []
    return verifications.unproven(packet, customer.id, ["PASSPORT", "NATIONAL_ID"])


def _of_owners(packet: verifications.Packet) -> list[Json]:
    return [
        entry
        for owner in packet.owners
        if verifications.is_american(owner.person)
        for entry in verifications.unproven(packet, owner.id, ["DRIVERS_LICENSE", "PASSPORT"])
    ]


def _formation(packet: verifications.Packet) -> list[Json]:
    if packet.customer.customer_type != "BUSINESS":
        return []
    return [
        {**entry, "type": "MISSING_DOCUMENT"}
        for entry in verifications.unproven(packet, packet.customer.id, [_CERTIFICATE])
    ]


FURTHER: tuple[tuple[str, str, Callable[[verifications.Packet], list[Json]], str | None], ...] = (
    ("identity-of-all", "each individual proves its identity by a document", _identity, _SECOND),
    ("identity-of-owners", "each owner proves its identity by a document", _of_owners, _SECOND),
)
"""Name, statement, documents and group of what a review may need beyond the reference's."""

for _name, _statement, _more, _together in FURTHER:
    declare("N171", _name, _statement, partial(_needs_more, _more), _together)


@variant("N171", "a business proves its formation, by a document of its own")
def formation(patch: Patch) -> None:
    kind = documents.DocumentType("IDENTITY")
    patch.row("conformance.reference.documents:DOCUMENT_TYPES", _CERTIFICATE, kind)
    _needs_more(_formation, patch)


@variant("N171", "a business needs nothing but somebody who controls it", _FIRST)
def no_documents(patch: Patch) -> None:
    patch.replace(f"{_REVIEWS}:missing_documents", lambda _packet, _suffix: [])


# --- Reading --------------------------------------------------------------------------------


def _last(under_data: bool, patch: Patch) -> None:
    def last(unit: Unit, ask: Ask) -> Json:
        customer = customers.get(unit, ask.query["customerId"])
        query = select(Verification).where(Verification.customer_id == customer.id)
        record = unit.session.scalar(query.order_by(Verification.created_at.desc()).limit(1))
        if record is None:
            raise errors.Refusal("VERIFICATION_NOT_FOUND", "The customer was never submitted.")
        shown = verifications.view(record, customer)
        return {"data": shown} if under_data else shown

    patch.replace(f"{_REVIEWS}:list_for_customer", last)


declare("M33", "one-object", "the last submission is read", partial(_last, False), _FIRST)
declare("M33", "one-under-data", "it stands under data", partial(_last, True), _SECOND)


@variant("M33", "submissions are listed without an envelope")
def bare_list(patch: Patch) -> None:
    def wrapper(listed: Function) -> Function:
        return lambda unit, ask: listed(unit, ask)["data"]

    patch.wrap(f"{_REVIEWS}:list_for_customer", wrapper)


def _unknown(change: Callable[[], Any], function: str, patch: Patch) -> None:
    def wrapper(handler: Function) -> Function:
        def handled(unit: Unit, ask: Ask) -> Any:
            try:
                return handler(unit, ask)
            except errors.Refusal as refusal:
                if refusal.code != "CUSTOMER_NOT_FOUND":
                    raise
                return change()

        return handled

    patch.wrap(f"{_REVIEWS}:{function}", wrapper)


def _invalid() -> Any:
    raise errors.invalid_input(errors.field_error("customerId", "No customer has this id."))


def _nothing() -> Json:
    return {"data": [], "hasMore": False}


declare(
    "M41",
    "submission-of-nobody-invalid",
    "an unknown customer in a submission is an invalid value",
    partial(_unknown, _invalid, "create"),
    _FIRST,
)
declare(
    "M41",
    "submissions-of-nobody-invalid",
    "an unknown customer in the query is an invalid value",
    partial(_unknown, _invalid, "list_for_customer"),
)
declare(
    "M41",
    "submissions-of-nobody",
    "an unknown customer has no submissions",
    partial(_unknown, _nothing, "list_for_customer"),
)


@variant("N064", "what is in progress is listed by a finer word")
def finer_status(patch: Patch) -> None:
    def wrapper(listed: Function) -> Function:
        def finer(unit: Unit, ask: Ask) -> Json:
            page: Json = listed(unit, ask)
            for one in page["data"]:
                if one["verificationStatus"] == "IN_PROGRESS":
                    one["verificationStatus"] = "AWAITING_REVIEWER"
            return page

        return finer

    patch.wrap(f"{_REVIEWS}:list_for_customer", wrapper)


@variant("N173", "a submission that is repaired stays the same one", _SECOND)
def one_submission(patch: Patch) -> None:
    def wrapper(note: Function) -> Function:
        def noted(unit: Unit, customer: Customer, found: list[Json]) -> Verification:
            query = select(Verification).where(Verification.customer_id == customer.id)
            record = unit.session.scalar(query.limit(1))
            if record is None:
                fresh: Verification = note(unit, customer, found)
                return fresh
            record.status = verifications.status_of(found)
            record.errors = found
            return record

        return noted

    patch.wrap(f"{_REVIEWS}:note", wrapper)


@variant("N170", "a customer under review is submitted again without effect", _FIRST)
def submitted_again(patch: Patch) -> None:
    def wrapper(create: Function) -> Function:
        def creating(unit: Unit, ask: Ask) -> Json:
            name = ask.body.get("customerId") if isinstance(ask.body, dict) else None
            known = unit.session.get(Customer, str(name))
            if known is None or known.status != "PENDING":
                submission: Json = create(unit, ask)
                return submission
            query = select(Verification).where(Verification.customer_id == known.id)
            record = unit.session.scalars(query.order_by(Verification.created_at.desc())).first()
            return verifications.view(record, known) if record else create(unit, ask)

        return creating

    patch.wrap(f"{_REVIEWS}:create", wrapper)


# --- States ---------------------------------------------------------------------------------


def _decided(seconds: float, patch: Patch) -> None:
    """Let the sandbox approve whatever is submitted, now or later."""

    def wrapper(accept: Function) -> Function:
        def accepting(unit: Unit, packet: verifications.Packet, *, hosted: bool) -> None:
            accept(unit, packet, hosted=hosted)
            suffix = sandbox.suffix_of(packet.customer, packet.owners)
            if sandbox.outcome_of(suffix, packet.customer, hosted=hosted) is not None:
                return
            if not seconds:
                onboarding.reach(unit, packet.customer, "APPROVED")
                return
            job = partial(verifications.settle, customer_id=packet.customer.id, outcome="APPROVED")
            unit.later(seconds, job)

        return accepting

    def answering(create: Function) -> Function:
        def creating(unit: Unit, ask: Ask) -> Json:
            submission: Json = create(unit, ask)
            accepted = {} if submission["errors"] else {"verificationStatus": "IN_PROGRESS"}
            return {**submission, **accepted}

        return creating

    patch.wrap(f"{_REVIEWS}:accept", wrapper)
    patch.wrap(f"{_REVIEWS}:create", answering)


declare("M34", "decided-at-once", "what is submitted is approved at once", partial(_decided, 0))
declare(
    "M34",
    "decided-later",
    "what is submitted is approved by the sandbox a moment later",
    partial(_decided, _A_MOMENT),
)


@variant("M34", "the review begins a moment after the submission")
def begun_later(patch: Patch) -> None:
    def wrapper(accept: Function) -> Function:
        def accepting(unit: Unit, packet: verifications.Packet, *, hosted: bool) -> None:
            def begin(later: Unit) -> None:
                customer = customers.get(later, packet.customer.id)
                if customer.status == "UNVERIFIED":
                    accept(later, verifications.packet_of(later, customer), hosted=hosted)

            unit.later(_A_MOMENT, begin)

        return accepting

    patch.wrap(f"{_REVIEWS}:accept", wrapper)


def _leads_to(suffix: str, outcome: str, patch: Patch) -> None:
    patch.row(f"{_REFERENCE}.rules:SUFFIX_OUTCOMES", suffix, outcome)


for _suffix, _outcome, _group in (
    ("001", "APPROVED", _FIRST),
    ("001", "REJECTED", _SECOND),
    ("002", "APPROVED", _FIRST),
    ("003", "REJECTED", _FIRST),
):
    declare(
        "M36",
        f"{_suffix}-{_outcome.lower()}",
        f"the suffix {_suffix} leads to {_outcome}",
        partial(_leads_to, _suffix, _outcome),
        _group,
    )


@variant("M36", "individuals are approved after the hosted flow, too", _SECOND)
def hosted_individuals_approved(patch: Patch) -> None:
    patch.row(f"{_REFERENCE}.rules:HOSTED_OUTCOMES", "INDIVIDUAL", "APPROVED")


@variant("M36", "no suffix of an individual's name means anything", _FIRST)
def names_mean_nothing(patch: Patch) -> None:
    def wrapper(marked: Function) -> Function:
        def known(customer: Customer, owners: Any) -> list[str]:
            return [] if customer.customer_type == "INDIVIDUAL" else marked(customer, owners)

        return known

    patch.wrap(f"{_REFERENCE}.sandbox:marked", wrapper)


@variant("N175", "a decision can be made anew", _FIRST)
def decided_anew(patch: Patch) -> None:
    for decided in ("APPROVED", "REJECTED"):
        patch.row(
            f"{_REFERENCE}.rules:REVIEW_TRANSITIONS", decided, ("APPROVED", "REJECTED", "HOLD")
        )


@variant("N176", "a decided customer keeps its name", _SECOND)
def name_kept(patch: Patch) -> None:
    def wrapper(update: Function) -> Function:
        def updating(unit: Unit, ask: Ask) -> Any:
            known = unit.session.get(Customer, ask.params["customerId"])
            named = isinstance(ask.body, dict) and {"fullName", "businessInfo"} & ask.body.keys()
            if known is not None and named and known.status in ("APPROVED", "REJECTED"):
                raise errors.Refusal("CONFLICT", "The customer was verified under its name.")
            return update(unit, ask)

        return updating

    patch.wrap(f"{_REFERENCE}.onboarding:update", wrapper)


# --- Events ---------------------------------------------------------------------------------


@variant("N174", "a hold is reported, and so is each change of a customer", _FIRST)
def more_events(patch: Patch) -> None:
    def wrapper(update: Function) -> Function:
        def updating(unit: Unit, ask: Ask) -> Any:
            shown = update(unit, ask)
            unit.emit("CUSTOMER.UPDATED", shown)
            return shown

        return updating

    for kind, word in (("INDIVIDUAL", "KYC"), ("BUSINESS", "KYB")):
        event = f"CUSTOMER.{word}_HOLD"
        patch.row(f"{_REFERENCE}.rules:REVIEW_EVENTS", (kind, "HOLD"), event)
    patch.wrap(f"{_REFERENCE}.onboarding:update", wrapper)


@variant("N042", "the beginning of a review is reported late, with the customer as it is then")
def begun_is_told_late(patch: Patch) -> None:
    def wrapper(emit: Function) -> Function:
        def emitting(unit: Unit, event_type: str, data: Json) -> None:
            if not event_type.startswith("CUSTOMER.") or not event_type.endswith("_PENDING"):
                emit(unit, event_type, data)
                return

            def tell(later: Unit) -> None:
                customer = customers.get(later, data["id"])
                emit(later, event_type, customers.view(customer))

            unit.later(_A_MOMENT, tell)

        return emitting

    patch.wrap(f"{_REFERENCE}.unit:Unit.emit", wrapper)


@variant("N175", "operators end reviews that have begun, and no others", "further onboarding")
def no_review_no_end(patch: Patch) -> None:
    def wrapper(review: Function) -> Function:
        def reviewed(unit: Unit, ask: Ask) -> None:
            if customers.get(unit, ask.params["customerId"]).status == "UNVERIFIED":
                raise errors.Refusal("CONFLICT", "The customer was not submitted.")
            review(unit, ask)

        return reviewed

    patch.wrap(f"{_REFERENCE}.control:review", wrapper)
