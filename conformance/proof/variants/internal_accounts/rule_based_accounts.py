"""Conforming variants of rule-based accounts and of their sweeps."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import contextmanager
from decimal import Decimal
from functools import partial
from http import HTTPStatus
from typing import Any

from sqlalchemy import select

from conformance.proof.kit.builders import Json, Place, around, before, edited, instead
from conformance.proof.kit.edits import without
from conformance.proof.patch import Apply, Function, Patch
from conformance.proof.variant import declare, variant
from conformance.reference import control, errors, rules
from conformance.reference.external_accounts import externals
from conformance.reference.internal_accounts import accounts, ledger, rule_based, sweeps
from conformance.reference.quotes import fees, quotes
from conformance.reference.service import Service
from conformance.reference.store import InternalAccount, MintedAccount, Quote
from conformance.reference.transactions import settlement
from conformance.reference.unit import Ask, Reply, Unit

_A_MOMENT = 0.1
_UNDER_WAY = 0.02
"""How long a request is under way: enough for others of the same moment to come in."""


def only_rule_based(change: Callable[[Json], Json]) -> Apply:
    """Return a patch after which rule-based accounts are shown as ``change`` returns them."""
    return edited(
        accounts, "_view", lambda body: change(body) if body["type"] == "RULE_BASED" else body
    )


def refused_with(place: Place, code: str, status: int) -> Apply:
    """Let a function refuse whatever it refuses with another code."""

    def apply(patch: Patch) -> None:
        def refuse(original: Function, *arguments: Any) -> Any:
            try:
                return original(*arguments)
            except errors.Refusal as refusal:
                raise errors.Refusal(code, refusal.reason) from refusal

        patch.wrap(*place, refuse)
        patch.row(rules, "ERROR_STATUS", code, status)

    return apply


# --- Where sweeps go ------------------------------------------------------------------------


@variant(
    "N024",
    "sweeps go to internal accounts alone",
    "within alone",
    (rule_based, "refuse_unknown_destination"),
    before,
)
def swept_within(unit: Unit, account_id: str) -> None:
    if externals.find(unit, account_id) is not None:
        message = "Expected an internal account."
        raise errors.invalid_input(errors.field_error("sweepRule.destination.accountId", message))


# --- How requests are refused ---------------------------------------------------------------

for _point, _name, _function, _status, _group in (
    ("M58", "key-conflicts", "key_of", 409, "codes"),
    ("M58", "key-unprocessable", "key_of", 422, "other codes"),
    ("M59", "holder-unprocessable", "refuse_other_holders", 422, "codes"),
    ("M59", "holder-conflicts", "refuse_other_holders", 409, "other codes"),
    ("M59", "home-unprocessable", "refuse_without_home", 422, "codes"),
    ("M59", "home-bad-request", "refuse_without_home", 400, "other codes"),
    ("M59", "platform-bad-request", "refuse_disabled", 400, "codes"),
    ("M59", "platform-not-found", "refuse_disabled", 404, "other codes"),
):
    declare(
        _point,
        _name,
        f"what {_function} refuses is answered with {_status}",
        refused_with((rule_based, _function), f"OF_{_function.upper()}_{_status}", _status),
        _group,
    )


@variant(
    "M41",
    "a customer that does not exist is a wrong value of the body",
    "codes",
    (rule_based, "create"),
    around,
)
def unknown_holder(original: Function, unit: Unit, ask: Ask) -> Any:
    try:
        return original(unit, ask)
    except errors.Refusal as refusal:
        if refusal.code != "CUSTOMER_NOT_FOUND":
            raise
        raise errors.invalid_input(errors.field_error("customerId", "Unknown.")) from refusal


@variant(
    "M59",
    "what is wrong with the body conflicts with the service's offer",
    "other codes",
    (rule_based, "create"),
    around,
)
def body_conflicts(original: Function, unit: Unit, ask: Ask) -> Any:
    kind = ask.body.get("type") if isinstance(ask.body, dict) else None
    if isinstance(kind, str) and kind != "RULE_BASED":
        raise errors.Refusal("CONFLICT", "Only RULE_BASED is creatable.")
    return original(unit, ask)


# --- What a key stands for ------------------------------------------------------------------


@variant("M58", "a label does not make another account", "forms", (rule_based, "is_same"), instead)
def label_unseen(earlier: MintedAccount, body: Json) -> bool:
    return bool(without("label")(earlier.asked) == without("label")(body))


@variant(
    "M58",
    "an empty key is one like others, of each platform its own",
    "other forms",
    (rule_based, "key_of"),
)
def empty_key(key_of: Function, ask: Ask) -> Any:
    empty = ask.headers.get(rule_based.KEY) == ""
    return f"empty-{ask.body.get('customerId')}" if empty else key_of(ask)


@variant("M58", "a request whose like is under way is told to wait", "forms")
def under_way(patch: Patch) -> None:
    busy: set[str] = set()

    @contextmanager
    def claimed(key: str) -> Any:
        if key in busy:
            raise errors.Refusal("CONFLICT", "The same request is under way.")
        busy.add(key)
        try:
            yield
        finally:
            busy.discard(key)

    async def waiting(serve: Function, self: Any, handler: Function, ask: Ask) -> Any:
        key = ask.headers.get(rule_based.KEY)
        if not key or handler is not rule_based.create:
            return await serve(self, handler, ask)
        with claimed(key):
            await asyncio.sleep(_UNDER_WAY)
            return await serve(self, handler, ask)

    patch.wrap(Service, "serve", waiting)


@variant(
    "N023",
    "without a currency it is the only one that there is",
    "forms",
    (rule_based, "create"),
    around,
)
def currency_assumed(original: Function, unit: Unit, ask: Ask) -> Any:
    if isinstance(ask.body, dict) and "currency" not in ask.body:
        ask = Ask(ask.params, ask.query, {**ask.body, "currency": "USD"}, ask.headers, ask.files)
    return original(unit, ask)


# --- What is shown --------------------------------------------------------------------------


declare(
    "N024",
    "rule-reshaped",
    "a rule is shown in a form of its own",
    only_rule_based(
        lambda body: {**body, "sweepRule": {"id": "SweepRule:1", "mode": "ALL", "to": {}}}
    ),
    "forms",
)


@variant("N058", "a rule-based account can be paid into in a way without a number too", "forms")
def another_way(patch: Patch) -> None:
    wallet = {"accountOrWalletInfo": {"accountType": "UMA", "address": "$collect@uma.example"}}
    only_rule_based(
        lambda body: {
            **body,
            "fundingPaymentInstructions": [wallet, *(body["fundingPaymentInstructions"] or ())],
        }
    )(patch)


@variant("N058", "the routing number is not told", "other forms")
def no_routing_number(patch: Patch) -> None:
    def entry(instruction: Json) -> Json:
        info = without("routingNumber")(instruction["accountOrWalletInfo"])
        return {**instruction, "accountOrWalletInfo": info}

    only_rule_based(
        lambda body: {
            **body,
            "fundingPaymentInstructions": [entry(i) for i in body["fundingPaymentInstructions"]],
        }
    )(patch)


@variant(
    "M56",
    "a rule-based account is pending at first, and has no number then",
    "forms",
    (rule_based, "create"),
    around,
)
def pending_at_first(original: Function, unit: Unit, ask: Ask) -> Any:
    reply = original(unit, ask)
    if reply.status != HTTPStatus.CREATED:
        return reply
    return Reply(
        reply.status, {**reply.body, "status": "PENDING", "fundingPaymentInstructions": []}
    )


@variant(
    "M75", "a rule-based account does not show its holder", "apart", (rule_based, "create"), around
)
def holder_hidden(original: Function, unit: Unit, ask: Ask) -> Any:
    reply = original(unit, ask)
    return Reply(reply.status, without("customerId")(reply.body))


# --- Who gets one, and where to -------------------------------------------------------------


@variant(
    "N024",
    "no internal account is a destination",
    "apart",
    (rule_based, "refuse_unknown_destination"),
    before,
)
def external_alone(unit: Unit, account_id: str) -> None:
    if accounts.find(unit, account_id) is not None:
        raise errors.Refusal("CONFLICT", "Name an external account.")


@variant(
    "N024",
    "a rule goes to accounts of its holder alone",
    "other apart",
    (rule_based, "create"),
    around,
)
def own_alone(original: Function, unit: Unit, ask: Ask) -> Any:
    reply = original(unit, ask)
    target = accounts.find(unit, ask.body["sweepRule"]["destination"]["accountId"])
    if target is not None and target.customer_id != ask.body["customerId"]:
        raise errors.Refusal("CONFLICT", "Name an account of the customer.")
    return reply


@variant("M59", "a holder gets one rule-based account", "other apart")
def one_each(patch: Patch) -> None:
    def refuse_second(unit: Unit, holder: Any, body: Json) -> None:
        query = select(InternalAccount).where(
            InternalAccount.customer_id == holder.id, InternalAccount.type == "RULE_BASED"
        )
        if unit.session.scalars(query).first() is not None:
            raise errors.Refusal("CONFLICT", "The customer has one already.")

    before(rule_based, "mint", refuse_second)(patch)
    # Whoever tries until the permission has gone would get a second one.
    patch.concern(rule_based, "is_enabled")


@variant(
    "M54", "the destination of a rule cannot be deleted", "apart", (externals, "remove"), before
)
def destination_needed(unit: Unit, ask: Ask) -> None:
    query = select(InternalAccount).where(InternalAccount.type == "RULE_BASED")
    for account in unit.session.scalars(query):
        if ask.params["externalAccountId"] in str(account.sweep_rule):
            raise errors.Refusal("CONFLICT", "A rule needs it.")


@variant("M88", "a permission is given and taken a moment later", "slow")
def late_permission(patch: Patch) -> None:
    known: list[tuple[float, bool]] = [(0.0, True)]

    def late(choose: Function, unit: Unit, ask: Ask) -> None:
        choose(unit, ask)
        known.append((time.monotonic() + _A_MOMENT, ask.body["enabled"]))

    patch.wrap(control, "choose_rule_based", late)
    patch.replace(
        rule_based,
        "is_enabled",
        lambda _unit: [on for moment, on in known if moment <= time.monotonic()][-1],
    )


# --- How it is swept ------------------------------------------------------------------------


@variant("M88", "what settles is swept a moment later", "slow", (rule_based, "fund"), instead)
def late_sweep(unit: Unit, ask: Ask) -> Json:
    body = accounts.fund(unit, ask)
    if body["type"] == "RULE_BASED":
        unit.later(_A_MOMENT, partial(rule_based.sweep, account_id=body["id"]))
    return body


@variant(
    "N066",
    "what the sandbox lets happen to payouts does not happen to sweeps",
    "blocked-sweeps",
    (settlement, "result_of"),
)
def sweeps_complete(result_of: Function, unit: Unit, quote: Quote) -> rules.PayoutResult:
    account = accounts.find(unit, quote.source.get("accountId") or "")
    if account is not None and sweeps.is_rule_based(account):
        return rules.PAYOUT_RESULTS["NORMAL"]
    result: rules.PayoutResult = result_of(unit, quote)
    return result


@variant("M15", "a sweep is free of charge", "forms", (quotes, "terms_for"))
def free_sweep(terms_for: Function, unit: Unit, order: Any) -> Any:
    account = accounts.find(unit, order.source.account_id or "")
    if account is not None and sweeps.is_rule_based(account):
        return fees.Terms(Decimal(0), Decimal(0), 0)
    return terms_for(unit, order)


@variant("N042", "what settles never shows in the rule-based account, and makes no event", "forms")
def passing_through(patch: Patch) -> None:
    def others(announce: Function, unit: Unit, account: InternalAccount) -> None:
        if not sweeps.is_rule_based(account):
            announce(unit, account)

    def fund(unit: Unit, ask: Ask) -> Json:
        body = accounts.fund(unit, ask)
        if body["type"] == "RULE_BASED":
            rule_based.sweep(unit, account_id=body["id"])
        return body

    patch.wrap(accounts, "announce_balance", others)
    patch.replace(rule_based, "fund", fund)


@variant(
    "N066",
    "a sweep is no transaction, and its money moves at once",
    "other forms",
    (rule_based, "send"),
)
def without_transaction(
    send: Function, unit: Unit, account: InternalAccount, destination: Json, amount: int
) -> None:
    target = accounts.find(unit, destination["accountId"])
    stopped = target is not None and accounts.RECEIVE not in accounts.ABILITIES[target.status]
    if target is None or stopped or sweeps.minted(unit, account).unreachable:
        send(unit, account, destination, amount)
        return
    ledger.post(
        unit,
        [
            ledger.Leg(ledger.available(account.id), "USD", -amount),
            ledger.Leg(ledger.available(target.id), "USD", amount),
        ],
    )
    accounts.announce_balance(unit, account)
    accounts.announce_balance(unit, target)
