"""Refused requests about quotes: each has one fault, and its twin without it is accepted."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.platform.platform import Platform
from conformance.platform.resource import arranged_resource, unknown_id
from conformance.scenarios.kit.cases import case
from conformance.scenarios.kit.faults import Fault, having, without
from conformance.scenarios.kit.marks import SETTLING, Check, requirement
from conformance.scenarios.kit.refusals import (
    NOT_FOUND,
    REFUSED,
    field_errors,
    names,
    require_refusal,
)
from conformance.scenarios.quotes.payments import body_with_rail, paid_by
from conformance.verdict.decisions import ResourceMissing

FAULTS: tuple[tuple[str, str, Fault], ...] = (
    ("QUO-140", "no-source", without("source")),
    ("QUO-141", "no-destination", without("destination")),
    ("QUO-143", "no-amount", without("lockedCurrencyAmount")),
    ("QUO-144", "unknown-side", having("lockedCurrencySide", "SIDEWAYS")),
    ("QUO-145", "amount-with-fraction", having("lockedCurrencyAmount", 10_000.5)),
    ("QUO-146", "amount-as-word", having("lockedCurrencyAmount", "plenty")),
    ("QUO-972", "amount-as-text", having("lockedCurrencyAmount", "10000")),
    ("QUO-147", "negative-amount", having("lockedCurrencyAmount", -10_000)),
    ("QUO-148", "amount-of-0", having("lockedCurrencyAmount", 0)),
    ("QUO-149", "unknown-source-type", having("source.sourceType", "BURIED_TREASURE")),
    ("QUO-150", "unknown-destination-type", having("destination.destinationType", "DESERT_ISLE")),
    ("QUO-151", "no-source-account", without("source.accountId")),
    ("QUO-152", "no-destination-account", without("destination.accountId")),
    ("QUO-154", "immediately-as-word", having("immediatelyExecute", "sometimes")),
)
"""Requirement, name and fault of bodies from an internal account to an external one."""

WRONG_AMOUNTS: dict[str, Any] = {
    "QUO-145": 10_000.5,
    "QUO-147": -10_000,
    "QUO-148": 0,
    "QUO-972": "10000",
}
"""Amounts that no quote is about, by their requirement."""

WRONG_TEXTS = (
    pytest.param(7, id="number"),
    pytest.param(["WIRE"], id="list"),
    pytest.param({"code": "WIRE"}, id="object"),
)
"""What is sent in the place of a text."""

REALTIME_FAULTS: dict[str, Fault] = {
    "QUO-153": without("source.currency"),
    **{
        id_: fault
        for id_, _, fault in FAULTS
        if id_ in ("QUO-140", "QUO-141", "QUO-143", "QUO-144", "QUO-149", "QUO-150", "QUO-152")
    },
}
"""The faults of bodies that a payment funds just in time, by their requirement."""


def parameters(faults: tuple[tuple[str, str, Fault], ...]) -> list[object]:
    """Return the rows of a table of faults as parameters of a test."""
    return [case(id_, name, fault) for id_, name, fault in faults]


@pytest.mark.parametrize("fault", parameters(FAULTS))
def test_a_quote_with_one_fault_is_refused(platform: Platform, fault: Fault) -> None:
    """A request between accounts with one fault is refused with 400 or 422."""
    body = platform.quotes.body()

    refusal = platform.api.create_quote(fault(body), valid=False)

    refusal.refused(*REFUSED, twin=platform.api.create_quote(body))


@requirement("QUO-836")
@pytest.mark.parametrize("value", WRONG_TEXTS)
def test_the_purpose_of_a_payment_is_a_text(platform: Platform, value: object) -> None:
    """Another kind of purposeOfPayment is refused; the one that the profile names is accepted.

    Where it names none, the request without any is accepted.
    """
    purpose = platform.profile.bindings.purpose_of_payment
    body = platform.quotes.body()
    if purpose is not None:
        body["purposeOfPayment"] = purpose

    refusal = platform.api.create_quote(having("purposeOfPayment", value)(body), valid=False)

    refusal.refused(*REFUSED, twin=platform.api.create_quote(body))


@requirement("QUO-837")
@pytest.mark.parametrize("value", WRONG_TEXTS)
def test_a_rail_is_a_text(platform: Platform, value: object) -> None:
    """Another kind of paymentRail is refused; one that the destination lists is accepted."""
    body = body_with_rail(platform)

    refusal = platform.api.create_quote(having("destination.paymentRail", value)(body), valid=False)

    refusal.refused(*REFUSED, twin=platform.api.create_quote(body))


@requirement("QUO-838")
@pytest.mark.parametrize("value", [pytest.param(7, id="number"), pytest.param(["7"], id="list")])
def test_a_platform_fee_is_an_object(platform: Platform, value: object) -> None:
    """A number or a list as the platformFeeOverride is refused; the profile's one is accepted."""
    source, destination = platform.quotes.ends(platform.quotes.corridors_from("USD")[0])
    override = platform.profile.bindings.require("platform_fee_override")
    body = platform.quotes.body(source, destination, platformFeeOverride=override)

    refusal = platform.api.create_quote({**body, "platformFeeOverride": value}, valid=False)

    refusal.refused(*REFUSED, twin=platform.api.create_quote(body))


@requirement(*WRONG_AMOUNTS)
@pytest.mark.parametrize("form", ["receiving-side", "immediate", "real-time"])
def test_no_form_of_quote_takes_a_wrong_amount(platform: Platform, check: Check, form: str) -> None:
    """A wrong amount is refused where it is to arrive, is executed at once or is funded later."""
    body = platform.quotes.realtime_body() if form == "real-time" else platform.quotes.body()
    if form == "receiving-side":
        body["lockedCurrencySide"] = "RECEIVING"
    if form == "immediate":
        body["immediatelyExecute"] = True

    refusals = {
        requirement_id: platform.api.create_quote(
            {**body, "lockedCurrencyAmount": amount}, valid=False
        )
        for requirement_id, amount in WRONG_AMOUNTS.items()
    }

    twin = platform.api.create_quote(body)
    for requirement_id, refusal in refusals.items():
        with check(requirement_id):
            refusal.refused(*REFUSED, twin=twin)


@requirement("QUO-142")
def test_a_quote_without_a_side_fixes_an_amount_or_is_refused(platform: Platform) -> None:
    """It is refused, or one side of the created quote has the lockedCurrencyAmount."""
    body = platform.quotes.body()

    answer = platform.api.create_quote(without("lockedCurrencySide")(body), valid=False)

    if not answer.accepted:
        answer.refused(*REFUSED, twin=platform.api.create_quote(body))
        return
    platform.observe("a quote without lockedCurrencySide is created")
    quote = arranged_resource(answer)
    sides = (quote["totalSendingAmount"], quote["totalReceivingAmount"])
    assert body["lockedCurrencyAmount"] in sides, answer


@requirement(*REALTIME_FAULTS)
def test_a_real_time_funded_quote_with_one_fault_is_refused(
    platform: Platform, check: Check
) -> None:
    """A request for real-time funding with one fault is refused with 400 or 422."""
    body = platform.quotes.realtime_body()

    refusals = {
        requirement_id: platform.api.create_quote(fault(body), valid=False)
        for requirement_id, fault in REALTIME_FAULTS.items()
    }

    twin = platform.api.create_quote(body)
    for requirement_id, refusal in refusals.items():
        with check(requirement_id):
            refusal.refused(*REFUSED, twin=twin)


@requirement("QUO-166")
def test_real_time_funding_in_a_currency_that_is_not_offered_is_refused(
    platform: Platform,
) -> None:
    """Real-time funding in the profile's unsupported currency is refused with 400 or 422."""
    body = platform.quotes.realtime_body()
    in_foreign_currency = having("source.currency", platform.profile.bindings.unsupported_currency)

    refusal = platform.api.create_quote(in_foreign_currency(body))

    refusal.refused(*REFUSED, twin=platform.api.create_quote(body))


@requirement("QUO-167")
def test_a_currency_that_no_real_time_funding_is_in_is_named(platform: Platform) -> None:
    """Where real-time funding in a currency that is not sent is refused, a field names it."""
    body = platform.quotes.realtime_body()
    corridors = platform.profile.resources.corridors
    not_sent = {one.receiving for one in corridors} - {one.sending for one in corridors}
    currencies = [platform.profile.bindings.unsupported_currency, *sorted(not_sent)]

    answers = [
        platform.api.create_quote(having("source.currency", currency)(body))
        for currency in currencies
    ]

    refusals = [answer for answer in answers if not answer.accepted and field_errors(answer)]
    if not refusals:
        raise ResourceMissing(f"no invalid field is listed: {answers[0]}")
    assert all(names(refusal, "currency") for refusal in refusals), refusals


@pytest.mark.parametrize(
    "end",
    [
        case("QUO-155", "source", "source"),
        case("QUO-156", "destination", "destination"),
    ],
)
def test_a_quote_that_names_an_unknown_account_is_refused(platform: Platform, end: str) -> None:
    """An unknown accountId of the right form as an end is refused with 400, 404 or 422.

    It may be one of an internal or of an external account.
    """
    body = platform.quotes.body()
    unknown_accounts = [
        unknown_id(body[name]["accountId"]) for name in (end, *({"source", "destination"} - {end}))
    ]

    refusals = [
        platform.api.create_quote(having(f"{end}.accountId", unknown)(body))
        for unknown in unknown_accounts
    ]

    twin = platform.api.create_quote(body)
    for refusal in refusals:
        refusal.refused(*NOT_FOUND, twin=twin)
    platform.observe(f"an unknown account in a quote's body is refused with {refusals[0].status}")


@pytest.mark.parametrize(
    "immediate", [case("QUO-973", "unknown", False), case("QUO-974", "unfunded", True)]
)
def test_a_refused_quote_leaves_no_transaction(platform: Platform, *, immediate: bool) -> None:
    """Only the quote after a refused one adds a transaction that waits or is on its way.

    The refused one is to an unknown account, or is to be executed at once and is not funded.
    """
    source = platform.internal_accounts.account()
    body = platform.quotes.body(source, side="SENDING")
    unknown = unknown_id(body["destination"]["accountId"])
    balance, _ = platform.internal_accounts.balances(source)
    refused = (
        {**body, "immediatelyExecute": True, "lockedCurrencyAmount": 2 * balance}
        if immediate
        else having("destination.accountId", unknown)(body)
    )
    before = paid_by(platform, source["customerId"])

    require_refusal(platform.api.create_quote(refused))

    quote = arranged_resource(platform.api.create_quote(body))
    platform.transactions.of_quote(quote)
    payments = paid_by(platform, source["customerId"])
    if quote["transactionId"] not in payments:
        raise ResourceMissing("transactions do not show that they are payments")
    added = {id_: status for id_, status in payments.items() if id_ not in before}
    left = {id_ for id_, status in added.items() if status in ("PENDING", *SETTLING)}
    assert left == {quote["transactionId"]}, added


@requirement("QUO-162", "ERR-003")
def test_an_account_cannot_pay_itself(platform: Platform, check: Check) -> None:
    """A quote with immediatelyExecute from an account to itself is refused with 400.

    One to another internal account is accepted, or the code tells that it is a self payment. A call
    does not execute one either.
    """
    source = platform.internal_accounts.account()
    to_internal = platform.quotes.body(
        source, platform.internal_accounts.account(amount=0), immediatelyExecute=True
    )
    to_itself = having("destination.accountId", source["id"])(to_internal)

    answer = platform.api.create_quote(to_itself)
    executed = platform.quotes.create_and_execute(without("immediatelyExecute")(to_itself))[-1]
    twin = platform.api.create_quote(to_internal)

    with check("ERR-003"):
        if not (answer.accepted or twin.accepted):
            if answer.code != "SELF_PAYMENT":
                raise ResourceMissing(f"no internal account of another customer is paid: {twin}")
            to_external = platform.quotes.body(source, immediatelyExecute=True)
            twin = platform.api.create_quote(to_external)
        answer.refused(400, twin=twin)
    with check("QUO-162"):
        for last in (answer, executed):
            assert not last.accepted or last.body["status"] not in SETTLING, last


@requirement("QUO-170", "QUO-171")
def test_a_quote_that_does_not_exist_cannot_be_executed(platform: Platform, check: Check) -> None:
    """An execution by an unknown id of the right form is refused with 404 and a code for it."""
    quote = platform.quotes.pending()

    refusal = platform.api.execute_quote(unknown_id(quote["id"]))
    twin = platform.api.execute_quote(quote["id"])

    with check("QUO-170"):
        refusal.refused(404, twin=twin)
    with check("QUO-171"):
        refusal.refused("QUOTE_NOT_FOUND", "NOT_FOUND", twin=twin)


@requirement("QUO-172", "QUO-173")
def test_a_quote_that_does_not_exist_cannot_be_authorized(platform: Platform, check: Check) -> None:
    """An authorization by an unknown id of the right form is refused with 404 and a code for it."""
    quote = platform.sca.challenged()

    refusal = platform.sca.send_proof({**quote, "id": unknown_id(quote["id"])})
    twin = platform.sca.send_proof(quote)

    with check("QUO-172"):
        refusal.refused(404, twin=twin)
    with check("QUO-173"):
        refusal.refused("QUOTE_NOT_FOUND", "NOT_FOUND", twin=twin)
