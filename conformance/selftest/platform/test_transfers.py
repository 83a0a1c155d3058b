"""The deprecated transfers as the suite sends them: by the profile, understood or not."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from typing import Any

import pytest

from conformance.contract.document import document
from conformance.exchange.client import RecordingClient
from conformance.platform.given.transfers import Transfers
from conformance.profile.model import Profile
from conformance.selftest.contexts import context_of
from conformance.selftest.standins import Behaviour, Received, StandIn, answers
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing

SOURCE = {"id": "InternalAccount:1"}
DESTINATION = {"id": "ExternalAccount:1"}
REFUSED = {"code": "INVALID_INPUT", "reason": "The body is not known."}

Make = Callable[..., Transfers]


@pytest.fixture
def transfers(
    stand_in: Callable[[Behaviour], StandIn],
    connect: Callable[..., RecordingClient],
    make_profile: Callable[..., Profile],
) -> Make:
    """Return a function that makes the transfers of a target with this status and body."""

    def make(status: int = 201, body: Any = None, **bindings: Any) -> Transfers:
        server = stand_in(answers(status, body))
        profile = make_profile(bindings=bindings, features={"deprecated_transfers": True})
        return Transfers(context_of(connect(server.base_url), profile))

    return make


class TestBody:
    """The body of a transfer follows the bindings."""

    def test_what_a_transfer_does_not_have_is_left_out(self, transfers: Make) -> None:
        """By default a body has source, destination and amount, and no member without a value."""
        body = transfers().body("out", SOURCE, DESTINATION, 5)

        assert body == {
            "source": {"accountId": "InternalAccount:1"},
            "destination": {"accountId": "ExternalAccount:1"},
            "amount": 5,
        }

    def test_names_of_the_bindings_are_filled_in(self, transfers: Make) -> None:
        """Placeholders of the bindings are filled in at any depth."""
        shape = {"to": {"id": "{destinationAccountId}", "memo": ["{remittanceInformation}"]}}

        body = transfers(transfer_in=shape).body(
            "in", SOURCE, DESTINATION, 5, remittanceInformation="4711"
        )

        assert body == {"to": {"id": "ExternalAccount:1", "memo": ["4711"]}}

    def test_a_member_without_a_place_is_told(self, transfers: Make) -> None:
        """A member for which the bindings have no placeholder is not exercised."""
        shape = {"amount": "{amount}"}

        with pytest.raises(ResourceMissing, match=r"bindings\.transfer_out has no \{paymentRail\}"):
            transfers(transfer_out=shape).body("out", SOURCE, DESTINATION, 5, paymentRail="ACH")


class TestUnderstanding:
    """A refusal counts only where the body is known to be right."""

    def test_the_usual_body_may_not_be_known(self, transfers: Make) -> None:
        """A 400 for the default body asks for a binding, as that body is a guess."""
        platform = transfers(400, REFUSED)
        answer = platform.send_out(SOURCE, DESTINATION, 5)

        with pytest.raises(ResourceMissing, match=r"give the right one in bindings\.transfer_out"):
            platform.require_understood("out", answer)

    @pytest.mark.parametrize("is_served", [False, True])
    def test_what_is_not_served_is_told(
        self,
        stand_in: Callable[[Behaviour], StandIn],
        connect: Callable[..., RecordingClient],
        make_profile: Callable[..., Profile],
        *,
        is_served: bool,
    ) -> None:
        """It is answered as any path that there is not; an account that there is not, otherwise."""

        def behave(line: socket.socket, received: Received, stopped: threading.Event) -> None:
            is_read = is_served and received.path.endswith("/transfer-out")
            known = answers(400, REFUSED)
            unknown = answers(404, {"code": "NOT_FOUND", "reason": f"No {received.path}"})
            (known if is_read and received.body == b"{}" else unknown)(line, received, stopped)

        profile = make_profile(features={"deprecated_transfers": True})
        platform = Transfers(context_of(connect(stand_in(behave).base_url), profile))
        answer = platform.send_out(SOURCE, DESTINATION, 5)

        with pytest.raises((PreconditionFailed, ResourceMissing)) as told:
            platform.require_understood("out", answer)

        expected = ResourceMissing if is_served else PreconditionFailed
        assert told.type is expected
        assert getattr(told.value, "breaks", ()) == (() if is_served else ("TRF-001",))

    def test_a_body_of_the_profile_is_known(self, transfers: Make) -> None:
        """A 400 for a body of the profile counts as a refusal."""
        platform = transfers(400, REFUSED, transfer_out={"cents": "{amount}"})
        answer = platform.send_out(SOURCE, DESTINATION, 5)

        assert platform.require_understood("out", answer) is answer

    def test_another_refusal_has_another_reason(self, transfers: Make) -> None:
        """A 409 for the default body counts as a refusal."""
        platform = transfers(409, REFUSED)
        answer = platform.send_out(SOURCE, DESTINATION, 5)

        assert platform.require_understood("out", answer) is answer

    def test_what_is_refused_for_its_amount_was_read(self, transfers: Make) -> None:
        """A 400 whose code speaks of funds or limits counts as a refusal of the default body."""
        platform = transfers(400, {**REFUSED, "code": "INSUFFICIENT_FUNDS"})
        answer = platform.send_out(SOURCE, DESTINATION, 5)

        assert platform.require_understood("out", answer) is answer

    def test_what_was_taken_once_is_known(self, transfers: Make) -> None:
        """After one accepted transfer a 400 counts in that direction, and not in the other."""
        platform = transfers(201, {"id": "Transaction:1"})
        platform.send_out(SOURCE, DESTINATION, 5)
        refusal = transfers(400, REFUSED).send_in(SOURCE, DESTINATION, 5)

        assert platform.require_understood("out", refusal) is refusal
        with pytest.raises(ResourceMissing):
            platform.require_understood("in", refusal)


@pytest.mark.parametrize(
    ("place", "body", "identifier"),
    [
        ("id", {"id": "Transaction:1"}, "Transaction:1"),
        ("id", {"id": "Quote:1", "transactionId": "Transaction:1"}, "Transaction:1"),
        ("data.transaction", {"data": {"transaction": "Transaction:1"}}, "Transaction:1"),
        ("id", {"id": "transfer-1"}, None),
        ("id", None, None),
        (None, {"id": "Transaction:1"}, None),
    ],
)
def test_the_transaction_is_told_or_not(
    transfers: Make, place: str | None, body: Any, identifier: str | None
) -> None:
    """The transaction id stands where the profile says, or as ``transactionId``."""
    platform = transfers(201, body, transfer_transaction=place)

    answer = platform.send_out(SOURCE, DESTINATION, 5)

    assert platform.transaction_id(answer) == identifier


def test_the_audit_learns_of_a_transfer(transfers: Make) -> None:
    """The ledger gets the amounts of a transfer once its transaction is seen."""
    platform = transfers(201, {"id": "Transaction:1"})
    answer = platform.send_out(SOURCE, DESTINATION, 5)
    (before,) = platform._ledger.quotes.values()
    row = {"id": "Transaction:1", "sentAmount": {"amount": 5}, "receivedAmount": {"amount": 4}}

    platform.settle(answer, row, (SOURCE, DESTINATION))

    (after,) = platform._ledger.quotes.values()
    assert before["transactionId"] == ""
    assert after == {
        "transactionId": "Transaction:1",
        "source": {"accountId": "InternalAccount:1"},
        "destination": {"accountId": "ExternalAccount:1"},
        "totalSendingAmount": 5,
        "totalReceivingAmount": 4,
        "feesIncluded": 1,
    }


@pytest.mark.parametrize("name", ["transferIn", "transferOut"])
def test_the_document_calls_transfers_deprecated(name: str) -> None:
    """The operations transferIn and transferOut are deprecated, and their summary says so."""
    operation = document().operations[name].raw

    assert operation["deprecated"] is True
    assert "deprecated" in operation["summary"]
