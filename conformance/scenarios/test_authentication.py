"""HTTP Basic credentials: without the right ones nothing is answered and nothing moves."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import httpx
import pytest

from conformance.client.http import Answer
from conformance.client.platform import Platform
from conformance.scenarios.marks import Check, requirement

Call = Callable[[httpx.Auth | None], Answer]
"""Sends one prepared request, with the credentials given or (``None``) the platform's own."""

ANONYMOUS = httpx.Auth()


def create(platform: Platform) -> Call:
    """Prepare the creation of a quote."""
    body = platform.quote_body()
    return lambda auth: platform.client.call("createQuote", body=body, auth=auth)


def execute(platform: Platform) -> Call:
    """Prepare the execution of a pending quote."""
    path = {"quoteId": platform.quote()["id"]}
    return lambda auth: platform.client.call("executeQuote", path=path, auth=auth)


def authorize(platform: Platform) -> Call:
    """Prepare the authorization of a quote that waits for it."""
    quote = platform.challenged()
    path, proof = {"quoteId": quote["id"]}, platform.proof_for(quote)
    return lambda auth: platform.client.call("authorizeQuote", path=path, body=proof, auth=auth)


def list_transactions(platform: Platform) -> Call:
    """Prepare the list of transactions."""
    return lambda auth: platform.client.call("listTransactions", auth=auth)


def approve(platform: Platform) -> Call:
    """Prepare the approval of a transaction that an agent initiated."""
    source = platform.account()
    initiated = platform.cause(
        "agent.initiate",
        customerId=source["customerId"],
        accountId=source["id"],
        externalAccountId=platform.destination({"id": source["customerId"]})["id"],
        amount=10_000,
    )
    return lambda auth: platform.client.call("approveTransaction", path=initiated, auth=auth)


PREPARE: Mapping[str, Callable[[Platform], Call]] = {
    "createQuote": create,
    "executeQuote": execute,
    "authorizeQuote": authorize,
    "listTransactions": list_transactions,
    "approveTransaction": approve,
}


def rows(*identifiers: str) -> list[object]:
    """Return the operations as parameters, each deciding one of ``identifiers`` and the code."""
    return [
        pytest.param(name, refused, marks=requirement(refused, "AUT-011"), id=name)
        for name, refused in zip(PREPARE, identifiers, strict=True)
    ]


@pytest.mark.parametrize(
    ("operation", "refused"), rows("AUT-001", "AUT-002", "AUT-003", "AUT-004", "AUT-005")
)
def test_a_request_without_credentials_is_refused(
    platform: Platform, check: Check, operation: str, refused: str
) -> None:
    """The same request with the platform's credentials is accepted."""
    call = PREPARE[operation](platform)

    refusal, twin = call(ANONYMOUS), call(None)

    decide(check, refused, refusal, twin)


@pytest.mark.parametrize(
    ("operation", "refused"), rows("AUT-006", "AUT-007", "AUT-008", "AUT-009", "AUT-010")
)
def test_a_request_with_a_wrong_secret_is_refused(
    platform: Platform, check: Check, operation: str, refused: str
) -> None:
    """The API token id alone proves nothing."""
    call = PREPARE[operation](platform)

    refusal, twin = call(platform.client.credentials(client_secret="wrong")), call(None)  # noqa: S106

    decide(check, refused, refusal, twin)


@requirement("AUT-013")
@pytest.mark.parametrize("operation", PREPARE)
def test_the_credentials_of_the_platform_are_accepted(platform: Platform, operation: str) -> None:
    """HTTP Basic is the scheme of every operation."""
    answer = PREPARE[operation](platform)(None)

    assert answer.accepted, answer


@requirement("AUT-012")
def test_an_unknown_token_id_is_refused(platform: Platform) -> None:
    """A secret belongs to its token."""
    call = list_transactions(platform)

    refusal = call(platform.client.credentials(token_id=platform.samples.reference()))

    refusal.refused(401, twin=call(None))


@requirement("AUT-018")
def test_an_execution_refused_for_its_credentials_debits_nothing(platform: Platform) -> None:
    """The credentials are looked at first."""
    source = platform.account()
    quote = platform.quote(source)
    before, _ = platform.balances(source)

    refusal = platform.client.call("executeQuote", path={"quoteId": quote["id"]}, auth=ANONYMOUS)

    assert platform.balances(source)[0] == before
    refusal.refused(twin=platform.execute(quote))


def decide(check: Check, refused: str, refusal: Answer, twin: Answer) -> None:
    """Decide by a request with other credentials, and its twin, how they are refused."""
    with check(refused):
        refusal.refused(401, twin=twin)
    with check("AUT-011"):
        refusal.refused("UNAUTHORIZED", twin=twin)
