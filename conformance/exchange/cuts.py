"""Lines that the suite cuts on purpose, as they break where an answer is lost."""

from __future__ import annotations

from enum import StrEnum

from conformance.verdict.decisions import TargetLost


class Cut(StrEnum):
    """At which moment of one request the suite closes its connection."""

    BEFORE_SENDING = "before it sent the request"
    AFTER_SENDING = "after it sent the request, and read no answer"
    WITHIN_ANSWER = "in the middle of the answer"


class LineCut(Exception):
    """A connection was closed by the suite, at the moment that was asked for."""


class AnswerLost(TargetLost):
    """The suite has cut the line, so that nobody knows what became of the request."""
