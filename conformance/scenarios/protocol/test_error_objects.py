"""Every operation: its refusals carry an error object.

The id of the requirement stands with the operation in the document, as ``error-object``.
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
"""A text that is not the client secret of any platform."""

ARRAY_BODY = b"[]"
"""A body that no operation takes: bodies are objects or forms."""

FORM_WITHOUT_PARTS = b"--no-part--\r\n"
"""A form without parts, which no operation takes."""

ALTERNATIVES = ("confirmUntrust", "confirmBeneficiary")
"""A target serves one of these operations; a proxy may answer for the other one."""


def send_invalid_request(platform: Platform, operation: Operation) -> Answer:
    """Send a request that an operation has to refuse, and return the answer.

    The path names a resource that does not exist, or the body is of another kind. For an operation
    with neither path parameters nor body, the credentials are wrong.
    """
    build = request if operation.id in ALTERNATIVES else groundless
    invalid = build(operation.id, platform)
    if operation.form_schema is not None:
        headers = {"content-type": "multipart/form-data; boundary=no-part"}
        return invalid.send(content=FORM_WITHOUT_PARTS, headers=headers, valid=False)
    if "requestBody" in operation.raw:
        return invalid.send(content=ARRAY_BODY, valid=False)
    if invalid.path:
        return invalid.send()
    return invalid.send(auth=platform.api.client.credentials(client_secret=SOME_TEXT))


def _test_of(operation: Operation) -> Callable[[Platform], None]:
    """Return the test of one operation."""

    @pytest.mark.requirement(operation.requirement("error-object"))
    def test(platform: Platform) -> None:
        answer = send_invalid_request(platform, operation)

        if answer.accepted:
            raise ResourceMissing(f"it was not refused: {answer}")
        expect_error_object(answer)

    test.__name__ = test.__qualname__ = f"test_{operation.id}"
    test.__doc__ = f"A refusal by {operation.id} carries a code and a reason."
    return test


def expect_error_object(answer: Answer) -> None:
    """Assert that a refusal has an error object with a code and a reason."""
    __tracebackhide__ = True
    expect(isinstance(answer.body, Mapping), "an error object", answer)
    code, reason = answer.body.get("code"), answer.body.get("reason")
    expect(isinstance(code, str), "a code", answer)
    expect(code, "a code", answer)
    expect(isinstance(reason, str), "a reason", answer)


globals().update(
    {f"test_{operation.id}": _test_of(operation) for operation in document().operations.values()}
)
