"""The recorder: what one test decides about the requirements that it names."""

from __future__ import annotations

import inspect
import threading

import pytest

from conformance.exchange.answer import Answer
from conformance.verdict.decisions import (
    Broken,
    Decision,
    FeatureUndeclared,
    HarnessError,
    Outcome,
    PreconditionFailed,
    Reason,
    ResourceMissing,
    TriggerMissing,
    TwinRefused,
    Unmet,
)
from conformance.verdict.recorder import ChecksFailed, Recorder

TEST = "test_quotes.py::test_execution"


def recorder(*requirements: str) -> Recorder:
    """Return the recorder of a test that names these requirements."""
    return Recorder(TEST, requirements)


def outcomes(recording: Recorder) -> dict[str, Outcome]:
    """Return the outcome of each decided requirement."""
    return {name: decision.outcome for name, decision in recording.decisions.items()}


class TestChecks:
    """Each block decides its own requirements."""

    def test_a_failure_does_not_hide_the_next(self) -> None:
        """After a failed block the test goes on, and the next blocks decide theirs."""
        recording = recorder("A", "B", "C")

        with recording.check("A"):
            assert [] == [1]
        with recording.check("B"):
            pass
        with recording.check("C"):
            assert [] == [2]

        assert outcomes(recording) == {
            "A": Outcome.FAILED,
            "B": Outcome.PASSED,
            "C": Outcome.FAILED,
        }
        assert [failure.requirement for failure in recording.failures()] == ["A", "C"]

    def test_one_block_may_decide_several(self) -> None:
        """All requirements of a block get the same outcome."""
        recording = recorder("A", "B")

        with recording.check("A", "B"):
            assert [] == [1]

        assert outcomes(recording) == {"A": Outcome.FAILED, "B": Outcome.FAILED}

    def test_the_text_of_an_assertion_is_kept(self) -> None:
        """The detail has the message and the comparison that pytest adds."""
        recording = recorder("A", "B")
        amounts = {"sent": 10_000, "received": 9_950}

        with recording.check("A"):
            assert amounts["received"] == amounts["sent"], f"fees of {amounts}"

        assert recording.decisions["A"].detail == (
            "expected amounts['received'] == amounts['sent'], got 9950 == 10000; "
            "fees of {'sent': 10000, 'received': 9950}"
        )

    def test_a_requirement_that_is_not_named_cannot_be_checked(self) -> None:
        """A block for a requirement without marker raises HarnessError."""
        with (
            pytest.raises(HarnessError, match="B is checked here but not named"),
            recorder("A").check("B"),
        ):
            raise AssertionError

    @pytest.mark.parametrize(
        ("unmet", "outcome", "reason"),
        [
            (TwinRefused("x"), Outcome.INCONCLUSIVE, Reason.TWIN_REFUSED),
            (PreconditionFailed("x"), Outcome.INCONCLUSIVE, Reason.PRECONDITION),
            (TriggerMissing("x"), Outcome.NOT_EXERCISED, Reason.TRIGGER_MISSING),
            (FeatureUndeclared("x"), Outcome.NOT_EXERCISED, Reason.FEATURE_UNDECLARED),
            (ResourceMissing("x"), Outcome.NOT_EXERCISED, Reason.RESOURCE_MISSING),
        ],
        ids=lambda value: type(value).__name__ if isinstance(value, Unmet) else None,
    )
    def test_what_a_block_lacks_leaves_it_open(
        self, unmet: Unmet, outcome: Outcome, reason: Reason
    ) -> None:
        """Each error of the family Unmet gives its outcome and reason, and the test goes on."""
        recording = recorder("A", "B")

        with recording.check("A"):
            raise unmet
        with recording.check("B"):
            pass

        assert recording.decisions["A"].outcome is outcome
        assert recording.decisions["A"].reason is reason
        assert recording.decisions["A"].detail.rpartition(" ")[2].rpartition(".")[2] == "x"
        assert recording.decisions["B"].outcome is Outcome.PASSED

    @pytest.mark.parametrize("named", [("A",), ("A", "B"), ("B",)])
    def test_a_step_that_breaks_a_requirement_fails_it(self, named: tuple[str, ...]) -> None:
        """What an answer in an arrangement breaks fails, named or not; the rest stays open."""
        recording = recorder(*named)

        recording.conclude(PreconditionFailed("refused", breaks=["B"]))

        assert outcomes(recording) == {
            **dict.fromkeys(named, Outcome.INCONCLUSIVE),
            "B": Outcome.FAILED,
        }
        assert [failure.detail for failure in recording.failures()] == ["refused"]

    def test_a_block_that_is_arranged_in_vain_fails_what_is_broken(self) -> None:
        """A step within a check leaves its requirement open, and fails the one that it broke."""
        recording = recorder("A")

        with recording.check("A"):
            raise PreconditionFailed("refused", breaks=["B"])

        assert outcomes(recording) == {"A": Outcome.INCONCLUSIVE, "B": Outcome.FAILED}

    def test_an_unexpected_error_ends_the_test(self) -> None:
        """Another error decides nothing and is raised."""
        recording = recorder("A")

        with pytest.raises(RuntimeError), recording.check("A"):
            raise RuntimeError("out of order")

        assert outcomes(recording) == {}

    def test_a_message_that_cannot_be_read_decides_nothing(self) -> None:
        """A KeyError makes the block inconclusive as UNREADABLE, and the test goes on."""
        recording = recorder("A", "B")

        with recording.check("A"):
            raise KeyError("status")
        with recording.check("B"):
            pass

        assert outcomes(recording) == {"A": Outcome.INCONCLUSIVE, "B": Outcome.PASSED}
        assert recording.decisions["A"].reason is Reason.UNREADABLE


class TestDecide:
    """The worst of several outcomes counts."""

    @pytest.mark.parametrize("worse_first", [True, False])
    @pytest.mark.parametrize(
        ("better", "worse"),
        [
            (Outcome.PASSED, Outcome.NOT_EXERCISED),
            (Outcome.NOT_EXERCISED, Outcome.INCONCLUSIVE),
            (Outcome.INCONCLUSIVE, Outcome.FAILED),
        ],
    )
    def test_a_worse_outcome_replaces_a_better_one(
        self, better: Outcome, worse: Outcome, worse_first: bool
    ) -> None:
        """The order of the two outcomes makes no difference."""
        recording = recorder("A")

        for outcome in (worse, better) if worse_first else (better, worse):
            recording.decide("A", outcome)

        assert outcomes(recording) == {"A": worse}

    def test_the_first_of_two_failures_is_kept(self) -> None:
        """The detail is that of the first failure, of which the second may be a consequence."""
        recording = recorder("A")

        recording.decide("A", Outcome.FAILED, "first")
        recording.decide("A", Outcome.FAILED, "second")

        assert recording.decisions["A"].detail == "first"

    def test_a_decision_knows_the_exchanges_before_it(self) -> None:
        """The evidence of a decision are the exchanges up to it."""
        recording = recorder("A")
        recording.exchanges += ["main-1", "main-2"]

        recording.decide("A", Outcome.PASSED)
        recording.exchanges.append("main-3")

        assert recording.decisions["A"].exchanges == ("main-1", "main-2")

    def test_a_decision_ends_with_the_exchange_that_it_is_about(self) -> None:
        """What was sent after the exchange that a failed check names is no evidence."""
        recording = recorder("A")
        recording.exchanges += ["main-1", "main-2", "main-3"]

        recording.decide_by(Broken("a refusal", "200", exchange="main-2"), "A")

        assert recording.decisions["A"].exchanges == ("main-1", "main-2")

    def test_a_failure_is_not_lost_among_threads(self) -> None:
        """One failure among 4,000 decisions of eight threads is kept."""
        recording = recorder("A")
        start = threading.Barrier(8)

        def decide(number: int) -> None:
            start.wait()
            for turn in range(500):
                bad = number == 3 and turn == 250
                recording.decide("A", Outcome.FAILED if bad else Outcome.PASSED)

        threads = [threading.Thread(target=decide, args=[number]) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert outcomes(recording) == {"A": Outcome.FAILED}


class TestConclude:
    """The end of a test decides what its blocks did not."""

    def test_a_test_of_one_requirement_decides_it(self) -> None:
        """A test that ends without an error passes its one requirement."""
        recording = recorder("A")

        recording.conclude(None)

        assert outcomes(recording) == {"A": Outcome.PASSED}

    def test_an_assertion_fails_the_one_requirement(self) -> None:
        """An AssertionError fails the one requirement, with its text as the detail."""
        recording = recorder("A")

        recording.conclude(AssertionError("expected 400, got 200"))

        assert outcomes(recording) == {"A": Outcome.FAILED}
        assert recording.decisions["A"].detail == "expected 400, got 200"

    def test_a_pass_does_not_mend_a_failed_check(self) -> None:
        """A failed block counts, although the test ends without an error."""
        recording = recorder("A")
        with recording.check("A"):
            raise AssertionError

        recording.conclude(None)

        assert outcomes(recording) == {"A": Outcome.FAILED}

    def test_what_nothing_decided_is_inconclusive(self) -> None:
        """A requirement that no block reached is inconclusive as NOT_REACHED."""
        recording = recorder("A", "B")
        with recording.check("A"):
            pass

        recording.conclude(None)

        assert outcomes(recording) == {"A": Outcome.PASSED, "B": Outcome.INCONCLUSIVE}
        assert recording.decisions["B"].reason is Reason.NOT_REACHED

    def test_what_the_judge_decided_is_decided(self) -> None:
        """Requirements that the judge decided need no block."""
        recording = recorder("A", "B")
        recording.decide("A", Outcome.PASSED)
        recording.decide("B", Outcome.FAILED)

        recording.conclude(None)

        assert outcomes(recording) == {"A": Outcome.PASSED, "B": Outcome.FAILED}

    def test_an_assertion_outside_of_checks_leaves_the_rest_open(self) -> None:
        """Undecided requirements get PRECONDITION; decided ones stay."""
        recording = recorder("A", "B", "C")
        with recording.check("A"):
            pass
        with recording.check("B"):
            raise AssertionError

        recording.conclude(AssertionError("the arrangement"))

        assert outcomes(recording) == {
            "A": Outcome.PASSED,
            "B": Outcome.FAILED,
            "C": Outcome.INCONCLUSIVE,
        }
        assert recording.decisions["C"].reason is Reason.PRECONDITION

    def test_what_the_test_lacks_leaves_the_rest_open(self) -> None:
        """Undecided requirements get the outcome and the reason of the error."""
        recording = recorder("A", "B")
        with recording.check("A"):
            pass

        recording.conclude(TriggerMissing("the profile does not map the trigger quote.expire"))

        assert outcomes(recording) == {"A": Outcome.PASSED, "B": Outcome.NOT_EXERCISED}
        assert recording.decisions["B"].reason is Reason.TRIGGER_MISSING

    def test_an_unexpected_error_is_a_mistake_of_the_suite(self) -> None:
        """A RuntimeError makes the requirement inconclusive as HARNESS."""
        recording = recorder("A")

        recording.conclude(RuntimeError("out of order"))

        decision = recording.decisions["A"]
        assert (decision.outcome, decision.reason) == (Outcome.INCONCLUSIVE, Reason.HARNESS)
        assert decision.detail == "RuntimeError: out of order"

    def test_a_message_that_lacks_what_is_read_is_unreadable(self) -> None:
        """A KeyError makes the requirement inconclusive as UNREADABLE."""
        recording = recorder("A")

        recording.conclude(KeyError("status"))

        decision = recording.decisions["A"]
        assert (decision.outcome, decision.reason) == (Outcome.INCONCLUSIVE, Reason.UNREADABLE)
        assert decision.detail == "KeyError: 'status'"

    def test_stumbling_over_a_wrong_message_is_none(self) -> None:
        """A KeyError after a failure of the judge is PRECONDITION, and names that failure."""
        recording = recorder("A")
        recording.decide("X", Outcome.FAILED, "status is missing")

        recording.conclude(KeyError("status"))

        decision = recording.decisions["A"]
        assert (decision.outcome, decision.reason) == (Outcome.INCONCLUSIVE, Reason.PRECONDITION)
        assert decision.detail == "KeyError: 'status', after X failed: status is missing"


class TestAbort:
    """An error in set-up or tear-down leaves the requirements of a test open."""

    def test_what_passed_is_open_again(self) -> None:
        """All requirements are inconclusive, those that passed too."""
        recording = recorder("A", "B")
        recording.decide("A", Outcome.PASSED)

        recording.abort(OSError("no space left"))

        assert outcomes(recording) == {"A": Outcome.INCONCLUSIVE, "B": Outcome.INCONCLUSIVE}

    def test_what_failed_stays_failed(self) -> None:
        """A failure stays, as it was observed."""
        recording = recorder("A")
        recording.decide("A", Outcome.FAILED, "seen")

        recording.abort(OSError("no space left"))

        assert outcomes(recording) == {"A": Outcome.FAILED}

    def test_an_assertion_of_a_set_up_decides_nothing(self) -> None:
        """An AssertionError makes the requirement inconclusive as PRECONDITION."""
        recording = recorder("A")

        recording.abort(AssertionError("the arrangement"))

        decision = recording.decisions["A"]
        assert (decision.outcome, decision.reason) == (Outcome.INCONCLUSIVE, Reason.PRECONDITION)


def test_a_failed_test_shows_all_its_failures() -> None:
    """The message has each failure after the id of its requirement."""
    failures = [
        Decision("A", Outcome.FAILED, TEST, detail="one"),
        Decision("B", Outcome.FAILED, TEST, detail="two"),
    ]

    assert str(ChecksFailed(failures)) == "A: one\n\nB: two"


@pytest.mark.parametrize("reason", [None, *Reason])
def test_a_decision_survives_the_journal(reason: Reason | None) -> None:
    """A decision that is written as JSON is read as the same."""
    decision = Decision("A", Outcome.INCONCLUSIVE, TEST, reason, "why", ("main-1",))

    assert Decision.from_json(decision.to_json(), TEST) == decision


def test_every_way_to_be_unmet_has_a_reason() -> None:
    """Each subclass of Unmet has a reason of the closed list."""
    assert all(isinstance(kind.reason, Reason) for kind in Unmet.__subclasses__())


def test_a_refusal_cannot_be_asserted_without_a_twin() -> None:
    """``twin`` of ``Answer.refused`` is a keyword without a default."""
    twin = inspect.signature(Answer.refused).parameters["twin"]

    assert twin.kind is inspect.Parameter.KEYWORD_ONLY
    assert twin.default is inspect.Parameter.empty
