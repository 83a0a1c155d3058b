"""What may be done in a walk: single requests, and the few that are dangerous one after another."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from conformance.contract.vocabulary import triggers
from conformance.exchange.answer import Answer
from conformance.fuzz.model.payments import Payment, failing, fates, status_of, table
from conformance.fuzz.model.world import EXECUTIONS, OPENING, Disagreement, Problem, World
from conformance.platform.given.rule_based_accounts import CURRENCY
from conformance.platform.platform import Platform
from conformance.platform.resource import Json, Resource, arranged_resource
from conformance.verdict.decisions import ResourceMissing, TriggerFailed, Unmet

T = TypeVar("T")

FIRST = 20_000
WHOLE, ONE_MORE = 0, 1
"""Amounts that stand for the whole balance of the source, and for one smallest unit more."""

AMOUNTS = (7, 1_000, 10_001, 33_333, OPENING // 2, WHOLE, ONE_MORE, OPENING)
"""Of so little as the first the fees are often nothing, so that a refund has to be whole."""

_SETTLING = ("PROCESSING", "COMPLETED")
_WAITING = "PENDING_AUTHORIZATION"
_REFUNDED = ("REFUND_COMPLETED", "REFUND_FAILED")
_HELD = ("refund.hold", "payout.hold")

_OF_REALTIME = frozenset({"quote.fund", "quote.misfund"})
"""Triggers of quotes that are funded in real time, as none of the model's is."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What one step is about; it takes of it what it needs.

    ``side`` is a ``lockedCurrencySide``, ``amount`` one of :data:`AMOUNTS`, ``number`` chooses
    accounts and payments, and ``at_once`` tells whether a quote is to be executed at its creation.
    """

    side: str
    amount: int
    number: int
    at_once: bool


@dataclass
class Steps:
    """The steps of one walk.

    Each does nothing where the target does not offer what it needs, and raises
    :class:`Disagreement` where the target does not agree with the model after it.
    """

    world: World
    in_vain: set[str] = field(default_factory=set)
    """What was waited for in vain, in this walk or before it."""

    _destinations: dict[str | None, Resource] = field(default_factory=dict)
    _refused: set[str | None] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._fates = [None, *filter(self._platform.triggers.maps, fates())]

    @property
    def _platform(self) -> Platform:
        return self.world.platform

    @property
    def _payments(self) -> list[Payment]:
        return self.world.payments

    def begin(self) -> None:
        """Create a quote, so that there is something to execute from the first step on."""
        self.pay_out(Choice("SENDING", FIRST, 0, at_once=False))

    # Quotes

    def pay_out(self, choice: Choice) -> None:
        """Create a quote to an external account of a fate, and execute it at once or not."""
        fate = self._fates[choice.number % len(self._fates)]
        self._quote(self._source(choice), fate, choice)

    def transfer(self, choice: Choice) -> None:
        """Create a quote to an internal account, of another customer or of the same one."""
        source, *others = self.world.sources[:: -1 if choice.number % 4 == 1 else 1]
        destination = others[0] if others and choice.number % 2 else self._partner()
        if destination is not None:
            self._send(source, destination, None, choice)

    def execute(self, choice: Choice) -> None:
        """Execute a quote, whatever it has come to; by an even number one that still waits."""
        quotes = [payment for payment in self._payments if "id" in payment.quote]
        waiting = [] if choice.number % 2 else [one for one in quotes if not one.executed]
        self._execute(_chosen(waiting or quotes, choice.number // 2))

    def authorize(self, choice: Choice) -> None:
        """Bring a proof for a quote that waits for one; by every fourth number for any quote.

        By every third number it is a wrong one.
        """
        quotes = [payment for payment in self._payments if "id" in payment.quote]
        waiting = [payment for payment in quotes if payment.challenge and not payment.executed]
        payment = _chosen((choice.number % 4 and waiting) or quotes, choice.number // 2)
        self._authorize(payment, is_right=bool(choice.number % 3))

    def pay_by_agent(self, choice: Choice) -> None:
        """Let an agent start a payment, which waits for the platform's approval."""
        destination = self._destination(None)
        if not self._platform.triggers.maps("agent.initiate") or destination is None:
            return
        amount = self._amount(self.world.sources[0], choice.amount)
        try:
            made = self._platform.agents.initiate(self.world.sources[0], destination, amount=amount)
        except Unmet:
            return
        if "totalSendingAmount" not in made:
            return
        # What of it is a fee, which a refund may keep, is not shown.
        quote = {"totalReceivingAmount": 0, "feesIncluded": made["totalSendingAmount"], **made}
        self._payments.append(Payment(quote, None, "PENDING"))
        self.world.end_step(f"payment {len(self._payments)}: an agent starts one of {amount}")

    def approve(self, choice: Choice) -> None:
        """Approve a transaction: by an even number one that an agent has initiated, if any."""
        if not self._platform.profile.features.agents:
            return
        agents = [payment for payment in self._payments if "id" not in payment.quote]
        among = (choice.number % 2 == 0 and agents) or self._payments
        payment = _chosen(among, choice.number // 2)
        available = self._available(payment)
        answer = self._platform.api.approve_transaction(payment.transaction_id)
        if answer.accepted and payment in agents:
            payment.done.add("approveTransaction")
            if _settles(answer):
                payment.executed = True
                self._forbid(payment, self._lacks_funds(payment, available))
        self.world.end_step(f"approve {self._name(payment)}: {_told(answer)}")

    # What happens from outside

    def deposit(self, choice: Choice) -> None:
        """Let a deposit settle."""
        source = self._source(choice)
        self._deposit(source, self._amount(source, choice.amount))

    def sweep(self, choice: Choice) -> None:
        """Let a deposit settle into a rule-based account that is swept to the source."""
        source = self.world.sources[0]
        account = self._swept_to(source)
        low, high = self.world.opening(source.id)
        if account is None or low < high:
            # Of two sweeps on their way it could not be told which has arrived.
            return
        amount = self._amount(source, choice.amount)
        self._platform.internal_accounts.settle_deposit(account, amount)
        # How much a sweep may cost is open.
        self.world.note_deposit(source, amount, at_least=1)
        self.world.end_step(f"a deposit of {amount} that is swept")

    def happen(self, choice: Choice) -> None:
        """Cause one of the triggers that the table of states has at the status of a payment."""
        offered = [
            (payment, name)
            for payment in self._payments
            for name in sorted(self._triggers_at(payment, self._known(payment)))
        ]
        if offered:
            payment, name = _chosen(offered, choice.number + len(choice.side) * choice.at_once)
            self._fire(payment, name)

    def rest(self, choice: Choice) -> None:
        """Wait until a payment is no longer in processing.

        How long a rail takes is open, so that nothing is asserted of the time.
        """
        moving = [one for one in self._payments if one.status == "PROCESSING" and one.is_moving]
        if moving:
            payment = _chosen(moving, choice.number)
            self._wait("settlement", payment, lambda status: status != "PROCESSING")

    def reset(self, choice: Choice) -> None:
        """Start the reset of a factor of the customer; nothing moves, whatever is answered."""
        if not self._platform.profile.features.factor_reset:
            return
        customer = self.world.sources[0].owner
        answer = self._platform.resets.start(customer, "TOTP" if choice.number % 2 else "SMS_OTP")
        self.world.end_step(f"start the reset of a factor: {_told(answer)}")

    # Several requests in a row

    def pay_on_second_try(self, choice: Choice) -> None:
        """Execute a quote that is not covered, let a deposit cover it, and execute it again."""
        source = self._source(choice)
        wanted = Choice(choice.side, ONE_MORE, choice.number, at_once=False)
        payment = self._quote(source, None, wanted)
        if payment is None:
            return
        self._execute(payment)
        self._deposit(source, int(payment.quote["totalSendingAmount"]))
        self._execute(payment)

    def come_late(self, choice: Choice) -> None:
        """Let a quote expire that waits, a new one where none does, and execute it."""
        waiting = list(filter(self._can_expire, self._payments))
        if waiting:
            payment: Payment | None = _chosen(waiting, choice.number)
        else:
            new = Choice(choice.side, choice.amount, choice.number, at_once=False)
            payment = self._quote(self._source(choice), None, new)
        if payment is not None and self._can_expire(payment):
            self._fire(payment, "quote.expire")
            self._execute(payment)

    def _can_expire(self, payment: Payment) -> bool:
        """Return whether a quote waits for its execution alone, and may be let expire."""
        waits = not payment.is_expired and payment.challenge is None
        return waits and "quote.expire" in self._triggers_at(payment, self._known(payment))

    def be_refunded(self, choice: Choice) -> None:
        """Pay out to an account where it fails, and wait for the refund."""
        among = [fate for fate in self._fates if fate in failing()]
        if not among:
            return
        fate = _chosen(among, choice.number)
        amount = _chosen(AMOUNTS[:2], choice.amount)
        wanted = Choice(choice.side, amount, choice.number, at_once=True)
        payment = self._quote(self.world.sources[0], fate, wanted)
        if payment is not None:
            self._wait("refund", payment, lambda status: status in _REFUNDED)
            self.world.rest()

    def meanwhile(self, choice: Choice) -> None:
        """Hold a payment or its refund; let other payments and a deposit come; let it go on."""
        fate = _HELD[choice.number % 2]
        other = self._fates.index("payout.hold") if "payout.hold" in self._fates else 0
        source = self.world.sources[0]
        if fate not in self._fates:
            return
        made = self._quote(source, fate, Choice(choice.side, choice.amount, 0, at_once=True))
        if made is None:
            return
        if fate == "refund.hold":
            self._wait(fate, made, lambda status: status not in ("PROCESSING", "FAILED"))
        # The latest quote is that of the other account, where there is one.
        for number, account in enumerate(self.world.sources, start=1):
            self._quote(account, self._fates[other], Choice("SENDING", 1_000, number, at_once=True))
        self._deposit(source, 1_000)
        self._release(made)

    def _release(self, payment: Payment) -> None:
        """Release what is held, and wait for what becomes of it."""
        names = self._triggers_at(payment, self._known(payment))
        if release := next((name for name in names if name.endswith(".release")), None):
            before = payment.status
            self._fire(payment, release)
            self._wait(release, payment, lambda status: status != before)
            self.world.rest()

    # One request each

    def _quote(self, source: Resource, fate: str | None, choice: Choice) -> Payment | None:
        destination = self._destination(fate)
        return None if destination is None else self._send(source, destination, fate, choice)

    def _send(
        self, source: Resource, destination: Resource, fate: str | None, choice: Choice
    ) -> Payment | None:
        """Create a quote; return it, unless it was refused."""
        amount = self._amount(source, choice.amount)
        members = {"immediatelyExecute": True} if choice.at_once else {}
        body = self._platform.quotes.body(
            source, destination, side=choice.side, amount=amount, **members
        )
        available = self.world.most_available(source.id)
        answer = self._platform.api.create_quote(body)
        number = len(self._payments) + 1
        told = f"payment {number}: quote {choice.side} {amount} to {fate or destination['id']}"
        payment = None
        if answer.accepted:
            quote = arranged_resource(answer)
            payment = Payment(quote, fate, None if choice.at_once else "PENDING")
            self._payments.append(payment)
            if choice.at_once:
                self._note_execution(payment, answer)
            if payment.executed:
                self._forbid(payment, self._lacks_funds(payment, available))
        at_once = ", executed at once" if choice.at_once else ""
        self.world.end_step(f"{told}{at_once}: {_told(answer)}")
        return payment

    def _execute(self, payment: Payment) -> None:
        forbidden = "" if payment.executed else self._forbids_execution(payment)
        answer = self._platform.api.execute_quote(payment.quote["id"])
        settles = self._note_execution(payment, answer)
        if settles:
            self._forbid(payment, forbidden)
        self.world.end_step(f"execute {self._name(payment)}: {_told(answer)}")

    def _authorize(self, payment: Payment, *, is_right: bool) -> None:
        challenged = payment.challenge is not None and not payment.executed
        forbidden = self._lacks_funds(payment, self._available(payment)) if challenged else ""
        proof = (
            self._platform.sca.proof_for({"scaChallenge": payment.challenge})
            if is_right
            else {"code": self._platform.profile.bindings.sca_wrong_code}
        )
        answer = self._platform.api.authorize_quote(payment.quote["id"], proof)
        if challenged and answer.accepted:
            if _settles(answer):
                payment.executed = True
                self._forbid(payment, forbidden if is_right else "its proof is wrong")
            if is_right:
                payment.done.add("authorizeQuote")
            payment.challenge = answer.body.get("scaChallenge") or payment.challenge
        kind = "the right" if is_right else "a wrong"
        self.world.end_step(f"bring {kind} proof for {self._name(payment)}: {_told(answer)}")

    def _deposit(self, source: Resource, amount: int) -> None:
        amount = min(amount, self._platform.profile.budget.amount)
        self._platform.internal_accounts.settle_deposit(source, amount)
        self.world.note_deposit(source, amount)
        self.world.end_step(f"a deposit of {amount}")

    def _fire(self, payment: Payment, name: str) -> None:
        known = self._known(payment)
        payment.done.add(name)
        if name == "sca.challenge_expire":
            known = {**known, "expiresAt": (payment.challenge or {}).get("expiresAt")}
        try:
            self._platform.triggers.fire(
                name, **{one: known[one] for one in triggers()[name].parameters}
            )
        except TriggerFailed:
            # There is nothing that it could happen to.
            payment.done.discard(name)
            return
        self.world.end_step(f"{name} of {self._name(payment)}")

    def _wait(self, what: str, payment: Payment, wanted: Callable[[str], bool]) -> None:
        """Wait until the status of a payment is wanted, unless that was in vain before."""
        if what in self.in_vain:
            return
        status = self._platform.until(
            lambda: status_of(self.world.look().transactions.get(payment.transaction_id, {})),
            wanted,
        )
        if not wanted(status):
            self.in_vain.add(what)
        self.world.end_step(f"wait for {self._name(payment)}")

    # What is forbidden

    def _note_execution(self, payment: Payment, answer: Answer) -> bool:
        """Take over what the answer to an execution tells; return whether it was carried out."""
        if not answer.accepted:
            return False
        if answer.body.get("status") == _WAITING:
            payment.challenge = answer.body.get("scaChallenge") or payment.challenge or {}
        elif payment.challenge is None:
            payment.done.add("executeQuote")
        payment.executed = payment.executed or _settles(answer)
        return _settles(answer)

    def _forbids_execution(self, payment: Payment) -> str:
        """Return why a payment may not be executed now; empty where nothing is known against it."""
        if payment.is_expired:
            return "its quote has expired"
        if payment.challenge is not None:
            return "it waits for the proof of its customer"
        return self._lacks_funds(payment, self._available(payment))

    def _available(self, payment: Payment) -> int:
        return self.world.most_available(str(payment.quote["source"].get("accountId")))

    def _lacks_funds(self, payment: Payment, available: int) -> str:
        sent = int(payment.quote["totalSendingAmount"])
        return (
            f"it takes {sent}, and its source has at most {available}" if sent > available else ""
        )

    def _forbid(self, payment: Payment, reason: str) -> None:
        if reason:
            text = f"{payment.transaction_id} was executed, although {reason}"
            raise Disagreement([Problem(EXECUTIONS, text)])

    # Resources

    def _source(self, choice: Choice) -> Resource:
        # The first one has the destinations of its own currency.
        others = self.world.sources[1:]
        return self.world.sources[0] if (choice.number + 1) % 3 or not others else others[0]

    def _amount(self, source: Resource, amount: int) -> int:
        """Return an amount in smallest units; WHOLE and ONE_MORE are relative to the balance."""
        if amount not in (WHOLE, ONE_MORE):
            return amount
        low, _ = self.world.span(source.id)
        return max(low, 1_000) + amount

    def _destination(self, fate: str | None) -> Resource | None:
        """Return the external account of a fate; None where the target does not have one."""
        if fate not in self._destinations and fate not in self._refused:
            try:
                self._destinations[fate] = self._platform.external_accounts.account(
                    self.world.sources[0].owner, trigger=fate
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
                partner = self._platform.internal_accounts.account(amount=0)
                probe = self._platform.api.create_quote(
                    self._platform.quotes.body(self.world.sources[0], partner, amount=1_000)
                )
                if not probe.accepted:
                    raise ResourceMissing(f"{probe}")
            except Unmet:
                self._refused.add(name)
                return None
            self._destinations[name] = partner
            self.world.add(partner)
            self._payments.append(Payment(arranged_resource(probe), None, "PENDING"))
        return self._destinations[name]

    def _swept_to(self, source: Resource) -> Resource | None:
        """Return a rule-based account that is swept to the source; None where there is none."""
        name = "a rule-based account"
        if name not in self._destinations and name not in self._refused:
            try:
                if self._platform.profile.currency != CURRENCY:
                    raise ResourceMissing(f"rule-based accounts are in {CURRENCY}")
                made = self._platform.rule_based.account_sweeping_to(source, source)
                self.world.add(made)
                self._destinations[name] = made
            except Unmet:
                self._refused.add(name)
        return self._destinations.get(name)

    def _known(self, payment: Payment) -> Json:
        """Return the parameters of triggers that are known of a payment."""
        known = {
            "transactionId": payment.transaction_id,
            "customerId": self.world.sources[0]["customerId"],
        }
        if "id" in payment.quote:
            known["quoteId"] = payment.quote["id"]
            known["expiresAt"] = payment.quote.get("expiresAt")
        if payment.challenge:
            known["challengeId"] = payment.challenge.get("id")
        return known

    def _triggers_at(self, payment: Payment, known: Mapping[str, object]) -> Iterator[str]:
        """Yield the triggers that may happen to a payment at its status, and cost no waiting."""
        for name in table().actions_at(str(payment.status)) & triggers().keys() - _OF_REALTIME:
            mapping = self._platform.profile.triggers.get(name)
            offered = mapping is not None and mapping.wait is None and mapping.magic is None
            if offered and set(triggers()[name].parameters) <= known.keys():
                yield name

    def _name(self, payment: Payment) -> str:
        # Two payments of the same members are not the same.
        return f"payment {1 + next(i for i, one in enumerate(self._payments) if one is payment)}"


def _chosen(among: Sequence[T], number: int) -> T:
    return among[number % len(among)]


def _settles(answer: Answer) -> bool:
    """Return whether an answer says that a quote is executed."""
    body = answer.body
    return answer.accepted and isinstance(body, Mapping) and body.get("status") in _SETTLING


def _told(answer: Answer) -> str:
    """Return in short what an answer says."""
    status = answer.body.get("status") if isinstance(answer.body, Mapping) else None
    return f"{answer.status} {status if answer.accepted else answer.code}"
