"""Conforming variants of transactions: other words, shapes, states and moments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from conformance.proof.kit.builders import Json, around, before, edited, instead
from conformance.proof.kit.edits import without
from conformance.proof.kit.optional import declare_optional
from conformance.proof.patch import Apply, Function, Patch
from conformance.proof.variant import declare, variant
from conformance.proof.variants.protocol.toolkit import bind, refuse
from conformance.reference import control, errors, rules
from conformance.reference.authentication import sca
from conformance.reference.cards import card_transactions
from conformance.reference.internal_accounts import ledger
from conformance.reference.quotes import quotes
from conformance.reference.store import Customer, Quote, Transaction
from conformance.reference.transactions import settlement, transactions
from conformance.reference.unit import Ask, Unit

_SLOWER = 0.2


# --- What comes back ------------------------------------------------------------------------


@variant("M93", "a refund keeps the fees", "apart", (settlement, "refund_total"), instead)
def fees_kept(quote: Quote) -> int:
    return quote.sending_amount - quote.variable_fee


# --- Members that need not be there ---------------------------------------------------------


declare_optional(
    "transaction",
    (transactions, "view"),
    *("direction", "exchangeRate", "description", "source", "customerId", "reference", "createdAt"),
    *("quoteId", "sentAmount", "receivedAmount", "settledAt"),
)


# --- Filters --------------------------------------------------------------------------------


def _unfiltered(list_all: Function, unit: Unit, ask: Ask) -> Any:
    """List the transactions of all customers; an agent is kept to its own."""
    if ask.agent is None:
        names = ask.query.keys() - {"customerId", "platformCustomerId"}
        ask = replace(ask, query={name: ask.query[name] for name in names})
    return list_all(unit, ask)


@variant("N026", "transactions cannot be listed by customer", "apart")
def no_filter_by_customer(patch: Patch) -> None:
    bind(patch, transactions_of_customer=None)
    patch.wrap(transactions, "list_all", _unfiltered)


@variant("N026", "transactions neither show nor can be listed by customer", "other apart")
def no_trace_of_customers(patch: Patch) -> None:
    no_filter_by_customer(patch)
    for module in (transactions, card_transactions):
        edited(module, "view", without("customerId"))(patch)


# --- Words that are not closed --------------------------------------------------------------


@variant("N064", "payouts have a type of their own, by which they can be listed", "forms")
def another_type(patch: Patch) -> None:
    def typed(body: Json) -> Json:
        return {**body, "type": "PAYOUT"} if body["type"] == "OUTGOING" else body

    def reworded(filtered: Function, query: Json) -> Any:
        words = {"PAYOUT": "OUTGOING", "OUTGOING": "NOTHING"}
        return filtered({k: words.get(v, v) if k == "type" else v for k, v in query.items()})

    edited(transactions, "view", typed)(patch)
    patch.wrap(transactions, "filtered", reworded)


@variant("N065", "a refund is initiated, and then succeeds or is undeliverable", "forms")
def refund_in_other_words(patch: Patch) -> None:
    words = {"PENDING": "INITIATED", "COMPLETED": "SUCCEEDED", "FAILED": "UNDELIVERABLE"}

    def change(body: Json) -> Json:
        refund = body.get("refund")
        if refund is None:
            return body
        return {**body, "refund": {**refund, "status": words[refund["status"]]}}

    edited(transactions, "view", change)(patch)


@variant(
    "N066",
    "the platform's fee on a transaction is money",
    "forms",
    (transactions, "view"),
    edited,
)
def platform_fees_as_money(body: Json) -> Json:
    fee = body.get("platformFees")
    return body if fee is None else {**body, "platformFees": {**body["sentAmount"], "amount": fee}}


@variant(
    "N066",
    "the platform's fees on a transaction are a list",
    "other forms",
    (transactions, "view"),
    edited,
)
def platform_fees_as_list(body: Json) -> Json:
    fee = body.get("platformFees")
    return body if fee is None else {**body, "platformFees": [fee]}


# --- Error codes and details ----------------------------------------------------------------


@variant("N098", "a status asked of card transactions has a code of its own", "other forms")
def status_of_cards(patch: Patch) -> None:
    patch.row(rules, "ERROR_STATUS", "INCOMPATIBLE_FILTERS", 400)
    refuse(
        (transactions, "refuse_status_of_cards"),
        {"INVALID_INPUT": "INCOMPATIBLE_FILTERS"},
    )(patch)


declare(
    "M24",
    "nothing-to-approve",
    "approving what no agent initiated is a request that is not valid",
    refuse((quotes, "approve"), {"INVALID_STATE_TRANSITION": "INVALID_INPUT"}),
    "codes",
)


@variant("N451", "what waits for an approval is kept back")
def kept_back(patch: Patch) -> None:
    def keep(unit: Unit, quote: Quote, amount: int) -> None:
        account, currency = quote.source["accountId"], quote.sending_currency
        kept = ledger.Leg(ledger.held(account), currency, amount)
        ledger.post(unit, [ledger.Leg(ledger.available(account), currency, -amount), kept])

    def initiating(initiate: Function, unit: Unit, ask: Ask) -> Json:
        found: Json = initiate(unit, ask)
        quote, _ = transactions.locked(unit, found["transactionId"])
        try:
            keep(unit, quote, quotes.debit_total(quote))
        except ledger.OverdrawnError as error:
            raise errors.Refusal("INSUFFICIENT_FUNDS", "The rest is kept back.") from error
        return found

    def approving(approve: Function, unit: Unit, ask: Ask) -> Any:
        quote, _ = transactions.locked(unit, ask.params["transactionId"])
        if quote.agent_initiated and quote.status == "PENDING":
            keep(unit, quote, -quotes.debit_total(quote))
        return approve(unit, ask)

    patch.wrap(control, "initiate_by_agent", initiating)
    patch.wrap(quotes, "approve", approving)


@variant("M24", "approving what needs no approval does nothing", "other codes", (quotes, "approve"))
def approved_already(approve: Function, unit: Unit, ask: Ask) -> Json:
    quote, row = transactions.locked(unit, ask.params["transactionId"])
    done = not quotes.is_approvable(quote) or quote.status != "PENDING"
    body: Json = transactions.view(row) if done else approve(unit, ask)
    return body


# --- States ---------------------------------------------------------------------------------


@variant(
    "M01",
    "the transaction of an expired quote is expired a moment later",
    "slow",
    (transactions, "expire_due"),
)
def expired_a_moment_later(expire_due: Function, unit: Unit) -> None:
    expire_due(replace(unit, now=unit.now - round(_SLOWER * 1_000_000)))


def _refund_status(status: Callable[[Json], str]) -> Apply:
    def change(body: Json) -> Json:
        return {**body, "status": status(body)} if body.get("refund") else body

    return edited(transactions, "view", change)


declare(
    "M03",
    "status-of-the-refund",
    "a failed transaction takes the status of its refund",
    _refund_status(lambda body: f"REFUND_{body['refund']['status']}"),
    "codes",
)


@variant("M03", "a failed transaction is REFUNDED once its money is back", "other codes")
def refunded(patch: Patch) -> None:
    back = ("COMPLETED",)
    _refund_status(
        lambda body: "REFUNDED" if body["refund"]["status"] in back else str(body["status"])
    )(patch)


def _settled_at_once(patch: Patch, *, told: bool) -> None:
    """Let payouts that nothing stops arrive within the request that executes them."""

    def at_once(perform: Function, unit: Unit, quote: Quote, action: rules.Action) -> None:
        perform(unit, quote, action)
        result = settlement.result_of(unit, quote)
        if result.failure_reason is None and not result.held:
            if not told:
                processing = rules.TRANSACTION_EVENTS["PROCESSING"]
                unit.events[:] = [e for e in unit.events if e["type"] != processing]
            settlement.settle(unit, quote.transaction_id)

    patch.wrap(quotes, "perform", at_once)


@variant("M04", "a payout arrives within the request that executes it", "other forms")
def settled_at_once(patch: Patch) -> None:
    _settled_at_once(patch, told=True)


@variant("M05", "a payout arrives at once and was never in processing", "other codes")
def never_processing(patch: Patch) -> None:
    _settled_at_once(patch, told=False)


@variant("M11", "the transaction waits for the authorization with its quote", "codes")
def transaction_pending_authorization(patch: Patch) -> None:
    def waiting(begin: Function, unit: Unit, quote: Quote, customer: Customer) -> None:
        begin(unit, quote, customer)
        transactions.get(unit, quote.transaction_id).status = "PENDING_AUTHORIZATION"

    def authorized(authorize: Function, unit: Unit, ask: Ask) -> Json:
        body: Json = authorize(unit, ask)
        if body["status"] == "PENDING":
            transactions.get(unit, body["transactionId"]).status = "PENDING"
        return body

    patch.wrap(sca, "begin", waiting)
    patch.wrap(quotes, "authorize", authorized)


def _expired_challenge(reason: str | None) -> Apply:
    """Let an expired challenge lead to EXPIRED, which no event reports."""

    def expired(expire: Function, unit: Unit, challenge: Any) -> None:
        told = len(unit.events)
        expire(unit, challenge)
        quote = unit.session.get_one(Quote, challenge.quote_id)
        row = transactions.get(unit, quote.transaction_id)
        if row.status == "FAILED":
            del unit.events[told:]
            row.status, row.failure_reason = "EXPIRED", reason

    return around(sca, "expire", expired)


declare(
    "M11",
    "challenge-expires-with-reason",
    "an expired challenge leaves its transaction expired, with the reason",
    _expired_challenge(rules.SCA_FAILURE_REASON),
    "other forms",
)
declare(
    "M11",
    "challenge-expires",
    "an expired challenge leaves its transaction expired, and nothing else",
    _expired_challenge(None),
    "slow",
)


@variant("M88", "rails take their time", "slow", (Unit, "later"))
def slower_rails(later: Function, self: Unit, seconds: float, job: Callable[[Unit], None]) -> None:
    later(self, seconds + _SLOWER, job)


_TYPES = ("OUTGOING", "INCOMING", "CARD", "TRANSFER")


@variant(
    "N341",
    "a type or a status that does not exist is refused",
    "codes",
    (transactions, "filtered"),
    before,
)
def unknown_filters(query: Mapping[str, str]) -> None:
    if query.get("type", _TYPES[0]) not in _TYPES or "_" in query.get("status", ""):
        raise errors.invalid_input(errors.field_error("type", "There is no such value."))


@variant("N340", "a status finds no card transactions", "forms", (transactions, "made_with_cards"))
def payments_alone(made_with_cards: Function, query: Mapping[str, str]) -> Any:
    return None if "status" in query else made_with_cards(query)


# --- What a transaction tells ---------------------------------------------------------------


def waiting(body: Json) -> Json:
    """Say of a pending transaction that its customer is waited for."""
    return {**body, "pendingReason": "AWAITING_CUSTOMER"} if body["status"] == "PENDING" else body


declare(
    "N321",
    "customer-awaited",
    "a transaction that waits to be executed says so",
    edited(transactions, "view", waiting),
    "forms",
)


def unreferenced(body: Json) -> Json:
    """Leave the reference of a refund out that is not delivered."""
    refund = body.get("refund")
    if not refund or refund["status"] == "COMPLETED":
        return body
    return {**body, "refund": without("reference")(refund)}


declare(
    "N324",
    "referenced-when-delivered",
    "a refund gets its reference when it is delivered",
    edited(transactions, "view", unreferenced),
    "absent",
)


declare(
    "N327",
    "test-nets",
    "a network is told by the name of its test net",
    around(
        settlement, "on_chain", lambda on_chain, network: on_chain(f"{network.lower()}-testnet")
    ),
    "forms",
)


@variant("N326", "a payment from a wallet is shown on the side of its receiver", "forms")
def received_on_chain(patch: Patch) -> None:
    def record_deposit(quote: Quote, transaction: Transaction) -> None:
        source = transaction.source
        original(quote, transaction)
        told = transaction.source.get("onChainTransaction")
        if told is not None:
            transaction.source = source
            transaction.destination = {**transaction.destination, "onChainTransaction": told}

    original = settlement.record_deposit
    patch.replace(settlement, "record_deposit", record_deposit)
