"""Counterparties: refusals when the institution behind an account fails, and UMA addresses.

An implementation may notice a failure when the receiver is looked up, when a payment to it is
quoted, or when the quote is executed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
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
    require_member,
    unknown_id,
)
from conformance.scenarios.kit.cases import case
from conformance.scenarios.kit.marks import SETTLING, Check, requirement
from conformance.scenarios.kit.refusals import (
    INVALID,
    NOT_FOUND,
    REFUSED,
    expect_code,
    require_refusal,
)
from conformance.scenarios.quotes.terms import (
    LOCKED_TOTALS,
    expect_fee_rule,
    expect_short_life,
    is_within,
)
from conformance.scenarios.quotes.uma import uma_destination, uma_quote
from conformance.verdict.decisions import FeatureUndeclared, ResourceMissing


@dataclass(frozen=True)
class Cause:
    """A failure of a counterparty, and the error codes that report it.

    ``refusing`` is the requirement that the payment is refused, ``naming`` the requirement about
    the code of the refusal. ``name`` is the last part of the trigger; ``codes`` are the statuses
    and codes that fit.
    """

    refusing: str
    naming: str
    name: str
    codes: Mapping[str, int]


CAUSES = (
    Cause(
        "ERR-020",
        "ERR-021",
        "lookup_refused",
        {"LOOKUP_REQUEST_FAILED": 400, "LNURLP_REQUEST_FAILED": 424},
    ),
    Cause("ERR-022", "ERR-023", "lookup_garbled", {"PARSE_LNURLP_RESPONSE_ERROR": 400}),
    Cause("ERR-024", "ERR-025", "sender_refused", {"SENDER_NOT_ACCEPTED": 400}),
    Cause("ERR-026", "ERR-027", "certificate_forged", {"CERT_CHAIN_INVALID": 400}),
    Cause("ERR-028", "ERR-029", "certificate_expired", {"CERT_CHAIN_EXPIRED": 400}),
    Cause("ERR-030", "ERR-031", "key_hidden", {"COUNTERPARTY_PUBKEY_FETCH_ERROR": 424}),
    Cause("ERR-032", "ERR-033", "key_garbled", {"INVALID_PUBKEY_FORMAT": 400}),
    Cause("ERR-034", "ERR-035", "parameters_omitted", {"MISSING_REQUIRED_UMA_PARAMETERS": 400}),
    Cause("ERR-036", "ERR-037", "payment_unanswered", {"PAYREQ_REQUEST_FAILED": 424}),
    Cause("ERR-038", "ERR-039", "payment_garbled", {"PARSE_PAYREQ_RESPONSE_ERROR": 400}),
    Cause("ERR-040", "ERR-041", "payment_falsified", {"INVALID_PAYREQ_RESPONSE": 400}),
    Cause("ERR-042", "ERR-043", "receiver_refused", {"INVALID_RECEIVER": 400}),
)

NO_ADDRESS = "not an address"

TERMS = {
    "SENDING": {True: ("QUO-044", "QUO-051", "QUO-048"), False: ("QUO-046", "QUO-053")},
    "RECEIVING": {True: ("QUO-045", "QUO-052", "QUO-049"), False: ("QUO-047", "QUO-054")},
}
"""That a locked amount is kept, that fees are the difference and what the rate is, by the side that
is locked: within one currency, and between two."""


def look_up_and_pay(platform: Platform, source: Resource, account: Resource) -> list[Answer]:
    """Look a receiver up and pay it; return the answers up to the first refusal."""
    looked_up = platform.api.lookup_external_account(
        account["id"], {"customerId": source["customerId"]}
    )
    if not looked_up.accepted:
        return [looked_up]
    return [looked_up, *platform.quotes.create_and_execute(platform.quotes.body(source, account))]


@pytest.mark.parametrize(
    "cause",
    [case((row.refusing, row.naming), row.name, row) for row in CAUSES],
)
def test_a_counterparty_that_fails_is_not_paid(
    platform: Platform, check: Check, cause: Cause
) -> None:
    """The lookup, quote or execution is refused, or the payment fails.

    Another receiver of the same kind can be paid. A quote that no lookup came before is refused by
    the same code, where it is refused.
    """
    source = platform.internal_accounts.account()
    owner = source.owner
    failing = platform.external_accounts.account(owner, trigger=f"counterparty.{cause.name}")

    answers = look_up_and_pay(platform, source, failing)
    unasked = platform.api.create_quote(platform.quotes.body(source, failing))

    other = platform.external_accounts.account(owner)
    lookup, *steps = look_up_and_pay(platform, source, other)
    last, twin = answers[-1], [lookup, *steps][: len(answers)][-1]
    with check(cause.refusing):
        if last.accepted:
            assert platform.transactions.failed(last.body).get("status") in FAILED, last
        else:
            last.refused(twin=twin)
    with check(cause.naming):
        require_refusal(last)
        expect_code(last, cause.codes, twin=twin)
        if steps and not unasked.accepted:
            expect_code(unasked, cause.codes, twin=steps[0])


@requirement("ERR-044")
def test_a_counterparty_that_does_not_answer_is_told_by_its_code(platform: Platform) -> None:
    """The lookup is refused with a code for the failed request, the public key or the lookup.

    A quote that no lookup came before may be refused too; the judge holds that to its code.
    """
    source = platform.internal_accounts.account()
    customer = source.owner
    failing = platform.external_accounts.account(customer, trigger="counterparty.down")

    unasked = platform.api.create_quote(platform.quotes.body(source, failing))
    refusal = platform.api.lookup_external_account(failing["id"], {"customerId": customer["id"]})

    platform.observe(f"a quote to a counterparty that does not answer: {unasked.status}")
    twin = platform.api.lookup_external_account(
        platform.external_accounts.account(customer)["id"], {"customerId": customer["id"]}
    )
    refusal.refused(
        "LNURLP_REQUEST_FAILED",
        "COUNTERPARTY_PUBKEY_FETCH_ERROR",
        "LOOKUP_REQUEST_FAILED",
        twin=twin,
    )


@requirement("ERR-045")
def test_what_a_counterparty_did_not_agree_to_is_not_paid(platform: Platform) -> None:
    """The balances of the source are unchanged after the quote or its execution is refused.

    A quote that was created may hold its amount back, until it expires.
    """
    source = platform.internal_accounts.account()
    failing = platform.external_accounts.account(
        source.owner, trigger="counterparty.payment_unanswered"
    )
    before = platform.internal_accounts.balances(source)

    answers = platform.quotes.create_and_execute(platform.quotes.body(source, failing))

    require_refusal(answers[-1])
    after = platform.internal_accounts.balances(source)
    assert after[1] == before[1], f"totalBalance was {before[1]}, and is {after[1]}"
    if not answers[0].accepted:
        assert after == before


# --- UMA addresses --------------------------------------------------------------------------


def unknown_address(platform: Platform) -> str:
    """Return a UMA address that no receiver has.

    Raises:
        ResourceMissing: the profile gives no such address.
    """
    address = platform.profile.bindings.uma_stranger
    if address is None:
        raise ResourceMissing("bindings.uma_stranger of the profile names no address")
    return address


@requirement("ERR-060", "QUO-031", "QUO-032", "QUO-033", "QUO-036", "QUO-039", "QUO-050")
@requirement("QUO-062", "QUO-070", "QUO-852")
@pytest.mark.parametrize(
    "side",
    [
        case((ids for row in TERMS[side].values() for ids in row), side, side)
        for side in LOCKED_TOTALS
    ],
)
def test_a_uma_address_can_be_paid(platform: Platform, check: Check, side: str) -> None:
    """A quote to the UMA address of a receiver elsewhere is created, whichever side is locked.

    It shows what was sent, keeps the locked amount, and lives for a quarter of an hour at most. Its
    amounts differ by its fees, converted at its rate.
    """
    source = platform.internal_accounts.account()
    body = {**uma_quote(platform, source), "lockedCurrencySide": side, "description": "003119"}

    answer = platform.api.create_quote(body)

    with check("ERR-060"):
        answer.expect_accepted()
    if not answer.accepted:
        raise ResourceMissing(f"no quote to a UMA address is created: {answer}")
    quote = arranged_resource(answer)
    with check("QUO-070"):
        assert answer.status == HTTPStatus.CREATED, answer
    with check("QUO-031"):
        assert quote["source"].get("sourceType") == "ACCOUNT", quote
    with check("QUO-032"):
        assert quote["source"].get("accountId") == source["id"], quote
    with check("QUO-033"):
        shown = quote["destination"].get("destinationType")
        assert shown == body["destination"]["destinationType"], quote
    with check("QUO-852"):
        expect_address(quote["destination"], body["destination"])
    with check("QUO-036"):
        code = source["balance"]["currency"]["code"]
        assert quote["sendingCurrency"].get("code") == code, quote
    with check("QUO-039"):
        assert require_member(quote, "description") == body["description"]
    with check("QUO-062"):
        expect_short_life(quote)
    within = is_within(quote)
    with check("QUO-050"):
        require_same_currency(within)
        assert quote.get("feesIncluded") is not None, "feesIncluded is not populated"
    for same_currency, (locked_id, net_id, *rate_ids) in TERMS[side].items():
        with check(locked_id):
            require_same_currency(within, same_currency)
            assert quote[LOCKED_TOTALS[side]] == body["lockedCurrencyAmount"], quote
        with check(net_id):
            require_same_currency(within, same_currency)
            expect_fee_rule(quote)
        for rate_id in rate_ids:
            with check(rate_id):
                require_same_currency(within, same_currency)
                assert quote["exchangeRate"] == 1, quote


def require_same_currency(within: bool, expected: bool = True) -> None:
    """Raise ``ResourceMissing`` where a receiver is paid in a currency of the other kind."""
    if within is not expected:
        raise ResourceMissing("the receiver is paid in a currency of the other kind")


def expect_address(shown: Json, sent: Json) -> None:
    """Assert that a destination shows the UMA address that was sent, in whichever case.

    Raises:
        ResourceMissing: it does not show the member that has it.
    """
    __tracebackhide__ = True
    addresses = {name: str(value) for name, value in sent.items() if "@" in str(value)}
    found = {name: str(shown[name]) for name in addresses if shown.get(name)}
    if not found:
        raise ResourceMissing(f"the destination is shown without its address: {shown}")
    assert all(found[name].lower() == addresses[name].lower() for name in found), shown


@requirement("ERR-060", "QUO-210")
def test_a_payment_to_a_uma_address_may_be_funded_just_in_time(
    platform: Platform, check: Check
) -> None:
    """A quote to a UMA address from a source of REALTIME_FUNDING is created, and paid for."""
    account = platform.internal_accounts.account(amount=0)
    body = uma_quote(platform, account)
    source = platform.quotes.realtime_body(account.owner, {"id": ""})["source"]

    answer = platform.api.create_quote({**body, "source": source})

    with check("ERR-060"):
        answer.expect_accepted()
    quote = arranged_resource(answer)
    with check("QUO-210"):
        platform.triggers.fire("quote.fund", quoteId=quote["id"], customerId=account.owner["id"])
        assert platform.transactions.at_status(quote, *SETTLING)["status"] in SETTLING


@requirement("ERR-060")
def test_a_uma_address_may_be_paid_from_a_pullable_account(platform: Platform) -> None:
    """A quote to a UMA address from an external account with direct pull is created."""
    customer = platform.approved.customer()
    platform.quotes.require_pulls_abroad()
    account = platform.external_accounts.pullable(customer)

    answer = platform.api.create_quote(uma_quote(platform, account))

    answer.expect_accepted()


@dataclass(frozen=True)
class WrongAddress:
    """A UMA address that cannot be paid, or no address.

    ``refusing`` is the requirement that a quote to it is refused with one of ``statuses``,
    ``naming`` the requirement that the refusal has one of ``codes``.
    """

    refusing: str
    naming: str
    address: Callable[[Platform], str | None]
    statuses: tuple[int, ...]
    codes: tuple[int | str, ...]


WRONG_ADDRESSES = {
    "malformed": WrongAddress(
        "ERR-050",
        "ERR-051",
        lambda _: NO_ADDRESS,
        REFUSED,
        ("INVALID_UMA_ADDRESS", *INVALID),
    ),
    "unknown": WrongAddress("ERR-052", "ERR-053", unknown_address, (), (404, "UMA_NOT_FOUND")),
    "missing": WrongAddress(
        "ERR-054",
        "ERR-055",
        lambda _: None,
        REFUSED,
        ("MISSING_REQUIRED_UMA_PARAMETERS", "INVALID_UMA_ADDRESS", *INVALID),
    ),
}


@pytest.mark.parametrize(
    "wrong",
    [case((row.refusing, row.naming), name, row) for name, row in WRONG_ADDRESSES.items()],
)
def test_a_uma_address_that_is_none_cannot_be_paid(
    platform: Platform, check: Check, wrong: WrongAddress
) -> None:
    """The quote or its execution is refused, or the payment fails; another address can be paid.

    So it is with the second attempt, when the address may be remembered.
    """
    body = uma_quote(platform)
    destination = uma_destination(platform, wrong.address(platform))

    answers = platform.quotes.create_and_execute({**body, "destination": destination})
    *_, again = platform.quotes.create_and_execute({**body, "destination": destination})

    last, twin = answers[-1], platform.quotes.create_and_execute(body)[: len(answers)][-1]
    with check(wrong.refusing):
        for attempt in (last, again):
            if attempt.accepted:
                status = platform.transactions.failed(attempt.body).get("status")
                assert status in FAILED, attempt
            else:
                attempt.refused(*wrong.statuses, twin=twin)
    with check(wrong.naming):
        require_refusal(last)
        last.refused(*wrong.codes, twin=twin)


@requirement("ERR-056", "ERR-057", "ERR-058", "ERR-059")
def test_a_sender_is_known_by_a_uma_address(platform: Platform, check: Check) -> None:
    """A lookup is refused for a sender with a malformed or unknown UMA address.

    An unknown one sends in no currency, be it the default or another one.
    """
    if not platform.profile.features.uma:
        raise FeatureUndeclared("uma")
    customer = platform.approved.customer()
    account = platform.external_accounts.account(customer)
    own = require_member(
        platform.customers.read(customer), platform.profile.bindings.require("uma_address")
    )
    name, at_sign, domain = str(own).rpartition("@")

    malformed = platform.api.lookup_external_account(
        account["id"], {"senderUmaAddress": NO_ADDRESS}
    )
    nobody = {"senderUmaAddress": f"{name}9{at_sign}{domain}"}
    unknown, unknown_in_currency = (
        platform.api.lookup_external_account(account["id"], query)
        for query in (nobody, {**nobody, "sendingCurrency": platform.profile.currency})
    )
    twin = platform.api.lookup_external_account(account["id"], {"senderUmaAddress": own})

    with check("ERR-056"):
        malformed.refused(twin=twin)
    with check("ERR-057"):
        require_refusal(malformed)
        malformed.refused(400, "INVALID_UMA_ADDRESS", *INVALID, twin=twin)
    with check("ERR-058"):
        for refusal in (unknown, unknown_in_currency):
            refusal.refused(400, 404, twin=twin)
    with check("ERR-059"):
        require_refusal(unknown)
        codes = ("UMA_NOT_FOUND", "CUSTOMER_NOT_FOUND", "USER_NOT_FOUND", "NOT_FOUND")
        unknown.refused(*codes, *INVALID, twin=twin)


# --- Lookups --------------------------------------------------------------------------------


@requirement("ERR-065", "ERR-066")
def test_a_lookup_that_was_never_made_cannot_be_named(platform: Platform, check: Check) -> None:
    """A quote with an unknown lookup id is refused; one with the id of a lookup is created."""
    member = platform.profile.bindings.quote_lookup
    if member is None:
        raise ResourceMissing("bindings.quote_lookup of the profile names no member")
    source = platform.internal_accounts.account()
    account = platform.external_accounts.account(source.owner)
    lookup = arranged_body(
        platform.api.lookup_external_account(account["id"], {"customerId": source["customerId"]})
    )
    body = {**platform.quotes.body(source, account), member: lookup["lookupId"]}

    refusal = platform.api.create_quote({**body, member: unknown_id(lookup["lookupId"])})

    twin = platform.api.create_quote(body)
    with check("ERR-065"):
        refusal.refused(*NOT_FOUND, twin=twin)
    with check("ERR-066"):
        require_refusal(refusal)
        refusal.refused("LOOKUP_REQUEST_NOT_FOUND", "NOT_FOUND", *INVALID, twin=twin)
