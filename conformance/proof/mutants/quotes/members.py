"""Mutants of what a quote shows."""

from __future__ import annotations

import html
import json
from collections.abc import Callable
from typing import Any

from conformance.proof.kit.builders import Json, edited, instead
from conformance.proof.kit.edits import ABSENT, copied, put, renamed, turned
from conformance.proof.kit.members import FORMLESS_ID, FORMLESS_TIME, Member, declare_members
from conformance.proof.mutant import declare, mutant
from conformance.proof.mutants.quotes.toolkit import shown_where
from conformance.proof.patch import Patch
from conformance.reference.internal_accounts import accounts
from conformance.reference.quotes import parties, quotes
from conformance.reference.store import Quote

# --- Members of resources -------------------------------------------------------------------


_NO_OBJECT = {"text": "none", "list": []}


_NO_INTEGER = {"text": "100", "fraction": 100.5, "null": None}


_NO_CURRENCY = {"code-alone": "USD", "null": None}


_OPTIONAL_TEXT = {"number": 17, "object": {}}


MEMBERS = (
    Member("QUO-001", (quotes, "view"), "id", FORMLESS_ID),
    Member("QUO-002", (quotes, "view"), "status", {"number": 17, "null": None}),
    Member("QUO-003", (quotes, "view"), "createdAt", FORMLESS_TIME),
    Member("QUO-004", (quotes, "view"), "expiresAt", FORMLESS_TIME),
    Member("QUO-005", (quotes, "view"), "source", _NO_OBJECT),
    Member("QUO-006", (quotes, "view"), "destination", _NO_OBJECT),
    Member("QUO-007", (quotes, "view"), "sendingCurrency", _NO_CURRENCY),
    Member("QUO-008", (quotes, "view"), "receivingCurrency", _NO_CURRENCY),
    Member("QUO-009", (quotes, "view"), "totalSendingAmount", _NO_INTEGER),
    Member("QUO-010", (quotes, "view"), "totalReceivingAmount", _NO_INTEGER),
    Member("QUO-011", (quotes, "view"), "exchangeRate", {"text": "1.08", "zero": 0, "null": None}),
    Member("QUO-012", (quotes, "view"), "feesIncluded", _NO_INTEGER),
    Member(
        "QUO-013", (quotes, "view"), "platformFeesIncluded", {"text": "0", "fraction": 0.5}, False
    ),
    Member("QUO-014", (quotes, "view"), "transactionId", FORMLESS_ID),
    Member("QUO-015", (quotes, "view"), "description", _OPTIONAL_TEXT, False),
    Member(
        "QUO-016", (quotes, "view"), "paymentInstructions", {"object": {}, "text": "ask us"}, False
    ),
    Member(
        "QUO-017",
        (accounts, "_instruction"),
        "accountOrWalletInfo",
        {"text": "US_ACCOUNT", "null": None},
    ),
    Member(
        "QUO-018",
        (accounts, "_instruction"),
        "accountOrWalletInfo.accountType",
        {"number": 17, "null": None},
    ),
    Member(
        "QUO-019",
        (accounts, "_instruction"),
        "instructionsNotes",
        {"list": ["Include the reference."]},
        False,
    ),
    Member("QUO-022", (quotes, "view"), "rateDetails", {"text": "1.08", "list": []}, False),
    Member("QUO-818", (quotes, "view"), "platformFeesIncluded", {}),
    Member("QUO-819", (quotes, "view"), "description", {}),
    Member("QUO-820", (quotes, "view"), "rateDetails", {}),
    Member("QUO-821", (quotes, "view"), "rateDetails.counterpartyMultiplier", {}),
    Member("QUO-821", (quotes, "view"), "rateDetails.counterpartyFixedFee", {}),
    Member("QUO-821", (quotes, "view"), "rateDetails.gridApiMultiplier", {}),
    Member("QUO-821", (quotes, "view"), "rateDetails.gridApiFixedFee", {}),
    Member("QUO-821", (quotes, "view"), "rateDetails.gridApiVariableFeeRate", {}),
    Member("QUO-821", (quotes, "view"), "rateDetails.gridApiVariableFeeAmount", {}),
)

declare_members(MEMBERS)

for _requirement, _name, _other in (
    ("QUO-023", "gridApiMultiplier", "gridAPIMultiplier"),
    ("QUO-023", "gridApiMultiplier", "grid_api_multiplier"),
    ("QUO-023", "gridApiMultiplier", "gridMultiplier"),
    ("QUO-024", "gridApiFixedFee", "gridAPIFixedFee"),
    ("QUO-024", "gridApiFixedFee", "grid_api_fixed_fee"),
    ("QUO-024", "gridApiFixedFee", "gridApiFixedFees"),
):
    declare(
        _requirement,
        _other,
        f"{_name} is called {_other}",
        edited(quotes, "view", turned("rateDetails", renamed(_name, _other))),
    )


# --- What a quote takes over from its request -----------------------------------------------


KINDS: dict[str, Callable[[Quote], bool]] = {
    "any": lambda _quote: True,
    "pending": lambda quote: quote.status == "PENDING",
    "real-time": lambda quote: quote.source_kind == "REALTIME",
    "pulled": lambda quote: quote.source_kind == "EXTERNAL",
    "challenged": lambda quote: quote.status == "PENDING_AUTHORIZATION",
    "authorized": lambda quote: quote.status == "PROCESSING" and quote.challenge_id is not None,
    "same-currency": lambda quote: quote.sending_currency == quote.receiving_currency,
    "cross-currency": lambda quote: quote.sending_currency != quote.receiving_currency,
}


_CHALLENGE = {"id": "ScaChallenge:1", "expiresAt": "2030-01-01T00:00:00Z", "factor": "SMS_OTP"}


SHOWN: tuple[tuple[str, str, str, Any], ...] = (
    ("QUO-021", "pending", "scaChallenge", _CHALLENGE),
    ("QUO-031", "any", "source.sourceType", ABSENT),
    ("QUO-031", "any", "source.sourceType", "INTERNAL"),
    ("QUO-032", "any", "source.accountId", ABSENT),
    ("QUO-033", "any", "destination.destinationType", ABSENT),
    ("QUO-034", "any", "destination.accountId", ABSENT),
    ("QUO-038", "real-time", "sendingCurrency.code", "EUR"),
    ("QUO-039", "any", "description", "INVOICE"),
    ("QUO-827", "real-time", "source.customerId", "Customer:1"),
    ("QUO-827", "real-time", "source.currency", "EUR"),
    ("QUO-031", "pulled", "source.sourceType", ABSENT),
    ("QUO-032", "pulled", "source.accountId", ABSENT),
    ("QUO-033", "real-time", "destination.destinationType", ABSENT),
    ("QUO-034", "real-time", "destination.accountId", ABSENT),
    ("QUO-048", "real-time", "exchangeRate", 0.995),
    ("QUO-049", "pulled", "exchangeRate", 1.005),
    ("QUO-051", "pulled", "feesIncluded", 0),
    ("QUO-052", "real-time", "feesIncluded", 0),
    ("QUO-057", "challenged", "totalSendingAmount", 1),
    ("QUO-058", "challenged", "totalReceivingAmount", 1),
    ("QUO-060", "challenged", "feesIncluded", 0),
    ("QUO-085", "challenged", "transactionId", "Transaction:1"),
    ("QUO-828", "authorized", "totalSendingAmount", 1),
    ("QUO-828", "authorized", "feesIncluded", 0),
    ("QUO-828", "authorized", "source.accountId", ABSENT),
    ("QUO-040", "real-time", "paymentInstructions", ABSENT),
    ("QUO-040", "real-time", "paymentInstructions", []),
    ("QUO-048", "same-currency", "exchangeRate", 0.995),
    ("QUO-049", "same-currency", "exchangeRate", 1.005),
    ("QUO-050", "same-currency", "feesIncluded", ABSENT),
    ("QUO-071", "same-currency", "status", "CREATED"),
    ("QUO-072", "cross-currency", "status", "CREATED"),
    ("QUO-073", "any", "status", "CREATED"),
    ("QUO-074", "real-time", "status", "PROCESSING"),
    ("QUO-076", "any", "transactionId", "Transaction:1"),
)
"""Quotes of a kind that show a member wrongly, or not at all."""

SWAPPED = (
    ("QUO-032", "source", "destination"),
    ("QUO-034", "destination", "source"),
    ("QUO-036", "sendingCurrency", "receivingCurrency"),
    ("QUO-037", "receivingCurrency", "sendingCurrency"),
)
"""Members that show what belongs into another."""

for requirement, kind, path, value in SHOWN:
    missing = value is ABSENT
    declare(
        requirement,
        f"{kind}-{path.replace('.', '-')}-{'missing' if missing else 'other'}",
        f"the {path} of {kind} quotes is {'not there' if missing else json.dumps(value)[:40]}",
        shown_where(KINDS[kind], put(path, value)),
    )

for requirement, target, source in SWAPPED:
    declare(
        requirement,
        f"{target}-swapped",
        f"the {source} is shown as the {target}",
        edited(quotes, "view", copied(source, target)),
    )


declare(
    "QUO-039",
    "escaped",
    "an ampersand in the description is shown as an entity",
    edited(quotes, "view", turned("description", html.escape)),
)


@mutant("QUO-035", "the rail is echoed")
def rail_echoed(patch: Patch) -> None:
    patch.replace(parties, "echo_destination", dict)


@mutant(
    "QUO-041",
    "a quote from an account shows how the account is funded",
    (quotes, "visible_payment_instructions"),
    instead,
)
def instructions_for_accounts(quote: Quote) -> list[Json]:
    return accounts.instructions_for(quote.sending_currency, "1234567890")
