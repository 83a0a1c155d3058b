"""Mutants of strong authentication: who is challenged, and which proofs count."""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy.orm import object_session

from conformance.proof.kit.builders import Json, after, around, before, edited, instead
from conformance.proof.kit.edits import without
from conformance.proof.mutant import declare, mutant
from conformance.proof.mutants.authentication.toolkit import WAITING, decided_once, showing
from conformance.proof.mutants.quotes.toolkit import pending_authorized, receivers_asked
from conformance.proof.patch import Apply, Patch
from conformance.reference import errors, rules
from conformance.reference.authentication import sca
from conformance.reference.customers import customers
from conformance.reference.quotes import quotes
from conformance.reference.store import Challenge, Customer, Quote
from conformance.reference.unit import Ask, Unit

for _id, _member in (("SCA-092", "purpose"), ("SCA-093", "availableFactors")):
    declare(_id, "missing", f"a challenge has no {_member}", edited(sca, "view", without(_member)))


declare(
    "SCA-094",
    "alone",
    "a challenge offers the last factor alone",
    edited(sca, "available", lambda factors: factors[-1:]),
)


@mutant("SCA-092", "a challenge of a conversion has no purpose", (sca, "view"))
def purposeless_conversion(
    original: Callable[[Unit, Quote], Json | None], unit: Unit, quote: Quote
) -> Json | None:
    body = original(unit, quote)
    is_conversion = quote.sending_currency != quote.receiving_currency
    return without("purpose")(body) if body and is_conversion else body


# --- Who is asked ---------------------------------------------------------------------------


def _exempting(exempt: Callable[[Quote], bool]) -> Apply:
    """Return the patch by which some quotes are executed without a challenge."""

    def start(
        original: Callable[..., None], unit: Unit, quote: Quote, action: rules.Action = "EXECUTE"
    ) -> None:
        (quotes.perform if exempt(quote) else original)(unit, quote, action)

    return around(quotes, "start", start)


declare(
    "SCA-840",
    "one-country",
    "customers of one country of the EU alone are challenged",
    instead(rules, "SCA_REGIONS", frozenset({"DE"})),
)
declare(
    "SCA-840",
    "large-countries",
    "customers of the large countries of the EU alone are challenged",
    instead(rules, "SCA_REGIONS", frozenset({"DE", "ES", "FR", "IT", "NL", "PL"})),
)
declare(
    "SCA-001",
    "same_currency_only",
    "payouts to another currency are not challenged",
    _exempting(lambda quote: quote.sending_currency != quote.receiving_currency),
)
declare(
    "SCA-002",
    "internal_only",
    "money that is pulled is not challenged",
    _exempting(lambda quote: quote.source_kind == "EXTERNAL"),
)


for _id in ("SCA-042", "SCA-043"):
    declare(
        _id,
        "external_only",
        "payments to internal accounts are not challenged",
        _exempting(lambda quote: quote.destination_kind == "INTERNAL"),
    )


@mutant("SCA-041", "who has proved a payment is not challenged any more", (quotes, "start"))
def proved_once(
    original: Callable[..., None], unit: Unit, quote: Quote, action: rules.Action = "EXECUTE"
) -> None:
    before = unit.session.query(Quote).filter_by(customer_id=quote.customer_id, status="COMPLETED")
    (quotes.perform if before.count() else original)(unit, quote, action)


@mutant("SCA-003", "quotes of a fixed receiving amount are not challenged")
def sending_side_only(patch: Patch) -> None:
    sides: dict[str, str] = {}

    def draft(original: Callable[..., Quote], unit: Unit, order: quotes.Order) -> Quote:
        quote = original(unit, order)
        sides[quote.id] = order.side
        return quote

    patch.wrap(quotes, "draft", draft)
    _exempting(lambda quote: sides.get(quote.id) == "RECEIVING")(patch)


@mutant(
    "SCA-004",
    "every executed quote shows a challenge, as an empty form of one",
    (quotes, "view"),
    edited,
)
def challenge_of_everybody(shown: Json) -> Json:
    empty = {"id": "ScaChallenge:none", "expiresAt": shown["expiresAt"], "factor": "NONE"}
    return {"scaChallenge": empty, **shown}


declare(
    "SCA-004",
    "receivers-asked",
    "a payment to a customer of an SCA region waits for a proof of that customer",
    receivers_asked,
)


for _id in ("SCA-842", "SCA-845"):
    declare(
        _id,
        "decided-once",
        "whether a customer needs SCA is decided when it is created",
        decided_once,
    )


declare("SCA-005", "executes", "a proof takes the place of an execution", pending_authorized)
declare("SCA-006", "executes", "a proof moves the money without a challenge", pending_authorized)


@mutant("SCA-007", "a challenge stays with its quote when it is satisfied", (sca, "view"))
def challenge_stays(
    original: Callable[[Unit, Quote], Json | None], unit: Unit, quote: Quote
) -> Json | None:
    status, quote.status = quote.status, WAITING
    try:
        return original(unit, quote)
    finally:
        quote.status = status


# --- The challenge --------------------------------------------------------------------------


declare(
    "SCA-012",
    "payout",
    "a conversion is called a payout",
    showing((sca, "view"), lambda _: {"purpose": "PAYOUT"}),
)
declare(
    "SCA-013",
    "shared-challenge",
    "the challenges of a customer share their id",
    showing((sca, "view"), lambda _: {"id": "ScaChallenge:1"}),
)


# --- The proof ------------------------------------------------------------------------------


def _without(factor: str) -> Apply:
    """Return the patch by which the proof of a factor is never right."""

    def is_used(body: Json) -> bool:
        return (body.get("code") is None) is (factor == "PASSKEY")

    return around(sca, "is_proof", lambda original, body: not is_used(body) and original(body))


for _requirement, _factor in (
    ("SCA-020", "SMS_OTP"),
    ("SCA-021", "SMS_OTP"),
    ("SCA-022", "PASSKEY"),
    ("SCA-023", "TOTP"),
):
    declare(_requirement, "refused", f"the proof of {_factor} is not taken", _without(_factor))


def _authorizing_all(patch: Patch) -> None:
    """Let a proof authorize whatever its customer waits for."""

    def authorize(original: Callable[[Unit, Ask], Json], unit: Unit, ask: Ask) -> Json:
        shown = original(unit, ask)
        quote = quotes.get(unit, ask.params["quoteId"])
        waiting = unit.session.query(Quote).filter_by(customer_id=quote.customer_id, status=WAITING)
        for other in waiting.all():
            if other.id != quote.id:
                quotes.perform(unit, other, "AUTHORIZE")
        return shown

    patch.wrap(quotes, "authorize", authorize)


declare("SCA-025", "all", "a proof authorizes all quotes of its customer", _authorizing_all)
declare("SCA-026", "all", "a proof pays for all quotes of its customer", _authorizing_all)


@mutant(
    "SCA-841",
    "the newest challenge of a customer takes the place of the others",
    (sca, "check_proof"),
    before,
)
def newest_challenge_alone(unit: Unit, quote: Quote, body: Json) -> None:
    theirs = unit.session.query(Challenge).join(Quote, Quote.id == Challenge.quote_id)
    newest = theirs.filter(Quote.customer_id == quote.customer_id).order_by(
        Challenge.created_at.desc()
    )
    if newest.first() is not unit.session.get(Challenge, quote.challenge_id):
        raise errors.invalid_input(errors.field_error("code", "The proof is not valid."))


def _of_all_customers(condition: str, refuse: str) -> Apply:
    """Return the patch by which what holds for one customer is held against all."""

    def refuse_all(original: Callable[[Customer], None], customer: Customer) -> None:
        session = object_session(customer)
        assert session is not None
        for one in session.query(Customer):
            if customers.has_condition(one, condition):
                original(one)

    return around(sca, refuse, refuse_all)


for _requirement, _condition, _refuse, _statement in (
    ("SCA-843", "SCA_LOCKED", "refuse_locked", "a lock of one customer is one of all"),
    ("SCA-844", "SCA_SESSION_LAPSED", "refuse_lapsed", "all customers share one session"),
):
    declare(_requirement, "of-all", _statement, _of_all_customers(_condition, _refuse))


@mutant("SCA-027", "an expired challenge shuts its customer out", (sca, "expire"), after)
def shut_out(unit: Unit, challenge: Challenge) -> None:
    quote = unit.session.get_one(Quote, challenge.quote_id)
    owner = unit.session.get_one(Customer, quote.customer_id)
    owner.conditions = {**owner.conditions, "SCA_LOCKED": True}


def _immediate_unproven(patch: Patch) -> None:
    """Take any proof for what was executed as it was created."""
    immediate: set[str] = set()

    def create(original: Callable[[Unit, Ask], Json], unit: Unit, ask: Ask) -> Json:
        shown = original(unit, ask)
        if ask.body.get("immediatelyExecute"):
            immediate.add(shown["id"])
        return shown

    def check_proof(original: Callable[..., None], unit: Unit, quote: Quote, body: Json) -> None:
        if quote.id not in immediate:
            original(unit, quote, body)

    patch.wrap(quotes, "create", create)
    patch.wrap(sca, "check_proof", check_proof)


for _requirement in ("SCA-028", "SCA-029"):
    declare(
        _requirement,
        "any_code",
        "any code is right for a quote that was executed as it was created",
        _immediate_unproven,
    )
