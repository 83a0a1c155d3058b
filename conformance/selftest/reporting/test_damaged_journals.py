"""The report of a run whose journal was cut short, changed, or is another file."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from conformance import plugin
from conformance.cli.main import app
from conformance.reference.server import BackgroundServer
from conformance.reporting.assemble import NoRun, assemble
from conformance.selftest.conftest import CLIENT_SECRET, TOKEN_ID
from conformance.selftest.runs import OPEN, Inside
from conformance.verdict.decisions import Reason
from conformance.verdict.plan import RequirementVerdict

TWO = """
    from conformance.scenarios.kit.marks import requirement

    @requirement("QUO-083")
    def test_first(platform):
        assert platform.api.call("getConfig").accepted, "größer"

    @requirement("QUO-083", "QUO-110")
    def test_second(platform, check):
        with check("QUO-083"):
            assert platform.api.call("getConfig").accepted
        with check("QUO-110"):
            assert platform.api.call("getConfig").accepted
    """


@pytest.fixture(scope="module")
def passed(reference: BackgroundServer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run two tests, both of which pass; return the folder of the report."""
    folder = tmp_path_factory.mktemp("passed")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plugin, "_SUITE", (folder / "scenarios",))
        patch.setenv("PAYMENTS_API_TOKEN_ID", TOKEN_ID)
        patch.setenv("PAYMENTS_API_CLIENT_SECRET", CLIENT_SECRET)
        Inside(folder)(TWO, f"--base-url={reference.base_url}", "--profile=reference")
    return folder / "reports" / "latest"


@pytest.fixture
def journal(passed: Path, tmp_path: Path) -> Path:
    """Return a copy of the journal of two tests that passed, to be changed."""
    return shutil.copytree(passed, tmp_path / "copy") / "journal" / "main.jsonl"


def remake_report(journal: Path) -> tuple[int, str]:
    """Run ``payments-conformance report``; return its exit status and output."""
    result = CliRunner().invoke(app, ["report", str(journal.parents[1])])
    return result.exit_code, result.output


def test_it_is_cut_within_a_character(journal: Path) -> None:
    """A line that is cut within a character is left out; the lines before it count."""
    journal.write_bytes(
        journal.read_bytes().rstrip(b"\n") + '\n{"kind": "note", "x": "ü'.encode()[:-1]
    )

    status, output = remake_report(journal)

    assert status == OPEN, output


def test_a_test_that_is_lost_may_have_failed(journal: Path) -> None:
    """A requirement of a test without an end is open, although another test passed it."""
    lines = journal.read_text(encoding="utf-8").splitlines(keepends=True)
    second = [line for line in lines if '"kind": "decisions"' in line][1]
    journal.write_text("".join(line for line in lines if line != second), encoding="utf-8")

    entries = {entry.id: entry for entry in assemble(journal.parents[1]).requirements}

    assert entries["QUO-083"].verdict is RequirementVerdict.INCONCLUSIVE
    assert entries["QUO-083"].reason is Reason.LOST
    assert "test_second came to no end" in entries["QUO-083"].detail


@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(lambda entry: entry.pop("profile"), id="a member is gone"),
        pytest.param(lambda entry: entry.update(started="yesterday"), id="a time is none"),
        pytest.param(lambda entry: entry.update(profile=[]), id="a profile is a list"),
    ],
)
def test_it_was_changed(journal: Path, spoil: Callable[[dict[str, object]], object]) -> None:
    """A changed entry leads to one message and exit status 2, without a traceback."""
    lines = journal.read_text(encoding="utf-8").splitlines()
    place = next(number for number, line in enumerate(lines) if '"kind": "started"' in line)
    entry = json.loads(lines[place])
    spoil(entry)
    journal.write_text("\n".join([*lines[:place], json.dumps(entry), *lines[place + 1 :]]))

    status, output = remake_report(journal)

    assert status == 2, output
    assert "cannot be read" in output
    assert "Traceback" not in output


@pytest.mark.parametrize("content", [b"", b"\x00" * 5000, b"[]\n", b'{"kind": 1}\n', b"\xff\xfe"])
def test_it_is_something_else(tmp_path: Path, content: bytes) -> None:
    """A file without entries of a run raises NoRun."""
    (tmp_path / "journal").mkdir()
    (tmp_path / "journal" / "main.jsonl").write_bytes(content)

    with pytest.raises(NoRun, match="holds no journal of a run"):
        assemble(tmp_path)
