"""Webhooks about the status of external accounts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import pytest

from conformance.platform.given.beneficiaries import Way
from conformance.platform.given.external_accounts import LEADS_TO
from conformance.platform.platform import Platform
from conformance.platform.resource import Resource
from conformance.scenarios.kit.marks import Check, requirement
from conformance.scenarios.webhooks.reports import CHANGED, ids
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing

MOST_OF_A_CREATION = 2
"""It may be reported that an account is new, and that it is verified."""


@requirement("EVT-120", "EVT-121", "EVT-124")
def test_a_disabled_account_is_reported(platform: Platform, check: Check) -> None:
    """With the account, whatever else is shown of it."""
    account = platform.external_accounts.account(platform.external_accounts.account_holder())
    known = ids(platform, CHANGED, account["id"])
    platform.triggers.fire("external_account.disable", externalAccountId=account["id"])

    with check("EVT-124"):
        _expect_told(platform, account, known)
    told = [one for one in platform.webhooks.mentioning(account["id"]) if one.type == CHANGED]
    if not told:
        raise PreconditionFailed(f"no {CHANGED} names {account['id']}")
    with check("EVT-120"):
        assert all(isinstance(one.data, Mapping) for one in told)
    with check("EVT-121"):
        assert all(one.concerns(account["id"]) for one in told)


@requirement("EVT-123")
def test_a_review_is_reported(platform: Platform) -> None:
    """Somebody looks at the account again."""
    account = platform.external_accounts.account(platform.external_accounts.account_holder())

    _expect_told_of(platform, account, "external_account.review")


@requirement("EVT-122")
def test_an_approval_is_reported(platform: Platform) -> None:
    """After the review."""
    account = platform.external_accounts.account(platform.external_accounts.account_holder())
    _arrange(platform, account, "external_account.review")

    _expect_told_of(platform, account, "external_account.approve")


@requirement("EVT-132")
def test_a_first_approval_is_reported(platform: Platform) -> None:
    """The account was created before anybody had verified it."""
    account = platform.external_accounts.awaiting_verification(
        platform.external_accounts.account_holder()
    )

    _expect_told_of(platform, account, "external_account.approve")


@requirement("EVT-125")
def test_the_demand_of_a_proof_is_reported(platform: Platform) -> None:
    """The customer has to act, or may soon."""
    name = platform.profile.resources.ownership_account
    account = platform.external_accounts.account(platform.external_accounts.account_holder(), name)

    _expect_told_of(platform, account, "ownership.demand")


@pytest.mark.parametrize(
    ("way", "right"),
    [
        pytest.param(
            way, right, marks=requirement(rule), id=f"{way}-{'right' if right else 'wrong'}"
        )
        for rule, way, right in (
            ("EVT-126", "signature", True),
            ("EVT-127", "signature", False),
            ("EVT-128", "liveness", True),
            ("EVT-129", "liveness", False),
        )
    ],
)
def test_the_end_of_a_proof_is_reported(platform: Platform, way: Way, right: bool) -> None:
    """Whether it succeeds or fails."""
    account = platform.ownership.unproven(platform.external_accounts.account_holder())
    # What led to this status is reported as well, or was the account's from the start.
    platform.webhooks.wait_for(CHANGED, account["id"], within=platform.profile.timing.quiet)

    _expect_told_after(
        platform, account, partial(platform.ownership.conclude, account, way, right=right)
    )


@requirement("EVT-130")
def test_two_changes_are_two_events(platform: Platform) -> None:
    """Each has an id of its own."""
    account = platform.external_accounts.account(platform.external_accounts.account_holder())
    _arrange(platform, account, "external_account.review")

    _expect_told_of(platform, account, "external_account.disable")


@requirement("EVT-131")
def test_another_account_is_not_reported(platform: Platform) -> None:
    """It belongs to the same customer, and nothing has happened to it."""
    owner = platform.external_accounts.account_holder()
    account, other = (
        platform.external_accounts.account(owner),
        platform.external_accounts.account(owner),
    )

    for trigger in ("external_account.review", "external_account.approve") * 2:
        _arrange(platform, account, trigger)

    assert len(ids(platform, CHANGED, other["id"])) <= MOST_OF_A_CREATION


def _is_told(platform: Platform, account: Resource, known: set[str | None]) -> bool:
    """Return whether another change than those known is reported, waiting for it if need be."""
    fresh = platform.webhooks.wait_for(
        CHANGED, account["id"], where=lambda one: one.id not in known
    )
    return fresh is not None


def _expect_told(platform: Platform, account: Resource, known: set[str | None]) -> None:
    __tracebackhide__ = True
    assert _is_told(platform, account, known), f"no {CHANGED} for {account['id']} beside {known}"


def _expect_told_after(platform: Platform, account: Resource, action: Callable[[], object]) -> None:
    """Assert that an action on an account is reported by a webhook of its own."""
    __tracebackhide__ = True
    known = ids(platform, CHANGED, account["id"])
    action()
    _expect_told(platform, account, known)


def _expect_told_of(platform: Platform, account: Resource, trigger: str) -> None:
    """Assert that a trigger's change of an account is reported by a webhook of its own."""
    __tracebackhide__ = True
    if platform.external_accounts.read(account).get("status") == LEADS_TO[trigger]:
        raise ResourceMissing(f"the account is {LEADS_TO[trigger]} already")
    _expect_told_after(
        platform, account, partial(platform.triggers.fire, trigger, externalAccountId=account["id"])
    )


def _arrange(platform: Platform, account: Resource, trigger: str) -> None:
    """Let something happen to an account, and wait until it is reported."""
    known = ids(platform, CHANGED, account["id"])
    platform.triggers.fire(trigger, externalAccountId=account["id"])
    if not _is_told(platform, account, known):
        raise PreconditionFailed(f"no {CHANGED} for {account['id']} after {trigger}")
