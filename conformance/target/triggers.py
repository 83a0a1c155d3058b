"""Carries out triggers: causes that the interface does not let a client bring about."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol
from urllib.parse import quote

import httpx

from conformance.contract.judge import error_code
from conformance.contract.vocabulary import REQUESTS, SECRETS, TRIGGERS
from conformance.target.profile import HttpTrigger, Trigger
from conformance.target.target import Target
from conformance.verdict.decisions import (
    HarnessError,
    TriggerFailed,
    TriggerMissing,
    TwinRefused,
)


class Send(Protocol):
    """The recording client's way to send a request of the profile's."""

    def __call__(
        self, method: str, url: str, body: Any, secrets: Collection[str] = ()
    ) -> tuple[int, Any]:
        """Send method, URL and JSON body; return status and decoded body.

        ``secrets`` are the members of the answer whose values are written nowhere.
        """


Wait = Callable[[datetime], None]
"""Returns when the time given has passed."""

_COMMAND_SECONDS = 60.0
_TOLD = 300
# A quote lives for at most 15 minutes (Limits, line 493).
_LONGEST_WAIT = timedelta(minutes=20)


@dataclass(frozen=True, slots=True)
class Asked:
    """What was answered to a request of which the specification does not show where it is sent.

    ``body`` is the decoded body, ``returns`` the members of results by their names.
    """

    name: str
    request: str
    status: int
    body: Any
    returns: Mapping[str, str]

    @property
    def accepted(self) -> bool:
        """Whether the status is a success (2xx)."""
        return httpx.codes.is_success(self.status)

    @property
    def code(self) -> str | None:
        """The ``code`` of the error object, if the body is one."""
        return error_code(self.body)

    def results(self) -> dict[str, Any]:
        """Return the results that the profile names for it.

        Raises:
            TriggerFailed: the body has no such member.
        """
        return {key: _member(self.body, member, self.name) for key, member in self.returns.items()}

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
        assert not self.accepted, f"expected a refusal with {status or '4xx'}, got {self}"
        if twin is not None and not twin.accepted:
            raise TwinRefused(f"without the fault it was refused too: {twin}")
        statuses = range(400, 500) if status is None else (status,)
        assert self.status in statuses, f"expected a refusal with {status or '4xx'}, got {self}"
        expected = " or ".join(codes)
        assert not codes or self.code in codes, f"expected the code {expected}, got {self}"

    def __str__(self) -> str:
        return f"{self.request} answered {self.status}: {str(self.body)[:_TOLD]}"


class Triggers:
    """The triggers that one profile maps.

    ``send`` is the recording client, so that triggers stand in the journal like all else.
    """

    def __init__(self, target: Target, send: Send, wait: Wait) -> None:
        self._target = target
        self._send = send
        self._wait = wait

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

    def fire(self, name: str, **parameters: Any) -> dict[str, Any]:
        """Cause ``name`` and return the results that the profile names for it.

        Raises:
            TriggerMissing: the profile does not map it.
            TriggerFailed: the request was refused or the command failed.
            HarnessError: the parameters are not those of the vocabulary.
        """
        mapping = self._mapping(name)
        if mapping.http is not None:
            asked = self._request(name, mapping.http, parameters)
            if not asked.accepted:
                raise TriggerFailed(f"trigger {name}: {asked}")
            return asked.results()
        words = self._words(name, parameters)
        if mapping.command is not None:
            return self._run(name, [_text(_fill(word, words)) for word in mapping.command])
        if mapping.wait is not None:
            self._wait(_moment(words.get(mapping.wait.until), name, mapping.wait.until))
            return {}
        raise HarnessError(
            f"trigger {name} is a magic value, to be used where the resource is made"
        )

    def ask(self, name: str, **parameters: Any) -> Asked:
        """Send the request that ``name`` stands for and return its answer, whatever its status.

        Raises:
            TriggerMissing: the profile does not map it.
            HarnessError: the parameters are not those of the vocabulary, or it is no request.
        """
        http = self._mapping(name).http
        if name not in REQUESTS or http is None:
            raise HarnessError(f"{name} is a cause, and nothing that could be asked")
        return self._request(name, http, parameters)

    def _request(self, name: str, http: HttpTrigger, parameters: Mapping[str, Any]) -> Asked:
        words = self._words(name, parameters)
        # Ids come from the target: none may lead the request to another place.
        url = str(_fill(http.url, {**words, **_quoted(parameters)}))
        secrets = [http.returns[key] for key in SECRETS.get(name, ()) if key in http.returns]
        status, body = self._send(http.method, url, _fill(http.json_body, words), secrets)
        return Asked(name, f"{http.method} {url}", status, body, http.returns)

    def _words(self, name: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
        if set(parameters) != set(TRIGGERS[name]):
            raise HarnessError(f"{name} takes {TRIGGERS[name]}, got {tuple(parameters)}")
        return {
            **self._target.profile.variables,
            "origin": self._target.origin,
            "base_url": self._target.base_url,
            **parameters,
        }

    def _mapping(self, name: str) -> Trigger:
        try:
            return self._target.profile.triggers[name]
        except KeyError:
            raise TriggerMissing(f"the profile does not map the trigger {name}") from None

    def _run(self, name: str, command: list[str]) -> dict[str, Any]:
        try:
            done = subprocess.run(  # noqa: S603 - the profile's author chose the command
                command, capture_output=True, text=True, timeout=_COMMAND_SECONDS, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise TriggerFailed(f"trigger {name}: {command[0]}: {error}") from error
        if done.returncode:
            raise TriggerFailed(
                f"trigger {name}: {command[0]} ended with {done.returncode}: {done.stderr.strip()}"
            )
        try:
            results = json.loads(done.stdout) if done.stdout.strip() else {}
        except ValueError:
            return {}
        return results if isinstance(results, dict) else {}


def _fill(value: Any, words: Mapping[str, Any]) -> Any:
    """Return ``value`` with the names in braces replaced; one that is all name keeps its type."""
    if isinstance(value, dict):
        return {key: _fill(member, words) for key, member in value.items()}
    if isinstance(value, list):
        return [_fill(member, words) for member in value]
    if not isinstance(value, str):
        return value
    for name, word in words.items():
        if value == f"{{{name}}}":
            return word
        value = value.replace(f"{{{name}}}", _text(word))
    return value


def _text(word: Any) -> str:
    """Return a word as it stands among others: what is no text or number as JSON."""
    if isinstance(word, dict | list):
        return json.dumps(word, ensure_ascii=False, separators=(",", ":"))
    return str(word)


def _quoted(parameters: Mapping[str, Any]) -> dict[str, str]:
    return {name: quote(str(value), safe=":") for name, value in parameters.items()}


def _moment(value: Any, trigger: str, member: str) -> datetime:
    """Return the time that ``value`` spells, if it is near enough to wait for."""
    try:
        moment = datetime.fromisoformat(value).astimezone(UTC)
    except (TypeError, ValueError, OverflowError):
        raise TriggerFailed(f"trigger {trigger}: {member} is no timestamp: {value!r}") from None
    if moment > datetime.now(UTC) + _LONGEST_WAIT:
        raise TriggerFailed(
            f"trigger {trigger}: {member} is {value}, too late to wait for; the longest wait is "
            f"{_LONGEST_WAIT}"
        )
    return moment


def _member(body: Any, name: str, trigger: str) -> Any:
    if not isinstance(body, dict) or name not in body:
        raise TriggerFailed(f"trigger {trigger}: its response has no member {name!r}")
    return body[name]
