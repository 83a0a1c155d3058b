"""Conforming variants of submissions, and of the states and events of a verification."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from sqlalchemy import select

from conformance.proof.kit.builders import Json, around, before, edited, instead, rescued
from conformance.proof.kit.tables import answers, with_row
from conformance.proof.patch import Apply, Function, Patch
from conformance.proof.variant import declare, variant
from conformance.proof.variants.protocol.toolkit import refuse_customer
from conformance.reference import control, errors, rules
from conformance.reference.customers import customers, onboarding
from conformance.reference.store import Customer, Verification
from conformance.reference.unit import Ask, Unit
from conformance.reference.verification import documents, sandbox, verifications

_FIRST = "onboarding"
_SECOND = "other onboarding"
_A_MOMENT = 0.15

for _status, _group in ((201, _FIRST), (202, _SECOND)):
    declare(
        "N069",
        f"createVerification-{_status}",
        f"createVerification answers {_status}",
        answers("createVerification", _status),
        _group,
    )


# --- Errors ---------------------------------------------------------------------------------


def entries(change: Callable[[Json], Json]) -> Apply:
    """Show each entry of the errors as ``change`` returns it."""
    return around(verifications, "entry", lambda entry, *told, **more: change(entry(*told, **more)))


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
    declare(_point, _name, _statement, entries(_change), _together)


_CERTIFICATE = "CERTIFICATE_OF_INCORPORATION"


def _needs_more(change: Callable[[verifications.Packet], list[Json]]) -> Apply:
    def lacking(missing: Function, packet: verifications.Packet, suffix: str | None) -> list[Json]:
        return [*missing(packet, suffix), *change(packet)]

    return around(verifications, "missing_documents", lacking)


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
    declare("N171", _name, _statement, _needs_more(_more), _together)


@variant("N171", "a business proves its formation, by a document of its own")
def formation(patch: Patch) -> None:
    kind = documents.DocumentType("IDENTITY")
    patch.row(documents, "DOCUMENT_TYPES", _CERTIFICATE, kind)
    _needs_more(_formation)(patch)


@variant("N171", "a business needs nothing but somebody who controls it", _FIRST)
def no_documents(patch: Patch) -> None:
    patch.replace(verifications, "missing_documents", lambda _packet, _suffix: [])


# --- Reading --------------------------------------------------------------------------------


def _last(under_data: bool) -> Apply:
    def last(unit: Unit, ask: Ask) -> Json:
        customer = customers.get(unit, ask.query["customerId"])
        query = select(Verification).where(Verification.customer_id == customer.id)
        record = unit.session.scalar(query.order_by(Verification.created_at.desc()).limit(1))
        if record is None:
            raise errors.Refusal("VERIFICATION_NOT_FOUND", "The customer was never submitted.")
        shown = verifications.view(record, customer)
        return {"data": shown} if under_data else shown

    return instead(verifications, "list_for_customer", last)


declare("M33", "one-object", "the last submission is read", _last(False), _FIRST)
declare("M33", "one-under-data", "it stands under data", _last(True), _SECOND)


@variant("M33", "submissions are listed without an envelope")
def bare_list(patch: Patch) -> None:
    patch.wrap(
        verifications, "list_for_customer", lambda listed, unit, ask: listed(unit, ask)["data"]
    )


@variant("M33", "how the last submission stands is told beside the list")
def summarized(patch: Patch) -> None:
    def summary(listed: Function, unit: Unit, ask: Ask) -> Json:
        found: Json = listed(unit, ask)
        last: Json = found["data"][0] if found["data"] else {}
        told = ("customerId", "verificationStatus", "errors")
        return {**{name: last.get(name) for name in told}, **found}

    patch.wrap(verifications, "list_for_customer", summary)


def _unknown(change: Callable[[], Any], function: str) -> Apply:
    def handled(_refusal: errors.Refusal, unit: Unit, ask: Ask) -> Any:
        return change()

    return rescued(verifications, function, handled, "CUSTOMER_NOT_FOUND")


def _nothing() -> Json:
    return {"data": [], "hasMore": False}


declare(
    "M41",
    "submission-of-nobody-invalid",
    "an unknown customer in a submission is an invalid value",
    _unknown(refuse_customer, "create"),
    _FIRST,
)
declare(
    "M41",
    "submissions-of-nobody-invalid",
    "an unknown customer in the query is an invalid value",
    _unknown(refuse_customer, "list_for_customer"),
)
declare(
    "M41",
    "submissions-of-nobody",
    "an unknown customer has no submissions",
    _unknown(_nothing, "list_for_customer"),
)


@variant(
    "N064",
    "what is in progress is listed by a finer word",
    place=(verifications, "list_for_customer"),
    how=edited,
)
def finer_status(page: Json) -> Json:
    for one in page["data"]:
        if one["verificationStatus"] == "IN_PROGRESS":
            one["verificationStatus"] = "AWAITING_REVIEWER"
    return page


@variant(
    "N173", "a submission that is repaired stays the same one", _SECOND, (verifications, "note")
)
def one_submission(
    note: Function, unit: Unit, customer: Customer, found: list[Json]
) -> Verification:
    query = select(Verification).where(Verification.customer_id == customer.id)
    record = unit.session.scalar(query.limit(1))
    if record is None:
        fresh: Verification = note(unit, customer, found)
        return fresh
    record.status = verifications.status_of(found)
    record.errors = found
    return record


@variant(
    "N170",
    "a customer under review is submitted again without effect",
    _FIRST,
    (verifications, "create"),
)
def submitted_again(create: Function, unit: Unit, ask: Ask) -> Json:
    name = ask.body.get("customerId") if isinstance(ask.body, dict) else None
    known = unit.session.get(Customer, str(name))
    if known is None or known.status != "PENDING":
        submission: Json = create(unit, ask)
        return submission
    query = select(Verification).where(Verification.customer_id == known.id)
    record = unit.session.scalars(query.order_by(Verification.created_at.desc())).first()
    return verifications.view(record, known) if record else create(unit, ask)


# --- States ---------------------------------------------------------------------------------


def _decided(seconds: float) -> Apply:
    """Let the sandbox approve whatever is submitted, now or later."""

    def apply(patch: Patch) -> None:
        def accepting(
            accept: Function, unit: Unit, packet: verifications.Packet, *, hosted: bool
        ) -> None:
            accept(unit, packet, hosted=hosted)
            suffix = sandbox.suffix_of(packet.customer, packet.owners)
            if sandbox.outcome_of(suffix, packet.customer, hosted=hosted) is not None:
                return
            if not seconds:
                onboarding.reach(unit, packet.customer, "APPROVED")
                return
            job = partial(verifications.settle, customer_id=packet.customer.id, outcome="APPROVED")
            unit.later(seconds, job)

        def creating(create: Function, unit: Unit, ask: Ask) -> Json:
            submission: Json = create(unit, ask)
            accepted = {} if submission["errors"] else {"verificationStatus": "IN_PROGRESS"}
            return {**submission, **accepted}

        patch.wrap(verifications, "accept", accepting)
        patch.wrap(verifications, "create", creating)

    return apply


declare("M34", "decided-at-once", "what is submitted is approved at once", _decided(0))
declare(
    "M34",
    "decided-later",
    "what is submitted is approved by the sandbox a moment later",
    _decided(_A_MOMENT),
)


@variant("M34", "the review begins a moment after the submission", place=(verifications, "accept"))
def begun_later(
    accept: Function, unit: Unit, packet: verifications.Packet, *, hosted: bool
) -> None:
    def begin(later: Unit) -> None:
        customer = customers.get(later, packet.customer.id)
        if customer.status == "UNVERIFIED":
            accept(later, verifications.packet_of(later, customer), hosted=hosted)

    unit.later(_A_MOMENT, begin)


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
        with_row(rules, "SUFFIX_OUTCOMES", _suffix, _outcome),
        _group,
    )


@variant("M36", "individuals are approved after the hosted flow, too", _SECOND)
def hosted_individuals_approved(patch: Patch) -> None:
    patch.row(rules, "HOSTED_OUTCOMES", "INDIVIDUAL", "APPROVED")


@variant("M36", "no suffix of an individual's name means anything", _FIRST, (sandbox, "marked"))
def names_mean_nothing(marked: Function, customer: Customer, owners: Any) -> list[str]:
    return [] if customer.customer_type == "INDIVIDUAL" else marked(customer, owners)


@variant("N175", "a decision can be made anew", _FIRST)
def decided_anew(patch: Patch) -> None:
    for decided in ("APPROVED", "REJECTED"):
        patch.row(rules, "REVIEW_TRANSITIONS", decided, ("APPROVED", "REJECTED", "HOLD"))


@variant("N176", "a decided customer keeps its name", _SECOND, (onboarding, "update"), before)
def name_kept(unit: Unit, ask: Ask) -> None:
    known = unit.session.get(Customer, ask.params["customerId"])
    named = isinstance(ask.body, dict) and {"fullName", "businessInfo"} & ask.body.keys()
    if known is not None and named and known.status in ("APPROVED", "REJECTED"):
        raise errors.Refusal("CONFLICT", "The customer was verified under its name.")


# --- Events ---------------------------------------------------------------------------------


@variant("N174", "a hold is reported, and so is each change of a customer", _FIRST)
def more_events(patch: Patch) -> None:
    def updating(update: Function, unit: Unit, ask: Ask) -> Any:
        shown = update(unit, ask)
        unit.emit("CUSTOMER.UPDATED", shown)
        return shown

    for kind, word in (("INDIVIDUAL", "KYC"), ("BUSINESS", "KYB")):
        event = f"CUSTOMER.{word}_HOLD"
        patch.row(rules, "REVIEW_EVENTS", (kind, "HOLD"), event)
    patch.wrap(onboarding, "update", updating)


@variant(
    "N042",
    "the beginning of a review is reported late, with the customer as it is then",
    place=(Unit, "emit"),
)
def begun_is_told_late(emit: Function, unit: Unit, event_type: str, data: Json) -> None:
    if not event_type.startswith("CUSTOMER.") or not event_type.endswith("_PENDING"):
        emit(unit, event_type, data)
        return

    def tell(later: Unit) -> None:
        customer = customers.get(later, data["id"])
        emit(later, event_type, customers.view(customer))

    unit.later(_A_MOMENT, tell)


@variant(
    "N175",
    "operators end reviews that have begun, and no others",
    "further onboarding",
    (control, "review"),
    before,
)
def no_review_no_end(unit: Unit, ask: Ask) -> None:
    if customers.get(unit, ask.params["customerId"]).status == "UNVERIFIED":
        raise errors.Refusal("CONFLICT", "The customer was not submitted.")
