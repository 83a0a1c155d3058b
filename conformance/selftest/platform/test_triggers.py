"""Triggers: each kind does what the profile says, and tells what it lacks."""

from __future__ import annotations

import math
import os
import signal
import sys
import time
from collections.abc import Callable, Collection
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conformance.platform import triggers as module
from conformance.platform.triggers import Triggers
from conformance.selftest import standins
from conformance.selftest.standins import Behaviour, StandIn
from conformance.sut.target import Target
from conformance.verdict.decisions import (
    HarnessError,
    ReadOnly,
    TriggerFailed,
    TriggerMissing,
    Unusable,
)

BASE_URL = "https://api.acme.example/v/2025-10-13"

LONG_TEXT = pytest.param("x" * 10**7, id="long text")
LONG = pytest.param(10**5000, id="long number")


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

    @pytest.mark.parametrize("value", ["", ".", "..", None, ["q"], {"q": 1}, math.nan, LONG])
    def test_an_id_that_has_no_place_in_a_url_is_refused(
        self, triggers: Callable[..., Triggers], world: World, value: Any
    ) -> None:
        """Nothing is sent; the trigger, the parameter and what came are told."""
        mapped = {"rate.stale": {"http": {"url": "https://ops.example/quotes/{quoteId}/stale"}}}

        with pytest.raises(Unusable, match=r"^trigger rate\.stale: .*quoteId.* got ") as refused:
            triggers(mapped).fire("rate.stale", quoteId=value)

        assert world.sent == []
        assert len(str(refused.value)) < 300

    def test_a_value_is_not_filled_in_again(
        self, triggers: Callable[..., Triggers], world: World
    ) -> None:
        """A target cannot read the variables of the profile."""
        http = {"url": "{ops}/{customerId}", "json": {"a": "{customerId}", "b": "x {customerId}"}}
        made = triggers({"quote.fund": {"http": http}}, key="hidden", ops="{origin}/ops-{quoteId}")

        made.fire("quote.fund", quoteId="hidden?", customerId="{key}{quoteId}{origin}")

        ((_, url, body),) = world.sent
        assert url.endswith("/ops-hidden%3F/%7Bkey%7D%7BquoteId%7D%7Borigin%7D")
        assert body == {"a": "{key}{quoteId}{origin}", "b": "x {key}{quoteId}{origin}"}

    @pytest.mark.parametrize("value", ["", "..", '"', "\0", None, [1], {"a": None}, True, -1.5])
    def test_a_body_takes_any_json(
        self, triggers: Callable[..., Triggers], world: World, value: Any
    ) -> None:
        """There it leads nowhere."""
        mapped = {"rate.stale": {"http": {"url": "{origin}", "json": {"id": "{quoteId}"}}}}

        triggers(mapped).fire("rate.stale", quoteId=value)

        assert world.sent[0][2] == {"id": value}

    @pytest.mark.parametrize("value", [math.nan, [math.inf], "\ud800", {"\udfff": 1}, LONG])
    def test_a_body_takes_nothing_else(
        self, triggers: Callable[..., Triggers], world: World, value: Any
    ) -> None:
        """What neither JSON nor UTF-8 can spell."""
        mapped = {"rate.stale": {"http": {"url": "{origin}", "json": {"id": "{quoteId}"}}}}

        with pytest.raises(Unusable, match=r"rate\.stale: quoteId: expected what JSON can spell"):
            triggers(mapped).fire("rate.stale", quoteId=value)

        assert world.sent == []

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

    @settings(
        max_examples=60,
        deadline=None,
        suppress_health_check=[HealthCheck.function_scoped_fixture],
    )
    @given(
        st.text(st.characters(codec="utf-8", exclude_characters="\0"))
        | st.sampled_from(
            ["'$(touch x)'", "a\nb", "*", "", "{tenant}", "{quoteId}", "\x1b[2J", "é"]
        )
    )
    def test_a_program_gets_the_very_words(
        self, triggers: Callable[..., Triggers], tmp_path: Path, value: str
    ) -> None:
        """Any text but an option is one word, and nothing else becomes of it."""
        words, program = tmp_path / "words", tmp_path / "program"
        program.write_text(f"printf '%s\\0' \"$@\" > '{words}'\n", encoding="utf-8")
        command = ["/bin/sh", str(program), "{quoteId}", "--id={quoteId}", "x{quoteId}{tenant}"]
        made = triggers({"rate.stale": {"command": command}}, tenant="t1")

        if value.startswith("-"):
            with pytest.raises(Unusable, match="the command would take it for an option, got "):
                made.fire("rate.stale", quoteId=value)
            return
        made.fire("rate.stale", quoteId=value)

        received = words.read_bytes().decode().split("\0")
        assert received == [value, f"--id={value}", f"x{value}t1", ""]

    @pytest.mark.parametrize(
        "value", ["--help", "-rf", "a\0b", "\ud800", None, True, ["q"], {}, math.nan, LONG_TEXT]
    )
    def test_what_is_no_word_is_refused(
        self, triggers: Callable[..., Triggers], tmp_path: Path, value: Any
    ) -> None:
        """The program is not run."""
        mapped = {"rate.stale": {"command": ["/usr/bin/touch", f"{tmp_path}/x", "{quoteId}"]}}

        with pytest.raises(Unusable, match=r"^trigger rate\.stale: .*got ") as refused:
            triggers(mapped).fire("rate.stale", quoteId=value)

        assert list(tmp_path.iterdir()) == []
        assert len(str(refused.value)) < 300

    def test_an_option_of_the_profile_is_one(self, triggers: Callable[..., Triggers]) -> None:
        """Also where a variable holds it."""
        script = "import json, sys; print(json.dumps({'words': sys.argv[1:]}))"
        command = [sys.executable, "-c", script, "-q{quoteId}", "{option}{quoteId}"]
        made = triggers({"rate.stale": {"command": command}}, option="--id=")

        assert made.fire("rate.stale", quoteId="-1") == {"words": ["-q-1", "--id=-1"]}

    @pytest.mark.parametrize("value", ["$(touch x)", "; touch x", "a b", "`x`", "-x", "", "x\ny"])
    def test_within_a_line_for_a_shell_a_value_is_one_plain_word(
        self,
        triggers: Callable[..., Triggers],
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        value: str,
    ) -> None:
        """Whatever a target sends runs nowhere."""
        monkeypatch.chdir(tmp_path)
        script = 'printf \'{"id": "%s"}\' {quoteId}'
        made = triggers({"rate.stale": {"command": ["/bin/sh", "-c", script]}})

        assert made.fire("rate.stale", quoteId="Quote:0195-a_b") == {"id": "Quote:0195-a_b"}
        with pytest.raises(Unusable, match="give it a word of its own"):
            made.fire("rate.stale", quoteId=value)
        assert list(tmp_path.iterdir()) == []

    def test_what_is_to_be_signed_may_be_an_object(self, triggers: Callable[..., Triggers]) -> None:
        """It is handed over as JSON."""
        script = "import json, sys; print(json.dumps({'words': sys.argv[1:]}))"
        mapped = {"wallet.sign": {"command": [sys.executable, "-c", script, "{payload}"]}}
        others = dict.fromkeys(("accountId", "requestId", "method", "path", "body"), "x")

        found = triggers(mapped).fire("wallet.sign", payload={"to": "Zoë", "n": [1]}, **others)

        assert found == {"words": ['{"to":"Zoë","n":[1]}']}

    @pytest.mark.parametrize(
        "printed",
        [
            b"",
            b"done",
            b"[1]",
            b"null",
            b'{"a": NaN}',
            b'{"a": 1',
            b"\xff\xfe\xfd",
            b'{"a": "\xff"}',
            b"[" * 100_000,
            b'{"a":' * 100_000,
            b"1" * 5000,
        ],
        ids=lambda printed: repr(printed[:12]),
    )
    def test_it_need_not_print_results(
        self, triggers: Callable[..., Triggers], tmp_path: Path, printed: bytes
    ) -> None:
        """What is no JSON object is none."""
        (tmp_path / "printed").write_bytes(printed)
        mapped = {"rate.stale": {"command": ["/bin/cat", f"{tmp_path}/printed"]}}

        assert triggers(mapped).fire("rate.stale", quoteId="q") == {}

    @pytest.mark.parametrize("redirection", ["", " >&2"])
    def test_its_output_is_bounded(
        self, triggers: Callable[..., Triggers], redirection: str
    ) -> None:
        """Nobody reads a mebibyte of results."""
        mapped = {"rate.stale": {"command": ["/bin/sh", "-c", f"exec yes{redirection}"]}}

        with pytest.raises(TriggerFailed, match=r"/bin/sh: it wrote more than 1048576 bytes"):
            triggers(mapped).fire("rate.stale", quoteId="q")

    def test_what_it_says_about_a_failure_is_shown_in_short(
        self, triggers: Callable[..., Triggers]
    ) -> None:
        """And steers no terminal."""
        script = "printf '\\033[2J\\377'; head -c 100000 /dev/zero | tr '\\0' x; exit 3"
        mapped = {"rate.stale": {"command": ["/bin/sh", "-c", f"{{ {script}; }} >&2"]}}

        with pytest.raises(TriggerFailed, match=r"ended with 3: \\x1b\[2J.xxx") as told:
            triggers(mapped).fire("rate.stale", quoteId="q")

        assert len(str(told.value)) < 400

    def test_its_time_is_bounded(
        self,
        triggers: Callable[..., Triggers],
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        """It is killed with what it started, which ignores to be asked."""
        monkeypatch.setattr(module, "MAX_COMMAND_SECONDS", 0.5)
        script = f"trap '' TERM INT HUP; (trap '' TERM HUP; echo $$ > {tmp_path}/id; sleep 60); :"
        mapped = {"rate.stale": {"command": ["/bin/sh", "-c", script]}}
        started = time.monotonic()

        with pytest.raises(TriggerFailed, match=r"/bin/sh: it took longer than 0\.5 seconds"):
            triggers(mapped).fire("rate.stale", quoteId="q")

        assert time.monotonic() - started < 5
        group = int((tmp_path / "id").read_text())
        # Killed processes take a moment to end.
        while lives(group):
            assert time.monotonic() - started < 5
            time.sleep(0.01)

    def test_what_it_leaves_in_the_background_is_not_waited_for(
        self, triggers: Callable[..., Triggers], tmp_path: Path
    ) -> None:
        """A server that it started may hold its streams open."""
        script = f"sleep 60 & echo $$ > {tmp_path}/id; echo '{{\"a\": 1}}'"
        mapped = {"rate.stale": {"command": ["/bin/sh", "-c", script]}}
        started = time.monotonic()

        assert triggers(mapped).fire("rate.stale", quoteId="q") == {"a": 1}

        assert time.monotonic() - started < 5
        os.killpg(int((tmp_path / "id").read_text()), signal.SIGKILL)

    def test_it_has_nothing_to_read(self, triggers: Callable[..., Triggers]) -> None:
        """Nobody is there to answer what it asks."""
        script = "import sys; sys.exit(len(sys.stdin.read()))"
        mapped = {"rate.stale": {"command": [sys.executable, "-c", script]}}

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


class TestProduction:
    """Where nothing may be changed, nothing is caused."""

    def test_no_command_runs(
        self, make_target: Callable[..., Target], world: World, tmp_path: Path
    ) -> None:
        """Not even one that the profile gives."""
        mapped = {"rate.stale": {"command": ["/usr/bin/touch", f"{tmp_path}/x"]}}
        target = make_target(BASE_URL, triggers=mapped, environment="production")

        with pytest.raises(ReadOnly, match=r"rate\.stale is not fired: .*environment: sandbox"):
            Triggers(target, world.send, world.wait).fire("rate.stale", quoteId="q")

        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize("method", ["GET", "POST"])
    def test_no_request_is_sent(
        self,
        stand_in: Callable[[Behaviour], StandIn],
        connect: Callable[..., Any],
        make_target: Callable[..., Target],
        world: World,
        method: str,
    ) -> None:
        """By whatever method."""
        server = stand_in(standins.answers(200, {}))
        mapped = {
            name: {"http": {"url": "{origin}/x", "method": method}}
            for name in ("rate.stale", "invitation.claim")
        }
        parts = {"triggers": mapped, "environment": "production"}
        made = Triggers(
            make_target(server.base_url, **parts),
            connect(server.base_url, **parts).trigger,
            world.wait,
        )

        with pytest.raises(ReadOnly):
            made.fire("rate.stale", quoteId="q")
        with pytest.raises(ReadOnly):
            made.ask("invitation.claim")

        assert server.received == []

    def test_nothing_is_waited_for(self, make_target: Callable[..., Target], world: World) -> None:
        """And what is not mapped is not caused either."""
        mapped = {"quote.expire": {"wait": {"until": "expiresAt"}}}
        target = make_target(BASE_URL, triggers=mapped, environment="production")
        made = Triggers(target, world.send, world.wait)

        with pytest.raises(ReadOnly):
            made.fire("quote.expire", quoteId="q", expiresAt="2025-01-01T00:00:00Z")
        with pytest.raises(ReadOnly):
            made.fire("rate.stale", quoteId="q")

        assert world.waited == []


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
            triggers({"rate.stale": {"http": {"url": "{origin}"}}}).fire("rate.stale", **parameters)

        assert world.sent == []


def lives(group: int) -> bool:
    """Return whether any process of a group goes on."""
    return any(
        words[2] == str(group) and words[0] != "Z"
        for process in Path("/proc").glob("[0-9]*")
        if (words := _status(process))
    )


def _status(process: Path) -> list[str]:
    """Return state, parent and group of a process, and more; nothing where it has ended."""
    try:
        return (process / "stat").read_text().rpartition(") ")[2].split()
    except OSError:
        return []
