"""The quotes that take the place of the deprecated transfers: one request, executed at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from conformance.exchange.answer import Answer
from conformance.platform.given.transfers import CARRIED_OVER, Direction
from conformance.platform.platform import Platform
from conformance.scenarios.kit.marks import Check, requirement
from conformance.scenarios.quotes.transfers import AMOUNT, carried, ends, replacement
from conformance.verdict.decisions import PreconditionFailed

RULES: dict[Direction, tuple[str, str, str, str]] = {
    "out": ("TRF-090", "TRF-091", "TRF-092", "TRF-093"),
    "in": ("TRF-100", "TRF-101", "TRF-102", "TRF-103"),
}
"""By direction the rules of the answer, its amount, its currencies and its transactionId."""


@pytest.mark.parametrize(
    "direction",
    [
        pytest.param(direction, marks=requirement(*rules), id=direction)
        for direction, rules in RULES.items()
    ],
)
def test_a_quote_takes_the_place_of_a_transfer(
    platform: Platform, check: Check, direction: Direction
) -> None:
    """It is answered, and its transaction is the one that the transfer would have had."""
    between = ends(platform, direction)

    answer = platform.api.create_quote(replacement(between))

    is_quote, locked, currencies, named = RULES[direction]
    with check(is_quote):
        assert answer.accepted, answer
        assert str(told(answer, "id")).startswith("Quote:"), answer
    with check(locked):
        assert told(answer, "totalSendingAmount") == AMOUNT
    with check(currencies):
        codes = {told(answer, name)["code"] for name in ("sendingCurrency", "receivingCurrency")}
        assert codes == {platform.quotes.corridor(same_currency=True).sending}
    with check(named):
        wanted = told(answer, "transactionId")
        ids = platform.until(
            lambda: {row.get("id") for row in platform.transactions.of_customer(between.owner)},
            lambda seen: wanted in seen,
        )
        assert wanted in ids, f"GET /transactions does not list {wanted}"


@pytest.mark.parametrize(
    "names",
    [
        pytest.param(("remittanceInformation",), marks=requirement("TRF-094"), id="remittance"),
        pytest.param(("purposeOfPayment",), marks=requirement("TRF-095"), id="purpose"),
        pytest.param(("paymentRail",), marks=requirement("TRF-096"), id="rail"),
        pytest.param(CARRIED_OVER, marks=requirement("TRF-097"), id="all"),
    ],
)
def test_the_quote_takes_what_carries_over(platform: Platform, names: tuple[str, ...]) -> None:
    """The rail belongs to the destination, the others stand beside it."""
    between = ends(platform, "out")
    members: dict[str, Any] = {}
    for name in names:
        members |= carried(platform, between, name)

    answer = platform.api.create_quote(replacement(between, **members))

    assert answer.accepted, answer


def told(answer: Answer, name: str) -> Any:
    """Return a member of the quote that was answered with."""
    if not answer.accepted or not isinstance(answer.body, Mapping):
        raise PreconditionFailed(f"the quote was refused: {answer}")
    return answer.body.get(name)
