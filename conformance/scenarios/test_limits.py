"""Limits on quotes: at the limit, and one past it."""

from __future__ import annotations

import string

from conformance.client.actor import Json
from conformance.client.http import Answer
from conformance.client.platform import Platform
from conformance.scenarios.marks import Check, requirement
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing

LONGEST = 80


@requirement("LIM-001", "LIM-002", "LIM-003")
def test_remittance_information_is_at_most_80_characters(platform: Platform, check: Check) -> None:
    """80 letters and digits pass, 81 do not, and none are needed."""
    text = ((string.ascii_letters + string.digits) * 2)[: LONGEST + 1]
    body = platform.quote_body(*platform.ends(platform.corridor_to("usd_account")))

    without = platform.create_quote(body)
    at_limit = platform.create_quote({**body, "remittanceInformation": text[:LONGEST]})
    past_limit = platform.create_quote({**body, "remittanceInformation": text}, valid=False)

    with check("LIM-001"):
        assert at_limit.accepted, at_limit
    with check("LIM-003"):
        assert without.accepted, without
    with check("LIM-002"):
        past_limit.refused(400, twin=at_limit)


def test_how_characters_beyond_ascii_are_counted_is_recorded(platform: Platform) -> None:
    """The specification leaves it open, so the answer decides nothing."""
    answer = platform.create_quote(platform.quote_body(remittanceInformation="é" * LONGEST))

    platform.observe(
        f"a remittanceInformation of {LONGEST} characters beyond ASCII is answered with "
        f"{answer.status}"
    )


def largest(platform: Platform) -> tuple[int, Json]:
    """Return the largest single transaction, and a quote of it that its source covers by far.

    Raises:
        ResourceMissing: the profile does not say it, or has no corridor within its currency.
    """
    limit = platform.profile.resources.single_transaction_limit
    if limit is None:
        raise ResourceMissing("the profile gives no resources.single_transaction_limit")
    account = next(
        (
            corridor.account
            for corridor in platform.profile.resources.corridors
            if corridor.sending == corridor.receiving == limit.currency
        ),
        None,
    )
    if account is None:
        raise ResourceMissing(f"resources.corridors has none within {limit.currency}")
    source = platform.account(limit.currency, amount=limit.amount + 1)
    # Whatever becomes of the first transfer, the second is covered.
    platform.deposit(source, limit.amount)
    destination = platform.destination({"id": source["customerId"]}, account)
    return limit.amount, platform.quote_body(source, destination, amount=limit.amount)


def demand_volume(answer: Answer) -> None:
    """Raise ``PreconditionFailed`` where a day's volume does not hold a transfer at the limit."""
    if answer.code == "DAILY_VOLUME_LIMIT_EXCEEDED":
        raise PreconditionFailed("the daily volume is less than one transfer at the limit")


@requirement("LIM-004", "LIM-005")
def test_a_transfer_is_at_most_as_large_as_its_corridor_allows(
    platform: Platform, check: Check
) -> None:
    """The limit itself passes; one smallest unit more does not."""
    limit, body = largest(platform)

    past_limit = platform.transfer({**body, "lockedCurrencyAmount": limit + 1})
    at_limit = platform.transfer(body)

    with check("LIM-005"):
        demand_volume(at_limit[-1])
        assert at_limit[-1].accepted, at_limit[-1]
    with check("LIM-004"):
        past_limit[-1].refused(
            400, "TRANSACTION_SIZE_LIMIT_EXCEEDED", twin=at_limit[: len(past_limit)][-1]
        )


@requirement("LIM-080", "LIM-081")
def test_an_immediate_execution_is_at_most_as_large_as_its_corridor_allows(
    platform: Platform, check: Check
) -> None:
    """One smallest unit more is not taken from the source."""
    limit, body = largest(platform)
    source = platform.movement.accounts[body["source"]["accountId"]]
    at_once = {**body, "immediatelyExecute": True}
    before, _ = platform.balances(source)

    past_limit = platform.create_quote({**at_once, "lockedCurrencyAmount": limit + 1})
    left, _ = platform.balances(source)
    at_limit = platform.create_quote(at_once)

    demand_volume(at_limit)
    with check("LIM-080"):
        past_limit.refused(400, "TRANSACTION_SIZE_LIMIT_EXCEEDED", twin=at_limit)
    with check("LIM-081"):
        assert left == before


@requirement("LIM-082", "LIM-083")
def test_an_immediate_execution_past_the_daily_volume_is_refused(
    platform: Platform, check: Check
) -> None:
    """The source keeps what it holds."""
    source = platform.account()
    at_once = platform.quote_body(source, immediatelyExecute=True)
    opening, _ = platform.balances(source)
    twin = platform.create_quote(at_once)
    platform.cause(
        "volume.reached",
        customerId=source["customerId"],
        currency=source["balance"]["currency"]["code"],
    )
    # A debit that is shown late would look like another one.
    paid = twin.body["totalSendingAmount"] if twin.accepted else 0
    before = platform.balance_at(source, opening - paid)

    refusal = platform.create_quote(at_once)

    with check("LIM-082"):
        refusal.refused(429, "DAILY_VOLUME_LIMIT_EXCEEDED", twin=twin)
    with check("LIM-083"):
        assert platform.balances(source)[0] == before
