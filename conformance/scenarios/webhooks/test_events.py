"""Webhooks: their envelope, what causes them, and what does not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conformance.exchange.delivery import Delivery
from conformance.platform.given.transactions import FAILED
from conformance.platform.platform import Platform
from conformance.platform.resource import Resource
from conformance.scenarios.kit.marks import Check, requirement
from conformance.scenarios.webhooks.reports import (
    BALANCE,
    COMPLETED,
    FAILURE,
    PROCESSING,
    REFUND_COMPLETED,
    REFUND_FAILED,
    REFUND_PENDING,
    kinds,
    needed,
)
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing

REFUNDS = (REFUND_PENDING, REFUND_COMPLETED, REFUND_FAILED)


# --- The envelope ---------------------------------------------------------------------------


@requirement("EVT-001", "EVT-002", "EVT-003", "EVT-004", "EVT-007", "EVT-020", "EVT-021")
def test_a_webhook_is_an_envelope_around_a_resource(platform: Platform, check: Check) -> None:
    """Whatever names the payout is one; the form of its members is judged on arrival."""
    quote = platform.quotes.complete()

    found = platform.webhooks.mentioning(quote["transactionId"], quote["id"])

    if not found:
        raise PreconditionFailed(f"no webhook came that names {quote['transactionId']}")
    with check("EVT-007"):
        assert all(isinstance(one.body, Mapping) for one in found)
    for name, member in {"EVT-001": "id", "EVT-002": "type", "EVT-003": "timestamp"}.items():
        with check(name):
            assert all(isinstance(_member(one.body, member), str) for one in found)
    with check("EVT-004"):
        assert all(isinstance(one.data, Mapping) for one in found)
    payments = [one.data for one in found if str(one.type).startswith("OUTGOING_PAYMENT.")]
    if not payments:
        raise PreconditionFailed(f"no OUTGOING_PAYMENT webhook names {quote['transactionId']}")
    with check("EVT-021"):
        assert {_member(data, "id") for data in payments} == {quote["transactionId"]}
    with check("EVT-020"):
        for data in payments:
            assert str(_member(data, "id")).startswith("Transaction:"), data
            assert isinstance(data.get("status"), str), data
            assert isinstance(data.get("type"), str), data


@requirement("EVT-005")
def test_different_happenings_have_different_ids(platform: Platform) -> None:
    """What became of two payouts, and two changes of one balance."""
    source = platform.internal_accounts.account(amount=0)
    ids = [_deposited(platform, source, amount).id for amount in (40_000, 50_000)]
    for _ in range(2):
        name = _settled(platform, source)["transactionId"]
        ids += {one.type: one.id for one in platform.webhooks.about(name)}.values()

    assert len(set(ids)) == len(ids)


@requirement("EVT-006")
def test_a_transition_has_one_id(platform: Platform) -> None:
    """It may be delivered again, but under the id that it has."""
    source = platform.internal_accounts.account()
    name = _settled(platform, source)["transactionId"]

    _settled(platform, source)

    for kind in (PROCESSING, COMPLETED):
        ids = {one.id for one in platform.webhooks.about(name) if one.type == kind}
        assert len(ids) <= 1, f"{kind} was reported under {sorted(map(str, ids))}"


# --- What is reported -----------------------------------------------------------------------


@requirement("EVT-010", "EVT-011", "EVT-022", "EVT-034", "EVT-035")
def test_a_payout_that_arrives_is_reported(platform: Platform, check: Check) -> None:
    """It is processed, it arrives, and it neither fails nor comes back."""
    source = platform.internal_accounts.account()
    executed = platform.quotes.execute(platform.quotes.pending(source))
    name = executed["transactionId"]

    completed = platform.webhooks.wait_for(COMPLETED, name)
    processing = platform.webhooks.wait_for(PROCESSING, name)

    with check("EVT-011"):
        assert completed is not None, f"no {COMPLETED} for {name}"
    with check("EVT-010"):
        if processing is None and executed["status"] == "COMPLETED":
            raise ResourceMissing("the payout was never in processing")
        assert processing is not None, f"no {PROCESSING} for {name}"
    _settled(platform, source)
    with check("EVT-022"):
        assert needed(platform, COMPLETED, name).data.get("status") == "COMPLETED"
    with check("EVT-034"):
        assert FAILURE not in kinds(platform, name)
    with check("EVT-035"):
        assert not kinds(platform, name).intersection(REFUNDS)


@requirement(
    "EVT-012",
    "EVT-013",
    "EVT-014",
    "EVT-023",
    "EVT-024",
    "EVT-025",
    "EVT-026",
    "EVT-033",
    "EVT-039",
)
def test_a_payout_that_fails_is_reported_with_its_refund(platform: Platform, check: Check) -> None:
    """It never arrives, and what its money comes to is reported until it is back."""
    source = platform.internal_accounts.account()
    name = platform.quotes.payout(source, trigger="payout.screen")["transactionId"]

    for requirement_id, kind in {
        "EVT-012": FAILURE,
        "EVT-013": REFUND_PENDING,
        "EVT-014": REFUND_COMPLETED,
    }.items():
        with check(requirement_id):
            assert platform.webhooks.wait_for(kind, name) is not None, f"no {kind} for {name}"
    _settled(platform, source)

    with check("EVT-023"):
        assert needed(platform, FAILURE, name).data.get("status") in FAILED
    with check("EVT-024"):
        assert needed(platform, FAILURE, name).data.get("failureReason")
    with check("EVT-025"):
        assert isinstance(needed(platform, REFUND_PENDING, name).data.get("refund"), Mapping)
    with check("EVT-026"):
        assert isinstance(needed(platform, REFUND_COMPLETED, name).data.get("refund"), Mapping)
    with check("EVT-033"):
        assert COMPLETED not in kinds(platform, name)
    with check("EVT-039"):
        assert REFUND_FAILED not in kinds(platform, name)


@requirement("EVT-015", "EVT-027", "EVT-037")
def test_a_refund_that_cannot_be_delivered_is_reported(platform: Platform, check: Check) -> None:
    """It is not reported as delivered as well."""
    source = platform.internal_accounts.account()
    name = platform.quotes.payout(source, trigger="refund.fail")["transactionId"]

    failed = platform.webhooks.wait_for(REFUND_FAILED, name)

    with check("EVT-015"):
        assert failed is not None, f"no {REFUND_FAILED} for {name}"
    _settled(platform, source)
    with check("EVT-027"):
        assert isinstance(needed(platform, REFUND_FAILED, name).data.get("refund"), Mapping)
    with check("EVT-037"):
        assert REFUND_COMPLETED not in kinds(platform, name)


@requirement("EVT-016")
def test_a_payout_executed_at_the_creation_of_its_quote_is_reported(platform: Platform) -> None:
    """It arrives as one that is executed later does."""
    name = platform.quotes.pending(immediatelyExecute=True)["transactionId"]

    assert platform.webhooks.wait_for(COMPLETED, name) is not None, f"no {COMPLETED} for {name}"


@requirement("EVT-017")
def test_an_authorized_payout_is_reported(platform: Platform) -> None:
    """The authorization lets it go ahead."""
    quote = platform.sca.challenged()
    name = quote["transactionId"]

    platform.sca.authorize(quote)

    assert platform.webhooks.wait_for(COMPLETED, name) is not None, f"no {COMPLETED} for {name}"


@requirement("EVT-018")
def test_a_payout_that_is_funded_just_in_time_is_reported(platform: Platform) -> None:
    """The payment to the quote's instructions lets it go ahead."""
    customer = platform.approved.customer()
    quote = platform.quotes.realtime(customer)
    name = quote["transactionId"]

    platform.triggers.fire("quote.fund", quoteId=quote["id"], customerId=customer["id"])

    assert platform.webhooks.wait_for(COMPLETED, name) is not None, f"no {COMPLETED} for {name}"


# --- What is not reported -------------------------------------------------------------------


@requirement("EVT-030")
def test_a_quote_that_is_not_executed_is_not_reported(platform: Platform) -> None:
    """That it is pending may be told, but there is no payout yet."""
    source = platform.internal_accounts.account()
    quote = platform.quotes.pending(source)

    _settled(platform, source)

    told = kinds(platform, quote["transactionId"])
    assert not told.intersection((PROCESSING, COMPLETED, FAILURE))


@requirement("EVT-031")
def test_a_quote_that_expires_is_not_reported_as_paid(platform: Platform) -> None:
    """Not even when somebody tries to execute it after all."""
    source = platform.internal_accounts.account()
    quote = platform.quotes.pending(source)
    platform.triggers.fire("quote.expire", quoteId=quote["id"], expiresAt=quote["expiresAt"])
    platform.api.execute_quote(quote["id"])
    platform.transactions.at_status(quote, "EXPIRED")

    _settled(platform, source)

    paid = kinds(platform, quote["transactionId"]).intersection((PROCESSING, COMPLETED))
    assert not paid, f"the expired quote was reported by {' and '.join(sorted(map(str, paid)))}"


@requirement("EVT-032")
def test_a_quote_that_waits_for_its_authorization_is_not_reported_as_paid(
    platform: Platform,
) -> None:
    """The customer has not agreed to it yet."""
    quote = platform.sca.challenged()

    _settled(platform, platform.internal_accounts.account())

    assert not kinds(platform, quote["transactionId"]).intersection((PROCESSING, COMPLETED))


@requirement("EVT-036")
def test_a_payout_that_the_rail_holds_is_not_reported_as_arrived(platform: Platform) -> None:
    """It is, once the rail settles it."""
    source = platform.internal_accounts.account()
    name = platform.quotes.payout(source, trigger="payout.hold")["transactionId"]
    _settled(platform, source)

    assert COMPLETED not in kinds(platform, name)

    platform.triggers.fire("payout.release", transactionId=name)
    needed(platform, COMPLETED, name)


@requirement("EVT-038")
def test_a_refund_that_is_held_is_reported_as_pending_alone(platform: Platform) -> None:
    """That it was delivered is reported once it is released."""
    source = platform.internal_accounts.account()
    name = platform.quotes.payout(source, trigger="refund.hold")["transactionId"]
    needed(platform, REFUND_PENDING, name)
    later = platform.quotes.payout(source, trigger="payout.screen")["transactionId"]
    needed(platform, REFUND_COMPLETED, later)

    assert not kinds(platform, name).intersection((REFUND_COMPLETED, REFUND_FAILED))

    platform.triggers.fire("refund.release", transactionId=name)
    needed(platform, REFUND_COMPLETED, name)


# --- Balances -------------------------------------------------------------------------------


@requirement("EVT-050", "EVT-052", "EVT-053", "EVT-054")
def test_a_deposit_is_reported_with_the_new_balance(platform: Platform, check: Check) -> None:
    """The account that it arrived on is the resource."""
    source = platform.internal_accounts.account(amount=0)
    after = platform.internal_accounts.balances(source)[0] + 40_000
    known = {one.id for one in platform.webhooks.about(source["id"])}

    platform.internal_accounts.deposit(source, 40_000)

    reported = platform.webhooks.wait_for(BALANCE, source["id"], where=lambda d: d.id not in known)
    with check("EVT-050"):
        assert reported is not None, f"no {BALANCE} for {source['id']}"
    with check("EVT-054"):
        shown = platform.webhooks.wait_for(
            BALANCE, source["id"], where=lambda d: _balance(d) == after
        )
        assert shown is not None, f"no {BALANCE} for {source['id']} shows {after}"
    found = [
        one
        for one in platform.webhooks.mentioning(source["id"], source["customerId"])
        if one.type == BALANCE and _balance(one) == after
    ]
    if not found:
        raise PreconditionFailed(f"no {BALANCE} names {source['id']} and shows {after}")
    with check("EVT-052"):
        for one in found:
            assert isinstance(one.data.get("type"), str), one.data
            assert isinstance(one.data.get("status"), str), one.data
    with check("EVT-053"):
        assert {_member(one.data, "id") for one in found} == {source["id"]}


@requirement("EVT-051")
def test_the_debit_of_an_execution_is_reported(platform: Platform) -> None:
    """The deposit before it was another change."""
    source = platform.internal_accounts.account(amount=0)
    deposited = _deposited(platform, source, 40_000)

    platform.quotes.payout(source)

    debited = platform.webhooks.wait_for(
        BALANCE, source["id"], where=lambda d: d.id != deposited.id
    )
    assert debited is not None, f"no {BALANCE} for {source['id']} after its deposit"


@requirement("EVT-055")
def test_the_refund_of_a_payout_is_reported_with_its_account(platform: Platform) -> None:
    """The balance is again what the deposit had made it."""
    source = platform.internal_accounts.account(amount=0)
    deposited = _deposited(platform, source, 40_000)

    platform.transactions.refunded(platform.quotes.payout(source, trigger="payout.screen"))

    refunded = platform.webhooks.wait_for(
        BALANCE,
        source["id"],
        where=lambda d: d.id != deposited.id and _balance(d) == _balance(deposited),
    )
    assert refunded is not None, f"no {BALANCE} for {source['id']} shows the refund"


def _settled(platform: Platform, source: Resource) -> Resource:
    """Return a payout that has been reported as arrived, and with it all that came before."""
    quote = platform.quotes.payout(source)
    needed(platform, COMPLETED, quote["transactionId"])
    return quote


def _deposited(platform: Platform, account: Resource, amount: int) -> Delivery:
    """Let a deposit arrive and return the event that shows the balance after it."""
    after = platform.internal_accounts.balances(account)[0] + amount
    platform.internal_accounts.deposit(account, amount)
    event = platform.webhooks.wait_for(BALANCE, account["id"], where=lambda d: _balance(d) == after)
    if event is None:
        raise PreconditionFailed(f"no {BALANCE} came for {account['id']} that shows {after}")
    return event


def _member(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, Mapping) else None


def _balance(delivery: Delivery) -> Any:
    return _member(_member(delivery.data, "balance"), "amount")
