"""The deprecated transfers within one currency: they are still served, and still move money."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from conformance.platform.given.transactions import FAILED
from conformance.platform.given.transfers import Direction
from conformance.platform.platform import Platform
from conformance.platform.resource import Json, arranged_body, require_member
from conformance.scenarios.kit.marks import Check, requirement
from conformance.scenarios.quotes.transfers import (
    AMOUNT,
    Ends,
    carried,
    debited,
    ends,
    found,
    made,
    replacement,
    sound,
    transaction,
)
from conformance.scenarios.webhooks.reports import BALANCE, COMPLETED
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing


def ways(out: str, into: str) -> list[object]:
    """Return both directions as parameters, each deciding one rule."""
    return [
        pytest.param("out", out, marks=requirement(out), id="out"),
        pytest.param("in", into, marks=requirement(into), id="in"),
    ]


# --- They are served ------------------------------------------------------------------------


@pytest.mark.parametrize(("direction", "rule"), ways("TRF-001", "TRF-002"))
def test_a_transfer_is_taken(platform: Platform, direction: Direction, rule: str) -> None:
    """It still works as it did."""
    between = ends(platform, direction)

    answer = sound(platform, between)

    assert answer.accepted, f"{rule}: {answer}"


@pytest.mark.parametrize(
    ("direction", "name"),
    [
        pytest.param(direction, name, marks=requirement(id_), id=f"{direction}-{name}")
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
    """What the quote in its place takes from it, it has taken before."""
    between = ends(platform, direction)
    made(platform, between, AMOUNT // 2)

    answer = sound(platform, between, AMOUNT // 2, **carried(platform, between, name))

    assert answer.accepted, answer


# --- What they move -------------------------------------------------------------------------


@requirement("TRF-010", "TRF-015")
def test_a_transfer_out_is_debited_as_the_quote_in_its_place(
    platform: Platform, check: Check
) -> None:
    """Its amount is what is sent, as with a quote that locks the sending side."""
    between, twin = ends(platform, "out"), ends(platform, "out")
    before, _ = platform.internal_accounts.balances(between.held)
    quote = quoted(platform, twin)

    answer = made(platform, between)
    left = platform.internal_accounts.wait_for_balance(
        between.held, before - quote["totalSendingAmount"]
    )

    with check("TRF-010"):
        assert before - left == quote["totalSendingAmount"]
    with check("TRF-015"):
        assert before - left == amount(transaction(platform, between, answer), "sentAmount")


@requirement("TRF-011", "TRF-012", "TRF-013", "TRF-014")
def test_a_transfer_in_is_credited(platform: Platform, check: Check) -> None:
    """What arrives is the amount, but for fees."""
    between, twin = ends(platform, "in"), ends(platform, "in")
    before, _ = platform.internal_accounts.balances(between.held)
    quote = quoted(platform, twin)

    row = completed(platform, between)
    after = platform.until(
        lambda: platform.internal_accounts.balances(between.held)[0], lambda seen: seen > before
    )

    with check("TRF-012"):
        assert after > before, f"the balance is {after}, and was {before}"
    with check("TRF-013"):
        assert after - before <= AMOUNT
    with check("TRF-014"):
        assert after - before == amount(row, "receivedAmount")
    with check("TRF-011"):
        assert after - before == quote["totalReceivingAmount"]


@requirement("TRF-053")
def test_the_whole_balance_can_be_transferred(platform: Platform) -> None:
    """The amount is what is sent, so that fees do not come on top of it."""
    between = ends(platform, "out", deposit=2 * AMOUNT)
    left = debited(platform, between)

    answer = sound(platform, between, left)

    assert answer.accepted, answer


# --- Their transactions ---------------------------------------------------------------------


@pytest.mark.parametrize(("direction", "rule"), ways("TRF-020", "TRF-021"))
def test_a_transfer_is_listed(platform: Platform, direction: Direction, rule: str) -> None:
    """A transaction carries its money."""
    between = ends(platform, direction)

    answer = made(platform, between)

    assert found(platform, between, answer) is not None, f"{rule}: not listed: {answer}"


@pytest.mark.parametrize(("direction", "rule"), ways("TRF-022", "TRF-023"))
def test_a_transfer_completes(platform: Platform, direction: Direction, rule: str) -> None:
    """Where nothing keeps it from arriving."""
    between = ends(platform, direction)

    answer = made(platform, between)

    status = transaction(platform, between, answer, "COMPLETED").get("status")
    assert status == "COMPLETED", f"{rule}: {status}"


SHOWN = {
    "out": ("TRF-024", "TRF-026", "TRF-028", "TRF-031"),
    "in": ("TRF-025", "TRF-027", "TRF-029", "TRF-032"),
}
"""By direction the rules of the amount sent, that received, their currencies, and the rate."""


@pytest.mark.parametrize(
    "direction",
    [
        pytest.param(direction, marks=requirement(*rules), id=direction)
        for direction, rules in SHOWN.items()
    ],
)
def test_the_transaction_of_a_transfer_shows_what_its_quote_would(
    platform: Platform, check: Check, direction: Direction
) -> None:
    """On an account of another customer, the same amount is sent by the quote in its place."""
    between, twin = ends(platform, direction), ends(platform, direction)
    quote = quoted(platform, twin)

    row = transaction(platform, between, made(platform, between), "COMPLETED")

    sent, received, one_currency, rate = SHOWN[direction]
    with check(sent):
        assert amount(row, "sentAmount") == quote["totalSendingAmount"]
    with check(received):
        assert amount(row, "receivedAmount") == quote["totalReceivingAmount"]
    with check(one_currency):
        currencies = {
            require_member(row, name)["currency"]["code"]
            for name in ("sentAmount", "receivedAmount")
        }
        assert len(currencies) == 1, f"a transfer within one currency has {currencies}"
    with check(rate):
        assert require_member(row, "exchangeRate") == 1


@requirement("TRF-030")
def test_a_transfer_out_has_the_direction_of_its_quote(platform: Platform) -> None:
    """Money leaves the account by both."""
    between, twin = ends(platform, "out"), ends(platform, "out")
    of_quote = platform.transactions.of_quote(quoted(platform, twin))

    row = transaction(platform, between, made(platform, between))

    assert require_member(row, "direction") == require_member(of_quote, "direction")


@requirement("TRF-043", "TRF-044", "TRF-045")
def test_a_transfer_out_that_cannot_be_paid_fails(platform: Platform, check: Check) -> None:
    """As any payout does, and its money comes back."""
    between = ends(platform, "out", fate="payout.return")
    before, _ = platform.internal_accounts.balances(between.held)

    answer = made(platform, between)

    row = transaction(platform, between, answer, *FAILED)
    with check("TRF-043"):
        assert row.get("status") in FAILED, row
    with check("TRF-044"):
        assert row.get("failureReason") == "PAYOUT_RETURNED"
    with check("TRF-045"):
        if row.get("status") not in FAILED:
            raise PreconditionFailed(f"the transfer did not fail: {row}")
        assert platform.internal_accounts.wait_for_balance(between.held, before) == before


# --- Their events ---------------------------------------------------------------------------


@requirement("TRF-040", "TRF-042")
def test_a_transfer_out_is_reported(platform: Platform, check: Check) -> None:
    """The balance that it leaves, and its completion."""
    between = ends(platform, "out")
    before, _ = platform.internal_accounts.balances(between.held)

    answer = made(platform, between)
    left = platform.until(
        lambda: platform.internal_accounts.balances(between.held)[0], lambda seen: seen < before
    )

    with check("TRF-040"):
        if left == before:
            raise PreconditionFailed("the transfer debits nothing")
        expect_reported(platform, between, left)
    with check("TRF-042"):
        row = transaction(platform, between, answer, "COMPLETED")
        seen = platform.webhooks.wait_for(COMPLETED, row["id"])
        assert seen is not None, f"no {COMPLETED} for {row['id']}"


@requirement("TRF-041")
def test_a_transfer_in_is_reported(platform: Platform) -> None:
    """With the balance that it makes."""
    between = ends(platform, "in")
    before, _ = platform.internal_accounts.balances(between.held)

    completed(platform, between)
    after = platform.until(
        lambda: platform.internal_accounts.balances(between.held)[0], lambda seen: seen > before
    )

    if after == before:
        raise PreconditionFailed("the transfer credits nothing")
    expect_reported(platform, between, after)


def expect_reported(platform: Platform, between: Ends, balance: int) -> None:
    """Assert that an event shows a balance of the internal account."""
    __tracebackhide__ = True
    seen = platform.webhooks.wait_for(
        BALANCE,
        between.held["id"],
        where=lambda event: (event.data.get("balance") or {}).get("amount") == balance,
    )
    assert seen is not None, f"no {BALANCE} for {between.held['id']} shows {balance}"


def quoted(platform: Platform, between: Ends) -> Json:
    """Return the quote, executed at once, in the place of a transfer."""
    body: Json = arranged_body(platform.api.create_quote(replacement(between)))
    return body


def completed(platform: Platform, between: Ends) -> Json:
    """Make a transfer and return its transaction once it has completed.

    Raises:
        PreconditionFailed: it does not.
    """
    row = transaction(platform, between, made(platform, between), "COMPLETED")
    if row.get("status") != "COMPLETED":
        raise PreconditionFailed(f"the transfer does not complete: {row}")
    return row


def amount(row: Json, name: str) -> int:
    """Return an amount of a transaction in the smallest unit.

    Raises:
        ResourceMissing: it shows none.
    """
    shown = require_member(row, name)
    if not isinstance(shown, Mapping) or "amount" not in shown:
        raise ResourceMissing(f"{row.get('id')} shows no {name}")
    return int(shown["amount"])
