"""What the files of ``spec/`` hold, kept as JSON: never anything but what they say now."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import pytest
import yaml

from conformance.contract import spec_files
from conformance.contract.data import SPEC
from conformance.contract.spec_files import contents_of, parsed

SOURCES = {"a.yaml": b"- id: one\n", "b.yaml": b"two: [3, null]\n"}
CONTENTS = {"a.yaml": [{"id": "one"}], "b.yaml": {"two": [3, None]}}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Where the contents are kept, in a folder that is not there yet."""
    return tmp_path / "cache" / "spec.json"


@pytest.fixture
def parsings(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """The texts that are parsed."""
    texts: list[bytes] = []
    parse = spec_files._parse

    def noting(text: bytes) -> object:
        texts.append(text)
        return parse(text)

    monkeypatch.setattr(spec_files, "_parse", noting)
    return texts


def test_what_is_kept_is_read_without_parsing(place: Path, parsings: list[bytes]) -> None:
    """The second reading gives what the files hold, and parses none of them."""
    first = contents_of(place, SOURCES)
    parsings.clear()

    assert contents_of(place, SOURCES) == first == CONTENTS
    assert parsings == []


@pytest.mark.parametrize(
    "sources",
    [
        {**SOURCES, "a.yaml": b"- id: other\n"},
        {"b.yaml": SOURCES["b.yaml"]},
        {**SOURCES, "c.yaml": b"new: 1\n"},
        {"c.yaml": SOURCES["a.yaml"], "b.yaml": SOURCES["b.yaml"]},
        # The same bytes, cut elsewhere.
        {"a.yaml": SOURCES["a.yaml"] + b"b", "b.yaml": SOURCES["b.yaml"][1:]},
    ],
    ids=["changed", "one less", "one more", "renamed", "cut elsewhere"],
)
def test_what_is_stale_is_read_anew(place: Path, sources: dict[str, bytes]) -> None:
    """A file that changed, came, went or was renamed leads to a new reading, which is kept."""
    contents_of(place, SOURCES)
    expected = {
        name: yaml.safe_load(text) for name, text in sources.items() if not text.endswith(b"\nb")
    }

    assert contents_of(place, sources) == expected
    assert json.loads(place.read_bytes().partition(b"\n")[2]) == expected


def damages(content: bytes) -> Iterator[bytes]:
    """Yield ways in which the file of what is kept can be broken."""
    head, _, body = content.partition(b"\n")
    yield b""
    yield content[:-1]
    yield content[: len(head)]
    yield head + b"\n" + body.replace(b"one", b"two")
    yield b"\xff" + content
    yield head + b"\n[]"
    yield body


@pytest.mark.parametrize("number", range(7))
def test_what_is_broken_is_read_anew(place: Path, number: int) -> None:
    """A part of the file, or one that somebody has changed, is not believed."""
    contents_of(place, SOURCES)
    place.write_bytes([*damages(place.read_bytes())][number])

    assert contents_of(place, SOURCES) == CONTENTS
    assert contents_of(place, SOURCES) == CONTENTS


def test_where_nothing_can_be_written_nothing_is_kept(
    tmp_path: Path, parsings: list[bytes]
) -> None:
    """A file stands where the folder would be, as root may write to folders that are read-only."""
    (tmp_path / "cache").write_bytes(b"")

    assert contents_of(tmp_path / "cache" / "spec.json", SOURCES) == CONTENTS
    assert contents_of(tmp_path / "cache" / "spec.json", SOURCES) == CONTENTS
    assert len(parsings) == 2 * len(SOURCES)
    assert [path.name for path in tmp_path.iterdir()] == ["cache"]


def test_a_place_that_cannot_be_replaced_is_left_as_it_is(place: Path) -> None:
    """Nothing is left beside it."""
    place.mkdir(parents=True)

    assert contents_of(place, SOURCES) == CONTENTS
    assert [path.name for path in place.parent.iterdir()] == ["spec.json"]


@pytest.mark.parametrize("text", [b"day: 2026-01-15\n", b"1: one\n"], ids=["date", "key"])
def test_what_json_cannot_say_is_not_kept(place: Path, text: bytes) -> None:
    """A date, and a key that is a number, would come back from JSON as texts."""
    contents = {"a.yaml": yaml.safe_load(text)}

    assert contents_of(place, {"a.yaml": text}) == contents
    assert contents_of(place, {"a.yaml": text}) == contents
    assert not place.exists()


def test_processes_may_write_at_once(place: Path) -> None:
    """Each writes the whole, so that a reader finds the one or the other."""
    with ProcessPoolExecutor(4, mp_context=get_context("spawn")) as pool:
        found = list(pool.map(partial(contents_of, place), [SOURCES] * 40))

    assert found == [CONTENTS] * 40
    assert [path.name for path in place.parent.iterdir()] == ["spec.json"]


def test_a_file_outside_of_the_folder_is_parsed(tmp_path: Path) -> None:
    """As those of tests are; a file of the folder is as it stands there."""
    path = tmp_path / "areas.yaml"
    path.write_bytes(b"- x\n")

    assert parsed(path) == ["x"]
    assert parsed(SPEC / "areas.yaml") == yaml.safe_load((SPEC / "areas.yaml").read_bytes())
