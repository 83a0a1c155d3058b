"""The statuses of external accounts: what leads to them, and which of them can receive."""

from __future__ import annotations

import pytest

from conformance.client.actor import Json
from conformance.client.external_states import LEADS_TO, UNPROVEN, WAITING
from conformance.client.http import Answer
from conformance.client.platform import FAILED, Platform
from conformance.scenarios.marks import Check, requirement
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing

VERIFICATION_REQUIRED = "EXTERNAL_ACCOUNT_VERIFICATION_REQUIRED"
SMALL, LARGE = 10_000, 5_000_000


# --- What leads to them ---------------------------------------------------------------------


@requirement("EXT-030", "EXT-031")
def test_a_new_account_may_wait_for_its_verification(platform: Platform, check: Check) -> None:
    """Until the review ends with approval."""
    account = platform.waiting(platform.payer())

    read = platform.external_account_now(account)

    with check("EXT-030"):
        if read.get("status") == "ACTIVE":
            raise ResourceMissing("the sandbox has verified the account by itself")
        assert read.get("status") == WAITING
    with check("EXT-031"):
        platform.approve_account(account)
        assert platform.external_account_in(account, "ACTIVE").get("status") == "ACTIVE"


@pytest.mark.parametrize(
    "trigger",
    [
        pytest.param("external_account.review", marks=requirement("EXT-032"), id="UNDER_REVIEW"),
        pytest.param("external_account.disable", marks=requirement("EXT-034"), id="INACTIVE"),
    ],
)
def test_an_account_comes_to_a_status(platform: Platform, trigger: str) -> None:
    """It is read at the status that says what happened to it."""
    account = platform.meeting(platform.payer(), trigger)

    read = platform.external_account_in(account, LEADS_TO[trigger])

    assert read.get("status") == LEADS_TO[trigger]


@requirement("EXT-035")
def test_a_proof_of_ownership_may_be_demanded(platform: Platform) -> None:
    """The account waits for it."""
    name = platform.profile.resources.ownership_account
    account = platform.meeting(platform.payer(), "ownership.demand", name)

    read = platform.external_account_in(account, UNPROVEN)

    assert read.get("status") == UNPROVEN


@requirement("EXT-033")
def test_a_review_ends_with_approval(platform: Platform) -> None:
    """The account is active again."""
    account = platform.moved(platform.payer(), "external_account.review")

    platform.approve_account(account)

    assert platform.external_account_in(account, "ACTIVE").get("status") == "ACTIVE"


@requirement("EXT-036", "EXT-037")
def test_a_status_is_that_of_one_account(platform: Platform, check: Check) -> None:
    """The list shows it too."""
    owner = platform.payer()
    other = platform.destination(owner)
    account = platform.moved(owner, "external_account.disable")

    untouched = platform.external_account_now(other)
    shown = platform.until(
        lambda: platform.listed(owner, account) or {},
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
    source = platform.account()
    account = platform.destination({"id": source["customerId"]})
    if account.get("status") == UNPROVEN:
        raise ResourceMissing("accounts wait for a proof of their ownership")

    assert _is_paid(platform, platform.transfer(platform.quote_body(source, account)))


@requirement("EXT-041")
def test_an_account_that_waits_receives_nothing(platform: Platform) -> None:
    """Nobody has verified it yet."""
    source = platform.account()
    account = platform.waiting({"id": source["customerId"]})

    steps = platform.transfer(platform.quote_body(source, account))

    if platform.external_account_now(account).get("status") != WAITING:
        raise ResourceMissing("the sandbox verifies accounts by itself")
    # Of another customer: the accounts of this one wait.
    _assert_unpaid(platform, steps, platform.transfer(platform.quote_body()))


@pytest.mark.parametrize(
    "trigger",
    [
        pytest.param("external_account.review", marks=requirement("EXT-042"), id="UNDER_REVIEW"),
        pytest.param("external_account.disable", marks=requirement("EXT-043"), id="INACTIVE"),
    ],
)
def test_an_account_that_is_not_active_receives_nothing(platform: Platform, trigger: str) -> None:
    """The quote or its execution is refused, or the payout fails."""
    source = platform.account()
    owner = {"id": source["customerId"]}
    account = platform.moved(owner, trigger)

    steps = platform.transfer(platform.quote_body(source, account))

    _assert_unpaid(platform, steps, _to_active(platform, source))


@requirement("EXT-044")
def test_an_account_whose_proof_failed_receives_nothing(platform: Platform) -> None:
    """Somebody else may own it."""
    source, account = _unproven(platform)
    platform.conclude(account, "signature", right=False)
    platform.settled(account, "UNVERIFIED")

    steps = platform.transfer(platform.quote_body(source, account))

    _assert_unpaid(platform, steps, platform.transfer(platform.quote_body(*_proven(platform))))


@requirement("EXT-045", "ERR-014")
def test_an_account_that_is_not_proved_may_receive_little(platform: Platform, check: Check) -> None:
    """Or nothing, or anything: the thresholds are not shown, but the code beyond them is."""
    most = platform.profile.resources.single_transaction_limit
    large = LARGE if most is None else min(LARGE, most.amount)
    source, account = _unproven(platform, amount=2 * large)
    proven = _proven(platform, amount=2 * large)

    payments = [
        [
            platform.transfer(platform.quote_body(*ends, amount=amount))
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
    source = platform.account()
    account = platform.moved({"id": source["customerId"]}, "external_account.review")
    platform.approve_account(account)
    platform.settled(account, "ACTIVE")

    assert _is_paid(platform, platform.transfer(platform.quote_body(source, account)))


@requirement("EXT-047")
def test_an_account_receives_after_its_proof(platform: Platform) -> None:
    """As any other that is active."""
    source, account = _unproven(platform)
    platform.conclude(account, "signature", right=True)
    platform.settled(account, "ACTIVE")

    assert _is_paid(platform, platform.transfer(platform.quote_body(source, account)))


@requirement("EXT-048")
def test_an_account_that_was_disabled_is_not_paid_by_an_older_quote(platform: Platform) -> None:
    """Another quote of that time is executed."""
    source = platform.account()
    owner = {"id": source["customerId"]}
    account, other = platform.destination(owner), platform.destination(owner)
    quotes = [platform.quote(source, to) for to in (account, other)]
    platform.cause("external_account.disable", externalAccountId=account["id"])
    platform.settled(account, "INACTIVE")

    step, twin = (platform.execute(quote) for quote in quotes)

    _assert_unpaid(platform, [step], [twin])


@requirement("EXT-049")
def test_an_account_that_is_disabled_is_not_paid_at_once(platform: Platform) -> None:
    """Though no step comes between the quote and its execution."""
    source = platform.account()
    owner = {"id": source["customerId"]}
    account, other = platform.moved(owner, "external_account.disable"), platform.destination(owner)

    step, twin = (
        platform.create_quote(platform.quote_body(source, to, immediatelyExecute=True))
        for to in (account, other)
    )

    _assert_unpaid(platform, [step], [twin])


def _unproven(platform: Platform, *, amount: int = 100_000) -> tuple[Json, Json]:
    """Return a funded internal account and an external one whose ownership is to be proved.

    Raises:
        ResourceMissing: the profile names no corridor to such an account.
    """
    name = platform.profile.resources.ownership_account
    found = [one for one in platform.profile.resources.corridors if one.account == name]
    if not found:
        raise ResourceMissing(f"resources.corridors of the profile has none to {name}")
    source = platform.account(found[0].sending, amount=amount)
    return source, platform.unproven({"id": source["customerId"]})


def _proven(platform: Platform, *, amount: int = 100_000) -> tuple[Json, Json]:
    """Return the same of another customer, who has proved that the account is its own."""
    source, account = _unproven(platform, amount=amount)
    platform.conclude(account, "signature", right=True)
    return source, platform.settled(account, "ACTIVE")


def _to_active(platform: Platform, source: Json) -> list[Answer]:
    return platform.transfer(
        platform.quote_body(source, platform.destination({"id": source["customerId"]}))
    )


def _is_paid(platform: Platform, steps: list[Answer]) -> bool:
    """Return whether the payout of a quote and its execution completes.

    Raises:
        PreconditionFailed: it is neither refused nor decided.
    """
    if not steps[-1].accepted:
        return False
    seen = platform.transaction_in(steps[-1].body, "COMPLETED", *FAILED).get("status")
    if seen not in ("COMPLETED", *FAILED):
        raise PreconditionFailed(f"the payout comes to no end: {seen}")
    return bool(seen == "COMPLETED")


def _assert_unpaid(platform: Platform, steps: list[Answer], twins: list[Answer]) -> None:
    """Assert that a payment is refused at some step, or fails, and that another one is not."""
    __tracebackhide__ = True
    if not steps[-1].accepted:
        _refused(steps, twins)
        return
    seen = platform.transaction_in(steps[-1].body, "COMPLETED", *FAILED)
    assert seen.get("status") != "COMPLETED", f"the account was paid: {seen}"
    if not _is_paid(platform, twins):
        raise PreconditionFailed(f"an active account is not paid either: {twins[-1]}")


def _refused(steps: list[Answer], twins: list[Answer], *expected: int | str) -> None:
    """Assert that the last step was refused; its twin is the same one of another payment."""
    __tracebackhide__ = True
    if len(twins) < len(steps):
        raise PreconditionFailed(f"an active account is not paid either: {twins[-1]}")
    steps[-1].refused(*expected, twin=twins[len(steps) - 1])
