"""Who has no account for a sweep to end at gets no rule-based account; and simulated sweeps."""

from __future__ import annotations

from conformance.platform.given.rule_based_accounts import CURRENCY
from conformance.platform.platform import Platform
from conformance.scenarios.kit.marks import requirement
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing

LABEL = "Rent from tenants"
SETTLED = 20_003
"""The amount of a payment, in the smallest unit."""


@requirement("RBA-800")
def test_an_account_that_could_not_be_provisioned_will_not_do(platform: Platform) -> None:
    """Nothing can land there."""
    pending = platform.internal_accounts.awaited()
    if pending["balance"]["currency"]["code"] != CURRENCY:
        raise ResourceMissing(f"the account that is awaited is not in {CURRENCY}")
    platform.triggers.fire("internal_account.fail", accountId=pending["id"])
    seen = platform.internal_accounts.at_status(pending, "FAILED").get("status")
    if seen != "FAILED":
        raise PreconditionFailed(f"{pending['id']} is {seen} in place of FAILED")
    body = platform.rule_based.body(pending)

    refusal = platform.rule_based.create(body)

    right = platform.rule_based.body(platform.rule_based.holder_account())
    refusal.refused(twin=platform.rule_based.create(right))


@requirement("RBA-804")
def test_a_label_is_a_text(platform: Platform) -> None:
    """Nothing that has members of its own."""
    home = platform.rule_based.holder_account()
    payee = platform.rule_based.sweep_destination(home)
    right = platform.rule_based.body(home, payee, label=LABEL)
    name = next((member for member, value in right.items() if value == LABEL), None)
    if name is None:
        raise ResourceMissing("bindings.rule_based_account of the profile has no label")

    refusal = platform.rule_based.create({**right, name: {"text": LABEL}}, valid=False)

    refusal.refused(twin=platform.rule_based.create(right))


@requirement("RBA-803")
def test_a_simulated_deposit_is_swept(platform: Platform) -> None:
    """As one is that arrives by any other way."""
    account = platform.rule_based.account()
    known = len(platform.webhooks.about(account["id"]))

    answer = platform.internal_accounts.fund(account, SETTLED)

    if not answer.accepted:
        raise PreconditionFailed(f"no deposit is simulated to a rule-based account: {answer}")
    # It may be booked a moment late, and be swept so soon that it never shows.
    platform.until(
        lambda: (
            any(platform.internal_accounts.balances(account))
            or len(platform.webhooks.about(account["id"])) > known
        ),
        bool,
    )
    assert platform.internal_accounts.wait_for_balance(account, 0) == 0
