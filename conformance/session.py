"""One pytest session of the suite: from the collected tests to the report."""

from __future__ import annotations

import contextlib
import gc
import os
import platform
import shlex
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Generator, Iterator
from dataclasses import asdict, replace
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from conformance.contract.catalogue import CatalogueError, Level, catalogue
from conformance.contract.classes import ClassError, classes
from conformance.contract.document import document
from conformance.contract.spec_files import spec_digest
from conformance.effort import Progress
from conformance.exchange.clock import clock
from conformance.exchange.curl import curl_chain
from conformance.exchange.folder import FolderError, RunFolder, writing_to
from conformance.exchange.recording import NoRecording, Recording
from conformance.exchange.redaction import Redactor
from conformance.exchange.shard import Shard
from conformance.exchange.transcript import transcript
from conformance.exit_status import EXIT_STATUS
from conformance.items import address, label, requirements_named_by
from conformance.outlet import Outlet
from conformance.profile.baseline import BaselineError, read_baseline
from conformance.profile.model import Profile
from conformance.profile.needs import unmet
from conformance.profile.part import ProfileError
from conformance.run import (
    Connection,
    is_reference,
    load_profile,
    recorded_target,
    reference_target,
)
from conformance.sut.errors import TargetError
from conformance.sut.sandbox import Sandbox, SandboxError
from conformance.sut.target import Target
from conformance.termination import Termination
from conformance.verdict.decisions import Decision, HarnessError, Outcome, Unmet
from conformance.verdict.gate import Terms
from conformance.verdict.plan import Plan
from conformance.verdict.recorder import UNREADABLE, ChecksFailed, Recorder
from conformance.webhooks.listener import ListenerError

if TYPE_CHECKING:
    from conformance.reporting.report import Report

AUDIT = "ACC-014"
"""The requirement that the audit after each test decides: money is neither made nor lost."""


RECORDER = pytest.StashKey[Recorder]()
_SHOWN_EXCHANGES = 30
_MAX_SCRIPT_CHARS = 12_000
_TOO_LONG = (
    "The script that repeats the requests has {} characters. After the run this writes it, with a\n"
    "requirement that fails here: payments-conformance export curl --requirement=QUO-031"
)
_WHOLE_PERCENT = 100
_TOLD_OF_FAILURES = ("transcript", "reproduce")
"""The names of what is told of a failed test beside its message."""

_HANDED_ON = "payments_conformance"
_HYPOTHESIS_HOME = "HYPOTHESIS_STORAGE_DIRECTORY"
_CONFIGURATION_ERRORS = (
    BaselineError,
    CatalogueError,
    ClassError,
    FolderError,
    ListenerError,
    NoRecording,
    ProfileError,
    SandboxError,
    TargetError,
    Unmet,
)


class Session:
    """Holds what a run needs between pytest's hooks.

    Under pytest-xdist the controller owns the target, the listener and the report, and each
    worker a connection of its own. Everything that the report needs goes through the journals.

    Args:
        config: that of pytest.
        given: the base URL, and the name of what gave it; ``None`` where nothing did.
        sandbox: the reference, where it was started to be judged.
    """

    connection: Connection

    def __init__(
        self, config: pytest.Config, given: tuple[str, str] | None, sandbox: Sandbox | None
    ) -> None:
        self._config = config
        self._handed: dict[str, Any] | None = getattr(config, "workerinput", {}).get(_HANDED_ON)
        self._sandbox = sandbox
        self._named: dict[str, list[str]] = {}
        self._told: set[str] = set()
        self._selected: list[str] = []
        self._started = datetime.now(UTC)
        self._interrupted: str | None = None
        self._problems: list[str] = []
        self._warnings: list[str] = []
        self._outlet = Outlet()
        self._termination = Termination()
        self._run_folder: RunFolder | None = None
        self._seed: int = config.getoption("run_seed")
        self._shard: Shard | None = None
        self._of_all_shards: dict[str, str] = {}
        # As with the files of pytest itself, it starts at the current folder, and every process
        # and test finds the same one.
        config.option.report_dir = config.invocation_params.dir / config.option.report_dir
        self._folder: Path = config.option.report_dir
        self.reports = True
        """Whether the end of the session writes a report."""
        self.report: Report | None = None
        # It asks the target with a client of its own, which knows none of our bounds.
        config.option.verify_base_url = False
        self._recording: Recording | None = None
        with self._usage_errors():
            _demand_assertions()
            self._shard = _shard(config.getoption("shard"))
            self._base_url = None if self._handed is not None else _base_url(given)
            if config.getoption("replay") is not None:
                self._recording = self._recorded()
                config.option.run_seed = self._seed = self._recording.started["seed"]
                examples = self._recording.started["options"].get("--fuzz-examples")
                config.option.fuzz_examples = int(examples or config.option.fuzz_examples)
            self.profile = self._load_profile()
            self._terms = self._read_terms()
        # Hypothesis would leave a folder of its own behind in the current one.
        self._hypothesis_home = (
            None
            if self._handed is not None or _HYPOTHESIS_HOME in os.environ
            else tempfile.TemporaryDirectory(prefix="payments-conformance-")
        )
        if self._hypothesis_home is not None:
            os.environ[_HYPOTHESIS_HOME] = self._hypothesis_home.name

    # Start

    @pytest.hookimpl(trylast=True)
    def pytest_sessionstart(self) -> None:
        """Start or check the target before anything is collected."""
        if self._config.option.collectonly:
            return
        self._outlet.install(self._config)
        if self._handed is None:
            self._termination.interrupt()
        else:
            self._termination.ignore()
        self._show_progress()
        prefix = "" if self._shard is None else self._shard.prefix
        with self._usage_errors():
            if self._handed is not None:
                self._run_folder = RunFolder(self._folder, self._handed["run"], prefix=prefix)
                target = Target(**self._handed["target"], profile=self.profile)
                self._open(target)
                return
            if self._workers():
                # A worker that meets a mistake in the catalogue ends without a word about it.
                catalogue()
            # Before anything is sent: what cannot be written down is not asked.
            self._run_folder = RunFolder.claim(self._folder, prefix=prefix)
            if self._recording is not None:
                self._open(recorded_target(self._recording, self.profile))
                return
            if self._base_url is not None:
                target = Target.resolve(self._base_url, self.profile, os.environ)
                self._outlet.redactor = Redactor(target.secrets)
                target.check()
                self._open(target)
                return
            if self._sandbox is not None and self._workers():
                self._open(reference_target(self._sandbox, self.profile))

    def _show_progress(self) -> None:
        """Let whoever watches a terminal know how long the run will take."""
        manager = self._config.pluginmanager
        terminal = manager.get_plugin("terminalreporter")
        if self._handed is None and terminal is not None and terminal.isatty:
            manager.register(Progress(terminal, self._config.option.fuzz_examples))

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Hand the target to a worker of pytest-xdist."""
        target = self.connection.target
        node.workerinput[_HANDED_ON] = {
            "target": {
                "base_url": target.base_url,
                "token_id": target.token_id,
                "client_secret": target.client_secret,
                "words": dict(target.words),
            },
            "profile": target.profile.to_json(),
            "follow_url": self.connection.follow_url,
            "established": self.connection.triggers.established,
            "run": self._folder_of_run().run,
        }

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Hear from a worker of pytest-xdist whether it could write its journal."""
        if failure := getattr(node, "workeroutput", {}).get(_HANDED_ON):
            self._problems.append(failure)

    @pytest.hookimpl(wrapper=True)
    def pytest_collection(self) -> Generator[None, object, object]:
        """Collect the tests without a look for garbage, as all of them stay until the end.

        It takes an eighth of the time of start and collection.
        """
        if not gc.isenabled():
            return (yield)
        gc.disable()
        try:
            return (yield)
        finally:
            gc.enable()

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Check the ids that the tests name, before any selection takes tests away."""
        named: dict[str, list[str]] = defaultdict(list)
        labelled = self._config.getoption("allure_report_dir", None) is not None
        with self._usage_errors():
            known = catalogue()
            known.check_operations(set(document().operations))
            for item in items:
                for identifier in requirements_named_by(item):
                    known.require(identifier, item.nodeid)
                    named[identifier].append(item.nodeid)
                label(item, allure=labelled)
        self._named = dict(named)
        if self._terms.classes:
            self._leave_out_other_classes(items)

    @pytest.hookimpl(trylast=True, specname="pytest_collection_modifyitems")
    def pytest_take_recorded(self, items: list[pytest.Item]) -> None:
        """Take the tests that were recorded, in the order in which they ran, and no others."""
        if self._recording is None:
            return
        by_address = {address(item): item for item in items}
        recorded = [test for tests in self._recording.tests for test in tests]
        chosen = [by_address[test] for test in recorded if test in by_address]
        self._keep(chosen, items)

    @pytest.hookimpl(trylast=True, specname="pytest_collection_modifyitems")
    def pytest_take_shard(self, items: list[pytest.Item]) -> None:
        """Take the tests of the shard, of those that every other selection has left."""
        if self._shard is None:
            return
        self._of_all_shards = {item.nodeid: address(item) for item in items}
        has = self._shard.has
        self._keep([item for item in items if has(item.nodeid)], items)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Fix the plan, and connect to the reference if it was started here."""
        self._selected = [item.nodeid for item in session.items]
        if self._config.option.collectonly:
            return
        if self._sandbox is not None and not hasattr(self, "connection"):
            with self._usage_errors():
                self._open(reference_target(self._sandbox, self.profile))
        addresses = {item.nodeid: address(item) for item in session.items}
        collected: dict[str, object] = {
            "named": self._named,
            "selected": self._selected,
            "addresses": addresses,
        }
        if self._shard is not None:
            collected["of_all_shards"] = self._of_all_shards
            collected["catalogue"] = spec_digest()
        self.connection.journal.write("collected", collected)

    def _leave_out_other_classes(self, items: list[pytest.Item]) -> None:
        """Deselect the tests that name no requirement of the classes that were asked for."""
        known, wanted = catalogue(), set(self._terms.classes)
        of_class = {name for name in self._named if wanted.intersection(classes().of(known[name]))}
        self._keep([i for i in items if not of_class.isdisjoint(requirements_named_by(i))], items)

    def _keep(self, chosen: list[pytest.Item], items: list[pytest.Item]) -> None:
        """Keep the chosen ones of the collected tests, and deselect the others."""
        kept = set(chosen)
        left_out = [item for item in items if item not in kept]
        items[:] = chosen
        if left_out:
            self._config.hook.pytest_deselected(items=left_out)

    def plan(self) -> Plan:
        """Return what the collected tests are going to decide."""
        return Plan(
            catalogue(), self._named, self._selected, lambda entry: unmet(self.profile, entry)
        )

    # Tests

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(
        self, item: pytest.Item, nextitem: pytest.Item | None
    ) -> Generator[None, object, object]:
        """Record what the test decides, from its set-up to its tear-down."""
        if self._recording is not None:
            self.connection.replay(address(item))
        started, waited = time.perf_counter(), clock().waited
        with self.recording(item) as recorder:
            result = yield
            self.connection.judge_arrivals(all_of_them=nextitem is None)
        redactor = self.connection.redactor
        # A copy, as a webhook that is just being judged may add one.
        decisions = [
            # Within JSON within JSON a secret would be spelled in ways that nobody looks for. What
            # passed says nothing that the target said.
            decision.to_json()
            if decision.outcome is Outcome.PASSED
            else redactor.json(_in_remarks(decision, redactor.remark).to_json(), members=False)
            for decision in list(recorder.decisions.values())
        ]
        journal = self.connection.journal
        times = {
            "seconds": round(time.perf_counter() - started, 6),
            "waiting": round(clock().waited - waited, 6),
        }
        journal.write("decisions", {"test": item.nodeid, "decisions": decisions, **times})
        if journal.failure is not None:
            item.session.shouldstop = f"the journal cannot be written: {journal.failure}"
        return result

    @contextlib.contextmanager
    def recording(self, item: pytest.Item) -> Iterator[Recorder]:
        """Give the test a recorder, and let it hear of everything until the block ends."""
        item.stash[RECORDER] = recorder = Recorder(item.nodeid, tuple(requirements_named_by(item)))
        with self.connection.recording(recorder):
            yield recorder

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Skip a test none of whose requirements this target can decide."""
        recorder = item.stash[RECORDER]
        known = catalogue()
        reasons = {name: unmet(self.profile, known[name]) for name in recorder.named}
        for name, reason in reasons.items():
            if reason is not None:
                recorder.decide(name, Outcome.NOT_EXERCISED, reason[1], reason[0])
        missing = [reason for reason in reasons.values() if reason is not None]
        if missing and len(missing) == len(reasons):
            shown = sorted({f"{reason.value}: {detail}" for reason, detail in missing})
            pytest.skip("; ".join(shown))
        self.connection.triggers.turn.begin()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, object, object]:
        """Conclude on what the test decided, and fail it if any check in it failed."""
        __tracebackhide__ = True
        recorder = item.stash[RECORDER]
        try:
            result = yield
        except BaseException as error:
            self.connection.judge_arrivals()
            recorder.conclude(error)
            raise
        self.connection.judge_arrivals()
        if recorder.exercised() and not recorder.answers:
            unanswered = HarnessError("the test ended without any answer of the target")
            recorder.abort(unanswered)
            raise unanswered
        left = recorder.undecided() if len(recorder.named) > 1 else ()
        recorder.conclude(None)
        if failures := self._to_tell(recorder):
            raise ChecksFailed(failures)
        if left:
            raise HarnessError(f"nothing in the test decided {', '.join(left)}")
        return result

    def _only_warns(self, item: pytest.Item) -> bool:
        """Return whether a test failed for nothing but recommendations."""
        failures = item.stash[RECORDER].failures()
        known = catalogue()
        return bool(failures) and all(
            failure.requirement in known and known[failure.requirement].level is not Level.MUST
            for failure in failures
        )

    def _to_tell(self, recorder: Recorder) -> list[Decision]:
        """Return the failures that a test has to fail for.

        What it does not name itself it fails for only where no test did before: one wrong member
        shows in nearly every test, and would hide what else is wrong. All count in the report.
        """
        failures = [
            failure
            for failure in recorder.failures()
            if failure.requirement in recorder.named or failure.requirement not in self._told
        ]
        self._told.update(failure.requirement for failure in failures)
        return failures

    def audit(self, item: pytest.Item, audit: Callable[[], list[str] | None]) -> None:
        """Decide by the problems that ``audit`` finds whether money was made or lost.

        Where no money was moved, nothing is decided.
        """
        __tracebackhide__ = True
        recorder = item.stash[RECORDER]
        try:
            found = audit()
        except (Unmet, *UNREADABLE) as error:
            recorder.decide_by(error, AUDIT)
            return
        if found is None:
            return
        outcome = Outcome.FAILED if found else Outcome.PASSED
        recorder.decide(AUDIT, outcome, "\n".join(found))
        assert not found, f"{AUDIT}: money was made or lost\n" + "\n".join(found)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Show what an undecided test lacks, and the transcript of a failed one."""
        # Others, such as Allure, read the message of the exception and not the report.
        self._outlet.clean_error(call)
        error = call.excinfo.value if call.excinfo else None
        if call.excinfo and isinstance(error, (Unmet, *UNREADABLE)):
            # Its message is shown alone; to lay out all that led to it takes pytest 0.1 s.
            call.excinfo.traceback = call.excinfo.traceback[-1:]
        report = yield
        # The call has been concluded on, and an audit has decided what it is for.
        audited = call.when == "teardown" and isinstance(error, AssertionError)
        if error is not None and report.failed and call.when != "call" and not audited:
            item.stash[RECORDER].abort(error)
        if isinstance(error, (Unmet, *UNREADABLE)):
            outcome, reason, detail = item.stash[RECORDER].meaning(error)
            shown = f"{reason.value}: {detail}" if reason else detail
            if outcome is Outcome.NOT_EXERCISED:
                report.outcome = "skipped"
                report.longrepr = (str(item.path), item.location[1] or 0, f"Skipped: {shown}")
            else:
                # pytest sends attributes of reports from its workers to the controller.
                report.__dict__["unmet"] = True
                report.longrepr = f"inconclusive, {shown}"
        if report.failed and isinstance(error, AssertionError) and self._only_warns(item):
            report.outcome = "passed"
            report.__dict__["warned"] = True
        if report.failed and (exchanges := self.connection.recent()):
            base_url, names = self.connection.target.base_url, self.profile.credentials
            script = curl_chain(exchanges, base_url, (names.token_id, names.client_secret))
            if len(script) > _MAX_SCRIPT_CHARS:
                script = _TOO_LONG.format(len(script))
            told = transcript(exchanges[-_SHOWN_EXCHANGES:]), script
            report.sections.extend(zip(_TOLD_OF_FAILURES, told, strict=True))
        self._outlet.clean_report(report)
        if self._config.getoption("allure_report_dir", None) is not None:
            _attach_to_allure(report)
        return report

    def pytest_report_teststatus(
        self, report: pytest.TestReport
    ) -> tuple[str, str, tuple[str, dict[str, bool]]] | None:
        """Show an inconclusive test as what it is."""
        if getattr(report, "unmet", False):
            return "inconclusive", "I", ("INCONCLUSIVE", {"yellow": True})
        if getattr(report, "warned", False):
            return "warned", "W", ("WARNED", {"yellow": True})
        return None

    # End

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """Remember why the run ended early."""
        self._interrupted = str(excinfo.value) or excinfo.typename

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write the report and set the exit status.

        Whatever goes wrong here is a mistake of the suite or of the machine that it runs on: it
        is told, and it never reads as a verdict on the target.
        """
        if "hypothesis" not in sys.modules:
            # No test has used it, and its summary would take a quarter of a second to say nothing.
            manager = self._config.pluginmanager
            if (plugin := manager.get_plugin("hypothesispytest")) is not None:
                manager.unregister(plugin)
        if not hasattr(self, "connection"):
            return
        try:
            self._finish(session)
        except Exception as error:  # noqa: BLE001 - pytest would end with 1, "not conformant"
            self._problems.append(f"the report cannot be made: {type(error).__name__}: {error}")
        if self._problems:
            session.exitstatus = pytest.ExitCode.INTERNAL_ERROR

    def pytest_unconfigure(self) -> None:
        """Stop what was started, also where the session came to no proper end."""
        if self._sandbox is not None:
            self._sandbox.stop()
        if self._run_folder is not None:
            self._run_folder.release()
        self._outlet.uninstall()
        self._termination.release()
        if self._hypothesis_home is not None:
            del os.environ[_HYPOTHESIS_HOME]
            self._hypothesis_home.cleanup()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_terminal_summary(
        self, terminalreporter: pytest.TerminalReporter
    ) -> Generator[None, None, None]:
        """Print the verdict and what a person has to know first, below what others print."""
        yield
        if self.report is not None:
            from conformance.reporting.job_summary import append_to_job  # noqa: PLC0415 - as below
            from conformance.reporting.terminal import summary  # noqa: PLC0415 - workers write no report

            summary(self.report, terminalreporter, None if self._problems else self._folder)
            try:
                append_to_job(self.report, os.environ)
            except OSError as error:
                told = f"The summary of the job cannot be written: {error}"
                terminalreporter.write_line(self._outlet.text(told), yellow=True)
        for warning in self._warnings:
            terminalreporter.write_line(f"Left behind: {self._outlet.text(warning)}", yellow=True)
        for problem in self._problems:
            told = f"No report: {self._outlet.text(problem)}"
            terminalreporter.write_line(told, red=True, bold=True)

    def _finish(self, session: pytest.Session) -> None:
        journal = self.connection.journal
        if self._handed is None and self._recording is None:
            self._warnings += self.connection.tear_down()
        journal.write("observations", {"observations": dict(self.connection.observations)})
        if self._handed is None:
            journal.write(
                "finished",
                {"ended": datetime.now(UTC).isoformat(), "interrupted": self._interrupted},
            )
        self.connection.close()
        if self._sandbox is not None:
            # It ends while the report is made.
            self._sandbox.dismiss()
        if self._handed is not None:
            self._config.workeroutput[_HANDED_ON] = journal.failure  # type: ignore[attr-defined]
            return
        if not self.reports:
            return
        if journal.failure is not None:
            self._problems.append(journal.failure)
        # What is missing in the journal may be the one failure of the run.
        if not self._problems:
            self._publish(session)

    def _publish(self, session: pytest.Session) -> None:
        """Write the report, and set the exit status by it."""
        from conformance.reporting.assemble import (  # noqa: PLC0415 - workers write no report
            NoRun,
            assemble,
            publish,
        )

        decided = session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)
        try:
            self.report = assemble(self._folder)
        except NoRun:
            if decided:
                raise
            # pytest has said why nothing was collected.
            return
        with writing_to(self._folder):
            publish(self.report, self._folder)
        if decided:
            session.exitstatus = EXIT_STATUS[self.report.gate.result]

    def _open(self, target: Target) -> None:
        handed = self._handed or {}
        folder = self._folder_of_run()
        if self._recording is not None:
            self.connection = Connection.replaying(
                self._recording, target, seed=self._seed, folder=folder
            )
        else:
            self.connection = Connection.open(
                target,
                seed=self._seed,
                folder=folder,
                **({"worker": os.environ["PYTEST_XDIST_WORKER"]} if handed else {}),
                follow_url=handed.get("follow_url"),
                established=handed.get("established"),
            )
        self._outlet.redactor = self.connection.redactor
        if self._handed is None:
            self.connection.journal.write(
                "started",
                {
                    "started": self._started.isoformat(),
                    "base_url": target.base_url,
                    "profile": self.profile.to_json(),
                    "seed": self._seed,
                    "command": shlex.join([_program(), *sys.argv[1:]]),
                    "options": self._options(),
                    "terms": asdict(self._terms),
                    "established": self.connection.triggers.established,
                    "workers": self._workers() or 1,
                    "suite_version": metadata.version("payments-conformance"),
                    "python": platform.python_version(),
                    "platform": f"{platform.system()} {platform.machine()}",
                    "replayed": self._recording.run if self._recording else None,
                    "shard": None if self._shard is None else str(self._shard),
                },
            )

    def _workers(self) -> int:
        """Return how many workers of pytest-xdist run the tests; 0 where this process does."""
        if self._config.getoption("dist", "no") == "no":
            return 0
        # With -n, pytest-xdist has put its workers there; each may stand for several, as 2*popen.
        counts = (one.partition("*") for one in self._config.getoption("tx"))
        return sum(int(count) if rest and count.isdigit() else 1 for count, _, rest in counts)

    def _options(self) -> dict[str, str]:
        names = ("base_url", "profile", "run_seed", "fuzz_examples", "replay")
        given = {name: self._config.getoption(name, None) for name in names}
        # It may stand in the environment, where whoever runs a test again may have another one.
        given["base_url"] = self._base_url
        return {
            f"--{name.replace('_', '-')}": str(value)
            for name, value in given.items()
            if value is not None
        }

    def _folder_of_run(self) -> RunFolder:
        if self._run_folder is None:
            raise HarnessError("the session has not started")
        return self._run_folder

    def _recorded(self) -> Recording:
        """Return the recording to judge again.

        Raises:
            pytest.UsageError: what goes with a target, or with several processes, is given too.
            NoRecording: there is none.
        """
        place: Path = self._config.invocation_params.dir / self._config.getoption("replay")
        for option, value in (
            ("--base-url", self._base_url),
            ("--profile", self._config.getoption("profile")),
            ("--shard", self._config.getoption("shard")),
            ("-n", self._config.getoption("numprocesses", None)),
            ("--tx", self._config.getoption("tx", None) or None),
        ):
            if value is not None:
                raise pytest.UsageError(f"--replay goes by what was recorded; leave out {option}")
        recording = Recording.read(place)
        if recording.folder.resolve() == self._folder.resolve():
            raise pytest.UsageError(
                f"the report would take the place of the recording in {recording.folder}; give it "
                "a folder of its own: --report-dir=DIR"
            )
        return recording

    def _read_terms(self) -> Terms:
        """Return what the command line asks of the target.

        Raises:
            BaselineError: the baseline cannot be read.
            ClassError: it names a class that there is not.
            pytest.UsageError: it names one that the profile does not claim, or no percentage.
        """
        names = tuple(dict.fromkeys(self._config.getoption("classes")))
        for one in map(classes().require, names):
            if not one.is_claimed(self.profile.features.declares):
                raise pytest.UsageError(
                    f"--class={one.name}: the profile does not claim this class, as it declares "
                    f"none of its features ({', '.join(one.features)})"
                )
        percent: int = self._config.getoption("require_exercised")
        if not 0 <= percent <= _WHOLE_PERCENT:
            raise pytest.UsageError(f"--require-exercised={percent}: expected 0 to 100 percent")
        file: Path | None = self._config.getoption("baseline")
        baseline = None
        if file is not None:
            read = read_baseline(self._config.invocation_params.dir / file)
            baseline = replace(read, file=str(file))
        return Terms(names, percent, baseline)

    def _load_profile(self) -> Profile:
        if self._recording is not None:
            return Profile.model_validate(self._recording.started["profile"])
        if self._handed is not None:
            return Profile.model_validate(self._handed["profile"])
        name = self._config.getoption("profile")
        if name is None and self._base_url is None:
            name = "reference"
        profile = load_profile(name)
        planned = self._config.option.collectonly
        if self._base_url is None and name is not None and not (planned or is_reference(name)):
            raise pytest.UsageError(
                f"the profile {name} is not that of the reference implementation, and nothing says "
                "where its target is: give --base-url=URL, or set BASE_URL"
            )
        return profile

    @contextlib.contextmanager
    def _usage_errors(self) -> Iterator[None]:
        """Turn a wrong configuration into pytest's usage error: one message, exit status 4."""
        try:
            yield
        except (*_CONFIGURATION_ERRORS, pytest.UsageError) as error:
            self._leave_no_report()
            raise pytest.UsageError(self._outlet.text(str(error))) from error

    def _leave_no_report(self) -> None:
        """Set the report of an earlier run aside, so that nobody takes it for this run's."""
        if self._run_folder is None and not (self._handed or self._config.option.collectonly):
            # Where another run has the folder, the report is that one's.
            with contextlib.suppress(FolderError):
                RunFolder.claim(self._folder).release()


def _program() -> str:
    """Return what a person would call the program of this process."""
    name = Path(sys.argv[0]).name
    # Started by -m, as `payments-conformance run` does it.
    return "pytest" if name == "__main__.py" else name


def _in_remarks(decision: Decision, clean: Callable[[str], str]) -> Decision:
    """Return a decision with what it says in words cleaned."""
    told = decision.facts
    facts = replace(told, expected=clean(told.expected), got=clean(told.got), also=clean(told.also))
    return replace(decision, detail=clean(decision.detail), facts=facts)


def _attach_to_allure(report: pytest.TestReport) -> None:
    """Give Allure what else is told of a failed test."""
    import allure  # noqa: PLC0415 - most runs need none

    for name, content in report.sections:
        if name in _TOLD_OF_FAILURES:
            allure.attach(content, name=name, attachment_type=allure.attachment_type.TEXT)


def _base_url(given: tuple[str, str] | None) -> str | None:
    """Return the base URL that was given; ``None`` where the reference is to be judged.

    Raises:
        pytest.UsageError: it is empty, as that of a variable of CI that was not set.
    """
    if given is None:
        return None
    url, place = given
    if not url.strip():
        raise pytest.UsageError(
            f"{place} is empty, so that there is no base URL and no target; give the URL of one, "
            f"or leave {place} out to judge the reference implementation"
        )
    return url


def _shard(text: str | None) -> Shard | None:
    """Return the shard to run; ``None`` for the whole.

    Raises:
        pytest.UsageError: it is none.
    """
    try:
        return None if text is None else Shard.parse(text)
    except ValueError as error:
        raise pytest.UsageError(f"--shard: {error}") from error


def _demand_assertions() -> None:
    """Refuse to run where Python leaves assertions out, as nothing would ever fail.

    Raises:
        pytest.UsageError: it does.
    """
    if not __debug__:
        raise pytest.UsageError(
            "Python leaves assertions out (python -O or PYTHONOPTIMIZE), so that no check could "
            "fail; run without it"
        )
