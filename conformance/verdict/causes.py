"""Causes: failures that share one are one finding, with all the requirements that it breaks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from conformance.contract.difference import Difference
from conformance.verdict.decisions import Outcome
from conformance.verdict.plan import Conclusion


@dataclass(frozen=True, slots=True)
class Cause:
    """One cause, with the requirements that fail for it in the order of the catalogue.

    ``difference`` is what the failures have in common; a failure of which nothing is known as data
    is a cause of its own and has none.
    """

    difference: Difference | None
    requirements: tuple[str, ...]


def causes(conclusions: Iterable[Conclusion]) -> list[Cause]:
    """Group broken requirements by what their failures have in common, the largest group first.

    A requirement that fails in several ways stands in the group that explains most others, so that
    each stands in one and there are as few as can be.
    """
    ways: dict[str, list[Difference]] = {}
    for conclusion in conclusions:
        ways[conclusion.requirement.id] = [
            decision.facts.difference
            for decision in conclusion.decisions
            if decision.outcome is Outcome.FAILED and decision.facts.difference is not None
        ]
    found = [Cause(None, (name,)) for name, differences in ways.items() if not differences]
    left = {name: differences for name, differences in ways.items() if differences}
    while left:
        explained: dict[Difference, list[str]] = {}
        for name, differences in left.items():
            for difference in dict.fromkeys(differences):
                explained.setdefault(difference, []).append(name)
        # Of groups of one size the first one, so that the same run is always told alike.
        difference, names = max(explained.items(), key=lambda item: len(item[1]))
        found.append(Cause(difference, tuple(names)))
        left = {name: ways[name] for name in left if name not in set(names)}
    return sorted(found, key=lambda cause: -len(cause.requirements))
