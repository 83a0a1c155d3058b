"""Writes files whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path


def put(path: Path, text: str) -> Path:
    """Write ``text`` to ``path``, so that a reader sees the old file or the new one.

    The folder is made where it does not exist. Returns ``path``.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        temporary.write_text(text, encoding="utf-8")
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    return path
