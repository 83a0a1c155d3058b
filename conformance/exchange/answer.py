"""The answer to one request, and what may be asserted of it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import httpx

from conformance.contract.difference import Difference, Kind
from conformance.contract.document import Operation
from conformance.contract.judge import error_code, error_codes, faults_of_requests
from conformance.exchange.journal import Exchange
from conformance.sut.reading import http_date
from conformance.text.characters import visible
from conformance.verdict.decisions import (
    HarnessError,
    ResourceMissing,
    TwinRefused,
    expect,
)

_BLAMING = (400, 404, 409, 422)
_BLAMING_BY_THEMSELVES = (404, 409)
_REFUSALS = (400, 401, 403, 404, 409, 412, 422, 423, 424)
_ID = re.compile(r"[A-Z][A-Za-z]*:.+")
_DIGIT, _LETTER = re.compile(r"\d"), re.compile(r"[^\W\d_]")
_MAX_FAULTS = 4
"""In how many members a request may differ from its twin and still show which is the fault."""

_PURPOSE = "purposeOfPayment"
_INVALID = 400
_UNAUTHORIZED = 401
_SERVER_ERRORS = 500
_NOT_OFFERED = (501, 503)
_SHOWN_CHARS = 300


@dataclass(frozen=True, slots=True, repr=False)
class Answer:
    """What the target answered to one request.

    ``body`` is the decoded JSON value, or ``None`` where there is none.
    """

    operation: Operation
    status: int
    headers: Mapping[str, str]
    body: Any
    exchange: Exchange

    @property
    def accepted(self) -> bool:
        """Whether the status is a success (2xx)."""
        return httpx.codes.is_success(self.status)

    @property
    def offered(self) -> bool:
        """Whether the target has the operation: one that lacks it, or is busy, may say so."""
        return self.status not in _NOT_OFFERED

    @property
    def broken(self) -> bool:
        """Whether the status is a server error, 500 or above, of an operation that is offered."""
        return self.status >= _SERVER_ERRORS and self.offered

    @property
    def date(self) -> datetime | None:
        """When the target answered by its own clock, by the ``Date`` header, if it has one."""
        return http_date(self.headers.get("date", ""))

    @property
    def code(self) -> str | None:
        """The ``code`` of the error object, if the body is one."""
        return error_code(self.body)

    @property
    def breaks(self) -> tuple[str, ...]:
        """The requirement that is broken if nothing spoke against the request; none if accepted.

        A refusal that the state of the world may explain, such as a limit, a rate or a provider,
        breaks none. What a server error breaks is decided as it comes, by the judge.
        """
        named = self.operation.requirements.get("accepted")
        return (named,) if named is not None and self._blames_the_request else ()

    @property
    def _blames_the_request(self) -> bool:
        if self._asks_for_purpose:
            return False
        if self.code in error_codes():
            return self.status in _BLAMING and self.code in faults_of_requests()
        return self.status in _BLAMING_BY_THEMSELVES

    @property
    def _asks_for_purpose(self) -> bool:
        """Whether a purposeOfPayment is missed, which some destinations require (line 383)."""
        details = self.body.get("details") if isinstance(self.body, Mapping) else None
        errors = details.get("errors") if isinstance(details, Mapping) else None
        listed = errors if isinstance(errors, list) else ()
        named = [one.get("field") for one in listed if isinstance(one, Mapping)]
        sent = self.exchange.request_body
        return _PURPOSE in named and not (isinstance(sent, Mapping) and _PURPOSE in sent)

    def refused(self, *expected: int | str, twin: Answer) -> None:
        """Assert that the request was refused, and for its fault.

        Args:
            expected: HTTP statuses and error codes, one of each of which must have come;
                without a status any documented client error counts, without a code any code.
            twin: the answer to the same request without the fault, sent in the same test.

        Raises:
            TwinRefused: the twin was not accepted, so that the refusal would prove nothing.
            HarnessError: the twin is no call of the same operation.
            AssertionError: the request was accepted, or refused in another way.
        """
        __tracebackhide__ = True
        statuses = [item for item in expected if isinstance(item, int)] or _REFUSALS
        codes = [item for item in expected if isinstance(item, str)]
        # Accepting it may have used up what the twin needs, so the twin does not matter then.
        wanted = f"a refusal with {_either(statuses)}"
        other_status = Difference(
            Kind.STATUS,
            self.operation.id,
            # Where it is refused, the fault was noticed: what is wrong is the refusal.
            fault=_fault(self.exchange.request_body, twin.exchange.request_body)
            if self.accepted
            else "",
            expected=_either(statuses) if statuses is not _REFUSALS else "a refusal",
            got=self._told,
        )
        other_code = replace(
            other_status, kind=Kind.CODE, expected=_either(codes), got=self.code or ""
        )
        self._expect(not self.accepted, wanted, other_status)
        if not twin.accepted:
            raise TwinRefused(f"the same request without the fault was refused as well: {twin}")
        if twin.operation.id != self.operation.id:
            raise HarnessError(f"{twin.operation.id} cannot be the twin of {self.operation.id}")
        beside = f"the accepted twin: {twin}"
        self._expect(self.status in statuses, wanted, other_status, beside)
        fits = not codes or self.code in codes
        self._expect(fits, f"the code {_either(codes)}", other_code, beside)

    def denied(self, *codes: str, twin: Answer, unreadable: bool = False) -> None:
        """Assert that the request was refused with 401, and for its credentials.

        Unlike that of another fault, the twin need not be accepted: where it is refused as well,
        but not for its credentials, they are what made the difference.

        Args:
            codes: error codes, one of which must have come; without any, any code.
            twin: the answer to the same request with the right credentials.
            unreadable: whether 400 will do as well, as the credentials could not be read.

        Raises:
            TwinRefused: the right credentials were refused too.
            ResourceMissing: both were refused for something else, so that there is no telling
                whether the credentials would have been looked at.
            AssertionError: the request was accepted, or refused in another way.
        """
        __tracebackhide__ = True
        if not (self.accepted or twin.accepted):
            if twin.status == _UNAUTHORIZED:
                raise TwinRefused(f"with the right credentials it was refused too: {twin}")
            if self.status != _UNAUTHORIZED:
                raise ResourceMissing(f"whoever sends it, it is refused: {self}, {twin}")
        statuses = (_UNAUTHORIZED, _INVALID) if unreadable else (_UNAUTHORIZED,)
        wanted = f"a refusal with {_either(statuses)}"
        other_status = Difference(
            Kind.STATUS, self.operation.id, expected=_either(statuses), got=self._told
        )
        other_code = replace(
            other_status, kind=Kind.CODE, expected=_either(codes), got=self.code or ""
        )
        self._expect(not self.accepted, wanted, other_status)
        self._expect(self.status in statuses, wanted, other_status, f"the accepted twin: {twin}")
        self._expect(not codes or self.code in codes, f"the code {_either(codes)}", other_code)

    def expect_accepted(self) -> None:
        """Assert that the request was accepted.

        Raises:
            AssertionError: it was refused.
        """
        __tracebackhide__ = True
        self._expect(self.accepted, "a success", self.refusal)

    @property
    def refusal(self) -> Difference:
        """In what the answer differs, where the request had to be accepted."""
        return Difference(Kind.STATUS, self.operation.id, expected="a success", got=self._told)

    @property
    def _told(self) -> str:
        """The status, and the error code where there is one."""
        return " ".join(filter(None, (str(self.status), self.code)))

    def _expect(
        self, condition: object, expected: str, difference: Difference, also: str = ""
    ) -> None:
        __tracebackhide__ = True
        expect(condition, expected, self, also, self.exchange.id, difference=difference)

    def __repr__(self) -> str:
        # What ``assert answer.accepted, answer`` shows.
        shown = visible(json.dumps(self.exchange.response_body, ensure_ascii=False))
        if len(shown) > _SHOWN_CHARS:
            shown = f"{shown[:_SHOWN_CHARS]}…"
        return f"{self.operation.id} → {self.status} {shown}"


def _fault(faulty: Any, accepted: Any) -> str:
    """Return the members in which a request body differs from that of its twin.

    Some differ as each request has ids and numbers of its own: ids are left out, and where anything
    else differs, texts of one shape. Where nearly everything differs nothing is returned, as the
    fault is not to be told from the rest.
    """
    found = set(_differing(faulty, accepted, ()))
    members = {path for path, is_drawn in found if not is_drawn} or {path for path, _ in found}
    return ", ".join(sorted(members)) if len(members) <= _MAX_FAULTS else ""


def _differing(one: Any, other: Any, path: tuple[str, ...]) -> Iterator[tuple[str, bool]]:
    """Yield the members that differ, each with whether both have texts of one shape."""
    if isinstance(one, dict) and isinstance(other, dict):
        for name in one.keys() | other.keys():
            yield from _differing(one.get(name), other.get(name), (*path, name))
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for first, second in zip(one, other, strict=True):
            yield from _differing(first, second, (*path, "*"))
    elif one != other and path and not (_is_id(one) and _is_id(other)):
        texts = isinstance(one, str) and isinstance(other, str)
        yield ".".join(path), texts and _shape(one) == _shape(other)


def _shape(text: str) -> str:
    """Return a text with one letter for all letters, and one digit for all digits."""
    return _LETTER.sub("a", _DIGIT.sub("0", text))


def _is_id(value: Any) -> bool:
    return isinstance(value, str) and _ID.fullmatch(value) is not None


def _either(options: Iterable[object]) -> str:
    return " or ".join(map(str, options))
