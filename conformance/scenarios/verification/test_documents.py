"""Verification documents: they prove who a customer or owner is, and where they live."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import httpx
import pytest

from conformance.contract.notation import masked_or_same
from conformance.exchange.answer import Answer
from conformance.exchange.forms import File
from conformance.platform.platform import Platform
from conformance.platform.resource import Json, Resource, arranged_body, require_member, unknown_id
from conformance.scenarios.kit.cases import case
from conformance.scenarios.kit.marks import Check, requirement
from conformance.scenarios.kit.refusals import NOT_FOUND, REFUSED
from conformance.scenarios.kit.shapes import expect_members
from conformance.scenarios.kit.uploads import UNFIT, errors_about
from conformance.testdata.documents import PROOFS_OF_ADDRESS, SIDES, has_sides, specimen
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing

TEXT = b"This is no picture and no PDF, whatever is said of it.\n"
GIF = bytes.fromhex("47494638396101000100800000ffffff0000002c00000000010001000002024401003b")


LISTED = {
    "DOC-601": "documentNumber",
    "DOC-602": "issuingAuthority",
    "DOC-603": "country",
    "DOC-604": "side",
}
"""What the record of a document should show where it was sent, by its requirement."""

REASONS = {
    "LOW_QUALITY": "DOC-083",
    "DATA_MISMATCH": "DOC-084",
    "EXPIRED": "DOC-085",
    "SUSPECTED_FRAUD": "DOC-086",
    "UNSUITABLE_DOCUMENT": "DOC-087",
    "INCOMPLETE": "DOC-088",
}
"""The reasons for which documents are rejected, each with the requirement that it is the right one.
"""

HOLDERS = ("individual", "business", "owner")
"""Who holds documents: customers of both types, and the beneficial owners of a business."""

Parts = dict[str, str | File | None]
Spoil = Callable[[bytes], bytes]


# --- What comes back ------------------------------------------------------------------------


@requirement(
    *("DOC-001", "DOC-002", "DOC-003", "DOC-004", "DOC-005", "DOC-006"),
    *("DOC-010", "DOC-011", "DOC-012", "DOC-013", "DOC-014", "DOC-600"),
    *LISTED,
)
@pytest.mark.parametrize("kind", HOLDERS)
def test_a_document_is_recorded_as_it_was_sent(platform: Platform, check: Check, kind: str) -> None:
    """The record shows the members of the form; its number may be masked.

    A passport of another country, where it is taken from the same holder, shows that country.
    """
    holder = holder_of(platform, kind)
    form = platform.verification.documents.form(holder, "NATIONAL_ID", side="BACK")

    record = arranged_body(platform.api.create_document(form))
    from_abroad = platform.verification.documents.upload(holder, country="CA")

    with check("DOC-003"):
        require_member(record, "documentNumber")
    with check("DOC-600"):
        assert masked_or_same(require_member(record, "documentNumber"), form["documentNumber"]), (
            record
        )
    with check("DOC-004", "DOC-012"):
        assert require_member(record, "issuingAuthority") == form["issuingAuthority"]
    with check("DOC-005", "DOC-013"):
        assert require_member(record, "country") == form["country"]
        if from_abroad.accepted:
            assert require_member(from_abroad.body, "country") == "CA"
    with check("DOC-006", "DOC-014"):
        assert require_member(record, "side") == form["side"]
    with check("DOC-010"):
        assert record["documentHolder"] == form["documentHolder"]
    with check("DOC-011"):
        assert record["documentType"] == form["documentType"]
    expect_members(check, record, LISTED)
    masked = record.get("documentNumber") != form["documentNumber"]
    platform.observe(f"numbers of documents are shown {'masked' if masked else 'whole'}")


def holder_of(platform: Platform, kind: str) -> Resource:
    """Return a new holder of documents, one of ``HOLDERS``."""
    if kind == "individual":
        return platform.customers.applicant(business=False)
    business = platform.customers.applicant(business=True)
    return business if kind == "business" else platform.verification.owners.owner(business)


# --- Holders --------------------------------------------------------------------------------


@requirement("DOC-020", "DOC-021", "DOC-022")
def test_a_customer_or_an_owner_holds_a_document(platform: Platform, check: Check) -> None:
    """Documents of an individual, of a business and of a beneficial owner are accepted."""
    business = platform.customers.applicant(business=True)

    of_individual = platform.verification.documents.upload(
        platform.customers.applicant(business=False)
    )
    of_business = platform.verification.documents.upload(business, "UTILITY_BILL")
    of_owner = platform.verification.documents.upload(platform.verification.owners.owner(business))

    with check("DOC-020"):
        of_individual.expect_accepted()
    with check("DOC-022"):
        of_business.expect_accepted()
    with check("DOC-021"):
        of_owner.expect_accepted()


@requirement("DOC-023")
def test_a_holder_adds_a_proof_of_address(platform: Platform) -> None:
    """A utility bill is accepted after an identity document of the same holder."""
    holder = platform.verification.owners.person()
    platform.verification.documents.document(holder)

    answer = platform.verification.documents.upload(holder, "UTILITY_BILL")

    answer.expect_accepted()


@requirement("DOC-024")
def test_an_owner_from_abroad_hands_in_two_documents(platform: Platform) -> None:
    """A passport and a national id of a Canadian owner are both accepted."""
    business = platform.customers.applicant(business=True)
    owner = platform.verification.owners.owner(
        business, personalInfo=platform.verification.owners.canadian()
    )

    answers = [
        platform.verification.documents.upload(owner, kind, country="CA")
        for kind in ("PASSPORT", "NATIONAL_ID")
    ]

    assert all(answer.accepted for answer in answers), answers


@requirement("DOC-066", "DOC-067", "DOC-068")
def test_a_document_of_an_unknown_holder_is_refused(platform: Platform, check: Check) -> None:
    """Unknown ids of a customer and of an owner are refused with 400, 404 or 422."""
    person, owner = (
        platform.customers.applicant(business=False),
        platform.verification.owners.owner(platform.customers.applicant(business=True)),
    )

    unknown_person_refusal, unknown_owner_refusal = (
        platform.verification.documents.upload({"id": unknown_id(holder["id"])})
        for holder in (person, owner)
    )
    person_answer, owner_answer = (
        platform.verification.documents.upload(person),
        platform.verification.documents.upload(owner),
    )

    with check("DOC-066"):
        unknown_person_refusal.refused(*NOT_FOUND, twin=person_answer)
    with check("DOC-067"):
        unknown_owner_refusal.refused(*NOT_FOUND, twin=owner_answer)
    with check("DOC-068"):
        if unknown_person_refusal.status in REFUSED:
            raise ResourceMissing("an unknown holder is refused as any invalid field")
        codes = ("DOCUMENT_HOLDER_NOT_FOUND", "NOT_FOUND", "CUSTOMER_NOT_FOUND")
        unknown_person_refusal.refused(*codes, twin=person_answer)


@requirement("DOC-069")
def test_nobody_else_holds_documents(platform: Platform) -> None:
    """A document whose holder is an internal or an external account is refused."""
    account = platform.internal_accounts.account(amount=0)
    external = platform.external_accounts.account(account.owner)

    refusals = [platform.verification.documents.upload(one) for one in (account, external)]

    twin = platform.verification.documents.upload(platform.verification.owners.person())
    for refusal in refusals:
        refusal.refused(*NOT_FOUND, twin=twin)


# --- Types ----------------------------------------------------------------------------------

SIDED = (
    ("DOC-031", "DRIVERS_LICENSE", "FRONT"),
    ("DOC-032", "DRIVERS_LICENSE", "BACK"),
    ("DOC-033", "NATIONAL_ID", "FRONT"),
    ("DOC-034", "NATIONAL_ID", "BACK"),
)
"""Each side of the documents that have two, by its requirement."""

WITHOUT_NUMBER = ("DOC-056", "DOC-057", "DOC-058", "DOC-059", "DOC-060")
"""That each proof of address needs no number, in the order of ``PROOFS_OF_ADDRESS``."""


@requirement("DOC-030")
def test_a_passport_is_a_single_image(platform: Platform) -> None:
    """A passport without a ``side`` is accepted."""
    form = platform.verification.documents.form(
        platform.verification.owners.person(), "PASSPORT", side=None
    )

    answer = platform.api.create_document(form)

    answer.expect_accepted()


@pytest.mark.parametrize(
    ("kind", "front", "back"),
    [
        case((*ids, "DOC-011", "DOC-014"), kind, kind, *ids)
        for kind, ids in (
            ("DRIVERS_LICENSE", ("DOC-031", "DOC-032")),
            ("NATIONAL_ID", ("DOC-033", "DOC-034")),
        )
    ],
)
def test_a_card_is_photographed_from_both_sides(
    platform: Platform, check: Check, kind: str, front: str, back: str
) -> None:
    """An image of the FRONT and one of the BACK of the same document are accepted."""
    holder = platform.verification.owners.person()
    number = f"D{platform.samples.digits(7)}"

    sides = {
        name: platform.verification.documents.upload(holder, kind, side=side, documentNumber=number)
        for name, side in ((front, "FRONT"), (back, "BACK"))
    }

    for name, answer in sides.items():
        with check(name):
            answer.expect_accepted()
    with check("DOC-011"):
        assert {arranged_body(answer)["documentType"] for answer in sides.values()} == {kind}
    with check("DOC-014"):
        shown = [require_member(arranged_body(answer), "side") for answer in sides.values()]
        assert shown == ["FRONT", "BACK"]


@pytest.mark.parametrize(
    ("kind", "full_id", "bare_id"),
    [
        case((*ids, "DOC-011"), kind, kind, *ids)
        for kind, ids in zip(
            PROOFS_OF_ADDRESS,
            (
                ("DOC-035", "DOC-056"),
                ("DOC-036", "DOC-057"),
                ("DOC-037", "DOC-058"),
                ("DOC-038", "DOC-059"),
                ("DOC-039", "DOC-060"),
            ),
            strict=True,
        )
    ],
)
def test_a_proof_of_address_is_taken_in(
    platform: Platform, check: Check, kind: str, full_id: str, bare_id: str
) -> None:
    """A proof of address is accepted with a number and an issuer, and without them.

    They are of two holders, as it is open what becomes of a file that is uploaded again.
    """
    holder, other = (platform.verification.owners.person() for _ in range(2))

    with_number = platform.verification.documents.upload(
        holder, kind, documentNumber="A-2209", issuingAuthority="The issuer"
    )
    without_number = platform.verification.documents.upload(other, kind)

    with check(full_id):
        with_number.expect_accepted()
    with check(bare_id):
        without_number.expect_accepted()
    with check("DOC-011"):
        assert arranged_body(without_number)["documentType"] == kind


@requirement(
    *("DOC-011", "DOC-014", "DOC-031", "DOC-032", "DOC-033", "DOC-034"),
    *("DOC-056", "DOC-057", "DOC-058", "DOC-059", "DOC-060"),
)
@pytest.mark.parametrize("holder_kind", ["business", "owner"])
def test_another_holder_hands_in_a_document_of_each_type(
    platform: Platform, check: Check, holder_kind: str
) -> None:
    """A business and an owner hand in each proof of address, and both sides of their cards."""
    documents = platform.verification.documents
    holder = holder_of(platform, holder_kind)

    cards = {
        identifier: (kind, side, documents.upload(holder, kind, side=side))
        for identifier, kind, side in SIDED
    }
    proofs = {
        identifier: (kind, documents.upload(holder, kind))
        for identifier, kind in zip(WITHOUT_NUMBER, PROOFS_OF_ADDRESS, strict=True)
    }

    for identifier, (kind, side, answer) in cards.items():
        with check(identifier):
            answer.expect_accepted()
        with check("DOC-011"):
            assert arranged_body(answer)["documentType"] == kind
        with check("DOC-014"):
            assert require_member(arranged_body(answer), "side") == side
    for identifier, (kind, answer) in proofs.items():
        with check(identifier):
            answer.expect_accepted()
        with check("DOC-011"):
            assert arranged_body(answer)["documentType"] == kind


NEEDED = (
    ("DOC-050", "PASSPORT", "documentNumber"),
    ("DOC-051", "PASSPORT", "issuingAuthority"),
    ("DOC-052", "DRIVERS_LICENSE", "documentNumber"),
    ("DOC-053", "DRIVERS_LICENSE", "issuingAuthority"),
    ("DOC-054", "NATIONAL_ID", "documentNumber"),
    ("DOC-055", "NATIONAL_ID", "issuingAuthority"),
)
"""What each type of identity document needs, by its requirement."""


@pytest.mark.parametrize(
    ("kind", "part"),
    [case(identifier, f"{kind}-{part}", kind, part) for identifier, kind, part in NEEDED],
)
def test_an_identity_document_has_a_number_and_an_issuer(
    platform: Platform, kind: str, part: str
) -> None:
    """An identity document without ``documentNumber`` or ``issuingAuthority`` is refused.

    That holds of each of its sides.
    """
    holder = platform.verification.owners.person()
    documents = platform.verification.documents

    for side in SIDES if has_sides(kind) else (None,):
        refusal = platform.api.create_document(
            documents.form(holder, kind, side=side, **{part: None}), valid=False
        )

        refusal.refused(*REFUSED, twin=documents.upload(holder, kind, side=side))


@requirement(*(identifier for identifier, _, _ in NEEDED))
def test_an_identity_document_of_an_owner_has_them_too(platform: Platform, check: Check) -> None:
    """One of a beneficial owner without ``documentNumber`` or ``issuingAuthority`` is refused."""
    documents = platform.verification.documents
    owner = holder_of(platform, "owner")

    refusals = {
        identifier: platform.api.create_document(
            documents.form(owner, kind, **{part: None}), valid=False
        )
        for identifier, kind, part in NEEDED
    }

    twins = {kind: documents.upload(owner, kind) for kind in {kind for _, kind, _ in NEEDED}}
    for identifier, kind, _ in NEEDED:
        with check(identifier):
            refusals[identifier].refused(*REFUSED, twin=twins[kind])


@pytest.mark.parametrize(
    ("kind", "part"),
    [
        case(identifier, f"{kind}-{part}", kind, part)
        for identifier, kind, part in (
            ("DOC-609", "PASSPORT", "documentNumber"),
            ("DOC-610", "PASSPORT", "issuingAuthority"),
            ("DOC-611", "DRIVERS_LICENSE", "documentNumber"),
            ("DOC-612", "DRIVERS_LICENSE", "issuingAuthority"),
            ("DOC-613", "NATIONAL_ID", "documentNumber"),
            ("DOC-614", "NATIONAL_ID", "issuingAuthority"),
        )
    ],
)
def test_an_empty_part_is_no_number_and_no_issuer(platform: Platform, kind: str, part: str) -> None:
    """An identity document whose ``documentNumber`` or ``issuingAuthority`` is empty is refused."""
    holder = platform.verification.owners.person()

    refusal = platform.verification.documents.upload(holder, kind, **{part: ""})

    refusal.refused(*REFUSED, twin=platform.verification.documents.upload(holder, kind))


@pytest.mark.parametrize(
    "fault",
    [
        case(identifier, name, fault)
        for identifier, name, fault in (
            ("DOC-061", "no-holder", {"documentHolder": None}),
            ("DOC-062", "no-type", {"documentType": None}),
            ("DOC-063", "no-file", {"file": None}),
            ("DOC-064", "unknown-type", {"documentType": "LIBRARY_CARD"}),
            ("DOC-065", "unknown-side", {"side": "LEFT"}),
            ("DOC-615", "lower-case", {"side": "front"}),
        )
    ],
)
def test_a_form_with_one_fault_is_refused(platform: Platform, fault: Parts) -> None:
    """A form without a required part, or with an unknown type or side, is refused."""
    holder = platform.verification.owners.person()

    refusal = platform.api.create_document(
        platform.verification.documents.form(holder, "NATIONAL_ID", **fault), valid=False
    )

    refusal.refused(*NOT_FOUND, twin=platform.verification.documents.upload(holder, "NATIONAL_ID"))


# --- Files ----------------------------------------------------------------------------------


@requirement("DOC-040", "DOC-041", "DOC-042")
@pytest.mark.parametrize("holder_kind", HOLDERS)
def test_a_file_is_a_pdf_or_a_picture(platform: Platform, check: Check, holder_kind: str) -> None:
    """A PDF, a JPEG and a PNG file are accepted."""
    holder = holder_of(platform, holder_kind)
    kinds = {"DOC-040": "UTILITY_BILL", "DOC-041": "PASSPORT", "DOC-042": "NATIONAL_ID"}

    answers = {
        name: platform.verification.documents.upload(holder, kind) for name, kind in kinds.items()
    }

    for name, answer in answers.items():
        with check(name):
            answer.expect_accepted()


@pytest.mark.parametrize(
    ("kind", "shown"),
    [
        case(identifier, f"{kind}-{shown}", kind, shown)
        for identifier, kind, shown in (
            ("DOC-041", "NATIONAL_ID", "PASSPORT"),
            ("DOC-041", "UTILITY_BILL", "PASSPORT"),
            ("DOC-042", "PASSPORT", "NATIONAL_ID"),
            ("DOC-042", "BANK_STATEMENT", "NATIONAL_ID"),
        )
    ],
)
def test_a_picture_of_any_document_may_be_of_either_type(
    platform: Platform, kind: str, shown: str
) -> None:
    """A JPEG and a PNG file are accepted for a document of another kind than the usual one.

    Who looks at the picture may find that it shows another document.
    """
    holder = platform.verification.owners.person()

    answer = platform.verification.documents.upload(holder, kind, file=specimen(shown))

    if answer.code == "DOCUMENT_REJECTED":
        raise ResourceMissing(f"the picture was looked at: {answer}")
    answer.expect_accepted()


@pytest.mark.parametrize(
    ("kind", "file"),
    [
        case(identifier, name, kind, file)
        for identifier, name, kind, file in (
            ("DOC-043", "text", "UTILITY_BILL", File("bill.txt", "text/plain", TEXT)),
            ("DOC-043", "named-pdf", "UTILITY_BILL", File("bill.pdf", "text/plain", TEXT)),
            ("DOC-044", "gif", "PASSPORT", File("passport.gif", "image/gif", GIF)),
            ("DOC-045", "no-pdf", "UTILITY_BILL", File("bill.pdf", "application/pdf", TEXT)),
            ("DOC-046", "no-jpeg", "PASSPORT", File("passport.jpg", "image/jpeg", TEXT)),
            ("DOC-047", "no-png", "NATIONAL_ID", File("card.png", "image/png", TEXT)),
            ("DOC-048", "empty", "PASSPORT", File("passport.jpg", "image/jpeg", b"")),
        )
    ],
)
def test_another_file_is_refused(platform: Platform, kind: str, file: File) -> None:
    """A file of another type, with other contents than its type, or empty is refused."""
    holder = platform.verification.owners.person()

    refusal = platform.api.create_document(
        platform.verification.documents.form(holder, kind, file=file), valid=False
    )

    refusal.refused(*UNFIT, twin=platform.verification.documents.upload(holder, kind))


@requirement("DOC-043", "DOC-044")
@pytest.mark.parametrize(
    ("holder_kind", "kind"),
    [("owner", "PASSPORT"), ("business", "UTILITY_BILL"), ("individual", "DRIVERS_LICENSE")],
)
def test_another_file_of_any_holder_is_refused(
    platform: Platform, check: Check, holder_kind: str, kind: str
) -> None:
    """A text and a GIF file are refused for an owner, for a business, and as a licence."""
    documents = platform.verification.documents
    holder = holder_of(platform, holder_kind)
    files = {
        "DOC-043": File("paper.txt", "text/plain", TEXT),
        "DOC-044": File("paper.gif", "image/gif", GIF),
    }

    refusals = {
        identifier: platform.api.create_document(
            documents.form(holder, kind, file=file), valid=False
        )
        for identifier, file in files.items()
    }

    twin = documents.upload(holder, kind)
    for identifier, refusal in refusals.items():
        with check(identifier):
            refusal.refused(*UNFIT, twin=twin)


def test_whether_a_file_may_be_of_another_type_than_it_says_is_recorded(
    platform: Platform,
) -> None:
    """The answer to a PNG file that is sent as a PDF is recorded, not judged."""
    picture = specimen("NATIONAL_ID")
    file = File("card.pdf", "application/pdf", picture.content)

    # A target that looks at the content may refuse it with a status of HTTP, such as 415.
    answer = platform.api.create_document(
        platform.verification.documents.form(
            platform.verification.owners.person(), "NATIONAL_ID", file=file
        ),
        valid=False,
    )

    platform.observe(f"a PNG file that calls itself a PDF is answered with {answer.status}")


# --- Forms ----------------------------------------------------------------------------------


def truncated(form: bytes) -> bytes:
    """Return a form that ends where its file would begin."""
    return form[: form.index(b'name="file"')]


@requirement("DOC-070")
def test_a_document_is_uploaded_by_a_form(platform: Platform) -> None:
    """A JSON body with the members of the form is refused."""
    holder = platform.verification.owners.person()
    json_body = platform.verification.documents.form(holder, file=None)

    refusal = platform.api.client.call("createDocument", body=json_body, valid=False, judged=False)

    refusal.refused(*UNFIT, twin=platform.verification.documents.upload(holder))


@pytest.mark.parametrize(
    ("content_type", "spoil"),
    [
        case(identifier, name, content_type, spoil)
        for identifier, name, content_type, spoil in (
            ("DOC-071", "cut-off", "multipart/form-data; boundary=seam", truncated),
            ("DOC-072", "other-boundary", "multipart/form-data; boundary=hem", bytes),
            ("DOC-073", "no-boundary", "multipart/form-data", bytes),
        )
    ],
)
def test_a_broken_form_is_refused(platform: Platform, content_type: str, spoil: Spoil) -> None:
    """A truncated form, and one with another boundary or none, are refused as a client error."""
    holder = platform.verification.owners.person()
    content = spoil(encoded(platform.verification.documents.form(holder, "UTILITY_BILL"), "seam"))

    refusal = platform.api.client.call(
        "createDocument",
        content=content,
        headers={"content-type": content_type},
        valid=False,
        judged=False,
    )

    refusal.refused(*UNFIT, twin=platform.verification.documents.upload(holder, "UTILITY_BILL"))


def encoded(form: dict[str, str | File], boundary: str) -> bytes:
    """Return a form as bytes."""
    parts: list[Any] = [
        (name, (part.name, part.content, part.media_type) if isinstance(part, File) else part)
        for name, part in form.items()
    ]
    texts = {name: part for name, part in parts if isinstance(part, str)}
    files = {name: part for name, part in parts if not isinstance(part, str)}
    content_type = {"content-type": f"multipart/form-data; boundary={boundary}"}
    return httpx.Request(
        "POST", "http://form", headers=content_type, data=texts, files=files
    ).read()


def test_what_becomes_of_a_repeated_upload_is_recorded(platform: Platform) -> None:
    """The specification does not say what a repeated upload does, so the answer is recorded."""
    form = platform.verification.documents.form(platform.verification.owners.person())
    first = arranged_body(platform.api.create_document(form))

    again = platform.api.create_document(form)

    same = again.accepted and again.body.get("id") == first.get("id")
    platform.observe(
        f"a document that is uploaded again is answered with {again.status}"
        + (" and the first one's id" if same else "")
    )


# --- What is seen on a document -------------------------------------------------------------


def lacks_identity_document(errors: Sequence[Json]) -> bool:
    """Return whether the errors of a submission ask for an identity document."""
    return any(error.get("type") == "MISSING_IDENTITY_DOCUMENT" for error in errors)


@requirement("DOC-074")
@pytest.mark.parametrize("trigger", [None, "document.blurred"], ids=["no-number", "blurred"])
def test_a_refused_document_does_not_count(platform: Platform, trigger: str | None) -> None:
    """The submission still asks for an identity document after the upload was refused.

    It was refused for want of a number, or rejected once somebody had looked at it.
    """
    body = platform.customers.body(
        region="GB",
        nationality="GB",
        idType=None,
        identifier=None,
        phoneNumber=f"+4477009{platform.samples.digits(5)}",
        address={"line1": "1 Mill Lane", "city": "Leeds", "postalCode": "LS1 4AP", "country": "GB"},
    )
    holder = platform.verification.reviews.created(body)
    if not lacks_identity_document(errors_about(platform, holder)):
        raise ResourceMissing("no identity document is asked of an individual from abroad")
    documents = platform.verification.documents

    if trigger is None:
        without_number = documents.form(holder, country="GB", documentNumber=None)
        refusal = platform.api.create_document(without_number, valid=False)
    else:
        refusal = documents.upload(holder, country="GB", trigger=trigger)
    errors = errors_about(platform, holder)

    refusal.refused(*REFUSED, twin=platform.verification.documents.upload(holder, country="GB"))
    assert lacks_identity_document(errors), errors


@pytest.mark.parametrize(
    ("holder_kind", "kind", "side"),
    [
        ("individual", "PASSPORT", None),
        ("owner", "PASSPORT", None),
        ("individual", "DRIVERS_LICENSE", "FRONT"),
        ("individual", "NATIONAL_ID", "BACK"),
        ("business", "UTILITY_BILL", None),
    ],
)
@pytest.mark.parametrize(
    "trigger",
    [
        case(identifier, trigger, trigger)
        for identifier, trigger in (
            ("DOC-080", "document.blurred"),
            ("DOC-081", "document.cropped"),
            ("DOC-082", "document.colorless"),
        )
    ],
)
def test_a_document_is_photographed_well(
    platform: Platform, trigger: str, holder_kind: str, kind: str, side: str | None
) -> None:
    """A blurred, cropped or colorless image is refused with 422 and DOCUMENT_REJECTED."""
    documents = platform.verification.documents
    holder = holder_of(platform, holder_kind)
    # A proof of address is a PDF usually, which need not be a photograph.
    file = specimen("PASSPORT" if kind in PROOFS_OF_ADDRESS else kind, side)

    rejection = documents.upload(holder, kind, trigger=trigger, file=file, side=side)

    twin = documents.upload(holder, kind, file=file, side=side)
    rejection.refused(422, "DOCUMENT_REJECTED", twin=twin)


@pytest.mark.parametrize(
    ("trigger", "reason"),
    [
        case((REASONS[reason], "DOC-690"), reason, trigger, reason)
        for trigger, reason in (
            ("document.blurred", "LOW_QUALITY"),
            ("document.mismatched", "DATA_MISMATCH"),
            ("document.expired", "EXPIRED"),
            ("document.forged", "SUSPECTED_FRAUD"),
            ("document.unsuitable", "UNSUITABLE_DOCUMENT"),
            ("document.incomplete", "INCOMPLETE"),
        )
    ],
)
@pytest.mark.parametrize("holder_kind", ["individual", "owner"])
def test_the_reason_of_a_rejection_is_told(
    platform: Platform, check: Check, trigger: str, reason: str, holder_kind: str
) -> None:
    """The reason stands in the refusal of the upload, or in the errors of the submission.

    That it stands there at all is recommended; where one of the list does, it is the right one.
    """
    holder = holder_of(platform, holder_kind)
    rejection = platform.verification.documents.upload(holder, trigger=trigger)
    if rejection.accepted and holder.customer is not None:
        # Its business lacks more than a document, so that its submission tells other reasons.
        holder = platform.customers.applicant(business=False)
        rejection = platform.verification.documents.upload(holder, trigger=trigger)

    text = text_with_reason(platform, holder, rejection, reason)
    twin = platform.verification.documents.upload(holder)

    told = [known for known in REASONS if known in text]
    with check("DOC-690"):
        if not rejection.accepted:
            rejection.refused(*REFUSED, twin=twin)
        assert told, f"expected one of {list(REASONS)} somewhere in {text}"
    with check(REASONS[reason]):
        if not told and not rejection.accepted:
            raise ResourceMissing(f"no reason of the list is told: {text}")
        assert reason in told, f"expected {reason} somewhere in {text}"


@pytest.mark.parametrize(
    "trigger",
    [
        case(identifier, trigger, trigger)
        for identifier, trigger in (
            ("DOC-607", "document.cropped"),
            ("DOC-608", "document.colorless"),
        )
    ],
)
def test_a_bad_photograph_is_rejected_for_a_reason(platform: Platform, trigger: str) -> None:
    """One of the reasons of rejections stands in the refusal; which one is not said."""
    holder = platform.verification.owners.person()

    rejection = platform.verification.documents.upload(holder, trigger=trigger)

    rejection.refused(*REFUSED, twin=platform.verification.documents.upload(holder))
    text = json.dumps(rejection.body)
    assert any(reason in text for reason in REASONS), f"expected a reason in {text}"


def text_with_reason(platform: Platform, holder: Resource, rejection: Answer, reason: str) -> str:
    """Return the text in which the reason of a rejection must stand."""
    if not rejection.accepted:
        return json.dumps(rejection.body)
    ready = platform.verification.contact.ready(holder)
    submission = json.dumps(arranged_body(platform.verification.reviews.submit(ready)))
    if reason in submission:
        return submission
    # The target may look at a document after its customer was submitted.
    return platform.until(
        lambda: json.dumps(
            arranged_body(platform.api.list_verifications({"customerId": holder["id"]}))
        ),
        lambda text: reason in text,
    )


@requirement("DOC-089")
def test_a_better_document_is_taken_after_a_rejected_one(platform: Platform) -> None:
    """A faultless document is accepted after a blurred one of the same holder was rejected."""
    holder = platform.verification.owners.person()
    rejection = platform.verification.documents.upload(holder, trigger="document.blurred")
    if rejection.accepted:
        raise PreconditionFailed(f"a document out of focus was taken in: {rejection}")

    again = platform.verification.documents.upload(holder)

    assert again.accepted, f"after {rejection}: {again}"
