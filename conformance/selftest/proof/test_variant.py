"""Conforming variants: how they are declared, and whom the runner blames when a check complains."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner

from conformance import plugin
from conformance.cli.main import app
from conformance.proof import host, tolerance, variant
from conformance.proof.kit.builders import concerning, edited, instead
from conformance.proof.kit.tables import with_status
from conformance.proof.patch import Apply, MutantError, Patch
from conformance.proof.reach import Seen, Survey
from conformance.proof.tolerance import (
    FalseAlarm,
    Result,
    Tolerance,
    VariantOutcome,
    affordable,
    choose_variants,
    combined,
    load_variants,
    named,
    partitioned,
    shrunk,
)
from conformance.proof.variant import DuplicateVariant, Registry, Variant
from conformance.reference import rules
from conformance.reference.quotes import quotes
from conformance.reference.webhooks import deliveries
from conformance.verdict.decisions import Outcome

QUOTES_CREATE = "conformance.reference.quotes.quotes:create"
_MOST_PARTS = 12
STATUS = "conformance.reference.rules:ERROR_STATUS"

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
    assert platform.quotes.execute() is None

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
            patch.replace(deliveries, "_MAX_DELAY_SECONDS", 1.0)

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


def test_each_variant_can_be_applied() -> None:
    """Each changes something that is there, and can be taken back."""
    for one in load_variants():
        patch = Patch()
        try:
            one.patch(patch)
            assert patch.changes, one.id
        finally:
            patch.revert()


@pytest.mark.slow
def test_each_is_blamed_for_its_own(
    declared: Registry, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """In groups, alone and drawn by chance, and none for what fails on the reference too."""
    package = tmp_path / "package"
    for room in ("scenarios", "fuzz"):
        (package / room).mkdir(parents=True)
    (package / "scenarios" / "test_tiny.py").write_text(SUITE, encoding="utf-8")
    monkeypatch.setattr(host, "SUITE", package)
    monkeypatch.setattr(plugin, "_SUITE", (package / "scenarios", package / "fuzz"))
    for name, patch in {
        "harmless": adding(further="x"),
        "status": adding(status="COMPLETED"),
        "label": adding(label="x"),
        "name": adding(name="x"),
        "one": adding(one=1),
        "two": adding(two=2),
        "unmet": unmet,
        "same": lambda patch: patch.replace(deliveries, "_MAX_DELAY_SECONDS", 1800.0),
        "nothing": nothing,
    }.items():
        declared.declare("M01", name, f"it is {name}", patch, "all")
    declared.declare("M02", "status", "it is alone", adding(status="COMPLETED"))
    json_file = tmp_path / "variants.json"

    command = ["variants", "--processes=1", f"--json={json_file}"]

    done = CliRunner().invoke(app, command)

    told = {entry["id"]: entry for entry in json.loads(json_file.read_text())["variants"]}
    assert done.exit_code == 1
    assert {name: entry["outcome"] for name, entry in told.items()} == {
        "M01/harmless": VariantOutcome.TOLERATED,
        "M01/status": VariantOutcome.FAILED,
        "M01/label": VariantOutcome.OPEN,
        "M01/name": VariantOutcome.TOLERATED,
        "M01/one": VariantOutcome.TOLERATED,
        "M01/two": VariantOutcome.TOLERATED,
        "M01/unmet": VariantOutcome.IDLE,
        "M01/same": VariantOutcome.UNCHANGED,
        "M01/nothing": VariantOutcome.UNCHANGED,
        "M02/status": VariantOutcome.FAILED,
        "M01/one + M01/two": VariantOutcome.FAILED,
        "the reference itself": VariantOutcome.UNRELIABLE,
    }
    (alarm,) = told["M01/status"]["alarms"]
    assert (alarm["requirement"], alarm["outcome"]) == ("QUO-083", "failed")
    assert alarm["test"].endswith("::test_an_execution_is_processing_and_has_a_name")
    assert [alarm["requirement"] for alarm in told["M01/one + M01/two"]["alarms"]] == ["QUO-085"]
    alarms = told["the reference itself"]["alarms"]
    assert {alarm["requirement"] for alarm in alarms} == {"QUO-086"}
    assert "M01/name" not in done.output
    assert "    QUO-084 INCONCLUSIVE by test_tiny.py::test_a_quote_that_is_" in done.output

    parts = partitioned(list(declared))
    seed = next(seed for seed, part in enumerate(parts) if "M01/name" in part)
    drawn = CliRunner().invoke(app, [*command, f"--draw={seed}"])

    told = {entry["id"]: entry for entry in json.loads(json_file.read_text())["variants"]}
    assert drawn.exit_code == 1
    assert drawn.output.startswith(
        f"{len(parts[seed])} of 10 variants drawn together by seed {seed}, with share 1/1"
    )
    assert told["M01/name"]["outcome"] == VariantOutcome.TOLERATED
    assert told["M01/status"]["outcome"] == VariantOutcome.FAILED
    assert not {"M01/unmet", "M02/status"} & set(told)


def test_generated_requests_meet_variants_alone(
    declared: Registry, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """With a seed for them the scenarios are left out, and what they do not come to is not told."""
    package = tmp_path / "package"
    for room in ("scenarios", "fuzz"):
        (package / room).mkdir(parents=True)
        (package / room / f"test_of_{room}.py").write_text(SUITE, encoding="utf-8")
    monkeypatch.setattr(host, "SUITE", package)
    monkeypatch.setattr(plugin, "_SUITE", (package / "scenarios", package / "fuzz"))
    declared.declare("M01", "name", "it has a name", adding(name="x"), "all")
    declared.declare("M01", "unmet", "nothing comes to it", unmet, "all")
    declared.declare("M02", "status", "it is alone", adding(status="COMPLETED"))
    json_file = tmp_path / "variants.json"

    done = CliRunner().invoke(app, ["variants", "--processes=1", f"--json={json_file}", "--fuzz=3"])

    assert done.exit_code == 1
    assert done.output.startswith("2 of 3 variants met by requests of seed 3\n")
    told = {entry["id"]: entry for entry in json.loads(json_file.read_text())["variants"]}
    assert told.keys() == {"M01/name", "M02/status", "the reference itself"}
    (alarm,) = told["M02/status"]["alarms"]
    assert "/test_of_fuzz.py::" in alarm["test"]


class TestBlame:
    """A combination shrinks to the variants that bring about what it does."""

    @pytest.mark.parametrize("needed", [{"M01/a"}, {"M01/d"}, {"M01/b", "M01/e"}, set("abcde")])
    def test_no_more_than_are_needed(self, needed: set[str]) -> None:
        """Whichever of them they are, in the order in which they are declared."""
        names = {f"M01/{name[-1]}" for name in needed}
        group = [Variant(f"M01/{name}", "M01", "x", nothing) for name in "abcde"]

        blamed = shrunk(group, lambda some: names <= {one.id for one in some})

        assert [one.id for one in blamed] == sorted(names)


class TestHiding:
    """One variant may keep a test from coming to what another changes."""

    def test_what_is_hidden_meets_the_test_without_the_others(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Else it would be tolerated unseen."""
        hiding, hidden = (
            Variant(name, "M01", "x", with_status(code, 418))
            for name, code in (("hiding", "CONFLICT"), ("hidden", "NOT_FOUND"))
        )
        test: Any = SimpleNamespace(nodeid="t")
        alarm = FalseAlarm("QUO-083", Outcome.FAILED, "t")

        def runs(_loop: object, group: Sequence[Variant], _tests: object) -> list[tolerance._Run]:
            names = {one.id for one in group}
            used = {"hiding"} if "hiding" in names else names
            return [tolerance._Run(test, [alarm] if "hidden" in used else [], used)]

        monkeypatch.setattr(tolerance._VariantLoop, "_runs", runs)
        service: Any = None
        loop = tolerance._VariantLoop(lambda _: (), service)

        found = list(loop._meet([hiding, hidden], [test], {"t": ["hiding", "hidden"]}))

        assert [(one.id, one.alarms) for one in found if one.alarms] == [("hidden", (alarm,))]
        assert {one.id for one in found if one.met} == {"hiding", "hidden"}

    def test_what_no_test_comes_to_alone_is_not_met(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A variant that no test comes to is not met, whatever the survey says."""
        variant = Variant("idle", "M01", "x", with_status("CONFLICT", 418))
        test: Any = SimpleNamespace(nodeid="t")
        monkeypatch.setattr(
            tolerance._VariantLoop, "_runs", lambda *_: [tolerance._Run(test, [], ())]
        )
        service: Any = None
        loop = tolerance._VariantLoop(lambda _: (), service)

        (one,) = loop._meet([variant], [test], {"t": ["idle"]})

        assert (one.id, one.met) == ("idle", False)


class TestCombinations:
    """Which variants are applied at once."""

    @pytest.fixture
    def reached(self) -> Survey:
        """Two tests: one comes to a function alone, and one to another and a row of a table."""
        execute, create = "conformance.reference.quotes.quotes:execute", QUOTES_CREATE
        places = {"first": {execute}, "second": {create, f"{STATUS}[NOT_FOUND]", STATUS}}
        return Survey(
            {
                name: Seen(name, "m.py", (), frozenset(of), frozenset(), (), frozenset(), 1.0)
                for name, of in places.items()
            },
            {place: place for place in (execute, create, STATUS)},
        )

    def combinations(self, reached: Survey, *variants: Variant) -> list[tuple[str, set[str]]]:
        """Return the names of the variants of each combination, and its tests."""
        found = combined(variants, reached, alone=False)
        return [("".join(sorted(one.variants)), set(one.tests)) for one in found]

    def test_those_of_different_places_go_together(self, reached: Survey) -> None:
        """Of whatever groups they are; each meets the tests that come to it."""
        first = Variant("a", "M01", "x", instead(quotes, "execute", None), "one")
        second = Variant("b", "M01", "x", with_status("NOT_FOUND", 410), "two")
        nobody = Variant("c", "M01", "x", with_status("CONFLICT", 410))

        assert self.combinations(reached, first, nobody) == [("ac", {"first"})]
        assert self.combinations(reached, first, second, nobody) == [("abc", {"first", "second"})]

    @pytest.mark.parametrize(
        ("groups", "expected"), [(("one", "one"), ["ab"]), (("one", "two"), ["a", "b"])]
    )
    @pytest.mark.parametrize(
        "patches",
        [
            (instead(quotes, "execute", None), instead(quotes, "execute", None)),
            (with_status("NOT_FOUND", 410), with_status("NOT_FOUND", 400)),
            (with_status("NOT_FOUND", 410), instead(rules, "ERROR_STATUS", {})),
            (instead(rules, "ERROR_STATUS", {}), with_status("NOT_FOUND", 410)),
            (instead(quotes, "execute", None), concerning(quotes, "execute")),
        ],
    )
    def test_those_of_one_place_only_in_one_group(
        self,
        reached: Survey,
        patches: tuple[Apply, Apply],
        groups: tuple[str, str],
        expected: list[str],
    ) -> None:
        """A row is a place in its table."""
        variants = [
            Variant(name, "M01", "x", patch, group)
            for name, patch, group in zip("ab", patches, groups, strict=True)
        ]

        assert [names for names, _ in self.combinations(reached, *variants)] == expected

    def test_one_without_a_group_shares_no_place(self, reached: Survey) -> None:
        """A variant without a group shares no place; with ``alone`` none shares any."""
        variants = [Variant(name, "M01", "x", instead(quotes, "execute", None)) for name in "ab"]
        other = Variant("c", "M01", "x", instead(quotes, "create", None))

        assert [names for names, _ in self.combinations(reached, *variants)] == ["a", "b"]
        assert len(combined([variants[0], other], reached, alone=True)) == 2


class TestBudget:
    """Some of many tests, where somebody waits."""

    def seen(self, name: str) -> Seen:
        """Return a test of one second."""
        return Seen(name, "m.py", (), frozenset(), frozenset(), (), frozenset(), 1.0)

    @pytest.mark.parametrize(("seconds", "cases"), [(1, (1, 0)), (2, (1, 1)), (3, (2, 1))])
    def test_each_function_gives_a_case_before_any_gives_two(
        self, seconds: int, cases: tuple[int, int]
    ) -> None:
        """Two cases of one function tell less than one of each."""
        tests = [self.seen(name) for name in ("t.py::a[1]", "t.py::a[2]", "t.py::a[3]", "t.py::b")]
        every = Survey({one.test: one for one in tests}, {})

        kept = [name[6] for name in affordable(every, tests, seconds).tests]

        assert tuple(sorted(map(kept.count, "ab"), reverse=True)) == cases

    def test_one_can_name_what_is_run(self) -> None:
        """By a part of node ids, such as a module; a name that is part of none is an error."""
        tests = [self.seen(name) for name in ("a.py::x", "a.py::y", "b.py::x")]
        every = Survey({one.test: one for one in tests}, {})

        assert [*named(every, ["a.py", "b.py::x"]).tests] == ["a.py::x", "a.py::y", "b.py::x"]
        assert [*named(every, ["::y"]).tests] == ["a.py::y"]
        with pytest.raises(MutantError, match=r"no test that has c\.py in its node id"):
            named(every, ["a.py", "c.py"])

    def test_how_many_were_run_is_told(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """So that nobody takes some of the tests for all of them."""
        tolerated = Result("M09/x", "M09", "x is so", VariantOutcome.TOLERATED)
        monkeypatch.setattr(tolerance, "tolerance", lambda *_, **__: Tolerance([tolerated], 3, 4))

        done = CliRunner().invoke(app, ["variants", "--budget=1"])

        assert done.output.startswith("3 of the 4 tests that come to them were run\n1 variants in ")


class TestParts:
    """All variants are dealt out to few parts, which stay as they are."""

    def test_each_variant_has_one_part(self) -> None:
        """In it every other one changes another place, or is of its group."""
        variants = load_variants()

        parts = partitioned(variants)

        assert sorted(name for part in parts for name in part) == sorted(one.id for one in variants)
        assert len(parts) <= _MOST_PARTS
        known = {one.id: one for one in variants}
        for part in parts:
            (together,) = combined([known[name] for name in part], Survey({}, {}), alone=False)
            assert len(together.variants) == len(part)

    def test_another_variant_leaves_nearly_all_where_they_are(self) -> None:
        """So that who declares one does not see others meet that never met before."""
        variants = load_variants()

        before = partitioned([one for one in variants if one.point != "M93"])
        after = partitioned(variants)

        places = {name: number for number, part in enumerate(after) for name in part}
        moved = sum(places[name] != number for number, part in enumerate(before) for name in part)
        assert moved < len(variants) / 50


class TestCommand:
    """What the console command prints and ends with."""

    @pytest.fixture
    def treated(self, monkeypatch: pytest.MonkeyPatch) -> list[Result]:
        """The results of the command, to be filled by a test."""
        results: list[Result] = []
        monkeypatch.setattr(tolerance, "tolerance", lambda *_, **__: Tolerance(results, 3, 4))
        return results

    def test_all_tolerated_is_success(self, treated: list[Result]) -> None:
        """Exit status 0, and nothing is told but the total."""
        treated.append(Result("M09/x", "M09", "x is so", VariantOutcome.TOLERATED))

        done = CliRunner().invoke(app, ["variants"])
        verbose = CliRunner().invoke(app, ["variants", "--verbose"])

        assert done.exit_code == 0, done.output
        assert done.output.startswith("1 variants in ")
        assert verbose.output.startswith("tolerated      M09/x  x is so\n1 variants in ")

    @pytest.mark.parametrize(
        "outcome", [one for one in VariantOutcome if one != VariantOutcome.TOLERATED]
    )
    def test_anything_else_is_not(self, treated: list[Result], outcome: VariantOutcome) -> None:
        """Exit status 1, and of many alarms the first."""
        alarm = FalseAlarm("QUO-083", Outcome.FAILED, "a/f.py::t", "no\nmore")
        treated.append(Result("M09/x", "M09", "x is so", outcome, (alarm,) * 8))

        done = CliRunner().invoke(app, ["variants"])

        assert done.exit_code == 1
        assert done.output.startswith(outcome.upper())
        assert done.output.count("    QUO-083 FAILED by f.py::t: no\n") == 6
        assert "    and 2 more\n" in done.output

    def test_no_variant_at_all_is_not_either(
        self, treated: list[Result], declared: Registry
    ) -> None:
        """What ran nothing is never green."""
        assert (len(treated), len(declared)) == (0, 0)

        assert CliRunner().invoke(app, ["variants"]).exit_code == 1

    def test_an_unknown_name_is_a_usage_error(self) -> None:
        """Exit status 2, before anything is run."""
        done = CliRunner().invoke(app, ["variants", "--only", "M999"])

        assert done.exit_code == 2
        assert "there is no variant M999, nor one of a point or group M999" in done.output
