"""The catalogue: what it refuses, and how complete the shipped one is."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from conformance.contract.catalogue import (
    BadEntry,
    Catalogue,
    CatalogueError,
    DuplicateId,
    Level,
    RetiredId,
    UnknownRequirement,
    catalogue,
    retired,
)
from conformance.contract.data import SPEC
from conformance.contract.document import document
from conformance.proof.mutation import load
from conformance.selftest.collection import annotated_requirements, requirement_tests

Write = Callable[..., Path]

ENTRY = {
    "id": "QUO-001",
    "level": "MUST",
    "statement": "A quote has an id.",
    "source": {"section": "Resources / Quote", "lines": [173]},
    "operations": ["createQuote"],
}
IDENTIFIER = re.compile(r"\b[A-Z]{3}-\d{3,4}\b")


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Return a function that writes entries to a file of a catalogue and returns its folder."""

    def write(*entries: Any, name: str = "quotes", area: str = "quotes") -> Path:
        path = tmp_path / area / f"{name}.yaml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(yaml.safe_dump(list(entries)), encoding="utf-8")
        return tmp_path

    return write


def changed_entry(**members: Any) -> dict[str, Any]:
    """Return an entry with other members; ``None`` leaves one out."""
    return {name: value for name, value in {**ENTRY, **members}.items() if value is not None}


class TestReading:
    """An entry of a file becomes a requirement, or an error that names file and id."""

    def test_an_entry_becomes_a_requirement(self, write: Write) -> None:
        """The area is the name of the folder, and the statement has no line breaks."""
        entry = changed_entry(
            statement="Line one\n  and two.",
            needs={"trigger": ["quote.expire"], "feature": ["sca"]},
        )

        requirement = Catalogue.load(write(entry))["QUO-001"]

        assert requirement.area == "quotes"
        assert requirement.level is Level.MUST
        assert requirement.statement == "Line one and two."
        assert str(requirement.source) == "Resources / Quote (line 173)"
        assert requirement.needs.triggers == ("quote.expire",)
        assert requirement.needs.features == ("sca",)
        assert requirement.untestable is None

    def test_a_second_entry_of_one_id_is_refused(self, write: Write) -> None:
        """The message names both files, the one to change first."""
        write(ENTRY, name="first")

        with pytest.raises(
            DuplicateId, match=r"^quotes/quotes\.yaml: QUO-001 .*quotes/first\.yaml"
        ):
            Catalogue.load(write(ENTRY))

    @pytest.mark.parametrize(
        ("entry", "message"),
        [
            pytest.param(changed_entry(id="QUO-1"), "three capitals", id="malformed id"),
            pytest.param(
                changed_entry(levl="MUST"), "'levl'; the nearest is 'level'", id="unknown key"
            ),
            pytest.param(changed_entry(level=None), "'level' is missing", id="missing key"),
            pytest.param(
                changed_entry(level="MUSTNT"),
                "'MUSTNT' is none of MUST, SHOULD, MAY",
                id="unknown level",
            ),
            pytest.param(changed_entry(level="TODO"), "level is not filled in yet", id="skeleton"),
            pytest.param(
                changed_entry(source={"section": "Resources / Quote", "lines": ["TODO"]}),
                "source is not filled in yet, it is still {",
                id="skeleton of a source",
            ),
            pytest.param(
                changed_entry(source="Quotes"), "source is {section", id="source without lines"
            ),
            pytest.param(
                changed_entry(source={"section": "Quotes", "lines": []}),
                "source is {section",
                id="source with no line",
            ),
            pytest.param(
                changed_entry(needs={"triggers": []}), "not 'triggers'", id="unknown need"
            ),
            pytest.param(
                changed_entry(needs={"trigger": ["quote.expired"]}),
                "unknown trigger 'quote.expired'; the nearest is 'quote.expire'",
                id="unknown trigger",
            ),
            pytest.param(
                changed_entry(needs={"feature": ["webhook"]}),
                "unknown feature 'webhook'; the nearest is 'webhooks'",
                id="unknown feature",
            ),
        ],
    )
    def test_a_wrong_entry_is_refused(
        self, write: Write, entry: dict[str, Any], message: str
    ) -> None:
        """The message names the file, the id and what to change."""
        with pytest.raises(BadEntry, match=re.escape(message)) as error:
            Catalogue.load(write(entry))

        assert str(error.value).startswith(f"quotes/quotes.yaml: {entry['id']}: ")

    @pytest.mark.parametrize("entry", ["text", {"level": "MUST"}, {"id": 7}])
    def test_an_entry_without_an_id_is_refused(self, write: Write, entry: Any) -> None:
        """The message shows the entry itself, as there is no id to name."""
        with pytest.raises(
            BadEntry, match=r"^quotes/quotes\.yaml: expected a mapping with an id, got"
        ):
            Catalogue.load(write(entry))

    def test_a_file_that_is_no_list_is_refused(self, tmp_path: Path) -> None:
        """A catalogue file is a list of entries."""
        (tmp_path / "quotes").mkdir()
        (tmp_path / "quotes" / "quotes.yaml").write_text("id: QUO-001\n", encoding="utf-8")

        with pytest.raises(BadEntry, match=r"^quotes/quotes\.yaml: expected a list"):
            Catalogue.load(tmp_path)

    @pytest.mark.parametrize(
        ("area", "message"),
        [
            ("customers", "QUO-001: it belongs to the area quotes, and stands in customers"),
            ("quote", "there is no area quote; the nearest is 'quotes'"),
        ],
    )
    def test_an_entry_in_another_area_is_refused(
        self, write: Write, area: str, message: str
    ) -> None:
        """The folder of an entry has to be the area of its prefix."""
        with pytest.raises(BadEntry, match=rf"^{area}/quotes\.yaml: {message}"):
            Catalogue.load(write(ENTRY, area=area))

    def test_an_unknown_operation_is_refused(self, write: Write) -> None:
        """The message names the nearest operation of the document."""
        loaded = Catalogue.load(write(changed_entry(operations=["createQuotes"])))

        with pytest.raises(BadEntry, match=r"^QUO-001: .*'createQuotes'; .*'createQuote'"):
            loaded.check_operations({"createQuote", "executeQuote"})

    def test_an_unknown_id_is_refused_with_its_user(self, write: Write) -> None:
        """The message names the file that uses the id, and the nearest id of the catalogue."""
        loaded = Catalogue.load(write(ENTRY))

        with pytest.raises(UnknownRequirement, match=r"test_x\.py names QUO-011.* is QUO-001"):
            loaded.require("QUO-011", "test_x.py")

    def test_an_id_that_was_taken_out_is_not_given_out_again(self, write: Write) -> None:
        """The message tells what became of the requirement that had the id."""
        with pytest.raises(RetiredId, match=r"quotes\.yaml: QUO-163 .*EXT-041.* a new number"):
            Catalogue.load(write(changed_entry(id="QUO-163")))

    def test_every_way_to_be_wrong_is_a_catalogue_error(self) -> None:
        """The errors of the catalogue have one base class, CatalogueError."""
        kinds = (BadEntry, DuplicateId, RetiredId, UnknownRequirement)
        assert all(issubclass(kind, CatalogueError) for kind in kinds)


class TestShipped:
    """The catalogue that the suite ships agrees with everything that refers to it."""

    def test_it_names_operations_of_the_document(self) -> None:
        """Each operation that an entry names exists in the OpenAPI document."""
        catalogue().check_operations(set(document().operations))

    def test_no_statement_stands_twice(self) -> None:
        """No two entries have the same statement."""
        statements = [entry.statement for entry in catalogue().values()]

        assert {text for text in statements if statements.count(text) > 1} == set()

    def test_every_id_is_named_by_a_test_or_untestable(self) -> None:
        """A requirement without a check is a hole in the suite."""
        tests = requirement_tests()

        missing = [
            entry.id
            for entry in catalogue().values()
            if entry.untestable is None and entry.id not in tests
        ]

        assert missing == []

    def test_no_test_names_what_cannot_be_tested(self) -> None:
        """An untestable requirement that a test names is a mistake in the entry or in the test."""
        tests = requirement_tests()

        assert [e.id for e in catalogue().values() if e.untestable and e.id in tests] == []

    def test_every_testable_requirement_has_a_mutant(self) -> None:
        """Without a mutant nobody has seen the check of a requirement fail."""
        broken = {mutant.requirement for mutant in load()}

        missing = [
            entry.id
            for entry in catalogue().values()
            if entry.untestable is None and entry.id not in broken
        ]

        assert missing == []

    def test_every_mutant_breaks_a_testable_requirement(self) -> None:
        """No check could notice a mutant of an unknown or untestable requirement."""
        known = {entry.id for entry in catalogue().values() if entry.untestable is None}

        assert [mutant.id for mutant in load() if mutant.requirement not in known] == []

    def test_every_annotation_of_the_document_is_in_it(self) -> None:
        """Each id in an ``x-requirement`` of the document is in the catalogue."""
        assert set(annotated_requirements(document().raw)) - set(catalogue()) == set()

    def test_the_judge_decides_under_ids_of_it(self) -> None:
        """Each id in ``x-judge`` of the document is in the catalogue."""
        assert set(document().raw["x-judge"].values()) - set(catalogue()) == set()

    @pytest.mark.parametrize(
        "path", sorted(SPEC.rglob("*.yaml")), ids=lambda path: str(path.relative_to(SPEC))
    )
    def test_no_file_mentions_an_unknown_id(self, path: Path) -> None:
        """Each id that a YAML file of ``spec/`` mentions is in the catalogue, or was."""
        known = {*catalogue(), *(retired() if path.name == "retired.yaml" else ())}

        assert {*IDENTIFIER.findall(path.read_text(encoding="utf-8"))} - known == set()
