"""Customers as they are created: nobody has verified or approved them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from conformance.exchange.clock import now
from conformance.platform.part import Part, T
from conformance.platform.resource import (
    Body,
    Json,
    Resource,
    arranged_body,
    arranged_resource,
    fill_template,
    merged,
)
from conformance.testdata.examples import ABSENT, Change, Example, placed
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing

BUSINESS = "a customer is a business"
TYPES = (False, False, True)
"""Whether customers are businesses, in the tests that leave it open."""

_OF_ANY_TYPE = frozenset({"currencies", "endUserTermsConsent", "platformCustomerId"})
"""Members that customers of both types have in the same way."""


class Customers(Part):
    """Bodies of customers, and customers whom nobody has verified or approved."""

    def terms_consent(self) -> Body:
        """Return an ``endUserTermsConsent`` to the current terms, shaped by the bindings.

        They are read once: a platform shows them to many of its customers too.
        """
        if self._memory.terms is None:
            terms = arranged_body(self._api.get_end_user_terms())
            if not isinstance(terms, Mapping):
                raise PreconditionFailed(f"the end-user terms are no object: {terms!r}")
            self._memory.terms = terms
        version = self._profile.bindings.terms_version
        words = {
            # The same all day, so that two runs send the same bytes.
            "{now}": f"{now().date()}T00:00:00Z",
            "{version}": self._memory.terms.get(version) if version else None,
        }
        consent: Body = fill_template(self._profile.bindings.terms_consent, words)
        return consent

    def namesakes(
        self, first: Callable[..., Resource], second: Callable[..., Resource]
    ) -> tuple[Resource, Resource]:
        """Create two customers who share one ``platformCustomerId``.

        Args:
            first: creates one, given the members in which it differs from the usual.
            second: creates the other one, likewise.

        Raises:
            ResourceMissing: no second customer can have the same one.
        """
        name = {"platformCustomerId": self._samples.own_id()}
        customer = first(**name)
        try:
            return customer, second(**name)
        except PreconditionFailed as error:
            raise ResourceMissing(f"no second customer has the same name: {error}") from error

    def body(self, **members: Any) -> Body:
        """Return a body that creates an individual customer who may move money.

        ``members`` replace the usual ones; ``None`` leaves a member out.
        """
        body = {
            "customerType": "INDIVIDUAL",
            "platformCustomerId": self._samples.own_id(),
            "region": "US",
            "currencies": [self._profile.currency],
            "fullName": self._samples.full_name(),
            "birthDate": "1985-03-14",
            "nationality": "US",
            "email": f"{self._samples.reference()}@example.com",
            "phoneNumber": f"+1415555{self._samples.digits(4)}",
            "idType": "SSN",
            "identifier": self._samples.social_security_number(),
            "address": {
                "line1": "500 Market Street",
                "city": "San Francisco",
                "state": "CA",
                "postalCode": "94105",
                "country": "US",
            },
            **self._samples.filled(self._profile.bindings.customer),
            **members,
        }
        return {name: value for name, value in body.items() if value is not None}

    def alike(self, body: Json) -> Body:
        """Return the body of a customer like another one, with an id and an address of its own."""
        own = {
            "platformCustomerId": self._samples.own_id(),
            "email": f"{self._samples.reference()}@example.com",
        }
        return {**body, **{name: value for name, value in own.items() if name in body}}

    def read(self, customer: Json) -> Resource:
        """Return a customer as it stands now."""
        return arranged_resource(self._api.get_customer(customer["id"]))

    def at_status(self, customer: Json, *statuses: str) -> Resource:
        """Return a customer once its verification status is one of ``statuses``.

        After ``timing.state`` of the profile it is returned as it is then.
        """
        return self._until(
            lambda: self.read(customer),
            lambda seen: verification_status(seen) in statuses,
            f"customer {statuses}",
        )

    def change(self, customer: Json, **members: Any) -> Resource:
        """Change members of a customer and return it."""
        return arranged_resource(self._api.update_customer(customer["id"], members))

    def business_body(self, **members: Any) -> Body:
        """Return a body that creates a business; ``members`` as in :meth:`body`."""
        return self.body(**self.business_members(members))

    def applicant(self, *, business: bool | None = None, **members: Any) -> Resource:
        """Create a customer, and leave it as it is: nobody has verified or approved it.

        Args:
            business: whether it is a business instead of an individual; None as in
                :meth:`of_any_type`.
            members: customer fields that differ from the usual ones.
        """
        members.setdefault("endUserTermsConsent", self.terms_consent())

        def create(business: bool) -> Resource:
            body = self.business_body(**members) if business else self.body(**members)
            return arranged_resource(self._api.create_customer(body))

        return self.of_any_type("an applicant", create, business, members)

    def of_any_type(
        self, what: str, come: Callable[[bool], T], business: bool | None, members: Json
    ) -> T:
        """Arrange something with a customer: a business in some of the tests that leave it open.

        Args:
            what: is arranged, in a few words.
            come: arranges it with a business, or with an individual.
            business: whether it is one; None where that does not matter.
            members: customer fields that the test sets: who has those of one type alone is of it.
        """
        if business is not None or not members.keys() <= _OF_ANY_TYPE:
            return come(bool(business))
        return self._either(f"{BUSINESS} ({what})", TYPES, lambda: come(False), lambda: come(True))

    def example_body(self, example: Example, change: Change | None = None) -> Body:
        """Return a body that creates the customer of an example, with digits of its own.

        Args:
            example: an example of ``fixtures/customers``.
            change: what is sent otherwise.
        """
        body = dict(example.customer)
        if not example.alone:
            body = merged(body, self._profile.bindings.customer)
            if body["customerType"] == "BUSINESS":
                body = merged(body, self._profile.bindings.business)
        if "currencies" in body:
            body = {**body, "currencies": [self._profile.currency]}
        filled: Body = self._samples.filled(body if change is None else change.applied(body))
        return filled

    def of_example(self, example: Example) -> Resource:
        """Create the customer of an example, whom nobody has verified or approved."""
        return arranged_resource(self._api.create_customer(self.example_body(example)))

    def business_members(self, members: Json) -> Body:
        """Return what a business has other than an individual; ``members`` go before."""
        person = ("fullName", "birthDate", "nationality", "idType", "identifier")
        usual = {
            **dict.fromkeys(person),
            "customerType": "BUSINESS",
            "businessInfo": {
                "legalName": f"{self._samples.full_name()} Trading LLC",
                "country": "US",
                "taxId": f"12-3{self._samples.digits(6)}",
                "incorporatedOn": "2014-06-02",
                "registrationNumber": self._samples.digits(9),
            },
        }
        own = self._samples.filled(self._profile.bindings.business)
        return {**merged(usual, own), **members}

    def unregistered_business_members(self) -> Body:
        """Return what a business has other than an individual, without a registrationNumber."""
        return placed(self.business_members({}), "businessInfo.registrationNumber", ABSENT)

    def residence(self, region: str) -> Body:
        """Return the members of an individual of a region in Europe."""
        return {
            "region": region,
            "nationality": region,
            "idType": None,
            "identifier": None,
            "phoneNumber": f"+4915123{self._samples.digits(6)}",
            "address": {
                "line1": "Am Markt 3",
                "city": "Berlin",
                "postalCode": "10115",
                "country": region,
            },
        }

    def american_body(self) -> Body:
        """Return a body that creates a US individual, whatever the profile's customers are."""
        return self.body(
            region="US",
            nationality="US",
            idType="SSN",
            identifier=self._samples.social_security_number(),
            address={
                "line1": "500 Market Street",
                "city": "San Francisco",
                "state": "CA",
                "postalCode": "94105",
                "country": "US",
            },
        )

    def company(self, ending: str) -> Body:
        """Return the businessInfo of a business whose registrationNumber has an ending."""
        company: Body = self.business_body()["businessInfo"]
        return {**company, "registrationNumber": f"{self._samples.digits(6)}{ending}"}


def verification_status(customer: Json) -> str | None:
    """Return a customer's ``kycStatus`` or ``kybStatus``."""
    status = customer.get("kycStatus") or customer.get("kybStatus")
    return status if isinstance(status, str) else None
