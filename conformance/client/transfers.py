"""The suite in the part of a platform that still uses the deprecated transfers."""

from __future__ import annotations

from typing import Any, Literal

from conformance.client.actor import Actor, Json, at, filled
from conformance.client.http import Answer
from conformance.target.profile import Bindings
from conformance.verdict.decisions import ResourceMissing

Direction = Literal["in", "out"]

CARRIED_OVER = ("remittanceInformation", "purposeOfPayment", "paymentRail")
"""What carries over from a transfer to the quote in its place."""

_OPERATIONS: dict[Direction, str] = {"in": "transferIn", "out": "transferOut"}
_TRANSACTION = "Transaction:"
_UNREAD = (400, 404, 422)
"""The statuses of a refusal that a body of the wrong shape may have, and another fault too."""


class Transfers(Actor):
    """Transfers within one currency by operations whose shapes are not shown."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._taken: set[Direction] = set()

    def transfer_in(self, source: Json, destination: Json, amount: Any, **members: Any) -> Answer:
        """Send the deprecated ``POST /transfer-in``; the arguments are those of send_transfer."""
        return self.send_transfer("in", source, destination, amount, **members)

    def transfer_out(self, source: Json, destination: Json, amount: Any, **members: Any) -> Answer:
        """Send the deprecated ``POST /transfer-out``; the arguments are those of send_transfer."""
        return self.send_transfer("out", source, destination, amount, **members)

    def send_transfer(
        self,
        direction: Direction,
        source: Json,
        destination: Json,
        amount: Any,
        *,
        options: Json | None = None,
        **members: Any,
    ) -> Answer:
        """Send a deprecated transfer, shaped by the bindings.

        Args:
            direction: in or out.
            source: the account that the money comes from.
            destination: the account that it goes to.
            amount: the amount in the smallest unit.
            options: further arguments of the client's call.
            members: ``remittanceInformation``, ``purposeOfPayment``, ``paymentRail``.
        """
        body = self.transfer_body(direction, source, destination, amount, **members)
        answer = self.client.call(_OPERATIONS[direction], body=body, **(options or {}))
        if answer.accepted:
            self._taken.add(direction)
        if answer.accepted and isinstance(amount, int):
            # What it does to a balance is certain once its transaction is seen.
            self._note(answer.exchange.id, "", (source, destination), (amount, amount))
        return answer

    def transfer_body(
        self,
        direction: Direction,
        source: Json,
        destination: Json,
        amount: Any,
        **members: Any,
    ) -> Json:
        """Return the body of a deprecated transfer; the arguments are those of send_transfer.

        Raises:
            ResourceMissing: the bindings do not say where one of ``members`` stands.
        """
        template = self._template(direction)
        words = {
            "{sourceAccountId}": source["id"],
            "{destinationAccountId}": destination["id"],
            "{amount}": amount,
            **{f"{{{name}}}": members.get(name) for name in CARRIED_OVER},
        }
        for name in members:
            if f"'{{{name}}}'" not in repr(template):
                raise ResourceMissing(f"bindings.transfer_{direction} has no {{{name}}}")
        body: Json = filled(template, words)
        return body

    def understood(self, direction: Direction, answer: Answer) -> Answer:
        """Return the answer to a transfer in which nothing is wrong.

        Raises:
            ResourceMissing: it was refused, maybe for the shape of its body, which is a guess as
                long as none was accepted.
        """
        if direction in self._taken:
            return answer
        default = Bindings.model_fields[f"transfer_{direction}"].get_default(
            call_default_factory=True
        )
        if answer.status in _UNREAD and self._template(direction) == default:
            raise ResourceMissing(
                f"the body of the suite is not taken: {answer}; give the right one in "
                f"bindings.transfer_{direction} of the profile"
            )
        return answer

    def told_transaction(self, answer: Answer) -> str | None:
        """Return the id of its transaction that the answer to a transfer tells, if any."""
        place = self.profile.bindings.transfer_transaction
        found = at(answer.body, place) if place else None
        other = answer.body.get("transactionId") if isinstance(answer.body, dict) else None
        texts = [text for text in (found, other) if isinstance(text, str)]
        return next((text for text in texts if text.startswith(_TRANSACTION)), None)

    def settle_transfer(self, answer: Answer, transaction: Json, *ends: Json) -> None:
        """Note for the audit what an accepted transfer moves, as its transaction says."""
        amounts = [_amount(transaction, name) for name in ("sentAmount", "receivedAmount")]
        if None in amounts:
            return
        self._note(answer.exchange.id, transaction["id"], ends, amounts)

    def _note(self, name: str, transaction: str, ends: Any, amounts: Any) -> None:
        source, destination = ends
        self.movement.quotes[f"transfer {name}"] = {
            "transactionId": transaction,
            "source": {"accountId": source["id"]},
            "destination": {"accountId": destination["id"]},
            "totalSendingAmount": amounts[0],
            "totalReceivingAmount": amounts[1],
        }

    def _template(self, direction: Direction) -> Json:
        bindings = self.profile.bindings
        return {"in": bindings.transfer_in, "out": bindings.transfer_out}[direction]


def _amount(transaction: Json, name: str) -> int | None:
    money = transaction.get(name)
    amount = money.get("amount") if isinstance(money, dict) else None
    return amount if isinstance(amount, int) else None
