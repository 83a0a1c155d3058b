"""Regulated and unregulated platforms: how customers are onboarded and unlocked by an approval."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import pytest

from conformance.exchange.answer import Answer
from conformance.platform.given.customers import verification_status
from conformance.platform.given.transactions import FAILED
from conformance.platform.given.verification import DECISIONS, REVIEWED, Road
from conformance.platform.platform import Platform
from conformance.platform.resource import Json, Resource, arranged_body, arranged_resource
from conformance.scenarios.external_accounts.kinds import kind_of
from conformance.scenarios.kit.cases import case
from conformance.scenarios.kit.customers import for_both_types
from conformance.scenarios.kit.marks import SETTLING, Check
from conformance.scenarios.webhooks.reports import FAMILIES
from conformance.testdata.accounts import account_example
from conformance.verdict.decisions import (
    Broken,
    PreconditionFailed,
    ResourceMissing,
    TriggerFailed,
    TriggerMissing,
)

T = TypeVar("T")

FINAL_STATUSES = ("COMPLETED", "EXPIRED", *FAILED)
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
"""The requirement by the status of an individual, and by the way in which money would move."""

BLOCKED_BUSINESS: Mapping[str, Mapping[str, str]] = {
    "UNVERIFIED": {"deposit": "PLM-060", "execution": "PLM-061"},
    "PENDING": {
        "deposit": "PLM-600",
        "execution": "PLM-601",
        "immediate": "PLM-608",
        "pull": "PLM-609",
        "realtime": "PLM-610",
        "incoming": "PLM-611",
    },
    "REJECTED": {"deposit": "PLM-602", "execution": "PLM-603"},
    "HOLD": {"deposit": "PLM-604", "execution": "PLM-605"},
}
"""The requirement by the status of a business, and by the way in which money would move."""


@dataclass(frozen=True)
class Applicant:
    """A customer who is not approved; ``status`` is that of the customer's verification."""

    customer: Resource
    status: str

    @contextmanager
    def remaining_so(self, platform: Platform) -> Iterator[None]:
        """Raise ``ResourceMissing`` at the end if the customer's status has changed meanwhile."""
        try:
            yield
        finally:
            now = verification_status(platform.customers.read(self.customer))
            if now != self.status:
                raise ResourceMissing(f"the review was decided meanwhile: the customer is {now}")


@for_both_types(("PLM-001",), ("PLM-002",))
def test_a_platform_of_either_model_creates_customers(
    platform: Platform, check: Check, ids: tuple[str, ...], *, business: bool
) -> None:
    """A customer is created without the hosted flow before it."""
    body = platform.customers.business_body() if business else platform.customers.body()

    answer = platform.api.create_customer(body)

    with check(*ids):
        answer.expect_accepted()


@for_both_types(("PLM-011",), ("PLM-012",))
def test_both_ways_into_the_service_bring_the_same_events(
    platform: Platform, check: Check, ids: tuple[str, ...], *, business: bool
) -> None:
    """Direct and hosted onboarding report PENDING and APPROVED, and no other documented event."""
    expected = expected_types("APPROVED", business=business)

    types = types_by_path(platform, expected, "customer.approve", business=business)

    with check(*ids):
        assert {path: {*came} for path, came in types.items()} == dict.fromkeys(PATHS, expected)


@for_both_types(("PLM-606",), ("PLM-607",))
def test_both_ways_bring_the_same_events_of_a_rejection(
    platform: Platform, check: Check, ids: tuple[str, ...], *, business: bool
) -> None:
    """Direct and hosted onboarding report PENDING and REJECTED, and no other documented event.

    Where the sandbox approves by itself, the approval may come before what rejects the customer.
    """
    expected = expected_types("REJECTED", business=business)

    types = types_by_path(platform, expected, "customer.reject", business=business)

    approved, rejected = (f"{FAMILIES[business]}{one}" for one in ("APPROVED", "REJECTED"))
    for came in types.values():
        if approved in came[: came.index(rejected) if rejected in came else None]:
            raise ResourceMissing("the sandbox approves by itself before a customer is rejected")
    with check(*ids):
        assert {path: {*came} for path, came in types.items()} == dict.fromkeys(PATHS, expected)


@pytest.mark.parametrize(
    "status",
    [case(ids.values(), status.lower(), status) for status, ids in BLOCKED.items()],
)
def test_no_money_moves_before_an_approval(platform: Platform, check: Check, status: str) -> None:
    """No deposit or payment of the customer is carried out, while those of an approved twin are."""
    customer = at_status(platform, status)
    twin = platform.approved.customer()

    for way, id_ in BLOCKED[status].items():
        with check(id_):
            MOVEMENTS[way](platform, Applicant(customer, status), twin)


@pytest.mark.parametrize(
    "status",
    [case(ids.values(), status.lower(), status) for status, ids in BLOCKED_BUSINESS.items()],
)
def test_no_money_moves_before_the_approval_of_a_business(
    platform: Platform, check: Check, status: str
) -> None:
    """No deposit or payment of the business is carried out, while those of an approved twin are."""
    business = at_status(platform, status, business=True)
    twin = platform.approved.business()

    for way, id_ in BLOCKED_BUSINESS[status].items():
        with check(id_):
            MOVEMENTS[way](platform, Applicant(business, status), twin)


@for_both_types(("PLM-030",), ("PLM-600",))
def test_no_coins_arrive_while_a_review_is_pending(
    platform: Platform, check: Check, ids: tuple[str, ...], *, business: bool
) -> None:
    """No deposit to a crypto account of the customer arrives, while one for a twin does."""
    coin = coin_of_corridors(platform)
    currencies = [platform.profile.currency, coin]
    customer = at_status(platform, "PENDING", business=business, currencies=currencies)
    twin = platform.approved.of_type(business, currencies=currencies)

    with check(*ids):
        by_deposit(platform, Applicant(customer, "PENDING"), twin, coin)


@pytest.mark.parametrize(
    "way",
    [
        case("PLM-612", "authorized", "authorized"),
        case("PLM-613", "real-time", "real-time"),
        case("PLM-614", "approved", "approved"),
    ],
)
def test_what_an_approved_customer_began_does_not_end_under_review(
    platform: Platform, way: str
) -> None:
    """A payment from before a review is not carried out while the review is pending.

    It waited for a proof, for its payment or for an approval. A twin of another customer is paid.
    """
    if not platform.approved.can_be_lost:
        raise ResourceMissing("no approval can be withdrawn")
    (customer, payment), (other, twin) = (begin_payment(platform, way) for _ in range(2))
    try:
        platform.approved.lose_approval(customer, "PENDING")
    except (PreconditionFailed, TriggerFailed) as error:
        raise ResourceMissing(f"no approved customer comes to PENDING: {error}") from error

    with Applicant(customer, "PENDING").remaining_so(platform):
        with suppress(TriggerFailed):
            end_payment(platform, way, customer, payment)
        status = platform.transactions.of_quote(payment).get("status")

    end_payment(platform, way, other, twin)
    if platform.transactions.at_status(twin, *SETTLING).get("status") not in SETTLING:
        raise PreconditionFailed("the same payment of an approved customer is not carried out")
    assert status not in SETTLING, f"the payment is {status} under review"


@pytest.mark.parametrize("road", ["any", "hosted"])
@for_both_types(("PLM-070", "PLM-071"), ("PLM-072", "PLM-073"))
def test_an_approval_unlocks_the_accounts(
    platform: Platform, check: Check, ids: tuple[str, ...], road: str, *, business: bool
) -> None:
    """After the approval a deposit arrives, and a quote from the account is executed.

    That holds for an approval after the hosted flow, as for one by any other way.
    """
    if platform.triggers.magic("customer.approve") is not None:
        raise ResourceMissing("the profile has customers approved as they are created")
    if road == "hosted":
        customer = platform.verification.reviews.onboarded(
            "hosted", business=business, trigger="customer.approve"
        )
    else:
        customer = at_status(platform, "UNVERIFIED", business=business)
        platform.approved.approve(customer)
    if verification_status(platform.customers.at_status(customer, "APPROVED")) != "APPROVED":
        raise PreconditionFailed("the customer was not approved")
    account = platform.internal_accounts.account(amount=0, customer=customer)
    external_account = platform.external_accounts.account(customer)
    before, _ = platform.internal_accounts.balances(account)
    deposit_id, execution_id = ids

    try:
        platform.internal_accounts.settle_deposit(account, AMOUNT)
    except TriggerFailed as refused:
        # Where money arrives for another customer, the approval of this one has not unlocked it.
        platform.internal_accounts.account(amount=AMOUNT)
        with check(deposit_id):
            raise Broken("a deposit to arrive after the approval", refused) from refused
        raise PreconditionFailed("there is no money to pay with") from refused
    balance = platform.internal_accounts.wait_for_balance(account, before + AMOUNT)
    answers = platform.quotes.create_and_execute(
        platform.quotes.body(account, external_account, amount=AMOUNT // 2)
    )

    with check(deposit_id):
        assert balance == before + AMOUNT
    with check(execution_id):
        answers[-1].expect_accepted()
        assert answers[-1].body["status"] in SETTLING, answers[-1]


def begin_payment(platform: Platform, way: str) -> tuple[Resource, Resource]:
    """Return a new customer, and a payment of it that waits for its end."""
    if way == "authorized":
        customer = platform.approved.sca_customer()
        return customer, platform.sca.challenged(customer)
    customer = platform.approved.customer()
    if way == "real-time":
        return customer, platform.quotes.realtime(customer)
    return customer, platform.agents.initiate(platform.internal_accounts.account(customer=customer))


def end_payment(platform: Platform, way: str, customer: Resource, payment: Resource) -> None:
    """Bring what a payment of a customer waits for, accepted or refused."""
    if way == "authorized":
        platform.sca.authorize_fully(payment)
    elif way == "real-time":
        platform.triggers.fire("quote.fund", quoteId=payment["id"], customerId=customer["id"])
    else:
        platform.api.approve_transaction(payment["transactionId"])


def by_deposit(
    platform: Platform, applicant: Applicant, twin: Resource, currency: str | None = None
) -> None:
    """Assert that a deposit for a customer does not arrive, while one for the twin does.

    It is in the currency of the profile, or in another one.
    """
    owner, account = blocked_account(platform, applicant, currency)
    before, _ = platform.internal_accounts.balances(account)

    with owner.remaining_so(platform):
        attempt_deposit(platform, account)

        platform.internal_accounts.account(currency, customer=twin)
        assert platform.internal_accounts.balances(account)[0] == before, "the deposit has arrived"


def by_execution(platform: Platform, applicant: Applicant, twin: Resource) -> None:
    """Assert that no quote of a customer is executed, while the twin's is.

    A customer who has lost the approval has a quote from before, too.
    """
    twin_answers = platform.quotes.create_and_execute(
        platform.quotes.body(platform.internal_accounts.account(customer=twin))
    )
    payer = arrange_payer(platform, applicant)

    with payer.owner.remaining_so(platform):
        answers = platform.quotes.create_and_execute(payer.body(platform))
        if payer.quote is not None:
            execution = platform.api.execute_quote(payer.quote["id"])
            expect_unpaid(platform, payer, [execution], twin_answers[-1:])

        expect_unpaid(platform, payer, answers, twin_answers)


def by_immediate_execution(platform: Platform, applicant: Applicant, twin: Resource) -> None:
    """Assert that a customer's quote is not executed at once, while the twin's is."""
    twin_body = platform.quotes.body(
        platform.internal_accounts.account(customer=twin), immediatelyExecute=True
    )
    twin_answer = platform.api.create_quote(twin_body)
    payer = arrange_payer(platform, applicant)

    with payer.owner.remaining_so(platform):
        answer = platform.api.create_quote(payer.body(platform, immediatelyExecute=True))

        expect_unpaid(platform, payer, [answer], [twin_answer])


def by_pull(platform: Platform, applicant: Applicant, twin: Resource) -> None:
    """Assert that no money is pulled from a customer's external account, while the twin's is.

    It would go to another external account of the customer: an internal one takes no money either.
    """
    kind = platform.profile.resources.pullable_account
    twin_source = {**platform.external_accounts.pullable(twin), "customerId": twin["id"]}
    if platform.quotes.pulls_abroad():
        owner = applicant
        destination = early_external_account(platform, owner.customer)
        twin_destination = platform.external_accounts.account(twin)
    else:
        platform.observe("what is pulled goes to internal accounts alone")
        owner, destination = blocked_account(platform, applicant)
        twin_destination = platform.internal_accounts.account(amount=0, customer=twin)
    customer = owner.customer
    source = {**early_external_account(platform, customer, kind), "customerId": customer["id"]}

    with owner.remaining_so(platform):
        twin_answer, answer = (
            platform.api.create_quote(platform.quotes.body(*ends, immediatelyExecute=True))
            for ends in ((twin_source, twin_destination), (source, destination))
        )

        expect_blocked([answer], [twin_answer])


def by_realtime_funding(platform: Platform, applicant: Applicant, twin: Resource) -> None:
    """Assert that a payment by a customer executes no quote, while one by the twin does."""
    customer = applicant.customer
    twin_body = platform.quotes.realtime_body(twin)
    external_account = early_external_account(platform, customer)

    with applicant.remaining_so(platform):
        created = platform.api.create_quote(
            platform.quotes.realtime_body(customer, external_account)
        )
        twin_answer = platform.api.create_quote(twin_body)
        if not created.accepted:
            expect_blocked([created], [twin_answer])
            return

        attempt(platform, "quote.fund", quoteId=created.body["id"], customerId=customer["id"])

        quote = arranged_body(twin_answer)
        platform.triggers.fire("quote.fund", quoteId=quote["id"], customerId=twin["id"])
        if (status := platform.transactions.at_status(quote, *SETTLING)["status"]) not in SETTLING:
            raise PreconditionFailed(f"a payment executes no quote: its transaction is {status}")
        assert platform.transactions.of_quote(created.body)["status"] not in SETTLING, created


def by_incoming_payment(platform: Platform, applicant: Applicant, twin: Resource) -> None:
    """Assert that a payment of the twin into a customer's account does not arrive."""
    owner, account = blocked_account(platform, applicant)
    before, _ = platform.internal_accounts.balances(account)
    source = platform.internal_accounts.account(customer=twin)
    approved_account = platform.internal_accounts.account(
        amount=0, customer=platform.approved.customer()
    )
    twin_answers = platform.quotes.create_and_execute(
        platform.quotes.body(source, approved_account)
    )
    if not twin_answers[-1].accepted:
        raise ResourceMissing(
            f"customers pay nothing into each other's accounts: {twin_answers[-1]}"
        )

    with owner.remaining_so(platform):
        answers = platform.quotes.create_and_execute(platform.quotes.body(source, account))

        if answers[-1].accepted:
            platform.transactions.at_status(answers[0].body, *FINAL_STATUSES)
            assert platform.internal_accounts.balances(account)[0] == before, (
                f"the payment has arrived: {answers[-1]}"
            )
        else:
            expect_blocked(answers, twin_answers)


MOVEMENTS: Mapping[str, Callable[[Platform, Applicant, Resource], None]] = {
    "deposit": by_deposit,
    "execution": by_execution,
    "immediate": by_immediate_execution,
    "pull": by_pull,
    "realtime": by_realtime_funding,
    "incoming": by_incoming_payment,
}
"""Checks by the way in which money would move for a customer, and does for a twin."""


def at_status(
    platform: Platform, status: str, *, business: bool = False, **members: Any
) -> Resource:
    """Return a customer whose verification has a status other than APPROVED.

    ``members`` are customer fields that differ from the usual ones.

    Raises:
        PreconditionFailed: a trigger left the customer at another status.
        ResourceMissing: the target decides reviews at once.
    """
    if status == "UNVERIFIED":
        return platform.verification.reviews.unsubmitted(business=business, **members)
    trigger = next((name for name, end in DECISIONS.items() if end == status), None)
    # A sandbox approves the businesses that complete its hosted flow, and may do so at once.
    is_direct = business and (trigger is None or platform.profile.features.direct_onboarding)
    path: Road = "directly" if is_direct else "hosted"
    customer = platform.verification.reviews.onboarded(
        path, business=business, trigger=trigger, **members
    )
    expected = (status,) if trigger else REVIEWED
    status_now = verification_status(platform.customers.at_status(customer, *expected))
    if status_now != status and not trigger:
        raise ResourceMissing(f"reviews are decided at once: the customer is {status_now}")
    if status_now != status:
        raise PreconditionFailed(f"{trigger} left the customer at {status_now}")
    return customer


def expected_types(decision: str, *, business: bool) -> set[str]:
    """Return the types of the events that report a review and its decision."""
    return {f"{FAMILIES[business]}{status}" for status in ("PENDING", decision)}


def types_by_path(
    platform: Platform, expected: set[str], trigger: str, *, business: bool
) -> dict[Road, list[str]]:
    """Onboard a customer by each path, and return the types of the events, as they came."""
    customers = {
        path: platform.verification.reviews.onboarded(path, business=business, trigger=trigger)
        for path in PATHS
    }
    return {
        path: platform.until(partial(types_about, platform, customer), expected.issubset)
        for path, customer in customers.items()
    }


def types_about(platform: Platform, customer: Resource) -> list[str]:
    """Return the documented types of the events about a customer that have arrived."""
    events = platform.webhooks.about(customer["id"])
    return [str(event.type) for event in events if event.type in EVENTS]


def coin_of_corridors(platform: Platform) -> str:
    """Return a crypto currency that customers hold and send to wallets.

    Raises:
        ResourceMissing: the corridors of the profile have none.
    """
    for corridor in platform.profile.resources.corridors:
        kind = kind_of(account_example(corridor.account))
        if kind == "crypto wallet" and corridor.sending == corridor.receiving:
            return corridor.sending
    raise ResourceMissing("resources.corridors of the profile has none within a crypto currency")


def early_account(platform: Platform, customer: Resource, currency: str | None = None) -> Resource:
    """Return an internal account of a customer who is not approved.

    Raises:
        ResourceMissing: the customer has no account before the approval.
    """
    wanted = currency or platform.profile.currency
    for account in platform.internal_accounts.of_customer(customer):
        is_kept = account.get("type") not in ("RULE_BASED", "EMBEDDED_WALLET")
        if is_kept and account["balance"]["currency"]["code"] == wanted:
            return account.but(customerId=customer.id)
    raise ResourceMissing("customers get their internal accounts with the approval")


@dataclass(frozen=True)
class Payer:
    """An internal account of a customer who is not approved, and where it would pay to.

    ``quote`` is a quote between the two accounts from the time when the customer was approved.
    """

    owner: Applicant
    account: Resource
    external_account: Resource
    quote: Resource | None = None

    def body(self, platform: Platform, **members: Any) -> Json:
        """Return the body of a quote between the two accounts."""
        return platform.quotes.body(self.account, self.external_account, **members)


def arrange_payer(platform: Platform, applicant: Applicant) -> Payer:
    """Return the accounts of a payment that is blocked for want of an approval alone.

    The account of a customer who was never approved takes no deposit, so that a payment from it
    might be refused for want of funds. So another customer is approved, gets money and loses the
    approval, where the profile has that happen.
    """

    def prepare(owner: Resource) -> tuple[Resource, Resource, Resource]:
        account = platform.internal_accounts.account(customer=owner)
        external_account = platform.external_accounts.account(owner)
        return account, external_account, platform.quotes.pending(account, external_account)

    found = withdraw_approval(platform, applicant, prepare)
    if found is None:
        return early_payer(platform, applicant)
    owner, prepared = found
    return Payer(owner, *prepared)


def blocked_account(
    platform: Platform, applicant: Applicant, currency: str | None = None
) -> tuple[Applicant, Resource]:
    """Return an internal account whose owner is not approved, and that owner.

    Where customers get their accounts with the approval, it is one of another customer, who was
    approved and loses the approval, where the profile has that happen.

    Raises:
        ResourceMissing: nobody who is not approved has such an account.
    """
    try:
        return applicant, early_account(platform, applicant.customer, currency)
    except ResourceMissing:
        found = withdraw_approval(
            platform,
            applicant,
            lambda owner: platform.internal_accounts.account(currency, amount=0, customer=owner),
            currencies=applicant.customer.get("currencies"),
        )
        if found is None:
            raise
        return found


def withdraw_approval(
    platform: Platform, applicant: Applicant, prepare: Callable[[Resource], T], **members: Any
) -> tuple[Applicant, T] | None:
    """Let an approved customer lose the approval, and come to the applicant's status.

    ``prepare`` is called with the customer before, and ``members`` are fields of it.

    Returns:
        The customer and what was prepared; None where no approval is lost in that way.
    """
    if not platform.approved.can_be_lost:
        return None
    is_business = applicant.customer.get("customerType") == "BUSINESS"
    customer = platform.approved.of_type(is_business, **members)
    prepared = prepare(customer)
    try:
        platform.approved.lose_approval(customer, applicant.status)
    except (PreconditionFailed, ResourceMissing, TriggerFailed, TriggerMissing) as error:
        platform.observe(f"no approved customer comes to {applicant.status}: {error}")
        return None
    return Applicant(customer, applicant.status), prepared


def early_payer(platform: Platform, applicant: Applicant) -> Payer:
    """Return the accounts of a customer who was never approved, after an attempt to fund one."""
    account = early_account(platform, applicant.customer)
    attempt_deposit(platform, account)
    external_account = early_external_account(platform, applicant.customer)
    return Payer(applicant, account, external_account)


def early_external_account(
    platform: Platform, customer: Resource, name: str | None = None
) -> Resource:
    """Create an external account of a customer who is not approved.

    Raises:
        ResourceMissing: it is refused; the specification does not require it before the approval.
    """
    answer = platform.api.create_external_account(platform.external_accounts.body(customer, name))
    if not answer.accepted:
        raise ResourceMissing(f"accounts are registered after an approval: {answer}")
    return platform.external_accounts.activate(arranged_resource(answer))


def attempt(platform: Platform, trigger: str, **parameters: Any) -> None:
    """Fire a trigger that the target may refuse."""
    try:
        platform.triggers.fire(trigger, **parameters)
    except TriggerFailed:
        platform.observe(f"{trigger} is refused before an approval")


def attempt_deposit(platform: Platform, account: Resource) -> None:
    """Try a deposit that must not arrive."""
    attempt(
        platform,
        "deposit.arrive",
        accountId=account["id"],
        amount=2 * AMOUNT,
        currency=account["balance"]["currency"]["code"],
    )


def expect_unpaid(
    platform: Platform, payer: Payer, answers: list[Answer], twins: list[Answer]
) -> None:
    """Assert that no step of a payment has moved money, while the twin's steps have.

    Raises:
        ResourceMissing: it was refused for want of funds, and the account is empty.
    """
    __tracebackhide__ = True
    if answers[-1].code == "INSUFFICIENT_FUNDS" and not platform.internal_accounts.balance(
        payer.account
    ):
        raise ResourceMissing(
            f"money gets to no account whose owner is not approved: {answers[-1]}"
        )
    expect_blocked(answers, twins)


def expect_blocked(answers: list[Answer], twins: list[Answer]) -> None:
    """Assert that no step of a payment has moved money, while the twin's steps have."""
    __tracebackhide__ = True
    last = answers[-1]
    if last.accepted:
        assert last.body["status"] not in SETTLING, f"money moves: {last}"
    else:
        last.refused(twin=twins[: len(answers)][-1])
