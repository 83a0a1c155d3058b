"""One of several parts of a run, each in a process or on a machine of its own."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

_FORM = re.compile(r"([1-9]\d{0,3})/([1-9]\d{0,3})")


@dataclass(frozen=True, slots=True)
class Shard:
    """Shard ``number`` of ``count``, counted from 1.

    Which tests it has follows from their names alone: not from their order, which may be random,
    nor from how long they took elsewhere. A test that is added moves no other one.
    """

    number: int
    count: int

    @classmethod
    def parse(cls, text: str) -> Shard:
        """Read ``2/3``.

        Raises:
            ValueError: it is no shard.
        """
        found = _FORM.fullmatch(text)
        if found is None or int(found[1]) > int(found[2]):
            raise ValueError(f"{text!r} is no shard; expected i/n with i from 1 to n, such as 2/3")
        return cls(int(found[1]), int(found[2]))

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"

    @property
    def prefix(self) -> str:
        """What the ids of its journal entries begin with: in a merged run they differ."""
        return f"shard{self.number}."

    def has(self, test: str) -> bool:
        """Return whether a test belongs to it, by its node id."""
        digest = hashlib.sha256(test.encode()).digest()
        return int.from_bytes(digest[:8], "big") % self.count == self.number - 1


WHOLE = Shard(1, 1)
"""The only one, which has all tests."""
