"""Internal accounts: their provisioning, balances and funding."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import bindparam, select

from conformance.reference import errors, fields, money, pages, rules
from conformance.reference.customers import customers
from conformance.reference.internal_accounts import ledger
from conformance.reference.store import Customer, InternalAccount, Json
from conformance.reference.unit import Ask, Unit, new_id, present, timestamp

SEND: Final = "send"
RECEIVE: Final = "receive"

ABILITIES: dict[str, tuple[str, ...]] = {
    "PENDING": (),
    "ACTIVE": (SEND, RECEIVE),
    "CLOSED": (),
    "FROZEN": (),
    "FAILED": (),
}
"""What an account may do in each of its states."""

TRANSITIONS: dict[str, tuple[str, ...]] = {
    "PENDING": ("ACTIVE", "FAILED", "FROZEN"),
    "ACTIVE": ("CLOSED", "FROZEN"),
    "FAILED": ("FROZEN",),
    "FROZEN": (),
    "CLOSED": (),
}
"""Where an account may go from each of its states."""

HELD: Final = "PROVISIONING_HELD"
"""The condition of a customer whose accounts are not provisioned any further."""

CARD_FUNDING: dict[str, tuple[str, ...]] = {"USD": ("AUTHORIZE", "SETTLE", "REFUND")}
"""What a card could do with an account, by the account's currency; in others it has none."""

_OF_CUSTOMERS = select(InternalAccount).where(InternalAccount.customer_id.is_not(None))
_OF_CUSTOMER = select(InternalAccount).where(
    InternalAccount.customer_id == bindparam("customer_id")
)


def find(unit: Unit, account_id: str) -> InternalAccount | None:
    """Return the internal account of an id, or ``None``; no other kind of id is looked up."""
    if not account_id.startswith("InternalAccount:"):
        return None
    return unit.session.get(InternalAccount, account_id)


def get(unit: Unit, account_id: str) -> InternalAccount:
    """Return the internal account of an id; raises ``Refusal`` (ACCOUNT_NOT_FOUND)."""
    account = find(unit, account_id)
    if account is None:
        raise errors.Refusal("ACCOUNT_NOT_FOUND", "No internal account has this id.")
    return account


def spendable(available: int, _held: int) -> int:
    """Return an account's ``balance``: pending and held funds are excluded."""
    return available


def total(available: int, held: int) -> int:
    """Return an account's ``totalBalance``: pending and held funds are included."""
    return available + held


def type_for(currency: str) -> str:
    """Return the type of the account that is provisioned for a currency."""
    if currency in rules.WALLET_CURRENCIES:
        return "EMBEDDED_WALLET"
    return "INTERNAL_CRYPTO" if rules.CURRENCIES[currency].crypto else "INTERNAL_FIAT"


def currencies_to_provision(unit: Unit, wanted: list[str]) -> list[str]:
    """Return the supported currencies a customer gets accounts in: the platform's always."""
    known = [code for code in wanted if code in rules.CURRENCIES]
    return list(dict.fromkeys([unit.settings.platform_currency, *known]))


def initial_status(unit: Unit, customer_id: str | None) -> str:
    """Return the status of a new account: active, unless its provisioning is held."""
    if customer_id is None or customers.is_new(unit, customer_id):
        return "ACTIVE"
    owner = unit.session.get(Customer, customer_id)
    is_held = owner is not None and customers.has_condition(owner, HELD)
    return "PENDING" if is_held else "ACTIVE"


def provision(unit: Unit, customer_id: str | None, currency: str, account_id: str) -> None:
    """Open an account for a customer, or for the platform (``None``)."""
    unit.session.add(
        InternalAccount(
            id=account_id,
            customer_id=customer_id,
            type=type_for(currency),
            status=initial_status(unit, customer_id),
            currency=currency,
            label=None,
            sweep_rule=None,
            created_at=unit.now,
            updated_at=unit.now,
        )
    )
    ledger.open_account(unit, account_id, currency)


def provision_for_customer(unit: Unit, customer_id: str, wanted: list[str]) -> None:
    """Open the accounts a customer lacks."""
    present_already = currencies_of(unit, customer_id)
    for code in currencies_to_provision(unit, wanted):
        if code not in present_already:
            provision(unit, customer_id, code, new_id("InternalAccount"))


def currencies_of(unit: Unit, customer_id: str) -> set[str]:
    """Return the currencies that a customer has accounts in: a new one has none."""
    if customers.is_new(unit, customer_id):
        return set()
    query = select(InternalAccount.currency).where(InternalAccount.customer_id == customer_id)
    return set(unit.session.scalars(query))


def hold_provisioning(unit: Unit, customer_id: str) -> None:
    """Take back the provisioning of a customer's accounts that nothing has happened to yet."""
    query = select(InternalAccount).where(InternalAccount.customer_id == customer_id)
    for account in unit.session.scalars(query):
        if account.status == "ACTIVE" and account.updated_at == account.created_at:
            account.status = "PENDING"


def move(unit: Unit, account: InternalAccount, status: str) -> None:
    """Give an account another status; raises ``Refusal`` where none leads there."""
    if status not in TRANSITIONS[account.status]:
        raise errors.Refusal(
            "INVALID_STATE_TRANSITION",
            f"The account is {account.status} and does not become {status}.",
        )
    account.status = status
    account.updated_at = unit.now


def refuse_unable(account: InternalAccount, ability: str) -> None:
    """Refuse what an account may not do in its state."""
    if ability not in ABILITIES[account.status]:
        raise errors.Refusal(
            "CONFLICT", f"The account is {account.status}; it cannot {ability} money now."
        )


def funding_instructions(account: InternalAccount) -> list[Json]:
    """Return how to fund an account."""
    digits = str(int(account.id.rpartition(":")[2].replace("-", ""), 16))[-10:]
    return instructions_for(account.currency, digits)


def instructions_for(currency: str, digits: str) -> list[Json]:
    """Return payment instructions in a currency, told apart by ten ``digits``."""
    reference = f"REF{digits}"
    bank: Json = {
        "reference": reference,
        "accountNumber": digits,
        "accountHolderName": "Reference Platform",
        "bankName": "Reference Bank",
    }
    wallet = {"SOLANA_WALLET": f"So1{digits}", "SPARK_WALLET": f"spark1{digits}"}
    if currency == "BTC":
        spark = {"accountType": "SPARK_WALLET", "assetType": "BTC"}
        return [
            _instruction({**spark, "address": wallet["SPARK_WALLET"]}),
            _instruction({"accountType": "LIGHTNING", "invoice": f"lnbc1{digits}"}),
            _instruction({"accountType": "BITCOIN_L1", "address": f"bc1q{digits}"}),
        ]
    if rules.CURRENCIES[currency].crypto:
        solana = {"accountType": "SOLANA_WALLET", "assetType": currency}
        return [_instruction({**solana, "address": wallet["SOLANA_WALLET"]})]
    if currency == "USD":
        bank |= {"routingNumber": "021000021", "accountCategory": "CHECKING"}
        return [_instruction({"accountType": "US_ACCOUNT", **bank}, reference)]
    return [_instruction({"accountType": f"{currency}_ACCOUNT", **bank}, reference)]


def _instruction(info: Json, reference: str | None = None) -> Json:
    notes = None if reference is None else f"Include the reference {reference} in the payment."
    return present({"instructionsNotes": notes, "accountOrWalletInfo": info})


def view(unit: Unit, account: InternalAccount) -> Json:
    """Return the internal account as clients see it, with its balances as they are now."""
    return views(unit, [account])[0]


def views(unit: Unit, accounts: list[InternalAccount]) -> list[Json]:
    """Return internal accounts as clients see them."""
    funds = ledger.balances(unit, [account.id for account in accounts])
    return [_view(account, *funds[account.id]) for account in accounts]


def _view(account: InternalAccount, available: int, held: int) -> Json:
    body: Json = {
        "id": account.id,
        "customerId": account.customer_id or "",
        "type": account.type,
        "status": account.status,
        "balance": money.money_view(spendable(available, held), account.currency),
        "totalBalance": money.money_view(total(available, held), account.currency),
        "fundingPaymentInstructions": funding_instructions(account),
        "label": account.label,
        "sweepRule": account.sweep_rule,
        "createdAt": timestamp(account.created_at),
        "updatedAt": timestamp(account.updated_at),
        **wallet_members(account),
        **card_members(account),
    }
    return body


def wallet_members(account: InternalAccount) -> Json:
    """Return what only a wallet shows: whether its movements are private."""
    return {"privateEnabled": False} if account.type == "EMBEDDED_WALLET" else {}


def card_members(account: InternalAccount) -> Json:
    """Return what only an account shows that could fund a card: what the card could do."""
    if account.customer_id is None or account.type != "INTERNAL_FIAT":
        return {}
    actions = CARD_FUNDING.get(account.currency)
    if actions is None or SEND not in ABILITIES[account.status]:
        return {}
    return {"cardFundingCapabilities": list(actions)}


def announce_balance(unit: Unit, account: InternalAccount) -> None:
    """Emit the event of a changed balance."""
    account.updated_at = unit.now
    unit.emit(rules.BALANCE_EVENT, view(unit, account))


def list_for_customers(unit: Unit, ask: Ask) -> Json:
    """List customers' internal accounts, or one customer's."""
    query, values = _OF_CUSTOMERS, {}
    if "customerId" in ask.query:
        values = {"customer_id": customers.get(unit, ask.query["customerId"]).id}
        query = _OF_CUSTOMER
    if "currency" in ask.query:
        query = query.where(InternalAccount.currency == ask.query["currency"])
    wanted = pages.read(ask.query, descending=False)
    page = pages.take(unit, query, InternalAccount, wanted, values)
    return page.view(views(unit, page.rows))


def list_for_platform(unit: Unit, ask: Ask) -> Json:
    """List the platform's internal accounts, all or those in one currency."""
    query = select(InternalAccount).where(InternalAccount.customer_id.is_(None))
    if "currency" in ask.query:
        query = query.where(InternalAccount.currency == ask.query["currency"])
    rows = list(unit.session.scalars(query.order_by(InternalAccount.created_at)))
    return {"data": views(unit, rows)}


def fund(unit: Unit, ask: Ask) -> Json:
    """Let a settled deposit arrive on an internal account."""
    body: dict[str, Any] = fields.demand(ask.body, rules.FUND_FIELDS)
    account = get(unit, ask.params["accountId"])
    if account.customer_id is not None:
        customers.refuse_unverified(customers.get(unit, account.customer_id))
    refuse_unable(account, RECEIVE)
    credit(unit, account, int(body["amount"]))
    announce_balance(unit, account)
    return view(unit, account)


def credit(unit: Unit, account: InternalAccount, amount: int) -> None:
    """Book a deposit from outside."""
    ledger.post(
        unit,
        [
            ledger.Leg(ledger.system("rail", account.currency), account.currency, -amount),
            ledger.Leg(ledger.available(account.id), account.currency, amount),
        ],
    )


def expect(unit: Unit, account: InternalAccount, amount: int) -> None:
    """Book a deposit that is on its way and not settled yet: it cannot be spent."""
    ledger.post(
        unit,
        [
            ledger.Leg(ledger.system("rail", account.currency), account.currency, -amount),
            ledger.Leg(ledger.held(account.id), account.currency, amount),
        ],
    )
    announce_balance(unit, account)
