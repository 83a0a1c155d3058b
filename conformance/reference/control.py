"""The control path: what happens in the world and no client can cause."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from conformance.reference import errors, fields, platform, rules
from conformance.reference.authentication import sca
from conformance.reference.customers import customers, onboarding
from conformance.reference.external_accounts import externals, ownership, receivers
from conformance.reference.internal_accounts import accounts, sweeps
from conformance.reference.quotes import limits, parties, quotes
from conformance.reference.rules import Field
from conformance.reference.store import Challenge, InternalAccount, Json
from conformance.reference.transactions import settlement, transactions
from conformance.reference.verification import documents, kyc_links, sandbox, verifications

if TYPE_CHECKING:
    from conformance.reference.unit import Ask, Unit

CUSTOMER_CONDITIONS: Final = (
    "RATE_UNAVAILABLE",
    "QUOTING_DOWN",
    "VOLUME_REACHED",
    limits.NEARLY_REACHED,
    *sca.CHALLENGES,
    "SCA_SESSION_LAPSED",
    "SCA_LOCKED",
    accounts.HELD,
    "ACCOUNTS_HELD",
)
_AGENT_FIELDS: Final = (
    Field("customerId", "string", required=True),
    Field("accountId", "string", required=True),
    Field("externalAccountId", "string", required=True),
    Field("amount", "integer", required=True, minimum=1),
)


def review(unit: Unit, ask: Ask) -> None:
    """Decide the review of a customer: ``{decision: APPROVED | REJECTED | HOLD}``."""
    decisions = ("APPROVED", "REJECTED", "HOLD")
    body = fields.demand(ask.body, [Field("decision", "string", required=True, enum=decisions)])
    onboarding.decide(unit, customers.get(unit, ask.params["customerId"]), body["decision"])


def reopen(unit: Unit, ask: Ask) -> None:
    """Withdraw the approval of a customer, who has to be verified anew."""
    onboarding.reopen(unit, customers.get(unit, ask.params["customerId"]))


def condition_customer(unit: Unit, ask: Ask) -> None:
    """Let a condition hold for a customer.

    RATE_UNAVAILABLE names its two currencies, VOLUME_NEARLY_REACHED the amount that is left.
    """
    corridor = ("condition", "RATE_UNAVAILABLE")
    remainder = ("condition", limits.NEARLY_REACHED)
    body = fields.demand(
        ask.body,
        [
            Field("condition", "string", required=True, enum=CUSTOMER_CONDITIONS),
            Field("sendingCurrency", "string", required=True, when=corridor),
            Field("receivingCurrency", "string", required=True, when=corridor),
            Field("amount", "integer", required=True, minimum=0, when=remainder),
        ],
    )
    customer = customers.get(unit, ask.params["customerId"], lock=True)
    name = body["condition"]
    value: Any = True
    if name == "RATE_UNAVAILABLE":
        pair = [body["sendingCurrency"], body["receivingCurrency"]]
        value = [*customer.conditions.get(name, []), pair]
    if name == limits.NEARLY_REACHED:
        value = body["amount"]
    customer.conditions = {**customer.conditions, name: value}
    if name == accounts.HELD:
        accounts.hold_provisioning(unit, customer.id)


def move_internal_account(unit: Unit, ask: Ask) -> None:
    """Let an internal account come to another state: ``{status}``."""
    known = tuple(accounts.TRANSITIONS)
    body = fields.demand(ask.body, [Field("status", "string", required=True, enum=known)])
    accounts.move(unit, _internal_account(unit, ask), body["status"])


def expect_deposit(unit: Unit, ask: Ask) -> None:
    """Let a deposit be on its way to an internal account: ``{amount}``."""
    body = fields.demand(ask.body, rules.FUND_FIELDS)
    accounts.expect(unit, _internal_account(unit, ask), int(body["amount"]))


def complete_flow(unit: Unit, ask: Ask) -> None:
    """Let a customer complete the hosted flow, by the link ``{kycUrl}`` where one is named."""
    body = fields.demand(ask.body, [Field("kycUrl", "string")])
    customer = customers.get(unit, ask.params["customerId"])
    if body.get("kycUrl") is not None:
        kyc_links.use(unit, customer, body["kycUrl"])
    verifications.complete_hosted(unit, customer)


def condition_document(unit: Unit, ask: Ask) -> None:
    """Let the next document of a holder have a fault: ``{documentHolder, condition}``."""
    body = fields.demand(
        ask.body,
        [
            Field("documentHolder", "string", required=True),
            Field("condition", "string", required=True, enum=tuple(documents.FAULTS)),
        ],
    )
    holder = documents.holder(unit, body["documentHolder"])
    holder.conditions = {**holder.conditions, documents.FAULT: body["condition"]}


def choose_paperwork(unit: Unit, ask: Ask) -> None:
    """Skip or require paperwork for one customer: ``{platformCustomerId, skipped}``."""
    body = fields.demand(
        ask.body,
        [
            Field("platformCustomerId", "string", required=True, min_length=1, max_length=255),
            Field("skipped", "boolean", required=True),
        ],
    )
    sandbox.choose_paperwork(unit, body["platformCustomerId"], skipped=body["skipped"])


def choose_rule_based(unit: Unit, ask: Ask) -> None:
    """Enable or disable rule-based accounts for the platform: ``{enabled}``."""
    body = fields.demand(ask.body, [Field("enabled", "boolean", required=True)])
    platform.config_of(unit).rule_based = body["enabled"]


def condition_sweep(unit: Unit, ask: Ask) -> None:
    """Say whether the destination of a rule-based account's sweeps is cut off: ``{fails}``."""
    body = fields.demand(ask.body, [Field("fails", "boolean", required=True)])
    account = accounts.find(unit, ask.params["accountId"])
    if account is None or not sweeps.is_rule_based(account):
        raise errors.Refusal("ACCOUNT_NOT_FOUND", "No rule-based account has this id.")
    sweeps.minted(unit, account).unreachable = body["fails"]


def condition_external_account(unit: Unit, ask: Ask) -> None:
    """Say what payouts to an external account meet: ``{condition}``."""
    known = tuple(rules.PAYOUT_RESULTS)
    body = fields.demand(ask.body, [Field("condition", "string", required=True, enum=known)])
    externals.get(unit, ask.params["externalAccountId"]).condition = body["condition"]


def move_external_account(unit: Unit, ask: Ask) -> None:
    """Decide a review of an external account, or disable it, or ask who owns it: ``{status}``."""
    known = ("ACTIVE", "UNDER_REVIEW", "INACTIVE", "PENDING_OWNERSHIP_VERIFICATION")
    body = fields.demand(ask.body, [Field("status", "string", required=True, enum=known)])
    externals.reach(unit, externals.get(unit, ask.params["externalAccountId"]), body["status"])


def sign_as_owner(unit: Unit, ask: Ask) -> Json:
    """Let the owner of an external account sign: ``{message}``; returns ``{signature}``."""
    body = fields.demand(ask.body, [Field("message", "string", required=True)])
    externals.get(unit, ask.params["externalAccountId"])
    return {"signature": ownership.signature_of(body["message"])}


def conclude_liveness(unit: Unit, ask: Ask) -> None:
    """Let the hosted liveness check of an external account show its owner or not: ``{proven}``."""
    body = fields.demand(ask.body, [Field("proven", "boolean", required=True)])
    account = externals.get(unit, ask.params["externalAccountId"])
    ownership.conclude(unit, account, "LIVENESS", proven=body["proven"])


def trust_beneficiary(unit: Unit, ask: Ask) -> None:
    """Let the customer trust the beneficiary of an external account."""
    externals.get(unit, ask.params["externalAccountId"]).trust = "TRUSTED"


def condition_counterparty(unit: Unit, ask: Ask) -> None:
    """Say how the institution behind an external account does: ``{condition}``."""
    known = receivers.COUNTERPARTY_STATES
    body = fields.demand(ask.body, [Field("condition", "string", required=True, enum=known)])
    externals.get(unit, ask.params["externalAccountId"]).counterparty = body["condition"]


def expire_quote(unit: Unit, ask: Ask) -> None:
    """Let a quote's lifetime pass."""
    quote, transaction = _quote(unit, ask)
    quote.expires_at = min(quote.expires_at, unit.now)
    transaction.expires_at = quote.expires_at


def deposit(unit: Unit, ask: Ask) -> None:
    """Let the payment of a real-time funded quote arrive, with its or another ``reference``."""
    body = fields.demand(ask.body, [Field("reference", "string")])
    quote, transaction = _quote(unit, ask)
    if quote.source_kind != "REALTIME":
        raise errors.Refusal("CONFLICT", "The quote does not wait for a deposit.")
    if not settlement.is_meant(quote, body.get("reference")):
        return
    if quote.customer_id is not None:
        quotes.refuse_approval_lost(customers.get(unit, quote.customer_id))
    quotes.refuse_unreachable(unit, quote)
    parties.refuse_blocked_later(unit, quote)
    settlement.record_deposit(quote, transaction)
    quotes.perform(unit, quote, "DEPOSIT")


def move_rate(unit: Unit, ask: Ask) -> None:
    """Let the market leave a quoted rate behind: ``{stale: true}``."""
    body = fields.demand(ask.body, [Field("stale", "boolean", required=True)])
    _quote(unit, ask)[0].stale = body["stale"]


def release(unit: Unit, ask: Ask) -> None:
    """Release a held payout, review or refund."""
    settlement.release(unit, ask.params["transactionId"])


def expire_challenge(unit: Unit, ask: Ask) -> None:
    """Let a challenge's ``expiresAt`` pass."""
    challenge = unit.session.get(Challenge, ask.params["challengeId"])
    if challenge is None:
        raise errors.Refusal("NOT_FOUND", "No challenge has this id.")
    challenge.expires_at = min(challenge.expires_at, unit.now)
    sca.expire_if_due(unit, challenge.id)


def tell_contact_code(unit: Unit, ask: Ask) -> Json:
    """Return the code that a channel of a customer was sent: ``{channel}``, and ``{code}``."""
    fields.demand(ask.body, [Field("channel", "string", required=True, enum=("email", "phone"))])
    customers.get(unit, ask.params["customerId"])
    return {"code": rules.SANDBOX_CODE}


def tell_challenge_code(_unit: Unit, _ask: Ask) -> Json:
    """Return the code that a challenge, of a payment or a login, asks for: ``{code}``."""
    return {"code": rules.SANDBOX_CODE}


def initiate_by_agent(unit: Unit, ask: Ask) -> Json:
    """Let a customer's agent initiate a payment that waits for approval; ``{transactionId}``."""
    body = fields.demand(ask.body, _AGENT_FIELDS)
    account = accounts.find(unit, body["accountId"])
    if account is None or account.customer_id != body["customerId"]:
        raise errors.Refusal("ACCOUNT_NOT_FOUND", "The customer has no such internal account.")
    target = {"destinationType": "ACCOUNT", "accountId": body["externalAccountId"]}
    order = quotes.Order(
        source=parties.source_of(unit, {"sourceType": "ACCOUNT", "accountId": account.id}),
        destination=parties.destination_of(unit, target),
        side="SENDING",
        amount=int(body["amount"]),
        agent_initiated=True,
    )
    return {"transactionId": quotes.draft(unit, order).transaction_id}


def _internal_account(unit: Unit, ask: Ask) -> InternalAccount:
    account = unit.session.get(InternalAccount, ask.params["accountId"])
    if account is None:
        raise errors.Refusal("ACCOUNT_NOT_FOUND", "No internal account has this id.")
    return account


def _quote(unit: Unit, ask: Ask) -> tuple[Any, Any]:
    quote = quotes.get(unit, ask.params["quoteId"])
    return quote, transactions.get(unit, quote.transaction_id, lock=True)
