"""Field errors: what a refusal lists of a customer or an external account is wrong, all of it."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any, Literal

import pytest

from conformance.contract.document import document
from conformance.exchange.answer import Answer
from conformance.platform.grounds.request import request
from conformance.platform.platform import Platform
from conformance.platform.resource import Json
from conformance.scenarios.kit.marks import requirement
from conformance.scenarios.kit.refusals import field_errors, last_name, listed, path_names
from conformance.testdata.examples import example, placed
from conformance.verdict.decisions import ResourceMissing, expect

INVALID = "INVALID_INPUT"


@dataclass(frozen=True)
class Subject:
    """What is created, and members of it with wrong values that no other member depends on."""

    kind: Literal["customer", "account"]
    example: str
    faults: Mapping[str, Any]

    def body(self, platform: Platform) -> Json:
        """Return a body without a fault."""
        if self.kind == "customer":
            return platform.customers.example_body(example(self.example))
        return platform.external_accounts.body(
            platform.external_accounts.account_holder(), self.example
        )

    def create(self, platform: Platform, body: Json, *, valid: bool = False) -> Answer:
        """Send a body, by default with faults."""
        if self.kind == "customer":
            return platform.api.create_customer(body, valid=valid)
        return platform.api.create_external_account(body, valid=valid)

    def wrong(self, body: Json, paths: Collection[str]) -> Json:
        """Return a body with some of the faults."""
        return reduce(lambda found, path: placed(found, path, self.faults[path]), paths, body)

    def refused_alone(self, platform: Platform, body: Json) -> dict[str, Answer]:
        """Return the refusals with INVALID_INPUT of single faults.

        Raises:
            ResourceMissing: there are less than two.
        """
        answers = {path: self.create(platform, self.wrong(body, [path])) for path in self.faults}
        found = {path: answer for path, answer in answers.items() if answer.code == INVALID}
        if len(found) < 2:
            raise ResourceMissing(f"refused at once with {INVALID} were the faults {list(found)}")
        return found


CUSTOMER = Subject(
    "customer",
    "individual",
    {
        "birthDate": "1985-13-14",
        "email": "mireille.example.com",
        "phoneNumber": "on request",
    },
)
WHOLE_CUSTOMER = Subject(
    "customer",
    "individual",
    {
        **CUSTOMER.faults,
        "nationality": "USA",
        "address.country": "USA",
        "idType": "PASSPORT",
    },
)
ACCOUNT = Subject(
    "account",
    "usd_account",
    {"accountInfo.accountNumber": "12", "accountInfo.routingNumber": "12"},
)
WHOLE_ACCOUNTS = (
    Subject(
        "account", "usd_account", {**ACCOUNT.faults, "accountInfo.bankAccountType": "PIGGY_BANK"}
    ),
    Subject(
        "account",
        "cad_account",
        {
            "accountInfo.bankCode": "12",
            "accountInfo.branchCode": "12",
            "accountInfo.accountNumber": "12",
        },
    ),
)


def named(refusal: Answer) -> set[str]:
    """Return the names that the fields listed by a refusal end in."""
    return {last_name(entry.get("field")) for entry in listed(refusal)}


def names_in(value: Any) -> Iterator[str]:
    """Yield the name of each member of a body, at whatever depth."""
    if isinstance(value, Mapping):
        for name, member in value.items():
            yield name
            yield from names_in(member)


def last(paths: Collection[str]) -> set[str]:
    """Return the names that paths end in."""
    return {path.rpartition(".")[2] for path in paths}


@pytest.mark.parametrize(
    "subject",
    [
        pytest.param(CUSTOMER, marks=requirement("ERR-090"), id="customer"),
        pytest.param(ACCOUNT, marks=requirement("ERR-093"), id="account"),
    ],
)
def test_a_field_that_is_right_is_not_listed(platform: Platform, subject: Subject) -> None:
    """Whatever is wrong beside it."""
    body = subject.body(platform)

    refusals = subject.refused_alone(platform, body)

    twin = subject.create(platform, body, valid=True)
    for path, refusal in refusals.items():
        refusal.refused(twin=twin)
        right = set(names_in(body)) - last([path])
        expect(not named(refusal) & right, f"{path} alone to be listed", refusal)


@requirement("ERR-096")
def test_a_wrong_field_of_an_account_is_listed(platform: Platform) -> None:
    """By a path that ends in its name."""
    body = ACCOUNT.body(platform)

    refusals = ACCOUNT.refused_alone(platform, body)

    twin = ACCOUNT.create(platform, body, valid=True)
    for path, refusal in refusals.items():
        refusal.refused(twin=twin)
        expect(named(refusal) >= last([path]), f"{path} to be listed", refusal)


@pytest.mark.parametrize(
    "subject",
    [
        pytest.param(WHOLE_CUSTOMER, marks=requirement("ERR-091"), id="customer"),
        *(
            pytest.param(subject, marks=requirement("ERR-094"), id=subject.example)
            for subject in WHOLE_ACCOUNTS
        ),
    ],
)
def test_all_fields_that_are_wrong_are_listed_together(
    platform: Platform, subject: Subject
) -> None:
    """Each that is refused by itself."""
    body = subject.body(platform)
    paths = subject.refused_alone(platform, body).keys()

    refusal = subject.create(platform, subject.wrong(body, paths))

    refusal.refused(twin=subject.create(platform, body, valid=True))
    expect(named(refusal) >= last(paths), f"{list(paths)} to be listed", refusal)


@pytest.mark.parametrize(
    "subject",
    [
        pytest.param(CUSTOMER, marks=requirement("ERR-092"), id="customer"),
        pytest.param(ACCOUNT, marks=requirement("ERR-095"), id="account"),
    ],
)
def test_a_field_that_was_corrected_is_no_longer_listed(
    platform: Platform, subject: Subject
) -> None:
    """The other one still is."""
    body = subject.body(platform)
    paths = list(subject.refused_alone(platform, body))[:2]
    corrected, left = last(paths[:1]), last(paths[1:])

    both = subject.create(platform, subject.wrong(body, paths))
    one = subject.create(platform, subject.wrong(body, paths[1:]))

    twin = subject.create(platform, body, valid=True)
    both.refused(twin=twin)
    one.refused(twin=twin)
    assert named(both) >= corrected | left, both
    assert named(one) >= left, one
    assert not named(one) & corrected, one


DEMANDING = {
    name: tuple(operation.request_schema["required"])
    for name, operation in document().operations.items()
    if operation.request_schema is not None and operation.request_schema.get("required")
}
"""By operation, the members that its body has to have."""


@requirement("ERR-097")
@pytest.mark.parametrize("operation", DEMANDING)
def test_a_member_that_is_missing_is_named(platform: Platform, operation: str) -> None:
    """Where the refusal lists fields; which operations do is said of a few alone."""
    found = request(operation, platform)
    body = found.body or {}
    member = next((name for name in DEMANDING[operation] if name in body), None)
    if member is None:
        raise ResourceMissing("the body has no member that it has to have")
    without = {name: value for name, value in body.items() if name != member}

    refusal = found.send(content=json.dumps(without).encode(), valid=False)

    if refusal.accepted or not field_errors(refusal):
        raise ResourceMissing(f"no invalid field is listed: {refusal}")
    assert member in {name for entry in listed(refusal) for name in path_names(entry.get("field"))}
