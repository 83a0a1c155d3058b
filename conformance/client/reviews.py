"""The suite in the part of a platform whose customers are reviewed by the service."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Literal

from conformance.client.actor import Json, members, merged, resource
from conformance.client.contact import Contact
from conformance.client.onboarding import standing
from conformance.client.specimens import SIDES, SPECIMENS, has_sides
from conformance.verdict.decisions import (
    FeatureUndeclared,
    PreconditionFailed,
    ResourceMissing,
    TriggerFailed,
    TriggerMissing,
)

Path = Literal["directly", "hosted"]
"""How a customer comes to its review: submitted by the platform, or by the hosted flow."""

REVIEWED = ("PENDING", "APPROVED", "REJECTED", "HOLD")
"""The statuses of a customer whose review has begun; a sandbox may show the first one never."""

FATES: Mapping[str, str] = {
    "customer.approve": "APPROVED",
    "customer.reject": "REJECTED",
    "customer.hold": "HOLD",
}
"""The triggers that decide reviews, with the status that each leads to."""

UNDECIDED = "001"
"""Ends the number of a business that the sandbox shall not approve before somebody rejects it."""

WAYS_TO_APPROVAL = ("operator", "review", "patience")
"""How customers come to be approved: an operator is told to, or ends a review that has begun, or it
just happens. In this order they are tried."""

_MOST_REPAIRS = 3
_OPEN = "RESOLVE_ERRORS"
_CONFLICT = 409
_TRIES = 4
"""How often a review is tried where the sandbox may decide it before the suite does."""


class Reviews(Contact):
    """Customers who are submitted for review, directly or by the hosted flow, and decided."""

    def customer(self, *, consent: bool = True, **members: Any) -> Json:
        """Create an individual customer who may move money.

        Args:
            consent: whether the acceptance of the end-user terms is put on file.
            members: customer fields that differ from the usual ones.
        """
        if consent:
            members.setdefault("endUserTermsConsent", self.terms_consent())
        approvable = self.triggers.maps("customer.approve")
        magic = self.triggers.magic("customer.approve") if approvable else None
        body = merged(self.customer_body(**members), magic or {})
        return self.approved(resource(self.create_customer(body)))

    def approved(self, customer: Json) -> Json:
        """Return a customer once it is approved, by the way that target and profile have for it.

        Which one that is the first customer shows, and others try it first. Where there is none a
        customer is returned as it is.
        """
        known = self.memory.approval
        if standing(customer) == "APPROVED" or known == "none":
            return customer
        for way in sorted(WAYS_TO_APPROVAL, key=lambda way: way != known):
            if way in self._ways() and self._is_approved(customer, way):
                self.memory.approval = way
                return customer
        if not self.triggers.maps("customer.approve"):
            self.memory.approval = "none"
        return customer

    def _ways(self) -> set[str]:
        """Return the ways to an approval that the profile leaves open."""
        features = self.profile.features
        ways = {"patience"}
        if self._tells():
            ways = {"operator"}
        if features.declares("unregulated") and (
            features.direct_onboarding or features.hosted_onboarding
        ):
            ways.add("review")
        return ways

    def _tells(self) -> bool:
        """Return whether an operator is told to approve, and no magic value does it."""
        name = "customer.approve"
        return self.triggers.maps(name) and self.triggers.magic(name) is None

    def _is_approved(self, customer: Json, way: str) -> bool:
        """Try a way to an approval, and return whether it led there."""
        if way == "review":
            self._bring_to_review(customer)
        if self._tells():
            try:
                self.cause("customer.approve", customerId=customer["id"])
            except TriggerFailed as error:
                # Without a review there may be nothing to end, and one may end by itself.
                self.observe(f"customer.approve is refused: {error}")
                if way == "operator":
                    return standing(self.customer_now(customer)) == "APPROVED"
        return standing(self.customer_in(customer, "APPROVED")) == "APPROVED"

    def _bring_to_review(self, customer: Json) -> None:
        try:
            if self.profile.features.direct_onboarding:
                if customer.get("customerType") == "BUSINESS":
                    self.packet(customer)
                self.submission(self.ready(customer))
            else:
                self._complete_flow(self.ready(customer))
        except (PreconditionFailed, ResourceMissing, TriggerFailed, TriggerMissing) as error:
            # Whoever needs the approval will see that there is none.
            self.observe(f"a customer is not taken in for review: {error}")

    def business(self, **members: Any) -> Json:
        """Create a business customer who may move money."""
        return self.customer(**self._business_members(members))

    def sca_customer(self, **members: Any) -> Json:
        """Create a customer of a region where money movement needs strong authentication."""
        if not self.profile.features.sca:
            raise FeatureUndeclared("the profile does not declare features.sca")
        region = self.profile.bindings.sca_region
        return self.customer(**{**self.resident(region), **members})

    def unsubmitted(self, *, business: bool = False, fate: str | None = None, **more: Any) -> Json:
        """Create a customer whom nobody has submitted; its contact channels are verified.

        Args:
            business: whether it is a business instead of an individual.
            fate: a trigger of the review; one that is a magic value has to be named here.
            more: customer fields that differ from the usual ones.

        Raises:
            ResourceMissing: new customers are not UNVERIFIED here.
        """
        more.setdefault("endUserTermsConsent", self.terms_consent())
        body = self.business_body(**more) if business else self.customer_body(**more)
        magic = self.triggers.magic(fate) if fate else None
        customer = resource(self.create_customer(merged(body, magic or {})))
        if standing(customer) not in (None, "UNVERIFIED"):
            raise ResourceMissing(f"a customer is {standing(customer)} before any submission")
        return self.ready(customer)

    def incomplete(self, *, business: bool = False) -> Json:
        """Create a customer of whom something is missing that every review needs.

        That are idType and identifier of a US individual, or the owners of a business.

        Raises:
            ResourceMissing: it is missed at creation already.
        """
        if business:
            return self.unsubmitted(business=True)
        return self.created(without(self.american_body(), "idType", "identifier"))

    def american_body(self) -> Json:
        """Return a body that creates a US individual, whatever the profile's customers are."""
        return self.customer_body(
            region="US",
            nationality="US",
            idType="SSN",
            identifier=self.samples.social_security_number(),
            address={
                "line1": "500 Market Street",
                "city": "San Francisco",
                "state": "CA",
                "postalCode": "94105",
                "country": "US",
            },
        )

    def created(self, body: Json) -> Json:
        """Create a customer of whom something may be missing, and verify its contact channels.

        Raises:
            ResourceMissing: it is missed at creation already.
        """
        answer = self.create_customer(body)
        if not answer.accepted:
            raise ResourceMissing(f"more has to be known to create a customer: {answer}")
        return self.ready(resource(answer))

    def company(self, ending: str) -> Json:
        """Return the businessInfo of a business whose registrationNumber has an ending."""
        company: Json = self.business_body()["businessInfo"]
        return {**company, "registrationNumber": f"{self.samples.digits(6)}{ending}"}

    def prepared(self, *, business: bool = False, fate: str | None = None, **more: Any) -> Json:
        """Create a customer with all that its review surely needs; as :meth:`unsubmitted`."""
        customer = self.unsubmitted(business=business, fate=fate, **more)
        if business:
            self.packet(customer)
        return customer

    def packet(self, business: Json) -> None:
        """Bring what the review of a business surely needs: who controls it, and where it is."""
        roles = [self.profile.bindings.control_role, "DIRECTOR"]
        self.owner(business, roles=roles, ownershipPercentage=75)
        self.document(business, "UTILITY_BILL")

    def submission(self, customer: Json) -> Json:
        """Submit a customer, supply the documents that are asked for, return what is accepted."""
        submission = resource(self.submit(customer))
        for _ in range(_MOST_REPAIRS):
            if submission.get("verificationStatus") != _OPEN:
                return submission
            self.supply(customer, submission)
            submission = resource(self.submit(customer))
        if submission.get("verificationStatus") == _OPEN:
            raise PreconditionFailed(f"the submission is not accepted: {submission.get('errors')}")
        return submission

    def unresolved(self, customer: Json) -> Json:
        """Submit a customer of whom something is missing, and return the submission.

        Raises:
            ResourceMissing: the target misses nothing.
        """
        submission = resource(self.submit(customer))
        if submission.get("verificationStatus") != _OPEN:
            raise ResourceMissing(f"the submission of {customer['id']} is taken as it is")
        return submission

    def supply(self, customer: Json, submission: Json) -> None:
        """Upload a document for each entry of a submission's errors, of its first known type.

        Raises:
            PreconditionFailed: an entry asks for a field.
            ResourceMissing: an entry does not tell which types of documents it accepts.
        """
        if not submission.get("errors"):
            raise PreconditionFailed("the submission has errors and does not tell which")
        for entry in submission["errors"]:
            if entry.get("type") == "MISSING_FIELD":
                raise PreconditionFailed(
                    f"the review asks for {entry.get('field')}, which bindings.customer, business "
                    "or owner of the profile can add"
                )
            accepted = entry.get("acceptedDocumentTypes") or ()
            if not accepted:
                raise ResourceMissing(f"the review asks for what the suite does not have: {entry}")
            known = [kind for kind in accepted if (kind, None) in SPECIMENS or has_sides(kind)]
            self.papers({"id": entry.get("resourceId") or customer["id"]}, (known or accepted)[0])

    def papers(self, holder: Json, kind: str) -> None:
        """Upload a document, both sides of it where it has two.

        One that its holder has already may be taken only once.
        """
        for side in SIDES if has_sides(kind) else (None,):
            named = {} if side is None else {"side": side}
            answer = self.upload(holder, kind, **named)
            if answer.status != _CONFLICT:
                self.arranged(answer)

    def verifications(self, customer: Json) -> list[Json]:
        """Return the submissions that are found by a customer's id: one object, or a list."""
        return found(self.arranged(self.list_verifications(customer)))

    def submitted(self, *, business: bool = False, fate: str | None = None, **more: Any) -> Json:
        """Create a customer and submit it; ``fate`` is a trigger that decides its review."""

        def come() -> Json:
            customer = self.prepared(business=business, fate=fate, **more)
            self.submission(customer)
            return customer

        return self._met_in_time(come, fate)

    def hosted(self, *, business: bool = False, fate: str | None = None, **more: Any) -> Json:
        """Create a customer who completes the hosted flow; ``fate`` decides the review."""

        def come() -> Json:
            customer = self.unsubmitted(business=business, fate=fate, **more)
            self._complete_flow(customer)
            return customer

        return self._met_in_time(come, fate)

    def _complete_flow(self, customer: Json) -> None:
        link = self.hosted_link(customer)
        self.cause("hosted_flow.complete", customerId=customer["id"], kycUrl=link["kycUrl"])

    def onboarded(
        self, path: Path, *, business: bool = False, fate: str | None = None, **more: Any
    ) -> Json:
        """Create a customer who comes to its review by ``path``."""
        onboard = {"directly": self.submitted, "hosted": self.hosted}[path]
        return onboard(business=business, fate=fate, **more)

    def in_review(self, customer: Json) -> Json:
        """Return a customer whose review has begun.

        Raises:
            ResourceMissing: the review is over already.
        """
        return _undecided(self.customer_in(customer, *REVIEWED))

    def _met_in_time(self, come: Callable[[], Json], fate: str | None) -> Json:
        """Return a customer who came to its review and met its fate there.

        Where the sandbox decides some reviews by itself, it may be faster; another customer may
        have more luck.

        Raises:
            ResourceMissing: the sandbox was faster each time.
        """
        for _ in range(_TRIES - 1):
            with suppress(_Outrun):
                return self._met(come(), fate)
        return self._met(come(), fate)

    def _met(self, customer: Json, fate: str | None) -> Json:
        """Let a review meet its fate, unless a magic value has brought it about."""
        if fate is None or self.triggers.magic(fate) is not None:
            return customer
        wanted = FATES[fate]
        seen = self.customer_in(customer, *REVIEWED)
        if standing(seen) == wanted:
            return customer
        _undecided(seen)
        try:
            self.cause(fate, customerId=customer["id"])
        except TriggerFailed:
            # The sandbox may have decided in between, and show it a moment later.
            seen = self.customer_in(customer, *FATES.values())
            if standing(seen) != wanted:
                _undecided(seen)
                raise
        return customer


class _Outrun(ResourceMissing):
    """The sandbox decided a review before the suite could have it decided."""


def _undecided(customer: Json) -> Json:
    """Return a customer who is not decided; raise ``ResourceMissing`` otherwise."""
    if standing(customer) in ("APPROVED", "REJECTED"):
        raise _Outrun(f"the sandbox has decided by itself: {standing(customer)}")
    return customer


def without(body: Json, *names: str) -> Json:
    """Return a body without some of its members."""
    return {name: value for name, value in body.items() if name not in names}


def found(body: Any) -> list[Json]:
    """Return the submissions in an answer: one object, or a list bare or under ``data``."""
    if isinstance(body, dict) and isinstance(body.get("data"), dict):
        body = body["data"]
    if isinstance(body, dict) and "verificationStatus" in body:
        return [body]
    return members(body)
