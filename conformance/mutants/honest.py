"""The honest variants: other choices than the reference makes where the specification is open.

What a group holds can be applied together: no two of its variants change the same thing, and none
leaves the others nothing to show.
"""

from __future__ import annotations

import itertools
import secrets
import time
import uuid
from collections.abc import Callable
from dataclasses import replace
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from functools import partial
from types import SimpleNamespace
from typing import Any

from conformance.mutants.mutant import Patch
from conformance.mutants.variant import declare, variant
from conformance.reference import (
    accounts,
    customers,
    errors,
    externals,
    money,
    parties,
    quotes,
    routes,
    rules,
    sca,
    settlement,
    transactions,
)
from conformance.reference.deliveries import Deliveries
from conformance.reference.store import Customer, ExternalAccount, InternalAccount, Quote
from conformance.reference.unit import Ask, Unit, clock

Json = dict[str, Any]
Function = Callable[..., Any]

_REFERENCE = "conformance.reference"
_CODES = f"{_REFERENCE}.rules:ERROR_STATUS"
_TRANSITIONS = f"{_REFERENCE}.rules:QUOTE_TRANSITIONS"

_QUOTE = f"{_REFERENCE}.quotes:view"
_CHALLENGE = f"{_REFERENCE}.sca:view"
_TRANSACTION = f"{_REFERENCE}.transactions:view"
_INTERNAL_ACCOUNT = f"{_REFERENCE}.accounts:_view"
_EXTERNAL_ACCOUNT = f"{_REFERENCE}.externals:view"
_CUSTOMER = f"{_REFERENCE}.customers:view"
_CURRENCY = f"{_REFERENCE}.money:currency_view"
_CONFIG = f"{_REFERENCE}.platform:view"
_FIELD_ERROR = f"{_REFERENCE}.errors:field_error"

_A_MOMENT = 0.1
_SLOWER = 0.2


def shown(place: str, change: Callable[[Json], Json]) -> Callable[[Patch], None]:
    """Return a patch after which a resource is shown as ``change`` returns it."""

    def wrapper(original: Function) -> Function:
        def view(*arguments: Any, **named: Any) -> Any:
            body = original(*arguments, **named)
            return body if body is None else change(dict(body))

        return view

    return lambda patch: patch.wrap(place, wrapper)


def without(name: str, body: Json) -> Json:
    """Return a resource without a member."""
    return {key: value for key, value in body.items() if key != name}


def with_null(name: str, body: Json) -> Json:
    """Return a resource with null in the place of a member."""
    return {**body, name: None}


def is_young(row: InternalAccount | ExternalAccount) -> bool:
    """Return whether something was created a moment ago."""
    return clock() - row.created_at < _A_MOMENT * 1_000_000


# --- Members that need not be there ---------------------------------------------------------

OPTIONAL: dict[str, tuple[str, tuple[str, ...]]] = {
    "quote": (_QUOTE, ("description", "rateDetails")),
    "challenge": (_CHALLENGE, ("availableFactors", "purpose")),
    "transaction": (
        _TRANSACTION,
        ("direction", "exchangeRate", "description", "source", "customerId", "reference"),
    ),
    "internal-account": (
        _INTERNAL_ACCOUNT,
        (
            "customerId",
            "totalBalance",
            "fundingPaymentInstructions",
            "label",
            "sweepRule",
            "createdAt",
            "updatedAt",
        ),
    ),
    "external-account": (_EXTERNAL_ACCOUNT, ("platformAccountId",)),
    "customer": (
        _CUSTOMER,
        ("customerType", "fullName", "address", "currencies", "endUserTermsConsent", "region"),
    ),
    "currency": (_CURRENCY, ("name", "symbol")),
    "field-error": (_FIELD_ERROR, ("message",)),
    "configuration": (_CONFIG, ("feeConfigs",)),
}

for _resource, (_place, _members) in OPTIONAL.items():
    for _member in _members:
        declare(
            "M75",
            f"{_resource}-without-{_member}",
            f"no {_resource} shows {_member}",
            shown(_place, partial(without, _member)),
            "absent",
        )
        declare(
            "M75",
            f"{_resource}-with-null-{_member}",
            f"{_member} of every {_resource} is null",
            shown(_place, partial(with_null, _member)),
            "null",
        )


@variant("M75", "members without a value are shown as null", "null")
def null_for_no_value(patch: Patch) -> None:
    for module in ("accounts", "customers", "externals", "quotes", "transactions"):
        patch.replace(f"{_REFERENCE}.{module}:present", lambda view: view)


@variant("M75", "platformFeesIncluded is left out where the platform takes no fee", "absent")
def no_platform_fee_no_member(patch: Patch) -> None:
    def change(body: Json) -> Json:
        return body if body["platformFeesIncluded"] else without("platformFeesIncluded", body)

    shown(_QUOTE, change)(patch)


@variant("M31", "the status of the other kind of customer is there as null", "null")
def other_status_null(patch: Patch) -> None:
    shown(_CUSTOMER, lambda body: {"kycStatus": None, "kybStatus": None, **body})(patch)


@variant("M85", "the constraint of a field error is null, and so are details without a use", "null")
def null_details(patch: Patch) -> None:
    shown(_FIELD_ERROR, lambda body: {"constraint": None, **body})(patch)
    shown(f"{_REFERENCE}.errors:view", lambda body: {"details": None, **body})(patch)


def _owner(patch: Patch, change: Callable[[Json], Json]) -> None:
    shown(_INTERNAL_ACCOUNT, lambda body: body if body["customerId"] else change(body))(patch)


@variant("M55", "the customerId of the platform's accounts is null", "forms")
def platform_account_of_null(patch: Patch) -> None:
    _owner(patch, partial(with_null, "customerId"))


@variant("N057", "the platform's accounts have no customerId", "other forms")
def platform_account_of_none(patch: Patch) -> None:
    _owner(patch, partial(without, "customerId"))


# --- Forms of values ------------------------------------------------------------------------


def extended(value: Any) -> Any:
    """Return a JSON value with a further member in each of its objects."""
    if isinstance(value, list):
        return [extended(item) for item in value]
    if isinstance(value, dict):
        return {**{k: extended(v) for k, v in value.items()}, "furtherMember": {"of": ["any"]}}
    return value


@variant("N001", "every object of every answer has a member that nobody knows", "forms")
def further_members(patch: Patch) -> None:
    def wrapper(respond: Function) -> Function:
        return lambda status, body, headers=None: respond(status, extended(body), headers)

    patch.wrap(f"{_REFERENCE}.app:respond", wrapper)


@variant("N040", "every object of every webhook has a member that nobody knows", "other forms")
def further_members_of_events(patch: Patch) -> None:
    def wrapper(put: Function) -> Function:
        return lambda self, event: put(self, extended(event))

    patch.wrap(f"{_REFERENCE}.deliveries:Deliveries.put", wrapper)


def _timestamps(patch: Patch, change: Callable[[str], str]) -> None:
    def wrapper(timestamp: Function) -> Function:
        return lambda microseconds: change(timestamp(microseconds))

    for module in ("accounts", "customers", "quotes", "sca", "transactions", "unit"):
        patch.wrap(f"{_REFERENCE}.{module}:timestamp", wrapper)


@variant("M77", "timestamps end in +00:00 and have no fraction", "forms")
def offset_without_fraction(patch: Patch) -> None:
    _timestamps(patch, lambda text: f"{text.partition('.')[0]}+00:00")


@variant("M77", "timestamps end in Z and have no fraction", "other forms")
def z_without_fraction(patch: Patch) -> None:
    _timestamps(patch, lambda text: f"{text.partition('.')[0]}Z")


@variant("M77", "timestamps end in +00:00 and count milliseconds", "presence")
def offset_with_milliseconds(patch: Patch) -> None:
    _timestamps(patch, lambda text: f"{text[:-4]}+00:00")


def _identifiers(patch: Patch, make: Callable[[], object]) -> None:
    patch.replace(f"{_REFERENCE}.unit:uuid", SimpleNamespace(uuid4=make))


@variant("M78", "identifiers are short and of letters and digits", "forms")
def short_identifiers(patch: Patch) -> None:
    _identifiers(patch, lambda: secrets.token_hex(8))


@variant("M78", "identifiers are numbers, and others are malformed", "other forms")
def numbers_as_identifiers(patch: Patch) -> None:
    numbers = itertools.count(time.time_ns())
    _identifiers(patch, lambda: next(numbers))

    def wrapper(answer: Function) -> Function:
        def checked(self: Any, handler: Function, ask: Ask) -> Any:
            odd = [k for k, v in ask.params.items() if not is_numbered(v)]
            if odd:
                raise errors.invalid_input(*(errors.field_error(k, "malformed") for k in odd))
            return answer(self, handler, ask)

        return checked

    patch.wrap(f"{_REFERENCE}.service:Service.answer", wrapper)


_FIRST = clock()


def is_numbered(identifier: str) -> bool:
    """Return whether an identifier ends in a number, or was given before numbers were."""
    rest = identifier.rpartition(":")[2]
    return rest.isdigit() or identifier in _EARLIER


_EARLIER: set[str] = set()

LISTS = "listTransactions, listCustomerInternalAccounts and those of external accounts"


@variant("N072", "lists are bare arrays, but for that of the platform's accounts", "forms")
def bare_lists(patch: Patch) -> None:
    patch.replace(f"{_REFERENCE}.pages:Page.view", lambda self, data: data)
