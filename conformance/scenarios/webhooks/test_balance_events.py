"""INTERNAL_ACCOUNT.BALANCE_UPDATED: which account the webhook is about, and what it shows."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from conformance.platform.given.embedded_wallets import WALLET
from conformance.platform.resource import (
    Json,
    Resource,
    arranged_body,
    arranged_resource,
    require_member,
)
from conformance.scenarios.cards.holdings import (
    ACCOUNTS,
    AMOUNT,
    platform_account,
    two_accounts,
)
from conformance.scenarios.embedded_wallets.signing import whole_unit
from conformance.scenarios.kit.cases import case
from conformance.scenarios.kit.marks import Check, requirement
from conformance.scenarios.quotes.kinds import Kind, create_quote_alone, pay, quote_body
from conformance.scenarios.webhooks.reports import (
    BALANCE,
    balance_in,
    expect_same,
    let_reports_arrive,
)
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing, TriggerFailed

if TYPE_CHECKING:
    from conformance.exchange.delivery import Delivery
    from conformance.platform.platform import Platform

FIXED_MEMBERS = {
    "EVT-158": "customerId",
    "EVT-162": "balance.currency.code",
    "EVT-165": "type",
    "EVT-244": "createdAt",
}
"""By requirement the members of an internal account that never change."""

RULE_BASED_MEMBERS = ("label", "sweepRule")
"""The members that only a rule-based account has."""


@pytest.mark.parametrize(
    "arrange_account",
    [
        case((*FIXED_MEMBERS, "EVT-151", "ACC-052"), kind, arrange_account)
        for kind, arrange_account in ACCOUNTS.items()
    ],
)
def test_a_deposit_is_reported_with_the_account_as_it_is(
    platform: Platform, check: Check, arrange_account: Callable[[Platform], Resource]
) -> None:
    """The webhook of a deposit shows the totalBalance, owner, currency and type of the account.

    It shows the privacy flag of wallets for these alone.
    """
    account = arrange_account(platform)
    before, total_before = platform.internal_accounts.balances(account)
    amount = whole_unit(account)

    try:
        platform.internal_accounts.deposit(account, amount)
    except TriggerFailed as error:
        raise ResourceMissing(f"no deposit arrives on such an account: {error}") from error

    data = arrange_report(platform, account, before + amount).data
    with check("EVT-151"):
        assert require_member(data, "totalBalance")["amount"] == total_before + amount
    with check("ACC-052"):
        flag = data.get(platform.profile.bindings.require("wallet_privacy"))
        assert flag is None or account["type"] == WALLET, data
    expect_fixed_members(check, data, account)


@pytest.mark.parametrize(
    "label",
    [
        case(tuple(FIXED_MEMBERS), "plain", None),
        case(("EVT-245", "EVT-846"), "labelled", "Rent from tenants"),
    ],
)
def test_a_payment_that_is_swept_is_reported_with_the_account_as_it_is(
    platform: Platform, check: Check, label: str | None
) -> None:
    """A webhook about a rule-based account shows its label, rule, owner, currency and type."""
    account = platform.rule_based.account(label=label)

    platform.rule_based.sweep(account, AMOUNT)

    report = platform.webhooks.wait_for_any(
        lambda event: event.type == BALANCE and event.concerns(account["id"])
    )
    if report is None:
        raise ResourceMissing("a payment that is swept at once is reported of its destination")
    if label is None:
        expect_fixed_members(check, report.data, account)
    else:
        with check("EVT-245"):
            assert require_member(report.data, "label") == label
        with check("EVT-846"):
            account_read = platform.internal_accounts.read(account)
            read_members = {
                name for name in RULE_BASED_MEMBERS if account_read.get(name) is not None
            }
            missing = sorted(name for name in read_members if report.data.get(name) is None)
            assert not missing, f"the webhook leaves out {', '.join(missing)}: {report.data}"


@requirement("EVT-154")
def test_the_last_of_several_deposits_is_reported(platform: Platform) -> None:
    """A webhook shows the balance after three deposits; those before may be in the same one."""
    account = platform.internal_accounts.account(amount=0)
    before, _ = platform.internal_accounts.balances(account)

    for _ in range(3):
        platform.internal_accounts.deposit(account, AMOUNT)

    last, *earlier = [before + n * AMOUNT for n in (3, 2, 1)]
    report = platform.webhooks.wait_for(
        BALANCE, account["id"], where=lambda event: balance_in(event) == last
    )
    reported = reported_balances(platform, account)
    assert report is not None, f"deposits that make {last} are reported as {reported}"
    if not set(earlier) <= set(reported):
        platform.observe("changes of a balance soon after one another are reported together")


@requirement("EVT-155")
def test_a_deposit_is_not_reported_of_another_account(platform: Platform) -> None:
    """No webhook is about another account of the same owner."""
    account, second = two_accounts(platform)
    before = platform.internal_accounts.balances(account)[0]
    known_count = len(arrived_reports(platform, second))

    for _ in range(2):
        platform.internal_accounts.deposit(account, AMOUNT)

    # Webhooks of the first deposit have arrived by the time that the second one is reported.
    arrange_report(platform, account, before + 2 * AMOUNT)
    assert len(arrived_reports(platform, second)) == known_count, f"{second['id']} is reported"


@requirement("EVT-150")
@pytest.mark.parametrize("kind", ["executed", "immediate", "authorized", "business"])
def test_a_payout_is_reported_with_the_balance_that_it_leaves(
    platform: Platform, kind: str
) -> None:
    """A webhook shows the balance less the sending amount of an executed quote."""
    customer = platform.approved.of_type(kind == "business")
    source = (
        platform.sca.account()
        if kind == "authorized"
        else platform.internal_accounts.account(customer=customer)
    )
    before, _ = platform.internal_accounts.balances(source)

    quote = platform.quotes.pending(source, immediatelyExecute=kind == "immediate")
    if kind != "immediate":
        executed = platform.quotes.execute(quote)
        if kind == "authorized":
            platform.sca.authorize({**quote, **executed})

    expect_balance_reported(platform, source, before - quote["totalSendingAmount"])


@requirement("EVT-150")
def test_an_approved_payment_is_reported_with_the_balance_that_it_leaves(
    platform: Platform,
) -> None:
    """A webhook shows the balance less the sentAmount of an agent's payment that was approved."""
    source = platform.internal_accounts.account()
    before, _ = platform.internal_accounts.balances(source)
    payment = platform.agents.initiate(source)

    arranged_body(platform.api.approve_transaction(payment["transactionId"]))

    expect_balance_reported(
        platform, source, before - require_member(payment, "totalSendingAmount")
    )


@requirement("EVT-150")
def test_a_payout_of_the_platform_is_reported_with_the_balance_that_it_leaves(
    platform: Platform,
) -> None:
    """A webhook about the platform's account shows its balance less the sending amount."""
    quote, source, before = create_quote_alone(platform)
    # An earlier deposit may have led to the same balance.
    known_ids = {event.id for event in arrived_reports(platform, source)}

    pay(platform, "platform", quote)

    balance_left = before - quote["totalSendingAmount"]
    report = platform.webhooks.wait_for(
        BALANCE,
        source["id"],
        where=lambda event: event.id not in known_ids and balance_in(event) == balance_left,
    )
    assert report is not None, f"no {BALANCE} for {source['id']} shows {balance_left}"


@requirement("EVT-152", "EVT-153")
@pytest.mark.parametrize("kind", ["pulled", "real-time", "immediate"])
def test_a_payment_of_each_kind_is_reported_to_its_receiver(
    platform: Platform, check: Check, kind: Kind
) -> None:
    """A webhook shows the receiver's balance with what was pulled, or paid just in time or at once.

    The receiver is an account of the payer.
    """
    payer = platform.approved.customer()
    receiver = platform.internal_accounts.account(amount=0, customer=payer)
    if kind == "immediate":
        _, receiver = one_owner(platform)
        payer = receiver.owner
    before, _ = platform.internal_accounts.balances(receiver)
    answer = platform.api.create_quote(quote_body(platform, kind, payer, receiver))
    if not answer.accepted:
        raise ResourceMissing(f"customers pay nothing into such accounts: {answer}")
    quote = arranged_resource(answer, payer)

    pay(platform, kind, quote)

    after = before + quote["totalReceivingAmount"]
    with check("EVT-152"):
        report = platform.webhooks.wait_for(BALANCE, receiver["id"])
        assert report is not None, f"no {BALANCE} for {receiver['id']}"
    with check("EVT-153"):
        report = platform.webhooks.wait_for(
            BALANCE, receiver["id"], where=lambda event: balance_in(event) == after
        )
        assert report is not None, f"no {BALANCE} for {receiver['id']} shows {after}"


def two_owners(platform: Platform) -> tuple[Resource, Resource]:
    """Return a funded internal account of one customer, and an empty one of another."""
    return platform.internal_accounts.account(), platform.internal_accounts.account(amount=0)


def one_owner(platform: Platform) -> tuple[Resource, Resource]:
    """Return a funded internal account of a customer, and an empty one in another currency."""
    source, receiver = two_accounts(platform)
    platform.internal_accounts.deposit(source, 10 * AMOUNT)
    return source, receiver


@requirement("EVT-152", "EVT-153", "EVT-150")
@pytest.mark.parametrize("arrange_accounts", [two_owners, one_owner])
def test_a_payment_is_reported_to_its_receiver(
    platform: Platform,
    check: Check,
    arrange_accounts: Callable[[Platform], tuple[Resource, Resource]],
) -> None:
    """A webhook shows the receiver's balance with the receiving amount of a payment.

    Another one shows the sender's balance without the sending amount. The sender is another
    customer, or the same one.
    """
    source, receiver = arrange_accounts(platform)
    before, _ = platform.internal_accounts.balances(receiver)
    source_before, _ = platform.internal_accounts.balances(source)
    *_, last = platform.quotes.create_and_execute(platform.quotes.body(source, receiver))
    if not last.accepted:
        raise ResourceMissing(f"customers pay nothing into such accounts: {last}")

    after = before + last.body["totalReceivingAmount"]

    with check("EVT-152"):
        report = platform.webhooks.wait_for(BALANCE, receiver["id"])
        assert report is not None, f"no {BALANCE} for {receiver['id']}"
    with check("EVT-153"):
        report = platform.webhooks.wait_for(
            BALANCE, receiver["id"], where=lambda event: balance_in(event) == after
        )
        assert report is not None, f"no {BALANCE} for {receiver['id']} shows {after}"
    with check("EVT-150"):
        balance_left = source_before - last.body["totalSendingAmount"]
        report = platform.webhooks.wait_for(
            BALANCE, source["id"], where=lambda event: balance_in(event) == balance_left
        )
        assert report is not None, f"no {BALANCE} for {source['id']} shows {balance_left}"


@requirement("EVT-156")
def test_a_refused_execution_is_not_reported(platform: Platform) -> None:
    """No webhook shows the unchanged balances after a refused execution."""
    source = platform.internal_accounts.account(amount=AMOUNT)
    before = platform.internal_accounts.balances(source)
    known_ids = ids_of_deposit(platform, source, before[0])

    refusal = platform.quotes.create_and_execute(
        platform.quotes.body(source, amount=before[0] + 1)
    )[-1]

    if refusal.accepted:
        raise PreconditionFailed(f"more than the balance was sent: {refusal}")
    expect_unreported(platform, source, before, known_ids)


@requirement("EVT-157")
def test_a_quote_that_is_not_executed_is_not_reported(platform: Platform) -> None:
    """No webhook shows the unchanged balances after the creation of a quote."""
    source = platform.internal_accounts.account(amount=2 * AMOUNT)
    before = platform.internal_accounts.balances(source)
    known_ids = ids_of_deposit(platform, source, before[0])

    platform.quotes.pending(source, amount=AMOUNT)

    if platform.internal_accounts.balances(source) != before:
        raise ResourceMissing("a quote takes its amount before it is executed")
    expect_unreported(platform, source, before, known_ids)


@requirement("EVT-152", "EVT-153")
def test_a_payment_to_the_platform_is_reported(platform: Platform, check: Check) -> None:
    """A webhook about the platform's account shows its balance with the receiving amount.

    Others pay in and out of it meanwhile, so that they have to wait; what they have executed before
    may still be under way.
    """
    receiver = platform_account(platform)
    currency = receiver["balance"]["currency"]["code"]
    source = platform.internal_accounts.account(currency, amount=10 * AMOUNT)
    platform.triggers.turn.stay_alone()
    before, _ = platform.internal_accounts.balances(receiver)
    known_ids = {event.id for event in arrived_reports(platform, receiver)}
    *_, last = platform.quotes.create_and_execute(platform.quotes.body(source, receiver))
    if not last.accepted:
        raise ResourceMissing(f"customers pay nothing to the platform: {last}")

    after = before + last.body["totalReceivingAmount"]
    report = platform.webhooks.wait_for(
        BALANCE,
        receiver["id"],
        where=lambda event: event.id not in known_ids and balance_in(event) == after,
    )

    new_reports = [one for one in arrived_reports(platform, receiver) if one.id not in known_ids]
    with check("EVT-152"):
        assert new_reports, f"no {BALANCE} for {receiver['id']}"
    with check("EVT-153"):
        if report is None and platform.internal_accounts.balances(receiver)[0] != after:
            raise ResourceMissing("a payment of before has changed the balance meanwhile")
        assert report is not None, f"no {BALANCE} for {receiver['id']} shows {after}"


@requirement("EVT-159", "EVT-160")
def test_a_deposit_for_the_platform_is_reported(platform: Platform, check: Check) -> None:
    """A webhook about the platform's account shows the deposit, and no customerId.

    Other tests may pay in at the same moment, so the balance may be higher.
    """
    account = platform_account(platform)
    before, _ = platform.internal_accounts.balances(account)
    known_ids = {event.id for event in arrived_reports(platform, account)}

    try:
        platform.internal_accounts.settle_deposit(account, AMOUNT)
    except TriggerFailed as error:
        raise ResourceMissing(f"deposits are for customers alone: {error}") from error

    report = platform.webhooks.wait_for(
        BALANCE,
        account["id"],
        where=lambda event: (
            event.id not in known_ids and (balance_in(event) or 0) >= before + AMOUNT
        ),
    )
    with check("EVT-159"):
        assert report is not None, f"no {BALANCE} for {account['id']}"
    with check("EVT-160"):
        if report is None:
            raise PreconditionFailed(f"no {BALANCE} for {account['id']}")
        assert not report.data.get("customerId")


@requirement("EVT-161")
def test_a_deposit_on_its_way_is_not_reported_as_balance(platform: Platform) -> None:
    """No webhook shows a balance with a deposit that has not settled yet."""
    account = platform.internal_accounts.account()
    before, _ = platform.internal_accounts.balances(account)

    platform.internal_accounts.announce_deposit(account, AMOUNT)
    platform.internal_accounts.deposit(account, 3 * AMOUNT)

    arrange_report(platform, account, before + 3 * AMOUNT)
    assert before + AMOUNT not in reported_balances(platform, account)


def expect_fixed_members(check: Check, data: Json, account: Resource) -> None:
    """Decide for each member that never changes whether a webhook shows that of the account."""
    for requirement_id, member in FIXED_MEMBERS.items():
        with check(requirement_id):
            expect_same(data, account, member)


def expect_balance_reported(platform: Platform, account: Resource, balance: int) -> None:
    """Assert that a webhook shows an account with a balance, in smallest units."""
    __tracebackhide__ = True
    report = platform.webhooks.wait_for(
        BALANCE, account["id"], where=lambda event: balance_in(event) == balance
    )
    assert report is not None, f"no {BALANCE} for {account['id']} shows {balance}"


def arrived_reports(platform: Platform, account: Resource) -> list[Delivery]:
    """Return the webhooks about an account's balance that have arrived."""
    return [event for event in platform.webhooks.about(account["id"]) if event.type == BALANCE]


def reported_balances(platform: Platform, account: Resource) -> list[Any]:
    """Return the balances of an account that the arrived webhooks show."""
    return [balance_in(event) for event in arrived_reports(platform, account)]


def arrange_report(platform: Platform, account: Resource, amount: int) -> Delivery:
    """Wait for the webhook that shows a balance of an account, and return it.

    Raises:
        PreconditionFailed: no webhook shows the balance.
    """
    report = platform.webhooks.wait_for(
        BALANCE, account["id"], where=lambda event: balance_in(event) == amount
    )
    if report is None:
        raise PreconditionFailed(f"no {BALANCE} came for {account['id']} that shows {amount}")
    return report


def ids_of_deposit(platform: Platform, account: Resource, balance: int) -> set[str | None]:
    """Return the ids of the webhooks about the first deposit to an account, once all have arrived.

    There may be more than one, each with the balance as it is when it is sent.
    """
    arrange_report(platform, account, balance)
    let_reports_arrive(platform)
    return {event.id for event in arrived_reports(platform, account)}


def expect_unreported(
    platform: Platform, account: Resource, before: tuple[int, int], known_ids: set[str | None]
) -> None:
    """Assert that no new webhook shows both balances unchanged.

    A deposit is made and reported first, so that earlier webhooks have arrived by then.
    """
    __tracebackhide__ = True
    platform.internal_accounts.deposit(account, AMOUNT)
    arrange_report(platform, account, before[0] + AMOUNT)
    for event in arrived_reports(platform, account):
        if event.id not in known_ids and balance_in(event) == before[0]:
            total = (event.data.get("totalBalance") or event.data["balance"]).get("amount")
            assert total != before[1], f"an event shows that nothing has changed: {event.data}"
