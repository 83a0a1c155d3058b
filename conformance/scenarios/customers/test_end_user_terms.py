"""The end-user terms: their version and URL, their acceptance, and no quotes without it."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

import pytest

from conformance.contract.moments import is_utc_moment, parse_moment
from conformance.exchange.answer import Answer
from conformance.platform.platform import Platform
from conformance.platform.resource import (
    Json,
    Resource,
    arranged_body,
    require_member,
    unknown_id,
)
from conformance.scenarios.kit.marks import Check, requirement
from conformance.scenarios.kit.notation import same
from conformance.scenarios.kit.refusals import REFUSED
from conformance.scenarios.quotes.kinds import Kind, quote_body
from conformance.scenarios.quotes.payments import paid_by, pulling_body
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing

CONSENT = "endUserTermsConsent"
NOT_ACCEPTED = "END_USER_TERMS_NOT_ACCEPTED"
UNKNOWN_VERSION = "END_USER_TERMS_VERSION_NOT_FOUND"
DATE = re.compile(r"(?<!\d)(?:19|20)\d\d([-./]?(?:0[1-9]|1[0-2])(?!\d{3}))")
"""A year and a month, which a day may follow."""
LENGTH_OF_IDS = 16

AT_CREATION = {
    "TRM-010": "moment",
    "TRM-011": "address",
    "TRM-012": "version",
    "TRM-013": "method",
}
BY_UPDATE = {
    "TRM-014": "moment",
    "TRM-015": "address",
    "TRM-016": "version",
    "TRM-017": "method",
}
"""By requirement the parts of an acceptance that are kept, given at creation or by an update."""

OF_BUSINESSES: Mapping[str, Kind] = {
    "TRM-040": "immediate",
    "TRM-042": "real-time",
    "TRM-800": "pulled",
}
"""By requirement the kinds of quotes of a business that wait for the acceptance of the terms."""


# --- The terms ------------------------------------------------------------------------------


@requirement("TRM-001", "TRM-002")
def test_the_current_terms_have_a_version_and_a_url(platform: Platform, check: Check) -> None:
    """The answer has a URL and another text or number; the specification names no members."""
    answer = platform.api.client.call("getEndUserTerms")

    values = set(texts(arranged_body(answer)))
    links = {text for text in values if text.lower().startswith(("http://", "https://"))}
    with check("TRM-001"):
        assert values - links, f"nothing in it is a version: {answer}"
    with check("TRM-002"):
        assert links, f"nothing in it is a URL: {answer}"


# --- The acceptance -------------------------------------------------------------------------


@requirement("TRM-003", "TRM-005")
def test_a_customer_may_accept_the_terms_at_creation(platform: Platform, check: Check) -> None:
    """A customer is created with an acceptance, and one without it."""
    body = platform.customers.body()

    later = platform.api.create_customer(body)
    at_once = platform.api.create_customer(
        platform.customers.body(endUserTermsConsent=platform.customers.terms_consent())
    )

    with check("TRM-003"):
        at_once.expect_accepted()
    with check("TRM-005"):
        later.expect_accepted()


@requirement("TRM-004")
def test_a_customer_may_accept_the_terms_later(platform: Platform) -> None:
    """An update with the acceptance alone is accepted."""
    customer = platform.approved.customer(consent=False)

    answer = platform.api.update_customer(
        customer["id"], {CONSENT: platform.customers.terms_consent()}
    )

    answer.expect_accepted()


@requirement("TRM-006", *AT_CREATION)
@pytest.mark.parametrize("business", [False, True], ids=["individual", "business"])
def test_an_acceptance_at_creation_is_kept_as_it_was_sent(
    platform: Platform, check: Check, *, business: bool
) -> None:
    """The customer shows the moment, IP address, version and method of the acceptance as sent.

    That holds for the answer to the creation, if it shows them, as for the customer who is read.
    """
    consent = platform.customers.terms_consent()
    created = platform.customers.applicant(business=business, endUserTermsConsent=consent)

    shown_consent = require_member(platform.customers.read(created), CONSENT)

    with check("TRM-006"):
        assert isinstance(shown_consent, Mapping), shown_consent
    for id_, part in AT_CREATION.items():
        with check(id_):
            expect_kept(platform, part, consent, shown_consent)
            expect_kept_where_shown(platform, part, consent, created)


@requirement(*BY_UPDATE, "CUS-029")
@pytest.mark.parametrize("business", [False, True], ids=["individual", "business"])
def test_an_acceptance_by_update_is_kept_as_it_was_sent(
    platform: Platform, check: Check, *, business: bool
) -> None:
    """The customer shows the moment, IP address, version and method of the acceptance as sent.

    That holds for the answer to the update, if it shows them, as for the customer who is read. The
    email that the update carries beside the acceptance is changed too.
    """
    consent = platform.customers.terms_consent()
    created = platform.customers.applicant(business=business, endUserTermsConsent=None)
    email = platform.samples.filled("changed-############@example.com")
    changed = platform.customers.change(created, endUserTermsConsent=consent, email=email)

    updated = platform.until(
        lambda: platform.customers.read(created), lambda customer: customer.get(CONSENT) is not None
    )
    shown_consent = require_member(updated, CONSENT)

    for id_, part in BY_UPDATE.items():
        with check(id_):
            expect_kept(platform, part, consent, shown_consent)
            expect_kept_where_shown(platform, part, consent, changed)
    with check("CUS-029"):
        assert same("email", require_member(updated, "email"), email)


@requirement("TRM-018")
def test_a_later_acceptance_counts(platform: Platform) -> None:
    """The customer shows the moment of the later of two acceptances."""
    later = platform.customers.terms_consent()
    customer = platform.approved.customer(endUserTermsConsent=a_day_earlier(later, platform))

    shown_consent = require_member(accept_again(platform, customer, later), CONSENT)

    expect_kept(platform, "moment", later, shown_consent)


@requirement("TRM-019")
def test_an_acceptance_outlives_other_changes(platform: Platform) -> None:
    """A quote is still accepted after an update of another member, and the acceptance shown."""
    customer = platform.approved.customer()
    body = platform.quotes.body(platform.internal_accounts.account(customer=customer))
    before = platform.customers.read(customer).get(CONSENT)
    email = platform.samples.filled("changed-############@example.com")
    platform.customers.change(customer, email=email)

    answer = platform.api.create_quote(body)

    answer.expect_accepted()
    assert platform.customers.read(customer).get(CONSENT) == before


@requirement("TRM-020", "TRM-021", "TRM-022", "TRM-023")
def test_an_acceptance_is_an_object_with_a_moment(platform: Platform, check: Check) -> None:
    """An acceptance that is a text, or whose moment is no timestamp, is refused."""
    consent = platform.customers.terms_consent()
    without_moment = {**consent, member_of("moment", platform): "the day before yesterday"}
    body = platform.customers.body(endUserTermsConsent=consent)
    customer = platform.approved.customer(consent=False)

    text_refusal = platform.api.create_customer({**body, CONSENT: "accepted"}, valid=False)
    moment_refusal = platform.api.create_customer({**body, CONSENT: without_moment})
    text_update_refusal = platform.api.update_customer(
        customer["id"], {CONSENT: "accepted"}, valid=False
    )
    moment_update_refusal = platform.api.update_customer(customer["id"], {CONSENT: without_moment})

    created = platform.api.create_customer(body)
    updated = platform.api.update_customer(customer["id"], {CONSENT: consent})
    with check("TRM-020"):
        text_refusal.refused(*REFUSED, twin=created)
    with check("TRM-021"):
        text_update_refusal.refused(*REFUSED, twin=updated)
    with check("TRM-022"):
        moment_refusal.refused(*REFUSED, twin=created)
    with check("TRM-023"):
        moment_update_refusal.refused(*REFUSED, twin=updated)


@requirement("TRM-030")
@pytest.mark.parametrize("business", [False, True], ids=["individual", "business"])
def test_unknown_terms_cannot_be_accepted_at_creation(
    platform: Platform, *, business: bool
) -> None:
    """An unknown version is refused with 400 and END_USER_TERMS_VERSION_NOT_FOUND."""
    consent = platform.customers.terms_consent()
    customers = platform.customers
    make_body = customers.business_body if business else customers.body
    body = make_body(endUserTermsConsent=consent)

    refusal = platform.api.create_customer(
        {**body, CONSENT: with_unknown_version(platform, consent)}
    )

    refusal.refused(400, UNKNOWN_VERSION, twin=platform.api.create_customer(body))


@requirement("TRM-031", "TRM-032")
def test_unknown_terms_cannot_be_accepted_later(platform: Platform, check: Check) -> None:
    """An update with an unknown version is refused, and a quote after it is refused as well."""
    customer = platform.approved.customer(consent=False)
    quote = platform.quotes.body(platform.internal_accounts.account(customer=customer))
    consent = platform.customers.terms_consent()

    refusal = platform.api.update_customer(
        customer["id"], {CONSENT: with_unknown_version(platform, consent)}
    )
    early_refusal = platform.api.create_quote(quote)

    twin = platform.api.update_customer(customer["id"], {CONSENT: consent})
    with check("TRM-031"):
        refusal.refused(400, UNKNOWN_VERSION, twin=twin)
    with check("TRM-032"):
        early_refusal.refused(NOT_ACCEPTED, twin=platform.api.create_quote(quote))


@requirement("TRM-033")
def test_nothing_of_an_update_with_unknown_terms_is_taken(platform: Platform) -> None:
    """Another member of the update keeps its value, also once a later acceptance is shown."""
    later = platform.customers.terms_consent()
    customer = platform.approved.customer(endUserTermsConsent=a_day_earlier(later, platform))
    before = require_member(platform.customers.read(customer), "platformCustomerId")
    change = {"platformCustomerId": platform.samples.own_id()}

    platform.api.update_customer(
        customer["id"], {**change, CONSENT: with_unknown_version(platform, later)}
    )

    after = accept_again(platform, customer, later)
    assert after.get("platformCustomerId") == before


@requirement("TRM-034")
def test_unknown_terms_leave_an_acceptance_on_file(platform: Platform) -> None:
    """A quote is still accepted after a refused acceptance of unknown terms."""
    customer = platform.approved.customer()
    body = platform.quotes.body(platform.internal_accounts.account(customer=customer))
    wrong = with_unknown_version(platform, platform.customers.terms_consent())
    if (answer := platform.api.update_customer(customer["id"], {CONSENT: wrong})).accepted:
        raise PreconditionFailed(f"unknown terms were accepted: {answer}")

    after = platform.api.create_quote(body)

    after.expect_accepted()


# --- No quotes before the acceptance --------------------------------------------------------


@requirement("TRM-040", "TRM-041")
def test_an_immediate_execution_waits_for_the_acceptance(platform: Platform, check: Check) -> None:
    """The quote is refused before the acceptance, and the source's balances are unchanged."""
    customer = platform.approved.customer(consent=False)
    source = platform.internal_accounts.account(customer=customer)
    body = platform.quotes.body(source, immediatelyExecute=True)
    before = platform.internal_accounts.balances(source)

    refusal = platform.api.create_quote(body)
    after = platform.internal_accounts.balances(source)

    platform.customers.change(customer, endUserTermsConsent=platform.customers.terms_consent())
    with check("TRM-040"):
        refusal.refused(NOT_ACCEPTED, twin=platform.api.create_quote(body))
    with check("TRM-041"):
        assert after == before


@requirement("TRM-042")
def test_a_just_in_time_funded_quote_waits_for_the_acceptance(platform: Platform) -> None:
    """The quote, whose source names the customer, is refused before the acceptance."""
    customer = platform.approved.customer(consent=False)
    body = platform.quotes.realtime_body(customer)

    refusal = platform.api.create_quote(body)

    platform.customers.change(customer, endUserTermsConsent=platform.customers.terms_consent())
    refusal.refused(NOT_ACCEPTED, twin=platform.api.create_quote(body))


@requirement("TRM-043")
def test_a_cross_currency_quote_waits_for_the_acceptance(platform: Platform) -> None:
    """The quote is refused before the customer's acceptance, and created after it."""
    corridor = platform.quotes.corridor(same_currency=False)
    customer = platform.approved.customer(
        consent=False, currencies=sorted({platform.profile.currency, corridor.sending})
    )
    body = platform.quotes.body(
        platform.internal_accounts.account(corridor.sending, customer=customer),
        platform.external_accounts.account(customer, corridor.account),
    )

    refusal = platform.api.create_quote(body)

    platform.customers.change(customer, endUserTermsConsent=platform.customers.terms_consent())
    refusal.refused(NOT_ACCEPTED, twin=platform.api.create_quote(body))


@requirement("TRM-044")
def test_quotes_of_a_business_wait_for_the_acceptance(platform: Platform) -> None:
    """The quote is refused before the acceptance by the business, and created after it."""
    business = platform.approved.business(consent=False)
    body = platform.quotes.body(platform.internal_accounts.account(customer=business))

    refusal = platform.api.create_quote(body)

    platform.customers.change(business, endUserTermsConsent=platform.customers.terms_consent())
    refusal.refused(NOT_ACCEPTED, twin=platform.api.create_quote(body))


@requirement(*OF_BUSINESSES)
def test_quotes_of_a_business_of_other_kinds_wait_for_the_acceptance(
    platform: Platform, check: Check
) -> None:
    """An immediate, a just-in-time funded and a pulled one are refused before the acceptance."""
    business = platform.approved.business(consent=False)
    destination = platform.external_accounts.account(business)
    refusals: dict[str, tuple[Json, Answer]] = {}
    for id_, kind in OF_BUSINESSES.items():
        with check(id_):
            early = quote_body(platform, kind, business, destination)
            refusals[id_] = early, platform.api.create_quote(early)

    platform.customers.change(business, endUserTermsConsent=platform.customers.terms_consent())

    for id_, (body, refusal) in refusals.items():
        with check(id_):
            refusal.refused(NOT_ACCEPTED, twin=platform.api.create_quote(body))


@requirement("TRM-045")
def test_a_quote_without_the_acceptance_leaves_no_transaction(platform: Platform) -> None:
    """Only the quote after the acceptance adds the transaction of a payment."""
    customer = platform.approved.customer(consent=False)
    body = platform.quotes.body(platform.internal_accounts.account(customer=customer))
    before = paid_by(platform, customer["id"])
    refusal = platform.api.create_quote(body)
    if refusal.accepted:
        raise PreconditionFailed(f"the quote was not refused: {refusal}")
    platform.customers.change(customer, endUserTermsConsent=platform.customers.terms_consent())
    quote = arranged_body(platform.api.create_quote(body))
    platform.transactions.of_quote(quote)

    added = paid_by(platform, customer["id"]).keys() - before.keys()

    if quote["transactionId"] not in added:
        raise ResourceMissing("transactions do not show that they are payments")
    assert added == {quote["transactionId"]}


@requirement("TRM-046")
def test_the_acceptance_is_each_customers_own(platform: Platform) -> None:
    """A quote is refused while only other customers have accepted the terms."""
    platform.approved.customer(endUserTermsConsent=platform.customers.terms_consent())
    customer = platform.approved.customer(consent=False)
    body = platform.quotes.body(platform.internal_accounts.account(customer=customer))
    platform.customers.change(
        platform.approved.customer(consent=False),
        endUserTermsConsent=platform.customers.terms_consent(),
    )

    refusal = platform.api.create_quote(body)

    platform.customers.change(customer, endUserTermsConsent=platform.customers.terms_consent())
    refusal.refused(NOT_ACCEPTED, twin=platform.api.create_quote(body))


# --- Parts of an acceptance -----------------------------------------------------------------


def member_of(part: str, platform: Platform) -> str:
    """Return the name of the member for the ``moment``, ``version``, ``address`` or ``method``.

    Raises:
        ResourceMissing: the profile's acceptance has no such member.
    """
    consent = platform.profile.bindings.terms_consent
    words = {"{now}": "moment", "{version}": "version"}
    for name, value in consent.items():
        kind = words.get(str(value)) or ("address" if is_address(value) else "method")
        if kind == part:
            return name
    raise ResourceMissing(f"bindings.terms_consent of the profile has no {part}")


def is_address(value: Any) -> bool:
    """Return whether a value is an IP address."""
    try:
        ipaddress.ip_address(str(value))
    except ValueError:
        return False
    return True


def with_unknown_version(platform: Platform, consent: Json) -> Json:
    """Return an acceptance of a version of the terms that does not exist."""
    name = member_of("version", platform)
    return {**consent, name: unknown_version(consent[name])}


def unknown_version(version: Any) -> Any:
    """Return a version of the terms that does not exist, of the same form.

    One of another form might be refused as a value that is not valid.
    """
    if isinstance(version, int):
        return version + 1_000_000
    if dated := DATE.search(version):
        # Long before any terms of this interface, in a leap year as 29 February may come.
        return f"{version[: dated.start()]}1972{dated[1]}{version[dated.end() :]}"
    if ":" in version or len(version) >= LENGTH_OF_IDS:
        return unknown_id(version)
    if number := re.search(r"\d", version):
        # The first number counts most: of 2.1 comes 90002.1.
        return f"{version[: number.start()]}9000{version[number.start() :]}"
    return f"{version}-unknown"


def a_day_earlier(consent: Json, platform: Platform) -> Json:
    """Return an acceptance with a moment that is a day earlier."""
    name = member_of("moment", platform)
    earlier = parse_moment(consent[name]) - timedelta(days=1)
    return {**consent, name: earlier.isoformat().replace("+00:00", "Z")}


def accept_again(platform: Platform, customer: Resource, consent: Json) -> Resource:
    """Accept the terms again, a day after the last time; return the customer that shows it.

    A customer that does not show the moment of its acceptance is returned as it is.

    Raises:
        ResourceMissing: the terms are accepted once.
    """
    name = member_of("moment", platform)
    old = moment_of(a_day_earlier(consent, platform)[name])
    if not (answer := platform.api.update_customer(customer["id"], {CONSENT: consent})).accepted:
        raise ResourceMissing(f"what is accepted is not accepted again: {answer}")
    return platform.until(
        lambda: platform.customers.read(customer),
        lambda current: moment_of((current.get(CONSENT) or {}).get(name)) != old,
    )


def expect_kept(platform: Platform, part: str, consent: Json, shown_consent: Json) -> None:
    """Assert that a part of an acceptance is shown as it was sent.

    Raises:
        ResourceMissing: the part is not shown.
    """
    __tracebackhide__ = True
    name = member_of(part, platform)
    value = require_member(shown_consent, name)
    if part == "moment":
        assert moment_of(value) == moment_of(consent[name]), (
            f"{consent} was sent, {shown_consent} is shown"
        )
        assert is_utc_moment(str(value)), f"not in UTC: {value}"
    else:
        assert str(value) == str(consent[name]), f"{consent} was sent, {shown_consent} is shown"


def expect_kept_where_shown(platform: Platform, part: str, consent: Json, customer: Json) -> None:
    """Assert that a part of an acceptance is as it was sent in a customer who may not show it."""
    __tracebackhide__ = True
    shown_consent = customer.get(CONSENT)
    if isinstance(shown_consent, Mapping) and member_of(part, platform) in shown_consent:
        expect_kept(platform, part, consent, shown_consent)


def moment_of(value: Any) -> datetime | None:
    """Return the moment of a timestamp, or ``None`` for any other value."""
    try:
        return parse_moment(str(value))
    except ValueError:
        return None


def texts(value: Any) -> Iterator[str]:
    """Yield the texts and numbers at every depth of a JSON value."""
    if isinstance(value, Mapping | list):
        for member in value.values() if isinstance(value, Mapping) else value:
            yield from texts(member)
    elif isinstance(value, str | int) and not isinstance(value, bool) and str(value).strip():
        yield str(value)


@requirement("TRM-800")
def test_nothing_is_pulled_before_the_acceptance_of_the_terms(platform: Platform) -> None:
    """A quote from the customer's external account is refused before the acceptance."""
    customer = platform.approved.customer(consent=False)
    body = pulling_body(platform, customer)

    refusal = platform.api.create_quote(body)

    platform.customers.change(customer, endUserTermsConsent=platform.customers.terms_consent())
    refusal.refused("END_USER_TERMS_NOT_ACCEPTED", twin=platform.api.create_quote(body))
