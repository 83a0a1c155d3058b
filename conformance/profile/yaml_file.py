"""Reads YAML files that people write, and that hold nothing but JSON values."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from conformance.text.legible import legible

MAX_FILE_BYTES = 1024 * 1024
MAX_DEPTH = 100
MAX_VALUES = 100_000
"""How many values a file may hold, those of an alias counted at each place."""

_TAG = "tag:yaml.org,2002:"
_SCALARS = frozenset(_TAG + kind for kind in ("str", "int", "float", "bool", "null"))
_COLLECTIONS = frozenset({f"{_TAG}map", f"{_TAG}seq"})
_TEXT, _MERGE = f"{_TAG}str", f"{_TAG}merge"
_GIVEN_UP = "exceeded maximum nesting depth"
"""What LibYAML says of a text that is nested deeper than 1,000 levels."""


class NotUsable(Exception):
    """A file holds something else than it should; the message goes on after the file's name."""


def read_yaml(path: Path) -> Any:
    """Return the value that a YAML file holds.

    Raises:
        NotUsable: it is no text, no YAML or too long, or it has a key twice or a value that JSON
            does not have; the message has the line.
        OSError: it cannot be read.
    """
    return read_yaml_with_lines(path)[0]


def read_yaml_with_lines(path: Path) -> tuple[Any, Callable[[Sequence[int | str]], int]]:
    """Return the value that a YAML file holds, and what tells the line of a place in it.

    A place is a sequence of keys and indices. Of one that there is not, the line of the innermost
    value around it is told; lines begin at 1.

    Raises:
        NotUsable, OSError: as of :func:`read_yaml`.
    """
    text = _read(path)
    try:
        _check_extent(text)
        loader = yaml.CSafeLoader(text)
        node = loader.get_single_node()
        if node is None:
            return None, lambda _: 1
        _Checker(loader).measure(node)
        return loader.construct_document(node), lambda place: _line_of(node, place)
    except yaml.YAMLError as error:
        raise NotUsable(f"is not valid YAML: {error}") from error


def places_in(path: Path) -> Callable[[Sequence[str | int]], str | None]:
    """Return a function that says in which line and column a key or value of a YAML file stands.

    It takes the keys and the indexes of lists that lead there, and returns None where they do not;
    what a merge brings in is not found. An index that leads into no list is passed over.

    Raises:
        NotUsable, OSError, yaml.YAMLError: as of :func:`read_yaml`, which has to have read it.
    """
    root = yaml.compose(_read(path), Loader=yaml.CSafeLoader)

    def place(keys: Sequence[str | int]) -> str | None:
        node, is_there = _nearest(root, keys)
        if not is_there or node is None or node.start_mark is None:
            return None
        return f"line {node.start_mark.line + 1}, column {node.start_mark.column + 1}"

    return place


def _line_of(root: yaml.Node, keys: Sequence[str | int]) -> int:
    node, _ = _nearest(root, keys)
    return 1 if node is None else int(node.start_mark.line) + 1


def _nearest(root: yaml.Node | None, keys: Sequence[str | int]) -> tuple[yaml.Node | None, bool]:
    """Return the key or the entry of a list at the end of a way, or the last that there is on it.

    The second value tells whether the whole way is there.
    """
    mark = node = root
    for key in keys:
        if isinstance(node, yaml.MappingNode):
            if isinstance(key, int):
                continue
            pair = next((pair for pair in node.value if pair[0].value == key), None)
            if pair is None:
                return mark, False
            mark, node = pair
        elif isinstance(node, yaml.SequenceNode) and isinstance(key, int) and key < len(node.value):
            mark = node = node.value[key]
        else:
            return mark, False
    return mark, True


def _read(path: Path) -> str:
    # Whoever opens a pipe waits for somebody to write.
    if path.exists() and not path.is_file():
        raise NotUsable("is no regular file")
    with path.open("rb") as file:
        content = file.read(MAX_FILE_BYTES + 1)
    if len(content) > MAX_FILE_BYTES:
        raise NotUsable(f"is longer than {MAX_FILE_BYTES} bytes")
    try:
        return content.decode()
    except UnicodeDecodeError:
        raise NotUsable("is not UTF-8 text") from None


def _check_extent(text: str) -> None:
    # The parser puts nodes together by recursion in C, which ends the process where it is deep.
    depth = 0
    try:
        for number, event in enumerate(yaml.parse(text, Loader=yaml.CSafeLoader)):
            if number > 2 * MAX_VALUES:
                raise _too_many(event)
            if isinstance(event, yaml.CollectionStartEvent):
                depth += 1
            elif isinstance(event, yaml.CollectionEndEvent):
                depth -= 1
            if depth > MAX_DEPTH:
                raise _too_deep(_line(event))
    except yaml.MarkedYAMLError as error:
        # The parser looks ahead of its events, so it may give up before one of them is too deep.
        if error.problem == _GIVEN_UP and error.problem_mark:
            raise _too_deep(f"line {error.problem_mark.line + 1}") from error
        raise


@dataclass(frozen=True, slots=True)
class _Extent:
    """How many values a node stands for, and how deep they are nested."""

    values: int = 1
    depth: int = 0


class _Checker:
    """Looks through the nodes of a file, each once."""

    def __init__(self, loader: yaml.CSafeLoader) -> None:
        self._loader = loader
        self._extents: dict[yaml.Node, _Extent | None] = {}

    def measure(self, node: yaml.Node) -> _Extent:
        """Return the extent of a node, what aliases stand for counted at each place.

        Raises:
            NotUsable: as of :func:`read_yaml`.
        """
        if node in self._extents:
            known = self._extents[node]
            if known is None:
                raise NotUsable(f"has in {_line(node)} what holds itself")
            return known
        self._extents[node] = None
        extents = [self.measure(member) for member in self._members(node)]
        extent = _Extent(
            1 + sum(one.values for one in extents),
            1 + max((one.depth for one in extents), default=0),
        )
        if extent.values > MAX_VALUES:
            raise _too_many(node)
        if extent.depth > MAX_DEPTH:
            raise _too_deep(_line(node))
        self._extents[node] = extent
        return extent

    def _members(self, node: yaml.Node) -> list[yaml.Node]:
        """Return the nodes that a node holds, if it is one that JSON has."""
        if isinstance(node, yaml.ScalarNode):
            self._check_scalar(node)
            return []
        if node.tag not in _COLLECTIONS:
            raise NotUsable(
                f"has what JSON does not know in {_line(node)}: {node.tag.removeprefix(_TAG)}"
            )
        if isinstance(node, yaml.MappingNode):
            _check_keys(node)
            return [member for pair in node.value for member in pair]
        return list(node.value)

    def _check_scalar(self, node: yaml.ScalarNode) -> None:
        """Refuse a value of a type that JSON does not have, and a number that is none."""
        if node.tag == _MERGE:
            return
        known = node.tag in _SCALARS
        if known:
            try:
                value = self._loader.construct_object(node)
                known = not isinstance(value, float) or math.isfinite(value)
            # What a tag calls a number need not be one, or may have thousands of digits.
            except (ValueError, LookupError):
                known = False
        if not known:
            raise NotUsable(
                f"has a value that JSON does not know in {_line(node)}: {_read_as(node)}"
            )


def _check_keys(node: yaml.MappingNode) -> None:
    """Refuse a key that is no text, or that stands twice; one that is merged in may."""
    first: dict[str, yaml.Node] = {}
    for key, _ in node.value:
        if key.tag == _MERGE:
            continue
        if key.tag != _TEXT or not isinstance(key, yaml.ScalarNode):
            raise NotUsable(f"has a key that is no text in {_line(key)}: {_read_as(key)}")
        if (earlier := first.setdefault(key.value, key)) is not key:
            raise NotUsable(
                f"has the key {key.value!r} twice: in {_line(earlier)} and in {_line(key)}"
            )


def _read_as(node: yaml.Node) -> str:
    kind = node.tag.removeprefix(_TAG)
    if not isinstance(node, yaml.ScalarNode):
        return kind
    return f"YAML reads {legible(node.value, 60)!r} as {kind}; put it in quotes if it is a text"


def _too_deep(place: str) -> NotUsable:
    return NotUsable(f"is nested deeper than {MAX_DEPTH} levels in {place}")


def _too_many(place: yaml.Node | yaml.Event) -> NotUsable:
    return NotUsable(f"holds more than {MAX_VALUES} values, counted to {_line(place)}")


def _line(place: yaml.Node | yaml.Event) -> str:
    return f"line {place.start_mark.line + 1}" if place.start_mark else "an unknown line"
