"""What the grounds of several areas begin with, and read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from conformance.platform.grounds.ground import Ground
from conformance.platform.platform import Platform
from conformance.platform.resource import Json, Resource
from conformance.verdict.decisions import PreconditionFailed

DEPOSIT = 100_000
TRANSFER = 1_000
"""Amounts in the smallest unit of their currency."""


def approved_customer(platform: Platform) -> Resource:
    """Return a new customer of any type who may move money."""
    return platform.approved.customer()


def source_account(platform: Platform) -> Resource:
    """Return a new internal account, with money in it where deposits can be caused."""
    funded = "deposit.arrive" in platform.profile.triggers
    return platform.internal_accounts.account(amount=DEPOSIT if funded else 0)


def path_of_customer(platform: Platform) -> Ground:
    """Return the ground of an operation whose path names a customer."""
    return Ground(path={"customerId": approved_customer(platform)["id"]})


def query_of_customer(platform: Platform) -> Ground:
    """Return the ground of an operation whose query names a customer."""
    return Ground(query={"customerId": approved_customer(platform)["id"]})


def await_listing(platform: Platform, quote: Json) -> None:
    """Wait until the transaction of a quote is listed, so that it does not look like a new one."""
    with suppress(PreconditionFailed):
        platform.transactions.of_quote(quote)


def money_of(platform: Platform, account: Json) -> Callable[[], Any]:
    """Return a function that reads an account's balances and the transactions of its owner."""
    return lambda: (
        platform.internal_accounts.balances(account),
        transactions_of(platform, account["customerId"]),
    )


def transactions_of(platform: Platform, owner: str) -> Any:
    """Return the id and status of each transaction that is listed for a customer, sorted.

    The deposit of :func:`source_account` may be a transaction, and be listed late.
    """
    return sorted(
        (str(row.get("id")), str(row.get("status")))
        for row in platform.transactions.known_of_customer(owner)
        if not _is_deposit(row)
    )


def _is_deposit(row: Json) -> bool:
    moved = (row.get("receivedAmount"), row.get("sentAmount"))
    amounts = [money.get("amount") for money in moved if isinstance(money, Mapping)]
    return row.get("quoteId") is None and DEPOSIT in amounts


def members_of(platform: Platform, customer: Json, *members: str) -> Callable[[], Any]:
    """Return a function that reads some members of a customer."""

    def read() -> Any:
        seen = platform.customers.read(customer)
        return {name: seen.get(name) for name in members}

    return read


def external_account_of(platform: Platform, account: Json) -> Callable[[], Any]:
    """Return a function that reads whether an external account is served, and its status."""

    def read() -> Any:
        answer = platform.api.get_external_account(account["id"])
        # What follows from the data of an account, such as its rails, may be found out late.
        status = answer.body.get("status") if isinstance(answer.body, Mapping) else None
        return answer.accepted, status if answer.accepted else None

    return read
