"""What the suite adds to a request: it is judged, bounded, cleaned of secrets and written down."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from conformance.bench.conftest import Keep, Repeat
from conformance.bench.figures import Figure
from conformance.platform.platform import Platform
from conformance.run import Connection

_REQUESTS = 100
_ROUNDS = 15

Send = Callable[[Platform, Any], Any]


def _seconds(send: Callable[[Any], Any], bodies: list[Any]) -> float:
    """Return the processor time that this process takes to send a body after the other."""
    started = time.process_time()
    for body in bodies:
        send(body)
    return time.process_time() - started


@pytest.mark.parametrize(
    ("target", "send"),
    [
        ("GET /config", lambda platform, _: platform.api.get_config()),
        ("POST /customers", lambda platform, body: platform.api.create_customer(body)),
    ],
    ids=["read", "create"],
)
def test_an_exchange(
    repeat: Repeat, keep: Keep, connection: Connection, target: str, send: Send
) -> None:
    """A judged exchange takes little more than the same one by bare httpx."""
    platform = connection.platform("bench")
    method, path = target.split()
    url = connection.client.base_url + path
    ratios: list[float] = []

    with httpx.Client(auth=connection.client.credentials(), trust_env=False) as bare:

        def plain(body: Any) -> Any:
            return bare.request(method, url, json=body).json()

        def measure() -> None:
            makes = method == "POST"
            bodies = [platform.customers.body() if makes else None for _ in range(_REQUESTS)]
            # In turns, so that what else the machine does is the same for both.
            alone = _seconds(plain, bodies)
            ratios.append(_seconds(lambda body: send(platform, body), bodies) / alone)

        repeat(measure, 1 + _ROUNDS)

    name = f"processor time of a judged {target} against bare httpx"
    # The first time compiles schemas and opens connections.
    keep(Figure.of(name, ratios[1:], "times", compared=True))
