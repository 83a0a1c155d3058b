"""Trusted beneficiaries: accounts that cannot be deleted until they are untrusted."""

from __future__ import annotations

from http import HTTPStatus

import pytest

from conformance.platform.given.beneficiaries import challenge_of
from conformance.platform.platform import Platform
from conformance.platform.resource import Resource, arranged_body, unknown_id
from conformance.scenarios.kit.marks import Check, requirement
from conformance.verdict.decisions import ResourceMissing

TRUSTED = "BENEFICIARY_TRUSTED"


@requirement("EXT-100", "EXT-160", "EXT-161", "EXT-162")
@pytest.mark.parametrize("business", [False, True], ids=["individual", "business"])
def test_a_trusted_beneficiary_cannot_be_deleted(
    platform: Platform, check: Check, *, business: bool
) -> None:
    """The deletion of a trusted account is refused with 409 and BENEFICIARY_TRUSTED.

    That of another account of the customer is answered with 204.
    """
    owner = platform.trust.customer(business=business)
    account, other = platform.trust.trusted(owner), platform.external_accounts.account(owner)

    refusal = platform.api.delete_external_account(account["id"])

    twin = platform.api.delete_external_account(other["id"])
    with check("EXT-100"):
        assert twin.status == HTTPStatus.NO_CONTENT, twin
    with check("EXT-160"):
        refusal.refused(409, twin=twin)
    with check("EXT-161"):
        refusal.refused(TRUSTED, twin=twin)
    with check("EXT-162"):
        if refusal.accepted:
            raise ResourceMissing("the account was deleted")
        assert platform.api.get_external_account(account["id"]).accepted
        assert platform.external_accounts.as_listed(owner, account) is not None
    with check("EXT-160"):
        # It is as trusted as before.
        platform.api.delete_external_account(account["id"]).refused(409, twin=twin)


@requirement("EXT-163", "EXT-164", "EXT-165", "EXT-166", "EXT-172")
@pytest.mark.parametrize("business", [False, True], ids=["individual", "business"])
def test_the_trust_in_a_beneficiary_can_be_taken_away(
    platform: Platform, check: Check, *, business: bool
) -> None:
    """An untrusted account keeps its status, and its deletion is answered with 204."""
    account = platform.trust.trusted(platform.trust.customer(business=business))
    before = platform.external_accounts.read(account)

    untrusting = platform.trust.ask_to_untrust(account)

    with check("EXT-163"):
        untrusting.expect_accepted()
    confirmation = platform.trust.confirm(account)
    with check("EXT-164"):
        if not confirmation.accepted and challenge_of(untrusting.body) is None:
            raise ResourceMissing(f"no proof is asked for, and none is taken: {confirmation}")
        confirmation.expect_accepted()
    reading = platform.api.get_external_account(account["id"])
    with check("EXT-166"):
        reading.expect_accepted()
    with check("EXT-172"):
        assert arranged_body(reading).get("status") == before.get("status")
    with check("EXT-165"):
        deletion = platform.api.delete_external_account(account["id"])
        assert deletion.status == HTTPStatus.NO_CONTENT, deletion


@requirement("EXT-167")
def test_another_beneficiary_stays_trusted(platform: Platform) -> None:
    """Untrusting one account leaves another of the same customer trusted."""
    owner = platform.trust.customer()
    account, other = platform.trust.trusted(owner), platform.trust.trusted(owner)
    platform.trust.untrusted(account)

    refusal = platform.api.delete_external_account(other["id"])

    refusal.refused(409, TRUSTED, twin=platform.api.delete_external_account(account["id"]))


@requirement("EXT-164", "EXT-167")
def test_a_proof_is_for_the_beneficiary_that_it_names(platform: Platform, check: Check) -> None:
    """Where two untrustings wait for a proof, that of the first takes no trust from the second."""
    owner = platform.trust.customer()
    account, other = platform.trust.trusted(owner), platform.trust.trusted(owner)
    for one in (account, other):
        if challenge_of(arranged_body(platform.trust.ask_to_untrust(one))) is None:
            raise ResourceMissing("an untrusting asks for no proof, or shows no challenge")

    confirmation = platform.trust.confirm(account)

    if not confirmation.accepted:
        raise ResourceMissing(f"a customer has one untrusting at a time: {confirmation}")
    refusal = platform.api.delete_external_account(other["id"])
    deletion = platform.api.delete_external_account(account["id"])
    with check("EXT-164"):
        deletion.expect_accepted()
    with check("EXT-167"):
        refusal.refused(409, TRUSTED, twin=deletion)


@requirement("EXT-168")
def test_a_beneficiary_is_trusted_until_the_proof(platform: Platform) -> None:
    """Before the confirmation of an untrusting, the deletion is refused with 409."""
    account = _challenged_account(platform)

    refusal = platform.api.delete_external_account(account["id"])

    platform.trust.confirm(account)
    refusal.refused(409, twin=platform.api.delete_external_account(account["id"]))


@requirement("EXT-169")
def test_a_wrong_proof_takes_no_trust_away(platform: Platform) -> None:
    """After a wrong proof the deletion is refused with 409, and after a right one accepted."""
    account = _challenged_account(platform)
    platform.trust.confirm(account, right=False)

    refusal = platform.api.delete_external_account(account["id"])

    platform.trust.ask_to_untrust(account)
    platform.trust.confirm(account)
    refusal.refused(409, twin=platform.api.delete_external_account(account["id"]))


@requirement("EXT-170", "EXT-171")
def test_nothing_is_untrusted_that_does_not_exist(platform: Platform, check: Check) -> None:
    """Both steps of an untrusting are refused with 404 for an unknown account."""
    account = platform.trust.trusted(platform.trust.customer())
    unknown_account = {"id": unknown_id(account["id"])}
    untrusting = platform.trust.ask_to_untrust(account)
    confirmation = platform.trust.confirm(account)

    with check("EXT-170"):
        platform.trust.ask_to_untrust(unknown_account).refused(404, twin=untrusting)
    with check("EXT-171"):
        if not confirmation.accepted and challenge_of(untrusting.body) is None:
            raise ResourceMissing(f"no confirmation is needed: {confirmation}")
        platform.trust.confirm(unknown_account).refused(404, twin=confirmation)


def _challenged_account(platform: Platform) -> Resource:
    """Return a trusted account whose untrusting waits for a proof.

    Raises:
        ResourceMissing: an untrusting asks for no proof, or shows no challenge.
    """
    account = platform.trust.trusted(platform.trust.customer())
    untrusting = arranged_body(platform.trust.ask_to_untrust(account))
    if challenge_of(untrusting) is None:
        raise ResourceMissing("an untrusting asks for no proof, or shows no challenge")
    return account
