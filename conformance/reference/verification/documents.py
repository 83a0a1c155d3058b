"""Papers that prove what a customer or owner said; their files are looked at and not kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from sqlalchemy import select

from conformance.reference import errors, fields
from conformance.reference.rules import Field
from conformance.reference.store import BeneficialOwner, Customer, Document
from conformance.reference.unit import Upload, new_id, present

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.reference.store import Json
    from conformance.reference.unit import Ask, Unit

Holder = Customer | BeneficialOwner


@dataclass(frozen=True, slots=True)
class DocumentType:
    """One ``documentType``: what it proves, what has to be told of it, and its sides."""

    proves: Literal["IDENTITY", "ADDRESS"]
    needs: tuple[str, ...] = ()
    sides: tuple[str, ...] = ()


_NUMBERED = ("documentNumber", "issuingAuthority")
_BOTH = ("FRONT", "BACK")

DOCUMENT_TYPES: dict[str, DocumentType] = {
    "PASSPORT": DocumentType("IDENTITY", _NUMBERED),
    "DRIVERS_LICENSE": DocumentType("IDENTITY", _NUMBERED, _BOTH),
    "NATIONAL_ID": DocumentType("IDENTITY", _NUMBERED, _BOTH),
    "UTILITY_BILL": DocumentType("ADDRESS"),
    "ELECTRICITY_BILL": DocumentType("ADDRESS"),
    "RENT_OR_LEASE_AGREEMENT": DocumentType("ADDRESS"),
    "BANK_STATEMENT": DocumentType("ADDRESS"),
    "TAX_RETURN": DocumentType("ADDRESS"),
}

DOCUMENT_FIELDS: tuple[Field, ...] = (
    Field("documentHolder", "string", required=True, min_length=1),
    Field("documentType", "string", required=True, min_length=1),
    Field("documentNumber", "string", max_length=255),
    Field("issuingAuthority", "string", max_length=255),
    Field("country", "string", pattern=r"[A-Z]{2}"),
    Field("side", "string", enum=_BOTH),
)

HOLDERS: dict[str, type[Any]] = {"Customer": Customer, "BeneficialOwner": BeneficialOwner}
"""Who can hold a document, by the type that an identifier names."""

MEDIA_TYPES: dict[str, bytes] = {
    "application/pdf": b"%PDF-",
    "image/jpeg": b"\xff\xd8\xff",
    "image/png": b"\x89PNG\r\n\x1a\n",
}
"""The files that are taken in, each with the bytes that it begins with."""

MAX_FILE_BYTES: int = 10 * 1024 * 1024

FAULTS: dict[str, str] = {
    "BLURRED": "LOW_QUALITY",
    "CROPPED": "LOW_QUALITY",
    "COLORLESS": "LOW_QUALITY",
    "MISMATCHED": "DATA_MISMATCH",
    "EXPIRED": "EXPIRED",
    "OUTDATED": "EXPIRED",
    "FORGED": "SUSPECTED_FRAUD",
    "UNSUITABLE": "UNSUITABLE_DOCUMENT",
    "INCOMPLETE": "INCOMPLETE",
}
"""What is seen on a document that is looked at, and the reason for which it is rejected."""

FAULT: str = "DOCUMENT_FAULT"
"""The condition of a holder that names the fault of the next document."""


def create(unit: Unit, ask: Ask) -> Json:
    """Take a document in, unless it is no document or shows a fault."""
    form = {name: text for name, text in ask.body.items() if text}
    body = fields.demand(form, DOCUMENT_FIELDS, *type_errors(form), *file_errors(ask.files))
    owner = holder(unit, body["documentHolder"])
    reject_fault(owner)
    document = Document(
        id=new_id("Document"),
        holder_id=owner.id,
        type=body["documentType"],
        side=body.get("side"),
        details={name: body[name] for name in (*_NUMBERED, "country") if name in body},
        created_at=unit.now,
    )
    unit.session.add(document)
    return view(document)


def type_errors(form: Json) -> list[Json]:
    """Return the errors of what the ``documentType`` asks for."""
    name = form.get("documentType")
    if name is None:
        return []
    known = DOCUMENT_TYPES.get(name)
    if known is None:
        message = f"Expected one of {', '.join(DOCUMENT_TYPES)}."
        return [errors.field_error("documentType", message, enum=list(DOCUMENT_TYPES))]
    needed = [*known.needs, *(["side"] if known.sides else [])]
    return [
        errors.field_error(member, f"A {name} needs a value here.", required=True)
        for member in needed
        if member not in form
    ]


def file_errors(files: dict[str, Upload]) -> list[Json]:
    """Return the error of the file."""
    upload = files.get("file")
    if upload is None:
        return [errors.field_error("file", "A file is required.", required=True)]
    if len(upload.content) > MAX_FILE_BYTES:
        message = f"Expected at most {MAX_FILE_BYTES} bytes, got {len(upload.content)}."
        return [errors.field_error("file", message)]
    declared = upload.content_type.partition(";")[0].strip().lower()
    if declared not in MEDIA_TYPES:
        message = f"Expected one of {', '.join(MEDIA_TYPES)}."
        return [errors.field_error("file", message)]
    if not is_of_type(upload.content, declared):
        return [errors.field_error("file", f"The content is not {declared}.")]
    return []


def is_of_type(content: bytes, media_type: str) -> bool:
    """Return whether a file begins as those of its type do."""
    return content.startswith(MEDIA_TYPES[media_type])


def holder(unit: Unit, identifier: str) -> Holder:
    """Return who holds a document; raises ``Refusal`` (DOCUMENT_HOLDER_NOT_FOUND)."""
    table = HOLDERS.get(identifier.partition(":")[0])
    found: Holder | None = None if table is None else unit.session.get(table, identifier)
    if found is None:
        raise errors.Refusal(
            "DOCUMENT_HOLDER_NOT_FOUND", "No customer or beneficial owner has this id."
        )
    return found


def reject_fault(owner: Holder) -> None:
    """Reject a document that shows a fault; the holder's next one shows it no longer."""
    fault = owner.conditions.get(FAULT)
    if fault is None:
        return
    owner.conditions = {name: v for name, v in owner.conditions.items() if name != FAULT}
    raise rejection(FAULTS[fault])


def rejection(reason: str) -> errors.Rejection:
    """Return the rejection of a document that was looked at."""
    message = f"The document was rejected: {reason}. Ask its holder for a better one."
    return errors.Rejection("DOCUMENT_REJECTED", message, {"reason": reason})


def of(unit: Unit, holder_id: str) -> Sequence[Document]:
    """Return the documents of a holder that were taken in, the first one first."""
    query = select(Document).where(Document.holder_id == holder_id)
    return list(unit.session.scalars(query.order_by(Document.created_at)))


def view(document: Document) -> Json:
    """Return the record of a document as clients see it."""
    return present(
        {
            "id": document.id,
            "documentHolder": document.holder_id,
            "documentType": document.type,
            **document.details,
            "side": document.side,
        }
    )
