"""The statuses of external accounts: what leads to them, and which of them can receive."""

from __future__ import annotations

import pytest

from conformance.exchange.answer import Answer
from conformance.platform.given.external_accounts import LEADS_TO, UNPROVEN, WAITING
from conformance.platform.given.transactions import FAILED
from conformance.platform.platform import Platform
from conformance.platform.resource import Resource
from conformance.scenarios.kit.marks import Check, requirement
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing

VERIFICATION_REQUIRED = "EXTERNAL_ACCOUNT_VERIFICATION_REQUIRED"
SMALL, LARGE = 10_000, 5_000_000


# --- What leads to them ---------------------------------------------------------------------


@requirement("EXT-030", "EXT-031")
def test_a_new_account_may_wait_for_its_verification(platform: Platform, check: Check) -> None:
    """Until the review ends with approval."""
    account = platform.external_accounts.awaiting_verification(
        platform.external_accounts.account_holder()
    )

    read = platform.external_accounts.read(account)

    with check("EXT-030"):
        if read.get("status") == "ACTIVE":
            raise ResourceMissing("the sandbox has verified the account by itself")
        assert read.get("status") == WAITING
    with check("EXT-031"):
        platform.external_accounts.approve(account)
        assert platform.external_accounts.at_status(account, "ACTIVE").get("status") == "ACTIVE"


@pytest.mark.parametrize(
    "trigger",
    [
        pytest.param("external_account.review", marks=requirement("EXT-032"), id="UNDER_REVIEW"),
        pytest.param("external_account.disable", marks=requirement("EXT-034"), id="INACTIVE"),
    ],
)
def test_an_account_comes_to_a_status(platform: Platform, trigger: str) -> None:
    """It is read at the status that says what happened to it."""
    account = platform.external_accounts.account_after(
        platform.external_accounts.account_holder(), trigger
    )

    read = platform.external_accounts.at_status(account, LEADS_TO[trigger])

    assert read.get("status") == LEADS_TO[trigger]


@requirement("EXT-035")
def test_a_proof_of_ownership_may_be_demanded(platform: Platform) -> None:
    """The account waits for it."""
    name = platform.profile.resources.ownership_account
    account = platform.external_accounts.account_after(
        platform.external_accounts.account_holder(), "ownership.demand", name
    )

    read = platform.external_accounts.at_status(account, UNPROVEN)

    assert read.get("status") == UNPROVEN


@requirement("EXT-033")
def test_a_review_ends_with_approval(platform: Platform) -> None:
    """The account is active again."""
    account = platform.external_accounts.moved(
        platform.external_accounts.account_holder(), "external_account.review"
    )

    platform.external_accounts.approve(account)

    assert platform.external_accounts.at_status(account, "ACTIVE").get("status") == "ACTIVE"


@requirement("EXT-036", "EXT-037")
def test_a_status_is_that_of_one_account(platform: Platform, check: Check) -> None:
    """The list shows it too."""
    owner = platform.external_accounts.account_holder()
    other = platform.external_accounts.account(owner)
    account = platform.external_accounts.moved(owner, "external_account.disable")

    untouched = platform.external_accounts.read(other)
    shown = platform.until(
        lambda: platform.external_accounts.as_listed(owner, account) or account.but(status=None),
        lambda found: found.get("status") == "INACTIVE",
    )

    with check("EXT-036"):
        assert untouched.get("status") == other["status"]
    with check("EXT-037"):
        assert shown.get("status") == "INACTIVE"


# --- Which can receive ----------------------------------------------------------------------


@requirement("EXT-040")
def test_an_active_account_receives(platform: Platform) -> None:
    """Its payout completes."""
    source = platform.internal_accounts.account()
    account = platform.external_accounts.account(source.owner)
    if account.get("status") == UNPROVEN:
        raise ResourceMissing("accounts wait for a proof of their ownership")

    assert _is_paid(
        platform, platform.quotes.create_and_execute(platform.quotes.body(source, account))
    )


@requirement("EXT-041")
def test_an_account_that_waits_receives_nothing(platform: Platform) -> None:
    """Nobody has verified it yet."""
    source = platform.internal_accounts.account()
    account = platform.external_accounts.awaiting_verification(source.owner)

    steps = platform.quotes.create_and_execute(platform.quotes.body(source, account))

    if platform.external_accounts.read(account).get("status") != WAITING:
        raise ResourceMissing("the sandbox verifies accounts by itself")
    # Of another customer: the accounts of this one wait.
    _expect_unpaid(platform, steps, platform.quotes.create_and_execute(platform.quotes.body()))


@pytest.mark.parametrize(
    "trigger",
    [
        pytest.param("external_account.review", marks=requirement("EXT-042"), id="UNDER_REVIEW"),
        pytest.param("external_account.disable", marks=requirement("EXT-043"), id="INACTIVE"),
    ],
)
def test_an_account_that_is_not_active_receives_nothing(platform: Platform, trigger: str) -> None:
    """The quote or its execution is refused, or the payout fails."""
    source = platform.internal_accounts.account()
    owner = source.owner
    account = platform.external_accounts.moved(owner, trigger)

    steps = platform.quotes.create_and_execute(platform.quotes.body(source, account))

    _expect_unpaid(platform, steps, _to_active(platform, source))


@requirement("EXT-044")
def test_an_account_whose_proof_failed_receives_nothing(platform: Platform) -> None:
    """Somebody else may own it."""
    source, account = _unproven(platform)
    platform.ownership.conclude(account, "signature", right=False)
    platform.external_accounts.arrange_status(account, "UNVERIFIED")

    steps = platform.quotes.create_and_execute(platform.quotes.body(source, account))

    _expect_unpaid(
        platform,
        steps,
        platform.quotes.create_and_execute(platform.quotes.body(*_proven(platform))),
    )


@requirement("EXT-045", "ERR-014")
def test_an_account_that_is_not_proved_may_receive_little(platform: Platform, check: Check) -> None:
    """Or nothing, or anything: the thresholds are not shown, but the code beyond them is."""
    most = platform.profile.resources.single_transaction_limit
    large = LARGE if most is None else min(LARGE, most.amount)
    source, account = _unproven(platform, amount=2 * large)
    proven = _proven(platform, amount=2 * large)

    payments = [
        [
            platform.quotes.create_and_execute(platform.quotes.body(*ends, amount=amount))
            for ends in ((source, account), proven)
        ]
        for amount in (SMALL, large)
    ]
    refused = [ends for ends in payments if ends[1][-1].accepted and not ends[0][-1].accepted]

    platform.observe(f"of {SMALL} and {large} an unproved account is refused {len(refused)}")
    with check("EXT-045"):
        for steps, twins in refused:
            _refused(steps, twins, 400, VERIFICATION_REQUIRED)
    with check("ERR-014"):
        if not refused:
            raise ResourceMissing(f"accounts that are not proved can receive {large}")
        for steps, twins in refused:
            _refused(steps, twins, 400, VERIFICATION_REQUIRED)


@requirement("EXT-046")
def test_an_account_receives_after_its_review(platform: Platform) -> None:
    """As any other that is active."""
    source = platform.internal_accounts.account()
    account = platform.external_accounts.moved(source.owner, "external_account.review")
    platform.external_accounts.approve(account)
    platform.external_accounts.arrange_status(account, "ACTIVE")

    assert _is_paid(
        platform, platform.quotes.create_and_execute(platform.quotes.body(source, account))
    )


@requirement("EXT-047")
def test_an_account_receives_after_its_proof(platform: Platform) -> None:
    """As any other that is active."""
    source, account = _unproven(platform)
    platform.ownership.conclude(account, "signature", right=True)
    platform.external_accounts.arrange_status(account, "ACTIVE")

    assert _is_paid(
        platform, platform.quotes.create_and_execute(platform.quotes.body(source, account))
    )


@requirement("EXT-048")
def test_an_account_that_was_disabled_is_not_paid_by_an_older_quote(platform: Platform) -> None:
    """Another quote of that time is executed."""
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
    """Though no step comes between the quote and its execution."""
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


def _unproven(platform: Platform, *, amount: int = 100_000) -> tuple[Resource, Resource]:
    """Return a funded internal account and an external one whose ownership is to be proved.

    Raises:
        ResourceMissing: the profile names no corridor to such an account.
    """
    name = platform.profile.resources.ownership_account
    found = [one for one in platform.profile.resources.corridors if one.account == name]
    if not found:
        raise ResourceMissing(f"resources.corridors of the profile has none to {name}")
    source = platform.internal_accounts.account(found[0].sending, amount=amount)
    return source, platform.ownership.unproven(source.owner)


def _proven(platform: Platform, *, amount: int = 100_000) -> tuple[Resource, Resource]:
    """Return the same of another customer, who has proved that the account is its own."""
    source, account = _unproven(platform, amount=amount)
    platform.ownership.conclude(account, "signature", right=True)
    return source, platform.external_accounts.arrange_status(account, "ACTIVE")


def _to_active(platform: Platform, source: Resource) -> list[Answer]:
    return platform.quotes.create_and_execute(
        platform.quotes.body(source, platform.external_accounts.account(source.owner))
    )


def _is_paid(platform: Platform, steps: list[Answer]) -> bool:
    """Return whether the payout of a quote and its execution completes.

    Raises:
        PreconditionFailed: it is neither refused nor decided.
    """
    if not steps[-1].accepted:
        return False
    seen = platform.transactions.at_status(steps[-1].body, "COMPLETED", *FAILED).get("status")
    if seen not in ("COMPLETED", *FAILED):
        raise PreconditionFailed(f"the payout comes to no end: {seen}")
    return bool(seen == "COMPLETED")


def _expect_unpaid(platform: Platform, steps: list[Answer], twins: list[Answer]) -> None:
    """Assert that a payment is refused at some step, or fails, and that another one is not."""
    __tracebackhide__ = True
    if not steps[-1].accepted:
        _refused(steps, twins)
        return
    seen = platform.transactions.at_status(steps[-1].body, "COMPLETED", *FAILED)
    assert seen.get("status") != "COMPLETED", f"the account was paid: {seen}"
    if not _is_paid(platform, twins):
        raise PreconditionFailed(f"an active account is not paid either: {twins[-1]}")


def _refused(steps: list[Answer], twins: list[Answer], *expected: int | str) -> None:
    """Assert that the last step was refused; its twin is the same one of another payment."""
    __tracebackhide__ = True
    if len(twins) < len(steps):
        raise PreconditionFailed(f"an active account is not paid either: {twins[-1]}")
    steps[-1].refused(*expected, twin=twins[len(steps) - 1])
