"""Ids of resources of another kind: they are refused like unknown ids."""

from __future__ import annotations

from conformance.platform.platform import Platform
from conformance.platform.resource import retyped
from conformance.scenarios.kit.faults import having
from conformance.scenarios.kit.marks import Check, requirement
from conformance.scenarios.kit.refusals import NOT_FOUND


@requirement("QUO-800", "QUO-801")
def test_money_moves_between_accounts(platform: Platform, check: Check) -> None:
    """A quote with the id of a customer as its source or destination is refused.

    So is one with the id of the account behind the type of a customer.
    """
    body = platform.quotes.body()
    ends = {end: body[end]["accountId"] for end in ("source", "destination")}
    customer = platform.ledger.accounts[ends["source"]]["customerId"]

    refusals = {
        end: [
            platform.api.create_quote(having(f"{end}.accountId", name)(body))
            for name in (customer, retyped(account, "Customer"))
        ]
        for end, account in ends.items()
    }
    twin = platform.api.create_quote(body)

    with check("QUO-800"):
        for refusal in refusals["source"]:
            refusal.refused(*NOT_FOUND, twin=twin)
    with check("QUO-801"):
        for refusal in refusals["destination"]:
            refusal.refused(*NOT_FOUND, twin=twin)


@requirement("QUO-802")
def test_a_quote_is_executed_by_its_own_id_alone(platform: Platform) -> None:
    """An execution by the id of the quote's transaction is refused.

    So is one by the quote's own id behind the type of a transaction.
    """
    quote = platform.quotes.pending()
    others = (quote["transactionId"], retyped(quote["id"], "Transaction"))

    refusals = [platform.api.execute_quote(name) for name in others]

    # An execution that was not refused has used up its own quote.
    twin = platform.api.execute_quote(platform.quotes.pending()["id"])
    for refusal in refusals:
        refusal.refused(*NOT_FOUND, twin=twin)


@requirement("QUO-832")
def test_a_quote_is_authorized_by_its_own_id_alone(platform: Platform) -> None:
    """An authorization by the id of the quote's transaction is refused."""
    quote = platform.sca.challenged()

    refusal = platform.sca.send_proof({**quote, "id": quote["transactionId"]})

    refusal.refused(*NOT_FOUND, twin=platform.sca.send_proof(quote))
