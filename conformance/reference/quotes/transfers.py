"""The deprecated same-currency transfers: quotes that are executed at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.reference import errors, fields, rules
from conformance.reference.embedded_wallets import embedded_wallets
from conformance.reference.quotes import parties, quotes
from conformance.reference.transactions import transactions

if TYPE_CHECKING:
    from conformance.reference.store import Json
    from conformance.reference.unit import Ask, Unit


def transfer_in(unit: Unit, ask: Ask) -> Json:
    """Pull money from an external account into an internal one; returns the transaction."""
    return _transfer(unit, ask, "INCOMING", "CREDIT", ("EXTERNAL", "INTERNAL"))


def transfer_out(unit: Unit, ask: Ask) -> Json:
    """Send money from an internal account to an external one; returns the transaction."""
    return _transfer(unit, ask, "OUTGOING", "DEBIT", ("INTERNAL", "EXTERNAL"))


def _transfer(unit: Unit, ask: Ask, type_: str, direction: str, kinds: tuple[str, str]) -> Json:
    body = fields.demand(ask.body, rules.TRANSFER_FIELDS)
    source, destination = ends_of(unit, body)
    if (source.kind, destination.kind) != kinds:
        message = f"Expected {kinds[0]} as source and {kinds[1]} as destination."
        raise errors.invalid_input(errors.field_error("source.accountId", message))
    refuse_conversion(source, destination)
    order = quotes.Order(
        source, destination, "SENDING", int(body["amount"]), type=type_, direction=direction
    )
    quote = quotes.draft(unit, order)
    embedded_wallets.refuse_unsigned(unit, quote)
    quotes.start(unit, quote)
    return transactions.view(transactions.get(unit, quote.transaction_id))


def ends_of(unit: Unit, body: Json) -> tuple[parties.Party, parties.Party]:
    """Return who sends and who receives; raises ``Refusal`` where one of them cannot."""
    source = parties.source_of(unit, {"sourceType": "ACCOUNT", **body["source"]})
    target = {"destinationType": "ACCOUNT", **body["destination"]}
    return source, parties.destination_of(unit, target)


def refuse_conversion(source: parties.Party, destination: parties.Party) -> None:
    """Refuse a transfer between accounts in two currencies."""
    if source.currency != destination.currency:
        raise errors.Refusal(
            "INVALID_CURRENCY", "Expected accounts in one currency. Use POST /quotes to convert."
        )
