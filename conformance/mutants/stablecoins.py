"""Mutants of stablecoins: their registration, their operations, and what stands in the way."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from sqlalchemy import or_, select

from conformance.mutants.authentication import without_credentials
from conformance.mutants.fields import edited, invented, put, refusing
from conformance.mutants.mutant import Patch, declare, mutant
from conformance.reference import app, errors, stablecoins
from conformance.reference.stablecoins import Order
from conformance.reference.store import Json, Stablecoin, StablecoinOperation
from conformance.reference.unit import Ask, Unit, new_id

if TYPE_CHECKING:
    from sqlalchemy import Select
    from starlette.types import Receive, Scope, Send

Handler = Callable[[Unit, Ask], Any]
Apply = Callable[[Patch], None]

_HERE = "conformance.reference.stablecoins"
_CREATE = f"{_HERE}:create"
_LIST = f"{_HERE}:list_all"
_TRACK = f"{_HERE}:operations"
_QUERY = f"{_HERE}:operations_of"
_OBSTACLES = f"{_HERE}:OBSTACLES"
_LINKS = f"{_HERE}:LINK_OBSTACLES"
_PROVIDER = f"{_HERE}:provider_account"
_CODES = "conformance.reference.rules:ERROR_STATUS"

_HANDLERS: Mapping[str, str] = {"MINT": f"{_HERE}:mint", "BURN": f"{_HERE}:burn"}


def handling(place: str, change: Callable[[Handler, Unit, Ask], Any]) -> Apply:
    """Return a patch after which a handler answers as ``change`` does with the original."""
    return lambda patch: patch.wrap(
        place, lambda original: lambda unit, ask: change(original, unit, ask)
    )


def _nowhere(_original: Handler, _unit: Unit, _ask: Ask) -> Any:
    raise errors.Refusal("NOT_FOUND", "Nothing is served at this path.")


def _newest(original: Handler, unit: Unit, ask: Ask) -> Json:
    body: Json = original(unit, ask)
    return {"data": body["data"][:1], "hasMore": False}


# --- Stablecoins ----------------------------------------------------------------------------

for _id, _place, _name in (
    ("STC-001", _CREATE, "no stablecoin can be registered"),
    ("STC-004", _LIST, "stablecoins are not listed"),
    ("STC-010", _HANDLERS["MINT"], "nothing can be minted"),
    ("STC-020", _HANDLERS["BURN"], "nothing can be burnt"),
    ("STC-030", _TRACK, "operations are not listed"),
):
    declare(_id, "not-served", _name, handling(_place, _nowhere))

for _name, _value in (("number", 17), ("empty", ""), ("object", {"value": "Stablecoin:1"})):
    _say = f"a registered stablecoin is identified by something {_name}"
    declare("STC-002", _name, _say, edited(_CREATE, put("id", _value)))


@mutant("STC-003", "a second registration is answered with the first stablecoin")
def first_coin(patch: Patch) -> None:
    first: list[Json] = []

    def create(original: Handler, unit: Unit, ask: Ask) -> Json:
        first.append(original(unit, ask))
        return first[0]

    handling(_CREATE, create)(patch)


@mutant("STC-005", "only provisioned stablecoins are listed")
def unprovisioned_hidden(patch: Patch) -> None:
    def list_all(original: Handler, unit: Unit, ask: Ask) -> Json:
        body: Json = original(unit, ask)
        ready = [row for row in body["data"] if row["issuanceStatus"] == stablecoins.PROVISIONED]
        return {**body, "data": ready}

    handling(_LIST, list_all)(patch)


@mutant("STC-006", "only the stablecoin registered last is listed")
def newest_coin(patch: Patch) -> None:
    handling(_LIST, _newest)(patch)


# --- Operations -----------------------------------------------------------------------------


def querying(change: Callable[[Select[Any], Stablecoin], Select[Any]]) -> Apply:
    """Return a patch after which other operations are found for a stablecoin."""
    return lambda patch: patch.wrap(
        _QUERY, lambda original: lambda coin: change(original(coin), coin)
    )


def _without(kind: str, query: Select[Any], _coin: Stablecoin) -> Select[Any]:
    return query.where(StablecoinOperation.type != kind)


def _listed_everywhere(kind: str, patch: Patch) -> None:
    row = StablecoinOperation

    def change(_query: Select[Any], coin: Stablecoin) -> Select[Any]:
        return select(row).where(or_(row.stablecoin_id == coin.id, row.type == kind))

    querying(change)(patch)
    # Whose burns they are would matter there too.
    patch.replace(f"{_HERE}:refuse_uncovered", lambda _unit, _coin, _amount: None)


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
    _word, _handler = _kind.lower(), _HANDLERS[_kind]
    declare(_ids[1], "untracked", f"a {_word} is not listed", querying(partial(_without, _kind)))
    declare(
        _ids[2],
        "renamed",
        f"a {_word} is answered with another identifier than it is listed by",
        edited(_handler, _identified_anew),
    )
    declare(
        _ids[3],
        "everywhere",
        f"a {_word} is listed under each stablecoin",
        partial(_listed_everywhere, _kind),
    )
    declare(
        _ids[4],
        "once",
        f"a {_word} of the same amount counts as a repetition",
        handling(_handler, partial(_once, _kind)),
    )
    declare(
        _ids[5],
        "alike",
        f"each {_word} has the same identifier",
        edited(_handler, put("id", "StablecoinOperation:1")),
    )
    declare(
        _ids[6],
        "number",
        f"a {_word} is identified by a number",
        edited(_handler, put("id", 17)),
    )

for _id, _word in (("STC-031", "mints"), ("STC-032", "burns")):
    _say = f"{_word} are gone once something else is done"
    declare(_id, "newest-alone", _say, handling(_TRACK, _newest))


# --- What does not exist --------------------------------------------------------------------

for _id, _place in (
    ("STC-040", _HANDLERS["MINT"]),
    ("STC-042", _HANDLERS["BURN"]),
    ("STC-044", _TRACK),
):
    _say = "of a stablecoin that does not exist something is shown"
    declare(_id, "invented", _say, invented(_place, "stablecoinId"))
    declare(_id, "bad-request", "it is a bad request", refusing("STABLECOIN_NOT_FOUND", 400))


def recoded(place: str, code: str, other: str) -> Apply:
    """Return a patch after which a function refuses with another code in the place of one."""

    def wrapper(original: Callable[..., Any]) -> Callable[..., Any]:
        def refuse(*arguments: Any) -> Any:
            try:
                return original(*arguments)
            except errors.Refusal as refusal:
                if refusal.code != code:
                    raise
                raise errors.Refusal(other, refusal.reason) from None

        return refuse

    return lambda patch: patch.wrap(place, wrapper)


for _id, _place, _code, _other in (
    ("STC-041", f"{_HERE}:get", "STABLECOIN_NOT_FOUND", "CUSTOMER_NOT_FOUND"),
    ("STC-043", f"{_HERE}:get", "STABLECOIN_NOT_FOUND", "ACCOUNT_NOT_FOUND"),
    ("STC-045", f"{_HERE}:get", "STABLECOIN_NOT_FOUND", "TRANSACTION_NOT_FOUND"),
    (
        "STC-048",
        f"{_HERE}:refuse_unknown_end",
        "STABLECOIN_EXTERNAL_ACCOUNT_NOT_FOUND",
        "CUSTOMER_NOT_FOUND",
    ),
    ("STC-051", _PROVIDER, "STABLECOIN_PROVIDER_ACCOUNT_NOT_FOUND", "STABLECOIN_NOT_FOUND"),
    ("STC-061", _PROVIDER, "STABLECOIN_PROVIDER_ACCOUNT_SELECTION_REQUIRED", "INVALID_INPUT"),
    (
        "STC-121",
        f"{_HERE}:refuse_unrepresentable",
        "STABLECOIN_AMOUNT_NOT_REPRESENTABLE",
        "INVALID_AMOUNT",
    ),
    (
        "STC-211",
        f"{_HERE}:refuse_unprovisioned",
        "STABLECOIN_NOT_PROVISIONED",
        "STABLECOIN_OPERATION_NOT_SUPPORTED",
    ),
):
    _say = f"{_other} comes in the place of {_code}"
    declare(_id, "another-code", _say, recoded(_place, _code, _other))

for _id, _code in (
    ("STC-047", "STABLECOIN_EXTERNAL_ACCOUNT_NOT_FOUND"),
    ("STC-050", "STABLECOIN_PROVIDER_ACCOUNT_NOT_FOUND"),
    ("STC-060", "STABLECOIN_PROVIDER_ACCOUNT_SELECTION_REQUIRED"),
    ("STC-120", "STABLECOIN_AMOUNT_NOT_REPRESENTABLE"),
    ("STC-210", "STABLECOIN_NOT_PROVISIONED"),
):
    declare(_id, "conflict", f"{_code} comes with 409", refusing(_code, 409))


@mutant("STC-047", "whether an external account exists is not looked at")
def any_external(patch: Patch) -> None:
    patch.replace(f"{_HERE}:refuse_unknown_end", lambda _unit, _kind, _end: None)


# --- Links to the provider ------------------------------------------------------------------


@mutant("STC-050", "a provider account that does not exist is passed over for the first one")
def unknown_passed_over(patch: Patch) -> None:
    def wrapper(original: Callable[..., str]) -> Callable[..., str]:
        def chosen(coin: Stablecoin, named: str | None) -> str:
            known = named is None or named in coin.provider_accounts
            return original(coin, named) if known else coin.provider_accounts[0]

        return chosen

    patch.wrap(_PROVIDER, wrapper)


@mutant("STC-060", "of several links the first one is taken")
def first_link(patch: Patch) -> None:
    def wrapper(original: Callable[..., str]) -> Callable[..., str]:
        return lambda coin, named: original(coin, named or coin.provider_accounts[0])

    patch.wrap(_PROVIDER, wrapper)


@mutant("STC-063", "which of several links is named is not heard")
def choice_unheard(patch: Patch) -> None:
    patch.wrap(_PROVIDER, lambda original: lambda coin, _named: original(coin, None))


@mutant("STC-064", "what goes by another link than the first one is not listed")
def first_link_listed(patch: Patch) -> None:
    def change(query: Select[Any], coin: Stablecoin) -> Select[Any]:
        return query.where(StablecoinOperation.provider_account == coin.provider_accounts[0])

    querying(change)(patch)


# --- Credentials ----------------------------------------------------------------------------

for _id, _operation in (
    ("STC-070", "listStablecoins"),
    ("STC-071", "createStablecoin"),
    ("STC-072", "mintStablecoin"),
    ("STC-073", "burnStablecoin"),
    ("STC-074", "listStablecoinOperations"),
):
    _say = f"{_operation} is open to anybody"
    declare(_id, "open", _say, without_credentials(_operation))


@mutant("STC-075", "credentials are looked at when it is minted already")
def credentials_late(patch: Patch) -> None:
    """Serve first, and look then."""

    def wrapper(original: Callable[..., Any]) -> Any:
        async def call(self: app.BasicAuth, scope: Scope, receive: Receive, send: Send) -> None:
            async def unheard(_message: Any) -> None:
                return None

            minting = scope["type"] == "http" and scope["path"].endswith("/mints")
            if minting and not dict(scope["headers"]).get(b"authorization"):
                await self._app(scope, receive, unheard)
            await original(self, scope, receive, send)

        return call

    patch.wrap("conformance.reference.app:BasicAuth.__call__", wrapper)


# --- What stands in the way -----------------------------------------------------------------

_SUPPORTED = "STABLECOIN_OPERATION_NOT_SUPPORTED"
_EXTERNAL = "STABLECOIN_EXTERNAL_ACCOUNT"

CONDITIONS: tuple[tuple[int, str, str, str], ...] = (
    (100, _OBSTACLES, "PROVIDER_INVALID", ""),
    (110, _OBSTACLES, "PROVIDER_REVOKED", ""),
    (130, _OBSTACLES, "SOURCE_UNSUPPORTED", _SUPPORTED),
    (140, _LINKS, "LINK_FAILED", f"{_EXTERNAL}_PROVIDER_LINK_FAILED"),
    (150, _LINKS, "LINK_METHOD_UNKNOWN", f"{_EXTERNAL}_NOT_LINKED"),
    (160, _LINKS, "ACCOUNT_UNLINKED", f"{_EXTERNAL}_PROVIDER_LINK_REQUIRED"),
    (170, _LINKS, "ACCOUNT_UNSUPPORTED", _SUPPORTED),
    (180, _LINKS, "PROVIDER_LINK_FAILED", "STABLECOIN_PROVIDER_ERROR"),
    (190, _LINKS, "PROVIDER_LINK_MISSING", f"{_EXTERNAL}_NOT_LINKED"),
    (200, _OBSTACLES, "OPERATIONS_DISABLED", _SUPPORTED),
    (220, _OBSTACLES, "OPERATION_UNSUPPORTED", "STABLECOIN_SERVICE_OPERATIONS_NOT_ENABLED"),
    (230, _OBSTACLES, "PROVIDER_DOWN", ""),
    (240, _OBSTACLES, "SOURCE_UNLINKED", ""),
    (250, _OBSTACLES, "VERIFICATION_FAILED", ""),
)
"""Number of the first requirement, table, condition, and a code that may be taken for its own."""


def _told_by(table: str, name: str, code: str) -> Apply:
    rows = getattr(stablecoins, table.rpartition(":")[2])
    return lambda patch: patch.row(table, name, replace(rows[name], code=code))


def _unseen(table: str, name: str, patch: Patch) -> None:
    """Let a condition stand in the way of nothing."""

    def wrapper(original: Callable[..., None]) -> Callable[..., None]:
        def refuse(coin: Stablecoin, about: Any) -> None:
            if name not in (*coin.conditions, coin.links.get(about)):
                original(coin, about)

        return refuse

    patch.wrap(f"{_HERE}:refuse_{'obstacle' if table == _OBSTACLES else 'link'}", wrapper)


def noting(code: str) -> Apply:
    """Return a patch after which what is refused with a code is an operation nevertheless."""

    def note(original: Handler, unit: Unit, ask: Ask) -> Any:
        try:
            return original(unit, ask)
        except errors.Refusal as refusal:
            if refusal.code != code:
                raise
            coin = stablecoins.get(unit, ask.params["stablecoinId"])
            kind = "MINT" if "destination" in ask.body else "BURN"
            end = ask.body[stablecoins.KINDS[kind].end]
            stablecoins.record(unit, coin, Order(kind, 1, end, coin.provider_accounts[0]))
            raise errors.Rejection(refusal.code, refusal.reason) from None

    def apply(patch: Patch) -> None:
        for place in _HANDLERS.values():
            handling(place, note)(patch)

    return apply


for _number, _table, _condition, _other in CONDITIONS:
    _first, _second, _third, _last = (f"STC-{_number + _step}" for _step in range(4))
    _code = getattr(stablecoins, _table.rpartition(":")[2])[_condition].code
    declare(_first, "unseen", f"{_condition} is not seen", partial(_unseen, _table, _condition))
    declare(_first, "conflict", f"{_code} comes with 409", refusing(_code, 409))
    declare(
        _second,
        "another-code",
        f"{_condition} is told as a wrong value of the body",
        _told_by(_table, _condition, "INVALID_INPUT"),
    )
    if _other:
        _say = f"{_condition} is told as {_other}"
        declare(_third, "similar-code", _say, _told_by(_table, _condition, _other))
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
    patch.replace(f"{_HERE}:refuse_unrepresentable", lambda _coin, _amount: None)


@mutant("STC-210", "a stablecoin is minted before it is set up")
def minted_early(patch: Patch) -> None:
    patch.replace(f"{_HERE}:refuse_unprovisioned", lambda _coin: None)
