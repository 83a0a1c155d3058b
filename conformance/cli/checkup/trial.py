"""A trial: one test for each feature and trigger, and what its journal tells."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import signal
import statistics
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from conformance.cli.checkup.findings import Finding, fine, note, problem
from conformance.contract.catalogue import Requirement
from conformance.contract.vocabulary import triggers
from conformance.effort import expected_requests, minutes
from conformance.exchange.response import MAX_PACE_SECONDS
from conformance.items import address
from conformance.plugin import SESSION
from conformance.profile.model import Profile
from conformance.reporting.assemble import NoRun, assemble
from conformance.reporting.report import Entry
from conformance.sut.reading import retry_after
from conformance.verdict.decisions import Reason
from conformance.verdict.plan import Plan, Planned, RequirementVerdict

PACKAGE = Path(__file__).parents[2]
_TOO_MANY = 429
_LEAVE_SECONDS = 10.0
_STEP = re.compile(r"\b([a-z]\w+) → [45]\d\d")

_TRIGGER = re.compile(r"\b[a-z_]+\.[a-z_]+\b")

SHAPED_BY: Mapping[str, tuple[str, ...]] = {
    "approveTransaction": ("bindings.agent_headers",),
    "authorizeQuote": ("bindings.sca_code", "bindings.sca_proofs", "triggers.sca.code"),
    "challengeOwnership": ("bindings.ownership_challenges",),
    "completeFactorReset": ("bindings.reset_mobile",),
    "completeScaLogin": ("bindings.sca_login",),
    "confirmEmail": ("bindings.contact_code", "triggers.contact.code"),
    "confirmPhone": ("bindings.contact_code", "triggers.contact.code"),
    "confirmUntrust": ("bindings.untrust_confirmation",),
    "createBeneficialOwner": ("bindings.owner",),
    "createCustomer": ("bindings.terms_consent", "bindings.customer", "bindings.business"),
    "createExternalAccount": ("bindings.accounts", "bindings.providers", "resources.account_types"),
    "createInternalAccount": ("bindings.rule_based_account",),
    "createQuote": (
        "resources.corridors",
        "bindings.purpose_currencies",
        "bindings.uma_destination",
    ),
    "createStablecoin": ("bindings.stablecoin",),
    "burnStablecoin": ("bindings.stablecoin_burn",),
    "mintStablecoin": ("bindings.stablecoin_mint",),
    "fundInternalAccount": ("triggers.deposit.arrive", "bindings.fund"),
    "getEndUserTerms": ("bindings.terms_version",),
    "simulateReturnReversal": ("bindings.return_reversal", "bindings.return_reversal_id"),
    "transferIn": ("bindings.transfer_in",),
    "transferOut": ("bindings.transfer_out",),
    "untrustBeneficiary": ("bindings.untrust",),
    "updateConfig": ("bindings.fee_configs", "bindings.card_tokenization_2fa_config"),
    "verifyOwnership": ("bindings.ownership_proof", "triggers.ownership.sign"),
}
"""The keys of a profile that shape the request of an operation, by the operation."""

_NO_SESSION = "SCA_SESSION_REQUIRED"
_LOGIN = ("bindings.sca_login", "triggers.sca.login")
_FIRST_LOGIN = "; a customer without a session is logged in once, and that did not help"

_OF_ANY_OPERATION = frozenset({"protocol"})
"""Areas whose requirements hold of refusals too, and show no feature at work."""


class NoPlan(Exception):
    """The suite cannot be collected; the message says why."""


@dataclass(frozen=True, slots=True)
class Collected:
    """What a run would do: its plan, and the address of each test."""

    plan: Plan
    addresses: Mapping[str, str]


class _Planner:
    """The pytest plugin that keeps the plan of a collection."""

    collected: Collected | None = None

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.collected = Collected(
            session.config.stash[SESSION].plan(),
            {item.nodeid: address(item) for item in session.items},
        )


def collect(profile: str) -> Collected:
    """Return what a run with a profile would do; nothing is sent.

    Raises:
        NoPlan: the suite cannot be collected.
    """
    planner = _Planner()
    silent = ("-pno:threadexception", "-pno:unraisableexception", "-pno:randomly")
    rooms = (str(PACKAGE / "scenarios"), str(PACKAGE / "fuzz"))
    with contextlib.redirect_stdout(io.StringIO()) as output:
        pytest.main(
            [*rooms, "--collect-only", "-Wignore", *silent, f"--profile={profile}"],
            plugins=[planner],
        )
    if planner.collected is None:
        raise NoPlan(output.getvalue())
    return planner.collected


@dataclass(frozen=True, slots=True)
class Subject:
    """A feature or a trigger of the profile, with the requirement and test that try it.

    ``requirement`` and ``test`` are None where none does.
    """

    name: str
    key: str
    requirement: Requirement | None = None
    test: str | None = None


def subjects(collected: Collected, profile: Profile) -> Iterator[Subject]:
    """Yield the declared features and the mapped triggers, each with a test that tries it."""
    open_ones = [
        entry
        for entry in collected.plan.entries.values()
        if entry.reason is None and entry.tests and entry.requirement.untestable is None
    ]
    # The fewer things a requirement needs, the more its test says about each of them.
    open_ones.sort(
        key=lambda one: (
            one.requirement.area in _OF_ANY_OPERATION,
            len(one.requirement.needs.triggers) + len(one.requirement.needs.features),
        )
    )
    features = [
        name
        for name in type(profile.features).model_fields
        # Whether webhooks come is seen by the deliveries.
        if name not in ("platform", "webhooks") and profile.features.declares(name)
    ]
    wanted = {
        **{
            f"features.{name}": [one for one in open_ones if name in one.requirement.needs.features]
            for name in features
        },
        **{
            f"triggers.{name}": [
                # Elsewhere it is a step on the way to something else.
                *(one for one in open_ones if _tries(one, name) and one.requirement.area == area),
                *(one for one in open_ones if _tries(one, name) and one.requirement.area != area),
            ]
            for name, area in ((name, triggers()[name].area) for name in profile.triggers)
        },
    }
    for key, entries in wanted.items():
        name = key.partition(".")[2]
        if entries:
            first = entries[0]
            # A test that tries more of it depends on less beside it.
            tries = Counter(test for entry in entries for test in entry.tests)
            test = max(first.tests, key=lambda one: tries[one])
            yield Subject(name, key, first.requirement, collected.addresses[test])
        else:
            yield Subject(name, key)


def untold_results(profile: Profile) -> Iterator[Finding]:
    """Yield the triggers whose requests return less than tests can use of them."""
    for name, trigger in profile.triggers.items():
        if trigger.http is None:
            continue
        returned = {result for call in trigger.http for result in call.returns}
        if missing := [one for one in triggers()[name].results if one not in returned]:
            text = f"it can tell {', '.join(missing)}, and nothing returns that"
            yield problem(name, text, f"triggers.{name}.http.returns")


def _tries(entry: Planned, trigger: str) -> bool:
    return trigger in entry.requirement.needs.triggers


@dataclass
class Trace:
    """What a journal says of the requests of a trial."""

    requests: int = 0
    created: int = 0
    limited: int = 0
    deliveries: int = 0
    tests: set[str] = field(default_factory=set)
    seconds: list[float] = field(default_factory=list)
    moments: list[float] = field(default_factory=list)

    @property
    def pace(self) -> float:
        """Return the seconds from one request to the next, with all that is waited for."""
        return (max(self.moments) - min(self.moments)) / len(self.moments)

    @classmethod
    def of(cls, folder: Path) -> Trace:
        """Return what the journals below a report folder say."""
        trace = cls()
        for path in (folder / "journal").glob("*.jsonl"):
            for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
                # The last line of a killed process may be cut short.
                with contextlib.suppress(ValueError):
                    trace._take_in(json.loads(line))
        return trace

    def _take_in(self, entry: Mapping[str, object]) -> None:
        if entry.get("kind") == "decisions":
            self.tests.add(str(entry.get("test")))
        elif entry.get("kind") == "exchange":
            self.requests += 1
            self.created += entry.get("method") == "POST"
            self.limited += entry.get("status") == _TOO_MANY and _asks_for_a_pause(entry)
            if isinstance(seconds := entry.get("seconds"), float):
                self.seconds.append(seconds)
            if isinstance(moment := entry.get("at"), float):
                self.moments.append(moment)
        elif entry.get("kind") == "delivery":
            self.deliveries += 1


def _asks_for_a_pause(entry: Mapping[str, object]) -> bool:
    """Return whether an answer asks to wait for a moment, as one does that limits the pace.

    A limit of the interface's own, of what a customer does in a day, names no time or a long one.
    """
    headers = entry.get("response_headers")
    if not isinstance(headers, Mapping):
        return False
    said = {str(name).lower(): str(value) for name, value in headers.items()}
    seconds = retry_after(said.get("retry-after", ""), said.get("date", ""))
    return seconds is not None and seconds <= MAX_PACE_SECONDS


def run(
    tests: Iterable[str], base_url: str, profile: str, folder: Path, *, seconds: float, seed: int
) -> str | None:
    """Run some tests of the suite in a process of its own, for so many seconds at most.

    Returns:
        what pytest printed, where it came to no test; None otherwise.
    """
    command = [
        *(sys.executable, "-P", "-m", "pytest", "--pyargs", *dict.fromkeys(tests)),
        *(f"--base-url={base_url}", f"--profile={profile}", f"--report-dir={folder}"),
        f"--run-seed={seed}",
        *("-pno:randomly", "-pno:cacheprovider", "-q", "--no-header"),
        # These plugins are not needed, and cost every session up to half a second.
        *("-pno:schemathesis", "-pno:anyio"),
    ]
    with subprocess.Popen(  # noqa: S603 - this very program
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    ) as process:
        try:
            output, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGINT)
            try:
                process.communicate(timeout=_LEAVE_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
            return None
    return output if process.returncode == pytest.ExitCode.USAGE_ERROR else None


def findings(of: Sequence[Subject], folder: Path) -> Iterator[Finding]:
    """Yield what the trial below ``folder`` showed of features and triggers."""
    try:
        entries = {entry.id: entry for entry in assemble(folder).requirements}
    except NoRun as error:
        yield problem("trial", f"came to no test: {error}")
        return
    causes: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for subject in of:
        if subject.requirement is None:
            yield note(subject.name, "no test tries it by itself", subject.key)
            continue
        entry = entries[subject.requirement.id]
        if entry.reason is Reason.PRECONDITION and (step := _STEP.search(entry.detail)):
            # What one refused step keeps from being tried has one cause.
            cause = (step[1], _shaping(step[1], entry))
            causes.setdefault(cause, []).append(subject.name)
            if len(causes[cause]) == 1:
                key = ", ".join(_keys(entry, subject))
                yield problem(subject.name, f"not tried: {_why(entry)}", key)
        else:
            yield _finding(subject, subject.requirement, entry)
    for (operation, keys), (first, *others) in causes.items():
        if others:
            text = f"not tried for the same cause as {first}: {', '.join(others)}"
            yield problem(operation, text, ", ".join(keys))


def _finding(subject: Subject, requirement: Requirement, entry: Entry) -> Finding:
    seen = f"{requirement.id} ({requirement.statement})"
    match entry.verdict:
        case RequirementVerdict.PASSED | RequirementVerdict.WARNED:
            return fine(subject.name, f"works: {seen} was seen", subject.key)
        case RequirementVerdict.NOT_EXERCISED:
            return note(subject.name, f"not tried: {entry.detail}", subject.key)
    if entry.reason is Reason.LOST:
        return note(subject.name, "not tried: the time was over (--seconds)")
    return problem(
        subject.name, f"{seen} was not seen: {_why(entry)}", ", ".join(_keys(entry, subject))
    )


def _keys(entry: Entry, subject: Subject) -> Sequence[str]:
    """Return the keys of the profile by which what was seen may be explained.

    A step on the way may have failed before what is tried: the detail names its operation or its
    trigger then.
    """
    step = _STEP.search(entry.detail)
    shaped = _shaping(step[1], entry) if step else ()
    fired = [f"triggers.{name}" for name in _TRIGGER.findall(entry.detail) if name in triggers()]
    return list(dict.fromkeys((*shaped, *(fired or [subject.key]))))


def _shaping(operation: str, entry: Entry) -> tuple[str, ...]:
    """Return the keys that shape a refused request, or what has to go before it."""
    return _LOGIN if _NO_SESSION in entry.detail else SHAPED_BY.get(operation, ())


def _why(entry: Entry) -> str:
    reason = entry.reason or ""
    why = entry.detail if entry.detail.startswith(reason) else f"{reason}: {entry.detail}"
    return why + _FIRST_LOGIN if _NO_SESSION in why else why


def webhooks(trace: Trace, profile: Profile) -> Iterator[Finding]:
    """Yield whether webhooks find their way."""
    if not profile.features.webhooks:
        yield note(
            "webhooks", "not declared, so that the suite does not listen", "features.webhooks"
        )
    elif trace.deliveries:
        yield fine("webhooks", f"{trace.deliveries} came")
    else:
        mapped = "webhook.register" in profile.triggers
        yield problem(
            "webhooks",
            "none came: "
            + (
                "the trigger that registers the URL succeeded; see whether the target reaches it"
                if mapped
                else "the profile maps no webhook.register, so that you register the URL by hand"
            ),
            "webhooks.public_url" + ("" if mapped else ", triggers.webhook.register"),
        )


def pace(trace: Trace) -> Iterator[Finding]:
    """Yield whether the target limited the pace of the trial."""
    if trace.limited:
        yield problem(
            "rate limit",
            f"{trace.limited} of {trace.requests} requests were answered 429: a run waits as long "
            "as it is told, and gives up what is refused six times; let these credentials ask more "
            "often, or use fewer workers",
            "-n",
        )
    else:
        yield fine("rate limit", f"none of {trace.requests} requests in a row was answered 429")


@dataclass(frozen=True, slots=True)
class Meant:
    """The run that is meant: its processes and its generated requests for each operation.

    ``seed`` is that of the data that are sent now.
    """

    workers: int
    examples: int
    seed: int


def cost(trace: Trace, collected: Collected, profile: Profile, meant: Meant) -> Iterator[Finding]:
    """Yield how many requests a run sends, and how long they take."""
    if not trace.tests or not trace.seconds or not trace.moments:
        yield note("cost", "unknown, as the trial came to no test")
        return
    planned = {
        test
        for entry in collected.plan.entries.values()
        if entry.reason is None
        for test in entry.tests
    }
    requests = expected_requests(planned, meant.examples)
    created = round(requests * trace.created / trace.requests)
    trip = statistics.mean(trace.seconds)
    shortest, longest = (
        minutes(requests, seconds, meant.workers) for seconds in (trip, max(trip, trace.pace))
    )
    text = (
        f"about {requests} requests at {trip * 1000:.0f} ms with {meant.workers} workers are "
        f"{shortest:.1f} minutes, and {longest:.1f} with as much waiting as in this trial; about "
        f"{created} of them create something"
    )
    if requests > profile.budget.requests:
        yield problem(
            "cost", f"{text}; the budget allows {profile.budget.requests}", "budget.requests"
        )
    elif created > profile.budget.created:
        yield problem(
            "cost", f"{text}; the budget allows {profile.budget.created}", "budget.created"
        )
    else:
        yield fine("cost", text)
