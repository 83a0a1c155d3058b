"""How requests that the interface does not have, or that cannot be read, are answered."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import httpx

from conformance.exchange.answer import Answer
from conformance.verdict.decisions import ResourceMissing

_ANY_REFUSAL = (
    *(400, 401, 403, 404, 405, 406, 409, 410, 411, 412),
    *(413, 414, 415, 422, 423, 424, 429, 431),
)
"""Statuses of a client error: whoever stands before the service may be who answers."""

_UNAVAILABLE = (501, 503)


def require_offer(twin: Answer) -> None:
    """Raise ``ResourceMissing`` where the right request is refused too.

    A target need not offer every operation, nor everything that its right request builds on; what
    holds for all operations is decided by those that it offers.
    """
    if not twin.accepted:
        raise ResourceMissing(f"the same request without the fault was refused as well: {twin}")


def expect_refused(answer: Answer, twin: Answer) -> None:
    """Assert that a request was refused with a client error; ``twin`` is that to the right one.

    Raises:
        ResourceMissing: the right one was refused too.
    """
    __tracebackhide__ = True
    if not answer.accepted:
        require_offer(twin)
    answer.refused(*_ANY_REFUSAL, twin=twin)


def require_state(state: Any) -> None:
    """Raise ``ResourceMissing`` where nothing can be seen of what an operation changes."""
    if state is None:
        raise ResourceMissing("what the operation changes cannot be seen")


def expect_unbroken(answers: Iterable[Answer]) -> None:
    """Assert that none of the answers is a server error.

    That an operation is not offered, or not for now, is none.
    """
    __tracebackhide__ = True
    broken = [
        answer
        for answer in answers
        if httpx.codes.is_server_error(answer.status) and answer.status not in _UNAVAILABLE
    ]
    assert not broken, f"expected no server error; {len(broken)} came: {broken[:3]}"


def expect_error_object(answers: Iterable[Answer]) -> None:
    """Assert that all answers that refuse have an error object as body.

    Raises:
        ResourceMissing: none of them refuses.
    """
    __tracebackhide__ = True
    refusals = [answer for answer in answers if httpx.codes.is_client_error(answer.status)]
    if not refusals:
        raise ResourceMissing("nothing was refused")
    bare = [refusal for refusal in refusals if not _is_error(refusal)]
    assert not bare, f"expected an error object in each refusal; none is in {bare[:3]}"


def _is_error(refusal: Answer) -> bool:
    body = refusal.body
    return refusal.code is not None and isinstance(body.get("reason"), str)
