"""The file of a baseline, and what is told of one that is wrong."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import jsonschema_rs
import pytest

from conformance.profile import baseline
from conformance.profile.baseline import BaselineError, BaselineFile, read_baseline
from conformance.verdict.baseline import KnownFailure

GOOD = """\
# What is known.
- id: QUO-031
  reason: ticket 7
  expires: "2027-01-31"

- id: QUO-083
  reason: ticket 8
  expires: "2027-02-28"
"""


def write_baseline(folder: Path, text: str) -> Path:
    """Write a baseline and return its path."""
    path = folder / "known.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_it_is_read(tmp_path: Path) -> None:
    """Each entry has its id, reason, day and line."""
    found = read_baseline(write_baseline(tmp_path, GOOD))

    assert found.entries == (
        KnownFailure("QUO-031", "ticket 7", date(2027, 1, 31), 2),
        KnownFailure("QUO-083", "ticket 8", date(2027, 2, 28), 6),
    )


@pytest.mark.parametrize("text", ["", "# nothing yet\n", "[]\n"])
def test_an_empty_one(tmp_path: Path, text: str) -> None:
    """A file without an entry is a baseline of nothing."""
    assert read_baseline(write_baseline(tmp_path, text)).entries == ()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("reason: ticket 8", "reasons: x", r":7: reasons: unknown key; the nearest is 'reason'"),
        ("  reason: ticket 8\n", "", r":6: reason: this key is required"),
        ('"2027-02-28"', '"2027-02-30"', r":8: expires: Input should be a valid date"),
        ('"2027-02-28"', "2027-02-28", r" has .* line 8: .* put it in quotes"),
        ("QUO-083", "QUO-31", r":6: id: String should match pattern"),
        ("QUO-083", "QUO-9999", r":6 names QUO-9999, which is not in"),
        ("QUO-083", "QUO-163", r":6 names QUO-163, .* taken out: decided by EXT-041"),
        ("QUO-083", "FAM-001", r":6: FAM-001 is never broken"),
        ("QUO-083", "QUO-031", r":6: QUO-031 stands already in line 2"),
        ("- id: QUO-031", "  id: QUO-031", r" is not valid YAML"),
    ],
    ids=[
        "key",
        "missing",
        "date",
        "no text",
        "form",
        "unknown",
        "retired",
        "untestable",
        "twice",
        "no YAML",
    ],
)
def test_what_is_wrong_is_told(tmp_path: Path, old: str, new: str, message: str) -> None:
    """The message names the file, the line and the key."""
    with pytest.raises(BaselineError, match=rf"known\.yaml{message}"):
        read_baseline(write_baseline(tmp_path, GOOD.replace(old, new)))


def test_no_list(tmp_path: Path) -> None:
    """A mapping is told what is expected in its place."""
    with pytest.raises(BaselineError, match=r"expected a list of entries"):
        read_baseline(write_baseline(tmp_path, "QUO-031: ticket 7\n"))


def test_no_file(tmp_path: Path) -> None:
    """A file that there is not is told by its name."""
    with pytest.raises(BaselineError, match=r"known\.yaml: No such file"):
        read_baseline(tmp_path / "known.yaml")


def test_committed_schema() -> None:
    """The published JSON Schema is that of the model, and takes a good baseline."""
    path = Path(baseline.__file__).with_name("baseline.schema.json")
    schema = json.loads(path.read_text(encoding="utf-8"))

    assert schema == BaselineFile.model_json_schema()
    jsonschema_rs.validate(
        schema, [{"id": "QUO-031", "reason": "ticket 7", "expires": "2027-01-31"}]
    )
