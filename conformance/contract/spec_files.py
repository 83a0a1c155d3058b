"""Reads the YAML files of ``spec/``; what they hold is kept as JSON, which is read much faster."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from conformance.contract.data import SPEC
from conformance.contract.kept import digest, kept, place_beside


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
    return contents_of(place_beside(__file__, "spec.json"), _sources())


@cache
def spec_digest() -> str:
    """Return a digest of all files of ``spec/``, which changes with any of them."""
    return _digest_of(_sources())


@cache
def _sources() -> Mapping[str, bytes]:
    files = sorted(SPEC.rglob("*.yaml"))
    return {str(path.relative_to(SPEC)): path.read_bytes() for path in files}


def contents_of(place: Path, sources: Mapping[str, bytes]) -> Mapping[str, Any]:
    """Return what each source holds: as the file ``place`` has it, or parsed and kept there.

    What is no YAML is left out.
    """

    def make() -> dict[str, Any]:
        contents = {}
        for name, text in sources.items():
            with contextlib.suppress(yaml.YAMLError, UnicodeDecodeError):
                contents[name] = _parse(text)
        return contents

    contents: Mapping[str, Any] = kept(place, _digest_of(sources), make)
    return contents


def _digest_of(sources: Mapping[str, bytes]) -> str:
    return digest(part for name, text in sources.items() for part in (name.encode(), text))


def _parse(text: bytes) -> Any:
    return yaml.load(text.decode(), Loader=yaml.CSafeLoader)
