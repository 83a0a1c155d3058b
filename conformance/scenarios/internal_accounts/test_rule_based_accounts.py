"""Rule-based accounts: who gets one, what it is, what is refused, and what a key stands for.

Each account mints a number that nothing takes back, so that ``irreversible.account_numbers`` of the
profile has to permit it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import httpx
import pytest

from conformance.exchange.answer import Answer
from conformance.platform.given.rule_based_accounts import CURRENCY, RULE_BASED, numbers
from conformance.platform.platform import Platform
from conformance.platform.resource import (
    Resource,
    arranged_body,
    arranged_resource,
    require_member,
    unknown_id,
)
from conformance.platform.waiting import at_once
from conformance.scenarios.kit.faults import Fault, having, without
from conformance.scenarios.kit.marks import Check, requirement
from conformance.testdata.examples import ABSENT
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing

CREATED = 201
REPEATED = 200

AT_ONCE = 4
LABEL = "Rent from tenants"
NOBODY = ("CUSTOMER_NOT_FOUND", "USER_NOT_FOUND", "REFERENCE_NOT_FOUND", "NOT_FOUND")
"""Codes that say that a customer does not exist; which one is for a body is not said."""

ANONYMOUS = httpx.Auth()


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
    """It is empty, in US dollars, and says how to pay into it; a label need not be sent."""
    home = platform.rule_based.holder_account()

    answer = platform.rule_based.create(platform.rule_based.body(home))

    with check("RBA-023"):
        assert answer.accepted, answer
    with check("RBA-001"):
        assert answer.status == CREATED, answer
    account = arranged_resource(answer)
    with check("RBA-004"):
        assert require_member(account, "customerId") == home["customerId"]
    with check("RBA-006"):
        assert account["balance"]["amount"] == 0
    with check("RBA-007"):
        assert require_member(account, "totalBalance")["amount"] == 0
    with check("RBA-009"):
        assert not account.get("label")
    with check("RBA-011"):
        assert numbers(account), account.get("fundingPaymentInstructions")
    with check("RBA-012"):
        assert routing_numbers(account), account.get("fundingPaymentInstructions")


@requirement("RBA-008", "RBA-024")
def test_a_label_is_kept(platform: Platform, check: Check) -> None:
    """It is the platform's to choose."""
    account = platform.rule_based.account(label=LABEL)
    body = platform.rule_based.body(platform.rule_based.holder_account(), label=LABEL)

    answered = arranged_resource(platform.rule_based.create(body))

    with check("RBA-008"):
        assert require_member(answered, "label") == LABEL
    with check("RBA-024"):
        assert require_member(platform.internal_accounts.read(account), "label") == LABEL


@requirement("RBA-016", "RBA-017", "RBA-018", "RBA-021", "RBA-025", "RBA-013")
def test_a_rule_based_account_is_listed_beside_the_others(platform: Platform, check: Check) -> None:
    """It has a number of its own, and the other accounts of the holder stay as they are."""
    home = platform.rule_based.holder_account()
    holder = home.owner
    before = platform.internal_accounts.of_customer(holder)
    balance = platform.internal_accounts.balance(home)

    created = arranged_resource(platform.rule_based.create(platform.rule_based.body(home)))
    account = {**created, "customerId": home["customerId"]}

    shown = platform.until(lambda: platform.rule_based.as_listed(account), bool)
    with check("RBA-016"):
        assert shown is not None, f"{account['id']} is not listed for {holder['id']}"
    with check("RBA-017"):
        assert require_member(shown or {}, "type") == RULE_BASED
    with check("RBA-018"):
        require_member(shown or {}, "fundingPaymentInstructions")
        assert set(numbers(shown or {})) == set(numbers(created))
    with check("RBA-021"):
        after = {listed["id"] for listed in platform.internal_accounts.of_customer(holder)}
        assert {listed["id"] for listed in before} <= after
    with check("RBA-025"):
        assert platform.internal_accounts.balance(home) == balance
    with check("RBA-013"):
        others = {number for listed in before for number in numbers(listed)}
        if not others:
            raise ResourceMissing("no other account of the holder is funded by a number")
        assert not others & set(numbers(created)), f"a number of {others} was given again"


@requirement("RBA-014", "RBA-022")
def test_a_holder_may_have_several_numbers(platform: Platform, check: Check) -> None:
    """Each logical request makes one."""
    home = platform.rule_based.holder_account()
    body = platform.rule_based.body(home)

    first = arranged_resource(platform.rule_based.create(body))
    answer = platform.rule_based.create(body)

    if not answer.accepted:
        raise ResourceMissing(f"a holder gets no second rule-based account: {answer}")
    with check("RBA-022"):
        assert answer.body["id"] != first["id"]
    with check("RBA-014"):
        assert not set(numbers(answer.body)) & set(numbers(first)), numbers(first)


@requirement("RBA-015", "RBA-019")
def test_holders_share_no_number(platform: Platform, check: Check) -> None:
    """Nor does either see the other's account."""
    one, other = platform.rule_based.account(), platform.rule_based.account()

    with check("RBA-015"):
        assert not set(numbers(one)) & set(numbers(other)), numbers(one)
    with check("RBA-019"):
        listed = platform.internal_accounts.of_customer(other.owner)
        assert one["id"] not in {account["id"] for account in listed}


@requirement("RBA-020")
def test_a_rule_based_account_is_not_the_platforms(platform: Platform) -> None:
    """Its holder is a customer."""
    account = platform.rule_based.account()

    listed = platform.internal_accounts.of_platform()

    assert account["id"] not in {other["id"] for other in listed}


# --- What is refused ------------------------------------------------------------------------


REFUSED_TYPES: Mapping[str, str] = {
    "INTERNAL_FIAT": "RBA-030",
    "INTERNAL_CRYPTO": "RBA-031",
    "EMBEDDED_WALLET": "RBA-032",
    "CONFORMANCE": "RBA-033",
}
"""The types that nobody can create, and one that does not exist."""


@requirement(*REFUSED_TYPES.values(), "RBA-039")
def test_no_other_type_can_be_created(platform: Platform, check: Check) -> None:
    """The same request with RULE_BASED is accepted."""
    home = platform.rule_based.holder_account()
    holder = home.owner
    body = platform.rule_based.body(home)
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
    "fault",
    [
        pytest.param(without("type"), marks=requirement("RBA-034"), id="no-type"),
        pytest.param(without("sweepRule"), marks=requirement("RBA-035"), id="no-rule"),
        pytest.param(having("sweepRule", None), marks=requirement("RBA-036"), id="rule-of-null"),
        pytest.param(having("sweepRule", "daily"), marks=requirement("RBA-037"), id="rule-of-text"),
        pytest.param(having("sweepRule", []), marks=requirement("RBA-038"), id="rule-of-list"),
    ],
)
def test_a_type_and_a_rule_are_needed(platform: Platform, fault: Fault) -> None:
    """Nothing else makes it a rule-based account."""
    body = platform.rule_based.body(platform.rule_based.holder_account())

    refusal = platform.rule_based.create(fault(body), valid=False)

    refusal.refused(twin=platform.rule_based.create(body))


@requirement("RBA-040", "RBA-041", "RBA-042", "RBA-043")
def test_a_rule_based_account_is_in_us_dollars(platform: Platform, check: Check) -> None:
    """The holder has accounts in the other currencies too, where the target offers them."""
    offered = {corridor.sending for corridor in platform.profile.resources.corridors}
    wanted = {platform.profile.currency, CURRENCY} | offered & {"EUR", "USDC"}
    home = platform.rule_based.holder_account(currencies=sorted(wanted))
    payee = platform.rule_based.sweep_destination(home)

    def create(currency: str | None) -> Answer:
        body = platform.rule_based.body(home, payee, currency=currency)
        return platform.rule_based.create(body)

    euros, coins, unheard, unsaid = map(
        create, ("EUR", "USDC", platform.profile.bindings.unsupported_currency, None)
    )
    dollars = create(CURRENCY)

    with check("RBA-040"):
        euros.refused(twin=dollars)
    with check("RBA-041"):
        coins.refused(twin=dollars)
    with check("RBA-042"):
        unheard.refused(twin=dollars)
    with check("RBA-043"):
        unsaid.refused(twin=dollars)


@requirement("RBA-044", "RBA-045")
def test_the_platform_gets_none_of_its_own(platform: Platform, check: Check) -> None:
    """So that a request without a customer is refused."""
    home = platform.rule_based.holder_account()
    payee = platform.rule_based.sweep_destination(home)
    before = {account["id"] for account in platform.internal_accounts.of_platform()}

    refusal = platform.rule_based.create(
        platform.rule_based.body(home, payee, customer=None), valid=False
    )
    made = [
        other for other in platform.internal_accounts.of_platform() if other["id"] not in before
    ]

    twin = platform.rule_based.create(platform.rule_based.body(home, payee))
    with check("RBA-044"):
        refusal.refused(twin=twin)
    with check("RBA-045"):
        assert RULE_BASED not in {account.get("type") for account in made}


@requirement("RBA-046", "RBA-047")
def test_the_customer_has_to_exist(platform: Platform, check: Check) -> None:
    """The id is one of its form."""
    home = platform.rule_based.holder_account()
    payee = platform.rule_based.sweep_destination(home)
    nobody = unknown_id(home["customerId"])

    refusal = platform.rule_based.create(platform.rule_based.body(home, payee, customer=nobody))

    twin = platform.rule_based.create(platform.rule_based.body(home, payee))
    with check("RBA-046"):
        refusal.refused(404, 400, twin=twin)
    with check("RBA-047"):
        if refusal.status != 404:
            raise ResourceMissing(f"the customer is a wrong value of the body here: {refusal}")
        refusal.refused(*NOBODY, twin=twin)


@requirement("RBA-048")
def test_a_business_gets_none(platform: Platform) -> None:
    """Although it holds an account in US dollars."""
    business = platform.approved.business(currencies=sorted({platform.profile.currency, CURRENCY}))
    account = platform.internal_accounts.account(CURRENCY, amount=0, customer=business)

    refusal = platform.rule_based.create(platform.rule_based.body(account))

    refusal.refused(
        twin=platform.rule_based.create(
            platform.rule_based.body(platform.rule_based.holder_account())
        )
    )


@requirement("RBA-049", "RBA-054")
def test_the_holder_has_to_be_approved(platform: Platform, check: Check) -> None:
    """Until then no account of the holder is verified."""
    applicant = platform.verification.reviews.unsubmitted(
        currencies=sorted({platform.profile.currency, CURRENCY})
    )
    setting_up = platform.api.create_external_account(
        platform.external_accounts.body(applicant, "usd_account")
    )
    if not setting_up.accepted:
        raise ResourceMissing(f"accounts are set up after the approval alone: {setting_up}")
    holder = {"id": None, "customerId": applicant["id"]}
    body = platform.rule_based.body(holder, arranged_resource(setting_up))

    early = platform.rule_based.create(body)
    listed = platform.rule_based.of_holder(holder)
    platform.internal_accounts.account(
        CURRENCY, amount=0, customer=platform.approved.approve(applicant)
    )
    late = platform.rule_based.create(body)

    with check("RBA-049"):
        early.refused(twin=late)
    with check("RBA-054"):
        assert listed == []


@requirement("RBA-050")
def test_the_account_to_land_in_has_to_be_provisioned(platform: Platform) -> None:
    """Once it is, the same request is accepted."""
    pending = platform.internal_accounts.awaited()
    if pending["balance"]["currency"]["code"] != CURRENCY:
        raise ResourceMissing(f"the account that is awaited is not in {CURRENCY}")
    body = platform.rule_based.body(pending)

    early = platform.rule_based.create(body)
    platform.triggers.fire("internal_account.provide", accountId=pending["id"])
    platform.internal_accounts.at_status(pending, "ACTIVE")
    late = platform.rule_based.create(body)

    early.refused(twin=late)


@requirement("RBA-051")
def test_the_account_to_land_in_has_to_be_open(platform: Platform) -> None:
    """There is nowhere for the funds of a sweep that cannot complete."""
    home, other = platform.rule_based.holder_account(), platform.rule_based.holder_account()
    body = platform.rule_based.body(home)
    platform.triggers.fire("internal_account.close", accountId=home["id"])
    platform.internal_accounts.at_status(home, "CLOSED")

    refusal = platform.rule_based.create(body)

    refusal.refused(twin=platform.rule_based.create(platform.rule_based.body(other)))


@requirement("RBA-052", "RBA-053")
def test_the_platform_has_to_be_enabled(platform: Platform, check: Check) -> None:
    """It is so again afterwards, and other tests do not notice."""
    body = platform.rule_based.body(platform.rule_based.holder_account())

    with platform.rule_based.without_permission():
        refusal = platform.until(
            lambda: platform.rule_based.create_without_permission(body),
            lambda answer: not answer.accepted,
        )
    twin = platform.until(lambda: platform.rule_based.create(body), lambda answer: answer.accepted)

    with check("RBA-052"):
        refusal.refused(twin=twin)
    with check("RBA-053"):
        assert twin.accepted, twin


@requirement("RBA-074", "RBA-075")
def test_credentials_are_needed(platform: Platform, check: Check) -> None:
    """Without them nothing is minted."""
    home = platform.rule_based.holder_account()
    body = platform.rule_based.body(home)

    refusal = platform.rule_based.create(body, auth=ANONYMOUS)
    listed = platform.rule_based.of_holder(home)

    with check("RBA-074"):
        refusal.refused(401, twin=platform.rule_based.create(body))
    with check("RBA-075"):
        assert listed == []


# --- Keys -----------------------------------------------------------------------------------


@requirement("RBA-060", "RBA-061", "RBA-076")
def test_a_key_is_needed(platform: Platform, check: Check) -> None:
    """A header without text says as little as none."""
    home = platform.rule_based.holder_account()
    body = platform.rule_based.body(home)

    missing = platform.rule_based.create(body, key=ABSENT, valid=False)
    listed = platform.rule_based.of_holder(home)
    empty = platform.rule_based.create(body, key="", valid=False)

    twin = platform.rule_based.create(body)
    with check("RBA-060"):
        missing.refused(twin=twin)
    with check("RBA-061"):
        empty.refused(twin=twin)
    with check("RBA-076"):
        assert listed == []


@requirement("RBA-062", "RBA-063", "RBA-064", "RBA-065")
def test_a_request_may_be_sent_again(platform: Platform, check: Check) -> None:
    """Its key brings the account of the first time, and no other."""
    home = platform.rule_based.holder_account()
    body = platform.rule_based.body(home)
    key = platform.samples.idempotency_key(body)

    first = arranged_resource(platform.rule_based.create(body, key=key))
    again = platform.rule_based.create(body, key=key)

    with check("RBA-062"):
        assert again.status == REPEATED, again
    with check("RBA-063"):
        assert arranged_resource(again)["id"] == first["id"]
    with check("RBA-064"):
        assert numbers(arranged_resource(again)) == numbers(first)
    with check("RBA-065"):
        listed = platform.until(lambda: platform.rule_based.of_holder(home), bool)
        assert {account["id"] for account in listed} == {first["id"]}


@requirement("RBA-066", "RBA-067", "RBA-068")
def test_a_key_stands_for_one_account(platform: Platform, check: Check) -> None:
    """With another customer it is refused, and the account of the first one stays the key's."""
    home, other = platform.rule_based.holder_account(), platform.rule_based.holder_account()
    body, other_body = platform.rule_based.body(home), platform.rule_based.body(other)
    key = platform.samples.idempotency_key(body)

    first = platform.rule_based.create(body, key=key)
    refusal = platform.rule_based.create(other_body, key=key)
    listed = platform.rule_based.of_holder(other)
    again = platform.rule_based.create(body, key=key)

    with check("RBA-066"):
        refusal.refused(409, twin=first)
    with check("RBA-067"):
        assert listed == []
    with check("RBA-068"):
        account = arranged_resource(first)
        assert again.accepted, again
        assert arranged_resource(again)["id"] == account["id"]


@requirement("RBA-069")
def test_a_key_stands_for_one_rule(platform: Platform) -> None:
    """An account that sweeps to another place is materially different."""
    home = platform.rule_based.holder_account()
    platform.rule_based.require_choice_of_destination("other account")
    body, other = platform.rule_based.body(home), platform.rule_based.body(home)
    key = platform.samples.idempotency_key(body)

    first = platform.rule_based.create(body, key=key)
    refusal = platform.rule_based.create(other, key=key)

    refusal.refused(409, twin=first)


@requirement("RBA-070", "RBA-071", "RBA-072")
def test_a_request_sent_several_times_at_once_makes_one_account(
    platform: Platform, check: Check
) -> None:
    """Those that come second get the account of the first, or are told to wait."""
    home = platform.rule_based.holder_account()
    body = platform.rule_based.body(home)
    create = partial(platform.rule_based.create, body, key=platform.samples.idempotency_key(body))

    answers = at_once(*[create] * AT_ONCE)

    accepted = [answer for answer in answers if answer.accepted]
    if not accepted:
        raise PreconditionFailed(f"none of {AT_ONCE} requests at once is accepted: {answers[0]}")
    with check("RBA-070"):
        assert len({arranged_resource(answer)["id"] for answer in accepted}) == 1, accepted
    with check("RBA-071"):
        assert len(platform.until(lambda: platform.rule_based.of_holder(home), bool)) == 1
    with check("RBA-072"):
        assert [answer.status for answer in accepted].count(CREATED) <= 1, accepted


@requirement("RBA-073")
def test_accounts_made_at_once_have_different_numbers(platform: Platform) -> None:
    """Each request has a key of its own."""
    homes = [platform.rule_based.holder_account() for _ in range(AT_ONCE)]
    bodies = [platform.rule_based.body(home) for home in homes]
    keys = [platform.samples.idempotency_key(body) for body in bodies]

    answers = at_once(
        *(
            partial(platform.rule_based.create, body, key=key)
            for body, key in zip(bodies, keys, strict=True)
        )
    )

    minted = [number for answer in answers for number in set(numbers(arranged_resource(answer)))]
    assert len(minted) == len(set(minted)), minted


# --- What is left open ----------------------------------------------------------------------


def test_what_another_label_with_the_same_key_brings_is_recorded(platform: Platform) -> None:
    """Whether it makes a materially different account is not said."""
    home = platform.rule_based.holder_account()
    payee = platform.rule_based.sweep_destination(home)
    one, other = (platform.rule_based.body(home, payee, label=text) for text in (LABEL, "Wages"))
    key = platform.samples.idempotency_key(one)

    arranged_body(platform.rule_based.create(one, key=key))
    answer = platform.rule_based.create(other, key=key)

    brings = "the same account" if answer.accepted else f"a refusal with {answer.status}"
    platform.observe(f"a key of POST /internal-accounts with another label brings {brings}")


def test_what_an_unknown_destination_brings_is_recorded(platform: Platform) -> None:
    """The shape of a rule is not shown, nor what of it is looked at."""
    home = platform.rule_based.holder_account()
    nowhere = {"id": unknown_id(platform.rule_based.sweep_destination(home)["id"])}

    answer = platform.rule_based.create(platform.rule_based.body(home, nowhere))

    platform.observe(f"a sweepRule to an unknown account is answered with {answer.status}")


def routing_numbers(account: Resource) -> list[str]:
    """Return the routing numbers that stand beside account numbers by which it is paid into."""
    infos = [entry["accountOrWalletInfo"] for entry in account["fundingPaymentInstructions"]]
    return [
        str(i["routingNumber"]) for i in infos if i.get("accountNumber") and i.get("routingNumber")
    ]
