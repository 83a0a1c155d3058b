"""Honest variants of the platform's settings and of the end-user terms."""

from __future__ import annotations

import time
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from functools import partial
from typing import Any

from conformance.mutants.honest import shown, with_null, without
from conformance.mutants.mutant import Patch
from conformance.mutants.variant import declare, variant
from conformance.reference import (
    customers,
    errors,
    fees,
    platform,
    routes,
    rules,
)
from conformance.reference.store import Customer, Quote
from conformance.reference.unit import Ask, Unit

Json = dict[str, Any]
Function = Callable[..., Any]

_REFERENCE = "conformance.reference"
_CONFIG = f"{_REFERENCE}.platform:view"
_UPDATE = f"{_REFERENCE}.platform:update"
_CUSTOMER = f"{_REFERENCE}.customers:view"
_TERMS = f"{_REFERENCE}.onboarding:terms"
_LACKING = f"{_REFERENCE}.customers:refuse_incomplete"
_FIELDS = "providerRequiredCustomerFields"

_A_MOMENT = 0.15


# --- What currencies ask of customers -------------------------------------------------------


def _currencies(change: Callable[[Json], Json]) -> Callable[[Patch], None]:
    """Return a patch after which each supported currency is shown as ``change`` returns it."""

    def edit(body: Json) -> Json:
        return {**body, "supportedCurrencies": [change(c) for c in body["supportedCurrencies"]]}

    return shown(_CONFIG, edit)


declare(
    "M75",
    "nothing-required-absent",
    "a currency that asks for no field names none",
    _currencies(lambda body: body if body[_FIELDS] else without(_FIELDS, body)),
    "onboarding",
)
declare(
    "M75",
    "nothing-required-null",
    "a currency that asks for no field has null in their place",
    _currencies(lambda body: body if body[_FIELDS] else with_null(_FIELDS, body)),
    "other onboarding",
)
declare(
    "M75",
    "nobody-asks",
    "no currency tells what it asks for",
    _currencies(partial(without, _FIELDS)),
    "absent",
)


@variant("N005", "the fields that a currency asks for are words in capitals", "onboarding")
def fields_in_capitals(patch: Patch) -> None:
    words = {"birthDate": "BIRTH_DATE", "nationality": "NATIONALITY"}
    _currencies(lambda body: {**body, _FIELDS: [words[n] for n in body.get(_FIELDS) or ()]})(patch)


@variant("N005", "a currency asks for something that no field is named after", "null")
def fields_of_another_kind(patch: Patch) -> None:
    _currencies(lambda body: {**body, _FIELDS: ["TAX_RESIDENCE_PROOF"]})(patch)
    patch.replace(_LACKING, lambda *_: None)


def _asked_at(place: str, look: Callable[[Unit, Ask], tuple[Json, list[str]]]) -> Function:
    """Return a patch that refuses customers who lack a field at another step than the quote."""

    def apply(patch: Patch) -> None:
        def wrapper(original: Function) -> Function:
            def handler(unit: Unit, ask: Ask) -> Any:
                known, currencies = look(unit, ask)
                for currency in currencies:
                    for name in rules.PROVIDER_REQUIRED_FIELDS.get(currency, ()):
                        if not known.get(name):
                            raise errors.invalid_input(errors.field_error(name, "Required."))
                return original(unit, ask)

            return handler

        patch.wrap(place, wrapper)
        patch.replace(_LACKING, lambda *_: None)

    return apply


def _individual(known: Json, currencies: list[str]) -> tuple[Json, list[str]]:
    return known, currencies if known.get("customerType", "INDIVIDUAL") == "INDIVIDUAL" else []


def _of_creation(_unit: Unit, ask: Ask) -> tuple[Json, list[str]]:
    body = ask.body if isinstance(ask.body, dict) else {}
    named = body.get("currencies")
    codes = [code for code in named if isinstance(code, str)] if isinstance(named, list) else []
    return _individual(body, codes)


def _of_account(unit: Unit, ask: Ask) -> tuple[Json, list[str]]:
    body = ask.body if isinstance(ask.body, dict) else {}
    owner = unit.session.get(Customer, str(body.get("customerId")))
    if owner is None or owner.customer_type == "BUSINESS":
        return {}, []
    return owner.details, [str(body.get("currency"))]


def _of_execution(unit: Unit, ask: Ask) -> tuple[Json, list[str]]:
    quote = unit.session.get(Quote, ask.params["quoteId"])
    if quote is None or quote.customer_id is None:
        return {}, []
    owner = customers.get(unit, quote.customer_id)
    named = [] if owner.customer_type == "BUSINESS" else [quote.receiving_currency]
    return owner.details, named


for _name, _place, _look, _group in (
    ("creation", f"{_REFERENCE}.onboarding:create", _of_creation, "other onboarding"),
    ("external-account", f"{_REFERENCE}.externals:create", _of_account, "further onboarding"),
    ("execution", f"{_REFERENCE}.quotes:execute", _of_execution, "last settings"),
):
    declare(
        "N045",
        f"fields-at-{_name}",
        f"what a currency asks for has to be known at the {_name.replace('-', ' ')}",
        _asked_at(_place, _look),
        _group,
    )


# --- The standing fee -----------------------------------------------------------------------


@variant("M74", "a standing fee of another source is taken, and never applied", "onboarding")
def foreign_standing_fee(patch: Patch) -> None:
    def wrapper(broken_fee: Function) -> Function:
        return lambda config: broken_fee({**config, "sourceCurrency": rules.PLATFORM_FEE_CURRENCY})

    def applied(standing_fee: Function) -> Function:
        def own(unit: Unit, sending: str, receiving: str) -> Json:
            fee: Json = standing_fee(unit, sending, receiving)
            return fee if sending == rules.PLATFORM_FEE_CURRENCY else {}

        return own

    patch.wrap(f"{_REFERENCE}.platform:broken_fee", wrapper)
    patch.wrap(f"{_REFERENCE}.quotes:standing_fee", applied)


@variant("M74", "a standing fee of another source is a conflict", "other onboarding")
def foreign_standing_fee_conflicts(patch: Patch) -> None:
    def wrapper(broken_fee: Function) -> Function:
        def refuse(config: Json) -> list[Json]:
            if config["sourceCurrency"] != rules.PLATFORM_FEE_CURRENCY:
                raise errors.Refusal("CONFLICT", "The fee is for sources in US dollars.")
            found: list[Json] = broken_fee(config)
            return found

        return refuse

    patch.wrap(f"{_REFERENCE}.platform:broken_fee", wrapper)


def _rounded_fee(rounding: str, patch: Patch) -> None:
    def fee(sending: int, terms: fees.Terms) -> int:
        variable = (Decimal(sending) * terms.platform_variable).to_integral_value(rounding)
        return int(variable) + terms.platform_fixed

    patch.replace(f"{_REFERENCE}.fees:platform_fee", fee)


for _name, _rounding, _group in (
    ("up", ROUND_CEILING, "onboarding"),
    ("down", ROUND_FLOOR, "other onboarding"),
):
    declare(
        "M15",
        f"standing-fee-{_name}",
        f"the platform's fee is rounded {_name}",
        partial(_rounded_fee, _rounding),
        _group,
    )


@variant("N074", "what is shown of a standing fee has an id and more", "onboarding")
def fee_with_id(patch: Patch) -> None:
    def change(body: Json) -> Json:
        configs = [
            {**config, "id": f"FeeConfig:{index}", "status": "ACTIVE"}
            for index, config in enumerate(body["feeConfigs"])
        ]
        return {**body, "feeConfigs": configs}

    shown(_CONFIG, change)(patch)


@variant("N074", "numbers of a standing fee are shown as texts", "other onboarding")
def fee_in_texts(patch: Patch) -> None:
    def change(body: Json) -> Json:
        configs = [{k: str(v) for k, v in config.items()} for config in body["feeConfigs"]]
        return {**body, "feeConfigs": configs}

    shown(_CONFIG, change)(patch)

    def numbers(update: Function) -> Function:
        def own(unit: Unit, ask: Ask) -> Any:
            body = deepcopy(ask.body)
            for config in body.get("feeConfigs") or () if isinstance(body, dict) else ():
                for name, value in config.items() if isinstance(config, dict) else ():
                    if isinstance(value, str) and value.isdigit():
                        config[name] = int(value)
            return update(unit, replace(ask, body=body))

        return own

    patch.wrap(_UPDATE, numbers)


@variant(
    "N074", "the platform's fee is a member of its own, and a request takes it no more", "forms"
)
def fee_shown_elsewhere(patch: Patch) -> None:
    shown(_CONFIG, lambda body: {**without("feeConfigs", body), "fees": body["feeConfigs"]})(patch)


@variant("timing", "changes of the settings show a moment later", "further onboarding")
def late_settings(patch: Patch) -> None:
    known: list[tuple[float, list[Json]]] = [(0.0, [])]

    def noting(update: Function) -> Function:
        def late(unit: Unit, ask: Ask) -> Any:
            answer = update(unit, ask)
            known.append((time.monotonic() + _A_MOMENT, platform.config_of(unit).fee_configs))
            return answer

        return late

    def current() -> list[Json]:
        return [configs for moment, configs in known if moment <= time.monotonic()][-1]

    def wrapper(standing_fee: Function) -> Function:
        def stale(unit: Unit, sending: str, receiving: str) -> Json:
            config = platform.config_of(unit)
            now = config.fee_configs
            config.fee_configs = current()
            fee: Json = standing_fee(unit, sending, receiving)
            config.fee_configs = now
            return fee

        return stale

    patch.wrap(_UPDATE, noting)
    patch.wrap(f"{_REFERENCE}.quotes:standing_fee", wrapper)
    shown(_CONFIG, lambda body: {**body, "feeConfigs": current()})(patch)


# --- Answers to changes ---------------------------------------------------------------------


@variant("N069", "a change of the settings is answered without a body", "onboarding")
def no_body(patch: Patch) -> None:
    row = routes.OPERATIONS["updateConfig"]
    patch.row(f"{_REFERENCE}.routes:OPERATIONS", "updateConfig", replace(row, status=204))


@variant("N069", "a change of the settings is answered with what was changed", "other onboarding")
def changes_alone(patch: Patch) -> None:
    def wrapper(update: Function) -> Function:
        def own(unit: Unit, ask: Ask) -> Any:
            update(unit, ask)
            return ask.body

        return own

    patch.wrap(_UPDATE, wrapper)


@variant("N074", "card codes have no look that could be set", "onboarding")
def no_look(patch: Patch) -> None:
    def wrapper(update: Function) -> Function:
        def own(unit: Unit, ask: Ask) -> Any:
            if isinstance(ask.body, dict) and "cardTokenization2faConfig" in ask.body:
                raise errors.Refusal("NOT_IMPLEMENTED", "There are no cards.")
            return update(unit, ask)

        return own

    patch.wrap(_UPDATE, wrapper)


@variant("N074", "the look of card codes cannot be taken away again", "other onboarding")
def look_stays(patch: Patch) -> None:
    row, look = rules.CONFIG_FIELDS
    patch.replace(
        f"{_REFERENCE}.rules:CONFIG_FIELDS",
        (row, replace(look, nullable=False, required=False)),
    )

    def wrapper(update: Function) -> Function:
        def own(unit: Unit, ask: Ask) -> Any:
            body = ask.body
            if isinstance(body, dict) and body.get("cardTokenization2faConfig", {}) is None:
                raise errors.invalid_input(errors.field_error("cardTokenization2faConfig", "Null."))
            return update(unit, ask)

        return own

    patch.wrap(_UPDATE, wrapper)


@variant("M20", "a broken change has some other code", "onboarding")
def other_code(patch: Patch) -> None:
    def wrapper(update: Function) -> Function:
        def own(unit: Unit, ask: Ask) -> Any:
            try:
                return update(unit, ask)
            except errors.Refusal as refusal:
                raise errors.Refusal("INVALID_REQUEST_FORMAT", refusal.reason) from refusal

        return own

    patch.wrap(_UPDATE, wrapper)


# --- The terms and their acceptance ---------------------------------------------------------


@variant("N071", "the terms say more, and some of it in an object", "onboarding")
def more_terms(patch: Patch) -> None:
    more = {"publishedAt": "2025-10-01T00:00:00Z", "languages": ["en"]}
    shown(_TERMS, lambda body: {"version": body["version"], "documents": body, **more})(patch)


@variant("N071", "the version of the terms is a number", "other onboarding")
def numbered_terms(patch: Patch) -> None:
    shown(_TERMS, lambda body: {**body, "version": 7})(patch)

    def wrapper(accepted_terms: Function) -> Function:
        def own(unit: Unit, body: Json) -> Any:
            consent = body.get("endUserTermsConsent")
            if consent is None or consent["termsVersion"] != 7:
                return accepted_terms(unit, body)
            return consent

        return own

    patch.wrap(f"{_REFERENCE}.onboarding:accepted_terms", wrapper)
    version = "endUserTermsConsent.termsVersion"
    rows = tuple(row for row in rules.CUSTOMER_FIELDS if row.path != version)
    patch.replace(f"{_REFERENCE}.rules:CUSTOMER_FIELDS", rows)


def _consent(change: Callable[[Json], Any]) -> Callable[[Patch], None]:
    def edit(body: Json) -> Json:
        consent = body.get("endUserTermsConsent")
        return body if not consent else {**body, "endUserTermsConsent": change(consent)}

    return shown(_CUSTOMER, edit)


declare(
    "M77",
    "acceptance-with-offset",
    "the moment of an acceptance ends in +00:00",
    _consent(lambda c: {**c, "acceptedAt": c["acceptedAt"].replace("Z", "+00:00")}),
    "onboarding",
)
declare(
    "N051",
    "acceptance-by-other-names",
    "an acceptance is shown under other names",
    _consent(lambda c: {"at": c["acceptedAt"], "version": c["termsVersion"]}),
    "other onboarding",
)
declare(
    "N001",
    "acceptance-hidden",
    "a customer does not show its acceptance",
    _consent(lambda _: None),
    "further onboarding",
)
