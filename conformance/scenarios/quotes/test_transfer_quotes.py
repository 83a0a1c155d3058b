"""Quotes in the place of the deprecated transfers: created and executed by one request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from conformance.exchange.answer import Answer
from conformance.platform.given.transfers import CARRIED_OVER, Direction
from conformance.platform.platform import Platform
from conformance.platform.resource import arranged_body
from conformance.scenarios.kit.cases import case
from conformance.scenarios.kit.marks import Check
from conformance.scenarios.quotes.transfers import (
    AMOUNT,
    arrange_ends,
    carried_member,
    replacement_body,
)
from conformance.verdict.decisions import PreconditionFailed

REQUIREMENTS: dict[Direction, tuple[str, str, str, str]] = {
    "out": ("TRF-090", "TRF-091", "TRF-092", "TRF-093"),
    "in": ("TRF-100", "TRF-101", "TRF-102", "TRF-103"),
}
"""By direction the requirements of the answer, its amount, its currencies and its transactionId."""


@pytest.mark.parametrize(
    "direction",
    [
        case(requirement_ids, direction, direction)
        for direction, requirement_ids in REQUIREMENTS.items()
    ],
)
def test_a_quote_takes_the_place_of_a_transfer(
    platform: Platform, check: Check, direction: Direction
) -> None:
    """A quote of the transfer's ends and amount is accepted, and its transaction is listed."""
    ends = arrange_ends(platform, direction)

    answer = platform.api.create_quote(replacement_body(ends))

    answer_id, amount_id, currencies_id, listed_id = REQUIREMENTS[direction]
    with check(answer_id):
        answer.expect_accepted()
        assert str(member_of(answer, "id")).startswith("Quote:"), answer
    with check(amount_id):
        assert member_of(answer, "totalSendingAmount") == AMOUNT
    with check(currencies_id):
        codes = {
            member_of(answer, name)["code"] for name in ("sendingCurrency", "receivingCurrency")
        }
        assert codes == {platform.quotes.corridor(same_currency=True).sending}
    with check(listed_id):
        transaction_id = member_of(answer, "transactionId")
        ids = platform.until(
            lambda: {row.get("id") for row in platform.transactions.of_customer(ends.owner)},
            lambda listed_ids: transaction_id in listed_ids,
        )
        assert transaction_id in ids, f"GET /transactions does not list {transaction_id}"


@pytest.mark.parametrize(
    ("direction", "names"),
    [
        case("TRF-094", "remittance", "out", ("remittanceInformation",)),
        case("TRF-095", "purpose", "out", ("purposeOfPayment",)),
        case("TRF-096", "rail", "out", ("paymentRail",)),
        case("TRF-097", "all", "out", CARRIED_OVER),
        case("TRF-970", "in-remittance", "in", ("remittanceInformation",)),
        case("TRF-971", "in-purpose", "in", ("purposeOfPayment",)),
    ],
)
def test_the_quote_takes_what_carries_over(
    platform: Platform, direction: Direction, names: tuple[str, ...]
) -> None:
    """A quote with members that carry over from a transfer is accepted."""
    ends = arrange_ends(platform, direction)
    members: dict[str, Any] = {}
    for name in names:
        members |= carried_member(platform, ends, name)

    answer = platform.api.create_quote(replacement_body(ends, **members))

    if direction == "in" and not answer.accepted:
        arranged_body(platform.api.create_quote(replacement_body(ends)))
    answer.expect_accepted()


def member_of(answer: Answer, name: str) -> Any:
    """Return a member of the quote in an answer.

    Raises:
        PreconditionFailed: the quote was refused.
    """
    if not answer.accepted or not isinstance(answer.body, Mapping):
        raise PreconditionFailed(f"the quote was refused: {answer}")
    return answer.body.get(name)
