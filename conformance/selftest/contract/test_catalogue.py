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
    UnknownRequirement,
    catalogue,
)
from conformance.contract.data import SPEC
from conformance.contract.document import document
from conformance.proof.mutation import load
from conformance.selftest.collection import annotated, named_by_suite

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
    """Write entries to a file of a catalogue and return its folder."""

    def write(*entries: Any, name: str = "quotes", area: str = "quotes") -> Path:
        path = tmp_path / area / f"{name}.yaml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(yaml.safe_dump(list(entries)), encoding="utf-8")
        return tmp_path

    return write


def changed(**members: Any) -> dict[str, Any]:
    """Return an entry with other members; ``None`` leaves one out."""
    return {name: value for name, value in {**ENTRY, **members}.items() if value is not None}


class TestReading:
    """What a file says becomes a requirement, or an error that names the place."""

    def test_an_entry_becomes_a_requirement(self, write: Write) -> None:
        """Its area is the folder, and the statement has no line breaks."""
        entry = changed(
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
        """Both files are named, the one to change first."""
        write(ENTRY, name="first")

        with pytest.raises(
            DuplicateId, match=r"^quotes/quotes\.yaml: QUO-001 .*quotes/first\.yaml"
        ):
            Catalogue.load(write(ENTRY))

    @pytest.mark.parametrize(
        ("entry", "message"),
        [
            pytest.param(changed(id="QUO-1"), "three capitals", id="malformed id"),
            pytest.param(changed(levl="MUST"), "'levl'; the nearest is 'level'", id="unknown key"),
            pytest.param(changed(level=None), "'level' is missing", id="missing key"),
            pytest.param(
                changed(level="MUSTNT"), "'MUSTNT' is none of MUST, SHOULD, MAY", id="unknown level"
            ),
            pytest.param(changed(level="TODO"), "level is not filled in yet", id="skeleton"),
            pytest.param(
                changed(source={"section": "Resources / Quote", "lines": ["TODO"]}),
                "source is not filled in yet, it is still {",
                id="skeleton of a source",
            ),
            pytest.param(changed(source="Quotes"), "source is {section", id="source without lines"),
            pytest.param(
                changed(source={"section": "Quotes", "lines": []}),
                "source is {section",
                id="source with no line",
            ),
            pytest.param(changed(needs={"triggers": []}), "not 'triggers'", id="unknown need"),
            pytest.param(
                changed(needs={"trigger": ["quote.expired"]}),
                "unknown trigger 'quote.expired'; the nearest is 'quote.expire'",
                id="unknown trigger",
            ),
            pytest.param(
                changed(needs={"feature": ["webhook"]}),
                "unknown feature 'webhook'; the nearest is 'webhooks'",
                id="unknown feature",
            ),
        ],
    )
    def test_a_wrong_entry_is_refused(
        self, write: Write, entry: dict[str, Any], message: str
    ) -> None:
        """The message names the file, the id and what to change."""
        with pytest.raises(BadEntry, match=re.escape(message)) as refused:
            Catalogue.load(write(entry))

        assert str(refused.value).startswith(f"quotes/quotes.yaml: {entry['id']}: ")

    @pytest.mark.parametrize("entry", ["text", {"level": "MUST"}, {"id": 7}])
    def test_an_entry_without_an_id_is_refused(self, write: Write, entry: Any) -> None:
        """There is no id to name, so the entry itself is shown."""
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
        """Whoever knows an id knows the folder that its entry stands in."""
        with pytest.raises(BadEntry, match=rf"^{area}/quotes\.yaml: {message}"):
            Catalogue.load(write(ENTRY, area=area))

    def test_an_unknown_operation_is_refused(self, write: Write) -> None:
        """The nearest operation of the document is named."""
        loaded = Catalogue.load(write(changed(operations=["createQuotes"])))

        with pytest.raises(BadEntry, match=r"^QUO-001: .*'createQuotes'; .*'createQuote'"):
            loaded.check_operations({"createQuote", "executeQuote"})

    def test_an_unknown_id_is_refused_with_its_user(self, write: Write) -> None:
        """The nearest id is named."""
        loaded = Catalogue.load(write(ENTRY))

        with pytest.raises(UnknownRequirement, match=r"test_x\.py names QUO-011.* is QUO-001"):
            loaded.require("QUO-011", "test_x.py")

    def test_every_way_to_be_wrong_is_a_catalogue_error(self) -> None:
        """Whoever reports them needs one name."""
        assert all(
            issubclass(kind, CatalogueError) for kind in (BadEntry, DuplicateId, UnknownRequirement)
        )


class TestShipped:
    """The catalogue that the suite ships, against everything that refers to it."""

    def test_it_names_operations_of_the_document(self) -> None:
        """Nothing is required of an operation that does not exist."""
        catalogue().check_operations(set(document().operations))

    def test_no_statement_stands_twice(self) -> None:
        """One fact has one id."""
        statements = [entry.statement for entry in catalogue().values()]

        assert {text for text in statements if statements.count(text) > 1} == set()

    def test_every_id_is_named_by_a_test_or_untestable(self) -> None:
        """A rule without a check is a hole in the suite."""
        named = named_by_suite()

        missing = [
            entry.id
            for entry in catalogue().values()
            if entry.untestable is None and entry.id not in named
        ]

        assert missing == []

    def test_no_test_names_what_cannot_be_tested(self) -> None:
        """Either the entry or the test is wrong."""
        named = named_by_suite()

        assert [e.id for e in catalogue().values() if e.untestable and e.id in named] == []

    def test_every_testable_requirement_has_a_mutant(self) -> None:
        """A check that nothing was seen to fail may check nothing."""
        broken = {mutant.requirement for mutant in load()}

        missing = [
            entry.id
            for entry in catalogue().values()
            if entry.untestable is None and entry.id not in broken
        ]

        assert missing == []

    def test_every_mutant_breaks_a_testable_requirement(self) -> None:
        """A mutant under an unknown id would be caught by nothing."""
        known = {entry.id for entry in catalogue().values() if entry.untestable is None}

        assert [mutant.id for mutant in load() if mutant.requirement not in known] == []

    def test_every_annotation_of_the_document_is_in_it(self) -> None:
        """What the judge decides is a requirement."""
        assert set(annotated(document().raw)) - set(catalogue()) == set()

    def test_the_judge_decides_under_ids_of_it(self) -> None:
        """The requirements that hold for every message are requirements too."""
        assert set(document().raw["x-judge"].values()) - set(catalogue()) == set()

    @pytest.mark.parametrize(
        "path", sorted(SPEC.rglob("*.yaml")), ids=lambda path: str(path.relative_to(SPEC))
    )
    def test_no_file_mentions_an_unknown_id(self, path: Path) -> None:
        """A reference to a requirement leads to one."""
        mentioned = set(IDENTIFIER.findall(path.read_text(encoding="utf-8")))

        assert mentioned - set(catalogue()) == set()
