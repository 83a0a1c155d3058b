"""Features switched off in turn: which verdicts have to change, and what is said of others."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from typer.testing import CliRunner

from conformance import plugin
from conformance.cli.main import app
from conformance.contract.catalogue import catalogue
from conformance.proof import features as switches
from conformance.proof import host
from conformance.proof.features import (
    Verdicts,
    concerned,
    decided,
    declared,
    differences,
    expected,
    judge_without,
    without,
)
from conformance.proof.patch import MutantError
from conformance.proof.reach import Seen, Survey, survey
from conformance.run import load_profile
from conformance.verdict.decisions import Decision, Outcome, Reason

UNDECLARED = ("not exercised", Reason.FEATURE_UNDECLARED.value)
PASSED = ("passed", "")


def seen(
    test: str,
    named: Sequence[str],
    *,
    features: Sequence[str] = (),
    decides: Sequence[str] | None = None,
    delivered: Sequence[str] = (),
) -> Seen:
    """Return what a test that passes did in the survey."""
    passed = (Decision(name, Outcome.PASSED, test) for name in decides or named)
    return Seen(
        test,
        "scenarios/test_x.py",
        tuple(named),
        frozenset(),
        frozenset(features),
        tuple(passed),
        frozenset(delivered),
        0.1,
    )


@pytest.fixture
def usual() -> Verdicts:
    """The verdicts of a run with every feature: all passed, the rest untestable."""
    return {
        entry.id: PASSED if entry.untestable is None else ("untestable", "")
        for entry in catalogue().values()
    }


class TestVerdicts:
    """What a run without a feature has to bring."""

    def test_the_requirements_of_the_feature_are_not_exercised(self, usual: Verdicts) -> None:
        """Those that need it beside others too; the untestable ones stay as they are."""
        found = expected(catalogue(), "webhooks", usual)

        changed = {name for name in usual if found[name] != usual[name]}
        assert changed == {
            entry.id
            for entry in catalogue().values()
            if "webhooks" in entry.needs.features and entry.untestable is None
        }
        assert {found[name] for name in changed} == {UNDECLARED}

    def test_every_other_verdict_that_changes_is_told(self) -> None:
        """A missing one too."""
        wanted = {"A": PASSED, "B": UNDECLARED, "C": PASSED}

        found = differences(wanted, {"A": ("failed", ""), "B": UNDECLARED}, {"A": "why"})

        assert [(one.requirement, one.found, one.detail) for one in found] == [
            ("A", ("failed", ""), "why"),
            ("C", ("", ""), ""),
        ]

    def test_one_feature_is_taken_out_of_the_profile(self) -> None:
        """The others stay, and platforms are no feature that could be left out."""
        profile = load_profile("reference")
        content = profile.model_dump(mode="json", by_alias=True, exclude_none=True)

        assert "webhooks" in declared(profile)
        assert "platform" not in declared(profile)
        assert without(content, "webhooks")["features"] == {
            **content["features"],
            "webhooks": False,
        }


class TestConcern:
    """Which tests a feature can matter to, and what the others decide without it."""

    ASKING = seen("asking", ["QUO-001"], features=["cards"])
    NEEDING = seen("needing", ["QUO-001", "CAR-001"])
    TOLD = seen("told", ["QUO-001"], delivered=["QUO-001"])
    OTHER = seen("other", ["QUO-001"], delivered=["QUO-002"])

    @pytest.mark.parametrize(
        ("feature", "expected_tests"),
        [("cards", ["asking", "needing"]), ("webhooks", ["told"]), ("uma", [])],
    )
    def test_of_tests(self, feature: str, expected_tests: list[str]) -> None:
        """Those that ask for it, name what needs it, or name what webhooks decide."""
        tests = (self.ASKING, self.NEEDING, self.TOLD, self.OTHER)

        assert [one.test for one in tests if concerned(one, feature)] == expected_tests

    def test_without_webhooks_nothing_is_decided_by_them(self) -> None:
        """All the rest stays as it is."""
        both = seen("both", ["QUO-001"], decides=["QUO-001", "QUO-002"], delivered=["QUO-002"])

        assert [one.requirement for one in decided(both, "webhooks")] == ["QUO-001"]
        assert decided(both, "cards") == both.decisions


class TestCommand:
    """What the console command prints and ends with."""

    @pytest.fixture(autouse=True)
    def _judged(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """In the place of runs: without ``cards`` another verdict changes, without ``uma`` none."""
        tests = {
            entry.id: seen(entry.id, [entry.id])
            for entry in catalogue().values()
            if entry.untestable is None
        }

        def judge_without(chosen: Sequence[str], *_: object) -> dict[str, dict[str, object]]:
            if "agents" in chosen:
                raise MutantError("the suite could not be run")
            failed = Decision("QUO-001", Outcome.FAILED, "QUO-001", None, "expected this\nand more")
            return {name: {"QUO-001": (failed,)} if name == "cards" else {} for name in chosen}

        monkeypatch.setattr(switches, "survey", lambda *_, **__: Survey(tests, {}))
        monkeypatch.setattr(switches, "judge_without", judge_without)

    def test_a_clean_switch_is_success(self) -> None:
        """Exit status 0."""
        done = CliRunner().invoke(app, ["features", "--only=uma"])
        verbose = CliRunner().invoke(app, ["features", "--only=uma", "-v"])

        assert done.exit_code == 0, done.output
        assert done.output.startswith("1 features in ")
        assert " not exercised, 0 others changed (0 tests concerned)\n" in verbose.output

    def test_another_change_is_not(self) -> None:
        """Exit status 1, with the verdict and its first line."""
        done = CliRunner().invoke(app, ["features", "--only=cards", "--only=uma"])

        assert done.exit_code == 1
        assert "    QUO-001 failed in the place of passed: expected this\n" in done.output
        assert "2 features in " in done.output

    def test_a_run_that_breaks_is_an_error(self) -> None:
        """Exit status 2, with what it said."""
        done = CliRunner().invoke(app, ["features", "--only=agents"])

        assert done.exit_code == 2
        assert "the suite could not be run" in done.output

    def test_an_unknown_feature_is_a_usage_error(self) -> None:
        """Exit status 2, before anything is run."""
        done = CliRunner().invoke(app, ["features", "--only=airships"])

        assert done.exit_code == 2
        assert "the reference declares no airships" in done.output


NAMED = ("QUO-083", "CUS-001", "CAR-001")
SUITE = """
from conformance.scenarios.kit.marks import requirement

@requirement("QUO-083")
def test_that_needs_nothing(platform):
    assert platform.quotes.execute()["status"] == "PROCESSING"

@requirement("CUS-001")
def test_that_takes_cards_for_granted(platform):
    assert platform.profile.features.cards

@requirement("CAR-001")
def test_that_needs_cards(platform):
    platform.api.get_config()
"""


def test_what_asks_for_a_feature_is_run_without_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """What the feature cannot matter to is not run again."""
    package = tmp_path / "package"
    for room in ("scenarios", "fuzz"):
        (package / room).mkdir(parents=True)
    (package / "scenarios" / "test_switched.py").write_text(SUITE, encoding="utf-8")
    monkeypatch.setattr(host, "SUITE", package)
    monkeypatch.setattr(plugin, "_SUITE", (package / "scenarios", package / "fuzz"))

    found = judge_without(["cards"], survey(1, fuzz_examples=0), 1, 0)["cards"]

    outcomes = {
        test.partition("::")[2]: [one.outcome for one in decisions if one.requirement in NAMED]
        for test, decisions in found.items()
    }
    assert outcomes == {
        "test_that_takes_cards_for_granted": [Outcome.FAILED],
        "test_that_needs_cards": [Outcome.NOT_EXERCISED],
    }
