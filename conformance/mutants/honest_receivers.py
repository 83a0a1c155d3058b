"""Honest variants of the receiver lookup and of the discoveries."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from conformance.mutants.honest import shown, with_null, without
from conformance.mutants.mutant import Patch
from conformance.mutants.variant import declare, variant
from conformance.reference import errors
from conformance.reference.unit import Ask, Unit

Json = dict[str, Any]
Handler = Callable[[Unit, Ask], Any]

_REFERENCE = "conformance.reference"
_LOOKUP = f"{_REFERENCE}.receivers:lookup"
_FAILURES = f"{_REFERENCE}.receivers:COUNTERPARTY_FAILURES"
_CURRENCY = f"{_REFERENCE}.receivers:sender_currency"


def _of_each(change: Callable[[Json], Json]) -> Callable[[Json], Json]:
    def edit(lookup: Json) -> Json:
        return {**lookup, "supportedCurrencies": [change(e) for e in lookup["supportedCurrencies"]]}

    return edit


for _name in ("minSendingAmount", "maxSendingAmount"):
    declare(
        "M75",
        f"lookup-without-{_name}",
        f"a lookup leaves {_name} out",
        shown(_LOOKUP, _of_each(partial(without, _name))),
        "absent",
    )
    declare(
        "M75",
        f"lookup-with-null-{_name}",
        f"{_name} of a lookup is null",
        shown(_LOOKUP, _of_each(partial(with_null, _name))),
        "null",
    )

declare(
    "M75",
    "lookup-without-payer-fields",
    "a lookup asks nothing about the payer, and leaves the list out",
    shown(_LOOKUP, partial(without, "requiredPayerDataFields")),
    "absent",
)
declare(
    "M75",
    "lookup-with-no-payer-field",
    "a lookup asks nothing about the payer, and shows an empty list",
    shown(_LOOKUP, lambda body: {**body, "requiredPayerDataFields": []}),
    "forms",
)
declare(
    "M16",
    "lookup-in-smallest-units",
    "the estimated rate is one between smallest units",
    shown(
        _LOOKUP,
        _of_each(
            lambda entry: {**entry, "estimatedExchangeRate": entry["estimatedExchangeRate"] * 100}
        ),
    ),
    "forms",
)


@variant("M60", "a lookup that names no sender is the platform's", "codes")
def platform_sends(patch: Patch) -> None:
    def wrapper(original: Callable[[Unit, Json], str]) -> Callable[[Unit, Json], str]:
        def currency(unit: Unit, query: Json) -> str:
            if query.keys() & {"customerId", "senderUmaAddress"}:
                return original(unit, query)
            return str(query.get("sendingCurrency", unit.settings.platform_currency))

        return currency

    patch.wrap(_CURRENCY, wrapper)


@variant("M70", "an outdated counterparty shares no version with us", "codes")
def no_version(patch: Patch) -> None:
    patch.row(f"{_REFERENCE}.rules:ERROR_STATUS", "NO_COMPATIBLE_UMA_VERSION", 424)
    patch.row(_FAILURES, "OUTDATED", "NO_COMPATIBLE_UMA_VERSION")


def _recoded(place: str, code: str, other: str) -> Callable[[Patch], None]:
    """Return a patch after which one code is another where a place refuses."""

    def wrapper(original: Callable[..., Any]) -> Callable[..., Any]:
        def refusing(*arguments: Any) -> Any:
            try:
                return original(*arguments)
            except errors.Refusal as refusal:
                if refusal.code == code:
                    raise errors.Refusal(other, refusal.reason) from None
                raise

        return refusing

    return lambda patch: patch.wrap(place, wrapper)


declare(
    "N100",
    "lookup-of-nothing",
    "a lookup of what does not exist has the code NOT_FOUND",
    _recoded(_LOOKUP, "ACCOUNT_NOT_FOUND", "NOT_FOUND"),
    "other codes",
)
declare(
    "M41",
    "lookup-for-nobody",
    "a lookup for a customer who does not exist is a bad request",
    _recoded(_CURRENCY, "CUSTOMER_NOT_FOUND", "INVALID_INPUT"),
    "other codes",
)


@variant("M76", "discoveries need a country and a currency", "codes")
def both_needed(patch: Patch) -> None:
    def wrapper(original: Handler) -> Handler:
        def discoveries(unit: Unit, ask: Ask) -> Any:
            if not {"country", "currency"} <= ask.query.keys():
                raise errors.Refusal("INVALID_INPUT", "Name a country and a currency.")
            return original(unit, ask)

        return discoveries

    patch.wrap(f"{_REFERENCE}.receivers:discoveries", wrapper)


@variant("M76", "where no institution is known, the corridor does not exist", "other codes")
def no_corridor(patch: Patch) -> None:
    def wrapper(original: Handler) -> Handler:
        def discoveries(unit: Unit, ask: Ask) -> Any:
            body = original(unit, ask)
            if not body["data"]:
                raise errors.Refusal("NOT_FOUND", "There is no such corridor.")
            return body

        return discoveries

    patch.wrap(f"{_REFERENCE}.receivers:discoveries", wrapper)


@variant("M13", "the lookup's id has no place in a quote", "other forms")
def no_lookup_in_quotes(patch: Patch) -> None:
    def wrapper(original: Handler) -> Handler:
        def create(unit: Unit, ask: Ask) -> Any:
            if isinstance(ask.body, dict):
                ask = replace(ask, body={k: v for k, v in ask.body.items() if k != "lookupId"})
            return original(unit, ask)

        return create

    patch.wrap(f"{_REFERENCE}.quotes:create", wrapper)
