"""Mutants of internal accounts: members, provisioning, balances, lists, states and events."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import replace
from functools import partial
from typing import Any

from sqlalchemy import select

from conformance.mutants.fields import (
    ABSENT,
    INSTRUCTION,
    INTERNAL,
    LIST,
    PLATFORM_LIST,
    Edit,
    copied,
    deposited,
    edited,
    put,
    refusing,
    taken,
)
from conformance.mutants.mutant import Patch, declare, mutant
from conformance.reference import accounts, customers, errors, ledger, money, quotes, rules
from conformance.reference.accounts import RECEIVE, SEND
from conformance.reference.store import InternalAccount, Quote
from conformance.reference.unit import Ask, Unit

Json = dict[str, Any]
Function = Callable[..., Any]
Handler = Callable[[Unit, Ask], Any]

_REFERENCE = "conformance.reference"
_ACCOUNTS = f"{_REFERENCE}.accounts"
_ABILITIES = f"{_ACCOUNTS}:ABILITIES"
_FUND = f"{_ACCOUNTS}:fund"
_BALANCE = rules.BALANCE_EVENT
_A_MOMENT = 50_000


# --- Members --------------------------------------------------------------------------------

_EURO = money.currency_view("EUR")
_RULE = {"destination": {"accountId": "ExternalAccount:1"}}

SHOWN: tuple[tuple[str, str, str, str, Any], ...] = (
    ("ACC-030", "name", INTERNAL, "balance.currency.code", "US Dollar"),
    ("ACC-030", "lower-case", INTERNAL, "balance.currency.code", "usd"),
    ("ACC-031", "euro", INTERNAL, "totalBalance.currency", _EURO),
    ("ACC-044", "long-ago", INTERNAL, "updatedAt", "2020-01-01T00:00:00.000000Z"),
    ("ACC-047", "named", INTERNAL, "label", "Main account"),
    ("ACC-048", "rule", INTERNAL, "sweepRule", _RULE),
    ("ACC-048", "empty", INTERNAL, "sweepRule", {}),
    ("ACC-049", "rule", INTERNAL, "sweepRule", _RULE),
    ("ACC-049", "empty", INTERNAL, "sweepRule", {}),
    ("ACC-052", "off", INTERNAL, "privateEnabled", False),
    ("ACC-052", "on", INTERNAL, "privateEnabled", True),
    ("ACC-053", "text", INTERNAL, "cardFundingCapabilities", "AUTHORIZE"),
    ("ACC-053", "flags", INTERNAL, "cardFundingCapabilities", {"AUTHORIZE": True}),
    ("ACC-053", "objects", INTERNAL, "cardFundingCapabilities", [{"action": "AUTHORIZE"}]),
    ("ACC-054", "kept", INTERNAL, "cardFundingCapabilities", ["AUTHORIZE"]),
    ("ACC-055", "kept", INTERNAL, "cardFundingCapabilities", ["AUTHORIZE"]),
    ("ACC-058", "owned", PLATFORM_LIST, "data.*.customerId", "Customer:1"),
    ("ACC-059", "rule-based", PLATFORM_LIST, "data.*.type", "RULE_BASED"),
    ("ACC-061", "none", PLATFORM_LIST, "data", []),
    ("ACC-062", "crypto", PLATFORM_LIST, "data.*.type", "INTERNAL_CRYPTO"),
    ("ACC-062", "wallet", PLATFORM_LIST, "data.*.type", "EMBEDDED_WALLET"),
    ("ACC-090", "none", INTERNAL, "fundingPaymentInstructions", []),
    ("ACC-091", "number", INSTRUCTION, "accountOrWalletInfo.accountType", 17),
    ("ACC-091", "missing", INSTRUCTION, "accountOrWalletInfo.accountType", ABSENT),
    ("ACC-092", "list", INSTRUCTION, "instructionsNotes", ["Include the reference."]),
    ("ACC-092", "number", INSTRUCTION, "instructionsNotes", 17),
)
"""Members that are shown wrongly, or not at all."""

TEXTS = {
    "ACC-093": "reference",
    "ACC-094": "accountNumber",
    "ACC-095": "routingNumber",
    "ACC-096": "accountHolderName",
    "ACC-097": "accountCategory",
    "ACC-098": "bankName",
    "ACC-099": "assetType",
    "ACC-100": "address",
    "ACC-101": "invoice",
}
"""The members of an instruction that are texts, by requirement."""

for _id, _name, _place, _path, _value in SHOWN:
    _edit = taken(_path) if _value is ABSENT else put(_path, _value)
    declare(_id, f"{_path.split('.')[-1]}-{_name}", f"{_path}: {_name}", edited(_place, _edit))

for _id, _name in TEXTS.items():
    for _form, _value in {"number": 21000021, "object": {"value": "21000021"}}.items():
        declare(
            _id,
            f"{_name}-{_form}",
            f"the {_name} of an instruction is {_value}",
            edited(INSTRUCTION, put(f"accountOrWalletInfo.{_name}", _value)),
        )

declare(
    "ACC-043",
    "follows-changes",
    "createdAt is the time of the last change",
    edited(INTERNAL, copied("updatedAt", "createdAt")),
)
declare(
    "ACC-040",
    "by-currency",
    "accounts are named by their currency",
    edited(
        INTERNAL,
        lambda body: {**body, "id": f"InternalAccount:{body['balance']['currency']['code']}"},
    ),
)


def _once_changed(edit: Edit) -> Edit:
    """Return an edit of the accounts that something has happened to."""
    return lambda body: edit(body) if body["updatedAt"] != body["createdAt"] else body


declare(
    "ACC-042",
    "changed",
    "an account that was paid into has another type",
    edited(INTERNAL, _once_changed(put("type", "RULE_BASED"))),
)


@mutant("ACC-041", "an account gets another id with each deposit")
def renamed(patch: Patch) -> None:
    edited(INTERNAL, _once_changed(lambda body: {**body, "id": f"{body['id']}-2"}))(patch)


def _of_type(kind: str, patch: Patch) -> None:
    patch.replace(f"{_ACCOUNTS}:type_for", lambda _currency: kind)


for _id, _type in (("ACC-045", "INTERNAL_CRYPTO"), ("ACC-046", "INTERNAL_FIAT")):
    declare(
        _id,
        "one-for-all",
        f"every account is {_type}",
        partial(_of_type, _type),
    )


def _decimals(code: str, decimals: int, patch: Patch) -> None:
    row = replace(rules.CURRENCIES[code], decimals=decimals)
    patch.row(f"{_REFERENCE}.rules:CURRENCIES", code, row)


for _id, _code, _wrong in (
    ("ACC-032", "GBP", 0),
    ("ACC-032", "GBP", 3),
    ("ACC-033", "BTC", 2),
    ("ACC-033", "BTC", 11),
):
    declare(
        _id,
        f"{_wrong}-decimals",
        f"{_code} has {_wrong} of them",
        partial(_decimals, _code, _wrong),
    )


def _as_cents(unit: Unit, account: InternalAccount, amount: int, credit: Function) -> None:
    shift = rules.CURRENCIES[account.currency].decimals - 2
    credit(unit, account, amount * 10**shift if shift > 0 else amount // 10**-shift)


def _crediting(change: Function) -> Callable[[Patch], None]:
    """Return a patch after which deposits are booked as ``change`` does it.

    It takes the unit, the account, the amount and the function that books.
    """

    def wrapper(credit: Function) -> Function:
        return lambda unit, account, amount: change(unit, account, amount, credit)

    return lambda patch: patch.wrap(f"{_ACCOUNTS}:credit", wrapper)


for _id in ("ACC-034", "ACC-035"):
    declare(_id, "cents", "amounts are counted in hundredths", _crediting(_as_cents))


# --- Provisioning ---------------------------------------------------------------------------


def _provided(kind: str, status: str, patch: Patch) -> None:
    """Let the accounts of one type of customers come to a status that is of no use."""

    def wrapper(original: Handler) -> Handler:
        def listing(unit: Unit, ask: Ask) -> Any:
            body = original(unit, ask)
            owner = customers.get(unit, ask.query["customerId"])
            return put("data.*.status", status)(body) if owner.customer_type == kind else body

        return listing

    patch.wrap(LIST, wrapper)


for _id, _kind, _statuses in (
    ("ACC-063", "INDIVIDUAL", ("FROZEN", "FAILED")),
    ("ACC-064", "BUSINESS", ("FROZEN", "FAILED")),
    ("ACC-065", "INDIVIDUAL", ("FROZEN", "CLOSED")),
    ("ACC-065", "BUSINESS", ("FROZEN", "CLOSED")),
):
    for _status in _statuses:
        declare(
            _id,
            f"{_kind.lower()}-{_status.lower()}",
            f"accounts of type {_kind} are {_status} from the start",
            partial(_provided, _kind, _status),
        )


# --- Balances -------------------------------------------------------------------------------


def _shown_as(name: str, value: Callable[[int, int], int], patch: Patch) -> None:
    patch.replace(f"{_ACCOUNTS}:{name}", value)


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
    declare(_id, f"{_sum}-{_name}", _statement, partial(_shown_as, _sum, _value))


def _settled_at_once(patch: Patch) -> None:
    patch.replace(f"{_ACCOUNTS}:expect", accounts.credit)


for _id in ("ACC-070", "ACC-072"):
    declare(_id, "settled-at-once", "what is on its way can be spent", _settled_at_once)


def _advanced(patch: Patch) -> None:
    """Let the service pay for executions, and the source keep its money."""

    def wrapper(original: Function) -> Function:
        def legs(quote: Quote) -> list[ledger.Leg]:
            debit, held = original(quote)
            return [replace(debit, account=ledger.system("rail", debit.currency)), held]

        return legs

    patch.wrap(f"{_REFERENCE}.quotes:debit_legs", wrapper)


for _id in ("ACC-075", "ACC-076"):
    declare(_id, "advanced", "an execution takes nothing from its source", _advanced)


@mutant("ACC-078", "what a payout held is held for good")
def held_for_good(patch: Patch) -> None:
    def wrapper(original: Function) -> Function:
        def legs(quote: Quote) -> list[ledger.Leg]:
            held, *others = original(quote)
            return [replace(held, account=ledger.system("rail", held.currency)), *others]

        return legs

    patch.wrap(f"{_REFERENCE}.settlement:completion_legs", wrapper)


@mutant("ACC-079", "a refund does not come back to its source")
def refunded_elsewhere(patch: Patch) -> None:
    patch.wrap(
        f"{_REFERENCE}.settlement:refund_legs",
        lambda original: lambda quote, _outcome: original(quote, "FAILED"),
    )


def _with_reserve(reserve: Callable[[Quote], int], patch: Patch) -> None:
    def has_funds(unit: Unit, quote: Quote) -> bool:
        if quote.source_kind != "INTERNAL":
            return True
        account_id = quote.source["accountId"]
        available, _ = ledger.balances(unit, [account_id])[account_id]
        return available >= quotes.debit_total(quote) + reserve(quote)

    patch.replace(f"{_REFERENCE}.quotes:has_funds", has_funds)


declare("ACC-080", "last-unit", "the last unit stays", partial(_with_reserve, lambda _quote: 1))
declare(
    "ACC-080",
    "fees-beside",
    "fees have to be there beside what is sent",
    partial(_with_reserve, lambda quote: quote.variable_fee),
)


@mutant("ACC-082", "of deposits that come at once all but one are lost")
def lost_deposits(patch: Patch) -> None:
    last: dict[str, int] = {}

    def change(unit: Unit, account: InternalAccount, amount: int, credit: Function) -> None:
        if unit.now - last.get(account.id, 0) > _A_MOMENT:
            credit(unit, account, amount)
        last[account.id] = unit.now

    _crediting(change)(patch)


def _siblings(unit: Unit, account: InternalAccount) -> list[InternalAccount]:
    query = select(InternalAccount).where(
        InternalAccount.customer_id == account.customer_id, InternalAccount.id != account.id
    )
    return list(unit.session.scalars(query))


def _stranger(unit: Unit, account: InternalAccount) -> InternalAccount | None:
    """Return the account that another customer was given last."""
    query = select(InternalAccount).where(
        InternalAccount.customer_id.is_not(None),
        InternalAccount.customer_id != account.customer_id,
        InternalAccount.currency == account.currency,
    )
    return unit.session.scalar(query.order_by(InternalAccount.created_at.desc()).limit(1))


@mutant("ACC-083", "a deposit arrives on every account of its customer")
def shared_deposits(patch: Patch) -> None:
    def change(unit: Unit, account: InternalAccount, amount: int, credit: Function) -> None:
        for one in (account, *_siblings(unit, account)):
            credit(unit, one, amount)

    _crediting(change)(patch)


@mutant("ACC-084", "a deposit arrives on the account of somebody else too")
def misdirected(patch: Patch) -> None:
    def change(unit: Unit, account: InternalAccount, amount: int, credit: Function) -> None:
        credit(unit, account, amount)
        other = _stranger(unit, account)
        if other is not None:
            credit(unit, other, amount)

    _crediting(change)(patch)


@mutant("ACC-085", "what comes in from another account is held")
def incoming_held(patch: Patch) -> None:
    def wrapper(original: Function) -> Function:
        def target(quote: Quote) -> Any:
            if quote.destination_kind != "INTERNAL":
                return original(quote)
            return ledger.held(quote.destination["accountId"])

        return target

    patch.wrap(f"{_REFERENCE}.settlement:target_account", wrapper)


def _fee_of_the_receiver(patch: Patch) -> None:
    def wrapper(original: Function) -> Function:
        def legs(quote: Quote) -> list[ledger.Leg]:
            *others, converted, delivered = original(quote)
            return [
                *others,
                replace(converted, amount=converted.amount + 1),
                replace(delivered, amount=delivered.amount - 1),
            ]

        return legs

    patch.wrap(f"{_REFERENCE}.settlement:completion_legs", wrapper)


for _id in ("ACC-085", "ACC-086"):
    declare(_id, "receiver-pays", "the receiver pays a fee as well", _fee_of_the_receiver)


# --- How to fund an account -----------------------------------------------------------------


def _unnamed(kind: str, member: str) -> Edit:
    """Return an edit that leaves a member out of the instructions of a kind."""

    def edit(entry: Json) -> Json:
        fits = entry["accountOrWalletInfo"]["accountType"] == kind
        edited_entry: Json = taken(f"accountOrWalletInfo.{member}")(entry) if fits else entry
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
        edited(INSTRUCTION, _unnamed(_kind, _member)),
    )


@mutant("ACC-106", "everybody pays to one and the same account")
def pooled(patch: Patch) -> None:
    patch.replace(
        f"{_ACCOUNTS}:funding_instructions",
        lambda account: accounts.instructions_for(account.currency, "1234567890"),
    )


# --- Lists ----------------------------------------------------------------------------------


def _handled(place: str, change: Callable[[Handler, Unit, Ask], Any]) -> Callable[[Patch], None]:
    """Return a patch after which a handler answers as ``change`` does it with the original."""

    def wrapper(original: Handler) -> Handler:
        return lambda unit, ask: change(original, unit, ask)

    return lambda patch: patch.wrap(place, wrapper)


def _with_platform(original: Handler, unit: Unit, ask: Ask) -> Any:
    body = original(unit, ask)
    more = accounts.list_for_platform(unit, Ask())["data"]
    return {**body, "data": body["data"] + more}


def _with_customers(original: Handler, unit: Unit, ask: Ask) -> Any:
    rows = list(unit.session.scalars(select(InternalAccount)))
    del original, ask
    return {"data": accounts.views(unit, rows)}


def _all_of_nobody(original: Handler, unit: Unit, ask: Ask) -> Any:
    try:
        return original(unit, ask)
    except errors.Refusal:
        return original(unit, replace(ask, query={}))


def _no_match(original: Handler, unit: Unit, ask: Ask) -> Any:
    return {"data": []} if "currency" in ask.query else original(unit, ask)


def _unfiltered(original: Handler, unit: Unit, ask: Ask) -> Any:
    return original(unit, replace(ask, query={}))


LISTS: tuple[tuple[str, str, str, str, Callable[[Handler, Unit, Ask], Any]], ...] = (
    ("ACC-110", "platform-too", "customers see the platform's accounts", LIST, _with_platform),
    ("ACC-111", "customers-too", "the platform sees all accounts", PLATFORM_LIST, _with_customers),
    ("ACC-112", "all", "an unknown customer has all accounts", LIST, _all_of_nobody),
    ("ACC-113", "none", "no account is in the currency", PLATFORM_LIST, _no_match),
    ("ACC-114", "ignored", "the currency is not looked at", PLATFORM_LIST, _unfiltered),
)

for _id, _name, _statement, _place, _change in LISTS:
    declare(_id, _name, _statement, _handled(_place, _change))

declare(
    "ACC-115",
    "twice",
    "each account is listed twice",
    edited(LIST, lambda body: {**body, "data": body["data"] * 2}),
)


# --- Simulated deposits ---------------------------------------------------------------------


@mutant("ACC-120", "a simulated deposit is answered and not booked")
def not_booked(patch: Patch) -> None:
    patch.replace(f"{_ACCOUNTS}:credit", lambda *_: None)


declare("ACC-120", "twice", "a deposit is booked twice", deposited(lambda amount: 2 * amount))
declare("ACC-120", "dollars", "amounts are whole units", deposited(lambda amount: 100 * amount))
declare(
    "ACC-122",
    "bad-request",
    "an unknown account is a bad request",
    refusing("ACCOUNT_NOT_FOUND", 400),
)


@mutant("ACC-122", "a deposit on an unknown account is taken")
def taken_for_nobody(patch: Patch) -> None:
    def answering(original: Handler, unit: Unit, ask: Ask) -> Any:
        try:
            return original(unit, ask)
        except errors.Refusal:
            return {}

    _handled(_FUND, answering)(patch)


@mutant("ACC-123", "a deposit like the one before is taken for its repetition")
def taken_for_a_repetition(patch: Patch) -> None:
    known: set[tuple[str, int]] = set()

    def change(unit: Unit, account: InternalAccount, amount: int, credit: Function) -> None:
        if (account.id, amount) not in known:
            credit(unit, account, amount)
        known.add((account.id, amount))

    _crediting(change)(patch)


@mutant("ACC-125", "only customers' accounts are funded")
def customers_alone(patch: Patch) -> None:
    def answering(original: Handler, unit: Unit, ask: Ask) -> Any:
        if accounts.get(unit, ask.params["accountId"]).customer_id is None:
            raise errors.Refusal("ACCOUNT_NOT_FOUND", "No customer has this account.")
        return original(unit, ask)

    _handled(_FUND, answering)(patch)


# --- States ---------------------------------------------------------------------------------


def _moving(change: Function) -> Callable[[Patch], None]:
    """Return a patch after which accounts come to a state as ``change`` does it.

    It takes the unit, the account, the state and the function that moves it.
    """

    def wrapper(move: Function) -> Function:
        return lambda unit, account, status: change(unit, account, status, move)

    return lambda patch: patch.wrap(f"{_ACCOUNTS}:move", wrapper)


def _unmoved(source: str, target: str) -> Function:
    """Return a change by which an account stays in a state that another should follow."""

    def change(unit: Unit, account: InternalAccount, status: str, move: Function) -> None:
        if (account.status, status) != (source, target):
            move(unit, account, status)

    return change


for _id, _source, _target in (
    ("ACC-141", "PENDING", "ACTIVE"),
    ("ACC-144", "PENDING", "FAILED"),
    ("ACC-148", "ACTIVE", "CLOSED"),
    ("ACC-154", "ACTIVE", "FROZEN"),
    ("ACC-155", "PENDING", "FROZEN"),
    ("ACC-156", "FAILED", "FROZEN"),
):
    declare(
        _id,
        f"stays-{_source.lower()}",
        f"an account that should become {_target} stays {_source}",
        _moving(_unmoved(_source, _target)),
    )


def _pending_as(status: str, body: Json) -> Json:
    return {**body, "status": status} if body["status"] == "PENDING" else body


for _status in ("FAILED", "FROZEN"):
    declare(
        "ACC-140",
        f"shown-{_status.lower()}",
        f"what is being provisioned is shown as {_status}",
        edited(INTERNAL, partial(_pending_as, _status)),
    )

ABLE: Mapping[str, tuple[str, str]] = {
    "ACC-145": ("FAILED", RECEIVE),
    "ACC-146": ("FAILED", RECEIVE),
    "ACC-149": ("CLOSED", SEND),
    "ACC-150": ("CLOSED", SEND),
    "ACC-151": ("CLOSED", SEND),
    "ACC-152": ("CLOSED", RECEIVE),
    "ACC-153": ("CLOSED", RECEIVE),
    "ACC-157": ("FROZEN", SEND),
    "ACC-158": ("FROZEN", SEND),
    "ACC-159": ("FROZEN", SEND),
    "ACC-160": ("FROZEN", RECEIVE),
    "ACC-164": ("PENDING", RECEIVE),
    "ACC-165": ("PENDING", RECEIVE),
}
"""By requirement a state, and what an account may do in it that it should not."""


def _able(status: str, ability: str, patch: Patch) -> None:
    patch.row(_ABILITIES, status, (ability,))


for _id, (_status, _ability) in ABLE.items():
    declare(
        _id,
        f"{_status.lower()}-can-{_ability}",
        f"a {_status} account can {_ability}",
        partial(_able, _status, _ability),
    )

for _id in ("ACC-150", "ACC-158"):
    declare(
        _id,
        "looked-at-once",
        "the state of a source is looked at when its quote is created, and not later",
        lambda patch: patch.replace(
            f"{_REFERENCE}.parties:refuse_blocked_later", lambda _unit, _quote: None
        ),
    )


def _was_held(unit: Unit, account: InternalAccount) -> bool:
    if account.customer_id is None:
        return False
    return customers.has_condition(customers.get(unit, account.customer_id), accounts.HELD)


@mutant("ACC-142", "what arrives on an account that was provisioned late is lost")
def late_accounts_lose(patch: Patch) -> None:
    def change(unit: Unit, account: InternalAccount, amount: int, credit: Function) -> None:
        if not _was_held(unit, account):
            credit(unit, account, amount)

    _crediting(change)(patch)


@mutant("ACC-143", "an account that was provisioned late never sends")
def late_accounts_keep(patch: Patch) -> None:
    def wrapper(original: Function) -> Function:
        def refuse(unit: Unit, source: Any, destination: Any) -> None:
            original(unit, source, destination)
            if source.kind == "INTERNAL" and _was_held(unit, accounts.get(unit, source.account_id)):
                raise errors.Refusal("CONFLICT", "The account was provisioned late.")

        return refuse

    patch.wrap(f"{_REFERENCE}.parties:refuse_blocked", wrapper)


def _with_stranger(
    target: str, unit: Unit, account: InternalAccount, status: str, move: Function
) -> None:
    move(unit, account, status)
    other = _stranger(unit, account)
    if status == target and other is not None:
        other.status = status


for _id, _target in (("ACC-161", "FROZEN"), ("ACC-162", "FROZEN"), ("ACC-163", "CLOSED")):
    declare(
        _id,
        "somebody-else-too",
        f"the account of somebody else is {_target} too",
        _moving(partial(_with_stranger, _target)),
    )


# --- Events ---------------------------------------------------------------------------------


def _told(change: Callable[[Json], Json | None]) -> Callable[[Patch], None]:
    """Return a patch after which balances are reported as ``change`` does it; ``None``: not."""

    def emitting(emit: Function) -> Function:
        def report(unit: Unit, event_type: str, data: Json) -> None:
            told: Json | None = data
            if event_type == _BALANCE:
                told = change(deepcopy(data))
            if told is not None:
                emit(unit, event_type, told)

        return report

    return lambda patch: patch.wrap(f"{_REFERENCE}.unit:Unit.emit", emitting)


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
    ("EVT-162", "euro", "balances are reported in EUR", put("balance.currency", _EURO)),
    ("EVT-165", "other", "every account is reported as crypto", put("type", "INTERNAL_CRYPTO")),
)

for _id, _name, _statement, _report in REPORTS:
    declare(_id, _name, _statement, _told(_report))


def _after(place: str, change: Function) -> Callable[[Patch], None]:
    """Return a patch after which ``change`` acts on a unit, and arguments, after a function."""

    def wrapper(original: Function) -> Function:
        def acting(unit: Unit, *arguments: Any, **named: Any) -> Any:
            result = original(unit, *arguments, **named)
            change(unit, *arguments)
            return result

        return acting

    return lambda patch: patch.wrap(f"{_REFERENCE}.{place}", wrapper)


def _add(unit: Unit, account_id: str, amount: int) -> None:
    """Change the balance in the events about an account that follow this unit."""
    for event in unit.events:
        if event["type"] == _BALANCE and event["data"]["id"] == account_id:
            event["data"]["balance"]["amount"] += amount


@mutant("EVT-150", "a debit is reported with the balance before it")
def balance_before_debit(patch: Patch) -> None:
    def change(unit: Unit, quote: Quote) -> None:
        _add(unit, str(quote.source.get("accountId")), quote.sending_amount)

    _after("settlement:announce_source", change)(patch)


@mutant("EVT-152", "what comes in from another account is not reported")
def incoming_unreported(patch: Patch) -> None:
    def change(unit: Unit, quote: Quote, _transaction: Any) -> None:
        target = quote.destination.get("accountId")
        unit.events[:] = [event for event in unit.events if event["data"].get("id") != target]

    _after("settlement:complete", change)(patch)


@mutant("EVT-153", "what comes in is reported with the balance before it")
def balance_before_credit(patch: Patch) -> None:
    def change(unit: Unit, quote: Quote, _transaction: Any) -> None:
        _add(unit, str(quote.destination.get("accountId")), -quote.receiving_amount)

    _after("settlement:complete", change)(patch)


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
        for one in _siblings(unit, accounts.get(unit, ask.params["accountId"])):
            accounts.announce_balance(unit, one)

    _after("accounts:fund", change)(patch)


@mutant("EVT-156", "an execution that is refused for want of funds is reported")
def refusal_reported(patch: Patch) -> None:
    def wrapper(original: Handler) -> Handler:
        def execute(unit: Unit, ask: Ask) -> Any:
            try:
                return original(unit, ask)
            except errors.Refusal as refusal:
                quote = quotes.get(unit, ask.params["quoteId"])
                if quote.source_kind == "INTERNAL":
                    account = accounts.get(unit, quote.source["accountId"])
                    accounts.announce_balance(unit, account)
                raise errors.Rejection(refusal.code, refusal.reason) from refusal

        return execute

    patch.wrap(f"{_REFERENCE}.quotes:execute", wrapper)


@mutant("EVT-157", "a quote is reported as a change of its source")
def quote_reported(patch: Patch) -> None:
    def change(unit: Unit, order: quotes.Order) -> None:
        if order.source.kind == "INTERNAL" and order.source.account_id is not None:
            accounts.announce_balance(unit, accounts.get(unit, order.source.account_id))

    _after("quotes:draft", change)(patch)


@mutant("EVT-161", "what is on its way is reported as balance")
def pending_reported(patch: Patch) -> None:
    def change(unit: Unit, account: InternalAccount, amount: int) -> None:
        _add(unit, account.id, amount)

    _after("accounts:expect", change)(patch)
