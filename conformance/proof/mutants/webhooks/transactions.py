"""Mutants of the webhooks of transactions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance.proof.kit.builders import Json, Place, after, around, receives, skipped
from conformance.proof.kit.edits import (
    Edit,
    bare,
    derived,
    put,
    renamed,
    replaced,
    shows,
    turned,
    where,
    without,
)
from conformance.proof.kit.lost import where_gone
from conformance.proof.kit.tables import with_row, without_row
from conformance.proof.mutant import declare, mutant
from conformance.proof.mutants.webhooks.toolkit import OUTGOING, is_from_a_wallet, is_of_business
from conformance.proof.patch import Apply, Patch
from conformance.reference import control, rules
from conformance.reference.authentication import sca
from conformance.reference.internal_accounts import accounts
from conformance.reference.quotes import quotes
from conformance.reference.service import Service
from conformance.reference.store import Customer, InternalAccount, Quote, Transaction
from conformance.reference.transactions import settlement, transactions
from conformance.reference.unit import Ask, Unit
from conformance.reference.webhooks.deliveries import Deliveries


def _sent(change: Edit) -> Apply:
    """Return the patch that sends every webhook changed."""

    def changed(unit: Unit, event_type: str, data: Json) -> None:
        unit.events[-1] = change(unit.events[-1])

    return after(Unit, "emit", changed)


# --- The life of a payout -------------------------------------------------------------------


declare(
    "EVT-016",
    "ignored",
    "immediatelyExecute is ignored",
    receives(quotes, "create", put("immediatelyExecute", False)),
)


# --- The envelope of a webhook --------------------------------------------------------------


_BALANCE = "INTERNAL_ACCOUNT.BALANCE_UPDATED"


def _data(kind: str, change: Edit) -> Edit:
    """Return the change of the data of all events whose type begins with ``kind``."""
    return lambda event: (
        {**event, "data": change(event["data"])} if event["type"].startswith(kind) else event
    )


_ENVELOPES: tuple[tuple[str, str, str, Edit], ...] = (
    ("EVT-001", "no-type", "the id of a webhook has no type in front", turned("id", bare)),
    ("EVT-001", "missing", "webhooks have no id", without("id")),
    ("EVT-002", "missing", "the type of a webhook is called event", renamed("type", "event")),
    ("EVT-002", "number", "the type of a webhook is a number", replaced("type", 4)),
    ("EVT-003", "missing", "webhooks have no timestamp", without("timestamp")),
    ("EVT-003", "seconds", "the timestamp counts seconds", replaced("timestamp", 1_760_000_000)),
    (
        "EVT-003",
        "no-zone",
        "the timestamp does not say that it is in UTC",
        turned("timestamp", lambda value: str(value).rstrip("Z")),
    ),
    (
        "EVT-009",
        "epoch",
        "the timestamp is that of the epoch",
        replaced("timestamp", "1970-01-21T08:00:00Z"),
    ),
    (
        "EVT-009",
        "local",
        "the timestamp is in a local time, and called UTC",
        turned(
            "timestamp",
            lambda value: (
                f"{str(value)[:11]}{(int(str(value)[11:13]) + 2) % 24:02}{str(value)[13:]}"
            ),
        ),
    ),
    (
        "EVT-004",
        "renamed",
        "the data of a webhook is called resource",
        renamed("data", "resource"),
    ),
    ("EVT-004", "list", "the data of a webhook is a list", turned("data", lambda value: [value])),
    (
        "EVT-005",
        "resource",
        "the id of a webhook follows from its resource",
        derived("id", lambda event: f"Webhook:{event['data']['id']}"),
    ),
    ("EVT-005", "fixed", "all webhooks have one id", replaced("id", "Webhook:1")),
    (
        "EVT-020",
        "nested",
        "the transaction stands under a name in the data",
        _data(OUTGOING, lambda data: {"transaction": data}),
    ),
    (
        "EVT-020",
        "reduced",
        "the data names the transaction alone",
        _data(OUTGOING, lambda data: {"id": data["id"], "quoteId": data["quoteId"]}),
    ),
    (
        "EVT-021",
        "quote",
        "the data carries the quote's id",
        _data(OUTGOING, derived("id", lambda data: data["quoteId"])),
    ),
    (
        "EVT-022",
        "stale",
        "the transaction that completed is shown as it was before",
        _data(f"{OUTGOING}COMPLETED", replaced("status", "PROCESSING")),
    ),
    (
        "EVT-023",
        "stale",
        "the transaction that failed is shown as it was before",
        _data(f"{OUTGOING}FAILED", replaced("status", "PROCESSING")),
    ),
    (
        "EVT-024",
        "missing",
        "the webhook of a failure does not say why",
        _data(f"{OUTGOING}FAILED", without("failureReason")),
    ),
    (
        "EVT-025",
        "missing",
        "the webhook of a started refund shows none",
        _data(f"{OUTGOING}REFUND_PENDING", without("refund")),
    ),
    (
        "EVT-026",
        "missing",
        "the webhook of a delivered refund shows none",
        _data(f"{OUTGOING}REFUND_COMPLETED", without("refund")),
    ),
    (
        "EVT-027",
        "missing",
        "the webhook of a failed refund shows none",
        _data(f"{OUTGOING}REFUND_FAILED", without("refund")),
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
        _data(_BALANCE, derived("id", lambda data: data["customerId"])),
    ),
)

for _id, _name, _statement, _change in _ENVELOPES:
    declare(_id, _name, _statement, _sent(_change))


@mutant("EVT-006", "a webhook is sent again under another id", (Unit, "emit"))
def sent_twice(emit: Callable[..., None], unit: Unit, event_type: str, data: Json) -> None:
    emit(unit, event_type, data)
    emit(unit, event_type, data)


@mutant("EVT-007", "webhooks are delivered as a list of one")
def delivered_as_a_list(patch: Patch) -> None:
    patch.wrap(
        Deliveries,
        "put",
        lambda put, deliveries, event: put(deliveries, [event]),
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

for _id, _happening in _REPORTED.items():
    declare(
        _id,
        "silent",
        f"{_happening} is not reported",
        without_row(rules, "TRANSACTION_EVENTS", _happening),
    )
    _kind = f"PAYOUT.{_happening}"
    declare(
        _id,
        "renamed",
        f"{_happening} is {_kind}",
        with_row(rules, "TRANSACTION_EVENTS", _happening, _kind),
    )


@mutant("EVT-017", "a payout that was authorized is forgotten", (quotes, "perform"), after)
def forgotten_after_authorization(unit: Unit, quote: Quote, action: rules.Action) -> None:
    if action == "AUTHORIZE":
        unit.jobs.clear()


@mutant(
    "EVT-018", "what was funded just in time is not reported", (transactions, "announce"), skipped
)
def realtime_unreported(unit: Unit, row: Transaction, happening: str) -> bool:
    return row.source.get("sourceType") == "REALTIME_FUNDING"


def _processing_untold(action: rules.Action) -> Apply:
    """Return the patch that reports no payout as PROCESSING that an action has started."""

    def silent(unit: Unit, _quote: Quote, performed: rules.Action) -> None:
        if performed == action:
            unit.events[:] = [e for e in unit.events if e["type"] != f"{OUTGOING}PROCESSING"]

    return after(quotes, "perform", silent)


for _action in ("AUTHORIZE", "DEPOSIT"):
    declare(
        "EVT-010",
        f"silent-{_action.lower()}",
        f"PROCESSING is not reported after {_action}",
        _processing_untold(_action),
    )


def _untold_where(happening: str, condition: Callable[[Unit, Transaction], bool]) -> Apply:
    """Return the patch that does not report what happens to transactions of a condition."""
    return skipped(
        transactions,
        "announce",
        lambda unit, row, told: told == happening and condition(unit, row),
    )


def _is_just_in_time(_unit: Unit, row: Transaction) -> bool:
    return row.source.get("sourceType") == "REALTIME_FUNDING"


def _is_pulled(_unit: Unit, row: Transaction) -> bool:
    return str(row.source.get("accountId")).startswith("ExternalAccount:")


for _id, _happening, _name, _condition_ in (
    ("EVT-012", "FAILED", "real-time", _is_just_in_time),
    ("EVT-013", "REFUND_PENDING", "business", is_of_business),
    ("EVT-014", "REFUND_COMPLETED", "business", is_of_business),
    ("EVT-015", "REFUND_FAILED", "business", is_of_business),
):
    declare(
        _id,
        _name,
        f"{_happening} of a payment that is {_name} is not reported",
        _untold_where(_happening, _condition_),
    )

for _name, _condition_ in (
    ("business", is_of_business),
    ("pulled", _is_pulled),
    ("platform", lambda _unit, row: row.customer_id is None),
):
    declare(
        "EVT-011",
        _name,
        f"COMPLETED of a payment that is {_name} is not reported",
        _untold_where("COMPLETED", _condition_),
    )


def _failed_for(reason: str) -> Callable[[Unit, Transaction], bool]:
    return lambda _unit, row: row.failure_reason == reason


for _reason in ("PAYOUT_RETURNED", "LIMIT_EXCEEDED"):
    for _id, _happening in (("EVT-013", "REFUND_PENDING"), ("EVT-014", "REFUND_COMPLETED")):
        declare(
            _id,
            _reason,
            f"{_happening} is not reported after {_reason}",
            _untold_where(_happening, _failed_for(_reason)),
        )
    declare(
        "EVT-024",
        _reason,
        f"the webhook of a failure does not say that it is for {_reason}",
        _sent(
            _data(
                f"{OUTGOING}FAILED",
                where(shows("failureReason", _reason), without("failureReason")),
            )
        ),
    )


# --- What is not to be reported -------------------------------------------------------------


def _also(place: Place, happening: str, condition: str = "") -> Apply:
    """Return the patch by which ``happening`` is reported too after a function has run.

    ``condition`` is the status of the refund under which it is; without it always. The function
    takes the unit and, among its arguments, a quote, a transaction or its id.
    """

    def reporting(function: Callable[..., Any], unit: Unit, *arguments: Any, **named: Any) -> Any:
        result = function(unit, *arguments, **named)
        row = _transaction(unit, *arguments, *named.values(), result)
        if not condition or (row.refund or {}).get("status") == condition:
            transactions.announce(unit, row, happening)
        return result

    return around(*place, reporting)


_TOO_MUCH: tuple[tuple[str, str, Place, str, str], ...] = (
    ("EVT-030", "a new quote is reported as processed", (quotes, "draft"), "PROCESSING", ""),
    ("EVT-030", "a new quote is reported as completed", (quotes, "draft"), "COMPLETED", ""),
    ("EVT-030", "a new quote is reported as failed", (quotes, "draft"), "FAILED", ""),
    ("EVT-032", "a challenge is reported as processing", (sca, "begin"), "PROCESSING", ""),
    ("EVT-032", "a challenge is reported as completion", (sca, "begin"), "COMPLETED", ""),
    ("EVT-033", "a failure is reported as completion too", (settlement, "fail"), "COMPLETED", ""),
    ("EVT-034", "a completion is reported as failure too", (settlement, "complete"), "FAILED", ""),
    (
        "EVT-035",
        "a completion is reported with a refund",
        (settlement, "complete"),
        "REFUND_PENDING",
        "",
    ),
    ("EVT-036", "an execution is reported as completion", (quotes, "perform"), "COMPLETED", ""),
    (
        "EVT-037",
        "a refund that failed is reported as delivered too",
        (settlement, "refund"),
        "REFUND_COMPLETED",
        "FAILED",
    ),
    (
        "EVT-038",
        "a refund is reported as delivered when it is started",
        (settlement, "fail"),
        "REFUND_COMPLETED",
        "",
    ),
    (
        "EVT-038",
        "a refund is reported as failed when it is started",
        (settlement, "fail"),
        "REFUND_FAILED",
        "",
    ),
    (
        "EVT-039",
        "a refund that was delivered is reported as failed too",
        (settlement, "refund"),
        "REFUND_FAILED",
        "COMPLETED",
    ),
)

for _id, _statement, _place, _happening, _condition in _TOO_MUCH:
    declare(_id, f"{_happening.lower()}-too", _statement, _also(_place, _happening, _condition))


@mutant("EVT-031", "an expired quote can still be executed")
def expired_executes(patch: Patch) -> None:
    patch.replace(quotes, "is_expired", lambda *_: False)


@mutant(
    "EVT-031",
    "the end of a quote's life is reported as completion",
    (control, "expire_quote"),
    after,
)
def expiry_completes(unit: Unit, ask: Ask) -> None:
    quote = quotes.get(unit, ask.params["quoteId"])
    transactions.announce(unit, _transaction(unit, quote), "COMPLETED")


# --- Balances -------------------------------------------------------------------------------


@mutant("EVT-050", "no balance is reported")
def silent_balances(patch: Patch) -> None:
    patch.replace(accounts, "announce_balance", lambda *_: None)


@mutant(
    "EVT-050", "the balance of a business is not reported", (accounts, "announce_balance"), skipped
)
def silent_balances_of_businesses(unit: Unit, account: InternalAccount) -> bool:
    owner = unit.session.get(Customer, account.customer_id or "")
    return owner is not None and owner.customer_type == "BUSINESS"


for _type in ("INTERNAL_CRYPTO", "EMBEDDED_WALLET"):
    declare(
        "EVT-050",
        _type.lower(),
        f"the balance of an account of type {_type} is not reported",
        skipped(
            accounts,
            "announce_balance",
            lambda _unit, account, kind=_type: account.type == kind,
        ),
    )


@mutant("EVT-051", "a debit is not reported")
def silent_debits(patch: Patch) -> None:
    patch.replace(settlement, "announce_source", lambda *_: None)


declare(
    "EVT-051",
    "of-the-platform",
    "a debit of the platform is not reported",
    skipped(settlement, "announce_source", lambda _unit, quote: quote.customer_id is None),
)


@mutant("EVT-054", "a deposit is reported before it is booked")
def balance_before(patch: Patch) -> None:
    announce = accounts.announce_balance

    def reporting(credit: Callable[..., None], unit: Unit, account: Any, amount: int) -> None:
        announce(unit, account)
        credit(unit, account, amount)

    patch.wrap(accounts, "credit", reporting)
    patch.replace(accounts, "announce_balance", lambda *_: None)


def _silent_refund_where(is_meant: Callable[[Unit, Quote], bool]) -> Apply:
    """Return the patch that does not report the credit of some refunds."""

    def silence(unit: Unit, transaction_id: str) -> None:
        quote, _ = transactions.locked(unit, transaction_id)
        if is_meant(unit, quote):
            unit.events[:] = [event for event in unit.events if event["type"] != _BALANCE]

    return after(settlement, "refund", silence)


for _name, _is_meant in {
    "of-any": lambda _unit, _quote: True,
    "of-a-business": is_of_business,
    "of-an-immediate": lambda unit, quote: (
        transactions.get(unit, quote.transaction_id).executed_at == quote.created_at
    ),
    "of-an-authorized": lambda _unit, quote: quote.challenge_id is not None,
    "of-an-approved": lambda _unit, quote: quote.agent_initiated,
    "of-a-wallet's": is_from_a_wallet,
    "of-the-platform's": lambda _unit, quote: quote.customer_id is None,
}.items():
    declare(
        "EVT-055",
        _name,
        f"the credit of a refund {_name.replace('-', ' ')} payment is not reported",
        _silent_refund_where(_is_meant),
    )


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


def execute_untold(service: Service, ask: Ask) -> Any:
    """Execute a quote, and send none of the webhooks."""
    with service.unit() as unit:
        answer = quotes.execute(unit, ask)
        unit.events.clear()
        return answer


declare(
    "EVT-350",
    "untold",
    "an execution whose client is gone is not reported",
    where_gone(quotes.execute, execute_untold),
)


@mutant("EVT-360", "a refund is told as a completed payout too", (settlement, "refund"), after)
def refund_told_as_completed(unit: Unit, transaction_id: str) -> None:
    transactions.announce(unit, transactions.get(unit, transaction_id), "COMPLETED")


for _id in ("EVT-010", "EVT-011"):
    declare(
        _id,
        "to-an-address",
        "what is paid to a UMA address is told to nobody",
        skipped(
            transactions,
            "announce",
            lambda _unit, row, _happening: row.destination["destinationType"] == "UMA_ADDRESS",
        ),
    )
