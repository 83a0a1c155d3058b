"""Mutants of documents: their records, types, files, forms and rejections."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from conformance.proof.kit import edits
from conformance.proof.kit.builders import (
    Handler,
    Json,
    Place,
    around,
    before,
    edited,
    instead,
    receives,
    recoded,
    rescued,
    skipped,
)
from conformance.proof.kit.edits import put, replaced, where, without
from conformance.proof.kit.tables import (
    with_columns,
    with_field,
    with_row,
    with_status,
    without_row,
)
from conformance.proof.mutant import declare, mutant
from conformance.proof.mutants.verification.toolkit import blind_to, document_refused
from conformance.proof.patch import Apply, Function, NoSuchTarget, Patch
from conformance.reference import app, errors, rules
from conformance.reference.store import BeneficialOwner, Customer, Document
from conformance.reference.unit import Ask, Unit, Upload, new_id
from conformance.reference.verification import documents

Form = tuple[dict[str, str], dict[str, Upload]]


Read = Callable[..., Awaitable[Form]]


# --- What comes back ------------------------------------------------------------------------


for _requirement, _path in (
    ("DOC-001", "documentHolder"),
    ("DOC-002", "documentType"),
    ("DOC-601", "documentNumber"),
    ("DOC-602", "issuingAuthority"),
    ("DOC-603", "country"),
    ("DOC-604", "side"),
):
    declare(
        _requirement,
        f"{_path}-missing",
        f"the {_path} of a record is not there",
        edited(documents, "view", without(_path)),
    )


@mutant(
    "DOC-010",
    "the document of an owner is shown as one of the business",
    (documents, "create"),
    around,
)
def owner_is_business(original: Handler, unit: Unit, ask: Ask) -> Any:
    owner = documents.holder(unit, ask.body["documentHolder"])
    record = original(unit, ask)
    return {**record, "documentHolder": getattr(owner, "customer_id", owner.id)}


SHOWN: tuple[tuple[str, str, str, Any], ...] = (
    ("DOC-001", "documentHolder", "bare", "8d0cf2a4"),
    ("DOC-001", "documentHolder", "null", None),
    ("DOC-001", "documentHolder", "object", {"id": "Customer:8d0cf2a4"}),
    ("DOC-002", "documentType", "number", 3),
    ("DOC-002", "documentType", "null", None),
    ("DOC-003", "documentNumber", "number", 1234567),
    ("DOC-004", "issuingAuthority", "object", {"name": "Department of State"}),
    ("DOC-005", "country", "object", {"code": "US"}),
    ("DOC-006", "side", "number", 2),
    ("DOC-006", "side", "lower", "back"),
    ("DOC-010", "documentHolder", "another", "Customer:8d0cf2a4"),
    ("DOC-011", "documentType", "coarser", "IDENTITY"),
    ("DOC-012", "issuingAuthority", "cut", "Dep"),
    ("DOC-013", "country", "default", "GB"),
    ("DOC-014", "side", "default", "FRONT"),
    ("DOC-600", "documentNumber", "another", "000000000"),
    ("DOC-600", "documentNumber", "cut", "C"),
)
"""Requirement, member of the record, a name for what is wrong, and what is shown."""


@mutant(
    "DOC-013",
    "a document is of the country that its holder lives in",
    (documents, "create"),
    around,
)
def of_the_holders_country(original: Handler, unit: Unit, ask: Ask) -> Any:
    record = original(unit, ask)
    held_by = documents.holder(unit, record["documentHolder"])
    person = held_by.details if isinstance(held_by, Customer) else held_by.person
    address = person.get("address") or {}
    return {**record, "country": address.get("country", record.get("country"))}


for _requirement, _path, _form, _value in SHOWN:
    declare(
        _requirement,
        f"{_path}-{_form}",
        f"the {_path} of a record is {json.dumps(_value)}",
        edited(documents, "view", put(_path, _value)),
    )


# --- What is wrongly refused ----------------------------------------------------------------


def is_business(unit: Unit, ask: Ask) -> bool:
    """Return whether the holder is a business."""
    found = unit.session.get(Customer, ask.body.get("documentHolder", ""))
    return found is not None and found.customer_type == "BUSINESS"


def is_second(unit: Unit, ask: Ask) -> bool:
    """Return whether the holder has a document of another type."""
    held = documents.of(unit, ask.body.get("documentHolder", ""))
    return any(document.type != ask.body.get("documentType") for document in held)


def shows(kind: str, side: str) -> Callable[[Unit, Ask], bool]:
    """Return the condition of a document of a type that shows a side."""
    wanted = {"documentType": kind, "side": side}
    return lambda _unit, ask: wanted.items() <= ask.body.items()


WRONGLY_REFUSED: tuple[tuple[str, str, Callable[[Unit, Ask], bool]], ...] = (
    ("DOC-022", "businesses hold no documents", is_business),
    ("DOC-023", "a holder has documents of one type", is_second),
    ("DOC-024", "one document is enough", is_second),
    ("DOC-031", "licenses have no front", shows("DRIVERS_LICENSE", "FRONT")),
    ("DOC-032", "licenses have no back", shows("DRIVERS_LICENSE", "BACK")),
    ("DOC-033", "identity cards have no front", shows("NATIONAL_ID", "FRONT")),
    ("DOC-034", "identity cards have no back", shows("NATIONAL_ID", "BACK")),
)
"""Requirement, statement and the documents that are refused."""

for _requirement, _statement, _condition in WRONGLY_REFUSED:
    declare(_requirement, _statement.replace(" ", "-"), _statement, document_refused(_condition))


def _held_by(holder: str, kind: str, *parts: str) -> Callable[[Unit, Ask], bool]:
    """Return the condition of a document of a kind of holder that has not got all of some parts.

    Without parts it is any side but the FRONT of a document of the type.
    """

    def condition(unit: Unit, ask: Ask) -> bool:
        owned = str(ask.body.get("documentHolder")).startswith("BeneficialOwner:")
        is_meant = owned if holder == "owner" else is_business(unit, ask)
        lacks = not all(ask.body.get(part) for part in parts)
        is_back = ask.body.get("side") == "BACK"
        return is_meant and ask.body.get("documentType") == kind and (lacks if parts else is_back)

    return condition


for _requirement, _whose, _kind, _parts in (
    ("DOC-032", "owner", "DRIVERS_LICENSE", ()),
    ("DOC-034", "business", "NATIONAL_ID", ()),
    ("DOC-056", "business", "UTILITY_BILL", ("documentNumber",)),
    ("DOC-057", "owner", "ELECTRICITY_BILL", ("documentNumber",)),
    ("DOC-058", "owner", "RENT_OR_LEASE_AGREEMENT", ("issuingAuthority",)),
    ("DOC-059", "owner", "BANK_STATEMENT", ("documentNumber", "issuingAuthority")),
    ("DOC-060", "business", "TAX_RETURN", ("issuingAuthority",)),
):
    declare(
        _requirement,
        f"of-{_whose}-refused",
        f"a {_kind} of one kind of holder, {_whose}, is refused",
        document_refused(_held_by(_whose, _kind, *_parts)),
    )


@mutant("DOC-011", "each proof of an owner's address is shown as a bill", (documents, "view"))
def bill_of_an_owner(view: Callable[[Document], Json], document: Document) -> Json:
    owned = document.holder_id.startswith("BeneficialOwner:")
    is_proof = documents.DOCUMENT_TYPES[document.type].proves == "ADDRESS"
    return (
        {**view(document), "documentType": "UTILITY_BILL"} if owned and is_proof else view(document)
    )


DROPPED: tuple[tuple[str, Place, str], ...] = (
    ("DOC-020", (documents, "HOLDERS"), "Customer"),
    ("DOC-021", (documents, "HOLDERS"), "BeneficialOwner"),
    ("DOC-030", (documents, "DOCUMENT_TYPES"), "PASSPORT"),
    ("DOC-031", (documents, "DOCUMENT_TYPES"), "DRIVERS_LICENSE"),
    ("DOC-033", (documents, "DOCUMENT_TYPES"), "NATIONAL_ID"),
    ("DOC-035", (documents, "DOCUMENT_TYPES"), "UTILITY_BILL"),
    ("DOC-036", (documents, "DOCUMENT_TYPES"), "ELECTRICITY_BILL"),
    ("DOC-037", (documents, "DOCUMENT_TYPES"), "RENT_OR_LEASE_AGREEMENT"),
    ("DOC-038", (documents, "DOCUMENT_TYPES"), "BANK_STATEMENT"),
    ("DOC-039", (documents, "DOCUMENT_TYPES"), "TAX_RETURN"),
    ("DOC-040", (documents, "MEDIA_TYPES"), "application/pdf"),
    ("DOC-041", (documents, "MEDIA_TYPES"), "image/jpeg"),
    ("DOC-042", (documents, "MEDIA_TYPES"), "image/png"),
)
"""Requirement, table and the row of it that is forgotten."""


def _unfit_for(proof: str, media_type: str) -> Apply:
    """Refuse files of a type for documents that prove something."""

    def refusing(_unit: Unit, ask: Ask) -> None:
        kind = documents.DOCUMENT_TYPES.get(ask.body.get("documentType"))
        upload = ask.files.get("file")
        if kind and upload and (kind.proves, upload.content_type) == (proof, media_type):
            raise errors.invalid_input(errors.field_error("file", "Expected another type."))

    return before(documents, "create", refusing)


@mutant("DOC-040", "owners hand in pictures alone", (documents, "create"), before)
def owners_hand_in_pictures(_unit: Unit, ask: Ask) -> None:
    upload = ask.files.get("file")
    owned = str(ask.body.get("documentHolder")).startswith("BeneficialOwner:")
    if owned and upload and upload.content_type == "application/pdf":
        raise errors.invalid_input(errors.field_error("file", "Expected a picture."))


for _requirement, _proof, _type in (
    ("DOC-041", "IDENTITY", "image/jpeg"),
    ("DOC-041", "ADDRESS", "image/jpeg"),
    ("DOC-042", "IDENTITY", "image/png"),
    ("DOC-042", "ADDRESS", "image/png"),
):
    declare(
        _requirement,
        f"{_type.replace('/', '-')}-for-{_proof.lower()}",
        f"a file of the type {_type} is refused as a proof of {_proof.lower()}",
        _unfit_for(_proof, _type),
    )

for _requirement, _table, _key in DROPPED:
    declare(
        _requirement,
        f"{_key.lower().replace('/', '-')}-unknown",
        f"{_key} is not known",
        without_row(*_table, _key),
    )


PROOFS = {
    "DOC-056": "UTILITY_BILL",
    "DOC-057": "ELECTRICITY_BILL",
    "DOC-058": "RENT_OR_LEASE_AGREEMENT",
    "DOC-059": "BANK_STATEMENT",
    "DOC-060": "TAX_RETURN",
}

for _requirement, _kind in PROOFS.items():
    for _member in ("documentNumber", "issuingAuthority"):
        declare(
            _requirement,
            f"{_member}-needed",
            f"a {_kind} needs a {_member}",
            with_row(
                documents,
                "DOCUMENT_TYPES",
                _kind,
                replace(documents.DOCUMENT_TYPES[_kind], needs=(_member,)),
            ),
        )

declare(
    "DOC-030",
    "passport-with-sides",
    "a passport has two sides",
    with_columns(documents, "DOCUMENT_TYPES", "PASSPORT", sides=("FRONT", "BACK")),
)


# --- What is wrongly accepted ---------------------------------------------------------------


def unchecked(condition: Callable[[Ask, errors.Refusal], bool]) -> Apply:
    """Return a patch after which requests of a condition are accepted all the same."""

    def create(original: Handler, unit: Unit, ask: Ask) -> Any:
        try:
            return original(unit, ask)
        except errors.Refusal as refusal:
            if not condition(ask, refusal):
                raise
        return {**ask.body, "id": new_id("Document")}

    return around(documents, "create", create)


def unfound(kind: str) -> Callable[[Ask, errors.Refusal], bool]:
    """Return the condition of a request whose holder of a kind is not found."""

    def condition(ask: Ask, refusal: errors.Refusal) -> bool:
        named = str(ask.body["documentHolder"]).startswith(f"{kind}:")
        return named and refusal.code == "DOCUMENT_HOLDER_NOT_FOUND"

    return condition


WRONGLY_ACCEPTED: tuple[tuple[str, str, Callable[[Ask, errors.Refusal], bool]], ...] = (
    ("DOC-061", "no holder is needed", lambda ask, _: "documentHolder" not in ask.body),
    ("DOC-062", "no type is needed", lambda ask, _: "documentType" not in ask.body),
    ("DOC-063", "no file is needed", lambda ask, _: "file" not in ask.files),
    ("DOC-064", "any type will do", lambda ask, _: ask.body["documentType"] == "LIBRARY_CARD"),
    ("DOC-066", "no customer is looked up", unfound("Customer")),
    ("DOC-067", "no owner is looked up", unfound("BeneficialOwner")),
    ("DOC-069", "anything can hold a document", unfound("InternalAccount")),
    ("DOC-069", "an external account can hold a document", unfound("ExternalAccount")),
    ("DOC-071", "a form may end anywhere", lambda ask, _: "file" not in ask.files),
)
"""Requirement, statement and the requests that are accepted."""

for _requirement, _statement, _accepted in WRONGLY_ACCEPTED:
    declare(_requirement, _statement.replace(" ", "-"), _statement, unchecked(_accepted))

declare(
    "DOC-065",
    "any-side",
    "any word is taken for a side",
    with_field(documents, "DOCUMENT_FIELDS", "side", enum=()),
)
declare(
    "DOC-615",
    "any-case",
    "a side may be written in lower case",
    with_field(documents, "DOCUMENT_FIELDS", "side", enum=("FRONT", "BACK", "front", "back")),
)


NEEDS: tuple[tuple[str, str, str], ...] = (
    ("DOC-050", "PASSPORT", "documentNumber"),
    ("DOC-051", "PASSPORT", "issuingAuthority"),
    ("DOC-052", "DRIVERS_LICENSE", "documentNumber"),
    ("DOC-053", "DRIVERS_LICENSE", "issuingAuthority"),
    ("DOC-054", "NATIONAL_ID", "documentNumber"),
    ("DOC-055", "NATIONAL_ID", "issuingAuthority"),
)
"""Requirement, type and what it needs."""

for _requirement, _kind, _member in NEEDS:
    _row = documents.DOCUMENT_TYPES[_kind]
    if _member not in _row.needs:
        raise NoSuchTarget(f"{_kind} does not need {_member}")
    declare(
        _requirement,
        f"{_member}-not-needed",
        f"a {_kind} needs no {_member}",
        with_row(
            documents,
            "DOCUMENT_TYPES",
            _kind,
            replace(_row, needs=tuple(n for n in _row.needs if n != _member)),
        ),
    )


def _number_of_the_front(type_errors: Function, form: Json) -> list[Json]:
    """Ask the number of the front alone."""
    wanted = "documentNumber" if form.get("side") == "BACK" else None
    return [error for error in type_errors(form) if error["field"] != wanted]


for _requirement in ("DOC-052", "DOC-054"):
    declare(
        _requirement,
        "no-number-of-the-back",
        "the back of a document needs no documentNumber",
        around(documents, "type_errors", _number_of_the_front),
    )

for _requirement, (_, _kind, _member) in zip(
    ("DOC-609", "DOC-610", "DOC-611", "DOC-612", "DOC-613", "DOC-614"), NEEDS, strict=True
):
    declare(
        _requirement,
        "empty-taken",
        "an empty part of a form is a value",
        receives(
            documents, "create", lambda form: {name: text or "-" for name, text in form.items()}
        ),
    )


MEDIA: tuple[tuple[str, str, str, bytes], ...] = (
    ("DOC-043", "text/plain", "texts are documents", b""),
    ("DOC-044", "image/gif", "any picture is a document", b"GIF8"),
    ("DOC-045", "application/pdf", "what calls itself a PDF is one", b""),
    ("DOC-046", "image/jpeg", "what calls itself a JPEG is one", b""),
    ("DOC-047", "image/png", "what calls itself a PNG is one", b""),
)
"""Requirement, media type, statement, and what files of the type have to begin with."""

for _requirement, _kind, _statement, _magic in MEDIA:
    declare(
        _requirement,
        _statement.replace(" ", "-"),
        _statement,
        with_row(documents, "MEDIA_TYPES", _kind, _magic),
    )


@mutant("DOC-048", "a file may be empty")
def empty_files(patch: Patch) -> None:
    patch.wrap(
        documents,
        "is_of_type",
        lambda original, content, kind: not content or original(content, kind),
    )


@mutant("DOC-066", "a holder that does not exist is not allowed, and that is all")
def unknown_holder_forbidden(patch: Patch) -> None:
    patch.row(rules, "ERROR_STATUS", "DOCUMENT_HOLDER_NOT_FOUND", 409)


declare(
    "DOC-068",
    "another-code",
    "an account is said not to exist",
    recoded(documents, "holder", "ACCOUNT_NOT_FOUND"),
)


# --- Forms ----------------------------------------------------------------------------------


def reading(change: Callable[[Any, Read], Read]) -> Apply:
    """Return a patch that reads forms as ``change`` says, from the request and the original."""

    async def read(original: Read, request: Any, limit: int) -> Form:
        return await change(request, original)(request, limit)

    return around(app, "read_form", read)


async def _from_json(request: Any, _limit: int) -> Form:
    body = await request.json()
    return body, {"file": Upload("", "application/pdf", b"%PDF-")}


declare(
    "DOC-070",
    "json-taken",
    "a description in JSON is enough",
    reading(
        lambda request, original: (
            _from_json if request.headers.get("content-type") == "application/json" else original
        )
    ),
)


def breaking(request: Any, original: Read) -> Read:
    """Return a reader that a broken form brings down."""

    async def read(request: Any, limit: int) -> Form:
        try:
            return await original(request, limit)
        except errors.Refusal as refusal:
            raise RuntimeError(refusal.reason) from refusal

    return read


for _requirement in ("DOC-070", "DOC-072", "DOC-073"):
    declare(
        _requirement,
        "server-error",
        "a form that cannot be read brings the server down",
        reading(breaking),
    )


def _noted(refusal: errors.Refusal, unit: Unit, ask: Ask) -> Any:
    unit.session.add(
        Document(
            id=new_id("Document"),
            holder_id=ask.body["documentHolder"],
            type=ask.body["documentType"],
            side=None,
            details={},
            created_at=unit.now,
        )
    )
    raise errors.Rejection(refusal.code, refusal.reason) from refusal


declare(
    "DOC-074",
    "noted-too-early",
    "a document is noted before it is looked at",
    rescued(documents, "create", _noted),
)
declare(
    "DOC-074",
    "rejected-and-kept",
    "a document that is rejected counts",
    rescued(documents, "create", _noted, "DOCUMENT_REJECTED"),
)


# --- Rejections -----------------------------------------------------------------------------


def rejecting(code: str, status: int) -> Apply:
    """Return a patch after which documents are rejected with another code and status."""

    def rejection(reason: str) -> errors.Rejection:
        return errors.Rejection(code, f"The document was rejected: {reason}.")

    def patch(patch: Patch) -> None:
        patch.row(rules, "ERROR_STATUS", code, status)
        patch.replace(documents, "rejection", rejection)

    return patch


for _requirement, _fault in (
    ("DOC-080", "BLURRED"),
    ("DOC-081", "CROPPED"),
    ("DOC-082", "COLORLESS"),
):
    declare(
        _requirement,
        "not-seen",
        f"a document that is {_fault} is taken in",
        blind_to(_fault),
    )

for _requirement in ("DOC-080", "DOC-081", "DOC-082"):
    declare(
        _requirement,
        "invalid-input",
        "a rejected document is an invalid field",
        rejecting("REJECTED_DOCUMENT", 400),
    )
    declare(
        _requirement,
        "another-status",
        "DOCUMENT_REJECTED comes with 400",
        with_status("DOCUMENT_REJECTED", 400),
    )
    declare(
        _requirement,
        "another-code",
        "a document is rejected with 422 and another code",
        rejecting("UNPROCESSABLE", 422),
    )


REASONS: tuple[tuple[str, str], ...] = (
    ("DOC-083", "BLURRED"),
    ("DOC-084", "MISMATCHED"),
    ("DOC-085", "EXPIRED"),
    ("DOC-086", "FORGED"),
    ("DOC-087", "UNSUITABLE"),
    ("DOC-088", "INCOMPLETE"),
)
"""The requirement of each fault's reason."""

for _requirement, _fault in (
    ("DOC-607", "CROPPED"),
    ("DOC-608", "COLORLESS"),
    ("DOC-690", "BLURRED"),
):
    declare(
        _requirement,
        "no-reason",
        f"a document that is {_fault} is rejected for no reason of the list",
        with_row(documents, "FAULTS", _fault, "UNREADABLE"),
    )

for _requirement, _fault in REASONS:
    declare(
        _requirement,
        "another-reason",
        f"a document that is {_fault} is rejected for another reason",
        with_row(documents, "FAULTS", _fault, "EXPIRED" if _fault != "EXPIRED" else "LOW_QUALITY"),
    )
    declare(_requirement, "not-seen", f"a document that is {_fault} is taken in", blind_to(_fault))


@mutant(
    "DOC-089",
    "a holder with a rejected document is rejected for good",
    (documents, "reject_fault"),
    instead,
)
def rejected_for_good(owner: Any) -> None:
    fault = owner.conditions.get(documents.FAULT)
    if fault is not None:
        raise documents.rejection(documents.FAULTS[fault])


# --- Of whom, and of which type -------------------------------------------------------------


def _unneeded_of_owners(original: Callable[..., Any], form: dict[str, str]) -> Any:
    of_owner = str(form.get("documentHolder")).startswith("BeneficialOwner:")
    found = original(form)
    return [one for one in found if not of_owner or one["field"] in ("documentType", "side")]


for _requirement, _, _ in NEEDS:
    declare(
        _requirement,
        "of-an-owner",
        "an identity document of an owner needs no number and no issuer",
        around(documents, "type_errors", _unneeded_of_owners),
    )

for _requirement in ("DOC-080", "DOC-081", "DOC-082"):
    declare(
        _requirement,
        "of-an-owner",
        "nobody looks at the documents of owners",
        skipped(documents, "reject_fault", lambda owner: not isinstance(owner, Customer)),
    )

for _kind, _other in (("DRIVERS_LICENSE", "NATIONAL_ID"), ("TAX_RETURN", "UTILITY_BILL")):
    declare(
        "DOC-011",
        f"{_kind.lower().replace('_', '-')}-as-another",
        f"a {_kind} is shown as a {_other}",
        edited(
            documents,
            "view",
            where(edits.shows("documentType", _kind), put("documentType", _other)),
        ),
    )
declare(
    "DOC-014",
    "front-as-back",
    "the front of a card is shown as its back",
    edited(documents, "view", replaced("side", "BACK")),
)


def _unseen_on(kind: str) -> Apply:
    """Return a patch after which nobody looks at documents of a type."""

    def create(unit: Unit, ask: Ask) -> None:
        if ask.body.get("documentType") == kind:
            owner = documents.holder(unit, ask.body["documentHolder"])
            owner.conditions = without(documents.FAULT)(owner.conditions)

    return before(documents, "create", create)


for _requirement in ("DOC-080", "DOC-081", "DOC-082"):
    declare(
        _requirement,
        "of-a-business",
        "nobody looks at the documents of businesses",
        skipped(
            documents,
            "reject_fault",
            lambda owner: isinstance(owner, Customer) and owner.customer_type == "BUSINESS",
        ),
    )
    declare(
        _requirement,
        "on-a-licence",
        "nobody looks at driver's licences",
        _unseen_on("DRIVERS_LICENSE"),
    )


def _any_file_of(holder: type[Any], kind: str) -> Apply:
    """Return a patch after which files of a holder and of one type of document go unlooked at."""

    def create(original: Handler, unit: Unit, ask: Ask) -> Any:
        owner = documents.HOLDERS.get(str(ask.body.get("documentHolder")).partition(":")[0])
        if owner is not holder or ask.body.get("documentType") != kind:
            return original(unit, ask)
        files = {name: _unlooked_at(upload) for name, upload in ask.files.items()}
        return original(unit, replace(ask, files=files))

    return around(documents, "create", create)


def _unlooked_at(upload: Upload) -> Upload:
    return replace(upload, content_type="application/pdf", content=b"%PDF-")


@mutant("DOC-043", "what is named as a PDF is one")
def typed_by_name(patch: Patch) -> None:
    def create(original: Handler, unit: Unit, ask: Ask) -> Any:
        files = {
            name: _unlooked_at(upload) if upload.name.endswith(".pdf") else upload
            for name, upload in ask.files.items()
        }
        return original(unit, replace(ask, files=files))

    patch.wrap(documents, "create", create)


for _requirement in ("DOC-043", "DOC-044"):
    for _name, _holder, _kind in (
        ("of-an-owner", BeneficialOwner, "PASSPORT"),
        ("of-a-licence", Customer, "DRIVERS_LICENSE"),
    ):
        declare(
            _requirement,
            _name,
            f"any file is a {_kind} {_name.replace('-', ' ')}",
            _any_file_of(_holder, _kind),
        )
