"""The model of payments, and the orders that explain what several clients were answered."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.fuzz.model.clients import AMOUNTS, Program, program, shorter
from conformance.fuzz.model.order import (
    MAX_REQUESTS,
    Effect,
    Happening,
    State,
    drawn,
    is_explained,
)
from conformance.fuzz.model.payments import Payment, balance_span, failing, fates, status_of
from conformance.fuzz.model.world import OPENING, View, World
from conformance.platform.ledger import Ledger
from conformance.platform.resource import Resource
from conformance.verdict.decisions import TriggerFailed

SOURCE, DESTINATION = "InternalAccount:1", "InternalAccount:2"
SENT, RECEIVED = 100, 90
EXECUTED = ("executeQuote",)


def payment(status: str | None, *, fate: str | None = None, done: tuple[str, ...] = ()) -> Payment:
    """Return a payment of 100 smallest units with fees of 10."""
    quote = {
        "id": "Quote:1",
        "transactionId": "Transaction:1",
        "source": {"accountId": SOURCE},
        "destination": {"accountId": DESTINATION},
        "totalSendingAmount": SENT,
        "totalReceivingAmount": RECEIVED,
        "feesIncluded": 10,
        "expiresAt": "2999-01-01T00:00:00Z",
    }
    return Payment(quote, fate, status, {"createQuote", *done})


class TestPayments:
    """What a payment may come to, and what it does to balances."""

    @pytest.mark.parametrize(
        ("status", "source", "destination"),
        [
            ("PENDING", (0, 0), (0, 0)),
            ("EXPIRED", (0, 0), (0, 0)),
            ("PROCESSING", (-SENT, -SENT), (0, RECEIVED)),
            ("COMPLETED", (-SENT, -SENT), (RECEIVED, RECEIVED)),
            ("FAILED", (-SENT, 0), (0, 0)),
            ("REFUND_PENDING", (-SENT, -SENT), (0, 0)),
            ("REFUND_COMPLETED", (-10, 0), (0, 0)),
            ("REFUND_FAILED", (-SENT, -SENT), (0, 0)),
        ],
    )
    def test_a_status_tells_what_has_moved(
        self, status: str, source: tuple[int, int], destination: tuple[int, int]
    ) -> None:
        """Balances are known but for refunds whose end is not told, and for fees."""
        assert payment(status, done=EXECUTED).effect(SOURCE) == source
        assert payment(status, done=EXECUTED).effect(DESTINATION) == destination
        low, high = balance_span((1_000, 1_000), [payment(status, done=EXECUTED)], SOURCE)
        assert (low, high) == (1_000 + source[0], 1_000 + source[1])

    @pytest.mark.parametrize(
        ("before", "after", "done"),
        [
            ("PENDING", "PROCESSING", ()),
            ("PENDING", "EXPIRED", ()),
            ("COMPLETED", "PROCESSING", ("executeQuote",)),
            ("COMPLETED", "FAILED", ("executeQuote",)),
            ("EXPIRED", "PROCESSING", ("executeQuote",)),
            ("FAILED", "COMPLETED", ("executeQuote",)),
            ("REFUND_COMPLETED", "REFUND_PENDING", ("executeQuote",)),
        ],
    )
    def test_nothing_happens_by_itself_or_goes_back(
        self, before: str, after: str, done: tuple[str, ...]
    ) -> None:
        """Without an execution a quote stays, and no status leads to an earlier one."""
        assert not payment(before, done=done).may_become(after)

    def test_a_failure_may_show_no_refund(self) -> None:
        """FAILED alone says nothing of a refund, which may have come to any end, seen or not."""
        failed = payment("FAILED", done=("executeQuote",))

        assert failed.was_at("REFUND_COMPLETED")
        assert payment("REFUND_PENDING", done=("executeQuote",)).may_become("FAILED")
        assert not failed.was_at("COMPLETED")
        assert not payment("COMPLETED", done=("executeQuote",)).was_at("FAILED")

    def test_an_executed_payment_comes_to_its_end(self) -> None:
        """It completes, or fails and is refunded, without anything that the suite does."""
        executed = payment("PENDING", done=("executeQuote",))

        for status in ("PROCESSING", "COMPLETED", "FAILED", "REFUND_FAILED"):
            assert executed.may_become(status)

    def test_a_challenged_payment_waits_for_its_proof(self) -> None:
        """It is executed by its proof alone, and takes nothing where its challenge expires."""
        challenged = payment("PENDING")
        challenged.challenge = {"id": "ScaChallenge:1", "expiresAt": "2999-01-01T00:00:00Z"}

        assert not challenged.may_become("PROCESSING")
        assert not challenged.may_become("FAILED")
        challenged.done.add("sca.challenge_expire")
        assert challenged.may_become("FAILED")
        assert not challenged.may_become("PROCESSING")
        challenged.status = "FAILED"
        assert challenged.effect(SOURCE) == (0, 0)

    def test_a_challenge_may_expire_by_itself(self) -> None:
        """One whose expiresAt has passed may have let its payment fail."""
        challenged = payment("PENDING")
        challenged.challenge = {"expiresAt": "2001-01-01T00:00:00Z"}

        assert challenged.may_become("EXPIRED")

    def test_the_payment_of_an_agent_waits_for_its_approval(self) -> None:
        """Nothing but the approval executes it; how long it waits is open."""
        started = payment("PENDING")
        started.quote = {name: started.quote[name] for name in started.quote if name != "expiresAt"}

        assert not started.may_become("PROCESSING")
        assert started.may_become("EXPIRED")
        started.done.add("approveTransaction")
        assert started.may_become("COMPLETED")

    def test_a_held_payment_waits_for_its_release(self) -> None:
        """What is held does not complete until the trigger has released it."""
        held = payment("PROCESSING", fate="payout.hold")
        released = payment("PROCESSING", fate="payout.hold", done=("payout.release",))

        assert not held.may_become("COMPLETED")
        assert released.may_become("COMPLETED")

    @pytest.mark.parametrize(
        ("status", "escaped"), [("COMPLETED", True), ("PROCESSING", False), ("EXPIRED", False)]
    )
    def test_a_held_payment_may_escape(self, status: str, escaped: bool) -> None:
        """What completes before its release is no fault of a transition that is allowed."""
        assert payment("PROCESSING", fate="payout.hold").has_escaped(status) is escaped

    def test_the_fates_are_those_of_the_table(self) -> None:
        """Triggers at an external account that the table names, and what their releases undo."""
        assert {"payout.return", "payout.hold", "refund.hold", "refund.fail"} <= set(fates())

    def test_what_fails_is_read_from_the_table(self) -> None:
        """A payout that is returned fails, and one whose refund is held does so by another row."""
        assert "payout.return" in failing()
        assert not failing() & {"payout.hold", "payout.release", "refund.fail"}

    @pytest.mark.parametrize(
        ("shown", "status"),
        [
            ({"status": "FAILED"}, "FAILED"),
            ({"status": "FAILED", "refund": {"status": "PENDING"}}, "REFUND_PENDING"),
            ({"status": "FAILED", "refund": {"status": "REFUND_COMPLETED"}}, "REFUND_COMPLETED"),
            ({"status": "FAILED", "refund": {"status": "under way"}}, "FAILED"),
            ({"status": "REFUNDED"}, "REFUND_COMPLETED"),
            ({"status": "COMPLETED", "refund": None}, "COMPLETED"),
        ],
    )
    def test_a_refund_is_read_in_each_form(self, shown: Any, status: str) -> None:
        """The refund stands in the status or beside it; a word that is not known says nothing."""
        assert status_of(shown) == status


class TestWorlds:
    """What is known of the accounts of a walk."""

    def test_a_sweep_is_known_once_it_has_arrived(self) -> None:
        """What it has cost is told by the balance, where no payment is under way."""
        # A world asks no more of a platform here.
        world = World(SimpleNamespace(ledger=Ledger()))  # type: ignore[arg-type]
        source = Resource({"id": SOURCE})
        world._opening[SOURCE] = OPENING, OPENING

        world.note_deposit(source, 500, at_least=1)
        assert world.span(SOURCE) == (OPENING + 1, OPENING + 500)
        world.payments = [payment("FAILED", done=EXECUTED)]
        world._narrow(View({}, {SOURCE: (OPENING + 300, OPENING + 300)}))
        assert world.opening(SOURCE) == (OPENING + 1, OPENING + 500)
        world.payments = [payment("COMPLETED", done=EXECUTED)]
        world._narrow(View({}, {SOURCE: (OPENING + 390, OPENING + 390)}))

        assert world.opening(SOURCE) == (OPENING + 490, OPENING + 490)
        assert world.span(SOURCE) == (OPENING + 390, OPENING + 390)

    @pytest.mark.parametrize(
        ("fate", "status", "expected"),
        [
            ("payout.hold", "COMPLETED", TriggerFailed),
            ("payout.hold", "EXPIRED", AssertionError),
            (None, "EXPIRED", AssertionError),
        ],
    )
    def test_what_a_trigger_should_have_held_blames_nobody(
        self, fate: str | None, status: str, expected: type[Exception]
    ) -> None:
        """A held payment that completes is one of the sandbox; all else is one of the target."""
        held = payment("PROCESSING", fate=fate, done=EXECUTED)
        row = {"id": held.transaction_id, "status": status}
        platform = SimpleNamespace(until=lambda read, done: (done(read()), read())[1])
        # It looks at one payment alone, and asks no more of a platform.
        world = World(platform, payments=[held])  # type: ignore[arg-type]
        world.look = lambda: View({held.transaction_id: row}, {})  # type: ignore[method-assign]

        with pytest.raises(expected, match=r"payment 1 \(Transaction:1\)"):
            world.end_step("it is looked at")


def at(start: float, end: float, **effect: Any) -> Happening:
    """Return an effect between two moments."""
    return Happening(Effect(**effect), start, end)


class TestOrders:
    """Which histories some order of their requests explains."""

    start = State.of({SOURCE: 100})

    def test_each_order_of_what_overlaps_is_tried(self) -> None:
        """A payment that a deposit of the same moment covers is explained."""
        pays, pours = at(0, 2, moves={SOURCE: -150}), at(1, 3, moves={SOURCE: 60})

        assert is_explained(self.start, [pays, pours], State.of({SOURCE: 10}))

    def test_what_ended_before_comes_before(self) -> None:
        """A payment that ended before the deposit began cannot have had its money."""
        pays, pours = at(0, 1, moves={SOURCE: -150}), at(2, 3, moves={SOURCE: 60})

        assert not is_explained(self.start, [pays, pours], State.of({SOURCE: 10}))

    def test_an_overdraft_is_not_explained(self) -> None:
        """Two payments that the balance does not cover have no order."""
        pays = [at(0, 2, moves={SOURCE: -60}), at(0, 2, moves={SOURCE: -60})]

        assert not is_explained(self.start, pays, State.of({SOURCE: -20}))

    @pytest.mark.parametrize(("left", "explained"), [(40, True), (100, False), (-20, False)])
    def test_what_happens_once_is_counted_once(self, left: int, explained: bool) -> None:
        """Two executions of one quote are one debit: neither two nor none."""
        twice = [at(0, 2, moves={SOURCE: -60}, once="Quote:1") for _ in range(2)]

        assert is_explained(self.start, twice, State.of({SOURCE: left})) is explained

    def test_a_lost_update_is_not_explained(self) -> None:
        """Changes of two members are both there in the end, and of one member either is."""
        start = State.of(members={"a": 0, "b": 0})
        changes = [at(0, 2, writes={"a": 1}), at(0, 2, writes={"b": 1}), at(1, 2, writes={"a": 2})]

        assert is_explained(start, changes, State.of(members={"a": 2, "b": 1}))
        assert is_explained(start, changes, State.of(members={"a": 1, "b": 1}))
        assert not is_explained(start, changes, State.of(members={"a": 2, "b": 0}))

    def test_what_follows_comes_after(self) -> None:
        """An effect that follows another one does not come without it."""
        brings = at(0, 9, moves={SOURCE: 50}, follows="Quote:1")
        pays = at(0, 9, moves={SOURCE: -100}, once="Quote:1")

        assert is_explained(self.start, [brings, pays], State.of({SOURCE: 50}))
        assert not is_explained(self.start, [brings], State.of({SOURCE: 150}))

    def test_requests_are_drawn_by_client(self) -> None:
        """Each line has the lane of its client, and when the request was sent and answered."""
        lines = drawn({1: [(5.0, 5.1, "pay")], 2: [(5.05, 5.2, "read")]}).splitlines()

        assert lines[0].split() == ["#|", "0-100", "ms", "client", "1:", "pay"]
        assert "|#" in lines[1]


class TestPrograms:
    """Programs of several clients."""

    @given(st.integers())
    def test_a_seed_decides_a_small_program(self, seed: int) -> None:
        """Two to four clients, each with a step, 14 steps at most; the same for the same seed."""
        made = program(str(seed), ("execute", "pay"))

        assert made == program(str(seed), ("execute", "pay"))
        assert 2 <= len(made) <= 4
        assert all(made)
        assert sum(map(len, made)) <= MAX_REQUESTS
        assert all(step.number < len(AMOUNTS) for lane in made for step in lane)

    @given(st.integers())
    def test_shorter_programs_lack_a_step_or_a_client(self, seed: int) -> None:
        """No shorter program is empty or as long, and none has a client without a step."""
        made: Program = program(str(seed), ("execute", "pay"))

        for each in shorter(made):
            assert each
            assert all(each)
            assert sum(map(len, each)) < sum(map(len, made))
