"""Internal accounts: what they show, what they hold, and in which list they stand."""

from __future__ import annotations

from datetime import datetime

import pytest

from conformance.client.actor import Json, given, unknown
from conformance.client.http import Answer
from conformance.client.platform import Platform
from conformance.scenarios.holdings import (
    AMOUNT,
    account_in,
    crypto_account,
    platform_account,
    two_accounts,
)
from conformance.scenarios.marks import Check, requirement
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing

REFUSED = (400, 404)
"""The statuses of a refusal for an id in a query that nothing has."""


# --- Currency and money ---------------------------------------------------------------------


@requirement("ACC-030", "ACC-048")
def test_a_fiat_account_is_one_in_an_iso_currency(platform: Platform) -> None:
    """What its members say is judged as it is listed."""
    account = platform.account(amount=0)

    if account["type"] != "INTERNAL_FIAT":
        raise ResourceMissing(f"customers get an account of type {account['type']}")


@requirement("ACC-031")
def test_both_balances_are_in_one_currency(platform: Platform) -> None:
    """One is a part of the other."""
    account = platform.account(amount=0)

    total = given(account, "totalBalance")

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
    before, _ = platform.balances(account)

    platform.arrive(account, amount)

    assert platform.balance_at(account, before + amount) == before + amount


# --- Members --------------------------------------------------------------------------------


@requirement("ACC-040")
def test_no_two_accounts_share_an_id(platform: Platform) -> None:
    """Nor do accounts of different customers."""
    owners = [platform.account(amount=0)["customerId"] for _ in range(2)]

    listed = [account for owner in owners for account in platform.internal_accounts({"id": owner})]

    names = [account["id"] for account in listed + platform.platform_accounts()]

    assert len(set(names)) == len(names), names


@requirement("ACC-041", "ACC-042", "ACC-043", "ACC-044")
def test_an_account_stays_what_it_is(platform: Platform, check: Check) -> None:
    """A deposit gives it no other id, type or time of creation."""
    before = platform.account(amount=0)

    platform.arrive(before, AMOUNT)

    after = platform.until(
        lambda: funded(platform, before), lambda seen: amount_of(seen) == amount_of(before) + AMOUNT
    )
    with check("ACC-041"):
        assert after["id"] == before["id"]
    with check("ACC-042"):
        assert after["type"] == before["type"]
    with check("ACC-043"):
        assert after.get("createdAt") == given(before, "createdAt")
    with check("ACC-044"):
        created, changed = given(after, "createdAt"), given(after, "updatedAt")
        assert datetime.fromisoformat(created) <= datetime.fromisoformat(changed)


def funded(platform: Platform, account: Json) -> Json:
    """Return the account of the same customer that holds most of the same currency."""
    listed = platform.internal_accounts({"id": account["customerId"]})
    return max((one for one in listed if code_of(one) == code_of(account)), key=amount_of)


def amount_of(account: Json) -> int:
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
    account = platform.account(amount=0)

    assert not account.get("label")


@requirement("ACC-052")
def test_the_privacy_of_a_wallet_is_shown_on_wallets_alone(platform: Platform) -> None:
    """Other accounts have no such flag."""
    name = platform.profile.bindings.wallet_privacy
    customer = platform.customer()

    accounts = platform.until(lambda: platform.internal_accounts(customer), bool)

    if not accounts:
        raise PreconditionFailed("an approved customer has no internal accounts")
    shown = {account["type"] for account in accounts if account.get(name) is not None}
    assert shown <= {"EMBEDDED_WALLET"}


@requirement("ACC-053")
def test_what_a_card_could_do_is_a_list_of_actions(platform: Platform) -> None:
    """Where the account can fund a card at all."""
    actions = card_funding(platform, platform.account(amount=0))

    assert isinstance(actions, list)
    assert all(isinstance(action, str) and action for action in actions), actions


@requirement("ACC-054")
def test_a_closed_account_funds_no_card(platform: Platform) -> None:
    """It cannot send, and does not say what a card could do with it."""
    account = platform.account(amount=0)
    card_funding(platform, account)

    platform.stop(account, "CLOSED")

    closed = platform.account_in(account, "CLOSED")
    assert not closed.get(str(platform.profile.bindings.card_funding))


def card_funding(platform: Platform, account: Json) -> object:
    """Return what a card could do with an account."""
    name = platform.profile.bindings.card_funding
    if name is None:
        raise ResourceMissing("bindings.card_funding of the profile names no member")
    return given(account, name)


# --- Provisioning ---------------------------------------------------------------------------


@requirement("ACC-058", "ACC-059", "ACC-061", "ACC-062")
def test_the_platform_has_an_account_by_itself(platform: Platform, check: Check) -> None:
    """It belongs to no customer."""
    accounts = platform.platform_accounts()

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
    customer = platform.business() if business else platform.customer()

    accounts = platform.until(
        lambda: platform.internal_accounts(customer),
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
    account = platform.account()
    given(account, "totalBalance")
    balance, total = platform.balances(account)

    platform.expect_deposit(account, AMOUNT)

    after = platform.until(
        lambda: platform.balances(account), lambda seen: seen[1] == total + AMOUNT
    )
    with check("ACC-070"):
        assert after[0] == balance
    with check("ACC-071"):
        assert after[1] == total + AMOUNT


@requirement("ACC-072")
def test_a_deposit_on_its_way_cannot_be_spent(platform: Platform) -> None:
    """What has settled can."""
    account, other = platform.account(amount=AMOUNT), platform.account(amount=AMOUNT)
    platform.expect_deposit(account, AMOUNT)
    platform.until(lambda: platform.balances(account), lambda seen: seen[1] > AMOUNT)

    within = platform.transfer(platform.quote_body(other, amount=AMOUNT))
    beyond = platform.transfer(platform.quote_body(account, amount=AMOUNT + 1))

    beyond[-1].refused(400, "INSUFFICIENT_FUNDS", twin=within[len(beyond) - 1])


@requirement("ACC-073", "ACC-074")
def test_a_settled_deposit_is_in_both_balances(platform: Platform, check: Check) -> None:
    """Where nothing is pending or held they are the same."""
    account = platform.account(amount=0)
    given(account, "totalBalance")
    _, total = platform.balances(account)

    platform.deposit(account, AMOUNT)

    after = platform.until(
        lambda: platform.balances(account), lambda seen: seen[1] == total + AMOUNT
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
    source = platform.account(amount=3 * AMOUNT)
    before = platform.balances(source)
    quote = platform.payout(source, fate="payout.hold", amount=2 * AMOUNT)

    balance, total = platform.until(
        lambda: platform.balances(source),
        lambda seen: seen[0] == before[0] - quote["totalSendingAmount"],
    )
    within = platform.transfer(platform.quote_body(platform.account(), amount=2 * AMOUNT))
    again = platform.transfer(platform.quote_body(source, amount=2 * AMOUNT))

    with check("ACC-075"):
        assert balance == before[0] - quote["totalSendingAmount"]
    with check("ACC-077"):
        assert balance <= total <= before[1]
    with check("ACC-076"):
        again[-1].refused(400, "INSUFFICIENT_FUNDS", twin=within[len(again) - 1])


@requirement("ACC-078")
def test_what_a_payout_took_leaves_the_total(platform: Platform) -> None:
    """Once it has arrived nothing of it is held any more."""
    source = platform.account()
    given(source, "totalBalance")
    _, before = platform.balances(source)

    quote = platform.quote(source)
    platform.completed(quote)

    expected = before - quote["totalSendingAmount"]
    seen = platform.until(lambda: platform.balances(source)[1], lambda total: total == expected)
    assert seen == expected


@requirement("ACC-079")
def test_what_comes_back_is_in_the_total_again(platform: Platform) -> None:
    """The payout failed, and its refund is through."""
    source = platform.account()
    given(source, "totalBalance")
    _, before = platform.balances(source)

    platform.refunded(platform.payout(source, fate="payout.screen"))

    seen = platform.until(lambda: platform.balances(source)[1], lambda total: total == before)
    assert seen == before


@requirement("ACC-080")
def test_the_whole_balance_can_be_spent(platform: Platform) -> None:
    """The fees are a part of what is sent."""
    source = platform.account(amount=0)
    platform.deposit(source, AMOUNT)
    balance, _ = platform.balances(source)

    executed = platform.transfer(platform.quote_body(source, amount=balance))[-1]

    assert executed.accepted, executed
    assert platform.balance_at(source, 0) == 0


@requirement("ACC-082")
def test_deposits_that_arrive_at_once_all_count(platform: Platform) -> None:
    """None is lost between them."""
    account = platform.account(amount=0)
    before, _ = platform.balances(account)
    amounts = (1_001, 2_003, 4_007)

    platform.at_once(
        *(lambda amount=amount: platform.arrive(account, amount) for amount in amounts)
    )

    expected = before + sum(amounts)
    assert platform.balance_at(account, expected) == expected


@requirement("ACC-083", "ACC-084")
def test_a_deposit_arrives_on_its_own_account_alone(platform: Platform, check: Check) -> None:
    """Neither the owner's other account nor that of somebody else has more than before."""
    account, second = two_accounts(platform)
    stranger = platform.account(amount=AMOUNT)
    before = platform.balances(second), platform.balances(stranger)

    platform.deposit(account, AMOUNT)

    with check("ACC-083"):
        assert platform.balances(second) == before[0]
    with check("ACC-084"):
        assert platform.balances(stranger) == before[1]


@requirement("ACC-085", "ACC-086")
def test_a_payment_between_accounts_arrives(platform: Platform, check: Check) -> None:
    """The receiver can spend what the quote says."""
    source, receiver = platform.account(), platform.account(amount=0)
    before = platform.balances(receiver)
    *_, last = platform.transfer(platform.quote_body(source, receiver))
    if not last.accepted:
        raise ResourceMissing(f"customers pay nothing into each other's accounts: {last}")
    platform.transaction_in(last.body, "COMPLETED")

    came = last.body["totalReceivingAmount"]
    seen = platform.until(
        lambda: platform.balances(receiver),
        lambda seen: seen == (before[0] + came, before[1] + came),
    )

    with check("ACC-085"):
        assert seen[0] == before[0] + came
    with check("ACC-086"):
        given(receiver, "totalBalance")
        assert seen[1] == before[1] + came


# --- Lists ----------------------------------------------------------------------------------


@requirement("ACC-110", "ACC-111")
def test_accounts_of_platform_and_customers_are_listed_apart(
    platform: Platform, check: Check
) -> None:
    """Each list has its own path."""
    account = platform.account(amount=0)

    of_customer = platform.internal_accounts({"id": account["customerId"]})
    of_platform = platform.platform_accounts()

    with check("ACC-110"):
        if not of_platform:
            raise ResourceMissing("the platform has no internal account")
        assert not names_of(of_platform) & names_of(of_customer)
    with check("ACC-111"):
        assert account["id"] not in names_of(of_platform)


@requirement("ACC-112")
def test_an_id_that_no_customer_has_brings_no_accounts(platform: Platform) -> None:
    """It is refused, or there are none."""
    customer = platform.customer()

    found = platform.list_internal_accounts({"id": unknown(customer["id"])})

    twin = platform.list_internal_accounts(customer)
    if found.accepted:
        platform.observe("the accounts of an unknown customer are an empty list")
        assert not platform.internal_accounts({"id": unknown(customer["id"])})
    else:
        found.refused(*REFUSED, twin=twin)


@requirement("ACC-113", "ACC-114")
def test_the_platforms_accounts_are_listed_by_currency(platform: Platform, check: Check) -> None:
    """Those in the currency are there, and no others."""
    accounts = platform.platform_accounts()
    if not accounts:
        raise ResourceMissing("the platform has no internal account")
    currency = code_of(accounts[0])
    wanted = {account["id"] for account in accounts if code_of(account) == currency}

    same = platform.list_platform_accounts(currency)
    another = "EUR" if currency != "EUR" else "USD"
    other = platform.list_platform_accounts(another)

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

    listed = [one["id"] for one in platform.internal_accounts({"id": account["customerId"]})]

    assert sorted(listed) == sorted(set(listed))


def names_of(accounts: list[Json]) -> set[str]:
    """Return the ids of accounts."""
    return {account["id"] for account in accounts}


def code_of(account: Json) -> str:
    """Return the code of an account's currency."""
    return str(account["balance"]["currency"]["code"])


# --- Simulated deposits ---------------------------------------------------------------------


def simulate(platform: Platform, account: Json) -> Answer:
    """Simulate a deposit to an account that nobody asked for.

    Raises:
        ResourceMissing: that is for rule-based accounts alone, whose sweeps it triggers.
    """
    answer = platform.fund(account, AMOUNT)
    if not answer.accepted:
        raise ResourceMissing(f"no deposit is simulated to a {account.get('type')}: {answer}")
    return answer


@requirement("ACC-120", "ACC-121", "ACC-123")
def test_the_sandbox_simulates_a_settled_deposit(platform: Platform, check: Check) -> None:
    """As often as it is asked to."""
    account = platform.account(amount=0)
    before = platform.balances(account)

    simulate(platform, account)
    once = platform.balance_at(account, before[0] + AMOUNT)
    total = platform.balances(account)[1]
    simulate(platform, account)
    twice = platform.balance_at(account, before[0] + 2 * AMOUNT)

    with check("ACC-120"):
        assert once == before[0] + AMOUNT
    with check("ACC-121"):
        assert total == before[1] + AMOUNT
    with check("ACC-123"):
        assert twice == before[0] + 2 * AMOUNT


@requirement("ACC-122")
def test_no_deposit_is_simulated_for_an_unknown_account(platform: Platform) -> None:
    """The path names nothing."""
    account = platform.account(amount=0)

    refusal = platform.fund({**account, "id": unknown(account["id"])}, AMOUNT)

    refusal.refused(404, twin=simulate(platform, account))


@requirement("ACC-125")
def test_a_deposit_is_simulated_for_the_platform_too(platform: Platform) -> None:
    """Other tests may pay in at the same moment, so that there may be more."""
    simulate(platform, platform.account(amount=0))
    account = platform_account(platform)
    before, _ = platform.balances(account)

    answer = platform.fund(account, AMOUNT)

    assert answer.accepted, answer
    after = platform.until(
        lambda: platform.balances(account)[0], lambda seen: seen >= before + AMOUNT
    )
    assert after >= before + AMOUNT
