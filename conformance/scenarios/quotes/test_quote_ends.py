"""The two ends of a quote, and what is said of one transfer alone: rails and the platform's fee."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from pathlib import Path

import pytest

from conformance.platform.given.configuration import turn_to_change
from conformance.platform.platform import Platform
from conformance.platform.resource import Json, Resource, arranged_resource, unknown_id, value_at
from conformance.scenarios.kit.faults import having
from conformance.scenarios.kit.marks import SETTLING, Check, requirement
from conformance.scenarios.quotes.payments import pulling
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing

US_ACCOUNT = "usd_account"
WALLETS = (
    "solana_wallet",
    "base_wallet",
    "polygon_wallet",
    "tron_wallet",
    "plasma_wallet",
    "arbitrum_wallet",
    "spark_wallet",
)
"""Account types that nobody but the owner of a key can take money from."""


# --- The source -----------------------------------------------------------------------------


@requirement("QUO-805", "QUO-806")
def test_no_money_is_pulled_from_a_wallet(platform: Platform, check: Check) -> None:
    """Nobody but its owner moves what is in it."""
    source = platform.internal_accounts.account()
    owner = source.owner
    wallet = {**wallet_of(platform, owner), "customerId": owner["id"]}
    destination = platform.external_accounts.account(owner)
    # So much of the receiving currency is not too little of another one either.
    right = platform.quotes.body(source, destination, side="RECEIVING")
    body = having("source.accountId", wallet["id"])(right)

    answer = platform.api.create_quote(body)
    at_once = platform.api.create_quote({**body, "immediatelyExecute": True})

    with check("QUO-806"):
        if at_once.accepted:
            assert at_once.body["status"] not in SETTLING, at_once
        else:
            at_once.refused(twin=platform.api.create_quote(right))
    with check("QUO-805"):
        answer.refused(twin=platform.api.create_quote(right))


@requirement("QUO-807")
def test_nobody_who_does_not_exist_funds_a_quote(platform: Platform) -> None:
    """The id has the form of the target's own, and nobody has it."""
    body = platform.quotes.realtime_body()
    nobody = unknown_id(body["source"]["customerId"])

    refusal = platform.api.create_quote(having("source.customerId", nobody)(body))

    refusal.refused(400, 404, twin=platform.api.create_quote(body))
    platform.observe(f"just-in-time funding by nobody is refused with {refusal.status}")


@requirement("QUO-816")
def test_a_just_in_time_funded_quote_is_created(platform: Platform) -> None:
    """As any other one is."""
    answer = platform.api.create_quote(platform.quotes.realtime_body())

    assert answer.status == HTTPStatus.CREATED, answer


@requirement("QUO-817")
def test_a_quote_from_a_pullable_source_is_created(platform: Platform) -> None:
    """What is pulled need not be deposited before."""
    answer = platform.api.create_quote(pulling(platform, platform.approved.customer()))

    assert answer.status == HTTPStatus.CREATED, answer


# --- The platform's fee ---------------------------------------------------------------------


@requirement("QUO-808")
def test_a_platform_fee_is_no_text(platform: Platform) -> None:
    """It is an object, whatever its members are."""
    source, destination = platform.quotes.ends(platform.quotes.corridors_from("USD")[0])
    override = platform.profile.bindings.platform_fee_override
    body = platform.quotes.body(source, destination, platformFeeOverride=override)

    refusal = platform.api.create_quote({**body, "platformFeeOverride": "plenty"}, valid=False)

    refusal.refused(400, 422, twin=platform.api.create_quote(body))


@requirement("QUO-809")
def test_a_platform_fee_of_one_quote_is_not_that_of_the_next(
    platform: Platform, pytestconfig: pytest.Config
) -> None:
    """What the platform takes of all transfers may stand in both."""
    source, destination = platform.quotes.ends(platform.quotes.corridors_from("USD")[0])
    override = platform.profile.bindings.platform_fee_override
    folder: Path = pytestconfig.rootpath / pytestconfig.getoption("report_dir")

    # Other tests set a standing fee in their turns.
    with turn_to_change(folder):
        before = platform.quotes.pending(source, destination)
        charged = platform.quotes.pending(source, destination, platformFeeOverride=override)
        after = platform.quotes.pending(source, destination)

    if own_fee(charged) == own_fee(before):
        raise ResourceMissing("bindings.platform_fee_override leads to no fee on this corridor")
    assert own_fee(after) == own_fee(before)


# --- The rail -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "rail",
    [
        pytest.param("ACH", marks=requirement("QUO-810")),
        pytest.param("WIRE", marks=requirement("QUO-811")),
        pytest.param("RTP", marks=requirement("QUO-812")),
        pytest.param("FEDNOW", marks=requirement("QUO-813")),
    ],
)
def test_a_rail_that_an_account_lists_is_taken(platform: Platform, rail: str) -> None:
    """Whatever the default one is."""
    answer = platform.api.create_quote(paid_by(platform, rail))

    assert answer.accepted, answer


@requirement("QUO-814")
def test_no_rail_is_echoed_by_an_execution(platform: Platform) -> None:
    """It is not by the creation either."""
    quote = arranged_resource(platform.api.create_quote(paid_by(platform)))

    executed = platform.quotes.execute(quote)

    if not isinstance(executed.get("destination"), Mapping):
        raise PreconditionFailed(f"the quote shows no destination: {executed}")
    assert executed["destination"].get("paymentRail") is None


# --- What is left open ----------------------------------------------------------------------


def test_what_becomes_of_a_body_of_an_execution_is_recorded(platform: Platform) -> None:
    """None is described."""
    path = {"quoteId": platform.quotes.pending()["id"]}

    answer = platform.api.client.call("executeQuote", path=path, body={}, valid=False)

    platform.observe(f"an execution with a body is answered with {answer.status}")


def test_what_an_unlisted_rail_brings_is_recorded(platform: Platform) -> None:
    """The default one may be taken in its place."""
    answer = platform.api.create_quote(
        having("destination.paymentRail", "PIGEON")(paid_by(platform))
    )

    platform.observe(f"a paymentRail that no account lists is answered with {answer.status}")


def wallet_of(platform: Platform, owner: Resource) -> Resource:
    """Return a crypto wallet outside the service of a customer.

    Raises:
        ResourceMissing: none is at the end of a corridor, or money is pulled from such.
    """
    corridors = platform.profile.resources.corridors
    offered = [c.account for c in corridors if c.account in WALLETS]
    pulled = platform.profile.features.pullable_sources
    if pulled and platform.profile.resources.pullable_account in WALLETS:
        raise ResourceMissing("resources.pullable_account of the profile is a wallet")
    if not offered:
        raise ResourceMissing("resources.corridors of the profile has none to a wallet")
    return platform.external_accounts.account(owner, offered[0])


def paid_by(platform: Platform, rail: str | None = None) -> Json:
    """Return the body of a quote to a US account by a rail, by default the first it lists.

    Raises:
        ResourceMissing: there is no corridor to such an account, or it does not list the rail.
    """
    source, destination = platform.quotes.ends(platform.quotes.corridor_to(US_ACCOUNT))
    listed = value_at(destination, "accountInfo.paymentRails") or []
    if not listed or rail not in (None, *listed):
        raise ResourceMissing(f"{rail or 'no rail'} is not among the paymentRails {listed}")
    body = platform.quotes.body(source, destination)
    return having("destination.paymentRail", rail or listed[0])(body)


def own_fee(quote: Json) -> object:
    """Return the platform's fee in the sending amount."""
    return quote.get("platformFeesIncluded") or 0
