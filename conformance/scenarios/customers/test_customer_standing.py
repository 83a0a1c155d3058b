"""How a customer's verification stands: under which name, and in which words."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from conformance.platform.platform import Platform
from conformance.platform.resource import require_member
from conformance.scenarios.kit.marks import Check, requirement
from conformance.verdict.decisions import FeatureUndeclared


class Kind(NamedTuple):
    """A type of customer, with its member for the verification and that of the other type."""

    name: str
    own: str
    other: str

    @property
    def is_business(self) -> bool:
        """Whether it is that of businesses."""
        return self.name == "business"


INDIVIDUAL = Kind("individual", "kycStatus", "kybStatus")
BUSINESS = Kind("business", "kybStatus", "kycStatus")

NEW = [
    pytest.param(
        INDIVIDUAL,
        ("CUS-042", "CUS-043", "CUS-045"),
        marks=requirement("CUS-042", "CUS-043", "CUS-045"),
        id="individual",
    ),
    pytest.param(
        BUSINESS,
        ("BUS-017", "BUS-018", "BUS-020"),
        marks=requirement("BUS-017", "BUS-018", "BUS-020"),
        id="business",
    ),
]
"""Each type with the rules on its own member, on the other one, and on its value."""

DECIDED = [
    pytest.param(kind, trigger, word, marks=requirement(rule), id=f"{kind.name}-{word.lower()}")
    for kind, rules in (
        (INDIVIDUAL, ("CUS-046", "CUS-047", "CUS-048")),
        (BUSINESS, ("BUS-021", "BUS-022", "BUS-023")),
    )
    for rule, trigger, word in zip(
        rules,
        ("customer.approve", "customer.reject", "customer.hold"),
        ("APPROVED", "REJECTED", "HOLD"),
        strict=True,
    )
]


@pytest.mark.parametrize(("kind", "rules"), NEW)
def test_a_new_customer_shows_how_it_stands(
    platform: Platform, check: Check, kind: Kind, rules: tuple[str, str, str]
) -> None:
    """Under the name of its type, and not yet rejected or held."""
    customer = platform.customers.read(platform.customers.applicant(business=kind.is_business))

    own, other, new = rules
    with check(own):
        assert customer.get(kind.own), f"{kind.own} is not shown"
    with check(other):
        assert customer.get(kind.other) is None
    with check(new):
        assert require_member(customer, kind.own) not in ("REJECTED", "HOLD")


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(INDIVIDUAL, marks=requirement("CUS-044"), id="individual"),
        pytest.param(BUSINESS, marks=requirement("BUS-019"), id="business"),
    ],
)
def test_a_new_customer_is_unverified(platform: Platform, kind: Kind) -> None:
    """The service has not begun to look at it."""
    customer = platform.customers.applicant(business=kind.is_business)

    assert require_member(platform.customers.read(customer), kind.own) == "UNVERIFIED"


@pytest.mark.parametrize(("kind", "trigger", "word"), DECIDED)
def test_a_decided_customer_says_so(
    platform: Platform, kind: Kind, trigger: str, word: str
) -> None:
    """In the word of the interface."""
    features = platform.profile.features
    if not (features.direct_onboarding or features.hosted_onboarding):
        raise FeatureUndeclared("direct_onboarding", "hosted_onboarding")

    customer = platform.verification.reviews.onboarded(
        "directly" if features.direct_onboarding else "hosted",
        business=kind.is_business,
        trigger=trigger,
    )

    seen = platform.until(
        lambda: platform.customers.read(customer), lambda found: found.get(kind.own) == word
    )
    assert seen.get(kind.own) == word
