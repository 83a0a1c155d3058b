"""The accounts of fixtures/accounts: valid, and each fault of theirs in one member alone."""

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


def errors_of(found: AccountExample, change: Change | None = None) -> list[str]:
    """Return what the document says against a body that creates an account."""
    body = dict(found.body) if change is None else change.applied(dict(found.body))
    filled = Samples(1, "test_x").filled(body)
    return judge().request_errors(document().operations["createExternalAccount"], filled)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.stem))
def test_a_file_has_no_key_that_nobody_reads(path: Any) -> None:
    """A misspelled one would be left out in silence."""
    for row in yaml.safe_load(path.read_text(encoding="utf-8")):
        assert_read(row, EXAMPLE_KEYS, CHANGE_KEYS)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.stem))
def test_a_file_holds_one_account_type(path: Any) -> None:
    """And is named as it."""
    rows = yaml.safe_load(path.read_text(encoding="utf-8"))

    assert {row["accountInfo"]["accountType"] for row in rows} == {path.stem.upper()}
    assert len({row["name"] for row in rows}) == len(rows)


@pytest.mark.parametrize("found", EXAMPLES, ids=lambda found: str(found.name))
def test_an_example_and_what_is_accepted_beside_it_are_valid_by_the_document(
    found: AccountExample,
) -> None:
    """A request with them is one that a target has to accept."""
    assert errors_of(found) == []
    for change in found.accepted:
        assert errors_of(found, change) == [], change.name


@pytest.mark.parametrize("found", EXAMPLES, ids=lambda found: str(found.name))
def test_the_document_knows_what_is_refused(found: AccountExample) -> None:
    """Each fault breaks the document, by which clients are made."""
    assert [change.name for change in found.refused if not errors_of(found, change)] == []


@pytest.mark.parametrize("found", EXAMPLES, ids=lambda found: str(found.name))
def test_changes_of_an_example_have_names_of_their_own(found: AccountExample) -> None:
    """They name the tests."""
    changes = Counter((change.member, change.name) for change in (*found.accepted, *found.refused))

    assert [change for change, count in changes.items() if count > 1] == []


@pytest.mark.parametrize("found", EXAMPLES, ids=lambda found: str(found.name))
def test_the_rules_of_an_example_stand_in_the_catalogue(found: AccountExample) -> None:
    """A test that names another one could decide nothing."""
    named = {
        found.requirement,
        *found.shown.values(),
        *(change.requirement for change in (*found.accepted, *found.refused)),
    }

    assert named - catalogue().keys() == set()


def test_digits_of_a_test_are_its_own() -> None:
    """Two accounts of one test differ as well."""
    samples = Samples(1, "test_x")
    body = dict(account_examples()["usd_account"].body)

    numbers = {samples.filled(body)["accountInfo"]["accountNumber"] for _ in range(100)}

    assert len(numbers) == 100
