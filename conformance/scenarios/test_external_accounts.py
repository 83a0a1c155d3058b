"""External accounts: what is shown of them, who sees them in which list, and their deletion."""

from __future__ import annotations

from http import HTTPStatus

import pytest

from conformance.client.actor import Json, given, members, resource, unknown
from conformance.client.platform import FAILED, Platform
from conformance.scenarios.faults import Fault, having, without
from conformance.scenarios.marks import Check, requirement
from conformance.scenarios.notation import at
from conformance.scenarios.refusals import REFUSED, last_name, listed, names
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing

GONE = (404, 410)
NAMED_IN_A_BODY = (*REFUSED, 404)
"""How an id in a body may be refused that leads to nothing."""


# --- What is shown --------------------------------------------------------------------------


@requirement("EXT-009", "EXT-010", "EXT-011", "EXT-012", "EXT-014", "EXT-015", "EXT-016", "EXT-017")
def test_an_account_is_shown_as_it_was_sent(platform: Platform, check: Check) -> None:
    """At once and later: whose it is, its currency, its type, and the platform's own id for it."""
    owner = platform.payer()
    body = platform.destination_body(owner)

    created = resource(platform.create_external_account(body))
    read = resource(platform.get_external_account(created))

    for name, member in {"EXT-009": "customerId", "EXT-010": "platformAccountId"}.items():
        with check(name):
            given(read, member)
    with check("EXT-011"):
        assert given(created, "platformAccountId") == body["platformAccountId"]
    with check("EXT-012"):
        assert given(read, "platformAccountId") == body["platformAccountId"]
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
    body = without("platformAccountId")(platform.destination_body(platform.payer()))

    created = platform.create_external_account(body)

    assert created.accepted, created


@requirement("EXT-018", "EXT-019")
def test_two_accounts_are_told_apart(platform: Platform, check: Check) -> None:
    """By their ids, and each is read as itself."""
    owner = platform.payer()
    bodies = [platform.destination_body(owner) for _ in range(2)]

    accounts = [resource(platform.create_external_account(body)) for body in bodies]
    read = [resource(platform.get_external_account(account)) for account in accounts]

    with check("EXT-018"):
        assert accounts[0]["id"] != accounts[1]["id"]
    with check("EXT-019"):
        for body, seen in zip(bodies, read, strict=True):
            assert given(seen, "platformAccountId") == body["platformAccountId"]


# --- Lists ----------------------------------------------------------------------------------


@requirement("EXT-080", "EXT-081", "EXT-082", "EXT-091", "EXT-092")
def test_a_customer_has_a_list_of_its_own_accounts(platform: Platform, check: Check) -> None:
    """All of them are in it, and none of somebody else."""
    other, owner = platform.payer(), platform.payer()
    foreign = _created(platform, other)
    own = [_created(platform, owner) for _ in range(2)]

    shown = [platform.listed(owner, account) for account in own]
    rows = platform.external_accounts(owner)

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
    _created(platform, platform.payer())

    assert platform.external_accounts(platform.payer()) == []


@requirement("EXT-089")
def test_a_customer_who_does_not_exist_has_no_accounts(platform: Platform) -> None:
    """The request may be refused as well."""
    owner = platform.payer()
    account = _created(platform, owner)
    _found(platform.listed(owner, account), account)

    answer = platform.client.call(
        "listCustomerExternalAccounts", query={"customerId": unknown(owner["id"])}
    )

    platform.observe(f"the list of an unknown customer is answered with {answer.status}")
    assert not answer.accepted or members(answer.body) == []


@requirement("EXT-090")
def test_all_accounts_are_listed_on_however_many_pages(platform: Platform) -> None:
    """The pages are those of the profile's bindings, if any."""
    owner = platform.payer()
    own = [_created(platform, owner) for _ in range(3)]
    _found(platform.listed(owner, own[-1]), own[-1])

    rows = platform.external_accounts_by(owner, 2)

    assert sorted(_ids(rows)) == sorted(_ids(own))


@requirement("EXT-084", "EXT-085", "EXT-086")
def test_the_platform_has_a_list_of_its_own_accounts(platform: Platform, check: Check) -> None:
    """It does not show those of the customers."""
    owner = platform.payer()
    account = _created(platform, owner)
    _found(platform.listed(owner, account), account)

    answer = platform.client.call("listPlatformExternalAccounts")

    with check("EXT-085"):
        assert answer.accepted, answer
    rows = platform.platform_external_accounts()
    with check("EXT-084"):
        assert account["id"] not in _ids(rows)
    with check("EXT-086"):
        # Whatever is there came from somewhere else; the customer's would be a fault as well.
        assert [row for row in rows if row.get("customerId")] == []


@requirement("EXT-087", "EXT-088", "EXT-093", "EXT-121")
def test_an_account_without_a_customer_is_the_platforms(platform: Platform, check: Check) -> None:
    """Where such a request is the way to one, and not refused."""
    owner = platform.payer()
    created = platform.create_external_account(platform.destination_body(owner))
    mine = resource(created)

    answer = platform.create_external_account(
        without("customerId")(platform.destination_body(owner))
    )

    with check("EXT-121"):
        if not answer.accepted:
            answer.refused(*REFUSED, twin=created)
    if not answer.accepted:
        raise ResourceMissing(f"no account is created without a customer: {answer}")
    account = resource(answer)
    with check("EXT-088"):
        assert account.get("customerId") in (None, "")
    with check("EXT-087"):
        rows = platform.until(
            platform.platform_external_accounts, lambda seen: account["id"] in _ids(seen)
        )
        assert account["id"] in _ids(rows)
    with check("EXT-093"):
        _found(platform.listed(owner, mine), mine)
        assert account["id"] not in _ids(platform.external_accounts(owner))


# --- Deletion -------------------------------------------------------------------------------


@requirement("EXT-100", "EXT-101", "EXT-102", "EXT-106", "EXT-107", "EXT-108")
def test_a_deleted_account_is_gone(platform: Platform, check: Check) -> None:
    """From its list and to whoever asks for it; the others stay."""
    owner, other = platform.payer(), platform.payer()
    account, sibling, foreign = (_created(platform, one) for one in (owner, owner, other))
    _found(platform.listed(owner, account), account)
    before = platform.get_external_account(account)

    answer = platform.delete_external_account(account)

    with check("EXT-100"):
        assert answer.status == HTTPStatus.NO_CONTENT, answer
    platform.arranged(answer)
    with check("EXT-101"):
        after = platform.until(
            lambda: platform.get_external_account(account), lambda seen: not seen.accepted
        )
        after.refused(404, twin=before)
    with check("EXT-102"):
        rows = platform.until(
            lambda: platform.external_accounts(owner), lambda seen: account["id"] not in _ids(seen)
        )
        assert account["id"] not in _ids(rows)
    with check("EXT-106"):
        assert platform.get_external_account(sibling).accepted
    with check("EXT-107"):
        assert platform.get_external_account(foreign).accepted
    with check("EXT-108"):
        customer = {"customerId": owner["id"]}
        twin = platform.look_up(sibling, **customer)
        if not twin.accepted:
            raise ResourceMissing(f"the account cannot be looked up: {twin}")
        platform.look_up(account, **customer).refused(404, twin=twin)


@requirement("EXT-103")
def test_what_does_not_exist_is_not_deleted(platform: Platform) -> None:
    """The id is one of its form."""
    account = _created(platform, platform.payer())

    refusal = platform.delete_external_account({"id": unknown(account["id"])})

    refusal.refused(404, twin=platform.delete_external_account(account))


@requirement("EXT-104")
def test_an_account_is_deleted_once(platform: Platform) -> None:
    """The second time there is no such account."""
    account = _created(platform, platform.payer())
    first = platform.delete_external_account(account)

    second = platform.delete_external_account(account)

    second.refused(*GONE, twin=first)


@requirement("EXT-105")
def test_a_deleted_account_receives_nothing(platform: Platform) -> None:
    """A quote to it is refused, or comes to nothing."""
    source = platform.account()
    owner = {"id": source["customerId"]}
    account, other = platform.destination(owner), platform.destination(owner)
    platform.arranged(platform.delete_external_account(account))

    *_, last = platform.transfer(platform.quote_body(source, account))

    if last.accepted:
        seen = platform.transaction_in(last.body, "COMPLETED", *FAILED)
        assert seen.get("status") != "COMPLETED"
        return
    steps = platform.transfer(platform.quote_body(source, other))
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
    body = platform.destination_body(platform.payer())

    refusal = platform.create_external_account(fault(body), valid=False)

    twin = platform.create_external_account(body)
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
    body = platform.destination_body(platform.payer())
    foreign = having("currency", platform.profile.bindings.unsupported_currency)(body)

    refusal = platform.create_external_account(foreign, valid=False)

    refusal.refused(*REFUSED, twin=platform.create_external_account(body))


@requirement("EXT-120", "EXT-136")
def test_an_account_belongs_to_a_customer_who_exists(platform: Platform, check: Check) -> None:
    """Neither to an unknown one, nor to another account."""
    owner = platform.payer()
    created = platform.create_external_account(platform.destination_body(owner))
    others = {"id": unknown(owner["id"])}, {"id": resource(created)["id"]}

    unknown_owner, other_kind = (
        platform.create_external_account(platform.destination_body(other)) for other in others
    )

    with check("EXT-120"):
        unknown_owner.refused(*NAMED_IN_A_BODY, twin=created)
    with check("EXT-136"):
        other_kind.refused(*NAMED_IN_A_BODY, twin=created)


@requirement("EXT-141")
def test_every_invalid_field_of_an_account_is_listed(platform: Platform) -> None:
    """Both numbers of a US bank account are wrong."""
    body = platform.destination_body(platform.payer(), "usd_account")
    numbers = ("accountNumber", "routingNumber")
    wrong = {**body["accountInfo"], **dict.fromkeys(numbers, "12")}

    refusal = platform.create_external_account({**body, "accountInfo": wrong}, valid=False)

    refusal.refused(*REFUSED, twin=platform.create_external_account(body))
    found = {last_name(entry.get("field")) for entry in listed(refusal)}
    assert found.issuperset(numbers), refusal


@requirement("EXT-142")
def test_an_account_that_was_refused_is_not_there(platform: Platform) -> None:
    """Only the one without the fault is."""
    owner = platform.payer()
    body = platform.destination_body(owner)
    number = platform.samples.reference()
    faulty = {**without("accountInfo.accountType")(body), "platformAccountId": number}

    refusal = platform.create_external_account(faulty, valid=False)

    if refusal.accepted:
        raise PreconditionFailed(f"an account without a type was accepted: {refusal}")
    account = _created(platform, owner)
    _found(platform.listed(owner, account), account)
    assert _ids(platform.external_accounts(owner)) == [account["id"]]


def _created(platform: Platform, owner: Json) -> Json:
    return resource(platform.create_external_account(platform.destination_body(owner)))


def _found(row: Json | None, account: Json) -> Json:
    """Return an account as it was listed; raise ``PreconditionFailed`` where it was not."""
    if row is None:
        raise PreconditionFailed(f"{account['id']} is not in its customer's list")
    return row


def _ids(rows: list[Json]) -> list[str]:
    return [str(row.get("id")) for row in rows]
