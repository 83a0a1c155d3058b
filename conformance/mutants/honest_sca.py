"""Honest variants of strong authentication, and of what agents are let to."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from conformance.mutants.honest import shown
from conformance.mutants.mutant import Patch
from conformance.mutants.variant import variant
from conformance.reference import agents, customers, errors, externals, quotes, rules, sca, trust
from conformance.reference.store import Challenge, Json, Quote
from conformance.reference.unit import Ask, Unit, timestamp

Function = Callable[..., Any]

_AGENTS = "conformance.reference.agents"
_QUOTES = "conformance.reference.quotes"
_SCA = "conformance.reference.sca"
_TRUST = "conformance.reference.trust"


# --- Proofs ---------------------------------------------------------------------------------


def _after_a_failure(act: Callable[[Unit, Quote], None]) -> Callable[[Patch], None]:
    """Return the patch by which a failed proof has consequences."""

    def wrapper(check_proof: Function) -> Function:
        def checking(unit: Unit, quote: Quote, body: Json) -> None:
            try:
                check_proof(unit, quote, body)
            except errors.Refusal as refusal:
                act(unit, quote)
                raise errors.Rejection(refusal.code, refusal.reason, refusal.details) from None

        return checking

    return lambda patch: patch.wrap(f"{_SCA}:check_proof", wrapper)


@variant("N089", "one wrong code locks the customer out", "codes")
def one_failure_locks(patch: Patch) -> None:
    def lock(unit: Unit, quote: Quote) -> None:
        if quote.customer_id is not None:
            owner = customers.get(unit, quote.customer_id)
            owner.conditions = {**owner.conditions, "SCA_LOCKED": True}

    _after_a_failure(lock)(patch)


@variant("M10", "a wrong code is followed by a fresh challenge", "absent")
def fresh_challenge(patch: Patch) -> None:
    _after_a_failure(sca.open_challenge)(patch)


@variant("N025", "challenges are for a passkey, and no other factor will do", "slow")
def passkeys_alone(patch: Patch) -> None:
    def wrapper(check_proof: Function) -> Function:
        def checking(unit: Unit, quote: Quote, body: Json) -> None:
            challenge = unit.session.get_one(Challenge, quote.challenge_id)
            if challenge.factor == "PASSKEY" and body.get("passkeyAssertion") is None:
                raise errors.invalid_input(errors.field_error("code", "Expected an assertion."))
            check_proof(unit, quote, body)

        return checking

    patch.replace("conformance.reference.rules:SCA_FACTORS", ("PASSKEY", "TOTP", "SMS_OTP"))
    patch.wrap(f"{_SCA}:check_proof", wrapper)


@variant("M75", "a challenge that was satisfied stays with its quote", "other forms")
def satisfied_challenge_shown(patch: Patch) -> None:
    def wrapper(view: Function) -> Function:
        def viewing(unit: Unit, quote: Quote) -> Json | None:
            found: Json | None = view(unit, quote)
            done = quote.status in ("PROCESSING", "COMPLETED") and quote.challenge_id is not None
            if found is not None or not done:
                return found
            challenge = unit.session.get_one(Challenge, quote.challenge_id)
            expiry = timestamp(challenge.expires_at)
            return {"id": challenge.id, "expiresAt": expiry, "factor": challenge.factor}

        return viewing

    patch.wrap(f"{_SCA}:view", wrapper)


# --- Trusted beneficiaries ------------------------------------------------------------------


@variant("N078", "a payout to a trusted beneficiary needs no proof", "forms")
def trust_exempts(patch: Patch) -> None:
    def wrapper(start: Function) -> Function:
        def starting(unit: Unit, quote: Quote, action: rules.Action = "EXECUTE") -> None:
            account = externals.find(unit, quote.destination.get("accountId") or "")
            exempt = account is not None and externals.is_trusted(account)
            (quotes.perform if exempt else start)(unit, quote, action)

        return starting

    patch.wrap(f"{_QUOTES}:start", wrapper)


@variant("M86", "who may not prove is told so when an untrusting is asked for", "other forms")
def refused_when_asked(patch: Patch) -> None:
    def wrapper(untrust: Function) -> Function:
        def asking(unit: Unit, ask: Ask) -> Any:
            owner = trust.owner_of(unit, externals.get(unit, ask.params["externalAccountId"]))
            if owner is not None:
                sca.refuse_locked(owner)
                sca.refuse_lapsed(owner)
            return untrust(unit, ask)

        return asking

    patch.wrap(f"{_TRUST}:untrust", wrapper)


@variant("M75", "the challenge of an untrusting says only what it has to", "codes")
def terse_untrusting(patch: Patch) -> None:
    needed = ("id", "expiresAt", "factor")
    shown(f"{_TRUST}:challenge", lambda body: {name: body[name] for name in needed})(patch)


@variant("N078", "the challenge of an untrusting is of a kind of its own", "other codes")
def other_untrusting(patch: Patch) -> None:
    more = {"factor": "PUSH", "availableFactors": ["PUSH"], "purpose": "TRUST"}
    shown(f"{_TRUST}:challenge", lambda body: {**body, **more})(patch)


# --- Agents ---------------------------------------------------------------------------------


@variant("N036", "agents have endpoints of their own, and are forbidden all others", "codes")
def agents_forbidden(patch: Patch) -> None:
    patch.replace(f"{_AGENTS}:OPERATIONS", {})


@variant("N036", "agents have endpoints of their own, and are unknown to all others", "other codes")
def agents_unknown(patch: Patch) -> None:
    def customer_of(_unit: Unit, _token: str) -> None:
        return None

    patch.replace(f"{_AGENTS}:customer_of", customer_of)


@variant("N037", "the credential of an agent has three parts", "forms")
def token_of_parts(patch: Patch) -> None:
    parts = (16, 64, 32)
    patch.replace(f"{_AGENTS}:new_token", lambda: ".".join(map(secrets.token_urlsafe, parts)))


def _serving(wrap: Callable[[Function, str, Unit, Ask], Any]) -> Callable[[Function], Function]:
    def wrapper(serve: Function) -> Function:
        def serving(operation: str, handler: Function, unit: Unit, ask: Ask) -> Any:
            return wrap(lambda: serve(operation, handler, unit, ask), operation, unit, ask)

        return serving

    return wrapper


@variant("M24", "what an agent executes waits for the platform's approval", "forms")
def agents_wait(patch: Patch) -> None:
    def waiting(serve: Function, operation: str, unit: Unit, ask: Ask) -> Any:
        if operation != "executeQuote":
            return serve()
        quote = quotes.get(unit, agents.own_quote(unit, ask).params["quoteId"])
        return quotes.view(unit, quote)

    patch.wrap(f"{_AGENTS}:serve", _serving(waiting))


@variant("M24", "an agent needs an approval, and cannot execute a quote", "slow")
def agents_may_not_execute(patch: Patch) -> None:
    def refusing(serve: Function, operation: str, _unit: Unit, _ask: Ask) -> Any:
        if operation == "executeQuote":
            raise errors.Refusal("CONFLICT", "The platform has to approve it.")
        return serve()

    patch.wrap(f"{_AGENTS}:serve", _serving(refusing))


@variant("M40", "what is another customer's is forbidden to an agent", "other forms")
def foreign_forbidden(patch: Patch) -> None:
    def forbidding(serve: Function, _operation: str, _unit: Unit, _ask: Ask) -> Any:
        try:
            return serve()
        except errors.Refusal as refusal:
            if refusal.code not in ("CUSTOMER_NOT_FOUND", "ACCOUNT_NOT_FOUND", "QUOTE_NOT_FOUND"):
                raise
            raise errors.Refusal("FORBIDDEN", "It is not the agent's customer's.") from None

    patch.wrap(f"{_AGENTS}:serve", _serving(forbidding))


@variant("N032", "an agent is shown its customer's, whomever it asks for", "absent")
def filter_ignored(patch: Patch) -> None:
    def own_list(_unit: Unit, ask: Ask) -> Ask:
        return replace(ask, query={**ask.query, "customerId": str(ask.agent)})

    for operation in ("listTransactions", "listCustomerInternalAccounts"):
        patch.row(f"{_AGENTS}:OPERATIONS", operation, own_list)


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
        patch.row(f"{_AGENTS}:OPERATIONS", operation, own_list)
