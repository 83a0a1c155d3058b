"""Transactions: their form, and their life from a quote to the receiver's account."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import pytest

from conformance.platform.platform import Platform
from conformance.platform.resource import Json, require_member
from conformance.profile.resources import Corridor
from conformance.scenarios.kit.marks import Check, requirement
from conformance.scenarios.kit.notation import moment
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing

ALWAYS_THERE = {"TRX-001": "id", "TRX-002": "status", "TRX-003": "type", "TRX-009": "createdAt"}
WHERE_GIVEN = {
    "TRX-004": "direction",
    "TRX-005": "sentAmount",
    "TRX-006": "receivedAmount",
    "TRX-007": "exchangeRate",
    "TRX-008": "settledAt",
    "TRX-010": "description",
    "TRX-011": "quoteId",
}

ON_CHAIN = (
    "base_wallet",
    "polygon_wallet",
    "solana_wallet",
    "tron_wallet",
    "plasma_wallet",
    "arbitrum_wallet",
)

ENDS = ("source", "destination")
SENT = 10_000
"""The sending amount of the quotes of this module, in the smallest unit."""


@requirement(*ALWAYS_THERE, *WHERE_GIVEN)
def test_the_members_of_a_transaction_are_what_the_specification_says(
    platform: Platform, check: Check
) -> None:
    """The form of each is judged in every response; here it is seen to that there is one."""
    quote = platform.quotes.complete(platform.quotes.pending(description="Invoice 2210"))

    transaction = platform.transactions.of_quote(quote)

    for name, member in ALWAYS_THERE.items():
        with check(name):
            assert transaction.get(member), f"a transaction has no {member}: {transaction}"
    for name, member in WHERE_GIVEN.items():
        with check(name):
            require_member(transaction, member)


@requirement("TRX-020", "TRX-021", "TRX-022", "TRX-034")
def test_the_transaction_of_a_new_quote_waits_for_its_execution(
    platform: Platform, check: Check
) -> None:
    """It can be read under the id that the quote names."""
    source = platform.internal_accounts.account()
    quote = platform.quotes.pending(source, description="Invoice 2211")

    listed = platform.until(
        lambda: _by_id(platform.transactions.of_customer(source["customerId"])),
        lambda seen: quote["transactionId"] in seen,
    )

    with check("TRX-020"):
        assert quote["transactionId"] in listed
    with check("TRX-021"):
        assert _listed(listed, quote).get("status") == "PENDING"
    with check("TRX-022"):
        assert _listed(listed, quote).get("quoteId") == quote["id"]
    with check("TRX-034"):
        assert require_member(_listed(listed, quote), "description") == "Invoice 2211"


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
)
@pytest.mark.parametrize("same_currency", [True, False], ids=["same_currency", "cross_currency"])
def test_a_payout_to_a_sound_account_arrives(
    platform: Platform, check: Check, *, same_currency: bool
) -> None:
    """What was sent and received is what the quote fixed."""
    corridor = platform.quotes.corridor(same_currency=same_currency)
    source = platform.internal_accounts.account(corridor.sending)

    quote = platform.quotes.payout(source, account=corridor.account, amount=SENT)

    transaction = platform.transactions.at_status(quote, "COMPLETED")
    with check("TRX-023"):
        assert transaction.get("status") == "COMPLETED"
    with check("TRX-026"):
        assert transaction.get("settledAt")
    with check("TRX-028"):
        assert _at(transaction, "sentAmount", "amount") == quote["totalSendingAmount"]
    with check("TRX-029"):
        assert (
            _at(transaction, "sentAmount", "currency", "code") == quote["sendingCurrency"]["code"]
        )
    with check("TRX-030"):
        assert _at(transaction, "receivedAmount", "amount") == quote["totalReceivingAmount"]
    with check("TRX-031"):
        assert (
            _at(transaction, "receivedAmount", "currency", "code")
            == quote["receivingCurrency"]["code"]
        )
    with check("TRX-032"):
        rate = require_member(transaction, "exchangeRate")
        assert isinstance(rate, int | float)
        assert math.isclose(rate, quote["exchangeRate"], rel_tol=1e-6)
    with check("TRX-033"):
        assert require_member(transaction, "direction") == "DEBIT"
    with check("TRX-057"):
        assert not transaction.get("refund")
    with check("TRX-602"):
        if not corridor.account.endswith("_account"):
            raise ResourceMissing(f"the corridor does not end in a bank: {corridor.account}")
        assert not settled_on_chain(transaction)
    with check("TRX-606"):
        created, settled = (
            require_member(transaction, name) for name in ("createdAt", "settledAt")
        )
        # One of them may be cut to whole seconds.
        assert moment(settled).replace(microsecond=999_999) >= moment(created)
    with check("TRX-605"):
        assert not transaction.get("pendingReason"), transaction


@requirement("TRX-017", "TRX-024", "TRX-025", "TRX-027")
def test_a_payout_that_the_rail_holds_is_in_processing(platform: Platform, check: Check) -> None:
    """A payout that began later has arrived by then; the held one arrives when it is settled."""
    source = platform.internal_accounts.account()
    quote = platform.quotes.payout(source, trigger="payout.hold")
    platform.quotes.complete(platform.quotes.pending(source))

    held = platform.transactions.of_quote(quote)

    with check("TRX-024"):
        assert held.get("status") == "PROCESSING"
    with check("TRX-027"):
        assert not held.get("settledAt")
    with check("TRX-017"):
        assert not held.get("failureReason")

    platform.triggers.fire("payout.release", transactionId=quote["transactionId"])

    with check("TRX-025"):
        assert platform.transactions.at_status(quote, "COMPLETED").get("status") == "COMPLETED"


@requirement("TRX-013", "TRX-060", "TRX-061", "TRX-062", "TRX-601")
def test_a_payout_under_compliance_review_says_what_it_waits_for(
    platform: Platform, check: Check
) -> None:
    """It does not arrive before the review is passed."""
    source = platform.internal_accounts.account()
    quote = platform.quotes.payout(source, trigger="payout.review")
    platform.quotes.complete(platform.quotes.pending(source))

    reviewed = platform.until(
        lambda: platform.transactions.of_quote(quote), lambda seen: bool(seen.get("pendingReason"))
    )

    with check("TRX-060"):
        assert reviewed.get("pendingReason")
    with check("TRX-013"):
        require_member(reviewed, "pendingReason")
    with check("TRX-062"):
        assert reviewed.get("status") != "COMPLETED"

    platform.triggers.fire("payout.release", transactionId=quote["transactionId"])

    passed = platform.transactions.at_status(quote, "COMPLETED")
    with check("TRX-061"):
        assert passed.get("status") == "COMPLETED"
    with check("TRX-601"):
        if passed.get("status") != "COMPLETED":
            raise PreconditionFailed(f"the review was passed, and it is {passed.get('status')}")
        assert not passed.get("pendingReason"), passed


@requirement("TRX-035")
def test_the_transaction_of_an_expired_quote_is_expired(platform: Platform) -> None:
    """Nobody executed the quote in time, so that nothing will come of it."""
    quote = platform.quotes.pending()

    platform.triggers.fire("quote.expire", quoteId=quote["id"], expiresAt=quote["expiresAt"])

    assert platform.transactions.at_status(quote, "EXPIRED").get("status") == "EXPIRED"


@requirement("TRX-037")
def test_a_quote_that_is_executed_at_its_creation_leads_to_a_payout(platform: Platform) -> None:
    """Its transaction is no other than that of a quote that is executed later."""
    quote = platform.quotes.pending(immediatelyExecute=True)

    assert platform.transactions.at_status(quote, "COMPLETED").get("status") == "COMPLETED"


@requirement("TRX-063")
def test_a_transaction_with_a_platform_fee_shows_it(platform: Platform) -> None:
    """The fee is the platform's own, on top of what the service takes."""
    corridor = _from_dollars(platform)
    quote = platform.quotes.payout(
        platform.internal_accounts.account("USD"),
        account=corridor.account,
        amount=SENT,
        platformFeeOverride=platform.profile.bindings.platform_fee_override,
    )
    if not quote.get("platformFeesIncluded"):
        raise ResourceMissing("bindings.platform_fee_override leads to no fee on this corridor")

    transaction = platform.transactions.at_status(quote, "COMPLETED")

    assert transaction.get("platformFees")


@requirement("TRX-064", "TRX-065", "TRX-066")
def test_a_payout_to_a_crypto_wallet_shows_where_it_settled(
    platform: Platform, check: Check
) -> None:
    """The receiver finds the payment on the named network under the hash."""
    corridor = _to_a_wallet(platform)
    source = platform.internal_accounts.account(corridor.sending)

    quote = platform.quotes.payout(source, account=corridor.account, amount=SENT)

    transaction = platform.transactions.at_status(quote, "COMPLETED")
    settled = settled_on_chain(transaction)
    with check("TRX-064"):
        assert settled
    for name, member in {"TRX-065": "transactionHash", "TRX-066": "network"}.items():
        with check(name):
            assert settled
            assert all(isinstance(_at(one, member), str) for one in settled)


@requirement("TRX-604")
@pytest.mark.parametrize("currency", ["USDC", "USDT"])
def test_a_payment_from_a_crypto_wallet_shows_where_it_settled(
    platform: Platform, currency: str
) -> None:
    """Be it at the end that it came from, or at the other one."""
    customer = platform.approved.customer()
    body = platform.quotes.realtime_body(
        customer, currency=currency, lockedCurrencySide="RECEIVING"
    )
    created = platform.api.create_quote(body)
    if not created.accepted:
        raise ResourceMissing(f"nothing can be funded in real time in {currency}: {created}")
    platform.triggers.fire("quote.fund", quoteId=created.body["id"], customerId=customer["id"])

    transaction = platform.transactions.at_status(created.body, "COMPLETED")

    if transaction.get("status") != "COMPLETED":
        raise PreconditionFailed(f"a funded transaction is {transaction.get('status')}")
    found = settled_on_chain(transaction)
    if not found and not all(isinstance(transaction.get(end), Mapping) for end in ENDS):
        raise ResourceMissing("the transaction does not show both of its ends")
    assert found, transaction


def settled_on_chain(transaction: Json) -> list[Any]:
    """Return each ``onChainTransaction`` of a transaction."""
    ends = [_at(transaction, end, "onChainTransaction") for end in ENDS]
    return [end for end in ends if end]


def _by_id(transactions: Iterable[Json]) -> dict[object, Json]:
    return {transaction.get("id"): transaction for transaction in transactions}


def _listed(listed: dict[object, Json], quote: Json) -> Json:
    if quote["transactionId"] not in listed:
        raise PreconditionFailed(f"GET /transactions does not list {quote['transactionId']}")
    return listed[quote["transactionId"]]


def _at(value: Any, *path: str) -> Any:
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _from_dollars(platform: Platform) -> Corridor:
    """Return a corridor from US dollars, the currency that platform fees are for."""
    corridors = platform.quotes.corridors_from("USD")
    # Standing fees are for cross-currency transactions alone, so that one is the surer choice.
    return next((c for c in corridors if c.receiving != "USD"), corridors[0])


def _to_a_wallet(platform: Platform) -> Corridor:
    for corridor in platform.profile.resources.corridors:
        if corridor.account in ON_CHAIN:
            return corridor
    raise ResourceMissing("resources.corridors of the profile has none to a wallet on a chain")
