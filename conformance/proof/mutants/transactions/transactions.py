"""Mutants of the life of transactions: payouts, refunds, lists, approvals."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any

from sqlalchemy import select

from conformance.proof.kit.builders import (
    Handler,
    Json,
    after,
    around,
    before,
    edited,
    instead,
    later_pages,
    receives,
    recoded,
    rescued,
    skipped,
)
from conformance.proof.kit.edits import Edit, put, replaced, shows, where, without
from conformance.proof.kit.lost import where_gone
from conformance.proof.kit.tables import with_row
from conformance.proof.mutant import declare, mutant
from conformance.proof.mutants.quotes.toolkit import transaction_of
from conformance.proof.mutants.webhooks.toolkit import is_of_business
from conformance.proof.patch import Apply, Function, Patch
from conformance.reference import app, control, errors, pages, rules
from conformance.reference.authentication import sca
from conformance.reference.customers import customers
from conformance.reference.external_accounts import externals
from conformance.reference.internal_accounts import accounts, ledger
from conformance.reference.quotes import quotes, transfers
from conformance.reference.service import Service
from conformance.reference.store import Challenge, Customer, Quote, Transaction
from conformance.reference.transactions import settlement, transactions
from conformance.reference.unit import Ask, Unit

# --- The life of a payout -------------------------------------------------------------------


@mutant("TRX-020", "a transaction is listed once its quote is executed")
def listed_late(patch: Patch) -> None:
    patch.wrap(
        transactions,
        "filtered",
        lambda filtered, query: filtered(query).where(Transaction.executed_at.is_not(None)),
    )


@mutant("TRX-021", "the transaction of a new quote is in processing")
def processing_from_the_start(patch: Patch) -> None:
    patch.row(rules, "TRANSACTION_STATUS", "PENDING", "PROCESSING")


@mutant("TRX-023", "a payout that arrived has a status that the specification does not have")
def settled(patch: Patch) -> None:
    patch.row(rules, "TRANSACTION_STATUS", "COMPLETED", "SETTLED")


@mutant("TRX-023", "nobody takes the rail's result")
def never_settled(patch: Patch) -> None:
    patch.replace(settlement, "settle", lambda *_, **__: None)


@mutant("TRX-024", "a payout that the rail holds has arrived")
def hold_ignored(patch: Patch) -> None:
    patch.row(rules, "PAYOUT_RESULTS", "HELD", rules.PayoutResult())


@mutant("TRX-025", "a held payout stays in processing")
def never_released(patch: Patch) -> None:
    patch.replace(settlement, "release", lambda *_: None)


@mutant("TRX-025", "a held payout fails once it is released")
def released_to_failure(patch: Patch) -> None:
    patch.row(rules, "PAYOUT_RESULTS", "HELD", rules.PayoutResult("PAYOUT_RETURNED", held=True))


@mutant("TRX-034", "what is told the receiver stands for a description too", (quotes, "create"))
def described_for_the_receiver(create: Handler, unit: Unit, ask: Ask) -> Any:
    text = ask.body.get("remittanceInformation") if isinstance(ask.body, dict) else None
    quote = create(unit, ask)
    if text is not None:
        transactions.get(unit, quote["transactionId"]).description = text
    return quote


@mutant("TRX-035", "nothing expires")
def never_expired(patch: Patch) -> None:
    patch.replace(transactions, "expire_due", lambda _: None)


declare(
    "TRX-035",
    "expired-to-failure",
    "an expired transaction has failed",
    edited(transactions, "view", where(shows("status", "EXPIRED"), replaced("status", "FAILED"))),
)


def _is_conversion(row: Json) -> bool:
    codes = [row[member]["currency"]["code"] for member in ("sentAmount", "receivedAmount")]
    return bool(row["status"] == "EXPIRED" and codes[0] != codes[1])


declare(
    "TRX-035",
    "two-currencies",
    "the transaction of an expired quote between currencies is shown as pending",
    edited(transactions, "view", where(_is_conversion, put("status", "PENDING"))),
)


def _paid_just_in_time(row: Json) -> bool:
    return bool(row["source"].get("sourceType") == "REALTIME_FUNDING")


for _id, _name, _statement, _edit in (
    ("TRX-022", "quoteId", "the id of its quote", put("quoteId", "Quote:1")),
    ("TRX-028", "sent", "what was sent", put("sentAmount.amount", 1)),
    ("TRX-030", "received", "what was received", put("receivedAmount.amount", 1)),
    ("TRX-034", "description", "its description", put("description", "Payment")),
    ("TRX-035", "expired", "its expiry", replaced("status", "PENDING")),
):
    declare(
        _id,
        f"real-time-{_name}",
        f"what is paid just in time shows {_statement} wrongly",
        edited(transactions, "view", where(_paid_just_in_time, _edit)),
    )

declare(
    "TRX-037",
    "ignored",
    "immediatelyExecute is ignored",
    receives(quotes, "create", put("immediatelyExecute", False)),
)


@mutant("TRX-060", "a payout under review does not say so")
def silent_review(patch: Patch) -> None:
    patch.row(rules, "PAYOUT_RESULTS", "REVIEWED", rules.PayoutResult(held=True))


@mutant("TRX-061", "a payout that passed its review fails")
def review_always_fails(patch: Patch) -> None:
    row = rules.PayoutResult("COMPLIANCE_REJECTED", held=True, pending_reason="COMPLIANCE_REVIEW")
    patch.row(rules, "PAYOUT_RESULTS", "REVIEWED", row)


@mutant("TRX-062", "a payout does not wait for its review")
def review_ignored(patch: Patch) -> None:
    patch.row(
        rules, "PAYOUT_RESULTS", "REVIEWED", rules.PayoutResult(pending_reason="COMPLIANCE_REVIEW")
    )


def _view_with_fees(edit: Callable[[int], int]) -> Apply:
    """Return a patch by which transactions show other platformFees, where they show any."""

    def platform_fees(
        original: Callable[[Transaction], int | None], row: Transaction
    ) -> int | None:
        fee = original(row)
        return None if fee is None else edit(fee)

    return around(transactions, "platform_fees", platform_fees)


@mutant("TRX-063", "a transaction does not show the platform's fee")
def hidden_fee(patch: Patch) -> None:
    patch.replace(transactions, "platform_fees", lambda _: None)


declare(
    "TRX-063",
    "nothing",
    "platformFees are always 0",
    _view_with_fees(lambda _fee: 0),
)
declare(
    "TRX-985",
    "more",
    "a transaction shows more than the platform's fee",
    _view_with_fees(lambda fee: fee + 1),
)


@mutant("TRX-064", "where a payout settled on a chain is not kept")
def off_chain(patch: Patch) -> None:
    patch.replace(settlement, "record_on_chain", lambda *_: None)


declare(
    "TRX-064",
    "one-currency",
    "where a payout settled on a chain is kept for conversions alone",
    skipped(
        settlement,
        "record_on_chain",
        lambda _unit, quote, _transaction: quote.sending_currency == quote.receiving_currency,
    ),
)


for _name, _is_meant in {
    "businesses": lambda unit, quote, _row: is_of_business(unit, quote),
    "immediate": lambda _unit, _quote, row: row.executed_at == row.created_at,
    "authorized": lambda _unit, quote, _row: quote.challenge_id is not None,
    "held": lambda unit, quote, _row: settlement.result_of(unit, quote).held,
    "real-time": lambda _unit, quote, _row: quote.source_kind == "REALTIME",
}.items():
    declare(
        "TRX-064",
        _name,
        f"where a payout settled on a chain is not kept: {_name}",
        skipped(settlement, "record_on_chain", _is_meant),
    )


def _on_chain(change: Edit) -> Apply:
    return around(
        settlement,
        "on_chain",
        lambda on_chain, network: (
            {"onChainTransaction": change(on_chain(network)["onChainTransaction"])}
        ),
    )


for _id, _member in {"TRX-065": "transactionHash", "TRX-066": "network"}.items():
    declare(_id, "missing", f"onChainTransaction has no {_member}", _on_chain(without(_member)))
    declare(_id, "number", f"the {_member} is a number", _on_chain(replaced(_member, 137)))


for _id, _member, _value in (
    ("TRX-819", "network", "BASE"),
    ("TRX-820", "transactionHash", f"0x{'0' * 64}"),
):
    declare(
        _id,
        "same",
        f"the {_member} is the same whatever the wallet",
        _on_chain(replaced(_member, _value)),
    )


# --- Failures and refunds -------------------------------------------------------------------


_REASONS = {
    "TRX-040": ("RETURNS", "ACCOUNT_INVALID"),
    "TRX-041": ("LIMITED", "PAYOUT_RETURNED"),
    "TRX-042": ("BLOCKED", "ACCOUNT_INVALID"),
    "TRX-043": ("UNKNOWN", "ACCOUNT_CANNOT_RECEIVE"),
    "TRX-044": ("SCREENED", "PAYOUT_RETURNED"),
}


def _fails_with(condition: str, reason: str | None) -> Apply:
    return with_row(rules, "PAYOUT_RESULTS", condition, rules.PayoutResult(reason))


for _id, (_condition, _reason) in _REASONS.items():
    _statement = f"a payout that meets {_condition} fails with {_reason}"
    declare(_id, "other-reason", _statement, _fails_with(_condition, _reason))
    _statement = f"a payout that meets {_condition} arrives"
    declare(_id, "arrives", _statement, _fails_with(_condition, None))


@mutant("TRX-050", "a failed payout is not refunded")
def no_refund(patch: Patch) -> None:
    patch.replace(settlement, "set_refund", lambda *_: None)


@mutant("TRX-078", "what was pulled is not refunded", (settlement, "fail"), after)
def pulled_kept(_unit: Unit, quote: Quote, transaction: Transaction, _result: Any) -> None:
    if quote.source_kind == "EXTERNAL":
        transaction.refund = None


@mutant("TRX-050", "what was paid just in time is not refunded", (settlement, "fail"), after)
def realtime_kept(_unit: Unit, quote: Quote, transaction: Transaction, _result: Any) -> None:
    if quote.source_kind == "REALTIME":
        transaction.refund = None


@mutant("TRX-050", "what was to go to a crypto wallet is not refunded", (settlement, "fail"), after)
def wallets_kept(unit: Unit, quote: Quote, transaction: Transaction, _result: Any) -> None:
    account = externals.find(unit, str(quote.destination.get("accountId")))
    if account is not None and account.account_type.endswith("_WALLET"):
        transaction.refund = None


@mutant("TRX-050", "a business is not refunded", (settlement, "fail"), after)
def business_kept(unit: Unit, quote: Quote, transaction: Transaction, _result: Any) -> None:
    if customers.get(unit, str(quote.customer_id)).customer_type == "BUSINESS":
        transaction.refund = None


@mutant("TRX-051", "a refund is what would have been received")
def converted_refund(patch: Patch) -> None:
    patch.replace(settlement, "refund_total", lambda quote: quote.receiving_amount)


@mutant("TRX-051", "a refund keeps more than the fees")
def more_than_fees_kept(patch: Patch) -> None:
    patch.replace(
        settlement,
        "refund_total",
        lambda quote: quote.sending_amount - quote.variable_fee - 1,
    )


@mutant("TRX-051", "the money of a refund does not come back to its account")
def refund_lost(patch: Patch) -> None:
    patch.wrap(settlement, "refund_legs", lambda legs, quote, _: legs(quote, "FAILED"))


@mutant("TRX-052", "a refund is paid twice", (settlement, "refund"), after)
def refunded_twice(unit: Unit, transaction_id: str) -> None:
    quote, _ = transactions.locked(unit, transaction_id)
    accounts.credit(unit, _source(unit, quote), quote.sending_amount)


@mutant("TRX-053", "a refunded transaction is completed", (settlement, "refund"), after)
def refunded_to_completed(unit: Unit, transaction_id: str) -> None:
    transactions.get(unit, transaction_id).status = "COMPLETED"


@mutant("TRX-054", "a refund that cannot be delivered is credited all the same")
def failed_refund_credited(patch: Patch) -> None:
    patch.wrap(
        settlement,
        "refund_legs",
        lambda legs, quote, _: legs(quote, "COMPLETED"),
    )


def _refund_read_as_delivered(status: str) -> Apply:
    """Return the patch that shows refunds of a status as completed; nothing else changes."""

    def edit(row: Json) -> Json:
        refund = row.get("refund") or {}
        return put("refund.status", "COMPLETED")(row) if refund.get("status") == status else row

    return edited(transactions, "view", edit)


for _id, _status in (("TRX-840", "FAILED"), ("TRX-841", "PENDING")):
    declare(
        _id,
        "read-as-delivered",
        f"a refund that is {_status} is shown as COMPLETED",
        _refund_read_as_delivered(_status),
    )


def _settled_from_the_first(status: str) -> Apply:
    """Return the patch that shows a settledAt of transactions at a status."""
    return edited(
        transactions,
        "view",
        lambda row: {**row, "settledAt": row["createdAt"]} if row["status"] == status else row,
    )


for _id, _status in (("TRX-842", "PENDING"), ("TRX-843", "EXPIRED")):
    declare(
        _id,
        "settled",
        f"a transaction that is {_status} shows a settledAt",
        _settled_from_the_first(_status),
    )


@mutant("TRX-055", "a refund does not wait until it can be delivered")
def refund_not_held(patch: Patch) -> None:
    patch.row(rules, "PAYOUT_RESULTS", "REFUND_HELD", rules.PayoutResult("PAYOUT_RETURNED"))


@mutant("TRX-055", "a refund is credited when it is started", (settlement, "fail"), after)
def refund_credited_early(unit: Unit, quote: Quote, *more: Any) -> None:
    accounts.credit(unit, _source(unit, quote), quote.sending_amount)


@mutant("TRX-056", "a refund that was held is never credited")
def held_refund_lost(patch: Patch) -> None:
    patch.replace(settlement, "release", lambda *_: None)


# --- The list -------------------------------------------------------------------------------


def _asked(change: Callable[[dict[str, str]], dict[str, str]]) -> Apply:
    """Return the patch that reads the filters of a list changed."""
    return around(transactions, "filtered", lambda filtered, query: filtered(change(dict(query))))


def _lower(name: str) -> Callable[[dict[str, str]], dict[str, str]]:
    return lambda query: {k: v.lower() if k == name else v for k, v in query.items()}


def _of_customers_by(names: Collection[str]) -> Apply:
    """Return a patch after which a list by some filters has the payments of customers alone."""

    def within(filtered: Function, query: Json) -> Any:
        rows = filtered(query)
        if {*names} != query.keys() & {"status", "type"}:
            return rows
        return rows.where(Transaction.customer_id.is_not(None))

    return around(transactions, "filtered", within)


for _id, _member in {"TRX-071": "status", "TRX-073": "type", "TRX-077": "cardId"}.items():
    declare(_id, "ignored", f"the filter {_member} is ignored", _asked(without(_member)))

declare(
    "TRX-077",
    "bare-ignored",
    "the filter cardId is ignored where it is a UUID",
    _asked(where(lambda query: ":" not in query.get("cardId", ":"), without("cardId"))),
)

declare(
    "TRX-073",
    "incoming-ignored",
    "a filter by incoming transactions lists all",
    _asked(where(shows("type", "INCOMING"), without("type"))),
)

for _id, _member in {"TRX-072": "status", "TRX-074": "type"}.items():
    declare(_id, "case", f"the filter {_member} is read in lower case", _asked(_lower(_member)))


@mutant("TRX-071", "what failed and what expired are listed as one", (transactions, "filtered"))
def unsuccessful_together(filtered: Function, query: Json) -> Any:
    ends = ("FAILED", "EXPIRED")
    if query.get("status") not in ends:
        return filtered(query)
    return filtered(without("status")(query)).where(Transaction.status.in_(ends))


@mutant("TRX-072", "a list by status leaves out what comes in", (transactions, "filtered"), around)
def paid_out_by_status(filtered: Function, query: Json) -> Any:
    rows = filtered(query)
    return rows.where(Transaction.type != "INCOMING") if "status" in query else rows


for _status in ("PROCESSING", "FAILED", "EXPIRED"):
    declare(
        "TRX-071",
        f"{_status.lower()}-ignored",
        f"the filter by the status {_status} is ignored",
        _asked(where(shows("status", _status), without("status"))),
    )
    declare(
        "TRX-072",
        f"{_status.lower()}-none",
        f"the filter by the status {_status} finds nothing",
        _asked(where(shows("status", _status), put("status", "NONE"))),
    )


@mutant(
    "TRX-074",
    "the type OUTGOING is of payments of individuals alone",
    (transactions, "filtered"),
    around,
)
def individuals_alone(filtered: Function, query: Json) -> Any:
    rows = filtered(query)
    if query.get("type") != "OUTGOING":
        return rows
    individuals = select(Customer.id).where(Customer.customer_type == "INDIVIDUAL")
    return rows.where(Transaction.customer_id.in_(individuals))


for _id, _names in {"TRX-072": {"status"}, "TRX-801": {"status", "type"}}.items():
    declare(
        _id,
        "of-customers",
        f"a list by {' and '.join(sorted(_names))} leaves out payments of the platform",
        _of_customers_by(_names),
    )


declare(
    "TRX-813",
    "skips",
    "the row that follows a page is left out",
    later_pages(transactions, "list_all", lambda rows: rows[1:]),
)
declare(
    "TRX-813",
    "again",
    "a row is listed on two pages",
    later_pages(transactions, "list_all", lambda rows: [*rows, *rows[-1:]]),
)


@mutant("TRX-814", "the filters are forgotten on the second page", (transactions, "list_all"))
def filters_forgotten(original: Handler, unit: Unit, ask: Ask) -> Any:
    kept = {"cursor", "limit", "customerId"} if "cursor" in ask.query else set(ask.query)
    return original(unit, replace(ask, query=_only(ask.query, kept)))


@mutant("TRX-073", "the type is forgotten on the second page", (transactions, "list_all"))
def type_forgotten(original: Handler, unit: Unit, ask: Ask) -> Any:
    kept = set(ask.query) - ({"type"} if "cursor" in ask.query else set())
    return original(unit, replace(ask, query=_only(ask.query, kept)))


def _only(query: Mapping[str, str], names: Collection[str]) -> dict[str, str]:
    return {name: value for name, value in query.items() if name in names}


@mutant("TRX-813", "pages are turned the other way", (pages, "take"))
def turned_back(
    original: Function, unit: Unit, query: Any, table: Any, wanted: pages.Wanted, *values: Any
) -> Any:
    page = original(unit, query, table, replace(wanted, descending=not wanted.descending), *values)
    return page if wanted.after else original(unit, query, table, wanted, *values)


@mutant(
    "TRX-070", "transactions are listed with a filter alone", (transactions, "list_all"), before
)
def filter_needed(unit: Unit, ask: Ask) -> None:
    if not ask.query:
        raise errors.invalid_input(errors.field_error("customerId", "Expected a filter."))


@mutant("TRX-075", "a status of card transactions is taken")
def status_of_cards(patch: Patch) -> None:
    patch.replace(transactions, "refuse_status_of_cards", lambda _: None)


declare(
    "TRX-075",
    "status-of-cards-missing",
    "a status of card transactions does not exist",
    recoded(transactions, "refuse_status_of_cards", "NOT_FOUND"),
)


@mutant("TRX-076", "the list breaks on a type that payments do not have")
def unknown_type(patch: Patch) -> None:
    tables = {"OUTGOING": "payments", "INCOMING": "payments"}

    def looking_up(query: dict[str, str]) -> dict[str, str]:
        if "type" in query:
            tables[query["type"]]
        return query

    _asked(looking_up)(patch)


# --- Approvals ------------------------------------------------------------------------------


def _initiated(then: Callable[[Unit, Quote], None]) -> Apply:
    """Return the patch by which something follows when an agent initiates a payment."""

    def following(initiate: Callable[..., Json], unit: Unit, ask: Ask) -> Json:
        found = initiate(unit, ask)
        then(unit, transactions.locked(unit, found["transactionId"])[0])
        return found

    return around(control, "initiate_by_agent", following)


for _id in ("TRX-080", "TRX-081"):
    declare(
        _id,
        "executed",
        "an agent's payment is made without an approval",
        _initiated(lambda unit, quote: quotes.perform(unit, quote, "APPROVE")),
    )


def _take(unit: Unit, quote: Quote) -> None:
    """Let the amount of a quote leave its source for good."""
    amount, currency = quotes.debit_total(quote), quote.sending_currency
    source = ledger.available(quote.source["accountId"])
    rail = ledger.system("rail", currency)
    ledger.post(unit, [ledger.Leg(source, currency, -amount), ledger.Leg(rail, currency, amount)])


declare(
    "TRX-081",
    "reserved",
    "an agent's payment is debited before its approval",
    _initiated(_take),
)


@mutant("TRX-082", "no payment can be approved")
def never_approvable(patch: Patch) -> None:
    patch.replace(quotes, "is_approvable", lambda _: False)


@mutant("TRX-083", "an approval has no effect")
def approval_ignored(patch: Patch) -> None:
    patch.replace(
        quotes,
        "approve",
        lambda unit, ask: transactions.view(transactions.get(unit, ask.params["transactionId"])),
    )


@mutant("TRX-083", "an approval is for the first payment of the agent", (quotes, "approve"), around)
def first_approved(approve: Function, unit: Unit, ask: Ask) -> Json:
    named, _ = transactions.locked(unit, ask.params["transactionId"])
    query = select(Quote).where(
        Quote.customer_id == named.customer_id,
        Quote.agent_initiated.is_(True),
        Quote.status == "PENDING",
    )
    first = unit.session.scalars(query.order_by(Quote.created_at)).first() or named
    params = {**ask.params, "transactionId": first.transaction_id}
    shown: Json = approve(unit, replace(ask, params=params))
    return shown


@mutant("TRX-082", "no payment for a business can be approved", (quotes, "approve"), before)
def businesses_unapproved(unit: Unit, ask: Ask) -> None:
    quote, _ = transactions.locked(unit, ask.params["transactionId"])
    if is_of_business(unit, quote):
        raise errors.Refusal("CONFLICT", "A business approves elsewhere.")


@mutant("TRX-084", "an approval debits the fees on top")
def fees_on_top(patch: Patch) -> None:
    patch.replace(
        quotes,
        "debit_total",
        lambda quote: quote.sending_amount + quote.variable_fee,
    )


@mutant("TRX-081", "an approval is for all payments of the agent", (quotes, "approve"), after)
def others_approved_too(unit: Unit, ask: Ask) -> None:
    approved, _ = transactions.locked(unit, ask.params["transactionId"])
    unit.session.flush()
    query = select(Quote).where(
        Quote.customer_id == approved.customer_id,
        Quote.agent_initiated.is_(True),
        Quote.status == "PENDING",
    )
    for quote in unit.session.scalars(query).all():
        quotes.perform(unit, quote, "APPROVE")


@mutant("TRX-085", "a payment in processing can be approved again")
def approved_again(patch: Patch) -> None:
    patch.row(rules, "QUOTE_TRANSITIONS", ("PROCESSING", "APPROVE"), rules.Move("PROCESSING"))


@mutant("TRX-085", "a completed payment can be approved again")
def approved_after_completion(patch: Patch) -> None:
    patch.row(rules, "QUOTE_TRANSITIONS", ("COMPLETED", "APPROVE"), rules.Move("PROCESSING"))


@mutant("TRX-086", "whatever has completed can be approved and is made again")
def anything_approvable(patch: Patch) -> None:
    patch.replace(quotes, "is_approvable", lambda _: True)
    patch.row(rules, "QUOTE_TRANSITIONS", ("COMPLETED", "APPROVE"), rules.Move("PROCESSING"))


@mutant("TRX-087", "approving nothing succeeds", (quotes, "approve"), rescued)
def nothing_approved(_refusal: errors.Refusal, unit: Unit, ask: Ask) -> Json:
    return {}


@mutant("TRX-087", "a transaction is approved by the id of its quote", (quotes, "approve"), around)
def approved_by_quote(original: Handler, unit: Unit, ask: Ask) -> Any:
    quote = unit.session.get(Quote, ask.params["transactionId"])
    if quote is None:
        return original(unit, ask)
    named = {**ask.params, "transactionId": transaction_of(unit, quote).id}
    return original(unit, replace(ask, params=named))


@mutant("TRX-087", "approving nothing is an invalid request")
def nothing_invalid(patch: Patch) -> None:
    patch.row(rules, "ERROR_STATUS", "TRANSACTION_NOT_FOUND", 400)


declare(
    "TRX-088",
    "code-of-accounts",
    "a transaction that does not exist is told as a missing account",
    recoded(transactions, "get", "ACCOUNT_NOT_FOUND"),
)


# --- Deprecated transfers -------------------------------------------------------------------


def _gone(function: str) -> Apply:
    def refuse(_unit: Unit, _ask: Ask) -> Json:
        raise errors.Refusal(*app.UNROUTED[404])

    return instead(transfers, function, refuse)


for _id, _function in {"TRX-090": "transfer_in", "TRX-091": "transfer_out"}.items():
    declare(_id, "gone", f"{_function} is no longer served", _gone(_function))


# --- Balances -------------------------------------------------------------------------------


def _source(unit: Unit, quote: Quote) -> Any:
    return accounts.find(unit, quote.source["accountId"])


# --- When a proof is asked for --------------------------------------------------------------


@mutant(
    "TRX-046",
    "the transaction is shown as processing while its quote waits for a proof",
    (sca, "begin"),
    after,
)
def processing_while_waiting(unit: Unit, quote: Quote, customer: Any) -> None:
    transaction_of(unit, quote).status = "PROCESSING"


# --- Wrong and missing proofs ---------------------------------------------------------------


@mutant("TRX-045", "a transaction that fails on an expired challenge names a reason of its own")
def own_failure_reason(patch: Patch) -> None:
    patch.replace(rules, "SCA_FAILURE_REASON", "CHALLENGE_EXPIRED")


def _failed_for(condition: Callable[[Quote], bool]) -> Apply:
    """Return a patch by which some expired challenges are told as a matter of compliance."""

    def expire(
        original: Callable[[Unit, Challenge], None], unit: Unit, challenge: Challenge
    ) -> None:
        original(unit, challenge)
        quote = unit.session.get_one(Quote, challenge.quote_id)
        if quote.status == "FAILED" and condition(quote):
            transaction_of(unit, quote).failure_reason = "COMPLIANCE_REJECTED"

    return around(sca, "expire", expire)


declare(
    "TRX-045",
    "real-time",
    "who does not prove a payment that is funded just in time fails for compliance",
    _failed_for(lambda quote: quote.source_kind == "REALTIME"),
)


@mutant("TRX-047", "an expired challenge leaves its transaction pending")
def expiry_unnoticed(patch: Patch) -> None:
    patch.replace(sca, "expire", lambda _unit, _challenge: None)


# --- Parts of patches -----------------------------------------------------------------------


# --- Transactions ---------------------------------------------------------------------------


def _one_filter(left_out: Mapping[str, str]) -> Apply:
    """Forget a filter where another one is given too."""

    def fewer(filtered: Function, query: Mapping[str, str]) -> Any:
        found = {
            name: value
            for name, value in query.items()
            if name not in left_out or left_out[name] not in query
        }
        return filtered(found)

    return around(transactions, "filtered", fewer)


declare(
    "TRX-800",
    "type-alone",
    "a status is passed over where a type is given",
    _one_filter({"status": "type"}),
)
declare(
    "TRX-800",
    "status-alone",
    "a type is passed over where a status is given",
    _one_filter({"type": "status"}),
)


@mutant(
    "TRX-801",
    "a status and a type cannot be asked for together",
    (transactions, "refuse_status_of_cards"),
    instead,
)
def one_at_a_time(query: Mapping[str, str]) -> None:
    if {"status", "type"} <= query.keys():
        raise errors.invalid_input(errors.field_error("status", "Expected no status."))


@mutant("TRX-802", "an approval executes the quote of any pending transaction", (quotes, "approve"))
def all_approved(approve: Function, unit: Unit, ask: Ask) -> Any:
    quote, transaction = transactions.locked(unit, ask.params["transactionId"])
    if quotes.is_approvable(quote):
        return approve(unit, ask)
    quotes.start(unit, quote)
    return transactions.view(transaction)


@mutant("TRX-845", "an approval executes a quote that expired")
def expired_approved(patch: Patch) -> None:
    patch.wrap(
        quotes,
        "is_approvable",
        lambda original, quote: original(quote) or quote.status == "EXPIRED",
    )
    patch.row(rules, "QUOTE_TRANSITIONS", ("EXPIRED", "APPROVE"), rules.Move("PROCESSING"))


def approve_and_forget(service: Service, ask: Ask) -> Any:
    """Approve a transaction, and let it wait for its approval all the same."""
    with service.unit() as unit:
        answer = quotes.approve(unit, ask)
        quote, transaction = transactions.locked(unit, ask.params["transactionId"])
        quote.status = transaction.status = "PENDING"
        return answer


declare(
    "TRX-850",
    "forgotten",
    "an approval whose client is gone is debited, and the transaction still waits for it",
    where_gone(quotes.approve, approve_and_forget),
)


@mutant(
    "TRX-900",
    "what has completed fails as soon as its source gets another quote",
    (quotes, "create"),
    after,
)
def fails_later(unit: Unit, ask: Ask) -> None:
    account = str(ask.body["source"].get("accountId"))
    completed = select(Transaction).where(
        Transaction.source_account == account, Transaction.status == "COMPLETED"
    )
    for transaction in unit.session.scalars(completed):
        transaction.status = "FAILED"
