"""Agents of customers: their credentials, and calls that are made with them."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass, field, replace

import httpx

from conformance.client.actor import Json
from conformance.client.http import Answer
from conformance.client.platform import Platform
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing

_UNAUTHORIZED = 401


@dataclass(frozen=True, slots=True)
class Agent(httpx.Auth):
    """Signs requests with the credential of an agent, as the profile sends it."""

    token: str = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        """Add the headers that carry the credential."""
        for name, value in self.headers.items():
            request.headers[name] = value.replace("{token}", self.token).strip()
        yield request

    @property
    def impostor(self) -> Agent:
        """An agent with a credential that nobody was given."""
        changed = self.token[::-1]
        return replace(self, token=changed if changed != self.token else f"{changed}x")

    @property
    def nobody(self) -> Agent:
        """An agent with an empty credential."""
        return replace(self, token="")


def agent_of(platform: Platform, customer: Json) -> Agent:
    """Return an agent of a customer (its ``id`` is enough), with credentials of its own.

    Raises:
        PreconditionFailed: the profile's ``agent.connect`` tells no token.
    """
    token = platform.cause("agent.connect", customerId=customer["id"]).get("token")
    if not isinstance(token, str) or not token:
        raise PreconditionFailed("agent.connect of the profile tells no token")
    agent = Agent(token, platform.profile.bindings.agent_headers)
    # A credential that came by a command was not seen by the client yet.
    platform.client.conceal(token, agent.impostor.token)
    return agent


def quoted_by(platform: Platform, agent: httpx.Auth | None, body: Json) -> Answer:
    """Create a quote with the credentials of an agent, or (``None``) of the platform."""
    answer = platform.client.call("createQuote", body=body, auth=agent)
    if answer.accepted and isinstance(answer.body, dict) and "id" in answer.body:
        platform.movement.quotes[answer.body["id"]] = answer.body
    return answer


def executed_by(platform: Platform, agent: httpx.Auth | None, quote: Json) -> Answer:
    """Execute a quote with the credentials of an agent, or (``None``) of the platform."""
    return platform.client.call("executeQuote", path={"quoteId": quote["id"]}, auth=agent)


def let(answer: Answer) -> Answer:
    """Return what an agent was answered.

    Raises:
        ResourceMissing: agents are not let to the operation, or the policy of this one is narrow.
    """
    if not answer.accepted:
        raise ResourceMissing(f"agents are not let to it: {answer}")
    return answer


def taken(answer: Answer) -> None:
    """Assert that the credential of an agent was taken, whatever its policy lets it do.

    Raises:
        ResourceMissing: it was taken, and the policy does not let the agent do this.
    """
    __tracebackhide__ = True
    assert answer.status != _UNAUTHORIZED, answer
    let(answer)
