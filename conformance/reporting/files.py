"""Writes files whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path


def put(texts: Mapping[Path, str]) -> None:
    """Write each text to its path, so that a reader sees all the old files or all the new ones.

    Folders are made where they do not exist.

    Raises:
        OSError: a file cannot be written; then all are as they were.
    """
    temporary = {path: path.with_name(f".{path.name}.{os.getpid()}") for path in texts}
    try:
        for path, text in texts.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            temporary[path].write_text(text, encoding="utf-8")
        for path, written in temporary.items():
            written.replace(path)
    finally:
        for written in temporary.values():
            written.unlink(missing_ok=True)
