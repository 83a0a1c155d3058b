"""Mutants of the kinds of values that members of customers have, and of descriptions of OTHER."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance.proof.kit.builders import Json, edited, instead
from conformance.proof.kit.edits import copied
from conformance.proof.mutant import declare
from conformance.proof.mutants.customers.toolkit import INFO, changed, dropped, has, refusing, shown
from conformance.proof.patch import Apply, Patch
from conformance.reference import errors, rules
from conformance.reference.customers import customers, onboarding

ANY_KIND = {
    "birthDate": "CUS-602",
    "nationality": "CUS-603",
    "email": "CUS-604",
    "phoneNumber": "CUS-605",
    "idType": "CUS-606",
    "identifier": "CUS-607",
    "address.line1": "CUS-608",
    "address.line2": "CUS-609",
    "address.city": "CUS-610",
    "address.state": "CUS-611",
    "address.postalCode": "CUS-612",
    "address.country": "CUS-613",
    "sourceOfFundsOtherDescription": "EDD-605",
    "sourceOfWealthOtherDescription": "EDD-606",
    f"{INFO}.incorporatedOn": "BUS-603",
    f"{INFO}.country": "BUS-604",
    f"{INFO}.taxId": "BUS-605",
}
"""Members that are texts, with the requirement that is broken where they may be anything."""

for _path, _id in ANY_KIND.items():
    declare(_id, "any-kind", f"a {_path} may be of any kind", changed(_path, {"kind": "any"}))


def nameless(patch: Patch) -> None:
    """Take an empty name, and review a customer who has one."""
    changed("fullName", {"min_length": None})(patch)
    dropped((rules, "INDIVIDUAL_NEEDS"), "fullName")(patch)


declare("CUS-600", "nameless", "a full name may be empty", nameless)
declare(
    "CUS-601",
    "blank",
    "spaces make a full name",
    instead(onboarding, "has_given_and_family_name", lambda name: len(name.split()) != 1),
)


# --- Descriptions of OTHER ------------------------------------------------------------------


def described(is_missing: Callable[[Json, str], bool]) -> Apply:
    """Return a patch after which a description is missing where ``is_missing`` says so."""

    def diligence_errors(body: Any) -> list[Json]:
        if not isinstance(body, dict):
            return []
        return [
            errors.field_error(description, "A description is required.")
            for categories, description in rules.OTHER_DESCRIPTIONS.items()
            if "OTHER" in (body.get(categories) or []) and is_missing(body, description)
        ]

    return instead(onboarding, "diligence_errors", diligence_errors)


def any_is_missing(body: Json, _description: str) -> bool:
    """Return whether a customer has no description of anything."""
    return not any(body.get(name) for name in rules.OTHER_DESCRIPTIONS.values())


def is_absent(body: Json, description: str) -> bool:
    """Return whether a customer does not have a description, not even an empty one."""
    return body.get(description) is None


for _id in ("EDD-601", "EDD-602"):
    declare(_id, "any", "one description serves both lists", described(any_is_missing))
for _id in ("EDD-603", "EDD-604"):
    declare(_id, "empty", "an empty text is a description", described(is_absent))


def describes_both(body: Json) -> bool:
    """Return whether a customer describes other funds and other wealth."""
    return all(has(name)(body) for name in rules.OTHER_DESCRIPTIONS.values())


declare(
    "EDD-600",
    "one-alone",
    "funds and wealth are not described together",
    refusing((onboarding, "create"), "sourceOfWealthOtherDescription", describes_both),
)


# --- What kind of business it is ------------------------------------------------------------

for _member, _id in (("entityType", "BUS-600"), ("businessType", "BUS-601")):
    for _name, _wrong in {"number": 17, "object": {"code": "OTHER"}}.items():
        declare(_id, _name, f"{_member} is {_wrong}", shown(f"{INFO}.{_member}", _wrong))


# --- Who issued a number --------------------------------------------------------------------

_ISSUER = "countryOfIssuance"
declare(
    "CUS-614",
    "owners-alone",
    "it is for owners alone",
    refusing((onboarding, "create"), _ISSUER, has(_ISSUER)),
)
declare("CUS-615", "the-default", "it is shown as GB", shown(_ISSUER, "GB"))
declare(
    "CUS-615",
    "nationality",
    "it is shown as the country that the individual is of",
    edited(customers, "view", copied("nationality", _ISSUER)),
)
