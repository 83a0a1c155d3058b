"""Real-time funding: a payment to the instructions of a quote executes it, and no call does."""

from __future__ import annotations

import re
from http import HTTPStatus

import pytest

from conformance.platform.platform import Platform
from conformance.platform.resource import Json, arranged_resource, require_member
from conformance.scenarios.kit.cases import case
from conformance.scenarios.kit.challenges import WAITING
from conformance.scenarios.kit.marks import SETTLING, Check, requirement
from conformance.scenarios.kit.notation import arrange_moment
from conformance.scenarios.quotes.realtime import (
    AMOUNT,
    accepted_quote,
    arrange_challenge,
    create_quote_paid_twice,
    create_realtime_quote,
    platform_funded_body,
    realtime_body,
)
from conformance.scenarios.quotes.terms import MAX_LIFETIME, expect_net_amounts_are_converted
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing, TriggerFailed, expect

BITCOIN_ADDRESS = re.compile(r"(bc1|tb1|bcrt1)[0-9a-z]{8,87}|[13mn2][1-9A-HJ-NP-Za-km-z]{24,34}")
"""An address of Bitcoin's own chain, or of one of its test chains."""


@requirement("QUO-016", "QUO-017", "QUO-018", "QUO-038", "QUO-040", "QUO-047", "QUO-062", "QUO-074")
@requirement("QUO-054")
@pytest.mark.parametrize("currency", ["USD", "USDC", "BTC"])
def test_a_quote_to_be_funded_in_real_time_says_where_to_pay(
    platform: Platform, check: Check, currency: str
) -> None:
    """A real-time funded quote is PENDING in its source's currency, with paymentInstructions.

    What it brings is the amount that was locked, which what is paid less the fees converts to, and
    it lives for a quarter of an hour at most.
    """
    quote = create_realtime_quote(platform, currency)

    with check("QUO-074"):
        assert quote["status"] == "PENDING"
    with check("QUO-038"):
        assert quote["sendingCurrency"]["code"] == currency
    with check("QUO-040"):
        assert quote.get("paymentInstructions"), "it carries no payment instruction"
    with check("QUO-047"):
        if quote["receivingCurrency"]["code"] == currency:
            raise ResourceMissing("the usual real-time funded quote is within one currency")
        assert quote["totalReceivingAmount"] == AMOUNT, quote
    with check("QUO-054"):
        if quote["receivingCurrency"]["code"] == currency:
            raise ResourceMissing("the usual real-time funded quote is within one currency")
        expect_net_amounts_are_converted([quote])
    with check("QUO-062"):
        lifetime = arrange_moment(quote, "expiresAt") - arrange_moment(quote, "createdAt")
        assert lifetime <= MAX_LIFETIME, f"it lives for {lifetime.total_seconds()} s"


@pytest.mark.parametrize(
    "currency",
    [
        case("QUO-823", "USD", "USD"),
        case("QUO-824", "USDC", "USDC"),
        case("QUO-825", "BTC", "BTC"),
    ],
)
def test_a_source_is_paid_in_dollars_or_crypto(platform: Platform, currency: str) -> None:
    """Real-time funding in USD (by RTP or FedNow), in USDC and in BTC is accepted."""
    body = platform.quotes.realtime_body(currency=currency, lockedCurrencySide="RECEIVING")

    answer = platform.api.create_quote(body)

    answer.expect_accepted()


@requirement("QUO-630")
@pytest.mark.parametrize("currency", ["USDC", "BTC"])
def test_a_platform_fee_needs_funding_in_us_dollars(platform: Platform, currency: str) -> None:
    """A fee override on a quote that is paid in USDC or BTC is refused, or no fee is included."""
    override = platform.profile.bindings.require("platform_fee_override")
    in_dollars = platform.quotes.ends(platform.quotes.corridors_from("USD")[0])
    platform.quotes.pending(*in_dollars, platformFeeOverride=override)
    body = realtime_body(platform, currency)

    answer = platform.api.create_quote({**body, "platformFeeOverride": override})

    if answer.accepted:
        assert not answer.body.get("platformFeesIncluded"), answer
    else:
        answer.refused(twin=accepted_quote(platform, body))


@requirement("QUO-822")
def test_bitcoin_can_be_paid_on_its_own_chain(platform: Platform) -> None:
    """An instruction of a quote that is funded in BTC has an address of Bitcoin itself."""
    quote = create_realtime_quote(platform, "BTC")

    addresses = [
        str(instruction["accountOrWalletInfo"].get("address"))
        for instruction in require_member(quote, "paymentInstructions")
    ]

    assert any(BITCOIN_ADDRESS.fullmatch(address) for address in addresses), addresses


@requirement("QUO-038", "QUO-040", "QUO-210", "QUO-211", "QUO-212", "QUO-826")
def test_the_platform_funds_a_quote(platform: Platform, check: Check) -> None:
    """A source that names the platform in the place of a customer is accepted.

    The quote is in its source's currency and says how it is paid. No call executes it before the
    payment, which does.
    """
    body = platform_funded_body(platform)
    creation = platform.api.create_quote(body)

    with check("QUO-826"):
        creation.expect_accepted()
    quote = arranged_resource(creation)
    with check("QUO-040"):
        assert quote.get("paymentInstructions"), "it carries no payment instruction"
    with check("QUO-038"):
        assert quote["sendingCurrency"]["code"] == body["source"]["currency"], quote
    execution = platform.api.execute_quote(quote["id"])
    with check("QUO-211"):
        if execution.accepted:
            assert execution.body["status"] not in SETTLING, execution
        else:
            execution.refused(twin=platform.api.execute_quote(platform.quotes.pending()["id"]))
    with check("QUO-212"):
        assert platform.transactions.of_quote(quote)["status"] not in SETTLING, execution
    with check("QUO-210"):
        try:
            platform.triggers.fire("quote.fund", quoteId=quote["id"], customerId="")
        except TriggerFailed as error:
            raise ResourceMissing(f"payments of customers alone arrive: {error}") from error
        transaction = platform.transactions.at_status(quote, *SETTLING)
        assert transaction["status"] in SETTLING, transaction


@requirement("QUO-019")
def test_payment_instructions_may_carry_notes(platform: Platform) -> None:
    """An instruction may leave out instructionsNotes; the judge checks given ones."""
    quote = platform.quotes.realtime()

    instructions = quote.get("paymentInstructions") or ()
    if not any(instruction.get("instructionsNotes") for instruction in instructions):
        raise ResourceMissing("no payment instruction has instructionsNotes")


@requirement("QUO-210", "QUO-212", "QUO-213")
@pytest.mark.parametrize("currency", [None, "USDC", "BTC"], ids=["usual", "USDC", "BTC"])
def test_its_payment_executes_a_quote(
    platform: Platform, check: Check, currency: str | None
) -> None:
    """A payment to the instructions, without a call of execute, completes the quote.

    An older quote of the same customer and amount still waits for its own.
    """
    customer = platform.approved.customer()
    destination = platform.external_accounts.account(customer)
    body = platform.quotes.realtime_body(
        customer, destination, currency=currency, lockedCurrencySide="RECEIVING"
    )
    answers = [platform.api.create_quote(body) for _ in range(2)]
    if currency and not answers[0].accepted:
        raise ResourceMissing(f"nothing is funded in real time in {currency}: {answers[0]}")
    older, quote = (arranged_resource(answer, customer) for answer in answers)

    platform.triggers.fire("quote.fund", quoteId=quote["id"], customerId=customer["id"])

    with check("QUO-210"):
        assert platform.transactions.at_status(quote, *SETTLING)["status"] in SETTLING
    with check("QUO-213"):
        assert platform.transactions.at_status(quote, "COMPLETED")["status"] == "COMPLETED"
    with check("QUO-212"):
        assert platform.transactions.of_quote(older)["status"] not in SETTLING


@requirement("ACC-014", "QUO-213")
def test_a_payment_to_a_quote_is_no_deposit_of_its_payer(platform: Platform, check: Check) -> None:
    """What a customer pays for a quote is not taken from its internal account, nor left there."""
    account = platform.internal_accounts.account()
    before, _ = platform.internal_accounts.balances(account)
    quote = platform.quotes.realtime(account.owner)

    platform.triggers.fire("quote.fund", quoteId=quote["id"], customerId=account.owner["id"])

    with check("QUO-213"):
        assert platform.transactions.at_status(quote, "COMPLETED")["status"] == "COMPLETED"
    with check("ACC-014"):
        assert platform.internal_accounts.wait_for_balance(account, before) == before


@requirement("QUO-210")
def test_its_payment_executes_a_quote_of_a_business(platform: Platform) -> None:
    """A business pays for its quote, and no call executes it."""
    customer = platform.approved.business()
    quote = platform.quotes.realtime(customer)

    platform.triggers.fire("quote.fund", quoteId=quote["id"], customerId=customer["id"])

    assert platform.transactions.at_status(quote, *SETTLING)["status"] in SETTLING


@requirement("QUO-605", "QUO-606")
def test_a_payment_with_another_reference_executes_no_quote(
    platform: Platform, check: Check
) -> None:
    """A payment with a wrong reference executes nothing; one with the right reference does."""
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


@requirement("QUO-981")
def test_a_second_payment_executes_nothing_again(platform: Platform) -> None:
    """A quote that is paid for twice has one transaction, which stays COMPLETED.

    What becomes of the second payment is open.
    """
    quote = create_quote_paid_twice(platform)

    transaction = platform.transactions.of_quote(quote)
    others = [
        row
        for row in platform.transactions.known_of_customer(quote.owner["id"])
        if row.get("quoteId") == quote["id"]
        and row.get("type") == transaction.get("type")
        and row["id"] != quote["transactionId"]
    ]

    assert transaction.get("status") == "COMPLETED", transaction
    assert not others, f"another transaction of the quote is {others[0]}"


@requirement("QUO-982")
def test_a_payment_that_comes_too_late_executes_nothing(platform: Platform) -> None:
    """A payment to the instructions of an expired quote does not execute it.

    That to a quote which has not expired executes it.
    """
    customer = platform.approved.customer()
    quote = platform.quotes.realtime(customer)
    platform.triggers.fire("quote.expire", quoteId=quote["id"], expiresAt=quote["expiresAt"])
    if (status := platform.transactions.at_status(quote, "EXPIRED").get("status")) != "EXPIRED":
        raise PreconditionFailed(f"the quote did not expire: its transaction is {status}")

    try:
        platform.triggers.fire("quote.fund", quoteId=quote["id"], customerId=customer["id"])
    except TriggerFailed:
        platform.observe("no payment arrives for an expired quote")

    twin = platform.quotes.realtime(customer)
    platform.triggers.fire("quote.fund", quoteId=twin["id"], customerId=customer["id"])
    if platform.transactions.at_status(twin, *SETTLING)["status"] not in SETTLING:
        raise PreconditionFailed("a payment executes no quote that has not expired")
    assert platform.transactions.of_quote(quote)["status"] not in SETTLING


@requirement("QUO-040", "QUO-607")
def test_payments_for_two_quotes_can_be_told_apart(platform: Platform, check: Check) -> None:
    """Two quotes of one customer carry paymentInstructions, and those differ."""
    customer = platform.approved.customer()
    first, second = (platform.quotes.realtime(customer) for _ in range(2))

    instructions = [quote.get("paymentInstructions") for quote in (first, second)]

    with check("QUO-040"):
        assert all(instructions), "a quote carries no payment instructions"
    with check("QUO-607"):
        if not all(instructions):
            raise ResourceMissing("a quote carries no payment instructions")
        assert instructions[0] != instructions[1]


@requirement("QUO-211", "QUO-212")
@pytest.mark.parametrize("currency", ["USD", "USDC", "BTC"])
def test_a_call_executes_no_quote_that_waits_for_its_payment(
    platform: Platform, check: Check, currency: str
) -> None:
    """An execution before the payment is refused, or leaves the quote as it is."""
    quote = create_realtime_quote(platform, currency)
    before = platform.transactions.of_quote(quote)

    answer = platform.api.execute_quote(quote["id"])

    with check("QUO-211"):
        if answer.accepted:
            assert answer.body["status"] not in SETTLING, answer
        else:
            answer.refused(twin=platform.api.execute_quote(platform.quotes.pending()["id"]))
    with check("QUO-212"):
        for transaction in (before, platform.transactions.of_quote(quote)):
            assert transaction["status"] not in SETTLING, transaction
    platform.observe(f"executing a real-time funded quote is answered with {answer.status}")


@requirement("QUO-212")
def test_an_approval_is_no_payment(platform: Platform) -> None:
    """The approval of a just-in-time funded quote's transaction executes nothing."""
    quote = platform.quotes.realtime()

    answer = platform.api.approve_transaction(quote["transactionId"])

    assert platform.transactions.of_quote(quote).get("status") not in SETTLING, answer


@requirement("QUO-042", "QUO-043", "QUO-816")
def test_payment_instructions_are_withheld_until_the_customer_proved(
    platform: Platform, check: Check
) -> None:
    """The quote of an SCA customer shows no paymentInstructions before its authorization.

    The challenge may come with the creation of the quote, which answers 201, or with its execution.
    """
    customer = platform.approved.sca_customer()
    creation = platform.api.create_quote(platform.quotes.realtime_body(customer))
    quote = arranged_resource(creation)

    with check("QUO-816"):
        assert creation.status == HTTPStatus.CREATED, creation
    with check("QUO-042"):
        expect_withheld(quote)
    challenged_quote = arrange_challenge(platform, quote)
    with check("QUO-042"):
        expect_withheld(challenged_quote)

    authorized_quote = platform.sca.authorize(challenged_quote)
    with check("QUO-043"):
        assert authorized_quote.get("paymentInstructions"), "it carries no payment instruction"
    platform.observe(
        "a real-time funded quote of an SCA customer is challenged "
        f"{'at its creation' if challenged_quote is quote else 'by execute'}"
    )


@requirement("QUO-834")
def test_a_payment_is_no_proof(platform: Platform) -> None:
    """What a customer pays before the proof that it was asked for executes nothing.

    Its twin is a quote of the same customer that was proved before.
    """
    customer = platform.approved.sca_customer()
    twin = platform.sca.authorize(arrange_challenge(platform, platform.quotes.realtime(customer)))
    quote = arrange_challenge(platform, platform.quotes.realtime(customer))
    try:
        platform.triggers.fire("quote.fund", quoteId=quote["id"], customerId=customer["id"])
    except TriggerFailed:
        platform.observe("no payment arrives before its proof")

    platform.triggers.fire("quote.fund", quoteId=twin["id"], customerId=customer["id"])
    if platform.transactions.at_status(twin, *SETTLING)["status"] not in SETTLING:
        raise PreconditionFailed("a payment executes no quote that was proved")
    assert platform.transactions.of_quote(quote)["status"] not in SETTLING


@requirement("QUO-042")
def test_payment_instructions_are_withheld_between_two_challenges(platform: Platform) -> None:
    """After the first of two proofs, a quote still shows no paymentInstructions."""
    customer = platform.approved.sca_customer()
    platform.triggers.fire("sca.second_challenge", customerId=customer["id"])
    quote = arrange_challenge(platform, platform.quotes.realtime(customer))

    first = platform.sca.send_proof(quote)

    if not first.accepted or first.body["status"] != WAITING:
        raise PreconditionFailed(f"the first proof was not followed by a second one: {first}")
    expect_withheld(first.body)


@requirement("QUO-210")
def test_its_payment_executes_a_quote_that_was_authorized(platform: Platform) -> None:
    """A payment executes a quote of an SCA customer who has proved it before."""
    customer = platform.approved.sca_customer()
    quote = arrange_challenge(platform, platform.quotes.realtime(customer))
    platform.sca.authorize(quote)

    platform.triggers.fire("quote.fund", quoteId=quote["id"], customerId=customer["id"])

    assert platform.transactions.at_status(quote, *SETTLING)["status"] in SETTLING


def expect_withheld(quote: Json) -> None:
    """Assert that a quote has no paymentInstructions."""
    __tracebackhide__ = True
    instructions = quote.get("paymentInstructions")
    expect(not instructions, f"no paymentInstructions yet at {quote['status']}", instructions)
