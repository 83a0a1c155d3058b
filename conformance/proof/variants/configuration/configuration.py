"""Conforming variants of the platform's settings."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Any

from conformance.proof.kit.builders import Json, Place, before, edited, instead, recoded
from conformance.proof.kit.edits import without
from conformance.proof.kit.optional import declare_optional
from conformance.proof.kit.tables import answers
from conformance.proof.patch import Apply, Function, Patch
from conformance.proof.variant import declare, variant
from conformance.reference import errors, platform, rules
from conformance.reference.customers import customers, onboarding
from conformance.reference.external_accounts import externals
from conformance.reference.quotes import fees, quotes
from conformance.reference.store import Customer, Quote
from conformance.reference.unit import Ask, Unit

_FIELDS = "providerRequiredCustomerFields"


_A_MOMENT = 0.15


# --- What currencies ask of customers -------------------------------------------------------


def _currencies(change: Callable[[Json], Json]) -> Apply:
    """Return a patch after which each supported currency is shown as ``change`` returns it."""

    def edit(body: Json) -> Json:
        return {**body, "supportedCurrencies": [change(c) for c in body["supportedCurrencies"]]}

    return edited(platform, "view", edit)


@variant(
    "N456",
    "a currency asks for fields of whoever sends it",
    "sent",
    (customers, "refuse_incomplete"),
)
def asked_of_senders(refuse: Function, customer: Customer, *currencies: str) -> None:
    refuse(customer, currencies[0])


@variant(
    "N456",
    "a currency asks for fields of whoever pays into it",
    "received",
    (customers, "refuse_incomplete"),
)
def asked_of_payers(refuse: Function, customer: Customer, *currencies: str) -> None:
    refuse(customer, currencies[-1])


@variant("N005", "the fields that a currency asks for are words in capitals", "onboarding")
def fields_in_capitals(patch: Patch) -> None:
    words = {
        "birthDate": "BIRTH_DATE",
        "nationality": "NATIONALITY",
        "phoneNumber": "PHONE_NUMBER",
    }
    _currencies(lambda body: {**body, _FIELDS: [words[n] for n in body[_FIELDS]]})(patch)


@variant("N005", "a currency asks for something that no field is named after", "null")
def fields_of_another_kind(patch: Patch) -> None:
    _currencies(lambda body: {**body, _FIELDS: ["TAX_RESIDENCE_PROOF"]})(patch)
    patch.replace(customers, "refuse_incomplete", lambda *_: None)


_Look = Callable[[Unit, Any], tuple[Json, list[str]]]
"""What a step tells of a customer, and the currencies whose fields are looked for in it."""


def _asked_at(steps: Mapping[Place, _Look]) -> Apply:
    """Return a patch that refuses customers who lack a field at other steps than the quote."""

    def asking(look: _Look) -> Function:
        def handler(original: Function, unit: Unit, subject: Any) -> Any:
            known, currencies = look(unit, subject)
            for currency in currencies:
                for name in rules.PROVIDER_REQUIRED_FIELDS.get(currency, ()):
                    if not known.get(name):
                        raise errors.invalid_input(errors.field_error(name, "Required."))
            return original(unit, subject)

        return handler

    def apply(patch: Patch) -> None:
        for (holder, name), look in steps.items():
            patch.wrap(holder, name, asking(look))
        patch.replace(customers, "refuse_incomplete", lambda *_: None)

    return apply


def _individual(known: Json, currencies: list[str]) -> tuple[Json, list[str]]:
    return known, currencies if known.get("customerType", "INDIVIDUAL") == "INDIVIDUAL" else []


def _of_creation(_unit: Unit, ask: Ask) -> tuple[Json, list[str]]:
    body = ask.body if isinstance(ask.body, dict) else {}
    named = body.get("currencies")
    codes = [code for code in named if isinstance(code, str)] if isinstance(named, list) else []
    return _individual(body, codes)


def _of_update(unit: Unit, ask: Ask) -> tuple[Json, list[str]]:
    body = ask.body if isinstance(ask.body, dict) else {}
    customer = customers.get(unit, ask.params["customerId"])
    named = body.get("currencies")
    known = {**customer.details, "customerType": customer.customer_type, **body}
    return _individual(known, named if isinstance(named, list) else customer.currencies)


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
    both = [quote.sending_currency, quote.receiving_currency]
    return owner.details, [] if owner.customer_type == "BUSINESS" else both


def _of_real_time(unit: Unit, order: quotes.Order) -> tuple[Json, list[str]]:
    if order.source.kind != "REALTIME":
        return {}, []
    known, sent = _of_source(unit, order)
    return known, [*sent, order.destination.currency] if sent else []


def _of_source(unit: Unit, order: quotes.Order) -> tuple[Json, list[str]]:
    if order.source.customer_id is None:
        return {}, []
    owner = customers.get(unit, order.source.customer_id)
    return owner.details, [] if owner.customer_type == "BUSINESS" else [order.source.currency]


AT_CREATION: Mapping[Place, _Look] = {
    (onboarding, "create"): _of_creation,
    (onboarding, "update"): _of_update,
}
AT_REGISTRATION: Mapping[Place, _Look] = {
    (externals, "create"): _of_account,
    # No account is registered in the currency that is sent.
    (quotes, "draft"): _of_source,
}
AT_EXECUTION: Mapping[Place, _Look] = {
    (quotes, "execute"): _of_execution,
    # No call executes what is funded just in time.
    (quotes, "draft"): _of_real_time,
}

for _name, _steps, _group in (
    ("creation", AT_CREATION, "other onboarding"),
    ("external-account", AT_REGISTRATION, "further onboarding"),
    ("execution", AT_EXECUTION, "last settings"),
):
    declare(
        "N045",
        f"fields-at-{_name}",
        f"what a currency asks for has to be known at the {_name.replace('-', ' ')}",
        _asked_at(_steps),
        _group,
    )


# --- The standing fee -----------------------------------------------------------------------


@variant("M74", "a standing fee of another source is taken, and never applied", "onboarding")
def foreign_standing_fee(patch: Patch) -> None:
    def own(standing_fee: Function, unit: Unit, sending: str, receiving: str) -> Json:
        fee: Json = standing_fee(unit, sending, receiving)
        return fee if sending == rules.PLATFORM_FEE_CURRENCY else {}

    patch.wrap(
        platform,
        "broken_fee",
        lambda broken_fee, config: broken_fee(
            {**config, "sourceCurrency": rules.PLATFORM_FEE_CURRENCY}
        ),
    )
    patch.wrap(quotes, "standing_fee", own)


@variant(
    "M74",
    "a standing fee of another source is a conflict",
    "other onboarding",
    (platform, "broken_fee"),
    before,
)
def foreign_standing_fee_conflicts(config: Json) -> None:
    if config["sourceCurrency"] != rules.PLATFORM_FEE_CURRENCY:
        raise errors.Refusal("CONFLICT", "The fee is for sources in US dollars.")


def _rounded_fee(rounding: str) -> Apply:
    def fee(sending: int, terms: fees.Terms) -> int:
        variable = (Decimal(sending) * terms.platform_variable).to_integral_value(rounding)
        return int(variable) + terms.platform_fixed

    return instead(fees, "platform_fee", fee)


for _name, _rounding, _group in (
    ("up", ROUND_CEILING, "onboarding"),
    ("down", ROUND_FLOOR, "other onboarding"),
):
    declare(
        "M15",
        f"standing-fee-{_name}",
        f"the platform's fee is rounded {_name}",
        _rounded_fee(_rounding),
        _group,
    )


@variant(
    "M15",
    "the rate of a standing fee applies to what its fixed amount leaves",
    "further onboarding",
    (fees, "platform_fee"),
    instead,
)
def rate_of_the_rest(sending: int, terms: fees.Terms) -> int:
    rest = max(sending - terms.platform_fixed, 0)
    return round(rest * terms.platform_variable) + terms.platform_fixed


@variant(
    "N074",
    "what is shown of a standing fee has an id and more",
    "onboarding",
    (platform, "view"),
    edited,
)
def fee_with_id(body: Json) -> Json:
    configs = [
        {**config, "id": f"FeeConfig:{index}", "status": "ACTIVE"}
        for index, config in enumerate(body["feeConfigs"])
    ]
    return {**body, "feeConfigs": configs}


@variant("N074", "numbers of a standing fee are shown as texts", "other onboarding")
def fee_in_texts(patch: Patch) -> None:
    def change(body: Json) -> Json:
        configs = [{k: str(v) for k, v in config.items()} for config in body["feeConfigs"]]
        return {**body, "feeConfigs": configs}

    edited(platform, "view", change)(patch)

    def own(update: Function, unit: Unit, ask: Ask) -> Any:
        body = deepcopy(ask.body)
        for config in body.get("feeConfigs") or () if isinstance(body, dict) else ():
            for name, value in config.items() if isinstance(config, dict) else ():
                if isinstance(value, str) and value.isdigit():
                    config[name] = int(value)
        return update(unit, replace(ask, body=body))

    patch.wrap(platform, "update", own)


declare(
    "N074",
    "fee-shown-elsewhere",
    "the platform's fee is a member of its own, and a request takes it no more",
    edited(
        platform, "view", lambda body: {**without("feeConfigs")(body), "fees": body["feeConfigs"]}
    ),
    "forms",
)


@variant("M88", "changes of the settings show a moment later", "further onboarding")
def late_settings(patch: Patch) -> None:
    known: list[tuple[float, list[Json]]] = [(0.0, [])]

    def late(update: Function, unit: Unit, ask: Ask) -> Any:
        answer = update(unit, ask)
        known.append((time.monotonic() + _A_MOMENT, platform.config_of(unit).fee_configs))
        return answer

    def current() -> list[Json]:
        return [configs for moment, configs in known if moment <= time.monotonic()][-1]

    def stale(standing_fee: Function, unit: Unit, sending: str, receiving: str) -> Json:
        config = platform.config_of(unit)
        now = config.fee_configs
        config.fee_configs = current()
        fee: Json = standing_fee(unit, sending, receiving)
        config.fee_configs = now
        return fee

    patch.wrap(platform, "update", late)
    patch.wrap(quotes, "standing_fee", stale)
    edited(platform, "view", lambda body: {**body, "feeConfigs": current()})(patch)


# --- Answers to changes ---------------------------------------------------------------------


declare(
    "N069",
    "no-body",
    "a change of the settings is answered without a body",
    answers("updateConfig", 204),
    "onboarding",
)


@variant(
    "N069",
    "a change of the settings is answered with what was changed",
    "other onboarding",
    (platform, "update"),
)
def changes_alone(update: Function, unit: Unit, ask: Ask) -> Any:
    update(unit, ask)
    return ask.body


@variant(
    "N074", "card codes have no look that could be set", "onboarding", (platform, "update"), before
)
def no_look(unit: Unit, ask: Ask) -> None:
    if isinstance(ask.body, dict) and "cardTokenization2faConfig" in ask.body:
        raise errors.Refusal("NOT_IMPLEMENTED", "There are no cards.")


@variant("N074", "the look of card codes cannot be taken away again", "other onboarding")
def look_stays(patch: Patch) -> None:
    row, look = rules.CONFIG_FIELDS
    patch.replace(
        rules,
        "CONFIG_FIELDS",
        (row, replace(look, nullable=False, required=False)),
    )

    def own(update: Function, unit: Unit, ask: Ask) -> Any:
        body = ask.body
        if isinstance(body, dict) and body.get("cardTokenization2faConfig", {}) is None:
            raise errors.invalid_input(errors.field_error("cardTokenization2faConfig", "Null."))
        return update(unit, ask)

    patch.wrap(platform, "update", own)


declare(
    "M20",
    "other-code",
    "a broken change has some other code",
    recoded(platform, "update", "INVALID_REQUEST_FORMAT"),
    "onboarding",
)


# --- The terms and their acceptance ---------------------------------------------------------


declare_optional("configuration", (platform, "view"), "feeConfigs")


@variant("N074", "the configuration shows fees and tokenization in shapes of its own", "forms")
def other_fee_shapes(patch: Patch) -> None:
    more = {"feeConfigs": {"USD": {"bps": "0"}}, "cardTokenization2faConfig": "none"}
    edited(platform, "view", lambda body: {**body, **more})(patch)
