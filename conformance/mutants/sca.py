"""Mutants of authorization and real-time funding."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from conformance.mutants.execution import in_two_steps
from conformance.mutants.mutant import Patch, declare, mutant
from conformance.reference import ledger, quotes, rules, transactions
from conformance.reference.rules import Field, Move, Refuse
from conformance.reference.store import Challenge, Json, Quote, Transaction
from conformance.reference.unit import Ask, Unit, after, new_id, timestamp

_QUOTES = "conformance.reference.quotes"
_RULES = "conformance.reference.rules"
_SCA = "conformance.reference.sca"
_TRANSITIONS = f"{_RULES}:QUOTE_TRANSITIONS"
_WAITING = "PENDING_AUTHORIZATION"


# --- What a challenge shows -----------------------------------------------------------------

_CHALLENGES: tuple[tuple[str, str, str, Callable[[Json], Json]], ...] = (
    ("QUO-025", "bare_id", "is without its prefix", lambda c: {"id": c["id"].partition(":")[2]}),
    ("QUO-025", "no_id", "is left out", lambda _: {"id": None}),
    ("QUO-026", "no_expiry", "is left out", lambda _: {"expiresAt": None}),
    ("QUO-026", "zoneless", "names no zone", lambda c: {"expiresAt": c["expiresAt"].rstrip("Z")}),
    ("QUO-026", "epoch", "is a number of seconds", lambda _: {"expiresAt": 1_767_225_600}),
    ("QUO-027", "no_factor", "is left out", lambda _: {"factor": None}),
    ("QUO-027", "coded_factor", "is a number", lambda _: {"factor": 1}),
    ("QUO-028", "joined", "are one text", lambda c: {"availableFactors": str(c["factor"])}),
    ("QUO-028", "objects", "are objects", lambda c: {"availableFactors": [{"is": c["factor"]}]}),
    ("QUO-029", "listed", "is a list", lambda c: {"purpose": [c["purpose"]]}),
)
"""Requirement, name, what is wrong with the member, and the members that differ."""

_MEMBERS = {
    "QUO-025": "id",
    "QUO-026": "expiresAt",
    "QUO-027": "factor",
    "QUO-028": "availableFactors",
    "QUO-029": "purpose",
}


def _showing(change: Callable[[Json], Json]) -> Callable[[Patch], None]:
    def patch_view(patch: Patch) -> None:
        def wrapper(original: Callable[[Unit, Quote], Json | None]) -> Any:
            def view(unit: Unit, quote: Quote) -> Json | None:
                shown = original(unit, quote)
                return shown if shown is None else _without_nulls({**shown, **change(shown)})

            return view

        patch.wrap(f"{_SCA}:view", wrapper)

    return patch_view


def _without_nulls(members: Json) -> Json:
    return {name: value for name, value in members.items() if value is not None}


for _requirement, _name, _fault, _change in _CHALLENGES:
    _statement = f"the {_MEMBERS[_requirement]} of a challenge {_fault}"
    declare(_requirement, _name, _statement, _showing(_change))


def _challenge_hidden(patch: Patch) -> None:
    patch.replace(f"{_SCA}:view", lambda _unit, _quote: None)


declare("QUO-020", "hidden", "a quote that waits shows no challenge", _challenge_hidden)
declare("QUO-181", "hidden", "an execution does not answer with a challenge", _challenge_hidden)


@mutant("QUO-021", "a quote keeps showing a challenge where none is pending")
def challenge_always_shown(patch: Patch) -> None:
    def wrapper(original: Callable[[Unit, Quote], Json | None]) -> Any:
        def view(unit: Unit, quote: Quote) -> Json:
            return original(unit, quote) or {
                "id": new_id("ScaChallenge"),
                "expiresAt": timestamp(quote.expires_at),
                "factor": rules.SCA_FACTORS[0],
            }

        return view

    patch.wrap(f"{_SCA}:view", wrapper)


@mutant("QUO-186", "a challenge has expired when it is opened")
def challenge_born_late(patch: Patch) -> None:
    patch.replace(f"{_SCA}:after", lambda moment, seconds: after(moment, -seconds))


# --- When a proof is asked for --------------------------------------------------------------


def _nobody_needs_sca(patch: Patch) -> None:
    patch.replace("conformance.reference.customers:needs_sca", lambda _customer: False)


declare("QUO-180", "no_sca", "customers of SCA regions are not challenged", _nobody_needs_sca)
declare("AUT-019", "no_sca", "customers of SCA regions are not challenged", _nobody_needs_sca)


@mutant("AUT-019", "payouts of small amounts are exempt from authorization")
def small_payouts_exempt(patch: Patch) -> None:
    def wrapper(original: Callable[..., None]) -> Any:
        def start(unit: Unit, quote: Quote, action: rules.Action = "EXECUTE") -> None:
            small = quote.source_kind == "INTERNAL" and quote.sending_amount <= 50_000
            (_perform if small else original)(unit, quote, action)

        return start

    patch.wrap(f"{_QUOTES}:start", wrapper)


@mutant("QUO-126", "a quote that is executed as it is created is not challenged")
def immediate_unchallenged(patch: Patch) -> None:
    def wrapper(original: Callable[..., None]) -> Any:
        def start(unit: Unit, quote: Quote, action: rules.Action = "EXECUTE") -> None:
            new = quote.created_at == unit.now
            (_perform if new else original)(unit, quote, action)

        return start

    patch.wrap(f"{_QUOTES}:start", wrapper)


@mutant("QUO-182", "a quote that waits for a proof gets another transaction")
def transaction_replaced_at_challenge(patch: Patch) -> None:
    patch.wrap(f"{_QUOTES}:view", _with_new_transaction(_WAITING))


@mutant("QUO-183", "the payout leaves the source when the challenge is opened")
def paid_at_challenge(patch: Patch) -> None:
    patch.wrap(f"{_SCA}:begin", _paying_before)


@mutant("QUO-184", "a repeated execution opens the challenge again")
def executed_again(patch: Patch) -> None:
    patch.row(_TRANSITIONS, (_WAITING, "EXECUTE"), Move(_WAITING))
    patch.row(_TRANSITIONS, (_WAITING, "CHALLENGE"), Move(_WAITING))


@mutant("QUO-184", "a repeated execution is refused with another status")
def executed_again_unclearly(patch: Patch) -> None:
    patch.row(_TRANSITIONS, (_WAITING, "EXECUTE"), Refuse("INVALID_INPUT"))


@mutant("TRX-046", "the transaction is shown as processing while its quote waits for a proof")
def processing_while_waiting(patch: Patch) -> None:
    def wrapper(original: Callable[..., None]) -> Any:
        def begin(unit: Unit, quote: Quote, customer: Any) -> None:
            original(unit, quote, customer)
            _transaction(unit, quote).status = "PROCESSING"

        return begin

    patch.wrap(f"{_SCA}:begin", wrapper)


# --- Valid proofs ---------------------------------------------------------------------------


@mutant("QUO-190", "an authorized quote goes back to waiting for its execution")
def authorized_to_pending(patch: Patch) -> None:
    patch.row(_TRANSITIONS, (_WAITING, "AUTHORIZE"), Move("PENDING"))


@mutant("QUO-190", "a valid proof leaves the quote waiting")
def authorized_to_nothing(patch: Patch) -> None:
    patch.row(_TRANSITIONS, (_WAITING, "AUTHORIZE"), Move(_WAITING))


@mutant("QUO-191", "an authorized quote gets another transaction")
def transaction_replaced_at_proof(patch: Patch) -> None:
    patch.wrap(f"{_QUOTES}:view", _with_new_transaction("PROCESSING"))


@mutant("QUO-192", "an authorization debits on top of what the execution debits")
def debited_twice(patch: Patch) -> None:
    def wrapper(original: Callable[..., None]) -> Any:
        def perform(unit: Unit, quote: Quote, action: rules.Action) -> None:
            original(unit, quote, action)
            if action == "AUTHORIZE":
                _pay(unit, quote, quote.sending_amount)

        return perform

    patch.wrap(f"{_QUOTES}:perform", wrapper)


@mutant("QUO-192", "an authorization takes the fees on top of the sending amount")
def fees_on_top(patch: Patch) -> None:
    def wrapper(original: Callable[..., None]) -> Any:
        def perform(unit: Unit, quote: Quote, action: rules.Action) -> None:
            original(unit, quote, action)
            if action == "AUTHORIZE":
                _pay(unit, quote, quote.variable_fee)

        return perform

    patch.wrap(f"{_QUOTES}:perform", wrapper)


# --- Two challenges in sequence -------------------------------------------------------------


@mutant("QUO-193", "the first of two proofs is enough")
def one_proof_enough(patch: Patch) -> None:
    patch.replace(f"{_SCA}:challenges_wanted", lambda _customer: 1)


@mutant("QUO-194", "the second challenge has the id of the first")
def challenge_reused(patch: Patch) -> None:
    def wrapper(original: Callable[[Unit, Quote], None]) -> Any:
        def open_challenge(unit: Unit, quote: Quote) -> None:
            if quote.challenge_id is None:
                original(unit, quote)

        return open_challenge

    patch.wrap(f"{_SCA}:open_challenge", wrapper)


@mutant("QUO-195", "the first of two proofs debits the source")
def paid_at_second_challenge(patch: Patch) -> None:
    def wrapper(original: Callable[[Unit, Quote], None]) -> Any:
        def open_challenge(unit: Unit, quote: Quote) -> None:
            if quote.challenge_id is not None:
                _pay(unit, quote, quote.sending_amount)
            original(unit, quote)

        return open_challenge

    patch.wrap(f"{_SCA}:open_challenge", wrapper)


@mutant("QUO-196", "a second proof is followed by a third challenge")
def third_challenge(patch: Patch) -> None:
    def wrapper(original: Callable[[Any], int]) -> Any:
        return lambda customer: 2 * original(customer) - 1

    patch.wrap(f"{_SCA}:challenges_wanted", wrapper)


# --- Wrong and missing proofs ---------------------------------------------------------------


def _any_proof_counts(patch: Patch) -> None:
    patch.replace(f"{_SCA}:is_proof", lambda _body: True)


def _nothing_counts_as_proof(patch: Patch) -> None:
    def wrapper(original: Callable[[Json], bool]) -> Any:
        return lambda body: not body or original(body)

    patch.replace(f"{_SCA}:one_proof_errors", lambda _body: [])
    patch.wrap(f"{_SCA}:is_proof", wrapper)


def _pending_authorized(patch: Patch) -> None:
    patch.row(_TRANSITIONS, ("PENDING", "AUTHORIZE"), Move("PROCESSING"))
    patch.replace(f"{_SCA}:check_proof", lambda _unit, _quote, _body: None)


def _expiry_ignored(patch: Patch) -> None:
    patch.replace(f"{_SCA}:is_expired", lambda _challenge, _now: False)
    patch.replace(f"{_SCA}:expire", lambda _unit, _challenge: None)


def _lapse_ignored(patch: Patch) -> None:
    patch.replace(f"{_SCA}:refuse_lapsed", lambda _customer: None)


def _lock_ignored(patch: Patch) -> None:
    patch.replace(f"{_SCA}:refuse_locked", lambda _customer: None)


for _requirement, _name, _statement, _patch in (
    ("QUO-197", "any_code", "any code is taken for the right one", _any_proof_counts),
    ("QUO-198", "any_code", "any code moves the money", _any_proof_counts),
    ("QUO-199", "no_proof", "an empty body authorizes a quote", _nothing_counts_as_proof),
    ("QUO-200", "pending", "a quote is authorized without a challenge", _pending_authorized),
    ("QUO-201", "pending", "authorizing a pending quote moves the money", _pending_authorized),
    ("QUO-204", "lapse", "the money moves although the session lapsed", _lapse_ignored),
    ("QUO-205", "lock", "the money moves although the customer is locked out", _lock_ignored),
    ("QUO-206", "expiry", "the code of an expired challenge is still good", _expiry_ignored),
    ("QUO-207", "expiry", "the code of an expired challenge moves the money", _expiry_ignored),
    ("ERR-008", "lapse", "a lapsed session is not looked at", _lapse_ignored),
    ("ERR-009", "lock", "a lock is not looked at", _lock_ignored),
):
    declare(_requirement, _name, _statement, _patch)


@mutant("ERR-008", "a lapsed session is taken for missing credentials")
def lapse_unauthorized(patch: Patch) -> None:
    patch.row(f"{_RULES}:ERROR_STATUS", "SCA_SESSION_REQUIRED", 401)


@mutant("ERR-009", "a lock is refused like any other conflict")
def lock_conflicts(patch: Patch) -> None:
    patch.row(f"{_RULES}:ERROR_STATUS", "ACCOUNT_LOCKED", 409)


@mutant("QUO-207", "the payout leaves the source when the challenge expires")
def paid_at_expiry(patch: Patch) -> None:
    def wrapper(original: Callable[[Unit, Challenge], None]) -> Any:
        def expire(unit: Unit, challenge: Challenge) -> None:
            original(unit, challenge)
            quote = unit.session.get_one(Quote, challenge.quote_id)
            _pay(unit, quote, quote.sending_amount)

        return expire

    patch.wrap(f"{_SCA}:expire", wrapper)


@mutant("TRX-045", "a transaction that fails on an expired challenge names a reason of its own")
def own_failure_reason(patch: Patch) -> None:
    patch.replace(f"{_RULES}:SCA_FAILURE_REASON", "CHALLENGE_EXPIRED")


@mutant("TRX-047", "an expired challenge leaves its transaction pending")
def expiry_unnoticed(patch: Patch) -> None:
    patch.replace(f"{_SCA}:expire", lambda _unit, _challenge: None)


# --- Repeated proofs ------------------------------------------------------------------------


@mutant("QUO-202", "an authorization is carried out as often as it is sent")
def authorized_again(patch: Patch) -> None:
    for status in ("PROCESSING", "COMPLETED"):
        patch.row(_TRANSITIONS, (status, "AUTHORIZE"), Move("PROCESSING"))


def _see_waiting(unit: Unit, ask: Ask) -> Ask:
    quotes.next_status(unit, quotes.get(unit, ask.params["quoteId"]), "AUTHORIZE")
    return ask


def _authorize_as_seen(unit: Unit, ask: Ask) -> Json:
    quote = quotes.get(unit, ask.params["quoteId"])
    quote.status = _WAITING
    quote.challenges_left = 1
    return quotes.authorize(unit, ask)


@mutant("QUO-203", "the status of a quote is not looked at again under the lock")
def status_read_before_the_lock(patch: Patch) -> None:
    race = in_two_steps(quotes.authorize, _see_waiting, _authorize_as_seen)
    patch.wrap("conformance.reference.service:Service.answer", race)


# --- Real-time funding: what is shown -------------------------------------------------------

_INSTRUCTIONS: tuple[tuple[str, str, str, Callable[[list[Json]], Any]], ...] = (
    ("QUO-016", "object", "payment instructions are one object", lambda found: found[0]),
    (
        "QUO-017",
        "flat",
        "payment instructions are not nested under accountOrWalletInfo",
        lambda found: [entry["accountOrWalletInfo"] for entry in found],
    ),
    (
        "QUO-018",
        "untyped",
        "payment instructions do not say what kind of account they name",
        lambda found: [_with_info(entry, {"accountType": None}) for entry in found],
    ),
    (
        "QUO-018",
        "coded",
        "the kind of account of a payment instruction is a number",
        lambda found: [_with_info(entry, {"accountType": 3}) for entry in found],
    ),
    (
        "QUO-019",
        "listed",
        "the notes of payment instructions are a list",
        lambda found: [{**entry, "instructionsNotes": ["Include it."]} for entry in found],
    ),
    ("QUO-040", "empty", "a quote has an empty list of payment instructions", lambda _: []),
    ("QUO-040", "absent", "a quote has no payment instructions", lambda _: None),
)
"""Requirement, name, statement, and what is shown in the place of the instructions."""


def _instructing(change: Callable[[list[Json]], Any]) -> Callable[[Patch], None]:
    def patch_instructions(patch: Patch) -> None:
        def wrapper(original: Callable[[Quote], list[Json] | None]) -> Any:
            def visible(quote: Quote) -> Any:
                shown = original(quote)
                return shown if shown is None else change(shown)

            return visible

        patch.wrap(f"{_QUOTES}:visible_payment_instructions", wrapper)

    return patch_instructions


def _with_info(entry: Json, members: Json) -> Json:
    info = _without_nulls({**entry["accountOrWalletInfo"], **members})
    return {**entry, "accountOrWalletInfo": info}


for _requirement, _name, _statement, _shown in _INSTRUCTIONS:
    declare(_requirement, _name, _statement, _instructing(_shown))


@mutant("QUO-042", "payment instructions are shown before the customer proved")
def instructions_revealed(patch: Patch) -> None:
    patch.replace(f"{_QUOTES}:visible_payment_instructions", _instructions)


@mutant("QUO-042", "the first of two proofs reveals the payment instructions")
def instructions_revealed_early(patch: Patch) -> None:
    proven: set[str] = set()

    def open_wrapper(original: Callable[[Unit, Quote], None]) -> Any:
        def open_challenge(unit: Unit, quote: Quote) -> None:
            if quote.challenge_id is not None:
                proven.add(quote.id)
            original(unit, quote)

        return open_challenge

    def visible_wrapper(original: Callable[[Quote], list[Json] | None]) -> Any:
        return lambda quote: _instructions(quote) if quote.id in proven else original(quote)

    patch.wrap(f"{_SCA}:open_challenge", open_wrapper)
    patch.wrap(f"{_QUOTES}:visible_payment_instructions", visible_wrapper)


@mutant("QUO-043", "payment instructions stay withheld after the proof")
def instructions_withheld(patch: Patch) -> None:
    patch.replace(
        f"{_QUOTES}:visible_payment_instructions",
        lambda quote: None if quote.challenge_id else _instructions(quote),
    )


@mutant("QUO-038", "real-time funding is quoted in the platform's own currency")
def platform_currency(patch: Patch) -> None:
    def wrapper(original: Callable[..., Any]) -> Any:
        return lambda unit, source: dataclasses.replace(
            original(unit, source), currency=unit.settings.platform_currency
        )

    patch.wrap("conformance.reference.parties:realtime_source", wrapper)


# --- Real-time funding: how it is executed --------------------------------------------------


@mutant("QUO-074", "a quote to be funded in real time starts as if it were paid")
def starts_processing(patch: Patch) -> None:
    def wrapper(original: Callable[..., Quote]) -> Any:
        def draft(unit: Unit, order: Any) -> Quote:
            quote = original(unit, order)
            if quote.source_kind == "REALTIME" and quote.status == "PENDING":
                quote.status = "PROCESSING"
            return quote

        return draft

    patch.wrap(f"{_QUOTES}:draft", wrapper)


@mutant("QUO-124", "immediatelyExecute executes a quote whose payment has not arrived")
def immediate_unpaid(patch: Patch) -> None:
    def wrapper(original: Callable[[Any], list[Json]]) -> Any:
        return lambda body: [e for e in original(body) if e["field"] != "immediatelyExecute"]

    patch.wrap(f"{_QUOTES}:between_fields_errors", wrapper)


@mutant("QUO-153", "real-time funding without a currency is in the platform's own")
def currency_by_default(patch: Patch) -> None:
    def wrapper(original: Callable[..., Any]) -> Any:
        return lambda unit, source: original(
            unit, {"currency": unit.settings.platform_currency, **source}
        )

    patch.wrap("conformance.reference.parties:realtime_source", wrapper)
    patch.replace(f"{_RULES}:QUOTE_FIELDS", tuple(map(_optional_currency, rules.QUOTE_FIELDS)))


@mutant("QUO-210", "a payment waits for a call of execute")
def payment_not_enough(patch: Patch) -> None:
    def wrapper(original: Callable[..., None]) -> Any:
        def perform(unit: Unit, quote: Quote, action: rules.Action) -> None:
            if action != "DEPOSIT":
                original(unit, quote, action)

        return perform

    patch.wrap(f"{_QUOTES}:perform", wrapper)


@mutant("QUO-210", "a payment is not matched once its quote has been authorized")
def authorized_payment_lost(patch: Patch) -> None:
    def wrapper(original: Callable[..., None]) -> Any:
        def perform(unit: Unit, quote: Quote, action: rules.Action) -> None:
            if action != "DEPOSIT" or quote.challenge_id is None:
                original(unit, quote, action)

        return perform

    patch.wrap(f"{_QUOTES}:perform", wrapper)


def _executed_unpaid(patch: Patch) -> None:
    patch.row(_TRANSITIONS, ("PENDING", "EXECUTE_REALTIME"), Move("PROCESSING"))


declare("QUO-211", "unpaid", "a call executes a quote that is not paid", _executed_unpaid)
declare("QUO-212", "unpaid", "a call starts a payout that is not paid", _executed_unpaid)


@mutant("QUO-212", "the payout of a real-time funded quote is under way from its creation on")
def processing_unpaid(patch: Patch) -> None:
    def wrapper(original: Callable[..., Transaction]) -> Any:
        def transaction_of(unit: Unit, quote: Quote, order: Any) -> Transaction:
            transaction = original(unit, quote, order)
            if quote.source_kind == "REALTIME":
                transaction.status = "PROCESSING"
            return transaction

        return transaction_of

    patch.wrap(f"{_QUOTES}:transaction_of", wrapper)


@mutant("QUO-213", "a real-time funded payout stays in processing")
def never_settled(patch: Patch) -> None:
    def wrapper(original: Callable[..., None]) -> Any:
        def settle(unit: Unit, transaction_id: str, *, released: bool = False) -> None:
            quote, _ = transactions.locked(unit, transaction_id)
            if quote.source_kind != "REALTIME":
                original(unit, transaction_id, released=released)

        return settle

    patch.wrap("conformance.reference.settlement:settle", wrapper)


# --- Parts of patches -----------------------------------------------------------------------


def _perform(unit: Unit, quote: Quote, action: rules.Action) -> None:
    """Execute a quote as the reference does, with no challenge before."""
    quotes.perform(unit, quote, action)


def _pay(unit: Unit, quote: Quote, amount: int) -> None:
    """Let an amount leave the quote's source for good."""
    currency = quote.sending_currency
    source = ledger.available(quote.source["accountId"])
    rail = ledger.system("rail", currency)
    ledger.post(unit, [ledger.Leg(source, currency, -amount), ledger.Leg(rail, currency, amount)])


def _paying_before(original: Callable[..., None]) -> Callable[..., None]:
    def begin(unit: Unit, quote: Quote, customer: Any) -> None:
        if quote.source_kind == "INTERNAL":
            _pay(unit, quote, quote.sending_amount)
        original(unit, quote, customer)

    return begin


def _transaction(unit: Unit, quote: Quote) -> Transaction:
    return transactions.get(unit, quote.transaction_id)


def _with_new_transaction(status: str) -> Callable[[Callable[..., Json]], Callable[..., Json]]:
    """Return the wrapper of a view that names another transaction at one status."""

    def wrapper(original: Callable[..., Json]) -> Callable[..., Json]:
        def view(unit: Unit, quote: Quote) -> Json:
            shown = original(unit, quote)
            if quote.challenge_id is None or quote.status != status:
                return shown
            return {**shown, "transactionId": new_id("Transaction")}

        return view

    return wrapper


def _instructions(quote: Quote) -> list[Json] | None:
    return quote.instructions or None


def _optional_currency(field: Field) -> Field:
    if field.path != "source.currency":
        return field
    return dataclasses.replace(field, required=False)
