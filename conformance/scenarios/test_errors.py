"""Error codes of quotes: each is brought about by its cause, beside a twin without it."""

from __future__ import annotations

import pytest

from conformance.client.http import Answer
from conformance.client.platform import Platform
from conformance.scenarios.marks import Check, requirement
from conformance.verdict.decisions import ResourceMissing


@requirement("ERR-001")
def test_a_quote_above_the_balance_is_refused(platform: Platform) -> None:
    """At its creation or at its execution, and one smallest unit is enough."""
    source = platform.account(amount=20_000)
    destination = platform.destination({"id": source["customerId"]})

    steps = platform.transfer(platform.quote_body(source, destination, amount=20_001))

    twin = platform.transfer(platform.quote_body(source, destination, amount=20_000))
    steps[-1].refused(400, "INSUFFICIENT_FUNDS", twin=twin[: len(steps)][-1])


@requirement("ERR-002", "QUO-099")
def test_an_immediate_execution_above_the_balance_is_refused(
    platform: Platform, check: Check
) -> None:
    """The source keeps what it holds."""
    source = platform.account(amount=20_000)
    within = platform.quote_body(source, amount=20_000, immediatelyExecute=True)
    before, _ = platform.balances(source)

    refusal = platform.create_quote({**within, "lockedCurrencyAmount": 20_001})
    left, _ = platform.balances(source)
    twin = platform.create_quote(within)

    with check("ERR-002"):
        refusal.refused(400, "INSUFFICIENT_FUNDS", twin=twin)
    with check("QUO-099"):
        assert left == before


@requirement("ERR-004")
def test_a_corridor_without_a_rate_is_refused(platform: Platform) -> None:
    """Before the rate went away the same request was accepted."""
    corridor = platform.corridor(same_currency=False)
    source = platform.account(corridor.sending)
    destination = platform.destination({"id": source["customerId"]}, corridor.account)
    body = platform.quote_body(source, destination)
    twin = platform.create_quote(body)
    platform.cause(
        "rate.unavailable",
        customerId=source["customerId"],
        sendingCurrency=corridor.sending,
        receivingCurrency=corridor.receiving,
    )

    refusal = platform.create_quote(body)

    refusal.refused(400, "QUOTE_RATE_UNAVAILABLE", twin=twin)


@requirement("ERR-005")
def test_a_rate_that_no_longer_holds_is_refused(platform: Platform) -> None:
    """The quote has not expired, but the market has moved on."""
    corridor = platform.corridor(same_currency=False)
    source = platform.account(corridor.sending)
    destination = platform.destination({"id": source["customerId"]}, corridor.account)
    stale = platform.quote(source, destination)
    platform.cause("rate.stale", quoteId=stale["id"])

    refusal = platform.execute(stale)

    twin = platform.execute(platform.quote(source, destination))
    refusal.refused(400, 409, "QUOTE_RATE_UNAVAILABLE", twin=twin)


@requirement("ERR-006")
def test_a_quote_is_refused_while_its_provider_does_not_answer(platform: Platform) -> None:
    """Before, the same request was accepted."""
    source = platform.account()
    body = platform.quote_body(source)
    twin = platform.create_quote(body)
    platform.cause("quoting.down", customerId=source["customerId"])

    refusal = platform.create_quote(body)

    refusal.refused(400, "QUOTE_REQUEST_FAILED", twin=twin)


@requirement("ERR-010", "LIM-006")
def test_a_transfer_past_the_daily_volume_is_refused(platform: Platform, check: Check) -> None:
    """At its creation or at its execution, and the source keeps what it holds."""
    source = platform.account()
    body = platform.quote_body(source)
    opening, _ = platform.balances(source)
    twin = platform.transfer(body)
    platform.cause(
        "volume.reached",
        customerId=source["customerId"],
        currency=source["balance"]["currency"]["code"],
    )
    # A debit that is shown late would look like another one.
    paid = twin[-1].body["totalSendingAmount"] if twin[-1].accepted else 0
    before = platform.balance_at(source, opening - paid)

    steps = platform.transfer(body)

    with check("ERR-010"):
        steps[-1].refused(429, "DAILY_VOLUME_LIMIT_EXCEEDED", twin=twin[: len(steps)][-1])
    with check("LIM-006"):
        assert platform.balances(source)[0] == before


@requirement("ERR-011")
@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("lockedCurrencySide", "SIDEWAYS"),
        ("lockedCurrencyAmount", "plenty"),
        ("remittanceInformation", "X" * 81),
    ],
)
def test_an_invalid_field_is_named(platform: Platform, field: str, value: object) -> None:
    """The path may start at the body or at the resource; it ends in the field's name."""
    body = platform.quote_body()

    refusal = platform.create_quote({**body, field: value}, valid=False)

    refusal.refused(twin=platform.create_quote(body))
    fields = invalid_fields(refusal)
    assert any(name.rpartition(".")[2] == field for name in fields), (
        f"expected {field} among details.errors[].field, got {fields}"
    )


def invalid_fields(refusal: Answer) -> list[str]:
    """Return the fields that a refusal lists; raises ResourceMissing where it lists none."""
    listed = (refusal.body.get("details") or {}).get("errors")
    if refusal.code != "INVALID_INPUT" or not listed:
        raise ResourceMissing(f"the refusal lists no invalid fields: {refusal}")
    return [str(entry.get("field")) for entry in listed]
