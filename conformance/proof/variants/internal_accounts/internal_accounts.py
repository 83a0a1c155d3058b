"""Conforming variants of internal accounts: other states, lists, members and times.

The specification leaves open which code refuses, at which step, what a closed or frozen account
still shows, and when deposits are booked and reported.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from starlette.responses import Response

from conformance.proof.kit.builders import Json, before, edited, instead, rescued
from conformance.proof.kit.edits import shows, where, with_null, without
from conformance.proof.kit.optional import declare_optional
from conformance.proof.kit.tables import answers
from conformance.proof.patch import Apply, Function, Patch
from conformance.proof.variant import declare, variant
from conformance.proof.variants.protocol.toolkit import is_young, refuse_customer
from conformance.reference import app, errors, fields, money, rules
from conformance.reference.customers import customers
from conformance.reference.internal_accounts import accounts, ledger, rule_based
from conformance.reference.quotes import parties
from conformance.reference.store import InternalAccount, Quote
from conformance.reference.transactions import settlement
from conformance.reference.unit import Ask, Unit

_A_MOMENT = 0.05


# --- States ---------------------------------------------------------------------------------


@variant("M57", "a frozen account is active again when the signal is cleared, or closed", "forms")
def thawed(patch: Patch) -> None:
    patch.row(accounts, "TRANSITIONS", "FROZEN", ("ACTIVE", "CLOSED"))


@variant("M57", "a closed account is frozen too when there is a signal", "other forms")
def closed_is_frozen(patch: Patch) -> None:
    patch.row(accounts, "TRANSITIONS", "CLOSED", ("FROZEN",))


@variant("M57", "a frozen account still receives", "other apart")
def frozen_receives(patch: Patch) -> None:
    patch.row(accounts, "ABILITIES", "FROZEN", (accounts.RECEIVE,))


@variant("M57", "all that a frozen account holds is held", "apart", (accounts, "_view"))
def frozen_is_held(view: Function, account: InternalAccount, available: int, held: int) -> Json:
    if account.status == "FROZEN":
        available, held = 0, available + held
    body: Json = view(account, available, held)
    return body


@variant(
    "M57",
    "closed accounts are not listed any more",
    "codes",
    (accounts, "list_for_customers"),
    edited,
)
def closed_is_gone(body: Json) -> Json:
    return {**body, "data": [one for one in body["data"] if one["status"] != "CLOSED"]}


def _refusing(code: str) -> Apply:
    def refuse(account: InternalAccount, ability: str) -> None:
        if ability not in accounts.ABILITIES[account.status]:
            raise errors.Refusal(code, f"The account is {account.status}.")

    return instead(accounts, "refuse_unable", refuse)


for _code, _group in (
    ("ACCOUNT_LOCKED", "codes"),
    ("ACCOUNT_NOT_FOUND", "other codes"),
    ("INVALID_BANK_ACCOUNT", "forms"),
):
    declare(
        "N045",
        f"stopped-account-{_code.lower().replace('_', '-')}",
        f"what a stopped account cannot do is refused with {_code}",
        _refusing(_code),
        _group,
    )


@variant("M23", "the state of an account matters when a quote is executed", "absent")
def looked_at_later(patch: Patch) -> None:
    refuse = parties.refuse_blocked

    def swept(
        send: Function, unit: Unit, account: InternalAccount, destination: Json, amount: int
    ) -> None:
        # A sweep is executed as it is made.
        source = {"sourceType": "ACCOUNT", "accountId": account.id}
        ends = parties.source_of(unit, source), parties.destination_of(unit, destination)
        refuse(unit, *ends)
        send(unit, account, destination, amount)

    patch.replace(parties, "refuse_blocked", lambda *_: None)
    patch.wrap(rule_based, "send", swept)


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
    def result(result_of: Function, unit: Unit, quote: Quote) -> rules.PayoutResult:
        found: rules.PayoutResult = result_of(unit, quote)
        stopped = _is_stopped(unit, quote)
        return rules.PayoutResult("ACCOUNT_CANNOT_RECEIVE") if stopped else found

    patch.replace(parties, "refuse_blocked", lambda *_: None)
    patch.replace(parties, "refuse_blocked_later", lambda *_: None)
    patch.wrap(settlement, "result_of", result)


# --- Members --------------------------------------------------------------------------------


for _name in ("privateEnabled", "cardFundingCapabilities"):
    declare(
        "M75",
        f"internal-account-with-null-{_name}",
        f"{_name} of every internal account is null",
        edited(accounts, "_view", with_null(_name)),
        "null",
    )

declare(
    "M75",
    "internal-account-without-cardFundingCapabilities",
    "no internal account shows what a card could do with it",
    edited(accounts, "_view", without("cardFundingCapabilities")),
    "absent",
)


@variant("N055", "customers get an embedded wallet beside their accounts", "other codes")
def wallet_beside(patch: Patch) -> None:
    dollars = {"code": "USDB", "name": "USDB", "symbol": "USDB", "decimals": 6}

    def wallet_of(account: Json) -> Json:
        nothing = {"amount": 0, "currency": dollars}
        spark = {"accountType": "SPARK_WALLET", "assetType": "USDB", "address": "spark1q"}
        return {
            **without("cardFundingCapabilities")(account),
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

    def first_page(original: Function, unit: Unit, ask: Ask) -> Json:
        body: Json = original(unit, ask)
        return body if "cursor" in ask.query else listing(body)

    patch.wrap(accounts, "list_for_customers", first_page)


@variant(
    "N058",
    "accounts are funded in ways that the specification does not name",
    "other forms",
    (accounts, "_instruction"),
    edited,
)
def other_kinds(entry: Json) -> Json:
    info = entry["accountOrWalletInfo"]
    number = info.get("accountNumber", "0532013000")
    kept = {"accountType": f"LOCAL_{info['accountType']}", "iban": f"DE8937040044{number}"}
    return {**entry, "accountOrWalletInfo": kept}


@variant("M55", "events of the platform's accounts have no customerId", "slow", (Unit, "emit"))
def unowned_in_events(emit: Function, unit: Unit, event_type: str, data: Json) -> None:
    if event_type == rules.BALANCE_EVENT and not data["customerId"]:
        data = without("customerId")(data)
    emit(unit, event_type, data)


# --- Balances -------------------------------------------------------------------------------


@variant(
    "M75",
    "what a running payout took is in no balance any more",
    "other forms",
    (settlement, "holding_account"),
    instead,
)
def debited_at_once(quote: Quote) -> str:
    return ledger.system("transit", quote.sending_currency)


@variant(
    "M75",
    "updatedAt tells of other changes than those of the balance",
    "codes",
    (accounts, "announce_balance"),
    instead,
)
def balance_is_no_update(unit: Unit, account: InternalAccount) -> None:
    unit.emit(rules.BALANCE_EVENT, accounts.view(unit, account))


@variant("M12", "a deposit on its way is not reported", "absent", (accounts, "expect"), instead)
def unsettled_unreported(unit: Unit, account: InternalAccount, amount: int) -> None:
    rail = ledger.system("rail", account.currency)
    held = ledger.held(account.id)
    legs = [(rail, -amount), (held, amount)]
    ledger.post(unit, [ledger.Leg(name, account.currency, part) for name, part in legs])


@variant(
    "N042",
    "a deposit is reported as pending before it is reported as settled",
    "forms",
    (accounts, "credit"),
    before,
)
def pending_first(unit: Unit, account: InternalAccount, amount: int) -> None:
    before = accounts.view(unit, account)
    total = (before.get("totalBalance") or before["balance"])["amount"] + amount
    pending = {**before, "totalBalance": money.money_view(total, account.currency)}
    unit.emit(rules.BALANCE_EVENT, pending)


@variant(
    "N075",
    "a simulated deposit is taken at once, and arrives a moment later",
    "slow",
    (accounts, "fund"),
)
def deposits_later(fund: Function, unit: Unit, ask: Ask) -> Any:
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


declare(
    "N069",
    "fund-accepted",
    "a simulated deposit is answered with 202",
    answers("fundInternalAccount", 202),
    "other codes",
)


@variant("N069", "a simulated deposit is answered with 202, and without a body")
def fund_without_body(patch: Patch) -> None:
    def respond(original: Function, status: int, body: Any, headers: Any = None) -> Any:
        return original(status, body, headers) if body is not None else Response(status_code=status)

    answers("fundInternalAccount", 202)(patch)
    edited(rule_based, "fund", lambda _: None)(patch)
    patch.wrap(app, "respond", respond)


# --- Lists ----------------------------------------------------------------------------------


def _for_nobody(answer: Callable[[], Any]) -> Apply:
    def listing(_refusal: errors.Refusal, unit: Unit, ask: Ask) -> Any:
        return answer()

    return rescued(accounts, "list_for_customers", listing)


for _name, _statement, _answer, _group in (
    ("no-accounts", "an unknown customer has an empty list", lambda: {"data": []}, "other codes"),
    ("bad-request", "an unknown customer is a bad request", refuse_customer, "codes"),
):
    declare("M40", _name, _statement, _for_nobody(_answer), _group)


@variant(
    "N026",
    "a currency that the platform has no account in is refused",
    "codes",
    (accounts, "list_for_platform"),
    edited,
)
def no_such_account(body: Json) -> Json:
    if not body["data"]:
        raise errors.Refusal("INVALID_CURRENCY", "The platform has no such account.")
    return body


# --- Members that need not be there ---------------------------------------------------------


declare_optional(
    "internal-account",
    (accounts, "_view"),
    *("totalBalance", "label", "sweepRule", "createdAt", "updatedAt"),
)
declare_optional(
    "internal-account",
    (accounts, "_view"),
    "fundingPaymentInstructions",
    spared=shows("type", "RULE_BASED"),
)


def _is_of_the_platform(body: Json) -> bool:
    return not body["customerId"]


declare(
    "M55",
    "platform-account-of-null",
    "the customerId of the platform's accounts is null",
    edited(accounts, "_view", where(_is_of_the_platform, with_null("customerId"))),
    "forms",
)
declare(
    "N057",
    "platform-account-of-none",
    "the platform's accounts have no customerId",
    edited(accounts, "_view", where(_is_of_the_platform, without("customerId"))),
    "other forms",
)


# --- Pages ----------------------------------------------------------------------------------


@variant("N026", "a customer's internal accounts come one to a page", "pages")
def customers_accounts_by_pages(patch: Patch) -> None:
    def listing(original: Function, unit: Unit, ask: Ask) -> Any:
        return original(unit, replace(ask, query={**ask.query, "limit": "1"}))

    patch.wrap(accounts, "list_for_customers", listing)


@variant(
    "N026",
    "the platform's internal accounts come one to a page",
    "pages",
    (accounts, "list_for_platform"),
)
def platform_accounts_by_pages(listing: Function, unit: Unit, ask: Ask) -> Json:
    rows = listing(unit, ask)["data"]
    start = int(ask.query.get("cursor", 0))
    more = {"nextCursor": str(start + 1)} if start + 1 < len(rows) else {}
    return {"data": rows[start : start + 1], **more}


# --- Words that are not closed --------------------------------------------------------------


@variant("N058", "payment instructions name other kinds of accounts", "forms")
def other_instructions(patch: Patch) -> None:
    info = {"accountType": "LOCAL_TRANSFER", "reference": "REF-1"}

    patch.wrap(
        accounts,
        "instructions_for",
        lambda instructions, _, digits: [
            {"accountOrWalletInfo": {**info, "iban": f"DE0200{digits}"}}
        ],
    )


@variant(
    "M56",
    "internal accounts are there a moment after their customer",
    "other codes",
    (accounts, "views"),
)
def provisioned_later(views: Function, unit: Unit, rows: list[InternalAccount]) -> list[Json]:
    there = [
        row
        for row in rows
        # Whoever asks for a rule-based account gets it at once.
        if row.customer_id is None or row.type == "RULE_BASED" or not is_young(row)
    ]
    found: list[Json] = views(unit, there)
    return found


@variant("M56", "internal accounts are pending at first, and take no payments then", "codes")
def internal_accounts_pending(patch: Patch) -> None:
    def pending(view: Function, account: InternalAccount, available: int, held: int) -> Json:
        body: Json = view(account, available, held)
        return {**body, "status": "PENDING"} if is_young(account) else body

    def usable(find: Function, unit: Unit, account_id: str) -> InternalAccount | None:
        found: InternalAccount | None = find(unit, account_id)
        if found is not None and is_young(found):
            raise errors.Refusal("CONFLICT", "the account is being provisioned")
        return found

    patch.wrap(accounts, "_view", pending)
    patch.wrap(accounts, "find", usable)
