"""What mutants of several modules change in quotes and their money."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from copy import deepcopy
from typing import Any

from sqlalchemy import func, select

from conformance.proof.kit.builders import Handler, Json, after, around, before, rescued
from conformance.proof.kit.edits import Edit
from conformance.proof.patch import Apply, Function, Patch
from conformance.reference import errors, rules
from conformance.reference.authentication import sca
from conformance.reference.customers import customers
from conformance.reference.external_accounts import externals
from conformance.reference.internal_accounts import accounts, ledger
from conformance.reference.quotes import parties, quotes
from conformance.reference.rules import Move
from conformance.reference.service import Service
from conformance.reference.store import Challenge, Customer, InternalAccount, Quote, Transaction
from conformance.reference.transactions import transactions
from conformance.reference.unit import Ask, Unit

_RACE_SECONDS = 0.05
"""Between looking and acting: enough for requests of the same moment to have looked too."""


def change_body(change: Callable[[Unit, Json], Json]) -> Apply:
    """Return a patch that changes the body of every quote before it is looked at."""

    def create(original: Handler, unit: Unit, ask: Ask) -> Any:
        body = change(unit, ask.body) if isinstance(ask.body, dict) else ask.body
        return original(unit, Ask(ask.params, ask.query, body))

    return around(quotes, "create", create)


def without_terms(condition: Callable[[quotes.Order, Customer], bool]) -> Apply:
    """Return a patch after which customers need not accept the terms for orders of a kind."""

    def draft(original: Function, unit: Unit, order: quotes.Order) -> Any:
        payer = order.source.customer_id
        customer = None if payer is None else customers.get(unit, payer)
        if customer is None or not condition(order, customer):
            return original(unit, order)
        accepted, customer.consent = customer.consent, customer.consent or {}
        try:
            return original(unit, order)
        finally:
            customer.consent = accepted

    return around(quotes, "draft", draft)


def nobody_counts(patch: Patch) -> None:
    """Let every execution be covered, and every account be overdrawn."""
    patch.replace(quotes, "has_funds", lambda unit, quote: True)
    patch.replace(ledger, "is_overdrawn", lambda account: False)


def counts_one_short(patch: Patch) -> None:
    """Let an account be overdrawn by one smallest unit."""
    patch.replace(ledger, "is_overdrawn", lambda row: row.guarded and row.balance < -1)
    patch.replace(
        quotes,
        "has_funds",
        lambda unit, quote: balance_of(unit, quote) + 1 >= quotes.debit_total(quote),
    )


def balance_of(unit: Unit, quote: Quote) -> int:
    """Return what the internal source of a quote may spend."""
    account_id = quote.source["accountId"]
    return accounts.spendable(*ledger.balances(unit, [account_id])[account_id])


def under_way(unit: Unit, quote: Quote, *statuses: str) -> int:
    """Return how many payments of the source of a quote have a status, by default PROCESSING."""
    unit.session.flush()
    query = select(func.count()).where(
        Transaction.source_account == quote.source.get("accountId"),
        Transaction.status.in_(statuses or ("PROCESSING",)),
    )
    return int(unit.session.scalar(query) or 0)


def take(unit: Unit, account_id: str, amount: int) -> None:
    """Book an amount from an internal account to the service's fees, or back; 0 is nothing."""
    if amount == 0:
        return
    currency = unit.session.get_one(InternalAccount, account_id).currency
    legs = [
        ledger.Leg(ledger.available(account_id), currency, -amount),
        ledger.Leg(ledger.system("fees", currency), currency, amount),
    ]
    ledger.post(unit, legs)


def debit_though_refused(code: str) -> Apply:
    """Return a patch by which a refusal with a code leaves its debit behind."""

    def answer(refusal: errors.Refusal, service: Service, handler: Handler, ask: Ask) -> None:
        with service.unit() as unit:
            take(unit, source_of(unit, ask), 1_000)
        raise refusal

    return rescued(Service, "answer", answer, code)


def source_of(unit: Unit, ask: Ask) -> str:
    """Return the source that a creation or an execution is about."""
    if "quoteId" in ask.params:
        account_id: str = quotes.get(unit, ask.params["quoteId"]).source["accountId"]
    else:
        account_id = ask.body["source"]["accountId"]
    return account_id


def in_two_steps(function: Handler, look: Handler, act: Callable[[Unit, Any], Any]) -> Function:
    """Return what serves a handler by looking in one unit and acting in another.

    It takes the place of ``Service.serve``. ``look`` returns what ``act`` gets; between
    the two, others look as well.
    """

    async def serve(
        original: Callable[..., Awaitable[Any]], service: Service, handler: Handler, ask: Ask
    ) -> Any:
        if handler is not function:
            return await original(service, handler, ask)
        with service.unit() as unit:
            seen = look(unit, ask)
        await asyncio.sleep(_RACE_SECONDS)
        with service.unit() as unit:
            return act(unit, seen)

    return serve


def without_nulls(members: Json) -> Json:
    return {name: value for name, value in members.items() if value is not None}


def nobody_needs_sca(patch: Patch) -> None:
    patch.replace(customers, "needs_sca", lambda _customer: False)


def lapse_ignored(patch: Patch) -> None:
    patch.replace(sca, "refuse_lapsed", lambda _customer: None)


def lock_ignored(patch: Patch) -> None:
    patch.replace(sca, "refuse_locked", lambda _customer: None)


def receivers_asked(patch: Patch) -> None:
    """Let a payment of who needs no proof wait for one of who is paid."""

    def start(
        original: Callable[..., None], unit: Unit, quote: Quote, action: rules.Action = "EXECUTE"
    ) -> None:
        name = quote.destination.get("accountId", "")
        account = accounts.find(unit, name) or externals.find(unit, name)
        owner = unit.session.get(Customer, account.customer_id or "") if account else None
        if action == "EXECUTE" and owner is not None and customers.needs_sca(owner):
            quotes.challenge(unit, quote, owner)
        else:
            original(unit, quote, action)

    patch.wrap(quotes, "start", start)
    patch.replace(sca, "available", lambda _unit, _quote: [*rules.SCA_FACTORS])


def perform(unit: Unit, quote: Quote, action: rules.Action) -> None:
    """Execute a quote as the reference does, with no challenge before."""
    quotes.perform(unit, quote, action)


def held(unit: Unit, ask: Ask) -> int:
    """Return the balance of the account that a transfer goes out of."""
    account = str(ask.body["source"]["accountId"])
    return ledger.balances(unit, [account])[account][0]


platform_pays_itself = around(
    parties,
    "is_self_payment",
    lambda original, source, destination: (
        source.customer_id is not None and original(source, destination)
    ),
)
"""The patch after which the platform alone may pay an account from itself."""


def at_once(body: Json) -> bool:
    return body.get("immediatelyExecute") is True


def shown_where(condition: Callable[[Quote], bool], edit: Edit) -> Apply:
    """Return a patch after which the quotes of a condition are shown as ``edit`` makes them."""

    def patch(patch: Patch) -> None:
        def view(original: Callable[[Unit, Quote], Json], unit: Unit, quote: Quote) -> Json:
            body = original(unit, quote)
            return edit(deepcopy(body)) if condition(quote) else body

        patch.wrap(quotes, "view", view)

    return patch


def expiry_ignored(patch: Patch) -> None:
    """Let challenges never expire."""
    patch.replace(sca, "is_expired", lambda _challenge, _now: False)
    patch.replace(sca, "expire", lambda _unit, _challenge: None)


def pending_authorized(patch: Patch) -> None:
    """Let any proof authorize a quote that waits for none."""
    patch.row(rules, "QUOTE_TRANSITIONS", ("PENDING", "AUTHORIZE"), Move("PROCESSING"))
    patch.replace(sca, "check_proof", lambda _unit, _quote, _body: None)


def transaction_of(unit: Unit, quote: Quote) -> Transaction:
    """Return the transaction of a quote."""
    return transactions.get(unit, quote.transaction_id)


def net_of_received(patch: Patch) -> None:
    """Let a locked receiving amount be covered by a balance of that amount."""
    received: set[str] = set()

    def draft(original: Function, unit: Unit, order: quotes.Order) -> Any:
        quote = original(unit, order)
        if order.side == "RECEIVING":
            received.add(quote.id)
        return quote

    def has_funds(original: Function, unit: Unit, quote: Quote) -> Any:
        return quote.id in received or original(unit, quote)

    patch.wrap(quotes, "draft", draft)
    patch.wrap(quotes, "has_funds", has_funds)
    patch.replace(ledger, "is_overdrawn", lambda _account: False)


def is_pulled(quote: Quote) -> bool:
    """Return whether a quote is paid from an external account."""
    return quote.source_kind == "EXTERNAL"


def unpulled_at_once(original: Function, unit: Unit, quote: Quote, action: rules.Action) -> None:
    """Execute a quote, unless it is new and pulled: nothing but its status tells that it is."""
    if quote.created_at == unit.now and is_pulled(quote):
        quote.status = "PROCESSING"
    else:
        original(unit, quote, action)


def others_of(unit: Unit, quote: Quote, status: str) -> list[Quote]:
    """Return the quotes of the same source and customer at a status, the oldest first."""
    unit.session.flush()
    query = select(Quote).where(
        Quote.customer_id == quote.customer_id,
        Quote.source_kind == quote.source_kind,
        Quote.status == status,
        Quote.id != quote.id,
    )
    return list(unit.session.scalars(query.order_by(Quote.created_at)).all())


def after_refusal(handler: Handler, code: str, status: str) -> Apply:
    """Return a patch by which a refusal of a handler leaves a transaction at a status."""

    def leave(refusal: errors.Refusal, service: Service, served: Handler, ask: Ask) -> None:
        if served is handler:
            with service.unit() as unit:
                quote = quotes.get(unit, ask.params["quoteId"])
                quote.status = transaction_of(unit, quote).status = status
        raise refusal

    return rescued(Service, "answer", leave, code)


def second_never_expires(patch: Patch) -> None:
    """Let the second challenge of a quote never expire."""
    first: dict[str, str] = {}

    def is_second(challenge: Challenge) -> bool:
        return first.setdefault(challenge.quote_id, challenge.id) != challenge.id

    def opened(unit: Unit, quote: Quote) -> None:
        first.setdefault(quote.id, str(quote.challenge_id))

    after(sca, "open_challenge", opened)(patch)
    patch.wrap(
        sca,
        "is_expired",
        lambda original, challenge, now: not is_second(challenge) and original(challenge, now),
    )
    patch.wrap(
        sca,
        "expire",
        lambda original, unit, challenge: (
            None if is_second(challenge) else original(unit, challenge)
        ),
    )


def unfunded_where(condition: Callable[[Quote], bool]) -> Apply:
    """Return a patch by which some quotes are paid whatever their source holds."""

    def apply(patch: Patch) -> None:
        unfunded: list[str] = []

        def perform(original: Function, unit: Unit, quote: Quote, action: str) -> None:
            unfunded[:] = [quote.id] if condition(quote) else []
            try:
                original(unit, quote, action)
            finally:
                unfunded.clear()

        patch.wrap(quotes, "perform", perform)
        patch.wrap(ledger, "is_overdrawn", lambda original, row: not unfunded and original(row))
        patch.wrap(
            quotes,
            "has_funds",
            lambda original, unit, quote: condition(quote) or original(unit, quote),
        )

    return apply


def _paid_from(unit: Unit, body: Json) -> InternalAccount | None:
    source = body.get("source")
    name = source.get("accountId") if isinstance(source, dict) else None
    return accounts.find(unit, str(name))


def _is_of_the_platform(unit: Unit, body: Json) -> bool:
    account = _paid_from(unit, body)
    return account is not None and account.customer_id is None


def _is_of_a_business(unit: Unit, body: Json) -> bool:
    account = _paid_from(unit, body)
    customer = None if account is None else unit.session.get(Customer, account.customer_id or "")
    return customer is not None and customer.customer_type == "BUSINESS"


def _has_end(end: str, member: str, start: str) -> Callable[[Unit, Json], bool]:
    """Return whether a member of the source or destination of a quote begins in some way."""
    return lambda _unit, body: str((body.get(end) or {}).get(member)).startswith(start)


KINDS: dict[str, Callable[[Unit, Json], bool]] = {
    "of-the-platform": _is_of_the_platform,
    "of-a-business": _is_of_a_business,
    "pulled": _has_end("source", "accountId", "ExternalAccount:"),
    "funded-just-in-time": _has_end("source", "sourceType", "REALTIME_FUNDING"),
    "executed-at-once": lambda _unit, body: at_once(body),
    "to-an-internal-account": _has_end("destination", "accountId", "InternalAccount:"),
    "to-a-uma-address": _has_end("destination", "destinationType", "UMA_ADDRESS"),
}
"""Kinds of payments, each with what tells whether the body of a quote is one of it."""

PAYING = tuple(kind for kind in KINDS if not kind.startswith("to-"))
"""Those that say how a payment is made, and not what is paid."""


def spelled(kind: str, member: str, spell: Callable[[Any], Any]) -> Apply:
    """Return a patch after which a text of quotes of a kind is taken as ``spell`` makes it."""

    def change(unit: Unit, body: Json) -> Json:
        meant = member in body and KINDS[kind](unit, body)
        return {**body, member: spell(body[member])} if meant else body

    return change_body(change)


def refusing(kind: str, member: str, faulty: Callable[[str], bool]) -> Apply:
    """Return a patch after which quotes of a kind are refused with a faulty text."""

    def refuse(unit: Unit, ask: Ask) -> None:
        body = ask.body if isinstance(ask.body, dict) else {}
        text = body.get(member)
        if isinstance(text, str) and KINDS[kind](unit, body) and faulty(text):
            raise errors.invalid_input(errors.field_error(member, "It is not taken here."))

    return before(quotes, "create", refuse)
