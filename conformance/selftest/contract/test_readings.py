"""Readings and open points: what their lists refuse, and how complete they are."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from conformance.contract.areas import areas
from conformance.contract.catalogue import Source
from conformance.contract.outline import outline
from conformance.contract.readings import (
    OpenPoint,
    Reading,
    ReadingsError,
    load_readings,
    load_unspecified,
    readings,
    unspecified,
)
from conformance.proof.tolerance import load_variants

Write = Callable[..., Path]

READING = {
    "id": "M09",
    "area": "quotes",
    "question": "What a second execution is answered with",
    "readings": ["It succeeds.", "It is refused."],
    "accepted": "Either.",
    "source": {"section": "Endpoints / Quotes", "lines": [239, 471]},
}
OPEN_POINT = {
    "id": "N083",
    "area": "quotes",
    "open": "Values of purposeOfPayment",
    "never_assert": "any of them",
    "section": "Endpoints / Quotes",
    "lines": [383],
    "said_to_be_open": False,
}


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Return a function that writes entries to a file and returns its path."""

    def write(*entries: Any) -> Path:
        path = tmp_path / "list.yaml"
        path.write_text(yaml.safe_dump(list(entries)), encoding="utf-8")
        return path

    return write


def changed_entry(entry: dict[str, Any], **members: Any) -> dict[str, Any]:
    """Return an entry with other members; ``None`` leaves one out."""
    return {name: value for name, value in {**entry, **members}.items() if value is not None}


class TestReading:
    """An entry of a file becomes a value, or an error that names file and id."""

    def test_a_place_with_several_readings_is_read(self, write: Write) -> None:
        """All members of a reading are loaded, and its texts have no line breaks."""
        entry = changed_entry(READING, readings=["It\nsucceeds.", "It is refused."])

        assert load_readings(write(entry)) == {
            "M09": Reading(
                id="M09",
                area="quotes",
                question="What a second execution is answered with",
                readings=("It succeeds.", "It is refused."),
                accepted="Either.",
                source=Source("Endpoints / Quotes", (239, 471)),
            )
        }

    def test_what_is_not_shown_is_read(self, write: Write) -> None:
        """The section and the lines of an open point become its source."""
        assert load_unspecified(write(OPEN_POINT)) == {
            "N083": OpenPoint(
                id="N083",
                area="quotes",
                open="Values of purposeOfPayment",
                never_assert="any of them",
                source=Source("Endpoints / Quotes", (383,)),
                said_to_be_open=False,
            )
        }

    @pytest.mark.parametrize(
        ("entry", "message"),
        [
            pytest.param(
                changed_entry(READING, id="N09"), "of the form M", id="id of another kind"
            ),
            pytest.param(
                changed_entry(READING, question=None, qestion="What?"),
                "'qestion'; the nearest is 'question'",
                id="unknown key",
            ),
            pytest.param(
                changed_entry(READING, accepted=None), "'accepted' is missing", id="missing key"
            ),
            pytest.param(
                changed_entry(READING, area=""), "area is a text, got ''", id="empty text"
            ),
            pytest.param(
                changed_entry(READING, readings=["It is."]), "two texts or more", id="one reading"
            ),
            pytest.param(
                changed_entry(READING, readings="It is."), "two texts or more", id="no list"
            ),
            pytest.param(
                changed_entry(READING, readings=["It is.", 7]), "each of readings", id="no text"
            ),
            pytest.param(
                changed_entry(READING, source="Quotes"), "source is {section", id="no lines"
            ),
            pytest.param(
                changed_entry(READING, source={"section": "Quotes", "lines": []}),
                "lines is a list of numbers, got []",
                id="empty lines",
            ),
        ],
    )
    def test_a_wrong_reading_is_refused(
        self, write: Write, entry: dict[str, Any], message: str
    ) -> None:
        """The message names the file, the id and what to change."""
        with pytest.raises(ReadingsError, match=re.escape(message)) as error:
            load_readings(write(entry))

        assert str(error.value).startswith(f"list.yaml: {entry['id']}: ")

    @pytest.mark.parametrize(
        ("entry", "message"),
        [
            pytest.param(
                changed_entry(OPEN_POINT, id="M83"), "of the form N", id="id of another kind"
            ),
            pytest.param(
                changed_entry(OPEN_POINT, area=None), "'area' is missing", id="missing key"
            ),
            pytest.param(
                changed_entry(OPEN_POINT, said_to_be_open="no"), "true or false", id="no boolean"
            ),
            pytest.param(
                changed_entry(OPEN_POINT, lines=["383"]), "a list of numbers", id="no numbers"
            ),
        ],
    )
    def test_a_wrong_open_point_is_refused(
        self, write: Write, entry: dict[str, Any], message: str
    ) -> None:
        """The message names the file, the id and what to change."""
        with pytest.raises(ReadingsError, match=re.escape(message)) as error:
            load_unspecified(write(entry))

        assert str(error.value).startswith(f"list.yaml: {entry['id']}: ")

    def test_a_second_entry_of_one_id_is_refused(self, write: Write) -> None:
        """Two readings with one id raise ReadingsError."""
        with pytest.raises(ReadingsError, match=r"^list\.yaml: M09: the id stands twice"):
            load_readings(write(READING, READING))

    @pytest.mark.parametrize("entry", ["text", {"area": "quotes"}, {"id": 9}])
    def test_an_entry_without_an_id_is_refused(self, write: Write, entry: Any) -> None:
        """The message shows the entry itself, as there is no id to name."""
        with pytest.raises(ReadingsError, match=r"^list\.yaml: expected a mapping with an id, got"):
            load_readings(write(entry))

    def test_a_file_that_is_no_list_is_refused(self, tmp_path: Path) -> None:
        """A file that holds a mapping raises ReadingsError."""
        path = tmp_path / "list.yaml"
        path.write_text("id: M09\n", encoding="utf-8")

        with pytest.raises(ReadingsError, match=r"^list\.yaml: expected a list"):
            load_readings(path)


class TestShipped:
    """The shipped lists agree with the outline, the areas and the variants."""

    def test_readings_stand_in_the_order_of_their_ids(self) -> None:
        """Numbers count from 1 without a gap; a new reading goes to the end."""
        numbers = [int(identifier[1:]) for identifier in readings()]

        assert numbers == list(range(1, len(numbers) + 1))

    def test_every_entry_is_of_a_known_area(self) -> None:
        """The area of each reading and open point is in ``spec/areas.yaml``."""
        entries: list[Reading | OpenPoint] = [*readings().values(), *unspecified().values()]

        assert {entry.id: entry.area for entry in entries if entry.area not in areas()} == {}

    def test_every_reading_comes_from_lines_that_state_something(self) -> None:
        """Each line that an entry cites is a line of the outline."""
        stating = outline().section_of

        strays = {
            entry.id: sorted(set(entry.source.lines) - stating.keys())
            for entry in readings().values()
            if not stating.keys() >= set(entry.source.lines)
        }

        assert strays == {}

    def test_every_reading_stands_in_a_section_of_its_lines(self) -> None:
        """The section of a reading contains at least one of its lines."""
        section_of = outline().section_of

        strays = {
            entry.id: entry.source.section
            for entry in readings().values()
            if entry.source.section not in {section_of.get(number) for number in entry.source.lines}
        }

        assert strays == {}

    def test_no_question_is_asked_twice(self) -> None:
        """No two readings have the same question."""
        questions = [entry.question for entry in readings().values()]

        assert {text for text in questions if questions.count(text) > 1} == set()

    def test_every_point_of_a_variant_has_an_entry(self) -> None:
        """A variant needs a reading or an open point, which says that the choice is open."""
        known = readings().keys() | unspecified().keys()

        assert {
            variant.id: variant.point for variant in load_variants() if variant.point not in known
        } == {}
