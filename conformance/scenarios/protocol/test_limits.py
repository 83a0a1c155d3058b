"""Limits on quotes: a value at the limit is accepted, and one past it is refused."""

from __future__ import annotations

import string
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Literal, TypeVar, get_args

import pytest

from conformance.exchange.answer import Answer
from conformance.platform.given.transactions import FAILED
from conformance.platform.platform import Platform
from conformance.platform.resource import Json, Resource, arranged_body, arranged_resource
from conformance.profile.resources import TransactionLimit
from conformance.scenarios.kit.cases import case
from conformance.scenarios.kit.marks import Check, requirement
from conformance.scenarios.kit.refusals import REFUSED
from conformance.scenarios.quotes.kinds import Kind, create_payer, quote_body
from conformance.scenarios.quotes.payments import body_with_rail
from conformance.scenarios.quotes.uma import uma_quote
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing, TriggerFailed

MAX_CHARACTERS = 80
FEW_CHARACTERS = 10
ACCENTED = "éàçñ"
"""Letters that are one character each, and two bytes. A rail without them takes one for each."""

REMAINDER = 5_000
"""What is left of a daily volume, in the smallest unit."""

KINDS: tuple[Kind, ...] = get_args(Kind)
"""The kinds of payments to a US bank account whose texts are looked at."""

TextKind = Literal[Kind, "internal", "uma"]
"""One of these, or a payment to an internal account or to a UMA address."""

WRONG_TEXTS: tuple[tuple[str, str, object], ...] = (
    ("LIM-002", "remittanceInformation", "a" * (MAX_CHARACTERS + 1)),
    ("QUO-900", "description", 2212),
    ("QUO-900", "description", {"text": "Invoice 2212"}),
    ("QUO-901", "remittanceInformation", 2212),
    ("QUO-901", "remittanceInformation", ["Invoice 2212"]),
)
"""What no quote takes as a text: requirement, member and value."""

TEXTS: dict[str, tuple[str, str]] = {
    "remittanceInformation": ("LIM-001", "a" * MAX_CHARACTERS),
    "description": ("QUO-159", "Invoice 2212"),
}
"""What every payment to a US bank account takes as a text: by member requirement and value."""

WRONG_IDS = tuple(dict.fromkeys(id_ for id_, _, _ in WRONG_TEXTS))
TEXT_IDS = tuple(id_ for id_, _ in TEXTS.values())

T = TypeVar("T")

Payer = Literal["individual", "business", "pulled", "authorized"]
"""Whose money is sent: an individual's or a business's, what is pulled from a bank account, or that
of a customer who proves each payment."""


@requirement("LIM-001", "LIM-002", "LIM-003")
def test_remittance_information_is_at_most_80_characters(platform: Platform, check: Check) -> None:
    """A quote with 80 characters or with none is accepted; one with 81 is refused."""
    text = ((string.ascii_letters + string.digits) * 2)[: MAX_CHARACTERS + 1]
    body = platform.quotes.body(*platform.quotes.ends(platform.quotes.corridor_to("usd_account")))

    without_text = platform.api.create_quote(body)
    at_limit = platform.api.create_quote({**body, "remittanceInformation": text[:MAX_CHARACTERS]})
    past_limit = platform.api.create_quote({**body, "remittanceInformation": text}, valid=False)

    with check("LIM-001"):
        at_limit.expect_accepted()
    with check("LIM-003"):
        without_text.expect_accepted()
    with check("LIM-002"):
        past_limit.refused(*REFUSED, twin=at_limit)


@pytest.mark.parametrize(
    "kind",
    [
        *(case((*TEXT_IDS, *WRONG_IDS), kind, kind) for kind in KINDS),
        *(case(WRONG_IDS, kind, kind) for kind in ("internal", "uma")),
    ],
)
def test_no_kind_of_quote_takes_a_wrong_text(
    platform: Platform, check: Check, kind: TextKind
) -> None:
    """Whatever pays and is paid, 81 characters are refused, and so is what is no text at all.

    To a US bank account 80 characters are accepted, and a description is, elsewhere a quote without
    either.
    """
    body = body_of_kind(platform, kind)

    refusals = [
        (id_, member, platform.api.create_quote({**body, member: value}, valid=False))
        for id_, member, value in WRONG_TEXTS
    ]

    without_text = platform.api.create_quote(body)
    if kind in ("pulled", "platform", "internal", "uma") and not without_text.accepted:
        raise ResourceMissing(f"there is no such payment: {without_text}")
    twins = dict.fromkeys(TEXTS, without_text)
    if kind in KINDS:
        # One at a time, so that a text that is refused does not hide the other.
        for member, (id_, text) in TEXTS.items():
            twins[member] = platform.api.create_quote({**body, member: text})
            with check(id_):
                arranged_body(without_text)
                twins[member].expect_accepted()
    for id_, member, refusal in refusals:
        with check(id_):
            refusal.refused(*REFUSED, twin=twins[member])


@requirement("LIM-001", "LIM-002")
@pytest.mark.parametrize("rail", ["ACH", "WIRE", "RTP", "FEDNOW"])
def test_no_rail_carries_a_longer_text(platform: Platform, check: Check, rail: str) -> None:
    """By whichever rail a payment goes, 80 characters are accepted and 81 refused."""
    body = body_with_rail(platform, rail)
    without_text = platform.api.create_quote(body)
    if not without_text.accepted:
        raise ResourceMissing(f"no payment goes by {rail}: {without_text}")

    at_limit, past_limit = (
        platform.api.create_quote({**body, "remittanceInformation": "a" * length}, valid=valid)
        for length, valid in ((MAX_CHARACTERS, True), (MAX_CHARACTERS + 1, False))
    )

    with check("LIM-001"):
        at_limit.expect_accepted()
    with check("LIM-002"):
        past_limit.refused(*REFUSED, twin=at_limit)


def body_of_kind(platform: Platform, kind: TextKind) -> Json:
    """Return the body of a quote of a kind; to a US bank account it has no text."""
    if kind == "internal":
        return platform.quotes.body(
            platform.internal_accounts.account(), platform.internal_accounts.account(amount=0)
        )
    if kind == "uma":
        return uma_quote(platform)
    customer = create_payer(platform, kind)
    receiver = platform.external_accounts.account(
        customer, platform.quotes.corridor_to("usd_account").account
    )
    body = quote_body(platform, kind, customer, receiver)
    return {name: value for name, value in body.items() if name not in TEXTS}


@requirement("LIM-011")
def test_letters_with_accents_are_characters_too(platform: Platform) -> None:
    """Where 10 letters with accents are accepted, 80 of them are accepted too, and 81 refused."""
    text = ACCENTED * MAX_CHARACTERS
    body = platform.quotes.body(*platform.quotes.ends(platform.quotes.corridor_to("usd_account")))

    short, at_limit, past_limit = (
        platform.api.create_quote(
            {**body, "remittanceInformation": text[:length]}, valid=length <= MAX_CHARACTERS
        )
        for length in (FEW_CHARACTERS, MAX_CHARACTERS, MAX_CHARACTERS + 1)
    )

    if not short.accepted:
        raise ResourceMissing(f"no letters with accents travel with a payment: {short}")
    at_limit.expect_accepted()
    past_limit.refused(*REFUSED, twin=short)


@pytest.mark.parametrize(
    ("kind", "character"), [("emoji", "\U0001f3e0"), ("letters-with-combining-signs", "e\u0301")]
)
def test_how_other_characters_are_counted_is_recorded(
    platform: Platform, kind: str, character: str
) -> None:
    """The specification does not say how to count them, so the answer is recorded, not judged."""
    answer = platform.api.create_quote(
        platform.quotes.body(remittanceInformation=character * MAX_CHARACTERS),
        valid=len(character) == 1,
    )

    platform.observe(
        f"a remittanceInformation of {MAX_CHARACTERS} {kind} is answered with {answer.status}"
    )


def source_of(platform: Platform, payer: Payer, currency: str, amount: int) -> Resource:
    """Return the account that pays, with an amount in the smallest unit where it is internal.

    Raises:
        ResourceMissing: no account in the currency can be pulled from.
    """
    if payer == "pulled":
        source = platform.external_accounts.pullable(platform.approved.customer())
        if source.get("currency") not in (None, currency):
            raise ResourceMissing(f"no account in {currency} can be pulled from")
        return source
    approve = {
        "individual": platform.approved.customer,
        "business": platform.approved.business,
        "authorized": platform.approved.sca_customer,
    }[payer]
    return platform.internal_accounts.account(
        currency,
        amount=amount,
        customer=approve(currencies=sorted({platform.profile.currency, currency})),
    )


def attempt(platform: Platform, body: Json) -> list[Answer]:
    """Create, execute and where it is asked for authorize a quote; return the answer of each step.

    A step that is refused is the last one.
    """
    steps = platform.quotes.create_and_execute(body)
    if steps[-1].accepted and steps[-1].body.get("status") == "PENDING_AUTHORIZATION":
        steps.append(platform.sca.authorize_fully({**steps[0].body, **steps[-1].body}))
    return steps


def limit_within_a_currency(platform: Platform) -> tuple[TransactionLimit, str]:
    """Return the largest single transaction, and an external account within its currency.

    The account is the name of an example of ``fixtures/accounts``.

    Raises:
        ResourceMissing: the profile gives no limit, or no corridor within its currency.
    """
    limit = platform.quotes.largest_transaction()
    for corridor in platform.profile.resources.corridors:
        if corridor.sending == corridor.receiving == limit.currency:
            return limit, corridor.account
    raise ResourceMissing(f"resources.corridors has none within {limit.currency}")


def transfers_at_the_limit(platform: Platform) -> list[tuple[Json, Json]]:
    """Return the bodies of quotes of the largest single transaction, and of a larger one.

    The second of a pair is larger by one smallest unit. There is a pair for each side that the
    limit may be on: for the amount with its fees, and for the amount without them.

    Raises:
        ResourceMissing: the profile gives no limit, or no corridor within its currency.
    """
    limit, account = limit_within_a_currency(platform)

    def pair(side: str) -> tuple[Json, Json]:
        # Of a customer of its own, whose daily volume no other pair has used up.
        source = platform.internal_accounts.account(limit.currency, amount=2 * limit.amount)
        # The second transfer is covered, even if the first one is carried out.
        platform.internal_accounts.deposit(source, 2 * limit.amount)
        external_account = platform.external_accounts.account(source.owner, account)
        return (
            platform.quotes.body(source, external_account, amount=limit.amount, side=side),
            platform.quotes.body(source, external_account, amount=limit.amount + 1, side=side),
        )

    return [pair(side) for side in ([limit.side] if limit.side else ["SENDING", "RECEIVING"])]


def at_the_limit(
    pairs: Sequence[tuple[Json, Json]], send: Callable[[Json], T], answer_of: Callable[[T], Answer]
) -> tuple[T, T]:
    """Send pairs of transfers and return what came of those on the side that the limit is on.

    It is the side on which the first of a pair is accepted and the second refused. Where it is
    neither, it may be any on which the first is accepted.

    Args:
        pairs: the bodies of a transfer at the limit and of one above it, by side.
        send: sends a transfer, the one above the limit first.
        answer_of: returns the answer that says whether a transfer was accepted.
    """
    found: list[tuple[T, T]] = []
    for at_limit, past_limit in pairs:
        past = send(past_limit)
        found.append((send(at_limit), past))

    def likeness(one: tuple[T, T]) -> tuple[bool, bool]:
        is_taken, is_limited = (answer_of(sent).accepted for sent in one)
        return is_taken, is_taken and not is_limited

    return max(found, key=likeness)


def arrange_volume(answer: Answer) -> None:
    """Raise ``PreconditionFailed`` if a day's volume is less than a transfer at the limit."""
    if answer.code == "DAILY_VOLUME_LIMIT_EXCEEDED":
        raise PreconditionFailed("the daily volume is less than one transfer at the limit")


@requirement("LIM-004", "LIM-005")
def test_a_transfer_is_at_most_as_large_as_its_corridor_allows(
    platform: Platform, check: Check
) -> None:
    """The limit itself is accepted; one smallest unit more is TRANSACTION_SIZE_LIMIT_EXCEEDED."""
    at_limit, past_limit = at_the_limit(
        transfers_at_the_limit(platform),
        platform.quotes.create_and_execute,
        lambda answers: answers[-1],
    )

    with check("LIM-005"):
        arrange_volume(at_limit[-1])
        at_limit[-1].expect_accepted()
    with check("LIM-004"):
        past_limit[-1].refused(
            400, "TRANSACTION_SIZE_LIMIT_EXCEEDED", twin=at_limit[: len(past_limit)][-1]
        )


@requirement("LIM-086")
@pytest.mark.parametrize("payer", get_args(Payer))
@pytest.mark.parametrize("side", ["SENDING", "RECEIVING"])
def test_what_is_above_the_limit_on_both_sides_is_refused(
    platform: Platform, side: str, payer: Payer
) -> None:
    """A transfer of a quarter more than the limit is refused, and one of half of it is accepted.

    Fees are below that quarter, so that both amounts are above the limit, whichever is locked.
    A business pays, or a customer who proves it, or the money is pulled from a bank account, as
    well.
    """
    limit, account = limit_within_a_currency(platform)
    source = source_of(platform, payer, limit.currency, 2 * limit.amount)
    external_account = platform.external_accounts.account(source.owner, account)

    past_limit, within_limit = (
        attempt(platform, platform.quotes.body(source, external_account, amount=amount, side=side))
        for amount in (limit.amount * 5 // 4, limit.amount // 2)
    )

    if past_limit[-1].code == "DAILY_VOLUME_LIMIT_EXCEEDED":
        raise ResourceMissing("the daily volume is less than a quarter more than the limit")
    if payer == "pulled" and not within_limit[-1].accepted:
        raise ResourceMissing(f"half of the limit cannot be pulled either: {within_limit[-1]}")
    past_limit[-1].refused(
        400, "TRANSACTION_SIZE_LIMIT_EXCEEDED", twin=within_limit[: len(past_limit)][-1]
    )


@requirement("LIM-086")
@pytest.mark.parametrize("side", ["SENDING", "RECEIVING"])
def test_what_is_funded_just_in_time_is_held_to_the_limit(platform: Platform, side: str) -> None:
    """A quote of a quarter more than the limit is refused, or what a payment for it starts fails.

    No call executes it. One of half of the limit is accepted.
    """
    limit, account = limit_within_a_currency(platform)
    customer = platform.approved.customer(
        currencies=sorted({platform.profile.currency, limit.currency})
    )
    body = platform.quotes.realtime_body(
        customer,
        platform.external_accounts.account(customer, account),
        currency=limit.currency,
        lockedCurrencySide=side,
    )

    past_limit, within_limit = (
        platform.api.create_quote({**body, "lockedCurrencyAmount": amount})
        for amount in (limit.amount * 5 // 4, limit.amount // 2)
    )

    if past_limit.code == "DAILY_VOLUME_LIMIT_EXCEEDED":
        raise ResourceMissing("the daily volume is less than a quarter more than the limit")
    if not within_limit.accepted:
        raise ResourceMissing(f"half of the limit is not funded just in time: {within_limit}")
    expect_refused_or_unpaid(
        platform, customer, past_limit, 400, "TRANSACTION_SIZE_LIMIT_EXCEEDED", twin=within_limit
    )


def expect_refused_or_unpaid(
    platform: Platform, customer: Resource, answer: Answer, *expected: int | str, twin: Answer
) -> None:
    """Assert that a quote above a limit is refused, or is not carried out once it is paid for.

    Args:
        platform: the suite in the part of a platform.
        customer: whose quote it is; a payment funds it just in time.
        answer: the answer to its creation.
        expected: the status and the code of its refusal.
        twin: the answer to the creation of a quote within the limit.
    """
    __tracebackhide__ = True
    if not answer.accepted:
        answer.refused(*expected, twin=twin)
        return
    quote = arranged_resource(answer, customer)
    # The sandbox may refuse the payment, as its target does not take it.
    with suppress(TriggerFailed):
        platform.triggers.fire("quote.fund", quoteId=quote["id"], customerId=customer["id"])
    status = platform.transactions.at_status(quote, "COMPLETED", *FAILED).get("status")
    assert status != "COMPLETED", quote
    platform.observe(f"what is funded just in time above the limit is {status}")


@requirement("LIM-080", "LIM-081")
def test_an_immediate_execution_is_at_most_as_large_as_its_corridor_allows(
    platform: Platform, check: Check
) -> None:
    """One smallest unit above the limit is refused with 400, and the balance is unchanged."""

    def send(body: Json) -> tuple[Answer, bool]:
        """Return the answer, and whether it left the balance as it was."""
        source = platform.ledger.accounts[body["source"]["accountId"]]
        before, _ = platform.internal_accounts.balances(source)
        answer = platform.api.create_quote({**body, "immediatelyExecute": True})
        after, _ = platform.internal_accounts.balances(source)
        return answer, after == before

    (at_limit, _), (past_limit, is_unchanged) = at_the_limit(
        transfers_at_the_limit(platform), send, lambda sent: sent[0]
    )

    arrange_volume(at_limit)
    with check("LIM-080"):
        past_limit.refused(400, "TRANSACTION_SIZE_LIMIT_EXCEEDED", twin=at_limit)
    with check("LIM-081"):
        assert is_unchanged


@requirement("LIM-084", "LIM-085", "LIM-116")
@pytest.mark.parametrize("payer", get_args(Payer))
def test_a_day_takes_its_whole_volume_and_no_more(
    platform: Platform, check: Check, payer: Payer
) -> None:
    """What is left of a day's volume is accepted; one smallest unit more is refused with 429.

    It is one of an individual, of a business and of a customer who proves each payment, and of what
    is pulled from a bank account. After it has completed nothing is left.
    """
    source = source_of(platform, payer, platform.profile.currency, 100_000)
    body = platform.quotes.body(source, amount=REMAINDER)
    platform.triggers.fire(
        "volume.nearly_reached",
        customerId=source.owner["id"],
        currency=platform.profile.currency,
        amount=REMAINDER,
    )

    past_limit = attempt(platform, {**body, "lockedCurrencyAmount": REMAINDER + 1})
    at_limit = attempt(platform, body)

    if payer == "pulled" and not (past_limit[-1].accepted or at_limit[-1].accepted):
        raise ResourceMissing(f"what is left cannot be pulled: {at_limit[-1]}")
    with check("LIM-084"):
        at_limit[-1].expect_accepted()
    with check("LIM-085"):
        past_limit[-1].refused(
            429, "DAILY_VOLUME_LIMIT_EXCEEDED", twin=at_limit[: len(past_limit)][-1]
        )
    with check("LIM-116"):
        paid = arranged_body(at_limit[-1])
        if platform.transactions.at_status(paid, "COMPLETED", "FAILED")["status"] != "COMPLETED":
            raise ResourceMissing("the payment of what was left does not complete")
        used_up = attempt(platform, body)
        used_up[-1].refused(429, "DAILY_VOLUME_LIMIT_EXCEEDED", twin=at_limit[: len(used_up)][-1])


@requirement("LIM-095")
def test_what_is_funded_just_in_time_is_held_to_the_volume_of_a_day(platform: Platform) -> None:
    """A quote of twice what is left is refused, or what a payment for it starts fails.

    One of half of what is left is accepted.
    """
    customer = platform.approved.customer()
    body = platform.quotes.realtime_body(customer, platform.external_accounts.account(customer))
    platform.triggers.fire(
        "volume.nearly_reached",
        customerId=customer["id"],
        currency=body["source"]["currency"],
        amount=REMAINDER,
    )

    past_limit, within_limit = (
        platform.api.create_quote({**body, "lockedCurrencyAmount": amount})
        for amount in (2 * REMAINDER, REMAINDER // 2)
    )

    if not within_limit.accepted:
        raise ResourceMissing(f"half of what is left is not funded just in time: {within_limit}")
    expect_refused_or_unpaid(
        platform, customer, past_limit, 429, "DAILY_VOLUME_LIMIT_EXCEEDED", twin=within_limit
    )


@requirement("ERR-010")
@pytest.mark.parametrize("payer", ["business", "pulled", "authorized"])
def test_no_payer_goes_past_the_volume_of_a_day(platform: Platform, payer: Payer) -> None:
    """What a business sends, what is pulled and what is proven is refused, as what others send."""
    source = source_of(platform, payer, platform.profile.currency, 100_000)
    body = platform.quotes.body(source, amount=REMAINDER)
    twin = attempt(platform, body)
    if payer == "pulled" and not twin[-1].accepted:
        raise ResourceMissing(f"nothing can be pulled: {twin[-1]}")
    platform.triggers.fire(
        "volume.reached", customerId=source.owner["id"], currency=platform.profile.currency
    )

    past_limit = attempt(platform, body)

    past_limit[-1].refused(429, "DAILY_VOLUME_LIMIT_EXCEEDED", twin=twin[: len(past_limit)][-1])


@requirement("LIM-095")
def test_no_payment_is_asked_for_past_the_volume_of_a_day(platform: Platform) -> None:
    """A quote that is funded just in time is refused, or what a payment for it starts fails."""
    customer = platform.approved.customer()
    body = platform.quotes.realtime_body(customer, platform.external_accounts.account(customer))
    twin = platform.api.create_quote(body)
    platform.triggers.fire(
        "volume.reached", customerId=customer["id"], currency=body["source"]["currency"]
    )

    past_limit = platform.api.create_quote(body)

    expect_refused_or_unpaid(
        platform, customer, past_limit, 429, "DAILY_VOLUME_LIMIT_EXCEEDED", twin=twin
    )


@requirement("LIM-087", "LIM-088")
def test_the_volume_of_a_day_is_one_of_what_is_sent(platform: Platform, check: Check) -> None:
    """Where the receiving amount is locked, it is what it costs that has to be left of the volume.

    Half of what is left is accepted, and twice as much is refused, whatever the amounts are in the
    other currency.
    """
    corridor = platform.quotes.conversion_from(platform.profile.currency)
    source, receiver = platform.quotes.ends(corridor)
    within, past = (
        platform.quotes.pending(source, receiver, amount=amount)["totalReceivingAmount"]
        for amount in (REMAINDER // 2, 2 * REMAINDER)
    )
    platform.triggers.fire(
        "volume.nearly_reached",
        customerId=source["customerId"],
        currency=corridor.sending,
        amount=REMAINDER,
    )

    past_limit, within_limit = (
        platform.quotes.create_and_execute(
            platform.quotes.body(source, receiver, side="RECEIVING", amount=amount)
        )
        for amount in (past, within)
    )

    with check("LIM-088"):
        within_limit[-1].expect_accepted()
    with check("LIM-087"):
        past_limit[-1].refused(
            429, "DAILY_VOLUME_LIMIT_EXCEEDED", twin=within_limit[: len(past_limit)][-1]
        )


@requirement("LIM-082", "LIM-083")
def test_an_immediate_execution_past_the_daily_volume_is_refused(
    platform: Platform, check: Check
) -> None:
    """The quote is refused with DAILY_VOLUME_LIMIT_EXCEEDED, and the balance is unchanged."""
    source = platform.internal_accounts.account()
    immediate_body = platform.quotes.body(source, immediatelyExecute=True)
    opening, _ = platform.internal_accounts.balances(source)
    twin = platform.api.create_quote(immediate_body)
    platform.triggers.fire(
        "volume.reached",
        customerId=source["customerId"],
        currency=source["balance"]["currency"]["code"],
    )
    # A debit that the target shows late would look like a second one.
    debit = twin.body["totalSendingAmount"] if twin.accepted else 0
    before = platform.internal_accounts.wait_for_balance(source, opening - debit)

    refusal = platform.api.create_quote(immediate_body)

    with check("LIM-082"):
        refusal.refused(429, "DAILY_VOLUME_LIMIT_EXCEEDED", twin=twin)
    with check("LIM-083"):
        assert platform.internal_accounts.balances(source)[0] == before
