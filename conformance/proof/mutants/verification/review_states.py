"""Mutants of how a review begins and ends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance.proof.kit.builders import Handler, Json, around, edited, instead, skipped
from conformance.proof.kit.edits import put, shows, where
from conformance.proof.mutant import declare, mutant
from conformance.proof.mutants.verification.toolkit import (
    approved_by,
    at_creation,
    is_of_type,
    missing,
    then,
)
from conformance.proof.patch import Apply, Patch
from conformance.reference import rules
from conformance.reference.customers import customers, onboarding
from conformance.reference.store import Customer
from conformance.reference.unit import Ask, Unit
from conformance.reference.verification import documents, kyc_links, owners, sandbox, verifications

# --- States ---------------------------------------------------------------------------------


def never_begun(kind: str, *, on_hosted: bool) -> Apply:
    """Return a patch after which the reviews of some customers do not begin."""

    def accepting(unit: Unit, packet: verifications.Packet, *, hosted: bool) -> bool:
        return hosted is on_hosted and is_of_type(kind, packet.customer)

    return skipped(verifications, "accept", accepting)


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


def never_reached(kind: str, status: str) -> Apply:
    """Return a patch after which customers of a type do not come to a status."""

    def reaching(unit: Unit, customer: Customer, wanted: str) -> bool:
        return wanted == status and is_of_type(kind, customer)

    return skipped(onboarding, "reach", reaching)


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


def _begin(kind: str) -> Callable[[Unit, Ask, Any], None]:
    def act(unit: Unit, _ask: Ask, answer: Any) -> None:
        customer = customers.get(unit, answer["customerId"])
        if answer["errors"] and is_of_type(kind, customer):
            onboarding.reach(unit, customer, "PENDING")

    return act


declare(
    "VER-125",
    "begun",
    "an individual of whom something is missing is reviewed",
    then(verifications, "create", _begin("INDIVIDUAL")),
)
declare(
    "VER-126",
    "begun",
    "a business of which something is missing is reviewed",
    then(verifications, "create", _begin("BUSINESS")),
)


@mutant("VER-127", "the review begins when the link is made", (kyc_links, "create"), then)
def begun_by_link(unit: Unit, ask: Ask, _answer: Any) -> None:
    onboarding.reach(unit, customers.get(unit, ask.params["customerId"]), "PENDING")


@mutant("VER-128", "the review begins with the first document", (documents, "create"), then)
def begun_by_document(unit: Unit, ask: Ask, _answer: Any) -> None:
    if ask.body["documentHolder"].startswith("Customer:"):
        customer = customers.get(unit, ask.body["documentHolder"])
        if customer.status == "UNVERIFIED":
            onboarding.reach(unit, customer, "PENDING")


def _owner_begins(unit: Unit, ask: Ask, _answer: Any) -> None:
    customer = customers.get(unit, ask.body["customerId"])
    if customer.status == "UNVERIFIED":
        onboarding.reach(unit, customer, "PENDING")


declare(
    "VER-128",
    "begun-by-owner",
    "the review begins with the first owner",
    then(owners, "create", _owner_begins),
)


def renamed(kind: str, settled: str, status: str) -> Apply:
    """Return a patch after which another name of a decided customer gives it another status."""

    def act(unit: Unit, ask: Ask, _answer: Any) -> None:
        customer = customers.get(unit, ask.params["customerId"])
        name = {"INDIVIDUAL": "fullName", "BUSINESS": "businessInfo"}[kind]
        if is_of_type(kind, customer) and customer.status == settled and name in ask.body:
            customer.status = status

    return then(onboarding, "update", act)


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
    declare(
        _requirement,
        "answered-as-pending",
        f"the answer to a change of a {_kind} at {_settled} says that it is PENDING",
        edited(
            onboarding,
            "update",
            where(
                shows(rules.STATUS_FIELD[_kind], _settled),
                put(rules.STATUS_FIELD[_kind], "PENDING"),
            ),
        ),
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
        then(onboarding, "update", _marked),
    )


# --- Sandbox values -------------------------------------------------------------------------


@mutant("VER-150", "a business whose number ends in 002 is submitted like any other")
def no_errors_first(patch: Patch) -> None:
    patch.replace(sandbox, "asks_first", lambda _customer: False)


@mutant("VER-150", "002 counts wherever it stands in a number", (sandbox, "asks_first"), instead)
def asks_wherever(customer: Customer) -> bool:
    number = (customer.details.get("businessInfo") or {}).get("registrationNumber") or ""
    return customer.customer_type == "BUSINESS" and "002" in number


@mutant("VER-151", "a business waits for its review after the hosted flow")
def never_approved(patch: Patch) -> None:
    patch.row(rules, "HOSTED_OUTCOMES", "BUSINESS", None)


@mutant("VER-151", "a business is rejected after the hosted flow")
def rejected_after_flow(patch: Patch) -> None:
    patch.row(rules, "HOSTED_OUTCOMES", "BUSINESS", "REJECTED")


@mutant("VER-150", "the number that a business was created with decides")
@mutant("VER-151", "the number that a business was created with decides")
def first_number_decides(patch: Patch) -> None:
    numbers: dict[str, str] = {}

    def create(original: Handler, unit: Unit, ask: Ask) -> Any:
        body = original(unit, ask)
        numbers[body["id"]] = (body.get("businessInfo") or {}).get("registrationNumber") or ""
        return body

    def asks_first(original: Callable[[Customer], bool], customer: Customer) -> bool:
        number = numbers.get(customer.id)
        return original(customer) if number is None else number.endswith("002")

    def marked(
        original: Callable[[Customer, Any], list[str]], customer: Customer, of: Any
    ) -> list[str]:
        texts = original(customer, of)
        is_business = customer.customer_type == "BUSINESS"
        return [numbers.get(customer.id, texts[0]), *texts[1:]] if is_business else texts

    patch.wrap(onboarding, "create", create)
    patch.wrap(sandbox, "asks_first", asks_first)
    patch.wrap(sandbox, "marked", marked)


@mutant("VER-151", "the last two digits of a number decide", (sandbox, "suffix_of"), instead)
def two_digits_decide(customer: Customer, owners: Any) -> str | None:
    texts = sandbox.marked(customer, owners)
    return next(
        (s for s in rules.SUFFIX_OUTCOMES if any(text.endswith(s[1:]) for text in texts)), None
    )


@mutant("VER-151", "a suffix counts wherever it stands", (sandbox, "suffix_of"), instead)
def suffix_anywhere(customer: Customer, owners: Any) -> str | None:
    texts = sandbox.marked(customer, owners)
    return next((s for s in rules.SUFFIX_OUTCOMES if any(s in text for text in texts)), None)


def packetless(suffix: str) -> Apply:
    """Return a patch after which nothing is missing of a marked customer without paperwork."""

    def change(unit: Unit, packet: verifications.Packet, found: list[Json]) -> list[Json]:
        marked = sandbox.suffix_of(packet.customer, packet.owners) == suffix
        return [] if marked and sandbox.skips_paperwork(unit, packet.customer) else found

    return missing(change)


def _paperless(wanted: str) -> Callable[[Unit, Customer, str | None], str | None]:
    def choose(unit: Unit, customer: Customer, suffix: str | None) -> str | None:
        skips = sandbox.skips_paperwork(unit, customer)
        return "APPROVED" if skips and suffix == wanted else None

    return choose


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
        "VER-164",
        f"decided-by-{_suffix}",
        f"a number with {_suffix} decides at creation where paperwork is skipped",
        at_creation(_paperless(_suffix)),
    )
    declare(
        "VER-156",
        f"decided-by-{_suffix}",
        f"a number with {_suffix} decides at creation",
        at_creation(approved_by(_suffix)),
    )


@mutant("VER-157", "the name of an owner decides when it is reported", (owners, "create"), then)
def decided_by_owner(unit: Unit, ask: Ask, _answer: Any) -> None:
    if ask.body["personalInfo"]["lastName"].endswith(tuple(rules.SUFFIX_OUTCOMES)):
        onboarding.decide(unit, customers.get(unit, ask.body["customerId"]), "REJECTED")


def _claimed(kind: str) -> Callable[..., Any]:
    """Return a handler that takes over the status that is sent of a type of customer."""
    member = rules.STATUS_FIELD[kind]

    def handler(original: Callable[[Unit, Ask], Any], unit: Unit, ask: Ask) -> Any:
        answer = original(unit, ask)
        unit.session.flush()
        customer = customers.get(unit, answer["id"])
        if is_of_type(kind, customer):
            customer.status = ask.body.get(member) or customer.status
        return customers.view(customer)

    return handler


for _requirement, _handler, _kind in (
    ("VER-170", "create", "INDIVIDUAL"),
    ("VER-171", "create", "BUSINESS"),
    ("VER-172", "update", "INDIVIDUAL"),
    ("VER-173", "update", "BUSINESS"),
):
    declare(
        _requirement,
        "taken-over",
        f"a status of {_kind} that is sent is taken over",
        around(onboarding, _handler, _claimed(_kind)),
    )
