"""One-shot triggers happen to the payout that the test means, and to no other."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conformance.platform.one_shots import OneShots
from conformance.platform.triggers import Triggers
from conformance.platform.turns import TurnOfTest
from conformance.selftest.platform.test_triggers import World
from conformance.sut.target import Target
from conformance.verdict.decisions import TriggerFailed

BASE_URL = "https://api.acme.example/v/2025-10-13"
FAIL_NEXT = {"payout.return": {"scope": "next", "http": {"url": "{origin}/fail-next"}}}


class Rail:
    """A sandbox whose next payout fails; ``log`` has what happened, in its order."""

    def __init__(self) -> None:
        self.log: list[str] = []
        self.under_way: dict[str, int] = {}
        self.one_shots = OneShots(self.status_of, until)

    def status_of(self, transaction: str) -> str:
        self.log.append(f"read {transaction}")
        left = self.under_way.get(transaction, 0)
        self.under_way[transaction] = left - 1
        return "PROCESSING" if left > 0 else "FAILED"

    def send(self, operation: str, answer: Any = None, **parts: Any) -> None:
        self.one_shots.before(operation, parts)
        self.log.append(operation)
        self.one_shots.after(parts, answer)

    def fail_payouts_to(self, account: str) -> None:
        self.one_shots.arm(account, lambda: self.log.append("fail next"))

    def quote(self, name: str, account: str) -> None:
        self.send("createQuote", {"id": name, "transactionId": f"t-{name}"}, body={"to": account})

    def execute(self, name: str) -> None:
        answer = {"id": name, "transactionId": f"t-{name}"}
        self.send("executeQuote", answer, path={"quoteId": name})


def until(read: Callable[[], bool], wanted: Callable[[bool], bool]) -> bool:
    """Read up to five times."""
    return any(wanted(read()) for _ in range(5))


def test_it_is_caused_right_before_its_payout() -> None:
    """Quotes, and payouts to other accounts, come and go before."""
    rail = Rail()
    rail.fail_payouts_to("failing")
    rail.quote("q1", "failing")
    rail.quote("q2", "sound")
    rail.execute("q2")
    rail.execute("q1")

    assert rail.log == [
        *("createQuote", "createQuote", "executeQuote"),
        *("fail next", "executeQuote"),
    ]


def test_the_next_payout_waits_for_its_effect() -> None:
    """Another payout is sent once the transaction of the failing one is over."""
    rail = Rail()
    rail.fail_payouts_to("failing")
    rail.quote("q1", "failing")
    rail.quote("q2", "sound")
    rail.under_way["t-q1"] = 2
    rail.execute("q1")
    rail.log.clear()

    rail.execute("q2")

    assert rail.log == ["read t-q1"] * 3 + ["executeQuote"]


def test_it_is_caused_for_each_payout_to_its_account() -> None:
    """So it does the same as a trigger that is bound to the account."""
    rail = Rail()
    rail.fail_payouts_to("failing")
    for name in ("q1", "q2"):
        rail.quote(name, "failing")
        rail.execute(name)

    assert rail.log.count("fail next") == 2


def test_an_authorization_goes_on_with_the_same_payout() -> None:
    """It is caused once, before the execution."""
    rail = Rail()
    rail.fail_payouts_to("failing")
    rail.quote("q1", "failing")
    rail.execute("q1")
    rail.send("authorizeQuote", {"id": "q1"}, path={"quoteId": "q1"})

    assert rail.log.count("fail next") == 1


@pytest.mark.parametrize("immediately", [True, False])
def test_a_quote_may_be_executed_at_once(*, immediately: bool) -> None:
    """It is caused before a quote that is executed at once, and before no other one."""
    rail = Rail()
    rail.fail_payouts_to("failing")

    rail.send("createQuote", {}, body={"to": "failing", "immediatelyExecute": immediately})

    assert ("fail next" in rail.log) is immediately


def test_the_end_of_the_test_waits_too() -> None:
    """Nothing is left for the next test; where that cannot be seen, it is told."""
    seen, unseen, idle = Rail(), Rail(), Rail()
    for rail in (seen, unseen):
        rail.fail_payouts_to("failing")
        rail.quote("q1", "failing")
    idle.fail_payouts_to("failing")
    seen.execute("q1")
    unseen.send("executeQuote", None, path={"quoteId": "q1"})

    assert seen.one_shots.end()
    assert seen.log[-1] == "read t-q1"
    assert not unseen.one_shots.end()
    assert idle.one_shots.end()


class TestTriggers:
    """The triggers of a profile know their scope."""

    def test_a_payout_is_armed_and_others_are_caused_at_once(
        self, make_target: Callable[..., Target], tmp_path: Path
    ) -> None:
        """A one-shot trigger of payouts sends nothing when it is fired."""
        world = World()
        mapping = {
            **FAIL_NEXT,
            "customer.reject": {"scope": "next", "http": {"url": "{origin}/reject-next"}},
        }
        target = make_target(BASE_URL, triggers=mapping)
        triggers = Triggers(target, world.send, world.wait, folder=tmp_path)

        def sent() -> list[str]:
            return [url.rpartition("/")[2] for _, url, _ in world.requests]

        triggers.fire("payout.return", externalAccountId="e")
        triggers.fire("customer.reject", customerId="c")
        assert sent() == ["reject-next"]

        triggers.one_shots.before("executeQuote", {"body": {"to": "e"}})
        assert sent() == ["reject-next", "fail-next"]
        triggers.turn.end()


class TestTurns:
    """A test whose trigger happens to all runs alone."""

    def test_others_wait_until_it_ends(self, tmp_path: Path) -> None:
        """Tests run beside each other; one that meddles waits for them, and they for it."""
        first, second, third = (TurnOfTest(tmp_path) for _ in range(3))
        first.begin()
        second.begin()
        log: list[str] = []

        def meddle() -> None:
            second.stay_alone()
            log.append("alone")
            second.end()

        def wait_for_turn() -> None:
            third.begin()
            log.append("third")
            third.end()

        meddling = threading.Thread(target=meddle)
        meddling.start()
        meddling.join(0.3)
        assert log == []
        first.end()
        meddling.join(10)
        waiting = threading.Thread(target=wait_for_turn)
        waiting.start()
        waiting.join(10)

        assert log == ["alone", "third"]

    def test_they_are_taken_whatever_triggers_happen_to(
        self, make_target: Callable[..., Target], tmp_path: Path
    ) -> None:
        """A test can be alone where the profile's triggers keep to their parameters, too."""
        first, second = (
            Triggers(make_target(BASE_URL), lambda *_: (200, {}), lambda _: None, folder=tmp_path)
            for _ in range(2)
        )
        first.turn.begin()
        log: list[str] = []

        def stay_alone() -> None:
            second.turn.stay_alone()
            log.append("alone")
            second.turn.end()

        waiting = threading.Thread(target=stay_alone)
        waiting.start()
        waiting.join(0.3)
        assert log == []
        first.turn.end()
        waiting.join(10)

        assert log == ["alone"]

    def test_where_nothing_can_be_locked_tests_run_beside_each_other(self, tmp_path: Path) -> None:
        """A test begins without a turn; one that has to be alone says why it cannot be."""
        (tmp_path / "tests.lock").mkdir()
        turns = TurnOfTest(tmp_path)

        turns.begin()

        with pytest.raises(TriggerFailed, match="tests cannot take turns, as no file in"):
            turns.stay_alone()
