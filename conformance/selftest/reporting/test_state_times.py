"""Time to state: what the journal tells of how long a resource took to come to a state."""

from __future__ import annotations

import json
from typing import Any

import pytest

from conformance.reporting.report import StateTime
from conformance.reporting.state_times import StateTimes

QUOTE = "Quote:1"
CUSTOMER = "Customer:7"


@pytest.fixture
def times() -> StateTimes:
    """Return what has seen nothing yet."""
    return StateTimes()


def exchange(operation: str, at: float, body: Any = None, **members: Any) -> str:
    """Return an exchange as a line of the journal; it took a second."""
    entry = {
        "kind": "exchange",
        "id": "main-1",
        "test": "t",
        "operation": operation,
        "method": "POST",
        "url": "http://127.0.0.1/2025-10-13/any",
        "request_headers": {},
        "request_body": None,
        "status": 200,
        "response_headers": {},
        "response_body": body,
        "seconds": 1.0,
        "error": "",
        "at": at,
    }
    return json.dumps({**entry, **members})


def webhook(event: object, at: float, data: Any) -> dict[str, Any]:
    """Return a delivery as the journal has it."""
    return {"number": 1, "at": at, "body": {"id": "Webhook:1", "type": event, "data": data}}


def found(times: StateTimes) -> list[tuple[str, str, str, float]]:
    """Return resource, request, state and the longest time of each way to a state."""
    return [(one.resource, one.request, one.state, one.longest) for one in times.by_resource()]


def quote(status: object) -> dict[str, object]:
    """Return a quote."""
    return {"id": QUOTE, "status": status}


def test_a_quote_is_timed_from_its_execution(times: StateTimes) -> None:
    """Its states count from the sending of the request that the state machine has before them."""
    times.take_in(exchange("createQuote", 10.0, quote("PENDING")))
    times.take_in(exchange("executeQuote", 20.0, quote("PROCESSING"), url=f"http://h/{QUOTE}/x"))
    times.take_in(exchange("getQuote", 25.0, quote("PROCESSING")))
    times.take_in(exchange("getQuote", 29.0, quote("COMPLETED")))
    times.take_in(exchange("getQuote", 99.0, quote("COMPLETED")))

    assert found(times) == [
        ("quote", "createQuote", "PENDING", 1.0),
        ("quote", "executeQuote", "COMPLETED", 10.0),
        ("quote", "executeQuote", "PROCESSING", 1.0),
    ]


def test_percentiles_are_of_all_resources(times: StateTimes) -> None:
    """Of ten accounts in 1 to 10 seconds half are there within 5; the list of them tells it."""
    for number in range(1, 11):
        account = {"id": f"ExternalAccount:{number}", "status": "ACTIVE"}
        times.take_in(
            exchange("createExternalAccount", 1.0, {**account, "status": "PENDING"}, status=201)
        )
        times.take_in(exchange("listExternalAccounts", float(number), {"data": [account]}))

    active = next(one for one in times.by_resource() if one.state == "ACTIVE")

    assert active == StateTime(
        resource="external account",
        request="createExternalAccount",
        state="ACTIVE",
        times=10,
        p50=5.0,
        p90=9.0,
        p99=10.0,
        longest=10.0,
    )


def test_a_webhook_shows_a_state(times: StateTimes) -> None:
    """The first sight counts, be it a webhook: by its resource, or by its own name."""
    transaction = "Transaction:1"
    times.take_in(exchange("executeQuote", 10.0, {**quote("PROCESSING"), "tx": transaction}))
    data = {"id": transaction, "status": "FAILED"}
    times.delivery(webhook("OUTGOING_PAYMENT.FAILED", 12.0, data))
    times.delivery(webhook("OUTGOING_PAYMENT.REFUND_PENDING", 13.0, data))
    times.take_in(exchange("getTransaction", 19.0, data))

    assert [one for one in found(times) if one[0] == "transaction"] == [
        ("transaction", "executeQuote", "FAILED", 3.0),
        ("transaction", "executeQuote", "REFUND_PENDING", 4.0),
    ]


def test_what_is_made_with_a_customer_is_timed_from_it(times: StateTimes) -> None:
    """No request makes an internal account: it is timed from the creation of its customer."""
    account = {"id": "InternalAccount:1", "customerId": CUSTOMER, "status": "ACTIVE"}
    times.take_in(exchange("createCustomer", 5.0, {"id": CUSTOMER, "kycStatus": "UNVERIFIED"}))
    times.take_in(exchange("listInternalAccounts", 8.0, {"data": [account]}))

    assert found(times) == [
        ("customer verification", "createCustomer", "UNVERIFIED", 1.0),
        ("internal account", "createCustomer", "ACTIVE", 4.0),
    ]


@pytest.mark.parametrize("status", [200, 204])
def test_a_reset_is_known_by_its_path(times: StateTimes, status: int) -> None:
    """What is answered about a reset has no id; the path has it, and its query the customer's."""
    url = "http://h/sca/factors/reset/FactorReset%3A1"
    times.take_in(exchange("startFactorReset", 5.0, {"resetId": "FactorReset:1"}, status=201))
    times.take_in(exchange("getFactorReset", 6.0, {"status": "INITIATED"}, url=f"{url}?c=1"))
    times.take_in(exchange("trigger", 8.0, None, url=url, status=status))
    times.take_in(exchange("getFactorReset", 9.0, {"status": "EXPIRED"}, url=url))

    assert found(times) == [
        ("factor reset", "startFactorReset", "INITIATED", 2.0),
        ("factor reset", "trigger", "EXPIRED", 2.0),
    ]


def test_a_command_is_a_trigger(times: StateTimes) -> None:
    """A command of the profile that names the resource may start what follows."""
    times.take_in(exchange("createVerification", 5.0, {"of": CUSTOMER}))
    times.delivery(webhook("CUSTOMER.KYC_PENDING", 5.5, {"id": CUSTOMER, "kycStatus": "PENDING"}))
    times.command({"at": 7.0, "command": ["approve", CUSTOMER]})
    times.command({"command": ["approve", CUSTOMER]})
    times.take_in(exchange("getCustomer", 9.0, {"id": CUSTOMER, "kycStatus": "APPROVED"}))

    assert found(times) == [
        ("customer verification", "createVerification", "PENDING", 1.5),
        ("customer verification", "trigger", "APPROVED", 2.0),
    ]


def test_late_news_are_none(times: StateTimes) -> None:
    """A webhook that tells an earlier state after a later one was seen starts nothing anew."""
    pending, approved = ({"id": CUSTOMER, "kycStatus": word} for word in ("PENDING", "APPROVED"))
    times.take_in(exchange("createVerification", 5.0, {"of": CUSTOMER}))
    times.take_in(exchange("getCustomer", 6.0, approved))
    times.delivery(webhook("CUSTOMER.KYC_PENDING", 7.0, pending))
    times.take_in(exchange("trigger", 9.0, {"of": CUSTOMER}))
    times.take_in(exchange("getCustomer", 11.0, approved))

    assert found(times) == [("customer verification", "createVerification", "APPROVED", 2.0)]


def test_what_was_refused_starts_nothing(times: StateTimes) -> None:
    """A refusal moves nothing; a request whose answer was lost may have moved something."""
    times.take_in(exchange("createQuote", 10.0, quote("PENDING")))
    times.take_in(exchange("executeQuote", 12.0, None, url=f"http://h/{QUOTE}", status=0))
    times.take_in(exchange("executeQuote", 15.0, None, url=f"http://h/{QUOTE}", status=400))
    times.take_in(exchange("getQuote", 16.0, quote("PROCESSING")))

    assert ("quote", "executeQuote", "PROCESSING", 5.0) in found(times)


@pytest.mark.parametrize("status", ["SHINY", ["COMPLETED"], {"a": 1}, None, 7])
def test_other_states_are_not_told(times: StateTimes, status: object) -> None:
    """Only states of the specification are told, whatever a target sends in their place."""
    times.take_in(exchange("createQuote", 10.0, quote("PENDING")))
    times.take_in(exchange("executeQuote", 12.0, quote(status), url=f"http://h/{QUOTE}"))
    times.take_in(exchange("getQuote", 13.0, {"id": status, "status": "COMPLETED"}))
    times.take_in(exchange("listQuotes", 13.0, [status, {"data": status}]))
    times.delivery(webhook(status, 14.0, status))
    times.delivery({"at": 15.0, "body": status})

    assert found(times) == [("quote", "createQuote", "PENDING", 1.0)]


def test_a_line_that_is_cut_short_tells_nothing(times: StateTimes) -> None:
    """The last line of a killed process is passed over."""
    times.take_in(exchange("createQuote", 10.0, quote("PENDING"))[:-20])
    times.take_in('{"kind": "exchange", "id": "main-1"')

    assert times.by_resource() == ()
