"""Honest variants of internal accounts: other states, lists, members and times.

What the specification leaves open about them is which code refuses, at which step, what a closed or
frozen account still shows, and when deposits are booked and reported.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from conformance.mutants.honest import shown, with_null, without
from conformance.mutants.variant import declare, variant
from conformance.reference import (
    accounts,
    customers,
    errors,
    fields,
    ledger,
    money,
    routes,
    rules,
)

if TYPE_CHECKING:
    from conformance.mutants.mutant import Patch
    from conformance.reference.store import InternalAccount, Quote
    from conformance.reference.unit import Ask, Unit

Json = dict[str, Any]
Function = Callable[..., Any]

_REFERENCE = "conformance.reference"
_ACCOUNTS = f"{_REFERENCE}.accounts"
_VIEW = f"{_ACCOUNTS}:_view"
_LIST = f"{_ACCOUNTS}:list_for_customers"
_ABILITIES = f"{_ACCOUNTS}:ABILITIES"
_TRANSITIONS = f"{_ACCOUNTS}:TRANSITIONS"
_A_MOMENT = 0.05


# --- States ---------------------------------------------------------------------------------


@variant("M57", "a frozen account is active again when the signal is cleared, or closed", "forms")
def thawed(patch: Patch) -> None:
    patch.row(_TRANSITIONS, "FROZEN", ("ACTIVE", "CLOSED"))


@variant("M57", "a closed account is frozen too when there is a signal", "other forms")
def closed_is_frozen(patch: Patch) -> None:
    patch.row(_TRANSITIONS, "CLOSED", ("FROZEN",))


@variant("M57", "a frozen account still receives", "other apart")
def frozen_receives(patch: Patch) -> None:
    patch.row(_ABILITIES, "FROZEN", (accounts.RECEIVE,))


@variant("M57", "all that a frozen account holds is held", "apart")
def frozen_is_held(patch: Patch) -> None:
    def viewing(view: Function) -> Function:
        def frozen(account: InternalAccount, available: int, held: int) -> Json:
            if account.status == "FROZEN":
                available, held = 0, available + held
            body: Json = view(account, available, held)
            return body

        return frozen

    patch.wrap(_VIEW, viewing)


@variant("M57", "closed accounts are not listed any more", "codes")
def closed_is_gone(patch: Patch) -> None:
    def listing(body: Json) -> Json:
        return {**body, "data": [one for one in body["data"] if one["status"] != "CLOSED"]}

    shown(_LIST, listing)(patch)


def _refusing(code: str, patch: Patch) -> None:
    def refuse(account: InternalAccount, ability: str) -> None:
        if ability not in accounts.ABILITIES[account.status]:
            raise errors.Refusal(code, f"The account is {account.status}.")

    patch.replace(f"{_ACCOUNTS}:refuse_unable", refuse)


for _code, _group in (
    ("ACCOUNT_LOCKED", "codes"),
    ("ACCOUNT_NOT_FOUND", "other codes"),
    ("INVALID_BANK_ACCOUNT", "forms"),
):
    declare(
        "N045",
        f"stopped-account-{_code.lower().replace('_', '-')}",
        f"what a stopped account cannot do is refused with {_code}",
        partial(_refusing, _code),
        _group,
    )


@variant("M23", "the state of an account matters when a quote is executed", "absent")
def looked_at_later(patch: Patch) -> None:
    patch.replace(f"{_REFERENCE}.parties:refuse_blocked", lambda *_: None)


def _is_stopped(unit: Unit, quote: Quote) -> bool:
    ends = (
        (quote.source_kind, quote.source, accounts.SEND),
        (quote.destination_kind, quote.destination, accounts.RECEIVE),
    )
    return any(
        kind == "INTERNAL"
        and ability not in accounts.ABILITIES[accounts.get(unit, end["accountId"]).status]
        for kind, end, ability in ends
    )


@variant("M23", "payments from and to stopped accounts are taken, and fail", "null")
def failing_payments(patch: Patch) -> None:
    def wrapper(result_of: Function) -> Function:
        def result(unit: Unit, quote: Quote) -> rules.PayoutResult:
            found: rules.PayoutResult = result_of(unit, quote)
            stopped = _is_stopped(unit, quote)
            return rules.PayoutResult("ACCOUNT_CANNOT_RECEIVE") if stopped else found

        return result

    patch.replace(f"{_REFERENCE}.parties:refuse_blocked", lambda *_: None)
    patch.replace(f"{_REFERENCE}.parties:refuse_blocked_later", lambda *_: None)
    patch.wrap(f"{_REFERENCE}.settlement:result_of", wrapper)


# --- Members --------------------------------------------------------------------------------


for _name in ("privateEnabled", "cardFundingCapabilities"):
    declare(
        "M75",
        f"internal-account-with-null-{_name}",
        f"{_name} of every internal account is null",
        shown(_VIEW, partial(with_null, _name)),
        "null",
    )

declare(
    "M75",
    "internal-account-without-cardFundingCapabilities",
    "no internal account shows what a card could do with it",
    shown(_VIEW, partial(without, "cardFundingCapabilities")),
    "absent",
)


@variant("M75", "the label of an account without one is empty", "forms")
def empty_label(patch: Patch) -> None:
    shown(_VIEW, lambda body: {**body, "label": body["label"] or ""})(patch)


@variant("N055", "customers get an embedded wallet beside their accounts", "other codes")
def wallet_beside(patch: Patch) -> None:
    dollars = {"code": "USDB", "name": "USDB", "symbol": "USDB", "decimals": 6}

    def wallet_of(account: Json) -> Json:
        nothing = {"amount": 0, "currency": dollars}
        spark = {"accountType": "SPARK_WALLET", "assetType": "USDB", "address": "spark1q"}
        return {
            **without("cardFundingCapabilities", account),
            "id": f"{account['id']}-wallet",
            "type": "EMBEDDED_WALLET",
            "status": "ACTIVE",
            "balance": nothing,
            "totalBalance": nothing,
            "fundingPaymentInstructions": [{"accountOrWalletInfo": spark}],
            "sweepRule": None,
            "privateEnabled": True,
        }

    def listing(body: Json) -> Json:
        return {**body, "data": [*body["data"], *map(wallet_of, body["data"][:1])]}

    shown(_LIST, listing)(patch)


@variant("N058", "accounts are funded in ways that the specification does not name", "other forms")
def other_kinds(patch: Patch) -> None:
    def change(entry: Json) -> Json:
        info = entry["accountOrWalletInfo"]
        number = info.get("accountNumber", "0532013000")
        kept = {"accountType": f"LOCAL_{info['accountType']}", "iban": f"DE8937040044{number}"}
        return {**entry, "accountOrWalletInfo": kept}

    shown(f"{_ACCOUNTS}:_instruction", change)(patch)


@variant("M55", "events of the platform's accounts have no customerId", "slow")
def unowned_in_events(patch: Patch) -> None:
    def wrapper(emit: Function) -> Function:
        def unowned(unit: Unit, event_type: str, data: Json) -> None:
            if event_type == rules.BALANCE_EVENT and not data["customerId"]:
                data = without("customerId", data)
            emit(unit, event_type, data)

        return unowned

    patch.wrap(f"{_REFERENCE}.unit:Unit.emit", wrapper)


# --- Balances -------------------------------------------------------------------------------


@variant("M75", "what a running payout took is in no balance any more", "other forms")
def debited_at_once(patch: Patch) -> None:
    def holding(quote: Quote) -> str:
        return ledger.system("transit", quote.sending_currency)

    patch.replace(f"{_REFERENCE}.settlement:holding_account", holding)


@variant("M75", "updatedAt tells of other changes than those of the balance", "codes")
def balance_is_no_update(patch: Patch) -> None:
    def announce(unit: Unit, account: InternalAccount) -> None:
        unit.emit(rules.BALANCE_EVENT, accounts.view(unit, account))

    patch.replace(f"{_ACCOUNTS}:announce_balance", announce)


@variant("M12", "a deposit on its way is not reported", "absent")
def unsettled_unreported(patch: Patch) -> None:
    def expect(unit: Unit, account: InternalAccount, amount: int) -> None:
        rail = ledger.system("rail", account.currency)
        held = ledger.held(account.id)
        legs = [(rail, -amount), (held, amount)]
        ledger.post(unit, [ledger.Leg(name, account.currency, part) for name, part in legs])

    patch.replace(f"{_ACCOUNTS}:expect", expect)


@variant("N042", "a deposit is reported as pending before it is reported as settled", "forms")
def pending_first(patch: Patch) -> None:
    def crediting(credit: Function) -> Function:
        def reporting(unit: Unit, account: InternalAccount, amount: int) -> None:
            before = accounts.view(unit, account)
            total = before["totalBalance"]["amount"] + amount
            pending = {**before, "totalBalance": money.money_view(total, account.currency)}
            unit.emit(rules.BALANCE_EVENT, pending)
            credit(unit, account, amount)

        return reporting

    patch.wrap(f"{_ACCOUNTS}:credit", crediting)


@variant("N075", "a simulated deposit is taken at once, and arrives a moment later", "slow")
def deposits_later(patch: Patch) -> None:
    def wrapper(fund: Function) -> Function:
        def funding(unit: Unit, ask: Ask) -> Any:
            account = accounts.get(unit, ask.params["accountId"])
            if account.type == "RULE_BASED":
                return fund(unit, ask)
            amount = int(fields.demand(ask.body, rules.FUND_FIELDS)["amount"])
            if account.customer_id is not None:
                customers.refuse_unverified(customers.get(unit, account.customer_id))
            accounts.refuse_unable(account, accounts.RECEIVE)

            def arrive(then: Unit) -> None:
                arrived = accounts.get(then, account.id)
                accounts.credit(then, arrived, amount)
                accounts.announce_balance(then, arrived)

            unit.later(_A_MOMENT, arrive)
            return accounts.view(unit, account)

        return funding

    patch.wrap(f"{_ACCOUNTS}:fund", wrapper)


@variant("N069", "a simulated deposit is answered with 202", "other codes")
def fund_accepted(patch: Patch) -> None:
    row = replace(routes.OPERATIONS["fundInternalAccount"], status=202)
    patch.row(f"{_REFERENCE}.routes:OPERATIONS", "fundInternalAccount", row)


# --- Lists ----------------------------------------------------------------------------------


def _for_nobody(answer: Callable[[], Any], patch: Patch) -> None:
    def wrapper(original: Function) -> Function:
        def listing(unit: Unit, ask: Ask) -> Any:
            try:
                return original(unit, ask)
            except errors.Refusal:
                return answer()

        return listing

    patch.wrap(_LIST, wrapper)


def _refused() -> Any:
    raise errors.invalid_input(errors.field_error("customerId", "No customer has this id."))


for _name, _statement, _answer, _group in (
    ("no-accounts", "an unknown customer has an empty list", lambda: {"data": []}, "other codes"),
    ("bad-request", "an unknown customer is a bad request", _refused, "codes"),
):
    declare("M40", _name, _statement, partial(_for_nobody, _answer), _group)


@variant("N026", "a currency that the platform has no account in is refused", "codes")
def no_such_account(patch: Patch) -> None:
    def wrapper(original: Function) -> Function:
        def listing(unit: Unit, ask: Ask) -> Json:
            body: Json = original(unit, ask)
            if not body["data"]:
                raise errors.Refusal("INVALID_CURRENCY", "The platform has no such account.")
            return body

        return listing

    patch.wrap(f"{_ACCOUNTS}:list_for_platform", wrapper)
