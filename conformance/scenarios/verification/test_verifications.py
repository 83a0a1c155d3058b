"""Submitting customers for review: what is accepted, what is missing, and what can be read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest

from conformance.platform.given.verification import (
    MAX_REPAIRS,
    documents_asked_of,
    submissions_in,
)
from conformance.platform.platform import Platform
from conformance.platform.resource import (
    Json,
    Resource,
    arranged_resource,
    require_member,
    unknown_id,
    without_members,
)
from conformance.scenarios.kit.cases import case
from conformance.scenarios.kit.customers import MEXICAN
from conformance.scenarios.kit.marks import Check, requirement
from conformance.scenarios.kit.notation import arrange_moment
from conformance.scenarios.kit.refusals import NOT_FOUND
from conformance.scenarios.kit.uploads import UNFIT
from conformance.testdata.documents import PROOFS_OF_ADDRESS, SIDES
from conformance.testdata.examples import Change, example
from conformance.verdict.decisions import FeatureUndeclared, PreconditionFailed, ResourceMissing

IN_PROGRESS = "IN_PROGRESS"
RESOLVE_ERRORS = "RESOLVE_ERRORS"
FIELD = "MISSING_FIELD"
IDENTITY = "MISSING_IDENTITY_DOCUMENT"
ADDRESS = "MISSING_PROOF_OF_ADDRESS"

NUMBER = ("idType", "identifier")
NEEDED_OF_BUSINESSES = ("legalName", "country", "taxId", "incorporatedOn")
OPTIONAL_MEMBERS = ("birthDate", "nationality", "address", "fullName", *NUMBER)
"""Members of an individual that a review may require; the most common ones come first."""


# --- Accepted -------------------------------------------------------------------------------


@requirement("VER-001", "VER-002", "VER-003", "VER-004", "VER-005", "VER-020", "VER-021")
def test_an_individual_is_accepted_for_review(platform: Platform, check: Check) -> None:
    """The submission has the customer's id, the status IN_PROGRESS and no errors."""
    individual = platform.verification.reviews.prepared(business=False)

    submission = platform.verification.reviews.submission(individual)

    with check("VER-002"):
        assert submission["customerId"] == individual["id"]
    with check("VER-020"):
        assert submission["verificationStatus"] == IN_PROGRESS
    with check("VER-021"):
        assert submission["errors"] == []


@requirement("VER-020")
@pytest.mark.parametrize(
    "change",
    [
        pytest.param(change, id=change.name)
        for change in example("individual").accepted
        if change.requirement in ("CUS-090", "CUS-091", "CUS-960")
    ],
)
def test_an_individual_at_the_edge_of_a_rule_is_accepted_for_review(
    platform: Platform, change: Change
) -> None:
    """What is right at the creation, such as a name of three words, is right at the submission.

    Its twin is an individual with usual members.
    """
    reviews = platform.verification.reviews
    twin = reviews.submission(reviews.prepared(business=False))
    if twin.get("verificationStatus") != IN_PROGRESS:
        raise PreconditionFailed(f"a usual individual is not accepted either: {twin}")
    individual = reviews.prepared(**{change.member: change.value})

    answer = reviews.submit_with_documents(individual)

    answer.expect_accepted()
    assert answer.body.get("verificationStatus") == IN_PROGRESS, answer


@requirement("VER-022", "VER-023")
def test_a_business_is_accepted_for_review(platform: Platform, check: Check) -> None:
    """A business with a control person and a proof of address is IN_PROGRESS without errors."""
    submission = platform.verification.reviews.submission(
        platform.verification.reviews.prepared(business=True)
    )

    with check("VER-022"):
        assert submission["verificationStatus"] == IN_PROGRESS
    with check("VER-023"):
        assert submission["errors"] == []


@requirement("VER-022")
def test_a_business_may_be_controlled_by_who_owns_nothing_of_it(platform: Platform) -> None:
    """Nothing is missing of a business whose control person owns 0 percent, and a director 75.

    Its twin is controlled by who owns 75 percent.
    """
    reviews, owners = platform.verification.reviews, platform.verification.owners
    twin = reviews.submission(reviews.prepared(business=True))
    if twin["verificationStatus"] != IN_PROGRESS:
        raise PreconditionFailed(f"nothing is known to be enough: {twin}")
    business = reviews.unsubmitted(business=True)
    idle = owners.body(
        business, roles=[platform.profile.bindings.control_role], ownershipPercentage=0
    )
    if not (report := platform.api.create_beneficial_owner(idle)).accepted:
        raise ResourceMissing(f"nobody is reported who owns nothing: {report}")
    owners.owner(business, roles=["DIRECTOR"], ownershipPercentage=75)
    platform.verification.documents.prove_address(business)

    answer = reviews.submit_with_documents(business)

    if documents := documents_asked_of(business, answer):
        raise ResourceMissing(f"more documents are asked for: {documents}")
    entries = arranged_resource(answer).get("errors") or ()
    if entries and business["id"] not in {entry.get("resourceId") for entry in entries}:
        raise ResourceMissing(f"more is asked of the second owner: {entries}")
    assert answer.body["verificationStatus"] == IN_PROGRESS, answer


# --- Incomplete -----------------------------------------------------------------------------


@requirement("VER-033")
def test_a_business_without_owners_is_not_accepted(platform: Platform) -> None:
    """The submission is RESOLVE_ERRORS, though every document is there that was asked for.

    A business with an owner and the same documents is IN_PROGRESS.
    """
    reviews = platform.verification.reviews
    twin = reviews.submission(reviews.prepared(business=True))
    if twin.get("verificationStatus") != IN_PROGRESS:
        raise PreconditionFailed(f"with an owner the submission is not accepted either: {twin}")
    business = reviews.unsubmitted(business=True)
    platform.verification.documents.prove_address(business)

    answer = reviews.submit_with_documents(business)

    answer.expect_accepted()
    assert answer.body["verificationStatus"] == RESOLVE_ERRORS
    if documents := documents_asked_of(business, answer):
        raise PreconditionFailed(f"more documents are asked for each time: {documents}")


@requirement("VER-006", "VER-007", "VER-008", "VER-011", "VER-012", "VER-036")
def test_what_is_missing_of_a_business_is_told(platform: Platform, check: Check) -> None:
    """The errors for a business without owners and documents carry the id of the business."""
    business = platform.verification.reviews.unsubmitted(business=True)

    submission = platform.verification.reviews.unresolved(business, should="VER-033")

    entries = submission.get("errors")
    with check("VER-012"):
        assert entries
    if not entries:
        raise PreconditionFailed("there is no entry to look at")
    with check("VER-036"):
        assert {entry["resourceId"] for entry in entries} == {business["id"]}


@requirement("VER-036", "VER-062")
def test_what_is_missing_of_an_owner_is_told_of_the_owner(platform: Platform, check: Check) -> None:
    """The errors for a Mexican owner without documents carry the id of the owner or business.

    They are read as they were told.
    """
    business = platform.verification.reviews.unsubmitted(business=True)
    owners = platform.verification.owners
    number = {name: owners.canadian()[name] for name in NUMBER}
    owner = owners.owner(business, personalInfo={"nationality": "MX", "address": MEXICAN, **number})

    submission = platform.verification.reviews.unresolved(business, should="VER-803")
    entries = require_member(submission, "errors")

    with check("VER-036"):
        assert {entry["resourceId"] for entry in entries} <= {business["id"], owner["id"]}
    with check("VER-062"):
        expect_told_again(platform, business, submission)


@requirement("VER-009", "VER-034", "VER-035", "VER-816")
def test_what_is_missing_of_an_individual_is_named(platform: Platform, check: Check) -> None:
    """The errors carry the individual's id, and name no member that was sent, or of businesses."""
    body = without_members(platform.customers.american_body(), *NUMBER)
    individual = platform.verification.reviews.created(body)

    submission = platform.verification.reviews.unresolved(individual, must="VER-808")
    entries = require_member(submission, "errors")

    with check("VER-035"):
        assert {entry["resourceId"] for entry in entries} == {individual["id"]}
    fields = _of_type(FIELD, entries)
    with check("VER-009"):
        assert all(entry["field"] for entry in fields)
    with check("VER-034"):
        assert not set(_paths(fields)) & body.keys()
    with check("VER-816"):
        assert "businessInfo" not in {path.partition(".")[0] for path in _paths(fields)}


@requirement("VER-037", "VER-038")
def test_each_missing_field_has_an_entry(platform: Platform, check: Check) -> None:
    """Two missing fields have one entry each, where the review requires both."""
    first, second = _two_required_fields(platform)

    names = Counter(_missing_fields(platform, first, second))

    with check("VER-037"):
        assert {first, second} <= names.keys()
    with check("VER-038"):
        assert max(names.values()) == 1


@requirement("VER-010", "VER-039", "VER-052", "VER-818")
def test_a_missing_identity_document_is_asked_for_until_it_is_there(
    platform: Platform, check: Check
) -> None:
    """The error lists accepted types, and is gone once a document of such a type is uploaded."""
    individual = _create_mexican(platform)
    entries = _of_type(IDENTITY, platform.verification.reviews.unresolved(individual)["errors"])

    with check("VER-039"):
        assert {entry["resourceId"] for entry in entries} == {individual["id"]}
    with check("VER-010"):
        assert all(entry["acceptedDocumentTypes"] for entry in entries)
    with check("VER-818"):
        accepted = {kind for entry in entries for kind in entry["acceptedDocumentTypes"]}
        assert not accepted & set(PROOFS_OF_ADDRESS)
    platform.verification.reviews.supply(individual, {"errors": entries}, country="MX")
    with check("VER-052"):
        again = (
            arranged_resource(platform.verification.reviews.submit(individual)).get("errors") or []
        )
        assert IDENTITY not in {entry.get("type") for entry in again}


@requirement("VER-821")
def test_a_missing_document_of_an_owner_is_asked_for_until_it_is_there(platform: Platform) -> None:
    """The errors about an owner from abroad are gone once the owner has what they accept.

    A review may ask for one document after the other, so each accepted type is uploaded.
    """
    reviews = platform.verification.reviews
    business = reviews.prepared(business=True)
    owners = platform.verification.owners
    owner = owners.owner(business, personalInfo=owners.canadian())

    entries = _asked_of(owner, reviews.unresolved(business, should="VER-803"))
    if not entries:
        raise ResourceMissing("no identity document of an owner from abroad is asked for")
    for turn in range(MAX_REPAIRS):
        reviews.supply(owner, {"errors": entries}, turn, country="CA")
        entries = _asked_of(owner, arranged_resource(reviews.submit(business)))
        if not entries:
            break

    assert not entries, f"asked for after documents of each type were uploaded: {entries}"


def _asked_of(holder: Json, submission: Json) -> list[Json]:
    """Return the entries of a submission that ask for an identity document of a holder."""
    about = {"type": IDENTITY, "resourceId": holder["id"]}
    return [entry for entry in submission.get("errors") or () if about.items() <= entry.items()]


@requirement("VER-819")
def test_a_proof_of_address_identifies_nobody(platform: Platform) -> None:
    """An identity document is asked for still after a utility bill was uploaded."""
    individual = _create_mexican(platform)
    entries = _of_type(IDENTITY, platform.verification.reviews.unresolved(individual)["errors"])
    platform.verification.documents.prove_address(individual)

    again = arranged_resource(platform.verification.reviews.submit(individual)).get("errors") or []

    assert IDENTITY in {entry.get("type") for entry in again}, f"{entries}, and then {again}"


@requirement("VER-820", "VER-955")
@pytest.mark.parametrize("kind", PROOFS_OF_ADDRESS)
def test_each_type_of_proof_proves_an_address(platform: Platform, check: Check, kind: str) -> None:
    """The submission after its upload misses no proof of the holder's address any more.

    As one document was missing, one entry told it.
    """
    business = platform.verification.reviews.unsubmitted(business=True)
    submission = platform.verification.reviews.unresolved(business, should="VER-033")
    missing = _of_type(ADDRESS, submission["errors"])
    holder = missing[0].get("resourceId") or business["id"]
    platform.verification.documents.document({"id": holder}, kind)

    again = arranged_resource(platform.verification.reviews.submit(business)).get("errors") or []

    left = [entry for entry in again if entry.get("type") == ADDRESS]
    with check("VER-820"):
        assert holder not in {entry.get("resourceId") or business["id"] for entry in left}, again
    with check("VER-955"):
        wanted, still_wanted = (
            [
                entry.get("acceptedDocumentTypes")
                for entry in entries
                if (entry.get("resourceId") or business["id"]) == holder
            ]
            for entries in (missing, left)
        )
        if still_wanted:
            raise PreconditionFailed(f"one document is not all that was missing: {again}")
        # What one document of several types would supply may differ from what another one would.
        assert all(wanted.count(one) == 1 for one in wanted), missing


def test_how_a_submission_before_its_contact_is_verified_is_answered(platform: Platform) -> None:
    """The specification does not say whether it is refused, so the answer is recorded."""
    if not platform.profile.features.direct_onboarding:
        raise FeatureUndeclared("direct_onboarding")

    answer = platform.verification.reviews.submit(platform.verification.contact.customer())

    outcome = answer.body.get("verificationStatus") if answer.accepted else answer.code
    platform.observe(f"a submission while a contact channel is PENDING: {answer.status} {outcome}")


@requirement("VER-808")
def test_an_individual_without_a_number_is_not_accepted(platform: Platform) -> None:
    """A US individual without idType and identifier is RESOLVE_ERRORS, where it was created."""
    body = without_members(platform.customers.american_body(), *NUMBER)
    individual = platform.verification.reviews.created(body)

    answer = platform.verification.reviews.submit(individual)

    answer.expect_accepted()
    assert answer.body.get("verificationStatus") == RESOLVE_ERRORS, answer


@requirement("VER-809")
def test_a_business_of_which_little_is_known_is_not_accepted(platform: Platform) -> None:
    """A business with the members that its creation needs, and no others, is RESOLVE_ERRORS."""
    body = platform.customers.business_body()
    info = {name: body["businessInfo"][name] for name in NEEDED_OF_BUSINESSES}
    kept = ("customerType", "platformCustomerId", "endUserTermsConsent")
    little = {name: body[name] for name in kept if name in body}
    business = platform.verification.reviews.created({**little, "businessInfo": info})

    answer = platform.verification.reviews.submit(business)

    answer.expect_accepted()
    assert answer.body.get("verificationStatus") == RESOLVE_ERRORS, answer


@pytest.mark.parametrize("sides", [SIDES, SIDES[::-1]], ids=SIDES)
@pytest.mark.parametrize(
    ("id_", "kind"),
    [
        case(("VER-804", "VER-052"), "drivers-license", "VER-804", "DRIVERS_LICENSE"),
        case(("VER-805", "VER-052"), "national-id", "VER-805", "NATIONAL_ID"),
    ],
)
def test_the_other_side_of_a_card_is_asked_for(
    platform: Platform, check: Check, id_: str, kind: str, sides: tuple[str, str]
) -> None:
    """A submission with one side alone is RESOLVE_ERRORS; one with both asks for no such card."""
    side, other = sides
    individual = _create_unidentified(platform, kind)
    number = f"X{platform.samples.digits(7)}"
    card = {"country": "MX", "documentNumber": number}
    platform.verification.documents.document(individual, kind, side=side, **card)

    with_one = arranged_resource(platform.verification.reviews.submit(individual))

    with check(id_):
        assert with_one["verificationStatus"] == RESOLVE_ERRORS
    if with_one["verificationStatus"] != RESOLVE_ERRORS:
        raise ResourceMissing("one side was enough")
    platform.verification.documents.document(individual, kind, side=other, **card)
    with_both = arranged_resource(platform.verification.reviews.submit(individual))
    before, left = (
        [
            entry
            for entry in submission.get("errors") or ()
            if entry.get("type") == IDENTITY and kind in (entry.get("acceptedDocumentTypes") or ())
        ]
        for submission in (with_one, with_both)
    )
    with check("VER-052"):
        if left and len(left) < len(before):
            raise ResourceMissing(f"a second document is asked for: {left}")
        assert not left, f"asked for after both sides were uploaded: {left}"


@requirement("VER-804", "VER-805")
def test_two_cards_are_not_one(platform: Platform, check: Check) -> None:
    """The front of one card and the back of another one are RESOLVE_ERRORS.

    The front of the second one completes it.
    """
    individual = _create_unidentified(platform, "DRIVERS_LICENSE", "NATIONAL_ID")
    documents = platform.verification.documents
    documents.document(individual, "DRIVERS_LICENSE", side="FRONT", country="MX")
    card = {"country": "MX", "documentNumber": f"X{platform.samples.digits(7)}"}
    documents.document(individual, "NATIONAL_ID", side="BACK", **card)

    mixed = arranged_resource(platform.verification.reviews.submit(individual))

    with check("VER-804", "VER-805"):
        assert mixed["verificationStatus"] == RESOLVE_ERRORS
    documents.document(individual, "NATIONAL_ID", side="FRONT", **card)
    whole = arranged_resource(platform.verification.reviews.submit(individual))
    if whole["verificationStatus"] == RESOLVE_ERRORS:
        raise ResourceMissing(f"more is asked for than both sides: {whole.get('errors')}")


cards_of_no_side = pytest.mark.parametrize(
    "kind",
    [
        case("DOC-605", "drivers-license", "DRIVERS_LICENSE"),
        case("DOC-606", "national-id", "NATIONAL_ID"),
    ],
)
"""Run a test with each type of document that has two sides."""


@cards_of_no_side
def test_a_card_of_no_side_is_not_enough(platform: Platform, kind: str) -> None:
    """The upload is refused, or the submission of its holder is RESOLVE_ERRORS."""
    individual = _create_unidentified(platform, kind)

    answer = platform.verification.documents.upload(individual, kind, side=None, country="MX")

    if not answer.accepted:
        twin = platform.verification.documents.upload(individual, kind, side="FRONT", country="MX")
        answer.refused(*UNFIT, twin=twin)
        return
    submission = arranged_resource(platform.verification.reviews.submit(individual))
    assert submission["verificationStatus"] == RESOLVE_ERRORS


@cards_of_no_side
def test_a_card_of_no_side_does_not_identify_an_owner(platform: Platform, kind: str) -> None:
    """The upload is refused, or the next submission still asks for a document of the owner."""
    reviews, documents = platform.verification.reviews, platform.verification.documents
    business = reviews.prepared(business=True)
    owners = platform.verification.owners
    owner = owners.owner(business, personalInfo=owners.canadian())
    asked = _asked_of(owner, reviews.unresolved(business, should="VER-803"))
    if not any(kind in (entry.get("acceptedDocumentTypes") or ()) for entry in asked):
        raise ResourceMissing(f"no {kind} of an owner from abroad is asked for")

    answer = documents.upload(owner, kind, side=None, country="CA")

    if not answer.accepted:
        answer.refused(*UNFIT, twin=documents.upload(owner, kind, side="FRONT", country="CA"))
        return
    assert _asked_of(owner, arranged_resource(reviews.submit(business))), answer


# --- Repaired -------------------------------------------------------------------------------


@requirement("VER-021", "VER-050", "VER-060", "VER-068")
def test_an_individual_is_accepted_once_the_missing_fields_are_supplied(
    platform: Platform, check: Check
) -> None:
    """After an update with the missing number, the second submission is IN_PROGRESS.

    It has no errors, and is found so beside the first one or in its place.
    """
    body = platform.customers.american_body()
    individual = platform.verification.reviews.created(without_members(body, *NUMBER))
    platform.verification.reviews.unresolved(individual, must="VER-808")
    platform.customers.change(individual, **{name: body[name] for name in NUMBER})

    submission = _submit_like(
        platform.verification.reviews.prepared(business=False), individual, platform
    )

    with check("VER-050"):
        assert submission["verificationStatus"] == IN_PROGRESS
    expect_repaired(platform, check, individual, submission, "VER-021")


def expect_repaired(
    platform: Platform, check: Check, customer: Resource, submission: Json, empty_id: str
) -> None:
    """Decide whether a second submission has no errors, when it is answered and when it is read."""
    __tracebackhide__ = True
    if submission["verificationStatus"] != IN_PROGRESS:
        raise PreconditionFailed("the repaired submission is not accepted")
    with check(empty_id):
        assert submission["errors"] == []
    submissions = platform.verification.reviews.submissions(customer)
    same = [one for one in submissions if one.get("id") == submission["id"]]
    with check("VER-060"):
        assert same, f"{submission['id']} is not among {[one.get('id') for one in submissions]}"
    if not same:
        raise PreconditionFailed("the submission is not found")
    with check("VER-068"):
        assert not same[0].get("errors")
        assert same[0].get("verificationStatus") != RESOLVE_ERRORS


@requirement("VER-023", "VER-051", "VER-060", "VER-068")
def test_a_business_is_accepted_once_owner_and_documents_are_supplied(
    platform: Platform, check: Check
) -> None:
    """After owners and documents were added, the second submission is IN_PROGRESS.

    It has no errors, and is found so beside the first one or in its place.
    """
    business = platform.verification.reviews.unsubmitted(business=True)
    platform.verification.reviews.unresolved(business, should="VER-033")
    owner = platform.verification.reviews.prepare_business(business)
    platform.verification.reviews.hand_in_papers(business, owner)

    submission = _submit_like(
        platform.verification.reviews.prepared(business=True), business, platform
    )

    with check("VER-051"):
        assert submission["verificationStatus"] == IN_PROGRESS
    expect_repaired(platform, check, business, submission, "VER-023")


@requirement("VER-053", "VER-054")
def test_a_second_submission_asks_for_what_is_still_missing(
    platform: Platform, check: Check
) -> None:
    """Of two missing fields, the second submission reports the one that was not supplied."""
    first, second = _two_required_fields(platform)
    body = platform.customers.american_body()
    individual = platform.verification.reviews.created(without_members(body, first, second))
    # Either of them was missed where it alone was missing.
    platform.verification.reviews.unresolved(individual, must="VER-037")
    platform.customers.change(individual, **{first: body[first]})

    names = _paths(
        arranged_resource(platform.verification.reviews.submit(individual)).get("errors") or []
    )

    with check("VER-053"):
        assert first not in names
    with check("VER-054"):
        assert second in names


@requirement("VER-053")
def test_nothing_that_follows_its_creation_is_missing(platform: Platform) -> None:
    """An individual who tells all of itself by an update is not asked for any of it again."""
    body = platform.customers.american_body()
    answer = platform.api.create_customer({name: body[name] for name in ("customerType", "region")})
    if not answer.accepted:
        raise ResourceMissing(f"an individual tells more when it is created: {answer}")
    individual = arranged_resource(answer)
    told = without_members(body, "customerType", "region", "platformCustomerId")
    first = platform.verification.reviews.submit(individual)
    if not first.accepted:
        raise ResourceMissing(f"nothing is submitted before more is told: {first}")
    missed = {path.partition(".")[0] for path in _paths(first.body.get("errors") or [])} & {*told}
    platform.customers.change(individual, **told)

    second = arranged_resource(platform.verification.reviews.submit(individual))

    if not missed:
        raise ResourceMissing("nothing that can be told is missed")
    again = {path.partition(".")[0] for path in _paths(second.get("errors") or [])}
    assert not again & missed, second


@requirement("VER-823")
def test_an_owner_who_is_reported_after_a_submission_is_reviewed_too(platform: Platform) -> None:
    """A second submission asks of such an owner what the first one asks of another business's."""
    reviews, owners = platform.verification.reviews, platform.verification.owners

    def asked_for(submission: Json, owner: Json) -> set[tuple[object, object]]:
        """Return what the entries about an owner ask for."""
        return {
            (entry.get("type"), entry.get("field"))
            for entry in submission.get("errors") or ()
            if entry.get("resourceId") == owner["id"]
        }

    early, late = (reviews.unsubmitted(business=True) for _ in range(2))
    early_owner = owners.owner(early, personalInfo=owners.canadian())
    wanted = asked_for(reviews.unresolved(early, should="VER-803"), early_owner)
    if not wanted:
        raise ResourceMissing("nothing is asked of an owner from abroad without documents")
    reviews.unresolved(late, should="VER-033")
    late_owner = owners.owner(late, personalInfo=owners.canadian())

    again = arranged_resource(reviews.submit(late))

    assert wanted <= asked_for(again, late_owner), again


# --- Read -----------------------------------------------------------------------------------


@requirement("VER-060", "VER-061", "VER-062", "VER-063", "VER-067", "VER-900")
def test_a_submission_is_found_by_its_customer(platform: Platform, check: Check) -> None:
    """An object or a list has the submission, with its status and number of errors."""
    business = platform.verification.reviews.unsubmitted(business=True)
    submission = platform.verification.reviews.unresolved(business, should="VER-033")

    submissions = platform.verification.reviews.submissions(business)

    same = [one for one in submissions if one.get("id") == submission["id"]]
    with check("VER-060"):
        assert same, f"{submission['id']} is not among {[one.get('id') for one in submissions]}"
    with check("VER-063"):
        assert {one.get("customerId") or business["id"] for one in submissions} == {business["id"]}
    if not same:
        raise PreconditionFailed("the submission is not found")
    with check("VER-061"):
        assert same[0]["verificationStatus"] == RESOLVE_ERRORS
    with check("VER-062"):
        read, told = ({_told(one) for one in found["errors"]} for found in (same[0], submission))
        assert told <= read
    with check("VER-900"):
        created, then = (arrange_moment(found, "createdAt") for found in (same[0], submission))
        # The target may round one of the two times.
        assert abs(created - then) <= timedelta(seconds=1), same[0]


@requirement("VER-062")
def test_a_missing_field_is_named_when_it_is_read(platform: Platform) -> None:
    """The errors of an individual without an identification number are read as they were told."""
    individual = platform.verification.reviews.incomplete()

    submission = platform.verification.reviews.unresolved(individual, must="VER-808")

    expect_told_again(platform, individual, submission)


@requirement("VER-068")
def test_an_accepted_submission_is_found_without_errors(platform: Platform) -> None:
    """The submission that is IN_PROGRESS shows no errors when it is read."""
    customer = platform.verification.reviews.prepared()
    submission = platform.verification.reviews.submission(customer)

    same = [
        o
        for o in platform.verification.reviews.submissions(customer)
        if o.get("id") == submission["id"]
    ]

    if not same:
        raise PreconditionFailed("the submission is not found")
    assert not same[0].get("errors")


@requirement("VER-064")
@pytest.mark.parametrize("shared", [False, True], ids=["own-names", "one-name"])
def test_a_submission_is_not_found_by_another_customer(platform: Platform, *, shared: bool) -> None:
    """The submissions of each of two customers lack the submission of the other one.

    That holds for two with one ``platformCustomerId``.
    """
    create = platform.verification.reviews.prepared
    one, other = platform.customers.namesakes(create, create) if shared else (create(), create())
    own_ids = [platform.verification.reviews.submission(owner)["id"] for owner in (one, other)]

    listed_ids = [
        {submission["id"] for submission in platform.verification.reviews.submissions(customer)}
        for customer in (one, other)
    ]

    assert own_ids[1] not in listed_ids[0]
    assert own_ids[0] not in listed_ids[1]


@requirement("VER-065")
def test_nothing_is_found_by_a_customer_who_does_not_exist(platform: Platform) -> None:
    """The request is refused, or its answer has no submission with an id."""
    customer = platform.verification.reviews.prepared()
    submission = platform.verification.reviews.submission(customer)

    answer = platform.api.list_verifications({"customerId": unknown_id(customer["id"])})

    platform.observe(f"the verifications of an unknown customer: {answer.status}")
    if answer.accepted:
        ids = [one.get("id") for one in _submissions(answer.body)]
        assert not [name for name in ids if name], f"found {ids}, but not {submission['id']}"
    else:
        answer.refused(twin=platform.api.list_verifications({"customerId": customer["id"]}))


@requirement("VER-066")
def test_a_customer_who_was_never_submitted_is_not_in_progress(platform: Platform) -> None:
    """The answer may be a refusal or a list, but nothing in it is IN_PROGRESS."""
    answer = platform.api.list_verifications(
        {"customerId": platform.verification.reviews.unsubmitted()["id"]}
    )

    platform.observe(f"the verifications of a customer without any: {answer.status}")
    submissions = _submissions(answer.body) if answer.accepted else []
    assert IN_PROGRESS not in [one.get("verificationStatus") for one in submissions]


# --- Refused --------------------------------------------------------------------------------


@requirement("VER-070")
def test_a_customer_who_does_not_exist_cannot_be_submitted(platform: Platform) -> None:
    """The submission of an unknown id is refused with 404, 400 or 422."""
    customer = platform.verification.reviews.prepared()

    refusal = platform.verification.reviews.submit({"id": unknown_id(customer["id"])})

    refusal.refused(*NOT_FOUND, twin=platform.verification.reviews.submit(customer))


@pytest.mark.parametrize(
    "body",
    [
        case("VER-071", "absent", {}),
        case("VER-072", "number", {"customerId": 17}),
        case("VER-072", "list", {"customerId": ["Customer:1"]}),
    ],
)
def test_a_submission_names_a_customer(platform: Platform, body: Json) -> None:
    """A body without ``customerId``, or with one that is no text, is refused."""
    refusal = platform.api.client.call("createVerification", body=body, valid=False)

    refusal.refused(
        *NOT_FOUND,
        twin=platform.verification.reviews.submit(platform.verification.reviews.prepared()),
    )


def expect_told_again(platform: Platform, customer: Resource, submission: Resource) -> None:
    """Assert that a submission is read with the errors that it was answered with."""
    __tracebackhide__ = True
    submissions = platform.verification.reviews.submissions(customer)
    same = [one for one in submissions if one.get("id") == submission["id"]]
    if not same:
        raise PreconditionFailed("the submission is not found", breaks=["VER-060"])
    read, told = ({_told(one) for one in found["errors"]} for found in (same[0], submission))
    assert told <= read, same[0]


def _create_mexican(platform: Platform) -> Resource:
    """Create a Mexican individual without an identification number."""
    return platform.verification.reviews.created(
        platform.customers.body(
            region="MX",
            nationality="MX",
            idType=None,
            identifier=None,
            phoneNumber=f"+525512{platform.samples.digits(6)}",
            address=MEXICAN,
        ),
    )


def _create_unidentified(platform: Platform, *kinds: str) -> Resource:
    """Create an individual whose submission asks for an identity document.

    Raises:
        ResourceMissing: none is asked for, or none of these types.
    """
    individual = _create_mexican(platform)
    entries = _of_type(IDENTITY, platform.verification.reviews.unresolved(individual)["errors"])
    accepted = {kind for entry in entries for kind in entry.get("acceptedDocumentTypes") or ()}
    if missing := {*kinds} - accepted:
        raise ResourceMissing(f"no document of the types {missing} is asked for")
    return individual


def _submit_like(twin: Json, customer: Resource, platform: Platform) -> Resource:
    """Submit a customer; supply the documents that are asked for, if its twin is asked for some."""
    if (
        arranged_resource(platform.verification.reviews.submit(twin)).get("verificationStatus")
        == RESOLVE_ERRORS
    ):
        return platform.verification.reviews.submission(customer)
    return platform.verification.reviews.resubmitted(customer)


def _told(entry: Json) -> str:
    """Return what an entry is about: a reading may tell more of it than the submission did."""
    return repr([entry.get(name) for name in ("resourceId", "type", "field")])


def _of_type(kind: str, entries: Sequence[Json]) -> list[Json]:
    """Return the entries of a type.

    Raises:
        ResourceMissing: no entry has the type.
    """
    same = [entry for entry in entries if entry.get("type") == kind]
    if not same:
        raise ResourceMissing(f"what is missing is not told by an entry of the type {kind}")
    return same


def _paths(entries: Sequence[Json]) -> list[str]:
    """Return the paths of the fields that entries report as missing, from the customer on."""
    fields = [entry.get("field") for entry in entries if entry.get("type") == FIELD]
    return [path.removeprefix("customer.") for path in fields if isinstance(path, str)]


def _missing_fields(platform: Platform, *omitted: str) -> list[str]:
    """Return the fields that a submission reports as missing, for an individual without some.

    The list is empty if the individual is not created.
    """
    answer = platform.api.create_customer(
        without_members(platform.customers.american_body(), *omitted)
    )
    if not answer.accepted:
        return []
    individual = platform.verification.contact.verify(arranged_resource(answer))
    return _paths(
        arranged_resource(platform.verification.reviews.submit(individual)).get("errors") or []
    )


def _two_required_fields(platform: Platform) -> tuple[str, str]:
    """Return two fields that a submission reports, each where it alone is missing.

    Raises:
        ResourceMissing: the target requires fewer than two of the fields.
    """
    required_fields: list[str] = []
    for name in OPTIONAL_MEMBERS:
        if name in _missing_fields(platform, name):
            required_fields.append(name)
        if len(required_fields) > 1:
            return required_fields[0], required_fields[1]
    raise ResourceMissing(f"the review misses no two of {', '.join(OPTIONAL_MEMBERS)}")


def _submissions(body: Any) -> Sequence[Json]:
    """Return the submissions in the body of an answer, which may have none."""
    return submissions_in(body) if body else []
