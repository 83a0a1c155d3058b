"""What is alike in all messages, what is not, and what is not compared."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.contract.document import document
from conformance.contract.sightings import MAX_RESOURCES, Sightings

ACCOUNT = {"id": "ExternalAccount:1", "currency": "MXN", "platformAccountId": "mine"}
QUOTE = {"id": "Quote:1", "exchangeRate": 17.25, "createdAt": "2026-01-15T09:30:00.25Z"}
CREATION: dict[str, Any] = {
    "currency": "MXN",
    "accountInfo": {"accountType": "MXN_ACCOUNT", "clabe": "0321800001"},
}


@pytest.fixture
def sightings() -> Sightings:
    """Return what has seen nothing yet."""
    return Sightings(document())


def failed(sightings: Sightings, body: Any, operation: str = "executeQuote") -> list[str]:
    """Return the requirements that a successful answer breaks."""
    found = sightings.answer(operation, 200, body)
    return [finding.requirement for finding in found if not finding.passed]


def test_the_first_message_decides_nothing(sightings: Sightings) -> None:
    """There is nothing to compare the first message with."""
    assert sightings.answer("createQuote", 201, QUOTE) == ()


def test_a_row_is_compared_with_an_answer(sightings: Sightings) -> None:
    """A row of a list that shows another value than an answer before it breaks the requirement."""
    sightings.answer("createExternalAccount", 201, ACCOUNT)

    assert failed(sightings, {"data": [ACCOUNT]}) == []
    assert failed(sightings, {"data": [{**ACCOUNT, "currency": "USD"}]}) == ["CNV-892"]


def test_what_nothing_changes_is_not_lost(sightings: Sightings) -> None:
    """A member that an operation has shown of an account is missing when it shows it again."""
    sightings.answer("getExternalAccount", 200, ACCOUNT)
    less = {**ACCOUNT, "platformAccountId": None}

    assert failed(sightings, less, "getExternalAccount") == ["CNV-897"]
    assert failed(sightings, less, "listCustomerExternalAccounts") == []
    shown_to_an_agent = sightings.answer("getExternalAccount", 200, less, by_platform=False)
    assert all(finding.passed for finding in shown_to_an_agent)


def test_what_an_agent_asks_for_is_for_its_own_customer(sightings: Sightings) -> None:
    """The platform gets an account of the customer it names, and an agent one of its own."""
    body = {"customerId": "Customer:2"}
    other = {**ACCOUNT, "id": f"{ACCOUNT['id']}-2"}

    of_agent = sightings.answer("createExternalAccount", 201, other, body, by_platform=False)
    of_platform = sightings.answer("createExternalAccount", 201, ACCOUNT, body)

    assert all(finding.passed for finding in of_agent)
    assert "EXT-823" in {finding.requirement for finding in of_platform if not finding.passed}


def test_a_lookup_is_compared_with_its_account(sightings: Sightings) -> None:
    """A lookup that lists another currency than the account's breaks the requirement."""
    sightings.answer("createExternalAccount", 201, ACCOUNT)

    lookup = {"accountId": ACCOUNT["id"], "supportedCurrencies": [{"currency": {"code": "USD"}}]}

    assert failed(sightings, lookup, "lookupExternalAccount") == ["LKP-021"]
    assert failed(sightings, lookup) == []


@pytest.mark.parametrize(("shown", "broken"), [("", ["CNV-891"]), (None, [])])
def test_an_account_of_a_customer_is_not_the_platforms(
    sightings: Sightings, shown: str | None, broken: list[str]
) -> None:
    """An empty customerId says that an internal account is the platform's."""
    sightings.answer("createInternalAccount", 201, {"id": "InternalAccount:1", "customerId": "me"})

    found = sightings.delivery({"data": {"id": "InternalAccount:1", "customerId": shown}})

    assert [finding.requirement for finding in found if not finding.passed] == broken


def test_a_webhook_is_compared_with_an_answer(sightings: Sightings) -> None:
    """What a webhook shows otherwise is told with both values."""
    sightings.answer("listTransactions", 200, [{"id": "Transaction:1", "quoteId": "Quote:1"}])

    shown = {"type": "X", "data": {"id": "Transaction:1", "quoteId": "Quote:2"}}
    [finding] = sightings.delivery(shown)

    assert not finding.passed
    assert finding.detail == "quoteId of Transaction:1 is 'Quote:2', and was 'Quote:1'"


@pytest.mark.parametrize(
    ("change", "broken"),
    [
        ({}, []),
        ({"type": "Y"}, ["EVT-263"]),
        ({"data": {"id": "Transaction:2"}}, ["EVT-264"]),
        ({"id": "Webhook:2", "type": "Y", "data": {"id": "Transaction:2"}}, []),
        ({"data": {}}, []),
    ],
)
def test_a_webhook_is_compared_with_those_of_its_id(
    sightings: Sightings, change: dict[str, Any], broken: list[str]
) -> None:
    """Webhooks of one id have one type and are about one resource."""
    event = {"id": "Webhook:1", "type": "X", "data": {"id": "Transaction:1"}}
    sightings.delivery(event)

    found = sightings.delivery({**event, **change})

    assert [finding.requirement for finding in found if not finding.passed] == broken


@pytest.mark.parametrize(
    "change",
    [
        {"createdAt": "2026-01-15T09:30:00Z"},
        {"createdAt": "2026-01-15T10:30:00.25+01:00"},
        {"exchangeRate": 17.250001},
        {"exchangeRate": None},
        {"createdAt": ""},
        {"exchangeRate": {"rate": 17.25}},
        {"exchangeRate": 10**9999},
    ],
)
def test_rounding_and_absence_are_no_difference(
    sightings: Sightings, change: dict[str, Any]
) -> None:
    """Another notation of the same value is alike, and so is a value that is not shown."""
    sightings.answer("createQuote", 201, QUOTE)

    assert failed(sightings, {**QUOTE, **change}) == []


@pytest.mark.parametrize(
    "change",
    [
        {"createdAt": "2026-01-15T09:30:02Z"},
        {"createdAt": "soon"},
        {"exchangeRate": 17.26},
        {"exchangeRate": "n/a"},
    ],
)
def test_another_value_is_a_difference(sightings: Sightings, change: dict[str, Any]) -> None:
    """A moment two seconds later and another rate are not the same."""
    sightings.answer("createQuote", 201, QUOTE)

    assert failed(sightings, {**QUOTE, **change}) == ["CNV-894"]


@pytest.mark.parametrize(
    ("clabe", "broken"),
    [("0321800001", []), ("03 2180 0001", []), ("******0001", []), ("0321800002", ["CNV-893"])],
)
def test_what_was_given_is_shown(sightings: Sightings, clabe: str, broken: list[str]) -> None:
    """Details of an account are shown as they were given, grouped or masked."""
    sightings.answer("createExternalAccount", 201, ACCOUNT, CREATION)

    info = {"accountType": "MXN_ACCOUNT", "clabe": clabe}
    assert failed(sightings, {"data": [{**ACCOUNT, "accountInfo": info}]}) == broken


def test_a_head_office_may_be_named(sightings: Sightings) -> None:
    """A bank's code of eight characters and the same code with XXX name the same office."""
    given = {"accountInfo": {"swiftCode": "BOFAUS3N"}}
    sightings.answer("createExternalAccount", 201, ACCOUNT, given)

    info = {"swiftCode": "BOFAUS3NXXX"}
    assert failed(sightings, {**ACCOUNT, "accountInfo": info}) == []


@pytest.mark.parametrize("text", [" 0321800001", "03218é0001", "0" * 65, "032\t1800001"])
def test_odd_texts_may_be_stored_otherwise(sightings: Sightings, text: str) -> None:
    """Nobody promises to keep blanks around a text, or more characters than a bank would send."""
    given = {"accountInfo": {"clabe": text}}
    sightings.answer("createExternalAccount", 201, ACCOUNT, given)

    assert failed(sightings, {**ACCOUNT, "accountInfo": {"clabe": "other"}}) == []


def test_an_account_that_exists_was_given_otherwise(sightings: Sightings) -> None:
    """Who answers a second creation with the first account shows what that one was given."""
    sightings.answer("createExternalAccount", 201, ACCOUNT, CREATION)
    other = {"accountInfo": {**CREATION["accountInfo"], "clabe": "999"}}
    sightings.answer("createExternalAccount", 201, ACCOUNT, other)

    info = CREATION["accountInfo"]
    assert failed(sightings, {**ACCOUNT, "accountInfo": info}) == []


def test_a_refusal_shows_nothing(sightings: Sightings) -> None:
    """Only successes show resources."""
    sightings.answer("executeQuote", 400, {**QUOTE, "exchangeRate": 1})

    assert failed(sightings, QUOTE) == []


def test_what_is_forgotten_is_not_compared(sightings: Sightings) -> None:
    """After the target became another one its resources are other ones."""
    sightings.answer("createQuote", 201, QUOTE)
    sightings.forget()

    assert failed(sightings, {**QUOTE, "exchangeRate": 1}) == []


@pytest.mark.parametrize(
    "body", [None, 7, "x", [], [None], {"id": 7}, {"id": "Quote"}, {"id": "Q" * 9999}, {"data": 7}]
)
def test_anything_else_is_passed_over(sightings: Sightings, body: Any) -> None:
    """Whatever a target sends in the place of a resource decides nothing."""
    assert sightings.answer("executeQuote", 200, body) == ()
    assert sightings.delivery(body) == ()


def test_a_target_cannot_fill_the_memory(sightings: Sightings) -> None:
    """Beyond a number of resources new ones are not remembered; known ones are still compared."""
    for first in range(0, MAX_RESOURCES, 1000):
        rows = [{**QUOTE, "id": f"Quote:{first + number}"} for number in range(1000)]
        sightings.answer("executeQuote", 200, rows)

    late = {**QUOTE, "id": "Quote:late"}
    sightings.answer("executeQuote", 200, late)
    assert failed(sightings, {**late, "exchangeRate": 1}) == []
    assert failed(sightings, {**QUOTE, "exchangeRate": 1}) == ["CNV-894"]


@pytest.mark.parametrize(
    ("rows", "found"),
    [
        ([], []),
        ([ACCOUNT], []),
        ([ACCOUNT, QUOTE], [("CNV-896", True)]),
        ([ACCOUNT, QUOTE, ACCOUNT], [("CNV-896", False)]),
        ([{"id": "x", "direction": one} for one in ("DEBIT", "CREDIT")], [("CNV-896", True)]),
        ([{"id": 7}, {"id": 7}, {}, None], []),
    ],
)
def test_a_list_shows_each_resource_once(
    sightings: Sightings, rows: list[Any], found: list[tuple[str, bool]]
) -> None:
    """Two rows with one id break the requirement, two with ids of their own keep it."""
    told = sightings.answer("listTransactions", 200, {"data": rows})

    assert [(one.requirement, one.passed) for one in told if one.requirement == "CNV-896"] == found
