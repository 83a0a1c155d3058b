"""The target: each wrong configuration has one message, which comes soon."""

from __future__ import annotations

import base64
import re
import socket
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conformance.profile.model import Profile
from conformance.selftest import standins
from conformance.selftest.conftest import CLIENT_SECRET, TOKEN_ID
from conformance.selftest.standins import Behaviour, Received, StandIn
from conformance.sut import target as module
from conformance.sut.credentials import WeakSecret, weakness
from conformance.sut.deadline import within
from conformance.sut.errors import TargetError
from conformance.sut.reading import retry_after
from conformance.sut.target import (
    BadBaseUrl,
    MissingCredentials,
    NotReady,
    NotTheInterface,
    Target,
    Unreachable,
    WrongCredentials,
)

MakeTarget = Callable[..., Target]
Start = Callable[[Behaviour], StandIn]

GOOD_URL = "https://api.acme.example/pay/2025-10-13"
ENVIRON = {"PAYMENTS_API_TOKEN_ID": TOKEN_ID, "PAYMENTS_API_CLIENT_SECRET": CLIENT_SECRET}


@pytest.fixture
def profile(make_profile: Callable[..., Profile]) -> Profile:
    """Return the profile of a sandbox with defaults."""
    return make_profile()


@pytest.fixture
def short_start(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten the time in which a target may become ready to half a second, and its pauses.

    So several requests fit into it on a busy machine too.
    """
    monkeypatch.setattr(module, "MAX_STARTING_SECONDS", 0.5)
    monkeypatch.setattr(module, "_FIRST_PAUSE_SECONDS", 0.02)


@pytest.fixture
def short_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten the time that a target has for an answer, from ten seconds to one."""
    monkeypatch.setattr(module, "_PATIENCE", 1.0)


class TestResolve:
    """A target is made from base URL, profile and environment."""

    def test_it_knows_its_origin(self, profile: Profile) -> None:
        """A slash at the end of the base URL is dropped, and the origin has no path."""
        target = Target.resolve(f"{GOOD_URL}/", profile, ENVIRON)

        assert target.base_url == GOOD_URL
        assert target.origin == "https://api.acme.example"

    @pytest.mark.parametrize(
        ("url", "expected"),
        [
            ("HTTP://LOCALHOST:80/2025-10-13", "http://localhost/2025-10-13"),
            ("https://Api.Example:443/Pay/2025-10-13//", "https://api.example/Pay/2025-10-13"),
            ("http://[0:0::1]:8080/2025-10-13", "http://[::1]:8080/2025-10-13"),
            ("http://api.example./2025-10-13", "http://api.example./2025-10-13"),
            ("https://bücher.example/2025-10-13", "https://xn--bcher-kva.example/2025-10-13"),
            ("https://api.example/a/../2025-10-13", "https://api.example/2025-10-13"),
        ],
    )
    def test_its_base_url_has_one_spelling(self, profile: Profile, url: str, expected: str) -> None:
        """Base URLs are normalized to the form that httpx sends."""
        target = Target.resolve(url, profile, ENVIRON)

        assert target.base_url == expected == str(httpx.URL(expected))
        assert target.base_url.startswith(f"{target.origin}/")

    def test_its_credentials_are_not_shown(self, profile: Profile) -> None:
        """``repr`` of a target has neither token id nor client secret."""
        text = repr(Target.resolve(GOOD_URL, profile, ENVIRON))

        assert TOKEN_ID not in text
        assert CLIENT_SECRET not in text

    @pytest.mark.parametrize(
        ("url", "message"),
        [
            ("", "'' is not a URL; expected for example https://"),
            ("api.acme.example/2025-10-13", "is not a URL; expected for example https://"),
            ("ftp://api.acme.example/2025-10-13", "is not a URL"),
            ("https:///2025-10-13", "is not a URL"),
            ("https://[::1/2025-10-13", "is not a URL"),
            ("https://api.acme.example:99999/2025-10-13", "is not a URL"),
            (
                "https://api.acme.example",
                "segment 2025-10-13; did you mean https://api.acme.example/2025-10-13 ?",
            ),
            ("https://api.acme.example/2025-10-14", "does not end in the version segment"),
            (f"{GOOD_URL}?key=1", "has a query or a fragment"),
            (f"{GOOD_URL}#top", "has a query or a fragment"),
            ("https://api.acme.example:0/2025-10-13", "is not a URL"),
            ("https://%61pi.acme.example/2025-10-13", "has a host that cannot be asked"),
            ("\x1b[2Jhttps://api.acme.example", "is not a URL"),
        ],
    )
    def test_a_base_url_that_cannot_be_used_is_refused(
        self, profile: Profile, url: str, message: str
    ) -> None:
        """The message says what is wrong with the URL, or what to write instead."""
        with pytest.raises(BadBaseUrl, match=re.escape(message)):
            Target.resolve(url, profile, ENVIRON)

    def test_credentials_in_the_base_url_are_refused(self, profile: Profile) -> None:
        """The message does not repeat the password."""
        with pytest.raises(BadBaseUrl, match="holds credentials") as error:
            Target.resolve("https://me:hunter2@api.acme.example/2025-10-13", profile, ENVIRON)

        assert "hunter2" not in str(error.value)

    @pytest.mark.parametrize("value", ["", None])
    def test_missing_credentials_are_named(self, profile: Profile, value: str | None) -> None:
        """The message has all variables to export; an empty variable counts as missing."""
        environ = {} if value is None else dict.fromkeys(ENVIRON, value)

        with pytest.raises(MissingCredentials) as error:
            Target.resolve(GOOD_URL, profile, environ)

        assert str(error.value) == (
            f"the credentials of {GOOD_URL} are not set: export PAYMENTS_API_TOKEN_ID and "
            "PAYMENTS_API_CLIENT_SECRET (the profile's key credentials names the variables)"
        )

    def test_the_profile_names_the_variables(self, make_profile: Callable[..., Profile]) -> None:
        """The message has only the missing one of the variables that the profile names."""
        profile = make_profile(credentials={"token_id": "ACME_ID", "client_secret": "ACME_SECRET"})

        with pytest.raises(MissingCredentials, match=r"export ACME_SECRET \("):
            Target.resolve(GOOD_URL, profile, {"ACME_ID": "me"})


class TestCheck:
    """One safe request tells a wrong configuration from a wrong target."""

    def test_a_configuration_as_json_will_do(
        self, stand_in: Start, make_target: MakeTarget
    ) -> None:
        """``GET /config`` is sent once with credentials, and any JSON object passes."""
        server = stand_in(standins.answers(200, {"id": "PlatformConfig:1"}))

        make_target(server.base_url).check()

        (request,) = server.received
        assert (request.method, request.path) == ("GET", "/2025-10-13/config")
        assert request.headers["authorization"].startswith("Basic ")

    @pytest.mark.parametrize(
        ("status", "advice"),
        [
            (429, "asked too often: wait"),
            (500, "its log says why"),
            (502, "see whether it is running"),
            (503, "wait until it has started"),
            (504, "see whether it is running"),
        ],
    )
    @pytest.mark.usefixtures("short_start")
    def test_a_target_that_does_not_become_ready_is_told(
        self, stand_in: Start, make_target: MakeTarget, status: int, advice: str
    ) -> None:
        """The target is asked again some times; the message has status and advice."""
        server = stand_in(standins.answers(status, {"code": "INTERNAL_ERROR"}))

        with pytest.raises(NotReady, match=rf"/config answered {status}; .*{advice}"):
            make_target(server.base_url).check()

        assert 1 < len(server.received) < 6

    @pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
    def test_a_target_that_becomes_ready_is_taken(
        self, stand_in: Start, make_target: MakeTarget, status: int
    ) -> None:
        """Two answers of a target that starts, and then a 200, pass the check."""
        server = stand_in(in_turn(*(standins.answers(code, {}) for code in (status, status, 200))))

        make_target(server.base_url).check()

        assert len(server.received) == 3

    @pytest.mark.parametrize("status", [429, 503])
    def test_it_is_asked_again_when_it_wants_to_be(
        self, stand_in: Start, make_target: MakeTarget, status: int
    ) -> None:
        """``Retry-After`` is kept, as seconds and as a date."""
        soon = format_datetime(datetime.now(UTC) + timedelta(seconds=2), usegmt=True)
        server = stand_in(
            in_turn(
                standins.answers(status, {}, headers={"retry-after": "1"}),
                standins.answers(status, {}, headers={"retry-after": soon}),
                standins.answers(200, {}),
            )
        )

        make_target(server.base_url).check()

        first, second, _ = (request.at for request in server.received)
        assert 1 <= second - first < 2

    def test_it_is_not_waited_for_longer_than_some_seconds(
        self, stand_in: Start, make_target: MakeTarget
    ) -> None:
        """A long ``Retry-After`` ends the check at once, and stands in the message."""
        server = stand_in(standins.answers(429, {}, headers={"retry-after": "3600"}))

        with pytest.raises(NotReady, match="answered 429, and asks to wait for 3600 seconds; "):
            make_target(server.base_url).check()

        assert len(server.received) == 1

    @pytest.mark.usefixtures("short_patience", "short_start")
    @settings(
        max_examples=150,
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    )
    @given(content=st.deferred(lambda: ANSWERS))
    def test_nothing_that_is_answered_ends_in_a_traceback(
        self, make_target: MakeTarget, content: bytes
    ) -> None:
        """Any answer passes or leads to a short message of printable characters."""

        def behave(
            connection: socket.socket, _received: Received, _stopped: threading.Event
        ) -> None:
            connection.sendall(content)

        with StandIn(behave) as server:
            message = problem_of(make_target(server.base_url))

        assert len(message) < 700
        assert message.isprintable()

    def test_what_it_sends_steers_no_terminal_and_tells_no_secret(
        self, stand_in: Start, make_target: MakeTarget
    ) -> None:
        """Messages with headers of the target are short, printable and without secrets."""
        pair = base64.b64encode(f"{TOKEN_ID}:{CLIENT_SECRET}".encode()).decode()
        hostile = f"\x1b[2J\x9b{CLIENT_SECRET}{TOKEN_ID}{pair}" + "x" * 5000
        behaviours = (
            standins.redirects(f"https://evil.example/{hostile}"),
            standins.answers(200, {}, kind=hostile),
            standins.answers(404, {}, kind=hostile),
            lambda connection, *_: connection.sendall(hostile.encode("latin-1") + b"\r\n\r\n"),
        )
        for behaviour in behaviours:
            with pytest.raises(TargetError) as error:
                make_target(stand_in(behaviour).base_url).check()

            message = str(error.value)
            assert message.isprintable()
            assert len(message) < 500
            assert not any(secret in message for secret in (TOKEN_ID, CLIENT_SECRET, pair))

    @pytest.mark.parametrize(
        ("behaviour", "error", "message"),
        [
            pytest.param(
                standins.answers(401, {"code": "UNAUTHORIZED"}),
                WrongCredentials,
                r"refuses the credentials .* PAYMENTS_API_TOKEN_ID and PAYMENTS_API_CLIENT_SECRET",
                id="wrong credentials",
            ),
            pytest.param(
                standins.answers(404, {"code": "NOT_FOUND"}),
                NotTheInterface,
                r"/config answered 404 with application/json; .* the base URL of the interface\?",
                id="elsewhere",
            ),
            pytest.param(
                standins.redirects("https://www.acme.example/"),
                NotTheInterface,
                r"/config redirects to https://www\.acme\.example/; redirects are not followed",
                id="redirect",
            ),
            pytest.param(
                standins.html(),
                NotTheInterface,
                r"answered 200 with text/html; expected the platform configuration as JSON",
                id="page",
            ),
            pytest.param(
                standins.answers(200, b"<html>"),
                NotTheInterface,
                r"answered 200 with application/json; expected the platform configuration as JSON",
                id="page that says it is JSON",
            ),
            pytest.param(standins.floods(), NotTheInterface, "answered 200", id="flood"),
            pytest.param(
                standins.dies_half_way(), Unreachable, "peer closed connection", id="half an answer"
            ),
            pytest.param(
                standins.hangs(), Unreachable, "no complete answer within 1 seconds", id="hanging"
            ),
            pytest.param(
                standins.drips_header(),
                Unreachable,
                "no complete answer within 1 seconds",
                id="dripping header",
            ),
            pytest.param(
                standins.drips_body(),
                Unreachable,
                "no complete answer within 1 seconds",
                id="dripping body",
            ),
        ],
    )
    @pytest.mark.usefixtures("short_patience")
    def test_each_cause_is_told_soon(
        self,
        stand_in: Start,
        make_target: MakeTarget,
        behaviour: Behaviour,
        error: type[TargetError],
        message: str,
    ) -> None:
        """The message comes within three seconds, has the base URL and no secret."""
        server = stand_in(behaviour)
        started = time.monotonic()

        with pytest.raises(error, match=message) as raised:
            make_target(server.base_url).check()

        assert time.monotonic() - started < 3
        assert server.base_url in str(raised.value)
        assert CLIENT_SECRET not in str(raised.value)

    def test_a_closed_port_is_told(self, make_target: MakeTarget) -> None:
        """The message says that the connection was refused, and asks for the server."""
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]

        with pytest.raises(
            Unreachable, match=rf"127\.0\.0\.1:{port}/2025-10-13: connection refused; is the server"
        ):
            make_target(f"http://127.0.0.1:{port}/2025-10-13").check()

    def test_an_unknown_host_is_told(self, make_target: MakeTarget) -> None:
        """The message has the name of the unknown host."""
        with pytest.raises(Unreachable, match=r"cannot reach http://absent\.invalid/"):
            make_target("http://absent.invalid/2025-10-13").check()


class TestRetryAfter:
    """The header that says how long to wait."""

    @pytest.mark.parametrize(
        ("value", "seconds"),
        [
            ("0", 0.0),
            ("120", 120.0),
            ("Sun, 06 Nov 1994 08:49:37 GMT", 0.0),
            ("²", None),
            ("\N{ARABIC-INDIC DIGIT ONE}", None),
            ("-1", None),
            ("1.5", None),
            ("9" * 5000, float("inf")),
            ("", None),
            ("soon", None),
            ("Sun, 99 Nov 1994 08:49:37 GMT", None),
            ("Sun, 06 Nov 99999999999 08:49:37 GMT", None),
        ],
    )
    def test_it_is_a_number_or_a_time(self, value: str, seconds: float | None) -> None:
        """ASCII digits or a date of HTTP give seconds; anything else gives ``None``."""
        assert retry_after(value) == seconds

    def test_a_time_is_as_long_as_it_is_away(self) -> None:
        """A date gives the seconds from now on."""
        moment = datetime.now(UTC) + timedelta(seconds=90)

        seconds = retry_after(format_datetime(moment, usegmt=True))

        assert seconds is not None
        assert 85 < seconds < 91

    @given(st.text())
    def test_any_text_is_taken(self, value: str) -> None:
        """Any text gives ``None`` or a number of seconds that is not negative."""
        assert (retry_after(value) or 0.0) >= 0


class TestWeakSecret:
    """A secret that may stand anywhere by chance cannot be hidden."""

    @pytest.mark.parametrize(
        ("secret", "reason"),
        [
            ("pass", "fewer than 8 characters"),
            ("a1b2c3d", "fewer than 8 characters"),
            ("password", "one word"),
            ("Passwort", "one word"),
            ("PASSWORDPASSWOR", "one word"),
            ("20251013", "a number"),
            ("123456789012345", "a number"),
            ("createdAt", "description of the interface"),
            ("EXTERNAL-accounts", "description of the interface"),
            ("2025-10-13", "description of the interface"),
            ("external-accounts", "description of the interface"),
        ],
    )
    def test_it_is_refused(self, profile: Profile, secret: str, reason: str) -> None:
        """The message has the variable and the reason, and not the secret."""
        environ = {**ENVIRON, "PAYMENTS_API_CLIENT_SECRET": secret}

        with pytest.raises(
            WeakSecret, match=rf"^the secret in PAYMENTS_API_CLIENT_SECRET .*{reason}"
        ) as error:
            Target.resolve(GOOD_URL, profile, environ)

        assert secret not in str(error.value)

    @pytest.mark.parametrize(
        "secret",
        ["pass-word", "correcthorsebattery", "7204185539017264", "s3cr3ts!"],
    )
    def test_others_are_taken(self, secret: str) -> None:
        """A secret may be long words, long digits or short mixed characters."""
        assert weakness(secret) is None
        assert weakness(CLIENT_SECRET) is None

    def test_a_token_id_may_be_any_word(self, profile: Profile) -> None:
        """A token id that is an ordinary word is taken, and not hidden."""
        environ = {**ENVIRON, "PAYMENTS_API_TOKEN_ID": "test"}

        assert Target.resolve(GOOD_URL, profile, environ).secrets == (CLIENT_SECRET,)
        assert Target.resolve(GOOD_URL, profile, ENVIRON).secrets == (CLIENT_SECRET, TOKEN_ID)


class TestWithin:
    """``within`` limits the time of a call."""

    def test_what_is_returned_comes_back(self) -> None:
        """The result of the call is returned."""
        assert within(5, lambda: 7) == 7

    def test_what_is_raised_comes_back(self) -> None:
        """The error of the call is raised itself."""
        error = KeyError("x")

        def fail() -> None:
            raise error

        with pytest.raises(KeyError) as raised:
            within(5, fail)

        assert raised.value is error

    def test_what_takes_too_long_is_left_behind(self) -> None:
        """TimeoutError is raised while the call still runs."""
        with pytest.raises(TimeoutError):
            within(0.01, lambda: time.sleep(0.5))


def in_turn(*behaviours: Behaviour) -> Behaviour:
    """Answer with each behaviour in turn."""
    turns = iter(behaviours)

    def behave(connection: socket.socket, received: Received, stopped: threading.Event) -> None:
        next(turns)(connection, received, stopped)

    return behave


def problem_of(target: Target) -> str:
    """Return the message of the check of a target; an empty text where it passes."""
    try:
        target.check()
    except TargetError as error:
        return str(error)
    return ""


def _answer(parts: tuple[bytes, dict[bytes, bytes], bytes, int]) -> bytes:
    status, headers, body, cut = parts
    lines = b"".join(name + b": " + value + b"\r\n" for name, value in headers.items())
    response = b"HTTP/1.1 " + status + b"\r\n" + lines + b"connection: close\r\n\r\n" + body
    return response[: len(response) - cut]


BODIES = st.sampled_from(
    [
        b"{}",
        b"null",
        b"[]",
        b"7",
        b"NaN",
        b'{"a": NaN}',
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b'{"a": "\\ud800"}',
        b'"\xff\xfe"',
        b'{"a": "\xe9"}',
        b"1" * 5000,
        b"",
        b"\x1f\x8b\x08\x00",
        '{"a": 1}'.encode("utf-16"),
    ]
)
VALUES = st.sampled_from(
    [
        b"",
        b"application/json",
        b"application/json; charset=nonsense",
        b"application/json; charset=utf-7",
        b"\x1b[2J\xff json",
        b"http://[",
        b"//[::1",
        b"http://\xe2\x98\x83:99999/",
        b"\xc2\xb2",
        b"\xb2",
        b"1e9",
        b"9" * 400,
        b"Sun, 99 Nov 1994 08:49:37 GMT",
        b"gzip, gzip",
        b"deflate",
        b"br, zstd, identity",
        b"chunked",
        b"-1",
        b"x=\x00; expires=yesterday; max-age=\xb2",
    ]
) | st.binary(max_size=20)
HEADERS = st.dictionaries(
    st.sampled_from(
        [
            b"content-type",
            b"content-length",
            b"content-encoding",
            b"transfer-encoding",
            b"location",
            b"retry-after",
            b"set-cookie",
            b"www-authenticate",
        ]
    ),
    VALUES,
)
STATUSES = st.sampled_from(
    [
        *(str(status).encode() for status in (200, 204, 301, 307, 400, 401, 404, 429, 500, 503)),
        *(b"200 OK", b"101 x", b"999 x", b"000 x", b"20", b"\xff", b"", b"200 " + b"x" * 200_000),
    ]
)
ANSWERS: st.SearchStrategy[bytes] = st.tuples(
    STATUSES, HEADERS, BODIES, st.sampled_from([0, 0, 0, 1, 3])
).map(_answer) | st.binary(max_size=60)
