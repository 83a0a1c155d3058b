"""Payments of the platform itself, whose accounts belong to no customer."""

from __future__ import annotations

from conformance.client.actor import Json, resource
from conformance.client.platform import Platform
from conformance.scenarios.holdings import platform_account
from conformance.scenarios.marks import SETTLING, Check, requirement
from conformance.target.profile import Corridor
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing, TriggerFailed

AMOUNT = 10_000


@requirement("QUO-600", "QUO-601", "TRX-600")
def test_the_platform_moves_money_for_itself(platform: Platform, check: Check) -> None:
    """By a quote from its own account, as for its customers."""
    source = funded(platform)
    corridor = corridor_from(platform, source)
    receiver = platform.destination(platform.customer(), corridor.account)

    created = platform.create_quote(platform.quote_body(source, receiver, amount=AMOUNT))

    with check("QUO-600"):
        assert created.accepted, created
    quote = resource(created)
    executed = platform.execute(quote)
    with check("QUO-601"):
        assert executed.accepted, executed
        assert executed.body["status"] in SETTLING, executed
    with check("TRX-600"):
        platform.arranged(executed)
        assert platform.transaction_in(quote, "COMPLETED")["status"] == "COMPLETED"


@requirement("EXT-600")
def test_an_account_of_the_platform_receives_funds(platform: Platform) -> None:
    """Where the platform can have external accounts of its own."""
    source = funded(platform)
    corridor = corridor_from(platform, source)
    receiver = outside_account(platform, corridor)

    quote = platform.quote(source, receiver, amount=AMOUNT)
    platform.executed(quote)

    assert platform.transaction_in(quote, "COMPLETED")["status"] == "COMPLETED"


def funded(platform: Platform) -> Json:
    """Return an internal account of the platform with money to spend.

    Other tests may pay in and out at the same moment, so that nothing is said of its balance.
    """
    account = platform_account(platform)
    before, _ = platform.balances(account)
    try:
        platform.arrive(account, 2 * AMOUNT)
    except TriggerFailed as error:
        raise ResourceMissing(f"deposits are for customers alone: {error}") from error
    platform.until(lambda: platform.balances(account)[0], lambda seen: seen > before)
    if platform.balances(account)[0] < AMOUNT:
        raise PreconditionFailed(f"the deposit to {account['id']} did not arrive")
    return account


def corridor_from(platform: Platform, account: Json) -> Corridor:
    """Return a corridor from the currency of an account."""
    return platform.corridors_from(account["balance"]["currency"]["code"])[0]


def outside_account(platform: Platform, corridor: Corridor) -> Json:
    """Create an external account that belongs to no customer.

    Raises:
        ResourceMissing: a request without a customer is not the way to one.
    """
    body = platform.destination_body({"id": ""}, corridor.account)
    answer = platform.create_external_account(
        {name: value for name, value in body.items() if name != "customerId"}
    )
    if not answer.accepted:
        raise ResourceMissing(f"no account is created without a customer: {answer}")
    return platform.active(resource(answer))
