"""Conventions of all answers: their form, and that of errors, currencies, money, times and ids."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from typing import Any

import pytest

from conformance.contract.document import JSON, media_type_of
from conformance.contract.judge import judge
from conformance.contract.moments import parse_moment
from conformance.exchange.answer import Answer
from conformance.exchange.clock import now
from conformance.platform.platform import Platform
from conformance.platform.resource import (
    Json,
    Resource,
    arranged_body,
    arranged_resource,
    owner_of,
    require_member,
    unknown_id,
)
from conformance.profile.resources import Corridor
from conformance.scenarios.cards.holdings import ACCOUNTS
from conformance.scenarios.kit.cases import case
from conformance.scenarios.kit.marks import Check, requirement
from conformance.scenarios.kit.notation import unlike_looks
from conformance.scenarios.kit.refusals import REFUSED
from conformance.scenarios.kit.shapes import expect_members
from conformance.scenarios.protocol.stray import expect_unbroken
from conformance.text.paths import value_at
from conformance.verdict.decisions import ResourceMissing, expect

JSON_CONTENT = {"content-type": "application/json"}

MAX_CLOCK_DIFFERENCE = timedelta(minutes=15)
"""Clocks may differ by less than this; no two time zones are closer to each other."""

COINS = ("BTC", "USDC", "USDT")

OTHERS = {"USD", "GBP", *COINS}
"""Currencies whose decimals are judged on their own, or left open."""


@requirement("CNV-001", "CNV-002", "CNV-003")
def test_the_answers_of_a_payment_are_documented(platform: Platform) -> None:
    """Each answer has a status, media type and shape that the document gives for its operation."""
    source = platform.internal_accounts.account()

    platform.quotes.complete(platform.quotes.pending(source))

    for name in ("getConfig", "listPlatformInternalAccounts", "listPlatformExternalAccounts"):
        platform.api.client.call(name)
    platform.api.client.call("getCustomer", path={"customerId": source["customerId"]})


@requirement("CNV-004", "CNV-005", "CNV-006", "CNV-007", "CNV-008", "CNV-009")
def test_an_error_says_what_is_wrong(platform: Platform, check: Check) -> None:
    """A refusal has a code and a reason, and its details list the invalid fields with messages."""
    body = platform.customers.body()

    refusal = platform.api.create_customer({**body, "customerType": 7}, valid=False)

    refusal.refused(twin=platform.api.create_customer(body))
    with check("CNV-007"):
        require_member(refusal.body, "details")
    with check("CNV-008"):
        invalid_fields(refusal)
    with check("CNV-009"):
        require_member(invalid_fields(refusal)[0], "message")


@requirement("CNV-010")
def test_a_code_stands_under_its_status(platform: Platform) -> None:
    """Each code of the interface comes with its status; any other code may come with any status."""
    body = platform.quotes.body()
    twin = platform.api.create_quote(body)
    unknown = unknown_id(arranged_resource(twin)["id"])
    refusals = [
        platform.api.create_quote({**body, "lockedCurrencySide": "BOTH"}, valid=False),
        platform.api.create_quote({**body, "lockedCurrencyAmount": -1}, valid=False),
        platform.api.client.call("executeQuote", path={"quoteId": unknown}),
    ]

    for refusal in refusals[:2]:
        refusal.refused(twin=twin)

    if not any(refusal.code in judge().statuses for refusal in refusals):
        raise ResourceMissing(f"no code of the interface came: {[r.code for r in refusals]}")


@requirement("CNV-011", "CNV-012", "CNV-013", "CNV-014", "CNV-015", "CNV-016", "CNV-017")
def test_money_names_its_currency(platform: Platform, check: Check) -> None:
    """The currency of a balance has a code, a name, a symbol and a number of decimals."""
    currency: Json = platform.internal_accounts.account(amount=0)["balance"]["currency"]

    with check("CNV-014"):
        require_member(currency, "name")
    with check("CNV-015"):
        require_member(currency, "symbol")


@pytest.mark.parametrize(
    "arrange_account",
    [
        case(("CNV-107", "CNV-108"), kind, arrange_account)
        for kind, arrange_account in ACCOUNTS.items()
    ],
)
def test_a_currency_can_be_named_to_people(
    platform: Platform, check: Check, arrange_account: Callable[[Platform], Resource]
) -> None:
    """The currency of each balance shows the name and the symbol that its shape lists."""
    account = arrange_account(platform)

    for currency in currencies(account.shown):
        expect_members(check, currency, {"CNV-107": "name", "CNV-108": "symbol"})


@pytest.mark.parametrize(
    "is_wanted",
    [
        case(("CNV-107", "CNV-108", "CNV-112"), kind, is_wanted)
        for kind, is_wanted in {
            "to-another-currency": lambda corridor: corridor.sending != corridor.receiving,
            # Pesos have the sign of dollars, so that it may be taken from the other side.
            "to-another-sign": lambda corridor: (
                corridor.sending == "USD" and corridor.receiving in ("EUR", "GBP", "INR", "BRL")
            ),
            "to-crypto": lambda corridor: corridor.receiving in COINS,
            "from-crypto": lambda corridor: corridor.sending in COINS,
        }.items()
    ],
)
def test_the_currencies_of_a_payment_can_be_named_to_people(
    platform: Platform, check: Check, is_wanted: Callable[[Corridor], bool]
) -> None:
    """The currencies of a quote, its transaction and a lookup show the same name and symbol.

    So does the account that pays.
    """
    corridor = next(filter(is_wanted, platform.profile.resources.corridors), None)
    if corridor is None:
        raise ResourceMissing("resources.corridors of the profile has none of this kind")
    source, destination = platform.quotes.ends(corridor)
    quote = platform.quotes.pending(source, destination)
    lookup = platform.api.lookup_external_account(
        destination.id, {"customerId": source["customerId"]}
    )

    transaction = platform.transactions.of_quote(quote)
    bodies = [source.shown, quote.shown, transaction.shown, lookup.body]

    for currency in currencies(bodies):
        expect_members(check, currency, {"CNV-107": "name", "CNV-108": "symbol"})
    with check("CNV-112"):
        unlike = unlike_looks(currencies(bodies))
        assert not unlike, unlike


@requirement("CNV-112")
def test_the_currency_of_a_purchase_looks_like_that_of_its_account(platform: Platform) -> None:
    """A settled purchase of a card shows the name, symbol and decimals that its account shows."""
    account = platform.cards.account()
    purchase = platform.cards.settled_purchase(platform.cards.card(account))

    unlike = unlike_looks(currencies([account.shown, purchase]))

    assert not unlike, unlike


@requirement("CNV-020")
def test_us_dollars_have_two_decimals(platform: Platform) -> None:
    """The balance of an account in USD gives 2 as the decimals of its currency."""
    corridor, *_ = platform.quotes.corridors_from("USD")

    currency = platform.internal_accounts.account(corridor.sending, amount=0)["balance"]["currency"]

    assert currency.get("decimals") == 2


@requirement("CNV-960")
def test_us_dollars_have_a_full_name(platform: Platform) -> None:
    """The balance of an account in USD gives the name of its currency, which is judged."""
    corridor, *_ = platform.quotes.corridors_from("USD")

    currency = platform.internal_accounts.account(corridor.sending, amount=0)["balance"]["currency"]

    require_member(currency, "name")


@requirement("CNV-109")
def test_a_currency_has_the_decimals_of_its_smallest_unit(platform: Platform) -> None:
    """A customer of all supported currencies has accounts in them, whose decimals are judged.

    Where nobody gets them all at once, the accounts are in the currencies that corridors send.
    """
    code_member = platform.profile.bindings.require("config_currency")
    entries = platform.configuration.read().get("supportedCurrencies") or ()
    codes = [code for entry in entries if isinstance(code := value_at(entry, code_member), str)]
    answer = platform.api.create_customer(platform.customers.body(currencies=codes))
    accounts = platform.internal_accounts.of_customer(answer.body) if answer.accepted else []
    if not accounts:
        corridors = platform.profile.resources.corridors
        sending = dict.fromkeys(corridor.sending for corridor in corridors)
        accounts = [platform.internal_accounts.account(code, amount=0) for code in sending]

    judged = {code for account in accounts for code, _ in decimals(account)} - OTHERS

    if not judged:
        raise ResourceMissing(f"customers get accounts in {' or '.join(sorted(OTHERS))} alone")


@requirement("CNV-018", "CNV-019")
def test_times_and_ids_have_one_form(platform: Platform) -> None:
    """Times are in UTC, and ids begin with the type of the resource that they identify."""
    source = platform.internal_accounts.account()
    destination = platform.external_accounts.account(owner_of(source))
    quote = platform.quotes.complete(platform.quotes.pending(source, destination))

    platform.transactions.of_quote(quote)
    platform.api.lookup_external_account(destination["id"], {"customerId": source["customerId"]})


@requirement("CNV-019")
def test_ids_of_onboarding_have_one_form(platform: Platform) -> None:
    """Ids of owners, documents and submissions, and of their customers, begin with their types."""
    business = platform.verification.reviews.unsubmitted(business=True)

    arranged_body(platform.api.create_beneficial_owner(platform.verification.owners.body(business)))
    arranged_body(
        platform.api.create_document(
            platform.verification.documents.form(platform.customers.applicant(business=False))
        )
    )
    if platform.profile.features.declares("unregulated"):
        arranged_body(platform.verification.reviews.submit(business))


@requirement("CNV-025")
def test_each_internal_account_has_an_id_of_its_own(platform: Platform) -> None:
    """The internal accounts of two customers in the same currency have different ids."""
    first, second = (
        platform.internal_accounts.account(amount=0),
        platform.internal_accounts.account(amount=0),
    )

    assert first["id"] != second["id"]


@requirement("CNV-026")
def test_a_quote_is_created_now(platform: Platform) -> None:
    """The ``createdAt`` of a quote is near the ``Date`` of its answer, or near our clock."""
    answer = platform.api.create_quote(platform.quotes.body())

    created_at = parse_moment(arranged_resource(answer)["createdAt"])
    moment = answer.date or now()
    assert abs(moment - created_at) < MAX_CLOCK_DIFFERENCE, (
        f"it is {moment}, and the quote says {created_at}"
    )


@requirement("CNV-030")
@pytest.mark.parametrize("kind", ["usual", "crypto"])
def test_a_currency_has_the_same_decimals_everywhere(platform: Platform, kind: str) -> None:
    """Balances, quotes, transactions and lookups give a currency the same number of decimals."""
    corridors = [platform.profile.usual_corridor]
    if kind == "crypto":
        corridors = [one for one in platform.profile.resources.corridors if one.sending in COINS]
    if not corridors:
        raise ResourceMissing("resources.corridors of the profile send no coins")
    source, destination = platform.quotes.ends(corridors[0])
    quote = platform.quotes.complete(platform.quotes.pending(source, destination, side="SENDING"))
    lookup = platform.api.client.call(
        "lookupExternalAccount",
        path={"accountId": quote["destination"]["accountId"]},
        query={"customerId": source["customerId"]},
    )
    bodies = [source, quote, platform.transactions.of_quote(quote), lookup.body]
    bodies.append(platform.api.client.call("listPlatformInternalAccounts").body)

    decimals_by_code = sorted({currency for body in bodies for currency in decimals(body)})

    codes = [code for code, _ in decimals_by_code]
    expect(len(codes) == len(set(codes)), "one number for each currency", decimals_by_code)


SPELLINGS: Mapping[str, Callable[[Json], str]] = {
    "CNV-031": lambda body: f"\r\n {json.dumps(body, indent=4)} \n\t",
    "CNV-032": lambda body: with_escapes(json.dumps(body, ensure_ascii=False)),
    "CNV-033": lambda body: json.dumps(in_reverse_order(body)),
}
"""Other ways to write the same body, by the requirement that it is accepted."""


@pytest.mark.parametrize(
    "spell",
    [case(identifier, identifier, spell) for identifier, spell in SPELLINGS.items()],
)
def test_json_may_be_written_in_any_way(platform: Platform, spell: Callable[[Json], str]) -> None:
    """A quote is created from JSON with other spaces, with escapes, or with reversed members."""
    body = platform.quotes.body()
    arranged_resource(platform.api.create_quote(body))

    answer = platform.api.client.call(
        "createQuote", content=spell(body).encode(), headers=JSON_CONTENT, valid=False
    )

    answer.expect_accepted()


@requirement("CNV-034")
def test_json_may_say_that_it_is_utf_8(platform: Platform) -> None:
    """A quote is created when its media type has a charset, as many libraries write it."""
    body = platform.quotes.body()
    arranged_resource(platform.api.create_quote(body))

    answer = platform.api.client.call(
        "createQuote",
        content=json.dumps(body).encode(),
        headers={"content-type": "application/json; charset=utf-8"},
        valid=False,
    )

    answer.expect_accepted()


@requirement("CNV-035")
def test_who_accepts_anything_gets_json(platform: Platform) -> None:
    """A read and an execution with ``Accept: */*`` are both answered with a JSON object."""
    anything = {"accept": "*/*"}

    config_answer = platform.api.client.stray("getConfig", headers=anything)
    execute_answer = platform.api.execute_quote(platform.quotes.pending()["id"], headers=anything)

    for answer in (config_answer, execute_answer):
        arranged_body(answer)
        kind = answer.headers.get("content-type", "")
        assert media_type_of(kind) == JSON, kind
        assert isinstance(answer.body, Mapping)


@requirement("CNV-036")
def test_a_description_keeps_its_characters(platform: Platform) -> None:
    """A quote shows characters beyond ASCII as they were sent, where it is not refused for them."""
    text = "Renta łódź 家賃 שכר \N{HOUSE BUILDING}"

    answer = platform.api.create_quote(platform.quotes.body(description=text))

    expect_unbroken([answer])
    assert require_member(require_resource(answer), "description") == text


@requirement("CNV-037")
def test_a_name_keeps_its_letters(platform: Platform) -> None:
    """A customer's name with letters beyond ASCII is shown as sent, at the creation and later."""
    name = "Łucja Żółć-Ñandú"

    answer = platform.api.create_customer(platform.customers.body(fullName=name))

    expect_unbroken([answer])
    assert require_member(require_resource(answer), "fullName") == name
    assert (
        require_member(arranged_resource(platform.api.get_customer(answer.body["id"])), "fullName")
        == name
    )


@requirement("CNV-038")
def test_an_escape_means_its_character(platform: Platform) -> None:
    """A description that is sent with escapes for é and / is shown with these characters."""
    body = platform.quotes.body(description="Café 1/2")
    content = json.dumps(body, ensure_ascii=True).replace("/", "\\/").encode()

    answer = platform.api.client.call(
        "createQuote", content=content, headers=JSON_CONTENT, valid=False
    )

    assert require_member(require_resource(answer), "description") == body["description"]


@requirement("CNV-021")
def test_a_body_that_is_no_json_is_refused(platform: Platform) -> None:
    """A quote whose body lacks its last brace is refused with 400 or 422."""
    content_of_quote = json.dumps(platform.quotes.body()).encode()

    def send(content: bytes, *, valid: bool) -> Answer:
        return platform.api.client.call(
            "createQuote", content=content, headers=JSON_CONTENT, valid=valid
        )

    twin = send(content_of_quote, valid=False)
    send(content_of_quote[:-1], valid=False).refused(*REFUSED, twin=twin)


def require_resource(answer: Answer) -> Resource:
    """Return the resource in an answer.

    Raises:
        ResourceMissing: the request was refused, which the specification allows.
    """
    if not answer.accepted:
        raise ResourceMissing(f"characters from beyond ASCII are not taken: {answer}")
    return arranged_resource(answer)


def currencies(value: Any) -> Iterator[Json]:
    """Yield each currency object in a body."""
    if isinstance(value, Mapping) and {"code", "decimals"} <= value.keys():
        yield value
    if isinstance(value, Mapping | list):
        for inner in value.values() if isinstance(value, Mapping) else value:
            yield from currencies(inner)


def decimals(value: Any) -> Iterator[tuple[str, int]]:
    """Yield the code and the decimals of each currency object in a body."""
    return ((str(currency["code"]), currency["decimals"]) for currency in currencies(value))


def with_escapes(text: str) -> str:
    """Return JSON with every character of its strings written as an escape."""

    def escapes(match: re.Match[str]) -> str:
        units = match[1].encode("utf-16-be")
        return '"' + "".join(rf"\u{units[i : i + 2].hex()}" for i in range(0, len(units), 2)) + '"'

    return re.sub(r'"([^"]*)"', escapes, text)


def in_reverse_order(value: Any) -> Any:
    """Return a value with the members of its objects in reverse order."""
    if isinstance(value, Mapping):
        return {name: in_reverse_order(member) for name, member in reversed(list(value.items()))}
    return value


def invalid_fields(refusal: Answer) -> list[Json]:
    """Return the entries of ``details.errors``.

    Raises:
        ResourceMissing: the refusal lists no invalid field.
    """
    details = require_member(refusal.body, "details")
    entries: list[Json] | None = details.get("errors") if isinstance(details, Mapping) else None
    if not entries:
        raise ResourceMissing(f"no invalid field is listed: {refusal}")
    return entries
