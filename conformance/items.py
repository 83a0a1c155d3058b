"""What a collected test says of itself: its requirements, its address, its labels."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.contract.areas import areas
from conformance.contract.catalogue import Level, catalogue

_PACKAGE = Path(__file__).parent
_LEVELS = list(Level)
_SEVERITIES = {Level.MUST: "critical", Level.SHOULD: "normal", Level.MAY: "minor"}
"""What Allure calls the levels of the specification."""


def requirements_named_by(item: pytest.Item) -> list[str]:
    """Return the ids that the ``requirement`` markers of a test name, each once."""
    return list(dict.fromkeys(i for mark in item.iter_markers("requirement") for i in mark.args))


def address(item: pytest.Item) -> str:
    """Return the argument by which ``pytest --pyargs`` finds a test from any folder.

    A node id is relative to the root that pytest chose, and may lack even the name of the file.
    """
    file = item.path.with_suffix("")
    if not file.is_relative_to(_PACKAGE):
        return f"{item.path}{within_file(item)}"
    return ".".join((_PACKAGE.name, *file.relative_to(_PACKAGE).parts)) + within_file(item)


def within_file(item: pytest.Item) -> str:
    """Return the end of a node id that leads to the test within its file: ``::test_x[a/b]``."""
    module = item.getparent(pytest.Module)
    return item.nodeid.removeprefix(module.nodeid if module else "")


def label(item: pytest.Item, *, allure: bool) -> None:
    """Give JUnit and Allure the ids, areas, sections and levels of what a test decides.

    An area is an epic, a section of the specification a feature, and the strongest level the
    severity.
    """
    found = [catalogue()[identifier] for identifier in requirements_named_by(item)]
    strongest = min((_LEVELS.index(requirement.level) for requirement in found), default=None)
    if strongest is not None and allure:
        severity = _SEVERITIES[_LEVELS[strongest]]
        item.add_marker(pytest.mark.allure_label(severity, label_type="severity"))
    for requirement in found:
        labels = [
            ("requirement", requirement.id),
            ("epic", areas()[requirement.area].title),
            ("feature", requirement.source.section),
        ]
        for kind, value in labels:
            if (kind, value) not in item.user_properties:
                item.user_properties.append((kind, value))
                if allure:
                    name = "tag" if kind == "requirement" else kind
                    item.add_marker(pytest.mark.allure_label(value, label_type=name))
