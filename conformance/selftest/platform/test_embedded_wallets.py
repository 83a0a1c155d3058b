"""What an embedded wallet's device has to sign is found where the bindings say it stands."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from conformance.platform.given.embedded_wallets import Demand, EmbeddedWallets
from conformance.verdict.decisions import PreconditionFailed

BODY = {"amount": 7, "name": "Zoë"}
SENT = '{"amount":7,"name":"Zoë"}'


def demanded(payload: Any, request: str) -> Demand:
    """Return what is demanded for the request of these tests."""
    return Demand(payload, request, "POST", "/2025-10-13/quotes", SENT)


def demand(answered: Any, *others: Any, payload: str | None, request: str | None) -> Demand:
    """Return what is found in an answer by two bindings."""
    names = SimpleNamespace(wallet_payload=payload, wallet_request=request)
    suite = SimpleNamespace(
        _profile=SimpleNamespace(bindings=names), _samples=SimpleNamespace(reference=lambda: "mine")
    )
    exchange = SimpleNamespace(
        request_body=BODY, method="POST", url="https://pay.example/2025-10-13/quotes?a=b"
    )
    answer = SimpleNamespace(body=answered, exchange=exchange)
    return EmbeddedWallets.demand(cast("Any", suite), cast("Any", answer), *others)


@pytest.mark.parametrize(
    ("answered", "payload", "request_id"),
    [
        pytest.param({"payload": "p", "id": "r"}, "payload", "id", id="beside each other"),
        pytest.param({"a": {"b": "p"}, "id": "r"}, "a.b", "id", id="below a member"),
        pytest.param({"a": [{"b": "p"}], "id": "r"}, "a.0.b", "id", id="in a list"),
        pytest.param(
            {"code": "X", "details": {"payload": "p", "id": "r"}}, "payload", "id", id="details"
        ),
        pytest.param(
            {"details": {"payload": "p", "id": "r"}}, "details.payload", "details.id", id="dotted"
        ),
    ],
)
def test_it_stands_in_the_answer(answered: Any, payload: str, request_id: str) -> None:
    """Also where the answer is a refusal."""
    assert demand(answered, payload=payload, request=request_id) == demanded("p", "r")


def test_it_stands_in_the_quote() -> None:
    """Where the answer has nothing to say."""
    quote = {"payload": "p", "id": "r"}

    assert demand(None, quote, payload="payload", request="id") == demanded("p", "r")


def test_the_body_itself_is_signed() -> None:
    """As it is sent; the client chooses the request id."""
    assert demand({}, payload=None, request=None) == demanded(SENT, "mine")


def test_an_object_is_signed_as_one() -> None:
    """Whoever signs writes it as text."""
    answered = {"payload": {"amount": 7}, "id": "r"}

    assert demand(answered, payload="payload", request="id").payload == {"amount": 7}


@pytest.mark.parametrize("answered", [None, [], {"payload": 7}, {"other": "p"}, "p"])
def test_where_there_is_nothing_to_sign_nothing_can_be_decided(answered: Any) -> None:
    """The bindings are named."""
    with pytest.raises(PreconditionFailed, match=r"bindings\.wallet_payload"):
        demand(answered, payload="payload", request=None)


def test_the_retry_carries_both_headers() -> None:
    """Under the names of the specification."""
    headers = Demand("p", "r").signed("s")

    assert headers == {"Service-Wallet-Signature": "s", "Request-Id": "r"}
