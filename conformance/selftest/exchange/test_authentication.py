"""Credentials: faulty ones are sent and judged, and every operation is asked for them."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any

import pytest

from conformance.contract.catalogue import catalogue
from conformance.contract.document import document
from conformance.contract.judge import Finding
from conformance.exchange.answer import Answer
from conformance.exchange.client import RecordingClient
from conformance.exchange.journal import Exchange
from conformance.platform.grounds.ground import Ground
from conformance.platform.grounds.request import GROUNDS, MADE_UP, Request
from conformance.scenarios.authentication import test_authentication as scenarios
from conformance.selftest import standins
from conformance.selftest.conftest import CLIENT_SECRET, TOKEN_ID
from conformance.selftest.standins import Behaviour, StandIn
from conformance.verdict.decisions import ResourceMissing, TwinRefused

Connect = Callable[..., RecordingClient]
Start = Callable[[Behaviour], StandIn]


def base64_of(text: str) -> str:
    """Return a text in base64."""
    return base64.b64encode(text.encode()).decode()


@pytest.mark.parametrize("fault", scenarios.FAULTS)
def test_a_faulty_header_is_sent_as_it_is(stand_in: Start, connect: Connect, fault: str) -> None:
    """A faulty ``Authorization`` header is never the right one, and one fault is its absence."""
    server = stand_in(standins.answers())
    client = connect(server.base_url)

    client.call("getConfig", auth=client.presenting(scenarios.FAULTS[fault]))

    header = server.received[0].headers.get("authorization")
    assert header != f"Basic {base64_of(f'{TOKEN_ID}:{CLIENT_SECRET}')}"
    assert (header is None) == (fault == "AUT-030")


class TestDenied:
    """``denied`` compares the refusal of credentials with the answer to the right ones."""

    @pytest.fixture
    def ask(self, stand_in: Start, connect: Connect) -> Callable[..., Answer]:
        """Return a function that gives the answer of a target with this status and code."""

        def ask(status: int, code: str = "") -> Answer:
            body = {"code": code, "reason": "x"} if code else {}
            return connect(stand_in(standins.answers(status, body)).base_url).call("getConfig")

        return ask

    @pytest.mark.parametrize("twin", [200, 204, 400, 404, 409, 501])
    def test_401_tells_from_whatever_else_the_right_ones_get(
        self, ask: Callable[..., Answer], twin: int
    ) -> None:
        """A 401 passes where the right credentials get any other status than 401."""
        ask(401, "UNAUTHORIZED").denied("UNAUTHORIZED", twin=ask(twin))

    @pytest.mark.parametrize("twin", [200, 404])
    def test_to_be_accepted_is_wrong(self, ask: Callable[..., Answer], twin: int) -> None:
        """An accepted request fails, also where the twin got 404."""
        with pytest.raises(AssertionError, match="expected a refusal with 401, got getConfig"):
            ask(200).denied(twin=ask(twin))

    @pytest.mark.parametrize("status", [302, 400, 403, 404, 500])
    def test_another_refusal_is_wrong(self, ask: Callable[..., Answer], status: int) -> None:
        """Another status than 401 fails where the right credentials are accepted."""
        with pytest.raises(AssertionError, match=f"got getConfig → {status}"):
            ask(status).denied(twin=ask(200))

    @pytest.mark.parametrize("status", [400, 401])
    def test_what_cannot_be_read_may_be_a_wrong_request(
        self, ask: Callable[..., Answer], status: int
    ) -> None:
        """Credentials that cannot be read may be refused with 400 or 401, and not with 403."""
        ask(status).denied(twin=ask(200), unreadable=True)

        with pytest.raises(AssertionError, match="expected a refusal with 401 or 400"):
            ask(403).denied(twin=ask(200), unreadable=True)

    def test_the_code_has_to_fit(self, ask: Callable[..., Answer]) -> None:
        """A 401 with another code than the expected one fails."""
        with pytest.raises(AssertionError, match="expected the code UNAUTHORIZED, got"):
            ask(401, "X").denied("UNAUTHORIZED", twin=ask(200))

    def test_two_refusals_for_something_else_tell_nothing(self, ask: Callable[..., Answer]) -> None:
        """Two 404 make the check not exercised, as the operation may not be offered."""
        with pytest.raises(ResourceMissing, match="whoever sends it, it is refused"):
            ask(404).denied(twin=ask(404))

    def test_right_credentials_that_are_refused_prove_nothing(
        self, ask: Callable[..., Answer]
    ) -> None:
        """Two 401 make the check inconclusive, as the right credentials are refused too."""
        with pytest.raises(TwinRefused, match="with the right credentials it was refused too"):
            ask(401).denied(twin=ask(401))


class TestSecret:
    """Every answer is searched for the client secret."""

    @staticmethod
    def findings(client: RecordingClient) -> list[Finding]:
        """Return the findings of one answer on the requirement for the secret."""
        collected: list[Finding] = []

        def listen(_: Exchange, findings: tuple[Finding, ...], __: tuple[str, ...]) -> None:
            collected.extend(
                finding for finding in findings if finding.requirement == scenarios.SECRET
            )

        client.listener = listen
        client.call("getConfig")
        return collected

    @pytest.mark.parametrize(
        ("body", "headers", "place"),
        [
            ({"key": f"it is {CLIENT_SECRET}."}, {}, "body"),
            ({"key": base64_of(f"{TOKEN_ID}:{CLIENT_SECRET}")}, {}, "body"),
            ({CLIENT_SECRET: 1}, {}, "body"),
            ({}, {"x-echo": f"Basic {base64_of(f'{TOKEN_ID}:{CLIENT_SECRET}')}"}, "header"),
        ],
    )
    def test_it_is_found(
        self, stand_in: Start, connect: Connect, body: Any, headers: dict[str, str], place: str
    ) -> None:
        """The secret is found plain and in base64, in body and headers; the message omits it."""
        client = connect(stand_in(standins.answers(200, body, headers=headers)).base_url)

        (finding,) = self.findings(client)

        assert not finding.passed
        assert finding.detail == f"getConfig answered 200 with the client secret in its {place}"

    def test_it_is_found_behind_escapes(self, stand_in: Start, connect: Connect) -> None:
        """The secret is found where JSON spells each of its characters by number."""
        escaped = "".join(f"\\u{ord(character):04x}" for character in CLIENT_SECRET)
        content = f'{{"key": "{escaped}"}}'
        assert json.loads(content) == {"key": CLIENT_SECRET}
        client = connect(stand_in(standins.answers(200, content.encode())).base_url)

        (finding,) = self.findings(client)

        assert not finding.passed

    def test_an_answer_without_it_passes(self, stand_in: Start, connect: Connect) -> None:
        """An answer with the token id, which is no secret, passes."""
        client = connect(stand_in(standins.answers(200, {"token": TOKEN_ID})).base_url)

        assert self.findings(client) == [Finding(scenarios.SECRET, passed=True)]


class TestGrounds:
    """The table of whole requests, by operation."""

    def test_they_are_of_operations(self) -> None:
        """Each entry of the table belongs to an operation of the document."""
        assert set(GROUNDS) - set(document().operations) == set()

    def test_every_operation_that_needs_a_resource_has_one(self) -> None:
        """Operations with a path parameter, a required parameter or body have an entry."""
        needy = {
            operation.id
            for operation in document().operations.values()
            if operation.body_required
            or any(
                parameter["in"] == "path" or parameter.get("required")
                for parameter in operation.raw["parameters"]
            )
        }

        assert needy - set(GROUNDS) == set()

    def test_a_groundless_request_names_what_does_not_exist(self) -> None:
        """A request without ground names a made-up resource and has no body."""
        operation = document().operations["confirmEmail"]
        # Nothing is sent, so that no platform is needed.
        call = Request(operation, Ground(), platform=None, whole=False)  # type: ignore[arg-type]

        assert call.path == {"customerId": MADE_UP}
        assert (call.query, call.state(), call.shows) == ({}, None, False)


def test_the_credentials_are_asked_for_by_every_operation() -> None:
    """The requirements on credentials list every operation; a new one has to be added to them."""
    every = set(document().operations)
    requirements = {*scenarios.FAULTS, scenarios.CODE, scenarios.ACCEPTED, scenarios.NO_EFFECT}

    assert {name for name in requirements if set(catalogue()[name].operations) != every} == set()
