"""Internal accounts: their members and balances, their lists, and simulated deposits."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence

import pytest

from conformance.contract.moments import parse_moment
from conformance.exchange.answer import Answer
from conformance.platform.given.customers import verification_status
from conformance.platform.given.transactions import included_fees
from conformance.platform.platform import Platform
from conformance.platform.resource import Json, Resource, listed_members, require_member, unknown_id
from conformance.platform.waiting import at_once, wait_for_another_second
from conformance.scenarios.cards.holdings import (
    AMOUNT,
    account_in,
    crypto_account,
    platform_account,
    two_accounts,
)
from conformance.scenarios.configuration.settings import supported_codes
from conformance.scenarios.kit.cases import case
from conformance.scenarios.kit.marks import Check, requirement
from conformance.scenarios.webhooks.reports import BALANCE
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing, TriggerFailed

REFUSED = (400, 404)
"""The statuses of a refusal for an unknown id in a query."""


# --- Currency and money ---------------------------------------------------------------------


@requirement("ACC-030", "ACC-048")
def test_a_fiat_account_is_one_in_an_iso_currency(platform: Platform) -> None:
    """An account of type INTERNAL_FIAT is listed; the document says which members it must have."""
    account = platform.internal_accounts.account(amount=0)

    if account["type"] != "INTERNAL_FIAT":
        raise ResourceMissing(f"customers get an account of type {account['type']}")


@requirement("ACC-031")
def test_both_balances_are_in_one_currency(platform: Platform) -> None:
    """Both balances of each account have one currency, whatever the others in the list have."""
    account = platform.internal_accounts.account(amount=0)
    with contextlib.suppress(ResourceMissing):
        account, _ = two_accounts(platform)

    listed = platform.internal_accounts.of_customer(account.owner)

    require_member(account, "totalBalance")
    for one in [*listed, *platform.internal_accounts.of_platform()]:
        if one.get("totalBalance") is not None:
            expect_one_currency(one)


def expect_one_currency(account: Resource) -> None:
    """Assert that both balances of an account are in one currency, with as many decimals."""
    __tracebackhide__ = True
    balances = (account["balance"], require_member(account, "totalBalance"))
    currencies = [(one["currency"]["code"], one["currency"].get("decimals")) for one in balances]
    assert currencies[0] == currencies[1]


@pytest.mark.parametrize(
    "currency",
    [
        case("ACC-032", "pence", "GBP"),
        case("ACC-033", "satoshis", "BTC"),
    ],
)
def test_the_smallest_unit_has_its_place_behind_the_point(
    platform: Platform, currency: str
) -> None:
    """The currency of the balance gives 2 decimals for GBP and 8 for BTC."""
    account = account_in(platform, currency)

    currency_object = account["balance"]["currency"]

    assert currency_object["decimals"] == {"GBP": 2, "BTC": 8}[currency]


@pytest.mark.parametrize(
    ("currency", "amount"),
    [
        case("ACC-034", "eight-decimals", "BTC", 1_234_567),
        case("ACC-035", "no-decimals", "RWF", 34_567),
    ],
)
def test_amounts_count_smallest_units(platform: Platform, currency: str, amount: int) -> None:
    """A deposit in BTC or in RWF raises the balance by its amount in smallest units."""
    account = account_in(platform, currency)
    before, _ = platform.internal_accounts.balances(account)

    platform.internal_accounts.settle_deposit(account, amount)

    assert platform.internal_accounts.wait_for_balance(account, before + amount) == before + amount


# --- Members --------------------------------------------------------------------------------


@requirement("ACC-040")
def test_no_two_accounts_share_an_id(platform: Platform) -> None:
    """The accounts of two customers and of the platform have different ids."""
    owners = [platform.internal_accounts.account(amount=0)["customerId"] for _ in range(2)]

    accounts = [
        account
        for owner in owners
        for account in platform.internal_accounts.of_customer({"id": owner})
    ]

    ids = [account["id"] for account in accounts + platform.internal_accounts.of_platform()]

    assert len(set(ids)) == len(ids), ids


@requirement("ACC-041", "ACC-042", "ACC-043", "ACC-044")
def test_an_account_stays_what_it_is(platform: Platform, check: Check) -> None:
    """A deposit changes neither id, type nor ``createdAt``, which is not after ``updatedAt``.

    The ``updatedAt`` from before the deposit is not after that either.
    """
    before = platform.internal_accounts.account(amount=0)
    wait_for_another_second(before.get("createdAt"))

    platform.internal_accounts.settle_deposit(before, AMOUNT)

    after = platform.until(
        lambda: account_with_most_funds(platform, before),
        lambda current: amount_of(current) == amount_of(before) + AMOUNT,
    )
    with check("ACC-041"):
        assert after["id"] == before["id"]
    with check("ACC-042"):
        assert after["type"] == before["type"]
    with check("ACC-043"):
        assert after.get("createdAt") == require_member(before, "createdAt")
    with check("ACC-044"):
        created, changed = require_member(after, "createdAt"), require_member(after, "updatedAt")
        assert parse_moment(created) <= parse_moment(changed)
        assert parse_moment(require_member(before, "updatedAt")) <= parse_moment(changed)


def account_with_most_funds(platform: Platform, account: Resource) -> Resource:
    """Return the account of the same customer and currency with the highest balance."""
    accounts = platform.internal_accounts.of_customer(account.owner)
    return max((one for one in accounts if code_of(one) == code_of(account)), key=amount_of)


def amount_of(account: Resource) -> int:
    """Return the balance of an account in smallest units."""
    return int(account["balance"]["amount"])


@requirement("ACC-045")
def test_a_fiat_currency_is_not_held_in_a_crypto_account(platform: Platform) -> None:
    """An account in USD is not of type INTERNAL_CRYPTO."""
    account = account_in(platform, "USD")

    assert account["type"] != "INTERNAL_CRYPTO"


@requirement("ACC-030", "ACC-031", "ACC-046", "ACC-047", "ACC-049")
def test_a_crypto_currency_is_not_held_in_a_fiat_account(platform: Platform, check: Check) -> None:
    """An account in a crypto currency is not of type INTERNAL_FIAT, and has no sweep rule.

    Its two balances are in one currency, and nobody has labelled it.
    """
    account = crypto_account(platform)

    with check("ACC-046"):
        assert account["type"] != "INTERNAL_FIAT"
    with check("ACC-047"):
        assert account.get("label") is None
    with check("ACC-031"):
        expect_one_currency(account)


@requirement("ACC-047")
def test_nobody_has_labelled_an_account_that_is_there_by_itself(platform: Platform) -> None:
    """An account that the platform did not create has no label."""
    account = platform.internal_accounts.account(amount=0)

    assert account.get("label") is None


@requirement("ACC-052")
def test_the_privacy_of_a_wallet_is_shown_on_wallets_alone(platform: Platform) -> None:
    """The privacy flag that the profile names is on accounts of type EMBEDDED_WALLET alone."""
    name = platform.profile.bindings.require("wallet_privacy")
    customer = platform.approved.customer()

    accounts = platform.until(lambda: platform.internal_accounts.of_customer(customer), bool)

    if not accounts:
        raise PreconditionFailed("an approved customer has no internal accounts")
    types = {account["type"] for account in accounts if account.get(name) is not None}
    assert types <= {"EMBEDDED_WALLET"}


@requirement("ACC-053")
def test_what_a_card_could_do_is_a_list_of_actions(platform: Platform) -> None:
    """The member that the profile names for card funding is a list of texts, where it is shown."""
    actions = card_funding(platform, platform.internal_accounts.account(amount=0))

    assert isinstance(actions, list)
    assert all(isinstance(action, str) and action for action in actions), actions


@pytest.mark.parametrize(
    "status",
    [
        case("ACC-054", "closed", "CLOSED"),
        case("ACC-066", "frozen", "FROZEN"),
    ],
)
def test_a_stopped_account_funds_no_card(platform: Platform, status: str) -> None:
    """A CLOSED or FROZEN account does not show the member for card funding any more."""
    account = platform.internal_accounts.account(amount=0)
    card_funding(platform, account)

    platform.internal_accounts.stop(account, status)

    stopped = platform.internal_accounts.at_status(account, status)
    assert not stopped.get(str(platform.profile.bindings.card_funding))


def card_funding(platform: Platform, account: Resource) -> object:
    """Return the member of an account that says what a card can do with it.

    Raises:
        ResourceMissing: the profile names no such member, or the account does not show it.
    """
    name = platform.profile.bindings.card_funding
    if name is None:
        raise ResourceMissing("bindings.card_funding of the profile names no member")
    return require_member(account, name)


# --- Provisioning ---------------------------------------------------------------------------


@requirement("ACC-058", "ACC-059", "ACC-061", "ACC-062", "ACC-806")
def test_the_platform_has_an_account_by_itself(platform: Platform, check: Check) -> None:
    """The platform has an INTERNAL_FIAT account, and no RULE_BASED or customer's account."""
    accounts = platform.internal_accounts.of_platform()

    with check("ACC-061"):
        assert accounts, "the platform has no internal account"
    with check("ACC-062"):
        assert "INTERNAL_FIAT" in {account["type"] for account in accounts}
    with check("ACC-806"):
        supported = supported_codes(platform)
        fiat = [one for one in accounts if one["type"] == "INTERNAL_FIAT"]
        if not supported or not fiat:
            raise ResourceMissing("the configuration or the platform shows no fiat currency")
        codes = {account["balance"]["currency"]["code"] for account in fiat}
        assert codes & supported, f"accounts in {codes}, and {supported} are supported"
    with check("ACC-058"):
        assert not [account for account in accounts if account.get("customerId")]
    with check("ACC-059"):
        assert "RULE_BASED" not in {account["type"] for account in accounts}


@requirement("ACC-808")
@pytest.mark.parametrize("business", [False, True], ids=["individual", "business"])
def test_a_customer_with_a_crypto_currency_has_an_account_in_it(
    platform: Platform, *, business: bool
) -> None:
    """The first of BTC, USDC and USDT that is supported has an INTERNAL_CRYPTO account."""
    supported = [code for code in ("BTC", "USDC", "USDT") if code in supported_codes(platform)]
    if not supported:
        raise ResourceMissing("neither BTC nor USDC nor USDT is among the supportedCurrencies")
    code = supported[0]
    create = platform.approved.business if business else platform.approved.customer
    customer = create(currencies=sorted({platform.profile.currency, code}))

    def accounts_in_crypto() -> list[Json]:
        accounts = platform.internal_accounts.of_customer(customer)
        return [one for one in accounts if one["balance"]["currency"]["code"] == code]

    accounts = platform.until(accounts_in_crypto, bool)

    assert "INTERNAL_CRYPTO" in {account["type"] for account in accounts}, accounts


@pytest.mark.parametrize(
    ("id_", "business"),
    [
        case(("ACC-063", "ACC-065"), "individual", "ACC-063", False),
        case(("ACC-064", "ACC-065"), "business", "ACC-064", True),
    ],
)
def test_an_approved_customer_comes_to_an_active_account(
    platform: Platform, check: Check, id_: str, *, business: bool
) -> None:
    """One account becomes ACTIVE, and none is CLOSED or FROZEN; others may still be PENDING.

    However long the provisioning takes, it is over once a customer of the other type who was
    approved later has an account that is ACTIVE.
    """
    create, create_other = platform.approved.individual, platform.approved.business
    if business:
        create, create_other = create_other, create
    customer = create()

    statuses = statuses_once_active(platform, customer)
    is_over = "ACTIVE" in statuses
    if statuses and not is_over:
        is_over = "ACTIVE" in statuses_once_active(platform, create_other())
        statuses = statuses_once_active(platform, customer)

    if not statuses:
        raise PreconditionFailed("an approved customer has no internal accounts")
    with check("ACC-065"):
        assert not statuses & {"CLOSED", "FROZEN"}
    with check(id_):
        if not is_over and "PENDING" in statuses:
            raise ResourceMissing("the provisioning takes longer than timing.state of the profile")
        assert "ACTIVE" in statuses


def statuses_once_active(platform: Platform, customer: Resource) -> set[str]:
    """Return the statuses of a customer's internal accounts; wait for one that is ACTIVE."""
    accounts = platform.until(
        lambda: platform.internal_accounts.of_customer(customer),
        lambda listed_accounts: "ACTIVE" in {account["status"] for account in listed_accounts},
    )
    return {account["status"] for account in accounts}


@requirement("ACC-166")
@pytest.mark.parametrize("business", [False, True], ids=["individual", "business"])
def test_an_account_that_sends_is_not_pending(platform: Platform, *, business: bool) -> None:
    """An account that a payment was sent from is shown as ACTIVE, and no longer as PENDING."""
    customer = platform.approved.of_type(business)
    source = platform.internal_accounts.account(customer=customer)
    quote = platform.quotes.execute(
        platform.quotes.pending(source, platform.external_accounts.account(customer))
    )
    platform.transactions.at_status(quote, "COMPLETED")

    assert platform.internal_accounts.at_status(source, "ACTIVE")["status"] != "PENDING"


@requirement("ACC-810")
@pytest.mark.parametrize("business", [False, True], ids=["individual", "business"])
def test_a_change_of_a_customer_opens_no_second_account(
    platform: Platform, *, business: bool
) -> None:
    """An approved customer with a new phone number has one account of each kind, as before."""
    customer = platform.approved.of_type(business)
    platform.internal_accounts.account(amount=0, customer=customer)
    before = platform.internal_accounts.of_customer(customer)
    status = verification_status(platform.customers.read(customer))
    if status != "APPROVED" or "PENDING" in {account["status"] for account in before}:
        raise ResourceMissing(f"accounts of {customer.id}, at {status}, may still be provisioned")

    phone = {"phoneNumber": platform.samples.filled("+1617555####")}
    answer = platform.api.update_customer(customer.id, phone)

    if not answer.accepted:
        raise ResourceMissing(f"who is approved keeps the phone number: {answer}")
    kinds = {(account["type"], code_of(account)) for account in before}
    second = [
        account["id"]
        for account in platform.internal_accounts.of_customer(customer)
        if account["id"] not in ids_of(before) and (account["type"], code_of(account)) in kinds
    ]
    assert not second, f"{second} are like accounts that there were"


# --- Balances -------------------------------------------------------------------------------


@requirement("ACC-070", "ACC-071")
def test_a_deposit_on_its_way_is_in_the_total_alone(platform: Platform, check: Check) -> None:
    """An announced deposit raises the total balance, and not the balance."""
    account = platform.internal_accounts.account()
    require_member(account, "totalBalance")
    balance, total = platform.internal_accounts.balances(account)

    platform.internal_accounts.announce_deposit(account, AMOUNT)

    after = platform.until(
        lambda: platform.internal_accounts.balances(account),
        lambda balances: balances[1] == total + AMOUNT,
    )
    with check("ACC-070"):
        assert after[0] == balance
    with check("ACC-071"):
        assert after[1] == total + AMOUNT


@requirement("ACC-809")
def test_a_deposit_on_its_way_to_the_platform_is_in_the_total_alone(platform: Platform) -> None:
    """The balance lacks an announced deposit at least, as far as the total balance is concerned.

    Others pay in and out of the account meanwhile, so that no balance is known before.
    """
    account = platform_account(platform)
    require_member(account, "totalBalance")

    try:
        platform.internal_accounts.announce_deposit(account, AMOUNT)
    except TriggerFailed as error:
        raise ResourceMissing(f"deposits are for customers alone: {error}") from error

    balance, total = platform.until(
        lambda: platform.internal_accounts.balances(account),
        lambda balances: balances[1] - balances[0] >= AMOUNT,
    )
    assert total - balance >= AMOUNT, f"of {total} in all {balance} can be spent"


@requirement("ACC-072")
def test_a_deposit_on_its_way_cannot_be_spent(platform: Platform) -> None:
    """A payment that needs the announced deposit is refused with INSUFFICIENT_FUNDS."""
    account, other = (
        platform.internal_accounts.account(amount=AMOUNT),
        platform.internal_accounts.account(amount=AMOUNT),
    )
    platform.internal_accounts.announce_deposit(account, AMOUNT)
    platform.until(
        lambda: platform.internal_accounts.balances(account), lambda balances: balances[1] > AMOUNT
    )

    covered = platform.quotes.create_and_execute(platform.quotes.body(other, amount=AMOUNT))
    uncovered = platform.quotes.create_and_execute(platform.quotes.body(account, amount=AMOUNT + 1))

    uncovered[-1].refused(400, "INSUFFICIENT_FUNDS", twin=covered[len(uncovered) - 1])


@requirement("ACC-073", "ACC-074")
def test_a_settled_deposit_is_in_both_balances(platform: Platform, check: Check) -> None:
    """The deposit raises the total balance, which then equals the balance."""
    account = platform.internal_accounts.account(amount=0)
    require_member(account, "totalBalance")
    _, total = platform.internal_accounts.balances(account)

    platform.internal_accounts.deposit(account, AMOUNT)

    after = platform.until(
        lambda: platform.internal_accounts.balances(account),
        lambda balances: balances[1] == total + AMOUNT,
    )
    with check("ACC-073"):
        assert after[1] == total + AMOUNT
    with check("ACC-074"):
        assert after[0] == after[1]


@requirement("ACC-075", "ACC-076", "ACC-077")
def test_what_a_running_payout_took_is_not_there_to_be_spent(
    platform: Platform, check: Check
) -> None:
    """The balance is reduced by the payout, and a payment beyond it is INSUFFICIENT_FUNDS.

    The total balance may contain the payout until it is completed.
    """
    source = platform.internal_accounts.account(amount=3 * AMOUNT)
    before = platform.internal_accounts.balances(source)
    quote = platform.quotes.payout(source, trigger="payout.hold", amount=2 * AMOUNT)

    balance, total = platform.until(
        lambda: platform.internal_accounts.balances(source),
        lambda balances: balances[0] == before[0] - quote["totalSendingAmount"],
    )
    covered = platform.quotes.create_and_execute(
        platform.quotes.body(platform.internal_accounts.account(), amount=2 * AMOUNT)
    )
    uncovered = platform.quotes.create_and_execute(platform.quotes.body(source, amount=2 * AMOUNT))

    with check("ACC-075"):
        assert balance == before[0] - quote["totalSendingAmount"]
    with check("ACC-077"):
        assert balance <= total <= before[1]
    with check("ACC-076"):
        uncovered[-1].refused(400, "INSUFFICIENT_FUNDS", twin=covered[len(uncovered) - 1])


@requirement("ACC-078")
def test_what_a_payout_took_leaves_the_total(platform: Platform) -> None:
    """A completed payout reduces the total balance by its ``totalSendingAmount``."""
    source = platform.internal_accounts.account()
    require_member(source, "totalBalance")
    _, before = platform.internal_accounts.balances(source)

    quote = platform.quotes.pending(source)
    platform.quotes.complete(quote)

    expected = before - quote["totalSendingAmount"]
    after = platform.until(
        lambda: platform.internal_accounts.balances(source)[1], lambda total: total == expected
    )
    assert after == expected


@requirement("ACC-075", "ACC-077", "ACC-078")
def test_what_an_immediate_payout_took_leaves_the_total_once_it_is_completed(
    platform: Platform, check: Check
) -> None:
    """It leaves the balance at once; while the rail holds it, the total may contain it still."""
    source = platform.internal_accounts.account()
    before = platform.internal_accounts.balances(source)
    destination = platform.external_accounts.account(source.owner, trigger="payout.hold")
    quote = platform.quotes.pending(source, destination, immediatelyExecute=True)
    left = [balance - quote["totalSendingAmount"] for balance in before]

    balance, total = platform.until(
        lambda: platform.internal_accounts.balances(source), lambda seen: seen[0] == left[0]
    )

    with check("ACC-075"):
        assert balance == left[0]
    with check("ACC-077"):
        assert balance <= total <= before[1]
    platform.triggers.fire("payout.release", transactionId=quote["transactionId"])
    with check("ACC-078"):
        require_member(source, "totalBalance")
        status = platform.transactions.at_status(quote, "COMPLETED").get("status")
        if status != "COMPLETED":
            raise PreconditionFailed(f"the payout is {status}")
        assert (
            platform.internal_accounts.wait_for_total(source, range(left[1], left[1] + 1))
            == left[1]
        )


@requirement("ACC-079")
def test_what_comes_back_is_in_the_total_again(platform: Platform) -> None:
    """Once a failed payout is refunded, the total balance lacks its fees at most."""
    source = platform.internal_accounts.account()
    require_member(source, "totalBalance")
    _, before = platform.internal_accounts.balances(source)

    quote = platform.quotes.payout(source, trigger="payout.screen")
    platform.transactions.refunded(quote)

    restored = range(before - included_fees(quote), before + 1)
    assert platform.internal_accounts.wait_for_total(source, restored) in restored


@requirement("ACC-080")
def test_the_whole_balance_can_be_spent(platform: Platform) -> None:
    """A payment of the whole balance, fees included, is accepted and leaves a balance of 0."""
    source = platform.internal_accounts.account(amount=0)
    platform.internal_accounts.deposit(source, AMOUNT)
    balance, _ = platform.internal_accounts.balances(source)

    execution = platform.quotes.create_and_execute(platform.quotes.body(source, amount=balance))[-1]

    execution.expect_accepted()
    assert platform.internal_accounts.wait_for_balance(source, 0) == 0


@requirement("ACC-082")
def test_deposits_that_arrive_at_once_all_count(platform: Platform) -> None:
    """Three simultaneous deposits raise the balance by their sum."""
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
    """The balances of the owner's other account and of another customer's are unchanged."""
    account, second = two_accounts(platform)
    other_account = platform.internal_accounts.account(amount=AMOUNT)
    before = (
        platform.internal_accounts.balances(second),
        platform.internal_accounts.balances(other_account),
    )

    platform.internal_accounts.deposit(account, AMOUNT)

    with check("ACC-083"):
        assert platform.internal_accounts.balances(second) == before[0]
    with check("ACC-084"):
        assert platform.internal_accounts.balances(other_account) == before[1]


@requirement("ACC-086")
def test_a_payment_between_accounts_arrives(platform: Platform) -> None:
    """The ``totalBalance`` of the receiver grows by the ``totalReceivingAmount`` of the quote."""
    source, receiver = (
        platform.internal_accounts.account(),
        platform.internal_accounts.account(amount=0),
    )
    before = platform.internal_accounts.balances(receiver)
    *_, last = platform.quotes.create_and_execute(platform.quotes.body(source, receiver))
    if not last.accepted:
        raise ResourceMissing(f"customers pay nothing into each other's accounts: {last}")
    platform.transactions.at_status(last.body, "COMPLETED")

    amount = last.body["totalReceivingAmount"]
    after = platform.until(
        lambda: platform.internal_accounts.balances(receiver),
        lambda balances: balances[1] == before[1] + amount,
    )

    require_member(receiver, "totalBalance")
    assert after[1] == before[1] + amount


# --- Lists ----------------------------------------------------------------------------------


@requirement("ACC-110", "ACC-111")
def test_accounts_of_platform_and_customers_are_listed_apart(
    platform: Platform, check: Check
) -> None:
    """The list of the platform and that of a customer have no account in common."""
    account = platform.internal_accounts.account(amount=0)

    of_customer = platform.internal_accounts.of_customer(account.owner)
    of_platform = platform.internal_accounts.of_platform()

    with check("ACC-110"):
        if not of_platform:
            raise ResourceMissing("the platform has no internal account")
        assert not ids_of(of_platform) & ids_of(of_customer)
    with check("ACC-111"):
        assert account["id"] not in ids_of(of_platform)


@requirement("ACC-112")
def test_an_id_that_no_customer_has_brings_no_accounts(platform: Platform) -> None:
    """The list for an unknown customer id is refused with 400 or 404, or empty."""
    customer = platform.approved.customer()

    answer = platform.api.list_customer_internal_accounts(
        {"customerId": unknown_id(customer["id"])}
    )

    twin = platform.api.list_customer_internal_accounts({"customerId": customer["id"]})
    if answer.accepted:
        platform.observe("the accounts of an unknown customer are an empty list")
        assert not platform.internal_accounts.of_customer({"id": unknown_id(customer["id"])})
    else:
        answer.refused(*REFUSED, twin=twin)


@requirement("ACC-113", "ACC-114", "ACC-811")
def test_the_platforms_accounts_are_listed_by_currency(platform: Platform, check: Check) -> None:
    """The list in each currency has all accounts in it, none in another, and none of a customer.

    So it has on pages of one, where there are pages. The list in a currency that the platform holds
    nothing in is empty, or refused.
    """
    accounts = platform.internal_accounts.of_platform()
    if not accounts:
        raise ResourceMissing("the platform has no internal account")
    held = {code_of(account) for account in accounts}
    # Among them may be stablecoins, which no customer transacts in.
    shared = held & supported_codes(platform)
    customer = platform.approved.customer(currencies=sorted({platform.profile.currency, *shared}))
    platform.internal_accounts.account(amount=0, customer=customer)

    for currency in held:
        expected_ids = {account["id"] for account in accounts if code_of(account) == currency}
        same = platform.api.list_platform_internal_accounts({"currency": currency})

        with check("ACC-113"):
            same.expect_accepted()
            # Those of all customers may be more pages than are read.
            first_page = {row.get("id") for row in listed_members(same.body)}
            assert first_page <= expected_ids, same
            assert ids_of(platform.internal_accounts.of_platform(currency)) == expected_ids
            by_pages = platform.internal_accounts.of_platform_by_pages(1, currency)
            assert sorted(row["id"] for row in by_pages) == sorted(expected_ids)

    paid = {corridor.receiving for corridor in platform.profile.resources.corridors}
    for another in ("EUR" if code_of(accounts[0]) != "EUR" else "USD", *sorted(paid - held)[:1]):
        other = platform.api.list_platform_internal_accounts({"currency": another})
        with check("ACC-114"):
            others = platform.internal_accounts.of_platform(another) if other.accepted else []
            assert {code_of(account) for account in others} <= {another}, other
    with check("ACC-811"):
        unheld = sorted(supported_codes(platform) - held)
        if not unheld:
            raise ResourceMissing("the platform has an account in each of the supportedCurrencies")
        platform.api.list_platform_internal_accounts({"currency": unheld[0]}).expect_accepted()


@requirement("ACC-113")
def test_the_list_by_currency_is_as_new_as_the_whole_one(platform: Platform) -> None:
    """After a deposit to the platform it shows the balance that the whole list shows.

    Others pay in and out of the account meanwhile, so that the lists may differ for a moment.
    """
    account = platform_account(platform)

    def balances(currency: str | None) -> list[int]:
        listed = platform.internal_accounts.of_platform(currency)
        return [amount_of(one) for one in listed if one["id"] == account["id"]]

    before = balances(code_of(account))
    try:
        platform.internal_accounts.settle_deposit(account, AMOUNT)
    except TriggerFailed as error:
        raise ResourceMissing(f"deposits are for customers alone: {error}") from error
    platform.until(lambda: balances(None), lambda now: now != before)

    seen = platform.until(
        lambda: (balances(None), balances(code_of(account))), lambda both: both[0] == both[1]
    )

    assert seen[0] == seen[1], f"the whole list shows {seen[0]}, that by currency {seen[1]}"


@requirement("ACC-115", "ACC-168")
def test_a_list_has_each_account_once(platform: Platform, check: Check) -> None:
    """The list of a customer with two accounts has no id twice; pages of one have the same ids."""
    # Whichever way the list is sorted, those of another customer may follow.
    platform.internal_accounts.account(amount=0)
    account, other = two_accounts(platform)
    platform.internal_accounts.account(amount=0)

    ids = [one["id"] for one in platform.internal_accounts.of_customer(account.owner)]
    rows = platform.internal_accounts.of_customer_by_pages(account.owner, 1)

    with check("ACC-115"):
        for listed in (ids, [row["id"] for row in rows]):
            assert sorted(listed) == sorted(set(listed))
    with check("ACC-168"):
        assert {account["id"], other["id"]} <= ids_of(rows)
        # More of them may be provisioned meanwhile.
        now = ids_of(platform.internal_accounts.of_customer(account.owner))
        assert {*ids} <= ids_of(rows) <= now, f"of {sorted(now)} the pages show {ids_of(rows)}"


def ids_of(accounts: Sequence[Json]) -> set[str]:
    """Return the ids of accounts."""
    return {account["id"] for account in accounts}


def code_of(account: Resource) -> str:
    """Return the code of an account's currency."""
    return str(account["balance"]["currency"]["code"])


# --- Simulated deposits ---------------------------------------------------------------------


SIMULATED: Mapping[str, tuple[Callable[[Platform], Resource], int]] = {
    "usual": (lambda platform: platform.internal_accounts.account(amount=0), AMOUNT),
    "satoshis": (lambda platform: account_in(platform, "BTC"), 1_234_567),
    "wallet": (lambda platform: platform.wallets.wallet(), 1_234_567),
}
"""By kind of account how it is arranged, and how much of its smallest unit is deposited."""


def simulate_deposit(platform: Platform, account: Resource, amount: int = AMOUNT) -> Answer:
    """Simulate a deposit to an account.

    Raises:
        ResourceMissing: the target simulates none; it may do so for rule-based accounts alone.
    """
    answer = platform.internal_accounts.fund(account, amount)
    if not answer.accepted:
        raise ResourceMissing(f"no deposit is simulated to a {account.get('type')}: {answer}")
    return answer


@requirement("ACC-120", "ACC-121", "ACC-123", "EVT-050")
@pytest.mark.parametrize("kind", SIMULATED)
def test_the_sandbox_simulates_a_settled_deposit(
    platform: Platform, check: Check, kind: str
) -> None:
    """Each of two simulated deposits raises the balance; the first one raises the total too.

    A webhook about the account follows.
    """
    arrange, amount = SIMULATED[kind]
    account = arrange(platform)
    before = platform.internal_accounts.balances(account)

    simulate_deposit(platform, account, amount)
    once = platform.internal_accounts.wait_for_balance(account, before[0] + amount)
    total = platform.internal_accounts.balances(account)[1]
    simulate_deposit(platform, account, amount)
    twice = platform.internal_accounts.wait_for_balance(account, before[0] + 2 * amount)

    with check("ACC-120"):
        assert once == before[0] + amount
    with check("ACC-121"):
        assert total == before[1] + amount
    with check("ACC-123"):
        assert twice == before[0] + 2 * amount
    with check("EVT-050"):
        report = platform.webhooks.wait_for(BALANCE, account["id"])
        assert report is not None, f"no {BALANCE} for {account['id']}"


@requirement("ACC-122")
def test_no_deposit_is_simulated_for_an_unknown_account(platform: Platform) -> None:
    """A simulated deposit to an unknown account id is refused with 404."""
    account = platform.internal_accounts.account(amount=0)

    refusal = platform.internal_accounts.fund({**account, "id": unknown_id(account["id"])}, AMOUNT)

    refusal.refused(404, twin=simulate_deposit(platform, account))


@requirement("ACC-812")
def test_a_negative_deposit_takes_nothing(platform: Platform) -> None:
    """A simulated deposit of a negative amount is refused, or takes nothing from the balance."""
    account = platform.internal_accounts.account(amount=0)
    expected = platform.internal_accounts.balances(account)[0] + AMOUNT
    simulate_deposit(platform, account)
    before = platform.internal_accounts.wait_for_balance(account, expected)

    answer = platform.internal_accounts.fund(account, -1)

    # Once a later deposit is there, so is what came of this one.
    simulate_deposit(platform, account)
    balance = platform.until(
        lambda: platform.internal_accounts.balances(account)[0],
        lambda balance: balance >= before + AMOUNT,
    )
    assert balance >= before + AMOUNT, f"{answer}, and {before} came to {balance} with {AMOUNT}"


@requirement("ACC-125")
def test_a_deposit_is_simulated_for_the_platform_too(platform: Platform) -> None:
    """The balance of a platform's account grows by at least the amount; others may pay in too."""
    simulate_deposit(platform, platform.internal_accounts.account(amount=0))
    account = platform_account(platform)
    before, _ = platform.internal_accounts.balances(account)

    answer = platform.internal_accounts.fund(account, AMOUNT)

    answer.expect_accepted()
    after = platform.until(
        lambda: platform.internal_accounts.balances(account)[0],
        lambda balance: balance >= before + AMOUNT,
    )
    assert after >= before + AMOUNT
