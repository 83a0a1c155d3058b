"""The beneficiaries of fixtures/beneficiaries: valid, and each fault of theirs in one member."""

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
    "form_of",
    "beneficiary",
    "currencies",
    "shown",
    "accepted",
    "refused",
}
CHANGE_KEYS = {"requirement", "name", "member", "value", "names"}
OPEN = {WHOLE}
"""What the document does not ask for, as the beneficiary may stand elsewhere."""


def errors_of(currency: str, beneficiary: Mapping[str, Any] | None) -> list[str]:
    """Return what the document says against an account in a currency of a beneficiary."""
    further = load_profile("reference").bindings.further_accounts
    known = account_examples().get(f"{currency.lower()}_account")
    info = further[currency] if known is None else known.body["accountInfo"]
    body = {"currency": currency, "accountInfo": {**info, "beneficiary": beneficiary}}
    filled = Samples(1, "test_x").filled(body)
    return judge().request_errors(document().operations["createExternalAccount"], filled)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.stem))
def test_a_file_has_no_key_that_nobody_reads(path: Any) -> None:
    """A misspelled one would be left out in silence."""
    for row in yaml.safe_load(path.read_text(encoding="utf-8")):
        assert_read(row, EXAMPLE_KEYS, CHANGE_KEYS)


def test_examples_have_names_of_their_own() -> None:
    """One would hide the other."""
    rows = [row for path in FILES for row in yaml.safe_load(path.read_text(encoding="utf-8"))]

    assert len(EXAMPLES) == len(rows)


@pytest.mark.parametrize("found", EXAMPLES, ids=lambda found: str(found.name))
def test_an_example_and_what_is_accepted_beside_it_are_valid_by_the_document(
    found: BeneficiaryExample,
) -> None:
    """In every currency that it goes with."""
    for currency in found.taken:
        assert errors_of(currency, found.beneficiary) == [], currency
        assert errors_of(currency, found.twin) == [], currency
    for change in found.accepted:
        assert errors_of(found.currency, found.changed(change)) == [], change.name


@pytest.mark.parametrize("found", EXAMPLES, ids=lambda found: str(found.name))
def test_the_document_knows_what_is_refused(found: BeneficiaryExample) -> None:
    """But for what depends on who sends, of which a request says nothing."""
    unknown = [
        (currency, change.member, change.name)
        for currency, change in found.faults
        if not errors_of(currency, found.changed(change))
    ]

    assert found.sender == "BUSINESS" or [u for u in unknown if u[1] not in OPEN] == []


@pytest.mark.parametrize("found", EXAMPLES, ids=lambda found: str(found.name))
def test_changes_of_an_example_have_names_of_their_own(found: BeneficiaryExample) -> None:
    """They name the tests."""
    changes = Counter(
        (currency, change.member, change.name)
        for currency, change in (*((found.currency, c) for c in found.accepted), *found.faults)
    )

    assert [change for change, count in changes.items() if count > 1] == []


@pytest.mark.parametrize("found", EXAMPLES, ids=lambda found: str(found.name))
def test_the_rules_of_an_example_stand_in_the_catalogue(found: BeneficiaryExample) -> None:
    """A test that names another one could decide nothing."""
    named = {
        *found.taken.values(),
        *found.shown.values(),
        *(change.requirement for change in found.accepted),
        *(change.requirement for _, change in found.faults),
    }

    assert named - catalogue().keys() == set()
