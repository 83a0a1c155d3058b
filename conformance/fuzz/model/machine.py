"""Walks that Hypothesis chooses; of one that disagrees with the model, the shortest is kept."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import HypothesisException
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from conformance.fuzz.model.world import ONE_MORE, OPENING, WHOLE, Disagreement, Problem, World
from conformance.platform.platform import Platform

STEPS = 16
_MAX_SHORTENINGS = 10
"""How many walks are tried to shorten one that disagrees."""

_MAX_SHORTENING_SECONDS = 15.0

_SIDES = st.sampled_from(["SENDING", "RECEIVING"])
_AMOUNTS = st.sampled_from([1_000, 10_001, 33_333, OPENING // 2, WHOLE, ONE_MORE, OPENING])
_NUMBERS = st.integers(0, 7)
_AT_ONCE = st.sampled_from([True, False])
_KINDS = st.sampled_from(
    [
        *["pay out"] * 3,
        *["execute"] * 3,
        *["transfer"] * 2,
        *["happen"] * 2,
        "deposit",
        "rest",
        "approve",
    ]
)
"""What may be done next; what moves money comes more often. One rule does all of it, as Hypothesis
leaves whole rules out of most walks."""


@dataclass(frozen=True, slots=True)
class Found:
    """A walk that disagrees with the model: its steps, and the problem after the last."""

    problem: Problem
    history: tuple[str, ...]

    def __str__(self) -> str:
        steps = "\n".join(f"  {at}. {step}" for at, step in enumerate(self.history, start=1))
        return f"{self.problem.text}, after these steps:\n{steps}"


@dataclass
class Walks:
    """All walks of one run: what they found, the shortest of each requirement.

    ``failure`` is what ended them, where it was not a disagreement.
    """

    platform: Platform
    found: dict[str, Found] = field(default_factory=dict)
    failure: Exception | None = None
    _left: int = _MAX_SHORTENINGS
    _end: float = float("inf")

    @property
    def is_over(self) -> bool:
        """Whether nothing more is to be done."""
        return self.failure is not None or self._left <= 0 or time.monotonic() >= self._end

    def begin(self) -> World | None:
        """Return a new world to walk in; None where nothing more is to be done."""
        if self.found:
            self._left -= 1
        world = World(self.platform)
        self.step(world.open, world)
        return None if world.is_over or self.is_over else world

    def step(self, act: Callable[[], None], world: World) -> None:
        """Do a step, unless nothing more is to be done.

        Raises:
            Disagreement: for Hypothesis, which shortens what led to it.
        """
        if self.is_over or world.is_over:
            return
        try:
            act()
        except Disagreement as disagreement:
            world.is_over = True
            for problem in disagreement.problems:
                self._keep(Found(problem, tuple(world.history)))
            raise
        except Exception as error:  # noqa: BLE001 - Hypothesis would repeat it, and hide it
            self.failure = error

    def _keep(self, found: Found) -> None:
        if not self.found:
            self._end = time.monotonic() + _MAX_SHORTENING_SECONDS
        known = self.found.get(found.problem.requirement)
        if known is None or len(found.history) < len(known.history):
            self.found[found.problem.requirement] = found


class _Machine(RuleBasedStateMachine):
    """Does what its rules say to a world of its own."""

    walks: Walks

    def __init__(self) -> None:
        super().__init__()
        self._world = self.walks.begin()

    @rule(kind=_KINDS, side=_SIDES, amount=_AMOUNTS, number=_NUMBERS, at_once=_AT_ONCE)
    def step(self, kind: str, side: str, amount: int, number: int, *, at_once: bool) -> None:
        """Do one thing; what it does not need of the arguments decides nothing."""
        acts: dict[str, Callable[[World], None]] = {
            "pay out": lambda world: world.pay_out(side, amount, number, at_once=at_once),
            "transfer": lambda world: world.transfer(side, amount, at_once=at_once),
            "execute": lambda world: world.execute(number),
            "deposit": lambda world: world.deposit(amount),
            "happen": lambda world: world.happen(number, amount),
            "rest": lambda world: world.rest(number),
            "approve": lambda world: world.approve(number),
        }
        self._do(acts[kind])

    def teardown(self) -> None:
        """The walk is over."""
        self._do(World.end)

    def _do(self, act: Callable[[World], None]) -> None:
        world = self._world
        if world is not None:
            self.walks.step(lambda: act(world), world)


def walk(platform: Platform, run_seed: int, examples: int, seconds: float) -> dict[str, Found]:
    """Walk through the model until something is found; return it by requirement.

    Args:
        platform: the suite in the part of a platform.
        run_seed: decides the walks.
        examples: how many walks are made at least.
        seconds: for how long others follow.

    Raises:
        Unmet: a step could not be done, and nothing was found before.
    """
    walks = Walks(platform)
    end = time.monotonic() + seconds
    turn = 0
    while turn == 0 or (time.monotonic() < end and not walks.found and not walks.is_over):
        _walk(walks, f"{run_seed}/{turn}", examples)
        turn += 1
    if walks.failure is not None and not walks.found:
        raise walks.failure
    return walks.found


def _walk(walks: Walks, name: str, examples: int) -> None:
    """Make some walks; ``name`` decides them."""
    limits = settings(
        max_examples=examples,
        stateful_step_count=STEPS,
        deadline=None,
        database=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
        print_blob=False,
        report_multiple_bugs=False,
    )
    machine = seed(name)(type("Machine", (_Machine,), {"walks": walks}))
    try:
        run_state_machine_as_test(machine, settings=limits, _min_steps=STEPS)
    except (Disagreement, HypothesisException):
        # What was found is kept; a target may also behave otherwise when it is asked again.
        if not walks.found:
            raise
