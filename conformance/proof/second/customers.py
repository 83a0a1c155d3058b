"""Customers: who they are, what they agreed to, and how they prove their mail and phone."""

import datetime as dt
import re
import unicodedata
from typing import Any

from conformance.proof.second import internals
from conformance.proof.second.call import Call, Handler, Reply, Route, created
from conformance.proof.second.check import (
    COUNTRY,
    DATE,
    EMAIL,
    MOMENT,
    PHONE,
    WORD,
    Fault,
    Rule,
    demand,
    many,
    one_of,
    record,
    refuse,
    text,
)
from conformance.proof.second.errors import Refusal, conflict
from conformance.proof.second.money import COINS, Json
from conformance.proof.second.world import World, now, public

TERMS = {"version": "2025-06", "url": "https://second.example/terms/2025-06"}
CODE = "246810"

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
    moved = path == "businessInfo.taxId" and value is None and at(body, "businessInfo.country")
    if moved and world.has("country-unchecked-later"):
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


def status_name(customer: Json) -> str:
    """Return the member that holds the customer's status."""
    return "kybStatus" if customer["customerType"] == "BUSINESS" else "kycStatus"


def is_approved(customer: Json) -> bool:
    """Tell whether the customer is approved."""
    return bool(customer[status_name(customer)] == "APPROVED")


def needs_sca(world: World, customer: Json | None) -> bool:
    """Tell whether a customer, or the platform for None, authorizes movements of money."""
    region = (customer or {}).get("region")
    return region in EU and not (region == "HR" and world.has("croatia-outside-sca"))


def shown(world: World, customer: Json) -> Json:
    """Return a customer as answers and events show it."""
    body = public(customer)
    if not customer.get("contactVerification"):
        body.pop("contactVerification", None)
        if world.has("needless-channels-verified"):
            body["contactVerification"] = {"email": "VERIFIED", "phone": "VERIFIED"}
    if customer["customerType"] == "BUSINESS" and world.has("business-with-kyc-status"):
        body["kycStatus"] = body.pop("kybStatus")
    lines = [at(body, "address.line1"), at(body, "address.line2")]
    if all(lines) and world.has("second-line-joined"):
        body["address"] = {**body["address"], "line1": ", ".join(lines)}
        del body["address"]["line2"]
    agreed = at(body, "endUserTermsConsent.timestamp")
    if agreed and world.has("consent-in-local-time"):
        body["endUserTermsConsent"] = {
            **body["endUserTermsConsent"],
            "timestamp": _in_local_time(agreed),
        }
    made = customer["_platform_id_made"] and str(customer["platformCustomerId"])
    if made and made.startswith("second-") and world.has("platform-id-made-at-reading"):
        body["platformCustomerId"] = f"second-{world.number()}"
    return body


def _in_local_time(moment: str) -> str:
    """Return a time two hours east of UTC; one at the ends of the calendar stays as it is."""
    zone = dt.timezone(dt.timedelta(hours=2))
    try:
        return dt.datetime.fromisoformat(moment).astimezone(zone).isoformat()
    except OverflowError:
        return moment


def create(call: Call) -> Reply:
    """POST /customers."""
    call.only_platform()
    world = call.world
    body = call.json()
    if body.get("customerType") is None and world.has("type-by-default"):
        body["customerType"] = "INDIVIDUAL"
    info = body.get("businessInfo")
    if isinstance(info, dict) and "country" not in info and world.has("business-country-defaulted"):
        info["country"] = "US"
    demand(world.persona, body, record({}, needs=("customerType",)))
    check(world, body, body)
    given = {name: value for name, value in body.items() if value is not None}
    if not world.persona.refuses_unknown:
        given = {name: value for name, value in given.items() if name in MEMBERS}
    _tidy(world, given)
    same = _sharing(world, given)
    if same and world.has("shared-platform-customer-id-answers-first"):
        return created(call, shown(world, same[0]))
    _mistake(world, given)
    moment = now()
    customer: Json = {
        "id": world.new_id("Customer"),
        "platformCustomerId": f"second-{world.number()}",
        "umaAddress": f"$customer-{world.number()}@second.example",
        **given,
        "createdAt": moment,
        "updatedAt": moment,
        "_factors": list(world.persona.first_factors),
        "_wrong": 0,
        "_session": world.persona.first_session == "creation",
        "_resets": [],
        "_traits": set(),
        "_first_number": at(given, "businessInfo.registrationNumber"),
        "_first_name": given.get("fullName"),
        "_first_legal": at(given, "businessInfo.legalName"),
        "_first_members": set(given),
        "_first": dict(given),
        "_platform_id_made": "platformCustomerId" not in given,
    }
    business = given["customerType"] == "BUSINESS"
    if "platformCustomerId" not in given and _is_unnamed(world, business=business):
        customer["platformCustomerId"] = None
    customer[status_name(customer)] = "UNVERIFIED"
    if world.persona.with_both_statuses:
        customer.setdefault("kycStatus", None)
        customer.setdefault("kybStatus", None)
    if _verifies_contacts(world, customer):
        customer["contactVerification"] = dict.fromkeys(world.persona.eu_channels, "PENDING")
    world.customers[customer["id"]] = customer
    settle(world, customer)
    answer = shown(world, customer)
    if "platformCustomerId" not in given and world.has("generated-id-answered"):
        answer["platformCustomerId"] = f"second-{world.number()}"
    if business and world.has("created-business-bare"):
        answer.pop("businessInfo", None)
    _mistake_created(world, customer, answer)
    return created(call, answer)


def _tidy(world: World, given: Json) -> None:
    """Bring what a customer is made or changed with to one way of writing, where that is done."""
    if not world.persona.tidies:
        return
    for name in ("fullName", "email"):
        if isinstance(given.get(name), str):
            given[name] = unicodedata.normalize("NFC", given[name].strip())
    if isinstance(given.get("email"), str):
        given["email"] = given["email"].lower()
    codes = given.get("currencies")
    if isinstance(codes, list) and all(isinstance(code, str) for code in codes):
        given["currencies"] = sorted(codes)


def _is_unnamed(world: World, *, business: bool) -> bool:
    """Tell whether a planted bug generates no platformCustomerId for a new customer."""
    if business and world.has("business-platform-id-null"):
        return True
    return world.has("platform-id-not-generated")


def _mistake_created(world: World, customer: Json, answer: Json) -> None:
    """Spoil the answer to a creation by a planted bug."""
    waits = customer[status_name(customer)] == "UNVERIFIED"
    if waits and world.has("creation-answered-pending"):
        answer[status_name(customer)] = "PENDING"
    if "contactVerification" in answer and world.has("creation-without-channels"):
        del answer["contactVerification"]


def _verifies_contacts(world: World, customer: Json) -> bool:
    """Tell whether a new customer has to verify its mail and phone."""
    by_region = customer.get("region") in EU
    if customer["customerType"] == "BUSINESS":
        by_country = at(customer, "businessInfo.country") in EU
        if by_country != by_region and world.has("channels-by-incorporation"):
            return by_country
    return by_region


def _sharing(world: World, customer: Json) -> list[Json]:
    """Return who has the platformCustomerId of a customer, oldest first: nobody without one."""
    own = customer.get("platformCustomerId")
    return [row for row in world.customers.values() if own and row.get("platformCustomerId") == own]


def _mistake(world: World, given: Json) -> None:
    """Spoil what is given for a new customer by a planted bug, or refuse it."""
    own = given.get("platformCustomerId")
    shared = bool(_sharing(world, given))
    if shared and world.has("shared-platform-id"):
        raise conflict("There is a customer with this platformCustomerId.")
    _mistake_place(world, given)
    nameless = given["customerType"] == "INDIVIDUAL" and "fullName" not in given
    if nameless and _is_nameless_there(world) and world.has("second-nameless-refused"):
        raise conflict("There is such a customer.")
    if "-" in str(given.get("identifier")) and world.has("identifier-without-hyphens"):
        given["identifier"] = given["identifier"].replace("-", "")
    codes = _codes(world, given)
    fiat = [code for code in codes if not COINS[code].crypto]
    if len(fiat) < len(codes) and world.has("currencies-without-crypto"):
        given["currencies"] = fiat
    if shared and world.has("shared-platform-id-numbered"):
        given["platformCustomerId"] = f"{own}-{world.number()}"
    zeros = str(own).isdecimal() and str(own)[0] == "0"
    if zeros and world.has("platform-customer-id-zeros-lost"):
        given["platformCustomerId"] = str(int(str(own)))
    for stem in CATEGORIES:
        chosen = given.get(f"{stem}Categories") or []
        if len(chosen) > 1 and world.has("second-category-dropped"):
            given[f"{stem}Categories"] = chosen[:1]
    _mistake_name(world, given)
    countries = at(given, "businessInfo.countriesOfOperation") or []
    if len(countries) > 1 and world.has("one-country-of-operation"):
        given["businessInfo"] |= {"countriesOfOperation": countries[:1]}


def _mistake_place(world: World, given: Json) -> None:
    region, country = given.get("region"), at(given, "address.country")
    if region and country and region != country and world.has("region-from-address"):
        region = given["region"] = country
    home = at(given, "businessInfo.country")
    if home and region not in {None, home} and world.has("business-country-from-region"):
        given["businessInfo"] = {**given["businessInfo"], "country": region}


def _codes(world: World, given: Json) -> list[str]:
    """Return the currencies of a new customer, which a planted bug has not looked at before."""
    codes: list[str] = given.get("currencies") or []
    if len(codes) > 1 and world.has("second-currency-unchecked"):
        codes = given["currencies"] = [code for code in COINS if code in codes]
    return codes


def _mistake_name(world: World, given: Json) -> None:
    name = given.get("fullName") or ""
    if not name.isascii() and world.has("names-without-accents"):
        plain = unicodedata.normalize("NFD", name)
        given["fullName"] = "".join(sign for sign in plain if not unicodedata.combining(sign))


def _is_nameless_there(world: World) -> bool:
    rows = world.customers.values()
    return any(row["customerType"] == "INDIVIDUAL" and not row.get("fullName") for row in rows)


def settle(world: World, customer: Json) -> None:
    """Give a new customer the status and the accounts that it starts with."""
    if world.persona.provisioned_at == "creation":
        internals.provision(world, customer)
    skips = f"skip:{customer['platformCustomerId']}" in world.switches
    if world.persona.regulated:
        decide(world, customer, "APPROVED")
    elif skips and customer["customerType"] == "INDIVIDUAL":
        suffix = suffix_of(world, customer)
        if suffix not in {"001", "003"}:
            begin_review(world, customer)
            decide(world, customer, "REJECTED" if suffix == "002" else "APPROVED")


def suffix_of(world: World, customer: Json) -> str:
    """Return the last three characters of what decides a sandbox review."""
    if customer["customerType"] == "BUSINESS":
        number, first = at(customer, "businessInfo.registrationNumber"), customer["_first_number"]
        if number != first and world.has("suffix-of-creation"):
            number = first
        return str(number or "")[-3:]
    names = [customer.get("fullName") or ""]
    names += [
        owner["personalInfo"].get("lastName") or ""
        for owner in world.owners.values()
        if owner["customerId"] == customer["id"]
    ]
    return next((name[-3:] for name in names if name[-3:].isdigit()), "")


def begin_review(
    world: World, customer: Json, *, told: bool = True, submitted: bool = False
) -> None:
    """Move a customer to PENDING, with its event; do nothing where it is there or decided.

    It was `submitted` by the interface, and not by the hosted flow.
    """
    member = status_name(customer)
    again = submitted and customer[member] == "PENDING" and world.has("resubmission-told-again")
    if customer[member] not in {"UNVERIFIED", "HOLD"} and not again:
        return
    alien = submitted and member == "kybStatus" and world.has("kyb-submission-moves-kyc-status")
    customer["kycStatus" if alien else member] = "PENDING"
    customer["updatedAt"] = now()
    if world.has("pending-account-pays"):
        # Accounts may be set up by then; without one there is none to pay from.
        internals.provision(world, customer)
    data = _told(world, customer)
    if member == "kycStatus" and world.has("pending-event-unverified"):
        data[member] = "UNVERIFIED"
    kind = _kind(customer)
    if kind == "KYB" and submitted and world.has("kyb-pending-as-kyc"):
        kind = "KYC"
    if told and not world.has("no-pending-event"):
        world.emit(f"CUSTOMER.{kind}_PENDING", data)


def decide(world: World, customer: Json, decision: str, *, provides: bool = True) -> None:
    """End the review of a customer, unless it has ended; approval provides its accounts."""
    member = status_name(customer)
    if customer[member] in {"APPROVED", "REJECTED"}:
        return
    customer[member] = decision
    customer["updatedAt"] = now()
    if decision == "APPROVED" and provides:
        internals.provision(world, customer)
    if decision in {"APPROVED", "REJECTED"}:
        kind = _kind(customer)
        if decision == "REJECTED" and _is_untold(world, kind):
            return
        if kind == "KYB" and world.has("kyc-for-business"):
            kind = "KYC"
        if decision == "REJECTED" and kind == "KYB" and world.has("business-rejection-as-kyc"):
            kind = "KYC"
        told = _told(world, _namesake(world, customer))
        if (member, decision) == ("kybStatus", "APPROVED") and world.has("kyb-event-old-status"):
            told[member] = "PENDING"
        if kind == "KYC" and world.has("kyc-event-old-status"):
            told["kycStatus"] = "PENDING"
        world.emit(f"CUSTOMER.{kind}_{decision}", told)


def _is_untold(world: World, kind: str) -> bool:
    """Tell whether a planted bug keeps the rejection of a customer from being told."""
    if kind == "KYC":
        return world.has("rejection-untold")
    return world.has("business-rejection-untold")


def _namesake(world: World, customer: Json) -> Json:
    """Return whom events show: by a planted bug the first one with the same platformCustomerId."""
    first = next(iter(_sharing(world, customer)), customer)
    return first if first is not customer and world.has("event-by-platform-id") else customer


def _told(world: World, customer: Json) -> Json:
    """Return a customer as events show it."""
    body = shown(world, customer)
    if world.has("customer-events-bare-id"):
        body["id"] = customer["id"].partition(":")[2]
    if body.get("fullName") != customer["_first_name"] and world.has("events-of-first-name"):
        body["fullName"] = customer["_first_name"]
    if "contactVerification" in body and world.has("review-events-without-channels"):
        del body["contactVerification"]
    legal = customer["_first_legal"]
    renamed = "businessInfo" in body and body["businessInfo"].get("legalName") != legal
    if renamed and world.has("events-of-first-legal-name"):
        body["businessInfo"] = {**body["businessInfo"], "legalName": legal}
    if "businessInfo" in body and world.has("business-event-bare"):
        del body["businessInfo"]
    return body


def _kind(customer: Json) -> str:
    return status_name(customer)[:3].upper()


def of(call: Call) -> Json:
    """Return the customer of the path.

    Raises:
        Refusal: 404 where there is none.
    """
    customer = call.world.find(
        call.world.customers, call.params["customerId"], "CUSTOMER_NOT_FOUND"
    )
    call.concerns(customer["id"])
    return customer


def read(call: Call) -> Reply:
    """GET /customers/{customerId}."""
    _parse(call)
    customer = of(call)
    answer = shown(call.world, customer)
    _mistake_of_status(call.world, customer, answer)
    approved = customer["customerType"] == "BUSINESS" and is_approved(customer)
    if approved and call.world.has("approved-business-bare"):
        del answer["businessInfo"]
    home = at(answer, "businessInfo.country")
    if home and "region" in answer and call.world.has("business-region-as-country"):
        answer["region"] = home
    _mistake_of_place(call.world, answer)
    old = {name: customer["_first"].get(name) for name in ("email", "phoneNumber")}
    moved = any(value and answer.get(name) != value for name, value in old.items())
    if moved and call.world.has("read-first-contacts"):
        answer |= {name: value for name, value in old.items() if value}
    birth = answer.get("birthDate") or ""
    if "-0" in birth and call.world.has("birth-date-unpadded"):
        answer["birthDate"] = birth.replace("-0", "-")
    channels = answer.get("contactVerification") or {}
    if "VERIFIED" in channels.values() and call.world.has("verified-channel-left-out"):
        waiting = {name: state for name, state in channels.items() if state != "VERIFIED"}
        answer["contactVerification"] = waiting
        if not waiting:
            del answer["contactVerification"]
    return 200, answer


def _parse(call: Call) -> None:
    """Fail, by a planted bug, at the id of a customer who is not there and that is no UUID."""
    key = call.params["customerId"]
    is_uuid = re.fullmatch(r"Customer:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", key)
    if key not in call.world.customers and not is_uuid and call.world.has("odd-id-crashes"):
        raise ValueError


def _mistake_of_place(world: World, answer: Json) -> None:
    """Spoil by a planted bug where a customer who is read is from."""
    home = at(answer, "businessInfo.country")
    abroad = home and at(answer, "address.country") not in {None, home}
    if abroad and world.has("business-address-abroad"):
        answer["address"] = {**answer["address"], "country": home}
    if answer.get("nationality") and "region" in answer and world.has("region-as-nationality"):
        answer["region"] = answer["nationality"]


def _mistake_of_status(world: World, customer: Json, answer: Json) -> None:
    """Spoil the status of a customer that is read by a planted bug."""
    member = status_name(customer)
    if customer[member] == "PENDING":
        customer["_read_pending"] = True
    old = "_read_pending" in customer and customer[member] != "PENDING"
    if old and world.has("decision-not-polled"):
        answer[member] = "PENDING"
    if (member, customer[member]) == ("kybStatus", "REJECTED") and world.has("kyb-declined"):
        answer[member] = "DECLINED"
    if (member, customer[member]) == ("kybStatus", "HOLD") and world.has(
        "held-business-as-pending"
    ):
        answer[member] = "PENDING"
    if member == "kybStatus" and "currencies" in answer and world.has("business-currencies-unread"):
        del answer["currencies"]
    if member == "kybStatus" and world.has("business-read-with-kyc-status"):
        answer["kycStatus"] = answer.pop("kybStatus")


def index(call: Call) -> Reply:
    """GET /customers."""
    call.only_platform()
    return call.page([shown(call.world, row) for row in call.world.customers.values()])


def change(call: Call) -> Reply:
    """PATCH /customers/{customerId}."""
    call.only_platform()
    world, customer = call.world, _changing(call)
    body = call.json()
    _tidy(world, body)
    whole = _changed(world, customer, body)
    if "customerType" in body and body["customerType"] != customer["customerType"]:
        demand(world.persona, body, record({"customerType": one_of(customer["customerType"])}))
    check(world, body, whole)
    _ask_again(world, customer, whole)
    _mistake_of_change(world, customer, body, whole)
    _shift(world, customer, body, whole)
    _provide_again(world, whole)
    old_name, old_info = at(customer, "businessInfo.legalName"), customer.get("businessInfo")
    before = shown(world, customer)
    customer.clear()
    customer.update(whole)
    customer["updatedAt"] = now()
    if "fullName" in body:
        _rename(world, customer)
    renamed = at(customer, "businessInfo.legalName") != old_name
    settled = customer[status_name(customer)] in {"APPROVED", "REJECTED"}
    if renamed and settled and world.has("legal-name-reopens"):
        customer[status_name(customer)] = "PENDING"
    answer = shown(world, customer)
    if old_info != answer.get("businessInfo") and world.has("change-answer-old-business"):
        answer["businessInfo"] = old_info
    if customer["customerType"] == "BUSINESS" and world.has("changed-business-with-kyc-status"):
        answer["kycStatus"] = answer.pop("kybStatus")
    if settled and world.has("change-answered-unverified"):
        answer[status_name(customer)] = "UNVERIFIED"
    if "contactVerification" in answer and world.has("channels-left-out"):
        del answer["contactVerification"]
    if old_info and body.get("businessInfo") and world.has("changed-business-answer-old"):
        answer["businessInfo"] = old_info
    if customer.get("_region_told"):
        answer["region"] = customer.pop("_region_told")
    world.tell_more("CUSTOMER.UPDATED", answer)
    return 200, _answered(world, before, answer)


def _changing(call: Call) -> Json:
    """Return the customer whom a change is for: by a planted bug the one who was created last."""
    named = of(call)
    newest = list(call.world.customers.values())[-1]
    other = newest is not named and call.world.has("change-of-newest-customer")
    return newest if other else named


def _ask_again(world: World, customer: Json, whole: Json) -> None:
    """Let a customer verify a channel again whose mail or phone is another one, where it has to."""
    if world.persona.changed_contact == "kept":
        return
    names = {"email": "email", "phone": "phoneNumber"}
    whole["contactVerification"] = {
        channel: status if whole.get(names[channel]) == customer.get(names[channel]) else "PENDING"
        for channel, status in (customer.get("contactVerification") or {}).items()
    }


def _answered(world: World, before: Json, answer: Json) -> Json:
    """Return the answer to a change, or by a planted bug the customer as it was `before`."""
    moved = any(answer[name] != before.get(name) for name in answer if name != "updatedAt")
    return before if moved and world.has("change-answered-old") else answer


def _rename(world: World, customer: Json) -> None:
    """Note that a customer was renamed, and change its status by a planted bug."""
    member = status_name(customer)
    customer["_renamed"] = True
    if world.has("rename-reopens"):
        customer[member] = "UNVERIFIED"
    if customer[member] == "REJECTED" and world.has("rename-approves"):
        customer[member] = "APPROVED"
        internals.provision(world, customer)
    bad = suffix_of(world, customer) == "002" and customer["customerType"] == "INDIVIDUAL"
    if bad and customer[member] == "APPROVED" and world.has("rename-rejects"):
        customer[member] = "REJECTED"


def _mistake_of_change(world: World, customer: Json, body: Json, whole: Json) -> None:
    """Spoil what a change makes of a customer by a planted bug."""
    before = customer.get("currencies") or []
    lost = body.get("currencies") is not None and set(before) - set(body["currencies"])
    if lost and world.has("currencies-appended"):
        whole["currencies"] = list(dict.fromkeys([*before, *body["currencies"]]))
    if body.get("birthDate") and world.has("birth-date-with-time"):
        whole["birthDate"] = f"{body['birthDate']}T00:00:00Z"
    phone = customer.get("phoneNumber")
    changed = phone and body.get("phoneNumber") not in {None, phone}
    if changed and customer["customerType"] == "BUSINESS" and world.has("business-phone-stays"):
        whole["phoneNumber"] = phone
    if body.get("endUserTermsConsent") and not customer.get("endUserTermsConsent"):
        whole["_consented_later"] = True
    consented = customer.get("endUserTermsConsent") and "endUserTermsConsent" not in body
    if consented and world.has("change-forgets-consent"):
        del whole["endUserTermsConsent"]
    other_currencies = body.get("currencies") not in (None, before)
    if other_currencies and is_approved(customer) and world.has("currencies-fixed-by-approval"):
        whole["currencies"] = before
    _drop_by_bugs(world, customer, body, whole)
    number = customer.get("identifier")
    renumbered = number and body.get("idType") and body.get("identifier") not in {None, number}
    if renumbered and world.has("identifier-kept"):
        whole["identifier"] = number
    channels = customer.get("contactVerification") or {}
    business = customer["customerType"] == "BUSINESS"
    known = "VERIFIED" in channels.values()
    if known and business and world.has("business-change-unverifies"):
        whole["contactVerification"] = dict.fromkeys(channels, "PENDING")
    other = not {"email", "phoneNumber"} & set(body)
    if other and "VERIFIED" in channels.values() and world.has("change-unverifies"):
        whole["contactVerification"] = dict.fromkeys(channels, "PENDING")


def _drop_by_bugs(world: World, customer: Json, body: Json, whole: Json) -> None:
    """Take away, by a planted bug, what a change does not name, or leave as it was what it does."""
    business = customer["customerType"] == "BUSINESS"
    if business and body.get("address") and world.has("business-address-stays"):
        whole["address"] = customer.get("address")
    if business and body.get("currencies") and world.has("business-currencies-stay"):
        whole["currencies"] = customer.get("currencies")
    if body.get("currencies") and world.has("currencies-patch-ignored"):
        whole["currencies"] = customer.get("currencies")
    if set(body) == {"fullName"} and world.has("rename-drops-contacts"):
        for name in ("email", "phoneNumber"):
            whole.pop(name, None)
    if "currencies" not in body and world.has("change-drops-currencies"):
        whole["currencies"] = []
    if body.get("nationality") and customer.get("nationality") and world.has("nationality-stays"):
        whole["nationality"] = customer["nationality"]
    if customer.get("email") and "email" not in body and world.has("change-drops-contacts"):
        del whole["email"]
    funds = customer.get("sourceOfFundsCategories") and "sourceOfFundsCategories" not in body
    if funds and world.has("change-drops-diligence"):
        del whole["sourceOfFundsCategories"]


def _shift(world: World, customer: Json, body: Json, whole: Json) -> None:
    """Spoil by a planted bug what a change leaves alone, or the region that it names."""
    region = customer.get("region")
    if region and body.get("region") not in {None, region} and world.has("region-change-answered"):
        whole |= {"region": region, "_region_told": body["region"]}
    born = customer.get("birthDate")
    if born and "birthDate" not in body and world.has("change-shifts-birth-date"):
        day = dt.date.fromisoformat(born) - dt.timedelta(days=1)
        whole["birthDate"] = day.isoformat()
    if body.get("birthDate") and world.has("patched-birth-date-one-day-early"):
        day = dt.date.fromisoformat(body["birthDate"]) - dt.timedelta(days=1)
        whole["birthDate"] = day.isoformat()
    own = "platformCustomerId" not in body and customer["_platform_id_made"]
    if own and world.has("change-renews-platform-id"):
        whole["platformCustomerId"] = f"second-{world.number()}"


def _provide_again(world: World, customer: Json) -> None:
    """Open the accounts of an approved customer who is changed again, by a planted bug."""
    if is_approved(customer) and world.has("change-provisions-again"):
        internals.provision(world, customer, again=True)


def _changed(world: World, customer: Json, body: Json) -> Json:
    """Return what a change makes of a customer: by a planted bug what it names, and no more."""
    whole = merged(customer, body)
    kept = {*body, "customerType", "platformCustomerId", "umaAddress"}
    unnamed = [name for name in MEMBERS if name in whole and name not in kept]
    if unnamed and world.has("change-replaces-all"):
        for name in unnamed:
            del whole[name]
    return whole


def merged(customer: Json, body: Json) -> Json:
    """Return the customer with the members of a change; objects are merged, null takes away."""
    whole = dict(customer)
    for name, value in body.items():
        old = whole.get(name)
        if name not in MEMBERS:
            continue
        if value is None:
            whole.pop(name, None)
        elif isinstance(value, dict) and isinstance(old, dict):
            whole[name] = {**old, **value}
        else:
            whole[name] = value
    return whole


def terms(call: Call) -> Reply:
    """GET /customers/end-user-terms."""
    if call.world.has("terms-as-customer"):
        call.world.find(call.world.customers, "end-user-terms", "CUSTOMER_NOT_FOUND")
    version = "2024-11" if call.world.has("old-terms-told") else TERMS["version"]
    url = TERMS["url"]
    if call.world.has("terms-url-without-host"):
        url = url.removeprefix("https://second.example")
    return 200, {"termsUrl": url, "termsVersion": version}


def _channel(call: Call, channel: str) -> Json:
    customer = of(call)
    if channel not in (customer.get("contactVerification") or {}):
        if call.world.has("any-channel"):
            return customer
        if channel == "phone" and call.world.has("needless-phone-unprocessable"):
            raise Refusal("CONFLICT", "This channel needs no verification.", status=422)
        raise conflict("This channel needs no verification.")
    return customer


def send_code(channel: str) -> Handler:
    """Return the handler that sends the one-time code of a channel."""

    def handler(call: Call) -> Reply:
        if channel == "phone" and _is_needless(call) and call.world.has("needless-phone-sent"):
            return _contact_reply(call, {"status": "SENT"})
        customer = _channel(call, channel)
        if f"_sent_{channel}" in customer and call.world.has("no-resend"):
            raise conflict("A code was sent.")
        _refuse_to_send(call.world, customer, channel)
        customer[f"_resent_{channel}"] = f"_sent_{channel}" in customer
        customer[f"_sent_{channel}"] = True
        customer["_last_sent"] = channel
        if channel == "phone" and call.world.has("phone-verified-by-sending"):
            customer["contactVerification"][channel] = "VERIFIED"
        return _contact_reply(call, {"status": "SENT"})

    return handler


def _is_needless(call: Call) -> bool:
    """Tell whether the phone of the customer of the path needs no verification."""
    return "phone" not in (of(call).get("contactVerification") or {})


def _refuse_to_send(world: World, customer: Json, channel: str) -> None:
    """Refuse to send a one-time code by a planted bug."""
    again = channel == "email" and "_sent_email" in customer
    if again and world.has("email-not-resent"):
        raise conflict("A code was sent.")
    if customer.get(f"_guessed_{channel}") and world.has("no-resend-after-guess"):
        raise conflict("A code was sent.")
    business = customer["customerType"] == "BUSINESS"
    if business and channel == "phone" and world.has("business-phone-needless"):
        raise conflict("This channel needs no verification.")
    states = customer.get("contactVerification") or {}
    by_mail = channel == "phone" and states.get("email") == "VERIFIED"
    if by_mail and world.has("phone-needless-after-email"):
        raise conflict("This channel needs no verification.")


def _guess(world: World, customer: Json, channel: str) -> None:
    """Note a wrong code, which undoes the verification by a planted bug."""
    customer[f"_guessed_{channel}"] = True
    states = customer.get("contactVerification") or {}
    if states.get(channel) == "VERIFIED" and world.has("late-guess-unverifies"):
        states[channel] = "PENDING"


def confirm_code(channel: str) -> Handler:
    """Return the handler that compares a one-time code."""

    def handler(call: Call) -> Reply:
        customer = _channel(call, channel)
        body = call.json(record({"code": text(most=12)}, needs=("code",)))
        unsent = f"_sent_{channel}" not in customer
        if unsent and not (channel == "phone" and call.world.has("phone-code-valid-unsent")):
            raise Refusal("INVALID_INPUT", "No code was sent.", details=_code_details())
        wrong = body["code"] != CODE
        if wrong and channel == "phone" and call.world.has("phone-any-code"):
            wrong = False
        business = customer["customerType"] == "BUSINESS"
        if wrong and business and call.world.has("business-any-code"):
            wrong = False
        if wrong and not call.world.has("any-contact-code"):
            _guess(call.world, customer, channel)
            raise Refusal("INVALID_INPUT", "The code is wrong.", details=_code_details())
        other = customer.get("_last_sent") not in {None, channel}
        if other and call.world.has("one-code-slot"):
            raise Refusal("INVALID_INPUT", "The code is wrong.", details=_code_details())
        if customer.get(f"_resent_{channel}") and call.world.has("resent-code-refused"):
            raise Refusal("INVALID_INPUT", "The code is wrong.", details=_code_details())
        _confirm(call.world, customer, channel)
        if call.world.has("one-code-both-channels"):
            customer["contactVerification"] = {"email": "VERIFIED", "phone": "VERIFIED"}
        customer["updatedAt"] = now()
        answer = shown(call.world, customer)
        stays = answer["contactVerification"].get(channel, "VERIFIED") != "VERIFIED"
        if stays and channel == "email":
            answer["contactVerification"] = {**answer["contactVerification"], channel: "VERIFIED"}
        return _contact_reply(call, answer)

    return handler


def _confirm(world: World, customer: Json, channel: str) -> None:
    if channel == "email" and world.has("email-answered-verified"):
        return
    business = customer["customerType"] == "BUSINESS"
    if channel == "email" and business and world.has("business-email-pending"):
        return
    states = customer["contactVerification"]
    waits = channel == "phone" and states.get("email") == "PENDING"
    if waits and world.has("phone-after-email"):
        raise conflict("The email has to be verified first.")
    if channel == "email" and world.has("confirmed-email-left-out"):
        del states["email"]
        return
    if channel == "email":
        _verify_namesakes(world, customer)
    if channel == "phone" and states.get("email") == "VERIFIED" and world.has("phone-resets-email"):
        states["email"] = "PENDING"
    if channel == "phone" and world.has("phone-verifies-email"):
        channel = "email"
    if channel == "phone" and world.has("phone-confirm-marks-all-channels"):
        customer["contactVerification"] = dict.fromkeys(states, "VERIFIED")
    customer["contactVerification"][channel] = "VERIFIED"
    if channel == "email" and "phone" in states and world.has("email-verifies-phone"):
        states["phone"] = "VERIFIED"


def _verify_namesakes(world: World, customer: Json) -> None:
    """Verify, by a planted bug, the email of everybody who has the same one."""
    others = [
        row["contactVerification"]
        for row in world.customers.values()
        if row is not customer
        and row.get("email") == customer.get("email")
        and "email" in (row.get("contactVerification") or {})
    ]
    if others and world.has("email-verified-by-address"):
        for channels in others:
            channels["email"] = "VERIFIED"


def _contact_reply(call: Call, body: Json) -> Reply:
    return (200, body) if call.world.persona.with_contact_body else (204, None)


def _code_details() -> Json:
    return {"errors": [{"field": "code", "message": "is wrong"}]}


ROUTES: list[Route] = [
    ("POST", "/customers", create),
    ("GET", "/customers", index),
    ("GET", "/customers/end-user-terms", terms),
    ("GET", "/customers/{customerId}", read),
    ("PATCH", "/customers/{customerId}", change),
    ("POST", "/customers/{customerId}/verify-email", send_code("email")),
    ("POST", "/customers/{customerId}/verify-email/confirm", confirm_code("email")),
    ("POST", "/customers/{customerId}/verify-phone", send_code("phone")),
    ("POST", "/customers/{customerId}/verify-phone/confirm", confirm_code("phone")),
]
