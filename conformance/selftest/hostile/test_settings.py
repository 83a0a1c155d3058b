"""Wrong settings, full disks and killed processes lead to no green or incomplete report.

The target is the reference itself. Tests that need whole processes start them; the others run
within this process.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from conformance.reference.server import BackgroundServer
from conformance.reporting.report import Report
from conformance.selftest.hostile import runs
from conformance.selftest.hostile.entry import CONFORMANT, OPEN, USAGE
from conformance.selftest.hostile.front import (
    EXECUTE,
    READ_CUSTOMER,
    Behaviour,
    Front,
    Turn,
    hangs,
    only,
    pass_on,
    status,
)
from conformance.selftest.hostile.runs import CLIENT_SECRET, TOKEN_ID, Outcome, leaked_secrets
from conformance.verdict.decisions import Reason
from conformance.verdict.plan import RequirementVerdict, TargetVerdict

pytestmark = pytest.mark.usefixtures("few_requirements")

BROKEN, INTERRUPTED, NO_TESTS = 1, 2, 5


@dataclass
class Place:
    """A working directory, with methods that run the few scenarios in it."""

    folder: Path
    upstream: BackgroundServer

    @property
    def report_folder(self) -> Path:
        """The default folder of reports."""
        return self.folder / "reports" / "latest"

    def profile(self, **parts: Any) -> str:
        """Return the option of the usual profile with other parts in it."""
        path = self.folder.parent / f"{sum(1 for _ in self.folder.parent.iterdir())}.yaml"
        return f"--profile={runs.write_profile(path, parts)}"

    def target(self) -> str:
        """Return the option of the reference's base URL."""
        return f"--base-url={self.upstream.base_url}"

    def judge(self, *arguments: str) -> Outcome:
        """Run the few scenarios within this process."""
        return runs.judge(self.folder, *arguments)

    def start(
        self, *arguments: str, python: tuple[str, ...] = (), limit: int = 0, **environment: str
    ) -> subprocess.Popen[str]:
        """Start a run in a process; with a ``limit`` it can write no file of more bytes."""
        inherited = {
            name: value
            for name, value in os.environ.items()
            if "PYTEST" not in name and name != "PYTHONDONTWRITEBYTECODE"
        }
        credentials = {
            "PAYMENTS_API_TOKEN_ID": TOKEN_ID,
            "PAYMENTS_API_CLIENT_SECRET": CLIENT_SECRET,
        }
        if limit:
            # Compiled modules that are cut short would break every later run.
            inherited["PYTHONDONTWRITEBYTECODE"] = "1"
        options = [word for word in runs.ARGUMENTS if word != "-Werror"]

        def prepare() -> None:
            # A shell may have let background jobs ignore this signal.
            signal.signal(signal.SIGINT, signal.default_int_handler)
            if limit:
                signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

        return subprocess.Popen(
            [
                *(sys.executable, *python, "-m", "pytest"),
                *(*options, "-pconformance.selftest.hostile.substitute", "-pxdist.plugin"),
                *(f"-p{name}" for name in runs.PLUGINS),
                *(f"--rootdir={self.folder}", *arguments),
            ],
            cwd=self.folder,
            env={**inherited, **credentials, **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            preexec_fn=prepare,  # noqa: PLW1509 - the threads of this process hold nothing that it needs
        )

    def run(self, *arguments: str, **options: Any) -> tuple[int, str]:
        """Run a process to its end; return its exit status and its output."""
        with self.start(*arguments, **options) as process:
            output, _ = process.communicate(timeout=120)
            return process.returncode, output

    def report(self, folder: Path | None = None) -> Report:
        """Return the report of the latest run."""
        text = ((folder or self.report_folder) / "report.json").read_text("utf-8")
        return Report.model_validate_json(text)


@pytest.fixture
def place(upstream: BackgroundServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """Return an empty working directory, with the reference as the target."""
    folder = tmp_path / "cwd"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return Place(folder, upstream)


@contextlib.contextmanager
def front_of(place: Place, behaviour: Behaviour = pass_on) -> Iterator[Front]:
    """Start a front before the reference of a place."""
    with Front(behaviour, place.upstream.origin) as front:
        yield front


def has_whole_report(folder: Path) -> bool:
    """Return whether a folder holds both files of a report; half a report is an error.

    Raises:
        AssertionError: one of the two files is missing or incomplete.
    """
    files = [folder / "report.json", folder / "report.html"]
    exist = [path.exists() for path in files]
    assert len(set(exist)) == 1, exist
    if exist[0]:
        Report.model_validate_json(files[0].read_text("utf-8"))
        assert files[1].read_text("utf-8").rstrip().endswith("</html>")
    assert not list(folder.glob(".report*")), "a temporary file was left"
    return exist[0]


# --- Which target ------------------------------------------------------------------------------


@pytest.mark.parametrize("variable", [False, True], ids=["option", "variable"])
def test_an_empty_base_url_is_no_target(
    place: Place, monkeypatch: pytest.MonkeyPatch, variable: bool
) -> None:
    """An empty option or variable is a usage error, and no report is written."""
    if variable:
        monkeypatch.setenv("BASE_URL", "")

    outcome = place.judge(place.profile(), *([] if variable else ["--base-url="]))

    assert outcome.status == USAGE, outcome.output
    assert "base URL" in outcome.output or "base-url" in outcome.output
    assert not has_whole_report(place.report_folder)


def test_a_profile_without_a_base_url_is_no_target(place: Place) -> None:
    """Without a base URL the reference is judged only by its own profile."""
    profile = place.profile(implementation={"name": "Acme"})

    outcome = place.judge(profile)

    assert outcome.status == USAGE, outcome.output
    assert "base URL" in outcome.output or "base-url" in outcome.output


@pytest.mark.parametrize("secret", ["a", "pass", "test", "1234"])
def test_secrets_like_words_are_refused(
    place: Place, monkeypatch: pytest.MonkeyPatch, secret: str
) -> None:
    """A short or common secret, which might stand in any report, is a usage error."""
    monkeypatch.setenv("PAYMENTS_API_CLIENT_SECRET", secret)
    right = b64encode(f"{TOKEN_ID}:{CLIENT_SECRET}".encode()).decode()

    def admit(turn: Turn) -> None:
        headers = {**turn.received.headers, "authorization": f"Basic {right}"}
        turn.send(turn.ask(replace(turn.received, headers=headers)))

    with front_of(place, admit) as front:
        outcome = place.judge(f"--base-url={front.base_url}", place.profile())

    assert outcome.status == USAGE, outcome.output
    assert "PAYMENTS_API_CLIENT_SECRET" in outcome.output
    assert not [request for request in front.received if request.method != "GET"]


def test_production_is_only_read(place: Place) -> None:
    """In production no trigger fires, no command runs and only safe methods are sent."""
    marker = place.folder.parent / "ran"
    command = {"http": None, "command": ["touch", str(marker)]}
    profile = place.profile(
        environment="production",
        triggers={"quote.expire": command, "webhook.register": command},
    )
    with front_of(place) as front:
        outcome = place.judge(f"--base-url={front.base_url}", profile)

    assert outcome.status == OPEN, outcome.output
    assert {request.method for request in front.received} <= {"GET", "HEAD", "OPTIONS"}
    assert not [request for request in front.received if request.path.startswith("/control")]
    assert not marker.exists()
    assert not [*runs.problems(outcome)]


# --- Where reports go ---------------------------------------------------------------------------


USER_FILES = {
    "journal/main.jsonl": '{"kind of": "dear diary"}\n',
    "report.json": '{"mine": true}',
    "report.html": "<p>mine</p>",
}


@pytest.mark.parametrize("name", [*USER_FILES, "all"])
def test_files_of_the_user_are_left_alone(place: Place, name: str) -> None:
    """The run ends before it sends anything, names the file and does not change it."""
    files = USER_FILES if name == "all" else {name: USER_FILES[name]}
    for path, text in files.items():
        (place.folder / path).parent.mkdir(exist_ok=True)
        (place.folder / path).write_text(text)
    with front_of(place) as front:
        outcome = place.judge(f"--base-url={front.base_url}", place.profile(), "--report-dir=.")

    assert {path: (place.folder / path).read_text() for path in files} == files
    assert outcome.status == USAGE, outcome.output
    assert any(Path(path).name in outcome.output for path in files)
    assert not front.received


def test_files_beside_those_of_a_run_do_no_harm(place: Place) -> None:
    """Other files in the journal folder stay as they are, and are not read as journals."""
    notes = place.folder / "journal" / "notes.jsonl"
    notes.parent.mkdir()
    notes.write_text('{"kind": "dear diary"}\n')
    with front_of(place) as front:
        outcome = place.judge(f"--base-url={front.base_url}", place.profile(), "--report-dir=.")

    assert notes.read_text() == '{"kind": "dear diary"}\n'
    assert outcome.status == CONFORMANT, outcome.output


@pytest.mark.parametrize("folder", ["file/reports", "/proc/reports", "file", "a\0b"])
def test_a_folder_that_cannot_be_written_is_named(place: Place, folder: str) -> None:
    """The run ends with a usage error before it sends anything."""
    (place.folder / "file").write_text("mine")
    with front_of(place) as front:
        outcome = place.judge(
            f"--base-url={front.base_url}", place.profile(), f"--report-dir={folder}"
        )

    assert outcome.status == USAGE, outcome.output
    assert folder.partition("\0")[0] in outcome.output
    assert "Traceback" not in outcome.output
    assert "INTERNALERROR" not in outcome.output
    assert not front.received
    assert (place.folder / "file").read_text() == "mine"


def test_a_report_folder_that_leads_elsewhere_is_not_followed_to_a_user_file(
    place: Place,
) -> None:
    """The target of a link in the place of the report stays as it is."""
    user_file = place.folder / "mine.txt"
    user_file.write_text("mine")
    place.report_folder.mkdir(parents=True)
    (place.report_folder / "report.json").symlink_to(user_file)

    outcome = place.judge(place.target(), place.profile(), "-k=configuration")

    assert user_file.read_text() == "mine"
    assert outcome.status in (USAGE, OPEN), outcome.output


@pytest.mark.parametrize(
    ("arguments", "exits"),
    [
        (["--base-url=http://127.0.0.1:1/2025-10-13"], USAGE),
        (["--profile=absent"], USAGE),
        (["-k=nothing_has_this_name"], NO_TESTS),
    ],
    ids=["no target", "no profile", "no tests"],
)
def test_an_earlier_report_is_not_that_of_a_run_that_could_not_start(
    place: Place, arguments: list[str], exits: int
) -> None:
    """After a run that could not start, no conformant report stands in the folder."""
    first = place.judge(place.target(), place.profile())
    assert first.status == CONFORMANT, first.output

    second = place.judge(place.target(), place.profile(), *arguments)

    assert second.status == exits, second.output
    if has_whole_report(place.report_folder):
        assert place.report().verdict is not TargetVerdict.CONFORMANT, "the earlier report stands"


# --- Nothing told --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        ["--log-level=DEBUG", "--tb=long", "-l", "-vv"],
        ["--log-level=DEBUG", "-olog_cli=true", "-s"],
        ["--log-level=DEBUG", "--log-file=run.log", "--log-file-level=DEBUG"],
        ["--tb=native", "-rA", "--junitxml=junit.xml", "-ojunit_logging=all"],
        ["--tb=long", "-l", "--full-trace", "--alluredir=allure"],
        ["--log-level=DEBUG", "--durations=0", "--setup-show", "--debug=debug.log"],
    ],
    ids=["showlocals", "log_cli", "log-file", "junit", "allure", "debug"],
)
def test_no_option_of_pytest_tells_a_secret(place: Place, arguments: list[str]) -> None:
    """A target sends the credentials back, and no output or file of the run has them."""
    echo = {"status": 500, "code": CLIENT_SECRET, "message": f"{TOKEN_ID} {CLIENT_SECRET}"}
    encoded = b64encode(f"{TOKEN_ID}:{CLIENT_SECRET}".encode()).decode()
    failing = status(500, echo, x_echo=encoded, x_plain=CLIENT_SECRET, set_cookie=CLIENT_SECRET)
    with front_of(place, only(EXECUTE, failing)) as front:
        outcome = place.judge(
            f"--base-url={front.base_url}",
            place.profile(),
            "-k=execution",
            *arguments,
        )

    assert outcome.status == BROKEN, outcome.output
    texts = {"terminal": outcome.output, **outcome.files()}
    leaks = {name: [*leaked_secrets(text)] for name, text in texts.items()}
    assert not {name: secrets for name, secrets in leaks.items() if secrets}


# --- Whole processes -----------------------------------------------------------------------------


@pytest.mark.slow
def test_two_workers_without_webhooks_report_as_one_process_does(place: Place) -> None:
    """Two workers come to the exit status and the verdicts of one process."""
    profile = place.profile(features={"webhooks": False, "webhook_signatures": False})

    code, output = place.run(place.target(), profile, "-n2")

    assert has_whole_report(place.report_folder), output
    verdicts = {entry.id: entry.verdict for entry in place.report().requirements}
    outcome = place.judge(place.target(), profile)
    assert (code, verdicts) == (
        outcome.status,
        {k: v.verdict for k, v in outcome.verdicts().items()},
    )
    assert verdicts["QUO-083"] is RequirementVerdict.PASSED


@pytest.mark.slow
def test_a_budget_is_of_the_run(place: Place) -> None:
    """Two workers together create no more than the budget allows."""
    with front_of(place) as front:
        code, output = place.run(
            f"--base-url={front.base_url}", place.profile(budget={"created": 9}), "-n2"
        )

    created = [
        request
        for request in front.received
        if request.method == "POST" and not request.path.startswith("/control")
    ]
    assert len(created) <= 9, output
    assert code == OPEN, output
    assert Reason.BUDGET_SPENT in {entry.reason for entry in place.report().requirements}


@pytest.mark.slow
def test_two_runs_in_one_folder_do_not_mix(place: Place) -> None:
    """The second run ends with a message or takes another folder; the first is not disturbed."""
    released = threading.Event()
    arrived = threading.Event()

    def wait(turn: Any) -> None:
        arrived.set()
        released.wait(60)
        pass_on(turn)

    with front_of(place, only(READ_CUSTOMER, wait)) as front:
        first = place.start(
            f"--base-url={front.base_url}",
            place.profile(
                timing={"request": 90, "outage": 90} if _has_outage() else {"request": 90}
            ),
            "-k=customer",
        )
        with first:
            assert arrived.wait(60)
            code, second_output = place.run(place.target(), place.profile(), "-k=execution")
            released.set()
            output, _ = first.communicate(timeout=60)

    assert first.returncode == OPEN, output
    report = place.report()
    assert report.run.base_url == front.base_url
    verdicts = {entry.id: entry for entry in report.requirements}
    assert verdicts["CUS-005"].verdict is RequirementVerdict.PASSED, output
    assert verdicts["QUO-083"].reason is Reason.DESELECTED
    assert code in (USAGE, OPEN), second_output
    if code == USAGE:
        assert str(place.report_folder.name) in second_output
    for path in place.folder.rglob("*.jsonl"):
        urls = {
            json.loads(line)["base_url"]
            for line in path.read_text("utf-8").splitlines()
            if '"started"' in line[:40]
        }
        assert len(urls) <= 1, path


@pytest.mark.slow
@pytest.mark.parametrize(
    ("expression", "limit"),
    [("customer or execution", 8_192), ("configuration", 20_000)],
    ids=["journal", "report"],
)
def test_a_full_disk_is_no_verdict(place: Place, expression: str, limit: int) -> None:
    """The run names the folder that it cannot write to, and leaves no incomplete report."""
    code, output = place.run(place.target(), place.profile(), f"-k={expression}", limit=limit)

    assert code not in (CONFORMANT, BROKEN), output
    assert str(place.report_folder) in output
    assert "Traceback" not in output
    has_whole_report(place.report_folder)


@pytest.mark.parametrize(
    ("python", "environment"),
    [(("-O",), {}), ((), {"PYTHONOPTIMIZE": "1"})],
    ids=["-O", "PYTHONOPTIMIZE"],
)
def test_python_without_assertions_is_refused(
    place: Place, python: tuple[str, ...], environment: dict[str, str]
) -> None:
    """Without assertions no check could fail: a usage error, and no report."""
    code, output = place.run(place.target(), place.profile(), python=python, **environment)

    assert code == USAGE, output
    assert "PYTHONOPTIMIZE" in output or "-O" in output
    assert not has_whole_report(place.report_folder)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM"])
def test_an_interrupted_run_leaves_a_whole_report_or_none(
    place: Place, number: signal.Signals
) -> None:
    """The report, if there is one, is inconclusive about the interrupted check."""
    with front_of(place, only(EXECUTE, hangs)) as front:
        process = place.start(
            f"--base-url={front.base_url}", place.profile(timing={"request": 60}), "-vv"
        )
        with process:
            wait_for(front, "/execute")
            process.send_signal(number)
            output, _ = process.communicate(timeout=60)

    assert process.returncode not in (CONFORMANT, BROKEN, USAGE), output
    if has_whole_report(place.report_folder):
        assert place.report().verdict is TargetVerdict.INCONCLUSIVE
        verdicts = {entry.id: entry.verdict for entry in place.report().requirements}
        assert verdicts["QUO-083"] is RequirementVerdict.INCONCLUSIVE


@pytest.mark.slow
def test_a_killed_worker_is_no_verdict(place: Place) -> None:
    """The requirement of the killed worker is lost; the report is whole and inconclusive."""
    with front_of(place, only(EXECUTE, hangs)) as front:
        process = place.start(
            f"--base-url={front.base_url}",
            place.profile(timing={"request": 60}),
            *("-n1", "--max-worker-restart=0"),
            "-k=configuration or customer or execution",
        )
        with process:
            wait_for(front, "/execute")
            os.kill(child_of(process.pid), signal.SIGKILL)
            output, _ = process.communicate(timeout=60)

    assert process.returncode == OPEN, output
    assert has_whole_report(place.report_folder)
    verdicts = {entry.id: entry for entry in place.report().requirements}
    assert verdicts["QUO-083"].reason is Reason.LOST
    assert verdicts["CUS-005"].verdict is RequirementVerdict.PASSED


def wait_for(front: Front, ending: str) -> None:
    """Wait until the front has got a request whose path ends so."""
    until = time.monotonic() + 60
    while not any(request.path.endswith(ending) for request in list(front.received)):
        assert time.monotonic() < until, "the run did not come that far"
        time.sleep(0.02)


def child_of(parent: int) -> int:
    """Return the process id of the only child of ``parent``."""
    children = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
    assert len(children) == 1, children
    return int(children[0])


def _has_outage() -> bool:
    return "outage" in runs.usual_profile()["timing"]
