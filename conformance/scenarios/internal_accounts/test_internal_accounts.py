"""Internal accounts: what they show, what they hold, and in which list they stand."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import pytest

from conformance.exchange.answer import Answer
from conformance.platform.platform import Platform
from conformance.platform.resource import Json, Resource, require_member, unknown_id
from conformance.platform.waiting import at_once
from conformance.scenarios.cards.holdings import (
    AMOUNT,
    account_in,
    crypto_account,
    platform_account,
    two_accounts,
)
from conformance.scenarios.kit.marks import Check, requirement
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing

REFUSED = (400, 404)
"""The statuses of a refusal for an id in a query that nothing has."""


# --- Currency and money ---------------------------------------------------------------------


@requirement("ACC-030", "ACC-048")
def test_a_fiat_account_is_one_in_an_iso_currency(platform: Platform) -> None:
    """What its members say is judged as it is listed."""
    account = platform.internal_accounts.account(amount=0)

    if account["type"] != "INTERNAL_FIAT":
        raise ResourceMissing(f"customers get an account of type {account['type']}")


@requirement("ACC-031")
def test_both_balances_are_in_one_currency(platform: Platform) -> None:
    """One is a part of the other."""
    account = platform.internal_accounts.account(amount=0)

    total = require_member(account, "totalBalance")

    assert total["currency"]["code"] == account["balance"]["currency"]["code"]


@pytest.mark.parametrize(
    "currency",
    [
        pytest.param("GBP", marks=requirement("ACC-032"), id="pence"),
        pytest.param("BTC", marks=requirement("ACC-033"), id="satoshis"),
    ],
)
def test_the_smallest_unit_has_its_place_behind_the_point(
    platform: Platform, currency: str
) -> None:
    """Whoever shows an amount needs the decimals."""
    account = account_in(platform, currency)

    shown = account["balance"]["currency"]

    assert shown["decimals"] == {"GBP": 2, "BTC": 8}[currency]


@pytest.mark.parametrize(
    ("currency", "amount"),
    [
        pytest.param("BTC", 1_234_567, marks=requirement("ACC-034"), id="eight-decimals"),
        pytest.param("RWF", 34_567, marks=requirement("ACC-035"), id="no-decimals"),
    ],
)
def test_amounts_count_smallest_units(platform: Platform, currency: str, amount: int) -> None:
    """Those of currencies too that do not have cents."""
    account = account_in(platform, currency)
    before, _ = platform.internal_accounts.balances(account)

    platform.internal_accounts.settle_deposit(account, amount)

    assert platform.internal_accounts.wait_for_balance(account, before + amount) == before + amount


# --- Members --------------------------------------------------------------------------------


@requirement("ACC-040")
def test_no_two_accounts_share_an_id(platform: Platform) -> None:
    """Nor do accounts of different customers."""
    owners = [platform.internal_accounts.account(amount=0)["customerId"] for _ in range(2)]

    listed = [
        account
        for owner in owners
        for account in platform.internal_accounts.of_customer({"id": owner})
    ]

    names = [account["id"] for account in listed + platform.internal_accounts.of_platform()]

    assert len(set(names)) == len(names), names


@requirement("ACC-041", "ACC-042", "ACC-043", "ACC-044")
def test_an_account_stays_what_it_is(platform: Platform, check: Check) -> None:
    """A deposit gives it no other id, type or time of creation."""
    before = platform.internal_accounts.account(amount=0)

    platform.internal_accounts.settle_deposit(before, AMOUNT)

    after = platform.until(
        lambda: funded(platform, before), lambda seen: amount_of(seen) == amount_of(before) + AMOUNT
    )
    with check("ACC-041"):
        assert after["id"] == before["id"]
    with check("ACC-042"):
        assert after["type"] == before["type"]
    with check("ACC-043"):
        assert after.get("createdAt") == require_member(before, "createdAt")
    with check("ACC-044"):
        created, changed = require_member(after, "createdAt"), require_member(after, "updatedAt")
        assert datetime.fromisoformat(created) <= datetime.fromisoformat(changed)


def funded(platform: Platform, account: Resource) -> Resource:
    """Return the account of the same customer that holds most of the same currency."""
    listed = platform.internal_accounts.of_customer(account.owner)
    return max((one for one in listed if code_of(one) == code_of(account)), key=amount_of)


def amount_of(account: Resource) -> int:
    """Return the balance of an account in smallest units."""
    return int(account["balance"]["amount"])


@requirement("ACC-045")
def test_a_fiat_currency_is_not_held_in_a_crypto_account(platform: Platform) -> None:
    """It is of the type that is named after fiat money."""
    account = account_in(platform, "USD")

    assert account["type"] != "INTERNAL_CRYPTO"


@requirement("ACC-046", "ACC-049")
def test_a_crypto_currency_is_not_held_in_a_fiat_account(platform: Platform, check: Check) -> None:
    """Nor does its account have a sweep rule."""
    account = crypto_account(platform)

    with check("ACC-046"):
        assert account["type"] != "INTERNAL_FIAT"


@requirement("ACC-047")
def test_nobody_has_labelled_an_account_that_is_there_by_itself(platform: Platform) -> None:
    """A label is what the platform supplies."""
    account = platform.internal_accounts.account(amount=0)

    assert not account.get("label")


@requirement("ACC-052")
def test_the_privacy_of_a_wallet_is_shown_on_wallets_alone(platform: Platform) -> None:
    """Other accounts have no such flag."""
    name = platform.profile.bindings.wallet_privacy
    customer = platform.approved.customer()

    accounts = platform.until(lambda: platform.internal_accounts.of_customer(customer), bool)

    if not accounts:
        raise PreconditionFailed("an approved customer has no internal accounts")
    shown = {account["type"] for account in accounts if account.get(name) is not None}
    assert shown <= {"EMBEDDED_WALLET"}


@requirement("ACC-053")
def test_what_a_card_could_do_is_a_list_of_actions(platform: Platform) -> None:
    """Where the account can fund a card at all."""
    actions = card_funding(platform, platform.internal_accounts.account(amount=0))

    assert isinstance(actions, list)
    assert all(isinstance(action, str) and action for action in actions), actions


@requirement("ACC-054")
def test_a_closed_account_funds_no_card(platform: Platform) -> None:
    """It cannot send, and does not say what a card could do with it."""
    account = platform.internal_accounts.account(amount=0)
    card_funding(platform, account)

    platform.internal_accounts.stop(account, "CLOSED")

    closed = platform.internal_accounts.at_status(account, "CLOSED")
    assert not closed.get(str(platform.profile.bindings.card_funding))


def card_funding(platform: Platform, account: Resource) -> object:
    """Return what a card could do with an account."""
    name = platform.profile.bindings.card_funding
    if name is None:
        raise ResourceMissing("bindings.card_funding of the profile names no member")
    return require_member(account, name)


# --- Provisioning ---------------------------------------------------------------------------


@requirement("ACC-058", "ACC-059", "ACC-061", "ACC-062")
def test_the_platform_has_an_account_by_itself(platform: Platform, check: Check) -> None:
    """It belongs to no customer."""
    accounts = platform.internal_accounts.of_platform()

    with check("ACC-061"):
        assert accounts, "the platform has no internal account"
    with check("ACC-062"):
        assert "INTERNAL_FIAT" in {account["type"] for account in accounts}
    with check("ACC-058"):
        assert not [account for account in accounts if account.get("customerId")]
    with check("ACC-059"):
        assert "RULE_BASED" not in {account["type"] for account in accounts}


@pytest.mark.parametrize(
    ("id_", "business"),
    [
        pytest.param("ACC-063", False, marks=requirement("ACC-063", "ACC-065"), id="individual"),
        pytest.param("ACC-064", True, marks=requirement("ACC-064", "ACC-065"), id="business"),
    ],
)
def test_an_approved_customer_comes_to_an_active_account(
    platform: Platform, check: Check, id_: str, *, business: bool
) -> None:
    """Some provisioning may still be under way."""
    customer = platform.approved.business() if business else platform.approved.customer()

    accounts = platform.until(
        lambda: platform.internal_accounts.of_customer(customer),
        lambda listed: "ACTIVE" in {account["status"] for account in listed},
    )

    if not accounts:
        raise PreconditionFailed("an approved customer has no internal accounts")
    statuses = {account["status"] for account in accounts}
    with check("ACC-065"):
        assert not statuses & {"CLOSED", "FROZEN"}
    with check(id_):
        if "ACTIVE" not in statuses and "PENDING" in statuses:
            raise ResourceMissing("the provisioning takes longer than timing.state of the profile")
        assert "ACTIVE" in statuses


# --- Balances -------------------------------------------------------------------------------


@requirement("ACC-070", "ACC-071")
def test_a_deposit_on_its_way_is_in_the_total_alone(platform: Platform, check: Check) -> None:
    """It has not settled, and cannot be spent."""
    account = platform.internal_accounts.account()
    require_member(account, "totalBalance")
    balance, total = platform.internal_accounts.balances(account)

    platform.internal_accounts.announce_deposit(account, AMOUNT)

    after = platform.until(
        lambda: platform.internal_accounts.balances(account), lambda seen: seen[1] == total + AMOUNT
    )
    with check("ACC-070"):
        assert after[0] == balance
    with check("ACC-071"):
        assert after[1] == total + AMOUNT


@requirement("ACC-072")
def test_a_deposit_on_its_way_cannot_be_spent(platform: Platform) -> None:
    """What has settled can."""
    account, other = (
        platform.internal_accounts.account(amount=AMOUNT),
        platform.internal_accounts.account(amount=AMOUNT),
    )
    platform.internal_accounts.announce_deposit(account, AMOUNT)
    platform.until(
        lambda: platform.internal_accounts.balances(account), lambda seen: seen[1] > AMOUNT
    )

    within = platform.quotes.create_and_execute(platform.quotes.body(other, amount=AMOUNT))
    beyond = platform.quotes.create_and_execute(platform.quotes.body(account, amount=AMOUNT + 1))

    beyond[-1].refused(400, "INSUFFICIENT_FUNDS", twin=within[len(beyond) - 1])


@requirement("ACC-073", "ACC-074")
def test_a_settled_deposit_is_in_both_balances(platform: Platform, check: Check) -> None:
    """Where nothing is pending or held they are the same."""
    account = platform.internal_accounts.account(amount=0)
    require_member(account, "totalBalance")
    _, total = platform.internal_accounts.balances(account)

    platform.internal_accounts.deposit(account, AMOUNT)

    after = platform.until(
        lambda: platform.internal_accounts.balances(account), lambda seen: seen[1] == total + AMOUNT
    )
    with check("ACC-073"):
        assert after[1] == total + AMOUNT
    with check("ACC-074"):
        assert after[0] == after[1]


@requirement("ACC-075", "ACC-076", "ACC-077")
def test_what_a_running_payout_took_is_not_there_to_be_spent(
    platform: Platform, check: Check
) -> None:
    """The total may contain it until the rail is through."""
    source = platform.internal_accounts.account(amount=3 * AMOUNT)
    before = platform.internal_accounts.balances(source)
    quote = platform.quotes.payout(source, trigger="payout.hold", amount=2 * AMOUNT)

    balance, total = platform.until(
        lambda: platform.internal_accounts.balances(source),
        lambda seen: seen[0] == before[0] - quote["totalSendingAmount"],
    )
    within = platform.quotes.create_and_execute(
        platform.quotes.body(platform.internal_accounts.account(), amount=2 * AMOUNT)
    )
    again = platform.quotes.create_and_execute(platform.quotes.body(source, amount=2 * AMOUNT))

    with check("ACC-075"):
        assert balance == before[0] - quote["totalSendingAmount"]
    with check("ACC-077"):
        assert balance <= total <= before[1]
    with check("ACC-076"):
        again[-1].refused(400, "INSUFFICIENT_FUNDS", twin=within[len(again) - 1])


@requirement("ACC-078")
def test_what_a_payout_took_leaves_the_total(platform: Platform) -> None:
    """Once it has arrived nothing of it is held any more."""
    source = platform.internal_accounts.account()
    require_member(source, "totalBalance")
    _, before = platform.internal_accounts.balances(source)

    quote = platform.quotes.pending(source)
    platform.quotes.complete(quote)

    expected = before - quote["totalSendingAmount"]
    seen = platform.until(
        lambda: platform.internal_accounts.balances(source)[1], lambda total: total == expected
    )
    assert seen == expected


@requirement("ACC-079")
def test_what_comes_back_is_in_the_total_again(platform: Platform) -> None:
    """The payout failed, and its refund is through."""
    source = platform.internal_accounts.account()
    require_member(source, "totalBalance")
    _, before = platform.internal_accounts.balances(source)

    platform.transactions.refunded(platform.quotes.payout(source, trigger="payout.screen"))

    seen = platform.until(
        lambda: platform.internal_accounts.balances(source)[1], lambda total: total == before
    )
    assert seen == before


@requirement("ACC-080")
def test_the_whole_balance_can_be_spent(platform: Platform) -> None:
    """The fees are a part of what is sent."""
    source = platform.internal_accounts.account(amount=0)
    platform.internal_accounts.deposit(source, AMOUNT)
    balance, _ = platform.internal_accounts.balances(source)

    executed = platform.quotes.create_and_execute(platform.quotes.body(source, amount=balance))[-1]

    assert executed.accepted, executed
    assert platform.internal_accounts.wait_for_balance(source, 0) == 0


@requirement("ACC-082")
def test_deposits_that_arrive_at_once_all_count(platform: Platform) -> None:
    """None is lost between them."""
    account = platform.internal_accounts.account(amount=0)
    before, _ = platform.internal_accounts.balances(account)
    amounts = (1_001, 2_003, 4_007)

    at_once(
        *(
            lambda amount=amount: platform.internal_accounts.settle_deposit(account, amount)
            for amount in amounts
        )
    )

    expected = before + sum(amounts)
    assert platform.internal_accounts.wait_for_balance(account, expected) == expected


@requirement("ACC-083", "ACC-084")
def test_a_deposit_arrives_on_its_own_account_alone(platform: Platform, check: Check) -> None:
    """Neither the owner's other account nor that of somebody else has more than before."""
    account, second = two_accounts(platform)
    stranger = platform.internal_accounts.account(amount=AMOUNT)
    before = (
        platform.internal_accounts.balances(second),
        platform.internal_accounts.balances(stranger),
    )

    platform.internal_accounts.deposit(account, AMOUNT)

    with check("ACC-083"):
        assert platform.internal_accounts.balances(second) == before[0]
    with check("ACC-084"):
        assert platform.internal_accounts.balances(stranger) == before[1]


@requirement("ACC-085", "ACC-086")
def test_a_payment_between_accounts_arrives(platform: Platform, check: Check) -> None:
    """The receiver can spend what the quote says."""
    source, receiver = (
        platform.internal_accounts.account(),
        platform.internal_accounts.account(amount=0),
    )
    before = platform.internal_accounts.balances(receiver)
    *_, last = platform.quotes.create_and_execute(platform.quotes.body(source, receiver))
    if not last.accepted:
        raise ResourceMissing(f"customers pay nothing into each other's accounts: {last}")
    platform.transactions.at_status(last.body, "COMPLETED")

    came = last.body["totalReceivingAmount"]
    seen = platform.until(
        lambda: platform.internal_accounts.balances(receiver),
        lambda seen: seen == (before[0] + came, before[1] + came),
    )

    with check("ACC-085"):
        assert seen[0] == before[0] + came
    with check("ACC-086"):
        require_member(receiver, "totalBalance")
        assert seen[1] == before[1] + came


# --- Lists ----------------------------------------------------------------------------------


@requirement("ACC-110", "ACC-111")
def test_accounts_of_platform_and_customers_are_listed_apart(
    platform: Platform, check: Check
) -> None:
    """Each list has its own path."""
    account = platform.internal_accounts.account(amount=0)

    of_customer = platform.internal_accounts.of_customer(account.owner)
    of_platform = platform.internal_accounts.of_platform()

    with check("ACC-110"):
        if not of_platform:
            raise ResourceMissing("the platform has no internal account")
        assert not names_of(of_platform) & names_of(of_customer)
    with check("ACC-111"):
        assert account["id"] not in names_of(of_platform)


@requirement("ACC-112")
def test_an_id_that_no_customer_has_brings_no_accounts(platform: Platform) -> None:
    """It is refused, or there are none."""
    customer = platform.approved.customer()

    found = platform.api.list_customer_internal_accounts({"customerId": unknown_id(customer["id"])})

    twin = platform.api.list_customer_internal_accounts({"customerId": customer["id"]})
    if found.accepted:
        platform.observe("the accounts of an unknown customer are an empty list")
        assert not platform.internal_accounts.of_customer({"id": unknown_id(customer["id"])})
    else:
        found.refused(*REFUSED, twin=twin)


@requirement("ACC-113", "ACC-114")
def test_the_platforms_accounts_are_listed_by_currency(platform: Platform, check: Check) -> None:
    """Those in the currency are there, and no others."""
    accounts = platform.internal_accounts.of_platform()
    if not accounts:
        raise ResourceMissing("the platform has no internal account")
    currency = code_of(accounts[0])
    wanted = {account["id"] for account in accounts if code_of(account) == currency}

    same = platform.api.list_platform_internal_accounts({"currency": currency})
    another = "EUR" if currency != "EUR" else "USD"
    other = platform.api.list_platform_internal_accounts({"currency": another})

    with check("ACC-113"):
        assert same.accepted, same
        assert names_of(same.body["data"]) == wanted
    with check("ACC-114"):
        shown = other.body["data"] if other.accepted else []
        assert {code_of(account) for account in shown} <= {another}, other


@requirement("ACC-115")
def test_a_list_has_each_account_once(platform: Platform) -> None:
    """Also that of a customer with several."""
    account, _ = two_accounts(platform)

    listed = [one["id"] for one in platform.internal_accounts.of_customer(account.owner)]

    assert sorted(listed) == sorted(set(listed))


def names_of(accounts: Sequence[Json]) -> set[str]:
    """Return the ids of accounts."""
    return {account["id"] for account in accounts}


def code_of(account: Resource) -> str:
    """Return the code of an account's currency."""
    return str(account["balance"]["currency"]["code"])


# --- Simulated deposits ---------------------------------------------------------------------


def simulate(platform: Platform, account: Resource) -> Answer:
    """Simulate a deposit to an account that nobody asked for.

    Raises:
        ResourceMissing: that is for rule-based accounts alone, whose sweeps it triggers.
    """
    answer = platform.internal_accounts.fund(account, AMOUNT)
    if not answer.accepted:
        raise ResourceMissing(f"no deposit is simulated to a {account.get('type')}: {answer}")
    return answer


@requirement("ACC-120", "ACC-121", "ACC-123")
def test_the_sandbox_simulates_a_settled_deposit(platform: Platform, check: Check) -> None:
    """As often as it is asked to."""
    account = platform.internal_accounts.account(amount=0)
    before = platform.internal_accounts.balances(account)

    simulate(platform, account)
    once = platform.internal_accounts.wait_for_balance(account, before[0] + AMOUNT)
    total = platform.internal_accounts.balances(account)[1]
    simulate(platform, account)
    twice = platform.internal_accounts.wait_for_balance(account, before[0] + 2 * AMOUNT)

    with check("ACC-120"):
        assert once == before[0] + AMOUNT
    with check("ACC-121"):
        assert total == before[1] + AMOUNT
    with check("ACC-123"):
        assert twice == before[0] + 2 * AMOUNT


@requirement("ACC-122")
def test_no_deposit_is_simulated_for_an_unknown_account(platform: Platform) -> None:
    """The path names nothing."""
    account = platform.internal_accounts.account(amount=0)

    refusal = platform.internal_accounts.fund({**account, "id": unknown_id(account["id"])}, AMOUNT)

    refusal.refused(404, twin=simulate(platform, account))


@requirement("ACC-125")
def test_a_deposit_is_simulated_for_the_platform_too(platform: Platform) -> None:
    """Other tests may pay in at the same moment, so that there may be more."""
    simulate(platform, platform.internal_accounts.account(amount=0))
    account = platform_account(platform)
    before, _ = platform.internal_accounts.balances(account)

    answer = platform.internal_accounts.fund(account, AMOUNT)

    assert answer.accepted, answer
    after = platform.until(
        lambda: platform.internal_accounts.balances(account)[0],
        lambda seen: seen >= before + AMOUNT,
    )
    assert after >= before + AMOUNT
