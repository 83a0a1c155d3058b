"""Proofs that a customer owns an external account: by a signature or by a liveness check."""

from __future__ import annotations

import pytest

from conformance.platform.given.beneficiaries import Way
from conformance.platform.given.external_accounts import UNPROVEN
from conformance.platform.platform import Platform
from conformance.platform.resource import arranged_body, unknown_id
from conformance.scenarios.kit.marks import Check, requirement


@pytest.mark.parametrize(
    ("way", "taken", "waits"),
    [
        pytest.param(way, taken, waits, marks=requirement(taken, waits), id=way)
        for way, taken, waits in (
            ("signature", "EXT-060", "EXT-062"),
            ("liveness", "EXT-061", "EXT-063"),
        )
    ],
)
def test_a_proof_can_be_started(
    platform: Platform, check: Check, way: Way, taken: str, waits: str
) -> None:
    """That alone proves nothing."""
    account = platform.ownership.unproven(platform.external_accounts.account_holder())

    started = platform.ownership.start(account, way)

    with check(taken):
        assert started.accepted, started
    with check(waits):
        arranged_body(started)
        assert platform.external_accounts.read(account).get("status") == UNPROVEN


@pytest.mark.parametrize(
    ("way", "right", "status"),
    [
        pytest.param(way, right, status, marks=requirement(rule), id=f"{way}-{status}")
        for rule, way, right, status in (
            ("EXT-064", "signature", True, "ACTIVE"),
            ("EXT-065", "signature", False, "UNVERIFIED"),
            ("EXT-066", "liveness", True, "ACTIVE"),
            ("EXT-067", "liveness", False, "UNVERIFIED"),
        )
    ],
)
def test_a_proof_decides_the_status(platform: Platform, way: Way, right: bool, status: str) -> None:
    """Whether it succeeds or fails."""
    account = platform.ownership.unproven(platform.external_accounts.account_holder())

    platform.ownership.conclude(account, way, right=right)

    read = platform.external_accounts.at_status(account, "ACTIVE", "UNVERIFIED")
    assert read.get("status") == status


@pytest.mark.parametrize(
    ("right", "status"),
    [
        pytest.param(True, "ACTIVE", marks=requirement("EXT-068"), id="right"),
        pytest.param(False, "UNVERIFIED", marks=requirement("EXT-069"), id="wrong"),
    ],
)
def test_a_signature_is_judged_at_once(platform: Platform, right: bool, status: str) -> None:
    """Nobody has to wait for another event, or to ask again."""
    account = platform.ownership.unproven(platform.external_accounts.account_holder())

    platform.ownership.conclude(account, "signature", right=right)

    assert platform.external_accounts.read(account).get("status") == status


@requirement("EXT-070", "EXT-071")
def test_a_right_signature_is_accepted(platform: Platform, check: Check) -> None:
    """For the account that it is about, and no other."""
    account, other = (
        platform.ownership.unproven(platform.external_accounts.account_holder()) for _ in range(2)
    )
    for one in (account, other):
        arranged_body(platform.ownership.start(one, "signature"))

    answer = platform.ownership.sign(account)

    with check("EXT-070"):
        assert answer.accepted, answer
    with check("EXT-071"):
        platform.external_accounts.arrange_status(account, "ACTIVE")
        assert platform.external_accounts.read(other).get("status") == UNPROVEN


@requirement("EXT-072", "EXT-073")
def test_nothing_is_proved_of_what_does_not_exist(platform: Platform, check: Check) -> None:
    """Neither is the proof started, nor completed."""
    account = platform.ownership.unproven(platform.external_accounts.account_holder())
    missing = {"id": unknown_id(account["id"])}

    started = platform.ownership.start(missing, "signature")
    signed = platform.ownership.sign(missing)

    with check("EXT-072"):
        started.refused(404, twin=platform.ownership.start(account, "signature"))
    with check("EXT-073"):
        signed.refused(404, twin=platform.ownership.sign(account))
