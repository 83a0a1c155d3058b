"""Targets that Hypothesis makes up: the reference behind a front that mangles what it sends."""

from __future__ import annotations

import http.client
import json
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st

from conformance.reference.server import BackgroundServer
from conformance.selftest.hostile import runs
from conformance.selftest.hostile.front import Front, Reply, Turn
from conformance.verdict.decisions import Reason
from conformance.verdict.plan import TargetVerdict

MAX_SECONDS = 90.0
MAX_MEBIBYTES = 400
ENDED = (0, 1, 4, 6)
"""The exit statuses of runs that were not interrupted and not broken by a mistake of ours."""

MODELS = ("fuzz/test_model.py", "fuzz/test_clients.py", "scenarios/quotes/test_lost_answers.py")
BOUNDS = {"request": 2.0, "event": 0.3, "state": 0.3, "quiet": 0.05, "outage": 1.0, "poll": 0.02}

FEW = settings(
    max_examples=6,
    # Each example is a whole run: to shorten one takes longer than to read it.
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=list(HealthCheck),
    print_blob=False,
)
Mangle = Callable[[Reply], Reply]
Path_ = tuple[Any, ...]


class Mangled:
    """Passes everything on, and mangles each answer whose number fits one of the rules.

    A rule is a number of the first answer, a distance to the next, and what is done to them.
    """

    def __init__(self, rules: Sequence[tuple[int, int, Mangle]]) -> None:
        self._rules = rules

    def __call__(self, turn: Turn) -> None:
        """Answer one request."""
        turn.send(self.of(turn.answer(), turn.number))

    def of(self, reply: Reply, number: int) -> Reply:
        """Return an answer as its number has it."""
        for first, distance, mangle in self._rules:
            if number >= first and (number - first) % distance == 0:
                reply = mangle(reply)
        return reply

    def deliver(self, turn: Turn) -> None:
        """Deliver a webhook whose body is mangled as an answer's is."""
        received = turn.received
        body = self.of(Reply(200, {}, received.body), turn.number).body
        with suppress(http.client.HTTPException, OSError):
            turn.ask(replace(received, body=body))
        turn.send(Reply(200, {}, b""))


def paths(value: Any, at: Path_ = ()) -> Iterator[Path_]:
    """Yield the places of all members of a JSON value."""
    members: Iterable[tuple[Any, Any]] = ()
    if isinstance(value, dict | list):
        members = value.items() if isinstance(value, dict) else enumerate(value)
    for name, member in members:
        yield (*at, name)
        yield from paths(member, (*at, name))


def placed(value: Any, path: Path_, new: Any) -> Any:
    """Return a JSON value with another one at a place; without that place for Ellipsis."""
    if not path:
        return new
    name, *rest = path
    copy = dict(value) if isinstance(value, dict) else dict(enumerate(value))
    copy[name] = placed(copy[name], tuple(rest), new)
    if copy[name] is ...:
        del copy[name]
    return copy if isinstance(value, dict) else list(copy.values())


def member(choice: int, new: Any) -> Mangle:
    """Return what puts another value in the place of one member, or takes the member away."""

    def mangle(reply: Reply) -> Reply:
        try:
            value = reply.json()
        except (ValueError, RecursionError):
            return reply
        places = list(paths(value))
        if not places:
            return reply
        return reply.with_json(placed(value, places[choice % len(places)], new))

    return mangle


def scalars() -> st.SearchStrategy[Any]:
    """Return a strategy for values that an answer should not have where it has them."""
    words = st.sampled_from(
        ["", "PENDING", "COMPLETED", "FAILED", "Quote:1", "Customer:../..", "2999-01-01", "\u202e"]
    )
    numbers = st.sampled_from([0, -1, 1, 2**63, 10**400, -0.5, 1e308])
    return st.none() | st.booleans() | words | numbers | st.text(max_size=8)


def values() -> st.SearchStrategy[Any]:
    """Return a strategy for JSON values of every kind, and for Ellipsis: nothing."""
    names = st.sampled_from(["id", "status", "data", "amount", "balance", "source", "code"])
    return st.just(...) | st.recursive(
        scalars(), lambda inner: st.lists(inner) | st.dictionaries(names, inner), max_leaves=5
    )


def mangles() -> st.SearchStrategy[Mangle]:
    """Return a strategy for what is done to an answer."""
    statuses = st.sampled_from([100, 199, 204, 302, 401, 404, 409, 418, 429, 500, 503, 599])
    bodies = st.binary(max_size=40) | values().filter(lambda value: value is not ...).map(
        lambda value: json.dumps(value).encode()
    )
    deep = st.sampled_from([b"[" * 100_000, b'{"a":' * 5_000 + b"1" + b"}" * 5_000])
    headers = st.sampled_from(
        [
            ("content-type", "text/html"),
            ("content-encoding", "gzip"),
            ("retry-after", "0"),
            ("retry-after", "-1e9"),
            ("location", "http://127.0.0.1:1/"),
            ("set-cookie", "a=b"),
            ("content-type", "application/json; charset=utf-16"),
        ]
    )
    return st.one_of(
        st.builds(member, st.integers(0, 40), values()),
        st.builds(member, st.integers(0, 40), values()),
        statuses.map(lambda status: lambda reply: replace(reply, status=status)),
        (bodies | deep).map(lambda body: lambda reply: replace(reply, body=body)),
        headers.map(lambda h: lambda reply: replace(reply, headers={**reply.headers, h[0]: h[1]})),
        st.integers(0, 60).map(lambda size: lambda reply: replace(reply, body=reply.body[:size])),
    )


def targets() -> st.SearchStrategy[Mangled]:
    """Return a strategy for targets that mangle some of their answers; the first ones are right."""
    rule = st.tuples(st.integers(2, 30), st.integers(1, 12), mangles())
    return st.lists(rule, min_size=1, max_size=3).map(Mangled)


def wrong(mangled: Mangled, upstream: BackgroundServer, folder: Path, *arguments: str) -> list[str]:
    """Return what is wrong with a run against a target, whatever the target does."""
    for left in folder.iterdir():
        shutil.rmtree(left) if left.is_dir() else left.unlink()
    parts = {"timing": BOUNDS, "triggers": runs.whole_profile()["triggers"]}
    profile = runs.write_profile(folder.parent / "profile.yaml", parts)
    with Front(mangled, upstream.origin, delivers=mangled.deliver) as front:
        outcome = runs.judge(
            folder, f"--base-url={front.base_url}", f"--profile={profile}", *arguments
        )
    # What cannot be read may be told in Python's words: it was made up, and nobody sends it.
    problems = [each for each in runs.problems(outcome) if Reason.UNREADABLE not in each]
    if outcome.status not in ENDED:
        problems.append(f"exit status {outcome.status}")
    report = outcome.report()
    if outcome.status == 0 and (report is None or report.verdict is not TargetVerdict.CONFORMANT):
        problems.append("the run ended green without a verdict")
    if outcome.seconds > MAX_SECONDS:
        problems.append(f"it took {outcome.seconds:.0f} s")
    if outcome.mebibytes > MAX_MEBIBYTES:
        problems.append(f"it took {outcome.mebibytes} MiB")
    return [*problems, outcome.output[-3_000:]] if problems else []
