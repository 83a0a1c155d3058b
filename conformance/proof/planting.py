"""Plants the bugs of the second implementation, one after the other: does the suite find each?

The second implementation runs in a thread of this process, and the suite is collected once. A
survey runs every test without a bug, and notes which bugs the implementation was asked for
meanwhile. A bug is then tried with those tests alone, until one fails a requirement: planting it
changes nothing in any other test. Those that speak of it are first, and where there are many the
others are left out, as they merely pass by. It is found where the same test passes without it.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import secrets
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

import pytest
import typer
import yaml

from conformance.contract.catalogue import Level, catalogue
from conformance.contract.data import FIXTURES
from conformance.platform.resource import merged
from conformance.plugin import SESSION
from conformance.proof.finds import FAILED, WARNED, Find
from conformance.proof.host import EMBEDDED, SUITE, outcomes_of, turns
from conformance.proof.nearness import distances, words_of, words_of_test
from conformance.proof.second.bugs import BUGS
from conformance.proof.second.persona import STRICT
from conformance.proof.second.service import Secrets, base_url, begin, listening
from conformance.proof.second.wire import Server
from conformance.session import Session
from conformance.verdict.decisions import Outcome

PROFILE = FIXTURES / "profiles" / "second.yaml"
TOKEN_ID = "PAYMENTS_API_TOKEN_ID"  # noqa: S105 - the name of a variable
CLIENT_SECRET = "PAYMENTS_API_CLIENT_SECRET"  # noqa: S105 - the name of a variable
WEBHOOK_SECRET = "PAYMENTS_WEBHOOK_SECRET"  # noqa: S105 - the name of a variable

_PATIENCE = {"event": 5.0, "state": 5.0, "outage": 1e9}
"""A target that was given up under one bug would be given up under all that follow."""


_MOST_TESTS = 150
"""How many tests a bug is tried with at most: one that is only warned of would run through all."""


class NotJudged(Exception):
    """The suite or the second implementation did not run."""


@dataclass(frozen=True, slots=True)
class Planted:
    """A planted bug, the requirements that failed for it, and how many tests can meet it.

    Where none failed, ``warned`` are the recommended ones that are not followed any more, and
    ``undecided`` those that the bug left inconclusive: a run is not green for these, but does not
    say that the target breaks something either. ``test`` is the one that failed, or that warned
    first; it is empty where there is none.
    """

    bug: str
    failed: tuple[str, ...]
    warned: tuple[str, ...]
    undecided: tuple[str, ...]
    met: int
    test: str = ""

    @property
    def find(self) -> Find | None:
        """The find that is kept, where there is one."""
        if not self.test:
            return None
        return Find(self.bug, FAILED if self.failed else WARNED, self.test)

    @property
    def outcome(self) -> str:
        """What became of the bug, in words."""
        if self.failed:
            return f"found by {', '.join(self.failed[:3])}"
        if self.warned:
            return f"missed, but warned of by {', '.join(self.warned[:3])}"
        if self.undecided:
            return f"missed, but left undecided {', '.join(self.undecided[:3])}"
        return "missed"


class _Guest:
    """Takes the place of pytest's own loop over the tests."""

    def __init__(self, server: Server, names: Iterator[str], out: TextIO) -> None:
        self._world = server.world
        self._names = names
        self._out = out
        self._before: dict[str, Mapping[str, Outcome]] = {}
        self.results: list[Planted] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Survey the tests, and plant one bug after the other."""
        suite = session.config.stash[SESSION]
        suite.reports = False
        met = self._survey(session.items, suite)
        for name in self._names:
            # What earlier tests have left behind makes every list longer.
            begin(self._world)
            result = self._planted(name, met[name], suite)
            self.results.append(result)
            line = f"{name} (line {BUGS[name].line}): {result.outcome}"
            typer.echo(f"{line}; {result.met} tests can meet it", file=self._out)
        return True

    def _survey(
        self, tests: Sequence[pytest.Item], suite: Session
    ) -> Mapping[str, list[pytest.Item]]:
        """Run every test without a bug; return by bug the tests that it can matter to."""
        found: dict[str, list[tuple[float, int]]] = defaultdict(list)
        for place, test in enumerate(tests):
            self._world.asked.clear()
            suite.connection.forget()
            since = time.monotonic()
            self._before[test.nodeid] = outcomes_of(test, suite)
            for bug in self._world.asked.copy():
                found[bug].append((time.monotonic() - since, place))
        words = {test.nodeid: words_of_test(test) for test in tests}
        return defaultdict(
            list,
            {
                bug: self._nearest(bug, [tests[place] for _, place in sorted(met)], words)
                for bug, met in found.items()
            },
        )

    @staticmethod
    def _nearest(
        bug: str, tests: Sequence[pytest.Item], words: Mapping[str, frozenset[str]]
    ) -> list[pytest.Item]:
        own = words_of(f"{bug} {BUGS[bug].statement}")
        distance = distances({test.nodeid: words[test.nodeid] for test in tests}, own)
        return sorted(tests, key=lambda test: distance[test.nodeid])

    def _planted(self, bug: str, tests: Sequence[pytest.Item], suite: Session) -> Planted:
        """Run tests with a bug, until one fails a requirement that it does not fail without it."""
        warned: set[str] = set()
        warning = ""
        undecided: set[str] = set()
        for test in tests[:_MOST_TESTS]:
            before = self._before[test.nodeid]
            # What was learned of the implementation is of the one without the bug.
            suite.connection.forget()
            self._world.bug = bug
            outcomes = outcomes_of(test, suite)
            self._world.bug = ""
            failed = _with(outcomes, Outcome.FAILED) - _with(before, Outcome.FAILED)
            suite.connection.forget()
            if failed:
                failed -= _with(outcomes_of(test, suite), Outcome.FAILED)
            recommended = {name for name in failed if catalogue()[name].level is Level.SHOULD}
            if broken := tuple(sorted(failed - recommended)):
                return Planted(bug, broken, (), (), len(tests), test.nodeid)
            if recommended and not warned:
                warning = test.nodeid
            warned |= recommended
            undecided |= _with(outcomes, Outcome.INCONCLUSIVE) - _with(before, Outcome.INCONCLUSIVE)
        return Planted(
            bug, (), tuple(sorted(warned)), tuple(sorted(undecided)), len(tests), warning
        )


def _with(outcomes: Mapping[str, Outcome], wanted: Outcome) -> set[str]:
    return {name for name, outcome in outcomes.items() if outcome is wanted}


@contextlib.contextmanager
def _server() -> Iterator[Server]:
    keys = Secrets(*(f"second-{secrets.token_urlsafe(24)}" for _ in range(3)))
    values = {
        TOKEN_ID: keys.token_id,
        CLIENT_SECRET: keys.client_secret,
        WEBHOOK_SECRET: keys.webhook_secret,
    }
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    server = listening(0, keys, STRICT)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def planted(names: Sequence[str], tests: Sequence[str], folder: Path) -> list[Planted]:
    """Plant those bugs that no other process has taken in a folder.

    Args:
        names: the bugs.
        tests: the files or node ids that are collected; all tests of the suite without any.
        folder: where the processes that share the work say what they have taken.

    Raises:
        NotJudged: the suite could not be run.
    """
    chosen = tests or [str(SUITE / room) for room in ("scenarios", "fuzz")]
    out, output = sys.stdout, io.StringIO()
    with contextlib.ExitStack() as stack:
        place = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        server = stack.enter_context(_server())
        limits = {"timing": _PATIENCE, "budget": {"requests": 10**9, "created": 10**9}}
        profile = place / "profile.yaml"
        profile.write_text(json.dumps(merged(yaml.safe_load(PROFILE.read_text()), limits)))
        guest = _Guest(server, turns(names, folder), out)
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            status = pytest.main(
                [
                    *chosen,
                    f"--rootdir={SUITE.parent}",
                    f"--base-url={base_url(server)}",
                    f"--profile={profile}",
                    f"--report-dir={place}",
                    *EMBEDDED,
                ],
                plugins=[guest],
            )
    if status not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        raise NotJudged(f"the suite could not be run (pytest ended with {status}):\n"
                        f"{output.getvalue()[-2000:]}")  # fmt: skip
    return guest.results
