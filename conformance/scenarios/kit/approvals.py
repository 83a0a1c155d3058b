"""What the approval of an agent's payment may not lead to."""

from __future__ import annotations

from conformance.exchange.answer import Answer
from conformance.platform.given.transactions import FAILED
from conformance.platform.platform import Platform
from conformance.platform.resource import Json
from conformance.scenarios.kit.marks import SETTLING


def expect_unpaid(platform: Platform, payment: Json, answer: Answer, twin: Json) -> None:
    """Assert that an approval pays nothing: it is refused, or taken and the payment fails.

    Args:
        platform: the suite in the part of a platform.
        payment: the quote of the payment that was to be approved.
        answer: the answer to its approval.
        twin: the quote of a payment that can be approved.
    """
    __tracebackhide__ = True
    if not answer.accepted:
        answer.refused(twin=platform.api.approve_transaction(twin["transactionId"]))
    transaction = platform.transactions.of_quote(payment)
    if transaction.get("status") in SETTLING:
        transaction = platform.transactions.at_status(payment, "COMPLETED", *FAILED)
    assert transaction.get("status") != "COMPLETED", answer
