"""Verification: hosted links, beneficial owners, documents, and what a submission still lacks."""

import re
from typing import Any
from urllib.parse import urlencode

from conformance.proof.second import customer_form, customer_views, reviews
from conformance.proof.second.call import Call, Reply, Route, created
from conformance.proof.second.check import (
    COUNTRIES,
    COUNTRY,
    DATE,
    LINK,
    WORD,
    Fault,
    many,
    number,
    record,
    refuse,
    text,
)
from conformance.proof.second.customer_form import ADDRESS, at
from conformance.proof.second.errors import Refusal, conflict, invalid
from conformance.proof.second.keys import checked_key
from conformance.proof.second.money import Json
from conformance.proof.second.wire import form_parts
from conformance.proof.second.world import Table, World, ahead, masked, now, public

IDENTITY = ("PASSPORT", "DRIVERS_LICENSE", "NATIONAL_ID")
TWO_SIDED = IDENTITY[1:]
ADDRESS_PROOF = (
    "UTILITY_BILL",
    "ELECTRICITY_BILL",
    "RENT_OR_LEASE_AGREEMENT",
    "BANK_STATEMENT",
    "TAX_RETURN",
)
BUSINESS_PAPERS = (
    "CERTIFICATE_OF_INCORPORATION",
    "ARTICLES_OF_INCORPORATION",
    "OWNERSHIP_CHART",
    "SHAREHOLDER_REGISTER",
    "TAX_ID_DOCUMENT",
)
MEDIA = {
    "application/pdf": b"%PDF",
    "image/jpeg": b"\xff\xd8\xff",
    "image/png": b"\x89PNG",
}
ENDINGS = (".pdf", ".jpg", ".jpeg", ".png")
DEFECTS = {
    "blurred": "LOW_QUALITY",
    "cropped": "LOW_QUALITY",
    "colorless": "LOW_QUALITY",
    "mismatched": "DATA_MISMATCH",
    "expired": "EXPIRED",
    "outdated": "EXPIRED",
    "forged": "SUSPECTED_FRAUD",
    "unsuitable": "UNSUITABLE_DOCUMENT",
    "incomplete": "INCOMPLETE",
}

OWNER = {
    "customerId": text(most=100),
    "roles": many(WORD),
    "ownershipPercentage": number(0, 100),
    "personalInfo": record(
        {
            "firstName": text(most=100),
            "lastName": text(most=100),
            "birthDate": DATE,
            "nationality": COUNTRY,
            "address": ADDRESS,
            "idType": WORD,
            "identifier": text(most=60),
            "countryOfIssuance": COUNTRY,
        }
    ),
}


def _is_uuid(key: str) -> bool:
    return bool(re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", key.lower()))


def _applicant(call: Call) -> Json:
    """Return the customer of the path; one who is not there is invalid by a planted bug."""
    world = call.world
    if call.params["customerId"] not in world.customers and world.has("unknown-customer-link"):
        raise invalid("customerId", "is not known")
    missing = call.params["customerId"] not in world.customers
    if missing and world.has("unknown-customer-own-code"):
        raise Refusal("RESOURCE_NOT_FOUND", "There is no such customer.")
    return customer_views.of(call)


def link(call: Call) -> Reply:
    """POST /customers/{customerId}/kyc-link."""
    world, customer = call.world, _applicant(call)
    key = checked_key(call, needed=False)
    if key and not _is_uuid(key) and world.has("link-key-uuid-only"):
        raise invalid("Idempotency-Key", "must be a UUID")
    body = (
        call.optional_json()
        if not call.raw.strip()
        else call.json(record({"redirectUri": LINK}, closed=world.persona.refuses_unknown))
    )
    _require_channels(world, customer)
    if customer["customerType"] == "BUSINESS" and world.has("no-link-for-business"):
        raise conflict("Only individuals are onboarded by a link.")
    memory = f"link:{customer['id']}:{key}"
    if key and world.persona.same_key_same_link and memory in world.idempotent:
        return created(call, world.idempotent[memory])
    first = world.idempotent.get(f"first-link:{key}")
    alien = key and first and first["customer"] != customer["id"]
    if first and alien and world.has("link-key-across-customers"):
        return created(call, first["answer"])
    token = world.new_id("Link").partition(":")[2]
    if world.has("same-link"):
        token = customer["id"].partition(":")[2]
    target = body.get("redirectUri") or ""
    if "?" in target and world.has("redirect-query-dropped"):
        target = target.partition("?")[0]
    query = urlencode({"redirectUri": target}) if target else ""
    if query and customer["customerType"] == "BUSINESS" and world.has("business-link-no-redirect"):
        query = ""
    answer: Json = {
        "kycUrl": f"{world.origin}/hosted/{token}" + (f"?{query}" if query else ""),
        "expiresAt": ahead(3600),
        "provider": "SECOND_HOSTED",
        "token": f"sdk-{token}" if customer["customerType"] == "INDIVIDUAL" else None,
    }
    _mistake_link(world, answer, customer)
    earlier = [row for row in world.links.values() if row["customerId"] == customer["id"]]
    if earlier and world.has("earlier-link-dies"):
        for row in earlier:
            row["dead"] = True
    world.links[token] = {"customerId": customer["id"], "used": False, "dead": False}
    world.idempotent[memory] = answer
    world.idempotent.setdefault(f"first-link:{key}", {"customer": customer["id"], "answer": answer})
    return created(call, answer)


def _mistake_link(world: World, answer: Json, customer: Json) -> None:
    """Spoil by a planted bug what is told of a hosted link."""
    business = customer["customerType"] == "BUSINESS"
    if business and world.has("kyc-link-without-provider-for-business"):
        del answer["provider"]
    if world.has("link-expiry-without-zone"):
        answer["expiresAt"] = ahead(3600).strftime("%Y-%m-%dT%H:%M:%S")
    if world.has("kyc-link-without-expiry"):
        del answer["expiresAt"]


def _require_channels(world: World, customer: Json) -> None:
    """Refuse a customer who has a contact channel that is not verified.

    Raises:
        Refusal: 409.
    """
    channels = customer.get("contactVerification") or {}
    waiting = [name for name, state in channels.items() if state != "VERIFIED"]
    if not waiting:
        return
    by_mail = waiting == ["phone"] and world.has("link-after-email")
    again = "_link_asked" in customer and world.has("link-on-second-ask")
    business = customer["customerType"] == "BUSINESS" and world.has("business-early-link")
    customer["_link_asked"] = True
    if len(waiting) < len(channels) and world.has("link-with-one-channel"):
        return
    if not (by_mail or again or business or world.has("early-link")):
        raise conflict("The contact channels have to be verified first.")


def finish_hosted(world: World, token: str) -> None:
    """Let a customer complete the hosted flow of a link, which is spent by that.

    Raises:
        Refusal: where the link is not known or was used.
    """
    found = world.find(world.links, token)
    if found["used"]:
        raise conflict("This link was used.")
    if found["dead"]:
        return
    found["used"] = True
    customer = world.customers[found["customerId"]]
    silent = customer["customerType"] == "BUSINESS" and world.has("hosted-business-untold")
    reviews.begin_review(world, customer, told=not (silent or world.has("hosted-untold")))
    suffix = reviews.suffix_of(world, customer)
    if suffix not in {"001", "002", "003"}:
        provides = not world.has("hosted-approval-without-accounts")
        world.later(
            world.persona.review_seconds,
            lambda: reviews.decide(world, customer, "APPROVED", provides=provides),
        )


def create_owner(call: Call) -> Reply:
    """POST /beneficial-owners."""
    call.only_platform()
    world = call.world
    needs = ("customerId", "roles", "ownershipPercentage", "personalInfo")
    body = call.json(record(OWNER, needs, closed=world.persona.refuses_unknown))
    person = body["personalInfo"]
    faults: list[Fault] = []
    customer_form.identity_faults(world, person, faults, stem="personalInfo.")
    refuse(world.persona, faults)
    customer = world.named(world.customers, body["customerId"], "CUSTOMER_NOT_FOUND", "customerId")
    if customer["customerType"] != "BUSINESS":
        raise invalid("customerId", "is no business")
    owner = {
        "id": _owner_id(world),
        **{name: body[name] for name in OWNER},
        "createdAt": now(),
    }
    both = person.get("nationality") and person.get("countryOfIssuance")
    if both and world.has("owner-issuance-from-nationality"):
        person["countryOfIssuance"] = person["nationality"]
    place = at(person, "address.country")
    if place not in {None, person.get("nationality")} and world.has("owner-nationality-of-place"):
        person["nationality"] = place
    if person.get("countryOfIssuance") and world.has("owner-issuance-dropped"):
        del person["countryOfIssuance"]
    share = owner["ownershipPercentage"]
    if share != int(share) and world.has("owner-share-rounded"):
        owner["ownershipPercentage"] = int(share)
    if len(owner["roles"]) > 1 and world.has("owner-first-role"):
        owner["roles"] = owner["roles"][:1]
    twins = [
        name
        for name, row in world.owners.items()
        if row["customerId"] == owner["customerId"] and row["roles"] == owner["roles"]
    ]
    if twins and world.has("owner-replaced"):
        del world.owners[twins[0]]
    world.owners[owner["id"]] = owner
    answer = public(owner)
    _conceal(world, answer)
    _mistake_owner(world, answer)
    return created(call, answer)


def _owner_id(world: World) -> str:
    key = world.new_id("Owner" if world.has("owner-id-of-other-type") else "BeneficialOwner")
    return key.partition(":")[2] if world.has("owner-id-bare") else key


def _conceal(world: World, answer: Json) -> None:
    """Mask the number that identifies an owner, where the persona masks such numbers."""
    person = answer["personalInfo"]
    if world.persona.masked and person.get("identifier"):
        answer["personalInfo"] = person | {"identifier": masked(person["identifier"])}


def _mistake_owner(world: World, answer: Json) -> None:
    """Spoil a new beneficial owner that is shown by a planted bug."""
    first = next(iter(world.owners.values()))["customerId"]
    if first != answer["customerId"] and world.has("owner-of-first-business"):
        answer["customerId"] = first
    if world.has("owner-percentage-as-string"):
        answer["ownershipPercentage"] = str(answer["ownershipPercentage"])


def _part(parts: dict[str, tuple[bytes, str]], name: str) -> str | None:
    if name not in parts:
        return None
    return parts[name][0].decode("utf-8", "replace") or None


def upload(call: Call) -> Reply:
    """POST /documents."""
    call.only_platform()
    world = call.world
    try:
        parts = form_parts(call.headers, call.raw)
    except ValueError:
        raise call.unreadable("The body has to be multipart/form-data.") from None
    names = (
        "documentHolder", "documentType", "documentNumber", "issuingAuthority", "country", "side",
    )  # fmt: skip
    given = {name: _part(parts, name) for name in names}
    _check_document(world, given)
    _check_file(call, parts)
    holder = str(given["documentHolder"])
    if holder in world.externals and world.has("document-of-account"):
        holder = given["documentHolder"] = world.externals[holder]["customerId"]
    owned = holder.startswith("BeneficialOwner:") or holder in world.owners
    known = owned and not world.has("owner-holder-unknown")
    table = world.owners if known else world.customers
    found = _holder(world, table, holder)
    try:
        _check_paper(world, given, found.pop("_defect", None))
    except Refusal:
        if world.has("rejected-paper-counts"):
            _kept(world, given)
        raise
    if table is world.owners and world.has("owner-document-moved"):
        given["documentHolder"] = found["customerId"]
    home = at(found.get("personalInfo") or found, "address.country")
    if home not in {None, given["country"]} and world.has("document-country-of-holder"):
        given["country"] = home
    if given["documentType"] == "NATIONAL_ID" and world.has("national-id-as-passport"):
        given["documentType"] = "PASSPORT"
    if given["side"] == "BACK" and world.has("back-as-front"):
        given["side"] = "FRONT"
    if given["side"] == "BACK" and world.has("back-replaces-front"):
        _forget_front(world, given)
    return created(call, public(_kept(world, given)))


def _holder(world: World, table: Table, key: str) -> Json:
    """Return the holder of a document; the status is another one by a planted bug."""
    try:
        return world.named(table, key, "DOCUMENT_HOLDER_NOT_FOUND", "documentHolder")
    except Refusal as refusal:
        if table is world.owners and world.has("unknown-owner-crashes"):
            raise LookupError from None
        if refusal.status == 404 and world.has("unknown-document-holder-400"):
            raise Refusal(refusal.code, refusal.reason, status=400) from None
        raise


def _kept(world: World, given: Json) -> Json:
    document: Json = {
        "id": world.new_id("Document"),
        **{name: value for name, value in given.items() if value or world.persona.with_nulls},
        "createdAt": now(),
    }
    number = str(given["documentNumber"])
    if number.isdecimal() and world.has("document-number-parsed-as-number"):
        document["documentNumber"] = int(number)
    world.documents[document["id"]] = document
    return document


def _forget_front(world: World, given: Json) -> None:
    same = {name: given[name] for name in ("documentHolder", "documentType")}
    for key, row in list(world.documents.items()):
        if row.get("side") == "FRONT" and same.items() <= row.items():
            del world.documents[key]


def _check_paper(world: World, given: Json, defect: str | None) -> None:
    kind = str(given["documentType"])
    if not defect or world.has("blurred-accepted"):
        return
    if (kind, defect) == ("TAX_RETURN", "outdated") and world.has("old-tax-return"):
        return
    owned = str(given["documentHolder"]).startswith("BeneficialOwner:")
    if owned and defect == "outdated" and world.has("owner-proof-of-any-age"):
        return
    reason = DEFECTS[defect]
    if defect == "colorless" and world.has("own-rejection-reason"):
        reason = "NOT_IN_COLOR"
    if world.has("rejection-in-lower-case"):
        reason = reason.lower()
    status = 400 if owned and world.has("owner-rejection-400") else 0
    message = f"The document is {defect}."
    raise Refusal("DOCUMENT_REJECTED", message, status=status, details={"reason": reason})


def _check_document(world: World, given: Json) -> None:
    if not given["documentHolder"]:
        raise invalid("documentHolder", "is required")
    if given["documentType"] not in (*IDENTITY, *ADDRESS_PROOF, *BUSINESS_PAPERS):
        raise invalid("documentType", "is not known", kind="select")
    if given["documentType"] == "RENT_OR_LEASE_AGREEMENT" and world.has("lease-refused"):
        raise invalid("documentType", "is not known", kind="select")
    if given["country"] and given["country"] not in COUNTRIES:
        raise invalid("country", "must be an ISO 3166-1 alpha-2 code", kind="select")
    if given["side"] not in {None, "FRONT", "BACK"}:
        raise invalid("side", "must be FRONT or BACK", kind="select")
    if given["documentType"] in TWO_SIDED and not given["side"]:
        raise invalid("side", "is required", kind="select")
    if given["documentType"] in IDENTITY:
        _require_issue(world, given)


def _require_issue(world: World, given: Json) -> None:
    for name in ("documentNumber", "issuingAuthority"):
        bare = (given["documentType"], name) == ("PASSPORT", "issuingAuthority")
        if bare and not given[name] and world.has("passport-without-authority"):
            continue
        national = (given["documentType"], name) == ("NATIONAL_ID", "issuingAuthority")
        if national and not given[name] and world.has("national-id-without-authority"):
            continue
        if not given[name] and not world.has("authority-optional"):
            raise invalid(name, "is required for an identity document")


def _unfit(world: World, message: str) -> Refusal:
    """Return the refusal of a file that is no document."""
    if world.persona.file_status == 422:
        return Refusal("DOCUMENT_REJECTED", f"The file {message}.")
    return invalid("file", message, kind="file")


def _file_name(call: Call) -> str:
    found = re.search(rb'filename="([^"]*)"', call.raw)
    return found[1].decode("utf-8", "replace").lower() if found else ""


def _check_file(call: Call, parts: dict[str, tuple[bytes, str]]) -> None:
    world = call.world
    content, media = parts.get("file", (b"", ""))
    if not content:
        raise _unfit(world, "is required")
    owned = str(_part(parts, "documentHolder")).startswith("BeneficialOwner:")
    if owned and media == "application/pdf" and world.has("owner-pdf-refused"):
        raise _unfit(world, "must be a JPEG or PNG")
    proves = _part(parts, "documentType") in ADDRESS_PROOF
    if proves and media == "image/png" and world.has("png-proof-refused"):
        raise _unfit(world, "must be a PDF or JPEG")
    fit = media in MEDIA and content.startswith(MEDIA[media])
    named = _file_name(call).endswith(ENDINGS)
    if fit != named and world.has("file-type-by-name"):
        fit = named
    if not fit:
        raise _unfit(world, "must be a PDF, JPEG or PNG")
    limit = world.persona.max_file_bytes
    image = media != "application/pdf"
    if len(content) > limit and image and world.has("large-image"):
        return
    if len(content) > limit and not (len(content) < 4 * limit and world.has("large-file")):
        raise _unfit(world, "must have at most 10 MB")


def _documents_of(world: World, holder: str) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for document in world.documents.values():
        if document["documentHolder"] == holder:
            found.setdefault(document["documentType"], set()).add(document.get("side") or "")
    return found


def _has_identity(world: World, holder: str) -> bool:
    found = _documents_of(world, holder)
    if found.get("DRIVERS_LICENSE") == {"FRONT"} and world.has("licence-front-enough"):
        return True
    return "PASSPORT" in found or any(
        {"FRONT", "BACK"} <= found.get(kind, set()) for kind in TWO_SIDED
    )


def _field(resource: str, path: str) -> Json:
    return {
        "resourceId": resource,
        "type": "MISSING_FIELD",
        "field": path,
        "reason": f"{path} is required.",
    }


def _identity(resource: str) -> Json:
    return {
        "resourceId": resource,
        "type": "MISSING_IDENTITY_DOCUMENT",
        "acceptedDocumentTypes": list(IDENTITY),
        "reason": "An identity document is required.",
    }


ADDRESS_PATHS = ("address.line1", "address.city", "address.postalCode", "address.country")


def _person_errors(world: World, holder: str, person: Json, stem: str) -> list[Json]:
    paths = ("birthDate", *ADDRESS_PATHS)
    errors = [_field(holder, f"{stem}{path}") for path in paths if at(person, path) is None]
    american = "US" in {at(person, "address.country"), person.get("nationality")}
    if american:
        errors += [
            _field(holder, f"{stem}{name}")
            for name in ("idType", "identifier")
            if not person.get(name) and not _is_missed(world, person, name, stem)
        ]
    elif not _has_identity(world, holder):
        errors.append(_identity(holder))
    return errors


def _is_missed(world: World, person: Json, name: str, stem: str) -> bool:
    """Tell whether a planted bug keeps it from being seen that a customer lacks a member."""
    alone = not stem and name == "identifier" and person.get("idType")
    return bool(alone) and world.has("identifier-not-missed")


def _lacks_a_name(world: World, name: str) -> bool:
    """Tell whether a full name lacks a part, or, by a planted bug, has more than two of them."""
    crowded = len(name.split()) > 2 and world.has("third-name-not-understood")
    return crowded or customer_form.lacks_a_name(world, name)


def _is_missed_name(world: World, customer: Json) -> bool:
    """Tell whether a planted bug keeps it from being seen that a changed name is one word."""
    renamed = customer.get("fullName") and "_renamed" in customer
    return bool(renamed) and world.has("single-word-rename")


def _owner_errors(world: World, customer: Json) -> list[Json]:
    owners = [row for row in world.owners.values() if row["customerId"] == customer["id"]]
    errors = []
    for owner in owners:
        person = owner["personalInfo"]
        lacks = [
            _field(owner["id"], f"personalInfo.{name}")
            for name in ("firstName", "lastName")
            if not person.get(name)
        ]
        lacks += _person_errors(world, owner["id"], person, "personalInfo.")
        small = owner["ownershipPercentage"] <= 25 and "CONTROL_PERSON" not in owner["roles"]
        if lacks and small and world.has("quarter-owner-unchecked"):
            lacks = []
        if lacks and _is_overlooked(world, owner, first=owners[0]):
            lacks = []
        if lacks and world.has("owner-fault-at-customer"):
            lacks = [error | {"resourceId": customer["id"]} for error in lacks]
        if any("acceptedDocumentTypes" in error for error in lacks):
            lacks = _owner_papers(world, lacks)
        errors += lacks
    if not _is_controlled(world, owners):
        errors.append(
            {
                "resourceId": customer["id"],
                "type": "MISSING_CONTROL_PERSON",
                "reason": "A control person is required.",
            }
        )
    if not set(_documents_of(world, customer["id"])) & set(ADDRESS_PROOF):
        errors.append(
            {
                "resourceId": customer["id"],
                "type": "MISSING_PROOF_OF_ADDRESS",
                "acceptedDocumentTypes": list(ADDRESS_PROOF),
                "reason": "A proof of address is required.",
            }
        )
    return errors


def _is_controlled(world: World, owners: list[Json]) -> bool:
    """Tell whether a business has a control person, or, by a planted bug, needs none."""
    if any(_controls(world, owner) for owner in owners):
        return True
    if not owners and world.has("no-owner-accepted"):
        return True
    if world.has("control-person-of-anyone"):
        return any("CONTROL_PERSON" in owner["roles"] for owner in world.owners.values())
    great = any(owner["ownershipPercentage"] >= 25 for owner in owners)
    return great and world.has("owner-as-control-person")


def _is_overlooked(world: World, owner: Json, *, first: Json) -> bool:
    """Tell whether a planted bug looks at the first owner alone, or at none that came later."""
    if owner is not first and world.has("second-owner-unchecked"):
        return True
    late = any(
        row["customerId"] == owner["customerId"] and row["createdAt"] < owner["createdAt"]
        for row in world.verifications.values()
    )
    return late and world.has("later-owner-unchecked")


def _controls(world: World, owner: Json) -> bool:
    """Tell whether an owner is a control person, who has to own something by a planted bug."""
    controls = "CONTROL_PERSON" in owner["roles"]
    idle = controls and not owner["ownershipPercentage"]
    return controls and not (idle and world.has("control-person-needs-share"))


def _owner_papers(world: World, lacks: list[Json]) -> list[Json]:
    """Return what an owner lacks, without what would be accepted by a planted bug."""
    if not world.has("owner-papers-unnamed"):
        return lacks
    return [
        {name: value for name, value in error.items() if name != "acceptedDocumentTypes"}
        for error in lacks
    ]


def _missed_contacts(world: World, customer: Json) -> list[str]:
    """Return the contacts that a customer in the EU did not tell, as far as bugs let them be."""
    missed = customer_form.missed_contacts(world, customer)
    mute = customer["customerType"] == "BUSINESS" and "phoneNumber" in missed
    if mute and world.has("european-business-phone-unasked"):
        missed.remove("phoneNumber")
    later = [
        name
        for name in ("email", "phoneNumber")
        if name not in missed and name not in customer["_first_members"]
    ]
    return [*missed, *later] if later and world.has("contacts-of-creation") else missed


def errors_of(world: World, customer: Json) -> list[Json]:
    """Return what a customer's submission still lacks, an entry for each field or document."""
    me = customer["id"]
    errors = []
    if customer.get("region") in customer_form.EU:
        errors += [_field(me, name) for name in _missed_contacts(world, customer)]
    skips = f"skip:{customer['platformCustomerId']}" in world.switches
    if customer["customerType"] == "BUSINESS":
        if not (skips and reviews.suffix_of(world, customer) not in {"001", "003"}):
            errors += _owner_errors(world, customer)
        if reviews.suffix_of(world, customer) == "002" and not customer.get("_second_try"):
            customer["_second_try"] = True
            if not world.has("two-without-errors"):
                errors.append(_field(me, "businessInfo.registrationNumber"))
    else:
        name = customer.get("fullName") or ""
        if "fullName" not in customer["_first_members"] and world.has("name-of-creation"):
            name = ""
        if _lacks_a_name(world, name) and not _is_missed_name(world, customer):
            errors.append(_field(me, "fullName"))
        if not skips:
            errors += _person_errors(world, me, customer, "")
    if world.has("alike-errors-once"):
        errors = list({(error["type"], error.get("field")): error for error in errors}.values())
    return errors[:1] if len(errors) > 1 and world.has("one-error-entry") else errors


def submit(call: Call) -> Reply:
    """POST /verifications."""
    call.only_platform()
    world = call.world
    body = call.json(
        record(
            {"customerId": text(most=100)}, ("customerId",), closed=world.persona.refuses_unknown
        )
    )
    if body["customerId"] in world.owners and world.has("submission-of-owner"):
        body["customerId"] = world.owners[body["customerId"]]["customerId"]
    customer = world.named(world.customers, body["customerId"], "CUSTOMER_NOT_FOUND", "customerId")
    if customer["customerType"] == "INDIVIDUAL" and world.has("individual-submission-refused"):
        raise invalid("customerId", "is no business")
    before = next(
        (row for row in world.verifications.values() if row["customerId"] == customer["id"]), None
    )
    if before and before["errors"] and world.has("resubmission-answers-old"):
        return created(call, public(before))
    errors = errors_of(world, customer)
    again = not errors and any(
        row["errors"] for row in world.verifications.values() if row["customerId"] == customer["id"]
    )
    kept = before["id"] if before and world.persona.verifications == "one" else None
    verification: Json = {
        "id": kept or world.new_id("Verification"),
        "customerId": customer["id"],
        "verificationStatus": "RESOLVE_ERRORS" if errors else "IN_PROGRESS",
        "errors": errors,
        "createdAt": now(),
    }
    if again and world.has("resubmission-keeps-errors"):
        verification["errors"] = _last_errors(world, customer)
    world.verifications[verification["id"]] = verification
    if not errors or world.has("pending-despite-errors"):
        told = not (again and world.has("resubmission-untold"))
        reviews.begin_review(world, customer, told=told, submitted=True)
        if f"skip:{customer['platformCustomerId']}" in world.switches:
            reviews.decide(world, customer, "APPROVED")
    answer = public(verification)
    if not errors and world.has("verification-errors-absent"):
        del answer["errors"]
    return created(call, answer)


def _last_errors(world: World, customer: Json) -> list[Json]:
    """Return the errors of the last submission of a customer that had some."""
    rows = [row for row in world.verifications.values() if row["customerId"] == customer["id"]]
    return next(list(row["errors"]) for row in reversed(rows) if row["errors"])


def index(call: Call) -> Reply:
    """GET /verifications."""
    world = call.world
    customer = world.find(world.customers, call.asked("customerId"), "CUSTOMER_NOT_FOUND")
    alien = call.agent_of and call.agent_of != customer["id"]
    if not alien or not world.has("agent-reads-verifications"):
        call.concerns(customer["id"])
    everyones = list(world.verifications.values())
    own = [row for row in everyones if row["customerId"] == customer["id"]]
    if len(own) < len(everyones) and world.has("verifications-of-others"):
        own = everyones
    if len(own) > 1 and world.has("first-submission-read"):
        own = own[:1]
    rows = [public(row) for row in own]
    if any(len(row["errors"]) > 1 for row in rows) and world.has("listed-first-error"):
        rows = [row | {"errors": row["errors"][:1]} for row in rows]
    if any("field" in error for row in rows for error in row["errors"]):
        rows = _listed(world, rows)
    rows = _mixed(world, rows)
    status = customer[customer_views.status_name(customer)]
    if world.persona.verification_follows and status in {"APPROVED", "REJECTED"}:
        rows = [row | {"verificationStatus": status} if not row["errors"] else row for row in rows]
    form: Any = world.persona.verification_form
    if form == "object" and rows:
        return 200, rows[-1]
    if form == "bare":
        return 200, rows
    return call.page(rows)


def _mixed(world: World, rows: list[Json]) -> list[Json]:
    """Return verifications, those without errors with the ones from before by a planted bug."""
    last: list[Json] = []
    mixed = []
    for row in rows:
        stale = bool(last) and not row["errors"] and world.has("listed-errors-of-before")
        mixed.append(row | {"errors": last} if stale else row)
        last = row["errors"] or last
    return mixed


def _listed(world: World, rows: list[Json]) -> list[Json]:
    """Return verifications as a list shows them, without the fields by a planted bug."""
    if not world.has("listed-errors-without-field"):
        return rows
    return [
        row
        | {
            "errors": [
                {name: value for name, value in error.items() if name != "field"}
                for error in row["errors"]
            ]
        }
        for row in rows
    ]


ROUTES: list[Route] = [
    ("POST", "/customers/{customerId}/kyc-link", link),
    ("POST", "/beneficial-owners", create_owner),
    ("POST", "/documents", upload),
    ("POST", "/verifications", submit),
    ("GET", "/verifications", index),
]
