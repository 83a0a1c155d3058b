"""The plan of a run, and the verdicts that follow from its decisions."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

import pytest

from conformance.contract.catalogue import Catalogue, Level, Needs, Requirement, Source
from conformance.profile.features import Features, Irreversible
from conformance.profile.model import Implementation, Profile
from conformance.profile.needs import unmet
from conformance.profile.triggers import Trigger, WaitTrigger
from conformance.verdict.decisions import Decision, Outcome, Reason
from conformance.verdict.plan import (
    Accounting,
    Conclusion,
    Plan,
    RequirementVerdict,
    TargetVerdict,
    target_verdict,
)

PASSED, FAILED = Outcome.PASSED, Outcome.FAILED
INCONCLUSIVE, NOT_EXERCISED = Outcome.INCONCLUSIVE, Outcome.NOT_EXERCISED


def requirement(
    identifier: str = "A",
    *,
    level: Level = Level.MUST,
    needs: Needs | None = None,
    untestable: str | None = None,
) -> Requirement:
    """Return a requirement with this id, A by default."""
    return Requirement(
        id=identifier,
        level=level,
        statement=f"{identifier} holds.",
        source=Source("Quotes", (1,)),
        operations=(),
        area="quotes",
        needs=needs or Needs(),
        untestable=untestable,
    )


def plan(
    *requirements: Requirement,
    tests_by_id: Mapping[str, Collection[str]] | None = None,
    selected: Collection[str] | None = None,
    missing: Mapping[str, tuple[Reason, str]] | None = None,
) -> Plan:
    """Return the plan of a run; by default each requirement has one test, which is selected."""
    all_tests = (
        {r.id: [f"test_{r.id}"] for r in requirements} if tests_by_id is None else tests_by_id
    )
    selection = [t for tests in all_tests.values() for t in tests] if selected is None else selected
    catalogue = Catalogue({r.id: r for r in requirements})
    return Plan(catalogue, all_tests, selection, lambda entry: (missing or {}).get(entry.id))


def decision(outcome: Outcome, reason: Reason | None = None, detail: str = "") -> Decision:
    """Return a decision on the requirement A."""
    return Decision("A", outcome, "test_A", reason, detail)


def conclude(run_plan: Plan, *decisions: Decision) -> Conclusion:
    """Return the conclusion on the requirement A after these decisions."""
    tests = {test for entry in run_plan.entries.values() for test in entry.tests}
    accounting = Accounting(run_plan, ended=tests)
    accounting.add(decisions)
    return next(c for c in accounting.conclude() if c.requirement.id == "A")


def verdict(*verdicts: RequirementVerdict) -> TargetVerdict:
    """Return the verdict on a target whose requirements have these verdicts."""
    return target_verdict(Conclusion(requirement(), each, None, "") for each in verdicts)


class TestPlan:
    """The plan says before the run which requirements it will decide."""

    def test_a_requirement_with_a_selected_test_will_be_decided(self) -> None:
        """The plan has the requirement with its test."""
        run_plan = plan(requirement("A"))

        assert run_plan.to_decide() == ["A"]
        assert run_plan.entries["A"].tests == ("test_A",)

    def test_one_that_no_test_names_has_no_check(self) -> None:
        """A requirement without a test has the reason NO_CHECK."""
        run_plan = plan(requirement("A"), tests_by_id={})

        assert run_plan.to_decide() == []
        assert run_plan.entries["A"].reason is Reason.NO_CHECK

    def test_one_whose_tests_are_left_out_is_deselected(self) -> None:
        """Without any selected test it is deselected; one selected test decides it."""
        tests_by_id = {"A": ["test_1"], "B": ["test_1", "test_2"]}

        run_plan = plan(
            requirement("A"), requirement("B"), tests_by_id=tests_by_id, selected=["test_2"]
        )

        assert run_plan.entries["A"].reason is Reason.DESELECTED
        assert run_plan.entries["B"].tests == ("test_2",)
        assert run_plan.to_decide() == ["B"]

    def test_one_that_the_target_cannot_show_is_known_beforehand(self) -> None:
        """A requirement has the reason and the name of what the profile does not offer."""
        run_plan = plan(requirement("A"), missing={"A": (Reason.TRIGGER_MISSING, "quote.expire")})

        assert run_plan.to_decide() == []
        assert run_plan.entries["A"].reason is Reason.TRIGGER_MISSING
        assert run_plan.entries["A"].detail == "quote.expire"

    def test_an_untestable_one_has_no_reason(self) -> None:
        """An untestable requirement is not to be decided, and has no reason."""
        run_plan = plan(requirement("A", untestable="nobody sees it"), tests_by_id={})

        assert run_plan.to_decide() == []
        assert run_plan.entries["A"].reason is None


class TestConclude:
    """Each requirement gets one verdict from all its decisions."""

    def test_passed(self) -> None:
        """One passed decision makes the requirement passed."""
        assert conclude(plan(requirement()), decision(PASSED)).verdict is RequirementVerdict.PASSED

    def test_failed(self) -> None:
        """One failure outweighs a pass, and its detail is kept."""
        conclusion = conclude(plan(requirement()), decision(PASSED), decision(FAILED, detail="why"))

        assert (conclusion.verdict, conclusion.detail) == (RequirementVerdict.FAILED, "why")
        assert len(conclusion.decisions) == 2

    @pytest.mark.parametrize("level", [Level.SHOULD, Level.MAY])
    def test_warned(self, level: Level) -> None:
        """A failed SHOULD or MAY is a warning."""
        conclusion = conclude(plan(requirement(level=level)), decision(FAILED, detail="why"))

        assert (conclusion.verdict, conclusion.detail) == (RequirementVerdict.WARNED, "why")

    def test_inconclusive(self) -> None:
        """An inconclusive decision outweighs a pass, and its reason is kept."""
        conclusion = conclude(
            plan(requirement()),
            decision(PASSED),
            decision(INCONCLUSIVE, Reason.TWIN_REFUSED, "why"),
        )

        assert (conclusion.verdict, conclusion.reason) == (
            RequirementVerdict.INCONCLUSIVE,
            Reason.TWIN_REFUSED,
        )

    def test_not_exercised(self) -> None:
        """A requirement without another decision has the missing trigger as its reason."""
        conclusion = conclude(
            plan(requirement()), decision(NOT_EXERCISED, Reason.TRIGGER_MISSING, "quote.expire")
        )

        assert conclusion.verdict is RequirementVerdict.NOT_EXERCISED
        assert (conclusion.reason, conclusion.detail) == (Reason.TRIGGER_MISSING, "quote.expire")

    def test_a_pass_elsewhere_exercises_it(self) -> None:
        """A pass of one test counts where another test lacked a trigger."""
        conclusion = conclude(
            plan(requirement()), decision(NOT_EXERCISED, Reason.TRIGGER_MISSING), decision(PASSED)
        )

        assert conclusion.verdict is RequirementVerdict.PASSED

    def test_lost(self) -> None:
        """A requirement to be decided, without a decision, is inconclusive with the reason LOST."""
        conclusion = conclude(plan(requirement()))

        assert (conclusion.verdict, conclusion.reason) == (
            RequirementVerdict.INCONCLUSIVE,
            Reason.LOST,
        )

    @pytest.mark.parametrize(
        ("tests_by_id", "reason"),
        [({}, Reason.NO_CHECK), ({"A": ["test_left_out"]}, Reason.DESELECTED)],
    )
    def test_what_was_not_to_be_decided_is_inconclusive(
        self, tests_by_id: Mapping[str, Collection[str]], reason: Reason
    ) -> None:
        """Without a test, or with none selected, a requirement is inconclusive."""
        conclusion = conclude(plan(requirement(), tests_by_id=tests_by_id, selected=[]))

        assert (conclusion.verdict, conclusion.reason) == (RequirementVerdict.INCONCLUSIVE, reason)

    @pytest.mark.parametrize("reason", [Reason.TRIGGER_MISSING, Reason.FEATURE_UNDECLARED])
    def test_what_the_target_does_not_offer_is_not_exercised(self, reason: Reason) -> None:
        """A missing trigger or feature makes it not exercised, without a run of its test."""
        conclusion = conclude(plan(requirement(), missing={"A": (reason, "x")}))

        assert (conclusion.verdict, conclusion.reason) == (RequirementVerdict.NOT_EXERCISED, reason)

    def test_what_is_not_declared_is_not_exercised_by_the_way(self) -> None:
        """Without its feature a pass does not count, and a failure does."""
        undeclared = plan(requirement(), missing={"A": (Reason.FEATURE_UNDECLARED, "x")})

        assert conclude(undeclared, decision(PASSED)).verdict is RequirementVerdict.NOT_EXERCISED
        assert conclude(undeclared, decision(FAILED)).verdict is RequirementVerdict.FAILED

    def test_untestable(self) -> None:
        """An untestable requirement has the reason of its entry as the detail."""
        conclusion = conclude(plan(requirement(untestable="nobody sees it"), tests_by_id={}))

        assert (conclusion.verdict, conclusion.detail) == (
            RequirementVerdict.UNTESTABLE,
            "nobody sees it",
        )

    def test_decisions_on_unknown_requirements_are_left_aside(self) -> None:
        """A decision on an id that the catalogue does not have is ignored."""
        accounting = Accounting(plan(requirement()), ended={"test_A"})

        accounting.add([Decision("OLD", FAILED, "test")])

        assert [c.requirement.id for c in accounting.conclude()] == ["A"]


class TestRunVerdict:
    """The verdict on the whole target."""

    @pytest.mark.parametrize(
        ("verdicts", "expected"),
        [
            pytest.param([], TargetVerdict.INCONCLUSIVE, id="nothing at all"),
            pytest.param(
                [RequirementVerdict.UNTESTABLE], TargetVerdict.INCONCLUSIVE, id="only untestable"
            ),
            pytest.param(
                [RequirementVerdict.NOT_EXERCISED],
                TargetVerdict.INCONCLUSIVE,
                id="nothing exercised",
            ),
            pytest.param(
                [RequirementVerdict.INCONCLUSIVE], TargetVerdict.INCONCLUSIVE, id="nothing decided"
            ),
            pytest.param([RequirementVerdict.PASSED], TargetVerdict.CONFORMANT, id="all passed"),
            pytest.param(
                [RequirementVerdict.PASSED, RequirementVerdict.WARNED],
                TargetVerdict.CONFORMANT,
                id="recommendation broken",
            ),
            pytest.param(
                [
                    RequirementVerdict.PASSED,
                    RequirementVerdict.NOT_EXERCISED,
                    RequirementVerdict.UNTESTABLE,
                ],
                TargetVerdict.CONFORMANT,
                id="some not offered",
            ),
            pytest.param(
                [RequirementVerdict.PASSED, RequirementVerdict.INCONCLUSIVE],
                TargetVerdict.INCONCLUSIVE,
                id="one left open",
            ),
            pytest.param(
                [RequirementVerdict.PASSED, RequirementVerdict.FAILED],
                TargetVerdict.NOT_CONFORMANT,
                id="one broken",
            ),
            pytest.param(
                [RequirementVerdict.INCONCLUSIVE, RequirementVerdict.FAILED],
                TargetVerdict.NOT_CONFORMANT,
                id="broken and left open",
            ),
        ],
    )
    def test_of(self, verdicts: list[RequirementVerdict], expected: TargetVerdict) -> None:
        """A run that decided nothing is never conformant."""
        assert verdict(*verdicts) is expected


class TestUnmet:
    """``unmet`` says why a profile cannot exercise a requirement."""

    profile = Profile(
        implementation=Implementation(name="x"),
        features=Features(sca=True, platform="unregulated"),
        triggers={"quote.expire": Trigger(wait=WaitTrigger(until="expiresAt"))},
    )

    @pytest.mark.parametrize(
        ("needs", "expected"),
        [
            (Needs(), None),
            (Needs(triggers=("quote.expire",), features=("sca", "unregulated")), None),
            (Needs(features=("webhooks",)), (Reason.FEATURE_UNDECLARED, "webhooks")),
            (Needs(features=("regulated",)), (Reason.FEATURE_UNDECLARED, "regulated")),
            (Needs(triggers=("payout.hold",)), (Reason.TRIGGER_MISSING, "payout.hold")),
            (
                Needs(triggers=("payout.hold",), features=("cards",)),
                (Reason.FEATURE_UNDECLARED, "cards"),
            ),
        ],
    )
    def test_of(self, needs: Needs, expected: tuple[Reason, str] | None) -> None:
        """A missing feature is named before a missing trigger, which may belong to it."""
        assert unmet(self.profile, requirement(needs=needs)) == expected


def test_what_cannot_be_undone_needs_a_word_of_its_own() -> None:
    """A permanent operation needs ``irreversible``, unless each operation decides by itself."""
    minting = replace(requirement(), operations=("createInternalAccount",))
    irreversible = Irreversible(account_numbers=True)
    profile = Profile(implementation=Implementation(name="x"))

    assert unmet(profile, minting) == (Reason.IRREVERSIBLE, "irreversible.account_numbers")
    assert unmet(profile.model_copy(update={"irreversible": irreversible}), minting) is None
    assert unmet(profile, replace(minting, each=True)) is None


def test_a_target_that_may_only_be_read_gets_no_verdict() -> None:
    """One requirement that is open as READ_ONLY makes the target inconclusive."""
    conclusions = [
        Conclusion(requirement(), RequirementVerdict.PASSED, None, ""),
        Conclusion(requirement("B"), RequirementVerdict.NOT_EXERCISED, Reason.READ_ONLY, ""),
    ]

    assert target_verdict(conclusions) is TargetVerdict.INCONCLUSIVE


def test_what_the_profile_does_not_offer_is_left_out_of_the_verdict() -> None:
    """Undeclared features and permanent operations leave the target conformant."""
    conclusions = [
        Conclusion(requirement(), RequirementVerdict.PASSED, None, ""),
        Conclusion(
            requirement("B"), RequirementVerdict.NOT_EXERCISED, Reason.FEATURE_UNDECLARED, "sca"
        ),
        Conclusion(requirement("C"), RequirementVerdict.NOT_EXERCISED, Reason.IRREVERSIBLE, ""),
    ]

    assert target_verdict(conclusions) is TargetVerdict.CONFORMANT
