"""The folder of a run: one run has it, and nothing of anybody else's is lost in it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.exchange.folder import PREVIOUS, FolderError, RunFolder, foreign, journals_of
from conformance.exchange.journal import Journal
from conformance.exchange.redaction import Redactor

REPORT = '{\n  "format": 1,\n  "verdict": "conformant"}'
PAGE = '<!doctype html>\n<meta name="generator" content="payments-conformance 0.1.0">'

CLAIMING = """
import sys
from pathlib import Path
from conformance.exchange.folder import RunFolder

folder = RunFolder.claim(Path(sys.argv[1]))
print("claimed", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def holder(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process whose run has the folder, until its input ends."""
    with subprocess.Popen(
        [sys.executable, "-c", CLAIMING, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "claimed\n"
        yield process
        process.kill()


def leave_a_run(path: Path) -> str:
    """Leave in a folder what a run of two processes leaves; return the id of the run."""
    folder = RunFolder.claim(path)
    for worker in ("main", "gw0"):
        Journal(folder.journals / f"{worker}.jsonl", worker, Redactor(()), run=folder.run).close()
    (path / "report.json").write_text(REPORT)
    (path / "report.html").write_text(PAGE)
    folder.release()
    return folder.run


class TestClaiming:
    """A folder belongs to one run at a time."""

    def test_a_second_run_is_refused(self, tmp_path: Path, holder: subprocess.Popen[str]) -> None:
        """The message names the process that has the folder, and how to give another one."""
        with pytest.raises(FolderError) as caught:
            RunFolder.claim(tmp_path)

        assert f"belongs to a run that has not ended (process {holder.pid})" in str(caught.value)
        assert "--report-dir=DIR" in str(caught.value)

    def test_a_killed_run_holds_nothing(
        self, tmp_path: Path, holder: subprocess.Popen[str]
    ) -> None:
        """The system takes its lock back."""
        holder.kill()
        holder.wait()

        RunFolder.claim(tmp_path).release()

    def test_runs_have_different_ids(self, tmp_path: Path) -> None:
        """So that no journal of one is taken for the other's."""
        assert leave_a_run(tmp_path / "a") != leave_a_run(tmp_path / "b")

    def test_a_folder_that_cannot_be_made(self, tmp_path: Path) -> None:
        """Here a file stands in its place; the message names the folder."""
        (tmp_path / "file").write_text("x")

        with pytest.raises(FolderError, match=r"file/reports cannot be written: Not a directory"):
            RunFolder.claim(tmp_path / "file" / "reports")


class TestEarlierRuns:
    """What an earlier run left is neither lost nor taken for what the next one found out."""

    def test_it_is_set_aside(self, tmp_path: Path) -> None:
        """A run that cannot start leaves no report of another one in its place."""
        run = leave_a_run(tmp_path)

        RunFolder.claim(tmp_path).release()

        assert not list(foreign(tmp_path))
        assert not journals_of(tmp_path)
        assert not (tmp_path / "report.json").exists()
        assert not (tmp_path / "report.html").exists()
        assert (tmp_path / PREVIOUS / "report.json").read_text() == REPORT
        assert run in (tmp_path / PREVIOUS / "journal" / "gw0.jsonl").read_text()

    def test_one_is_kept(self, tmp_path: Path) -> None:
        """The folder does not grow with every run."""
        leave_a_run(tmp_path)
        latest = leave_a_run(tmp_path)

        RunFolder.claim(tmp_path).release()

        assert latest in (tmp_path / PREVIOUS / "journal" / "main.jsonl").read_text()
        assert not (tmp_path / PREVIOUS / PREVIOUS).exists()

    def test_journals_of_another_run_are_left_out(self, tmp_path: Path) -> None:
        """Such as that of a worker that outlived its run, or notes of the user."""
        leave_a_run(tmp_path)
        Journal(tmp_path / "journal" / "gw1.jsonl", "gw1", Redactor(()), run="another").close()
        (tmp_path / "journal" / "notes.jsonl").write_text('{"kind": "note"}\n')

        assert [path.name for path in journals_of(tmp_path)] == ["main.jsonl", "gw0.jsonl"]


class TestOthers:
    """Nothing is removed or overwritten that the suite did not write."""

    @pytest.mark.parametrize("name", ["report.json", "report.html", "journal/main.jsonl"])
    def test_a_file_in_the_way_ends_the_run(self, tmp_path: Path, name: str) -> None:
        """The message names it, and it stays as it was."""
        leave_a_run(tmp_path)
        (tmp_path / name).write_text('{"mine": true}\n')

        with pytest.raises(FolderError, match="was not written by this suite") as caught:
            RunFolder.claim(tmp_path)

        assert str(tmp_path / name) in str(caught.value)
        assert (tmp_path / name).read_text() == '{"mine": true}\n'
        assert not (tmp_path / PREVIOUS).exists()

    def test_files_beside_are_left_alone(self, tmp_path: Path) -> None:
        """Whatever they are called."""
        theirs = [tmp_path / "journal" / "notes.jsonl", tmp_path / "summary.json"]
        for path in theirs:
            path.parent.mkdir(exist_ok=True)
            path.write_text('{"mine": true}\n')

        leave_a_run(tmp_path)
        RunFolder.claim(tmp_path).release()

        assert [path.read_text() for path in theirs] == ['{"mine": true}\n'] * 2
