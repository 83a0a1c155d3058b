"""The mutant runner: what becomes of a mutant, and how it is told."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from conformance import plugin
from conformance.cli.main import app
from conformance.proof import host
from conformance.proof import mutation as runner
from conformance.proof.host import Telling, turns
from conformance.proof.kit.builders import edited, instead
from conformance.proof.kit.edits import put
from conformance.proof.mutant import Mutant, Registry
from conformance.proof.mutation import MutantOutcome, Result, choose, load, measure
from conformance.proof.patch import MutantError, Patch
from conformance.reference.quotes import quotes
from conformance.reference.webhooks import deliveries
from conformance.reporting.kills import Kills, read_kills

SUITE = """
import time
from pathlib import Path

import pytest

from conformance.scenarios.kit.marks import requirement

@requirement("QUO-083")
def test_an_execution_is_accepted(platform):
    answer = platform.api.execute_quote(platform.quotes.pending()["id"])
    assert answer.accepted, answer

@pytest.mark.parametrize("name", ["first", "second"])
@requirement("QUO-083")
def test_an_execution_is_accepted_again(platform, name):
    answer = platform.api.execute_quote(platform.quotes.pending()["id"])
    assert answer.accepted, answer

@requirement("QUO-084", "QUO-085")
def test_an_execution_returns_its_quote(platform, check):
    quote = platform.quotes.pending()
    executed = platform.quotes.execute(quote)
    with check("QUO-084"):
        assert executed["id"] == quote["id"]
    with check("QUO-085"):
        assert executed["transactionId"] == quote["transactionId"]

@requirement("QUO-086")
def test_that_fails_on_the_reference_too(platform):
    assert platform.quotes.pending() is None

def came_to(place):
    with Path(__file__).with_suffix(".txt").open("a") as file:
        file.write(f"{place} ")

@requirement("QUO-087", "QUO-088")
def test_of_two_parts(platform, check):
    executed = platform.api.execute_quote(platform.quotes.pending()["id"])
    with check("QUO-087"):
        assert executed.accepted, executed
    came_to("second-part")
    with check("QUO-088"):
        assert executed.accepted, executed

@requirement("QUO-087")
def test_of_the_same_again(platform):
    came_to("second-test")

@requirement("QUO-089")
def test_that_takes_longer_than_the_short_waits(platform):
    began = time.monotonic()
    assert platform.until(lambda: time.monotonic() - began > 1, bool)
    answer = platform.api.execute_quote(platform.quotes.pending()["id"])
    assert answer.accepted, answer
"""


def another_transaction(patch: Patch) -> None:
    """Let an executed quote name another transaction than the quote did."""
    edited(quotes, "execute", put("transactionId", "Transaction:another"))(patch)


def broken(patch: Patch) -> None:
    """Refuse every execution."""
    patch.replace(quotes, "has_funds", lambda *_: False)


def harmless(patch: Patch) -> None:
    """Change what nobody sees."""
    patch.replace(deliveries, "_MAX_DELAY_SECONDS", 1.0)


@pytest.fixture
def declared(monkeypatch: pytest.MonkeyPatch) -> Registry:
    """The mutants of a test, in the place of the suite's own."""
    registry = Registry()
    monkeypatch.setattr(runner, "load", lambda *_: list(registry))
    return registry


@pytest.fixture
def _tiny_suite(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Three tests in the place of the suite."""
    package = tmp_path / "package"
    for room in ("scenarios", "fuzz"):
        (package / room).mkdir(parents=True)
    # A module of the name of an earlier one would be that one.
    (package / "scenarios" / f"{tmp_path.name}.py").write_text(SUITE, encoding="utf-8")
    monkeypatch.setattr(host, "SUITE", package)
    monkeypatch.setattr(plugin, "_SUITE", (package / "scenarios", package / "fuzz"))


@pytest.mark.usefixtures("_tiny_suite")
def test_what_becomes_of_a_mutant(declared: Registry) -> None:
    """Each in its own way, side by side, and the reference is whole in between."""
    declare = declared.declare
    declare("QUO-083", "refuses", "no execution is accepted", broken)
    declare("QUO-083", "harmless", "webhooks are tried again sooner", harmless)
    declare(
        "QUO-084",
        "elsewhere",
        "another transaction is named",
        another_transaction,
    )
    declare("QUO-083", "same", "nothing changes", instead(deliveries, "_MAX_DELAY_SECONDS", 1800.0))
    declare("QUO-083", "lost", "the place is gone", instead(quotes, "absent", 1))
    declare("QUO-086", "never-sound", "its test never passes", broken)
    declare("QUO-001", "untested", "no test names it", broken)
    declare("QUO-083", "refuses-again", "no execution is accepted", broken)

    results = {result.id: result for result in measure(list(declared), processes=1)}

    assert {name: result.outcome for name, result in results.items()} == {
        "QUO-083/refuses": MutantOutcome.KILLED,
        "QUO-083/harmless": MutantOutcome.SURVIVED,
        "QUO-084/elsewhere": MutantOutcome.ELSEWHERE,
        "QUO-083/same": MutantOutcome.UNCHANGED,
        "QUO-083/lost": MutantOutcome.UNCHANGED,
        "QUO-086/never-sound": MutantOutcome.UNRELIABLE,
        "QUO-001/untested": MutantOutcome.UNTESTED,
        "QUO-083/refuses-again": MutantOutcome.KILLED,
    }
    killer = results["QUO-083/refuses"].killed_by
    assert killer.endswith("::test_an_execution_is_accepted")
    assert results["QUO-084/elsewhere"].elsewhere == ("CNV-894", "QUO-085")
    assert results["QUO-083/same"].detail == (
        "conformance.reference.webhooks.deliveries:_MAX_DELAY_SECONDS is 1800.0 already"
    )
    assert "quotes:absent" in results["QUO-083/lost"].detail
    assert results["QUO-083/refuses"].milliseconds > 0


@pytest.mark.usefixtures("_tiny_suite")
@pytest.mark.parametrize(("at", "first"), [("", "accepted"), ("[second]", "[second]")])
def test_a_mutant_names_the_test_to_try_first(declared: Registry, at: str, first: str) -> None:
    """Where many decide its requirement, most notice nothing."""
    declared.declare("QUO-083", "refuses", "no execution is accepted", broken, at=at)

    (result,) = measure(list(declared), processes=1)

    assert result.outcome is MutantOutcome.KILLED
    assert first in result.killed_by


@pytest.mark.usefixtures("_tiny_suite")
def test_a_mutant_is_killed_once(declared: Registry, tmp_path: Path) -> None:
    """What comes after the check that fails is run on the restored reference alone."""
    declared.declare("QUO-087", "refuses", "no execution is accepted", broken)
    declared.declare("QUO-087", "refuses-too", "no execution is accepted", broken)

    results = measure(list(declared), processes=1)

    assert [result.outcome for result in results] == [MutantOutcome.KILLED, MutantOutcome.KILLED]
    assert all(result.killed_by.endswith("::test_of_two_parts") for result in results)
    came_to = tmp_path / "package" / "scenarios" / f"{tmp_path.name}.txt"
    assert came_to.read_text(encoding="utf-8").split() == ["second-part"]


@pytest.mark.usefixtures("_tiny_suite")
def test_what_a_mutant_leaves_behind_counts_for_none(
    declared: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither for it, nor for those of its row, nor for any that come later."""
    monkeypatch.setattr(quotes, "has_funds", quotes.has_funds)
    declared.declare("QUO-083", "refuses", "no execution is accepted", broken)
    declared.declare(
        "QUO-083",
        "lasting",
        "no execution is accepted ever again",
        lambda _patch: setattr(quotes, "has_funds", lambda *_: False),
    )
    declared.declare("QUO-087", "harmless", "webhooks are tried again sooner", harmless)

    results = measure(list(declared), processes=1)

    assert [result.outcome for result in results] == [MutantOutcome.UNRELIABLE] * 3


@pytest.mark.slow
@pytest.mark.usefixtures("_tiny_suite")
def test_what_is_too_slow_for_short_waits_is_tried_with_long_ones(declared: Registry) -> None:
    """A busy machine makes no survivor, and no test that is not to be relied on."""
    declared.declare("QUO-089", "refuses", "no execution is accepted", broken)
    declared.declare("QUO-089", "harmless", "webhooks are tried again sooner", harmless)

    results = measure(list(declared), processes=1)

    assert [result.outcome for result in results] == [MutantOutcome.KILLED, MutantOutcome.SURVIVED]


def test_processes_take_turns(tmp_path: Path) -> None:
    """None gets what another has."""
    one, other = (turns("abcd", tmp_path) for _ in range(2))

    assert [next(one), next(other), next(other), *one, *other] == ["a", "b", "c", "d"]


def test_a_line_a_minute_tells_how_far_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where there is no terminal, the standard error gets one line a minute at most."""
    telling = Telling(tmp_path, among=3, since=100.0)
    next(turns("abc", tmp_path))

    for seconds in (101.0, 159.0, 160.0, 200.0):
        telling.tell(seconds)

    assert capsys.readouterr() == ("", "1 of 3 turns taken\n")


@pytest.mark.usefixtures("_tiny_suite")
def test_a_suite_that_cannot_be_collected_is_told(declared: Registry, tmp_path: Path) -> None:
    """A suite that cannot be collected is an error, as every mutant would survive in it."""
    module = tmp_path / "package" / "scenarios" / "test_broken.py"
    module.write_text("import absent_module\n", encoding="utf-8")
    declared.declare("QUO-083", "refuses", "x", broken)

    with pytest.raises(MutantError, match=r"(?s)the suite could not be run.*absent_module"):
        measure(list(declared), processes=1)


class TestChoose:
    """``--only`` names mutants or requirements."""

    @pytest.fixture
    def registry(self) -> Registry:
        """Two mutants of one requirement and one of another."""
        registry = Registry()
        for requirement, name in (("A", "x"), ("A", "y"), ("B", "z")):
            registry.declare(requirement, name, "", harmless)
        return registry

    @pytest.mark.parametrize(
        ("only", "chosen"),
        [
            ([], ["A/x", "A/y", "B/z"]),
            (["A"], ["A/x", "A/y"]),
            (["B/z", "A/x"], ["A/x", "B/z"]),
            (["A", "A/x"], ["A/x", "A/y"]),
        ],
    )
    def test_of(self, registry: Registry, only: list[str], chosen: list[str]) -> None:
        """In the order of their declaration, each once."""
        assert [mutant.id for mutant in choose(registry, only)] == chosen

    def test_a_name_that_fits_none_is_refused(self, registry: Registry) -> None:
        """A misspelt one would measure nothing."""
        with pytest.raises(MutantError, match="there is no mutant C, nor one of a requirement C"):
            choose(registry, ["A", "C"])


class TestCommand:
    """What the console command prints, writes and ends with."""

    RESULTS = (
        Result("A/x", "QUO-083", "x breaks", MutantOutcome.KILLED, "a/f.py::t", (), "", 12.4),
        Result("B/y", "QUO-084", "y breaks", MutantOutcome.ELSEWHERE, "", ("QUO-085",), "", 5.0),
        Result(
            "C/z", "QUO-001", "z breaks", MutantOutcome.UNCHANGED, "", (), "it is 1 already", 1.0
        ),
    )

    @pytest.fixture
    def measured(self, monkeypatch: pytest.MonkeyPatch) -> list[Result]:
        """The results of the command, to be filled by a test."""
        results: list[Result] = []
        monkeypatch.setattr(runner, "measure", lambda _chosen, _processes, _seed: results)
        return results

    def test_all_killed_is_success(self, measured: list[Result]) -> None:
        """Exit status 0, and nothing is told but the total."""
        measured.append(self.RESULTS[0])

        done = CliRunner().invoke(app, ["mutants", "--only", "QUO-083"])

        assert done.exit_code == 0, done.output
        assert done.output.startswith("1 mutants in ")

    def test_each_day_has_a_share(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """One seed after the other, all mutants come in turn, and none twice."""
        drawn: list[str] = []

        def note(chosen: Sequence[Mutant], _processes: int, _seed: int) -> list[Result]:
            drawn.extend(mutant.id for mutant in chosen)
            return [self.RESULTS[0]]

        monkeypatch.setattr(runner, "measure", note)
        sizes = []
        for seed in ("8", "9"):
            done = CliRunner().invoke(app, ["mutants", f"--draw={seed}", "--shares=2"])
            assert done.exit_code == 0, done.output
            assert done.output.startswith("1 mutants in ")
            sizes.append(len(drawn))

        assert sorted(drawn) == sorted(mutant.id for mutant in runner.load())
        assert 0 < sizes[0] < sizes[1]

    def test_what_is_killed_is_told_where_that_is_wanted(self, measured: list[Result]) -> None:
        """With the test that killed it, and how long that took."""
        measured.append(self.RESULTS[0])

        done = CliRunner().invoke(app, ["mutants", "--only", "QUO-083", "-v"])

        assert done.output.startswith("killed           A/x  by f.py::t  (12 ms)\n1 mutants in ")

    def test_anything_else_is_not(self, measured: list[Result]) -> None:
        """Exit status 1, and why."""
        measured.extend(self.RESULTS)

        done = CliRunner().invoke(app, ["mutants"])

        assert done.exit_code == 1
        assert (
            "CAUGHT ELSEWHERE B/y  y breaks: only checks of other requirements noticed it (QUO-085)"
        ) in done.output
        assert (
            "UNCHANGED        C/z  z breaks: its patch changed nothing (it is 1 alr" in done.output
        )
        assert ": 1 killed, 1 caught elsewhere, 1 unchanged" in done.output
        assert "testable requirements have no mutant: " in done.output

    def test_no_mutant_at_all_is_not_either(
        self, measured: list[Result], declared: Registry
    ) -> None:
        """What measured nothing is never green."""
        assert (len(measured), len(declared)) == (0, 0)

        assert CliRunner().invoke(app, ["mutants"]).exit_code == 1

    def test_the_seed_is_that_of_the_tests(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Mutants are met by tests that send other data than usually."""
        seeds: list[int] = []

        def note(_chosen: Sequence[Mutant], _processes: int, seed: int) -> list[Result]:
            seeds.append(seed)
            return [self.RESULTS[0]]

        monkeypatch.setattr(runner, "measure", note)
        CliRunner().invoke(app, ["mutants", "--only", "QUO-083"])
        CliRunner().invoke(app, ["mutants", "--only", "QUO-083", "--seed", "5"])

        assert seeds == [1, 5]

    def test_the_kill_matrix_is_written(self, measured: list[Result], tmp_path: Path) -> None:
        """Each mutant with what noticed it, and how long that took, in milliseconds."""
        measured.extend(self.RESULTS[:2])
        file = tmp_path / "matrix.json"

        CliRunner().invoke(app, ["mutants", "--json", str(file)])

        assert json.loads(file.read_text(encoding="utf-8")) == {
            "mutants": [
                {
                    "id": "A/x",
                    "requirement": "QUO-083",
                    "statement": "x breaks",
                    "outcome": "killed",
                    "killed_by": "a/f.py::t",
                    "elsewhere": [],
                    "detail": "",
                    "milliseconds": 12.4,
                },
                {
                    "id": "B/y",
                    "requirement": "QUO-084",
                    "statement": "y breaks",
                    "outcome": "caught elsewhere",
                    "killed_by": "",
                    "elsewhere": ["QUO-085"],
                    "detail": "",
                    "milliseconds": 5.0,
                },
            ]
        }

    def test_the_figures_are_kept(
        self, measured: list[Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """One line a requirement, sorted: killed, and how many there are."""
        file = tmp_path / "measured.txt"
        monkeypatch.setattr(runner, "MEASURED", file)
        again = replace(self.RESULTS[1], id="B/z", outcome=MutantOutcome.KILLED)
        measured.extend([*self.RESULTS, again])

        CliRunner().invoke(app, ["mutants", "--figures"])

        assert file.read_text(encoding="utf-8") == "QUO-001 0/1\nQUO-083 1/1\nQUO-084 1/2\n"
        assert read_kills(file)["QUO-084"] == Kills(killed=1, total=2)

    def test_figures_of_one_requirement_take_the_place_of_its_own(
        self, measured: list[Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The figures of other requirements stay as they are."""
        file = tmp_path / "measured.txt"
        file.write_text("QUO-001 2/3\nQUO-083 0/1\n", encoding="utf-8")
        monkeypatch.setattr(runner, "MEASURED", file)
        measured.append(self.RESULTS[0])

        CliRunner().invoke(app, ["mutants", "--figures", "--only", "QUO-083"])

        assert file.read_text(encoding="utf-8") == "QUO-001 2/3\nQUO-083 1/1\n"

    def test_figures_of_a_part_of_a_requirement_are_none(self, declared: Registry) -> None:
        """Exit status 2, before anything is measured."""
        for name in ("first", "second"):
            declared.declare("QUO-083", name, "it breaks", lambda _: None)

        done = CliRunner().invoke(app, ["mutants", "--figures", "--only", "QUO-083/first"])

        assert done.exit_code == 2
        assert "figures are of all 2 mutants of QUO-083, and only 1 of them" in done.output

    def test_an_unknown_name_is_a_usage_error(self) -> None:
        """Exit status 2, before anything is measured."""
        done = CliRunner().invoke(app, ["mutants", "--only", "QUO-999"])

        assert done.exit_code == 2
        assert "there is no mutant QUO-999, nor one of a requirement QUO-999" in done.output


def test_the_suite_declares_mutants() -> None:
    """By the hundred: rows of tables make most of them."""
    assert len(load()) > 100
