"""Payments to UMA addresses: they are executed, proved and held to the terms as others are."""

from __future__ import annotations

import math

import pytest

from conformance.platform.platform import Platform
from conformance.platform.resource import Json, arranged_resource, require_member
from conformance.scenarios.kit.cases import case
from conformance.scenarios.kit.challenges import WAITING
from conformance.scenarios.kit.marks import SETTLING, Check, requirement
from conformance.scenarios.kit.shapes import expect_members
from conformance.scenarios.quotes.payments import EXPIRED_CODES, TRANSFERRED, expect_uncovered
from conformance.scenarios.quotes.terms import expect_own_fee, expect_same_terms
from conformance.scenarios.quotes.uma import uma_quote
from conformance.scenarios.transactions.records import LISTED
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing

OF_ITS_QUOTE = (
    "TRX-022",
    "TRX-028",
    "TRX-029",
    "TRX-030",
    "TRX-031",
    "TRX-032",
    "TRX-033",
    "TRX-034",
    "TRX-812",
)
"""What a transaction shows of its quote."""


@requirement("QUO-180")
def test_a_payment_to_a_uma_address_asks_for_a_proof(platform: Platform) -> None:
    """The execution of a quote of a customer who needs SCA is answered PENDING_AUTHORIZATION."""
    body = uma_quote(platform, platform.sca.account())
    creation = platform.api.create_quote(body)
    if not creation.accepted:
        raise ResourceMissing(f"a customer of an SCA region cannot pay so: {creation}")

    answer = platform.api.execute_quote(creation.body["id"])

    answer.expect_accepted()
    assert answer.body["status"] == WAITING, answer


@requirement("QUO-130")
def test_a_payment_to_a_uma_address_waits_for_the_terms(platform: Platform) -> None:
    """A quote to a UMA address is refused until the customer's acceptance is recorded."""
    customer = platform.approved.customer(consent=False)
    body = uma_quote(platform, platform.internal_accounts.account(customer=customer))

    before = platform.api.create_quote(body)

    platform.customers.change(customer, endUserTermsConsent=platform.customers.terms_consent())
    after = platform.api.create_quote(body)
    if not after.accepted:
        raise ResourceMissing(f"no quote to a UMA address is created: {after}")
    before.refused("END_USER_TERMS_NOT_ACCEPTED", twin=after)


@requirement("QUO-110")
def test_a_payment_to_a_uma_address_is_not_executed_after_its_expiry(platform: Platform) -> None:
    """The execution of an expired quote to a UMA address is refused, that of a new one is not."""
    body = uma_quote(platform)
    creation = platform.api.create_quote(body)
    if not creation.accepted:
        raise ResourceMissing(f"no quote to a UMA address is created: {creation}")
    quote = arranged_resource(creation)
    platform.triggers.fire("quote.expire", quoteId=quote["id"], expiresAt=quote["expiresAt"])

    refusal = platform.api.execute_quote(quote["id"])

    twin = arranged_resource(platform.api.create_quote(body))
    refusal.refused(400, *EXPIRED_CODES, twin=platform.api.execute_quote(twin["id"]))


@requirement("ERR-001", "QUO-098", "QUO-099")
def test_a_payment_to_a_uma_address_is_covered(platform: Platform, check: Check) -> None:
    """A quote of one smallest unit above the balance pays nobody elsewhere."""
    source = platform.internal_accounts.account(amount=TRANSFERRED)

    expect_uncovered(platform, check, source, uma_quote(platform, source))


@requirement("QUO-161")
def test_a_payment_to_a_uma_address_bears_its_platform_fee(platform: Platform) -> None:
    """A quote from USD to a UMA address shows the fee of its platformFeeOverride."""
    override = platform.profile.bindings.require("platform_fee_override")
    body = {**uma_quote(platform), "platformFeeOverride": override}

    answer = platform.api.create_quote(body)

    expect_own_fee(platform, answer)


@requirement(*LISTED, *OF_ITS_QUOTE)
@pytest.mark.parametrize(
    ("at_once", "settling_id", "debit_id"),
    [
        case(("QUO-080", "QUO-086", "QUO-851"), "executed", False, "QUO-080", "QUO-086"),
        case(("QUO-120", "QUO-122"), "immediate", True, "QUO-120", "QUO-122"),
    ],
)
def test_a_payment_to_a_uma_address_is_executed(
    platform: Platform, check: Check, at_once: bool, settling_id: str, debit_id: str
) -> None:
    """The quote is PROCESSING or COMPLETED after its execution, be that at once, and is debited.

    An execution leaves the terms as they were. The transaction shows what that of another payment
    shows, once it is completed.
    """
    body = {**uma_quote(platform), "description": "Rent, May"}
    source = platform.ledger.accounts[body["source"]["accountId"]]
    before, _ = platform.internal_accounts.balances(source)
    creation = platform.api.create_quote(body)
    if not creation.accepted:
        raise ResourceMissing(f"no quote to a UMA address is created: {creation}")

    if at_once:
        answer = platform.api.create_quote({**body, "immediatelyExecute": True})
    else:
        answer = platform.api.execute_quote(creation.body["id"])

    with check(settling_id):
        answer.expect_accepted()
        assert answer.body["status"] in SETTLING, answer
    with check(debit_id):
        balance_left = before - arranged_resource(answer)["totalSendingAmount"]
        assert platform.internal_accounts.wait_for_balance(source, balance_left) == balance_left
    if not at_once:
        with check("QUO-851"):
            expect_same_terms(arranged_resource(answer), creation.body)
    transaction = platform.transactions.at_status(answer.body, "COMPLETED")
    if transaction.get("status") != "COMPLETED":
        raise PreconditionFailed(f"the payment is {transaction.get('status')}")
    expect_members(check, transaction, LISTED)
    expect_its_quote(check, transaction, arranged_resource(answer))


def expect_its_quote(check: Check, transaction: Json, quote: Json) -> None:
    """Decide whether a completed transaction shows the terms of its quote."""
    for side, total, amount_id, currency_id in (
        ("sent", "Sending", "TRX-028", "TRX-029"),
        ("received", "Receiving", "TRX-030", "TRX-031"),
    ):
        with check(amount_id):
            amount = require_member(transaction, f"{side}Amount")["amount"]
            assert amount == quote[f"total{total}Amount"], transaction
        with check(currency_id):
            code = require_member(transaction, f"{side}Amount")["currency"]["code"]
            assert code == quote[f"{total.lower()}Currency"]["code"], transaction
    with check("TRX-022"):
        assert require_member(transaction, "quoteId") == quote["id"], transaction
    with check("TRX-032"):
        rate = require_member(transaction, "exchangeRate")
        assert math.isclose(rate, quote["exchangeRate"], rel_tol=1e-6), transaction
    with check("TRX-033"):
        assert require_member(transaction, "direction") == "DEBIT"
    with check("TRX-034"):
        assert require_member(transaction, "description") == "Rent, May"
    with check("TRX-812"):
        assert transaction.get("type") == "OUTGOING", transaction
