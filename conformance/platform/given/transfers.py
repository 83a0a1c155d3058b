"""The deprecated transfers, whose shapes are not shown."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Literal

from conformance.exchange.answer import Answer
from conformance.platform.operations import Options
from conformance.platform.part import Context, Part
from conformance.platform.resource import (
    Body,
    Json,
    fill_template,
)
from conformance.profile.bindings.all_areas import Bindings
from conformance.text.paths import value_at
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing

Direction = Literal["in", "out"]

CARRIED_OVER = ("remittanceInformation", "purposeOfPayment", "paymentRail")
"""What carries over from a transfer to the quote in its place."""

_SERVED: Mapping[Direction, str] = {"out": "TRF-001", "in": "TRF-002"}
"""The requirements that transfers are served."""

_NO_PATH = "/transfer-nowhere"
_TRANSACTION = "Transaction:"
_UNREAD = (400, 404, 422)
"""The statuses of a refusal that a body of the wrong shape may have, and another fault too."""

_OF_WHAT_IT_SAYS = frozenset(
    {
        "AMOUNT_OUT_OF_RANGE",
        "EXTERNAL_ACCOUNT_VERIFICATION_REQUIRED",
        "INSUFFICIENT_FUNDS",
        "SELF_PAYMENT",
        "TRANSACTION_SIZE_LIMIT_EXCEEDED",
    }
)
"""The codes of refusals by which a target shows that it has read accounts and amount."""


class Transfers(Part):
    """Transfers within one currency, by bodies that the bindings shape."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._taken: set[Direction] = set()

    def send_in(self, source: Json, destination: Json, amount: Any, **members: Any) -> Answer:
        """Send the deprecated ``POST /transfer-in``; the arguments are those of send_transfer."""
        return self.send("in", source, destination, amount, **members)

    def send_out(self, source: Json, destination: Json, amount: Any, **members: Any) -> Answer:
        """Send the deprecated ``POST /transfer-out``; the arguments are those of send_transfer."""
        return self.send("out", source, destination, amount, **members)

    def send(
        self,
        direction: Direction,
        source: Json,
        destination: Json,
        amount: Any,
        *,
        options: Options | None = None,
        **members: Any,
    ) -> Answer:
        """Send a deprecated transfer, shaped by the bindings.

        Args:
            direction: in or out.
            source: the account that the money comes from.
            destination: the account that it goes to.
            amount: the amount in the smallest unit.
            options: as in :class:`Options`.
            members: ``remittanceInformation``, ``purposeOfPayment``, ``paymentRail``.
        """
        body = self.body(direction, source, destination, amount, **members)
        transfer = {"in": self._api.transfer_in, "out": self._api.transfer_out}[direction]
        answer = transfer(body, **(options or {}))
        if answer.accepted:
            self._taken.add(direction)
        # A target may read a text of digits as the integer that it names.
        whole = int(amount) if isinstance(amount, str) and amount.isdecimal() else amount
        if answer.accepted and isinstance(whole, int):
            # What it does to a balance is certain once its transaction is seen.
            self._note(answer, "", (source, destination), (whole, whole))
        return answer

    def body(
        self,
        direction: Direction,
        source: Json,
        destination: Json,
        amount: Any,
        **members: Any,
    ) -> Body:
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
        body: Body = fill_template(template, words)
        return body

    def require_understood(self, direction: Direction, answer: Answer) -> Answer:
        """Return the answer to a transfer in which nothing is wrong.

        Raises:
            PreconditionFailed: nothing is served there.
            ResourceMissing: it was refused, maybe for the shape of its body, which is a guess as
                long as none was accepted.
        """
        if direction in self._taken:
            return answer
        default = Bindings.model_fields[f"transfer_{direction}"].get_default(
            call_default_factory=True
        )
        may_be_unread = answer.status in _UNREAD and answer.code not in _OF_WHAT_IT_SAYS
        if may_be_unread and self._template(direction) == default:
            if answer.status == HTTPStatus.NOT_FOUND and not self._is_served(direction):
                message = f"nothing is served at /transfer-{direction}: {answer}"
                raise PreconditionFailed(message, breaks=[_SERVED[direction]])
            raise ResourceMissing(
                f"the body of the suite is not taken: {answer}; give the right one in "
                f"bindings.transfer_{direction} of the profile"
            )
        return answer

    def _is_served(self, direction: Direction) -> bool:
        """Return whether a body without a member is answered otherwise than at no path at all."""
        name, path = f"transfer{direction.capitalize()}", f"/transfer-{direction}"
        here, nowhere = (
            self._api.client.stray(name, path=each, content=b"{}") for each in (path, _NO_PATH)
        )
        reason = str(value_at(here.body, "reason")).replace(path, _NO_PATH)
        told = (nowhere.status, nowhere.code, str(value_at(nowhere.body, "reason")))
        return (here.status, here.code, reason) != told

    def transaction_id(self, answer: Answer) -> str | None:
        """Return the id of its transaction that the answer to a transfer tells, if any."""
        place = self._profile.bindings.transfer_transaction
        found = value_at(answer.body, place) if place else None
        other = answer.body.get("transactionId") if isinstance(answer.body, Mapping) else None
        texts = [text for text in (found, other) if isinstance(text, str)]
        return next((text for text in texts if text.startswith(_TRANSACTION)), None)

    def settle(self, answer: Answer, transaction: Json, ends: tuple[Json, Json]) -> None:
        """Note for the audit what an accepted transfer moves, as its transaction says.

        Both ends are in one currency, so that what does not arrive is fees.
        """
        sent, received = (_amount(transaction, name) for name in ("sentAmount", "receivedAmount"))
        if sent is not None and received is not None:
            self._note(answer, transaction["id"], ends, (sent, received))

    def _note(
        self, answer: Answer, transaction: str, ends: tuple[Json, Json], amounts: tuple[int, int]
    ) -> None:
        name, fees = f"transfer {answer.exchange.id}", max(0, amounts[0] - amounts[1])
        self._ledger.note_transfer(name, transaction, ends, amounts, fees)

    def _template(self, direction: Direction) -> Body:
        bindings = self._profile.bindings
        return {"in": bindings.transfer_in, "out": bindings.transfer_out}[direction]


def _amount(transaction: Json, name: str) -> int | None:
    money = transaction.get(name)
    amount = money.get("amount") if isinstance(money, Mapping) else None
    return amount if isinstance(amount, int) else None
