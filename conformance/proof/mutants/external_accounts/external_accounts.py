"""Mutants of external accounts: lists, deletion and refusals."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from sqlalchemy import select

from conformance.proof.kit.builders import (
    Handler,
    Json,
    around,
    before,
    edited,
    instead,
    invented,
    receives,
)
from conformance.proof.kit.edits import Edit, put, replaced, turned, without
from conformance.proof.kit.identifiers import declare_lookups, external_account_of, of_type
from conformance.proof.kit.tables import answers, with_status
from conformance.proof.mutant import declare, mutant
from conformance.proof.mutants.customers.toolkit import of_all_who_share
from conformance.proof.mutants.external_accounts.toolkit import CREATE, siblings
from conformance.proof.mutants.quotes.toolkit import in_two_steps
from conformance.proof.patch import Apply, Function, Patch
from conformance.reference import errors, fields, rules
from conformance.reference.external_accounts import account_types, beneficiaries, externals
from conformance.reference.external_accounts.account_types import ACCOUNT_TYPES, AccountType
from conformance.reference.internal_accounts import accounts
from conformance.reference.quotes import parties, quotes
from conformance.reference.service import Service
from conformance.reference.store import Customer, ExternalAccount, InternalAccount, Quote
from conformance.reference.transactions import settlement
from conformance.reference.unit import Ask, Unit
from conformance.testdata.accounts import account_example

# --- Lists ----------------------------------------------------------------------------------


def _forgetful(name: str) -> Apply:
    """Return a patch after which a list does not look at a parameter of its query."""

    def deaf(original: Handler, unit: Unit, ask: Ask) -> Any:
        query = {key: value for key, value in ask.query.items() if key != name}
        return original(unit, replace(ask, query=query))

    return around(externals, "list_for_customers", deaf)


declare(
    "EXT-082",
    "of-one-name",
    "the accounts of all who share a platformCustomerId are listed",
    around(externals, "list_for_customers", of_all_who_share),
)
for _requirement in ("EXT-082", "EXT-083"):
    declare(_requirement, "all", "the accounts of all are listed", _forgetful("customerId"))


@mutant(
    "EXT-089",
    "a customer who does not exist has the accounts of all",
    (externals, "list_for_customers"),
)
def accounts_of_nobody(original: Handler, unit: Unit, ask: Ask) -> Any:
    try:
        return original(unit, ask)
    except errors.Refusal:
        return original(unit, replace(ask, query={}))


for _requirement, _list in (
    ("EXT-900", "list_for_customers"),
    ("EXT-901", "list_for_platform"),
):
    for _path, _value in (
        ("status", "PENDING"),
        ("accountInfo.paymentRails", ["ACH"]),
        ("accountInfo.bankName", "Another Bank"),
    ):
        declare(
            _requirement,
            f"another-{_path}",
            f"each row of the list shows another {_path}",
            edited(externals, _list, replaced(f"data.*.{_path}", _value)),
        )

declare(
    "EXT-080",
    "one-missing",
    "the newest account is not listed",
    edited(externals, "list_for_customers", lambda body: {**body, "data": body["data"][:-1]}),
)
declare(
    "EXT-809",
    "unread",
    "who reads an account is not told its platformAccountId",
    edited(externals, "read", without("platformAccountId")),
)
declare(
    "EXT-803",
    "unlisted",
    "the list leaves the customerId out",
    edited(externals, "list_for_customers", without("data.*.customerId")),
)
declare(
    "EXT-809",
    "unlisted",
    "the list leaves the platformAccountId out",
    edited(externals, "list_for_customers", without("data.*.platformAccountId")),
)


def _without_type(ending: str) -> Callable[[list[Json]], list[Json]]:
    """Return a change that leaves out accounts whose type ends so."""
    return lambda rows: [
        row for row in rows if not row["accountInfo"]["accountType"].endswith(ending)
    ]


for _name, _left_out in (("banks-alone", "_WALLET"), ("not-lightning", "LIGHTNING")):
    declare(
        "EXT-087",
        _name,
        f"the platform's accounts of a type that ends in {_left_out} are not listed",
        edited(externals, "list_for_platform", turned("data", _without_type(_left_out))),
    )
declare(
    "EXT-804",
    "unlisted",
    "the list shows no platformAccountId",
    edited(externals, "list_for_customers", without("data.*.platformAccountId")),
)
declare(
    "EXT-090",
    "one-page",
    "there is one page",
    edited(externals, "list_for_customers", without("nextCursor")),
)
declare(
    "EXT-094",
    "one-page",
    "there is one page of the platform's accounts",
    edited(externals, "list_for_platform", without("nextCursor")),
)
declare("EXT-090", "same-page", "all pages are the first one", _forgetful("cursor"))


def _all_listed(unit: Unit, _ask: Ask) -> Json:
    query = select(ExternalAccount).where(ExternalAccount.deleted.is_(False))
    return {"data": [externals.view(one) for one in unit.session.scalars(query)]}


declare(
    "EXT-084",
    "customers-too",
    "customers' accounts are the platform's",
    instead(externals, "list_for_platform", _all_listed),
)
declare(
    "EXT-086",
    "customers-too",
    "customers' accounts are the platform's",
    instead(externals, "list_for_platform", _all_listed),
)


@mutant(
    "EXT-085",
    "a platform's accounts are not listed without a customer",
    (externals, "list_for_platform"),
    instead,
)
def platform_refused(_unit: Unit, _ask: Ask) -> Json:
    raise errors.invalid_input(errors.field_error("customerId", "A value is required."))


declare(
    "EXT-087",
    "another-currency",
    "the platform's accounts are listed in its own currency",
    edited(
        externals,
        "list_for_platform",
        lambda body: {**body, "data": [{**one, "currency": "XAU"} for one in body["data"]]},
    ),
)
declare(
    "EXT-087",
    "in-dollars",
    "the platform's accounts are all listed in dollars",
    edited(
        externals,
        "list_for_platform",
        lambda body: {**body, "data": [{**one, "currency": "USD"} for one in body["data"]]},
    ),
)
declare(
    "EXT-087",
    "unnamed",
    "the platform's accounts without a platformAccountId are not listed",
    edited(
        externals,
        "list_for_platform",
        lambda body: {
            **body,
            "data": [one for one in body["data"] if one.get("platformAccountId")],
        },
    ),
)
declare(
    "EXT-088",
    "owner-invented",
    "an account of the platform is said to be somebody's",
    edited(externals, "view", lambda body: {"customerId": "Customer:1", **body}),
)


@mutant("EXT-093", "the platform's accounts are everybody's", (externals, "list_for_customers"))
def platform_everywhere(original: Handler, unit: Unit, ask: Ask) -> Any:
    body: Json = original(unit, ask)
    own: Json = externals.list_for_platform(unit, replace(ask, query={}))
    return {**body, "data": [*own["data"], *body["data"]]}


@mutant("EXT-121", "an account without a customer is a conflict", (externals, "create"), before)
def no_owner_conflicts(unit: Unit, ask: Ask) -> None:
    if isinstance(ask.body, dict) and not ask.body.get("customerId"):
        raise errors.Refusal("CONFLICT", "The account has no owner.")


# --- Deletion -------------------------------------------------------------------------------


def _found_again(patch: Patch) -> None:
    """Find accounts that were deleted."""
    patch.replace(externals, "find", lambda unit, name: unit.session.get(ExternalAccount, name))


for _requirement, _statement in (
    ("EXT-101", "a deleted account can be read"),
    ("EXT-105", "a deleted account can be paid"),
):
    declare(_requirement, "found-again", _statement, _found_again)


@mutant(
    "EXT-105", "an immediate quote finds accounts that were deleted", (quotes, "create"), before
)
def found_at_once(unit: Unit, ask: Ask) -> None:
    if isinstance(ask.body, dict) and ask.body.get("immediatelyExecute"):
        name = (ask.body.get("destination") or {}).get("accountId")
        account = unit.session.get(ExternalAccount, name)
        if account is not None:
            account.deleted = False


declare("EXT-100", "answers-200", "it is answered with 200", answers("deleteExternalAccount", 200))
declare("EXT-100", "answers-202", "it is answered with 202", answers("deleteExternalAccount", 202))


@mutant("EXT-102", "a deleted account is listed", (externals, "list_for_customers"))
def listed_again(original: Handler, unit: Unit, ask: Ask) -> Any:
    body: Json = original(unit, ask)
    query = select(ExternalAccount).where(
        ExternalAccount.deleted.is_(True),
        ExternalAccount.customer_id == ask.query.get("customerId"),
    )
    gone = [externals.view(one) for one in unit.session.scalars(query)]
    return {**body, "data": [*body["data"], *gone]}


def _careless(patch: Patch, forgives: Callable[[Unit, str], bool]) -> None:
    """Let a deletion pass that finds nothing."""

    def forgiving(remove: Handler, unit: Unit, ask: Ask) -> Any:
        if not forgives(unit, ask.params["externalAccountId"]):
            return remove(unit, ask)
        return None

    patch.wrap(externals, "remove", forgiving)


@mutant("EXT-103", "what does not exist is deleted")
def nothing_deleted(patch: Patch) -> None:
    _careless(patch, lambda unit, name: unit.session.get(ExternalAccount, name) is None)


declare(
    "EXT-103",
    "nothing-is-bad",
    "what does not exist is a bad request",
    with_status("ACCOUNT_NOT_FOUND", 400),
)


@mutant("EXT-104", "an account can be deleted again and again")
def deleted_again(patch: Patch) -> None:
    _careless(
        patch,
        lambda unit, name: (
            unit.session.get(ExternalAccount, name) is not None
            and externals.find(unit, name) is None
        ),
    )


def _swept(whose: Callable[[Unit, ExternalAccount], Iterable[ExternalAccount]]) -> Handler:
    def remove(unit: Unit, ask: Ask) -> None:
        account = externals.get(unit, ask.params["externalAccountId"])
        for one in list(whose(unit, account)):
            one.deleted = True

    return remove


def _of_the_type(unit: Unit, account: ExternalAccount) -> Iterable[ExternalAccount]:
    query = select(ExternalAccount).where(ExternalAccount.account_type == account.account_type)
    return unit.session.scalars(query)


@mutant("EXT-106", "all accounts of a customer go with one")
def siblings_deleted(patch: Patch) -> None:
    patch.replace(externals, "remove", _swept(siblings))


@mutant("EXT-107", "all accounts of a type go with one")
def type_deleted(patch: Patch) -> None:
    patch.replace(externals, "remove", _swept(_of_the_type))


def _of_the_name(unit: Unit, account: ExternalAccount) -> Iterable[ExternalAccount]:
    name = account.platform_account_id
    query = select(ExternalAccount).where(ExternalAccount.platform_account_id == name)
    return unit.session.scalars(query)


def _of_the_details(unit: Unit, account: ExternalAccount) -> Iterable[ExternalAccount]:
    query = select(ExternalAccount).where(ExternalAccount.account_type == account.account_type)
    return [one for one in unit.session.scalars(query) if one.info == account.info]


declare(
    "EXT-107",
    "same-details",
    "whoever else has registered a bank account loses it when one deletes it",
    instead(externals, "remove", _swept(_of_the_details)),
)

for _requirement in ("EXT-106", "EXT-107"):
    declare(
        _requirement,
        "namesakes",
        "all accounts of a platformAccountId go with one",
        instead(externals, "remove", _swept(_of_the_name)),
    )


@mutant("EXT-830", "a customerId is asked for", (externals, "create"), before)
def owner_demanded(unit: Unit, ask: Ask) -> None:
    if isinstance(ask.body, dict) and not ask.body.get("customerId"):
        raise errors.Refusal("INVALID_INPUT", "The account has no owner.")


# --- Refusals -------------------------------------------------------------------------------


def _plain(value: Any) -> Any:
    return json.loads(json.dumps(value).replace("#", "1"))


USUAL: Json = _plain(dict(account_example("usd_account").body))
"""What a forgetful implementation takes in the place of what is wrong."""


def _guessed(member: str, is_wrong: Callable[[Any], bool], guess: Any) -> Callable[[Json], Json]:
    """Return a change of bodies: a member that is wrong becomes what is usual."""
    holder, _, name = member.rpartition(".")

    def change(body: Json) -> Json:
        if holder:
            inner = body.get(holder)
            if not isinstance(inner, dict) or not is_wrong(inner.get(name, ABSENT)):
                return body
            return {**body, holder: {**inner, name: guess}}
        return {**body, name: guess} if is_wrong(body.get(name, ABSENT)) else body

    return change


ABSENT: Any = object()


_CURRENCY, _INFO = USUAL["currency"], USUAL["accountInfo"]


_TYPE = "accountInfo.accountType"


GUESSES: tuple[tuple[str, str, str, Callable[[Any], bool], Any], ...] = (
    ("EXT-122", "no currency", "currency", lambda v: v is ABSENT, _CURRENCY),
    ("EXT-123", "null as currency", "currency", lambda v: v is None, _CURRENCY),
    ("EXT-124", "a number as currency", "currency", lambda v: isinstance(v, int), _CURRENCY),
    ("EXT-125", "an empty currency", "currency", lambda v: v == "", _CURRENCY),
    ("EXT-126", "no accountInfo", "accountInfo", lambda v: v is ABSENT, _INFO),
    ("EXT-127", "null as accountInfo", "accountInfo", lambda v: v is None, _INFO),
    ("EXT-128", "a text as accountInfo", "accountInfo", lambda v: isinstance(v, str), _INFO),
    ("EXT-129", "a list as accountInfo", "accountInfo", lambda v: isinstance(v, list), _INFO),
    ("EXT-139", "an empty accountInfo", "accountInfo", lambda v: v == {}, _INFO),
    ("EXT-130", "no accountType", _TYPE, lambda v: v is ABSENT, "USD_ACCOUNT"),
    ("EXT-131", "an unknown accountType", _TYPE, lambda v: v == "BURIED_CHEST", "USD_ACCOUNT"),
    ("EXT-132", "null as accountType", _TYPE, lambda v: v is None, "USD_ACCOUNT"),
    ("EXT-133", "a number as accountType", _TYPE, lambda v: isinstance(v, int), "USD_ACCOUNT"),
    ("EXT-134", "an empty accountType", _TYPE, lambda v: v == "", "USD_ACCOUNT"),
    ("EXT-135", "a number as customerId", "customerId", lambda v: isinstance(v, int), None),
    ("EXT-137", "a number", "platformAccountId", lambda v: isinstance(v, int), "17"),
    ("EXT-138", "a foreign currency", "currency", lambda v: v not in ("USD", ABSENT), "USD"),
)
"""Requirement, what is wrong, the member, how it is recognized, and what is taken for it."""

for _requirement, _name, _path, _is_wrong, _guess in GUESSES:
    declare(
        _requirement,
        _name.replace(" ", "-"),
        f"{_name} counts as something else",
        receives(*CREATE, _guessed(_path, _is_wrong, _guess)),
    )


@mutant("EXT-904", "a number may have a line feed behind it", (fields, "_compiled"))
def line_feed_overlooked(original: Callable[[str], re.Pattern[str]], pattern: str) -> Any:
    return re.compile(rf"(?:{original(pattern).pattern})\n?", re.ASCII)


def _ownerless(is_meant: Callable[[str], bool]) -> Apply:
    """Return a patch after which an owner who does not exist is left out."""

    def lenient(create: Handler, unit: Unit, ask: Ask) -> Any:
        try:
            return create(unit, ask)
        except errors.Refusal as refusal:
            if refusal.code != "CUSTOMER_NOT_FOUND" or not is_meant(ask.body["customerId"]):
                raise
            return create(unit, replace(ask, body={**ask.body, "customerId": None}))

    return around(externals, "create", lenient)


declare(
    "EXT-120",
    "left-out",
    "a customer who does not exist is left out",
    _ownerless(lambda name: name.startswith("Customer:")),
)
declare("EXT-120", "conflict", "it is a conflict", with_status("CUSTOMER_NOT_FOUND", 409))
declare(
    "EXT-136",
    "left-out",
    "an owner who is no customer is left out",
    _ownerless(lambda name: not name.startswith("Customer:")),
)


FIELDS: tuple[tuple[str, str, Edit], ...] = (
    ("body", "errors are all about the body", put("field", "body")),
    ("holder", "errors are about what holds the member", put("field", "request.body")),
)

for _name, _statement, _edit in FIELDS:
    declare("EXT-140", _name, _statement, edited(errors, "field_error", _edit))


@mutant("EXT-141", "the first invalid field is reported alone")
def first_field_alone(patch: Patch) -> None:
    patch.wrap(errors, "invalid_input", lambda original, *found: original(found[0]))


@mutant("EXT-142", "an account is kept although it is refused", (externals, "create"))
def refused_and_kept(create: Handler, unit: Unit, ask: Ask) -> Any:
    try:
        return create(unit, ask)
    except errors.Refusal as refusal:
        create(unit, replace(ask, body={**ask.body, **USUAL}))
        raise errors.Rejection(refusal.code, refusal.reason, refusal.details) from refusal


def _kept_for(members: tuple[str, ...]) -> Apply:
    """Return a patch after which an account is kept that is refused for one of some members."""

    def create(create: Handler, unit: Unit, ask: Ask) -> Any:
        try:
            return create(unit, ask)
        except errors.Refusal as refusal:
            found = [entry["field"] for entry in (refusal.details or {}).get("errors", ())]
            if not any(name in field for field in found for name in members):
                raise
            create(unit, replace(ask, body={**ask.body, **USUAL}))
            raise errors.Rejection(refusal.code, refusal.reason, refusal.details) from refusal

    return around(externals, "create", create)


@mutant("EXT-142", "the account of an unknown customer is kept as the platform's", CREATE, around)
def kept_as_the_platforms(create: Handler, unit: Unit, ask: Ask) -> Any:
    try:
        return create(unit, ask)
    except errors.Refusal as refusal:
        if refusal.code != "CUSTOMER_NOT_FOUND":
            raise
        create(unit, replace(ask, body={**ask.body, "customerId": None}))
        raise errors.Rejection(refusal.code, refusal.reason, refusal.details) from refusal


for _name in ("currency", "accountNumber", "beneficiary"):
    declare(
        "EXT-142",
        f"kept-before-{_name.lower()}",
        f"an account is kept before its {_name} is looked at",
        _kept_for((_name,)),
    )


# --- Customers and accounts -----------------------------------------------------------------


READS = (("EXT-006", "EXT-007", (externals, "read"), "externalAccountId", "ACCOUNT"),)

for found, missed, place, parameter, kind in READS:
    declare(found, "another", "another one is answered", edited(*place, put("id", f"{kind}:1")))
    declare(missed, "invented", "one that does not exist is answered", invented(*place, parameter))
    declare(missed, "bad-request", "it is a bad request", with_status(f"{kind}_NOT_FOUND", 400))


@mutant("EXT-005", "a US bank account has at most eight digits")
def short_numbers(patch: Patch) -> None:
    kind = ACCOUNT_TYPES["USD_ACCOUNT"]
    number, *others = kind.fields
    row = replace(kind, fields=(replace(number, pattern=r"\d{4,8}"), *others))
    patch.row(account_types, "ACCOUNT_TYPES", "USD_ACCOUNT", row)


declare(
    "EXT-005",
    "other-currency",
    "a US bank account is answered in another currency",
    edited(externals, "view", put("currency", "EUR")),
)
declare(
    "EXT-008",
    "another",
    "a new external account says that it is another customer's",
    edited(*CREATE, put("customerId", "Customer:1")),
)
declare_lookups(
    (
        ("EXT-800", "read", (externals, "read"), "externalAccountId", external_account_of),
        ("EXT-801", "deleted", (externals, "remove"), "externalAccountId", external_account_of),
        ("EXT-802", "deleted", (externals, "remove"), "externalAccountId", external_account_of),
        (
            "EXT-800",
            "any-type",
            (externals, "read"),
            "externalAccountId",
            of_type("ExternalAccount"),
        ),
        (
            "EXT-801",
            "any-type",
            (externals, "remove"),
            "externalAccountId",
            of_type("ExternalAccount"),
        ),
        (
            "EXT-802",
            "any-type",
            (externals, "remove"),
            "externalAccountId",
            of_type("ExternalAccount"),
        ),
    )
)


@mutant("EXT-800", "internal accounts are read by the same path", (externals, "read"), around)
def inside_read(original: Handler, unit: Unit, ask: Ask) -> Any:
    inside = accounts.find(unit, ask.params["externalAccountId"])
    return original(unit, ask) if inside is None else accounts.view(unit, inside)


@mutant("EXT-801", "deletions by the id of an internal account pass", (externals, "remove"), around)
def inside_deleted(original: Handler, unit: Unit, ask: Ask) -> Any:
    if accounts.find(unit, ask.params["externalAccountId"]) is None:
        return original(unit, ask)
    return None


@mutant(
    "EXT-087",
    "the platform's accounts in currencies that it does not hold are not listed",
    (externals, "list_for_platform"),
    around,
)
def of_own_currencies(original: Handler, unit: Unit, ask: Ask) -> Any:
    held = select(InternalAccount.currency).where(InternalAccount.customer_id.is_(None))
    codes = set(unit.session.scalars(held))
    page = original(unit, ask)
    return {**page, "data": [row for row in page["data"] if row["currency"] in codes]}


@mutant("EXT-600", "payouts to accounts that no customer owns fail", (settlement, "result_of"))
def ownerless(
    original: Callable[[Unit, Quote], rules.PayoutResult], unit: Unit, quote: Quote
) -> rules.PayoutResult:
    account = unit.session.get(ExternalAccount, quote.destination.get("accountId"))
    if account is not None and account.customer_id is None:
        return rules.PAYOUT_RESULTS["UNKNOWN"]
    return original(unit, quote)


def _numbered(body: Json) -> Json:
    if body.get("customerId"):
        return body
    return {**body, "accountInfo": {"clabeNumber": "032180000118359719", **body["accountInfo"]}}


def _well_numbered(body: Json) -> Json:
    info = body["accountInfo"]
    if body.get("customerId") or "clabeNumber" not in info:
        return body
    return {**body, "accountInfo": {**info, "clabeNumber": "032180000118359719"}}


def _told_of_customers(
    original: Function, body: Json, kind: AccountType, owner: Customer | None
) -> Any:
    return original(body, kind, owner) if owner is not None else []


declare(
    "EXT-807",
    "numberless",
    "an account of the platform needs no number",
    receives(externals, "create", _numbered),
)
declare(
    "EXT-807",
    "any-number",
    "the number of an account of the platform has any form",
    receives(externals, "create", _well_numbered),
)
declare(
    "EXT-807",
    "unchecked",
    "the beneficiary of an account of the platform is not looked at",
    around(beneficiaries, "check", _told_of_customers),
)


def _any_asset(original: Function, body: Json, kind: AccountType) -> Any:
    found = original(body, kind)
    if body.get("customerId") or kind.beneficiary:
        return found
    return [error for error in found if error["field"] != "currency"]


declare(
    "EXT-808",
    "any-asset",
    "a wallet of the platform may have any asset",
    around(externals, "pairing_errors", _any_asset),
)


declare(
    "EXT-011",
    "of-the-platform",
    "an account of the platform has another platformAccountId",
    edited(
        externals,
        "create",
        lambda body: body if body.get("customerId") else {**body, "platformAccountId": "account-1"},
    ),
)


@mutant("EXT-102", "a deleted account of the platform is listed", (externals, "list_for_platform"))
def listed_for_platform_again(original: Handler, unit: Unit, ask: Ask) -> Any:
    body: Json = original(unit, ask)
    query = select(ExternalAccount).where(
        ExternalAccount.deleted.is_(True), ExternalAccount.customer_id.is_(None)
    )
    gone = [externals.view(one) for one in unit.session.scalars(query)]
    return {**body, "data": [*body["data"], *gone]}


def failing(*types: str) -> Apply:
    """Return a patch after which payouts to accounts of some types fail."""

    def result_of(
        original: Callable[[Unit, Quote], rules.PayoutResult], unit: Unit, quote: Quote
    ) -> rules.PayoutResult:
        account = unit.session.get(ExternalAccount, quote.destination.get("accountId"))
        if account is not None and account.account_type in types:
            return rules.PAYOUT_RESULTS["UNKNOWN"]
        return original(unit, quote)

    return around(settlement, "result_of", result_of)


def _unquoted(*types: str) -> Apply:
    """Return a patch after which quotes to accounts of some types are refused."""

    def refuse_unable(account: ExternalAccount) -> None:
        if account.account_type in types:
            raise errors.Refusal("INVALID_BANK_ACCOUNT", "There is no rail to the account.")

    return before(parties, "refuse_unable", refuse_unable)


for _id, _types in {
    "EXT-601": ("USD_ACCOUNT", "MXN_ACCOUNT", "EUR_ACCOUNT"),
    "EXT-602": ("RWF_ACCOUNT",),
    "EXT-603": ("SOLANA_WALLET", "SPARK_WALLET"),
    "EXT-604": ("LIGHTNING",),
}.items():
    declare(_id, "unpaid", f"payouts to {_types[0]} fail", failing(*_types))
    declare(_id, "unquoted", f"no quote to {_types[0]} is created", _unquoted(*_types))


@mutant("EXT-970", "an account hides those of its customer that were created while it was checked")
def hidden_by_another(patch: Patch) -> None:
    create = externals.create

    def of_owner(unit: Unit, ask: Ask) -> set[str]:
        owner = ask.body.get("customerId") if isinstance(ask.body, dict) else None
        query = select(ExternalAccount.id).where(ExternalAccount.customer_id == owner)
        return set(unit.session.scalars(query))

    def look(unit: Unit, ask: Ask) -> tuple[Ask, set[str]]:
        return ask, of_owner(unit, ask)

    def act(unit: Unit, seen: tuple[Ask, set[str]]) -> Any:
        ask, before = seen
        for name in of_owner(unit, ask) - before:
            unit.session.get_one(ExternalAccount, name).deleted = True
        return create(unit, ask)

    patch.wrap(Service, "serve", in_two_steps(create, look, act))


@mutant("EXT-805", "one bank account is one account, whoever registers it", CREATE, around)
def one_for_all(original: Handler, unit: Unit, ask: Ask) -> Any:
    created = original(unit, ask)
    unit.session.flush()
    account = externals.get(unit, created["id"])
    others = select(ExternalAccount).where(
        ExternalAccount.account_type == account.account_type,
        ExternalAccount.customer_id != account.customer_id,
        ExternalAccount.deleted.is_(False),
    )
    for other in unit.session.scalars(others):
        if other.info == account.info:
            unit.session.delete(account)
            return externals.view(other)
    return created


@mutant("EXT-109", "what was deleted stays deleted when it is registered again", CREATE, around)
def deleted_for_ever(original: Handler, unit: Unit, ask: Ask) -> Any:
    created = original(unit, ask)
    unit.session.flush()
    account = externals.get(unit, created["id"])
    gone = select(ExternalAccount).where(
        ExternalAccount.customer_id == account.customer_id, ExternalAccount.deleted.is_(True)
    )
    account.deleted = any(one.info == account.info for one in unit.session.scalars(gone))
    return created


@mutant(
    "EXT-805",
    "an account goes to the customer who has one with its platformAccountId",
    CREATE,
    around,
)
def to_the_first(original: Handler, unit: Unit, ask: Ask) -> Any:
    created = original(unit, ask)
    unit.session.flush()
    account = externals.get(unit, created["id"])
    name = account.platform_account_id
    others = select(ExternalAccount).where(
        ExternalAccount.platform_account_id == name,
        ExternalAccount.customer_id != account.customer_id,
    )
    if name is not None and (first := unit.session.scalars(others).first()) is not None:
        account.customer_id = first.customer_id
    return externals.view(account)
