"""Quotes: their terms, execution and authorization."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import Any

from conformance.reference import errors, fields, money, platform, rules
from conformance.reference.authentication import sca
from conformance.reference.customers import customers
from conformance.reference.embedded_wallets import embedded_wallets
from conformance.reference.external_accounts import externals, receivers
from conformance.reference.internal_accounts import accounts, ledger
from conformance.reference.quotes import fees, limits, parties
from conformance.reference.store import Customer, Json, Quote, Transaction
from conformance.reference.transactions import settlement, transactions
from conformance.reference.unit import Ask, Unit, after, new_id, present, timestamp


@dataclass(frozen=True, slots=True)
class Order:
    """What is to be quoted."""

    source: parties.Party
    destination: parties.Party
    side: str
    amount: int
    description: str | None = None
    fee_override: Json | None = None
    agent_initiated: bool = False
    type: str = "OUTGOING"
    direction: str = "DEBIT"


# --- Creation -------------------------------------------------------------------------------


def create(unit: Unit, ask: Ask) -> Json:
    """Create a quote and its transaction; execute it where ``immediatelyExecute`` is true."""
    body = fields.demand(ask.body, rules.QUOTE_FIELDS, *between_fields_errors(ask.body))
    receivers.refuse_unknown_lookup(unit, body.get("lookupId"))
    order = Order(
        source=parties.source_of(unit, body["source"]),
        destination=parties.destination_of(unit, body["destination"]),
        side=body["lockedCurrencySide"],
        amount=int(body["lockedCurrencyAmount"]),
        description=body.get("description"),
        fee_override=body.get("platformFeeOverride"),
    )
    at_once = bool(body.get("immediatelyExecute"))
    if at_once:
        payer = order.source.account_id
        embedded_wallets.demand_signature(unit, ask, payer, "POST /quotes", body)
    quote = draft(unit, order)
    if at_once:
        start(unit, quote)
    return view(unit, quote)


def between_fields_errors(body: Any) -> list[Json]:
    """Return the errors of rules between fields of a request."""
    source = fields.at(body, "source")
    if fields.at(source, "sourceType") != "REALTIME_FUNDING":
        return []
    found = []
    named = isinstance(fields.at(source, "customerId"), str)
    if named == (fields.at(source, "platform") is True):
        message = "Expected exactly one of customerId and platform: true."
        found.append(errors.field_error("source.customerId", message))
    if fields.at(body, "immediatelyExecute") is True:
        message = "Expected no immediate execution: a deposit executes a real-time funded quote."
        found.append(errors.field_error("immediatelyExecute", message))
    return found


def draft(unit: Unit, order: Order) -> Quote:
    """Create the quote of an order, and its transaction; raises ``Refusal``."""
    source, destination = order.source, order.destination
    parties.refuse_self_payment(source, destination)
    parties.refuse_unverified_receiver(unit, destination)
    parties.refuse_blocked(unit, source, destination)
    customer = None if source.customer_id is None else customers.get(unit, source.customer_id)
    if customer is not None:
        customers.refuse_unverified(customer)
        customers.refuse_without_terms(customer)
        customers.refuse_incomplete(customer, source.currency, destination.currency)
    rate = rate_for(customer, source.currency, destination.currency)
    terms = terms_for(unit, order)
    corridor = fees.Corridor(source.currency, destination.currency, rate)
    price = fees.price(order.side, order.amount, corridor, terms)
    limits.refuse_large(unit, price.sending, source.currency)
    if destination.external is not None:
        receivers.refuse_little(destination.external, price.receiving)
    if destination.external is not None and externals.is_unproven(destination.external):
        limits.refuse_unproven(unit, price.sending, source.currency)
    if customer is not None:
        limits.refuse_volume(unit, customer, price.sending, source.currency)
    quote = Quote(
        id=new_id("Quote"),
        transaction_id=new_id("Transaction"),
        status="PENDING",
        customer_id=source.customer_id,
        source_kind=source.kind,
        source=source.echo,
        destination_kind=destination.kind,
        destination=destination.echo,
        sending_currency=source.currency,
        receiving_currency=destination.currency,
        sending_amount=price.sending,
        receiving_amount=price.receiving,
        rate=str(rate),
        variable_fee_rate=str(terms.variable),
        variable_fee=price.variable_fee,
        platform_fee=price.platform_fee,
        description=order.description,
        instructions=[],
        challenge_id=None,
        challenges_left=0,
        agent_initiated=order.agent_initiated,
        stale=False,
        created_at=unit.now,
        expires_at=expiry_of(unit),
    )
    if source.kind == "REALTIME":
        digits = str(unit.now)[-10:]
        quote.instructions = accounts.instructions_for(source.currency, digits)
    unit.session.add(quote)
    unit.session.add(transaction_of(unit, quote, order))
    unit.session.flush()
    if source.kind == "REALTIME" and customer is not None and customers.needs_sca(customer):
        challenge(unit, quote, customer)
    return quote


def challenge(unit: Unit, quote: Quote, customer: Customer) -> None:
    """Let a quote and its transaction wait for a proof of the customer."""
    quote.status = next_status(unit, quote, "CHALLENGE")
    sca.begin(unit, quote, customer)
    transactions.get(unit, quote.transaction_id).pending_reason = rules.AWAITED_PROOF


def expiry_of(unit: Unit) -> int:
    """Return when a quote that is created now expires."""
    return after(unit.now, unit.settings.quote_lifetime_seconds)


def rate_for(customer: Customer | None, sending: str, receiving: str) -> Decimal:
    """Return the rate of a corridor.

    Raises ``Refusal`` (QUOTE_REQUEST_FAILED, QUOTE_RATE_UNAVAILABLE).
    """
    if customer is not None and customers.has_condition(customer, "QUOTING_DOWN"):
        raise errors.Refusal(
            "QUOTE_REQUEST_FAILED", "The liquidity provider does not answer. Try again."
        )
    if customer is not None and not has_rate(customer, sending, receiving):
        raise errors.Refusal(
            "QUOTE_RATE_UNAVAILABLE",
            f"There is no rate from {sending} to {receiving} now. Try again later.",
        )
    return money.market_rate(sending, receiving)


def has_rate(customer: Customer, sending: str, receiving: str) -> bool:
    """Return whether a corridor has a rate for the customer."""
    return [sending, receiving] not in customer.conditions.get("RATE_UNAVAILABLE", [])


def terms_for(unit: Unit, order: Order) -> fees.Terms:
    """Return the fees of an order; the override replaces the standing platform fee."""
    refuse_foreign_override(order)
    config = order.fee_override
    if config is None:
        config = standing_fee(unit, order.source.currency, order.destination.currency)
    return fees.Terms(
        unit.settings.variable_fee_rate,
        Decimal(int(config.get("variableFeeBasisPoints") or 0)) / 10_000,
        int(config.get("fixedFeeAmount") or 0),
    )


def refuse_foreign_override(order: Order) -> None:
    """Refuse an override whose source is not in US dollars."""
    if order.fee_override is not None and order.source.currency != rules.PLATFORM_FEE_CURRENCY:
        message = f"Expected a source in {rules.PLATFORM_FEE_CURRENCY}: no other carries a fee."
        raise errors.invalid_input(errors.field_error("platformFeeOverride", message))


def standing_fee(unit: Unit, sending: str, receiving: str) -> Json:
    """Return the platform's standing fee: for cross-currency transactions alone."""
    if sending == receiving:
        return {}
    configs = platform.config_of(unit).fee_configs
    return next((config for config in configs if config["sourceCurrency"] == sending), {})


def transaction_of(unit: Unit, quote: Quote, order: Order) -> Transaction:
    """Return the transaction that a quote creates."""
    return Transaction(
        id=quote.transaction_id,
        quote_id=quote.id,
        customer_id=quote.customer_id,
        status=rules.TRANSACTION_STATUS["PENDING"],
        type=order.type,
        direction=order.direction,
        source={**quote.source, "currency": quote.sending_currency},
        destination={**quote.destination, "currency": quote.receiving_currency},
        source_account=order.source.account_id,
        destination_account=order.destination.account_id,
        sending_currency=quote.sending_currency,
        sending_amount=quote.sending_amount,
        receiving_currency=quote.receiving_currency,
        receiving_amount=quote.receiving_amount,
        rate=quote.rate,
        platform_fee=quote.platform_fee,
        description=quote.description,
        reference=new_id("REF").replace(":", "-"),
        failure_reason=None,
        pending_reason=rules.AWAITED_APPROVAL if order.agent_initiated else None,
        refund=None,
        expires_at=quote.expires_at,
        executed_at=None,
        settled_at=None,
        created_at=unit.now,
        updated_at=unit.now,
    )


# --- Reading --------------------------------------------------------------------------------


def get(unit: Unit, quote_id: str) -> Quote:
    """Return the quote of an id, locked; raises ``Refusal`` (QUOTE_NOT_FOUND)."""
    quote = unit.session.get(Quote, quote_id, with_for_update=True)
    if quote is None:
        raise errors.Refusal("QUOTE_NOT_FOUND", "No quote has this id.")
    return quote


def fees_included(quote: Quote) -> int:
    """Return ``feesIncluded``: all fees in the sending amount, the platform's own among them."""
    return quote.variable_fee + quote.platform_fee


def platform_fees_included(quote: Quote) -> int:
    """Return ``platformFeesIncluded``: the platform's own fee in the sending amount."""
    return quote.platform_fee


def visible_payment_instructions(quote: Quote) -> list[Json] | None:
    """Return a real-time funded quote's instructions; none until its challenges are satisfied."""
    if quote.source_kind != "REALTIME" or quote.challenges_left > 0:
        return None
    return quote.instructions


def rate_details(quote: Quote) -> Json:
    """Return what the rate is made of."""
    return {
        "counterpartyMultiplier": 1,
        "counterpartyFixedFee": 0,
        "gridApiMultiplier": money.number(Decimal(quote.rate)),
        "gridApiFixedFee": 0,
        "gridApiVariableFeeRate": money.number(Decimal(quote.variable_fee_rate)),
        "gridApiVariableFeeAmount": quote.variable_fee,
    }


def view(unit: Unit, quote: Quote) -> Json:
    """Return the quote as clients see it."""
    return present(
        {
            "id": quote.id,
            "status": quote.status,
            "createdAt": timestamp(quote.created_at),
            "expiresAt": timestamp(quote.expires_at),
            "source": quote.source,
            "destination": quote.destination,
            "sendingCurrency": money.currency_view(quote.sending_currency),
            "receivingCurrency": money.currency_view(quote.receiving_currency),
            "totalSendingAmount": quote.sending_amount,
            "totalReceivingAmount": quote.receiving_amount,
            "exchangeRate": money.number(Decimal(quote.rate)),
            "feesIncluded": fees_included(quote),
            "platformFeesIncluded": platform_fees_included(quote),
            "transactionId": quote.transaction_id,
            "description": quote.description,
            "paymentInstructions": visible_payment_instructions(quote),
            "scaChallenge": sca.view(unit, quote),
            "rateDetails": rate_details(quote),
        }
    )


# --- States ---------------------------------------------------------------------------------


def is_expired(quote: Quote, now: int) -> bool:
    """Return whether the quote's ``expiresAt`` has passed."""
    return now >= quote.expires_at


def status_at(quote: Quote, now: int) -> str:
    """Return the quote's status; one that still waits after its expiry is expired."""
    return "EXPIRED" if quote.status == "PENDING" and is_expired(quote, now) else quote.status


def next_status(unit: Unit, quote: Quote, action: rules.Action) -> str:
    """Return the status that an action leads to; raises ``Refusal`` where it is not allowed."""
    status = status_at(quote, unit.now)
    late = rules.Refuse("INVALID_STATE_TRANSITION")
    result = rules.QUOTE_TRANSITIONS.get((status, action), late)
    if isinstance(result, rules.Refuse):
        raise errors.Refusal(
            result.code, f"The quote is {status} and does not take this action. Create a new quote."
        )
    return result.status


def execute_action(quote: Quote) -> rules.Action:
    """Return what a call of execute means for the quote."""
    if quote.source_kind == "REALTIME":
        return "EXECUTE_REALTIME"
    return "EXECUTE_UNAPPROVED" if quote.agent_initiated else "EXECUTE"


# --- Execution ------------------------------------------------------------------------------


def execute(unit: Unit, ask: Ask) -> Json:
    """Execute a quote: its source is debited, or a challenge is returned."""
    quote = get(unit, ask.params["quoteId"])
    next_status(unit, quote, execute_action(quote))
    refuse_stale(quote)
    action = f"POST /quotes/{quote.id}/execute"
    source = embedded_wallets.source_account(quote)
    embedded_wallets.demand_signature(unit, ask, source, action)
    start(unit, quote)
    return view(unit, quote)


def refuse_stale(quote: Quote) -> None:
    """Refuse a quote whose rate the market has left behind."""
    if quote.stale:
        raise errors.Refusal(
            "QUOTE_RATE_UNAVAILABLE", "The quoted rate no longer holds. Create a new quote."
        )


def start(unit: Unit, quote: Quote, action: rules.Action = "EXECUTE") -> None:
    """Debit the source, or open a challenge where the customer needs SCA."""
    customer = None if quote.customer_id is None else customers.get(unit, quote.customer_id)
    if customer is not None:
        refuse_approval_lost(customer)
        limits.refuse_volume(unit, customer, quote.sending_amount, quote.sending_currency)
    refuse_unreachable(unit, quote)
    parties.refuse_blocked_later(unit, quote)
    refuse_unfunded(unit, quote)
    if customer is not None and needs_challenge(customer, action):
        challenge(unit, quote, customer)
        return
    perform(unit, quote, action)


def refuse_approval_lost(customer: Customer) -> None:
    """Refuse an execution for a customer whose approval was withdrawn after the quote."""
    customers.refuse_unverified(customer)


def refuse_unreachable(unit: Unit, quote: Quote) -> None:
    """Refuse an execution to an account that cannot receive any more."""
    if quote.destination_kind == "EXTERNAL":
        parties.refuse_unable(externals.get(unit, quote.destination["accountId"]))


def needs_challenge(customer: Customer, action: rules.Action) -> bool:
    """Return whether an execution waits for a challenge; an approval is one already."""
    return action == "EXECUTE" and customers.needs_sca(customer)


def has_funds(unit: Unit, quote: Quote) -> bool:
    """Return whether an internal source holds what is debited; other sources are not asked."""
    if quote.source_kind != "INTERNAL":
        return True
    account_id = quote.source["accountId"]
    available, held = ledger.balances(unit, [account_id])[account_id]
    return accounts.spendable(available, held) >= debit_total(quote)


def refuse_unfunded(unit: Unit, quote: Quote) -> None:
    """Refuse an execution that the source's balance does not cover."""
    if not has_funds(unit, quote):
        raise insufficient_funds()


def insufficient_funds() -> errors.Refusal:
    """Return the refusal of a source that holds too little."""
    return errors.Refusal(
        "INSUFFICIENT_FUNDS", "The source's balance is below the sending amount. Fund it first."
    )


def debit_total(quote: Quote) -> int:
    """Return what leaves the source: the sending amount, which includes the fees."""
    return quote.sending_amount


def perform(unit: Unit, quote: Quote, action: rules.Action) -> None:
    """Debit the source and send the payment on its way."""
    quote.status = next_status(unit, quote, action)
    transaction = transactions.get(unit, quote.transaction_id, lock=True)
    transaction.status = rules.TRANSACTION_STATUS[quote.status]
    transaction.executed_at = unit.now
    try:
        ledger.post(unit, debit_legs(quote))
    except ledger.OverdrawnError:
        raise insufficient_funds() from None
    transaction.pending_reason = settlement.result_of(unit, quote).pending_reason
    transactions.announce(unit, transaction, "PROCESSING")
    settlement.announce_source(unit, quote)
    job = partial(settlement.settle, transaction_id=transaction.id)
    unit.later(unit.settings.settlement_seconds, job)


def debit_legs(quote: Quote) -> list[ledger.Leg]:
    """Return the movement of an execution: from the source to where it is held."""
    amount, currency = debit_total(quote), quote.sending_currency
    origin = ledger.system("rail", currency)
    if quote.source_kind == "INTERNAL":
        origin = ledger.available(quote.source["accountId"])
    return [
        ledger.Leg(origin, currency, -amount),
        ledger.Leg(settlement.holding_account(quote), currency, amount),
    ]


# --- Authorization --------------------------------------------------------------------------


def authorize(unit: Unit, ask: Ask) -> Json:
    """Authorize a quote: it is performed, or another challenge is asked for."""
    quote = get(unit, ask.params["quoteId"])
    body = fields.demand(ask.body, rules.AUTHORIZE_FIELDS, *proof_errors(ask.body))
    next_status(unit, quote, "AUTHORIZE")
    if quote.customer_id is not None:
        customer = customers.get(unit, quote.customer_id)
        refuse_approval_lost(customer)
        sca.refuse_locked(customer)
        sca.refuse_lapsed(customer)
    sca.check_proof(unit, quote, body)
    refuse_unreachable(unit, quote)
    parties.refuse_blocked_later(unit, quote)
    quote.challenges_left -= 1
    if quote.challenges_left > 0:
        quote.status = next_status(unit, quote, "CHALLENGE_AGAIN")
        sca.open_challenge(unit, quote)
    elif quote.source_kind == "REALTIME":
        quote.status = next_status(unit, quote, "AWAIT_DEPOSIT")
        transactions.get(unit, quote.transaction_id).pending_reason = None
    else:
        perform(unit, quote, "AUTHORIZE")
    return view(unit, quote)


def proof_errors(body: Any) -> list[Json]:
    """Return the errors of the proofs in a body of any kind."""
    return sca.one_proof_errors(body) if isinstance(body, dict) else []


def approve(unit: Unit, ask: Ask) -> Json:
    """Approve a transaction that an agent initiated and that is pending."""
    quote, transaction = transactions.locked(unit, ask.params["transactionId"])
    if not is_approvable(quote):
        raise errors.Refusal(
            "INVALID_STATE_TRANSITION", "Only a pending transaction of an agent is approved."
        )
    next_status(unit, quote, "APPROVE")
    embedded_wallets.refuse_unsigned(unit, quote)
    start(unit, quote, "APPROVE")
    return transactions.view(transaction)


def is_approvable(quote: Quote) -> bool:
    """Return whether a quote's transaction waits for an approval."""
    return quote.agent_initiated
