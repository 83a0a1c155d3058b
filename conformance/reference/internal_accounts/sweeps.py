"""Where money goes home: to the account of a rule-based account's holder in the same currency."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import select

from conformance.reference.internal_accounts import accounts, ledger
from conformance.reference.store import InternalAccount, MintedAccount, Quote

if TYPE_CHECKING:
    from conformance.reference.unit import Unit

RULE_BASED: str = "RULE_BASED"


def is_rule_based(account: InternalAccount) -> bool:
    """Return whether an account is a further number of its holder's."""
    return account.type == RULE_BASED


def home_of(unit: Unit, customer_id: str, currency: str) -> InternalAccount | None:
    """Return the verified account that a customer holds in a currency, or ``None``."""
    query = select(InternalAccount).where(
        InternalAccount.customer_id == customer_id,
        InternalAccount.currency == currency,
        InternalAccount.type != RULE_BASED,
        InternalAccount.status == "ACTIVE",
    )
    return unit.session.scalar(query.order_by(InternalAccount.created_at).limit(1))


def take_in(unit: Unit, account_id: str) -> None:
    """Let what an account received be swept on, where it is a rule-based one."""
    account = accounts.find(unit, account_id)
    if account is not None and is_rule_based(account):
        unit.arrive(account_id)


def minted(unit: Unit, account: InternalAccount) -> MintedAccount:
    """Return how a rule-based account came to be."""
    query = select(MintedAccount).where(MintedAccount.account_id == account.id)
    return unit.session.scalars(query).one()


def swept_amount(unit: Unit, account: InternalAccount) -> int:
    """Return what is to be moved on from an account: all that it has."""
    return ledger.balances(unit, [account.id])[account.id][0]


def land(unit: Unit, account: InternalAccount) -> None:
    """Move what an account has to its holder's account in the same currency."""
    home = home_of(unit, account.customer_id or "", account.currency)
    amount = swept_amount(unit, account)
    if home is None or amount == 0:
        return
    ledger.post(
        unit,
        [
            ledger.Leg(ledger.available(account.id), account.currency, -amount),
            ledger.Leg(ledger.available(home.id), account.currency, amount),
        ],
    )
    accounts.announce_balance(unit, account)
    accounts.announce_balance(unit, home)


def land_refund(unit: Unit, quote: Quote) -> None:
    """Let the refund of a sweep land in the holder's account; other refunds stay where they are."""
    account = accounts.find(unit, str(quote.source.get("accountId")))
    if account is not None and is_rule_based(account):
        land(unit, account)
