"""Whether a trigger that ends a review stands in the place of a target that ends it by itself."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from conformance.cli.checkup.findings import Finding, note
from conformance.exchange.folder import RunFolder
from conformance.platform.platform import Platform
from conformance.platform.resource import arranged_resource
from conformance.profile.model import Profile
from conformance.run import Connection
from conformance.sut.target import Target
from conformance.testdata.beneficiaries import beneficiary_examples
from conformance.verdict.decisions import Unmet
from conformance.verdict.plan import Plan

_APPROVE = "external_account.approve"
_STATE_SECONDS = 3.0


def look_at_approval(target: Target, plan: Plan, folder: Path, seed: int = 1) -> Iterator[Finding]:
    """Yield a note where an account becomes active although its trigger was not fired.

    Where it is mapped, the suite leaves open whether an account with a fault would have become
    active: the trigger would have decided that.
    """
    trigger = target.profile.triggers.get(_APPROVE)
    if trigger is None or trigger.magic is not None:
        return
    alone = Target.resolve(target.base_url, _without_webhooks(target.profile), os.environ)
    run_folder = RunFolder.claim(folder)
    try:
        connection = Connection.open(alone, seed=seed, folder=run_folder)
        try:
            is_needless = _becomes_active(connection.platform("doctor"))
            connection.tear_down()
        finally:
            connection.close()
    finally:
        run_folder.release()
    if not is_needless:
        return
    hidden = {
        change.requirement
        for example in beneficiary_examples().values()
        for _, change in example.faults
    }
    open_ones = [entry for entry in plan.entries.values() if entry.reason is None]
    kept = sum(entry.requirement.id in hidden for entry in open_ones)
    needing = sum(_APPROVE in entry.requirement.needs.triggers for entry in open_ones)
    yield note(
        _APPROVE,
        "a new account became ACTIVE without it. As long as it is mapped, it keeps up to "
        f"{kept} requirements (faults of beneficiaries) from a verdict, where the account with "
        f"the fault is taken and only its review may refuse it; {needing} requirements need it. "
        "Run once with it and once without",
        f"triggers.{_APPROVE}",
    )


def _without_webhooks(profile: Profile) -> Profile:
    """Return a profile with which nothing listens, and nothing waits as long as in a run."""
    silent = {"webhooks": False, "webhook_signatures": False}
    return profile.model_copy(
        update={
            "features": profile.features.model_copy(update=silent),
            "timing": profile.timing.model_copy(update={"state": _STATE_SECONDS}),
        }
    )


def _becomes_active(platform: Platform) -> bool:
    """Return whether a new external account awaits a review, and becomes active by itself."""
    accounts = platform.external_accounts
    try:
        body = accounts.body(accounts.account_holder())
        account = arranged_resource(platform.api.create_external_account(body))
        is_new = accounts.waits_for_trigger(account)
        return is_new and accounts.at_status(account, "ACTIVE").get("status") == "ACTIVE"
    except Unmet:
        # The trial says what stands in the way.
        return False
