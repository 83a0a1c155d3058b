"""External accounts: their members, the lists that show them, their deletion, and refusals."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any, Literal

import pytest

from conformance.contract.notation import masked_or_same
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
from conformance.scenarios.kit.cases import case
from conformance.scenarios.kit.faults import Fault, having, without
from conformance.scenarios.kit.marks import Check, requirement
from conformance.scenarios.kit.notation import require_value_at
from conformance.scenarios.kit.refusals import REFUSED, last_name, listed_errors, names
from conformance.scenarios.kit.shapes import expect_members
from conformance.scenarios.quotes.payments import readable_platform_account
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing

PLAIN_MEMBERS = ("customerId", "status", "currency", "platformAccountId")
"""Members of an external account that are not masked."""

OF_OTHER_KINDS = ("kes_account", "solana_wallet", "lightning")
"""Examples of accounts that are no bank accounts."""

DELETED = (404, 410)
UNKNOWN_IN_BODY = (*REFUSED, 404)
"""The statuses of a refusal for an unknown id in a body."""


# --- Their members --------------------------------------------------------------------------


@requirement(
    *("EXT-009", "EXT-010", "EXT-011", "EXT-012", "EXT-014", "EXT-015", "EXT-016", "EXT-017"),
    *("EXT-803", "EXT-804", "EXT-809", "EXT-823"),
)
@pytest.mark.parametrize("holder", ["INDIVIDUAL", "BUSINESS"])
def test_an_account_is_shown_as_it_was_sent(
    platform: Platform, check: Check, holder: Literal["INDIVIDUAL", "BUSINESS"]
) -> None:
    """A created account and a reading show the customer, the type and the platformAccountId.

    The list shows the platformAccountId as well.
    """
    owner = platform.external_accounts.account_holder(holder)
    body = platform.external_accounts.body(owner)

    created_account = arranged_resource(platform.api.create_external_account(body))
    account_read = arranged_resource(platform.api.get_external_account(created_account["id"]))

    for requirement_id, member in {"EXT-009": "customerId", "EXT-010": "platformAccountId"}.items():
        with check(requirement_id):
            require_member(account_read, member)
    expect_members(check, account_read, {"EXT-803": "customerId", "EXT-804": "platformAccountId"})
    expect_members(check, created_account, {"EXT-823": "customerId"})
    listed_account = platform.external_accounts.as_listed(owner, created_account)
    if listed_account is not None:
        expect_members(
            check, listed_account, {"EXT-803": "customerId", "EXT-804": "platformAccountId"}
        )
    with check("EXT-809"):
        require_member(created_account, "platformAccountId")
        assert account_read.get("platformAccountId") is not None, account_read
        if listed_account is not None:
            assert listed_account.get("platformAccountId") is not None, listed_account
    with check("EXT-011"):
        assert created_account.get("platformAccountId") == body["platformAccountId"]
    with check("EXT-012"):
        assert require_member(account_read, "platformAccountId") == body["platformAccountId"]
    with check("EXT-014"):
        assert require_member(account_read, "customerId") == owner["id"]
    with check("EXT-015"):
        assert account_read.get("currency") == body["currency"]
    with check("EXT-016"):
        assert (
            require_value_at(created_account, "accountInfo.accountType")
            == body["accountInfo"]["accountType"]
        )
    with check("EXT-017"):
        assert (
            require_value_at(account_read, "accountInfo.accountType")
            == body["accountInfo"]["accountType"]
        )


@requirement("EXT-011", "EXT-012", "EXT-806")
def test_the_platforms_id_of_an_account_is_a_text(platform: Platform, check: Check) -> None:
    """An id of digits that begins with zeros, and a long one with capitals, are shown as sent.

    They are shown so by the answer to the creation, by a reading and by the list.
    """
    owner = platform.external_accounts.account_holder()
    name = platform.samples.digits(8)
    bodies = [
        {**platform.external_accounts.body(owner), "platformAccountId": own_id}
        for own_id in (f"00{name}", f"Payee-{name}-of-the-books-of-2025-B")
    ]

    accounts = [arranged_resource(platform.api.create_external_account(body)) for body in bodies]

    for body, account in zip(bodies, accounts, strict=True):
        sent = body["platformAccountId"]
        with check("EXT-011"):
            assert account.get("platformAccountId") == sent
        with check("EXT-012"):
            account_read = arranged_resource(platform.api.get_external_account(account["id"]))
            assert require_member(account_read, "platformAccountId") == sent
        with check("EXT-806"):
            listed = platform.external_accounts.as_listed(owner, account)
            shown = require_member(_arrange_listed(listed, account), "platformAccountId")
            assert shown == sent


@requirement("EXT-805")
def test_an_account_is_its_customers_whatever_the_platform_calls_it(platform: Platform) -> None:
    """Of two accounts with one platformAccountId each is listed for its own customer alone."""
    owners = [platform.external_accounts.account_holder() for _ in range(2)]
    bodies = [platform.external_accounts.body(owner) for owner in owners]
    name = bodies[0]["platformAccountId"]

    answers = [
        platform.api.create_external_account({**body, "platformAccountId": name}) for body in bodies
    ]

    arranged_body(answers[0])
    if not answers[1].accepted:
        raise ResourceMissing(f"two accounts do not share a platformAccountId: {answers[1]}")
    ids = [answer.body["id"] for answer in answers]
    if ids[0] == ids[1]:
        raise ResourceMissing("the second account with a platformAccountId is the first one again")
    for owner, answer in zip(owners, answers, strict=True):
        listed = platform.external_accounts.as_listed(owner, answer.body)
        assert listed is not None, f"{answer.body['id']} is not listed for {owner['id']}"
    for owner, other in zip(owners, reversed(ids), strict=True):
        rows = platform.external_accounts.of_customer(owner)
        assert other not in {row.get("id") for row in rows}, f"{other} is listed for {owner['id']}"


@requirement("EXT-805")
def test_an_account_is_its_customers_whoever_else_names_it(platform: Platform) -> None:
    """Where two customers register one bank account, each has an account of its own."""
    owners = [platform.external_accounts.account_holder() for _ in range(2)]
    body = platform.external_accounts.body(owners[0])
    own_name = {"platformAccountId": platform.samples.own_id()}

    first = arranged_resource(platform.api.create_external_account(body))
    second = platform.api.create_external_account(
        {**body, **own_name, "customerId": owners[1]["id"]}
    )

    if not second.accepted:
        raise ResourceMissing(f"two customers do not register one bank account: {second}")
    account = arranged_resource(second)
    for owner, own in zip(owners, (first, account), strict=True):
        shown = arranged_resource(platform.api.get_external_account(own["id"]))
        assert shown.get("customerId") in (owner["id"], None), shown
        assert platform.external_accounts.as_listed(owner, own) is not None, (
            f"{own['id']} is not listed for {owner['id']}"
        )
    assert account["id"] != first["id"], f"both customers have {first['id']}"


@requirement("EXT-013")
def test_an_account_needs_no_id_of_the_platform(platform: Platform) -> None:
    """A request without platformAccountId is accepted."""
    body = without("platformAccountId")(
        platform.external_accounts.body(platform.external_accounts.account_holder())
    )

    answer = platform.api.create_external_account(body)

    answer.expect_accepted()


@requirement("EXT-018", "EXT-019")
def test_two_accounts_are_told_apart(platform: Platform, check: Check) -> None:
    """Two accounts of a customer have different ids, and each id leads to its own account."""
    owner = platform.external_accounts.account_holder()
    bodies = [platform.external_accounts.body(owner) for _ in range(2)]

    accounts = [arranged_resource(platform.api.create_external_account(body)) for body in bodies]
    accounts_read = [
        arranged_resource(platform.api.get_external_account(account["id"])) for account in accounts
    ]

    with check("EXT-018"):
        assert accounts[0]["id"] != accounts[1]["id"]
    with check("EXT-019"):
        for body, account in zip(bodies, accounts_read, strict=True):
            assert require_member(account, "platformAccountId") == body["platformAccountId"]


# --- Lists ----------------------------------------------------------------------------------


@requirement("EXT-080", "EXT-081", "EXT-082", "EXT-091", "EXT-092", "EXT-806")
@pytest.mark.parametrize("holder", ["INDIVIDUAL", "BUSINESS"])
def test_a_customer_has_a_list_of_its_own_accounts(
    platform: Platform, check: Check, holder: Literal["INDIVIDUAL", "BUSINESS"]
) -> None:
    """The list has all accounts of the customer, and no account of another customer."""
    other, owner = (
        platform.external_accounts.account_holder(),
        platform.external_accounts.account_holder(holder),
    )
    other_account = _create_account(platform, other)
    accounts = [_create_account(platform, owner) for _ in range(2)]

    listed_accounts = [platform.external_accounts.as_listed(owner, account) for account in accounts]
    rows = platform.external_accounts.of_customer(owner)

    with check("EXT-080"):
        assert None not in listed_accounts, (
            f"{[account['id'] for account in accounts]} are not all in {rows}"
        )
    with check("EXT-081"):
        assert {row.get("customerId") for row in rows} <= {owner["id"], None}
    with check("EXT-082"):
        assert other_account["id"] not in _ids(rows)
    row = _arrange_listed(listed_accounts[0], accounts[0])
    with check("EXT-091"):
        assert row.get("currency") == accounts[0]["currency"]
    with check("EXT-092"):
        account_type = require_value_at(row, "accountInfo.accountType")
        assert account_type == require_value_at(accounts[0], "accountInfo.accountType")
    with check("EXT-806"):
        for account, listed in zip(accounts, listed_accounts, strict=True):
            shown = require_member(_arrange_listed(listed, account), "platformAccountId")
            assert shown == require_member(account, "platformAccountId")


@requirement("EXT-082")
def test_customers_of_one_name_have_lists_of_their_own(platform: Platform) -> None:
    """Of two customers with one ``platformCustomerId`` each has a list without the other's."""
    owners = platform.customers.namesakes(platform.approved.customer, platform.approved.customer)
    accounts = [_create_account(platform, owner) for owner in owners]

    for owner, account in zip(owners, accounts, strict=True):
        _arrange_listed(platform.external_accounts.as_listed(owner, account), account)
    lists = [_ids(platform.external_accounts.of_customer(owner)) for owner in owners]

    assert accounts[1]["id"] not in lists[0]
    assert accounts[0]["id"] not in lists[1]


@pytest.mark.parametrize(
    "owner",
    [
        case("EXT-900", "individual", "INDIVIDUAL"),
        case("EXT-900", "business", "BUSINESS"),
        case("EXT-901", "platform", "PLATFORM"),
    ],
)
def test_a_listed_account_is_the_one_that_is_read(
    platform: Platform, owner: Literal["INDIVIDUAL", "BUSINESS", "PLATFORM"]
) -> None:
    """What the list and a reading both show of an account at a US bank is the same in both.

    Either may mask details of it.
    """
    accounts = platform.external_accounts
    name = platform.quotes.corridor_to("usd_account").account
    if owner == "PLATFORM":
        account = readable_platform_account(platform, name)
    else:
        account = accounts.account(accounts.account_holder(owner), name)

    def rows() -> list[Resource]:
        return (
            accounts.of_platform() if owner == "PLATFORM" else accounts.of_customer(account.owner)
        )

    def differing() -> list[str] | None:
        row = next((one for one in rows() if one.get("id") == account["id"]), None)
        one = accounts.read(account)
        if row is None:
            return None
        return [
            member
            for member in (*PLAIN_MEMBERS, "accountInfo")
            if not _agree(row.get(member), one.get(member), plain=member in PLAIN_MEMBERS)
        ]

    # What is new, or has just changed, may show a moment later in one of them.
    found = platform.until(differing, lambda members: members == [])

    if found is None:
        raise PreconditionFailed(f"{account['id']} is not listed")
    assert not found, f"the list shows another {', '.join(found)} of {account['id']}"


def _agree(one: Any, other: Any, *, plain: bool) -> bool:
    """Return whether two values agree in what both show; a text that is not plain may be masked."""
    if one in (None, "") or other in (None, ""):
        return True
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return all(
            _agree(one[name], other[name], plain=plain) for name in one.keys() & other.keys()
        )
    if isinstance(one, list) and isinstance(other, list):
        # The order of a list of rails has no meaning.
        return sorted(map(str, one)) == sorted(map(str, other))
    return bool(one == other) or (
        not plain and (masked_or_same(one, other) or masked_or_same(other, one))
    )


@requirement("EXT-083")
def test_a_customer_may_have_no_accounts(platform: Platform) -> None:
    """The list of a new customer is empty, although another customer has an account."""
    _create_account(platform, platform.external_accounts.account_holder())

    assert platform.external_accounts.of_customer(platform.external_accounts.account_holder()) == []


@requirement("EXT-089")
def test_a_customer_who_does_not_exist_has_no_accounts(platform: Platform) -> None:
    """The list by an unknown customerId is empty, or the request is refused."""
    owner = platform.external_accounts.account_holder()
    account = _create_account(platform, owner)
    _arrange_listed(platform.external_accounts.as_listed(owner, account), account)

    answer = platform.api.client.call(
        "listCustomerExternalAccounts", query={"customerId": unknown_id(owner["id"])}
    )

    platform.observe(f"the list of an unknown customer is answered with {answer.status}")
    assert not answer.accepted or listed_members(answer.body) == []


@requirement("EXT-090")
def test_all_accounts_are_listed_on_however_many_pages(platform: Platform) -> None:
    """Pages of two show each of three accounts once; the bindings say how pages are asked for."""
    owner = platform.external_accounts.account_holder()
    accounts = [_create_account(platform, owner) for _ in range(3)]
    _arrange_listed(platform.external_accounts.as_listed(owner, accounts[-1]), accounts[-1])

    rows = platform.external_accounts.of_customer_by_pages(owner, 2)

    assert sorted(_ids(rows)) == sorted(_ids(accounts))


@requirement("EXT-094")
def test_all_accounts_of_the_platform_are_listed_on_however_many_pages(platform: Platform) -> None:
    """Two new accounts and all others that there were are on some three pages."""
    own = without("customerId")
    owner = platform.external_accounts.account_holder()
    answers = [
        platform.api.create_external_account(own(platform.external_accounts.body(owner)))
        for _ in range(2)
    ]
    if not answers[-1].accepted:
        raise ResourceMissing(f"no account is created without a customer: {answers[-1]}")
    created = [arranged_resource(answer)["id"] for answer in answers]
    known = {*_ids(platform.external_accounts.of_platform()), *created}
    size = max(1, len(known) // 3)

    rows = platform.until(
        lambda: platform.external_accounts.of_platform_by_pages(size),
        lambda listed: known <= {*_ids(listed)},
    )

    assert known <= {*_ids(rows)}, f"{len(known)} accounts are known, and {len(rows)} are listed"


@requirement("EXT-084", "EXT-085", "EXT-086")
def test_the_platform_has_a_list_of_its_own_accounts(platform: Platform, check: Check) -> None:
    """GET /platform/external-accounts is accepted and shows no account of a customer.

    It shows none either that the platform has given no id.
    """
    owner = platform.external_accounts.account_holder()
    account = _create_account(platform, owner)
    _arrange_listed(platform.external_accounts.as_listed(owner, account), account)
    unnamed_body = without("platformAccountId")(
        platform.external_accounts.body(platform.external_accounts.account_holder())
    )
    unnamed = platform.api.create_external_account(unnamed_body)

    answer = platform.api.client.call("listPlatformExternalAccounts")

    with check("EXT-085"):
        answer.expect_accepted()
    rows = platform.external_accounts.of_platform()
    with check("EXT-084"):
        assert account["id"] not in _ids(rows)
        assert not unnamed.accepted or unnamed.body.get("id") not in _ids(rows), unnamed
    with check("EXT-086"):
        # Other tests may have created the platform's accounts; a customer's would be a fault.
        assert [row for row in rows if row.get("customerId")] == []


@requirement("EXT-087", "EXT-088", "EXT-093", "EXT-121", "EXT-821", "EXT-830", "EXT-831")
def test_an_account_without_a_customer_is_the_platforms(platform: Platform, check: Check) -> None:
    """A request without customerId is refused, or creates an account in the platform's list."""
    owner = platform.external_accounts.account_holder()
    twin = platform.api.create_external_account(platform.external_accounts.body(owner))
    customer_account = arranged_resource(twin)

    own_body = without("customerId")(platform.external_accounts.body(owner))
    answer = platform.api.create_external_account(own_body)

    with check("EXT-121"):
        if not answer.accepted:
            answer.refused(*REFUSED, twin=twin)
    with check("EXT-830"):
        answer.expect_accepted()
    if not answer.accepted:
        raise ResourceMissing(f"no account is created without a customer: {answer}")
    account = arranged_resource(answer)
    # The list shows each account in its own currency, so that the second one is in another.
    unnamed_body = without("platformAccountId")(
        _body_in_another_currency(platform, owner, own_body["currency"])
    )
    bodies = [without("customerId")(unnamed_body)]
    for name in OF_OTHER_KINDS:
        with contextlib.suppress(ResourceMissing):
            bodies.append(without("customerId")(platform.external_accounts.body(owner, name)))
    others = [platform.api.create_external_account(body) for body in bodies]
    sent = {account["id"]: own_body} | {
        arranged_resource(other)["id"]: body
        for other, body in zip(others, bodies, strict=True)
        if other.accepted
    }
    with check("EXT-088"):
        assert account.get("customerId") in (None, "")
    with check("EXT-087"):
        rows = platform.until(
            platform.external_accounts.of_platform,
            lambda listed_rows: sent.keys() <= {*_ids(listed_rows)},
        )
        assert sent.keys() <= {*_ids(rows)}
        for row in rows:
            if row.get("id") in sent:
                assert row.get("currency") == sent[row["id"]]["currency"], row
        row = next(row for row in rows if row.get("id") == account["id"])
        account_type = require_value_at(account, "accountInfo.accountType")
        assert require_value_at(row, "accountInfo.accountType") == account_type
    listed = {row.get("id"): row for row in platform.external_accounts.of_platform()}
    with check("EXT-821"):
        for account_id, body in sent.items():
            expect_own_details(_arrange_listed(listed.get(account_id), {"id": account_id}), body)
    with check("EXT-831"):
        for account_id, body in sent.items():
            shown = _arrange_listed(listed.get(account_id), {"id": account_id})
            told = require_value_at(shown, "accountInfo")
            assert not [name for name in body["accountInfo"] if told.get(name) is None], shown
    with check("EXT-093"):
        _arrange_listed(
            platform.external_accounts.as_listed(owner, customer_account), customer_account
        )
        assert account["id"] not in _ids(platform.external_accounts.of_customer(owner))


def _body_in_another_currency(platform: Platform, owner: Resource, currency: str) -> Json:
    """Return the body of an account that a corridor of the profile leads to.

    Where it can be, it is in a currency that the platform has no account in.
    """
    own = {
        require_value_at(account, "balance.currency.code")
        for account in platform.internal_accounts.of_platform()
    }
    names = [corridor.account for corridor in platform.profile.resources.corridors]
    bodies = [platform.external_accounts.body(owner, name) for name in dict.fromkeys(names)]
    others = [body for body in bodies if body["currency"] != currency] or bodies
    return min(others, key=lambda body: body["currency"] in own)


def expect_own_details(row: Json, sent: Json) -> None:
    """Assert that a list shows an account with no other id and details than were sent for it."""
    __tracebackhide__ = True
    if "platformAccountId" in sent:
        assert row.get("platformAccountId") in (None, sent["platformAccountId"]), row
    for member, value in sent["accountInfo"].items():
        shown = (row.get("accountInfo") or {}).get(member)
        if isinstance(value, str) and shown is not None:
            assert masked_or_same(shown, value), row


# --- Deletion -------------------------------------------------------------------------------


@requirement("EXT-100", "EXT-101", "EXT-102", "EXT-106", "EXT-107", "EXT-109")
def test_a_deleted_account_is_gone(platform: Platform, check: Check) -> None:
    """A deletion answers 204. The account is not read or listed, and others stay.

    Where it can be registered once more, it is there again.
    """
    owner, other = (
        platform.external_accounts.account_holder(),
        platform.external_accounts.account_holder(),
    )
    body = platform.external_accounts.body(owner)
    account = arranged_resource(platform.api.create_external_account(body))
    sibling, other_account = (_create_account(platform, holder) for holder in (owner, other))
    _arrange_listed(platform.external_accounts.as_listed(owner, account), account)
    before = platform.api.get_external_account(account["id"])

    answer = platform.api.delete_external_account(account["id"])

    with check("EXT-100"):
        assert answer.status == HTTPStatus.NO_CONTENT, answer
    arranged_body(answer)
    with check("EXT-101"):
        after = platform.until(
            lambda: platform.api.get_external_account(account["id"]),
            lambda reading: not reading.accepted,
        )
        after.refused(404, twin=before)
    with check("EXT-102"):
        rows = platform.until(
            lambda: platform.external_accounts.of_customer(owner),
            lambda reading: account["id"] not in _ids(reading),
        )
        assert account["id"] not in _ids(rows)
    with check("EXT-106"):
        assert platform.api.get_external_account(sibling["id"]).accepted
    with check("EXT-107"):
        assert platform.api.get_external_account(other_account["id"]).accepted
    with check("EXT-109"):
        again = platform.api.create_external_account(
            {**body, "platformAccountId": platform.samples.own_id()}
        )
        if not again.accepted:
            raise ResourceMissing(f"what was deleted is not registered once more: {again}")
        account_again = arranged_resource(again)
        assert platform.external_accounts.as_listed(owner, account_again) is not None
        assert platform.api.get_external_account(account_again["id"]).accepted


@requirement("EXT-106", "EXT-107")
def test_a_deletion_leaves_accounts_of_the_same_name(platform: Platform, check: Check) -> None:
    """Accounts with the platformAccountId of the deleted one stay, where there may be several."""
    owner, other = (platform.external_accounts.account_holder() for _ in range(2))
    body = platform.external_accounts.body(owner)
    account = arranged_resource(platform.api.create_external_account(body))
    name = {"platformAccountId": body["platformAccountId"]}
    namesakes = {
        requirement_id: platform.api.create_external_account(
            {**platform.external_accounts.body(holder), **name}
        )
        for requirement_id, holder in (("EXT-106", owner), ("EXT-107", other))
    }

    arranged_body(platform.api.delete_external_account(account["id"]))

    for requirement_id, namesake in namesakes.items():
        with check(requirement_id):
            if not namesake.accepted or namesake.body["id"] == account["id"]:
                raise ResourceMissing(f"two accounts do not share a platformAccountId: {namesake}")
            assert platform.api.get_external_account(namesake.body["id"]).accepted


@requirement("EXT-107")
def test_a_deletion_leaves_the_same_bank_account_of_another_customer(platform: Platform) -> None:
    """Where two customers have registered one bank account, each deletes its own."""
    owner, other = (platform.external_accounts.account_holder() for _ in range(2))
    body = platform.external_accounts.body(owner)
    own_name = {"platformAccountId": platform.samples.own_id()}
    account = arranged_resource(platform.api.create_external_account(body))
    second = platform.api.create_external_account({**body, **own_name, "customerId": other["id"]})
    if not second.accepted or second.body["id"] == account["id"]:
        raise ResourceMissing(f"two customers do not register one bank account: {second}")

    arranged_body(platform.api.delete_external_account(account["id"]))

    assert platform.api.get_external_account(second.body["id"]).accepted


@requirement("EXT-103")
def test_what_does_not_exist_is_not_deleted(platform: Platform) -> None:
    """A deletion by an unknown id of the right form is refused with 404."""
    account = _create_account(platform, platform.external_accounts.account_holder())

    refusal = platform.api.delete_external_account(unknown_id(account["id"]))

    refusal.refused(404, twin=platform.api.delete_external_account(account["id"]))


@requirement("EXT-104")
def test_an_account_is_deleted_once(platform: Platform) -> None:
    """The second deletion of an external account is refused with 404 or 410."""
    account = _create_account(platform, platform.external_accounts.account_holder())
    first = platform.api.delete_external_account(account["id"])

    second = platform.api.delete_external_account(account["id"])

    second.refused(*DELETED, twin=first)


@requirement("EXT-105")
@pytest.mark.parametrize("at_once", [False, True], ids=["in-two-steps", "at-once"])
def test_a_deleted_account_receives_nothing(platform: Platform, *, at_once: bool) -> None:
    """A payment to a deleted account is refused at some step, or does not complete."""
    source = platform.internal_accounts.account()
    owner = source.owner
    account, other = (
        platform.external_accounts.account(owner),
        platform.external_accounts.account(owner),
    )
    arranged_body(platform.api.delete_external_account(account["id"]))

    def pay(to: Resource) -> list[Answer]:
        body = platform.quotes.body(source, to)
        if at_once:
            return [platform.api.create_quote({**body, "immediatelyExecute": True})]
        return platform.quotes.create_and_execute(body)

    *_, last = pay(account)

    if last.accepted:
        transaction = platform.transactions.at_status(last.body, "COMPLETED", *FAILED)
        assert transaction.get("status") != "COMPLETED"
        return
    steps = pay(other)
    twin = next((step for step in steps if step.operation.id == last.operation.id), steps[-1])
    last.refused(400, 404, 409, 410, 422, twin=twin)


# --- Refusals -------------------------------------------------------------------------------

REFUSED_ACCOUNTS: tuple[tuple[str | None, Fault], ...] = (
    (None, without("accountInfo.accountType")),
    (None, having("currency", "")),
    ("usd_account", having("accountInfo.accountNumber", "12")),
    ("usd_account", without("accountInfo.beneficiary")),
)
"""Examples, each with a fault that another step of its creation may find."""

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
    ("requirement_id", "member", "fault"),
    [
        case((requirement_id, "EXT-140"), name, requirement_id, member, fault)
        for requirement_id, name, member, fault in FAULTS
    ],
)
def test_an_account_with_one_fault_is_refused(
    platform: Platform, check: Check, requirement_id: str, member: str, fault: Fault
) -> None:
    """A request with one fault is refused, and field errors, if any, name the wrong member."""
    body = platform.external_accounts.body(platform.external_accounts.account_holder())

    refusal = platform.api.create_external_account(fault(body), valid=False)

    twin = platform.api.create_external_account(body)
    with check(requirement_id):
        refusal.refused(*UNKNOWN_IN_BODY if member == "customerId" else REFUSED, twin=twin)
    with check("EXT-140"):
        if refusal.accepted or not twin.accepted:
            raise ResourceMissing("it was not refused for its fault")
        # A missing member may be reported as an error of the object around it.
        assert names(refusal, member, "accountInfo" if member == "accountType" else member), refusal


@requirement("EXT-138")
def test_an_account_holds_the_currency_of_its_type(platform: Platform) -> None:
    """An account in a currency that no target supports is refused with 400 or 422."""
    body = platform.external_accounts.body(platform.external_accounts.account_holder())
    foreign_body = having("currency", platform.profile.bindings.unsupported_currency)(body)

    refusal = platform.api.create_external_account(foreign_body, valid=False)

    refusal.refused(*REFUSED, twin=platform.api.create_external_account(body))


@requirement("EXT-120", "EXT-136", "EXT-142")
def test_an_account_belongs_to_a_customer_who_exists(platform: Platform, check: Check) -> None:
    """An unknown customerId is refused, and so is the id of an external account.

    The platform does not have an account in its place.
    """
    owner = platform.external_accounts.account_holder()
    twin = platform.api.create_external_account(platform.external_accounts.body(owner))
    wrong_owners = {"id": unknown_id(owner["id"])}, {"id": arranged_resource(twin)["id"]}

    bodies = [platform.external_accounts.body(wrong_owner) for wrong_owner in wrong_owners]
    before = _ids(platform.external_accounts.of_platform())

    to_unknown, to_account = map(platform.api.create_external_account, bodies)

    with check("EXT-120"):
        to_unknown.refused(*UNKNOWN_IN_BODY, twin=twin)
    with check("EXT-136"):
        to_account.refused(*UNKNOWN_IN_BODY, twin=twin)
    with check("EXT-142"):
        if to_unknown.accepted or to_account.accepted:
            raise ResourceMissing("it was not refused for its customer")
        names_sent = {body["platformAccountId"] for body in bodies}
        rows = [row for row in platform.external_accounts.of_platform() if row["id"] not in before]
        assert not [row for row in rows if row.get("platformAccountId") in names_sent]


@requirement("EXT-141")
def test_every_invalid_field_of_an_account_is_listed(platform: Platform) -> None:
    """A US account with a wrong account number and a wrong routing number: both are listed."""
    body = platform.external_accounts.body(
        platform.external_accounts.account_holder(), "usd_account"
    )
    numbers = ("accountNumber", "routingNumber")
    faulty_info = {**body["accountInfo"], **dict.fromkeys(numbers, "12")}

    refusal = platform.api.create_external_account(
        {**body, "accountInfo": faulty_info}, valid=False
    )

    refusal.refused(*REFUSED, twin=platform.api.create_external_account(body))
    invalid_fields = {last_name(entry.get("field")) for entry in listed_errors(refusal)}
    assert invalid_fields.issuperset(numbers), refusal


@requirement("EXT-142")
def test_an_account_that_was_refused_is_not_there(platform: Platform) -> None:
    """The list has only the account that was accepted, and none that lacked something it needs.

    Without an accountType nothing is known of it; without a number it is known all but for that;
    its currency and its beneficiary may be looked at after all else.
    """
    owner = platform.external_accounts.account_holder()
    bodies = []
    for name, fault in REFUSED_ACCOUNTS:
        with contextlib.suppress(ResourceMissing):
            bodies.append(fault(platform.external_accounts.body(owner, name)))

    refusals = [platform.api.create_external_account(body, valid=False) for body in bodies]

    if all(refusal.accepted for refusal in refusals):
        raise PreconditionFailed(f"accounts that lack something were accepted: {refusals}")
    taken = {refusal.body.get("id") for refusal in refusals if refusal.accepted}
    account = _create_account(platform, owner)
    _arrange_listed(platform.external_accounts.as_listed(owner, account), account)
    assert set(_ids(platform.external_accounts.of_customer(owner))) - taken == {account["id"]}


def _create_account(platform: Platform, owner: Resource) -> Resource:
    return arranged_resource(
        platform.api.create_external_account(platform.external_accounts.body(owner))
    )


def _arrange_listed(row: Json | None, account: Json) -> Json:
    """Return an account as the list shows it.

    Raises:
        PreconditionFailed: the list does not show the account.
    """
    if row is None:
        raise PreconditionFailed(f"{account['id']} is not in its customer's list")
    return row


def _ids(rows: Sequence[Json]) -> list[str]:
    return [str(row.get("id")) for row in rows]


@requirement("EXT-001", "EXT-002", "EXT-003", "EXT-004", "EXT-005", "EXT-006", "EXT-008")
def test_an_external_account_is_created_and_read(platform: Platform, check: Check) -> None:
    """The account has the currency and the customer of the request, and is read by its id."""
    customer = platform.approved.customer()
    body = platform.external_accounts.body(customer)

    answer = platform.api.create_external_account(body)

    with check("EXT-005"):
        answer.expect_accepted()
        assert answer.body.get("currency") == body["currency"]
    account = arranged_resource(answer)
    reading = platform.api.client.call(
        "getExternalAccount", path={"externalAccountId": account["id"]}
    )
    with check("EXT-006"):
        reading.expect_accepted()
        assert reading.body.get("id") == account["id"]
    with check("EXT-008"):
        assert require_member(account, "customerId") == customer["id"]


@requirement("EXT-007")
def test_nothing_is_read_by_an_id_that_no_external_account_has(platform: Platform) -> None:
    """A reading by an unknown id of the right form is refused with 404."""
    account = platform.external_accounts.account(platform.approved.customer())

    def read(identifier: str) -> Answer:
        return platform.api.client.call(
            "getExternalAccount", path={"externalAccountId": identifier}
        )

    read(unknown_id(account["id"])).refused(404, twin=read(account["id"]))
