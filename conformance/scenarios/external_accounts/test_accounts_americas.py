"""US bank accounts: the rails that can pay them, and the intermediary bank of a wire.

What all account types have in common is in ``test_account_types.py``.
"""

from __future__ import annotations

import pytest

from conformance.exchange.answer import Answer
from conformance.platform.platform import Platform
from conformance.platform.resource import Json, Resource, arranged_resource
from conformance.profile.resources import Corridor
from conformance.scenarios.kit.cases import case
from conformance.scenarios.kit.faults import without
from conformance.scenarios.kit.marks import Check, requirement
from conformance.scenarios.kit.notation import require_details, require_value_at
from conformance.scenarios.kit.refusals import REFUSED
from conformance.testdata.examples import placed
from conformance.verdict.decisions import ResourceMissing

RAILS = ("ACH", "WIRE", "RTP", "FEDNOW")
US_ACCOUNT = "usd_account"
WITH_INTERMEDIARY = "usd_account.wire"


@requirement("AMR-014", "AMR-028", "AMR-029")
def test_an_active_account_shows_by_which_rails_it_can_be_paid(
    platform: Platform, check: Check
) -> None:
    """The service fills in paymentRails of a US account with known rails, none of them twice.

    They are shown where the account is listed as well.
    """
    owner = platform.external_accounts.account_holder()
    account = platform.external_accounts.account(owner, US_ACCOUNT)

    account_read = arranged_resource(platform.api.get_external_account(account["id"]))
    listed = platform.external_accounts.as_listed(owner, account)

    with check("AMR-028"):
        require_details(account_read)
        assert rails_of(account_read)
        assert listed is None or not listed.get("accountInfo") or rails_of(listed), listed
    with check("AMR-014"):
        assert set(require_value_at(account_read, "accountInfo.paymentRails")) <= set(RAILS)
    with check("AMR-029"):
        rails = require_value_at(account_read, "accountInfo.paymentRails")
        assert len(set(rails)) == len(rails)


@requirement("AMR-311")
def test_rails_are_read_as_well(platform: Platform) -> None:
    """What the answer to a creation showed is not withheld from who reads the account later."""
    owner = platform.external_accounts.account_holder()
    body = platform.external_accounts.body(owner, US_ACCOUNT)

    account = arranged_resource(platform.api.create_external_account(body))
    account_read = arranged_resource(platform.api.get_external_account(account["id"]))

    require_details(account_read)
    if not rails_of(account):
        raise ResourceMissing(f"{account['id']} showed no paymentRails when it was created")
    if account_read.get("status") != account.get("status"):
        raise ResourceMissing(f"{account['id']} is {account_read.get('status')} by now")
    assert rails_of(account_read), account_read


@requirement("AMR-020")
def test_rails_that_are_sent_are_not_taken_over(platform: Platform) -> None:
    """A request with paymentRails is refused, or the account does not show these rails."""
    customer = platform.external_accounts.account_holder()
    twin = platform.api.create_external_account(
        platform.external_accounts.body(customer, US_ACCOUNT)
    )
    sent_rails = other_rails(_once_active(platform, twin))
    body = platform.external_accounts.body(customer, US_ACCOUNT)

    answer = platform.api.create_external_account(
        placed(body, "accountInfo.paymentRails", sent_rails), valid=False
    )

    platform.observe(f"paymentRails in a request: {'ignored' if answer.accepted else 'refused'}")
    if not answer.accepted:
        answer.refused(*REFUSED, twin=twin)
        return
    assert rails_of(arranged_resource(answer)) != sent_rails
    assert rails_of(_once_active(platform, answer)) != sent_rails


@requirement("AMR-020")
def test_rails_that_are_sent_for_the_platform_are_not_taken_over(platform: Platform) -> None:
    """Neither does an account of the platform show them, in the answer to its creation."""
    usual_body, body = (
        without("customerId")(platform.external_accounts.body({"id": ""}, US_ACCOUNT))
        for _ in range(2)
    )
    twin = platform.api.create_external_account(usual_body)
    if not twin.accepted:
        raise ResourceMissing(f"no account is created without a customer: {twin}")
    sent_rails = other_rails(arranged_resource(twin))

    answer = platform.api.create_external_account(
        placed(body, "accountInfo.paymentRails", sent_rails), valid=False
    )

    if answer.accepted:
        assert rails_of(arranged_resource(answer)) != sent_rails
    else:
        answer.refused(*REFUSED, twin=twin)


@pytest.mark.parametrize(
    "rail",
    [
        case("AMR-304", "WIRE", "WIRE"),
        case("AMR-305", "ACH", "ACH"),
        case("AMR-306", "RTP", "RTP"),
        case("AMR-307", "FEDNOW", "FEDNOW"),
    ],
)
def test_an_account_with_an_intermediary_bank_is_paid_by_every_rail(
    platform: Platform, rail: str
) -> None:
    """A quote by WIRE, ACH, RTP or FEDNOW to an account with an intermediary bank is executed."""
    source, usual_account = platform.quotes.ends(us_corridor(platform))
    account = platform.external_accounts.account(source.owner, WITH_INTERMEDIARY)
    for rails in filter(None, (rails_of(usual_account), rails_of(account))):
        if rail not in rails:
            raise ResourceMissing(f"{rail} is not among the paymentRails {rails}")
    twin = platform.api.create_quote(
        body_with_rail(rail, platform.quotes.body(source, usual_account))
    )
    if not twin.accepted:
        raise ResourceMissing(f"{usual_account['id']} cannot be paid by {rail}: {twin}")
    platform.quotes.execute(arranged_resource(twin))

    answer = platform.api.create_quote(body_with_rail(rail, platform.quotes.body(source, account)))

    answer.expect_accepted()
    execution = platform.api.execute_quote(arranged_resource(answer)["id"])
    execution.expect_accepted()


def rails_of(account: Resource) -> list[str]:
    """Return the paymentRails that an account shows; empty without any."""
    return account["accountInfo"].get("paymentRails") or []


def other_rails(account: Resource) -> list[str]:
    """Return the rails of a request, other ones than those that an account shows."""
    return next([rail] for rail in RAILS if set(rails_of(account)) != {rail})


def _once_active(platform: Platform, answer: Answer) -> Resource:
    """Return a customer's account as it is read once it is ACTIVE."""
    account = platform.external_accounts.activate(arranged_resource(answer))
    return arranged_resource(platform.api.get_external_account(account["id"]))


def us_corridor(platform: Platform) -> Corridor:
    """Return the first corridor of the profile into US bank accounts.

    Raises:
        ResourceMissing: the profile has no such corridor.
    """
    corridors = platform.profile.resources.corridors
    match = next((corridor for corridor in corridors if corridor.account == US_ACCOUNT), None)
    if match is None:
        raise ResourceMissing(f"resources.corridors of the profile has none to {US_ACCOUNT}")
    return match


def body_with_rail(rail: str, body: Json) -> Json:
    """Return the body of a quote with ``rail`` as the paymentRail of its destination."""
    return placed(body, "destination.paymentRail", rail)
