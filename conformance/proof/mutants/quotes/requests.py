"""Mutants of the rules of a request for a quote, and of what it refers to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from sqlalchemy import select

from conformance.proof.kit.builders import (
    Json,
    after,
    around,
    before,
    edited,
    instead,
    recoded,
    together,
)
from conformance.proof.kit.edits import without
from conformance.proof.kit.identifiers import external_account_of, internal_account_of, of_type
from conformance.proof.kit.tables import with_field, with_status
from conformance.proof.mutant import declare, mutant
from conformance.proof.mutants.customers.toolkit import trusted
from conformance.proof.mutants.quotes.toolkit import KINDS, change_body, spelled
from conformance.proof.patch import Apply, Function, Patch
from conformance.reference import errors, fields, platform, rules
from conformance.reference.external_accounts import externals
from conformance.reference.quotes import fees, parties, quotes
from conformance.reference.store import ExternalAccount, Quote
from conformance.reference.transactions import transactions
from conformance.reference.unit import Ask, Unit

# --- Rules of request fields ----------------------------------------------------------------


_UNRULED = rules.Field("", "string")

LOOSENED: dict[tuple[str, str], str] = {
    ("source", "required"): "QUO-140",
    ("destination", "required"): "QUO-141",
    ("lockedCurrencySide", "required"): "QUO-142",
    ("lockedCurrencyAmount", "required"): "QUO-143",
    ("lockedCurrencySide", "enum"): "QUO-144",
    ("source.sourceType", "enum"): "QUO-149",
    ("destination.destinationType", "enum"): "QUO-150",
    ("source.accountId", "required"): "QUO-151",
    ("destination.accountId", "required"): "QUO-152",
    ("source.currency", "required"): "QUO-153",
}
"""The requirement behind each rule of a field that a careless implementation leaves out."""

for (_path, _rule), _requirement in LOOSENED.items():
    declare(
        _requirement,
        f"{_path.replace('.', '-')}-without-{_rule}",
        f"the rule {_rule} of {_path} is not checked",
        with_field(rules, "QUOTE_FIELDS", _path, **{_rule: getattr(_UNRULED, _rule)}),
    )


CHANGED: tuple[tuple[str, str, str, Json], ...] = (
    ("QUO-145", "lockedCurrencyAmount", "a fraction is cut off", {"kind": "any"}),
    ("QUO-146", "lockedCurrencyAmount", "a word is taken for a number", {"kind": "any"}),
    ("QUO-972", "lockedCurrencyAmount", "a text of digits is read", {"kind": "any"}),
    ("QUO-154", "immediatelyExecute", "any word is taken for true", {"kind": "any"}),
)
"""Requirement, field, statement and the changed rule."""

for _requirement, _path, _statement, _changes in CHANGED:
    declare(
        _requirement,
        f"{_path}-{'-'.join(_changes)}-{next(iter(_changes.values()))}",
        f"{_path}: {_statement}",
        with_field(rules, "QUOTE_FIELDS", _path, **_changes),
    )


def filled(body: Json, path: str, value: Any) -> Json:
    """Return ``body`` with a value at a dotted path, if there is none."""
    name, _, rest = path.partition(".")
    if not rest:
        return body if name in body else {**body, name: value}
    inner = body.get(name)
    return {**body, name: filled(inner, rest, value)} if isinstance(inner, dict) else body


def own_account(unit: Unit) -> str:
    """Return the id of the platform's own account."""
    return unit.seed.account_id


DEFAULTS: tuple[tuple[str, str, Callable[[Unit], Any]], ...] = (
    ("QUO-140", "source", lambda u: {"sourceType": "ACCOUNT", "accountId": own_account(u)}),
    (
        "QUO-141",
        "destination",
        lambda u: {"destinationType": "ACCOUNT", "accountId": own_account(u)},
    ),
    ("QUO-143", "lockedCurrencyAmount", lambda _: 10_000),
    ("QUO-151", "source.accountId", own_account),
    ("QUO-152", "destination.accountId", own_account),
    ("QUO-153", "source.currency", lambda _: "USD"),
)
"""Requirement, required field and what a generous implementation puts in its place."""


def fill(path: str, value: Callable[[Unit], Any]) -> Apply:
    """Return a patch that fills in a missing field."""
    return change_body(lambda unit, body: filled(body, path, value(unit)))


def _less(body: Json) -> Json:
    if "lockedCurrencySide" in body:
        return body
    return {
        **body,
        "lockedCurrencySide": "SENDING",
        "lockedCurrencyAmount": body["lockedCurrencyAmount"] - 1,
    }


declare(
    "QUO-142",
    "neither-side",
    "without a side a quote fixes neither amount",
    change_body(lambda _, body: _less(body)),
)


for _requirement, _path, _value in DEFAULTS:
    declare(
        _requirement,
        f"{_path.replace('.', '-')}-by-default",
        f"a missing {_path} is filled in",
        fill(_path, _value),
    )


def unchecked_price(side: str, amount: int, corridor: fees.Corridor, terms: fees.Terms) -> Any:
    """Price a quote, and do not mind if nothing would arrive."""
    pricer = fees.price_receiving if side == "RECEIVING" else fees.price_sending
    return pricer(amount, corridor, terms)


declare(
    "QUO-147",
    "negative-amounts",
    "amounts have no lower bound",
    together(
        with_field(rules, "QUOTE_FIELDS", "lockedCurrencyAmount", minimum=None),
        instead(fees, "price", unchecked_price),
    ),
)


@mutant("QUO-147", "the sign of an amount is dropped", how=change_body)
def unsigned_amounts(_unit: Unit, body: Json) -> Json:
    amount = body.get("lockedCurrencyAmount")
    return {**body, "lockedCurrencyAmount": abs(amount)} if isinstance(amount, int) else body


declare(
    "QUO-148",
    "amount-of-nothing",
    "the lowest amount is 0",
    together(
        with_field(rules, "QUOTE_FIELDS", "lockedCurrencyAmount", minimum=0),
        instead(fees, "price", unchecked_price),
    ),
)


# --- Accounts and quotes that do not exist --------------------------------------------------


def unknown_account_as(end: str, kind: str = "") -> Apply:
    """Return a patch by which an unknown account (of a kind) at one end is the platform's own."""

    def account_party(
        original: Callable[..., parties.Party], unit: Unit, account_id: str, echo: Json
    ) -> parties.Party:
        try:
            return original(unit, account_id, echo)
        except errors.Refusal:
            if end not in echo or not account_id.startswith(kind):
                raise
            return original(unit, own_account(unit), echo)

    return around(parties, "account_party", account_party)


for _requirement, _end, _prefix in (
    ("QUO-155", "sourceType", "ExternalAccount"),
    ("QUO-156", "destinationType", "InternalAccount"),
):
    declare(
        _requirement,
        f"unknown-{_prefix}",
        f"an {_prefix} that does not exist is taken for the platform's own",
        unknown_account_as(_end, _prefix),
    )

for _requirement, _end in (("QUO-155", "sourceType"), ("QUO-156", "destinationType")):
    declare(
        _requirement,
        f"{_end}-of-an-unknown-account",
        "an account that does not exist is taken for the platform's own",
        unknown_account_as(_end),
    )
    declare(
        _requirement,
        f"{_end}-breaks-the-service",
        "an account that does not exist is answered with 500",
        with_status("ACCOUNT_NOT_FOUND", 500),
    )


MISCODED: tuple[tuple[str, str, str, str], ...] = (
    ("QUO-110", "execute", "QUOTE_EXPIRED", "QUOTE_REQUEST_FAILED"),
    ("QUO-170", "execute", "QUOTE_NOT_FOUND", "INVALID_INPUT"),
    ("QUO-171", "execute", "QUOTE_NOT_FOUND", "TRANSACTION_NOT_FOUND"),
    ("QUO-172", "authorize", "QUOTE_NOT_FOUND", "INVALID_INPUT"),
    ("QUO-173", "authorize", "QUOTE_NOT_FOUND", "TRANSACTION_NOT_FOUND"),
)
"""Requirement, function of the quotes, the code that is due and the one that comes."""

for _requirement, _function, _code, _other in MISCODED:
    declare(
        _requirement,
        f"{_function}-refuses-with-{_other}",
        f"{_function} refuses with {_other} instead of {_code}",
        recoded(quotes, _function, _other, _code),
    )


MISPLACED: tuple[tuple[str, str, int], ...] = (("QUO-166", "INVALID_CURRENCY", 404),)
"""Requirement, code and the wrong HTTP status that it comes with."""

for _requirement, _code, _status in MISPLACED:
    declare(
        _requirement,
        f"{_code}-at-{_status}",
        f"{_code} comes with {_status}",
        with_status(_code, _status),
    )


@mutant("QUO-162", "an account may pay itself")
def self_payment(patch: Patch) -> None:
    patch.replace(parties, "is_self_payment", lambda source, destination: False)


@mutant(
    "QUO-166",
    "a currency that is not offered is taken for US dollars",
    (parties, "realtime_source"),
)
def foreign_funding(original: Callable[..., Any], unit: Unit, source: Json) -> Any:
    known = source["currency"] in rules.CURRENCIES
    return original(unit, source if known else {**source, "currency": "USD"})


def _of_destination(original: Function, path: str, message: str, **constraint: Any) -> Any:
    turned = "destination.accountId" if path == "source.currency" else path
    return original(turned, message, **constraint)


declare(
    "QUO-167",
    "other-field",
    "the destination is named for a currency that is not funded just in time",
    around(errors, "field_error", _of_destination),
)


# --- Ids of other kinds ---------------------------------------------------------------------


def _party(other: Callable[[Unit, str], str], function: str) -> Apply:
    """Return a patch after which an end of a quote may be named by its customer."""

    def party(of: Function, unit: Unit, end: Json) -> Any:
        named = end.get("accountId")
        return of(unit, {**end, "accountId": other(unit, named)} if named else end)

    return around(parties, function, party)


declare("QUO-800", "owner", "money comes from a customer", _party(internal_account_of, "source_of"))
declare(
    "QUO-801", "owner", "money goes to a customer", _party(external_account_of, "destination_of")
)


def _whatever_the_type(kind: str) -> Callable[[Unit, str], str]:
    own = of_type(kind)
    return lambda unit, name: own(unit, name) if name.startswith("Customer:") else name


declare(
    "QUO-800",
    "any-type",
    "the type of a source's id is not looked at",
    _party(_whatever_the_type("InternalAccount"), "source_of"),
)
declare(
    "QUO-801",
    "any-type",
    "the type of a destination's id is not looked at",
    _party(_whatever_the_type("ExternalAccount"), "destination_of"),
)


@mutant("QUO-802", "the type of a quote's id is not looked at", (quotes, "get"))
def any_type(get: Function, unit: Unit, name: str) -> Any:
    return get(unit, of_type("Quote")(unit, name))


@mutant("QUO-802", "the id of a transaction stands for its quote", (quotes, "get"))
def by_transaction(get: Function, unit: Unit, name: str) -> Any:
    query = select(Quote.id).where(Quote.transaction_id == name)
    return get(unit, unit.session.scalar(query) or name)


# --- The ends of a quote --------------------------------------------------------------------


@mutant("QUO-805", "every external account can be pulled from")
def all_pullable(patch: Patch) -> None:
    patch.replace(externals, "is_pullable", lambda _account: True)


@mutant("QUO-806", "a wallet outside is pulled from at once")
def wallet_pulled(patch: Patch) -> None:
    patch.replace(externals, "is_pullable", lambda _account: True)


@mutant("QUO-807", "just-in-time funding names anybody", (parties, "realtime_source"))
def anybody_funds(realtime: Function, unit: Unit, sent: Json) -> Any:
    try:
        return realtime(unit, sent)
    except errors.Refusal as refusal:
        if refusal.code != "CUSTOMER_NOT_FOUND":
            raise
        rest = {name: value for name, value in sent.items() if name != "customerId"}
        return realtime(unit, {**rest, "platform": True})


@mutant("QUO-808", "a platformFeeOverride that cannot be read is passed over", (quotes, "create"))
def override_passed_over(create: Function, unit: Unit, ask: Ask) -> Any:
    body = ask.body
    if isinstance(body, dict) and isinstance(body.get("platformFeeOverride"), str):
        body = {name: body[name] for name in body if name != "platformFeeOverride"}
    return create(unit, replace(ask, body=body))


_KINDS: dict[type, str] = {int: "number", list: "list", dict: "object"}


def _passed_over(path: str, kind: type) -> Apply:
    """Return a patch after which a member of a quote is passed over where it is of a kind."""

    def change(_unit: Unit, body: Json) -> Any:
        return without(path)(body) if isinstance(fields.at(body, path), kind) else body

    return change_body(change)


for _requirement, _path, _kinds in (
    ("QUO-836", "purposeOfPayment", (int, list, dict)),
    ("QUO-837", "destination.paymentRail", (int, list, dict)),
    ("QUO-838", "platformFeeOverride", (int, list)),
):
    for _kind in _kinds:
        declare(
            _requirement,
            f"{_KINDS[_kind]}-passed-over",
            f"a {_path} that is a {_KINDS[_kind]} is passed over",
            _passed_over(_path, _kind),
        )


@mutant("QUO-809", "a platformFeeOverride stays for the quotes that follow")
def override_stays(patch: Patch) -> None:
    last: list[Json] = []

    def terms(terms_for: Function, unit: Unit, order: quotes.Order) -> Any:
        if order.fee_override is not None:
            last[:] = [order.fee_override]
        elif last and order.source.currency == rules.PLATFORM_FEE_CURRENCY:
            return terms_for(unit, replace(order, fee_override=last[0]))
        return terms_for(unit, order)

    patch.wrap(quotes, "terms_for", terms)


@mutant("QUO-809", "a platformFeeOverride stays for the quotes of two currencies that follow")
def override_stays_for_conversions(patch: Patch) -> None:
    last: list[Json] = []

    def terms(terms_for: Function, unit: Unit, order: quotes.Order) -> Any:
        crosses = order.source.currency != order.destination.currency
        if order.fee_override is not None:
            last[:] = [order.fee_override]
        elif last and crosses and order.source.currency == rules.PLATFORM_FEE_CURRENCY:
            return terms_for(unit, replace(order, fee_override=last[0]))
        return terms_for(unit, order)

    patch.wrap(quotes, "terms_for", terms)


def _override_becomes_standing(unit: Unit, order: quotes.Order) -> None:
    """Make the fee of one quote the standing fee."""
    if order.fee_override is not None:
        currency = {"sourceCurrency": rules.PLATFORM_FEE_CURRENCY}
        platform.config_of(unit).fee_configs = [{**currency, **order.fee_override}]


declare(
    "QUO-631",
    "standing",
    "a platformFeeOverride becomes the standing fee",
    after(quotes, "terms_for", _override_becomes_standing),
)


def _railless(rail: str) -> Apply:
    """Refuse a rail, although the account lists it."""

    def refusing(account: ExternalAccount, named: str | None) -> None:
        if named == rail:
            message = "This rail is not offered."
            raise errors.invalid_input(errors.field_error("destination.paymentRail", message))

    return before(parties, "refuse_rail", refusing)


for _id, _rail in (
    ("QUO-810", "ACH"),
    ("QUO-811", "WIRE"),
    ("QUO-812", "RTP"),
    ("QUO-813", "FEDNOW"),
):
    declare(_id, "refused", f"{_rail} is listed and refused", _railless(_rail))


@mutant("QUO-814", "an execution shows the rail that it took", (quotes, "execute"), edited)
def rail_shown(shown: Any) -> Any:
    return {**shown, "destination": {**shown["destination"], "paymentRail": "ACH"}}


declare(
    "QUO-160",
    "no-purpose",
    "no reason of a payment is taken",
    with_field(rules, "QUOTE_FIELDS", "purposeOfPayment", enum=("NONE",)),
)
declare(
    "QUO-164",
    "trusted",
    "money moves for customers of the type INDIVIDUAL who are PENDING",
    trusted(quotes, "INDIVIDUAL", "PENDING"),
)
declare(
    "QUO-164",
    "asked-at-quote",
    "an execution does not ask whether the approval was withdrawn",
    instead(quotes, "refuse_approval_lost", lambda _customer: None),
)

for _requirement, _text in (("QUO-900", "description"), ("QUO-901", "remittanceInformation")):
    for _way in KINDS:
        declare(
            _requirement,
            f"spelled-{_way}",
            f"a {_text} is made a text where the payment is {_way.replace('-', ' ')}",
            spelled(_way, _text, str),
        )


# --- What a refusal leaves ------------------------------------------------------------------


def _drafted_first(original: Function, unit: Unit, ask: Ask) -> Any:
    try:
        return original(unit, ask)
    except errors.Refusal as refusal:
        if refusal.code == "INSUFFICIENT_FUNDS":
            original(unit, replace(ask, body=without("immediatelyExecute")(ask.body)))
            unit.session.commit()
        raise


def _source_first(original: Function, unit: Unit, ask: Ask) -> Any:
    try:
        return original(unit, ask)
    except errors.Refusal as refusal:
        other = unit.session.scalars(select(ExternalAccount)).first()
        if refusal.code.endswith("NOT_FOUND") and other is not None:
            destination = {**ask.body["destination"], "accountId": other.id}
            original(unit, replace(ask, body={**ask.body, "destination": destination}))
            unit.session.commit()
        raise


declare(
    "QUO-973",
    "source-first",
    "a quote is kept though its destination is then not found",
    around(quotes, "create", _source_first),
)
declare(
    "QUO-974",
    "drafted-first",
    "a quote is kept though it cannot be executed at once",
    around(quotes, "create", _drafted_first),
)
for _id, _first in (("QUO-973", _source_first), ("QUO-974", _drafted_first)):
    declare(
        _id,
        "unlinked",
        "a refused quote leaves its transaction, and transactions do not show their quotes",
        together(
            around(quotes, "create", _first), edited(transactions, "view", without("quoteId"))
        ),
    )
