"""Payments of the platform itself, from an account that belongs to no customer."""

from __future__ import annotations

from http import HTTPStatus

from conformance.platform.platform import Platform
from conformance.platform.resource import arranged_body, arranged_resource, require_member
from conformance.scenarios.kit.marks import SETTLING, Check, requirement
from conformance.scenarios.quotes.kinds import MEASUREMENTS, create_quote_alone
from conformance.scenarios.quotes.payments import (
    AMOUNT,
    corridor_from,
    create_platform_external_account,
    fund_platform_account,
)
from conformance.scenarios.webhooks.reports import COMPLETED, expect_event
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing


@requirement("QUO-070", "QUO-120", "QUO-121", "QUO-600", "QUO-601", "TRX-600", "EVT-011")
def test_the_platform_moves_money_for_itself(platform: Platform, check: Check) -> None:
    """A quote from the platform's own account is created and executed, and completes.

    It goes to the account of a customer, or else to one of the platform's own. A webhook reports
    it. Another one is executed as it is created.
    """
    source = fund_platform_account(platform)
    corridor = corridor_from(platform, source)
    receiver = platform.external_accounts.account(platform.approved.customer(), corridor.account)

    body = platform.quotes.body(source, receiver, amount=AMOUNT // 2)
    creation = platform.api.create_quote(body)
    if not creation.accepted:
        platform.observe(f"the platform pays no account of a customer: {creation}")
        own_receiver = create_platform_external_account(platform, corridor.account)
        body = platform.quotes.body(source, own_receiver, amount=AMOUNT // 2)
        creation = platform.api.create_quote(body)

    with check("QUO-600"):
        creation.expect_accepted()
    quote = arranged_resource(creation)
    with check("QUO-070"):
        assert creation.status == HTTPStatus.CREATED, creation
    execution = platform.api.execute_quote(quote["id"])
    with check("QUO-601"):
        execution.expect_accepted()
        assert execution.body["status"] in SETTLING, execution
    with check("TRX-600"):
        arranged_body(execution)
        assert platform.transactions.at_status(quote, "COMPLETED")["status"] == "COMPLETED"
    immediate = platform.api.create_quote({**body, "immediatelyExecute": True})
    with check("QUO-120"):
        immediate.expect_accepted()
        assert immediate.body["status"] in SETTLING, immediate
    with check("QUO-121"):
        arranged_body(immediate)
        assert immediate.status == HTTPStatus.CREATED, immediate
    with check("EVT-011"):
        name = quote["transactionId"]
        expect_event(platform, COMPLETED, name)


@requirement("QUO-601")
def test_the_platform_is_asked_for_no_proof_of_who_is_paid(platform: Platform) -> None:
    """A quote from the platform's account to that of a customer who needs SCA is executed."""
    source = fund_platform_account(platform)
    receiver = platform.external_accounts.account(
        platform.approved.sca_customer(), corridor_from(platform, source).account
    )
    creation = platform.api.create_quote(platform.quotes.body(source, receiver, amount=AMOUNT // 2))
    if not creation.accepted:
        raise ResourceMissing(f"the platform pays no account of such a customer: {creation}")

    execution = platform.api.execute_quote(arranged_body(creation)["id"])

    execution.expect_accepted()
    assert execution.body["status"] in SETTLING, execution


@requirement("QUO-086", "ACC-078")
def test_the_platform_is_debited_by_what_its_quote_says(platform: Platform, check: Check) -> None:
    """The execution of a quote of the platform lowers its balance by the totalSendingAmount.

    Once the payment is COMPLETED, the totalBalance is lower by as much.
    """
    for _ in range(MEASUREMENTS):
        quote, source, before = create_quote_alone(platform)
        _, total_before = platform.internal_accounts.balances(source)
        executed = platform.quotes.execute(quote)
        expected = before - quote["totalSendingAmount"]
        balance = platform.internal_accounts.wait_for_balance(source, expected)
        payment = platform.transactions.at_status({**quote, **executed}, "COMPLETED")
        left = total_before - quote["totalSendingAmount"]
        total = platform.internal_accounts.wait_for_total(source, range(left, left + 1))
        if balance == expected and total == left:
            break

    with check("QUO-086"):
        assert balance == expected
    with check("ACC-078"):
        require_member(platform.internal_accounts.read(source), "totalBalance")
        if payment.get("status") != "COMPLETED":
            raise PreconditionFailed(f"the payment is {payment.get('status')}")
        assert total == left, f"of {total_before} in all {total} is left"


@requirement("ERR-003", "QUO-162")
def test_the_platform_does_not_pay_itself(platform: Platform, check: Check) -> None:
    """A transfer from the platform's account to the same account is refused, and never made."""
    source = fund_platform_account(platform)
    corridor = corridor_from(platform, source)
    receiver = platform.external_accounts.account(platform.approved.customer(), corridor.account)
    to_itself, twin = (
        platform.quotes.create_and_execute(platform.quotes.body(source, to, amount=AMOUNT // 2))
        for to in (source, receiver)
    )

    with check("ERR-003"):
        to_itself[0].refused(400, twin=twin[0])
    with check("QUO-162"):
        last = to_itself[-1]
        assert not last.accepted or last.body["status"] not in SETTLING, last
