"""Rule-based accounts: who gets one, what it is, what is refused, and what a key stands for.

Each account mints a number that nothing takes back, so that ``irreversible.account_numbers`` of the
profile has to permit it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import httpx
import pytest

from conformance.client.actor import Json, given, resource, unknown
from conformance.client.examples import ABSENT
from conformance.client.http import Answer
from conformance.client.platform import Platform
from conformance.client.rule_based import CURRENCY, RULE_BASED, numbers
from conformance.scenarios.faults import Fault, having, without
from conformance.scenarios.marks import Check, requirement
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing

CREATED = 201
REPEATED = 200
LONGEST = 255
"""How many characters a label and an Idempotency-Key may have."""

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
    home = platform.home()

    answer = platform.create_internal_account(platform.rule_based_body(home))

    with check("RBA-023"):
        assert answer.accepted, answer
    with check("RBA-001"):
        assert answer.status == CREATED, answer
    account = resource(answer)
    with check("RBA-004"):
        assert given(account, "customerId") == home["customerId"]
    with check("RBA-006"):
        assert account["balance"]["amount"] == 0
    with check("RBA-007"):
        assert given(account, "totalBalance")["amount"] == 0
    with check("RBA-009"):
        assert not account.get("label")
    with check("RBA-011"):
        assert numbers(account), account.get("fundingPaymentInstructions")
    with check("RBA-012"):
        assert routing_numbers(account), account.get("fundingPaymentInstructions")


@requirement("RBA-008", "RBA-024")
def test_a_label_is_kept(platform: Platform, check: Check) -> None:
    """It is the platform's to choose."""
    account = platform.rule_based_account(label=LABEL)
    body = platform.rule_based_body(platform.home(), label=LABEL)

    answered = resource(platform.create_internal_account(body))

    with check("RBA-008"):
        assert given(answered, "label") == LABEL
    with check("RBA-024"):
        assert given(platform.account_now(account), "label") == LABEL


@requirement("RBA-016", "RBA-017", "RBA-018", "RBA-021", "RBA-025", "RBA-013")
def test_a_rule_based_account_is_listed_beside_the_others(platform: Platform, check: Check) -> None:
    """It has a number of its own, and the other accounts of the holder stay as they are."""
    home = platform.home()
    holder = {"id": home["customerId"]}
    before = platform.internal_accounts(holder)
    balance = platform.balance_of(home)

    created = resource(platform.create_internal_account(platform.rule_based_body(home)))
    account = {**created, "customerId": home["customerId"]}

    shown = platform.until(lambda: platform.as_listed(account), bool)
    with check("RBA-016"):
        assert shown is not None, f"{account['id']} is not listed for {holder['id']}"
    with check("RBA-017"):
        assert given(shown or {}, "type") == RULE_BASED
    with check("RBA-018"):
        given(shown or {}, "fundingPaymentInstructions")
        assert set(numbers(shown or {})) == set(numbers(created))
    with check("RBA-021"):
        after = {listed["id"] for listed in platform.internal_accounts(holder)}
        assert {listed["id"] for listed in before} <= after
    with check("RBA-025"):
        assert platform.balance_of(home) == balance
    with check("RBA-013"):
        others = {number for listed in before for number in numbers(listed)}
        if not others:
            raise ResourceMissing("no other account of the holder is funded by a number")
        assert not others & set(numbers(created)), f"a number of {others} was given again"


@requirement("RBA-014", "RBA-022")
def test_a_holder_may_have_several_numbers(platform: Platform, check: Check) -> None:
    """Each logical request makes one."""
    home = platform.home()
    body = platform.rule_based_body(home)

    first = resource(platform.create_internal_account(body))
    answer = platform.create_internal_account(body)

    if not answer.accepted:
        raise ResourceMissing(f"a holder gets no second rule-based account: {answer}")
    with check("RBA-022"):
        assert answer.body["id"] != first["id"]
    with check("RBA-014"):
        assert not set(numbers(answer.body)) & set(numbers(first)), numbers(first)


@requirement("RBA-015", "RBA-019")
def test_holders_share_no_number(platform: Platform, check: Check) -> None:
    """Nor does either see the other's account."""
    one, other = platform.rule_based_account(), platform.rule_based_account()

    with check("RBA-015"):
        assert not set(numbers(one)) & set(numbers(other)), numbers(one)
    with check("RBA-019"):
        listed = platform.internal_accounts({"id": other["customerId"]})
        assert one["id"] not in {account["id"] for account in listed}


@requirement("RBA-020")
def test_a_rule_based_account_is_not_the_platforms(platform: Platform) -> None:
    """Its holder is a customer."""
    account = platform.rule_based_account()

    listed = platform.platform_accounts()

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
    home = platform.home()
    holder = {"id": home["customerId"]}
    body = platform.rule_based_body(home)
    before = {account["id"] for account in platform.internal_accounts(holder)}

    refusals = {
        name: platform.create_internal_account({**body, "type": name}, valid=False)
        for name in REFUSED_TYPES
    }
    after = {account["id"] for account in platform.internal_accounts(holder)}

    twin = platform.create_internal_account(body)
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
    body = platform.rule_based_body(platform.home())

    refusal = platform.create_internal_account(fault(body), valid=False)

    refusal.refused(twin=platform.create_internal_account(body))


@requirement("RBA-040", "RBA-041", "RBA-042", "RBA-043")
def test_a_rule_based_account_is_in_us_dollars(platform: Platform, check: Check) -> None:
    """The holder has accounts in the other currencies too, where the target offers them."""
    offered = {corridor.sending for corridor in platform.profile.resources.corridors}
    wanted = {platform.currency, CURRENCY} | offered & {"EUR", "USDC"}
    home = platform.home(currencies=sorted(wanted))
    payee = platform.payee(home)

    def create(currency: str | None) -> Answer:
        body = platform.rule_based_body(home, payee, currency=currency)
        return platform.create_internal_account(body)

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
    home = platform.home()
    payee = platform.payee(home)
    before = {account["id"] for account in platform.platform_accounts()}

    refusal = platform.create_internal_account(
        platform.rule_based_body(home, payee, customer=None), valid=False
    )
    made = [other for other in platform.platform_accounts() if other["id"] not in before]

    twin = platform.create_internal_account(platform.rule_based_body(home, payee))
    with check("RBA-044"):
        refusal.refused(twin=twin)
    with check("RBA-045"):
        assert RULE_BASED not in {account.get("type") for account in made}


@requirement("RBA-046", "RBA-047")
def test_the_customer_has_to_exist(platform: Platform, check: Check) -> None:
    """The id is one of its form."""
    home = platform.home()
    payee = platform.payee(home)
    nobody = unknown(home["customerId"])

    refusal = platform.create_internal_account(
        platform.rule_based_body(home, payee, customer=nobody)
    )

    twin = platform.create_internal_account(platform.rule_based_body(home, payee))
    with check("RBA-046"):
        refusal.refused(404, 400, twin=twin)
    with check("RBA-047"):
        if refusal.status != 404:
            raise ResourceMissing(f"the customer is a wrong value of the body here: {refusal}")
        refusal.refused(*NOBODY, twin=twin)


@requirement("RBA-048")
def test_a_business_gets_none(platform: Platform) -> None:
    """Although it holds an account in US dollars."""
    business = platform.business(currencies=sorted({platform.currency, CURRENCY}))
    account = platform.account(CURRENCY, amount=0, customer=business)

    refusal = platform.create_internal_account(platform.rule_based_body(account))

    refusal.refused(
        twin=platform.create_internal_account(platform.rule_based_body(platform.home()))
    )


@requirement("RBA-049", "RBA-054")
def test_the_holder_has_to_be_approved(platform: Platform, check: Check) -> None:
    """Until then no account of the holder is verified."""
    applicant = platform.unsubmitted(currencies=sorted({platform.currency, CURRENCY}))
    setting_up = platform.create_external_account(
        platform.destination_body(applicant, "usd_account")
    )
    if not setting_up.accepted:
        raise ResourceMissing(f"accounts are set up after the approval alone: {setting_up}")
    holder = {"id": None, "customerId": applicant["id"]}
    body = platform.rule_based_body(holder, resource(setting_up))

    early = platform.create_internal_account(body)
    listed = platform.rule_based_accounts(holder)
    platform.account(CURRENCY, amount=0, customer=platform.approved(applicant))
    late = platform.create_internal_account(body)

    with check("RBA-049"):
        early.refused(twin=late)
    with check("RBA-054"):
        assert listed == []


@requirement("RBA-050")
def test_the_account_to_land_in_has_to_be_provisioned(platform: Platform) -> None:
    """Once it is, the same request is accepted."""
    pending = platform.awaited_account()
    if pending["balance"]["currency"]["code"] != CURRENCY:
        raise ResourceMissing(f"the account that is awaited is not in {CURRENCY}")
    body = platform.rule_based_body(pending)

    early = platform.create_internal_account(body)
    platform.cause("internal_account.provide", accountId=pending["id"])
    platform.account_in(pending, "ACTIVE")
    late = platform.create_internal_account(body)

    early.refused(twin=late)


@requirement("RBA-051")
def test_the_account_to_land_in_has_to_be_open(platform: Platform) -> None:
    """There is nowhere for the funds of a sweep that cannot complete."""
    home, other = platform.home(), platform.home()
    body = platform.rule_based_body(home)
    platform.cause("internal_account.close", accountId=home["id"])
    platform.account_in(home, "CLOSED")

    refusal = platform.create_internal_account(body)

    refusal.refused(twin=platform.create_internal_account(platform.rule_based_body(other)))


@requirement("RBA-052", "RBA-053")
def test_the_platform_has_to_be_enabled(platform: Platform, check: Check) -> None:
    """It is so again afterwards, and other tests do not notice."""
    body = platform.rule_based_body(platform.home())

    with platform.without_permission():
        refusal = platform.until(
            lambda: platform.create_without_permission(body), lambda answer: not answer.accepted
        )
    twin = platform.until(
        lambda: platform.create_internal_account(body), lambda answer: answer.accepted
    )

    with check("RBA-052"):
        refusal.refused(twin=twin)
    with check("RBA-053"):
        assert twin.accepted, twin


@requirement("RBA-074", "RBA-075")
def test_credentials_are_needed(platform: Platform, check: Check) -> None:
    """Without them nothing is minted."""
    home = platform.home()
    body = platform.rule_based_body(home)

    refusal = platform.create_internal_account(body, auth=ANONYMOUS)
    listed = platform.rule_based_accounts(home)

    with check("RBA-074"):
        refusal.refused(401, twin=platform.create_internal_account(body))
    with check("RBA-075"):
        assert listed == []


# --- Keys -----------------------------------------------------------------------------------


@requirement("RBA-060", "RBA-061", "RBA-076")
def test_a_key_is_needed(platform: Platform, check: Check) -> None:
    """A header without text says as little as none."""
    home = platform.home()
    body = platform.rule_based_body(home)

    missing = platform.create_internal_account(body, key=ABSENT, valid=False)
    listed = platform.rule_based_accounts(home)
    empty = platform.create_internal_account(body, key="", valid=False)

    twin = platform.create_internal_account(body)
    with check("RBA-060"):
        missing.refused(twin=twin)
    with check("RBA-061"):
        empty.refused(twin=twin)
    with check("RBA-076"):
        assert listed == []


@requirement("LIM-052", "LIM-053", "LIM-055")
def test_a_key_has_at_most_255_characters(platform: Platform, check: Check) -> None:
    """255 pass, and stand for their account; 256 do not."""
    body = platform.rule_based_body(platform.home())
    key = platform.new_key(body).ljust(LONGEST, "k")

    at_limit = platform.create_internal_account(body, key=key)
    past_limit = platform.create_internal_account(body, key=f"{key}k", valid=False)
    again = platform.create_internal_account(body, key=key)

    with check("LIM-052"):
        assert at_limit.accepted, at_limit
    with check("LIM-053"):
        past_limit.refused(twin=at_limit)
    with check("LIM-055"):
        first = resource(at_limit)
        assert again.accepted, again
        assert resource(again)["id"] == first["id"]


@requirement("LIM-050", "LIM-051", "LIM-054")
def test_a_label_has_at_most_255_characters(platform: Platform, check: Check) -> None:
    """255 pass, and are answered whole; 256 do not."""
    home = platform.home()
    payee = platform.payee(home)
    label = platform.samples.reference().ljust(LONGEST, "l")

    at_limit = platform.create_internal_account(platform.rule_based_body(home, payee, label=label))
    past_limit = platform.create_internal_account(
        platform.rule_based_body(home, payee, label=f"{label}l"), valid=False
    )

    with check("LIM-050"):
        assert at_limit.accepted, at_limit
    with check("LIM-051"):
        past_limit.refused(twin=at_limit)
    with check("LIM-054"):
        assert given(resource(at_limit), "label") == label


@requirement("RBA-062", "RBA-063", "RBA-064", "RBA-065")
def test_a_request_may_be_sent_again(platform: Platform, check: Check) -> None:
    """Its key brings the account of the first time, and no other."""
    home = platform.home()
    body = platform.rule_based_body(home)
    key = platform.new_key(body)

    first = resource(platform.create_internal_account(body, key=key))
    again = platform.create_internal_account(body, key=key)

    with check("RBA-062"):
        assert again.status == REPEATED, again
    with check("RBA-063"):
        assert resource(again)["id"] == first["id"]
    with check("RBA-064"):
        assert numbers(resource(again)) == numbers(first)
    with check("RBA-065"):
        listed = platform.until(lambda: platform.rule_based_accounts(home), bool)
        assert {account["id"] for account in listed} == {first["id"]}


@requirement("RBA-066", "RBA-067", "RBA-068")
def test_a_key_stands_for_one_account(platform: Platform, check: Check) -> None:
    """With another customer it is refused, and the account of the first one stays the key's."""
    home, other = platform.home(), platform.home()
    body, other_body = platform.rule_based_body(home), platform.rule_based_body(other)
    key = platform.new_key(body)

    first = platform.create_internal_account(body, key=key)
    refusal = platform.create_internal_account(other_body, key=key)
    listed = platform.rule_based_accounts(other)
    again = platform.create_internal_account(body, key=key)

    with check("RBA-066"):
        refusal.refused(409, twin=first)
    with check("RBA-067"):
        assert listed == []
    with check("RBA-068"):
        account = resource(first)
        assert again.accepted, again
        assert resource(again)["id"] == account["id"]


@requirement("RBA-069")
def test_a_key_stands_for_one_rule(platform: Platform) -> None:
    """An account that sweeps to another place is materially different."""
    home = platform.home()
    platform.sweeps_to("other account")
    body, other = platform.rule_based_body(home), platform.rule_based_body(home)
    key = platform.new_key(body)

    first = platform.create_internal_account(body, key=key)
    refusal = platform.create_internal_account(other, key=key)

    refusal.refused(409, twin=first)


@requirement("RBA-070", "RBA-071", "RBA-072")
def test_a_request_sent_several_times_at_once_makes_one_account(
    platform: Platform, check: Check
) -> None:
    """Those that come second get the account of the first, or are told to wait."""
    home = platform.home()
    body = platform.rule_based_body(home)
    create = partial(platform.create_internal_account, body, key=platform.new_key(body))

    answers = platform.at_once(*[create] * AT_ONCE)

    accepted = [answer for answer in answers if answer.accepted]
    if not accepted:
        raise PreconditionFailed(f"none of {AT_ONCE} requests at once is accepted: {answers[0]}")
    with check("RBA-070"):
        assert len({resource(answer)["id"] for answer in accepted}) == 1, accepted
    with check("RBA-071"):
        assert len(platform.until(lambda: platform.rule_based_accounts(home), bool)) == 1
    with check("RBA-072"):
        assert [answer.status for answer in accepted].count(CREATED) <= 1, accepted


@requirement("RBA-073")
def test_accounts_made_at_once_have_different_numbers(platform: Platform) -> None:
    """Each request has a key of its own."""
    homes = [platform.home() for _ in range(AT_ONCE)]
    bodies = [platform.rule_based_body(home) for home in homes]
    keys = [platform.new_key(body) for body in bodies]

    answers = platform.at_once(
        *(
            partial(platform.create_internal_account, body, key=key)
            for body, key in zip(bodies, keys, strict=True)
        )
    )

    minted = [number for answer in answers for number in set(numbers(resource(answer)))]
    assert len(minted) == len(set(minted)), minted


# --- What is left open ----------------------------------------------------------------------


def test_what_another_label_with_the_same_key_brings_is_recorded(platform: Platform) -> None:
    """Whether it makes a materially different account is not said."""
    home = platform.home()
    payee = platform.payee(home)
    one, other = (platform.rule_based_body(home, payee, label=text) for text in (LABEL, "Wages"))
    key = platform.new_key(one)

    platform.arranged(platform.create_internal_account(one, key=key))
    answer = platform.create_internal_account(other, key=key)

    brings = "the same account" if answer.accepted else f"a refusal with {answer.status}"
    platform.observe(f"a key of POST /internal-accounts with another label brings {brings}")


def test_what_an_unknown_destination_brings_is_recorded(platform: Platform) -> None:
    """The shape of a rule is not shown, nor what of it is looked at."""
    home = platform.home()
    nowhere = {"id": unknown(platform.payee(home)["id"])}

    answer = platform.create_internal_account(platform.rule_based_body(home, nowhere))

    platform.observe(f"a sweepRule to an unknown account is answered with {answer.status}")


def routing_numbers(account: Json) -> list[str]:
    """Return the routing numbers that stand beside account numbers by which it is paid into."""
    infos = [entry["accountOrWalletInfo"] for entry in account["fundingPaymentInstructions"]]
    return [
        str(i["routingNumber"]) for i in infos if i.get("accountNumber") and i.get("routingNumber")
    ]
