"""Keys of the files of fixtures: a misspelled key would be left out without a message."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def assert_read(row: Mapping[str, Any], row_keys: set[str], change_keys: set[str]) -> None:
    """Assert that the suite reads every key of an example and of its changes."""
    assert row.keys() - row_keys == set()
    for change in (*row.get("accepted", ()), *row.get("refused", ())):
        assert change.keys() - change_keys == set(), change["name"]
