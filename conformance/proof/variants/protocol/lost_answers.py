"""Conforming variants of requests whose client is gone."""

from __future__ import annotations

from typing import Any

from conformance.proof.kit.builders import Handler, together
from conformance.proof.kit.lost import where_gone
from conformance.proof.variant import declare
from conformance.reference.internal_accounts import rule_based
from conformance.reference.quotes import quotes
from conformance.reference.service import Service
from conformance.reference.unit import Ask

HANDLERS: tuple[Handler, ...] = (
    quotes.create,
    quotes.execute,
    quotes.authorize,
    quotes.approve,
    rule_based.create,
)


def leave_undone(_service: Service, _ask: Ask) -> Any:
    """Carry nothing out: nobody waits for it any more."""


declare(
    "N440",
    "undone",
    "what moves money or cannot be undone is not carried out where the client is gone",
    together(*(where_gone(handler, leave_undone) for handler in HANDLERS)),
)
