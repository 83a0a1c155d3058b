"""Mutants of who has which internal accounts, and of their lists."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from sqlalchemy import select

from conformance.proof.kit.builders import (
    Handler,
    Json,
    Place,
    after,
    around,
    before,
    edited,
    instead,
    later_pages,
)
from conformance.proof.kit.edits import put, without
from conformance.proof.kit.identifiers import (
    declare_lookups,
    internal_account_of,
    of_type,
    owner_of,
)
from conformance.proof.mutant import declare, mutant
from conformance.proof.mutants.customers.toolkit import of_all_who_share
from conformance.proof.mutants.internal_accounts.toolkit import deposited
from conformance.proof.mutants.quotes.toolkit import take
from conformance.proof.patch import Apply, Function, Patch
from conformance.reference import errors
from conformance.reference.customers import customers, onboarding
from conformance.reference.internal_accounts import accounts, ledger, rule_based
from conformance.reference.internal_accounts.ledger import Leg
from conformance.reference.quotes import quotes
from conformance.reference.store import Customer, InternalAccount, Quote
from conformance.reference.transactions import settlement
from conformance.reference.unit import Ask, Unit, new_id
from conformance.reference.verification import kyc_links, verifications

# --- Provisioning ---------------------------------------------------------------------------


def _provided(kind: str, status: str) -> Apply:
    """Let the accounts of one type of customers come to a status that is of no use."""

    def listing(original: Handler, unit: Unit, ask: Ask) -> Any:
        body = original(unit, ask)
        owner = customers.get(unit, ask.query["customerId"])
        return put("data.*.status", status)(body) if owner.customer_type == kind else body

    return around(accounts, "list_for_customers", listing)


for _id, _kind, _statuses in (
    ("ACC-063", "INDIVIDUAL", ("FROZEN", "FAILED", "PENDING")),
    ("ACC-064", "BUSINESS", ("FROZEN", "FAILED", "PENDING")),
    ("ACC-065", "INDIVIDUAL", ("FROZEN", "CLOSED")),
    ("ACC-065", "BUSINESS", ("FROZEN", "CLOSED")),
    ("ACC-166", "INDIVIDUAL", ("PENDING",)),
    ("ACC-166", "BUSINESS", ("PENDING",)),
):
    for _status in _statuses:
        declare(
            _id,
            f"{_kind.lower()}-{_status.lower()}",
            f"accounts of type {_kind} are {_status} from the start",
            _provided(_kind, _status),
        )


@mutant(
    "ACC-810", "each change of a customer opens its accounts anew", (onboarding, "update"), after
)
def opened_again(unit: Unit, ask: Ask) -> None:
    customer = customers.get(unit, ask.params["customerId"])
    for code in accounts.currencies_to_provision(unit, customer.currencies):
        accounts.provision(unit, customer.id, code, new_id("InternalAccount"))


# --- Lists ----------------------------------------------------------------------------------


@mutant("ACC-113", "the list in a currency is that of the first request for it")
def first_list_kept(patch: Patch) -> None:
    kept: dict[str, Any] = {}

    def listed(original: Handler, unit: Unit, ask: Ask) -> Any:
        currency = ask.query.get("currency")
        body = original(unit, ask)
        return body if currency is None else kept.setdefault(currency, body)

    patch.wrap(accounts, "list_for_platform", listed)


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


def _of_everybody(original: Handler, unit: Unit, ask: Ask) -> Any:
    if "currency" not in ask.query:
        return original(unit, ask)
    query = select(InternalAccount).where(InternalAccount.currency == ask.query["currency"])
    return {"data": accounts.views(unit, list(unit.session.scalars(query)))}


def _not_found(original: Handler, unit: Unit, ask: Ask) -> Any:
    found = original(unit, ask)
    if not found["data"]:
        raise errors.Refusal("ACCOUNT_NOT_FOUND", "The platform has no such account.")
    return found


def _all_if_none(original: Handler, unit: Unit, ask: Ask) -> Any:
    found = original(unit, ask)
    return found if found["data"] else _unfiltered(original, unit, ask)


def _unfiltered(original: Handler, unit: Unit, ask: Ask) -> Any:
    return original(unit, replace(ask, query={}))


LISTS: tuple[tuple[str, str, str, Place, Callable[[Handler, Unit, Ask], Any]], ...] = (
    (
        "ACC-110",
        "platform-too",
        "customers see the platform's accounts",
        (accounts, "list_for_customers"),
        _with_platform,
    ),
    (
        "ACC-111",
        "customers-too",
        "the platform sees all accounts",
        (accounts, "list_for_platform"),
        _with_customers,
    ),
    (
        "ACC-112",
        "all",
        "an unknown customer has all accounts",
        (accounts, "list_for_customers"),
        _all_of_nobody,
    ),
    (
        "ACC-113",
        "customers-too",
        "the accounts of customers in the currency are listed too",
        (accounts, "list_for_platform"),
        _of_everybody,
    ),
    (
        "ACC-811",
        "not-found",
        "a currency that the platform holds nothing in is not found",
        (accounts, "list_for_platform"),
        _not_found,
    ),
    (
        "ACC-113",
        "none",
        "no account is in the currency",
        (accounts, "list_for_platform"),
        _no_match,
    ),
    (
        "ACC-114",
        "ignored",
        "the currency is not looked at",
        (accounts, "list_for_platform"),
        _unfiltered,
    ),
    (
        "ACC-114",
        "unmatched",
        "where no account is in the currency, all are listed",
        (accounts, "list_for_platform"),
        _all_if_none,
    ),
)

for _id, _name, _statement, _place, _change in LISTS:
    declare(_id, _name, _statement, around(*_place, _change))

declare(
    "ACC-115",
    "twice",
    "each account is listed twice",
    edited(accounts, "list_for_customers", lambda body: {**body, "data": body["data"] * 2}),
)

declare(
    "ACC-168",
    "one-page",
    "there is one page",
    edited(accounts, "list_for_customers", without("nextCursor")),
)
declare(
    "ACC-168",
    "skips",
    "the row that follows a page is left out",
    later_pages(accounts, "list_for_customers", lambda rows: rows[1:]),
)


def _everybodys_later(original: Handler, unit: Unit, ask: Ask) -> Any:
    if "cursor" in ask.query:
        ask = replace(ask, query={k: v for k, v in ask.query.items() if k != "customerId"})
    return original(unit, ask)


declare(
    "ACC-168",
    "everybodys-later",
    "the customer is forgotten on the second page",
    around(accounts, "list_for_customers", _everybodys_later),
)


def _repeating(original: Handler, unit: Unit, ask: Ask) -> Any:
    body = original(unit, ask)
    first = original(unit, replace(ask, query={"customerId": ask.query.get("customerId", "")}))
    return {**body, "data": [first["data"][0], *body["data"]]} if "cursor" in ask.query else body


declare(
    "ACC-115",
    "repeated-later",
    "each page begins with the first account of all",
    around(accounts, "list_for_customers", _repeating),
)


def _twice_by_currency(original: Handler, unit: Unit, ask: Ask) -> Any:
    body = original(unit, ask)
    is_paged = "limit" in ask.query and "currency" in ask.query
    return {**body, "data": body["data"] * 2} if is_paged else body


declare(
    "ACC-113",
    "twice-on-pages",
    "the platform's accounts in a currency are on two pages each",
    around(accounts, "list_for_platform", _twice_by_currency),
)

# --- Customers and accounts -----------------------------------------------------------------


@mutant("ACC-010", "the accounts of all customers are listed")
def filter_ignored(patch: Patch) -> None:
    patch.wrap(
        accounts,
        "list_for_customers",
        lambda original, unit, ask: original(unit, replace(ask, query={})),
    )


@mutant("ACC-010", "for a business the accounts of all are listed")
def filter_ignored_for_businesses(patch: Patch) -> None:
    def listed(original: Handler, unit: Unit, ask: Ask) -> Any:
        customer = unit.session.get(Customer, str(ask.query.get("customerId")))
        if customer is not None and customer.customer_type == "BUSINESS":
            return original(unit, replace(ask, query={}))
        return original(unit, ask)

    patch.wrap(accounts, "list_for_customers", listed)


declare(
    "ACC-010",
    "of-one-name",
    "the accounts of all who share a platformCustomerId are listed",
    around(accounts, "list_for_customers", of_all_who_share),
)


def _totals_as_first(body: Json) -> Json:
    rows = body["data"]
    for row in rows:
        row["totalBalance"] = {**row["totalBalance"], "currency": rows[0]["balance"]["currency"]}
    return body


declare(
    "ACC-031",
    "as-the-first",
    "the total balances of a list are in the currency of the first one",
    edited(accounts, "list_for_customers", _totals_as_first),
)
declare(
    "ACC-010",
    "owner-lost",
    "an account does not say whose it is",
    edited(accounts, "_view", put("customerId", "")),
)
declare(
    "ACC-011",
    "bare-list",
    "the list stands bare",
    edited(accounts, "list_for_platform", lambda body: body["data"]),
)
declare(
    "ACC-011",
    "data-renamed",
    "the list stands under another name",
    edited(accounts, "list_for_platform", lambda body: {"accounts": body["data"]}),
)


@mutant("ACC-012", "the total leaves out what can be spent")
def total_is_what_is_held(patch: Patch) -> None:
    patch.replace(accounts, "total", lambda _available, held: held)


DEPOSITS: tuple[tuple[str, str, Callable[[int], int]], ...] = (
    ("fee-taken", "a deposit loses a fee", lambda amount: amount - 1),
    ("twice", "a deposit is booked twice", lambda amount: 2 * amount),
    ("whole-units", "a deposit is read in whole units", lambda amount: 100 * amount),
)

for name, statement, deposit in DEPOSITS:
    declare("ACC-013", name, statement, deposited(deposit))


@mutant(
    "ACC-014", "a completed payment leaves its fees in the source", (settlement, "completion_legs")
)
def fees_left(original: Callable[[Quote], list[Leg]], quote: Quote) -> list[Leg]:
    held, taken, *others = original(quote)
    return [replace(held, amount=held.amount + taken.amount), *others]


def _booked_too(sign: int) -> Function:
    """Return what books a payment to a quote from, or to, an account of its payer too."""

    def perform(unit: Unit, quote: Quote, action: str) -> None:
        query = select(InternalAccount).where(
            InternalAccount.customer_id == quote.customer_id,
            InternalAccount.currency == quote.sending_currency,
        )
        account = unit.session.scalars(query).first() if action == "DEPOSIT" else None
        if account is None:
            return
        available, _ = ledger.balances(unit, [account.id])[account.id]
        # An account that nothing was deposited to is not overdrawn.
        if available >= quote.sending_amount:
            take(unit, account.id, sign * quote.sending_amount)

    return perform


for _sign, _name, _what in ((1, "debited", "taken from"), (-1, "credited", "left in")):
    declare(
        "ACC-014",
        f"just-in-time-{_name}",
        f"what funds a quote just in time is {_what} an account of its payer too",
        after(quotes, "perform", _booked_too(_sign)),
    )


@mutant("ACC-014", "a transfer delivers its fees as well", (settlement, "completion_legs"))
def fees_delivered(original: Callable[[Quote], list[Leg]], quote: Quote) -> list[Leg]:
    *others, converted, delivered = original(quote)
    return [
        *others,
        replace(converted, amount=converted.amount - quote.variable_fee),
        replace(delivered, amount=delivered.amount + quote.variable_fee),
    ]


declare_lookups(
    (
        ("ACC-800", "funded", (rule_based, "fund"), "accountId", internal_account_of),
        ("ACC-800", "any-type", (rule_based, "fund"), "accountId", of_type("InternalAccount")),
        ("ACC-801", "listed", (accounts, "list_for_customers"), "customerId", owner_of),
    )
)


# --- Internal accounts of customers ---------------------------------------------------------


def accountless(kind: str) -> Apply:
    """Give customers of one type no account."""

    def provide(
        original: Callable[..., None], unit: Unit, customer_id: str, wanted: list[str]
    ) -> None:
        unit.session.flush()
        if customers.get(unit, customer_id).customer_type != kind:
            original(unit, customer_id, wanted)

    return around(accounts, "provision_for_customer", provide)


def _take_accounts(unit: Unit, customer_id: str) -> None:
    theirs = InternalAccount.customer_id == customer_id
    for account in unit.session.scalars(select(InternalAccount).where(theirs)):
        account.customer_id = "Customer:nobody"


def hosted_accountless(kind: str) -> Apply:
    """Take the accounts of customers of one type whom the hosted flow brings to their review."""

    def taken(unit: Unit, customer: Customer, _url: str) -> None:
        if customer.customer_type == kind:
            _take_accounts(unit, customer.id)

    return after(kyc_links, "use", taken)


for _requirement, _kind in (("ACC-020", "INDIVIDUAL"), ("ACC-021", "BUSINESS")):
    declare(
        _requirement,
        "accountless",
        f"customers of the type {_kind} get no account",
        accountless(_kind),
    )
    declare(
        _requirement,
        "hosted",
        f"customers of the type {_kind} lose their accounts by the hosted flow",
        hosted_accountless(_kind),
    )


@mutant(
    "ACC-021",
    "businesses lose their accounts as the sandbox approves them",
    (verifications, "settle"),
    after,
)
def settled_accountless(unit: Unit, customer_id: str, outcome: str) -> None:
    if outcome == "APPROVED" and customers.get(unit, customer_id).customer_type == "BUSINESS":
        _take_accounts(unit, customer_id)


declare(
    "ACC-022",
    "rule-based",
    "customers get rule-based accounts without asking",
    instead(accounts, "type_for", lambda _currency: "RULE_BASED"),
)


@mutant(
    "ACC-023",
    "the accounts of customers who are not approved are not listed",
    (accounts, "list_for_customers"),
    before,
)
def unlisted(unit: Unit, ask: Ask) -> None:
    customers.refuse_unverified(customers.get(unit, ask.query["customerId"]))


for _requirement, _name, _member, _value in (
    ("ACC-051", "word", "privateEnabled", "PRIVATE"),
    ("ACC-051", "number", "privateEnabled", 1),
    ("ACC-051", "text", "privateEnabled", "false"),
):
    declare(
        _requirement,
        f"{_member}-{_name}",
        f"{_member} of every internal account is {_value!r}",
        edited(accounts, "_view", put(_member, _value)),
    )
