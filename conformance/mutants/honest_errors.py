"""Honest variants of error codes, of what lists invalid fields, and of counterparties."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from conformance.mutants.execution import refuse_as
from conformance.mutants.honest import shown
from conformance.mutants.mutant import Patch
from conformance.mutants.variant import declare, variant
from conformance.reference import errors, externals, receivers, rules
from conformance.reference.store import ExternalAccount, Quote
from conformance.reference.unit import Unit

Json = dict[str, Any]
Refuse = Callable[[ExternalAccount], None]

_REFERENCE = "conformance.reference"
_STATUSES = f"{_REFERENCE}.rules:ERROR_STATUS"
_LOOKED_UP = f"{_REFERENCE}.receivers:COUNTERPARTY_FAILURES"
_UNREACHABLE = f"{_REFERENCE}.receivers:refuse_unreachable"
_UNPAYABLE = f"{_REFERENCE}.receivers:refuse_unpayable"
_SENDER = f"{_REFERENCE}.receivers:sender_currency"
_NAMED_LOOKUP = f"{_REFERENCE}.receivers:refuse_unknown_lookup"
_UMA = f"{_REFERENCE}.uma"
_ERROR = f"{_REFERENCE}.errors:view"
_INVALID = f"{_REFERENCE}.errors:invalid_input"
_AT_LOOKUP = ("DOWN", "OUTDATED")
"""What is the matter with a counterparty that a lookup notices at the latest."""


# --- Counterparties -------------------------------------------------------------------------

declare(
    "M70",
    "lookup-request-fails",
    "a counterparty that refuses to be asked counts as one that cannot be",
    lambda patch: patch.row(_LOOKED_UP, "LOOKUP_REFUSED", "LNURLP_REQUEST_FAILED"),
    "codes",
)
declare(
    "N045",
    "down-without-a-key",
    "of a counterparty that does not answer its key is what could not be fetched",
    lambda patch: patch.row(_LOOKED_UP, "DOWN", "COUNTERPARTY_PUBKEY_FETCH_ERROR"),
    "other codes",
)


@variant("N290", "what is the matter with a counterparty is noticed by a quote", "apart")
def noticed_by_a_quote(patch: Patch) -> None:
    def early(original: Refuse) -> Refuse:
        def refuse(account: ExternalAccount) -> None:
            if account.counterparty in _AT_LOOKUP:
                original(account)

        return refuse

    def late(original: Refuse) -> Refuse:
        def refuse(account: ExternalAccount) -> None:
            original(account)
            code = receivers.COUNTERPARTY_FAILURES.get(account.counterparty)
            if code is not None:
                raise errors.Refusal(code, "The institution behind the account is not fine.")

        return refuse

    patch.wrap(_UNREACHABLE, early)
    patch.wrap(_UNPAYABLE, late)


@variant("N290", "what is the matter with a counterparty is noticed by a payment", "other apart")
def noticed_by_a_payment(patch: Patch) -> None:
    def failing(
        original: Callable[[Unit, Quote], rules.PayoutResult],
    ) -> Callable[[Unit, Quote], rules.PayoutResult]:
        def result(unit: Unit, quote: Quote) -> rules.PayoutResult:
            account = externals.find(unit, quote.destination.get("accountId", ""))
            if account is not None and account.counterparty in receivers.PAYMENT_FAILURES:
                return rules.PAYOUT_RESULTS["BLOCKED"]
            return original(unit, quote)

        return result

    patch.replace(_UNPAYABLE, lambda _: None)
    patch.wrap(f"{_REFERENCE}.settlement:result_of", failing)


# --- Codes ----------------------------------------------------------------------------------

RECODED: Mapping[str, tuple[str, str, str, str, str, str]] = {
    "address-is-a-field": (
        "M20",
        "what is no UMA address is a field that is not valid",
        f"{_UMA}:refuse_malformed",
        "INVALID_UMA_ADDRESS",
        "INVALID_INPUT",
        "codes",
    ),
    "address-is-a-format": (
        "M20",
        "what is no UMA address has the wrong format",
        f"{_UMA}:refuse_malformed",
        "INVALID_UMA_ADDRESS",
        "INVALID_REQUEST_FORMAT",
        "other codes",
    ),
    "sender-without-receiver": (
        "M40",
        "a sender whom nobody knows has an address without a receiver",
        _SENDER,
        "CUSTOMER_NOT_FOUND",
        "UMA_NOT_FOUND",
        "codes",
    ),
    "lookup-is-missing": (
        "M40",
        "a lookup that was never made is NOT_FOUND",
        _NAMED_LOOKUP,
        "LOOKUP_REQUEST_NOT_FOUND",
        "NOT_FOUND",
        "codes",
    ),
    "lookup-is-a-field": (
        "M41",
        "a lookup that was never made is a field that is not valid",
        _NAMED_LOOKUP,
        "LOOKUP_REQUEST_NOT_FOUND",
        "INVALID_INPUT",
        "other codes",
    ),
}
"""By name: what is open, what is chosen, where it is refused, the code, the other, the group."""

for _name, (_point, _statement, _place, _code, _other, _group) in RECODED.items():
    declare(_point, _name, _statement, refuse_as(_place, _code, _other), _group)


def _by_field(name: str, code: str, patch: Patch) -> None:
    """Refuse a wrong value of a field with a code of its own, and list no fields."""

    def wrapper(original: Callable[..., errors.Refusal]) -> Callable[..., errors.Refusal]:
        def refusal(*found: Json) -> errors.Refusal:
            if len(found) == 1 and found[0]["field"].endswith(name):
                return errors.Refusal(code, "It is not valid.")
            return original(*found)

        return refusal

    if code not in rules.ERROR_STATUS:
        patch.row(_STATUSES, code, 400)
    patch.wrap(_INVALID, wrapper)


declare(
    "M20",
    "moment-has-a-code",
    "a moment that is none is an invalid timestamp",
    partial(_by_field, "acceptedAt", "INVALID_TIMESTAMP"),
    "apart",
)
declare(
    "M20",
    "number-has-a-code",
    "a routing number that is none is an invalid bank account",
    partial(_by_field, "routingNumber", "INVALID_BANK_ACCOUNT"),
    "other apart",
)
declare(
    "N063",
    "more-in-an-error",
    "an error object has members that nobody knows",
    shown(_ERROR, lambda body: {**body, "requestId": "r-1", "docs": {"url": "https://e.example"}}),
    "forms",
)


@variant("M72", "a field that is wrong in two ways is listed twice", "other forms")
def listed_twice(patch: Patch) -> None:
    def wrapper(original: Callable[..., errors.Refusal]) -> Callable[..., errors.Refusal]:
        return lambda *found: original(*found, *found)

    patch.wrap(_INVALID, wrapper)


@variant("M13", "the id of a lookup is not looked at", "forms")
def lookups_not_kept(patch: Patch) -> None:
    patch.replace(_NAMED_LOOKUP, lambda *_: None)
