"""Where a base URL is almost right, ``init`` and ``doctor`` propose the one that answers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from conformance.cli.main import app
from conformance.selftest import standins
from conformance.selftest.standins import Behaviour, StandIn
from conformance.sut.target import VERSION

USAGE = 4
PROFILE = "implementation: {name: reference}\nenvironment: sandbox\n"


@pytest.fixture
def asked(tmp_path: Path, credentials: None) -> Callable[[str, str], str]:
    """Return a function that runs a command with a wrong base URL, and returns the output."""
    assert credentials is None
    profile = tmp_path / "profile.yaml"

    def run(command: str, base_url: str) -> str:
        words = ["init", base_url, f"--output={tmp_path / 'made.yaml'}"]
        if command == "doctor":
            profile.write_text(PROFILE, encoding="utf-8")
            words = ["doctor", f"--base-url={base_url}", f"--profile={profile}", "--seconds=0"]
        result = CliRunner().invoke(app, words)
        assert result.exit_code == USAGE, result.output
        assert "Traceback" not in result.output
        return " ".join(result.output.split())

    return run


@pytest.mark.parametrize("command", ["init", "doctor"])
@pytest.mark.parametrize(
    "path",
    [
        "",
        "/",
        "/payments",
        f"/{VERSION}/{VERSION}",
        f"/{VERSION}/config",
        f"/payments/{VERSION}",
        f"/payments/v1/{VERSION}/",
    ],
)
def test_the_base_url_that_answers_is_proposed(
    asked: Callable[[str, str], str], against: tuple[str, str], command: str, path: str
) -> None:
    """The segment is missing, stands twice or before something else, or below another path."""
    right = against[0].removeprefix("--base-url=")

    output = asked(command, right.removesuffix(f"/{VERSION}") + path)

    assert f"{right} answers as the interface does: give that one" in output


@pytest.mark.parametrize("command", ["init", "doctor"])
def test_nothing_is_proposed_that_does_not_answer(
    asked: Callable[[str, str], str], stand_in: Callable[[Behaviour], StandIn], command: str
) -> None:
    """Where every path is unknown, the message is that of the base URL that was given."""
    target = stand_in(standins.answers(404, {"code": "NOT_FOUND", "reason": "x"}))

    output = asked(command, f"{target.base_url}/{VERSION}")

    assert "answered 404" in output
    assert "answers as the interface does" not in output


@pytest.mark.parametrize(
    "url", ["nonsense", "http://[", "http://me:secret@127.0.0.1/x", "http://127.0.0.1/x?a=b"]
)
def test_what_is_no_base_url_leads_nowhere(asked: Callable[[str, str], str], url: str) -> None:
    """What cannot be a base URL is told as it is, and nobody is asked."""
    assert "answers as the interface does" not in asked("init", url)
