"""The two deprecated transfers, their ends, and the quotes in their place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from conformance.exchange.answer import Answer
from conformance.platform.given.transfers import Direction
from conformance.platform.platform import Platform
from conformance.platform.resource import Json, Resource, arranged_body
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing

UNSERVED = (405, 410, 501)
"""What is answered where an operation is not there (any more), beside 404."""

NOT_FOUND = 404

ELSEWHERE = "-elsewhere"
"""Makes a path at which nothing can be served."""

AMOUNT = 10_000
DEPOSIT = 100_000


@dataclass(frozen=True)
class Ends:
    """Two accounts in one currency that a transfer goes between, and the customer who has them.

    ``held`` is the internal one.
    """

    direction: Direction
    source: Resource
    destination: Resource
    held: Json

    @property
    def owner(self) -> str:
        """The id of the customer."""
        return str(self.held["customerId"])


def ends(
    platform: Platform, direction: Direction, *, deposit: int = DEPOSIT, fate: str | None = None
) -> Ends:
    """Return the ends of a transfer of a new customer.

    Args:
        platform: the platform.
        direction: out of an internal account, or into one.
        deposit: what is deposited to the internal account that money goes out of.
        fate: a trigger that decides what becomes of payouts to the other account.

    Raises:
        ResourceMissing: no corridor is within one currency, or none can be pulled in.
    """
    corridor = platform.quotes.corridor(same_currency=True)
    if direction == "out":
        source = platform.internal_accounts.account(corridor.sending, amount=deposit)
        owner = source.owner
        return Ends(
            "out",
            source,
            platform.external_accounts.account(owner, corridor.account, trigger=fate),
            source,
        )
    customer = platform.approved.customer(currencies=[corridor.sending])
    held = platform.internal_accounts.account(corridor.sending, amount=0, customer=customer)
    pulled = platform.external_accounts.pullable(customer)
    if pulled.get("currency") not in (None, corridor.sending):
        raise ResourceMissing(f"no account in {corridor.sending} can be pulled from")
    return Ends("in", pulled, held, held)


def send(platform: Platform, between: Ends, amount: Any = AMOUNT, **members: Any) -> Answer:
    """Send a transfer, whatever is answered to it."""
    return platform.transfers.send(
        between.direction, between.source, between.destination, amount, **members
    )


def sound(platform: Platform, between: Ends, amount: Any = AMOUNT, **members: Any) -> Answer:
    """Send a transfer in which nothing is wrong, and return its answer.

    Raises:
        ResourceMissing: the target knows no body of this shape.
    """
    return platform.transfers.require_understood(
        between.direction, send(platform, between, amount, **members)
    )


def made(platform: Platform, between: Ends, amount: int = AMOUNT) -> Answer:
    """Send a transfer in which nothing is wrong, and return the answer that it was accepted with.

    Raises:
        PreconditionFailed: it was refused.
        ResourceMissing: the target knows no body of this shape.
    """
    answer = sound(platform, between, amount)
    arranged_body(answer)
    return answer


def debited(platform: Platform, between: Ends) -> int:
    """Make a transfer out, and return the balance that it leaves.

    Raises:
        PreconditionFailed: it is refused, or debits nothing.
        ResourceMissing: the target knows no body of this shape.
    """
    before, _ = platform.internal_accounts.balances(between.held)
    made(platform, between)
    left = platform.until(
        lambda: platform.internal_accounts.balances(between.held)[0], lambda seen: seen < before
    )
    if left == before:
        raise PreconditionFailed("a transfer out debits nothing")
    return left


def found(platform: Platform, between: Ends, answer: Answer) -> Json | None:
    """Return the transaction of an accepted transfer once it is listed, or ``None``.

    Raises:
        ResourceMissing: the answer does not name it, and there is no list of one customer.
    """
    told = platform.transfers.transaction_id(answer)
    if told is None and not platform.profile.bindings.transactions_of_customer:
        raise ResourceMissing("neither the answer nor a filter tells which transaction it is")

    def listed() -> Json | None:
        every = platform.transactions.of_customer(between.owner)
        return next((row for row in every if told in (None, row.get("id"))), None)

    row = platform.until(listed, lambda seen: seen is not None)
    if row is not None:
        platform.transfers.settle(answer, row, (between.source, between.destination))
    return row


def transaction(platform: Platform, between: Ends, answer: Answer, *statuses: str) -> Json:
    """Return the transaction of an accepted transfer, once at one of ``statuses`` if any are given.

    After ``timing.state`` of the profile it is returned as it is then.
    """

    def now() -> Json:
        row = found(platform, between, answer)
        if row is None:
            raise PreconditionFailed(f"GET /transactions does not list the transfer: {answer}")
        return row

    return platform.until(now, lambda row: not statuses or row.get("status") in statuses)


def replacement(between: Ends, amount: Any = AMOUNT, **members: Any) -> Json:
    """Return the body of the quote that takes the place of a transfer.

    Args:
        between: the ends.
        amount: the amount of the transfer.
        members: what carries over; the rail belongs to the destination.
    """
    rail = members.pop("paymentRail", None)
    destination = {"destinationType": "ACCOUNT", "accountId": between.destination["id"]}
    return {
        "source": {"sourceType": "ACCOUNT", "accountId": between.source["id"]},
        "destination": {**destination, **({} if rail is None else {"paymentRail": rail})},
        "lockedCurrencySide": "SENDING",
        "lockedCurrencyAmount": amount,
        "immediatelyExecute": True,
        **members,
    }


def carried(platform: Platform, between: Ends, name: str) -> Json:
    """Return a value of a member that carries over from a transfer to the quote in its place.

    Raises:
        ResourceMissing: no value is known to be taken.
    """
    if name == "remittanceInformation":
        return {name: "Invoice 4711"}
    if name == "purposeOfPayment":
        purpose = platform.profile.bindings.purpose_of_payment
        if purpose is None:
            raise ResourceMissing("bindings.purpose_of_payment of the profile names none")
        return {name: purpose}
    rails = (between.destination.get("accountInfo") or {}).get("paymentRails")
    if not rails:
        raise ResourceMissing(f"{between.destination['id']} lists no paymentRails")
    return {name: rails[0]}


def expect_served(platform: Platform, answer: Answer) -> None:
    """Assert that an operation answered, though it may miss what the body names."""
    __tracebackhide__ = True
    assert answer.status not in UNSERVED, answer
    if answer.status == NOT_FOUND:
        url, body = answer.exchange.url, answer.exchange.request_body
        _, nothing = platform.api.client.trigger("POST", url + ELSEWHERE, body)
        # Without an error object it tells of nothing that the body names.
        assert told(answer.body) not in (told(nothing), told(None)), answer


def told(error: object) -> tuple[str, ...]:
    """Return what an error object says, whatever the path that it may name."""
    members = error if isinstance(error, Mapping) else {}
    return tuple(str(members.get(name)).replace(ELSEWHERE, "") for name in ("code", "reason"))
