"""The end-user terms: no quote of a customer before their acceptance is on file."""

from __future__ import annotations

from conformance.client.platform import Platform
from conformance.scenarios.marks import Check, requirement

REFUSED = "END_USER_TERMS_NOT_ACCEPTED"


@requirement("QUO-130", "QUO-131")
def test_quotes_wait_for_the_acceptance_of_the_terms(platform: Platform, check: Check) -> None:
    """It may be recorded by updating the customer."""
    customer = platform.customer(consent=False)
    body = platform.quote_body(platform.account(customer=customer))

    before = platform.create_quote(body)
    platform.changed(customer, endUserTermsConsent=platform.terms_consent())
    after = platform.create_quote(body)

    with check("QUO-130"):
        before.refused(REFUSED, twin=after)
    with check("QUO-131"):
        assert after.accepted, after


@requirement("QUO-132")
def test_the_acceptance_may_come_with_the_customer(platform: Platform) -> None:
    """Nothing else has to be recorded then."""
    customer = platform.customer(endUserTermsConsent=platform.terms_consent())

    answer = platform.create_quote(platform.quote_body(platform.account(customer=customer)))

    assert answer.accepted, answer
