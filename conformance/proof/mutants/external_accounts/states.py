"""Mutants of the states of external accounts, of proofs of ownership, and of trust."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import object_session

from conformance.proof.kit.builders import (
    Handler,
    Json,
    Place,
    after,
    around,
    before,
    edited,
    instead,
    invented,
    skipped,
)
from conformance.proof.kit.tables import with_status
from conformance.proof.mutant import declare, mutant
from conformance.proof.mutants.external_accounts.toolkit import (
    APPROVED,
    CREATE,
    DEMANDED,
    DISABLED,
    DISPROVED,
    PROVED,
    REFUSED_UNPROVEN,
    REVIEWED,
    UNPROVEN,
    WAITS_NO_MORE,
    Move,
    Reach,
    moving,
    siblings,
)
from conformance.proof.patch import Apply, Function, Patch
from conformance.reference import errors
from conformance.reference.external_accounts import externals, ownership, trust
from conformance.reference.quotes import parties, quotes, transfers
from conformance.reference.store import Customer, ExternalAccount
from conformance.reference.unit import Ask, Unit

# --- Statuses -------------------------------------------------------------------------------


def _stays(_unit: Unit, _account: ExternalAccount, _status: str) -> None:
    """Leave the account as it is."""


def _to(status: str) -> Reach:
    def otherwise(unit: Unit, account: ExternalAccount, _status: str) -> None:
        account.status = status
        externals.announce(unit, account)

    return otherwise


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


def _stays_the_platforms(unit: Unit, account: ExternalAccount, status: str) -> None:
    if account.customer_id is not None:
        account.status = status
        externals.announce(unit, account)


for _requirement, _move in (
    ("EXT-064", PROVED),
    ("EXT-065", DISPROVED),
    ("EXT-066", PROVED),
    ("EXT-067", DISPROVED),
):
    declare(
        _requirement,
        "of-the-platform",
        "a proof moves no account of the platform",
        moving(_move, _stays_the_platforms),
    )


@mutant("EXT-030", "an account that waits is read as one under review", (externals, "read"), edited)
def waiting_is_review(body: Json) -> Json:
    return {**body, "status": "UNDER_REVIEW"} if body["status"] == "PENDING" else body


@mutant("EXT-030", "a new account that waits is answered as an active one", CREATE, edited)
def waiting_is_answered_active(body: Json) -> Json:
    return {**body, "status": "ACTIVE"} if body["status"] == "PENDING" else body


@mutant("EXT-036", "all accounts of a customer are moved with one")
def siblings_moved(patch: Patch) -> None:
    def otherwise(unit: Unit, account: ExternalAccount, status: str) -> None:
        for one in siblings(unit, account):
            one.status = status

    moving(DISABLED, otherwise)(patch)


def _with_siblings(move: Move, meant: str) -> Apply:
    """Return a patch after which a move takes the owner's other accounts of a status with it."""

    def otherwise(unit: Unit, account: ExternalAccount, status: str) -> None:
        for one in siblings(unit, account):
            if one is account or one.status == meant:
                one.status = status

    return moving(move, otherwise)


for _name, _move in (("proved", PROVED), ("disproved", DISPROVED)):
    declare(
        "EXT-036",
        f"all-{_name}",
        f"all accounts of a customer that wait for a proof are {_name} with one",
        _with_siblings(_move, UNPROVEN),
    )
declare(
    "EXT-036",
    "all-reviewed",
    "a review is one of all accounts of a customer",
    _with_siblings(REVIEWED, "ACTIVE"),
)


def _listed_at(earlier: str, *statuses: str, by: str = "list_for_customers") -> Apply:
    """Return a patch after which accounts at some statuses are listed at an earlier one."""

    def edit(body: Json) -> Json:
        rows = body["data"]
        changed = [{**one, "status": earlier} if one["status"] in statuses else one for one in rows]
        return {**body, "data": changed}

    return edited(externals, by, edit)


for _status in ("UNDER_REVIEW", "INACTIVE"):
    declare(
        "EXT-820",
        f"{_status.lower()}-hidden",
        f"the platform's list shows an account that is {_status} as active",
        _listed_at("ACTIVE", _status, by="list_for_platform"),
    )
declare(
    "EXT-037",
    "waiting-hidden",
    "an account that waits for its proof is listed as pending",
    _listed_at("PENDING", UNPROVEN),
)
declare(
    "EXT-037",
    "platform-first-status",
    "the platform's list shows each account as it was when it was created",
    _listed_at("ACTIVE", UNPROVEN, "UNVERIFIED", by="list_for_platform"),
)


def _nameless(unit: Unit, account: ExternalAccount, status: str) -> None:
    account.status = status
    account.platform_account_id = None
    externals.announce(unit, account)


declare(
    "EXT-012",
    "nameless-since",
    "an account that was proved has no platformAccountId any more",
    moving(PROVED, _nameless),
)


declare(
    "EXT-037",
    "review-hidden",
    "an account under review is listed as active",
    _listed_at("ACTIVE", "UNDER_REVIEW"),
)
declare(
    "EXT-037",
    "failed-proof-hidden",
    "an account whose proof failed is listed as one that waits for it",
    _listed_at(UNPROVEN, "UNVERIFIED"),
)


# --- Which can receive ----------------------------------------------------------------------


def _receiving(status: str) -> Apply:
    """Let accounts at another status receive."""
    return instead(externals, "RECEIVING", (*externals.RECEIVING, status))


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
        _receiving(_status),
    )


def _receiving_where(is_meant: Callable[[ExternalAccount], bool]) -> Apply:
    """Return a patch after which some accounts receive whatever their status is."""

    def receives(original: Callable[[ExternalAccount], bool], account: ExternalAccount) -> bool:
        return is_meant(account) or original(account)

    return around(externals, "can_receive", receives)


def _of_types(*types: str) -> Callable[[ExternalAccount], bool]:
    return lambda account: account.account_type in types


for _name, _types in {
    "mobile-money": ("RWF_ACCOUNT", "KES_ACCOUNT"),
    "wallets": ("SOLANA_WALLET", "BASE_WALLET", "SPARK_WALLET"),
    "lightning": ("LIGHTNING",),
}.items():
    declare(
        "EXT-043",
        _name,
        f"the status of {_types[0]} is not looked at",
        _receiving_where(_of_types(*_types)),
    )
for _requirement in ("EXT-042", "EXT-043"):
    declare(
        _requirement,
        "of-the-platform",
        "the status of the platform's own accounts is not looked at",
        _receiving_where(lambda account: account.customer_id is None),
    )


@mutant("EXT-041", "an immediate quote does not look whether its destination waits")
def paid_at_once(patch: Patch) -> None:
    at_once: list[bool] = []

    def create(original: Handler, unit: Unit, ask: Ask) -> Any:
        at_once[:] = [bool(isinstance(ask.body, dict) and ask.body.get("immediatelyExecute"))]
        return original(unit, ask)

    patch.wrap(quotes, "create", create)
    _receiving_where(lambda account: at_once == [True] and account.status == "PENDING")(patch)


@mutant("EXT-044", "a quote from before the failed proof pays", (quotes, "refuse_unreachable"))
def unverified_since(original: Function, unit: Unit, quote: Any) -> None:
    account = externals.find(unit, str(quote.destination.get("accountId")))
    if account is None or account.status != "UNVERIFIED":
        original(unit, quote)


@mutant("EXT-040", "active accounts wait for something")
def active_waits(patch: Patch) -> None:
    patch.replace(externals, "RECEIVING", externals.RECEIVING[1:])


@mutant("EXT-040", "payouts to active accounts fail")
def active_fails(patch: Patch) -> None:
    patch.wrap(
        externals,
        "create",
        lambda create, unit, ask: _blocked(unit, create(unit, ask)),
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


@mutant("EXT-047", "an account that was proved has the limit of those that were not")
def limited_as_before(patch: Patch) -> None:
    proved: set[str] = set()

    def reach(original: Function, unit: Unit, account: ExternalAccount, status: str) -> None:
        if (account.status, status) == PROVED:
            proved.add(account.id)
        original(unit, account, status)

    def is_unproven(original: Function, account: ExternalAccount) -> bool:
        return original(account) or account.id in proved

    patch.wrap(externals, "reach", reach)
    patch.wrap(externals, "is_unproven", is_unproven)


@mutant("EXT-822", "the source of a transfer is not looked at")
def transferred_all_the_same(patch: Patch) -> None:
    busy: list[str] = []

    def transfer_in(original: Handler, unit: Unit, ask: Ask) -> Any:
        busy.append("transfer")
        try:
            return original(unit, ask)
        finally:
            busy.pop()

    patch.wrap(transfers, "transfer_in", transfer_in)
    patch.wrap(
        parties, "refuse_disabled", lambda original, account: None if busy else original(account)
    )


declare(
    "EXT-822",
    "source-not-checked",
    "money is pulled from accounts that were disabled",
    instead(parties, "refuse_disabled", lambda _account: None),
)


for _requirement in ("EXT-042", "EXT-043", "EXT-048"):
    declare(
        _requirement,
        "destination_not_checked",
        "the destination is not looked at again",
        instead(quotes, "refuse_unreachable", lambda _unit, _quote: None),
    )


for _name, _statement, _apply in REFUSED_UNPROVEN:
    declare("EXT-045", _name, _statement, _apply)


# --- Ownership ------------------------------------------------------------------------------


def _without_method(method: str) -> Apply:
    (field,) = ownership.CHALLENGE_FIELDS
    others = tuple(one for one in ownership.METHODS if one != method)
    fields = (replace(field, enum=others),)
    return instead(ownership, "CHALLENGE_FIELDS", fields)


def _reaching_at_start(method: str, status: str) -> Apply:
    def started(challenge: Handler, unit: Unit, ask: Ask) -> Any:
        body: Json = challenge(unit, ask)
        if body["method"] == method:
            externals.get(unit, ask.params["externalAccountId"]).status = status
        return body

    return around(ownership, "challenge", started)


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

    def later(
        conclude: Callable[..., None],
        unit: Unit,
        account: ExternalAccount,
        method: str,
        **result: bool,
    ) -> None:
        if result["proven"] is not proven:
            conclude(unit, account, method, **result)
            return
        name = account.id
        unit.later(0.2, lambda at: conclude(at, externals.get(at, name), method, **result))

    patch.wrap(ownership, "conclude", later)


@mutant("EXT-068", "a right signature is judged a moment later")
def right_judged_later(patch: Patch) -> None:
    _concluded_later(patch, proven=True)


@mutant("EXT-069", "a wrong signature is judged a moment later")
def wrong_judged_later(patch: Patch) -> None:
    _concluded_later(patch, proven=False)


def _failing_after(place: Place) -> Apply:
    """Return a patch after which a handler does its work, and says that it did not."""

    def failing(unit: Unit, ask: Ask) -> None:
        raise errors.Rejection("CONFLICT", "Something went wrong.")

    return after(*place, failing)


declare(
    "EXT-070",
    "complains",
    "a right signature is complained about",
    _failing_after((ownership, "verify")),
)


@mutant("EXT-071", "one proof is taken for all accounts that wait for one")
def all_proved(patch: Patch) -> None:
    def otherwise(unit: Unit, account: ExternalAccount, status: str) -> None:
        query = select(ExternalAccount).where(ExternalAccount.status == UNPROVEN)
        for one in (account, *unit.session.scalars(query)):
            one.status = status

    moving(PROVED, otherwise)(patch)


@mutant("EXT-075", "a wrong signature disproves what was proved", (ownership, "conclude"), around)
def disproved_later(
    conclude: Callable[..., None],
    unit: Unit,
    account: ExternalAccount,
    method: str,
    **result: bool,
) -> None:
    if account.status == "ACTIVE" and not result["proven"]:
        account.status = "UNVERIFIED"
        return
    conclude(unit, account, method, **result)


@mutant(
    "EXT-074", "a proof that nobody started breaks the service", (ownership, "conclude"), before
)
def started_alone(_unit: Unit, account: ExternalAccount, method: str, **_: object) -> None:
    assert account.challenge is not None
    assert account.challenge["method"] == method


@mutant("EXT-074", "any signature proves what was not started", (ownership, "conclude"))
def proven_unasked(
    conclude: Function, unit: Unit, account: ExternalAccount, method: str, **proven: bool
) -> None:
    if account.challenge is None:
        externals.reach(unit, account, "ACTIVE")
    else:
        conclude(unit, account, method, **proven)


@mutant(
    "EXT-076",
    "the start of a proof that is not due breaks the service",
    (ownership, "challenge"),
    before,
)
def due_alone(unit: Unit, ask: Ask) -> None:
    account = externals.get(unit, ask.params["externalAccountId"])
    assert account.status == "PENDING_OWNERSHIP_VERIFICATION"


@mutant("EXT-076", "whoever starts a proof has to end it", (ownership, "challenge"), before)
def demanded_by_start(unit: Unit, ask: Ask) -> None:
    account = externals.get(unit, ask.params["externalAccountId"])
    account.status = "PENDING_OWNERSHIP_VERIFICATION"


@mutant("EXT-077", "a proof brings a disabled account back", (ownership, "conclude"), around)
def proved_though_disabled(
    conclude: Callable[..., None],
    unit: Unit,
    account: ExternalAccount,
    method: str,
    **result: bool,
) -> None:
    if account.status == "INACTIVE" and result["proven"]:
        account.status = "ACTIVE"
        return
    conclude(unit, account, method, **result)


def _undeleting(place: Place) -> Apply:
    """Return a patch after which a handler works for an account that was deleted."""

    def bring_back(unit: Unit, ask: Ask) -> None:
        account = unit.session.get(ExternalAccount, ask.params["externalAccountId"])
        if account is not None:
            account.deleted = False

    return before(*place, bring_back)


for _requirement, _step in (("EXT-072", "challenge"), ("EXT-073", "verify")):
    declare(
        _requirement,
        "deleted",
        "it works for an account that was deleted",
        _undeleting((ownership, _step)),
    )


for _requirement, _place in (
    ("EXT-072", (ownership, "challenge")),
    ("EXT-073", (ownership, "verify")),
    ("EXT-170", (trust, "untrust")),
    ("EXT-171", (trust, "confirm")),
):
    declare(
        _requirement,
        "invented",
        "it works for an account that does not exist",
        invented(*_place, "externalAccountId"),
    )
    declare(_requirement, "conflict", "it is a conflict", with_status("ACCOUNT_NOT_FOUND", 409))


# --- Trust ----------------------------------------------------------------------------------


@mutant("EXT-160", "trusted beneficiaries can be deleted")
def trusted_deleted(patch: Patch) -> None:
    patch.replace(externals, "refuse_trusted", lambda _account: None)


declare(
    "EXT-160",
    "bad-request",
    "it is a bad request to delete a trusted beneficiary",
    with_status("BENEFICIARY_TRUSTED", 400),
)


@mutant("EXT-160", "beneficiaries that a business trusts can be deleted")
def trusted_by_businesses(patch: Patch) -> None:
    def delete(original: Handler, unit: Unit, ask: Ask) -> Any:
        account = externals.get(unit, ask.params["externalAccountId"])
        owner = unit.session.get(Customer, account.customer_id or "")
        if owner is not None and owner.customer_type == "BUSINESS":
            account.trust = "NONE"
        return original(unit, ask)

    patch.wrap(externals, "remove", delete)


@mutant(
    "EXT-100", "trust in one account is trust in all of its owner", (externals, "refuse_trusted")
)
def all_trusted(original: Callable[[ExternalAccount], None], account: ExternalAccount) -> None:
    session = object_session(account)
    assert session is not None
    for other in session.query(ExternalAccount).filter_by(customer_id=account.customer_id):
        original(other)


@mutant("EXT-161", "a trusted beneficiary is some conflict", (externals, "refuse_trusted"), instead)
def trusted_conflicts(account: ExternalAccount) -> None:
    if externals.is_trusted(account):
        raise errors.Refusal("CONFLICT", "The account cannot be deleted.")


@mutant(
    "EXT-162",
    "a trusted beneficiary is deleted before it is refused",
    (externals, "refuse_trusted"),
    instead,
)
def deleted_then_refused(account: ExternalAccount) -> None:
    if externals.is_trusted(account):
        account.deleted = True
        raise errors.Rejection("BENEFICIARY_TRUSTED", "The beneficiary is trusted.")


@mutant("EXT-160", "a refused deletion takes the trust", (externals, "refuse_trusted"), instead)
def untrusted_by_a_refusal(account: ExternalAccount) -> None:
    if externals.is_trusted(account):
        account.trust = "NONE"
        raise errors.Rejection("BENEFICIARY_TRUSTED", "The beneficiary is trusted.")


@mutant("EXT-162", "a refused deletion takes the owner", (externals, "refuse_trusted"), instead)
def disowned_by_a_refusal(account: ExternalAccount) -> None:
    if externals.is_trusted(account):
        account.customer_id = None
        raise errors.Rejection("BENEFICIARY_TRUSTED", "The beneficiary is trusted.")


declare("EXT-163", "complains", "an untrusting is refused", _failing_after((trust, "untrust")))


@mutant("EXT-163", "a business asks in vain", (trust, "untrust"), before)
def businesses_trust_for_ever(unit: Unit, ask: Ask) -> None:
    account = externals.get(unit, ask.params["externalAccountId"])
    owner = unit.session.get(Customer, account.customer_id or "")
    if owner is not None and owner.customer_type == "BUSINESS":
        raise errors.Refusal("CONFLICT", "The beneficiary is not trusted.")


declare("EXT-164", "complains", "a right proof is refused", _failing_after((trust, "confirm")))


def _confirming(then: Callable[[Unit, ExternalAccount], None]) -> Apply:
    """Return a patch after which more follows from the confirmation of an untrusting."""

    def confirmed(unit: Unit, ask: Ask) -> None:
        then(unit, externals.get(unit, ask.params["externalAccountId"]))

    return after(trust, "confirm", confirmed)


@mutant("EXT-165", "trust is never taken away", how=_confirming)
def trusted_for_ever(_unit: Unit, account: ExternalAccount) -> None:
    account.trust = "TRUSTED"


@mutant("EXT-166", "who is not trusted is deleted", how=_confirming)
def deleted_with_the_trust(_unit: Unit, account: ExternalAccount) -> None:
    account.deleted = True


@mutant("EXT-172", "who is not trusted is disabled", how=_confirming)
def disabled_with_the_trust(_unit: Unit, account: ExternalAccount) -> None:
    account.status = "INACTIVE"


@mutant("EXT-167", "all beneficiaries of a customer lose their trust with one", how=_confirming)
def siblings_untrusted(unit: Unit, account: ExternalAccount) -> None:
    for one in siblings(unit, account):
        one.trust = "NONE"


@mutant("EXT-167", "a proof is for the newest untrusting of the customer", (trust, "confirm"))
def newest_confirmed(original: Handler, unit: Unit, ask: Ask) -> Any:
    account = externals.get(unit, ask.params["externalAccountId"])
    begun = [one for one in siblings(unit, account) if one.trust == "UNTRUSTING"]
    newer = [one for one in begun if one.created_at > account.created_at]
    answer = original(unit, ask)
    if newer:
        account.trust, newer[-1].trust = newer[-1].trust, account.trust
    return answer


@mutant("EXT-168", "trust is gone as soon as somebody asks")
def untrusted_when_asked(patch: Patch) -> None:
    patch.replace(externals, "is_trusted", lambda account: account.trust == "TRUSTED")


@mutant("EXT-169", "any proof confirms an untrusting")
def any_proof_confirms(patch: Patch) -> None:
    patch.replace(trust, "check_proof", lambda _unit, _account, _body: None)


def _proof_of_oldest(
    original: Function, unit: Unit, account: ExternalAccount, method: str, *, proven: bool
) -> None:
    """End the proof of the customer's oldest account that waits for one."""
    waiting = [one for one in siblings(unit, account) if one.status == UNPROVEN]
    oldest = min(waiting, key=lambda one: one.created_at, default=account)
    if oldest.id != account.id:
        oldest.challenge, account.challenge = account.challenge, None
    original(unit, oldest, method, proven=proven)


declare(
    "EXT-036",
    "oldest",
    "a proof is taken for the customer's oldest account that waits for one",
    around(ownership, "conclude", _proof_of_oldest),
)


for _id in ("EXT-042", "EXT-043"):
    declare(
        _id,
        "authorized",
        "a proof pays, whatever the status of the destination is by then",
        skipped(
            quotes,
            "refuse_unreachable",
            lambda _unit, quote: quote.status == "PENDING_AUTHORIZATION",
        ),
    )
    declare(
        _id,
        "approved",
        "an approved payment is made, whatever the status of its destination is by then",
        skipped(quotes, "refuse_unreachable", lambda _unit, quote: quote.agent_initiated),
    )
