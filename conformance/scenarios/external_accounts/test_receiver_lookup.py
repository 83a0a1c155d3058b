"""The receiver lookup: what an external account can receive, from whom, and at which rates."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import pytest

from conformance.exchange.answer import Answer
from conformance.platform.platform import Platform
from conformance.platform.resource import (
    Json,
    Resource,
    arranged_body,
    arranged_resource,
    require_member,
    unknown_id,
)
from conformance.scenarios.kit.marks import Check, requirement
from conformance.scenarios.kit.notation import unlike_looks
from conformance.scenarios.kit.refusals import expect_code
from conformance.scenarios.kit.shapes import expect_members
from conformance.scenarios.protocol.unsaid import with_known_values
from conformance.text.paths import value_at
from conformance.verdict.decisions import FeatureUndeclared, PreconditionFailed, ResourceMissing

DOLLARS = ("USDB", "USDC", "USDT")
"""Coins whose rates may be those of US dollars in a conforming service."""

OF_ONE_ASSET = {
    "BASE_WALLET",
    "POLYGON_WALLET",
    "SOLANA_WALLET",
    "TRON_WALLET",
    "PLASMA_WALLET",
    "SPARK_WALLET",
}
"""Types of wallets that take a single asset."""

OF_ONE_CURRENCY: dict[str, Callable[[str], bool]] = {
    "LKP-805": lambda account_type: account_type.endswith("_ACCOUNT"),
    "LKP-806": OF_ONE_ASSET.__contains__,
}
"""The requirements of accounts in one currency, each with the test of an accountType."""

UNLIKE_DOLLARS = ("MXN", "BRL", "PHP", "INR", "ZAR", "NGN")
"""Currencies with two decimals of which a US dollar is worth many."""

MAX_SPREAD = 2
"""How far from 1 an estimate within one currency may be, as it may have fees in it."""

BOUNDS = {"minSendingAmount": "min", "maxSendingAmount": "max"}
"""By bound on the sending side that on the receiving side."""

MANY = 5
"""More units for one that is sent than a fee or a rate near 1 explains."""

WAITING = ("UNDER_REVIEW", "PENDING_OWNERSHIP_VERIFICATION")
UNKNOWN = 404
LITTLE = 1_000
"""What may be less than the fixed fee of a payment, in US cents."""

MEMBERS = ("id", "customerId", "status", "currency", "platformAccountId", "accountInfo")
"""Members of an external account that a lookup must not change."""

MEMBERS_OF_LOOKUP = (
    "LKP-002",
    "LKP-003",
    "LKP-004",
    "LKP-005",
    "LKP-006",
    "LKP-007",
    "LKP-013",
    "LKP-014",
)


def look_up(platform: Platform, *currencies: str) -> tuple[Json, Json, Answer]:
    """Look up an external account of a new customer; return customer, account and answer.

    The customer transacts in the usual currency, and in further ``currencies``.
    """
    customer = create_sender(platform, *currencies)
    account = platform.external_accounts.account(customer)
    return (
        customer,
        account,
        platform.api.lookup_external_account(account["id"], {"customerId": customer["id"]}),
    )


def create_sender(platform: Platform, *currencies: str) -> Resource:
    """Create a customer who transacts in the usual currency, and in further ones."""
    return platform.approved.customer(currencies=sorted({platform.profile.currency, *currencies}))


def supported_currencies(lookup: Json) -> list[Json]:
    """Return the objects in supportedCurrencies of a lookup.

    Raises:
        PreconditionFailed: the list is missing or empty; the account's currency is not in it.
    """
    entries = lookup.get("supportedCurrencies")
    if not isinstance(entries, list) or not entries:
        raise PreconditionFailed("the lookup shows no supported currency", breaks=["LKP-021"])
    return [entry for entry in entries if isinstance(entry, Mapping)]


def code_of(currency: object) -> str | None:
    """Return the code of a currency object, or None without one."""
    code = currency.get("code") if isinstance(currency, Mapping) else None
    return code if isinstance(code, str) else None


def supported_currency(lookup: Json, code: str) -> Json:
    """Return the entry of a lookup for one currency.

    Raises:
        PreconditionFailed: the lookup does not list the currency.
    """
    for entry in supported_currencies(lookup):
        if code_of(entry.get("currency")) == code:
            return entry
    raise PreconditionFailed(f"the lookup does not support {code}")


@requirement("LKP-001", *MEMBERS_OF_LOOKUP, "LKP-020", "LKP-021", "LKP-022")
def test_a_lookup_says_what_an_account_can_receive(platform: Platform, check: Check) -> None:
    """A lookup answers 200 and lists the account's currency; no min is above its max.

    One of another account in the same currency, right after it, names that one.
    """
    customer, account, answer = look_up(platform)
    twin = platform.external_accounts.account(customer)
    second = platform.api.lookup_external_account(twin["id"], {"customerId": customer["id"]})

    with check("LKP-001"):
        assert answer.status == 200, answer
    lookup = arranged_body(answer)
    with check("LKP-020"):
        assert lookup.get("accountId") == account["id"]
        assert arranged_body(second).get("accountId") == twin["id"]
    with check("LKP-021"):
        codes = [code_of(entry.get("currency")) for entry in supported_currencies(lookup)]
        assert account["currency"] in codes
    with check("LKP-022"):
        for entry in supported_currencies(lookup):
            assert entry["min"] <= entry["max"]


@requirement("LKP-001", "LKP-023", "LKP-026")
def test_a_business_looks_up_an_account_too(platform: Platform, check: Check) -> None:
    """A lookup whose sender is a business has 200, and the sendingCurrency that it asks for.

    It is priced against that one.
    """
    codes = sending_currencies(platform)
    business = platform.approved.business(currencies=sorted({platform.profile.currency, *codes}))
    account = platform.external_accounts.account(business)

    answers = {
        code: platform.api.lookup_external_account(
            account["id"], {"customerId": business["id"], "sendingCurrency": code}
        )
        for code in codes
    }

    with check("LKP-001"):
        assert {answer.status for answer in answers.values()} == {200}, answers
    with check("LKP-023"):
        for code, answer in answers.items():
            assert code_of(arranged_body(answer).get("sendingCurrency")) == code
    with check("LKP-026"):
        expect_rates_differ(platform, answers, account)


@requirement("LKP-008", "LKP-009", "LKP-028", "LKP-600")
def test_bounds_on_the_sending_side_are_amounts(platform: Platform, check: Check) -> None:
    """Where minSendingAmount and maxSendingAmount are given, the first is not above the second."""
    *_, answer = look_up(platform)
    entries = supported_currencies(arranged_body(answer))

    with check("LKP-600"):
        assert entries
    with check("LKP-008"):
        require_member(entries[0], "minSendingAmount")
    with check("LKP-009"):
        require_member(entries[0], "maxSendingAmount")
    with check("LKP-028"):
        expect_sending_bounds_in_order(entries)


def expect_sending_bounds_in_order(entries: Iterable[Json]) -> None:
    """Assert that no minSendingAmount of a lookup is above its maxSendingAmount."""
    __tracebackhide__ = True
    for entry in entries:
        least, most = (require_member(entry, bound) for bound in BOUNDS)
        assert least <= most, entry


@requirement("LKP-010", "LKP-011", "LKP-012", "LKP-811")
def test_fields_that_are_asked_about_the_payer_have_a_name(
    platform: Platform, check: Check
) -> None:
    """A lookup shows requiredPayerDataFields; one that asks nothing shows an empty list.

    The judge checks the name and the mandatory flag of each entry. The test only makes sure that
    there is one.
    """
    *_, answer = look_up(platform)

    lookup = arranged_body(answer)
    expect_members(check, lookup, {"LKP-811": "requiredPayerDataFields"})
    for requirement_id in ("LKP-010", "LKP-011", "LKP-012"):
        with check(requirement_id):
            if not require_member(lookup, "requiredPayerDataFields"):
                raise ResourceMissing("nothing is asked about the payer")


@requirement("LKP-023", "LKP-024", "LKP-026")
def test_rates_convert_from_the_currency_that_is_asked_for(
    platform: Platform, check: Check
) -> None:
    """A lookup names the sendingCurrency of the request, or a default one without it.

    Two sending currencies of different worth have different rates.
    """
    codes = sending_currencies(platform)
    customer, account, default = look_up(platform, *codes)
    answers = {
        code: platform.api.lookup_external_account(
            account["id"], {"customerId": customer["id"], "sendingCurrency": code}
        )
        for code in codes
    }

    with check("LKP-023"):
        for code, answer in answers.items():
            answer.expect_accepted()
            assert code_of(answer.body.get("sendingCurrency")) == code
    with check("LKP-024"):
        default.expect_accepted()
        assert code_of(default.body.get("sendingCurrency")) is not None
    with check("LKP-026"):
        expect_rates_differ(platform, answers, account)


def expect_rates_differ(platform: Platform, answers: Mapping[str, Answer], account: Json) -> None:
    """Assert that lookups of one account in currencies of different worth have different rates.

    Args:
        platform: the suite in the part of a platform.
        answers: the lookups, by their sendingCurrency.
        account: what was looked up.

    Raises:
        ResourceMissing: there is one lookup alone.
    """
    __tracebackhide__ = True
    if len(answers) < 2:
        raise ResourceMissing(
            "resources.corridors of the profile send no currency of another worth than "
            f"{next(iter(answers))} to the usual account, {platform.profile.usual_corridor.account}"
        )
    rates = [
        supported_currency(arranged_body(answer), account["currency"])["estimatedExchangeRate"]
        for answer in answers.values()
    ]
    assert len(set(rates)) == len(rates), f"the rates from {list(answers)} are {rates}"


def sending_currencies(platform: Platform) -> list[str]:
    """Return up to two currencies that the profile sends to the usual account, the usual first.

    The second one is worth another amount than the first one.
    """
    usual = platform.profile.usual_corridor
    others = [
        corridor.sending
        for corridor in platform.profile.resources.corridors
        if corridor.account == usual.account
        and worth_currency(corridor.sending) != worth_currency(usual.sending)
    ]
    return [usual.sending, *others[:1]]


def worth_currency(currency: str) -> str:
    """Return USD for a coin that stands for US dollars, and any other currency as it is."""
    return "USD" if currency in DOLLARS else currency


@requirement("LKP-023", "LKP-026", "LKP-031", "LKP-044")
def test_a_sender_may_be_named_by_its_uma_address(platform: Platform, check: Check) -> None:
    """A lookup with senderUmaAddress alone has 200, and the currency of one with customerId.

    It is priced against the sendingCurrency that it asks for, as one with customerId is.
    """
    if not platform.profile.features.uma:
        raise FeatureUndeclared("uma")
    codes = sending_currencies(platform)
    customer = create_sender(platform, *codes)
    account = platform.external_accounts.account(customer)
    address = require_member(
        platform.customers.read(customer), platform.profile.bindings.require("uma_address")
    )

    answer = platform.api.lookup_external_account(account["id"], {"senderUmaAddress": address})

    with check("LKP-031"):
        assert answer.status == 200, answer
    with check("LKP-044"):
        by_id = platform.api.lookup_external_account(account["id"], {"customerId": customer["id"]})
        default = code_of(arranged_body(by_id).get("sendingCurrency"))
        assert code_of(arranged_body(answer).get("sendingCurrency")) == default
    priced = {
        code: platform.api.lookup_external_account(
            account["id"], {"senderUmaAddress": address, "sendingCurrency": code}
        )
        for code in codes
    }
    with check("LKP-023"):
        for code, lookup in priced.items():
            lookup.expect_accepted()
            assert code_of(lookup.body.get("sendingCurrency")) == code
    with check("LKP-026"):
        expect_rates_differ(platform, priced, account)


@requirement("LKP-023", "LKP-801")
def test_a_sender_may_be_named_in_both_ways(platform: Platform, check: Check) -> None:
    """A lookup with customerId and senderUmaAddress of one customer has 200.

    It is priced against the sendingCurrency that it asks for, too.
    """
    if not platform.profile.features.uma:
        raise FeatureUndeclared("uma")
    codes = sending_currencies(platform)
    customer = create_sender(platform, *codes)
    account = platform.external_accounts.account(customer)
    address = require_member(
        platform.customers.read(customer), platform.profile.bindings.require("uma_address")
    )

    both = {"customerId": customer["id"], "senderUmaAddress": address}
    answers = {
        code: platform.api.lookup_external_account(account["id"], {**both, "sendingCurrency": code})
        for code in codes
    }

    with check("LKP-801"):
        assert {answer.status for answer in answers.values()} == {200}, answers
    with check("LKP-023"):
        if not all(answer.accepted for answer in answers.values()):
            raise ResourceMissing(f"a lookup names its sender once: {answers}")
        for code, answer in answers.items():
            assert code_of(arranged_body(answer).get("sendingCurrency")) == code


@requirement("LKP-802", "LKP-810")
def test_a_quote_converts_in_the_direction_of_the_lookup(platform: Platform, check: Check) -> None:
    """Rates say how much is received for one unit that is sent, in lookups and in quotes alike.

    What the lookup estimates is compared with the amounts of the quote and with its rate. Both
    currencies have as many decimals, so that it does not matter which units a rate relates.
    """
    corridor = next(
        (
            corridor
            for corridor in platform.profile.resources.corridors
            if corridor.sending != corridor.receiving and corridor.receiving in UNLIKE_DOLLARS
        ),
        None,
    )
    if corridor is None or corridor.sending != "USD":
        raise ResourceMissing(f"resources.corridors has none from USD to {UNLIKE_DOLLARS}")
    source, account = platform.quotes.ends(corridor)
    query = {"customerId": source["customerId"], "sendingCurrency": corridor.sending}
    lookup = arranged_body(platform.api.lookup_external_account(account["id"], query))
    estimated = supported_currency(lookup, corridor.receiving)["estimatedExchangeRate"]

    quote = platform.quotes.pending(source, account)

    with check("LKP-810"):
        received = quote["totalReceivingAmount"] / (quote["totalSendingAmount"] or 1)
        assert is_nearer_than_inverse(received, estimated), (
            f"the lookup estimates {estimated}, the quote pays {received} for each unit"
        )
    with check("LKP-802"):
        assert is_nearer_than_inverse(quote["exchangeRate"], estimated), (
            f"the lookup estimates {estimated}, the quote has {quote['exchangeRate']}"
        )


def is_nearer_than_inverse(rate: float, estimated: float) -> bool:
    """Return whether a rate is nearer to an estimated one than to its inverse.

    What is not above 0 is no rate, and near to none.
    """
    if min(rate, estimated) <= 0:
        return False
    return abs(math.log(rate / estimated)) < abs(math.log(rate * estimated))


@requirement("LKP-803")
def test_bounds_of_what_is_sent_are_converted(platform: Platform) -> None:
    """The most that is sent is nearer to what the most that is received costs than to that itself.

    So is the least, where fixed fees do not outweigh it. What is looked at are conversions of which
    one smallest unit that is sent is many that are received.
    """
    source = platform.internal_accounts.account("USD")
    ratios = []
    for _, entry, received in entries_from_dollars(platform, source):
        told = [bound for bound in BOUNDS if entry.get(bound) and received > MANY]
        if entry["min"] / received < LITTLE and "minSendingAmount" in told:
            told.remove("minSendingAmount")
        ratios += [(entry[bound] / entry[BOUNDS[bound]], received, entry) for bound in told]

    if not ratios:
        raise ResourceMissing("no bound on what is sent tells its unit")
    for sent, received, entry in ratios:
        assert abs(math.log(sent * received)) < abs(math.log(sent)), entry


@requirement("LKP-808", "LKP-809")
def test_the_least_of_a_lookup_can_be_received(platform: Platform, check: Check) -> None:
    """The least that can be received is quoted, and one smallest unit less is not paid."""
    source = platform.internal_accounts.account("USD")
    held, _ = platform.internal_accounts.balances(source)
    quoted, of_less = [], []
    for account, entry, received in entries_from_dollars(platform, source):
        least = entry["min"]
        if least / received > held / 2:
            continue
        at_least, below = (
            platform.quotes.body(source, account, side="RECEIVING", amount=amount)
            for amount in (least, least - 1)
        )
        quoted.append(platform.api.create_quote(at_least))
        if quoted[-1].accepted and least > 1:
            of_less.append(platform.quotes.create_and_execute(below)[-1])

    with check("LKP-808"):
        if not quoted:
            raise ResourceMissing("the least that can be received is more than is usually paid")
        for answer in quoted:
            answer.expect_accepted()
    with check("LKP-809"):
        if not of_less:
            raise ResourceMissing("one smallest unit is the least that can be received")
        paid = [answer for answer in of_less if answer.accepted]
        assert not paid, f"less than the min was paid: {paid[0]}"


def entries_from_dollars(
    platform: Platform, source: Resource
) -> Iterator[tuple[Resource, Json, float]]:
    """Look up what is received from US dollars, and quote it.

    Yields an external account, what its lookup says of its currency, and how many smallest units
    are received for one that is sent, fees included.
    """
    for corridor in platform.quotes.corridors_from("USD"):
        account = platform.external_accounts.account(source.owner, corridor.account)
        query = {"customerId": source.owner["id"], "sendingCurrency": "USD"}
        lookup = platform.api.lookup_external_account(account["id"], query)
        quote = platform.api.create_quote(platform.quotes.body(source, account))
        if lookup.accepted and quote.accepted:
            received = quote.body["totalReceivingAmount"] / quote.body["totalSendingAmount"]
            yield account, supported_currency(lookup.body, corridor.receiving), received
        else:
            platform.observe(f"no bounds from USD to {corridor.account}: {lookup}, {quote}")


@requirement("LKP-807")
def test_the_bounds_of_what_is_sent_are_in_its_unit(platform: Platform) -> None:
    """One account is looked up in dollars, and in a coin of the same worth with more decimals."""
    corridors = platform.profile.resources.corridors
    corridor = next((one for one in corridors if one.sending in DOLLARS), None)
    if corridor is None:
        raise ResourceMissing(f"resources.corridors has none from {' or '.join(DOLLARS)}")
    source, account = platform.quotes.ends(corridor)
    decimals, entries = [], []
    for code in ("USD", corridor.sending):
        query = {"customerId": source["customerId"], "sendingCurrency": code}
        answer = platform.api.lookup_external_account(account["id"], query)
        if not answer.accepted:
            raise ResourceMissing(f"{account['id']} is not looked up in {code}: {answer}")
        decimals.append(arranged_body(answer)["sendingCurrency"]["decimals"])
        entries.append(supported_currency(answer.body, corridor.receiving))
    in_dollars, in_coins = entries
    told = [bound for bound in BOUNDS if in_dollars.get(bound) and in_coins.get(bound)]
    if "minSendingAmount" in told and (
        in_dollars["minSendingAmount"] < LITTLE or in_dollars["min"] != in_coins["min"]
    ):
        told.remove("minSendingAmount")
    expected = 10.0 ** (decimals[1] - decimals[0])
    if expected == 1 or not told:
        raise ResourceMissing(f"bounds with {decimals} decimals do not tell units apart: {entries}")

    for bound in told:
        ratio = in_coins[bound] / in_dollars[bound]
        assert abs(math.log(ratio / expected)) < abs(math.log(ratio)), (
            f"{bound} is {in_dollars[bound]} of USD, and {in_coins[bound]} of {corridor.sending}"
        )


@requirement("LKP-032")
def test_a_lookup_needs_a_sender(platform: Platform) -> None:
    """A lookup with neither customerId nor senderUmaAddress is refused with 400.

    It does not help that it names the currency to send.
    """
    _, account, twin = look_up(platform)
    in_currency = {"sendingCurrency": platform.profile.currency}

    refusals = [
        platform.api.lookup_external_account(account["id"], query) for query in ({}, in_currency)
    ]

    for refusal in refusals:
        refusal.refused(400, twin=twin)


@requirement("LKP-033", "LKP-035", "LKP-036")
def test_what_does_not_exist_is_not_looked_up(platform: Platform, check: Check) -> None:
    """A lookup is refused for an unknown account, customer or sending currency.

    An unknown customer sends in no currency, be it the default or another one.
    """
    customer, account, twin = look_up(platform)
    sender = customer["id"]
    unknown_account = {"id": unknown_id(account["id"])}

    account_refusal = platform.api.lookup_external_account(
        unknown_account["id"], {"customerId": sender}
    )
    nobody = {"customerId": unknown_id(sender)}
    customer_refusals = [
        platform.api.lookup_external_account(account["id"], query)
        for query in (nobody, {**nobody, "sendingCurrency": platform.profile.currency})
    ]
    currency_refusal = platform.api.lookup_external_account(
        account["id"],
        {"customerId": sender, "sendingCurrency": platform.profile.bindings.unsupported_currency},
    )

    with check("LKP-033"):
        account_refusal.refused(404, twin=twin)
    with check("LKP-035"):
        for refusal in customer_refusals:
            refusal.refused(400, 404, twin=twin)
    with check("LKP-036"):
        currency_refusal.refused(twin=twin)


@requirement("LKP-034")
def test_a_deleted_account_is_not_looked_up(platform: Platform) -> None:
    """A lookup that was accepted before the deletion is refused with 404 after it."""
    customer, account, twin = look_up(platform)
    deletion = platform.api.delete_external_account(account["id"])
    if not deletion.accepted:
        raise PreconditionFailed(f"the account is not deleted: {deletion}")

    # The deletion may be seen a moment late.
    refusal = platform.until(
        lambda: platform.api.lookup_external_account(account["id"], {"customerId": customer["id"]}),
        lambda answer: not answer.accepted,
    )
    refusal.refused(404, twin=twin)


@requirement("LKP-048")
@pytest.mark.parametrize("trigger", ["external_account.review", "ownership.demand"])
def test_an_account_that_waits_is_not_unknown(platform: Platform, trigger: str) -> None:
    """The lookup of an account that is read, and is under review, is not answered with 404.

    So is that of one whose owner has to be proved.
    """
    customer, account, twin = look_up(platform)
    if not twin.accepted:
        raise PreconditionFailed(f"an account is not looked up before: {twin}")
    platform.triggers.fire(trigger, externalAccountId=account["id"])
    status = platform.external_accounts.at_status(account, *WAITING).get("status")
    if status not in WAITING:
        raise PreconditionFailed(f"{trigger} left the account at {status}")

    answer = platform.api.lookup_external_account(account["id"], {"customerId": customer["id"]})

    platform.observe(f"a lookup of an account that is {status} is answered with {answer.status}")
    assert answer.status != UNKNOWN, answer


@requirement("LKP-021")
@pytest.mark.parametrize("name", ["arbitrum_wallet", "arbitrum_wallet.usdt", "tron_wallet"])
def test_a_wallet_is_looked_up_in_the_asset_that_it_holds(platform: Platform, name: str) -> None:
    """A lookup of a wallet lists its own asset, also where its network carries another one."""
    customer = create_sender(platform)
    created = platform.api.create_external_account(platform.external_accounts.body(customer, name))
    if not created.accepted:
        raise ResourceMissing(f"there can be no {name}: {created}")
    account = platform.external_accounts.activate(arranged_resource(created))

    answer = platform.api.lookup_external_account(account["id"], {"customerId": customer["id"]})

    if not answer.accepted:
        raise ResourceMissing(f"a wallet is not looked up: {answer}")
    codes = [code_of(entry.get("currency")) for entry in supported_currencies(answer.body)]
    assert account["currency"] in codes, answer


@requirement("LKP-005")
def test_the_rate_of_a_currency_of_great_worth_is_above_0(platform: Platform) -> None:
    """A lookup of an account in BTC has a rate, however little one unit of the sender's buys."""
    customer = create_sender(platform)
    created = with_known_values(
        platform,
        platform.api.create_external_account(
            platform.external_accounts.body(customer, "lightning")
        ),
    )
    if not created.accepted:
        raise ResourceMissing(f"accounts in BTC are not registered: {created}")
    account = platform.external_accounts.activate(arranged_resource(created))

    answer = platform.api.lookup_external_account(
        account["id"],
        {"customerId": customer["id"], "sendingCurrency": platform.profile.currency},
    )

    if not answer.accepted:
        raise ResourceMissing(f"accounts in BTC are not looked up: {answer}")
    rates = [entry.get("estimatedExchangeRate") for entry in supported_currencies(answer.body)]
    assert all(isinstance(rate, int | float) and rate > 0 for rate in rates), answer


@requirement("LKP-037")
def test_an_outdated_counterparty_cannot_be_asked(platform: Platform) -> None:
    """A lookup at an outdated counterparty is refused with 412 or 424, each with its own code.

    A conforming service may report that its version is rejected, or that no version is shared. A
    quote may be refused too, and the judge holds that to its code.
    """
    source = platform.internal_accounts.account()
    customer = source.owner
    account = platform.external_accounts.account(customer)
    sender = {"customerId": customer["id"]}
    twin = platform.api.lookup_external_account(account["id"], sender)
    platform.triggers.fire("counterparty.outdated", externalAccountId=account["id"])

    platform.api.create_quote(platform.quotes.body(source, account))
    refusal = platform.api.lookup_external_account(account["id"], {"customerId": customer["id"]})

    statuses = {"UNSUPPORTED_UMA_VERSION": 412, "NO_COMPATIBLE_UMA_VERSION": 424}
    expect_code(refusal, statuses, twin=twin)


@requirement("LKP-038")
def test_a_counterparty_with_an_issue_cannot_be_asked(platform: Platform) -> None:
    """A lookup at a counterparty that is down has 400 with LOOKUP_REQUEST_FAILED, or 424."""
    customer, account, twin = look_up(platform)
    platform.triggers.fire("counterparty.down", externalAccountId=account["id"])

    refusal = platform.api.lookup_external_account(account["id"], {"customerId": customer["id"]})

    if refusal.code == "LOOKUP_REQUEST_FAILED":
        refusal.refused(400, twin=twin)
    else:
        refusal.refused(424, twin=twin)


@requirement(
    "LKP-040",
    "LKP-020",
    "LKP-021",
    "LKP-022",
    "LKP-028",
    "LKP-044",
    "LKP-045",
    "LKP-046",
    "LKP-047",
    "LKP-805",
    "LKP-806",
)
def test_the_receiver_of_each_corridor_can_be_looked_up(platform: Platform, check: Check) -> None:
    """A lookup with the corridor's sending currency names that, the account and its currency.

    Without a sending currency it names the same one for each account. No two accounts share the id
    of a lookup, and a currency looks the same in each.
    """
    senders: dict[str, Resource] = {}
    accounts: dict[tuple[str, str], Json] = {}
    lookup_ids: dict[tuple[str, str], object] = {}
    seen_currencies: list[object] = []
    looked_up: list[tuple[Json, Json]] = []

    for corridor in platform.profile.resources.corridors:
        # Who does not transact in a currency may be unable to send it.
        if corridor.sending not in senders:
            senders[corridor.sending] = create_sender(platform, corridor.sending)
        customer = senders[corridor.sending]
        ends = corridor.sending, corridor.account
        account = accounts[ends] = platform.external_accounts.account(customer, corridor.account)
        answer = platform.api.lookup_external_account(
            account["id"], {"customerId": customer["id"], "sendingCurrency": corridor.sending}
        )

        with check("LKP-040"):
            answer.expect_accepted()
            assert code_of(answer.body.get("sendingCurrency")) == corridor.sending
        lookup = arranged_body(answer)
        lookup_ids[ends] = lookup.get("lookupId")
        entries = [entry.get("currency") for entry in supported_currencies(lookup)]
        seen_currencies += [lookup.get("sendingCurrency"), *entries]
        with check("LKP-020"):
            assert lookup.get("accountId") == account["id"]
        with check("LKP-021"):
            codes = [code_of(entry.get("currency")) for entry in supported_currencies(lookup)]
            assert account["currency"] in codes
        looked_up.append((account, lookup))
        with check("LKP-022"):
            for entry in supported_currencies(lookup):
                assert entry["min"] <= entry["max"]
        with check("LKP-028"):
            expect_sending_bounds_in_order(supported_currencies(lookup))
        if corridor.sending == corridor.receiving:
            with check("LKP-046"):
                rate = supported_currency(lookup, corridor.sending)["estimatedExchangeRate"]
                assert 1 / MAX_SPREAD < rate < MAX_SPREAD, lookup
    expect_own_currency_alone(check, looked_up)
    with check("LKP-047"):
        unlike = unlike_looks(seen_currencies)
        assert not unlike, unlike
    with check("LKP-045"):
        if len(lookup_ids) < 2:
            raise ResourceMissing("resources.corridors of the profile lead to one account alone")
        assert len(set(lookup_ids.values())) == len(lookup_ids), lookup_ids
    with check("LKP-044"):
        first = platform.profile.resources.corridors[0].sending
        own = [account for (sending, _), account in accounts.items() if sending == first]
        expect_one_default(platform, senders[first], own)


def expect_own_currency_alone(check: Check, looked_up: Sequence[tuple[Json, Json]]) -> None:
    """Assert that the lookup of each account in one currency lists that and no other one.

    Args:
        check: decides a requirement.
        looked_up: accounts, each with its lookup.
    """
    __tracebackhide__ = True
    for requirement_id, is_of_kind in OF_ONE_CURRENCY.items():
        with check(requirement_id):
            chosen = [
                (account, lookup)
                for account, lookup in looked_up
                if is_of_kind(str(value_at(account, "accountInfo.accountType")))
            ]
            if not chosen:
                raise ResourceMissing("resources.corridors of the profile lead to no such account")
            for account, lookup in chosen:
                codes = {code_of(entry.get("currency")) for entry in supported_currencies(lookup)}
                assert codes <= {account["currency"]}, lookup


def expect_one_default(platform: Platform, customer: Json, accounts: Iterable[Json]) -> None:
    """Assert that lookups of accounts in several currencies have one default to send.

    Raises:
        ResourceMissing: there are not two such lookups.
    """
    __tracebackhide__ = True
    by_currency = {account["currency"]: account["id"] for account in accounts}
    answers = [
        platform.api.lookup_external_account(account, {"customerId": customer["id"]})
        for account in list(by_currency.values())[:3]
    ]
    defaults = [answer.body.get("sendingCurrency") for answer in answers if answer.accepted]
    if len(defaults) < 2:
        raise ResourceMissing("what a customer sends by default is converted to one currency")
    assert len({code_of(default) for default in defaults}) == 1, defaults


@requirement("LKP-041", "LKP-042", "LKP-043")
def test_a_quote_follows_a_lookup(platform: Platform, check: Check) -> None:
    """A lookup leaves the account unchanged, and quotes are created with and without its id.

    The profile names the member of a quote that takes the id.
    """
    source = platform.internal_accounts.account()
    customer = source.owner
    account = platform.external_accounts.account(customer)
    before = arranged_resource(platform.api.get_external_account(account["id"]))

    lookup = arranged_body(
        platform.api.lookup_external_account(account["id"], {"customerId": customer["id"]})
    )

    body = platform.quotes.body(source, account)
    with check("LKP-043"):
        after = arranged_resource(platform.api.get_external_account(account["id"]))
        assert {name: after.get(name) for name in MEMBERS} == {
            name: before.get(name) for name in MEMBERS
        }
    with check("LKP-041"):
        answer = platform.api.create_quote(body)
        answer.expect_accepted()
    with check("LKP-042"):
        member = platform.profile.bindings.quote_lookup
        if member is None:
            raise ResourceMissing("bindings.quote_lookup of the profile names no member")
        answer = platform.api.create_quote({**body, member: lookup["lookupId"]})
        answer.expect_accepted()
