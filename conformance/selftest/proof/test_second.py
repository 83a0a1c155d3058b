"""The second implementation: its tables are whole, it runs, and its bugs show."""

import re
from dataclasses import fields
from pathlib import Path

import pytest
import yaml

from conformance.contract.outline import ledger
from conformance.platform.resource import merged
from conformance.profile.loading import read_profile
from conformance.proof import second
from conformance.proof.finds import FAILED, Find, read_finds, write_finds
from conformance.proof.personas import judged
from conformance.proof.planting import PROFILE, planted
from conformance.proof.second.bugs import BUGS
from conformance.proof.second.persona import PERSONAS, STRICT

FOLDER = Path(second.__file__).parent
LIMITS = "conformance/scenarios/protocol/test_limits.py"
REMITTANCE = f"{LIMITS}::test_remittance_information_is_at_most_80_characters"


def test_each_bug_of_the_table_is_planted_somewhere_and_no_other() -> None:
    """The names that the code asks for are those of the table."""
    code = "".join(path.read_text() for path in sorted(FOLDER.glob("*.py")))
    asked = set(re.findall(r'\.has\(\s*"([^"]+)"', code))
    events = {f"no-{status}-event" for status in ("processing", "completed", "failed")}

    assert asked | events == set(BUGS)


def test_each_bug_breaks_a_line_that_states_something() -> None:
    """The line of each bug is one of those from which entries of the catalogue come."""
    stated = {line.number for line in ledger()}

    assert {name for name, bug in BUGS.items() if bug.line not in stated} == set()


@pytest.mark.parametrize("name", PERSONAS)
def test_each_persona_has_a_valid_profile(name: str, tmp_path: Path) -> None:
    """The profile with the changes of a persona is one that a run takes."""
    content = merged(yaml.safe_load(PROFILE.read_text()), PERSONAS[name].profile)
    path = tmp_path / "profile.yaml"
    path.write_text(yaml.safe_dump(content))

    assert read_profile(path).implementation.name == "second implementation"


def test_changes_are_merged_into_nested_mappings() -> None:
    """Members that are not changed stay, and null is a value."""
    assert merged({"a": {"b": 1, "c": 2}, "d": 3}, {"a": {"c": None}}) == {
        "a": {"b": 1, "c": None},
        "d": 3,
    }


def test_a_persona_is_judged() -> None:
    """The suite decides about the strict persona without a false alarm of its own."""
    judgement = judged("strict", (REMITTANCE,))

    assert judgement.decided >= 3
    assert [alarm for alarm in judgement.alarms if alarm.verdict == "failed"] == []


def test_a_planted_bug_is_found_by_a_test_that_is_kept(tmp_path: Path) -> None:
    """A remittance information that is too long is found, and what no test meets is missed."""
    found, missed = planted(["long-remittance", "sweep-stays"], [REMITTANCE], tmp_path)
    place = tmp_path / "finds.csv"

    assert "LIM-002" in found.failed
    assert missed.failed == ()
    assert missed.find is None
    assert found.find == Find("long-remittance", FAILED, found.test)
    assert found.test.startswith(REMITTANCE)
    write_finds([found.find], place)
    assert read_finds(place) == [found.find]


def test_the_kept_finds_are_of_the_bugs_of_the_table() -> None:
    """No find is kept of a bug that is not planted any more, and none twice."""
    bugs = [find.bug for find in read_finds()]

    assert set(bugs) <= set(BUGS)
    assert len(set(bugs)) == len(bugs)


def test_each_choice_is_made_otherwise_by_a_persona() -> None:
    """No choice has but its default."""
    alike = {
        field.name
        for field in fields(STRICT)
        if all(getattr(one, field.name) == getattr(STRICT, field.name) for one in PERSONAS.values())
    }

    assert alike == set()
