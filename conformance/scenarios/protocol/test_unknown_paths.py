"""Paths, methods, identifiers and queries that the interface does not have."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote

import httpx
import pytest

from conformance.contract.document import Operation, document
from conformance.exchange.answer import Answer
from conformance.platform.grounds.request import MADE_UP, Request, request
from conformance.platform.platform import Platform
from conformance.scenarios.kit.marks import Check, requirement
from conformance.scenarios.protocol.stray import (
    expect_error_object,
    expect_refused,
    expect_unbroken,
    require_offer,
    require_state,
)

OPERATIONS: Mapping[str, Operation] = document().operations

METHODS: Mapping[str, frozenset[str]] = {
    path: frozenset(o.method for o in OPERATIONS.values() if o.path == path)
    for path in sorted({operation.path for operation in OPERATIONS.values()})
}
"""The methods of each path."""

OTHERS = ("GET", "POST", "PUT", "PATCH", "DELETE")
"""The methods that are tried where the interface does not have them."""

_LONG = 5_000
_FOREIGN = "שלום-中-\N{GRINNING FACE}"


@requirement("CNV-080", "CNV-081", "CNV-082", "CNV-083")
def test_a_path_that_is_none_is_refused(platform: Platform, check: Check) -> None:
    """Whoever answers, it is no success and no failure of the service."""
    customer = platform.approved.customer()
    at = f"/customers/{quote(customer['id'], safe=':')}"
    body = platform.customers.body()

    read = platform.api.client.stray("getConfig", path="/no-such-thing")
    sent = platform.api.client.stray("createCustomer", path="/no-such-thing", content=b"{}")
    below = platform.api.client.stray("getCustomer", path=f"{at}/no-such-thing")

    with check("CNV-080"):
        expect_refused(read, platform.api.client.call("getConfig"))
    with check("CNV-081"):
        expect_refused(sent, platform.api.create_customer(body))
    with check("CNV-082"):
        expect_refused(below, platform.api.get_customer(customer["id"]))
    with check("CNV-083"):
        expect_error_object([read, sent, below])


@requirement("CNV-084")
def test_slashes_too_many_break_nothing(platform: Platform) -> None:
    """Some overlook them, others refuse or redirect them."""
    paths = ("//config", "/config/", "/config//", "///config", "/./config", "/config/.")

    answers = [platform.api.client.stray("getConfig", path=path) for path in paths]

    for path, answer in zip(paths, answers, strict=True):
        platform.observe(f"GET {path} is answered with {answer.status}")
    expect_unbroken(answers)


@requirement("CNV-085", "CNV-086")
@pytest.mark.parametrize("path", METHODS)
def test_another_method_breaks_nothing(platform: Platform, check: Check, path: str) -> None:
    """Where a service has more methods than the interface, it may answer them."""
    name = next(o.id for o in OPERATIONS.values() if o.path == path)
    at = path.format_map(_MadeUp())
    methods = [method for method in OTHERS if method not in METHODS[path]]
    # Without an identifier they might do something to all that is there.
    methods = [method for method in methods if "{" in path or method not in ("PUT", "DELETE")]

    answers = [platform.api.client.stray(name, method=method, path=at) for method in methods]
    # It may echo credentials.
    anonymous = httpx.Auth()
    answers.append(platform.api.client.stray(name, method="TRACE", path=at, auth=anonymous))

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
    """What a browser or a cache repeats at will must not move money.

    Where nothing else can be seen of what the operation does, it can still be done afterwards.
    """
    found = request(name, platform)
    before = found.state()

    platform.api.client.stray(name, method="GET", path=path_of(found))

    after = found.state()
    assert after == before, f"a GET changed {before} to {after}"
    require_offer(found.send())


WILD: Mapping[str, str] = {
    "CNV-090": "x" * _LONG,
    "CNV-091": quote(_FOREIGN),
    "CNV-092": "no-such%2Fthing",
    "CNV-093": "no-such%00thing",
    "CNV-094": "no-such%FFthing",
    "CNV-095": "no-such%zzthing",
}
"""Identifiers that no resource has, as they stand in a path."""


@requirement(*WILD, "CNV-096", "CNV-097")
@pytest.mark.parametrize("name", [o.id for o in OPERATIONS.values() if "{" in o.path])
def test_a_wild_identifier_is_refused(platform: Platform, check: Check, name: str) -> None:
    """No resource has it, whatever the service makes of it."""
    found = request(name, platform)
    before = found.state()

    refusals = {identifier: at_path(found, wild) for identifier, wild in WILD.items()}
    climbing = at_path(found, "%2e%2e")
    after = found.state()
    twin = found.send()

    for identifier, refusal in refusals.items():
        with check(identifier):
            expect_refused(refusal, twin)
    with check("CNV-096"):
        expect_unbroken([climbing])
    with check("CNV-097"):
        require_state(before)
        assert after == before, f"requests for other resources changed {before} to {after}"
        require_offer(twin)


QUERIES: Mapping[str, str] = {
    "CNV-100": "no-such-parameter=1",
    "CNV-101": "limit=1&limit=2&currency=USD&currency=EUR",
    "CNV-102": f"currency={'x' * _LONG}",
    "CNV-103": "currency=U%00SD",
    "CNV-104": "currency=U%FFSD",
    "CNV-105": "currency=U%zzSD",
    "CNV-106": f"currency={quote(_FOREIGN)}",
}
"""Queries that nobody has to understand, as they go over the wire."""


@requirement(*QUERIES)
@pytest.mark.parametrize("name", [o.id for o in OPERATIONS.values() if o.method == "GET"])
def test_an_odd_query_breaks_nothing(platform: Platform, check: Check, name: str) -> None:
    """Whether it is overlooked or refused is for the service to say."""
    found = request(name, platform)
    own = str(httpx.QueryParams(dict(found.query)))

    for identifier, query in QUERIES.items():
        with check(identifier):
            path = f"{path_of(found)}?{own}&{query}" if own else f"{path_of(found)}?{query}"
            answer = platform.api.client.stray(name, path=path)
            if identifier == "CNV-100":
                word = "overlooked" if answer.accepted else "refused"
                platform.observe(f"a query parameter that is not known is {word}")
            expect_unbroken([answer])


class _MadeUp(dict[str, str]):
    """Has a made-up identifier for each name."""

    def __missing__(self, _name: str) -> str:
        return MADE_UP


def path_of(found: Request, **others: str) -> str:
    """Return the path of a request with its values, as it goes over the wire."""
    values = {name: quote(value, safe=":") for name, value in found.path.items()}
    return found.operation.path.format(**{**values, **others})


def at_path(found: Request, wild: str) -> Answer:
    """Send a request with another text in the place of each identifier of its path."""
    path = path_of(found, **dict.fromkeys(found.path, wild))
    query = str(httpx.QueryParams(dict(found.query)))
    return found.stray(f"{path}?{query}" if query else path)


def test_how_a_colon_may_be_written(platform: Platform) -> None:
    """Libraries differ in whether they encode it; which servers understand both is noted."""
    customer = platform.approved.customer()
    path = f"/customers/{quote(customer['id'], safe='')}"

    answer = platform.api.client.stray("getCustomer", path=path)

    platform.observe(f"an identifier with an encoded colon is answered with {answer.status}")
