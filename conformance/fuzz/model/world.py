"""One walk: what is done to a target, and whether what it shows agrees with the model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, islice

from conformance.contract.vocabulary import triggers
from conformance.exchange.answer import Answer
from conformance.exchange.delivery import Delivery
from conformance.fuzz.model.payments import (
    NOTHING_TAKEN,
    Payment,
    balance_span,
    fates,
    status_of,
    table,
)
from conformance.platform.platform import Platform
from conformance.platform.resource import Json, Resource, arranged_resource
from conformance.verdict.decisions import ResourceMissing, TriggerFailed, Unmet

STATUSES, BALANCES, EXECUTIONS, EVENTS, LAST_BALANCE = (
    "TRX-900",
    "ACC-900",
    "QUO-970",
    "EVT-360",
    "EVT-361",
)
"""The requirements that a walk decides."""

OPENING = 100_000
FIRST = 20_000
WHOLE, ONE_MORE = 0, 1
"""Amounts that stand for the whole balance of the source, and for one smallest unit more."""

SETTLING = ("PROCESSING", "COMPLETED")
_OUTGOING = "OUTGOING_PAYMENT."
_BALANCE_UPDATED = "INTERNAL_ACCOUNT.BALANCE_UPDATED"


@dataclass(frozen=True, slots=True)
class Problem:
    """What a target shows that the model does not allow, and the requirement that says so."""

    requirement: str
    text: str


class Disagreement(AssertionError):
    """The target does not agree with the model; the message has all problems."""

    def __init__(self, problems: list[Problem]) -> None:
        self.problems = problems
        super().__init__("; ".join(problem.text for problem in problems))


@dataclass(frozen=True, slots=True)
class View:
    """What a target shows: transactions by their id, balance and totalBalance by account id."""

    transactions: Mapping[str, Json]
    balances: Mapping[str, tuple[int, int]]


@dataclass
class World:
    """The accounts and payments of one new customer, and what they have come to.

    Each step is written to ``history``. :meth:`open` comes first. Each method that does a step
    raises :class:`Disagreement` where the target does not agree with the model after it.
    """

    platform: Platform
    source: Resource = field(init=False)
    fates: list[str | None] = field(init=False)
    history: list[str] = field(default_factory=list)
    is_over: bool = False
    """Whether it has disagreed, so that nothing more is done in it."""

    payments: list[Payment] = field(default_factory=list)
    _accounts: dict[str, Resource] = field(default_factory=dict)
    _first: dict[str, int] = field(default_factory=dict)
    _opening: dict[str, int] = field(default_factory=dict)
    _destinations: dict[str | None, Resource] = field(default_factory=dict)
    _is_slow: bool = False
    _refused: set[str | None] = field(default_factory=set)

    def open(self) -> None:
        """Arrange an account with a deposit, and a quote that may be executed."""
        self.source = self.platform.internal_accounts.account(amount=OPENING)
        self.fates = [None, *filter(self.platform.triggers.maps, fates())]
        self._accounts = {self.source.id: self.source}
        self._opening = {self.source.id: self.platform.internal_accounts.balance(self.source)}
        self._first = dict(self._opening)
        # So that there is something to execute from the first step on.
        self.pay_out("SENDING", FIRST, 0, at_once=False)

    # Steps

    def deposit(self, amount: int) -> None:
        """Let a deposit settle, of ``amount`` smallest units."""
        amount = min(self._amount(amount), self.platform.profile.budget.amount)
        self.platform.internal_accounts.settle_deposit(self.source, amount)
        self._opening[self.source.id] += amount
        deposits = self.platform.ledger.deposits
        deposits[self.source.id] = deposits.get(self.source.id, 0) + amount
        self._end_step(f"a deposit of {amount}")

    def pay_out(self, side: str, amount: int, fate: int, *, at_once: bool) -> None:
        """Create a quote to an external account of a fate, and execute it at once or not."""
        name = self.fates[fate % len(self.fates)]
        if (destination := self._destination(name)) is not None:
            self._quote(destination, side, amount, name, at_once=at_once)

    def transfer(self, side: str, amount: int, *, at_once: bool) -> None:
        """Create a quote to an internal account of another customer; nothing where none is."""
        if (destination := self._partner()) is not None:
            self._quote(destination, side, amount, None, at_once=at_once)

    def execute(self, number: int) -> None:
        """Execute a quote, whatever it has come to; by an even number one that still waits.

        That has expired, or was refused before, as often as not.
        """
        waiting = [] if number % 2 else [one for one in self.payments if not one.executed]
        payment = (waiting or self.payments)[number // 2 % len(waiting or self.payments)]
        forbidden = "" if payment.executed else self._forbids(payment)
        answer = self.platform.api.execute_quote(payment.quote["id"])
        self._note_execution(payment, answer)
        if forbidden and _settles(answer):
            text = f"{payment.transaction_id} was executed, although {forbidden}"
            raise Disagreement([Problem(EXECUTIONS, text)])
        self._end_step(f"execute {self._name(payment)}: {_told(answer)}")

    def rest(self, number: int) -> None:
        """Wait until a payment is no longer in processing.

        How long a rail takes is open, so that nothing is asserted of the time.
        """
        payment = self.payments[number % len(self.payments)]
        if payment.status == "PROCESSING" and payment.is_moving and not self._is_slow:
            row = self.platform.until(
                lambda: self._look().transactions.get(payment.transaction_id, {}),
                lambda row: status_of(row) != "PROCESSING",
            )
            # Waiting again would cost as much, and bring as little.
            self._is_slow = status_of(row) == "PROCESSING"
        self._end_step(f"wait for {self._name(payment)}")

    def approve(self, number: int) -> None:
        """Approve a transaction that no agent initiated; nothing moves, whatever is answered."""
        if not self.platform.profile.features.agents:
            return
        payment = self.payments[number % len(self.payments)]
        answer = self.platform.api.approve_transaction(payment.transaction_id)
        self._end_step(f"approve {self._name(payment)}: {_told(answer)}")

    def happen(self, number: int, choice: int) -> None:
        """Cause one of the triggers that the table of states has at the status of a payment."""
        payment = self.payments[number % len(self.payments)]
        known = {
            "quoteId": payment.quote["id"],
            "transactionId": payment.transaction_id,
            "expiresAt": payment.quote.get("expiresAt"),
            "customerId": self.source["customerId"],
        }
        offered = sorted(name for name in self._triggers_at(payment, known))
        if not offered:
            return
        name = offered[choice % len(offered)]
        wanted = triggers()[name].parameters
        payment.done.add(name)
        try:
            self.platform.triggers.fire(name, **{one: known[one] for one in wanted})
        except TriggerFailed:
            # There is nothing that it could happen to.
            payment.done.discard(name)
            return
        self._end_step(f"{name} of {self._name(payment)}")

    def end(self) -> None:
        """Compare the webhooks with what happened, where the profile declares them."""
        if not self.platform.profile.features.webhooks:
            return
        self._agree()
        # Each of them is waited for, so that the first that is missing is enough.
        missing = chain(*map(self._untold, self.payments)), self._untold_balances()
        problems = [problem for one in missing for problem in islice(one, 1)]
        arrived = [
            (payment, str(event.type))
            for payment in self.payments
            for event in self.platform.webhooks.about(payment.transaction_id)
        ]
        # What a webhook tells may be newer than what was read before.
        self._agree()
        problems += self._repeated()
        problems += [
            Problem(EVENTS, f"{kind} came for {payment.transaction_id}, now {payment.status}")
            for payment, kind in arrived
            if self._is_false(payment, kind)
        ]
        if problems:
            raise Disagreement(problems)

    # The model

    def _forbids(self, payment: Payment) -> str:
        """Return why a payment may not be executed now; empty where nothing is known against it."""
        if payment.is_expired:
            return "its quote has expired"
        _, high = balance_span(self._opening[self.source.id], self.payments, self.source.id)
        most = high + sum(other.returnable for other in self.payments)
        sent = payment.quote["totalSendingAmount"]
        return f"it takes {sent}, and its source has at most {most}" if sent > most else ""

    def _note_execution(self, payment: Payment, answer: Answer) -> None:
        if answer.accepted:
            payment.done.add("executeQuote")
        if _settles(answer):
            payment.executed = True

    def _end_step(self, text: str) -> None:
        self.history.append(text)
        self._agree()

    def _agree(self) -> None:
        """Read until what is shown agrees with the model, and take the statuses over."""
        view = self.platform.until(self._look, lambda view: not any(self._problems(view)))
        problems = list(self._problems(view))
        if problems:
            raise Disagreement(problems)
        for payment in self.payments:
            payment.status = status_of(view.transactions[payment.transaction_id])

    def _look(self) -> View:
        listed = self.platform.transactions.of_customer(self.source["customerId"])
        rows = {str(row.get("id")): row for row in listed}
        accounts = self._accounts.items()
        balances = {
            name: self.platform.internal_accounts.balances(account) for name, account in accounts
        }
        return View(rows, balances)

    def _problems(self, view: View) -> Iterator[Problem]:
        seen: list[Payment] = []
        for payment in self.payments:
            row = view.transactions.get(payment.transaction_id)
            if row is None:
                yield Problem(STATUSES, f"{payment.transaction_id} is not listed")
                return
            status = status_of(row)
            if status not in table().states:
                # The list of statuses is not closed, and of this one nothing is known.
                status = payment.status or status
            if not payment.may_become(status):
                yield Problem(
                    STATUSES, f"{payment.transaction_id} came from {payment.status} to {status}"
                )
            if payment.executed and status in NOTHING_TAKEN:
                yield Problem(STATUSES, f"{payment.transaction_id} was executed, and is {status}")
            seen.append(Payment(payment.quote, payment.fate, status, payment.done))
        for name, (balance, total) in view.balances.items():
            low, high = balance_span(self._opening[name], seen, name)
            if not low <= balance <= high:
                wanted = str(low) if low == high else f"between {low} and {high}"
                yield Problem(
                    BALANCES,
                    f"the balance of {name} is {balance}, and deposits and payments leave {wanted}",
                )
            if balance < 0:
                yield Problem(EXECUTIONS, f"{name} paid more than it held: {balance} is left")
            if not 0 <= balance <= total:
                yield Problem(
                    BALANCES,
                    f"the balance of {name}, {balance}, is not between 0 and its totalBalance "
                    f"{total}",
                )

    # Webhooks

    def _untold(self, payment: Payment) -> Iterator[Problem]:
        """Yield the status of an executed payment that no webhook tells."""
        if payment.executed and payment.status in table().states.keys() - NOTHING_TAKEN:
            kind = f"{_OUTGOING}{payment.status}"
            if self.platform.webhooks.wait_for(kind, payment.transaction_id) is None:
                yield Problem(EVENTS, f"no {kind} came for {payment.transaction_id}")

    def _repeated(self) -> Iterator[Problem]:
        """Yield each status of a payment that webhooks tell under several ids."""
        for payment in self.payments:
            ids: dict[str, set[str | None]] = {}
            for event in self.platform.webhooks.about(payment.transaction_id):
                if str(event.type).startswith(_OUTGOING):
                    ids.setdefault(str(event.type), set()).add(event.id)
            for kind, several in ids.items():
                if len(several) > 1:
                    text = f"{kind} came for {payment.transaction_id} under {len(several)} ids"
                    yield Problem(EVENTS, text)

    def _is_false(self, payment: Payment, kind: str) -> bool:
        """Return whether a type of webhook tells of a status that a payment was never at."""
        status = kind.removeprefix(_OUTGOING)
        return status in table().states and not payment.was_at(status)

    def _untold_balances(self) -> Iterator[Problem]:
        """Yield each balance at rest that has changed, and that no webhook tells."""
        for name, account in self._accounts.items():
            balance = self.platform.internal_accounts.balance(account)
            if balance == self._first[name]:
                continue
            told = self.platform.webhooks.wait_for(
                _BALANCE_UPDATED, name, where=partial(_tells, balance)
            )
            if told is None and self.platform.internal_accounts.balance(account) == balance:
                yield Problem(
                    LAST_BALANCE, f"no {_BALANCE_UPDATED} came for {name} with balance {balance}"
                )

    # Resources

    def _quote(
        self, destination: Resource, side: str, amount: int, fate: str | None, *, at_once: bool
    ) -> None:
        amount = self._amount(amount)
        members = {"immediatelyExecute": True} if at_once else {}
        body = self.platform.quotes.body(
            self.source, destination, side=side, amount=amount, **members
        )
        available = self._most_available()
        answer = self.platform.api.create_quote(body)
        told = f"quote {len(self.payments) + 1}: {side} {amount} to {fate or 'a usual account'}"
        if answer.accepted:
            quote = arranged_resource(answer)
            payment = Payment(quote, fate, None if at_once else "PENDING")
            payment.executed = _settles(answer)
            if at_once:
                # Created and executed: whether PENDING is told in between is open.
                payment.done.add("executeQuote")
            if payment.executed and quote["totalSendingAmount"] > available:
                text = f"{quote.id} was executed with {available} at most in its source"
                raise Disagreement([Problem(EXECUTIONS, text)])
            self.payments.append(payment)
        self._end_step(f"{told}{', executed at once' if at_once else ''}: {_told(answer)}")

    def _amount(self, amount: int) -> int:
        """Return an amount in smallest units; WHOLE and ONE_MORE are relative to the balance."""
        if amount not in (WHOLE, ONE_MORE):
            return amount
        low, _ = balance_span(self._opening[self.source.id], self.payments, self.source.id)
        return max(low, 1_000) + amount

    def _most_available(self) -> int:
        _, high = balance_span(self._opening[self.source.id], self.payments, self.source.id)
        return high + sum(payment.returnable for payment in self.payments)

    def _destination(self, fate: str | None) -> Resource | None:
        """Return the external account of a fate; None where the target does not have one."""
        if fate not in self._destinations and fate not in self._refused:
            try:
                self._destinations[fate] = self.platform.external_accounts.account(
                    self.source.owner, trigger=fate
                )
            except Unmet:
                if fate is None:
                    raise
                self._refused.add(fate)
        return self._destinations.get(fate)

    def _partner(self) -> Resource | None:
        """Return an internal account of another customer; None where no quote goes to it."""
        name = "another customer"
        if name in self._refused:
            return None
        if name not in self._destinations:
            try:
                partner = self.platform.internal_accounts.account(amount=0)
                probe = self.platform.api.create_quote(
                    self.platform.quotes.body(self.source, partner, amount=1_000)
                )
                if not probe.accepted:
                    raise ResourceMissing(f"{probe}")
            except Unmet:
                self._refused.add(name)
                return None
            self._destinations[name] = partner
            self._accounts[partner.id] = partner
            self._opening[partner.id] = self.platform.internal_accounts.balance(partner)
            self._first[partner.id] = self._opening[partner.id]
            self.payments.append(Payment(arranged_resource(probe), None, "PENDING"))
        return self._destinations[name]

    def _triggers_at(self, payment: Payment, known: Mapping[str, object]) -> Iterator[str]:
        """Yield the triggers that may happen to a payment at its status, and cost no waiting."""
        for name in table().actions_at(str(payment.status)) & triggers().keys():
            mapping = self.platform.profile.triggers.get(name)
            offered = mapping is not None and mapping.wait is None and mapping.magic is None
            if offered and set(triggers()[name].parameters) <= known.keys():
                yield name

    def _name(self, payment: Payment) -> str:
        return f"quote {self.payments.index(payment) + 1}"


def _settles(answer: Answer) -> bool:
    """Return whether an answer says that a quote is executed."""
    return answer.accepted and answer.body.get("status") in SETTLING


def _told(answer: Answer) -> str:
    """Return in short what an answer says."""
    status = answer.body.get("status") if isinstance(answer.body, Mapping) else None
    return f"{answer.status} {status if answer.accepted else answer.code}"


def _tells(balance: int, event: Delivery) -> bool:
    """Return whether a webhook about an internal account shows this balance."""
    money = event.data.get("balance") if isinstance(event.data, Mapping) else None
    return isinstance(money, Mapping) and money.get("amount") == balance
