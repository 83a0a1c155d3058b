"""The verification status of customers: the name of its member, and its values."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from conformance.platform.given.verification import DECISIONS
from conformance.platform.platform import Platform
from conformance.platform.resource import require_member
from conformance.scenarios.kit.cases import case
from conformance.scenarios.kit.marks import Check
from conformance.scenarios.kit.notation import same
from conformance.text.paths import value_at
from conformance.verdict.decisions import FeatureUndeclared, PreconditionFailed


class Kind(NamedTuple):
    """A type of customer, its member for the verification status, and that of the other type."""

    name: str
    member: str
    other_member: str

    @property
    def is_business(self) -> bool:
        """Whether the type is that of businesses."""
        return self.name == "business"


INDIVIDUAL = Kind("individual", "kycStatus", "kybStatus")
BUSINESS = Kind("business", "kybStatus", "kycStatus")

NEW = [
    case(
        ("CUS-042", "CUS-043", "CUS-045"),
        "individual",
        INDIVIDUAL,
        ("CUS-042", "CUS-043", "CUS-045"),
    ),
    case(
        ("BUS-017", "BUS-018", "BUS-020"), "business", BUSINESS, ("BUS-017", "BUS-018", "BUS-020")
    ),
]
"""Each type with the requirements on its own member, on the other one, and on its value."""

KEPT = (
    "customerType",
    "platformCustomerId",
    "region",
    "currencies",
    "fullName",
    "businessInfo.legalName",
    "businessInfo.country",
    "businessInfo.registrationNumber",
)
"""What says who a customer is, and is no secret of the customer's."""

DECIDED = [
    case(
        (id_, alone_id, "CUS-616"),
        f"{kind.name}-{DECISIONS[trigger].lower()}",
        kind,
        trigger,
        (id_, alone_id),
    )
    for kind, alone_id, ids in (
        (INDIVIDUAL, "CUS-043", ("CUS-046", "CUS-047", "CUS-048")),
        (BUSINESS, "BUS-018", ("BUS-021", "BUS-022", "BUS-023")),
    )
    for id_, trigger in zip(ids, DECISIONS, strict=True)
]
"""Each type and decision with the requirements on the status, and on the other member for it."""


@pytest.mark.parametrize(("kind", "ids"), NEW)
def test_a_new_customer_shows_how_it_stands(
    platform: Platform, check: Check, kind: Kind, ids: tuple[str, str, str]
) -> None:
    """The status stands in the member of the customer's type alone, and is not REJECTED or HOLD.

    That holds for the answer to the creation as for the customer who is read.
    """
    created = platform.customers.applicant(business=kind.is_business)
    customer = platform.customers.read(created)

    own_member, other_member, value = ids
    with check(own_member):
        assert customer.get(kind.member), f"{kind.member} is not shown"
    with check(other_member):
        assert customer.get(kind.other_member) is None
        assert created.get(kind.other_member) is None, created
    with check(value):
        statuses = {created.get(kind.member), require_member(customer, kind.member)}
        assert not statuses & {"REJECTED", "HOLD"}


@pytest.mark.parametrize(
    "kind",
    [
        case("CUS-044", "individual", INDIVIDUAL),
        case("BUS-019", "business", BUSINESS),
    ],
)
def test_a_new_customer_is_unverified(platform: Platform, kind: Kind) -> None:
    """A customer that was not submitted for review has the status UNVERIFIED."""
    created = platform.customers.applicant(business=kind.is_business)

    assert require_member(platform.customers.read(created), kind.member) == "UNVERIFIED"
    assert created.get(kind.member) in (None, "UNVERIFIED"), created


@pytest.mark.parametrize(("kind", "trigger", "ids"), DECIDED)
def test_a_decided_customer_says_so(
    platform: Platform, check: Check, kind: Kind, trigger: str, ids: tuple[str, str]
) -> None:
    """The status becomes APPROVED, REJECTED or HOLD, as the review decides, in its member alone.

    The customer shows who it is as one does who was not submitted, and as it did itself.
    """
    status = DECISIONS[trigger]
    status_id, alone_id = ids
    features = platform.profile.features
    if not (features.direct_onboarding or features.hosted_onboarding):
        raise FeatureUndeclared("direct_onboarding", "hosted_onboarding")

    customer = platform.verification.reviews.onboarded(
        "directly" if features.direct_onboarding else "hosted",
        business=kind.is_business,
        trigger=trigger,
    )

    after = platform.until(
        lambda: platform.customers.read(customer), lambda now: now.get(kind.member) == status
    )
    with check(status_id):
        assert after.get(kind.member) == status
    with check(alone_id):
        assert after.get(kind.other_member) is None, after
    with check("CUS-616"):
        if after.get(kind.member) != status:
            raise PreconditionFailed(f"the review left the customer at {after.get(kind.member)}")
        other = platform.customers.read(platform.customers.applicant(business=kind.is_business))
        shown = [path for path in KEPT if value_at(other, path) is not None]
        assert [path for path in shown if value_at(after, path) is None] == [], after
        told = {path: value for path in shown if (value := value_at(customer, path)) is not None}
        changed = [path for path in told if not same(path, value_at(after, path), told[path])]
        assert not changed, f"{changed} were told as {told}: {after}"
