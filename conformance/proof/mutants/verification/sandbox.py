"""Mutants of the values by which the sandbox decides about a customer."""

from __future__ import annotations

from typing import Any

from conformance.proof.mutant import declare, mutant
from conformance.proof.mutants.verification.toolkit import approved_by, at_creation, then
from conformance.proof.patch import Patch
from conformance.reference import rules
from conformance.reference.customers import customers, onboarding
from conformance.reference.unit import Ask, Unit
from conformance.reference.verification import sandbox, verifications

for _suffix in rules.SUFFIX_OUTCOMES:
    declare(
        "SBX-001",
        f"decided-by-{_suffix}",
        f"a name with {_suffix} decides at creation",
        at_creation(approved_by(_suffix)),
    )


@mutant("SBX-002", "another legal name starts the verification anew", (onboarding, "update"), then)
def reopened_by_name(unit: Unit, ask: Ask, _answer: Any) -> None:
    if "legalName" in (ask.body.get("businessInfo") or {}):
        customers.get(unit, ask.params["customerId"]).status = "UNVERIFIED"


@mutant("SBX-003", "the approval of a business is reported under another name")
def reported_otherwise(patch: Patch) -> None:
    patch.row(rules, "REVIEW_EVENTS", ("BUSINESS", "APPROVED"), "CUSTOMER.KYB_DONE")


@mutant(
    "SBX-004",
    "a business whose number ends in 002 is rejected at once",
    (verifications, "create"),
    then,
)
def rejected_at_once(unit: Unit, ask: Ask, answer: Any) -> None:
    if answer["verificationStatus"] == "RESOLVE_ERRORS":
        customers.get(unit, ask.body["customerId"]).status = "REJECTED"


@mutant(
    "SBX-005",
    "a business whose number ends in 002 reports errors each time",
    (verifications, "asked_first"),
)
def errors_each_time(asked_first: Any, unit: Unit, customer: Any) -> Any:
    if not sandbox.asks_first(customer):
        return asked_first(unit, customer)
    return [verifications.address_error(customer.id, "It cannot be read.")]
