"""Mutants of challenges in sequence, of real-time funding and of trusted beneficiaries."""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import select

from conformance.proof.kit.builders import Json, around, before, instead
from conformance.proof.mutant import declare, mutant
from conformance.proof.mutants.authentication.toolkit import WAITING, showing
from conformance.proof.mutants.quotes.toolkit import expiry_ignored, nobody_needs_sca, perform
from conformance.proof.patch import Apply, Function, Patch
from conformance.reference import errors, rules
from conformance.reference.authentication import sca
from conformance.reference.customers import customers
from conformance.reference.external_accounts import externals, trust
from conformance.reference.internal_accounts import ledger
from conformance.reference.quotes import quotes
from conformance.reference.store import Challenge, Customer, ExternalAccount, Quote
from conformance.reference.transactions import settlement, transactions
from conformance.reference.unit import Ask, Unit

# --- Challenges in sequence -----------------------------------------------------------------


def _never_three(patch: Patch) -> None:
    patch.wrap(sca, "challenges_wanted", lambda original, customer: min(2, original(customer)))


def _at_later_challenges(act: Callable[[Unit, Quote], None]) -> Apply:
    """Return the patch by which something happens before the third challenge is opened."""

    def open_challenge(unit: Unit, quote: Quote) -> None:
        if quote.challenge_id is not None and quote.challenges_left == 1:
            act(unit, quote)

    return before(sca, "open_challenge", open_challenge)


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
    opened: dict[str, int] = {}

    def open_challenge(original: Function, unit: Unit, quote: Quote) -> None:
        opened[quote.id] = opened.get(quote.id, 0) + 1
        if opened[quote.id] <= 2:
            original(unit, quote)

    patch.wrap(sca, "open_challenge", open_challenge)


@mutant("SCA-033", "three challenges are followed by a fourth")
def fourth_challenge(patch: Patch) -> None:
    patch.wrap(
        sca,
        "challenges_wanted",
        lambda original, customer: original(customer) + (original(customer) == 3),
    )


@mutant("SCA-034", "each challenge is shown with a transaction of its own", (quotes, "view"))
def transaction_per_challenge(original: Callable[..., Json], unit: Unit, quote: Quote) -> Json:
    shown = original(unit, quote)
    if quote.status != WAITING:
        return shown
    number = str(quote.challenge_id).partition(":")[2]
    return {**shown, "transactionId": f"Transaction:{number}"}


def _is_followed(unit: Unit, quote: Quote) -> bool:
    """Return whether a quote waits at a second or later challenge."""
    found = unit.session.query(Challenge).filter_by(quote_id=quote.id)
    return found.count() > 1


def _first_code_only(patch: Patch) -> None:
    def check_proof(original: Callable[..., None], unit: Unit, quote: Quote, body: Json) -> None:
        if not _is_followed(unit, quote):
            original(unit, quote, body)

    patch.wrap(sca, "check_proof", check_proof)


def _first_expires_only(patch: Patch) -> None:
    def expire(
        original: Callable[[Unit, Challenge], None], unit: Unit, challenge: Challenge
    ) -> None:
        if not _is_followed(unit, unit.session.get_one(Quote, challenge.quote_id)):
            original(unit, challenge)

    _first_code_only(patch)
    patch.wrap(sca, "expire", expire)


for _requirement, _name, _statement, _patch in (
    ("SCA-035", "first_code", "the second of two codes is not looked at", _first_code_only),
    ("SCA-036", "first_code", "the second of two codes is not looked at", _first_code_only),
    ("SCA-039", "first_expiry", "the second of two challenges never ends", _first_expires_only),
    ("SCA-040", "first_expiry", "the second of two challenges never ends", _first_expires_only),
):
    declare(_requirement, _name, _statement, _patch)


@mutant(
    "SCA-846",
    "a challenge that runs out fails what it has authorized",
    (sca, "expire_if_due"),
    before,
)
def late_failure(unit: Unit, challenge_id: str) -> None:
    challenge = unit.session.get_one(Challenge, challenge_id)
    quote = unit.session.get_one(Quote, challenge.quote_id)
    transactions.get(unit, quote.transaction_id, lock=True).status = "FAILED"


def _looked_at_once(function: str) -> Apply:
    """Return the patch by which a customer's standing is looked at with the first proof alone."""

    def apply(patch: Patch) -> None:
        def authorize(original: Callable[[Unit, Ask], Json], unit: Unit, ask: Ask) -> Json:
            quote = quotes.get(unit, ask.params["quoteId"])
            owner = quote.customer_id
            if owner is not None and _is_followed(unit, quote):
                _forgive(customers.get(unit, owner))
            return original(unit, ask)

        patch.wrap(quotes, "authorize", authorize)

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
    def check_proof(original: Callable[..., None], unit: Unit, quote: Quote, body: Json) -> None:
        if quote.source_kind != "REALTIME":
            original(unit, quote, body)

    patch.wrap(sca, "check_proof", check_proof)


def _realtime_of_anybody(patch: Patch) -> None:
    def authorize(original: Callable[[Unit, Ask], Json], unit: Unit, ask: Ask) -> Json:
        quote = quotes.get(unit, ask.params["quoteId"])
        if quote.source_kind == "REALTIME" and quote.customer_id is not None:
            customers.get(unit, quote.customer_id).conditions = {}
        return original(unit, ask)

    patch.wrap(quotes, "authorize", authorize)


@mutant("SCA-051", "the refusal of a wrong code tells where to pay, to be helpful")
def told_by_the_refusal(patch: Patch) -> None:
    def check_proof(original: Function, unit: Unit, quote: Quote, body: Json) -> None:
        try:
            original(unit, quote, body)
        except errors.Refusal as refusal:
            refusal.details = {"quote": quote.instructions}
            raise

    def view(refusal: errors.Refusal) -> Json:
        body = {"code": refusal.code, "reason": refusal.reason}
        known = (refusal.details or {}).get("quote")
        return {**body, "paymentInstructions": known} if known else body

    patch.wrap(sca, "check_proof", check_proof)
    patch.replace(errors, "view", view)


declare("SCA-050", "any_code", "any code shows where to pay", _realtime_unproven)
declare("SCA-051", "any_code", "any code shows where to pay", _realtime_unproven)
declare("SCA-052", "anybody", "who pays in real time needs no session", _realtime_of_anybody)
declare("SCA-053", "anybody", "who pays in real time is never locked out", _realtime_of_anybody)
declare("SCA-054", "late", "the code of an expired challenge is still good", expiry_ignored)


# --- Trusted beneficiaries ------------------------------------------------------------------


def _stuck(is_meant: Callable[[ExternalAccount], bool]) -> Apply:
    """Return the patch by which payouts to some external accounts never settle."""

    def settle(
        original: Callable[..., None], unit: Unit, transaction_id: str, *, released: bool = False
    ) -> None:
        row = transactions.get(unit, transaction_id)
        account = externals.find(unit, row.destination_account or "")
        if account is None or not is_meant(account):
            original(unit, transaction_id, released=released)

    return around(settlement, "settle", settle)


declare(
    "SCA-070",
    "stuck",
    "payouts to trusted beneficiaries are skipped",
    _stuck(externals.is_trusted),
)


@mutant("SCA-088", "who trusts a beneficiary proves no payment to others", (quotes, "start"))
def trusting_customer_unproven(
    original: Callable[..., None], unit: Unit, quote: Quote, action: rules.Action = "EXECUTE"
) -> None:
    held = select(ExternalAccount).where(ExternalAccount.customer_id == quote.customer_id)
    is_trusting = any(externals.is_trusted(account) for account in unit.session.scalars(held))
    (quotes.perform if is_trusting else original)(unit, quote, action)


@mutant("SCA-087", "who took trust away proves nothing any more")
def untrusted_unproven(patch: Patch) -> None:
    owners: set[str | None] = set()

    def confirm(original: Callable[[Unit, Ask], Json], unit: Unit, ask: Ask) -> Json:
        owners.add(externals.get(unit, ask.params["externalAccountId"]).customer_id)
        return original(unit, ask)

    patch.wrap(trust, "confirm", confirm)
    patch.wrap(
        quotes,
        "needs_challenge",
        lambda original, customer, action: customer.id not in owners and original(customer, action),
    )


@mutant("SCA-086", "an account that loses its trust is not paid any more")
def untrusted_unpaid(patch: Patch) -> None:
    lost: set[str] = set()

    def confirm(original: Callable[[Unit, Ask], Json], unit: Unit, ask: Ask) -> Json:
        shown = original(unit, ask)
        lost.add(ask.params["externalAccountId"])
        return shown

    patch.wrap(trust, "confirm", confirm)
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
    declare(_requirement, _name, _statement, showing((trust, "challenge"), _change))


def _ignoring(function: str) -> Apply:
    return instead(sca, function, lambda _customer: None)


for _requirement, _function in (
    ("SCA-080", "refuse_locked"),
    ("SCA-081", "refuse_locked"),
    ("SCA-082", "refuse_lapsed"),
    ("SCA-083", "refuse_lapsed"),
):
    declare(_requirement, _function, "an untrusting does not look at it", _ignoring(_function))


@mutant("SCA-084", "a confirmation is enough to take trust away", (trust, "confirm"), before)
def confirmed_unasked(unit: Unit, ask: Ask) -> None:
    account = externals.get(unit, ask.params["externalAccountId"])
    if account.trust == "TRUSTED":
        trust.untrust(unit, ask)


declare("AUT-019", "no_sca", "customers of SCA regions are not challenged", nobody_needs_sca)


@mutant("AUT-019", "payouts of small amounts are exempt from authorization", (quotes, "start"))
def small_payouts_exempt(
    original: Callable[..., None], unit: Unit, quote: Quote, action: rules.Action = "EXECUTE"
) -> None:
    small = quote.source_kind == "INTERNAL" and quote.sending_amount <= 50_000
    (perform if small else original)(unit, quote, action)
