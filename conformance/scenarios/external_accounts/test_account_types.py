"""External accounts of every type: created as the example, with one change, and with one fault."""

from __future__ import annotations

import contextlib
import re

import pytest

from conformance.contract.notation import masked_or_same, same_text
from conformance.exchange.answer import Answer
from conformance.platform.platform import Platform
from conformance.platform.resource import Body, Json, arranged_resource, require_member
from conformance.scenarios.kit.cases import case
from conformance.scenarios.kit.marks import Check, requirement
from conformance.scenarios.kit.notation import require_value_at
from conformance.scenarios.kit.refusals import REFUSED, last_name, names
from conformance.scenarios.protocol.unsaid import with_known_values
from conformance.testdata.accounts import AccountExample, account_example, account_examples
from conformance.testdata.examples import ABSENT, Change, placed
from conformance.text.paths import value_at
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing

WORDS = ("bankAccountType", "bankName", "intermediaryBankName", "pixKeyType", "provider", "rail")
"""Members that hide nothing of an account's holder, so that nobody masks them."""

DESTINATIONS = ("lightningAddress", "invoice", "bolt12")
"""Members of an account of Lightning, which has one of them."""

IN_BASE_58 = ("SOLANA_WALLET", "TRON_WALLET")
"""Wallets whose addresses are others in another case."""

UNLIKE_THE_FIRST = (
    "usd_account.wire",
    "gbp_account.account_number_from_zero",
    "inr_account.rtgs",
    "xof_account.benin",
    "arbitrum_wallet.usdt",
)
"""Examples that are unlike the first of their types."""

LISTED = {
    example.account_type: example.name
    for example in (*account_examples().values(), *map(account_example, UNLIKE_THE_FIRST))
}
"""By type an example that is listed."""

OTHER_NAMES = {
    "mxn_account": ("clabeNumber", "accountNumber"),
    "eur_account": ("iban", "accountNumber"),
    "aed_account": ("iban", "accountNumber"),
    "gbp_account": ("sortCode", "routingNumber"),
    "kes_account": ("phoneNumber", "accountNumber"),
    "solana_wallet": ("address", "accountNumber"),
}
"""By example a member that its type requires, and the name of one that others have."""

OF_DIGITS = {
    "usd_account": "routingNumber",
    "mxn_account": "clabeNumber",
    "gbp_account": "sortCode",
    "ngn_account": "accountNumber",
}
"""By example a member that has so many digits and no more."""

MISNAMED = [
    case(change.requirement, name, account_example(name), *names_of)
    for name, names_of in OTHER_NAMES.items()
    for change in account_example(name).refused
    if last_name(change.member) == names_of[0] and change.value is ABSENT
]


NAMES = ("bankName", "bankAccountType", "provider", "rail", "address", "lightningAddress", "bolt12")
"""The members of an ``accountInfo`` by which nobody knows a person, so that none withholds them."""


def with_plus(body: Json) -> list[str]:
    """Return the members of an ``accountInfo`` that are phone numbers in international format."""
    told = body["accountInfo"]
    return [name for name in ("phoneNumber", "pixKey") if str(told.get(name)).startswith("+")]


EXAMPLES = [
    case(
        (
            *(example.requirement, "EXT-011", "EXT-012", "EXT-831", "EXT-835"),
            *(["EXT-832"] if with_plus(example.body) else []),
            *example.shown.values(),
        ),
        example.name,
        example,
    )
    for example in account_examples().values()
]

ACCEPTED = [
    case(
        filter(None, (change.requirement, example.shown.get(last_name(change.member)))),
        f"{example.name}-{change.member}-{change.name}",
        example,
        change,
    )
    for example in account_examples().values()
    for change in example.accepted
]

REFUSALS = [
    case(
        filter(None, (change.requirement, example.naming)),
        f"{example.name}-{change.member}-{change.name}",
        example,
        change,
    )
    for example in account_examples().values()
    for change in example.refused
]


@pytest.mark.parametrize("example", EXAMPLES)
def test_a_valid_account_is_created(
    platform: Platform, check: Check, example: AccountExample
) -> None:
    """A created account and a reading show the currency, type and details that were sent."""
    body = platform.external_accounts.body(
        platform.external_accounts.account_holder(), example.name
    )

    answer = with_known_values(platform, platform.api.create_external_account(body))

    with check(example.requirement):
        answer.expect_accepted()
    account = arranged_resource(answer)
    account_read = arranged_resource(platform.api.get_external_account(account["id"]))
    with check("EXT-835"):
        expect_names_kept(account, account_read)
    with check("EXT-011"):
        assert account.get("platformAccountId") == body["platformAccountId"], account
    with check("EXT-012"):
        assert require_member(account_read, "platformAccountId") == body["platformAccountId"]
    for shown in (account, account_read):
        with check(example.requirement):
            expect_kind(shown, example)
        with check("EXT-831"):
            expect_details(shown, example)
        for member in with_plus(body):
            with check("EXT-832"):
                expect_plus(shown, body, member)
        for member, requirement_id in example.shown.items():
            with check(requirement_id):
                expect_alone(shown, body, member)
                expect_sent(shown, body, member)


def expect_names_kept(created: Json, account_read: Json) -> None:
    """Assert that a reading of an account shows the names that the answer to its creation showed.

    Raises:
        ResourceMissing: the answer shows none.
    """
    __tracebackhide__ = True
    before, now = (require_value_at(one, "accountInfo") for one in (created, account_read))
    names = [name for name in NAMES if before.get(name) is not None]
    if not names:
        raise ResourceMissing("the answer to the creation shows no name of a bank or a wallet")
    assert not [name for name in names if now.get(name) is None], account_read


def expect_details(account: Json, example: AccountExample) -> None:
    """Assert that an account shows all that was told of it in its ``accountInfo``."""
    __tracebackhide__ = True
    held = require_value_at(account, "accountInfo")
    assert not [member for member in example.shown if value_at(held, member) is None], account


def expect_plus(account: Json, body: Body, member: str) -> None:
    """Assert that a phone number that is shown in full begins with a plus, as it was sent.

    Raises:
        ResourceMissing: it is not shown, or in part.
    """
    __tracebackhide__ = True
    shown_value = str(require_value_at(account, f"accountInfo.{member}"))
    if not same_text(shown_value, require_value_at(body, f"accountInfo.{member}")):
        raise ResourceMissing(f"{member} is not shown in full: {shown_value}")
    assert shown_value.lstrip(" (").startswith("+"), account


def expect_alone(account: Json, body: Body, member: str) -> None:
    """Assert that an account shows no other destination of Lightning than the one that was sent."""
    __tracebackhide__ = True
    if member in DESTINATIONS:
        shown = [name for name in DESTINATIONS if account["accountInfo"].get(name) is not None]
        sent = [name for name in DESTINATIONS if name in body["accountInfo"]]
        assert {*shown} <= {*sent}, account


def expect_kind(account: Json, example: AccountExample) -> None:
    """Assert that an account has the currency and the accountType of an example."""
    __tracebackhide__ = True
    assert account.get("currency") == example.currency
    assert require_value_at(account, "accountInfo.accountType") == example.account_type


def expect_sent(account: Json, body: Body, member: str) -> None:
    """Assert that an account shows a member of ``accountInfo`` as it was sent, or masked."""
    __tracebackhide__ = True
    shown_value = require_value_at(account, f"accountInfo.{member}")
    sent_value = require_value_at(body, f"accountInfo.{member}")
    agree = same_text if member in WORDS else masked_or_same
    assert agree(shown_value, sent_value), account
    whole = member == "address" and same_text(shown_value, sent_value)
    if whole and body["accountInfo"]["accountType"] in IN_BASE_58:
        assert re.sub(r"[\W_]", "", shown_value) == sent_value, account


@pytest.mark.parametrize(("example", "change"), ACCEPTED)
def test_another_valid_account_is_created(
    platform: Platform, check: Check, example: AccountExample, change: Change
) -> None:
    """An account that differs from the example in one member, validly, is accepted.

    The answer to the creation and a reading show it so.
    """
    body = platform.external_accounts.body(
        platform.external_accounts.account_holder(), example.name, change=change
    )

    answer = with_known_values(platform, platform.api.create_external_account(body))

    with check(change.requirement):
        answer.expect_accepted()
    member = last_name(change.member)
    if member in example.shown:
        account = arranged_resource(answer)
        for shown in (account, platform.external_accounts.read(account)):
            with check(example.shown[member]):
                expect_sent(shown, body, member)


@requirement("EXT-091", "EXT-092", "EXT-831")
def test_a_list_shows_accounts_of_all_types(platform: Platform, check: Check) -> None:
    """Each account is listed with its own currency and type, and with the details that were sent.

    Details may be masked; that none is left out is a recommendation.
    """
    owner = platform.external_accounts.account_holder()
    created = {}
    for example in map(account_example, LISTED.values()):
        with contextlib.suppress(ResourceMissing):
            body = platform.external_accounts.body(owner, example.name)
            answer = with_known_values(platform, platform.api.create_external_account(body))
            if answer.accepted:
                created[arranged_resource(answer)["id"]] = example, body

    if not created:
        raise ResourceMissing(f"accounts of none of the types are offered: {[*LISTED]}")
    # New accounts may be listed a moment later.
    rows = platform.until(
        lambda: {row.get("id"): row for row in platform.external_accounts.of_customer(owner)},
        lambda listed: created.keys() <= listed.keys(),
    )

    if not created.keys() <= rows.keys():
        raise PreconditionFailed(
            f"{created.keys() - rows.keys()} are not listed", breaks=["EXT-080"]
        )
    for account_id, (example, body) in created.items():
        row = rows[account_id]
        with check("EXT-091"):
            assert row.get("currency") == example.currency, row
        with check("EXT-092"):
            assert require_value_at(row, "accountInfo.accountType") == example.account_type
            for member in example.shown:
                if row["accountInfo"].get(member) is not None:
                    expect_sent(row, body, member)
        with check("EXT-831"):
            expect_details(row, example)


@pytest.mark.parametrize(("example", "change"), REFUSALS)
def test_an_account_with_one_fault_is_refused(
    platform: Platform, check: Check, example: AccountExample, change: Change
) -> None:
    """A request with one wrong member is refused with 400 or 422; field errors name the member."""
    accounts = platform.external_accounts
    customer = accounts.account_holder()

    def register(beneficiary: Json | None) -> tuple[Answer, Answer]:
        faulty_body = accounts.body(customer, example.name, change=change, beneficiary=beneficiary)
        refusal = platform.api.create_external_account(faulty_body, valid=False)
        valid_body = accounts.body(customer, example.name, beneficiary=beneficiary)
        twin = platform.api.create_external_account(valid_body)
        return refusal, with_known_values(platform, twin)

    # What is asked of a business in another currency would be missing too.
    is_of_currency = change.member != "currency"
    business = accounts.drawn_business(customer, example.currency) if is_of_currency else None
    refusal, twin = register(business)

    if business is not None and not twin.accepted:
        refusal, twin = register(None)
    with check(change.requirement):
        refusal.refused(*REFUSED, twin=twin)
    if example.naming is not None:
        with check(example.naming):
            if refusal.accepted or not twin.accepted:
                raise ResourceMissing("it was not refused for its fault")
            assert names(refusal, *change.names), refusal


@pytest.mark.parametrize(("example", "member", "other"), MISNAMED)
def test_a_number_under_another_name_is_none(
    platform: Platform, example: AccountExample, member: str, other: str
) -> None:
    """What a type requires is missing where it stands under the name that another type has."""
    customer = platform.external_accounts.account_holder()
    body, valid_body = (platform.external_accounts.body(customer, example.name) for _ in range(2))
    number = body["accountInfo"][member]
    misnamed = placed(placed(body, f"accountInfo.{other}", number), f"accountInfo.{member}", ABSENT)

    refusal = platform.api.create_external_account(misnamed, valid=False)

    refusal.refused(*REFUSED, twin=platform.api.create_external_account(valid_body))


@requirement("EXT-904")
@pytest.mark.parametrize(("name", "member"), OF_DIGITS.items(), ids=[*OF_DIGITS])
def test_no_line_feed_is_of_a_number(platform: Platform, name: str, member: str) -> None:
    """A number with a line feed behind it is refused, or shown without it, or masked."""
    customer = platform.external_accounts.account_holder()
    body, valid_body = (platform.external_accounts.body(customer, name) for _ in range(2))
    number = body["accountInfo"][member]
    longer = placed(body, f"accountInfo.{member}", f"{number}\n")

    answer = platform.api.create_external_account(longer, valid=False)

    if not answer.accepted:
        answer.refused(*REFUSED, twin=platform.api.create_external_account(valid_body))
        return
    account = platform.external_accounts.read(arranged_resource(answer, customer))
    shown = require_value_at(account, f"accountInfo.{member}")
    assert "\n" not in str(shown), account
