"""Mutants of cards: issuing, lists, states, money, returns and declines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from sqlalchemy import select

from conformance.proof.kit.builders import Json, after, around, edited, instead, skipped
from conformance.proof.kit.edits import put, shows, where, without
from conformance.proof.kit.tables import with_row
from conformance.proof.mutant import declare, mutant
from conformance.proof.patch import Apply, Function, Patch
from conformance.reference import errors, rules
from conformance.reference.cards import card_simulators, card_transactions, cards
from conformance.reference.internal_accounts import accounts, ledger
from conformance.reference.store import Card, CardTransaction, Customer, InternalAccount
from conformance.reference.store import LedgerAccount as Book
from conformance.reference.transactions import transactions
from conformance.reference.unit import Ask, Unit

Condition = Callable[[Json], bool]


# --- Who is issued a card -------------------------------------------------------------------


@mutant("CAR-001", "businesses alone are issued cards", (cards, "refuse_unapproved"), instead)
def for_businesses(cardholder: Customer) -> None:
    if cardholder.customer_type == "INDIVIDUAL":
        raise errors.Refusal("CONFLICT", "Cards are for businesses.")


@mutant("CAR-002", "cards are issued before an approval")
def issued_unapproved(patch: Patch) -> None:
    patch.replace(cards, "refuse_unapproved", lambda _: None)


for _status in ("UNVERIFIED", "PENDING", "REJECTED"):
    declare(
        "CAR-002",
        _status.lower(),
        f"cards are issued to who is {_status}",
        skipped(
            cards,
            "refuse_unapproved",
            lambda cardholder, *, status=_status: cardholder.status == status,
        ),
    )

for _name, _id in {"bare": "8d0cf2a4-0000-4000-8000-000000000000", "other": "DebitCard:1"}.items():
    declare("CAR-003", _name, f"the id of a card is {_id}", edited(cards, "view", put("id", _id)))


@mutant(
    "CAR-004",
    "an account that can fund a card by its own words cannot",
    (cards, "refuse_unfit"),
    instead,
)
def unfit(_account: InternalAccount) -> None:
    raise errors.Refusal("CONFLICT", "The account cannot fund a card.")


@mutant("CAR-005", "an account that funds a card does not say any more that it could")
def spent_capability(patch: Patch) -> None:
    funding: set[str] = set()

    def issued(issue: Function, unit: Unit, ask: Ask) -> Json:
        body: Json = issue(unit, ask)
        funding.add(body["fundingSource"])
        return body

    def shown(view: Function, account: InternalAccount, *funds: int) -> Json:
        body: Json = view(account, *funds)
        if account.id in funding:
            body.pop("cardFundingCapabilities", None)
        return body

    patch.wrap(cards, "issue", issued)
    patch.wrap(accounts, "_view", shown)


# --- The list -------------------------------------------------------------------------------


def _filtering(change: Callable[[Json], Json | None]) -> Apply:
    """Return the patch that reads the filters of card transactions changed; ``None``: no rows."""

    def rows(filtered: Function, query: Json) -> Any:
        changed = change(dict(query))
        return None if changed is None else filtered(changed)

    return around(transactions, "made_with_cards", rows)


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


def _tolerating(condition: Callable[[Json], bool]) -> Apply:
    """Return the patch that lets a status be asked of card transactions under a condition."""
    return around(
        transactions,
        "refuse_status_of_cards",
        lambda refuse, query: None if condition(query) else refuse(query),
    )


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
    declare(
        _id,
        _name,
        f"{_move[1]} leads from {_move[0]} to {_state}",
        with_row(card_transactions, "TRANSITIONS", _move, _state),
    )

for _id, _kind, _direction in (("CAR-033", "PURCHASE", "CREDIT"), ("CAR-071", "REFUND", "DEBIT")):
    declare(
        _id,
        "turned",
        f"the direction of a {_kind} is {_direction}",
        with_row(card_transactions, "DIRECTIONS", _kind, _direction),
    )


@mutant("CAR-045", "a declined purchase is void", (card_transactions, "record"))
def declined_as_void(
    record: Function, unit: Unit, card: Card, kind: str, status: str, *more: Any, **named: Any
) -> Any:
    return record(unit, card, kind, "VOIDED" if status == "DECLINED" else status, *more, **named)


def _after_decline(target: str) -> Apply:
    """Let a declined purchase move money to ``target`` all the same."""

    def declined(
        decline: Function, unit: Unit, card: Card, amount: int, *more: Any
    ) -> CardTransaction:
        row: CardTransaction = decline(unit, card, amount, *more)
        card_transactions.move(unit, row, "available", target, amount)
        return row

    return around(card_simulators, "decline", declined)


declare("CAR-046", "held", "a declined purchase holds its amount", _after_decline("held"))
declare("CAR-047", "paid", "a declined purchase is paid", _after_decline("network"))


def _after_decline_for(reason: str, target: str) -> Apply:
    """Let a unit of a purchase that is declined for a reason go to ``target`` all the same."""

    def declined(
        decline: Function, unit: Unit, card: Card, amount: int, *more: Any
    ) -> CardTransaction:
        row: CardTransaction = decline(unit, card, amount, *more)
        if row.decline_reason == reason:
            card_transactions.move(unit, row, "available", target, 1)
        return row

    return around(card_simulators, "decline", declined)


for _reason in ("SPEND_LIMIT_EXCEEDED", "INSUFFICIENT_FUNDS", "BLOCKED"):
    for _id, _target in {"CAR-046": "held", "CAR-047": "network"}.items():
        declare(
            _id,
            _reason.lower().replace("_", "-"),
            f"money goes where a purchase is declined for {_reason}",
            _after_decline_for(_reason, _target),
        )


for _id in ("CAR-051", "CAR-052"):

    @mutant(_id, "what an authorization held is not given back")
    def never_released(patch: Patch) -> None:
        patch.replace(card_simulators, "release", lambda *_: None)


for _id in ("CAR-109", "CAR-110"):

    @mutant(
        _id,
        "what an authorization held is given back, and counted as held all the same",
        (card_simulators, "release"),
        instead,
    )
    def counted_twice(unit: Unit, row: CardTransaction) -> None:
        card_transactions.move(unit, row, "network", "available", row.held)
        row.held = 0


def _showing(status: str, member: str) -> Apply:
    """Return the patch by which a purchase at a status shows its price as one of its amounts."""

    def view(original: Function, row: CardTransaction) -> Json:
        body: Json = original(row)
        if row.status != status:
            return body
        return {**body, member: card_transactions.amount_view(row.authorized, row.currency)}

    return around(card_transactions, "view", view)


for _id, _status, _member in (
    ("CAR-872", "AUTHORIZED", "settledAmount"),
    ("CAR-873", "PARTIALLY_SETTLED", "settledAmount"),
    ("CAR-874", "VOIDED", "refundedAmount"),
):
    declare(
        _id,
        "price",
        f"{_member} of what is {_status} is the price",
        _showing(_status, _member),
    )


# --- Money ----------------------------------------------------------------------------------


@mutant(
    "CAR-108", "the part that was cleared last is told alone", (card_simulators, "settle"), after
)
def last_part(_unit: Unit, row: CardTransaction, amount: int) -> None:
    row.settled = amount


@mutant("CAR-056", "purchases are not paid by the account")
def nothing_paid(patch: Patch) -> None:
    patch.replace(card_transactions, "move", lambda *_: None)


@mutant(
    "CAR-057", "a purchase takes a fee of which nothing is told", (card_simulators, "settle"), after
)
def hidden_fee(unit: Unit, row: CardTransaction, amount: int) -> None:
    card_transactions.move(unit, row, "available", "network", 1)


@mutant(
    "CAR-058",
    "a purchase takes a unit of each account in its currency",
    (card_simulators, "settle"),
    after,
)
def paid_by_all(unit: Unit, row: CardTransaction, amount: int) -> None:
    unit.session.flush()
    others = unit.session.scalars(
        select(Book.id).where(
            Book.currency == row.currency, Book.guarded.is_(True), Book.balance > 0
        )
    )
    legs = [ledger.Leg(name, row.currency, -1) for name in others]
    rail = ledger.Leg(ledger.system("rail", row.currency), row.currency, len(legs))
    ledger.post(unit, [*legs, rail])


def _other_account_too(origin: str, target: str, sign: int) -> Apply:
    """Return the patch by which another account of the customer has a part in a movement."""

    def moved(unit: Unit, row: CardTransaction, came: str, went: str, _amount: int) -> None:
        unit.session.flush()
        query = select(InternalAccount).where(
            InternalAccount.customer_id == row.customer_id,
            InternalAccount.currency != row.currency,
            InternalAccount.type == "INTERNAL_FIAT",
        )
        other = unit.session.scalars(query).first()
        if (came, went) == (origin, target) and other is not None:
            ledger.post(
                unit,
                [
                    ledger.Leg(ledger.available(other.id), other.currency, sign),
                    ledger.Leg(ledger.system("rail", other.currency), other.currency, -sign),
                ],
            )

    return after(card_transactions, "move", moved)


declare(
    "CAR-058",
    "own",
    "a purchase takes a unit of another account of the customer",
    _other_account_too("held", "network", -1),
)
declare(
    "CAR-875",
    "own",
    "another account of the customer has a part in what is returned",
    _other_account_too("network", "available", 1),
)


@mutant(
    "CAR-057",
    "what a purchase costs still counts in the totalBalance",
    (card_transactions, "move"),
    skipped,
)
def still_counted(_unit: Unit, _row: CardTransaction, origin: str, target: str, _n: int) -> bool:
    return (origin, target) == ("held", "network")


@mutant(
    "CAR-057",
    "the last part of a purchase costs a unit more",
    (card_simulators, "settle"),
    after,
)
def dearer_in_parts(unit: Unit, row: CardTransaction, amount: int) -> None:
    if row.settled > amount:
        card_transactions.move(unit, row, "available", "network", 1)


for _id in ("CAR-067", "CAR-111"):

    @mutant(_id, "what merchants give back is credited twice", (card_transactions, "move"))
    def credited_twice(
        move: Function, unit: Unit, row: CardTransaction, origin: str, target: str, amount: int
    ) -> None:
        move(unit, row, origin, target, amount * 2 if origin == "network" else amount)


for _id in ("CAR-067", "CAR-076"):

    @mutant(_id, "what merchants give back is not credited", (card_transactions, "move"), skipped)
    def not_credited(unit: Unit, row: CardTransaction, origin: str, *more: Any) -> bool:
        return origin == "network"


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
    declare(_id, _name, _statement, instead(card_simulators, "refunded_after", _sum))


@mutant("CAR-064", "of a purchase that was cleared in parts the last one alone can be returned")
def last_part_returned(patch: Patch) -> None:
    parts: dict[str, int] = {}

    def settle(original: Function, unit: Unit, row: CardTransaction, amount: int) -> None:
        original(unit, row, amount)
        parts[row.id] = amount

    def after_return(original: Callable[..., int], row: CardTransaction, amount: int) -> int:
        return min(original(row, amount), parts[row.id])

    patch.wrap(card_simulators, "settle", settle)
    patch.wrap(card_simulators, "refunded_after", after_return)


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


def _with_those_before(
    credit: Function, unit: Unit, purchase: CardTransaction, state: str, amount: int
) -> CardTransaction:
    unit.session.flush()
    query = select(CardTransaction.settled).where(CardTransaction.original_id == purchase.id)
    row: CardTransaction = credit(unit, purchase, state, amount + sum(unit.session.scalars(query)))
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


@mutant(
    "CAR-061",
    "a return is noted on the later purchases with the card too",
    (card_simulators, "return_purchase"),
    after,
)
def noted_on_all(unit: Unit, ask: Ask) -> None:
    unit.session.flush()
    query = select(CardTransaction).where(
        CardTransaction.card_id == ask.params["id"],
        CardTransaction.status == "SETTLED",
        CardTransaction.id != ask.body["transactionId"],
    )
    for row in unit.session.scalars(query):
        row.refunded += ask.body["amount"]


def _on_purchase(change: Callable[[CardTransaction, int], None]) -> Apply:
    """Return the patch by which a return on its own changes the purchase that it is of."""

    def refund(unit: Unit, ask: Ask) -> None:
        row = card_transactions.find(unit, ask.body["transactionId"])
        assert row is not None
        change(row, ask.body["amount"])

    return after(card_simulators, "refund", refund)


def _settle_less(row: CardTransaction, amount: int) -> None:
    row.settled -= amount


def _point_to_itself(row: CardTransaction, _amount: int) -> None:
    row.original_id = row.id


declare(
    "CAR-066",
    "standalone",
    "settledAmount is less what was returned in a payment of its own",
    _on_purchase(_settle_less),
)
declare(
    "CAR-034",
    "standalone",
    "a purchase that was returned in a payment of its own points to itself",
    _on_purchase(_point_to_itself),
)


def _pointing_to(place: int) -> Apply:
    """Return the patch by which a return is of the purchase at a place in time on its card."""

    def refund(original: Function, unit: Unit, ask: Ask) -> Json:
        query = (
            select(CardTransaction.id)
            .where(CardTransaction.card_id == ask.params["id"])
            .order_by(CardTransaction.created_at)
        )
        purchases = unit.session.scalars(query).all()
        body: Json = original(unit, ask)
        unit.session.flush()
        row = card_transactions.find(unit, body["transactionId"])
        if row is not None:
            row.original_id = purchases[place]
        return body

    return around(card_simulators, "refund", refund)


for _name, _place in (("first", 0), ("last", -1)):
    declare(
        "CAR-074",
        _name,
        f"a refund points to the {_name} purchase with the card",
        _pointing_to(_place),
    )


def _after_earlier_ones(refund: Function, unit: Unit, ask: Ask) -> Json:
    earlier = (
        select(CardTransaction.id)
        .where(CardTransaction.original_id == ask.body["transactionId"])
        .order_by(CardTransaction.created_at.desc())
    )
    before = unit.session.scalars(earlier).first()
    body: Json = refund(unit, ask)
    unit.session.flush()
    row = card_transactions.find(unit, body["transactionId"])
    if row is not None and before is not None:
        row.original_id = before
    return body


declare(
    "CAR-074",
    "chained",
    "a second refund points to the first one",
    around(card_simulators, "refund", _after_earlier_ones),
)


declare(
    "CAR-070",
    "purchase",
    "it is noted on the purchase alone",
    around(card_simulators, "credit_row", _on_the_purchase),
)
declare(
    "CAR-073",
    "whole",
    "it shows what the purchase cost",
    around(card_simulators, "credit_row", _with_all),
)
declare(
    "CAR-073",
    "sum",
    "it shows what was returned before it too",
    around(card_simulators, "credit_row", _with_those_before),
)


def _with_an_end_of_the_whole(
    credit: Function, unit: Unit, purchase: CardTransaction, state: str, amount: int
) -> CardTransaction:
    row: CardTransaction = credit(unit, purchase, state, amount)
    if amount == purchase.settled:
        card_transactions.reach(unit, purchase, "REFUNDED")
    return row


def _with_an_end_of_the_parts(
    credit: Function, unit: Unit, purchase: CardTransaction, state: str, amount: int
) -> CardTransaction:
    row: CardTransaction = credit(unit, purchase, state, amount)
    unit.session.flush()
    query = select(CardTransaction.settled).where(CardTransaction.original_id == purchase.id)
    parts = unit.session.scalars(query).all()
    if len(parts) > 1 and sum(parts) == purchase.settled:
        card_transactions.reach(unit, purchase, "RETURNED")
    return row


declare(
    "CAR-075",
    "parts",
    "those of the whole together make the purchase one at RETURNED",
    around(card_simulators, "credit_row", _with_an_end_of_the_parts),
)
for _id in ("CAR-075", "CAR-078"):
    declare(
        _id,
        "whole",
        "one of the whole makes the purchase one at REFUNDED",
        around(card_simulators, "credit_row", _with_an_end_of_the_whole),
    )


@mutant(
    "CAR-063", "the last of several returns ends a purchase", (card_simulators, "return_purchase")
)
def ended_by_parts(original: Function, unit: Unit, ask: Ask) -> Json:
    body: Json = original(unit, ask)
    row = card_transactions.find(unit, ask.body["transactionId"])
    if row is not None and ask.body["amount"] < row.refunded == row.settled:
        card_transactions.reach(unit, row, "VOIDED")
    return body


for _id in ("CAR-075", "CAR-078"):
    declare(
        _id,
        "purchase",
        "it makes the purchase one at REFUNDED",
        around(card_simulators, "credit_row", _with_an_end),
    )

declare(
    "CAR-077",
    "one",
    "a second one is added to the first",
    around(card_simulators, "credit_row", _once),
)


@mutant(
    "CAR-080",
    "a return is reversed under the id of the purchase alone",
    (card_simulators, "returned_purchase"),
    instead,
)
def reversed_by_purchase(_unit: Unit, row: CardTransaction) -> CardTransaction:
    if row.original_id is not None:
        raise errors.Refusal("CONFLICT", "Expected the id of a purchase.")
    return row


@mutant(
    "CAR-081",
    "the reversal of a return does not ask whether anything was returned",
    (card_simulators, "returned_purchase"),
    instead,
)
def nothing_to_reverse(unit: Unit, row: CardTransaction) -> CardTransaction:
    return card_transactions.find(unit, row.original_id or "") or row


@mutant(
    "CAR-061",
    "the reversal of a return takes the other returns with it",
    (card_simulators, "reverse_return"),
    after,
)
def all_reversed(unit: Unit, ask: Ask) -> None:
    row = card_transactions.find(unit, ask.body["transactionId"])
    purchase = card_transactions.find(unit, row.original_id or "") if row else None
    if purchase is not None:
        purchase.refunded = 0


@mutant(
    "CAR-061",
    "the reversal of a return takes that of the newest purchase",
    (card_simulators, "returned_purchase"),
)
def newest_reversed(original: Function, unit: Unit, row: CardTransaction) -> CardTransaction:
    original(unit, row)
    query = (
        select(CardTransaction)
        .where(CardTransaction.card_id == row.card_id, CardTransaction.refunded > 0)
        .order_by(CardTransaction.created_at.desc())
    )
    newest: CardTransaction = unit.session.scalars(query).first() or row
    return newest


@mutant("CAR-081", "a return that was reversed is reversed once more")
def reversed_again(patch: Patch) -> None:
    done: set[str] = set()

    def purchase_of(original: Function, unit: Unit, row: CardTransaction) -> CardTransaction:
        purchase = card_transactions.find(unit, row.original_id or "")
        if purchase is not None and row.id in done:
            return purchase
        done.add(row.id)
        found: CardTransaction = original(unit, row)
        return found

    patch.wrap(card_simulators, "returned_purchase", purchase_of)


@mutant(
    "CAR-082",
    "the reversal of a return that does not exist is taken for done",
    (card_simulators, "reverse_return"),
)
def reversed_unknown(reverse: Function, unit: Unit, ask: Ask) -> Json:
    try:
        body: Json = reverse(unit, ask)
    except errors.Refusal as refusal:
        if refusal.code != "TRANSACTION_NOT_FOUND":
            raise
        return {"transactionId": ask.body["transactionId"]}
    return body


@mutant(
    "CAR-876",
    "whose card a return that is reversed was made with is not looked at",
    (card_simulators, "reverse_return"),
)
def reversed_of_any_card(reverse: Function, unit: Unit, ask: Ask) -> Json:
    row = card_transactions.find(unit, str(ask.body.get("transactionId")))
    params = ask.params if row is None else {**ask.params, "id": row.card_id}
    body: Json = reverse(unit, replace(ask, params=params))
    return body


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


@mutant("CAR-102", "what is held for a purchase can be spent by another one")
def spent_twice(patch: Patch) -> None:
    def obstacle(
        original: Callable[..., str | None],
        unit: Unit,
        card: Card,
        amount: int,
        condition: str | None,
    ) -> str | None:
        found = original(unit, card, amount, condition)
        _, total = ledger.balances(unit, [card.account_id])[card.account_id]
        return None if found == "UNDERFUNDED" and amount <= total else found

    def move(
        original: Function, unit: Unit, row: CardTransaction, origin: str, target: str, amount: int
    ) -> None:
        available, _ = ledger.balances(unit, [row.account_id])[row.account_id]
        original(
            unit, row, origin, target, min(amount, available) if origin == "available" else amount
        )

    patch.wrap(card_simulators, "obstacle_of", obstacle)
    patch.wrap(card_transactions, "move", move)


@mutant(
    "CAR-107",
    "an account cannot be spent as a whole",
    (card_simulators, "obstacle_of"),
    around,
)
def never_empty(
    original: Callable[..., str | None], unit: Unit, card: Card, amount: int, condition: str | None
) -> str | None:
    return original(unit, card, amount + 1, condition)


declare(
    "CAR-107",
    "held-is-available",
    "what is held is shown in the balance",
    instead(accounts, "spendable", lambda available, held: available + held),
)


for _id, (_condition, _confused) in _REASONS.items():
    declare(
        _id,
        "confused",
        f"{card_simulators.CONDITIONS[_condition]} is {_confused}",
        with_row(card_simulators, "CONDITIONS", _condition, _confused),
    )
    declare(
        _id,
        "silent",
        "no reason is told",
        edited(
            card_transactions,
            "view",
            where(shows("status", "DECLINED"), without("cardDeclinedReason")),
        ),
    )


def _cards(change: Callable[[dict[str, str]], dict[str, str] | None]) -> Apply:
    """List card transactions by another query where a card and the type are given."""

    def found(made_with_cards: Function, query: dict[str, str]) -> Any:
        if query.get("type") != "CARD" or "cardId" not in query:
            return made_with_cards(query)
        changed = change(query)
        return None if changed is None else made_with_cards(changed)

    return around(transactions, "made_with_cards", found)


declare(
    "CAR-800",
    "empty",
    "a card and the type CARD find nothing together",
    _cards(lambda _query: None),
)
declare(
    "CAR-801",
    "type-alone",
    "the card is passed over where the type is given",
    _cards(lambda query: {k: v for k, v in query.items() if k != "cardId"}),
)


def _rows_filtered(change: Callable[[Any, Json], Any]) -> Apply:
    """Return the patch that narrows or widens the rows of a list of card transactions."""

    def found(filtered: Function, query: Json) -> Any:
        rows = filtered(query)
        return rows if rows is None else change(rows, query)

    return around(card_transactions, "filtered", found)


declare(
    "CAR-800",
    "purchases",
    "a card and the type CARD find purchases alone",
    _rows_filtered(
        lambda rows, query: (
            rows.where(CardTransaction.original_id.is_(None))
            if "cardId" in query and query.get("type") == "CARD"
            else rows
        )
    ),
)


def _leaving_out(name: str, is_left_out: Any) -> Apply:
    """Return the patch by which one of the filters cardId and type, alone, leaves rows out."""

    def narrowed(rows: Any, query: Json) -> Any:
        alone = len({"cardId", "type"} & set(query)) == 1
        return rows.where(~is_left_out) if alone and name in query else rows

    return _rows_filtered(narrowed)


for _id, _filter in {"CAR-010": "cardId", "CAR-012": "type"}.items():
    for _state in ("DECLINED", "VOIDED", "PARTIALLY_SETTLED", "SETTLED", "EXCEPTION"):
        declare(
            _id,
            f"without-{_state.lower().replace('_', '-')}",
            f"the filter {_filter} leaves out what is {_state}",
            _leaving_out(_filter, CardTransaction.status == _state),
        )


declare(
    "CAR-017",
    "of-a-card",
    "the filter type is ignored where a card is named",
    _filtering(lambda query: _without("type", query) if "cardId" in query else query),
)


@mutant(
    "CAR-017",
    "what is returned is listed among incoming payments",
    (transactions, "made_with_cards"),
)
def returns_as_incoming(made: Function, query: Json) -> Any:
    if query.get("type") != "INCOMING":
        return made(query)
    rows = made(_without("type", query))
    return None if rows is None else rows.where(CardTransaction.original_id.is_not(None))


for _id, _filter in {"CAR-870": "cardId", "CAR-871": "type"}.items():
    declare(
        _id,
        "purchases",
        f"the filter {_filter} lists purchases alone",
        _leaving_out(_filter, CardTransaction.original_id.is_not(None)),
    )


for _id in ("CAR-013", "CAR-014", "CAR-801"):

    @mutant(_id, "a card finds what its account has paid", (card_transactions, "filtered"))
    def of_the_account(filtered: Function, query: Json) -> Any:
        if "cardId" not in query:
            return filtered(query)
        rows = filtered({name: value for name, value in query.items() if name != "cardId"})
        of_card = select(Card.account_id).where(Card.id == query["cardId"])
        return None if rows is None else rows.where(CardTransaction.account_id.in_(of_card))


declare(
    "CAR-013",
    "later-page",
    "the filter cardId is forgotten on the second page",
    around(
        transactions,
        "list_all",
        lambda original, unit, ask: original(
            unit,
            replace(ask, query=_without("cardId", ask.query)) if "cursor" in ask.query else ask,
        ),
    ),
)


def _payments_too(is_card_filter: Callable[[str, str], bool]) -> Apply:
    """Return the patch by which payments are listed as if a filter for cards were not there."""

    def found(filtered: Function, query: Json) -> Any:
        return filtered({k: v for k, v in query.items() if not is_card_filter(k, v)})

    return around(transactions, "filtered", found)


declare(
    "CAR-112",
    "payments",
    "the type CARD lists payments too",
    _payments_too(lambda name, value: (name, value) == ("type", "CARD")),
)
declare(
    "CAR-113",
    "payments",
    "a cardId lists payments too",
    _payments_too(lambda name, _value: name == "cardId"),
)
