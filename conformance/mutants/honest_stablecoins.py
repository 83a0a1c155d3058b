"""Honest variants of stablecoins: shapes, states, codes, and what is not offered."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from conformance.mutants.fields import answering
from conformance.mutants.honest import shown
from conformance.mutants.mutant import Patch
from conformance.mutants.stablecoins import CONDITIONS, handling, noting, recoded
from conformance.mutants.variant import declare, variant
from conformance.reference import errors, stablecoins
from conformance.reference.store import Stablecoin, StablecoinOperation
from conformance.reference.unit import Ask, Unit, clock

Handler = Callable[[Unit, Ask], Any]
Function = Callable[..., Any]

_HERE = "conformance.reference.stablecoins"
_CONTROL = "conformance.reference.stablecoin_control"
_CREATE = f"{_HERE}:create"
_HANDLERS = (f"{_HERE}:mint", f"{_HERE}:burn")
_MINT, _BURN = _HANDLERS
_A_MOMENT = 0.1


def _everywhere(places: tuple[str, ...], change: Callable[[str], Callable[[Patch], None]]) -> Any:
    """Return a patch that changes each of some places alike."""

    def apply(patch: Patch) -> None:
        for place in places:
            change(place)(patch)

    return apply


# --- Shapes ---------------------------------------------------------------------------------


@variant("M78", "identifiers of stablecoins and of operations have no type before them", "forms")
def bare_stablecoin_ids(patch: Patch) -> None:
    patch.replace(f"{_HERE}:new_id", lambda _kind: str(uuid.uuid4()))


@variant("N010", "of a stablecoin nothing is shown but its identifier", "absent")
def identifier_alone(patch: Patch) -> None:
    shown(f"{_HERE}:view", lambda body: {"id": body["id"]})(patch)


@variant("N011", "of an operation nothing is shown but its identifier", "absent")
def operation_alone(patch: Patch) -> None:
    shown(f"{_HERE}:operation_view", lambda body: {"id": body["id"]})(patch)


@variant("N028", "a mint and a burn are answered with an operation within something", "other forms")
def operations_wrapped(patch: Patch) -> None:
    _everywhere(_HANDLERS, lambda place: shown(place, lambda body: {"operation": body}))(patch)


@variant("N028", "a mint and a burn are answered with 204", "null")
def operations_without_body(patch: Patch) -> None:
    for operation in ("mintStablecoin", "burnStablecoin"):
        answering(operation, 204)(patch)


for _name, _status, _group in (("200", 200, "codes"), ("202", 202, "other codes")):
    declare(
        "N069",
        f"stablecoins-{_name}",
        f"a registration, a mint and a burn are answered with {_status}",
        _everywhere(
            ("createStablecoin", "mintStablecoin", "burnStablecoin"),
            partial(answering, status=_status),
        ),
        _group,
    )


@variant("N022", "an operation waits for its provider, and its state has another name", "forms")
def other_states(patch: Patch) -> None:
    shown(f"{_HERE}:operation_view", lambda body: {**body, "status": "WITH_PROVIDER"})(patch)


# --- What takes time ------------------------------------------------------------------------


@variant("N022", "an operation is listed, and what it minted is there, a moment later", "slow")
def tracked_late(patch: Patch) -> None:
    def wrapper(original: Function) -> Function:
        def older(coin: Stablecoin) -> Any:
            moment = clock() - round(_A_MOMENT * 1_000_000)
            return original(coin).where(StablecoinOperation.created_at < moment)

        return older

    patch.wrap(f"{_HERE}:operations_of", wrapper)


@variant("N010", "a stablecoin is provisioned a moment after it could be", "slow")
def provisioned_late(patch: Patch) -> None:
    def condition(original: Handler, unit: Unit, ask: Ask) -> Any:
        if ask.body.get("condition") != "PROVISIONED":
            return original(unit, ask)
        stablecoins.get(unit, ask.params["stablecoinId"])
        unit.later(_A_MOMENT, lambda later: original(later, ask))
        return None

    handling(f"{_CONTROL}:condition", condition)(patch)


@variant("N010", "a new stablecoin is provisioned at once", "forms")
def provisioned_at_once(patch: Patch) -> None:
    def create(original: Handler, unit: Unit, ask: Ask) -> Any:
        body = original(unit, ask)
        unit.session.flush()
        coin = stablecoins.get(unit, body["id"])
        coin.status = stablecoins.PROVISIONED
        return {**body, "issuanceStatus": coin.status}

    handling(_CREATE, create)(patch)


# --- How operations are refused -------------------------------------------------------------

_EXTERNAL = "STABLECOIN_EXTERNAL_ACCOUNT_NOT_FOUND"
_PROVIDER = "STABLECOIN_PROVIDER_ACCOUNT_NOT_FOUND"

for _point, _name, _place, _code, _other, _group in (
    ("M40", "no-stablecoin", "get", "STABLECOIN_NOT_FOUND", "NOT_FOUND", "codes"),
    ("M40", "no-external-account", "refuse_unknown_end", _EXTERNAL, "ACCOUNT_NOT_FOUND", "codes"),
    ("M40", "no-provider-account", "provider_account", _PROVIDER, "NOT_FOUND", "codes"),
    (
        "M41",
        "bad-external-account",
        "refuse_unknown_end",
        _EXTERNAL,
        "INVALID_INPUT",
        "other codes",
    ),
    ("M41", "bad-provider-account", "provider_account", _PROVIDER, "INVALID_INPUT", "other codes"),
):
    _say = f"{_other} comes in the place of {_code}"
    declare(_point, _name, _say, recoded(f"{_HERE}:{_place}", _code, _other), _group)


def _taken_for(table: str, name: str, code: str) -> Callable[[Patch], None]:
    rows = getattr(stablecoins, table.rpartition(":")[2])
    return lambda patch: patch.row(table, name, replace(rows[name], code=code))


for _, _table, _condition, _other in CONDITIONS:
    if _other:
        declare(
            "N045",
            f"stablecoin-{_condition.lower().replace('_', '-')}",
            f"{_condition} is told as {_other}",
            _taken_for(_table, _condition, _other),
            "codes",
        )


@variant("N011", "what the provider refuses is listed as an operation that failed", "other codes")
def failures_listed(patch: Patch) -> None:
    for code in ("STABLECOIN_PROVIDER_ERROR", "STABLECOIN_VERIFICATION_FAILED"):
        noting(code)(patch)


# --- What is not offered --------------------------------------------------------------------


def _not_offered(_original: Handler, _unit: Unit, _ask: Ask) -> Any:
    raise errors.Refusal("METHOD_NOT_ALLOWED", "This path does not take this method.")


for _name, _place, _group in (
    ("no-registration", _CREATE, "apart"),
    ("no-burns", _BURN, "other apart"),
    ("no-list", f"{_HERE}:list_all", "other apart"),
):
    declare(
        "N095",
        _name,
        f"{_name.replace('-', ' ')} of stablecoins is offered",
        handling(_place, _not_offered),
        _group,
    )
