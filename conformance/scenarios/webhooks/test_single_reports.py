"""Webhooks: what happens once is reported under one id, and what does not happen under none."""

from __future__ import annotations

import pytest

from conformance.platform.given.external_accounts import LEADS_TO
from conformance.platform.platform import Platform
from conformance.platform.resource import Json, Resource
from conformance.scenarios.kit.challenges import wrong
from conformance.scenarios.kit.marks import Check, requirement
from conformance.scenarios.webhooks.reports import (
    BALANCE,
    CHANGED,
    COMPLETED,
    FAILURE,
    FAMILIES,
    PROCESSING,
    REFUND_COMPLETED,
    REFUND_FAILED,
    REFUND_PENDING,
    expect_no_more,
    expect_one_id,
    ids,
    kinds,
    let_reports_arrive,
    needed,
)
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing

OUTGOING = "OUTGOING_PAYMENT."


# --- Once -----------------------------------------------------------------------------------


@requirement("EVT-192", "EVT-193", "EVT-194")
def test_each_step_of_a_failure_is_reported_once(platform: Platform, check: Check) -> None:
    """The failure, the beginning of its refund, and that it arrived."""
    source = platform.internal_accounts.account()
    name = platform.quotes.payout(source, trigger="payout.screen")["transactionId"]
    needed(platform, REFUND_COMPLETED, name)

    let_reports_arrive(platform, source)

    steps = {"EVT-192": FAILURE, "EVT-193": REFUND_PENDING, "EVT-194": REFUND_COMPLETED}
    for requirement_id, kind in steps.items():
        with check(requirement_id):
            expect_one_id(platform, kind, name)


@requirement("EVT-195")
def test_a_refund_that_fails_is_reported_once(platform: Platform) -> None:
    """It ends there."""
    source = platform.internal_accounts.account()
    name = platform.quotes.payout(source, trigger="refund.fail")["transactionId"]
    needed(platform, REFUND_FAILED, name)

    let_reports_arrive(platform, source)

    expect_one_id(platform, REFUND_FAILED, name)


@requirement("EVT-208", "EVT-213")
def test_a_second_execution_is_not_reported(platform: Platform, check: Check) -> None:
    """Whether it is refused or answered as the first one was."""
    source = platform.internal_accounts.account()
    quote = platform.quotes.complete(platform.quotes.pending(source))
    name = quote["transactionId"]
    needed(platform, COMPLETED, name)

    platform.api.execute_quote(quote["id"])
    let_reports_arrive(platform, source)

    with check("EVT-213"):
        for kind in (PROCESSING, COMPLETED):
            assert len(ids(platform, kind, name)) <= 1, f"{kind} was reported once more"
    with check("EVT-208"):
        # Whether it is reported at all that a quote waits is open.
        assert len(ids(platform, f"{OUTGOING}PENDING", name)) <= 1


@pytest.mark.parametrize(
    "business",
    [
        pytest.param(False, marks=requirement("EVT-196"), id="individual"),
        pytest.param(True, marks=requirement("EVT-197"), id="business"),
    ],
)
def test_a_rejection_is_reported_once(platform: Platform, business: bool) -> None:
    """It is final."""
    customer = platform.verification.reviews.submitted(business=business, trigger="customer.reject")
    needed(platform, f"{FAMILIES[business]}REJECTED", customer["id"])

    needed(platform, f"{FAMILIES[False]}PENDING", platform.verification.reviews.submitted()["id"])

    expect_one_id(platform, f"{FAMILIES[business]}REJECTED", customer["id"])


@pytest.mark.parametrize(
    "trigger",
    [
        pytest.param("external_account.review", marks=requirement("EVT-198"), id="review"),
        pytest.param("external_account.disable", marks=requirement("EVT-199"), id="disable"),
        pytest.param("external_account.approve", marks=requirement("EVT-202"), id="approve"),
        pytest.param("ownership.demand", marks=requirement("EVT-200"), id="demand"),
    ],
)
def test_a_change_of_an_external_account_is_reported_once(platform: Platform, trigger: str) -> None:
    """Another account, of another customer, is not changed."""
    unproven = trigger == "ownership.demand"
    name = platform.profile.resources.ownership_account if unproven else None
    waits = trigger == "external_account.approve"
    account, twin = (
        platform.external_accounts.awaiting_verification(owner)
        if waits
        else platform.external_accounts.account(owner, name)
        for owner in (
            platform.external_accounts.account_holder(),
            platform.external_accounts.account_holder(),
        )
    )

    if account.get("status") == LEADS_TO[trigger]:
        raise ResourceMissing(f"the account is {LEADS_TO[trigger]} already")
    _let_changes_arrive(platform)
    known = ids(platform, CHANGED, account["id"])
    platform.triggers.fire(trigger, externalAccountId=account["id"])

    _arrange_one_change(platform, account, twin, known)


@requirement("EVT-201")
def test_a_proof_that_failed_is_reported_once(platform: Platform) -> None:
    """The account is not the customer's."""
    account, twin = (
        platform.ownership.unproven(platform.external_accounts.account_holder()) for _ in range(2)
    )

    _let_changes_arrive(platform)
    known = ids(platform, CHANGED, account["id"])
    platform.ownership.conclude(account, "signature", right=False)

    _arrange_one_change(platform, account, twin, known)


@requirement("EVT-203")
def test_a_deposit_is_reported_once(platform: Platform) -> None:
    """The balance that it makes."""
    account = platform.internal_accounts.account(amount=0)
    known = ids(platform, BALANCE, account["id"])
    platform.internal_accounts.deposit(account, 40_000)
    if (
        platform.webhooks.wait_for(BALANCE, account["id"], where=lambda d: d.id not in known)
        is None
    ):
        raise PreconditionFailed(f"no {BALANCE} came for {account['id']}")

    let_reports_arrive(platform)

    # What is shown of it may differ while it settles.
    told = {
        one.id: str((one.data["balance"]["amount"], (one.data.get("totalBalance") or {})))
        for one in platform.webhooks.about(account["id"])
        if one.type == BALANCE and one.id not in known
    }
    assert len(set(told.values())) == len(told), f"one change was reported as {told}"


@requirement("EVT-204")
def test_a_settled_purchase_is_reported_once(platform: Platform) -> None:
    """Nothing of it is returned."""
    row = platform.cards.settled_purchase(platform.cards.card())
    needed(platform, "CARD_TRANSACTION.SETTLED", row["id"])

    let_reports_arrive(platform)

    expect_one_id(platform, "CARD_TRANSACTION.SETTLED", row["id"])


@requirement("EVT-205")
def test_a_declined_purchase_is_reported_once(platform: Platform) -> None:
    """No money has moved."""
    row = platform.cards.attempt(platform.cards.card(), "purchase.declined")
    needed(platform, "CARD_TRANSACTION.DECLINED", row["id"])

    let_reports_arrive(platform)

    expect_one_id(platform, "CARD_TRANSACTION.DECLINED", row["id"])


@requirement("EVT-206")
def test_a_void_authorization_is_reported_once(platform: Platform) -> None:
    """It was reversed as a whole."""
    card = platform.cards.card()
    row = platform.cards.approved_purchase(card)
    platform.cards.cause(card, row, "card.reverse")
    needed(platform, "CARD_TRANSACTION.VOIDED", row["id"])

    let_reports_arrive(platform)

    expect_one_id(platform, "CARD_TRANSACTION.VOIDED", row["id"])


@requirement("EVT-207")
def test_a_return_on_its_own_is_reported_once(platform: Platform) -> None:
    """That it is settled; other steps of it may be reported too."""
    card = platform.cards.card()
    row = platform.cards.refund(card, platform.cards.settled_purchase(card), 1_000)
    if not platform.cards.deliveries_about(row):
        raise PreconditionFailed(f"no webhook came for {row['id']}")

    let_reports_arrive(platform)

    assert len(ids(platform, "CARD_TRANSACTION.SETTLED", row["id"])) <= 1


# --- Not at all -----------------------------------------------------------------------------


@requirement("EVT-209")
def test_a_refused_quote_is_not_reported(platform: Platform) -> None:
    """It has no transaction that anything could have happened to."""
    source = platform.internal_accounts.account()
    body = platform.quotes.body(source)

    refused = platform.api.create_quote({**body, "lockedCurrencyAmount": -1}, valid=False)

    if refused.accepted:
        raise ResourceMissing(f"a quote of a negative amount is taken: {refused}")
    let_reports_arrive(platform, source)
    told = {str(one.type) for one in platform.webhooks.mentioning(source["id"])}
    assert not [kind for kind in told if kind.startswith(OUTGOING)]


@requirement("EVT-210")
def test_an_execution_without_credentials_is_not_reported(platform: Platform) -> None:
    """Whoever asked for it was not the platform."""
    source = platform.internal_accounts.account()
    quote = platform.quotes.pending(source)

    stranger = platform.api.client.credentials(client_secret="not-the-secret")  # noqa: S106
    answer = platform.api.client.call("executeQuote", path={"quoteId": quote["id"]}, auth=stranger)

    if answer.accepted:
        raise PreconditionFailed(f"wrong credentials are taken: {answer}")
    let_reports_arrive(platform, source)
    _expect_unpaid(platform, quote, PROCESSING, COMPLETED, FAILURE)


@requirement("EVT-211")
def test_a_payout_without_funds_is_not_reported(platform: Platform) -> None:
    """It is refused before anything is paid."""
    source = platform.internal_accounts.account(amount=10_000)
    body = platform.quotes.body(source, amount=platform.internal_accounts.balances(source)[0] + 1)

    created, *rest = platform.quotes.create_and_execute(body)

    if not created.accepted:
        raise ResourceMissing(f"it is refused before there is a transaction: {created}")
    if rest[-1].accepted:
        raise PreconditionFailed(f"more than the balance was sent: {rest[-1]}")
    let_reports_arrive(platform, source)
    _expect_unpaid(platform, created.body, PROCESSING, COMPLETED)


@requirement("EVT-212")
def test_a_wrong_proof_is_not_reported(platform: Platform) -> None:
    """The customer has not agreed."""
    source = platform.sca.account()
    quote = platform.sca.challenged(source=source)

    answer = platform.sca.send_proof(quote, wrong(platform))

    if answer.accepted:
        raise PreconditionFailed(f"a wrong proof is taken: {answer}")
    let_reports_arrive(platform)
    _expect_unpaid(platform, quote, PROCESSING, COMPLETED)


@requirement("EVT-214")
def test_a_refused_deletion_is_not_reported(platform: Platform) -> None:
    """The account is what it was, as another one of which nobody asked it."""
    account, twin = (platform.trust.trusted(platform.trust.customer()) for _ in range(2))

    answer = platform.api.delete_external_account(account["id"])

    if answer.accepted:
        raise PreconditionFailed(f"a trusted beneficiary is deleted: {answer}")
    let_reports_arrive(platform)
    expect_no_more(platform, CHANGED, account["id"], twin["id"])


@requirement("EVT-215")
def test_a_refused_update_is_not_reported(platform: Platform) -> None:
    """Nothing has come of it for the customer's review."""
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
    """A deposit on another account, which is not refused, is."""
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
    told = kinds(platform, quote["transactionId"]).intersection(unwanted)
    assert not told, f"reported by {' and '.join(sorted(told))}"


def _let_changes_arrive(platform: Platform) -> None:
    """Let another account be disabled and reported, and with it most of what came before."""
    account = platform.external_accounts.account(platform.external_accounts.account_holder())
    known = ids(platform, CHANGED, account["id"])
    platform.triggers.fire("external_account.disable", externalAccountId=account["id"])
    if (
        platform.webhooks.wait_for(CHANGED, account["id"], where=lambda d: d.id not in known)
        is None
    ):
        raise PreconditionFailed(f"no {CHANGED} came for {account['id']}")


def _arrange_one_change(
    platform: Platform, account: Resource, twin: Json, known: set[str | None]
) -> None:
    __tracebackhide__ = True
    if (
        platform.webhooks.wait_for(CHANGED, account["id"], where=lambda d: d.id not in known)
        is None
    ):
        raise PreconditionFailed(f"no {CHANGED} came for {account['id']}")
    _let_changes_arrive(platform)
    expect_no_more(platform, CHANGED, account["id"], twin["id"], besides=1)
