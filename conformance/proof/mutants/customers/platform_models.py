"""Mutants of platform models: who gets in, and what moves before an approval."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

from conformance.proof.kit.builders import Handler, around, before, instead, together
from conformance.proof.mutant import declare, mutant
from conformance.proof.mutants.customers.toolkit import accounts_with_approval, trusted
from conformance.proof.patch import Apply, Patch
from conformance.reference import errors
from conformance.reference.customers import onboarding
from conformance.reference.internal_accounts import accounts
from conformance.reference.quotes import parties, quotes
from conformance.reference.store import Customer
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


_UNASKED: dict[str, ModuleType] = {
    "deposit": accounts,
    "execution": quotes,
    "immediate": quotes,
    "pull": quotes,
    "realtime": quotes,
    "incoming": parties,
}
"""The module of the reference that asks for an approval, by the way in which money would move."""

_PERSON = tuple(_UNASKED)
_BUSINESS = ("deposit", "execution")

_TRUSTED: tuple[tuple[str, str, str, str], ...] = (
    *(("INDIVIDUAL", "UNVERIFIED", way, f"PLM-02{n}") for n, way in enumerate(_PERSON)),
    *(("INDIVIDUAL", "PENDING", way, f"PLM-03{n}") for n, way in enumerate(_PERSON) if n != 1),
    *(("INDIVIDUAL", "REJECTED", way, f"PLM-04{n}") for n, way in enumerate(_PERSON)),
    *(("INDIVIDUAL", "HOLD", way, f"PLM-05{n}") for n, way in enumerate(_PERSON)),
    *(("BUSINESS", "UNVERIFIED", way, f"PLM-06{n}") for n, way in enumerate(_BUSINESS)),
    *(("BUSINESS", "PENDING", way, f"PLM-60{n}") for n, way in enumerate(_BUSINESS)),
    *(
        ("BUSINESS", "PENDING", way, f"PLM-6{n:02}")
        for n, way in enumerate((way for way in _PERSON if way not in _BUSINESS), 8)
    ),
    *(("BUSINESS", "REJECTED", way, f"PLM-60{n}") for n, way in enumerate(_BUSINESS, 2)),
    *(("BUSINESS", "HOLD", way, f"PLM-60{n}") for n, way in enumerate(_BUSINESS, 4)),
)
"""Type and status of a customer, the way in which money would move, and the requirement."""

for _kind, _status, _way, _requirement in _TRUSTED:
    declare(
        _requirement,
        "trusted",
        f"money moves by {_way} for customers of the type {_kind} who are {_status}",
        trusted(_UNASKED[_way], _kind, _status),
    )
    if _way in ("deposit", "incoming"):
        declare(
            _requirement,
            "provisioned-late",
            f"accounts come with the approval, and money moves by {_way} for customers of the type"
            f" {_kind} who are {_status} again",
            together(accounts_with_approval, trusted(_UNASKED[_way], _kind, _status)),
        )


def _coins_arrive(original: Handler, unit: Unit, ask: Ask) -> Any:
    account = accounts.get(unit, ask.params["accountId"])
    if account.type != "INTERNAL_CRYPTO":
        return original(unit, ask)
    accounts.credit(unit, account, int(ask.body["amount"]))
    return accounts.view(unit, account)


for _requirement in ("PLM-030", "PLM-600"):
    declare(
        _requirement,
        "coins",
        "deposits of coins do not ask for an approval",
        around(accounts, "fund", _coins_arrive),
    )

for _requirement in (
    *("PLM-021", "PLM-041", "PLM-051", "PLM-061", "PLM-601", "PLM-603", "PLM-605"),
    *("PLM-612", "PLM-613", "PLM-614"),
):
    declare(
        _requirement,
        "asked-at-quote",
        "an execution does not ask whether the approval was withdrawn",
        instead(quotes, "refuse_approval_lost", lambda _customer: None),
    )


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


def _forgotten(holder: ModuleType, name: str, owner_of: Callable[[Any], str | None]) -> Apply:
    """Return a patch after which a function refuses customers who completed the hosted flow."""

    def patch(patch: Patch) -> None:
        hosted: set[str] = set()

        def noted(_unit: Unit, customer: Customer) -> None:
            hosted.add(customer.id)

        def refused(_unit: Unit, subject: Any, *_: Any) -> None:
            if owner_of(subject) in hosted:
                raise errors.Refusal("CONFLICT", "The customer is not known to be approved.")

        before(verifications, "complete_hosted", noted)(patch)
        before(holder, name, refused)(patch)

    return patch


for _requirement in ("PLM-070", "PLM-072"):
    declare(
        _requirement,
        "hosted",
        "an approval after the hosted flow unlocks no deposits",
        _forgotten(accounts, "credit", lambda account: account.customer_id),
    )
for _requirement in ("PLM-071", "PLM-073"):
    declare(
        _requirement,
        "hosted",
        "an approval after the hosted flow unlocks no payments",
        _forgotten(quotes, "draft", lambda order: order.source.customer_id),
    )
