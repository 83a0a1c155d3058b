"""Mutants of what stops a deprecated transfer, and of the members that it hands on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance.proof.kit.builders import Json, Place, before
from conformance.proof.mutant import declare, mutant
from conformance.proof.mutants.quotes.toolkit import at_once, held, in_two_steps
from conformance.proof.patch import Apply, Patch
from conformance.reference import errors
from conformance.reference.customers import customers
from conformance.reference.internal_accounts import ledger
from conformance.reference.quotes import limits, parties, quotes, transfers
from conformance.reference.service import Service
from conformance.reference.unit import Ask, Unit

# --- What keeps money from moving -----------------------------------------------------------


_UNGUARDED: tuple[tuple[str, str, tuple[Place, ...]], ...] = (
    (
        "TRF-120",
        "a frozen account",
        ((parties, "refuse_blocked"), (parties, "refuse_blocked_later")),
    ),
    (
        "TRF-121",
        "a frozen account",
        ((parties, "refuse_blocked"), (parties, "refuse_blocked_later")),
    ),
    (
        "TRF-122",
        "a closed account",
        ((parties, "refuse_blocked"), (parties, "refuse_blocked_later")),
    ),
    ("TRF-123", "a disabled account", ((parties, "refuse_unable"),)),
    ("TRF-125", "an unverified customer", ((customers, "refuse_unverified"),)),
    ("TRF-127", "the maximum of a transaction", ((limits, "refuse_large"),)),
    ("TRF-128", "the volume of a day", ((limits, "refuse_volume"),)),
    ("TRF-129", "the volume of a day", ((limits, "refuse_volume"),)),
)


def _unguarded(functions: tuple[Place, ...]) -> Apply:
    def patch_all(patch: Patch) -> None:
        for function in functions:
            patch.replace(*function, lambda *_: None)

    return patch_all


for _id, _what, _functions in _UNGUARDED:
    declare(_id, "unguarded", f"{_what} stands in nobody's way", _unguarded(_functions))


@mutant("TRF-124", "nobody has to authorize anything")
def unauthorized(patch: Patch) -> None:
    patch.replace(quotes, "needs_challenge", lambda *_: False)


@mutant("TRF-126", "the balance is looked at before a transfer is drawn up, and not again")
def balance_read_before(patch: Patch) -> None:
    def look(unit: Unit, ask: Ask) -> Any:
        if held(unit, ask) < ask.body["amount"]:
            raise quotes.insufficient_funds()
        return ask

    def act(unit: Unit, ask: Ask) -> Any:
        return transfers.transfer_out(unit, ask)

    patch.replace(ledger, "is_overdrawn", lambda account: False)
    patch.replace(quotes, "has_funds", lambda *_: True)
    patch.wrap(Service, "serve", (in_two_steps(transfers.transfer_out, look, act)))


# --- What carries over ----------------------------------------------------------------------


def _unknown(name: str, place: Place, condition: Callable[[Json], bool] = bool) -> Apply:
    """Return the patch by which a member of the body, or of its destination, is not known."""

    def serve(unit: Unit, ask: Ask) -> None:
        body = ask.body if isinstance(ask.body, dict) else {}
        if condition(body) and name in {**body, **(body.get("destination") or {})}:
            raise errors.invalid_input(errors.field_error(name, "It is not known here."))

    return before(*place, serve)


for _id, _name, _place in (
    ("TRF-080", "remittanceInformation", (transfers, "transfer_out")),
    ("TRF-081", "purposeOfPayment", (transfers, "transfer_out")),
    ("TRF-082", "paymentRail", (transfers, "transfer_out")),
    ("TRF-083", "remittanceInformation", (transfers, "transfer_in")),
    ("TRF-084", "purposeOfPayment", (transfers, "transfer_in")),
):
    declare(_id, "unknown", f"a transfer with a {_name} is refused", _unknown(_name, _place))

for _id, _name in (
    ("TRF-094", "remittanceInformation"),
    ("TRF-095", "purposeOfPayment"),
    ("TRF-096", "paymentRail"),
    ("TRF-097", "purposeOfPayment"),
):
    declare(
        _id,
        "unknown",
        f"a quote that is executed at once is refused with a {_name}",
        _unknown(_name, (quotes, "create"), at_once),
    )
