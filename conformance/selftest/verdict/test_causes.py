"""Causes: failures with one difference are one finding."""

from __future__ import annotations

import pytest

from conformance.contract.catalogue import Level, Requirement, Source
from conformance.contract.difference import Difference, Kind
from conformance.verdict.causes import Cause, causes
from conformance.verdict.decisions import Broken, Decision, Facts, Outcome
from conformance.verdict.plan import Conclusion, RequirementVerdict
from conformance.verdict.recorder import Recorder

STATUS = Difference(Kind.STATUS, "createQuote", expected="400", got="201")
BODY = Difference(Kind.BODY, "createQuote", place="data.*.id", expected="pattern")
OTHER = Difference(Kind.BODY, "getQuote", place="id", expected="pattern")


def broken(identifier: str, *differences: Difference | None) -> Conclusion:
    """Return the conclusion that a requirement failed, once for each difference."""
    decisions = tuple(
        Decision(identifier, Outcome.FAILED, "t", facts=Facts(difference=difference))
        for difference in differences
    )
    entry = Requirement(
        identifier, Level.MUST, "It holds.", Source("Endpoints", (1,)), (), "quotes"
    )
    return Conclusion(entry, RequirementVerdict.FAILED, None, "", decisions)


@pytest.mark.parametrize(
    ("conclusions", "expected"),
    [
        pytest.param([], [], id="none"),
        pytest.param(
            [broken("QUO-001", STATUS), broken("QUO-002", BODY), broken("QUO-003", STATUS)],
            [Cause(STATUS, ("QUO-001", "QUO-003")), Cause(BODY, ("QUO-002",))],
            id="two causes, the larger first",
        ),
        pytest.param(
            [broken("QUO-001", BODY, STATUS), broken("QUO-002", STATUS), broken("QUO-003", OTHER)],
            [Cause(STATUS, ("QUO-001", "QUO-002")), Cause(OTHER, ("QUO-003",))],
            id="in the group that explains most",
        ),
        pytest.param(
            [broken("QUO-001", None), broken("QUO-002", None)],
            [Cause(None, ("QUO-001",)), Cause(None, ("QUO-002",))],
            id="without data each by itself",
        ),
    ],
)
def test_grouping(conclusions: list[Conclusion], expected: list[Cause]) -> None:
    """Failures with equal differences are one cause; each requirement stands in one."""
    assert causes(conclusions) == expected


@pytest.mark.parametrize(
    ("difference", "told"),
    [
        (STATUS, "createQuote: answers 201, not 400"),
        (
            Difference(Kind.CODE, "createQuote", "amount", expected="INVALID_AMOUNT", got="OTHER"),
            "createQuote: answers OTHER to a fault in amount, not INVALID_AMOUNT",
        ),
        (
            Difference(Kind.CODE_STATUS, "getQuote", place="LOCKED", expected="423", got="409"),
            "getQuote: LOCKED comes with 409, not with 423",
        ),
        (
            Difference(Kind.MEDIA_TYPE, "getQuote", expected="application/json"),
            "getQuote: answers with no media type, not application/json",
        ),
        (BODY, "createQuote: data.*.id does not keep to 'pattern'"),
        (Difference(Kind.NO_WEBHOOK, "INVOICE.PAID"), "INVOICE.PAID did not come"),
        (
            Difference(Kind.CHECK, "getQuote", place="test_x.test_y", got="200"),
            "getQuote: what test_x.test_y checks does not hold, after 200",
        ),
    ],
    ids=[kind.name for kind in Kind if kind is not Kind.WEBHOOK],
)
def test_told(difference: Difference, told: str) -> None:
    """A difference is told in one line."""
    assert str(difference) == told


def test_a_decision_keeps_its_difference() -> None:
    """What a worker hands on as JSON is read back as it was."""
    decision = Decision("QUO-001", Outcome.FAILED, "t", facts=Facts(difference=STATUS))

    assert Decision.from_json(decision.to_json(), "t") == decision


def fail(error: BaseException) -> None:
    """Raise an exception, as a check does."""
    raise error


class TestRecorder:
    """What a check tells of its failure as data."""

    def recorded(self, error: BaseException) -> Difference | None:
        """Return the difference of a requirement whose check ended so, after a refusal."""
        recorder = Recorder("t", ("QUO-001",))
        recorder.latest = Difference(Kind.CHECK, "createQuote", got="400 INVALID_INPUT")
        with pytest.raises(type(error)) as caught:
            fail(error)
        recorder.decide_by(caught.value, "QUO-001")
        return recorder.decisions["QUO-001"].facts.difference

    def test_a_plain_assertion(self) -> None:
        """It is known by the function that asserts and by the latest answer."""
        assert self.recorded(AssertionError("no")) == Difference(
            Kind.CHECK, "createQuote", place="test_causes.fail", got="400 INVALID_INPUT"
        )

    def test_a_check_that_knows_more(self) -> None:
        """The difference that a check tells itself is kept."""
        assert self.recorded(Broken("400", "201", difference=STATUS)) == STATUS

    def test_what_is_no_failure(self) -> None:
        """A check that cannot decide differs in nothing."""
        assert self.recorded(KeyError("id")) is None
