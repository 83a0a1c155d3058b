"""The suite in the part of a platform that onboards its customers."""

from __future__ import annotations

from typing import Any

from conformance.client.actor import Actor, Json, resource
from conformance.client.http import Answer, Form
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

    def get_customer(self, customer: Json) -> Answer:
        """Send ``GET /customers/{customerId}``."""
        return self.client.call("getCustomer", path={"customerId": customer["id"]})

    def create_kyc_link(
        self, customer: Json, body: Json | None = None, *, key: str | None = None, **options: Any
    ) -> Answer:
        """Send ``POST /customers/{customerId}/kyc-link`` with an ``Idempotency-Key``.

        Args:
            customer: the customer (its ``id`` is enough).
            body: by default the profile's ``bindings.redirect_uri``.
            key: the key; a new one by default, and ``""`` for none.
            options: further arguments of :meth:`RecordingClient.call`.
        """
        sent = self.samples.reference() if key is None else key
        return self.client.call(
            "createKycLink",
            path={"customerId": customer["id"]},
            body={"redirectUri": self.profile.bindings.redirect_uri} if body is None else body,
            headers={"Idempotency-Key": sent} if sent else None,
            **options,
        )

    def send_code(self, customer: Json, channel: str) -> Answer:
        """Send ``POST /customers/{customerId}/verify-email``, or ``verify-phone``."""
        name = {"email": "sendEmailCode", "phone": "sendPhoneCode"}[channel]
        return self.client.call(name, path={"customerId": customer["id"]})

    def confirm_code(
        self, customer: Json, channel: str, body: Json | None = None, *, valid: bool = True
    ) -> Answer:
        """Send the code that a channel received, by default the sandbox's right one."""
        name = {"email": "confirmEmail", "phone": "confirmPhone"}[channel]
        right = {"code": self.profile.bindings.contact_code}
        return self.client.call(
            name,
            path={"customerId": customer["id"]},
            body=right if body is None else body,
            valid=valid,
        )

    def create_owner(self, body: Json, *, valid: bool = True) -> Answer:
        """Send ``POST /beneficial-owners``."""
        return self.client.call("createBeneficialOwner", body=body, valid=valid)

    def create_document(self, form: Form, *, valid: bool = True) -> Answer:
        """Send ``POST /documents``."""
        return self.client.call("createDocument", form=form, valid=valid)

    def submit(self, customer: Json) -> Answer:
        """Send ``POST /verifications``."""
        return self.client.call("createVerification", body={"customerId": customer["id"]})

    def list_verifications(self, customer: Json) -> Answer:
        """Send ``GET /verifications``."""
        return self.client.call("listVerifications", query={"customerId": customer["id"]})

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
        if standing(customer) != "APPROVED" and self.triggers.maps("customer.approve"):
            self.cause("customer.approve", customerId=customer["id"])
            self.customer_in(customer, "APPROVED")
        return customer

    def customer_now(self, customer: Json) -> Json:
        """Return a customer as it stands now."""
        return resource(self.get_customer(customer))

    def customer_in(self, customer: Json, *statuses: str) -> Json:
        """Return a customer once its verification status is one of ``statuses``.

        After ``timing.state`` of the profile it is returned as it is then.
        """
        return self.until(
            lambda: self.customer_now(customer), lambda seen: standing(seen) in statuses
        )

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


def standing(customer: Json) -> str | None:
    """Return a customer's verification status: ``kycStatus`` or ``kybStatus``."""
    status = customer.get("kycStatus") or customer.get("kybStatus")
    return status if isinstance(status, str) else None
