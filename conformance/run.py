"""One run in one process: the target, everything connected to it, and its plan."""

from __future__ import annotations

import contextlib
import os
import secrets
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from conformance.contract.data import FIXTURES
from conformance.contract.difference import Difference, Kind
from conformance.contract.judge import Finding, error_code, judge
from conformance.exchange.budget import Budget
from conformance.exchange.client import RecordingClient
from conformance.exchange.clock import RecordedClock, clock, running_by
from conformance.exchange.delivery import Delivery
from conformance.exchange.folder import RunFolder, writing_to
from conformance.exchange.journal import Exchange, Journal
from conformance.exchange.recording import Recording
from conformance.exchange.redaction import Redactor
from conformance.exchange.replaying import ReplayingClient
from conformance.exchange.transcript import of_webhook
from conformance.platform.api import Api
from conformance.platform.ledger import Ledger
from conformance.platform.memory import Memory
from conformance.platform.part import Context
from conformance.platform.platform import Platform
from conformance.platform.repetition import CREATION, Repetition
from conformance.platform.triggers import Triggers, run_command
from conformance.platform.waiting import wait_until
from conformance.platform.webhooks import Webhooks
from conformance.profile.loading import read_profile
from conformance.profile.model import Environment, Profile
from conformance.profile.part import ProfileError
from conformance.sut.sandbox import Sandbox
from conformance.sut.target import Target
from conformance.testdata.samples import Samples
from conformance.verdict.decisions import Facts, Outcome, ReadOnly, Reason, TriggerFailed
from conformance.verdict.recorder import Recorder
from conformance.webhooks.followed import FollowedInbox
from conformance.webhooks.inbox import Inbox
from conformance.webhooks.listener import WebhookListener
from conformance.webhooks.manner import Treat
from conformance.webhooks.recorded import RecordedInbox
from conformance.webhooks.signatures import VERIFIES, Verifier

_FIRST = "main"
_PROFILES = FIXTURES / "profiles"
_KEPT_PER_TEST = 400
_MAX_LISTED = 500


def is_reference(name: str) -> bool:
    """Return whether a profile's name leads to the one of the reference implementation."""
    path = Path(name) if Path(name).exists() else _PROFILES / f"{name}.yaml"
    return path.resolve() == (_PROFILES / "reference.yaml").resolve()


def load_profile(name: str | None) -> Profile:
    """Return the profile in the file ``name``, or the shipped one of that name.

    Without a name, the target is unknown: nothing but safe methods may be sent to it.

    Raises:
        ProfileError: there is none, or it is not valid.
    """
    if name is None:
        return Profile.model_validate({"implementation": {"name": "unknown implementation"}})
    shipped = _PROFILES / f"{name}.yaml"
    path = Path(name)
    if not path.exists():
        if not shipped.exists():
            known = ", ".join(sorted(p.stem for p in _PROFILES.glob("*.yaml")))
            raise ProfileError(f"profile {name}: no such file, nor a shipped one ({known})")
        path = shipped
    return read_profile(path)


@dataclass
class Connection:
    """What one process needs to talk to the target.

    ``follow_url`` is where other processes of the run read the deliveries, ``webhook_url`` where
    the target sends them; empty where this process does not listen.
    """

    target: Target
    seed: int
    client: RecordingClient
    journal: Journal
    inbox: Inbox
    triggers: Triggers
    redactor: Redactor
    follow_url: str | None = None
    webhook_url: str = ""
    observations: Counter[str] = field(default_factory=Counter)
    recorder: Recorder | None = None
    memory: Memory = field(default_factory=Memory)
    treat: Treat | None = None
    verifier: Verifier | None = None
    replayed: Recording | None = None
    repetition: Repetition | None = None
    _process: tuple[str, ...] = ()
    _recent: list[Exchange] = field(default_factory=list)
    _closers: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)

    @classmethod
    def open(
        cls,
        target: Target,
        *,
        seed: int,
        folder: RunFolder,
        worker: str = _FIRST,
        follow_url: str | None = None,
        established: Mapping[str, Any] | None = None,
    ) -> Connection:
        """Connect to the target.

        Args:
            target: who is tested.
            seed: seed of all data of the run.
            folder: where the journal goes.
            worker: name of this process in the run; the first process listens for webhooks.
            follow_url: where the first process hands on its deliveries, if it listens.
            established: what the steps of `setup` returned in the first process; None in it, which
                carries them out.

        Raises:
            ListenerError: the webhook listener cannot be started.
            FolderError: the journal cannot be written.
            ProfileError: the key that webhooks are verified with cannot be used.
            TriggerFailed: the target refuses to send its webhooks to the listener, or a step of
                `setup`.
        """
        profile = target.profile
        signature = profile.webhooks.signature if profile.features.webhook_signatures else None
        verifier = None if signature is None else Verifier(signature, os.environ)
        with contextlib.ExitStack() as closers:
            redactor = _redactor(target, verifier)
            journal, budget = _writing(folder, worker, redactor, profile, closers)
            client = RecordingClient(target, judge(), journal, budget, redactor)
            closers.callback(client.close)
            api = Api(client, profile, Ledger())
            triggers = Triggers(
                target,
                client.trigger,
                wait_until,
                folder=None if worker == _FIRST else folder.path,
                status_of=lambda name: _status_of_transaction(api, name),
                run=lambda by, command: _run_and_note(client, journal, redactor, by, command),
            )
            listener: WebhookListener | None = None
            treat: Treat | None = None
            inbox: Inbox
            if follow_url is not None:
                followed = FollowedInbox(follow_url)
                closers.callback(followed.close)
                inbox, treat = followed, followed.treat
            elif profile.features.webhooks and worker == _FIRST:
                listener = WebhookListener(
                    profile.webhooks.listen,
                    profile.webhooks.public_url,
                    registered=triggers.maps("webhook.register"),
                )
                closers.callback(listener.close)
                inbox, treat = listener.inbox, listener.treat
            else:
                inbox = Inbox()
            connection = cls(
                target,
                seed,
                client,
                journal,
                inbox,
                triggers,
                redactor,
                treat=treat,
                verifier=verifier,
                follow_url=listener.follow_url if listener else None,
                webhook_url=listener.url if listener else "",
                memory=Memory(folder=folder.path, sightings=client.sightings),
                repetition=Repetition(
                    lambda body: client.call(CREATION, body=body, judged=False),
                ),
            )
            client.listener = connection.heard
            # The process that listens has it in its journal; the others only judge.
            written = journal if follow_url is None else None
            inbox.watcher = lambda delivery: connection.delivered(delivery, written)
            if listener:
                listener.observe = lambda text: connection._observe([text])
            if listener and triggers.maps("webhook.register"):
                # Where nothing may be changed, nothing will happen that a webhook would tell.
                with contextlib.suppress(ReadOnly):
                    triggers.fire("webhook.register", url=listener.url)
            if established is not None:
                triggers.established |= established
            else:
                with contextlib.suppress(ReadOnly):
                    triggers.set_up()
            connection._closers = closers.pop_all()
        return connection

    @classmethod
    def replaying(
        cls, recording: Recording, target: Target, *, seed: int, folder: RunFolder
    ) -> Connection:
        """Let a recording stand in the place of its target; nothing is sent.

        Args:
            recording: what was recorded.
            target: who was tested.
            seed: seed of all data of the run.
            folder: where the journal goes.

        Raises:
            FolderError: the journal cannot be written.
            ProfileError: the key that webhooks are verified with cannot be used.
        """
        profile = target.profile
        signature = profile.webhooks.signature if profile.features.webhook_signatures else None
        verifier = None
        # A key that is a secret stands in no recording; without it no signature is decided on.
        if signature is not None and signature.known(os.environ):
            verifier = Verifier(signature, os.environ)
        with contextlib.ExitStack() as closers:
            redactor = _redactor(target, verifier)
            journal, budget = _writing(folder, _FIRST, redactor, profile, closers)
            recorded = RecordedClock()
            closers.enter_context(running_by(recorded))
            client = ReplayingClient(
                target, judge(), journal, budget, redactor, recording=recording, clock=recorded
            )
            closers.callback(client.close)
            api = Api(client, profile, Ledger())
            triggers = Triggers(
                target,
                client.trigger,
                wait_until,
                # What a one-shot trigger waited for was read then, and is read again.
                status_of=lambda name: _status_of_transaction(api, name),
                run=lambda by, command: _recorded_result(recording, redactor, by, command),
            )
            inbox = RecordedInbox(recording.deliveries, recorded)
            connection = cls(
                target,
                seed,
                client,
                journal,
                inbox,
                triggers,
                redactor,
                verifier=verifier,
                memory=Memory(folder=folder.path, sightings=client.sightings),
                replayed=recording,
            )
            connection.triggers.established |= recording.started.get("established", {})
            client.listener = connection.heard
            inbox.watcher = lambda delivery: connection.delivered(delivery, None)
            for delivery in recording.deliveries:
                journal.delivery(delivery)
            connection._closers = closers.pop_all()
        return connection

    def platform(self, test: str, *, explores: bool = False) -> Platform:
        """Return the platform that the test acts as.

        Args:
            test: its name, which decides what is sent.
            explores: whether it asks for features that the profile does not declare, too.
        """
        profile, ledger = self.target.profile, Ledger()
        return Platform(
            Context(
                api=Api(
                    self.client,
                    profile,
                    ledger,
                    self.triggers.one_shots,
                    explores=explores,
                    repetition=self.repetition,
                ),
                profile=profile,
                triggers=self.triggers,
                webhooks=Webhooks(self.inbox, profile, self.memory.patience, self.treat),
                samples=Samples(self.seed, test),
                ledger=ledger,
                memory=self.memory,
                observe=lambda text: self._observe([text]),
            )
        )

    @contextlib.contextmanager
    def recording(self, recorder: Recorder) -> Iterator[None]:
        """Let ``recorder`` hear of every finding until the block ends."""
        self.recorder, self._recent = recorder, []
        self.client.test = recorder.test
        self.redactor.forget()
        try:
            yield
        finally:
            self.take_back()
            self.recorder = None
            self.client.test = ""

    def take_back(self) -> None:
        """Take back what the triggers of the test did; what goes wrong is an observation."""
        try:
            self._observe(self.triggers.take_back())
        finally:
            self.triggers.turn.end()

    def tear_down(self) -> list[str]:
        """Carry out the `teardown` of the profile once, and return what went wrong."""
        problems = [self.redactor.text(problem) for problem in self.triggers.tear_down()]
        self._observe(problems)
        return problems

    def recent(self) -> list[Exchange]:
        """Return the exchanges of the test that is recorded, the latest 400 of them."""
        return list(self._recent)

    def heard(
        self, exchange: Exchange, findings: tuple[Finding, ...], observations: tuple[str, ...]
    ) -> None:
        """Take in one exchange and what the judge found in it."""
        self._observe(observations)
        if self.recorder is None:
            return
        # Of a recording, what had arrived by now is known by now.
        if isinstance(self.inbox, RecordedInbox):
            self.inbox.judge(all_of_them=False)
        self._recent.append(exchange)
        del self._recent[:-_KEPT_PER_TEST]
        self.recorder.exchanges.append(exchange.id)
        self.recorder.answers += exchange.status != 0
        told = " ".join(filter(None, (str(exchange.status), error_code(exchange.response_body))))
        self.recorder.latest = Difference(Kind.CHECK, exchange.operation, got=told)
        self._decide(findings, f"[{exchange.id}] {exchange.operation}: ")

    def delivered(self, delivery: Delivery, written: Journal | None) -> None:
        """Take in one webhook delivery."""
        if written is not None:
            written.delivery(delivery)
        verdict = judge().delivery(delivery.body)
        self._observe(verdict.observations)
        if self.recorder is None:
            return
        signed = self.verifier.findings(delivery) if self.verifier else ()
        if signed and not delivery.whole:
            # It held a secret, so that its signature may have been right or wrong.
            signed = tuple(finding for finding in signed if finding.requirement != VERIFIES)
            told = "the recording does not keep the bytes of a webhook that held a secret"
            self.recorder.decide(VERIFIES, Outcome.INCONCLUSIVE, told, Reason.NOT_RECORDED)
        found = (*verdict.findings, *self.client.sightings.delivery(delivery.body), *signed)
        also = "" if all(finding.passed for finding in found) else self._shown(delivery)
        self._decide(found, f"webhook {delivery.type}: ", also)

    def forget(self) -> None:
        """Lose what the target sent and what was learned of it: it may have become another one."""
        self.memory.forget()
        self.inbox.clear()

    def replay(self, test: str) -> None:
        """Let the recording answer what the test of this address sends from now on.

        A test of another process knows nothing of what those of this one have found out.
        """
        assert self.replayed is not None
        process = next(tests for tests in self.replayed.tests if test in tests)
        is_other = process is not self._process
        if is_other:
            self._process = process
            self.memory.forget()
        began = self.replayed.begin(test)
        if is_other and isinstance(self.inbox, RecordedInbox):
            self.inbox.judge_from(began)

    def judge_arrivals(self, *, all_of_them: bool = False) -> None:
        """Judge the deliveries that have arrived and that nobody has asked for yet.

        Where this process listens, each is judged as it arrives. Of a recording ``all_of_them``
        are judged that are left.
        """
        if isinstance(self.inbox, RecordedInbox):
            self.inbox.judge(all_of_them=all_of_them)
        elif isinstance(self.inbox, FollowedInbox):
            self.inbox.catch_up()

    def close(self) -> None:
        """Close everything."""
        self._closers.close()

    def _observe(self, texts: Iterable[str]) -> None:
        self.observations.update(map(self.redactor.remark, texts))

    def _shown(self, delivery: Delivery) -> str:
        """Return a webhook as a person may see it."""
        content = delivery.text if delivery.body is None else delivery.body
        body = self.redactor.without_people(self.redactor.json(content))
        return of_webhook(delivery.at, self.redactor.headers(delivery.headers), body)

    def _decide(self, findings: Iterable[Finding], place: str, also: str = "") -> None:
        recorder = self.recorder
        if recorder is None:
            return
        for finding in findings:
            if finding.passed:
                recorder.decide(finding.requirement, Outcome.PASSED)
            else:
                detail = self.redactor.remark(place + finding.detail) + (also and f"\n{also}")
                facts = Facts(difference=finding.difference)
                recorder.decide(finding.requirement, Outcome.FAILED, detail, facts=facts)


def _status_of_transaction(api: Api, name: str) -> object:
    """Return the status of a transaction that is listed among the first ones; None otherwise."""
    rows = islice(api.pages("listTransactions", api.large_pages), _MAX_LISTED)
    return next((row.get("status") for row in rows if row.get("id") == name), None)


def _redactor(target: Target, verifier: Verifier | None) -> Redactor:
    """Return what removes the secrets; in a sandbox all people are made up, by the suite itself."""
    secrets = (*target.secrets, *(verifier.secrets if verifier else ()))
    return Redactor(secrets, of_people=target.profile.environment is not Environment.SANDBOX)


def _writing(
    folder: RunFolder,
    worker: str,
    redactor: Redactor,
    profile: Profile,
    closers: contextlib.ExitStack,
) -> tuple[Journal, Budget]:
    """Open what a process writes to; ``closers`` close it.

    Raises:
        FolderError: the journal cannot be written.
    """
    with writing_to(folder.path):
        journal = Journal(
            folder.journals / f"{worker}.jsonl", folder.prefix + worker, redactor, run=folder.run
        )
        closers.callback(journal.close)
        open_budget = Budget.start if worker == _FIRST else Budget
        budget = open_budget(folder.path / "budget", profile.budget)
    closers.callback(budget.close)
    return journal, budget


def _run_and_note(
    client: RecordingClient, journal: Journal, redactor: Redactor, by: str, command: list[str]
) -> dict[str, Any]:
    """Run a command of the profile, write down what came of it, and return that."""
    entry: dict[str, Any] = {
        "at": clock().time(),
        "test": client.test,
        "by": by,
        "command": redactor.json(command),
    }
    try:
        results = run_command(by, command)
    except TriggerFailed as error:
        journal.write("command", {**entry, "error": redactor.text(str(error))})
        raise
    journal.write("command", {**entry, "results": redactor.json(results)})
    return results


def _recorded_result(
    recording: Recording, redactor: Redactor, by: str, command: list[str]
) -> dict[str, Any]:
    """Return what a command came to when the run was recorded; it is not run again."""
    entry = recording.take_command(by, redactor.json(command))
    if "error" in entry:
        raise TriggerFailed(entry["error"])
    results: dict[str, Any] = entry["results"]
    return results


def recorded_target(recording: Recording, profile: Profile) -> Target:
    """Return the target of a recorded run; its credentials are made up, as none were recorded."""
    return Target(
        recording.started["base_url"],
        f"recorded-{secrets.token_hex(16)}",
        f"recorded-{secrets.token_hex(16)}",
        profile,
    )


def reference_target(sandbox: Sandbox, profile: Profile) -> Target:
    """Return the started reference implementation as a target, with the credentials it was given.

    ``profile`` is the reference's own, or another one to see what a run makes of it.
    """
    return Target.resolve(sandbox.base_url, profile, sandbox.credentials(profile))
