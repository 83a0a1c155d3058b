"""Mutants of transactions, payouts, refunds, approvals and webhooks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance.mutants.mutant import Patch, declare, mutant
from conformance.reference import accounts, app, errors, ledger, quotes, rules, transactions
from conformance.reference.store import Json, Quote, Transaction
from conformance.reference.unit import Ask, Unit

_REFERENCE = "conformance.reference"
_VIEW = f"{_REFERENCE}.transactions:view"
_EVENTS = f"{_REFERENCE}.rules:TRANSACTION_EVENTS"
_RESULTS = f"{_REFERENCE}.rules:PAYOUT_RESULTS"
_STATUS = f"{_REFERENCE}.rules:TRANSACTION_STATUS"
_MOVES = f"{_REFERENCE}.rules:QUOTE_TRANSITIONS"

Change = Callable[[Json], Json]
"""Returns a changed copy of a resource or an event."""


def _shown(change: Change) -> Callable[[Patch], None]:
    """Return the patch that shows every transaction changed."""
    return lambda patch: patch.wrap(_VIEW, lambda view: lambda row: change(view(row)))


def _sent(change: Change) -> Callable[[Patch], None]:
    """Return the patch that sends every webhook changed."""

    def emitting(emit: Callable[..., None]) -> Callable[..., None]:
        def changed(unit: Unit, event_type: str, data: Json) -> None:
            emit(unit, event_type, data)
            unit.events[-1] = change(unit.events[-1])

        return changed

    return lambda patch: patch.wrap(f"{_REFERENCE}.unit:Unit.emit", emitting)


def _without(*names: str) -> Change:
    return lambda body: {name: value for name, value in body.items() if name not in names}


def _with(name: str, of: Callable[[Json], Any]) -> Change:
    """Return the change that gives a member, where it stands, the value ``of`` the whole."""
    return lambda body: {**body, name: of(body)} if name in body else body


def _where(condition: Callable[[Json], bool], change: Change) -> Change:
    return lambda body: change(body) if condition(body) else body


def _is(name: str, value: Any) -> Callable[[Json], bool]:
    return lambda body: body.get(name) == value


# --- Members of a transaction ---------------------------------------------------------------


def _bare(name: str) -> Change:
    return _with(name, lambda body: str(body[name]).rpartition(":")[2])


def _always(name: str, value: Any) -> Change:
    return _with(name, lambda _: value)


_MEMBERS: tuple[tuple[str, str, str, Change], ...] = (
    ("TRX-001", "no-type", "the id has no type in front", _bare("id")),
    ("TRX-001", "missing", "transactions have no id", _without("id")),
    ("TRX-002", "number", "the status is a number", _always("status", 3)),
    ("TRX-002", "missing", "transactions have no status", _without("status")),
    ("TRX-003", "number", "the type is a number", _always("type", 1)),
    ("TRX-003", "missing", "transactions have no type", _without("type")),
    ("TRX-004", "word", "the direction is OUT", _always("direction", "OUT")),
    ("TRX-004", "case", "the direction is in lower case", _always("direction", "debit")),
    (
        "TRX-005",
        "integer",
        "sentAmount is an integer without a currency",
        _with("sentAmount", lambda body: body["sentAmount"]["amount"]),
    ),
    (
        "TRX-005",
        "text",
        "sentAmount is a text with its currency",
        _with("sentAmount", lambda body: f"{body['sentAmount']['amount']} USD"),
    ),
    (
        "TRX-006",
        "integer",
        "receivedAmount is an integer without a currency",
        _with("receivedAmount", lambda body: body["receivedAmount"]["amount"]),
    ),
    (
        "TRX-006",
        "text",
        "receivedAmount is a text with its currency",
        _with("receivedAmount", lambda body: f"{body['receivedAmount']['amount']} USD"),
    ),
    (
        "TRX-007",
        "text",
        "exchangeRate is a text",
        _with("exchangeRate", lambda body: str(body["exchangeRate"])),
    ),
    ("TRX-008", "seconds", "settledAt counts seconds", _always("settledAt", 1_760_000_000)),
    ("TRX-008", "day", "settledAt is a date", _always("settledAt", "2026-01-15")),
    (
        "TRX-008",
        "local",
        "settledAt is in a local time",
        _always("settledAt", "2026-01-15T09:00:00-05:00"),
    ),
    ("TRX-009", "missing", "transactions have no createdAt", _without("createdAt")),
    ("TRX-009", "seconds", "createdAt counts seconds", _always("createdAt", 1_760_000_000)),
    (
        "TRX-009",
        "no-zone",
        "createdAt does not say that it is in UTC",
        _with("createdAt", lambda body: str(body["createdAt"]).rstrip("Z")),
    ),
    (
        "TRX-010",
        "list",
        "the description is a list of lines",
        _with("description", lambda body: [body["description"]]),
    ),
    ("TRX-011", "no-type", "the quoteId has no type in front", _bare("quoteId")),
    ("TRX-011", "number", "the quoteId is a number", _always("quoteId", 7)),
    (
        "TRX-012",
        "object",
        "the failureReason is an object",
        _with("failureReason", lambda body: {"code": body["failureReason"]}),
    ),
    ("TRX-013", "flag", "the pendingReason is a flag", _always("pendingReason", value=True)),
    (
        "TRX-014",
        "text",
        "the refund is a text",
        _with("refund", lambda body: body["refund"]["status"]),
    ),
    (
        "TRX-015",
        "missing",
        "the refund has no status",
        _with("refund", lambda body: _without("status")(body["refund"])),
    ),
    (
        "TRX-016",
        "missing",
        "a failed transaction does not say why",
        _without("failureReason"),
    ),
    (
        "TRX-016",
        "empty",
        "the failureReason of a failed transaction is empty",
        _always("failureReason", ""),
    ),
    (
        "TRX-017",
        "early",
        "a transaction in processing has a failureReason",
        _where(_is("status", "PROCESSING"), lambda body: {**body, "failureReason": "NONE"}),
    ),
    (
        "TRX-017",
        "late",
        "a completed transaction has a failureReason",
        _where(_is("status", "COMPLETED"), lambda body: {**body, "failureReason": "NONE"}),
    ),
    ("TRX-022", "missing", "transactions do not name their quote", _without("quoteId")),
    (
        "TRX-022",
        "other",
        "transactions name a quote that is not theirs",
        _with("quoteId", lambda body: f"Quote:{body['id']}"),
    ),
    (
        "TRX-024",
        "pending",
        "a transaction in processing shows as pending",
        _where(_is("status", "PROCESSING"), _always("status", "PENDING")),
    ),
    (
        "TRX-026",
        "missing",
        "a completed transaction does not say when it settled",
        _without("settledAt"),
    ),
    (
        "TRX-027",
        "early",
        "settledAt is there from the beginning",
        lambda body: {"settledAt": body["createdAt"], **body},
    ),
    (
        "TRX-028",
        "net",
        "sentAmount leaves out the fees",
        _with(
            "sentAmount",
            lambda body: {
                **body["sentAmount"],
                "amount": body["sentAmount"]["amount"] * 199 // 200,
            },
        ),
    ),
    (
        "TRX-029",
        "other",
        "sentAmount is in the receiving currency",
        _with(
            "sentAmount",
            lambda body: {**body["sentAmount"], "currency": body["receivedAmount"]["currency"]},
        ),
    ),
    (
        "TRX-030",
        "sent",
        "receivedAmount is the amount that was sent",
        _with(
            "receivedAmount",
            lambda body: {**body["receivedAmount"], "amount": body["sentAmount"]["amount"]},
        ),
    ),
    (
        "TRX-031",
        "other",
        "receivedAmount is in the sending currency",
        _with(
            "receivedAmount",
            lambda body: {**body["receivedAmount"], "currency": body["sentAmount"]["currency"]},
        ),
    ),
    (
        "TRX-032",
        "inverse",
        "exchangeRate is turned round",
        _with("exchangeRate", lambda body: 1 / body["exchangeRate"]),
    ),
    ("TRX-032", "one", "exchangeRate is always 1", _always("exchangeRate", 1)),
    ("TRX-033", "credit", "a payout is a credit", _always("direction", "CREDIT")),
    ("TRX-034", "fixed", "the description is the service's", _always("description", "Payout")),
    (
        "TRX-034",
        "short",
        "the description is cut",
        _with("description", lambda body: body["description"][:7]),
    ),
    (
        "TRX-057",
        "always",
        "a completed transaction carries a refund",
        _where(
            _is("status", "COMPLETED"), lambda body: {**body, "refund": {"status": "COMPLETED"}}
        ),
    ),
    (
        "TRX-080",
        "word",
        "what waits for approval has a status of its own",
        _where(_is("status", "PENDING"), _always("status", "PENDING_APPROVAL")),
    ),
)

for _id, _name, _statement, _change in _MEMBERS:
    declare(_id, _name, _statement, _shown(_change))


# --- The life of a payout -------------------------------------------------------------------


@mutant("TRX-020", "a transaction is listed once its quote is executed")
def listed_late(patch: Patch) -> None:
    def executed_only(filtered: Callable[..., Any]) -> Callable[..., Any]:
        return lambda query: filtered(query).where(Transaction.executed_at.is_not(None))

    patch.wrap(f"{_REFERENCE}.transactions:filtered", executed_only)


@mutant("TRX-021", "the transaction of a new quote is in processing")
def processing_from_the_start(patch: Patch) -> None:
    patch.row(_STATUS, "PENDING", "PROCESSING")


@mutant("TRX-023", "a payout that arrived has a status that the specification does not have")
def settled(patch: Patch) -> None:
    patch.row(_STATUS, "COMPLETED", "SETTLED")


@mutant("TRX-023", "nobody takes the rail's result")
def never_settled(patch: Patch) -> None:
    patch.replace(f"{_REFERENCE}.settlement:settle", lambda *_, **__: None)


@mutant("TRX-024", "a payout that the rail holds has arrived")
def hold_ignored(patch: Patch) -> None:
    patch.row(_RESULTS, "HELD", rules.PayoutResult())


@mutant("TRX-025", "a held payout stays in processing")
def never_released(patch: Patch) -> None:
    patch.replace(f"{_REFERENCE}.settlement:release", lambda *_: None)


@mutant("TRX-025", "a held payout fails once it is released")
def released_to_failure(patch: Patch) -> None:
    patch.row(_RESULTS, "HELD", rules.PayoutResult("PAYOUT_RETURNED", held=True))


@mutant("TRX-035", "nothing expires")
def never_expired(patch: Patch) -> None:
    patch.replace(f"{_REFERENCE}.transactions:expire_due", lambda _: None)


@mutant("TRX-035", "an expired transaction has failed")
def expired_to_failure(patch: Patch) -> None:
    _shown(_where(_is("status", "EXPIRED"), _always("status", "FAILED")))(patch)


def _never_at_once(patch: Patch) -> None:
    def creating(create: Callable[..., Json]) -> Callable[..., Json]:
        return lambda unit, ask: create(
            unit, Ask(ask.params, ask.query, {**ask.body, "immediatelyExecute": False})
        )

    patch.wrap(f"{_REFERENCE}.quotes:create", creating)


for _id in ("TRX-037", "EVT-016"):
    declare(_id, "ignored", "immediatelyExecute is ignored", _never_at_once)


@mutant("TRX-060", "a payout under review does not say so")
def silent_review(patch: Patch) -> None:
    patch.row(_RESULTS, "REVIEWED", rules.PayoutResult(held=True))


@mutant("TRX-061", "a payout that passed its review fails")
def review_always_fails(patch: Patch) -> None:
    row = rules.PayoutResult("COMPLIANCE_REJECTED", held=True, pending_reason="COMPLIANCE_REVIEW")
    patch.row(_RESULTS, "REVIEWED", row)


@mutant("TRX-062", "a payout does not wait for its review")
def review_ignored(patch: Patch) -> None:
    patch.row(_RESULTS, "REVIEWED", rules.PayoutResult(pending_reason="COMPLIANCE_REVIEW"))


@mutant("TRX-063", "a transaction does not show the platform's fee")
def hidden_fee(patch: Patch) -> None:
    patch.replace(f"{_REFERENCE}.transactions:platform_fees", lambda _: None)


@mutant("TRX-064", "where a payout settled on a chain is not kept")
def off_chain(patch: Patch) -> None:
    patch.replace(f"{_REFERENCE}.settlement:record_on_chain", lambda *_: None)


def _on_chain(change: Change) -> Callable[[Patch], None]:
    def changing(on_chain: Callable[[str], Json]) -> Callable[[str], Json]:
        return lambda network: {
            "onChainTransaction": change(on_chain(network)["onChainTransaction"])
        }

    return lambda patch: patch.wrap(f"{_REFERENCE}.settlement:on_chain", changing)


for _id, _member in {"TRX-065": "transactionHash", "TRX-066": "network"}.items():
    declare(_id, "missing", f"onChainTransaction has no {_member}", _on_chain(_without(_member)))
    declare(_id, "number", f"the {_member} is a number", _on_chain(_always(_member, 137)))


# --- Failures and refunds -------------------------------------------------------------------


_REASONS = {
    "TRX-040": ("RETURNS", "ACCOUNT_INVALID"),
    "TRX-041": ("LIMITED", "PAYOUT_RETURNED"),
    "TRX-042": ("BLOCKED", "ACCOUNT_INVALID"),
    "TRX-043": ("UNKNOWN", "ACCOUNT_CANNOT_RECEIVE"),
    "TRX-044": ("SCREENED", "PAYOUT_RETURNED"),
}


def _fails_with(condition: str, reason: str | None) -> Callable[[Patch], None]:
    return lambda patch: patch.row(_RESULTS, condition, rules.PayoutResult(reason))


for _id, (_condition, _reason) in _REASONS.items():
    _statement = f"a payout that meets {_condition} fails with {_reason}"
    declare(_id, "other-reason", _statement, _fails_with(_condition, _reason))
    _statement = f"a payout that meets {_condition} arrives"
    declare(_id, "arrives", _statement, _fails_with(_condition, None))


@mutant("TRX-050", "a failed payout is not refunded")
def no_refund(patch: Patch) -> None:
    patch.replace(f"{_REFERENCE}.settlement:set_refund", lambda *_: None)


@mutant("TRX-051", "a refund keeps the fees")
def fees_kept(patch: Patch) -> None:
    patch.replace(
        f"{_REFERENCE}.settlement:refund_total",
        lambda quote: quote.sending_amount - quote.variable_fee,
    )


@mutant("TRX-051", "the money of a refund does not come back to its account")
def refund_lost(patch: Patch) -> None:
    patch.wrap(
        f"{_REFERENCE}.settlement:refund_legs", lambda legs: lambda quote, _: legs(quote, "FAILED")
    )


@mutant("TRX-052", "a refund is paid twice")
def refunded_twice(patch: Patch) -> None:
    def refunding(refund: Callable[..., None]) -> Callable[..., None]:
        def twice(unit: Unit, transaction_id: str) -> None:
            refund(unit, transaction_id)
            quote, _ = transactions.locked(unit, transaction_id)
            accounts.credit(unit, _source(unit, quote), quote.sending_amount)

        return twice

    patch.wrap(f"{_REFERENCE}.settlement:refund", refunding)


@mutant("TRX-053", "a refunded transaction is completed")
def refunded_to_completed(patch: Patch) -> None:
    def refunding(refund: Callable[..., None]) -> Callable[..., None]:
        def completing(unit: Unit, transaction_id: str) -> None:
            refund(unit, transaction_id)
            transactions.get(unit, transaction_id).status = "COMPLETED"

        return completing

    patch.wrap(f"{_REFERENCE}.settlement:refund", refunding)


@mutant("TRX-054", "a refund that cannot be delivered is credited all the same")
def failed_refund_credited(patch: Patch) -> None:
    patch.wrap(
        f"{_REFERENCE}.settlement:refund_legs",
        lambda legs: lambda quote, _: legs(quote, "COMPLETED"),
    )


@mutant("TRX-055", "a refund does not wait until it can be delivered")
def refund_not_held(patch: Patch) -> None:
    patch.row(_RESULTS, "REFUND_HELD", rules.PayoutResult("PAYOUT_RETURNED"))


@mutant("TRX-055", "a refund is credited when it is started")
def refund_credited_early(patch: Patch) -> None:
    def failing(fail: Callable[..., None]) -> Callable[..., None]:
        def crediting(unit: Unit, quote: Quote, *more: Any) -> None:
            fail(unit, quote, *more)
            accounts.credit(unit, _source(unit, quote), quote.sending_amount)

        return crediting

    patch.wrap(f"{_REFERENCE}.settlement:fail", failing)


@mutant("TRX-056", "a refund that was held is never credited")
def held_refund_lost(patch: Patch) -> None:
    patch.replace(f"{_REFERENCE}.settlement:release", lambda *_: None)


# --- The list -------------------------------------------------------------------------------


def _asked(change: Callable[[dict[str, str]], dict[str, str]]) -> Callable[[Patch], None]:
    """Return the patch that reads the filters of a list changed."""
    return lambda patch: patch.wrap(
        f"{_REFERENCE}.transactions:filtered",
        lambda filtered: lambda query: filtered(change(dict(query))),
    )


def _lower(name: str) -> Callable[[dict[str, str]], dict[str, str]]:
    return lambda query: {k: v.lower() if k == name else v for k, v in query.items()}


for _id, _member in {"TRX-071": "status", "TRX-073": "type", "TRX-077": "cardId"}.items():
    declare(_id, "ignored", f"the filter {_member} is ignored", _asked(_without(_member)))
for _id, _member in {"TRX-072": "status", "TRX-074": "type"}.items():
    declare(_id, "case", f"the filter {_member} is read in lower case", _asked(_lower(_member)))


@mutant("TRX-070", "transactions are listed with a filter alone")
def filter_needed(patch: Patch) -> None:
    def listing(list_all: Callable[..., Json]) -> Callable[..., Json]:
        def demanding(unit: Unit, ask: Ask) -> Json:
            if not ask.query:
                raise errors.invalid_input(errors.field_error("customerId", "Expected a filter."))
            return list_all(unit, ask)

        return demanding

    patch.wrap(f"{_REFERENCE}.transactions:list_all", listing)


@mutant("TRX-075", "a status of card transactions is taken")
def status_of_cards(patch: Patch) -> None:
    patch.replace(f"{_REFERENCE}.transactions:refuse_status_of_cards", lambda _: None)


@mutant("TRX-075", "a status of card transactions does not exist")
def status_of_cards_missing(patch: Patch) -> None:
    def refusing(refuse: Callable[..., None]) -> Callable[..., None]:
        def missing(query: dict[str, str]) -> None:
            try:
                refuse(query)
            except errors.Refusal as refusal:
                raise errors.Refusal("NOT_FOUND", refusal.reason) from refusal

        return missing

    patch.wrap(f"{_REFERENCE}.transactions:refuse_status_of_cards", refusing)


@mutant("TRX-076", "the list breaks on a type that payments do not have")
def unknown_type(patch: Patch) -> None:
    tables = {"OUTGOING": "payments", "INCOMING": "payments"}

    def looking_up(query: dict[str, str]) -> dict[str, str]:
        if "type" in query:
            tables[query["type"]]
        return query

    _asked(looking_up)(patch)


# --- Approvals ------------------------------------------------------------------------------


def _initiated(then: Callable[[Unit, Quote], None]) -> Callable[[Patch], None]:
    """Return the patch by which something follows when an agent initiates a payment."""

    def initiating(initiate: Callable[..., Json]) -> Callable[..., Json]:
        def following(unit: Unit, ask: Ask) -> Json:
            found = initiate(unit, ask)
            then(unit, transactions.locked(unit, found["transactionId"])[0])
            return found

        return following

    return lambda patch: patch.wrap(f"{_REFERENCE}.control:initiate_by_agent", initiating)


for _id in ("TRX-080", "TRX-081"):
    declare(
        _id,
        "executed",
        "an agent's payment is made without an approval",
        _initiated(lambda unit, quote: quotes.perform(unit, quote, "APPROVE")),
    )
declare(
    "TRX-081",
    "reserved",
    "an agent's payment is debited before its approval",
    _initiated(lambda unit, quote: ledger.post(unit, quotes.debit_legs(quote))),
)


@mutant("TRX-082", "no payment can be approved")
def never_approvable(patch: Patch) -> None:
    patch.replace(f"{_REFERENCE}.quotes:is_approvable", lambda _: False)


@mutant("TRX-083", "an approval has no effect")
def approval_ignored(patch: Patch) -> None:
    patch.replace(
        f"{_REFERENCE}.quotes:approve",
        lambda unit, ask: transactions.view(transactions.get(unit, ask.params["transactionId"])),
    )


@mutant("TRX-084", "an approval debits the fees on top")
def fees_on_top(patch: Patch) -> None:
    patch.replace(
        f"{_REFERENCE}.quotes:debit_total",
        lambda quote: quote.sending_amount + quote.variable_fee,
    )


@mutant("TRX-085", "a payment in processing can be approved again")
def approved_again(patch: Patch) -> None:
    patch.row(_MOVES, ("PROCESSING", "APPROVE"), rules.Move("PROCESSING"))


@mutant("TRX-085", "a completed payment can be approved again")
def approved_after_completion(patch: Patch) -> None:
    patch.row(_MOVES, ("COMPLETED", "APPROVE"), rules.Move("PROCESSING"))


@mutant("TRX-086", "whatever has completed can be approved and is made again")
def anything_approvable(patch: Patch) -> None:
    patch.replace(f"{_REFERENCE}.quotes:is_approvable", lambda _: True)
    patch.row(_MOVES, ("COMPLETED", "APPROVE"), rules.Move("PROCESSING"))


@mutant("TRX-087", "approving nothing succeeds")
def nothing_approved(patch: Patch) -> None:
    def approving(approve: Callable[..., Json]) -> Callable[..., Json]:
        def lenient(unit: Unit, ask: Ask) -> Json:
            try:
                return approve(unit, ask)
            except errors.Refusal:
                return {}

        return lenient

    patch.wrap(f"{_REFERENCE}.quotes:approve", approving)


@mutant("TRX-087", "approving nothing is an invalid request")
def nothing_invalid(patch: Patch) -> None:
    patch.row(f"{_REFERENCE}.rules:ERROR_STATUS", "TRANSACTION_NOT_FOUND", 400)


@mutant("TRX-088", "a transaction that does not exist is told as a missing account")
def code_of_accounts(patch: Patch) -> None:
    def getting(get: Callable[..., Transaction]) -> Callable[..., Transaction]:
        def miscoded(unit: Unit, transaction_id: str, *, lock: bool = False) -> Transaction:
            try:
                return get(unit, transaction_id, lock=lock)
            except errors.Refusal as refusal:
                raise errors.Refusal("ACCOUNT_NOT_FOUND", refusal.reason) from refusal

        return miscoded

    patch.wrap(f"{_REFERENCE}.transactions:get", getting)


# --- Deprecated transfers -------------------------------------------------------------------


def _gone(function: str) -> Callable[[Patch], None]:
    def refuse(_unit: Unit, _ask: Ask) -> Json:
        raise errors.Refusal(*app.UNROUTED[404])

    return lambda patch: patch.replace(f"{_REFERENCE}.transfers:{function}", refuse)


for _id, _function in {"TRX-090": "transfer_in", "TRX-091": "transfer_out"}.items():
    declare(_id, "gone", f"{_function} is no longer served", _gone(_function))


# --- The envelope of a webhook --------------------------------------------------------------


_OUTGOING = "OUTGOING_PAYMENT."
_BALANCE = "INTERNAL_ACCOUNT.BALANCE_UPDATED"


def _renamed(name: str, other: str) -> Change:
    return lambda body: {other if key == name else key: value for key, value in body.items()}


def _data(kind: str, change: Change) -> Change:
    """Return the change of the data of all events whose type begins with ``kind``."""
    return lambda event: (
        {**event, "data": change(event["data"])} if event["type"].startswith(kind) else event
    )


_ENVELOPES: tuple[tuple[str, str, str, Change], ...] = (
    ("EVT-001", "no-type", "the id of a webhook has no type in front", _bare("id")),
    ("EVT-001", "missing", "webhooks have no id", _without("id")),
    ("EVT-002", "missing", "the type of a webhook is called event", _renamed("type", "event")),
    ("EVT-002", "number", "the type of a webhook is a number", _always("type", 4)),
    ("EVT-003", "missing", "webhooks have no timestamp", _without("timestamp")),
    ("EVT-003", "seconds", "the timestamp counts seconds", _always("timestamp", 1_760_000_000)),
    (
        "EVT-003",
        "no-zone",
        "the timestamp does not say that it is in UTC",
        _with("timestamp", lambda event: str(event["timestamp"]).rstrip("Z")),
    ),
    (
        "EVT-004",
        "renamed",
        "the data of a webhook is called resource",
        _renamed("data", "resource"),
    ),
    ("EVT-004", "list", "the data of a webhook is a list", _with("data", lambda e: [e["data"]])),
    (
        "EVT-005",
        "resource",
        "the id of a webhook follows from its resource",
        _with("id", lambda event: f"Webhook:{event['data']['id']}"),
    ),
    ("EVT-005", "fixed", "all webhooks have one id", _always("id", "Webhook:1")),
    (
        "EVT-020",
        "nested",
        "the transaction stands under a name in the data",
        _data(_OUTGOING, lambda data: {"transaction": data}),
    ),
    (
        "EVT-020",
        "reduced",
        "the data names the transaction alone",
        _data(_OUTGOING, lambda data: {"id": data["id"], "quoteId": data["quoteId"]}),
    ),
    (
        "EVT-021",
        "quote",
        "the data carries the quote's id",
        _data(_OUTGOING, _with("id", lambda data: data["quoteId"])),
    ),
    (
        "EVT-022",
        "stale",
        "the transaction that completed is shown as it was before",
        _data(f"{_OUTGOING}COMPLETED", _always("status", "PROCESSING")),
    ),
    (
        "EVT-023",
        "stale",
        "the transaction that failed is shown as it was before",
        _data(f"{_OUTGOING}FAILED", _always("status", "PROCESSING")),
    ),
    (
        "EVT-024",
        "missing",
        "the webhook of a failure does not say why",
        _data(f"{_OUTGOING}FAILED", _without("failureReason")),
    ),
    (
        "EVT-025",
        "missing",
        "the webhook of a started refund shows none",
        _data(f"{_OUTGOING}REFUND_PENDING", _without("refund")),
    ),
    (
        "EVT-026",
        "missing",
        "the webhook of a delivered refund shows none",
        _data(f"{_OUTGOING}REFUND_COMPLETED", _without("refund")),
    ),
    (
        "EVT-027",
        "missing",
        "the webhook of a failed refund shows none",
        _data(f"{_OUTGOING}REFUND_FAILED", _without("refund")),
    ),
    (
        "EVT-052",
        "reduced",
        "the webhook of a balance shows nothing else of the account",
        _data(_BALANCE, lambda data: {"id": data["id"], "balance": data["balance"]}),
    ),
    (
        "EVT-053",
        "customer",
        "the webhook of a balance carries the customer's id",
        _data(_BALANCE, _with("id", lambda data: data["customerId"])),
    ),
)

for _id, _name, _statement, _change in _ENVELOPES:
    declare(_id, _name, _statement, _sent(_change))


@mutant("EVT-006", "a webhook is sent again under another id")
def sent_twice(patch: Patch) -> None:
    def emitting(emit: Callable[..., None]) -> Callable[..., None]:
        def twice(unit: Unit, event_type: str, data: Json) -> None:
            emit(unit, event_type, data)
            emit(unit, event_type, data)

        return twice

    patch.wrap(f"{_REFERENCE}.unit:Unit.emit", emitting)


@mutant("EVT-007", "webhooks are delivered as a list of one")
def delivered_as_a_list(patch: Patch) -> None:
    patch.wrap(
        f"{_REFERENCE}.deliveries:Deliveries.put",
        lambda put: lambda deliveries, event: put(deliveries, [event]),
    )


# --- What is reported -----------------------------------------------------------------------


_REPORTED = {
    "EVT-010": "PROCESSING",
    "EVT-011": "COMPLETED",
    "EVT-012": "FAILED",
    "EVT-013": "REFUND_PENDING",
    "EVT-014": "REFUND_COMPLETED",
    "EVT-015": "REFUND_FAILED",
}


def _unreported(happening: str) -> Callable[[Patch], None]:
    return lambda patch: patch.drop(_EVENTS, happening)


def _reported_as(happening: str, kind: str) -> Callable[[Patch], None]:
    return lambda patch: patch.row(_EVENTS, happening, kind)


for _id, _happening in _REPORTED.items():
    declare(_id, "silent", f"{_happening} is not reported", _unreported(_happening))
    _kind = f"PAYOUT.{_happening}"
    declare(_id, "renamed", f"{_happening} is {_kind}", _reported_as(_happening, _kind))


@mutant("EVT-017", "a payout that was authorized is forgotten")
def forgotten_after_authorization(patch: Patch) -> None:
    def performing(perform: Callable[..., None]) -> Callable[..., None]:
        def forgetting(unit: Unit, quote: Quote, action: rules.Action) -> None:
            perform(unit, quote, action)
            if action == "AUTHORIZE":
                unit.jobs.clear()

        return forgetting

    patch.wrap(f"{_REFERENCE}.quotes:perform", performing)


@mutant("EVT-018", "what was funded just in time is not reported")
def realtime_unreported(patch: Patch) -> None:
    def announcing(announce: Callable[..., None]) -> Callable[..., None]:
        def choosing(unit: Unit, row: Transaction, happening: str) -> None:
            if row.source.get("sourceType") != "REALTIME_FUNDING":
                announce(unit, row, happening)

        return choosing

    patch.wrap(f"{_REFERENCE}.transactions:announce", announcing)


# --- What is not to be reported -------------------------------------------------------------


def _also(place: str, happening: str, condition: str = "") -> Callable[[Patch], None]:
    """Return the patch by which ``happening`` is reported too after a function has run.

    ``condition`` is the status of the refund under which it is; without it always. The function
    takes the unit and, among its arguments, a quote, a transaction or its id.
    """

    def wrapping(function: Callable[..., Any]) -> Callable[..., Any]:
        def reporting(unit: Unit, *arguments: Any, **named: Any) -> Any:
            result = function(unit, *arguments, **named)
            row = _transaction(unit, *arguments, *named.values(), result)
            if not condition or (row.refund or {}).get("status") == condition:
                transactions.announce(unit, row, happening)
            return result

        return reporting

    return lambda patch: patch.wrap(f"{_REFERENCE}.{place}", wrapping)


_TOO_MUCH: tuple[tuple[str, str, str, str, str], ...] = (
    ("EVT-030", "a new quote is reported as processed", "quotes:draft", "PROCESSING", ""),
    ("EVT-030", "a new quote is reported as completed", "quotes:draft", "COMPLETED", ""),
    ("EVT-030", "a new quote is reported as failed", "quotes:draft", "FAILED", ""),
    ("EVT-032", "a challenge is reported as processing", "sca:begin", "PROCESSING", ""),
    ("EVT-032", "a challenge is reported as completion", "sca:begin", "COMPLETED", ""),
    ("EVT-033", "a failure is reported as completion too", "settlement:fail", "COMPLETED", ""),
    ("EVT-034", "a completion is reported as failure too", "settlement:complete", "FAILED", ""),
    (
        "EVT-035",
        "a completion is reported with a refund",
        "settlement:complete",
        "REFUND_PENDING",
        "",
    ),
    ("EVT-036", "an execution is reported as completion", "quotes:perform", "COMPLETED", ""),
    (
        "EVT-037",
        "a refund that failed is reported as delivered too",
        "settlement:refund",
        "REFUND_COMPLETED",
        "FAILED",
    ),
    (
        "EVT-038",
        "a refund is reported as delivered when it is started",
        "settlement:fail",
        "REFUND_COMPLETED",
        "",
    ),
    (
        "EVT-038",
        "a refund is reported as failed when it is started",
        "settlement:fail",
        "REFUND_FAILED",
        "",
    ),
    (
        "EVT-039",
        "a refund that was delivered is reported as failed too",
        "settlement:refund",
        "REFUND_FAILED",
        "COMPLETED",
    ),
)

for _id, _statement, _place, _happening, _condition in _TOO_MUCH:
    declare(_id, f"{_happening.lower()}-too", _statement, _also(_place, _happening, _condition))


@mutant("EVT-031", "an expired quote can still be executed")
def expired_executes(patch: Patch) -> None:
    patch.replace(f"{_REFERENCE}.quotes:is_expired", lambda *_: False)


@mutant("EVT-031", "the end of a quote's life is reported as completion")
def expiry_completes(patch: Patch) -> None:
    def expiring(expire: Callable[..., None]) -> Callable[..., None]:
        def reporting(unit: Unit, ask: Ask) -> None:
            expire(unit, ask)
            quote = quotes.get(unit, ask.params["quoteId"])
            transactions.announce(unit, _transaction(unit, quote), "COMPLETED")

        return reporting

    patch.wrap(f"{_REFERENCE}.control:expire_quote", expiring)


# --- Balances -------------------------------------------------------------------------------


@mutant("EVT-050", "no balance is reported")
def silent_balances(patch: Patch) -> None:
    patch.replace(f"{_REFERENCE}.accounts:announce_balance", lambda *_: None)


@mutant("EVT-051", "a debit is not reported")
def silent_debits(patch: Patch) -> None:
    patch.replace(f"{_REFERENCE}.settlement:announce_source", lambda *_: None)


@mutant("EVT-054", "a deposit is reported before it is booked")
def balance_before(patch: Patch) -> None:
    announce = accounts.announce_balance

    def crediting(credit: Callable[..., None]) -> Callable[..., None]:
        def reporting(unit: Unit, account: Any, amount: int) -> None:
            announce(unit, account)
            credit(unit, account, amount)

        return reporting

    patch.wrap(f"{_REFERENCE}.accounts:credit", crediting)
    patch.replace(f"{_REFERENCE}.accounts:announce_balance", lambda *_: None)


@mutant("EVT-055", "the credit of a refund is not reported")
def silent_refunds(patch: Patch) -> None:
    def refunding(refund: Callable[..., None]) -> Callable[..., None]:
        def silent(unit: Unit, transaction_id: str) -> None:
            refund(unit, transaction_id)
            unit.events[:] = [event for event in unit.events if event["type"] != _BALANCE]

        return silent

    patch.wrap(f"{_REFERENCE}.settlement:refund", refunding)


def _source(unit: Unit, quote: Quote) -> Any:
    return accounts.find(unit, quote.source["accountId"])


def _transaction(unit: Unit, *candidates: Any) -> Transaction:
    """Return the transaction that one of ``candidates`` is, names or belongs to."""
    for one in candidates:
        if isinstance(one, Transaction):
            return one
        if isinstance(one, Quote):
            return transactions.get(unit, one.transaction_id)
        if isinstance(one, str) and one.startswith("Transaction:"):
            return transactions.get(unit, one)
    raise LookupError(f"none of {candidates} leads to a transaction")
