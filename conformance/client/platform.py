"""The suite in the part of a platform: verbs send a request, nouns arrange a resource."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from conformance.client.actor import Json, filled, resource
from conformance.client.cards import Cards
from conformance.client.configuration import Configuration
from conformance.client.embedded_wallets import EmbeddedWallets
from conformance.client.factor_resets import FactorResets
from conformance.client.http import Answer
from conformance.client.rule_based import RuleBasedAccounts
from conformance.client.stablecoins import Stablecoins
from conformance.client.transfers import Transfers
from conformance.verdict.decisions import FeatureUndeclared, PreconditionFailed

FAILED = ("FAILED", "REFUND_PENDING", "REFUND_COMPLETED", "REFUND_FAILED", "REFUNDED")
"""What the transaction of a failed payout may say: that it failed, or how its refund stands."""

_MOST_CHALLENGES = 5


class Platform(
    RuleBasedAccounts, Cards, Configuration, Transfers, EmbeddedWallets, FactorResets, Stablecoins
):
    """Acts on the target as a platform would: on its customers, accounts, quotes, transactions."""

    def create_quote(
        self, body: Json, *, valid: bool = True, headers: Mapping[str, str] | None = None
    ) -> Answer:
        """Send ``POST /quotes``."""
        answer = self.client.call("createQuote", body=body, valid=valid, headers=headers)
        if answer.accepted and isinstance(answer.body, dict) and "id" in answer.body:
            self.movement.quotes[answer.body["id"]] = answer.body
        return answer

    def execute(self, quote: Json, *, headers: Mapping[str, str] | None = None) -> Answer:
        """Send ``POST /quotes/{quoteId}/execute``."""
        return self.client.call("executeQuote", path={"quoteId": quote["id"]}, headers=headers)

    def authorize(self, quote: Json, proof: Json | None = None, *, valid: bool = True) -> Answer:
        """Send ``POST /quotes/{quoteId}/authorize``, by default with the right proof."""
        body = self.proof_for(quote) if proof is None else proof
        return self.client.call(
            "authorizeQuote", path={"quoteId": quote["id"]}, body=body, valid=valid
        )

    def proof(self, factor: Any) -> Json | None:
        """Return the right proof by a factor, as the bindings shape it, if they do."""
        shape = self.profile.bindings.sca_proofs.get(str(factor))
        if shape is None:
            return None
        words = {"{code}": self.profile.bindings.sca_code, "{origin}": self.client.origin}
        proof: Json = filled(shape, words)
        return proof

    def proof_for(self, quote: Json) -> Json:
        """Return the right proof for the challenge that a quote carries: a code by default."""
        challenge = quote.get("scaChallenge")
        factor = challenge.get("factor") if isinstance(challenge, dict) else None
        return self.proof(factor) or {"code": self.profile.bindings.sca_code}

    def authorize_fully(self, quote: Json) -> Answer:
        """Bring proof after proof until none is asked for any more; return the last answer."""
        answer = self.authorize(quote)
        for _ in range(_MOST_CHALLENGES):
            if not answer.accepted or answer.body.get("status") != "PENDING_AUTHORIZATION":
                break
            answer = self.authorize({**quote, **answer.body})
        return answer

    def list_transactions(self, *, valid: bool = True, **filters: Any) -> Answer:
        """Send ``GET /transactions`` with ``filters`` as its query."""
        return self.client.call("listTransactions", query=filters, valid=valid)

    def approve(self, transaction_id: str) -> Answer:
        """Send ``POST /transactions/{transactionId}/approve``."""
        return self.client.call("approveTransaction", path={"transactionId": transaction_id})

    def transfer(self, body: Json) -> list[Answer]:
        """Create a quote and, if it is accepted, execute it; return the answer of each step."""
        created = self.create_quote(body)
        return [created, self.execute(created.body)] if created.accepted else [created]

    def quote_body(
        self,
        source: Json | None = None,
        destination: Json | None = None,
        *,
        side: str = "SENDING",
        amount: int = 10_000,
        **members: Any,
    ) -> Json:
        """Return the body of a quote from an internal account to an account.

        Args:
            source: the internal account; by default a new customer's, with 100 000 deposited.
            destination: the receiving account; by default an external one of the same customer.
            side: ``lockedCurrencySide``.
            amount: ``lockedCurrencyAmount`` in the smallest unit.
            members: further members of the body.
        """
        source = source or self.account()
        destination = destination or self.destination({"id": source["customerId"]})
        return {
            "source": {"sourceType": "ACCOUNT", "accountId": source["id"]},
            "destination": {"destinationType": "ACCOUNT", "accountId": destination["id"]},
            "lockedCurrencySide": side,
            "lockedCurrencyAmount": amount,
            **members,
        }

    def quote(
        self, source: Json | None = None, destination: Json | None = None, **members: Any
    ) -> Json:
        """Create a quote; the arguments are those of :meth:`quote_body`."""
        return resource(self.create_quote(self.quote_body(source, destination, **members)))

    def realtime_quote_body(
        self,
        customer: Json | None = None,
        destination: Json | None = None,
        *,
        currency: str | None = None,
        **members: Any,
    ) -> Json:
        """Return the body of a quote that a payment of the customer funds just in time.

        Args:
            customer: who pays; a new one by default.
            destination: the receiving account; by default an external one of the same customer.
            currency: that of the payment, by default ``resources.realtime_currency``.
            members: further members of the body.
        """
        if not self.profile.features.realtime_funding:
            raise FeatureUndeclared("the profile does not declare features.realtime_funding")
        owner = customer or self.customer()
        return {
            "source": {
                "sourceType": "REALTIME_FUNDING",
                "customerId": owner["id"],
                "currency": currency or self.profile.resources.realtime_currency,
            },
            "destination": {
                "destinationType": "ACCOUNT",
                "accountId": (destination or self.destination(owner))["id"],
            },
            "lockedCurrencySide": "SENDING",
            "lockedCurrencyAmount": 10_000,
            **members,
        }

    def realtime_quote(self, customer: Json | None = None, **members: Any) -> Json:
        """Create a quote that is funded just in time."""
        return resource(self.create_quote(self.realtime_quote_body(customer, **members)))

    def executed(self, quote: Json | None = None) -> Json:
        """Execute a quote (by default a new one) and return it as the execution returned it."""
        return resource(self.execute(quote or self.quote()))

    def completed(self, quote: Json | None = None) -> Json:
        """Execute a quote (by default a new one), wait for its payout, return it as executed."""
        executed = self.executed(quote)
        status = self.transaction_in(executed, "COMPLETED").get("status")
        if status != "COMPLETED":
            raise PreconditionFailed(f"the payout did not complete: its transaction is {status}")
        return executed

    def payout(
        self,
        source: Json | None = None,
        *,
        account: str | None = None,
        fate: str | None = None,
        **members: Any,
    ) -> Json:
        """Execute a new quote to a new external account, and return it as it was created.

        Args:
            source: the internal account; by default a new customer's, with 100 000 deposited.
            account: the external account's file of ``fixtures/accounts``; that of the usual
                corridor by default.
            fate: a trigger that decides what becomes of the payout.
            members: further arguments of :meth:`quote_body`.
        """
        source = source or self.account()
        destination = self.destination({"id": source["customerId"]}, account, fate=fate)
        quote = self.quote(source, destination, **members)
        self.executed(quote)
        return quote

    def initiated(self, source: Json, *, amount: int = 10_000) -> Json:
        """Let an agent of the source's owner initiate a payout that waits for approval.

        Returns:
            ``transactionId``, ``source`` and ``destination`` as in a quote.
        """
        destination = self.destination({"id": source["customerId"]})
        found = self.cause(
            "agent.initiate",
            customerId=source["customerId"],
            accountId=source["id"],
            externalAccountId=destination["id"],
            amount=amount,
        )
        payment = {
            "transactionId": found["transactionId"],
            "source": {"accountId": source["id"]},
            "destination": {"accountId": destination["id"]},
        }
        sent = self.transaction(payment).get("sentAmount")
        if isinstance(sent, dict):
            amounts = {"totalSendingAmount": sent["amount"], "totalReceivingAmount": 0}
            self.movement.quotes[payment["transactionId"]] = {**payment, **amounts}
        return payment

    def sca_account(self) -> Json:
        """Return an internal account, with a deposit, of a new customer who needs SCA."""
        return self.account(customer=self.sca_customer())

    def challenged(
        self, customer: Json | None = None, *, source: Json | None = None, **members: Any
    ) -> Json:
        """Return an executed quote that waits for its customer's authorization.

        Args:
            customer: the owner of a new source; by default a new customer who needs SCA.
            source: the internal account, in place of a new one.
            members: further arguments of :meth:`quote_body`.
        """
        source = source or self.account(customer=customer or self.sca_customer())
        executed = self.executed(self.quote(source, **members))
        if executed.get("status") != "PENDING_AUTHORIZATION":
            raise PreconditionFailed(
                f"the quote of a customer of an SCA region was executed to {executed.get('status')}"
            )
        return executed

    def authorized(self, quote: Json) -> Json:
        """Satisfy the challenges of a quote one after the other, and return it as it is then."""
        authorized = resource(self.authorize_fully(quote))
        if authorized.get("status") == "PENDING_AUTHORIZATION":
            raise PreconditionFailed("each valid proof was followed by another challenge")
        return authorized

    def transactions(self, customer_id: str | None = None, **filters: Any) -> Iterator[Json]:
        """Return the listed transactions, page after page."""
        names = self.profile.bindings
        query = self.large_pages
        if names.transactions_of_customer and customer_id:
            query[names.transactions_of_customer] = customer_id
        return self.pages("listTransactions", **{**query, **filters})

    def transaction(self, quote: Json) -> Json:
        """Return the transaction of a quote as it stands now, once it is listed."""
        wanted = quote["transactionId"]
        owner = self._owner(quote)

        def listed() -> Json | None:
            return next((t for t in self.transactions(owner) if t.get("id") == wanted), None)

        transaction = self.until(listed, lambda found: found is not None)
        if transaction is None:
            raise PreconditionFailed(f"GET /transactions does not list {wanted}")
        return transaction

    def transaction_in(self, quote: Json, *statuses: str) -> Json:
        """Return the transaction of a quote once its status is one of ``statuses``.

        After ``timing.state`` of the profile it is returned as it is then.
        """
        return self.until(
            lambda: self.transaction(quote), lambda seen: seen.get("status") in statuses
        )

    def failed(self, quote: Json) -> Json:
        """Return the transaction of a quote once it has failed, whether refunded yet or not."""
        return self.transaction_in(quote, *FAILED)

    def refunding(self, quote: Json) -> Json:
        """Return the transaction of a quote once it has a refund."""
        return self.until(
            lambda: self.transaction(quote), lambda seen: isinstance(seen.get("refund"), dict)
        )

    def refunded(self, quote: Json) -> Json:
        """Return the transaction of a quote once its refund no longer says that it is pending."""
        return self.until(lambda: self.transaction(quote), _refund_is_over)

    def _owner(self, quote: Json) -> str | None:
        source = quote.get("source", {})
        account = self.movement.accounts.get(source.get("accountId", ""), {})
        owner = account.get("customerId") or source.get("customerId")
        return owner if isinstance(owner, str) else None


def _refund_is_over(transaction: Json) -> bool:
    refund = transaction.get("refund")
    return isinstance(refund, dict) and "PENDING" not in str(refund.get("status")).upper()
