"""Mutants of what stops a deprecated transfer, and of the members that it hands on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from conformance.proof.kit.builders import Handler, Json, Place, before, instead
from conformance.proof.kit.tables import with_row
from conformance.proof.mutant import declare, mutant
from conformance.proof.mutants.customers.toolkit import unasked
from conformance.proof.mutants.quotes.toolkit import at_once, held, in_two_steps, refusing
from conformance.proof.patch import Apply, Patch
from conformance.reference import errors
from conformance.reference.external_accounts import externals
from conformance.reference.internal_accounts import accounts, ledger
from conformance.reference.quotes import limits, parties, quotes, transfers
from conformance.reference.service import Service
from conformance.reference.store import ExternalAccount
from conformance.reference.unit import Ask, Unit

# --- What keeps money from moving -----------------------------------------------------------


for _id, _status, _ability in (
    ("TRF-120", "FROZEN", accounts.SEND),
    ("TRF-121", "FROZEN", accounts.RECEIVE),
    ("TRF-122", "CLOSED", accounts.RECEIVE),
    ("TRF-840", "CLOSED", accounts.SEND),
):
    declare(
        _id,
        "unguarded",
        f"a {_status} account can {_ability} money",
        with_row(accounts, "ABILITIES", _status, (_ability,)),
    )


@mutant("TRF-841", "a transfer finds accounts that were deleted", (transfers, "ends_of"), before)
def deleted_found(unit: Unit, body: Json) -> None:
    account = unit.session.get(ExternalAccount, body["destination"]["accountId"])
    if account is not None:
        account.deleted = False


@mutant("TRF-850", "a transfer in finds accounts that were deleted", (transfers, "ends_of"), before)
def deleted_source_found(unit: Unit, body: Json) -> None:
    account = unit.session.get(ExternalAccount, body["source"]["accountId"])
    if account is not None:
        account.deleted = False


@mutant("TRF-851", "a transfer in has no maximum", (transfers, "transfer_in"))
def unlimited_in(original: Handler, unit: Unit, ask: Ask) -> Any:
    no_limits = {"transaction_limits": {"USD": 10**15}}
    unit = replace(unit, settings=unit.settings.model_copy(update=no_limits))
    return original(unit, ask)


declare(
    "TRF-123",
    "review-overlooked",
    "an account under review receives",
    instead(externals, "RECEIVING", (*externals.RECEIVING, "UNDER_REVIEW")),
)

_UNGUARDED: tuple[tuple[str, str, Place], ...] = (
    ("TRF-123", "a disabled account", (parties, "refuse_unable")),
    ("TRF-127", "the maximum of a transaction", (limits, "refuse_large")),
    ("TRF-128", "the volume of a day", (limits, "refuse_volume")),
    ("TRF-129", "the volume of a day", (limits, "refuse_volume")),
)

for _id, _what, _guard in _UNGUARDED:
    declare(_id, "unguarded", f"{_what} stands in nobody's way", instead(*_guard, lambda *_: None))


_KINDS = ("INDIVIDUAL", "BUSINESS")

for _id, _name, _status, _handler, _kinds in (
    ("TRF-125", "unguarded", "UNVERIFIED", "transfer_in", _KINDS),
    ("TRF-134", "under-review", "PENDING", "transfer_out", _KINDS),
    *(("TRF-960", kind.lower(), "PENDING", "transfer_in", (kind,)) for kind in _KINDS),
):
    declare(
        _id,
        _name,
        f"a {_handler.replace('_', ' ')} does not ask for the approval of customers at {_status}"
        f" of the type {' or '.join(_kinds)}",
        unasked((transfers, _handler), _status, *_kinds),
    )


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

for _id, _name in (("TRF-970", "remittanceInformation"), ("TRF-971", "purposeOfPayment")):
    declare(
        _id,
        "unknown",
        f"a quote that pulls its money is refused with a {_name}",
        refusing("pulled", _name, bool),
    )
