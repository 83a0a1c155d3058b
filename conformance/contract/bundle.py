"""The OpenAPI document as one file: its parts become components of their own names."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import yaml

from conformance.contract.document import Document, DocumentError, located

_ROOMS = ("schemas", "examples")
"""The folders whose parts become components; parts of others are put where they are used."""


def bundled(document: Document) -> dict[str, Any]:
    """Return the whole of ``document``, with references into its own components alone."""
    return _Bundle(document).whole()


def as_yaml(bundle: dict[str, Any]) -> str:
    """Return a bundle as it is written to a YAML file."""
    return yaml.dump(bundle, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)


def as_json(bundle: dict[str, Any]) -> str:
    """Return a bundle as it is written to a JSON file."""
    return json.dumps(bundle, indent=2, ensure_ascii=False) + "\n"


class _Bundle:
    """The bundle of one document in the making."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._places: dict[tuple[str, str], tuple[Path, str]] = {}
        self._components: dict[tuple[str, str], Any] = {}

    def whole(self) -> dict[str, Any]:
        entry = self._document.entry
        whole: dict[str, Any] = self._moved(self._document.part("", entry), entry)
        components = whole.setdefault("components", {})
        # In an order that does not depend on where each was met first.
        for room, name in sorted(self._components):
            components.setdefault(room, {})[name] = self._components[room, name]
        return whole

    def _moved(self, node: Any, file: Path) -> Any:
        """Return a part of ``file`` as it stands in the bundle."""
        if isinstance(node, list):
            return [self._moved(member, file) for member in node]
        if not isinstance(node, dict):
            return node
        inner = {key: self._moved(value, file) for key, value in node.items()}
        reference = node.get("$ref")
        if not isinstance(reference, str):
            return inner
        path, pointer = located(reference, file)
        if path == self._document.entry:
            return {**inner, "$ref": f"#{pointer}"}
        room = path.relative_to(self._document.entry.parent).parts[0]
        if room in _ROOMS:
            return {**inner, "$ref": self._component(room, reference, file)}
        del inner["$ref"]
        return {**self._moved(self._document.part(reference, file), path), **inner}

    def _component(self, room: str, reference: str, file: Path) -> str:
        """Return the reference to a part as a component, which it becomes."""
        place = path, pointer = located(reference, file)
        key = room, _name(path, pointer)
        taken = self._places.setdefault(key, place)
        if taken != place:
            raise DocumentError(f"{reference} in {file.name}: {key[1]} is {taken[0].name} already")
        if key not in self._components:
            self._components[key] = None
            self._components[key] = self._moved(self._document.part(reference, file), path)
        return f"#/components/{room}/{key[1]}"


class _Dumper(yaml.CSafeDumper):
    """Writes everything out in full."""

    def ignore_aliases(self, data: Any) -> bool:
        """Anchors are YAML's, and nobody expects them in a document of OpenAPI."""
        del data
        return True


def _text(dumper: yaml.CSafeDumper, text: str) -> yaml.ScalarNode:
    # What YAML 1.1 reads as a text may be a number in YAML 1.2, such as 0189.
    style = "'" if re.match(r"[-+.]?\d", text) else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)


def _name(path: Path, pointer: str) -> str:
    """Return the name of a component: words of the file's name and of the pointer."""
    words = re.findall(r"[A-Za-z0-9]+", f"{path.stem}{pointer}")
    return "".join(word[0].upper() + word[1:] for word in words)
