"""Conforming variants of strong authentication, and of what agents may do."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from conformance.proof.kit.builders import Json, before, edited, instead, rescued
from conformance.proof.kit.optional import declare_optional
from conformance.proof.patch import Apply, Function, Patch
from conformance.proof.variant import declare, variant
from conformance.reference import errors, rules
from conformance.reference.authentication import agents, logins, sca
from conformance.reference.customers import customers
from conformance.reference.external_accounts import externals, trust
from conformance.reference.quotes import quotes
from conformance.reference.store import Challenge, Customer, Quote
from conformance.reference.unit import Ask, Unit, timestamp

# --- Sessions -------------------------------------------------------------------------------


@variant("N453", "a customer has no session before the first login")
def first_login(patch: Patch) -> None:
    known = "HAS_LOGGED_IN"

    def open_session(original: Function, customer: Customer) -> None:
        original(customer)
        customer.conditions = {**customer.conditions, known: True}

    def refuse_lapsed(original: Function, customer: Customer) -> None:
        if not customers.has_condition(customer, known):
            raise errors.Refusal("SCA_SESSION_REQUIRED", "The customer has not logged in yet.")
        original(customer)

    patch.wrap(logins, "open_session", open_session)
    patch.wrap(sca, "refuse_lapsed", refuse_lapsed)


# --- Proofs ---------------------------------------------------------------------------------


def _after_a_failure(act: Callable[[Unit, Quote], None]) -> Apply:
    """Return the patch by which a failed proof has consequences."""

    def checking(refusal: errors.Refusal, unit: Unit, quote: Quote, body: Json) -> None:
        act(unit, quote)
        raise errors.Rejection(refusal.code, refusal.reason, refusal.details) from None

    return rescued(sca, "check_proof", checking)


@variant("N089", "one wrong code locks the customer out", "codes", how=_after_a_failure)
def one_failure_locks(unit: Unit, quote: Quote) -> None:
    if quote.customer_id is not None:
        owner = customers.get(unit, quote.customer_id)
        owner.conditions = {**owner.conditions, "SCA_LOCKED": True}


declare(
    "M10",
    "fresh-challenge",
    "a wrong code is followed by a fresh challenge",
    _after_a_failure(sca.open_challenge),
    "absent",
)


@variant("N025", "challenges are for a passkey, and no other factor will do", "slow")
def passkeys_alone(patch: Patch) -> None:
    def checking(check_proof: Function, unit: Unit, quote: Quote, body: Json) -> None:
        challenge = unit.session.get_one(Challenge, quote.challenge_id)
        if challenge.factor == "PASSKEY" and body.get("passkeyAssertion") is None:
            raise errors.invalid_input(errors.field_error("code", "Expected an assertion."))
        check_proof(unit, quote, body)

    patch.replace(rules, "SCA_FACTORS", ("PASSKEY", "TOTP", "SMS_OTP"))
    patch.wrap(sca, "check_proof", checking)


@variant("M75", "a challenge that was satisfied stays with its quote", "other forms", (sca, "view"))
def satisfied_challenge_shown(view: Function, unit: Unit, quote: Quote) -> Json | None:
    found: Json | None = view(unit, quote)
    done = quote.status in ("PROCESSING", "COMPLETED") and quote.challenge_id is not None
    if found is not None or not done:
        return found
    challenge = unit.session.get_one(Challenge, quote.challenge_id)
    expiry = timestamp(challenge.expires_at)
    return {"id": challenge.id, "expiresAt": expiry, "factor": challenge.factor}


# --- Trusted beneficiaries ------------------------------------------------------------------


@variant("N078", "a payout to a trusted beneficiary needs no proof", "forms", (quotes, "start"))
def trust_exempts(
    start: Function, unit: Unit, quote: Quote, action: rules.Action = "EXECUTE"
) -> None:
    account = externals.find(unit, quote.destination.get("accountId") or "")
    exempt = account is not None and externals.is_trusted(account)
    (quotes.perform if exempt else start)(unit, quote, action)


@variant(
    "M86",
    "who may not prove is told so when an untrusting is asked for",
    "other forms",
    (trust, "untrust"),
    before,
)
def refused_when_asked(unit: Unit, ask: Ask) -> None:
    owner = trust.owner_of(unit, externals.get(unit, ask.params["externalAccountId"]))
    if owner is not None:
        sca.refuse_locked(owner)
        sca.refuse_lapsed(owner)


@variant("M75", "the challenge of an untrusting says only what it has to", "codes")
def terse_untrusting(patch: Patch) -> None:
    needed = ("id", "expiresAt", "factor")
    edited(trust, "challenge", lambda body: {name: body[name] for name in needed})(patch)


@variant("N078", "the challenge of an untrusting is of a kind of its own", "other codes")
def other_untrusting(patch: Patch) -> None:
    more = {"factor": "PUSH", "availableFactors": ["PUSH"], "purpose": "TRUST"}
    edited(trust, "challenge", lambda body: {**body, **more})(patch)


# --- Agents ---------------------------------------------------------------------------------


@variant("N036", "agents have endpoints of their own, and are forbidden all others", "codes")
def agents_forbidden(patch: Patch) -> None:
    patch.replace(agents, "OPERATIONS", {})


@variant(
    "N036",
    "agents have endpoints of their own, and are unknown to all others",
    "other codes",
    (agents, "customer_of"),
    instead,
)
def agents_unknown(_unit: Unit, _token: str) -> None:
    return None


@variant("N037", "the credential of an agent has three parts", "forms")
def token_of_parts(patch: Patch) -> None:
    parts = (16, 64, 32)
    patch.replace(agents, "new_token", lambda: ".".join(map(secrets.token_urlsafe, parts)))


def _serving(wrap: Callable[[Function, str, Unit, Ask], Any]) -> Function:
    def serving(serve: Function, operation: str, handler: Function, unit: Unit, ask: Ask) -> Any:
        return wrap(lambda: serve(operation, handler, unit, ask), operation, unit, ask)

    return serving


@variant("M24", "what an agent executes waits for the platform's approval", "forms")
def agents_wait(patch: Patch) -> None:
    def waiting(serve: Function, operation: str, unit: Unit, ask: Ask) -> Any:
        if operation != "executeQuote":
            return serve()
        quote = quotes.get(unit, agents.own_quote(unit, ask).params["quoteId"])
        return quotes.view(unit, quote)

    patch.wrap(agents, "serve", _serving(waiting))


@variant("M24", "an agent needs an approval, and cannot execute a quote", "slow")
def agents_may_not_execute(patch: Patch) -> None:
    def refusing(serve: Function, operation: str, _unit: Unit, _ask: Ask) -> Any:
        if operation == "executeQuote":
            raise errors.Refusal("CONFLICT", "The platform has to approve it.")
        return serve()

    patch.wrap(agents, "serve", _serving(refusing))


@variant("M40", "what is another customer's is forbidden to an agent", "other forms")
def foreign_forbidden(patch: Patch) -> None:
    def forbidding(serve: Function, _operation: str, _unit: Unit, _ask: Ask) -> Any:
        try:
            return serve()
        except errors.Refusal as refusal:
            if refusal.code not in ("CUSTOMER_NOT_FOUND", "ACCOUNT_NOT_FOUND", "QUOTE_NOT_FOUND"):
                raise
            raise errors.Refusal("FORBIDDEN", "It is not the agent's customer's.") from None

    patch.wrap(agents, "serve", _serving(forbidding))


@variant("N032", "an agent is shown its customer's, whomever it asks for", "absent")
def filter_ignored(patch: Patch) -> None:
    def own_list(_unit: Unit, ask: Ask) -> Ask:
        return replace(ask, query={**ask.query, "customerId": str(ask.agent)})

    for operation in ("listTransactions", "listCustomerInternalAccounts"):
        patch.row(agents, "OPERATIONS", operation, own_list)


@variant("N032", "what an agent registers is its own customer's, whomever it names", "absent")
def creations_are_own(patch: Patch) -> None:
    def own_creation(_unit: Unit, ask: Ask) -> Ask:
        return replace(ask, body={**ask.body, "customerId": ask.agent})

    patch.row(agents, "OPERATIONS", "createExternalAccount", own_creation)


@variant("N032", "an agent that asks for what is another customer's is shown nothing", "null")
def foreign_lists_empty(patch: Patch) -> None:
    def own_list(_unit: Unit, ask: Ask) -> Ask:
        foreign = ask.query.get("customerId", ask.agent) != ask.agent
        more = {"currency": "NONE", "status": "NONE"} if foreign else {}
        return replace(ask, query={**ask.query, "customerId": str(ask.agent), **more})

    for operation in (
        "listTransactions",
        "listCustomerInternalAccounts",
        "listCustomerExternalAccounts",
    ):
        patch.row(agents, "OPERATIONS", operation, own_list)


declare_optional("challenge", (sca, "view"), "availableFactors", "purpose")


@variant("N064", "challenges have another factor and purpose", "forms")
def another_factor(patch: Patch) -> None:
    more = {"factor": "PUSH", "availableFactors": ["PUSH", "VOICE"], "purpose": "WITHDRAWAL"}
    edited(sca, "view", lambda body: {**body, **more})(patch)
