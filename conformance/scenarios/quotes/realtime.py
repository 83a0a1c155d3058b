"""Real-time funded quotes, also of customers who have to prove each payment (SCA customers)."""

from __future__ import annotations

from collections.abc import Mapping

from conformance.exchange.answer import Answer
from conformance.platform.platform import Platform
from conformance.platform.resource import Body, Json, Resource, arranged_resource, without_members
from conformance.scenarios.kit.challenges import WAITING
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing, TriggerFailed

AMOUNT = 10_007
"""A receiving amount, in smallest units, that no usual fee or rate divides evenly."""


def create_challenged_quote(platform: Platform) -> Resource:
    """Return a real-time funded quote of a new SCA customer that waits for a proof."""
    return arrange_challenge(platform, platform.quotes.realtime(platform.approved.sca_customer()))


def create_quote_paid_twice(platform: Platform) -> Resource:
    """Return a real-time funded quote that its payment completed, and that was paid once more.

    A later quote of the same customer has completed by then.
    """
    customer = platform.approved.customer()
    creation = platform.api.create_quote(platform.quotes.realtime_body(customer))
    quote = arranged_resource(creation, customer)
    complete(platform, quote, customer)
    try:
        platform.triggers.fire("quote.fund", quoteId=quote["id"], customerId=customer["id"])
    except TriggerFailed:
        platform.observe("no second payment arrives for a real-time funded quote")
    complete(platform, platform.quotes.realtime(customer), customer)
    return quote


def complete(platform: Platform, quote: Resource, customer: Json) -> None:
    """Let the payment of a real-time funded quote arrive, and wait until it has completed."""
    platform.triggers.fire("quote.fund", quoteId=quote["id"], customerId=customer["id"])
    status = platform.transactions.at_status(quote, "COMPLETED").get("status")
    if status != "COMPLETED":
        raise PreconditionFailed(f"the payment did not complete: its transaction is {status}")


def expect_no_instructions(answer: Answer) -> None:
    """Assert that an answer has no paymentInstructions."""
    __tracebackhide__ = True
    instructions = (
        answer.body.get("paymentInstructions") if isinstance(answer.body, Mapping) else None
    )
    assert not instructions, answer


def arrange_challenge(platform: Platform, quote: Resource) -> Resource:
    """Return a real-time funded quote of an SCA customer once it waits for a proof.

    The quote waits from its creation on, or is executed first.

    Raises:
        PreconditionFailed: no proof is asked for.
    """
    waiting_quote = quote if quote["status"] == WAITING else platform.quotes.execute(quote)
    if waiting_quote["status"] != WAITING:
        raise PreconditionFailed(
            f"no proof is asked for: the quote is at {waiting_quote['status']}"
        )
    return waiting_quote


def realtime_body(platform: Platform, currency: str) -> Body:
    """Return the body of a quote that is funded just in time in a currency."""
    # The receiving amount is locked: in any currency of the source it is not too small.
    return platform.quotes.realtime_body(
        currency=currency, lockedCurrencySide="RECEIVING", lockedCurrencyAmount=AMOUNT
    )


def create_realtime_quote(platform: Platform, currency: str) -> Json:
    """Create a real-time funded quote in a currency, and return it.

    Raises:
        ResourceMissing: the target refuses real-time funding in the currency.
    """
    quote: Json = accepted_quote(platform, realtime_body(platform, currency)).body
    return quote


def accepted_quote(platform: Platform, body: Body) -> Answer:
    """Create a real-time funded quote, and return the answer.

    Raises:
        ResourceMissing: the target refuses real-time funding in the currency.
    """
    answer = platform.api.create_quote(body)
    if not answer.accepted:
        currency = body["source"]["currency"]
        raise ResourceMissing(f"nothing can be funded in real time in {currency}: {answer}")
    return answer


def platform_funded_body(platform: Platform) -> Body:
    """Return the body of a quote that the platform funds just in time.

    Raises:
        ResourceMissing: how the platform is named is not known, or it has no account to be paid.
    """
    value = platform.profile.bindings.realtime_platform
    if value is None:
        raise ResourceMissing("bindings.realtime_platform of the profile is null")
    currency = platform.profile.resources.realtime_currency
    account = next(
        (
            account
            for account in platform.internal_accounts.of_platform()
            if account["balance"]["currency"]["code"] == currency
            and account.get("status") == "ACTIVE"
        ),
        None,
    )
    if account is None:
        raise ResourceMissing(f"the platform has no internal account in {currency}")
    body = platform.quotes.realtime_body({"id": ""}, account)
    source = {**without_members(body["source"], "customerId"), "platform": value}
    return {**body, "source": source}
