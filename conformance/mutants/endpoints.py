"""Mutants of single endpoints: ids of other kinds, ends of quotes, rails, packets, filters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from sqlalchemy import select

from conformance.mutants.mutant import Patch, declare, mutant
from conformance.reference import accounts, errors, externals, quotes, rules, transactions
from conformance.reference.store import ExternalAccount, InternalAccount, Json, Quote
from conformance.reference.unit import Ask, Reply, Unit

Function = Callable[..., Any]
Apply = Callable[[Patch], None]

_REFERENCE = "conformance.reference"


# --- Ids of other kinds ---------------------------------------------------------------------


def _owner(unit: Unit, name: str) -> str:
    """Return the id of the customer whose account has an id; other ids are left as they are."""
    found = externals.find(unit, name) or accounts.find(unit, name)
    return name if found is None or found.customer_id is None else found.customer_id


def _external(unit: Unit, name: str) -> str:
    """Return the id of an external account of the customer of an id; others stay as they are."""
    query = select(ExternalAccount.id).where(ExternalAccount.customer_id == name)
    return unit.session.scalar(query.limit(1)) or name


def _internal(unit: Unit, name: str) -> str:
    """Return the id of an internal account of the owner of an id; others stay as they are."""
    query = select(InternalAccount.id).where(InternalAccount.customer_id == _owner(unit, name))
    return name if accounts.find(unit, name) else unit.session.scalar(query.limit(1)) or name


def _taken(place: str, member: str, other: Callable[[Unit, str], str]) -> Apply:
    """Return a patch after which a handler takes another kind of id for its own.

    ``member`` is where the id stands: a parameter of the path or the query, or a body's member.
    """

    def wrapper(handler: Function) -> Function:
        def taking(unit: Unit, ask: Ask) -> Any:
            return handler(unit, _changed(ask, member, partial(other, unit)))

        return taking

    return lambda patch: patch.wrap(place, wrapper)


def _changed(ask: Ask, member: str, change: Callable[[str], str]) -> Ask:
    for name in ("params", "query", "body"):
        held = getattr(ask, name)
        if isinstance(held, dict) and isinstance(held.get(member), str):
            changed: dict[str, Any] = {name: {**held, member: change(held[member])}}
            return replace(ask, **changed)
    return ask


OTHER_KINDS: tuple[tuple[str, str, str, str, Callable[[Unit, str], str]], ...] = (
    ("CUS-800", "read", "onboarding:read", "customerId", _owner),
    ("CUS-801", "changed", "onboarding:update", "customerId", _owner),
    ("KYC-800", "linked", "kyc_links:create", "customerId", _owner),
    ("VER-800", "submitted", "verifications:create", "customerId", _owner),
    ("OWN-800", "owned", "owners:create", "customerId", _owner),
    ("RBA-802", "held", "rule_based:create", "customerId", _owner),
    ("EXT-800", "read", "externals:read", "externalAccountId", _external),
    ("EXT-801", "deleted", "externals:remove", "externalAccountId", _external),
    ("EXT-802", "deleted", "externals:remove", "externalAccountId", _external),
    ("LKP-800", "looked-up", "receivers:lookup", "accountId", _external),
    ("ACC-800", "funded", "rule_based:fund", "accountId", _internal),
    ("ACC-801", "listed", "accounts:list_for_customers", "customerId", _owner),
)

for _id, _name, _place, _member, _other in OTHER_KINDS:
    declare(
        _id,
        _name,
        f"the {_member} of another resource of the same customer will do",
        _taken(f"{_REFERENCE}.{_place}", _member, _other),
    )


def _party(other: Callable[[Unit, str], str], place: str) -> Apply:
    """Return a patch after which an end of a quote may be named by its customer."""

    def wrapper(of: Function) -> Function:
        def party(unit: Unit, end: Json) -> Any:
            named = end.get("accountId")
            return of(unit, {**end, "accountId": other(unit, named)} if named else end)

        return party

    return lambda patch: patch.wrap(f"{_REFERENCE}.parties:{place}", wrapper)


declare("QUO-800", "owner", "money comes from a customer", _party(_internal, "source_of"))
declare("QUO-801", "owner", "money goes to a customer", _party(_external, "destination_of"))


@mutant("QUO-802", "the id of a transaction stands for its quote")
def by_transaction(patch: Patch) -> None:
    """Look the quote up by either id."""

    def wrapper(get: Function) -> Function:
        def found(unit: Unit, name: str) -> Any:
            query = select(Quote.id).where(Quote.transaction_id == name)
            return get(unit, unit.session.scalar(query) or name)

        return found

    patch.wrap(f"{_REFERENCE}.quotes:get", wrapper)


# --- The ends of a quote --------------------------------------------------------------------


@mutant("QUO-805", "every external account can be pulled from")
def all_pullable(patch: Patch) -> None:
    """Ask for nothing."""
    patch.replace(f"{_REFERENCE}.externals:is_pullable", lambda _account: True)


@mutant("QUO-806", "a wallet outside is pulled from at once")
def wallet_pulled(patch: Patch) -> None:
    """Ask for nothing."""
    patch.replace(f"{_REFERENCE}.externals:is_pullable", lambda _account: True)


@mutant("QUO-807", "just-in-time funding names anybody")
def anybody_funds(patch: Patch) -> None:
    """Do not look for the customer."""

    def wrapper(realtime: Function) -> Function:
        def source(unit: Unit, sent: Json) -> Any:
            try:
                return realtime(unit, sent)
            except errors.Refusal as refusal:
                if refusal.code != "CUSTOMER_NOT_FOUND":
                    raise
                rest = {name: value for name, value in sent.items() if name != "customerId"}
                return realtime(unit, {**rest, "platform": True})

        return source

    patch.wrap(f"{_REFERENCE}.parties:realtime_source", wrapper)


@mutant("QUO-808", "a platformFeeOverride that cannot be read is passed over")
def override_passed_over(patch: Patch) -> None:
    """Drop what is no object."""

    def wrapper(create: Function) -> Function:
        def lenient(unit: Unit, ask: Ask) -> Any:
            body = ask.body
            if isinstance(body, dict) and isinstance(body.get("platformFeeOverride"), str):
                body = {name: body[name] for name in body if name != "platformFeeOverride"}
            return create(unit, replace(ask, body=body))

        return lenient

    patch.wrap(f"{_REFERENCE}.quotes:create", wrapper)


@mutant("QUO-809", "a platformFeeOverride stays for the quotes that follow")
def override_stays(patch: Patch) -> None:
    """Remember the last one."""
    last: list[Json] = []

    def wrapper(terms_for: Function) -> Function:
        def terms(unit: Unit, order: quotes.Order) -> Any:
            if order.fee_override is not None:
                last[:] = [order.fee_override]
            elif last and order.source.currency == rules.PLATFORM_FEE_CURRENCY:
                return terms_for(unit, replace(order, fee_override=last[0]))
            return terms_for(unit, order)

        return terms

    patch.wrap(f"{_REFERENCE}.quotes:terms_for", wrapper)


def _railless(rail: str, patch: Patch) -> None:
    """Refuse a rail, although the account lists it."""

    def wrapper(refuse: Function) -> Function:
        def refusing(account: ExternalAccount, named: str | None) -> None:
            if named == rail:
                message = "This rail is not offered."
                raise errors.invalid_input(errors.field_error("destination.paymentRail", message))
            refuse(account, named)

        return refusing

    patch.wrap(f"{_REFERENCE}.parties:refuse_rail", wrapper)


for _id, _rail in (
    ("QUO-810", "ACH"),
    ("QUO-811", "WIRE"),
    ("QUO-812", "RTP"),
    ("QUO-813", "FEDNOW"),
):
    declare(_id, "refused", f"{_rail} is listed and refused", partial(_railless, _rail))


@mutant("QUO-814", "an execution shows the rail that it took")
def rail_shown(patch: Patch) -> None:
    """Add it to the destination."""

    def wrapper(execute: Function) -> Function:
        def showing(unit: Unit, ask: Ask) -> Any:
            shown = execute(unit, ask)
            return {**shown, "destination": {**shown["destination"], "paymentRail": "ACH"}}

        return showing

    patch.wrap(f"{_REFERENCE}.quotes:execute", wrapper)


# --- Submissions of businesses --------------------------------------------------------------


@mutant("VER-801", "nobody has to control a business")
def uncontrolled(patch: Patch) -> None:
    """Take any owner."""
    patch.replace(f"{_REFERENCE}.verifications:is_controlled", lambda _owners: True)


def _unasked(fits: Callable[[Json, Any], bool], patch: Patch) -> None:
    """Do not ask for the documents that fit."""

    def wrapper(missing: Function) -> Function:
        def fewer(packet: Any, suffix: str | None) -> list[Json]:
            return [one for one in missing(packet, suffix) if not fits(one, packet)]

        return fewer

    patch.wrap(f"{_REFERENCE}.verifications:missing_documents", wrapper)


declare(
    "VER-802",
    "unproven",
    "the address of a business need not be proven",
    partial(_unasked, lambda one, _packet: one["type"] == "MISSING_PROOF_OF_ADDRESS"),
)
declare(
    "VER-803",
    "unproven",
    "owners need no documents",
    partial(_unasked, lambda one, packet: one["resourceId"] != packet.customer.id),
)


# --- Transactions ---------------------------------------------------------------------------


def _one_filter(left_out: Mapping[str, str], patch: Patch) -> None:
    """Forget a filter where another one is given too."""

    def wrapper(filtered: Function) -> Function:
        def fewer(query: Mapping[str, str]) -> Any:
            found = {
                name: value
                for name, value in query.items()
                if name not in left_out or left_out[name] not in query
            }
            return filtered(found)

        return fewer

    patch.wrap(f"{_REFERENCE}.transactions:filtered", wrapper)


declare(
    "TRX-800",
    "type-alone",
    "a status is passed over where a type is given",
    partial(_one_filter, {"status": "type"}),
)


@mutant("TRX-801", "a status and a type cannot be asked for together")
def one_at_a_time(patch: Patch) -> None:
    """Refuse any type beside a status."""

    def refuse(query: Mapping[str, str]) -> None:
        if {"status", "type"} <= query.keys():
            raise errors.invalid_input(errors.field_error("status", "Expected no status."))

    patch.replace(f"{_REFERENCE}.transactions:refuse_status_of_cards", refuse)


@mutant("TRX-802", "an approval executes the quote of any pending transaction")
def all_approved(patch: Patch) -> None:
    """Take it for an execution."""

    def wrapper(approve: Function) -> Function:
        def executing(unit: Unit, ask: Ask) -> Any:
            quote, transaction = transactions.locked(unit, ask.params["transactionId"])
            if quotes.is_approvable(quote):
                return approve(unit, ask)
            quotes.start(unit, quote)
            return transactions.view(transaction)

        return executing

    patch.wrap(f"{_REFERENCE}.quotes:approve", wrapper)


def _cards(change: Callable[[dict[str, str]], dict[str, str] | None], patch: Patch) -> None:
    """List card transactions by another query where a card and the type are given."""

    def wrapper(made_with_cards: Function) -> Function:
        def found(query: dict[str, str]) -> Any:
            if query.get("type") != "CARD" or "cardId" not in query:
                return made_with_cards(query)
            changed = change(query)
            return None if changed is None else made_with_cards(changed)

        return found

    patch.wrap(f"{_REFERENCE}.transactions:made_with_cards", wrapper)


declare(
    "CAR-800",
    "empty",
    "a card and the type CARD find nothing together",
    partial(_cards, lambda _query: None),
)
declare(
    "CAR-801",
    "type-alone",
    "the card is passed over where the type is given",
    partial(_cards, lambda query: {k: v for k, v in query.items() if k != "cardId"}),
)


# --- Rule-based accounts, and the lookup ----------------------------------------------------


@mutant("RBA-800", "an account that failed will do")
def failed_home(patch: Patch) -> None:
    """Do not look at the status."""

    def home_of(unit: Unit, customer_id: str, currency: str) -> InternalAccount | None:
        query = select(InternalAccount).where(
            InternalAccount.customer_id == customer_id,
            InternalAccount.currency == currency,
            InternalAccount.type != "RULE_BASED",
            InternalAccount.status.in_(("ACTIVE", "FAILED")),
        )
        return unit.session.scalar(query.limit(1))

    patch.replace(f"{_REFERENCE}.sweeps:home_of", home_of)


@mutant("RBA-803", "a simulated deposit stays where it settles")
def unswept(patch: Patch) -> None:
    """Fund it as any other account."""
    patch.replace(f"{_REFERENCE}.rule_based:fund", accounts.fund)


@mutant("LKP-801", "a sender is named in one way alone")
def one_name(patch: Patch) -> None:
    """Refuse both."""

    def wrapper(currency_of: Function) -> Function:
        def currency(unit: Unit, query: dict[str, str]) -> Any:
            if {"customerId", "senderUmaAddress"} <= query.keys():
                raise errors.invalid_input(errors.field_error("customerId", "Expected one sender."))
            return currency_of(unit, query)

        return currency

    patch.wrap(f"{_REFERENCE}.receivers:sender_currency", wrapper)


# --- Successes, settings, terms and phones --------------------------------------------------


def _answered_200(fits: Callable[[Json], bool], patch: Patch) -> None:
    """Answer the creation of some quotes with 200."""

    def wrapper(create: Function) -> Function:
        def answering(unit: Unit, ask: Ask) -> Any:
            shown = create(unit, ask)
            return Reply(200, shown) if fits(shown["source"]) else shown

        return answering

    patch.wrap(f"{_REFERENCE}.quotes:create", wrapper)


declare(
    "QUO-816",
    "ok",
    "a quote that is funded just in time is answered with 200",
    partial(_answered_200, lambda source: source["sourceType"] == "REALTIME_FUNDING"),
)
declare(
    "QUO-817",
    "ok",
    "a quote that pulls its money is answered with 200",
    partial(
        _answered_200, lambda source: source.get("accountId", "").startswith("ExternalAccount:")
    ),
)


@mutant("TRM-800", "what is pulled needs no acceptance of the terms")
def pulled_without_terms(patch: Patch) -> None:
    """Ask for it at internal accounts alone."""
    pulled: list[bool] = []

    def drafting(draft: Function) -> Function:
        def drafted(unit: Unit, order: quotes.Order) -> Any:
            pulled.append(order.source.external is not None)
            try:
                return draft(unit, order)
            finally:
                pulled.pop()

        return drafted

    def accepting(refuse: Function) -> Function:
        return lambda customer: None if any(pulled) else refuse(customer)

    patch.wrap(f"{_REFERENCE}.quotes:draft", drafting)
    patch.wrap(f"{_REFERENCE}.customers:refuse_without_terms", accepting)


@mutant("CFG-800", "a currency that needs nothing says nothing")
def silent_currencies(patch: Patch) -> None:
    """Leave empty lists out."""

    def wrapper(view: Function) -> Function:
        def shorter(*arguments: Any) -> Json:
            shown: Json = view(*arguments)
            name = "providerRequiredCustomerFields"
            kept = [
                {key: value for key, value in one.items() if key != name or value}
                for one in shown["supportedCurrencies"]
            ]
            return {**shown, "supportedCurrencies": kept}

        return shorter

    patch.wrap(f"{_REFERENCE}.platform:view", wrapper)


def _mobile_passed_over(fits: Callable[[Any], bool], patch: Patch) -> None:
    """Complete resets with another phone where the one that is sent cannot be read."""

    def wrapper(complete: Function) -> Function:
        def lenient(unit: Unit, ask: Ask) -> Any:
            body = ask.body
            if isinstance(body, dict) and "mobile" in body and fits(body["mobile"]):
                body = {**body, "mobile": {"countryCode": "49", "number": "15112345678"}}
            return complete(unit, replace(ask, body=body))

        return lenient

    patch.wrap(f"{_REFERENCE}.factor_resets:complete", wrapper)


declare(
    "SFR-800",
    "text",
    "a phone may be a text",
    partial(_mobile_passed_over, lambda mobile: isinstance(mobile, str)),
)
declare(
    "SFR-801",
    "null",
    "a phone may be null",
    partial(_mobile_passed_over, lambda mobile: mobile is None),
)
declare(
    "SFR-802",
    "completed",
    "a reset is completed with anything for a phone",
    partial(_mobile_passed_over, lambda mobile: not isinstance(mobile, dict)),
)


@mutant("RBA-804", "a label may be anything")
def any_label(patch: Patch) -> None:
    """Keep it as a text."""

    def wrapper(create: Function) -> Function:
        def lenient(unit: Unit, ask: Ask) -> Any:
            body = ask.body
            if isinstance(body, dict) and isinstance(body.get("label"), dict):
                body = {**body, "label": str(body["label"])}
            return create(unit, replace(ask, body=body))

        return lenient

    patch.wrap(f"{_REFERENCE}.rule_based:create", wrapper)
