"""What the shell completes: ids of requirements, names of areas and features."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.contract.areas import areas
from conformance.contract.catalogue import catalogue, retired
from conformance.contract.vocabulary import features

Choice = tuple[str, str]
"""A word, and what it means, which some shells show beside it."""


def requirements(incomplete: str) -> Iterator[Choice]:
    """Yield the ids that begin in this way."""
    for name, entry in catalogue().items():
        if name.startswith(incomplete):
            yield name, " ".join(entry.statement.split())


def new_requirements(incomplete: str) -> Iterator[Choice]:
    """Yield for each prefix that begins in this way, or that is given, its next free id."""
    prefix = incomplete.partition("-")[0]
    for area in areas().values():
        for name in area.prefixes:
            if name.startswith(prefix) and (free := _next(name)).startswith(incomplete):
                yield free, area.title


def _next(prefix: str) -> str:
    taken = (*catalogue(), *retired())
    numbers = [int(name.partition("-")[2]) for name in taken if name.startswith(f"{prefix}-")]
    return f"{prefix}-{max(numbers, default=0) + 1:03}"


def area_names(incomplete: str) -> Iterator[Choice]:
    """Yield the areas whose names begin in this way."""
    return ((name, one.title) for name, one in areas().items() if name.startswith(incomplete))


def feature_names(incomplete: str) -> Iterator[Choice]:
    """Yield the features whose names begin in this way."""
    return ((name, one.meaning) for name, one in features().items() if name.startswith(incomplete))
