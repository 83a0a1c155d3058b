"""The report folder: one run has it at a time, and files of others are not lost in it."""

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

CLAIM = """
import sys
from pathlib import Path
from conformance.exchange.folder import RunFolder

folder = RunFolder.claim(Path(sys.argv[1]))
print("claimed", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def holder(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """Start another process whose run has the folder until its input ends."""
    with subprocess.Popen(
        [sys.executable, "-c", CLAIM, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "claimed\n"
        yield process
        process.kill()


def leave_a_run(path: Path) -> str:
    """Leave the files of a run of two processes in a folder; return the id of the run."""
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
        """The message names the process that has the folder and the option for another one."""
        with pytest.raises(FolderError) as error:
            RunFolder.claim(tmp_path)

        assert f"belongs to a run that has not ended (process {holder.pid})" in str(error.value)
        assert "--report-dir=DIR" in str(error.value)

    def test_a_killed_run_holds_nothing(
        self, tmp_path: Path, holder: subprocess.Popen[str]
    ) -> None:
        """The system releases the lock of a killed process, so that the next run starts."""
        holder.kill()
        holder.wait()

        RunFolder.claim(tmp_path).release()

    def test_runs_have_different_ids(self, tmp_path: Path) -> None:
        """Two runs have different ids, so that no journal is taken for one of another run."""
        assert leave_a_run(tmp_path / "a") != leave_a_run(tmp_path / "b")

    def test_a_folder_that_cannot_be_made(self, tmp_path: Path) -> None:
        """A file in the place of the parent folder: the message names the folder and the cause."""
        (tmp_path / "file").write_text("x")

        with pytest.raises(FolderError, match=r"file/reports cannot be written: Not a directory"):
            RunFolder.claim(tmp_path / "file" / "reports")


class TestEarlierRuns:
    """The files of an earlier run are kept apart from those of the next one."""

    def test_it_is_set_aside(self, tmp_path: Path) -> None:
        """Report and journals of the earlier run are moved to the folder of the previous run."""
        run = leave_a_run(tmp_path)

        RunFolder.claim(tmp_path).release()

        assert not list(foreign(tmp_path))
        assert not journals_of(tmp_path)
        assert not (tmp_path / "report.json").exists()
        assert not (tmp_path / "report.html").exists()
        assert (tmp_path / PREVIOUS / "report.json").read_text() == REPORT
        assert run in (tmp_path / PREVIOUS / "journal" / "gw0.jsonl").read_text()

    def test_one_is_kept(self, tmp_path: Path) -> None:
        """The latest earlier run is kept alone, so that the folder does not grow."""
        leave_a_run(tmp_path)
        latest = leave_a_run(tmp_path)

        RunFolder.claim(tmp_path).release()

        assert latest in (tmp_path / PREVIOUS / "journal" / "main.jsonl").read_text()
        assert not (tmp_path / PREVIOUS / PREVIOUS).exists()

    def test_journals_of_another_run_are_left_out(self, tmp_path: Path) -> None:
        """A journal with another run's id and a file of the user are no journals of this run."""
        leave_a_run(tmp_path)
        Journal(tmp_path / "journal" / "gw1.jsonl", "gw1", Redactor(()), run="another").close()
        (tmp_path / "journal" / "notes.jsonl").write_text('{"kind": "note"}\n')

        assert [path.name for path in journals_of(tmp_path)] == ["main.jsonl", "gw0.jsonl"]


class TestOthers:
    """Files that the suite did not write are neither removed nor overwritten."""

    @pytest.mark.parametrize("name", ["report.json", "report.html", "journal/main.jsonl"])
    def test_a_file_in_the_way_ends_the_run(self, tmp_path: Path, name: str) -> None:
        """The message names a foreign file under a name of the suite; the file stays as it was."""
        leave_a_run(tmp_path)
        (tmp_path / name).write_text('{"mine": true}\n')

        with pytest.raises(FolderError, match="was not written by this suite") as error:
            RunFolder.claim(tmp_path)

        assert str(tmp_path / name) in str(error.value)
        assert (tmp_path / name).read_text() == '{"mine": true}\n'
        assert not (tmp_path / PREVIOUS).exists()

    def test_files_beside_are_left_alone(self, tmp_path: Path) -> None:
        """Foreign files under other names stay where they are."""
        paths = [tmp_path / "journal" / "notes.jsonl", tmp_path / "summary.json"]
        for path in paths:
            path.parent.mkdir(exist_ok=True)
            path.write_text('{"mine": true}\n')

        leave_a_run(tmp_path)
        RunFolder.claim(tmp_path).release()

        assert [path.read_text() for path in paths] == ['{"mine": true}\n'] * 2
