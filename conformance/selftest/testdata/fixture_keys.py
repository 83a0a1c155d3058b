"""Keys of the files of fixtures: a misspelled one would be left out in silence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def assert_read(row: Mapping[str, Any], known: set[str], of_changes: set[str]) -> None:
    """Assert that somebody reads every key of an example, and of each change of it."""
    assert row.keys() - known == set()
    for change in (*row.get("accepted", ()), *row.get("refused", ())):
        assert change.keys() - of_changes == set(), change["name"]
