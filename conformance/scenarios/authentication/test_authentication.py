"""HTTP Basic credentials: without the right ones, requests are refused and change nothing.

Each operation of the document is called with its complete, valid request, so that only the
credentials are wrong.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping

import pytest

from conformance.contract.document import document
from conformance.exchange.answer import Answer
from conformance.exchange.credentials import Credentials
from conformance.platform.grounds.request import Request, any_request
from conformance.platform.platform import Platform
from conformance.platform.resource import arranged_resource, unknown_id
from conformance.scenarios.kit.cases import case
from conformance.scenarios.kit.marks import Check, requirement
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing

Fault = Callable[[Credentials], str | None]
"""Makes an ``Authorization`` header of the right credentials; ``None`` stands for no header."""

CODE = "AUT-011"
ACCEPTED = "AUT-013"
NO_EFFECT = "AUT-042"
SECRET = "AUT-043"  # noqa: S105 - the id of a requirement

INVALID = 400
UNAUTHORIZED = 401

UNKNOWN = "00000000-conformance"
"""A text that is neither a token id nor a client secret of any platform."""


def basic(user: str, password: str) -> str:
    """Return the value of an ``Authorization`` header for HTTP Basic."""
    return f"Basic {to_base64(f'{user}:{password}')}"


def to_base64(text: str) -> str:
    """Return a text in base64."""
    return base64.b64encode(text.encode()).decode()


FAULTS: Mapping[str, Fault] = {
    "AUT-030": lambda _: None,
    "AUT-031": lambda right: basic(right.token_id, UNKNOWN),
    "AUT-032": lambda right: basic(UNKNOWN, right.client_secret),
    "AUT-033": lambda right: basic(right.token_id, ""),
    "AUT-034": lambda right: basic("", right.client_secret),
    "AUT-035": lambda right: basic(right.client_secret, right.token_id),
    "AUT-038": lambda right: f"Bearer {to_base64(f'{right.token_id}:{right.client_secret}')}",
    "AUT-039": lambda right: f"Basic {right.token_id}:{right.client_secret}",
    "AUT-040": lambda right: f"Basic {to_base64(right.token_id + right.client_secret)}",
    "AUT-041": lambda _: "Basic",
    "AUT-047": lambda _: basic("", ""),
}
"""Faults of credentials, by the requirement that they are refused."""


UNREADABLE = ("AUT-039", "AUT-040", "AUT-041")
"""The faults that leave no token id and secret to read: a request in a wrong format, by one reading
(Authentication, line 424)."""


def changed_secret(change: Callable[[str], str]) -> Fault:
    """Return the fault of credentials whose secret is changed a little."""

    def fault(right: Credentials) -> str:
        changed = change(right.client_secret)
        if changed == right.client_secret:
            raise ResourceMissing("the client secret of the target has no letters")
        return basic(right.token_id, changed)

    return fault


@requirement(*FAULTS, CODE, ACCEPTED, NO_EFFECT, SECRET)
@pytest.mark.parametrize("name", document().operations)
def test_an_operation_asks_for_the_credentials_of_the_platform(
    platform: Platform, check: Check, name: str
) -> None:
    """Wrong credentials are refused as UNAUTHORIZED and change nothing; the right ones are not."""
    call = any_request(name, platform)
    before = call.state()

    refusals = {fault: send(call, apply_fault) for fault, apply_fault in FAULTS.items()}
    after = call.state()
    twin = call.send()

    for fault, answer in refusals.items():
        with check(fault):
            answer.denied(twin=twin, unreadable=fault in UNREADABLE)
        if fault in UNREADABLE and answer.status == INVALID:
            continue
        with check(CODE):
            answer.denied("UNAUTHORIZED", twin=twin)
    with check(ACCEPTED):
        if twin.status == 401:
            arrange_access(platform)
        assert twin.status != 401, f"the right credentials are refused: {twin}"
    with check(NO_EFFECT):
        assert after == before, f"before the refused requests it was {before}, then {after}"
        require_visible_effect(call, twin)
    with check(SECRET):
        # The suite looks for the secret in every answer of a run; here at least one came.
        pass


@requirement(NO_EFFECT)
def test_no_payment_is_made_for_a_wrong_secret(platform: Platform) -> None:
    """A quote with immediatelyExecute that is refused for its credentials debits nothing."""
    source = platform.internal_accounts.account()
    body = platform.quotes.body(source, immediatelyExecute=True)
    before, _ = platform.internal_accounts.balances(source)
    wrong = platform.api.client.presenting(FAULTS["AUT-031"])

    refusal = platform.api.call("createQuote", body=body, auth=wrong)

    if refusal.accepted:
        raise PreconditionFailed(f"a wrong secret is not refused: {refusal}", breaks=["AUT-031"])
    payment = arranged_resource(platform.api.create_quote(body))
    # What was executed before this payment has been debited by the time it has arrived.
    status = platform.transactions.at_status(payment, "COMPLETED").get("status")
    if status != "COMPLETED":
        raise PreconditionFailed(f"the payment did not complete: it is {status}")
    left = before - payment["totalSendingAmount"]
    assert platform.internal_accounts.wait_for_balance(source, left) == left, refusal


@requirement("AUT-045")
@pytest.mark.parametrize(
    "name",
    [
        o.id
        for o in document().operations.values()
        if "requestBody" in o.raw and o.form_schema is None
    ],
)
def test_credentials_are_looked_at_before_the_body(platform: Platform, name: str) -> None:
    """A wrong secret is refused with 401, also with a body that is no object."""
    call = any_request(name, platform)
    expect_denied(call, lambda **auth: call.send(content=b"[]", valid=False, **auth))


@requirement("AUT-046")
@pytest.mark.parametrize("name", [o.id for o in document().operations.values() if "{" in o.path])
def test_credentials_are_looked_at_before_the_path(platform: Platform, name: str) -> None:
    """A wrong secret is refused with 401, whether or not there is what the path names."""
    call = any_request(name, platform)
    unknown = {parameter: unknown_id(known) for parameter, known in call.path.items()}
    expect_denied(call, lambda **auth: call.send(path=unknown, **auth))


@pytest.mark.parametrize(
    "change",
    [
        case("AUT-036", "in-other-letters", str.swapcase),
        case("AUT-037", "cut-short", lambda secret: secret[:-1]),
        case("AUT-044", "continued", lambda secret: f"{secret}x"),
    ],
)
def test_a_secret_is_right_to_the_letter(platform: Platform, change: Callable[[str], str]) -> None:
    """A secret in other letter case, without its last character or with one more, is refused."""
    call = any_request("getConfig", platform)

    answer = send(call, changed_secret(change))

    answer.denied(twin=call.send())


def send(call: Request, fault: Fault) -> Answer:
    """Send a request with other credentials than the right ones."""
    return call.send(auth=call.platform.api.client.presenting(fault))


def expect_denied(call: Request, send_fault: Callable[..., Answer]) -> None:
    """Assert that a request with another fault is answered as without it: 401 for its wrong secret.

    Args:
        call: the request without the fault.
        send_fault: sends the request with the fault, with the right credentials or with others.

    Raises:
        ResourceMissing: the operation is not offered, or the fault alone is refused with 401.
    """
    __tracebackhide__ = True
    wrong = call.platform.api.client.presenting(FAULTS["AUT-031"])
    without_fault, refusal, twin = call.send(auth=wrong), send_fault(auth=wrong), send_fault()
    if without_fault.status != UNAUTHORIZED or twin.status == UNAUTHORIZED:
        raise ResourceMissing(f"a wrong secret makes no difference: {without_fault}, {twin}")
    assert refusal.status == without_fault.status, refusal


def arrange_access(platform: Platform) -> None:
    """Raise ``PreconditionFailed`` if the wrong credentials have locked out the right ones."""
    if all(
        platform.api.client.call(name).status == 401 for name in ("getConfig", "listStablecoins")
    ):
        raise PreconditionFailed("after many wrong credentials the right ones are refused as well")


def require_visible_effect(call: Request, twin: Answer) -> None:
    """Raise ``ResourceMissing`` unless the suite would see an effect of the operation."""
    if not call.shows or not twin.accepted:
        raise ResourceMissing(f"nothing is seen of what {call.operation.id} does")
