"""HTTP Basic credentials: without the right ones nothing is answered and nothing moves.

Each operation of the document is called with its whole, valid request, so that the credentials are
all that is wrong.
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
from conformance.scenarios.kit.marks import Check, requirement
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing

Fault = Callable[[Credentials], str | None]
"""Makes an ``Authorization`` header of the right credentials; ``None`` for none."""

CODE = "AUT-011"
ACCEPTED = "AUT-013"
NO_EFFECT = "AUT-042"
SECRET = "AUT-043"  # noqa: S105 - it is no secret

UNKNOWN = "00000000-conformance"
"""No token id and no client secret of any platform."""


def basic(user: str, password: str) -> str:
    """Return the header of HTTP Basic."""
    return f"Basic {coded(f'{user}:{password}')}"


def coded(text: str) -> str:
    """Return a text in base64."""
    return base64.b64encode(text.encode()).decode()


FAULTS: Mapping[str, Fault] = {
    "AUT-030": lambda _: None,
    "AUT-031": lambda right: basic(right.token_id, UNKNOWN),
    "AUT-032": lambda right: basic(UNKNOWN, right.client_secret),
    "AUT-033": lambda right: basic(right.token_id, ""),
    "AUT-034": lambda right: basic("", right.client_secret),
    "AUT-035": lambda right: basic(right.client_secret, right.token_id),
    "AUT-038": lambda right: f"Bearer {coded(f'{right.token_id}:{right.client_secret}')}",
    "AUT-039": lambda right: f"Basic {right.token_id}:{right.client_secret}",
    "AUT-040": lambda right: f"Basic {coded(right.token_id + right.client_secret)}",
    "AUT-041": lambda _: "Basic",
}
"""What may be wrong with credentials, each by the requirement that it is refused."""


def almost(change: Callable[[str], str]) -> Fault:
    """Return the right credentials but for a change of the secret."""

    def made(right: Credentials) -> str:
        changed = change(right.client_secret)
        if changed == right.client_secret:
            raise ResourceMissing("the client secret of the target has no letters")
        return basic(right.token_id, changed)

    return made


@requirement(*FAULTS, CODE, ACCEPTED, NO_EFFECT, SECRET)
@pytest.mark.parametrize("name", document().operations)
def test_an_operation_asks_for_the_credentials_of_the_platform(
    platform: Platform, check: Check, name: str
) -> None:
    """Whatever is wrong with them, it is refused and nothing happens; the right ones pass."""
    call = any_request(name, platform)
    before = call.state()

    refused = {fault: send(call, made) for fault, made in FAULTS.items()}
    after = call.state()
    twin = call.send()

    for fault, answer in refused.items():
        with check(fault):
            answer.denied(twin=twin)
        with check(CODE):
            answer.denied("UNAUTHORIZED", twin=twin)
    with check(ACCEPTED):
        if twin.status == 401:
            arrange_access(platform)
        assert twin.status != 401, f"the right credentials are refused: {twin}"
    with check(NO_EFFECT):
        assert after == before, f"before the refused requests it was {before}, then {after}"
        require_sight(call, twin)
    with check(SECRET):
        # Every answer of a run is looked at for it; this one surely came.
        pass


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(str.swapcase, marks=requirement("AUT-036"), id="in-other-letters"),
        pytest.param(lambda secret: secret[:-1], marks=requirement("AUT-037"), id="cut-short"),
    ],
)
def test_a_secret_is_right_to_the_letter(platform: Platform, change: Callable[[str], str]) -> None:
    """What merely looks like it proves nothing."""
    call = any_request("getConfig", platform)

    answer = send(call, almost(change))

    answer.denied(twin=call.send())


def send(call: Request, made: Fault) -> Answer:
    """Send a request with other credentials than the right ones."""
    return call.send(auth=call.platform.api.client.presenting(made))


def arrange_access(platform: Platform) -> None:
    """Raise ``PreconditionFailed`` where the wrong credentials have locked out the right ones."""
    if all(
        platform.api.client.call(name).status == 401 for name in ("getConfig", "listStablecoins")
    ):
        raise PreconditionFailed("after many wrong credentials the right ones are refused as well")


def require_sight(call: Request, twin: Answer) -> None:
    """Raise ``ResourceMissing`` unless an effect would be seen."""
    if not call.shows or not twin.accepted:
        raise ResourceMissing(f"nothing is seen of what {call.operation.id} does")
