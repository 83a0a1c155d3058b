"""The client of a run that is judged again: it asks the recording in the place of the target."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace

import httpx

from conformance.contract.judge import Judge
from conformance.exchange.budget import Budget
from conformance.exchange.client import RecordingClient
from conformance.exchange.clock import RecordedClock
from conformance.exchange.cuts import AnswerLost
from conformance.exchange.journal import BodyForm, Exchange, Journal
from conformance.exchange.lanes import lane
from conformance.exchange.packed import unpack
from conformance.exchange.recording import NotRecorded, Recording, key
from conformance.exchange.redaction import MASK, Redactor
from conformance.exchange.response import (
    ConnectionBroken,
    Failure,
    Response,
    ResponseTooSlow,
)
from conformance.sut.reading import ResponseTooLarge, ResponseUnreadable
from conformance.sut.target import Target
from conformance.verdict.decisions import Unmet, Unusable

_FAULTS: Mapping[str, type[Unmet]] = {
    fault.__name__: fault
    for fault in (
        AnswerLost,
        ConnectionBroken,
        ResponseTooSlow,
        ResponseTooLarge,
        ResponseUnreadable,
        Unusable,
    )
}


class ReplayingClient(RecordingClient):
    """Answers each request with what the recorded test got for it, and sends nothing.

    The clock of the run is set to the time of the answer.
    """

    def __init__(
        self,
        target: Target,
        judge: Judge,
        journal: Journal,
        budget: Budget,
        redactor: Redactor,
        *,
        recording: Recording,
        clock: RecordedClock,
    ) -> None:
        super().__init__(target, judge, journal, budget, redactor)
        self._recording = recording
        self._clock = clock

    def _exchange(
        self,
        request: httpx.Request,
        auth: httpx.Auth | None,  # noqa: ARG002 - credentials stand in no recording
        name: str,
        *,
        ours: bool = True,  # noqa: ARG002 - whoever it went to has answered
    ) -> Response | Failure:
        sent = key(name, request.method, self._url_of(request), self._sent(request), lane())
        recorded = self._recording.take(self._redact.text(sent), name)
        self._clock.set(recorded.at)
        if recorded.error:
            fault = _FAULTS.get(recorded.fault, ConnectionBroken)
            return self._fault(fault, name, recorded.error, recorded.seconds)
        return self._answered(recorded, name)

    def _answered(self, recorded: Exchange, name: str) -> Response:
        if recorded.body_form is BodyForm.MASKED:
            raise NotRecorded(f"what the answer to {name} told of people was not recorded")
        body, headers = recorded.response_body, recorded.response_headers
        if recorded.body_form is BodyForm.CUT:
            content = _whole(recorded)
        elif recorded.body_form is BodyForm.JSON:
            content = "" if body is None else json.dumps(body)
        else:
            content = body or ""
        # Where the client secret had stood, the one of this run has to stand.
        if "body" in recorded.told:
            content = content.replace(MASK, self._target.client_secret)
        if "header" in recorded.told:
            headers = {
                word: value.replace(MASK, self._target.client_secret)
                for word, value in headers.items()
            }
        answer = httpx.Response(recorded.status, headers=headers)
        response = Response.read(answer, content.encode(), recorded.seconds)
        if recorded.body_form is BodyForm.CUT:
            return response
        return replace(
            response,
            is_json=recorded.body_form is BodyForm.JSON,
            is_bounded=recorded.body_form is not BodyForm.UNBOUNDED,
        )


def _whole(recorded: Exchange) -> str:
    """Return the body of an answer of which the beginning is written down.

    Raises:
        NotRecorded: the rest is not there.
    """
    try:
        if recorded.packed:
            return unpack(recorded.packed)
        why = "it is too long, also once it is compressed"
    except ValueError as error:
        why = str(error)
    told = f"only the beginning of the answer to {recorded.operation} was recorded"
    raise NotRecorded(f"{told}: {why}")
