"""The members of a quote: their forms, and what they take over from the request."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from conformance.platform.platform import Platform
from conformance.platform.resource import Json, arranged_resource, require_member
from conformance.scenarios.embedded_wallets.signing import funded_wallet, payment
from conformance.scenarios.kit.marks import Check, requirement
from conformance.scenarios.kit.notation import arrange_moment
from conformance.scenarios.kit.shapes import expect_members
from conformance.scenarios.quotes.terms import MAX_LIFETIME, arranged_quote
from conformance.testdata.beneficiaries import beneficiary_example
from conformance.verdict.decisions import ResourceMissing

PARTS_OF_RATES = (
    "counterpartyMultiplier",
    "counterpartyFixedFee",
    "gridApiMultiplier",
    "gridApiFixedFee",
    "gridApiVariableFeeRate",
    "gridApiVariableFeeAmount",
)
"""Members of rateDetails."""


@requirement(
    "QUO-001",
    "QUO-002",
    "QUO-003",
    "QUO-004",
    "QUO-005",
    "QUO-006",
    "QUO-007",
    "QUO-008",
    "QUO-009",
    "QUO-010",
    "QUO-011",
    "QUO-012",
    "QUO-014",
    "QUO-021",
)
@pytest.mark.parametrize("same_currency", [True, False], ids=["same-currency", "cross-currency"])
def test_a_quote_has_all_of_its_members(platform: Platform, same_currency: bool) -> None:
    """The judge checks the members of a new quote and of an executed one."""
    corridor = platform.quotes.corridor(same_currency=same_currency)

    quote = platform.quotes.pending(*platform.quotes.ends(corridor))

    platform.quotes.execute(quote)


@requirement("QUO-013")
def test_platform_fees_of_a_quote_are_an_integer(platform: Platform) -> None:
    """A quote may leave out platformFeesIncluded; the judge checks a given one."""
    quote = platform.quotes.pending()

    require_member(quote, "platformFeesIncluded")


@requirement("QUO-818", "QUO-819", "QUO-820", "QUO-821")
@pytest.mark.parametrize("same_currency", [True, False], ids=["same-currency", "cross-currency"])
def test_a_quote_shows_the_members_of_its_shape(
    platform: Platform, check: Check, same_currency: bool
) -> None:
    """A quote shows the platform's fees, the description that was sent, and its rateDetails.

    Without rateDetails nobody can tell what the rate and the fees are made of.
    """
    ends = platform.quotes.ends(platform.quotes.corridor(same_currency=same_currency))
    quote = platform.quotes.pending(*ends, description="Invoice 3117")

    listed = {
        "QUO-818": "platformFeesIncluded",
        "QUO-819": "description",
        "QUO-820": "rateDetails",
    }
    expect_members(check, quote, listed)
    with check("QUO-821"):
        details = require_member(quote, "rateDetails")
        absent = [name for name in PARTS_OF_RATES if details.get(name) is None]
        assert not absent, f"rateDetails lack {', '.join(absent)}"


@requirement("QUO-022", "QUO-023", "QUO-024")
def test_rate_details_carry_the_parts_of_the_service(platform: Platform, check: Check) -> None:
    """A quote may leave out rateDetails; the judge checks their members where they are given."""
    quote = platform.quotes.pending()

    with check("QUO-022"):
        require_member(quote, "rateDetails")
    for requirement_id, name in (("QUO-023", "gridApiMultiplier"), ("QUO-024", "gridApiFixedFee")):
        with check(requirement_id):
            require_member(require_member(quote, "rateDetails"), name)


@requirement("QUO-015", "QUO-039", "QUO-159")
def test_a_description_is_shown_as_it_was_sent(platform: Platform, check: Check) -> None:
    """A quote may leave out the description of the request, but not change it."""
    text = f"Invoice {platform.samples.digits(6)}, material & work"

    answer = platform.api.create_quote(platform.quotes.body(description=text))

    with check("QUO-159"):
        answer.expect_accepted()
    with check("QUO-015"):
        require_member(arranged_quote(answer), "description")
    with check("QUO-039"):
        assert require_member(arranged_quote(answer), "description") == text


@requirement("QUO-160")
@pytest.mark.parametrize("kind", ["usual", "real-time"])
def test_the_reason_of_a_payment_may_be_told(platform: Platform, kind: str) -> None:
    """A quote with the purposeOfPayment that the profile names is accepted.

    So is one that is funded just in time, where such a quote is accepted.
    """
    purpose = platform.profile.bindings.purpose_of_payment
    if purpose is None:
        raise ResourceMissing("bindings.purpose_of_payment of the profile names none")
    body = platform.quotes.body() if kind == "usual" else platform.quotes.realtime_body()
    if kind != "usual":
        arranged_quote(platform.api.create_quote(body))

    answer = platform.api.create_quote({**body, "purposeOfPayment": purpose})

    answer.expect_accepted()


def usual_quote(platform: Platform) -> Json:
    """Create a quote between accounts of a customer, and return it."""
    return platform.quotes.pending()


def quote_of_a_proven_customer(platform: Platform) -> Json:
    """Create a quote of a customer who proves each payment, and return it."""
    return platform.quotes.pending(platform.sca.account())


def quote_from_a_wallet(platform: Platform) -> Json:
    """Create a quote from an embedded wallet, and return it."""
    return payment(platform, funded_wallet(platform)).quote or {}


def quote_to_an_internal_account(platform: Platform) -> Json:
    """Create a quote from one customer's internal account to that of another, and return it.

    Raises:
        ResourceMissing: no payment goes to such an account.
    """
    source, receiver = (platform.internal_accounts.account(amount=n) for n in (40_000, 0))
    answer = platform.api.create_quote(platform.quotes.body(source, receiver))
    if not answer.accepted:
        raise ResourceMissing(f"customers pay nothing into such accounts: {answer}")
    return arranged_resource(answer)


@requirement("QUO-030", "QUO-062")
@pytest.mark.parametrize(
    "create",
    [
        pytest.param(usual_quote, id="usual"),
        pytest.param(quote_of_a_proven_customer, id="authorized"),
        pytest.param(quote_from_a_wallet, id="wallet"),
        pytest.param(quote_to_an_internal_account, id="inside"),
    ],
)
def test_a_pending_quote_expires_within_a_quarter_of_an_hour(
    platform: Platform, check: Check, create: Callable[[Platform], Json]
) -> None:
    """The expiresAt of a new quote is after its createdAt, by 15 minutes at most.

    So it is where the customer has to prove a payment, and whatever pays or is paid.
    """
    quote = create(platform)

    lifetime = arrange_moment(quote, "expiresAt") - arrange_moment(quote, "createdAt")

    with check("QUO-030"):
        assert lifetime > timedelta(0), f"it lives for {lifetime.total_seconds()} s"
    with check("QUO-062"):
        assert lifetime <= MAX_LIFETIME, f"it lives for {lifetime.total_seconds()} s"


@requirement("QUO-031", "QUO-032", "QUO-033", "QUO-034", "QUO-041")
def test_a_quote_shows_the_accounts_that_were_sent(platform: Platform, check: Check) -> None:
    """Source and destination are those of the request, and there are no paymentInstructions."""
    body = platform.quotes.body()
    source, destination = body["source"], body["destination"]

    quote = arranged_quote(platform.api.create_quote(body))

    with check("QUO-031"):
        assert quote["source"].get("sourceType") == source["sourceType"]
    with check("QUO-032"):
        assert quote["source"].get("accountId") == source["accountId"]
    with check("QUO-033"):
        assert quote["destination"].get("destinationType") == destination["destinationType"]
    with check("QUO-034"):
        assert quote["destination"].get("accountId") == destination["accountId"]
    with check("QUO-041"):
        assert not quote.get("paymentInstructions")


@requirement("QUO-158")
def test_no_rail_needs_to_be_named(platform: Platform) -> None:
    """A request without paymentRail is accepted."""
    answer = platform.api.create_quote(platform.quotes.body())

    answer.expect_accepted()


@requirement("QUO-158")
def test_no_rail_needs_to_be_named_for_the_account_of_a_business(platform: Platform) -> None:
    """A request without paymentRail is accepted where the beneficiary is a business."""
    corridor = platform.quotes.corridor_to("usd_account")
    source = platform.internal_accounts.account(corridor.sending)
    body = platform.external_accounts.body_with_beneficiary(
        source.owner, "USD", beneficiary_example("business").twin
    )
    account = arranged_resource(platform.api.create_external_account(body))

    answer = platform.api.create_quote(
        platform.quotes.body(source, platform.external_accounts.activate(account))
    )

    answer.expect_accepted()


@requirement("QUO-035", "QUO-157")
def test_a_rail_of_the_destination_is_accepted_and_not_echoed(
    platform: Platform, check: Check
) -> None:
    """A paymentRail of the destination's account is accepted, and the quote does not show it."""
    source = platform.internal_accounts.account()
    destination = platform.external_accounts.account(source.owner)
    rails = destination["accountInfo"].get("paymentRails")
    if not rails:
        raise ResourceMissing(f"{destination['id']} lists no paymentRails")
    body = platform.quotes.body(source, destination)
    body["destination"]["paymentRail"] = rails[0]

    answer = platform.api.create_quote(body)

    with check("QUO-157"):
        answer.expect_accepted()
    with check("QUO-035"):
        assert arranged_quote(answer)["destination"].get("paymentRail") is None


@requirement("QUO-036", "QUO-037")
@pytest.mark.parametrize("same_currency", [True, False], ids=["same-currency", "cross-currency"])
def test_a_quote_is_in_the_currencies_of_its_accounts(
    platform: Platform, check: Check, same_currency: bool
) -> None:
    """A quote shows the currency codes of both accounts, which the request does not name."""
    source, destination = platform.quotes.ends(
        platform.quotes.corridor(same_currency=same_currency)
    )

    quote = platform.quotes.pending(source, destination)

    with check("QUO-036"):
        assert quote["sendingCurrency"].get("code") == source["balance"]["currency"]["code"]
    with check("QUO-037"):
        assert quote["receivingCurrency"].get("code") == destination["currency"]


@requirement("QUO-016", "QUO-017", "QUO-018", "QUO-019", "QUO-038", "QUO-040", "QUO-074", "QUO-827")
def test_a_realtime_funded_quote_says_how_to_fund_it(platform: Platform, check: Check) -> None:
    """A real-time funded quote is PENDING in its source's currency, with paymentInstructions."""
    body = platform.quotes.realtime_body()

    quote = arranged_quote(platform.api.create_quote(body))

    with check("QUO-074"):
        assert quote["status"] == "PENDING"
    with check("QUO-038"):
        assert quote["sendingCurrency"].get("code") == body["source"]["currency"]
    with check("QUO-040"):
        assert quote.get("paymentInstructions"), "it carries no payment instruction"
    with check("QUO-827"):
        sent = {name: body["source"][name] for name in ("customerId", "currency")}
        shown = {name: quote["source"][name] for name in sent if quote["source"].get(name)}
        if not shown:
            raise ResourceMissing(f"the source is shown without its customer: {quote['source']}")
        assert shown.items() <= sent.items()
    with check("QUO-019"):
        instructions = require_member(quote, "paymentInstructions")
        if not any(entry.get("instructionsNotes") for entry in instructions):
            raise ResourceMissing("no payment instruction has instructionsNotes")


@requirement("QUO-070", "QUO-071")
def test_a_same_currency_quote_is_created_pending(platform: Platform, check: Check) -> None:
    """A quote within one currency is answered with 201, and its status is PENDING."""
    body = platform.quotes.body(*platform.quotes.ends(platform.quotes.corridor(same_currency=True)))

    answer = platform.api.create_quote(body)

    with check("QUO-070"):
        assert answer.status == 201, answer
    with check("QUO-071"):
        assert arranged_quote(answer)["status"] == "PENDING"


@requirement("QUO-070", "QUO-072")
def test_a_cross_currency_quote_is_created_pending(platform: Platform, check: Check) -> None:
    """A quote between two currencies is answered with 201, and its status is PENDING."""
    body = platform.quotes.body(
        *platform.quotes.ends(platform.quotes.corridor(same_currency=False))
    )

    answer = platform.api.create_quote(body)

    with check("QUO-070"):
        assert answer.status == 201, answer
    with check("QUO-072"):
        assert arranged_quote(answer)["status"] == "PENDING"


@requirement("QUO-073")
def test_immediately_execute_false_leaves_a_quote_pending(platform: Platform) -> None:
    """The status of a quote with immediatelyExecute false is PENDING, as without the member."""
    quote = platform.quotes.pending(immediatelyExecute=False)

    assert quote["status"] == "PENDING"


@requirement("QUO-075", "QUO-076")
def test_each_request_makes_a_quote_of_its_own(platform: Platform, check: Check) -> None:
    """Two requests with the same body make quotes of different id and transactionId."""
    body = platform.quotes.body()

    first, second = (arranged_quote(platform.api.create_quote(body)) for _ in range(2))

    with check("QUO-075"):
        assert first["id"] != second["id"]
    with check("QUO-076"):
        assert first["transactionId"] != second["transactionId"]


@requirement("QUO-077")
def test_creating_a_quote_debits_nothing(platform: Platform) -> None:
    """The balance of the source is the same before and after the creation of a quote."""
    source = platform.internal_accounts.account()
    before, _ = platform.internal_accounts.balances(source)

    platform.quotes.pending(source)

    assert platform.internal_accounts.balances(source)[0] == before
