"""Triggers: each kind does what the profile says, or says what is missing."""

from __future__ import annotations

import math
import os
import signal
import sys
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conformance.contract.vocabulary import TRIGGERS
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

PAYMENT = {"customerId": "c", "accountId": "a", "externalAccountId": "e", "amount": 1}

LONG_TEXT = pytest.param("x" * 10**7, id="long text")
LONG_NUMBER = pytest.param(10**5000, id="long number")


class World:
    """Keeps what triggers send and wait for, and gives them ``answers``, or ``answer``."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, str, Any]] = []
        self.secrets: list[str] = []
        self.headers: list[dict[str, str]] = []
        self.moments: list[datetime] = []
        self.answer: tuple[int, Any] = (204, None)
        self.answers: list[tuple[int, Any]] = []

    def send(
        self,
        method: str,
        url: str,
        body: Any,
        secrets: Collection[str] = (),
        headers: Mapping[str, str] | None = None,
    ) -> tuple[int, Any]:
        self.headers.append(dict(headers or {}))
        self.requests.append((method, url, body))
        self.secrets += secrets
        return self.answers.pop(0) if self.answers else self.answer

    def wait(self, moment: datetime) -> None:
        self.moments.append(moment)


@pytest.fixture
def world() -> World:
    """Return the world in which the triggers act."""
    return World()


@pytest.fixture
def triggers(make_target: Callable[..., Target], world: World) -> Callable[..., Triggers]:
    """Return a function that makes the triggers of a profile with this mapping."""

    def make(mapping: dict[str, Any], **variables: str) -> Triggers:
        target = make_target(BASE_URL, triggers=mapping, variables=variables)
        return Triggers(target, world.send, world.wait)

    return make


class TestHttp:
    """A trigger may be one HTTP request."""

    def test_names_in_braces_are_filled_in(
        self, triggers: Callable[..., Triggers], world: World
    ) -> None:
        """URL and body are filled in; a text that is one name alone keeps the type of its value."""
        mapping = {
            "deposit.arrive": {
                "http": {
                    "method": "PUT",
                    "url": "{origin}/{tenant}/{accountId}",
                    "json": {"amount": "{amount}", "note": "{amount} {currency}", "n": [1]},
                }
            }
        }

        triggers(mapping, tenant="t1").fire(
            "deposit.arrive", accountId="InternalAccount:1", amount=5, currency="USD"
        )

        assert world.requests == [
            (
                "PUT",
                "https://api.acme.example/t1/InternalAccount:1",
                {"amount": 5, "note": "5 USD", "n": [1]},
            )
        ]

    def test_an_object_among_words_is_json(
        self, triggers: Callable[..., Triggers], world: World
    ) -> None:
        """An object within a longer text is written as JSON."""
        mapping = {
            "wallet.sign": {"http": {"url": "{origin}/sign", "json": {"text": "<{payload}>"}}}
        }
        others = dict.fromkeys(("accountId", "requestId", "method", "path", "body"), "x")

        triggers(mapping).fire("wallet.sign", payload={"amount": 7, "to": ["Zoë"]}, **others)

        assert world.requests[0][2] == {"text": '<{"amount":7,"to":["Zoë"]}>'}

    def test_an_id_cannot_lead_elsewhere(
        self, triggers: Callable[..., Triggers], world: World
    ) -> None:
        """An id of the target is encoded in a URL."""
        mapping = {"rate.stale": {"http": {"url": "{base_url}/x/{quoteId}"}}}

        triggers(mapping).fire("rate.stale", quoteId="../../y?z#")

        assert world.requests[0][1] == f"{BASE_URL}/x/..%2F..%2Fy%3Fz%23"

    @pytest.mark.parametrize("value", ["", ".", "..", None, ["q"], {"q": 1}, math.nan, LONG_NUMBER])
    def test_an_id_that_has_no_place_in_a_url_is_refused(
        self, triggers: Callable[..., Triggers], world: World, value: Any
    ) -> None:
        """Nothing is sent; the error names trigger, parameter and value, and is short."""
        mapping = {"rate.stale": {"http": {"url": "https://ops.example/quotes/{quoteId}/stale"}}}

        with pytest.raises(Unusable, match=r"^trigger rate\.stale: .*quoteId.* got ") as error:
            triggers(mapping).fire("rate.stale", quoteId=value)

        assert world.requests == []
        assert len(str(error.value)) < 300

    def test_a_value_is_not_filled_in_again(
        self, triggers: Callable[..., Triggers], world: World
    ) -> None:
        """Names in braces in a value of the target stay, so that it cannot read variables."""
        http = {"url": "{ops}/{customerId}", "json": {"a": "{customerId}", "b": "x {customerId}"}}
        triggers_of_profile = triggers(
            {"quote.fund": {"http": http}}, key="hidden", ops="{origin}/ops-{quoteId}"
        )

        triggers_of_profile.fire(
            "quote.fund", quoteId="hidden?", customerId="{key}{quoteId}{origin}"
        )

        ((_, url, body),) = world.requests
        assert url.endswith("/ops-hidden%3F/%7Bkey%7D%7BquoteId%7D%7Borigin%7D")
        assert body == {"a": "{key}{quoteId}{origin}", "b": "x {key}{quoteId}{origin}"}

    @pytest.mark.parametrize("value", ["", "..", '"', "\0", None, [1], {"a": None}, True, -1.5])
    def test_a_body_takes_any_json(
        self, triggers: Callable[..., Triggers], world: World, value: Any
    ) -> None:
        """Any JSON value stands unchanged in a body."""
        mapping = {"rate.stale": {"http": {"url": "{origin}", "json": {"id": "{quoteId}"}}}}

        triggers(mapping).fire("rate.stale", quoteId=value)

        assert world.requests[0][2] == {"id": value}

    @pytest.mark.parametrize("value", [math.nan, [math.inf], "\ud800", {"\udfff": 1}, LONG_NUMBER])
    def test_a_body_takes_nothing_else(
        self, triggers: Callable[..., Triggers], world: World, value: Any
    ) -> None:
        """A value that JSON or UTF-8 cannot spell is refused, and nothing is sent."""
        mapping = {"rate.stale": {"http": {"url": "{origin}", "json": {"id": "{quoteId}"}}}}

        with pytest.raises(Unusable, match=r"rate\.stale: quoteId: expected what JSON can spell"):
            triggers(mapping).fire("rate.stale", quoteId=value)

        assert world.requests == []

    @pytest.mark.parametrize(
        ("body", "path"),
        [
            ({"id": "Transaction:7"}, "id"),
            ({"data": [{"id": 1}, {"id": "Transaction:7"}]}, "data.1.id"),
            (["Transaction:7"], "0"),
        ],
    )
    def test_results_are_taken_from_the_response(
        self, triggers: Callable[..., Triggers], world: World, body: Any, path: str
    ) -> None:
        """The results stand at dotted paths in the response, under the names of the profile."""
        world.answer = (201, body)
        http = {"url": "{origin}", "returns": {"transactionId": path}}

        results = triggers({"agent.initiate": {"http": http}}).fire("agent.initiate", **PAYMENT)

        assert results == {"transactionId": "Transaction:7"}

    def test_a_secret_result_is_named(
        self, triggers: Callable[..., Triggers], world: World
    ) -> None:
        """The client gets the path of a secret result, so that it is written nowhere."""
        world.answer = (201, {"keys": [{"key": "k"}], "id": "1"})
        http = {"url": "{origin}", "returns": {"token": "keys.0.key"}}

        triggers({"agent.connect": {"http": http}}).fire("agent.connect", customerId="Customer:1")

        assert world.secrets == ["keys.0.key"]

    def test_headers_are_filled_in(self, make_target: Callable[..., Target], world: World) -> None:
        """A header holds parameters, variables, and the secrets of the profile."""
        target = make_target(
            BASE_URL,
            secrets={"admin_key": "ADMIN_KEY"},
            variables={"tenant": "t1"},
            triggers={
                "rate.stale": {
                    "http": {
                        "url": "{origin}",
                        "headers": {"X-Key": "Bearer {admin_key}", "X-For": "{tenant}/{quoteId}"},
                    }
                }
            },
        )
        target = replace(target, words={"admin_key": "hunter-2-hunter"})

        Triggers(target, world.send, world.wait).fire("rate.stale", quoteId="q {admin_key}")

        assert world.headers == [{"X-Key": "Bearer hunter-2-hunter", "X-For": "t1/q {admin_key}"}]
        assert "hunter-2-hunter" in target.secrets
        assert "hunter" not in repr(target)

    @pytest.mark.parametrize("value", ["a\r\nX-Other: 1", "é", "\0", None, ["q"]])
    def test_a_header_takes_printable_text(
        self, triggers: Callable[..., Triggers], world: World, value: Any
    ) -> None:
        """What the target sends cannot add a header; nothing is sent."""
        http = {"url": "{origin}", "headers": {"X-For": "{quoteId}"}}

        with pytest.raises(Unusable, match=r"rate\.stale: quoteId: "):
            triggers({"rate.stale": {"http": http}}).fire("rate.stale", quoteId=value)

        assert world.requests == []

    @pytest.mark.parametrize("body", [None, [], {}, {"id": None}])
    def test_a_missing_result_is_told(
        self, triggers: Callable[..., Triggers], world: World, body: Any
    ) -> None:
        """A response without the member of a result raises TriggerFailed."""
        world.answer = (200, body)
        http = {"url": "{origin}", "returns": {"transactionId": "id"}}

        with pytest.raises(
            TriggerFailed, match=r"agent\.initiate: its response has no member 'id'"
        ):
            triggers({"agent.initiate": {"http": http}}).fire("agent.initiate", **PAYMENT)

    def test_a_reading_waits_for_its_results(
        self, triggers: Callable[..., Triggers], world: World
    ) -> None:
        """A GET is sent again until its response has all results."""
        world.answers = [(200, {"data": []}), (200, {"data": []}), (200, {"data": [{"id": "t"}]})]
        http = {"method": "GET", "url": "{origin}/t", "returns": {"transactionId": "data.0.id"}}

        results = triggers({"agent.initiate": {"http": http}}).fire("agent.initiate", **PAYMENT)

        assert results == {"transactionId": "t"}
        assert len(world.requests) == 3

    def test_a_request_may_use_what_others_returned(
        self, triggers: Callable[..., Triggers], world: World
    ) -> None:
        """Requests of a list are sent in their order, and results fill in names of later ones."""
        world.answers = [(200, {"data": [{"id": "a/b"}]}), (204, None)]
        calls = [
            {
                "method": "GET",
                "url": "{origin}/payouts?account={externalAccountId}",
                "returns": {"payout": "data.0.id"},
            },
            {"url": "{origin}/payouts/{payout}/fail", "json": {"of": "{payout}"}},
        ]

        triggers({"payout.return": {"http": calls}}).fire("payout.return", externalAccountId="e")

        assert [
            (method, url.rpartition(".example")[2], body) for method, url, body in world.requests
        ] == [
            ("GET", "/payouts?account=e", {}),
            ("POST", "/payouts/a%2Fb/fail", {"of": "a/b"}),
        ]

    def test_a_refused_request_ends_the_list(
        self, triggers: Callable[..., Triggers], world: World
    ) -> None:
        """Nothing is sent after a request that was refused."""
        world.answers = [(409, None), (204, None)]
        calls = [{"url": "{origin}/1"}, {"url": "{origin}/2"}]

        with pytest.raises(TriggerFailed, match=r"POST https://.*/1 answered 409"):
            triggers({"rate.stale": {"http": calls}}).fire("rate.stale", quoteId="q")

        assert len(world.requests) == 1

    @pytest.mark.parametrize(("status", "succeeds"), [(200, False), (202, True), (409, True)])
    def test_the_profile_says_which_statuses_are_successes(
        self, triggers: Callable[..., Triggers], world: World, status: int, succeeds: bool
    ) -> None:
        """With `ok` no other status than those listed is a success."""
        world.answer = (status, None)
        fire = triggers({"rate.stale": {"http": {"url": "{origin}/x", "ok": [202, 409]}}}).fire

        if succeeds:
            fire("rate.stale", quoteId="q")
        else:
            with pytest.raises(TriggerFailed, match="answered 200"):
                fire("rate.stale", quoteId="q")

    @pytest.mark.parametrize(
        ("template", "value", "sent"),
        [
            ("{kycUrl}", "https://api.acme.example/f?t=1&u=%2F", "/f?t=1&u=%2F"),
            ("{kycUrl}/done", "https://verify.example/f", "/f/done"),
            ("{kycUrl}?c={customerId}", "https://verify.example/f", "/f?c=c%2F1"),
        ],
    )
    def test_a_whole_url_goes_in_unquoted(
        self,
        triggers: Callable[..., Triggers],
        world: World,
        template: str,
        value: str,
        sent: str,
    ) -> None:
        """The URL of a parameter begins another one, and leads to an origin of the profile."""
        http = {"url": template, "origins": ["https://verify.example"]}

        triggers({"hosted_flow.complete": {"http": http}}).fire(
            "hosted_flow.complete", customerId="c/1", kycUrl=value
        )

        assert world.requests[0][1].rpartition(".example")[2] == sent

    @pytest.mark.parametrize(
        "value",
        [
            "https://evil.example/f",
            "https://verify.example.evil.example",
            "https://verify.example@evil.example/",
            "https://verify.example:444/",
            "http://verify.example/",
            "//verify.example/",
            "file:///etc/passwd",
            "/f",
            "",
            "https://verify.example\r\n/",
            None,
            7,
            ["https://verify.example/f"],
        ],
    )
    def test_a_whole_url_cannot_lead_elsewhere(
        self, triggers: Callable[..., Triggers], world: World, value: Any
    ) -> None:
        """A URL of the target that leads to no origin of the profile is refused."""
        http = {"url": "{kycUrl}/x", "origins": ["https://verify.example"]}

        with pytest.raises(Unusable, match=r"hosted_flow\.complete: kycUrl: expected a "):
            triggers({"hosted_flow.complete": {"http": http}}).fire(
                "hosted_flow.complete", customerId="c", kycUrl=value
            )

        assert world.requests == []

    @pytest.mark.parametrize("status", [302, 404, 500])
    def test_a_refusal_is_told(
        self, triggers: Callable[..., Triggers], world: World, status: int
    ) -> None:
        """Any status but success raises TriggerFailed with request and status."""
        world.answer = (status, None)
        mapping = {"rate.stale": {"http": {"url": "{origin}/x"}}}

        with pytest.raises(TriggerFailed, match=rf"POST https://.*/x answered {status}"):
            triggers(mapping).fire("rate.stale", quoteId="q")

    @pytest.mark.parametrize(
        ("url", "status", "breaks"),
        [
            ("{base_url}/sandbox/x", 500, ("FAM-009",)),
            ("{base_url}/sandbox/x", 503, ()),
            ("{base_url}/sandbox/x", 400, ()),
            ("{origin}/control/x", 500, ()),
        ],
    )
    def test_a_server_error_of_the_interface_breaks_a_requirement(
        self,
        triggers: Callable[..., Triggers],
        world: World,
        url: str,
        status: int,
        breaks: tuple[str, ...],
    ) -> None:
        """What stands beside the interface may fail, and nothing but the check is left open."""
        world.answer = (status, None)

        with pytest.raises(TriggerFailed) as failure:
            triggers({"rate.stale": {"http": {"url": url}}}).fire("rate.stale", quoteId="q")

        assert failure.value.breaks == breaks


class TestCommand:
    """A trigger may be a command of this machine."""

    def test_it_runs_without_a_shell(
        self, triggers: Callable[..., Triggers], tmp_path: Path
    ) -> None:
        """Each word is one argument, whatever characters it has."""
        script = "import json, sys; print(json.dumps({'words': sys.argv[1:]}))"
        mapping = {
            "rate.stale": {"command": [sys.executable, "-c", script, "{quoteId}", "$HOME *"]}
        }

        results = triggers(mapping).fire("rate.stale", quoteId=f"; touch {tmp_path}/x")

        assert results == {"words": [f"; touch {tmp_path}/x", "$HOME *"]}
        assert not list(tmp_path.iterdir())

    @settings(
        max_examples=60,
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
        """Any text is passed on unchanged, unless the program would take it for an option."""
        words, program = tmp_path / "words", tmp_path / "program"
        program.write_text(f"printf '%s\\0' \"$@\" > '{words}'\n", encoding="utf-8")
        command = ["/bin/sh", str(program), "{quoteId}", "--id={quoteId}", "x{quoteId}{tenant}"]
        triggers_of_profile = triggers({"rate.stale": {"command": command}}, tenant="t1")

        if value.startswith("-"):
            with pytest.raises(Unusable, match="the command would take it for an option, got "):
                triggers_of_profile.fire("rate.stale", quoteId=value)
            return
        triggers_of_profile.fire("rate.stale", quoteId=value)

        received = words.read_bytes().decode().split("\0")
        assert received == [value, f"--id={value}", f"x{value}t1", ""]

    @pytest.mark.parametrize(
        "value", ["--help", "-rf", "a\0b", "\ud800", None, True, ["q"], {}, math.nan, LONG_TEXT]
    )
    def test_what_is_no_word_is_refused(
        self, triggers: Callable[..., Triggers], tmp_path: Path, value: Any
    ) -> None:
        """A value that is no word, or an option, is refused and the program is not run."""
        mapping = {"rate.stale": {"command": ["/usr/bin/touch", f"{tmp_path}/x", "{quoteId}"]}}

        with pytest.raises(Unusable, match=r"^trigger rate\.stale: .*got ") as error:
            triggers(mapping).fire("rate.stale", quoteId=value)

        assert list(tmp_path.iterdir()) == []
        assert len(str(error.value)) < 300

    def test_an_option_of_the_profile_is_one(self, triggers: Callable[..., Triggers]) -> None:
        """A value may follow an option that the profile or a variable spells."""
        script = "import json, sys; print(json.dumps({'words': sys.argv[1:]}))"
        command = [sys.executable, "-c", script, "-q{quoteId}", "{option}{quoteId}"]
        triggers_of_profile = triggers({"rate.stale": {"command": command}}, option="--id=")

        assert triggers_of_profile.fire("rate.stale", quoteId="-1") == {
            "words": ["-q-1", "--id=-1"]
        }

    @pytest.mark.parametrize("value", ["$(touch x)", "; touch x", "a b", "`x`", "-x", "", "x\ny"])
    def test_within_a_line_for_a_shell_a_value_is_one_plain_word(
        self,
        triggers: Callable[..., Triggers],
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        value: str,
    ) -> None:
        """In a line for a shell a value with special characters is refused."""
        monkeypatch.chdir(tmp_path)
        script = 'printf \'{"id": "%s"}\' {quoteId}'
        triggers_of_profile = triggers({"rate.stale": {"command": ["/bin/sh", "-c", script]}})

        assert triggers_of_profile.fire("rate.stale", quoteId="Quote:0195-a_b") == {
            "id": "Quote:0195-a_b"
        }
        with pytest.raises(Unusable, match="give it a word of its own"):
            triggers_of_profile.fire("rate.stale", quoteId=value)
        assert list(tmp_path.iterdir()) == []

    def test_what_is_to_be_signed_may_be_an_object(self, triggers: Callable[..., Triggers]) -> None:
        """A payload that is an object is passed on as JSON."""
        script = "import json, sys; print(json.dumps({'words': sys.argv[1:]}))"
        mapping = {"wallet.sign": {"command": [sys.executable, "-c", script, "{payload}"]}}
        others = dict.fromkeys(("accountId", "requestId", "method", "path", "body"), "x")

        results = triggers(mapping).fire("wallet.sign", payload={"to": "Zoë", "n": [1]}, **others)

        assert results == {"words": ['{"to":"Zoë","n":[1]}']}

    @pytest.mark.parametrize(
        "output",
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
        ids=lambda output: repr(output[:12]),
    )
    def test_it_need_not_print_results(
        self, triggers: Callable[..., Triggers], tmp_path: Path, output: bytes
    ) -> None:
        """Output that is no JSON object gives no results."""
        (tmp_path / "printed").write_bytes(output)
        mapping = {"rate.stale": {"command": ["/bin/cat", f"{tmp_path}/printed"]}}

        assert triggers(mapping).fire("rate.stale", quoteId="q") == {}

    @pytest.mark.parametrize("redirection", ["", " >&2"])
    def test_its_output_is_bounded(
        self, triggers: Callable[..., Triggers], redirection: str
    ) -> None:
        """A command that writes more than a mebibyte raises TriggerFailed."""
        mapping = {"rate.stale": {"command": ["/bin/sh", "-c", f"exec yes{redirection}"]}}

        with pytest.raises(TriggerFailed, match=r"/bin/sh: it wrote more than 1048576 bytes"):
            triggers(mapping).fire("rate.stale", quoteId="q")

    def test_what_it_says_about_a_failure_is_shown_in_short(
        self, triggers: Callable[..., Triggers]
    ) -> None:
        """The error has the start of what the command wrote, with escapes made visible."""
        script = "printf '\\033[2J\\377'; head -c 100000 /dev/zero | tr '\\0' x; exit 3"
        mapping = {"rate.stale": {"command": ["/bin/sh", "-c", f"{{ {script}; }} >&2"]}}

        with pytest.raises(TriggerFailed, match=r"ended with 3: \\x1b\[2J.xxx") as error:
            triggers(mapping).fire("rate.stale", quoteId="q")

        assert len(str(error.value)) < 400

    def test_its_time_is_bounded(
        self,
        triggers: Callable[..., Triggers],
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        """A command that takes too long is killed, with children that ignore SIGTERM."""
        monkeypatch.setattr(module, "MAX_COMMAND_SECONDS", 0.5)
        script = f"trap '' TERM INT HUP; (trap '' TERM HUP; echo $$ > {tmp_path}/id; sleep 60); :"
        mapping = {"rate.stale": {"command": ["/bin/sh", "-c", script]}}
        started = time.monotonic()

        with pytest.raises(TriggerFailed, match=r"/bin/sh: it took longer than 0\.5 seconds"):
            triggers(mapping).fire("rate.stale", quoteId="q")

        assert time.monotonic() - started < 5
        group = int((tmp_path / "id").read_text())
        # Killed processes take a moment to end.
        while is_alive(group):
            assert time.monotonic() - started < 5
            time.sleep(0.01)

    def test_what_it_leaves_in_the_background_is_not_waited_for(
        self, triggers: Callable[..., Triggers], tmp_path: Path
    ) -> None:
        """The trigger ends with its command, although a child holds its streams open."""
        script = f"sleep 60 & echo $$ > {tmp_path}/id; echo '{{\"a\": 1}}'"
        mapping = {"rate.stale": {"command": ["/bin/sh", "-c", script]}}
        started = time.monotonic()

        assert triggers(mapping).fire("rate.stale", quoteId="q") == {"a": 1}

        assert time.monotonic() - started < 5
        os.killpg(int((tmp_path / "id").read_text()), signal.SIGKILL)

    def test_it_has_nothing_to_read(self, triggers: Callable[..., Triggers]) -> None:
        """The standard input of a command is empty."""
        script = "import sys; sys.exit(len(sys.stdin.read()))"
        mapping = {"rate.stale": {"command": [sys.executable, "-c", script]}}

        assert triggers(mapping).fire("rate.stale", quoteId="q") == {}

    def test_its_failure_is_told(self, triggers: Callable[..., Triggers]) -> None:
        """The error has the exit status of the command and what it wrote."""
        mapping = {"rate.stale": {"command": [sys.executable, "-c", "exit('no market')"]}}

        with pytest.raises(TriggerFailed, match=r"rate\.stale: .* ended with 1: no market"):
            triggers(mapping).fire("rate.stale", quoteId="q")

    def test_its_absence_is_told(self, triggers: Callable[..., Triggers]) -> None:
        """The error has the name of the command that does not exist."""
        mapping = {"rate.stale": {"command": ["./no-such-command"]}}

        with pytest.raises(TriggerFailed, match=r"\./no-such-command: .*No such file"):
            triggers(mapping).fire("rate.stale", quoteId="q")


class TestWait:
    """A trigger may wait for a time."""

    MAPPED: ClassVar = {"quote.expire": {"wait": {"until": "expiresAt"}}}

    @pytest.mark.parametrize("form", ["%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%dT%H:%M:%S.5+00:00"])
    def test_it_waits_for_the_time_of_a_parameter(
        self, triggers: Callable[..., Triggers], world: World, form: str
    ) -> None:
        """The parameter may be a UTC timestamp with Z or with an offset of zero."""
        moment = datetime.now(UTC).replace(microsecond=0) + timedelta(minutes=5)

        triggers(self.MAPPED).fire("quote.expire", quoteId="q", expiresAt=moment.strftime(form))

        assert abs(world.moments[0] - moment) < timedelta(seconds=1)

    @pytest.mark.parametrize("moment", [None, 7, "soon", "2999-13-01T00:00:00Z"])
    def test_what_is_no_time_is_told(self, triggers: Callable[..., Triggers], moment: Any) -> None:
        """A parameter that is no timestamp raises TriggerFailed."""
        with pytest.raises(TriggerFailed, match=r"quote\.expire: expiresAt is no timestamp"):
            triggers(self.MAPPED).fire("quote.expire", quoteId="q", expiresAt=moment)

    def test_it_does_not_wait_for_ever(
        self, triggers: Callable[..., Triggers], world: World
    ) -> None:
        """A time later than the longest wait of 20 minutes raises TriggerFailed at once."""
        with pytest.raises(TriggerFailed, match=r"too late to wait for; the longest wait is 0:20"):
            triggers(self.MAPPED).fire(
                "quote.expire", quoteId="q", expiresAt="2999-01-01T00:00:00Z"
            )

        assert world.moments == []


class TestMagic:
    """A trigger may be a value in the request that creates the resource."""

    MAPPED: ClassVar = {"payout.return": {"magic": {"accountInfo": {"accountNumber": "000000004"}}}}

    def test_its_values_are_told_beforehand(self, triggers: Callable[..., Triggers]) -> None:
        """``magic`` returns the members to merge into the request."""
        assert triggers(self.MAPPED).magic("payout.return") == {
            "accountInfo": {"accountNumber": "000000004"}
        }

    def test_other_kinds_have_none(self, triggers: Callable[..., Triggers]) -> None:
        """``magic`` returns ``None`` for a trigger that acts after the creation."""
        assert triggers({"payout.return": {"command": ["x"]}}).magic("payout.return") is None

    def test_it_cannot_be_caused_afterwards(self, triggers: Callable[..., Triggers]) -> None:
        """Firing a magic value is a mistake of the suite: HarnessError."""
        with pytest.raises(HarnessError, match="to be used where the resource is made"):
            triggers(self.MAPPED).fire("payout.return", externalAccountId="e")


class TestBack:
    """What a trigger did can be taken back at the end of the test."""

    def test_effects_are_taken_back_in_reverse_order(
        self, triggers: Callable[..., Triggers], world: World
    ) -> None:
        """Each is taken back once, with the parameters and results of its trigger."""
        world.answer = (200, {"id": "t"})
        started = {
            "http": {"url": "{origin}/pay", "returns": {"transactionId": "id"}},
            "back": {"http": {"url": "{origin}/undo/{accountId}/{transactionId}"}},
        }
        switched = {
            "http": {"url": "{origin}/on"},
            "back": {"http": {"method": "DELETE", "url": "{origin}/on"}},
        }
        of_profile = triggers({"agent.initiate": started, "rule_based.disable": switched})
        of_profile.fire("agent.initiate", **PAYMENT)
        of_profile.fire("rule_based.disable")
        world.requests.clear()

        assert of_profile.take_back() == []
        assert of_profile.take_back() == []

        assert [(method, url.rpartition(".example")[2]) for method, url, _ in world.requests] == [
            ("DELETE", "/on"),
            ("POST", "/undo/a/t"),
        ]

    def test_what_a_request_was_prepared_by_is_taken_back(
        self, triggers: Callable[..., Triggers], world: World
    ) -> None:
        """A trigger that is asked, and refused, is taken back as one that is fired."""
        name = "invitation.claim_unconfigured"
        mapping = {
            "http": [{"url": "{origin}/off"}, {"url": "{origin}/claim"}],
            "back": {"http": {"url": "{origin}/on"}},
        }
        of_profile = triggers({name: mapping})
        world.answers = [(200, None), (409, None), (200, None)]

        assert of_profile.ask(name, **dict.fromkeys(TRIGGERS[name], "x")).status == 409
        assert of_profile.take_back() == []

        assert [url.rpartition("/")[2] for _, url, _ in world.requests] == ["off", "claim", "on"]

    def test_one_that_cannot_be_taken_back_is_told(
        self, triggers: Callable[..., Triggers], world: World
    ) -> None:
        """The others are taken back nevertheless."""
        mapping = {"http": {"url": "{origin}/on"}, "back": {"http": {"url": "{origin}/off"}}}
        of_profile = triggers({"rule_based.disable": mapping, "rule_based.enable": mapping})
        of_profile.fire("rule_based.disable")
        of_profile.fire("rule_based.enable")
        world.answers = [(500, None), (200, None)]

        (problem,) = of_profile.take_back()

        assert problem.startswith("trigger rule_based.enable: back: POST https://")
        assert "answered 500" in problem


class TestSetup:
    """Steps of the profile are carried out once a run."""

    def test_its_results_have_names(self, make_target: Callable[..., Target], world: World) -> None:
        """What a step of `setup` returned stands in later steps, triggers and `teardown`."""
        target = make_target(
            BASE_URL,
            setup=[
                {"http": {"url": "{origin}/merchants", "returns": {"merchant": "id"}}},
                {"http": {"url": "{origin}/merchants/{merchant}/open"}},
            ],
            triggers={"rate.stale": {"http": {"url": "{origin}/{merchant}/{quoteId}"}}},
            teardown=[{"http": {"method": "DELETE", "url": "{origin}/merchants/{merchant}"}}],
        )
        of_profile = Triggers(target, world.send, world.wait)
        world.answers = [(200, {"id": "m"})]

        of_profile.set_up()
        of_profile.fire("rate.stale", quoteId="q")
        assert of_profile.tear_down() == []

        assert [url.rpartition(".example")[2] for _, url, _ in world.requests] == [
            "/merchants",
            "/merchants/m/open",
            "/m/q",
            "/merchants/m",
        ]


class TestProduction:
    """In production no trigger is fired."""

    def test_no_command_runs(
        self, make_target: Callable[..., Target], world: World, tmp_path: Path
    ) -> None:
        """A command raises ReadOnly and is not run."""
        mapping = {"rate.stale": {"command": ["/usr/bin/touch", f"{tmp_path}/x"]}}
        target = make_target(BASE_URL, triggers=mapping, environment="production")

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
        """A request raises ReadOnly and is not sent, whatever its method."""
        server = stand_in(standins.answers(200, {}))
        mapping = {
            name: {"http": {"url": "{origin}/x", "method": method}}
            for name in ("rate.stale", "invitation.claim")
        }
        parts = {"triggers": mapping, "environment": "production"}
        triggers_of_profile = Triggers(
            make_target(server.base_url, **parts),
            connect(server.base_url, **parts).trigger,
            world.wait,
        )

        with pytest.raises(ReadOnly):
            triggers_of_profile.fire("rate.stale", quoteId="q")
        with pytest.raises(ReadOnly):
            triggers_of_profile.ask("invitation.claim")

        assert server.received == []

    def test_nothing_is_waited_for(self, make_target: Callable[..., Target], world: World) -> None:
        """A wait and an unmapped trigger raise ReadOnly too."""
        mapping = {"quote.expire": {"wait": {"until": "expiresAt"}}}
        target = make_target(BASE_URL, triggers=mapping, environment="production")
        triggers_of_profile = Triggers(target, world.send, world.wait)

        with pytest.raises(ReadOnly):
            triggers_of_profile.fire("quote.expire", quoteId="q", expiresAt="2025-01-01T00:00:00Z")
        with pytest.raises(ReadOnly):
            triggers_of_profile.fire("rate.stale", quoteId="q")

        assert world.moments == []


class TestVocabulary:
    """The parameters of a trigger are fixed."""

    def test_one_that_is_not_mapped_is_told(self, triggers: Callable[..., Triggers]) -> None:
        """The error names the trigger, whether it is fired or its magic value is read."""
        triggers_of_profile = triggers({})

        assert not triggers_of_profile.maps("rate.stale")
        with pytest.raises(TriggerMissing, match=r"does not map the trigger rate\.stale"):
            triggers_of_profile.fire("rate.stale", quoteId="q")
        with pytest.raises(TriggerMissing, match=r"does not map the trigger payout\.return"):
            triggers_of_profile.magic("payout.return")

    @pytest.mark.parametrize("parameters", [{}, {"quote": "q"}, {"quoteId": "q", "more": 1}])
    def test_other_parameters_are_a_mistake_of_the_suite(
        self, triggers: Callable[..., Triggers], world: World, parameters: dict[str, Any]
    ) -> None:
        """Missing and unknown parameters raise HarnessError, and nothing is sent."""
        with pytest.raises(HarnessError, match=r"rate\.stale takes \('quoteId',\)"):
            triggers({"rate.stale": {"http": {"url": "{origin}"}}}).fire("rate.stale", **parameters)

        assert world.requests == []


def is_alive(group: int) -> bool:
    """Return whether any process of a group is still running."""
    return any(
        words[2] == str(group) and words[0] != "Z"
        for process in Path("/proc").glob("[0-9]*")
        if (words := _process_fields(process))
    )


def _process_fields(process: Path) -> list[str]:
    """Return state, parent, group and more of a process; an empty list if it has ended."""
    try:
        return (process / "stat").read_text().rpartition(") ")[2].split()
    except OSError:
        return []
