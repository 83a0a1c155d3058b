"""Each requirement, scenario, mutant and conforming variant stands in the rooms of its area."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from conformance.contract.areas import AreaError, Areas, areas
from conformance.contract.data import SPEC
from conformance.contract.document import document
from conformance.proof import mutants, variants
from conformance.proof.mutation import load
from conformance.selftest.collection import requirements_by_test

AREA = {"name": "quotes", "title": "Quotes", "description": "Terms.", "prefixes": ["QUO"]}
SCENARIOS = "conformance/scenarios/"


def write_areas(folder: Path, *entries: object) -> Path:
    """Write a list of areas with these entries and return its path."""
    path = folder / "areas.yaml"
    path.write_text(yaml.safe_dump(list(entries)), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        pytest.param([{**AREA, "tag": "x"}], "expected {name, title", id="unknown key"),
        pytest.param(["quotes"], "expected {name, title", id="no mapping"),
        pytest.param([AREA, {**AREA, "prefixes": []}], "two areas quotes", id="name twice"),
        pytest.param(
            [AREA, {**AREA, "name": "others"}], "others and quotes both have QUO", id="prefix twice"
        ),
    ],
)
def test_a_wrong_list_is_refused(tmp_path: Path, entries: list[object], message: str) -> None:
    """AreaError is raised for an unknown key, no mapping, and a name or prefix used twice."""
    with pytest.raises(AreaError, match=message):
        Areas.load(write_areas(tmp_path, *entries))


def test_an_unknown_prefix_is_refused(tmp_path: Path) -> None:
    """An id whose prefix no area has raises AreaError, which says to add it in spec/areas.yaml."""
    loaded = Areas.load(write_areas(tmp_path, AREA))

    assert loaded.of("QUO-110").name == "quotes"
    with pytest.raises(AreaError, match=r"^TRX-001: no area has the prefix TRX; add it in spec"):
        loaded.of("TRX-001")


def test_every_layer_has_a_room_for_each_area() -> None:
    """The catalogue, the scenarios, the mutants and the variants are divided by the one list."""
    names = set(areas())
    shared = {"kit"}

    assert _folders(SPEC / "requirements") == names
    assert _folders(SPEC.parent / SCENARIOS) == names | shared
    assert _folders(Path(mutants.__path__[0])) == names
    assert _folders(Path(variants.__path__[0])) == names


def _folders(place: Path) -> set[str]:
    return {path.name for path in place.iterdir() if path.is_dir() and "__" not in path.name}


def test_operations_are_tagged_by_area() -> None:
    """Tools that show the document group its operations as the report groups its requirements."""
    titles = {area.title for area in areas().values()}

    tags = {tag for operation in document().operations.values() for tag in operation.raw["tags"]}

    assert tags <= titles


def test_every_mutant_stands_in_the_area_of_its_requirement() -> None:
    """The folder of a mutant's module is the area of the requirement that it breaks."""
    strays = [
        f"{mutant.id} in {mutant.module}"
        for mutant in load()
        if mutant.module.split(".")[3] != areas().of(mutant.requirement).name
    ]

    assert not strays


def test_every_scenario_stands_in_the_area_of_a_requirement_that_it_decides() -> None:
    """A scenario that decides requirements of several areas stands in one of theirs."""
    strays = [
        test
        for test, requirements in requirements_by_test().items()
        if test.startswith(SCENARIOS)
        and requirements
        and test.removeprefix(SCENARIOS).partition("/")[0]
        not in {areas().of(name).name for name in requirements}
    ]

    assert not strays
