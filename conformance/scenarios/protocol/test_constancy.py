"""What nothing changes is shown alike: the judge compares each message with those before it."""

from __future__ import annotations

from conformance.platform.platform import Platform
from conformance.scenarios.kit.marks import requirement


@requirement("CNV-891", "CNV-892", "CNV-893")
def test_accounts_are_shown_alike(platform: Platform) -> None:
    """An internal account is the same when it is read again, an external one in answer and list."""
    customer = platform.approved.customer()
    account = platform.internal_accounts.account(amount=0, customer=customer)

    destination = platform.external_accounts.account(customer)

    platform.internal_accounts.read(account)
    platform.external_accounts.read(destination)
    platform.external_accounts.as_listed(customer, destination)


@requirement("CNV-894", "CNV-895")
def test_a_payment_is_shown_alike(platform: Platform) -> None:
    """A quote is the same when it is executed, and its transaction before and after that."""
    quote = platform.quotes.pending()
    transaction = platform.transactions.of_quote(quote)

    executed = platform.quotes.complete(quote)

    assert executed["id"] == quote["id"]
    assert platform.transactions.of_quote(quote)["id"] == transaction["id"]
