"""A run in shards: ``--shard`` divides it, and ``payments-conformance merge`` makes it whole."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Generator, Mapping
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from conformance.cli.main import app
from conformance.exchange.folder import journals_of
from conformance.exchange.recording import NoRecording, Recording
from conformance.reference.server import BackgroundServer
from conformance.reference.settings import Settings
from conformance.reporting.report import Report
from conformance.selftest.runs import (
    INTERRUPTED,
    OK,
    OPEN,
    TINY,
    USAGE,
    run_within,
    tiny_suite_within,
    write,
)
from conformance.verdict.decisions import Reason
from conformance.verdict.plan import RequirementVerdict, TargetVerdict

NO_TESTS = 5
SHARDS = ("1/3", "2/3", "3/3")
"""By their node ids, the first has one test of the tiny suite, the third the other one."""

EXCHANGE = '{"kind": "exchange"'
IDS_AND_TIMES = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d{4}-\d\d-\d\dT[\d:.]+Z")

Run = Callable[..., tuple[int, Path]]
Entry = dict[str, Any]


@pytest.fixture(scope="module")
def run_tiny(tmp_path_factory: pytest.TempPathFactory) -> Generator[Run]:
    """Return a function that runs the tiny suite: its exit status, and the folder of its report."""
    suite = write(tmp_path_factory.mktemp("tiny"), {**TINY, "pytest.ini": "[pytest]\n"})
    settings = Settings(api_token_id="token-of-shards", api_client_secret="secret-of-all-shards")
    with (
        BackgroundServer(settings) as server,
        tiny_suite_within(suite),
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setenv("PAYMENTS_API_TOKEN_ID", settings.api_token_id)
        patch.setenv("PAYMENTS_API_CLIENT_SECRET", settings.api_client_secret)

        def run(name: str, *arguments: str) -> tuple[int, Path]:
            target = (f"--base-url={server.base_url}", "--profile=reference")
            status, _ = run_within(suite, f"--report-dir={name}", *target, "scenarios", *arguments)
            return status, suite / name

        yield run


@pytest.fixture(scope="module")
def recorded(run_tiny: Run) -> tuple[Path, ...]:
    """Run each of the three shards once; return their folders."""
    runs = [run_tiny(f"shard-{number}", "--shard", label) for number, label in enumerate(SHARDS, 1)]
    assert [status for status, _ in runs] == [OPEN, NO_TESTS, OPEN]
    return tuple(folder for _, folder in runs)


@pytest.fixture
def shards(recorded: tuple[Path, ...], tmp_path: Path) -> list[Path]:
    """Return copies of what the shards wrote, to be changed."""
    return [shutil.copytree(folder, tmp_path / folder.name) for folder in recorded]


def merge(folders: list[Path], into: Path) -> tuple[int, str]:
    """Merge folders by the command; return its exit status and all of its output."""
    result = CliRunner().invoke(app, ["merge", *map(str, folders), "--into", str(into)])
    return result.exit_code, result.output


def read(folder: Path) -> Report:
    """Return the report in a folder."""
    return Report.model_validate_json((folder / "report.json").read_bytes())


def change(folder: Path, kind: str, members: Mapping[str, Any] | None) -> None:
    """Give the entry of a kind in a shard's journal other members, or leave it out."""
    (path,) = journals_of(folder)
    entries: list[Entry] = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    changed = [
        entry if entry["kind"] != kind else {**entry, **(members or {})}
        for entry in entries
        if entry["kind"] != kind or members is not None
    ]
    path.write_text("".join(json.dumps(entry) + "\n" for entry in changed), encoding="utf-8")


class TestWhole:
    """What is merged is what one run would have said."""

    def test_the_report_is_that_of_one_run(
        self, run_tiny: Run, shards: list[Path], tmp_path: Path
    ) -> None:
        """All but times, ids of journal entries and the command is the same, byte for byte."""
        expected_status, whole = run_tiny("whole")

        status, output = merge(shards[::-1], tmp_path / "merged")

        merged, expected = read(tmp_path / "merged"), read(whole)
        assert (status, expected_status) == (OK, OK), output
        assert findings(merged) == findings(expected)
        assert {entry.verdict for entry in merged.requirements} == {
            RequirementVerdict.PASSED,
            RequirementVerdict.WARNED,
        }
        sent = [journals_of(folder)[0].read_text("utf-8").count(EXCHANGE) for folder in shards]
        assert merged.run.requests == sum(sent)
        assert merged.run.interrupted is None
        assert merged.run.workers == len(SHARDS)

    def test_a_failure_has_its_evidence(self, shards: list[Path], tmp_path: Path) -> None:
        """The exchanges of a shard are found by their ids, which no two shards have in common."""
        merge(shards, tmp_path / "merged")

        (entry,) = (e for e in read(tmp_path / "merged").requirements if e.evidence)

        assert entry.id == "QUO-015"
        assert "[shard1.main-2] GET " in entry.evidence[0].transcript
        assert "/quotes" in entry.evidence[0].transcript

    def test_the_journals_are_kept_as_they_were(self, shards: list[Path], tmp_path: Path) -> None:
        """Each stands beside the one that sums them up, and all are in the digests."""
        merge(shards, tmp_path / "merged")

        there = journals_of(tmp_path / "merged")
        assert [path.name for path in there] == [
            *("shard1.main.jsonl", "shard2.main.jsonl", "shard3.main.jsonl", "main.jsonl")
        ]
        for path, folder in zip(there[:-1], shards, strict=True):
            assert path.read_bytes() == journals_of(folder)[0].read_bytes()
        digests = read(tmp_path / "merged").digests
        assert digests is not None
        assert digests.journals.keys() == {path.name for path in there}

    def test_the_merged_run_can_be_judged_again(self, shards: list[Path], tmp_path: Path) -> None:
        """The report can be made anew from the journals, and all shards are one recording."""
        merge(shards, tmp_path / "merged")
        before = (tmp_path / "merged" / "report.json").read_bytes()

        again = CliRunner().invoke(app, ["report", str(tmp_path / "merged")])

        assert again.exit_code == OK, again.output
        assert (tmp_path / "merged" / "report.json").read_bytes() == before
        recording = Recording.read(tmp_path / "merged")
        assert sorted(len(tests) for tests in recording.tests) == [0, 0, 1, 1]

    def test_it_is_merged_again_in_its_place(self, shards: list[Path], tmp_path: Path) -> None:
        """A second merging sets the first one aside; nothing of it counts."""
        merge(shards[:1], tmp_path / "merged")

        status, output = merge(shards, tmp_path / "merged")

        assert status == OK, output
        assert len(journals_of(tmp_path / "merged")) == len(SHARDS) + 1


class TestLost:
    """What a shard was going to decide is lost with it, and the run is never green."""

    def test_what_a_missing_shard_names_is_lost(self, shards: list[Path], tmp_path: Path) -> None:
        """Its requirement is inconclusive, the others keep their verdicts, the status is 6."""
        status, output = merge([shards[0], shards[1]], tmp_path / "merged")

        report = read(tmp_path / "merged")
        assert status == OPEN
        assert "shard 3/3 is missing" in output
        assert report.verdict is TargetVerdict.INCONCLUSIVE
        assert report.run.interrupted == "shard 3/3 is missing"
        assert report.plan.lost == ("QUO-083",)
        assert report.entry("QUO-083").reason is Reason.LOST
        assert report.entry("QUO-084").verdict is RequirementVerdict.PASSED

    def test_a_folder_without_a_journal_is_a_missing_shard(
        self, shards: list[Path], tmp_path: Path
    ) -> None:
        """The folder is named."""
        status, output = merge([*shards[:2], tmp_path / "nowhere"], tmp_path / "merged")

        assert status == OPEN
        assert f"{tmp_path / 'nowhere'} has no journal of a run: this shard is missing" in output

    def test_a_missing_shard_without_a_test_is_not_green(
        self, shards: list[Path], tmp_path: Path
    ) -> None:
        """All requirements are decided, and yet the exit status is that of an interrupted run."""
        status, output = merge([shards[0], shards[2]], tmp_path / "merged")

        assert status == INTERRUPTED, output
        assert "shard 2/3 is missing" in output

    def test_what_a_killed_shard_had_not_ended_is_lost(
        self, shards: list[Path], tmp_path: Path
    ) -> None:
        """Its journal ends before the decisions of its test."""
        for kind in ("decisions", "observations", "finished"):
            change(shards[2], kind, None)

        status, output = merge(shards, tmp_path / "merged")

        assert status == OPEN
        assert "shard 3/3 was killed" in output
        assert read(tmp_path / "merged").plan.lost == ("QUO-083",)

    def test_an_interrupted_shard_is_told(self, shards: list[Path], tmp_path: Path) -> None:
        """Even one that decided all is not green."""
        change(shards[0], "finished", {"interrupted": "KeyboardInterrupt"})

        status, output = merge(shards, tmp_path / "merged")

        assert status == INTERRUPTED
        assert "shard 1/3: KeyboardInterrupt" in output


class TestRefused:
    """What are not the shards of one run is refused, with what they differ in."""

    @pytest.mark.parametrize(
        ("kind", "members", "told"),
        [
            ("started", {"shard": "1/2"}, "number of shards (2 and 3)"),
            ("started", {"options": {"--base-url": "http://b.example"}}, "target (http://b.exam"),
            ("started", {"profile": {"implementation": {"name": "other"}}}, "profile"),
            ("started", {"suite_version": "9.9"}, "version of the suite (9.9 and "),
            ("started", {"seed": 2}, "seed (2 and 1)"),
            ("started", {"terms": {"classes": ["core"]}}, "demands (--class"),
            ("collected", {"catalogue": "0"}, "catalogue (0 and "),
            ("collected", {"of_all_shards": {"a": "a"}}, "selection of tests"),
        ],
    )
    def test_shards_of_different_runs(
        self, shards: list[Path], tmp_path: Path, kind: str, members: Entry, told: str
    ) -> None:
        """The message names both folders and the difference; nothing is written."""
        change(shards[0], kind, members)

        status, output = merge(shards, tmp_path / "merged")

        assert status == USAGE
        told_before = f"{shards[0]} and {shards[1]} are no shards of one run: they differ in the "
        assert told_before + told in output
        assert not (tmp_path / "merged").exists()

    def test_the_same_shard_twice(self, shards: list[Path], tmp_path: Path) -> None:
        """Both folders are named."""
        twin = shutil.copytree(shards[0], tmp_path / "twin")

        status, output = merge([*shards, twin], tmp_path / "merged")

        assert status == USAGE
        assert f"{shards[0]} and {twin} both are shard 1/3" in output

    def test_a_run_without_shards(self, shards: list[Path], tmp_path: Path) -> None:
        """A whole run is no part of another one."""
        change(shards[0], "started", {"shard": None})

        status, output = merge(shards, tmp_path / "merged")

        assert status == USAGE
        assert f"{shards[0]} has the report of a whole run, made without --shard" in output

    def test_the_folder_of_a_shard(self, shards: list[Path]) -> None:
        """The merged run needs one of its own."""
        status, output = merge(shards, shards[1])

        assert status == USAGE
        assert f"{shards[1]} is the folder of a shard" in output

    def test_no_shard_that_came_to_its_tests(self, tmp_path: Path) -> None:
        """Nobody knows what was to be run."""
        status, output = merge([tmp_path / "nowhere"], tmp_path / "merged")

        assert status == USAGE
        assert "no shard came to its tests" in output

    def test_shards_at_several_addresses_are_no_recording(
        self, shards: list[Path], tmp_path: Path
    ) -> None:
        """Each started a reference of its own: they are merged, and judged again one by one."""
        change(shards[0], "started", {"base_url": "http://127.0.0.1:1/2025-10-13"})
        merge(shards, tmp_path / "merged")

        with pytest.raises(NoRecording, match="each shard's own folder can be judged again"):
            Recording.read(tmp_path / "merged")

    @pytest.mark.parametrize("shard", ["4/3", "0/3", "third"])
    def test_what_is_no_shard(self, run_tiny: Run, shard: str) -> None:
        """Nothing is run."""
        status, _ = run_tiny("refused", "--shard", shard)

        assert status == USAGE


def findings(report: Report) -> Mapping[str, Any]:
    """Return what a report says of the target; nothing of its run, its evidence, times and ids."""
    times = {"latencies", "state_times", "time"}
    content = report.model_dump(mode="json", exclude={"run", "digests", *times})
    for entry in content["requirements"]:
        entry["evidence"] = len(entry["evidence"])
    return dict(json.loads(IDS_AND_TIMES.sub("…", json.dumps(content))))
