"""Mutants of the states of internal accounts."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from conformance.proof.kit.builders import (
    Handler,
    Json,
    after,
    around,
    edited,
    instead,
    skipped,
    together,
)
from conformance.proof.kit.tables import with_row
from conformance.proof.mutant import declare, mutant
from conformance.proof.mutants.internal_accounts.toolkit import crediting, stranger
from conformance.proof.patch import Apply, Function, Patch
from conformance.reference import errors
from conformance.reference.customers import customers
from conformance.reference.internal_accounts import accounts, ledger
from conformance.reference.internal_accounts.accounts import RECEIVE, SEND
from conformance.reference.quotes import parties, quotes
from conformance.reference.store import InternalAccount, Quote
from conformance.reference.unit import Ask, Unit


def _moving(change: Function) -> Apply:
    """Return a patch after which accounts come to a state as ``change`` does it.

    It takes the unit, the account, the state and the function that moves it.
    """
    return around(
        accounts, "move", lambda move, unit, account, status: change(unit, account, status, move)
    )


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


def _without(status: str, rows: list[Json]) -> list[Json]:
    return [row for row in rows if row["status"] != status]


for _id, _status in (("ACC-144", "FAILED"), ("ACC-154", "FROZEN")):
    declare(
        _id,
        "unlisted",
        f"accounts that are {_status} are not listed",
        edited(accounts, "views", partial(_without, _status)),
    )


def _pending_as(status: str, body: Json) -> Json:
    return {**body, "status": status} if body["status"] == "PENDING" else body


for _status in ("FAILED", "FROZEN"):
    declare(
        "ACC-140",
        f"shown-{_status.lower()}",
        f"what is being provisioned is shown as {_status}",
        edited(accounts, "_view", partial(_pending_as, _status)),
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

for _id, (_status, _ability) in ABLE.items():
    declare(
        _id,
        f"{_status.lower()}-can-{_ability}",
        f"a {_status} account can {_ability}",
        with_row(accounts, "ABILITIES", _status, (_ability,)),
    )


def _at_executions_alone(patch: Patch) -> None:
    patch.wrap(
        parties,
        "refuse_blocked_later",
        lambda original, unit, quote: (
            None if quote.status == "PENDING_AUTHORIZATION" else original(unit, quote)
        ),
    )


for _id in ("ACC-149", "ACC-150", "ACC-157", "ACC-158"):
    declare(
        _id,
        "to-an-address",
        "the state of an account that pays a UMA address is not looked at",
        together(
            skipped(parties, "refuse_blocked", lambda _unit, _source, target: target.kind == "UMA"),
            skipped(
                parties,
                "refuse_blocked_later",
                lambda _unit, quote: quote.destination_kind == "UMA",
            ),
        ),
    )


def _of_one_owner(unit: Unit, quote: Quote) -> bool:
    if quote.destination_kind != "INTERNAL":
        return False
    return accounts.get(unit, quote.destination["accountId"]).customer_id == quote.customer_id


for _id in ("ACC-149", "ACC-150", "ACC-157", "ACC-158"):
    declare(
        _id,
        "to-its-owner",
        "the state of an account that pays its own owner is not looked at",
        together(
            skipped(
                parties,
                "refuse_blocked",
                lambda _unit, source, target: (
                    target.kind == "INTERNAL" and target.customer_id == source.customer_id
                ),
            ),
            skipped(parties, "refuse_blocked_later", _of_one_owner),
        ),
    )

for _id in ("ACC-150", "ACC-153", "ACC-158", "ACC-160"):
    declare(
        _id,
        "looked-at-once",
        "the state of an account is looked at when a quote is created, and not later",
        instead(parties, "refuse_blocked_later", lambda _unit, _quote: None),
    )


for _id in ("ACC-150", "ACC-158"):
    declare(
        _id,
        "proof",
        "a valid proof pays from an account in any state",
        _at_executions_alone,
    )


def _was_held(unit: Unit, account: InternalAccount) -> bool:
    if account.customer_id is None:
        return False
    return customers.has_condition(customers.get(unit, account.customer_id), accounts.HELD)


@mutant("ACC-142", "what arrives on an account that was provisioned late is lost", how=crediting)
def late_accounts_lose(unit: Unit, account: InternalAccount, amount: int, credit: Function) -> None:
    if not _was_held(unit, account):
        credit(unit, account, amount)


def _refuse_late(unit: Unit, party: parties.Party) -> None:
    if party.kind == "INTERNAL" and _was_held(unit, accounts.get(unit, str(party.account_id))):
        raise errors.Refusal("CONFLICT", "The account was provisioned late.")


declare(
    "ACC-143",
    "late-accounts-keep",
    "an account that was provisioned late never sends",
    after(parties, "refuse_blocked", lambda unit, source, _target: _refuse_late(unit, source)),
)
declare(
    "ACC-142",
    "late-accounts-refuse",
    "an account that was provisioned late is no destination",
    after(parties, "refuse_blocked", lambda unit, _source, target: _refuse_late(unit, target)),
)


def _with_stranger(
    target: str, unit: Unit, account: InternalAccount, status: str, move: Function
) -> None:
    move(unit, account, status)
    other = stranger(unit, account)
    if status == target and other is not None:
        other.status = status


for _id, _target in (("ACC-161", "FROZEN"), ("ACC-162", "FROZEN"), ("ACC-163", "CLOSED")):
    declare(
        _id,
        "somebody-else-too",
        f"the account of somebody else is {_target} too",
        _moving(partial(_with_stranger, _target)),
    )


def _taken_first(original: Function, unit: Unit, quote: Quote) -> None:
    try:
        original(unit, quote)
    except errors.Refusal:
        ledger.post(unit, quotes.debit_legs(quote))
        unit.session.commit()
        raise


for _id in ("ACC-150", "ACC-158"):
    declare(
        _id,
        "taken-first",
        "an execution takes the money before the state of its source refuses it",
        around(parties, "refuse_blocked_later", _taken_first),
    )


def _unchecked_at_once(patch: Patch) -> None:
    at_once: list[bool] = []

    def create(original: Handler, unit: Unit, ask: Ask) -> Any:
        at_once[:] = [ask.body.get("immediatelyExecute") is True]
        try:
            return original(unit, ask)
        finally:
            at_once.clear()

    def check(original: Function, unit: Unit, source: Any, destination: Any) -> None:
        if not any(at_once):
            original(unit, source, destination)

    def check_later(original: Function, unit: Unit, quote: Quote) -> None:
        if not any(at_once):
            original(unit, quote)

    patch.wrap(quotes, "create", create)
    patch.wrap(parties, "refuse_blocked", check)
    patch.wrap(parties, "refuse_blocked_later", check_later)


for _id in ("ACC-146", "ACC-153", "ACC-160"):
    declare(
        _id,
        "at-once",
        "the states of accounts are not looked at where a quote is executed as it is created",
        _unchecked_at_once,
    )


def _from_accounts_alone(
    original: Function, unit: Unit, source: parties.Party, destination: parties.Party
) -> None:
    if source.kind == "INTERNAL":
        original(unit, source, destination)


def _later_from_accounts_alone(original: Function, unit: Unit, quote: Quote) -> None:
    if quote.source_kind == "INTERNAL":
        original(unit, quote)


for _id in ("ACC-146", "ACC-153", "ACC-160"):
    declare(
        _id,
        "from-outside",
        "what is paid from outside arrives on an account in any state",
        together(
            around(parties, "refuse_blocked", _from_accounts_alone),
            around(parties, "refuse_blocked_later", _later_from_accounts_alone),
        ),
    )
