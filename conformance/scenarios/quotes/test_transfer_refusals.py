"""Deprecated transfers that are refused: what is wrong with each, and that nothing moves."""

from __future__ import annotations

from dataclasses import replace
from http import HTTPStatus
from typing import Any

import pytest

from conformance.platform.given.transactions import FAILED
from conformance.platform.given.transfers import Direction
from conformance.platform.platform import Platform
from conformance.platform.resource import Resource, unknown_id
from conformance.scenarios.kit.cases import case
from conformance.scenarios.kit.marks import Check, requirement
from conformance.scenarios.quotes.transfers import (
    AMOUNT,
    Ends,
    arrange_ends,
    listed_transaction,
    make_and_debit,
    make_transfer,
    send,
    send_valid,
    transaction_at,
)
from conformance.verdict.decisions import ResourceMissing

REFUSED = (400, 422)
"""The statuses of a refusal for what a body says."""

ABSENT = (*REFUSED, 404)
"""The statuses of a refusal for an unknown account in a body."""

UNFIT = (*REFUSED, 409)
"""The statuses of a refusal for two accounts that do not fit each other."""

ENDED = ("COMPLETED", "EXPIRED", *FAILED)

FAULTS: tuple[tuple[str, Direction, str, Any], ...] = (
    ("TRF-060", "out", "zero", 0),
    ("TRF-061", "out", "negative", -AMOUNT),
    ("TRF-062", "out", "fraction", AMOUNT + 0.5),
    ("TRF-063", "out", "word", "plenty"),
    ("TRF-132", "out", "text", str(AMOUNT)),
    ("TRF-064", "in", "zero", 0),
    ("TRF-065", "in", "negative", -AMOUNT),
    ("TRF-066", "in", "fraction", AMOUNT + 0.5),
    ("TRF-067", "in", "word", "plenty"),
    ("TRF-133", "in", "text", str(AMOUNT)),
)
"""Requirement, direction, name and amount of transfers that nobody can make."""

UNKNOWN_ENDS: tuple[tuple[str, Direction, str], ...] = (
    ("TRF-054", "out", "source"),
    ("TRF-055", "out", "destination"),
    ("TRF-056", "in", "source"),
    ("TRF-057", "in", "destination"),
)
"""Requirement, direction, and the end that does not exist."""


@pytest.mark.parametrize(
    ("direction", "amount"),
    [
        case(id_, f"{direction}-{name}", direction, amount)
        for id_, direction, name, amount in FAULTS
    ],
)
def test_a_transfer_of_a_wrong_amount_is_refused(
    platform: Platform, direction: Direction, amount: Any
) -> None:
    """An amount of 0, below 0, with a fraction or as a text is refused with 400 or 422."""
    ends = arrange_ends(platform, direction)

    refusal = send(platform, ends, amount)

    refusal.refused(*REFUSED, twin=send_valid(platform, ends))


@requirement("TRF-068")
def test_a_negative_transfer_moves_nothing(platform: Platform) -> None:
    """A transfer of a negative amount out of an account does not change its balance."""
    ends = arrange_ends(platform, "out")
    before, _ = platform.internal_accounts.balances(ends.internal_account)

    answer = send(platform, ends, -AMOUNT)

    if answer.accepted:
        listed_transaction(platform, ends, answer)
    make_transfer(platform, arrange_ends(platform, "out"))
    assert platform.internal_accounts.balances(ends.internal_account)[0] == before


@pytest.mark.parametrize(
    ("direction", "end"),
    [case(id_, f"{direction}-{end}", direction, end) for id_, direction, end in UNKNOWN_ENDS],
)
def test_a_transfer_that_names_an_unknown_account_is_refused(
    platform: Platform, direction: Direction, end: str
) -> None:
    """An unknown account of the right form is refused with 400, 404 or 422."""
    ends = arrange_ends(platform, direction)
    wrong_ends = with_unknown_end(ends, end)

    refusal = send(platform, wrong_ends)

    refusal.refused(*ABSENT, twin=send_valid(platform, ends))
    platform.observe(f"an unknown {end} of a transfer is refused with {refusal.status}")


@pytest.mark.parametrize(
    ("direction", "other"),
    [case("TRF-135", "in", "in", "out"), case("TRF-136", "out", "out", "in")],
)
def test_a_transfer_the_other_way_round_is_no_server_error(
    platform: Platform, direction: Direction, other: Direction
) -> None:
    """Its source is what such a transfer goes to, and its destination what it comes from."""
    ends = arrange_ends(platform, other, deposit=0)

    answer = send(platform, replace(ends, direction=direction))

    assert answer.status != HTTPStatus.INTERNAL_SERVER_ERROR, answer


@pytest.mark.parametrize(
    "direction",
    [
        case("TRF-058", "out", "out"),
        case("TRF-059", "in", "in"),
    ],
)
def test_a_transfer_converts_nothing(platform: Platform, direction: Direction) -> None:
    """A transfer to an account in another currency is refused."""
    if direction == "out":
        ends = arrange_ends(platform, "out")
        corridor = platform.quotes.corridor(same_currency=False)
        foreign_account = platform.external_accounts.account({"id": ends.owner}, corridor.account)
    else:
        other = other_currency(platform)
        ends = arrange_ends(platform, "in", currencies=(other,))
        foreign_account = platform.internal_accounts.account(
            other, amount=0, customer={"id": ends.owner}
        )

    refusal = send(platform, replace(ends, destination=foreign_account))

    refusal.refused(*UNFIT, twin=send_valid(platform, ends))


@requirement("TRF-050", "TRF-051", "TRF-052")
def test_a_transfer_out_above_the_balance_is_not_made(platform: Platform, check: Check) -> None:
    """A transfer of one smallest unit above the balance is refused, or fails later.

    The balance stays. A refusal has 400 and INSUFFICIENT_FUNDS.
    """
    ends = arrange_ends(platform, "out", deposit=2 * AMOUNT)
    before = make_and_debit(platform, ends)

    answer = send(platform, ends, before + 1)
    status = None
    if answer.accepted:
        status = transaction_at(platform, ends, answer, *ENDED).get("status")
    # A transfer that fails later may be debited until then.
    balance_left = platform.internal_accounts.wait_for_balance(ends.internal_account, before)
    twin = send_valid(platform, ends, before)

    with check("TRF-050"):
        if not answer.accepted:
            answer.refused(twin=twin)
        assert status != "COMPLETED", answer
    with check("TRF-051"):
        assert balance_left == before
    with check("TRF-052"):
        if answer.accepted:
            raise ResourceMissing(f"it is taken, and comes to {status} later")
        answer.refused(400, "INSUFFICIENT_FUNDS", twin=twin)


def with_unknown_end(ends: Ends, end: str) -> Ends:
    """Return the ends of a transfer with an unknown id in the place of one account."""
    account: Resource = getattr(ends, end)
    unknown_account = account.but(id=unknown_id(account.id))
    if end == "source":
        return replace(ends, source=unknown_account)
    return replace(ends, destination=unknown_account)


def other_currency(platform: Platform) -> str:
    """Return a sending currency of the profile beside the currency of transfers.

    Raises:
        ResourceMissing: the corridors name no other currency.
    """
    currency = platform.quotes.corridor(same_currency=True).sending
    for corridor in platform.profile.resources.corridors:
        if corridor.sending != currency:
            return corridor.sending
    raise ResourceMissing("resources.corridors of the profile names one sending currency alone")
