"""Agents: software that acts for one customer, with credentials of its own."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NoReturn

from conformance.reference import errors, fields, rules
from conformance.reference.customers import customers
from conformance.reference.external_accounts import externals
from conformance.reference.internal_accounts import accounts
from conformance.reference.quotes import quotes
from conformance.reference.rules import Field
from conformance.reference.store import Agent
from conformance.reference.unit import Ask, Unit

if TYPE_CHECKING:
    from conformance.reference.store import Json

_CONNECT_FIELDS: Final = (Field("customerId", "string", required=True),)

Handler = Callable[[Unit, Ask], Any]


# --- Credentials ----------------------------------------------------------------------------


def connect(unit: Unit, ask: Ask) -> Json:
    """Give a new agent of a customer its credentials: ``{token}``, which is told only once."""
    body = fields.demand(ask.body, _CONNECT_FIELDS)
    customer = customers.get(unit, body["customerId"])
    token = new_token()
    agent = Agent(digest=digest_of(token), customer_id=customer.id, created_at=unit.now)
    unit.session.add(agent)
    return {"token": token}


def new_token() -> str:
    """Return a token that nobody can guess."""
    return f"agent_{secrets.token_urlsafe(32)}"


def digest_of(token: str) -> str:
    """Return what is kept of a token."""
    return hashlib.sha256(token.encode()).hexdigest()


def token_in(header: bytes) -> str | None:
    """Return the token of an ``Authorization`` header, if it carries one."""
    scheme, _, token = header.partition(b" ")
    return token.strip().decode("latin-1") if scheme.lower() == b"bearer" else None


def customer_of(unit: Unit, token: str) -> str | None:
    """Return the customer whom the bearer of a token acts for."""
    agent = unit.session.get(Agent, digest_of(token))
    return None if agent is None else agent.customer_id


# --- What an agent may do -------------------------------------------------------------------


def own_customer(_unit: Unit, ask: Ask) -> Ask:
    """Let an agent ask for its own customer alone."""
    if ask.params["customerId"] != ask.agent:
        raise errors.Refusal("CUSTOMER_NOT_FOUND", "The agent acts for another customer.")
    return ask


def own_list(_unit: Unit, ask: Ask) -> Ask:
    """Let an agent list what is its customer's, whether it says so or not."""
    if ask.query.get("customerId", ask.agent) != ask.agent:
        raise errors.Refusal("CUSTOMER_NOT_FOUND", "The agent acts for another customer.")
    return replace(ask, query={**ask.query, "customerId": str(ask.agent)})


def own_order(unit: Unit, ask: Ask) -> Ask:
    """Let an agent order a quote from its customer, and to no external account of others."""
    body = fields.demand(ask.body, rules.QUOTE_FIELDS)
    source, target = body["source"], body["destination"]
    payer = source.get("customerId")
    if source.get("accountId") is not None:
        payer = owner_of(unit, source["accountId"])
    if payer != ask.agent:
        refuse_foreign_account()
    found = externals.find(unit, target.get("accountId") or "")
    if found is not None and found.customer_id != ask.agent:
        refuse_foreign_account()
    return ask


def own_quote(unit: Unit, ask: Ask) -> Ask:
    """Let an agent execute quotes of its customer."""
    if quotes.get(unit, ask.params["quoteId"]).customer_id != ask.agent:
        raise errors.Refusal("QUOTE_NOT_FOUND", "No quote of the agent's customer has this id.")
    return ask


def own_external_account(unit: Unit, ask: Ask) -> Ask:
    """Let an agent read external accounts of its customer."""
    found = externals.find(unit, ask.params["externalAccountId"])
    if found is not None and found.customer_id != ask.agent:
        refuse_foreign_account()
    return ask


OPERATIONS: dict[str, Callable[[Unit, Ask], Ask]] = {
    "getCustomer": own_customer,
    "listCustomerInternalAccounts": own_list,
    "listCustomerExternalAccounts": own_list,
    "getExternalAccount": own_external_account,
    "listTransactions": own_list,
    "listVerifications": own_list,
    "createQuote": own_order,
    "executeQuote": own_quote,
}
"""What an agent may call, each with what confines the call to its customer."""


def owner_of(unit: Unit, account_id: str) -> str | None:
    """Return the customer who owns an account."""
    account = accounts.find(unit, account_id) or externals.find(unit, account_id)
    return None if account is None else account.customer_id


def refuse_foreign_account() -> NoReturn:
    """Refuse an account that is not the customer's."""
    raise errors.Refusal("ACCOUNT_NOT_FOUND", "The agent's customer has no such account.")


def confined(operation: str, handler: Handler) -> Handler:
    """Return the handler of an operation as agents may call it."""
    return partial(serve, operation, handler)


def serve(operation: str, handler: Handler, unit: Unit, ask: Ask) -> Any:
    """Serve an agent; raises ``Refusal`` (FORBIDDEN) for what none may call."""
    confine = OPERATIONS.get(operation)
    if confine is None:
        raise errors.Refusal(
            "FORBIDDEN", "Agents do not call this. Use the platform's credentials."
        )
    return handler(unit, confine(unit, ask))
