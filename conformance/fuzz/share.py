"""How the generated requests of an operation were answered: is it their faults that are refused?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from conformance.exchange.answer import Answer
from conformance.fuzz.requests import Prepared

_OF_THE_REQUEST = frozenset({400, 413, 415, 422})
"""What an answer says whose reason is the request itself."""


@dataclass(frozen=True, slots=True)
class Share:
    """How many generated requests were accepted, refused for their fault, and refused otherwise."""

    accepted: int
    intended: int
    other: int

    def __str__(self) -> str:
        total = self.accepted + self.intended + self.other
        accepted, intended, other = (
            f"{100 * part / max(total, 1):.0f} %"
            for part in (self.accepted, self.intended, self.other)
        )
        return (
            f"of {total} generated requests {accepted} were accepted, {intended} refused for the "
            f"fault that was generated, and {other} for another reason"
        )


def share(answered: Iterable[tuple[Prepared, Answer]]) -> Share:
    """Return how generated requests were answered."""
    accepted = intended = other = 0
    for request, answer in answered:
        if answer.accepted:
            accepted += 1
        elif _is_intended(request, answer):
            intended += 1
        else:
            other += 1
    return Share(accepted, intended, other)


def _is_intended(request: Prepared, answer: Answer) -> bool:
    """Return whether a refusal is for the generated fault, as far as it tells its reason.

    Where it names fields, one of them has the name of the member that is faulty.
    """
    if request.fault is None or answer.status not in _OF_THE_REQUEST:
        return False
    named = set(_named_fields(answer.body))
    return not named or not request.fault or _last(request.fault) in named


def _named_fields(body: Any) -> Iterable[str]:
    details = body.get("details") if isinstance(body, Mapping) else None
    errors = details.get("errors") if isinstance(details, Mapping) else None
    for error in errors if isinstance(errors, list) else ():
        if isinstance(error, Mapping) and isinstance(error.get("field"), str):
            yield _last(error["field"])


def _last(path: str) -> str:
    return path.rpartition(".")[2]
