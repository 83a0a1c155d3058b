"""What an implementation offers, and what may be done on it although nothing can undo it."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import (
    ConfigDict,
    Field,
)

from conformance.contract.vocabulary import features
from conformance.profile.part import ProfilePart

_IRREVERSIBLE = {"createInternalAccount": "account_numbers"}


def _tell_features(schema: dict[str, Any]) -> None:
    """Let the JSON Schema of the features say what each of them means."""
    for name, member in schema["properties"].items():
        if name in features():
            member["description"] = features()[name].meaning


class Features(ProfilePart):
    """What the implementation offers. A feature that is not declared is not exercised."""

    model_config = ConfigDict(json_schema_extra=_tell_features)

    platform: Literal["regulated", "unregulated"] = Field(
        "regulated",
        description="Who is responsible for compliance: `regulated` (the platform) or "
        "`unregulated` (the service).",
    )
    hosted_onboarding: bool = False
    direct_onboarding: bool = False
    contact_verification: bool = False
    sca: bool = False
    factor_reset: bool = False
    webhooks: bool = False
    realtime_funding: bool = False
    pullable_sources: bool = False
    crypto_payouts: bool = False
    agents: bool = False
    cards: bool = False
    uma: bool = False
    stablecoins: bool = False
    embedded_wallets: bool = False
    rule_based_accounts: bool = False
    platform_fees: bool = False
    deprecated_transfers: bool = False
    trusted_beneficiaries: bool = False
    ownership_verification: bool = False
    webhook_signatures: bool = False

    def declares(self, feature: str) -> bool:
        """Return whether ``feature``, a word of the closed vocabulary, is declared."""
        if feature in ("regulated", "unregulated"):
            return self.platform == feature
        return bool(getattr(self, feature))

    def lacks(self, operation: str) -> str | None:
        """Return the feature that an operation is there with alone, if it is not declared."""
        return next(
            (
                name
                for name, feature in features().items()
                if operation in feature.operations and not self.declares(name)
            ),
            None,
        )


class Irreversible(ProfilePart):
    """What a run may do on the target although nothing can undo it. Each needs its own word."""

    account_numbers: bool = Field(
        False, description="`POST /internal-accounts`, which mints an account number for good."
    )

    def lacks(self, operation: str) -> str | None:
        """Return the word that is missing for an operation, or ``None`` where it may be sent."""
        word = _IRREVERSIBLE.get(operation)
        return None if word is None or getattr(self, word) else f"irreversible.{word}"
