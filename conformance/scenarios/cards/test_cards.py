"""Cards: to whom they are issued, and what an internal account says that they could do."""

from __future__ import annotations

import re

import pytest

from conformance.platform.given.customers import verification_status
from conformance.platform.given.verification import REVIEWED
from conformance.platform.platform import Platform
from conformance.platform.resource import Resource
from conformance.scenarios.kit.marks import Check, requirement
from conformance.verdict.decisions import (
    PreconditionFailed,
    ResourceMissing,
    TriggerFailed,
    TriggerMissing,
)

CODE = "CARDHOLDER_KYC_NOT_APPROVED"


@requirement("CAR-001")
def test_a_card_is_issued_against_an_internal_account(platform: Platform) -> None:
    """A card against an internal account of an approved customer is accepted."""
    account = platform.cards.account(amount=0)

    answer = platform.cards.issue(account["customerId"], account)

    assert answer.accepted, answer


@requirement("CAR-003")
def test_a_card_has_an_id_of_its_type(platform: Platform) -> None:
    """The id of a card begins with `Card:`."""
    card = platform.cards.card(platform.cards.account(amount=0))

    assert re.fullmatch(r"Card:.+", card["id"]), card["id"]


@requirement("CAR-002", "ERR-017")
@pytest.mark.parametrize("status", ["UNVERIFIED", "PENDING", "REJECTED"])
def test_a_card_needs_an_approved_cardholder(platform: Platform, check: Check, status: str) -> None:
    """A card for a customer who is not approved is refused with 400 and a code for it."""
    approved_account = platform.cards.account(amount=0)
    holder, account = _unapproved_holder(platform, status)

    refusal = platform.cards.issue(holder["id"], account or approved_account)
    twin = platform.cards.issue(approved_account["customerId"], approved_account)

    if refusal.accepted and verification_status(platform.customers.read(holder)) == "APPROVED":
        raise ResourceMissing("the sandbox has approved the customer by itself")
    # Where accounts are provisioned at the approval, it was asked for with another customer's.
    if account is None and not refusal.accepted and refusal.code != CODE:
        raise ResourceMissing(f"before an approval there is no account for a card: {refusal}")
    with check("CAR-002"):
        refusal.refused(None, twin=twin)
    with check("ERR-017"):
        if refusal.accepted:
            raise ResourceMissing(f"a card is issued before its holder is approved: {refusal}")
        refusal.refused(400, CODE, twin=twin)


@requirement("CAR-004")
def test_an_account_that_says_so_can_fund_a_card(platform: Platform) -> None:
    """A card against an account that lists what a card could do is accepted."""
    account = platform.cards.account(amount=0)
    platform.cards.funding_actions(account)

    answer = platform.cards.issue(account["customerId"], account)

    assert answer.accepted, answer


@requirement("CAR-005")
def test_what_a_card_could_do_does_not_depend_on_one_that_exists(platform: Platform) -> None:
    """An account lists the same actions of a card before and after a card is issued."""
    account = platform.cards.account(amount=0)
    before = platform.cards.funding_actions(account)

    platform.cards.card(account)

    name = str(platform.profile.bindings.card_funding)
    after = sorted(map(str, platform.internal_accounts.read(account).get(name) or ()))
    if after != before and not platform.cards.issue(account["customerId"], account).accepted:
        raise ResourceMissing("an account funds one card, so that another could do nothing")
    assert after == before


def _unapproved_holder(platform: Platform, status: str) -> tuple[Resource, Resource | None]:
    """Return a customer at a status, and its account in the currency of cards, if it has one.

    The account of a customer who was never approved may be unable to fund a card for another
    reason. So another customer is approved and loses the approval, where the profile has that
    happen.

    Raises:
        PreconditionFailed: a trigger left the customer at another status.
        ResourceMissing: the sandbox approves customers by itself.
    """
    if platform.approved.can_be_lost:
        account = platform.cards.account(amount=0)
        try:
            platform.approved.lose_approval(account.owner, status)
        except (PreconditionFailed, ResourceMissing, TriggerFailed, TriggerMissing) as error:
            platform.observe(f"no approval is withdrawn: {error}")
        else:
            return account.owner, account
    currency = platform.profile.resources.card_currency
    newcomer = _newcomer(platform, status, sorted({platform.profile.currency, currency}))
    for account in platform.internal_accounts.of_customer(newcomer):
        if account["balance"]["currency"]["code"] == currency:
            return newcomer, account
    return newcomer, None


def _newcomer(platform: Platform, status: str, currencies: list[str]) -> Resource:
    """Return a customer who was never approved, at a status."""
    if status == "UNVERIFIED":
        customer = platform.customers.applicant(business=False, currencies=currencies)
        if verification_status(customer) == "APPROVED":
            raise ResourceMissing("customers are approved from the start")
        return customer
    trigger = "customer.reject" if status == "REJECTED" else None
    reviews = platform.verification.reviews
    customer = reviews.onboarded("hosted", trigger=trigger, currencies=currencies)
    seen = platform.customers.at_status(customer, *((status,) if trigger else REVIEWED))
    if verification_status(seen) == status:
        return customer
    if trigger:
        raise PreconditionFailed(f"{trigger} left the customer at {verification_status(seen)}")
    raise ResourceMissing(f"reviews are decided at once: {verification_status(seen)}")
