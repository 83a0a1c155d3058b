"""The kinds of payments, by what pays for a quote and what starts it."""

from __future__ import annotations

from typing import Any, Literal

from conformance.platform.platform import Platform
from conformance.platform.resource import Body, Json, Resource, arranged_resource
from conformance.scenarios.quotes.payments import fund_usual_platform_account

Kind = Literal["business", "immediate", "pulled", "real-time", "authorized", "platform"]
"""How a payment differs from the usual one: an individual's, executed from an internal account.

``business``: its customer is one. ``immediate``: one request creates and executes it. ``pulled``:
an external account pays. ``real-time``: a payment to its instructions executes it.
``authorized``: its customer proves it. ``platform``: the platform's own account pays.
"""


def create_payer(platform: Platform, kind: Kind) -> Resource:
    """Create a customer who makes payments of a kind, or whom the platform pays."""
    if kind == "authorized":
        return platform.approved.sca_customer()
    return platform.approved.of_type(kind == "business")


def quote_body(
    platform: Platform,
    kind: Kind,
    customer: Resource,
    destination: Json,
    *,
    account: Resource | None = None,
    **members: Any,
) -> Body:
    """Return the body of a quote of a kind.

    Args:
        platform: the suite in the part of a platform.
        kind: the kind.
        customer: who pays.
        destination: the receiving account.
        account: the internal account that pays; by default one with a deposit. Where another source
            pays, it is not looked at.
        members: further members of the body.

    Raises:
        ResourceMissing: no payment of the kind goes to such a destination.
    """
    if kind == "pulled" and "balance" not in destination:
        platform.quotes.require_pulls_abroad()
    if kind == "real-time":
        return platform.quotes.realtime_body(customer, destination, **members)
    if kind == "immediate":
        members["immediatelyExecute"] = True
    if kind == "platform":
        source = account or fund_usual_platform_account(platform)
        return platform.quotes.body(source, destination, **members)
    source = (
        platform.external_accounts.pullable(customer)
        if kind == "pulled"
        else account or platform.internal_accounts.account(customer=customer)
    )
    return platform.quotes.body(source, destination, **members)


def create_quote(
    platform: Platform, kind: Kind, *, trigger: str | None = None, **members: Any
) -> Resource:
    """Create a quote of a kind to an external account of its payer, and return it.

    Args:
        platform: the suite in the part of a platform.
        kind: an immediate quote is executed with it; others wait for :func:`pay`.
        trigger: a trigger that decides what becomes of payouts to the account.
        members: further members of the body.
    """
    customer = create_payer(platform, kind)
    destination = platform.external_accounts.account(customer, trigger=trigger)
    body = quote_body(platform, kind, customer, destination, **members)
    return arranged_resource(platform.api.create_quote(body), customer)


def pay(platform: Platform, kind: Kind, quote: Resource) -> None:
    """Let a quote of :func:`create_quote` be paid for, in the way of its kind."""
    if kind == "immediate":
        return
    if kind == "real-time":
        platform.triggers.fire("quote.fund", quoteId=quote["id"], customerId=quote.owner["id"])
        return
    executed = platform.quotes.execute(quote)
    if kind == "authorized":
        platform.sca.authorize({**quote, **executed})


MEASUREMENTS = 2
"""How often the balance of the platform is measured: what others paid before may come back the
first time, and nothing is under way once they have waited."""


def create_quote_alone(
    platform: Platform, *, trigger: str | None = None
) -> tuple[Resource, Resource, int]:
    """Return a quote of the platform, its source, and the balance of that.

    Other tests pay in and out of the same account, so that they have to wait.
    """
    platform.triggers.turn.stay_alone()
    quote = create_quote(platform, "platform", trigger=trigger)
    source = Resource({"id": quote["source"]["accountId"], "customerId": ""})
    return quote, source, platform.internal_accounts.balances(source)[0]
