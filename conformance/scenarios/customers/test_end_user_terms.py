"""The end-user terms: what is answered about them, their acceptance, and no quotes before it."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from conformance.platform.platform import Platform
from conformance.platform.resource import Json, Resource, arranged_body, require_member
from conformance.scenarios.kit.marks import Check, requirement
from conformance.scenarios.quotes.payments import pulling
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing

CONSENT = "endUserTermsConsent"
REFUSED = "END_USER_TERMS_NOT_ACCEPTED"
UNKNOWN = "END_USER_TERMS_VERSION_NOT_FOUND"


# --- The terms ------------------------------------------------------------------------------


@requirement("TRM-001", "TRM-002")
def test_the_current_terms_have_a_version_and_a_url(platform: Platform, check: Check) -> None:
    """Under which names is left open."""
    answer = platform.api.client.call("getEndUserTerms")

    told = set(texts(arranged_body(answer)))
    links = {text for text in told if text.startswith(("http://", "https://"))}
    with check("TRM-001"):
        assert told - links, f"nothing in it is a version: {answer}"
    with check("TRM-002"):
        assert links, f"nothing in it is a URL: {answer}"


# --- Their acceptance -----------------------------------------------------------------------


@requirement("TRM-003", "TRM-005")
def test_a_customer_may_accept_the_terms_at_creation(platform: Platform, check: Check) -> None:
    """Or later."""
    body = platform.customers.body()

    later = platform.api.create_customer(body)
    at_once = platform.api.create_customer(
        platform.customers.body(endUserTermsConsent=platform.customers.terms_consent())
    )

    with check("TRM-003"):
        assert at_once.accepted, at_once
    with check("TRM-005"):
        assert later.accepted, later


@requirement("TRM-004")
def test_a_customer_may_accept_the_terms_later(platform: Platform) -> None:
    """By an update that says nothing else."""
    customer = platform.approved.customer(consent=False)

    answer = platform.api.update_customer(
        customer["id"], {CONSENT: platform.customers.terms_consent()}
    )

    assert answer.accepted, answer


@requirement("TRM-006", "TRM-010", "TRM-011", "TRM-012", "TRM-013")
def test_an_acceptance_at_creation_is_kept_as_it_was_sent(platform: Platform, check: Check) -> None:
    """Its moment, IP address, version and method."""
    sent = platform.customers.terms_consent()
    created = platform.approved.customer(endUserTermsConsent=sent)

    shown = require_member(platform.customers.read(created), CONSENT)

    with check("TRM-006"):
        assert isinstance(shown, Mapping), shown
    with check("TRM-010"):
        expect_kept(platform, "moment", sent, shown)
    with check("TRM-011"):
        expect_kept(platform, "address", sent, shown)
    with check("TRM-012"):
        expect_kept(platform, "version", sent, shown)
    with check("TRM-013"):
        expect_kept(platform, "method", sent, shown)


@requirement("TRM-014", "TRM-015", "TRM-016", "TRM-017")
def test_an_acceptance_by_update_is_kept_as_it_was_sent(platform: Platform, check: Check) -> None:
    """Its moment, IP address, version and method."""
    sent = platform.customers.terms_consent()
    created = platform.approved.customer(consent=False)
    platform.customers.change(created, endUserTermsConsent=sent)

    seen = platform.until(
        lambda: platform.customers.read(created), lambda customer: customer.get(CONSENT) is not None
    )
    shown = require_member(seen, CONSENT)

    with check("TRM-014"):
        expect_kept(platform, "moment", sent, shown)
    with check("TRM-015"):
        expect_kept(platform, "address", sent, shown)
    with check("TRM-016"):
        expect_kept(platform, "version", sent, shown)
    with check("TRM-017"):
        expect_kept(platform, "method", sent, shown)


@requirement("TRM-018")
def test_a_later_acceptance_counts(platform: Platform) -> None:
    """It takes the place of the one before."""
    later = platform.customers.terms_consent()
    customer = platform.approved.customer(endUserTermsConsent=a_day_before(later, platform))

    shown = require_member(accepted_anew(platform, customer, later), CONSENT)

    expect_kept(platform, "moment", later, shown)


@requirement("TRM-019")
def test_an_acceptance_outlives_other_changes(platform: Platform) -> None:
    """Quotes stay allowed."""
    customer = platform.approved.customer()
    body = platform.quotes.body(platform.internal_accounts.account(customer=customer))
    platform.customers.change(customer, platformCustomerId=platform.samples.reference())

    answer = platform.api.create_quote(body)

    assert answer.accepted, answer


@requirement("TRM-020", "TRM-021", "TRM-022", "TRM-023")
def test_an_acceptance_is_an_object_with_a_moment(platform: Platform, check: Check) -> None:
    """Neither a text nor a moment that is none can be put on file."""
    consent = platform.customers.terms_consent()
    timeless = {**consent, member_of("moment", platform): "the day before yesterday"}
    body = platform.customers.body(endUserTermsConsent=consent)
    customer = platform.approved.customer(consent=False)

    text = platform.api.create_customer({**body, CONSENT: "accepted"}, valid=False)
    moment = platform.api.create_customer({**body, CONSENT: timeless})
    later_text = platform.api.update_customer(customer["id"], {CONSENT: "accepted"}, valid=False)
    later_moment = platform.api.update_customer(customer["id"], {CONSENT: timeless})

    created = platform.api.create_customer(body)
    updated = platform.api.update_customer(customer["id"], {CONSENT: consent})
    with check("TRM-020"):
        text.refused(400, 422, twin=created)
    with check("TRM-021"):
        later_text.refused(400, 422, twin=updated)
    with check("TRM-022"):
        moment.refused(400, 422, twin=created)
    with check("TRM-023"):
        later_moment.refused(400, 422, twin=updated)


@requirement("TRM-030")
def test_unknown_terms_cannot_be_accepted_at_creation(platform: Platform) -> None:
    """The current ones can."""
    consent = platform.customers.terms_consent()
    body = platform.customers.body(endUserTermsConsent=consent)

    refusal = platform.api.create_customer({**body, CONSENT: unknown_version(platform, consent)})

    refusal.refused(400, UNKNOWN, twin=platform.api.create_customer(body))


@requirement("TRM-031", "TRM-032")
def test_unknown_terms_cannot_be_accepted_later(platform: Platform, check: Check) -> None:
    """Nor are quotes allowed by it."""
    customer = platform.approved.customer(consent=False)
    quote = platform.quotes.body(platform.internal_accounts.account(customer=customer))
    consent = platform.customers.terms_consent()

    refusal = platform.api.update_customer(
        customer["id"], {CONSENT: unknown_version(platform, consent)}
    )
    early = platform.api.create_quote(quote)

    twin = platform.api.update_customer(customer["id"], {CONSENT: consent})
    with check("TRM-031"):
        refusal.refused(400, UNKNOWN, twin=twin)
    with check("TRM-032"):
        early.refused(REFUSED, twin=platform.api.create_quote(quote))


@requirement("TRM-033")
def test_nothing_of_an_update_with_unknown_terms_is_taken(platform: Platform) -> None:
    """Not even late: what is accepted after it shows, and it still does not."""
    later = platform.customers.terms_consent()
    customer = platform.approved.customer(endUserTermsConsent=a_day_before(later, platform))
    before = require_member(platform.customers.read(customer), "platformCustomerId")
    change = {"platformCustomerId": platform.samples.reference()}

    platform.api.update_customer(
        customer["id"], {**change, CONSENT: unknown_version(platform, later)}
    )

    after = accepted_anew(platform, customer, later)
    assert after.get("platformCustomerId") == before


@requirement("TRM-034")
def test_unknown_terms_leave_an_acceptance_on_file(platform: Platform) -> None:
    """Quotes stay allowed."""
    customer = platform.approved.customer()
    body = platform.quotes.body(platform.internal_accounts.account(customer=customer))
    wrong = unknown_version(platform, platform.customers.terms_consent())
    if (answer := platform.api.update_customer(customer["id"], {CONSENT: wrong})).accepted:
        raise PreconditionFailed(f"unknown terms were accepted: {answer}")

    after = platform.api.create_quote(body)

    assert after.accepted, after


# --- No quotes before it --------------------------------------------------------------------


@requirement("TRM-040", "TRM-041")
def test_an_immediate_execution_waits_for_the_acceptance(platform: Platform, check: Check) -> None:
    """The source keeps what it holds."""
    customer = platform.approved.customer(consent=False)
    source = platform.internal_accounts.account(customer=customer)
    body = platform.quotes.body(source, immediatelyExecute=True)
    before = platform.internal_accounts.balances(source)

    refusal = platform.api.create_quote(body)
    after = platform.internal_accounts.balances(source)

    platform.customers.change(customer, endUserTermsConsent=platform.customers.terms_consent())
    with check("TRM-040"):
        refusal.refused(REFUSED, twin=platform.api.create_quote(body))
    with check("TRM-041"):
        assert after == before


@requirement("TRM-042")
def test_a_just_in_time_funded_quote_waits_for_the_acceptance(platform: Platform) -> None:
    """Its customer is named in its source."""
    customer = platform.approved.customer(consent=False)
    body = platform.quotes.realtime_body(customer)

    refusal = platform.api.create_quote(body)

    platform.customers.change(customer, endUserTermsConsent=platform.customers.terms_consent())
    refusal.refused(REFUSED, twin=platform.api.create_quote(body))


@requirement("TRM-043")
def test_a_cross_currency_quote_waits_for_the_acceptance(platform: Platform) -> None:
    """As one within a currency does."""
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
    refusal.refused(REFUSED, twin=platform.api.create_quote(body))


@requirement("TRM-044")
def test_quotes_of_a_business_wait_for_the_acceptance(platform: Platform) -> None:
    """As those of a person do."""
    business = platform.approved.business(consent=False)
    body = platform.quotes.body(platform.internal_accounts.account(customer=business))

    refusal = platform.api.create_quote(body)

    platform.customers.change(business, endUserTermsConsent=platform.customers.terms_consent())
    refusal.refused(REFUSED, twin=platform.api.create_quote(body))


@requirement("TRM-045")
def test_a_quote_without_the_acceptance_leaves_no_transaction(platform: Platform) -> None:
    """The one that is made after the acceptance does."""
    customer = platform.approved.customer(consent=False)
    body = platform.quotes.body(platform.internal_accounts.account(customer=customer))
    before = {
        transaction["id"] for transaction in platform.transactions.of_customer(customer["id"])
    }
    refusal = platform.api.create_quote(body)
    if refusal.accepted:
        raise PreconditionFailed(f"the quote was not refused: {refusal}")
    platform.customers.change(customer, endUserTermsConsent=platform.customers.terms_consent())
    quote = arranged_body(platform.api.create_quote(body))
    platform.transactions.of_quote(quote)

    listed = platform.transactions.of_customer(customer["id"])

    # What was deposited may be a transaction too, and be listed late, but is of no quote.
    sent = {transaction["id"] for transaction in listed if transaction.get("quoteId")}
    if quote["transactionId"] not in sent:
        raise ResourceMissing("transactions do not show their quoteId")
    assert sent - before == {quote["transactionId"]}


@requirement("TRM-046")
def test_the_acceptance_is_each_customers_own(platform: Platform) -> None:
    """That of another does not count."""
    platform.approved.customer(endUserTermsConsent=platform.customers.terms_consent())
    customer = platform.approved.customer(consent=False)
    body = platform.quotes.body(platform.internal_accounts.account(customer=customer))
    platform.customers.change(
        platform.approved.customer(consent=False),
        endUserTermsConsent=platform.customers.terms_consent(),
    )

    refusal = platform.api.create_quote(body)

    platform.customers.change(customer, endUserTermsConsent=platform.customers.terms_consent())
    refusal.refused(REFUSED, twin=platform.api.create_quote(body))


# --- Parts of an acceptance -----------------------------------------------------------------


def member_of(part: str, platform: Platform) -> str:
    """Return the member of an acceptance that holds its moment, address, version or method."""
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


def unknown_version(platform: Platform, consent: Json) -> Json:
    """Return an acceptance of terms that do not exist."""
    name = member_of("version", platform)
    version = consent[name]
    unknown = version + 1_000_000 if isinstance(version, int) else f"{version}-unknown"
    return {**consent, name: unknown}


def a_day_before(consent: Json, platform: Platform) -> Json:
    """Return the same acceptance with a moment that is a day earlier."""
    name = member_of("moment", platform)
    earlier = datetime.fromisoformat(consent[name]) - timedelta(days=1)
    return {**consent, name: earlier.isoformat().replace("+00:00", "Z")}


def accepted_anew(platform: Platform, customer: Resource, consent: Json) -> Resource:
    """Record an acceptance in the place of the one a day before; return the customer with it.

    A customer that does not show when it accepted is returned as it is.
    """
    name = member_of("moment", platform)
    old = moment_of(a_day_before(consent, platform)[name])
    platform.customers.change(customer, endUserTermsConsent=consent)
    return platform.until(
        lambda: platform.customers.read(customer),
        lambda seen: moment_of((seen.get(CONSENT) or {}).get(name)) != old,
    )


def expect_kept(platform: Platform, part: str, sent: Json, shown: Json) -> None:
    """Assert that a part of an acceptance is shown as it was sent, or not shown."""
    __tracebackhide__ = True
    name = member_of(part, platform)
    value = require_member(shown, name)
    if part == "moment":
        assert moment_of(value) == moment_of(sent[name]), f"{sent} was sent, {shown} is shown"
    else:
        assert str(value) == str(sent[name]), f"{sent} was sent, {shown} is shown"


def moment_of(value: Any) -> datetime | None:
    """Return the moment that a timestamp names, if it is one."""
    try:
        return datetime.fromisoformat(str(value))
    except ValueError:
        return None


def texts(value: Any) -> Iterator[str]:
    """Yield the texts and numbers anywhere in a JSON value."""
    if isinstance(value, Mapping | list):
        for member in value.values() if isinstance(value, Mapping) else value:
            yield from texts(member)
    elif isinstance(value, str | int) and not isinstance(value, bool) and str(value).strip():
        yield str(value)


@requirement("TRM-800")
def test_nothing_is_pulled_before_the_acceptance_of_the_terms(platform: Platform) -> None:
    """It is the customer's own account, wherever that is."""
    customer = platform.approved.customer(consent=False)
    body = pulling(platform, customer)

    refusal = platform.api.create_quote(body)

    platform.customers.change(customer, endUserTermsConsent=platform.customers.terms_consent())
    refusal.refused("END_USER_TERMS_NOT_ACCEPTED", twin=platform.api.create_quote(body))
