"""Real-time funding: a payment to the quote's instructions executes it, and no call does."""

from __future__ import annotations

import pytest

from conformance.platform.platform import Platform
from conformance.platform.resource import Json
from conformance.scenarios.kit.challenges import WAITING
from conformance.scenarios.kit.marks import SETTLING, Check, requirement
from conformance.scenarios.quotes.realtime import challenged
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing, expect


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
def test_payment_instructions_may_carry_notes(platform: Platform) -> None:
    """An instruction may leave them out, but what it gives has the documented form."""
    quote = platform.quotes.realtime()

    instructions = quote.get("paymentInstructions") or ()
    if not any(instruction.get("instructionsNotes") for instruction in instructions):
        raise ResourceMissing("no payment instruction has instructionsNotes")


@requirement("QUO-210", "QUO-213")
def test_its_payment_executes_a_quote(platform: Platform, check: Check) -> None:
    """Nobody calls execute."""
    customer = platform.approved.customer()
    quote = platform.quotes.realtime(customer)

    platform.triggers.fire("quote.fund", quoteId=quote["id"], customerId=customer["id"])

    with check("QUO-210"):
        assert platform.transactions.at_status(quote, *SETTLING)["status"] in SETTLING
    with check("QUO-213"):
        assert platform.transactions.at_status(quote, "COMPLETED")["status"] == "COMPLETED"


@requirement("QUO-605", "QUO-606")
def test_a_payment_with_another_reference_executes_no_quote(
    platform: Platform, check: Check
) -> None:
    """The quote goes on waiting for its own."""
    customer = platform.approved.customer()
    quote = platform.quotes.realtime(customer)
    twin = platform.quotes.realtime(customer)

    platform.triggers.fire("quote.misfund", quoteId=quote["id"], customerId=customer["id"])

    platform.triggers.fire("quote.fund", quoteId=twin["id"], customerId=customer["id"])
    if platform.transactions.at_status(twin, *SETTLING)["status"] not in SETTLING:
        raise PreconditionFailed("a payment with the right reference executes no quote")
    with check("QUO-605"):
        assert platform.transactions.of_quote(quote)["status"] not in SETTLING
    with check("QUO-606"):
        platform.triggers.fire("quote.fund", quoteId=quote["id"], customerId=customer["id"])
        assert platform.transactions.at_status(quote, *SETTLING)["status"] in SETTLING


@requirement("QUO-607")
def test_payments_for_two_quotes_can_be_told_apart(platform: Platform) -> None:
    """By an account, an address or a reference of each quote's own."""
    customer = platform.approved.customer()
    first, second = (platform.quotes.realtime(customer) for _ in range(2))

    shown = [quote.get("paymentInstructions") for quote in (first, second)]

    if not all(shown):
        raise ResourceMissing("a quote carries no payment instructions")
    assert shown[0] != shown[1]


@requirement("QUO-211", "QUO-212")
def test_a_call_executes_no_quote_that_waits_for_its_payment(
    platform: Platform, check: Check
) -> None:
    """The call may be refused or do nothing."""
    quote = platform.quotes.realtime()
    untouched = platform.transactions.of_quote(quote)

    answer = platform.api.execute_quote(quote["id"])

    with check("QUO-211"):
        if answer.accepted:
            assert answer.body["status"] not in SETTLING, answer
        else:
            answer.refused(twin=platform.api.execute_quote(platform.quotes.pending()["id"]))
    with check("QUO-212"):
        for transaction in (untouched, platform.transactions.of_quote(quote)):
            assert transaction["status"] not in SETTLING, transaction
    platform.observe(f"executing a real-time funded quote is answered with {answer.status}")


@requirement("QUO-042", "QUO-043")
def test_payment_instructions_are_withheld_until_the_customer_proved(
    platform: Platform, check: Check
) -> None:
    """The challenge may come with the quote or at a call of execute; until then, no way to pay."""
    created = platform.quotes.realtime(platform.approved.sca_customer())

    with check("QUO-042"):
        expect_withheld(created)
    waiting = challenged(platform, created)
    with check("QUO-042"):
        expect_withheld(waiting)

    authorized = platform.sca.authorize(waiting)
    with check("QUO-043"):
        assert authorized.get("paymentInstructions"), "it carries no payment instruction"
    platform.observe(
        "a real-time funded quote of an SCA customer is challenged "
        f"{'at its creation' if waiting is created else 'by execute'}"
    )


@requirement("QUO-042")
def test_payment_instructions_are_withheld_between_two_challenges(platform: Platform) -> None:
    """A first proof is not enough where a second one is asked for."""
    customer = platform.approved.sca_customer()
    platform.triggers.fire("sca.second_challenge", customerId=customer["id"])
    waiting = challenged(platform, platform.quotes.realtime(customer))

    first = platform.sca.send_proof(waiting)

    if not first.accepted or first.body["status"] != WAITING:
        raise PreconditionFailed(f"the first proof was not followed by a second one: {first}")
    expect_withheld(first.body)


@requirement("QUO-210")
def test_its_payment_executes_a_quote_that_was_authorized(platform: Platform) -> None:
    """The proof is given before the customer pays, and nothing is asked for afterwards."""
    customer = platform.approved.sca_customer()
    quote = challenged(platform, platform.quotes.realtime(customer))
    platform.sca.authorize(quote)

    platform.triggers.fire("quote.fund", quoteId=quote["id"], customerId=customer["id"])

    assert platform.transactions.at_status(quote, *SETTLING)["status"] in SETTLING


# --- No valid proof -------------------------------------------------------------------------


def offered(platform: Platform, currency: str) -> Json:
    """Return a quote that is funded in real time in a currency."""
    body = platform.quotes.realtime_body(currency=currency, lockedCurrencySide="RECEIVING")
    answer = platform.api.create_quote(body)
    if not answer.accepted:
        raise ResourceMissing(f"nothing can be funded in real time in {currency}: {answer}")
    quote: Json = answer.body
    return quote


def expect_withheld(quote: Json) -> None:
    """Assert that a quote does not say where to pay."""
    __tracebackhide__ = True
    shown = quote.get("paymentInstructions")
    expect(not shown, f"no paymentInstructions yet at {quote['status']}", shown)
