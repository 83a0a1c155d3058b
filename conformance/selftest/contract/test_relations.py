"""What hangs together in the resources of a run, and what may differ."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.contract.relations import Relations

USD = {"code": "USD"}
MXN = {"code": "MXN"}
ACCOUNT = {"id": "InternalAccount:1", "balance": {"amount": 5, "currency": USD}}
EXTERNAL = {"id": "ExternalAccount:1", "currency": "MXN"}
REQUEST = {"lockedCurrencySide": "SENDING", "lockedCurrencyAmount": 100}
QUOTE = {
    "id": "Quote:1",
    "status": "PENDING",
    "transactionId": "Transaction:1",
    "source": {"sourceType": "ACCOUNT", "accountId": "InternalAccount:1"},
    "destination": {"accountId": "ExternalAccount:1"},
    "sendingCurrency": USD,
    "receivingCurrency": MXN,
    "totalSendingAmount": 100,
    "totalReceivingAmount": 1700,
    "exchangeRate": 17.5,
    "description": "rent",
    "createdAt": "2026-01-15T09:30:00Z",
    "expiresAt": "2026-01-15T09:35:00Z",
}
AT_HOME = {**QUOTE, "receivingCurrency": USD, "exchangeRate": 1, "destination": {}}
PAYMENT = {
    "id": "Transaction:1",
    "type": "OUTGOING",
    "direction": "DEBIT",
    "quoteId": "Quote:1",
    "status": "COMPLETED",
    "settledAt": "2026-01-15T09:31:00Z",
    "sentAmount": {"amount": 100, "currency": USD},
    "receivedAmount": {"amount": 1700, "currency": MXN},
    "exchangeRate": 17.5,
}


def broken(*steps: tuple[dict[str, Any], dict[str, Any] | None]) -> list[str]:
    """Return what resources break that are shown one after the other, each with its request."""
    relations = Relations()
    found = []
    for resource, request in steps:
        kind = str(resource["id"]).partition(":")[0]
        found += [one.requirement for one in relations.of(kind, resource, request)]
    return found


def test_what_agrees_breaks_nothing() -> None:
    """Accounts, a quote between them as it was asked for, and its payment agree."""
    total = {**ACCOUNT, "totalBalance": {"amount": 6, "currency": USD}}

    assert broken((total, None), (EXTERNAL, None), (QUOTE, REQUEST), (PAYMENT, None)) == []


@pytest.mark.parametrize(
    ("total", "requirement"),
    [
        ({"amount": 4, "currency": USD}, "ACC-012"),
        ({"amount": 6, "currency": MXN}, "ACC-031"),
    ],
)
def test_balances_agree(total: dict[str, Any], requirement: str) -> None:
    """The total is no less than what can be spent, in the same currency."""
    assert broken(({**ACCOUNT, "totalBalance": total}, None)) == [requirement]


@pytest.mark.parametrize(
    ("quote", "request_", "requirement"),
    [
        ({**QUOTE, "totalSendingAmount": 99}, REQUEST, "QUO-046"),
        (QUOTE, {**REQUEST, "lockedCurrencySide": "RECEIVING"}, "QUO-047"),
        ({**AT_HOME, "totalSendingAmount": 99}, REQUEST, "QUO-044"),
        (AT_HOME, {**REQUEST, "lockedCurrencySide": "RECEIVING"}, "QUO-045"),
        ({**AT_HOME, "exchangeRate": 1.01}, REQUEST, "QUO-048"),
        ({**QUOTE, "expiresAt": QUOTE["createdAt"]}, REQUEST, "QUO-030"),
        ({**QUOTE, "expiresAt": "2026-01-15T09:46:00Z"}, REQUEST, "QUO-062"),
        (QUOTE, {**REQUEST, "description": "food"}, "QUO-039"),
        ({**QUOTE, "sendingCurrency": MXN}, None, "QUO-036"),
        ({**QUOTE, "receivingCurrency": USD}, None, "QUO-037"),
    ],
)
def test_a_quote_agrees_with_its_request_and_accounts(
    quote: dict[str, Any], request_: dict[str, Any] | None, requirement: str
) -> None:
    """Locked amount, rate, life and currencies are looked at in any quote."""
    assert broken((ACCOUNT, None), (EXTERNAL, None), (quote, request_)) == [requirement]


@pytest.mark.parametrize(
    ("change", "requirement"),
    [
        ({"quoteId": "Quote:2"}, "TRX-022"),
        ({"status": "PROCESSING"}, "TRX-027"),
        ({"status": "PENDING"}, "TRX-842"),
        ({"refund": {"status": "PENDING"}}, "TRX-057"),
        ({"direction": "CREDIT"}, "TRX-033"),
        ({"description": "food"}, "TRX-034"),
        ({"sentAmount": {"amount": 101, "currency": USD}}, "TRX-028"),
        ({"sentAmount": {"amount": 100, "currency": MXN}}, "TRX-029"),
        ({"receivedAmount": {"amount": 17, "currency": MXN}}, "TRX-030"),
        ({"receivedAmount": {"amount": 1700, "currency": USD}}, "TRX-031"),
        ({"exchangeRate": 17.6}, "TRX-032"),
    ],
)
def test_a_payment_agrees_with_its_quote(change: dict[str, Any], requirement: str) -> None:
    """What a payment shows is what its quote said, whatever kind of quote it was."""
    assert broken((QUOTE, None), ({**PAYMENT, **change}, None)) == [requirement]


@pytest.mark.parametrize(
    "change",
    [
        {"status": "FAILED", "refund": {"status": "PENDING"}, "sentAmount": None},
        {"status": "FAILED", "receivedAmount": {"amount": 0, "currency": MXN}},
        {"id": "Transaction:other", "quoteId": "Quote:other"},
        {"type": "INCOMING", "direction": "CREDIT"},
        {"exchangeRate": "17.5"},
        {"exchangeRate": 10**400},
        {"sentAmount": 100},
    ],
)
def test_what_is_not_comparable_breaks_nothing(change: dict[str, Any]) -> None:
    """A payment that failed, one of another quote, and what has another form are passed over."""
    assert broken((QUOTE, None), ({**PAYMENT, **change}, None)) == []


def test_what_is_paid_just_in_time_may_be_another_amount() -> None:
    """Whoever pays may pay more or less than the quote says."""
    quote = {**QUOTE, "source": {"sourceType": "REALTIME_FUNDING"}}

    paid = {**PAYMENT, "sentAmount": {"amount": 120, "currency": USD}}
    assert broken((quote, None), (paid, None)) == []


@pytest.mark.parametrize(
    ("change", "requirement"),
    [
        ({"source": {"sourceType": "ACCOUNT"}}, ["QUO-032"]),
        ({"destination": {"accountId": None}}, ["QUO-034"]),
        ({"destination": {"accountId": "ExternalAccount:1", "paymentRail": "ACH"}}, ["QUO-035"]),
        ({"source": None, "destination": None}, []),
    ],
)
def test_a_quote_keeps_its_ends(change: dict[str, Any], requirement: list[str]) -> None:
    """Later answers show the account of an end that was shown with one, and no rail."""
    assert broken((QUOTE, REQUEST), ({**QUOTE, **change}, None)) == requirement


@pytest.mark.parametrize(
    ("source", "requirement"),
    [
        ({"currency": "USD"}, []),
        ({"currency": "EUR"}, ["QUO-827"]),
        ({"customerId": "Customer:2"}, ["QUO-827"]),
        ({}, []),
    ],
)
def test_a_quote_has_the_ends_that_were_asked_for(
    source: dict[str, Any], requirement: list[str]
) -> None:
    """What is funded just in time is of the customer and in the currency that were named."""
    named = {"sourceType": "REALTIME_FUNDING", "currency": "USD", "customerId": "Customer:1"}
    quote = {**QUOTE, "source": {"sourceType": "REALTIME_FUNDING", **source}}

    assert broken((quote, {**REQUEST, "source": named})) == requirement


@pytest.mark.parametrize("end", [("source", "QUO-032"), ("destination", "QUO-034")])
def test_a_quote_is_between_the_accounts_that_were_named(end: tuple[str, str]) -> None:
    """Another account than the one of the request breaks the requirement of that end."""
    name, requirement = end

    assert broken((QUOTE, {**REQUEST, name: {"accountId": "InternalAccount:9"}})) == [requirement]


@pytest.mark.parametrize(
    ("shown", "requirement"),
    [({"customerId": "Customer:1"}, []), ({"customerId": ""}, ["EXT-823"]), ({}, ["EXT-823"])],
)
def test_an_external_account_is_created_for_its_customer(
    shown: dict[str, Any], requirement: list[str]
) -> None:
    """The answer to its creation shows the customer of the request, whatever kind it is of."""
    assert broken(({**EXTERNAL, **shown}, {"customerId": "Customer:1"})) == requirement
    assert broken(({**EXTERNAL, **shown}, {})) == []


@pytest.mark.parametrize(
    ("change", "requirement"),
    [
        ({"symbol": ""}, ["CNV-112"]),
        ({"name": "Dollar"}, ["CNV-112"]),
        ({"decimals": 0}, ["CNV-112"]),
        ({"name": None, "symbol": None}, []),
        ({"code": "MXN", "symbol": "M"}, []),
    ],
)
def test_a_currency_is_the_same_everywhere(change: dict[str, Any], requirement: list[str]) -> None:
    """Accounts, quotes and payments give a currency one name, symbol and number of decimals."""
    dollar = {"code": "USD", "name": "US dollar", "symbol": "$", "decimals": 2}
    quote = {"id": "Quote:2", "sendingCurrency": dollar}
    money = {"amount": 5, "currency": dollar | change}
    account = {"id": "InternalAccount:2", "balance": money}
    purchase = {"id": "Transaction:9", "type": "CARD", "settledAmount": money}

    assert broken((quote, None), (account, None)) == requirement
    assert broken((quote, None), (purchase, None)) == requirement


@pytest.mark.parametrize(
    ("currency", "requirement"),
    [(MXN, []), ({**MXN, "decimals": 0}, ["CNV-112"]), (USD, ["LKP-021"])],
)
def test_a_lookup_agrees_with_its_account(currency: dict[str, Any], requirement: list[str]) -> None:
    """A lookup lists the currency of the account, which looks as it does elsewhere."""
    relations = Relations()
    quote = {"id": "Quote:2", "receivingCurrency": {**MXN, "decimals": 2}}
    for kind, resource in (("ExternalAccount", EXTERNAL), ("Quote", quote)):
        assert list(relations.of(kind, resource, None)) == []
    lookup = {"accountId": EXTERNAL["id"], "supportedCurrencies": [{"currency": currency}]}

    assert [one.requirement for one in relations.of_lookup(lookup)] == requirement
    assert list(relations.of_lookup({"supportedCurrencies": "none"})) == []


@pytest.mark.parametrize(
    ("source", "requirement"),
    [
        ({"accountId": "InternalAccount:1"}, []),
        ({"accountId": "1"}, ["CNV-019"]),
        ({"accountId": "DE89"}, []),
        ({"accountId": None}, []),
        ("InternalAccount:1", []),
    ],
)
def test_a_payment_names_its_accounts_with_their_types(source: Any, requirement: list[str]) -> None:
    """The id of an account that a quote shows with its type is not shown without it."""
    assert broken((QUOTE, None), ({**PAYMENT, "source": source}, None)) == requirement


def test_what_is_known_is_compared_however_much_is_shown() -> None:
    """A target that shows more codes of currencies than are kept does not end the comparison."""
    dollar = {"code": "USD", "symbol": "$"}
    many = ({"id": "Quote:2", "sendingCurrency": {"code": f"X{n}"}} for n in range(1_100))
    other = {"id": "Quote:2", "sendingCurrency": {**dollar, "symbol": "S"}}

    steps = [{"id": "Quote:2", "sendingCurrency": dollar}, *many, other]
    assert broken(*((step, None) for step in steps)) == ["CNV-112"]


def test_what_is_told_is_short() -> None:
    """A target cannot fill a report with what it shows in the place of an id."""
    relations = Relations()
    list(relations.of("Quote", QUOTE, None))

    [found] = relations.of("Transaction", {**PAYMENT, "quoteId": "Q" * 10_000}, None)

    assert len(found.detail) <= 300


def test_what_is_forgotten_need_not_agree() -> None:
    """After the target became another one its quotes are other ones."""
    relations = Relations()
    list(relations.of("Quote", QUOTE, None))
    relations.forget()

    assert list(relations.of("Transaction", {**PAYMENT, "quoteId": "Quote:2"}, None)) == []
