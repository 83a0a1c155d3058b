"""Factor resets: their status, and how many of them a customer may start in a day."""

from __future__ import annotations

from collections.abc import Sequence
from http import HTTPStatus

from conformance.exchange.answer import Answer
from conformance.platform.given.factor_resets import PHONE
from conformance.platform.platform import Platform
from conformance.platform.resource import Json
from conformance.verdict.decisions import expect

MAX_STARTS = 5


def start_resets(
    platform: Platform,
    lost_factors: Sequence[str],
    *,
    business: bool | None = None,
    ending: bool = False,
) -> list[Answer]:
    """Start a reset for each lost factor of a new customer, and return the answers.

    Where the second start is refused with 409, a customer can have only one reset at a time. Then
    all is repeated with another new customer, and each reset is ended before the next start.
    """
    customer = platform.resets.holder(business=business)
    platform.resets.enroll(customer, PHONE, required=False)
    answers: list[Answer] = []
    for factor in lost_factors:
        if ending and answers and answers[-1].accepted:
            platform.resets.liveness({**answers[-1].body, "customerId": customer["id"]}, "fail")
        answers.append(platform.resets.start(customer, factor))
        platform.resets.require_factor(answers[0], lost_factors[0])
    if not ending and answers[1].status == HTTPStatus.CONFLICT:
        return start_resets(platform, lost_factors, business=business, ending=True)
    return answers


def expect_status(platform: Platform, reset: Json, status: str) -> None:
    """Assert that a reset has a status."""
    __tracebackhide__ = True
    now = platform.resets.read(reset)
    expect(now.get("status") == status, f"{status}", now)
