"""The payload that an embedded wallet signs is found where the bindings say."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from conformance.platform.given.embedded_wallets import Demand, EmbeddedWallets
from conformance.verdict.decisions import PreconditionFailed

BODY = {"amount": 7, "name": "Zoë"}
SENT = '{"amount":7,"name":"Zoë"}'


def expected_demand(payload: Any, request: str) -> Demand:
    """Return the demand to sign this payload for the request of these tests."""
    return Demand(payload, request, "POST", "/2025-10-13/quotes", SENT)


def demand(answer_body: Any, *others: Any, payload: str | None, request: str | None) -> Demand:
    """Return the demand that two bindings find in an answer or in ``others``."""
    names = SimpleNamespace(wallet_payload=payload, wallet_request=request)
    suite = SimpleNamespace(
        _profile=SimpleNamespace(bindings=names), _samples=SimpleNamespace(reference=lambda: "mine")
    )
    exchange = SimpleNamespace(
        request_body=BODY, method="POST", url="https://pay.example/2025-10-13/quotes?a=b"
    )
    answer = SimpleNamespace(body=answer_body, exchange=exchange)
    return EmbeddedWallets.demand(cast("Any", suite), cast("Any", answer), *others)


@pytest.mark.parametrize(
    ("answer_body", "payload", "request_id"),
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
def test_it_stands_in_the_answer(answer_body: Any, payload: str, request_id: str) -> None:
    """Payload and request id are found in the answer, and in the details of a refusal."""
    assert demand(answer_body, payload=payload, request=request_id) == expected_demand("p", "r")


def test_it_stands_in_the_quote() -> None:
    """Payload and request id are found in the quote where the answer has no body."""
    quote = {"payload": "p", "id": "r"}

    assert demand(None, quote, payload="payload", request="id") == expected_demand("p", "r")


def test_the_body_itself_is_signed() -> None:
    """Without bindings the body is signed as it is sent, and the client chooses the request id."""
    assert demand({}, payload=None, request=None) == expected_demand(SENT, "mine")


def test_an_object_is_signed_as_one() -> None:
    """A payload that is an object stays an object."""
    answer_body = {"payload": {"amount": 7}, "id": "r"}

    assert demand(answer_body, payload="payload", request="id").payload == {"amount": 7}


@pytest.mark.parametrize("answer_body", [None, [], {"payload": 7}, {"other": "p"}, "p"])
def test_where_there_is_nothing_to_sign_nothing_can_be_decided(answer_body: Any) -> None:
    """An answer without a payload makes the check inconclusive, and the binding is named."""
    with pytest.raises(PreconditionFailed, match=r"bindings\.wallet_payload"):
        demand(answer_body, payload="payload", request=None)


def test_the_retry_carries_both_headers() -> None:
    """The headers have the names of the specification."""
    headers = Demand("p", "r").signed("s")

    assert headers == {"Service-Wallet-Signature": "s", "Request-Id": "r"}
