"""Crypto wallets and Lightning as external accounts: no beneficiary, and more than one payment."""

from __future__ import annotations

import pytest

from conformance.platform.platform import Platform
from conformance.platform.resource import arranged_resource
from conformance.scenarios.external_accounts.kinds import WALLETS
from conformance.scenarios.kit.cases import case
from conformance.scenarios.kit.marks import SETTLING, requirement
from conformance.scenarios.protocol.unsaid import with_known_values
from conformance.verdict.decisions import ResourceMissing

OFFER = "lightning.bolt12"


@pytest.mark.parametrize(
    "name",
    [case(requirement_id, name, name) for name, requirement_id in WALLETS.items()],
)
def test_a_wallet_needs_no_beneficiary(platform: Platform, name: str) -> None:
    """A request with the example of a wallet, which has no beneficiary, is accepted."""
    body = platform.external_accounts.body(platform.external_accounts.account_holder(), name)

    answer = platform.api.create_external_account(body)

    assert with_known_values(platform, answer).accepted, answer


@requirement("WAL-192")
def test_an_offer_is_paid_more_than_once(platform: Platform) -> None:
    """Two payments to one LIGHTNING account with a bolt12 are executed, one after the other."""
    corridor = next(
        (one for one in platform.profile.resources.corridors if one.receiving == "BTC"), None
    )
    if corridor is None:
        raise ResourceMissing("resources.corridors of the profile has none to BTC")
    source = platform.internal_accounts.account(corridor.sending)
    registered = with_known_values(
        platform,
        platform.api.create_external_account(platform.external_accounts.body(source.owner, OFFER)),
    )
    destination = platform.external_accounts.activate(arranged_resource(registered, source.owner))
    body = platform.quotes.body(source, destination, side="SENDING")

    first, second = (platform.quotes.create_and_execute(body) for _ in range(2))

    if not first[-1].accepted:
        raise ResourceMissing(f"no payment goes to a bolt12: {first[-1]}")
    second[-1].expect_accepted()
    assert second[-1].body["status"] in SETTLING, second[-1]
