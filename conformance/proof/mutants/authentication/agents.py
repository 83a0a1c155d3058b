"""Mutants of agents: whose credentials are taken, and for which customer they act."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from conformance.proof.kit.builders import Json, around
from conformance.proof.kit.tables import with_row
from conformance.proof.mutant import declare, mutant
from conformance.proof.mutants.authentication.toolkit import authorization, is_call, without_basic
from conformance.proof.patch import Apply, Patch
from conformance.reference import app, rules
from conformance.reference.app import BasicAuth
from conformance.reference.authentication import agents
from conformance.reference.quotes import quotes
from conformance.reference.store import Agent, Quote
from conformance.reference.transactions import transactions
from conformance.reference.unit import Ask, Unit, new_id

# --- Which credentials are taken ------------------------------------------------------------


def _not_taken(operation: str) -> Apply:
    """Return the patch by which an operation takes the platform's credentials alone."""

    async def agent(original: Callable[..., Any], auth: Any, scope: Any) -> str | None:
        return None if is_call(scope, operation) else await original(auth, scope)

    return around(BasicAuth, "_agent", agent)


def _taking(operation: str, takes: Callable[[str], bool]) -> Apply:
    """Return the patch by which an operation takes tokens that nobody was given.

    Whoever brings one acts for the platform.
    """

    def allows(_settings: Any, scope: Any, right: bool) -> bool:
        header = dict(scope["headers"]).get(b"authorization", b"")
        token = agents.token_in(header)
        return right or (is_call(scope, operation) and token is not None and takes(token))

    return authorization(allows)


_TAKEN: tuple[tuple[str, str, str, str | None], ...] = (
    ("getCustomer", "AGT-001", "AGT-030", "AGT-036"),
    ("listTransactions", "AGT-002", "AGT-031", "AGT-037"),
    ("listCustomerInternalAccounts", "AGT-003", "AGT-032", None),
    ("listCustomerExternalAccounts", "AGT-004", "AGT-033", None),
    ("createQuote", "AGT-005", "AGT-034", "AGT-038"),
    ("executeQuote", "AGT-006", "AGT-035", "AGT-039"),
)
"""Operation, and the requirements on right, wrong and empty credentials of agents."""

for _operation, _right, _wrong, _empty in _TAKEN:
    declare(_right, "not_taken", f"{_operation} is for the platform", _not_taken(_operation))
    declare(
        _wrong,
        "any_token",
        f"{_operation} does not look at an agent's token",
        _taking(_operation, bool),
    )
    declare(
        "AGT-043",
        f"{_operation}_for_agents",
        f"{_operation} is for agents alone",
        without_basic(_operation),
    )
    if _empty is not None:
        declare(
            _empty,
            "no_token",
            f"{_operation} takes an empty token for that of an agent",
            _taking(_operation, lambda token: not token),
        )

declare("AGT-041", "any_token", "anybody's token executes", _taking("executeQuote", bool))
declare("AGT-042", "any_token", "anybody's token creates quotes", _taking("createQuote", bool))


@mutant("AGT-040", "a wrong token is called an invalid signature")
def invalid_signature(patch: Patch) -> None:
    def refuse(original: Callable[..., Any], refusal: Any, headers: Any = None) -> Any:
        if refusal.code == "UNAUTHORIZED":
            refusal.code = "INVALID_SIGNATURE"
        return original(refusal, headers)

    patch.row(rules, "ERROR_STATUS", "INVALID_SIGNATURE", 401)
    patch.wrap(app, "refuse", refuse)


@mutant(
    "AGT-042", "a quote is created before the credentials are looked at", (BasicAuth, "__call__")
)
async def created_for_anybody(
    original: Callable[..., Any], auth: Any, scope: Any, receive: Any, send: Any
) -> None:
    async def swallow(message: Any) -> None:
        pass

    if scope["type"] == "http" and is_call(scope, "createQuote"):
        token = agents.token_in(dict(scope["headers"]).get(b"authorization", b""))
        if token is not None:
            await auth._app(scope, receive, swallow)
    await original(auth, scope, receive, send)


# --- For whom an agent acts -----------------------------------------------------------------


def _unconfined(operation: str) -> Apply:
    """Return the patch by which an agent may call an operation about any customer."""
    return with_row(agents, "OPERATIONS", operation, lambda _unit, ask: ask)


for _requirement, _operation in (
    ("AGT-011", "getCustomer"),
    ("AGT-012", "listTransactions"),
    ("AGT-013", "listCustomerInternalAccounts"),
    ("AGT-014", "listCustomerExternalAccounts"),
    ("AGT-015", "createQuote"),
    ("AGT-023", "getExternalAccount"),
    ("AGT-053", "listVerifications"),
    ("AGT-024", "updateCustomer"),
    ("AGT-025", "deleteExternalAccount"),
    ("AGT-026", "createExternalAccount"),
    ("AGT-027", "listPlatformInternalAccounts"),
    ("AGT-840", "createVerification"),
    ("AGT-841", "createKycLink"),
    ("AGT-016", "executeQuote"),
    ("AGT-017", "executeQuote"),
):
    declare(
        _requirement,
        "unconfined",
        f"an agent may call {_operation} about every customer",
        _unconfined(_operation),
    )


@mutant("AGT-015", "an agent lets anybody pay just in time")
def anybody_pays_just_in_time(patch: Patch) -> None:
    def order(unit: Unit, ask: Ask) -> Ask:
        kind = (ask.body or {}).get("source", {}).get("sourceType")
        return ask if kind == "REALTIME_FUNDING" else agents.own_order(unit, ask)

    patch.row(agents, "OPERATIONS", "createQuote", order)


@mutant("AGT-028", "an agent lets the platform pay")
def platform_pays(patch: Patch) -> None:
    def order(unit: Unit, ask: Ask) -> Ask:
        source = (ask.body or {}).get("source", {}).get("accountId")
        unowned = source is not None and agents.owner_of(unit, source) is None
        return ask if unowned else agents.own_order(unit, ask)

    patch.row(agents, "OPERATIONS", "createQuote", order)


@mutant("AGT-012", "an agent may list the transactions of another customer by asking for them")
def filter_decides(patch: Patch) -> None:
    def asked(_unit: Unit, ask: Ask) -> Ask:
        return replace(ask, query={"customerId": str(ask.agent), **ask.query})

    patch.row(agents, "OPERATIONS", "listTransactions", asked)


def _acting_for_the_first(patch: Patch) -> None:
    def customer_of(unit: Unit, _token: str) -> str | None:
        first = unit.session.query(Agent).order_by(Agent.created_at).first()
        return None if first is None else first.customer_id

    def own_list(_unit: Unit, ask: Ask) -> Ask:
        return replace(ask, query={**ask.query, "customerId": str(ask.agent)})

    patch.replace(agents, "customer_of", customer_of)
    patch.row(agents, "OPERATIONS", "listCustomerInternalAccounts", own_list)


declare("AGT-022", "first", "all agents act for the first one's customer", _acting_for_the_first)


@mutant("AGT-010", "an agent is shown a customer without saying whom", (agents, "serve"))
def nameless_customer(
    original: Callable[..., Any], operation: str, handler: agents.Handler, unit: Unit, ask: Ask
) -> Any:
    shown = original(operation, handler, unit, ask)
    return {**shown, "id": new_id("Customer")} if operation == "getCustomer" else shown


# --- What an agent moves --------------------------------------------------------------------


def _after(operation: str, change: Callable[[Unit, Quote], None]) -> Apply:
    """Return the patch by which something befalls the quote that an agent was answered with."""

    def serve(
        original: Callable[..., Any], called: str, handler: agents.Handler, unit: Unit, ask: Ask
    ) -> Any:
        shown = original(called, handler, unit, ask)
        if called == operation:
            change(unit, quotes.get(unit, shown["id"]))
        return shown

    return around(agents, "serve", serve)


def _hide(unit: Unit, quote: Quote) -> None:
    transactions.get(unit, quote.transaction_id).customer_id = None


declare(
    "AGT-018",
    "hidden",
    "the transactions of agents are not their customer's",
    _after("createQuote", _hide),
)


@mutant("AGT-019", "an agent pays from an account of its own", (agents, "serve"))
def agent_account(
    original: Callable[..., Any], operation: str, handler: agents.Handler, unit: Unit, ask: Ask
) -> Any:
    shown: Json = original(operation, handler, unit, ask)
    if operation == "createQuote":
        source = {**shown["source"], "accountId": new_id("InternalAccount")}
        shown = {**shown, "source": source}
    return shown


def _as_agent(execute: Callable[[Unit, Quote], None]) -> Apply:
    """Return the patch by which quotes that an agent executes go another way."""

    def serve(
        original: Callable[..., Any], operation: str, handler: agents.Handler, unit: Unit, ask: Ask
    ) -> Any:
        if operation != "executeQuote":
            return original(operation, handler, unit, ask)
        quote = quotes.get(unit, agents.own_quote(unit, ask).params["quoteId"])
        execute(unit, quote)
        return quotes.view(unit, quote)

    return around(agents, "serve", serve)


def _for_free(unit: Unit, quote: Quote) -> None:
    quote.status = "PROCESSING"
    transactions.get(unit, quote.transaction_id).status = "PROCESSING"


def _unchallenged(unit: Unit, quote: Quote) -> None:
    action: rules.Action = "EXECUTE"
    quotes.perform(unit, quote, action)


declare("AGT-020", "free", "what an agent executes is not debited", _as_agent(_for_free))
declare(
    "AGT-021",
    "unchallenged",
    "an agent's word is as good as its customer's proof",
    _as_agent(_unchallenged),
)
