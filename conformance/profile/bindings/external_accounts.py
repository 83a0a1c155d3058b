"""Bindings of external accounts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import (
    Field,
    field_validator,
)

from conformance.profile.part import ProfilePart

PROVIDERS: Mapping[str, tuple[str, ...]] = {
    "KES": ("M-PESA",),
    "TZS": ("AIRTEL", "VODACOM"),
    "ZMW": ("TNM", "AIRTEL", "ZAMTEL", "MTN"),
    "RWF": ("MTN", "AIRTEL"),
    "MWK": ("AIRTEL", "TNM"),
    "UGX": ("MTN", "AIRTEL"),
    "XOF": ("ORANGE",),
    "BWP": ("ORANGE",),
}
"""The usual operators of mobile money, by currency."""


class ExternalAccountBindings(ProfilePart):
    """What the specification leaves open of external accounts."""

    beneficiary: str = Field(
        "accountInfo.beneficiary",
        description="Where `POST /customers/external-accounts` reads the beneficiary. Where its "
        "members stand among others: `accountInfo`, or an empty text for the body "
        "itself.",
    )
    accounts: dict[str, dict[str, Any]] = Field(
        default_factory=dict,
        description="Members merged into the `accountInfo` of an example of fixtures/accounts, "
        "by the example's name, such as `cop_account.mobile_money: {bankName: "
        "NEQUI}`.",
    )
    further_accounts: dict[str, dict[str, Any]] = Field(
        default_factory=dict,
        description="By currency, the `accountInfo` of an account type that the specification "
        "does not show: DKK, HKD, IDR, MYR, SGD, THB, VND, XAF. Each `#` stands for "
        "a digit of each test's own, such as `DKK: {accountType: DKK_ACCOUNT, "
        "accountNumber: 1########9}`. Accounts in a currency that is left out are not tested.",
    )
    providers: dict[str, list[str]] = Field(
        default_factory=dict,
        validate_default=True,
        description="The provider names of mobile money, by currency; a currency that is left out "
        "keeps the usual ones, and `[]` says that there are none.",
    )
    untrust: dict[str, Any] = Field(
        default_factory=dict,
        description="The body of the call that takes the trust in a beneficiary away.",
    )
    untrust_confirmation: dict[str, Any] = Field(
        default_factory=lambda: {"code": "{code}"},
        description="The body that confirms that trust is taken away; `{code}` is the one-time "
        "code.",
    )
    ownership_challenges: dict[str, dict[str, Any]] = Field(
        default_factory=lambda: {
            "signature": {"method": "WALLET_SIGNATURE"},
            "liveness": {"method": "LIVENESS"},
        },
        description="The bodies that start a proof of ownership, by signature and by liveness "
        "check.",
    )
    ownership_proof: dict[str, Any] = Field(
        default_factory=lambda: {"signature": "{signature}", "signatureScheme": "ED25519"},
        description="The body that completes a proof of ownership by signature; `{signature}` is "
        "filled in.",
    )
    ownership_message: str = Field(
        "messageToSign",
        description="Where the answer to a started proof of ownership shows what is to be signed, "
        "as a dotted path.",
    )
    ownership_signature: str | None = Field(
        None,
        description="A signature that the sandbox takes for the owner's, whatever is to be signed; "
        "null where the trigger `ownership.sign` makes one for each message.",
    )
    ownership_wrong_signature: str | None = Field(
        "Zm9yZ2Vk", description="A well-formed signature that is not the owner's; null for none."
    )

    @field_validator("providers")
    @classmethod
    def _usual_ones(cls, providers: Mapping[str, list[str]]) -> dict[str, list[str]]:
        return {**{currency: [*names] for currency, names in PROVIDERS.items()}, **providers}
