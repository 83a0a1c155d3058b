"""The rules that are tables: each row states one fact and can be replaced alone.

The other modules look the tables up at the time of use.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Final, Literal

Kind = Literal["string", "integer", "boolean", "object", "array"]


@dataclass(frozen=True, slots=True)
class Currency:
    """One currency: its code, names and number of decimal places (>= 0)."""

    code: str
    name: str
    symbol: str
    decimals: int
    crypto: bool = False


CURRENCIES: dict[str, Currency] = {
    row.code: row
    for row in (
        Currency("USD", "United States Dollar", "$", 2),
        Currency("EUR", "Euro", "€", 2),
        Currency("GBP", "Pound Sterling", "£", 2),
        Currency("MXN", "Mexican Peso", "$", 2),
        Currency("BRL", "Brazilian Real", "R$", 2),
        Currency("INR", "Indian Rupee", "₹", 2),
        Currency("COP", "Colombian Peso", "$", 2),
        Currency("PHP", "Philippine Peso", "₱", 2),
        Currency("NGN", "Nigerian Naira", "₦", 2),
        Currency("ZAR", "South African Rand", "R", 2),
        Currency("CAD", "Canadian Dollar", "$", 2),
        Currency("AED", "United Arab Emirates Dirham", "د.إ", 2),
        Currency("ILS", "Israeli New Shekel", "₪", 2),
        Currency("BDT", "Bangladeshi Taka", "৳", 2),
        Currency("CNY", "Chinese Yuan", "¥", 2),
        Currency("KES", "Kenyan Shilling", "KSh", 2),
        Currency("TZS", "Tanzanian Shilling", "TSh", 2),
        Currency("ZMW", "Zambian Kwacha", "ZK", 2),
        Currency("MWK", "Malawian Kwacha", "MK", 2),
        Currency("BWP", "Botswana Pula", "P", 2),
        Currency("RWF", "Rwandan Franc", "FRw", 0),
        Currency("UGX", "Ugandan Shilling", "USh", 0),
        Currency("XOF", "West African CFA Franc", "CFA", 0),
        Currency("DKK", "Danish Krone", "kr", 2),
        Currency("EGP", "Egyptian Pound", "E£", 2),
        Currency("GHS", "Ghanaian Cedi", "GH₵", 2),
        Currency("GTQ", "Guatemalan Quetzal", "Q", 2),
        Currency("HKD", "Hong Kong Dollar", "HK$", 2),
        Currency("HTG", "Haitian Gourde", "G", 2),
        Currency("IDR", "Indonesian Rupiah", "Rp", 2),
        Currency("JMD", "Jamaican Dollar", "J$", 2),
        Currency("MYR", "Malaysian Ringgit", "RM", 2),
        Currency("PKR", "Pakistani Rupee", "Rs", 2),
        Currency("SGD", "Singapore Dollar", "S$", 2),
        Currency("THB", "Thai Baht", "฿", 2),
        Currency("VND", "Vietnamese Dong", "₫", 0),
        Currency("XAF", "Central African CFA Franc", "FCFA", 0),
        Currency("USDC", "USD Coin", "USDC", 6, crypto=True),
        Currency("USDT", "Tether", "USDT", 6, crypto=True),
        Currency("BTC", "Bitcoin", "₿", 8, crypto=True),
        Currency("USDB", "USDB", "USDB", 6, crypto=True),
    )
}

USD_PRICES: dict[str, Decimal] = {
    "USD": Decimal(1),
    "EUR": Decimal("1.08"),
    "GBP": Decimal("1.27"),
    "MXN": Decimal("0.054"),
    "BRL": Decimal("0.18"),
    "INR": Decimal("0.012"),
    "COP": Decimal("0.00025"),
    "PHP": Decimal("0.0175"),
    "NGN": Decimal("0.00065"),
    "ZAR": Decimal("0.055"),
    "CAD": Decimal("0.73"),
    "AED": Decimal("0.2723"),
    "ILS": Decimal("0.27"),
    "BDT": Decimal("0.0084"),
    "CNY": Decimal("0.14"),
    "KES": Decimal("0.0077"),
    "TZS": Decimal("0.0004"),
    "ZMW": Decimal("0.037"),
    "MWK": Decimal("0.00058"),
    "BWP": Decimal("0.073"),
    "RWF": Decimal("0.00071"),
    "UGX": Decimal("0.00027"),
    "XOF": Decimal("0.00165"),
    "DKK": Decimal("0.145"),
    "EGP": Decimal("0.0205"),
    "GHS": Decimal("0.066"),
    "GTQ": Decimal("0.129"),
    "HKD": Decimal("0.128"),
    "HTG": Decimal("0.0076"),
    "IDR": Decimal("0.0000625"),
    "JMD": Decimal("0.0064"),
    "MYR": Decimal("0.225"),
    "PKR": Decimal("0.0036"),
    "SGD": Decimal("0.74"),
    "THB": Decimal("0.0285"),
    "VND": Decimal("0.00004"),
    "XAF": Decimal("0.00165"),
    "USDC": Decimal(1),
    "USDT": Decimal("0.9995"),
    "BTC": Decimal(64000),
    "USDB": Decimal(1),
}
"""Whole US dollars for one whole unit of the currency."""

MIN_RECEIVED: dict[str, int] = {"MXN": 100}
"""The least that an external account receives, in smallest units; one where nothing is said."""

EU_COUNTRIES: Final = frozenset(
    [
        "AT",
        "BE",
        "BG",
        "CY",
        "CZ",
        "DE",
        "DK",
        "EE",
        "ES",
        "FI",
        "FR",
        "GR",
        "HR",
        "HU",
        "IE",
        "IT",
        "LT",
        "LU",
        "LV",
        "MT",
        "NL",
        "PL",
        "PT",
        "RO",
        "SE",
        "SI",
        "SK",
        "EU",
    ]
)
SCA_REGIONS: frozenset[str] = EU_COUNTRIES
"""Regions and countries whose customers authorize money movement themselves."""

CHANNEL_ADDRESS: Final = {"email": "email", "phone": "phoneNumber"}
"""The customer's member that holds the address of each contact channel."""

_EU_CHANNELS = ("email", "phone")

CONTACT_CHANNELS: dict[str, tuple[str, ...]] = dict.fromkeys(EU_COUNTRIES, _EU_CHANNELS)
"""The channels that have to be verified before the hosted flow, by region; elsewhere none."""


@dataclass(frozen=True, slots=True)
class HostedFlow:
    """A hosted flow: its provider, where it starts, and whether an SDK can embed it."""

    name: str
    url: str
    embeddable: bool = False


HOSTED_FLOWS: dict[str, HostedFlow] = {
    "INDIVIDUAL": HostedFlow(
        "REFERENCE_KYC", "https://kyc.reference.example/start", embeddable=True
    ),
    "BUSINESS": HostedFlow("REFERENCE_KYB", "https://kyb.reference.example/start"),
}
"""The hosted flow of each type of customer."""

MAX_IDEMPOTENCY_KEY_CHARS: int = 255


_ASSIGNED: Final = """
    AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO
    BQ BR BS BT BV BW BY BZ CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ
    DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP
    GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG
    KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML
    MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE
    PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL
    SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM
    US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW
    """
COUNTRIES: frozenset[str] = frozenset(_ASSIGNED.split())
"""The country codes that ISO 3166-1 alpha-2 assigns."""


# --- Request fields -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Field:
    """The rule of one member of a request body.

    ``path`` is dotted; a nested rule applies where the enclosing object is present. ``when`` names
    a path and the value under which the rule applies. Lengths count code points.
    """

    path: str
    kind: Kind
    required: bool = False
    enum: tuple[str, ...] = ()
    minimum: int | None = None
    maximum: int | None = None
    min_length: int | None = None
    max_length: int | None = None
    pattern: str | None = None
    format: str | None = None
    items: Kind | None = None
    nullable: bool = False
    when: tuple[str, str] | None = None


MAX_INTEGER: Final = 2**63 - 1
DATE: Final = "date"
COUNTRY_PATTERN: Final = r"[A-Z]{2}"
COUNTRY: Final = "country"

_FEE_FIELDS = ("variableFeeBasisPoints", "fixedFeeAmount")

QUOTE_FIELDS: tuple[Field, ...] = (
    Field("source", "object", required=True),
    Field("source.sourceType", "string", required=True, enum=("ACCOUNT", "REALTIME_FUNDING")),
    Field(
        "source.accountId",
        "string",
        required=True,
        min_length=1,
        when=("source.sourceType", "ACCOUNT"),
    ),
    Field("source.customerId", "string", when=("source.sourceType", "REALTIME_FUNDING")),
    Field("source.platform", "boolean", when=("source.sourceType", "REALTIME_FUNDING")),
    Field(
        "source.currency",
        "string",
        required=True,
        when=("source.sourceType", "REALTIME_FUNDING"),
    ),
    Field("destination", "object", required=True),
    Field("destination.destinationType", "string", required=True, enum=("ACCOUNT", "UMA_ADDRESS")),
    Field(
        "destination.accountId",
        "string",
        required=True,
        min_length=1,
        when=("destination.destinationType", "ACCOUNT"),
    ),
    Field("destination.paymentRail", "string", when=("destination.destinationType", "ACCOUNT")),
    Field(
        "destination.umaAddress",
        "string",
        required=True,
        min_length=1,
        when=("destination.destinationType", "UMA_ADDRESS"),
    ),
    Field("destination.currency", "string", when=("destination.destinationType", "UMA_ADDRESS")),
    Field("lockedCurrencySide", "string", required=True, enum=("SENDING", "RECEIVING")),
    Field("lockedCurrencyAmount", "integer", required=True, minimum=1, maximum=MAX_INTEGER),
    Field("immediatelyExecute", "boolean"),
    Field("remittanceInformation", "string", max_length=80),
    Field("description", "string"),
    Field("purposeOfPayment", "string"),
    Field("lookupId", "string"),
    Field("platformFeeOverride", "object"),
    Field("platformFeeOverride.variableFeeBasisPoints", "integer", minimum=0, maximum=5000),
    Field("platformFeeOverride.fixedFeeAmount", "integer", minimum=0, maximum=10**12),
)

AUTHORIZE_FIELDS: tuple[Field, ...] = (
    Field("code", "string", min_length=1),
    Field("passkeyAssertion", "object"),
    Field("origin", "string"),
)

FUND_FIELDS: tuple[Field, ...] = (
    Field("amount", "integer", required=True, minimum=1, maximum=10**15),
)

TRANSFER_FIELDS: tuple[Field, ...] = (
    Field("source", "object", required=True),
    Field("source.accountId", "string", required=True, min_length=1),
    Field("destination", "object", required=True),
    Field("destination.accountId", "string", required=True, min_length=1),
    Field("destination.paymentRail", "string"),
    Field("amount", "integer", required=True, minimum=1, maximum=MAX_INTEGER),
    Field("remittanceInformation", "string", max_length=80),
    Field("purposeOfPayment", "string"),
)

_ADDRESS = ("line1", "line2", "city", "state", "postalCode")

CUSTOMER_FIELDS: tuple[Field, ...] = (
    Field("customerType", "string", required=True, enum=("INDIVIDUAL", "BUSINESS")),
    Field("platformCustomerId", "string", min_length=1, max_length=255),
    Field("region", "string", min_length=1, max_length=16),
    Field("currencies", "array", items="string"),
    Field("umaAddress", "string", max_length=255),
    Field("fullName", "string", min_length=1, max_length=255),
    Field("birthDate", "string", format=DATE),
    Field("nationality", "string", format=COUNTRY),
    Field("address", "object"),
    *(Field(f"address.{name}", "string", max_length=255, nullable=True) for name in _ADDRESS),
    Field("address.country", "string", format=COUNTRY),
    Field("email", "string", format="email"),
    Field("phoneNumber", "string", format="tel"),
    Field("idType", "string", enum=("SSN", "ITIN")),
    Field("countryOfIssuance", "string", format=COUNTRY),
    Field("identifier", "string"),
    Field("identifier", "string", pattern=r"\d{3}-\d{2}-\d{4}", when=("idType", "SSN")),
    Field("identifier", "string", pattern=r"9\d{2}-\d{2}-\d{4}", when=("idType", "ITIN")),
    Field("sourceOfFundsCategories", "array", items="string"),
    Field("sourceOfFundsOtherDescription", "string", max_length=1000),
    Field("sourceOfWealthCategories", "array", items="string"),
    Field("sourceOfWealthOtherDescription", "string", max_length=1000),
    Field("purposeOfAccount", "string", max_length=255),
    Field("expectedMonthlyTransactionCount", "integer", minimum=0, maximum=MAX_INTEGER),
    Field("expectedMonthlyTransactionVolume", "integer", minimum=0, maximum=MAX_INTEGER),
    Field("annualIncomeRange", "string", max_length=64),
    Field("netWorthRange", "string", max_length=64),
    Field("pepStatus", "string", max_length=64),
    Field("businessInfo", "object"),
    Field("businessInfo", "object", required=True, when=("customerType", "BUSINESS")),
    Field("endUserTermsConsent", "object"),
    Field("endUserTermsConsent.acceptedAt", "string", required=True, format="date-time"),
    Field("endUserTermsConsent.ipAddress", "string", required=True, min_length=1, max_length=45),
    Field("endUserTermsConsent.termsVersion", "string", required=True, min_length=1),
    Field("endUserTermsConsent.acceptanceMethod", "string", required=True, min_length=1),
)

ENTITY_TYPES: tuple[str, ...] = (
    "LIMITED_LIABILITY_COMPANY",
    "CORPORATION",
    "PARTNERSHIP",
    "SOLE_PROPRIETORSHIP",
    "NON_PROFIT",
    "PUBLICLY_LISTED_COMPANY",
    "TRUST",
    "PRIVATE_FOUNDATION",
    "CHARITY",
)

TAX_ID_PATTERN: Final = r"[A-Z]{0,4}[ -]?\d[\dA-Z ./-]{3,24}"
"""The least that is asked of a tax number of any country."""

BUSINESS_FIELDS: tuple[Field, ...] = (
    Field("businessInfo.legalName", "string", required=True, min_length=1),
    Field("businessInfo.country", "string", required=True, format=COUNTRY),
    Field("businessInfo.taxId", "string", required=True, pattern=TAX_ID_PATTERN),
    Field(
        "businessInfo.taxId",
        "string",
        pattern=r"\d{2}-\d{7}",
        when=("businessInfo.country", "US"),
    ),
    Field("businessInfo.incorporatedOn", "string", required=True, format=DATE),
    Field("businessInfo.registrationNumber", "string"),
    Field("businessInfo.entityType", "string", enum=ENTITY_TYPES),
    Field("businessInfo.businessType", "string", max_length=64),
    Field("businessInfo.primaryContactFirstName", "string", max_length=255),
    Field("businessInfo.primaryContactLastName", "string", max_length=255),
    Field("businessInfo.countriesOfOperation", "array", items="string"),
    Field("businessInfo.purposeOfAccount", "string", max_length=255),
    Field("businessInfo.sourceOfFunds", "string", max_length=255),
)

OTHER_DESCRIPTIONS: dict[str, str] = {
    "sourceOfFundsCategories": "sourceOfFundsOtherDescription",
    "sourceOfWealthCategories": "sourceOfWealthOtherDescription",
}
"""The text that a list of categories asks for when it includes OTHER."""

CONTACT_CODE_FIELDS: tuple[Field, ...] = (Field("code", "string", required=True, min_length=1),)

KYC_LINK_FIELDS: tuple[Field, ...] = (
    Field(
        "redirectUri",
        "string",
        required=True,
        max_length=2048,
        pattern=r"[A-Za-z][A-Za-z0-9+.-]*:\S+",
    ),
)

CONFIG_FIELDS: tuple[Field, ...] = (
    Field("feeConfigs", "array", items="object"),
    Field("cardTokenization2faConfig", "object", nullable=True),
)

FEE_CONFIG_FIELDS: tuple[Field, ...] = (
    Field("sourceCurrency", "string", required=True),
    Field("variableFeeBasisPoints", "integer", minimum=0, maximum=5000),
    Field("fixedFeeAmount", "integer", minimum=0, maximum=10**12),
)
PLATFORM_FEE_CURRENCY: str = "USD"

PROVIDER_REQUIRED_FIELDS: dict[str, tuple[str, ...]] = {
    "MXN": ("birthDate", "nationality", "phoneNumber"),
    "EUR": ("phoneNumber",),
}
"""What the provider behind a currency has to know about a person who moves money in it.

No review asks for a phone number.
"""

# --- Quotes and transactions ----------------------------------------------------------------

WALLET_CURRENCIES: tuple[str, ...] = ("USDB", "USDT")
"""The currencies that customers hold in embedded wallets."""

REALTIME_CURRENCIES: tuple[str, ...] = ("USD", "EUR", "GBP", "USDC", "USDT", "BTC")

DEPOSIT_NETWORKS: dict[str, str] = {"USDC": "SOLANA", "USDT": "SOLANA"}
"""The network that just-in-time deposits of a currency settle on."""

Action = Literal[
    "EXECUTE",
    "EXECUTE_REALTIME",
    "EXECUTE_UNAPPROVED",
    "CHALLENGE",
    "CHALLENGE_AGAIN",
    "AUTHORIZE",
    "APPROVE",
    "AWAIT_DEPOSIT",
    "DEPOSIT",
]


@dataclass(frozen=True, slots=True)
class Move:
    """A transition that is allowed: the quote's next status."""

    status: str


@dataclass(frozen=True, slots=True)
class Refuse:
    """A transition that is refused with an error code."""

    code: str


QUOTE_TRANSITIONS: dict[tuple[str, Action], Move | Refuse] = {
    ("PENDING", "EXECUTE"): Move("PROCESSING"),
    ("EXPIRED", "EXECUTE"): Refuse("QUOTE_EXPIRED"),
    ("EXPIRED", "EXECUTE_REALTIME"): Refuse("QUOTE_EXPIRED"),
    ("PENDING", "CHALLENGE"): Move("PENDING_AUTHORIZATION"),
    ("PENDING_AUTHORIZATION", "CHALLENGE_AGAIN"): Move("PENDING_AUTHORIZATION"),
    ("PENDING_AUTHORIZATION", "AUTHORIZE"): Move("PROCESSING"),
    ("PENDING_AUTHORIZATION", "AWAIT_DEPOSIT"): Move("PENDING"),
    ("EXPIRED", "AUTHORIZE"): Refuse("QUOTE_EXPIRED"),
    ("PENDING", "APPROVE"): Move("PROCESSING"),
    ("EXPIRED", "APPROVE"): Refuse("QUOTE_EXPIRED"),
    ("PENDING", "DEPOSIT"): Move("PROCESSING"),
}
"""What each action does to a quote in each status; a pair that is missing is refused as late."""

TRANSACTION_STATUS: dict[str, str] = {
    "PENDING": "PENDING",
    "PENDING_AUTHORIZATION": "PENDING",
    "PROCESSING": "PROCESSING",
    "COMPLETED": "COMPLETED",
    "FAILED": "FAILED",
    "EXPIRED": "EXPIRED",
}
"""The transaction's status for each status of its quote."""


@dataclass(frozen=True, slots=True)
class PayoutResult:
    """What the rail does with a payout, by the condition of its destination."""

    failure_reason: str | None = None
    held: bool = False
    pending_reason: str | None = None
    refund: Literal["COMPLETES", "FAILS", "HELD"] = "COMPLETES"


PAYOUT_RESULTS: dict[str, PayoutResult] = {
    "NORMAL": PayoutResult(),
    "UNKNOWN": PayoutResult("ACCOUNT_INVALID"),
    "BLOCKED": PayoutResult("ACCOUNT_CANNOT_RECEIVE"),
    "LIMITED": PayoutResult("LIMIT_EXCEEDED"),
    "RETURNS": PayoutResult("PAYOUT_RETURNED"),
    "SCREENED": PayoutResult("COMPLIANCE_REJECTED"),
    "HELD": PayoutResult(held=True),
    "REVIEWED": PayoutResult(held=True, pending_reason="COMPLIANCE_REVIEW"),
    "REFUND_FAILS": PayoutResult("PAYOUT_RETURNED", refund="FAILS"),
    "REFUND_HELD": PayoutResult("PAYOUT_RETURNED", refund="HELD"),
}

AWAITED_PROOF: str = "CUSTOMER_AUTHORIZATION"
AWAITED_APPROVAL: str = "CUSTOMER_APPROVAL"
"""What a transaction that waits for its customer tells as its pendingReason."""

SCA_FAILURE_REASON: str = "SCA_NOT_COMPLETED"
SCA_FACTORS: tuple[str, ...] = ("SMS_OTP", "PASSKEY", "TOTP")
SANDBOX_CODE: str = "123456"

TRANSACTION_EVENTS: dict[str, str] = {
    "PROCESSING": "OUTGOING_PAYMENT.PROCESSING",
    "COMPLETED": "OUTGOING_PAYMENT.COMPLETED",
    "FAILED": "OUTGOING_PAYMENT.FAILED",
    "REFUND_PENDING": "OUTGOING_PAYMENT.REFUND_PENDING",
    "REFUND_COMPLETED": "OUTGOING_PAYMENT.REFUND_COMPLETED",
    "REFUND_FAILED": "OUTGOING_PAYMENT.REFUND_FAILED",
}
BALANCE_EVENT: str = "INTERNAL_ACCOUNT.BALANCE_UPDATED"
REVIEW_EVENTS: dict[tuple[str, str], str] = {
    ("INDIVIDUAL", "PENDING"): "CUSTOMER.KYC_PENDING",
    ("INDIVIDUAL", "APPROVED"): "CUSTOMER.KYC_APPROVED",
    ("INDIVIDUAL", "REJECTED"): "CUSTOMER.KYC_REJECTED",
    ("BUSINESS", "PENDING"): "CUSTOMER.KYB_PENDING",
    ("BUSINESS", "APPROVED"): "CUSTOMER.KYB_APPROVED",
    ("BUSINESS", "REJECTED"): "CUSTOMER.KYB_REJECTED",
}
STATUS_FIELD: dict[str, str] = {"INDIVIDUAL": "kycStatus", "BUSINESS": "kybStatus"}
INITIAL_CUSTOMER_STATUS: dict[str, str] = {"REGULATED": "APPROVED", "UNREGULATED": "UNVERIFIED"}


# --- Verification ---------------------------------------------------------------------------

REVIEW_TRANSITIONS: dict[str, tuple[str, ...]] = {
    "UNVERIFIED": ("PENDING",),
    "PENDING": ("APPROVED", "REJECTED", "HOLD"),
    "HOLD": ("PENDING", "APPROVED", "REJECTED"),
    "APPROVED": (),
    "REJECTED": (),
}
"""Where a customer's verification may go from each of its states."""

SUBMISSION_FIELDS: tuple[Field, ...] = (Field("customerId", "string", required=True, min_length=1),)

ALL_PERSONS: Final = "all"
US_PERSONS: Final = "US"

INDIVIDUAL_NEEDS: dict[str, str] = {
    "fullName": ALL_PERSONS,
    "birthDate": ALL_PERSONS,
    "nationality": ALL_PERSONS,
    "address": ALL_PERSONS,
    "idType": US_PERSONS,
    "identifier": US_PERSONS,
}
"""The fields without which an individual is not reviewed, each with the persons who need it."""

BUSINESS_NEEDS: tuple[str, ...] = (
    "address",
    "businessInfo.legalName",
    "businessInfo.country",
    "businessInfo.taxId",
    "businessInfo.incorporatedOn",
    "businessInfo.countriesOfOperation",
)
"""The fields without which a business is not reviewed."""

NUMBERED_PERSONS: tuple[str, ...] = ("personalInfo.idType", "personalInfo.identifier")
"""What only US persons among the owners need; the others are known by their passports."""

CONTROL_ROLE: str = "CONTROL_PERSON"

SUFFIX_OUTCOMES: dict[str, str | None] = {"001": None, "002": "REJECTED", "003": "APPROVED"}
"""What the sandbox makes of the suffix of a name or number; ``None``: the review goes on."""

PACKET_SUFFIXES: tuple[str, ...] = ("001", "003")
"""The suffixes that need a complete packet even where the sandbox skips paperwork."""

HOSTED_OUTCOMES: dict[str, str | None] = {"INDIVIDUAL": None, "BUSINESS": "APPROVED"}
"""What becomes of a hosted flow without suffix in the sandbox; ``None``: a review decides."""


# --- Invitations ----------------------------------------------------------------------------

SANDBOX_INVITATIONS: dict[str, str] = {
    "OPEN": "PENDING",
    "CLAIMED": "CLAIMED",
    "CANCELLED": "CANCELLED",
    "UNCONFIGURED": "UNCONFIGURED",
}
"""The state of each invitation that the sandbox keeps, by its code."""

UNCLAIMABLE: dict[str, tuple[str, str]] = {
    "CLAIMED": ("INVITATION_ALREADY_CLAIMED", "The invitation was claimed before."),
    "CANCELLED": ("INVITATION_CANCELLED", "The invitation was cancelled. Ask for another one."),
    "UNCONFIGURED": (
        "INVITATIONS_NOT_CONFIGURED",
        "The platform that sent the invitation has not set up invitations.",
    ),
}
"""The code and the reason by which a claim is refused, by the invitation's state."""


# --- Errors and lists -----------------------------------------------------------------------

ERROR_STATUS: dict[str, int] = {
    "INVALID_INPUT": 400,
    "INVALID_REQUEST_FORMAT": 400,
    "INVALID_AMOUNT": 400,
    "AMOUNT_OUT_OF_RANGE": 400,
    "INVALID_CURRENCY": 400,
    "INVALID_BANK_ACCOUNT": 400,
    "INVALID_UMA_ADDRESS": 400,
    "INVALID_RECEIVER": 400,
    "INVALID_PAYREQ_RESPONSE": 400,
    "PARSE_PAYREQ_RESPONSE_ERROR": 400,
    "PARSE_LNURLP_RESPONSE_ERROR": 400,
    "LOOKUP_REQUEST_FAILED": 400,
    "SENDER_NOT_ACCEPTED": 400,
    "CERT_CHAIN_INVALID": 400,
    "CERT_CHAIN_EXPIRED": 400,
    "INVALID_PUBKEY_FORMAT": 400,
    "MISSING_REQUIRED_UMA_PARAMETERS": 400,
    "SELF_PAYMENT": 400,
    "TRANSACTION_SIZE_LIMIT_EXCEEDED": 400,
    "INSUFFICIENT_FUNDS": 400,
    "END_USER_TERMS_VERSION_NOT_FOUND": 400,
    "QUOTE_REQUEST_FAILED": 400,
    "QUOTE_EXPIRED": 400,
    "QUOTE_RATE_UNAVAILABLE": 400,
    "MISSING_MANDATORY_USER_INFO": 400,
    "EXTERNAL_ACCOUNT_VERIFICATION_REQUIRED": 400,
    "CARDHOLDER_KYC_NOT_APPROVED": 400,
    "STABLECOIN_PROVIDER_ACCOUNT_INVALID": 400,
    "STABLECOIN_PROVIDER_ACCOUNT_REVOKED": 400,
    "STABLECOIN_PROVIDER_ACCOUNT_SELECTION_REQUIRED": 400,
    "STABLECOIN_AMOUNT_NOT_REPRESENTABLE": 400,
    "STABLECOIN_BURN_SOURCE_NOT_SUPPORTED": 400,
    "STABLECOIN_EXTERNAL_ACCOUNT_LINK_FAILED": 400,
    "STABLECOIN_EXTERNAL_ACCOUNT_LINK_METHOD_REQUIRED": 400,
    "STABLECOIN_EXTERNAL_ACCOUNT_NOT_LINKED": 400,
    "STABLECOIN_EXTERNAL_ACCOUNT_NOT_SUPPORTED": 400,
    "STABLECOIN_EXTERNAL_ACCOUNT_PROVIDER_LINK_FAILED": 400,
    "STABLECOIN_EXTERNAL_ACCOUNT_PROVIDER_LINK_REQUIRED": 400,
    "STABLECOIN_SERVICE_OPERATIONS_NOT_ENABLED": 400,
    "STABLECOIN_NOT_PROVISIONED": 400,
    "STABLECOIN_OPERATION_NOT_SUPPORTED": 400,
    "STABLECOIN_PROVIDER_ERROR": 400,
    "STABLECOIN_PROVIDER_SOURCE_NOT_LINKED": 400,
    "STABLECOIN_VERIFICATION_FAILED": 400,
    "INVITATION_ALREADY_CLAIMED": 400,
    "INVITATIONS_NOT_CONFIGURED": 400,
    "INVITATION_CANCELLED": 400,
    "EMAIL_OTP_CREDENTIAL_ALREADY_EXISTS": 400,
    "SMS_OTP_CREDENTIAL_ALREADY_EXISTS": 400,
    "PASSKEY_CREDENTIAL_ALREADY_EXISTS": 400,
    "UNAUTHORIZED": 401,
    "WALLET_SIGNATURE_MISSING": 401,
    "WALLET_SIGNATURE_MALFORMED": 401,
    "WALLET_SIGNATURE_BODY_MISMATCH": 401,
    "WALLET_SIGNATURE_INVALID": 401,
    "REQUEST_ID_MISSING": 401,
    "END_USER_TERMS_NOT_ACCEPTED": 403,
    "NOT_FOUND": 404,
    "ACCOUNT_NOT_FOUND": 404,
    "CUSTOMER_NOT_FOUND": 404,
    "DOCUMENT_HOLDER_NOT_FOUND": 404,
    "VERIFICATION_NOT_FOUND": 404,
    "QUOTE_NOT_FOUND": 404,
    "TRANSACTION_NOT_FOUND": 404,
    "REQUEST_NOT_FOUND": 404,
    "INVITATION_NOT_FOUND": 404,
    "UMA_NOT_FOUND": 404,
    "LOOKUP_REQUEST_NOT_FOUND": 404,
    "STABLECOIN_EXTERNAL_ACCOUNT_NOT_FOUND": 404,
    "STABLECOIN_NOT_FOUND": 404,
    "STABLECOIN_PROVIDER_ACCOUNT_NOT_FOUND": 404,
    "METHOD_NOT_ALLOWED": 405,
    "FORBIDDEN": 403,
    "CONFLICT": 409,
    "INVALID_STATE_TRANSITION": 409,
    "SCA_SESSION_REQUIRED": 409,
    "BENEFICIARY_TRUSTED": 409,
    "UNSUPPORTED_UMA_VERSION": 412,
    "DOCUMENT_REJECTED": 422,
    "ACCOUNT_LOCKED": 423,
    "LNURLP_REQUEST_FAILED": 424,
    "PAYREQ_REQUEST_FAILED": 424,
    "COUNTERPARTY_PUBKEY_FETCH_ERROR": 424,
    "EMAIL_OTP_CREDENTIAL_SYNC_FAILED": 424,
    "SMS_OTP_CREDENTIAL_SYNC_FAILED": 424,
    "DAILY_VOLUME_LIMIT_EXCEEDED": 429,
    "RATE_LIMITED": 429,
    "INTERNAL_ERROR": 500,
    "NOT_IMPLEMENTED": 501,
}

PAGE_DEFAULT: int = 20
PAGE_MAXIMUM: int = 100
