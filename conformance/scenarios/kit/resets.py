"""Starts of factor resets, and how many a customer may make in a day."""

from __future__ import annotations

from collections.abc import Sequence
from http import HTTPStatus

from conformance.exchange.answer import Answer
from conformance.platform.given.factor_resets import PHONE
from conformance.platform.platform import Platform

MOST_STARTS = 5


def starts(platform: Platform, lost: Sequence[str], *, ending: bool = False) -> list[Answer]:
    """Return the answers to one start after the other by a new customer.

    Where a customer has one reset at a time, each is ended before the next.
    """
    customer = platform.resets.holder()
    platform.resets.enroll(customer, PHONE, required=False)
    answers: list[Answer] = []
    for factor in lost:
        if ending and answers and answers[-1].accepted:
            platform.resets.liveness({**answers[-1].body, "customerId": customer["id"]}, "fail")
        answers.append(platform.resets.start(customer, factor))
    if not ending and answers[1].status == HTTPStatus.CONFLICT:
        return starts(platform, lost, ending=True)
    return answers
