"""Mutants of platform models: who gets in, and what moves before an approval."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from conformance.proof.kit.builders import around, before, instead
from conformance.proof.mutant import declare, mutant
from conformance.proof.mutants.customers.toolkit import trusted
from conformance.proof.patch import Apply, Patch
from conformance.reference import errors
from conformance.reference.customers import customers, onboarding
from conformance.reference.internal_accounts import accounts
from conformance.reference.quotes import parties, quotes
from conformance.reference.unit import Ask, Unit
from conformance.reference.verification import verifications
from conformance.reference.verification.verifications import Packet


def hosted_only(kind: str) -> Apply:
    """Refuse the direct creation of one type of customer."""

    def create(unit: Unit, ask: Ask) -> None:
        if isinstance(ask.body, dict) and ask.body.get("customerType") == kind:
            raise errors.Refusal("CONFLICT", "The hosted flow creates customers.")

    return before(onboarding, "create", create)


declare(
    "PLM-001",
    "hosted-only",
    "no individual is created directly",
    hosted_only("INDIVIDUAL"),
)
declare("PLM-002", "hosted-only", "no business is created directly", hosted_only("BUSINESS"))


# --- Money before an approval ---------------------------------------------------------------


TRUSTED: dict[tuple[str, str], tuple[str, ...]] = {
    ("INDIVIDUAL", "UNVERIFIED"): tuple(f"PLM-02{number}" for number in range(6)),
    ("INDIVIDUAL", "PENDING"): (*("PLM-030", "PLM-032", "PLM-033", "PLM-034", "PLM-035"),),
    ("INDIVIDUAL", "REJECTED"): tuple(f"PLM-04{number}" for number in range(6)),
    ("INDIVIDUAL", "HOLD"): tuple(f"PLM-05{number}" for number in range(6)),
    ("BUSINESS", "UNVERIFIED"): ("PLM-060", "PLM-061"),
    ("BUSINESS", "PENDING"): ("PLM-600", "PLM-601"),
    ("BUSINESS", "REJECTED"): ("PLM-602", "PLM-603"),
    ("BUSINESS", "HOLD"): ("PLM-604", "PLM-605"),
}
"""The requirements that are broken where customers of a type and status are trusted."""

for (_kind, _status), _requirements in TRUSTED.items():
    for _requirement in _requirements:
        declare(
            _requirement,
            "trusted",
            f"money moves for customers of the type {_kind} who are {_status}",
            trusted(_kind, _status),
        )


@mutant("PLM-020", "deposits arrive before an approval")
def funded_early(patch: Patch) -> None:
    careless = SimpleNamespace(**{**vars(customers), "refuse_unverified": lambda _customer: None})
    patch.replace(accounts, "customers", careless)


@mutant("PLM-025", "payments to an account whose owner is not approved arrive")
def paid_early(patch: Patch) -> None:
    patch.replace(parties, "refuse_unverified_receiver", lambda *_: None)


for _requirement in ("PLM-070", "PLM-072"):
    declare(
        _requirement,
        "still-locked",
        "deposits are not booked",
        instead(accounts, "credit", lambda *_: None),
    )


def still_refused(patch: Patch) -> None:
    """Refuse quotes as if nobody was approved."""

    def draft(*_: Any) -> None:
        raise errors.Refusal("CONFLICT", "The verification is pending.")

    patch.replace(quotes, "draft", draft)


for _requirement in ("PLM-071", "PLM-073"):
    declare(_requirement, "still-locked", "quotes are refused as before", still_refused)


# --- The two ways into a review -------------------------------------------------------------


def path_unreported(kind: str, path: str) -> Apply:
    """Begin the reviews that come by one path without an event."""

    def accept(original: Callable[..., None], unit: Unit, packet: Packet, *, hosted: bool) -> None:
        before = list(unit.events)
        original(unit, packet, hosted=hosted)
        if (packet.customer.customer_type, hosted) == (kind, path == "hosted"):
            unit.events[:] = before

    return around(verifications, "accept", accept)


for _path in ("hosted", "direct"):
    for _requirement, _kind in (
        ("PLM-011", "INDIVIDUAL"),
        ("PLM-012", "BUSINESS"),
        ("PLM-606", "INDIVIDUAL"),
        ("PLM-607", "BUSINESS"),
    ):
        declare(
            _requirement,
            f"unreported-{_path}",
            f"no event tells of customers of the type {_kind} who come by the {_path} way",
            path_unreported(_kind, _path),
        )
