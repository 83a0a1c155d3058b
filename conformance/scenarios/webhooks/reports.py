"""What webhooks have told of a resource, and waiting until no more of it can be under way."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from conformance.exchange.delivery import Delivery
from conformance.platform.platform import Platform
from conformance.platform.resource import Json, value_at
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing

PROCESSING = "OUTGOING_PAYMENT.PROCESSING"
COMPLETED = "OUTGOING_PAYMENT.COMPLETED"
FAILURE = "OUTGOING_PAYMENT.FAILED"
REFUND_PENDING = "OUTGOING_PAYMENT.REFUND_PENDING"
REFUND_COMPLETED = "OUTGOING_PAYMENT.REFUND_COMPLETED"
REFUND_FAILED = "OUTGOING_PAYMENT.REFUND_FAILED"
BALANCE = "INTERNAL_ACCOUNT.BALANCE_UPDATED"
CHANGED = "EXTERNAL_ACCOUNT.STATUS_UPDATED"
FAMILIES = {False: "CUSTOMER.KYC_", True: "CUSTOMER.KYB_"}
"""What the types of the webhooks about reviews begin with, of individuals and of businesses."""

_A_SECOND = timedelta(seconds=1)


def needed(platform: Platform, kind: str, resource: str) -> Delivery:
    """Return an event that a check builds on."""
    event = platform.webhooks.wait_for(kind, resource)
    if event is None:
        raise PreconditionFailed(f"no {kind} came for {resource}")
    return event


def kinds(platform: Platform, resource: str) -> set[str]:
    """Return the types of the events about a resource that have arrived."""
    return {str(one.type) for one in platform.webhooks.about(resource)}


def ids(platform: Platform, kind: str, resource: str) -> set[str | None]:
    """Return the ids of the events of a type about a resource that have arrived."""
    return {one.id for one in platform.webhooks.about(resource) if one.type == kind}


def expect_one_id(platform: Platform, kind: str, resource: str) -> None:
    """Assert that what happened once to a resource was reported under one id."""
    __tracebackhide__ = True
    needed(platform, kind, resource)
    told = sorted(map(str, ids(platform, kind, resource)))
    assert len(told) == 1, f"{kind} of {resource} was reported under {' and '.join(told)}"


def expect_no_more(
    platform: Platform, kind: str, resource: str, twin: str, *, besides: int = 0
) -> None:
    """Assert that no more was reported of a resource than of its twin, and ``besides`` that.

    The same has happened to both but for what is in question. In which order webhooks come is
    open, so that what is still to come about the twin is waited for.

    Args:
        platform: the suite in the part of a platform.
        kind: what the types of the webhooks begin with.
        resource: id of the resource in question.
        twin: id of the other one.
        besides: how many webhooks more there may be of the resource.
    """
    __tracebackhide__ = True

    def told(name: str) -> set[str | None]:
        return {one.id for one in platform.webhooks.about(name) if str(one.type).startswith(kind)}

    surplus = platform.until(
        lambda: len(told(resource)) - len(told(twin)) - besides, lambda found: found <= 0
    )
    assert surplus <= 0, (
        f"{len(told(resource))} {kind} webhooks are about {resource}, {len(told(twin))} about "
        f"{twin}; at most {besides} more were expected"
    )


def let_reports_arrive(platform: Platform, account: Json | None = None) -> None:
    """Let a deposit be reported, and with it all that came before."""
    account = account or platform.internal_accounts.account(amount=0)
    known = ids(platform, BALANCE, account["id"])
    platform.internal_accounts.deposit(account, 1_000)
    if (
        platform.webhooks.wait_for(BALANCE, account["id"], where=lambda d: d.id not in known)
        is None
    ):
        raise PreconditionFailed(f"no {BALANCE} came for {account['id']} after a deposit")


def expect_same(told: Any, read: Json, *members: str) -> None:
    """Assert that members of a webhook's data are those of the resource as it is read.

    Raises:
        ResourceMissing: one of them does not show a member.
    """
    __tracebackhide__ = True
    for member in members:
        shown, seen = value_at(told, member), value_at(read, member)
        if shown is None or seen is None:
            raise ResourceMissing(f"{member} is not both in the webhook and in what is read")
        assert _agree(shown, seen), f"the webhook shows {member} as {shown}, a reading as {seen}"


def _agree(one: Any, other: Any) -> bool:
    """Return whether two values agree in what both show; times may be told less exactly."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        shared = (name for name in one.keys() & other.keys())
        return all(
            _agree(one[name], other[name])
            for name in shared
            if one[name] is not None and other[name] is not None
        )
    if isinstance(one, list) and isinstance(other, list):
        # Lists of codes are sets.
        return len(one) == len(other) and all(any(_agree(a, b) for b in other) for a in one)
    if isinstance(one, str) and isinstance(other, str) and one != other:
        try:
            apart = datetime.fromisoformat(one) - datetime.fromisoformat(other)
        except (ValueError, TypeError):
            return False
        return abs(apart) <= _A_SECOND
    return bool(one == other)
