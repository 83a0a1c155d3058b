"""The two deprecated transfers: their ends, their transactions, and the quotes in their place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from conformance.exchange.answer import Answer
from conformance.platform.given.transactions import FAILED
from conformance.platform.given.transfers import Direction
from conformance.platform.platform import Platform
from conformance.platform.resource import Json, Resource, arranged_body
from conformance.profile.resources import Corridor
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing

UNSERVED = (405, 410, 501)
"""The statuses, beside 404, of an operation that a target does not serve (any more)."""

NOT_FOUND = 404

ELSEWHERE = "-elsewhere"
"""The end of a path at which no target serves anything."""

AMOUNT = 10_000
DEPOSIT = 100_000

ENDED = ("COMPLETED", "EXPIRED", *FAILED)
"""The statuses of a transaction from which nothing leads on, but for a refund."""


@dataclass(frozen=True)
class Ends:
    """The two accounts of a transfer in one currency, which belong to one customer.

    ``internal_account`` is the source of a transfer out, and the destination of a transfer in.
    """

    direction: Direction
    source: Resource
    destination: Resource
    internal_account: Json

    @property
    def owner(self) -> str:
        """The id of the customer who has both accounts."""
        return str(self.internal_account["customerId"])


def arrange_ends(
    platform: Platform,
    direction: Direction,
    *,
    deposit: int = DEPOSIT,
    trigger: str | None = None,
    currencies: tuple[str, ...] = (),
    corridor: Corridor | None = None,
    payer: Resource | None = None,
) -> Ends:
    """Create a customer and the two accounts of a transfer.

    Args:
        platform: the suite in the part of a platform.
        direction: ``out`` of an internal account, or ``in`` to one.
        deposit: the amount on the internal account of a transfer out, in the smallest unit.
        trigger: a trigger that decides what becomes of payouts to the external account.
        currencies: further currencies of a customer who receives a transfer in.
        corridor: one within a currency; by default the first of the profile.
        payer: the customer; by default a new individual.

    Raises:
        ResourceMissing: no corridor is within one currency, or no account in it can be pulled from.
    """
    corridor = corridor or platform.quotes.corridor(same_currency=True)
    if direction == "out":
        source = platform.internal_accounts.account(
            corridor.sending, amount=deposit, customer=payer
        )
        owner = source.owner
        return Ends(
            "out",
            source,
            platform.external_accounts.account(owner, corridor.account, trigger=trigger),
            source,
        )
    customer = payer or platform.approved.customer(currencies=[corridor.sending, *currencies])
    internal_account = platform.internal_accounts.account(
        corridor.sending, amount=0, customer=customer
    )
    external_account = platform.external_accounts.pullable(customer)
    if external_account.get("currency") not in (None, corridor.sending):
        raise ResourceMissing(f"no account in {corridor.sending} can be pulled from")
    return Ends("in", external_account, internal_account, internal_account)


def send(platform: Platform, ends: Ends, amount: Any = AMOUNT, **members: Any) -> Answer:
    """Send a transfer and return its answer, accepted or refused."""
    return platform.transfers.send(ends.direction, ends.source, ends.destination, amount, **members)


def send_valid(platform: Platform, ends: Ends, amount: Any = AMOUNT, **members: Any) -> Answer:
    """Send a valid transfer and return its answer.

    Raises:
        ResourceMissing: the target does not understand a body of this shape.
    """
    return platform.transfers.require_understood(
        ends.direction, send(platform, ends, amount, **members)
    )


def make_transfer(platform: Platform, ends: Ends, amount: int = AMOUNT) -> Answer:
    """Send a valid transfer and return the answer that accepts it.

    Raises:
        PreconditionFailed: the transfer is refused.
        ResourceMissing: the target does not understand a body of this shape.
    """
    answer = send_valid(platform, ends, amount)
    arranged_body(answer)
    return answer


def make_and_debit(platform: Platform, ends: Ends) -> int:
    """Make a transfer out and return the balance after its debit, in the smallest unit.

    Raises:
        PreconditionFailed: the transfer is refused, or debits nothing.
        ResourceMissing: the target does not understand a body of this shape.
    """
    before, _ = platform.internal_accounts.balances(ends.internal_account)
    make_transfer(platform, ends)
    balance_left = platform.until(
        lambda: platform.internal_accounts.balances(ends.internal_account)[0],
        lambda balance: balance < before,
    )
    if balance_left == before:
        raise PreconditionFailed("a transfer out debits nothing")
    return balance_left


def listed_transaction(platform: Platform, ends: Ends, answer: Answer) -> Json | None:
    """Wait for the transaction of an accepted transfer in the list; return it, or ``None``.

    Raises:
        ResourceMissing: the answer does not name the transaction, and no filter lists by customer.
    """
    transaction_id = platform.transfers.transaction_id(answer)
    if transaction_id is None and not platform.profile.bindings.transactions_of_customer:
        raise ResourceMissing("neither the answer nor a filter tells which transaction it is")

    def find_row() -> Json | None:
        transactions = platform.transactions.of_customer(ends.owner)
        return next((row for row in transactions if transaction_id in (None, row.get("id"))), None)

    row = platform.until(find_row, lambda candidate: candidate is not None)
    if row is not None:
        platform.transfers.settle(answer, row, (ends.source, ends.destination))
    return row


def transaction_at(platform: Platform, ends: Ends, answer: Answer, *statuses: str) -> Json:
    """Return the transaction of an accepted transfer, once its status is one of ``statuses``.

    Without ``statuses`` any status will do. After ``timing.state`` of the profile the transaction
    is returned as it is then.

    Raises:
        PreconditionFailed: the transaction is not listed.
    """

    def read() -> Json:
        row = listed_transaction(platform, ends, answer)
        if row is None:
            raise PreconditionFailed(f"GET /transactions does not list the transfer: {answer}")
        return row

    return platform.until(read, lambda row: not statuses or row.get("status") in statuses)


def replacement_body(ends: Ends, amount: Any = AMOUNT, **members: Any) -> Json:
    """Return the body of the quote in the place of a transfer, which is executed at once.

    Args:
        ends: the ends of the transfer.
        amount: the amount of the transfer, in the smallest unit.
        members: the members that carry over; ``paymentRail`` goes to the destination.
    """
    rail = members.pop("paymentRail", None)
    destination = {"destinationType": "ACCOUNT", "accountId": ends.destination["id"]}
    return {
        "source": {"sourceType": "ACCOUNT", "accountId": ends.source["id"]},
        "destination": {**destination, **({} if rail is None else {"paymentRail": rail})},
        "lockedCurrencySide": "SENDING",
        "lockedCurrencyAmount": amount,
        "immediatelyExecute": True,
        **members,
    }


def carried_member(platform: Platform, ends: Ends, name: str) -> Json:
    """Return a member that carries over from a transfer to the quote in its place, with a value.

    Raises:
        ResourceMissing: the profile or the account names no value for the member.
    """
    if name == "remittanceInformation":
        return {name: "Invoice 4711"}
    if name == "purposeOfPayment":
        purpose = platform.profile.bindings.purpose_of_payment
        if purpose is None:
            raise ResourceMissing("bindings.purpose_of_payment of the profile names none")
        return {name: purpose}
    rails = (ends.destination.get("accountInfo") or {}).get("paymentRails")
    if not rails:
        raise ResourceMissing(f"{ends.destination['id']} lists no paymentRails")
    return {name: rails[0]}


def expect_served(platform: Platform, answer: Answer) -> None:
    """Assert that an operation answered, even if only with 404 for an account in the body."""
    __tracebackhide__ = True
    assert answer.status not in UNSERVED, answer
    if answer.status == NOT_FOUND:
        url, body = answer.exchange.url, answer.exchange.request_body
        _, error_elsewhere = platform.api.client.trigger("POST", url + ELSEWHERE, body)
        # Without an error object, a 404 is about the path and not about the body.
        assert error_content(answer.body) not in (
            error_content(error_elsewhere),
            error_content(None),
        ), answer


def error_content(error: object) -> tuple[str, ...]:
    """Return code and reason of an error object, without the path that it may name."""
    members = error if isinstance(error, Mapping) else {}
    return tuple(str(members.get(name)).replace(ELSEWHERE, "") for name in ("code", "reason"))


def expect_unmade(platform: Platform, ends: Ends, answer: Answer, twin: Answer) -> None:
    """Assert that a transfer is refused, or does not complete in the end.

    Raises:
        PreconditionFailed: the transfer is accepted, and its transaction is not listed.
    """
    __tracebackhide__ = True
    if not answer.accepted:
        answer.refused(twin=twin)
        return
    row = listed_transaction(platform, ends, answer)
    if row is None:
        raise PreconditionFailed(f"what becomes of the transfer is not listed: {answer}")
    status = transaction_at(platform, ends, answer, *ENDED).get("status")
    assert status != "COMPLETED", f"the transfer has arrived: {answer}"
