"""The profile: what cannot be known from the specification about one implementation."""

from __future__ import annotations

import re
import ssl
from collections.abc import Collection, Iterator, Mapping
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)

from conformance.contract.judge import error_codes
from conformance.contract.vocabulary import REQUESTS, TRIGGERS, features, nearest
from conformance.profile.yaml_file import NotUsable, read_yaml
from conformance.text import addresses, templates

_DOCUMENTED_TRIGGERS = {
    # The specification names the operation and leaves its body open (Endpoints / Internal
    # accounts, line 351).
    "deposit.arrive": {
        "http": {
            "url": "{base_url}/sandbox/internal-accounts/{accountId}/fund",
            "json": {"amount": "{amount}"},
        }
    },
}
_IRREVERSIBLE = {"createInternalAccount": "account_numbers"}
_PROOFS: Mapping[str, dict[str, Any]] = {
    "SMS_OTP": {"code": "{code}"},
    "TOTP": {"code": "{code}"},
    "PASSKEY": {"passkeyAssertion": {"id": "conformance"}, "origin": "{origin}"},
}
StablecoinRequest = Literal["register", "mint", "burn", "external_mint"]
_TRANSFER: Mapping[str, Any] = {
    "source": {"accountId": "{sourceAccountId}"},
    "destination": {"accountId": "{destinationAccountId}", "paymentRail": "{paymentRail}"},
    "amount": "{amount}",
    "remittanceInformation": "{remittanceInformation}",
    "purposeOfPayment": "{purposeOfPayment}",
}
_MAX_PROBLEMS = 50
_SOME_ORIGIN = "https://target.invalid"
_VARIABLE = r"^[A-Za-z_][A-Za-z0-9_]*$"


class ProfileError(Exception):
    """The profile cannot be used; the message names the file and the key to change."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Environment(StrEnum):
    """Where the target runs: `sandbox`, or `production`, which is the default.

    Only a sandbox is sent requests that change anything.
    """

    SANDBOX = "sandbox"
    PRODUCTION = "production"


class Implementation(_Part):
    """Who is tested, as the report names it."""

    name: str = Field(description="Its name.")
    version: str = Field("", description="Its version, if it has one.")


class Credentials(_Part):
    """Names of the environment variables that hold the credentials, never their values."""

    token_id: str = Field(
        "PAYMENTS_API_TOKEN_ID",
        pattern=_VARIABLE,
        description="The variable of the API token id, which is sent as username.",
    )
    client_secret: str = Field(
        "PAYMENTS_API_CLIENT_SECRET",
        pattern=_VARIABLE,
        description="The variable of the API client secret, which is sent as password.",
    )


def _tell_features(schema: dict[str, Any]) -> None:
    """Let the JSON Schema of the features say what each of them means."""
    for name, member in schema["properties"].items():
        if name in features():
            member["description"] = features()[name].meaning


class Features(_Part):
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


class Irreversible(_Part):
    """What a run may do on the target although nothing can undo it. Each needs its own word."""

    account_numbers: bool = Field(
        False, description="`POST /internal-accounts`, which mints an account number for good."
    )

    def lacks(self, operation: str) -> str | None:
        """Return the word that is missing for an operation, or ``None`` where it may be sent."""
        word = _IRREVERSIBLE.get(operation)
        return None if word is None or getattr(self, word) else f"irreversible.{word}"


class Signature(_Part):
    """How the target signs its webhooks, which the specification leaves open."""

    header: str = Field(min_length=1, description="The header that holds the signature.")
    algorithm: Literal[
        "hmac-sha256", "hmac-sha512", "ecdsa-p256-sha256", "ed25519", "rsa-sha256"
    ] = Field(description="How the signature is made.")
    key: str = Field(
        min_length=1,
        description="Of hmac the environment variable that holds the secret; of the others the "
        "public key in PEM, or its file beside the profile, whose name ends in .pem.",
    )
    encoding: Literal["hex", "base64"] = Field(
        "base64", description="How the header spells the signature."
    )
    prefix: str = Field(
        "",
        description="What stands before each signature in the header, for example `sha256=` or "
        "`v1,`.",
    )
    signed: str = Field(
        "{body}",
        description="What is signed: `{body}` is the raw body; any other name in braces is a "
        "header, or a name=value of the signature's own header, for example "
        "`{t}.{body}`.",
    )

    @property
    def symmetric(self) -> bool:
        """Whether the key is a secret that both sides hold."""
        return self.algorithm.startswith("hmac-")

    def model_post_init(self, _context: Any) -> None:
        """Refuse a key that is none of the algorithm, and a message without the body."""
        # What stands there may be the secret itself, and is not shown.
        if self.symmetric and not re.fullmatch(_VARIABLE, self.key):
            raise ValueError(
                "key: of hmac it is the name of an environment variable, never its value"
            )
        if not self.symmetric and "-----BEGIN" not in self.key:
            raise ValueError("key: expected a public key in PEM, or a file that ends in .pem")
        if "{body}" not in self.signed:
            raise ValueError("signed: expected a text with {body} in it")


class Tls(_Part):
    """Whom the suite trusts to say who the target is."""

    certificate_authority: str | None = Field(
        None,
        description="A file beside the profile with certificates, in PEM, of authorities that "
        "are trusted beside the usual ones; null for none.",
    )


class Webhooks(_Part):
    """Where the suite listens for webhooks, and under which URL the target reaches it."""

    listen: str = Field(
        "127.0.0.1:0", description="host:port to listen on; port 0 takes a free one."
    )
    public_url: str | None = Field(
        None,
        description="The URL that the target sends to, where it is not the listening address: of "
        "a tunnel, for example.",
    )
    signature: Signature | None = Field(
        None, description="How webhooks are signed; `features.webhook_signatures` needs it."
    )


class Bindings(_Part):
    """Names and values that the specification leaves open, with their usual choices."""

    customer: dict[str, Any] = Field(
        default_factory=dict, description="Members merged into every customer that is created."
    )
    business: dict[str, Any] = Field(
        default_factory=dict, description="Members merged into every business that is created."
    )
    business_details: dict[str, Any] = Field(
        default_factory=dict,
        description="Members of `businessInfo` whose values the specification does not show: "
        "`entityType`, `businessType`, `countriesOfOperation`, `purposeOfAccount` "
        "and `sourceOfFunds`.",
    )
    foreign_business: dict[str, Any] = Field(
        default_factory=dict,
        description="The `businessInfo` of a business outside the US: its `country`, and a "
        "`taxId` that is valid there.",
    )
    entity_types: dict[str, str] = Field(
        default_factory=dict,
        description="The `entityType` of a `publicly_listed_company`, `trust`, "
        "`private_foundation` and `charity`.",
    )
    due_diligence: dict[str, Any] = Field(
        default_factory=dict,
        description="Enhanced due diligence members of an individual, with values that are "
        "taken: `purposeOfAccount`, `expectedMonthlyTransactionCount`, "
        "`expectedMonthlyTransactionVolume`, `annualIncomeRange`, `netWorthRange` "
        "and `pepStatus`.",
    )
    owner: dict[str, Any] = Field(
        default_factory=dict,
        description="Members merged into every beneficial owner that is created.",
    )
    control_role: str = Field(
        "CONTROL_PERSON", description="The role of the person who controls a business."
    )
    contact_region: str = Field(
        "DE", description="The region of a customer whose contact channels have to be verified."
    )
    contact_code: str = Field(
        "123456", description="The one-time code that the sandbox sends to a mail address or phone."
    )
    contact_wrong_code: str = Field(
        "000000", description="A one-time code that is always wrong for a mail address or phone."
    )
    redirect_uri: str = Field(
        "https://platform.example/onboarding/done", description="The `redirectUri` of hosted flows."
    )
    terms_version: str = Field(
        "version",
        description="The member of `GET /customers/end-user-terms` that holds the version.",
    )
    terms_consent: dict[str, Any] = Field(
        default_factory=lambda: {
            "acceptedAt": "{now}",
            "ipAddress": "203.0.113.7",
            "termsVersion": "{version}",
            "acceptanceMethod": "CLICKWRAP",
        },
        description="The `endUserTermsConsent`; `{now}` and `{version}` are filled in.",
    )
    platform_fee_override: dict[str, Any] = Field(
        default_factory=lambda: {"variableFeeBasisPoints": 100},
        description="A `platformFeeOverride` that the implementation takes.",
    )
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
    config_currency: str = Field(
        "currencyCode",
        description="Where an entry of `supportedCurrencies` holds the code of its currency, "
        "such as `currency.code`.",
    )
    fund: dict[str, Any] = Field(
        default_factory=lambda: {"amount": "{amount}"},
        description="The body of `POST /sandbox/internal-accounts/{accountId}/fund`; `{amount}` "
        "and `{currency}` are filled in.",
    )
    wallet_privacy: str = Field(
        "privateEnabled",
        description="The member of an embedded wallet that says whether it is private.",
    )
    card_funding: str | None = Field(
        None,
        description="The member of an internal account that lists what a card could do with it; "
        "null where the implementation has none.",
    )
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
        "accountNumber: 1########9}`.",
    )
    providers: dict[str, list[str]] = Field(
        default_factory=lambda: {
            "KES": ["M-PESA"],
            "TZS": ["AIRTEL", "VODACOM"],
            "ZMW": ["TNM", "AIRTEL", "ZAMTEL", "MTN"],
            "RWF": ["MTN", "AIRTEL"],
            "MWK": ["AIRTEL", "TNM"],
            "UGX": ["MTN", "AIRTEL"],
            "XOF": ["ORANGE"],
            "BWP": ["ORANGE"],
        },
        description="The provider names of mobile money, by currency.",
    )
    rule_based_account: dict[str, Any] = Field(
        default_factory=lambda: {
            "type": "RULE_BASED",
            "customerId": "{customerId}",
            "currency": "{currency}",
            "label": "{label}",
            "sweepRule": {"destination": {"accountId": "{accountId}"}},
        },
        description="The body of `POST /internal-accounts`; `{customerId}`, `{currency}`, "
        "`{label}`, `{accountId}` (the destination of the sweep) and "
        "`{holderAccountId}` (the holder's own account, for where no other can be "
        "the destination) are filled in, and a member whose value a request does not "
        "have is left out.",
    )
    untrust: dict[str, Any] = Field(
        default_factory=dict,
        description="The body of the call that takes the trust in a beneficiary away.",
    )
    untrust_confirmation: dict[str, Any] = Field(
        default_factory=lambda: {"code": "{code}"},
        description="The body that confirms that trust is taken away; `{code}` is `sca_code`.",
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
    ownership_signature: str = Field(
        "c2lnbmVk", description="A signature that the sandbox takes for the owner's."
    )
    ownership_wrong_signature: str = Field(
        "Zm9yZ2Vk", description="A well-formed signature that is not the owner's."
    )
    uma_address: str = Field(
        "umaAddress", description="The member of a customer that holds its UMA address."
    )
    quote_lookup: str | None = Field(
        None,
        description="The member of `POST /quotes` that takes the `lookupId`; null where there is "
        "none.",
    )
    uma_destination: dict[str, Any] = Field(
        default_factory=lambda: {
            "destinationType": "UMA_ADDRESS",
            "umaAddress": "{umaAddress}",
        },
        description="The destination of a quote to a UMA address; `{umaAddress}` is filled in, "
        "and a member whose value there is not is left out.",
    )
    uma_receiver: str | None = Field(
        None, description="The UMA address of somebody who can be paid; null for none."
    )
    uma_stranger: str | None = Field(
        None,
        description="A well-formed UMA address whose counterparty can be asked and has nobody of "
        "that name; null for none.",
    )
    list_page_size: str | None = Field(
        "limit",
        description="The query parameter of lists that sets the size of a page; null where there "
        "is none.",
    )
    list_cursor: str | None = Field(
        "cursor",
        description="The query parameter of lists that turns the page; null where lists have one "
        "page.",
    )
    list_next: str = Field(
        "nextCursor", description="The member of a list that holds the next cursor."
    )
    transactions_of_customer: str | None = Field(
        "customerId",
        description="The query parameter of `GET /transactions` that keeps to one customer; null "
        "where there is none.",
    )
    sca_region: str = Field(
        "DE", description="The region of a customer who needs strong authentication."
    )
    sca_code: str = Field("123456", description="The one-time code that the sandbox accepts.")
    sca_wrong_code: str = Field(
        "000000", description="A one-time code that the sandbox never accepts."
    )
    sca_proofs: dict[str, dict[str, Any]] = Field(
        default_factory=lambda: dict(_PROOFS),
        description="By factor, the body of an authorization; `{code}` is `sca_code`, `{origin}` "
        "that of the base URL. That of a passkey is not shown in the specification: "
        "say which one your sandbox takes.",
    )
    sca_login: dict[str, Any] = Field(
        default_factory=lambda: {
            "factor": "SMS_OTP",
            "endUserIpAddress": "{ip}",
            "challengeId": "{challengeId}",
            "code": "{code}",
        },
        description="The body of `POST /sca/login/complete`; `{ip}` is `end_user_ip`, `{code}` "
        "is `sca_code`, `{customerId}` and `{challengeId}` (a result of the trigger "
        "`sca.login`) are filled in, and a member whose value there is not is left "
        "out.",
    )
    end_user_ip: str = Field("203.0.113.7", description="The `endUserIpAddress` of requests.")
    reset_factor: str = Field("TOTP", description="A factor that can be reset, beside `SMS_OTP`.")
    reset_mobile: dict[str, Any] = Field(
        default_factory=lambda: {"countryCode": "+49", "number": "15112345678"},
        description="The `mobile` of the completion of an `SMS_OTP` reset.",
    )
    agent_headers: dict[str, str] = Field(
        default_factory=lambda: {"Authorization": "Bearer {token}"},
        description="The headers that carry an agent's credential; `{token}` is a result of the "
        "trigger `agent.connect`.",
    )
    wallet_payload: str | None = Field(
        "payloadToSign",
        description="The dotted path of what the customer's device has to sign, in the answer to "
        "an unsigned action of an embedded wallet, in the details of its refusal or "
        "in the quote; null for the body of the request itself.",
    )
    wallet_request: str | None = Field(
        "requestId",
        description="The dotted path of the `Request-Id` of the signed retry, in the same "
        "places; null where the client chooses it.",
    )
    wallet_malformed_signature: str = Field(
        "not a signature", description="A `Service-Wallet-Signature` that cannot be one."
    )
    return_reversal_id: str = Field(
        "{cardId}",
        description="The id in the path of `POST /sandbox/cards/{id}/simulate/return_reversal`; "
        "`{cardId}` and `{transactionId}` (the refund row) are filled in.",
    )
    return_reversal: dict[str, Any] = Field(
        default_factory=lambda: {"transactionId": "{transactionId}"},
        description="The body of the reversal of a card return; `{cardId}` and `{transactionId}` "
        "are filled in.",
    )
    stablecoin: dict[str, Any] = Field(
        default_factory=lambda: {
            "name": "{name}",
            "symbol": "{symbol}",
            "baseCurrency": "USD",
            "network": "SOLANA",
            "decimals": 6,
        },
        description="The body that registers a stablecoin; `{name}` and `{symbol}` are filled in.",
    )
    stablecoin_mint: dict[str, Any] = Field(
        default_factory=lambda: {
            "amount": "{digits}",
            "destination": {"accountId": "{accountId}"},
        },
        description="The body of a mint; `{amount}`, `{digits}` (the amount as text), "
        "`{accountId}` (an internal account), `{externalAccountId}` and "
        "`{stablecoinProviderAccountId}` are filled in, and a member whose value "
        "there is not is left out.",
    )
    stablecoin_burn: dict[str, Any] = Field(
        default_factory=lambda: {"amount": "{digits}", "source": {"accountId": "{accountId}"}},
        description="The body of a burn, filled in as that of a mint.",
    )
    stablecoin_external_mint: dict[str, Any] = Field(
        default_factory=lambda: {
            "amount": "{digits}",
            "destination": {"externalAccountId": "{externalAccountId}"},
        },
        description="The body of a mint to an external account, filled in as that of another mint.",
    )
    stablecoin_unrepresentable: str | int | None = Field(
        None, description="An amount that no stablecoin of the target can represent; null for none."
    )
    stablecoin_id: str = Field(
        "id",
        description="The dotted path of what identifies a stablecoin, in answers and in lists.",
    )
    stablecoin_operation_id: str | None = Field(
        "id",
        description="The dotted path of what identifies a mint or a burn, in answers and in "
        "lists; null where it is not told.",
    )
    stablecoin_refusals: dict[str, StablecoinRequest] = Field(
        default_factory=dict,
        description="By the code of a refusal, the request that it comes to where it is not the "
        "usual one: `register`, `mint`, `burn` or `external_mint`.",
    )
    transfer_in: dict[str, Any] = Field(
        default_factory=lambda: dict(_TRANSFER),
        description="The body of `POST /transfer-in`; the names in its default are filled in, and "
        "a member whose value a request does not have is left out.",
    )
    transfer_out: dict[str, Any] = Field(
        default_factory=lambda: dict(_TRANSFER),
        description="The body of `POST /transfer-out`; the names in its default are filled in, and "
        "a member whose value a request does not have is left out.",
    )
    transfer_transaction: str | None = Field(
        "id",
        description="The dotted path of the transaction's id in the answer to a deprecated "
        "transfer, such as `transaction.id`; null where it is not told.",
    )
    purpose_of_payment: str | None = Field(
        None, description="A `purposeOfPayment` that the implementation takes; null for none."
    )
    unsupported_currency: str = Field("XTS", description="A currency that is never offered.")

    @field_validator("stablecoin_refusals")
    @classmethod
    def _known_codes(cls, refusals: Mapping[str, str]) -> Mapping[str, str]:
        for code in refusals:
            if code not in (known := error_codes()):
                hint = nearest(code, known)
                raise ValueError(
                    f"unknown error code {code!r}" + (f"; the nearest is {hint!r}" if hint else "")
                )
        return refusals


class Limits(_Part):
    """A limit whose value the specification does not give, in smallest units."""

    currency: str
    amount: int = Field(gt=0)


class Corridor(_Part):
    """A pair of currencies to quote between, and the kind of account that receives."""

    sending: str
    receiving: str
    account: str = Field(
        description="The name of an example of fixtures/accounts, for example `usd_account`."
    )


class Resources(_Part):
    """What exists on the target and the suite cannot make or find out."""

    corridors: list[Corridor] = Field(
        min_length=1,
        default_factory=lambda: [
            Corridor(sending="USD", receiving="USD", account="usd_account"),
            Corridor(sending="USD", receiving="MXN", account="mxn_account"),
        ],
        description="Currencies to quote between, and the example of fixtures/accounts that "
        "receives. The first corridor within one currency is used by default.",
    )
    pullable_account: str = Field(
        "usd_account",
        description="The example of fixtures/accounts whose accounts money can be pulled from.",
    )
    ownership_account: str = Field(
        "solana_wallet",
        description="The example of fixtures/accounts whose ownership a customer can be asked to "
        "prove.",
    )
    account_types: list[str] | None = Field(
        None,
        description="The `accountType` values that are offered; null for all that the "
        "specification shows.",
    )
    realtime_currency: str = Field(
        "USD", description="The currency in which customers fund quotes just in time."
    )
    wallet_currency: str | None = Field(
        None, description="The currency in which customers get an embedded wallet; null for none."
    )
    card_currency: str = Field(
        "USD", description="The currency of the internal accounts that fund cards."
    )
    stablecoin_account: str = Field(
        "usd_account",
        description="The example of fixtures/accounts to whose accounts stablecoins can be minted.",
    )
    single_transaction_limit: Limits | None = Field(
        None,
        description="The largest single transaction, in the currency's smallest unit, such as "
        "`{currency: USD, amount: 100}`; null where there is none.",
    )


class HttpTrigger(_Part):
    """Causes a trigger by one HTTP request with the suite's credentials.

    Texts may hold ``{origin}``, ``{base_url}`` and the trigger's parameters.
    """

    method: Literal["POST", "PUT", "PATCH", "DELETE", "GET"] = "POST"
    url: str
    json_body: dict[str, Any] = Field(default_factory=dict, alias="json")
    returns: dict[str, str] = Field(
        default_factory=dict,
        description="The names of results, each with the member of the response that holds it.",
    )


class WaitTrigger(_Part):
    """Causes a trigger by letting the time pass that a parameter names."""

    until: Literal["expiresAt"]


class Trigger(_Part):
    """How one trigger of the vocabulary is caused: exactly one of four kinds."""

    http: HttpTrigger | None = None
    command: list[str] | None = Field(None, min_length=1)
    magic: dict[str, Any] | None = None
    wait: WaitTrigger | None = None

    def model_post_init(self, _context: Any) -> None:
        """Refuse a trigger of no kind or of several."""
        given = [name for name in type(self).model_fields if getattr(self, name) is not None]
        if len(given) != 1:
            shown = ", ".join(given) or "none"
            raise ValueError(
                f"a trigger has exactly one of http, command, magic, wait; got {shown}"
            )


class Timing(_Part):
    """How long the suite waits for what the specification gives no time for, in seconds."""

    request: float = Field(
        30.0, gt=0, description="One request, from sending to the last byte of its response."
    )
    event: float = Field(10.0, gt=0, description="A webhook after its cause.")
    state: float = Field(10.0, gt=0, description="A resource to come to a state.")
    poll: float = Field(
        0.02, gt=0, description="The first pause between two polls; it doubles up to a second."
    )
    quiet: float = Field(
        0.3, ge=0, description="How long nothing may arrive before an event counts as not sent."
    )
    outage: float = Field(
        60.0,
        gt=0,
        description="How long the target may answer no request, at least five in a row, before "
        "it is given up and what is left of the run is inconclusive.",
    )


class Budget(_Part):
    """What a run may use up on the target."""

    requests: int = Field(100_000, gt=0, description="Requests.")
    created: int = Field(20_000, gt=0, description="Requests that create a resource.")
    amount: int = Field(
        10_000_000, gt=0, description="The largest deposit, in the currency's smallest unit."
    )


def _trigger_names(schema: dict[str, Any]) -> None:
    """Let the JSON Schema of the triggers name them, and take ``null`` as :meth:`load` does."""
    schema["type"] = ["object", "null"]
    schema["propertyNames"] = {"enum": sorted(TRIGGERS)}
    schema["additionalProperties"] = {"anyOf": [schema["additionalProperties"], {"type": "null"}]}


class Profile(_Part):
    """Everything that a run knows about its target beside the base URL."""

    implementation: Implementation
    environment: Environment = Environment.PRODUCTION
    credentials: Credentials = Credentials()
    features: Features = Features()
    irreversible: Irreversible = Irreversible()
    tls: Tls = Tls()
    webhooks: Webhooks = Webhooks()
    bindings: Bindings = Bindings()
    resources: Resources = Resources()
    triggers: dict[str, Trigger] = Field(
        default_factory=dict,
        description="How the target's surroundings are made to act; null takes out a trigger "
        "that the specification offers itself.",
        json_schema_extra=_trigger_names,
    )
    timing: Timing = Timing()
    budget: Budget = Budget()
    variables: dict[str, str] = Field(
        default_factory=dict,
        description="Further names for the texts of triggers. No secrets: the values are part of "
        "the report.",
    )

    @field_validator("triggers")
    @classmethod
    def _known_triggers(cls, triggers: Mapping[str, Trigger]) -> Mapping[str, Trigger]:
        for name in triggers:
            if name not in TRIGGERS:
                hint = nearest(name, TRIGGERS)
                raise ValueError(
                    f"unknown trigger {name!r}; "
                    + (f"the nearest is {hint!r}" if hint else f"known are {', '.join(TRIGGERS)}")
                )
            if name in REQUESTS and triggers[name].http is None:
                raise ValueError(
                    f"{name} is a request whose answer is looked at: it is mapped by http alone"
                )
        return triggers

    @model_validator(mode="after")
    def _known_signatures(self) -> Self:
        if self.features.webhook_signatures and self.webhooks.signature is None:
            raise ValueError("features.webhook_signatures needs webhooks.signature")
        return self

    @model_validator(mode="after")
    def _known_names(self) -> Self:
        problems = [
            problem
            for name, trigger in self.triggers.items()
            for problem in _problems_of_names(name, trigger, self.variables)
        ]
        if problems:
            raise ValueError("\n  ".join(problems))
        return self

    @property
    def usual_corridor(self) -> Corridor:
        """The corridor of whatever needs no other: the first same-currency one, or the first."""
        corridors = self.resources.corridors
        return next((c for c in corridors if c.sending == c.receiving), corridors[0])

    @property
    def currency(self) -> str:
        """The currency of whatever needs no other."""
        return self.usual_corridor.sending

    @classmethod
    def load(cls, path: Path) -> Profile:
        """Read a profile file.

        Raises:
            ProfileError: the file is missing, is not YAML, or holds a key or value that the
                profile does not have; the message names each with the nearest valid one.
        """
        try:
            content = read_yaml(path)
        except NotUsable as error:
            raise ProfileError(f"profile {path} {error}") from error
        except OSError as error:
            raise ProfileError(f"profile {path}: {error.strerror}") from error
        if not isinstance(content, dict):
            raise ProfileError(f"profile {path}: expected a mapping, got {type(content).__name__}")
        try:
            content = _with_authority(_with_key(content, path.parent), path.parent)
            return cls.model_validate(_with_documented_triggers(content))
        except ValidationError as error:
            raise ProfileError(_explain(path, error)) from error


def _problems_of_names(name: str, trigger: Trigger, variables: Mapping[str, str]) -> Iterator[str]:
    """Yield what is wrong with the names in braces in the texts of a trigger."""
    parameters = TRIGGERS[name]
    given = ("origin", "base_url", *parameters)
    own = templates.own_words(variables, _SOME_ORIGIN, _SOME_ORIGIN)
    for place, text in _texts_of(trigger):
        key = f"triggers.{name}.{place}"
        for shadow in templates.named(text, variables.keys() & set(given)):
            yield (
                f"{key}: {{{shadow}}} has a meaning of its own here; give variables.{shadow} "
                "another name"
            )
        filled = templates.fill(text, own)
        # Within a line for a shell, braces have a meaning of their own.
        line = place.startswith("command") and any(map(str.isspace, filled))
        for other in () if line else templates.unknown(filled, given):
            yield f"{key}: {_problem_of_unknown(other, given, variables)}"
        if place == "http.url":
            yield from (f"{key}: {problem}" for problem in _problems_of_url(filled, parameters))
        elif place == "command.0" and (chosen := templates.named(filled, parameters)):
            yield f"{key}: {{{chosen[0]}}} would choose the program, and comes from the target"


def _problem_of_unknown(name: str, given: Collection[str], variables: Mapping[str, str]) -> str:
    if name in variables:
        return f"{{{name}}} stands in another variable, where variables are not filled in"
    known = (*given, *variables)
    hint = nearest(name, known)
    told = f"the nearest is {{{hint}}}" if hint else f"known are {', '.join(known)}"
    return f"unknown name {{{name}}}; {told}"


def _problems_of_url(url: str, parameters: Collection[str]) -> Iterator[str]:
    if chosen := addresses.names_in_host(url, parameters):
        yield f"{{{chosen[0]}}} would choose the host, and comes from the target"
    elif not url.lower().startswith(("http://", "https://")):
        yield f"expected an HTTP URL, for example {{origin}}/path, got {url!r}"


def _texts_of(trigger: Trigger) -> Iterator[tuple[str, str]]:
    """Yield the texts of a trigger in which names are filled in, with their places."""
    if trigger.http is not None:
        yield "http.url", trigger.http.url
        yield from _texts_in(trigger.http.json_body, "http.json")
    if trigger.command is not None:
        yield from _texts_in(trigger.command, "command")


def _texts_in(value: Any, place: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, dict | list):
        for key, member in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _texts_in(member, f"{place}.{key}")


def _with_documented_triggers(content: dict[str, Any]) -> dict[str, Any]:
    """Add the triggers that the specification offers itself, less those that are ``null``."""
    triggers = content.get("triggers")
    if not isinstance(triggers, dict | None):
        return content
    merged = {**_DOCUMENTED_TRIGGERS, **(triggers or {})}
    mapped = {name: trigger for name, trigger in merged.items() if trigger is not None}
    return {**content, "triggers": mapped}


def _with_key(content: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Put the content of a key file in the place of its name.

    Raises:
        ProfileError: it cannot be read.
    """
    webhooks = content.get("webhooks")
    if not isinstance(webhooks, dict) or not isinstance(webhooks.get("signature"), dict):
        return content
    signature = webhooks["signature"]
    key = signature.get("key")
    if not isinstance(key, str) or not key.endswith(".pem"):
        return content
    try:
        # Whoever opens a pipe waits for somebody to write.
        if not (folder / key).is_file():
            raise FileNotFoundError
        pem = (folder / key).read_text(encoding="ascii")
    except (OSError, ValueError) as error:
        raise ProfileError(f"webhooks.signature.key: {folder / key} cannot be read") from error
    return {**content, "webhooks": {**webhooks, "signature": {**signature, "key": pem}}}


def _with_authority(content: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Make the path of a certificate authority absolute, so that workers find it.

    Raises:
        ProfileError: it cannot be read, or holds no certificate.
    """
    tls = content.get("tls")
    if not isinstance(tls, dict) or not isinstance(tls.get("certificate_authority"), str):
        return content
    file = (folder / tls["certificate_authority"]).absolute()
    try:
        if not file.is_file():
            raise ProfileError(f"tls.certificate_authority: {file} is no file")
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(cafile=file)
    except ssl.SSLError as error:
        raise ProfileError(
            f"tls.certificate_authority: {file} holds no certificate in PEM, which begins with "
            "-----BEGIN CERTIFICATE-----"
        ) from error
    except (OSError, ValueError) as error:
        raise ProfileError(f"tls.certificate_authority: {file} cannot be read") from error
    return {**content, "tls": {**tls, "certificate_authority": str(file)}}


def _explain(path: Path, error: ValidationError) -> str:
    lines = [f"profile {path} is not valid:"]
    problems = error.errors()
    for problem in problems[:_MAX_PROBLEMS]:
        place = ".".join(map(str, problem["loc"])) or "the profile"
        if problem["type"] == "extra_forbidden":
            hint = nearest(str(problem["loc"][-1]), _keys_at(problem["loc"][:-1]))
            message = "unknown key" + (f"; the nearest valid one is {hint!r}" if hint else "")
        elif problem["type"] == "missing":
            message = "this key is required"
        elif problem["loc"][:1] == ("credentials",):
            # What stands there may be the secret itself, and is not shown.
            message = "expected the name of an environment variable, never its value"
        else:
            message = problem["msg"].removeprefix("Value error, ")
            if not isinstance(problem["input"], dict):
                message += f", got {addresses.shortened(problem['input'])}"
        lines.append(f"  {place}: {message}")
    if len(problems) > _MAX_PROBLEMS:
        lines.append(f"  and {len(problems) - _MAX_PROBLEMS} more")
    return "\n".join(lines)


def _keys_at(place: tuple[int | str, ...]) -> list[str]:
    """Return the keys that the profile's schema has at ``place``."""
    root = _schema()
    node: Any = root
    for step in place:
        node = _dereference(node, root)
        members = node.get("properties", {})
        if isinstance(step, int):
            node = node.get("items", {})
        else:
            node = members.get(step) or node.get("additionalProperties") or {}
    return list(_dereference(node, root).get("properties", {}))


@cache
def _schema() -> dict[str, Any]:
    return Profile.model_json_schema()


def _dereference(node: Any, root: Mapping[str, Any]) -> Any:
    for option in node.get("anyOf", ()):
        if "$ref" in option:
            node = option
    if "$ref" in node:
        name = node["$ref"].rpartition("/")[2]
        return root["$defs"][name]
    return node
