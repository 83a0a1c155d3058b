"""Triggers: each kind does what the profile says, and tells what it lacks."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, ClassVar

import pytest

from conformance.target.target import Target
from conformance.target.triggers import Triggers
from conformance.verdict.decisions import HarnessError, TriggerFailed, TriggerMissing

BASE_URL = "https://api.acme.example/v/2025-10-13"


class World:
    """Notes what triggers send and wait for, and answers as it is told."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, str, Any]] = []
        self.secrets: list[str] = []
        self.waited: list[datetime] = []
        self.answer: tuple[int, Any] = (204, None)

    def send(
        self, method: str, url: str, body: Any, secrets: Collection[str] = ()
    ) -> tuple[int, Any]:
        self.sent.append((method, url, body))
        self.secrets += secrets
        return self.answer

    def wait(self, moment: datetime) -> None:
        self.waited.append(moment)


@pytest.fixture
def world() -> World:
    """What the triggers act on."""
    return World()


@pytest.fixture
def triggers(make_target: Callable[..., Target], world: World) -> Callable[..., Triggers]:
    """Return the triggers of a profile that maps what is given, by name."""

    def make(mapped: dict[str, Any], **variables: str) -> Triggers:
        target = make_target(BASE_URL, triggers=mapped, variables=variables)
        return Triggers(target, world.send, world.wait)

    return make


class TestHttp:
    """A trigger may be one request."""

    def test_names_in_braces_are_filled_in(
        self, triggers: Callable[..., Triggers], world: World
    ) -> None:
        """In the URL and in the body; a text that is all name keeps the type."""
        mapped = {
            "deposit.arrive": {
                "http": {
                    "method": "PUT",
                    "url": "{origin}/{tenant}/{accountId}",
                    "json": {"amount": "{amount}", "note": "{amount} {currency}", "n": [1]},
                }
            }
        }

        triggers(mapped, tenant="t1").fire(
            "deposit.arrive", accountId="InternalAccount:1", amount=5, currency="USD"
        )

        assert world.sent == [
            (
                "PUT",
                "https://api.acme.example/t1/InternalAccount:1",
                {"amount": 5, "note": "5 USD", "n": [1]},
            )
        ]

    def test_an_object_among_words_is_json(
        self, triggers: Callable[..., Triggers], world: World
    ) -> None:
        """Commands and URLs have nothing but text."""
        mapped = {
            "wallet.sign": {"http": {"url": "{origin}/sign", "json": {"text": "<{payload}>"}}}
        }
        others = dict.fromkeys(("accountId", "requestId", "method", "path", "body"), "x")

        triggers(mapped).fire("wallet.sign", payload={"amount": 7, "to": ["Zoë"]}, **others)

        assert world.sent[0][2] == {"text": '<{"amount":7,"to":["Zoë"]}>'}

    def test_an_id_cannot_lead_elsewhere(
        self, triggers: Callable[..., Triggers], world: World
    ) -> None:
        """It comes from the target."""
        mapped = {"rate.stale": {"http": {"url": "{base_url}/x/{quoteId}"}}}

        triggers(mapped).fire("rate.stale", quoteId="../../y?z#")

        assert world.sent[0][1] == f"{BASE_URL}/x/..%2F..%2Fy%3Fz%23"

    def test_results_are_taken_from_the_response(
        self, triggers: Callable[..., Triggers], world: World
    ) -> None:
        """Under the names that the profile gives them."""
        world.answer = (201, {"id": "Transaction:7"})
        mapped = {"rate.stale": {"http": {"url": "{origin}", "returns": {"transactionId": "id"}}}}

        assert triggers(mapped).fire("rate.stale", quoteId="q") == {
            "transactionId": "Transaction:7"
        }

    def test_results_that_are_credentials_are_named(
        self, triggers: Callable[..., Triggers], world: World
    ) -> None:
        """By the member that holds them, so that they are written nowhere."""
        world.answer = (201, {"key": "k", "id": "1"})
        mapped = {"agent.connect": {"http": {"url": "{origin}", "returns": {"token": "key"}}}}

        triggers(mapped).fire("agent.connect", customerId="Customer:1")

        assert world.secrets == ["key"]

    @pytest.mark.parametrize("body", [None, [], {}])
    def test_a_missing_result_is_told(
        self, triggers: Callable[..., Triggers], world: World, body: Any
    ) -> None:
        """It is the trigger that failed, not the check."""
        world.answer = (200, body)
        mapped = {"rate.stale": {"http": {"url": "{origin}", "returns": {"transactionId": "id"}}}}

        with pytest.raises(TriggerFailed, match=r"rate\.stale: its response has no member 'id'"):
            triggers(mapped).fire("rate.stale", quoteId="q")

    @pytest.mark.parametrize("status", [302, 404, 500])
    def test_a_refusal_is_told(
        self, triggers: Callable[..., Triggers], world: World, status: int
    ) -> None:
        """With the request."""
        world.answer = (status, None)
        mapped = {"rate.stale": {"http": {"url": "{origin}/x"}}}

        with pytest.raises(TriggerFailed, match=rf"POST https://.*/x answered {status}"):
            triggers(mapped).fire("rate.stale", quoteId="q")


class TestCommand:
    """A trigger may be a command of this machine."""

    def test_it_runs_without_a_shell(
        self, triggers: Callable[..., Triggers], tmp_path: Path
    ) -> None:
        """Each word is one argument, whatever it holds."""
        script = "import json, sys; print(json.dumps({'words': sys.argv[1:]}))"
        mapped = {"rate.stale": {"command": [sys.executable, "-c", script, "{quoteId}", "$HOME *"]}}

        found = triggers(mapped).fire("rate.stale", quoteId=f"; touch {tmp_path}/x")

        assert found == {"words": [f"; touch {tmp_path}/x", "$HOME *"]}
        assert not list(tmp_path.iterdir())

    @pytest.mark.parametrize("printed", ["", "done", "[1]"])
    def test_it_need_not_print_results(
        self, triggers: Callable[..., Triggers], printed: str
    ) -> None:
        """What is no JSON object is none."""
        mapped = {"rate.stale": {"command": [sys.executable, "-c", f"print({printed!r})"]}}

        assert triggers(mapped).fire("rate.stale", quoteId="q") == {}

    def test_its_failure_is_told(self, triggers: Callable[..., Triggers]) -> None:
        """With what it wrote."""
        mapped = {"rate.stale": {"command": [sys.executable, "-c", "exit('no market')"]}}

        with pytest.raises(TriggerFailed, match=r"rate\.stale: .* ended with 1: no market"):
            triggers(mapped).fire("rate.stale", quoteId="q")

    def test_its_absence_is_told(self, triggers: Callable[..., Triggers]) -> None:
        """With its name."""
        mapped = {"rate.stale": {"command": ["./no-such-command"]}}

        with pytest.raises(TriggerFailed, match=r"\./no-such-command: .*No such file"):
            triggers(mapped).fire("rate.stale", quoteId="q")


class TestWait:
    """A trigger may be nothing but patience."""

    MAPPED: ClassVar = {"quote.expire": {"wait": {"until": "expiresAt"}}}

    @pytest.mark.parametrize("form", ["%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%dT%H:%M:%S.5+00:00"])
    def test_it_waits_for_the_time_of_a_parameter(
        self, triggers: Callable[..., Triggers], world: World, form: str
    ) -> None:
        """In either form of a UTC timestamp."""
        moment = datetime.now(UTC).replace(microsecond=0) + timedelta(minutes=5)

        triggers(self.MAPPED).fire("quote.expire", quoteId="q", expiresAt=moment.strftime(form))

        assert abs(world.waited[0] - moment) < timedelta(seconds=1)

    @pytest.mark.parametrize("moment", [None, 7, "soon", "2999-13-01T00:00:00Z"])
    def test_what_is_no_time_is_told(self, triggers: Callable[..., Triggers], moment: Any) -> None:
        """It came from the target."""
        with pytest.raises(TriggerFailed, match=r"quote\.expire: expiresAt is no timestamp"):
            triggers(self.MAPPED).fire("quote.expire", quoteId="q", expiresAt=moment)

    def test_it_does_not_wait_for_ever(
        self, triggers: Callable[..., Triggers], world: World
    ) -> None:
        """No quote lives longer than a quarter of an hour."""
        with pytest.raises(TriggerFailed, match=r"too late to wait for; the longest wait is 0:20"):
            triggers(self.MAPPED).fire(
                "quote.expire", quoteId="q", expiresAt="2999-01-01T00:00:00Z"
            )

        assert world.waited == []


class TestMagic:
    """A trigger may be a value in the request that creates the resource."""

    MAPPED: ClassVar = {"payout.return": {"magic": {"accountInfo": {"accountNumber": "000000004"}}}}

    def test_its_values_are_told_beforehand(self, triggers: Callable[..., Triggers]) -> None:
        """Whoever creates the resource merges them."""
        assert triggers(self.MAPPED).magic("payout.return") == {
            "accountInfo": {"accountNumber": "000000004"}
        }

    def test_other_kinds_have_none(self, triggers: Callable[..., Triggers]) -> None:
        """They come after the creation."""
        assert triggers({"payout.return": {"command": ["x"]}}).magic("payout.return") is None

    def test_it_cannot_be_caused_afterwards(self, triggers: Callable[..., Triggers]) -> None:
        """The resource is there already."""
        with pytest.raises(HarnessError, match="to be used where the resource is made"):
            triggers(self.MAPPED).fire("payout.return", externalAccountId="e")


class TestVocabulary:
    """What a trigger takes is fixed."""

    def test_one_that_is_not_mapped_is_told(self, triggers: Callable[..., Triggers]) -> None:
        """By name."""
        made = triggers({})

        assert not made.maps("rate.stale")
        with pytest.raises(TriggerMissing, match=r"does not map the trigger rate\.stale"):
            made.fire("rate.stale", quoteId="q")
        with pytest.raises(TriggerMissing, match=r"does not map the trigger payout\.return"):
            made.magic("payout.return")

    @pytest.mark.parametrize("parameters", [{}, {"quote": "q"}, {"quoteId": "q", "more": 1}])
    def test_other_parameters_are_a_mistake_of_the_suite(
        self, triggers: Callable[..., Triggers], world: World, parameters: dict[str, Any]
    ) -> None:
        """Nothing is sent."""
        with pytest.raises(HarnessError, match=r"rate\.stale takes \('quoteId',\)"):
            triggers({"rate.stale": {"http": {"url": "x"}}}).fire("rate.stale", **parameters)

        assert world.sent == []
