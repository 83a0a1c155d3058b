"""Answers that are lost on their way, and what became of the request then."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import pytest

from conformance.exchange.answer import Answer
from conformance.exchange.cuts import AnswerLost, Cut
from conformance.platform.platform import Platform
from conformance.platform.resource import Json, Resource
from conformance.scenarios.kit.cases import Case, case
from conformance.scenarios.kit.marks import SETTLING
from conformance.verdict.decisions import HarnessError, PreconditionFailed

Request: TypeAlias = Callable[..., Answer]
"""A method of the API with its arguments, which takes further options."""


def at_each_cut(*requirements: str) -> pytest.MarkDecorator:
    """Return the mark that runs a test once for each moment at which a line can be cut."""
    names = [cut.name.lower().replace("_", "-") for cut in Cut]
    cases: list[Case] = [
        case(requirements, name, cut) for name, cut in zip(names, Cut, strict=True)
    ]
    return pytest.mark.parametrize("cut", cases)


def lose_answer(request: Request, cut: Cut) -> None:
    """Send a request, and lose its answer.

    Raises:
        HarnessError: the line was not cut.
    """
    try:
        answer = request(cut=cut)
    except AnswerLost:
        return
    raise HarnessError(f"the line was not cut: {answer}")


def expect_one_debit(platform: Platform, source: Resource, quote: Json, before: int) -> None:
    """Assert that a payment that was asked for twice is debited once.

    Args:
        platform: the suite in the part of a platform.
        source: the account that is debited.
        quote: what was paid.
        before: the balance before it was asked for, in the smallest unit.

    Raises:
        PreconditionFailed: the payment was not carried out at all.
    """
    __tracebackhide__ = True
    paid = quote["totalSendingAmount"]
    left = platform.internal_accounts.wait_for_balance(source, before - paid)
    status = platform.transactions.of_quote(quote).get("status")
    if left == before and status not in SETTLING:
        raise PreconditionFailed(f"the repeated request moved nothing: its transaction is {status}")
    assert left == before - paid, (
        f"a payment of {paid} that was asked for again left {left} of {before}, and its "
        f"transaction at {status}"
    )
