"""US bank accounts: the rails by which they are paid, and the bank that a wire goes through.

What all account types have in common is in ``test_account_types.py``.
"""

from __future__ import annotations

import pytest

from conformance.platform.platform import Platform
from conformance.platform.resource import Json, Resource, arranged_resource
from conformance.profile.resources import Corridor
from conformance.scenarios.kit.marks import Check, requirement
from conformance.scenarios.kit.notation import at, require_details
from conformance.scenarios.kit.refusals import REFUSED
from conformance.testdata.examples import placed
from conformance.verdict.decisions import ResourceMissing

RAILS = ("ACH", "WIRE", "RTP", "FEDNOW")
US_ACCOUNT = "usd_account"
WIRED = "usd_account.wire"


@requirement("AMR-014", "AMR-028", "AMR-029")
def test_an_active_account_shows_by_which_rails_it_can_be_paid(
    platform: Platform, check: Check
) -> None:
    """It is the service that finds them out."""
    account = platform.external_accounts.account(
        platform.external_accounts.account_holder(), US_ACCOUNT
    )

    shown = arranged_resource(platform.api.get_external_account(account["id"]))

    with check("AMR-028"):
        require_details(shown)
        assert rails_of(shown)
    with check("AMR-014"):
        assert set(at(shown, "accountInfo.paymentRails")) <= set(RAILS)
    with check("AMR-029"):
        rails = at(shown, "accountInfo.paymentRails")
        assert len(set(rails)) == len(rails)


@requirement("AMR-020")
def test_rails_that_are_sent_are_not_taken_over(platform: Platform) -> None:
    """They are ignored, or refused."""
    payer = platform.external_accounts.account_holder()
    body = platform.external_accounts.body(payer, US_ACCOUNT)
    twin = platform.api.create_external_account(platform.external_accounts.body(payer, US_ACCOUNT))
    usual = arranged_resource(
        platform.api.get_external_account(
            platform.external_accounts.activate(arranged_resource(twin))["id"]
        )
    )
    sent = next([rail] for rail in RAILS if set(rails_of(usual)) != {rail})

    answer = platform.api.create_external_account(
        placed(body, "accountInfo.paymentRails", sent), valid=False
    )

    platform.observe(f"paymentRails in a request: {'ignored' if answer.accepted else 'refused'}")
    if not answer.accepted:
        answer.refused(*REFUSED, twin=twin)
        return
    shown = arranged_resource(
        platform.api.get_external_account(
            platform.external_accounts.activate(arranged_resource(answer))["id"]
        )
    )
    assert rails_of(arranged_resource(answer)) != sent
    assert rails_of(shown) != sent


@pytest.mark.parametrize(
    "rail",
    [
        pytest.param("WIRE", marks=requirement("AMR-304")),
        pytest.param("ACH", marks=requirement("AMR-305")),
        pytest.param("RTP", marks=requirement("AMR-306")),
        pytest.param("FEDNOW", marks=requirement("AMR-307")),
    ],
)
def test_an_account_with_an_intermediary_bank_is_paid_by_every_rail(
    platform: Platform, rail: str
) -> None:
    """A wire goes through that bank, and the other rails ignore it."""
    source, plain = platform.quotes.ends(into_the_us(platform))
    account = platform.external_accounts.account(source.owner, WIRED)
    for shown in filter(None, (rails_of(plain), rails_of(account))):
        if rail not in shown:
            raise ResourceMissing(f"{rail} is not among the paymentRails {shown}")
    usual = platform.api.create_quote(paid_by(rail, platform.quotes.body(source, plain)))
    if not usual.accepted:
        raise ResourceMissing(f"{plain['id']} cannot be paid by {rail}: {usual}")
    platform.quotes.execute(arranged_resource(usual))

    answer = platform.api.create_quote(paid_by(rail, platform.quotes.body(source, account)))

    assert answer.accepted, answer
    execution = platform.api.execute_quote(arranged_resource(answer)["id"])
    assert execution.accepted, execution


def rails_of(account: Resource) -> list[str]:
    """Return the rails that an account shows, if any."""
    return account["accountInfo"].get("paymentRails") or []


def into_the_us(platform: Platform) -> Corridor:
    """Return a corridor of the profile into US bank accounts."""
    corridors = platform.profile.resources.corridors
    found = next((corridor for corridor in corridors if corridor.account == US_ACCOUNT), None)
    if found is None:
        raise ResourceMissing(f"resources.corridors of the profile has none to {US_ACCOUNT}")
    return found


def paid_by(rail: str, body: Json) -> Json:
    """Return the body of a quote whose destination is paid by a rail."""
    return placed(body, "destination.paymentRail", rail)
