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
    ResourceMissing,
)

FAILED = ("FAILED", "REFUND_PENDING", "REFUND_COMPLETED", "REFUND_FAILED", "REFUNDED")
"""What the transaction of a failed payout may say: that it failed, or how its refund stands."""


class Transactions(Part):
    """Transactions, and those of quotes at each of their statuses."""

    def of_customer(self, customer_id: str | None = None, **filters: Any) -> Iterator[Body]:
        """Yield the listed transactions, page after page; of a customer if one is named.

        Where no filter keeps to one customer, those that show that they are another's are left
        out. What shows nothing of the kind may be the customer's.
        """
        return (row for row, is_own in self._listed(customer_id, filters) if is_own is not False)

    def of_customer_by_pages(self, customer_id: str, size: int, **filters: Any) -> list[Body]:
        """Return the listed transactions of a customer from pages of a size, where there are such.

        Raises:
            ResourceMissing: no filter keeps to one customer, so that there is no end of pages.
        """
        name = self._profile.bindings.transactions_of_customer
        if not name:
            raise ResourceMissing("bindings.transactions_of_customer of the profile is null")
        query = {name: customer_id, **filters}
        return list(self._api.by_pages("listTransactions", size, query))

    def known_of_customer(self, customer_id: str) -> Iterator[Body]:
        """Yield the listed transactions that are certainly those of a customer.

        Where no filter keeps to one customer, these are the ones that show it.
        """
        return (row for row, is_own in self._listed(customer_id, {}) if is_own)

    def _listed(
        self, customer_id: str | None, filters: Mapping[str, Any]
    ) -> Iterator[tuple[Body, bool | None]]:
        """Yield each listed transaction, and whether it is the customer's; ``None``: not known."""
        name = self._profile.bindings.transactions_of_customer
        query = self._api.large_pages
        if name and customer_id:
            query[name] = customer_id
        owned: set[Any] | None = None
        for row in self._api.pages("listTransactions", {**query, **filters}):
            if name or not customer_id:
                yield row, True
            elif isinstance(told := row.get("customerId"), str):
                yield row, told == customer_id
            else:
                owned = owned or self._own_ids(customer_id)
                ends = self._ends(row)
                yield row, bool(ends & owned) if ends else None

    def _own_ids(self, customer_id: str) -> set[Any]:
        query = {"customerId": customer_id}
        accounts = self._api.pages("listCustomerInternalAccounts", query)
        return {customer_id, *(account.get("id") for account in accounts)}

    def _ends(self, row: Json) -> set[Any]:
        """Return the internal accounts and customers that a transaction or its quote names."""
        quotes = (
            quote
            for quote in self._ledger.quotes.values()
            if quote.get("transactionId") == row.get("id")
        )
        ends = [
            end
            for holder in (row, *quotes)
            for name in ("source", "destination")
            if isinstance(end := holder.get(name), Mapping)
        ]
        names = {end.get(member) for end in ends for member in ("accountId", "customerId")}
        return {name for name in names if str(name).startswith(("InternalAccount:", "Customer:"))}

    def of_quote(self, quote: Json) -> Resource:
        """Return the transaction of a quote as it stands now, once it is listed."""
        wanted = quote["transactionId"]
        owner = self._owner(quote)

        def listed() -> Body | None:
            return next((t for t in self.of_customer(owner) if t.get("id") == wanted), None)

        transaction = self._until(listed, lambda found: found is not None, "listed transaction")
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
            lambda: self.of_quote(quote),
            lambda seen: seen.get("status") in statuses,
            f"transaction {statuses}",
        )

    def failed(self, quote: Json) -> Resource:
        """Return the transaction of a quote once it has failed, whether refunded yet or not."""
        return self.at_status(quote, *FAILED)

    def refunding(self, quote: Json) -> Resource:
        """Return the transaction of a quote once it has a refund."""
        return self._until(
            lambda: self.of_quote(quote),
            lambda seen: isinstance(seen.get("refund"), Mapping),
            "refund",
        )

    def refunded(self, quote: Json) -> Resource:
        """Return the transaction of a quote once its refund no longer says that it is pending."""
        return self._until(lambda: self.of_quote(quote), _refund_is_over, "end of a refund")

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
