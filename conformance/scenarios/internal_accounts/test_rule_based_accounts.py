"""Rule-based accounts: who gets one, what it shows, what is refused, and what a key does.

Each account gets a number that is never taken back, so ``irreversible.account_numbers`` of the
profile has to permit it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import pytest

from conformance.exchange.answer import Answer
from conformance.exchange.cuts import Cut
from conformance.platform.given.rule_based_accounts import CURRENCY, RULE_BASED, numbers
from conformance.platform.platform import Platform
from conformance.platform.resource import (
    Body,
    Json,
    Resource,
    arranged_body,
    arranged_resource,
    require_member,
    unknown_id,
)
from conformance.platform.waiting import at_once
from conformance.scenarios.internal_accounts.unmade import expect_unmade
from conformance.scenarios.kit.cases import case
from conformance.scenarios.kit.faults import Fault, having, without
from conformance.scenarios.kit.fees import corridors_not_from
from conformance.scenarios.kit.idempotency import key_of_marks
from conformance.scenarios.kit.lost_answers import at_each_cut, lose_answer
from conformance.scenarios.kit.marks import Check, requirement
from conformance.scenarios.kit.refusals import NOT_FOUND
from conformance.testdata.examples import ABSENT
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing

CREATED = 201
REPEATED = 200

REQUESTS_AT_ONCE = 4
LABEL = "Rent from tenants"
NUMBER = "0042"
"""A label that is no number, although it has digits alone."""

UNKNOWN_CUSTOMER_CODES = (
    "CUSTOMER_NOT_FOUND",
    "USER_NOT_FOUND",
    "REFERENCE_NOT_FOUND",
    "NOT_FOUND",
)
"""Codes for a customer that does not exist; the specification allows each of them for a body."""


# --- What is created ------------------------------------------------------------------------


@requirement(
    "RBA-001",
    "RBA-002",
    "RBA-003",
    "RBA-004",
    "RBA-005",
    "RBA-006",
    "RBA-007",
    "RBA-009",
    "RBA-010",
    "RBA-011",
    "RBA-012",
    "RBA-023",
)
def test_an_individual_gets_a_further_account_number(platform: Platform, check: Check) -> None:
    """A new account has no funds, no label, and an account number with a routing number.

    One that is PENDING, and shows no number yet, has it once it is ACTIVE.
    """
    holder_account = platform.rule_based.holder_account()

    answer = platform.rule_based.create(platform.rule_based.body(holder_account))

    with check("RBA-023"):
        answer.expect_accepted()
    with check("RBA-001"):
        assert answer.status == CREATED, answer
    account = arranged_resource(answer)
    with check("RBA-004"):
        assert require_member(account, "customerId") == holder_account["customerId"]
    with check("RBA-006"):
        assert account["balance"]["amount"] == 0
    with check("RBA-007"):
        assert require_member(account, "totalBalance")["amount"] == 0
    with check("RBA-009"):
        assert account.get("label") is None
    account = platform.rule_based.provided(account, holder_account)
    with check("RBA-010"):
        assert account.get("fundingPaymentInstructions"), account
    with check("RBA-011"):
        assert numbers(account), account.get("fundingPaymentInstructions")
    with check("RBA-012"):
        assert routing_numbers(account), account.get("fundingPaymentInstructions")


@requirement("RBA-008", "RBA-009", "RBA-024")
def test_a_label_is_kept(platform: Platform, check: Check) -> None:
    """The label that was sent is shown in the answer and in the list, also one of digits.

    A second account of the holder, which is sent without one, has none.
    """
    for sent in (LABEL, NUMBER):
        holder_account = platform.rule_based.holder_account()
        body = platform.rule_based.body(holder_account, label=sent)

        created = arranged_resource(platform.rule_based.create(body))

        owned = created.but(customerId=holder_account["customerId"])
        found = platform.until(partial(platform.rule_based.as_listed, owned), bool)
        listed: Json = found or {}
        with check("RBA-008"):
            if listed.get("label") is None or "label" not in created:
                require_member(created, "label")
            assert created["label"] == sent
        with check("RBA-024"):
            if created.get("label") is None or "label" not in listed:
                require_member(listed, "label")
            assert listed["label"] == sent
    answer = platform.rule_based.create(platform.rule_based.body(holder_account))
    with check("RBA-009"):
        if not answer.accepted:
            raise ResourceMissing(f"a holder gets no second account: {answer}")
        unlabelled = arranged_resource(answer)
        owned = unlabelled.but(customerId=holder_account["customerId"])
        for account in (unlabelled, platform.internal_accounts.read(owned)):
            assert account.get("label") is None, account


@requirement("RBA-016", "RBA-017", "RBA-018", "RBA-021", "RBA-025", "RBA-013", "RBA-026", "RBA-009")
@requirement("RBA-004", "RBA-805")
def test_a_rule_based_account_is_listed_beside_the_others(platform: Platform, check: Check) -> None:
    """The account has a number of its own; the other accounts and the balance are unchanged."""
    holder_account = platform.rule_based.holder_account()
    holder = holder_account.owner
    before = platform.internal_accounts.of_customer(holder)
    balance = platform.internal_accounts.balance(holder_account)

    created = arranged_resource(
        platform.rule_based.create(platform.rule_based.body(holder_account))
    )
    account = {**created, "customerId": holder_account["customerId"]}

    listed_account = platform.until(lambda: platform.rule_based.as_listed(account), bool)
    with check("RBA-016"):
        assert listed_account is not None, f"{account['id']} is not listed for {holder['id']}"
    with check("RBA-017"):
        assert require_member(listed_account or {}, "type") == RULE_BASED
    with check("RBA-004"):
        owner_id = require_member(listed_account or {}, "customerId")
        assert owner_id == holder_account["customerId"], listed_account
    with check("RBA-026"):
        if listed_account is None:
            raise PreconditionFailed(f"{account['id']} is not listed")
        assert isinstance(listed_account.get("sweepRule"), Mapping), listed_account
    with check("RBA-805"):
        views: tuple[Json, ...] = (created, listed_account or {})
        sweep_rules = [view["sweepRule"] for view in views if "sweepRule" in view]
        if len(sweep_rules) < len(views) or sweep_rules == [None, None]:
            raise ResourceMissing(f"{account['id']} is not both answered and listed with a rule")
        assert None not in sweep_rules, sweep_rules
    with check("RBA-009"):
        assert listed_account is None or listed_account.get("label") is None, listed_account
    with check("RBA-018"):
        require_member(listed_account or {}, "fundingPaymentInstructions")
        accounts: tuple[Mapping[str, object], ...] = (created, listed_account or {})
        told, shown = (
            set(numbers(platform.rule_based.provided(one, holder_account))) for one in accounts
        )
        assert shown == told
    with check("RBA-021"):
        after = {item["id"] for item in platform.internal_accounts.of_customer(holder)}
        assert {item["id"] for item in before} <= after
    with check("RBA-025"):
        assert platform.internal_accounts.balance(holder_account) == balance
    with check("RBA-013"):
        others = {number for item in before for number in numbers(item)}
        if not others:
            raise ResourceMissing("no other account of the holder is funded by a number")
        assert not others & set(numbers(created)), f"a number of {others} was given again"


@requirement("RBA-014", "RBA-022")
def test_a_holder_may_have_several_numbers(platform: Platform, check: Check) -> None:
    """Two requests with different keys create accounts with different ids and numbers."""
    holder_account = platform.rule_based.holder_account()
    body = platform.rule_based.body(holder_account)

    first = arranged_resource(platform.rule_based.create(body))
    answer = platform.rule_based.create(body)

    if not answer.accepted:
        raise ResourceMissing(f"a holder gets no second rule-based account: {answer}")
    with check("RBA-022"):
        assert answer.body["id"] != first["id"]
    with check("RBA-014"):
        known, new = (
            set(numbers(platform.rule_based.provided(one, holder_account)))
            for one in (first, arranged_resource(answer))
        )
        assert not known & new, known


@requirement("RBA-015", "RBA-019")
def test_holders_share_no_number(platform: Platform, check: Check) -> None:
    """The accounts of two holders have different numbers, and neither list has the other's."""
    one, other = platform.rule_based.account(), platform.rule_based.account()

    with check("RBA-015"):
        assert not set(numbers(one)) & set(numbers(other)), numbers(one)
    with check("RBA-019"):
        accounts = platform.internal_accounts.of_customer(other.owner)
        assert one["id"] not in {account["id"] for account in accounts}


@requirement("RBA-020")
def test_a_rule_based_account_is_not_the_platforms(platform: Platform) -> None:
    """The list of the platform's internal accounts does not have the account."""
    account = platform.rule_based.account()

    accounts = platform.internal_accounts.of_platform()

    assert account["id"] not in {other["id"] for other in accounts}


# --- What is refused ------------------------------------------------------------------------


REFUSED_TYPES: Mapping[str, str] = {
    "INTERNAL_FIAT": "RBA-030",
    "INTERNAL_CRYPTO": "RBA-031",
    "EMBEDDED_WALLET": "RBA-032",
    "CONFORMANCE": "RBA-033",
}
"""The types that cannot be created, and one that does not exist."""


@requirement(*REFUSED_TYPES.values(), "RBA-039")
def test_no_other_type_can_be_created(platform: Platform, check: Check) -> None:
    """Other types are refused and create no account; RULE_BASED is accepted."""
    holder_account = platform.rule_based.holder_account()
    holder = holder_account.owner
    body = platform.rule_based.body(holder_account)
    before = {account["id"] for account in platform.internal_accounts.of_customer(holder)}

    refusals = {
        name: platform.rule_based.create({**body, "type": name}, valid=False)
        for name in REFUSED_TYPES
    }
    after = {account["id"] for account in platform.internal_accounts.of_customer(holder)}

    twin = platform.rule_based.create(body)
    for name, refusal in refusals.items():
        with check(REFUSED_TYPES[name]):
            refusal.refused(twin=twin)
    with check("RBA-039"):
        assert after <= before, f"{after - before} were made all the same"


@pytest.mark.parametrize(
    ("requirement_id", "fault"),
    [
        case((requirement_id, "RBA-055"), name, requirement_id, fault)
        for requirement_id, name, fault in (
            ("RBA-034", "no-type", without("type")),
            ("RBA-035", "no-rule", without("sweepRule")),
            ("RBA-036", "rule-of-null", having("sweepRule", None)),
            ("RBA-037", "rule-of-text", having("sweepRule", "daily")),
            ("RBA-038", "rule-of-list", having("sweepRule", [])),
        )
    ],
)
def test_a_type_and_a_rule_are_needed(
    platform: Platform, check: Check, requirement_id: str, fault: Fault
) -> None:
    """A body without ``type``, or without an object as ``sweepRule``, is refused."""
    holder_account = platform.rule_based.holder_account()
    body = platform.rule_based.body(holder_account)

    refusal = platform.rule_based.create(fault(body), valid=False)

    expect_unmade(platform, check, holder_account, refusal)
    with check(requirement_id):
        refusal.refused(twin=platform.rule_based.create(body))


@requirement("RBA-040", "RBA-041", "RBA-042", "RBA-043", "RBA-055")
def test_a_rule_based_account_is_in_us_dollars(platform: Platform, check: Check) -> None:
    """Accounts in EUR, in USDC, in an unsupported currency and in none are refused, and not made.

    The holder has internal and external accounts in EUR and USDC, where corridors are within these.
    """
    sending_currencies = {corridor.sending for corridor in platform.profile.resources.corridors}
    currencies = {platform.profile.currency, CURRENCY} | sending_currencies & {"EUR", "USDC"}
    holder_account = platform.rule_based.holder_account(currencies=sorted(currencies))
    external_account = platform.rule_based.sweep_destination(holder_account)

    owner = holder_account.owner
    ends = dict.fromkeys((CURRENCY, None), (holder_account, external_account))
    for corridor in platform.profile.resources.corridors:
        if corridor.sending == corridor.receiving and corridor.sending in ("EUR", "USDC"):
            ends[corridor.sending] = (
                platform.internal_accounts.account(corridor.sending, amount=0, customer=owner),
                platform.external_accounts.account(owner, corridor.account),
            )

    def create(currency: str | None) -> Answer:
        account, destination = ends.get(currency, ends[CURRENCY])
        body = platform.rule_based.body(account, destination, currency=currency)
        return platform.rule_based.create(body)

    refusals = [
        create(currency)
        for currency in ("EUR", "USDC", platform.profile.bindings.unsupported_currency, None)
    ]
    eur_refusal, usdc_refusal, unsupported_refusal, missing_refusal = refusals
    # The rule of these leads to an account in dollars, so that the currency alone is wrong.
    eur_to_dollars, usdc_to_dollars = (
        platform.rule_based.create(platform.rule_based.body(*ends[CURRENCY], currency=currency))
        for currency in ("EUR", "USDC")
    )
    refusals += [eur_to_dollars, usdc_to_dollars]
    expect_unmade(platform, check, holder_account, *refusals)
    twin = create(CURRENCY)

    with check("RBA-040"):
        eur_refusal.refused(twin=twin)
        eur_to_dollars.refused(twin=twin)
    with check("RBA-041"):
        usdc_refusal.refused(twin=twin)
        usdc_to_dollars.refused(twin=twin)
    with check("RBA-042"):
        unsupported_refusal.refused(twin=twin)
    with check("RBA-043"):
        missing_refusal.refused(twin=twin)


@requirement("RBA-044", "RBA-045")
def test_the_platform_gets_none_of_its_own(platform: Platform, check: Check) -> None:
    """A request without a customer is refused, and the platform has no new RULE_BASED account."""
    holder_account = platform.rule_based.holder_account()
    external_account = platform.rule_based.sweep_destination(holder_account)
    before = {account["id"] for account in platform.internal_accounts.of_platform()}

    refusal = platform.rule_based.create(
        platform.rule_based.body(holder_account, external_account, customer=None), valid=False
    )
    new_accounts = [
        other for other in platform.internal_accounts.of_platform() if other["id"] not in before
    ]

    twin = platform.rule_based.create(platform.rule_based.body(holder_account, external_account))
    with check("RBA-044"):
        refusal.refused(twin=twin)
    with check("RBA-045"):
        assert RULE_BASED not in {account.get("type") for account in new_accounts}


@requirement("RBA-046", "RBA-047")
def test_the_customer_has_to_exist(platform: Platform, check: Check) -> None:
    """An unknown customer id is refused, and with 404 the code is for a missing customer."""
    holder_account = platform.rule_based.holder_account()
    external_account = platform.rule_based.sweep_destination(holder_account)
    unknown = unknown_id(holder_account["customerId"])

    refusal = platform.rule_based.create(
        platform.rule_based.body(holder_account, external_account, customer=unknown)
    )

    twin = platform.rule_based.create(platform.rule_based.body(holder_account, external_account))
    with check("RBA-046"):
        refusal.refused(*NOT_FOUND, twin=twin)
    with check("RBA-047"):
        if refusal.status != 404:
            raise ResourceMissing(f"the customer is a wrong value of the body here: {refusal}")
        refusal.refused(*UNKNOWN_CUSTOMER_CODES, twin=twin)


@requirement("RBA-048", "RBA-055")
def test_a_business_gets_none(platform: Platform, check: Check) -> None:
    """A request for a business with an account in USD is refused."""
    business = platform.approved.business(currencies=sorted({platform.profile.currency, CURRENCY}))
    account = platform.internal_accounts.account(CURRENCY, amount=0, customer=business)

    refusal = platform.rule_based.create(platform.rule_based.body(account))

    expect_unmade(platform, check, account, refusal)
    twin_body = platform.rule_based.body(platform.rule_based.holder_account())
    with check("RBA-048"):
        refusal.refused(twin=platform.rule_based.create(twin_body))


@requirement("RBA-049", "RBA-054")
def test_the_holder_has_to_be_approved(platform: Platform, check: Check) -> None:
    """The request is refused, and creates no account, until the individual is approved."""
    applicant = platform.verification.reviews.unsubmitted(
        business=False, currencies=sorted({platform.profile.currency, CURRENCY})
    )
    registration = platform.api.create_external_account(
        platform.external_accounts.body(applicant, "usd_account")
    )
    if not registration.accepted:
        raise ResourceMissing(f"accounts are set up after the approval alone: {registration}")
    platform.rule_based.require_external_destination()
    holder = {"id": None, "customerId": applicant["id"]}
    body = platform.rule_based.body(holder, arranged_resource(registration))

    refusal = platform.rule_based.create(body)
    accounts = platform.rule_based.of_holder(holder)
    platform.internal_accounts.account(
        CURRENCY, amount=0, customer=platform.approved.approve(applicant)
    )
    twin = platform.rule_based.create(body)

    with check("RBA-049"):
        refusal.refused(twin=twin)
    with check("RBA-054"):
        assert accounts == []


@requirement("RBA-050")
def test_the_account_to_land_in_has_to_be_provisioned(platform: Platform) -> None:
    """The request is refused until the holder's internal account is provisioned."""
    pending = platform.internal_accounts.awaited()
    if pending["balance"]["currency"]["code"] != CURRENCY:
        raise ResourceMissing(f"the account that is awaited is not in {CURRENCY}")
    body = platform.rule_based.body(pending)

    refusal = platform.rule_based.create(body)
    platform.triggers.fire("internal_account.provide", accountId=pending["id"])
    platform.internal_accounts.at_status(pending, "ACTIVE")
    twin = platform.rule_based.create(body)

    refusal.refused(twin=twin)


@requirement("RBA-051", "RBA-055")
@pytest.mark.parametrize("elsewhere", [False, True], ids=["alone", "with-another-currency"])
def test_the_account_to_land_in_has_to_be_open(
    platform: Platform, check: Check, *, elsewhere: bool
) -> None:
    """The request is refused if the holder's internal account is CLOSED.

    So it is if the holder has an open account in another currency.
    """
    holder_account, other = holder_accounts(platform, elsewhere=elsewhere)
    body = platform.rule_based.body(holder_account)
    platform.triggers.fire("internal_account.close", accountId=holder_account["id"])
    platform.internal_accounts.at_status(holder_account, "CLOSED")

    refusal = platform.rule_based.create(body)

    expect_unmade(platform, check, holder_account, refusal)
    with check("RBA-051"):
        refusal.refused(twin=platform.rule_based.create(platform.rule_based.body(other)))


def holder_accounts(platform: Platform, *, elsewhere: bool) -> list[Resource]:
    """Return the accounts of two new holders, who may have another one in another currency."""
    if not elsewhere:
        return [platform.rule_based.holder_account() for _ in range(2)]
    further = corridors_not_from(CURRENCY, platform)[0].sending
    currencies = sorted({platform.profile.currency, CURRENCY, further})
    accounts = [platform.rule_based.holder_account(currencies=currencies) for _ in range(2)]
    for account in accounts:
        platform.internal_accounts.account(further, amount=0, customer=account.owner)
    return accounts


@requirement("RBA-016", "RBA-052", "RBA-053", "RBA-055")
def test_the_platform_has_to_be_enabled(platform: Platform, check: Check) -> None:
    """The request is refused without the platform's permission, and accepted after it returns.

    What is refused is not made, and what was made before is listed still. Who has such an account
    gets no other one either.
    """
    holder_account, earlier_holder_account = (
        platform.rule_based.holder_account() for _ in range(2)
    )
    body = platform.rule_based.body(holder_account)
    earlier = platform.rule_based.account(earlier_holder_account)
    further_body = platform.rule_based.body(earlier_holder_account)

    tried: list[Answer] = []

    def create() -> Answer:
        tried.append(platform.rule_based.create_without_permission(body))
        return tried[-1]

    with platform.rule_based.without_permission():
        refusal = platform.until(
            create,
            lambda answer: not answer.accepted,
        )
        refused_at_once = len(tried) == 1
        further_refusal = platform.rule_based.create_without_permission(further_body)
        listed = platform.rule_based.as_listed(earlier)
    with check("RBA-016"):
        assert listed is not None, f"{earlier['id']} is not listed without the permission"
    if refused_at_once:
        expect_unmade(platform, check, holder_account, refusal)
    else:
        with check("RBA-055"):
            raise ResourceMissing("the permission was taken a while after, and accounts were made")
    twin = platform.until(lambda: platform.rule_based.create(body), lambda answer: answer.accepted)

    further_twin = platform.rule_based.create(further_body)
    with check("RBA-052"):
        refusal.refused(twin=twin)
        if further_twin.accepted:
            further_refusal.refused(twin=further_twin)
    with check("RBA-053"):
        twin.expect_accepted()


# --- Keys -----------------------------------------------------------------------------------


@requirement("RBA-060", "RBA-061", "RBA-076")
def test_a_key_is_needed(platform: Platform, check: Check) -> None:
    """A request without a key, or with an empty one, is refused and creates no account."""
    holder_account = platform.rule_based.holder_account()
    body = platform.rule_based.body(holder_account)

    missing_key_refusal = platform.rule_based.create(body, key=ABSENT, valid=False)
    accounts = platform.rule_based.of_holder(holder_account)
    empty_key_refusal = platform.rule_based.create(body, key="", valid=False)

    twin = platform.rule_based.create(body)
    with check("RBA-060"):
        missing_key_refusal.refused(twin=twin)
    with check("RBA-061"):
        empty_key_refusal.refused(twin=twin)
    with check("RBA-076"):
        assert accounts == []


@requirement("RBA-062", "RBA-063", "RBA-064", "RBA-065", "RBA-078")
def test_a_request_may_be_sent_again(platform: Platform, check: Check) -> None:
    """The same request is answered with 200 and the first account, and creates no other.

    That holds also after another account was made with another key, once it was sent again before,
    and if the members of the body are in another order.
    """
    holder_account = platform.rule_based.holder_account()
    body = labelled_body(platform, holder_account)
    key = platform.samples.idempotency_key(body)

    first = arranged_resource(platform.rule_based.create(body, key=key))
    other = platform.rule_based.create(body)
    again, once_more = (platform.rule_based.create(body, key=key) for _ in range(2))

    known = {first["id"], arranged_resource(other)["id"] if other.accepted else first["id"]}
    with check("RBA-062"):
        assert [again.status, once_more.status] == [REPEATED] * 2, (again, once_more)
    with check("RBA-063"):
        account = arranged_resource(again)
        assert account["id"] == arranged_resource(once_more)["id"] == first["id"]
        if first.get("label") is not None and "label" in account:
            assert account["label"] is not None, account
        for member in ("type", "customerId", "label", "sweepRule", "createdAt"):
            values = (first.get(member), account.get(member))
            assert None in values or values[0] == values[1], f"{member} was {values}"
    with check("RBA-064"):
        told, repeated = (
            numbers(platform.rule_based.provided(one, holder_account))
            for one in (first, arranged_resource(again))
        )
        assert repeated == told
    with check("RBA-065"):
        accounts = platform.until(
            lambda: platform.rule_based.of_holder(holder_account),
            lambda listed: len(listed) >= len(known),
        )
        assert {account["id"] for account in accounts} == known
    with check("RBA-078"):
        reordered = platform.rule_based.create(dict(reversed(body.items())), key=key)
        assert reordered.status == REPEATED, reordered
        assert reordered.body["id"] == first["id"], reordered


@at_each_cut("RBA-850", "RBA-851")
def test_a_request_whose_answer_was_lost_is_sent_again(
    platform: Platform, check: Check, cut: Cut
) -> None:
    """It is answered with 201 or 200, and the holder has the one account of the answer."""
    holder_account = platform.rule_based.holder_account()
    body = platform.rule_based.body(holder_account)
    create = partial(platform.rule_based.create, body, key=platform.samples.idempotency_key(body))

    lose_answer(create, cut)
    # The first request may still be under way.
    answer = platform.until(create, lambda answer: answer.accepted)

    with check("RBA-850"):
        assert answer.status in (CREATED, REPEATED), answer
    with check("RBA-851"):
        name = arranged_resource(answer)["id"]
        accounts = platform.until(lambda: platform.rule_based.of_holder(holder_account), bool)
        assert [account["id"] for account in accounts] == [name]
    done = "created" if answer.status == REPEATED else "not created"
    platform.observe(f"an account with a key is {done} where the line breaks {cut}")


@requirement("RBA-066", "RBA-067", "RBA-068")
def test_a_key_stands_for_one_account(platform: Platform, check: Check) -> None:
    """Using the key for another customer is refused with 409; it still names the first account."""
    holder_account, other = (
        platform.rule_based.holder_account(),
        platform.rule_based.holder_account(),
    )
    body, other_body = platform.rule_based.body(holder_account), platform.rule_based.body(other)
    key = platform.samples.idempotency_key(body)

    first = platform.rule_based.create(body, key=key)
    refusal = platform.rule_based.create(other_body, key=key)
    accounts = platform.rule_based.of_holder(other)
    again = platform.rule_based.create(body, key=key)

    with check("RBA-066"):
        refusal.refused(409, twin=first)
    with check("RBA-067"):
        assert accounts == []
    with check("RBA-068"):
        account = arranged_resource(first)
        again.expect_accepted()
        assert arranged_resource(again)["id"] == account["id"]


@requirement("RBA-067", "RBA-079")
def test_a_key_stands_for_one_customer(platform: Platform, check: Check) -> None:
    """The same key for another customer is refused, although the rest of the body is the same.

    Where that customer may have such an account, which a key of its own shows, it is with 409.
    """
    holder_account, other = (
        platform.rule_based.holder_account(),
        platform.rule_based.holder_account(),
    )
    destination = platform.rule_based.sweep_destination(holder_account)
    body, other_body = (
        platform.rule_based.body(holder_account, destination, customer=account["customerId"])
        for account in (holder_account, other)
    )
    key = platform.samples.idempotency_key(body)

    first = platform.rule_based.create(body, key=key)
    refusal = platform.rule_based.create(other_body, key=key)
    accounts = platform.rule_based.of_holder(other)
    with_own_key = platform.rule_based.create(other_body)

    # A rule may go to accounts of its holder alone, and then the destination is wrong as well.
    statuses = (409,) if with_own_key.accepted else (*NOT_FOUND, 409)
    with check("RBA-079"):
        refusal.refused(*statuses, twin=first)
    with check("RBA-067"):
        assert accounts == []


@requirement("RBA-080", "RBA-081", "RBA-082")
def test_a_key_stands_for_one_type_and_currency(platform: Platform, check: Check) -> None:
    """The same key with another type, another currency or no customer is refused."""
    holder_account = platform.rule_based.holder_account()
    destination = platform.rule_based.sweep_destination(holder_account)
    body, in_euros, without_customer = (
        platform.rule_based.body(holder_account, destination, **changed)
        for changed in ({}, {"currency": "EUR"}, {"customer": None})
    )
    create = partial(platform.rule_based.create, key=platform.samples.idempotency_key(body))

    twin = create(body)
    of_another_type = create({**body, "type": "INTERNAL_FIAT"}, valid=False)
    of_another_currency = create(in_euros)
    of_nobody = create(without_customer, valid=False)

    for name, refusal in (
        ("RBA-080", of_another_type),
        ("RBA-081", of_another_currency),
        ("RBA-082", of_nobody),
    ):
        with check(name):
            refusal.refused(twin=twin)


@requirement("RBA-069", "RBA-077")
def test_a_key_stands_for_one_rule(platform: Platform, check: Check) -> None:
    """The same key with another ``sweepRule`` is refused with 409, and makes no second account.

    Where it is refused otherwise, a key of its own shows that it is not for its destination.
    """
    holder_account = platform.rule_based.holder_account()
    body, other = (
        platform.rule_based.body(holder_account, destination)
        for destination in platform.rule_based.two_destinations(holder_account)
    )
    key = platform.samples.idempotency_key(body)

    first = platform.rule_based.create(body, key=key)
    refusal = platform.rule_based.create(other, key=key)
    accounts = platform.until(lambda: platform.rule_based.of_holder(holder_account), bool)

    with check("RBA-069"):
        if refusal.status not in (200, 201, 409) and not platform.rule_based.create(other).accepted:
            raise ResourceMissing(f"the rule is refused with a key of its own too: {refusal}")
        refusal.refused(409, twin=first)
    with check("RBA-077"):
        name = arranged_resource(first)["id"]
        assert {account["id"] for account in accounts} == {name}


@requirement("RBA-070", "RBA-071", "RBA-072")
def test_a_request_sent_several_times_at_once_makes_one_account(
    platform: Platform, check: Check
) -> None:
    """All accepted answers have the same account, and at most one has the status 201."""
    holder_account = platform.rule_based.holder_account()
    body = platform.rule_based.body(holder_account)
    create = partial(platform.rule_based.create, body, key=platform.samples.idempotency_key(body))

    answers = at_once(*[create] * REQUESTS_AT_ONCE)

    accepted = [answer for answer in answers if answer.accepted]
    if not accepted:
        raise PreconditionFailed(
            f"none of {REQUESTS_AT_ONCE} requests at once is accepted: {answers[0]}"
        )
    with check("RBA-070"):
        assert len({arranged_resource(answer)["id"] for answer in accepted}) == 1, accepted
    with check("RBA-071"):
        assert len(platform.until(lambda: platform.rule_based.of_holder(holder_account), bool)) == 1
    with check("RBA-072"):
        assert [answer.status for answer in accepted].count(CREATED) <= 1, accepted


@requirement("RBA-073")
def test_accounts_made_at_once_have_different_numbers(platform: Platform) -> None:
    """Four simultaneous requests for different holders get different account numbers."""
    holder_accounts = [platform.rule_based.holder_account() for _ in range(REQUESTS_AT_ONCE)]
    bodies = [platform.rule_based.body(holder_account) for holder_account in holder_accounts]
    keys = [platform.samples.idempotency_key(body) for body in bodies]

    answers = at_once(
        *(
            partial(platform.rule_based.create, body, key=key)
            for body, key in zip(bodies, keys, strict=True)
        )
    )

    accounts = [
        platform.rule_based.provided(arranged_resource(answer), holder_account)
        for answer, holder_account in zip(answers, holder_accounts, strict=True)
    ]
    account_numbers = [number for account in accounts for number in set(numbers(account))]
    assert len(account_numbers) == len(set(account_numbers)), account_numbers


@requirement("RBA-083")
def test_a_key_has_any_characters(platform: Platform) -> None:
    """A key as a URL with an e-mail address is accepted, as one of letters and digits is."""
    body = platform.rule_based.body(platform.rule_based.holder_account())

    answer = platform.rule_based.create(body, key=key_of_marks(platform, body))

    if not answer.accepted:
        arranged_body(platform.rule_based.create(body))
    answer.expect_accepted()


# --- What is left open ----------------------------------------------------------------------


def test_what_another_label_with_the_same_key_brings_is_recorded(platform: Platform) -> None:
    """The specification does not say whether a label is a material difference: it is recorded."""
    holder_account = platform.rule_based.holder_account()
    external_account = platform.rule_based.sweep_destination(holder_account)
    one, other = (
        platform.rule_based.body(holder_account, external_account, label=text)
        for text in (LABEL, "Wages")
    )
    key = platform.samples.idempotency_key(one)

    arranged_body(platform.rule_based.create(one, key=key))
    answer = platform.rule_based.create(other, key=key)

    brings = "the same account" if answer.accepted else f"a refusal with {answer.status}"
    platform.observe(f"a key of POST /internal-accounts with another label brings {brings}")


def test_what_an_unknown_destination_brings_is_recorded(platform: Platform) -> None:
    """The specification does not say how a sweepRule is checked, so the answer is recorded."""
    holder_account = platform.rule_based.holder_account()
    unknown_account = {
        "id": unknown_id(platform.rule_based.sweep_destination(holder_account)["id"])
    }

    answer = platform.rule_based.create(platform.rule_based.body(holder_account, unknown_account))

    platform.observe(f"a sweepRule to an unknown account is answered with {answer.status}")


def labelled_body(platform: Platform, holder_account: Resource) -> Body:
    """Return a body with a label, or without one where the profile has no place for it."""
    try:
        return platform.rule_based.body(holder_account, label=LABEL)
    except ResourceMissing:
        return platform.rule_based.body(holder_account)


def routing_numbers(account: Resource) -> list[str]:
    """Return the routing numbers of the funding instructions that have an account number too."""
    infos = [entry["accountOrWalletInfo"] for entry in account["fundingPaymentInstructions"]]
    return [
        str(i["routingNumber"]) for i in infos if i.get("accountNumber") and i.get("routingNumber")
    ]
