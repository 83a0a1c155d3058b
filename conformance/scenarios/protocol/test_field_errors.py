"""Field errors: a refusal of a customer or an external account lists all fields that are wrong."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any, Literal

import pytest

from conformance.contract.document import document
from conformance.exchange.answer import Answer
from conformance.platform.grounds.request import request
from conformance.platform.platform import Platform
from conformance.platform.resource import Json
from conformance.scenarios.kit.cases import case
from conformance.scenarios.kit.marks import Check, requirement
from conformance.scenarios.kit.refusals import field_errors, last_name, listed_errors, path_names
from conformance.scenarios.kit.shapes import names_in
from conformance.testdata.examples import ABSENT, example, placed
from conformance.text.paths import value_at
from conformance.verdict.decisions import ResourceMissing, expect

INVALID = "INVALID_INPUT"


@dataclass(frozen=True)
class Subject:
    """A resource to create, and wrong values for members that no other member depends on.

    A ``change`` is one of a new customer. ``label`` names what there is several times of one
    example.
    """

    kind: Literal["customer", "change", "account"]
    example: str
    faults: Mapping[str, Any]
    label: str = ""

    def body(self, platform: Platform) -> Json:
        """Return a body without a fault."""
        if self.kind == "customer":
            return platform.customers.example_body(example(self.example))
        if self.kind == "change":
            whole = platform.customers.example_body(example(self.example))
            return {path: whole[path] for path in self.faults}
        return platform.external_accounts.body(
            platform.external_accounts.account_holder(), self.example
        )

    def create(self, platform: Platform, body: Json, *, valid: bool = False) -> Answer:
        """Send a body, by default one with faults.

        A target may take a customer in spite of them, and no second one with the same id.
        """
        if self.kind == "customer":
            own = platform.customers.alike(body)
            if "email" in body and body["email"] == self.faults.get("email"):
                own["email"] = body["email"]
            return platform.api.create_customer(own, valid=valid)
        if self.kind == "change":
            customer = platform.customers.applicant(business=False)
            return platform.api.update_customer(customer["id"], body, valid=valid)
        return platform.api.create_external_account(body, valid=valid)

    def with_faults(self, body: Json, paths: Collection[str]) -> Json:
        """Return a body with the faults at some paths."""
        return reduce(lambda faulty, path: placed(faulty, path, self.faults[path]), paths, body)

    def refused_alone(
        self, platform: Platform, body: Json, *, at_least: int = 2
    ) -> dict[str, Answer]:
        """Return the refusals with INVALID_INPUT of single faults, by path.

        A fault is placed where the body has the member: a target may have it elsewhere, or not.

        Raises:
            ResourceMissing: fewer faults than ``at_least`` are refused so.
        """
        answers = {
            path: self.create(platform, self.with_faults(body, [path]))
            for path in self.faults
            if value_at(body, path) is not None
        }
        refusals = {path: answer for path, answer in answers.items() if answer.code == INVALID}
        if len(refusals) < at_least:
            raise ResourceMissing(
                f"refused at once with {INVALID} were the faults {list(refusals)}"
            )
        return refusals


CUSTOMER = Subject(
    "customer",
    "individual",
    {
        "birthDate": "1985-13-14",
        "email": "mireille.example.com",
        "phoneNumber": "on request",
    },
)
CHANGE = Subject("change", "individual", CUSTOMER.faults)
CUSTOMER_WITH_MORE_FAULTS = Subject(
    "customer",
    "individual",
    {
        **CUSTOMER.faults,
        "nationality": "USA",
        "address.city": "San Francisco " * 400,
        "address.country": "USA",
        "idType": "PASSPORT",
        "fullName": "Ines",
    },
)
BUSINESS = Subject(
    "customer",
    "business",
    {
        "businessInfo.incorporatedOn": "2014-13-02",
        "email": "lindqvist.example.com",
    },
)
# Beside a country that is none, a taxId may be wrong as well.
BUSINESS_WITH_MORE_FAULTS = Subject(
    "customer", "business", {**BUSINESS.faults, "businessInfo.country": "USA"}
)
ACCOUNT = Subject(
    "account",
    "usd_account",
    {
        "accountInfo.accountNumber": "12",
        "accountInfo.routingNumber": "12",
        "accountInfo.bankAccountType": "PIGGY_BANK",
        "accountInfo.beneficiary.birthDate": "1988-13-12",
    },
)
ACCOUNTS_WITH_MORE_FAULTS = (
    ACCOUNT,
    Subject(
        "account",
        "cad_account",
        {
            "accountInfo.bankCode": "12",
            "accountInfo.branchCode": "12",
            "accountInfo.accountNumber": "12",
        },
    ),
    Subject(
        "account",
        "usd_account",
        {
            "accountInfo.routingNumber": "12",
            "accountInfo.beneficiary.fullName": ABSENT,
            "accountInfo.beneficiary.birthDate": "1988-13-12",
            "accountInfo.beneficiary.address.city": ABSENT,
            "accountInfo.beneficiary.address.postalCode": ABSENT,
        },
        label="beneficiary",
    ),
)


def listed_names(refusal: Answer) -> set[str]:
    """Return the last names of the fields that a refusal lists."""
    return {last_name(entry.get("field")) for entry in listed_errors(refusal)}


def last_names(paths: Collection[str]) -> set[str]:
    """Return the last names of dotted paths."""
    return {path.rpartition(".")[2] for path in paths}


@pytest.mark.parametrize(
    "subject",
    [
        case("ERR-090", "customer", CUSTOMER),
        case("ERR-090", "business", BUSINESS),
        case("ERR-093", "account", ACCOUNT),
    ],
)
def test_a_field_that_is_right_is_not_listed(platform: Platform, subject: Subject) -> None:
    """A refusal with one wrong field lists none of the other fields of the body.

    The object that the field is in may be listed, as it is not right either.
    """
    body = subject.body(platform)

    refusals = subject.refused_alone(platform, body, at_least=1)

    twin = subject.create(platform, body, valid=True)
    for path, refusal in refusals.items():
        refusal.refused(twin=twin)
        correct_names = names_in(body) - {*path.split(".")}
        expect(not listed_names(refusal) & correct_names, f"{path} alone to be listed", refusal)


@requirement("ERR-096", "ERR-200")
def test_a_wrong_field_of_an_account_is_listed(platform: Platform, check: Check) -> None:
    """A refusal with one wrong field lists it by a path that ends in the name of the field.

    A dot stands before that name, where anything does.
    """
    body = ACCOUNT.body(platform)

    refusals = ACCOUNT.refused_alone(platform, body, at_least=1)

    twin = ACCOUNT.create(platform, body, valid=True)
    for path, refusal in refusals.items():
        name = path.rpartition(".")[2]
        with check("ERR-096"):
            refusal.refused(twin=twin)
            expect(name in listed_names(refusal), f"{path} to be listed", refusal)
        with check("ERR-200"):
            fields = [str(entry.get("field")) for entry in listed_errors(refusal)]
            about = [field for field in fields if last_name(field) == name]
            if not about:
                raise ResourceMissing(f"{path} is not listed: {refusal}")
            dotted = all(field == name or field.endswith(f".{name}") for field in about)
            expect(dotted, f"a dotted path to {path}", refusal)


@pytest.mark.parametrize(
    "subject",
    [
        case("ERR-091", "customer", CUSTOMER_WITH_MORE_FAULTS),
        case("ERR-091", "business", BUSINESS_WITH_MORE_FAULTS),
        *(case("ERR-094", s.label or s.example, s) for s in ACCOUNTS_WITH_MORE_FAULTS),
        case("ERR-098", "change", CHANGE),
    ],
)
def test_all_fields_that_are_wrong_are_listed_together(
    platform: Platform, subject: Subject
) -> None:
    """One refusal lists every field that is refused with INVALID_INPUT by itself."""
    body = subject.body(platform)
    alone = subject.refused_alone(platform, body)

    refusal = subject.create(platform, subject.with_faults(body, alone.keys()))

    refusal.refused(twin=subject.create(platform, body, valid=True))
    # What is missing within an object may be told by the name of the object.
    wanted = {name for one in alone.values() for name in listed_names(one)}
    expect(wanted, "each field that is wrong by itself to be listed", [*alone.values()])
    expect(listed_names(refusal) >= wanted, f"{sorted(wanted)} to be listed", refusal)


@pytest.mark.parametrize(
    "subject",
    [
        case("ERR-092", "customer", CUSTOMER),
        case("ERR-092", "business", BUSINESS_WITH_MORE_FAULTS),
        case("ERR-095", "account", ACCOUNT),
    ],
)
def test_a_field_that_was_corrected_is_no_longer_listed(
    platform: Platform, subject: Subject
) -> None:
    """Once one of two wrong fields is corrected, the refusal lists the other one alone."""
    body = subject.body(platform)
    paths = list(subject.refused_alone(platform, body))[:2]
    corrected, wrong = last_names(paths[:1]), last_names(paths[1:])

    both = subject.create(platform, subject.with_faults(body, paths))
    one = subject.create(platform, subject.with_faults(body, paths[1:]))

    twin = subject.create(platform, body, valid=True)
    both.refused(twin=twin)
    one.refused(twin=twin)
    assert listed_names(both) >= corrected | wrong, both
    assert listed_names(one) >= wrong, one
    assert not listed_names(one) & corrected, one


REQUIRED_MEMBERS = {
    name: tuple(operation.request_schema["required"])
    for name, operation in document().operations.items()
    if operation.request_schema is not None and operation.request_schema.get("required")
}
"""By operation, the members that its body must have."""


@requirement("ERR-097")
@pytest.mark.parametrize("operation", REQUIRED_MEMBERS)
def test_a_member_that_is_missing_is_named(platform: Platform, operation: str) -> None:
    """A refusal that lists fields has the missing member in one of their paths."""
    valid_request = request(operation, platform)
    body = valid_request.body or {}
    member = next((name for name in REQUIRED_MEMBERS[operation] if name in body), None)
    if member is None:
        raise ResourceMissing("the body has no member that it has to have")
    without = {name: value for name, value in body.items() if name != member}

    refusal = valid_request.send(content=json.dumps(without).encode(), valid=False)

    if refusal.accepted or not field_errors(refusal):
        raise ResourceMissing(f"no invalid field is listed: {refusal}")
    assert member in {
        name for entry in listed_errors(refusal) for name in path_names(entry.get("field"))
    }
