"""Whatever JSON a target answers, a part of the platform ends with a verdict or a reason."""

from __future__ import annotations

import contextlib
import inspect
import json
import socket
import threading
from collections.abc import Callable, Generator, Iterator
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from conformance.exchange.folder import RunFolder
from conformance.platform.audit import audit
from conformance.platform.part import Part
from conformance.platform.platform import Platform, Verification
from conformance.profile.model import Profile
from conformance.run import Connection, load_profile
from conformance.selftest.conftest import CLIENT_SECRET, TOKEN_ID
from conformance.selftest.contexts import context_of
from conformance.selftest.standins import Received, StandIn, answers
from conformance.sut.target import Target
from conformance.verdict.decisions import Reason
from conformance.verdict.recorder import Recorder

PROFILE = load_profile("reference")


def needs_nothing(function: Callable[..., Any]) -> bool:
    """Return whether a function can be called without arguments."""
    return all(
        parameter.default is not parameter.empty
        or parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL)
        for parameter in inspect.signature(function).parameters.values()
    )


def nouns(holder: object, prefix: str = "") -> Iterator[str]:
    """Yield the dotted names of what the parts of a platform arrange without arguments."""
    for name, part in vars(holder).items():
        if isinstance(part, Part):
            for noun, function in inspect.getmembers(part, inspect.ismethod):
                if not noun.startswith("_") and needs_nothing(function):
                    yield f"{prefix}{name}.{noun}"
        elif isinstance(part, Verification):
            yield from nouns(part, f"{prefix}{name}.")


PARTS = Platform(context_of(None, PROFILE))
READINGS = [
    f"api.{name}"
    for name, function in inspect.getmembers(PARTS.api, inspect.ismethod)
    if name.startswith(("get_", "list_")) and needs_nothing(function)
]
NOUNS = sorted([*nouns(PARTS), *READINGS])
MEMBERS = (
    *("id", "customerId", "status", "kycStatus", "data", "errors", "quote", "transactionId"),
    *("source", "destination", "accountId", "amount", "balance", "totalBalance", "currency"),
    *("currencyCode", "nextCursor", "totalSendingAmount", "totalReceivingAmount", "expiresAt"),
    *("challenges", "supportedCurrencies", "accountInfo", "type", "token", "code", "version"),
)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(["", "APPROVED", "Customer:1", "..", "2026-01-01T00:00:00Z", "USD", "-1"]),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
)
OBJECTS = st.dictionaries(st.sampled_from(MEMBERS), SCALARS, max_size=8)
ANSWERS = st.recursive(
    SCALARS | OBJECTS,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(MEMBERS), inner, max_size=8)
    ),
    max_leaves=30,
)
# This object passes for nearly every resource, and for a list of them.
RIGHT: dict[str, Any] = {
    "id": "Quote:1",
    "customerId": "Customer:1",
    "customerType": "INDIVIDUAL",
    "kycStatus": "APPROVED",
    "kybStatus": "APPROVED",
    "status": "COMPLETED",
    "quoteId": "Quote:1",
    "transactionId": "Transaction:1",
    "source": {"accountId": "InternalAccount:1"},
    "destination": {"accountId": "ExternalAccount:1"},
    "totalSendingAmount": 10_000,
    "totalReceivingAmount": 9_900,
    "balance": {"amount": 100_000, "currency": {"code": "USD"}},
    "totalBalance": {"amount": 100_000, "currency": {"code": "USD"}},
    "currency": "USD",
    "supportedCurrencies": [{"currencyCode": "USD"}],
    "expiresAt": "2026-01-01T00:00:00Z",
    "version": "1",
}
SPOILT = st.dictionaries(st.sampled_from([*RIGHT, *MEMBERS]), SCALARS | ANSWERS, max_size=3).map(
    lambda members: {**RIGHT, "data": [{**RIGHT, **members}], **members}
)


class Oracle(StandIn):
    """A server that answers each request with the next of ``answers``, over and over."""

    def __init__(self) -> None:
        self.answers: list[Any] = [None]
        self._asked = 0
        super().__init__(self._say)

    def _say(self, connection: socket.socket, received: Received, stopped: threading.Event) -> None:
        body = self.answers[self._asked % len(self.answers)]
        self._asked += 1
        answers(201 if received.method == "POST" else 200, body)(connection, received, stopped)


@pytest.fixture
def arrange(tmp_path: Path) -> Generator[Callable[[list[Any], str], Reason | None]]:
    """Return a function that arranges a noun and audits; it returns why nothing was decided."""
    content = PROFILE.model_dump(mode="json", by_alias=True, exclude_none=True)
    content["features"]["webhooks"] = content["features"]["webhook_signatures"] = False
    content["timing"].update(state=0.01, event=0.01, quiet=0, poll=0.005, outage=1e6)
    content["budget"].update(requests=10**9, created=10**9)
    profile = Profile.model_validate(content)
    with Oracle() as oracle, contextlib.ExitStack() as stack:
        target = Target(oracle.base_url, TOKEN_ID, CLIENT_SECRET, profile)
        connection = Connection.open(target, seed=1, folder=RunFolder(tmp_path, "1"))
        stack.callback(connection.close)

        def ask(bodies: list[Any], noun: str) -> Reason | None:
            oracle.answers = bodies
            recorder = Recorder("test_x", ("A",))
            with connection.recording(recorder):
                platform = connection.platform("test_x")
                connection.memory.forget()
                for act in (attrgetter(noun)(platform), partial(audit, platform)):
                    try:
                        act()
                    except Exception as error:  # noqa: BLE001 - whatever it is has a meaning
                        recorder.conclude(error)
                        return recorder.decisions["A"].reason
            return None

        yield ask


@pytest.mark.slow
@settings(
    max_examples=250,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(st.lists(SPOILT | ANSWERS, min_size=1, max_size=3), st.sampled_from(NOUNS))
@example([None], "quotes.pending")
@example([{"id": "Customer:1", "kycStatus": "APPROVED", "data": [{"id": 1}]}], "quotes.execute")
@example([{"data": [[[]]], "id": {"id": []}}], "internal_accounts.account")
@example([{"totalSendingAmount": 1e308, "id": "Quote:1", "source": None}], "quotes.complete")
@example([{"id": [1]}], "verification.reviews.submitted")
def test_no_answer_is_a_mistake_of_the_suite(
    arrange: Callable[[list[Any], str], Reason | None], bodies: list[Any], noun: str
) -> None:
    """An answer fails a check or leaves it open, but never as an error of the suite."""
    assert json.loads(json.dumps(bodies)) == bodies

    assert arrange(bodies, noun) is not Reason.HARNESS
