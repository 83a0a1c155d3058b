"""Verification requests with the id of a resource of another kind."""

from __future__ import annotations

from conformance.platform.platform import Platform
from conformance.scenarios.kit.faults import having
from conformance.scenarios.kit.marks import requirement
from conformance.scenarios.kit.refusals import NOT_FOUND


@requirement("KYC-800")
def test_a_hosted_link_is_for_a_customer(platform: Platform) -> None:
    """A link for the id of an external account is refused."""
    customer = platform.verification.reviews.unsubmitted()
    account = platform.external_accounts.account(platform.external_accounts.account_holder())

    refusal = platform.verification.links.create(account)

    refusal.refused(*NOT_FOUND, twin=platform.verification.links.create(customer))


@requirement("VER-800")
def test_what_is_submitted_is_a_customer(platform: Platform) -> None:
    """A submission with the id of an external account, or of a beneficial owner, is refused."""
    account = platform.external_accounts.account(platform.external_accounts.account_holder())
    owner = platform.verification.owners.owner(platform.customers.applicant(business=True))

    refusals = [platform.verification.reviews.submit(one) for one in (account, owner)]

    twin = platform.verification.reviews.submit(platform.verification.reviews.prepared())
    for refusal in refusals:
        refusal.refused(*NOT_FOUND, twin=twin)


@requirement("OWN-800")
def test_what_is_owned_is_a_customer(platform: Platform) -> None:
    """A beneficial owner of the id of a business's external account is refused."""
    account = platform.external_accounts.account(
        platform.external_accounts.account_holder("BUSINESS")
    )
    body = platform.verification.owners.body(platform.customers.applicant(business=True))

    refusal = platform.api.create_beneficial_owner(having("customerId", account["id"])(body))

    refusal.refused(*NOT_FOUND, twin=platform.api.create_beneficial_owner(body))
