"""Carries out triggers: causes that the interface does not let a client bring about."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote

from conformance.contract.vocabulary import TRIGGERS
from conformance.target.profile import Trigger
from conformance.target.target import Target
from conformance.verdict.decisions import HarnessError, TriggerFailed, TriggerMissing

Send = Callable[[str, str, Any], tuple[int, Any]]
"""Sends method, URL and JSON body; returns status and decoded body."""

Wait = Callable[[datetime], None]
"""Returns when the time given has passed."""

_COMMAND_SECONDS = 60.0
_TOLD = 300
# A quote lives for at most 15 minutes (Limits, line 493).
_LONGEST_WAIT = timedelta(minutes=20)


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
        if set(parameters) != set(TRIGGERS[name]):
            raise HarnessError(f"{name} takes {TRIGGERS[name]}, got {tuple(parameters)}")
        mapping = self._mapping(name)
        words = {
            **self._target.profile.variables,
            "origin": self._target.origin,
            "base_url": self._target.base_url,
            **parameters,
        }
        if mapping.http is not None:
            http = mapping.http
            # Ids come from the target: none may lead the request to another place.
            url = str(_fill(http.url, {**words, **_quoted(parameters)}))
            status, body = self._send(http.method, url, _fill(http.json_body, words))
            if not 200 <= status < 300:  # noqa: PLR2004
                told = str(body)[:_TOLD]
                raise TriggerFailed(
                    f"trigger {name}: {http.method} {url} answered {status}: {told}"
                )
            return {key: _member(body, member, name) for key, member in http.returns.items()}
        if mapping.command is not None:
            return self._run(name, [str(_fill(word, words)) for word in mapping.command])
        if mapping.wait is not None:
            self._wait(_moment(words.get(mapping.wait.until), name, mapping.wait.until))
            return {}
        raise HarnessError(
            f"trigger {name} is a magic value, to be used where the resource is made"
        )

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
        value = value.replace(f"{{{name}}}", str(word))
    return value


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
