"""A recorded run is judged again without its target, and a report is verified by its journal."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from conformance.cli.main import app
from conformance.contract.spec_files import spec_digest
from conformance.exchange.clock import RecordedClock, clock, now, running_by
from conformance.exchange.delivery import Delivery
from conformance.exchange.journal import BodyForm
from conformance.exchange.packed import pack
from conformance.exchange.recording import NoRecording, NotRecorded, Recording, key
from conformance.platform.waiting import at_once
from conformance.reference.server import BackgroundServer
from conformance.reference.settings import Settings
from conformance.reporting.assemble import assemble, publish, sha256_of
from conformance.reporting.attestation import PREDICATE_TYPE, STATEMENT_TYPE
from conformance.reporting.report import Entry, Report
from conformance.selftest.collection import ROOT
from conformance.selftest.conftest import CLIENT_SECRET, TOKEN_ID
from conformance.selftest.runs import OPEN, USAGE, run_within
from conformance.verdict.decisions import Reason
from conformance.verdict.plan import DECIDED, RequirementVerdict
from conformance.webhooks.recorded import RecordedInbox

SCENARIOS = (
    "conformance.scenarios.quotes.test_quote_fields",
    "conformance.scenarios.webhooks.test_customer_events::test_a_submission_that_was_repaired_is_reported",
    "conformance.scenarios.transactions.test_transaction_approval::test_an_approval_that_is_repeated_debits_once",
    "conformance.fuzz.test_clients",
)
OPTIONS = ("-q", f"--rootdir={ROOT}")
EDIT = Callable[[dict[str, Any]], dict[str, Any] | None]


def entries(folder: Path) -> dict[str, Entry]:
    """Return the entries of a report by their ids."""
    report = Report.model_validate_json((folder / "report.json").read_bytes())
    return {entry.id: entry for entry in report.requirements}


def edit_journal(folder: Path, edit: EDIT) -> None:
    """Change each entry of the journal of a run; what becomes None is taken out."""
    path = folder / "journal" / "main.jsonl"
    edited = [edit(json.loads(line)) for line in path.read_text(encoding="ascii").splitlines()]
    lines = [json.dumps(entry) + "\n" for entry in edited if entry is not None]
    path.write_text("".join(lines), encoding="ascii")


def verify(*arguments: object) -> tuple[int, str]:
    """Verify a report; return the exit status and what was told."""
    result = CliRunner().invoke(app, ["verify", *map(str, arguments)])
    return result.exit_code, result.output


def prolonged(entry: dict[str, Any], packed: str | None = None) -> dict[str, Any]:
    """Return an entry of a journal as if the answer, where it is a quote, had been a long one.

    Args:
        entry: any entry.
        packed: what is packed in the place of the answer.
    """
    if entry.get("operation") == "createQuote" and entry["status"] == 201:
        whole = json.dumps({**entry["response_body"], "padding": "x" * 300_000})
        members = {"response_body": whole[:200], "body_form": BodyForm.CUT}
        entry = {**entry, **members, "packed": pack(whole) if packed is None else packed}
    return entry


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run two files of scenarios against a reference, which ends; return the report's folder."""
    folder = tmp_path_factory.mktemp("recorded")
    settings = Settings(api_token_id=TOKEN_ID, api_client_secret=CLIENT_SECRET)
    with BackgroundServer(settings) as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("PAYMENTS_API_TOKEN_ID", TOKEN_ID)
        patch.setenv("PAYMENTS_API_CLIENT_SECRET", CLIENT_SECRET)
        status, output = run_within(
            folder,
            *("--pyargs", *SCENARIOS, "--run-seed=5", *OPTIONS, f"--report-dir={folder}/run"),
            *(f"--base-url={server.base_url}", "--profile=reference"),
        )
    assert status == OPEN, output
    return folder / "run"


@pytest.fixture
def recording(recorded: Path, tmp_path: Path) -> Path:
    """Return a copy of the recorded run, to be changed."""
    return Path(shutil.copytree(recorded, tmp_path / "copy"))


def replay(recording: Path, *arguments: str) -> tuple[int, str, Path]:
    """Judge a recording again; return exit status, output, and the folder of the report."""
    again = recording.parent / "again"
    status, output = run_within(
        recording.parent,
        *("--pyargs", *SCENARIOS, f"--replay={recording}", *OPTIONS),
        *(f"--report-dir={again}", *arguments),
    )
    return status, output, again


class TestReplay:
    """``--replay`` judges what was recorded, and sends nothing."""

    def test_the_verdicts_are_the_same(self, recording: Path) -> None:
        """Each requirement has the verdict that it had, although its target is gone."""
        before = entries(recording)

        status, output, again = replay(recording)

        after = entries(again)
        assert status == OPEN, output
        assert {name: entry.verdict for name, entry in after.items()} == {
            name: entry.verdict for name, entry in before.items()
        }
        assert sum(entry.verdict in DECIDED for entry in after.values()) > 50
        report = Report.model_validate_json((again / "report.json").read_bytes())
        assert report.run.replayed == Recording.read(recording).run
        assert report.run.seed == 5

    @pytest.mark.slow
    def test_a_replay_can_be_replayed(self, recording: Path) -> None:
        """The journal of a replay holds what that of the run held, and is judged alike."""
        _, _, first = replay(recording)
        shutil.move(first, recording.parent / "first")

        _, output, second = replay(recording.parent / "first")

        verdicts = [
            {name: entry.verdict for name, entry in entries(folder).items()}
            for folder in (recording, second)
        ]
        assert verdicts[0] == verdicts[1], output

    def test_an_answer_that_is_missing_decides_nothing(self, recording: Path) -> None:
        """Where the journal lacks the answers to an operation, nothing fails or passes by it."""
        edit_journal(
            recording, lambda entry: None if entry.get("operation") == "createQuote" else entry
        )
        before = entries(recording)

        status, output, again = replay(recording)

        after = entries(again)
        undecided = {n for n, e in after.items() if e.reason is Reason.NOT_RECORDED}
        assert status == OPEN, output
        assert "QUO-031" in undecided
        assert {before[name].verdict for name in undecided} == {RequirementVerdict.PASSED}
        assert not [name for name, e in after.items() if e.verdict is RequirementVerdict.FAILED]

    @pytest.mark.slow
    def test_a_long_answer_is_judged_again(self, recording: Path) -> None:
        """An answer of more than 200 kB is kept whole, compressed, and judged as any other."""
        edit_journal(recording, prolonged)
        before = entries(recording)

        _, output, again = replay(recording)

        assert {name: entry.verdict for name, entry in entries(again).items()} == {
            name: entry.verdict for name, entry in before.items()
        }, output

    @pytest.mark.parametrize(
        ("packed", "told"),
        [("", "it is too long, also once it is compressed"), ("eJw=", "what was packed is cut")],
    )
    def test_an_answer_that_is_cut_decides_nothing(
        self, recording: Path, packed: str, told: str
    ) -> None:
        """Where the whole of an answer is not there, the reason is told, and nothing is green."""
        edit_journal(recording, lambda entry: prolonged(entry, packed))

        status, output, again = replay(recording)

        after = entries(again)["QUO-031"]
        assert status == OPEN, output
        assert after.reason is Reason.NOT_RECORDED
        assert f"only the beginning of the answer to createQuote was recorded: {told}" in (
            after.detail
        )

    def test_another_answer_is_another_verdict(self, recording: Path) -> None:
        """An answer that was changed in the journal is judged as it stands there."""

        def spoil(entry: dict[str, Any]) -> dict[str, Any]:
            if entry.get("operation") == "createQuote" and entry["status"] == 201:
                entry["response_body"]["source"]["sourceType"] = "OTHER"
            return entry

        edit_journal(recording, spoil)

        _, output, again = replay(recording)

        assert entries(again)["QUO-031"].verdict is RequirementVerdict.FAILED, output

    @pytest.mark.parametrize(
        ("arguments", "told"),
        [
            (["--base-url=http://127.0.0.1:1/2025-10-13"], "leave out --base-url"),
            (["--profile=reference"], "leave out --profile"),
            (["--report-dir={recording}"], "give it a folder of its own"),
            (["--replay={recording}/previous"], "is not the report folder of a run"),
        ],
    )
    def test_what_does_not_go_together_is_told(
        self, recording: Path, arguments: list[str], told: str
    ) -> None:
        """A mistake ends the run at once, with a message that says what to change."""
        given = [argument.format(recording=recording) for argument in arguments]

        status, output, _ = replay(recording, *given)

        assert status == USAGE, output
        assert told in " ".join(output.split())


class TestVerify:
    """``payments-conformance verify`` finds one byte that was changed."""

    @pytest.mark.slow
    def test_what_was_not_touched_fits(self, recording: Path) -> None:
        """Report, journal and catalogue of a run fit each other, also after judging again."""
        status, output = verify(recording)

        assert status == 0, output
        assert "judged again" in output

    def test_a_byte_of_the_journal(self, recording: Path) -> None:
        """One byte that is changed in the journal is found by its digest."""
        path = recording / "journal" / "main.jsonl"
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 1
        path.write_bytes(content)

        status, output = verify(recording, "--digests-only")

        assert status == 1
        assert "journal/main.jsonl is not the one that the report was made from" in output

    @pytest.mark.parametrize("name", ["report.json", "report.html", "statement.json"])
    def test_a_byte_of_the_report(self, recording: Path, name: str) -> None:
        """One letter that is changed in a file of the report is found by making it anew."""
        path = recording / name
        text = path.read_text(encoding="utf-8")
        assert "payments-conformance" in text
        path.write_text(text.replace("payments-conformance", "payments-conformancf", 1))

        status, output = verify(recording, "--digests-only")

        assert status == 1
        assert f"{name} is not what its journal says" in output

    def test_a_verdict_that_was_changed_is_named(self, recording: Path) -> None:
        """A verdict that is not that of the journal is told by its id."""
        path = recording / "report.json"
        content = json.loads(path.read_bytes())
        for entry in content["requirements"]:
            if entry["id"] == "QUO-031":
                entry["verdict"] = "failed"
        path.write_text(json.dumps(content), encoding="utf-8")

        status, output = verify(recording, "--digests-only")

        assert status == 1
        assert "QUO-031 is failed in the report; the decisions in its journal say: passed" in output

    @pytest.mark.slow
    def test_decisions_that_do_not_follow(self, recording: Path) -> None:
        """Where journal, report and digests were all made anew, judging again still tells."""

        def spoil(entry: dict[str, Any]) -> dict[str, Any]:
            if entry.get("operation") == "createQuote" and entry["status"] == 201:
                entry["response_body"]["source"]["sourceType"] = "OTHER"
            return entry

        edit_journal(recording, spoil)
        publish(assemble(recording), recording)

        status, output = verify(recording)

        assert status == 1
        assert "QUO-031 is passed in the report; its exchanges say: failed" in output

    @pytest.mark.slow
    def test_a_run_that_was_killed(self, recording: Path) -> None:
        """What its lost tests would have decided is open in the report, and may be."""
        path = recording / "journal" / "main.jsonl"
        lines = path.read_text(encoding="ascii").splitlines(keepends=True)
        ends = [at for at, line in enumerate(lines) if line.startswith('{"kind": "decisions"')]
        path.write_text("".join(lines[: ends[len(ends) // 2]]), encoding="ascii")
        made = CliRunner().invoke(app, ["report", str(recording)])
        lost = [one for one in entries(recording).values() if one.reason is Reason.LOST]

        status, output = verify(recording)

        assert made.exit_code == OPEN, made.output
        assert "The run ended early: the run was killed" in made.output
        assert lost
        assert status == 0, output

    def test_another_catalogue(self, recording: Path) -> None:
        """A report that was made with another catalogue says so."""
        path = recording / "report.json"
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace(spec_digest(), 64 * "0"), encoding="utf-8")

        status, output = verify(recording, "--digests-only")

        assert status == 1
        assert "the report was made with the catalogue of payments-conformance" in output

    @pytest.mark.parametrize("content", ["", "{}", "[]"])
    def test_what_is_no_report(self, tmp_path: Path, content: str) -> None:
        """What is no report ends with exit status 2."""
        (tmp_path / "report.json").write_text(content, encoding="utf-8")

        status, output = verify(tmp_path)

        assert status == 2
        assert "is no report" in output

    def test_a_report_alone(self, recording: Path) -> None:
        """A report without its journal cannot be verified."""
        shutil.rmtree(recording / "journal")

        status, output = verify(recording)

        assert status == 2
        assert "holds no journal of a run" in output


def test_the_statement_is_about_report_and_journal(recorded: Path) -> None:
    """The statement beside the report is one of in-toto, and its digests are those of the files."""
    content = json.loads((recorded / "statement.json").read_bytes())
    report = Report.model_validate_json((recorded / "report.json").read_bytes())

    assert (content["_type"], content["predicateType"]) == (STATEMENT_TYPE, PREDICATE_TYPE)
    digests = {one["name"]: one["digest"]["sha256"] for one in content["subject"]}
    assert set(digests) == {"report.json", "report.html", "journal/main.jsonl"}
    assert digests == {name: sha256_of(recorded / name) for name in digests}
    predicate = content["predicate"]
    passed = [entry.id for entry in report.of(RequirementVerdict.PASSED)]
    # A part of the suite has no verdict, and nobody may take that for a pass.
    assert predicate["result"] == "FAILED"
    assert predicate["passedTests"] == passed
    assert predicate["configuration"][0]["digest"] == {"sha256": spec_digest()}


def _slept(seconds: float) -> float:
    """Let time pass; return when it began."""
    began = clock().time()
    clock().sleep(seconds)
    return began


class TestRecordedTime:
    """The clock of a recording stands still, but for what is waited for."""

    def test_waiting_costs_nothing(self) -> None:
        """To sleep for a year is over at once, and a year later."""
        recorded = RecordedClock()
        recorded.set(1_000_000_000.0)

        with running_by(recorded):
            clock().sleep(31_536_000)
            seen = now()

        assert seen.isoformat() == "2002-09-09T01:46:40+00:00"
        assert clock() is not recorded

    def test_what_happens_at_once_begins_at_one_moment(self) -> None:
        """One action follows the other, each by a clock of its own, and the last of them counts."""
        moments = RecordedClock()
        moments.set(10.0)

        with running_by(moments):
            began = at_once(*(partial(_slept, seconds) for seconds in (3.0, 1.0)))
            ended = moments.time()

        assert began == [10.0, 10.0]
        assert ended == 13.0

    def test_webhooks_arrive_in_their_time(self) -> None:
        """A delivery is there once the clock has come to it; who waits for it moves the clock."""
        moments = RecordedClock()
        moments.set(10.0)
        first = Delivery(0, 9.5, {}, {"id": "a"}, b"{}")
        inbox = RecordedInbox([first, replace(first, number=1, at=10.1, body={"id": "b"})], moments)
        judged: list[str | None] = []
        inbox.watcher = lambda delivery: judged.append(delivery.id)

        with running_by(moments):
            there = inbox.all(lambda _: True)
            late = inbox.wait(lambda delivery: delivery.id == "b", within=5.0)
            waited_until = moments.time()
            never = inbox.wait(lambda delivery: delivery.id == "c", within=5.0)

        assert [delivery.id for delivery in there] == ["a"]
        assert late is not None
        assert never is None
        assert waited_until == 10.1
        assert moments.time() == pytest.approx(15.1)
        assert judged == ["a", "b"]


class TestRecording:
    """A recording gives each answer once, to the test that got it."""

    def test_answers_are_given_once(self, recorded: Path) -> None:
        """The second request of a kind gets the second answer, and there is none to a third."""
        recording = Recording.read(recorded / "journal" / "main.jsonl")
        recording.begin("conformance.scenarios.nowhere::test_nothing")

        with pytest.raises(NotRecorded, match="did not send this request to getConfig"):
            recording.take(key("getConfig", "GET", "/config", None), "getConfig")

    def test_a_folder_without_a_journal_is_none(self, tmp_path: Path) -> None:
        """Where there is no journal, the message says so."""
        with pytest.raises(NoRecording, match="is not the report folder of a run"):
            Recording.read(tmp_path)

    def test_a_journal_without_a_start_is_none(self, recording: Path) -> None:
        """A journal that lacks its start cannot be judged again."""
        edit_journal(recording, lambda entry: None if entry["kind"] == "started" else entry)

        with pytest.raises(NoRecording, match="cannot be read"):
            Recording.read(recording)
