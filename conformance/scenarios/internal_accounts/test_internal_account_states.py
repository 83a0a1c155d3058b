"""The states of an internal account: what leads to them, and what each of them prevents."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import pytest

from conformance.platform.resource import arranged_body, arranged_resource
from conformance.scenarios.cards.holdings import (
    AMOUNT,
    arrange_status,
    crypto_account,
    expect_no_deposit,
    expect_no_payment,
    require_no_payment_into,
)
from conformance.scenarios.kit.cases import case
from conformance.scenarios.kit.challenges import WAITING
from conformance.scenarios.kit.marks import SETTLING, Check, requirement
from conformance.scenarios.quotes.kinds import Kind, pay, quote_body
from conformance.scenarios.quotes.uma import uma_quote
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing, TriggerFailed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from conformance.platform.platform import Platform
    from conformance.platform.resource import Json, Resource

TRIGGERS = {
    "ACTIVE": "internal_account.provide",
    "FAILED": "internal_account.fail",
    "CLOSED": "internal_account.close",
    "FROZEN": "internal_account.freeze",
}
"""The trigger that leads to each state."""


# --- Provisioning ---------------------------------------------------------------------------


@requirement("ACC-140")
def test_an_account_that_is_being_provisioned_is_pending(platform: Platform) -> None:
    """One of the accounts of an approved customer is PENDING before it is provisioned."""
    accounts = platform.internal_accounts.all_awaited()

    statuses = {account["status"] for account in accounts}

    if statuses <= {"ACTIVE"}:
        raise PreconditionFailed(f"internal_account.await left the accounts at {statuses}")
    assert "PENDING" in statuses


@requirement("ACC-141", "ACC-142", "ACC-143")
def test_an_account_is_active_once_it_is_provisioned(platform: Platform, check: Check) -> None:
    """A provisioned account is ACTIVE, receives a deposit and a payment, and sends a payment."""
    account = platform.internal_accounts.awaited()

    platform.triggers.fire(TRIGGERS["ACTIVE"], accountId=account["id"])

    with check("ACC-141"):
        assert platform.internal_accounts.at_status(account, "ACTIVE")["status"] == "ACTIVE"
    before, _ = platform.internal_accounts.balances(account)
    with check("ACC-142"):
        platform.internal_accounts.settle_deposit(account, AMOUNT)
        assert (
            platform.internal_accounts.wait_for_balance(account, before + AMOUNT) == before + AMOUNT
        )
    answers = platform.quotes.create_and_execute(platform.quotes.body(account, amount=AMOUNT // 2))
    with check("ACC-143"):
        answers[-1].expect_accepted()
        assert answers[-1].body["status"] in SETTLING, answers[-1]
    with check("ACC-142"):
        payer = platform.internal_accounts.account()
        other = platform.internal_accounts.account(amount=0)
        twin, payment = (
            platform.quotes.create_and_execute(
                platform.quotes.body(payer, receiver, side="SENDING")
            )[-1]
            for receiver in (other, account)
        )
        if not twin.accepted:
            raise ResourceMissing(f"no internal account of another customer is paid: {twin}")
        payment.expect_accepted()


@requirement("ACC-164")
def test_a_pending_account_takes_no_deposit(platform: Platform) -> None:
    """A deposit does not arrive on a PENDING account."""
    with while_pending(platform) as account:
        expect_no_deposit(platform, account)


@requirement("ACC-165")
def test_a_pending_account_takes_no_payment(platform: Platform) -> None:
    """A payment of another customer does not arrive on a PENDING account."""
    with while_pending(platform) as account:
        require_no_payment_into(platform, account)


@contextlib.contextmanager
def while_pending(platform: Platform) -> Iterator[Resource]:
    """Give a PENDING account; raise ``ResourceMissing`` at the end if it is ACTIVE by then."""
    account = platform.internal_accounts.awaited()
    try:
        yield account
    finally:
        if platform.internal_accounts.read(account).get("status") == "ACTIVE":
            raise ResourceMissing("the account was provisioned meanwhile")


@requirement("ACC-144", "ACC-145", "ACC-146", "ACC-055")
def test_an_account_that_cannot_be_provisioned_fails(platform: Platform, check: Check) -> None:
    """The account is FAILED, and receives no deposit or payment; it cannot fund a card."""
    account = platform.internal_accounts.awaited()

    platform.triggers.fire(TRIGGERS["FAILED"], accountId=account["id"])

    failed = platform.internal_accounts.at_status(account, "FAILED")
    with check("ACC-144"):
        assert failed["status"] == "FAILED"
    with check("ACC-145"):
        arrange_status(platform, account, "FAILED")
        expect_no_deposit(platform, account)
    with check("ACC-146"):
        arrange_status(platform, account, "FAILED")
        require_no_payment_into(platform, account)
    with check("ACC-055"):
        name = platform.profile.bindings.card_funding
        if name is None:
            raise ResourceMissing("bindings.card_funding of the profile names no member")
        if not platform.internal_accounts.account(amount=0).get(name):
            raise ResourceMissing("no account can fund a card")
        arrange_status(platform, account, "FAILED")
        assert not failed.get(name)


# --- Closing and freezing -------------------------------------------------------------------


@pytest.mark.parametrize(
    "status",
    [
        case("ACC-148", "closed", "CLOSED"),
        case("ACC-154", "frozen", "FROZEN"),
    ],
)
def test_an_active_account_comes_to_an_end(platform: Platform, status: str) -> None:
    """An ACTIVE account becomes CLOSED by its customer, or FROZEN by the service."""
    account = platform.internal_accounts.account(amount=0)

    platform.triggers.fire(TRIGGERS[status], accountId=account["id"])

    assert platform.internal_accounts.at_status(account, status)["status"] == status


@pytest.mark.parametrize(
    "before",
    [
        case("ACC-155", "pending", "PENDING"),
        case("ACC-156", "failed", "FAILED"),
    ],
)
def test_an_account_that_was_never_active_is_frozen_too(platform: Platform, before: str) -> None:
    """A PENDING or FAILED account becomes FROZEN."""
    account = platform.internal_accounts.awaited()
    if before != "PENDING":
        platform.triggers.fire(TRIGGERS[before], accountId=account["id"])
        arrange_status(platform, account, before)

    platform.triggers.fire(TRIGGERS["FROZEN"], accountId=account["id"])

    assert platform.internal_accounts.at_status(account, "FROZEN")["status"] == "FROZEN"


STOPPED_STATUSES = {
    "CLOSED": {"new": "ACC-149", "earlier": "ACC-150", "immediate": "ACC-151"},
    "FROZEN": {"new": "ACC-157", "earlier": "ACC-158", "immediate": "ACC-159"},
}
"""The requirement by the state of an account, and by the kind of quote from it."""


@pytest.mark.parametrize(
    ("status", "ids"),
    [case(ids.values(), status.lower(), status, ids) for status, ids in STOPPED_STATUSES.items()],
)
@pytest.mark.parametrize("in_crypto", [False, True], ids=["fiat", "crypto"])
def test_nothing_is_sent_from_a_stopped_account(
    platform: Platform, check: Check, status: str, ids: dict[str, str], *, in_crypto: bool
) -> None:
    """New, earlier and immediate quotes from it move no money; those from an ACTIVE account do.

    An execution that is refused takes nothing.
    """
    currency = (
        crypto_account(platform)["balance"]["currency"]["code"]
        if in_crypto
        else platform.profile.currency
    )
    corridor = platform.quotes.corridors_from(currency)[0]
    account, active_account = (
        platform.internal_accounts.account(currency, amount=10 * AMOUNT) for _ in range(2)
    )
    body, twin_body = (
        platform.quotes.body(
            source,
            platform.external_accounts.account(source.owner, corridor.account),
            amount=AMOUNT,
        )
        for source in (account, active_account)
    )
    created = platform.api.create_quote(body)
    quote = arranged_body(created)
    platform.internal_accounts.stop(account, status)
    before = balance_if_listed(platform, account)

    executed = platform.api.execute_quote(quote["id"])
    after = balance_if_listed(platform, account)
    new_answers = platform.quotes.create_and_execute(body)
    immediate_answer = platform.api.create_quote({**body, "immediatelyExecute": True})

    twins = platform.quotes.create_and_execute(twin_body)
    with check(ids["earlier"]):
        expect_no_payment(platform, [created, executed], twins)
        if not executed.accepted:
            # What a closed account held may go to its owner meanwhile.
            assert before - after != quote["totalSendingAmount"], executed
    with check(ids["new"]):
        expect_no_payment(platform, new_answers, twins)
    with check(ids["immediate"]):
        twin = platform.api.create_quote({**twin_body, "immediatelyExecute": True})
        expect_no_payment(platform, [immediate_answer], [twin])


def balance_if_listed(platform: Platform, account: Resource) -> int:
    """Return the balance of an account, or 0 where it is not listed any more."""
    try:
        return platform.internal_accounts.balance(account)
    except PreconditionFailed:
        return 0


@pytest.mark.parametrize(
    "status",
    [
        case("ACC-150", "closed", "CLOSED"),
        case("ACC-158", "frozen", "FROZEN"),
    ],
)
def test_a_proof_debits_no_stopped_account(platform: Platform, status: str) -> None:
    """A quote that waited for its proof as its source was stopped moves no money."""
    sources = [platform.sca.account() for _ in range(2)]
    bodies = [platform.quotes.body(source, amount=AMOUNT) for source in sources]
    steps, twins = (platform.quotes.create_and_execute(body) for body in bodies)
    quote, twin_quote = (arranged_body(answers[-1]) for answers in (steps, twins))
    if {quote["status"], twin_quote["status"]} != {WAITING}:
        raise PreconditionFailed(f"no proof is asked for: {steps[-1]}")
    platform.internal_accounts.stop(sources[0], status)

    answer = platform.sca.authorize_fully(quote)

    expect_no_payment(
        platform, [*steps, answer], [*twins, platform.sca.authorize_fully(twin_quote)]
    )


@pytest.mark.parametrize(
    "status",
    [
        case(("ACC-149", "ACC-150"), "closed", "CLOSED"),
        case(("ACC-157", "ACC-158"), "frozen", "FROZEN"),
    ],
)
def test_a_stopped_account_pays_no_uma_address(
    platform: Platform, check: Check, status: str
) -> None:
    """Neither an earlier nor a new quote to a UMA address is paid from it."""
    expect_unpaid(platform, check, status, lambda: uma_quote(platform))


@pytest.mark.parametrize(
    "status",
    [
        case(("ACC-149", "ACC-150"), "closed", "CLOSED"),
        case(("ACC-157", "ACC-158"), "frozen", "FROZEN"),
    ],
)
def test_a_stopped_account_pays_no_other_one_of_its_owner(
    platform: Platform, check: Check, status: str
) -> None:
    """Neither an earlier nor a new quote moves money to the owner's account in another currency."""
    conversion = platform.quotes.conversion_from(platform.profile.currency)

    def quote() -> Json:
        owner = platform.approved.customer(currencies=sorted(conversion.currencies))
        source, destination = (
            platform.internal_accounts.account(currency, amount=amount, customer=owner)
            for currency, amount in ((conversion.sending, None), (conversion.receiving, 0))
        )
        return platform.quotes.body(source, destination, amount=AMOUNT)

    expect_unpaid(platform, check, status, quote)


def expect_unpaid(platform: Platform, check: Check, status: str, quote: Callable[[], Json]) -> None:
    """Decide whether an earlier or a new quote is paid from an account that was stopped.

    Args:
        platform: the suite in the part of a platform.
        check: decides a requirement.
        status: at which the account is stopped.
        quote: returns the body of a quote from an account of its own.

    Raises:
        ResourceMissing: no such quote is created.
    """
    __tracebackhide__ = True
    body, twin_body = (quote() for _ in range(2))
    created = platform.api.create_quote(body)
    if not created.accepted:
        raise ResourceMissing(f"no such quote is created: {created}")
    source = platform.ledger.accounts[body["source"]["accountId"]]
    platform.internal_accounts.stop(source, status)

    executed = platform.api.execute_quote(created.body["id"])
    new_answers = platform.quotes.create_and_execute(body)

    twins = platform.quotes.create_and_execute(twin_body)
    with check(STOPPED_STATUSES[status]["earlier"]):
        expect_no_payment(platform, [created, executed], twins)
    with check(STOPPED_STATUSES[status]["new"]):
        expect_no_payment(platform, new_answers, twins)


@requirement("ACC-152")
def test_a_closed_account_takes_no_deposit(platform: Platform) -> None:
    """A deposit does not arrive on a CLOSED account."""
    account = platform.internal_accounts.account(amount=0)
    platform.internal_accounts.stop(account, "CLOSED")

    expect_no_deposit(platform, account)


@pytest.mark.parametrize(
    "status",
    [
        case("ACC-153", "closed", "CLOSED"),
        case("ACC-160", "frozen", "FROZEN"),
    ],
)
def test_a_stopped_account_takes_no_payment(platform: Platform, status: str) -> None:
    """A payment of another customer does not arrive on a CLOSED or FROZEN account."""
    account = platform.internal_accounts.account(amount=0)
    platform.internal_accounts.stop(account, status)

    require_no_payment_into(platform, account)


@pytest.mark.parametrize("kind", ["pulled", "real-time"])
@pytest.mark.parametrize(
    "status",
    [
        case("ACC-153", "closed", "CLOSED"),
        case("ACC-160", "frozen", "FROZEN"),
    ],
)
def test_an_earlier_quote_of_each_kind_pays_no_stopped_account(
    platform: Platform, status: str, kind: Kind
) -> None:
    """A pulled or real-time funded payment does not arrive on an account that was stopped since."""
    accounts = [platform.internal_accounts.account(amount=0) for _ in range(2)]
    account = accounts[0]
    created, twin = (
        platform.api.create_quote(quote_body(platform, kind, one.owner, one)) for one in accounts
    )
    if not twin.accepted:
        raise ResourceMissing(f"nothing is paid so into an internal account: {twin}")
    quote, twin_quote = (
        arranged_resource(answer, one.owner)
        for answer, one in zip((created, twin), accounts, strict=True)
    )
    platform.internal_accounts.stop(account, status)

    # A target may refuse the execution, or the money of a payment that it will not make.
    with contextlib.suppress(PreconditionFailed, TriggerFailed):
        pay(platform, kind, quote)
    pay(platform, kind, twin_quote)

    if platform.transactions.at_status(twin_quote, "COMPLETED").get("status") != "COMPLETED":
        raise PreconditionFailed("a payment to an active account does not complete either")
    assert platform.transactions.of_quote(quote).get("status") != "COMPLETED"


@pytest.mark.parametrize("kind", ["pulled", "real-time"])
@pytest.mark.parametrize(
    "status",
    [
        case("ACC-146", "failed", "FAILED"),
        case("ACC-153", "closed", "CLOSED"),
        case("ACC-160", "frozen", "FROZEN"),
    ],
)
def test_a_new_quote_of_each_kind_pays_no_stopped_account(
    platform: Platform, status: str, kind: Kind
) -> None:
    """A pulled or real-time funded quote to such an account is refused, or does not arrive."""
    twin_account = platform.internal_accounts.account(amount=0)
    twin = platform.api.create_quote(quote_body(platform, kind, twin_account.owner, twin_account))
    if not twin.accepted:
        raise ResourceMissing(f"nothing is paid so into an internal account: {twin}")
    if status == "FAILED":
        account = platform.internal_accounts.awaited()
        platform.triggers.fire(TRIGGERS[status], accountId=account["id"])
        arrange_status(platform, account, status)
    else:
        account = platform.internal_accounts.account(amount=0)
        platform.internal_accounts.stop(account, status)

    created = platform.api.create_quote(quote_body(platform, kind, account.owner, account))

    if not created.accepted:
        created.refused(twin=twin)
        return
    quote = arranged_resource(created, account.owner)
    twin_quote = arranged_resource(twin, twin_account.owner)
    with contextlib.suppress(PreconditionFailed, TriggerFailed):
        pay(platform, kind, quote)
    pay(platform, kind, twin_quote)
    if platform.transactions.at_status(twin_quote, "COMPLETED").get("status") != "COMPLETED":
        raise PreconditionFailed("a payment to an active account does not complete either")
    assert platform.transactions.of_quote(quote).get("status") != "COMPLETED"


@pytest.mark.parametrize(
    ("status", "unaffected"),
    [
        case(("ACC-161", "ACC-162"), "frozen", "FROZEN", "ACC-161"),
        case("ACC-163", "closed", "CLOSED", "ACC-163"),
    ],
)
def test_another_customers_account_goes_on(
    platform: Platform, check: Check, status: str, unaffected: str
) -> None:
    """The account of another customer stays ACTIVE, and can send after a freeze."""
    account, other = (
        platform.internal_accounts.account(amount=0),
        platform.internal_accounts.account(),
    )

    platform.internal_accounts.stop(account, status)

    with check(unaffected):
        assert platform.internal_accounts.read(other)["status"] == "ACTIVE"
    if status == "FROZEN":
        answers = platform.quotes.create_and_execute(platform.quotes.body(other, amount=AMOUNT))
        with check("ACC-162"):
            answers[-1].expect_accepted()
