"""Signatures of embedded wallets: what leaves one is signed by its owner's device."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

import pytest

from conformance.platform.given.embedded_wallets import REQUEST, SIGNATURE, WALLET, Demand
from conformance.platform.platform import Platform
from conformance.platform.resource import Resource, arranged_body
from conformance.platform.waiting import at_once
from conformance.scenarios.cards.holdings import OVER, expect_no_payment
from conformance.scenarios.embedded_wallets.signing import (
    CREATION,
    EXECUTION,
    WAYS,
    Payment,
    funded_wallet,
    moving,
    payment,
    whole,
)
from conformance.scenarios.kit.marks import SETTLING, Check, requirement
from conformance.scenarios.webhooks.reports import BALANCE, COMPLETED
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing

Headers = Mapping[str, str]

MALFORMED = "WALLET_SIGNATURE_MALFORMED"
MISMATCH = "WALLET_SIGNATURE_BODY_MISMATCH"
INVALID = "WALLET_SIGNATURE_INVALID"
NOT_FOUND = "REQUEST_NOT_FOUND"
BAD = (MALFORMED, MISMATCH, INVALID, "INVALID_SIGNATURE")
"""What a wrong signature may be called: which of them it is depends on how it is looked at."""


# --- A signed retry -------------------------------------------------------------------------


@requirement("EMW-020", "EMW-021", "EMW-022", "EMW-023")
def test_a_signed_retry_executes_the_quote(platform: Platform, check: Check) -> None:
    """The transaction of the quote carries the money, and it leaves the wallet."""
    wallet = funded_wallet(platform)
    before, _ = platform.internal_accounts.balances(wallet)
    payout = payment(platform, wallet)

    answer = payout.pay()

    quote = payout.quote or {}
    with check("EMW-020"):
        assert answer.accepted, answer
        assert answer.body["status"] in SETTLING, answer
    with check("EMW-021"):
        assert answer.accepted, answer
        assert answer.body["transactionId"] == quote["transactionId"], answer
    with check("EMW-022"):
        left = before - quote["totalSendingAmount"]
        assert platform.internal_accounts.wait_for_balance(wallet, left) == left
    with check("EMW-023"):
        assert platform.transactions.at_status(quote, *OVER)["status"] == "COMPLETED"


@requirement("EMW-030", "EMW-031", "EMW-032")
def test_a_signed_retry_creates_and_executes_a_quote(platform: Platform, check: Check) -> None:
    """Where it is created with immediatelyExecute."""
    wallet = funded_wallet(platform)
    before, _ = platform.internal_accounts.balances(wallet)
    payout = payment(platform, wallet, CREATION)

    answer = payout.pay()

    with check("EMW-030"):
        assert answer.accepted, answer
        assert answer.body["status"] in SETTLING, answer
    with check("EMW-031"):
        left = before - answer.body["totalSendingAmount"]
        assert platform.internal_accounts.wait_for_balance(wallet, left) == left
    with check("EMW-032"):
        assert platform.transactions.at_status(answer.body, *OVER)["status"] == "COMPLETED"


@requirement("EMW-024", "EMW-025")
def test_a_signed_payment_is_reported(platform: Platform, check: Check) -> None:
    """By the events of its transaction and of the wallet's balance."""
    wallet = funded_wallet(platform)
    before, _ = platform.internal_accounts.balances(wallet)
    payout = payment(platform, wallet)

    answer = payout.pay()

    paid = arranged_body(answer)
    left = before - paid["totalSendingAmount"]
    with check("EMW-024"):
        assert platform.webhooks.wait_for(COMPLETED, paid["transactionId"]) is not None
    with check("EMW-025"):
        assert platform.webhooks.wait_for(
            BALANCE,
            wallet["id"],
            where=lambda event: event.data["balance"]["amount"] == left,
        ), f"no {BALANCE} for {wallet['id']} shows {left}"


# --- Without a signature --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("way", "untouched", "unpaid"),
    [
        pytest.param(EXECUTION, "EMW-040", "EMW-041", marks=requirement("EMW-040", "EMW-041")),
        pytest.param(CREATION, "EMW-070", "EMW-071", marks=requirement("EMW-070", "EMW-071")),
    ],
    ids=WAYS,
)
def test_nothing_leaves_a_wallet_unsigned(
    platform: Platform, check: Check, way: str, untouched: str, unpaid: str
) -> None:
    """A request that nobody signed is refused, or answered with what has to be signed."""
    wallet = funded_wallet(platform)
    _, before = platform.internal_accounts.balances(wallet)
    payout = payment(platform, wallet, way)

    answer = payout.send()

    with check(untouched):
        expect_untouched(platform, wallet, before)
    with check(unpaid):
        if answer.accepted:
            assert answer.body.get("status") not in SETTLING, answer
    platform.observe(f"an unsigned {way} is answered with {answer.status}")


@requirement("EMW-106")
def test_no_deprecated_transfer_leaves_a_wallet_unsigned(platform: Platform) -> None:
    """They are outbound transfers as well."""
    wallet = funded_wallet(platform)
    _, before = platform.internal_accounts.balances(wallet)
    payout = payment(platform, wallet)

    answer = platform.transfers.send_out(
        wallet, {"id": payout.body["destination"]["accountId"]}, whole(wallet)
    )

    expect_untouched(platform, wallet, before)
    platform.observe(f"a transfer out of an embedded wallet is answered with {answer.status}")


@requirement("EMW-013")
def test_what_leaves_another_account_is_not_signed(platform: Platform) -> None:
    """Its payments are executed without being asked for a signature."""
    source = platform.internal_accounts.account()
    if source["type"] == WALLET:
        raise ResourceMissing("customers hold the usual currency in embedded wallets")
    quote = platform.quotes.pending(source)

    answer = platform.api.execute_quote(quote["id"])

    assert answer.accepted, answer
    assert not platform.wallets.asks_again(answer), answer


# --- With a wrong signature -----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with a signed retry.

    ``headers`` are those of the retry of the first payment, which the demand is about; ``second``
    is another one out of the same wallet. ``codes`` are those of which one has to come, ``fitting``
    those that fit best. ``ids`` are by the way of the payment the rules that nothing moves, that it
    is refused, and that one of the fitting codes says why.
    """

    headers: Callable[[Payment, Demand, Payment], Headers]
    codes: tuple[str, ...]
    ids: Mapping[str, tuple[str, ...]]
    fitting: tuple[str, ...] = ()
    statuses: tuple[int, ...] = (401,)


def ids(execution: int, creation: int, count: int) -> dict[str, tuple[str, ...]]:
    """Return ``count`` ids of rules from a number on, by the way of the payment."""
    first = dict(zip(WAYS, (execution, creation), strict=True))
    return {
        way: tuple(f"EMW-{number:03d}" for number in range(start, start + count))
        for way, start in first.items()
    }


def signature(payout: Payment, demand: Demand) -> str:
    """Return the right signature."""
    return payout.platform.wallets.sign(payout.wallet, demand)


def without(header: str, payout: Payment, demand: Demand, _second: Payment) -> Headers:
    """Leave one of the two headers out."""
    signed = demand.signed(signature(payout, demand))
    return {name: value for name, value in signed.items() if name != header}


def malformed(payout: Payment, demand: Demand, _second: Payment) -> Headers:
    """Send a text that no signature is written like."""
    return demand.signed(payout.platform.profile.bindings.wallet_malformed_signature)


def empty(_payout: Payment, demand: Demand, _second: Payment) -> Headers:
    """Send no text as the signature."""
    return demand.signed("")


def cut_off(payout: Payment, demand: Demand, _second: Payment) -> Headers:
    """Send the first half of the right signature."""
    right = signature(payout, demand)
    return demand.signed(right[: len(right) // 2])


def forged(payout: Payment, demand: Demand, _second: Payment) -> Headers:
    """Let a key sign that is nobody's."""
    return demand.signed(payout.platform.wallets.forge(payout.wallet, demand))


def of_another_owner(payout: Payment, demand: Demand, _second: Payment) -> Headers:
    """Let the device of another wallet's owner sign."""
    platform = payout.platform
    return demand.signed(platform.wallets.sign(platform.wallets.wallet(), demand))


def of_another_text(payout: Payment, demand: Demand, _second: Payment) -> Headers:
    """Let the right device sign something else."""
    payload = f"{demand.payload} " if isinstance(demand.payload, str) else [demand.payload]
    other = replace(demand, payload=payload, body=f"{demand.body} ")
    return demand.signed(payout.platform.wallets.sign(payout.wallet, other))


def of_another_payment(_payout: Payment, demand: Demand, second: Payment) -> Headers:
    """Send what signs the second payment."""
    other = second.demand()
    if replace(other, request=demand.request) == demand:
        raise ResourceMissing("what is signed is the same for two payments")
    return other.signed(signature(second, other))


FAULTS = {
    "no signature": Fault(
        partial(without, SIGNATURE), ("WALLET_SIGNATURE_MISSING",), ids(42, 72, 2)
    ),
    "no request id": Fault(partial(without, REQUEST), ("REQUEST_ID_MISSING",), ids(44, 74, 2)),
    "malformed": Fault(malformed, BAD, ids(46, 76, 3), (MALFORMED,)),
    "empty": Fault(empty, ("WALLET_SIGNATURE_MISSING", *BAD), ids(49, 79, 2)),
    "cut off": Fault(cut_off, BAD, ids(51, 81, 2)),
    "forged": Fault(forged, BAD, ids(53, 83, 3), (INVALID,)),
    "another owner": Fault(of_another_owner, BAD, ids(56, 86, 3), (INVALID,)),
    "another text": Fault(of_another_text, BAD, ids(59, 89, 3), (INVALID, MISMATCH)),
    "another payment": Fault(
        of_another_payment,
        # Whoever looks for the request first does not find it.
        (*BAD, NOT_FOUND),
        ids(62, 92, 3),
        (MISMATCH, INVALID),
        (401, 404),
    ),
}


@pytest.mark.parametrize(
    ("fault", "way"),
    [
        pytest.param(fault, way, id=f"{name}-{way}", marks=requirement(*fault.ids[way]))
        for name, fault in FAULTS.items()
        for way in WAYS
    ],
)
def test_a_retry_has_to_be_signed_rightly(
    platform: Platform, check: Check, fault: Fault, way: str
) -> None:
    """Another payment out of the same wallet, with its right signature, is made."""
    wallet = funded_wallet(platform)
    _, before = platform.internal_accounts.balances(wallet)
    first = payment(platform, wallet, way)
    second = first.of(whole(wallet))
    headers = fault.headers(first, first.demand(), second)

    answer = first.send(headers)

    untouched, refused, *fitting = fault.ids[way]
    with check(untouched):
        expect_untouched(platform, wallet, before)
    if not headers.get(SIGNATURE) and platform.wallets.asks_again(answer):
        raise ResourceMissing("a request without a signature is answered with what is to be signed")
    twin = second.pay()
    with check(refused):
        answer.refused(*fault.statuses, *fault.codes, twin=twin)
    for name in fitting:
        with check(name):
            if answer.code == NOT_FOUND and NOT_FOUND in fault.codes:
                raise ResourceMissing("a request that is not found is not compared")
            answer.refused(401, *fault.fitting, twin=twin)


@pytest.mark.parametrize(
    ("member", "rules"),
    [
        pytest.param(member, rules, id=name, marks=requirement(*rules))
        for name, member, rules in (
            ("amount", "lockedCurrencyAmount", ("EMW-095", "EMW-096", "EMW-097")),
            ("destination", "destination", ("EMW-098", "EMW-099", "EMW-100")),
        )
    ],
)
def test_what_is_signed_cannot_be_changed(
    platform: Platform, check: Check, member: str, rules: tuple[str, str, str]
) -> None:
    """The signature is for the body that was sent before."""
    untouched, refused, fitting = rules
    wallet = funded_wallet(platform)
    _, before = platform.internal_accounts.balances(wallet)
    first, second = (payment(platform, wallet, CREATION) for _ in range(2))
    other = second.of(whole(wallet)).body
    changed = Payment(platform, wallet, {**first.body, member: other[member]})

    answer = changed.send(first.headers())

    with check(untouched):
        expect_untouched(platform, wallet, before)
    twin = changed.pay()
    with check(refused):
        answer.refused(401, *BAD, twin=twin)
    with check(fitting):
        answer.refused(401, MISMATCH, twin=twin)


# --- A signature moves money once -----------------------------------------------------------


@requirement("EMW-101")
def test_a_signature_executes_a_quote_once(platform: Platform) -> None:
    """Its repetition, whatever the answer, takes nothing more."""
    wallet = funded_wallet(platform)
    before, _ = platform.internal_accounts.balances(wallet)
    payout = payment(platform, wallet)
    headers = payout.headers()
    paid = arranged_body(payout.send(headers))

    again = payout.send(headers)

    platform.transactions.at_status(paid, *OVER)
    left = before - paid["totalSendingAmount"]
    assert platform.internal_accounts.wait_for_balance(wallet, left) == left
    platform.observe(f"a signed execution that is repeated is answered with {again.status}")


@requirement("EMW-102")
def test_a_signature_creates_a_quote_once(platform: Platform) -> None:
    """Its repetition, whatever the answer, takes nothing more."""
    wallet = funded_wallet(platform)
    before, _ = platform.internal_accounts.balances(wallet)
    payout = payment(platform, wallet, CREATION)
    headers = payout.headers()
    paid = arranged_body(payout.send(headers))

    again = payout.send(headers)

    platform.transactions.at_status(paid, *OVER)
    left = before - paid["totalSendingAmount"]
    assert platform.internal_accounts.wait_for_balance(wallet, left) == left
    assert len(moving(platform, wallet)) == 1
    platform.observe(f"a signed creation that is repeated is answered with {again.status}")


@requirement("EMW-103")
def test_one_of_many_signed_executions_at_once_debits(platform: Platform) -> None:
    """All of them carry the one signature."""
    wallet = funded_wallet(platform)
    before, _ = platform.internal_accounts.balances(wallet)
    payout = payment(platform, wallet)
    headers = payout.headers()

    answers = at_once(*[partial(payout.send, headers)] * 4)

    if not any(answer.accepted for answer in answers):
        raise PreconditionFailed(f"none of them was accepted: {answers}")
    quote = payout.quote or {}
    platform.transactions.at_status(quote, *OVER)
    left = before - quote["totalSendingAmount"]
    assert platform.internal_accounts.wait_for_balance(wallet, left) == left


# --- A signature is not enough --------------------------------------------------------------


@requirement("EMW-104")
def test_a_signature_does_not_pay_more_than_the_wallet_holds(platform: Platform) -> None:
    """Such a payment is refused at one of its steps."""
    wallet = funded_wallet(platform)
    held, before = platform.internal_accounts.balances(wallet)
    small = payment(platform, wallet, CREATION, amount=whole(wallet))
    large = small.of(2 * held)

    unsigned = large.send()
    signed = unsigned
    if unsigned.code != "INSUFFICIENT_FUNDS":
        demand = platform.wallets.demand(unsigned)
        signed = large.send(demand.signed(signature(large, demand)))

    total = platform.internal_accounts.balances(wallet)[1]
    assert total == before, f"totalBalance went from {before} to {total}"
    signed.refused(400, "INSUFFICIENT_FUNDS", twin=small.pay())


@requirement("EMW-105")
def test_a_signature_does_not_pay_from_a_frozen_wallet(platform: Platform) -> None:
    """Payments are blocked while it is frozen, whoever has signed them."""
    wallet = funded_wallet(platform)
    payout = payment(platform, wallet)
    headers = payout.headers()
    platform.internal_accounts.stop(wallet, "FROZEN")

    answer = payout.send(headers)

    twin = payment(platform, funded_wallet(platform)).pay()
    expect_no_payment(platform, [answer], [twin])


@requirement("EMW-107")
def test_a_signature_does_not_execute_an_expired_quote(platform: Platform) -> None:
    """It is refused as an expired quote of any other account."""
    wallet = funded_wallet(platform)
    expired = payment(platform, wallet)
    good = expired.of(whole(wallet))
    headers = expired.headers()
    quote = expired.quote or {}
    platform.triggers.fire("quote.expire", quoteId=quote["id"], expiresAt=quote["expiresAt"])

    answer = expired.send(headers)

    answer.refused(400, 409, "QUOTE_EXPIRED", "QUOTE_RATE_UNAVAILABLE", twin=good.pay())


def expect_untouched(platform: Platform, wallet: Resource, before: int) -> None:
    """Assert that a wallet holds what it held before, and that no payment of it is under way.

    What a payment takes may be kept back before it is signed, so that only totalBalance counts.
    """
    __tracebackhide__ = True
    _, total = platform.internal_accounts.balances(wallet)
    assert total == before, f"totalBalance went from {before} to {total}"
    assert not moving(platform, wallet), f"payments of {wallet['id']} are under way"
