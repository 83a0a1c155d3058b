"""Quotes of customers who have not accepted the end-user terms."""

from __future__ import annotations

import pytest

from conformance.platform.platform import Platform
from conformance.scenarios.kit.marks import Check, requirement

TERMS_NOT_ACCEPTED = "END_USER_TERMS_NOT_ACCEPTED"


@requirement("QUO-130", "QUO-131")
@pytest.mark.parametrize("business", [False, True], ids=["individual", "business"])
def test_quotes_wait_for_the_acceptance_of_the_terms(
    platform: Platform, check: Check, *, business: bool
) -> None:
    """A quote is refused without endUserTermsConsent, and accepted once an update records it."""
    approve = platform.approved.business if business else platform.approved.customer
    customer = approve(consent=False)
    body = platform.quotes.body(platform.internal_accounts.account(customer=customer))

    before = platform.api.create_quote(body)
    platform.customers.change(customer, endUserTermsConsent=platform.customers.terms_consent())
    after = platform.api.create_quote(body)

    with check("QUO-130"):
        before.refused(TERMS_NOT_ACCEPTED, twin=after)
    with check("QUO-131"):
        after.expect_accepted()


@requirement("QUO-132")
def test_the_acceptance_may_come_with_the_customer(platform: Platform) -> None:
    """A quote of a customer who was created with endUserTermsConsent is accepted."""
    customer = platform.approved.customer(endUserTermsConsent=platform.customers.terms_consent())

    answer = platform.api.create_quote(
        platform.quotes.body(platform.internal_accounts.account(customer=customer))
    )

    answer.expect_accepted()
