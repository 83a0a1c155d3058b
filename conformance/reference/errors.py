"""The refusal of a request, and its error object."""

from __future__ import annotations

from typing import Any

from conformance.reference import rules


class Refusal(Exception):
    """A request is refused: ``code`` is a row of ``rules.ERROR_STATUS``."""

    def __init__(self, code: str, reason: str, details: dict[str, Any] | None = None) -> None:
        super().__init__(reason)
        self.code = code
        self.reason = reason
        self.details = details


class Rejection(Refusal):
    """A refusal after something was looked at and noted; what was noted is kept."""


class Demand(Exception):
    """A request is noted, and carried out once it comes back signed: ``body`` is what to sign."""

    def __init__(self, body: dict[str, Any]) -> None:
        super().__init__("The request has to be signed.")
        self.body = body


def status_of(refusal: Refusal) -> int:
    """Return the HTTP status of the refusal's code."""
    return rules.ERROR_STATUS[refusal.code]


def view(refusal: Refusal) -> dict[str, Any]:
    """Return the error object: ``code``, ``reason`` and, where there are any, ``details``."""
    body: dict[str, Any] = {"code": refusal.code, "reason": refusal.reason}
    if refusal.details is not None:
        body["details"] = refusal.details
    return body


def field_error(path: str, message: str, **constraint: Any) -> dict[str, Any]:
    """Return one entry of ``details.errors``."""
    entry: dict[str, Any] = {"field": path, "message": message}
    if constraint:
        entry["constraint"] = constraint
    return entry


def invalid_input(*errors: dict[str, Any]) -> Refusal:
    """Return the refusal that lists every invalid field."""
    names = ", ".join(str(error["field"]) for error in errors)
    reason = f"The request has invalid fields: {names}. Correct them and send it again."
    return Refusal("INVALID_INPUT", reason, {"errors": list(errors)})
