"""Mutants of rule-based accounts: who gets one, what it shows, and how it is listed."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from typing import Any

from sqlalchemy import select

from conformance.proof.kit.builders import Handler, Json, Place, around, before, instead, recoded
from conformance.proof.kit.edits import Edit, as_number, put, turned, without
from conformance.proof.kit.identifiers import declare_lookups, owner_of
from conformance.proof.mutant import declare, mutant
from conformance.proof.mutants.internal_accounts.toolkit import (
    INFO,
    answered,
    despite,
    key_without_marks,
    labelled,
    made,
    rowed,
    shown,
)
from conformance.proof.patch import Apply, Function, Patch
from conformance.reference import errors, platform
from conformance.reference.internal_accounts import accounts, rule_based, sweeps
from conformance.reference.store import Customer, InternalAccount
from conformance.reference.unit import Ask, Unit


def changed(change: Callable[[Unit, Json], Json]) -> Apply:
    """Return a patch after which another body is created than the one that came."""

    def create(original: Handler, unit: Unit, ask: Ask) -> Any:
        body = change(unit, dict(ask.body)) if isinstance(ask.body, dict) else ask.body
        return original(unit, replace(ask, body=body))

    return around(rule_based, "create", create)


def newest(unit: Unit, kind: str = "INDIVIDUAL") -> Customer:
    """Return the customer that was created last."""
    query = select(Customer).where(Customer.customer_type == kind, Customer.status == "APPROVED")
    return unit.session.scalars(query.order_by(Customer.created_at.desc()).limit(1)).one()


def own(unit: Unit, body: Json) -> Json:
    """Return a rule that sweeps to the holder's own account."""
    home = sweeps.home_of(unit, body["customerId"], "USD")
    return {"destination": {"accountId": home.id if home else ""}}


# --- What is shown --------------------------------------------------------------------------


SHOWN: tuple[tuple[str, str, Edit], ...] = (
    ("RBA-002", "fiat", put("type", "INTERNAL_FIAT")),
    ("RBA-002", "missing", without("type")),
    ("RBA-003", "missing", without("sweepRule")),
    ("RBA-003", "null", put("sweepRule", None)),
    ("RBA-003", "text", put("sweepRule", "daily")),
    ("RBA-004", "nobody", put("customerId", "")),
    ("RBA-004", "another", put("customerId", "Customer:1")),
    ("RBA-005", "euros", put("balance.currency.code", "EUR")),
    ("RBA-006", "advance", put("balance.amount", 100)),
    ("RBA-007", "advance", put("totalBalance.amount", 100)),
    ("RBA-010", "missing", without("fundingPaymentInstructions")),
    ("RBA-010", "null", put("fundingPaymentInstructions", None)),
    ("RBA-010", "none", put("fundingPaymentInstructions", [])),
    ("RBA-011", "missing", without(f"{INFO}.accountNumber")),
    ("RBA-011", "empty", put(f"{INFO}.accountNumber", "")),
    ("RBA-012", "missing", without(f"{INFO}.routingNumber")),
)
"""Requirement, name and edit of accounts that are answered in another form."""

for _requirement, _name, _edit in SHOWN:
    declare(_requirement, _name, f"of what is created: {_name}", shown(_edit))

declare("RBA-008", "capitals", "a label is put in capitals", labelled(lambda t: t and t.upper()))
declare(
    "RBA-008",
    "number",
    "a label of digits is answered as a number",
    shown(turned("label", as_number)),
)
declare("RBA-008", "null", "the answer alone shows no label", shown(put("label", None)))
declare("RBA-008", "fixed", "every account has one label", labelled(lambda _: "Collections"))
declare("RBA-009", "invented", "a label is made up", labelled(lambda t: t or "Account"))
declare("RBA-009", "empty", "no label is shown as an empty one", labelled(lambda t: t or ""))


@mutant("RBA-009", "a further account of a holder has the label of the first")
def label_of_the_first(patch: Patch) -> None:
    labels: dict[str, str | None] = {}

    def change(create: Handler, unit: Unit, ask: Ask) -> Any:
        reply = create(unit, ask)
        account = unit.session.get_one(InternalAccount, reply.body["id"])
        first = labels.setdefault(str(account.customer_id), account.label)
        account.label = account.label or first
        return replace(reply, body={**reply.body, "label": account.label})

    patch.wrap(rule_based, "create", change)


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
    instead(rule_based, "HOLDERS", ("BUSINESS",)),
)


def numbered(digits: Callable[[InternalAccount], str], *, all_: bool = False) -> Apply:
    """Return a patch after which rule-based accounts, or all, have other numbers."""

    def instructions(
        original: Callable[[InternalAccount], list[Json]], account: InternalAccount
    ) -> list[Json]:
        if not all_ and not sweeps.is_rule_based(account):
            return original(account)
        return accounts.instructions_for(account.currency, digits(account))

    return around(accounts, "funding_instructions", instructions)


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


def listing(
    change: Callable[[Unit, Ask, list[Json]], list[Json]],
    place: Place = (accounts, "list_for_customers"),
) -> Apply:
    """Return a patch after which another list is answered."""

    def handler(original: Handler, unit: Unit, ask: Ask) -> Any:
        body = original(unit, ask)
        return {**body, "data": change(unit, ask, deepcopy(body["data"]))}

    return around(*place, handler)


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


declare(
    "RBA-016",
    "disabled",
    "rule-based accounts are not listed while the platform may create none",
    listing(
        lambda unit, ask, rows: (
            rows if platform.config_of(unit).rule_based else _without_rule_based(unit, ask, rows)
        )
    ),
)
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
    listing(each(put(f"{INFO}.accountNumber", "******4756"))),
)
declare("RBA-019", "everybody", "all rule-based accounts are listed", listing(_with_all))
declare(
    "RBA-020",
    "platforms",
    "they count as the platform's",
    listing(_with_all, (accounts, "list_for_platform")),
)
declare("RBA-026", "without-rule", "the list shows no rules", listing(each(put("sweepRule", None))))
declare("RBA-805", "null", "the list shows null as rules", listing(each(put("sweepRule", None))))
declare("RBA-805", "answered", "null is answered as a rule", shown(put("sweepRule", None)))
declare("RBA-004", "listed", "the list names no holder", listing(each(put("customerId", ""))))
declare("RBA-021", "in-place", "a number hides the other accounts", listing(_rule_based_alone))
declare(
    "RBA-009",
    "listed-with-one",
    "what has no label is listed with one",
    listing(each(lambda row: {**row, "label": row["label"] or "Account"})),
)
declare(
    "RBA-024",
    "number",
    "the list shows a label of digits as a number",
    listing(each(turned("label", as_number))),
)
declare("RBA-024", "null", "the list shows no labels", listing(each(put("label", None))))

declare("RBA-024", "other-label", "the list has other labels", listing(each(put("label", "A-1"))))


# --- Who gets one ---------------------------------------------------------------------------


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
    return recoded(rule_based, "create", code, "CUSTOMER_NOT_FOUND")


declare("RBA-046", "newest", "an unknown customer is the newest one", changed(_guessed))
declare("RBA-046", "conflict", "an unknown customer is a conflict", _other_refusal("CONFLICT"))
declare(
    "RBA-047", "account", "it is the account that is missing", _other_refusal("ACCOUNT_NOT_FOUND")
)
declare(
    "RBA-048",
    "anybody",
    "businesses get one too",
    instead(rule_based, "HOLDERS", ("INDIVIDUAL", "BUSINESS")),
)


@mutant("RBA-049", "an approval is not asked for", (rule_based, "refuse_without_home"), instead)
def unapproved(unit: Unit, holder: Customer, currency: str) -> None:
    if sweeps.home_of(unit, holder.id, currency) is None:
        raise errors.Refusal("CONFLICT", "The customer holds no account.")


declare(
    "RBA-054",
    "made",
    "an account is made although its holder is refused",
    despite("CONFLICT", lambda unit, ask: made(unit, ask.body)),
)


def _made_where(is_meant: Callable[[Unit, Json], bool]) -> Callable[[Unit, Ask], None]:
    def make(unit: Unit, ask: Ask) -> None:
        if is_meant(unit, ask.body):
            holder = unit.session.get(Customer, str(ask.body.get("customerId")))
            if holder is not None:
                rule = ask.body.get("sweepRule")
                label = str(ask.body.get("label") or "")[:255] or None
                body = {"sweepRule": rule if isinstance(rule, dict) else {}, "label": label}
                rule_based.mint(unit, holder, {"type": "RULE_BASED", "currency": "USD", **body})

    return make


def _has_no_rule(_unit: Unit, body: Json) -> bool:
    return not isinstance(body.get("sweepRule"), dict)


def _is_foreign(_unit: Unit, body: Json) -> bool:
    return body.get("currency") != "USD"


def _is_long(_unit: Unit, body: Json) -> bool:
    return len(body.get("label") or "") > 255


def _is_for_a_business(unit: Unit, body: Json) -> bool:
    holder = unit.session.get(Customer, str(body.get("customerId")))
    return holder is not None and holder.customer_type == "BUSINESS"


for _name, _code, _is_meant in (
    ("no-rule", "INVALID_INPUT", _has_no_rule),
    ("currency", "INVALID_INPUT", _is_foreign),
    ("label", "INVALID_INPUT", _is_long),
    ("business", "INVALID_INPUT", _is_for_a_business),
    ("no-type", "INVALID_INPUT", lambda _unit, body: "type" not in body),
    ("not-enabled", "CONFLICT", lambda unit, _body: not rule_based.is_enabled(unit)),
    ("conflict", "CONFLICT", lambda _unit, _body: True),
):
    declare(
        "RBA-055",
        f"made-{_name}",
        f"an account is made although it is refused ({_name})",
        despite(_code, _made_where(_is_meant)),
    )


@mutant("RBA-055", "an account is made before its key is looked at", (rule_based, "create"))
def made_before_the_key(original: Handler, unit: Unit, ask: Ask) -> Any:
    if len(ask.headers.get(rule_based.KEY, "")) > 255:
        made(unit, ask.body)
        raise errors.Rejection("INVALID_INPUT", "The key is too long.")
    return original(unit, ask)


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

    return instead(sweeps, "home_of", home_of)


declare("RBA-050", "pending", "an account that is not there yet will do", _home_at("PENDING"))
declare("RBA-051", "closed", "a closed account will do", _home_at("CLOSED"))


@mutant("RBA-051", "an account in another currency will do", (sweeps, "home_of"), instead)
def home_in_any_currency(unit: Unit, customer_id: str, _currency: str) -> InternalAccount | None:
    query = select(InternalAccount).where(
        InternalAccount.customer_id == customer_id,
        InternalAccount.type != "RULE_BASED",
        InternalAccount.status == "ACTIVE",
    )
    return unit.session.scalar(query.limit(1))


declare(
    "RBA-052",
    "unasked",
    "every platform is enabled",
    instead(rule_based, "refuse_disabled", lambda _unit: None),
)


@mutant("RBA-053", "a platform that was disabled stays so")
def disabled_for_good(patch: Patch) -> None:
    seen: list[bool] = []

    def enabled(is_enabled: Callable[[Unit], bool], unit: Unit) -> bool:
        seen.append(is_enabled(unit))
        return all(seen)

    patch.wrap(rule_based, "is_enabled", enabled)


def _bonus(create: Handler, unit: Unit, ask: Ask) -> Any:
    reply = create(unit, ask)
    home = sweeps.home_of(unit, ask.body["customerId"], "USD")
    if home is not None:
        accounts.credit(unit, home, 100)
    return reply


declare(
    "RBA-025", "bonus", "each new number is worth a bonus", around(rule_based, "create", _bonus)
)


# --- Ids of other kinds ---------------------------------------------------------------------


declare_lookups((("RBA-802", "held", (rule_based, "create"), "customerId", owner_of),))


# --- Rule-based accounts, and the lookup ----------------------------------------------------


@mutant("RBA-800", "an account that failed will do", (sweeps, "home_of"), instead)
def failed_home(unit: Unit, customer_id: str, currency: str) -> InternalAccount | None:
    query = select(InternalAccount).where(
        InternalAccount.customer_id == customer_id,
        InternalAccount.currency == currency,
        InternalAccount.type != "RULE_BASED",
        InternalAccount.status.in_(("ACTIVE", "FAILED")),
    )
    return unit.session.scalar(query.limit(1))


@mutant("RBA-803", "a simulated deposit stays where it settles")
def unswept(patch: Patch) -> None:
    patch.replace(rule_based, "fund", accounts.fund)


# --- Successes, settings, terms and phones --------------------------------------------------


@mutant("RBA-804", "a label may be anything", (rule_based, "create"))
def any_label(create: Function, unit: Unit, ask: Ask) -> Any:
    body = ask.body
    if isinstance(body, dict) and isinstance(body.get("label"), dict):
        body = {**body, "label": str(body["label"])}
    return create(unit, replace(ask, body=body))


declare("RBA-083", "marks", "a key has no marks", before(rule_based, "create", key_without_marks))
