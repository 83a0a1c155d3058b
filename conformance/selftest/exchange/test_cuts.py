"""Lines that the suite cuts on purpose: what was sent, what is raised and what is written down."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from conformance.exchange.client import RecordingClient
from conformance.exchange.curl import curl_chain
from conformance.exchange.cuts import AnswerLost, Cut
from conformance.exchange.journal import Exchange
from conformance.exchange.transcript import transcript
from conformance.selftest import standins
from conformance.selftest.standins import Behaviour, StandIn
from conformance.verdict.decisions import TargetLost

Connect = Callable[..., RecordingClient]
Start = Callable[[Behaviour], StandIn]

CUTS = pytest.mark.parametrize("cut", list(Cut), ids=[cut.name for cut in Cut])


def execute(client: RecordingClient, cut: Cut) -> None:
    """Send an execution whose line is cut."""
    client.call("executeQuote", path={"quoteId": "Quote:1"}, cut=cut)


@pytest.mark.parametrize(
    ("cut", "arrived"),
    [(Cut.BEFORE_SENDING, 0), (Cut.AFTER_SENDING, 1), (Cut.WITHIN_ANSWER, 1)],
)
def test_a_request_is_sent_at_most_once(
    stand_in: Start, connect: Connect, cut: Cut, arrived: int
) -> None:
    """Nothing arrives of one that is cut before, and one that is cut later arrives whole."""
    server = stand_in(standins.answers(200, {}))
    client = connect(server.base_url)

    with pytest.raises(AnswerLost, match="the suite cut the line"):
        execute(client, cut)
    # It is accepted after whatever came before it.
    client.call("getConfig")
    server.finish()

    executions = [received for received in server.received if received.method == "POST"]
    assert len(executions) == arrived


@CUTS
def test_what_was_cut_is_told(stand_in: Start, connect: Connect, cut: Cut) -> None:
    """The exchange has no status, and transcript and script say that the suite cut the line."""
    client = connect(stand_in(standins.answers(200, {})).base_url)
    heard: list[Exchange] = []
    client.listener = lambda exchange, *_: heard.append(exchange)

    with pytest.raises(AnswerLost):
        execute(client, cut)

    (exchange,) = heard
    assert exchange.status == 0
    assert exchange.error == f"the suite cut the line {cut}"
    assert f"no response: {exchange.error}" in transcript([exchange])
    assert exchange.error in curl_chain([exchange], client.base_url)


@CUTS
def test_cuts_are_no_outage(stand_in: Start, connect: Connect, cut: Cut) -> None:
    """A target is not given up for lines that the suite cuts, however many."""
    client = connect(stand_in(standins.answers(200, {})).base_url, timing={"outage": 0.001})

    for _ in range(10):
        with pytest.raises(AnswerLost):
            execute(client, cut)

    assert client.call("getConfig").status == 200


def test_a_silent_target_is_told_from_a_cut(stand_in: Start, connect: Connect) -> None:
    """Without an answer to cut, the request ends at its deadline as any other does."""
    client = connect(stand_in(standins.hangs()).base_url, timing={"request": 0.2})

    with pytest.raises(TargetLost, match="took longer") as raised:
        execute(client, Cut.WITHIN_ANSWER)

    assert not isinstance(raised.value, AnswerLost)


def test_a_target_that_closes_is_told_from_a_cut(stand_in: Start, connect: Connect) -> None:
    """A connection that the target closes without an answer is broken by the target."""
    client = connect(stand_in(lambda *_: None).base_url)

    with pytest.raises(TargetLost, match="no complete response") as raised:
        execute(client, Cut.WITHIN_ANSWER)

    assert not isinstance(raised.value, AnswerLost)
