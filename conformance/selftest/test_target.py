"""The target: each way to be misconfigured has one message, and comes soon."""

from __future__ import annotations

import re
import socket
import time
from collections.abc import Callable

import pytest

from conformance.selftest import standins
from conformance.selftest.conftest import CLIENT_SECRET, TOKEN_ID
from conformance.selftest.standins import Behaviour, StandIn
from conformance.target import target as module
from conformance.target.deadline import within
from conformance.target.profile import Profile
from conformance.target.target import (
    BadBaseUrl,
    MissingCredentials,
    NotTheInterface,
    Target,
    TargetError,
    Unreachable,
    WrongCredentials,
    from_environment,
)

MakeTarget = Callable[..., Target]
Start = Callable[[Behaviour], StandIn]

GOOD_URL = "https://api.acme.example/pay/2025-10-13"
ENVIRON = {"PAYMENTS_API_TOKEN_ID": TOKEN_ID, "PAYMENTS_API_CLIENT_SECRET": CLIENT_SECRET}


@pytest.fixture
def profile(make_profile: Callable[..., Profile]) -> Profile:
    """The profile of a sandbox with defaults."""
    return make_profile()


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the three seconds that a target is given, a test can do without two."""
    monkeypatch.setattr(module, "_PATIENCE", 1.0)


class TestResolve:
    """A target is put together from base URL, profile and environment."""

    def test_it_knows_its_origin(self, profile: Profile) -> None:
        """A slash at the end of the base URL makes no difference."""
        target = Target.resolve(f"{GOOD_URL}/", profile, ENVIRON)

        assert target.base_url == GOOD_URL
        assert target.origin == "https://api.acme.example"

    def test_its_credentials_are_not_shown(self, profile: Profile) -> None:
        """Neither in a traceback nor in an assertion."""
        shown = repr(Target.resolve(GOOD_URL, profile, ENVIRON))

        assert TOKEN_ID not in shown
        assert CLIENT_SECRET not in shown

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
        ],
    )
    def test_a_base_url_that_cannot_be_used_is_refused(
        self, profile: Profile, url: str, message: str
    ) -> None:
        """With what to write instead."""
        with pytest.raises(BadBaseUrl, match=re.escape(message)):
            Target.resolve(url, profile, ENVIRON)

    def test_credentials_in_the_base_url_are_refused(self, profile: Profile) -> None:
        """They would get into reports, and do not get into the message."""
        with pytest.raises(BadBaseUrl, match="holds credentials") as refused:
            Target.resolve("https://me:hunter2@api.acme.example/2025-10-13", profile, ENVIRON)

        assert "hunter2" not in str(refused.value)

    @pytest.mark.parametrize("value", ["", None])
    def test_missing_credentials_are_named(self, profile: Profile, value: str | None) -> None:
        """All variables that have to be set; an empty one is not."""
        environ = {} if value is None else dict.fromkeys(ENVIRON, value)

        with pytest.raises(MissingCredentials) as refused:
            Target.resolve(GOOD_URL, profile, environ)

        assert str(refused.value) == (
            f"the credentials of {GOOD_URL} are not set: export PAYMENTS_API_TOKEN_ID and "
            "PAYMENTS_API_CLIENT_SECRET (the profile's key credentials names the variables)"
        )

    def test_the_profile_names_the_variables(self, make_profile: Callable[..., Profile]) -> None:
        """Only the one that is missing is asked for."""
        own = make_profile(credentials={"token_id": "ACME_ID", "client_secret": "ACME_SECRET"})

        with pytest.raises(MissingCredentials, match=r"export ACME_SECRET \("):
            Target.resolve(GOOD_URL, own, {"ACME_ID": "me"})


class TestCheck:
    """One safe question tells a wrong configuration from a wrong target."""

    def test_a_configuration_as_json_will_do(
        self, stand_in: Start, make_target: MakeTarget
    ) -> None:
        """It is asked for once, with the credentials."""
        server = stand_in(standins.answers(200, {"id": "PlatformConfig:1"}))

        make_target(server.base_url).check()

        (request,) = server.received
        assert (request.method, request.path) == ("GET", "/2025-10-13/config")
        assert request.headers["authorization"].startswith("Basic ")

    def test_a_broken_target_is_for_the_run_to_judge(
        self, stand_in: Start, make_target: MakeTarget
    ) -> None:
        """It is the interface that answers."""
        server = stand_in(standins.answers(500, {"code": "INTERNAL_ERROR"}))

        make_target(server.base_url).check()

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
    @pytest.mark.usefixtures("impatient")
    def test_each_cause_is_told_soon(
        self,
        stand_in: Start,
        make_target: MakeTarget,
        behaviour: Behaviour,
        error: type[TargetError],
        message: str,
    ) -> None:
        """With the URL."""
        server = stand_in(behaviour)
        started = time.monotonic()

        with pytest.raises(error, match=message) as told:
            make_target(server.base_url).check()

        assert time.monotonic() - started < 3
        assert server.base_url in str(told.value)
        assert CLIENT_SECRET not in str(told.value)

    def test_a_closed_port_is_told(self, make_target: MakeTarget) -> None:
        """With the likely reason."""
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]

        with pytest.raises(
            Unreachable, match=rf"127\.0\.0\.1:{port}/2025-10-13: connection refused; is the server"
        ):
            make_target(f"http://127.0.0.1:{port}/2025-10-13").check()

    def test_an_unknown_host_is_told(self, make_target: MakeTarget) -> None:
        """By its name."""
        with pytest.raises(Unreachable, match=r"cannot reach http://absent\.invalid/"):
            make_target("http://absent.invalid/2025-10-13").check()


class TestWithin:
    """A limit on the time of a call that knows none."""

    def test_what_is_returned_comes_back(self) -> None:
        """As if it had been called here."""
        assert within(5, lambda: 7) == 7

    def test_what_is_raised_comes_back(self) -> None:
        """The very error."""
        error = KeyError("x")

        def fail() -> None:
            raise error

        with pytest.raises(KeyError) as raised:
            within(5, fail)

        assert raised.value is error

    def test_what_takes_too_long_is_left_behind(self) -> None:
        """The caller goes on."""
        with pytest.raises(TimeoutError):
            within(0.01, lambda: time.sleep(0.5))


def test_an_empty_variable_is_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """CI systems set variables to nothing."""
    monkeypatch.setenv("BASE_URL", "")

    assert from_environment("BASE_URL") is None
