"""The accounts of fixtures/accounts are valid, and each fault of theirs is in one member."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
import yaml

from conformance.contract.catalogue import catalogue
from conformance.contract.data import FIXTURES
from conformance.contract.document import document
from conformance.contract.judge import judge
from conformance.selftest.testdata.fixture_keys import assert_read
from conformance.testdata.accounts import AccountExample, account_examples
from conformance.testdata.examples import Change
from conformance.testdata.samples import Samples

FILES = sorted((FIXTURES / "accounts").glob("*.yaml"))
EXAMPLES = list(account_examples().values())
EXAMPLE_KEYS = {
    "name",
    "requirement",
    "naming",
    "currency",
    "sender",
    "country",
    "accountInfo",
    "shown",
    "accepted",
    "refused",
}
CHANGE_KEYS = {"requirement", "name", "member", "value", "names"}


def errors_of(example: AccountExample, change: Change | None = None) -> list[str]:
    """Return the errors of the document on a body that creates this external account."""
    body = dict(example.body) if change is None else change.applied(dict(example.body))
    filled = Samples(1, "test_x").filled(body)
    return judge().request_errors(document().operations["createExternalAccount"], filled)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.stem))
def test_a_file_has_no_key_that_nobody_reads(path: Any) -> None:
    """The suite reads every key of every example and change."""
    for row in yaml.safe_load(path.read_text(encoding="utf-8")):
        assert_read(row, EXAMPLE_KEYS, CHANGE_KEYS)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.stem))
def test_a_file_holds_one_account_type(path: Any) -> None:
    """A file has the name of its one account type, and no two examples of one name."""
    rows = yaml.safe_load(path.read_text(encoding="utf-8"))

    assert {row["accountInfo"]["accountType"] for row in rows} == {path.stem.upper()}
    assert len({row["name"] for row in rows}) == len(rows)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: str(example.name))
def test_an_example_and_what_is_accepted_beside_it_are_valid_by_the_document(
    example: AccountExample,
) -> None:
    """The document has no error for the example and its accepted changes."""
    assert errors_of(example) == []
    for change in example.accepted:
        assert errors_of(example, change) == [], change.name


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: str(example.name))
def test_the_document_knows_what_is_refused(example: AccountExample) -> None:
    """The document has an error for each refused change of the example."""
    assert [change.name for change in example.refused if not errors_of(example, change)] == []


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: str(example.name))
def test_changes_of_an_example_have_names_of_their_own(example: AccountExample) -> None:
    """Member and name of a change, which name its test, are unique."""
    changes = Counter(
        (change.member, change.name) for change in (*example.accepted, *example.refused)
    )

    assert [change for change, count in changes.items() if count > 1] == []


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: str(example.name))
def test_the_rules_of_an_example_stand_in_the_catalogue(example: AccountExample) -> None:
    """Each requirement that an example or a change names is in the catalogue."""
    requirements = {
        example.requirement,
        *example.shown.values(),
        *(change.requirement for change in (*example.accepted, *example.refused)),
    }

    assert requirements - catalogue().keys() == set()


def test_digits_of_a_test_are_its_own() -> None:
    """100 accounts of one test have 100 account numbers."""
    samples = Samples(1, "test_x")
    body = dict(account_examples()["usd_account"].body)

    numbers = {samples.filled(body)["accountInfo"]["accountNumber"] for _ in range(100)}

    assert len(numbers) == 100
