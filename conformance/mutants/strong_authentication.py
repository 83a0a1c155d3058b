"""Mutants of strong authentication: who is asked, by which factor, how often, and for what."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance.mutants.mutant import Patch, declare, mutant
from conformance.reference import (
    customers,
    errors,
    externals,
    ledger,
    quotes,
    rules,
    transactions,
    trust,
)
from conformance.reference.rules import Move
from conformance.reference.store import Challenge, Customer, ExternalAccount, Json, Quote
from conformance.reference.unit import Ask, Unit

Patcher = Callable[[Patch], None]

_QUOTES = "conformance.reference.quotes"
_RULES = "conformance.reference.rules"
_SCA = "conformance.reference.sca"
_TRUST = "conformance.reference.trust"
_TRANSITIONS = f"{_RULES}:QUOTE_TRANSITIONS"
_WAITING = "PENDING_AUTHORIZATION"


# --- Who is asked ---------------------------------------------------------------------------


def _exempting(exempt: Callable[[Quote], bool]) -> Patcher:
    """Return the patch by which some quotes are executed without a challenge."""

    def wrapper(original: Callable[..., None]) -> Any:
        def start(unit: Unit, quote: Quote, action: rules.Action = "EXECUTE") -> None:
            (quotes.perform if exempt(quote) else original)(unit, quote, action)

        return start

    return lambda patch: patch.wrap(f"{_QUOTES}:start", wrapper)


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


@mutant("SCA-003", "quotes of a fixed receiving amount are not challenged")
def sending_side_only(patch: Patch) -> None:
    sides: dict[str, str] = {}

    def drafting(original: Callable[..., Quote]) -> Any:
        def draft(unit: Unit, order: quotes.Order) -> Quote:
            quote = original(unit, order)
            sides[quote.id] = order.side
            return quote

        return draft

    patch.wrap(f"{_QUOTES}:draft", drafting)
    _exempting(lambda quote: sides.get(quote.id) == "RECEIVING")(patch)


@mutant("SCA-004", "every executed quote shows a challenge, as an empty form of one")
def challenge_of_everybody(patch: Patch) -> None:
    def wrapper(original: Callable[..., Json]) -> Any:
        def view(unit: Unit, quote: Quote) -> Json:
            shown = original(unit, quote)
            empty = {"id": "ScaChallenge:none", "expiresAt": shown["expiresAt"], "factor": "NONE"}
            return {"scaChallenge": empty, **shown}

        return view

    patch.wrap(f"{_QUOTES}:view", wrapper)


def _anybody_authorizes(patch: Patch) -> None:
    patch.row(_TRANSITIONS, ("PENDING", "AUTHORIZE"), Move("PROCESSING"))
    patch.replace(f"{_SCA}:check_proof", lambda _unit, _quote, _body: None)


declare("SCA-005", "executes", "a proof takes the place of an execution", _anybody_authorizes)
declare("SCA-006", "executes", "a proof moves the money without a challenge", _anybody_authorizes)


@mutant("SCA-007", "a challenge stays with its quote when it is satisfied")
def challenge_stays(patch: Patch) -> None:
    def wrapper(original: Callable[[Unit, Quote], Json | None]) -> Any:
        def view(unit: Unit, quote: Quote) -> Json | None:
            status, quote.status = quote.status, _WAITING
            try:
                return original(unit, quote)
            finally:
                quote.status = status

        return view

    patch.wrap(f"{_SCA}:view", wrapper)


# --- The challenge --------------------------------------------------------------------------


def _showing(place: str, change: Callable[[Json], Json]) -> Patcher:
    """Return the patch by which a challenge is shown with other members."""

    def wrapper(original: Callable[..., Json | None]) -> Any:
        def view(*arguments: Any) -> Json | None:
            shown = original(*arguments)
            return shown if shown is None else {**shown, **change(shown)}

        return view

    return lambda patch: patch.wrap(place, wrapper)


declare(
    "SCA-012",
    "payout",
    "a conversion is called a payout",
    _showing(f"{_SCA}:view", lambda _: {"purpose": "PAYOUT"}),
)


@mutant("SCA-013", "the challenges of a customer share their id")
def shared_challenge(patch: Patch) -> None:
    _showing(f"{_SCA}:view", lambda _: {"id": "ScaChallenge:1"})(patch)


# --- The proof ------------------------------------------------------------------------------


def _without(factor: str) -> Patcher:
    """Return the patch by which the proof of a factor is never right."""

    def is_used(body: Json) -> bool:
        return (body.get("code") is None) is (factor == "PASSKEY")

    def wrapper(original: Callable[[Json], bool]) -> Any:
        return lambda body: not is_used(body) and original(body)

    return lambda patch: patch.wrap(f"{_SCA}:is_proof", wrapper)


for _requirement, _factor in (
    ("SCA-020", "SMS_OTP"),
    ("SCA-021", "SMS_OTP"),
    ("SCA-022", "PASSKEY"),
    ("SCA-023", "TOTP"),
):
    declare(_requirement, "refused", f"the proof of {_factor} is not taken", _without(_factor))


def _authorizing_all(patch: Patch) -> None:
    """Let a proof authorize whatever its customer waits for."""

    def wrapper(original: Callable[[Unit, Ask], Json]) -> Any:
        def authorize(unit: Unit, ask: Ask) -> Json:
            shown = original(unit, ask)
            quote = quotes.get(unit, ask.params["quoteId"])
            waiting = unit.session.query(Quote).filter_by(
                customer_id=quote.customer_id, status=_WAITING
            )
            for other in waiting.all():
                if other.id != quote.id:
                    quotes.perform(unit, other, "AUTHORIZE")
            return shown

        return authorize

    patch.wrap(f"{_QUOTES}:authorize", wrapper)


declare("SCA-025", "all", "a proof authorizes all quotes of its customer", _authorizing_all)
declare("SCA-026", "all", "a proof pays for all quotes of its customer", _authorizing_all)


@mutant("SCA-027", "an expired challenge shuts its customer out")
def shut_out(patch: Patch) -> None:
    def wrapper(original: Callable[[Unit, Challenge], None]) -> Any:
        def expire(unit: Unit, challenge: Challenge) -> None:
            original(unit, challenge)
            quote = unit.session.get_one(Quote, challenge.quote_id)
            owner = unit.session.get_one(Customer, quote.customer_id)
            owner.conditions = {**owner.conditions, "SCA_LOCKED": True}

        return expire

    patch.wrap(f"{_SCA}:expire", wrapper)


def _immediate_unproven(patch: Patch) -> None:
    """Take any proof for what was executed as it was created."""
    immediate: set[str] = set()

    def creating(original: Callable[[Unit, Ask], Json]) -> Any:
        def create(unit: Unit, ask: Ask) -> Json:
            shown = original(unit, ask)
            if ask.body.get("immediatelyExecute"):
                immediate.add(shown["id"])
            return shown

        return create

    def checking(original: Callable[..., None]) -> Any:
        def check_proof(unit: Unit, quote: Quote, body: Json) -> None:
            if quote.id not in immediate:
                original(unit, quote, body)

        return check_proof

    patch.wrap(f"{_QUOTES}:create", creating)
    patch.wrap(f"{_SCA}:check_proof", checking)


for _requirement in ("SCA-028", "SCA-029"):
    declare(
        _requirement,
        "any_code",
        "any code is right for a quote that was executed as it was created",
        _immediate_unproven,
    )


# --- Challenges in sequence -----------------------------------------------------------------


def _never_three(patch: Patch) -> None:
    def wrapper(original: Callable[[Customer], int]) -> Any:
        return lambda customer: min(2, original(customer))

    patch.wrap(f"{_SCA}:challenges_wanted", wrapper)


def _at_later_challenges(act: Callable[[Unit, Quote], None]) -> Patcher:
    """Return the patch by which something happens before the third challenge is opened."""

    def wrapper(original: Callable[[Unit, Quote], None]) -> Any:
        def open_challenge(unit: Unit, quote: Quote) -> None:
            if quote.challenge_id is not None and quote.challenges_left == 1:
                act(unit, quote)
            original(unit, quote)

        return open_challenge

    return lambda patch: patch.wrap(f"{_SCA}:open_challenge", wrapper)


def _pay(unit: Unit, quote: Quote) -> None:
    ledger.post(unit, quotes.debit_legs(quote))


declare("SCA-030", "two", "nobody is asked more than twice", _never_three)
declare(
    "SCA-032",
    "paid",
    "the payout leaves the source before the last proof",
    _at_later_challenges(_pay),
)


@mutant("SCA-031", "a third challenge has the id of the second")
def third_challenge_reused(patch: Patch) -> None:
    def wrapper(original: Callable[[Unit, Quote], None]) -> Any:
        opened: dict[str, int] = {}

        def open_challenge(unit: Unit, quote: Quote) -> None:
            opened[quote.id] = opened.get(quote.id, 0) + 1
            if opened[quote.id] <= 2:
                original(unit, quote)

        return open_challenge

    patch.wrap(f"{_SCA}:open_challenge", wrapper)


@mutant("SCA-033", "three challenges are followed by a fourth")
def fourth_challenge(patch: Patch) -> None:
    def wrapper(original: Callable[[Customer], int]) -> Any:
        return lambda customer: original(customer) + (original(customer) == 3)

    patch.wrap(f"{_SCA}:challenges_wanted", wrapper)


@mutant("SCA-034", "each challenge is shown with a transaction of its own")
def transaction_per_challenge(patch: Patch) -> None:
    def wrapper(original: Callable[..., Json]) -> Any:
        def view(unit: Unit, quote: Quote) -> Json:
            shown = original(unit, quote)
            if quote.status != _WAITING:
                return shown
            number = str(quote.challenge_id).partition(":")[2]
            return {**shown, "transactionId": f"Transaction:{number}"}

        return view

    patch.wrap(f"{_QUOTES}:view", wrapper)


def _is_followed(unit: Unit, quote: Quote) -> bool:
    """Return whether a quote waits at a second or later challenge."""
    found = unit.session.query(Challenge).filter_by(quote_id=quote.id)
    return found.count() > 1


def _first_code_only(patch: Patch) -> None:
    def wrapper(original: Callable[..., None]) -> Any:
        def check_proof(unit: Unit, quote: Quote, body: Json) -> None:
            if not _is_followed(unit, quote):
                original(unit, quote, body)

        return check_proof

    patch.wrap(f"{_SCA}:check_proof", wrapper)


def _first_expires_only(patch: Patch) -> None:
    def wrapper(original: Callable[[Unit, Challenge], None]) -> Any:
        def expire(unit: Unit, challenge: Challenge) -> None:
            if not _is_followed(unit, unit.session.get_one(Quote, challenge.quote_id)):
                original(unit, challenge)

        return expire

    _first_code_only(patch)
    patch.wrap(f"{_SCA}:expire", wrapper)


for _requirement, _name, _statement, _patch in (
    ("SCA-035", "first_code", "the second of two codes is not looked at", _first_code_only),
    ("SCA-036", "first_code", "the second of two codes is not looked at", _first_code_only),
    ("SCA-039", "first_expiry", "the second of two challenges never ends", _first_expires_only),
    ("SCA-040", "first_expiry", "the second of two challenges never ends", _first_expires_only),
):
    declare(_requirement, _name, _statement, _patch)


def _looked_at_once(function: str) -> Patcher:
    """Return the patch by which a customer's standing is looked at with the first proof alone."""

    def apply(patch: Patch) -> None:
        def authorizing(original: Callable[[Unit, Ask], Json]) -> Any:
            def authorize(unit: Unit, ask: Ask) -> Json:
                quote = quotes.get(unit, ask.params["quoteId"])
                owner = quote.customer_id
                if owner is not None and _is_followed(unit, quote):
                    _forgive(customers.get(unit, owner))
                return original(unit, ask)

            return authorize

        patch.wrap(f"{_QUOTES}:authorize", authorizing)

    def _forgive(customer: Customer) -> None:
        customer.conditions = {k: v for k, v in customer.conditions.items() if k != function}

    return apply


declare(
    "SCA-037",
    "once",
    "the session is looked at with the first proof alone",
    _looked_at_once("SCA_SESSION_LAPSED"),
)
declare(
    "SCA-038",
    "once",
    "a lock is looked at with the first proof alone",
    _looked_at_once("SCA_LOCKED"),
)


# --- Real-time funding ----------------------------------------------------------------------


def _realtime_unproven(patch: Patch) -> None:
    def wrapper(original: Callable[..., None]) -> Any:
        def check_proof(unit: Unit, quote: Quote, body: Json) -> None:
            if quote.source_kind != "REALTIME":
                original(unit, quote, body)

        return check_proof

    patch.wrap(f"{_SCA}:check_proof", wrapper)


def _realtime_of_anybody(patch: Patch) -> None:
    def wrapper(original: Callable[[Unit, Ask], Json]) -> Any:
        def authorize(unit: Unit, ask: Ask) -> Json:
            quote = quotes.get(unit, ask.params["quoteId"])
            if quote.source_kind == "REALTIME" and quote.customer_id is not None:
                customers.get(unit, quote.customer_id).conditions = {}
            return original(unit, ask)

        return authorize

    patch.wrap(f"{_QUOTES}:authorize", wrapper)


@mutant("SCA-051", "the refusal of a wrong code tells where to pay, to be helpful")
def told_by_the_refusal(patch: Patch) -> None:
    def wrapper(original: Callable[..., None]) -> Any:
        def check_proof(unit: Unit, quote: Quote, body: Json) -> None:
            try:
                original(unit, quote, body)
            except errors.Refusal as refusal:
                refusal.details = {"quote": quote.instructions}
                raise

        def view(refusal: errors.Refusal) -> Json:
            body = {"code": refusal.code, "reason": refusal.reason}
            known = (refusal.details or {}).get("quote")
            return {**body, "paymentInstructions": known} if known else body

        patch.replace("conformance.reference.errors:view", view)
        return check_proof

    patch.wrap(f"{_SCA}:check_proof", wrapper)


def _expired_still_shown(patch: Patch) -> None:
    patch.replace(f"{_SCA}:is_expired", lambda _challenge, _now: False)
    patch.replace(f"{_SCA}:expire", lambda _unit, _challenge: None)


declare("SCA-050", "any_code", "any code shows where to pay", _realtime_unproven)
declare("SCA-051", "any_code", "any code shows where to pay", _realtime_unproven)
declare("SCA-052", "anybody", "who pays in real time needs no session", _realtime_of_anybody)
declare("SCA-053", "anybody", "who pays in real time is never locked out", _realtime_of_anybody)
declare("SCA-054", "late", "the code of an expired challenge is still good", _expired_still_shown)


# --- Trusted beneficiaries ------------------------------------------------------------------


def _stuck(is_meant: Callable[[ExternalAccount], bool]) -> Patcher:
    """Return the patch by which payouts to some external accounts never settle."""

    def wrapper(original: Callable[..., None]) -> Any:
        def settle(unit: Unit, transaction_id: str, *, released: bool = False) -> None:
            row = transactions.get(unit, transaction_id)
            account = externals.find(unit, row.destination_account or "")
            if account is None or not is_meant(account):
                original(unit, transaction_id, released=released)

        return settle

    return lambda patch: patch.wrap("conformance.reference.settlement:settle", wrapper)


declare(
    "SCA-070",
    "stuck",
    "payouts to trusted beneficiaries are skipped",
    _stuck(externals.is_trusted),
)


@mutant("SCA-086", "an account that loses its trust is not paid any more")
def untrusted_unpaid(patch: Patch) -> None:
    lost: set[str] = set()

    def wrapper(original: Callable[[Unit, Ask], Json]) -> Any:
        def confirm(unit: Unit, ask: Ask) -> Json:
            shown = original(unit, ask)
            lost.add(ask.params["externalAccountId"])
            return shown

        return confirm

    patch.wrap(f"{_TRUST}:confirm", wrapper)
    _stuck(lambda account: account.id in lost)(patch)


_UNTRUSTINGS: tuple[tuple[str, str, str, Callable[[Json], Json]], ...] = (
    (
        "SCA-071",
        "bare",
        "the id of an untrusting's challenge is without its prefix",
        lambda shown: {"id": shown["id"].partition(":")[2]},
    ),
    (
        "SCA-072",
        "zoneless",
        "the expiresAt of an untrusting's challenge names no zone",
        lambda shown: {"expiresAt": shown["expiresAt"].rstrip("Z")},
    ),
    (
        "SCA-073",
        "none",
        "an untrusting's challenge names no factor",
        lambda _: {"factor": None},
    ),
    (
        "SCA-074",
        "joined",
        "the factors of an untrusting's challenge are one text",
        lambda shown: {"availableFactors": ",".join(shown["availableFactors"])},
    ),
    (
        "SCA-075",
        "listed",
        "the purpose of an untrusting's challenge is a list",
        lambda shown: {"purpose": [shown["purpose"]]},
    ),
    (
        "SCA-076",
        "shared",
        "all untrustings have one challenge",
        lambda _: {"id": "ScaChallenge:1"},
    ),
    (
        "SCA-077",
        "past",
        "the challenge of an untrusting has expired when it is raised",
        lambda _: {"expiresAt": "2020-01-01T00:00:00Z"},
    ),
)
"""Requirement, name, what is wrong, and the members that differ."""

for _requirement, _name, _statement, _change in _UNTRUSTINGS:
    declare(_requirement, _name, _statement, _showing(f"{_TRUST}:challenge", _change))


def _ignoring(function: str) -> Patcher:
    return lambda patch: patch.replace(f"{_SCA}:{function}", lambda _customer: None)


for _requirement, _function in (
    ("SCA-080", "refuse_locked"),
    ("SCA-081", "refuse_locked"),
    ("SCA-082", "refuse_lapsed"),
    ("SCA-083", "refuse_lapsed"),
):
    declare(_requirement, _function, "an untrusting does not look at it", _ignoring(_function))


@mutant("SCA-084", "a confirmation is enough to take trust away")
def confirmed_unasked(patch: Patch) -> None:
    def wrapper(original: Callable[[Unit, Ask], Json]) -> Any:
        def confirm(unit: Unit, ask: Ask) -> Json:
            account = externals.get(unit, ask.params["externalAccountId"])
            if account.trust == "TRUSTED":
                trust.untrust(unit, ask)
            return original(unit, ask)

        return confirm

    patch.wrap(f"{_TRUST}:confirm", wrapper)
