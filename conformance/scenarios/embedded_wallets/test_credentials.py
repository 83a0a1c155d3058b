"""Credentials of embedded wallets: how many of each there may be, and what their keeper says."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from conformance.platform.platform import Platform
from conformance.platform.resource import Resource
from conformance.platform.triggers import Asked
from conformance.scenarios.embedded_wallets.signing import UNSIGNED
from conformance.scenarios.kit.marks import Check, requirement
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing

CODES = {
    "email_otp": "EMAIL_OTP_CREDENTIAL_ALREADY_EXISTS",
    "sms_otp": "SMS_OTP_CREDENTIAL_ALREADY_EXISTS",
}
SYNC = {
    "email_otp": "EMAIL_OTP_CREDENTIAL_SYNC_FAILED",
    "sms_otp": "SMS_OTP_CREDENTIAL_SYNC_FAILED",
}


# --- One-time codes -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param("email_otp", marks=requirement("CRD-001")),
        pytest.param("sms_otp", marks=requirement("CRD-002")),
    ],
)
def test_an_account_has_one_credential_of_a_kind(platform: Platform, kind: str) -> None:
    """A second one is refused, and named."""
    wallet = platform.wallets.wallet()
    first = added(platform, wallet, kind)

    second = ask(platform, wallet, kind)

    second.refused(400, CODES[kind], twin=first)


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param("email_otp", marks=requirement("CRD-003")),
        pytest.param("sms_otp", marks=requirement("CRD-004")),
    ],
)
def test_another_account_has_a_credential_of_its_own(platform: Platform, kind: str) -> None:
    """One of each is what an account may have, and not the platform."""
    mine, yours = platform.wallets.wallet(), platform.wallets.wallet()
    without_one(platform, mine, kind)

    answer = ask(platform, yours, kind)

    assert answer.accepted, answer


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param("email_otp", "sms_otp", marks=requirement("CRD-005")),
        pytest.param("sms_otp", "email_otp", marks=requirement("CRD-006")),
    ],
)
def test_one_of_each_kind_is_taken(platform: Platform, first: str, second: str) -> None:
    """A code by mail and one by text message do not exclude each other."""
    without_one(platform, platform.wallets.wallet(), second)
    wallet = platform.wallets.wallet()
    without_one(platform, wallet, first)

    answer = ask(platform, wallet, second)

    assert answer.accepted, answer


# --- Passkeys -------------------------------------------------------------------------------


@requirement("CRD-010")
def test_a_passkey_is_registered_once(platform: Platform) -> None:
    """The same WebAuthn credential id is refused."""
    wallet = platform.wallets.wallet()
    name = platform.samples.reference()
    first = passkey(platform, wallet, name)

    again = passkey(platform, wallet, name)

    again.refused(400, "PASSKEY_CREDENTIAL_ALREADY_EXISTS", twin=first)


@requirement("CRD-011")
def test_a_second_passkey_is_taken(platform: Platform) -> None:
    """It has another WebAuthn credential id."""
    wallet = platform.wallets.wallet()
    first = passkey(platform, wallet, platform.samples.reference())
    arrange_added(first)

    second = passkey(platform, wallet, platform.samples.reference())

    assert second.accepted, second


@requirement("CRD-012")
def test_another_account_has_a_passkey_of_its_own(platform: Platform) -> None:
    """With a WebAuthn credential id that nobody has registered."""
    mine, yours = platform.wallets.wallet(), platform.wallets.wallet()
    arrange_added(passkey(platform, mine, platform.samples.reference()))

    answer = passkey(platform, yours, platform.samples.reference())

    assert answer.accepted, answer


# --- Their keeper ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param("email_otp", marks=requirement("CRD-020")),
        pytest.param("sms_otp", marks=requirement("CRD-021")),
    ],
)
def test_a_credential_that_is_not_synchronized_is_told(platform: Platform, kind: str) -> None:
    """The code says of which kind it is; the same credential of another account is taken."""
    wallet, other = platform.wallets.wallet(), platform.wallets.wallet()
    platform.triggers.fire("credential.desynchronize", accountId=wallet["id"])

    answer = ask(platform, wallet, kind)

    if is_there(answer, kind):
        raise ResourceMissing(f"wallets have an {kind} credential from the start")
    answer.refused(424, SYNC[kind], twin=added(platform, other, kind))


# --- Refusals -------------------------------------------------------------------------------


@requirement("CRD-030", "CRD-031")
def test_a_refused_credential_is_answered_with_the_error_object(
    platform: Platform, check: Check
) -> None:
    """It has a code and a reason, and details, if any, are an object."""
    wallet = platform.wallets.wallet()
    name = platform.samples.reference()
    arrange_added(passkey(platform, wallet, name))

    again = passkey(platform, wallet, name)

    if again.accepted:
        raise ResourceMissing(f"it was not refused: {again}")
    with check("CRD-030"):
        assert isinstance(again.body, Mapping), again
        assert isinstance(again.body.get("code"), str), again
        assert isinstance(again.body.get("reason"), str), again
    with check("CRD-031"):
        assert isinstance(again.body.get("details") or {}, Mapping), again


def ask(platform: Platform, wallet: Resource, kind: str) -> Asked:
    """Ask for a one-time code credential of a wallet."""
    return seen(platform, platform.triggers.ask(f"credential.{kind}", accountId=wallet["id"]))


def passkey(platform: Platform, wallet: Resource, name: str) -> Asked:
    """Ask for a passkey with a WebAuthn credential id."""
    return seen(
        platform,
        platform.triggers.ask("credential.passkey", accountId=wallet["id"], credentialId=name),
    )


def added(platform: Platform, wallet: Resource, kind: str) -> Asked:
    """Return the answer by which a wallet has a one-time code credential.

    Where it has one from the start, a passkey takes its part.
    """
    answer = ask(platform, wallet, kind)
    if is_there(answer, kind):
        platform.observe(f"wallets have an {kind} credential from the start")
        return passkey(platform, wallet, platform.samples.reference())
    return answer


def without_one(platform: Platform, wallet: Resource, kind: str) -> None:
    """Add a one-time code credential to a wallet that has none of its kind.

    Raises:
        ResourceMissing: it has one from the start.
    """
    answer = ask(platform, wallet, kind)
    if is_there(answer, kind):
        raise ResourceMissing(f"wallets have an {kind} credential from the start")
    arrange_added(answer)


def arrange_added(answer: Asked) -> None:
    """Raise ``PreconditionFailed`` unless a credential was added that a check builds on."""
    if not answer.accepted:
        raise PreconditionFailed(f"a step before the check failed: {answer}")


def seen(platform: Platform, answer: Asked) -> Asked:
    """Return the answer to a credential.

    Raises:
        ResourceMissing: it is added by a signed retry, which a mapped request cannot be.
    """
    if platform.wallets.asks_again(answer) or answer.code in UNSIGNED:
        raise ResourceMissing(f"a credential is added by a signed retry: {answer}")
    return answer


def is_there(answer: Asked, kind: str) -> bool:
    """Return whether a credential was refused, as the account has one of its kind."""
    return not answer.accepted and answer.code == CODES[kind]
