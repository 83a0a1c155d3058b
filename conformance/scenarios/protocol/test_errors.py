"""Error codes of quotes: each refusal has its cause, and its twin lacks that cause."""

from __future__ import annotations

from collections.abc import Sequence

from conformance.exchange.answer import Answer
from conformance.platform.platform import Platform
from conformance.platform.resource import Json
from conformance.scenarios.kit.faults import having
from conformance.scenarios.kit.marks import SETTLING, Check, requirement
from conformance.scenarios.quotes.payments import AMOUNT, corridor_from, fund_platform_account
from conformance.verdict.decisions import ResourceMissing, expect

FAR_ABOVE = 1_000_000
"""What a payment is above the balance of the platform, in smallest units."""


@requirement("ERR-001")
def test_a_quote_above_the_balance_is_refused(platform: Platform) -> None:
    """One smallest unit above the balance is refused, at the quote's creation or its execution."""
    source = platform.internal_accounts.account(amount=20_000)
    external_account = platform.external_accounts.account(source.owner)

    answers = platform.quotes.create_and_execute(
        platform.quotes.body(source, external_account, amount=20_001)
    )

    twin = platform.quotes.create_and_execute(
        platform.quotes.body(source, external_account, amount=20_000)
    )
    answers[-1].refused(400, "INSUFFICIENT_FUNDS", twin=twin[: len(answers)][-1])


@requirement("ERR-001")
def test_the_platform_sends_no_more_than_it_has(platform: Platform) -> None:
    """A quote far above the platform's balance is refused with INSUFFICIENT_FUNDS at some step."""
    source = fund_platform_account(platform)
    corridor = corridor_from(platform, source)
    receiver = platform.external_accounts.account(platform.approved.customer(), corridor.account)
    balance, _ = platform.internal_accounts.balances(source)

    # Others may pay in meanwhile.
    above, twin = (
        platform.quotes.create_and_execute(platform.quotes.body(source, receiver, amount=amount))
        for amount in (balance + FAR_ABOVE, AMOUNT // 2)
    )

    if above[-1].code in ("TRANSACTION_SIZE_LIMIT_EXCEEDED", "AMOUNT_OUT_OF_RANGE"):
        raise ResourceMissing(f"more than {balance} is too much for any source: {above[-1]}")
    above[-1].refused(400, "INSUFFICIENT_FUNDS", twin=twin[: len(above)][-1])


@requirement("ERR-002", "QUO-098", "QUO-099")
def test_an_immediate_execution_above_the_balance_is_refused(
    platform: Platform, check: Check
) -> None:
    """One smallest unit too much is refused with INSUFFICIENT_FUNDS; the balance is unchanged.

    No payment is listed as if it were made.
    """
    source = platform.internal_accounts.account(amount=20_000)
    covered_body = platform.quotes.body(source, amount=20_000, immediatelyExecute=True)
    before, _ = platform.internal_accounts.balances(source)

    refusal = platform.api.create_quote({**covered_body, "lockedCurrencyAmount": 20_001})
    after, _ = platform.internal_accounts.balances(source)
    payments = [
        transaction
        for transaction in platform.transactions.known_of_customer(source["customerId"])
        # A deposit may be listed too.
        if transaction.get("direction") != "CREDIT" and transaction.get("quoteId")
    ]
    twin = platform.api.create_quote(covered_body)

    with check("QUO-098"):
        assert not [one for one in payments if one.get("status") in SETTLING], payments
    with check("ERR-002"):
        refusal.refused(400, "INSUFFICIENT_FUNDS", twin=twin)
    with check("QUO-099"):
        assert after == before


@requirement("ERR-004")
def test_a_corridor_without_a_rate_is_refused(platform: Platform) -> None:
    """A request that was accepted with a rate is refused with QUOTE_RATE_UNAVAILABLE without it.

    So it is where the receiving amount is locked, and where the quote is executed at once.
    """
    corridor = platform.quotes.corridor(same_currency=False)
    source = platform.internal_accounts.account(corridor.sending)
    external_account = platform.external_accounts.account(source.owner, corridor.account)
    bodies = forms_of(platform.quotes.body(source, external_account))
    twins = [platform.api.create_quote(body) for body in bodies]
    currencies = {"sendingCurrency": corridor.sending, "receivingCurrency": corridor.receiving}

    refusals = answers_after(
        platform, "rate.unavailable", bodies, customerId=source["customerId"], **currencies
    )

    expect_each_refused(refusals, twins, "QUOTE_RATE_UNAVAILABLE")


@requirement("ERR-005")
def test_a_rate_that_no_longer_holds_is_refused(platform: Platform) -> None:
    """Executing an unexpired quote with a stale rate is refused with QUOTE_RATE_UNAVAILABLE."""
    corridor = platform.quotes.corridor(same_currency=False)
    source = platform.internal_accounts.account(corridor.sending)
    external_account = platform.external_accounts.account(source.owner, corridor.account)
    stale_quote = platform.quotes.pending(source, external_account)
    platform.triggers.fire("rate.stale", quoteId=stale_quote["id"])

    refusal = platform.api.execute_quote(stale_quote["id"])

    twin = platform.api.execute_quote(platform.quotes.pending(source, external_account)["id"])
    refusal.refused(400, 409, "QUOTE_RATE_UNAVAILABLE", twin=twin)


@requirement("ERR-006")
def test_a_quote_is_refused_while_its_provider_does_not_answer(platform: Platform) -> None:
    """A request that was accepted before is refused with 400 and QUOTE_REQUEST_FAILED.

    So it is where the receiving amount is locked, and where the quote is executed at once.
    """
    source = platform.internal_accounts.account()
    bodies = forms_of(platform.quotes.body(source))
    twins = [platform.api.create_quote(body) for body in bodies]

    refusals = answers_after(platform, "quoting.down", bodies, customerId=source["customerId"])

    expect_each_refused(refusals, twins, "QUOTE_REQUEST_FAILED")


def answers_after(
    platform: Platform, trigger: str, bodies: Sequence[Json], **parameters: str
) -> list[Answer]:
    """Return the answers to requests for quotes after a trigger, which may be over after one."""
    answers: list[Answer] = []
    for body in bodies:
        if not answers or platform.triggers.happens_once(trigger):
            platform.triggers.fire(trigger, **parameters)
        answers.append(platform.api.create_quote(body))
    return answers


def expect_each_refused(refusals: Sequence[Answer], twins: Sequence[Answer], code: str) -> None:
    """Assert that each form of a quote is refused, but for those that were refused before."""
    __tracebackhide__ = True
    for index, (refusal, twin) in enumerate(zip(refusals, twins, strict=True)):
        if index == 0 or twin.accepted:
            refusal.refused(400, code, twin=twin)


def forms_of(body: Json) -> list[Json]:
    """Return the body of a quote, that with its receiving side locked, and an immediate one."""
    return [body, {**body, "lockedCurrencySide": "RECEIVING"}, {**body, "immediatelyExecute": True}]


@requirement("ERR-010", "LIM-006")
def test_a_transfer_past_the_daily_volume_is_refused(platform: Platform, check: Check) -> None:
    """The quote or its execution is refused with 429, and the source's balance is unchanged.

    A quote that was created may hold its amount back, until it expires.
    """
    source = platform.internal_accounts.account()
    body = platform.quotes.body(source)
    opening, _ = platform.internal_accounts.balances(source)
    twin = platform.quotes.create_and_execute(body)
    platform.triggers.fire(
        "volume.reached",
        customerId=source["customerId"],
        currency=source["balance"]["currency"]["code"],
    )
    # A debit that the target shows late would look like a second one.
    debit = twin[-1].body["totalSendingAmount"] if twin[-1].accepted else 0
    before = platform.internal_accounts.wait_for_balance(source, opening - debit)
    if twin[-1].accepted:
        platform.transactions.at_status(twin[-1].body, "COMPLETED")
    _, total_before = platform.internal_accounts.balances(source)

    answers = platform.quotes.create_and_execute(body)

    with check("ERR-010"):
        answers[-1].refused(429, "DAILY_VOLUME_LIMIT_EXCEEDED", twin=twin[: len(answers)][-1])
    with check("LIM-006"):
        after, total_after = platform.internal_accounts.balances(source)
        is_open = answers[0].accepted and not answers[-1].accepted
        held = answers[0].body["totalSendingAmount"] if is_open else 0
        assert after in (before, before - held)
        assert total_after == total_before


FAULTS: dict[str, object] = {
    "lockedCurrencySide": "SIDEWAYS",
    "lockedCurrencyAmount": "plenty",
    "remittanceInformation": "X" * 81,
    "immediatelyExecute": "sometimes",
    "source.sourceType": "BURIED_TREASURE",
    "destination.destinationType": "DESERT_ISLE",
}
"""Values that a quote cannot have, by the path of the member."""


@requirement("ERR-011")
def test_an_invalid_field_is_named(platform: Platform) -> None:
    """A path in ``details.errors`` ends in the name of the field, wherever the path starts.

    It may be the name of the object that the field is in.
    """
    body = platform.quotes.body()

    refusals = {
        path: platform.api.create_quote(having(path, value)(body), valid=False)
        for path, value in FAULTS.items()
    }

    twin = platform.api.create_quote(body)
    undecided: list[ResourceMissing] = []
    for path, refusal in refusals.items():
        refusal.refused(twin=twin)
        try:
            fields = invalid_fields(refusal)
        except ResourceMissing as missing:
            undecided.append(missing)
            continue
        field_names = {name.rpartition(".")[2] for name in fields}
        expect(
            not field_names.isdisjoint(path.split(".")),
            f"{path} among details.errors[].field",
            fields,
        )
    if len(undecided) == len(FAULTS):
        raise undecided[0]


def invalid_fields(refusal: Answer) -> list[str]:
    """Return the paths of the fields that a refusal lists.

    Raises:
        ResourceMissing: the refusal lists no invalid fields.
    """
    entries = (refusal.body.get("details") or {}).get("errors")
    if refusal.code != "INVALID_INPUT" or not entries:
        raise ResourceMissing(f"the refusal lists no invalid fields: {refusal}")
    return [str(entry.get("field")) for entry in entries]
