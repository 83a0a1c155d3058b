"""A target that tells the credentials everywhere: no file in any format holds them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from typer.testing import CliRunner

from conformance.cli.main import app
from conformance.reference.server import BackgroundServer
from conformance.reporting.job_summary import VARIABLE
from conformance.reporting.report import Report
from conformance.selftest.hostile import runs
from conformance.selftest.hostile.entry import BROKEN, Entry, Expected
from conformance.selftest.hostile.front import CONFIG, Behaviour, Front, Reply, Turn, only, reply
from conformance.selftest.hostile.runs import CLIENT_SECRET, TOKEN_ID, Outcome
from conformance.verdict.plan import RequirementVerdict

MEMBERS = ("clientSecret", "accessToken", "livenessAccessToken")
VALUE = "Xk3vT9wLq0pZ"
"""What stands in members that are secret by their nature; the suite never knows it before."""

EXPORTS = ("sarif", "markdown", "har", "annotations")
SCRIPTS = ("curl", "python")


def told_everywhere(answer: Reply) -> Reply:
    """Return an answer with the credentials in headers and body, which fits no schema any more."""
    with_headers = answer.with_headers(x_echo=CLIENT_SECRET, set_cookie=f"s={TOKEN_ID}")
    if not answer.body:
        return with_headers
    body = answer.json()
    if isinstance(body, dict):
        secret = {**dict.fromkeys(MEMBERS, VALUE), "note": f"{TOKEN_ID}:{CLIENT_SECRET}"}
        body = {**body, **secret, "createdAt": CLIENT_SECRET, "inner": [secret]}
    return with_headers.with_json(body)


def tells(turn: Turn) -> None:
    """Send a delivery that holds the credentials, and then the one that was to be sent."""
    received = turn.received
    event = {
        **json.loads(received.body),
        "note": CLIENT_SECRET,
        "timestamp": TOKEN_ID,
        **dict.fromkeys(MEMBERS, VALUE),
    }
    headers = {**received.headers, "x-echo": CLIENT_SECRET}
    body = json.dumps(event).encode()
    turn.ask(type(received)(received.at, "POST", received.path, headers, body))
    turn.send(turn.answer())


def start(upstream: str, _: Path) -> Front:
    """Start the target; only what is asked before the run begins is answered as usual."""
    everywhere: Behaviour = reply(told_everywhere)
    server = Front(only(CONFIG, reply(lambda answer: answer), everywhere), upstream)
    server.delivers = tells
    return server


ENTRY = Entry(
    "tells-everywhere",
    "Tells the credentials in each answer and each webhook.",
    start,
    Expected((BROKEN,)),
    arguments=("--showlocals", "--tb=long", "--log-level=DEBUG", "-vv"),
)


@dataclass(frozen=True)
class Outputs:
    """A run, and the text of everything that was made of it, by its name."""

    outcome: Outcome
    texts: Mapping[str, str]


def run_command(*arguments: object) -> str:
    """Run a command of the program; return what it prints."""
    return CliRunner().invoke(app, list(map(str, arguments))).output


def texts_of(outcome: Outcome, place: Path) -> Iterator[tuple[str, str]]:
    """Yield everything that is made of a run, each with its name."""
    folder = outcome.report_folder
    yield "terminal", outcome.output
    yield from outcome.files().items()
    for form in EXPORTS:
        yield form, run_command("export", form, folder)
    for form in SCRIPTS:
        yield form, run_command("export", form, folder, "--requirement=AUT-043")
    run_command("export", "badges", folder, f"--output={place / 'badges'}")
    run_command("compare", folder, f"--output={place / 'compare.html'}")
    again = runs.judge(outcome.folder, f"--replay={folder}", f"--report-dir={place / 'again'}")
    yield "replay", again.output
    yield "diff", run_command("diff", folder, place / "again")
    yield "verify", run_command("verify", folder, "--digests-only")
    for path in sorted(place.rglob("*")):
        if path.is_file():
            yield str(path.relative_to(place)), path.read_text("utf-8", "replace")


@pytest.fixture(scope="module")
def outputs(
    upstream: BackgroundServer, few_requirements: None, tmp_path_factory: pytest.TempPathFactory
) -> Outputs:
    """Run against the target that tells everything, and make everything of the run."""
    assert few_requirements is None
    place = tmp_path_factory.mktemp("outputs")
    folder = tmp_path_factory.mktemp("told") / "cwd"
    folder.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv(VARIABLE, str(place / "summary.md"))
        with ENTRY.start(upstream.origin, folder.parent) as target:
            outcome = runs.run(ENTRY, target.base_url, folder)
        return Outputs(outcome, dict(texts_of(outcome, place)))


def test_the_run_fails_by_what_was_told(outputs: Outputs) -> None:
    """What was planted was met: requirements fail, and webhooks and members are in the journal."""
    report = outputs.outcome.report()
    assert report is not None

    assert outputs.outcome.status == BROKEN, outputs.outcome.output
    shown = {entry.id: entry.verdict for entry in report.requirements if entry.evidence}
    assert shown["AUT-043"] is RequirementVerdict.WARNED
    assert RequirementVerdict.FAILED in shown.values()
    journal = outputs.texts["reports/latest/journal/main.jsonl"]
    assert '"clientSecret": "***"' in journal
    assert '"kind": "delivery"' in journal


def test_what_was_told_is_known_when_it_is_judged_again(outputs: Outputs) -> None:
    """That the client secret was told stands in the journal, although the secret does not.

    Only the signature of a webhook that held it cannot be verified again, and is not passed.
    """
    before = {name: entry.verdict for name, entry in outputs.outcome.verdicts().items()}
    again = Report.model_validate_json(outputs.texts["again/report.json"])

    verdicts = {entry.id: entry.verdict for entry in again.requirements}
    assert before["EVT-251"] is RequirementVerdict.FAILED
    assert verdicts == {**before, "EVT-251": RequirementVerdict.INCONCLUSIVE}


def test_everything_was_made(outputs: Outputs) -> None:
    """There is a text of each kind, and none is empty."""
    names = {
        *(*EXPORTS, *SCRIPTS),
        *("summary.md", "compare.html", "again/report.json", "again/journal/main.jsonl", "diff"),
        *("reports/latest/report.html", "reports/latest/statement.json", "junit.xml", "verify"),
    }

    assert {name for name in names if outputs.texts.get(name)} == names
    assert all("# 1. " in outputs.texts[name] for name in SCRIPTS)
    assert [name for name in outputs.texts if name.startswith("badges/")]
    assert [name for name in outputs.texts if name.startswith("allure/")]


def test_no_output_tells_a_credential(outputs: Outputs) -> None:
    """Neither the credentials nor what stood in secret members is in any of them."""
    told = {
        name: [*runs.leaked_secrets(text), *([VALUE] if VALUE in text else [])]
        for name, text in outputs.texts.items()
    }

    assert {name: leaks for name, leaks in told.items() if leaks} == {}
