"""Every operation: whatever it refuses, it refuses by an error object.

The id stands with the operation in the document, as ``error-object``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from conformance.contract.document import Operation, document
from conformance.exchange.answer import Answer
from conformance.platform.grounds.request import groundless, request
from conformance.platform.platform import Platform
from conformance.verdict.decisions import ResourceMissing, expect

SOME_TEXT = "conformance"
"""What is no client's secret."""

WRONG_KIND = b"[]"
"""What no operation takes: its body is an object, or a form."""

NO_PARTS = b"--no-part--\r\n"
"""A form without any part, which none takes either."""

EITHER = ("confirmUntrust", "confirmBeneficiary")
"""Of these two one is served, and what is answered at the other one may come from anybody."""


def refused(platform: Platform, operation: Operation) -> Answer:
    """Send a request that an operation cannot take, and return the answer.

    What its path names does not exist, or its body is of another kind. Where it has neither, the
    credentials are wrong.
    """
    lay = request if operation.id in EITHER else groundless
    found = lay(operation.id, platform)
    if operation.form_schema is not None:
        headers = {"content-type": "multipart/form-data; boundary=no-part"}
        return found.send(content=NO_PARTS, headers=headers, valid=False)
    if "requestBody" in operation.raw:
        return found.send(content=WRONG_KIND, valid=False)
    if found.path:
        return found.send()
    return found.send(auth=platform.api.client.credentials(client_secret=SOME_TEXT))


def _test_of(operation: Operation) -> Callable[[Platform], None]:
    """Return the test of one operation."""

    @pytest.mark.requirement(operation.requirement("error-object"))
    def test(platform: Platform) -> None:
        answer = refused(platform, operation)

        if answer.accepted:
            raise ResourceMissing(f"it was not refused: {answer}")
        expect_error_object(answer)

    test.__name__ = test.__qualname__ = f"test_{operation.id}"
    test.__doc__ = f"A refusal by {operation.id} carries a code and a reason."
    return test


def expect_error_object(answer: Answer) -> None:
    """Assert that a refusal says by a code and in words what is wrong."""
    __tracebackhide__ = True
    expect(isinstance(answer.body, Mapping), "an error object", answer)
    code, reason = answer.body.get("code"), answer.body.get("reason")
    expect(isinstance(code, str), "a code", answer)
    expect(code, "a code", answer)
    expect(isinstance(reason, str), "a reason", answer)


globals().update(
    {f"test_{operation.id}": _test_of(operation) for operation in document().operations.values()}
)
