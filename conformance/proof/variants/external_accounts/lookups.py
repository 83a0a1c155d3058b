"""Conforming variants of the receiver lookup and of the discovery of institutions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from conformance.proof.kit.builders import Handler, Json, before, edited, recoded
from conformance.proof.kit.edits import with_null, without
from conformance.proof.patch import Function, Patch
from conformance.proof.variant import declare, variant
from conformance.reference import errors, rules
from conformance.reference.external_accounts import receivers
from conformance.reference.quotes import quotes
from conformance.reference.unit import Ask, Unit


def _of_each(change: Callable[[Json], Json]) -> Callable[[Json], Json]:
    def edit(lookup: Json) -> Json:
        return {**lookup, "supportedCurrencies": [change(e) for e in lookup["supportedCurrencies"]]}

    return edit


for _name in ("minSendingAmount", "maxSendingAmount"):
    declare(
        "M75",
        f"lookup-without-{_name}",
        f"a lookup leaves {_name} out",
        edited(receivers, "lookup", _of_each(without(_name))),
        "absent",
    )
    declare(
        "M75",
        f"lookup-with-null-{_name}",
        f"{_name} of a lookup is null",
        edited(receivers, "lookup", _of_each(with_null(_name))),
        "null",
    )

declare(
    "M75",
    "lookup-without-payer-fields",
    "a lookup asks nothing about the payer, and leaves the list out",
    edited(receivers, "lookup", without("requiredPayerDataFields")),
    "absent",
)
declare(
    "M75",
    "lookup-with-no-payer-field",
    "a lookup asks nothing about the payer, and shows an empty list",
    edited(receivers, "lookup", lambda body: {**body, "requiredPayerDataFields": []}),
    "forms",
)


@variant(
    "M16",
    "the estimated rate is one between smallest units",
    "forms",
    (receivers, "lookup"),
    edited,
)
def lookup_in_smallest_units(lookup: Json) -> Json:
    # Within one currency both readings are 1.
    sent = lookup["sendingCurrency"]
    entries = [
        entry
        if entry["currency"] == sent
        else {**entry, "estimatedExchangeRate": entry["estimatedExchangeRate"] * 100}
        for entry in lookup["supportedCurrencies"]
    ]
    return {**lookup, "supportedCurrencies": entries}


@variant(
    "M60",
    "a lookup that names no sender is the platform's",
    "codes",
    (receivers, "sender_currency"),
)
def platform_sends(original: Callable[[Unit, Json], str], unit: Unit, query: Json) -> str:
    if query.keys() & {"customerId", "senderUmaAddress"}:
        return original(unit, query)
    return str(query.get("sendingCurrency", unit.settings.platform_currency))


@variant("M70", "an outdated counterparty shares no version with us", "codes")
def no_version(patch: Patch) -> None:
    patch.row(rules, "ERROR_STATUS", "NO_COMPATIBLE_UMA_VERSION", 424)
    patch.row(receivers, "COUNTERPARTY_FAILURES", "OUTDATED", "NO_COMPATIBLE_UMA_VERSION")


declare(
    "N100",
    "lookup-of-nothing",
    "a lookup of what does not exist has the code NOT_FOUND",
    recoded(receivers, "lookup", "NOT_FOUND", "ACCOUNT_NOT_FOUND"),
    "other codes",
)
declare(
    "M41",
    "lookup-for-nobody",
    "a lookup for a customer who does not exist is a bad request",
    recoded(receivers, "sender_currency", "INVALID_INPUT", "CUSTOMER_NOT_FOUND"),
    "other codes",
)


@variant(
    "M76", "discoveries need a country and a currency", "codes", (receivers, "discoveries"), before
)
def both_needed(unit: Unit, ask: Ask) -> None:
    if not {"country", "currency"} <= ask.query.keys():
        raise errors.Refusal("INVALID_INPUT", "Name a country and a currency.")


@variant(
    "M76",
    "where no institution is known, the corridor does not exist",
    "other codes",
    (receivers, "discoveries"),
    edited,
)
def no_corridor(body: Any) -> Any:
    if not body["data"]:
        raise errors.Refusal("NOT_FOUND", "There is no such corridor.")
    return body


@variant("M13", "the lookup's id has no place in a quote", "other forms", (quotes, "create"))
def no_lookup_in_quotes(original: Handler, unit: Unit, ask: Ask) -> Any:
    if isinstance(ask.body, dict):
        ask = replace(ask, body={k: v for k, v in ask.body.items() if k != "lookupId"})
    return original(unit, ask)


@variant(
    "M60",
    "a lookup that names its sender twice is refused",
    "forms",
    (receivers, "sender_currency"),
    before,
)
def one_sender(unit: Unit, query: Json) -> None:
    if {"customerId", "senderUmaAddress"} <= query.keys():
        raise errors.invalid_input(errors.field_error("customerId", "Name one sender."))


@variant("N347", "lookups of one account share an id for a while", "other forms")
def shared_lookups(patch: Patch) -> None:
    first: dict[str, Json] = {}

    def shared(lookup: Function, unit: Unit, ask: Ask) -> Json:
        shown = lookup(unit, ask)
        known = first.setdefault(shown["accountId"], shown)
        return {**shown, "lookupId": known["lookupId"]}

    patch.wrap(receivers, "lookup", shared)
