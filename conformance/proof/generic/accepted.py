"""The survivors that somebody has read: why each may survive.

An entry of ``accepted.yaml`` names a place of the reference, the digest of its source, and the
lines that the change takes out and puts in. So it expires when the place changes. Without ``open``
the mutant is equivalent: no client can see a difference. ``open`` names the entry of
``spec/unspecified.yaml`` or ``spec/readings.yaml`` that leaves the behaviour to implementations.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import yaml
from pydantic import BaseModel, ConfigDict, Field

from conformance.proof.generic.changes import Change

ACCEPTED = Path(__file__).with_name("accepted.yaml")
"""The list that the project keeps."""


class Accepted(BaseModel):
    """A survivor, or all those of one place, and why it may survive."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    place: str = Field(description="module:name or module:Class.name")
    source: str = Field(description="digest of the source of the place")
    change: str = Field(
        "", description="lines taken out (- …) and put in (+ …); empty: all changes"
    )
    open: str = Field("", description="the entry that leaves it to implementations")
    why: str = Field(min_length=1, description="why it may survive")

    def covers(self, change: Change) -> bool:
        """Return whether it speaks of a change, and of the source as it is."""
        return (self.place, self.source) == (
            change.place,
            change.source,
        ) and self.change.strip() in {"", change.lines}


@dataclass(frozen=True, slots=True)
class Acceptances:
    """All accepted survivors."""

    entries: tuple[Accepted, ...]

    def of(self, change: Change) -> Accepted | None:
        """Return the entry that covers a change, if there is one."""
        return next((one for one in self.entries if one.covers(change)), None)

    def expired(self, sources: dict[str, str]) -> list[Accepted]:
        """Return the entries whose place is gone or has another source; by place its digest."""
        return [one for one in self.entries if sources.get(one.place) != one.source]


def read_accepted(path: Path = ACCEPTED) -> Acceptances:
    """Return the accepted survivors.

    Raises:
        ValueError: an entry is not as it has to be.
    """
    content = yaml.safe_load(path.read_text("utf-8")) or []
    return Acceptances(tuple(Accepted.model_validate(entry) for entry in content))


def as_entry(change: Change) -> str:
    """Return the beginning of an entry, to be completed by its reason."""
    lines = "\n".join(f"    {line}" for line in change.lines.splitlines())
    # A digest may consist of digits alone, which would be read as a number.
    return f'- place: {change.place}\n  source: "{change.source}"\n  change: |-\n{lines}\n'
