"""Mutants of executions at the same time: they look in one unit, and act in another."""

from __future__ import annotations

from typing import Any

from conformance.proof.mutant import mutant
from conformance.proof.mutants.quotes.toolkit import balance_of, in_two_steps, take
from conformance.proof.patch import Patch
from conformance.reference.internal_accounts import ledger
from conformance.reference.quotes import quotes
from conformance.reference.service import Service
from conformance.reference.store import Transaction
from conformance.reference.transactions import transactions
from conformance.reference.unit import Ask, Unit, new_id


def see_pending(unit: Unit, ask: Ask) -> str:
    """Check that a quote may be executed; return its id."""
    quote = quotes.get(unit, ask.params["quoteId"])
    quotes.next_status(unit, quote, quotes.execute_action(quote))
    quotes.refuse_stale(quote)
    return quote.id


def execute_as_seen(unit: Unit, quote_id: str) -> Any:
    """Execute a quote that was pending when it was looked at."""
    quote = quotes.get(unit, quote_id)
    quote.status = "PENDING"
    quotes.start(unit, quote)
    return quotes.view(unit, quote)


@mutant("QUO-094", "the status of a quote is not looked at again under the lock")
def status_read_before_the_lock(patch: Patch) -> None:
    patch.wrap(Service, "serve", in_two_steps(quotes.execute, see_pending, execute_as_seen))


@mutant("QUO-095", "each execution that saw the quote pending inserts a transaction")
def transaction_for_each_execution(patch: Patch) -> None:
    def act(unit: Unit, quote_id: str) -> Any:
        quote = quotes.get(unit, quote_id)
        first = transactions.get(unit, quote.transaction_id)
        if first.executed_at is not None:
            columns = {column.key: getattr(first, column.key) for column in first.__table__.columns}
            quote.transaction_id = new_id("Transaction")
            unit.session.add(Transaction(**{**columns, "id": quote.transaction_id}))
            unit.session.flush()
        return execute_as_seen(unit, quote_id)

    patch.wrap(Service, "serve", in_two_steps(quotes.execute, see_pending, act))


def perform_uncounted(unit: Unit, quote_id: str) -> Any:
    """Debit a quote whose source held enough when it was looked at."""
    quote = quotes.get(unit, quote_id)
    quotes.perform(unit, quote, "EXECUTE")
    return quotes.view(unit, quote)


@mutant("QUO-096", "the balance is not looked at again under the lock")
def balance_read_before_the_lock(patch: Patch) -> None:
    def look(unit: Unit, ask: Ask) -> str:
        quote_id = see_pending(unit, ask)
        quotes.refuse_unfunded(unit, quotes.get(unit, quote_id))
        return quote_id

    patch.replace(ledger, "is_overdrawn", lambda account: False)
    patch.wrap(Service, "serve", in_two_steps(quotes.execute, look, perform_uncounted))


@mutant("QUO-097", "the balance is looked at before the quote is created, and not again")
def balance_read_before_the_creation(patch: Patch) -> None:
    create = quotes.create

    def look(unit: Unit, ask: Ask) -> tuple[str, bool]:
        immediately = ask.body.pop("immediatelyExecute", False)
        quote_id: str = create(unit, ask)["id"]
        if immediately:
            quotes.refuse_unfunded(unit, quotes.get(unit, quote_id))
        return quote_id, immediately

    def act(unit: Unit, seen: tuple[str, bool]) -> Any:
        quote_id, immediately = seen
        if immediately:
            return perform_uncounted(unit, quote_id)
        return quotes.view(unit, quotes.get(unit, quote_id))

    patch.replace(ledger, "is_overdrawn", lambda account: False)
    patch.wrap(Service, "serve", in_two_steps(create, look, act))


@mutant("QUO-971", "an execution writes the balance that it computed before others have paid")
def balance_written_back(patch: Patch) -> None:
    execute = quotes.execute

    def look(unit: Unit, ask: Ask) -> tuple[Ask, int]:
        quote = quotes.get(unit, ask.params["quoteId"])
        return ask, balance_of(unit, quote)

    def act(unit: Unit, seen: tuple[Ask, int]) -> Any:
        ask, before = seen
        answer = execute(unit, ask)
        quote = quotes.get(unit, ask.params["quoteId"])
        lost = before - quotes.debit_total(quote) - balance_of(unit, quote)
        take(unit, quote.source["accountId"], -lost)
        return answer

    patch.wrap(Service, "serve", in_two_steps(execute, look, act))
