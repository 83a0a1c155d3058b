"""Mutants of the authorization of quotes: challenges and proofs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance.proof.kit.builders import Json, after, around, before, edited, instead, skipped
from conformance.proof.mutant import declare, mutant
from conformance.proof.mutants.quotes.toolkit import (
    after_refusal,
    expiry_ignored,
    in_two_steps,
    lapse_ignored,
    lock_ignored,
    nobody_needs_sca,
    pending_authorized,
    perform,
    without_nulls,
)
from conformance.proof.patch import Apply, Function, Patch
from conformance.reference import errors, rules
from conformance.reference.authentication import sca
from conformance.reference.customers import customers
from conformance.reference.internal_accounts import ledger
from conformance.reference.quotes import quotes
from conformance.reference.rules import Move, Refuse
from conformance.reference.service import Service
from conformance.reference.store import Challenge, Quote
from conformance.reference.unit import Ask, Unit, new_id, timestamp
from conformance.reference.unit import after as moment_after

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


def _showing(change: Callable[[Json], Json]) -> Apply:
    return edited(sca, "view", lambda shown: without_nulls({**shown, **change(shown)}))


for _requirement, _name, _fault, _change in _CHALLENGES:
    _statement = f"the {_MEMBERS[_requirement]} of a challenge {_fault}"
    declare(_requirement, _name, _statement, _showing(_change))


def _challenge_hidden(patch: Patch) -> None:
    patch.replace(sca, "view", lambda _unit, _quote: None)


declare("QUO-020", "hidden", "a quote that waits shows no challenge", _challenge_hidden)
declare("QUO-181", "hidden", "an execution does not answer with a challenge", _challenge_hidden)


@mutant("QUO-021", "a quote keeps showing a challenge where none is pending", (sca, "view"))
def challenge_always_shown(
    original: Callable[[Unit, Quote], Json | None], unit: Unit, quote: Quote
) -> Json:
    return original(unit, quote) or {
        "id": new_id("ScaChallenge"),
        "expiresAt": timestamp(quote.expires_at),
        "factor": rules.SCA_FACTORS[0],
    }


@mutant("QUO-186", "a challenge has expired when it is opened")
def challenge_born_late(patch: Patch) -> None:
    patch.replace(sca, "after", lambda moment, seconds: moment_after(moment, -seconds))


# --- When a proof is asked for --------------------------------------------------------------


declare("QUO-180", "no_sca", "customers of SCA regions are not challenged", nobody_needs_sca)
declare(
    "QUO-187",
    "individuals",
    "individuals alone are challenged",
    around(
        customers,
        "needs_sca",
        lambda original, customer: customer.customer_type == "INDIVIDUAL" and original(customer),
    ),
)


def _second_proof_unread(patch: Patch) -> None:
    again: set[str] = set()

    def next_status(original: Function, unit: Unit, quote: Quote, action: str) -> Any:
        if action == "CHALLENGE_AGAIN":
            again.add(quote.id)
        return original(unit, quote, action)

    patch.wrap(quotes, "next_status", next_status)
    patch.wrap(
        sca,
        "check_proof",
        lambda original, unit, quote, body: (
            None if quote.id in again else original(unit, quote, body)
        ),
    )


for _id in ("QUO-197", "QUO-198"):
    declare(_id, "second", "any code answers a second challenge", _second_proof_unread)


@mutant("QUO-126", "a quote that is executed as it is created is not challenged", (quotes, "start"))
def immediate_unchallenged(
    original: Callable[..., None], unit: Unit, quote: Quote, action: rules.Action = "EXECUTE"
) -> None:
    new = quote.created_at == unit.now
    (perform if new else original)(unit, quote, action)


@mutant("QUO-182", "a quote that waits for a proof gets another transaction")
def transaction_replaced_at_challenge(patch: Patch) -> None:
    patch.wrap(quotes, "view", _with_new_transaction(_WAITING))


@mutant("QUO-183", "the payout leaves the source when the challenge is opened")
def paid_at_challenge(patch: Patch) -> None:
    patch.wrap(sca, "begin", _paying_before)


@mutant("QUO-184", "a repeated execution opens the challenge again")
def executed_again(patch: Patch) -> None:
    patch.row(rules, "QUOTE_TRANSITIONS", (_WAITING, "EXECUTE"), Move(_WAITING))
    patch.row(rules, "QUOTE_TRANSITIONS", (_WAITING, "CHALLENGE"), Move(_WAITING))


@mutant(
    "QUO-184", "a quote that was to be executed at once is asked about as often as it is called"
)
def immediate_executed_again(patch: Patch) -> None:
    immediate: set[str] = set()

    def create(original: Function, unit: Unit, ask: Ask) -> Json:
        quote: Json = original(unit, ask)
        if quote["status"] == _WAITING:
            immediate.add(quote["id"])
        return quote

    def execute(original: Function, unit: Unit, ask: Ask) -> Json:
        quote = quotes.get(unit, ask.params["quoteId"])
        waits = quote.status == _WAITING and quote.id in immediate
        answer: Json = quotes.view(unit, quote) if waits else original(unit, ask)
        return answer

    patch.wrap(quotes, "create", create)
    patch.wrap(quotes, "execute", execute)


@mutant("QUO-184", "a repeated execution is refused with another status")
def executed_again_unclearly(patch: Patch) -> None:
    patch.row(rules, "QUOTE_TRANSITIONS", (_WAITING, "EXECUTE"), Refuse("INVALID_INPUT"))


@mutant("QUO-184", "a wrong proof lets its quote be executed again")
def executed_after_wrong_proof(patch: Patch) -> None:
    reopened: set[str] = set()

    def checking(check: Function, unit: Unit, quote: Quote, body: Json) -> None:
        try:
            check(unit, quote, body)
        except errors.Refusal:
            reopened.add(quote.id)
            raise

    def following(next_status: Function, unit: Unit, quote: Quote, action: str) -> Any:
        if quote.id in reopened and action in {"EXECUTE", "CHALLENGE"}:
            return _WAITING
        return next_status(unit, quote, action)

    patch.wrap(sca, "check_proof", checking)
    patch.wrap(quotes, "next_status", following)


# --- Valid proofs ---------------------------------------------------------------------------


@mutant("QUO-190", "an authorized quote goes back to waiting for its execution")
def authorized_to_pending(patch: Patch) -> None:
    patch.row(rules, "QUOTE_TRANSITIONS", (_WAITING, "AUTHORIZE"), Move("PENDING"))


@mutant("QUO-190", "a valid proof leaves the quote waiting")
def authorized_to_nothing(patch: Patch) -> None:
    patch.row(rules, "QUOTE_TRANSITIONS", (_WAITING, "AUTHORIZE"), Move(_WAITING))


@mutant("QUO-191", "an authorized quote gets another transaction")
def transaction_replaced_at_proof(patch: Patch) -> None:
    patch.wrap(quotes, "view", _with_new_transaction("PROCESSING"))


@mutant(
    "QUO-192",
    "an authorization debits on top of what the execution debits",
    (quotes, "perform"),
    after,
)
def debited_twice(unit: Unit, quote: Quote, action: rules.Action) -> None:
    if action == "AUTHORIZE":
        _pay(unit, quote, quote.sending_amount)


@mutant(
    "QUO-192",
    "an authorization takes the fees on top of the sending amount",
    (quotes, "perform"),
    after,
)
def fees_on_top(unit: Unit, quote: Quote, action: rules.Action) -> None:
    if action == "AUTHORIZE":
        _pay(unit, quote, quote.variable_fee)


# --- Two challenges in sequence -------------------------------------------------------------


@mutant("QUO-193", "the first of two proofs is enough")
def one_proof_enough(patch: Patch) -> None:
    patch.replace(sca, "challenges_wanted", lambda _customer: 1)


@mutant("QUO-194", "the second challenge has the id of the first", (sca, "open_challenge"), skipped)
def challenge_reused(unit: Unit, quote: Quote) -> bool:
    return quote.challenge_id is not None


@mutant("QUO-195", "the first of two proofs debits the source", (sca, "open_challenge"), before)
def paid_at_second_challenge(unit: Unit, quote: Quote) -> None:
    if quote.challenge_id is not None:
        _pay(unit, quote, quote.sending_amount)


@mutant("QUO-196", "a second proof is followed by a third challenge")
def third_challenge(patch: Patch) -> None:
    patch.wrap(sca, "challenges_wanted", lambda original, customer: 2 * original(customer) - 1)


# --- Wrong and missing proofs ---------------------------------------------------------------


def _any_proof_counts(patch: Patch) -> None:
    patch.replace(sca, "is_proof", lambda _body: True)


def _nothing_counts_as_proof(patch: Patch) -> None:
    patch.replace(sca, "one_proof_errors", lambda _body: [])
    patch.wrap(sca, "is_proof", lambda original, body: not body or original(body))


for _requirement, _name, _statement, _patch in (
    ("QUO-197", "any_code", "any code is taken for the right one", _any_proof_counts),
    ("QUO-198", "any_code", "any code moves the money", _any_proof_counts),
    ("QUO-199", "no_proof", "an empty body authorizes a quote", _nothing_counts_as_proof),
    ("QUO-200", "pending", "a quote is authorized without a challenge", pending_authorized),
    ("QUO-201", "pending", "authorizing a pending quote moves the money", pending_authorized),
    ("QUO-204", "lapse", "the money moves although the session lapsed", lapse_ignored),
    ("QUO-205", "lock", "the money moves although the customer is locked out", lock_ignored),
    ("QUO-206", "expiry", "the code of an expired challenge is still good", expiry_ignored),
    ("QUO-207", "expiry", "the code of an expired challenge moves the money", expiry_ignored),
):
    declare(_requirement, _name, _statement, _patch)


@mutant(
    "QUO-207", "the payout leaves the source when the challenge expires", (sca, "expire"), after
)
def paid_at_expiry(unit: Unit, challenge: Challenge) -> None:
    quote = unit.session.get_one(Quote, challenge.quote_id)
    _pay(unit, quote, quote.sending_amount)


declare(
    "QUO-980",
    "ended",
    "one wrong code ends the payment",
    after_refusal(quotes.authorize, "INVALID_INPUT", "FAILED"),
)


@mutant("QUO-980", "one wrong code uses the challenge up")
def challenge_used_up(patch: Patch) -> None:
    used: set[str] = set()

    def check_proof(original: Function, unit: Unit, quote: Quote, body: Json) -> None:
        challenge = str(quote.challenge_id)
        if challenge in used:
            raise errors.Refusal("INVALID_INPUT", "The challenge is used up.")
        try:
            original(unit, quote, body)
        except errors.Refusal:
            used.add(challenge)
            raise

    patch.wrap(sca, "check_proof", check_proof)


declare(
    "QUO-983",
    "uncounted",
    "an authorization does not look at what is left of the balance",
    instead(ledger, "is_overdrawn", lambda _account: False),
)


# --- Repeated proofs ------------------------------------------------------------------------


@mutant("QUO-202", "an authorization is carried out as often as it is sent")
def authorized_again(patch: Patch) -> None:
    for status in ("PROCESSING", "COMPLETED"):
        patch.row(rules, "QUOTE_TRANSITIONS", (status, "AUTHORIZE"), Move("PROCESSING"))


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
    patch.wrap(Service, "serve", race)


# --- Parts of patches -----------------------------------------------------------------------


def _pay(unit: Unit, quote: Quote, amount: int) -> None:
    """Let an amount leave the quote's source for good."""
    currency = quote.sending_currency
    source = ledger.available(quote.source["accountId"])
    rail = ledger.system("rail", currency)
    ledger.post(unit, [ledger.Leg(source, currency, -amount), ledger.Leg(rail, currency, amount)])


def _paying_before(original: Callable[..., None], unit: Unit, quote: Quote, customer: Any) -> None:
    if quote.source_kind == "INTERNAL":
        _pay(unit, quote, quote.sending_amount)
    original(unit, quote, customer)


def _with_new_transaction(status: str) -> Function:
    """Return a view that names another transaction at one status."""

    def view(original: Callable[..., Json], unit: Unit, quote: Quote) -> Json:
        shown = original(unit, quote)
        if quote.challenge_id is None or quote.status != status:
            return shown
        return {**shown, "transactionId": new_id("Transaction")}

    return view
