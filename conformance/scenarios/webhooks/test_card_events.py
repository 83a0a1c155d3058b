"""Webhooks about card purchases: authorizations, settlements, declines and returns."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from conformance.exchange.delivery import Delivery
from conformance.platform.given.cards import PRICE, is_same
from conformance.platform.platform import Platform
from conformance.platform.resource import Json, arranged_body
from conformance.scenarios.kit.cases import case
from conformance.scenarios.kit.marks import Check, requirement
from conformance.scenarios.kit.purchases import (
    DECLINE_REASONS,
    DECLINED,
    DECLINED_PURCHASE,
    PART,
    SETTLED,
    VOIDED,
    VOIDS,
    arrange_reports,
    attempt_purchase,
    expect_not_refunded,
    is_balance_reported,
    is_settlement_reported_again,
    is_shown,
    settlement_ids,
)
from conformance.scenarios.webhooks.reports import arrange_event, expect_event, expect_same
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing


def expect_final(report: Delivery | None, status: str) -> None:
    """Assert that a webhook came whose purchase, where it shows a status, is at its last one."""
    __tracebackhide__ = True
    assert report is not None, f"no webhook reports that the purchase is {status}"
    assert report.data.get("status") in (None, status), report


def expect_not_approved(platform: Platform, row: Json) -> None:
    """Assert that no webhook that has come reports a purchase as authorized or settled."""
    __tracebackhide__ = True
    types = {str(delivery.type) for delivery in platform.webhooks.about(row["id"])}
    assert not [one for one in types if "AUTHORIZED" in one or one == SETTLED], types


def expect_not_shown_refunded(reports: list[Delivery]) -> None:
    """Assert that no webhook shows its card transaction at REFUNDED.

    Raises:
        PreconditionFailed: there is no webhook.
    """
    __tracebackhide__ = True
    statuses = {report.data.get("status") for report in arrange_reports(reports)}
    assert "REFUNDED" not in statuses, statuses


def expect_decline_alone(platform: Platform, check: Check, row: Json) -> None:
    """Decide whether a purchase is reported as DECLINED, and has not been reported as approved.

    The report tells the cause that the purchase shows.
    """
    with check("EVT-173"):
        expect_event(platform, DECLINED, row["id"])
    with check("EVT-985"):
        report = arrange_event(platform, DECLINED, row["id"])
        expect_same(report.data, row, "cardDeclinedReason")
    with check("EVT-184"):
        arrange_reports(platform.cards.deliveries_about(row))
        expect_not_approved(platform, row)


@requirement("EVT-173", "EVT-184")
def test_a_decline_is_reported(platform: Platform, check: Check) -> None:
    """A declined purchase is reported as DECLINED, is shown so, and is not reported otherwise.

    So is another one on the same card.
    """
    card = platform.cards.card()

    row = platform.cards.charge(card, DECLINED_PURCHASE)
    second = platform.cards.charge(card, DECLINED_PURCHASE)

    with check("EVT-173"):
        for declined in (row, second):
            expect_final(platform.webhooks.wait_for(DECLINED, declined["id"]), "DECLINED")
    with check("EVT-184"):
        if not platform.cards.deliveries_about(platform.cards.approved_purchase(card)):
            raise PreconditionFailed("no webhook reports the purchase after it")
        expect_not_approved(platform, row)


@pytest.mark.parametrize(
    "trigger",
    [
        case(("EVT-173", "EVT-184", "EVT-985"), trigger.rpartition(".")[2], trigger)
        for trigger in DECLINE_REASONS
        if trigger != DECLINED_PURCHASE
    ],
)
def test_a_decline_is_reported_whatever_its_cause(
    platform: Platform, check: Check, trigger: str
) -> None:
    """A purchase that is declined for one of the other causes is reported as DECLINED alone."""
    card = platform.cards.card()

    row = attempt_purchase(platform, card, trigger)

    expect_decline_alone(platform, check, row)


@requirement("EVT-173", "EVT-184", "EVT-985")
def test_a_decline_for_want_of_money_is_reported(platform: Platform, check: Check) -> None:
    """A purchase above the balance is reported as DECLINED, unless it is approved all the same."""
    card = platform.cards.card(platform.cards.account(amount=PRICE))

    row = platform.cards.attempt(card, "purchase.underfunded", 2 * PRICE)

    if row.get("status") != "DECLINED":
        raise ResourceMissing(f"a purchase above the balance is {row.get('status')} at first")
    expect_decline_alone(platform, check, row)


@requirement("EVT-177", "EVT-178", "CAR-022")
def test_each_return_is_reported_as_settled(platform: Platform, check: Check) -> None:
    """Each of two returns is reported by another SETTLED webhook about the purchase.

    After the second one all of it is returned. A webhook shows what is returned by then, and the
    purchase as settled. It is not the newest purchase with the card.
    """
    card = platform.cards.card()
    purchase, _ = (platform.cards.settled_purchase(card) for _ in range(2))
    known_ids = settlement_ids(platform, purchase)
    if not known_ids:
        raise PreconditionFailed("no webhook reports the settled purchase")

    returned = 0
    for requirement_id, amount in {"EVT-177": PART, "EVT-178": PRICE - PART}.items():
        platform.cards.cause(card, purchase, "card.return", amount)
        returned += amount
        with check(requirement_id):
            assert is_settlement_reported_again(platform, purchase, known_ids, returned)
        known_ids |= settlement_ids(platform, purchase)
    with check("CAR-022"):
        expect_not_shown_refunded(platform.webhooks.about(purchase["id"]))


@requirement("EVT-179", "CAR-022")
def test_a_standalone_return_is_reported_on_its_own(platform: Platform, check: Check) -> None:
    """A webhook is about the transaction of a standalone return, and another one about the next.

    Where it shows the return as settled, it shows its amount. What it shows of the direction and of
    the purchase is what the return is: a CREDIT, and not of the newest purchase with the card.
    """
    card = platform.cards.card()
    purchase, _ = (platform.cards.settled_purchase(card) for _ in range(2))

    for amount in (PART, 2 * PART):
        row = platform.cards.refund(card, purchase, amount)

        reports = platform.cards.deliveries_about(row)
        with check("EVT-179"):
            assert reports
            settled = [one for one in reports if one.data.get("status") == "SETTLED"]
            assert all(is_shown(one, "settledAmount", amount) for one in settled), settled
            shown = [
                (one.data.get("direction"), one.data.get("originalTransactionId"))
                for one in reports
            ]
            assert all(direction in (None, "CREDIT") for direction, _ in shown), shown
            assert all(name is None or is_same(name, purchase["id"]) for _, name in shown), shown
        with check("CAR-022"):
            expect_not_shown_refunded(reports)


@pytest.mark.parametrize(
    ("trigger", "amount"),
    [
        case("EVT-180", "part", "card.return", PART),
        case("EVT-181", "whole", "card.return", PRICE),
        case("EVT-182", "standalone", "card.refund", PART),
        case("EVT-182", "standalone-whole", "card.refund", PRICE),
    ],
)
def test_nothing_is_reported_as_refunded(platform: Platform, trigger: str, amount: int) -> None:
    """A return, in whatever form, is not reported by CARD_TRANSACTION.REFUNDED."""
    card = platform.cards.card()
    purchase = platform.cards.settled_purchase(card)

    platform.cards.cause(card, purchase, trigger, amount)

    expect_not_refunded(platform, card)


@requirement("EVT-183")
def test_a_reversal_is_not_reported_as_refunded(platform: Platform) -> None:
    """A reversed return is not reported by CARD_TRANSACTION.REFUNDED."""
    card = platform.cards.card()
    _, row = platform.cards.returned_purchase(card)

    arranged_body(platform.cards.reverse_return(card, row["id"]))

    expect_not_refunded(platform, card)


@requirement("EVT-170")
def test_an_authorization_is_reported(platform: Platform) -> None:
    """A webhook of any type is about an authorized purchase, and another one about the next."""
    card = platform.cards.card()

    for row in [platform.cards.approved_purchase(card) for _ in range(2)]:
        assert platform.cards.deliveries_about(row)


@pytest.mark.parametrize(
    ("trigger", "amount"),
    [
        case("EVT-171", "partly", "card.settle_partly", PART),
        case("EVT-176", "anomaly", "card.misclear", PRICE),
    ],
)
def test_a_change_is_reported(platform: Platform, trigger: str, amount: int) -> None:
    """A partial or a wrong clearing is reported by one more webhook than the authorization.

    What its type is called is not shown; it is none of those for other states.
    """
    card = platform.cards.card()
    row = platform.cards.approved_purchase(card)
    known_ids = {one.id for one in arrange_reports(platform.cards.deliveries_about(row))}

    platform.cards.cause(card, row, trigger, amount)

    known_count = len(known_ids)
    reports = platform.cards.deliveries_about(row, known_count)
    assert len(reports) > known_count
    types = {one.type for one in reports if one.id not in known_ids}
    assert not types & {SETTLED, DECLINED, VOIDED}, types


@requirement("EVT-172", "EVT-187", "EVT-188", "EVT-189")
def test_a_settlement_is_reported(platform: Platform, check: Check) -> None:
    """A cleared purchase is reported as SETTLED under a new id, with the purchase as data.

    It is not the first one that is cleared on the card, nor the newest one that is authorized. The
    webhook shows what was cleared, and a debit.
    """
    card = platform.cards.card()
    platform.cards.settled_purchase(card)
    row = platform.cards.approved_purchase(card)
    platform.cards.approved_purchase(card)
    authorization_reports = platform.cards.deliveries_about(row)

    platform.cards.cause(card, row, "card.settle")

    report = platform.webhooks.wait_for(SETTLED, row["id"])
    with check("EVT-172"):
        expect_final(report, "SETTLED")
        assert report is None or is_shown(report, "settledAmount", PRICE), report
    with check("EVT-189"):
        known_ids = {delivery.id for delivery in arrange_reports(authorization_reports)}
        assert report is None or report.id not in known_ids
    reports = [
        delivery for delivery in platform.webhooks.mentioning(row["id"]) if delivery.type == SETTLED
    ]
    arrange_reports(reports)
    with check("EVT-187"):
        assert all(isinstance(delivery.data, Mapping) for delivery in reports)
    with check("EVT-188"):
        assert all(is_same(delivery.data.get("id"), row["id"]) for delivery in reports)
        directions = {delivery.data.get("direction") for delivery in reports}
        assert directions <= {None, "DEBIT"}, directions


@pytest.mark.parametrize(
    "trigger",
    [
        case(requirement_id, trigger.rpartition(".")[2], trigger)
        for requirement_id, trigger in zip(("EVT-174", "EVT-175"), VOIDS, strict=True)
    ],
)
def test_a_void_authorization_is_reported(platform: Platform, trigger: str) -> None:
    """A reversed or lapsed authorization is reported as VOIDED, and is shown so.

    So is another one on the same card, after it.
    """
    card = platform.cards.card()
    rows = [platform.cards.approved_purchase(card) for _ in range(2)]

    for row in rows:
        platform.cards.cause(card, row, trigger)

        expect_final(platform.webhooks.wait_for(VOIDED, row["id"]), "VOIDED")


@requirement("EVT-185")
@pytest.mark.parametrize("trigger", VOIDS)
def test_a_void_authorization_is_not_reported_as_settled(platform: Platform, trigger: str) -> None:
    """A reversed or lapsed authorization is not reported as SETTLED."""
    card = platform.cards.card()
    row = platform.cards.approved_purchase(card)

    platform.cards.cause(card, row, trigger)

    platform.cards.arrange_status(card, row, "VOIDED")
    arrange_reports(platform.cards.deliveries_about(platform.cards.approved_purchase(card)))
    assert SETTLED not in {delivery.type for delivery in platform.webhooks.about(row["id"])}


@requirement("EVT-186")
def test_the_balance_after_a_purchase_is_reported(platform: Platform) -> None:
    """A webhook shows the balance of the account after a settled purchase."""
    account = platform.cards.account()
    before = platform.internal_accounts.balances(account)[0]
    platform.cards.settled_purchase(platform.cards.card(account))

    balance_left = platform.until(
        lambda: platform.internal_accounts.balances(account)[0], lambda balance: balance < before
    )

    if balance_left >= before:
        raise PreconditionFailed(f"the balance is still {balance_left} after a settled purchase")
    assert is_balance_reported(platform, account, balance_left)


@requirement("EVT-186")
def test_the_balance_after_an_authorization_is_reported(platform: Platform) -> None:
    """A webhook shows the balance of the account without what an authorization holds."""
    account = platform.cards.account()
    before = platform.internal_accounts.balances(account)[0]

    platform.cards.approved_purchase(platform.cards.card(account))

    balance_left = platform.internal_accounts.balances(account)[0]
    if balance_left >= before:
        raise ResourceMissing("an authorization leaves the balance as it is")
    assert is_balance_reported(platform, account, balance_left)


@requirement("EVT-190")
@pytest.mark.parametrize("trigger", ["card.refund", "card.return"])
def test_the_balance_after_a_return_is_reported(platform: Platform, trigger: str) -> None:
    """A webhook shows the balance of the account after a return, a standalone one or not."""
    account = platform.cards.account()
    opening = platform.internal_accounts.balances(account)[0]
    card = platform.cards.card(account)
    purchase = platform.cards.settled_purchase(card)
    before = platform.until(
        lambda: platform.internal_accounts.balances(account)[0], lambda balance: balance < opening
    )
    platform.cards.cause(card, purchase, trigger, PART)

    after = platform.until(
        lambda: platform.internal_accounts.balances(account)[0], lambda balance: balance > before
    )

    if after <= before:
        raise PreconditionFailed(f"the balance is still {after} after a return")
    assert is_balance_reported(platform, account, after)


@requirement("EVT-362")
def test_the_balance_after_the_reversal_of_a_return_is_reported(platform: Platform) -> None:
    """A new webhook shows the balance of the account once a return was taken back."""
    account = platform.cards.account()
    card = platform.cards.card(account)
    _, row = platform.cards.returned_purchase(card)
    before = platform.internal_accounts.balances(account)[0]
    if not is_balance_reported(platform, account, before):
        raise PreconditionFailed(f"the balance of {before} after a return is not reported")
    known_ids = {delivery.id for delivery in platform.webhooks.about(account["id"])}

    arranged_body(platform.cards.reverse_return(card, row["id"]))

    balance_left = platform.until(
        lambda: platform.internal_accounts.balances(account)[0], lambda balance: balance < before
    )
    if balance_left >= before:
        raise ResourceMissing("the reversal of a return leaves the balance as it is")
    assert is_balance_reported(platform, account, balance_left, known_ids)


@requirement("EVT-191")
@pytest.mark.parametrize("trigger", VOIDS)
def test_the_balance_after_a_reversal_is_reported(platform: Platform, trigger: str) -> None:
    """A new webhook shows the balance that the account had before the authorization.

    The authorization is reversed, or lapses.
    """
    account = platform.cards.account()
    before = platform.internal_accounts.balances(account)[0]
    if not is_balance_reported(platform, account, before):
        raise PreconditionFailed("the deposit is not reported")
    card = platform.cards.card(account)
    row = platform.cards.approved_purchase(card)
    if platform.internal_accounts.balances(account)[0] >= before:
        raise ResourceMissing("an authorization leaves the balance as it is")
    known_ids = {delivery.id for delivery in platform.webhooks.about(account["id"])}

    platform.cards.cause(card, row, trigger)

    assert is_balance_reported(platform, account, before, known_ids)
