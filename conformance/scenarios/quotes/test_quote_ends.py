"""The source and the destination of a quote, its rail, and the platform's fee for one transfer."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from pathlib import Path

import pytest

from conformance.platform.given.configuration import FEES
from conformance.platform.given.transactions import FAILED
from conformance.platform.platform import Platform
from conformance.platform.resource import Json, arranged_body, arranged_resource, unknown_id
from conformance.profile.resources import Corridor
from conformance.scenarios.configuration.settings import read_setting
from conformance.scenarios.configuration.standing_fees import (
    UNUSUAL_BASIS_POINTS,
    arrange_no_fee,
    dollar_corridor,
    dollar_quote,
    quote_bearing,
    set_fee,
    shows_fee,
    with_and_without_fee,
)
from conformance.scenarios.kit.cases import case
from conformance.scenarios.kit.faults import having
from conformance.scenarios.kit.fees import FORMS, arrange_quote
from conformance.scenarios.kit.marks import SETTLING, Check, requirement
from conformance.scenarios.kit.refusals import NOT_FOUND, REFUSED
from conformance.scenarios.quotes.payments import (
    US_ACCOUNT,
    body_with_rail,
    having_rail,
    pulling_body,
)
from conformance.scenarios.quotes.terms import expect_short_life
from conformance.scenarios.webhooks.reports import COMPLETED, expect_event
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing

WALLETS = (
    "solana_wallet",
    "base_wallet",
    "polygon_wallet",
    "tron_wallet",
    "plasma_wallet",
    "arbitrum_wallet",
    "spark_wallet",
)
"""The crypto wallets: only the owner of the key can take money from them."""


# --- The source -----------------------------------------------------------------------------


@requirement("QUO-805", "QUO-806")
def test_no_money_is_pulled_from_a_wallet(platform: Platform, check: Check) -> None:
    """A quote with a crypto wallet as its source is refused, and never executed."""
    name, corridor = wallet_and_corridor(platform)
    source, destination = platform.quotes.ends(corridor, amount=10_000_000)
    owner = source.owner
    wallet = {**platform.external_accounts.account(owner, name), "customerId": owner["id"]}
    # The receiving amount is locked: in another sending currency it is not too small either.
    valid_body = platform.quotes.body(source, destination, side="RECEIVING")
    body = having("source.accountId", wallet["id"])(valid_body)

    answer = platform.api.create_quote(body)
    immediate = platform.api.create_quote({**body, "immediatelyExecute": True})

    with check("QUO-806"):
        if immediate.accepted:
            assert immediate.body["status"] not in SETTLING, immediate
        else:
            immediate.refused(twin=platform.api.create_quote(valid_body))
    with check("QUO-805"):
        answer.refused(twin=platform.api.create_quote(valid_body))


@requirement("QUO-850")
@pytest.mark.parametrize("at_once", [False, True], ids=["executed", "immediate"])
def test_no_money_is_pulled_from_a_deleted_account(platform: Platform, *, at_once: bool) -> None:
    """A quote from an account that was deleted is refused, or does not complete."""
    customer = platform.approved.customer()
    # What is pulled may be for internal accounts alone.
    destination = platform.internal_accounts.account(amount=0, customer=customer)
    deleted, kept = (platform.external_accounts.pullable(customer) for _ in range(2))
    bodies = [platform.quotes.body(source, destination) for source in (deleted, kept)]
    arranged_body(platform.api.delete_external_account(deleted["id"]))

    if at_once:
        steps, twins = (
            [platform.api.create_quote({**body, "immediatelyExecute": True})] for body in bodies
        )
    else:
        steps, twins = (platform.quotes.create_and_execute(body) for body in bodies)

    if not twins[-1].accepted:
        raise PreconditionFailed(f"nothing is pulled from another account either: {twins[-1]}")
    if steps[-1].accepted:
        transaction = platform.transactions.at_status(steps[-1].body, "COMPLETED", *FAILED)
        assert transaction.get("status") != "COMPLETED", steps[-1]
    else:
        steps[-1].refused(twin=twins[len(steps) - 1])


@requirement("QUO-156", "QUO-807")
def test_nobody_who_does_not_exist_funds_a_quote(platform: Platform, check: Check) -> None:
    """Real-time funding by an unknown customerId is refused with 400, 404 or 422.

    So is that of a payment to an unknown account.
    """
    body = platform.quotes.realtime_body()
    unknown_customer = unknown_id(body["source"]["customerId"])
    unknown_account = unknown_id(body["destination"]["accountId"])

    refusal = platform.api.create_quote(having("source.customerId", unknown_customer)(body))
    to_nowhere = platform.api.create_quote(having("destination.accountId", unknown_account)(body))

    twin = platform.api.create_quote(body)
    with check("QUO-807"):
        refusal.refused(*NOT_FOUND, twin=twin)
    with check("QUO-156"):
        to_nowhere.refused(*NOT_FOUND, twin=twin)
    platform.observe(f"just-in-time funding by nobody is refused with {refusal.status}")


@requirement("QUO-038", "QUO-040", "QUO-074", "QUO-816")
@pytest.mark.parametrize("business", [False, True], ids=["individual", "business"])
def test_a_just_in_time_funded_quote_is_created(
    platform: Platform, check: Check, *, business: bool
) -> None:
    """A real-time funded quote of an individual or a business is answered with 201.

    It is PENDING in its source's currency, and says how it is paid.
    """
    approve = platform.approved.business if business else platform.approved.customer
    body = platform.quotes.realtime_body(approve())

    answer = platform.api.create_quote(body)

    with check("QUO-816"):
        assert answer.status == HTTPStatus.CREATED, answer
    quote = arranged_resource(answer)
    with check("QUO-074"):
        assert quote["status"] == "PENDING", quote
    with check("QUO-038"):
        assert quote["sendingCurrency"]["code"] == body["source"]["currency"], quote
    with check("QUO-040"):
        assert quote.get("paymentInstructions"), "it carries no payment instruction"


@requirement("QUO-817")
@pytest.mark.parametrize("business", [False, True], ids=["individual", "business"])
def test_a_quote_from_a_pullable_source_is_created(platform: Platform, *, business: bool) -> None:
    """A quote from a pullable external account is answered with 201, without a deposit before."""
    approve = platform.approved.business if business else platform.approved.customer

    answer = platform.api.create_quote(pulling_body(platform, approve()))

    assert answer.status == HTTPStatus.CREATED, answer


# --- The platform's fee ---------------------------------------------------------------------


@requirement("QUO-808")
def test_a_platform_fee_is_no_text(platform: Platform) -> None:
    """A text as the platformFeeOverride of a quote is refused with 400 or 422."""
    source, destination = platform.quotes.ends(platform.quotes.corridors_from("USD")[0])
    override = platform.profile.bindings.require("platform_fee_override")
    body = platform.quotes.body(source, destination, platformFeeOverride=override)

    refusal = platform.api.create_quote({**body, "platformFeeOverride": "plenty"}, valid=False)

    refusal.refused(*REFUSED, twin=platform.api.create_quote(body))


@requirement("QUO-809")
def test_a_platform_fee_of_one_quote_is_not_that_of_the_next(
    platform: Platform, pytestconfig: pytest.Config
) -> None:
    """The quotes before and after one with platformFeeOverride have the same platform's fee."""
    # A standing fee, which an override may become, is of two currencies alone.
    source, destination = platform.quotes.ends(dollar_corridor(platform))
    # Twice what other tests send: theirs may have stayed before this one began.
    override = {
        name: value * 2 if isinstance(value, int) else value
        for name, value in platform.profile.bindings.require("platform_fee_override").items()
    }
    folder: Path = pytestconfig.rootpath / pytestconfig.getoption("report_dir")

    # Other tests set a standing fee in their turns.
    with platform.configuration.turn(folder):
        before = platform.quotes.pending(source, destination)
        with_override = platform.quotes.pending(source, destination, platformFeeOverride=override)
        after = platform.quotes.pending(source, destination)

    if own_fee(with_override) == own_fee(before):
        raise ResourceMissing("bindings.platform_fee_override leads to no fee on this corridor")
    assert own_fee(after) == own_fee(before)


@requirement("QUO-809", "QUO-631")
@pytest.mark.usefixtures("settings")
def test_a_platform_fee_of_one_quote_leaves_the_standing_fee(
    platform: Platform, check: Check
) -> None:
    """After a quote with platformFeeOverride, the standing fee is shown and borne as before.

    One standing fee may be the same as the override, so there are two of them.
    """
    override = platform.profile.bindings.require("platform_fee_override")
    usual = dollar_quote(platform)
    for standing in (FORMS["both"], {"basis_points": UNUSUAL_BASIS_POINTS}):
        sent = set_fee(platform, **standing)
        before = quote_bearing(platform, usual, standing)
        if not shows_fee(before, standing):
            raise PreconditionFailed(f"the standing fee does not show in a quote: {before}")
        shown = read_setting(platform, FEES, sent)

        arrange_quote(platform, {**usual, "platformFeeOverride": override})

        with check("QUO-809"):
            after = arrange_quote(platform, usual)
            assert own_fee(after) == own_fee(before), after
        with check("QUO-631"):
            if not shown:
                raise ResourceMissing(f"GET /config does not show {FEES}")
            assert platform.configuration.read().get(FEES) == shown


@requirement("QUO-620")
@pytest.mark.parametrize("side", ["SENDING", "RECEIVING"])
@pytest.mark.usefixtures("settings")
def test_a_platform_fee_of_one_quote_counts_beside_a_standing_fee(
    platform: Platform, side: str
) -> None:
    """With a standing fee, a quote with platformFeeOverride bears another fee than one without.

    By chance both may come to the same, so one of two standing fees is enough.
    """
    override = platform.profile.bindings.require("platform_fee_override")
    usual = dollar_quote(platform, side)
    overridden = {**usual, "platformFeeOverride": override}
    arrange_no_fee(platform)
    platform.until(lambda: arrange_quote(platform, usual), lambda quote: not own_fee(quote))
    if not own_fee(arrange_quote(platform, overridden)):
        raise ResourceMissing("bindings.platform_fee_override leads to no fee on this corridor")

    fees = []
    for standing in (FORMS["both"], {"basis_points": UNUSUAL_BASIS_POINTS}):
        set_fee(platform, **standing)
        bearing = quote_bearing(platform, usual, standing)
        if not shows_fee(bearing, standing):
            raise PreconditionFailed(f"the standing fee does not show in a quote: {bearing}")
        fees.append((own_fee(bearing), own_fee(arrange_quote(platform, overridden))))

    assert any(before != after for before, after in fees), (
        f"with {override} and without it quotes bear {[before for before, _ in fees]}"
    )


@requirement("QUO-833")
@pytest.mark.parametrize("side", ["SENDING", "RECEIVING"])
@pytest.mark.usefixtures("settings")
def test_a_platform_fee_of_one_quote_takes_the_place_of_the_standing_fee(
    platform: Platform, side: str
) -> None:
    """A quote with platformFeeOverride bears the same fee with a standing fee and without one.

    So does one with a platformFeeOverride of nothing, where the target takes that.
    """
    override = platform.profile.bindings.require("platform_fee_override")
    usual = dollar_quote(platform, side)
    bodies = [
        {**usual, "platformFeeOverride": fee} for fee in (override, without_amounts(override))
    ]
    alone = [platform.api.create_quote(body) for body in bodies]
    if not own_fee(arranged_resource(alone[0])):
        raise ResourceMissing("bindings.platform_fee_override leads to no fee on this corridor")
    with_and_without_fee(platform, "SENDING")

    for body, before in zip(bodies, alone, strict=True):
        if not before.accepted:
            platform.observe(f"a platformFeeOverride of nothing is answered with {before.status}")
            continue
        quote, earlier = arrange_quote(platform, body), arranged_resource(before)
        if side == "RECEIVING" and quote["exchangeRate"] != earlier["exchangeRate"]:
            raise ResourceMissing("the rate moved between two quotes")
        assert own_fee(quote) == own_fee(earlier), quote


# --- The rail -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rail", "taken_id"),
    [
        case((identifier, "QUO-044", "QUO-062", "QUO-080", "EVT-011"), rail, rail, identifier)
        for identifier, rail in (
            ("QUO-810", "ACH"),
            ("QUO-811", "WIRE"),
            ("QUO-812", "RTP"),
            ("QUO-813", "FEDNOW"),
        )
    ],
)
def test_a_rail_that_an_account_lists_is_taken(
    platform: Platform, check: Check, rail: str, taken_id: str
) -> None:
    """A quote by a rail among the paymentRails of its destination is accepted.

    Whatever the rail, it keeps the locked amount, lives for a quarter of an hour at most, and is
    executed; where the payment completes a webhook reports it.
    """
    body = body_with_rail(platform, rail)

    answer = platform.api.create_quote(body)

    with check(taken_id):
        answer.expect_accepted()
    if not answer.accepted:
        raise ResourceMissing(f"no quote goes by {rail}: {answer}")
    quote = arranged_resource(answer)
    with check("QUO-044"):
        if quote["sendingCurrency"]["code"] != quote["receivingCurrency"]["code"]:
            raise ResourceMissing("no corridor within one currency leads to a US account")
        assert quote["totalSendingAmount"] == body["lockedCurrencyAmount"], quote
    with check("QUO-062"):
        expect_short_life(quote)
    execution = platform.api.execute_quote(quote["id"])
    with check("QUO-080"):
        execution.expect_accepted()
        assert execution.body["status"] in SETTLING, execution
    with check("EVT-011"):
        if not execution.accepted:
            raise PreconditionFailed(f"the quote by {rail} is not executed: {execution}")
        status = platform.transactions.at_status(quote, "COMPLETED", "FAILED")["status"]
        if status != "COMPLETED":
            raise ResourceMissing(f"the payment by {rail} is {status}")
        expect_event(platform, COMPLETED, quote["transactionId"])


@requirement("QUO-035", "QUO-814")
def test_no_rail_is_echoed_by_an_execution(platform: Platform, check: Check) -> None:
    """The answer to an execution shows no paymentRail in the destination.

    Neither does that to the creation of a quote that is executed with it.
    """
    body = body_with_rail(platform)
    quote = arranged_resource(platform.api.create_quote(body))

    execution = platform.quotes.execute(quote)
    immediate = arranged_resource(platform.api.create_quote({**body, "immediatelyExecute": True}))

    for requirement_id, executed in {"QUO-814": execution, "QUO-035": immediate}.items():
        with check(requirement_id):
            expect_no_rail(executed)


@requirement("QUO-035", "QUO-157")
def test_no_rail_is_echoed_of_what_is_funded_just_in_time(platform: Platform, check: Check) -> None:
    """A quote that a payment will fund is accepted with a rail, and does not show it."""
    customer = platform.approved.customer()
    destination = platform.external_accounts.account(
        customer, platform.quotes.corridor_to(US_ACCOUNT).account
    )
    body = platform.quotes.realtime_body(customer, destination)

    answer = platform.api.create_quote(having_rail(body, destination))

    with check("QUO-157"):
        answer.expect_accepted()
    with check("QUO-035"):
        expect_no_rail(arranged_resource(answer))


@requirement("QUO-814", "QUO-853")
def test_no_rail_is_echoed_by_an_authorization(platform: Platform, check: Check) -> None:
    """Neither the execution that asks for a proof nor the proof's answer shows the paymentRail."""
    corridor = platform.quotes.corridor_to(US_ACCOUNT)
    customer = platform.approved.sca_customer(currencies=[corridor.sending])
    source = platform.internal_accounts.account(corridor.sending, customer=customer)
    destination = platform.external_accounts.account(customer, corridor.account)
    body = having_rail(platform.quotes.body(source, destination), destination)
    quote = arranged_resource(platform.api.create_quote(body))

    execution = platform.quotes.execute(quote)
    authorized = platform.sca.authorize({**quote, **execution})

    with check("QUO-814"):
        expect_no_rail(execution)
    with check("QUO-853"):
        expect_no_rail(authorized)


# --- What is left open ----------------------------------------------------------------------


def test_what_becomes_of_a_body_of_an_execution_is_recorded(platform: Platform) -> None:
    """An execution with a body may be answered in any way, because none is described."""
    path = {"quoteId": platform.quotes.pending()["id"]}

    answer = platform.api.client.call("executeQuote", path=path, body={}, valid=False)

    platform.observe(f"an execution with a body is answered with {answer.status}")


def test_what_an_unlisted_rail_brings_is_recorded(platform: Platform) -> None:
    """A quote by a rail that no account lists may be answered in any way."""
    answer = platform.api.create_quote(
        having("destination.paymentRail", "PIGEON")(body_with_rail(platform))
    )

    platform.observe(f"a paymentRail that no account lists is answered with {answer.status}")


def wallet_and_corridor(platform: Platform) -> tuple[str, Corridor]:
    """Return the example of a crypto wallet, and a corridor from its currency where there is one.

    The usual corridor stands in for it, so that the currency of the wallet may be in the way too.

    Raises:
        ResourceMissing: no corridor ends in a wallet, or the target pulls money from wallets.
    """
    corridors = platform.profile.resources.corridors
    wallets = {
        corridor.account: corridor.receiving
        for corridor in corridors
        if corridor.account in WALLETS
    }
    pulls = platform.profile.features.pullable_sources
    if pulls and platform.profile.resources.pullable_account in WALLETS:
        raise ResourceMissing("resources.pullable_account of the profile is a wallet")
    if not wallets:
        raise ResourceMissing("resources.corridors of the profile has none to a wallet")
    for name, currency in wallets.items():
        for corridor in corridors:
            if corridor.sending == currency:
                return name, corridor
    platform.observe("no corridor sends the currency of a wallet")
    return next(iter(wallets)), platform.profile.usual_corridor


def expect_no_rail(quote: Json) -> None:
    """Assert that a quote does not show the rail that was sent.

    Raises:
        PreconditionFailed: it shows no destination.
    """
    __tracebackhide__ = True
    if not isinstance(quote.get("destination"), Mapping):
        raise PreconditionFailed(f"the quote shows no destination: {quote}")
    assert quote["destination"].get("paymentRail") is None, quote


def without_amounts(override: Json) -> Json:
    """Return a platformFeeOverride of the same members, whose numbers are all zero."""
    return {
        name: without_amounts(value)
        if isinstance(value, Mapping)
        else 0
        if type(value) in (int, float)
        else value
        for name, value in override.items()
    }


def own_fee(quote: Json) -> object:
    """Return the platform's fee in the sending amount; 0 without one."""
    return quote.get("platformFeesIncluded") or 0
