"""Webhooks: an event is reported under one id, and a request without an effect under none."""

from __future__ import annotations

import pytest

from conformance.platform.given.external_accounts import LEADS_TO
from conformance.platform.platform import Platform
from conformance.platform.resource import Json, Resource
from conformance.scenarios.kit.cases import case
from conformance.scenarios.kit.challenges import wrong_proof
from conformance.scenarios.kit.marks import Check, requirement
from conformance.scenarios.kit.purchases import VOIDS
from conformance.scenarios.quotes.realtime import create_quote_paid_twice
from conformance.scenarios.webhooks.reports import (
    BALANCE,
    COMPLETED,
    FAILURE,
    FAMILIES,
    PROCESSING,
    REFUND_COMPLETED,
    REFUND_FAILED,
    REFUND_PENDING,
    STATUS_UPDATED,
    arrange_event,
    event_ids,
    event_types,
    expect_no_more,
    expect_one_id,
    let_reports_arrive,
)
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing

OUTGOING = "OUTGOING_PAYMENT."


# --- Once -----------------------------------------------------------------------------------


@requirement("EVT-192", "EVT-193", "EVT-194")
def test_each_step_of_a_failure_is_reported_once(platform: Platform, check: Check) -> None:
    """FAILED, REFUND_PENDING and REFUND_COMPLETED of a payout have one id each."""
    source = platform.internal_accounts.account()
    name = platform.quotes.payout(source, trigger="payout.screen")["transactionId"]
    arrange_event(platform, REFUND_COMPLETED, name)

    let_reports_arrive(platform, source)

    steps = {"EVT-192": FAILURE, "EVT-193": REFUND_PENDING, "EVT-194": REFUND_COMPLETED}
    for requirement_id, kind in steps.items():
        with check(requirement_id):
            expect_one_id(platform, kind, name)


@requirement("EVT-195")
def test_a_refund_that_fails_is_reported_once(platform: Platform) -> None:
    """All REFUND_FAILED webhooks of a payout have one id."""
    source = platform.internal_accounts.account()
    name = platform.quotes.payout(source, trigger="refund.fail")["transactionId"]
    arrange_event(platform, REFUND_FAILED, name)

    let_reports_arrive(platform, source)

    expect_one_id(platform, REFUND_FAILED, name)


@requirement("EVT-208", "EVT-213")
def test_a_second_execution_is_not_reported(platform: Platform, check: Check) -> None:
    """A second execution, however it is answered, adds no webhook about the payout."""
    source = platform.internal_accounts.account()
    quote = platform.quotes.complete(platform.quotes.pending(source))
    name = quote["transactionId"]
    arrange_event(platform, COMPLETED, name)

    platform.api.execute_quote(quote["id"])
    let_reports_arrive(platform, source)

    with check("EVT-213"):
        for kind in (PROCESSING, COMPLETED):
            assert len(event_ids(platform, kind, name)) <= 1, f"{kind} was reported once more"
    with check("EVT-208"):
        # It is open whether a waiting quote is reported at all.
        assert len(event_ids(platform, f"{OUTGOING}PENDING", name)) <= 1


@requirement("EVT-217")
def test_a_second_payment_is_not_reported(platform: Platform) -> None:
    """A second payment of a real-time funded quote adds no PROCESSING or COMPLETED about it."""
    name = create_quote_paid_twice(platform)["transactionId"]
    arrange_event(platform, COMPLETED, name)

    let_reports_arrive(platform)

    for kind in (PROCESSING, COMPLETED):
        assert len(event_ids(platform, kind, name)) <= 1, f"{kind} was reported once more"


@pytest.mark.parametrize(
    "business",
    [
        case("EVT-196", "individual", False),
        case("EVT-197", "business", True),
    ],
)
def test_a_rejection_is_reported_once(platform: Platform, business: bool) -> None:
    """All REJECTED webhooks of a customer have one id."""
    customer = platform.verification.reviews.submitted(business=business, trigger="customer.reject")
    arrange_event(platform, f"{FAMILIES[business]}REJECTED", customer["id"])

    arrange_event(
        platform,
        f"{FAMILIES[False]}PENDING",
        platform.verification.reviews.submitted(business=False)["id"],
    )

    expect_one_id(platform, f"{FAMILIES[business]}REJECTED", customer["id"])


@pytest.mark.parametrize(
    "trigger",
    [
        case("EVT-198", "review", "external_account.review"),
        case("EVT-199", "disable", "external_account.disable"),
        case("EVT-202", "approve", "external_account.approve"),
        case("EVT-200", "demand", "ownership.demand"),
    ],
)
def test_a_change_of_an_external_account_is_reported_once(platform: Platform, trigger: str) -> None:
    """A change of an account adds one webhook at most.

    Its twin is an account of another customer that does not change.
    """
    demands_proof = trigger == "ownership.demand"
    name = platform.profile.resources.ownership_account if demands_proof else None
    approves = trigger == "external_account.approve"
    account, twin = (
        platform.external_accounts.awaiting_verification(owner)
        if approves
        else platform.external_accounts.account(owner, name)
        for owner in (
            platform.external_accounts.account_holder(),
            platform.external_accounts.account_holder(),
        )
    )

    if account.get("status") == LEADS_TO[trigger]:
        raise ResourceMissing(f"the account is {LEADS_TO[trigger]} already")
    _let_changes_arrive(platform)
    known_ids = event_ids(platform, STATUS_UPDATED, account["id"])
    platform.triggers.fire(trigger, externalAccountId=account["id"])

    _expect_one_change(platform, account, twin, known_ids)


@requirement("EVT-201")
def test_a_proof_that_failed_is_reported_once(platform: Platform) -> None:
    """A wrong proof of ownership adds one webhook about the account at most."""
    account, twin = (
        platform.ownership.unproven(platform.external_accounts.account_holder()) for _ in range(2)
    )

    _let_changes_arrive(platform)
    known_ids = event_ids(platform, STATUS_UPDATED, account["id"])
    platform.ownership.conclude(account, "signature", right=False)

    _expect_one_change(platform, account, twin, known_ids)


@requirement("EVT-203")
def test_a_deposit_is_reported_once(platform: Platform) -> None:
    """No two webhooks of different ids show the same balance and totalBalance."""
    account = platform.internal_accounts.account(amount=0)
    known_ids = event_ids(platform, BALANCE, account["id"])
    platform.internal_accounts.deposit(account, 40_000)
    if (
        platform.webhooks.wait_for(
            BALANCE, account["id"], where=lambda event: event.id not in known_ids
        )
        is None
    ):
        raise PreconditionFailed(f"no {BALANCE} came for {account['id']}")

    let_reports_arrive(platform)

    # The balances may differ while the deposit settles.
    reports = {
        event.id: str((event.data["balance"]["amount"], (event.data.get("totalBalance") or {})))
        for event in platform.webhooks.about(account["id"])
        if event.type == BALANCE and event.id not in known_ids
    }
    assert len(set(reports.values())) == len(reports), f"one change was reported as {reports}"


@requirement("EVT-204")
def test_a_settled_purchase_is_reported_once(platform: Platform) -> None:
    """All CARD_TRANSACTION.SETTLED webhooks of a purchase have one id."""
    row = platform.cards.settled_purchase(platform.cards.card())
    arrange_event(platform, "CARD_TRANSACTION.SETTLED", row["id"])

    let_reports_arrive(platform)

    expect_one_id(platform, "CARD_TRANSACTION.SETTLED", row["id"])


@requirement("EVT-205")
def test_a_declined_purchase_is_reported_once(platform: Platform) -> None:
    """All CARD_TRANSACTION.DECLINED webhooks of a purchase have one id."""
    row = platform.cards.attempt(platform.cards.card(), "purchase.declined")
    arrange_event(platform, "CARD_TRANSACTION.DECLINED", row["id"])

    let_reports_arrive(platform)

    expect_one_id(platform, "CARD_TRANSACTION.DECLINED", row["id"])


@requirement("EVT-206")
@pytest.mark.parametrize("trigger", VOIDS)
def test_a_void_authorization_is_reported_once(platform: Platform, trigger: str) -> None:
    """All CARD_TRANSACTION.VOIDED webhooks of a reversed or lapsed authorization have one id."""
    card = platform.cards.card()
    row = platform.cards.approved_purchase(card)
    platform.cards.cause(card, row, trigger)
    arrange_event(platform, "CARD_TRANSACTION.VOIDED", row["id"])

    let_reports_arrive(platform)

    expect_one_id(platform, "CARD_TRANSACTION.VOIDED", row["id"])


@requirement("EVT-207")
def test_a_return_on_its_own_is_reported_once(platform: Platform) -> None:
    """All CARD_TRANSACTION.SETTLED webhooks of a standalone return have one id.

    Other steps of the return may be reported too.
    """
    card = platform.cards.card()
    row = platform.cards.refund(card, platform.cards.settled_purchase(card), 1_000)
    if not platform.cards.deliveries_about(row):
        raise PreconditionFailed(f"no webhook came for {row['id']}")

    let_reports_arrive(platform)

    assert len(event_ids(platform, "CARD_TRANSACTION.SETTLED", row["id"])) <= 1


# --- Not at all -----------------------------------------------------------------------------


@requirement("EVT-209")
def test_a_refused_quote_is_not_reported(platform: Platform) -> None:
    """No webhook about a payment names the source of a quote whose amount is negative.

    Of one that would be executed at once, and costs more than there is, a service may keep a
    transaction that failed. No webhook reports it as PROCESSING or COMPLETED.
    """
    source, poor_source = (platform.internal_accounts.account() for _ in range(2))
    body = platform.quotes.body(source)
    above = platform.internal_accounts.balances(poor_source)[0] + 1

    refusal = platform.api.create_quote({**body, "lockedCurrencyAmount": -1}, valid=False)
    uncovered = platform.api.create_quote(
        platform.quotes.body(poor_source, amount=above, immediatelyExecute=True)
    )

    if refusal.accepted:
        raise ResourceMissing(f"a quote of a negative amount is taken: {refusal}")
    if uncovered.accepted:
        raise PreconditionFailed(f"more than the balance was sent: {uncovered}")
    let_reports_arrive(platform, source)
    let_reports_arrive(platform, poor_source)
    types, types_of_uncovered = (
        {str(event.type) for event in platform.webhooks.mentioning(account["id"])}
        for account in (source, poor_source)
    )
    assert not [kind for kind in types if kind.startswith(OUTGOING)]
    assert not types_of_uncovered.intersection((PROCESSING, COMPLETED))


@requirement("EVT-210")
def test_an_execution_without_credentials_is_not_reported(platform: Platform) -> None:
    """An execution with a wrong secret is not reported as PROCESSING, COMPLETED or FAILED."""
    source = platform.internal_accounts.account()
    quote = platform.quotes.pending(source)

    wrong_auth = platform.api.client.credentials(client_secret="not-the-secret")  # noqa: S106
    answer = platform.api.client.call(
        "executeQuote", path={"quoteId": quote["id"]}, auth=wrong_auth
    )

    if answer.accepted:
        raise PreconditionFailed(f"wrong credentials are taken: {answer}")
    let_reports_arrive(platform, source)
    _expect_unpaid(platform, quote, PROCESSING, COMPLETED, FAILURE)


@requirement("EVT-211")
def test_a_payout_without_funds_is_not_reported(platform: Platform) -> None:
    """A refused execution above the balance is not reported as PROCESSING or COMPLETED."""
    source = platform.internal_accounts.account(amount=10_000)
    body = platform.quotes.body(source, amount=platform.internal_accounts.balances(source)[0] + 1)

    creation, *later_steps = platform.quotes.create_and_execute(body)

    if not creation.accepted:
        raise ResourceMissing(f"it is refused before there is a transaction: {creation}")
    if later_steps[-1].accepted:
        raise PreconditionFailed(f"more than the balance was sent: {later_steps[-1]}")
    let_reports_arrive(platform, source)
    _expect_unpaid(platform, creation.body, PROCESSING, COMPLETED)


@requirement("EVT-212")
def test_a_wrong_proof_is_not_reported(platform: Platform) -> None:
    """A quote with a wrong proof is not reported as PROCESSING or COMPLETED."""
    source = platform.sca.account()
    quote = platform.sca.challenged(source=source)

    answer = platform.sca.send_proof(quote, wrong_proof(platform))

    if answer.accepted:
        raise PreconditionFailed(f"a wrong proof is taken: {answer}")
    let_reports_arrive(platform)
    _expect_unpaid(platform, quote, PROCESSING, COMPLETED)


@requirement("EVT-214")
def test_a_refused_deletion_is_not_reported(platform: Platform) -> None:
    """A trusted account with a refused deletion has no more webhooks than one without it."""
    account, twin = (platform.trust.trusted(platform.trust.customer()) for _ in range(2))

    answer = platform.api.delete_external_account(account["id"])

    if answer.accepted:
        raise PreconditionFailed(f"a trusted beneficiary is deleted: {answer}")
    let_reports_arrive(platform)
    expect_no_more(platform, STATUS_UPDATED, account["id"], twin["id"])


@requirement("EVT-215")
def test_a_refused_update_is_not_reported(platform: Platform) -> None:
    """A customer with a refused update has no more webhooks about reviews than one without it."""
    source = platform.internal_accounts.account(amount=0)
    twin = platform.internal_accounts.account(amount=0)["customerId"]
    customer = source.owner

    answer = platform.api.update_customer(customer["id"], {"birthDate": "yesterday"}, valid=False)

    if answer.accepted:
        raise ResourceMissing(f"any birthDate is taken: {answer}")
    let_reports_arrive(platform, source)
    expect_no_more(platform, "CUSTOMER.KY", customer["id"], twin)


@requirement("EVT-216")
def test_a_refused_deposit_is_not_reported(platform: Platform) -> None:
    """An account with a refused deposit has no more webhooks than one without it."""
    account, twin = (
        platform.internal_accounts.account(amount=0),
        platform.internal_accounts.account(amount=0),
    )

    answer = platform.internal_accounts.fund(account, -1)

    if answer.accepted:
        raise ResourceMissing(f"a negative amount is taken: {answer}")
    let_reports_arrive(platform)
    expect_no_more(platform, BALANCE, account["id"], twin["id"])


def _expect_unpaid(platform: Platform, quote: Json, *unwanted: str) -> None:
    __tracebackhide__ = True
    types = event_types(platform, quote["transactionId"]).intersection(unwanted)
    assert not types, f"reported by {' and '.join(sorted(types))}"


def _let_changes_arrive(platform: Platform) -> None:
    """Disable another account and wait for its webhook; earlier webhooks have arrived by then.

    Raises:
        PreconditionFailed: no webhook reports the change.
    """
    account = platform.external_accounts.account(platform.external_accounts.account_holder())
    known_ids = event_ids(platform, STATUS_UPDATED, account["id"])
    platform.triggers.fire("external_account.disable", externalAccountId=account["id"])
    if (
        platform.webhooks.wait_for(
            STATUS_UPDATED, account["id"], where=lambda event: event.id not in known_ids
        )
        is None
    ):
        raise PreconditionFailed(f"no {STATUS_UPDATED} came for {account['id']}")


def _expect_one_change(
    platform: Platform, account: Resource, twin: Json, known_ids: set[str | None]
) -> None:
    __tracebackhide__ = True
    if (
        platform.webhooks.wait_for(
            STATUS_UPDATED, account["id"], where=lambda event: event.id not in known_ids
        )
        is None
    ):
        raise PreconditionFailed(f"no {STATUS_UPDATED} came for {account['id']}")
    _let_changes_arrive(platform)
    expect_no_more(platform, STATUS_UPDATED, account["id"], twin["id"], besides=1)
