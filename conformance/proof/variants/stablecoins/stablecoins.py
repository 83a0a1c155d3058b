"""Conforming variants of stablecoins: shapes, states, codes, and what is not offered."""

from __future__ import annotations

import uuid
from typing import Any

from conformance.proof.kit.builders import Handler, Json, around, before, edited, recoded, together
from conformance.proof.kit.tables import answers
from conformance.proof.mutants.stablecoins.stablecoins import CONDITIONS
from conformance.proof.mutants.stablecoins.toolkit import noting, told_by
from conformance.proof.patch import Function, Patch
from conformance.proof.variant import declare, variant
from conformance.reference import errors
from conformance.reference.internal_accounts import ledger
from conformance.reference.stablecoins import stablecoin_control, stablecoins
from conformance.reference.store import InternalAccount, Stablecoin, StablecoinOperation
from conformance.reference.unit import Ask, Unit, clock, new_id

_HANDLERS = ((stablecoins, "mint"), (stablecoins, "burn"))
_MINT, _BURN = _HANDLERS
_A_MOMENT = 0.1


# --- Shapes ---------------------------------------------------------------------------------


@variant("M78", "identifiers of stablecoins and of operations have no type before them", "forms")
def bare_stablecoin_ids(patch: Patch) -> None:
    patch.replace(stablecoins, "new_id", lambda _kind: str(uuid.uuid4()))


declare(
    "N010",
    "identifier-alone",
    "of a stablecoin nothing is shown but its identifier",
    edited(stablecoins, "view", lambda body: {"id": body["id"]}),
    "absent",
)
declare(
    "N011",
    "operation-alone",
    "of an operation nothing is shown but its identifier",
    edited(stablecoins, "operation_view", lambda body: {"id": body["id"]}),
    "absent",
)
declare(
    "N028",
    "operations-wrapped",
    "a mint and a burn are answered with an operation within something",
    together(*(edited(*place, lambda body: {"operation": body}) for place in _HANDLERS)),
    "other forms",
)


def _with_other_id(body: Json) -> Json:
    return {**body, "id": new_id("Request")}


declare(
    "N028",
    "identifiers-of-requests",
    "a mint and a burn are answered with an identifier of the request, and not of the operation",
    together(*(edited(*place, _with_other_id) for place in _HANDLERS)),
    "other codes",
)
declare(
    "N028",
    "operations-without-body",
    "a mint and a burn are answered with 204",
    together(answers("mintStablecoin", 204), answers("burnStablecoin", 204)),
    "null",
)

for _name, _status, _group in (("200", 200, "codes"), ("202", 202, "other codes")):
    declare(
        "N069",
        f"stablecoins-{_name}",
        f"a registration, a mint and a burn are answered with {_status}",
        together(*(answers(f"{_verb}Stablecoin", _status) for _verb in ("create", "mint", "burn"))),
        _group,
    )

declare(
    "N022",
    "other-states",
    "an operation waits for its provider, and its state has another name",
    edited(stablecoins, "operation_view", lambda body: {**body, "status": "WITH_PROVIDER"}),
    "forms",
)


# --- What takes time ------------------------------------------------------------------------


@variant(
    "N022",
    "an operation is listed, and what it minted is there, a moment later",
    "slow",
    (stablecoins, "operations_of"),
)
def tracked_late(original: Function, coin: Stablecoin) -> Any:
    moment = clock() - round(_A_MOMENT * 1_000_000)
    return original(coin).where(StablecoinOperation.created_at < moment)


@variant(
    "N010",
    "a stablecoin is provisioned a moment after it could be",
    "slow",
    (stablecoin_control, "condition"),
    around,
)
def provisioned_late(original: Handler, unit: Unit, ask: Ask) -> Any:
    if ask.body.get("condition") != "PROVISIONED":
        return original(unit, ask)
    stablecoins.get(unit, ask.params["stablecoinId"])
    unit.later(_A_MOMENT, lambda later: original(later, ask))
    return None


@variant(
    "N010", "a new stablecoin is provisioned at once", "forms", (stablecoins, "create"), around
)
def provisioned_at_once(original: Handler, unit: Unit, ask: Ask) -> Any:
    body = original(unit, ask)
    unit.session.flush()
    coin = stablecoins.get(unit, body["id"])
    coin.status = stablecoins.PROVISIONED
    return {**body, "issuanceStatus": coin.status}


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
    declare(_point, _name, _say, recoded(stablecoins, _place, _other, _code), _group)

for _, _table, _condition, _other in CONDITIONS:
    if _other:
        declare(
            "N045",
            f"stablecoin-{_condition.lower().replace('_', '-')}",
            f"{_condition} is told as {_other}",
            told_by(_table, _condition, _other),
            "codes",
        )


@variant("N011", "what the provider refuses is listed as an operation that failed", "other codes")
def failures_listed(patch: Patch) -> None:
    for code in ("STABLECOIN_PROVIDER_ERROR", "STABLECOIN_VERIFICATION_FAILED"):
        noting(code)(patch)


# --- What operations take -------------------------------------------------------------------


@variant(
    "N011",
    "a mint takes a cent from the account that it names",
    "other forms",
    (stablecoins, "record"),
    before,
)
def minted_for_money(unit: Unit, _coin: Stablecoin, order: stablecoins.Order) -> None:
    account = unit.session.get(InternalAccount, str(order.end.get("accountId")))
    if order.kind != "MINT" or account is None:
        return
    available = ledger.available(account.id)
    if ledger.balances(unit, [account.id])[account.id][0]:
        taker = ledger.system("rail", account.currency)
        cent = ledger.Leg(available, account.currency, -1), ledger.Leg(taker, account.currency, 1)
        ledger.post(unit, cent)


# --- What is not offered --------------------------------------------------------------------


def _not_offered(_original: Handler, _unit: Unit, _ask: Ask) -> Any:
    raise errors.Refusal("METHOD_NOT_ALLOWED", "This path does not take this method.")


for _name, _handler, _group in (
    ("no-registration", (stablecoins, "create"), "apart"),
    ("no-burns", _BURN, "other apart"),
    ("no-list", (stablecoins, "list_all"), "other apart"),
):
    declare(
        "N095",
        _name,
        f"{_name.replace('-', ' ')} of stablecoins is offered",
        around(*_handler, _not_offered),
        _group,
    )
