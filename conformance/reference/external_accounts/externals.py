"""External accounts: their creation, reading and removal."""

from __future__ import annotations

from typing import Any

from sqlalchemy import select

from conformance.reference import errors, fields, pages
from conformance.reference.customers import customers
from conformance.reference.external_accounts import beneficiaries, institutions
from conformance.reference.external_accounts.account_types import ACCOUNT_TYPES, AccountType
from conformance.reference.rules import Field
from conformance.reference.store import Customer, ExternalAccount, Json
from conformance.reference.unit import Ask, Unit, new_id, present

STATUS_EVENT = "EXTERNAL_ACCOUNT.STATUS_UPDATED"
RECEIVING = ("ACTIVE", "PENDING_OWNERSHIP_VERIFICATION")
"""The statuses that can receive; the second one below a threshold."""

_SENT_BY_SERVICE = "paymentRails"

EXTERNAL_ACCOUNT_FIELDS: tuple[Field, ...] = (
    Field("currency", "string", required=True),
    Field("platformAccountId", "string", max_length=255, nullable=True),
    Field("customerId", "string", nullable=True),
    Field("accountInfo", "object", required=True),
    Field("accountInfo.accountType", "string", required=True, min_length=1),
    Field("accountInfo.bankName", "string", nullable=True),
)


def find(unit: Unit, account_id: str) -> ExternalAccount | None:
    """Return the external account of an id, or ``None``; a deleted one is gone."""
    account = unit.session.get(ExternalAccount, account_id)
    return None if account is None or account.deleted else account


def get(unit: Unit, account_id: str) -> ExternalAccount:
    """Return the external account of an id; raises ``Refusal`` (ACCOUNT_NOT_FOUND)."""
    account = find(unit, account_id)
    if account is None:
        raise errors.Refusal("ACCOUNT_NOT_FOUND", "No external account has this id.")
    return account


def can_receive(account: ExternalAccount) -> bool:
    """Return whether an account may be a destination."""
    return account.status in RECEIVING


def can_send(account: ExternalAccount) -> bool:
    """Return whether money may be pulled from an account: it was not disabled."""
    return account.status != "INACTIVE"


def is_unproven(account: ExternalAccount) -> bool:
    """Return whether an account waits for the proof that its customer owns it."""
    return account.status == "PENDING_OWNERSHIP_VERIFICATION"


def initial_status(owner: Customer | None) -> str:
    """Return the status of a new account: active, unless the accounts of its owner wait."""
    waits = owner is not None and customers.has_condition(owner, "ACCOUNTS_HELD")
    return "PENDING" if waits else "ACTIVE"


def reach(unit: Unit, account: ExternalAccount, status: str) -> None:
    """Give an account a status, and tell of it where it is another one."""
    if account.status != status:
        account.status = status
        announce(unit, account)


def announce(unit: Unit, account: ExternalAccount) -> None:
    """Emit the event of a changed status."""
    unit.emit(STATUS_EVENT, view(account))


def is_pullable(account: ExternalAccount) -> bool:
    """Return whether money can be pulled from an account."""
    return ACCOUNT_TYPES[account.account_type].pullable and account.customer_id is not None


def create(unit: Unit, ask: Ask) -> Json:
    """Create an external account."""
    body = fields.demand(ask.body, EXTERNAL_ACCOUNT_FIELDS)
    info: dict[str, Any] = body["accountInfo"]
    kind = ACCOUNT_TYPES.get(info["accountType"])
    if kind is None:
        raise errors.invalid_input(
            errors.field_error(
                "accountInfo.accountType", f"Expected one of {', '.join(ACCOUNT_TYPES)}."
            )
        )
    info = completed(info, kind)
    body = {**body, "accountInfo": info}
    owner = customers.get(unit, body["customerId"]) if body.get("customerId") else None
    about_beneficiary = beneficiaries.check(body, kind, owner) if kind.beneficiary else []
    fields.demand(body, kind.fields, *pairing_errors(body, kind), *about_beneficiary)
    account = ExternalAccount(
        id=new_id("ExternalAccount"),
        customer_id=body.get("customerId"),
        status=initial_status(owner),
        currency=body["currency"],
        account_type=info["accountType"],
        platform_account_id=body.get("platformAccountId"),
        info=stored_info(info, kind),
        condition="NORMAL",
        counterparty="REACHABLE",
        trust="NONE",
        untrusting=None,
        challenge=None,
        deleted=False,
        created_at=unit.now,
    )
    unit.session.add(account)
    return view(account)


def pairing_errors(body: Json, kind: AccountType) -> list[Json]:
    """Return the errors of rules between fields: the currency, and fields of which one is due."""
    found = []
    if body["currency"] not in kind.currencies:
        message = f"Expected {' or '.join(kind.currencies)} for this accountType."
        found.append(errors.field_error("currency", message, enum=list(kind.currencies)))
    bank = body["accountInfo"].get("bankName")
    if kind.listed_banks and bank and not institutions.is_listed(bank, kind.currencies):
        message = "Expected the bankName of an institution that GET /discoveries lists."
        found.append(errors.field_error("accountInfo.bankName", message))
    given = [name for name in kind.one_of if body["accountInfo"].get(name) is not None]
    if kind.one_of and (not given or (kind.exactly_one and len(given) > 1)):
        message = f"Expected one of {', '.join(kind.one_of)}; got {len(given)} of them."
        name = given[1] if given else kind.one_of[0]
        found.append(errors.field_error(f"accountInfo.{name}", message))
    for name, due in kind.beside.items():
        if body["accountInfo"].get(name) is not None:
            found += [
                errors.field_error(f"accountInfo.{other}", f"A value is required beside {name}.")
                for other in due
                if body["accountInfo"].get(other) is None
            ]
    return found


def completed(info: Json, kind: AccountType) -> Json:
    """Return the account's data with what follows from them and is not sent."""
    due = [name for name in kind.derived if info.get(name) is None]
    found = {name: kind.derived[name](info) for name in due}
    return {**info, **{name: value for name, value in found.items() if value is not None}}


def stored_info(info: Json, kind: AccountType) -> Json:
    """Return the account's data; the rails are the service's to say, never the caller's."""
    kept = {name: value for name, value in info.items() if name != _SENT_BY_SERVICE}
    return {**kept, _SENT_BY_SERVICE: list(kind.rails)} if kind.rails else kept


def view(account: ExternalAccount) -> Json:
    """Return the external account as clients see it."""
    return present(
        {
            "id": account.id,
            "customerId": account.customer_id,
            "status": account.status,
            "currency": account.currency,
            "platformAccountId": account.platform_account_id,
            "accountInfo": account.info,
        }
    )


def list_for_customers(unit: Unit, ask: Ask) -> Json:
    """List customers' external accounts, or one customer's."""
    query = select(ExternalAccount).where(
        ExternalAccount.deleted.is_(False), ExternalAccount.customer_id.is_not(None)
    )
    if "customerId" in ask.query:
        customer = customers.get(unit, ask.query["customerId"])
        query = query.where(ExternalAccount.customer_id == customer.id)
    if "currency" in ask.query:
        query = query.where(ExternalAccount.currency == ask.query["currency"])
    page = pages.take(unit, query, ExternalAccount, pages.read(ask.query, descending=False))
    return page.view([view(row) for row in page.rows])


def list_for_platform(unit: Unit, ask: Ask) -> Json:
    """List the platform's external accounts."""
    query = select(ExternalAccount).where(
        ExternalAccount.deleted.is_(False), ExternalAccount.customer_id.is_(None)
    )
    page = pages.take(unit, query, ExternalAccount, pages.read(ask.query, descending=False))
    return page.view([view(row) for row in page.rows])


def read(unit: Unit, ask: Ask) -> Json:
    """Return an external account."""
    return view(get(unit, ask.params["externalAccountId"]))


def remove(unit: Unit, ask: Ask) -> None:
    """Delete an external account, unless its beneficiary is trusted."""
    account = get(unit, ask.params["externalAccountId"])
    refuse_trusted(account)
    account.deleted = True


def is_trusted(account: ExternalAccount) -> bool:
    """Return whether an account's beneficiary is trusted, as it is until that is confirmed off."""
    return account.trust != "NONE"


def refuse_trusted(account: ExternalAccount) -> None:
    """Refuse to delete an account whose beneficiary is trusted."""
    if is_trusted(account):
        raise errors.Refusal(
            "BENEFICIARY_TRUSTED", "The beneficiary is trusted. Untrust it, and confirm, first."
        )
