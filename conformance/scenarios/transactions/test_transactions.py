"""Transactions: their members, and their statuses from a quote to the receiver's account."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import pytest

from conformance.platform.platform import Platform
from conformance.platform.resource import Json, Resource, arranged_resource, require_member
from conformance.profile.resources import Corridor
from conformance.scenarios.kit.marks import Check, requirement
from conformance.scenarios.kit.shapes import expect_members
from conformance.scenarios.quotes.kinds import Kind, create_payer, pay, quote_body
from conformance.scenarios.transactions.records import (
    DESCRIBED,
    ENDS,
    ON_CHAIN,
    expect_settled_by_now,
    on_chain_transactions,
)
from conformance.scenarios.webhooks.reports import COMPLETED
from conformance.testdata.accounts import account_example
from conformance.text.paths import value_at
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing

ALWAYS_THERE = {"TRX-001": "id", "TRX-002": "status", "TRX-003": "type"}
WHERE_GIVEN = {
    "TRX-004": "direction",
    "TRX-005": "sentAmount",
    "TRX-006": "receivedAmount",
    "TRX-007": "exchangeRate",
    "TRX-008": "settledAt",
    "TRX-009": "createdAt",
    "TRX-010": "description",
    "TRX-011": "quoteId",
}


SENT = 10_000
"""The sending amount of the quotes of this module, in the smallest unit."""


@requirement(*ALWAYS_THERE, *WHERE_GIVEN, *DESCRIBED)
def test_the_members_of_a_transaction_are_what_the_specification_says(
    platform: Platform, check: Check
) -> None:
    """A transaction has its required members; other members are checked where they are given.

    The judge checks the form of each member in every response.
    """
    quote = platform.quotes.complete(platform.quotes.pending(description="Invoice 2210"))

    transaction = platform.transactions.of_quote(quote)

    for requirement_id, member in ALWAYS_THERE.items():
        with check(requirement_id):
            assert transaction.get(member), f"a transaction has no {member}: {transaction}"
    for requirement_id, member in WHERE_GIVEN.items():
        with check(requirement_id):
            require_member(transaction, member)
    expect_members(check, transaction, DESCRIBED)


@requirement("TRX-020", "TRX-021", "TRX-022", "TRX-034")
def test_the_transaction_of_a_new_quote_waits_for_its_execution(
    platform: Platform, check: Check
) -> None:
    """The list has a new quote's transaction at PENDING, with its quoteId and description.

    The text for the receiver is another one.
    """
    source = platform.internal_accounts.account()
    quote = platform.quotes.pending(
        source, description="Invoice 2211", remittanceInformation="Order 1742"
    )

    rows = platform.until(
        lambda: _by_id(platform.transactions.of_customer(source["customerId"])),
        lambda listed_rows: quote["transactionId"] in listed_rows,
    )

    with check("TRX-020"):
        assert quote["transactionId"] in rows
    with check("TRX-021"):
        assert _arrange_listed(rows, quote).get("status") == "PENDING"
    with check("TRX-022"):
        assert require_member(_arrange_listed(rows, quote), "quoteId") == quote["id"]
    with check("TRX-034"):
        assert require_member(_arrange_listed(rows, quote), "description") == "Invoice 2211"


@requirement(
    "TRX-023",
    "TRX-026",
    "TRX-028",
    "TRX-029",
    "TRX-030",
    "TRX-031",
    "TRX-032",
    "TRX-033",
    "TRX-057",
    "TRX-602",
    "TRX-605",
    "TRX-606",
    "TRX-812",
)
@pytest.mark.parametrize("same_currency", [True, False], ids=["same_currency", "cross_currency"])
def test_a_payout_to_a_sound_account_arrives(
    platform: Platform, check: Check, *, same_currency: bool
) -> None:
    """A transaction comes to COMPLETED, with the amounts, currencies and rate of its quote."""
    corridor = platform.quotes.corridor(same_currency=same_currency)
    source = platform.internal_accounts.account(corridor.sending)

    quote = platform.quotes.payout(source, account=corridor.account, amount=SENT)

    transaction = platform.transactions.at_status(quote, "COMPLETED")
    with check("TRX-023"):
        assert transaction.get("status") == "COMPLETED"
    with check("TRX-026"):
        assert transaction.get("settledAt")
    with check("TRX-028"):
        sent = require_member(transaction, "sentAmount")
        assert sent["amount"] == quote["totalSendingAmount"]
    with check("TRX-029"):
        sent = require_member(transaction, "sentAmount")
        assert sent["currency"]["code"] == quote["sendingCurrency"]["code"]
    with check("TRX-030"):
        received = require_member(transaction, "receivedAmount")
        assert received["amount"] == quote["totalReceivingAmount"]
    with check("TRX-031"):
        received = require_member(transaction, "receivedAmount")
        assert received["currency"]["code"] == quote["receivingCurrency"]["code"]
    with check("TRX-032"):
        rate = require_member(transaction, "exchangeRate")
        assert isinstance(rate, int | float)
        assert math.isclose(rate, quote["exchangeRate"], rel_tol=1e-6)
    with check("TRX-033"):
        assert require_member(transaction, "direction") == "DEBIT"
    with check("TRX-812"):
        assert transaction.get("type") == "OUTGOING"
    with check("TRX-057"):
        assert not transaction.get("refund")
    with check("TRX-602"):
        if not corridor.account.endswith("_account"):
            raise ResourceMissing(f"the corridor does not end in a bank: {corridor.account}")
        assert not on_chain_transactions(transaction)
    with check("TRX-606"):
        expect_settled_by_now(transaction)
    with check("TRX-605"):
        assert not transaction.get("pendingReason"), transaction


@requirement("QUO-036", "QUO-086", "TRX-028", "TRX-029", "TRX-030", "TRX-031")
def test_a_payout_in_each_currency_is_what_its_quote_says(platform: Platform, check: Check) -> None:
    """In each currency a payout debits, and shows, the amounts of its quote, with its decimals."""
    corridors = corridors_in_each_currency(platform)
    paid = 0
    for corridor in corridors:
        source, destination = platform.quotes.ends(corridor)
        before, _ = platform.internal_accounts.balances(source)
        creation = platform.api.create_quote(
            platform.quotes.body(source, destination, amount=SENT + 7)
        )
        if not creation.accepted:
            platform.observe(f"{SENT + 7} {corridor.sending} are not quoted: {creation}")
            continue
        quote = platform.quotes.execute(arranged_resource(creation, source.owner))
        with check("QUO-036"):
            expect_currency(quote["sendingCurrency"], source["balance"]["currency"])
            expect_own_name(quote["sendingCurrency"], quote["receivingCurrency"])
        with check("QUO-086"):
            balance_left = before - quote["totalSendingAmount"]
            assert platform.internal_accounts.wait_for_balance(source, balance_left) == balance_left

        transaction = platform.transactions.at_status(quote, "COMPLETED")

        if transaction.get("status") != "COMPLETED":
            # Which accounts are paid is for other tests to see.
            platform.observe(f"a payout in {corridor.receiving} does not complete")
            continue
        paid += 1
        for side, total, amount_id, currency_id in (
            ("sent", "Sending", "TRX-028", "TRX-029"),
            ("received", "Receiving", "TRX-030", "TRX-031"),
        ):
            with check(amount_id):
                shown = require_member(transaction, f"{side}Amount")
                assert shown["amount"] == quote[f"total{total}Amount"], transaction
            with check(currency_id):
                shown = require_member(transaction, f"{side}Amount")
                expect_currency(shown["currency"], quote[f"{total.lower()}Currency"])
                for other in (quote["sendingCurrency"], quote["receivingCurrency"]):
                    expect_own_name(shown["currency"], other)
    if not paid:
        raise ResourceMissing(f"in none of {len(corridors)} corridors {SENT + 7} arrive")


@requirement("TRX-017", "TRX-024", "TRX-025", "TRX-027", "EVT-011")
def test_a_payout_that_the_rail_holds_is_in_processing(platform: Platform, check: Check) -> None:
    """A held payout is PROCESSING without settledAt, and COMPLETED once the rail settles it.

    A later payout completes first.
    """
    source = platform.internal_accounts.account()
    quote = platform.quotes.payout(source, trigger="payout.hold")
    platform.quotes.complete(platform.quotes.pending(source))

    held_transaction = platform.transactions.of_quote(quote)

    with check("TRX-024"):
        assert held_transaction.get("status") == "PROCESSING"
    with check("TRX-027"):
        assert not held_transaction.get("settledAt")
    with check("TRX-017"):
        assert not held_transaction.get("failureReason")

    platform.triggers.fire("payout.release", transactionId=quote["transactionId"])

    with check("TRX-025"):
        assert platform.transactions.at_status(quote, "COMPLETED").get("status") == "COMPLETED"
    with check("EVT-011"):
        _expect_completion_reported(platform, quote)


@requirement("TRX-013", "TRX-060", "TRX-061", "TRX-062", "TRX-601", "EVT-011")
def test_a_payout_under_compliance_review_says_what_it_waits_for(
    platform: Platform, check: Check
) -> None:
    """A payout under review has a pendingReason, and completes without one after the review."""
    source = platform.internal_accounts.account()
    quote = platform.quotes.payout(source, trigger="payout.review")
    platform.quotes.complete(platform.quotes.pending(source))

    under_review = platform.until(
        lambda: platform.transactions.of_quote(quote),
        lambda transaction: bool(transaction.get("pendingReason")),
    )

    with check("TRX-060"):
        assert under_review.get("pendingReason")
    with check("TRX-013"):
        require_member(under_review, "pendingReason")
    with check("TRX-062"):
        assert under_review.get("status") != "COMPLETED"

    platform.triggers.fire("payout.release", transactionId=quote["transactionId"])

    after_review = platform.transactions.at_status(quote, "COMPLETED")
    with check("TRX-061"):
        assert after_review.get("status") == "COMPLETED"
    with check("TRX-601"):
        if after_review.get("status") != "COMPLETED":
            raise PreconditionFailed(
                f"the review was passed, and it is {after_review.get('status')}"
            )
        assert not after_review.get("pendingReason"), after_review
    with check("EVT-011"):
        _expect_completion_reported(platform, quote)


def _expect_completion_reported(platform: Platform, quote: Json) -> None:
    """Assert that a webhook reports a payout as completed that was kept waiting."""
    __tracebackhide__ = True
    name = quote["transactionId"]
    report = platform.webhooks.wait_for(COMPLETED, name)
    if report is None and platform.transactions.of_quote(quote).get("status") != "COMPLETED":
        raise PreconditionFailed(f"{name} is not completed")
    assert report is not None, f"no {COMPLETED} for {name}"


@requirement("TRX-810")
def test_a_transaction_that_waits_for_a_proof_says_so(platform: Platform) -> None:
    """The transaction of a quote at PENDING_AUTHORIZATION has a pendingReason."""
    transaction = platform.transactions.of_quote(platform.sca.challenged())

    assert transaction.get("pendingReason"), transaction


@requirement("TRX-035")
@pytest.mark.parametrize("same_currency", [True, False], ids=["one-currency", "two-currencies"])
def test_the_transaction_of_an_expired_quote_is_expired(
    platform: Platform, *, same_currency: bool
) -> None:
    """The transaction of a quote that expires without an execution comes to EXPIRED."""
    corridor = platform.quotes.corridor(same_currency=same_currency)
    quote = platform.quotes.pending(*platform.quotes.ends(corridor))

    platform.triggers.fire("quote.expire", quoteId=quote["id"], expiresAt=quote["expiresAt"])

    assert platform.transactions.at_status(quote, "EXPIRED").get("status") == "EXPIRED"


@requirement("TRX-037")
def test_a_quote_that_is_executed_at_its_creation_leads_to_a_payout(platform: Platform) -> None:
    """The transaction of a quote with immediatelyExecute comes to COMPLETED."""
    quote = platform.quotes.pending(immediatelyExecute=True)

    assert platform.transactions.at_status(quote, "COMPLETED").get("status") == "COMPLETED"


@requirement("TRX-063", "TRX-985")
@pytest.mark.parametrize("at_once", [False, True], ids=["executed", "immediate"])
def test_a_transaction_with_a_platform_fee_shows_it(
    platform: Platform, check: Check, at_once: bool
) -> None:
    """The transaction of a quote with platformFeesIncluded has them as its platformFees."""
    corridor = _corridor_from_dollars(platform)
    source = platform.internal_accounts.account("USD")
    quote = platform.quotes.pending(
        source,
        platform.external_accounts.account(source.owner, corridor.account),
        amount=SENT,
        immediatelyExecute=at_once,
        platformFeeOverride=platform.profile.bindings.require("platform_fee_override"),
    )
    if not at_once:
        platform.quotes.execute(quote)
    if not quote.get("platformFeesIncluded"):
        raise ResourceMissing("bindings.platform_fee_override leads to no fee on this corridor")

    transaction = platform.transactions.at_status(quote, "COMPLETED")

    shown = transaction.get("platformFees")
    amount = shown.get("amount") if isinstance(shown, Mapping) else shown
    with check("TRX-063"):
        assert shown, transaction
        assert amount != 0, transaction
    with check("TRX-985"):
        code = value_at(shown, "currency.code") if isinstance(shown, Mapping) else "USD"
        if not isinstance(amount, int) or code != "USD":
            raise ResourceMissing(f"platformFees are shown in a form of their own: {shown}")
        assert amount == quote["platformFeesIncluded"], transaction


@requirement("TRX-064", "TRX-065", "TRX-066")
def test_a_payout_to_a_crypto_wallet_shows_where_it_settled(
    platform: Platform, check: Check
) -> None:
    """Completed payouts to wallets, on every corridor to one, have transactionHash and network."""
    for corridor in _corridors_to_wallets(platform):
        source = platform.internal_accounts.account(corridor.sending)

        quote = platform.quotes.payout(source, account=corridor.account)

        transaction = platform.transactions.at_status(quote, "COMPLETED")
        on_chain = on_chain_transactions(transaction)
        with check("TRX-064"):
            assert on_chain, transaction
        for requirement_id, member in {"TRX-065": "transactionHash", "TRX-066": "network"}.items():
            with check(requirement_id):
                assert on_chain, transaction
                assert all(isinstance(value_at(one, member), str) for one in on_chain), transaction


@requirement("TRX-064")
def test_a_payout_that_was_held_shows_where_it_settled(platform: Platform) -> None:
    """A payout to a wallet shows it too where it was held for a while."""
    corridor = _corridors_to_wallets(platform)[0]
    source = platform.internal_accounts.account(corridor.sending)
    quote = platform.quotes.payout(source, account=corridor.account, trigger="payout.hold")
    platform.triggers.fire("payout.release", transactionId=quote["transactionId"])

    transaction = platform.transactions.at_status(quote, "COMPLETED")

    if transaction.get("status") != "COMPLETED":
        raise ResourceMissing(f"the payout is {transaction.get('status')} after its release")
    assert on_chain_transactions(transaction), transaction


@requirement("TRX-064")
@pytest.mark.parametrize("kind", ["business", "immediate", "authorized", "real-time"])
def test_a_payment_of_each_kind_to_a_crypto_wallet_shows_where_it_settled(
    platform: Platform, kind: Kind
) -> None:
    """A completed payment to a wallet does so, whose it was and whatever executed it."""
    usual = platform.profile.currency
    corridors = [one for one in _corridors_to_wallets(platform) if one.sending == usual]
    if not corridors:
        raise ResourceMissing(f"resources.corridors of the profile sends no {usual} to a wallet")
    customer = create_payer(platform, kind)
    wallet = platform.external_accounts.account(customer, corridors[0].account)
    body = quote_body(platform, kind, customer, platform.ownership.proven(wallet))
    quote = arranged_resource(platform.api.create_quote(body), customer)
    pay(platform, kind, quote)

    transaction = platform.transactions.at_status(quote, "COMPLETED")

    if transaction.get("status") != "COMPLETED":
        raise PreconditionFailed(f"the payment is {transaction.get('status')}")
    assert on_chain_transactions(transaction), transaction


@requirement("TRX-819", "TRX-820")
def test_payouts_on_different_chains_show_different_networks(
    platform: Platform, check: Check
) -> None:
    """Payouts to wallets of two chains differ in their network, and in their transactionHash."""
    settled = _settled_by_chain(platform)

    for requirement_id, member in {"TRX-819": "network", "TRX-820": "transactionHash"}.items():
        with check(requirement_id):
            shown: dict[frozenset[str], str] = {}
            for account, on_chain in settled.items():
                values = frozenset(
                    str(value_at(one, member)) for one in on_chain if value_at(one, member)
                )
                assert values not in shown, (
                    f"payouts to {shown[values]} and to {account} both show the {member} "
                    f"{', '.join(sorted(values))}"
                )
                if values:
                    shown[values] = account
            if len(shown) <= 1:
                raise ResourceMissing(f"a {member} is seen of no two chains")


@requirement("TRX-604")
@pytest.mark.parametrize("currency", ["USDC", "USDT"])
def test_a_payment_from_a_crypto_wallet_shows_where_it_settled(
    platform: Platform, currency: str
) -> None:
    """A completed quote that a wallet funded has an onChainTransaction at one of its ends."""
    customer = platform.approved.customer()
    body = platform.quotes.realtime_body(
        customer, currency=currency, lockedCurrencySide="RECEIVING"
    )
    answer = platform.api.create_quote(body)
    if not answer.accepted:
        raise ResourceMissing(f"nothing can be funded in real time in {currency}: {answer}")
    platform.triggers.fire("quote.fund", quoteId=answer.body["id"], customerId=customer["id"])

    transaction = platform.transactions.at_status(answer.body, "COMPLETED")

    if transaction.get("status") != "COMPLETED":
        raise PreconditionFailed(f"a funded transaction is {transaction.get('status')}")
    on_chain = on_chain_transactions(transaction)
    if not on_chain and not all(isinstance(transaction.get(end), Mapping) for end in ENDS):
        raise ResourceMissing("the transaction does not show both of its ends")
    assert on_chain, transaction


def _settled_by_chain(platform: Platform) -> dict[str, list[Any]]:
    """Pay a wallet on each chain that can be paid; return where each payout settled.

    What is not paid is left out, as the profile need not name each chain of a currency.
    """
    sources: dict[str, Resource] = {}
    settled: dict[str, list[Any]] = {}
    for corridor in _corridors_to_each_chain(platform):
        if corridor.sending not in sources:
            sources[corridor.sending] = platform.internal_accounts.account(corridor.sending)
        source = sources[corridor.sending]
        wallet = platform.external_accounts.account(source.owner, corridor.account)
        answer = platform.api.create_quote(platform.quotes.body(source, wallet))
        if not answer.accepted:
            platform.observe(f"{corridor.sending} are not paid to {corridor.account}: {answer}")
            continue
        quote = platform.quotes.execute(arranged_resource(answer))
        transaction = platform.transactions.at_status(quote, "COMPLETED")
        if transaction.get("status") != "COMPLETED":
            platform.observe(f"a payout to {corridor.account} does not complete")
            continue
        settled[corridor.account] = on_chain_transactions(transaction)
    return settled


def _corridors_to_each_chain(platform: Platform) -> list[Corridor]:
    """Return a corridor to each kind of wallet: the profile's, and others in their currencies."""
    named = _corridors_to_wallets(platform)
    found = {corridor.account: corridor for corridor in reversed(named)}
    offered = platform.profile.resources.account_types
    for name in ON_CHAIN:
        example = account_example(name)
        if offered is not None and example.account_type not in offered:
            continue
        for corridor in named:
            if corridor.receiving == example.currency:
                found.setdefault(name, corridor.model_copy(update={"account": name}))
    return list(found.values())


def corridors_in_each_currency(platform: Platform) -> list[Corridor]:
    """Return corridors of the profile in which each of its currencies is sent or received once."""
    found: list[Corridor] = []
    seen: set[str] = set()
    # Those that send a new currency come first, as a source shows more than a destination.
    corridors = platform.profile.resources.corridors
    for corridor in corridors:
        if corridor.sending not in seen:
            found.append(corridor)
            seen.update(corridor.currencies)
    for corridor in corridors:
        if corridor.receiving not in seen:
            found.append(corridor)
            seen.add(corridor.receiving)
    if not found:
        raise ResourceMissing("resources.corridors of the profile is empty")
    return found


def expect_currency(shown: Any, expected: Any) -> None:
    """Assert that a currency object has the code and the decimals of another."""
    __tracebackhide__ = True
    for name in ("code", "decimals"):
        assert value_at(shown, name) == value_at(expected, name), (
            f"{shown} is shown in place of {expected}"
        )


def expect_own_name(shown: Any, other: Any) -> None:
    """Assert that a currency object has not the name of another currency, if it has one."""
    __tracebackhide__ = True
    if value_at(shown, "code") != value_at(other, "code") and value_at(shown, "name") is not None:
        assert value_at(shown, "name") != value_at(other, "name"), (
            f"{shown} has the name of {other}"
        )


def _by_id(transactions: Iterable[Json]) -> dict[object, Json]:
    return {transaction.get("id"): transaction for transaction in transactions}


def _arrange_listed(rows: dict[object, Json], quote: Json) -> Json:
    if quote["transactionId"] not in rows:
        raise PreconditionFailed(f"GET /transactions does not list {quote['transactionId']}")
    return rows[quote["transactionId"]]


def _corridor_from_dollars(platform: Platform) -> Corridor:
    """Return a corridor from USD, the currency of platform fees; a cross-currency one if any."""
    corridors = platform.quotes.corridors_from("USD")
    # Standing fees are for cross-currency transactions alone, so such a corridor is preferred.
    return next((c for c in corridors if c.receiving != "USD"), corridors[0])


def _corridors_to_wallets(platform: Platform) -> list[Corridor]:
    corridors = [one for one in platform.profile.resources.corridors if one.account in ON_CHAIN]
    if not corridors:
        raise ResourceMissing("resources.corridors of the profile has none to a wallet on a chain")
    return corridors
