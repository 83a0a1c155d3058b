"""Mutants of cards: who gets one, what is bought with them, and what merchants give back."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from sqlalchemy import select

from conformance.mutants.fields import at, edited, put, taken
from conformance.mutants.mutant import Patch, declare, mutant
from conformance.reference import card_simulators, card_transactions, errors, ledger, rules
from conformance.reference.store import Card, CardTransaction, Customer, InternalAccount
from conformance.reference.store import LedgerAccount as Book
from conformance.reference.unit import Ask, Unit

Json = dict[str, Any]
Function = Callable[..., Any]
Edit = Callable[[Any], Any]
Condition = Callable[[Json], bool]

_REFERENCE = "conformance.reference"
_CARDS = f"{_REFERENCE}.cards"
_ROWS = f"{_REFERENCE}.card_transactions"
_SIMULATORS = f"{_REFERENCE}.card_simulators"
_VIEW = f"{_ROWS}:view"
_EVENTS = f"{_ROWS}:EVENTS"
_MOVES = f"{_ROWS}:TRANSITIONS"
_CONDITIONS = f"{_SIMULATORS}:CONDITIONS"
_REFUNDED = "CARD_TRANSACTION.REFUNDED"


def _in(status: str, edit: Edit) -> Edit:
    """Return the edit of card transactions at a status."""
    return lambda body: edit(body) if body["status"] == status else body


def _refund(body: Json) -> bool:
    return "originalTransactionId" in body


# --- Who is issued a card -------------------------------------------------------------------


@mutant("CAR-001", "businesses alone are issued cards")
def for_businesses(patch: Patch) -> None:
    def refuse(cardholder: Customer) -> None:
        if cardholder.customer_type == "INDIVIDUAL":
            raise errors.Refusal("CONFLICT", "Cards are for businesses.")

    patch.replace(f"{_CARDS}:refuse_unapproved", refuse)


@mutant("CAR-002", "cards are issued before an approval")
def issued_unapproved(patch: Patch) -> None:
    patch.replace(f"{_CARDS}:refuse_unapproved", lambda _: None)


@mutant("ERR-017", "an unapproved cardholder is told as a conflict of another kind")
def unapproved_with_other_code(patch: Patch) -> None:
    def wrapper(refuse: Function) -> Function:
        def refusing(cardholder: Customer) -> None:
            try:
                refuse(cardholder)
            except errors.Refusal as refusal:
                raise errors.Refusal("INVALID_INPUT", refusal.reason) from refusal

        return refusing

    patch.wrap(f"{_CARDS}:refuse_unapproved", wrapper)


@mutant("ERR-017", "an unapproved cardholder is a conflict")
def unapproved_with_other_status(patch: Patch) -> None:
    patch.row(f"{_REFERENCE}.rules:ERROR_STATUS", "CARDHOLDER_KYC_NOT_APPROVED", 409)


for _name, _id in {"bare": "8d0cf2a4-0000-4000-8000-000000000000", "other": "DebitCard:1"}.items():
    declare(
        "CAR-003", _name, f"the id of a card is {_id}", edited(f"{_CARDS}:view", put("id", _id))
    )


@mutant("CAR-004", "an account that can fund a card by its own words cannot")
def unfit(patch: Patch) -> None:
    def refuse(_account: InternalAccount) -> None:
        raise errors.Refusal("CONFLICT", "The account cannot fund a card.")

    patch.replace(f"{_CARDS}:refuse_unfit", refuse)


@mutant("CAR-005", "an account that funds a card does not say any more that it could")
def spent_capability(patch: Patch) -> None:
    funding: set[str] = set()

    def issuing(issue: Function) -> Function:
        def issued(unit: Unit, ask: Ask) -> Json:
            body: Json = issue(unit, ask)
            funding.add(body["fundingSource"])
            return body

        return issued

    def showing(view: Function) -> Function:
        def shown(account: InternalAccount, *funds: int) -> Json:
            body: Json = view(account, *funds)
            if account.id in funding:
                body.pop("cardFundingCapabilities", None)
            return body

        return shown

    patch.wrap(f"{_CARDS}:issue", issuing)
    patch.wrap(f"{_REFERENCE}.accounts:_view", showing)


# --- The list -------------------------------------------------------------------------------


def _filtering(change: Callable[[Json], Json | None]) -> Callable[[Patch], None]:
    """Return the patch that reads the filters of card transactions changed; ``None``: no rows."""

    def wrapper(filtered: Function) -> Function:
        def rows(query: Json) -> Any:
            changed = change(dict(query))
            return None if changed is None else filtered(changed)

        return rows

    return lambda patch: patch.wrap(f"{_REFERENCE}.transactions:made_with_cards", wrapper)


def _without(name: str, query: Json) -> Json:
    return {key: value for key, value in query.items() if key != name}


def _is_bare(query: Json) -> bool:
    return ":" not in query.get("cardId", ":")


def _is_full(query: Json) -> bool:
    return ":" in query.get("cardId", "")


_FILTERS: tuple[tuple[str, str, str, Callable[[Json], Json | None]], ...] = (
    ("CAR-010", "unknown", "Card:<id> finds nothing", lambda q: None if _is_full(q) else q),
    ("CAR-011", "unknown", "a UUID finds nothing", lambda q: None if _is_bare(q) else q),
    ("CAR-012", "unknown", "type=CARD finds nothing", lambda q: None if "type" in q else q),
    ("CAR-013", "ignored", "the filter cardId is ignored", partial(_without, "cardId")),
    (
        "CAR-014",
        "ignored",
        "a UUID as cardId is ignored",
        lambda q: _without("cardId", q) if _is_bare(q) else q,
    ),
    ("CAR-017", "ignored", "the filter type is ignored", partial(_without, "type")),
)
for _id, _name, _statement, _change in _FILTERS:
    declare(_id, _name, _statement, _filtering(_change))


def _tolerating(condition: Callable[[Json], bool]) -> Callable[[Patch], None]:
    """Return the patch that lets a status be asked of card transactions under a condition."""

    def wrapper(refuse: Function) -> Function:
        return lambda query: None if condition(query) else refuse(query)

    return lambda patch: patch.wrap(f"{_REFERENCE}.transactions:refuse_status_of_cards", wrapper)


declare(
    "CAR-015",
    "taken",
    "the status of a payment alone is not asked of card transactions",
    _tolerating(lambda query: query.get("status") not in rules.TRANSACTION_STATUS),
)
declare(
    "CAR-016",
    "taken",
    "where a card is named, a status may be asked too",
    _tolerating(lambda query: "cardId" in query),
)


# --- Members --------------------------------------------------------------------------------


def _each_currency(change: Callable[[Json], None]) -> Edit:
    """Return the edit of all currencies that a card transaction shows."""

    def edit(body: Any) -> Any:
        if isinstance(body, dict):
            if "decimals" in body:
                change(body)
            for member in body.values():
                edit(member)
        return body

    return edit


def _drop(name: str) -> Edit:
    return _each_currency(lambda currency: currency.pop(name, None))


def _put(name: str, value: Any) -> Edit:
    return _each_currency(lambda currency: currency.update({name: value}))


def _flat(name: str) -> Edit:
    """Return the edit that writes an amount as a text in whole units."""

    def change(holder: Json, member: str) -> None:
        if member in holder:
            holder[member] = f"{holder[member]['amount'] / 100:.2f}"

    return at(name, change)


def _in_whole_units(name: str) -> Edit:
    def change(holder: Json, member: str) -> None:
        if member in holder:
            holder[member] = holder[member]["amount"] / 1000

    return at(name, change)


def _shifted(name: str, by: int) -> Edit:
    def change(holder: Json, member: str) -> None:
        if member in holder:
            holder[member]["amount"] += by

    return at(name, change)


def _as(name: str, other: str) -> Edit:
    """Return the edit that gives one member the value of another, where that stands."""
    return lambda body: {**body, name: body[other]} if other in body else body


def _unless(condition: Condition, edit: Edit) -> Edit:
    return lambda body: body if condition(body) else edit(body)


def _where(condition: Condition, edit: Edit) -> Edit:
    return lambda body: edit(body) if condition(body) else body


def _less_refunds(body: Json) -> Json:
    if "refundedAmount" in body:
        body["settledAmount"]["amount"] -= body["refundedAmount"]["amount"]
    return body


_SHOWN: tuple[tuple[str, str, str, Edit], ...] = (
    ("CAR-020", "word", "the direction is OUT", put("direction", "OUT")),
    ("CAR-020", "case", "the direction is in lower case", put("direction", "debit")),
    ("CAR-021", "number", "the status is a number", put("status", 17)),
    ("CAR-021", "missing", "there is no status", taken("status")),
    ("CAR-022", "word", "settled is called refunded", _in("SETTLED", put("status", "REFUNDED"))),
    ("CAR-023", "text", "settledAmount is a text", _flat("settledAmount")),
    ("CAR-023", "fraction", "settledAmount is a fraction", _in_whole_units("settledAmount")),
    ("CAR-024", "text", "refundedAmount is a text", _flat("refundedAmount")),
    ("CAR-024", "fraction", "refundedAmount is a fraction", _in_whole_units("refundedAmount")),
    (
        "CAR-025",
        "number",
        "the purchase is a number",
        _where(_refund, put("originalTransactionId", 7)),
    ),
    (
        "CAR-025",
        "object",
        "the purchase is an object",
        lambda body: (
            {**body, "originalTransactionId": {"id": body["originalTransactionId"]}}
            if _refund(body)
            else body
        ),
    ),
    (
        "CAR-026",
        "word",
        "the reason is none of those listed",
        _in("DECLINED", put("cardDeclinedReason", "SUSPECTED_FRAUD")),
    ),
    (
        "CAR-026",
        "case",
        "the reason is in lower case",
        _in("DECLINED", put("cardDeclinedReason", "other")),
    ),
    ("CAR-027", "text", "the merchant is a text", put("merchant", "Corner Coffee")),
    ("CAR-028", "number", "the city is a number", put("merchant.city", 17)),
    ("CAR-028", "object", "the city is an object", put("merchant.city", {"name": "Portland"})),
    ("CAR-029", "number", "the state is a number", put("merchant.state", 17)),
    ("CAR-029", "object", "the state is an object", put("merchant.state", {"code": "OR"})),
    ("CAR-030", "missing", "currencies have no decimals", _drop("decimals")),
    ("CAR-030", "other", "currencies have no decimal places", _put("decimals", 0)),
    ("CAR-031", "missing", "currencies have no name", _drop("name")),
    ("CAR-031", "code", "the name of the currency is its code", _put("name", "USD")),
    ("CAR-032", "missing", "currencies have no symbol", _drop("symbol")),
    ("CAR-032", "code", "the symbol of the currency is its code", _put("symbol", "USD")),
    ("CAR-034", "own", "a purchase points to itself", _as("originalTransactionId", "id")),
    ("CAR-036", "reason", "each has a reason", put("cardDeclinedReason", "OTHER")),
    ("CAR-040", "settled", "authorized is settled", _in("AUTHORIZED", put("status", "SETTLED"))),
    ("CAR-040", "void", "authorized is void", _in("AUTHORIZED", put("status", "VOIDED"))),
    (
        "CAR-041",
        "settled",
        "what is settled in part is settled",
        _in("PARTIALLY_SETTLED", put("status", "SETTLED")),
    ),
    (
        "CAR-042",
        "authorized",
        "what is settled in part is authorized",
        _in("PARTIALLY_SETTLED", put("status", "AUTHORIZED")),
    ),
    ("CAR-043", "word", "settled is called cleared", _in("SETTLED", put("status", "CLEARED"))),
    ("CAR-044", "more", "one unit more is shown as settled", _shifted("settledAmount", 1)),
    ("CAR-044", "less", "one unit less is shown as settled", _shifted("settledAmount", -1)),
    (
        "CAR-048",
        "settled",
        "a declined purchase shows its amount as settled",
        _in("DECLINED", _as("settledAmount", "authorizedAmount")),
    ),
    *(
        (
            _rule,
            "settled",
            "what came to nothing shows its amount as settled",
            _in("VOIDED", _as("settledAmount", "authorizedAmount")),
        )
        for _rule in ("CAR-053", "CAR-054")
    ),
    (
        "CAR-065",
        "settled",
        "what was settled counts as returned",
        _in("SETTLED", _as("refundedAmount", "settledAmount")),
    ),
    ("CAR-066", "less", "settledAmount is less what was returned", _less_refunds),
    (
        "CAR-068",
        "credit",
        "a purchase with a return is a credit",
        _where(lambda body: "refundedAmount" in body, put("direction", "CREDIT")),
    ),
    (
        "CAR-074",
        "missing",
        "a refund does not tell of its purchase",
        taken("originalTransactionId"),
    ),
    (
        "CAR-074",
        "card",
        "a refund points to the card",
        _where(_refund, _as("originalTransactionId", "cardId")),
    ),
)
for _id, _name, _statement, _edit in _SHOWN:
    declare(_id, _name, _statement, edited(_VIEW, _edit))

declare(
    "CAR-035",
    "reason",
    "each payment has a reason",
    edited(f"{_REFERENCE}.transactions:view", put("cardDeclinedReason", "OTHER")),
)


# --- States ---------------------------------------------------------------------------------

_LEADS: tuple[tuple[str, str, tuple[str, str], str], ...] = (
    ("CAR-043", "stays", ("AUTHORIZED", "CLEAR"), "AUTHORIZED"),
    ("CAR-049", "word", ("AUTHORIZED", "REVERSE"), "REVERSED"),
    ("CAR-049", "declined", ("AUTHORIZED", "REVERSE"), "DECLINED"),
    ("CAR-050", "word", ("AUTHORIZED", "LAPSE"), "EXPIRED"),
    ("CAR-050", "declined", ("AUTHORIZED", "LAPSE"), "DECLINED"),
    ("CAR-055", "settled", ("AUTHORIZED", "MISCLEAR"), "SETTLED"),
    ("CAR-055", "void", ("AUTHORIZED", "MISCLEAR"), "VOIDED"),
    ("CAR-060", "word", ("SETTLED", "RETURN"), "RETURNED"),
    ("CAR-060", "partly", ("SETTLED", "RETURN"), "PARTIALLY_SETTLED"),
    ("CAR-063", "word", ("SETTLED", "RETURN"), "RETURNED"),
    ("CAR-063", "void", ("SETTLED", "RETURN"), "VOIDED"),
    ("CAR-069", "word", ("SETTLED", "RETURN"), "REFUNDED"),
    ("CAR-079", "word", ("SETTLED", "RETURN"), "REFUNDED"),
    ("CAR-078", "word", ("SETTLED", "REFUND"), "REFUNDED"),
    ("CAR-089", "word", ("SETTLED", "REVERSE_RETURN"), "REFUNDED"),
    ("CAR-072", "word", ("SETTLED", "REFUND"), "REFUNDED"),
    ("CAR-072", "authorized", ("SETTLED", "REFUND"), "AUTHORIZED"),
)
for _id, _name, _move, _state in _LEADS:

    def _lead(patch: Patch, *, move: tuple[str, str] = _move, state: str = _state) -> None:
        patch.row(_MOVES, move, state)

    declare(_id, _name, f"{_move[1]} leads from {_move[0]} to {_state}", _lead)

for _id, _kind, _direction in (("CAR-033", "PURCHASE", "CREDIT"), ("CAR-071", "REFUND", "DEBIT")):

    def _direct(patch: Patch, *, kind: str = _kind, direction: str = _direction) -> None:
        patch.row(f"{_ROWS}:DIRECTIONS", kind, direction)

    declare(_id, "turned", f"the direction of a {_kind} is {_direction}", _direct)


@mutant("CAR-045", "a declined purchase is void")
def declined_as_void(patch: Patch) -> None:
    def wrapper(record: Function) -> Function:
        def recording(
            unit: Unit, card: Card, kind: str, status: str, *more: Any, **named: Any
        ) -> Any:
            return record(
                unit, card, kind, "VOIDED" if status == "DECLINED" else status, *more, **named
            )

        return recording

    patch.wrap(f"{_ROWS}:record", wrapper)


def _after_decline(target: str, patch: Patch) -> None:
    """Let a declined purchase move money to ``target`` all the same."""

    def wrapper(decline: Function) -> Function:
        def declined(unit: Unit, card: Card, amount: int, *more: Any) -> CardTransaction:
            row: CardTransaction = decline(unit, card, amount, *more)
            card_transactions.move(unit, row, "available", target, amount)
            return row

        return declined

    patch.wrap(f"{_SIMULATORS}:decline", wrapper)


declare("CAR-046", "held", "a declined purchase holds its amount", partial(_after_decline, "held"))
declare("CAR-047", "paid", "a declined purchase is paid", partial(_after_decline, "network"))


for _id in ("CAR-051", "CAR-052"):

    @mutant(_id, "what an authorization held is not given back")
    def never_released(patch: Patch) -> None:
        patch.replace(f"{_SIMULATORS}:release", lambda *_: None)


# --- Money ----------------------------------------------------------------------------------


@mutant("CAR-056", "purchases are not paid by the account")
def nothing_paid(patch: Patch) -> None:
    patch.replace(f"{_ROWS}:move", lambda *_: None)


@mutant("CAR-057", "a purchase takes a fee of which nothing is told")
def hidden_fee(patch: Patch) -> None:
    def wrapper(settle: Function) -> Function:
        def settling(unit: Unit, row: CardTransaction, amount: int) -> None:
            settle(unit, row, amount)
            card_transactions.move(unit, row, "available", "network", 1)

        return settling

    patch.wrap(f"{_SIMULATORS}:settle", wrapper)


@mutant("CAR-058", "a purchase takes a unit of each account in its currency")
def paid_by_all(patch: Patch) -> None:
    def wrapper(settle: Function) -> Function:
        def settling(unit: Unit, row: CardTransaction, amount: int) -> None:
            settle(unit, row, amount)
            others = unit.session.scalars(
                select(Book.id).where(
                    Book.currency == row.currency, Book.guarded.is_(True), Book.balance > 0
                )
            )
            legs = [ledger.Leg(name, row.currency, -1) for name in others]
            rail = ledger.Leg(ledger.system("rail", row.currency), row.currency, len(legs))
            ledger.post(unit, [*legs, rail])

        return settling

    patch.wrap(f"{_SIMULATORS}:settle", wrapper)


for _id in ("CAR-067", "CAR-076"):

    @mutant(_id, "what merchants give back is not credited")
    def not_credited(patch: Patch) -> None:
        def wrapper(move: Function) -> Function:
            def moving(unit: Unit, row: CardTransaction, origin: str, *more: Any) -> None:
                if origin != "network":
                    move(unit, row, origin, *more)

            return moving

        patch.wrap(f"{_ROWS}:move", wrapper)


# --- Returns --------------------------------------------------------------------------------

_SUMS: tuple[tuple[str, str, str, Callable[[CardTransaction, int], int]], ...] = (
    ("CAR-061", "lost", "a return is not noted", lambda row, _: row.refunded),
    ("CAR-061", "whole", "any return counts as one of the whole", lambda row, _: row.settled),
    ("CAR-062", "last", "the last return is noted alone", lambda _, amount: amount),
    ("CAR-062", "first", "the first return is noted alone", lambda row, n: row.refunded or n),
    (
        "CAR-064",
        "cleared",
        "a return of the whole is noted as nothing left",
        lambda row, n: (row.refunded + n) % row.settled,
    ),
)
for _id, _name, _statement, _sum in _SUMS:

    def _summing(patch: Patch, *, of: Callable[[CardTransaction, int], int] = _sum) -> None:
        patch.replace(f"{_SIMULATORS}:refunded_after", of)

    declare(_id, _name, _statement, _summing)


def _crediting(
    change: Callable[[Function, Unit, CardTransaction, str, int], CardTransaction],
) -> Callable[[Patch], None]:
    """Return the patch that puts down a merchant's payment back in another way."""
    return lambda patch: patch.wrap(
        f"{_SIMULATORS}:credit_row", lambda credit: partial(change, credit)
    )


def _on_the_purchase(
    _credit: Function, unit: Unit, purchase: CardTransaction, _state: str, amount: int
) -> CardTransaction:
    purchase.refunded += amount
    card_transactions.announce(unit, purchase)
    return purchase


def _with_all(
    credit: Function, unit: Unit, purchase: CardTransaction, state: str, _amount: int
) -> CardTransaction:
    row: CardTransaction = credit(unit, purchase, state, purchase.settled)
    return row


def _with_an_end(
    credit: Function, unit: Unit, purchase: CardTransaction, state: str, amount: int
) -> CardTransaction:
    row: CardTransaction = credit(unit, purchase, state, amount)
    card_transactions.reach(unit, purchase, "REFUNDED")
    return row


def _once(
    credit: Function, unit: Unit, purchase: CardTransaction, state: str, amount: int
) -> CardTransaction:
    query = select(CardTransaction).where(CardTransaction.original_id == purchase.id)
    row: CardTransaction | None = unit.session.scalar(query)
    if row is None:
        first: CardTransaction = credit(unit, purchase, state, amount)
        return first
    row.settled += amount
    return row


declare("CAR-070", "purchase", "it is noted on the purchase alone", _crediting(_on_the_purchase))
declare("CAR-073", "whole", "it shows what the purchase cost", _crediting(_with_all))
for _id in ("CAR-075", "CAR-078"):
    declare(_id, "purchase", "it makes the purchase one at REFUNDED", _crediting(_with_an_end))
declare("CAR-077", "one", "a second one is added to the first", _crediting(_once))


@mutant("CAR-080", "a return is reversed under the id of the purchase alone")
def reversed_by_purchase(patch: Patch) -> None:
    def purchase_of(_unit: Unit, row: CardTransaction) -> CardTransaction:
        if row.original_id is not None:
            raise errors.Refusal("CONFLICT", "Expected the id of a purchase.")
        return row

    patch.replace(f"{_SIMULATORS}:returned_purchase", purchase_of)


@mutant("CAR-081", "the reversal of a return does not ask whether anything was returned")
def nothing_to_reverse(patch: Patch) -> None:
    def purchase_of(unit: Unit, row: CardTransaction) -> CardTransaction:
        return card_transactions.find(unit, row.original_id or "") or row

    patch.replace(f"{_SIMULATORS}:returned_purchase", purchase_of)


@mutant("CAR-082", "the reversal of a return that does not exist is taken for done")
def reversed_unknown(patch: Patch) -> None:
    def wrapper(reverse: Function) -> Function:
        def reversing(unit: Unit, ask: Ask) -> Json:
            try:
                body: Json = reverse(unit, ask)
            except errors.Refusal as refusal:
                if refusal.code != "TRANSACTION_NOT_FOUND":
                    raise
                return {"transactionId": ask.body["transactionId"]}
            return body

        return reversing

    patch.wrap(f"{_SIMULATORS}:reverse_return", wrapper)


# --- Declines -------------------------------------------------------------------------------

_REASONS = {
    "CAR-100": ("INACTIVE", "BLOCKED"),
    "CAR-101": ("LIMITED", "INSUFFICIENT_FUNDS"),
    "CAR-102": ("UNDERFUNDED", "SPEND_LIMIT_EXCEEDED"),
    "CAR-103": ("UNSOURCED", "INSUFFICIENT_FUNDS"),
    "CAR-104": ("BLOCKED", "OTHER"),
    "CAR-105": ("FOREIGN", "BLOCKED"),
    "CAR-106": ("SUSPICIOUS", "BLOCKED"),
}
for _id, (_condition, _confused) in _REASONS.items():

    def _confusing(patch: Patch, *, row: str = _condition, reason: str = _confused) -> None:
        patch.row(_CONDITIONS, row, reason)

    declare(_id, "confused", f"{card_simulators.CONDITIONS[_condition]} is {_confused}", _confusing)
    declare(
        _id,
        "silent",
        "no reason is told",
        edited(_VIEW, _in("DECLINED", taken("cardDeclinedReason"))),
    )


# --- Webhooks -------------------------------------------------------------------------------

_UNTOLD = {
    "EVT-170": "AUTHORIZED",
    "EVT-171": "PARTIALLY_SETTLED",
    "EVT-172": "SETTLED",
    "EVT-173": "DECLINED",
    "EVT-174": "VOIDED",
    "EVT-175": "VOIDED",
    "EVT-176": "EXCEPTION",
}
for _id, _state in _UNTOLD.items():

    def _untold(patch: Patch, *, state: str = _state) -> None:
        patch.drop(_EVENTS, state)

    declare(_id, "missing", f"{_state} is not reported", _untold)

_MISNAMED = {
    "EVT-172": ("SETTLED", "CARD_TRANSACTION.CLEARED"),
    "EVT-173": ("DECLINED", "CARD_TRANSACTION.REJECTED"),
    "EVT-174": ("VOIDED", "CARD_TRANSACTION.REVERSED"),
    "EVT-175": ("VOIDED", "CARD_TRANSACTION.EXPIRED"),
}
for _id, (_state, _event) in _MISNAMED.items():

    def _misname(patch: Patch, *, state: str = _state, event: str = _event) -> None:
        patch.row(_EVENTS, state, event)

    declare(_id, "name", f"{_state} is reported as {_event}", _misname)


def _announcing(
    change: Callable[[Function, Unit, CardTransaction], None],
) -> Callable[[Patch], None]:
    """Return the patch that reports card transactions in another way."""
    return lambda patch: patch.wrap(f"{_ROWS}:announce", lambda announce: partial(change, announce))


def _silent_about_returns(announce: Function, unit: Unit, row: CardTransaction) -> None:
    if not row.refunded:
        announce(unit, row)


def _silent_about_refunds(announce: Function, unit: Unit, row: CardTransaction) -> None:
    if row.original_id is None:
        announce(unit, row)


def _on_its_purchase(announce: Function, unit: Unit, row: CardTransaction) -> None:
    purchase = card_transactions.find(unit, row.original_id) if row.original_id else None
    announce(unit, purchase or row)


def _also_refunded(announce: Function, unit: Unit, row: CardTransaction) -> None:
    announce(unit, row)
    if row.refunded or row.original_id:
        unit.emit(_REFUNDED, card_transactions.view(row))


def _refunded_instead(announce: Function, unit: Unit, row: CardTransaction) -> None:
    if row.refunded or row.original_id:
        unit.emit(_REFUNDED, card_transactions.view(row))
    else:
        announce(unit, row)


def _also_settled(status: str) -> Callable[[Function, Unit, CardTransaction], None]:
    def telling(announce: Function, unit: Unit, row: CardTransaction) -> None:
        announce(unit, row)
        if row.status == status:
            unit.emit("CARD_TRANSACTION.SETTLED", card_transactions.view(row))

    return telling


_ANNOUNCED: tuple[tuple[str, str, str, Callable[[Function, Unit, CardTransaction], None]], ...] = (
    ("EVT-177", "missing", "returns are not reported", _silent_about_returns),
    ("EVT-179", "missing", "returns on their own are not reported", _silent_about_refunds),
    ("EVT-179", "purchase", "returns on their own are told of the purchase", _on_its_purchase),
    ("EVT-180", "also", "a return is reported as refunded too", _also_refunded),
    ("EVT-180", "instead", "a return is reported as refunded", _refunded_instead),
    ("EVT-181", "also", "a return is reported as refunded too", _also_refunded),
    ("EVT-181", "instead", "a return is reported as refunded", _refunded_instead),
    ("EVT-182", "also", "a return on its own is reported as refunded too", _also_refunded),
    ("EVT-182", "instead", "a return on its own is reported as refunded", _refunded_instead),
    ("EVT-184", "also", "a declined purchase is reported as settled", _also_settled("DECLINED")),
    ("EVT-185", "also", "a void purchase is reported as settled", _also_settled("VOIDED")),
)
for _id, _name, _statement, _telling in _ANNOUNCED:
    declare(_id, _name, _statement, _announcing(_telling))


@mutant("EVT-178", "the first return alone is reported")
def second_return_untold(patch: Patch) -> None:
    told: set[str] = set()

    def telling(announce: Function, unit: Unit, row: CardTransaction) -> None:
        if row.id not in told:
            announce(unit, row)
        if row.refunded:
            told.add(row.id)

    _announcing(telling)(patch)


@mutant("EVT-183", "the reversal of a return is reported as refunded")
def reversal_as_refunded(patch: Patch) -> None:
    def wrapper(reverse: Function) -> Function:
        def reversing(unit: Unit, ask: Ask) -> Json:
            body: Json = reverse(unit, ask)
            row = card_transactions.find(unit, body["transactionId"])
            assert row is not None
            unit.emit(_REFUNDED, card_transactions.view(row))
            return body

        return reversing

    patch.wrap(f"{_SIMULATORS}:reverse_return", wrapper)


@mutant("EVT-186", "the balance after a purchase is not reported")
def balance_untold(patch: Patch) -> None:
    patch.replace(f"{_ROWS}:announce_balance", lambda *_: None)


def _balances_untold(condition: Callable[[CardTransaction], bool]) -> Callable[[Patch], None]:
    """Return the patch that reports no balance after card transactions of a condition."""

    def wrapper(announce: Function) -> Function:
        return lambda unit, row: None if condition(row) else announce(unit, row)

    return lambda patch: patch.wrap(f"{_ROWS}:announce_balance", wrapper)


declare(
    "EVT-190",
    "missing",
    "the balance after a return is not reported",
    _balances_untold(lambda row: row.original_id is not None),
)
declare(
    "EVT-191",
    "missing",
    "the balance after a reversal is not reported",
    _balances_untold(lambda row: row.status == "VOIDED"),
)


def _sent(change: Callable[[Json], Json]) -> Callable[[Patch], None]:
    """Return the patch that sends each webhook of cards changed."""

    def wrapper(emit: Function) -> Function:
        def emitting(unit: Unit, event_type: str, data: Json) -> None:
            emit(unit, event_type, data)
            if event_type.startswith("CARD_TRANSACTION."):
                unit.events[-1] = change(unit.events[-1])

        return emitting

    return lambda patch: patch.wrap(f"{_REFERENCE}.unit:Unit.emit", wrapper)


def _nameless(event: Json) -> Json:
    data = {"transactionId" if name == "id" else name: v for name, v in event["data"].items()}
    return {**event, "data": data}


_DELIVERED: tuple[tuple[str, str, str, Callable[[Json], Json]], ...] = (
    ("EVT-187", "list", "the data are a list", lambda e: {**e, "data": [e["data"]]}),
    ("EVT-187", "text", "the data are the id alone", lambda e: {**e, "data": e["data"]["id"]}),
    ("EVT-188", "missing", "the data have no id", _nameless),
    (
        "EVT-188",
        "card",
        "the data have the id of the card",
        lambda e: {**e, "data": {**e["data"], "id": e["data"]["cardId"], "of": e["data"]["id"]}},
    ),
    (
        "EVT-189",
        "same",
        "all webhooks about a transaction have one id",
        lambda e: {**e, "id": f"Webhook:{e['data']['id']}"},
    ),
)
for _id, _name, _statement, _delivered in _DELIVERED:
    declare(_id, _name, _statement, _sent(_delivered))
