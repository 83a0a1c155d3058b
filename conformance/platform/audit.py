"""The invariant behind every scenario: money is neither made nor lost."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.platform.given.internal_accounts import shown_balances
from conformance.platform.given.transactions import included_fees
from conformance.platform.platform import Platform
from conformance.platform.resource import Json

_NOTHING_MOVED = frozenset({"PENDING", "PENDING_AUTHORIZATION", "EXPIRED"})
_REFUNDED = frozenset({"REFUND_COMPLETED", "REFUNDED"})


def audit(platform: Platform) -> list[str] | None:
    """Return what is wrong with the internal accounts that a test funded.

    ``None`` means that no money was moved, so that there is nothing to be right or wrong.

    Each account's ``totalBalance`` is what was deposited, less the sending amounts of its
    completed quotes, plus the receiving amounts of completed quotes to it. A quote that is still
    in flight may or may not be contained; a refused or expired one may not, and of a refunded one
    no more than its fees. Where there is no ``totalBalance`` its ``balance`` stands for it, which
    may lack what is held for a pending one. Balances may be shown a moment late, so that they are
    read again while something is wrong.
    """
    if not platform.ledger.known_deposits or not platform.ledger.quotes:
        return None
    return platform.until(lambda: list(_problems(platform)), lambda problems: not problems)


def _problems(platform: Platform) -> Iterator[str]:
    movement = platform.ledger
    owners = {account["customerId"] for account in movement.accounts.values()}
    statuses = {
        transaction["id"]: transaction
        for owner in owners
        for transaction in platform.transactions.of_customer(owner)
    }
    for name, deposited in movement.known_deposits.items():
        low = high = deposited
        # It may be in the total already, or may not have arrived.
        high += movement.expected.get(name, 0)
        # Merchants may have cleared it, or given it back.
        low -= movement.spent.get(name, 0)
        low -= movement.returned.get(name, 0)
        account = platform.internal_accounts.read(movement.accounts[name])
        held = account.get("totalBalance") is None
        for quote in movement.quotes.values():
            least, most = _effect(quote, name, statuses.get(quote["transactionId"]), held=held)
            low += least
            high += most
        balance, total = shown_balances(account)
        if not 0 <= balance <= total:
            yield f"{name}: balance {balance} is not between 0 and totalBalance {total}"
        if not low <= total <= high:
            expected = str(low) if low == high else f"between {low} and {high}"
            yield (
                f"{name}: totalBalance is {total}, but its deposits and completed quotes "
                f"leave {expected}"
            )


def _effect(quote: Json, account: str, transaction: Json | None, *, held: bool) -> tuple[int, int]:
    """Return the least and the most that a quote adds to the total balance of an account.

    What is ``held`` for a pending one may be missing there.
    """
    effect = 0
    if quote["source"].get("accountId") == account:
        effect -= quote["totalSendingAmount"]
    if quote["destination"].get("accountId") == account:
        effect += quote["totalReceivingAmount"]
    uncertain = (min(effect, 0), max(effect, 0))
    if transaction is None:
        return uncertain
    status = transaction.get("status")
    if status in _NOTHING_MOVED:
        return (uncertain[0] if held else 0), 0
    refund = (transaction.get("refund") or {}).get("status")
    if status in _REFUNDED or (status == "FAILED" and refund in (*_REFUNDED, "COMPLETED")):
        # The fees may be kept.
        return max(uncertain[0], -included_fees(quote)), 0
    return (effect, effect) if status == "COMPLETED" else uncertain
