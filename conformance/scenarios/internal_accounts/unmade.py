"""That what was refused makes no rule-based account, whose number would be there for ever."""

from __future__ import annotations

from collections.abc import Sequence

from conformance.exchange.answer import Answer
from conformance.platform.platform import Platform
from conformance.platform.resource import Json
from conformance.scenarios.kit.marks import Check
from conformance.verdict.decisions import ResourceMissing


def expect_unmade(
    platform: Platform,
    check: Check,
    holder_account: Json,
    *refusals: Answer,
    beside: Sequence[str] = (),
) -> None:
    """Decide whether requests that were refused have made no account of a holder's.

    Args:
        platform: the suite in the part of a platform.
        check: the fixture of the test.
        holder_account: the holder's account, where funds may land.
        refusals: the answers to the requests; where one was accepted there is nothing to decide.
        beside: the ids of the accounts that the holder has already.
    """
    accepted = [answer for answer in refusals if answer.accepted]
    listed = [] if accepted else platform.rule_based.of_holder(holder_account)
    with check("RBA-055"):
        if accepted:
            raise ResourceMissing(f"it was not refused: {accepted[0]}")
        made = {str(account["id"]) for account in listed} - set(beside)
        assert not made, f"{made} were made all the same"
