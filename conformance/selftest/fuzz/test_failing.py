"""Seeds that failed are kept in a folder, and tried first the next time."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.fuzz.failing import keep_seeds, kept_seeds
from conformance.verdict.decisions import HarnessError


def test_seeds_are_kept_until_none_fails(tmp_path: Path) -> None:
    """What is kept is read back, and without a seed nothing is left."""
    place = tmp_path / "cases" / "test_x.json"

    assert kept_seeds(place) == []
    keep_seeds(place, [7, 1])
    assert kept_seeds(place) == [1, 7]
    keep_seeds(place, [])
    assert not place.exists()
    keep_seeds(place, [])


@pytest.mark.parametrize("content", ["", "{}", '["1"]', "[true]", "[1"])
def test_anything_else_is_told(tmp_path: Path, content: str) -> None:
    """A file that holds no seeds is named, with what to do about it."""
    place = tmp_path / "test_x.json"
    place.write_text(content, encoding="utf-8")

    with pytest.raises(HarnessError, match=r"test_x.json: expected a list of whole numbers"):
        kept_seeds(place)
