"""Bindings of customers and their terms."""

from __future__ import annotations

from typing import Any

from pydantic import (
    Field,
)

from conformance.profile.part import ProfilePart


class CustomerBindings(ProfilePart):
    """What the specification leaves open of customers and their terms."""

    customer: dict[str, Any] = Field(
        default_factory=dict,
        description="Members merged into every customer that is created. Each `#` in a text is a "
        "digit that differs from customer to customer, as in `umaAddress: "
        "'$c########@uma.example'`.",
    )
    business: dict[str, Any] = Field(
        default_factory=dict,
        description="Members merged into every business that is created, objects member by "
        "member. What each has to tell belongs here, such as `businessInfo: "
        "{countriesOfOperation: [US]}`, whether `business_details` has it or not.",
    )
    business_details: dict[str, Any] = Field(
        default_factory=dict,
        description="Members of `businessInfo` whose values the specification does not show: "
        "`entityType`, `businessType`, `countriesOfOperation`, `purposeOfAccount` "
        "and `sourceOfFunds`. Each is sent by the tests about it alone.",
    )
    foreign_business: dict[str, Any] | None = Field(
        default_factory=dict,
        description="The `businessInfo` of a business outside the US: its `country`, and a "
        "`taxId` that is valid there; null for none. With one of `sca_region`, businesses that "
        "need strong authentication are looked at too.",
    )
    entity_types: dict[str, str] = Field(
        default_factory=dict,
        description="The `entityType` of a `publicly_listed_company`, `trust`, "
        "`private_foundation` and `charity`.",
    )
    due_diligence: dict[str, Any] = Field(
        default_factory=dict,
        description="Enhanced due diligence members of an individual, with values that are "
        "taken: `purposeOfAccount`, `expectedMonthlyTransactionCount`, "
        "`expectedMonthlyTransactionVolume`, `annualIncomeRange`, `netWorthRange` "
        "and `pepStatus`. `sourceOfFundsCategories` and `sourceOfWealthCategories` are lists of "
        "categories that are taken beside `OTHER`.",
    )
    terms_version: str | None = Field(
        "version",
        description="The member of `GET /customers/end-user-terms` that holds the version; "
        "null where it is not shown.",
    )
    terms_consent: dict[str, Any] = Field(
        default_factory=lambda: {
            "acceptedAt": "{now}",
            "ipAddress": "203.0.113.7",
            "termsVersion": "{version}",
            "acceptanceMethod": "CLICKWRAP",
        },
        description="The `endUserTermsConsent`; `{now}` and `{version}` are filled in.",
    )
    platform_fee_override: dict[str, Any] | None = Field(
        default_factory=lambda: {"variableFeeBasisPoints": 100},
        description="A `platformFeeOverride` that the implementation takes; null for none.",
    )
