"""The webhooks that have arrived about a resource, and waiting until no more can be under way."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import timedelta
from typing import Any

from conformance.contract.difference import Difference, Kind
from conformance.contract.moments import parse_moment
from conformance.exchange.delivery import Delivery
from conformance.platform.platform import Platform
from conformance.platform.resource import Json
from conformance.scenarios.kit.marks import Check
from conformance.text.paths import value_at
from conformance.verdict.decisions import Broken, PreconditionFailed, ResourceMissing

PROCESSING = "OUTGOING_PAYMENT.PROCESSING"
COMPLETED = "OUTGOING_PAYMENT.COMPLETED"
FAILURE = "OUTGOING_PAYMENT.FAILED"
REFUND_PENDING = "OUTGOING_PAYMENT.REFUND_PENDING"
REFUND_COMPLETED = "OUTGOING_PAYMENT.REFUND_COMPLETED"
REFUND_FAILED = "OUTGOING_PAYMENT.REFUND_FAILED"
BALANCE = "INTERNAL_ACCOUNT.BALANCE_UPDATED"
STATUS_UPDATED = "EXTERNAL_ACCOUNT.STATUS_UPDATED"
REFUND = {"EVT-013": REFUND_PENDING, "EVT-014": REFUND_COMPLETED}
"""How the refund of a failed payout is reported, by the requirement."""

FAMILIES = {False: "CUSTOMER.KYC_", True: "CUSTOMER.KYB_"}
"""What the types of the webhooks about reviews begin with, of individuals and of businesses."""

_A_SECOND = timedelta(seconds=1)


def arrange_event(platform: Platform, kind: str, resource: str) -> Delivery:
    """Wait for a webhook of a type about a resource, and return it.

    Raises:
        PreconditionFailed: no such webhook comes.
    """
    event = platform.webhooks.wait_for(kind, resource)
    if event is None:
        raise PreconditionFailed(f"no {kind} came for {resource}")
    return event


def expect_event(platform: Platform, kind: str, resource: str) -> Delivery:
    """Assert that a webhook of a type about a resource comes, and return it."""
    __tracebackhide__ = True
    event = platform.webhooks.wait_for(kind, resource)
    if event is None:
        others = ", ".join(sorted(event_types(platform, resource))) or "nothing"
        difference = Difference(Kind.NO_WEBHOOK, kind)
        raise Broken(f"{kind} for {resource}", others, difference=difference)
    return event


def event_types(platform: Platform, resource: str) -> set[str]:
    """Return the types of the webhooks about a resource that have arrived."""
    return {str(event.type) for event in platform.webhooks.about(resource)}


def event_ids(platform: Platform, kind: str, resource: str) -> set[str | None]:
    """Return the ids of the webhooks of a type about a resource that have arrived."""
    return {event.id for event in platform.webhooks.about(resource) if event.type == kind}


def expect_one_id(platform: Platform, kind: str, resource: str) -> None:
    """Assert that all webhooks of a type about a resource have one id.

    Raises:
        PreconditionFailed: no such webhook comes.
    """
    __tracebackhide__ = True
    arrange_event(platform, kind, resource)
    reported_ids = sorted(map(str, event_ids(platform, kind, resource)))
    assert len(reported_ids) == 1, (
        f"{kind} of {resource} was reported under {' and '.join(reported_ids)}"
    )


def balance_in(event: Delivery) -> Any:
    """Return the balance that a webhook shows, in the smallest unit; None without one."""
    balance = event.data.get("balance") if isinstance(event.data, Mapping) else None
    return balance.get("amount") if isinstance(balance, Mapping) else None


def expect_processing(platform: Platform, quote: Json, status: str) -> None:
    """Assert that the payout of a quote is reported as PROCESSING.

    Args:
        platform: the suite in the part of a platform.
        quote: the quote.
        status: the first one that the quote or its transaction showed once it was executed.

    Raises:
        ResourceMissing: no webhook reports it, and it was COMPLETED from the first.
    """
    __tracebackhide__ = True
    name = quote["transactionId"]
    report = platform.webhooks.wait_for(PROCESSING, name)
    if report is None and status == "COMPLETED":
        raise ResourceMissing("the payout was never in processing")
    assert report is not None, f"no {PROCESSING} for {name}"


def expect_failure_and_refund(platform: Platform, check: Check, payment: Json) -> None:
    """Decide whether a payment is reported as FAILED, and so is each step of its refund."""
    for requirement_id, kind in {"EVT-012": FAILURE, **REFUND}.items():
        with check(requirement_id):
            expect_event(platform, kind, payment["transactionId"])


def expect_refund_reported(
    platform: Platform,
    account: Json,
    restored: Collection[int],
    known_ids: Collection[str | None],
) -> None:
    """Assert that a webhook which is not known yet shows a balance with what came back."""
    __tracebackhide__ = True
    report = platform.webhooks.wait_for(
        BALANCE,
        account["id"],
        where=lambda event: event.id not in known_ids and balance_in(event) in restored,
    )
    assert report is not None, f"no {BALANCE} for {account['id']} shows the refund"


def expect_no_more(
    platform: Platform, kind: str, resource: str, twin: str, *, besides: int = 0
) -> None:
    """Assert that at most ``besides`` webhooks more are about a resource than about its twin.

    The same has happened to both resources, except for the step in question. The order of webhooks
    is open, so webhooks about the twin are waited for.

    Args:
        platform: the suite in the part of a platform.
        kind: the beginning of the types of the webhooks.
        resource: the id of the resource in question.
        twin: the id of the other resource.
        besides: how many webhooks more may be about the resource.
    """
    __tracebackhide__ = True

    def ids_about(name: str) -> set[str | None]:
        return {
            event.id for event in platform.webhooks.about(name) if str(event.type).startswith(kind)
        }

    surplus = platform.until(
        lambda: len(ids_about(resource)) - len(ids_about(twin)) - besides, lambda count: count <= 0
    )
    assert surplus <= 0, (
        f"{len(ids_about(resource))} {kind} webhooks are about {resource}, "
        f"{len(ids_about(twin))} about {twin}; at most {besides} more were expected"
    )


def let_reports_arrive(platform: Platform, account: Json | None = None) -> None:
    """Wait for the webhook of a deposit made now; earlier webhooks have arrived by then.

    Raises:
        PreconditionFailed: no webhook reports the deposit.
    """
    account = account or platform.internal_accounts.account(amount=0)
    known_ids = event_ids(platform, BALANCE, account["id"])
    platform.internal_accounts.deposit(account, 1_000)
    if (
        platform.webhooks.wait_for(
            BALANCE, account["id"], where=lambda event: event.id not in known_ids
        )
        is None
    ):
        raise PreconditionFailed(f"no {BALANCE} came for {account['id']} after a deposit")


def expect_same(data: Any, resource: Json, *members: str) -> None:
    """Assert that members of a webhook's data agree with the resource as it is read.

    Raises:
        ResourceMissing: the webhook or the reading does not show a member.
    """
    __tracebackhide__ = True
    for member in members:
        reported_value, read_value = value_at(data, member), value_at(resource, member)
        if reported_value is None or read_value is None:
            raise ResourceMissing(f"{member} is not both in the webhook and in what is read")
        assert _agree(reported_value, read_value), (
            f"the webhook shows {member} as {reported_value}, a reading as {read_value}"
        )


def expect_same_where_shown(data: Any, resource: Json, *members: str) -> None:
    """Assert the same of the members that the webhook and the reading both show.

    Raises:
        ResourceMissing: they show none of them both.
    """
    __tracebackhide__ = True
    shown = [one for one in members if None not in (value_at(data, one), value_at(resource, one))]
    if not shown:
        raise ResourceMissing(f"none of {', '.join(members)} is both reported and read")
    expect_same(data, resource, *shown)


def _agree(one: Any, other: Any) -> bool:
    """Return whether two values agree in the members that both show.

    Times may differ by a second, and lists may have another order.
    """
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        shared = (name for name in one.keys() & other.keys())
        return all(
            _agree(one[name], other[name])
            for name in shared
            if one[name] is not None and other[name] is not None
        )
    if isinstance(one, list) and isinstance(other, list):
        # The order of a list of codes has no meaning.
        return len(one) == len(other) and all(any(_agree(a, b) for b in other) for a in one)
    if isinstance(one, str) and isinstance(other, str) and one != other:
        try:
            difference = parse_moment(one) - parse_moment(other)
        except (ValueError, TypeError):
            return False
        return abs(difference) <= _A_SECOND
    return bool(one == other)
