"""The closed vocabularies that catalogue, scenarios and profiles share: triggers and features."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from conformance.contract.areas import areas
from conformance.contract.data import SPEC
from conformance.contract.spec_files import parsed

_TRIGGER = re.compile(r"[a-z]+(_[a-z]+)*\.[a-z]+(_[a-z]+)*")
_FEATURE = re.compile(r"[a-z]+(_[a-z]+)*")
_PARAMETER = re.compile(r"[a-z][A-Za-z]*")


class VocabularyError(Exception):
    """A vocabulary cannot be used as it is written; the message names the entry and the key."""


@dataclass(frozen=True, slots=True)
class Trigger:
    """A cause in the world that no client can bring about, or a request that is not shown.

    ``parameters`` are the names of what is known when it is caused, ``results`` of what it may
    tell, and ``secrets`` of those results that are credentials. ``request`` says that it is a
    request of a client, of which the specification does not show where it is sent. ``example`` is
    a mapping as in a profile.
    """

    name: str
    area: str
    meaning: str
    example: Mapping[str, Any]
    parameters: tuple[str, ...] = ()
    results: tuple[str, ...] = ()
    secrets: tuple[str, ...] = ()
    request: bool = False

    @property
    def told(self) -> str:
        """What it means, and that it is a request where it is one."""
        return f"Request: {self.meaning}" if self.request else self.meaning


@dataclass(frozen=True, slots=True)
class Feature:
    """What an implementation may or may not offer; ``operations`` are there only with it."""

    name: str
    meaning: str
    operations: tuple[str, ...] = ()


def read_triggers(path: Path) -> dict[str, Trigger]:
    """Read the triggers by name: a mapping from each area to a list of them.

    Raises:
        VocabularyError: an entry is no trigger, stands in no area, or has the name of another.
    """
    content = parsed(path)
    if not isinstance(content, dict):
        raise VocabularyError(f"{path.name}: expected a mapping from areas to triggers")
    found: dict[str, Trigger] = {}
    for area, entries in content.items():
        if area not in areas():
            raise VocabularyError(
                f"{path.name}: there is no area {area!r}; {did_you_mean(area, areas())}"
            )
        for entry in _entries(entries, f"{path.name}: {area}"):
            trigger = _trigger(entry, area, path.name)
            if trigger.name in found:
                raise VocabularyError(f"{path.name}: there are two triggers {trigger.name}")
            found[trigger.name] = trigger
    return found


def read_features(path: Path) -> dict[str, Feature]:
    """Read the features by name: a list of them.

    Raises:
        VocabularyError: an entry is no feature, or has the name of another.
    """
    found: dict[str, Feature] = {}
    for entry in _entries(parsed(path), path.name):
        where = _checked(entry, _FEATURE, {"name", "meaning"}, {"operations"}, path.name)
        if entry["name"] in found:
            raise VocabularyError(f"{path.name}: there are two features {entry['name']}")
        operations = _names(entry.get("operations", []), "operations", where)
        found[entry["name"]] = Feature(
            entry["name"], _sentence(entry["meaning"], where), operations
        )
    return found


@cache
def triggers() -> Mapping[str, Trigger]:
    """Return the triggers that the suite ships, by name, area after area."""
    return read_triggers(SPEC / "triggers.yaml")


@cache
def features() -> Mapping[str, Feature]:
    """Return the features that the suite ships, by name."""
    return read_features(SPEC / "features.yaml")


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return the entry of ``known`` that is spelled most like ``word``, if any comes close."""
    close = difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)
    return close[0] if close else None


def did_you_mean(word: object, known: Collection[str]) -> str:
    """Return a hint for a message: the entry of ``known`` that is nearest to ``word``, or all."""
    hint = nearest(str(word), known)
    return f"the nearest is {hint!r}" if hint else f"known are {', '.join(sorted(known))}"


def _entries(content: Any, where: str) -> list[Any]:
    if not isinstance(content, list):
        raise VocabularyError(f"{where}: expected a list of entries, got {content!r}")
    return content


def _trigger(entry: Any, area: str, file: str) -> Trigger:
    optional = {"parameters", "results", "secrets", "request"}
    where = _checked(entry, _TRIGGER, {"name", "meaning", "example"}, optional, file)
    if not isinstance(entry["example"], dict):
        raise VocabularyError(f"{where}: example is a mapping as in a profile")
    if not isinstance(entry.get("request", False), bool):
        raise VocabularyError(f"{where}: request is true or false")
    names = {key: _names(entry.get(key, []), key, where) for key in sorted(optional - {"request"})}
    for secret in names["secrets"]:
        if secret not in names["results"]:
            raise VocabularyError(f"{where}: the secret {secret!r} is none of its results")
    return Trigger(
        name=entry["name"],
        area=area,
        meaning=_sentence(entry["meaning"], where),
        example=entry["example"],
        request=entry.get("request", False),
        **names,
    )


def _checked(
    entry: Any, name: re.Pattern[str], required: set[str], optional: set[str], file: str
) -> str:
    """Return where an entry stands, for messages, if it has a name and the right keys."""
    if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
        raise VocabularyError(f"{file}: expected a mapping with a name, got {entry!r}")
    where = f"{file}: {entry['name']}"
    if not name.fullmatch(entry["name"]):
        raise VocabularyError(f"{where}: a name looks like {name.pattern}")
    for key in entry.keys() - required - optional:
        raise VocabularyError(
            f"{where}: unknown key {key!r}; {did_you_mean(key, required | optional)}"
        )
    for key in sorted(required - entry.keys()):
        raise VocabularyError(f"{where}: the key {key!r} is missing")
    return where


def _names(names: Any, key: str, where: str) -> tuple[str, ...]:
    if not isinstance(names, list) or not all(
        isinstance(name, str) and _PARAMETER.fullmatch(name) for name in names
    ):
        raise VocabularyError(f"{where}: {key} is a list of names, got {names!r}")
    if len(set(names)) < len(names):
        raise VocabularyError(f"{where}: {key} has a name twice")
    return tuple(names)


def _sentence(meaning: Any, where: str) -> str:
    if not isinstance(meaning, str) or not meaning.strip().endswith("."):
        raise VocabularyError(f"{where}: meaning is one sentence or more, got {meaning!r}")
    return " ".join(meaning.split())


TRIGGERS: Mapping[str, tuple[str, ...]] = {one.name: one.parameters for one in triggers().values()}
"""The names of all triggers, each with those of its parameters."""

REQUESTS: frozenset[str] = frozenset(one.name for one in triggers().values() if one.request)
"""The triggers that are requests of a client: what is answered to them is looked at."""

SECRETS: Mapping[str, tuple[str, ...]] = {
    one.name: one.secrets for one in triggers().values() if one.secrets
}
"""The results of triggers that are credentials: they are written nowhere."""

FEATURES: frozenset[str] = frozenset(features())
"""What an implementation may or may not offer; ``regulated`` and ``unregulated`` are platforms."""
