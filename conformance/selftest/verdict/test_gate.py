"""Verdicts on conformance classes, and what comes of a run by what was asked for."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from conformance.contract.catalogue import Level, Needs, Requirement, Source
from conformance.contract.classes import classes
from conformance.verdict.baseline import Baseline, EntryState, KnownFailure
from conformance.verdict.claims import Claim, ClassVerdict, claims, exercised
from conformance.verdict.decisions import Reason
from conformance.verdict.gate import Gate, GateResult, Terms, judge_gate
from conformance.verdict.plan import Conclusion, RequirementVerdict

TODAY = date(2026, 3, 4)
PASSED, FAILED = RequirementVerdict.PASSED, RequirementVerdict.FAILED
OPEN, SILENT = RequirementVerdict.INCONCLUSIVE, RequirementVerdict.NOT_EXERCISED
UNTESTABLE = RequirementVerdict.UNTESTABLE


def concluded(
    feature: str,
    verdict: RequirementVerdict,
    reason: Reason | None = None,
    *,
    selected: bool = True,
    identifier: str = "QUO-001",
) -> Conclusion:
    """Return the conclusion on a requirement of quotes that needs a feature; none if empty."""
    needs = Needs(features=(feature,) if feature else ())
    source = Source("Endpoints", (1,))
    entry = Requirement(identifier, Level.MUST, "It holds.", source, (), "quotes", needs)
    return Conclusion(entry, verdict, reason, "", selected=selected)


def claim_of(name: str, *conclusions: Conclusion, declared: str = "cards") -> Claim:
    """Return the claim on a class, of a profile that declares one feature."""
    found = claims(conclusions, classes(), {declared}.__contains__)
    return next(one for one in found if one.subject.name == name)


@pytest.mark.parametrize(
    ("conclusions", "verdict", "percent"),
    [
        pytest.param([], ClassVerdict.INCONCLUSIVE, 0, id="nothing in it"),
        pytest.param([concluded("cards", PASSED)], ClassVerdict.CONFORMANT, 100, id="passed"),
        pytest.param(
            [concluded("cards", PASSED), concluded("cards", SILENT, Reason.TRIGGER_MISSING)],
            ClassVerdict.CONFORMANT,
            50,
            id="one without its trigger",
        ),
        pytest.param(
            [concluded("cards", SILENT, Reason.TRIGGER_MISSING)],
            ClassVerdict.INCONCLUSIVE,
            0,
            id="nothing decided",
        ),
        pytest.param(
            [concluded("cards", PASSED), concluded("cards", OPEN, Reason.DESELECTED)],
            ClassVerdict.INCONCLUSIVE,
            50,
            id="one left out",
        ),
        pytest.param(
            [concluded("cards", PASSED), concluded("cards", PASSED, selected=False)],
            ClassVerdict.INCONCLUSIVE,
            100,
            id="one kept by the way alone",
        ),
        pytest.param(
            [concluded("cards", PASSED), concluded("cards", FAILED)],
            ClassVerdict.NOT_CONFORMANT,
            100,
            id="broken",
        ),
        pytest.param(
            [concluded("cards", PASSED), concluded("", FAILED)],
            ClassVerdict.CONFORMANT,
            100,
            id="broken elsewhere",
        ),
        pytest.param(
            [concluded("cards", PASSED), concluded("cards", SILENT, Reason.READ_ONLY)],
            ClassVerdict.INCONCLUSIVE,
            50,
            id="only safe methods",
        ),
    ],
)
def test_claim(conclusions: list[Conclusion], verdict: ClassVerdict, percent: int) -> None:
    """A class is judged by its own requirements, and says how much of it was exercised."""
    claim = claim_of("cards", *conclusions)

    assert claim.verdict is verdict
    assert claim.exercised.percent == percent


def test_an_unclaimed_class() -> None:
    """A class none of whose features is declared is not claimed, and broken it still is."""
    silent = concluded("cards", SILENT, Reason.FEATURE_UNDECLARED)

    assert claim_of("cards", silent, declared="uma").verdict is ClassVerdict.NOT_CLAIMED
    broken = claim_of("cards", silent, concluded("cards", FAILED), declared="uma")
    assert broken.verdict is ClassVerdict.NOT_CONFORMANT


def test_the_share_is_of_what_could_be_decided() -> None:
    """Untestable requirements and undeclared features do not count; it is rounded down."""
    found = exercised(
        [
            *[concluded("", PASSED)] * 199,
            concluded("", SILENT, Reason.TRIGGER_MISSING),
            concluded("", UNTESTABLE),
            concluded("cards", SILENT, Reason.FEATURE_UNDECLARED),
        ]
    )

    assert (found.decided, found.of, found.percent) == (199, 200, 99)


class TestGate:
    """``judge_gate`` says what comes of a run."""

    CORE = concluded("", PASSED)
    CARDS_OUT = concluded("cards", OPEN, Reason.DESELECTED, selected=False)

    @pytest.mark.parametrize(
        ("conclusions", "terms", "expected"),
        [
            pytest.param([CORE], Terms(), Gate(GateResult.CONFORMANT), id="whole"),
            pytest.param(
                [CORE, CARDS_OUT], Terms(), Gate(GateResult.INCONCLUSIVE), id="whole, one left out"
            ),
            pytest.param(
                [CORE, CARDS_OUT],
                Terms(classes=("core",)),
                Gate(GateResult.CONFORMANT),
                id="class, others left out",
            ),
            pytest.param(
                [CORE, CARDS_OUT],
                Terms(classes=("core", "cards")),
                Gate(GateResult.INCONCLUSIVE),
                id="the worst of two classes",
            ),
            pytest.param(
                [CORE, concluded("cards", FAILED)],
                Terms(classes=("core",)),
                Gate(GateResult.CONFORMANT),
                id="class, another broken",
            ),
            pytest.param(
                [CORE, concluded("cards", FAILED)],
                Terms(classes=("cards",)),
                Gate(GateResult.NOT_CONFORMANT, new=("QUO-001",)),
                id="class broken",
            ),
            pytest.param(
                [CORE],
                Terms(classes=("cards",)),
                Gate(GateResult.INCONCLUSIVE),
                id="class of which nothing was decided",
            ),
            pytest.param(
                [CORE, concluded("cards", PASSED, selected=False)],
                Terms(classes=("cards",)),
                Gate(GateResult.INCONCLUSIVE),
                id="class that was kept to by the way alone",
            ),
            pytest.param(
                [CORE, concluded("", SILENT, Reason.TRIGGER_MISSING)],
                Terms(classes=("core",), require_exercised=50),
                Gate(GateResult.CONFORMANT),
                id="just enough exercised",
            ),
            pytest.param(
                [CORE, concluded("", SILENT, Reason.TRIGGER_MISSING)],
                Terms(classes=("core",), require_exercised=51),
                Gate(GateResult.TOO_LITTLE_EXERCISED, ("core",)),
                id="too little of a class",
            ),
            pytest.param(
                [CORE, concluded("", SILENT, Reason.TRIGGER_MISSING)],
                Terms(require_exercised=51),
                Gate(GateResult.TOO_LITTLE_EXERCISED),
                id="too little of the whole",
            ),
            pytest.param(
                [concluded("", FAILED), concluded("", SILENT, Reason.TRIGGER_MISSING)],
                Terms(require_exercised=51),
                Gate(GateResult.NOT_CONFORMANT, new=("QUO-001",)),
                id="broken is worse than too little",
            ),
        ],
    )
    def test_result(self, conclusions: list[Conclusion], terms: Terms, expected: Gate) -> None:
        """The classes asked for decide alone, then the share that was asked for."""
        assert judge_gate(conclusions, terms, classes(), TODAY) == expected


class TestBaseline:
    """Known failures do not close the gate; what is stale or has expired does."""

    OTHER = concluded("", PASSED, identifier="QUO-002")

    def gate(self, *conclusions: Conclusion, days: int = 0, classes_: tuple[str, ...] = ()) -> Gate:
        """Return what comes of a run for whose ``QUO-001`` there is an entry, for so many days."""
        known = KnownFailure("QUO-001", "ticket 7", TODAY + timedelta(days=days), 3)
        terms = Terms(classes_, baseline=Baseline("known.yaml", (known,)))
        return judge_gate(conclusions, terms, classes(), TODAY)

    @pytest.mark.parametrize(
        ("conclusion", "days", "state", "result"),
        [
            (concluded("", FAILED), 0, EntryState.KNOWN, GateResult.NO_NEW_FAILURE),
            (concluded("", FAILED), -1, EntryState.EXPIRED, GateResult.BASELINE_OUTDATED),
            (concluded("", PASSED), 9, EntryState.STALE, GateResult.BASELINE_OUTDATED),
            (concluded("", PASSED), -1, EntryState.STALE, GateResult.BASELINE_OUTDATED),
            (
                concluded("", PASSED, selected=False),
                9,
                EntryState.OPEN,
                GateResult.CONFORMANT,
            ),
            (
                concluded("", SILENT, Reason.TRIGGER_MISSING),
                9,
                EntryState.OPEN,
                GateResult.CONFORMANT,
            ),
        ],
        ids=["last day", "the day after", "stale", "stale and expired", "by the way", "silent"],
    )
    def test_entry(
        self, conclusion: Conclusion, days: int, state: EntryState, result: GateResult
    ) -> None:
        """The state of an entry follows from the verdict and the day."""
        gate = self.gate(conclusion, self.OTHER, days=days)

        assert gate.entries == {"QUO-001": state}
        assert gate.result is result

    def test_a_new_failure(self) -> None:
        """A failure without an entry closes the gate, also beside what is outdated."""
        gate = self.gate(
            concluded("", FAILED), concluded("", FAILED, identifier="QUO-002"), days=-1
        )

        assert gate.result is GateResult.NOT_CONFORMANT
        assert gate.new == ("QUO-002",)

    def test_nothing_but_known_failures(self) -> None:
        """A run that decided nothing but what is known to fail is not green."""
        assert self.gate(concluded("", FAILED)).result is GateResult.INCONCLUSIVE

    def test_other_classes(self) -> None:
        """An entry of a class that was not asked for is not looked at."""
        gate = self.gate(
            concluded("cards", PASSED),
            concluded("uma", PASSED, identifier="QUO-002"),
            classes_=("uma",),
        )

        assert gate.result is GateResult.CONFORMANT
        assert gate.entries == {"QUO-001": EntryState.OPEN}
