"""Transactions as they are listed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from conformance.platform.part import Part
from conformance.platform.resource import (
    Body,
    Json,
    Resource,
)
from conformance.verdict.decisions import (
    PreconditionFailed,
)

FAILED = ("FAILED", "REFUND_PENDING", "REFUND_COMPLETED", "REFUND_FAILED", "REFUNDED")
"""What the transaction of a failed payout may say: that it failed, or how its refund stands."""


class Transactions(Part):
    """Transactions, and those of quotes at each of their statuses."""

    def of_customer(self, customer_id: str | None = None, **filters: Any) -> Iterator[Body]:
        """Return the listed transactions, page after page."""
        names = self._profile.bindings
        query = self._api.large_pages
        if names.transactions_of_customer and customer_id:
            query[names.transactions_of_customer] = customer_id
        return self._api.pages("listTransactions", {**query, **filters})

    def of_quote(self, quote: Json) -> Resource:
        """Return the transaction of a quote as it stands now, once it is listed."""
        wanted = quote["transactionId"]
        owner = self._owner(quote)

        def listed() -> Body | None:
            return next((t for t in self.of_customer(owner) if t.get("id") == wanted), None)

        transaction = self._until(listed, lambda found: found is not None)
        if transaction is None:
            raise PreconditionFailed(
                f"GET /transactions does not list {wanted}", breaks=["TRX-020"]
            )
        return Resource(transaction)

    def at_status(self, quote: Json, *statuses: str) -> Resource:
        """Return the transaction of a quote once its status is one of ``statuses``.

        After ``timing.state`` of the profile it is returned as it is then.
        """
        return self._until(
            lambda: self.of_quote(quote), lambda seen: seen.get("status") in statuses
        )

    def failed(self, quote: Json) -> Resource:
        """Return the transaction of a quote once it has failed, whether refunded yet or not."""
        return self.at_status(quote, *FAILED)

    def refunding(self, quote: Json) -> Resource:
        """Return the transaction of a quote once it has a refund."""
        return self._until(
            lambda: self.of_quote(quote), lambda seen: isinstance(seen.get("refund"), Mapping)
        )

    def refunded(self, quote: Json) -> Resource:
        """Return the transaction of a quote once its refund no longer says that it is pending."""
        return self._until(lambda: self.of_quote(quote), _refund_is_over)

    def _owner(self, quote: Json) -> str | None:
        source = quote.get("source", {})
        account: Json = self._ledger.accounts.get(source.get("accountId", ""), {})
        owner = account.get("customerId") or source.get("customerId")
        return owner if isinstance(owner, str) else None


def included_fees(quote: Json) -> int:
    """Return the fees that a quote shows, in the smallest unit of its sending currency."""
    fees = (quote.get("feesIncluded"), quote.get("platformFeesIncluded"))
    return sum(fee for fee in fees if isinstance(fee, int))


def _refund_is_over(transaction: Json) -> bool:
    refund = transaction.get("refund")
    return isinstance(refund, Mapping) and "PENDING" not in str(refund.get("status")).upper()
