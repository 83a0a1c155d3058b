"""The platform's configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from conformance.reference import errors, fields, money, rules
from conformance.reference.store import Json, PlatformConfig

if TYPE_CHECKING:
    from conformance.reference.unit import Ask, Unit

ROW: str = "platform"


def config_of(unit: Unit) -> PlatformConfig:
    """Return the platform's configuration."""
    return unit.session.get_one(PlatformConfig, ROW)


def read(unit: Unit, _ask: Ask) -> Json:
    """Return the configuration."""
    return view(config_of(unit))


def update(unit: Unit, ask: Ask) -> Json:
    """Change the settings that a request names."""
    body = fields.demand(ask.body, rules.CONFIG_FIELDS, *config_errors(ask.body))
    config = config_of(unit)
    if body.get("feeConfigs") is not None:
        config.fee_configs = body["feeConfigs"]
    if "cardTokenization2faConfig" in body:
        config.tokenization = body["cardTokenization2faConfig"]
    return view(config)


def config_errors(body: Any) -> list[Json]:
    """Return the errors within the settings of a body of any kind."""
    configs = body.get("feeConfigs") if isinstance(body, dict) else None
    if not isinstance(configs, list) or not all(isinstance(entry, dict) for entry in configs):
        return []
    return fee_config_errors(configs)


def fee_config_errors(configs: list[Any]) -> list[Json]:
    """Return the errors of standing fees, each path from the body's root."""
    found = []
    for index, config in enumerate(configs):
        broken = fields.check(config, rules.FEE_CONFIG_FIELDS)
        if not broken:
            broken = broken_fee(config)
        found += [{**error, "field": f"feeConfigs.{index}.{error['field']}"} for error in broken]
    return found


def broken_fee(config: Json) -> list[Json]:
    """Return the errors of a standing fee whose members are sound each for itself."""
    if config["sourceCurrency"] != rules.PLATFORM_FEE_CURRENCY:
        message = f"Expected {rules.PLATFORM_FEE_CURRENCY}: no other source may carry a fee."
        return [errors.field_error("sourceCurrency", message)]
    if all(config.get(name) is None for name in ("variableFeeBasisPoints", "fixedFeeAmount")):
        return [errors.field_error("variableFeeBasisPoints", "Expected a rate, an amount or both.")]
    return []


def required_fields(currency: str) -> list[str]:
    """Return the customer fields that have to be supplied to move money in a currency."""
    return list(rules.PROVIDER_REQUIRED_FIELDS.get(currency, ()))


def view(config: PlatformConfig) -> Json:
    """Return the configuration as clients see it."""
    body: Json = {
        "supportedCurrencies": [
            {
                **money.currency_view(code),
                "currencyCode": code,
                "providerRequiredCustomerFields": required_fields(code),
            }
            for code in rules.CURRENCIES
        ],
        "feeConfigs": config.fee_configs,
    }
    if config.tokenization is not None:
        body["cardTokenization2faConfig"] = config.tokenization
    return body
