"""The deprecated transfers within one currency, which are still served."""

from __future__ import annotations

from conformance.client.http import Answer
from conformance.client.platform import Platform
from conformance.scenarios.marks import requirement

UNSERVED = (405, 410, 501)
"""What is answered where an operation is not there (any more), beside 404."""

NOT_FOUND = 404
ELSEWHERE = "-elsewhere"
"""Makes a path at which nothing can be served."""


@requirement("TRX-090")
def test_the_deprecated_transfer_in_is_served(platform: Platform) -> None:
    """What its body looks like is not shown, so that any other answer may come."""
    account = platform.account()
    pulled = platform.destination({"id": account["customerId"]})

    answer = platform.transfer_in(pulled, account, 10_000)

    demand_served(platform, answer)


@requirement("TRX-091")
def test_the_deprecated_transfer_out_is_served(platform: Platform) -> None:
    """What its body looks like is not shown, so that any other answer may come."""
    account = platform.account()
    paid = platform.destination({"id": account["customerId"]})

    answer = platform.transfer_out(account, paid, 10_000)

    demand_served(platform, answer)


def demand_served(platform: Platform, answer: Answer) -> None:
    """Assert that an operation answered, though it may miss what the body names."""
    __tracebackhide__ = True
    assert answer.status not in UNSERVED, answer
    if answer.status == NOT_FOUND:
        url, body = answer.exchange.url, answer.exchange.request_body
        _, nothing = platform.client.trigger("POST", url + ELSEWHERE, body)
        # Without an error object it tells of nothing that the body names.
        assert told(answer.body) not in (told(nothing), told(None)), answer


def told(error: object) -> tuple[str, ...]:
    """Return what an error object says, whatever the path that it may name."""
    members = error if isinstance(error, dict) else {}
    return tuple(str(members.get(name)).replace(ELSEWHERE, "") for name in ("code", "reason"))
