"""The deprecated transfers within one currency: targets still serve them, and money moves."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from conformance.platform.given.transactions import FAILED, included_fees
from conformance.platform.given.transfers import Direction
from conformance.platform.platform import Platform
from conformance.platform.resource import Json, arranged_body, require_member
from conformance.scenarios.kit.cases import case
from conformance.scenarios.kit.marks import Check, requirement
from conformance.scenarios.quotes.transfers import (
    AMOUNT,
    Ends,
    arrange_ends,
    carried_member,
    listed_transaction,
    make_and_debit,
    make_transfer,
    replacement_body,
    send,
    send_valid,
    transaction_at,
)
from conformance.scenarios.webhooks.reports import BALANCE, COMPLETED
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing


def directions(out: str, into: str) -> list[object]:
    """Return both directions as parameters, each with the requirement that it decides."""
    return [
        case(out, "out", "out", out),
        case(into, "in", "in", into),
    ]


# --- They are served ------------------------------------------------------------------------


@pytest.mark.parametrize(("direction", "requirement_id"), directions("TRF-001", "TRF-002"))
@pytest.mark.parametrize("business", [False, True], ids=["individual", "business"])
def test_a_transfer_is_taken(
    platform: Platform, direction: Direction, requirement_id: str, *, business: bool
) -> None:
    """A valid transfer in each direction is accepted, of an individual and of a business."""
    ends = arrange_ends(platform, direction)
    answer = send_valid(platform, ends)
    if business and answer.accepted:
        # What a body has to look like is known by then.
        payer = platform.approved.business()
        answer = send(platform, arrange_ends(platform, direction, payer=payer))

    assert answer.accepted, f"{requirement_id}: {answer}"


@pytest.mark.parametrize(
    ("direction", "name"),
    [
        case(id_, f"{direction}-{name}", direction, name)
        for id_, direction, name in (
            ("TRF-080", "out", "remittanceInformation"),
            ("TRF-081", "out", "purposeOfPayment"),
            ("TRF-082", "out", "paymentRail"),
            ("TRF-083", "in", "remittanceInformation"),
            ("TRF-084", "in", "purposeOfPayment"),
        )
    ],
)
def test_a_transfer_takes_what_carries_over(
    platform: Platform, direction: Direction, name: str
) -> None:
    """A transfer with a member that carries over to a quote is accepted."""
    ends = arrange_ends(platform, direction)
    make_transfer(platform, ends, AMOUNT // 2)

    answer = send_valid(platform, ends, AMOUNT // 2, **carried_member(platform, ends, name))

    answer.expect_accepted()


# --- What they move -------------------------------------------------------------------------


@requirement("TRF-010", "TRF-015")
def test_a_transfer_out_is_debited_as_the_quote_in_its_place(
    platform: Platform, check: Check
) -> None:
    """In each currency a transfer out debits the totalSendingAmount, its own sentAmount."""
    first = platform.quotes.corridor(same_currency=True)
    corridors = platform.profile.resources.corridors
    for corridor in (one for one in corridors if one.sending == one.receiving):
        ends, twin = (arrange_ends(platform, "out", corridor=corridor) for _ in range(2))
        before, _ = platform.internal_accounts.balances(ends.internal_account)
        quote = create_replacement(platform, twin)

        answer = send_valid(platform, ends)
        if not answer.accepted and corridor != first:
            platform.observe(f"nothing is transferred in {corridor.sending}: {answer}")
            continue
        arranged_body(answer)
        balance_left = platform.internal_accounts.wait_for_balance(
            ends.internal_account, before - quote["totalSendingAmount"]
        )

        with check("TRF-010"):
            assert before - balance_left == quote["totalSendingAmount"]
        with check("TRF-015"):
            assert before - balance_left == amount_of(
                transaction_at(platform, ends, answer), "sentAmount"
            )


@requirement("TRF-011", "TRF-012", "TRF-013", "TRF-014")
def test_a_transfer_in_is_credited(platform: Platform, check: Check) -> None:
    """A transfer in credits the quote's totalReceivingAmount, at most its own amount."""
    ends, twin = arrange_ends(platform, "in"), arrange_ends(platform, "in")
    before, _ = platform.internal_accounts.balances(ends.internal_account)
    quote = create_replacement(platform, twin)

    row = make_completed_transfer(platform, ends)
    after = platform.until(
        lambda: platform.internal_accounts.balances(ends.internal_account)[0],
        lambda balance: balance > before,
    )

    with check("TRF-012"):
        assert after > before, f"the balance is {after}, and was {before}"
    with check("TRF-013"):
        assert after - before <= AMOUNT
    with check("TRF-014"):
        assert after - before == amount_of(row, "receivedAmount")
    with check("TRF-011"):
        assert after - before == quote["totalReceivingAmount"]


@requirement("TRF-053")
def test_the_whole_balance_can_be_transferred(platform: Platform) -> None:
    """A transfer of the whole balance is accepted, because its amount includes the fees."""
    ends = arrange_ends(platform, "out", deposit=2 * AMOUNT)
    balance_left = make_and_debit(platform, ends)

    answer = send_valid(platform, ends, balance_left)

    answer.expect_accepted()


# --- Their transactions ---------------------------------------------------------------------


@pytest.mark.parametrize(("direction", "requirement_id"), directions("TRF-020", "TRF-021"))
def test_a_transfer_is_listed(
    platform: Platform, direction: Direction, requirement_id: str
) -> None:
    """The customer's list has a transaction for a transfer in each direction."""
    ends = arrange_ends(platform, direction)

    answer = make_transfer(platform, ends)

    assert listed_transaction(platform, ends, answer) is not None, (
        f"{requirement_id}: not listed: {answer}"
    )


@pytest.mark.parametrize(("direction", "requirement_id"), directions("TRF-130", "TRF-131"))
def test_a_transfer_tells_its_transaction(
    platform: Platform, direction: Direction, requirement_id: str
) -> None:
    """The answer has an id of the form Transaction:<id>, where the profile says that it has one."""
    if platform.profile.bindings.transfer_transaction is None:
        raise ResourceMissing("bindings.transfer_transaction of the profile is null")

    answer = make_transfer(platform, arrange_ends(platform, direction))

    assert platform.transfers.transaction_id(answer), f"{requirement_id}: {answer}"


@pytest.mark.parametrize(("direction", "requirement_id"), directions("TRF-022", "TRF-023"))
def test_a_transfer_completes(
    platform: Platform, direction: Direction, requirement_id: str
) -> None:
    """The transaction of a valid transfer comes to COMPLETED."""
    ends = arrange_ends(platform, direction)

    answer = make_transfer(platform, ends)

    status = transaction_at(platform, ends, answer, "COMPLETED").get("status")
    assert status == "COMPLETED", f"{requirement_id}: {status}"


SHOWN = {
    "out": ("TRF-024", "TRF-026", "TRF-028", "TRF-031"),
    "in": ("TRF-025", "TRF-027", "TRF-029", "TRF-032"),
}
"""By direction the requirements of both amounts, of their currency and of the rate."""


@pytest.mark.parametrize(
    "direction",
    [case(requirement_ids, direction, direction) for direction, requirement_ids in SHOWN.items()],
)
def test_the_transaction_of_a_transfer_shows_what_its_quote_would(
    platform: Platform, check: Check, direction: Direction
) -> None:
    """A transfer's transaction has the amounts of the quote in its place, one currency and rate 1.

    The quote is made for another customer with the same amount.
    """
    ends, twin = arrange_ends(platform, direction), arrange_ends(platform, direction)
    quote = create_replacement(platform, twin)

    row = transaction_at(platform, ends, make_transfer(platform, ends), "COMPLETED")

    sent_id, received_id, currency_id, rate_id = SHOWN[direction]
    with check(sent_id):
        assert amount_of(row, "sentAmount") == quote["totalSendingAmount"]
    with check(received_id):
        assert amount_of(row, "receivedAmount") == quote["totalReceivingAmount"]
    with check(currency_id):
        currencies = {
            require_member(row, name)["currency"]["code"]
            for name in ("sentAmount", "receivedAmount")
        }
        assert len(currencies) == 1, f"a transfer within one currency has {currencies}"
    with check(rate_id):
        assert require_member(row, "exchangeRate") == 1


@requirement("TRF-030")
def test_a_transfer_out_has_the_direction_of_its_quote(platform: Platform) -> None:
    """The transactions of a transfer out and of the quote in its place have one direction."""
    ends, twin = arrange_ends(platform, "out"), arrange_ends(platform, "out")
    quote_transaction = platform.transactions.of_quote(create_replacement(platform, twin))

    row = transaction_at(platform, ends, make_transfer(platform, ends))

    assert require_member(row, "direction") == require_member(quote_transaction, "direction")


@requirement("TRF-043", "TRF-044", "TRF-045")
def test_a_transfer_out_that_cannot_be_paid_fails(platform: Platform, check: Check) -> None:
    """A returned payout fails with PAYOUT_RETURNED, and the balance lacks its fees at most."""
    ends = arrange_ends(platform, "out", trigger="payout.return")
    before, _ = platform.internal_accounts.balances(ends.internal_account)

    answer = make_transfer(platform, ends)

    row = transaction_at(platform, ends, answer, *FAILED)
    with check("TRF-043"):
        assert row.get("status") in FAILED, row
    with check("TRF-044"):
        assert row.get("failureReason") == "PAYOUT_RETURNED"
    with check("TRF-045"):
        if row.get("status") not in FAILED:
            raise PreconditionFailed(f"the transfer did not fail: {row}")
        fees = included_fees(create_replacement(platform, arrange_ends(platform, "out")))
        after = platform.internal_accounts.wait_for_refund(ends.internal_account, before, fees)
        assert before - fees <= after <= before


# --- Their events ---------------------------------------------------------------------------


@requirement("TRF-040", "TRF-042")
def test_a_transfer_out_is_reported(platform: Platform, check: Check) -> None:
    """Webhooks report the balance after the debit, and the completion of the transaction."""
    ends = arrange_ends(platform, "out")
    before, _ = platform.internal_accounts.balances(ends.internal_account)

    answer = make_transfer(platform, ends)
    balance_left = platform.until(
        lambda: platform.internal_accounts.balances(ends.internal_account)[0],
        lambda balance: balance < before,
    )

    with check("TRF-040"):
        if balance_left == before:
            raise PreconditionFailed("the transfer debits nothing")
        expect_reported(platform, ends, balance_left)
    with check("TRF-042"):
        row = transaction_at(platform, ends, answer, "COMPLETED")
        report = platform.webhooks.wait_for(COMPLETED, row["id"])
        assert report is not None, f"no {COMPLETED} for {row['id']}"


@requirement("TRF-041")
def test_a_transfer_in_is_reported(platform: Platform) -> None:
    """A webhook reports the balance after the credit."""
    ends = arrange_ends(platform, "in")
    before, _ = platform.internal_accounts.balances(ends.internal_account)

    make_completed_transfer(platform, ends)
    after = platform.until(
        lambda: platform.internal_accounts.balances(ends.internal_account)[0],
        lambda balance: balance > before,
    )

    if after == before:
        raise PreconditionFailed("the transfer credits nothing")
    expect_reported(platform, ends, after)


def expect_reported(platform: Platform, ends: Ends, balance: int) -> None:
    """Assert that a webhook shows a balance of the internal account of a transfer."""
    __tracebackhide__ = True
    report = platform.webhooks.wait_for(
        BALANCE,
        ends.internal_account["id"],
        where=lambda event: (event.data.get("balance") or {}).get("amount") == balance,
    )
    assert report is not None, f"no {BALANCE} for {ends.internal_account['id']} shows {balance}"


def create_replacement(platform: Platform, ends: Ends) -> Json:
    """Create the quote in the place of a transfer, executed at once, and return it."""
    body: Json = arranged_body(platform.api.create_quote(replacement_body(ends)))
    return body


def make_completed_transfer(platform: Platform, ends: Ends) -> Json:
    """Make a transfer and return its transaction once it has completed.

    Raises:
        PreconditionFailed: the transaction does not complete.
    """
    row = transaction_at(platform, ends, make_transfer(platform, ends), "COMPLETED")
    if row.get("status") != "COMPLETED":
        raise PreconditionFailed(f"the transfer does not complete: {row}")
    return row


def amount_of(row: Json, name: str) -> int:
    """Return an amount of a transaction in the smallest unit.

    Raises:
        ResourceMissing: the transaction does not show the amount.
    """
    value = require_member(row, name)
    if not isinstance(value, Mapping) or "amount" not in value:
        raise ResourceMissing(f"{row.get('id')} shows no {name}")
    return int(value["amount"])
