"""Agents: they act for their customer, with credentials of their own.

The specification does not say which operations accept agents, and a policy may be narrow: if an
agent may not do something for its own customer, nothing is concluded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import httpx
import pytest

from conformance.exchange.answer import Answer
from conformance.platform.given.agents import (
    Agent,
    expect_credential_taken,
    require_admitted,
)
from conformance.platform.given.customers import verification_status
from conformance.platform.given.verification import submissions_in
from conformance.platform.platform import Platform
from conformance.platform.resource import Json, Resource
from conformance.scenarios.kit.cases import case
from conformance.scenarios.kit.challenges import expect_untouched
from conformance.scenarios.kit.marks import SETTLING, Check, requirement
from conformance.scenarios.quotes.kinds import Kind, quote_body
from conformance.scenarios.quotes.payments import AMOUNT, corridor_from, fund_platform_account
from conformance.verdict.decisions import ResourceMissing

INVALID = 400

Call = Callable[[httpx.Auth | None], Answer]
"""Sends a prepared request, with an agent's credentials, or with the platform's for ``None``."""


@dataclass(frozen=True, slots=True)
class PreparedRequest:
    """A customer, and a prepared request about a resource of this customer."""

    customer: Resource
    call: Call


def read_customer(platform: Platform) -> PreparedRequest:
    """Prepare the reading of a customer."""
    customer = platform.external_accounts.account_holder()
    path = {"customerId": customer["id"]}
    return PreparedRequest(
        customer, lambda auth: platform.api.client.call("getCustomer", path=path, auth=auth)
    )


def list_transactions(platform: Platform) -> PreparedRequest:
    """Prepare a list of transactions."""
    return PreparedRequest(
        platform.external_accounts.account_holder(),
        lambda auth: platform.api.client.call("listTransactions", auth=auth),
    )


def list_internal_accounts(platform: Platform) -> PreparedRequest:
    """Prepare a list of a customer's internal accounts."""
    return list_of_customer(platform, "listCustomerInternalAccounts")


def list_external_accounts(platform: Platform) -> PreparedRequest:
    """Prepare a list of a customer's external accounts."""
    return list_of_customer(platform, "listCustomerExternalAccounts")


def list_of_customer(platform: Platform, operation: str) -> PreparedRequest:
    """Prepare a list of resources of a customer."""
    customer = platform.external_accounts.account_holder()
    query = {"customerId": customer["id"]}
    return PreparedRequest(
        customer, lambda auth: platform.api.client.call(operation, query=query, auth=auth)
    )


def create_quote(platform: Platform) -> PreparedRequest:
    """Prepare the creation of a quote."""
    source = platform.internal_accounts.account()
    body = platform.quotes.body(source)
    return PreparedRequest(
        owner_of(source), lambda auth: platform.api.create_quote(body, auth=auth)
    )


def execute_quote(platform: Platform) -> PreparedRequest:
    """Prepare the execution of a pending quote."""
    source = platform.internal_accounts.account()
    quote = platform.quotes.pending(source)
    return PreparedRequest(
        owner_of(source), lambda auth: platform.api.execute_quote(quote["id"], auth=auth)
    )


PREPARE: Mapping[str, Callable[[Platform], PreparedRequest]] = {
    "getCustomer": read_customer,
    "listTransactions": list_transactions,
    "listCustomerInternalAccounts": list_internal_accounts,
    "listCustomerExternalAccounts": list_external_accounts,
    "createQuote": create_quote,
    "executeQuote": execute_quote,
}


def parameters(**identifiers: str) -> list[object]:
    """Return operations as parameters, each marked with its requirement."""
    return [
        case(identifier, operation, operation, identifier)
        for operation, identifier in identifiers.items()
    ]


def parameters_with_code(**identifiers: str) -> list[object]:
    """Return operations as parameters, each marked with its requirement and that of the code."""
    return [
        case((name, "AGT-040"), operation, operation, name)
        for operation, name in identifiers.items()
    ]


# --- What agents may do ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("operation", "identifier"),
    parameters(
        getCustomer="AGT-001",
        listTransactions="AGT-002",
        listCustomerInternalAccounts="AGT-003",
        listCustomerExternalAccounts="AGT-004",
        createQuote="AGT-005",
        executeQuote="AGT-006",
    ),
)
def test_the_credentials_of_an_agent_are_taken(
    platform: Platform, check: Check, operation: str, identifier: str
) -> None:
    """A request about the agent's own customer is not refused for its credentials."""
    prepared = PREPARE[operation](platform)
    agent = platform.agents.connect(prepared.customer)

    answer = prepared.call(agent)

    with check(identifier):
        expect_credential_taken(answer)


@requirement("AGT-043")
@pytest.mark.parametrize("operation", PREPARE)
def test_the_platform_goes_on_acting_itself(platform: Platform, operation: str) -> None:
    """The platform's HTTP Basic credentials are accepted for a customer who has an agent."""
    prepared = PREPARE[operation](platform)
    platform.agents.connect(prepared.customer)

    answer = prepared.call(None)

    answer.expect_accepted()


# --- Wrong credentials ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("operation", "refused"),
    parameters_with_code(
        getCustomer="AGT-030",
        listTransactions="AGT-031",
        listCustomerInternalAccounts="AGT-032",
        listCustomerExternalAccounts="AGT-033",
        createQuote="AGT-034",
        executeQuote="AGT-035",
    ),
)
def test_a_wrong_credential_is_refused(
    platform: Platform, check: Check, operation: str, refused: str
) -> None:
    """A credential of an agent's form that belongs to no agent is refused with 401 UNAUTHORIZED."""
    prepared = PREPARE[operation](platform)
    agent = platform.agents.connect(prepared.customer)

    refusal = prepared.call(agent.impostor)

    expect_unauthorized(refusal, send_with_right_credential(prepared, agent), check, refused)


@pytest.mark.parametrize(
    ("operation", "refused"),
    parameters_with_code(
        getCustomer="AGT-036",
        listTransactions="AGT-037",
        createQuote="AGT-038",
        executeQuote="AGT-039",
    ),
)
def test_an_empty_credential_is_refused(
    platform: Platform, check: Check, operation: str, refused: str
) -> None:
    """A header that names the scheme alone is refused with 401 UNAUTHORIZED, or with 400.

    It leaves no credential to read: a request in a wrong format, by one reading.
    """
    prepared = PREPARE[operation](platform)
    agent = platform.agents.connect(prepared.customer)

    refusal = prepared.call(agent.nobody)

    twin = send_with_right_credential(prepared, agent)
    if refusal.status == INVALID:
        with check(refused):
            refusal.refused(INVALID, twin=twin)
        with check("AGT-040"):
            raise ResourceMissing(f"it is refused for its format: {refusal}")
        return
    expect_unauthorized(refusal, twin, check, refused)


@requirement("AGT-041")
def test_an_execution_with_a_wrong_credential_debits_nothing(platform: Platform) -> None:
    """The execution is refused, and the balances of the source do not fall."""
    source = platform.internal_accounts.account()
    quote = platform.quotes.pending(source)
    agent = platform.agents.connect(owner_of(source))
    before = platform.internal_accounts.balances(source)

    refusal = platform.api.execute_quote(quote["id"], auth=agent.impostor)

    expect_untouched(platform, source, before)
    refusal.refused(twin=platform.api.execute_quote(quote["id"]))


@requirement("AGT-042")
def test_a_creation_with_a_wrong_credential_leaves_nothing_behind(platform: Platform) -> None:
    """The customer has only the transaction of the quote that the platform created."""
    source = platform.internal_accounts.account()
    customer = owner_of(source)
    body = platform.quotes.body(source)
    agent = platform.agents.connect(customer)
    before = {row["id"] for row in platform.transactions.known_of_customer(customer["id"])}

    refusal = platform.api.create_quote(body, auth=agent.impostor)

    twin = platform.api.create_quote(body)
    refusal.refused(twin=twin)
    platform.transactions.of_quote(twin.body)
    after = {
        row["id"]
        for row in platform.transactions.known_of_customer(customer["id"])
        # A deposit may be a transaction too, and be listed late, but it has no quoteId.
        if row.get("quoteId")
    }
    if twin.body["transactionId"] not in after:
        raise ResourceMissing("transactions do not show their quoteId")
    assert after - before == {twin.body["transactionId"]}


# --- For its customer alone -----------------------------------------------------------------


@requirement("AGT-010", "AGT-011")
def test_an_agent_reads_its_own_customer_alone(platform: Platform, check: Check) -> None:
    """The agent reads its customer, and is refused another customer of the platform."""
    customer, other = (
        platform.external_accounts.account_holder(),
        platform.external_accounts.account_holder(),
    )
    agent = platform.agents.connect(customer)

    own, foreign = (read_as(platform, one, agent) for one in (customer, other))

    with check("AGT-010"):
        assert require_admitted(own).body["id"] == customer["id"], own
    with check("AGT-011"):
        expect_foreign_refused(foreign, own)


@requirement("AGT-012")
def test_an_agent_lists_its_own_transactions_alone(platform: Platform) -> None:
    """The list has no transaction of another customer, even if the agent asks for those."""
    customer, other = (
        platform.external_accounts.account_holder(),
        platform.internal_accounts.account(),
    )
    foreign_transaction = platform.quotes.pending(other)["transactionId"]
    agent = platform.agents.connect(customer)
    name = platform.profile.bindings.transactions_of_customer
    filters: list[Json] = [{}]
    if name:
        filters.append({name: other["customerId"]})

    answers = [
        platform.api.client.call("listTransactions", query=query, auth=agent) for query in filters
    ]

    if not any(answer.accepted for answer in answers):
        raise ResourceMissing(f"agents do not list transactions: {answers[0]}")
    for query, answer in zip(filters, answers, strict=True):
        if answer.accepted:
            rows = platform.api.pages("listTransactions", query, auth=agent)
            assert foreign_transaction not in [row.get("id") for row in rows], answer


@pytest.mark.parametrize(
    "operation",
    [
        case("AGT-013", "internal-accounts", "listCustomerInternalAccounts"),
        case("AGT-014", "external-accounts", "listCustomerExternalAccounts"),
    ],
)
def test_an_agent_is_not_shown_accounts_of_another_customer(
    platform: Platform, operation: str
) -> None:
    """The list for another customer may be refused, but has no account of that customer."""
    customer, other = (
        platform.external_accounts.account_holder(),
        platform.internal_accounts.account(amount=0),
    )
    account = platform.external_accounts.account(other.owner)
    agent = platform.agents.connect(customer)

    answer = list_accounts_as(platform, operation, other["customerId"], agent)

    if answer.accepted:
        rows = platform.api.pages(operation, {"customerId": other["customerId"]}, auth=agent)
        assert not {row.get("id") for row in rows} & {other["id"], account["id"]}, answer
    require_admitted(list_accounts_as(platform, operation, customer["id"], agent))


@requirement("AGT-053")
def test_an_agent_is_not_shown_verifications_of_another_customer(platform: Platform) -> None:
    """What is answered about another customer's submission does not show it.

    An agent may have to do without the verifications of its own customer too.
    """
    reviews = platform.verification.reviews
    customer, other = reviews.prepared(), reviews.prepared()
    own, foreign = (reviews.submission(one) for one in (customer, other))
    agent = platform.agents.connect(customer)

    answers = [
        platform.api.client.call("listVerifications", query={"customerId": one["id"]}, auth=agent)
        for one in (other, customer)
    ]

    if answers[0].accepted:
        shown = {row.get("id") for row in submissions_in(answers[0].body)}
        assert foreign["id"] not in shown, answers[0]
    if not answers[1].accepted or own["id"] not in {
        row.get("id") for row in submissions_in(answers[1].body)
    }:
        raise ResourceMissing(f"agents are shown no verifications: {answers[1]}")


@requirement("AGT-022")
def test_agents_of_two_customers_are_shown_different_accounts(platform: Platform) -> None:
    """The lists of internal accounts that two agents get have no account in common."""
    account_ids = []
    for account in (
        platform.internal_accounts.account(amount=0),
        platform.internal_accounts.account(amount=0),
    ):
        agent = platform.agents.connect(owner_of(account))
        operation = "listCustomerInternalAccounts"
        require_admitted(list_accounts_as(platform, operation, account["customerId"], agent))
        rows = platform.api.pages(operation, {"customerId": account["customerId"]}, auth=agent)
        account_ids.append({row.get("id") for row in rows})
    if not all(account_ids):
        raise ResourceMissing("an agent is shown no account of its customer")

    assert not account_ids[0] & account_ids[1]


@requirement("AGT-027")
def test_an_agent_is_not_shown_the_platforms_accounts(platform: Platform) -> None:
    """The list may be refused, or be empty, but has none of the accounts that the platform sees."""
    account_ids = {account["id"] for account in platform.internal_accounts.of_platform()}
    if not account_ids:
        raise ResourceMissing("the platform has no internal account")
    customer = platform.approved.customer()
    agent = platform.agents.connect(customer)

    answer = platform.api.client.call("listPlatformInternalAccounts", auth=agent)

    if answer.accepted:
        rows = platform.api.pages("listPlatformInternalAccounts", auth=agent)
        assert not {row.get("id") for row in rows} & account_ids, answer
    require_admitted(
        list_accounts_as(platform, "listCustomerInternalAccounts", customer["id"], agent)
    )


@requirement("AGT-015")
def test_an_agent_quotes_from_no_account_of_another_customer(platform: Platform) -> None:
    """The agent creates a quote from its customer's account, and is refused those from another's.

    They go to an external account of either customer, as one of these may be in the way by itself.
    """
    source, foreign_account = (
        platform.internal_accounts.account(),
        platform.internal_accounts.account(),
    )
    external_account, foreign_external_account = (
        platform.external_accounts.account(owner_of(account))
        for account in (source, foreign_account)
    )
    agent = platform.agents.connect(owner_of(source))
    own = platform.api.create_quote(platform.quotes.body(source, external_account), auth=agent)

    refusals = [
        platform.api.create_quote(platform.quotes.body(foreign_account, to), auth=agent)
        for to in (external_account, foreign_external_account)
    ]

    for refusal in refusals:
        expect_foreign_refused(refusal, own)


@requirement("AGT-015")
@pytest.mark.parametrize("kind", ["immediate", "pulled", "real-time"])
def test_no_kind_of_quote_lets_an_agent_pay_for_another_customer(
    platform: Platform, kind: Kind
) -> None:
    """An immediate, a pulled or a real-time funded quote that another customer pays is refused."""
    customer, other = (platform.approved.customer() for _ in range(2))
    destination = platform.external_accounts.account(customer)
    bodies = [quote_body(platform, kind, payer, destination) for payer in (customer, other)]
    agent = platform.agents.connect(customer)

    own, refusal = (platform.api.create_quote(body, auth=agent) for body in bodies)

    expect_foreign_refused(refusal, own)


@requirement("AGT-028")
def test_an_agent_quotes_from_no_account_of_the_platform(platform: Platform) -> None:
    """A quote that the platform gets from its own account is refused to an agent."""
    source = fund_platform_account(platform)
    customer = platform.approved.customer()
    agent = platform.agents.connect(customer)
    corridor = corridor_from(platform, source)
    destination = platform.external_accounts.account(customer, corridor.account)
    body = platform.quotes.body(source, destination, amount=AMOUNT)
    own = platform.api.create_quote(body)

    refusal = platform.api.create_quote(body, auth=agent)

    expect_foreign_refused(refusal, own)


@requirement("AGT-023")
def test_an_agent_reads_no_external_account_of_another_customer(platform: Platform) -> None:
    """The agent reads an external account of its customer, and is refused another customer's."""
    customer, other = (platform.external_accounts.account_holder() for _ in range(2))
    account, foreign_account = (
        platform.external_accounts.account(owner) for owner in (customer, other)
    )
    agent = platform.agents.connect(customer)

    refusal, own = (
        platform.api.get_external_account(one["id"], auth=agent)
        for one in (foreign_account, account)
    )

    expect_foreign_refused(refusal, own)


@requirement("AGT-016", "AGT-017")
def test_an_agent_executes_no_quote_of_another_customer(platform: Platform, check: Check) -> None:
    """The execution is refused, and the balances of the other customer's account do not fall."""
    source, foreign_account = (
        platform.internal_accounts.account(),
        platform.internal_accounts.account(),
    )
    quote = platform.quotes.pending(foreign_account)
    before = platform.internal_accounts.balances(foreign_account)
    agent = platform.agents.connect(owner_of(source))
    own = platform.api.execute_quote(platform.quotes.pending(source)["id"], auth=agent)

    refusal = platform.api.execute_quote(quote["id"], auth=agent)

    with check("AGT-017"):
        expect_untouched(platform, foreign_account, before)
        require_admitted(own)
    with check("AGT-016"):
        expect_foreign_refused(refusal, own)


@requirement("AGT-024", "AGT-025", "AGT-026")
def test_an_agent_changes_nothing_of_another_customer(platform: Platform, check: Check) -> None:
    """Its requests, however they are answered, leave another customer and the accounts as they are.

    It gives the customer another name, creates an external account and deletes one.
    """
    customer, other = (platform.external_accounts.account_holder() for _ in range(2))
    account = platform.external_accounts.account(other)
    agent = platform.agents.connect(customer)
    before = platform.customers.read(other)
    known = {row["id"] for row in platform.external_accounts.of_customer(other)}
    body = platform.external_accounts.body(other)

    call = partial(platform.api.client.call, auth=agent)
    path = {"customerId": other["id"]}
    update = call("updateCustomer", path=path, body={"fullName": "Rosalind Achterberg"})
    creation = call("createExternalAccount", body=body)
    deletion = call("deleteExternalAccount", path={"externalAccountId": account["id"]})

    with check("AGT-024"):
        assert platform.customers.read(other).get("fullName") == before.get("fullName"), update
    with check("AGT-025"):
        platform.api.get_external_account(account["id"]).expect_accepted()
    with check("AGT-026"):
        rows = platform.external_accounts.of_customer(other)
        assert {row["id"] for row in rows} <= known, creation
    for answer in (update, creation, deletion):
        if answer.accepted:
            platform.observe(f"what an agent asks of another customer is taken: {answer}")


@requirement("AGT-840", "AGT-841")
def test_an_agent_takes_no_other_customer_to_a_review(platform: Platform, check: Check) -> None:
    """Another customer stays UNVERIFIED after its submission, and the agent gets no link for it."""
    customer, other = (
        platform.external_accounts.account_holder(),
        platform.verification.reviews.prepared(),
    )
    agent = platform.agents.connect(customer)

    link = platform.verification.links.create(other, auth=agent)
    submission = platform.api.create_verification({"customerId": other["id"]}, auth=agent)

    with check("AGT-841"):
        shown = link.body if isinstance(link.body, Mapping) else {}
        assert "kycUrl" not in shown, f"an agent gets a link of another customer: {link}"
    with check("AGT-840"):
        status = verification_status(platform.customers.read(other))
        assert status == "UNVERIFIED", f"{status} after {submission}"


# --- What it moves --------------------------------------------------------------------------


@requirement("AGT-018", "AGT-019")
def test_a_quote_of_an_agent_is_its_customers(platform: Platform, check: Check) -> None:
    """The quote has the source that was sent, and its transaction is listed for the customer."""
    source = platform.internal_accounts.account()
    agent = platform.agents.connect(owner_of(source))

    quote = require_admitted(
        platform.api.create_quote(platform.quotes.body(source), auth=agent)
    ).body

    with check("AGT-019"):
        assert quote["source"]["accountId"] == source["id"], quote
    with check("AGT-018"):
        transaction_id = quote["transactionId"]
        listed_ids = platform.until(
            lambda: transaction_ids(platform, owner_of(source)), lambda ids: transaction_id in ids
        )
        assert transaction_id in listed_ids


@requirement("AGT-020")
def test_what_an_agent_executes_is_debited(platform: Platform) -> None:
    """A quote that an agent executes without an approval debits its ``totalSendingAmount``."""
    source = platform.internal_accounts.account()
    quote = platform.quotes.pending(source)
    agent = platform.agents.connect(owner_of(source))
    before, _ = platform.internal_accounts.balances(source)

    execution = require_admitted(platform.api.execute_quote(quote["id"], auth=agent))

    if execution.body["status"] not in SETTLING:
        raise ResourceMissing(f"what an agent executes waits: {execution}")
    if platform.transactions.of_quote(quote).get("status") == "PENDING":
        raise ResourceMissing("what an agent executes waits for its approval as a transaction")
    remaining = before - quote["totalSendingAmount"]
    assert platform.internal_accounts.wait_for_balance(source, remaining) == remaining


@requirement("AGT-021")
def test_an_agent_does_not_stand_in_for_the_proof_of_its_customer(platform: Platform) -> None:
    """An execution by an agent settles no quote of a customer who still has to prove it."""
    source = platform.sca.account()
    quote = platform.quotes.pending(source)
    agent = platform.agents.connect(owner_of(source))

    execution = require_admitted(platform.api.execute_quote(quote["id"], auth=agent))

    assert execution.body["status"] not in SETTLING, execution
    assert platform.transactions.of_quote(quote)["status"] not in SETTLING


def expect_foreign_refused(answer: Answer, own: Answer) -> None:
    """Assert that an agent was refused what is another customer's.

    Args:
        answer: the answer about the other customer.
        own: the answer about the agent's own one.

    Raises:
        ResourceMissing: it was refused, and so was the same about the agent's own customer.
    """
    __tracebackhide__ = True
    if not answer.accepted:
        require_admitted(own)
    answer.refused(twin=own)


def expect_unauthorized(refusal: Answer, twin: Answer, check: Check, refused: str) -> None:
    """Decide the requirement ``refused`` by the status 401, and that of the code by the code."""
    __tracebackhide__ = True
    with check(refused):
        refusal.refused(401, twin=twin)
    with check("AGT-040"):
        refusal.refused("UNAUTHORIZED", twin=twin)


def send_with_right_credential(prepared: PreparedRequest, agent: Agent) -> Answer:
    """Return the answer to a request with the agent's credential, or else with the platform's."""
    answer = prepared.call(agent)
    return answer if answer.accepted else prepared.call(None)


def owner_of(account: Resource) -> Resource:
    """Return the customer who owns an internal account."""
    return account.owner


def read_as(platform: Platform, customer: Resource, auth: httpx.Auth) -> Answer:
    """Read a customer."""
    path = {"customerId": customer["id"]}
    return platform.api.client.call("getCustomer", path=path, auth=auth)


def list_accounts_as(
    platform: Platform, operation: str, customer_id: str, auth: httpx.Auth
) -> Answer:
    """List accounts of a customer."""
    return platform.api.client.call(operation, query={"customerId": customer_id}, auth=auth)


def transaction_ids(platform: Platform, customer: Resource) -> set[str]:
    """Return the ids of the transactions that are listed for a customer.

    Raises:
        ResourceMissing: transactions cannot be filtered by customer.
    """
    if platform.profile.bindings.transactions_of_customer is None:
        raise ResourceMissing("bindings.transactions_of_customer of the profile names no filter")
    return {row["id"] for row in platform.transactions.of_customer(customer["id"])}
