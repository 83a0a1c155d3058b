"""All that is missing of a business and its owners is told at once, and nothing else is.

What a review asks for is the target's own choice. So each thing is left out alone first, to see by
which entries of ``errors`` it is asked for, and then all of them together.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

from conformance.platform.platform import Platform
from conformance.platform.resource import Json, arranged_resource
from conformance.scenarios.kit.marks import Check, requirement
from conformance.testdata.examples import ABSENT, placed
from conformance.text.paths import value_at
from conformance.verdict.decisions import ResourceMissing

BUSINESS = "business"
IDENTITY = "MISSING_IDENTITY_DOCUMENT"
DOTTED = re.compile(r"[^\s./$]+(\.[^\s./$]+)*")
"""A dotted path, in which an entry of a list may be named by its place or its id."""

OF_INDIVIDUALS = ("fullName", "birthDate", "idType", "identifier")
"""Members that individuals alone have."""

ADDRESS = ("address",)
COUNTRIES = ("businessInfo.countriesOfOperation",)
OWNER_ADDRESS = ("personalInfo.address",)
OWNER_NUMBER = ("personalInfo.idType", "personalInfo.identifier")

Key = tuple[str, str, str, tuple[str, ...]]
"""Of an entry: whose it is, its type, its field, and the documents that it accepts."""


@dataclass(frozen=True, slots=True)
class Person:
    """An owner of whom members are left out, or who is from abroad and hands in no document."""

    without: Sequence[str] = ()
    is_foreign: bool = False


@dataclass(frozen=True, slots=True)
class Told:
    """What the submission of a business was answered with, beside what was sent of it."""

    entries: Sequence[Json]
    sent: Mapping[str, Json]
    names: Mapping[str, str]

    @property
    def keys(self) -> Counter[Key]:
        """The entries, each by what it asks for of whom."""
        return Counter(
            (
                self.names.get(str(entry.get("resourceId")), "another"),
                str(entry.get("type")),
                str(entry.get("field")),
                tuple(map(str, entry.get("acceptedDocumentTypes") or ())),
            )
            for entry in self.entries
        )

    @property
    def named_fields(self) -> Counter[tuple[str, str]]:
        """The fields that are missing, each by the id of whose it is."""
        return Counter(
            (str(entry["resourceId"]), str(entry.get("field")))
            for entry in self.entries
            if entry.get("type") == "MISSING_FIELD" and entry.get("resourceId")
        )

    @property
    def text(self) -> str:
        """What the answer complains of, in words."""
        if not self.entries:
            return "the submission is taken, and has no errors"
        return f"the errors are {list(self.entries)}"

    @property
    def known_fields(self) -> list[Json]:
        """The entries about fields as missing that were sent."""
        return [
            entry
            for entry in self.entries
            if entry.get("type") == "MISSING_FIELD"
            and value_at(self.sent.get(str(entry.get("resourceId")), {}), str(entry.get("field")))
            not in (None, "", [], {})
        ]


def told(
    platform: Platform,
    *owners: Person,
    without: Sequence[str] = (),
    proves_address: bool = True,
) -> Told:
    """Submit a business of which something is missing.

    Args:
        platform: where it is submitted.
        owners: its owners, the first of whom controls it; one without any fault by default.
        without: dotted paths of what the business does not tell.
        proves_address: whether it hands in a proof of its address.

    Raises:
        ResourceMissing: it is asked for earlier than at the submission.
    """
    body = _without(platform.customers.business_body(), without)
    business = platform.verification.reviews.created(body)
    sent, names = {business["id"]: body}, {business["id"]: BUSINESS}
    for index, person in enumerate(owners or (Person(),)):
        report = _report(platform, business, person, controls=index == 0)
        answer = platform.api.create_beneficial_owner(report, valid=not person.without)
        if not answer.accepted and (person.without or person.is_foreign):
            raise ResourceMissing(f"more has to be known to report an owner: {answer}")
        owner = arranged_resource(platform.verification.owners.require_role(answer))
        sent[owner["id"]], names[owner["id"]] = report, str(index)
    if proves_address:
        platform.verification.documents.prove_address(business)
    submission = arranged_resource(platform.verification.reviews.submit(business))
    return Told(submission.get("errors") or (), sent, names)


@requirement("VER-009", "VER-034", "VER-811", "VER-812", "VER-813", "VER-817", "VER-824")
@requirement("VER-038")
def test_each_missing_field_of_a_business_has_an_entry(platform: Platform, check: Check) -> None:
    """Fields of the business, fields of an owner, and those of a second owner are all told.

    Each is told once.
    """
    complete = told(platform, Person(), Person())
    of_business = [told(platform, without=ADDRESS), told(platform, without=COUNTRIES)]
    of_owner = [told(platform, Person(OWNER_ADDRESS)), told(platform, Person(OWNER_NUMBER))]

    person = Person((*OWNER_ADDRESS, *OWNER_NUMBER))
    everything = told(platform, person, person, without=(*ADDRESS, *COUNTRIES))

    with check("VER-009"):
        paths = [one["field"] for one in everything.entries if one.get("type") == "MISSING_FIELD"]
        if not paths:
            raise ResourceMissing("what is missing is told by no entry of the type MISSING_FIELD")
        assert [path for path in paths if not DOTTED.fullmatch(str(path))] == []
    with check("VER-038"):
        fields = everything.named_fields
        if not fields:
            raise ResourceMissing("no entry tells whose field is missing")
        assert max(fields.values()) == 1, everything.entries
    with check("VER-034"):
        assert not complete.known_fields
        assert not everything.known_fields
    with check("VER-817"):
        asked = {
            field.removeprefix("customer.")
            for who, _, field, _ in everything.keys
            if who == BUSINESS
        }
        assert not asked & set(OF_INDIVIDUALS)
    with check("VER-811"):
        expect_told(everything, asked_for(BUSINESS, complete, *of_business))
    with check("VER-824"):
        asked_of = {
            who
            for fault in of_owner
            for who, kind, field, _ in fault.keys - complete.keys
            if kind == "MISSING_FIELD" and field.startswith("personalInfo.")
        }
        if not asked_of:
            raise ResourceMissing("no entry names a member of an owner's personalInfo")
        assert asked_of == {"0"}, [fault.entries for fault in of_owner]
    wanted_of_owner = asked_for("0", complete, *of_owner)
    with check("VER-812"):
        expect_told(everything, wanted_of_owner)
    with check("VER-813"):
        expect_told(everything, wanted_of_owner, of="1")


@requirement("VER-822", "VER-814", "VER-815")
def test_each_missing_document_of_a_business_has_an_entry(platform: Platform, check: Check) -> None:
    """The proof of address and the papers of two owners from abroad are all told."""
    foreigner = Person(is_foreign=True)
    complete = told(platform, Person(), Person())
    of_business = told(platform, proves_address=False)
    of_owner = told(platform, Person(), foreigner)

    everything = told(platform, Person(), foreigner, foreigner, proves_address=False)

    with check("VER-822"):
        asked = [key for key in of_owner.keys - complete.keys if key[1] == IDENTITY]
        if not asked:
            raise ResourceMissing(f"no identity document is asked for: {of_owner.text}")
        assert {key[0] for key in asked} == {"1"}, of_owner.entries
    wanted_of_owner = asked_for("1", complete, of_owner)
    with check("VER-814"):
        expect_told(everything, [*asked_for(BUSINESS, complete, of_business), *wanted_of_owner])
    with check("VER-815"):
        expect_told(everything, wanted_of_owner, of="2")


def asked_for(holder: str, complete: Told, *faults: Told) -> list[Key]:
    """Return the entries about a holder that faults have, each of which was made alone.

    Raises:
        ResourceMissing: something is not asked for, or of somebody else.
    """
    found = []
    for fault in faults:
        keys = [key for key in fault.keys - complete.keys if key[0] == holder]
        if not keys:
            raise ResourceMissing(f"what was left out is not asked for: {fault.text}")
        found += keys
    return found


def expect_told(everything: Told, wanted: Sequence[Key], *, of: str | None = None) -> None:
    """Assert that a submission has entries, each as it was, or about another holder."""
    __tracebackhide__ = True
    keys = [key if of is None else (of, *key[1:]) for key in wanted]
    missing = [key for key in keys if key not in everything.keys]
    assert not missing, f"not told: {missing}; told: {everything.entries}"


def _report(platform: Platform, business: Json, person: Person, *, controls: bool) -> Json:
    more: dict[str, Any] = {}
    if controls:
        roles = [platform.profile.bindings.control_role, "DIRECTOR"]
        more = {"roles": roles, "ownershipPercentage": 50}
    if person.is_foreign:
        more["personalInfo"] = platform.verification.owners.canadian()
    return _without(platform.verification.owners.body(business, **more), person.without)


def _without(body: Json, paths: Sequence[str]) -> Json:
    return reduce(lambda rest, path: placed(rest, path, ABSENT), paths, body)
