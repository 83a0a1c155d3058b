"""Customers who may move money."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from conformance.platform.given.customers import (
    BUSINESS,
    TYPES,
    Customers,
    verification_status,
)
from conformance.platform.given.verification import (
    COMPLETE_FLOW,
    DECISIONS,
    REVIEWED,
    Contact,
    HostedLinks,
    Reviews,
    Road,
    members_of_type,
)
from conformance.platform.part import Context, Part
from conformance.platform.resource import Json, Resource, arranged_resource, as_resource, merged
from conformance.verdict.decisions import (
    PreconditionFailed,
    ResourceMissing,
    TriggerFailed,
    TriggerMissing,
)

APPROVE = "customer.approve"
LOSE_APPROVAL = "customer.lose_approval"

ROADS: tuple[Road, ...] = ("directly", "hosted")
"""How customers come to a review. In this order they are tried."""

WORDS: Mapping[Way, str] = {"directly": "directly", "hosted": "by the hosted flow"}

Way = Road | Literal["operator", "patience"]

WAYS_TO_APPROVAL: tuple[Way, ...] = ("operator", *ROADS, "patience")
"""How customers come to be approved: an operator is told to, or ends a review that has begun in
one of two ways, or it just happens. In this order they are tried."""

NOT_APPROVED = ("UNVERIFIED", "PENDING", "REJECTED", "HOLD")
"""The statuses of a customer who may not move money, or not yet."""


class ApprovedCustomers(Part):
    """Creates customers, and brings them to their approval."""

    def __init__(
        self,
        context: Context,
        contact: Contact,
        customers: Customers,
        links: HostedLinks,
        reviews: Reviews,
    ) -> None:
        super().__init__(context)
        self._contact = contact
        self._customers = customers
        self._links = links
        self._reviews = reviews
        self._prepared: set[str] = set()

    def customer(self, *, consent: bool = True, **members: Any) -> Resource:
        """Create a customer who may move money, and whose type does not matter.

        It is a business in some of the tests, where businesses are taken: the first one shows it.

        Args:
            consent: whether the acceptance of the end-user terms is put on file.
            members: customer fields that differ from the usual ones.
        """
        return self._of_any_type(self.individual, self.business, consent=consent, **members)

    def individual(self, *, consent: bool = True, **members: Any) -> Resource:
        """Create an individual customer who may move money; arguments as in :meth:`customer`."""
        if consent:
            members.setdefault("endUserTermsConsent", self._customers.terms_consent())
        body = merged(self._customers.body(**members), self.magic_value)
        return self.approve(arranged_resource(self._api.create_customer(body)))

    def of_type(self, business: bool | None, *, sca: bool = False, **members: Any) -> Resource:
        """Create a customer who may move money.

        Args:
            business: whether it is one; ``None`` where its type does not matter.
            sca: whether it is of a region where money movement needs strong authentication.
            members: customer fields that differ from the usual ones.
        """
        if business is None:
            return (self.sca_customer if sca else self.customer)(**members)
        if business:
            return (self.sca_business if sca else self.business)(**members)
        return (self.sca_individual if sca else self.individual)(**members)

    def _of_any_type(
        self, individual: Callable[..., Resource], business: Callable[..., Resource], **members: Any
    ) -> Resource:
        """Create a customer by one of two ways; a business that is not approved is none."""
        circumstance = f"{BUSINESS} ({business.__name__})"

        def approved_business() -> Resource | None:
            found = business(**members)
            if self._memory.works.get(circumstance):
                return found
            seen = verification_status(self._customers.read(found))
            return found if seen == "APPROVED" else None

        return self._either(circumstance, TYPES, lambda: individual(**members), approved_business)

    @property
    def draws_business(self) -> bool:
        """Whether customers of the test are businesses, as far as it leaves their type open."""
        return self._samples.drawn(f"{BUSINESS} ({self.business.__name__})", TYPES)

    def approve(self, customer: Json) -> Resource:
        """Return a customer once it is approved, by the way that target and profile have for it.

        Which one that is the first customer of a type shows, and others try it first. Where there
        is none a customer is returned as it is.
        """
        known = self._known_way(customer)
        if verification_status(customer) == "APPROVED" or known == "none":
            return as_resource(customer)
        for way in self._ways(customer):
            seen = self._status_by(customer, way)
            if seen == "APPROVED":
                self._memory.approval[_is_business(customer)] = way
                return as_resource(customer)
            if way in ROADS and seen in REVIEWED:
                # It led to the review, and another road would lead no further.
                break
        if known is None and not self._triggers.maps(APPROVE):
            self._memory.approval[_is_business(customer)] = "none"
        return as_resource(customer)

    @property
    def can_be_lost(self) -> bool:
        """Whether the profile has an approved customer lose the approval."""
        name = LOSE_APPROVAL
        return self._triggers.maps(name) and self._triggers.magic(name) is None

    def lose_approval(self, customer: Json, status: str) -> None:
        """Withdraw the approval of a customer, and bring it to another verification status.

        Args:
            customer: an approved customer.
            status: UNVERIFIED, PENDING, REJECTED or HOLD.

        Raises:
            TriggerMissing: the profile does not map a trigger that it takes.
            TriggerFailed: a trigger was refused.
            PreconditionFailed: the customer is at another status in the end.
            ResourceMissing: who comes to this decision has to be created so.
        """
        if self._profile.features.webhooks:
            self._hear_of_review(customer)
        self._triggers.fire(LOSE_APPROVAL, customerId=customer["id"])
        seen = self._status_of(customer, *NOT_APPROVED)
        for road in self._roads(customer):
            if seen != "UNVERIFIED" or status == seen:
                break
            self._bring_to_review(customer, road)
            seen = self._status_of(customer, "PENDING", "REJECTED")
        decision = next((name for name, end in DECISIONS.items() if end == status), None)
        if seen == "PENDING" and decision is not None:
            if self._triggers.magic(decision) is not None:
                raise ResourceMissing(f"the profile has {decision} at the creation of a customer")
            self._triggers.fire(decision, customerId=customer["id"])
            seen = self._status_of(customer, status)
        if seen != status:
            raise PreconditionFailed(f"without its approval the customer is {seen}, not {status}")

    def _hear_of_review(self, customer: Json) -> None:
        """Wait for what is told of a review: what comes late may show the customer as it is then.

        Who approves without a review need not tell that one has begun.
        """
        review = "CUSTOMER.KYB_" if customer.get("kybStatus") else "CUSTOMER.KYC_"
        begun = f"{review}PENDING"
        if self._webhooks.all(lambda delivery: delivery.type == begun):
            self._webhooks.wait_for(begun, customer["id"])
        self._webhooks.wait_for(f"{review}APPROVED", customer["id"])

    def _status_of(self, customer: Json, *statuses: str) -> str | None:
        return verification_status(self._customers.at_status(customer, *statuses))

    def _known_way(self, customer: Json) -> str | None:
        return self._memory.approval.get(_is_business(customer))

    def _ways(self, customer: Json) -> Sequence[Way]:
        """Return the ways to an approval that the profile leaves open, the known one first."""
        there: set[Way] = {"operator" if self._tells() else "patience", *self._roads(customer)}
        known = self._known_way(customer)
        return sorted(
            (way for way in WAYS_TO_APPROVAL if way in there), key=lambda way: way != known
        )

    def _roads(self, customer: Json) -> Sequence[Road]:
        """Return the roads to a review that the profile leaves open, the known one first."""
        features = self._profile.features
        is_there: Mapping[Road, bool] = {
            "directly": features.direct_onboarding,
            # Without the trigger nobody goes through the flow.
            "hosted": features.hosted_onboarding and self._triggers.maps(COMPLETE_FLOW),
        }
        if not features.declares("unregulated"):
            return []
        known = self._known_way(customer)
        return sorted((road for road in ROADS if is_there[road]), key=lambda road: road != known)

    @property
    def magic_value(self) -> Json:
        """The members by which the profile has an individual approved as it is created."""
        magic = self._triggers.magic(APPROVE) if self._triggers.maps(APPROVE) else None
        return members_of_type(magic or {}, business=False)

    def _tells(self) -> bool:
        """Return whether an operator is told to approve, and no magic value does it."""
        return self._triggers.maps(APPROVE) and self._triggers.magic(APPROVE) is None

    def _status_by(self, customer: Json, way: Way) -> str | None:
        """Try a way to an approval, and return the status of the customer in the end."""
        if way in ROADS and not self._bring_to_review(customer, way):
            seen = verification_status(self._customers.read(customer))
            if seen not in REVIEWED:
                return seen
        if self._tells():
            try:
                self._triggers.fire(APPROVE, customerId=customer["id"])
            except TriggerFailed as error:
                # Without a review there may be nothing to end, and one may end by itself.
                self._observe(f"customer.approve is refused: {error}")
                if way == "operator":
                    return verification_status(self._customers.read(customer))
        seen = self._status_of(customer, "APPROVED")
        if way in ROADS and seen not in REVIEWED:
            self._observe(f"a customer who came to its review {WORDS[way]} is {seen}")
        return seen

    def _bring_to_review(self, customer: Json, road: Road) -> bool:
        """Let a customer go a road to its review, and return whether nothing stood in the way."""
        try:
            if road == "directly":
                if _is_business(customer) and customer["id"] not in self._prepared:
                    self._prepared.add(customer["id"])
                    owner = self._reviews.prepare_business(customer)
                    self._reviews.hand_in_papers(customer, owner)
                self._reviews.submission(self._contact.ready(customer))
            else:
                self._links.complete_flow(self._contact.ready(customer))
        except (PreconditionFailed, ResourceMissing, TriggerFailed, TriggerMissing) as error:
            # Whoever needs the approval will see that there is none.
            self._observe(f"a customer does not come to its review {WORDS[road]}: {error}")
            return False
        return True

    def business(self, *, consent: bool = True, **members: Any) -> Resource:
        """Create a business customer who may move money; arguments as in :meth:`customer`."""
        return self.individual(consent=consent, **self._customers.business_members(members))

    def sca_customer(self, **members: Any) -> Resource:
        """Create a customer of a region where money movement needs strong authentication.

        It is a business in some of the tests, as in :meth:`customer`.
        """
        return self._of_any_type(self.sca_individual, self.sca_business, **members)

    def sca_individual(self, **members: Any) -> Resource:
        """Create an individual of a region where money movement needs strong authentication."""
        self._require_feature("sca")
        region = self._profile.bindings.sca_region
        return self.individual(**{**self._customers.residence(region), **members})

    def sca_business(self, **members: Any) -> Resource:
        """Create a business of a region where money movement needs strong authentication.

        Raises:
            ResourceMissing: the profile knows no business there.
        """
        self._require_feature("sca")
        names = self._profile.bindings
        foreign = names.foreign_business or {}
        if foreign.get("country") != names.sca_region:
            raise ResourceMissing(
                f"bindings.foreign_business of the profile is none of {names.sca_region}"
            )
        usual = self._customers.business_members({})
        place = self._customers.residence(names.sca_region)
        own = {name: place[name] for name in ("region", "phoneNumber", "address")}
        info = {**usual["businessInfo"], **foreign}
        try:
            return self.business(**{**own, "businessInfo": info, **members})
        except PreconditionFailed as error:
            raise ResourceMissing(f"no business of {names.sca_region} is taken: {error}") from error

    def customer_outside_sca(self) -> Resource:
        """Create a customer outside the regions of SCA.

        Raises:
            ResourceMissing: the platform takes no customer of the United States.
        """
        body = {
            **self._customers.american_body(),
            "endUserTermsConsent": self._customers.terms_consent(),
        }
        answer = self._api.create_customer(body)
        if not answer.accepted or not isinstance(answer.body, Mapping) or "id" not in answer.body:
            raise ResourceMissing(
                f"no customer can be created outside the regions of SCA: {answer}"
            )
        return self.approve(Resource(answer.body))


def _is_business(customer: Json) -> bool:
    return customer.get("customerType") == "BUSINESS"
