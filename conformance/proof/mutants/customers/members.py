"""Mutants of what a customer shows."""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import Any

from conformance.proof.kit.builders import Json, edited
from conformance.proof.kit.edits import Edit, put, replaced, shows, turned, where, without
from conformance.proof.kit.members import FORMLESS_ID, Member, declare_members
from conformance.proof.kit.tables import with_row
from conformance.proof.mutant import declare
from conformance.proof.mutants.customers.toolkit import INFO, shown
from conformance.reference import rules
from conformance.reference.customers import customers, onboarding

# --- What a customer shows ------------------------------------------------------------------


_NO_TEXT = {"number": 17, "object": {"value": "US"}}


_NO_LIST = {"text": "USD", "objects": [{"code": "USD"}]}


_NO_OBJECT = {"text": "12 Harbor Street", "list": ["12 Harbor Street"]}


_NO_CODE = {"number": 840, "alpha-3": "USA", "name": "United States"}


_NO_DATE = {"number": 479606400, "dots": "14.03.1985", "moment": "1985-03-14T00:00:00Z"}


FORMS: tuple[tuple[str, str, Mapping[str, Any], Any], ...] = (
    ("CUS-050", "platformCustomerId", _NO_TEXT, None),
    ("CUS-051 CUS-070", "region", _NO_TEXT, "CA"),
    ("CUS-052 CUS-071", "currencies", _NO_LIST, ["GBP"]),
    ("CUS-053 CUS-072", "fullName", _NO_TEXT, "MIREILLE CASTILLO"),
    ("CUS-054 CUS-073", "birthDate", _NO_DATE, "1985-03-13"),
    ("CUS-055 CUS-074", "nationality", _NO_CODE, "CA"),
    ("CUS-056", "address", _NO_OBJECT, None),
    ("CUS-057 CUS-075", "address.line1", _NO_TEXT, "500 Market Street, Suite 210"),
    ("CUS-058 CUS-076", "address.line2", _NO_TEXT, "210"),
    ("CUS-059 CUS-077", "address.city", _NO_TEXT, "SAN FRANCISCO"),
    ("CUS-060 CUS-078", "address.state", _NO_TEXT, "California"),
    ("CUS-061 CUS-079", "address.postalCode", {"number": 94105}, "94105-0000"),
    ("CUS-062 CUS-080", "address.country", _NO_CODE, "CA"),
    ("CUS-063 CUS-081", "email", _NO_TEXT, "hidden@example.com"),
    ("CUS-064 CUS-082", "phoneNumber", {"number": 14155550100}, "+14155550100"),
    ("CUS-065 CUS-083", "idType", _NO_TEXT, "ITIN"),
    ("CUS-066 CUS-084", "identifier", {"number": 345678901}, "900-70-0000"),
    ("BUS-030", INFO, _NO_OBJECT, None),
    ("BUS-031 BUS-040", f"{INFO}.legalName", _NO_TEXT, "LINDQVIST"),
    ("BUS-032 BUS-041", f"{INFO}.country", _NO_CODE, "CA"),
    ("BUS-033 BUS-042", f"{INFO}.taxId", {"number": 123456789}, "98-0000000"),
    ("BUS-034 BUS-043", f"{INFO}.incorporatedOn", _NO_DATE, "2014-06-01"),
    ("BUS-035 BUS-044", f"{INFO}.registrationNumber", {"number": 7}, "0"),
    ("BUS-036 BUS-045", f"{INFO}.primaryContactFirstName", _NO_TEXT, "Lindqvist"),
    ("BUS-037 BUS-046", f"{INFO}.primaryContactLastName", _NO_TEXT, "Ada"),
    ("EDD-010 EDD-014", "sourceOfFundsCategories", _NO_LIST, []),
    ("EDD-011 EDD-015", "sourceOfFundsOtherDescription", _NO_TEXT, "other"),
    ("EDD-012 EDD-016", "sourceOfWealthCategories", _NO_LIST, []),
    ("EDD-013 EDD-017", "sourceOfWealthOtherDescription", _NO_TEXT, "other"),
)
"""The rules of a member's form and of its value, wrong forms of it, and another value."""

OTHERWISE: tuple[tuple[str, str, Any], ...] = (
    ("BUS-047", f"{INFO}.entityType", "CORPORATION"),
    ("BUS-048", f"{INFO}.businessType", "RETAIL_TRADE"),
    ("BUS-049", f"{INFO}.countriesOfOperation", ["US"]),
    ("BUS-050", f"{INFO}.purposeOfAccount", "OTHER"),
    ("BUS-051", f"{INFO}.sourceOfFunds", "OTHER"),
    ("BUS-052", "email", "hidden@example.com"),
    ("BUS-053", "phoneNumber", "+14155550100"),
    ("EDD-018", "purposeOfAccount", "OTHER"),
    ("EDD-019", "expectedMonthlyTransactionCount", 0),
    ("EDD-020", "expectedMonthlyTransactionVolume", 2500),
    ("EDD-021", "annualIncomeRange", "UNKNOWN"),
    ("EDD-022", "netWorthRange", "UNKNOWN"),
    ("EDD-023", "pepStatus", "UNKNOWN"),
)
"""Requirement, member, and another value that it shows."""

for _ids_of_form, _path, _wrong, _value in FORMS:
    _form, _, _kept = _ids_of_form.partition(" ")
    _shown = _path.replace(".", "-")
    for _name, _wrong_value in _wrong.items():
        declare(
            _form, f"{_shown}-{_name}", f"{_path} is {_wrong_value}", shown(_path, _wrong_value)
        )
    if _kept:
        declare(_kept, f"{_shown}-otherwise", f"{_path} becomes {_value}", shown(_path, _value))

for _id, _path in (("CUS-079", "address.postalCode"), ("BUS-044", f"{INFO}.registrationNumber")):
    declare(
        _id,
        "zeros-lost",
        f"the zeros at the beginning of {_path} are lost",
        edited(customers, "view", turned(_path, lambda number: number.lstrip("0"))),
    )

declare(
    "CUS-072",
    "ascii",
    "the accents of a name are lost",
    edited(
        customers,
        "view",
        turned("fullName", lambda name: name.encode("ascii", "ignore").decode()),
    ),
)

for _id, _path, _value in OTHERWISE:
    declare(
        _id, f"{_path.replace('.', '-')}-otherwise", f"it becomes {_value}", shown(_path, _value)
    )

declare(
    "CUS-011",
    "all-business",
    "all show BUSINESS",
    edited(customers, "view", put("customerType", "BUSINESS")),
)
declare(
    "BUS-002",
    "all-individual",
    "all show INDIVIDUAL",
    edited(customers, "view", put("customerType", "INDIVIDUAL")),
)


# --- How a customer stands ------------------------------------------------------------------


_WORDS = {"APPROVED": "VERIFIED", "REJECTED": "DECLINED", "HOLD": "ON_HOLD"}


def beside(member: str) -> Edit:
    """Return an edit that gives one status the value of the other one, where it has none."""

    def edit(body: Json) -> Json:
        status = body.get("kycStatus") or body.get("kybStatus")
        return body if body.get(member) else {**body, member: status}

    return edit


def worded(status: str, word: str) -> Edit:
    """Return an edit that shows one status in another word."""

    def edit(body: Json) -> Json:
        return {**body, **{m: word for m in ("kycStatus", "kybStatus") if body.get(m) == status}}

    return edit


def _at_home(body: Json) -> Json:
    info = body.get(INFO)
    return {**body, INFO: {**info, "country": body["region"]}} if info else body


declare(
    "BUS-041",
    "region",
    "the country of a business is shown as its region",
    edited(customers, "view", _at_home),
)


def _abroad(body: Json) -> Json:
    info = body.get(INFO)
    return {**body, "region": info["country"]} if info else body


declare(
    "CUS-070",
    "of-incorporation",
    "the region of a business is shown as its country",
    edited(customers, "view", _abroad),
)


def _at_the_office(body: Json) -> Json:
    info = body.get(INFO)
    return replaced("address.country", info["country"])(body) if info else body


declare(
    "CUS-080",
    "of-incorporation",
    "the address of a business is shown in its country",
    edited(customers, "view", _at_the_office),
)
declare(
    "CUS-070",
    "of-nationality",
    "the region of an individual is shown as its nationality",
    edited(
        customers,
        "view",
        lambda body: {**body, "region": body.get("nationality") or body.get("region")},
    ),
)


for _id, _path in (
    ("CUS-619", "address.line2"),
    ("CUS-619", "address.state"),
    ("CUS-619", f"{INFO}.registrationNumber"),
    ("CUS-619", f"{INFO}.entityType"),
    ("CUS-619", f"{INFO}.countriesOfOperation"),
    ("CUS-620", "region"),
    ("CUS-620", "birthDate"),
    ("CUS-620", f"{INFO}.taxId"),
    ("CUS-620", "pepStatus"),
    ("CUS-620", "sourceOfFundsCategories"),
):
    declare(
        _id,
        f"{_path.replace('.', '-')}-not-read",
        f"who reads a customer is not told its {_path}",
        edited(onboarding, "read", without(_path)),
    )


for _member in ("businessInfo", "birthDate"):
    declare(
        "CUS-620",
        f"{_member}-not-answered",
        f"the answer to the creation of a customer has no {_member}",
        edited(onboarding, "create", without(_member)),
    )


for _path in ("address.city", "address.state", "address.postalCode", "address.country"):
    declare(
        "CUS-621",
        f"{_path.replace('.', '-')}-never-shown",
        f"no answer shows the {_path} of a customer",
        edited(customers, "view", without(_path)),
    )


def _once_decided(status_member: str, status: str, member: str) -> Edit:
    """Return an edit that takes a member from customers whose review has come to a status."""
    return lambda body: without(member)(body) if body.get(status_member) == status else body


for _status_member, _status, _member in (
    ("kybStatus", "APPROVED", INFO),
    ("kycStatus", "REJECTED", "fullName"),
):
    declare(
        "CUS-616",
        f"{_status.lower()}-without-{_member}",
        f"customers who are {_status} do not show their {_member}",
        edited(customers, "view", _once_decided(_status_member, _status, _member)),
    )

for _status_member, _status, _path, _value in (
    ("kycStatus", "APPROVED", "region", "ZA"),
    ("kycStatus", "HOLD", "fullName", "On Hold"),
    ("kybStatus", "REJECTED", "currencies", []),
    ("kybStatus", "APPROVED", f"{INFO}.registrationNumber", "0"),
):
    declare(
        "CUS-616",
        f"{_status.lower()}-with-another-{_path}",
        f"customers whose {_status_member} is {_status} show another {_path} than before",
        edited(customers, "view", where(shows(_status_member, _status), replaced(_path, _value))),
    )

for _id, _status_member, _status, _other in (
    ("CUS-043", "kycStatus", "APPROVED", "kybStatus"),
    ("BUS-018", "kybStatus", "REJECTED", "kycStatus"),
):
    declare(
        _id,
        "once-decided",
        f"customers who are {_status} show a {_other} beside their {_status_member}",
        edited(customers, "view", where(shows(_status_member, _status), beside(_other))),
    )

for _member, _present, _alone, _decided in (
    ("kycStatus", "CUS-042", "BUS-018", ("CUS-046", "CUS-047", "CUS-048")),
    ("kybStatus", "BUS-017", "CUS-043", ("BUS-021", "BUS-022", "BUS-023")),
):
    declare(
        _present, "missing", f"nobody shows {_member}", edited(customers, "view", without(_member))
    )
    declare(_present, "null", f"{_member} is null", shown(_member, None))
    declare(
        _alone, "both", f"everybody shows {_member}", edited(customers, "view", beside(_member))
    )
    for _id, (_status, _word) in zip(_decided, _WORDS.items(), strict=True):
        declare(
            _id,
            "other-word",
            f"{_status} is shown as {_word}",
            edited(customers, "view", worded(_status, _word)),
        )

for _id, _begun in (
    *((i, s) for i in ("CUS-044", "BUS-019") for s in ("APPROVED", "PENDING")),
    *((i, s) for i in ("CUS-045", "BUS-020") for s in ("REJECTED", "HOLD")),
):
    declare(
        _id,
        f"begins-{_begun.lower()}",
        f"a new customer is {_begun}",
        with_row(rules, "INITIAL_CUSTOMER_STATUS", "UNREGULATED", _begun),
    )


# --- Members of resources -------------------------------------------------------------------


MEMBERS = (
    Member("CUS-001", (customers, "view"), "id", FORMLESS_ID),
    Member(
        "CUS-002", (customers, "view"), "customerType", {"number": 17, "lower": "individual"}, False
    ),
    Member(
        "CUS-003", (customers, "view"), "kycStatus", {"number": 17, "unknown": "VERIFIED"}, False
    ),
    Member(
        "CUS-004", (customers, "view"), "kybStatus", {"number": 17, "unknown": "VERIFIED"}, False
    ),
    Member(
        "CUS-007",
        (onboarding, "terms"),
        "",
        {"text": "https://terms.example/2025-10-01", "list": []},
        False,
    ),
)

declare_members(MEMBERS)


# --- Where it is shown, and of whom ---------------------------------------------------------


_OF_A_BUSINESS = shows("customerType", "BUSINESS")
_WITH_ITIN = shows("idType", "ITIN")


for _id, _path, _value in (
    ("CUS-070", "region", "CA"),
    ("CUS-072", "fullName", "Mireille"),
    ("CUS-073", "birthDate", "1985-03-13"),
    ("CUS-080", "address.country", "CA"),
    ("BUS-042", f"{INFO}.taxId", "98-0000000"),
    ("BUS-047", f"{INFO}.entityType", "OTHER"),
    ("BUS-049", f"{INFO}.countriesOfOperation", ["US"]),
    ("EDD-018", "purposeOfAccount", "OTHER"),
    ("EDD-023", "pepStatus", "UNKNOWN"),
):
    declare(
        _id,
        "answer-alone",
        f"the answer to the creation shows another {_path} than was sent and is kept",
        edited(onboarding, "create", replaced(_path, _value)),
    )

for _id, _path, _value in (
    ("CUS-070", "region", "CA"),
    ("CUS-071", "currencies", ["GBP"]),
    ("CUS-075", "address.line1", "1 Main Street"),
    ("CUS-079", "address.postalCode", "00000"),
):
    declare(
        _id,
        "of-a-business",
        f"the {_path} of a business becomes {_value}",
        edited(customers, "view", where(_OF_A_BUSINESS, replaced(_path, _value))),
    )

declare(
    "BUS-040",
    "escaped",
    "an ampersand in a legalName becomes an entity",
    edited(customers, "view", turned(f"{INFO}.legalName", html.escape)),
)
declare(
    "CUS-071",
    "first-alone",
    "of several currencies the first one is kept",
    edited(customers, "view", turned("currencies", lambda codes: codes[:1])),
)
declare(
    "CUS-083",
    "one-type",
    "an ITIN is shown as an SSN",
    edited(customers, "view", where(_WITH_ITIN, replaced("idType", "SSN"))),
)
for _id in ("EDD-014", "EDD-016"):
    _name = "sourceOfFundsCategories" if _id == "EDD-014" else "sourceOfWealthCategories"
    declare(
        _id,
        "first",
        "the first category alone is kept",
        edited(customers, "view", turned(_name, lambda listed: listed[:1])),
    )

for _id, _name, _value in (
    ("CUS-043", "kybStatus", "UNVERIFIED"),
    ("BUS-018", "kycStatus", "UNVERIFIED"),
):
    declare(
        _id,
        "answer-alone",
        f"the answer to the creation shows a {_name} beside the other one",
        edited(onboarding, "create", beside(_name)),
    )
for _id, _name in (("CUS-044", "kycStatus"), ("BUS-019", "kybStatus")):
    declare(
        _id,
        "answer-alone",
        "the answer to the creation shows a customer who is approved",
        edited(onboarding, "create", replaced(_name, "APPROVED")),
    )
for _id, _name in (("CUS-045", "kycStatus"), ("BUS-020", "kybStatus")):
    declare(
        _id,
        "answer-alone",
        "the answer to the creation shows a customer on HOLD",
        edited(onboarding, "create", replaced(_name, "HOLD")),
    )
