"""What mutants of several modules change in reviews, owners and documents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy import select

from conformance.proof.kit.builders import (
    Handler,
    Json,
    Place,
    after,
    around,
    before,
    instead,
    skipped,
)
from conformance.proof.patch import Apply, Holder, Patch
from conformance.reference import errors, rules
from conformance.reference.customers import customers
from conformance.reference.store import Customer, Verification
from conformance.reference.unit import Ask, Unit
from conformance.reference.verification import documents, owners, sandbox, verifications


def submissions(unit: Unit, customer_id: str | None = None) -> Sequence[Verification]:
    """Return the submissions so far, of one customer or all."""
    query = select(Verification).order_by(Verification.created_at)
    if customer_id is not None:
        query = query.where(Verification.customer_id == customer_id)
    return list(unit.session.scalars(query))


def is_of_type(kind: str, customer: Customer) -> bool:
    """Return whether a customer is an individual or a business, as ``kind`` says."""
    return customer.customer_type == kind


def then(holder: Holder, name: str, act: Callable[[Unit, Ask, Any], None]) -> Apply:
    """Return a patch after which a handler does something more after its work."""

    def handler(original: Handler, unit: Unit, ask: Ask) -> Any:
        answer = original(unit, ask)
        # What the handler added is found by its id from here on.
        unit.session.flush()
        act(unit, ask, answer)
        return answer

    return around(holder, name, handler)


def announced(place: Place, kind: str, *, of_errors: bool = False) -> Apply:
    """Return a patch after which a handler reports that a review began, and none has."""

    def act(unit: Unit, ask: Ask, answer: Any) -> None:
        known = ask.params.get("customerId") or answer.get("customerId") or answer["id"]
        customer = customers.get(unit, known)
        if is_of_type(kind, customer) and (not of_errors or answer["errors"]):
            unit.emit(rules.REVIEW_EVENTS[kind, "PENDING"], customers.view(customer))

    return then(*place, act)


def document_refused(condition: Callable[[Unit, Ask], bool]) -> Apply:
    """Return a patch after which documents of a condition are refused."""

    def create(unit: Unit, ask: Ask) -> None:
        if condition(unit, ask):
            raise errors.invalid_input(errors.field_error("file", "Expected another one."))

    return before(documents, "create", create)


def blind_to(*faults: str) -> Apply:
    """Return a patch after which some faults are not seen."""

    def reject(owner: Any) -> bool:
        return owner.conditions.get(documents.FAULT) in faults

    return skipped(documents, "reject_fault", reject)


def owner_refused(condition: Callable[[Unit, Json], bool]) -> Apply:
    """Return a patch after which owners of a condition are refused."""

    def create(original: Handler, unit: Unit, ask: Ask) -> Any:
        owner = original(unit, ask)
        if condition(unit, owner):
            raise errors.invalid_input(errors.field_error("roles", "Expected another owner."))
        return owner

    return around(owners, "create", create)


def silent(place: Place, kind: str) -> Apply:
    """Return a patch after which a function sends no event of a type."""

    def quiet(unit: Unit, *arguments: Any) -> None:
        unit.events = [sent for sent in unit.events if sent["type"] != kind]

    return after(*place, quiet)


def missing(
    change: Callable[[Unit, verifications.Packet, list[Json]], list[Json]],
) -> Apply:
    """Return a patch after which other things are missing of a packet."""
    return around(
        verifications,
        "missing",
        lambda original, unit, packet: change(unit, packet, original(unit, packet)),
    )


def accepting(patch: Patch) -> None:
    """Let whatever cannot be submitted be accepted."""

    def inventing(create: Handler, unit: Unit, ask: Ask) -> Any:
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

    patch.wrap(verifications, "create", inventing)


def at_creation(
    choose: Callable[[Unit, Customer, str | None], str | None],
) -> Apply:
    """Return a patch after which a new customer is decided by its suffix."""

    def outcome(unit: Unit, customer: Customer) -> str | None:
        return choose(unit, customer, sandbox.suffix_of(customer, ()))

    return instead(sandbox, "outcome_at_creation", outcome)


def approved_by(wanted: str) -> Callable[[Unit, Customer, str | None], str | None]:
    return lambda _unit, _customer, suffix: "APPROVED" if suffix == wanted else None
