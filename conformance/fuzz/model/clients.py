"""Small programs of several clients that share accounts, quotes and a customer."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations
from typing import Any

from conformance.exchange.answer import Answer
from conformance.exchange.clock import clock
from conformance.fuzz.model.order import (
    MAX_REQUESTS,
    Effect,
    Happening,
    State,
    drawn,
    is_explained,
)
from conformance.platform.platform import Platform
from conformance.platform.resource import Body, Json, Resource, arranged_resource
from conformance.platform.waiting import at_once
from conformance.verdict.decisions import PreconditionFailed, Unmet

PAYMENTS, CHANGES = "QUO-971", "CUS-970"
"""The requirements that programs decide."""

OPENING = 60_000
AT_ONCE = 4
"""How many clients register accounts at the same time."""

SETTLING = ("PROCESSING", "COMPLETED")
VALUES = {"email": "kept-############@example.com", "phoneNumber": "+1617555####"}
"""The members of a customer that clients change, and what their values look like."""

AMOUNTS = (10_000, 20_001, 30_000, OPENING)
_MAX_TRIES = 6
"""How many shorter programs are tried of one that is not explained."""

_MAX_SHORTENING_SECONDS = 15.0


@dataclass(frozen=True, slots=True)
class Step:
    """One request of a client: what it does, and to which of what is shared."""

    kind: str
    number: int = 0

    def __str__(self) -> str:
        return f"{self.kind} {self.number + 1}"


Program = tuple[tuple[Step, ...], ...]
"""The steps of each client."""


@dataclass(frozen=True, slots=True)
class Done:
    """A step as it was carried out: where it stands, when it was sent and answered, the answer."""

    lane: int
    at: int
    step: Step
    sent: float
    answered: float
    answer: Answer | None


@dataclass
class Shared:
    """What the clients of one program share, and what they do to it."""

    platform: Platform
    quotes: list[Resource] = field(default_factory=list)

    def open(self, *, quotes: int) -> None:
        """Arrange a source with a deposit, a destination, and quotes that may be executed."""
        self.source = self.platform.internal_accounts.account(amount=OPENING)
        self.before = self.platform.internal_accounts.balance(self.source)
        self.destination = self.platform.external_accounts.account(self.source.owner)
        self.partner = self.platform.internal_accounts.account(amount=0)
        self.partner_before = self.platform.internal_accounts.balance(self.partner)
        for amount in AMOUNTS[:quotes]:
            answer = self.platform.api.create_quote(self._body(amount))
            # What the balance cannot cover may be refused here already.
            if answer.accepted:
                self.quotes.append(arranged_resource(answer))
        if not self.quotes:
            raise PreconditionFailed("no quote was created")

    def request(self, step: Step) -> Answer | None:
        """Carry out a step."""
        if step.kind == "execute":
            return self.platform.api.execute_quote(self.quotes[step.number % len(self.quotes)].id)
        amount = AMOUNTS[step.number]
        if step.kind == "pay":
            return self.platform.api.create_quote(self._body(amount, immediatelyExecute=True))
        if step.kind == "transfer":
            body = self.platform.quotes.body(
                self.source, self.partner, amount=amount, immediatelyExecute=True
            )
            return self.platform.api.create_quote(body)
        self.platform.internal_accounts.settle_deposit(self.source, amount)
        return None

    def effect(self, done: Done) -> Happening | None:
        """Return what a step has done, where it did anything."""
        answer = done.answer
        if answer is None:
            amount = AMOUNTS[done.step.number]
            # It may settle later than it was told of.
            return Happening(Effect(moves={self.source.id: amount}), done.sent)
        if not answer.accepted or answer.body.get("status") not in SETTLING:
            return None
        quote = answer.body
        moved = {self.source.id: -quote["totalSendingAmount"]}
        return Happening(Effect(moves=moved, once=quote["id"]), done.sent, done.answered)

    def arrival(self, done: Done) -> Happening | None:
        """Return what a transfer has brought to its destination, at any time after its debit."""
        answer = done.answer
        if done.step.kind != "transfer" or answer is None or self.effect(done) is None:
            return None
        brought = {self.partner.id: answer.body["totalReceivingAmount"]}
        name = answer.body["id"]
        return Happening(Effect(brought, once=f"arrival of {name}", follows=name), done.sent)

    def _body(self, amount: int, **members: Any) -> Body:
        return self.platform.quotes.body(self.source, self.destination, amount=amount, **members)

    def note_deposits(self, history: Sequence[Done]) -> None:
        """Tell the ledger of what was deposited."""
        deposits = self.platform.ledger.deposits
        for done in history:
            if done.answer is None:
                deposits[self.source.id] += AMOUNTS[done.step.number]


def program(seed: str, kinds: Sequence[str], clients: range = range(2, 5)) -> Program:
    """Return a program of a few clients, with 14 steps at most, by chance."""
    chance = random.Random(seed)  # noqa: S311 - nothing secret comes of it
    count = chance.choice(clients)
    steps = min(chance.randint(1, 4), MAX_REQUESTS // count)
    return tuple(
        tuple(Step(chance.choice(kinds), chance.randrange(len(AMOUNTS))) for _ in range(steps))
        for _ in range(count)
    )


def shorter(whole: Program) -> list[Program]:
    """Return the programs that lack one step of another; those that lack a client come first."""
    found = [whole[:at] + whole[at + 1 :] for at in range(len(whole)) if len(whole) > 1]
    for client, steps in enumerate(whole):
        for at in range(len(steps)):
            fewer = steps[:at] + steps[at + 1 :]
            found.append(whole[:client] + ((fewer,) if fewer else ()) + whole[client + 1 :])
    return [each for each in found if each]


def run(steps: Program, request: Callable[[int, int], Answer | None]) -> list[Done]:
    """Let all clients carry out their steps, each client one after the other.

    ``request`` carries out the step of a client at a place, both counted from 0.
    """

    def client(lane: int) -> list[Done]:
        found = []
        for at, step in enumerate(steps[lane]):
            sent = clock().monotonic()
            answer = request(lane, at)
            found.append(Done(lane, at, step, sent, clock().monotonic(), answer))
        return found

    lanes = at_once(*(partial(client, lane) for lane in range(len(steps))))
    return [done for lane in lanes for done in lane]


def told(history: Sequence[Done], problem: str) -> str:
    """Return what is wrong with a history, and the history as lines of its clients."""
    lanes: dict[int, list[tuple[float, float, str]]] = {}
    for done in history:
        text = f"{done.step}: {_short(done.answer)}"
        lanes.setdefault(done.lane + 1, []).append((done.sent, done.answered, text))
    return f"{problem}:\n{drawn(lanes)}"


def _short(answer: Answer | None) -> str:
    if answer is None:
        return "caused"
    body = answer.body if isinstance(answer.body, Mapping) else {}
    if not answer.accepted:
        return f"{answer.status} {answer.code}"
    return f"{answer.status} {body.get('status', '')} {body.get('totalSendingAmount', '')}".rstrip()


# --- Payments -------------------------------------------------------------------------------


def payments_problem(platform: Platform, steps: Program) -> str | None:
    """Run a program of payments; return what no order of its requests explains, or None.

    Raises:
        Unmet: the program could not be arranged, or a payment failed for a reason of its own.
    """
    shared = Shared(platform)
    shared.open(quotes=3)
    history = run(steps, lambda lane, at: shared.request(steps[lane][at]))
    shared.note_deposits(history)
    happenings = [each for each in map(shared.effect, history) if each is not None]
    arrivals = [each for each in map(shared.arrival, history) if each is not None]
    start = State.of({shared.source.id: shared.before, shared.partner.id: shared.partner_before})

    def problems() -> str:
        balance, brought = map(platform.internal_accounts.balance, (shared.source, shared.partner))
        rows = list(platform.transactions.known_of_customer(shared.source["customerId"]))
        if wrong := _miscounted(rows, history, shared.quotes):
            return wrong
        end = State.of({shared.source.id: balance, shared.partner.id: brought})
        if is_explained(start, [*happenings, *arrivals], end):
            return ""
        if any(row.get("status") == "PROCESSING" for row in rows) and any(
            # How long a rail takes is open.
            is_explained(start, [*happenings, *some], end)
            for count in range(len(arrivals))
            for some in combinations(arrivals, count)
        ):
            return ""
        return (
            f"no order of these requests leads from a balance of {shared.before} to {balance}, "
            f"and from {shared.partner_before} to {brought} at the destination of the transfers"
        )

    wrong = platform.until(problems, lambda problem: not problem)
    return told(history, wrong) if wrong else None


UNPAID = ("PENDING", "EXPIRED")
"""The statuses of transactions of quotes that nobody executes."""


def _miscounted(rows: Sequence[Json], history: Sequence[Done], quotes: Sequence[Json]) -> str:
    """Return what is wrong with the list of transactions: each quote has one, and no more.

    Raises:
        PreconditionFailed: a payment has failed.
    """
    accepted = [
        done.answer.body for done in history if done.answer is not None and done.answer.accepted
    ]
    paid = {quote["transactionId"] for quote in accepted if quote.get("status") in SETTLING}
    statuses = {row["id"]: row.get("status") for row in rows}
    failed = [name for name in paid if statuses.get(name) in ("FAILED", "EXPIRED")]
    if failed:
        raise PreconditionFailed(f"{failed[0]} came to {statuses[failed[0]]}")
    counts = Counter(row.get("quoteId") for row in rows if row.get("quoteId"))
    known = {quote["id"] for quote in (*accepted, *quotes)}
    if any(done.answer is not None and not done.answer.accepted for done in history):
        # What a refused request has left may lie there until it expires.
        known |= {row.get("quoteId") for row in rows if row.get("status") in UNPAID}
    for quote_id, count in counts.items():
        if count > 1:
            return f"{quote_id} has {count} transactions"
        if quote_id not in known:
            return f"a transaction is of {quote_id}, which nobody was told of"
    stuck = [name for name in paid if statuses.get(name, "PROCESSING") not in SETTLING]
    return f"{stuck[0]} was executed, and is {statuses[stuck[0]]}" if stuck else ""


# --- Changes --------------------------------------------------------------------------------


def changes_problem(platform: Platform, steps: Program) -> str | None:
    """Run a program of changes of one customer; return what no order explains, or None.

    Raises:
        Unmet: a change was refused.
    """
    customer = arranged_resource(platform.api.create_customer(platform.customers.body()))
    bodies = [
        [{step.kind: platform.samples.filled(VALUES[step.kind])} for step in lane] for lane in steps
    ]
    history = run(
        steps, lambda lane, at: platform.api.update_customer(customer.id, bodies[lane][at])
    )
    for done in history:
        if done.answer is not None and not done.answer.accepted:
            raise PreconditionFailed(
                f"a change was refused: {done.answer}", breaks=done.answer.breaks
            )
    happenings = [
        Happening(Effect(writes=bodies[done.lane][done.at]), done.sent, done.answered)
        for done in history
    ]
    names = sorted({step.kind for lane in steps for step in lane})
    start = State.of(members={name: customer.get(name) for name in names})

    def problem() -> str:
        seen = platform.customers.read(customer)
        members = {name: seen.get(name) for name in names}
        if is_explained(start, happenings, State.of(members=members)):
            return ""
        return f"no order of these changes leads to {members}"

    wrong = platform.until(problem, lambda text: not text)
    return told(history, wrong) if wrong else None


# --- Search ---------------------------------------------------------------------------------


def search(
    attempt: Callable[[Program], str | None],
    seeds: Sequence[str],
    kinds: Sequence[str],
    examples: int,
    seconds: float,
) -> str | None:
    """Run programs until one has a problem; return that of the shortest such program found.

    Args:
        attempt: runs a program, and returns its problem.
        seeds: each decides programs of its own.
        kinds: what a step may be.
        examples: how many programs of each seed are run at least.
        seconds: for how long others follow, of the last seed.
    """
    end = clock().monotonic() + seconds
    for seed in seeds:
        turn = 0
        while turn < examples or (seed == seeds[-1] and clock().monotonic() < end):
            steps = program(f"{seed}/{turn}", kinds)
            if (problem := attempt(steps)) is not None:
                return _shortened(attempt, steps, problem)
            turn += 1
    return None


def _shortened(attempt: Callable[[Program], str | None], steps: Program, problem: str) -> str:
    """Return the problem of the shortest program that still has one, after a few tries."""
    tries, end = _MAX_TRIES, clock().monotonic() + _MAX_SHORTENING_SECONDS
    candidates = shorter(steps)
    while candidates and tries and clock().monotonic() < end:
        tries -= 1
        fewer = candidates.pop(0)
        try:
            found = attempt(fewer)
        except Unmet:
            # What is known is a problem already.
            return problem
        if found is not None:
            problem, candidates = found, shorter(fewer)
    return problem
