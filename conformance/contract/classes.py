"""The conformance classes: what an implementation can claim, and what belongs to each."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from conformance.contract.areas import areas
from conformance.contract.catalogue import Requirement
from conformance.contract.data import SPEC
from conformance.contract.spec_files import parsed
from conformance.contract.vocabulary import FEATURES, did_you_mean

_NAME = re.compile(r"[a-z]+(_[a-z]+)*")
_TEXTS = ("name", "title", "text")
_LISTS = ("areas", "features", "options", "prefixes")
PLATFORMS = frozenset({"regulated", "unregulated"})
"""The two kinds of platform: features of which every implementation declares exactly one."""


class ClassError(Exception):
    """The list of classes cannot be used as it is written; the message names the class and key."""


@dataclass(frozen=True, slots=True)
class ConformanceClass:
    """One class: what belongs to it is said in ``spec/classes.yaml``, key by key."""

    name: str
    title: str
    text: str
    areas: tuple[str, ...] = ()
    features: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    prefixes: tuple[str, ...] = ()

    def covers(self, requirement: Requirement) -> bool:
        """Return whether a requirement without a prefix of its own class belongs to this one."""
        needed = set(requirement.needs.features)
        if not needed:
            return requirement.area in self.areas
        return bool(needed.intersection(self.features)) or needed.issubset(self.options)

    def is_claimed(self, declares: Callable[[str], bool]) -> bool:
        """Return whether a profile claims the class.

        Args:
            declares: tells of a feature whether the profile declares it.
        """
        return not self.features or any(map(declares, self.features))

    def lacks(self, declares: Callable[[str], bool]) -> tuple[str, ...]:
        """Return the features and options of the class that a profile does not declare."""
        offered = (*self.features, *self.options)
        return tuple(name for name in offered if name not in PLATFORMS and not declares(name))


class Classes(Mapping[str, ConformanceClass]):
    """All classes by name, in the order of the list."""

    def __init__(self, classes: Mapping[str, ConformanceClass]) -> None:
        self._classes = dict(classes)
        self._by_prefix = {prefix: one.name for one in classes.values() for prefix in one.prefixes}

    @classmethod
    def load(cls, path: Path) -> Classes:
        """Read the list.

        Raises:
            ClassError: an entry is no class, names what there is not, or has the name or a prefix
                of another.
        """
        content = parsed(path)
        if not isinstance(content, list):
            raise ClassError(f"{path.name}: expected a list of classes, got {content!r}")
        found: dict[str, ConformanceClass] = {}
        owners: dict[str, str] = {}
        for entry in content:
            one = _read(entry, path.name)
            if one.name in found:
                raise ClassError(f"{path.name}: there are two classes {one.name}")
            for prefix in one.prefixes:
                if prefix in owners:
                    raise ClassError(
                        f"{path.name}: {one.name} and {owners[prefix]} both have the prefix "
                        f"{prefix}"
                    )
                owners[prefix] = one.name
            found[one.name] = one
        return cls(found)

    def of(self, requirement: Requirement) -> tuple[str, ...]:
        """Return the names of the classes that a requirement belongs to."""
        owner = self._by_prefix.get(requirement.id.partition("-")[0])
        if owner is not None:
            return (owner,)
        return tuple(one.name for one in self._classes.values() if one.covers(requirement))

    def require(self, name: str) -> ConformanceClass:
        """Return a class by its name.

        Raises:
            ClassError: there is none; the message has the nearest name.
        """
        try:
            return self._classes[name]
        except KeyError:
            raise ClassError(
                f"there is no conformance class {name!r}; {did_you_mean(name, self._classes)}"
            ) from None

    def __getitem__(self, name: str) -> ConformanceClass:
        return self._classes[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._classes)

    def __len__(self) -> int:
        return len(self._classes)


@cache
def classes() -> Classes:
    """Return the classes that the suite ships."""
    return Classes.load(SPEC / "classes.yaml")


def _read(entry: Any, file: str) -> ConformanceClass:
    if not isinstance(entry, dict) or not isinstance(entry.get("name"), str):
        raise ClassError(f"{file}: expected a mapping with a name, got {entry!r}")
    where = f"{file}: {entry['name']}"
    if not _NAME.fullmatch(entry["name"]):
        raise ClassError(f"{where}: a name looks like {_NAME.pattern}")
    known = (*_TEXTS, *_LISTS)
    for key in entry.keys() - set(known):
        raise ClassError(f"{where}: unknown key {key!r}; {did_you_mean(key, known)}")
    for key in _TEXTS:
        if not isinstance(entry.get(key), str) or not entry[key].strip():
            raise ClassError(f"{where}: {key} is a text, got {entry.get(key)!r}")
    prefixes = [prefix for area in areas().values() for prefix in area.prefixes]
    vocabularies: Mapping[str, Collection[str]] = {
        "areas": areas(),
        "features": FEATURES,
        "options": FEATURES,
        "prefixes": prefixes,
    }
    lists = {
        key: _names(entry.get(key, []), key, known, where) for key, known in vocabularies.items()
    }
    if not any(lists.values()):
        raise ClassError(f"{where}: nothing belongs to it; give it {', '.join(_LISTS)}")
    name, title, text = (" ".join(entry[key].split()) for key in _TEXTS)
    return ConformanceClass(name, title, text, *(lists[key] for key in _LISTS))


def _names(names: Any, key: str, known: Collection[str], where: str) -> tuple[str, ...]:
    if not isinstance(names, list):
        raise ClassError(f"{where}: {key} is a list of names, got {names!r}")
    for name in names:
        if name not in known:
            raise ClassError(
                f"{where}: unknown name {name!r} in {key}; {did_you_mean(name, known)}"
            )
    return tuple(names)
