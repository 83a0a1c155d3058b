"""Quotes of customers who have not accepted the end-user terms."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable
from functools import partial

import pytest

from conformance.exchange.answer import Answer
from conformance.platform.platform import Platform
from conformance.platform.resource import Body, Resource
from conformance.scenarios.embedded_wallets.signing import (
    create_quote,
    funded_wallet,
    receiver_examples,
)
from conformance.scenarios.kit.marks import Check, requirement
from conformance.verdict.decisions import ResourceMissing

TERMS_NOT_ACCEPTED = "END_USER_TERMS_NOT_ACCEPTED"


@requirement("QUO-130", "QUO-131")
@pytest.mark.parametrize("sca", [False, True], ids=["usual", "sca"])
@pytest.mark.parametrize("business", [False, True], ids=["individual", "business"])
def test_quotes_wait_for_the_acceptance_of_the_terms(
    platform: Platform, check: Check, *, business: bool, sca: bool
) -> None:
    """A quote is refused without endUserTermsConsent, and accepted once an update records it.

    That holds of customers whose payments need strong authentication too.
    """
    customer = platform.approved.of_type(business, sca=sca, consent=False)
    body = platform.quotes.body(platform.internal_accounts.account(customer=customer))

    before = platform.api.create_quote(body)
    platform.customers.change(customer, endUserTermsConsent=platform.customers.terms_consent())
    after = platform.api.create_quote(body)

    with check("QUO-130"):
        before.refused(TERMS_NOT_ACCEPTED, twin=after)
    with check("QUO-131"):
        after.expect_accepted()


@requirement("QUO-130")
def test_no_corridor_passes_by_the_terms(platform: Platform) -> None:
    """A quote over any corridor of the profile is refused until the acceptance is recorded."""
    corridors = platform.profile.resources.corridors
    currencies = {corridor.sending for corridor in corridors}
    customer = platform.approved.customer(
        consent=False, currencies=sorted({platform.profile.currency, *currencies})
    )
    bodies: list[Body] = []
    for currency in sorted(currencies):
        names = [corridor.account for corridor in corridors if corridor.sending == currency]
        with contextlib.suppress(ResourceMissing):
            source = platform.internal_accounts.account(currency, customer=customer)
            bodies += bodies_to(platform, source, names)

    expect_to_wait(platform, customer, bodies)


@requirement("QUO-130")
@pytest.mark.parametrize("business", [False, True], ids=["individual", "business"])
def test_quotes_from_a_wallet_wait_for_the_terms(platform: Platform, *, business: bool) -> None:
    """A quote from an embedded wallet is refused until the acceptance of its owner is recorded."""
    holder = platform.wallets.holder(business=business, consent=False)
    wallet = funded_wallet(platform, customer=holder)

    expect_to_wait(
        platform,
        wallet.owner,
        bodies_to(platform, wallet, receiver_examples(platform)),
        create=partial(create_quote, platform, wallet),
    )


@requirement("QUO-132")
def test_the_acceptance_may_come_with_the_customer(platform: Platform) -> None:
    """A quote of a customer who was created with endUserTermsConsent is accepted."""
    customer = platform.approved.customer(endUserTermsConsent=platform.customers.terms_consent())

    answer = platform.api.create_quote(
        platform.quotes.body(platform.internal_accounts.account(customer=customer))
    )

    answer.expect_accepted()


def bodies_to(platform: Platform, source: Resource, names: Iterable[str]) -> list[Body]:
    """Return bodies of quotes to accounts of the source's owner, by examples of fixtures/accounts.

    Examples of which the owner gets no account are left out.
    """
    bodies = []
    for name in names:
        with contextlib.suppress(ResourceMissing):
            account = platform.external_accounts.account(source.owner, name)
            bodies.append(platform.quotes.body(source, account, side="SENDING"))
    return bodies


def expect_to_wait(
    platform: Platform,
    customer: Resource,
    bodies: list[Body],
    *,
    create: Callable[[Body], Answer] | None = None,
) -> None:
    """Assert that quotes are refused until the acceptance of a customer is recorded.

    Those that are refused after it are not looked at.

    Args:
        platform: the suite in the part of a platform.
        customer: whose acceptance it is.
        bodies: the bodies of the quotes.
        create: creates a quote, by default with no other request.

    Raises:
        ResourceMissing: all of them are.
    """
    __tracebackhide__ = True
    create = create or platform.api.create_quote
    refusals = [create(body) for body in bodies]
    platform.customers.change(customer, endUserTermsConsent=platform.customers.terms_consent())
    twins = [create(body) for body in bodies]
    if not any(twin.accepted for twin in twins):
        raise ResourceMissing(f"no such quote is created: {twins}")
    for refusal, twin in zip(refusals, twins, strict=True):
        if twin.accepted:
            refusal.refused(TERMS_NOT_ACCEPTED, twin=twin)
