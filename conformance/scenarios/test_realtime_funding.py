"""Real-time funding: a payment to the quote's instructions executes it, and no call does."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from conformance.client.platform import Json, Platform
from conformance.scenarios.marks import SETTLING, Check, requirement
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing

WAITING = "PENDING_AUTHORIZATION"


@requirement("QUO-016", "QUO-017", "QUO-018", "QUO-038", "QUO-040", "QUO-074")
@pytest.mark.parametrize("currency", ["USD", "USDC", "BTC"])
def test_a_quote_to_be_funded_in_real_time_says_where_to_pay(
    platform: Platform, check: Check, currency: str
) -> None:
    """It waits for a payment, in the currency of its source, to any of its instructions."""
    quote = offered(platform, currency)

    with check("QUO-074"):
        assert quote["status"] == "PENDING"
    with check("QUO-038"):
        assert quote["sendingCurrency"]["code"] == currency
    with check("QUO-040"):
        assert quote.get("paymentInstructions"), "it carries no payment instruction"


@requirement("QUO-019")
@pytest.mark.parametrize("currency", ["USD", "USDC", "BTC"])
def test_payment_instructions_may_carry_notes(platform: Platform, currency: str) -> None:
    """An instruction may leave them out, but what it gives has the documented form."""
    quote = offered(platform, currency)

    instructions = quote.get("paymentInstructions") or ()
    if not any(instruction.get("instructionsNotes") for instruction in instructions):
        raise ResourceMissing(f"no payment instruction in {currency} has instructionsNotes")


@requirement("QUO-210", "QUO-213")
def test_its_payment_executes_a_quote(platform: Platform, check: Check) -> None:
    """Nobody calls execute."""
    customer = platform.customer()
    quote = platform.realtime_quote(customer)

    platform.cause("quote.fund", quoteId=quote["id"], customerId=customer["id"])

    with check("QUO-210"):
        assert platform.transaction_in(quote, *SETTLING)["status"] in SETTLING
    with check("QUO-213"):
        assert platform.transaction_in(quote, "COMPLETED")["status"] == "COMPLETED"


@requirement("QUO-211", "QUO-212")
def test_a_call_executes_no_quote_that_waits_for_its_payment(
    platform: Platform, check: Check
) -> None:
    """The call may be refused or do nothing."""
    quote = platform.realtime_quote()
    untouched = platform.transaction(quote)

    answer = platform.execute(quote)

    with check("QUO-211"):
        if answer.accepted:
            assert answer.body["status"] not in SETTLING, answer
        else:
            answer.refused(twin=platform.execute(platform.quote()))
    with check("QUO-212"):
        for transaction in (untouched, platform.transaction(quote)):
            assert transaction["status"] not in SETTLING, transaction
    platform.observe(f"executing a real-time funded quote is answered with {answer.status}")


@requirement("QUO-124")
def test_a_quote_that_waits_for_its_payment_is_not_executed_as_it_is_created(
    platform: Platform,
) -> None:
    """The request may be refused, or leave the quote waiting."""
    body = platform.realtime_quote_body()

    answer = platform.create_quote({**body, "immediatelyExecute": True})

    if answer.accepted:
        assert answer.body["status"] not in SETTLING, answer
        assert platform.transaction(answer.body)["status"] not in SETTLING
    else:
        answer.refused(twin=platform.create_quote(body))


@requirement("QUO-153")
def test_real_time_funding_needs_a_currency(platform: Platform) -> None:
    """No account tells which one is meant."""
    body = platform.realtime_quote_body()
    source = {name: value for name, value in body["source"].items() if name != "currency"}

    refusal = platform.create_quote({**body, "source": source}, valid=False)

    refusal.refused(400, twin=platform.create_quote(body))


@requirement("QUO-042", "QUO-043")
def test_payment_instructions_are_withheld_until_the_customer_proved(
    platform: Platform, check: Check
) -> None:
    """The challenge may come with the quote or at a call of execute; until then, no way to pay."""
    created = platform.realtime_quote(platform.sca_customer())

    with check("QUO-042"):
        demand_withheld(created)
    with check("QUO-043"):
        waiting = created if created["status"] == WAITING else platform.executed(created)
    with check("QUO-042"):
        demand_withheld(waiting)
    with check("QUO-043"):
        authorized = platform.authorize_fully(waiting)
        if not authorized.accepted:
            raise PreconditionFailed(f"the proof was refused: {authorized}")
        assert authorized.body.get("paymentInstructions"), authorized


@requirement("QUO-020", "QUO-021", "QUO-042")
def test_a_refused_proof_reveals_no_payment_instructions(
    platform: Platform, check: Check
) -> None:
    """TODO."""
