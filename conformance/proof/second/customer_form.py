"""What customers are told with: their members, and what is wrong with them."""

import re
from typing import Any

from conformance.proof.second.check import (
    COUNTRY,
    DATE,
    EMAIL,
    MOMENT,
    PHONE,
    WORD,
    Fault,
    Rule,
    many,
    one_of,
    record,
    refuse,
    text,
)
from conformance.proof.second.errors import Refusal
from conformance.proof.second.money import COINS, Json
from conformance.proof.second.world import World

TERMS = {"version": "2025-06", "url": "https://second.example/terms/2025-06"}
# The EU, whose customers verify mail and phone, and authorize what they pay.
EU = frozenset(
    [
        "AT",
        "BE",
        "BG",
        "HR",
        "CY",
        "CZ",
        "DE",
        "DK",
        "EE",
        "ES",
        "FI",
        "FR",
        "GR",
        "HU",
        "IE",
        "IT",
        "LT",
        "LU",
        "LV",
        "MT",
        "NL",
        "PL",
        "PT",
        "RO",
        "SE",
        "SI",
        "SK",
        "EU",
    ]
)
TAX_IDS = {
    "US": r"\d{2}-?\d{7}",
    "GB": r"\d{10}",
    "DE": r"\d{2,5}/?\d{3,4}/?\d{3,5}|DE\d{9}",
    "FR": r"[0-9A-Z]{9,14}|FR[0-9A-Z]{2}\d{9}",
    "MX": r"[A-ZÑ&]{3,4}\d{6}[A-Z0-9]{3}",
    "BR": r"\d{14}|\d{2}\.\d{3}\.\d{3}/\d{4}-\d{2}",
}
OTHER_TAX_ID = r"(?=.*\d)[A-Za-z0-9./ -]{4,24}"
ADDRESS = record(
    {
        "line1": text(most=200),
        "line2": text(most=200, least=0),
        "city": text(most=100),
        "state": text(most=100, least=0),
        "postalCode": text(most=20),
        "country": COUNTRY,
    },
    closed=False,
)
BUSINESS = record(
    {
        "legalName": text(most=300),
        "doingBusinessAs": text(most=300),
        "country": COUNTRY,
        "taxId": text(most=40),
        "incorporatedOn": DATE,
        "registrationNumber": text(most=60),
        "entityType": text(most=60),
        "businessType": text(most=80),
        "primaryContactFirstName": text(most=100),
        "primaryContactLastName": text(most=100),
        "countriesOfOperation": many(COUNTRY),
        "purposeOfAccount": text(most=200),
        "sourceOfFunds": text(most=200),
        "address": ADDRESS,
    }
)
CONSENT = record(
    {
        "timestamp": MOMENT,
        "ip": text(r"[0-9a-fA-F.:]+", most=45),
        "version": text(most=40),
        "method": text(most=60),
    },
    needs=("version",),
)
CATEGORIES = ("sourceOfFunds", "sourceOfWealth")
MEMBERS: dict[str, Rule] = {
    "customerType": one_of("INDIVIDUAL", "BUSINESS"),
    "platformCustomerId": text(most=255),
    "umaAddress": text(r"\$[^@\s]+@[^@\s]+", most=320),
    "region": text(most=40),
    "currencies": many(one_of(*COINS)),
    "fullName": text(most=300),
    "birthDate": DATE,
    "nationality": COUNTRY,
    "address": ADDRESS,
    "email": EMAIL,
    "phoneNumber": PHONE,
    "idType": one_of("SSN", "ITIN"),
    "identifier": text(most=60),
    "countryOfIssuance": COUNTRY,
    "businessInfo": BUSINESS,
    "sourceOfFundsCategories": many(WORD),
    "sourceOfFundsOtherDescription": text(most=500),
    "sourceOfWealthCategories": many(WORD),
    "sourceOfWealthOtherDescription": text(most=500),
    "purposeOfAccount": text(most=200),
    "purposeOfAccountOtherDescription": text(most=500),
    "expectedMonthlyTransactionCount": text(most=60),
    "expectedMonthlyTransactionVolume": text(most=60),
    "annualIncomeRange": text(most=60),
    "netWorthRange": text(most=60),
    "pepStatus": text(most=60),
    "endUserTermsConsent": CONSENT,
}


def _rule(world: World) -> Rule:
    return record(MEMBERS, closed=world.persona.refuses_unknown)


def _required(customer: Json) -> tuple[str, ...]:
    if customer.get("customerType") == "BUSINESS":
        return tuple(
            f"businessInfo.{name}" for name in ("legalName", "country", "taxId", "incorporatedOn")
        )
    return ()


def at(body: Any, path: str) -> Any:
    """Return the value at a dotted path of JSON, or None."""
    for name in path.split("."):
        body = body.get(name) if isinstance(body, dict) else None
    return body


def lacks_a_name(world: World, name: str) -> bool:
    """Tell whether a full name has no given or no family name."""
    if len(name.split()) > 1 or world.has("single-word-name"):
        return False
    return len(name.split(" ")) < 2 or not world.has("trailing-space-name")


def _name_faults(world: World, customer: Json, faults: list[Fault]) -> None:
    name = customer.get("fullName")
    if world.persona.single_word == "submission" or not isinstance(name, str):
        return
    if lacks_a_name(world, name):
        faults.append(("fullName", "text", "must have a given and a family name"))


def identity_faults(world: World, person: Json, faults: list[Fault], *, stem: str = "") -> None:
    """Find an identification number that is not of its type; `stem` comes before its name."""
    kind, value = person.get("idType"), person.get("identifier")
    if kind == "ITIN" and not stem and world.has("itin-refused"):
        faults.append(("idType", "select", "must be SSN"))
    pattern = r"9\d\d-?\d\d-?\d{4}" if kind == "ITIN" else r"\d{3}-\d{2}-\d{4}"
    american = "US" in {person.get("nationality"), at(person, "address.country")}
    if kind == "ITIN" and stem and american and world.has("owner-itin-refused"):
        faults.append((f"{stem}idType", "select", "must be SSN"))
    if value is None or kind not in {"SSN", "ITIN"} or re.fullmatch(pattern, str(value)):
        return
    within = kind == "SSN" and re.search(pattern, str(value))
    if within and world.has("ssn-pattern-unanchored"):
        return
    bare = kind == "SSN" and re.fullmatch(r"\d{9}", str(value))
    if bare and not stem and world.has("customer-ssn-without-hyphens"):
        return
    if not (bare and world.has("ssn-without-hyphens")):
        faults.append((f"{stem}identifier", "text", f"is no {kind}"))


def _other_faults(world: World, customer: Json, faults: list[Fault]) -> None:
    for stem in CATEGORIES:
        other = f"{stem}OtherDescription"
        chosen = customer.get(f"{stem}Categories") or []
        if "OTHER" not in chosen or customer.get(other):
            continue
        if stem == "sourceOfWealth" and world.has("wealth-other-free"):
            continue
        if len(chosen) > 1 and world.has("other-beside-others"):
            continue
        if chosen[0] == "OTHER" or not world.has("other-among-others"):
            faults.append((other, "text", "is required with OTHER"))


def _business_faults(world: World, customer: Json, faults: list[Fault]) -> None:
    info = customer.get("businessInfo") or {}
    country, tax = info.get("country"), info.get("taxId")
    pattern = TAX_IDS.get(str(country), OTHER_TAX_ID)
    if tax and country not in {None, "US"} and world.has("tax-id-of-american-form"):
        pattern = TAX_IDS["US"]
    if not tax or not country or re.fullmatch(pattern, tax):
        return
    if not world.has("tax-id-unchecked"):
        faults.append(("businessInfo.taxId", "text", f"is no tax id of {country}"))


def faults_of(world: World, customer: Json) -> list[Fault]:
    """Return what is wrong with a customer as a whole, after each member was looked at."""
    faults: list[Fault] = []
    missing = [path for path in _required(customer) if at(customer, path) is None]
    if missing and not customer.get("businessInfo") and world.has("business-without-info"):
        missing = []
    legal = "businessInfo.legalName"
    if legal in missing and customer.get("fullName") and world.has("company-by-full-name"):
        missing.remove(legal)
    date = "businessInfo.incorporatedOn"
    if date in missing and world.has("incorporation-date-optional"):
        missing.remove(date)
    faults += [(path, "text", "is required") for path in missing]
    bare = customer.get("customerType") == "BUSINESS" and not customer.get("currencies")
    if bare and "id" not in customer and world.has("business-needs-currencies"):
        faults.append(("currencies", "text", "is required"))
    nameless = customer.get("customerType") == "INDIVIDUAL" and customer.get("fullName") is None
    if nameless and "id" not in customer and world.has("individual-needs-full-name"):
        faults.append(("fullName", "text", "is required"))
    silent = customer.get("phoneNumber") and not customer.get("email")
    if silent and "id" not in customer and world.has("phone-demands-email"):
        faults.append(("email", "email", "is required with phoneNumber"))
    if world.persona.region_demands == "creation" and customer.get("region") in EU:
        faults += [
            (name, "text", "is required in this region")
            for name in missed_contacts(world, customer)
        ]
    _name_faults(world, customer, faults)
    identity_faults(world, customer, faults)
    _other_faults(world, customer, faults)
    _business_faults(world, customer, faults)
    return faults


def missed_contacts(world: World, customer: Json) -> list[str]:
    """Return the contacts that a customer in the EU has to tell, and did not."""
    missed = [name for name in ("email", "phoneNumber") if not customer.get(name)]
    business = customer.get("customerType") == "BUSINESS"
    if missed and business and world.has("business-without-contacts"):
        return []
    return missed


def check(world: World, body: Any, customer: Json) -> None:
    """Hold a request to its rules, and the customer that it would make to those of a whole.

    Raises:
        Refusal: with every fault of both.
    """
    faults: list[Fault] = []
    _rule(world)(body, "", faults)
    if not any(fault[0] in {"businessInfo", "customerType"} for fault in faults):
        seen = {fault[0] for fault in faults}
        faults += [fault for fault in _whole(world, customer, faults) if fault[0] not in seen]
    faults = [fault for fault in faults if not _is_missed(world, body, fault[0])]
    if customer is not body:
        faults = [fault for fault in faults if not _is_missed_of_change(world, body, fault[0])]
    if len(faults) > 1 and world.has("first-fault-only"):
        faults = faults[:1]
    if len(faults) > 1 and customer is not body and world.has("first-fault-of-change-only"):
        faults = faults[:1]
    refuse(world.persona, faults)
    version = at(body, "endUserTermsConsent.version")
    later = customer is not body and version != TERMS["version"]
    if version and later and world.has("any-terms-version-later"):
        return
    if version and version != TERMS["version"] and not world.has("any-terms-version"):
        raise Refusal("END_USER_TERMS_VERSION_NOT_FOUND", "No such version of terms.", status=400)


def _is_missed(world: World, body: Json, path: str) -> bool:
    """Tell whether a planted bug keeps the fault at a path from being seen."""
    value = at(body, path)
    later = path.startswith("currencies.") and path != "currencies.0"
    if later and world.has("second-currency-unchecked"):
        return True
    if path == "idType" and value == "PASSPORT" and world.has("idtype-passport-accepted"):
        return True
    dated = re.fullmatch(r"\d{4}-\d\d-\d\d", str(value))
    if path == "businessInfo.incorporatedOn" and dated and world.has("incorporated-on-no-day"):
        return True
    if path == "businessInfo.incorporatedOn" and isinstance(value, str) and value.strip():
        return world.has("incorporated-on-any")
    if path == "address.country" and isinstance(value, str) and re.fullmatch("[A-Z]{3}", value):
        return world.has("alpha-3-address")
    alone = path == "identifier" and isinstance(value, str) and "idType" not in body
    return alone and world.has("identifier-alone")


def _is_missed_of_change(world: World, body: Json, path: str) -> bool:
    """Tell whether a planted bug keeps the fault at a path of a change from being seen."""
    value = at(body, path)
    if path == "fullName" and isinstance(value, str) and 0 < len(value) <= 300:
        return world.has("single-word-rename")
    if path == "businessInfo.taxId" and isinstance(value, str) and 0 < len(value) <= 40:
        return world.has("tax-id-unchecked-later")
    bare = path == "identifier" and isinstance(value, str) and re.fullmatch(r"\d{9}", value)
    if bare and world.has("changed-ssn-without-hyphens"):
        return True
    other = path == "sourceOfFundsOtherDescription" and value is None
    if other and world.has("funds-other-free-later"):
        return True
    named = path == "nationality" and isinstance(value, str)
    return named and world.has("nationality-of-any-kind")


def _whole(world: World, customer: Json, faults: list[Fault]) -> list[Fault]:
    """Leave out members of a wrong type, of which nothing more can be said."""
    wrong = {fault[0].partition(".")[0] for fault in faults}
    rest = {name: value for name, value in customer.items() if name not in wrong}
    if "businessInfo" in wrong:
        info = customer.get("businessInfo") or {}
        seen = {fault[0].removeprefix("businessInfo.") for fault in faults}
        rest["businessInfo"] = {name: value for name, value in info.items() if name not in seen}
    return faults_of(world, rest)
