"""Error codes of quotes: each is brought about by its cause, beside a twin without it."""

from __future__ import annotations

import pytest

from conformance.exchange.answer import Answer
from conformance.platform.platform import Platform
from conformance.scenarios.kit.marks import Check, requirement
from conformance.verdict.decisions import ResourceMissing, expect


@requirement("ERR-001")
def test_a_quote_above_the_balance_is_refused(platform: Platform) -> None:
    """At its creation or at its execution, and one smallest unit is enough."""
    source = platform.internal_accounts.account(amount=20_000)
    destination = platform.external_accounts.account(source.owner)

    steps = platform.quotes.create_and_execute(
        platform.quotes.body(source, destination, amount=20_001)
    )

    twin = platform.quotes.create_and_execute(
        platform.quotes.body(source, destination, amount=20_000)
    )
    steps[-1].refused(400, "INSUFFICIENT_FUNDS", twin=twin[: len(steps)][-1])


@requirement("ERR-002", "QUO-099")
def test_an_immediate_execution_above_the_balance_is_refused(
    platform: Platform, check: Check
) -> None:
    """The source keeps what it holds."""
    source = platform.internal_accounts.account(amount=20_000)
    within = platform.quotes.body(source, amount=20_000, immediatelyExecute=True)
    before, _ = platform.internal_accounts.balances(source)

    refusal = platform.api.create_quote({**within, "lockedCurrencyAmount": 20_001})
    left, _ = platform.internal_accounts.balances(source)
    twin = platform.api.create_quote(within)

    with check("ERR-002"):
        refusal.refused(400, "INSUFFICIENT_FUNDS", twin=twin)
    with check("QUO-099"):
        assert left == before


@requirement("ERR-004")
def test_a_corridor_without_a_rate_is_refused(platform: Platform) -> None:
    """Before the rate went away the same request was accepted."""
    corridor = platform.quotes.corridor(same_currency=False)
    source = platform.internal_accounts.account(corridor.sending)
    destination = platform.external_accounts.account(source.owner, corridor.account)
    body = platform.quotes.body(source, destination)
    twin = platform.api.create_quote(body)
    platform.triggers.fire(
        "rate.unavailable",
        customerId=source["customerId"],
        sendingCurrency=corridor.sending,
        receivingCurrency=corridor.receiving,
    )

    refusal = platform.api.create_quote(body)

    refusal.refused(400, "QUOTE_RATE_UNAVAILABLE", twin=twin)


@requirement("ERR-005")
def test_a_rate_that_no_longer_holds_is_refused(platform: Platform) -> None:
    """The quote has not expired, but the market has moved on."""
    corridor = platform.quotes.corridor(same_currency=False)
    source = platform.internal_accounts.account(corridor.sending)
    destination = platform.external_accounts.account(source.owner, corridor.account)
    stale = platform.quotes.pending(source, destination)
    platform.triggers.fire("rate.stale", quoteId=stale["id"])

    refusal = platform.api.execute_quote(stale["id"])

    twin = platform.api.execute_quote(platform.quotes.pending(source, destination)["id"])
    refusal.refused(400, 409, "QUOTE_RATE_UNAVAILABLE", twin=twin)


@requirement("ERR-006")
def test_a_quote_is_refused_while_its_provider_does_not_answer(platform: Platform) -> None:
    """Before, the same request was accepted."""
    source = platform.internal_accounts.account()
    body = platform.quotes.body(source)
    twin = platform.api.create_quote(body)
    platform.triggers.fire("quoting.down", customerId=source["customerId"])

    refusal = platform.api.create_quote(body)

    refusal.refused(400, "QUOTE_REQUEST_FAILED", twin=twin)


@requirement("ERR-010", "LIM-006")
def test_a_transfer_past_the_daily_volume_is_refused(platform: Platform, check: Check) -> None:
    """At its creation or at its execution, and the source keeps what it holds."""
    source = platform.internal_accounts.account()
    body = platform.quotes.body(source)
    opening, _ = platform.internal_accounts.balances(source)
    twin = platform.quotes.create_and_execute(body)
    platform.triggers.fire(
        "volume.reached",
        customerId=source["customerId"],
        currency=source["balance"]["currency"]["code"],
    )
    # A debit that is shown late would look like another one.
    paid = twin[-1].body["totalSendingAmount"] if twin[-1].accepted else 0
    before = platform.internal_accounts.wait_for_balance(source, opening - paid)

    steps = platform.quotes.create_and_execute(body)

    with check("ERR-010"):
        steps[-1].refused(429, "DAILY_VOLUME_LIMIT_EXCEEDED", twin=twin[: len(steps)][-1])
    with check("LIM-006"):
        assert platform.internal_accounts.balances(source)[0] == before


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
    body = platform.quotes.body()

    refusal = platform.api.create_quote({**body, field: value}, valid=False)

    refusal.refused(twin=platform.api.create_quote(body))
    fields = invalid_fields(refusal)
    named = {name.rpartition(".")[2] for name in fields}
    expect(field in named, f"{field} among details.errors[].field", fields)


def invalid_fields(refusal: Answer) -> list[str]:
    """Return the fields that a refusal lists; raises ResourceMissing where it lists none."""
    listed = (refusal.body.get("details") or {}).get("errors")
    if refusal.code != "INVALID_INPUT" or not listed:
        raise ResourceMissing(f"the refusal lists no invalid fields: {refusal}")
    return [str(entry.get("field")) for entry in listed]
