"""What a run draws by chance where it cannot try everything: a seed, and a share of the tests."""

from __future__ import annotations

import time
from dataclasses import dataclass

import typer

from conformance.exchange.shard import Shard

TODAY = "today"
_SECONDS_OF_A_DAY = 86_400


@dataclass(frozen=True, slots=True)
class Draw:
    """The seed of what is drawn, and which tests go with it: one of ``shares`` parts of them.

    With one seed after the other, as from day to day, all parts come in turn.
    """

    seed: int
    shares: int

    @property
    def shard(self) -> Shard:
        """The tests that go with the seed."""
        return Shard(self.seed % self.shares + 1, self.shares)

    @classmethod
    def parse(cls, text: str, shares: int) -> Draw:
        """Read ``7``, or ``today``: another number each day.

        Raises:
            typer.BadParameter: it is neither.
        """
        if text == TODAY:
            return cls(int(time.time()) // _SECONDS_OF_A_DAY, shares)
        if not text.isdecimal():
            raise typer.BadParameter(f"--draw: expected a number or {TODAY}, not {text!r}")
        return cls(int(text), shares)

    def __str__(self) -> str:
        return f"seed {self.seed}, with share {self.shard} of the tests"
