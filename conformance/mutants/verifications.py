"""Mutants of submissions, of the states of a customer's verification, and of its events."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from sqlalchemy import select

from conformance.mutants.fields import ALL, Edit, edited, put, taken
from conformance.mutants.mutant import Patch, declare, mutant
from conformance.reference import customers, errors, onboarding, rules, sandbox, verifications
from conformance.reference.store import Customer, Document, Verification
from conformance.reference.unit import Ask, Unit

Json = dict[str, Any]
Handler = Callable[[Unit, Ask], Any]
Change = Callable[[str, Json], Iterable[tuple[str, Json]]]

_REFERENCE = "conformance.reference"
_CREATE = f"{_REFERENCE}.verifications:create"
_LIST = f"{_REFERENCE}.verifications:list_for_customer"
_VIEW = f"{_REFERENCE}.verifications:view"
_MISSING = f"{_REFERENCE}.verifications:missing"

KINDS = ("INDIVIDUAL", "BUSINESS")


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
    declare(_requirement, f"{_shown}-missing", f"{_path} is not there", edited(_VIEW, taken(_path)))
    for _name, _value in _values.items():
        declare(
            _requirement,
            f"{_shown}-{_name}",
            f"{_path} is {json.dumps(_value)}",
            edited(_VIEW, put(_path, _value)),
        )


def _lines(submission: Json) -> Json:
    return {**submission, "errors": [entry["reason"] for entry in submission["errors"]]}


declare("VER-011", "texts", "the errors are texts", edited(_VIEW, _lines))


def at_status(status: str, change: Edit) -> Edit:
    """Return an edit that changes submissions of a status alone."""
    return lambda shown: change(shown) if shown["verificationStatus"] == status else shown


declare(
    "VER-012",
    "silent",
    "what is missing is not told",
    edited(_VIEW, at_status("RESOLVE_ERRORS", put("errors", []))),
)


def of_kind(place: str, kind: str, change: Edit) -> Callable[[Patch], None]:
    """Return a patch after which what a function says of one type of customer is changed.

    The customer is its last argument.
    """

    def wrapper(original: Callable[..., Any]) -> Callable[..., Any]:
        def changed(*arguments: Any) -> Any:
            answer = original(*arguments)
            return change(answer) if arguments[-1].customer_type == kind else answer

        return changed

    return lambda patch: patch.wrap(place, wrapper)


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
            of_kind(_VIEW, _kind, at_status("IN_PROGRESS", put("verificationStatus", _word))),
        )
    for _name, _value in {"null": None, "remark": [_REMARK]}.items():
        declare(
            _errors,
            _name,
            f"the errors of the accepted submission of {_kind} are {json.dumps(_value)}",
            of_kind(_VIEW, _kind, at_status("IN_PROGRESS", put("errors", _value))),
        )


# --- What is missing ------------------------------------------------------------------------


def missing(
    change: Callable[[Unit, verifications.Packet, list[Json]], list[Json]],
) -> Callable[[Patch], None]:
    """Return a patch after which other things are missing of a packet."""

    def wrapper(original: Callable[..., list[Json]]) -> Callable[..., list[Json]]:
        return lambda unit, packet: change(unit, packet, original(unit, packet))

    return lambda patch: patch.wrap(_MISSING, wrapper)


def submissions(unit: Unit, customer_id: str | None = None) -> Sequence[Verification]:
    """Return the submissions so far, of one customer or all."""
    query = select(Verification).order_by(Verification.created_at)
    if customer_id is not None:
        query = query.where(Verification.customer_id == customer_id)
    return list(unit.session.scalars(query))


def earlier(unit: Unit, packet: verifications.Packet) -> list[Json]:
    """Return the errors of the first submission of a packet's customer."""
    before = submissions(unit, packet.customer.id)
    return before[0].errors if before else []


def elsewhere(entries: list[Json]) -> list[Json]:
    """Return entries that are about another customer."""
    return [{**entry, "resourceId": "Customer:1"} for entry in entries]


def elsewhere_of(kind: str) -> Callable[[Unit, verifications.Packet, list[Json]], list[Json]]:
    """Return a change by which the errors of a type of customer are about another one."""
    return lambda _unit, packet, e: elsewhere(e) if _is(kind, packet.customer) else e


def named(entries: list[Json]) -> list[Json]:
    """Return entries about each field that an individual may need, missing or not."""
    if not entries or "field" not in entries[0]:
        return entries
    return [{**entries[0], "field": path} for path in rules.INDIVIDUAL_NEEDS]


declare(
    "VER-033",
    "accepted",
    "a business needs no owners, and no documents",
    missing(lambda _unit, packet, found: [] if _is("BUSINESS", packet.customer) else found),
)
declare("VER-034", "all-fields", "all fields are named", missing(lambda _u, _p, e: named(e)))
declare("VER-037", "first", "only the first is told", missing(lambda _u, _p, e: e[:1]))
declare("VER-038", "twice", "each is told twice", missing(lambda _u, _p, e: [*e, *e]))
declare(
    "VER-054",
    "second-accepted",
    "the second submission is accepted as it is",
    missing(lambda unit, packet, found: [] if earlier(unit, packet) else found),
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


def _is(kind: str, customer: Customer) -> bool:
    return customer.customer_type == kind


@mutant("VER-033", "a business without owners is refused instead of told what is missing")
def incomplete_refused(patch: Patch) -> None:
    def wrapper(create: Handler) -> Handler:
        def refusing(unit: Unit, ask: Ask) -> Any:
            answer = create(unit, ask)
            if answer["errors"]:
                raise errors.Refusal("INVALID_INPUT", "Something is missing.")
            return answer

        return refusing

    patch.wrap(_CREATE, wrapper)


@mutant("VER-039", "a missing document is said to be another customer's")
def document_elsewhere(patch: Patch) -> None:
    def wrapper(unproven: Callable[..., list[Json]]) -> Callable[..., list[Json]]:
        return lambda *arguments: elsewhere(unproven(*arguments))

    patch.wrap(f"{_REFERENCE}.verifications:unproven", wrapper)


@mutant("VER-052", "a document that was uploaded is not looked for")
def document_not_found(patch: Patch) -> None:
    patch.replace(f"{_REFERENCE}.verifications:is_whole", lambda _kind, _held: False)


@mutant("VER-052", "only passports are looked for, whatever is accepted")
def passport_listed_last(patch: Patch) -> None:
    def kinds(proof: str) -> list[str]:
        return ["NATIONAL_ID", "PASSPORT"] if proof == "IDENTITY" else ["UTILITY_BILL"]

    def whole(kind: str, held: Sequence[Document]) -> bool:
        return kind == "PASSPORT" and any(paper.type == kind for paper in held)

    patch.replace(f"{_REFERENCE}.verifications:kinds_of", kinds)
    patch.replace(f"{_REFERENCE}.verifications:is_whole", whole)


# --- What can be read -----------------------------------------------------------------------


def listed(change: Edit) -> Callable[[Patch], None]:
    """Return a patch after which the listed submissions are changed, one by one."""
    return edited(_LIST, lambda page: {**page, "data": [change(one) for one in page["data"]]})


def _all(unit: Unit) -> list[Json]:
    return [
        verifications.view(row, customers.get(unit, row.customer_id)) for row in submissions(unit)
    ]


declare("VER-060", "empty", "nothing is listed", edited(_LIST, put("data", [])))
declare(
    "VER-060",
    "accepted-alone",
    "only accepted submissions are listed",
    edited(
        _LIST,
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
declare("VER-063", "another", "another customer is named", listed(put("customerId", "Customer:1")))
declare("VER-067", "text", "the list is a text", edited(_LIST, put("", "none")))
declare(
    "VER-068",
    "errors-of-accepted",
    "accepted submissions are listed with an error",
    listed(at_status("IN_PROGRESS", put("errors", [_REMARK]))),
)


@mutant("VER-064", "the submissions of all customers are listed")
def filter_ignored(patch: Patch) -> None:
    def wrapper(original: Handler) -> Handler:
        return lambda unit, ask: {**original(unit, ask), "data": _all(unit)}

    patch.wrap(_LIST, wrapper)


@mutant("VER-065", "by an unknown customer the submissions of all are found")
def unknown_is_any(patch: Patch) -> None:
    def wrapper(original: Handler) -> Handler:
        def all_of_them(unit: Unit, ask: Ask) -> Any:
            try:
                return original(unit, ask)
            except errors.Refusal:
                return {"data": _all(unit), "hasMore": False}

        return all_of_them

    patch.wrap(_LIST, wrapper)


@mutant("VER-066", "a customer without submission is in progress")
def progress_assumed(patch: Patch) -> None:
    def filled(page: Json) -> Json:
        return {**page, "data": page["data"] or [{"verificationStatus": "IN_PROGRESS"}]}

    edited(_LIST, filled)(patch)


# --- What is refused ------------------------------------------------------------------------


def invented(patch: Patch) -> None:
    """Let whatever cannot be submitted be accepted."""

    def wrapper(create: Handler) -> Handler:
        def inventing(unit: Unit, ask: Ask) -> Any:
            try:
                return create(unit, ask)
            except errors.Refusal:
                return {
                    "id": "Verification:1",
                    "customerId": "Customer:1",
                    "verificationStatus": "IN_PROGRESS",
                    "errors": [],
                    "createdAt": "2026-01-15T09:00:00Z",
                }

        return inventing

    patch.wrap(_CREATE, wrapper)


for _requirement in ("VER-070", "VER-071", "VER-072"):
    declare(_requirement, "accepted", "whatever is submitted is accepted", invented)


@mutant("VER-070", "an unknown customer is a conflict")
def unknown_is_conflict(patch: Patch) -> None:
    patch.row(f"{_REFERENCE}.rules:ERROR_STATUS", "CUSTOMER_NOT_FOUND", 409)


# --- States ---------------------------------------------------------------------------------


def never_begun(kind: str, *, on_hosted: bool) -> Callable[[Patch], None]:
    """Return a patch after which the reviews of some customers do not begin."""

    def wrapper(accept: Callable[..., None]) -> Callable[..., None]:
        def accepting(unit: Unit, packet: verifications.Packet, *, hosted: bool) -> None:
            if hosted is not on_hosted or not _is(kind, packet.customer):
                accept(unit, packet, hosted=hosted)

        return accepting

    return lambda patch: patch.wrap(f"{_REFERENCE}.verifications:accept", wrapper)


for _requirement, _kind, _hosted in (
    ("VER-110", "INDIVIDUAL", False),
    ("VER-111", "BUSINESS", False),
    ("VER-112", "INDIVIDUAL", True),
    ("VER-113", "BUSINESS", True),
):
    declare(
        _requirement,
        "never-begun",
        f"the review of {_kind} does not begin after {'the flow' if _hosted else 'submission'}",
        never_begun(_kind, on_hosted=_hosted),
    )


def never_reached(kind: str, status: str) -> Callable[[Patch], None]:
    """Return a patch after which customers of a type do not come to a status."""

    def wrapper(reach: Callable[..., None]) -> Callable[..., None]:
        def reaching(unit: Unit, customer: Customer, wanted: str) -> None:
            if wanted != status or not _is(kind, customer):
                reach(unit, customer, wanted)

        return reaching

    return lambda patch: patch.wrap(f"{_REFERENCE}.onboarding:reach", wrapper)


for _requirements, _kind, _status in (
    (("VER-115", "VER-119"), "INDIVIDUAL", "APPROVED"),
    (("VER-116", "VER-120"), "INDIVIDUAL", "REJECTED"),
    (("VER-117", "VER-121"), "BUSINESS", "APPROVED"),
    (("VER-118", "VER-122"), "BUSINESS", "REJECTED"),
):
    for _requirement in _requirements:
        declare(
            _requirement,
            "ignored",
            f"the decision {_status} about {_kind} has no effect",
            never_reached(_kind, _status),
        )


def then(place: str, act: Callable[[Unit, Ask, Any], None]) -> Callable[[Patch], None]:
    """Return a patch after which a handler does something more after its work."""

    def wrapper(original: Handler) -> Handler:
        def handler(unit: Unit, ask: Ask) -> Any:
            answer = original(unit, ask)
            # What the handler added is found by its id from here on.
            unit.session.flush()
            act(unit, ask, answer)
            return answer

        return handler

    return lambda patch: patch.wrap(place, wrapper)


def _begin(kind: str) -> Callable[[Unit, Ask, Any], None]:
    def act(unit: Unit, _ask: Ask, answer: Any) -> None:
        customer = customers.get(unit, answer["customerId"])
        if answer["errors"] and _is(kind, customer):
            onboarding.reach(unit, customer, "PENDING")

    return act


declare(
    "VER-125",
    "begun",
    "an individual of whom something is missing is reviewed",
    then(_CREATE, _begin("INDIVIDUAL")),
)
declare(
    "VER-126",
    "begun",
    "a business of which something is missing is reviewed",
    then(_CREATE, _begin("BUSINESS")),
)


@mutant("VER-127", "the review begins when the link is made")
def begun_by_link(patch: Patch) -> None:
    def act(unit: Unit, ask: Ask, _answer: Any) -> None:
        onboarding.reach(unit, customers.get(unit, ask.params["customerId"]), "PENDING")

    then(f"{_REFERENCE}.kyc_links:create", act)(patch)


@mutant("VER-128", "the review begins with the first document")
def begun_by_document(patch: Patch) -> None:
    def act(unit: Unit, ask: Ask, _answer: Any) -> None:
        if ask.body["documentHolder"].startswith("Customer:"):
            customer = customers.get(unit, ask.body["documentHolder"])
            if customer.status == "UNVERIFIED":
                onboarding.reach(unit, customer, "PENDING")

    then(f"{_REFERENCE}.documents:create", act)(patch)


def _owner_begins(unit: Unit, ask: Ask, _answer: Any) -> None:
    customer = customers.get(unit, ask.body["customerId"])
    if customer.status == "UNVERIFIED":
        onboarding.reach(unit, customer, "PENDING")


declare(
    "VER-128",
    "begun-by-owner",
    "the review begins with the first owner",
    then(f"{_REFERENCE}.owners:create", _owner_begins),
)

_UPDATE = f"{_REFERENCE}.onboarding:update"


def renamed(kind: str, settled: str, status: str) -> Callable[[Patch], None]:
    """Return a patch after which another name of a decided customer gives it another status."""

    def act(unit: Unit, ask: Ask, _answer: Any) -> None:
        customer = customers.get(unit, ask.params["customerId"])
        name = {"INDIVIDUAL": "fullName", "BUSINESS": "businessInfo"}[kind]
        if _is(kind, customer) and customer.status == settled and name in ask.body:
            customer.status = status

    return then(_UPDATE, act)


for _kind, _settled, _requirement in (
    ("INDIVIDUAL", "APPROVED", "VER-140"),
    ("BUSINESS", "APPROVED", "VER-142"),
    ("INDIVIDUAL", "REJECTED", "VER-143"),
    ("BUSINESS", "REJECTED", "VER-145"),
):
    for _status in ("UNVERIFIED", "PENDING"):
        declare(
            _requirement,
            f"back-to-{_status.lower()}",
            f"a renamed {_kind} at {_settled} is {_status} again",
            renamed(_kind, _settled, _status),
        )


def _marked(unit: Unit, ask: Ask, _answer: Any) -> None:
    customer = customers.get(unit, ask.params["customerId"])
    suffix = sandbox.suffix_of(customer, ())
    customer.status = (rules.SUFFIX_OUTCOMES[suffix] if suffix else None) or customer.status


for _requirement in ("VER-141", "VER-144"):
    declare(
        _requirement,
        "decided-again",
        "the suffix of a new name decides again",
        then(_UPDATE, _marked),
    )


# --- Sandbox values -------------------------------------------------------------------------


@mutant("VER-150", "a business whose number ends in 002 is submitted like any other")
def no_errors_first(patch: Patch) -> None:
    patch.replace(f"{_REFERENCE}.sandbox:asks_first", lambda _customer: False)


@mutant("VER-151", "a business waits for its review after the hosted flow")
def never_approved(patch: Patch) -> None:
    patch.row(f"{_REFERENCE}.rules:HOSTED_OUTCOMES", "BUSINESS", None)


@mutant("VER-151", "a business is rejected after the hosted flow")
def rejected_after_flow(patch: Patch) -> None:
    patch.row(f"{_REFERENCE}.rules:HOSTED_OUTCOMES", "BUSINESS", "REJECTED")


@mutant("VER-151", "a suffix counts wherever it stands")
def suffix_anywhere(patch: Patch) -> None:
    def suffix_of(customer: Customer, owners: Any) -> str | None:
        texts = sandbox.marked(customer, owners)
        return next((s for s in rules.SUFFIX_OUTCOMES if any(s in text for text in texts)), None)

    patch.replace(f"{_REFERENCE}.sandbox:suffix_of", suffix_of)


def packetless(suffix: str) -> Callable[[Patch], None]:
    """Return a patch after which nothing is missing of a marked customer without paperwork."""

    def change(unit: Unit, packet: verifications.Packet, found: list[Json]) -> list[Json]:
        marked = sandbox.suffix_of(packet.customer, packet.owners) == suffix
        return [] if marked and sandbox.skips_paperwork(unit, packet.customer) else found

    return missing(change)


def at_creation(
    choose: Callable[[Unit, Customer, str | None], str | None],
) -> Callable[[Patch], None]:
    """Return a patch after which a new customer is decided by its suffix."""

    def outcome(unit: Unit, customer: Customer) -> str | None:
        return choose(unit, customer, sandbox.suffix_of(customer, ()))

    return lambda patch: patch.replace(f"{_REFERENCE}.sandbox:outcome_at_creation", outcome)


def _paperless(wanted: str) -> Callable[[Unit, Customer, str | None], str | None]:
    def choose(unit: Unit, customer: Customer, suffix: str | None) -> str | None:
        skips = sandbox.skips_paperwork(unit, customer)
        return "APPROVED" if skips and suffix == wanted else None

    return choose


def _approved_by(wanted: str) -> Callable[[Unit, Customer, str | None], str | None]:
    return lambda _unit, _customer, suffix: "APPROVED" if suffix == wanted else None


for _business, _individual, _suffix in (
    ("VER-152", "VER-154", "001"),
    ("VER-153", "VER-155", "003"),
):
    declare(
        _business,
        "packetless",
        f"a business with {_suffix} needs no packet where paperwork is skipped",
        packetless(_suffix),
    )
    declare(
        _individual,
        "decided",
        f"an individual with {_suffix} is approved at creation where paperwork is skipped",
        at_creation(_paperless(_suffix)),
    )

for _suffix in rules.SUFFIX_OUTCOMES:
    declare(
        "VER-156",
        f"decided-by-{_suffix}",
        f"a number with {_suffix} decides at creation",
        at_creation(_approved_by(_suffix)),
    )


@mutant("VER-157", "the name of an owner decides when it is reported")
def decided_by_owner(patch: Patch) -> None:
    def act(unit: Unit, ask: Ask, _answer: Any) -> None:
        if ask.body["personalInfo"]["lastName"].endswith(tuple(rules.SUFFIX_OUTCOMES)):
            onboarding.decide(unit, customers.get(unit, ask.body["customerId"]), "REJECTED")

    then(f"{_REFERENCE}.owners:create", act)(patch)


# --- Events ---------------------------------------------------------------------------------


def emitting(change: Change) -> Callable[[Patch], None]:
    """Return a patch after which other events are sent: ``change`` yields type and data."""

    def wrapper(emit: Callable[..., None]) -> Callable[..., None]:
        def sending(unit: Unit, event_type: str, data: Json) -> None:
            for kind, sent in change(event_type, data):
                emit(unit, kind, sent)

        return sending

    return lambda patch: patch.wrap(f"{_REFERENCE}.unit:Unit.emit", wrapper)


def event(kind: str, *changed: tuple[str, Edit]) -> Callable[[Patch], None]:
    """Return a patch after which other events are sent in the place of one type."""

    def change(event_type: str, data: Json) -> Iterable[tuple[str, Json]]:
        if event_type != kind:
            return [(event_type, data)]
        return [(other, edit(dict(data))) for other, edit in changed]

    return emitting(change)


def same(data: Json) -> Json:
    """Return data as they are."""
    return data


def silent(place: str, kind: str) -> Callable[[Patch], None]:
    """Return a patch after which a function sends no event of a type."""

    def wrapper(original: Callable[..., Any]) -> Callable[..., Any]:
        def quiet(unit: Unit, *arguments: Any) -> Any:
            answer = original(unit, *arguments)
            unit.events = [sent for sent in unit.events if sent["type"] != kind]
            return answer

        return quiet

    return lambda patch: patch.wrap(place, wrapper)


_HOSTED = f"{_REFERENCE}.verifications:complete_hosted"

for _family, _base in (("KYC", 60), ("KYB", 66)):
    _pending = f"CUSTOMER.{_family}_PENDING"
    for _offset, _place, _path in ((0, _CREATE, "submission"), (3, _HOSTED, "hosted flow")):
        declare(
            f"EVT-{_base + _offset:03d}",
            "unreported",
            f"that a review began by {_path} is not reported as {_pending}",
            silent(_place, _pending),
        )
        for _status, _more in (("APPROVED", 1), ("REJECTED", 2)):
            declare(
                f"EVT-{_base + _offset + _more:03d}",
                "unreported",
                f"CUSTOMER.{_family}_{_status} is never sent",
                event(f"CUSTOMER.{_family}_{_status}"),
            )


def _told(number: int, kind: str) -> str:
    """Return the requirement of a type of customer; that of individuals has the number."""
    return f"EVT-{number + KINDS.index(kind):03d}"


def held_as(kind: str, event_type: str) -> Callable[[Patch], None]:
    """Return a patch after which a hold is reported by an event."""
    return lambda patch: patch.row(f"{_REFERENCE}.rules:REVIEW_EVENTS", (kind, "HOLD"), event_type)


def _reduced(data: Json) -> Json:
    return {"id": data["id"]}


def _nested(data: Json) -> Json:
    return {"customer": data}


def _of_submission(data: Json) -> Json:
    return {**data, "id": f"Verification:{data['platformCustomerId']}", "customerId": data["id"]}


for _index, _kind in enumerate(KINDS):
    _family = f"CUSTOMER.{('KYC', 'KYB')[_index]}_"
    _other = f"CUSTOMER.{('KYB', 'KYC')[_index]}_"
    _field = rules.STATUS_FIELD[_kind]
    _pending, _approved, _rejected = (
        f"{_family}{status}" for status in ("PENDING", "APPROVED", "REJECTED")
    )
    for _name, _edit in {"reduced": _reduced, "nested": _nested}.items():
        declare(
            _told(72, _kind),
            _name,
            f"the data of {_approved} are no customer: {_name}",
            event(_approved, (_approved, _edit)),
        )
    declare(
        _told(74, _kind),
        "of-submission",
        f"the data of {_approved} carry the id of the submission",
        event(_approved, (_approved, _of_submission)),
    )
    for _number, _type, _wrong in (
        (76, _pending, "UNVERIFIED"),
        (78, _approved, "PENDING"),
        (80, _rejected, "PENDING"),
    ):
        declare(
            _told(_number, _kind),
            "before",
            f"the customer in {_type} is shown as it was before",
            event(_type, (_type, put(_field, _wrong))),
        )
    declare(
        _told(82, _kind),
        "other-type",
        f"the customer in {_approved} is of the other type",
        event(_approved, (_approved, put("customerType", KINDS[1 - _index]))),
    )
    for _number, _type, _also, _what in (
        (84, _pending, _pending, "twice"),
        (86, _approved, _approved, "twice"),
        (88, _pending, _approved, "with a decision"),
        (90, _approved, _rejected, "with a rejection"),
        (92, _rejected, _approved, "with an approval"),
        (94, _pending, f"{_other}PENDING", "in both families"),
        (94, _approved, f"{_other}APPROVED", "in both families"),
    ):
        declare(
            _told(_number, _kind),
            f"{_type.rpartition('_')[2].lower()}-{_what.replace(' ', '-')}",
            f"{_type} is sent {_what}: {_also}",
            event(_type, (_type, same), (_also, same)),
        )
    for _status in ("APPROVED", "REJECTED"):
        declare(
            _told(100, _kind),
            f"hold-is-{_status.lower()}",
            f"a hold is reported as {_family}{_status}",
            held_as(_kind, f"{_family}{_status}"),
        )


def announced(place: str, kind: str, *, of_errors: bool = False) -> Callable[[Patch], None]:
    """Return a patch after which a handler reports that a review began, and none has."""

    def act(unit: Unit, ask: Ask, answer: Any) -> None:
        known = ask.params.get("customerId") or answer.get("customerId") or answer["id"]
        customer = customers.get(unit, known)
        if _is(kind, customer) and (not of_errors or answer["errors"]):
            unit.emit(rules.REVIEW_EVENTS[kind, "PENDING"], customers.view(customer))

    return then(place, act)


for _index, _kind in enumerate(KINDS):
    declare(
        f"EVT-{96 + _index:03d}",
        "errors-reported",
        f"a submission of {_kind} with errors is reported",
        announced(_CREATE, _kind, of_errors=True),
    )
    declare(
        f"EVT-{98 + _index:03d}",
        "creation-reported",
        f"the creation of {_kind} is reported as a submission",
        announced(f"{_REFERENCE}.onboarding:create", _kind),
    )

declare(
    "EVT-102",
    "link-reported",
    "a link is reported as a submission",
    announced(f"{_REFERENCE}.kyc_links:create", "INDIVIDUAL"),
)


def _decided_again(unit: Unit, ask: Ask, _answer: Any) -> None:
    customer = customers.get(unit, ask.params["customerId"])
    kind = rules.REVIEW_EVENTS.get((customer.customer_type, customer.status))
    if kind is not None:
        unit.emit(kind, customers.view(customer))


for _requirement in ("EVT-103", "EVT-104"):
    declare(
        _requirement,
        "reported-again",
        "each change of a decided customer reports the decision again",
        then(_UPDATE, _decided_again),
    )


@mutant("EVT-105", "only the first submission of a customer is reported")
def repaired_unreported(patch: Patch) -> None:
    def wrapper(create: Handler) -> Handler:
        def creating(unit: Unit, ask: Ask) -> Any:
            before = submissions(unit, str(ask.body.get("customerId")))
            answer = create(unit, ask)
            if before:
                unit.events.clear()
            return answer

        return creating

    patch.wrap(_CREATE, wrapper)
