"""What the suite and plain schemathesis find of the same mutants, as it is kept and told."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self

KEPT = Path(__file__).parents[2] / "reports" / "schemathesis.json"
"""What was found at the last measurement that was kept."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """What was found of one mutant.

    ``failures`` are those that schemathesis reports of it and not of the sound reference, each as
    ``kind of operation``. ``requests`` are those of all tests that name the requirement,
    ``requests_of_schemathesis`` those of one run of it.
    """

    mutant: str
    statement: str
    found: bool
    requests: int
    failures: tuple[str, ...]
    requests_of_schemathesis: int

    def __str__(self) -> str:
        return (
            f"{self.mutant}: {'found' if self.found else 'NOT FOUND'} (requests: {self.requests}); "
            f"by schemathesis (requests: {self.requests_of_schemathesis}): "
            f"{', '.join(self.failures) or 'not found'}"
        )


@dataclass(frozen=True, slots=True)
class Comparisons:
    """What was found of each mutant of a sample.

    ``schemathesis`` is its version, and ``command`` measures the same again.
    """

    schemathesis: str
    command: str
    mutants: tuple[Comparison, ...]

    @classmethod
    def read(cls, path: Path = KEPT) -> Self:
        """Return what is kept in a file.

        Raises:
            OSError: there is no such file.
        """
        content = json.loads(path.read_text(encoding="utf-8"))
        return cls(
            content["schemathesis"],
            content["command"],
            tuple(
                Comparison(**{**one, "failures": tuple(one["failures"])})
                for one in content["mutants"]
            ),
        )

    def write(self, path: Path) -> None:
        """Keep it in a file."""
        text = json.dumps(asdict(self), indent=1, ensure_ascii=False)
        path.write_text(text + "\n", encoding="utf-8")

    def __str__(self) -> str:
        by_suite = sum(one.found for one in self.mutants)
        alone = sum(bool(one.failures) for one in self.mutants)
        return (
            f"Of {len(self.mutants)} broken references, drawn by chance, the suite finds "
            f"{by_suite}, by tests that send {_total(one.requests for one in self.mutants)} "
            f"requests. Schemathesis {self.schemathesis} alone finds {alone}, with "
            f"{_total(one.requests_of_schemathesis for one in self.mutants)} requests from the "
            "same document."
        )


def _total(counts: Iterable[int]) -> str:
    return f"{sum(counts):,}"
