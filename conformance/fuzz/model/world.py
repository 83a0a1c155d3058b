"""The accounts and payments of one walk, and whether what a target shows of them agrees."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, islice

from conformance.exchange.delivery import Delivery
from conformance.fuzz.model.payments import (
    NOTHING_TAKEN,
    Payment,
    Span,
    balance_span,
    status_of,
    table,
)
from conformance.platform.given.internal_accounts import shown_balances
from conformance.platform.platform import Platform
from conformance.platform.resource import Json, Resource, owner_of
from conformance.verdict.decisions import TriggerFailed, Unmet

STATUSES, BALANCES, EXECUTIONS, EVENTS, LAST_BALANCE = (
    "TRX-900",
    "ACC-900",
    "QUO-970",
    "EVT-360",
    "EVT-361",
)
"""The requirements that a walk decides."""

OPENING = 100_000

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

    Each step is written to ``history``. :meth:`open` comes first. :meth:`end_step`, :meth:`rest`
    and :meth:`end` raise :class:`Disagreement` where the target does not agree with the model.

    Attributes:
        platform: the suite in the part of a platform.
        strong: whether the customer has to prove payments by strong authentication.
        sources: the customer's internal accounts: one, or two in different currencies.
        history: what was done, in words.
        is_over: whether it has disagreed, so that nothing more is done in it.
        payments: all payments that may go from the accounts or to them.
    """

    platform: Platform
    strong: bool = False
    sources: list[Resource] = field(default_factory=list)
    history: list[str] = field(default_factory=list)
    is_over: bool = False
    payments: list[Payment] = field(default_factory=list)
    _accounts: dict[str, Resource] = field(default_factory=dict)
    _first: dict[str, int] = field(default_factory=dict)
    _opening: dict[str, Span] = field(default_factory=dict)

    def open(self) -> None:
        """Arrange the accounts of a customer, with a deposit to each."""
        accounts = self.platform.internal_accounts
        if self.strong:
            customer = self.platform.approved.sca_customer()
            self.sources = [accounts.account(amount=OPENING, customer=customer)]
        else:
            second = self._second_source()
            owner = None if second is None else owner_of(second)
            self.sources = [accounts.account(amount=OPENING, customer=owner)]
            self.sources += [] if second is None else [second]
        for source in self.sources:
            self.add(source)

    def _second_source(self) -> Resource | None:
        """Return an account in another currency that payments may come from, if there is one."""
        usual = self.platform.profile.currency
        others = [
            corridor.sending
            for corridor in self.platform.profile.resources.corridors
            if corridor.receiving == usual != corridor.sending
        ]
        if not others:
            return None
        try:
            return self.platform.internal_accounts.account(others[0], amount=OPENING)
        except Unmet:
            # Whether a customer can have both is open.
            return None

    # What has happened

    def add(self, account: Resource) -> None:
        """Watch an account from now on; what it holds now counts as deposited."""
        balance = self.platform.internal_accounts.balance(account)
        self._accounts[account.id] = account
        self._first[account.id] = balance
        self._opening[account.id] = balance, balance

    def note_deposit(self, account: Resource, amount: int, *, at_least: int | None = None) -> None:
        """Take note of money from outside: of ``amount`` smallest units, or of at least so many."""
        low, high = self._opening[account.id]
        self._opening[account.id] = low + (amount if at_least is None else at_least), high + amount
        ledger = self.platform.ledger
        sure = ledger.deposits if at_least is None else ledger.expected
        sure[account.id] = sure.get(account.id, 0) + amount

    def opening(self, account_id: str) -> Span:
        """Return between what was deposited to an account, in smallest units."""
        return self._opening[account_id]

    def span(self, account_id: str) -> Span:
        """Return between what an account holds now, in smallest units."""
        return balance_span(self._opening[account_id], self.payments, account_id)

    def most_available(self, account_id: str) -> int:
        """Return how much an account may have for another payment, in smallest units."""
        coming = sum(
            payment.returnable
            for payment in self.payments
            if payment.quote["source"].get("accountId") == account_id
        )
        return self.span(account_id)[1] + coming

    # The model

    def end_step(self, text: str) -> None:
        """Write a step down, and compare what the target shows after it with the model."""
        self.history.append(text)
        self._agree()

    def _agree(self) -> None:
        """Read until what is shown agrees with the model, and take over what it tells.

        Raises:
            Disagreement: it does not agree.
            TriggerFailed: what a trigger was to hold has gone on.
        """
        view = self.platform.until(self.look, lambda view: not any(self._problems(view)))
        problems = list(self._problems(view))
        if problems:
            raise Disagreement(problems)
        for payment in self.payments:
            payment.status = status_of(view.transactions[payment.transaction_id])
        self._narrow(view)

    def _narrow(self, view: View) -> None:
        """Take over what a sweep has brought, where nothing else is uncertain."""
        for name, (low, high) in self._opening.items():
            least, most = balance_span((0, 0), self.payments, name)
            balance = view.balances[name][0]
            if low < high and least == most and low < balance - least:
                self._opening[name] = balance - least, balance - least

    def look(self) -> View:
        """Read what the target shows."""
        listed = self.platform.transactions.of_customer(self.sources[0]["customerId"])
        rows = {str(row.get("id")): row for row in listed}
        owners = {owner_of(account).id: owner_of(account) for account in self._accounts.values()}
        shown = {
            account.id: account
            for owner in owners.values()
            for account in self.platform.internal_accounts.of_customer(owner)
        }
        balances = {
            name: shown_balances(shown[name])
            if name in shown
            else self.platform.internal_accounts.balances(account)
            for name, account in self._accounts.items()
        }
        return View(rows, balances)

    def _problems(self, view: View) -> Iterator[Problem]:
        seen: list[Payment] = []
        for number, payment in enumerate(self.payments, start=1):
            name = f"payment {number} ({payment.transaction_id})"
            row = view.transactions.get(payment.transaction_id)
            if row is None:
                yield Problem(STATUSES, f"{name} is not listed")
                return
            status = status_of(row)
            if status not in table().states:
                # The list of statuses is not closed, and of this one nothing is known.
                status = payment.status or ("PROCESSING" if payment.executed else "PENDING")
            _require_hold(payment, name, status)
            if not payment.may_become(status):
                yield Problem(STATUSES, f"{name} came from {payment.status} to {status}")
            if payment.executed and status in NOTHING_TAKEN:
                yield Problem(STATUSES, f"{name} was executed, and is {status}")
            seen.append(replace(payment, status=status))
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

    def rest(self) -> None:
        """Compare the webhooks with the balances, where the profile declares them."""
        if not self.platform.profile.features.webhooks:
            return
        if problem := next(self._untold_balances(), None):
            raise Disagreement([problem])

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


def _tells(balance: int, event: Delivery) -> bool:
    """Return whether a webhook about an internal account shows this balance."""
    money = event.data.get("balance") if isinstance(event.data, Mapping) else None
    return isinstance(money, Mapping) and money.get("amount") == balance


def _require_hold(payment: Payment, name: str, status: str) -> None:
    """Raise where what a trigger was to hold has gone on, as the specification allows.

    Raises:
        TriggerFailed: it has.
    """
    if payment.has_escaped(status):
        raise TriggerFailed(
            f"{payment.fate} was to keep {name} at {payment.status} until it is released, and it "
            f"is {status}; the release of another one may have released it too"
        )
