"""The suite in the part of a platform whose customers verify contact channels and use links."""

from __future__ import annotations

from typing import Any

from conformance.client.actor import Json, resource
from conformance.client.onboarding import Onboarding
from conformance.verdict.decisions import FeatureUndeclared, PreconditionFailed, ResourceMissing

CHANNELS = {"email": "email", "phone": "phoneNumber"}
"""The contact channels, each with the customer's member that holds its address."""


class Contact(Onboarding):
    """Customers who verify contact channels, and links that lead them into a hosted flow."""

    def contact_body(self, **members: Any) -> Json:
        """Return a body that creates an individual of a region that verifies contact channels."""
        if not self.profile.features.contact_verification:
            raise FeatureUndeclared("the profile does not declare features.contact_verification")
        region = self.profile.bindings.contact_region
        return self.customer_body(**{**self.resident(region), **members})

    def contact_business_body(self, **members: Any) -> Json:
        """Return a body that creates a business of such a region."""
        body = self.business_body(
            region=self.profile.bindings.contact_region,
            phoneNumber=f"+4915123{self.samples.digits(6)}",
        )
        return {**body, **members}

    def contact_customer(
        self, *channels: str, business: bool = False, body: Json | None = None
    ) -> Json:
        """Create a customer who has to verify contact channels, and has not yet.

        Args:
            channels: those that have to be among them; at least one by default.
            business: whether it is a business instead of an individual.
            body: what to create it with, in the place of the usual members.

        Raises:
            ResourceMissing: the region of the profile does not want them verified.
        """
        if body is None:
            body = self.contact_business_body() if business else self.contact_body()
        customer = resource(self.create_customer(body))
        required = contact_channels(customer)
        missing = [name for name in channels if name not in required]
        if missing or not required:
            raise ResourceMissing(
                f"no {missing or 'contact channel'} has to be verified in the region "
                f"{body.get('region')}: contactVerification is "
                f"{customer.get('contactVerification')}"
            )
        return customer

    def channel(self, customer: Json, name: str) -> str | None:
        """Return how far the verification of a channel is now."""
        return contact_channels(self.customer_now(customer)).get(name)

    def channel_in(self, customer: Json, name: str, status: str) -> str | None:
        """Return the status of a channel once it is ``status``.

        After ``timing.state`` of the profile it is returned as it is then.
        """
        return self.until(lambda: self.channel(customer, name), lambda seen: seen == status)

    def send(self, customer: Json, name: str) -> None:
        """Let a code be sent to a channel."""
        self.arranged(self.send_code(customer, name))

    def verify(self, customer: Json, *channels: str) -> Json:
        """Verify contact channels, by default all that have to be; return the customer then."""
        for name in channels or contact_channels(customer):
            self.send(customer, name)
            self.arranged(self.confirm_code(customer, name))
            if (seen := self.channel_in(customer, name, "VERIFIED")) != "VERIFIED":
                raise PreconditionFailed(f"the right code left the {name} at {seen}")
        return self.customer_now(customer)

    def ready(self, customer: Json) -> Json:
        """Return a customer whose channels are verified, as far as they have to be for a review."""
        return self.verify(customer) if contact_channels(customer) else customer

    def hosted_link(self, customer: Json) -> Json:
        """Return a new hosted link of a customer."""
        body = self.arranged(self.create_kyc_link(customer))
        if not isinstance(body, dict) or not isinstance(body.get("kycUrl"), str):
            raise PreconditionFailed(f"the hosted link has no kycUrl: {body!r}")
        return body


def contact_channels(customer: Json) -> dict[str, str]:
    """Return how far each contact channel is that has to be verified; none: none has to be."""
    shown = customer.get("contactVerification")
    if not isinstance(shown, dict):
        return {}
    return {name: shown[name] for name in CHANNELS if shown.get(name) is not None}


def other(channel: str) -> str:
    """Return the channel that ``channel`` is not."""
    return next(name for name in CHANNELS if name != channel)
