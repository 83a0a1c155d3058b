"""Keeps on the disk what takes long to find out and stays the same, as JSON.

What is kept lies beside Python's own bytecode: whoever can write there can change the program
itself, so that it is trusted as the program is, and nobody else can reach it. It is JSON, so that
it cannot be anything but data. It counts only where it is whole, and where it was made from what it
would be made from now; otherwise it is made anew.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import json
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

_FORM = b"1"
"""What is kept under another form is not read."""


def place_beside(module: str, name: str) -> Path:
    """Return the file ``name`` beside the bytecode of the module whose file is ``module``."""
    return Path(importlib.util.cache_from_source(module)).with_name(name)


def kept(place: Path, key: str, make: Callable[[], Any]) -> Any:
    """Return a JSON value: as the file ``place`` has it under ``key``, or made and kept there.

    Args:
        place: the file; where it cannot be written, the value is made each time.
        key: stands for all that the value is made from.
        make: returns the value. What JSON would change, such as a date, is not kept.
    """
    with contextlib.suppress(OSError, ValueError):
        head, _, body = place.read_bytes().partition(b"\n")
        if head.decode("ascii") == f"{key} {digest([body])}":
            return json.loads(body)
    value = make()
    body = json.dumps(value, default=str).encode()
    if json.loads(body) == value:
        write_whole(place, f"{key} {digest([body])}\n".encode() + body)
    return value


def digest(parts: Iterable[bytes]) -> str:
    """Return a digest of parts that tells where each of them ends."""
    found = hashlib.sha256(_FORM)
    for part in parts:
        found.update(len(part).to_bytes(8, "big"))
        found.update(part)
    return found.hexdigest()


def write_whole(place: Path, content: bytes) -> None:
    """Write a file at once, so that no other process finds a part of it; or not at all."""
    part = place.with_name(f"{place.name}.{os.getpid()}")
    with contextlib.suppress(OSError):
        place.parent.mkdir(exist_ok=True)
        try:
            with part.open("xb") as file:
                file.write(content)
            part.replace(place)
        except OSError:
            part.unlink(missing_ok=True)
