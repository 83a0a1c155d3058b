"""Mutants of what a quote is created from, and of how long it lives."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from sqlalchemy import select

from conformance.proof.kit.builders import (
    Handler,
    Json,
    around,
    before,
    edited,
    instead,
    receives,
)
from conformance.proof.kit.tables import answers, with_field
from conformance.proof.mutant import declare, mutant
from conformance.proof.mutants.quotes.toolkit import (
    PAYING,
    at_once,
    change_body,
    refusing,
    without_terms,
)
from conformance.proof.patch import Apply, Patch
from conformance.reference import errors, rules
from conformance.reference.customers import customers, onboarding
from conformance.reference.internal_accounts import accounts
from conformance.reference.quotes import limits, parties, quotes
from conformance.reference.store import Customer, ExternalAccount, Quote
from conformance.reference.unit import Ask, Reply, Unit
from conformance.reference.unit import after as moment_after

# --- Lifetime and creation ------------------------------------------------------------------


LIVES = (
    ("QUO-030", "expired-at-birth", "a quote expires when it is created", 0),
    ("QUO-030", "expired-before-birth", "a quote expired before it was created", -60),
    ("QUO-062", "lives-16-minutes", "a quote lives for 16 minutes", 16 * 60),
    ("QUO-062", "lives-a-day", "a quote lives for a day", 24 * 60 * 60),
)


def living(seconds: int) -> Apply:
    """Return a patch after which quotes live for ``seconds``."""

    def patch(patch: Patch) -> None:
        patch.replace(quotes, "expiry_of", lambda unit: moment_after(unit.now, seconds))

    return patch


for requirement, name, statement, seconds in LIVES:
    declare(requirement, name, statement, living(seconds))

declare(
    "QUO-070", "answers-200", "a created quote is answered with 200", answers("createQuote", 200)
)
declare(
    "QUO-070", "answers-202", "a created quote is answered with 202", answers("createQuote", 202)
)


def _executing(body: Json) -> Json:
    return {"immediatelyExecute": True, **body}


def _executing_if_named(body: Json) -> Json:
    return {**body, "immediatelyExecute": "immediatelyExecute" in body}


for requirement in ("QUO-071", "QUO-072", "QUO-077"):
    declare(
        requirement,
        "executed-at-once",
        "quotes are executed as they are created",
        receives(quotes, "create", _executing),
    )

declare(
    "QUO-073",
    "false-executes",
    "immediatelyExecute executes whatever its value",
    receives(quotes, "create", _executing_if_named),
)


def one_quote_for_one_body(patch: Patch) -> None:
    """Answer a repeated body with the first quote again."""
    first: dict[str, Json] = {}

    def handler(original: Callable[[Unit, Ask], Json], unit: Unit, ask: Ask) -> Json:
        key = json.dumps(ask.body, sort_keys=True)
        if key not in first:
            first[key] = original(unit, ask)
        return first[key]

    patch.wrap(quotes, "create", handler)


for requirement in ("QUO-075", "QUO-076"):
    declare(
        requirement, "repeated", "the same body is the same quote again", one_quote_for_one_body
    )


def _clicked_twice(original: Callable[[Unit, Ask], Json], unit: Unit, ask: Ask) -> Json:
    """Answer a repeated body of a payment at once with the quote of the first."""
    if not at_once(ask.body):
        return original(unit, ask)
    earlier = unit.session.scalars(select(Quote).order_by(Quote.created_at)).all()
    ends = (ask.body["source"], ask.body["destination"], ask.body["lockedCurrencyAmount"])
    for quote in earlier:
        if (quote.source, quote.destination, quote.sending_amount) == ends:
            return quotes.view(unit, quote)
    return original(unit, ask)


for requirement in ("QUO-075", "QUO-076", "QUO-122"):
    declare(
        requirement,
        "clicked-twice",
        "a payment at once that is sent again is taken for the first one",
        around(quotes, "create", _clicked_twice),
    )


@mutant("QUO-120", "what a business pays is never executed at once", (quotes, "create"))
def business_waits(original: Callable[[Unit, Ask], Json], unit: Unit, ask: Ask) -> Json:
    account = accounts.find(unit, str(ask.body["source"].get("accountId")))
    payer = unit.session.get(Customer, account.customer_id) if account else None
    if payer is None or payer.customer_type != "BUSINESS":
        return original(unit, ask)
    return original(unit, Ask(ask.params, ask.query, {**ask.body, "immediatelyExecute": False}))


# --- Requests that must be taken ------------------------------------------------------------


@mutant("QUO-157", "a destination takes its default rail alone", (parties, "refuse_rail"), instead)
def rails_refused(_account: Any, rail: str | None) -> None:
    if rail is not None:
        raise errors.invalid_input(errors.field_error("destination.paymentRail", "Unknown."))


def _demand_rail(_account: ExternalAccount, rail: str | None) -> None:
    if rail is None:
        raise errors.invalid_input(errors.field_error("destination.paymentRail", "Required."))


def _demand_rail_for_businesses(account: ExternalAccount, rail: str | None) -> None:
    if account.info.get("beneficiary", {}).get("beneficiaryType") == "BUSINESS":
        _demand_rail(account, rail)


declare(
    "QUO-158",
    "rail_demanded",
    "a rail has to be named",
    instead(parties, "refuse_rail", _demand_rail),
)
declare(
    "QUO-158",
    "businesses",
    "a rail has to be named where a business is paid",
    before(parties, "refuse_rail", _demand_rail_for_businesses),
)
declare(
    "QUO-159",
    "short-descriptions",
    "a description may have ten characters",
    with_field(rules, "QUOTE_FIELDS", "description", max_length=10),
)

for _kind in PAYING:
    declare(
        "QUO-159",
        f"refused-{_kind}",
        f"a description is refused where the payment is {_kind.replace('-', ' ')}",
        refusing(_kind, "description", bool),
    )


# --- End-user terms -------------------------------------------------------------------------


def _without_consent(body: Json) -> Json:
    body.pop("endUserTermsConsent", None)
    return body


def _consent_of_individuals(original: Handler, unit: Unit, ask: Ask) -> Any:
    customer = customers.get(unit, ask.params["customerId"])
    if customer.customer_type == "BUSINESS" and isinstance(ask.body, dict):
        ask = replace(ask, body=_without_consent({**ask.body}))
    return original(unit, ask)


declare(
    "QUO-131",
    "update-not-recorded",
    "an acceptance by update is not recorded",
    receives(onboarding, "update", _without_consent),
)
declare(
    "QUO-131",
    "businesses",
    "an acceptance by update is recorded for individuals alone",
    around(onboarding, "update", _consent_of_individuals),
)
declare(
    "QUO-132",
    "creation-not-recorded",
    "an acceptance at creation is not recorded",
    receives(onboarding, "create", _without_consent),
)


@mutant("QUO-130", "nobody has to accept the terms")
def terms_not_needed(patch: Patch) -> None:
    patch.replace(customers, "refuse_without_terms", lambda _customer: None)


WITHOUT_TERMS: tuple[tuple[str, str, Callable[[quotes.Order, Customer], bool]], ...] = (
    (
        "terms-accepted-by-paying",
        "who pays just in time has accepted the terms",
        lambda order, _customer: order.source.kind == "REALTIME",
    ),
    (
        "addresses-without-terms",
        "who pays a UMA address need not accept the terms",
        lambda order, _customer: order.destination.kind == "UMA",
    ),
    (
        "proofs-without-terms",
        "who proves payments need not accept the terms",
        lambda _order, customer: customers.needs_sca(customer),
    ),
    (
        "payouts-in-coins-without-terms",
        "what is paid out in a crypto currency waits for no terms",
        lambda order, _customer: rules.CURRENCIES[order.destination.currency].crypto,
    ),
    (
        "coins-without-terms",
        "what is paid from an account in a crypto currency waits for no terms",
        lambda order, _customer: accounts.type_for(order.source.currency) == "INTERNAL_CRYPTO",
    ),
    (
        "wallets-without-terms",
        "what is paid from an embedded wallet waits for no terms",
        lambda order, _customer: accounts.type_for(order.source.currency) == "EMBEDDED_WALLET",
    ),
)
"""Name, statement and condition of quotes for which nobody has to accept the terms."""

for _name, _statement, _condition in WITHOUT_TERMS:
    declare("QUO-130", _name, _statement, without_terms(_condition))


declare(
    "QUO-045",
    "real-time",
    "the amount of a quote that is funded just in time is always what is sent",
    around(
        quotes,
        "draft",
        lambda draft, unit, order: draft(
            unit, replace(order, side="SENDING") if order.source.kind == "REALTIME" else order
        ),
    ),
)


@mutant(
    "QUO-130",
    "missing terms are reported as some conflict",
    (customers, "refuse_without_terms"),
    instead,
)
def terms_by_another_code(customer: Customer) -> None:
    if customer.consent is None:
        raise errors.Refusal("CONFLICT", "The customer is not ready.")


def _answered_200(fits: Callable[[Json], bool]) -> Apply:
    """Answer the creation of some quotes with 200."""

    def answering(shown: Any) -> Any:
        return Reply(200, shown) if fits(shown["source"]) else shown

    return edited(quotes, "create", answering)


declare(
    "QUO-816",
    "ok",
    "a quote that is funded just in time is answered with 200",
    _answered_200(lambda source: source["sourceType"] == "REALTIME_FUNDING"),
)
declare(
    "QUO-817",
    "ok",
    "a quote that pulls its money is answered with 200",
    _answered_200(lambda source: source.get("accountId", "").startswith("ExternalAccount:")),
)


@mutant("QUO-044", "amounts are floats, and have no limit")
@mutant("QUO-045", "amounts are floats, and have no limit")
def amounts_in_floats(patch: Patch) -> None:
    def inexact(_unit: Unit, body: Json) -> Json:
        return {**body, "lockedCurrencyAmount": int(float(body["lockedCurrencyAmount"]))}

    for refuse in ("refuse_large", "refuse_volume"):
        patch.replace(limits, refuse, lambda *_: None)
    change_body(inexact)(patch)
