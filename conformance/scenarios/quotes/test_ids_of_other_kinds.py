"""Ids of resources of another kind: they are refused like unknown ids."""

from __future__ import annotations

from conformance.platform.platform import Platform
from conformance.scenarios.kit.faults import having
from conformance.scenarios.kit.marks import Check, requirement
from conformance.scenarios.kit.refusals import NOT_FOUND


@requirement("QUO-800", "QUO-801")
def test_money_moves_between_accounts(platform: Platform, check: Check) -> None:
    """A quote with the id of a customer as its source or destination is refused."""
    body = platform.quotes.body()
    source = body["source"]["accountId"]
    customer = platform.ledger.accounts[source]["customerId"]

    from_customer, to_customer = (
        platform.api.create_quote(having(f"{end}.accountId", customer)(body))
        for end in ("source", "destination")
    )
    twin = platform.api.create_quote(body)

    with check("QUO-800"):
        from_customer.refused(*NOT_FOUND, twin=twin)
    with check("QUO-801"):
        to_customer.refused(*NOT_FOUND, twin=twin)


@requirement("QUO-802")
def test_a_quote_is_executed_by_its_own_id_alone(platform: Platform) -> None:
    """An execution by the id of the quote's transaction is refused."""
    quote = platform.quotes.pending()

    refusal = platform.api.execute_quote(quote["transactionId"])

    refusal.refused(*NOT_FOUND, twin=platform.api.execute_quote(quote["id"]))


@requirement("QUO-832")
def test_a_quote_is_authorized_by_its_own_id_alone(platform: Platform) -> None:
    """An authorization by the id of the quote's transaction is refused."""
    quote = platform.sca.challenged()

    refusal = platform.sca.send_proof({**quote, "id": quote["transactionId"]})

    refusal.refused(*NOT_FOUND, twin=platform.sca.send_proof(quote))
