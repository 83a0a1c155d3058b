"""Conforming variants of executions and authorizations."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from conformance.proof.kit.builders import Json, instead
from conformance.proof.kit.edits import without
from conformance.proof.patch import Function, Patch
from conformance.proof.variant import variant
from conformance.proof.variants.protocol.toolkit import refuse
from conformance.reference import errors, fields, rules
from conformance.reference.authentication import sca
from conformance.reference.customers import customers
from conformance.reference.external_accounts import externals
from conformance.reference.quotes import parties, quotes
from conformance.reference.store import Customer, ExternalAccount, Quote
from conformance.reference.unit import Ask, Unit

# --- Error codes and details ----------------------------------------------------------------


EXPIRED = ("EXECUTE", "EXECUTE_REALTIME", "AUTHORIZE", "APPROVE")


@variant("M02", "an expired quote is refused with QUOTE_RATE_UNAVAILABLE", "codes")
def expired_rate(patch: Patch) -> None:
    for action in EXPIRED:
        patch.row(
            rules, "QUOTE_TRANSITIONS", ("EXPIRED", action), rules.Refuse("QUOTE_RATE_UNAVAILABLE")
        )


@variant(
    "M09",
    "a second execution answers 2xx with the quote as it stands",
    "codes",
    (quotes, "execute"),
)
def executed_again(execute: Function, unit: Unit, ask: Ask) -> Json:
    quote = quotes.get(unit, ask.params["quoteId"])
    late = quote.status in ("PROCESSING", "COMPLETED", "FAILED")
    body: Json = quotes.view(unit, quote) if late else execute(unit, ask)
    return body


@variant("M09", "a second execution is a request that is not valid", "other codes")
def executed_again_invalid(patch: Patch) -> None:
    for status in ("PROCESSING", "COMPLETED", "FAILED"):
        patch.row(rules, "QUOTE_TRANSITIONS", (status, "EXECUTE"), rules.Refuse("INVALID_INPUT"))


@variant(
    "M10",
    "authorizing an executed quote again answers 2xx with the quote",
    "codes",
    (quotes, "authorize"),
)
def authorized_again(authorize: Function, unit: Unit, ask: Ask) -> Json:
    quote = quotes.get(unit, ask.params["quoteId"])
    late = quote.status in ("PROCESSING", "COMPLETED", "FAILED")
    body: Json = quotes.view(unit, quote) if late else authorize(unit, ask)
    return body


@variant("M10", "a quote that needs no authorization refuses one with 400", "other codes")
def nothing_to_authorize(patch: Patch) -> None:
    for status in ("PENDING", "PROCESSING", "COMPLETED", "FAILED"):
        patch.row(rules, "QUOTE_TRANSITIONS", (status, "AUTHORIZE"), rules.Refuse("INVALID_INPUT"))


@variant("M10", "a wrong proof is 401", "forms")
def wrong_proof_unauthorized(patch: Patch) -> None:
    patch.row(rules, "ERROR_STATUS", "SCA_PROOF_WRONG", 401)
    refuse((sca, "check_proof"), {"INVALID_INPUT": "SCA_PROOF_WRONG"})(patch)


@variant("M10", "a wrong proof is 422", "other codes")
def wrong_proof_unprocessable(patch: Patch) -> None:
    patch.row(rules, "ERROR_STATUS", "SCA_PROOF_WRONG", 422)
    refuse((sca, "check_proof"), {"INVALID_INPUT": "SCA_PROOF_WRONG"})(patch)


@variant("M08", "executing a real-time funded quote does nothing", "codes", (quotes, "execute"))
def realtime_not_executed(execute: Function, unit: Unit, ask: Ask) -> Json:
    quote = quotes.get(unit, ask.params["quoteId"])
    body: Json = (
        quotes.view(unit, quote)
        if quote.source_kind == "REALTIME" and quote.status == "PENDING"
        else execute(unit, ask)
    )
    return body


@variant("M08", "executing a real-time funded quote is a request that is not valid", "other codes")
def realtime_invalid(patch: Patch) -> None:
    patch.row(
        rules, "QUOTE_TRANSITIONS", ("PENDING", "EXECUTE_REALTIME"), rules.Refuse("INVALID_INPUT")
    )


@variant(
    "M18",
    "accounts of one owner do not pay each other; the same account is invalid",
    "codes",
    (parties, "refuse_self_payment"),
    instead,
)
def same_owner(source: parties.Party, destination: parties.Party) -> None:
    if source.account_id is not None and source.account_id == destination.account_id:
        raise errors.Refusal("INVALID_REQUEST_FORMAT", "the same account")
    internal = source.kind == destination.kind == "INTERNAL"
    if internal and source.customer_id == destination.customer_id:
        raise errors.Refusal("SELF_PAYMENT", "the same owner")


# --- Where something is refused -------------------------------------------------------------


@variant(
    "M17",
    "a quote that the balance does not cover is refused at its creation",
    "codes",
    (quotes, "create"),
)
def unfunded_at_creation(create: Function, unit: Unit, ask: Ask) -> Json:
    body: Json = create(unit, ask)
    if body["status"] == "PENDING":
        quotes.refuse_unfunded(unit, quotes.get(unit, body["id"]))
    return body


@variant(
    "M17",
    "a quote that is not executed at once for want of funds is left to expire",
    "other forms",
    (quotes, "create"),
)
def left_to_expire(create: Function, unit: Unit, ask: Ask) -> Json:
    created = unit.session.begin_nested()
    try:
        body: Json = create(unit, ask)
    except (errors.Refusal, errors.Demand) as refusal:
        if isinstance(refusal, errors.Demand) or refusal.code != "INSUFFICIENT_FUNDS":
            created.commit()
            raise
        created.rollback()
        create(unit, replace(ask, body={**ask.body, "immediatelyExecute": False}))
        raise errors.Rejection(refusal.code, refusal.reason, refusal.details) from refusal
    created.commit()
    return body


@variant(
    "M06", "immediatelyExecute is refused for a customer who needs SCA", "codes", (quotes, "create")
)
def no_immediate_challenge(create: Function, unit: Unit, ask: Ask) -> Json:
    body: Json = create(unit, ask)
    asked = isinstance(ask.body, dict) and ask.body.get("immediatelyExecute")
    if asked and body["status"] == "PENDING_AUTHORIZATION":
        raise errors.Refusal("SCA_SESSION_REQUIRED", "execute it in a request of its own")
    return body


@variant(
    "M19", "immediatelyExecute of a real-time funded quote is ignored", "codes", (quotes, "create")
)
def immediate_realtime_ignored(create: Function, unit: Unit, ask: Ask) -> Json:
    body = ask.body
    if fields.at(body, "source.sourceType") == "REALTIME_FUNDING":
        ask = replace(ask, body=without("immediatelyExecute")(body))
    quote: Json = create(unit, ask)
    return quote


# --- States ---------------------------------------------------------------------------------


def _is_unproven(unit: Unit, quote: Quote) -> bool:
    """Return whether a real-time funded quote needs a proof and has none asked for."""
    if quote.source_kind != "REALTIME" or quote.customer_id is None:
        return False
    needed = customers.needs_sca(customers.get(unit, quote.customer_id))
    return needed and quote.challenge_id is None


@variant("M07", "a real-time funded quote is challenged when it is executed", "other codes")
def realtime_challenged_by_execute(patch: Patch) -> None:
    def unchallenged(draft: Function, unit: Unit, order: quotes.Order) -> Quote:
        owner = order.source.customer_id
        customer = None if owner is None else unit.session.get(Customer, owner)
        conditions: Json = {} if customer is None else customer.conditions
        quote: Quote = draft(unit, order)
        if customer is not None and quote.status == "PENDING_AUTHORIZATION":
            quote.status, quote.challenge_id, quote.challenges_left = "PENDING", None, 0
            customer.conditions = conditions
        return quote

    def challenged(execute: Function, unit: Unit, ask: Ask) -> Json:
        quote = quotes.get(unit, ask.params["quoteId"])
        if quote.customer_id is None or not _is_unproven(unit, quote):
            body: Json = execute(unit, ask)
            return body
        quote.status = quotes.next_status(unit, quote, "CHALLENGE")
        sca.begin(unit, quote, customers.get(unit, quote.customer_id))
        return quotes.view(unit, quote)

    def withheld(view: Function, unit: Unit, quote: Quote) -> Json:
        body: Json = view(unit, quote)
        return without("paymentInstructions")(body) if _is_unproven(unit, quote) else body

    patch.wrap(quotes, "draft", unchallenged)
    patch.wrap(quotes, "execute", challenged)
    patch.wrap(quotes, "view", withheld)


@variant(
    "N348",
    "just-in-time funding that names nobody is the platform's",
    "codes",
    (quotes, "between_fields_errors"),
)
def platform_funds(find: Function, body: Any) -> list[Json]:
    source = body.get("source") if isinstance(body, dict) else None
    named = source if isinstance(source, dict) else {}
    return [] if "customerId" not in named and "platform" not in named else find(body)


@variant("M19", "a wallet may be quoted from, and is never executed", "apart")
def wallets_unexecuted(patch: Patch) -> None:
    """A rule of its own for wallets: other sources are as before."""

    def held(start: Function, unit: Unit, quote: Quote, *action: Any) -> None:
        named = str(quote.source.get("accountId"))
        source = unit.session.get(ExternalAccount, named)
        if source is None or not is_wallet(source):
            start(unit, quote, *action)

    def is_wallet(account: ExternalAccount) -> bool:
        return account.account_type.endswith("_WALLET")

    patch.wrap(
        externals,
        "is_pullable",
        lambda is_pullable, account: is_wallet(account) or is_pullable(account),
    )
    patch.wrap(quotes, "start", held)
