"""Trusted beneficiaries: they cannot be deleted until the trust is taken away."""

from __future__ import annotations

from http import HTTPStatus

from conformance.platform.given.beneficiaries import challenge_of
from conformance.platform.platform import Platform
from conformance.platform.resource import Resource, arranged_body, unknown_id
from conformance.scenarios.kit.marks import Check, requirement
from conformance.verdict.decisions import ResourceMissing

TRUSTED = "BENEFICIARY_TRUSTED"


@requirement("EXT-160", "EXT-161", "EXT-162")
def test_a_trusted_beneficiary_cannot_be_deleted(platform: Platform, check: Check) -> None:
    """Another account of the customer can."""
    owner = platform.trust.customer()
    account, other = platform.trust.trusted(owner), platform.external_accounts.account(owner)

    refusal = platform.api.delete_external_account(account["id"])

    twin = platform.api.delete_external_account(other["id"])
    with check("EXT-160"):
        refusal.refused(409, twin=twin)
    with check("EXT-161"):
        refusal.refused(TRUSTED, twin=twin)
    with check("EXT-162"):
        if refusal.accepted:
            raise ResourceMissing("the account was deleted")
        assert platform.api.get_external_account(account["id"]).accepted


@requirement("EXT-163", "EXT-164", "EXT-165", "EXT-166", "EXT-172")
def test_the_trust_in_a_beneficiary_can_be_taken_away(platform: Platform, check: Check) -> None:
    """Then the account can be deleted, but nobody has to."""
    account = platform.trust.trusted(platform.trust.customer())
    before = platform.external_accounts.read(account)

    asked = platform.trust.ask_to_untrust(account)

    with check("EXT-163"):
        assert asked.accepted, asked
    confirmed = platform.trust.confirm(account)
    with check("EXT-164"):
        if not confirmed.accepted and challenge_of(asked.body) is None:
            raise ResourceMissing(f"no proof is asked for, and none is taken: {confirmed}")
        assert confirmed.accepted, confirmed
    after = platform.api.get_external_account(account["id"])
    with check("EXT-166"):
        assert after.accepted, after
    with check("EXT-172"):
        assert arranged_body(after).get("status") == before.get("status")
    with check("EXT-165"):
        deleted = platform.api.delete_external_account(account["id"])
        assert deleted.status == HTTPStatus.NO_CONTENT, deleted


@requirement("EXT-167")
def test_another_beneficiary_stays_trusted(platform: Platform) -> None:
    """Trust is taken away one by one."""
    owner = platform.trust.customer()
    account, other = platform.trust.trusted(owner), platform.trust.trusted(owner)
    platform.trust.untrusted(account)

    refusal = platform.api.delete_external_account(other["id"])

    refusal.refused(409, TRUSTED, twin=platform.api.delete_external_account(account["id"]))


@requirement("EXT-168")
def test_a_beneficiary_is_trusted_until_the_proof(platform: Platform) -> None:
    """Asking alone takes nothing away, where a proof is asked for."""
    account = _challenged(platform)

    refusal = platform.api.delete_external_account(account["id"])

    platform.trust.confirm(account)
    refusal.refused(409, twin=platform.api.delete_external_account(account["id"]))


@requirement("EXT-169")
def test_a_wrong_proof_takes_no_trust_away(platform: Platform) -> None:
    """The right one does."""
    account = _challenged(platform)
    platform.trust.confirm(account, right=False)

    refusal = platform.api.delete_external_account(account["id"])

    platform.trust.ask_to_untrust(account)
    platform.trust.confirm(account)
    refusal.refused(409, twin=platform.api.delete_external_account(account["id"]))


@requirement("EXT-170", "EXT-171")
def test_nothing_is_untrusted_that_does_not_exist(platform: Platform, check: Check) -> None:
    """Neither asked for, nor confirmed."""
    account = platform.trust.trusted(platform.trust.customer())
    missing = {"id": unknown_id(account["id"])}
    asked = platform.trust.ask_to_untrust(account)
    confirmed = platform.trust.confirm(account)

    with check("EXT-170"):
        platform.trust.ask_to_untrust(missing).refused(404, twin=asked)
    with check("EXT-171"):
        if not confirmed.accepted and challenge_of(asked.body) is None:
            raise ResourceMissing(f"no confirmation is needed: {confirmed}")
        platform.trust.confirm(missing).refused(404, twin=confirmed)


def _challenged(platform: Platform) -> Resource:
    """Return a trusted account whose untrusting waits for a proof.

    Raises:
        ResourceMissing: none is asked for.
    """
    account = platform.trust.trusted(platform.trust.customer())
    asked = arranged_body(platform.trust.ask_to_untrust(account))
    if challenge_of(asked) is None:
        raise ResourceMissing("an untrusting asks for no proof, or shows no challenge")
    return account
