"""Mutants of executions: debits, funds, expiry, execution at creation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from sqlalchemy import select

from conformance.proof.kit.builders import (
    Handler,
    Json,
    after,
    around,
    before,
    edited,
    rescued,
    skipped,
)
from conformance.proof.kit.tables import answers, with_columns, with_row
from conformance.proof.mutant import declare, mutant
from conformance.proof.mutants.quotes.toolkit import (
    balance_of,
    change_body,
    counts_one_short,
    debit_though_refused,
    nobody_counts,
    take,
    under_way,
)
from conformance.proof.patch import Apply, Function, Patch
from conformance.reference import errors, routes, rules
from conformance.reference.internal_accounts import accounts, ledger
from conformance.reference.quotes import quotes
from conformance.reference.rules import Move, Refuse
from conformance.reference.service import Service
from conformance.reference.store import Quote, Transaction
from conformance.reference.transactions import settlement, transactions
from conformance.reference.unit import Ask, Unit, new_id

# --- Execution ------------------------------------------------------------------------------


ANSWERED: tuple[tuple[str, str, str, Callable[[Json], Json]], ...] = (
    ("QUO-080", "execute", "the quote as it was before", lambda q: {**q, "status": "PENDING"}),
    ("QUO-080", "execute", "a status of its own", lambda q: {**q, "status": "SUBMITTED"}),
    ("QUO-084", "execute", "another quote", lambda q: {**q, "id": new_id("Quote")}),
    (
        "QUO-085",
        "execute",
        "another transaction",
        lambda q: {**q, "transactionId": new_id("Transaction")},
    ),
    ("QUO-120", "create", "the quote as it was before", lambda q: {**q, "status": "PENDING"}),
)
"""Requirement, function of the quotes and what it answers with."""

for _requirement, _function, _statement, _change in ANSWERED:
    declare(
        _requirement,
        f"{_function}-answers-with-{_statement.replace(' ', '-')}",
        f"{_function} answers with {_statement}",
        edited(quotes, _function, _change),
    )


def refuse_execution(fits: Callable[[Quote], bool]) -> Apply:
    """Return a patch by which quotes of one kind are never covered."""
    return around(
        quotes, "has_funds", lambda original, unit, quote: not fits(quote) and original(unit, quote)
    )


declare(
    "QUO-081",
    "needs-both-currencies",
    "a cross-currency quote is only covered by funds in both currencies",
    refuse_execution(lambda quote: quote.sending_currency != quote.receiving_currency),
)


@mutant("QUO-081", "what is received has to be covered by the number of the balance")
def received_is_covered(patch: Patch) -> None:
    received: set[str] = set()

    def draft(original: Function, unit: Unit, order: quotes.Order) -> Quote:
        quote: Quote = original(unit, order)
        if order.side == "RECEIVING" and quote.source_kind == "INTERNAL":
            received.add(quote.id)
        return quote

    def execute(unit: Unit, ask: Ask) -> None:
        quote = quotes.get(unit, ask.params["quoteId"])
        if quote.id in received and balance_of(unit, quote) < quote.receiving_amount:
            raise quotes.insufficient_funds()

    patch.wrap(quotes, "draft", draft)
    before(quotes, "execute", execute)(patch)


declare(
    "QUO-082",
    "pulls-nothing",
    "a source that is pulled from has to hold a balance",
    refuse_execution(lambda quote: quote.source_kind == "EXTERNAL"),
)
declare(
    "QUO-123",
    "pulls-nothing-at-once",
    "a source that is pulled from has to hold a balance",
    refuse_execution(lambda quote: quote.source_kind == "EXTERNAL"),
)


@mutant(
    "QUO-082",
    "a quote whose source is pulled from stays pending until the pull is through",
    (quotes, "perform"),
    skipped,
)
def waits_for_the_pull(unit: Unit, quote: Quote, action: rules.Action) -> bool:
    return quote.source_kind == "EXTERNAL"


declare(
    "QUO-083",
    "execute-with-a-body",
    "execute wants a body",
    with_columns(routes, "OPERATIONS", "executeQuote", body=True),
)


@mutant("QUO-086", "only what arrives is debited")
def debit_without_fees(patch: Patch) -> None:
    patch.replace(quotes, "debit_total", lambda quote: quote.receiving_amount)


@mutant("QUO-086", "the source is debited only once the payout is completed")
def debit_at_completion(patch: Patch) -> None:
    def debit_legs(original: Callable[..., list[ledger.Leg]], quote: Quote) -> list[ledger.Leg]:
        first, *others = original(quote)
        return [replace(first, account=ledger.system("rail", quote.sending_currency)), *others]

    def completion_legs(
        original: Callable[..., list[ledger.Leg]], quote: Quote
    ) -> list[ledger.Leg]:
        amount, currency = quote.sending_amount, quote.sending_currency
        return [
            *original(quote),
            ledger.Leg(ledger.available(quote.source["accountId"]), currency, -amount),
            ledger.Leg(ledger.system("rail", currency), currency, amount),
        ]

    patch.wrap(quotes, "debit_legs", debit_legs)
    patch.wrap(settlement, "completion_legs", completion_legs)


@mutant("QUO-087", "what a completed payout held is never let go", (settlement, "completion_legs"))
def held_for_ever(original: Callable[..., list[ledger.Leg]], quote: Quote) -> list[ledger.Leg]:
    first, *others = original(quote)
    transit = ledger.system("transit", quote.sending_currency)
    return [replace(first, account=transit), *others]


@mutant(
    "QUO-088", "the fee is taken once more when a payout completes", (settlement, "complete"), after
)
def fee_taken_twice(unit: Unit, quote: Quote, transaction: Transaction) -> None:
    take(unit, quote.source["accountId"], quote.variable_fee)


@mutant("QUO-089", "what arrives is held for ever")
def arrives_held(patch: Patch) -> None:
    patch.replace(
        settlement,
        "target_account",
        lambda quote: (
            ledger.held(quote.destination["accountId"])
            if quote.destination_kind == "INTERNAL"
            else ledger.system("rail", quote.receiving_currency)
        ),
    )


@mutant("QUO-089", "what is paid just in time leaves the service", (settlement, "target_account"))
def realtime_leaves(original: Callable[..., str], quote: Quote) -> str:
    if quote.source_kind == "REALTIME":
        return ledger.system("rail", quote.receiving_currency)
    return original(quote)


declare(
    "QUO-110",
    "pulled",
    "a quote that pulls its money does not expire",
    around(
        quotes,
        "is_expired",
        lambda original, quote, now: quote.source_kind != "EXTERNAL" and original(quote, now),
    ),
)


@mutant("QUO-092", "a call executes again what was executed as it was created", (quotes, "execute"))
def immediate_executed_again(original: Handler, unit: Unit, ask: Ask) -> Any:
    quote = quotes.get(unit, ask.params["quoteId"])
    if transactions.get(unit, quote.transaction_id).executed_at != quote.created_at:
        return original(unit, ask)
    ledger.post(unit, quotes.debit_legs(quote))
    return quotes.view(unit, quote)


@mutant("QUO-098", "what was proved is paid from an empty account too")
def proof_covers(patch: Patch) -> None:
    proven: list[bool] = []

    def perform(original: Callable[..., None], unit: Unit, quote: Quote, action: str) -> None:
        proven.append(action == "AUTHORIZE")
        try:
            original(unit, quote, action)
            unit.session.flush()
        finally:
            proven.pop()

    patch.wrap(quotes, "perform", perform)
    patch.wrap(ledger, "is_overdrawn", lambda original, row: not any(proven) and original(row))


@mutant("QUO-089", "the receiver pays the fee as well", (settlement, "completion_legs"))
def arrives_less(original: Callable[..., list[ledger.Leg]], quote: Quote) -> list[ledger.Leg]:
    *others, last = original(quote)
    fee = quote.variable_fee
    profit = ledger.Leg(ledger.system("fees", last.currency), last.currency, fee)
    return [*others, replace(last, amount=last.amount - fee), profit]


@mutant("QUO-090", "fees are left out of feesIncluded")
def hidden_fees(patch: Patch) -> None:
    patch.replace(quotes, "fees_included", lambda quote: 0)


for _requirement, _state in (
    ("QUO-092", "PROCESSING"),
    ("QUO-092", "FAILED"),
    ("QUO-093", "COMPLETED"),
    ("QUO-111", "EXPIRED"),
):
    declare(
        _requirement,
        f"{_state}-executes",
        f"a quote at {_state} can be executed",
        with_row(rules, "QUOTE_TRANSITIONS", (_state, "EXECUTE"), Move("PROCESSING")),
    )


# --- Funds ----------------------------------------------------------------------------------


declare("QUO-098", "nobody-counts", "the balance is not looked at", nobody_counts)
declare("QUO-098", "counts-one-short", "a balance one unit short is enough", counts_one_short)


def _under_way_uncovered(
    refusal: errors.Refusal, service: Service, handler: Handler, ask: Ask
) -> None:
    if handler is quotes.execute:
        with service.unit() as unit:
            quote = quotes.get(unit, ask.params["quoteId"])
            transactions.get(unit, quote.transaction_id).status = "PROCESSING"
    raise refusal


declare(
    "QUO-098",
    "transaction-alone",
    "the transaction of a quote that its source does not cover is under way",
    rescued(Service, "answer", _under_way_uncovered, "INSUFFICIENT_FUNDS"),
)


@mutant("QUO-100", "something of the balance has to be left")
def never_the_last_cent(patch: Patch) -> None:
    patch.replace(
        quotes,
        "has_funds",
        lambda unit, quote: balance_of(unit, quote) > quotes.debit_total(quote),
    )


@mutant("QUO-100", "the fees have to be there on top of the sending amount")
def fees_on_top(patch: Patch) -> None:
    patch.replace(
        quotes,
        "has_funds",
        lambda unit, quote: (
            balance_of(unit, quote) >= quotes.debit_total(quote) + quotes.fees_included(quote)
        ),
    )


for _requirement, _code in (
    ("QUO-099", "INSUFFICIENT_FUNDS"),
    ("QUO-111", "QUOTE_EXPIRED"),
    ("QUO-114", "QUOTE_RATE_UNAVAILABLE"),
):
    declare(
        _requirement,
        "debits-though-refused",
        f"the debit is not rolled back when {_code} refuses it",
        debit_though_refused(_code),
    )


# --- Expiry and rates -----------------------------------------------------------------------


@mutant("QUO-110", "an expired quote can still be executed")
def expired_executes(patch: Patch) -> None:
    patch.replace(quotes, "is_expired", lambda quote, now: False)


@mutant("QUO-110", "an expired quote is unknown once it was refused")
def forgotten_once_refused(patch: Patch) -> None:
    refused: set[str] = set()

    def executing(execute: Handler, unit: Unit, ask: Ask) -> Any:
        name = ask.params["quoteId"]
        if name in refused:
            raise errors.Refusal("QUOTE_NOT_FOUND", "There is no such quote.")
        try:
            return execute(unit, ask)
        except errors.Refusal as refusal:
            if refusal.code == "QUOTE_EXPIRED":
                refused.add(name)
            raise

    patch.wrap(quotes, "execute", executing)


@mutant("QUO-110", "an expired quote is refused like one that was executed")
def expired_like_executed(patch: Patch) -> None:
    patch.row(
        rules, "QUOTE_TRANSITIONS", ("EXPIRED", "EXECUTE"), Refuse("INVALID_STATE_TRANSITION")
    )


@mutant("QUO-112", "a quote that expires is charged for", (transactions, "expire_due"), before)
def expiry_is_charged(unit: Unit) -> None:
    due = select(Transaction).where(
        Transaction.status == "PENDING", Transaction.expires_at <= unit.now
    )
    for transaction in unit.session.scalars(due):
        if accounts.find(unit, transaction.source_account or ""):
            take(unit, str(transaction.source_account), 100)


@mutant("QUO-114", "a rate that no longer holds is used all the same")
def stale_rate_debits(patch: Patch) -> None:
    patch.replace(quotes, "refuse_stale", lambda quote: None)


# --- Execution at creation ------------------------------------------------------------------


declare(
    "QUO-120",
    "never-immediately",
    "immediatelyExecute is read over",
    change_body(lambda _, body: {**body, "immediatelyExecute": False}),
)
declare(
    "QUO-121",
    "created-with-202",
    "creating a quote is only ever taken note of",
    answers("createQuote", 202),
)


@mutant("QUO-122", "a quote that is executed as it is created is not debited", (quotes, "create"))
def immediately_for_nothing(original: Handler, unit: Unit, ask: Ask) -> Any:
    shown = original(unit, Ask(body={**ask.body, "immediatelyExecute": False}))
    if ask.body.get("immediatelyExecute"):
        quotes.get(unit, shown["id"]).status = "PROCESSING"
        transactions.get(unit, shown["transactionId"]).status = "PROCESSING"
        shown["status"] = "PROCESSING"
    return shown


@mutant("QUO-124", "a real-time funded quote may be executed before it is funded")
def immediately_without_funding(patch: Patch) -> None:
    patch.replace(quotes, "between_fields_errors", lambda body: [])


PAID = ("PROCESSING", "COMPLETED", "FAILED")


@mutant("QUO-970", "funds are not looked at where the account has paid before")
def uncounted_later(patch: Patch) -> None:
    def has_funds(original: Callable[[Unit, Quote], bool], unit: Unit, quote: Quote) -> bool:
        return under_way(unit, quote, *PAID) > 0 or original(unit, quote)

    patch.wrap(quotes, "has_funds", has_funds)
    patch.replace(ledger, "is_overdrawn", lambda account: False)
