"""Mutants of idempotency keys of rule-based accounts."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from typing import Any

from sqlalchemy import select

from conformance.proof.kit.builders import Handler, Json, around, edited, instead
from conformance.proof.kit.edits import put
from conformance.proof.kit.lost import where_gone
from conformance.proof.mutant import declare, mutant
from conformance.proof.mutants.internal_accounts.toolkit import INFO, despite, made
from conformance.proof.patch import Apply, Patch
from conformance.reference import errors
from conformance.reference.internal_accounts import accounts, rule_based
from conformance.reference.service import Service
from conformance.reference.store import InternalAccount, MintedAccount
from conformance.reference.unit import Ask, Reply, Unit, clock

_A_MOMENT = 0.3


def _keyed(is_wrong: Callable[[Ask], bool]) -> Apply:
    """Return a patch after which a key is made up where the one that came is wrong."""
    return around(
        rule_based, "key_of", lambda key_of, ask: uuid.uuid4().hex if is_wrong(ask) else key_of(ask)
    )


declare(
    "RBA-060",
    "made-up",
    "a missing key is made up",
    _keyed(lambda a: rule_based.KEY not in a.headers),
)
declare(
    "RBA-061",
    "made-up",
    "an empty key is made up",
    _keyed(lambda a: a.headers.get(rule_based.KEY) == ""),
)


def _made_without_key(unit: Unit, ask: Ask) -> None:
    if rule_based.KEY not in ask.headers:
        made(unit, ask.body)


declare(
    "RBA-076",
    "made",
    "an account is made although the key is missing",
    despite("INVALID_INPUT", _made_without_key),
)


def again(change: Callable[[Unit, Reply, Json], Reply]) -> Apply:
    """Return a patch after which a request that is sent again is answered in another way."""
    return around(
        rule_based,
        "again",
        lambda original, unit, earlier, body: change(unit, original(unit, earlier, body), body),
    )


def _showing(member: str, value: Any) -> Callable[[Unit, Reply, Json], Reply]:
    def shown(_unit: Unit, reply: Reply, _body: Json) -> Reply:
        return Reply(200, put(member, value)(deepcopy(reply.body)))

    return shown


for _member, _value in (
    ("label", "Collections"),
    ("label", None),
    ("sweepRule", {"destination": {}}),
):
    declare(
        "RBA-063",
        _member if _value else f"no-{_member}",
        f"a request that is sent again shows {_value} as the {_member}",
        again(_showing(_member, _value)),
    )


@mutant("RBA-063", "only the last key of a customer is remembered", (rule_based, "created_under"))
def last_key(
    created_under: Callable[[Unit, str], MintedAccount | None], unit: Unit, key: str
) -> MintedAccount | None:
    earlier = created_under(unit, key)
    if earlier is None:
        return None
    holder = earlier.asked["customerId"]
    query = select(InternalAccount).where(
        InternalAccount.customer_id == holder, InternalAccount.type == "RULE_BASED"
    )
    last = unit.session.scalars(query.order_by(InternalAccount.created_at.desc())).first()
    if last is not None and last.id != earlier.account_id:
        unit.session.delete(earlier)
        unit.session.flush()
        return None
    return earlier


def _forgotten_once_repeated(unit: Unit, reply: Reply, _body: Json) -> Reply:
    query = select(MintedAccount).where(MintedAccount.account_id == reply.body["id"])
    unit.session.delete(unit.session.scalars(query).one())
    return reply


for _requirement in ("RBA-062", "RBA-063", "RBA-065"):
    declare(
        _requirement,
        "forgotten-once-repeated",
        "a key is forgotten once its request was sent again",
        again(_forgotten_once_repeated),
    )


def _second(unit: Unit, reply: Reply, body: Json) -> Reply:
    made(unit, body)
    return reply


declare(
    "RBA-062",
    "created",
    "a request that is sent again is answered with 201",
    again(lambda _unit, reply, _body: replace(reply, status=201)),
)
declare(
    "RBA-064",
    "other-number",
    "a request that is sent again shows another number",
    again(_showing(f"{INFO}.accountNumber", "5647382910")),
)


@mutant("RBA-063", "a key that was used brings the newest account of its holder", how=again)
def newest_of_the_holder(unit: Unit, reply: Reply, body: Json) -> Reply:
    query = select(InternalAccount).where(
        InternalAccount.customer_id == body["customerId"], InternalAccount.type == "RULE_BASED"
    )
    newest = unit.session.scalars(query.order_by(InternalAccount.created_at.desc())).first()
    return replace(reply, body=accounts.view(unit, newest)) if newest else reply


declare("RBA-065", "second", "a request that is sent again makes another account", again(_second))


@mutant("RBA-022", "requests of one content make one account", (rule_based, "create"), around)
def by_content(original: Handler, unit: Unit, ask: Ask) -> Any:
    if isinstance(ask.body, dict):
        for earlier in unit.session.scalars(select(MintedAccount)):
            if earlier.asked == ask.body:
                return rule_based.again(unit, earlier, ask.body)
    return original(unit, ask)


declare(
    "RBA-022",
    "cut",
    "keys that agree in 64 characters are one",
    edited(rule_based, "key_of", lambda key: key[:64]),
)


def forgetful(seconds: float) -> Apply:
    """Notice that a key was used only some time after its account was made."""

    def apply(patch: Patch) -> None:
        def late(
            created_under: Callable[[Unit, str], MintedAccount | None], unit: Unit, key: str
        ) -> MintedAccount | None:
            earlier = created_under(unit, key)
            if earlier is None:
                return None
            account = unit.session.get_one(InternalAccount, earlier.account_id)
            return None if clock() - account.created_at < seconds * 1_000_000 else earlier

        def claim(unit: Unit, key: str, account: InternalAccount, body: Json) -> bool:
            unit.session.merge(
                MintedAccount(key=key, account_id=account.id, asked=body, unreachable=False)
            )
            return True

        patch.wrap(rule_based, "created_under", late)
        patch.replace(rule_based, "claim", claim)

    return apply


for _requirement in ("RBA-063", "RBA-070", "RBA-071"):
    declare(_requirement, "late", "a key is remembered late", forgetful(_A_MOMENT))


@mutant("RBA-072", "a request that is sent again soon is answered with 201", how=again)
def created_again(unit: Unit, reply: Reply, _body: Json) -> Reply:
    account = unit.session.get_one(InternalAccount, reply.body["id"])
    young = clock() - account.created_at < _A_MOMENT * 1_000_000
    return replace(reply, status=201) if young else reply


def sameness(members: tuple[str, ...]) -> Apply:
    """Return a patch after which only some members tell one account from another."""

    def is_same(earlier: MintedAccount, body: Json) -> bool:
        return all(earlier.asked.get(name) == body.get(name) for name in members)

    return instead(rule_based, "is_same", is_same)


declare("RBA-066", "unseen", "a key brings its account to whoever has it", sameness(("currency",)))
declare(
    "RBA-069", "rule-unseen", "another rule is not noticed", sameness(("customerId", "currency"))
)

declare(
    "RBA-079",
    "customer-unseen",
    "another customer is not noticed where the rest is the same",
    sameness(("currency", "label", "sweepRule", "type")),
)


def _taken_over(member: str) -> Apply:
    """Return a patch after which a key says what a member is, whatever the request says."""

    def create(original: Handler, unit: Unit, ask: Ask) -> Any:
        earlier = rule_based.created_under(unit, ask.headers.get(rule_based.KEY, ""))
        if earlier is not None and isinstance(ask.body, dict):
            ask = replace(ask, body={**ask.body, member: earlier.asked[member]})
        return original(unit, ask)

    return around(rule_based, "create", create)


for _requirement, _member in (
    ("RBA-079", "customerId"),
    ("RBA-080", "type"),
    ("RBA-081", "currency"),
    ("RBA-082", "customerId"),
):
    declare(
        _requirement,
        f"{_member}-of-the-key",
        f"the {_member} of a request whose key was used is not looked at",
        _taken_over(_member),
    )


def _reused(original: Handler, unit: Unit, ask: Ask) -> Any:
    try:
        return original(unit, ask)
    except errors.Refusal as refusal:
        if refusal.code != "CONFLICT":
            raise
        raise errors.Refusal("INVALID_INPUT", refusal.reason) from refusal


declare(
    "RBA-066",
    "bad-request",
    "a key that is used again is a bad request",
    around(rule_based, "create", _reused),
)
declare(
    "RBA-078",
    "order",
    "the members of another order are another account",
    around(
        rule_based,
        "is_same",
        lambda is_same, earlier, body: is_same(earlier, body) and [*earlier.asked] == [*body],
    ),
)
declare(
    "RBA-077",
    "made",
    "an account is made although its key is refused for another rule",
    despite("CONFLICT", lambda unit, ask: made(unit, ask.body)),
)
declare(
    "RBA-067",
    "made",
    "an account is made although its key is refused",
    despite("CONFLICT", lambda unit, ask: made(unit, ask.body)),
)


def _forget(unit: Unit, ask: Ask) -> None:
    row = unit.session.get(MintedAccount, ask.headers[rule_based.KEY])
    if row is not None:
        unit.session.delete(row)


declare(
    "RBA-068",
    "forgotten",
    "a key that is refused stands for nothing any more",
    despite("CONFLICT", _forget),
)


# --- Answers that are lost ------------------------------------------------------------------


def forget_key(service: Service, ask: Ask) -> Any:
    """Create an account, and forget the key that stands for it."""
    with service.unit() as unit:
        answer = rule_based.create(unit, ask)
        unit.session.flush()
        unit.session.delete(rule_based.created_under(unit, rule_based.key_of(ask)))
        return answer


def block_key(service: Service, ask: Ask) -> Any:
    """Create no account, and let the key stand for another request."""
    with service.unit() as unit:
        answer = rule_based.create(unit, ask)
        unit.session.flush()
        earlier = rule_based.created_under(unit, rule_based.key_of(ask))
        if earlier is not None:
            earlier.asked = {}
        return answer


declare(
    "RBA-850",
    "blocked",
    "the key of a request whose client is gone stands for no request any more",
    where_gone(rule_based.create, block_key),
)
declare(
    "RBA-851",
    "forgotten",
    "the key of a request whose client is gone is forgotten",
    where_gone(rule_based.create, forget_key),
)
