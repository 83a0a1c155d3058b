"""Honest variants of rule-based accounts, and of the sweeps of what settles into them."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import contextmanager
from decimal import Decimal
from functools import partial
from typing import Any

from sqlalchemy import select

from conformance.mutants.honest import shown, without
from conformance.mutants.mutant import Patch
from conformance.mutants.variant import declare, variant
from conformance.reference import accounts, errors, fees, ledger, rule_based, sweeps
from conformance.reference.store import InternalAccount, Json, MintedAccount
from conformance.reference.unit import Ask, Reply, Unit

Function = Callable[..., Any]

_HERE = "conformance.reference.rule_based"
_CODES = "conformance.reference.rules:ERROR_STATUS"
_VIEW = "conformance.reference.accounts:_view"
_A_MOMENT = 0.1


def only_rule_based(change: Callable[[Json], Json]) -> Callable[[Patch], None]:
    """Return a patch after which rule-based accounts are shown as ``change`` returns them."""
    return shown(_VIEW, lambda body: change(body) if body["type"] == "RULE_BASED" else body)


def refused_with(place: str, code: str, status: int, patch: Patch) -> None:
    """Let a function refuse whatever it refuses with another code."""

    def wrapper(original: Function) -> Function:
        def refuse(*arguments: Any) -> Any:
            try:
                return original(*arguments)
            except errors.Refusal as refusal:
                raise errors.Refusal(code, refusal.reason) from refusal

        return refuse

    patch.wrap(place, wrapper)
    patch.row(_CODES, code, status)


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
        partial(refused_with, f"{_HERE}:{_function}", f"OF_{_function.upper()}_{_status}", _status),
        _group,
    )


def _creating(change: Callable[[Function, Unit, Ask], Any], patch: Patch) -> None:
    patch.wrap(f"{_HERE}:create", lambda create: lambda unit, ask: change(create, unit, ask))


@variant("M41", "a customer that does not exist is a wrong value of the body", "codes")
def unknown_holder(patch: Patch) -> None:
    def create(original: Function, unit: Unit, ask: Ask) -> Any:
        try:
            return original(unit, ask)
        except errors.Refusal as refusal:
            if refusal.code != "CUSTOMER_NOT_FOUND":
                raise
            raise errors.invalid_input(errors.field_error("customerId", "Unknown.")) from refusal

    _creating(create, patch)


@variant("M59", "what is wrong with the body conflicts with the service's offer", "other codes")
def body_conflicts(patch: Patch) -> None:
    def create(original: Function, unit: Unit, ask: Ask) -> Any:
        kind = ask.body.get("type") if isinstance(ask.body, dict) else None
        if isinstance(kind, str) and kind != "RULE_BASED":
            raise errors.Refusal("CONFLICT", "Only RULE_BASED is creatable.")
        return original(unit, ask)

    _creating(create, patch)


# --- What a key stands for ------------------------------------------------------------------


@variant("M58", "a label does not make another account", "forms")
def label_unseen(patch: Patch) -> None:
    def is_same(earlier: MintedAccount, body: Json) -> bool:
        return bool(without("label", earlier.asked) == without("label", body))

    patch.replace(f"{_HERE}:is_same", is_same)


@variant("M58", "a rule does not make another account", "other forms")
def rule_unseen(patch: Patch) -> None:
    def is_same(earlier: MintedAccount, body: Json) -> bool:
        return bool(earlier.asked["customerId"] == body["customerId"])

    patch.replace(f"{_HERE}:is_same", is_same)


@variant("M58", "an empty key is one like others, of each platform its own", "other forms")
def empty_key(patch: Patch) -> None:
    def wrapper(key_of: Function) -> Function:
        def own(ask: Ask) -> Any:
            empty = ask.headers.get(rule_based.KEY) == ""
            return f"empty-{ask.body.get('customerId')}" if empty else key_of(ask)

        return own

    patch.wrap(f"{_HERE}:key_of", wrapper)


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

    def wrapper(answer: Function) -> Function:
        def waiting(self: Any, handler: Function, ask: Ask) -> Any:
            key = ask.headers.get(rule_based.KEY)
            if not key or handler is not rule_based.create:
                return answer(self, handler, ask)
            with claimed(key):
                return answer(self, handler, ask)

        return waiting

    patch.wrap("conformance.reference.service:Service.answer", wrapper)


@variant("N023", "without a currency it is the only one that there is", "forms")
def currency_assumed(patch: Patch) -> None:
    def create(original: Function, unit: Unit, ask: Ask) -> Any:
        if isinstance(ask.body, dict) and "currency" not in ask.body:
            ask = Ask(
                ask.params, ask.query, {**ask.body, "currency": "USD"}, ask.headers, ask.files
            )
        return original(unit, ask)

    _creating(create, patch)


# --- What is shown --------------------------------------------------------------------------


@variant("N024", "a rule is shown in a form of its own", "forms")
def rule_reshaped(patch: Patch) -> None:
    only_rule_based(
        lambda body: {**body, "sweepRule": {"id": "SweepRule:1", "mode": "ALL", "to": {}}}
    )(patch)


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
        info = without("routingNumber", instruction["accountOrWalletInfo"])
        return {**instruction, "accountOrWalletInfo": info}

    only_rule_based(
        lambda body: {
            **body,
            "fundingPaymentInstructions": [entry(i) for i in body["fundingPaymentInstructions"]],
        }
    )(patch)


@variant("M75", "a rule-based account does not show its holder", "apart")
def holder_hidden(patch: Patch) -> None:
    def create(original: Function, unit: Unit, ask: Ask) -> Any:
        reply = original(unit, ask)
        return Reply(reply.status, without("customerId", reply.body))

    _creating(create, patch)


# --- Who gets one, and where to -------------------------------------------------------------


@variant("N024", "no internal account is a destination", "apart")
def external_alone(patch: Patch) -> None:
    def wrapper(refuse: Function) -> Function:
        def outside(unit: Unit, account_id: str) -> None:
            if accounts.find(unit, account_id) is not None:
                raise errors.Refusal("CONFLICT", "Name an external account.")
            refuse(unit, account_id)

        return outside

    patch.wrap(f"{_HERE}:refuse_unknown_destination", wrapper)


@variant("N024", "a rule goes to accounts of its holder alone", "other apart")
def own_alone(patch: Patch) -> None:
    def create(original: Function, unit: Unit, ask: Ask) -> Any:
        reply = original(unit, ask)
        target = accounts.find(unit, ask.body["sweepRule"]["destination"]["accountId"])
        if target is not None and target.customer_id != ask.body["customerId"]:
            raise errors.Refusal("CONFLICT", "Name an account of the customer.")
        return reply

    _creating(create, patch)


@variant("M59", "a holder gets one rule-based account", "other apart")
def one_each(patch: Patch) -> None:
    def wrapper(mint: Function) -> Function:
        def once(unit: Unit, holder: Any, body: Json) -> Any:
            query = select(InternalAccount).where(
                InternalAccount.customer_id == holder.id, InternalAccount.type == "RULE_BASED"
            )
            if unit.session.scalars(query).first() is not None:
                raise errors.Refusal("CONFLICT", "The customer has one already.")
            return mint(unit, holder, body)

        return once

    patch.wrap(f"{_HERE}:mint", wrapper)


@variant("M54", "the destination of a rule cannot be deleted", "apart")
def destination_needed(patch: Patch) -> None:
    def wrapper(remove: Function) -> Function:
        def checked(unit: Unit, ask: Ask) -> None:
            query = select(InternalAccount).where(InternalAccount.type == "RULE_BASED")
            for account in unit.session.scalars(query):
                if ask.params["externalAccountId"] in str(account.sweep_rule):
                    raise errors.Refusal("CONFLICT", "A rule needs it.")
            remove(unit, ask)

        return checked

    patch.wrap("conformance.reference.externals:remove", wrapper)


@variant("timing", "a permission is given and taken a moment later", "slow")
def late_permission(patch: Patch) -> None:
    known: list[tuple[float, bool]] = [(0.0, True)]

    def noting(choose: Function) -> Function:
        def late(unit: Unit, ask: Ask) -> None:
            choose(unit, ask)
            known.append((time.monotonic() + _A_MOMENT, ask.body["enabled"]))

        return late

    patch.wrap("conformance.reference.control:choose_rule_based", noting)
    patch.replace(
        f"{_HERE}:is_enabled",
        lambda _unit: [on for moment, on in known if moment <= time.monotonic()][-1],
    )


# --- How it is swept ------------------------------------------------------------------------


@variant("timing", "what settles is swept a moment later", "slow")
def late_sweep(patch: Patch) -> None:
    def fund(unit: Unit, ask: Ask) -> Json:
        body = accounts.fund(unit, ask)
        if body["type"] == "RULE_BASED":
            unit.later(_A_MOMENT, partial(rule_based.sweep, account_id=body["id"]))
        return body

    patch.replace(f"{_HERE}:fund", fund)


@variant("M15", "a sweep is free of charge", "forms")
def free_sweep(patch: Patch) -> None:
    def wrapper(terms_for: Function) -> Function:
        def free(unit: Unit, order: Any) -> Any:
            account = accounts.find(unit, order.source.account_id or "")
            if account is not None and sweeps.is_rule_based(account):
                return fees.Terms(Decimal(0), Decimal(0), 0)
            return terms_for(unit, order)

        return free

    patch.wrap("conformance.reference.quotes:terms_for", wrapper)


@variant("N042", "what settles never shows in the rule-based account, and makes no event", "forms")
def passing_through(patch: Patch) -> None:
    def announcing(announce: Function) -> Function:
        def others(unit: Unit, account: InternalAccount) -> None:
            if not sweeps.is_rule_based(account):
                announce(unit, account)

        return others

    def fund(unit: Unit, ask: Ask) -> Json:
        body = accounts.fund(unit, ask)
        if body["type"] == "RULE_BASED":
            rule_based.sweep(unit, account_id=body["id"])
        return body

    patch.wrap("conformance.reference.accounts:announce_balance", announcing)
    patch.replace(f"{_HERE}:fund", fund)


@variant("N066", "a sweep is no transaction, and its money moves at once", "other forms")
def without_transaction(patch: Patch) -> None:
    def wrapper(send: Function) -> Function:
        def booked(unit: Unit, account: InternalAccount, destination: Json, amount: int) -> None:
            target = accounts.find(unit, destination["accountId"])
            if target is None or sweeps.minted(unit, account).unreachable:
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

        return booked

    patch.wrap(f"{_HERE}:send", wrapper)
