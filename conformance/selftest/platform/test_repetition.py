"""A target that takes no customer twice is no worse for a second run with the same seed."""

from __future__ import annotations

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, cast

import pytest

from conformance.exchange.answer import Answer
from conformance.platform.repetition import Repetition
from conformance.verdict.decisions import PreconditionFailed

BODY = {"platformCustomerId": "k3j5h2g8f1d9", "email": "k3j5h2g8f1d9@example.com", "region": "US"}
TAKEN = cast("Answer", SimpleNamespace(accepted=True, status=201))
REFUSED = cast("Answer", SimpleNamespace(accepted=False, status=409))


class Target:
    """Answers to another person, and keeps the bodies; and once more to the first person."""

    def __init__(self, answer: Answer, again: Answer = REFUSED) -> None:
        self.answer, self.again = answer, again
        self.bodies: list[Mapping[str, Any]] = []

    def create(self, body: Mapping[str, Any]) -> Answer:
        """Keep a body and return the answer."""
        self.bodies.append(body)
        return self.again if body == BODY else self.answer


def test_a_second_run_is_told_to_take_another_seed() -> None:
    """Where another person is taken, the refusal of the first one decides nothing, nor the next."""
    target = Target(TAKEN)
    repetition = Repetition(target.create)

    for _ in range(2):
        with pytest.raises(PreconditionFailed, match="--run-seed"):
            repetition.heed(BODY, REFUSED)

    assert target.bodies[1:] == [BODY]
    assert target.bodies[0]["platformCustomerId"] != BODY["platformCustomerId"]
    assert target.bodies[0]["email"] != BODY["email"]
    assert target.bodies[0]["region"] == BODY["region"]


def test_a_target_that_takes_nobody_is_asked_a_few_times() -> None:
    """Its refusals stay what they are."""
    target = Target(REFUSED)
    repetition = Repetition(target.create)

    for _ in range(20):
        repetition.heed(BODY, REFUSED)

    assert len(target.bodies) == 5


def test_who_refuses_now_and_then_is_not_excused() -> None:
    """Where the first person is taken the second time, the refusal counts."""
    target = Target(TAKEN, again=TAKEN)

    Repetition(target.create).heed(BODY, REFUSED)

    assert target.bodies[1:] == [BODY]


def test_nobody_else_is_tried_once_a_customer_was_taken() -> None:
    """What is refused then has another reason."""
    target = Target(TAKEN)
    repetition = Repetition(target.create)
    repetition.heed(BODY, TAKEN)

    repetition.heed(BODY, REFUSED)

    assert target.bodies == []


@pytest.mark.parametrize(
    "body",
    [
        None,
        {"email": "no address", "phoneNumber": 7},
        {"email": "k3j5h2g8f1d9@example.com.", "identifier": "12-3456"},
    ],
    ids=["none", "faults", "near"],
)
def test_what_may_be_the_fault_is_not_replaced(body: Any) -> None:
    """A value that is not written as the suite writes it may be what the refusal is about."""
    target = Target(TAKEN)

    Repetition(target.create).heed(body, REFUSED)

    assert target.bodies == []
