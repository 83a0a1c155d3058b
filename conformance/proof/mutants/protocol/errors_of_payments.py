"""Mutants of the error codes of quotes and executions."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from conformance.proof.kit.builders import Handler, Json, around, instead, recoded
from conformance.proof.kit.tables import with_status
from conformance.proof.mutant import declare, mutant
from conformance.proof.mutants.quotes.toolkit import (
    at_once,
    counts_one_short,
    lapse_ignored,
    lock_ignored,
    net_of_received,
    nobody_counts,
    platform_pays_itself,
    unfunded_where,
)
from conformance.proof.patch import Apply, Function, Patch
from conformance.reference import errors, rules
from conformance.reference.customers import customers
from conformance.reference.quotes import limits, parties, quotes
from conformance.reference.store import Customer, Quote
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


def _pays_to(kind: str, quote: Quote) -> bool:
    return quote.destination_kind == kind


@mutant("ERR-001", "what the platform lacks is called a wrong amount", (quotes, "has_funds"))
def platform_lacks_amount(original: Callable[..., bool], unit: Unit, quote: Quote) -> bool:
    has_funds = original(unit, quote)
    if quote.customer_id is None and not has_funds:
        raise errors.Refusal("INVALID_AMOUNT", "The amount is wrong.")
    return has_funds


for _kind in ("INTERNAL", "UMA"):
    declare(
        "ERR-001",
        f"to-{_kind.lower()}",
        f"what is paid to a destination of the kind {_kind} may be more than there is",
        unfunded_where(partial(_pays_to, _kind)),
    )

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


def _quoted_where(condition: Callable[[Json], bool]) -> Apply:
    """Return a patch by which some quotes are made without a rate and without a provider."""

    def apply(patch: Patch) -> None:
        made_up: list[bool] = []

        def create(original: Handler, unit: Unit, ask: Ask) -> Any:
            made_up[:] = [True] if condition(ask.body) else []
            try:
                return original(unit, ask)
            finally:
                made_up.clear()

        def rate_for(
            original: Function, customer: Customer | None, sending: str, receiving: str
        ) -> Any:
            return original(None if made_up else customer, sending, receiving)

        patch.wrap(quotes, "create", create)
        patch.wrap(quotes, "rate_for", rate_for)

    return apply


for _requirement in ("ERR-004", "ERR-006"):
    declare(
        _requirement,
        "immediate",
        "what is executed at once is quoted without a rate",
        _quoted_where(at_once),
    )
    declare(
        _requirement,
        "received",
        "what locks the receiving amount is quoted without a rate",
        _quoted_where(lambda body: body["lockedCurrencySide"] == "RECEIVING"),
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


for _name, _written in (
    ("pointer", lambda path: f"/{path.replace('.', '/')}"),
    ("brackets", lambda path: "[".join(path.split(".")) + "]" * path.count(".")),
):
    declare(
        "ERR-200",
        _name,
        "fields are named by another notation than dotted paths",
        around(
            errors,
            "field_error",
            lambda original, path, message, written=_written, **more: original(
                written(path), message, **more
            ),
        ),
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
