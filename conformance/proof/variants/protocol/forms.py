"""Conforming variants of the form of all answers: members, times, identifiers, lists, statuses."""

from __future__ import annotations

import itertools
import random
import re
import secrets
import time
from collections.abc import Callable
from datetime import date
from http import HTTPStatus
from types import SimpleNamespace
from typing import Any

from starlette.responses import Response

from conformance.proof.kit.builders import edited
from conformance.proof.kit.optional import declare_optional
from conformance.proof.kit.tables import answers
from conformance.proof.patch import Function, Patch
from conformance.proof.variant import declare, variant
from conformance.reference import app, errors, money, rules, unit
from conformance.reference.authentication import sca
from conformance.reference.customers import customers
from conformance.reference.external_accounts import externals
from conformance.reference.internal_accounts import accounts
from conformance.reference.pages import Page
from conformance.reference.quotes import quotes
from conformance.reference.service import Service
from conformance.reference.transactions import transactions
from conformance.reference.unit import Ask
from conformance.reference.verification import verifications
from conformance.reference.webhooks.deliveries import Deliveries

_ERRORS = 400

# --- Members that need not be there ---------------------------------------------------------


declare_optional("currency", (money, "currency_view"), "name", "symbol")


@variant("M75", "members without a value are shown as null", "null")
def null_for_no_value(patch: Patch) -> None:
    for module in (accounts, customers, externals, quotes, transactions):
        patch.replace(module, "present", lambda view: view)


# --- Forms of values ------------------------------------------------------------------------


def extended(value: Any) -> Any:
    """Return a JSON value with a further member in each of its objects."""
    if isinstance(value, list):
        return [extended(item) for item in value]
    if isinstance(value, dict):
        return {**{k: extended(v) for k, v in value.items()}, "furtherMember": {"of": ["any"]}}
    return value


def change_answers(patch: Patch, change: Callable[[Any], Any]) -> None:
    """Let ``change`` make the body of every answer."""
    patch.wrap(
        app,
        "respond",
        lambda respond, status, body, headers=None: respond(status, change(body), headers),
    )


@variant("N001", "every object of every answer has a member that nobody knows", "forms")
def further_members(patch: Patch) -> None:
    change_answers(patch, extended)


@variant("N040", "every object of every webhook has a member that nobody knows", "other forms")
def further_members_of_events(patch: Patch) -> None:
    patch.wrap(Deliveries, "put", lambda put, self, event: put(self, extended(event)))


def _timestamps(patch: Patch, change: Callable[[str], str]) -> None:
    for module in (accounts, customers, quotes, sca, transactions, unit):
        patch.wrap(
            module, "timestamp", lambda timestamp, microseconds: change(timestamp(microseconds))
        )


@variant("M77", "timestamps end in +00:00 and have no fraction", "forms")
def offset_without_fraction(patch: Patch) -> None:
    _timestamps(patch, lambda text: f"{text.partition('.')[0]}+00:00")


@variant("M77", "timestamps end in Z and have no fraction", "other forms")
def z_without_fraction(patch: Patch) -> None:
    _timestamps(patch, lambda text: f"{text.partition('.')[0]}Z")


@variant("M77", "timestamps end in +00:00 and count milliseconds", "slow")
def offset_with_milliseconds(patch: Patch) -> None:
    _timestamps(patch, lambda text: f"{text[:-4]}+00:00")


@variant("M77", "timestamps have the basic form and a decimal comma", "basic")
def basic_with_comma(patch: Patch) -> None:
    _timestamps(patch, lambda text: re.sub("[-:]", "", text).replace(".", ","))


@variant("M77", "timestamps have a date by its day of the year, and the zone +00", "ordinal")
def ordinal_dates(patch: Patch) -> None:
    def ordinal(text: str) -> str:
        day, _, time_of_day = text.removesuffix("Z").partition("T")
        return f"{date.fromisoformat(day):%Y-%j}T{time_of_day.replace('.', ',')}+00"

    _timestamps(patch, ordinal)


# --- JSON -----------------------------------------------------------------------------------


@variant("N420", "errors are problem+json, and other answers JSON of a vendor", "json")
def other_media_types(patch: Patch) -> None:
    def respond(original: Function, status: int, *rest: Any) -> Response:
        response: Response = original(status, *rest)
        kind = "problem+json" if status >= _ERRORS else "vnd.payments.v1+json; charset=utf-8"
        if response.body:
            response.headers["content-type"] = f"application/{kind}"
        return response

    patch.wrap(app, "respond", respond)


def reordered(value: Any) -> Any:
    """Return a JSON value whose objects have their members in another order each time."""
    if isinstance(value, list):
        return [reordered(item) for item in value]
    if isinstance(value, dict):
        names = random.sample(list(value), len(value))
        return {name: reordered(value[name]) for name in names}
    return value


@variant("N421", "no two answers or webhooks have their members in the same order", "json")
def any_order(patch: Patch) -> None:
    change_answers(patch, reordered)
    patch.wrap(Deliveries, "put", lambda put, self, event: put(self, reordered(event)))


def _identifiers(patch: Patch, make: Callable[[], object]) -> None:
    patch.replace(unit, "uuid", SimpleNamespace(uuid4=make))


@variant("M78", "identifiers are short and of letters and digits", "forms")
def short_identifiers(patch: Patch) -> None:
    _identifiers(patch, lambda: secrets.token_hex(8))


@variant("M78", "identifiers are numbers, and others are malformed", "other forms")
def numbers_as_identifiers(patch: Patch) -> None:
    numbers = itertools.count(time.time_ns())
    _identifiers(patch, lambda: next(numbers))

    def checked(answer: Function, self: Any, handler: Function, ask: Ask) -> Any:
        known = self.seed.account_id
        # The code of an invitation is no identifier.
        named = {k: v for k, v in ask.params.items() if k != "code"}
        odd = [k for k, v in named.items() if not is_number(v) and v != known]
        if odd:
            raise errors.invalid_input(*(errors.field_error(k, "malformed") for k in odd))
        return answer(self, handler, ask)

    patch.wrap(Service, "answer", checked)


def is_number(identifier: str) -> bool:
    """Return whether an identifier has a number behind its type."""
    return identifier.rpartition(":")[2].isdigit()


@variant("N072", "lists are bare arrays, but for that of the platform's accounts", "forms")
def bare_lists(patch: Patch) -> None:
    patch.replace(Page, "view", lambda self, data: data)
    # There are no pages without a word of the next one.
    patch.replace(rules, "PAGE_DEFAULT", 10**6)
    _concern_lists(patch)


@variant("N072", "lists stand under items, but for that of the platform's accounts", "other forms")
def lists_under_items(patch: Patch) -> None:
    edited(Page, "view", lambda body: {"items": body.pop("data"), **body})(patch)
    _concern_lists(patch)


def _concern_lists(patch: Patch) -> None:
    """Keep variants of some lists apart, which look for the rows under their name."""
    for holder in (accounts, externals):
        patch.concern(holder, "list_for_customers")
    patch.concern(verifications, "list_for_customer")


# --- Success statuses -----------------------------------------------------------------------


STATUSES: dict[str, tuple[int, ...]] = {
    "createCustomer": (200, 202),
    "updateCustomer": (202,),
    "createExternalAccount": (200, 202),
    "fundInternalAccount": (201, 202),
    "executeQuote": (201, 202),
    "authorizeQuote": (201, 202),
    "approveTransaction": (202, 204),
    "transferIn": (200, 202),
    "transferOut": (200, 202),
}
"""Other success statuses of operations whose own is not said."""

for _operation, _statuses in STATUSES.items():
    for _status, _group in zip(_statuses, ("forms", "other forms"), strict=False):
        declare(
            "N069",
            f"{_operation}-{_status}",
            f"{_operation} answers {_status}",
            answers(_operation, _status),
            _group,
        )


@variant(
    "N069",
    "an execution that is followed by a wait for a proof is answered with 202",
    "forms",
    (app, "respond"),
)
def accepted_for_a_proof(respond: Function, status: int, body: Any, headers: Any = None) -> Any:
    waits = isinstance(body, dict) and body.get("status") == "PENDING_AUTHORIZATION"
    # The creation of a quote is answered with 201 (372).
    return respond(202 if waits and status != HTTPStatus.CREATED else status, body, headers)
