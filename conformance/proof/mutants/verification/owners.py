"""Mutants of beneficial owners: what they show, who is accepted, and who is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from typing import Any

from conformance.proof.kit.builders import Handler, Json, around, edited, instead, rescued
from conformance.proof.kit.edits import derived, put, without
from conformance.proof.kit.identifiers import declare_lookups, owner_of
from conformance.proof.mutant import declare, mutant
from conformance.proof.mutants.verification.toolkit import owner_refused
from conformance.proof.patch import Apply, NoSuchTarget, Patch
from conformance.reference import errors
from conformance.reference.customers import customers
from conformance.reference.unit import Ask, Unit, new_id
from conformance.reference.verification import owners

# --- What comes back ------------------------------------------------------------------------


REQUIRED: dict[tuple[str, str], dict[str, Any]] = {
    ("OWN-001", "id"): {"number": 17, "bare": "8d0cf2a4", "other-type": "Owner:8d0cf2a4"},
    ("OWN-002", "customerId"): {"number": 17, "bare": "8d0cf2a4", "null": None},
    ("OWN-003", "roles"): {"text": "DIRECTOR", "objects": [{"role": "DIRECTOR"}], "null": None},
    ("OWN-004", "ownershipPercentage"): {"text": "25", "range": {"from": 25}, "null": None},
    ("OWN-005", "personalInfo"): {"text": "Ada Okafor", "list": [], "null": None},
}
"""Requirement and path of a member that each owner has, with values it may not have."""

OPTIONAL: dict[tuple[str, str], dict[str, Any]] = {
    ("OWN-006", "firstName"): {"number": 17, "list": ["Ada"]},
    ("OWN-007", "lastName"): {"number": 17, "list": ["Okafor"]},
    ("OWN-008", "birthDate"): {"words": "21 July 1979", "time": "1979-07-21T00:00:00Z"},
    ("OWN-009", "nationality"): {"three-letters": "USA", "lower": "us", "number": 840},
    ("OWN-010", "address"): {"text": "77 Harbor Road, Oakland", "list": []},
    ("OWN-011", "address.country"): {"three-letters": "USA", "name": "United States"},
    ("OWN-012", "idType"): {"number": 1, "object": {"name": "SSN"}},
    ("OWN-013", "identifier"): {"number": 123456789, "list": []},
    ("OWN-014", "countryOfIssuance"): {"number": 840, "object": {"code": "US"}},
}
"""Likewise of members of ``personalInfo``, which need not be shown."""

for (_requirement, _path), _values in REQUIRED.items():
    declare(
        _requirement,
        f"{_path}-missing",
        f"the {_path} of an owner is not there",
        edited(owners, "view", without(_path)),
    )
    for _form, _value in _values.items():
        declare(
            _requirement,
            f"{_path}-{_form}",
            f"the {_path} of an owner is {json.dumps(_value)}",
            edited(owners, "view", put(_path, _value)),
        )

for (_requirement, _path), _values in OPTIONAL.items():
    for _form, _value in _values.items():
        declare(
            _requirement,
            f"{_path.replace('.', '-')}-{_form}",
            f"the {_path} of an owner is {json.dumps(_value)}",
            edited(owners, "view", put(f"personalInfo.{_path}", _value)),
        )


CHANGED: tuple[tuple[str, str, str, Any], ...] = (
    ("OWN-020", "customerId", "that of another customer", "Customer:8d0cf2a4"),
    ("OWN-021", "roles", "lost", []),
    ("OWN-021", "roles", "another word for it", ["BOARD_MEMBER"]),
    ("OWN-022", "ownershipPercentage", "a fraction of one", 0.25),
    ("OWN-022", "ownershipPercentage", "rounded to tens", 30),
    ("OWN-023", "personalInfo.firstName", "the whole name", "Ada Okafor"),
    ("OWN-024", "personalInfo.lastName", "an initial", "O."),
    ("OWN-025", "personalInfo.birthDate", "a day early, by another time zone", "1979-07-20"),
    ("OWN-026", "personalInfo.nationality", "the default", "GB"),
    ("OWN-027", "personalInfo.address.line1", "cut", "77"),
    ("OWN-028", "personalInfo.address.city", "in capitals", "OAKLAND"),
    ("OWN-029", "personalInfo.address.state", "spelled out", "California"),
    ("OWN-030", "personalInfo.address.postalCode", "read as a number and cut", "9460"),
    ("OWN-031", "personalInfo.address.country", "the default", "GB"),
    ("OWN-032", "personalInfo.idType", "the other one", "ITIN"),
    ("OWN-033", "personalInfo.countryOfIssuance", "the default", "GB"),
    ("OWN-600", "personalInfo.identifier", "a number of its own", "900-00-0000"),
    ("OWN-601", "personalInfo.address.line2", "the first line", "77 Harbor Road"),
)
"""Requirement, path, what an implementation makes of it, and what is shown then."""

for _requirement, _path, _what, _value in CHANGED:
    declare(
        _requirement,
        f"{_path.replace('.', '-')}-{_what.replace(' ', '-').replace(',', '')}",
        f"the {_path} of an owner is shown as {json.dumps(_value)}: {_what}",
        edited(owners, "view", put(_path, _value)),
    )


declare(
    "OWN-022",
    "whole-percent",
    "a share is cut to whole percent",
    edited(
        owners,
        "view",
        derived("ownershipPercentage", lambda owner: int(owner["ownershipPercentage"])),
    ),
)


def _issued_at_home(owner: Json) -> Json:
    person = owner["personalInfo"]
    return {**person, "countryOfIssuance": person.get("nationality")}


for _path in ("address.line2", "countryOfIssuance"):
    declare(
        "OWN-602",
        f"{_path.replace('.', '-')}-lost",
        f"the {_path} of an owner is not shown",
        edited(owners, "view", without(f"personalInfo.{_path}")),
    )
declare(
    "OWN-033",
    "nationality",
    "the number of an owner is shown as issued in the country that the owner is of",
    edited(owners, "view", derived("personalInfo", _issued_at_home)),
)


@mutant("OWN-048", "the owners of a business share one id")
def one_id_for_all(patch: Patch) -> None:
    patch.wrap(
        owners,
        "view",
        lambda original, owner: {**original(owner), "id": f"BeneficialOwner:{owner.customer_id}"},
    )


# --- Who is wrongly refused -----------------------------------------------------------------


def is_foreign(owner: Json) -> bool:
    """Return whether an owner is no US person."""
    return bool(owner["personalInfo"].get("nationality") != "US")


def siblings(unit: Unit, owner: Json) -> int:
    """Return how many owners a business has."""
    unit.session.flush()
    return len(owners.of(unit, owner["customerId"]))


WRONGLY_REFUSED: tuple[tuple[str, str, Callable[[Unit, Json], bool]], ...] = (
    ("OWN-040", "directors are no owners", lambda _, owner: "DIRECTOR" in owner["roles"]),
    ("OWN-041", "nobody controls", lambda _, owner: "CONTROL_PERSON" in owner["roles"]),
    ("OWN-042", "one role for each", lambda _, owner: len(owner["roles"]) > 1),
    ("OWN-043", "no SSN is taken", lambda _, owner: owner["personalInfo"]["idType"] == "SSN"),
    ("OWN-044", "no ITIN is taken", lambda _, owner: owner["personalInfo"]["idType"] == "ITIN"),
    ("OWN-045", "ITINs are for US persons", lambda _, owner: is_foreign(owner)),
    ("OWN-047", "one owner is enough", lambda unit, owner: siblings(unit, owner) > 1),
    ("OWN-047", "three owners at most", lambda unit, owner: siblings(unit, owner) > 3),
)
"""Requirement, statement and the owners that are refused."""

for _requirement, _statement, _condition in WRONGLY_REFUSED:
    declare(_requirement, _statement.replace(" ", "-"), _statement, owner_refused(_condition))


@mutant("OWN-046", "nobody can own the whole business")
def no_whole(patch: Patch) -> None:
    patch.replace(owners, "SHARE", (0, 99))


# --- Who is wrongly accepted ----------------------------------------------------------------


def change_field(path: str, number: int = 0, **changes: Any) -> Apply:
    """Return a patch that changes the rule of a field, the ``number``-th where it has several."""

    def apply(patch: Patch) -> None:
        places = [i for i, field in enumerate(owners.OWNER_FIELDS) if field.path == path]
        if number >= len(places):
            raise NoSuchTarget(f"OWNER_FIELDS has no row {path} of number {number}")
        table = list(owners.OWNER_FIELDS)
        table[places[number]] = replace(table[places[number]], **changes)
        patch.replace(owners, "OWNER_FIELDS", tuple(table))

    return apply


def unchecked(condition: Callable[[Json, errors.Refusal], bool]) -> Apply:
    """Return a patch after which requests of a condition are accepted all the same."""

    def create(original: Handler, unit: Unit, ask: Ask) -> Any:
        try:
            return original(unit, ask)
        except errors.Refusal as refusal:
            if not condition(ask.body, refusal):
                raise
        return {**ask.body, "id": new_id("BeneficialOwner")}

    return around(owners, "create", create)


def lacking(name: str) -> Callable[[Json, errors.Refusal], bool]:
    """Return the condition of a body without a member."""
    return lambda body, _: name not in body


WRONGLY_ACCEPTED: tuple[tuple[str, str, Callable[[Json, errors.Refusal], bool]], ...] = (
    ("OWN-060", "no customer is needed", lacking("customerId")),
    ("OWN-061", "no customer is looked up", lambda _, r: r.code == "CUSTOMER_NOT_FOUND"),
    ("OWN-063", "no role is needed", lacking("roles")),
    ("OWN-064", "no share is needed", lacking("ownershipPercentage")),
    ("OWN-065", "no person is needed", lacking("personalInfo")),
    (
        "OWN-071",
        "a share may be a word",
        lambda body, _: isinstance(body.get("ownershipPercentage"), str),
    ),
    ("OWN-074", "a person may be a text", lambda body, _: isinstance(body["personalInfo"], str)),
)
"""Requirement, statement and the requests that are accepted."""

for _requirement, _statement, _accepted in WRONGLY_ACCEPTED:
    declare(_requirement, _statement.replace(" ", "-"), _statement, unchecked(_accepted))


@mutant(
    "OWN-061", "a business that does not exist brings the server down", (customers, "get"), rescued
)
def unknown_customer_breaks(_refusal: errors.Refusal, unit: Unit, customer_id: str) -> Any:
    return None


@mutant("OWN-062", "individuals have owners too")
def owners_of_individuals(patch: Patch) -> None:
    patch.replace(owners, "refuse_person", lambda customer: None)


LOOSENED: tuple[tuple[str, str, int, Json], ...] = (
    ("OWN-066", "personalInfo.firstName", 0, {"required": False}),
    ("OWN-067", "personalInfo.lastName", 0, {"required": False}),
    ("OWN-068", "personalInfo.birthDate", 0, {"required": False}),
    ("OWN-075", "personalInfo.birthDate", 0, {"format": None}),
    ("OWN-076", "personalInfo.birthDate", 0, {"format": None, "pattern": r"\d{4}-\d\d-\d\d"}),
    ("OWN-077", "personalInfo.nationality", 0, {"format": None}),
    ("OWN-078", "personalInfo.address.country", 0, {"format": None}),
    ("OWN-079", "personalInfo.identifier", 1, {"pattern": None}),
    ("OWN-079", "personalInfo.identifier", 1, {"pattern": r"[\d-]+"}),
)
"""Requirement, field, number of its rule, and what is left of the rule."""

for _requirement, _path, _number, _changes in LOOSENED:
    _pattern = "" if _changes.get("pattern") is None else "-but-a-pattern"
    declare(
        _requirement,
        f"{_path.replace('.', '-')}-without-{next(iter(_changes))}{_pattern}",
        f"the rule of {_path} is loosened: {_changes}",
        change_field(_path, _number, **_changes),
    )


def not_asked_for(member: str) -> Apply:
    """Let neither the report of an owner nor the submission ask for a member."""

    def apply(patch: Patch) -> None:
        needed = tuple(name for name in owners.NEEDED_FOR_REVIEW if name != member)
        patch.replace(owners, "NEEDED_FOR_REVIEW", needed)

    return apply


for _requirement, _path in (("OWN-069", "address"), ("OWN-070", "identifier")):
    declare(
        _requirement,
        f"{_path}-not-asked-for",
        f"neither the report of an owner nor the submission asks for the {_path}",
        not_asked_for(_path),
    )

declare(
    "OWN-083",
    "a-tenth",
    "nothing is asked of who owns less than a quarter",
    around(
        owners,
        "missing",
        lambda missing, owner: [] if Decimal(owner.ownership) < 25 else missing(owner),
    ),
)

for _requirement, _share, _statement in (
    ("OWN-072", (0, 1000), "more than all of a business can be owned"),
    ("OWN-073", (-100, 100), "less than nothing of a business can be owned"),
):
    declare(
        _requirement,
        _statement.replace(" ", "-"),
        _statement,
        instead(owners, "SHARE", _share),
    )

declare_lookups((("OWN-800", "owned", (owners, "create"), "customerId", owner_of),))


# --- Of owners from abroad, and of several roles --------------------------------------------


declare(
    "OWN-021",
    "first",
    "the first of the roles is kept",
    edited(owners, "view", lambda owner: {**owner, "roles": owner["roles"][:1]}),
)


def _at_home(owner: Json) -> Json:
    person = owner["personalInfo"]
    place = (person.get("address") or {}).get("country")
    return {**owner, "personalInfo": {**person, "nationality": place}} if place else owner


declare(
    "OWN-026",
    "of-its-address",
    "an owner is shown with the country of its address as its nationality",
    edited(owners, "view", _at_home),
)
for _requirement, _path, _value in (
    ("OWN-026", "nationality", "US"),
    ("OWN-029", "address.state", "CA"),
    ("OWN-031", "address.country", "US"),
    ("OWN-032", "idType", "SSN"),
):
    declare(
        _requirement,
        "always-american",
        f"the {_path} of each owner is {_value}",
        edited(owners, "view", put(f"personalInfo.{_path}", _value)),
    )
