"""What a failed assertion on an answer tells as data."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.contract.difference import Difference, Kind
from conformance.contract.document import document
from conformance.exchange.answer import Answer
from conformance.exchange.journal import Exchange
from conformance.verdict.decisions import Broken

SENT = {
    "description": "No 17",
    "lockedCurrencyAmount": 100,
    "source": {"accountId": "InternalAccount:1"},
}


def answered(status: int, body: Any = None, sent: Any = None) -> Answer:
    """Return the answer to a request that creates a quote."""
    exchange = Exchange("w-1", "t", "createQuote", "POST", "/", {}, sent, status, {}, body, 0.1)
    return Answer(document().operations["createQuote"], status, {}, body, exchange)


TWIN = answered(201, sent=SENT)


def faulty(status: int, code: str = "", **members: Any) -> Answer:
    """Return the answer to the twin's request with other members."""
    return answered(status, {"code": code, "reason": "no"} if code else {}, {**SENT, **members})


@pytest.mark.parametrize(
    ("answer", "expected", "difference"),
    [
        pytest.param(
            faulty(201, lockedCurrencyAmount=-1),
            (400, "INVALID_AMOUNT"),
            Difference(Kind.STATUS, "createQuote", "lockedCurrencyAmount", "", "400", "201"),
            id="accepted",
        ),
        pytest.param(
            faulty(409, "OTHER", lockedCurrencyAmount=-1),
            (400, 422),
            Difference(Kind.STATUS, "createQuote", "", "", "400 or 422", "409 OTHER"),
            id="another status",
        ),
        pytest.param(
            faulty(400, "OTHER", source={"accountId": "gone"}),
            (400, "INVALID_INPUT"),
            Difference(Kind.CODE, "createQuote", "", "", "INVALID_INPUT", "OTHER"),
            id="another code",
        ),
        pytest.param(
            faulty(201, source={"accountId": "InternalAccount:2"}),
            (),
            Difference(Kind.STATUS, "createQuote", "", "", "a refusal", "201"),
            id="ids are no fault",
        ),
        pytest.param(
            faulty(201, description="no 42", lockedCurrencyAmount=-1),
            (),
            Difference(Kind.STATUS, "createQuote", "lockedCurrencyAmount", "", "a refusal", "201"),
            id="texts of one shape are no fault beside another",
        ),
        pytest.param(
            faulty(201, description="no 42"),
            (),
            Difference(Kind.STATUS, "createQuote", "description", "", "a refusal", "201"),
            id="a text of the same shape alone",
        ),
        pytest.param(
            faulty(201, a=1, b=2, c=3, d=4, e=5),
            (),
            Difference(Kind.STATUS, "createQuote", "", "", "a refusal", "201"),
            id="too much differs",
        ),
    ],
)
def test_refused(answer: Answer, expected: tuple[int | str, ...], difference: Difference) -> None:
    """A refusal tells operation, fault, and what was expected and came."""
    with pytest.raises(Broken) as caught:
        answer.refused(*expected, twin=TWIN)

    assert caught.value.facts.difference == difference


def test_accepted() -> None:
    """A request that had to be accepted tells status and code of its refusal."""
    TWIN.expect_accepted()

    with pytest.raises(Broken) as caught:
        faulty(400, "INVALID_INPUT").expect_accepted()

    assert caught.value.facts.difference == Difference(
        Kind.STATUS, "createQuote", expected="a success", got="400 INVALID_INPUT"
    )
