"""Mutants of rule-based accounts: who gets one, what it shows, and what a key stands for."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from conformance.mutants.fields import Edit, put, taken
from conformance.mutants.mutant import Patch, declare, mutant
from conformance.reference import accounts, app, customers, errors, rule_based, sweeps
from conformance.reference.store import Customer, InternalAccount, Json, MintedAccount
from conformance.reference.unit import Ask, Reply, Unit, clock

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

_HERE = "conformance.reference.rule_based"
_CREATE = f"{_HERE}:create"
_FIELDS = f"{_HERE}:ACCOUNT_FIELDS"
_LIST = "conformance.reference.accounts:list_for_customers"
_PLATFORM_LIST = "conformance.reference.accounts:list_for_platform"
_INSTRUCTIONS = "conformance.reference.accounts:funding_instructions"
_HOME = "conformance.reference.sweeps:home_of"

_A_MOMENT = 0.3

Handler = Callable[[Unit, Ask], Any]
Apply = Callable[[Patch], None]


def wrapped(place: str, change: Callable[[Handler, Unit, Ask], Any]) -> Apply:
    """Return a patch after which ``change`` serves what a handler did, which it is given."""

    def wrapper(original: Handler) -> Handler:
        return lambda unit, ask: change(original, unit, ask)

    return lambda patch: patch.wrap(place, wrapper)


def answered(change: Callable[[Reply], Reply]) -> Apply:
    """Return a patch after which what is created is answered in another way."""
    return wrapped(_CREATE, lambda create, unit, ask: change(create(unit, ask)))


def shown(edit: Edit) -> Apply:
    """Return a patch after which what is created is shown as ``edit`` makes it."""
    return answered(lambda reply: Reply(reply.status, edit(deepcopy(reply.body))))


def changed(change: Callable[[Unit, Json], Json]) -> Apply:
    """Return a patch after which another body is created than the one that came."""

    def create(original: Handler, unit: Unit, ask: Ask) -> Any:
        body = change(unit, dict(ask.body)) if isinstance(ask.body, dict) else ask.body
        return original(unit, replace(ask, body=body))

    return wrapped(_CREATE, create)


def newest(unit: Unit, kind: str = "INDIVIDUAL") -> Customer:
    """Return the customer that was created last."""
    query = select(Customer).where(Customer.customer_type == kind, Customer.status == "APPROVED")
    return unit.session.scalars(query.order_by(Customer.created_at.desc()).limit(1)).one()


def own(unit: Unit, body: Json) -> Json:
    """Return a rule that sweeps to the holder's own account."""
    home = sweeps.home_of(unit, body["customerId"], "USD")
    return {"destination": {"accountId": home.id if home else ""}}


def made(unit: Unit, body: Json) -> None:
    """Open an account for the holder in a body, as if nothing were wrong with it."""
    rule_based.mint(unit, customers.get(unit, body["customerId"]), {**body, "type": "RULE_BASED"})


def despite(code: str, make: Callable[[Unit, Ask], None]) -> Apply:
    """Return a patch after which something is made although a request is refused with a code."""

    def create(original: Handler, unit: Unit, ask: Ask) -> Any:
        try:
            return original(unit, ask)
        except errors.Refusal as refusal:
            if refusal.code != code or not isinstance(ask.body, dict):
                raise
            make(unit, ask)
            raise errors.Rejection(refusal.code, refusal.reason) from refusal

    return wrapped(_CREATE, create)


# --- What is shown --------------------------------------------------------------------------

_INFO = "fundingPaymentInstructions.*.accountOrWalletInfo"

SHOWN: tuple[tuple[str, str, Edit], ...] = (
    ("RBA-002", "fiat", put("type", "INTERNAL_FIAT")),
    ("RBA-002", "missing", taken("type")),
    ("RBA-003", "missing", taken("sweepRule")),
    ("RBA-003", "null", put("sweepRule", None)),
    ("RBA-003", "text", put("sweepRule", "daily")),
    ("RBA-004", "nobody", put("customerId", "")),
    ("RBA-004", "another", put("customerId", "Customer:1")),
    ("RBA-005", "euros", put("balance.currency.code", "EUR")),
    ("RBA-006", "advance", put("balance.amount", 100)),
    ("RBA-007", "advance", put("totalBalance.amount", 100)),
    ("RBA-010", "missing", taken("fundingPaymentInstructions")),
    ("RBA-010", "null", put("fundingPaymentInstructions", None)),
    ("RBA-010", "none", put("fundingPaymentInstructions", [])),
    ("RBA-011", "missing", taken(f"{_INFO}.accountNumber")),
    ("RBA-011", "empty", put(f"{_INFO}.accountNumber", "")),
    ("RBA-012", "missing", taken(f"{_INFO}.routingNumber")),
)
"""Requirement, name and edit of accounts that are answered in another form."""

for _requirement, _name, _edit in SHOWN:
    declare(_requirement, _name, f"of what is created: {_name}", shown(_edit))


def _labelled(label: Callable[[str | None], str | None]) -> Apply:
    return shown(lambda body: {**body, "label": label(body["label"])})


declare("RBA-008", "capitals", "a label is put in capitals", _labelled(lambda t: t and t.upper()))
declare("RBA-008", "fixed", "every account has one label", _labelled(lambda _: "Collections"))
declare("RBA-009", "invented", "a label is made up", _labelled(lambda t: t or "Account"))
declare("LIM-054", "cut", "a label is cut short", _labelled(lambda t: t and t[:100]))

declare(
    "RBA-001",
    "ok",
    "a creation is answered with 200",
    answered(lambda reply: replace(reply, status=200)),
)
declare(
    "RBA-001",
    "no-individuals",
    "individuals get none",
    lambda patch: patch.replace(f"{_HERE}:HOLDERS", ("BUSINESS",)),
)


def numbered(digits: Callable[[InternalAccount], str], *, all_: bool = False) -> Apply:
    """Return a patch after which rule-based accounts, or all, have other numbers."""

    def wrapper(original: Callable[[InternalAccount], list[Json]]) -> Any:
        def instructions(account: InternalAccount) -> list[Json]:
            if not all_ and not sweeps.is_rule_based(account):
                return original(account)
            return accounts.instructions_for(account.currency, digits(account))

        return instructions

    return lambda patch: patch.wrap(_INSTRUCTIONS, wrapper)


def _by_holder(account: InternalAccount) -> str:
    return str(uuid.uuid5(uuid.NAMESPACE_OID, account.customer_id or "").int)[:10]


declare(
    "RBA-013", "shared", "all accounts of a holder have one number", numbered(_by_holder, all_=True)
)
declare("RBA-014", "by-holder", "a number is made of its holder", numbered(_by_holder))
declare("RBA-015", "pooled", "all accounts have one number", numbered(lambda _: "1029384756"))
declare(
    "RBA-073",
    "by-second",
    "a number is made of the second of its creation",
    numbered(lambda account: str(account.created_at // 5_000_000)[-10:]),
)


# --- What is listed -------------------------------------------------------------------------


def listing(change: Callable[[Unit, Ask, list[Json]], list[Json]], place: str = _LIST) -> Apply:
    """Return a patch after which another list is answered."""

    def handler(original: Handler, unit: Unit, ask: Ask) -> Any:
        body = original(unit, ask)
        return {**body, "data": change(unit, ask, deepcopy(body["data"]))}

    return wrapped(place, handler)


def each(edit: Edit) -> Callable[[Unit, Ask, list[Json]], list[Json]]:
    """Return a change of a list that edits what is RULE_BASED."""
    return lambda _unit, _ask, rows: [
        edit(row) if row["type"] == "RULE_BASED" else row for row in rows
    ]


def _without_rule_based(_unit: Unit, _ask: Ask, rows: list[Json]) -> list[Json]:
    return [row for row in rows if row["type"] != "RULE_BASED"]


def _rule_based_alone(unit: Unit, ask: Ask, rows: list[Json]) -> list[Json]:
    """Show a number in the place of the account that it leads to."""
    alone = each(lambda row: row)(unit, ask, [row for row in rows if row["type"] == "RULE_BASED"])
    return alone or rows


def _with_all(unit: Unit, _ask: Ask, rows: list[Json]) -> list[Json]:
    query = select(InternalAccount).where(InternalAccount.type == "RULE_BASED")
    every = accounts.views(unit, list(unit.session.scalars(query)))
    known = {row["id"] for row in rows}
    return [*rows, *(view for view in every if view["id"] not in known)]


declare("RBA-016", "hidden", "rule-based accounts are not listed", listing(_without_rule_based))
declare(
    "RBA-017",
    "fiat",
    "rule-based accounts are listed as other ones",
    listing(each(put("type", "INTERNAL_FIAT"))),
)
declare(
    "RBA-018",
    "masked",
    "a number is masked in the list",
    listing(each(put(f"{_INFO}.accountNumber", "******4756"))),
)
declare("RBA-019", "everybody", "all rule-based accounts are listed", listing(_with_all))
declare("RBA-020", "platforms", "they count as the platform's", listing(_with_all, _PLATFORM_LIST))
declare("RBA-021", "in-place", "a number hides the other accounts", listing(_rule_based_alone))
declare("RBA-024", "other-label", "the list has other labels", listing(each(put("label", "A-1"))))


# --- Who gets one ---------------------------------------------------------------------------


def rowed(path: str, **changes: Any) -> Apply:
    """Return a patch of the rule of one member."""
    row = rule_based.ACCOUNT_FIELDS[path]
    return lambda patch: patch.row(_FIELDS, path, replace(row, **changes))


for _requirement, _type in (
    ("RBA-030", "INTERNAL_FIAT"),
    ("RBA-031", "INTERNAL_CRYPTO"),
    ("RBA-032", "EMBEDDED_WALLET"),
):
    declare(
        _requirement,
        "creatable",
        f"{_type} is creatable",
        rowed("type", enum=("RULE_BASED", _type)),
    )

declare("RBA-023", "label-needed", "a label is needed", rowed("label", required=True))
declare("RBA-033", "any-type", "any type is creatable", rowed("type", enum=()))
declare(
    "RBA-034",
    "assumed",
    "the type is assumed",
    changed(lambda _unit, body: {"type": "RULE_BASED", **body}),
)
declare(
    "RBA-040",
    "euros",
    "euros are a currency of such accounts",
    rowed("currency", enum=("USD", "EUR")),
)
declare("RBA-041", "coins", "USDC counts as dollars", rowed("currency", enum=("USD", "USDC")))
declare(
    "RBA-042",
    "replaced",
    "an unknown currency becomes USD",
    changed(lambda _unit, b: b if b.get("currency") in ("EUR", None) else {**b, "currency": "USD"}),
)
declare(
    "RBA-043",
    "assumed",
    "the currency is assumed",
    changed(lambda _unit, b: {"currency": "USD", **b}),
)
declare("LIM-050", "short", "a label has at most 254 characters", rowed("label", max_length=254))
declare("LIM-051", "long", "a label has at most 256 characters", rowed("label", max_length=256))
declare("LIM-051", "unlimited", "a label may be of any length", rowed("label", max_length=None))


def _ruled(is_wrong: Callable[[Json], bool]) -> Apply:
    """Return a patch after which the holder's own account stands for a rule that is wrong."""

    def change(unit: Unit, body: Json) -> Json:
        return {**body, "sweepRule": own(unit, body)} if is_wrong(body) else body

    return changed(change)


declare("RBA-035", "assumed", "the rule is assumed", _ruled(lambda body: "sweepRule" not in body))
declare(
    "RBA-036",
    "null",
    "a rule of null counts as some rule",
    _ruled(lambda body: body.get("sweepRule", 0) is None),
)
declare(
    "RBA-037",
    "text",
    "a rule of text counts as some rule",
    _ruled(lambda body: isinstance(body.get("sweepRule"), str)),
)
declare(
    "RBA-038",
    "list",
    "a rule of a list counts as some rule",
    _ruled(lambda body: isinstance(body.get("sweepRule"), list)),
)


def _made_of_another_type(unit: Unit, ask: Ask) -> None:
    if ask.body.get("type") != "RULE_BASED":
        made(unit, ask.body)


declare(
    "RBA-039",
    "made",
    "what is refused for its type is made",
    despite("INVALID_INPUT", _made_of_another_type),
)
declare(
    "RBA-044",
    "newest",
    "a request without a customer is for the newest one",
    changed(lambda unit, body: {"customerId": newest(unit).id, **body}),
)


def _platform_owned(unit: Unit, ask: Ask) -> None:
    if "customerId" not in ask.body:
        account = rule_based.mint(unit, newest(unit), ask.body)
        account.customer_id = None


declare(
    "RBA-045",
    "made",
    "a request without a customer makes an account of the platform's",
    despite("INVALID_INPUT", _platform_owned),
)


def _guessed(unit: Unit, body: Json) -> Json:
    known = unit.session.get(Customer, str(body.get("customerId"))) is not None
    return body if known else {**body, "customerId": newest(unit).id}


def _other_refusal(code: str) -> Apply:
    """Return a patch after which an unknown customer is refused with another code."""

    def create(original: Handler, unit: Unit, ask: Ask) -> Any:
        try:
            return original(unit, ask)
        except errors.Refusal as refusal:
            if refusal.code != "CUSTOMER_NOT_FOUND":
                raise
            raise errors.Refusal(code, refusal.reason) from refusal

    return wrapped(_CREATE, create)


declare("RBA-046", "newest", "an unknown customer is the newest one", changed(_guessed))
declare("RBA-046", "conflict", "an unknown customer is a conflict", _other_refusal("CONFLICT"))
declare(
    "RBA-047", "account", "it is the account that is missing", _other_refusal("ACCOUNT_NOT_FOUND")
)
declare(
    "RBA-048",
    "anybody",
    "businesses get one too",
    lambda patch: patch.replace(f"{_HERE}:HOLDERS", ("INDIVIDUAL", "BUSINESS")),
)


@mutant("RBA-049", "an approval is not asked for")
def unapproved(patch: Patch) -> None:
    """Ask for an account in the currency alone."""

    def refuse(unit: Unit, holder: Customer, currency: str) -> None:
        if sweeps.home_of(unit, holder.id, currency) is None:
            raise errors.Refusal("CONFLICT", "The customer holds no account.")

    patch.replace(f"{_HERE}:refuse_without_home", refuse)


declare(
    "RBA-054",
    "made",
    "an account is made although its holder is refused",
    despite("CONFLICT", lambda unit, ask: made(unit, ask.body)),
)


def _home_at(status: str) -> Apply:
    """Return a patch after which an account of another status counts as verified too."""

    def home_of(unit: Unit, customer_id: str, currency: str) -> InternalAccount | None:
        query = select(InternalAccount).where(
            InternalAccount.customer_id == customer_id,
            InternalAccount.currency == currency,
            InternalAccount.type != "RULE_BASED",
            InternalAccount.status.in_(("ACTIVE", status)),
        )
        return unit.session.scalar(query.limit(1))

    return lambda patch: patch.replace(_HOME, home_of)


declare("RBA-050", "pending", "an account that is not there yet will do", _home_at("PENDING"))
declare("RBA-051", "closed", "a closed account will do", _home_at("CLOSED"))
declare(
    "RBA-052",
    "unasked",
    "every platform is enabled",
    lambda patch: patch.replace(f"{_HERE}:refuse_disabled", lambda _unit: None),
)


@mutant("RBA-053", "a platform that was disabled stays so")
def disabled_for_good(patch: Patch) -> None:
    """Remember what was seen once."""
    seen: list[bool] = []

    def wrapper(is_enabled: Callable[[Unit], bool]) -> Callable[[Unit], bool]:
        def enabled(unit: Unit) -> bool:
            seen.append(is_enabled(unit))
            return all(seen)

        return enabled

    patch.wrap(f"{_HERE}:is_enabled", wrapper)


def _bonus(create: Handler, unit: Unit, ask: Ask) -> Any:
    reply = create(unit, ask)
    home = sweeps.home_of(unit, ask.body["customerId"], "USD")
    if home is not None:
        accounts.credit(unit, home, 100)
    return reply


declare("RBA-025", "bonus", "each new number is worth a bonus", wrapped(_CREATE, _bonus))


# --- Credentials ----------------------------------------------------------------------------


def _is_creation(scope: Scope) -> bool:
    return scope["method"] == "POST" and str(scope["path"]).endswith(
        "/2025-10-13/internal-accounts"
    )


@mutant("RBA-074", "credentials are not looked at")
def open_to_all(patch: Patch) -> None:
    """Let whoever comes create accounts."""

    def wrapper(is_allowed: Callable[[Any, Scope], bool]) -> Any:
        return lambda self, scope: _is_creation(scope) or is_allowed(self, scope)

    patch.wrap("conformance.reference.app:BasicAuth._is_allowed", wrapper)


@mutant("RBA-075", "credentials are looked at when the account is there already")
def credentials_late(patch: Patch) -> None:
    """Serve first, and look then."""

    def wrapper(original: Callable[..., Any]) -> Any:
        async def call(self: app.BasicAuth, scope: Scope, receive: Receive, send: Send) -> None:
            async def unheard(_message: Any) -> None:
                return None

            if scope["type"] == "http" and _is_creation(scope) and not self._is_allowed(scope):
                await self._app(scope, receive, unheard)
            await original(self, scope, receive, send)

        return call

    patch.wrap("conformance.reference.app:BasicAuth.__call__", wrapper)


# --- Keys -----------------------------------------------------------------------------------


def _keyed(is_wrong: Callable[[Ask], bool]) -> Apply:
    """Return a patch after which a key is made up where the one that came is wrong."""

    def wrapper(key_of: Callable[[Ask], str]) -> Callable[[Ask], str]:
        return lambda ask: uuid.uuid4().hex if is_wrong(ask) else key_of(ask)

    return lambda patch: patch.wrap(f"{_HERE}:key_of", wrapper)


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

for _requirement, _name, _longest in (
    ("LIM-052", "short", 254),
    ("LIM-053", "long", 256),
    ("LIM-053", "unlimited", 10_000),
):
    declare(
        _requirement,
        _name,
        f"a key has at most {_longest} characters",
        partial(
            lambda longest, patch: patch.replace(f"{_HERE}:longest_key", lambda: longest), _longest
        ),
    )


@mutant("LIM-055", "a long key is cut short where it is kept")
def key_cut(patch: Patch) -> None:
    """Keep what fits into a column of 200 characters."""

    def wrapper(claim: Callable[..., bool]) -> Callable[..., bool]:
        return lambda unit, key, account, body: claim(unit, key[:200], account, body)

    patch.wrap(f"{_HERE}:claim", wrapper)


def again(change: Callable[[Unit, Reply, Json], Reply]) -> Apply:
    """Return a patch after which a request that is sent again is answered in another way."""

    def wrapper(original: Callable[..., Reply]) -> Callable[..., Reply]:
        return lambda unit, earlier, body: change(unit, original(unit, earlier, body), body)

    return lambda patch: patch.wrap(f"{_HERE}:again", wrapper)


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
    again(
        lambda _unit, reply, _body: Reply(
            200, put(f"{_INFO}.accountNumber", "5647382910")(deepcopy(reply.body))
        )
    ),
)
declare("RBA-065", "second", "a request that is sent again makes another account", again(_second))


@mutant("RBA-022", "requests of one content make one account")
def by_content(patch: Patch) -> None:
    """Look for the same body, under whatever key."""

    def create(original: Handler, unit: Unit, ask: Ask) -> Any:
        if isinstance(ask.body, dict):
            for earlier in unit.session.scalars(select(MintedAccount)):
                if earlier.asked == ask.body:
                    return rule_based.again(unit, earlier, ask.body)
        return original(unit, ask)

    wrapped(_CREATE, create)(patch)


def forgetful(seconds: float, patch: Patch) -> None:
    """Notice that a key was used only some time after its account was made."""

    def young(created_under: Callable[[Unit, str], MintedAccount | None]) -> Any:
        def late(unit: Unit, key: str) -> MintedAccount | None:
            earlier = created_under(unit, key)
            if earlier is None:
                return None
            account = unit.session.get_one(InternalAccount, earlier.account_id)
            return None if clock() - account.created_at < seconds * 1_000_000 else earlier

        return late

    def claim(unit: Unit, key: str, account: InternalAccount, body: Json) -> bool:
        unit.session.merge(
            MintedAccount(key=key, account_id=account.id, asked=body, unreachable=False)
        )
        return True

    patch.wrap(f"{_HERE}:created_under", young)
    patch.replace(f"{_HERE}:claim", claim)


for _requirement in ("RBA-063", "RBA-070", "RBA-071"):
    declare(_requirement, "late", "a key is remembered late", partial(forgetful, _A_MOMENT))


@mutant("RBA-072", "a request that is sent again soon is answered with 201")
def created_again(patch: Patch) -> None:
    """Answer as to the first one while that was a moment ago."""

    def soon(unit: Unit, reply: Reply, _body: Json) -> Reply:
        account = unit.session.get_one(InternalAccount, reply.body["id"])
        young = clock() - account.created_at < _A_MOMENT * 1_000_000
        return replace(reply, status=201) if young else reply

    again(soon)(patch)


def sameness(members: tuple[str, ...]) -> Apply:
    """Return a patch after which only some members tell one account from another."""

    def is_same(earlier: MintedAccount, body: Json) -> bool:
        return all(earlier.asked.get(name) == body.get(name) for name in members)

    return lambda patch: patch.replace(f"{_HERE}:is_same", is_same)


declare("RBA-066", "unseen", "a key brings its account to whoever has it", sameness(("currency",)))
declare(
    "RBA-069", "rule-unseen", "another rule is not noticed", sameness(("customerId", "currency"))
)


def _reused(original: Handler, unit: Unit, ask: Ask) -> Any:
    try:
        return original(unit, ask)
    except errors.Refusal as refusal:
        if refusal.code != "CONFLICT":
            raise
        raise errors.Refusal("INVALID_INPUT", refusal.reason) from refusal


declare(
    "RBA-066", "bad-request", "a key that is used again is a bad request", wrapped(_CREATE, _reused)
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
