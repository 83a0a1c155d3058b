"""Webhooks: what happens once is reported under one id, and what does not happen under none."""

from __future__ import annotations

import pytest

from conformance.client.actor import Json
from conformance.client.external_states import LEADS_TO
from conformance.client.platform import Platform
from conformance.scenarios.challenges import wrong
from conformance.scenarios.marks import Check, requirement
from conformance.scenarios.reports import (
    BALANCE,
    CHANGED,
    COMPLETED,
    FAILURE,
    FAMILIES,
    PROCESSING,
    REFUND_COMPLETED,
    REFUND_FAILED,
    REFUND_PENDING,
    demand_no_more,
    demand_one_id,
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
    source = platform.account()
    name = platform.payout(source, fate="payout.screen")["transactionId"]
    needed(platform, REFUND_COMPLETED, name)

    let_reports_arrive(platform, source)

    steps = {"EVT-192": FAILURE, "EVT-193": REFUND_PENDING, "EVT-194": REFUND_COMPLETED}
    for requirement_id, kind in steps.items():
        with check(requirement_id):
            demand_one_id(platform, kind, name)


@requirement("EVT-195")
def test_a_refund_that_fails_is_reported_once(platform: Platform) -> None:
    """It ends there."""
    source = platform.account()
    name = platform.payout(source, fate="refund.fail")["transactionId"]
    needed(platform, REFUND_FAILED, name)

    let_reports_arrive(platform, source)

    demand_one_id(platform, REFUND_FAILED, name)


@requirement("EVT-208", "EVT-213")
def test_a_second_execution_is_not_reported(platform: Platform, check: Check) -> None:
    """Whether it is refused or answered as the first one was."""
    source = platform.account()
    quote = platform.completed(platform.quote(source))
    name = quote["transactionId"]
    needed(platform, COMPLETED, name)

    platform.execute(quote)
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
    customer = platform.submitted(business=business, fate="customer.reject")
    needed(platform, f"{FAMILIES[business]}REJECTED", customer["id"])

    needed(platform, f"{FAMILIES[False]}PENDING", platform.submitted()["id"])

    demand_one_id(platform, f"{FAMILIES[business]}REJECTED", customer["id"])


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
        platform.waiting(owner) if waits else platform.destination(owner, name)
        for owner in (platform.payer(), platform.payer())
    )

    if account.get("status") == LEADS_TO[trigger]:
        raise ResourceMissing(f"the account is {LEADS_TO[trigger]} already")
    _let_changes_arrive(platform)
    known = ids(platform, CHANGED, account["id"])
    platform.cause(trigger, externalAccountId=account["id"])

    _demand_one_change(platform, account, twin, known)


@requirement("EVT-201")
def test_a_proof_that_failed_is_reported_once(platform: Platform) -> None:
    """The account is not the customer's."""
    account, twin = (platform.unproven(platform.payer()) for _ in range(2))

    _let_changes_arrive(platform)
    known = ids(platform, CHANGED, account["id"])
    platform.conclude(account, "signature", right=False)

    _demand_one_change(platform, account, twin, known)


@requirement("EVT-203")
def test_a_deposit_is_reported_once(platform: Platform) -> None:
    """The balance that it makes."""
    account = platform.account(amount=0)
    known = ids(platform, BALANCE, account["id"])
    platform.deposit(account, 40_000)
    if platform.event(BALANCE, account["id"], where=lambda d: d.id not in known) is None:
        raise PreconditionFailed(f"no {BALANCE} came for {account['id']}")

    let_reports_arrive(platform)

    # What is shown of it may differ while it settles.
    told = {
        one.id: str((one.data["balance"]["amount"], (one.data.get("totalBalance") or {})))
        for one in platform.events(account["id"])
        if one.type == BALANCE and one.id not in known
    }
    assert len(set(told.values())) == len(told), f"one change was reported as {told}"


@requirement("EVT-204")
def test_a_settled_purchase_is_reported_once(platform: Platform) -> None:
    """Nothing of it is returned."""
    row = platform.settled_purchase(platform.card())
    needed(platform, "CARD_TRANSACTION.SETTLED", row["id"])

    let_reports_arrive(platform)

    demand_one_id(platform, "CARD_TRANSACTION.SETTLED", row["id"])


@requirement("EVT-205")
def test_a_declined_purchase_is_reported_once(platform: Platform) -> None:
    """No money has moved."""
    row = platform.attempt(platform.card(), "purchase.declined")
    needed(platform, "CARD_TRANSACTION.DECLINED", row["id"])

    let_reports_arrive(platform)

    demand_one_id(platform, "CARD_TRANSACTION.DECLINED", row["id"])


@requirement("EVT-206")
def test_a_void_authorization_is_reported_once(platform: Platform) -> None:
    """It was reversed as a whole."""
    card = platform.card()
    row = platform.approved_purchase(card)
    platform.happens(card, row, "card.reverse")
    needed(platform, "CARD_TRANSACTION.VOIDED", row["id"])

    let_reports_arrive(platform)

    demand_one_id(platform, "CARD_TRANSACTION.VOIDED", row["id"])


@requirement("EVT-207")
def test_a_return_on_its_own_is_reported_once(platform: Platform) -> None:
    """That it is settled; other steps of it may be reported too."""
    card = platform.card()
    row = platform.give_back(card, platform.settled_purchase(card), 1_000)
    if not platform.told_of(row):
        raise PreconditionFailed(f"no webhook came for {row['id']}")

    let_reports_arrive(platform)

    assert len(ids(platform, "CARD_TRANSACTION.SETTLED", row["id"])) <= 1


# --- Not at all -----------------------------------------------------------------------------


@requirement("EVT-209")
def test_a_refused_quote_is_not_reported(platform: Platform) -> None:
    """It has no transaction that anything could have happened to."""
    source = platform.account()
    body = platform.quote_body(source)

    refused = platform.create_quote({**body, "lockedCurrencyAmount": -1}, valid=False)

    if refused.accepted:
        raise ResourceMissing(f"a quote of a negative amount is taken: {refused}")
    let_reports_arrive(platform, source)
    told = {str(one.type) for one in platform.mentions(source["id"])}
    assert not [kind for kind in told if kind.startswith(OUTGOING)]


@requirement("EVT-210")
def test_an_execution_without_credentials_is_not_reported(platform: Platform) -> None:
    """Whoever asked for it was not the platform."""
    source = platform.account()
    quote = platform.quote(source)

    stranger = platform.client.credentials(client_secret="not-the-secret")  # noqa: S106
    answer = platform.client.call("executeQuote", path={"quoteId": quote["id"]}, auth=stranger)

    if answer.accepted:
        raise PreconditionFailed(f"wrong credentials are taken: {answer}")
    let_reports_arrive(platform, source)
    _demand_unpaid(platform, quote, PROCESSING, COMPLETED, FAILURE)


@requirement("EVT-211")
def test_a_payout_without_funds_is_not_reported(platform: Platform) -> None:
    """It is refused before anything is paid."""
    source = platform.account(amount=10_000)
    body = platform.quote_body(source, amount=platform.balances(source)[0] + 1)

    created, *rest = platform.transfer(body)

    if not created.accepted:
        raise ResourceMissing(f"it is refused before there is a transaction: {created}")
    if rest[-1].accepted:
        raise PreconditionFailed(f"more than the balance was sent: {rest[-1]}")
    let_reports_arrive(platform, source)
    _demand_unpaid(platform, created.body, PROCESSING, COMPLETED)


@requirement("EVT-212")
def test_a_wrong_proof_is_not_reported(platform: Platform) -> None:
    """The customer has not agreed."""
    source = platform.sca_account()
    quote = platform.challenged(source=source)

    answer = platform.authorize(quote, wrong(platform))

    if answer.accepted:
        raise PreconditionFailed(f"a wrong proof is taken: {answer}")
    let_reports_arrive(platform)
    _demand_unpaid(platform, quote, PROCESSING, COMPLETED)


@requirement("EVT-214")
def test_a_refused_deletion_is_not_reported(platform: Platform) -> None:
    """The account is what it was, as another one of which nobody asked it."""
    account, twin = (platform.trusted(platform.truster()) for _ in range(2))

    answer = platform.delete_external_account(account)

    if answer.accepted:
        raise PreconditionFailed(f"a trusted beneficiary is deleted: {answer}")
    let_reports_arrive(platform)
    demand_no_more(platform, CHANGED, account["id"], twin["id"])


@requirement("EVT-215")
def test_a_refused_update_is_not_reported(platform: Platform) -> None:
    """Nothing has come of it for the customer's review."""
    source = platform.account(amount=0)
    twin = platform.account(amount=0)["customerId"]
    customer = {"id": source["customerId"]}

    answer = platform.update_customer(customer, {"birthDate": "yesterday"}, valid=False)

    if answer.accepted:
        raise ResourceMissing(f"any birthDate is taken: {answer}")
    let_reports_arrive(platform, source)
    demand_no_more(platform, "CUSTOMER.KY", customer["id"], twin)


@requirement("EVT-216")
def test_a_refused_deposit_is_not_reported(platform: Platform) -> None:
    """A deposit on another account, which is not refused, is."""
    account, twin = platform.account(amount=0), platform.account(amount=0)

    answer = platform.fund(account, -1)

    if answer.accepted:
        raise ResourceMissing(f"a negative amount is taken: {answer}")
    let_reports_arrive(platform)
    demand_no_more(platform, BALANCE, account["id"], twin["id"])


def _demand_unpaid(platform: Platform, quote: Json, *unwanted: str) -> None:
    __tracebackhide__ = True
    told = kinds(platform, quote["transactionId"]).intersection(unwanted)
    assert not told, f"reported by {' and '.join(sorted(told))}"


def _let_changes_arrive(platform: Platform) -> None:
    """Let another account be disabled and reported, and with it most of what came before."""
    account = platform.destination(platform.payer())
    known = ids(platform, CHANGED, account["id"])
    platform.cause("external_account.disable", externalAccountId=account["id"])
    if platform.event(CHANGED, account["id"], where=lambda d: d.id not in known) is None:
        raise PreconditionFailed(f"no {CHANGED} came for {account['id']}")


def _demand_one_change(
    platform: Platform, account: Json, twin: Json, known: set[str | None]
) -> None:
    __tracebackhide__ = True
    if platform.event(CHANGED, account["id"], where=lambda d: d.id not in known) is None:
        raise PreconditionFailed(f"no {CHANGED} came for {account['id']}")
    _let_changes_arrive(platform)
    demand_no_more(platform, CHANGED, account["id"], twin["id"], besides=1)
