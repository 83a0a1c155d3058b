"""Limits on quotes: at the limit, and one past it."""

from __future__ import annotations

import string

from conformance.exchange.answer import Answer
from conformance.platform.platform import Platform
from conformance.platform.resource import Json
from conformance.scenarios.kit.marks import Check, requirement
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing

LONGEST = 80


@requirement("LIM-001", "LIM-002", "LIM-003")
def test_remittance_information_is_at_most_80_characters(platform: Platform, check: Check) -> None:
    """80 letters and digits pass, 81 do not, and none are needed."""
    text = ((string.ascii_letters + string.digits) * 2)[: LONGEST + 1]
    body = platform.quotes.body(*platform.quotes.ends(platform.quotes.corridor_to("usd_account")))

    without = platform.api.create_quote(body)
    at_limit = platform.api.create_quote({**body, "remittanceInformation": text[:LONGEST]})
    past_limit = platform.api.create_quote({**body, "remittanceInformation": text}, valid=False)

    with check("LIM-001"):
        assert at_limit.accepted, at_limit
    with check("LIM-003"):
        assert without.accepted, without
    with check("LIM-002"):
        past_limit.refused(400, twin=at_limit)


def test_how_characters_beyond_ascii_are_counted_is_recorded(platform: Platform) -> None:
    """The specification leaves it open, so the answer decides nothing."""
    answer = platform.api.create_quote(platform.quotes.body(remittanceInformation="é" * LONGEST))

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
    source = platform.internal_accounts.account(limit.currency, amount=limit.amount + 1)
    # Whatever becomes of the first transfer, the second is covered.
    platform.internal_accounts.deposit(source, limit.amount)
    destination = platform.external_accounts.account(source.owner, account)
    return limit.amount, platform.quotes.body(source, destination, amount=limit.amount)


def arrange_volume(answer: Answer) -> None:
    """Raise ``PreconditionFailed`` where a day's volume does not hold a transfer at the limit."""
    if answer.code == "DAILY_VOLUME_LIMIT_EXCEEDED":
        raise PreconditionFailed("the daily volume is less than one transfer at the limit")


@requirement("LIM-004", "LIM-005")
def test_a_transfer_is_at_most_as_large_as_its_corridor_allows(
    platform: Platform, check: Check
) -> None:
    """The limit itself passes; one smallest unit more does not."""
    limit, body = largest(platform)

    past_limit = platform.quotes.create_and_execute({**body, "lockedCurrencyAmount": limit + 1})
    at_limit = platform.quotes.create_and_execute(body)

    with check("LIM-005"):
        arrange_volume(at_limit[-1])
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
    source = platform.ledger.accounts[body["source"]["accountId"]]
    at_once = {**body, "immediatelyExecute": True}
    before, _ = platform.internal_accounts.balances(source)

    past_limit = platform.api.create_quote({**at_once, "lockedCurrencyAmount": limit + 1})
    left, _ = platform.internal_accounts.balances(source)
    at_limit = platform.api.create_quote(at_once)

    arrange_volume(at_limit)
    with check("LIM-080"):
        past_limit.refused(400, "TRANSACTION_SIZE_LIMIT_EXCEEDED", twin=at_limit)
    with check("LIM-081"):
        assert left == before


@requirement("LIM-082", "LIM-083")
def test_an_immediate_execution_past_the_daily_volume_is_refused(
    platform: Platform, check: Check
) -> None:
    """The source keeps what it holds."""
    source = platform.internal_accounts.account()
    at_once = platform.quotes.body(source, immediatelyExecute=True)
    opening, _ = platform.internal_accounts.balances(source)
    twin = platform.api.create_quote(at_once)
    platform.triggers.fire(
        "volume.reached",
        customerId=source["customerId"],
        currency=source["balance"]["currency"]["code"],
    )
    # A debit that is shown late would look like another one.
    paid = twin.body["totalSendingAmount"] if twin.accepted else 0
    before = platform.internal_accounts.wait_for_balance(source, opening - paid)

    refusal = platform.api.create_quote(at_once)

    with check("LIM-082"):
        refusal.refused(429, "DAILY_VOLUME_LIMIT_EXCEEDED", twin=twin)
    with check("LIM-083"):
        assert platform.internal_accounts.balances(source)[0] == before
