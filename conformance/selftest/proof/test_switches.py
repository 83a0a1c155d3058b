"""Features switched off in turn: which verdicts have to change, and what is said of others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from typer.testing import CliRunner

from conformance.cli.main import app
from conformance.contract.catalogue import catalogue
from conformance.proof import features as switches
from conformance.proof.features import Verdicts, declared, differences, expected, without
from conformance.proof.patch import MutantError
from conformance.run import load_profile
from conformance.verdict.decisions import Reason

UNDECLARED = ("not exercised", Reason.FEATURE_UNDECLARED.value)
PASSED = ("passed", "")


@pytest.fixture
def usual() -> Verdicts:
    """The verdicts of a run with every feature: all passed, the rest untestable."""
    return {
        entry.id: PASSED if entry.untestable is None else ("untestable", "")
        for entry in catalogue().values()
    }


class TestVerdicts:
    """What a run without a feature has to bring."""

    def test_the_rules_of_the_feature_are_not_exercised(self, usual: Verdicts) -> None:
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


class TestCommand:
    """What the console command prints and ends with."""

    @pytest.fixture(autouse=True)
    def _judged(self, monkeypatch: pytest.MonkeyPatch, usual: Verdicts) -> None:
        """In the place of runs: without ``cards`` another verdict changes, without ``uma`` none."""

        def judge(
            content: Mapping[str, Any], _options: Sequence[str]
        ) -> tuple[Verdicts, dict[str, str]]:
            off = [name for name, value in content["features"].items() if value is False]
            if "agents" in off:
                raise MutantError("a run brought no report")
            verdicts = dict(usual)
            for name in off:
                verdicts = dict(expected(catalogue(), name, verdicts))
            if "cards" in off:
                verdicts["QUO-001"] = ("failed", "")
            return verdicts, {"QUO-001": "expected this\nand more"}

        monkeypatch.setattr(switches, "_judge", judge)

    def test_a_clean_switch_is_success(self) -> None:
        """Exit status 0."""
        done = CliRunner().invoke(app, ["features", "--only=uma"])

        assert done.exit_code == 0, done.output
        assert "rules not exercised, 0 others changed\n" in done.output

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
        assert "a run brought no report" in done.output

    def test_an_unknown_feature_is_a_usage_error(self) -> None:
        """Exit status 2, before anything is run."""
        done = CliRunner().invoke(app, ["features", "--only=airships"])

        assert done.exit_code == 2
        assert "the reference declares no airships" in done.output
