"""EXTERNAL_ACCOUNT.STATUS_UPDATED: which changes of an external account are reported."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Literal

import pytest

from conformance.exchange.delivery import Delivery
from conformance.platform.given.beneficiaries import Way
from conformance.platform.given.external_accounts import LEADS_TO, WAITING
from conformance.platform.platform import Platform
from conformance.platform.resource import Resource, arranged_resource
from conformance.scenarios.external_accounts.platform_accounts import (
    conclude_platform_proof,
    move_platform_account,
    unproven_platform_account,
)
from conformance.scenarios.kit.cases import case
from conformance.scenarios.kit.marks import Check, requirement
from conformance.scenarios.quotes.payments import readable_platform_account
from conformance.scenarios.webhooks.reports import STATUS_UPDATED, event_ids, let_reports_arrive
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing

MAX_REPORTS_OF_CREATION = 2
"""The creation of an account may be reported, and its verification."""


@requirement("EVT-120", "EVT-121", "EVT-124")
def test_a_disabled_account_is_reported(platform: Platform, check: Check) -> None:
    """A new webhook has the disabled account as its data."""
    account = platform.external_accounts.account(platform.external_accounts.account_holder())
    known_ids = event_ids(platform, STATUS_UPDATED, account["id"])
    platform.triggers.fire("external_account.disable", externalAccountId=account["id"])

    with check("EVT-124"):
        _expect_report(platform, account, known_ids)
    events = [
        event
        for event in platform.webhooks.mentioning(account["id"])
        if event.type == STATUS_UPDATED
    ]
    if not events:
        raise PreconditionFailed(f"no {STATUS_UPDATED} names {account['id']}")
    with check("EVT-120"):
        assert all(isinstance(event.data, Mapping) for event in events)
    with check("EVT-121"):
        assert all(event.concerns(account["id"]) for event in events)


@requirement("EVT-124")
def test_a_disabled_account_of_a_business_is_reported(platform: Platform) -> None:
    """Disabling an external account of a business is reported by a new webhook."""
    account = platform.external_accounts.account(
        platform.external_accounts.account_holder("BUSINESS")
    )

    _expect_report_of(platform, account, "external_account.disable")


@requirement("EVT-131")
def test_a_change_is_reported_of_no_account_with_the_same_name(platform: Platform) -> None:
    """No new webhook is about another customer's older account with the same platformAccountId."""
    name = {"platformAccountId": platform.samples.own_id()}
    accounts = []
    for holder in (platform.external_accounts.account_holder() for _ in range(2)):
        body = {**platform.external_accounts.body(holder), **name}
        answer = platform.api.create_external_account(body)
        if not answer.accepted:
            raise ResourceMissing(f"two accounts do not share a platformAccountId: {answer}")
        accounts.append(platform.external_accounts.activate(arranged_resource(answer, holder)))
    older, account = accounts
    if platform.triggers.magic("external_account.disable") is not None:
        raise ResourceMissing("external_account.disable happens to new accounts alone")
    # The creation of an account may be reported, and its verification.
    let_reports_arrive(platform)
    known_ids = event_ids(platform, STATUS_UPDATED, older["id"])

    platform.triggers.fire("external_account.disable", externalAccountId=account["id"])

    reported = _is_reported(platform, account, set())
    let_reports_arrive(platform)
    new_ids = event_ids(platform, STATUS_UPDATED, older["id"]) - known_ids
    assert not new_ids, f"{account['id']} was disabled, and {older['id']} is reported"
    if not reported:
        raise PreconditionFailed(f"no {STATUS_UPDATED} for {account['id']} after its change")


@requirement("EVT-124")
@pytest.mark.parametrize("name", ["mxn_account", "rwf_account", "solana_wallet"])
def test_a_disabled_account_of_any_type_is_reported(platform: Platform, name: str) -> None:
    """Disabling a bank account abroad, mobile money or a wallet is reported by a new webhook."""
    holder = platform.external_accounts.account_holder()
    try:
        account = platform.external_accounts.account(holder, name)
    except PreconditionFailed as error:
        raise ResourceMissing(f"there can be no {name}: {error}") from error

    _expect_report_of(platform, account, "external_account.disable")


@pytest.mark.parametrize(
    "trigger",
    [
        case("EVT-123", "reviewed", "external_account.review"),
        case("EVT-124", "disabled", "external_account.disable"),
    ],
)
def test_a_new_status_of_an_account_of_the_platform_is_reported(
    platform: Platform, trigger: str
) -> None:
    """What moves an external account that belongs to no customer is reported by a new webhook."""
    account = readable_platform_account(platform)

    _expect_report_after(
        platform, account, partial(move_platform_account, platform, account, trigger)
    )


@requirement("EVT-122")
def test_an_approval_for_the_platform_is_reported(platform: Platform) -> None:
    """The end of a review of the platform's account is reported by a new webhook."""
    account = readable_platform_account(platform)
    known_ids = event_ids(platform, STATUS_UPDATED, account["id"])
    move_platform_account(platform, account, "external_account.review")
    if not _is_reported(platform, account, known_ids):
        raise PreconditionFailed(f"no {STATUS_UPDATED} for {account['id']} after its review")

    _expect_report_after(
        platform,
        account,
        partial(move_platform_account, platform, account, "external_account.approve"),
    )


@requirement("EVT-123")
def test_a_review_is_reported(platform: Platform) -> None:
    """The beginning of a review of an external account is reported by a new webhook."""
    account = platform.external_accounts.account(platform.external_accounts.account_holder())

    _expect_report_of(platform, account, "external_account.review")


@requirement("EVT-122")
def test_an_approval_is_reported(platform: Platform) -> None:
    """The approval of an external account under review is reported by a new webhook."""
    account = platform.external_accounts.account(platform.external_accounts.account_holder())
    _arrange_report(platform, account, "external_account.review")

    _expect_report_of(platform, account, "external_account.approve")


@requirement("EVT-122", "EVT-123")
def test_the_review_of_an_account_of_a_business_is_reported(
    platform: Platform, check: Check
) -> None:
    """Its beginning and the approval at its end are reported by a new webhook each."""
    account = platform.external_accounts.account(
        platform.external_accounts.account_holder("BUSINESS")
    )

    with check("EVT-123"):
        _expect_report_of(platform, account, "external_account.review")
    with check("EVT-122"):
        _expect_report_of(platform, account, "external_account.approve")


@requirement("EVT-132")
def test_a_first_approval_is_reported(platform: Platform) -> None:
    """The approval of an account that waits for its verification is reported by a new webhook.

    The webhook does not show the account as waiting.
    """
    account = platform.external_accounts.awaiting_verification(
        platform.external_accounts.account_holder()
    )
    # An approval that comes by itself may have come already.
    is_caused = platform.triggers.maps("external_account.approve")
    known_ids = event_ids(platform, STATUS_UPDATED, account["id"]) if is_caused else set()

    platform.external_accounts.approve(account)

    # A new account may be shown as PENDING for a moment more, and be reported as such.
    _expect_report(platform, account, known_ids, before=WAITING)


@requirement("EVT-125")
@pytest.mark.parametrize("holder", ["INDIVIDUAL", "BUSINESS"])
def test_the_demand_of_a_proof_is_reported(
    platform: Platform, holder: Literal["INDIVIDUAL", "BUSINESS"]
) -> None:
    """The demand of a proof of ownership is reported by a new webhook."""
    name = platform.profile.resources.ownership_account
    account = platform.external_accounts.account(
        platform.external_accounts.account_holder(holder), name
    )

    _expect_report_of(platform, account, "ownership.demand")


@requirement("EVT-125")
def test_the_demand_of_a_proof_of_the_platform_is_reported(platform: Platform) -> None:
    """The demand of a proof that the platform owns an account is reported by a new webhook."""
    account = readable_platform_account(platform, platform.profile.resources.ownership_account)
    if account.get("status") == LEADS_TO["ownership.demand"]:
        raise ResourceMissing("the account waits for a proof already")

    _expect_report_after(
        platform,
        account,
        partial(move_platform_account, platform, account, "ownership.demand"),
    )


PROOFS = [
    case(requirement_id, f"{way}-{'right' if right else 'wrong'}", way, right)
    for requirement_id, way, right in (
        ("EVT-126", "signature", True),
        ("EVT-127", "signature", False),
        ("EVT-128", "liveness", True),
        ("EVT-129", "liveness", False),
    )
]
"""Ways to a proof, and whether it is right, each with its requirement."""


@pytest.mark.parametrize(("way", "right"), PROOFS)
def test_the_end_of_a_proof_is_reported(platform: Platform, way: Way, right: bool) -> None:
    """A valid or a wrong proof of ownership is reported by a new webhook."""
    account = platform.ownership.unproven(platform.external_accounts.account_holder())
    # The change to this status may be reported as well, unless it is the first status.
    platform.webhooks.wait_for(STATUS_UPDATED, account["id"], within=platform.profile.timing.quiet)

    _expect_report_after(
        platform, account, partial(platform.ownership.conclude, account, way, right=right)
    )


@pytest.mark.parametrize(("way", "right"), PROOFS)
def test_the_end_of_a_proof_of_the_platform_is_reported(
    platform: Platform, way: Way, right: bool
) -> None:
    """A valid or a wrong proof that the platform owns an account is reported by a new webhook."""
    account = unproven_platform_account(platform)
    platform.webhooks.wait_for(STATUS_UPDATED, account["id"], within=platform.profile.timing.quiet)

    _expect_report_after(
        platform, account, partial(conclude_platform_proof, platform, account, way, right=right)
    )


@requirement("EVT-130")
def test_two_changes_are_two_events(platform: Platform) -> None:
    """Disabling an account after a review is reported by a webhook with another id."""
    account = platform.external_accounts.account(platform.external_accounts.account_holder())
    _arrange_report(platform, account, "external_account.review")

    _expect_report_of(platform, account, "external_account.disable")


@requirement("EVT-131")
@pytest.mark.parametrize("place", [0, 1], ids=["first", "second"])
def test_another_account_is_not_reported(platform: Platform, place: int) -> None:
    """Changes of one account do not add webhooks about another account of the customer.

    Its creation alone may be reported by two webhooks.
    """
    owner = platform.external_accounts.account_holder()
    accounts = [platform.external_accounts.account(owner) for _ in range(2)]
    account = accounts[place]

    reported = True
    for trigger in ("external_account.review", "external_account.approve") * 2:
        known_ids = event_ids(platform, STATUS_UPDATED, account["id"])
        platform.triggers.fire(trigger, externalAccountId=account["id"])
        reported = reported and _is_reported(platform, account, known_ids)

    if not reported:
        let_reports_arrive(platform)
    # One may have been made before these.
    listed = platform.external_accounts.of_customer(owner)
    for other in {one["id"] for one in (*accounts, *listed)} - {account["id"]}:
        assert len(event_ids(platform, STATUS_UPDATED, other)) <= MAX_REPORTS_OF_CREATION
    if not reported:
        raise PreconditionFailed(f"not each change of {account['id']} is reported")


def _is_reported(
    platform: Platform, account: Resource, known_ids: set[str | None], before: str | None = None
) -> bool:
    """Return whether a webhook about an account is new, and does not show its earlier status.

    Args:
        platform: the suite in the part of a platform.
        account: the external account.
        known_ids: the ids of the webhooks that were there.
        before: the earlier status; without it any may be shown.
    """

    def is_new(event: Delivery) -> bool:
        shown = event.data.get("status") if isinstance(event.data, Mapping) else None
        return event.id not in known_ids and (shown is None or shown != before)

    return platform.webhooks.wait_for(STATUS_UPDATED, account["id"], where=is_new) is not None


def _expect_report(
    platform: Platform, account: Resource, known_ids: set[str | None], before: str | None = None
) -> None:
    __tracebackhide__ = True
    assert _is_reported(platform, account, known_ids, before), (
        f"no {STATUS_UPDATED} for {account['id']} beside {known_ids}"
        + (f" with another status than {before}" if before else "")
    )


def _expect_report_after(
    platform: Platform, account: Resource, action: Callable[[], object]
) -> None:
    """Assert that an action on an account is reported by a new webhook."""
    __tracebackhide__ = True
    known_ids = event_ids(platform, STATUS_UPDATED, account["id"])
    before = platform.external_accounts.read(account).get("status")
    action()
    _expect_report(platform, account, known_ids, before)


def _expect_report_of(platform: Platform, account: Resource, trigger: str) -> None:
    """Assert that the change of an account by a trigger is reported by a new webhook.

    Raises:
        ResourceMissing: the account has the status that the trigger leads to already.
    """
    __tracebackhide__ = True
    if platform.external_accounts.read(account).get("status") == LEADS_TO[trigger]:
        raise ResourceMissing(f"the account is {LEADS_TO[trigger]} already")
    _expect_report_after(
        platform, account, partial(platform.triggers.fire, trigger, externalAccountId=account["id"])
    )


def _arrange_report(platform: Platform, account: Resource, trigger: str) -> None:
    """Change an account by a trigger, and wait until a new webhook reports it.

    Raises:
        PreconditionFailed: no webhook reports the change.
    """
    known_ids = event_ids(platform, STATUS_UPDATED, account["id"])
    platform.triggers.fire(trigger, externalAccountId=account["id"])
    if not _is_reported(platform, account, known_ids):
        raise PreconditionFailed(f"no {STATUS_UPDATED} for {account['id']} after {trigger}")
