"""What holds of every quote, for those that are not executed from a funded account by a call."""

from __future__ import annotations

from datetime import timedelta

import pytest

from conformance.platform.platform import Platform
from conformance.platform.resource import (
    Body,
    Resource,
    arranged_body,
    arranged_resource,
    require_member,
)
from conformance.scenarios.cards.holdings import two_accounts
from conformance.scenarios.kit.cases import case
from conformance.scenarios.kit.challenges import WAITING
from conformance.scenarios.kit.marks import SETTLING, Check, requirement
from conformance.scenarios.kit.notation import arrange_moment, moment
from conformance.scenarios.quotes.kinds import Kind, create_payer, create_quote, pay, quote_body
from conformance.scenarios.quotes.payments import pulling_body
from conformance.scenarios.quotes.terms import (
    FEE_RULES,
    MAX_LIFETIME,
    arranged_quote,
    decide_fee_rule,
    expect_fees_are_the_difference,
    expect_net_amounts_are_converted,
    expect_own_fee,
    expect_same_terms,
)
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing

AMOUNT = 10_007
"""A locked amount, in smallest units, that no usual fee divides evenly."""

ENDS = {
    "QUO-031": ("source", "sourceType"),
    "QUO-032": ("source", "accountId"),
    "QUO-033": ("destination", "destinationType"),
    "QUO-034": ("destination", "accountId"),
}
"""What an end of a quote shows as it was sent, by its requirement."""

LOCKED = {
    "SENDING": ("totalSendingAmount", ("QUO-044", "QUO-048", "QUO-050", "QUO-051")),
    "RECEIVING": ("totalReceivingAmount", ("QUO-045", "QUO-049", "QUO-050", "QUO-052")),
}
"""The locked amount by its side, with what a quote within one currency keeps: this amount, the rate
1, fees, and amounts that differ by them."""

FIXED_BY_EXECUTION = {
    "QUO-057": "totalSendingAmount",
    "QUO-058": "totalReceivingAmount",
    "QUO-059": "exchangeRate",
    "QUO-060": "feesIncluded",
    "QUO-084": "id",
    "QUO-085": "transactionId",
}
"""What an execution leaves as it was, by its requirement."""


ALWAYS = ("QUO-037", "QUO-039")
"""What every quote to an account shows: the currency of the account, and its description."""

FROM_ACCOUNT = ("QUO-032", "QUO-041")
"""What a quote from an account shows, and that it shows no instructions to fund it."""

EXECUTED = ("business", "pulled", "platform")
"""The kinds of quotes, beside the usual one, that a call executes without a proof."""

LIFETIME = ("QUO-030", "QUO-062")
"""That a quote which waits ends after its creation, by a quarter of an hour at most."""


@pytest.mark.parametrize(
    ("kind", "decided"),
    [
        case(decided, kind, kind, frozenset(decided))
        for kind, decided in (
            ("immediate", (*ENDS, *ALWAYS, *FROM_ACCOUNT)),
            ("pulled", (*ENDS, *ALWAYS, *FROM_ACCOUNT, *LIFETIME)),
            ("platform", (*ENDS, *ALWAYS, *FROM_ACCOUNT, *LIFETIME)),
            ("real-time", (*(ENDS.keys() - {"QUO-032"}), *ALWAYS, *LIFETIME)),
        )
    ],
)
def test_a_quote_of_each_kind_shows_its_ends(
    platform: Platform, check: Check, kind: Kind, decided: frozenset[str]
) -> None:
    """An immediate, a pulled and a real-time funded quote show what was sent, and when they end.

    So does a quote of the platform.
    """
    customer = platform.approved.customer()
    destination = platform.external_accounts.account(customer)
    body = quote_body(platform, kind, customer, destination, description="003118")

    quote = arranged_quote(platform.api.create_quote(body))

    for requirement_id in ENDS.keys() & decided:
        end, member = ENDS[requirement_id]
        with check(requirement_id):
            assert quote[end].get(member) == body[end][member], quote
    with check("QUO-037"):
        assert quote["receivingCurrency"]["code"] == require_member(destination, "currency")
    with check("QUO-039"):
        assert require_member(quote, "description") == "003118"
    if decided.issuperset(FROM_ACCOUNT):
        with check("QUO-041"):
            assert not quote.get("paymentInstructions"), quote
    if decided.issuperset(LIFETIME):
        lifetime = arrange_moment(quote, "expiresAt") - arrange_moment(quote, "createdAt")
        with check("QUO-030"):
            assert lifetime > timedelta(0), f"it lives for {lifetime.total_seconds()} s"
        with check("QUO-062"):
            assert lifetime <= MAX_LIFETIME, f"it lives for {lifetime.total_seconds()} s"


@pytest.mark.parametrize("kind", ["business", "immediate", "pulled", "real-time", "platform"])
@pytest.mark.parametrize(
    "side", [case(ids, side.lower(), side) for side, (_, ids) in LOCKED.items()]
)
def test_a_quote_of_each_kind_keeps_the_amount_that_is_locked(
    platform: Platform, check: Check, side: str, kind: Kind
) -> None:
    """Within one currency, the locked amount stays, the rate is 1, and fees are the difference."""
    quote = create_quote(platform, kind, lockedCurrencySide=side, lockedCurrencyAmount=AMOUNT)

    if quote["sendingCurrency"]["code"] != quote["receivingCurrency"]["code"]:
        raise ResourceMissing(f"the usual {kind} quote converts: {quote}")
    member, (amount_id, rate_id, fees_id, difference_id) = LOCKED[side]
    with check(amount_id):
        assert quote[member] == AMOUNT, quote
    with check(rate_id):
        assert quote["exchangeRate"] == 1, quote
    with check(fees_id):
        assert quote.get("feesIncluded") is not None, "feesIncluded is not populated"
    with check(difference_id):
        expect_fees_are_the_difference(quote)


@requirement("QUO-037", "QUO-046", "QUO-047", "QUO-053", "QUO-054")
@pytest.mark.parametrize(
    "kind",
    [
        *(case(("QUO-085", "QUO-851"), kind, kind) for kind in EXECUTED),
        "immediate",
        "real-time",
    ],
)
def test_a_conversion_of_each_kind_keeps_the_amount_that_is_locked(
    platform: Platform, check: Check, kind: Kind
) -> None:
    """Between currencies, the locked amount stays, and what the fees leave is converted.

    An execution leaves the terms as they were.
    """
    corridor = platform.quotes.conversion_from(platform.profile.currency)
    approve = platform.approved.business if kind == "business" else platform.approved.customer
    customer = approve(currencies=corridor.currencies)
    destination = platform.external_accounts.account(customer, corridor.account)
    body = quote_body(
        platform, kind, customer, destination, lockedCurrencyAmount=AMOUNT, description="Rent, June"
    )
    sending = conversion(platform, body)
    receiving = conversion(
        platform,
        {
            **body,
            "lockedCurrencySide": "RECEIVING",
            # Some amount of the receiving currency that the source can pay for.
            "lockedCurrencyAmount": sending["totalReceivingAmount"],
        },
    )

    with check("QUO-037"):
        for quote in (sending, receiving):
            code = require_member(destination, "currency")
            assert quote["receivingCurrency"].get("code") == code, quote
    with check("QUO-046"):
        assert sending["totalSendingAmount"] == AMOUNT, sending
    with check("QUO-047"):
        assert receiving["totalReceivingAmount"] == sending["totalReceivingAmount"], receiving
    for requirement_id, quote in {"QUO-053": sending, "QUO-054": receiving}.items():
        with check(requirement_id):
            expect_net_amounts_are_converted([quote])
    if kind in EXECUTED:
        execution = platform.quotes.execute(receiving)
        with check("QUO-085"):
            assert execution.get("transactionId") == receiving["transactionId"], execution
        with check("QUO-851"):
            expect_same_terms(execution, receiving)
            assert moment(execution["expiresAt"]) == moment(receiving["expiresAt"]), execution


@requirement("QUO-161")
@pytest.mark.parametrize("kind", ["business", "pulled", "real-time", "platform"])
def test_a_platform_fee_of_one_quote_shows_in_each_kind(platform: Platform, kind: Kind) -> None:
    """A quote of each kind from USD with platformFeeOverride has platformFeesIncluded above 0."""
    override = platform.profile.bindings.require("platform_fee_override")
    customer = create_payer(platform, kind)
    destination = platform.external_accounts.account(customer)

    answer = platform.api.create_quote(
        quote_body(platform, kind, customer, destination, platformFeeOverride=override)
    )

    expect_own_fee(platform, answer)


@requirement(*FIXED_BY_EXECUTION, "QUO-609", "QUO-610", "QUO-611", "QUO-613")
@requirement("QUO-031", "QUO-033", "QUO-041", "QUO-612", "QUO-614", "QUO-830", "QUO-902")
def test_a_challenge_leaves_the_terms_as_they_were_quoted(platform: Platform, check: Check) -> None:
    """An execution that asks for a proof shows the quote as it was before."""
    quote = platform.quotes.pending(platform.sca.account(), description="Rent, August")

    execution = arranged_body(platform.api.execute_quote(quote["id"]))

    if execution.get("status") != WAITING:
        raise PreconditionFailed(f"no proof is asked for: {execution}")
    for requirement_id, member in FIXED_BY_EXECUTION.items():
        with check(requirement_id):
            assert execution[member] == quote[member], execution
    with check("QUO-609"):
        assert execution["source"].get("accountId") == quote["source"]["accountId"], execution
    with check("QUO-610"):
        assert execution["destination"].get("accountId") == quote["destination"]["accountId"]
    with check("QUO-611"):
        assert moment(execution["expiresAt"]) == moment(quote["expiresAt"]), execution
    with check("QUO-613"):
        for member in ("sendingCurrency", "receivingCurrency"):
            assert execution[member]["code"] == quote[member]["code"], execution
    with check("QUO-031"):
        assert execution["source"].get("sourceType") == "ACCOUNT", execution
    with check("QUO-033"):
        assert execution["destination"].get("destinationType") == "ACCOUNT", execution
    with check("QUO-041"):
        assert not execution.get("paymentInstructions"), execution
    with check("QUO-612"):
        assert moment(execution["createdAt"]) == moment(quote["createdAt"]), execution
    with check("QUO-614"):
        assert require_member(execution, "description") == "Rent, August"
    with check("QUO-902"):
        require_member(quote, "description")
        assert execution.get("description"), execution
    with check("QUO-830"):
        fee = require_member(quote, "platformFeesIncluded")
        assert require_member(execution, "platformFeesIncluded") == fee


@requirement("QUO-828")
@pytest.mark.parametrize("side", ["SENDING", "RECEIVING"])
def test_an_authorization_leaves_the_terms_as_they_were_quoted(
    platform: Platform, side: str
) -> None:
    """An authorized quote shows the ends, currencies, amounts, rate and fees of its creation.

    Its description and the time of its creation stay too.
    """
    quote = platform.quotes.pending(platform.sca.account(), side=side, description="Rent, May")
    challenged = {**quote, **platform.quotes.execute(quote)}

    authorized = platform.sca.authorize(challenged)

    expect_same_terms(authorized, quote)


@requirement("QUO-130")
@pytest.mark.parametrize("kind", ["immediate", "pulled", "real-time"])
def test_no_kind_of_quote_passes_by_the_terms(platform: Platform, kind: Kind) -> None:
    """A quote of any kind is refused until the customer's acceptance is recorded."""
    customer = platform.approved.customer(consent=False)
    destination = platform.external_accounts.account(customer)
    body = quote_body(platform, kind, customer, destination)

    before = platform.api.create_quote(body)

    platform.customers.change(customer, endUserTermsConsent=platform.customers.terms_consent())
    before.refused("END_USER_TERMS_NOT_ACCEPTED", twin=platform.api.create_quote(body))


@requirement("QUO-033", "QUO-034", "QUO-037", "QUO-089")
@pytest.mark.parametrize("kind", ["immediate", "pulled", "real-time", "platform"])
@pytest.mark.parametrize(
    "side", [case(rules.values(), side, side) for side, rules in FEE_RULES.items()]
)
def test_a_payment_of_each_kind_arrives_on_an_internal_account(
    platform: Platform, check: Check, kind: Kind, side: str
) -> None:
    """A customer's other internal account gains the totalReceivingAmount, converted or not.

    The customer pays, or the platform does. The quote shows the account, receives its currency and
    keeps to the rule of fees.
    """
    payer, account = payer_and_other_account(platform)
    before, _ = platform.internal_accounts.balances(account)
    body = quote_body(platform, kind, payer, account, lockedCurrencySide=side)
    answer = platform.api.create_quote(body)
    if not answer.accepted:
        raise ResourceMissing(f"the target does not pay so into an internal account: {answer}")
    quote = arranged_resource(answer, payer)

    pay(platform, kind, quote)

    with check("QUO-033"):
        assert quote["destination"].get("destinationType") == "ACCOUNT", quote
    with check("QUO-034"):
        assert quote["destination"].get("accountId") == account["id"], quote
    with check("QUO-037"):
        code = account["balance"]["currency"]["code"]
        assert quote["receivingCurrency"].get("code") == code, quote
    decide_fee_rule(check, quote, side)
    with check("QUO-089"):
        expected = before + quote["totalReceivingAmount"]
        assert platform.internal_accounts.wait_for_balance(account, expected) == expected


@requirement("QUO-086")
@pytest.mark.parametrize("side", ["SENDING", "RECEIVING"])
def test_a_business_is_debited_by_what_its_quote_says(platform: Platform, side: str) -> None:
    """The execution of a quote of a business lowers its balance by the totalSendingAmount."""
    source = platform.internal_accounts.account(customer=platform.approved.business())
    before, _ = platform.internal_accounts.balances(source)
    quote = platform.quotes.pending(source, side=side)

    platform.quotes.execute(quote)

    expected = before - quote["totalSendingAmount"]
    assert platform.internal_accounts.wait_for_balance(source, expected) == expected


@requirement("QUO-110")
@pytest.mark.parametrize("kind", ["business", "pulled", "authorized", "platform"])
def test_no_kind_of_quote_is_executed_after_its_expiry(platform: Platform, kind: Kind) -> None:
    """An expired quote of a business, of the platform, or of another kind is refused so."""
    quote = create_quote(platform, kind)
    platform.triggers.fire("quote.expire", quoteId=quote["id"], expiresAt=quote["expiresAt"])

    refusal = platform.api.execute_quote(quote["id"])

    codes = ("QUOTE_EXPIRED", "QUOTE_RATE_UNAVAILABLE")
    # An earlier twin may have expired as well meanwhile.
    twin = create_quote(platform, kind)
    refusal.refused(400, *codes, twin=platform.api.execute_quote(twin["id"]))


@requirement("QUO-092")
@pytest.mark.parametrize("kind", ["immediate", "authorized"])
def test_a_call_executes_no_quote_that_was_paid_in_another_way(
    platform: Platform, kind: Kind
) -> None:
    """An execution of an immediate or an authorized quote does not debit a second time."""
    quote = create_quote(platform, kind)
    source = Resource({"id": quote["source"]["accountId"], "customerId": quote.owner["id"]})
    if kind == "authorized":
        pay(platform, kind, quote)
    if platform.transactions.at_status(quote, "COMPLETED").get("status") != "COMPLETED":
        raise PreconditionFailed("the payment does not complete")
    before, _ = platform.internal_accounts.balances(source)

    second = platform.api.execute_quote(quote["id"])

    assert platform.internal_accounts.balances(source)[0] >= before, second


@requirement("QUO-854")
def test_what_was_pulled_arrives_once(platform: Platform) -> None:
    """A second execution of a quote that pulled its money brings no more to its destination."""
    customer = platform.approved.customer()
    body = pulling_body(platform, customer)
    account = Resource({"id": body["destination"]["accountId"], "customerId": customer["id"]})
    before, _ = platform.internal_accounts.balances(account)
    quote = arranged_resource(platform.api.create_quote(body), customer)
    platform.quotes.complete(quote)
    expected = before + quote["totalReceivingAmount"]
    if platform.internal_accounts.wait_for_balance(account, expected) != expected:
        raise PreconditionFailed("what was pulled does not arrive", breaks=["QUO-089"])

    second = platform.api.execute_quote(quote["id"])
    # By the time that a later payment has arrived, what the second execution brings has, too.
    later = arranged_resource(platform.api.create_quote(body), customer)
    platform.quotes.complete(later)

    expected += later["totalReceivingAmount"]
    assert platform.internal_accounts.wait_for_balance(account, expected) == expected, second


@requirement("QUO-098")
def test_proofs_of_two_quotes_pay_no_more_than_the_balance(platform: Platform) -> None:
    """Of two authorized quotes that together exceed the balance, one never settles."""
    source = platform.internal_accounts.account(
        amount=15_000, customer=platform.approved.sca_customer()
    )
    first, second = (platform.quotes.pending(source, amount=10_000) for _ in range(2))
    steps = [platform.api.execute_quote(quote["id"]) for quote in (first, second)]
    if arranged_body(steps[0])["status"] != WAITING:
        raise PreconditionFailed(f"no proof is asked for: {steps[0]}")
    arranged_body(platform.sca.authorize_fully({**first, **steps[0].body}))

    if steps[1].accepted:
        steps.append(platform.sca.authorize_fully({**second, **steps[1].body}))

    assert not steps[-1].accepted or steps[-1].body.get("status") not in SETTLING, steps[-1]
    assert platform.transactions.of_quote(second).get("status") not in SETTLING


def payer_and_other_account(platform: Platform) -> tuple[Resource, Resource]:
    """Return a customer, and its internal account in another than the usual currency.

    Raises:
        ResourceMissing: the corridors of the profile have one sending currency alone.
    """
    _, account = two_accounts(platform)
    return account.owner, account


def conversion(platform: Platform, body: Body) -> Resource:
    """Create a quote between two currencies, and return it.

    Raises:
        ResourceMissing: it is refused, or within one currency.
    """
    answer = platform.api.create_quote(body)
    if not answer.accepted:
        raise ResourceMissing(f"the target converts nothing so: {answer}")
    quote = arranged_resource(answer)
    if quote["sendingCurrency"]["code"] == quote["receivingCurrency"]["code"]:
        raise ResourceMissing(f"the quote is within one currency: {quote}")
    return quote
