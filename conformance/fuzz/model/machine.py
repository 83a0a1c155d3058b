"""Walks that Hypothesis chooses; of one that disagrees with the model, the shortest is kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import HypothesisException
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from conformance.exchange.clock import clock
from conformance.fuzz.model.steps import AMOUNTS, Choice, Steps
from conformance.fuzz.model.world import Disagreement, Problem, World
from conformance.platform.platform import Platform
from conformance.verdict.decisions import Unmet

STEPS = 16
_MAX_SHORTENINGS = 10
"""How many walks are tried to shorten one that disagrees."""

_MAX_SHORTENING_SECONDS = 15.0

_CHOICES = st.builds(
    Choice,
    side=st.sampled_from(["SENDING", "RECEIVING"]),
    amount=st.sampled_from(AMOUNTS),
    number=st.integers(0, 23),
    at_once=st.sampled_from([True, False]),
)
Act = Callable[[Steps, Choice], None]
_COMMON: list[Act] = [
    # The first is the simplest: what can be shortened to it leaves no trace.
    Steps.rest,
    *[Steps.pay_out] * 2,
    *[Steps.execute] * 3,
    *[Steps.transfer] * 2,
    *[Steps.happen] * 2,
    Steps.deposit,
    Steps.pay_on_second_try,
    *[Steps.come_late] * 2,
]
_PLAIN: list[Act] = [
    *[Steps.meanwhile] * 2,
    *[Steps.be_refunded] * 3,
    Steps.pay_by_agent,
    Steps.approve,
    Steps.sweep,
]
_STRONG: list[Act] = [*[Steps.authorize] * 4, Steps.reset]
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

    ``strong`` says whose payments they are: of customers who prove them by strong authentication,
    or of others. ``in_vain`` is what they have waited for in vain, and ``failure`` what ended them,
    where it was not a disagreement.
    """

    platform: Platform
    strong: bool = False
    in_vain: set[str] = field(default_factory=set)
    found: dict[str, Found] = field(default_factory=dict)
    failure: Exception | None = None
    _left: int = _MAX_SHORTENINGS
    _end: float = float("inf")

    @property
    def is_over(self) -> bool:
        """Whether nothing more is to be done."""
        return self.failure is not None or self._left <= 0 or clock().monotonic() >= self._end

    def begin(self) -> Steps | None:
        """Return the steps of a new world; None where nothing more is to be done."""
        if self.found:
            self._left -= 1
        world = World(self.platform, self.strong)
        self.step(world.open, world)
        if world.is_over or self.is_over:
            return None
        steps = Steps(world, self.in_vain)
        self.step(steps.begin, world)
        return None if world.is_over or self.is_over else steps

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
            self._end = clock().monotonic() + _MAX_SHORTENING_SECONDS
        known = self.found.get(found.problem.requirement)
        if known is None or len(found.history) < len(known.history):
            self.found[found.problem.requirement] = found


class _Machine(RuleBasedStateMachine):
    """Does what its rules say to a world of its own."""

    walks: Walks

    def __init__(self) -> None:
        super().__init__()
        self._steps = self.walks.begin()

    def teardown(self) -> None:
        """The walk is over."""
        self.do(lambda steps: steps.world.end())

    def do(self, act: Callable[[Steps], None]) -> None:
        """Do a step, unless the walks are over."""
        steps = self._steps
        if steps is not None:
            self.walks.step(lambda: act(steps), steps.world)


class _Plain(_Machine):
    @rule(act=st.sampled_from(_COMMON + _PLAIN), choice=_CHOICES)
    def step(self, act: Act, choice: Choice) -> None:
        """Do one thing; what it does not need of the choice decides nothing."""
        self.do(lambda steps: act(steps, choice))


class _Strong(_Machine):
    @rule(act=st.sampled_from(_COMMON + _STRONG), choice=_CHOICES)
    def step(self, act: Act, choice: Choice) -> None:
        """Do one thing; what it does not need of the choice decides nothing."""
        self.do(lambda steps: act(steps, choice))


def walk(platform: Platform, run_seed: int, examples: int, seconds: float) -> dict[str, Found]:
    """Walk through the model until something is found; return it by requirement.

    Args:
        platform: the suite in the part of a platform.
        run_seed: decides the walks.
        examples: how many walks are made at least, of each of the two kinds of customers.
        seconds: for how long others follow.

    Raises:
        Unmet: a step could not be done, and nothing was found before.
    """
    plain = Walks(platform)
    strong = Walks(platform, strong=True, in_vain=plain.in_vain)
    end = clock().monotonic() + seconds
    turn = 0
    while turn == 0 or (clock().monotonic() < end and not plain.is_over):
        _walk(plain, f"{run_seed}/{turn}", examples)
        if plain.found or plain.failure is not None:
            break
        if platform.profile.features.sca and not strong.is_over:
            _walk(strong, f"{run_seed}/{turn}/strong", examples)
            if strong.found:
                return strong.found
        turn += 1
    if plain.failure is not None and not plain.found:
        raise plain.failure
    # Whether a customer can be arranged who needs strong authentication is for others to decide.
    if strong.failure is not None and not isinstance(strong.failure, Unmet):
        raise strong.failure
    return plain.found


def _walk(walks: Walks, name: str, examples: int) -> None:
    """Make some walks; ``name`` decides them."""
    limits = settings(
        # Hypothesis begins with the simplest, which only rests.
        max_examples=examples + 1,
        stateful_step_count=STEPS,
        deadline=None,
        database=None,
        # Who only asks whether something is found takes the second away.
        phases=[p for p in (Phase.generate, Phase.shrink) if p in settings().phases],
        suppress_health_check=list(HealthCheck),
        print_blob=False,
        report_multiple_bugs=False,
    )
    machine = seed(name)(type("Machine", (_Strong if walks.strong else _Plain,), {"walks": walks}))
    try:
        run_state_machine_as_test(machine, settings=limits, _min_steps=STEPS)
    except (Disagreement, HypothesisException):
        # What was found is kept; a target may also behave otherwise when it is asked again.
        if not walks.found:
            raise
