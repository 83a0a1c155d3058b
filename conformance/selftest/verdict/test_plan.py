"""The plan: what a run is going to decide, and the verdicts that follow from what it did."""

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


def rule(
    identifier: str = "A",
    *,
    level: Level = Level.MUST,
    needs: Needs | None = None,
    untestable: str | None = None,
) -> Requirement:
    """Return a requirement."""
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
    *rules: Requirement,
    named: Mapping[str, Collection[str]] | None = None,
    selected: Collection[str] | None = None,
    lacking: Mapping[str, tuple[Reason, str]] | None = None,
) -> Plan:
    """Return the plan of a run; by default each rule is named by a test that is selected."""
    by_rule = {r.id: [f"test_{r.id}"] for r in rules} if named is None else named
    chosen = [t for tests in by_rule.values() for t in tests] if selected is None else selected
    catalogue = Catalogue({r.id: r for r in rules})
    return Plan(catalogue, by_rule, chosen, lambda entry: (lacking or {}).get(entry.id))


def decision(outcome: Outcome, reason: Reason | None = None, detail: str = "") -> Decision:
    """Return a decision on A."""
    return Decision("A", outcome, "test_A", reason, detail)


def conclude(of: Plan, *decisions: Decision) -> Conclusion:
    """Return the verdict on A."""
    every = {test for entry in of.entries.values() for test in entry.tests}
    accounting = Accounting(of, ended=every)
    accounting.add(decisions)
    return next(c for c in accounting.conclude() if c.requirement.id == "A")


def verdict(*statuses: RequirementVerdict) -> TargetVerdict:
    """Return the verdict on a target whose requirements have these."""
    return target_verdict(Conclusion(rule(), status, None, "") for status in statuses)


class TestPlan:
    """What will be decided is known before the run starts."""

    def test_a_requirement_with_a_selected_test_will_be_decided(self) -> None:
        """Its tests are known."""
        made = plan(rule("A"))

        assert made.to_decide() == ["A"]
        assert made.entries["A"].tests == ("test_A",)

    def test_one_that_no_test_names_has_no_check(self) -> None:
        """That is the suite's own gap, and is told."""
        made = plan(rule("A"), named={})

        assert made.to_decide() == []
        assert made.entries["A"].reason is Reason.NO_CHECK

    def test_one_whose_tests_are_left_out_is_deselected(self) -> None:
        """All of them: one that is left decides it."""
        named = {"A": ["test_1"], "B": ["test_1", "test_2"]}

        made = plan(rule("A"), rule("B"), named=named, selected=["test_2"])

        assert made.entries["A"].reason is Reason.DESELECTED
        assert made.entries["B"].tests == ("test_2",)
        assert made.to_decide() == ["B"]

    def test_one_that_the_target_cannot_show_is_known_beforehand(self) -> None:
        """With what is lacking."""
        made = plan(rule("A"), lacking={"A": (Reason.TRIGGER_MISSING, "quote.expire")})

        assert made.to_decide() == []
        assert made.entries["A"].reason is Reason.TRIGGER_MISSING
        assert made.entries["A"].detail == "quote.expire"

    def test_an_untestable_one_has_no_reason(self) -> None:
        """It is accounted for by itself."""
        made = plan(rule("A", untestable="nobody sees it"), named={})

        assert made.to_decide() == []
        assert made.entries["A"].reason is None


class TestConclude:
    """One verdict for each requirement, from all its decisions."""

    def test_passed(self) -> None:
        """At least one check passed, and none said otherwise."""
        assert conclude(plan(rule()), decision(PASSED)).verdict is RequirementVerdict.PASSED

    def test_failed(self) -> None:
        """One failure outweighs any pass, and is shown."""
        concluded = conclude(plan(rule()), decision(PASSED), decision(FAILED, detail="why"))

        assert (concluded.verdict, concluded.detail) == (RequirementVerdict.FAILED, "why")
        assert len(concluded.decisions) == 2

    @pytest.mark.parametrize("level", [Level.SHOULD, Level.MAY])
    def test_warned(self, level: Level) -> None:
        """What is only recommended may be left undone."""
        concluded = conclude(plan(rule(level=level)), decision(FAILED, detail="why"))

        assert (concluded.verdict, concluded.detail) == (RequirementVerdict.WARNED, "why")

    def test_inconclusive(self) -> None:
        """A check that could not decide outweighs one that passed."""
        concluded = conclude(
            plan(rule()), decision(PASSED), decision(INCONCLUSIVE, Reason.TWIN_REFUSED, "why")
        )

        assert (concluded.verdict, concluded.reason) == (
            RequirementVerdict.INCONCLUSIVE,
            Reason.TWIN_REFUSED,
        )

    def test_not_exercised(self) -> None:
        """The trigger is missing, and nothing else decided it."""
        concluded = conclude(
            plan(rule()), decision(NOT_EXERCISED, Reason.TRIGGER_MISSING, "quote.expire")
        )

        assert concluded.verdict is RequirementVerdict.NOT_EXERCISED
        assert (concluded.reason, concluded.detail) == (Reason.TRIGGER_MISSING, "quote.expire")

    def test_a_pass_elsewhere_exercises_it(self) -> None:
        """Not every test of a requirement needs the trigger."""
        concluded = conclude(
            plan(rule()), decision(NOT_EXERCISED, Reason.TRIGGER_MISSING), decision(PASSED)
        )

        assert concluded.verdict is RequirementVerdict.PASSED

    def test_lost(self) -> None:
        """It was going to be decided, and nothing came."""
        concluded = conclude(plan(rule()))

        assert (concluded.verdict, concluded.reason) == (
            RequirementVerdict.INCONCLUSIVE,
            Reason.LOST,
        )

    @pytest.mark.parametrize(
        ("named", "reason"),
        [({}, Reason.NO_CHECK), ({"A": ["test_left_out"]}, Reason.DESELECTED)],
    )
    def test_what_was_not_to_be_decided_is_inconclusive(
        self, named: Mapping[str, Collection[str]], reason: Reason
    ) -> None:
        """It could have been."""
        concluded = conclude(plan(rule(), named=named, selected=[]))

        assert (concluded.verdict, concluded.reason) == (RequirementVerdict.INCONCLUSIVE, reason)

    @pytest.mark.parametrize("reason", [Reason.TRIGGER_MISSING, Reason.FEATURE_UNDECLARED])
    def test_what_the_target_does_not_offer_is_not_exercised(self, reason: Reason) -> None:
        """Even when its test was never run."""
        concluded = conclude(plan(rule(), lacking={"A": (reason, "x")}))

        assert (concluded.verdict, concluded.reason) == (RequirementVerdict.NOT_EXERCISED, reason)

    def test_what_is_not_declared_is_not_exercised_by_the_way(self) -> None:
        """A message that shows it is no claim to offer it; a wrong one fails all the same."""
        undeclared = plan(rule(), lacking={"A": (Reason.FEATURE_UNDECLARED, "x")})

        assert conclude(undeclared, decision(PASSED)).verdict is RequirementVerdict.NOT_EXERCISED
        assert conclude(undeclared, decision(FAILED)).verdict is RequirementVerdict.FAILED

    def test_untestable(self) -> None:
        """With the reason why."""
        concluded = conclude(plan(rule(untestable="nobody sees it"), named={}))

        assert (concluded.verdict, concluded.detail) == (
            RequirementVerdict.UNTESTABLE,
            "nobody sees it",
        )

    def test_decisions_on_unknown_requirements_are_left_aside(self) -> None:
        """An older journal may hold some."""
        accounting = Accounting(plan(rule()), ended={"test_A"})

        accounting.add([Decision("OLD", FAILED, "test")])

        assert [c.requirement.id for c in accounting.conclude()] == ["A"]


class TestRunVerdict:
    """The verdict on the whole target."""

    @pytest.mark.parametrize(
        ("statuses", "expected"),
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
    def test_of(self, statuses: list[RequirementVerdict], expected: TargetVerdict) -> None:
        """A run that decided nothing is never green."""
        assert verdict(*statuses) is expected


class TestUnmet:
    """What keeps a target from deciding a requirement."""

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
        """The feature is named before the trigger, which may go with it."""
        assert unmet(self.profile, rule(needs=needs)) == expected


def test_what_cannot_be_undone_needs_a_word_of_its_own() -> None:
    """The feature alone is not enough; other operations may decide what each does by itself."""
    minting = replace(rule(), operations=("createInternalAccount",))
    words = Irreversible(account_numbers=True)
    profile = Profile(implementation=Implementation(name="x"))

    assert unmet(profile, minting) == (Reason.IRREVERSIBLE, "irreversible.account_numbers")
    assert unmet(profile.model_copy(update={"irreversible": words}), minting) is None
    assert unmet(profile, replace(minting, each=True)) is None


def test_a_target_that_may_only_be_read_gets_no_verdict() -> None:
    """Few requirements can be decided by safe methods alone."""
    seen = [
        Conclusion(rule(), RequirementVerdict.PASSED, None, ""),
        Conclusion(rule("B"), RequirementVerdict.NOT_EXERCISED, Reason.READ_ONLY, ""),
    ]

    assert target_verdict(seen) is TargetVerdict.INCONCLUSIVE


def test_what_the_profile_does_not_offer_is_left_out_of_the_verdict() -> None:
    """It is counted and named instead."""
    seen = [
        Conclusion(rule(), RequirementVerdict.PASSED, None, ""),
        Conclusion(rule("B"), RequirementVerdict.NOT_EXERCISED, Reason.FEATURE_UNDECLARED, "sca"),
        Conclusion(rule("C"), RequirementVerdict.NOT_EXERCISED, Reason.IRREVERSIBLE, ""),
    ]

    assert target_verdict(seen) is TargetVerdict.CONFORMANT
