"""Proofs that a customer owns an external account: by a signature or by a liveness check."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus

import pytest

from conformance.platform.given.beneficiaries import Way
from conformance.platform.given.external_accounts import UNPROVEN
from conformance.platform.platform import Platform
from conformance.platform.resource import (
    Json,
    Resource,
    arranged_body,
    require_member,
    unknown_id,
    without_members,
)
from conformance.scenarios.external_accounts.kinds import WALLETS
from conformance.scenarios.external_accounts.platform_accounts import (
    conclude_platform_proof,
    unproven_platform_account,
)
from conformance.scenarios.kit.cases import case
from conformance.scenarios.kit.marks import Check, requirement
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing, TriggerFailed


@pytest.mark.parametrize(
    ("way", "accepted_id", "waiting_id"),
    [
        case((accepted_id, waiting_id), way, way, accepted_id, waiting_id)
        for way, accepted_id, waiting_id in (
            ("signature", "EXT-060", "EXT-062"),
            ("liveness", "EXT-061", "EXT-063"),
        )
    ],
)
def test_a_proof_can_be_started(
    platform: Platform, check: Check, way: Way, accepted_id: str, waiting_id: str
) -> None:
    """The start of a proof of ownership is accepted, and leaves the account's status as it is."""
    account = platform.ownership.unproven(platform.external_accounts.account_holder())

    answer = platform.ownership.start(account, way)

    with check(accepted_id):
        answer.expect_accepted()
    with check(waiting_id):
        arranged_body(answer)
        assert platform.external_accounts.read(account).get("status") == UNPROVEN


PROOFS = {
    ("signature", True): ("EXT-064", "ACTIVE"),
    ("signature", False): ("EXT-065", "UNVERIFIED"),
    ("liveness", True): ("EXT-066", "ACTIVE"),
    ("liveness", False): ("EXT-067", "UNVERIFIED"),
}
"""By a way to a proof, and whether it is right, the requirement and the status that it leads to."""


@pytest.mark.parametrize(
    ("way", "right"),
    [
        case((requirement_id, "EXT-012", "EXT-036", "EXT-037"), f"{way}-{status}", way, right)
        for (way, right), (requirement_id, status) in PROOFS.items()
    ],
)
def test_a_proof_decides_the_status(
    platform: Platform, check: Check, way: Way, right: bool
) -> None:
    """A valid proof of ownership leads to ACTIVE, a wrong one to UNVERIFIED, and the list says so.

    Another account of the customer still waits for a proof of its own. The account is read with
    the id of the platform that it had.
    """
    requirement_id, status = PROOFS[way, right]
    owner = platform.external_accounts.account_holder()
    account = platform.ownership.unproven(owner)
    other = _another(platform, owner, account)

    platform.ownership.conclude(account, way, right=right)

    account_read = platform.external_accounts.at_status(account, "ACTIVE", "UNVERIFIED")
    with check(requirement_id):
        assert account_read.get("status") == status
    with check("EXT-012"):
        before = require_member(account, "platformAccountId")
        assert account_read.get("platformAccountId") == before, account_read
    with check("EXT-036"):
        _expect_unproven(platform, other)
    with check("EXT-037"):
        if account_read.get("status") != status:
            raise ResourceMissing(f"the account is {account_read.get('status')}")
        listed_account = platform.until(
            lambda: platform.external_accounts.as_listed(owner, account) or account,
            lambda row: row.get("status") == status,
        )
        assert listed_account.get("status") == status
        if other is not None and platform.external_accounts.read(other).get("status") == UNPROVEN:
            other_listed = platform.external_accounts.as_listed(owner, other)
            assert (other_listed or other).get("status") == UNPROVEN, other_listed


@pytest.mark.parametrize(
    ("way", "right"),
    [
        case((requirement_id, "EXT-036"), f"{way}-{status}", way, right)
        for (way, right), (requirement_id, status) in PROOFS.items()
    ],
)
def test_a_proof_decides_the_status_of_a_newer_account(
    platform: Platform, check: Check, way: Way, right: bool
) -> None:
    """A proof of an account leads where others do, while an older one waits for its own."""
    requirement_id, status = PROOFS[way, right]
    owner = platform.external_accounts.account_holder()
    older = platform.ownership.unproven(owner)
    account = _another(platform, owner, older)
    if account is None:
        raise ResourceMissing("a customer has one account of this type")

    platform.ownership.conclude(account, way, right=right)

    account_read = platform.external_accounts.at_status(account, "ACTIVE", "UNVERIFIED")
    with check(requirement_id):
        assert account_read.get("status") == status
    with check("EXT-036"):
        _expect_unproven(platform, older)


@pytest.mark.parametrize(
    ("way", "right"),
    [
        case((requirement_id, "EXT-037"), f"{way}-{status}", way, right)
        for (way, right), (requirement_id, status) in PROOFS.items()
    ],
)
def test_a_proof_of_the_platform_decides_the_status(
    platform: Platform, check: Check, way: Way, right: bool
) -> None:
    """What proves or disproves that the platform owns an account leads where others do.

    The platform's list says so.
    """
    requirement_id, status = PROOFS[way, right]
    account = unproven_platform_account(platform)

    conclude_platform_proof(platform, account, way, right=right)

    shown = platform.external_accounts.at_status(account, "ACTIVE", "UNVERIFIED")
    with check(requirement_id):
        assert shown.get("status") == status
    with check("EXT-037"):
        if shown.get("status") != status:
            raise ResourceMissing(f"the account is {shown.get('status')}")
        statuses = platform.until(
            lambda: [
                row.get("status")
                for row in platform.external_accounts.of_platform()
                if row["id"] == account["id"]
            ],
            lambda seen: seen == [status],
        )
        if not statuses:
            raise ResourceMissing("the account is not listed")
        assert statuses == [status]


@pytest.mark.parametrize(
    ("right", "status"),
    [
        case("EXT-068", "right", True, "ACTIVE"),
        case("EXT-069", "wrong", False, "UNVERIFIED"),
    ],
)
def test_a_signature_is_judged_at_once(platform: Platform, right: bool, status: str) -> None:
    """A reading directly after the signature shows ACTIVE or UNVERIFIED, without waiting.

    So does the answer to the signature, where it is the account.
    """
    account = platform.ownership.unproven(platform.external_accounts.account_holder())
    started = platform.ownership.start(account, "signature")

    answer = platform.ownership.sign(account, started, right=right)

    assert platform.external_accounts.read(account).get("status") == status
    shown = answer.body if answer.accepted and isinstance(answer.body, Mapping) else {}
    if shown.get("id") == account["id"]:
        assert shown.get("status") in (None, status), answer


@requirement("EXT-070", "EXT-071")
def test_a_right_signature_is_accepted(platform: Platform, check: Check) -> None:
    """A valid signature proves the ownership of its account, and not of another account."""
    owner = platform.external_accounts.account_holder()
    account = platform.ownership.unproven(owner)
    other = _another(platform, owner, account)
    started = platform.ownership.start(account, "signature")
    if other is not None:
        arranged_body(platform.ownership.start(other, "signature"))

    answer = platform.ownership.sign(account, started)

    with check("EXT-070"):
        answer.expect_accepted()
    with check("EXT-071"):
        platform.external_accounts.arrange_status(account, "ACTIVE")
        _expect_unproven(platform, other)


@requirement("EXT-075")
def test_a_late_signature_disproves_nothing(platform: Platform) -> None:
    """An account that a right signature made ACTIVE stays so when a wrong one comes after it."""
    account = platform.ownership.unproven(platform.external_accounts.account_holder())
    started = platform.ownership.start(account, "signature")
    arranged_body(platform.ownership.sign(account, started))
    platform.external_accounts.arrange_status(account, "ACTIVE")

    answer = platform.ownership.sign(account, started, right=False)

    assert platform.external_accounts.read(account).get("status") != "UNVERIFIED", answer


@requirement("EXT-072", "EXT-073")
def test_nothing_is_proved_of_what_does_not_exist(platform: Platform, check: Check) -> None:
    """Neither step of a proof is taken for an unknown account, nor for one that was deleted."""
    owner = platform.external_accounts.account_holder()
    account = platform.ownership.unproven(owner)
    other = _another(platform, owner, account)
    unknown_account = {"id": unknown_id(account["id"])}
    begun = None if other is None else platform.ownership.start(other, "signature")
    is_gone = other is not None and _is_deleted(platform, other)

    start_refusal = platform.ownership.start(unknown_account, "signature")
    started = platform.ownership.start(account, "signature")

    with check("EXT-072"):
        start_refusal.refused(404, twin=started)
        if other is not None and is_gone:
            platform.ownership.start(other, "signature").refused(404, 410, twin=started)
    with check("EXT-073"):
        proof = platform.ownership.body(account, started)
        signature_refusal = platform.api.verify_ownership(unknown_account["id"], proof)
        late_refusal = None
        if other is not None and begun is not None and begun.accepted and is_gone:
            late_refusal = platform.ownership.sign(other, begun, right=False)
        twin = platform.api.verify_ownership(account["id"], proof)
        signature_refusal.refused(404, twin=twin)
        if late_refusal is not None:
            late_refusal.refused(404, 410, twin=twin)


@requirement("EXT-074")
def test_nothing_is_proved_that_was_not_started(platform: Platform) -> None:
    """A wrong signature without a proof that was started breaks nothing, and proves nothing."""
    account, other = (
        platform.ownership.unproven(platform.external_accounts.account_holder()) for _ in range(2)
    )
    started = platform.ownership.start(other, "signature")

    answer = platform.ownership.sign(account, started, right=False)

    assert answer.status != HTTPStatus.INTERNAL_SERVER_ERROR, answer
    assert platform.external_accounts.read(account).get("status") != "ACTIVE"


@requirement("EXT-076")
def test_a_proof_that_is_not_due_breaks_nothing(platform: Platform) -> None:
    """The start of a proof for an ACTIVE account may be refused, and the account stays ACTIVE."""
    account = platform.external_accounts.account(platform.external_accounts.account_holder())
    if platform.external_accounts.read(account).get("status") != "ACTIVE":
        raise ResourceMissing("the usual external account waits for a proof")

    answer = platform.ownership.start(account, "signature")

    assert answer.status != HTTPStatus.INTERNAL_SERVER_ERROR, answer
    assert platform.external_accounts.read(account).get("status") == "ACTIVE", answer


@requirement("EXT-077")
def test_a_proof_does_not_bring_a_disabled_account_back(platform: Platform) -> None:
    """An account that was disabled while it waited for a proof stays INACTIVE when one comes."""
    account = platform.ownership.unproven(platform.external_accounts.account_holder())
    started = platform.ownership.start(account, "signature")
    arranged_body(started)
    try:
        platform.triggers.fire("external_account.disable", externalAccountId=account["id"])
        platform.external_accounts.arrange_status(account, "INACTIVE")
    except (PreconditionFailed, TriggerFailed) as error:
        raise ResourceMissing(
            f"no account is disabled while it waits for a proof: {error}"
        ) from error

    answer = platform.ownership.sign(account, started)

    assert platform.external_accounts.read(account).get("status") == "INACTIVE", answer


def _another(platform: Platform, owner: Resource, account: Resource) -> Resource | None:
    """Return a customer's account elsewhere that waits for a proof too; ``None`` if there is none.

    Who proves an address may have proved it for each account that is there. One address may also be
    registered only once, or again as the account that there is.
    """
    usual = platform.profile.resources.ownership_account
    place = _details(platform.external_accounts.body(owner, usual))
    for name in dict.fromkeys((usual, *WALLETS)):
        try:
            if _details(platform.external_accounts.body(owner, name)) == place:
                continue
            other = platform.external_accounts.moved(owner, "ownership.demand", name)
        except (PreconditionFailed, ResourceMissing, TriggerFailed):
            continue
        shown = _details(other)
        if other["id"] != account["id"] and (not shown or shown != _details(account)):
            return other
    return None


def _details(account: Json) -> Json:
    """Return what an account tells beside its type."""
    info = account.get("accountInfo")
    return without_members(info, "accountType") if isinstance(info, Mapping) else {}


def _expect_unproven(platform: Platform, other: Resource | None) -> None:
    __tracebackhide__ = True
    if other is None:
        raise ResourceMissing("a customer has one account to prove")
    assert platform.external_accounts.read(other).get("status") == UNPROVEN


def _is_deleted(platform: Platform, account: Resource) -> bool:
    """Delete an external account, and return whether it is gone."""
    return platform.api.delete_external_account(account["id"]).accepted and platform.until(
        lambda: not platform.api.get_external_account(account["id"]).accepted, bool
    )
