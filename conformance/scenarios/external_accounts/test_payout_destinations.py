"""Payouts to each kind of external account: bank, mobile money, crypto wallet and Lightning."""

from __future__ import annotations

import pytest

from conformance.platform.platform import Platform
from conformance.platform.resource import arranged_resource
from conformance.scenarios.external_accounts.kinds import corridor_to
from conformance.scenarios.kit.cases import case
from conformance.scenarios.kit.marks import Check
from conformance.scenarios.kit.refusals import TOO_LARGE, WRONG_AMOUNT
from conformance.scenarios.webhooks.reports import COMPLETED, expect_event
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing

KINDS = {
    "bank account": "EXT-601",
    "mobile money": "EXT-602",
    "crypto wallet": "EXT-603",
    "Lightning": "EXT-604",
}
"""The kinds of external accounts, each with the requirement that it can be paid."""


@pytest.mark.parametrize(
    "kind",
    [case((requirement_id, "EVT-011"), kind, kind) for kind, requirement_id in KINDS.items()],
)
def test_an_account_of_each_kind_is_paid(platform: Platform, check: Check, kind: str) -> None:
    """A payout completes on the profile's first corridor to an account of the kind.

    A webhook reports it. A corridor that the profile names is one on which quotes are created.
    """
    corridor = corridor_to(platform, kind)
    source = platform.internal_accounts.account(corridor.sending)
    body = platform.external_accounts.body(source.owner, corridor.account)
    answer = platform.api.create_external_account(body)
    if not answer.accepted:
        raise ResourceMissing(f"there can be no {corridor.account}: {answer}")

    destination = platform.external_accounts.activate(answer.body)
    creation = platform.api.create_quote(platform.quotes.body(source, destination))
    if not creation.accepted:
        is_named = corridor in platform.profile.resources.corridors
        is_for_the_amount = creation.code in {*WRONG_AMOUNT, *TOO_LARGE}
        raise PreconditionFailed(
            f"no payout to {corridor.account} is quoted: {creation}",
            breaks=[KINDS[kind]] if is_named and not is_for_the_amount else [],
        )
    quote = arranged_resource(creation)
    platform.quotes.execute(quote)

    status = platform.transactions.at_status(quote, "COMPLETED", "FAILED")["status"]
    if status == "PROCESSING":
        raise ResourceMissing(f"the rail to {corridor.account} takes longer than timing.state")
    with check(KINDS[kind]):
        assert status == "COMPLETED"
    with check("EVT-011"):
        if status != "COMPLETED":
            raise PreconditionFailed(f"the payout is {status}")
        name = quote["transactionId"]
        expect_event(platform, COMPLETED, name)
