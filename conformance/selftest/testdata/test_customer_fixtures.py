"""The customers of fixtures/customers: valid, and each fault of theirs in one place alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest
import yaml

from conformance.contract.catalogue import Level, catalogue
from conformance.contract.data import FIXTURES
from conformance.contract.document import document
from conformance.contract.judge import judge
from conformance.platform.resource import Json
from conformance.selftest.collection import collected
from conformance.selftest.testdata.fixture_keys import assert_read
from conformance.testdata.examples import ABSENT, Change, Example, example, examples, placed
from conformance.testdata.samples import Samples

FILES = sorted((FIXTURES / "customers").glob("*.yaml"))
EXAMPLES = list(examples().values())
UNSTATED = {"fullName", "identifier", "idType", "businessInfo.taxId"}
"""Members with rules that depend on others, or on more than their form."""

EXAMPLE_KEYS = {"requirement", "alone", "customer", "accepted", "refused"}
CHANGE_KEYS = {"requirement", "name", "member", "value", "names", "update", "at"}


def label(part: Example | Change) -> str:
    """Return the name of an example, or what a change of one is called."""
    return part.name if isinstance(part, Example) else f"{part.member}-{part.name}"


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the path and the value of everything in a JSON value that holds nothing itself."""
    if isinstance(value, dict):
        for name, member in value.items():
            yield from leaves(member, f"{path}.{name}" if path else name)
    else:
        yield path, value


def changes(found: Example) -> list[Change]:
    """Return all changes of an example."""
    return [*found.accepted, *found.refused]


def applied(found: Example, change: Change) -> Json:
    """Return an example as it is sent with a change."""
    return change.applied(dict(found.customer))


def elsewhere(found: Example, change: Change) -> set[str]:
    """Return the members besides its own that a change changes."""
    before, after = dict(leaves(found.customer)), dict(leaves(applied(found, change)))
    differing = {
        path
        for path in before.keys() | after.keys()
        if before.get(path, ABSENT) != after.get(path, ABSENT)
    }
    inside = f"{change.member}."
    return {path for path in differing if path != change.member and not path.startswith(inside)}


def errors_of(body: Any) -> list[str]:
    """Return what the document says against a body that creates a customer."""
    filled = Samples(1, "test_x").filled(body)
    return judge().request_errors(document().operations["createCustomer"], filled)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.stem))
def test_a_file_has_no_key_that_nobody_reads(path: Any) -> None:
    """A misspelled one would be left out in silence."""
    content = yaml.safe_load(path.read_text(encoding="utf-8"))

    assert_read(content, EXAMPLE_KEYS, CHANGE_KEYS)


@pytest.mark.parametrize("found", EXAMPLES, ids=label)
class TestEveryExample:
    """Of a customer who is accepted."""

    def test_is_valid_by_the_document(self, found: Example) -> None:
        """A request with it is one that a target has to accept."""
        assert errors_of(found.customer) == []

    def test_names_a_requirement(self, found: Example) -> None:
        """One that some test decides by it."""
        tests = [test for test, named in collected().items() if found.requirement in named]

        assert found.requirement in catalogue()
        assert any("test_customer_creation.py" in test for test in tests)

    def test_has_changes_of_different_names(self, found: Example) -> None:
        """By which the tests over them are known."""
        names = Counter(label(change) for change in changes(found))

        assert [name for name, count in names.items() if count > 1] == []

    def test_differs_from_one_time_to_the_next(self, found: Example) -> None:
        """Two people do not share an identification number."""
        samples = Samples(1, "test_x")

        assert samples.filled(found.customer) != samples.filled(found.customer)


@pytest.mark.parametrize("found", EXAMPLES, ids=label)
class TestEveryChange:
    """Of an example, whether it is refused or accepted."""

    def test_is_in_one_place(self, found: Example) -> None:
        """What else is sent is the same, so that nothing else can be the reason."""
        assert {label(c): elsewhere(found, c) for c in changes(found) if elsewhere(found, c)} == {}

    def test_is_one(self, found: Example) -> None:
        """An example that is sent as it is would be its own twin."""
        assert [label(c) for c in changes(found) if applied(found, c) == found.customer] == []

    def test_is_about_a_member_of_the_example(self, found: Example) -> None:
        """A misspelled one would be an unknown member, and refused for that."""
        strange = [
            label(change)
            for change in changes(found)
            if placed(found.customer, change.member, ABSENT) == found.customer
        ]

        assert strange == []

    def test_names_requirements_that_are_known(self, found: Example) -> None:
        """Of creation, and of the change of a customer."""
        named = {name for c in changes(found) for name in (c.requirement, c.update) if name}
        updates = {change.update for change in changes(found) if change.update}

        assert named - set(catalogue()) == set()
        assert found.requirement not in named
        assert {n for n in updates if "updateCustomer" not in catalogue()[n].operations} == set()

    def test_names_the_member_that_errors_name(self, found: Example) -> None:
        """The last name of its path is among them."""
        nameless = [
            label(change)
            for change in changes(found)
            if change.member.rpartition(".")[2] not in change.names
        ]

        assert nameless == []

    def test_is_valid_by_the_document_where_it_is_accepted(self, found: Example) -> None:
        """A target has to accept it."""
        assert [label(c) for c in found.accepted if errors_of(applied(found, c))] == []

    def test_is_a_judgement_where_the_document_lets_it_through(self, found: Example) -> None:
        """Or refused by a rule that no schema can state."""
        unexplained = [
            label(change)
            for change in found.refused
            if not errors_of(applied(found, change))
            and catalogue()[change.requirement].level is not Level.SHOULD
            and change.member not in UNSTATED
        ]

        assert unexplained == []


def test_no_example_is_changed_by_its_changes() -> None:
    """The next test begins with it."""
    before = {found.name: deepcopy(found.customer) for found in EXAMPLES}

    for found in EXAMPLES:
        for change in changes(found):
            applied(found, change)

    assert {found.name: found.customer for found in EXAMPLES} == before


def test_a_member_is_placed_without_touching_its_neighbours() -> None:
    """At any depth, and as a copy."""
    body = {"a": {"b": 1, "c": 2}, "d": 3}

    assert placed(body, "a.b", 7) == {"a": {"b": 7, "c": 2}, "d": 3}
    assert placed(body, "a.b", ABSENT) == {"a": {"c": 2}, "d": 3}
    assert body == {"a": {"b": 1, "c": 2}, "d": 3}


def test_an_example_is_found_by_its_file() -> None:
    """Under the name without the ending."""
    assert example("individual").requirement == "CUS-018"


def test_digits_are_filled_in_at_every_depth() -> None:
    """And nothing else is changed."""
    filled = Samples(1, "test_x").filled({"a": ["x#", {"b": "##"}], "n": 7, "t": None})

    assert filled["a"][0][1:].isdigit()
    assert filled["a"][1]["b"].isdigit()
    assert (filled["n"], filled["t"]) == (7, None)
