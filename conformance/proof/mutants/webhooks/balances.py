"""Mutants of the webhooks of internal accounts."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from functools import partial
from typing import Any

from conformance.proof.kit.builders import Json, Place, after, around, rescued, skipped
from conformance.proof.kit.edits import put
from conformance.proof.mutant import declare, mutant
from conformance.proof.mutants.internal_accounts.toolkit import EURO, siblings
from conformance.proof.mutants.quotes.toolkit import transaction_of
from conformance.proof.mutants.webhooks.toolkit import is_of_business
from conformance.proof.patch import Apply, Function, Patch
from conformance.reference import errors, rules
from conformance.reference.customers import customers
from conformance.reference.internal_accounts import accounts
from conformance.reference.quotes import quotes
from conformance.reference.store import Customer, InternalAccount, Quote
from conformance.reference.transactions import settlement
from conformance.reference.unit import Ask, Unit

_BALANCE = rules.BALANCE_EVENT


def _told(change: Callable[[Json], Json | None]) -> Apply:
    """Return a patch after which balances are reported as ``change`` does it; ``None``: not."""

    def report(emit: Function, unit: Unit, event_type: str, data: Json) -> None:
        told: Json | None = data
        if event_type == _BALANCE:
            told = change(deepcopy(data))
        if told is not None:
            emit(unit, event_type, told)

    return around(Unit, "emit", report)


def _of_the_platform(edit: Callable[[Json], Json | None]) -> Callable[[Json], Json | None]:
    return lambda data: data if data["customerId"] else edit(data)


REPORTS: tuple[tuple[str, str, str, Callable[[Json], Json | None]], ...] = (
    ("EVT-151", "zero", "the total in an event is 0", put("totalBalance.amount", 0)),
    ("EVT-151", "balance", "the total is not money", put("totalBalance", {"amount": 1})),
    ("EVT-158", "other", "events name another customer", put("customerId", "Customer:1")),
    ("EVT-159", "silent", "the platform's are not reported", _of_the_platform(lambda _: None)),
    (
        "EVT-160",
        "owned",
        "the platform's accounts are reported as a customer's",
        _of_the_platform(put("customerId", "Customer:platform")),
    ),
    ("EVT-162", "euro", "balances are reported in EUR", put("balance.currency", EURO)),
    ("EVT-165", "other", "every account is reported as crypto", put("type", "INTERNAL_CRYPTO")),
)

for _id, _name, _statement, _report in REPORTS:
    declare(_id, _name, _statement, _told(_report))


def _after(place: Place, change: Function) -> Apply:
    """Return a patch after which ``change`` acts on a unit, and arguments, after a function."""

    def acting(unit: Unit, *arguments: Any, **named: Any) -> None:
        change(unit, *arguments)

    return after(*place, acting)


def _add(unit: Unit, account_id: str, amount: int) -> None:
    """Change the balance in the events about an account that follow this unit."""
    for event in unit.events:
        if event["type"] == _BALANCE and event["data"]["id"] == account_id:
            event["data"]["balance"]["amount"] += amount


@mutant("EVT-150", "a debit is reported with the balance before it")
def balance_before_debit(patch: Patch) -> None:
    def change(unit: Unit, quote: Quote) -> None:
        _add(unit, str(quote.source.get("accountId")), quote.sending_amount)

    _after((settlement, "announce_source"), change)(patch)


@mutant(
    "EVT-150", "what a proof debits is told to nobody", (settlement, "announce_source"), skipped
)
def proven_untold(unit: Unit, quote: Quote) -> bool:
    return quote.challenge_id is not None


@mutant(
    "EVT-150",
    "what is debited as a quote is created is told to nobody",
    (settlement, "announce_source"),
    skipped,
)
def immediate_untold(unit: Unit, quote: Quote) -> bool:
    return transaction_of(unit, quote).executed_at == quote.created_at


def _is_proved(unit: Unit, quote: Quote) -> bool:
    owner = unit.session.get(Customer, quote.customer_id or "")
    return owner is not None and customers.needs_sca(owner)


for _name, _condition in (
    ("business", is_of_business),
    ("authorized", _is_proved),
    ("transfer", lambda _unit, quote: quote.destination_kind == "INTERNAL"),
    ("approved", lambda _unit, quote: quote.agent_initiated),
    ("platform", lambda _unit, quote: quote.customer_id is None),
    ("to-an-address", lambda _unit, quote: quote.destination_kind == "UMA"),
):
    declare(
        "EVT-150",
        _name,
        f"the debit of a payment that is {_name} is not reported",
        skipped(settlement, "announce_source", _condition),
    )


@mutant("EVT-152", "what comes in from another account is not reported")
def incoming_unreported(patch: Patch) -> None:
    def change(unit: Unit, quote: Quote, _transaction: Any) -> None:
        target = quote.destination.get("accountId")
        unit.events[:] = [event for event in unit.events if event["data"].get("id") != target]

    _after((settlement, "complete"), change)(patch)


def _untold_from(source: str, unit: Unit, quote: Quote, _transaction: Any) -> None:
    if quote.source_kind == source:
        unit.events[:] = [event for event in unit.events if event["type"] != _BALANCE]


@mutant("EVT-153", "what comes in is reported with the balance before it")
def balance_before_credit(patch: Patch) -> None:
    def change(unit: Unit, quote: Quote, _transaction: Any) -> None:
        _add(unit, str(quote.destination.get("accountId")), -quote.receiving_amount)

    _after((settlement, "complete"), change)(patch)


def _untold_to_the_platform(unit: Unit, quote: Quote, _transaction: Any) -> None:
    target = unit.session.get(InternalAccount, str(quote.destination.get("accountId")))
    if target is not None and target.customer_id is None:
        unit.events[:] = [event for event in unit.events if event["data"].get("id") != target.id]


for _id in ("EVT-152", "EVT-153"):
    declare(
        _id,
        "to-the-platform",
        "what comes in for the platform is not reported",
        _after((settlement, "complete"), _untold_to_the_platform),
    )
    for _source in ("EXTERNAL", "REALTIME"):
        declare(
            _id,
            f"from-{_source.lower()}",
            f"what comes in from a source that is {_source} is not reported",
            _after((settlement, "complete"), partial(_untold_from, _source)),
        )

    @mutant(_id, "of a customer's accounts that a payment changes one is reported")
    def one_of_customer(patch: Patch) -> None:
        def change(unit: Unit, _quote: Quote, _transaction: Any) -> None:
            seen: set[str] = set()
            for event in list(unit.events):
                if event["type"] == _BALANCE:
                    owner = str(event["data"].get("customerId"))
                    if owner in seen:
                        unit.events.remove(event)
                    seen.add(owner)

        _after((settlement, "complete"), change)(patch)


@mutant("EVT-154", "only the first deposit is reported")
def reported_once(patch: Patch) -> None:
    known: set[str] = set()

    def change(data: Json) -> Json | None:
        told = None if data["id"] in known else data
        known.add(data["id"])
        return told

    _told(change)(patch)


@mutant("EVT-155", "a deposit is reported for all accounts of its customer")
def siblings_reported(patch: Patch) -> None:
    def change(unit: Unit, ask: Ask) -> None:
        for one in siblings(unit, accounts.get(unit, ask.params["accountId"])):
            accounts.announce_balance(unit, one)

    _after((accounts, "fund"), change)(patch)


@mutant(
    "EVT-156",
    "an execution that is refused for want of funds is reported",
    (quotes, "execute"),
    rescued,
)
def refusal_reported(refusal: errors.Refusal, unit: Unit, ask: Ask) -> Any:
    quote = quotes.get(unit, ask.params["quoteId"])
    if quote.source_kind == "INTERNAL":
        account = accounts.get(unit, quote.source["accountId"])
        accounts.announce_balance(unit, account)
    raise errors.Rejection(refusal.code, refusal.reason) from refusal


@mutant("EVT-157", "a quote is reported as a change of its source")
def quote_reported(patch: Patch) -> None:
    def change(unit: Unit, order: quotes.Order) -> None:
        if order.source.kind == "INTERNAL" and order.source.account_id is not None:
            accounts.announce_balance(unit, accounts.get(unit, order.source.account_id))

    _after((quotes, "draft"), change)(patch)


@mutant("EVT-161", "what is on its way is reported as balance")
def pending_reported(patch: Patch) -> None:
    def change(unit: Unit, account: InternalAccount, amount: int) -> None:
        _add(unit, account.id, amount)

    _after((accounts, "expect"), change)(patch)


@mutant(
    "EVT-361", "the balance of the event is the one without the latest unit", (Unit, "emit"), after
)
def told_less(unit: Unit, event_type: str, data: Json) -> None:
    if event_type == "INTERNAL_ACCOUNT.BALANCE_UPDATED":
        told = deepcopy(unit.events[-1])
        told["data"]["balance"]["amount"] -= 1
        unit.events[-1] = told
