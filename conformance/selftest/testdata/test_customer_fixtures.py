"""The customers of fixtures/customers are valid, and each fault of theirs is in one place."""

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
from conformance.selftest.collection import requirements_by_test
from conformance.selftest.testdata.fixture_keys import assert_read
from conformance.testdata.examples import ABSENT, Change, Example, example, examples, placed
from conformance.testdata.samples import Samples

FILES = sorted((FIXTURES / "customers").glob("*.yaml"))
EXAMPLES = list(examples().values())
UNSTATED = {"fullName", "identifier", "idType", "businessInfo.taxId"}
"""Members whose rules depend on other members, or on more than their form."""

EXAMPLE_KEYS = {"requirement", "alone", "customer", "accepted", "refused"}
CHANGE_KEYS = {"requirement", "name", "member", "value", "names", "update", "at"}


def label(part: Example | Change) -> str:
    """Return the name of an example, or the member and the name of a change."""
    return part.name if isinstance(part, Example) else f"{part.member}-{part.name}"


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the path and the value of each part of a JSON value that is no object."""
    if isinstance(value, dict):
        for name, member in value.items():
            yield from leaves(member, f"{path}.{name}" if path else name)
    else:
        yield path, value


def changes(customer_example: Example) -> list[Change]:
    """Return all changes of an example, accepted and refused."""
    return [*customer_example.accepted, *customer_example.refused]


def customer_with(customer_example: Example, change: Change) -> Json:
    """Return the customer of an example with a change."""
    return change.applied(dict(customer_example.customer))


def other_members(customer_example: Example, change: Change) -> set[str]:
    """Return the members outside its own that a change changes."""
    before, after = (
        dict(leaves(customer_example.customer)),
        dict(leaves(customer_with(customer_example, change))),
    )
    differing = {
        path
        for path in before.keys() | after.keys()
        if before.get(path, ABSENT) != after.get(path, ABSENT)
    }
    prefix = f"{change.member}."
    return {path for path in differing if path != change.member and not path.startswith(prefix)}


def errors_of(body: Any) -> list[str]:
    """Return the errors of the document on a body that creates a customer."""
    filled = Samples(1, "test_x").filled(body)
    return judge().request_errors(document().operations["createCustomer"], filled)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.stem))
def test_a_file_has_no_key_that_nobody_reads(path: Any) -> None:
    """The suite reads every key of the example and of its changes."""
    content = yaml.safe_load(path.read_text(encoding="utf-8"))

    assert_read(content, EXAMPLE_KEYS, CHANGE_KEYS)


@pytest.mark.parametrize("customer_example", EXAMPLES, ids=label)
class TestEveryExample:
    """Each example of a customer who is accepted."""

    def test_is_valid_by_the_document(self, customer_example: Example) -> None:
        """The document has no error for a request that creates the customer."""
        assert errors_of(customer_example.customer) == []

    def test_names_a_requirement(self, customer_example: Example) -> None:
        """A test of the creation of customers names the requirement of the example."""
        tests = [
            test
            for test, requirements in requirements_by_test().items()
            if customer_example.requirement in requirements
        ]

        assert customer_example.requirement in catalogue()
        assert any("test_customer_creation.py" in test for test in tests)

    def test_has_changes_of_different_names(self, customer_example: Example) -> None:
        """Member and name of a change, which name its test, are unique."""
        names = Counter(label(change) for change in changes(customer_example))

        assert [name for name, count in names.items() if count > 1] == []

    def test_differs_from_one_time_to_the_next(self, customer_example: Example) -> None:
        """Two customers of one example differ in their digits."""
        samples = Samples(1, "test_x")

        assert samples.filled(customer_example.customer) != samples.filled(
            customer_example.customer
        )


@pytest.mark.parametrize("customer_example", EXAMPLES, ids=label)
class TestEveryChange:
    """Each change of an example, accepted or refused."""

    def test_is_in_one_place(self, customer_example: Example) -> None:
        """A change leaves all other members as they are, so that nothing else is the reason."""
        assert {
            label(c): other_members(customer_example, c)
            for c in changes(customer_example)
            if other_members(customer_example, c)
        } == {}

    def test_is_one(self, customer_example: Example) -> None:
        """A change makes a customer that differs from the example."""
        assert [
            label(c)
            for c in changes(customer_example)
            if customer_with(customer_example, c) == customer_example.customer
        ] == []

    def test_is_about_a_member_of_the_example(self, customer_example: Example) -> None:
        """The member of a change exists in the example, as an unknown one might be refused."""
        labels = [
            label(change)
            for change in changes(customer_example)
            if placed(customer_example.customer, change.member, ABSENT) == customer_example.customer
        ]

        assert labels == []

    def test_names_requirements_that_are_known(self, customer_example: Example) -> None:
        """Requirements of a change are in the catalogue; ``update`` names one of updateCustomer."""
        requirements = {
            name for c in changes(customer_example) for name in (c.requirement, c.update) if name
        }
        updates = {change.update for change in changes(customer_example) if change.update}

        assert requirements - set(catalogue()) == set()
        assert customer_example.requirement not in requirements
        assert {n for n in updates if "updateCustomer" not in catalogue()[n].operations} == set()

    def test_names_the_member_that_errors_name(self, customer_example: Example) -> None:
        """The last name in the path of a member is among ``names`` of its change."""
        labels = [
            label(change)
            for change in changes(customer_example)
            if change.member.rpartition(".")[2] not in change.names
        ]

        assert labels == []

    def test_is_valid_by_the_document_where_it_is_accepted(self, customer_example: Example) -> None:
        """The document has no error for an accepted change."""
        assert [
            label(c)
            for c in customer_example.accepted
            if errors_of(customer_with(customer_example, c))
        ] == []

    def test_is_a_judgement_where_the_document_lets_it_through(
        self, customer_example: Example
    ) -> None:
        """A refused change without an error is a recommendation, or no schema can state it."""
        unexplained = [
            label(change)
            for change in customer_example.refused
            if not errors_of(customer_with(customer_example, change))
            and catalogue()[change.requirement].level is not Level.SHOULD
            and change.member not in UNSTATED
        ]

        assert unexplained == []


def test_no_example_is_changed_by_its_changes() -> None:
    """Applying changes leaves the examples as they were."""
    before = {
        customer_example.name: deepcopy(customer_example.customer) for customer_example in EXAMPLES
    }

    for customer_example in EXAMPLES:
        for change in changes(customer_example):
            customer_with(customer_example, change)

    assert {
        customer_example.name: customer_example.customer for customer_example in EXAMPLES
    } == before


def test_a_member_is_placed_without_touching_its_neighbours() -> None:
    """``placed`` sets or removes a nested member in a copy."""
    body = {"a": {"b": 1, "c": 2}, "d": 3}

    assert placed(body, "a.b", 7) == {"a": {"b": 7, "c": 2}, "d": 3}
    assert placed(body, "a.b", ABSENT) == {"a": {"c": 2}, "d": 3}
    assert body == {"a": {"b": 1, "c": 2}, "d": 3}


def test_an_example_is_found_by_its_file() -> None:
    """An example is found by the name of its file without the ending."""
    assert example("individual").requirement == "CUS-018"


def test_digits_are_filled_in_at_every_depth() -> None:
    """Each # becomes a digit, and other values stay."""
    filled = Samples(1, "test_x").filled({"a": ["x#", {"b": "##"}], "n": 7, "t": None})

    assert filled["a"][0][1:].isdigit()
    assert filled["a"][1]["b"].isdigit()
    assert (filled["n"], filled["t"]) == (7, None)
