"""Carries out triggers: causes that the interface does not let a client bring about."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Protocol, TypeVar

import httpx

from conformance.contract.judge import error_code
from conformance.contract.moments import parse_moment
from conformance.contract.vocabulary import REQUESTS, SECRETS, TRIGGERS
from conformance.exchange.clock import now
from conformance.platform import commands
from conformance.platform.one_shots import PAYOUTS, OneShots
from conformance.platform.turns import TurnOfTest
from conformance.platform.waiting import Patience, Waiting
from conformance.profile.model import Environment
from conformance.profile.triggers import HttpTrigger, Step, Trigger
from conformance.sut.target import Target
from conformance.text import addresses, templates
from conformance.text.legible import legible
from conformance.text.paths import value_at
from conformance.verdict.decisions import (
    HarnessError,
    ReadOnly,
    TriggerFailed,
    TriggerMissing,
    TriggerRefused,
    TwinRefused,
    Unmet,
    Unusable,
    expect,
)

T = TypeVar("T")


class Send(Protocol):
    """The recording client's way to send a request of the profile's."""

    def __call__(
        self,
        method: str,
        url: str,
        body: Any,
        secrets: Collection[str] = (),
        headers: Mapping[str, str] | None = None,
    ) -> tuple[int, Any]:
        """Send method, URL, JSON body and further headers; return status and decoded body.

        ``secrets`` are the dotted paths in the answer to what is written nowhere.
        """


Run = Callable[[str, list[str]], dict[str, Any]]
"""Carries out the command of a trigger, and returns the results that it prints."""

Wait = Callable[[datetime], None]
"""Returns when the time given has passed."""

_UNBROKEN = "FAM-009"
MAX_COMMAND_SECONDS = 60.0
_MAX_SHOWN_CHARS = 300
# A quote lives for at most 15 minutes (Limits, line 493).
_MAX_WAIT = timedelta(minutes=20)
# What a wallet signs may be an object.
_DOCUMENTS = frozenset({"payload"})
_HEADER_VALUE = re.compile(r"[\x20-\x7e]*")
# No shell sees anything but one word in it, and no command an option.
_PLAIN = re.compile(r"[\w@%+=:,./][\w@%+=:,./-]*", re.ASCII)


@dataclass(frozen=True, slots=True)
class Asked:
    """What was answered to a request of which the specification does not show where it is sent.

    ``by`` says by what it was sent. ``body`` is the decoded body, ``returns`` are the dotted paths
    of results by their names. ``is_of_interface`` says that it was sent to a path below the base
    URL.
    """

    by: str
    request: str
    status: int
    body: Any
    returns: Mapping[str, str]
    is_of_interface: bool = False

    @property
    def accepted(self) -> bool:
        """Whether the status is a success (2xx)."""
        return httpx.codes.is_success(self.status)

    @property
    def code(self) -> str | None:
        """The ``code`` of the error object, if the body is one."""
        return error_code(self.body)

    @property
    def breaks(self) -> tuple[str, ...]:
        """The requirement that is broken, whatever was asked for: no server error is answered.

        What stands beside the interface, to cause what nobody else can, is none of it.
        """
        is_broken = self.is_of_interface and self.status == httpx.codes.INTERNAL_SERVER_ERROR
        return (_UNBROKEN,) if is_broken else ()

    def results(self) -> dict[str, Any]:
        """Return the results that the profile names for it.

        Raises:
            TriggerFailed: the body has no such member.
        """
        found = {key: value_at(self.body, path) for key, path in self.returns.items()}
        for key, value in found.items():
            if value is None:
                path = self.returns[key]
                raise TriggerFailed(f"{self.by}: its response has no member {path!r}: {self}")
        return found

    @property
    def is_complete(self) -> bool:
        """Whether the body has all results."""
        return all(value_at(self.body, path) is not None for path in self.returns.values())

    def refused(self, status: int | None, *codes: str, twin: Asked | None) -> None:
        """Assert that it was refused with a status and a code.

        Args:
            status: the HTTP status; ``None`` for that of any client error.
            codes: the error codes, one of which must have come; without any, any may.
            twin: the same without the fault; ``None`` where the fault is the request itself.

        Raises:
            TwinRefused: the twin was not accepted, so that the refusal would prove nothing.
            AssertionError: it was accepted, or refused in another way.
        """
        __tracebackhide__ = True
        wanted = f"a refusal with {status or '4xx'}"
        expect(not self.accepted, wanted, self)
        if twin is not None and not twin.accepted:
            raise TwinRefused(
                f"the same request without the fault was refused as well: {twin}",
                breaks=twin.breaks,
            )
        statuses = range(400, 500) if status is None else (status,)
        expect(self.status in statuses, wanted, self)
        expect(not codes or self.code in codes, f"the code {' or '.join(codes)}", self)

    def __str__(self) -> str:
        try:
            body = str(self.body)
        except (ValueError, RecursionError):
            body = addresses.shortened(self.body)
        request, told = (legible(text, _MAX_SHOWN_CHARS) for text in (self.request, body))
        return f"{request} answered {self.status}: {told}"


class Triggers:
    """The triggers that one profile maps.

    Args:
        target: who is tested.
        send: sends requests by the recording client, so that they stand in the journal.
        wait: returns when a time has passed.
        folder: the report folder of the run, where its processes take turns; None where it has one
            process.
        status_of: returns the status of a transaction, by its id.
        run: carries commands out; by default they are.
    """

    def __init__(
        self,
        target: Target,
        send: Send,
        wait: Wait,
        *,
        folder: Path | None = None,
        status_of: Callable[[str], object] = lambda _: None,
        run: Run | None = None,
    ) -> None:
        self._target = target
        self._send = send
        self._wait = wait
        self._run = run or run_command
        self._own_words = templates.own_words(
            target.profile.variables, target.origin, target.base_url
        )
        self._until = Waiting(target.profile.timing, Patience()).until
        self._fired: list[tuple[str, Mapping[str, Any]]] = []
        self._backs: list[tuple[str, Step, Mapping[str, Any]]] = []
        self.established: dict[str, Any] = {}
        """What the steps of `setup` returned, by the names that the profile gives it."""
        self.turn = TurnOfTest(folder)
        self.one_shots = OneShots(status_of, self._until)

    def maps(self, name: str) -> bool:
        """Return whether the profile maps the trigger ``name``."""
        return name in self._target.profile.triggers

    def magic(self, name: str) -> Mapping[str, Any] | None:
        """Return the values that cause ``name`` when a resource is created with them.

        ``None`` means that the profile causes it in another way, after the creation.

        Raises:
            TriggerMissing: the profile does not map it.
        """
        return self._mapping(name).magic

    def arrange(
        self,
        name: str | None,
        create: Callable[[Mapping[str, Any]], T],
        about: Callable[[T], Mapping[str, Any]],
    ) -> T:
        """Create a resource that a trigger happens to, by whichever road the profile has for it.

        A magic value is a part of what creates the resource; any other way is taken once it exists.

        Args:
            name: the trigger; None for none.
            create: creates the resource with further members.
            about: returns the trigger's parameters, given the resource.

        Raises:
            TriggerMissing: the profile does not map it.
        """
        magic = None if name is None else self.magic(name)
        created = create(magic or {})
        if name is not None and magic is None:
            self.fire(name, **about(created))
        return created

    def prepare(self, name: str | None, **parameters: Any) -> Mapping[str, Any]:
        """Let a trigger happen to what is created next, by whichever road the profile has for it.

        Args:
            name: the trigger; None for none.
            parameters: those of the trigger.

        Returns:
            the members to create it with: the magic value, if that is the road.

        Raises:
            TriggerMissing: the profile does not map it.
        """
        magic = None if name is None else self.magic(name)
        if name is not None and magic is None:
            self.fire(name, **parameters)
        return magic or {}

    def fire(self, name: str, **parameters: Any) -> dict[str, Any]:
        """Cause ``name`` and return the results that the profile names for it.

        Raises:
            ReadOnly: the target is no sandbox, where nothing may be caused.
            TriggerMissing: the profile does not map it.
            TriggerFailed: the request was refused or the command failed.
            Unusable: a parameter cannot stand where the profile has it.
            HarnessError: the parameters are not those of the vocabulary.
        """
        mapping = self._admitted(name, parameters)
        self._fired.append((name, parameters))
        if mapping.magic is not None:
            raise HarnessError(
                f"trigger {name} is a magic value, to be used where the resource is made"
            )
        if mapping.wait is not None:
            self._wait(_moment(parameters.get(mapping.wait.until), name, mapping.wait.until))
            return {}
        if mapping.scope != "parameters":
            self.turn.stay_alone()
        if mapping.scope == "next" and name in PAYOUTS:
            account = str(parameters["externalAccountId"])
            self.one_shots.arm(account, lambda: self._cause(name, mapping, parameters))
            return {}
        self.one_shots.before(name, parameters)
        return self._cause(name, mapping, parameters)

    def happens_once(self, name: str) -> bool:
        """Return whether ``name`` is over once it has happened to what comes next.

        Raises:
            TriggerMissing: the profile does not map it.
        """
        return self._mapping(name).scope == "next"

    def was_fired(self, name: str, **parameters: Any) -> bool:
        """Return whether ``name`` was caused before with just these parameters."""
        return (name, parameters) in self._fired

    def _cause(self, name: str, mapping: Trigger, parameters: Mapping[str, Any]) -> dict[str, Any]:
        words = {**self.established, **parameters}
        results = self._carry_out(f"trigger {name}", mapping, words, SECRETS.get(name, ()))
        if mapping.back is not None:
            self._backs.append((f"trigger {name}: back", mapping.back, {**words, **results}))
        return results

    def take_back(self) -> list[str]:
        """Wait for what one-shot triggers of a test do, and take back all, the latest first.

        Returns:
            what went wrong; the other effects are taken back nevertheless.
        """
        problems: list[str] = []
        try:
            if not self.one_shots.end():
                problems.append("a one-shot trigger may have had no effect yet")
        except Unmet as error:
            problems.append(f"the effect of a one-shot trigger: {error}")
        while self._backs:
            by, step, words = self._backs.pop()
            try:
                self._carry_out(by, step, words)
            except Unmet as error:
                problems.append(str(error))
        return problems

    def set_up(self) -> None:
        """Carry out the steps of `setup`, whose results have their names in all triggers.

        Raises:
            Unmet: a step failed, or could not be carried out.
        """
        for number, step in enumerate(self._target.profile.setup):
            self.established |= self._carry_out(f"setup.{number}", step, self.established)

    def tear_down(self) -> list[str]:
        """Carry out the steps of `teardown`, each whatever became of those before.

        Returns:
            what went wrong.
        """
        problems: list[str] = []
        words = self.established
        if self._target.profile.environment is not Environment.SANDBOX:
            return problems
        for number, step in enumerate(self._target.profile.teardown):
            try:
                words = {**words, **self._carry_out(f"teardown.{number}", step, words)}
            except Unmet as error:
                problems.append(str(error))
        return problems

    def ask(self, name: str, **parameters: Any) -> Asked:
        """Send the request that ``name`` stands for and return its answer, whatever its status.

        Raises:
            ReadOnly: the target is no sandbox.
            TriggerMissing: the profile does not map it.
            Unusable: a parameter cannot stand where the profile has it.
            HarnessError: the parameters are not those of the vocabulary, or it is no request.
        """
        mapping = self._admitted(name, parameters)
        http = mapping.http
        if name not in REQUESTS or http is None:
            raise HarnessError(f"{name} is a cause, and nothing that could be asked")
        if mapping.scope != "parameters":
            self.turn.stay_alone()
        by, words = f"trigger {name}", {**self.established, **parameters}
        if mapping.back is not None:
            # A request that is refused may have been prepared by others.
            self._backs.append((f"{by}: back", mapping.back, words))
        for call in http[:-1]:
            words |= self._accepted(by, call, words)
        return self._request(by, http[-1], words, SECRETS.get(name, ()))

    def _admitted(self, name: str, parameters: Mapping[str, Any]) -> Trigger:
        """Return how the profile causes ``name``, if it may be caused at all."""
        if self._target.profile.environment is not Environment.SANDBOX:
            raise ReadOnly(
                f"trigger {name} is not fired: it changes something, and the profile does not say "
                "environment: sandbox"
            )
        mapping = self._mapping(name)
        if set(parameters) != set(TRIGGERS[name]):
            raise HarnessError(f"{name} takes {TRIGGERS[name]}, got {tuple(parameters)}")
        return mapping

    def _mapping(self, name: str) -> Trigger:
        try:
            return self._target.profile.triggers[name]
        except KeyError:
            raise TriggerMissing(name) from None

    def _carry_out(
        self, by: str, step: Step, words: Mapping[str, Any], secrets: Collection[str] = ()
    ) -> dict[str, Any]:
        """Carry out a step of the profile and return its results.

        Args:
            by: what the step belongs to, as messages begin.
            step: the requests or the command.
            words: the names that its texts may hold.
            secrets: the names of those results that are credentials.

        Raises:
            TriggerFailed: a request was refused or the command failed.
            Unusable: a value cannot stand where the profile has it.
        """
        if self._target.profile.environment is not Environment.SANDBOX:
            raise ReadOnly(
                f"{by} is not carried out: it changes something, and the profile does not say "
                "environment: sandbox"
            )
        if step.command is not None:
            return self._run(by, [self._word(by, word, words) for word in step.command])
        results: dict[str, Any] = {}
        for number, call in enumerate(step.http or ()):
            known = {**words, **results}
            results |= self._accepted(by, call, known, secrets, first=number == 0)
        return results

    def _accepted(
        self,
        by: str,
        call: HttpTrigger,
        words: Mapping[str, Any],
        secrets: Collection[str] = (),
        *,
        first: bool = False,
    ) -> dict[str, Any]:
        """Send a request and return its results; a GET again until it has them all.

        ``first`` says that nothing was sent before it.
        """

        def send() -> Asked:
            return self._request(by, call, words, secrets)

        if call.method == "GET" and call.returns:
            asked = self._until(send, lambda asked: asked.is_complete, by)
        else:
            asked = send()
        succeeded = asked.status in call.ok if call.ok else asked.accepted
        if not succeeded:
            refused = first and httpx.codes.is_client_error(asked.status)
            failure = TriggerRefused if refused else TriggerFailed
            raise failure(f"{by}: {asked}", breaks=asked.breaks)
        return asked.results()

    def _request(
        self, by: str, call: HttpTrigger, words: Mapping[str, Any], secrets: Collection[str]
    ) -> Asked:
        texts = {key: _document(by, key, word) for key, word in words.items()}
        template = self._own(call.url)
        try:
            name = addresses.whole_url_name(template, texts)
            if name is None:
                url = addresses.fill(template, texts)
            else:
                origins = (self._target.origin, *call.origins)
                url = addresses.fill_whole_url(template, name, texts, origins)
        except Unusable as error:
            raise Unusable(f"{by}: {error}") from None
        body = _json_body(by, self._own(call.json_body), words)
        hidden = [call.returns[key] for key in secrets if key in call.returns]
        headers = {name: self._header(by, text, words) for name, text in call.headers.items()}
        status, answered = self._send(call.method, url, body, hidden, headers)
        is_of_interface = url.startswith(f"{self._target.base_url}/")
        return Asked(by, f"{call.method} {url}", status, answered, call.returns, is_of_interface)

    def _header(self, by: str, template: str, words: Mapping[str, Any]) -> str:
        """Return the value of a header, filled in.

        Raises:
            Unusable: a value has no form in a header.
        """
        known = {**words, **self._target.words}
        own = self._own(template)
        texts: dict[str, str] = {}
        for key in templates.named(own, known):
            try:
                texts[key] = addresses.as_text(_document(by, key, known[key]))
            except Unusable as error:
                raise Unusable(f"{by}: {key}: {error}") from None
            if not _HEADER_VALUE.fullmatch(texts[key]):
                raise Unusable(f"{by}: {key}: a header takes printable ASCII alone")
        return templates.fill(own, texts)

    def _word(self, by: str, template: str, parameters: Mapping[str, Any]) -> str:
        """Return one word of a command, filled in with what can be nothing but data there.

        Raises:
            Unusable: a value has no form in a command, would be part of a program, or would make
                an option of the word.
        """
        own = self._own(template)
        texts: dict[str, str] = {}
        for key in templates.named(own, parameters):
            value = parameters[key]
            try:
                texts[key] = text = addresses.as_text(_document(by, key, value))
            except Unusable as error:
                raise Unusable(f"{by}: {key}: {error}") from None
            got = f"got {addresses.shortened(value)}"
            if "\0" in text:
                raise Unusable(f"{by}: {key}: a command takes no NUL, {got}")
            # A line that the command may hand to a shell, or a script.
            if any(map(str.isspace, own)) and not _PLAIN.fullmatch(text):
                raise Unusable(
                    f"{by}: {key}: within {addresses.shortened(own)} only letters, "
                    f"digits and @%+=:,./-_ are filled in, {got}; give it a word of its own"
                )
        word = templates.fill(own, texts)
        if word.startswith("-") and not own.startswith("-"):
            got = ", ".join(f"{key}: {addresses.shortened(parameters[key])}" for key in texts)
            raise Unusable(f"{by}: the command would take it for an option, got {got}")
        return word

    def _own(self, value: Any) -> Any:
        """Return a value of the profile with the names filled in that are not the target's."""
        return templates.fill_json(value, self._own_words)


def _document(by: str, name: str, value: Any) -> Any:
    """Return a parameter, one that may be an object as the JSON text that stands for it."""
    if name not in _DOCUMENTS or not isinstance(value, dict | list):
        return value
    try:
        return templates.as_json_text(value)
    except (ValueError, RecursionError) as error:
        raise _no_json(by, name, value) from error


def _json_body(by: str, template: Any, parameters: Mapping[str, Any]) -> Any:
    """Return the JSON body of a request, filled in.

    Raises:
        Unusable: JSON has no form for a parameter, or UTF-8 none for its text.
    """
    used = templates.named(json.dumps(template, ensure_ascii=False), parameters)
    words = {name: parameters[name] for name in used}
    for name, value in words.items():
        try:
            templates.as_json_text(value).encode()
        except (ValueError, RecursionError) as error:
            raise _no_json(by, name, value) from error
    return templates.fill_json(template, words)


def _no_json(by: str, name: str, value: Any) -> Unusable:
    got = addresses.shortened(value)
    return Unusable(f"{by}: {name}: expected what JSON can spell, got {got}")


def run_command(by: str, command: list[str]) -> dict[str, Any]:
    """Run a command and return the results that it prints; what is no JSON object is none.

    Raises:
        TriggerFailed: it failed, or did not end in time.
    """
    program = legible(command[0])
    try:
        done = commands.run(command, MAX_COMMAND_SECONDS)
    except TimeoutError:
        problem = f"took longer than {MAX_COMMAND_SECONDS:g} seconds"
        raise TriggerFailed(f"{by}: {program}: it {problem}") from None
    except (OSError, ValueError, commands.OutputTooLong) as error:
        raise TriggerFailed(f"{by}: {program}: {legible(str(error))}") from error
    if done.status:
        written = legible(done.err.decode(errors="replace").strip(), _MAX_SHOWN_CHARS)
        raise TriggerFailed(f"{by}: {program} ended with {done.status}: {written}")
    try:
        results = json.loads(done.out, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return {}
    return results if isinstance(results, dict) else {}


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")


def _moment(value: Any, trigger: str, member: str) -> datetime:
    """Return the time that ``value`` spells, if it is near enough to wait for."""
    try:
        moment = parse_moment(value).astimezone(UTC)
    except (TypeError, ValueError, OverflowError):
        got = addresses.shortened(value)
        raise TriggerFailed(f"trigger {trigger}: {member} is no timestamp: {got}") from None
    if moment > now() + _MAX_WAIT:
        raise TriggerFailed(
            f"trigger {trigger}: {member} is {addresses.shortened(value)}, too late to wait for; "
            f"the longest wait is {_MAX_WAIT}"
        )
    return moment
