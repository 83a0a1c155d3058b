"""Bindings of the platform's configuration."""

from __future__ import annotations

from typing import Any

from pydantic import (
    Field,
)

from conformance.profile.part import ProfilePart


class ConfigurationBindings(ProfilePart):
    """What the specification leaves open of the platform's configuration."""

    fee_configs: Any = Field(
        default_factory=lambda: [
            {
                "sourceCurrency": "{currency}",
                "variableFeeBasisPoints": "{basisPoints}",
                "fixedFeeAmount": "{fixedAmount}",
            }
        ],
        description="The `feeConfigs` of `PATCH /config`; `{currency}`, `{basisPoints}` and "
        "`{fixedAmount}` are filled in, and a member whose value a fee does not have "
        "is left out.",
    )
    no_fee_configs: Any = Field(
        default_factory=list, description="The `feeConfigs` that take the standing fee away."
    )
    card_tokenization_2fa_config: dict[str, Any] | None = Field(
        default_factory=lambda: {"brandName": "Conformance"},
        description="A `cardTokenization2faConfig` that the implementation takes; null for none.",
    )
    config_currency: str | None = Field(
        "currencyCode",
        description="Where an entry of `supportedCurrencies` holds the code of its currency, "
        "such as `currency.code`; null where it is not shown.",
    )
