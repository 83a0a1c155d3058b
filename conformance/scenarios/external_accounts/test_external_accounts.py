"""External accounts: what is shown of them, who sees them in which list, and their deletion."""

from __future__ import annotations

from collections.abc import Sequence
from http import HTTPStatus

import pytest

from conformance.exchange.answer import Answer
from conformance.platform.given.transactions import FAILED
from conformance.platform.platform import Platform
from conformance.platform.resource import (
    Json,
    Resource,
    arranged_body,
    arranged_resource,
    listed_members,
    require_member,
    unknown_id,
)
from conformance.scenarios.kit.faults import Fault, having, without
from conformance.scenarios.kit.marks import Check, requirement
from conformance.scenarios.kit.notation import at
from conformance.scenarios.kit.refusals import REFUSED, last_name, listed, names
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing

GONE = (404, 410)
NAMED_IN_A_BODY = (*REFUSED, 404)
"""How an id in a body may be refused that leads to nothing."""


# --- What is shown --------------------------------------------------------------------------


@requirement("EXT-009", "EXT-010", "EXT-011", "EXT-012", "EXT-014", "EXT-015", "EXT-016", "EXT-017")
def test_an_account_is_shown_as_it_was_sent(platform: Platform, check: Check) -> None:
    """At once and later: whose it is, its currency, its type, and the platform's own id for it."""
    owner = platform.external_accounts.account_holder()
    body = platform.external_accounts.body(owner)

    created = arranged_resource(platform.api.create_external_account(body))
    read = arranged_resource(platform.api.get_external_account(created["id"]))

    for name, member in {"EXT-009": "customerId", "EXT-010": "platformAccountId"}.items():
        with check(name):
            require_member(read, member)
    with check("EXT-011"):
        assert require_member(created, "platformAccountId") == body["platformAccountId"]
    with check("EXT-012"):
        assert require_member(read, "platformAccountId") == body["platformAccountId"]
    with check("EXT-014"):
        assert read.get("customerId") == owner["id"]
    with check("EXT-015"):
        assert read.get("currency") == body["currency"]
    with check("EXT-016"):
        assert at(created, "accountInfo.accountType") == body["accountInfo"]["accountType"]
    with check("EXT-017"):
        assert at(read, "accountInfo.accountType") == body["accountInfo"]["accountType"]


@requirement("EXT-013")
def test_an_account_needs_no_id_of_the_platform(platform: Platform) -> None:
    """It has one of the service."""
    body = without("platformAccountId")(
        platform.external_accounts.body(platform.external_accounts.account_holder())
    )

    created = platform.api.create_external_account(body)

    assert created.accepted, created


@requirement("EXT-018", "EXT-019")
def test_two_accounts_are_told_apart(platform: Platform, check: Check) -> None:
    """By their ids, and each is read as itself."""
    owner = platform.external_accounts.account_holder()
    bodies = [platform.external_accounts.body(owner) for _ in range(2)]

    accounts = [arranged_resource(platform.api.create_external_account(body)) for body in bodies]
    read = [
        arranged_resource(platform.api.get_external_account(account["id"])) for account in accounts
    ]

    with check("EXT-018"):
        assert accounts[0]["id"] != accounts[1]["id"]
    with check("EXT-019"):
        for body, seen in zip(bodies, read, strict=True):
            assert require_member(seen, "platformAccountId") == body["platformAccountId"]


# --- Lists ----------------------------------------------------------------------------------


@requirement("EXT-080", "EXT-081", "EXT-082", "EXT-091", "EXT-092")
def test_a_customer_has_a_list_of_its_own_accounts(platform: Platform, check: Check) -> None:
    """All of them are in it, and none of somebody else."""
    other, owner = (
        platform.external_accounts.account_holder(),
        platform.external_accounts.account_holder(),
    )
    foreign = _created(platform, other)
    own = [_created(platform, owner) for _ in range(2)]

    shown = [platform.external_accounts.as_listed(owner, account) for account in own]
    rows = platform.external_accounts.of_customer(owner)

    with check("EXT-080"):
        assert None not in shown, f"{[account['id'] for account in own]} are not all in {rows}"
    with check("EXT-081"):
        assert {row.get("customerId") for row in rows} <= {owner["id"], None}
    with check("EXT-082"):
        assert foreign["id"] not in _ids(rows)
    found = _found(shown[0], own[0])
    with check("EXT-091"):
        assert found.get("currency") == own[0]["currency"]
    with check("EXT-092"):
        kind = at(found, "accountInfo.accountType")
        assert kind == at(own[0], "accountInfo.accountType")


@requirement("EXT-083")
def test_a_customer_may_have_no_accounts(platform: Platform) -> None:
    """However many there are of others."""
    _created(platform, platform.external_accounts.account_holder())

    assert platform.external_accounts.of_customer(platform.external_accounts.account_holder()) == []


@requirement("EXT-089")
def test_a_customer_who_does_not_exist_has_no_accounts(platform: Platform) -> None:
    """The request may be refused as well."""
    owner = platform.external_accounts.account_holder()
    account = _created(platform, owner)
    _found(platform.external_accounts.as_listed(owner, account), account)

    answer = platform.api.client.call(
        "listCustomerExternalAccounts", query={"customerId": unknown_id(owner["id"])}
    )

    platform.observe(f"the list of an unknown customer is answered with {answer.status}")
    assert not answer.accepted or listed_members(answer.body) == []


@requirement("EXT-090")
def test_all_accounts_are_listed_on_however_many_pages(platform: Platform) -> None:
    """The pages are those of the profile's bindings, if any."""
    owner = platform.external_accounts.account_holder()
    own = [_created(platform, owner) for _ in range(3)]
    _found(platform.external_accounts.as_listed(owner, own[-1]), own[-1])

    rows = platform.external_accounts.of_customer_by_pages(owner, 2)

    assert sorted(_ids(rows)) == sorted(_ids(own))


@requirement("EXT-084", "EXT-085", "EXT-086")
def test_the_platform_has_a_list_of_its_own_accounts(platform: Platform, check: Check) -> None:
    """It does not show those of the customers."""
    owner = platform.external_accounts.account_holder()
    account = _created(platform, owner)
    _found(platform.external_accounts.as_listed(owner, account), account)

    answer = platform.api.client.call("listPlatformExternalAccounts")

    with check("EXT-085"):
        assert answer.accepted, answer
    rows = platform.external_accounts.of_platform()
    with check("EXT-084"):
        assert account["id"] not in _ids(rows)
    with check("EXT-086"):
        # Whatever is there came from somewhere else; the customer's would be a fault as well.
        assert [row for row in rows if row.get("customerId")] == []


@requirement("EXT-087", "EXT-088", "EXT-093", "EXT-121")
def test_an_account_without_a_customer_is_the_platforms(platform: Platform, check: Check) -> None:
    """Where such a request is the way to one, and not refused."""
    owner = platform.external_accounts.account_holder()
    created = platform.api.create_external_account(platform.external_accounts.body(owner))
    mine = arranged_resource(created)

    answer = platform.api.create_external_account(
        without("customerId")(platform.external_accounts.body(owner))
    )

    with check("EXT-121"):
        if not answer.accepted:
            answer.refused(*REFUSED, twin=created)
    if not answer.accepted:
        raise ResourceMissing(f"no account is created without a customer: {answer}")
    account = arranged_resource(answer)
    with check("EXT-088"):
        assert account.get("customerId") in (None, "")
    with check("EXT-087"):
        rows = platform.until(
            platform.external_accounts.of_platform, lambda seen: account["id"] in _ids(seen)
        )
        assert account["id"] in _ids(rows)
    with check("EXT-093"):
        _found(platform.external_accounts.as_listed(owner, mine), mine)
        assert account["id"] not in _ids(platform.external_accounts.of_customer(owner))


# --- Deletion -------------------------------------------------------------------------------


@requirement("EXT-100", "EXT-101", "EXT-102", "EXT-106", "EXT-107", "EXT-108")
def test_a_deleted_account_is_gone(platform: Platform, check: Check) -> None:
    """From its list and to whoever asks for it; the others stay."""
    owner, other = (
        platform.external_accounts.account_holder(),
        platform.external_accounts.account_holder(),
    )
    account, sibling, foreign = (_created(platform, one) for one in (owner, owner, other))
    _found(platform.external_accounts.as_listed(owner, account), account)
    before = platform.api.get_external_account(account["id"])

    answer = platform.api.delete_external_account(account["id"])

    with check("EXT-100"):
        assert answer.status == HTTPStatus.NO_CONTENT, answer
    arranged_body(answer)
    with check("EXT-101"):
        after = platform.until(
            lambda: platform.api.get_external_account(account["id"]), lambda seen: not seen.accepted
        )
        after.refused(404, twin=before)
    with check("EXT-102"):
        rows = platform.until(
            lambda: platform.external_accounts.of_customer(owner),
            lambda seen: account["id"] not in _ids(seen),
        )
        assert account["id"] not in _ids(rows)
    with check("EXT-106"):
        assert platform.api.get_external_account(sibling["id"]).accepted
    with check("EXT-107"):
        assert platform.api.get_external_account(foreign["id"]).accepted
    with check("EXT-108"):
        customer = {"customerId": owner["id"]}
        twin = platform.api.lookup_external_account(sibling["id"], customer)
        if not twin.accepted:
            raise ResourceMissing(f"the account cannot be looked up: {twin}")
        platform.api.lookup_external_account(account["id"], customer).refused(404, twin=twin)


@requirement("EXT-103")
def test_what_does_not_exist_is_not_deleted(platform: Platform) -> None:
    """The id is one of its form."""
    account = _created(platform, platform.external_accounts.account_holder())

    refusal = platform.api.delete_external_account(unknown_id(account["id"]))

    refusal.refused(404, twin=platform.api.delete_external_account(account["id"]))


@requirement("EXT-104")
def test_an_account_is_deleted_once(platform: Platform) -> None:
    """The second time there is no such account."""
    account = _created(platform, platform.external_accounts.account_holder())
    first = platform.api.delete_external_account(account["id"])

    second = platform.api.delete_external_account(account["id"])

    second.refused(*GONE, twin=first)


@requirement("EXT-105")
def test_a_deleted_account_receives_nothing(platform: Platform) -> None:
    """A quote to it is refused, or comes to nothing."""
    source = platform.internal_accounts.account()
    owner = source.owner
    account, other = (
        platform.external_accounts.account(owner),
        platform.external_accounts.account(owner),
    )
    arranged_body(platform.api.delete_external_account(account["id"]))

    *_, last = platform.quotes.create_and_execute(platform.quotes.body(source, account))

    if last.accepted:
        seen = platform.transactions.at_status(last.body, "COMPLETED", *FAILED)
        assert seen.get("status") != "COMPLETED"
        return
    steps = platform.quotes.create_and_execute(platform.quotes.body(source, other))
    twin = next((step for step in steps if step.operation.id == last.operation.id), steps[-1])
    last.refused(400, 404, 409, 410, 422, twin=twin)


# --- Refusals -------------------------------------------------------------------------------

FAULTS: tuple[tuple[str, str, str, Fault], ...] = (
    ("EXT-122", "no-currency", "currency", without("currency")),
    ("EXT-123", "null-currency", "currency", having("currency", None)),
    ("EXT-124", "currency-as-number", "currency", having("currency", 840)),
    ("EXT-125", "empty-currency", "currency", having("currency", "")),
    ("EXT-126", "no-account-info", "accountInfo", without("accountInfo")),
    ("EXT-127", "null-account-info", "accountInfo", having("accountInfo", None)),
    ("EXT-128", "account-info-as-text", "accountInfo", having("accountInfo", "USD_ACCOUNT")),
    ("EXT-129", "account-info-as-list", "accountInfo", having("accountInfo", ["USD_ACCOUNT"])),
    ("EXT-130", "no-account-type", "accountType", without("accountInfo.accountType")),
    ("EXT-131", "account-type", "accountType", having("accountInfo.accountType", "BURIED_CHEST")),
    ("EXT-132", "null-account-type", "accountType", having("accountInfo.accountType", None)),
    ("EXT-133", "account-type-as-number", "accountType", having("accountInfo.accountType", 17)),
    ("EXT-134", "empty-account-type", "accountType", having("accountInfo.accountType", "")),
    ("EXT-135", "customer-as-number", "customerId", having("customerId", 17)),
    ("EXT-137", "own-id-as-number", "platformAccountId", having("platformAccountId", 17)),
    ("EXT-139", "empty-account-info", "accountType", having("accountInfo", {})),
)
"""Requirement, name, member and fault of the bodies of new accounts."""


@pytest.mark.parametrize(
    ("rule", "member", "fault"),
    [
        pytest.param(rule, member, fault, marks=requirement(rule, "EXT-140"), id=name)
        for rule, name, member, fault in FAULTS
    ],
)
def test_an_account_with_one_fault_is_refused(
    platform: Platform, check: Check, rule: str, member: str, fault: Fault
) -> None:
    """And the error, if it lists fields, names the one that is wrong."""
    body = platform.external_accounts.body(platform.external_accounts.account_holder())

    refusal = platform.api.create_external_account(fault(body), valid=False)

    twin = platform.api.create_external_account(body)
    with check(rule):
        refusal.refused(*NAMED_IN_A_BODY if member == "customerId" else REFUSED, twin=twin)
    with check("EXT-140"):
        if refusal.accepted or not twin.accepted:
            raise ResourceMissing("it was not refused for its fault")
        # What is missing from an object may be told of the object.
        assert names(refusal, member, "accountInfo" if member == "accountType" else member), refusal


@requirement("EXT-138")
def test_an_account_holds_the_currency_of_its_type(platform: Platform) -> None:
    """Not one that nobody has."""
    body = platform.external_accounts.body(platform.external_accounts.account_holder())
    foreign = having("currency", platform.profile.bindings.unsupported_currency)(body)

    refusal = platform.api.create_external_account(foreign, valid=False)

    refusal.refused(*REFUSED, twin=platform.api.create_external_account(body))


@requirement("EXT-120", "EXT-136")
def test_an_account_belongs_to_a_customer_who_exists(platform: Platform, check: Check) -> None:
    """Neither to an unknown one, nor to another account."""
    owner = platform.external_accounts.account_holder()
    created = platform.api.create_external_account(platform.external_accounts.body(owner))
    others = {"id": unknown_id(owner["id"])}, {"id": arranged_resource(created)["id"]}

    unknown_owner, other_kind = (
        platform.api.create_external_account(platform.external_accounts.body(other))
        for other in others
    )

    with check("EXT-120"):
        unknown_owner.refused(*NAMED_IN_A_BODY, twin=created)
    with check("EXT-136"):
        other_kind.refused(*NAMED_IN_A_BODY, twin=created)


@requirement("EXT-141")
def test_every_invalid_field_of_an_account_is_listed(platform: Platform) -> None:
    """Both numbers of a US bank account are wrong."""
    body = platform.external_accounts.body(
        platform.external_accounts.account_holder(), "usd_account"
    )
    numbers = ("accountNumber", "routingNumber")
    wrong = {**body["accountInfo"], **dict.fromkeys(numbers, "12")}

    refusal = platform.api.create_external_account({**body, "accountInfo": wrong}, valid=False)

    refusal.refused(*REFUSED, twin=platform.api.create_external_account(body))
    found = {last_name(entry.get("field")) for entry in listed(refusal)}
    assert found.issuperset(numbers), refusal


@requirement("EXT-142")
def test_an_account_that_was_refused_is_not_there(platform: Platform) -> None:
    """Only the one without the fault is."""
    owner = platform.external_accounts.account_holder()
    body = platform.external_accounts.body(owner)
    number = platform.samples.reference()
    faulty = {**without("accountInfo.accountType")(body), "platformAccountId": number}

    refusal = platform.api.create_external_account(faulty, valid=False)

    if refusal.accepted:
        raise PreconditionFailed(f"an account without a type was accepted: {refusal}")
    account = _created(platform, owner)
    _found(platform.external_accounts.as_listed(owner, account), account)
    assert _ids(platform.external_accounts.of_customer(owner)) == [account["id"]]


def _created(platform: Platform, owner: Resource) -> Resource:
    return arranged_resource(
        platform.api.create_external_account(platform.external_accounts.body(owner))
    )


def _found(row: Json | None, account: Resource) -> Json:
    """Return an account as it was listed; raise ``PreconditionFailed`` where it was not."""
    if row is None:
        raise PreconditionFailed(f"{account['id']} is not in its customer's list")
    return row


def _ids(rows: Sequence[Json]) -> list[str]:
    return [str(row.get("id")) for row in rows]


@requirement("EXT-001", "EXT-002", "EXT-003", "EXT-004", "EXT-005", "EXT-006", "EXT-008")
def test_an_external_account_is_created_and_read(platform: Platform, check: Check) -> None:
    """It is answered in the currency and for the customer that it was sent for."""
    customer = platform.approved.customer()
    body = platform.external_accounts.body(customer)

    created = platform.api.create_external_account(body)

    with check("EXT-005"):
        assert created.accepted, created
        assert created.body.get("currency") == body["currency"]
    account = arranged_resource(created)
    read = platform.api.client.call("getExternalAccount", path={"externalAccountId": account["id"]})
    with check("EXT-006"):
        assert read.accepted, read
        assert read.body.get("id") == account["id"]
    with check("EXT-008"):
        assert account.get("customerId") == customer["id"]


@requirement("EXT-007")
def test_nothing_is_read_by_an_id_that_no_external_account_has(platform: Platform) -> None:
    """The id is one of its form."""
    account = platform.external_accounts.account(platform.approved.customer())

    def read(identifier: str) -> Answer:
        return platform.api.client.call(
            "getExternalAccount", path={"externalAccountId": identifier}
        )

    read(unknown_id(account["id"])).refused(404, twin=read(account["id"]))
