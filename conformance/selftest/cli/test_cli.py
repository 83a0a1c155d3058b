"""The console command: what a person types first."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner

from conformance.cli.main import app
from conformance.contract.catalogue import catalogue
from conformance.reference.server import listen
from conformance.selftest.collection import ROOT
from conformance.verdict.decisions import Reason

PROGRAM = [sys.executable, "-c", "from conformance.cli.main import app; app()"]
VARIABLES = ("PAYMENTS_API_TOKEN_ID", "PAYMENTS_API_CLIENT_SECRET")


def test_it_shows_its_commands() -> None:
    """Without any, as with ``--help``."""
    shown = CliRunner().invoke(app, []).output

    assert all(f" {name} " in shown for name in ("run", "serve", "plan", "mutants"))


class TestPlan:
    """What a run would decide, without sending anything."""

    def plan(self, *arguments: str) -> tuple[int, str]:
        """Run the command for the reference; return its exit status and output."""
        options = [f"--rootdir={ROOT}", "-pno:cacheprovider", "-pno:randomly", "-pno:xdist"]
        done = CliRunner().invoke(app, ["plan", *arguments, *options])
        return done.exit_code, done.output

    def test_it_is_shown_in_short(self) -> None:
        """By part, and by what keeps the rest from a verdict."""
        status, shown = self.plan()

        assert status == 0, shown
        assert " requirements would be decided:\n" in shown
        assert "\n  quotes  " in shown
        assert "0 would not be decided:" in shown
        assert " cannot be tested by any client." in shown

    def test_it_accounts_for_every_requirement(self) -> None:
        """Each stands in one of the three lists."""
        _, shown = self.plan("--json", "--fuzz-examples=0")

        content = json.loads(shown)
        decided = {entry["id"]: entry["tests"] for entry in content["to_decide"]}
        left = {entry["id"]: entry["reason"] for entry in content["not_decided"]}
        assert sorted([*decided, *left, *content["untestable"]]) == sorted(catalogue())
        assert all(decided.values())
        assert set(left.values()) == {Reason.DESELECTED}

    def test_it_follows_the_profile(self, tmp_path: Path) -> None:
        """What is not declared or mapped is named."""
        profile = tmp_path / "acme.yaml"
        profile.write_text("implementation: {name: Acme}\n", encoding="utf-8")

        status, shown = self.plan(f"--profile={profile}")

        assert status == 0, shown
        assert f"{Reason.FEATURE_UNDECLARED}: sca" in shown
        assert f"{Reason.TRIGGER_MISSING}: quote.expire" in shown

    def test_a_wrong_profile_is_told(self) -> None:
        """As a run would."""
        status, shown = self.plan("--profile=absent")

        assert status == 4
        assert "profile absent: no such file" in shown


class TestServe:
    """The reference as a sandbox for people who write clients."""

    def test_it_serves_until_it_is_interrupted(self) -> None:
        """With the credentials of the environment, which are printed for the client's shell."""
        given = dict(zip(VARIABLES, ("my-token", "my-secret"), strict=True))
        with subprocess.Popen(
            [*PROGRAM, "serve", "--port=0"],
            env={**os.environ, **given},
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        ) as server:
            assert server.stdout is not None
            printed = [server.stdout.readline().strip() for _ in range(4)]
            url = printed[0].removeprefix("base URL: ")
            answer = httpx.get(f"{url}/config", auth=("my-token", "my-secret"), trust_env=False)
            # Ctrl-C reaches the whole group of processes.
            os.killpg(server.pid, signal.SIGINT)
            status = server.wait(20)

        assert printed[1:] == [
            "export PAYMENTS_API_TOKEN_ID=my-token",
            "export PAYMENTS_API_CLIENT_SECRET=my-secret",
            "Ctrl-C stops it.",
        ]
        assert answer.status_code == 200
        assert status == 0
        with pytest.raises(httpx.ConnectError):
            httpx.get(url, trust_env=False)

    def test_a_port_that_is_taken_is_an_error(self) -> None:
        """Nothing is printed that would not hold."""
        with listen(0) as taken:
            taken.listen()
            port = taken.getsockname()[1]
            done = subprocess.run(
                [*PROGRAM, "serve", f"--port={port}"],
                capture_output=True,
                text=True,
                timeout=30,
                check=False,
            )

        assert done.returncode != 0
        assert "base URL" not in done.stdout
        assert "in use" in done.stderr


def test_run_is_pytest_on_the_suite(tmp_path: Path) -> None:
    """Everything after the word goes to it, and the folder makes no difference."""
    done = subprocess.run(
        [*PROGRAM, "run", "--collect-only", "-q", "--fuzz-examples=0", "-k", "expired_quote"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert "test_an_expired_quote" in done.stdout
    assert "selftest" not in done.stdout
