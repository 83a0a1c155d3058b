"""Rule-based accounts: a holder without a provisioned account, and simulated deposits."""

from __future__ import annotations

from conformance.platform.given.rule_based_accounts import CURRENCY
from conformance.platform.platform import Platform
from conformance.scenarios.kit.marks import requirement
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing

LABEL = "Rent from tenants"
AMOUNT = 20_003
"""The amount of a payment, in the smallest unit."""


@requirement("RBA-800")
def test_an_account_that_could_not_be_provisioned_will_not_do(platform: Platform) -> None:
    """A rule-based account is refused while the holder's internal account is FAILED."""
    pending = platform.internal_accounts.awaited()
    if pending["balance"]["currency"]["code"] != CURRENCY:
        raise ResourceMissing(f"the account that is awaited is not in {CURRENCY}")
    platform.triggers.fire("internal_account.fail", accountId=pending["id"])
    status = platform.internal_accounts.at_status(pending, "FAILED").get("status")
    if status != "FAILED":
        raise PreconditionFailed(f"{pending['id']} is {status} in place of FAILED")
    body = platform.rule_based.body(pending)

    refusal = platform.rule_based.create(body)

    twin_body = platform.rule_based.body(platform.rule_based.holder_account())
    refusal.refused(twin=platform.rule_based.create(twin_body))


@requirement("RBA-804")
def test_a_label_is_a_text(platform: Platform) -> None:
    """A rule-based account whose label is an object is refused."""
    holder_account = platform.rule_based.holder_account()
    external_account = platform.rule_based.sweep_destination(holder_account)
    body = platform.rule_based.body(holder_account, external_account, label=LABEL)
    name = next((member for member, value in body.items() if value == LABEL), None)
    if name is None:
        raise ResourceMissing("bindings.rule_based_account of the profile has no label")

    refusal = platform.rule_based.create({**body, name: {"text": LABEL}}, valid=False)

    refusal.refused(twin=platform.rule_based.create(body))


@requirement("RBA-803")
def test_a_simulated_deposit_is_swept(platform: Platform) -> None:
    """A simulated deposit leaves the rule-based account with a balance of 0."""
    account = platform.rule_based.account()
    known_events = len(platform.webhooks.about(account["id"]))

    answer = platform.internal_accounts.fund(account, AMOUNT)

    if not answer.accepted:
        raise PreconditionFailed(f"no deposit is simulated to a rule-based account: {answer}")
    # The deposit may be booked late, or be swept before a balance shows it.
    platform.until(
        lambda: (
            any(platform.internal_accounts.balances(account))
            or len(platform.webhooks.about(account["id"])) > known_events
        ),
        bool,
    )
    assert platform.internal_accounts.wait_for_balance(account, 0) == 0


@requirement("RBA-120")
def test_a_simulated_deposit_whose_sweep_cannot_complete_is_whole(platform: Platform) -> None:
    """As many smallest units as were simulated arrive on the holder's account."""
    holder_account = platform.rule_based.holder_account()
    account = platform.rule_based.account(holder_account)
    before = platform.internal_accounts.balance(holder_account)
    platform.triggers.fire("sweep.fail", accountId=account["id"])

    answer = platform.internal_accounts.fund(account, AMOUNT)

    if not answer.accepted:
        raise PreconditionFailed(f"no deposit is simulated to a rule-based account: {answer}")
    increase = platform.internal_accounts.wait_for_increase(holder_account, before, at_least=AMOUNT)
    assert increase == AMOUNT
