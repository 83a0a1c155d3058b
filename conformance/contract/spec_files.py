"""Reads the YAML files of ``spec/``, and keeps what they hold as JSON, which is read much faster.

What is kept lies beside Python's own bytecode of this module: whoever can write there can change
the program itself, so that it is trusted as the program is, and nobody else can reach it. It is
JSON, so that it cannot be anything but data. It counts only where the files of ``spec/`` are, byte
for byte, those that it was made from, and where it is whole; otherwise the files are parsed.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import json
import os
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from conformance.contract.data import SPEC

_FORM = b"1"
"""What is kept under another form is not read."""


def parsed(path: Path) -> Any:
    """Return the content of a YAML file; nobody may change it, as others get the same.

    Raises:
        OSError: the file cannot be read.
        yaml.YAMLError: it is no YAML.
    """
    if path.is_relative_to(SPEC):
        name = str(path.relative_to(SPEC))
        if name in _contents():
            return _contents()[name]
    return _parse(path.read_bytes())


@cache
def _contents() -> Mapping[str, Any]:
    """Return the content of each file by its path within ``spec/``."""
    place = Path(importlib.util.cache_from_source(__file__)).with_name("spec.json")
    files = sorted(SPEC.rglob("*.yaml"))
    return kept(place, {str(path.relative_to(SPEC)): path.read_bytes() for path in files})


def kept(place: Path, sources: Mapping[str, bytes]) -> Mapping[str, Any]:
    """Return what each source holds: as the file ``place`` has it, or parsed and kept there.

    What is no YAML is left out.
    """
    key = _digest(part for name, text in sources.items() for part in (name.encode(), text))
    with contextlib.suppress(OSError, ValueError):
        head, _, body = place.read_bytes().partition(b"\n")
        if head.decode("ascii") == f"{key} {_digest([body])}":
            known: dict[str, Any] = json.loads(body)
            return known
    contents = {}
    for name, text in sources.items():
        with contextlib.suppress(yaml.YAMLError, UnicodeDecodeError):
            contents[name] = _parse(text)
    # JSON knows no dates, and a key that is no text would come back as one.
    with contextlib.suppress(TypeError):
        body = json.dumps(contents, ensure_ascii=False).encode()
        if json.loads(body) == contents:
            _write(place, f"{key} {_digest([body])}\n".encode() + body)
    return contents


def _parse(text: bytes) -> Any:
    return yaml.load(text.decode(), Loader=yaml.CSafeLoader)


def _digest(parts: Iterable[bytes]) -> str:
    """Return a digest of parts that tells where each of them ends."""
    digest = hashlib.sha256(_FORM)
    for part in parts:
        digest.update(len(part).to_bytes(8, "big"))
        digest.update(part)
    return digest.hexdigest()


def _write(place: Path, content: bytes) -> None:
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
