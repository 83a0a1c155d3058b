"""The suite in the part of a platform that onboards its customers."""

from __future__ import annotations

from typing import Any

from conformance.client.actor import Actor, Json, resource
from conformance.client.http import Answer
from conformance.verdict.decisions import FeatureUndeclared

_CONSENT_GIVEN = "2026-01-15T09:00:00Z"


class Onboarding(Actor):
    """Customers, and what verifies them."""

    def create_customer(self, body: Json, *, valid: bool = True) -> Answer:
        """Send ``POST /customers``."""
        return self.client.call("createCustomer", body=body, valid=valid)

    def update_customer(self, customer: Json, body: Json, *, valid: bool = True) -> Answer:
        """Send ``PATCH /customers/{customerId}``."""
        return self.client.call(
            "updateCustomer", path={"customerId": customer["id"]}, body=body, valid=valid
        )

    def terms_consent(self) -> Json:
        """Return an ``endUserTermsConsent`` to the current terms, shaped by the bindings."""
        terms = self.arranged(self.client.call("getEndUserTerms"))
        words = {
            "{now}": _CONSENT_GIVEN,
            "{version}": terms.get(self.profile.bindings.terms_version),
        }
        consent = self.profile.bindings.terms_consent
        return {k: words.get(v, v) if isinstance(v, str) else v for k, v in consent.items()}

    def customer_body(self, **members: Any) -> Json:
        """Return a body that creates an individual customer who may move money.

        ``members`` replace the usual ones; ``None`` leaves a member out.
        """
        body = {
            "customerType": "INDIVIDUAL",
            "platformCustomerId": self.samples.reference(),
            "region": "US",
            "currencies": [self.currency],
            "fullName": self.samples.full_name(),
            "birthDate": "1985-03-14",
            "nationality": "US",
            "email": f"{self.samples.reference()}@example.com",
            "phoneNumber": f"+1415555{self.samples.digits(4)}",
            "idType": "SSN",
            "identifier": self.samples.social_security_number(),
            "address": {
                "line1": "500 Market Street",
                "city": "San Francisco",
                "state": "CA",
                "postalCode": "94105",
                "country": "US",
            },
            **self.profile.bindings.customer,
            **members,
        }
        return {name: value for name, value in body.items() if value is not None}

    def customer(self, *, consent: bool = True, **members: Any) -> Json:
        """Create an individual customer who may move money.

        Args:
            consent: whether the acceptance of the end-user terms is put on file.
            members: customer fields that differ from the usual ones.
        """
        if consent:
            members.setdefault("endUserTermsConsent", self.terms_consent())
        customer = resource(self.create_customer(self.customer_body(**members)))
        status = customer.get("kycStatus") or customer.get("kybStatus")
        if status != "APPROVED" and self.triggers.maps("customer.approve"):
            self.cause("customer.approve", customerId=customer["id"])
            self.until(
                lambda: self.arranged(
                    self.client.call("getCustomer", path={"customerId": customer["id"]})
                ),
                lambda seen: (seen.get("kycStatus") or seen.get("kybStatus")) == "APPROVED",
            )
        return customer

    def changed(self, customer: Json, **members: Any) -> Json:
        """Change members of a customer and return it."""
        return resource(self.update_customer(customer, members))

    def business(self, **members: Any) -> Json:
        """Create a business customer who may move money."""
        person = ("fullName", "birthDate", "nationality", "idType", "identifier")
        return self.customer(
            **{
                **dict.fromkeys(person),
                "customerType": "BUSINESS",
                "businessInfo": {
                    "legalName": f"{self.samples.full_name()} Trading LLC",
                    "country": "US",
                    "taxId": f"12-3{self.samples.digits(6)}",
                    "incorporatedOn": "2014-06-02",
                    "registrationNumber": self.samples.digits(9),
                },
                **members,
            }
        )

    def sca_customer(self, **members: Any) -> Json:
        """Create a customer of a region where money movement needs strong authentication."""
        if not self.profile.features.sca:
            raise FeatureUndeclared("the profile does not declare features.sca")
        region = self.profile.bindings.sca_region
        return self.customer(
            **{
                "region": region,
                "nationality": region,
                "idType": None,
                "identifier": None,
                "phoneNumber": f"+4915123{self.samples.digits(6)}",
                "address": {
                    "line1": "Am Markt 3",
                    "city": "Berlin",
                    "postalCode": "10115",
                    "country": region,
                },
                **members,
            }
        )
