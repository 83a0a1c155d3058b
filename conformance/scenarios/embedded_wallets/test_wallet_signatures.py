"""Signatures of embedded wallets: the owner's device has to sign each payment out of one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from functools import partial

import pytest

from conformance.exchange.answer import Answer
from conformance.platform.given.embedded_wallets import REQUEST, SIGNATURE, WALLET, Demand
from conformance.platform.given.transactions import included_fees
from conformance.platform.platform import Platform
from conformance.platform.resource import Json, Resource, arranged_body
from conformance.platform.waiting import at_once
from conformance.scenarios.cards.holdings import FINAL_STATUSES, expect_no_payment
from conformance.scenarios.embedded_wallets.signing import (
    CREATION,
    EXECUTION,
    WAYS,
    Payment,
    executed_payments,
    funded_wallet,
    payment,
    whole_unit,
)
from conformance.scenarios.kit.cases import case
from conformance.scenarios.kit.marks import SETTLING, Check, requirement
from conformance.scenarios.quotes.uma import uma_quote
from conformance.scenarios.webhooks.reports import (
    BALANCE,
    COMPLETED,
    event_ids,
    expect_event,
    expect_failure_and_refund,
    expect_processing,
    expect_refund_reported,
)
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing

Headers = Mapping[str, str]

MALFORMED = "WALLET_SIGNATURE_MALFORMED"
MISMATCH = "WALLET_SIGNATURE_BODY_MISMATCH"
INVALID = "WALLET_SIGNATURE_INVALID"
NOT_FOUND = "REQUEST_NOT_FOUND"
WRONG_SIGNATURE = (MALFORMED, MISMATCH, INVALID, "INVALID_SIGNATURE")
"""The codes of a wrong signature: which of them comes depends on how a service checks it."""


# --- A signed retry -------------------------------------------------------------------------


@requirement("EMW-020", "EMW-021", "EMW-022", "EMW-023")
def test_a_signed_retry_executes_the_quote(platform: Platform, check: Check) -> None:
    """A signed execution is accepted, debits the wallet, and its transaction completes."""
    wallet = funded_wallet(platform)
    before, _ = platform.internal_accounts.balances(wallet)
    payout = payment(platform, wallet)

    answer = payout.pay()

    quote = payout.quote or {}
    with check("EMW-020"):
        answer.expect_accepted()
        assert answer.body["status"] in SETTLING, answer
    with check("EMW-021"):
        answer.expect_accepted()
        assert answer.body["transactionId"] == quote["transactionId"], answer
    with check("EMW-022"):
        balance_left = before - quote["totalSendingAmount"]
        assert platform.internal_accounts.wait_for_balance(wallet, balance_left) == balance_left
    with check("EMW-023"):
        assert platform.transactions.at_status(quote, *FINAL_STATUSES)["status"] == "COMPLETED"


@requirement("EMW-030", "EMW-031", "EMW-032")
def test_a_signed_retry_creates_and_executes_a_quote(platform: Platform, check: Check) -> None:
    """A signed creation with immediatelyExecute debits the wallet, and the payment completes."""
    wallet = funded_wallet(platform)
    before, _ = platform.internal_accounts.balances(wallet)
    payout = payment(platform, wallet, CREATION)

    answer = payout.pay()

    with check("EMW-030"):
        answer.expect_accepted()
        assert answer.body["status"] in SETTLING, answer
    with check("EMW-031"):
        balance_left = before - answer.body["totalSendingAmount"]
        assert platform.internal_accounts.wait_for_balance(wallet, balance_left) == balance_left
    with check("EMW-032"):
        assert (
            platform.transactions.at_status(answer.body, *FINAL_STATUSES)["status"] == "COMPLETED"
        )


@requirement("EMW-024", "EMW-025", "EVT-010")
def test_a_signed_payment_is_reported(platform: Platform, check: Check) -> None:
    """Webhooks report the payment as PROCESSING and COMPLETED, and the wallet's balance then."""
    wallet = funded_wallet(platform)
    before, _ = platform.internal_accounts.balances(wallet)
    payout = payment(platform, wallet)

    answer = payout.pay()

    quote = arranged_body(answer)
    balance_left = before - quote["totalSendingAmount"]
    with check("EMW-024"):
        expect_event(platform, COMPLETED, quote["transactionId"])
    with check("EVT-010"):
        expect_processing(platform, quote, quote["status"])
    with check("EMW-025"):
        assert platform.webhooks.wait_for(
            BALANCE,
            wallet["id"],
            where=lambda event: event.data["balance"]["amount"] == balance_left,
        ), f"no {BALANCE} for {wallet['id']} shows {balance_left}"


@requirement("EMW-840", "EVT-012", "EVT-013", "EVT-014", "EVT-055")
def test_what_a_wallet_paid_in_vain_is_back(platform: Platform, check: Check) -> None:
    """After a signed payment has failed, the wallet's balance lacks its fees at most.

    Nobody is asked for a signature of what comes back. All of it is reported.
    """
    wallet = funded_wallet(platform)
    before, _ = platform.internal_accounts.balances(wallet)
    payout = payment(platform, wallet, trigger="payout.screen")
    known_ids = event_ids(platform, BALANCE, wallet["id"])
    quote = {**(payout.quote or {}), **arranged_body(payout.pay())}
    platform.transactions.refunded(quote)

    fees = included_fees(quote)
    with check("EMW-840"):
        balance = platform.internal_accounts.wait_for_refund(wallet, before, fees)
        assert before - fees <= balance <= before
    expect_failure_and_refund(platform, check, quote)
    with check("EVT-055"):
        restored = range(before - fees, before + 1)
        expect_refund_reported(platform, wallet, restored, known_ids)


# --- Without a signature --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("way", "untouched_id", "unpaid_id", "business"),
    [
        case(("EMW-040", "EMW-041"), "execution", EXECUTION, "EMW-040", "EMW-041", False),
        case(("EMW-070", "EMW-071"), "creation", CREATION, "EMW-070", "EMW-071", False),
        case(("EMW-040", "EMW-041"), "business", EXECUTION, "EMW-040", "EMW-041", True),
        case(("EMW-070", "EMW-071"), "at-once", CREATION, "EMW-070", "EMW-071", True),
    ],
)
def test_nothing_leaves_a_wallet_unsigned(
    platform: Platform,
    check: Check,
    way: str,
    untouched_id: str,
    unpaid_id: str,
    *,
    business: bool,
) -> None:
    """An unsigned request is refused, or answered with what has to be signed.

    A business has as little taken from its wallet as an individual.
    """
    wallet = funded_wallet(platform, business=business)
    _, before = platform.internal_accounts.balances(wallet)
    payout = payment(platform, wallet, way)

    answer = payout.send()

    with check(untouched_id):
        expect_untouched(platform, wallet, before)
    with check(unpaid_id):
        expect_unexecuted(answer)
    platform.observe(f"an unsigned {way} is answered with {answer.status}")


unsigned_in_both_ways = pytest.mark.parametrize(
    ("way", "untouched_id", "unpaid_id"),
    [
        case(("EMW-040", "EMW-041"), "execution", EXECUTION, "EMW-040", "EMW-041"),
        case(("EMW-070", "EMW-071"), "creation", CREATION, "EMW-070", "EMW-071"),
    ],
)
"""Run a test with a payment that one request executes, and with one that another executes."""


@unsigned_in_both_ways
def test_a_proof_stands_for_no_signature(
    platform: Platform, check: Check, way: str, untouched_id: str, unpaid_id: str
) -> None:
    """Nothing leaves the wallet of a customer who authorizes an unsigned payment by SCA alone."""
    customer = platform.wallets.holder(sca=True)
    if not platform.wallets.of_customer(customer):
        raise ResourceMissing("customers who authorize payments have no embedded wallet")
    wallet = funded_wallet(platform, customer=customer)
    _, before = platform.internal_accounts.balances(wallet)
    payout = payment(platform, wallet, way)

    answer = payout.send()
    if answer.accepted and answer.body.get("status") == "PENDING_AUTHORIZATION":
        answer = platform.sca.authorize_fully({**(payout.quote or {}), **answer.body})

    with check(untouched_id):
        expect_untouched(platform, wallet, before)
    with check(unpaid_id):
        expect_unexecuted(answer)


@unsigned_in_both_ways
def test_a_signature_is_for_one_payment(
    platform: Platform, check: Check, way: str, untouched_id: str, unpaid_id: str
) -> None:
    """An unsigned payment from a wallet moves nothing after a signed one has moved something."""
    wallet = funded_wallet(platform)
    _, funded = platform.internal_accounts.balances(wallet)
    arranged_body(payment(platform, wallet, way).pay())
    _, before = platform.until(
        lambda: platform.internal_accounts.balances(wallet), lambda found: found[1] < funded
    )
    second = payment(platform, wallet, way, amount=whole_unit(wallet))
    known = executed_payments(platform, wallet)

    answer = second.send()

    with check(untouched_id):
        expect_untouched(platform, wallet, before, known)
    with check(unpaid_id):
        expect_unexecuted(answer)


@requirement("EMW-040", "EMW-041")
@pytest.mark.parametrize("receiver_is_owner", [False, True], ids=["another-customer", "own"])
def test_nothing_leaves_a_wallet_for_an_internal_account_unsigned(
    platform: Platform, check: Check, receiver_is_owner: bool
) -> None:
    """An unsigned payment to another customer, or to an account of the owner, moves nothing."""
    wallet = funded_wallet(platform)
    receiver = (
        platform.internal_accounts.account(amount=0, customer=wallet.owner)
        if receiver_is_owner
        else platform.wallets.wallet()
    )

    expect_unpaid_unsigned(
        platform, check, wallet, platform.quotes.body(wallet, receiver, amount=whole_unit(wallet))
    )


@requirement("EMW-040", "EMW-041")
def test_nothing_leaves_a_wallet_for_a_uma_address_unsigned(
    platform: Platform, check: Check
) -> None:
    """An unsigned payment to the UMA address of a receiver who can be paid moves nothing."""
    wallet = funded_wallet(platform)
    body = {
        **uma_quote(platform, wallet),
        "lockedCurrencySide": "SENDING",
        "lockedCurrencyAmount": whole_unit(wallet),
    }

    expect_unpaid_unsigned(platform, check, wallet, body)


def expect_unpaid_unsigned(platform: Platform, check: Check, wallet: Resource, body: Json) -> None:
    """Assert that the unsigned execution of a quote from a wallet moves nothing.

    Raises:
        ResourceMissing: no such payment is quoted.
    """
    __tracebackhide__ = True
    _, before = platform.internal_accounts.balances(wallet)
    creation = platform.api.create_quote(body)
    if not creation.accepted or "transactionId" not in creation.body:
        raise ResourceMissing(f"no such payment is quoted without a signature: {creation}")

    answer = platform.api.execute_quote(creation.body["id"])

    with check("EMW-040"):
        expect_untouched(platform, wallet, before)
    with check("EMW-041"):
        expect_unexecuted(answer)


def expect_unexecuted(answer: Answer) -> None:
    """Assert that an answer, if it is no refusal, shows no payment that is executed."""
    __tracebackhide__ = True
    if answer.accepted:
        assert answer.body.get("status") not in SETTLING, answer


@requirement("EMW-106")
def test_no_deprecated_transfer_leaves_a_wallet_unsigned(platform: Platform) -> None:
    """An unsigned deprecated transfer out of a wallet moves nothing, however it is answered.

    It goes to an account in the currency of the wallet, if a corridor ends there, as a transfer
    converts nothing.
    """
    wallet = funded_wallet(platform)
    _, before = platform.internal_accounts.balances(wallet)
    corridors = platform.profile.resources.corridors
    names = [c.account for c in corridors if c.receiving == platform.wallets.currency]
    receiver = (
        platform.external_accounts.account(wallet.owner, names[0])["id"]
        if names
        else payment(platform, wallet).body["destination"]["accountId"]
    )

    answer = platform.transfers.send_out(wallet, {"id": receiver}, whole_unit(wallet))

    expect_untouched(platform, wallet, before)
    platform.observe(f"a transfer out of an embedded wallet is answered with {answer.status}")


@requirement("EMW-013")
def test_what_leaves_another_account_is_not_signed(platform: Platform) -> None:
    """A quote from an account that is no wallet is executed without a signature."""
    source = platform.internal_accounts.account()
    if source["type"] == WALLET:
        raise ResourceMissing("customers hold the usual currency in embedded wallets")
    quote = platform.quotes.pending(source)

    answer = platform.api.execute_quote(quote["id"])

    answer.expect_accepted()
    assert not platform.wallets.asks_again(answer), answer


# --- With a wrong signature -----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault of a signed retry.

    ``headers`` returns the headers of the retry, from the first payment, its demand, and a second
    payment out of the same wallet. ``codes`` are the codes of which the refusal has to have one,
    ``fitting`` the codes that fit best. ``ids`` are, by the way of the payment, the requirements
    that nothing moves, that the retry is refused, and, if any, that it has a fitting code.
    """

    headers: Callable[[Payment, Demand, Payment], Headers]
    codes: tuple[str, ...]
    ids: Mapping[str, tuple[str, ...]]
    fitting: tuple[str, ...] = ()
    statuses: tuple[int, ...] = (401,)


def ids(execution: int, creation: int, count: int) -> dict[str, tuple[str, ...]]:
    """Return ``count`` requirement ids from a number on, by the way of the payment."""
    first = dict(zip(WAYS, (execution, creation), strict=True))
    return {
        way: tuple(f"EMW-{number:03d}" for number in range(start, start + count))
        for way, start in first.items()
    }


def signature(payout: Payment, demand: Demand) -> str:
    """Return the right signature of a payment."""
    return payout.platform.wallets.sign(payout.wallet, demand)


def without(header: str, payout: Payment, demand: Demand, _second: Payment) -> Headers:
    """Return the right headers, without one of the two."""
    headers = demand.signed(signature(payout, demand))
    return {name: value for name, value in headers.items() if name != header}


def malformed(payout: Payment, demand: Demand, _second: Payment) -> Headers:
    """Return headers whose signature has no form of a signature."""
    return demand.signed(payout.platform.profile.bindings.wallet_malformed_signature)


def empty(_payout: Payment, demand: Demand, _second: Payment) -> Headers:
    """Return headers with an empty text as the signature."""
    return demand.signed("")


def cut_off(payout: Payment, demand: Demand, _second: Payment) -> Headers:
    """Return headers with the first half of the right signature."""
    full_signature = signature(payout, demand)
    return demand.signed(full_signature[: len(full_signature) // 2])


def forged(payout: Payment, demand: Demand, _second: Payment) -> Headers:
    """Return headers with a signature by a key of nobody."""
    return demand.signed(payout.platform.wallets.forge(payout.wallet, demand))


def of_another_owner(payout: Payment, demand: Demand, _second: Payment) -> Headers:
    """Return headers with a signature by the device of another wallet's owner."""
    platform = payout.platform
    return demand.signed(platform.wallets.sign(platform.wallets.wallet(), demand))


def of_another_text(payout: Payment, demand: Demand, _second: Payment) -> Headers:
    """Return headers with the right device's signature of another text."""
    payload = f"{demand.payload} " if isinstance(demand.payload, str) else [demand.payload]
    other_demand = replace(demand, payload=payload, body=f"{demand.body} ")
    return demand.signed(payout.platform.wallets.sign(payout.wallet, other_demand))


def of_another_payment(_payout: Payment, demand: Demand, second: Payment) -> Headers:
    """Return headers with the right signature of the second payment.

    Raises:
        ResourceMissing: the same text is signed for both payments.
    """
    other_demand = second.demand()
    if replace(other_demand, request=demand.request) == demand:
        raise ResourceMissing("what is signed is the same for two payments")
    return other_demand.signed(signature(second, other_demand))


FAULTS = {
    "no signature": Fault(
        partial(without, SIGNATURE), ("WALLET_SIGNATURE_MISSING",), ids(42, 72, 2)
    ),
    "no request id": Fault(partial(without, REQUEST), ("REQUEST_ID_MISSING",), ids(44, 74, 2)),
    "malformed": Fault(malformed, WRONG_SIGNATURE, ids(46, 76, 3), (MALFORMED,)),
    "empty": Fault(empty, ("WALLET_SIGNATURE_MISSING", *WRONG_SIGNATURE), ids(49, 79, 2)),
    "cut off": Fault(cut_off, WRONG_SIGNATURE, ids(51, 81, 2)),
    "forged": Fault(forged, WRONG_SIGNATURE, ids(53, 83, 3), (INVALID,)),
    "another owner": Fault(of_another_owner, WRONG_SIGNATURE, ids(56, 86, 3), (INVALID,)),
    "another text": Fault(of_another_text, WRONG_SIGNATURE, ids(59, 89, 3), (INVALID, MISMATCH)),
    "another payment": Fault(
        of_another_payment,
        # A service that looks for the request first does not find it.
        (*WRONG_SIGNATURE, NOT_FOUND),
        ids(62, 92, 3),
        (MISMATCH, INVALID),
        (401, 404),
    ),
}


@pytest.mark.parametrize(
    ("fault", "way"),
    [
        case(fault.ids[way], f"{fitting_id}-{way}", fault, way)
        for fitting_id, fault in FAULTS.items()
        for way in WAYS
    ],
)
def test_a_retry_has_to_be_signed_rightly(
    platform: Platform, check: Check, fault: Fault, way: str
) -> None:
    """A retry with a wrong signature is refused and moves nothing.

    Its twin is another payment out of the same wallet with the right signature.
    """
    wallet = funded_wallet(platform)
    _, before = platform.internal_accounts.balances(wallet)
    first = payment(platform, wallet, way)
    second = first.of(whole_unit(wallet))
    headers = fault.headers(first, first.demand(), second)

    answer = first.send(headers)

    untouched_id, refused_id, *fitting_ids = fault.ids[way]
    with check(untouched_id):
        expect_untouched(platform, wallet, before)
    if not headers.get(SIGNATURE) and platform.wallets.asks_again(answer):
        raise ResourceMissing("a request without a signature is answered with what is to be signed")
    twin = second.pay()
    with check(refused_id):
        answer.refused(*fault.statuses, *fault.codes, twin=twin)
    for fitting_id in fitting_ids:
        with check(fitting_id):
            if answer.code == NOT_FOUND and NOT_FOUND in fault.codes:
                raise ResourceMissing("a request that is not found is not compared")
            answer.refused(401, *fault.fitting, twin=twin)


@pytest.mark.parametrize(
    "fault",
    [
        case("EMW-112", "no signature", FAULTS["no signature"]),
        case("EMW-112", "no request id", FAULTS["no request id"]),
        case("EMW-112", "malformed", FAULTS["malformed"]),
        case("EMW-113", "forged", FAULTS["forged"]),
    ],
)
def test_a_refused_retry_does_not_end_its_quote(platform: Platform, fault: Fault) -> None:
    """After a retry with a wrong signature was refused, the right signature executes the quote."""
    payout = payment(platform, funded_wallet(platform))
    demand = payout.demand()
    refusal = payout.send(fault.headers(payout, demand, payout))
    if refusal.accepted and not platform.wallets.asks_again(refusal):
        raise PreconditionFailed(f"a wrong signature is taken: {refusal}")

    try:
        headers = payout.headers()
    except PreconditionFailed:
        # A service may go on waiting for the signature that it asked for first.
        headers = demand.signed(signature(payout, demand))
    answer = payout.send(headers)

    answer.expect_accepted()
    assert answer.body["status"] in SETTLING, answer


@pytest.mark.parametrize(
    "way", [case("EMW-108", EXECUTION, EXECUTION), case("EMW-109", CREATION, CREATION)]
)
def test_a_signature_that_nobody_asked_for_is_refused(platform: Platform, way: str) -> None:
    """A payment is refused whose first request has a made-up signature and Request-Id."""
    payout = payment(platform, funded_wallet(platform), way)
    made_up = platform.profile.bindings.wallet_malformed_signature

    answer = payout.send({SIGNATURE: made_up, REQUEST: platform.samples.reference()})

    # Where it was accepted, nothing may be left that a twin could pay.
    twin = answer if answer.accepted else payout.pay()
    answer.refused(401, 404, *WRONG_SIGNATURE, NOT_FOUND, twin=twin)


@pytest.mark.parametrize(
    ("member", "requirement_ids"),
    [
        case(requirement_ids, name, member, requirement_ids)
        for name, member, requirement_ids in (
            ("amount", "lockedCurrencyAmount", ("EMW-095", "EMW-096", "EMW-097")),
            ("destination", "destination", ("EMW-098", "EMW-099", "EMW-100")),
        )
    ],
)
def test_what_is_signed_cannot_be_changed(
    platform: Platform, check: Check, member: str, requirement_ids: tuple[str, str, str]
) -> None:
    """A retry whose body differs from the signed one in a member is refused and moves nothing."""
    untouched_id, refused_id, fitting_id = requirement_ids
    wallet = funded_wallet(platform)
    _, before = platform.internal_accounts.balances(wallet)
    first, second = (payment(platform, wallet, CREATION) for _ in range(2))
    other_body = second.of(whole_unit(wallet)).body
    changed_payment = Payment(platform, wallet, {**first.body, member: other_body[member]})

    answer = changed_payment.send(first.headers())

    with check(untouched_id):
        expect_untouched(platform, wallet, before)
    twin = changed_payment.pay()
    with check(refused_id):
        answer.refused(401, *WRONG_SIGNATURE, twin=twin)
    with check(fitting_id):
        answer.refused(401, MISMATCH, twin=twin)


# --- A signature moves money once -----------------------------------------------------------


@requirement("EMW-101")
def test_a_signature_executes_a_quote_once(platform: Platform) -> None:
    """A repeated signed execution does not debit the wallet again, however it is answered."""
    wallet = funded_wallet(platform)
    before, _ = platform.internal_accounts.balances(wallet)
    payout = payment(platform, wallet)
    headers = payout.headers()
    quote = arranged_body(payout.send(headers))

    second = payout.send(headers)

    platform.transactions.at_status(quote, *FINAL_STATUSES)
    balance_left = before - quote["totalSendingAmount"]
    assert platform.internal_accounts.wait_for_balance(wallet, balance_left) == balance_left
    platform.observe(f"a signed execution that is repeated is answered with {second.status}")


@requirement("EMW-102")
def test_a_signature_creates_a_quote_once(platform: Platform) -> None:
    """A repeated signed creation makes no second payment, however it is answered."""
    wallet = funded_wallet(platform)
    before, _ = platform.internal_accounts.balances(wallet)
    payout = payment(platform, wallet, CREATION)
    headers = payout.headers()
    quote = arranged_body(payout.send(headers))

    second = payout.send(headers)

    platform.transactions.at_status(quote, *FINAL_STATUSES)
    balance_left = before - quote["totalSendingAmount"]
    assert platform.internal_accounts.wait_for_balance(wallet, balance_left) == balance_left
    assert len(executed_payments(platform, wallet)) <= 1
    platform.observe(f"a signed creation that is repeated is answered with {second.status}")


@requirement("EMW-103")
def test_one_of_many_signed_executions_at_once_debits(platform: Platform) -> None:
    """Four executions at the same time with one signature debit the wallet once."""
    wallet = funded_wallet(platform)
    before, _ = platform.internal_accounts.balances(wallet)
    payout = payment(platform, wallet)
    headers = payout.headers()

    answers = at_once(*[partial(payout.send, headers)] * 4)

    if not any(answer.accepted for answer in answers):
        raise PreconditionFailed(f"none of them was accepted: {answers}")
    quote = payout.quote or {}
    platform.transactions.at_status(quote, *FINAL_STATUSES)
    balance_left = before - quote["totalSendingAmount"]
    assert platform.internal_accounts.wait_for_balance(wallet, balance_left) == balance_left


# --- A signature is not enough --------------------------------------------------------------


@requirement("EMW-104")
def test_a_signature_does_not_pay_more_than_the_wallet_holds(platform: Platform) -> None:
    """A signed payment above the balance is refused with 400 INSUFFICIENT_FUNDS at some step."""
    wallet = funded_wallet(platform)
    balance, total_before = platform.internal_accounts.balances(wallet)
    small = payment(platform, wallet, CREATION, amount=whole_unit(wallet))
    large = small.of(2 * balance)

    unsigned_answer = large.send()
    signed_answer = unsigned_answer
    if unsigned_answer.code != "INSUFFICIENT_FUNDS":
        demand = platform.wallets.demand(unsigned_answer)
        signed_answer = large.send(demand.signed(signature(large, demand)))

    total = platform.internal_accounts.balances(wallet)[1]
    assert total == total_before, f"totalBalance went from {total_before} to {total}"
    signed_answer.refused(400, "INSUFFICIENT_FUNDS", twin=small.pay())


@pytest.mark.parametrize(
    "status",
    [
        case("EMW-955", "closed", "CLOSED"),
        case("EMW-105", "frozen", "FROZEN"),
    ],
)
def test_a_signature_does_not_pay_from_a_stopped_wallet(platform: Platform, status: str) -> None:
    """A signed payment from a CLOSED or FROZEN wallet is refused, or does not complete."""
    wallet = funded_wallet(platform)
    payout = payment(platform, wallet)
    headers = payout.headers()
    platform.internal_accounts.stop(wallet, status)

    answer = payout.send(headers)

    twin = payment(platform, funded_wallet(platform)).pay()
    expect_no_payment(platform, [answer], [twin])


@requirement("EMW-107")
def test_a_signature_does_not_execute_an_expired_quote(platform: Platform) -> None:
    """A signed execution of an expired quote is refused with 400 and a code for it."""
    wallet = funded_wallet(platform)
    expired_payment = payment(platform, wallet)
    headers = expired_payment.headers()
    quote = expired_payment.quote or {}
    platform.triggers.fire("quote.expire", quoteId=quote["id"], expiresAt=quote["expiresAt"])

    answer = expired_payment.send(headers)

    # An earlier twin may have expired as well meanwhile.
    twin = expired_payment.of(whole_unit(wallet)).pay()
    answer.refused(400, "QUOTE_EXPIRED", "QUOTE_RATE_UNAVAILABLE", twin=twin)


def expect_untouched(
    platform: Platform, wallet: Resource, before: int, known: Collection[str] = ()
) -> None:
    """Assert that a wallet's totalBalance is as before, and that no payment from it is executed.

    The balance is not compared, because the amount may be kept back before the signature. Of the
    payments those are left out that are ``known``.
    """
    __tracebackhide__ = True
    _, total = platform.internal_accounts.balances(wallet)
    assert total == before, f"totalBalance went from {before} to {total}"
    new = {*executed_payments(platform, wallet)} - {*known}
    assert not new, f"payments of {wallet['id']} are under way"
