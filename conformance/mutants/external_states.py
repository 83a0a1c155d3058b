"""Mutants of the statuses of external accounts, of proofs, of trust, and of their webhooks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from sqlalchemy import select

from conformance.mutants.external_accounts import READ, siblings
from conformance.mutants.fields import edited, invented, refusing
from conformance.mutants.mutant import Patch, declare, mutant
from conformance.reference import errors, externals, ownership
from conformance.reference.store import ExternalAccount
from conformance.reference.unit import Ask, Unit

Json = dict[str, Any]
Handler = Callable[[Unit, Ask], Any]
Reach = Callable[[Unit, ExternalAccount, str], None]
Move = tuple[str, str]

_REFERENCE = "conformance.reference"
_EXTERNALS = f"{_REFERENCE}.externals"
REACH = f"{_EXTERNALS}:reach"
RECEIVING = f"{_EXTERNALS}:RECEIVING"
ANNOUNCE = f"{_EXTERNALS}:announce"
_OWNERSHIP = f"{_REFERENCE}.ownership"
CONCLUDE = f"{_OWNERSHIP}:conclude"
_TRUST = f"{_REFERENCE}.trust"

UNPROVEN = "PENDING_OWNERSHIP_VERIFICATION"

WAITS_NO_MORE: Move = ("PENDING", "ACTIVE")
REVIEWED: Move = ("ACTIVE", "UNDER_REVIEW")
APPROVED: Move = ("UNDER_REVIEW", "ACTIVE")
DISABLED: Move = ("ACTIVE", "INACTIVE")
DEMANDED: Move = ("ACTIVE", UNPROVEN)
PROVED: Move = (UNPROVEN, "ACTIVE")
DISPROVED: Move = (UNPROVEN, "UNVERIFIED")


# --- Statuses -------------------------------------------------------------------------------


def moving(move: Move, instead: Reach) -> Callable[[Patch], None]:
    """Return a patch after which something else happens in the place of one move."""

    def wrapper(reach: Reach) -> Reach:
        def other(unit: Unit, account: ExternalAccount, status: str) -> None:
            if (account.status, status) == move:
                instead(unit, account, status)
            else:
                reach(unit, account, status)

        return other

    return lambda patch: patch.wrap(REACH, wrapper)


def _stays(_unit: Unit, _account: ExternalAccount, _status: str) -> None:
    """Leave the account as it is."""


def _to(status: str) -> Reach:
    def instead(unit: Unit, account: ExternalAccount, _status: str) -> None:
        account.status = status
        externals.announce(unit, account)

    return instead


def _silently(_unit: Unit, account: ExternalAccount, status: str) -> None:
    account.status = status


MOVES: tuple[tuple[str, Move, str], ...] = (
    ("EXT-031", WAITS_NO_MORE, "UNDER_REVIEW"),
    ("EXT-032", REVIEWED, "PENDING"),
    ("EXT-033", APPROVED, "PENDING"),
    ("EXT-034", DISABLED, "UNVERIFIED"),
    ("EXT-035", DEMANDED, "UNVERIFIED"),
    ("EXT-064", PROVED, "UNDER_REVIEW"),
    ("EXT-065", DISPROVED, "INACTIVE"),
    ("EXT-066", PROVED, "UNVERIFIED"),
    ("EXT-067", DISPROVED, "ACTIVE"),
)
"""Requirement, the move that it is about, and another status that the account comes to."""

for _requirement, _move, _status in MOVES:
    _name = f"{_move[0]} to {_move[1]}".replace("_", " ").lower()
    declare(_requirement, "stays", f"{_name}: the account stays", moving(_move, _stays))
    declare(
        _requirement, "elsewhere", f"{_name}: it comes to {_status}", moving(_move, _to(_status))
    )


@mutant("EXT-030", "an account that waits is read as one under review")
def waiting_is_review(patch: Patch) -> None:
    def change(body: Json) -> Json:
        return {**body, "status": "UNDER_REVIEW"} if body["status"] == "PENDING" else body

    edited(READ, change)(patch)


@mutant("EXT-036", "all accounts of a customer are moved with one")
def siblings_moved(patch: Patch) -> None:
    def instead(unit: Unit, account: ExternalAccount, status: str) -> None:
        for one in siblings(unit, account):
            one.status = status

    moving(DISABLED, instead)(patch)


# --- Which can receive ----------------------------------------------------------------------


def _receiving(status: str, patch: Patch) -> None:
    """Let accounts at another status receive."""
    patch.replace(RECEIVING, (*externals.RECEIVING, status))


for _requirement, _status in (
    ("EXT-041", "PENDING"),
    ("EXT-042", "UNDER_REVIEW"),
    ("EXT-043", "INACTIVE"),
    ("EXT-044", "UNVERIFIED"),
    ("EXT-049", "INACTIVE"),
):
    declare(
        _requirement,
        "receives",
        f"accounts that are {_status} receive",
        partial(_receiving, _status),
    )


@mutant("EXT-040", "active accounts wait for something")
def active_waits(patch: Patch) -> None:
    patch.replace(RECEIVING, externals.RECEIVING[1:])


@mutant("EXT-040", "payouts to active accounts fail")
def active_fails(patch: Patch) -> None:
    patch.wrap(
        f"{_EXTERNALS}:create",
        lambda create: lambda unit, ask: _blocked(unit, create(unit, ask)),
    )


def _blocked(unit: Unit, body: Json) -> Json:
    unit.session.flush()
    externals.get(unit, body["id"]).condition = "BLOCKED"
    return body


def _to_blocked(unit: Unit, account: ExternalAccount, status: str) -> None:
    account.status = status
    account.condition = "BLOCKED"
    externals.announce(unit, account)


for _requirement, _move in (("EXT-046", APPROVED), ("EXT-047", PROVED)):
    declare(
        _requirement,
        "still-blocked",
        "an account that became active cannot receive",
        moving(_move, _to_blocked),
    )


@mutant("EXT-048", "the destination is not looked at again")
def destination_not_checked(patch: Patch) -> None:
    patch.replace(f"{_REFERENCE}.quotes:refuse_unreachable", lambda _unit, _quote: None)


def _unproven_refused_by(code: str) -> Callable[[Patch], None]:
    def refuse(_unit: Unit, _amount: int, _currency: str) -> None:
        raise errors.Refusal(code, "The account cannot receive.")

    return lambda patch: patch.replace(f"{_REFERENCE}.limits:refuse_unproven", refuse)


for _requirement in ("EXT-045", "ERR-014"):
    for _code in ("INVALID_BANK_ACCOUNT", "CONFLICT"):
        declare(
            _requirement,
            _code.lower(),
            f"an account that is not proved is refused with {_code}",
            _unproven_refused_by(_code),
        )
    declare(
        _requirement,
        "conflict-status",
        "an account that is not proved is a conflict",
        refusing("EXTERNAL_ACCOUNT_VERIFICATION_REQUIRED", 409),
    )


# --- Ownership ------------------------------------------------------------------------------


def _without_method(method: str) -> Callable[[Patch], None]:
    (field,) = ownership.CHALLENGE_FIELDS
    others = tuple(one for one in ownership.METHODS if one != method)
    fields = (replace(field, enum=others),)
    return lambda patch: patch.replace(f"{_OWNERSHIP}:CHALLENGE_FIELDS", fields)


def _reaching_at_start(method: str, status: str) -> Callable[[Patch], None]:
    def wrapper(challenge: Handler) -> Handler:
        def started(unit: Unit, ask: Ask) -> Any:
            body: Json = challenge(unit, ask)
            if body["method"] == method:
                externals.get(unit, ask.params["externalAccountId"]).status = status
            return body

        return started

    return lambda patch: patch.wrap(f"{_OWNERSHIP}:challenge", wrapper)


for _taken, _waits, _method in (
    ("EXT-060", "EXT-062", "WALLET_SIGNATURE"),
    ("EXT-061", "EXT-063", "LIVENESS"),
):
    declare(_taken, "unknown", f"there is no proof by {_method}", _without_method(_method))
    for _status in ("ACTIVE", "PENDING", "UNVERIFIED"):
        declare(
            _waits,
            _status.lower(),
            f"an account is {_status} as soon as a proof by {_method} is started",
            _reaching_at_start(_method, _status),
        )


def _concluded_later(patch: Patch, *, proven: bool) -> None:
    """Let whoever judges signatures take the time."""

    def wrapper(conclude: Callable[..., None]) -> Callable[..., None]:
        def later(unit: Unit, account: ExternalAccount, method: str, **result: bool) -> None:
            if result["proven"] is not proven:
                conclude(unit, account, method, **result)
                return
            name = account.id
            unit.later(0.2, lambda at: conclude(at, externals.get(at, name), method, **result))

        return later

    patch.wrap(CONCLUDE, wrapper)


@mutant("EXT-068", "a right signature is judged a moment later")
def right_judged_later(patch: Patch) -> None:
    _concluded_later(patch, proven=True)


@mutant("EXT-069", "a wrong signature is judged a moment later")
def wrong_judged_later(patch: Patch) -> None:
    _concluded_later(patch, proven=False)


def _failing_after(place: str) -> Callable[[Patch], None]:
    """Return a patch after which a handler does its work, and says that it did not."""

    def wrapper(handler: Handler) -> Handler:
        def failing(unit: Unit, ask: Ask) -> Any:
            handler(unit, ask)
            raise errors.Rejection("CONFLICT", "Something went wrong.")

        return failing

    return lambda patch: patch.wrap(place, wrapper)


declare(
    "EXT-070",
    "complains",
    "a right signature is complained about",
    _failing_after(f"{_OWNERSHIP}:verify"),
)


@mutant("EXT-071", "one proof is taken for all accounts that wait for one")
def all_proved(patch: Patch) -> None:
    def instead(unit: Unit, account: ExternalAccount, status: str) -> None:
        query = select(ExternalAccount).where(ExternalAccount.status == UNPROVEN)
        for one in (account, *unit.session.scalars(query)):
            one.status = status

    moving(PROVED, instead)(patch)


for _requirement, _place in (
    ("EXT-072", f"{_OWNERSHIP}:challenge"),
    ("EXT-073", f"{_OWNERSHIP}:verify"),
    ("EXT-170", f"{_TRUST}:untrust"),
    ("EXT-171", f"{_TRUST}:confirm"),
):
    declare(
        _requirement,
        "invented",
        "it works for an account that does not exist",
        invented(_place, "externalAccountId"),
    )
    declare(_requirement, "conflict", "it is a conflict", refusing("ACCOUNT_NOT_FOUND", 409))


# --- Trust ----------------------------------------------------------------------------------


@mutant("EXT-160", "trusted beneficiaries can be deleted")
def trusted_deleted(patch: Patch) -> None:
    patch.replace(f"{_EXTERNALS}:refuse_trusted", lambda _account: None)


declare(
    "EXT-160",
    "bad-request",
    "it is a bad request to delete a trusted beneficiary",
    refusing("BENEFICIARY_TRUSTED", 400),
)


@mutant("EXT-161", "a trusted beneficiary is some conflict")
def trusted_conflicts(patch: Patch) -> None:
    def refuse(account: ExternalAccount) -> None:
        if externals.is_trusted(account):
            raise errors.Refusal("CONFLICT", "The account cannot be deleted.")

    patch.replace(f"{_EXTERNALS}:refuse_trusted", refuse)


@mutant("EXT-162", "a trusted beneficiary is deleted before it is refused")
def deleted_then_refused(patch: Patch) -> None:
    def refuse(account: ExternalAccount) -> None:
        if externals.is_trusted(account):
            account.deleted = True
            raise errors.Rejection("BENEFICIARY_TRUSTED", "The beneficiary is trusted.")

    patch.replace(f"{_EXTERNALS}:refuse_trusted", refuse)


declare("EXT-163", "complains", "an untrusting is refused", _failing_after(f"{_TRUST}:untrust"))
declare("EXT-164", "complains", "a right proof is refused", _failing_after(f"{_TRUST}:confirm"))


def _confirming(then: Callable[[Unit, ExternalAccount], None]) -> Callable[[Patch], None]:
    """Return a patch after which more follows from the confirmation of an untrusting."""

    def wrapper(confirm: Handler) -> Handler:
        def confirmed(unit: Unit, ask: Ask) -> Any:
            body = confirm(unit, ask)
            then(unit, externals.get(unit, ask.params["externalAccountId"]))
            return body

        return confirmed

    return lambda patch: patch.wrap(f"{_TRUST}:confirm", wrapper)


@mutant("EXT-165", "trust is never taken away")
def trusted_for_ever(patch: Patch) -> None:
    def then(_unit: Unit, account: ExternalAccount) -> None:
        account.trust = "TRUSTED"

    _confirming(then)(patch)


@mutant("EXT-166", "who is not trusted is deleted")
def deleted_with_the_trust(patch: Patch) -> None:
    def then(_unit: Unit, account: ExternalAccount) -> None:
        account.deleted = True

    _confirming(then)(patch)


@mutant("EXT-172", "who is not trusted is disabled")
def disabled_with_the_trust(patch: Patch) -> None:
    def then(_unit: Unit, account: ExternalAccount) -> None:
        account.status = "INACTIVE"

    _confirming(then)(patch)


@mutant("EXT-167", "all beneficiaries of a customer lose their trust with one")
def siblings_untrusted(patch: Patch) -> None:
    def then(unit: Unit, account: ExternalAccount) -> None:
        for one in siblings(unit, account):
            one.trust = "NONE"

    _confirming(then)(patch)


@mutant("EXT-168", "trust is gone as soon as somebody asks")
def untrusted_when_asked(patch: Patch) -> None:
    patch.replace(f"{_EXTERNALS}:is_trusted", lambda account: account.trust == "TRUSTED")


@mutant("EXT-169", "any proof confirms an untrusting")
def any_proof_confirms(patch: Patch) -> None:
    patch.replace(f"{_TRUST}:check_proof", lambda _unit, _account, _body: None)


# --- Webhooks -------------------------------------------------------------------------------

for _requirement, _move in (
    ("EVT-122", APPROVED),
    ("EVT-123", REVIEWED),
    ("EVT-124", DISABLED),
    ("EVT-125", DEMANDED),
    ("EVT-126", PROVED),
    ("EVT-127", DISPROVED),
    ("EVT-128", PROVED),
    ("EVT-129", DISPROVED),
    ("EVT-132", WAITS_NO_MORE),
):
    declare(_requirement, "silent", "nobody is told", moving(_move, _silently))


def _announcing(data: Callable[[ExternalAccount], Any]) -> Callable[[Patch], None]:
    """Return a patch after which a changed status is reported with other data."""

    def announce(unit: Unit, account: ExternalAccount) -> None:
        unit.emit(externals.STATUS_EVENT, data(account))

    return lambda patch: patch.replace(ANNOUNCE, announce)


DATA: tuple[tuple[str, str, Callable[[ExternalAccount], Any]], ...] = (
    ("EVT-120", "text", lambda account: account.id),
    ("EVT-120", "list", lambda account: [externals.view(account)]),
    ("EVT-121", "renamed", lambda account: {"externalAccountId": account.id}),
    ("EVT-121", "bare-id", lambda account: {"id": account.id.partition(":")[2], "of": account.id}),
    (
        "EVT-121",
        "of-the-owner",
        lambda account: {"id": account.customer_id, "externalAccountId": account.id},
    ),
    (
        "EVT-121",
        "another",
        lambda account: {"id": "ExternalAccount:1", "externalAccountId": account.id},
    ),
)
"""Requirement, name, and data of the webhook."""

for _requirement, _name, _data in DATA:
    declare(_requirement, f"data-{_name}", f"the data are {_name}", _announcing(_data))


@mutant("EVT-130", "all webhooks about an account have one id")
def one_id(patch: Patch) -> None:
    def announce(unit: Unit, account: ExternalAccount) -> None:
        unit.emit(externals.STATUS_EVENT, externals.view(account))
        unit.events[-1]["id"] = f"Webhook:{account.id.partition(':')[2]}"

    patch.replace(ANNOUNCE, announce)


@mutant("EVT-131", "all accounts of a customer are reported with one")
def siblings_reported(patch: Patch) -> None:
    def announce(unit: Unit, account: ExternalAccount) -> None:
        for one in siblings(unit, account):
            unit.emit(externals.STATUS_EVENT, externals.view(one))

    patch.replace(ANNOUNCE, announce)
