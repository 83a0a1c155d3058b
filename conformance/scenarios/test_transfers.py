"""The deprecated transfers within one currency, which are still served."""

from __future__ import annotations

from conformance.client.platform import Platform
from conformance.scenarios.marks import requirement

UNSERVED = (404, 405, 410, 501)
"""What is answered where an operation is not there (any more)."""


@requirement("TRX-090")
def test_the_deprecated_transfer_in_is_served(platform: Platform) -> None:
    """What its body looks like is not shown, so that any other answer may come."""
    account = platform.account()
    pulled = platform.destination({"id": account["customerId"]})

    answer = platform.transfer_in(pulled, account, 10_000)

    assert answer.status not in UNSERVED, answer


@requirement("TRX-091")
def test_the_deprecated_transfer_out_is_served(platform: Platform) -> None:
    """What its body looks like is not shown, so that any other answer may come."""
    account = platform.account()
    paid = platform.destination({"id": account["customerId"]})

    answer = platform.transfer_out(account, paid, 10_000)

    assert answer.status not in UNSERVED, answer
