"""Mutants of stablecoins: their registration, their operations, and what stops these."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from sqlalchemy import or_, select

from conformance.proof.kit.builders import (
    Handler,
    Json,
    Place,
    around,
    edited,
    invented,
    receives,
    recoded,
)
from conformance.proof.kit.edits import put
from conformance.proof.kit.tables import with_status
from conformance.proof.mutant import declare, mutant
from conformance.proof.mutants.stablecoins.toolkit import HANDLERS, noting, told_by
from conformance.proof.patch import Apply, Patch
from conformance.reference import errors
from conformance.reference.stablecoins import stablecoins
from conformance.reference.store import Stablecoin, StablecoinOperation
from conformance.reference.unit import Ask, Unit, new_id

if TYPE_CHECKING:
    from sqlalchemy import Select


def _nowhere(_original: Handler, _unit: Unit, _ask: Ask) -> Any:
    raise errors.Refusal("NOT_FOUND", "Nothing is served at this path.")


def _newest(original: Handler, unit: Unit, ask: Ask) -> Json:
    body: Json = original(unit, ask)
    return {"data": body["data"][:1], "hasMore": False}


# --- Stablecoins ----------------------------------------------------------------------------


for _id, _place, _name in (
    ("STC-001", (stablecoins, "create"), "no stablecoin can be registered"),
    ("STC-004", (stablecoins, "list_all"), "stablecoins are not listed"),
    ("STC-010", HANDLERS["MINT"], "nothing can be minted"),
    ("STC-020", HANDLERS["BURN"], "nothing can be burnt"),
    ("STC-030", (stablecoins, "operations"), "operations are not listed"),
):
    declare(_id, "not-served", _name, around(*_place, _nowhere))

for _name, _value in (("number", 17), ("empty", ""), ("object", {"value": "Stablecoin:1"})):
    _say = f"a registered stablecoin is identified by something {_name}"
    declare("STC-002", _name, _say, edited(stablecoins, "create", put("id", _value)))


@mutant("STC-003", "a second registration is answered with the first stablecoin")
def first_coin(patch: Patch) -> None:
    first: list[Json] = []

    def create(original: Handler, unit: Unit, ask: Ask) -> Json:
        first.append(original(unit, ask))
        return first[0]

    around(stablecoins, "create", create)(patch)


@mutant("STC-005", "only provisioned stablecoins are listed", (stablecoins, "list_all"), around)
def unprovisioned_hidden(original: Handler, unit: Unit, ask: Ask) -> Json:
    body: Json = original(unit, ask)
    ready = [row for row in body["data"] if row["issuanceStatus"] == stablecoins.PROVISIONED]
    return {**body, "data": ready}


declare(
    "STC-006",
    "newest-coin",
    "only the stablecoin registered last is listed",
    around(stablecoins, "list_all", _newest),
)


# --- Operations -----------------------------------------------------------------------------


def querying(change: Callable[[Select[Any], Stablecoin], Select[Any]]) -> Apply:
    """Return a patch after which other operations are found for a stablecoin."""
    return around(stablecoins, "operations_of", lambda original, coin: change(original(coin), coin))


def _without(kind: str, query: Select[Any], _coin: Stablecoin) -> Select[Any]:
    return query.where(StablecoinOperation.type != kind)


def _listed_everywhere(kind: str) -> Apply:
    def apply(patch: Patch) -> None:
        row = StablecoinOperation

        def change(_query: Select[Any], coin: Stablecoin) -> Select[Any]:
            return select(row).where(or_(row.stablecoin_id == coin.id, row.type == kind))

        querying(change)(patch)
        # Whose burns they are would matter there too.
        patch.replace(stablecoins, "refuse_uncovered", lambda _unit, _coin, _amount: None)

    return apply


def _once(kind: str, original: Handler, unit: Unit, ask: Ask) -> Json:
    """Take an operation that is like an earlier one for a repetition of it."""
    coin = stablecoins.get(unit, ask.params["stablecoinId"])
    for row in unit.session.scalars(stablecoins.operations_of(coin)):
        if row.type == kind and row.amount == ask.body["amount"]:
            return stablecoins.operation_view(row)
    body: Json = original(unit, ask)
    return body


def _identified_anew(body: Json) -> Json:
    return {**body, "id": new_id("StablecoinOperation")}


for _number, _kind in ((10, "MINT"), (20, "BURN")):
    _ids = [f"STC-{_number + _step:03d}" for _step in range(7)]
    _word, _handler = _kind.lower(), HANDLERS[_kind]
    declare(_ids[1], "untracked", f"a {_word} is not listed", querying(partial(_without, _kind)))
    declare(
        _ids[2],
        "renamed",
        f"a {_word} is answered with another identifier than it is listed by",
        edited(*_handler, _identified_anew),
    )
    declare(
        _ids[3],
        "everywhere",
        f"a {_word} is listed under each stablecoin",
        _listed_everywhere(_kind),
    )
    declare(
        _ids[4],
        "once",
        f"a {_word} of the same amount counts as a repetition",
        around(*_handler, partial(_once, _kind)),
    )
    declare(
        _ids[5],
        "alike",
        f"each {_word} has the same identifier",
        edited(*_handler, put("id", "StablecoinOperation:1")),
    )
    declare(
        _ids[6],
        "number",
        f"a {_word} is identified by a number",
        edited(*_handler, put("id", 17)),
    )

for _id, _word in (("STC-031", "mints"), ("STC-032", "burns")):
    _say = f"{_word} are gone once something else is done"
    declare(_id, "newest-alone", _say, around(stablecoins, "operations", _newest))


# --- What does not exist --------------------------------------------------------------------


for _id, _place in (
    ("STC-040", HANDLERS["MINT"]),
    ("STC-042", HANDLERS["BURN"]),
    ("STC-044", (stablecoins, "operations")),
):
    _say = "of a stablecoin that does not exist something is shown"
    declare(_id, "invented", _say, invented(*_place, "stablecoinId"))
    declare(_id, "bad-request", "it is a bad request", with_status("STABLECOIN_NOT_FOUND", 400))

for _id, _place, _code, _other in (
    ("STC-041", (stablecoins, "get"), "STABLECOIN_NOT_FOUND", "CUSTOMER_NOT_FOUND"),
    ("STC-043", (stablecoins, "get"), "STABLECOIN_NOT_FOUND", "ACCOUNT_NOT_FOUND"),
    ("STC-045", (stablecoins, "get"), "STABLECOIN_NOT_FOUND", "TRANSACTION_NOT_FOUND"),
    (
        "STC-048",
        (stablecoins, "refuse_unknown_end"),
        "STABLECOIN_EXTERNAL_ACCOUNT_NOT_FOUND",
        "CUSTOMER_NOT_FOUND",
    ),
    (
        "STC-051",
        (stablecoins, "provider_account"),
        "STABLECOIN_PROVIDER_ACCOUNT_NOT_FOUND",
        "STABLECOIN_NOT_FOUND",
    ),
    (
        "STC-061",
        (stablecoins, "provider_account"),
        "STABLECOIN_PROVIDER_ACCOUNT_SELECTION_REQUIRED",
        "INVALID_INPUT",
    ),
    (
        "STC-121",
        (stablecoins, "refuse_unrepresentable"),
        "STABLECOIN_AMOUNT_NOT_REPRESENTABLE",
        "INVALID_AMOUNT",
    ),
    (
        "STC-211",
        (stablecoins, "refuse_unprovisioned"),
        "STABLECOIN_NOT_PROVISIONED",
        "STABLECOIN_OPERATION_NOT_SUPPORTED",
    ),
):
    _say = f"{_other} comes in the place of {_code}"
    declare(_id, "another-code", _say, recoded(*_place, _other, _code))

for _id, _code in (
    ("STC-047", "STABLECOIN_EXTERNAL_ACCOUNT_NOT_FOUND"),
    ("STC-050", "STABLECOIN_PROVIDER_ACCOUNT_NOT_FOUND"),
    ("STC-060", "STABLECOIN_PROVIDER_ACCOUNT_SELECTION_REQUIRED"),
    ("STC-120", "STABLECOIN_AMOUNT_NOT_REPRESENTABLE"),
    ("STC-210", "STABLECOIN_NOT_PROVISIONED"),
):
    declare(_id, "conflict", f"{_code} comes with 409", with_status(_code, 409))


@mutant("STC-047", "whether an external account exists is not looked at")
def any_external(patch: Patch) -> None:
    patch.replace(stablecoins, "refuse_unknown_end", lambda _unit, _kind, _end: None)


def _unlooked_at(kind: str) -> Apply:
    """Return the patch that lets one kind of operations name any internal account."""

    def refuse(original: Callable[..., None], unit: Unit, of: str, end: Json) -> None:
        if of != kind or end.get("accountId") is None:
            original(unit, of, end)

    return around(stablecoins, "refuse_unknown_end", refuse)


for _kind in ("MINT", "BURN"):
    declare(
        "STC-871",
        _kind.lower(),
        f"whether the internal account of a {_kind} exists is not looked at",
        _unlooked_at(_kind),
    )


@mutant("STC-872", "an unknown provider account of a burn is passed over for the first one")
def unknown_of_burn_passed_over(patch: Patch) -> None:
    burning: list[bool] = []

    def operate(original: Callable[..., Any], unit: Unit, ask: Ask, kind: str) -> Any:
        burning[:] = [kind == "BURN"]
        return original(unit, ask, kind)

    def account(original: Callable[..., str], coin: Stablecoin, named: str | None) -> str:
        unknown = named is not None and named not in coin.provider_accounts
        return coin.provider_accounts[0] if unknown and burning == [True] else original(coin, named)

    patch.wrap(stablecoins, "_operate", operate)
    patch.wrap(stablecoins, "provider_account", account)


# --- Links to the provider ------------------------------------------------------------------


@mutant(
    "STC-050",
    "a provider account that does not exist is passed over for the first one",
    (stablecoins, "provider_account"),
)
def unknown_passed_over(original: Callable[..., str], coin: Stablecoin, named: str | None) -> str:
    known = named is None or named in coin.provider_accounts
    return original(coin, named) if known else coin.provider_accounts[0]


@mutant("STC-060", "of several links the first one is taken")
def first_link(patch: Patch) -> None:
    patch.wrap(
        stablecoins,
        "provider_account",
        lambda original, coin, named: original(coin, named or coin.provider_accounts[0]),
    )


@mutant("STC-063", "which of several links is named is not heard")
def choice_unheard(patch: Patch) -> None:
    patch.wrap(stablecoins, "provider_account", lambda original, coin, _named: original(coin, None))


@mutant("STC-064", "what goes by another link than the first one is not listed", how=querying)
def first_link_listed(query: Select[Any], coin: Stablecoin) -> Select[Any]:
    return query.where(StablecoinOperation.provider_account == coin.provider_accounts[0])


# --- What stands in the way -----------------------------------------------------------------


_SUPPORTED = "STABLECOIN_OPERATION_NOT_SUPPORTED"


_EXTERNAL = "STABLECOIN_EXTERNAL_ACCOUNT"


CONDITIONS: tuple[tuple[int, Place, str, str], ...] = (
    (100, (stablecoins, "OBSTACLES"), "PROVIDER_INVALID", ""),
    (110, (stablecoins, "OBSTACLES"), "PROVIDER_REVOKED", ""),
    (130, (stablecoins, "OBSTACLES"), "SOURCE_UNSUPPORTED", _SUPPORTED),
    (140, (stablecoins, "LINK_OBSTACLES"), "LINK_FAILED", f"{_EXTERNAL}_PROVIDER_LINK_FAILED"),
    (150, (stablecoins, "LINK_OBSTACLES"), "LINK_METHOD_UNKNOWN", f"{_EXTERNAL}_NOT_LINKED"),
    (
        160,
        (stablecoins, "LINK_OBSTACLES"),
        "ACCOUNT_UNLINKED",
        f"{_EXTERNAL}_PROVIDER_LINK_REQUIRED",
    ),
    (170, (stablecoins, "LINK_OBSTACLES"), "ACCOUNT_UNSUPPORTED", _SUPPORTED),
    (180, (stablecoins, "LINK_OBSTACLES"), "PROVIDER_LINK_FAILED", "STABLECOIN_PROVIDER_ERROR"),
    (190, (stablecoins, "LINK_OBSTACLES"), "PROVIDER_LINK_MISSING", f"{_EXTERNAL}_NOT_LINKED"),
    (200, (stablecoins, "OBSTACLES"), "OPERATIONS_DISABLED", _SUPPORTED),
    (
        220,
        (stablecoins, "OBSTACLES"),
        "OPERATION_UNSUPPORTED",
        "STABLECOIN_SERVICE_OPERATIONS_NOT_ENABLED",
    ),
    (230, (stablecoins, "OBSTACLES"), "PROVIDER_DOWN", ""),
    (240, (stablecoins, "OBSTACLES"), "SOURCE_UNLINKED", ""),
    (250, (stablecoins, "OBSTACLES"), "VERIFICATION_FAILED", ""),
)
"""Number of the first requirement, table, condition, and a code that may be taken for its own."""

_REFUSERS = {"OBSTACLES": "refuse_obstacle", "LINK_OBSTACLES": "refuse_link"}
"""By the name of a table of conditions the function that looks at it."""


def _unseen(table: Place, name: str) -> Apply:
    """Let a condition stand in the way of nothing."""

    def apply(patch: Patch) -> None:
        def refuse(original: Callable[..., None], coin: Stablecoin, about: Any) -> None:
            if name not in (*coin.conditions, coin.links.get(about)):
                original(coin, about)

        patch.wrap(stablecoins, _REFUSERS[table[1]], refuse)

    return apply


for _number, _table, _condition, _other in CONDITIONS:
    _first, _second, _third, _last = (f"STC-{_number + _step}" for _step in range(4))
    _code = getattr(*_table)[_condition].code
    declare(_first, "unseen", f"{_condition} is not seen", _unseen(_table, _condition))
    declare(_first, "conflict", f"{_code} comes with 409", with_status(_code, 409))
    declare(
        _second,
        "another-code",
        f"{_condition} is told as a wrong value of the body",
        told_by(_table, _condition, "INVALID_INPUT"),
    )
    if _other:
        _say = f"{_condition} is told as {_other}"
        declare(_third, "similar-code", _say, told_by(_table, _condition, _other))
    declare(_last, "left-behind", f"what {_code} refuses is listed", noting(_code))

for _id, _code in (
    ("STC-049", "STABLECOIN_EXTERNAL_ACCOUNT_NOT_FOUND"),
    ("STC-052", "STABLECOIN_PROVIDER_ACCOUNT_NOT_FOUND"),
    ("STC-062", "STABLECOIN_PROVIDER_ACCOUNT_SELECTION_REQUIRED"),
    ("STC-123", "STABLECOIN_AMOUNT_NOT_REPRESENTABLE"),
    ("STC-213", "STABLECOIN_NOT_PROVISIONED"),
):
    declare(_id, "left-behind", f"what {_code} refuses is listed", noting(_code))


@mutant("STC-120", "an amount of any size is minted")
def any_amount(patch: Patch) -> None:
    patch.replace(stablecoins, "refuse_unrepresentable", lambda _coin, _amount: None)


def _cut(body: Json) -> Json:
    return {**body, "amount": body["amount"][:4]}


for _requirement in ("STC-870", "STC-123"):
    declare(
        _requirement,
        "burn-cut",
        "the amount of a burn is cut to what can be represented",
        receives(stablecoins, "burn", _cut),
    )


def _cut_where_external(body: Json) -> Json:
    return _cut(body) if "externalAccountId" in body["destination"] else body


declare(
    "STC-870",
    "external-cut",
    "the amount of a mint to an external account is cut to what can be represented",
    receives(stablecoins, "mint", _cut_where_external),
)


@mutant("STC-210", "a stablecoin is minted before it is set up")
def minted_early(patch: Patch) -> None:
    patch.replace(stablecoins, "refuse_unprovisioned", lambda _coin: None)


def _without_external(body: Json) -> Json:
    rows = [row for row in body["data"] if "ExternalAccount:" not in str(row)]
    return {**body, "data": rows}


for _requirement in ("STC-011", "STC-012"):
    declare(
        _requirement,
        "external",
        "what is minted to an external account is not listed",
        edited(stablecoins, "operations", _without_external),
    )
