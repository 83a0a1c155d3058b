"""Mutants of balances, of how an account is funded, and of simulated deposits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from conformance.proof.kit.builders import Handler, Json, after, around, edited, instead
from conformance.proof.kit.edits import Edit, put, without
from conformance.proof.kit.tables import with_field, with_status
from conformance.proof.mutant import declare, mutant
from conformance.proof.mutants.internal_accounts.toolkit import (
    crediting,
    deposited,
    siblings,
    stranger,
)
from conformance.proof.mutants.quotes.toolkit import take, under_way
from conformance.proof.patch import Apply, Function, Holder, Patch
from conformance.reference import errors, rules
from conformance.reference.internal_accounts import accounts, ledger
from conformance.reference.quotes import quotes
from conformance.reference.store import InternalAccount, Quote, Transaction
from conformance.reference.transactions import settlement, transactions
from conformance.reference.unit import Ask, Unit

_A_MOMENT = 50_000


# --- Balances -------------------------------------------------------------------------------


SUMS: tuple[tuple[str, str, str, str, Callable[[int, int], int]], ...] = (
    ("ACC-070", "all", "the balance includes what is pending", "spendable", lambda a, h: a + h),
    ("ACC-071", "settled", "the total leaves out what is pending", "total", lambda a, h: a),
    ("ACC-073", "held", "the total is what is held", "total", lambda a, h: h),
    ("ACC-074", "more", "the total is above what there is", "total", lambda a, h: a + h + 1),
    ("ACC-075", "all", "the balance includes what is held", "spendable", lambda a, h: a + h),
    ("ACC-077", "twice", "what is held counts twice", "total", lambda a, h: a + 2 * h),
    ("ACC-077", "less", "what is held is taken off the total", "total", lambda a, h: a - h),
    ("ACC-121", "held", "the total is what is held", "total", lambda a, h: h),
)
"""Balances that are summed up wrongly: of what is available, and of what is held."""

for _id, _name, _statement, _sum, _value in SUMS:
    declare(_id, f"{_sum}-{_name}", _statement, instead(accounts, _sum, _value))


declare(
    "ACC-809",
    "total",
    "the list of the platform has the total balance as the balance",
    edited(
        accounts,
        "list_for_platform",
        lambda body: {"data": [{**row, "balance": row["totalBalance"]} for row in body["data"]]},
    ),
)
declare(
    "ACC-809",
    "settled",
    "the list of the platform has the balance as the total balance",
    edited(
        accounts,
        "list_for_platform",
        lambda body: {"data": [{**row, "totalBalance": row["balance"]} for row in body["data"]]},
    ),
)


def _settled_at_once(patch: Patch) -> None:
    patch.replace(accounts, "expect", accounts.credit)


for _id in ("ACC-070", "ACC-072"):
    declare(_id, "settled-at-once", "what is on its way can be spent", _settled_at_once)


def _advanced(patch: Patch) -> None:
    """Let the service pay for executions, and the source keep its money."""

    def legs(original: Function, quote: Quote) -> list[ledger.Leg]:
        debit, held = original(quote)
        return [replace(debit, account=ledger.system("rail", debit.currency)), held]

    patch.wrap(quotes, "debit_legs", legs)


for _id in ("ACC-075", "ACC-076"):
    declare(_id, "advanced", "an execution takes nothing from its source", _advanced)


@mutant("ACC-078", "what a payout held is held for good", (settlement, "completion_legs"))
def held_for_good(original: Function, quote: Quote) -> list[ledger.Leg]:
    held, *others = original(quote)
    return [replace(held, account=ledger.system("rail", held.currency)), *others]


@mutant("ACC-079", "a refund does not come back to its source")
def refunded_elsewhere(patch: Patch) -> None:
    patch.wrap(
        settlement,
        "refund_legs",
        lambda original, quote, _outcome: original(quote, "FAILED"),
    )


def _still_counted(
    holder: Holder, name: str, condition: Callable[[Quote, Transaction], bool]
) -> Apply:
    """Return a patch after which what payments of a condition took stays in the total too.

    It stays there from when a function has dealt with the payment: ``perform``, ``complete`` or
    ``refund``.
    """

    def patch(patch: Patch) -> None:
        counted: dict[str, int] = {}

        def note(
            unit: Unit, payment: Quote | None = None, *_: Any, transaction_id: str = ""
        ) -> None:
            wanted = transaction_id if payment is None else payment.transaction_id
            quote, row = transactions.locked(unit, wanted)
            if quote.source_kind == "INTERNAL" and condition(quote, row):
                account_id = quote.source["accountId"]
                counted[account_id] = counted.get(account_id, 0) + quote.sending_amount

        def view(original: Function, account: InternalAccount, *funds: int) -> Json:
            body: Json = original(account, *funds)
            total = body["totalBalance"]
            more = counted.get(account.id, 0)
            return {**body, "totalBalance": {**total, "amount": total["amount"] + more}}

        after(holder, name, note)(patch)
        patch.wrap(accounts, "_view", view)

    return patch


def _is_immediate(_quote: Quote, row: Transaction) -> bool:
    return row.executed_at == row.created_at


def _is_of_the_platform(_quote: Quote, row: Transaction) -> bool:
    return row.customer_id is None


for _id, _name, _place, _condition in (
    ("ACC-077", "immediate", (quotes, "perform"), _is_immediate),
    ("ACC-078", "immediate", (settlement, "complete"), _is_immediate),
    ("ACC-078", "of-the-platform", (settlement, "complete"), _is_of_the_platform),
    ("ACC-079", "immediate", (settlement, "refund"), _is_immediate),
    ("ACC-079", "of-the-platform", (settlement, "refund"), _is_of_the_platform),
):
    declare(
        _id,
        f"counted-still-{_name}",
        f"what a payment took stays in the total, where it is {_name.replace('-', ' ')}",
        _still_counted(*_place, _condition),
    )


def _with_reserve(reserve: Callable[[Quote], int]) -> Apply:
    def has_funds(unit: Unit, quote: Quote) -> bool:
        if quote.source_kind != "INTERNAL":
            return True
        account_id = quote.source["accountId"]
        available, _ = ledger.balances(unit, [account_id])[account_id]
        return available >= quotes.debit_total(quote) + reserve(quote)

    return instead(quotes, "has_funds", has_funds)


declare("ACC-080", "last-unit", "the last unit stays", _with_reserve(lambda _quote: 1))
declare(
    "ACC-080",
    "fees-beside",
    "fees have to be there beside what is sent",
    _with_reserve(lambda quote: quote.variable_fee),
)


@mutant("ACC-082", "of deposits that come at once all but one are lost")
def lost_deposits(patch: Patch) -> None:
    last: dict[str, int] = {}

    def change(unit: Unit, account: InternalAccount, amount: int, credit: Function) -> None:
        if unit.now - last.get(account.id, 0) > _A_MOMENT:
            credit(unit, account, amount)
        last[account.id] = unit.now

    crediting(change)(patch)


@mutant("ACC-083", "a deposit arrives on every account of its customer", how=crediting)
def shared_deposits(unit: Unit, account: InternalAccount, amount: int, credit: Function) -> None:
    for one in (account, *siblings(unit, account)):
        credit(unit, one, amount)


@mutant("ACC-084", "a deposit arrives on the account of somebody else too", how=crediting)
def misdirected(unit: Unit, account: InternalAccount, amount: int, credit: Function) -> None:
    credit(unit, account, amount)
    other = stranger(unit, account)
    if other is not None:
        credit(unit, other, amount)


def _fee_of_the_receiver(patch: Patch) -> None:
    def legs(original: Function, quote: Quote) -> list[ledger.Leg]:
        *others, converted, delivered = original(quote)
        return [
            *others,
            replace(converted, amount=converted.amount + 1),
            replace(delivered, amount=delivered.amount - 1),
        ]

    patch.wrap(settlement, "completion_legs", legs)


declare("ACC-086", "receiver-pays", "the receiver pays a fee as well", _fee_of_the_receiver)


# --- How to fund an account -----------------------------------------------------------------


def _unnamed(kind: str, member: str) -> Edit:
    """Return an edit that leaves a member out of the instructions of a kind."""

    def edit(entry: Json) -> Json:
        fits = entry["accountOrWalletInfo"]["accountType"] == kind
        edited_entry: Json = without(f"accountOrWalletInfo.{member}")(entry) if fits else entry
        return edited_entry

    return edit


for _id, _kind, _member in (
    ("ACC-102", "US_ACCOUNT", "accountNumber"),
    ("ACC-103", "US_ACCOUNT", "routingNumber"),
    ("ACC-104", "SOLANA_WALLET", "address"),
    ("ACC-105", "SPARK_WALLET", "address"),
):
    declare(
        _id,
        f"{_member}-missing",
        f"an instruction by {_kind} has no {_member}",
        edited(accounts, "_instruction", _unnamed(_kind, _member)),
    )


@mutant("ACC-106", "everybody pays to one and the same account")
def pooled(patch: Patch) -> None:
    patch.replace(
        accounts,
        "funding_instructions",
        lambda account: accounts.instructions_for(account.currency, "1234567890"),
    )


@mutant("ACC-106", "everybody pays to one account, under a name of its own")
def pooled_by_name(patch: Patch) -> None:
    def instructions(account: InternalAccount) -> list[Json]:
        name = put("*.accountOrWalletInfo.accountHolderName", account.id)
        return list(name(accounts.instructions_for(account.currency, "1234567890")))

    patch.replace(accounts, "funding_instructions", instructions)


# --- Simulated deposits ---------------------------------------------------------------------


@mutant("ACC-120", "a simulated deposit is answered and not booked")
def not_booked(patch: Patch) -> None:
    patch.replace(accounts, "credit", lambda *_: None)


declare("ACC-120", "twice", "a deposit is booked twice", deposited(lambda amount: 2 * amount))
declare("ACC-120", "dollars", "amounts are whole units", deposited(lambda amount: 100 * amount))


def _of_kind(condition: Callable[[InternalAccount], bool], change: Callable[[int], int]) -> Apply:
    """Return a patch after which another amount arrives on some accounts than was deposited."""

    def credit(unit: Unit, account: InternalAccount, amount: int, credit: Function) -> None:
        credit(unit, account, change(amount) if condition(account) else amount)

    return crediting(credit)


declare(
    "ACC-120",
    "bits",
    "a deposit in BTC counts hundreds of satoshis",
    _of_kind(lambda account: account.currency == "BTC", lambda amount: amount // 100),
)
declare(
    "ACC-120",
    "of-a-wallet",
    "a deposit to a wallet counts cents",
    _of_kind(lambda account: account.type == "EMBEDDED_WALLET", lambda amount: 10_000 * amount),
)
declare(
    "RBA-120",
    "dollars",
    "a deposit by a rule counts dollars",
    _of_kind(lambda account: account.type == "RULE_BASED", lambda amount: 100 * amount),
)


@mutant("ACC-121", "a deposit in BTC is not in the total", (accounts, "_view"))
def coins_not_in_the_total(original: Function, account: InternalAccount, *funds: int) -> Json:
    body: Json = original(account, *funds)
    total = body["totalBalance"]
    return {**body, "totalBalance": {**total, "amount": 0}} if account.currency == "BTC" else body


declare(
    "ACC-122",
    "bad-request",
    "an unknown account is a bad request",
    with_status("ACCOUNT_NOT_FOUND", 400),
)


@mutant("ACC-122", "a deposit on an unknown account is taken", (accounts, "fund"), around)
def taken_for_nobody(original: Handler, unit: Unit, ask: Ask) -> Any:
    try:
        return original(unit, ask)
    except errors.Refusal:
        return {}


@mutant("ACC-123", "a deposit like the one before is taken for its repetition")
def taken_for_a_repetition(patch: Patch) -> None:
    known: set[tuple[str, int]] = set()

    def change(unit: Unit, account: InternalAccount, amount: int, credit: Function) -> None:
        if (account.id, amount) not in known:
            credit(unit, account, amount)
        known.add((account.id, amount))

    crediting(change)(patch)


@mutant("ACC-123", "a wallet takes a deposit like the one before for its repetition")
def taken_for_a_repetition_by_a_wallet(patch: Patch) -> None:
    known: set[tuple[str, int]] = set()

    def change(unit: Unit, account: InternalAccount, amount: int, credit: Function) -> None:
        if account.type != "EMBEDDED_WALLET" or (account.id, amount) not in known:
            credit(unit, account, amount)
        known.add((account.id, amount))

    crediting(change)(patch)


declare(
    "ACC-812",
    "negative",
    "a deposit of a negative amount is taken from the balance",
    with_field(rules, "FUND_FIELDS", "amount", minimum=None),
)


@mutant("ACC-125", "only customers' accounts are funded", (accounts, "fund"), around)
def customers_alone(original: Handler, unit: Unit, ask: Ask) -> Any:
    if accounts.get(unit, ask.params["accountId"]).customer_id is None:
        raise errors.Refusal("ACCOUNT_NOT_FOUND", "No customer has this account.")
    return original(unit, ask)


@mutant(
    "ACC-900",
    "each execution while another payout of the account is under way costs one unit more",
    (quotes, "perform"),
    after,
)
def dearer_beside_another(unit: Unit, quote: Quote, _action: str) -> None:
    if under_way(unit, quote) > 1:
        account_id = quote.source["accountId"]
        take(unit, account_id, 1)
        accounts.announce_balance(unit, accounts.get(unit, account_id))
