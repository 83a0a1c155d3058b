"""Double-entry books: every movement sums to zero in each currency."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import insert

from conformance.reference import rules
from conformance.reference.store import Base, LedgerAccount, LedgerEntry, ledger_accounts
from conformance.reference.unit import Unit, new_id

if TYPE_CHECKING:
    from collections.abc import Sequence


class UnbalancedMovementError(Exception):
    """The legs of a movement do not sum to zero in each currency."""


class OverdrawnError(Exception):
    """A movement would take more from an account than it holds."""


@dataclass(frozen=True, slots=True)
class Leg:
    """An amount added to (or, negative, taken from) one ledger account."""

    account: str
    currency: str
    amount: int


SYSTEM_ACCOUNTS: tuple[str, ...] = ("rail", "transit", "fees", "conversion", "suspense")
"""Kinds of the service's own accounts, one of each for every currency.

The rail is the world outside; transit holds money that came in for one payment; conversion is the
exchange desk; suspense keeps refunds that could not be delivered.
"""

# Entries are never read again: the session need not know of them.
_INSERT_ENTRIES = insert(Base.metadata.tables[LedgerEntry.__tablename__])


def available(account_id: str) -> str:
    """Return the ledger account of the funds an internal account may spend."""
    return f"{account_id}/available"


def held(account_id: str) -> str:
    """Return the ledger account of the funds of an internal account that are held."""
    return f"{account_id}/held"


def system(kind: str, currency: str) -> str:
    """Return one of the service's own ledger accounts."""
    return f"{kind}:{currency}"


def open_system_accounts(unit: Unit) -> None:
    """Open the service's own accounts in every currency."""
    unit.session.execute(
        insert(LedgerAccount),
        [
            {"id": system(kind, code), "currency": code, "guarded": False, "balance": 0}
            for kind in SYSTEM_ACCOUNTS
            for code in rules.CURRENCIES
        ],
    )


def open_account(unit: Unit, account_id: str, currency: str) -> None:
    """Open the two guarded ledger accounts of an internal account."""
    for ledger_id in (available(account_id), held(account_id)):
        unit.session.add(LedgerAccount(id=ledger_id, currency=currency, guarded=True, balance=0))


def balances(unit: Unit, account_ids: Sequence[str]) -> dict[str, tuple[int, int]]:
    """Return the available and the held funds of internal accounts."""
    wanted = [name for id_ in account_ids for name in (available(id_), held(id_))]
    rows = ledger_accounts(unit.session, wanted)
    return {id_: (rows[available(id_)].balance, rows[held(id_)].balance) for id_ in account_ids}


def sums_to_zero(legs: Sequence[Leg]) -> bool:
    """Return whether the legs cancel out in each currency."""
    sums: dict[str, int] = defaultdict(int)
    for leg in legs:
        sums[leg.currency] += leg.amount
    return not any(sums.values())


def is_overdrawn(account: LedgerAccount) -> bool:
    """Return whether a guarded account holds less than nothing."""
    return account.guarded and account.balance < 0


def post(unit: Unit, legs: Sequence[Leg]) -> None:
    """Book one movement.

    Raises ``UnbalancedMovementError`` or ``OverdrawnError``; nothing is booked then.
    """
    moved = [leg for leg in legs if leg.amount]
    if not sums_to_zero(moved):
        raise UnbalancedMovementError(f"Expected legs that sum to zero, got {moved}.")
    names = sorted({leg.account for leg in moved})
    accounts = ledger_accounts(unit.session, names, lock=True)
    for leg in moved:
        accounts[leg.account].balance += leg.amount
    if any(is_overdrawn(account) for account in accounts.values()):
        raise OverdrawnError
    movement = new_id("Movement")
    unit.session.execute(
        _INSERT_ENTRIES,
        [
            {
                "id": new_id("Entry"),
                "movement_id": movement,
                "ledger_account_id": leg.account,
                "currency": leg.currency,
                "amount": leg.amount,
                "created_at": unit.now,
            }
            for leg in moved
        ],
    )
