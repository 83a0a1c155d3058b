"""Who has no account for a sweep to end at gets no rule-based account; and simulated sweeps."""

from __future__ import annotations

from conformance.client.platform import Platform
from conformance.client.rule_based import CURRENCY
from conformance.scenarios.marks import requirement
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing

LABEL = "Rent from tenants"
SETTLED = 20_003
"""The amount of a payment, in the smallest unit."""


@requirement("RBA-800")
def test_an_account_that_could_not_be_provisioned_will_not_do(platform: Platform) -> None:
    """Nothing can land there."""
    pending = platform.awaited_account()
    if pending["balance"]["currency"]["code"] != CURRENCY:
        raise ResourceMissing(f"the account that is awaited is not in {CURRENCY}")
    platform.cause("internal_account.fail", accountId=pending["id"])
    seen = platform.account_in(pending, "FAILED").get("status")
    if seen != "FAILED":
        raise PreconditionFailed(f"{pending['id']} is {seen} in place of FAILED")
    body = platform.rule_based_body(pending)

    refusal = platform.create_internal_account(body)

    right = platform.rule_based_body(platform.home())
    refusal.refused(twin=platform.create_internal_account(right))


@requirement("RBA-804")
def test_a_label_is_a_text(platform: Platform) -> None:
    """Nothing that has members of its own."""
    home = platform.home()
    payee = platform.payee(home)
    right = platform.rule_based_body(home, payee, label=LABEL)
    name = next((member for member, value in right.items() if value == LABEL), None)
    if name is None:
        raise ResourceMissing("bindings.rule_based_account of the profile has no label")

    refusal = platform.create_internal_account({**right, name: {"text": LABEL}}, valid=False)

    refusal.refused(twin=platform.create_internal_account(right))


@requirement("RBA-803")
def test_a_simulated_deposit_is_swept(platform: Platform) -> None:
    """As one is that arrives by any other way."""
    account = platform.rule_based_account()
    known = len(platform.events(account["id"]))

    answer = platform.fund(account, SETTLED)

    if not answer.accepted:
        raise PreconditionFailed(f"no deposit is simulated to a rule-based account: {answer}")
    # It may be booked a moment late, and be swept so soon that it never shows.
    platform.until(
        lambda: any(platform.balances(account)) or len(platform.events(account["id"])) > known, bool
    )
    assert platform.balance_at(account, 0) == 0
