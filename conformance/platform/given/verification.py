"""What verifies customers: contact channels, hosted links, documents, owners and reviews."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import cycle, product
from typing import Any, Literal, Unpack

from conformance.exchange.answer import Answer
from conformance.exchange.forms import File
from conformance.platform.given.codes import OneTimeCodes
from conformance.platform.given.customers import Customers, verification_status
from conformance.platform.operations import OptionsBesideHeaders
from conformance.platform.part import Context, Part
from conformance.platform.resource import (
    Body,
    Json,
    Resource,
    arranged_body,
    arranged_resource,
    as_resource,
    listed_members,
    merged,
    without_members,
)
from conformance.testdata.documents import PROOFS_OF_ADDRESS, SIDES, SPECIMENS, has_sides, specimen
from conformance.verdict.decisions import (
    PreconditionFailed,
    ResourceMissing,
    TriggerFailed,
)

Road = Literal["directly", "hosted"]
"""How a customer comes to its review: submitted by the platform, or by the hosted flow."""

COMPLETE_FLOW = "hosted_flow.complete"

CHANNELS = {"email": "email", "phone": "phoneNumber"}
"""The contact channels, each with the customer's member that holds its address."""

_IS_VERIFIED: Mapping[tuple[bool, str], str] = {
    (False, "email"): "CON-015",
    (False, "phone"): "CON-016",
    (True, "email"): "CON-044",
    (True, "phone"): "CON-045",
}
"""The requirement that the right code verifies a channel, of individuals (False) and businesses."""

REVIEWED = ("PENDING", "APPROVED", "REJECTED", "HOLD")
"""The statuses of a customer whose review has begun; a sandbox may show the first one never."""

DECISIONS: Mapping[str, str] = {
    "customer.approve": "APPROVED",
    "customer.reject": "REJECTED",
    "customer.hold": "HOLD",
}
"""The triggers that decide reviews, with the status that each leads to."""

UNDECIDED = "001"
"""Ends the number of a business that the sandbox shall not approve before somebody rejects it."""

MAX_REPAIRS = 3
MAX_TRIES = 4
"""How often a review is tried where the sandbox may decide it before the suite does."""

_REFUSED = (400, 422)
_OPEN = "RESOLVE_ERRORS"
_CONFLICT = 409


_OF_INDIVIDUALS = frozenset({"fullName", "birthDate", "nationality", "idType", "identifier"})
_OF_BUSINESSES = frozenset({"businessInfo"})
"""Members by which the customers of one type alone can be told apart."""


def members_of_type(magic: Json, *, business: bool) -> Json:
    """Return the members of a magic value that the customers of a type have.

    It may have some for either type, as a name for individuals and a number for businesses.
    """
    others = _OF_INDIVIDUALS if business else _OF_BUSINESSES
    return {name: value for name, value in magic.items() if name not in others}


class Contact(Part):
    """Customers who have to verify contact channels."""

    def __init__(self, context: Context, customers: Customers) -> None:
        super().__init__(context)
        self.codes = OneTimeCodes(context)
        self._customers = customers
        self._verified: set[Any] = set()

    def send_code(self, customer: Json, channel: str) -> Answer:
        """Send ``POST /customers/{customerId}/verify-email``, or ``verify-phone``."""
        send = {"email": self._api.send_email_code, "phone": self._api.send_phone_code}[channel]
        answer = send(customer["id"])
        if answer.accepted:
            self.codes.note_contact(customer, channel)
        return answer

    def confirm_code(
        self, customer: Json, channel: str, body: Any = None, *, valid: bool = True
    ) -> Answer:
        """Send the code that a channel received, by default the sandbox's right one.

        Raises:
            ResourceMissing: the profile does not say which code that is, and another one is.
        """
        confirm = {"email": self._api.confirm_email, "phone": self._api.confirm_phone}[channel]
        is_guessed = body is None and not self.codes.says_contact
        if body is None:
            body = {"code": self.codes.of_contact(customer, channel)}
        answer = confirm(customer["id"], body, valid=valid)
        if is_guessed and not answer.accepted:
            raise ResourceMissing(
                "the profile has no bindings.contact_code and maps no contact.code, and the usual "
                f"code is refused: {answer}"
            )
        return answer

    def body(self, region: str | None = None, **members: Any) -> Body:
        """Return a body that creates an individual of a region that verifies contact channels.

        By default it is ``bindings.contact_region``.
        """
        return self._customers.body(**{**self.place(region), **members})

    def place(self, region: str | None = None) -> Body:
        """Return the members of an individual of such a region that the region decides."""
        self._require_feature("contact_verification")
        return self._customers.residence(region or self._profile.bindings.contact_region)

    def business_body(self, **members: Any) -> Body:
        """Return a body that creates a business of such a region."""
        body = self._customers.business_body(
            region=self._profile.bindings.contact_region,
            phoneNumber=f"+4915123{self._samples.digits(6)}",
        )
        return {**body, **members}

    def customer(self, *channels: str, business: bool | None = None, body: Any = None) -> Resource:
        """Create a customer who has to verify contact channels, and has not yet.

        Args:
            channels: those that have to be among them; at least one by default.
            business: whether it is a business instead of an individual; by default it is one in
                some of the tests.
            body: what to create it with, in the place of the usual members.

        Raises:
            PreconditionFailed: a customer of the profile's region has no channel to verify.
            ResourceMissing: it has others, or a customer with this body has none.
        """
        if body is not None:
            return self._customer(body, channels, is_usual=False)

        def of_type(is_business: bool) -> Resource:
            usual = self.business_body() if is_business else self.body()
            return self._customer(usual, channels, is_usual=True)

        try:
            return self._customers.of_any_type("contact channels", of_type, business, {})
        except ResourceMissing:
            if business is not None:
                raise
            # Which channels are required may depend on the type of the customer.
            return of_type(True)

    def _customer(self, body: Body, channels: tuple[str, ...], *, is_usual: bool) -> Resource:
        answer = self._api.create_customer(body)
        if not answer.accepted and body.get("customerType") == "BUSINESS":
            # It is of one country, and its region is another.
            raise ResourceMissing(f"no business is taken in {body.get('region')}: {answer}")
        customer = arranged_resource(answer)
        required = contact_channels(customer)
        if is_usual and not required:
            raise PreconditionFailed(
                "features.contact_verification of the profile is true, and a customer of the "
                f"region {body.get('region')} (bindings.contact_region) shows no channel to verify",
                breaks=["CON-055"],
            )
        missing = [name for name in channels if name not in required]
        if missing or not required:
            raise ResourceMissing(
                f"no {missing or 'contact channel'} has to be verified in the region "
                f"{body.get('region')}: contactVerification is "
                f"{customer.get('contactVerification')}"
            )
        return customer

    def status(self, customer: Json, name: str) -> str | None:
        """Return how far the verification of a channel is now."""
        return contact_channels(self._customers.read(customer)).get(name)

    def at_status(self, customer: Json, name: str, status: str) -> str | None:
        """Return the status of a channel once it is ``status``.

        After ``timing.state`` of the profile it is returned as it is then.
        """
        return self._until(
            lambda: self.status(customer, name), lambda seen: seen == status, f"{name} {status}"
        )

    def arrange_code(self, customer: Json, channel: str) -> None:
        """Let a code be sent to a channel."""
        arranged_body(self.send_code(customer, channel))

    def verify(self, customer: Json, *channels: str) -> Resource:
        """Verify contact channels, by default all that are not yet; return the customer then."""
        if customer["id"] in self._verified:
            # It is given as it was before; no code need be sent to a channel that is VERIFIED.
            customer = self._customers.read(customer)
        self._verified.add(customer["id"])
        pending = [n for n, status in contact_channels(customer).items() if status != "VERIFIED"]
        for name in channels or pending:
            self.arrange_code(customer, name)
            self.confirm(customer, name)
        return self._customers.read(customer)

    def confirm(self, customer: Json, *channels: str) -> None:
        """Verify contact channels by the codes that were sent to them."""
        for name in channels:
            arranged_body(self.confirm_code(customer, name))
            if (seen := self.at_status(customer, name, "VERIFIED")) != "VERIFIED":
                is_verified = _IS_VERIFIED[customer.get("customerType") == "BUSINESS", name]
                raise PreconditionFailed(
                    f"the right code left the {name} at {seen}",
                    breaks=[is_verified] if seen == "PENDING" else [],
                )

    def ready(self, customer: Json) -> Resource:
        """Return a customer whose channels are verified, as far as they have to be for a review."""
        return self.verify(customer) if contact_channels(customer) else as_resource(customer)


def hosted_link(answer: Answer) -> Body:
    """Return the hosted link in the answer to a request for one.

    Raises:
        PreconditionFailed: the request was refused, or the answer holds no ``kycUrl``.
    """
    body = arranged_body(answer)
    if not isinstance(body, dict) or not isinstance(body.get("kycUrl"), str):
        raise PreconditionFailed(f"the hosted link has no kycUrl: {body!r}")
    return body


class HostedLinks(Part):
    """Links that lead customers into a hosted flow."""

    def create(
        self,
        customer: Json,
        body: Any = None,
        *,
        key: str | None = None,
        **options: Unpack[OptionsBesideHeaders],
    ) -> Answer:
        """Send ``POST /customers/{customerId}/kyc-link`` with an ``Idempotency-Key``.

        Args:
            customer: the customer (its ``id`` is enough).
            body: by default the profile's ``bindings.redirect_uri``.
            key: the key; a new one by default, and ``""`` for none.
            options: as in :class:`OptionsBesideHeaders`.
        """
        sent = self._samples.reference() if key is None else key
        return self._api.create_kyc_link(
            customer["id"],
            {"redirectUri": self._profile.bindings.redirect_uri} if body is None else body,
            headers={"Idempotency-Key": sent} if sent else None,
            **options,
        )

    def link(self, customer: Json) -> Body:
        """Return a new hosted link of a customer."""
        return hosted_link(self.create(customer))

    def complete_flow(self, customer: Json) -> None:
        """Let a customer complete the hosted flow of a new link."""
        self.follow(customer, self.link(customer))

    def follow(self, customer: Json, link: Json) -> None:
        """Let a customer complete the hosted flow of a link."""
        self._triggers.fire(COMPLETE_FLOW, customerId=customer["id"], kycUrl=link["kycUrl"])


OF_OWNERS = (False, False, True)
"""Whether documents are of beneficial owners, in the tests that leave it open."""


class Documents(Part):
    """Documents of customers and of beneficial owners."""

    def form(
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
            # The nine digits of a passport begin with a zero, which is no number's to lose.
            begin, count = ("0", 8) if kind == "PASSPORT" else ("X", 7)
            form["documentNumber"] = f"{begin}{self._samples.digits(count)}"
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
        trigger: str | None = None,
        **parts: str | File | None,
    ) -> Answer:
        """Upload a document of a customer or beneficial owner.

        Args:
            holder: the holder (its ``id`` is enough).
            kind: the ``documentType``.
            trigger: a trigger that decides what whoever looks at the document sees.
            parts: as in :meth:`form`.
        """
        magic = self._triggers.prepare(trigger, documentHolder=holder["id"])
        return self._api.create_document({**self.form(holder, kind, **parts), **magic})

    def document(
        self,
        holder: Json,
        kind: str = "PASSPORT",
        *,
        trigger: str | None = None,
        **parts: str | File | None,
    ) -> Body:
        """Upload a document that is taken in, and return its record; as :meth:`upload`."""
        record = arranged_body(self.upload(holder, kind, trigger=trigger, **parts))
        return record if isinstance(record, dict) else {}

    def prove_address(self, holder: Json) -> None:
        """Upload a proof of the address of a customer or beneficial owner."""
        self.provide(holder, *PROOFS_OF_ADDRESS)

    def provide(self, holder: Json, *kinds: str, country: str = "US") -> None:
        """Upload a document of a country, of the first of several types that is taken.

        Raises:
            PreconditionFailed: none of them is taken.
        """
        for kind in kinds[:-1]:
            try:
                self._provide(holder, kind, country)
            except PreconditionFailed as error:
                self._observe(f"a {kind} is not taken, and another document is uploaded: {error}")
            else:
                return
        self._provide(holder, kinds[-1], country)

    def _provide(self, holder: Json, kind: str, country: str) -> None:
        """Upload a document, both sides of it where it has two.

        One that its holder has already may be taken only once.
        """
        for side in SIDES if has_sides(kind) else (None,):
            named = {} if side is None else {"side": side}
            answer = self.upload(holder, kind, country=country, **named)
            if answer.status != _CONFLICT:
                arranged_body(answer)


class Owners(Part):
    """Beneficial owners of businesses."""

    def __init__(self, context: Context, customers: Customers) -> None:
        super().__init__(context)
        self._customers = customers

    def person(self) -> Resource:
        """Create somebody whom documents are of: an individual, or in some of the tests an owner.

        Nobody has verified them.
        """
        return self._either(
            "a document is of a beneficial owner",
            OF_OWNERS,
            lambda: self._customers.applicant(business=False),
            lambda: self.owner(self._customers.applicant(business=True)),
        )

    def body(self, business: Json, **members: Any) -> Body:
        """Return a body that reports an individual who owns a quarter of a business.

        ``members`` are merged into the usual ones.
        """
        given, family = self._samples.full_name().split()
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
                "identifier": self._samples.social_security_number(),
                "countryOfIssuance": "US",
            },
        }
        return merged(merged(body, self._profile.bindings.owner), members)

    def canadian(self) -> Body:
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
            "identifier": f"9{self._samples.digits(2)}-78-1{self._samples.digits(3)}",
        }

    def owner(self, business: Json, **members: Any) -> Resource:
        """Report an individual who owns a part of a business; as :meth:`body`."""
        answer = self._api.create_beneficial_owner(self.body(business, **members))
        if self._profile.bindings.control_role in members.get("roles", ()):
            self.require_role(answer)
        return arranged_resource(answer, business)

    def require_role(self, answer: Answer) -> Answer:
        """Return the answer to a report of who controls a business, where its role is no guess.

        Raises:
            ResourceMissing: it is refused, and the profile does not say how the role is called.
        """
        is_guess = "control_role" not in self._profile.bindings.model_fields_set
        if is_guess and answer.status in _REFUSED:
            raise ResourceMissing(
                f"the role of the control person may have another name, which is "
                f"bindings.control_role of the profile: {answer}"
            )
        return answer


class Reviews(Part):
    """Customers who are submitted for review, directly or by the hosted flow, and decided."""

    def __init__(
        self,
        context: Context,
        customers: Customers,
        *,
        contact: Contact,
        documents: Documents,
        links: HostedLinks,
        owners: Owners,
    ) -> None:
        super().__init__(context)
        self._contact = contact
        self._customers = customers
        self._documents = documents
        self._links = links
        self._owners = owners

    def submit(self, customer: Json) -> Answer:
        """Send ``POST /verifications`` for a customer."""
        return self._api.create_verification({"customerId": customer["id"]})

    def unsubmitted(
        self, *, business: bool | None = None, trigger: str | None = None, **more: Any
    ) -> Resource:
        """Create a customer whom nobody has submitted; its contact channels are verified.

        Args:
            business: whether it is a business instead of an individual; by default it is one in
                some of the tests that name no trigger.
            trigger: a trigger of the review; one that is a magic value has to be named here.
            more: customer fields that differ from the usual ones.

        Raises:
            ResourceMissing: new customers are not UNVERIFIED here, or the magic value of the
                trigger is for customers of the other type.
        """
        return self._of_any_type("unsubmitted", self._unsubmitted, business, trigger, more)

    def _of_any_type(
        self,
        what: str,
        come: Callable[..., Resource],
        business: bool | None,
        trigger: str | None,
        more: dict[str, Any],
    ) -> Resource:
        """Create a customer whose type may be open; a trigger may be of individuals alone."""
        return self._customers.of_any_type(
            what,
            lambda chosen: come(chosen, trigger, more),
            business if trigger is None else bool(business),
            more,
        )

    def _unsubmitted(self, business: bool, trigger: str | None, more: dict[str, Any]) -> Resource:
        more.setdefault("endUserTermsConsent", self._customers.terms_consent())
        body = self._customers.business_body(**more) if business else self._customers.body(**more)
        magic = (self._triggers.magic(trigger) if trigger else None) or {}
        own = members_of_type(magic, business=business)
        if magic and not own:
            raise ResourceMissing(
                f"the magic value of {trigger} is a {', '.join(magic)}, which "
                f"{'a business' if business else 'an individual'} has not"
            )
        return self._ready(self._api.create_customer(merged(body, own)))

    def _ready(self, created: Answer) -> Resource:
        """Return a new customer, once its contact channels are verified.

        Raises:
            ResourceMissing: it is not UNVERIFIED, as others are.
        """
        customer = arranged_resource(created)
        if verification_status(customer) not in (None, "UNVERIFIED"):
            raise ResourceMissing(
                f"a customer is {verification_status(customer)} before any submission"
            )
        return self._contact.ready(customer)

    def incomplete(self, *, business: bool = False) -> Resource:
        """Create a customer of whom something is missing that every review needs.

        That are idType and identifier of a US individual, or the owners of a business.

        Raises:
            ResourceMissing: it is missed at creation already.
        """
        if business:
            return self.unsubmitted(business=True)
        return self.created(
            without_members(self._customers.american_body(), "idType", "identifier")
        )

    def created(self, body: Json) -> Resource:
        """Create a customer of whom something may be missing, and verify its contact channels.

        Raises:
            ResourceMissing: it is missed at creation already, or decided then.
        """
        answer = self._api.create_customer(body)
        if not answer.accepted:
            raise ResourceMissing(f"more has to be known to create a customer: {answer}")
        return self._ready(answer)

    def sent_back(self, *, business: bool) -> Resource:
        """Create a customer as :meth:`incomplete`, whose submission has errors."""
        customer = self.incomplete(business=business)
        if business:
            self.unresolved(customer, should="VER-033")
        else:
            self.unresolved(customer, must="VER-808")
        return customer

    def prepared(
        self, *, business: bool | None = None, trigger: str | None = None, **more: Any
    ) -> Resource:
        """Create a customer with all that its review surely needs; as :meth:`unsubmitted`."""
        return self._of_any_type("prepared", self._prepared, business, trigger, more)

    def _prepared(self, business: bool, trigger: str | None, more: dict[str, Any]) -> Resource:
        customer = self._unsubmitted(business, trigger, more)
        if business:
            self.hand_in_papers(customer, self.prepare_business(customer))
        return customer

    def prepare_business(self, business: Json, share: int = 75) -> Resource:
        """Bring what the review of a business surely needs: who controls it, and where it is.

        Returns:
            the owner who controls it, and owns ``share`` percent of it.
        """
        roles = [self._profile.bindings.control_role, "DIRECTOR"]
        owner = self._owners.owner(business, roles=roles, ownershipPercentage=share)
        self._documents.prove_address(business)
        return owner

    def hand_in_papers(self, business: Json, *owners: Json) -> None:
        """Upload the further documents that the target's reviews of businesses ask for, if any.

        They are those that a like business lacks, as the first one shows.
        """
        if self._memory.papers is None:
            like = self.unsubmitted(business=True)
            self.prepare_business(like)
            missing: dict[bool, list[Sequence[str]]] = {True: [], False: []}
            for entry in _asking_for_documents(self.submit(like)):
                missing[_is_about(like, entry)].append(types_offered(entry))
            self._memory.papers = missing[True], missing[False]
        of_business, of_owner = self._memory.papers
        for kinds in of_business:
            self._documents.provide(business, *kinds)
        for owner, kinds in product(owners, of_owner):
            self._documents.provide(owner, *kinds)

    def submission(self, customer: Json) -> Resource:
        """Submit a customer, supply the documents that are asked for, return what is accepted."""
        submission = arranged_resource(self.submit(customer))
        always = _papers_asked_for(submission)
        for turn in range(MAX_REPAIRS):
            if submission.get("verificationStatus") != _OPEN:
                return submission
            try:
                self.supply(customer, submission, turn)
            except (PreconditionFailed, ResourceMissing):
                # The sandbox may report errors first, whatever there is to be supplied.
                if turn > 0:
                    raise
            submission = self.resubmitted(customer)
            always &= _papers_asked_for(submission)
        if submission.get("verificationStatus") == _OPEN:
            accepted_later = "VER-051" if customer.get("customerType") == "BUSINESS" else "VER-052"
            raise PreconditionFailed(
                f"the submission is not accepted: {submission.get('errors')}",
                breaks=[accepted_later] if always else [],
            )
        return submission

    def resubmitted(self, customer: Json) -> Resource:
        """Submit a customer again, once what was missing is supplied.

        Raises:
            PreconditionFailed: it is refused; a submission with errors is there to be repaired.
        """
        answer = self.submit(customer)
        if not answer.accepted:
            repaired = "VER-051" if customer.get("customerType") == "BUSINESS" else "VER-050"
            raise PreconditionFailed(
                f"a repaired submission is refused: {answer}", breaks=[repaired]
            )
        return arranged_resource(answer)

    def submit_with_documents(self, customer: Json) -> Answer:
        """Submit a customer, as often as documents of its own are asked for, which are supplied.

        Returns:
            the answer to the last submission, accepted or refused.
        """
        answer = self.submit(customer)
        for _ in range(MAX_REPAIRS):
            if not (documents := documents_asked_of(customer, answer)):
                break
            self.supply(customer, {"errors": documents})
            answer = self.submit(customer)
        return answer

    def unresolved(
        self, customer: Json, *, must: str | None = None, should: str | None = None
    ) -> Resource:
        """Submit a customer of whom something is missing, and return the submission.

        Args:
            customer: the customer.
            must: the requirement that what is missing is missed.
            should: the same where it is recommended alone.

        Raises:
            PreconditionFailed: the target misses nothing, and has to.
            ResourceMissing: the target misses nothing, and need not.
        """
        submission = arranged_resource(self.submit(customer))
        if submission.get("verificationStatus") == _OPEN:
            return submission
        taken = f"the submission of {customer['id']} is taken as it is"
        if must is not None:
            raise PreconditionFailed(taken, breaks=[must])
        raise ResourceMissing(taken, breaks=[] if should is None else [should])

    def supply(
        self, customer: Json, submission: Json, turn: int = 0, *, country: str = "US"
    ) -> None:
        """Upload a document for each entry of a submission's errors, of a type that it accepts.

        Args:
            customer: whose submission it is.
            submission: what was answered to it.
            turn: how often it was done before; each time the document is of the next known type.
            country: the country that the documents are of.

        Raises:
            PreconditionFailed: an entry asks for a field.
            ResourceMissing: an entry does not tell which types of documents it accepts.
        """
        if not submission.get("errors"):
            raise PreconditionFailed(
                "the submission has errors and does not tell which",
                breaks=["VER-012"] if submission.get("verificationStatus") == _OPEN else [],
            )
        for entry in submission["errors"]:
            if entry.get("type") == "MISSING_FIELD":
                raise PreconditionFailed(
                    f"the review asks for {entry.get('field')}, which bindings.customer, business "
                    "or owner of the profile can add"
                )
            if not entry.get("acceptedDocumentTypes"):
                raise ResourceMissing(f"the review asks for what the suite does not have: {entry}")
            holder = {"id": entry.get("resourceId") or customer["id"]}
            kinds = types_offered(entry)
            first = turn % len(kinds)
            self._documents.provide(holder, *kinds[first:], *kinds[:first], country=country)

    def submissions(self, customer: Json) -> list[Body]:
        """Return the submissions that are found by a customer's id, as an object or as a list.

        Whether a customer who was never submitted has none of them or is not found is open.
        """
        answer = self._api.list_verifications({"customerId": customer["id"]})
        if answer.code == "VERIFICATION_NOT_FOUND":
            return []
        return submissions_in(arranged_body(answer))

    def submitted(
        self, *, business: bool | None = None, trigger: str | None = None, **more: Any
    ) -> Resource:
        """Create a customer and submit it; ``trigger`` is a trigger that decides its review."""
        return self._of_any_type("submitted", self._submitted, business, trigger, more)

    def _submitted(self, business: bool, trigger: str | None, more: dict[str, Any]) -> Resource:
        def come() -> Resource:
            customer = self._prepared(business, trigger, more)
            self.submission(customer)
            return customer

        return self._met_in_time(come, trigger)

    def hosted(
        self, *, business: bool | None = None, trigger: str | None = None, **more: Any
    ) -> Resource:
        """Create a customer who completes the hosted flow; ``trigger`` decides the review.

        A sandbox approves the businesses that complete it, without any time between. Where that is
        not wanted, every other try has a number that is not promised an approval.
        """
        return self._of_any_type("hosted", self._hosted, business, trigger, more)

    def _hosted(self, business: bool, trigger: str | None, more: dict[str, Any]) -> Resource:
        needs_decision = business and DECISIONS.get(trigger or "") not in (None, "APPROVED")
        numbers = cycle([UNDECIDED, None] if needs_decision else [None])

        def come() -> Resource:
            number = next(numbers)
            company = {} if number is None else {"businessInfo": self._customers.company(number)}
            customer = self._unsubmitted(business, trigger, {**company, **more})
            self._links.complete_flow(customer)
            return customer

        return self._met_in_time(come, trigger)

    def hosted_after_errors(self, *, business: bool) -> Resource:
        """Create a customer who completes the hosted flow after a submission with errors.

        Raises:
            ResourceMissing: no hosted link follows such a submission, or the flow does not bring
                what is missing, so that nobody like it comes to a review.
        """
        like = self.incomplete(business=business)
        self._links.complete_flow(like)
        if verification_status(self._customers.at_status(like, *REVIEWED)) not in REVIEWED:
            raise ResourceMissing("the hosted flow does not bring what a customer lacks")
        customer = self.sent_back(business=business)
        answer = self._links.create(customer)
        if not answer.accepted:
            raise ResourceMissing(f"no hosted link follows a submission: {answer}")
        self._links.follow(customer, hosted_link(answer))
        return customer

    def hosted_by_earlier_link(self, *, business: bool) -> Resource:
        """Create a customer who completes the hosted flow by the first of two links."""
        customer = self.unsubmitted(business=business)
        earlier = self._links.link(customer)
        self._links.link(customer)
        self._links.follow(customer, earlier)
        return customer

    def onboarded(
        self, road: Road, *, business: bool | None = None, trigger: str | None = None, **more: Any
    ) -> Resource:
        """Create a customer who comes to its review by a road."""
        onboard = {"directly": self.submitted, "hosted": self.hosted}[road]
        return onboard(business=business, trigger=trigger, **more)

    def in_review(self, customer: Json) -> Resource:
        """Return a customer whose review has begun.

        Raises:
            ResourceMissing: the review is over already.
        """
        return _undecided(self._customers.at_status(customer, *REVIEWED))

    def _met_in_time(self, come: Callable[[], Resource], trigger: str | None) -> Resource:
        """Return a customer who came to its review, where a trigger happened to it.

        Where the sandbox decides some reviews by itself, it may be faster; another customer may
        have more luck.

        Raises:
            ResourceMissing: the sandbox was faster each time.
        """
        for _ in range(MAX_TRIES - 1):
            with suppress(_Outrun):
                return self._met(come(), trigger)
        return self._met(come(), trigger)

    def _met(self, customer: Resource, trigger: str | None) -> Resource:
        """Let a trigger happen to a review, unless a magic value has brought it about."""
        if trigger is None or self._triggers.magic(trigger) is not None:
            return customer
        wanted = DECISIONS[trigger]
        seen = self._customers.at_status(customer, *REVIEWED)
        if verification_status(seen) == wanted:
            return customer
        _undecided(seen)
        try:
            self._triggers.fire(trigger, customerId=customer["id"])
        except TriggerFailed:
            # The sandbox may have decided in between, and show it a moment later.
            seen = self._customers.at_status(customer, *DECISIONS.values())
            if verification_status(seen) != wanted:
                _undecided(seen)
                raise
        return customer


class _Outrun(ResourceMissing):
    """The sandbox decided a review before the suite could have it decided."""


def _undecided(customer: Resource) -> Resource:
    """Return a customer who is not decided; raise ``ResourceMissing`` otherwise."""
    status = verification_status(customer)
    if status in ("APPROVED", "REJECTED"):
        raise _Outrun(f"the sandbox has decided by itself: {status}")
    return customer


def contact_channels(customer: Json) -> dict[str, str]:
    """Return how far each contact channel is that has to be verified; none: none has to be."""
    shown = customer.get("contactVerification")
    if not isinstance(shown, dict):
        return {}
    return {name: shown[name] for name in CHANNELS if shown.get(name) is not None}


def other_channel(channel: str) -> str:
    """Return the contact channel that ``channel`` is not."""
    return next(name for name in CHANNELS if name != channel)


def documents_asked_of(customer: Json, answer: Answer) -> list[Json]:
    """Return the errors of a submission that ask for a document of the customer itself."""
    return [entry for entry in _asking_for_documents(answer) if _is_about(customer, entry)]


def _asking_for_documents(answer: Answer) -> list[Json]:
    """Return the errors of a submission that ask for a document of whomever."""
    errors = answer.body.get("errors") if answer.accepted else None
    return [entry for entry in errors or () if entry.get("acceptedDocumentTypes")]


def _is_about(customer: Json, entry: Json) -> bool:
    """Return whether an error is about the customer itself, and not about an owner of it."""
    return entry.get("resourceId") in (None, customer["id"])


def types_offered(entry: Json) -> Sequence[str]:
    """Return the types of documents that an error accepts; those that the suite knows, if any."""
    accepted: Sequence[str] = entry["acceptedDocumentTypes"]
    known = [kind for kind in accepted if (kind, None) in SPECIMENS or has_sides(kind)]
    return known or accepted


def _papers_asked_for(submission: Json) -> set[tuple[str, str, str]]:
    """Return for whom a submission misses documents, of which kind, and which types it accepts.

    What is missing still after a document of each type was uploaded is asked for wrongly.
    """
    return {
        (str(entry.get("resourceId")), str(entry.get("type")), str(entry["acceptedDocumentTypes"]))
        for entry in submission.get("errors") or ()
        if entry.get("acceptedDocumentTypes")
    }


def submissions_in(body: Any) -> list[Body]:
    """Return the submissions in an answer: one object, or a list bare or under ``data``.

    Beside a list, what stands for all of them may be told, such as a ``verificationStatus``.
    """
    if isinstance(body, dict) and isinstance(body.get("data"), dict | list):
        body = body["data"]
    if isinstance(body, dict) and "verificationStatus" in body:
        return [body]
    return listed_members(body)
