"""Conforming variants of beneficial owners and of verification documents."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from sqlalchemy import select

from conformance.proof.kit.builders import Json, Place, edited, instead, together
from conformance.proof.kit.tables import answers
from conformance.proof.patch import Apply, Function, Patch
from conformance.proof.variant import declare, variant
from conformance.reference import app, errors, fields, rules
from conformance.reference.rules import Field
from conformance.reference.store import BeneficialOwner
from conformance.reference.unit import Ask, Unit, Upload
from conformance.reference.verification import documents, owners, sandbox, verifications

_SEEN_LATER = "SEEN_LATER"


def shown(patch: Patch, place: Place, change: Callable[[Json], Json]) -> None:
    """Show a resource as ``change`` returns it."""
    patch.wrap(*place, lambda original, row: change(dict(original(row))))


def answered(
    patch: Patch, place: Place, change: Callable[[errors.Refusal], errors.Refusal]
) -> None:
    """Refuse the requests of an operation as ``change`` returns their refusals."""

    def handler(original: Function, unit: Unit, ask: Ask) -> Any:
        try:
            return original(unit, ask)
        except errors.Rejection:
            raise
        except errors.Refusal as refusal:
            raise change(refusal) from refusal

    patch.wrap(*place, handler)


def person_changed(body: Json, **members: Any) -> Json:
    """Return an owner some members of whose ``personalInfo`` are shown otherwise."""
    return {**body, "personalInfo": {**body["personalInfo"], **members}}


# --- What comes back ------------------------------------------------------------------------


for _name, _status, _group in (
    ("created", 200, "onboarding"),
    ("accepted", 202, "other onboarding"),
):
    declare(
        "N069",
        f"papers-{_name}-with-{_status}",
        f"owners and documents are {_name} with {_status}",
        together(answers("createBeneficialOwner", _status), answers("createDocument", _status)),
        _group,
    )


@variant("N132", "identification numbers are masked", "onboarding")
def masked_numbers(patch: Patch) -> None:
    def mask_person(body: Json) -> Json:
        number = body["personalInfo"].get("identifier")
        return person_changed(body, identifier=number and f"***-**-{number[-4:]}")

    def mask(body: Json) -> Json:
        number = body.get("documentNumber")
        return {**body, "documentNumber": f"****{number[-3:]}"} if number else body

    shown(patch, (owners, "view"), mask_person)
    shown(patch, (documents, "view"), mask)


@variant("M75", "of an owner's person no more than the names is shown", "other onboarding")
def owner_of_names_alone(patch: Patch) -> None:
    def change(body: Json) -> Json:
        person = body["personalInfo"]
        return {**body, "personalInfo": {name: person[name] for name in ("firstName", "lastName")}}

    shown(patch, (owners, "view"), change)


@variant("M75", "of an owner's person every member is null", "further onboarding")
def owner_of_nulls(patch: Patch) -> None:
    shown(
        patch, (owners, "view"), lambda body: {**body, "personalInfo": dict.fromkeys(owners.PERSON)}
    )


@variant(
    "M75", "a record tells the holder and the type, and has null for the rest", "other onboarding"
)
def bare_record(patch: Patch) -> None:
    told = ("documentHolder", "documentType")
    rest = dict.fromkeys(("documentNumber", "issuingAuthority", "country", "side"))
    shown(patch, (documents, "view"), lambda body: {**{name: body[name] for name in told}, **rest})


@variant("N064", "who owns a quarter or more has a role for it", "onboarding")
def role_of_owning(patch: Patch) -> None:
    shown(
        patch,
        (owners, "view"),
        lambda body: {**body, "roles": [*body["roles"], "BENEFICIAL_OWNER"]},
    )


@variant("M78", "documents are numbered", "onboarding")
def numbered_documents(patch: Patch) -> None:
    shown(patch, (documents, "view"), lambda body: {**body, "id": 4711})


# --- Owners ---------------------------------------------------------------------------------


@variant("N131", "a share is shown with a point and zeros", "onboarding")
def decimal_share(patch: Patch) -> None:
    shown(
        patch,
        (owners, "view"),
        lambda body: {**body, "ownershipPercentage": float(body["ownershipPercentage"])},
    )


@variant("N131", "shares are whole numbers", "onboarding", (owners, "share_errors"))
def whole_shares(original: Function, body: Any) -> list[Json]:
    share = body.get("ownershipPercentage") if isinstance(body, dict) else None
    if isinstance(share, float) and share != int(share):
        return [errors.field_error("ownershipPercentage", "Expected integer.")]
    found: list[Json] = original(body)
    return found


@variant("N131", "no more than the whole of a business is owned", None, (owners, "create"))
def whole_business(original: Function, unit: Unit, ask: Ask) -> Any:
    body = ask.body
    share = body.get("ownershipPercentage") if isinstance(body, dict) else None
    if isinstance(share, int | float):
        of_business = BeneficialOwner.customer_id == str(body.get("customerId"))
        held = unit.session.scalars(select(BeneficialOwner.ownership).where(of_business))
        if sum(map(float, held)) + share > 100:
            path = "ownershipPercentage"
            raise errors.invalid_input(errors.field_error(path, "Expected less.", maximum=100))
    return original(unit, ask)


@variant(
    "N130",
    "who has less than a quarter has to control the business",
    "onboarding",
    (owners, "create"),
    edited,
)
def threshold(owner: Any) -> Any:
    if owner["ownershipPercentage"] < 25 and "CONTROL_PERSON" not in owner["roles"]:
        path = "ownershipPercentage"
        raise errors.invalid_input(errors.field_error(path, "Expected at least 25."))
    return owner


@variant("M41", "an owner of an unknown customer has an invalid field", "onboarding")
def unknown_business_invalid(patch: Patch) -> None:
    def change(refusal: errors.Refusal) -> errors.Refusal:
        if refusal.code != "CUSTOMER_NOT_FOUND":
            return refusal
        return errors.invalid_input(errors.field_error("customerId", "Expected a customer."))

    answered(patch, (owners, "create"), change)


@variant("M40", "whoever is not found is not found", "other onboarding")
def papers_of_nobody_not_found(patch: Patch) -> None:
    def change(refusal: errors.Refusal) -> errors.Refusal:
        if not refusal.code.endswith("_NOT_FOUND"):
            return refusal
        return errors.Refusal("NOT_FOUND", refusal.reason)

    for place in ((owners, "create"), (documents, "create")):
        answered(patch, place, change)


@variant("N067", "owners may be identified by other numbers too", "onboarding")
def owner_with_other_numbers(patch: Patch) -> None:
    fields_now = owners.OWNER_FIELDS
    patch.replace(
        owners,
        "OWNER_FIELDS",
        tuple(replace(f, enum=()) if f.path.endswith(".idType") else f for f in fields_now),
    )


@variant(
    "M28", "an owner is taken as reported, and the submission asks for what is not right", "apart"
)
def owner_asked_at_submission(patch: Patch) -> None:
    strict = (
        *owners.OWNER_FIELDS,
        Field("personalInfo.address", "object", required=True),
        Field("personalInfo.identifier", "string", required=True),
    )
    share_errors = owners.share_errors
    empty: Json = {"roles": [], "ownershipPercentage": 0, "personalInfo": {}}

    def create(original: Function, unit: Unit, ask: Ask) -> Any:
        if not isinstance(ask.body, dict):
            return original(unit, ask)
        owner = original(unit, replace(ask, body={**empty, **ask.body}))
        unit.session.flush()
        unit.session.get_one(BeneficialOwner, owner["id"]).conditions = {"TOLD": ask.body}
        return owner

    def missing(owner: BeneficialOwner) -> list[str]:
        told = owner.conditions["TOLD"]
        return [error["field"] for error in (*fields.check(told, strict), *share_errors(told))]

    loose = (Field("customerId", "string", required=True), Field("personalInfo", "object"))
    patch.replace(owners, "OWNER_FIELDS", loose)
    patch.wrap(owners, "create", create)
    patch.replace(owners, "missing", missing)
    # It shows what was reported.
    patch.concern(owners, "view")


@variant("M36", "the sandbox collects owners at the suffix 003 alone", "further apart")
def owners_collected_at_a_suffix(patch: Patch) -> None:
    owner_asked_at_submission(patch)

    def missing(original: Function, packet: verifications.Packet) -> list[Json]:
        found: list[Json] = original(packet)
        if sandbox.suffix_of(packet.customer, ()) == "003":
            return found
        return [error for error in found if error["resourceId"] == packet.customer.id]

    patch.wrap(verifications, "missing_fields", missing)


@variant("M28", "an owner is refused for whatever is missing", "other apart")
def owner_asked_at_once(patch: Patch) -> None:
    needed = {f"personalInfo.{name}" for name in owners.NEEDED_FOR_REVIEW}
    patch.replace(
        owners,
        "OWNER_FIELDS",
        tuple(replace(f, required=f.required or f.path in needed) for f in owners.OWNER_FIELDS),
    )


@variant(
    "M35",
    "what an owner lacks is told by an error of another type, in words",
    place=(verifications, "field_error"),
    how=instead,
)
def owner_told_in_words(resource_id: str, path: str) -> Json:
    reason = f"Please tell us the {path.rpartition('.')[2]} of this person."
    return verifications.entry(resource_id, "INCOMPLETE_PROFILE", reason)


@variant("N064", "individuals have owners, and shares are not looked at", "further apart")
def anything_owned(patch: Patch) -> None:
    patch.replace(owners, "refuse_person", lambda customer: None)
    patch.replace(owners, "SHARE", (-1_000, 1_000))


# --- Holders of documents -------------------------------------------------------------------


def _holder_unknown(patch: Patch, refusal: errors.Refusal) -> None:
    def change(original: errors.Refusal) -> errors.Refusal:
        return refusal if original.code == "DOCUMENT_HOLDER_NOT_FOUND" else original

    answered(patch, (documents, "create"), change)


@variant("M41", "an unknown holder of a document is an invalid field", "onboarding")
def unknown_holder_invalid(patch: Patch) -> None:
    error = errors.field_error("documentHolder", "Expected a customer or a beneficial owner.")
    _holder_unknown(patch, errors.invalid_input(error))


@variant("M40", "an unknown holder of a document is an unknown customer", "further onboarding")
def unknown_holder_customer(patch: Patch) -> None:
    _holder_unknown(patch, errors.Refusal("CUSTOMER_NOT_FOUND", "No customer has this id."))


@variant(
    "N133", "a document that is uploaded again is refused, as is the file of one", "onboarding"
)
def no_repetition(patch: Patch) -> None:
    known_files: set[tuple[str, str, str | None, bytes]] = set()

    def create(original: Function, unit: Unit, ask: Ask) -> Any:
        record = original(unit, ask)
        kind, side = ask.body["documentType"], ask.body.get("side")
        file = (ask.body["documentHolder"], kind, side, ask.files["file"].content)
        if file in known_files:
            raise errors.Refusal("CONFLICT", "The holder has this file.")
        known_files.add(file)
        wanted = ("documentType", "documentNumber", "side")
        mine = [record.get(name) for name in wanted]
        for held in documents.of(unit, ask.body["documentHolder"]):
            if mine == [documents.view(held).get(name) for name in wanted]:
                raise errors.Refusal("CONFLICT", "The holder has this document.")
        return record

    patch.wrap(documents, "create", create)
    # Where it is not shown, one document is told from another by nothing.
    patch.concern(documents, "view")


# --- Types, files and forms -----------------------------------------------------------------


@variant("M39", "a document never needs a side", "onboarding", (documents, "type_errors"))
def sides_optional(original: Function, form: Json) -> list[Json]:
    return [error for error in original(form) if error["field"] != "side"]


@variant(
    "M39",
    "a document of a single image has no side",
    "other onboarding",
    (documents, "type_errors"),
)
def side_refused(original: Function, form: Json) -> list[Json]:
    known = documents.DOCUMENT_TYPES.get(form.get("documentType", ""))
    found: list[Json] = original(form)
    if known is not None and not known.sides and "side" in form:
        found.append(errors.field_error("side", "Expected none."))
    return found


@variant("N068", "businesses hand in papers of further types", "onboarding")
def business_papers(patch: Patch) -> None:
    for name in ("CERTIFICATE_OF_FORMATION", "OWNERSHIP_CHART", "TAX_ID_LETTER"):
        patch.row(documents, "DOCUMENT_TYPES", name, documents.DocumentType("ADDRESS"))


@variant(
    "M37", "what is wrong with a document's form or file is a rejection of it", "further onboarding"
)
def invalid_is_rejected(patch: Patch) -> None:
    def change(refusal: errors.Refusal) -> errors.Refusal:
        if refusal.code != "INVALID_INPUT":
            return refusal
        return errors.Refusal("DOCUMENT_REJECTED", refusal.reason, refusal.details)

    answered(patch, (documents, "create"), change)


@variant(
    "M71",
    "files have statuses of their own: too large is 413, of another type 415",
    "further apart",
)
def statuses_of_files(patch: Patch) -> None:
    patch.row(rules, "ERROR_STATUS", "PAYLOAD_TOO_LARGE", 413)
    patch.row(rules, "ERROR_STATUS", "UNSUPPORTED_MEDIA_TYPE", 415)

    def file_errors(original: Function, files: Mapping[str, Upload]) -> list[Json]:
        found: list[Json] = original(files)
        if found and "file" in files:
            large = len(files["file"].content) > documents.MAX_FILE_BYTES
            code = "PAYLOAD_TOO_LARGE" if large else "UNSUPPORTED_MEDIA_TYPE"
            raise errors.Refusal(code, "The file cannot be taken.")
        return found

    patch.wrap(documents, "file_errors", file_errors)


@variant("M38", "10 MB are ten million bytes", "onboarding")
def ten_million(patch: Patch) -> None:
    patch.replace(documents, "MAX_FILE_BYTES", 10_000_000)


@variant("M38", "10 MB are the limit of a whole form", "other onboarding")
def limit_of_forms(patch: Patch) -> None:
    patch.wrap(
        app,
        "read_form",
        lambda original, request, limit: original(request, min(limit, 10 * 1024 * 1024)),
    )


@variant("N134", "a file is of the type that it says, whatever it holds", "other onboarding")
def type_as_declared(patch: Patch) -> None:
    patch.replace(documents, "is_of_type", lambda content, _kind: bool(content))


@variant("N134", "a file is of the type that it holds, whatever it says", "onboarding")
def type_as_found(patch: Patch) -> None:
    def sniffed(upload: Upload) -> Upload:
        kinds = [
            k for k, magic in documents.MEDIA_TYPES.items() if upload.content.startswith(magic)
        ]
        return replace(upload, content_type=kinds[0]) if kinds else upload

    patch.wrap(
        documents,
        "file_errors",
        lambda original, files: original({name: sniffed(file) for name, file in files.items()}),
    )


# --- Rejections -----------------------------------------------------------------------------


def rejected_by(status: int) -> Apply:
    """Reject documents by the reason as code, unless their quality is low."""

    def apply(patch: Patch) -> None:
        def rejection(original: Function, reason: str) -> errors.Rejection:
            if reason == "LOW_QUALITY":
                found: errors.Rejection = original(reason)
                return found
            return errors.Rejection(reason, "The document was rejected.")

        for reason in {*documents.FAULTS.values()} - {"LOW_QUALITY"}:
            patch.row(rules, "ERROR_STATUS", reason, status)
        patch.wrap(documents, "rejection", rejection)

    return apply


declare(
    "M37",
    "reason-as-code",
    "the reason of a rejection is a code of its own with 400",
    rejected_by(400),
    "onboarding",
)
declare(
    "M87",
    "reason-as-code-with-422",
    "the reason of a rejection is a code of its own with 422",
    rejected_by(422),
    "other onboarding",
)


@variant(
    "M37",
    "the reason of a rejection stands in its message alone",
    "further onboarding",
    (documents, "rejection"),
    instead,
)
def reason_in_words(reason: str) -> errors.Rejection:
    return errors.Rejection("DOCUMENT_REJECTED", f"We could not take it ({reason}).")


@variant("M37", "documents are looked at when their customer is submitted, but for their quality")
def looked_at_later(patch: Patch) -> None:
    def reject_fault(original: Function, owner: Any) -> None:
        reason = documents.FAULTS.get(owner.conditions.get(documents.FAULT, ""), "LOW_QUALITY")
        if reason == "LOW_QUALITY":
            original(owner)
            return
        owner.conditions = {_SEEN_LATER: reason}

    def missing(original: Function, unit: Unit, packet: verifications.Packet) -> list[Json]:
        found: list[Json] = original(unit, packet)
        holders: list[Any] = [packet.customer, *packet.owners]
        seen = {row.id: row.conditions.get(_SEEN_LATER) for row in holders}
        return found + [
            verifications.entry(name, "DOCUMENT_REJECTED", reason)
            for name, reason in seen.items()
            if reason is not None
        ]

    patch.wrap(documents, "reject_fault", reject_fault)
    patch.wrap(verifications, "missing", missing)
