"""Rule-based accounts: further account numbers whose deposits are swept on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy.exc import IntegrityError

from conformance.reference import errors, fields, platform
from conformance.reference.customers import customers
from conformance.reference.external_accounts import externals
from conformance.reference.internal_accounts import accounts, ledger, sweeps
from conformance.reference.quotes import parties, quotes
from conformance.reference.rules import MAX_IDEMPOTENCY_KEY_CHARS, Field
from conformance.reference.store import InternalAccount, Json, MintedAccount
from conformance.reference.unit import Reply, new_id

if TYPE_CHECKING:
    from conformance.reference.store import Customer
    from conformance.reference.unit import Ask, Unit

CREATABLE: tuple[str, ...] = ("RULE_BASED",)
"""The types of internal accounts that can be asked for; the others are there by themselves."""

CURRENCIES: tuple[str, ...] = ("USD",)

HOLDERS: tuple[str, ...] = ("INDIVIDUAL",)
"""The types of customers who may hold a rule-based account."""

KEY: str = "idempotency-key"

ACCOUNT_FIELDS: dict[str, Field] = {
    row.path: row
    for row in (
        Field("type", "string", required=True, enum=CREATABLE),
        Field("currency", "string", required=True, enum=CURRENCIES),
        Field("customerId", "string", required=True, min_length=1),
        Field("label", "string", max_length=255, nullable=True),
        Field("sweepRule", "object", required=True),
        Field("sweepRule.destination", "object", required=True),
        Field("sweepRule.destination.accountId", "string", required=True, min_length=1),
        Field("sweepRule.destination.paymentRail", "string", nullable=True),
        Field("sweepRule.purposeOfPayment", "string", nullable=True),
        Field("sweepRule.description", "string", max_length=255, nullable=True),
        Field("sweepRule.remittanceInformation", "string", max_length=1024, nullable=True),
    )
}


# --- Creation -------------------------------------------------------------------------------


def create(unit: Unit, ask: Ask) -> Reply:
    """Create a rule-based account, or return the one that its key has brought already."""
    key = key_of(ask)
    body = fields.demand(ask.body, list(ACCOUNT_FIELDS.values()), *unknown_errors(ask.body))
    earlier = created_under(unit, key)
    if earlier is not None:
        return again(unit, earlier, body)
    holder = customers.get(unit, body["customerId"])
    refuse_disabled(unit)
    refuse_other_holders(holder)
    refuse_without_home(unit, holder, body["currency"])
    refuse_unknown_destination(unit, body["sweepRule"]["destination"]["accountId"])
    account = mint(unit, holder, body)
    if not claim(unit, key, account, body):
        raise errors.Refusal("CONFLICT", "The same request is under way. Send it again later.")
    return Reply(201, accounts.view(unit, account))


def key_of(ask: Ask) -> str:
    """Return the ``Idempotency-Key`` of a request; refuses one that is missing or too long."""
    key = ask.headers.get(KEY, "")
    if not key:
        raise errors.invalid_input(errors.field_error("Idempotency-Key", "A value is required."))
    if len(key) > longest_key():
        message = f"Expected at most {longest_key()} characters."
        raise errors.invalid_input(errors.field_error("Idempotency-Key", message))
    return key


def longest_key() -> int:
    """Return how many characters a key may have."""
    return MAX_IDEMPOTENCY_KEY_CHARS


def unknown_errors(body: Any) -> list[Json]:
    """Return an error for each member that a request may not have."""
    if not isinstance(body, dict):
        return []
    message = "This member is not known."
    return [errors.field_error(name, message) for name in body if name not in ACCOUNT_FIELDS]


def created_under(unit: Unit, key: str) -> MintedAccount | None:
    """Return what an earlier request with the same key brought, or ``None``."""
    return unit.session.get(MintedAccount, key)


def is_same(earlier: MintedAccount, body: Json) -> bool:
    """Return whether a request asks for the account that an earlier one has brought."""
    return earlier.asked == body


def again(unit: Unit, earlier: MintedAccount, body: Json) -> Reply:
    """Return the account of an earlier request; refuses a key that stood for another account."""
    if not is_same(earlier, body):
        raise errors.Refusal("CONFLICT", "The key stands for another account. Use a new key.")
    account = unit.session.get_one(InternalAccount, earlier.account_id)
    return Reply(200, accounts.view(unit, account))


def is_enabled(unit: Unit) -> bool:
    """Return whether the platform may have rule-based accounts."""
    return platform.config_of(unit).rule_based


def refuse_disabled(unit: Unit) -> None:
    """Refuse to a platform what it is not enabled for."""
    if not is_enabled(unit):
        raise errors.Refusal("CONFLICT", "The platform is not enabled for rule-based accounts.")


def refuse_other_holders(holder: Customer) -> None:
    """Refuse customers of a type that may not hold such accounts."""
    if holder.customer_type not in HOLDERS:
        message = f"Expected a customer who is {' or '.join(HOLDERS)}."
        raise errors.invalid_input(errors.field_error("customerId", message))


def refuse_without_home(unit: Unit, holder: Customer, currency: str) -> None:
    """Refuse holders who have no verified account where funds could land."""
    if not customers.is_verified(holder) or sweeps.home_of(unit, holder.id, currency) is None:
        raise errors.Refusal(
            "CONFLICT", f"The customer holds no verified account in {currency} yet."
        )


def refuse_unknown_destination(unit: Unit, account_id: str) -> None:
    """Refuse a rule whose destination is none: money cannot be swept from number to number."""
    internal = accounts.find(unit, account_id)
    known = externals.find(unit, account_id) is not None or internal is not None
    if not known or (internal is not None and sweeps.is_rule_based(internal)):
        message = "Expected an external account, or an internal one that is not RULE_BASED."
        raise errors.invalid_input(errors.field_error("sweepRule.destination.accountId", message))


def mint(unit: Unit, holder: Customer, body: Json) -> InternalAccount:
    """Open the account; its id makes its number."""
    account = InternalAccount(
        id=new_id("InternalAccount"),
        customer_id=holder.id,
        type=body["type"],
        status="ACTIVE",
        currency=body["currency"],
        label=body.get("label"),
        sweep_rule=body["sweepRule"],
        created_at=unit.now,
        updated_at=unit.now,
    )
    unit.session.add(account)
    ledger.open_account(unit, account.id, account.currency)
    unit.session.flush()
    return account


def claim(unit: Unit, key: str, account: InternalAccount, body: Json) -> bool:
    """Let a key stand for an account; return whether it does not stand for another one already."""
    row = MintedAccount(key=key, account_id=account.id, asked=body, unreachable=False)
    try:
        with unit.session.begin_nested():
            unit.session.add(row)
    except IntegrityError:
        return False
    return True


# --- Sweeps ---------------------------------------------------------------------------------


def fund(unit: Unit, ask: Ask) -> Json:
    """Let a settled deposit arrive; what comes in by a rule-based number is swept on."""
    shown = accounts.fund(unit, ask)
    sweeps.take_in(unit, ask.params["accountId"])
    return shown


def sweep(unit: Unit, account_id: str) -> None:
    """Send what an account has to the destination of its rule, or home where that cannot be."""
    account = unit.session.get_one(InternalAccount, account_id)
    amount = sweeps.swept_amount(unit, account)
    if amount == 0:
        return
    try:
        send(unit, account, destination_of(account), amount)
    except errors.Refusal:
        sweeps.land(unit, account)


def destination_of(account: InternalAccount) -> Json:
    """Return the destination of an account's rule as one of a quote."""
    return {"destinationType": "ACCOUNT", **(account.sweep_rule or {})["destination"]}


def send(unit: Unit, account: InternalAccount, destination: Json, amount: int) -> None:
    """Pay an amount from an account to a destination; raises ``Refusal`` where it cannot be."""
    if sweeps.minted(unit, account).unreachable:
        raise errors.Refusal("INVALID_BANK_ACCOUNT", "The destination cannot be reached.")
    order = quotes.Order(
        source=parties.source_of(unit, {"sourceType": "ACCOUNT", "accountId": account.id}),
        destination=parties.destination_of(unit, destination),
        side="SENDING",
        amount=amount,
        description=(account.sweep_rule or {}).get("description"),
    )
    quote = quotes.draft(unit, order)
    quotes.refuse_unreachable(unit, quote)
    quotes.perform(unit, quote, "EXECUTE")
