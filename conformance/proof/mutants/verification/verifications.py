"""Mutants of submissions: what they show, what is missing, who can read them."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import select

from conformance.proof.kit.builders import Handler, Json, Place, around, edited, instead, rescued
from conformance.proof.kit.edits import ALL, Edit, put, without
from conformance.proof.kit.identifiers import declare_lookups, owner_of
from conformance.proof.kit.tables import with_columns
from conformance.proof.mutant import declare, mutant
from conformance.proof.mutants.customers.toolkit import of_all_who_share
from conformance.proof.mutants.verification.toolkit import (
    accepting,
    is_of_type,
    missing,
    submissions,
)
from conformance.proof.patch import Apply, Function, Patch
from conformance.reference import errors, rules
from conformance.reference.customers import customers
from conformance.reference.store import BeneficialOwner, Document, Verification
from conformance.reference.unit import Ask, Unit
from conformance.reference.verification import documents, owners, verifications

# --- What a submission shows ----------------------------------------------------------------


_ENTRY = f"errors.{ALL}"


_FORMLESS_ID = {"number": 17, "bare-id": "8d0cf2a4", "other-type": "Thing:8d0cf2a4"}


WRONG: tuple[tuple[str, str, Json], ...] = (
    ("VER-001", "id", _FORMLESS_ID),
    ("VER-002", "customerId", {**_FORMLESS_ID, "another": "Customer:1"}),
    ("VER-003", "verificationStatus", {"number": 17, "null": None}),
    ("VER-004", "errors", {"object": {}, "text": "", "null": None}),
    ("VER-005", "createdAt", {"seconds": 1_790_000_000, "zoneless": "2026-01-15T09:00:00"}),
    ("VER-006", f"{_ENTRY}.resourceId", _FORMLESS_ID),
    ("VER-007", f"{_ENTRY}.type", {"number": 17, "null": None}),
    ("VER-008", f"{_ENTRY}.reason", {"number": 17, "empty": "", "null": None}),
    ("VER-009", f"{_ENTRY}.field", {"number": 17, "empty": "", "list": ["identifier"]}),
    ("VER-010", f"{_ENTRY}.acceptedDocumentTypes", {"text": "PASSPORT", "numbers": [1, 2]}),
)
"""The members of a submission, each with values that it may not have."""

for _requirement, _path, _values in WRONG:
    _shown = _path.replace(f"{_ENTRY}.", "entry-")
    declare(
        _requirement,
        f"{_shown}-missing",
        f"{_path} is not there",
        edited(verifications, "view", without(_path)),
    )
    for _name, _value in _values.items():
        declare(
            _requirement,
            f"{_shown}-{_name}",
            f"{_path} is {json.dumps(_value)}",
            edited(verifications, "view", put(_path, _value)),
        )


def _lines(submission: Json) -> Json:
    return {**submission, "errors": [entry["reason"] for entry in submission["errors"]]}


declare("VER-011", "texts", "the errors are texts", edited(verifications, "view", _lines))


def at_status(status: str, change: Edit) -> Edit:
    """Return an edit that changes submissions of a status alone."""
    return lambda shown: change(shown) if shown["verificationStatus"] == status else shown


declare(
    "VER-012",
    "silent",
    "what is missing is not told",
    edited(verifications, "view", at_status("RESOLVE_ERRORS", put("errors", []))),
)


def of_kind(place: Place, kind: str, change: Edit) -> Apply:
    """Return a patch after which what a function says of one type of customer is changed.

    The customer is its last argument.
    """

    def changed(original: Callable[..., Any], *arguments: Any) -> Any:
        answer = original(*arguments)
        return change(answer) if arguments[-1].customer_type == kind else answer

    return around(*place, changed)


_REMARK = {"resourceId": "Customer:1", "type": "NOTE", "reason": "Nothing is missing."}

for _kind, _status, _errors in (
    ("INDIVIDUAL", "VER-020", "VER-021"),
    ("BUSINESS", "VER-022", "VER-023"),
):
    for _word in ("PENDING", "APPROVED", "ACCEPTED"):
        declare(
            _status,
            f"{_word.lower()}",
            f"the accepted submission of {_kind} is {_word}",
            of_kind(
                (verifications, "view"),
                _kind,
                at_status("IN_PROGRESS", put("verificationStatus", _word)),
            ),
        )
    for _name, _value in {"null": None, "remark": [_REMARK]}.items():
        declare(
            _errors,
            _name,
            f"the errors of the accepted submission of {_kind} are {json.dumps(_value)}",
            of_kind(
                (verifications, "view"), _kind, at_status("IN_PROGRESS", put("errors", _value))
            ),
        )


def errors_of_before(kind: str) -> Apply:
    """Answer a second submission of one type of customer with the errors of the first one."""
    told: dict[str, list[Json]] = {}

    def create(original: Handler, unit: Unit, ask: Ask) -> Any:
        answer = original(unit, ask)
        customer = customers.get(unit, answer["customerId"])
        if customer.customer_type != kind:
            return answer
        return {**answer, "errors": told.setdefault(customer.id, answer["errors"])}

    return around(verifications, "create", create)


def of_businesses(change: Callable[[list[Json]], list[Json]]) -> Apply:
    """Return a patch of the list of a business's submissions."""

    def listing(original: Handler, unit: Unit, ask: Ask) -> Any:
        answer = original(unit, ask)
        if customers.get(unit, ask.query["customerId"]).customer_type != "BUSINESS":
            return answer
        return {**answer, "data": change(answer["data"])}

    return around(verifications, "list_for_customer", listing)


for _kind, _requirement in (("INDIVIDUAL", "VER-021"), ("BUSINESS", "VER-023")):
    declare(
        _requirement,
        "of-before",
        f"the second submission of {_kind} is answered with the errors of the first one",
        errors_of_before(_kind),
    )
declare(
    "VER-060",
    "first-of-a-business",
    "only the first submission of a business is listed",
    of_businesses(lambda rows: rows[-1:]),
)
declare(
    "VER-068",
    "of-a-business",
    "the accepted submission of a business is listed with the errors of the first one",
    of_businesses(lambda rows: [{**row, "errors": rows[-1]["errors"]} for row in rows]),
)


def _missed(member: str, is_wrong: Callable[[str], bool]) -> Apply:
    """Tell a member of individuals as missing where its value is taken for a wrong one."""
    return missing(
        lambda _unit, packet, found: (
            [*found, verifications.field_error(packet.customer.id, member)]
            if is_wrong(packet.customer.details.get(member, ""))
            else found
        )
    )


declare(
    "VER-020",
    "two-words",
    "a name of more than two words is missed at the submission",
    _missed("fullName", lambda name: len(name.split()) > 2),
)
declare(
    "VER-020",
    "leap-day",
    "a birth date on a leap day is missed at the submission",
    _missed("birthDate", lambda date: date.endswith("02-29")),
)
declare(
    "VER-022",
    "idle-control",
    "a control person counts only where it owns something",
    around(
        verifications,
        "is_controlled",
        lambda original, persons: original([one for one in persons if float(one.ownership)]),
    ),
)


# --- What is missing ------------------------------------------------------------------------


def earlier(unit: Unit, packet: verifications.Packet) -> list[Json]:
    """Return the errors of the first submission of a packet's customer."""
    before = submissions(unit, packet.customer.id)
    return before[0].errors if before else []


def elsewhere(entries: list[Json]) -> list[Json]:
    """Return entries that are about another customer."""
    return [{**entry, "resourceId": "Customer:1"} for entry in entries]


def elsewhere_of(kind: str) -> Callable[[Unit, verifications.Packet, list[Json]], list[Json]]:
    """Return a change by which the errors of a type of customer are about another one."""
    return lambda _unit, packet, e: elsewhere(e) if is_of_type(kind, packet.customer) else e


def named(entries: list[Json]) -> list[Json]:
    """Return entries about each field that an individual may need, missing or not."""
    if not entries or "field" not in entries[0]:
        return entries
    return [{**entries[0], "field": path} for path in rules.INDIVIDUAL_NEEDS]


declare(
    "VER-033",
    "uncontrolled",
    "a business needs nobody who controls it",
    instead(verifications, "is_controlled", lambda _owners: True),
)
declare("VER-034", "all-fields", "all fields are named", missing(lambda _u, _p, e: named(e)))
declare("VER-037", "first", "only the first is told", missing(lambda _u, _p, e: e[:1]))
declare("VER-038", "twice", "each is told twice", missing(lambda _u, _p, e: [*e, *e]))
declare(
    "VER-038",
    "of-owners",
    "what is missing of an owner is told twice",
    missing(lambda _u, packet, e: [*e, *(x for x in e if x["resourceId"] != packet.customer.id)]),
)
declare(
    "VER-955",
    "twice",
    "a missing proof of address is told twice",
    missing(lambda _u, _p, e: [*e, *(x for x in e if x["type"] == "MISSING_PROOF_OF_ADDRESS")]),
)
declare(
    "VER-054",
    "second-accepted",
    "the second submission is accepted as it is",
    missing(lambda unit, packet, found: [] if earlier(unit, packet) else found),
)


def _submitted_once(original: Handler, unit: Unit, ask: Ask) -> Any:
    name = ask.body.get("customerId") if isinstance(ask.body, dict) else None
    query = select(Verification).where(Verification.customer_id == str(name))
    if unit.session.scalars(query).first() is not None:
        raise errors.Refusal("CONFLICT", "The customer was submitted before.")
    return original(unit, ask)


for _requirement in ("VER-050", "VER-051"):
    declare(
        _requirement,
        "once",
        "nobody is submitted a second time",
        around(verifications, "create", _submitted_once),
    )

for _requirement in ("VER-050", "VER-051", "VER-053"):
    declare(
        _requirement,
        "remembered",
        "what was missing once stays missing",
        missing(lambda unit, packet, found: earlier(unit, packet) or found),
    )

for _requirement, _kind in (("VER-035", "INDIVIDUAL"), ("VER-036", "BUSINESS")):
    declare(
        _requirement,
        "elsewhere",
        f"the errors of {_kind} are about another customer",
        missing(elsewhere_of(_kind)),
    )


@mutant(
    "VER-033",
    "a business without owners is refused instead of told what is missing",
    (verifications, "create"),
    edited,
)
def incomplete_refused(answer: Any) -> Any:
    if answer["errors"]:
        raise errors.Refusal("INVALID_INPUT", "Something is missing.")
    return answer


@mutant("VER-039", "a missing document is said to be another customer's")
def document_elsewhere(patch: Patch) -> None:
    patch.wrap(
        verifications, "unproven", lambda unproven, *arguments: elsewhere(unproven(*arguments))
    )


@mutant("VER-052", "a document that was uploaded is not looked for")
def document_not_found(patch: Patch) -> None:
    patch.replace(verifications, "is_whole", lambda _kind, _held: False)


@mutant("VER-052", "only passports are looked for, whatever is accepted")
def passport_listed_last(patch: Patch) -> None:
    def kinds(proof: str) -> list[str]:
        return ["NATIONAL_ID", "PASSPORT"] if proof == "IDENTITY" else ["UTILITY_BILL"]

    def whole(kind: str, held: Sequence[Document]) -> bool:
        return kind == "PASSPORT" and any(paper.type == kind for paper in held)

    patch.replace(verifications, "kinds_of", kinds)
    patch.replace(verifications, "is_whole", whole)


@mutant("VER-821", "the papers of owners are not looked at", (verifications, "unproven"), around)
def owner_not_identified(
    original: Callable[..., list[Json]],
    packet: verifications.Packet,
    holder_id: str,
    accepted: list[str],
) -> list[Json]:
    held = {packet.customer.id: packet.documents[packet.customer.id]}
    return original(replace(packet, documents=defaultdict(list, held)), holder_id, accepted)


# --- What can be read -----------------------------------------------------------------------


def listed(change: Edit) -> Apply:
    """Return a patch after which the listed submissions are changed, one by one."""
    return edited(
        verifications,
        "list_for_customer",
        lambda page: {**page, "data": [change(one) for one in page["data"]]},
    )


def _all(unit: Unit) -> list[Json]:
    return [
        verifications.view(row, customers.get(unit, row.customer_id)) for row in submissions(unit)
    ]


declare(
    "VER-060",
    "empty",
    "nothing is listed",
    edited(verifications, "list_for_customer", put("data", [])),
)
declare(
    "VER-060",
    "accepted-alone",
    "only accepted submissions are listed",
    edited(
        verifications,
        "list_for_customer",
        lambda page: {**page, "data": [one for one in page["data"] if not one["errors"]]},
    ),
)
declare(
    "VER-061",
    "in-progress",
    "all submissions are listed as in progress",
    listed(put("verificationStatus", "IN_PROGRESS")),
)
declare("VER-062", "silent", "the list does not tell the errors", listed(put("errors", [])))
declare(
    "VER-062",
    "first-error",
    "the list tells the first error alone",
    listed(lambda one: {**one, "errors": one["errors"][:1]}),
)
declare(
    "VER-062",
    "unnamed-field",
    "the list does not tell which field is missing",
    listed(lambda one: {**one, "errors": [without("field")(entry) for entry in one["errors"]]}),
)
declare(
    "VER-062",
    "of-the-customer",
    "the list tells the errors of owners as those of their business",
    listed(
        lambda one: {
            **one,
            "errors": [put("resourceId", one["customerId"])(entry) for entry in one["errors"]],
        }
    ),
)
declare("VER-063", "another", "another customer is named", listed(put("customerId", "Customer:1")))
declare(
    "VER-900",
    "another-time",
    "submissions are listed with a time before they were made",
    listed(put("createdAt", "2025-01-15T09:00:00Z")),
)
declare(
    "VER-067",
    "text",
    "the list is a text",
    edited(verifications, "list_for_customer", put("", "none")),
)
declare(
    "VER-068",
    "errors-of-accepted",
    "accepted submissions are listed with an error",
    listed(at_status("IN_PROGRESS", put("errors", [_REMARK]))),
)


declare(
    "VER-064",
    "of-one-name",
    "the submissions of all who share a platformCustomerId are listed",
    around(verifications, "list_for_customer", of_all_who_share),
)


@mutant("VER-064", "the submissions of all customers are listed")
def filter_ignored(patch: Patch) -> None:
    patch.wrap(
        verifications,
        "list_for_customer",
        lambda original, unit, ask: {**original(unit, ask), "data": _all(unit)},
    )


@mutant(
    "VER-065",
    "by an unknown customer the submissions of all are found",
    (verifications, "list_for_customer"),
    rescued,
)
def unknown_is_any(_refusal: errors.Refusal, unit: Unit, ask: Ask) -> Any:
    return {"data": _all(unit), "hasMore": False}


@mutant(
    "VER-066",
    "a customer without submission is in progress",
    (verifications, "list_for_customer"),
    edited,
)
def progress_assumed(page: Json) -> Json:
    return {**page, "data": page["data"] or [{"verificationStatus": "IN_PROGRESS"}]}


# --- What is refused ------------------------------------------------------------------------


for _requirement in ("VER-070", "VER-071", "VER-072"):
    declare(_requirement, "accepted", "whatever is submitted is accepted", accepting)


@mutant("VER-070", "an unknown customer is a conflict")
def unknown_is_conflict(patch: Patch) -> None:
    patch.row(rules, "ERROR_STATUS", "CUSTOMER_NOT_FOUND", 409)


# --- Ids of other kinds ---------------------------------------------------------------------


@mutant("VER-800", "a business is submitted by the id of its owner", (verifications, "create"))
def submitted_by_owner(original: Handler, unit: Unit, ask: Ask) -> Any:
    name = ask.body.get("customerId") if isinstance(ask.body, dict) else None
    owner = unit.session.get(BeneficialOwner, name) if isinstance(name, str) else None
    if owner is None:
        return original(unit, ask)
    return original(unit, replace(ask, body={**ask.body, "customerId": owner.customer_id}))


declare_lookups((("VER-800", "submitted", (verifications, "create"), "customerId", owner_of),))


# --- Submissions of businesses --------------------------------------------------------------


@mutant("VER-801", "nobody has to control a business")
def uncontrolled(patch: Patch) -> None:
    patch.replace(verifications, "is_controlled", lambda _owners: True)


def _unasked(fits: Callable[[Json, Any], bool]) -> Apply:
    """Do not ask for the documents that fit."""

    def fewer(missing: Function, packet: Any, suffix: str | None) -> list[Json]:
        return [one for one in missing(packet, suffix) if not fits(one, packet)]

    return around(verifications, "missing_documents", fewer)


declare(
    "VER-802",
    "unproven",
    "the address of a business need not be proven",
    _unasked(lambda one, _packet: one["type"] == "MISSING_PROOF_OF_ADDRESS"),
)
declare(
    "VER-803",
    "unproven",
    "owners need no documents",
    _unasked(lambda one, packet: one["resourceId"] != packet.customer.id),
)
declare(
    "VER-806",
    "one-paper",
    "a passport is enough of owners",
    _unasked(lambda one, _packet: "NATIONAL_ID" in one.get("acceptedDocumentTypes", ())),
)


for _id, _path in (("VER-807", "address"), ("VER-810", "businessInfo.countriesOfOperation")):
    declare(
        _id,
        "unasked",
        f"the review of a business does without {_path}",
        instead(
            rules, "BUSINESS_NEEDS", tuple(name for name in rules.BUSINESS_NEEDS if name != _path)
        ),
    )
declare(
    "VER-808",
    "unnumbered",
    "the review asks nobody for a number",
    missing(
        lambda _unit, _packet, found: [
            entry for entry in found if entry.get("field") not in ("idType", "identifier")
        ]
    ),
)
declare(
    "VER-808",
    "refused",
    "what is incomplete is refused",
    incomplete_refused,
)
declare(
    "VER-809",
    "accepted",
    "a business needs no owners, and no documents",
    missing(lambda _unit, packet, found: [] if is_of_type("BUSINESS", packet.customer) else found),
)


def _told(keep: Callable[[Sequence[Json], verifications.Packet], list[Json]]) -> Apply:
    """Tell a part of what is missing of businesses."""
    return missing(
        lambda _unit, packet, found: (
            keep(found, packet) if is_of_type("BUSINESS", packet.customer) else found
        )
    )


def _first_of_each(found: Sequence[Json], _packet: verifications.Packet) -> list[Json]:
    return list({entry["resourceId"]: entry for entry in reversed(found)}.values())


def _first_owner_alone(found: Sequence[Json], packet: verifications.Packet) -> list[Json]:
    told = {packet.customer.id, *(owner.id for owner in packet.owners[:1])}
    lacking = [owner.id for owner in packet.owners if owner.id in {e["resourceId"] for e in found}]
    return [entry for entry in found if entry["resourceId"] in told | set(lacking[:1])]


for _id in ("VER-811", "VER-812"):
    declare(_id, "first", "the first thing that is missing of each is told", _told(_first_of_each))
for _id in ("VER-813", "VER-815"):
    declare(_id, "first", "the first owner who lacks something is told", _told(_first_owner_alone))


@mutant("VER-823", "who is reported after a submission is not reviewed")
def late_owners_unreviewed(patch: Patch) -> None:
    seen: dict[str, set[str]] = {}

    def missing_of_first(
        original: Callable[[Unit, verifications.Packet], list[Json]],
        unit: Unit,
        packet: verifications.Packet,
    ) -> list[Json]:
        first = seen.setdefault(packet.customer.id, {owner.id for owner in packet.owners})
        late = {owner.id for owner in packet.owners} - first
        return [one for one in original(unit, packet) if one["resourceId"] not in late]

    patch.wrap(verifications, "missing", missing_of_first)


declare(
    "VER-814",
    "last",
    "what is missing of the last one is told",
    _told(lambda found, _packet: [e for e in found if e["resourceId"] == found[-1]["resourceId"]]),
)
declare(
    "VER-034",
    "of-owners",
    "all fields of owners are named",
    around(
        owners,
        "missing",
        lambda _original, _owner: [f"personalInfo.{name}" for name in owners.NEEDED_FOR_REVIEW],
    ),
)


def _as_if(kind: str) -> Apply:
    """Ask of all customers what one type of them is asked for."""
    return around(
        verifications,
        "missing_fields",
        lambda original, packet: original(replace(packet, customer=_Typed(packet.customer, kind))),
    )


class _Typed:
    """A customer who is said to be of a type."""

    def __init__(self, customer: Any, kind: str) -> None:
        self._customer = customer
        self.customer_type = kind

    def __getattr__(self, name: str) -> Any:
        return getattr(self._customer, name)


declare("VER-816", "as-business", "individuals are asked what businesses are", _as_if("BUSINESS"))
declare("VER-817", "as-person", "businesses are asked what individuals are", _as_if("INDIVIDUAL"))
for _kind in ("ELECTRICITY_BILL", "TAX_RETURN"):
    declare(
        "VER-820",
        f"no-{_kind.lower().replace('_', '-')}",
        f"a document of the type {_kind} proves nothing",
        with_columns(documents, "DOCUMENT_TYPES", _kind, proves=""),
    )


for _id in ("VER-818", "VER-819"):
    declare(
        _id,
        "any-document",
        "each document proves everything",
        instead(verifications, "kinds_of", lambda _proof: list(documents.DOCUMENT_TYPES)),
    )


for _id, _name, _kind, _sides in (
    ("VER-804", "front", "DRIVERS_LICENSE", ("FRONT",)),
    ("VER-805", "front", "NATIONAL_ID", ("FRONT",)),
    ("DOC-605", "one-image", "DRIVERS_LICENSE", ()),
    ("DOC-606", "one-image", "NATIONAL_ID", ()),
):
    declare(
        _id,
        _name,
        f"a {_kind} has the sides {_sides}",
        with_columns(documents, "DOCUMENT_TYPES", _kind, sides=_sides),
    )


# --- What is read, and whose papers count ---------------------------------------------------


declare(
    "VER-062",
    "of-another",
    "the list tells the errors of another customer",
    listed(lambda one: {**one, "errors": elsewhere(one["errors"])}),
)
declare(
    "VER-060",
    "first-alone",
    "only the first submission of a customer is listed",
    edited(
        verifications,
        "list_for_customer",
        lambda page: {**page, "data": page["data"][-1:]},
    ),
)
declare(
    "VER-068",
    "errors-of-earlier",
    "a submission that was repaired shows the errors of the first one",
    edited(
        verifications,
        "list_for_customer",
        lambda page: {
            **page,
            "data": [{**one, "errors": page["data"][-1]["errors"]} for one in page["data"]],
        },
    ),
)


def _by_the_back(kind: str, held: Sequence[Document]) -> bool:
    sides = {paper.side for paper in held if paper.type == kind}
    wanted = documents.DOCUMENT_TYPES[kind].sides
    return bool(sides) and sides.issuperset(wanted[-1:])


def _of_any_card(kind: str, held: Sequence[Document]) -> bool:
    sides = {paper.side for paper in held}
    kinds = {paper.type for paper in held}
    return kind in kinds and sides.issuperset(documents.DOCUMENT_TYPES[kind].sides)


for _id in ("VER-804", "VER-805"):
    declare(
        _id,
        "back",
        "the back of a card is enough",
        instead(verifications, "is_whole", _by_the_back),
    )
    declare(
        _id,
        "two-cards",
        "the sides of two cards make a whole one",
        instead(verifications, "is_whole", _of_any_card),
    )


@mutant(
    "VER-803",
    "the papers of one owner count for all of them",
    (verifications, "unproven"),
    around,
)
def papers_of_all(
    original: Callable[..., list[Json]],
    packet: verifications.Packet,
    holder_id: str,
    accepted: list[str],
) -> list[Json]:
    papers = [paper for owner in packet.owners for paper in packet.documents[owner.id]]
    held = {**packet.documents, **{owner.id: papers for owner in packet.owners}}
    return original(replace(packet, documents=held), holder_id, accepted)


@mutant("VER-801", "an owner who is refused is kept nonetheless", (owners, "create"), around)
def refused_and_kept(original: Function, unit: Unit, ask: Ask) -> Any:
    try:
        return original(unit, ask)
    except errors.Refusal:
        if isinstance(ask.body, dict) and ask.body.get("ownershipPercentage") == 101:
            original(unit, replace(ask, body={**ask.body, "ownershipPercentage": 100}))
            unit.session.commit()
        raise


declare(
    "VER-009",
    "strokes",
    "the path of a field is written with strokes",
    around(
        verifications,
        "field_error",
        lambda original, resource_id, path: {
            **original(resource_id, path),
            "field": path.replace(".", "/"),
        },
    ),
)


def _at_the_customer(
    original: Callable[..., list[Json]],
    packet: verifications.Packet,
    holder_id: str,
    accepted: list[str],
) -> list[Json]:
    found = original(packet, holder_id, accepted)
    return [{**entry, "resourceId": packet.customer.id} for entry in found]


declare(
    "VER-822",
    "papers-of-owners",
    "an identity document that an owner lacks is told of the business",
    around(verifications, "unproven", _at_the_customer),
)


@mutant(
    "VER-824",
    "a field that an owner lacks is told of the business",
    (verifications, "missing_fields"),
    around,
)
def fields_at_the_customer(original: Callable[..., list[Json]], packet: Any) -> list[Json]:
    return [{**entry, "resourceId": packet.customer.id} for entry in original(packet)]


def _last_side_alone(kind: str, held: Sequence[Document]) -> bool:
    sides = {paper.side for paper in [one for one in held if one.type == kind][-1:]}
    return bool(sides) and sides.issuperset(documents.DOCUMENT_TYPES[kind].sides)


declare(
    "VER-052",
    "last-side",
    "the second side of a card takes the place of the first one",
    instead(verifications, "is_whole", _last_side_alone),
)
