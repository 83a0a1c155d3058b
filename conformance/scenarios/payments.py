"""Where a fault of a beneficiary shows: when its account is created, or when it is to be paid."""

from __future__ import annotations

from conformance.client.actor import Json, resource
from conformance.client.beneficiaries import BeneficiaryExample
from conformance.client.examples import Change
from conformance.client.http import Answer
from conformance.client.platform import Platform
from conformance.scenarios.refusals import REFUSED
from conformance.verdict.decisions import ResourceMissing

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
    payer = platform.business() if found.sender == "BUSINESS" else platform.customer()
    source = platform.account(customer=payer, amount=100_000)
    again, right = (
        platform.create_external_account(platform.body_with(payer, currency, told), valid=False)
        for told in (found.changed(change), found.twin)
    )
    if not again.accepted:
        # Now that its owner is approved it is.
        again.refused(*REFUSED, twin=right)
        return
    paid = _paid(platform, source, resource(right))
    if not paid[-1].accepted:
        raise ResourceMissing(f"a payment in {currency} cannot be made: {paid[-1]}")
    for answer, accepted in zip(_paid(platform, source, resource(again)), paid, strict=False):
        if not answer.accepted:
            answer.refused(*_UNPAID, twin=accepted)
            return
    raise AssertionError(
        f"an account in {currency} was created with the fault and paid to: {again}"
    )


def _paid(platform: Platform, source: Json, account: Json) -> list[Answer]:
    """Quote a payment to an account and execute it; return the answer of each step."""
    return platform.transfer(platform.quote_body(source, platform.active(account), amount=10_000))
