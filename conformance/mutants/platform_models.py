"""Mutants of platform models: who gets in, and what moves before an approval."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any

from conformance.mutants.mutant import Patch, declare, mutant
from conformance.reference import customers, errors
from conformance.reference.store import Customer
from conformance.reference.unit import Ask, Unit
from conformance.reference.verifications import Packet

_REFERENCE = "conformance.reference"

Handler = Callable[[Unit, Ask], Any]


def hosted_only(kind: str, patch: Patch) -> None:
    """Refuse the direct creation of one type of customer."""

    def wrapper(original: Handler) -> Handler:
        def create(unit: Unit, ask: Ask) -> Any:
            if isinstance(ask.body, dict) and ask.body.get("customerType") == kind:
                raise errors.Refusal("CONFLICT", "The hosted flow creates customers.")
            return original(unit, ask)

        return create

    patch.wrap(f"{_REFERENCE}.onboarding:create", wrapper)


declare(
    "PLM-001",
    "hosted-only",
    "no individual is created directly",
    partial(hosted_only, "INDIVIDUAL"),
)
declare(
    "PLM-002", "hosted-only", "no business is created directly", partial(hosted_only, "BUSINESS")
)


# --- Money before an approval ---------------------------------------------------------------


def trusted(kind: str, status: str, patch: Patch) -> None:
    """Let money move for customers of a type and a status as for approved ones."""

    def wrapper(original: Callable[[Customer], bool]) -> Callable[[Customer], bool]:
        return lambda customer: (
            original(customer)
            or (customer.customer_type, customer.status)
            == (
                kind,
                status,
            )
        )

    patch.wrap(f"{_REFERENCE}.customers:is_verified", wrapper)


TRUSTED: dict[tuple[str, str], tuple[str, ...]] = {
    ("INDIVIDUAL", "UNVERIFIED"): tuple(f"PLM-02{number}" for number in range(6)),
    ("INDIVIDUAL", "PENDING"): (
        *("PLM-030", "QUO-164", "PLM-032", "PLM-033", "PLM-034", "PLM-035"),
    ),
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
            partial(trusted, _kind, _status),
        )


@mutant("PLM-020", "deposits arrive before an approval")
def funded_early(patch: Patch) -> None:
    careless = SimpleNamespace(**{**vars(customers), "refuse_unverified": lambda _customer: None})
    patch.replace(f"{_REFERENCE}.accounts:customers", careless)


@mutant("PLM-025", "payments to an account whose owner is not approved arrive")
def paid_early(patch: Patch) -> None:
    patch.replace(f"{_REFERENCE}.parties:refuse_unverified_receiver", lambda *_: None)


for _requirement in ("PLM-070", "PLM-072"):
    declare(
        _requirement,
        "still-locked",
        "deposits are not booked",
        lambda patch: patch.replace(f"{_REFERENCE}.accounts:credit", lambda *_: None),
    )


def still_refused(patch: Patch) -> None:
    """Refuse quotes as if nobody was approved."""

    def draft(*_: Any) -> None:
        raise errors.Refusal("CONFLICT", "The verification is pending.")

    patch.replace(f"{_REFERENCE}.quotes:draft", draft)


for _requirement in ("PLM-071", "PLM-073"):
    declare(_requirement, "still-locked", "quotes are refused as before", still_refused)


# --- Internal accounts of customers ---------------------------------------------------------


def accountless(kind: str, patch: Patch) -> None:
    """Give customers of one type no account."""

    def wrapper(original: Callable[..., None]) -> Callable[..., None]:
        def provide(unit: Unit, customer_id: str, wanted: list[str]) -> None:
            unit.session.flush()
            if customers.get(unit, customer_id).customer_type != kind:
                original(unit, customer_id, wanted)

        return provide

    patch.wrap(f"{_REFERENCE}.accounts:provision_for_customer", wrapper)


for _requirement, _kind in (("ACC-020", "INDIVIDUAL"), ("ACC-021", "BUSINESS")):
    declare(
        _requirement,
        "accountless",
        f"customers of the type {_kind} get no account",
        partial(accountless, _kind),
    )


@mutant("ACC-022", "customers get rule-based accounts without asking")
def rule_based(patch: Patch) -> None:
    patch.replace(f"{_REFERENCE}.accounts:type_for", lambda _currency: "RULE_BASED")


@mutant("ACC-023", "the accounts of customers who are not approved are not listed")
def unlisted(patch: Patch) -> None:
    def wrapper(original: Handler) -> Handler:
        def list_for_customers(unit: Unit, ask: Ask) -> Any:
            customers.refuse_unverified(customers.get(unit, ask.query["customerId"]))
            return original(unit, ask)

        return list_for_customers

    patch.wrap(f"{_REFERENCE}.accounts:list_for_customers", wrapper)


# --- The two ways into a review -------------------------------------------------------------


def path_unreported(kind: str, path: str, patch: Patch) -> None:
    """Begin the reviews that come by one path without an event."""

    def wrapper(original: Callable[..., None]) -> Callable[..., None]:
        def accept(unit: Unit, packet: Packet, *, hosted: bool) -> None:
            before = list(unit.events)
            original(unit, packet, hosted=hosted)
            if (packet.customer.customer_type, hosted) == (kind, path == "hosted"):
                unit.events[:] = before

        return accept

    patch.wrap(f"{_REFERENCE}.verifications:accept", wrapper)


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
            partial(path_unreported, _kind, _path),
        )
