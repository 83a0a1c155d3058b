"""Mutants of credentials: how many there are of each, and what their refusals say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlalchemy import select

from conformance.proof.kit.builders import around, before, edited, instead
from conformance.proof.kit.edits import put, without
from conformance.proof.kit.tables import with_row, with_status, without_row
from conformance.proof.mutant import declare, mutant
from conformance.proof.patch import Apply, Patch
from conformance.reference import errors
from conformance.reference.embedded_wallets import credentials
from conformance.reference.store import Credential, InternalAccount
from conformance.reference.unit import Unit

_ONE_TIME = ("EMAIL_OTP", "SMS_OTP")


def unlimited(kind: str) -> Apply:
    """Return a patch by which an account has any number of credentials of a type."""
    original = credentials.is_same
    return instead(
        credentials, "is_same", lambda known, new: new.type != kind and original(known, new)
    )


def by_address(kind: str) -> Apply:
    """Return a patch by which an account has a credential of a type for each address."""
    original = credentials.is_same
    return instead(
        credentials,
        "is_same",
        lambda known, new: (
            original(known, new) and (new.type != kind or known.address == new.address)
        ),
    )


def once_a_customer(kind: str) -> Apply:
    """Return a patch by which all accounts of a customer together have one credential of a type."""

    def refuse(unit: Unit, credential: Credential) -> None:
        owner = unit.session.get_one(InternalAccount, credential.account_id).customer_id
        query = (
            select(Credential)
            .join(InternalAccount, InternalAccount.id == Credential.account_id)
            .where(InternalAccount.customer_id == owner, Credential.type == kind)
        )
        if credential.type == kind and unit.session.scalars(query).first() is not None:
            raise errors.Refusal(credentials.EXISTS[kind], "The customer has one already.")

    return before(credentials, "refuse_known", refuse)


def once_for_all(kind: str) -> Apply:
    """Return a patch by which all accounts together have one credential of a type.

    Those from before the service was started are forgotten.
    """

    def patch(patch: Patch) -> None:
        owners: set[str] = set()

        def refuse(original: Callable[..., None], unit: Unit, credential: Credential) -> None:
            if credential.type == kind and owners:
                raise errors.Refusal(credentials.EXISTS[kind], "There is one already.")
            original(unit, credential)
            if credential.type == kind:
                owners.add(credential.account_id)

        patch.wrap(credentials, "refuse_known", refuse)

    return patch


def excluded(first: str, second: str) -> Apply:
    """Return a patch by which one type of one-time code excludes the other."""
    original = credentials.is_same
    return instead(
        credentials,
        "is_same",
        lambda known, new: (known.type, new.type) == (first, second) or original(known, new),
    )


ALREADY = (("CRD-001", "EMAIL_OTP"), ("CRD-002", "SMS_OTP"), ("CRD-010", "PASSKEY"))
ALONE = (("CRD-003", "EMAIL_OTP"), ("CRD-004", "SMS_OTP"), ("CRD-012", "PASSKEY"))
BESIDE = (("CRD-005", "EMAIL_OTP", "SMS_OTP"), ("CRD-006", "SMS_OTP", "EMAIL_OTP"))
SYNC = (("CRD-020", "EMAIL_OTP"), ("CRD-021", "SMS_OTP"))

for _requirement, _kind in ALREADY:
    declare(_requirement, "unlimited", f"{_kind} is added again and again", unlimited(_kind))
    if _kind in _ONE_TIME:
        declare(
            _requirement, "by-address", f"each address has an {_kind} of its own", by_address(_kind)
        )
    declare(
        _requirement,
        "conflict",
        f"a second {_kind} is a conflict",
        with_status(credentials.EXISTS[_kind], 409),
    )
    declare(
        _requirement,
        "invalid",
        f"a second {_kind} is invalid input",
        with_row(credentials, "EXISTS", _kind, "INVALID_INPUT"),
    )

for _requirement, _kind in ALONE:
    declare(_requirement, "once", f"one {_kind} is enough for all accounts", once_for_all(_kind))
    if _kind in _ONE_TIME:
        declare(
            _requirement,
            "once-a-customer",
            f"one {_kind} is enough for all accounts of a customer",
            once_a_customer(_kind),
        )

for _requirement, _first, _second in BESIDE:
    declare(
        _requirement,
        "excluded",
        f"{_first} excludes {_second}",
        excluded(_first, _second),
    )

for _requirement, _kind in SYNC:
    _code = credentials.UNSYNCHRONIZED[_kind]
    declare(_requirement, "bad-request", f"{_code} is a bad request", with_status(_code, 400))
    declare(
        _requirement,
        "unnoticed",
        f"nobody notices that a {_kind} is not taken over",
        without_row(credentials, "UNSYNCHRONIZED", _kind),
    )
    _other = next(name for name in _ONE_TIME if name != _kind)
    declare(
        _requirement,
        "mixed-up",
        f"the code for {_other} tells of a {_kind}",
        with_row(credentials, "UNSYNCHRONIZED", _kind, credentials.UNSYNCHRONIZED[_other]),
    )


@mutant("CRD-011", "an account has one passkey")
def one_passkey(patch: Patch) -> None:
    patch.replace(credentials, "is_same", lambda known, new: known.type == new.type)


@mutant(
    "CRD-014", "the latest passkey of several is taken again", (credentials, "refuse_known"), around
)
def latest_forgotten(original: Callable[..., None], unit: Unit, credential: Credential) -> None:
    query = select(Credential).where(
        Credential.account_id == credential.account_id, Credential.type == credential.type
    )
    known = unit.session.scalars(query).all()
    if len(known) < 2 or known[-1].passkey_id != credential.passkey_id:
        original(unit, credential)


@mutant("CRD-013", "a first passkey is called a known one", (credentials, "refuse_known"), instead)
def known_from_the_start(unit: Unit, credential: Credential) -> None:
    query = select(Credential).where(Credential.account_id == credential.account_id)
    if all(credentials.is_same(known, credential) for known in unit.session.scalars(query)):
        raise errors.Refusal(credentials.EXISTS[credential.type], "There is one already.")


ERRORS: tuple[tuple[str, str, Callable[[Any], Any]], ...] = (
    ("CRD-030", "without-reason", without("reason")),
    ("CRD-030", "without-code", without("code")),
    ("CRD-030", "text", lambda body: f"{body['code']}: {body['reason']}"),
    ("CRD-031", "text", put("details", "credentialId")),
    ("CRD-031", "list", put("details", ["credentialId"])),
)

for _requirement, _name, _edit in ERRORS:
    declare(_requirement, _name, f"error objects are wrong: {_name}", edited(errors, "view", _edit))
