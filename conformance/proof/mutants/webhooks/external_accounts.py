"""Mutants of the webhooks of external accounts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlalchemy import select

from conformance.proof.kit.builders import instead
from conformance.proof.mutant import declare, mutant
from conformance.proof.mutants.external_accounts.toolkit import (
    APPROVED,
    DEMANDED,
    DISABLED,
    DISPROVED,
    PROVED,
    REVIEWED,
    WAITS_NO_MORE,
    moving,
    siblings,
)
from conformance.proof.patch import Apply
from conformance.reference.external_accounts import externals
from conformance.reference.store import Customer, ExternalAccount
from conformance.reference.unit import Unit

# --- Statuses -------------------------------------------------------------------------------


def _silently(_unit: Unit, account: ExternalAccount, status: str) -> None:
    account.status = status


# --- Webhooks -------------------------------------------------------------------------------


for _requirement, _move in (
    ("EVT-122", APPROVED),
    ("EVT-123", REVIEWED),
    ("EVT-124", DISABLED),
    ("EVT-125", DEMANDED),
    ("EVT-126", PROVED),
    ("EVT-127", DISPROVED),
    ("EVT-128", PROVED),
    ("EVT-129", DISPROVED),
    ("EVT-132", WAITS_NO_MORE),
):
    declare(_requirement, "silent", "nobody is told", moving(_move, _silently))


def _told_with_the_old_status(unit: Unit, account: ExternalAccount, status: str) -> None:
    before = externals.view(account)["status"]
    account.status = status
    unit.emit(externals.STATUS_EVENT, {**externals.view(account), "status": before})


for _requirement, _move in (
    ("EVT-123", REVIEWED),
    ("EVT-126", PROVED),
    ("EVT-127", DISPROVED),
    ("EVT-132", WAITS_NO_MORE),
):
    declare(
        _requirement,
        "old-status",
        "the status before is told",
        moving(_move, _told_with_the_old_status),
    )


def _silently_of(account_type: str) -> Callable[..., None]:
    def move(unit: Unit, account: ExternalAccount, status: str) -> None:
        account.status = status
        if account.account_type != account_type:
            externals.announce(unit, account)

    return move


for _type in ("MXN_ACCOUNT", "RWF_ACCOUNT", "SOLANA_WALLET"):
    declare("EVT-124", _type, f"nobody is told of a {_type}", moving(DISABLED, _silently_of(_type)))


def _silently_of_the_platform(unit: Unit, account: ExternalAccount, status: str) -> None:
    account.status = status
    if account.customer_id is not None:
        externals.announce(unit, account)


for _requirement, _move in (
    ("EVT-122", APPROVED),
    ("EVT-123", REVIEWED),
    ("EVT-124", DISABLED),
    ("EVT-125", DEMANDED),
    ("EVT-126", PROVED),
    ("EVT-127", DISPROVED),
    ("EVT-128", PROVED),
    ("EVT-129", DISPROVED),
):
    declare(
        _requirement,
        "platform",
        "nobody is told of the platform's accounts",
        moving(_move, _silently_of_the_platform),
    )


def _announcing(data: Callable[[ExternalAccount], Any]) -> Apply:
    """Return a patch after which a changed status is reported with other data."""

    def announce(unit: Unit, account: ExternalAccount) -> None:
        unit.emit(externals.STATUS_EVENT, data(account))

    return instead(externals, "announce", announce)


DATA: tuple[tuple[str, str, Callable[[ExternalAccount], Any]], ...] = (
    ("EVT-120", "text", lambda account: account.id),
    ("EVT-120", "list", lambda account: [externals.view(account)]),
    ("EVT-121", "renamed", lambda account: {"externalAccountId": account.id}),
    ("EVT-121", "bare-id", lambda account: {"id": account.id.partition(":")[2], "of": account.id}),
    (
        "EVT-121",
        "of-the-owner",
        lambda account: {"id": account.customer_id, "externalAccountId": account.id},
    ),
    (
        "EVT-121",
        "another",
        lambda account: {"id": "ExternalAccount:1", "externalAccountId": account.id},
    ),
)
"""Requirement, name, and data of the webhook."""

for _requirement, _name, _data in DATA:
    declare(_requirement, f"data-{_name}", f"the data are {_name}", _announcing(_data))


@mutant("EVT-130", "all webhooks about an account have one id", (externals, "announce"), instead)
def one_id(unit: Unit, account: ExternalAccount) -> None:
    unit.emit(externals.STATUS_EVENT, externals.view(account))
    unit.events[-1]["id"] = f"Webhook:{account.id.partition(':')[2]}"


@mutant(
    "EVT-131", "all accounts of a customer are reported with one", (externals, "announce"), instead
)
def siblings_reported(unit: Unit, account: ExternalAccount) -> None:
    for one in siblings(unit, account):
        unit.emit(externals.STATUS_EVENT, externals.view(one))


@mutant(
    "EVT-131",
    "a change is reported as one of the customer's first account",
    (externals, "announce"),
    instead,
)
def first_reported(unit: Unit, account: ExternalAccount) -> None:
    first = next(iter(siblings(unit, account)))
    unit.emit(externals.STATUS_EVENT, externals.view(first))


@mutant("EVT-131", "the first account of its name is reported besides", (externals, "announce"))
def namesakes_reported(
    announce: Callable[[Unit, ExternalAccount], None], unit: Unit, account: ExternalAccount
) -> None:
    announce(unit, account)
    query = select(ExternalAccount).where(
        ExternalAccount.platform_account_id == account.platform_account_id,
        ExternalAccount.id != account.id,
    )
    for other in unit.session.scalars(query).all():
        unit.emit(externals.STATUS_EVENT, externals.view(other))


def _silently_of_businesses(unit: Unit, account: ExternalAccount, status: str) -> None:
    account.status = status
    owner = unit.session.get(Customer, account.customer_id or "")
    if owner is None or owner.customer_type != "BUSINESS":
        externals.announce(unit, account)


for _requirement, _move in (
    ("EVT-122", APPROVED),
    ("EVT-123", REVIEWED),
    ("EVT-124", DISABLED),
    ("EVT-125", DEMANDED),
):
    declare(
        _requirement,
        "business",
        "nobody is told of an account of a business",
        moving(_move, _silently_of_businesses),
    )
