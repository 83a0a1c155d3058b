"""Internal accounts and their balances, external accounts and their data."""

from __future__ import annotations

from conformance.client.actor import given, resource, unknown
from conformance.client.http import Answer
from conformance.client.platform import Platform
from conformance.scenarios.marks import Check, requirement
from conformance.verdict.decisions import PreconditionFailed

LONGEST_LABEL = 255


@requirement("ACC-001", "ACC-002", "ACC-003", "ACC-004", "ACC-005", "ACC-006", "ACC-007", "ACC-008")
def test_an_internal_account_has_its_members(platform: Platform, check: Check) -> None:
    """Its balances, how to fund it, and its times."""
    account = platform.account(amount=0)

    with check("ACC-005"):
        given(account, "totalBalance")
    with check("ACC-006"):
        given(account, "fundingPaymentInstructions")
    with check("ACC-007"):
        given(account, "createdAt")
    with check("ACC-008"):
        given(account, "updatedAt")


@requirement("ACC-009")
def test_a_label_is_short_or_null(platform: Platform) -> None:
    """The platform gives it."""
    label = platform.account(amount=0).get("label")

    assert label is None or (isinstance(label, str) and len(label) <= LONGEST_LABEL)


@requirement("ACC-010")
def test_a_customer_is_shown_its_own_accounts_alone(platform: Platform) -> None:
    """Each carries the customer's id."""
    *others, owner = (platform.account(amount=0)["customerId"] for _ in range(3))

    listed = platform.internal_accounts({"id": owner})

    if not listed:
        raise PreconditionFailed(f"{owner} has no internal account")
    owners = {account.get("customerId") for account in listed}
    assert owners == {owner}, f"others exist for {others}"


@requirement("ACC-011")
def test_the_platform_has_accounts_of_its_own(platform: Platform) -> None:
    """Unlike that of other lists, the envelope of theirs is said."""
    answer = platform.client.call("listPlatformInternalAccounts")

    assert answer.accepted, answer


@requirement("ACC-012")
def test_the_total_balance_contains_what_can_be_spent(platform: Platform) -> None:
    """Pending and held funds come on top of it."""
    account = platform.account()

    for listed in platform.internal_accounts({"id": account["customerId"]}):
        assert given(listed, "totalBalance")["amount"] >= listed["balance"]["amount"]


@requirement("ACC-013")
def test_a_deposit_raises_the_balance_by_its_amount(platform: Platform) -> None:
    """All of it can be spent."""
    account = platform.account(amount=0)
    before, _ = platform.balances(account)

    platform.cause(
        "deposit.arrive", accountId=account["id"], amount=20_003, currency=platform.currency
    )

    assert platform.balance_at(account, before + 20_003) == before + 20_003


@requirement("ACC-014")
def test_money_is_neither_made_nor_lost(platform: Platform) -> None:
    """Not by a payout, nor by a transfer to another account, nor by quotes that go nowhere."""
    source, receiver = platform.account(), platform.account(amount=1_000)

    platform.completed(platform.quote(source, amount=12_345))
    *_, transfer = platform.transfer(platform.quote_body(source, receiver, amount=23_457))
    # Not everybody lets customers pay each other.
    if transfer.accepted:
        platform.transaction_in(transfer.body, "COMPLETED")
    platform.create_quote(platform.quote_body(source, receiver, side="RECEIVING", amount=9_999))
    platform.quote(source, amount=9_999)

    # The audit after the test compares the balances with what came and went.


@requirement("EXT-001", "EXT-002", "EXT-003", "EXT-004", "EXT-005", "EXT-006", "EXT-008")
def test_an_external_account_is_created_and_read(platform: Platform, check: Check) -> None:
    """It is answered in the currency and for the customer that it was sent for."""
    customer = platform.customer()
    body = platform.destination_body(customer)

    created = platform.create_external_account(body)

    with check("EXT-005"):
        assert created.accepted, created
        assert created.body.get("currency") == body["currency"]
    account = resource(created)
    read = platform.client.call("getExternalAccount", path={"externalAccountId": account["id"]})
    with check("EXT-006"):
        assert read.accepted, read
        assert read.body.get("id") == account["id"]
    with check("EXT-008"):
        assert account.get("customerId") == customer["id"]


@requirement("EXT-007")
def test_nothing_is_read_by_an_id_that_no_external_account_has(platform: Platform) -> None:
    """The id is one of its form."""
    account = platform.destination(platform.customer())

    def read(identifier: str) -> Answer:
        return platform.client.call("getExternalAccount", path={"externalAccountId": identifier})

    read(unknown(account["id"])).refused(404, twin=read(account["id"]))
