"""Conforming variants: how they are declared, and whom the runner blames when a check complains."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from conformance import plugin
from conformance.cli.main import app
from conformance.proof import mutation as runner
from conformance.proof import tolerance, variant
from conformance.proof.kit.builders import edited
from conformance.proof.patch import Apply, MutantError, Patch
from conformance.proof.tolerance import (
    Alarm,
    Standing,
    Treatment,
    choose_variants,
    load_variants,
)
from conformance.proof.variant import DuplicateVariant, Registry
from conformance.reference import deliveries, quotes
from conformance.verdict.decisions import Outcome

SUITE = """
from conformance.scenarios.kit.marks import requirement
from conformance.verdict.decisions import PreconditionFailed

@requirement("QUO-083", "QUO-171")
def test_an_execution_is_processing_and_has_a_name(platform, check):
    executed = platform.quotes.execute()
    with check("QUO-083"):
        assert executed["status"] == "PROCESSING", executed["status"]
    with check("QUO-171"):
        assert "name" not in executed

@requirement("QUO-084")
def test_a_quote_that_is_shown_with_a_label_cannot_be_judged(platform):
    if "label" in platform.quotes.execute():
        raise PreconditionFailed("what is this label")

@requirement("QUO-086")
def test_that_fails_on_the_reference_too(platform):
    assert platform.quotes.pending() is None

@requirement("QUO-085")
def test_two_members_together_are_too_many(platform):
    assert not {"one", "two"} <= platform.quotes.execute().keys()
"""


def adding(**members: Any) -> Apply:
    """Return a patch after which an executed quote has further members."""
    return edited(quotes, "execute", lambda quote: {**quote, **members})


def unmet(patch: Patch) -> None:
    """Change what no test of the suite above comes to."""
    patch.replace(quotes, "is_approvable", lambda _quote: True)


def nothing(_patch: Patch) -> None:
    """Change nothing."""


@pytest.fixture
def declared(monkeypatch: pytest.MonkeyPatch) -> Registry:
    """The variants of a test, in the place of the suite's own."""
    registry = Registry()
    monkeypatch.setattr(tolerance, "load_variants", lambda: list(registry))
    return registry


class TestDeclaration:
    """Variants are known by what is open and a name."""

    def test_a_variant_is_named_after_its_function(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """With hyphens; without a group it is alone."""
        registry = Registry()
        monkeypatch.setattr(variant, "declare", registry.declare)

        @variant.variant("M09", "a second execution answers 2xx with the quote as it stands")
        def executed_again(patch: Patch) -> None:
            patch.replace(deliveries, "_LONGEST_DELAY", 1.0)

        (one,) = registry
        assert (one.id, one.point, one.group) == ("M09/executed-again", "M09", None)
        assert one.statement == "a second execution answers 2xx with the quote as it stands"
        assert one.patch is executed_again

    def test_two_of_one_name_are_refused(self) -> None:
        """One would hide the other."""
        registry = Registry()
        registry.declare("M09", "same_name", "x", unmet)

        with pytest.raises(DuplicateVariant, match="M09/same-name is declared twice"):
            registry.declare("M09", "same-name", "y", unmet)

    def test_they_are_chosen_by_id_point_or_group(self) -> None:
        """A name that fits none is refused, as nothing would be run for it."""
        registry = Registry()
        for point, name, group in (("M09", "a", "g"), ("M09", "b", None), ("M10", "c", "g")):
            registry.declare(point, name, "x", unmet, group)

        def chosen(*only: str) -> list[str]:
            return [one.id for one in choose_variants(registry, only)]

        assert chosen() == ["M09/a", "M09/b", "M10/c"]
        assert chosen("M09") == ["M09/a", "M09/b"]
        assert chosen("g") == ["M09/a", "M10/c"]
        assert chosen("M10/c", "M09/b") == ["M09/b", "M10/c"]
        with pytest.raises(MutantError, match="there is no variant None"):
            chosen("None")


def test_the_suite_declares_variants() -> None:
    """By the hundred: optional members make many of them."""
    assert len(load_variants()) > 100


def test_each_is_blamed_for_its_own(
    declared: Registry, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """In groups and alone, and none for what fails on the reference too."""
    package = tmp_path / "package"
    for room in ("scenarios", "fuzz"):
        (package / room).mkdir(parents=True)
    (package / "scenarios" / "test_tiny.py").write_text(SUITE, encoding="utf-8")
    monkeypatch.setattr(runner, "_SUITE", package)
    monkeypatch.setattr(plugin, "_SUITE", (package / "scenarios", package / "fuzz"))
    for name, patch in {
        "harmless": adding(further="x"),
        "status": adding(status="COMPLETED"),
        "label": adding(label="x"),
        "name": adding(name="x"),
        "one": adding(one=1),
        "two": adding(two=2),
        "unmet": unmet,
        "same": lambda patch: patch.replace(deliveries, "_LONGEST_DELAY", 1800.0),
        "nothing": nothing,
    }.items():
        declared.declare("M01", name, f"it is {name}", patch, "all")
    declared.declare("M02", "status", "it is alone", adding(status="COMPLETED"))
    json_file = tmp_path / "variants.json"

    done = CliRunner().invoke(app, ["variants", "--processes=1", f"--json={json_file}"])

    told = {entry["id"]: entry for entry in json.loads(json_file.read_text())["variants"]}
    assert done.exit_code == 1
    assert {name: entry["outcome"] for name, entry in told.items()} == {
        "M01/harmless": Standing.TOLERATED,
        "M01/status": Standing.FAILED,
        "M01/label": Standing.OPEN,
        "M01/name": Standing.TOLERATED,
        "M01/one": Standing.TOLERATED,
        "M01/two": Standing.TOLERATED,
        "M01/unmet": Standing.IDLE,
        "M01/same": Standing.UNCHANGED,
        "M01/nothing": Standing.UNCHANGED,
        "M02/status": Standing.FAILED,
        "all together": Standing.FAILED,
        "the reference itself": Standing.UNRELIABLE,
    }
    (alarm,) = told["M01/status"]["alarms"]
    assert (alarm["requirement"], alarm["outcome"]) == ("QUO-083", "failed")
    assert alarm["test"].endswith("::test_an_execution_is_processing_and_has_a_name")
    assert told["M01/name"]["warnings"] == ["QUO-171"]
    assert [alarm["requirement"] for alarm in told["all together"]["alarms"]] == ["QUO-085"]
    (alarm,) = told["the reference itself"]["alarms"]
    assert alarm["requirement"] == "QUO-086"
    assert "M01/name  it is name  (warned by QUO-171)" in done.output
    assert "    QUO-084 INCONCLUSIVE by test_tiny.py::test_a_quote_that_is_" in done.output


class TestCommand:
    """What the console command prints and ends with."""

    @pytest.fixture
    def treated(self, monkeypatch: pytest.MonkeyPatch) -> list[Treatment]:
        """The results of the command, to be filled by a test."""
        treatments: list[Treatment] = []
        monkeypatch.setattr(tolerance, "tolerance", lambda *_, **__: treatments)
        return treatments

    def test_all_tolerated_is_success(self, treated: list[Treatment]) -> None:
        """Exit status 0."""
        treated.append(Treatment("M09/x", "M09", "x is so", Standing.TOLERATED))

        done = CliRunner().invoke(app, ["variants"])

        assert done.exit_code == 0, done.output
        assert "tolerated      M09/x  x is so\n" in done.output
        assert "1 variants in " in done.output

    @pytest.mark.parametrize("outcome", [one for one in Standing if one != Standing.TOLERATED])
    def test_anything_else_is_not(self, treated: list[Treatment], outcome: Standing) -> None:
        """Exit status 1, and of many alarms the first."""
        alarm = Alarm("QUO-083", Outcome.FAILED, "a/f.py::t", "no\nmore")
        treated.append(Treatment("M09/x", "M09", "x is so", outcome, (alarm,) * 8))

        done = CliRunner().invoke(app, ["variants"])

        assert done.exit_code == 1
        assert done.output.startswith(outcome.upper())
        assert done.output.count("    QUO-083 FAILED by f.py::t: no\n") == 6
        assert "    and 2 more\n" in done.output

    def test_no_variant_at_all_is_not_either(
        self, treated: list[Treatment], declared: Registry
    ) -> None:
        """What ran nothing is never green."""
        assert (len(treated), len(declared)) == (0, 0)

        assert CliRunner().invoke(app, ["variants"]).exit_code == 1

    def test_an_unknown_name_is_a_usage_error(self) -> None:
        """Exit status 2, before anything is run."""
        done = CliRunner().invoke(app, ["variants", "--only", "M999"])

        assert done.exit_code == 2
        assert "there is no variant M999, nor one of a point or group M999" in done.output
