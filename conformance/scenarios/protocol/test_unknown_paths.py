"""Paths, methods, identifiers and queries that the interface does not have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from urllib.parse import quote

import httpx
import pytest

from conformance.contract.document import Operation, document
from conformance.exchange.answer import Answer
from conformance.platform.grounds.request import MADE_UP, Request, request
from conformance.platform.platform import Platform
from conformance.scenarios.kit.faults import having
from conformance.scenarios.kit.marks import Check, requirement
from conformance.scenarios.protocol.stray import (
    expect_error_object,
    expect_refused,
    expect_unbroken,
    require_offer,
    require_state,
)
from conformance.text.paths import value_at
from conformance.verdict.decisions import ResourceMissing

OPERATIONS: Mapping[str, Operation] = document().operations

METHODS: Mapping[str, frozenset[str]] = {
    path: frozenset(o.method for o in OPERATIONS.values() if o.path == path)
    for path in sorted({operation.path for operation in OPERATIONS.values()})
}
"""The methods of each path."""

TRIED_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
"""The methods that are tried at paths for which the interface does not have them."""

_TEXT_LENGTH = 5_000
_FOREIGN = "שלום-中-\N{GRINNING FACE}"


@requirement("CNV-080", "CNV-081", "CNV-082", "CNV-083")
def test_a_path_that_is_none_is_refused(platform: Platform, check: Check) -> None:
    """A read or a POST at an unknown path is refused with a client error, also below a resource."""
    customer = platform.approved.customer()
    customer_path = f"/customers/{quote(customer['id'], safe=':')}"
    body = platform.customers.body()

    read_answer = platform.api.client.stray("getConfig", path="/no-such-thing")
    create_answer = platform.api.client.stray(
        "createCustomer", path="/no-such-thing", content=b"{}"
    )
    below_answer = platform.api.client.stray("getCustomer", path=f"{customer_path}/no-such-thing")

    with check("CNV-080"):
        expect_refused(read_answer, platform.api.client.call("getConfig"))
    with check("CNV-081"):
        expect_refused(create_answer, platform.api.create_customer(body))
    with check("CNV-082"):
        expect_refused(below_answer, platform.api.get_customer(customer["id"]))
    with check("CNV-083"):
        expect_error_object([read_answer, create_answer, below_answer])


@requirement("CNV-084")
def test_slashes_too_many_break_nothing(platform: Platform) -> None:
    """Paths with more slashes or dots may be served, refused or redirected.

    They cause no server error.
    """
    paths = ("//config", "/config/", "/config//", "///config", "/./config", "/config/.")

    answers = [platform.api.client.stray("getConfig", path=path) for path in paths]

    for path, answer in zip(paths, answers, strict=True):
        platform.observe(f"GET {path} is answered with {answer.status}")
    expect_unbroken(answers)


@requirement("CNV-085", "CNV-086")
@pytest.mark.parametrize("path", METHODS)
def test_another_method_breaks_nothing(platform: Platform, check: Check, path: str) -> None:
    """Other methods may be served, or are refused with an error object and no server error."""
    name = next(o.id for o in OPERATIONS.values() if o.path == path)
    concrete_path = path.format_map(_MadeUp())
    methods = [method for method in TRIED_METHODS if method not in METHODS[path]]
    # Without an identifier these methods might change all resources of the path.
    methods = [method for method in methods if "{" in path or method not in ("PUT", "DELETE")]

    answers = [
        platform.api.client.stray(name, method=method, path=concrete_path) for method in methods
    ]
    # An answer to TRACE may repeat the credentials.
    anonymous = httpx.Auth()
    answers.append(
        platform.api.client.stray(name, method="TRACE", path=concrete_path, auth=anonymous)
    )

    for answer in answers:
        if answer.accepted:
            platform.observe(f"{answer.exchange.method} {path} is answered with {answer.status}")
    with check("CNV-085"):
        expect_unbroken(answers)
    with check("CNV-086"):
        expect_error_object(answers[:-1])


@requirement("CNV-087")
@pytest.mark.parametrize(
    "name",
    [o.id for o in OPERATIONS.values() if o.method != "GET" and "GET" not in METHODS[o.path]],
)
def test_reading_does_nothing(platform: Platform, name: str) -> None:
    """A GET at a path that has no GET changes nothing, as browsers and caches repeat it at will.

    If the suite cannot see what the operation changes, it checks that the operation can still be
    carried out.
    """
    valid_request = request(name, platform)
    before = valid_request.state()

    platform.api.client.stray(name, method="GET", path=path_of(valid_request))

    after = valid_request.state()
    assert after == before, f"a GET changed {before} to {after}"
    require_offer(valid_request.send())


WILD: Mapping[str, str] = {
    "CNV-090": "x" * _TEXT_LENGTH,
    "CNV-091": quote(_FOREIGN),
    "CNV-092": "no-such%2Fthing",
    "CNV-093": "no-such%00thing",
    "CNV-094": "no-such%FFthing",
    "CNV-095": "no-such%zzthing",
}
"""Identifiers that no resource has, encoded as they are sent in a path."""

TYPED: Mapping[str, str] = {"CNV-113": "", "CNV-114": "no-such-thing"}
"""What follows the type of the resource in identifiers that no resource has."""


@requirement(*WILD, *TYPED, "CNV-096", "CNV-097")
@pytest.mark.parametrize("name", [o.id for o in OPERATIONS.values() if "{" in o.path])
def test_a_wild_identifier_is_refused(platform: Platform, check: Check, name: str) -> None:
    """Identifiers that no resource has are refused with a client error, and change nothing.

    They are sent alone and, where identifiers have one, behind the type of the resource.
    """
    valid_request = request(name, platform)
    before = valid_request.state()
    types = {f"{known.partition(':')[0]}:" for known in valid_request.path.values() if ":" in known}

    refusals = {
        identifier: [send_at_path(valid_request, f"{kind}{wild}") for kind in ("", *types)]
        for identifier, wild in WILD.items()
    }
    typed_refusals = {
        identifier: [send_at_path(valid_request, f"{kind}{rest}") for kind in types]
        for identifier, rest in TYPED.items()
    }
    parent_answer = send_at_path(valid_request, "%2e%2e")
    after = valid_request.state()
    twin = valid_request.send()

    for identifier, answers in {**refusals, **typed_refusals}.items():
        with check(identifier):
            if not answers:
                raise ResourceMissing("the identifier tells no type")
            for refusal in answers:
                expect_refused(refusal, twin)
    with check("CNV-096"):
        expect_unbroken([parent_answer])
    with check("CNV-097"):
        require_state(before)
        assert after == before, f"requests for other resources changed {before} to {after}"
        require_offer(twin)


@requirement("CNV-115")
@pytest.mark.parametrize(
    ("name", "place"),
    [
        pytest.param(name, place, id=f"{name}-{place}")
        for name, place in (
            ("createQuote", "source.accountId"),
            ("createQuote", "destination.accountId"),
            ("createDocument", "documentHolder"),
            ("listCustomerInternalAccounts", "customerId"),
            ("listCustomerExternalAccounts", "customerId"),
        )
    ],
)
def test_a_wild_identifier_in_a_request_breaks_nothing(
    platform: Platform, name: str, place: str
) -> None:
    """Identifiers that no resource has, in a body or a query, cause no server error."""
    valid_request = request(name, platform)
    own = value_at({**(valid_request.body or {}), **valid_request.query}, place)
    kind, colon, _ = str(own).partition(":")
    answers = []
    for wild in (
        "",
        "no-such-thing",
        "no-such/thing",
        "no-such\0thing",
        _FOREIGN,
        "x" * _TEXT_LENGTH,
    ):
        identifier = f"{kind}:{wild}" if colon else wild
        ground = valid_request.ground
        if place in valid_request.query:
            ground = replace(ground, query={**ground.query, place: identifier})
        else:
            ground = replace(ground, body=dict(having(place, identifier)(valid_request.body or {})))
        # A gateway may refuse an odd query by itself.
        answers.append(replace(valid_request, ground=ground).send(valid=False, judged=False))

    expect_unbroken(answers)


QUERIES: Mapping[str, str] = {
    "CNV-100": "no-such-parameter=1",
    "CNV-101": "limit=1&limit=2&currency=USD&currency=EUR",
    "CNV-102": f"currency={'x' * _TEXT_LENGTH}",
    "CNV-103": "currency=U%00SD",
    "CNV-104": "currency=U%FFSD",
    "CNV-105": "currency=U%zzSD",
    "CNV-106": f"currency={quote(_FOREIGN)}",
}
"""Queries that no implementation has to understand, encoded as they are sent."""


@requirement(*QUERIES)
@pytest.mark.parametrize("name", [o.id for o in OPERATIONS.values() if o.method == "GET"])
def test_an_odd_query_breaks_nothing(platform: Platform, check: Check, name: str) -> None:
    """Unknown, repeated or malformed parameters may be ignored or refused: no server error."""
    valid_request = request(name, platform)
    own_query = str(httpx.QueryParams(dict(valid_request.query)))

    for identifier, query in QUERIES.items():
        with check(identifier):
            path = (
                f"{path_of(valid_request)}?{own_query}&{query}"
                if own_query
                else f"{path_of(valid_request)}?{query}"
            )
            answer = platform.api.client.stray(name, path=path)
            if identifier == "CNV-100":
                word = "overlooked" if answer.accepted else "refused"
                platform.observe(f"a query parameter that is not known is {word}")
            expect_unbroken([answer])


class _MadeUp(dict[str, str]):
    """A mapping that has a made-up identifier for each name."""

    def __missing__(self, _name: str) -> str:
        return MADE_UP


def path_of(valid_request: Request, **others: str) -> str:
    """Return the path of a request with its values, encoded as it is sent."""
    values = {name: quote(value, safe=":") for name, value in valid_request.path.items()}
    return valid_request.operation.path.format(**{**values, **others})


def send_at_path(valid_request: Request, wild: str) -> Answer:
    """Send a request with another text in the place of each identifier of its path."""
    path = path_of(valid_request, **dict.fromkeys(valid_request.path, wild))
    query = str(httpx.QueryParams(dict(valid_request.query)))
    return valid_request.stray(f"{path}?{query}" if query else path)


def test_how_a_colon_may_be_written(platform: Platform) -> None:
    """Libraries differ in whether they encode a colon; the answer to an encoded one is recorded."""
    customer = platform.approved.customer()
    path = f"/customers/{quote(customer['id'], safe='')}"

    answer = platform.api.client.stray("getCustomer", path=path)

    platform.observe(f"an identifier with an encoded colon is answered with {answer.status}")
