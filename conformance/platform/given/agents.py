"""Agents of customers: their credentials, and what they do."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass, field, replace

import httpx

from conformance.contract.relations import amount_of, code_of
from conformance.exchange.answer import Answer
from conformance.platform.given.amounts import usual_amount
from conformance.platform.given.external_accounts import ExternalAccounts
from conformance.platform.given.transactions import Transactions
from conformance.platform.part import Context, Part
from conformance.platform.resource import Body, Json, Resource, owner_of
from conformance.verdict.decisions import (
    PreconditionFailed,
    ResourceMissing,
)

_UNAUTHORIZED = 401
_END = 12


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
        """An agent with a credential that nobody was given, of the same form.

        Only its end differs, where a credential that can be read has its signature.
        """
        kept, end = self.token[:-_END], self.token[-_END:]
        changed = f"{kept}{end[::-1]}"
        return replace(self, token=changed if changed != self.token else f"{changed}x")

    @property
    def nobody(self) -> Agent:
        """An agent with an empty credential."""
        return replace(self, token="")


class Agents(Part):
    """Agents of customers, and payments that they initiate."""

    def __init__(
        self, context: Context, external_accounts: ExternalAccounts, transactions: Transactions
    ) -> None:
        super().__init__(context)
        self._external_accounts = external_accounts
        self._transactions = transactions

    def connect(self, customer: Json) -> Agent:
        """Return an agent of a customer (its ``id`` is enough), with credentials of its own.

        Raises:
            PreconditionFailed: the profile's ``agent.connect`` tells no token.
        """
        token = self._triggers.fire("agent.connect", customerId=customer["id"]).get("token")
        if not isinstance(token, str) or not token:
            raise PreconditionFailed("agent.connect of the profile tells no token")
        agent = Agent(token, self._profile.bindings.agent_headers)
        # A credential that came by a command was not seen by the client yet.
        self._api.client.conceal(token, agent.impostor.token)
        return agent

    def initiate(
        self, source: Json, destination: Json | None = None, *, amount: int | None = None
    ) -> Resource:
        """Let an agent of the source's owner initiate a payout that waits for approval.

        Args:
            source: the internal account.
            destination: the external account; by default a new one of the same customer.
            amount: what is to be paid, in the smallest unit; by default a usual amount.

        Returns:
            ``transactionId``, ``source`` and ``destination`` as in a quote, and
            ``totalSendingAmount`` and ``feesIncluded``, where its transaction shows what it
            takes, and what it brings in the same currency.
        """
        destination = destination or self._external_accounts.account(owner_of(source))
        found = self._triggers.fire(
            "agent.initiate",
            customerId=source["customerId"],
            accountId=source["id"],
            externalAccountId=destination["id"],
            amount=usual_amount(source) if amount is None else amount,
        )
        payment: Body = {
            "transactionId": found["transactionId"],
            "source": {"accountId": source["id"]},
            "destination": {"accountId": destination["id"]},
        }
        transaction = self._transactions.of_quote(payment)
        sent, received = transaction.get("sentAmount"), transaction.get("receivedAmount")
        if (taken := amount_of(sent)) is not None:
            payment["totalSendingAmount"] = fees = taken
            if code_of(sent) == code_of(received) and (brought := amount_of(received)) is not None:
                payment["feesIncluded"] = fees = taken - brought
            name = payment["transactionId"]
            self._ledger.note_transfer(name, name, (source, destination), (taken, 0), fees)
        else:
            # Nobody knows then what the account is left with.
            self._ledger.deposits.pop(source["id"], None)
        return Resource(payment, owner_of(source))


def require_admitted(answer: Answer) -> Answer:
    """Return what an agent was answered.

    Raises:
        ResourceMissing: agents are not let to the operation, or the policy of this one is narrow.
    """
    if not answer.accepted:
        raise ResourceMissing(f"agents are not let to it: {answer}")
    return answer


def expect_credential_taken(answer: Answer) -> None:
    """Assert that the credential of an agent was taken, whatever its policy lets it do.

    Raises:
        ResourceMissing: it was taken, and the policy does not let the agent do this.
    """
    __tracebackhide__ = True
    assert answer.status != _UNAUTHORIZED, answer
    require_admitted(answer)
