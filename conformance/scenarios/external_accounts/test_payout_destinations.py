"""Payouts to each kind of external account: bank, mobile money, crypto wallet and Lightning."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from conformance.platform.given.transactions import FAILED, included_fees
from conformance.platform.platform import Platform
from conformance.scenarios.external_accounts.kinds import corridor_to
from conformance.scenarios.kit.cases import case
from conformance.scenarios.kit.marks import Check, requirement
from conformance.scenarios.webhooks.reports import COMPLETED, FAILURE, REFUND_COMPLETED
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing, TriggerFailed

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

    A webhook reports it.
    """
    corridor = corridor_to(platform, kind)
    source = platform.internal_accounts.account(corridor.sending)
    body = platform.external_accounts.body(source.owner, corridor.account)
    answer = platform.api.create_external_account(body)
    if not answer.accepted:
        raise ResourceMissing(f"there can be no {corridor.account}: {answer}")

    quote = platform.quotes.pending(source, platform.external_accounts.activate(answer.body))
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
        assert platform.webhooks.wait_for(COMPLETED, name) is not None, f"no {COMPLETED} for {name}"


@requirement("TRX-050", "TRX-051", "EVT-012", "EVT-014")
@pytest.mark.parametrize("kind", ["mobile money", "crypto wallet"])
def test_what_an_account_of_each_kind_did_not_get_is_refunded(
    platform: Platform, check: Check, kind: str
) -> None:
    """A payout that a compliance review rejects is refunded, wherever it was to go.

    Webhooks report the failure and the refund.
    """
    corridor = corridor_to(platform, kind)
    if platform.triggers.magic("payout.screen") is not None:
        raise ResourceMissing("payout.screen is a magic value of other accounts")
    source = platform.internal_accounts.account(corridor.sending)
    before = platform.internal_accounts.balance(source)
    try:
        destination = platform.external_accounts.account(
            source.owner, corridor.account, trigger="payout.screen"
        )
    except (PreconditionFailed, TriggerFailed) as error:
        raise ResourceMissing(f"no payout to {corridor.account} is rejected: {error}") from error
    quote = platform.quotes.execute(platform.quotes.pending(source, destination))

    status = platform.transactions.at_status(quote, "COMPLETED", *FAILED).get("status")

    if status not in FAILED:
        raise ResourceMissing(f"a payout to {corridor.account} that is rejected is {status}")
    refunded = platform.transactions.refunded(quote)
    with check("TRX-050"):
        assert isinstance(refunded.get("refund"), Mapping), refunded
    with check("TRX-051"):
        fees = included_fees(quote)
        balance = platform.internal_accounts.wait_for_refund(source, before, fees)
        assert before - fees <= balance <= before
    for requirement_id, event in {"EVT-012": FAILURE, "EVT-014": REFUND_COMPLETED}.items():
        with check(requirement_id):
            if event == REFUND_COMPLETED and refunded.get("refund") is None:
                raise PreconditionFailed("there is no refund")
            name = quote["transactionId"]
            assert platform.webhooks.wait_for(event, name) is not None, f"no {event} for {name}"
