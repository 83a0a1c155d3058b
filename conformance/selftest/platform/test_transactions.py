"""The transactions of a customer, on targets whose list has no filter by customer."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from typing import Any

import pytest

from conformance.exchange.client import RecordingClient
from conformance.platform.given.transactions import Transactions
from conformance.profile.model import Profile
from conformance.selftest.contexts import context_of
from conformance.selftest.standins import Behaviour, Received, StandIn, answers

CUSTOMER = "Customer:1"
ACCOUNTS = [{"id": "InternalAccount:1"}]
OWN, FOREIGN = {"accountId": "InternalAccount:1"}, {"accountId": "InternalAccount:9"}


@pytest.fixture
def transactions(
    stand_in: Callable[[Behaviour], StandIn],
    connect: Callable[..., RecordingClient],
    make_profile: Callable[..., Profile],
) -> Callable[..., Transactions]:
    """Return a function that makes the transactions of a target which lists these rows."""

    def make(*rows: Any) -> Transactions:
        def behave(connection: socket.socket, received: Received, stopped: threading.Event) -> None:
            listed = ACCOUNTS if "internal-accounts" in received.path else rows
            answers(200, {"data": listed})(connection, received, stopped)

        profile = make_profile(bindings={"transactions_of_customer": None})
        return Transactions(context_of(connect(stand_in(behave).base_url), profile))

    return make


@pytest.mark.parametrize(
    ("shown", "may_be_own", "is_known"),
    [
        pytest.param({"customerId": CUSTOMER}, True, True, id="its customer"),
        pytest.param({"customerId": "Customer:9"}, False, False, id="another customer"),
        pytest.param({"source": OWN}, True, True, id="its account"),
        pytest.param({"source": FOREIGN}, False, False, id="another account"),
        pytest.param({"source": FOREIGN, "destination": OWN}, True, True, id="from another"),
        pytest.param({}, True, False, id="nothing"),
    ],
)
def test_a_transaction_may_show_whose_it_is(
    transactions: Callable[..., Transactions],
    shown: dict[str, Any],
    *,
    may_be_own: bool,
    is_known: bool,
) -> None:
    """What shows another customer is left out; what shows nothing is not known of the customer."""
    part = transactions({"id": "Transaction:1", "status": "PENDING", **shown})

    assert bool(list(part.of_customer(CUSTOMER))) is may_be_own
    assert bool(list(part.known_of_customer(CUSTOMER))) is is_known


def test_a_quote_tells_whose_its_transaction_is(
    transactions: Callable[..., Transactions],
) -> None:
    """A transaction that shows nothing is that of the quote which names it."""
    part = transactions({"id": "Transaction:1"}, {"id": "Transaction:2"})
    part._ledger.quotes["Quote:1"] = {"transactionId": "Transaction:2", "source": OWN}

    assert [row["id"] for row in part.known_of_customer(CUSTOMER)] == ["Transaction:2"]
