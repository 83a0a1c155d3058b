"""What holds for every answer: its form, and that of errors, currencies, money, times and ids."""

from __future__ import annotations

import json

from conformance.client.actor import Json, given, resource, unknown
from conformance.client.http import Answer
from conformance.client.platform import Platform
from conformance.contract.judge import judge
from conformance.scenarios.marks import Check, requirement
from conformance.verdict.decisions import ResourceMissing

JSON_CONTENT = {"content-type": "application/json"}


@requirement("CNV-001", "CNV-002", "CNV-003")
def test_the_answers_of_a_payment_are_documented(platform: Platform) -> None:
    """Their status, media type and shape are those of their operations."""
    source = platform.account()

    platform.completed(platform.quote(source))

    for name in ("getConfig", "listPlatformInternalAccounts", "listPlatformExternalAccounts"):
        platform.client.call(name)
    platform.client.call("getCustomer", path={"customerId": source["customerId"]})


@requirement("CNV-004", "CNV-005", "CNV-006", "CNV-007", "CNV-008", "CNV-009")
def test_an_error_says_what_is_wrong(platform: Platform, check: Check) -> None:
    """It carries a code, a reason and, for invalid fields, an entry for each."""
    body = platform.customer_body()

    refusal = platform.create_customer({**body, "customerType": 7}, valid=False)

    refusal.refused(twin=platform.create_customer(body))
    with check("CNV-007"):
        given(refusal.body, "details")
    with check("CNV-008"):
        invalid_fields(refusal)
    with check("CNV-009"):
        given(invalid_fields(refusal)[0], "message")


@requirement("CNV-010")
def test_a_code_stands_under_its_status(platform: Platform) -> None:
    """A code that is not of the interface may stand under any."""
    body = platform.quote_body()
    accepted = platform.create_quote(body)
    missing = unknown(resource(accepted)["id"])
    refusals = [
        platform.create_quote({**body, "lockedCurrencySide": "BOTH"}, valid=False),
        platform.create_quote({**body, "lockedCurrencyAmount": -1}, valid=False),
        platform.client.call("executeQuote", path={"quoteId": missing}),
    ]

    for refusal in refusals[:2]:
        refusal.refused(twin=accepted)

    if not any(refusal.code in judge().statuses for refusal in refusals):
        raise ResourceMissing(f"no code of the interface came: {[r.code for r in refusals]}")


@requirement("CNV-011", "CNV-012", "CNV-013", "CNV-014", "CNV-015", "CNV-016", "CNV-017")
def test_money_names_its_currency(platform: Platform, check: Check) -> None:
    """It says how many decimals amounts in it have."""
    currency: Json = platform.account(amount=0)["balance"]["currency"]

    with check("CNV-014"):
        given(currency, "name")
    with check("CNV-015"):
        given(currency, "symbol")


@requirement("CNV-020")
def test_us_dollars_have_two_decimals(platform: Platform) -> None:
    """Their amounts are in cents."""
    corridor, *_ = platform.corridors_from("USD")

    currency = platform.account(corridor.sending, amount=0)["balance"]["currency"]

    assert currency.get("decimals") == 2


@requirement("CNV-018", "CNV-019")
def test_times_and_ids_have_one_form(platform: Platform) -> None:
    """Times are in UTC, ids name the type of what they identify."""
    platform.completed()


@requirement("CNV-021")
def test_a_body_that_is_no_json_is_refused(platform: Platform) -> None:
    """Here the last brace is missing."""
    whole = json.dumps(platform.quote_body()).encode()

    def send(content: bytes, *, valid: bool) -> Answer:
        return platform.client.call(
            "createQuote", content=content, headers=JSON_CONTENT, valid=valid
        )

    send(whole[:-1], valid=False).refused(400, twin=send(whole, valid=False))


def invalid_fields(refusal: Answer) -> list[Json]:
    """Return the entries of ``details.errors``."""
    details = given(refusal.body, "details")
    listed: list[Json] | None = details.get("errors") if isinstance(details, dict) else None
    if not listed:
        raise ResourceMissing(f"no invalid field is listed: {refusal}")
    return listed
