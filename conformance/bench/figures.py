"""The figures of a benchmark, and those that are kept to compare them with."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import quantiles
from typing import Any

KEPT = Path(__file__).parents[2] / "reports" / "benchmark.json"

_LEAST_NOISE = 0.05
"""By how much of itself a figure may be worse before that is more than chance."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured figure: the median of its samples, and how far most of them lie apart.

    Args:
        name: what was measured, in words.
        value: the median of the samples.
        low: a quarter of the samples are below it.
        high: a quarter of the samples are above it.
        samples: how many there are.
        unit: what the value counts; "times" is a ratio of two figures of one run.
        compared: whether it is the same on every machine, so that one that is worse than the kept
            one is a failure.
    """

    name: str
    value: float
    low: float
    high: float
    samples: int
    unit: str
    compared: bool

    @classmethod
    def of(
        cls, name: str, samples: Sequence[float], unit: str, *, compared: bool = False
    ) -> Figure:
        """Return the figure of some samples."""
        several = samples if len(samples) > 1 else [*samples] * 2
        low, middle, high = quantiles(several, n=4, method="inclusive")
        return cls(
            name,
            round(middle, 3),
            round(low, 3),
            round(high, 3),
            len(samples),
            unit,
            compared,
        )

    def is_worse_than(self, kept: Figure) -> bool:
        """Return whether it is larger than a kept one by more than their samples lie apart."""
        noise = max(kept.high - kept.low, self.high - self.low, _LEAST_NOISE * kept.value)
        return self.compared and self.value > kept.value + noise


def read_figures(path: Path = KEPT) -> dict[str, Figure]:
    """Return the kept figures by their names; none where none are kept."""
    if not path.exists():
        return {}
    content: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return {entry["name"]: Figure(**entry) for entry in content["figures"]}


def to_json(figures: Sequence[Figure]) -> dict[str, Any]:
    """Return figures with the machine on which they were measured, as JSON values."""
    machine = {
        "cores": len(os.sched_getaffinity(0)),
        "processor": platform.machine(),
        "python": platform.python_version(),
        "system": platform.system(),
    }
    return {"machine": machine, "figures": [asdict(figure) for figure in figures]}
