"""Credentials of embedded wallets: how many of a kind an account has, and refused ones."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

import pytest

from conformance.platform.given.embedded_wallets import WALLET
from conformance.platform.platform import Platform
from conformance.platform.resource import Resource
from conformance.platform.triggers import Asked
from conformance.scenarios.configuration.settings import supported_codes
from conformance.scenarios.embedded_wallets.signing import UNSIGNED
from conformance.scenarios.kit.cases import case
from conformance.scenarios.kit.marks import Check, requirement
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing

CODES = {
    "email_otp": "EMAIL_OTP_CREDENTIAL_ALREADY_EXISTS",
    "sms_otp": "SMS_OTP_CREDENTIAL_ALREADY_EXISTS",
    "passkey": "PASSKEY_CREDENTIAL_ALREADY_EXISTS",
}
SYNC_CODES = {
    "email_otp": "EMAIL_OTP_CREDENTIAL_SYNC_FAILED",
    "sms_otp": "SMS_OTP_CREDENTIAL_SYNC_FAILED",
}


# --- One-time codes -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kind",
    [
        case("CRD-001", "email_otp", "email_otp"),
        case("CRD-002", "sms_otp", "sms_otp"),
    ],
)
def test_an_account_has_one_credential_of_a_kind(platform: Platform, kind: str) -> None:
    """A second one-time code credential of a kind is refused with 400 and the code of its kind.

    Its address may be that of the first one or another one.
    """
    wallet = platform.wallets.wallet()
    address, other_address = (new_address(platform, wallet, kind) for _ in range(2))
    first = add_code(platform, wallet, kind, address)

    seconds = [ask_for_code(platform, wallet, kind, to) for to in (other_address, address)]

    for second in seconds:
        second.refused(400, CODES[kind], twin=first)


@pytest.mark.parametrize(
    "kind",
    [
        case("CRD-003", "email_otp", "email_otp"),
        case("CRD-004", "sms_otp", "sms_otp"),
    ],
)
def test_another_account_has_a_credential_of_its_own(platform: Platform, kind: str) -> None:
    """A credential is accepted although another account has one of the same kind."""
    other_wallet, wallet = platform.wallets.wallet(), platform.wallets.wallet()
    arrange_first_code(platform, other_wallet, kind)

    answer = ask_for_code(platform, wallet, kind)

    assert answer.accepted, answer


@pytest.mark.parametrize(
    "kind",
    [
        case("CRD-003", "email_otp", "email_otp"),
        case("CRD-004", "sms_otp", "sms_otp"),
    ],
)
def test_another_wallet_of_its_owner_has_a_credential_of_its_own(
    platform: Platform, kind: str
) -> None:
    """A credential is accepted although another wallet of the customer has one of the kind."""
    other_wallet, wallet = two_wallets_of_one_customer(platform)
    arrange_first_code(platform, other_wallet, kind)

    answer = ask_for_code(platform, wallet, kind)

    assert answer.accepted, answer


@pytest.mark.parametrize(
    ("first", "second"),
    [
        case("CRD-005", "email_otp-sms_otp", "email_otp", "sms_otp"),
        case("CRD-006", "sms_otp-email_otp", "sms_otp", "email_otp"),
    ],
)
def test_one_of_each_kind_is_taken(platform: Platform, first: str, second: str) -> None:
    """An email credential and an SMS credential are accepted for one account."""
    arrange_first_code(platform, platform.wallets.wallet(), second)
    wallet = platform.wallets.wallet()
    arrange_first_code(platform, wallet, first)

    answer = ask_for_code(platform, wallet, second)

    assert answer.accepted, answer


# --- Passkeys -------------------------------------------------------------------------------


@requirement("CRD-010")
def test_a_passkey_is_registered_once(platform: Platform) -> None:
    """A second passkey with the same WebAuthn credential id is refused with 400."""
    wallet = platform.wallets.wallet()
    name = platform.samples.reference()
    first = ask_for_passkey(platform, wallet, name)

    second = ask_for_passkey(platform, wallet, name)

    second.refused(400, CODES["passkey"], twin=first)


@requirement("CRD-014")
def test_none_of_several_passkeys_is_registered_again(platform: Platform) -> None:
    """The first and the second passkey of an account are refused with 400 when sent again."""
    wallet = platform.wallets.wallet()
    names = [platform.samples.reference(), platform.samples.reference()]
    firsts = [ask_for_passkey(platform, wallet, name) for name in names]
    for first in firsts:
        arrange_added(first)

    again = [ask_for_passkey(platform, wallet, name) for name in names]

    for refusal, first in zip(again, firsts, strict=True):
        refusal.refused(400, CODES["passkey"], twin=first)


@requirement("CRD-011")
def test_a_second_passkey_is_taken(platform: Platform) -> None:
    """A second passkey with another WebAuthn credential id is accepted."""
    wallet = platform.wallets.wallet()
    first = ask_for_passkey(platform, wallet, platform.samples.reference())
    arrange_added(first)

    second = ask_for_passkey(platform, wallet, platform.samples.reference())

    assert second.accepted, second


@requirement("CRD-013")
def test_a_first_passkey_is_not_registered_already(platform: Platform) -> None:
    """A first passkey with a new credential id is not refused as if it were there already."""
    answer = ask_for_passkey(platform, platform.wallets.wallet(), platform.samples.reference())

    assert not exists_already(answer, "passkey"), answer
    arrange_added(answer)


@requirement("CRD-012")
def test_another_account_has_a_passkey_of_its_own(platform: Platform) -> None:
    """A passkey is accepted although another account has a passkey of another credential id."""
    other_wallet, wallet = platform.wallets.wallet(), platform.wallets.wallet()
    arrange_added(ask_for_passkey(platform, other_wallet, platform.samples.reference()))

    answer = ask_for_passkey(platform, wallet, platform.samples.reference())

    assert answer.accepted, answer


# --- Synchronization ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kind",
    [
        case("CRD-020", "email_otp", "email_otp"),
        case("CRD-021", "sms_otp", "sms_otp"),
    ],
)
def test_a_credential_that_is_not_synchronized_is_told(platform: Platform, kind: str) -> None:
    """A credential whose synchronization fails is refused with 424 and the code of its kind."""
    wallet, other = platform.wallets.wallet(), platform.wallets.wallet()
    platform.triggers.fire("credential.desynchronize", accountId=wallet["id"])

    answer = ask_for_code(platform, wallet, kind)

    if exists_already(answer, kind):
        raise ResourceMissing(f"wallets have an {kind} credential from the start")
    answer.refused(424, SYNC_CODES[kind], twin=add_code(platform, other, kind))


# --- Refusals -------------------------------------------------------------------------------


@requirement("CRD-030", "CRD-031")
def test_a_refused_credential_is_answered_with_the_error_object(
    platform: Platform, check: Check
) -> None:
    """The refusal of a credential has a code and a reason, and details, if any, are an object."""
    wallet = platform.wallets.wallet()
    name = platform.samples.reference()
    arrange_added(ask_for_passkey(platform, wallet, name))

    second = ask_for_passkey(platform, wallet, name)

    if second.accepted:
        raise ResourceMissing(f"it was not refused: {second}")
    with check("CRD-030"):
        assert isinstance(second.body, Mapping), second
        assert isinstance(second.body.get("code"), str), second
        assert isinstance(second.body.get("reason"), str), second
    with check("CRD-031"):
        assert isinstance(second.body.get("details") or {}, Mapping), second


def two_wallets_of_one_customer(platform: Platform) -> list[Resource]:
    """Return two embedded wallets of a new customer.

    Raises:
        ResourceMissing: customers get one wallet at most.
    """
    supported = supported_codes(platform).intersection(("BTC", "USDC", "USDT", "USDB"))
    customer = platform.approved.customer(
        currencies=sorted({*supported, platform.profile.currency, platform.wallets.currency})
    )
    wallets = platform.until(
        lambda: [
            account
            for account in platform.internal_accounts.of_customer(customer)
            if account.get("type") == WALLET and account.get("status") != "PENDING"
        ],
        lambda found: len(found) > 1,
    )
    if len(wallets) < 2:
        raise ResourceMissing(f"{customer['id']} has {len(wallets)} embedded wallets")
    return wallets[:2]


def new_address(platform: Platform, wallet: Resource, kind: str) -> str:
    """Return an address that nobody has, to which one-time codes of a kind are sent."""
    digest = unused_text(wallet, platform.samples.reference())
    if kind == "email_otp":
        return f"wallet-{digest[:16]}@example.com"
    return f"+1415555{int(digest, 16) % 10_000:04}"


def unused_text(wallet: Resource, name: str) -> str:
    """Return a text that is made of a name and of a wallet.

    An earlier run with the same seed may have used one that is made of the name alone.
    """
    return hashlib.sha256(f"{name}/{wallet['id']}".encode()).hexdigest()


def ask_for_code(
    platform: Platform, wallet: Resource, kind: str, address: str | None = None
) -> Asked:
    """Ask for a one-time code credential of a wallet, and return the answer.

    Its address is by default one that nobody has.
    """
    return require_unsigned(
        platform,
        platform.triggers.ask(
            f"credential.{kind}",
            accountId=wallet["id"],
            address=address or new_address(platform, wallet, kind),
        ),
    )


def ask_for_passkey(platform: Platform, wallet: Resource, name: str) -> Asked:
    """Ask for a passkey of a wallet with a WebAuthn credential id, and return the answer.

    The id is made of the name and of the wallet.
    """
    return require_unsigned(
        platform,
        platform.triggers.ask(
            "credential.passkey",
            accountId=wallet["id"],
            credentialId=unused_text(wallet, name),
        ),
    )


def add_code(platform: Platform, wallet: Resource, kind: str, address: str | None = None) -> Asked:
    """Add a one-time code credential to a wallet, by default with an address that nobody has.

    Where the wallet has such a credential from the start, a passkey is added in its place.
    """
    answer = ask_for_code(platform, wallet, kind, address)
    if exists_already(answer, kind):
        platform.observe(f"wallets have an {kind} credential from the start")
        return ask_for_passkey(platform, wallet, platform.samples.reference())
    return answer


def arrange_first_code(platform: Platform, wallet: Resource, kind: str) -> None:
    """Add a one-time code credential to a wallet that has none of the kind.

    Raises:
        ResourceMissing: the wallet has one of the kind from the start.
        PreconditionFailed: the credential is refused.
    """
    answer = ask_for_code(platform, wallet, kind)
    if exists_already(answer, kind):
        raise ResourceMissing(f"wallets have an {kind} credential from the start")
    arrange_added(answer)


def arrange_added(answer: Asked) -> None:
    """Raise ``PreconditionFailed`` unless a credential was added that a check builds on."""
    if not answer.accepted:
        raise PreconditionFailed(f"refused: {answer}", breaks=answer.breaks)


def require_unsigned(platform: Platform, answer: Asked) -> Asked:
    """Return the answer to a request for a credential.

    Raises:
        ResourceMissing: the request needs a signed retry, which a mapped request cannot have.
    """
    if platform.wallets.asks_again(answer) or answer.code in UNSIGNED:
        raise ResourceMissing(f"a credential is added by a signed retry: {answer}")
    return answer


def exists_already(answer: Asked, kind: str) -> bool:
    """Return whether a credential was refused because the account has one of its kind."""
    return not answer.accepted and answer.code == CODES[kind]
