"""The beneficiaries of fixtures/beneficiaries are valid, and each fault is in one member."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import pytest
import yaml

from conformance.contract.catalogue import catalogue
from conformance.contract.data import FIXTURES
from conformance.contract.document import document
from conformance.contract.judge import judge
from conformance.run import load_profile
from conformance.selftest.testdata.fixture_keys import assert_read
from conformance.testdata.accounts import account_examples
from conformance.testdata.beneficiaries import (
    WHOLE,
    BeneficiaryExample,
    beneficiary_examples,
)
from conformance.testdata.samples import Samples

FILES = sorted((FIXTURES / "beneficiaries").glob("*.yaml"))
EXAMPLES = list(beneficiary_examples().values())
EXAMPLE_KEYS = {
    "name",
    "sender",
    "unregistered_sender",
    "form_of",
    "beneficiary",
    "currencies",
    "shown",
    "accepted",
    "refused",
}
CHANGE_KEYS = {"requirement", "name", "member", "value", "names"}
FURTHER = load_profile("reference").bindings.further_accounts
OPEN = {WHOLE, "nationality"}
"""The document does not require a beneficiary, which may stand elsewhere, and has no form for a
beneficiary's nationality, which the specification gives for customers alone."""


def errors_of(currency: str, beneficiary: Mapping[str, Any] | None) -> list[str]:
    """Return the errors of the document on an account in a currency with this beneficiary."""
    known = account_examples().get(f"{currency.lower()}_account")
    info = FURTHER[currency] if known is None else known.body["accountInfo"]
    body = {"currency": currency, "accountInfo": {**info, "beneficiary": beneficiary}}
    filled = Samples(1, "test_x").filled(body)
    return judge().request_errors(document().operations["createExternalAccount"], filled)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.stem))
def test_a_file_has_no_key_that_nobody_reads(path: Any) -> None:
    """The suite reads every key of every example and change."""
    for row in yaml.safe_load(path.read_text(encoding="utf-8")):
        assert_read(row, EXAMPLE_KEYS, CHANGE_KEYS)


def test_examples_have_names_of_their_own() -> None:
    """No two examples have the same name."""
    rows = [row for path in FILES for row in yaml.safe_load(path.read_text(encoding="utf-8"))]

    assert len(EXAMPLES) == len(rows)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: str(example.name))
def test_an_example_and_what_is_accepted_beside_it_are_valid_by_the_document(
    example: BeneficiaryExample,
) -> None:
    """The document has no error for the example in each of its currencies."""
    for currency in example.taken:
        assert errors_of(currency, example.beneficiary) == [], currency
        assert errors_of(currency, example.twin) == [], currency
    for change in example.accepted:
        assert errors_of(example.currency, example.changed(change)) == [], change.name


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: str(example.name))
def test_the_document_knows_what_is_refused(example: BeneficiaryExample) -> None:
    """The document has an error for each fault that does not depend on the sender."""
    unknown = [
        (currency, change.member, change.name)
        for currency, change in example.faults
        if not errors_of(currency, example.changed(change))
    ]

    assert example.sender == "BUSINESS" or [u for u in unknown if u[1] not in OPEN] == []


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: str(example.name))
def test_changes_of_an_example_have_names_of_their_own(example: BeneficiaryExample) -> None:
    """Currency, member and name of a change, which name its test, are unique."""
    changes = Counter(
        (currency, change.member, change.name)
        for currency, change in (
            *((example.currency, c) for c in example.accepted),
            *example.faults,
        )
    )

    assert [change for change, count in changes.items() if count > 1] == []


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: str(example.name))
def test_the_rules_of_an_example_stand_in_the_catalogue(example: BeneficiaryExample) -> None:
    """Each requirement that an example or a change names is in the catalogue."""
    requirements = {
        *example.taken.values(),
        *example.shown.values(),
        *(change.requirement for change in example.accepted),
        *(change.requirement for _, change in example.faults),
    }

    assert requirements - catalogue().keys() == set()
