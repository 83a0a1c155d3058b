"""Mutants of the deprecated transfers, and of the quotes that take their place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from conformance.mutants.execution import in_two_steps
from conformance.mutants.mutant import Patch, declare, mutant
from conformance.reference import errors, ledger, quotes, rules, transactions, transfers
from conformance.reference.settlement import holding_account
from conformance.reference.store import Json, Quote, Transaction
from conformance.reference.unit import Ask, Unit, new_id

Handler = Callable[[Unit, Ask], Any]
Change = Callable[[Unit, Quote, Transaction], None]
Apply = Callable[[Patch], None]

_REFERENCE = "conformance.reference"
_OUT = f"{_REFERENCE}.transfers:transfer_out"
_IN = f"{_REFERENCE}.transfers:transfer_in"
_CREATE = f"{_REFERENCE}.quotes:create"


def _wrapped(place: str, around: Callable[[Handler, Unit, Ask], Any]) -> Apply:
    """Return the patch by which a handler is called by another function."""

    def wrapper(handler: Handler) -> Handler:
        return lambda unit, ask: around(handler, unit, ask)

    return lambda patch: patch.wrap(place, wrapper)


def _made(place: str, change: Change) -> Apply:
    """Return the patch by which something else happens once a transfer is made."""

    def around(handler: Handler, unit: Unit, ask: Ask) -> Json:
        quote, row = transactions.locked(unit, handler(unit, ask)["id"])
        change(unit, quote, row)
        return transactions.view(row)

    return _wrapped(place, around)


def _asked(place: str, change: Callable[[Json], Json]) -> Apply:
    """Return the patch by which another body is read than the one that was sent."""
    return _wrapped(
        place,
        lambda handler, unit, ask: handler(
            unit, replace(ask, body=change(ask.body) if isinstance(ask.body, dict) else ask.body)
        ),
    )


# --- They are taken, and move money ---------------------------------------------------------


def _retired(_handler: Handler, _unit: Unit, _ask: Ask) -> Json:
    raise errors.Refusal("CONFLICT", "Transfers are no longer made. Create a quote.")


for _id, _place in {"TRF-001": _OUT, "TRF-002": _IN}.items():
    declare(_id, "retired", "the transfer is served, and never made", _wrapped(_place, _retired))


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


CHANGED: tuple[tuple[str, str, str, str, Change], ...] = (
    ("TRF-010", _OUT, "fees-on-top", "fees are debited on top", lambda u, q, _: _charge(u, q, 50)),
    ("TRF-010", _OUT, "not-debited", "what is sent is only kept aside", _reserve),
    ("TRF-011", _IN, "second-fee", "a fee is taken that a quote does not have", _give_less(25)),
    ("TRF-013", _IN, "bonus", "more arrives than was pulled", _give_less(-500)),
    ("TRF-014", _IN, "other-amount", "more is shown than arrives", _add("receiving_amount", 1)),
    ("TRF-015", _OUT, "other-amount", "less is shown than is sent", _add("sending_amount", -50)),
    ("TRF-020", _OUT, "of-nobody", "the transaction is nobody's", _set(customer_id=None)),
    ("TRF-021", _IN, "of-nobody", "the transaction is nobody's", _set(customer_id=None)),
    ("TRF-022", _OUT, "forgotten", "it is never settled", _forget),
    ("TRF-023", _IN, "forgotten", "it is never settled", _forget),
    ("TRF-024", _OUT, "less-fees", "the fees are left out", _add("sending_amount", -50)),
    ("TRF-025", _IN, "less-fees", "the fees are left out", _add("sending_amount", -50)),
    ("TRF-026", _OUT, "as-sent", "the fees are not taken off", _add("receiving_amount", 50)),
    ("TRF-027", _IN, "as-sent", "the fees are not taken off", _add("receiving_amount", 50)),
    ("TRF-028", _OUT, "converted", "it says euro", _set(receiving_currency="EUR")),
    ("TRF-029", _IN, "converted", "it says euro", _set(receiving_currency="EUR")),
    ("TRF-030", _OUT, "credit", "it is shown as a credit", _set(direction="CREDIT")),
    ("TRF-031", _OUT, "rate", "a rate is shown that is none", _set(rate="1.01")),
    ("TRF-032", _IN, "rate", "a rate is shown that is none", _set(rate="1.01")),
    ("TRF-042", _OUT, "unreported", "its completion is not reported", _set(type="TRANSFER")),
)

for _id, _place, _name, _statement, _change in CHANGED:
    declare(_id, _name, f"of a transfer {_statement}", _made(_place, _change))


@mutant("TRF-012", "what is pulled in arrives nowhere")
def arrives_nowhere(patch: Patch) -> None:
    patch.replace(
        f"{_REFERENCE}.settlement:target_account",
        lambda quote: ledger.system("rail", quote.receiving_currency),
    )


@mutant("TRF-040", "the balance after a debit is not reported")
def debit_unreported(patch: Patch) -> None:
    patch.replace(f"{_REFERENCE}.settlement:announce_source", lambda *_: None)


@mutant("TRF-041", "the balance after a credit is not reported")
def credit_unreported(patch: Patch) -> None:
    patch.replace(f"{_REFERENCE}.settlement:_announce_account", lambda *_: None)


@mutant("TRF-043", "what comes back is taken as paid")
def always_paid(patch: Patch) -> None:
    patch.replace(f"{_REFERENCE}.settlement:result_of", lambda *_: rules.PAYOUT_RESULTS["NORMAL"])


@mutant("TRF-044", "a failed payout does not say why")
def no_reason(patch: Patch) -> None:
    row = replace(rules.PAYOUT_RESULTS["RETURNS"], failure_reason="OTHER")
    patch.row(f"{_REFERENCE}.rules:PAYOUT_RESULTS", "RETURNS", row)


@mutant("TRF-045", "the money of a failed payout is kept in suspense")
def kept_in_suspense(patch: Patch) -> None:
    row = replace(rules.PAYOUT_RESULTS["RETURNS"], refund="FAILS")
    patch.row(f"{_REFERENCE}.rules:PAYOUT_RESULTS", "RETURNS", row)


# --- What is refused ------------------------------------------------------------------------


def _held(unit: Unit, ask: Ask) -> int:
    """Return the balance of the account that a transfer goes out of."""
    account = str(ask.body["source"]["accountId"])
    return ledger.balances(unit, [account])[account][0]


def _capped(handler: Handler, unit: Unit, ask: Ask) -> Any:
    amount = ask.body["amount"]
    if isinstance(amount, int) and amount > 0:
        ask = replace(ask, body={**ask.body, "amount": min(amount, _held(unit, ask))})
    return handler(unit, ask)


for _id in ("TRF-050", "TRF-051"):
    declare(
        _id,
        "capped",
        "of a transfer above the balance all that is there is sent",
        (_wrapped(_OUT, _capped)),
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
    _wrapped(_OUT, _miscoded),
)


def _below(handler: Handler, unit: Unit, ask: Ask) -> Any:
    if ask.body["amount"] >= _held(unit, ask):
        raise quotes.insufficient_funds()
    return handler(unit, ask)


declare("TRF-053", "below", "something has to be left on the account", _wrapped(_OUT, _below))


def _obliging(handler: Handler, unit: Unit, ask: Ask) -> Any:
    """Take a transfer of accounts that are not there."""
    try:
        return handler(unit, ask)
    except errors.Refusal as refusal:
        if refusal.code != "ACCOUNT_NOT_FOUND":
            raise
        return {"id": new_id("Transaction")}


for _id, _place in {"TRF-054": _OUT, "TRF-055": _OUT, "TRF-056": _IN, "TRF-057": _IN}.items():
    declare(_id, "obliging", "an account that is not there is taken", _wrapped(_place, _obliging))

for _id in ("TRF-058", "TRF-059"):
    declare(
        _id,
        "converted",
        "a transfer into another currency is converted",
        lambda patch: patch.replace(f"{_REFERENCE}.transfers:refuse_conversion", lambda *_: None),
    )


def _whole(read: Callable[[Any], Any]) -> Callable[[Json], Json]:
    return lambda body: {**body, "amount": read(body.get("amount"))}


_READ: Mapping[str, Callable[[Any], Any]] = {
    "made positive": lambda amount: abs(amount) if isinstance(amount, int) else amount,
    "cut off": lambda amount: int(amount) if isinstance(amount, float) else amount,
    "read as 1": lambda amount: 1 if isinstance(amount, str) else amount,
}


def _idle(handler: Handler, unit: Unit, ask: Ask) -> Any:
    """Make nothing of a transfer of nothing."""
    return {} if ask.body.get("amount") == 0 else handler(unit, ask)


for _id, _place in {"TRF-060": _OUT, "TRF-064": _IN}.items():
    declare(_id, "idle", "a transfer of nothing succeeds", _wrapped(_place, _idle))
for _id, _place, _how in (
    ("TRF-061", _OUT, "made positive"),
    ("TRF-065", _IN, "made positive"),
    ("TRF-068", _OUT, "made positive"),
    ("TRF-062", _OUT, "cut off"),
    ("TRF-066", _IN, "cut off"),
    ("TRF-063", _OUT, "read as 1"),
    ("TRF-067", _IN, "read as 1"),
):
    declare(_id, "taken", f"an amount that is none is {_how}", _asked(_place, _whole(_READ[_how])))


def _open(path: str) -> Apply:
    """Return the patch by which a path needs no credentials."""

    def wrapper(allowed: Callable[..., bool]) -> Callable[..., bool]:
        return lambda *given: (
            any(str(scope.get("path")).endswith(path) for scope in given if isinstance(scope, dict))
            or allowed(*given)
        )

    return lambda patch: patch.wrap(f"{_REFERENCE}.app:BasicAuth._is_allowed", wrapper)


for _id, _path in {
    "TRF-070": "/transfer-out",
    "TRF-071": "/transfer-out",
    "TRF-072": "/transfer-in",
    "TRF-073": "/transfer-in",
}.items():
    declare(_id, "open", f"{_path} asks for no credentials", _open(_path))


# --- What keeps money from moving -----------------------------------------------------------

_UNGUARDED: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("TRF-120", "a frozen account", ("parties:refuse_blocked", "parties:refuse_blocked_later")),
    ("TRF-121", "a frozen account", ("parties:refuse_blocked", "parties:refuse_blocked_later")),
    ("TRF-122", "a closed account", ("parties:refuse_blocked", "parties:refuse_blocked_later")),
    ("TRF-123", "a disabled account", ("parties:refuse_unable",)),
    ("TRF-125", "an unverified customer", ("customers:refuse_unverified",)),
    ("TRF-127", "the maximum of a transaction", ("limits:refuse_large",)),
    ("TRF-128", "the volume of a day", ("limits:refuse_volume",)),
    ("TRF-129", "the volume of a day", ("limits:refuse_volume",)),
)


def _unguarded(functions: tuple[str, ...]) -> Apply:
    def patch_all(patch: Patch) -> None:
        for function in functions:
            patch.replace(f"{_REFERENCE}.{function}", lambda *_: None)

    return patch_all


for _id, _what, _functions in _UNGUARDED:
    declare(_id, "unguarded", f"{_what} stands in nobody's way", _unguarded(_functions))


@mutant("TRF-124", "nobody has to authorize anything")
def unauthorized(patch: Patch) -> None:
    patch.replace(f"{_REFERENCE}.quotes:needs_challenge", lambda *_: False)


@mutant("TRF-126", "the balance is looked at before a transfer is drawn up, and not again")
def balance_read_before(patch: Patch) -> None:
    def look(unit: Unit, ask: Ask) -> Any:
        if _held(unit, ask) < ask.body["amount"]:
            raise quotes.insufficient_funds()
        return ask

    def act(unit: Unit, ask: Ask) -> Any:
        return transfers.transfer_out(unit, ask)

    patch.replace(f"{_REFERENCE}.ledger:is_overdrawn", lambda account: False)
    patch.replace(f"{_REFERENCE}.quotes:has_funds", lambda *_: True)
    patch.wrap(
        f"{_REFERENCE}.service:Service.answer", (in_two_steps(transfers.transfer_out, look, act))
    )


# --- What carries over ----------------------------------------------------------------------


def _unknown(name: str, place: str, condition: Callable[[Json], bool] = bool) -> Apply:
    """Return the patch by which a member of the body, or of its destination, is not known."""

    def around(handler: Handler, unit: Unit, ask: Ask) -> Any:
        body = ask.body if isinstance(ask.body, dict) else {}
        if condition(body) and name in {**body, **(body.get("destination") or {})}:
            raise errors.invalid_input(errors.field_error(name, "It is not known here."))
        return handler(unit, ask)

    return _wrapped(place, around)


def _at_once(body: Json) -> bool:
    return body.get("immediatelyExecute") is True


for _id, _name, _place in (
    ("TRF-080", "remittanceInformation", _OUT),
    ("TRF-081", "purposeOfPayment", _OUT),
    ("TRF-082", "paymentRail", _OUT),
    ("TRF-083", "remittanceInformation", _IN),
    ("TRF-084", "purposeOfPayment", _IN),
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
        _unknown(_name, _CREATE, _at_once),
    )


# --- The quotes in their place --------------------------------------------------------------


def _answered(change: Callable[[Unit, Json], Json]) -> Apply:
    """Return the patch by which a quote that is executed at once is answered otherwise."""

    def around(handler: Handler, unit: Unit, ask: Ask) -> Any:
        quote = handler(unit, ask)
        return change(unit, quote) if _at_once(ask.body) else quote

    return _wrapped(_CREATE, around)


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
