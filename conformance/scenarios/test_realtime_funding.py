"""Real-time funding: a payment to the quote's instructions executes it, and no call does."""

from __future__ import annotations

import pytest

from conformance.client.actor import Json
from conformance.client.http import Answer
from conformance.client.platform import Platform
from conformance.scenarios.challenges import WAITING, expire, wrong
from conformance.scenarios.marks import SETTLING, Check, requirement
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing


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
    quote = platform.realtime_quote()

    instructions = quote.get("paymentInstructions") or ()
    if not any(instruction.get("instructionsNotes") for instruction in instructions):
        raise ResourceMissing("no payment instruction has instructionsNotes")


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


@requirement("QUO-605", "QUO-606")
def test_a_payment_with_another_reference_executes_no_quote(
    platform: Platform, check: Check
) -> None:
    """The quote goes on waiting for its own."""
    customer = platform.customer()
    quote = platform.realtime_quote(customer)
    twin = platform.realtime_quote(customer)

    platform.cause("quote.misfund", quoteId=quote["id"], customerId=customer["id"])

    platform.cause("quote.fund", quoteId=twin["id"], customerId=customer["id"])
    if platform.transaction_in(twin, *SETTLING)["status"] not in SETTLING:
        raise PreconditionFailed("a payment with the right reference executes no quote")
    with check("QUO-605"):
        assert platform.transaction(quote)["status"] not in SETTLING
    with check("QUO-606"):
        platform.cause("quote.fund", quoteId=quote["id"], customerId=customer["id"])
        assert platform.transaction_in(quote, *SETTLING)["status"] in SETTLING


@requirement("QUO-607")
def test_payments_for_two_quotes_can_be_told_apart(platform: Platform) -> None:
    """By an account, an address or a reference of each quote's own."""
    customer = platform.customer()
    first, second = (platform.realtime_quote(customer) for _ in range(2))

    shown = [quote.get("paymentInstructions") for quote in (first, second)]

    if not all(shown):
        raise ResourceMissing("a quote carries no payment instructions")
    assert shown[0] != shown[1]


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


@requirement("QUO-042", "QUO-043")
def test_payment_instructions_are_withheld_until_the_customer_proved(
    platform: Platform, check: Check
) -> None:
    """The challenge may come with the quote or at a call of execute; until then, no way to pay."""
    created = platform.realtime_quote(platform.sca_customer())

    with check("QUO-042"):
        demand_withheld(created)
    waiting = challenged(platform, created)
    with check("QUO-042"):
        demand_withheld(waiting)

    authorized = platform.authorized(waiting)
    with check("QUO-043"):
        assert authorized.get("paymentInstructions"), "it carries no payment instruction"
    platform.observe(
        "a real-time funded quote of an SCA customer is challenged "
        f"{'at its creation' if waiting is created else 'by execute'}"
    )


@requirement("QUO-042")
def test_payment_instructions_are_withheld_between_two_challenges(platform: Platform) -> None:
    """A first proof is not enough where a second one is asked for."""
    customer = platform.sca_customer()
    platform.cause("sca.second_challenge", customerId=customer["id"])
    waiting = challenged(platform, platform.realtime_quote(customer))

    first = platform.authorize(waiting)

    if not first.accepted or first.body["status"] != WAITING:
        raise PreconditionFailed(f"the first proof was not followed by a second one: {first}")
    demand_withheld(first.body)


@requirement("QUO-210")
def test_its_payment_executes_a_quote_that_was_authorized(platform: Platform) -> None:
    """The proof is given before the customer pays, and nothing is asked for afterwards."""
    customer = platform.sca_customer()
    quote = challenged(platform, platform.realtime_quote(customer))
    platform.authorized(quote)

    platform.cause("quote.fund", quoteId=quote["id"], customerId=customer["id"])

    assert platform.transaction_in(quote, *SETTLING)["status"] in SETTLING


# --- No valid proof -------------------------------------------------------------------------


@requirement("SCA-050", "SCA-051")
def test_a_wrong_code_does_not_tell_where_to_pay(platform: Platform, check: Check) -> None:
    """It is refused as for any other quote."""
    waiting = challenged_quote(platform)

    refusal = platform.authorize(waiting, wrong(platform))

    with check("SCA-051"):
        demand_none(refusal)
    with check("SCA-050"):
        refusal.refused(twin=platform.authorize(challenged_quote(platform)))


@pytest.mark.parametrize(
    ("trigger", "status", "code"),
    [
        pytest.param(
            "sca.session_lapse",
            409,
            "SCA_SESSION_REQUIRED",
            marks=requirement("SCA-052"),
            id="lapsed",
        ),
        pytest.param(
            "sca.lock", 423, "ACCOUNT_LOCKED", marks=requirement("SCA-053"), id="locked-out"
        ),
    ],
)
def test_a_customer_who_may_not_prove_is_not_told_where_to_pay(
    platform: Platform, trigger: str, status: int, code: str
) -> None:
    """Even with the right code."""
    customer = platform.sca_customer()
    waiting = challenged(platform, platform.realtime_quote(customer))
    platform.cause(trigger, customerId=customer["id"])

    refusal = platform.authorize(waiting)

    refusal.refused(status, code, twin=platform.authorize(challenged_quote(platform)))


@requirement("SCA-054")
def test_the_code_of_an_expired_challenge_does_not_tell_where_to_pay(platform: Platform) -> None:
    """Whether it is refused or answered with a new challenge."""
    waiting = challenged_quote(platform)
    expire(platform, waiting)

    demand_none(platform.authorize(waiting))


def challenged_quote(platform: Platform) -> Json:
    """Return a real-time funded quote of a new SCA customer as it waits for a proof."""
    return challenged(platform, platform.realtime_quote(platform.sca_customer()))


def demand_none(answer: Answer) -> None:
    """Assert that an answer does not say where to pay."""
    __tracebackhide__ = True
    shown = answer.body.get("paymentInstructions") if isinstance(answer.body, dict) else None
    assert not shown, answer


def offered(platform: Platform, currency: str) -> Json:
    """Return a quote that is funded in real time in a currency."""
    body = platform.realtime_quote_body(currency=currency, lockedCurrencySide="RECEIVING")
    answer = platform.create_quote(body)
    if not answer.accepted:
        raise ResourceMissing(f"nothing can be funded in real time in {currency}: {answer}")
    quote: Json = answer.body
    return quote


def challenged(platform: Platform, quote: Json) -> Json:
    """Return a real-time funded quote of an SCA customer as it waits for a proof."""
    waiting = quote if quote["status"] == WAITING else platform.executed(quote)
    if waiting["status"] != WAITING:
        raise PreconditionFailed(f"no proof is asked for: the quote is at {waiting['status']}")
    return waiting


def demand_withheld(quote: Json) -> None:
    """Assert that a quote does not say where to pay."""
    __tracebackhide__ = True
    shown = quote.get("paymentInstructions")
    assert not shown, f"at {quote['status']} expected no paymentInstructions yet, got {shown}"
