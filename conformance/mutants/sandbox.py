"""Mutants of what the sandbox makes of names and numbers, beside those of verifications."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance.mutants.mutant import Patch, declare, mutant
from conformance.mutants.verifications import at_creation, then
from conformance.reference import customers, rules, sandbox, verifications
from conformance.reference.store import Customer
from conformance.reference.unit import Ask, Unit

_REFERENCE = "conformance.reference"


def _approving(wanted: str) -> Callable[[Unit, Customer, str | None], str | None]:
    return lambda _unit, _customer, suffix: "APPROVED" if suffix == wanted else None


for _suffix in rules.SUFFIX_OUTCOMES:
    declare(
        "SBX-001",
        f"decided-by-{_suffix}",
        f"a name with {_suffix} decides at creation",
        at_creation(_approving(_suffix)),
    )


@mutant("SBX-002", "another legal name starts the verification anew")
def reopened_by_name(patch: Patch) -> None:
    def act(unit: Unit, ask: Ask, _answer: Any) -> None:
        if "legalName" in (ask.body.get("businessInfo") or {}):
            customers.get(unit, ask.params["customerId"]).status = "UNVERIFIED"

    then(f"{_REFERENCE}.onboarding:update", act)(patch)


@mutant("SBX-003", "the approval of a business is reported under another name")
def reported_otherwise(patch: Patch) -> None:
    patch.row(f"{_REFERENCE}.rules:REVIEW_EVENTS", ("BUSINESS", "APPROVED"), "CUSTOMER.KYB_DONE")


@mutant("SBX-004", "a business whose number ends in 002 is rejected at once")
def rejected_at_once(patch: Patch) -> None:
    def act(unit: Unit, ask: Ask, answer: Any) -> None:
        if answer["verificationStatus"] == "RESOLVE_ERRORS":
            customers.get(unit, ask.body["customerId"]).status = "REJECTED"

    then(f"{_REFERENCE}.verifications:create", act)(patch)


@mutant("SBX-005", "a business whose number ends in 002 reports errors each time")
def errors_each_time(patch: Patch) -> None:
    def wrapper(asked_first: Any) -> Any:
        def always(unit: Unit, customer: Any) -> Any:
            if not sandbox.asks_first(customer):
                return asked_first(unit, customer)
            return [verifications.address_error(customer.id, "It cannot be read.")]

        return always

    patch.wrap(f"{_REFERENCE}.verifications:asked_first", wrapper)
