"""Mutants of requests whose client is gone: they are carried out in part, or twice."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance.proof.kit.builders import Handler
from conformance.proof.kit.lost import where_gone
from conformance.proof.mutant import declare
from conformance.proof.mutants.quotes.toolkit import transaction_of
from conformance.reference.internal_accounts import ledger
from conformance.reference.quotes import quotes
from conformance.reference.service import Service
from conformance.reference.store import Quote
from conformance.reference.unit import Ask, Unit


def then(handler: Handler, change: Callable[[Unit, Quote], None]) -> Callable[[Service, Ask], Any]:
    """Return what carries a request for a quote out, and changes the quote afterwards."""

    def act(service: Service, ask: Ask) -> Any:
        with service.unit() as unit:
            answer = handler(unit, ask)
            change(unit, quotes.get(unit, ask.params["quoteId"]))
            return answer

    return act


def forget(status: str) -> Callable[[Unit, Quote], None]:
    """Return what gives a quote its status back, and lets nothing but the debit stand."""

    def change(unit: Unit, quote: Quote) -> None:
        quote.status = status
        transaction_of(unit, quote).status = "PENDING"
        unit.jobs.clear()

    return change


def give_back(unit: Unit, quote: Quote) -> None:
    """Take back the debit of an execution alone."""
    legs = quotes.debit_legs(quote)
    ledger.post(unit, [ledger.Leg(leg.account, leg.currency, -leg.amount) for leg in legs])


def twice(service: Service, ask: Ask) -> Any:
    """Carry a request out twice, as a proxy makes it that sends again what got no answer."""
    service.answer(quotes.create, ask)
    return service.answer(quotes.create, ask)


declare(
    "QUO-950",
    "forgotten",
    "an execution whose client is gone is debited, and its quote stays PENDING",
    where_gone(quotes.execute, then(quotes.execute, forget("PENDING"))),
)
declare(
    "QUO-951",
    "undebited",
    "the debit of an execution whose client is gone is taken back, and nothing else of it",
    where_gone(quotes.execute, then(quotes.execute, give_back)),
)
declare(
    "QUO-952",
    "twice",
    "a quote that is executed at its creation is created twice where the client is gone",
    where_gone(quotes.create, twice),
)
declare(
    "QUO-954",
    "forgotten",
    "an authorization whose client is gone is debited, and the quote still waits for it",
    where_gone(quotes.authorize, then(quotes.authorize, forget("PENDING_AUTHORIZATION"))),
)
