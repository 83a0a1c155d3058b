"""Assertions about answers to requests that the interface does not have or cannot read."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import httpx

from conformance.exchange.answer import Answer
from conformance.verdict.decisions import Broken, ResourceMissing

_ANY_REFUSAL = (
    *(400, 401, 403, 404, 405, 406, 409, 410, 411, 412),
    *(413, 414, 415, 422, 423, 424, 429, 431),
)
"""The statuses of a client error; a proxy before the service may be what answers."""


def require_offer(twin: Answer) -> None:
    """Raise ``ResourceMissing`` if the right request is refused as well.

    A target need not offer every operation, nor everything that its right request builds on. A
    requirement on all operations is decided by those that the target offers.
    """
    if not twin.accepted:
        raise ResourceMissing(f"the same request without the fault was refused as well: {twin}")


def expect_refused(answer: Answer, twin: Answer) -> None:
    """Assert that a request was refused with a client error; ``twin`` answers the right request.

    Raises:
        ResourceMissing: the right request was refused too.
    """
    __tracebackhide__ = True
    if not answer.accepted:
        require_offer(twin)
    answer.refused(*_ANY_REFUSAL, twin=twin)


def require_state(state: Any) -> None:
    """Raise ``ResourceMissing`` if the suite cannot see what an operation changes."""
    if state is None:
        raise ResourceMissing("what the operation changes cannot be seen")


def expect_unbroken(answers: Iterable[Answer]) -> None:
    """Assert that none of the answers is a server error.

    The statuses 501 and 503 pass: they say that an operation is not offered, or not now.
    """
    __tracebackhide__ = True
    server_errors = [answer for answer in answers if answer.broken]
    for answer in server_errors[:1]:
        also = f"{len(server_errors)} came: {server_errors[:3]}"
        raise Broken("no server error", answer, also, answer.exchange.id)


def expect_error_object(answers: Iterable[Answer]) -> None:
    """Assert that the body of every refusal is an error object.

    Raises:
        ResourceMissing: none of the answers is a refusal.
    """
    __tracebackhide__ = True
    refusals = [answer for answer in answers if httpx.codes.is_client_error(answer.status)]
    if not refusals:
        raise ResourceMissing("nothing was refused")
    without_error_object = [refusal for refusal in refusals if not _is_error(refusal)]
    assert not without_error_object, (
        f"expected an error object in each refusal; none is in {without_error_object[:3]}"
    )


def _is_error(refusal: Answer) -> bool:
    body = refusal.body
    return refusal.code is not None and isinstance(body.get("reason"), str)
