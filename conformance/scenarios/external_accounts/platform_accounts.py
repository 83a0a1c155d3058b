"""External accounts of the platform: how they are brought to a status, and proofs of them."""

from __future__ import annotations

from conformance.platform.given.beneficiaries import Way
from conformance.platform.given.external_accounts import LEADS_TO
from conformance.platform.platform import Platform
from conformance.platform.resource import Resource
from conformance.scenarios.quotes.payments import readable_platform_account
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing, TriggerFailed


def move_platform_account(platform: Platform, account: Resource, trigger: str) -> None:
    """Let a trigger move an external account of the platform, and wait for its status.

    Raises:
        ResourceMissing: the trigger is for new accounts, or for those of customers alone.
        PreconditionFailed: the account does not come to the status that the trigger leads to.
    """
    if platform.triggers.magic(trigger) is not None:
        raise ResourceMissing(f"{trigger} happens to new accounts alone")
    try:
        platform.triggers.fire(trigger, externalAccountId=account["id"])
    except TriggerFailed as error:
        raise ResourceMissing(f"{trigger} is for accounts of customers alone: {error}") from error
    platform.external_accounts.arrange_status(account, LEADS_TO[trigger])


def unproven_platform_account(platform: Platform) -> Resource:
    """Create an external account whose ownership the platform has to prove.

    Raises:
        ResourceMissing: the platform has no such accounts, or no proof of them is asked for.
    """
    account = readable_platform_account(platform, platform.profile.resources.ownership_account)
    if account.get("status") != LEADS_TO["ownership.demand"]:
        move_platform_account(platform, account, "ownership.demand")
    return account


def conclude_platform_proof(
    platform: Platform, account: Resource, way: Way, *, right: bool
) -> None:
    """Start a proof that the platform owns an external account, and let it succeed or fail.

    Raises:
        ResourceMissing: such proofs are for customers alone.
    """
    try:
        platform.ownership.conclude(account, way, right=right)
    except (PreconditionFailed, TriggerFailed) as error:
        raise ResourceMissing(f"only customers prove what they own: {error}") from error
