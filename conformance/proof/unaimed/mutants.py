"""Thirty mutants that no scenario is aimed at; the README beside them was written before them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import select

from conformance.proof.kit.builders import Json, after, around, edited, skipped
from conformance.proof.kit.lost import where_gone
from conformance.proof.mutants.customers.changes import all_written_back
from conformance.proof.mutants.external_accounts.external_accounts import hidden_by_another
from conformance.proof.mutants.internal_accounts.idempotency import forget_key
from conformance.proof.mutants.quotes.lost_answers import give_back, then
from conformance.proof.mutants.quotes.toolkit import (
    balance_of,
    counts_one_short,
    in_two_steps,
    take,
    transaction_of,
    under_way,
)
from conformance.proof.patch import Apply, Function, Patch
from conformance.reference import errors
from conformance.reference.internal_accounts import accounts, ledger, rule_based
from conformance.reference.quotes import quotes
from conformance.reference.service import Service
from conformance.reference.store import InternalAccount, Quote, Transaction
from conformance.reference.transactions import settlement, transactions
from conformance.reference.unit import Ask, Unit
from conformance.reference.unit import after as later

MUTANTS: dict[str, Apply] = {}
"""The patches by their names."""

_COLUMNS = 3
_A_MOMENT = 100_000
"""Microseconds within which executions count as simultaneous."""


def named(name: str) -> Callable[[Apply], Apply]:
    """Declare the decorated patch under a name."""

    def register(patch: Apply) -> Apply:
        MUTANTS[name] = patch
        return patch

    return register


def source_of(quote: Quote) -> str:
    """Return the internal account that a quote takes money from; empty for another source."""
    return str(quote.source["accountId"]) if quote.source_kind == "INTERNAL" else ""


def paid_by(unit: Unit, account: str, *statuses: str) -> list[Transaction]:
    """Return the executed transactions of a source, in the order of their execution."""
    unit.session.flush()
    query = select(Transaction).where(
        Transaction.source_account == account, Transaction.executed_at.is_not(None)
    )
    found = unit.session.scalars(query.order_by(Transaction.executed_at)).all()
    return [each for each in found if not statuses or each.status in statuses]


def after_perform(change: Callable[[Unit, Quote], None]) -> Apply:
    """Return the patch that does something after each execution from an internal account."""

    def act(unit: Unit, quote: Quote, _action: str) -> None:
        if source_of(quote):
            change(unit, quote)

    return after(quotes, "perform", act)


def refunds(is_wrong: Callable[[Unit, Quote], bool], extra: int) -> Apply:
    """Return the patch after which a wrong refund is paid ``extra`` times more; -1: never."""

    def act(original: Function, unit: Unit, transaction_id: str) -> None:
        quote, transaction = transactions.locked(unit, transaction_id)
        pending = settlement.is_refund_pending(transaction) and bool(source_of(quote))
        wrong = pending and is_wrong(unit, quote)
        original(unit, transaction_id)
        if wrong:
            take(unit, source_of(quote), -extra * settlement.refund_total(quote))

    return around(settlement, "refund", act)


def balance(unit: Unit, account: str) -> int:
    """Return what an account may spend."""
    return ledger.balances(unit, [account])[account][0]


# --- At the same time -----------------------------------------------------------------------


def _fund(patch: Patch, act: Callable[[Unit, Ask, int], Any]) -> None:
    fund = rule_based.fund

    def look(unit: Unit, ask: Ask) -> tuple[Ask, int]:
        return ask, balance(unit, ask.params["accountId"])

    patch.wrap(Service, "serve", in_two_steps(fund, look, lambda unit, seen: act(unit, *seen)))


@named("deposits-at-once")
def deposits_at_once(patch: Patch) -> None:
    fund = rule_based.fund

    def act(unit: Unit, ask: Ask, before: int) -> Any:
        others = max(0, balance(unit, ask.params["accountId"]) - before)
        take(unit, ask.params["accountId"], others)
        return fund(unit, ask)

    _fund(patch, act)


@named("deposit-beside-execution")
def deposit_beside_execution(patch: Patch) -> None:
    fund = rule_based.fund

    def act(unit: Unit, ask: Ask, before: int) -> Any:
        account = ask.params["accountId"]
        debited = balance(unit, account) < before
        answer = fund(unit, ask)
        take(unit, account, int(ask.body["amount"]) if debited else 0)
        return answer

    _fund(patch, act)


@named("credits-at-once")
def credits_at_once(patch: Patch) -> None:
    def complete(unit: Unit, quote: Quote, transaction: Transaction) -> None:
        if quote.destination_kind != "INTERNAL" or transaction.executed_at is None:
            return
        others = unit.session.scalars(
            select(Transaction.executed_at).where(
                Transaction.destination_account == transaction.destination_account,
                Transaction.id != transaction.id,
                Transaction.status == "COMPLETED",
            )
        )
        moment = transaction.executed_at
        if any(other and abs(other - moment) < _A_MOMENT for other in others):
            take(unit, quote.destination["accountId"], quote.receiving_amount)

    after(settlement, "complete", complete)(patch)


MUTANTS["updates-at-once"] = all_written_back


MUTANTS["accounts-at-once"] = hidden_by_another


@named("executions-at-once")
def executions_at_once(patch: Patch) -> None:
    execute = quotes.execute

    def count(unit: Unit, ask: Ask) -> int:
        return len(paid_by(unit, source_of(quotes.get(unit, ask.params["quoteId"]))))

    def act(unit: Unit, seen: tuple[Ask, int]) -> Any:
        ask, before = seen
        beside = count(unit, ask) > before
        answer = execute(unit, ask)
        if beside:
            transaction_of(unit, quotes.get(unit, ask.params["quoteId"])).status = "PENDING"
            unit.jobs.clear()
        return answer

    patch.wrap(Service, "serve", in_two_steps(execute, lambda u, ask: (ask, count(u, ask)), act))


# --- Counted wrongly ------------------------------------------------------------------------


@named("fourth-execution")
def fourth_execution(patch: Patch) -> None:
    counts: Counter[str] = Counter()

    def execute(original: Function, unit: Unit, ask: Ask) -> Any:
        quote = quotes.get(unit, ask.params["quoteId"])
        counts[quote.id] += 1
        if counts[quote.id] % 4 == 0 and source_of(quote):
            take(unit, source_of(quote), min(quote.sending_amount, balance_of(unit, quote)))
            return quotes.view(unit, quote)
        return original(unit, ask)

    patch.wrap(quotes, "execute", execute)


@named("fifth-payout")
def fifth_payout(patch: Patch) -> None:
    def change(unit: Unit, quote: Quote) -> None:
        if len(paid_by(unit, source_of(quote))) == 5:
            take(unit, source_of(quote), -quote.sending_amount)

    after_perform(change)(patch)


@named("third-deposit")
def third_deposit(patch: Patch) -> None:
    counts: Counter[str] = Counter()

    def credit(original: Function, unit: Unit, account: InternalAccount, amount: int) -> None:
        counts[account.id] += 1
        original(unit, account, amount * (2 if counts[account.id] == 3 else 1))

    patch.wrap(accounts, "credit", credit)


@named("fourth-quote")
def fourth_quote(patch: Patch) -> None:
    names: dict[str, list[str]] = {}

    def created(answer: Json) -> Json:
        known = names.setdefault(str(answer["source"].get("accountId")), [])
        known.append(answer["transactionId"])
        return {**answer, "transactionId": known[2]} if len(known) == 4 else answer

    edited(quotes, "create", created)(patch)


@named("third-refund")
def third_refund(patch: Patch) -> None:
    refunds(lambda u, q: len(paid_by(u, source_of(q), "FAILED")) >= 3, -1)(patch)


# --- Refunds --------------------------------------------------------------------------------


@named("refund-after-deposit")
def refund_after_deposit(patch: Patch) -> None:
    latest: dict[str, int] = {}

    def credit(unit: Unit, account: InternalAccount, _amount: int) -> None:
        latest[account.id] = unit.now

    def is_wrong(unit: Unit, quote: Quote) -> bool:
        executed = transaction_of(unit, quote).executed_at or 0
        return latest.get(source_of(quote), 0) > executed

    after(accounts, "credit", credit)(patch)
    refunds(is_wrong, 1)(patch)


@named("refund-to-latest")
def refund_to_latest(patch: Patch) -> None:
    def act(original: Function, unit: Unit, transaction_id: str) -> None:
        quote, transaction = transactions.locked(unit, transaction_id)
        pending = settlement.is_refund_pending(transaction) and source_of(quote)
        original(unit, transaction_id)
        query = select(Quote).where(
            Quote.customer_id == quote.customer_id, Quote.source_kind == "INTERNAL"
        )
        latest = unit.session.scalars(query.order_by(Quote.created_at.desc())).first()
        if pending and latest is not None:
            take(unit, source_of(quote), settlement.refund_total(quote))
            take(unit, source_of(latest), -settlement.refund_total(quote))

    patch.wrap(settlement, "refund", act)


@named("refund-of-receiving")
def refund_of_receiving(patch: Patch) -> None:
    locked: set[str] = set()
    _remember(patch, locked, lambda body: body.get("lockedCurrencySide") == "RECEIVING")

    def act(original: Function, unit: Unit, transaction_id: str) -> None:
        quote, transaction = transactions.locked(unit, transaction_id)
        pending = settlement.is_refund_pending(transaction) and source_of(quote)
        original(unit, transaction_id)
        if pending and quote.id in locked:
            take(unit, source_of(quote), quote.sending_amount - quote.receiving_amount)

    patch.wrap(settlement, "refund", act)


def _remember(patch: Patch, found: set[str], wanted: Callable[[Json], bool]) -> None:
    """Note the ids of the quotes that are created with a wanted body."""

    def create(original: Function, unit: Unit, ask: Ask) -> Any:
        answer = original(unit, ask)
        if wanted(ask.body):
            found.add(answer["id"])
        return answer

    patch.wrap(quotes, "create", create)


@named("refund-of-immediate")
def refund_of_immediate(patch: Patch) -> None:
    immediate: set[str] = set()
    _remember(patch, immediate, lambda body: bool(body.get("immediatelyExecute")))
    refunds(lambda _unit, quote: quote.id in immediate, 1)(patch)


@named("refund-beside-payout")
def refund_beside_payout(patch: Patch) -> None:
    refunds(lambda unit, quote: under_way(unit, quote) > 0, -1)(patch)


# --- States ---------------------------------------------------------------------------------


@named("back-to-processing")
def back_to_processing(patch: Patch) -> None:
    def change(unit: Unit, quote: Quote) -> None:
        for transaction in paid_by(unit, source_of(quote), "COMPLETED"):
            transaction.status = "PROCESSING"

    after_perform(change)(patch)


@named("debited-by-another")
def debited_by_another(patch: Patch) -> None:
    def change(unit: Unit, quote: Quote) -> None:
        if under_way(unit, quote) > 1:
            take(unit, source_of(quote), -quote.sending_amount)

    after_perform(change)(patch)


@named("revived")
def revived(patch: Patch) -> None:
    def next_status(original: Function, unit: Unit, quote: Quote, action: str) -> Any:
        if quotes.status_at(quote, unit.now) == "EXPIRED" and paid_by(unit, source_of(quote)):
            quote.status, quote.expires_at = "PENDING", later(unit.now, 60)
        return original(unit, quote, action)

    patch.wrap(quotes, "next_status", next_status)


@named("forgotten-failure")
def forgotten_failure(patch: Patch) -> None:
    def complete(unit: Unit, quote: Quote, _transaction: Transaction) -> None:
        for transaction in paid_by(unit, source_of(quote), "FAILED"):
            transaction.status = "COMPLETED"

    after(settlement, "complete", complete)(patch)


def _refused(patch: Patch) -> set[str]:
    """Return the ids of the quotes that will have been refused for their funds."""
    found: set[str] = set()

    def refuse(original: Function, unit: Unit, quote: Quote) -> None:
        try:
            original(unit, quote)
        except errors.Refusal:
            found.add(quote.id)
            raise

    patch.wrap(quotes, "refuse_unfunded", refuse)
    return found


@named("second-try-unpaid")
def second_try_unpaid(patch: Patch) -> None:
    found = _refused(patch)

    def has_funds(original: Function, unit: Unit, quote: Quote) -> bool:
        return quote.id in found or original(unit, quote)

    def legs(original: Function, quote: Quote) -> Sequence[ledger.Leg]:
        if quote.id not in found:
            debit: Sequence[ledger.Leg] = original(quote)
            return debit
        amount, currency = quote.sending_amount, quote.sending_currency
        return [
            ledger.Leg(ledger.system("rail", currency), currency, -amount),
            ledger.Leg(settlement.holding_account(quote), currency, amount),
        ]

    patch.wrap(quotes, "has_funds", has_funds)
    patch.wrap(quotes, "debit_legs", legs)


@named("second-try-double")
def second_try_double(patch: Patch) -> None:
    found = _refused(patch)

    def change(unit: Unit, quote: Quote) -> None:
        if quote.id in found:
            take(unit, source_of(quote), min(quote.sending_amount, balance_of(unit, quote)))

    after_perform(change)(patch)


# --- Events ---------------------------------------------------------------------------------


@named("event-of-refused")
def event_of_refused(patch: Patch) -> None:
    def refuse(original: Function, unit: Unit, quote: Quote) -> None:
        try:
            original(unit, quote)
        except errors.Refusal:
            unit.session.flush()
            row = unit.session.get(Transaction, quote.transaction_id)
            if row is not None:
                told = Unit(unit.session, unit.settings, unit.seed, unit.now)
                transactions.announce(told, row, "PROCESSING")
                _TOLD.extend(told.events)
            raise

    def answer(original: Function, service: Service, *arguments: Any) -> Any:
        try:
            return original(service, *arguments)
        finally:
            while _TOLD:
                service.deliveries.put(_TOLD.pop())

    patch.wrap(quotes, "refuse_unfunded", refuse)
    patch.wrap(Service, "answer", answer)


_TOLD: list[Json] = []


@named("second-balance-event")
def second_balance_event(patch: Patch) -> None:
    counts: Counter[str] = Counter()

    def is_second(_unit: Unit, account: InternalAccount) -> bool:
        counts[account.id] += 1
        return counts[account.id] % 2 == 0

    skipped(accounts, "announce_balance", is_second)(patch)


@named("event-again")
def event_again(patch: Patch) -> None:
    def complete(unit: Unit, quote: Quote, transaction: Transaction) -> None:
        if under_way(unit, quote) > 1:
            transactions.announce(unit, transaction, "COMPLETED")

    after(settlement, "complete", complete)(patch)


# --- Single units ---------------------------------------------------------------------------

MUTANTS["one-below"] = counts_one_short


@named("one-more")
def one_more(patch: Patch) -> None:
    locked: set[str] = set()
    _remember(patch, locked, lambda body: body.get("lockedCurrencySide") == "RECEIVING")

    def complete(unit: Unit, quote: Quote, _transaction: Transaction) -> None:
        if quote.destination_kind == "INTERNAL" and quote.id in locked:
            take(unit, quote.destination["accountId"], -1)

    after(settlement, "complete", complete)(patch)


@named("failed-and-kept")
def failed_and_kept(patch: Patch) -> None:
    def act(original: Function, unit: Unit, transaction_id: str) -> None:
        quote, transaction = transactions.locked(unit, transaction_id)
        beside = settlement.is_refund_pending(transaction) and under_way(unit, quote) > 0
        original(unit, transaction_id)
        if beside and source_of(quote):
            take(unit, source_of(quote), 1)

    patch.wrap(settlement, "refund", act)


# --- Clients that are gone ------------------------------------------------------------------

MUTANTS["gone-undebited"] = where_gone(quotes.execute, then(quotes.execute, give_back))
MUTANTS["gone-key"] = where_gone(rule_based.create, forget_key)


def statements(readme: str) -> Mapping[str, str]:
    """Return what is wrong by the name of each mutant, as the table of the README says it."""

    def rows() -> Iterator[tuple[str, str]]:
        for line in readme.splitlines():
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            # The other table has two columns.
            if len(cells) == _COLUMNS and cells[0] not in ("Id", "---"):
                yield cells[0], cells[1]

    return dict(rows())
