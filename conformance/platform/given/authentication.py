"""Strong customer authentication: challenges of quotes and their proofs."""

from __future__ import annotations

import json
from typing import Any

from conformance.exchange.answer import Answer
from conformance.platform.given.approved import ApprovedCustomers
from conformance.platform.given.internal_accounts import InternalAccounts
from conformance.platform.given.logins import Logins
from conformance.platform.given.quotes import Quotes
from conformance.platform.part import Context, Part
from conformance.platform.resource import (
    Body,
    Json,
    Resource,
    arranged_resource,
    fill_template,
)
from conformance.verdict.decisions import (
    PreconditionFailed,
    ResourceMissing,
)

MAX_CHALLENGES = 5
_CODE_ALONE = {"code": "{code}"}
"""The proof by a factor of which the profile says nothing."""


class StrongAuthentication(Part):
    """Quotes that wait for a proof of their customer, and the proofs."""

    def __init__(
        self,
        context: Context,
        approved: ApprovedCustomers,
        internal_accounts: InternalAccounts,
        quotes: Quotes,
        logins: Logins,
    ) -> None:
        super().__init__(context)
        self._approved = approved
        self._logins = logins
        self._internal_accounts = internal_accounts
        self._quotes = quotes

    def send_proof(self, quote: Json, proof: Json | None = None, *, valid: bool = True) -> Answer:
        """Send ``POST /quotes/{quoteId}/authorize``, by default with the right proof.

        A customer who has not logged in yet may have to do so first.

        Raises:
            ResourceMissing: the profile does not say which proof that is, and another one is.
        """
        body = self.proof_for(quote) if proof is None else proof
        answer = self._logins.in_session(
            self._payer_of(quote),
            lambda: self._api.authorize_quote(quote["id"], body, valid=valid),
        )
        if proof is None and self._is_guessed(quote) and not answer.accepted:
            raise ResourceMissing(
                "the profile has no bindings.sca_code and maps no sca.code, and the usual code is "
                f"refused: {answer}"
            )
        return answer

    def _payer_of(self, quote: Json) -> str | None:
        """Return the id of the customer who pays by a quote, where it or its request tells it."""
        source = quote.get("source")
        told = source if isinstance(source, dict) else {}
        account = self._ledger.accounts.get(str(told.get("accountId")))
        shown: str | None = (account or told).get("customerId")
        return shown or self._ledger.payers.get(str(quote.get("id")))

    def proof(self, quote: Json, factor: Any) -> Body | None:
        """Return the right proof by a factor for a quote, as the bindings shape it, if they do."""
        shape = self._profile.bindings.sca_proofs.get(str(factor))
        if shape is None:
            return None
        words = {"{origin}": self._api.client.origin}
        if _has_code(shape):
            words["{code}"] = self._code_for(quote)
        proof: Body = fill_template(shape, words)
        return proof

    def _code_for(self, quote: Json) -> str:
        challenge = quote.get("scaChallenge")
        told = challenge if isinstance(challenge, dict) else {}
        return self._logins.codes.of_challenge(self._payer_of(quote), told.get("id"))

    def proof_for(self, quote: Json) -> Body:
        """Return the right proof for the challenge that a quote carries: a code by default."""
        return self.proof(quote, _factor(quote)) or {"code": self._code_for(quote)}

    def _is_guessed(self, quote: Json) -> bool:
        """Return whether the profile says neither the right proof for a challenge nor its code."""
        names = self._profile.bindings
        if self._logins.codes.says_challenge:
            return False
        shape = names.sca_proofs.get(str(_factor(quote)), _CODE_ALONE)
        return "sca_proofs" not in names.model_fields_set or _has_code(shape)

    def authorize_fully(self, quote: Json) -> Answer:
        """Bring proof after proof until none is asked for any more; return the last answer."""
        answer = self.send_proof(quote)
        for _ in range(MAX_CHALLENGES):
            if not answer.accepted or answer.body.get("status") != "PENDING_AUTHORIZATION":
                break
            answer = self.send_proof({**quote, **answer.body})
        return answer

    def account(self) -> Resource:
        """Return an internal account, with a deposit, of a new customer who needs SCA."""
        return self._internal_accounts.account(customer=self._approved.sca_customer())

    def challenged(
        self, customer: Json | None = None, *, source: Json | None = None, **members: Any
    ) -> Resource:
        """Return an executed quote that waits for its customer's authorization.

        Args:
            customer: the owner of a new source; by default a new customer who needs SCA.
            source: the internal account, in place of a new one.
            members: further arguments of :meth:`Quotes.body`.
        """
        source = source or self._internal_accounts.account(
            customer=customer or self._approved.sca_customer()
        )
        executed = self._quotes.execute(self._quotes.pending(source, **members))
        if executed.get("status") != "PENDING_AUTHORIZATION":
            raise PreconditionFailed(
                f"the quote of a customer of an SCA region was executed to "
                f"{executed.get('status')}",
                breaks=["QUO-180"],
            )
        return executed

    def authorize(self, quote: Json) -> Resource:
        """Satisfy the challenges of a quote one after the other, and return it as it is then."""
        authorized = arranged_resource(self.authorize_fully(quote))
        if authorized.get("status") == "PENDING_AUTHORIZATION":
            raise PreconditionFailed("each valid proof was followed by another challenge")
        return authorized


def _has_code(shape: Any) -> bool:
    return "{code}" in json.dumps(shape)


def _factor(quote: Json) -> Any:
    """Return the factor that the challenge of a quote asks for, if it names one."""
    challenge = quote.get("scaChallenge")
    return challenge.get("factor") if isinstance(challenge, dict) else None
