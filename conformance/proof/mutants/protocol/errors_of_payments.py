"""Mutants of the error codes of quotes and executions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance.proof.kit.builders import Handler, Json, instead, recoded
from conformance.proof.kit.tables import with_status
from conformance.proof.mutant import declare, mutant
from conformance.proof.mutants.quotes.toolkit import (
    counts_one_short,
    lapse_ignored,
    lock_ignored,
    net_of_received,
    nobody_counts,
    platform_pays_itself,
)
from conformance.proof.patch import Apply, Patch
from conformance.reference import errors, rules
from conformance.reference.customers import customers
from conformance.reference.quotes import limits, parties, quotes
from conformance.reference.store import Quote
from conformance.reference.unit import Ask, Unit

# --- Accounts and quotes that do not exist --------------------------------------------------


MISCODED: tuple[tuple[str, str, str, str], ...] = (
    ("ERR-001", "execute", "INSUFFICIENT_FUNDS", "INVALID_AMOUNT"),
    ("ERR-002", "create", "INSUFFICIENT_FUNDS", "INVALID_AMOUNT"),
    ("ERR-004", "create", "QUOTE_RATE_UNAVAILABLE", "INVALID_CURRENCY"),
    ("ERR-005", "execute", "QUOTE_RATE_UNAVAILABLE", "QUOTE_REQUEST_FAILED"),
    ("ERR-006", "create", "QUOTE_REQUEST_FAILED", "QUOTE_RATE_UNAVAILABLE"),
)
"""Requirement, function of the quotes, the code that is due and the one that comes."""

for _requirement, _function, _code, _other in MISCODED:
    declare(
        _requirement,
        f"{_function}-refuses-with-{_other}",
        f"{_function} refuses with {_other} instead of {_code}",
        recoded(quotes, _function, _other, _code),
    )


MISPLACED: tuple[tuple[str, str, int], ...] = (
    ("ERR-001", "INSUFFICIENT_FUNDS", 409),
    ("ERR-002", "INSUFFICIENT_FUNDS", 409),
    ("ERR-003", "SELF_PAYMENT", 409),
    ("ERR-004", "QUOTE_RATE_UNAVAILABLE", 404),
    ("ERR-006", "QUOTE_REQUEST_FAILED", 500),
    ("ERR-010", "DAILY_VOLUME_LIMIT_EXCEEDED", 400),
)
"""Requirement, code and the wrong HTTP status that it comes with."""

for _requirement, _code, _status in MISPLACED:
    declare(
        _requirement,
        f"{_code}-at-{_status}",
        f"{_code} comes with {_status}",
        with_status(_code, _status),
    )


@mutant("ERR-003", "an account may pay itself")
def self_payment_is_accepted(patch: Patch) -> None:
    patch.replace(parties, "is_self_payment", lambda source, destination: False)


declare(
    "ERR-003",
    "of-the-platform",
    "the platform may pay itself",
    platform_pays_itself,
)


# --- Funds ----------------------------------------------------------------------------------


@mutant("ERR-001", "what the platform lacks is called a wrong amount", (quotes, "has_funds"))
def platform_lacks_amount(original: Callable[..., bool], unit: Unit, quote: Quote) -> bool:
    has_funds = original(unit, quote)
    if quote.customer_id is None and not has_funds:
        raise errors.Refusal("INVALID_AMOUNT", "The amount is wrong.")
    return has_funds


for _requirement in (
    "ERR-001",
    "ERR-002",
):
    declare(_requirement, "nobody-counts", "the balance is not looked at", nobody_counts)
    declare(
        _requirement,
        "receiving-side",
        "the balance is not looked at where the receiving amount is locked",
        net_of_received,
        at="test_what_arrives",
    )
    declare(
        _requirement, "counts-one-short", "a balance one unit short is enough", counts_one_short
    )


# --- Expiry and rates -----------------------------------------------------------------------


@mutant("ERR-005", "a rate that no longer holds is used all the same")
def stale_rate(patch: Patch) -> None:
    patch.replace(quotes, "refuse_stale", lambda quote: None)


@mutant("ERR-004", "a corridor without a rate is quoted at the last one known")
def last_known_rate(patch: Patch) -> None:
    patch.replace(quotes, "has_rate", lambda customer, sending, receiving: True)


@mutant("ERR-006", "a quote is made up while the provider does not answer")
def quotes_without_a_provider(patch: Patch) -> None:
    patch.wrap(
        customers,
        "has_condition",
        lambda original, customer, name: name != "QUOTING_DOWN" and original(customer, name),
    )


def _quoted_all_the_same(requirement: str, is_meant: Callable[[Json], bool]) -> Apply:
    """Return the patch that prices some bodies though there is no rate, or nobody to ask for it."""

    def priced(patch: Patch) -> None:
        meant: list[bool] = []

        def create(original: Handler, unit: Unit, ask: Ask) -> Any:
            meant[:] = [isinstance(ask.body, dict) and is_meant(ask.body)]
            return original(unit, ask)

        patch.wrap(quotes, "create", create)
        if requirement == "ERR-004":
            patch.wrap(quotes, "has_rate", lambda has, *of: meant == [True] or has(*of))
        else:
            patch.wrap(
                customers,
                "has_condition",
                lambda has, customer, name: (
                    (meant != [True] or name != "QUOTING_DOWN") and has(customer, name)
                ),
            )

    return priced


for _requirement in ("ERR-004", "ERR-006"):
    for _name, _is_meant in {
        "immediate": lambda body: bool(body.get("immediatelyExecute")),
        "receiving": lambda body: body.get("lockedCurrencySide") == "RECEIVING",
        "realtime": lambda body: body["source"]["sourceType"] == "REALTIME_FUNDING",
    }.items():
        declare(
            _requirement,
            _name,
            f"a quote of this form is made up: {_name}",
            _quoted_all_the_same(_requirement, _is_meant),
        )


# --- Limits ---------------------------------------------------------------------------------


LIMITED: tuple[tuple[str, str, str, Callable[..., bool]], ...] = (
    ("ERR-010", "is_over_daily_limit", "never", lambda moved, amount, limit: False),
    (
        "ERR-010",
        "is_over_daily_limit",
        "late",
        lambda moved, amount, limit: moved > limit,
    ),
)
"""Requirement, function of the limits, when it says that one is passed, its replacement."""

for _requirement, _function, _when, _broken in LIMITED:
    declare(
        _requirement,
        f"{_function}-{_when}",
        f"{_function} says so {_when}",
        instead(limits, _function, _broken),
    )


# --- Errors ---------------------------------------------------------------------------------


@mutant("ERR-011", "field errors are listed for the body as a whole")
def errors_of_the_body(patch: Patch) -> None:
    patch.wrap(
        errors,
        "field_error",
        lambda original, path, message, **more: original("body", message, **more),
    )


@mutant("ERR-011", "the faults of an object are listed for the body as a whole")
def errors_of_objects(patch: Patch) -> None:
    patch.wrap(
        errors,
        "field_error",
        lambda original, path, message, **more: original(
            "body" if "." in str(path) else path, message, **more
        ),
    )


for _requirement, _name, _statement, _patch in (
    ("ERR-008", "lapse", "a lapsed session is not looked at", lapse_ignored),
    ("ERR-009", "lock", "a lock is not looked at", lock_ignored),
):
    declare(_requirement, _name, _statement, _patch)


@mutant("ERR-008", "a lapsed session is taken for missing credentials")
def lapse_unauthorized(patch: Patch) -> None:
    patch.row(rules, "ERROR_STATUS", "SCA_SESSION_REQUIRED", 401)


@mutant("ERR-009", "a lock is refused like any other conflict")
def lock_conflicts(patch: Patch) -> None:
    patch.row(rules, "ERROR_STATUS", "ACCOUNT_LOCKED", 409)
