"""Trusted beneficiaries: how an account loses its trust."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.reference import errors, fields, rules
from conformance.reference.authentication import sca
from conformance.reference.customers import customers
from conformance.reference.external_accounts import externals
from conformance.reference.unit import after, new_id, timestamp

if TYPE_CHECKING:
    from conformance.reference.store import Customer, ExternalAccount, Json
    from conformance.reference.unit import Ask, Unit

_PURPOSE = "BENEFICIARY_UNTRUST"


def untrust(unit: Unit, ask: Ask) -> Json:
    """Ask for the trust in an account to be taken away: ``{scaChallenge?}``.

    It waits for a confirmation, and in regions of strong authentication for a proof with it.
    """
    account = externals.get(unit, ask.params["externalAccountId"])
    if not externals.is_trusted(account):
        raise errors.Refusal("CONFLICT", "The beneficiary is not trusted.")
    account.trust = "UNTRUSTING"
    account.untrusting = challenge(unit) if needs_proof(unit, account) else None
    return {} if account.untrusting is None else {"scaChallenge": account.untrusting}


def confirm(unit: Unit, ask: Ask) -> Json:
    """Confirm that the trust in an account is taken away: ``{trusted}``."""
    account = externals.get(unit, ask.params["externalAccountId"])
    body = fields.demand(ask.body, rules.AUTHORIZE_FIELDS)
    if account.trust != "UNTRUSTING":
        raise errors.Refusal("CONFLICT", "Nothing waits for a confirmation. Untrust first.")
    if account.untrusting is not None:
        check_proof(unit, account, body)
    account.trust = "NONE"
    account.untrusting = None
    return {"trusted": externals.is_trusted(account)}


def owner_of(unit: Unit, account: ExternalAccount) -> Customer | None:
    """Return the customer who trusts an account; the platform's have none."""
    return None if account.customer_id is None else customers.get(unit, account.customer_id)


def needs_proof(unit: Unit, account: ExternalAccount) -> bool:
    """Return whether the owner of an account authorizes with a challenge."""
    owner = owner_of(unit, account)
    return owner is not None and customers.needs_sca(owner)


def challenge(unit: Unit) -> Json:
    """Return a new challenge."""
    return {
        "id": new_id("ScaChallenge"),
        "expiresAt": timestamp(after(unit.now, unit.settings.challenge_lifetime_seconds)),
        "factor": rules.SCA_FACTORS[0],
        "availableFactors": list(rules.SCA_FACTORS),
        "purpose": _PURPOSE,
    }


def check_proof(unit: Unit, account: ExternalAccount, body: Json) -> None:
    """Check the proof of the challenge that an untrusting waits for; raises ``Refusal``."""
    fields.demand(body, (), *sca.one_proof_errors(body))
    owner = owner_of(unit, account)
    if owner is not None:
        sca.refuse_locked(owner)
        sca.refuse_lapsed(owner)
    expiry = fields.parse_timestamp((account.untrusting or {})["expiresAt"])
    name = "code" if body.get("code") is not None else "passkeyAssertion"
    if expiry is None or unit.now >= expiry:
        raise errors.invalid_input(errors.field_error(name, "The challenge has expired."))
    if not sca.is_proof(body):
        raise errors.invalid_input(errors.field_error(name, "The proof is not valid."))
