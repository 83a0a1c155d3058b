"""Mutants of the deprecated transfers, and of the quotes that take their place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from conformance.proof.kit.builders import Handler, Json, Place, around, before, edited, instead
from conformance.proof.kit.edits import bare, turned
from conformance.proof.kit.tables import with_columns
from conformance.proof.mutant import declare, mutant
from conformance.proof.mutants.quotes.toolkit import at_once, held
from conformance.proof.patch import Apply, Function, Patch
from conformance.reference import app, errors, rules
from conformance.reference.internal_accounts import ledger
from conformance.reference.quotes import quotes, transfers
from conformance.reference.store import Customer, Quote, Transaction
from conformance.reference.transactions import settlement, transactions
from conformance.reference.transactions.settlement import holding_account
from conformance.reference.unit import Ask, Unit, new_id

Change = Callable[[Unit, Quote, Transaction], None]


def _made(place: Place, change: Change) -> Apply:
    """Return the patch by which something else happens once a transfer is made."""

    def serve(handler: Handler, unit: Unit, ask: Ask) -> Json:
        quote, row = transactions.locked(unit, handler(unit, ask)["id"])
        change(unit, quote, row)
        return transactions.view(row)

    return around(*place, serve)


def _asked(place: Place, change: Callable[[Json], Json]) -> Apply:
    """Return the patch by which another body is read than the one that was sent."""
    return around(
        *place,
        lambda handler, unit, ask: handler(
            unit, replace(ask, body=change(ask.body) if isinstance(ask.body, dict) else ask.body)
        ),
    )


# --- They are taken, and move money ---------------------------------------------------------


def _retired(_handler: Handler, _unit: Unit, _ask: Ask) -> Json:
    raise errors.Refusal("CONFLICT", "Transfers are no longer made. Create a quote.")


def _gone(_handler: Handler, _unit: Unit, _ask: Ask) -> Json:
    raise errors.Refusal(*app.UNROUTED[404])


for _id, _place in {
    "TRF-001": (transfers, "transfer_out"),
    "TRF-002": (transfers, "transfer_in"),
}.items():
    declare(_id, "retired", "the transfer is served, and never made", around(*_place, _retired))
    declare(_id, "gone", "the transfer is not served any more", around(*_place, _gone))


def _of_individuals(ends_of: Function, unit: Unit, body: Json) -> Any:
    source, destination = ends_of(unit, body)
    owner = unit.session.get(Customer, source.customer_id or "")
    if owner is not None and owner.customer_type == "BUSINESS":
        raise errors.Refusal("CONFLICT", "A business sends quotes.")
    return source, destination


for _id in ("TRF-001", "TRF-002"):
    declare(
        _id,
        "individuals-alone",
        "a transfer of a business is refused",
        around(transfers, "ends_of", _of_individuals),
    )


def _charge(unit: Unit, quote: Quote, amount: int) -> None:
    """Take more from the source of a transfer than was asked for."""
    currency = quote.sending_currency
    ledger.post(
        unit,
        [
            ledger.Leg(ledger.available(quote.source["accountId"]), currency, -amount),
            ledger.Leg(ledger.system("fees", currency), currency, amount),
        ],
    )


def _give_less(amount: int) -> Change:
    def change(_unit: Unit, quote: Quote, row: Transaction) -> None:
        quote.receiving_amount -= amount
        row.receiving_amount -= amount

    return change


def _set(**columns: Any) -> Change:
    """Return the change by which a transaction has other values in its row."""

    def change(_unit: Unit, _quote: Quote, row: Transaction) -> None:
        for name, value in columns.items():
            setattr(row, name, value)

    return change


def _add(name: str, amount: int) -> Change:
    """Return the change by which a transaction shows another amount than was moved."""
    return lambda _unit, _quote, row: setattr(row, name, getattr(row, name) + amount)


def _forget(unit: Unit, _quote: Quote, _row: Transaction) -> None:
    """Do nothing more about a transfer."""
    unit.jobs.clear()


def _reserve(unit: Unit, quote: Quote, _row: Transaction) -> None:
    """Give back what was debited, as if it were only kept aside."""
    currency, amount = quote.sending_currency, quote.sending_amount
    unit.jobs.clear()
    ledger.post(
        unit,
        [
            ledger.Leg(holding_account(quote), currency, -amount),
            ledger.Leg(ledger.available(quote.source["accountId"]), currency, amount),
        ],
    )


CHANGED: tuple[tuple[str, Place, str, str, Change], ...] = (
    (
        "TRF-010",
        (transfers, "transfer_out"),
        "fees-on-top",
        "fees are debited on top",
        lambda u, q, _: _charge(u, q, 50),
    ),
    (
        "TRF-010",
        (transfers, "transfer_out"),
        "not-debited",
        "what is sent is only kept aside",
        _reserve,
    ),
    (
        "TRF-011",
        (transfers, "transfer_in"),
        "second-fee",
        "a fee is taken that a quote does not have",
        _give_less(25),
    ),
    (
        "TRF-013",
        (transfers, "transfer_in"),
        "bonus",
        "more arrives than was pulled",
        _give_less(-500),
    ),
    (
        "TRF-014",
        (transfers, "transfer_in"),
        "other-amount",
        "more is shown than arrives",
        _add("receiving_amount", 1),
    ),
    (
        "TRF-015",
        (transfers, "transfer_out"),
        "other-amount",
        "less is shown than is sent",
        _add("sending_amount", -50),
    ),
    (
        "TRF-020",
        (transfers, "transfer_out"),
        "of-nobody",
        "the transaction is nobody's",
        _set(customer_id=None),
    ),
    (
        "TRF-021",
        (transfers, "transfer_in"),
        "of-nobody",
        "the transaction is nobody's",
        _set(customer_id=None),
    ),
    ("TRF-022", (transfers, "transfer_out"), "forgotten", "it is never settled", _forget),
    ("TRF-023", (transfers, "transfer_in"), "forgotten", "it is never settled", _forget),
    (
        "TRF-024",
        (transfers, "transfer_out"),
        "less-fees",
        "the fees are left out",
        _add("sending_amount", -50),
    ),
    (
        "TRF-025",
        (transfers, "transfer_in"),
        "less-fees",
        "the fees are left out",
        _add("sending_amount", -50),
    ),
    (
        "TRF-026",
        (transfers, "transfer_out"),
        "as-sent",
        "the fees are not taken off",
        _add("receiving_amount", 50),
    ),
    (
        "TRF-027",
        (transfers, "transfer_in"),
        "as-sent",
        "the fees are not taken off",
        _add("receiving_amount", 50),
    ),
    (
        "TRF-028",
        (transfers, "transfer_out"),
        "converted",
        "it says euro",
        _set(receiving_currency="EUR"),
    ),
    (
        "TRF-029",
        (transfers, "transfer_in"),
        "converted",
        "it says euro",
        _set(receiving_currency="EUR"),
    ),
    (
        "TRF-030",
        (transfers, "transfer_out"),
        "credit",
        "it is shown as a credit",
        _set(direction="CREDIT"),
    ),
    (
        "TRF-031",
        (transfers, "transfer_out"),
        "rate",
        "a rate is shown that is none",
        _set(rate="1.01"),
    ),
    (
        "TRF-032",
        (transfers, "transfer_in"),
        "rate",
        "a rate is shown that is none",
        _set(rate="1.01"),
    ),
    (
        "TRF-042",
        (transfers, "transfer_out"),
        "unreported",
        "its completion is not reported",
        _set(type="TRANSFER"),
    ),
)

for _id, _handler, _name, _statement, _change in CHANGED:
    declare(_id, _name, f"of a transfer {_statement}", _made(_handler, _change))


@mutant("TRF-012", "what is pulled in arrives nowhere")
def arrives_nowhere(patch: Patch) -> None:
    patch.replace(
        settlement,
        "target_account",
        lambda quote: ledger.system("rail", quote.receiving_currency),
    )


@mutant("TRF-040", "the balance after a debit is not reported")
def debit_unreported(patch: Patch) -> None:
    patch.replace(settlement, "announce_source", lambda *_: None)


@mutant("TRF-041", "the balance after a credit is not reported")
def credit_unreported(patch: Patch) -> None:
    patch.replace(settlement, "_announce_account", lambda *_: None)


@mutant("TRF-043", "what comes back is taken as paid")
def always_paid(patch: Patch) -> None:
    patch.replace(settlement, "result_of", lambda *_: rules.PAYOUT_RESULTS["NORMAL"])


declare(
    "TRF-044",
    "no-reason",
    "a failed payout does not say why",
    with_columns(rules, "PAYOUT_RESULTS", "RETURNS", failure_reason="OTHER"),
)
declare(
    "TRF-045",
    "kept-in-suspense",
    "the money of a failed payout is kept in suspense",
    with_columns(rules, "PAYOUT_RESULTS", "RETURNS", refund="FAILS"),
)


# --- What is refused ------------------------------------------------------------------------


def _capped(handler: Handler, unit: Unit, ask: Ask) -> Any:
    amount = ask.body["amount"]
    if isinstance(amount, int) and amount > 0:
        ask = replace(ask, body={**ask.body, "amount": min(amount, held(unit, ask))})
    return handler(unit, ask)


for _id in ("TRF-050", "TRF-051"):
    declare(
        _id,
        "capped",
        "of a transfer above the balance all that is there is sent",
        around(transfers, "transfer_out", _capped),
    )


def _miscoded(handler: Handler, unit: Unit, ask: Ask) -> Any:
    try:
        return handler(unit, ask)
    except errors.Refusal as refusal:
        code = "INVALID_AMOUNT" if refusal.code == "INSUFFICIENT_FUNDS" else refusal.code
        raise errors.Refusal(code, refusal.reason) from refusal


declare(
    "TRF-052",
    "invalid-amount",
    "an amount above the balance is an invalid one",
    around(transfers, "transfer_out", _miscoded),
)


def _below(handler: Handler, unit: Unit, ask: Ask) -> Any:
    if ask.body["amount"] >= held(unit, ask):
        raise quotes.insufficient_funds()
    return handler(unit, ask)


declare(
    "TRF-053",
    "below",
    "something has to be left on the account",
    around(transfers, "transfer_out", _below),
)


def _obliging(handler: Handler, unit: Unit, ask: Ask) -> Any:
    """Take a transfer of accounts that are not there."""
    try:
        return handler(unit, ask)
    except errors.Refusal as refusal:
        if refusal.code != "ACCOUNT_NOT_FOUND":
            raise
        return {"id": new_id("Transaction")}


for _id, _place in {
    "TRF-054": (transfers, "transfer_out"),
    "TRF-055": (transfers, "transfer_out"),
    "TRF-056": (transfers, "transfer_in"),
    "TRF-057": (transfers, "transfer_in"),
}.items():
    declare(_id, "obliging", "an account that is not there is taken", around(*_place, _obliging))


def _breaking_from(kind: str) -> Callable[[Unit, Ask], None]:
    """Return what breaks the service for a source whose id begins with another type."""

    def look(_unit: Unit, ask: Ask) -> None:
        named = str(ask.body["source"]["accountId"])
        assert not named.startswith(kind)

    return look


declare(
    "TRF-135",
    "internal",
    "a transfer-in from an internal account breaks the service",
    before(transfers, "transfer_in", _breaking_from("InternalAccount")),
)
declare(
    "TRF-136",
    "external",
    "a transfer-out from an external account breaks the service",
    before(transfers, "transfer_out", _breaking_from("ExternalAccount")),
)

for _id in ("TRF-058", "TRF-059"):
    declare(
        _id,
        "converted",
        "a transfer into another currency is converted",
        instead(transfers, "refuse_conversion", lambda *_: None),
    )


def _whole(read: Callable[[Any], Any]) -> Callable[[Json], Json]:
    return lambda body: {**body, "amount": read(body.get("amount"))}


_READ: Mapping[str, Callable[[Any], Any]] = {
    "made positive": lambda amount: abs(amount) if isinstance(amount, int) else amount,
    "cut off": lambda amount: int(amount) if isinstance(amount, float) else amount,
    "read from its digits": lambda amount: int(amount) if str(amount).isdigit() else amount,
    "read as 1": lambda amount: 1 if isinstance(amount, str) else amount,
}


def _idle(handler: Handler, unit: Unit, ask: Ask) -> Any:
    """Make nothing of a transfer of nothing."""
    return {} if ask.body.get("amount") == 0 else handler(unit, ask)


for _id, _place in {
    "TRF-060": (transfers, "transfer_out"),
    "TRF-064": (transfers, "transfer_in"),
}.items():
    declare(_id, "idle", "a transfer of nothing succeeds", around(*_place, _idle))

for _id, _place, _how in (
    ("TRF-061", (transfers, "transfer_out"), "made positive"),
    ("TRF-065", (transfers, "transfer_in"), "made positive"),
    ("TRF-068", (transfers, "transfer_out"), "made positive"),
    ("TRF-062", (transfers, "transfer_out"), "cut off"),
    ("TRF-066", (transfers, "transfer_in"), "cut off"),
    ("TRF-063", (transfers, "transfer_out"), "read as 1"),
    ("TRF-067", (transfers, "transfer_in"), "read as 1"),
    ("TRF-132", (transfers, "transfer_out"), "read from its digits"),
    ("TRF-133", (transfers, "transfer_in"), "read from its digits"),
):
    declare(_id, "taken", f"an amount that is none is {_how}", _asked(_place, _whole(_READ[_how])))


for _id, _name in (("TRF-130", "transfer_out"), ("TRF-131", "transfer_in")):
    declare(
        _id,
        "bare",
        "the transaction's id has no type in front",
        edited(transfers, _name, turned("id", bare)),
    )


# --- The quotes in their place --------------------------------------------------------------


def _answered(change: Callable[[Unit, Json], Json]) -> Apply:
    """Return the patch by which a quote that is executed at once is answered otherwise."""

    def serve(handler: Handler, unit: Unit, ask: Ask) -> Any:
        quote = handler(unit, ask)
        return change(unit, quote) if at_once(ask.body) else quote

    return around(quotes, "create", serve)


def _transaction(unit: Unit, quote: Json) -> Json:
    return transactions.view(transactions.get(unit, quote["transactionId"]))


_ANSWERS: tuple[tuple[tuple[str, str], str, str, Callable[[Unit, Json], Json]], ...] = (
    (("TRF-090", "TRF-100"), "transaction", "the transaction", _transaction),
    (
        ("TRF-091", "TRF-101"),
        "less-fees",
        "an amount without the fees",
        lambda _, quote: {**quote, "totalSendingAmount": quote["totalSendingAmount"] - 50},
    ),
    (
        ("TRF-092", "TRF-102"),
        "converted",
        "another currency",
        lambda _, quote: {
            **quote,
            "receivingCurrency": {**quote["receivingCurrency"], "code": "EUR"},
        },
    ),
    (
        ("TRF-093", "TRF-103"),
        "other-transaction",
        "a transaction that there is not",
        lambda _, quote: {**quote, "transactionId": new_id("Transaction")},
    ),
)

for _ids, _name, _what, _answer in _ANSWERS:
    for _id in _ids:
        declare(
            _id, _name, f"a quote executed at once is answered with {_what}", (_answered(_answer))
        )
