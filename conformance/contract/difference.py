"""In what an answer differs from what it has to be, as data: what failures are grouped by."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """What of an answer is not as it has to be."""

    STATUS = "status"
    CODE = "error code"
    CODE_STATUS = "status of an error code"
    MEDIA_TYPE = "media type"
    BODY = "body"
    WEBHOOK = "webhook"
    NO_WEBHOOK = "no webhook"
    CHECK = "check"


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference. Failures with equal differences have one cause.

    Args:
        kind: what is different.
        operation: the ``operationId`` of the request, or the type of a webhook.
        fault: the members in which a request that should have been refused differs from its
            accepted twin, as dotted paths.
        place: where it is: a dotted path in the body with ``*`` for each index, an error code, or
            for a check of the suite its function.
        expected: statuses, codes, media types, or the JSON Schema keyword that does not hold.
        got: the status, code or media type that came.
    """

    kind: Kind
    operation: str = ""
    fault: str = ""
    place: str = ""
    expected: str = ""
    got: str = ""

    def __str__(self) -> str:
        where = f"{self.operation}: " if self.operation else ""
        fault = f" to a fault in {self.fault}" if self.fault else ""
        match self.kind:
            case Kind.STATUS | Kind.CODE:
                told = self.got or ("nothing" if self.kind is Kind.STATUS else "no error code")
                return f"{where}answers {told}{fault}, not {self.expected}"
            case Kind.CODE_STATUS:
                return f"{where}{self.place} comes with {self.got}, not with {self.expected}"
            case Kind.MEDIA_TYPE:
                return f"{where}answers with {self.got or 'no media type'}, not {self.expected}"
            case Kind.BODY | Kind.WEBHOOK:
                return f"{where}{self.place or 'the whole'} does not keep to {self.expected!r}"
            case Kind.NO_WEBHOOK:
                return f"{self.operation} did not come"
            case Kind.CHECK:
                after = f", after {self.got}" if self.got else ""
                return f"{where}what {self.place} checks does not hold{after}"
