"""Credentials: wrong ones are made and judged, and every operation is asked for them."""

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


def coded(text: str) -> str:
    """Return a text in base64."""
    return base64.b64encode(text.encode()).decode()


@pytest.mark.parametrize("fault", scenarios.FAULTS)
def test_a_faulty_header_is_sent_as_it_is(stand_in: Start, connect: Connect, fault: str) -> None:
    """It is never the right one."""
    server = stand_in(standins.answers())
    client = connect(server.base_url)

    client.call("getConfig", auth=client.presenting(scenarios.FAULTS[fault]))

    sent = server.received[0].headers.get("authorization")
    assert sent != f"Basic {coded(f'{TOKEN_ID}:{CLIENT_SECRET}')}"
    assert (sent is None) == (fault == "AUT-030")


class TestDenied:
    """A refusal of credentials, beside the answer that the right ones get."""

    @pytest.fixture
    def ask(self, stand_in: Start, connect: Connect) -> Callable[..., Answer]:
        """Return the answer of a target that answers every request alike."""

        def ask(status: int, code: str = "") -> Answer:
            body = {"code": code, "reason": "x"} if code else {}
            return connect(stand_in(standins.answers(status, body)).base_url).call("getConfig")

        return ask

    @pytest.mark.parametrize("twin", [200, 204, 400, 404, 409, 501])
    def test_401_tells_from_whatever_else_the_right_ones_get(
        self, ask: Callable[..., Answer], twin: int
    ) -> None:
        """The credentials made the difference."""
        ask(401, "UNAUTHORIZED").denied("UNAUTHORIZED", twin=ask(twin))

    @pytest.mark.parametrize("twin", [200, 404])
    def test_to_be_accepted_is_wrong(self, ask: Callable[..., Answer], twin: int) -> None:
        """Whatever became of the twin, which what was accepted may have spoilt."""
        with pytest.raises(AssertionError, match="expected a refusal with 401, got getConfig"):
            ask(200).denied(twin=ask(twin))

    @pytest.mark.parametrize("status", [302, 400, 403, 404, 500])
    def test_another_refusal_is_wrong(self, ask: Callable[..., Answer], status: int) -> None:
        """Where the same request is accepted by right."""
        with pytest.raises(AssertionError, match=f"got getConfig → {status}"):
            ask(status).denied(twin=ask(200))

    def test_the_code_has_to_fit(self, ask: Callable[..., Answer]) -> None:
        """Where one is given."""
        with pytest.raises(AssertionError, match="expected the code UNAUTHORIZED, got"):
            ask(401, "X").denied("UNAUTHORIZED", twin=ask(200))

    def test_two_refusals_for_something_else_tell_nothing(self, ask: Callable[..., Answer]) -> None:
        """The operation may not be offered at all."""
        with pytest.raises(ResourceMissing, match="whoever sends it, it is refused"):
            ask(404).denied(twin=ask(404))

    def test_right_credentials_that_are_refused_prove_nothing(
        self, ask: Callable[..., Answer]
    ) -> None:
        """It is for another requirement to complain."""
        with pytest.raises(TwinRefused, match="with the right credentials it was refused too"):
            ask(401).denied(twin=ask(401))


class TestSecret:
    """Every answer is looked at for the client secret."""

    @staticmethod
    def findings(client: RecordingClient) -> list[Finding]:
        """Return what one answer says about the requirement."""
        heard: list[Finding] = []

        def listen(_: Exchange, found: tuple[Finding, ...], __: tuple[str, ...]) -> None:
            heard.extend(one for one in found if one.requirement == scenarios.SECRET)

        client.listener = listen
        client.call("getConfig")
        return heard

    @pytest.mark.parametrize(
        ("body", "headers", "place"),
        [
            ({"key": f"it is {CLIENT_SECRET}."}, {}, "body"),
            ({"key": coded(f"{TOKEN_ID}:{CLIENT_SECRET}")}, {}, "body"),
            ({CLIENT_SECRET: 1}, {}, "body"),
            ({}, {"x-echo": f"Basic {coded(f'{TOKEN_ID}:{CLIENT_SECRET}')}"}, "header"),
        ],
    )
    def test_it_is_found(
        self, stand_in: Start, connect: Connect, body: Any, headers: dict[str, str], place: str
    ) -> None:
        """Plainly or coded, and the message does not repeat it."""
        client = connect(stand_in(standins.answers(200, body, headers=headers)).base_url)

        (found,) = self.findings(client)

        assert not found.passed
        assert found.detail == f"getConfig answered 200 with the client secret in its {place}"

    def test_it_is_found_behind_escapes(self, stand_in: Start, connect: Connect) -> None:
        """JSON may spell each character by its number."""
        escaped = "".join(f"\\u{ord(character):04x}" for character in CLIENT_SECRET)
        content = f'{{"key": "{escaped}"}}'
        assert json.loads(content) == {"key": CLIENT_SECRET}
        client = connect(stand_in(standins.answers(200, content.encode())).base_url)

        (found,) = self.findings(client)

        assert not found.passed

    def test_an_answer_without_it_passes(self, stand_in: Start, connect: Connect) -> None:
        """The token id is no secret."""
        client = connect(stand_in(standins.answers(200, {"token": TOKEN_ID})).base_url)

        assert self.findings(client) == [Finding(scenarios.SECRET, passed=True)]


class TestGrounds:
    """Each operation has a whole request."""

    def test_they_are_of_operations(self) -> None:
        """What is no operation is never sent."""
        assert set(GROUNDS) - set(document().operations) == set()

    def test_every_operation_that_needs_a_resource_has_one(self) -> None:
        """Without it, its path would lead nowhere, or its body be missing."""
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
        """And has no body, even where one is required."""
        operation = document().operations["confirmEmail"]
        # Nothing is sent, so that no platform is needed.
        call = Request(operation, Ground(), platform=None, whole=False)  # type: ignore[arg-type]

        assert call.path == {"customerId": MADE_UP}
        assert (call.query, call.state(), call.shows) == ({}, None, False)


def test_the_credentials_are_asked_for_by_every_operation() -> None:
    """A new operation is tested by itself; the catalogue has to be told."""
    every = set(document().operations)
    stated = {*scenarios.FAULTS, scenarios.CODE, scenarios.ACCEPTED, scenarios.NO_EFFECT}

    assert {name for name in stated if set(catalogue()[name].operations) != every} == set()
