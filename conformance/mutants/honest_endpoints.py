"""Honest variants of what the text leaves open about single endpoints."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from conformance.mutants.mutant import Patch
from conformance.mutants.variant import declare, variant
from conformance.reference import errors, rules
from conformance.reference.store import ExternalAccount, Json, Quote
from conformance.reference.unit import Ask, Unit

Function = Callable[..., Any]
Apply = Callable[[Patch], None]

_REFERENCE = "conformance.reference"
_LISTS = ("accounts:list_for_customers", "externals:list_for_customers")
_TYPES = ("OUTGOING", "INCOMING", "CARD", "TRANSFER")
_COINS = frozenset({"USD", "USDB", "USDC", "USDT"})


# --- Ids ------------------------------------------------------------------------------------


def _formed(kind: str, place: str) -> Apply:
    """Return a patch after which an id of another kind is no valid value."""

    def wrapper(get: Function) -> Function:
        def found(unit: Unit, name: str, *arguments: Any) -> Any:
            if not name.startswith(f"{kind}:"):
                raise errors.invalid_input(errors.field_error("id", f"Expected {kind}:<id>."))
            return get(unit, name, *arguments)

        return found

    return lambda patch: patch.wrap(f"{_REFERENCE}.{place}", wrapper)


for _kind, _place in (
    ("Customer", "customers:get"),
    ("ExternalAccount", "externals:get"),
    ("InternalAccount", "accounts:get"),
    ("Quote", "quotes:get"),
):
    declare(
        "N346",
        f"formed-{_kind}",
        f"what is no id of the form {_kind}:<id> is refused with 400",
        _formed(_kind, _place),
        "other codes",
    )


def _untyped(kind: str, place: str) -> Apply:
    """Return a patch after which an id is found without its type too."""

    def wrapper(get: Function) -> Function:
        def found(unit: Unit, name: str, *arguments: Any) -> Any:
            return get(unit, name if ":" in name else f"{kind}:{name}", *arguments)

        return found

    return lambda patch: patch.wrap(f"{_REFERENCE}.{place}", wrapper)


for _kind, _place in (("Customer", "customers:get"), ("ExternalAccount", "externals:find")):
    declare(
        "M78",
        f"untyped-{_kind}",
        f"an id of a {_kind} may leave its type out",
        _untyped(_kind, _place),
        "forms",
    )


# --- Lists ----------------------------------------------------------------------------------


def _of_a_customer(place: str) -> Apply:
    """Return a patch after which a list is one customer's alone."""

    def wrapper(handler: Function) -> Function:
        def listed(unit: Unit, ask: Ask) -> Any:
            if "customerId" not in ask.query:
                raise errors.invalid_input(errors.field_error("customerId", "Name a customer."))
            return handler(unit, ask)

        return listed

    return lambda patch: patch.wrap(f"{_REFERENCE}.{place}", wrapper)


for _place in _LISTS:
    declare(
        "N343",
        f"{_place.partition(':')[0]}-of-a-customer",
        "a list of accounts without a customer is refused",
        _of_a_customer(_place),
        "codes",
    )


@variant("N341", "a type or a status that does not exist is refused", "codes")
def unknown_filters(patch: Patch) -> None:
    def wrapper(filtered: Function) -> Function:
        def strict(query: Mapping[str, str]) -> Any:
            if query.get("type", _TYPES[0]) not in _TYPES or "_" in query.get("status", ""):
                raise errors.invalid_input(errors.field_error("type", "There is no such value."))
            return filtered(query)

        return strict

    patch.wrap(f"{_REFERENCE}.transactions:filtered", wrapper)


@variant("N340", "a status finds no card transactions", "forms")
def payments_alone(patch: Patch) -> None:
    def wrapper(made_with_cards: Function) -> Function:
        def found(query: Mapping[str, str]) -> Any:
            return None if "status" in query else made_with_cards(query)

        return found

    patch.wrap(f"{_REFERENCE}.transactions:made_with_cards", wrapper)


# --- Customers ------------------------------------------------------------------------------


@variant("N342", "a change of nothing is refused", "codes")
def empty_change(patch: Patch) -> None:
    def wrapper(update: Function) -> Function:
        def strict(unit: Unit, ask: Ask) -> Any:
            if ask.body == {}:
                raise errors.Refusal("INVALID_INPUT", "Send a field to change.")
            return update(unit, ask)

        return strict

    patch.wrap(f"{_REFERENCE}.onboarding:update", wrapper)


# --- Quotes and lookups ---------------------------------------------------------------------


@variant("N348", "just-in-time funding that names nobody is the platform's", "codes")
def platform_funds(patch: Patch) -> None:
    def wrapper(find: Function) -> Function:
        def lenient(body: Any) -> list[Json]:
            source = body.get("source") if isinstance(body, dict) else None
            named = source if isinstance(source, dict) else {}
            return [] if "customerId" not in named and "platform" not in named else find(body)

        return lenient

    patch.wrap(f"{_REFERENCE}.quotes:between_fields_errors", wrapper)


@variant("M19", "a wallet may be quoted from, and is never executed", "apart")
def wallets_unexecuted(patch: Patch) -> None:
    """A rule of its own for wallets: other sources are as before."""

    def pullable(is_pullable: Function) -> Function:
        return lambda account: is_wallet(account) or is_pullable(account)

    def starting(start: Function) -> Function:
        def held(unit: Unit, quote: Quote, *action: Any) -> None:
            named = str(quote.source.get("accountId"))
            source = unit.session.get(ExternalAccount, named)
            if source is None or not is_wallet(source):
                start(unit, quote, *action)

        return held

    def is_wallet(account: ExternalAccount) -> bool:
        return account.account_type.endswith("_WALLET")

    patch.wrap(f"{_REFERENCE}.externals:is_pullable", pullable)
    patch.wrap(f"{_REFERENCE}.quotes:start", starting)


@variant("M60", "a lookup that names its sender twice is refused", "forms")
def one_sender(patch: Patch) -> None:
    def wrapper(currency_of: Function) -> Function:
        def currency(unit: Unit, query: Json) -> Any:
            if {"customerId", "senderUmaAddress"} <= query.keys():
                raise errors.invalid_input(errors.field_error("customerId", "Name one sender."))
            return currency_of(unit, query)

        return currency

    patch.wrap(f"{_REFERENCE}.receivers:sender_currency", wrapper)


@variant("N347", "lookups of one account share an id for a while", "other forms")
def shared_lookups(patch: Patch) -> None:
    first: dict[str, Json] = {}

    def wrapper(lookup: Function) -> Function:
        def shared(unit: Unit, ask: Ask) -> Json:
            shown = lookup(unit, ask)
            known = first.setdefault(shown["accountId"], shown)
            return {**shown, "lookupId": known["lookupId"]}

        return shared

    patch.wrap(f"{_REFERENCE}.receivers:lookup", wrapper)


def _at_par(rate: Function, sending: str, receiving: str) -> Any:
    """Return the rate of US dollars for each of the coins that stand for them."""
    return rate(*("USD" if code in _COINS else code for code in (sending, receiving)))


@variant("M16", "a coin that stands for US dollars is worth as much", "other apart")
def coins_at_par(patch: Patch) -> None:
    patch.wrap(f"{_REFERENCE}.money:market_rate", lambda rate: partial(_at_par, rate))


# --- Hosted links ---------------------------------------------------------------------------


@variant("N153", "the redirectUri stands in a token of the kycUrl", "apart")
def redirect_in_a_token(patch: Patch) -> None:
    def wrapper(url_of: Function) -> Function:
        def tokened(provider: rules.HostedFlow, redirect_uri: str) -> str:
            told = json.dumps({"redirect": redirect_uri}).encode()
            token = base64.urlsafe_b64encode(told).decode().rstrip("=")
            start = url_of(provider, "").partition("?")[0]
            return f"{start}?state=header.{token}.seal"

        return tokened

    patch.wrap(f"{_REFERENCE}.kyc_links:url_of", wrapper)
