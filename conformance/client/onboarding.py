"""The suite in the part of a platform that onboards its customers."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from conformance.client.actor import Actor, Json, filled, merged, resource
from conformance.client.examples import Change, Example
from conformance.client.http import Answer, File, Form
from conformance.client.specimens import PROOFS_OF_ADDRESS, SIDES, has_sides, specimen


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
            # The same all day, so that two runs send the same bytes.
            "{now}": f"{datetime.now(UTC).date()}T00:00:00Z",
            "{version}": terms.get(self.profile.bindings.terms_version),
        }
        consent: Json = filled(self.profile.bindings.terms_consent, words)
        return consent

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

    def business_body(self, **members: Any) -> Json:
        """Return a body that creates a business; ``members`` as in :meth:`customer_body`."""
        return self.customer_body(**self._business_members(members))

    def applicant(self, *, business: bool = False, **members: Any) -> Json:
        """Create a customer, and leave it as it is: nobody has verified or approved it.

        Args:
            business: whether it is a business instead of an individual.
            members: customer fields that differ from the usual ones.
        """
        members.setdefault("endUserTermsConsent", self.terms_consent())
        body = self.business_body(**members) if business else self.customer_body(**members)
        return resource(self.create_customer(body))

    def example_body(self, example: Example, change: Change | None = None) -> Json:
        """Return a body that creates the customer of an example, with digits of its own.

        Args:
            example: an example of ``fixtures/customers``.
            change: what is sent otherwise.
        """
        body = dict(example.customer)
        if not example.alone:
            body = merged(body, self.profile.bindings.customer)
            if body["customerType"] == "BUSINESS":
                body = merged(body, self.profile.bindings.business)
        if "currencies" in body:
            body = {**body, "currencies": [self.currency]}
        filled: Json = self.samples.filled(body if change is None else change.applied(body))
        return filled

    def example_customer(self, example: Example) -> Json:
        """Create the customer of an example, whom nobody has verified or approved."""
        return resource(self.create_customer(self.example_body(example)))

    def _business_members(self, members: Json) -> Json:
        person = ("fullName", "birthDate", "nationality", "idType", "identifier")
        usual = {
            **dict.fromkeys(person),
            "customerType": "BUSINESS",
            "businessInfo": {
                "legalName": f"{self.samples.full_name()} Trading LLC",
                "country": "US",
                "taxId": f"12-3{self.samples.digits(6)}",
                "incorporatedOn": "2014-06-02",
                "registrationNumber": self.samples.digits(9),
            },
        }
        return {**merged(usual, self.profile.bindings.business), **members}

    def owner_body(self, business: Json, **members: Any) -> Json:
        """Return a body that reports an individual who owns a quarter of a business.

        ``members`` are merged into the usual ones.
        """
        given, family = self.samples.full_name().split()
        body = {
            "customerId": business["id"],
            "roles": ["DIRECTOR"],
            "ownershipPercentage": 25,
            "personalInfo": {
                "firstName": given,
                "lastName": family,
                "birthDate": "1979-07-21",
                "nationality": "US",
                "address": {
                    "line1": "77 Harbor Road",
                    "city": "Oakland",
                    "state": "CA",
                    "postalCode": "94607",
                    "country": "US",
                },
                "idType": "SSN",
                "identifier": self.samples.social_security_number(),
                "countryOfIssuance": "US",
            },
        }
        return merged(merged(body, self.profile.bindings.owner), members)

    def canadian(self) -> Json:
        """Return the ``personalInfo`` in which an owner from Canada differs from the usual one."""
        return {
            "nationality": "CA",
            "address": {
                "line1": "12 Queen Street West",
                "city": "Toronto",
                "state": "ON",
                "postalCode": "M5H 2N2",
                "country": "CA",
            },
            "idType": "ITIN",
            "identifier": f"9{self.samples.digits(2)}-78-1{self.samples.digits(3)}",
        }

    def owner(self, business: Json, **members: Any) -> Json:
        """Report an individual who owns a part of a business; as :meth:`owner_body`."""
        return resource(self.create_owner(self.owner_body(business, **members)))

    def document_form(
        self, holder: Json, kind: str = "PASSPORT", **parts: str | File | None
    ) -> dict[str, str | File]:
        """Return a form that uploads a document of a customer or beneficial owner.

        Args:
            holder: the holder (its ``id`` is enough).
            kind: the ``documentType``.
            parts: parts that differ from the usual ones; ``None`` leaves one out. Of a document
                with two sides it is the front by default.
        """
        form: dict[str, str | File | None] = {
            "documentHolder": holder["id"],
            "documentType": kind,
            "country": "US",
        }
        if kind not in PROOFS_OF_ADDRESS:
            form["documentNumber"] = f"X{self.samples.digits(7)}"
            form["issuingAuthority"] = "Department of State"
        if has_sides(kind):
            form["side"] = SIDES[0]
        form |= {name: part for name, part in parts.items() if name != "file"}
        form["file"] = parts["file"] if "file" in parts else specimen(kind, parts.get("side"))
        return {name: part for name, part in form.items() if part is not None}

    def upload(
        self,
        holder: Json,
        kind: str = "PASSPORT",
        *,
        fate: str | None = None,
        **parts: str | File | None,
    ) -> Answer:
        """Upload a document of a customer or beneficial owner.

        Args:
            holder: the holder (its ``id`` is enough).
            kind: the ``documentType``.
            fate: a trigger that decides what whoever looks at the document sees.
            parts: as in :meth:`document_form`.
        """
        magic = self.triggers.magic(fate) if fate else None
        if fate and magic is None:
            self.cause(fate, documentHolder=holder["id"])
        return self.create_document({**self.document_form(holder, kind, **parts), **(magic or {})})

    def document(
        self,
        holder: Json,
        kind: str = "PASSPORT",
        *,
        fate: str | None = None,
        **parts: str | File | None,
    ) -> Json:
        """Upload a document that is taken in, and return its record; as :meth:`upload`."""
        record = self.arranged(self.upload(holder, kind, fate=fate, **parts))
        return record if isinstance(record, dict) else {}

    def resident(self, region: str) -> Json:
        """Return the members of an individual of a region in Europe."""
        return {
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
        }


def standing(customer: Json) -> str | None:
    """Return a customer's verification status: ``kycStatus`` or ``kybStatus``."""
    status = customer.get("kycStatus") or customer.get("kybStatus")
    return status if isinstance(status, str) else None
