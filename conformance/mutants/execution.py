"""Mutants of execution, concurrency, refusals, authentication, error codes and limits."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from sqlalchemy import select

from conformance.mutants.mutant import NoSuchTarget, Patch, declare, mutant
from conformance.reference import (
    accounts,
    errors,
    fees,
    ledger,
    parties,
    quotes,
    routes,
    rules,
    transactions,
)
from conformance.reference.rules import Move, Refuse
from conformance.reference.service import Service
from conformance.reference.store import InternalAccount, Quote, Transaction
from conformance.reference.unit import Ask, Unit, new_id

Json = dict[str, Any]
Handler = Callable[[Unit, Ask], Any]

_REFERENCE = "conformance.reference"
_FIELDS = f"{_REFERENCE}.rules:QUOTE_FIELDS"
_TRANSITIONS = f"{_REFERENCE}.rules:QUOTE_TRANSITIONS"
_STATUSES = f"{_REFERENCE}.rules:ERROR_STATUS"
_ROUTES = f"{_REFERENCE}.routes:OPERATIONS"
_ANSWER = f"{_REFERENCE}.service:Service.answer"
_CREATE = f"{_REFERENCE}.quotes:create"
_EXECUTE = f"{_REFERENCE}.quotes:execute"

_RACE_SECONDS = 0.05
"""Between looking and acting: enough for requests of the same moment to have looked too."""


# --- Rules of request fields ----------------------------------------------------------------


def change_field(path: str, changes: Json) -> Callable[[Patch], None]:
    """Return a patch that changes the rule of one field of quotes."""

    def apply(patch: Patch) -> None:
        if not any(field.path == path for field in rules.QUOTE_FIELDS):
            raise NoSuchTarget(f"{_FIELDS} has no row {path}")
        if "kind" in changes:
            patch.row(f"{_REFERENCE}.fields:_TYPES", changes["kind"], (object,))
        patch.replace(
            _FIELDS,
            tuple(
                replace(field, **changes) if field.path == path else field
                for field in rules.QUOTE_FIELDS
            ),
        )

    return apply


LOOSENED: dict[tuple[str, str], str] = {
    ("source", "required"): "QUO-140",
    ("destination", "required"): "QUO-141",
    ("lockedCurrencySide", "required"): "QUO-142",
    ("lockedCurrencyAmount", "required"): "QUO-143",
    ("lockedCurrencySide", "enum"): "QUO-144",
    ("source.sourceType", "enum"): "QUO-149",
    ("destination.destinationType", "enum"): "QUO-150",
    ("source.accountId", "required"): "QUO-151",
    ("destination.accountId", "required"): "QUO-152",
    ("source.currency", "required"): "QUO-153",
    ("remittanceInformation", "max_length"): "LIM-002",
}
"""The requirement behind each rule of a field that a careless implementation leaves out."""

_UNRULED = rules.Field("", "string")
for (_path, _rule), _requirement in LOOSENED.items():
    declare(
        _requirement,
        f"{_path.replace('.', '-')}-without-{_rule}",
        f"the rule {_rule} of {_path} is not checked",
        change_field(_path, {_rule: getattr(_UNRULED, _rule)}),
    )

CHANGED: tuple[tuple[str, str, str, Json], ...] = (
    ("QUO-145", "lockedCurrencyAmount", "a fraction is cut off", {"kind": "any"}),
    ("QUO-146", "lockedCurrencyAmount", "a word is taken for a number", {"kind": "any"}),
    ("QUO-154", "immediatelyExecute", "any word is taken for true", {"kind": "any"}),
    ("LIM-001", "remittanceInformation", "the limit is one too low", {"max_length": 79}),
    ("LIM-002", "remittanceInformation", "the limit is one too high", {"max_length": 81}),
    ("LIM-003", "remittanceInformation", "it has to be given", {"required": True}),
)
"""Requirement, field, statement and the changed rule."""

for _requirement, _path, _statement, _changes in CHANGED:
    declare(
        _requirement,
        f"{_path}-{'-'.join(_changes)}-{next(iter(_changes.values()))}",
        f"{_path}: {_statement}",
        change_field(_path, _changes),
    )


def change_body(change: Callable[[Unit, Json], Json]) -> Callable[[Patch], None]:
    """Return a patch that changes the body of every quote before it is looked at."""

    def wrapper(original: Handler) -> Handler:
        def create(unit: Unit, ask: Ask) -> Any:
            body = change(unit, ask.body) if isinstance(ask.body, dict) else ask.body
            return original(unit, Ask(ask.params, ask.query, body))

        return create

    return lambda patch: patch.wrap(_CREATE, wrapper)


def filled(body: Json, path: str, value: Any) -> Json:
    """Return ``body`` with a value at a dotted path, if there is none."""
    name, _, rest = path.partition(".")
    if not rest:
        return body if name in body else {**body, name: value}
    inner = body.get(name)
    return {**body, name: filled(inner, rest, value)} if isinstance(inner, dict) else body


def own_account(unit: Unit) -> str:
    """Return the id of the platform's own account."""
    return unit.seed.account_id


DEFAULTS: tuple[tuple[str, str, Callable[[Unit], Any]], ...] = (
    ("QUO-140", "source", lambda u: {"sourceType": "ACCOUNT", "accountId": own_account(u)}),
    (
        "QUO-141",
        "destination",
        lambda u: {"destinationType": "ACCOUNT", "accountId": own_account(u)},
    ),
    ("QUO-142", "lockedCurrencySide", lambda _: "SENDING"),
    ("QUO-143", "lockedCurrencyAmount", lambda _: 10_000),
    ("QUO-151", "source.accountId", own_account),
    ("QUO-152", "destination.accountId", own_account),
    ("QUO-153", "source.currency", lambda _: "USD"),
)
"""Requirement, required field and what a generous implementation puts in its place."""


def fill(path: str, value: Callable[[Unit], Any]) -> Callable[[Patch], None]:
    """Return a patch that fills in a missing field."""
    return change_body(lambda unit, body: filled(body, path, value(unit)))


for _requirement, _path, _value in DEFAULTS:
    declare(
        _requirement,
        f"{_path.replace('.', '-')}-by-default",
        f"a missing {_path} is filled in",
        fill(_path, _value),
    )


def unchecked_price(side: str, amount: int, corridor: fees.Corridor, terms: fees.Terms) -> Any:
    """Price a quote, and do not mind if nothing would arrive."""
    pricer = fees.price_receiving if side == "RECEIVING" else fees.price_sending
    return pricer(amount, corridor, terms)


@mutant("QUO-147", "amounts have no lower bound")
def negative_amounts(patch: Patch) -> None:
    change_field("lockedCurrencyAmount", {"minimum": None})(patch)
    patch.replace(f"{_REFERENCE}.fees:price", unchecked_price)


@mutant("QUO-147", "the sign of an amount is dropped")
def unsigned_amounts(patch: Patch) -> None:
    def unsigned(_unit: Unit, body: Json) -> Json:
        amount = body.get("lockedCurrencyAmount")
        return {**body, "lockedCurrencyAmount": abs(amount)} if isinstance(amount, int) else body

    change_body(unsigned)(patch)


@mutant("QUO-148", "the lowest amount is 0")
def amount_of_nothing(patch: Patch) -> None:
    change_field("lockedCurrencyAmount", {"minimum": 0})(patch)
    patch.replace(f"{_REFERENCE}.fees:price", unchecked_price)


# --- Accounts and quotes that do not exist --------------------------------------------------


def unknown_account_as(end: str) -> Callable[[Patch], None]:
    """Return a patch by which an unknown account at one end is the platform's own."""

    def wrapper(original: Callable[..., parties.Party]) -> Callable[..., parties.Party]:
        def account_party(unit: Unit, account_id: str, echo: Json) -> parties.Party:
            try:
                return original(unit, account_id, echo)
            except errors.Refusal:
                if end not in echo:
                    raise
                return original(unit, own_account(unit), echo)

        return account_party

    return lambda patch: patch.wrap(f"{_REFERENCE}.parties:account_party", wrapper)


for _requirement, _end in (("QUO-155", "sourceType"), ("QUO-156", "destinationType")):
    declare(
        _requirement,
        f"{_end}-of-an-unknown-account",
        "an account that does not exist is taken for the platform's own",
        unknown_account_as(_end),
    )
    declare(
        _requirement,
        f"{_end}-breaks-the-service",
        "an account that does not exist is answered with 500",
        lambda patch: patch.row(_STATUSES, "ACCOUNT_NOT_FOUND", 500),
    )


def refuse_as(place: str, code: str, other: str) -> Callable[[Patch], None]:
    """Return a patch by which a function refuses with another code."""

    def wrapper(original: Handler) -> Handler:
        def handler(*given: Any) -> Any:
            try:
                return original(*given)
            except errors.Refusal as refusal:
                if refusal.code != code:
                    raise
                raise errors.Refusal(other, refusal.reason) from None

        return handler

    return lambda patch: patch.wrap(place, wrapper)


MISCODED: tuple[tuple[str, str, str, str], ...] = (
    ("QUO-110", "execute", "QUOTE_EXPIRED", "QUOTE_REQUEST_FAILED"),
    ("QUO-170", "execute", "QUOTE_NOT_FOUND", "INVALID_INPUT"),
    ("QUO-171", "execute", "QUOTE_NOT_FOUND", "TRANSACTION_NOT_FOUND"),
    ("QUO-172", "authorize", "QUOTE_NOT_FOUND", "INVALID_INPUT"),
    ("QUO-173", "authorize", "QUOTE_NOT_FOUND", "TRANSACTION_NOT_FOUND"),
    ("ERR-001", "execute", "INSUFFICIENT_FUNDS", "INVALID_AMOUNT"),
    ("ERR-002", "create", "INSUFFICIENT_FUNDS", "INVALID_AMOUNT"),
    ("ERR-004", "create", "QUOTE_RATE_UNAVAILABLE", "INVALID_CURRENCY"),
    ("ERR-005", "execute", "QUOTE_RATE_UNAVAILABLE", "QUOTE_REQUEST_FAILED"),
    ("ERR-006", "create", "QUOTE_REQUEST_FAILED", "QUOTE_RATE_UNAVAILABLE"),
    ("LIM-004", "create", "TRANSACTION_SIZE_LIMIT_EXCEEDED", "INVALID_INPUT"),
)
"""Requirement, function of the quotes, the code that is due and the one that comes."""

for _requirement, _function, _code, _other in MISCODED:
    declare(
        _requirement,
        f"{_function}-refuses-with-{_other}",
        f"{_function} refuses with {_other} instead of {_code}",
        refuse_as(f"{_REFERENCE}.quotes:{_function}", _code, _other),
    )

MISPLACED: tuple[tuple[str, str, int], ...] = (
    ("QUO-166", "INVALID_CURRENCY", 404),
    ("ERR-001", "INSUFFICIENT_FUNDS", 409),
    ("ERR-002", "INSUFFICIENT_FUNDS", 409),
    ("ERR-003", "SELF_PAYMENT", 409),
    ("ERR-004", "QUOTE_RATE_UNAVAILABLE", 404),
    ("ERR-006", "QUOTE_REQUEST_FAILED", 500),
    ("ERR-010", "DAILY_VOLUME_LIMIT_EXCEEDED", 400),
    ("LIM-004", "TRANSACTION_SIZE_LIMIT_EXCEEDED", 409),
)
"""Requirement, code and the wrong HTTP status that it comes with."""


def change_status(code: str, status: int) -> Callable[[Patch], None]:
    """Return a patch that gives a code another HTTP status."""
    return lambda patch: patch.row(_STATUSES, code, status)


for _requirement, _code, _status in MISPLACED:
    declare(
        _requirement,
        f"{_code}-at-{_status}",
        f"{_code} comes with {_status}",
        change_status(_code, _status),
    )


@mutant("QUO-162", "an account may pay itself")
def self_payment(patch: Patch) -> None:
    patch.replace(f"{_REFERENCE}.parties:is_self_payment", lambda source, destination: False)


@mutant("ERR-003", "an account may pay itself")
def self_payment_is_accepted(patch: Patch) -> None:
    patch.replace(f"{_REFERENCE}.parties:is_self_payment", lambda source, destination: False)


@mutant("QUO-166", "a currency that is not offered is taken for US dollars")
def foreign_funding(patch: Patch) -> None:
    def wrapper(original: Callable[..., Any]) -> Callable[..., Any]:
        def realtime_source(unit: Unit, source: Json) -> Any:
            known = source["currency"] in rules.CURRENCIES
            return original(unit, source if known else {**source, "currency": "USD"})

        return realtime_source

    patch.wrap(f"{_REFERENCE}.parties:realtime_source", wrapper)


# --- Execution ------------------------------------------------------------------------------


def answer_with(function: str, change: Callable[[Json], Json]) -> Callable[[Patch], None]:
    """Return a patch that changes what a function of the quotes answers with."""

    def wrapper(original: Handler) -> Handler:
        return lambda unit, ask: change(original(unit, ask))

    return lambda patch: patch.wrap(f"{_REFERENCE}.quotes:{function}", wrapper)


ANSWERED: tuple[tuple[str, str, str, Callable[[Json], Json]], ...] = (
    ("QUO-080", "execute", "the quote as it was before", lambda q: {**q, "status": "PENDING"}),
    ("QUO-080", "execute", "a status of its own", lambda q: {**q, "status": "SUBMITTED"}),
    ("QUO-084", "execute", "another quote", lambda q: {**q, "id": new_id("Quote")}),
    (
        "QUO-085",
        "execute",
        "another transaction",
        lambda q: {**q, "transactionId": new_id("Transaction")},
    ),
    ("QUO-120", "create", "the quote as it was before", lambda q: {**q, "status": "PENDING"}),
)
"""Requirement, function of the quotes and what it answers with."""

for _requirement, _function, _statement, _change in ANSWERED:
    declare(
        _requirement,
        f"{_function}-answers-with-{_statement.replace(' ', '-')}",
        f"{_function} answers with {_statement}",
        answer_with(_function, _change),
    )


def refuse_execution(fits: Callable[[Quote], bool]) -> Callable[[Patch], None]:
    """Return a patch by which quotes of one kind are never covered."""

    def wrapper(original: Callable[[Unit, Quote], bool]) -> Callable[[Unit, Quote], bool]:
        return lambda unit, quote: not fits(quote) and original(unit, quote)

    return lambda patch: patch.wrap(f"{_REFERENCE}.quotes:has_funds", wrapper)


declare(
    "QUO-081",
    "needs-both-currencies",
    "a cross-currency quote is only covered by funds in both currencies",
    refuse_execution(lambda quote: quote.sending_currency != quote.receiving_currency),
)
declare(
    "QUO-082",
    "pulls-nothing",
    "a source that is pulled from has to hold a balance",
    refuse_execution(lambda quote: quote.source_kind == "EXTERNAL"),
)
declare(
    "QUO-123",
    "pulls-nothing-at-once",
    "a source that is pulled from has to hold a balance",
    refuse_execution(lambda quote: quote.source_kind == "EXTERNAL"),
)


@mutant("QUO-082", "a quote whose source is pulled from stays pending until the pull is through")
def waits_for_the_pull(patch: Patch) -> None:
    def wrapper(original: Callable[..., None]) -> Callable[..., None]:
        def perform(unit: Unit, quote: Quote, action: rules.Action) -> None:
            if quote.source_kind != "EXTERNAL":
                original(unit, quote, action)

        return perform

    patch.wrap(f"{_REFERENCE}.quotes:perform", wrapper)


@mutant("QUO-083", "execute wants a body")
def execute_with_a_body(patch: Patch) -> None:
    row = routes.OPERATIONS["executeQuote"]
    patch.row(_ROUTES, row.id, replace(row, body=True))


@mutant("QUO-086", "only what arrives is debited")
def debit_without_fees(patch: Patch) -> None:
    patch.replace(f"{_REFERENCE}.quotes:debit_total", lambda quote: quote.receiving_amount)


@mutant("QUO-086", "the source is debited only once the payout is completed")
def debit_at_completion(patch: Patch) -> None:
    def advanced(original: Callable[..., list[ledger.Leg]]) -> Callable[..., Any]:
        def debit_legs(quote: Quote) -> list[ledger.Leg]:
            first, *others = original(quote)
            return [replace(first, account=ledger.system("rail", quote.sending_currency)), *others]

        return debit_legs

    def made_up(original: Callable[..., list[ledger.Leg]]) -> Callable[..., Any]:
        def completion_legs(quote: Quote) -> list[ledger.Leg]:
            amount, currency = quote.sending_amount, quote.sending_currency
            return [
                *original(quote),
                ledger.Leg(ledger.available(quote.source["accountId"]), currency, -amount),
                ledger.Leg(ledger.system("rail", currency), currency, amount),
            ]

        return completion_legs

    patch.wrap(f"{_REFERENCE}.quotes:debit_legs", advanced)
    patch.wrap(f"{_REFERENCE}.settlement:completion_legs", made_up)


@mutant("QUO-087", "what a completed payout held is never let go")
def held_for_ever(patch: Patch) -> None:
    def wrapper(original: Callable[..., list[ledger.Leg]]) -> Callable[..., Any]:
        def completion_legs(quote: Quote) -> list[ledger.Leg]:
            first, *others = original(quote)
            transit = ledger.system("transit", quote.sending_currency)
            return [replace(first, account=transit), *others]

        return completion_legs

    patch.wrap(f"{_REFERENCE}.settlement:completion_legs", wrapper)


@mutant("QUO-088", "the fee is taken once more when a payout completes")
def fee_taken_twice(patch: Patch) -> None:
    def wrapper(original: Callable[..., None]) -> Callable[..., None]:
        def complete(unit: Unit, quote: Quote, transaction: Transaction) -> None:
            original(unit, quote, transaction)
            take(unit, quote.source["accountId"], quote.variable_fee)

        return complete

    patch.wrap(f"{_REFERENCE}.settlement:complete", wrapper)


@mutant("QUO-089", "what arrives is held for ever")
def arrives_held(patch: Patch) -> None:
    patch.replace(
        f"{_REFERENCE}.settlement:target_account",
        lambda quote: (
            ledger.held(quote.destination["accountId"])
            if quote.destination_kind == "INTERNAL"
            else ledger.system("rail", quote.receiving_currency)
        ),
    )


@mutant("QUO-089", "the receiver pays the fee as well")
def arrives_less(patch: Patch) -> None:
    def wrapper(original: Callable[..., list[ledger.Leg]]) -> Callable[..., Any]:
        def completion_legs(quote: Quote) -> list[ledger.Leg]:
            *others, last = original(quote)
            fee = quote.variable_fee
            profit = ledger.Leg(ledger.system("fees", last.currency), last.currency, fee)
            return [*others, replace(last, amount=last.amount - fee), profit]

        return completion_legs

    patch.wrap(f"{_REFERENCE}.settlement:completion_legs", wrapper)


@mutant("QUO-090", "fees are left out of feesIncluded")
def hidden_fees(patch: Patch) -> None:
    patch.replace(f"{_REFERENCE}.quotes:fees_included", lambda quote: 0)


def execute_from(status: str) -> Callable[[Patch], None]:
    """Return a patch by which a quote can be executed in one more status."""
    return lambda patch: patch.row(_TRANSITIONS, (status, "EXECUTE"), Move("PROCESSING"))


for _requirement, _state in (
    ("QUO-092", "PROCESSING"),
    ("QUO-092", "FAILED"),
    ("QUO-093", "COMPLETED"),
    ("QUO-111", "EXPIRED"),
):
    declare(
        _requirement,
        f"{_state}-executes",
        f"a quote at {_state} can be executed",
        execute_from(_state),
    )


# --- Funds ----------------------------------------------------------------------------------


def nobody_counts(patch: Patch) -> None:
    """Let every execution be covered, and every account be overdrawn."""
    patch.replace(f"{_REFERENCE}.quotes:has_funds", lambda unit, quote: True)
    patch.replace(f"{_REFERENCE}.ledger:is_overdrawn", lambda account: False)


def counts_one_short(patch: Patch) -> None:
    """Let an account be overdrawn by one smallest unit."""
    patch.replace(f"{_REFERENCE}.ledger:is_overdrawn", lambda row: row.guarded and row.balance < -1)
    patch.replace(
        f"{_REFERENCE}.quotes:has_funds",
        lambda unit, quote: balance_of(unit, quote) + 1 >= quotes.debit_total(quote),
    )


for _requirement in ("QUO-098", "ERR-001", "ERR-002"):
    declare(_requirement, "nobody-counts", "the balance is not looked at", nobody_counts)
    declare(
        _requirement, "counts-one-short", "a balance one unit short is enough", counts_one_short
    )


@mutant("QUO-100", "something of the balance has to be left")
def never_the_last_cent(patch: Patch) -> None:
    patch.replace(
        f"{_REFERENCE}.quotes:has_funds",
        lambda unit, quote: balance_of(unit, quote) > quotes.debit_total(quote),
    )


@mutant("QUO-100", "the fees have to be there on top of the sending amount")
def fees_on_top(patch: Patch) -> None:
    patch.replace(
        f"{_REFERENCE}.quotes:has_funds",
        lambda unit, quote: (
            balance_of(unit, quote) >= quotes.debit_total(quote) + quotes.fees_included(quote)
        ),
    )


def balance_of(unit: Unit, quote: Quote) -> int:
    """Return what the internal source of a quote may spend."""
    account_id = quote.source["accountId"]
    return accounts.spendable(*ledger.balances(unit, [account_id])[account_id])


def take(unit: Unit, account_id: str, amount: int) -> None:
    """Book an amount from an internal account to the service's fees."""
    currency = unit.session.get_one(InternalAccount, account_id).currency
    legs = [
        ledger.Leg(ledger.available(account_id), currency, -amount),
        ledger.Leg(ledger.system("fees", currency), currency, amount),
    ]
    ledger.post(unit, legs)


def debit_though_refused(code: str) -> Callable[[Patch], None]:
    """Return a patch by which a refusal with a code leaves its debit behind."""

    def wrapper(original: Callable[..., Any]) -> Callable[..., Any]:
        def answer(service: Service, handler: Handler, ask: Ask) -> Any:
            try:
                return original(service, handler, ask)
            except errors.Refusal as refusal:
                if refusal.code == code:
                    with service.unit() as unit:
                        take(unit, source_of(unit, ask), 1_000)
                raise

        return answer

    return lambda patch: patch.wrap(_ANSWER, wrapper)


def source_of(unit: Unit, ask: Ask) -> str:
    """Return the source that a creation or an execution is about."""
    if "quoteId" in ask.params:
        account_id: str = quotes.get(unit, ask.params["quoteId"]).source["accountId"]
    else:
        account_id = ask.body["source"]["accountId"]
    return account_id


for _requirement, _code in (
    ("QUO-099", "INSUFFICIENT_FUNDS"),
    ("QUO-111", "QUOTE_EXPIRED"),
    ("QUO-114", "QUOTE_RATE_UNAVAILABLE"),
    ("LIM-006", "DAILY_VOLUME_LIMIT_EXCEEDED"),
):
    declare(
        _requirement,
        "debits-though-refused",
        f"the debit is not rolled back when {_code} refuses it",
        debit_though_refused(_code),
    )


# --- Concurrency ----------------------------------------------------------------------------


def in_two_steps(
    function: Handler, look: Callable[[Unit, Ask], Any], act: Callable[[Unit, Any], Any]
) -> Callable[[Any], Any]:
    """Return a wrapper that serves ``function`` by looking in one unit and acting in another.

    ``look`` returns what ``act`` gets; between the two, others look as well.
    """

    def wrapper(original: Callable[..., Any]) -> Callable[..., Any]:
        def answer(service: Service, handler: Handler, ask: Ask) -> Any:
            if handler is not function:
                return original(service, handler, ask)
            with service.unit() as unit:
                seen = look(unit, ask)
            time.sleep(_RACE_SECONDS)
            with service.unit() as unit:
                return act(unit, seen)

        return answer

    return wrapper


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
    patch.wrap(_ANSWER, in_two_steps(quotes.execute, see_pending, execute_as_seen))


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

    patch.wrap(_ANSWER, in_two_steps(quotes.execute, see_pending, act))


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

    patch.replace(f"{_REFERENCE}.ledger:is_overdrawn", lambda account: False)
    patch.wrap(_ANSWER, in_two_steps(quotes.execute, look, perform_uncounted))


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

    patch.replace(f"{_REFERENCE}.ledger:is_overdrawn", lambda account: False)
    patch.wrap(_ANSWER, in_two_steps(create, look, act))


# --- Expiry and rates -----------------------------------------------------------------------


@mutant("QUO-110", "an expired quote can still be executed")
def expired_executes(patch: Patch) -> None:
    patch.replace(f"{_REFERENCE}.quotes:is_expired", lambda quote, now: False)


@mutant("QUO-110", "an expired quote is refused like one that was executed")
def expired_like_executed(patch: Patch) -> None:
    patch.row(_TRANSITIONS, ("EXPIRED", "EXECUTE"), Refuse("INVALID_STATE_TRANSITION"))


@mutant("QUO-112", "a quote that expires is charged for")
def expiry_is_charged(patch: Patch) -> None:
    def wrapper(original: Callable[[Unit], None]) -> Callable[[Unit], None]:
        def expire_due(unit: Unit) -> None:
            due = select(Transaction).where(
                Transaction.status == "PENDING", Transaction.expires_at <= unit.now
            )
            for transaction in unit.session.scalars(due):
                if accounts.find(unit, transaction.source_account or ""):
                    take(unit, str(transaction.source_account), 100)
            original(unit)

        return expire_due

    patch.wrap(f"{_REFERENCE}.transactions:expire_due", wrapper)


@mutant("QUO-114", "a rate that no longer holds is used all the same")
def stale_rate_debits(patch: Patch) -> None:
    patch.replace(f"{_REFERENCE}.quotes:refuse_stale", lambda quote: None)


@mutant("ERR-005", "a rate that no longer holds is used all the same")
def stale_rate(patch: Patch) -> None:
    patch.replace(f"{_REFERENCE}.quotes:refuse_stale", lambda quote: None)


@mutant("ERR-004", "a corridor without a rate is quoted at the last one known")
def last_known_rate(patch: Patch) -> None:
    patch.replace(f"{_REFERENCE}.quotes:has_rate", lambda customer, sending, receiving: True)


@mutant("ERR-006", "a quote is made up while the provider does not answer")
def quotes_without_a_provider(patch: Patch) -> None:
    def wrapper(original: Callable[..., bool]) -> Callable[..., bool]:
        return lambda customer, name: name != "QUOTING_DOWN" and original(customer, name)

    patch.wrap(f"{_REFERENCE}.customers:has_condition", wrapper)


# --- Execution at creation ------------------------------------------------------------------


@mutant("QUO-120", "immediatelyExecute is read over")
def never_immediately(patch: Patch) -> None:
    change_body(lambda _, body: {**body, "immediatelyExecute": False})(patch)


@mutant("QUO-121", "creating a quote is only ever taken note of")
def created_with_202(patch: Patch) -> None:
    row = routes.OPERATIONS["createQuote"]
    patch.row(_ROUTES, row.id, replace(row, status=202))


@mutant("QUO-122", "a quote that is executed as it is created is not debited")
def immediately_for_nothing(patch: Patch) -> None:
    def wrapper(original: Handler) -> Handler:
        def create(unit: Unit, ask: Ask) -> Any:
            shown = original(unit, Ask(body={**ask.body, "immediatelyExecute": False}))
            if ask.body.get("immediatelyExecute"):
                quotes.get(unit, shown["id"]).status = "PROCESSING"
                transactions.get(unit, shown["transactionId"]).status = "PROCESSING"
                shown["status"] = "PROCESSING"
            return shown

        return create

    patch.wrap(_CREATE, wrapper)


@mutant("QUO-124", "a real-time funded quote may be executed before it is funded")
def immediately_without_funding(patch: Patch) -> None:
    patch.replace(f"{_REFERENCE}.quotes:between_fields_errors", lambda body: [])


# --- Limits ---------------------------------------------------------------------------------

LIMITED: tuple[tuple[str, str, str, Callable[..., bool]], ...] = (
    ("LIM-004", "is_over_transaction_limit", "never", lambda amount, limit: False),
    ("LIM-004", "is_over_transaction_limit", "late", lambda amount, limit: amount > limit + 1),
    ("LIM-005", "is_over_transaction_limit", "early", lambda amount, limit: amount >= limit),
    ("ERR-010", "is_over_daily_limit", "never", lambda moved, amount, limit: False),
    (
        "ERR-010",
        "is_over_daily_limit",
        "late",
        lambda moved, amount, limit: moved > limit,
    ),
    ("LIM-006", "is_over_daily_limit", "never", lambda moved, amount, limit: False),
)
"""Requirement, function of the limits, when it says that one is passed, its replacement."""


def limit_as(function: str, broken: Callable[..., bool]) -> Callable[[Patch], None]:
    """Return a patch that replaces a function of the limits."""
    return lambda patch: patch.replace(f"{_REFERENCE}.limits:{function}", broken)


for _requirement, _function, _when, _broken in LIMITED:
    declare(
        _requirement,
        f"{_function}-{_when}",
        f"{_function} says so {_when}",
        limit_as(_function, _broken),
    )


# --- Errors ---------------------------------------------------------------------------------


@mutant("ERR-011", "field errors are listed for the body as a whole")
def errors_of_the_body(patch: Patch) -> None:
    def wrapper(original: Callable[..., Json]) -> Callable[..., Json]:
        return lambda path, message, **more: original("body", message, **more)

    patch.wrap(f"{_REFERENCE}.errors:field_error", wrapper)
