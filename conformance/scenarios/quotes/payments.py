"""Where a fault of a beneficiary shows: when its account is created, or when it is to be paid."""

from __future__ import annotations

from conformance.exchange.answer import Answer
from conformance.platform.platform import Platform
from conformance.platform.resource import Json, Resource, arranged_resource
from conformance.profile.resources import Corridor
from conformance.scenarios.cards.holdings import platform_account
from conformance.scenarios.kit.refusals import REFUSED
from conformance.testdata.beneficiaries import BeneficiaryExample
from conformance.testdata.examples import Change
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing, TriggerFailed

_UNPAID = (*REFUSED, 409)
"""The statuses of a refusal to pay to an account that was created with a fault."""


def refused_or_unpaid(
    platform: Platform,
    refusal: Answer,
    twin: Answer,
    found: BeneficiaryExample,
    fault: tuple[str, Change],
) -> None:
    """Assert that a fault is refused with its account, or at the latest with a payment there.

    What currencies need of a beneficiary is said, and not at which of the two steps.

    Args:
        platform: the platform.
        refusal: the answer to the account with the fault.
        twin: the answer to the account without it.
        found: the beneficiary without the fault.
        fault: the currency of the account, and the change that is the fault.
    """
    __tracebackhide__ = True
    if not refusal.accepted:
        refusal.refused(*REFUSED, twin=twin)
        return
    currency, change = fault
    payer = (
        platform.approved.business() if found.sender == "BUSINESS" else platform.approved.customer()
    )
    source = platform.internal_accounts.account(customer=payer, amount=100_000)
    again, right = (
        platform.api.create_external_account(
            platform.external_accounts.body_with_beneficiary(payer, currency, told), valid=False
        )
        for told in (found.changed(change), found.twin)
    )
    if not again.accepted:
        # Now that its owner is approved it is.
        again.refused(*REFUSED, twin=right)
        return
    paid = _paid(platform, source, arranged_resource(right))
    if not paid[-1].accepted:
        raise ResourceMissing(f"a payment in {currency} cannot be made: {paid[-1]}")
    for answer, accepted in zip(
        _paid(platform, source, arranged_resource(again)), paid, strict=False
    ):
        if not answer.accepted:
            answer.refused(*_UNPAID, twin=accepted)
            return
    raise AssertionError(
        f"an account in {currency} was created with the fault and paid to: {again}"
    )


def _paid(platform: Platform, source: Resource, account: Resource) -> list[Answer]:
    """Quote a payment to an account and execute it; return the answer of each step."""
    return platform.quotes.create_and_execute(
        platform.quotes.body(source, platform.external_accounts.activate(account), amount=10_000)
    )


AMOUNT = 10_000


def funded(platform: Platform) -> Resource:
    """Return an internal account of the platform with money to spend.

    Other tests may pay in and out at the same moment, so that nothing is said of its balance.
    """
    account = platform_account(platform)
    before, _ = platform.internal_accounts.balances(account)
    try:
        platform.internal_accounts.settle_deposit(account, 2 * AMOUNT)
    except TriggerFailed as error:
        raise ResourceMissing(f"deposits are for customers alone: {error}") from error
    platform.until(
        lambda: platform.internal_accounts.balances(account)[0], lambda seen: seen > before
    )
    if platform.internal_accounts.balances(account)[0] < AMOUNT:
        raise PreconditionFailed(f"the deposit to {account['id']} did not arrive")
    return account


def corridor_from(platform: Platform, account: Resource) -> Corridor:
    """Return a corridor from the currency of an account."""
    return platform.quotes.corridors_from(account["balance"]["currency"]["code"])[0]


def outside_account(platform: Platform, corridor: Corridor) -> Resource:
    """Create an external account that belongs to no customer.

    Raises:
        ResourceMissing: a request without a customer is not the way to one.
    """
    body = platform.external_accounts.body({"id": ""}, corridor.account)
    answer = platform.api.create_external_account(
        {name: value for name, value in body.items() if name != "customerId"}
    )
    if not answer.accepted:
        raise ResourceMissing(f"no account is created without a customer: {answer}")
    return platform.external_accounts.activate(arranged_resource(answer))


def pulling(platform: Platform, customer: Resource) -> Json:
    """Return the body of a quote that pulls money into an account of the same customer."""
    source = {**platform.external_accounts.pullable(customer), "customerId": customer["id"]}
    return platform.quotes.body(
        source, platform.internal_accounts.account(amount=0, customer=customer)
    )
