"""Regulated and unregulated platforms: who gets in by which way, and what waits for an approval."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest

from conformance.exchange.answer import Answer
from conformance.platform.given.customers import verification_status
from conformance.platform.given.transactions import FAILED
from conformance.platform.given.verification import DECISIONS, REVIEWED, Road
from conformance.platform.platform import Platform
from conformance.platform.resource import Resource, arranged_body, arranged_resource
from conformance.scenarios.kit.customers import both
from conformance.scenarios.kit.marks import SETTLING, Check, requirement
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing, TriggerFailed

OVER = ("COMPLETED", "EXPIRED", *FAILED)
AMOUNT = 10_000
PATHS: tuple[Road, ...] = ("directly", "hosted")
EVENTS = frozenset(
    f"CUSTOMER.{family}_{status}"
    for family in ("KYC", "KYB")
    for status in ("PENDING", "APPROVED", "REJECTED")
)
"""The documented types of events about customers."""

BLOCKED: Mapping[str, Mapping[str, str]] = {
    "UNVERIFIED": {
        "deposit": "PLM-020",
        "execution": "PLM-021",
        "immediate": "PLM-022",
        "pull": "PLM-023",
        "realtime": "PLM-024",
        "incoming": "PLM-025",
    },
    "PENDING": {
        "deposit": "PLM-030",
        "execution": "QUO-164",
        "immediate": "PLM-032",
        "pull": "PLM-033",
        "realtime": "PLM-034",
        "incoming": "PLM-035",
    },
    "REJECTED": {
        "deposit": "PLM-040",
        "execution": "PLM-041",
        "immediate": "PLM-042",
        "pull": "PLM-043",
        "realtime": "PLM-044",
        "incoming": "PLM-045",
    },
    "HOLD": {
        "deposit": "PLM-050",
        "execution": "PLM-051",
        "immediate": "PLM-052",
        "pull": "PLM-053",
        "realtime": "PLM-054",
        "incoming": "PLM-055",
    },
}
"""By the status of an individual, and the way that money would move: what one test decides."""

BLOCKED_BUSINESS: Mapping[str, Mapping[str, str]] = {
    "UNVERIFIED": {"deposit": "PLM-060", "execution": "PLM-061"},
    "PENDING": {"deposit": "PLM-600", "execution": "PLM-601"},
    "REJECTED": {"deposit": "PLM-602", "execution": "PLM-603"},
    "HOLD": {"deposit": "PLM-604", "execution": "PLM-605"},
}
"""The same of a business, by the two main ways."""


@both(("PLM-001",), ("PLM-002",))
def test_a_platform_of_either_model_creates_customers(
    platform: Platform, check: Check, ids: tuple[str, ...], *, business: bool
) -> None:
    """No hosted flow has to come first."""
    body = platform.customers.business_body() if business else platform.customers.body()

    answer = platform.api.create_customer(body)

    with check(*ids):
        assert answer.accepted, answer


@both(("PLM-011",), ("PLM-012",))
def test_both_ways_into_the_service_bring_the_same_events(
    platform: Platform, check: Check, ids: tuple[str, ...], *, business: bool
) -> None:
    """Of the documented types: that the review begins, and that it is decided."""
    wanted = reported("APPROVED", business=business)

    seen = seen_by_each_path(platform, wanted, "customer.approve", business=business)

    with check(*ids):
        assert seen == dict.fromkeys(PATHS, wanted)


@both(("PLM-606",), ("PLM-607",))
def test_both_ways_bring_the_same_events_of_a_rejection(
    platform: Platform, check: Check, ids: tuple[str, ...], *, business: bool
) -> None:
    """Of the documented types: that the review begins, and that it is decided."""
    wanted = reported("REJECTED", business=business)

    seen = seen_by_each_path(platform, wanted, "customer.reject", business=business)

    with check(*ids):
        assert seen == dict.fromkeys(PATHS, wanted)


@pytest.mark.parametrize(
    "status",
    [
        pytest.param(status, marks=requirement(*ids.values()), id=status.lower())
        for status, ids in BLOCKED.items()
    ],
)
def test_no_money_moves_before_an_approval(platform: Platform, check: Check, status: str) -> None:
    """Neither in nor out; for the twin, who is approved, it does."""
    customer = at_status(platform, status)
    twin = platform.approved.customer()

    for way, id_ in BLOCKED[status].items():
        with check(id_), while_undecided(platform, customer, status):
            WAYS[way](platform, customer, twin)


@pytest.mark.parametrize(
    "status",
    [
        pytest.param(status, marks=requirement(*ids.values()), id=status.lower())
        for status, ids in BLOCKED_BUSINESS.items()
    ],
)
def test_no_money_moves_before_the_approval_of_a_business(
    platform: Platform, check: Check, status: str
) -> None:
    """Neither in nor out; for the twin, which is approved, it does."""
    business = at_status(platform, status, business=True)
    twin = platform.approved.business()

    for way, id_ in BLOCKED_BUSINESS[status].items():
        with check(id_), while_undecided(platform, business, status):
            WAYS[way](platform, business, twin)


@both(("PLM-070", "PLM-071"), ("PLM-072", "PLM-073"))
def test_an_approval_unlocks_the_accounts(
    platform: Platform, check: Check, ids: tuple[str, ...], *, business: bool
) -> None:
    """What was blocked for the same customer before."""
    customer = at_status(platform, "UNVERIFIED", business=business)
    if platform.triggers.magic("customer.approve") is not None:
        raise ResourceMissing("the profile has customers approved as they are created")
    platform.approved.approve(customer)
    if verification_status(platform.customers.at_status(customer, "APPROVED")) != "APPROVED":
        raise PreconditionFailed("the customer was not approved")
    account = platform.internal_accounts.account(amount=0, customer=customer)
    destination = platform.external_accounts.account(customer)
    before, _ = platform.internal_accounts.balances(account)

    platform.triggers.fire(
        "deposit.arrive", accountId=account["id"], amount=AMOUNT, currency=platform.profile.currency
    )
    balance = platform.internal_accounts.wait_for_balance(account, before + AMOUNT)
    paid = platform.quotes.create_and_execute(
        platform.quotes.body(account, destination, amount=AMOUNT // 2)
    )

    funded, executed = ids
    with check(funded):
        assert balance == before + AMOUNT
    with check(executed):
        assert paid[-1].accepted, paid[-1]
        assert paid[-1].body["status"] in SETTLING, paid[-1]


def by_deposit(platform: Platform, customer: Resource, twin: Resource) -> None:
    """Assert that a deposit for a customer does not arrive, while one for the twin does."""
    account = early_account(platform, customer)
    before, _ = platform.internal_accounts.balances(account)

    attempt_deposit(platform, account)

    platform.internal_accounts.account(customer=twin)
    assert platform.internal_accounts.balances(account)[0] == before, "the deposit has arrived"


def by_execution(platform: Platform, customer: Resource, twin: Resource) -> None:
    """Assert that a customer's quote is not executed, while the twin's is."""
    account = early_account(platform, customer)
    attempt_deposit(platform, account)

    receiver = early_destination(platform, customer)

    paid = platform.quotes.create_and_execute(platform.quotes.body(account, receiver))

    expect_blocked(
        paid,
        platform.quotes.create_and_execute(
            platform.quotes.body(platform.internal_accounts.account(customer=twin))
        ),
    )


def by_immediate_execution(platform: Platform, customer: Resource, twin: Resource) -> None:
    """Assert that a customer's quote is not executed at once, while the twin's is."""
    account = early_account(platform, customer)
    attempt_deposit(platform, account)
    receiver = early_destination(platform, customer)
    body = platform.quotes.body(account, receiver, immediatelyExecute=True)

    paid = platform.api.create_quote(body)

    of_twin = platform.quotes.body(
        platform.internal_accounts.account(customer=twin), immediatelyExecute=True
    )
    expect_blocked([paid], [platform.api.create_quote(of_twin)])


def by_pull(platform: Platform, customer: Resource, twin: Resource) -> None:
    """Assert that no money is pulled from a customer's bank account, while the twin's is."""
    of_twin = platform.quotes.body(
        {**platform.external_accounts.pullable(twin), "customerId": twin["id"]},
        platform.internal_accounts.account(amount=0, customer=twin),
        immediatelyExecute=True,
    )
    kind = platform.profile.resources.pullable_account
    bank = {**early_destination(platform, customer, kind), "customerId": customer["id"]}
    body = platform.quotes.body(bank, early_account(platform, customer), immediatelyExecute=True)

    pulled = platform.api.create_quote(body)

    expect_blocked([pulled], [platform.api.create_quote(of_twin)])


def by_realtime_funding(platform: Platform, customer: Resource, twin: Resource) -> None:
    """Assert that a payment of a customer executes no quote, while the twin's does."""
    right = platform.quotes.realtime_body(twin)
    receiver = early_destination(platform, customer)
    created = platform.api.create_quote(platform.quotes.realtime_body(customer, receiver))
    of_twin = platform.api.create_quote(right)
    if not created.accepted:
        expect_blocked([created], [of_twin])
        return

    attempt(platform, "quote.fund", quoteId=created.body["id"], customerId=customer["id"])

    quote = arranged_body(of_twin)
    platform.triggers.fire("quote.fund", quoteId=quote["id"], customerId=twin["id"])
    if (seen := platform.transactions.at_status(quote, *SETTLING)["status"]) not in SETTLING:
        raise PreconditionFailed(f"a payment executes no quote: its transaction is {seen}")
    assert platform.transactions.of_quote(created.body)["status"] not in SETTLING, created


def by_incoming_payment(platform: Platform, customer: Resource, twin: Resource) -> None:
    """Assert that what the twin pays into a customer's account does not arrive there."""
    account = early_account(platform, customer)
    before, _ = platform.internal_accounts.balances(account)
    payer = platform.internal_accounts.account(customer=twin)
    usual = platform.internal_accounts.account(amount=0, customer=platform.approved.customer())
    to_usual = platform.quotes.create_and_execute(platform.quotes.body(payer, usual))
    if not to_usual[-1].accepted:
        raise ResourceMissing(f"customers pay nothing into each other's accounts: {to_usual[-1]}")

    paid = platform.quotes.create_and_execute(platform.quotes.body(payer, account))

    if paid[-1].accepted:
        platform.transactions.at_status(paid[0].body, *OVER)
        assert platform.internal_accounts.balances(account)[0] == before, (
            f"the payment has arrived: {paid[-1]}"
        )
    else:
        expect_blocked(paid, to_usual)


WAYS: Mapping[str, Callable[[Platform, Resource, Resource], None]] = {
    "deposit": by_deposit,
    "execution": by_execution,
    "immediate": by_immediate_execution,
    "pull": by_pull,
    "realtime": by_realtime_funding,
    "incoming": by_incoming_payment,
}
"""The ways that money would move for a customer, against a twin for whom it does."""


def at_status(platform: Platform, status: str, *, business: bool = False) -> Resource:
    """Return a customer whose verification has come to a status without an approval."""
    if status == "UNVERIFIED":
        return platform.verification.reviews.unsubmitted(business=business)
    fate = next((name for name, end in DECISIONS.items() if end == status), None)
    # A sandbox approves the businesses that complete its hosted flow, and may do so at once.
    direct = business and (fate is None or platform.profile.features.direct_onboarding)
    path: Road = "directly" if direct else "hosted"
    customer = platform.verification.reviews.onboarded(path, business=business, trigger=fate)
    wanted = (status,) if fate else REVIEWED
    seen = verification_status(platform.customers.at_status(customer, *wanted))
    if seen != status and not fate:
        raise ResourceMissing(f"reviews are decided at once: the customer is {seen}")
    if seen != status:
        raise PreconditionFailed(f"{fate} left the customer at {seen}")
    return customer


@contextmanager
def while_undecided(platform: Platform, customer: Resource, status: str) -> Iterator[None]:
    """Decide nothing where the customer's verification has gone on meanwhile."""
    try:
        yield
    finally:
        seen = verification_status(platform.customers.read(customer))
        if seen != status:
            raise ResourceMissing(f"the review was decided meanwhile: the customer is {seen}")


def reported(decision: str, *, business: bool) -> set[str]:
    """Return the types of the events that tell of a review and of its decision."""
    family = "CUSTOMER.KYB_" if business else "CUSTOMER.KYC_"
    return {f"{family}PENDING", f"{family}{decision}"}


def seen_by_each_path(
    platform: Platform, wanted: set[str], fate: str, *, business: bool
) -> dict[Road, set[str]]:
    """Bring a customer to its review by each path, and return what is reported about it."""
    customers = {
        path: platform.verification.reviews.onboarded(path, business=business, trigger=fate)
        for path in PATHS
    }
    return {
        path: platform.until(partial(types_about, platform, customer), wanted.issubset)
        for path, customer in customers.items()
    }


def types_about(platform: Platform, customer: Resource) -> set[str]:
    """Return the documented types of the events about a customer that have arrived."""
    return {event.type for event in platform.webhooks.about(customer["id"]) if event.type in EVENTS}


def early_account(platform: Platform, customer: Resource) -> Resource:
    """Return an internal account of a customer who is not approved, if it has one already."""
    for account in platform.internal_accounts.of_customer(customer):
        if account["balance"]["currency"]["code"] == platform.profile.currency:
            return account.but(customerId=customer.id)
    raise ResourceMissing("customers get their internal accounts with the approval")


def early_destination(platform: Platform, customer: Resource, name: str | None = None) -> Resource:
    """Create an external account of a customer who is not approved, if that is possible.

    Raises:
        ResourceMissing: it is not; that account setup may go before an approval obliges nobody.
    """
    answer = platform.api.create_external_account(platform.external_accounts.body(customer, name))
    if not answer.accepted:
        raise ResourceMissing(f"accounts are registered after an approval: {answer}")
    return platform.external_accounts.activate(arranged_resource(answer))


def attempt(platform: Platform, trigger: str, **parameters: Any) -> None:
    """Cause a trigger that the target may refuse."""
    try:
        platform.triggers.fire(trigger, **parameters)
    except TriggerFailed:
        platform.observe(f"{trigger} is refused before an approval")


def attempt_deposit(platform: Platform, account: Resource) -> None:
    """Let a deposit come that must not arrive."""
    attempt(
        platform,
        "deposit.arrive",
        accountId=account["id"],
        amount=2 * AMOUNT,
        currency=platform.profile.currency,
    )


def expect_blocked(answers: list[Answer], twins: list[Answer]) -> None:
    """Assert that no step of a payment has moved money, while the twin's steps have."""
    __tracebackhide__ = True
    last = answers[-1]
    if last.accepted:
        assert last.body["status"] not in SETTLING, f"money moves: {last}"
    else:
        last.refused(twin=twins[: len(answers)][-1])
