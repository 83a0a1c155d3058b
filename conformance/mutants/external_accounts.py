"""Mutants of external accounts: what is shown and listed, their deletion, and their refusals."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from sqlalchemy import select

from conformance.client.account_examples import account_example
from conformance.mutants.fields import (
    ALL,
    Edit,
    answering,
    asked,
    edited,
    put,
    refusing,
    taken,
)
from conformance.mutants.mutant import Patch, declare, mutant
from conformance.reference import errors, externals
from conformance.reference.store import ExternalAccount
from conformance.reference.unit import Ask, Unit

Json = dict[str, Any]
Handler = Callable[[Unit, Ask], Any]

_EXTERNALS = "conformance.reference.externals"
CREATE, READ, REMOVE = (f"{_EXTERNALS}:{name}" for name in ("create", "read", "remove"))
VIEW = f"{_EXTERNALS}:view"
FIND = f"{_EXTERNALS}:find"
LIST = f"{_EXTERNALS}:list_for_customers"
PLATFORM_LIST = f"{_EXTERNALS}:list_for_platform"


def wrapped(place: str, wrapper: Callable[[Handler], Handler]) -> Callable[[Patch], None]:
    """Return a patch that wraps a handler."""
    return lambda patch: patch.wrap(place, wrapper)


def siblings(unit: Unit, account: ExternalAccount) -> Iterable[ExternalAccount]:
    """Return all accounts of an account's owner, the oldest first."""
    query = select(ExternalAccount).where(ExternalAccount.customer_id == account.customer_id)
    return unit.session.scalars(query.order_by(ExternalAccount.created_at))


# --- What is shown --------------------------------------------------------------------------

SHOWN: tuple[tuple[str, str, str, str, Any], ...] = (
    ("EXT-009", "number", VIEW, "customerId", 17),
    ("EXT-009", "object", VIEW, "customerId", {"id": "Customer:1"}),
    ("EXT-010", "number", VIEW, "platformAccountId", 17),
    ("EXT-010", "object", VIEW, "platformAccountId", {}),
    ("EXT-011", "another", CREATE, "platformAccountId", "account-1"),
    ("EXT-012", "another", READ, "platformAccountId", "account-1"),
    ("EXT-014", "another", READ, "customerId", "Customer:1"),
    ("EXT-015", "another", READ, "currency", "EUR"),
    ("EXT-016", "another", CREATE, "accountInfo.accountType", "BANK_ACCOUNT"),
    ("EXT-017", "another", READ, "accountInfo.accountType", "BANK_ACCOUNT"),
    ("EXT-081", "another", LIST, f"data.{ALL}.customerId", "Customer:1"),
    ("EXT-091", "another", LIST, f"data.{ALL}.currency", "EUR"),
    ("EXT-092", "another", LIST, f"data.{ALL}.accountInfo.accountType", "BANK_ACCOUNT"),
    ("EXT-037", "stale", LIST, f"data.{ALL}.status", "ACTIVE"),
    ("EXT-087", "hidden", PLATFORM_LIST, "data", []),
)
"""Requirement, name, what shows it, and the member with its wrong value."""

for _requirement, _name, _place, _path, _value in SHOWN:
    declare(
        _requirement,
        _name,
        f"{_path.replace(f'data.{ALL}.', '')} is {json.dumps(_value)}",
        edited(_place, put(_path, _value)),
    )

declare("EXT-014", "unsaid", "reading does not say whose it is", edited(READ, taken("customerId")))


@mutant("EXT-013", "the platform has to have an id of its own")
def own_id_required(patch: Patch) -> None:
    patch.replace(
        f"{_EXTERNALS}:EXTERNAL_ACCOUNT_FIELDS",
        tuple(
            replace(row, required=True, nullable=False) if row.path == "platformAccountId" else row
            for row in externals.EXTERNAL_ACCOUNT_FIELDS
        ),
    )


@mutant("EXT-018", "a customer has one account of a type")
def one_of_a_type(patch: Patch) -> None:
    def wrapper(create: Handler) -> Handler:
        def once(unit: Unit, ask: Ask) -> Any:
            made: Json = create(unit, ask)
            unit.session.flush()
            account = externals.get(unit, made["id"])
            first = next(
                one
                for one in siblings(unit, account)
                if one.account_type == account.account_type and not one.deleted
            )
            return externals.view(first)

        return once

    patch.wrap(CREATE, wrapper)


@mutant("EXT-019", "the data of a customer's first account are read")
def first_one_read(patch: Patch) -> None:
    def wrapper(read: Handler) -> Handler:
        def first(unit: Unit, ask: Ask) -> Any:
            body: Json = read(unit, ask)
            account = externals.get(unit, body["id"])
            return {**externals.view(next(iter(siblings(unit, account)))), "id": account.id}

        return first

    patch.wrap(READ, wrapper)


# --- Lists ----------------------------------------------------------------------------------


def _forgetful(name: str) -> Callable[[Patch], None]:
    """Return a patch after which a list does not look at a parameter of its query."""

    def wrapper(original: Handler) -> Handler:
        def deaf(unit: Unit, ask: Ask) -> Any:
            query = {key: value for key, value in ask.query.items() if key != name}
            return original(unit, replace(ask, query=query))

        return deaf

    return wrapped(LIST, wrapper)


for _requirement in ("EXT-082", "EXT-083"):
    declare(_requirement, "all", "the accounts of all are listed", _forgetful("customerId"))


@mutant("EXT-089", "a customer who does not exist has the accounts of all")
def accounts_of_nobody(patch: Patch) -> None:
    def wrapper(original: Handler) -> Handler:
        def listed(unit: Unit, ask: Ask) -> Any:
            try:
                return original(unit, ask)
            except errors.Refusal:
                return original(unit, replace(ask, query={}))

        return listed

    patch.wrap(LIST, wrapper)


declare(
    "EXT-080",
    "one-missing",
    "the newest account is not listed",
    edited(LIST, lambda body: {**body, "data": body["data"][:-1]}),
)
declare("EXT-090", "one-page", "there is one page", edited(LIST, taken("nextCursor")))
declare("EXT-090", "same-page", "all pages are the first one", _forgetful("cursor"))


def _all_listed(_original: Handler) -> Handler:
    def everything(unit: Unit, _ask: Ask) -> Json:
        query = select(ExternalAccount).where(ExternalAccount.deleted.is_(False))
        return {"data": [externals.view(one) for one in unit.session.scalars(query)]}

    return everything


declare(
    "EXT-084",
    "customers-too",
    "customers' accounts are the platform's",
    wrapped(PLATFORM_LIST, _all_listed),
)
declare(
    "EXT-086",
    "customers-too",
    "customers' accounts are the platform's",
    wrapped(PLATFORM_LIST, _all_listed),
)


@mutant("EXT-085", "a platform's accounts are not listed without a customer")
def platform_refused(patch: Patch) -> None:
    def refuse(_unit: Unit, _ask: Ask) -> Json:
        raise errors.invalid_input(errors.field_error("customerId", "A value is required."))

    patch.replace(PLATFORM_LIST, refuse)


@mutant("EXT-088", "an account of the platform is said to be somebody's")
def owner_invented(patch: Patch) -> None:
    edited(VIEW, lambda body: {"customerId": "Customer:1", **body})(patch)


@mutant("EXT-093", "the platform's accounts are everybody's")
def platform_everywhere(patch: Patch) -> None:
    def wrapper(original: Handler) -> Handler:
        def both(unit: Unit, ask: Ask) -> Any:
            body: Json = original(unit, ask)
            own: Json = externals.list_for_platform(unit, replace(ask, query={}))
            return {**body, "data": [*own["data"], *body["data"]]}

        return both

    patch.wrap(LIST, wrapper)


@mutant("EXT-121", "an account without a customer is a conflict")
def no_owner_conflicts(patch: Patch) -> None:
    def wrapper(create: Handler) -> Handler:
        def owned(unit: Unit, ask: Ask) -> Any:
            if isinstance(ask.body, dict) and not ask.body.get("customerId"):
                raise errors.Refusal("CONFLICT", "The account has no owner.")
            return create(unit, ask)

        return owned

    patch.wrap(CREATE, wrapper)


# --- Deletion -------------------------------------------------------------------------------


def _found_again(patch: Patch) -> None:
    """Find accounts that were deleted."""
    patch.replace(FIND, lambda unit, name: unit.session.get(ExternalAccount, name))


for _requirement, _statement in (
    ("EXT-101", "a deleted account can be read"),
    ("EXT-105", "a deleted account can be paid"),
    ("EXT-108", "a deleted account can be looked up"),
):
    declare(_requirement, "found-again", _statement, _found_again)

declare(
    "EXT-100", "answers-200", "it is answered with 200", answering("deleteExternalAccount", 200)
)
declare(
    "EXT-100", "answers-202", "it is answered with 202", answering("deleteExternalAccount", 202)
)


@mutant("EXT-102", "a deleted account is listed")
def listed_again(patch: Patch) -> None:
    def wrapper(original: Handler) -> Handler:
        def remembering(unit: Unit, ask: Ask) -> Any:
            body: Json = original(unit, ask)
            query = select(ExternalAccount).where(
                ExternalAccount.deleted.is_(True),
                ExternalAccount.customer_id == ask.query.get("customerId"),
            )
            gone = [externals.view(one) for one in unit.session.scalars(query)]
            return {**body, "data": [*body["data"], *gone]}

        return remembering

    patch.wrap(LIST, wrapper)


def _careless(patch: Patch, forgives: Callable[[Unit, str], bool]) -> None:
    """Let a deletion pass that finds nothing."""

    def wrapper(remove: Handler) -> Handler:
        def forgiving(unit: Unit, ask: Ask) -> Any:
            if not forgives(unit, ask.params["externalAccountId"]):
                return remove(unit, ask)
            return None

        return forgiving

    patch.wrap(REMOVE, wrapper)


@mutant("EXT-103", "what does not exist is deleted")
def nothing_deleted(patch: Patch) -> None:
    _careless(patch, lambda unit, name: unit.session.get(ExternalAccount, name) is None)


@mutant("EXT-103", "what does not exist is a bad request")
def nothing_is_bad(patch: Patch) -> None:
    refusing("ACCOUNT_NOT_FOUND", 400)(patch)


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
    patch.replace(REMOVE, _swept(siblings))


@mutant("EXT-107", "all accounts of a type go with one")
def type_deleted(patch: Patch) -> None:
    patch.replace(REMOVE, _swept(_of_the_type))


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
        asked(CREATE, _guessed(_path, _is_wrong, _guess)),
    )


def _ownerless(is_meant: Callable[[str], bool]) -> Callable[[Patch], None]:
    """Return a patch after which an owner who does not exist is left out."""

    def wrapper(create: Handler) -> Handler:
        def lenient(unit: Unit, ask: Ask) -> Any:
            try:
                return create(unit, ask)
            except errors.Refusal as refusal:
                if refusal.code != "CUSTOMER_NOT_FOUND" or not is_meant(ask.body["customerId"]):
                    raise
                return create(unit, replace(ask, body={**ask.body, "customerId": None}))

        return lenient

    return wrapped(CREATE, wrapper)


declare(
    "EXT-120",
    "left-out",
    "a customer who does not exist is left out",
    _ownerless(lambda name: name.startswith("Customer:")),
)
declare("EXT-120", "conflict", "it is a conflict", refusing("CUSTOMER_NOT_FOUND", 409))
declare(
    "EXT-136",
    "left-out",
    "an owner who is no customer is left out",
    _ownerless(lambda name: not name.startswith("Customer:")),
)

_FIELD_ERROR = "conformance.reference.errors:field_error"

FIELDS: tuple[tuple[str, str, Edit], ...] = (
    ("body", "errors are all about the body", put("field", "body")),
    ("holder", "errors are about what holds the member", put("field", "request.body")),
)

for _name, _statement, _edit in FIELDS:
    declare("EXT-140", _name, _statement, edited(_FIELD_ERROR, _edit))


@mutant("EXT-141", "the first invalid field is reported alone")
def first_field_alone(patch: Patch) -> None:
    def wrapper(original: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *found: original(found[0])

    patch.wrap("conformance.reference.errors:invalid_input", wrapper)


@mutant("EXT-142", "an account is kept although it is refused")
def refused_and_kept(patch: Patch) -> None:
    def wrapper(create: Handler) -> Handler:
        def keeping(unit: Unit, ask: Ask) -> Any:
            try:
                return create(unit, ask)
            except errors.Refusal as refusal:
                create(unit, replace(ask, body={**ask.body, **USUAL}))
                raise errors.Rejection(refusal.code, refusal.reason, refusal.details) from refusal

        return keeping

    patch.wrap(CREATE, wrapper)
