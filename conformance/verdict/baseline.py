"""The baseline of a target: failures that are known, each until a date."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from enum import StrEnum

from conformance.verdict.plan import Conclusion, RequirementVerdict


class EntryState(StrEnum):
    """What a run makes of an entry of the baseline."""

    KNOWN = "known"
    STALE = "stale"
    EXPIRED = "expired"
    OPEN = "open"


_BROKEN = frozenset({RequirementVerdict.FAILED, RequirementVerdict.WARNED})
OUTDATED = frozenset({EntryState.STALE, EntryState.EXPIRED})
"""The states of an entry that has to be changed or taken out."""


@dataclass(frozen=True, slots=True)
class KnownFailure:
    """A requirement that is known to be broken, until the end of the day ``expires``.

    ``line`` is where the entry begins in its file.
    """

    id: str
    reason: str
    expires: date
    line: int


@dataclass(frozen=True, slots=True)
class Baseline:
    """Known failures, and the file that they stand in."""

    file: str
    entries: tuple[KnownFailure, ...]


def states_of(
    entries: Iterable[KnownFailure], conclusions: Iterable[Conclusion], today: date
) -> dict[str, EntryState]:
    """Return what the run makes of each entry, by its id.

    A failure is known as long as the entry has not expired. An entry is stale where the requirement
    passed, and open where it was not decided, or not by the tests that name it.
    """
    found: Mapping[str, Conclusion] = {each.requirement.id: each for each in conclusions}
    return {entry.id: _state(entry, found.get(entry.id), today) for entry in entries}


def _state(entry: KnownFailure, conclusion: Conclusion | None, today: date) -> EntryState:
    if conclusion is None:
        return EntryState.OPEN
    if conclusion.verdict is RequirementVerdict.PASSED and conclusion.selected:
        return EntryState.STALE
    if entry.expires < today:
        return EntryState.EXPIRED
    return EntryState.KNOWN if conclusion.verdict in _BROKEN else EntryState.OPEN
