"""What nothing changes is shown alike and is not lost: messages are judged by one another."""

from __future__ import annotations

from conformance.platform.platform import Platform
from conformance.scenarios.kit.marks import Check, requirement
from conformance.verdict.decisions import ResourceMissing

LASTING = ("quoteId", "description", "createdAt")
"""Members of a transaction that stay what they were."""


@requirement("CNV-891", "CNV-892", "CNV-893")
def test_accounts_are_shown_alike(platform: Platform) -> None:
    """An internal account is the same when it is read again, an external one in answer and list."""
    customer = platform.approved.customer()
    account = platform.internal_accounts.account(amount=0, customer=customer)

    destination = platform.external_accounts.account(customer)

    platform.internal_accounts.read(account)
    platform.external_accounts.read(destination)
    platform.external_accounts.as_listed(customer, destination)


@requirement("CNV-897")
def test_what_nothing_changes_is_not_lost(platform: Platform) -> None:
    """A payment to an account, and both accounts, are shown whole before it and after it."""
    source = platform.internal_accounts.account()
    destination = platform.external_accounts.account(source.owner)
    quote = platform.quotes.pending(source, destination)
    transaction = platform.transactions.of_quote(quote)

    platform.quotes.complete(quote)

    # The judge compares these messages with those before the payment.
    assert platform.transactions.of_quote(quote)["id"] == transaction["id"]
    assert platform.internal_accounts.read(source)["id"] == source["id"]
    for _ in range(3):
        assert platform.external_accounts.read(destination)["id"] == destination["id"]


@requirement("CNV-896")
def test_a_list_shows_each_resource_once(platform: Platform) -> None:
    """The list of a customer's external accounts shows two that were created once each."""
    customer = platform.approved.customer()

    first, second = (platform.external_accounts.account(customer) for _ in range(2))

    # New accounts may be listed a moment later.
    listed = platform.until(
        lambda: {account["id"] for account in platform.external_accounts.of_customer(customer)},
        lambda ids: {first["id"], second["id"]} <= ids,
    )
    assert {first["id"], second["id"]} <= listed


@requirement("CNV-894", "CNV-895")
def test_a_payment_is_shown_alike(platform: Platform, check: Check) -> None:
    """A quote is the same when it is executed, and its transaction before and after that."""
    quote = platform.quotes.pending()
    transaction = platform.transactions.of_quote(quote)

    executed = platform.quotes.complete(quote)

    with check("CNV-894"):
        assert executed["id"] == quote["id"]
    with check("CNV-895"):
        if all(transaction.get(member) is None for member in LASTING):
            raise ResourceMissing(f"the transaction shows none of {', '.join(LASTING)}")
        assert platform.transactions.of_quote(quote)["id"] == transaction["id"]
