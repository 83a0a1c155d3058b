"""Where the suite's data files are: ``spec/`` and ``fixtures/``."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).parents[1]


def _room(name: str) -> Path:
    """Return the folder ``name`` beside the package (a checkout) or inside it (a wheel)."""
    inside = _PACKAGE / name
    return inside if inside.is_dir() else _PACKAGE.parent / name


SPEC = _room("spec")
FIXTURES = _room("fixtures")
