"""The statuses of external accounts: what leads to them, and which of them can receive a payout."""

from __future__ import annotations

import contextlib
from typing import Literal

import pytest

from conformance.exchange.answer import Answer
from conformance.platform.given.external_accounts import LEADS_TO, UNPROVEN, WAITING
from conformance.platform.given.transactions import FAILED
from conformance.platform.platform import Platform
from conformance.platform.resource import Json, Resource, arranged_resource
from conformance.profile.resources import Corridor
from conformance.scenarios.external_accounts.kinds import corridor_to
from conformance.scenarios.external_accounts.platform_accounts import move_platform_account
from conformance.scenarios.kit.approvals import expect_unpaid
from conformance.scenarios.kit.cases import case
from conformance.scenarios.kit.challenges import WAITING as CHALLENGED
from conformance.scenarios.kit.marks import Check, requirement
from conformance.scenarios.quotes.kinds import Kind, pay, quote_body
from conformance.scenarios.quotes.payments import (
    AMOUNT,
    corridor_from,
    fund_platform_account,
    readable_platform_account,
)
from conformance.scenarios.quotes.transfers import arrange_ends, expect_unmade, make_transfer, send
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing, TriggerFailed

VERIFICATION_REQUIRED = "EXTERNAL_ACCOUNT_VERIFICATION_REQUIRED"
SMALL, LARGE = 10_000, 5_000_000


# --- What leads to a status ------------------------------------------------------------------


@requirement("EXT-030", "EXT-031")
def test_a_new_account_may_wait_for_its_verification(platform: Platform, check: Check) -> None:
    """A new external account is PENDING until its approval, and ACTIVE after it.

    So says the answer to its creation, too.
    """
    account = platform.external_accounts.awaiting_verification(
        platform.external_accounts.account_holder()
    )

    account_read = platform.external_accounts.read(account)

    with check("EXT-030"):
        if account_read.get("status") == "ACTIVE":
            raise ResourceMissing("the sandbox has verified the account by itself")
        assert account_read.get("status") == WAITING
        # What is not verified yet was not so a moment before either.
        assert account.get("status") == WAITING, account
    with check("EXT-031"):
        platform.external_accounts.approve(account)
        assert platform.external_accounts.at_status(account, "ACTIVE").get("status") == "ACTIVE"


@pytest.mark.parametrize(
    "trigger",
    [
        case("EXT-032", "UNDER_REVIEW", "external_account.review"),
        case("EXT-034", "INACTIVE", "external_account.disable"),
    ],
)
def test_an_account_comes_to_a_status(platform: Platform, trigger: str) -> None:
    """A review leads to UNDER_REVIEW, and disabling the account to INACTIVE."""
    account = platform.external_accounts.account_after(
        platform.external_accounts.account_holder(), trigger
    )

    account_read = platform.external_accounts.at_status(account, LEADS_TO[trigger])

    assert account_read.get("status") == LEADS_TO[trigger]


@requirement("EXT-035")
def test_a_proof_of_ownership_may_be_demanded(platform: Platform) -> None:
    """An account whose proof is demanded comes to PENDING_OWNERSHIP_VERIFICATION."""
    name = platform.profile.resources.ownership_account
    account = platform.external_accounts.account_after(
        platform.external_accounts.account_holder(), "ownership.demand", name
    )

    account_read = platform.external_accounts.at_status(account, UNPROVEN)

    assert account_read.get("status") == UNPROVEN


@requirement("EXT-033")
def test_a_review_ends_with_approval(platform: Platform) -> None:
    """An account under review is ACTIVE again after the approval."""
    account = platform.external_accounts.moved(
        platform.external_accounts.account_holder(), "external_account.review"
    )

    platform.external_accounts.approve(account)

    assert platform.external_accounts.at_status(account, "ACTIVE").get("status") == "ACTIVE"


@requirement("EXT-036", "EXT-037")
@pytest.mark.parametrize("trigger", ["external_account.disable", "external_account.review"])
def test_a_status_is_that_of_one_account(platform: Platform, check: Check, trigger: str) -> None:
    """What moves one account leaves another of the customer as it was; the list shows the move."""
    owner = platform.external_accounts.account_holder()
    other = platform.external_accounts.account(owner)
    account = platform.external_accounts.moved(owner, trigger)

    other_read = platform.external_accounts.read(other)
    listed_account = platform.until(
        lambda: platform.external_accounts.as_listed(owner, account) or account.but(status=None),
        lambda row: row.get("status") == LEADS_TO[trigger],
    )

    with check("EXT-036"):
        assert other_read.get("status") == other["status"]
    with check("EXT-037"):
        assert listed_account.get("status") == LEADS_TO[trigger]


# --- Who can receive ------------------------------------------------------------------------


@requirement("EXT-040")
def test_an_active_account_receives(platform: Platform) -> None:
    """A payout to an ACTIVE external account completes."""
    source = platform.internal_accounts.account()
    account = platform.external_accounts.account(source.owner)
    if account.get("status") == UNPROVEN:
        raise ResourceMissing("accounts wait for a proof of their ownership")

    assert _is_paid(
        platform, platform.quotes.create_and_execute(platform.quotes.body(source, account))
    )


@requirement("EXT-041")
@pytest.mark.parametrize("at_once", [False, True], ids=["in-two-steps", "at-once"])
def test_an_account_that_waits_receives_nothing(platform: Platform, *, at_once: bool) -> None:
    """A payout to an account before its verification is refused, or does not complete."""
    source = platform.internal_accounts.account()
    account = platform.external_accounts.awaiting_verification(source.owner)

    def pay(body: Json) -> list[Answer]:
        if at_once:
            return [platform.api.create_quote({**body, "immediatelyExecute": True})]
        return platform.quotes.create_and_execute(body)

    steps = pay(platform.quotes.body(source, account))

    if steps[-1].accepted:
        # The account may be verified before its payout.
        platform.transactions.at_status(steps[-1].body, "COMPLETED", *FAILED)
    if platform.external_accounts.read(account).get("status") != WAITING:
        raise ResourceMissing("the sandbox verifies accounts by itself")
    # The twin is of another customer, as the accounts of this one wait for their verification.
    _expect_unpaid(platform, steps, pay(platform.quotes.body()))


@pytest.mark.parametrize(
    "trigger",
    [
        case("EXT-042", "UNDER_REVIEW", "external_account.review"),
        case("EXT-043", "INACTIVE", "external_account.disable"),
    ],
)
def test_an_account_that_is_not_active_receives_nothing(platform: Platform, trigger: str) -> None:
    """A payment to an UNDER_REVIEW or INACTIVE account is refused, or does not complete."""
    source = platform.internal_accounts.account()
    owner = source.owner
    account = platform.external_accounts.moved(owner, trigger)

    steps = platform.quotes.create_and_execute(platform.quotes.body(source, account))

    _expect_unpaid(platform, steps, _pay_active_account(platform, source))


@requirement("EXT-044")
def test_an_account_whose_proof_failed_receives_nothing(platform: Platform) -> None:
    """A payout to an UNVERIFIED account is refused at some step, or does not complete."""
    source, account = _unproven_ends(platform)
    platform.ownership.conclude(account, "signature", right=False)
    platform.external_accounts.arrange_status(account, "UNVERIFIED")

    steps = platform.quotes.create_and_execute(platform.quotes.body(source, account))

    _expect_unpaid(
        platform,
        steps,
        platform.quotes.create_and_execute(platform.quotes.body(*_proven_ends(platform))),
    )


@requirement("EXT-044")
@pytest.mark.parametrize("way", ["earlier", "immediate"])
def test_an_account_whose_proof_failed_receives_in_no_way(platform: Platform, way: str) -> None:
    """Neither a quote from before the proof failed nor an immediate one pays it."""
    corridor = _corridor_to_unproven(platform)
    source = platform.internal_accounts.account(corridor.sending)
    account, active = (
        platform.external_accounts.account(source.owner, corridor.account) for _ in range(2)
    )
    creations = [
        platform.api.create_quote(platform.quotes.body(source, to)) for to in (account, active)
    ]
    if not all(answer.accepted for answer in creations):
        raise ResourceMissing("accounts of this type are paid once they are proved")
    quotes = [arranged_resource(answer) for answer in creations]
    if platform.triggers.magic("ownership.demand") is not None:
        raise ResourceMissing("ownership.demand happens to new accounts alone")
    if account.get("status") != UNPROVEN:
        platform.triggers.fire("ownership.demand", externalAccountId=account["id"])
    platform.external_accounts.arrange_status(account, UNPROVEN)
    platform.ownership.conclude(account, "signature", right=False)
    platform.external_accounts.arrange_status(account, "UNVERIFIED")

    if way == "earlier":
        step, twin = (platform.api.execute_quote(quote["id"]) for quote in quotes)
    else:
        step, twin = (
            platform.api.create_quote(platform.quotes.body(source, to, immediatelyExecute=True))
            for to in (account, active)
        )

    _expect_unpaid(platform, [step], [twin])


@requirement("EXT-043")
@pytest.mark.parametrize("kind", ["mobile money", "crypto wallet", "Lightning"])
def test_a_disabled_account_of_no_kind_receives(platform: Platform, kind: str) -> None:
    """A payment to an INACTIVE account that is no bank account is refused, or does not complete."""
    corridor = corridor_to(platform, kind)
    source = platform.internal_accounts.account(corridor.sending)
    answer = platform.api.create_external_account(
        platform.external_accounts.body(source.owner, corridor.account)
    )
    if not answer.accepted:
        raise ResourceMissing(f"there can be no {corridor.account}: {answer}")
    # Some addresses can be registered only once, so the twin is an earlier payment to the same one.
    account = platform.external_accounts.activate(arranged_resource(answer))
    quotes = [platform.quotes.pending(source, account) for _ in range(2)]
    twin = platform.api.execute_quote(quotes[0]["id"])
    # A payout that is under way may fail with the account.
    before = platform.transactions.at_status(quotes[0], "COMPLETED", *FAILED).get("status")
    if before != "COMPLETED":
        raise ResourceMissing(f"a payout to {corridor.account} is {before} while it is active")
    platform.triggers.fire("external_account.disable", externalAccountId=account["id"])
    platform.external_accounts.arrange_status(account, "INACTIVE")

    step = platform.api.execute_quote(quotes[1]["id"])

    _expect_unpaid(platform, [step], [twin])


@pytest.mark.parametrize(
    ("id_", "trigger"),
    [
        case(("EXT-042", "EXT-820"), "UNDER_REVIEW", "EXT-042", "external_account.review"),
        case(("EXT-043", "EXT-820"), "INACTIVE", "EXT-043", "external_account.disable"),
    ],
)
def test_an_account_of_the_platform_that_is_not_active_receives_nothing(
    platform: Platform, check: Check, id_: str, trigger: str
) -> None:
    """A payment from the platform to its own account is refused, or does not complete.

    The platform's list shows the status of the account.
    """
    source = fund_platform_account(platform)
    name = corridor_from(platform, source).account
    account, active = (readable_platform_account(platform, name) for _ in range(2))
    move_platform_account(platform, account, trigger)

    steps, twins = (
        platform.quotes.create_and_execute(platform.quotes.body(source, to, amount=AMOUNT // 2))
        for to in (account, active)
    )

    with check(id_):
        _expect_unpaid(platform, steps, twins)
    with check("EXT-820"):
        listed = platform.until(
            lambda: {row.get("id"): row for row in platform.external_accounts.of_platform()},
            lambda rows: rows.get(account["id"], active).get("status") == LEADS_TO[trigger],
        )
        if account["id"] not in listed:
            raise PreconditionFailed(f"{account['id']} is not listed", breaks=["EXT-087"])
        assert listed[account["id"]].get("status") == LEADS_TO[trigger]


@requirement("EXT-045", "EXT-047", "ERR-014")
def test_an_account_that_is_not_proved_may_receive_little(platform: Platform, check: Check) -> None:
    """Without a proof of ownership, a refused payout has EXTERNAL_ACCOUNT_VERIFICATION_REQUIRED.

    The status is 400. The thresholds are unknown: a small or a large amount may be paid. Once the
    ownership was proved, neither is refused for the want of a proof.
    """
    limit = platform.profile.resources.single_transaction_limit
    large = LARGE if limit is None else min(LARGE, limit.amount)
    source, account = _unproven_ends(platform, amount=2 * large)
    proven_ends = _proven_ends(platform, amount=2 * large)

    payments = [
        [
            platform.quotes.create_and_execute(platform.quotes.body(*ends, amount=amount))
            for ends in ((source, account), proven_ends)
        ]
        for amount in (SMALL, large)
    ]
    refused_payments = [
        ends for ends in payments if ends[1][-1].accepted and not ends[0][-1].accepted
    ]

    platform.observe(
        f"of {SMALL} and {large} an unproved account is refused {len(refused_payments)}"
    )
    asked_again = [twins[-1] for _, twins in payments if twins[-1].code == VERIFICATION_REQUIRED]
    with check("EXT-047"):
        assert not asked_again, f"a proof was given, and is asked for: {asked_again}"
    with check("EXT-045"):
        for steps, twins in refused_payments:
            _expect_refusal(steps, twins, 400, VERIFICATION_REQUIRED)
    with check("ERR-014"):
        if not refused_payments:
            raise ResourceMissing(f"accounts that are not proved can receive {large}")
        for steps, twins in refused_payments:
            _expect_refusal(steps, twins, 400, VERIFICATION_REQUIRED)


@requirement("EXT-046")
def test_an_account_receives_after_its_review(platform: Platform) -> None:
    """A payout to an account that was under review completes once the account is ACTIVE."""
    source = platform.internal_accounts.account()
    account = platform.external_accounts.moved(source.owner, "external_account.review")
    platform.external_accounts.approve(account)
    platform.external_accounts.arrange_status(account, "ACTIVE")

    assert _is_paid(
        platform, platform.quotes.create_and_execute(platform.quotes.body(source, account))
    )


@requirement("EXT-047")
def test_an_account_receives_after_its_proof(platform: Platform) -> None:
    """A payout to an account whose ownership was proved completes."""
    source, account = _unproven_ends(platform)
    platform.ownership.prove(account)
    platform.external_accounts.arrange_status(account, "ACTIVE")

    assert _is_paid(
        platform, platform.quotes.create_and_execute(platform.quotes.body(source, account))
    )


@requirement("EXT-048")
def test_an_account_that_was_disabled_is_not_paid_by_an_older_quote(platform: Platform) -> None:
    """The execution of a quote from before the disabling is refused, or does not complete."""
    source = platform.internal_accounts.account()
    owner = source.owner
    account, other = (
        platform.external_accounts.account(owner),
        platform.external_accounts.account(owner),
    )
    quotes = [platform.quotes.pending(source, to) for to in (account, other)]
    platform.triggers.fire("external_account.disable", externalAccountId=account["id"])
    platform.external_accounts.arrange_status(account, "INACTIVE")

    step, twin = (platform.api.execute_quote(quote["id"]) for quote in quotes)

    _expect_unpaid(platform, [step], [twin])


@requirement("EXT-049")
def test_an_account_that_is_disabled_is_not_paid_at_once(platform: Platform) -> None:
    """A quote with immediatelyExecute to an INACTIVE account is refused, or does not complete."""
    source = platform.internal_accounts.account()
    owner = source.owner
    account, other = (
        platform.external_accounts.moved(owner, "external_account.disable"),
        platform.external_accounts.account(owner),
    )

    step, twin = (
        platform.api.create_quote(platform.quotes.body(source, to, immediatelyExecute=True))
        for to in (account, other)
    )

    _expect_unpaid(platform, [step], [twin])


@pytest.mark.parametrize(
    "trigger",
    [
        case("EXT-042", "UNDER_REVIEW", "external_account.review"),
        case("EXT-043", "INACTIVE", "external_account.disable"),
    ],
)
def test_a_proof_pays_no_account_that_is_not_active(platform: Platform, trigger: str) -> None:
    """A quote whose destination was stopped while the proof was awaited pays nothing.

    The proof may be taken, and the payment fail.
    """
    customer = platform.approved.sca_customer()
    account, active = (platform.external_accounts.account(customer) for _ in range(2))
    source = platform.internal_accounts.account(customer=customer)
    steps, twins = (
        platform.quotes.create_and_execute(platform.quotes.body(source, to))
        for to in (account, active)
    )
    quote, twin_quote = (arranged_resource(answers[-1], customer) for answers in (steps, twins))
    if {quote["status"], twin_quote["status"]} != {CHALLENGED}:
        raise PreconditionFailed(f"no proof is asked for: {steps[-1]}")
    _move(platform, account, trigger)

    step, twin = (platform.sca.authorize_fully(one) for one in (quote, twin_quote))

    _expect_unpaid(platform, [step], [twin])


@pytest.mark.parametrize("way", ["earlier", "immediate", "pulled", "real-time", "platform"])
@pytest.mark.parametrize(
    "trigger",
    [
        case("EXT-042", "UNDER_REVIEW", "external_account.review"),
        case("EXT-043", "INACTIVE", "external_account.disable"),
    ],
)
def test_an_account_that_is_not_active_receives_in_no_way(
    platform: Platform, trigger: str, way: Literal["earlier"] | Kind
) -> None:
    """Neither an older quote nor an immediate, a pulled or a real-time funded one pays it.

    Nor does the platform.
    """
    customer = platform.approved.customer()
    active = platform.external_accounts.account(customer)
    if way == "earlier":
        account = platform.external_accounts.account(customer)
        source = platform.internal_accounts.account(customer=customer)
        quotes = [platform.quotes.pending(source, to) for to in (account, active)]
        _move(platform, account, trigger)
        steps, twins = ([platform.api.execute_quote(quote["id"])] for quote in quotes)
    else:
        account = platform.external_accounts.moved(customer, trigger)
        steps, twins = (_pay_in_a_way(platform, way, customer, to) for to in (account, active))

    _expect_unpaid(platform, steps, twins)


@pytest.mark.parametrize(
    "trigger",
    [
        case("EXT-042", "UNDER_REVIEW", "external_account.review"),
        case("EXT-043", "INACTIVE", "external_account.disable"),
    ],
)
def test_an_approval_pays_no_account_that_is_not_active(platform: Platform, trigger: str) -> None:
    """The approval of a payment to an account that was disabled or reviewed since pays nothing.

    The payment may be taken, and fail.
    """
    source = platform.internal_accounts.account()
    twin = platform.agents.initiate(platform.internal_accounts.account())
    account = platform.external_accounts.account(source.owner)
    payment = platform.agents.initiate(source, account)
    _move(platform, account, trigger)

    answer = platform.api.approve_transaction(payment["transactionId"])

    expect_unpaid(platform, payment, answer, twin)


@requirement("EXT-822")
@pytest.mark.parametrize("at_once", [False, True], ids=["executed", "immediate"])
def test_no_money_is_pulled_from_a_disabled_account(platform: Platform, *, at_once: bool) -> None:
    """A quote from an INACTIVE account is refused, or does not complete."""
    customer = platform.approved.customer()
    # What is pulled may be for internal accounts alone.
    destination = platform.internal_accounts.account(amount=0, customer=customer)
    disabled, active = (platform.external_accounts.pullable(customer) for _ in range(2))
    bodies = [platform.quotes.body(source, destination) for source in (disabled, active)]
    _move(platform, disabled, "external_account.disable")

    if at_once:
        steps, twins = (
            [platform.api.create_quote({**body, "immediatelyExecute": True})] for body in bodies
        )
    else:
        steps, twins = (platform.quotes.create_and_execute(body) for body in bodies)

    _expect_unpaid(platform, steps, twins)


@requirement("EXT-822")
def test_nothing_is_transferred_from_a_disabled_account(platform: Platform) -> None:
    """A transfer in from an INACTIVE account is refused, or does not complete."""
    ends = arrange_ends(platform, "in")
    twin = make_transfer(platform, arrange_ends(platform, "in"))
    _move(platform, ends.source, "external_account.disable")

    answer = send(platform, ends)

    expect_unmade(platform, ends, answer, twin)


def _move(platform: Platform, account: Resource, trigger: str) -> None:
    """Let a trigger move an external account that is there, and wait for its status.

    Raises:
        ResourceMissing: the trigger is for new accounts alone.
    """
    if platform.triggers.magic(trigger) is not None:
        raise ResourceMissing(f"{trigger} happens to new accounts alone")
    platform.triggers.fire(trigger, externalAccountId=account["id"])
    platform.external_accounts.arrange_status(account, LEADS_TO[trigger])


def _pay_in_a_way(
    platform: Platform, kind: Kind, customer: Resource, account: Resource
) -> list[Answer]:
    """Pay an external account by a quote of a kind; return the answers up to a refusal."""
    created = platform.api.create_quote(quote_body(platform, kind, customer, account))
    if not created.accepted:
        return [created]
    if kind == "real-time":
        # A target may refuse the money of a payment that it will not make.
        with contextlib.suppress(TriggerFailed):
            pay(platform, kind, arranged_resource(created, customer))
        return [created]
    if kind == "immediate":
        return [created]
    return [created, platform.api.execute_quote(created.body["id"])]


def _unproven_ends(platform: Platform, *, amount: int | None = None) -> tuple[Resource, Resource]:
    """Return a funded internal account and an external account whose ownership is not proved.

    Raises:
        ResourceMissing: the profile names no corridor to such an account.
    """
    corridor = _corridor_to_unproven(platform)
    source = platform.internal_accounts.account(corridor.sending, amount=amount)
    return source, platform.ownership.unproven(source.owner)


def _corridor_to_unproven(platform: Platform) -> Corridor:
    """Return a corridor to accounts whose ownership may have to be proved.

    It is one from the usual currency where there is one: what can be deposited in a coin may be
    below any threshold.

    Raises:
        ResourceMissing: the profile names no such corridor.
    """
    name = platform.profile.resources.ownership_account
    for corridor in platform.profile.resources.corridors:
        if (corridor.account, corridor.sending) == (name, platform.profile.currency):
            return corridor
    return platform.quotes.corridor_to(name)


def _proven_ends(platform: Platform, *, amount: int | None = None) -> tuple[Resource, Resource]:
    """Return a funded internal account and an external account whose ownership is proved."""
    source, account = _unproven_ends(platform, amount=amount)
    platform.ownership.prove(account)
    return source, platform.external_accounts.arrange_status(account, "ACTIVE")


def _pay_active_account(platform: Platform, source: Resource) -> list[Answer]:
    return platform.quotes.create_and_execute(
        platform.quotes.body(source, platform.external_accounts.account(source.owner))
    )


def _is_paid(platform: Platform, steps: list[Answer]) -> bool:
    """Return whether the payout of a quote completes; a refused step counts as no.

    Raises:
        PreconditionFailed: the transaction comes neither to COMPLETED nor to a failure.
        ResourceMissing: the amount is none that the target moves, whatever the account.
    """
    if steps[-1].code == "AMOUNT_OUT_OF_RANGE":
        raise ResourceMissing(f"the payment is too small or too large: {steps[-1]}")
    if not steps[-1].accepted:
        return False
    status = platform.transactions.at_status(steps[-1].body, "COMPLETED", *FAILED).get("status")
    if status not in ("COMPLETED", *FAILED):
        raise PreconditionFailed(f"the payout comes to no end: {status}")
    return bool(status == "COMPLETED")


def _expect_unpaid(platform: Platform, steps: list[Answer], twins: list[Answer]) -> None:
    """Assert that a payment is refused at some step, or that its payout does not complete.

    Raises:
        PreconditionFailed: the payment of the twin is not made either.
    """
    __tracebackhide__ = True
    if not steps[-1].accepted:
        _expect_refusal(steps, twins)
        return
    transaction = platform.transactions.at_status(steps[-1].body, "COMPLETED", *FAILED)
    assert transaction.get("status") != "COMPLETED", f"the account was paid: {transaction}"
    if not _is_paid(platform, twins):
        raise PreconditionFailed(f"an active account is not paid either: {twins[-1]}")


def _expect_refusal(steps: list[Answer], twins: list[Answer], *expected: int | str) -> None:
    """Assert that the last step of a payment was refused; its twin is the same step of another.

    Raises:
        PreconditionFailed: the other payment was refused at an earlier step.
    """
    __tracebackhide__ = True
    if len(twins) < len(steps):
        raise PreconditionFailed(f"an active account is not paid either: {twins[-1]}")
    steps[-1].refused(*expected, twin=twins[len(steps) - 1])
