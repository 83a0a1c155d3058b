"""The console command ``payments-conformance``: its list, and its commands plan, serve and run."""

from __future__ import annotations

import json
import os
import re
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
    """The program without a command prints its commands, such as run, serve, plan, mutants."""
    output = CliRunner().invoke(app, [], env={"PY_COLORS": "0"}).output

    assert all(f" {name} " in output for name in ("run", "serve", "plan", "mutants"))


def test_it_says_what_several_processes_need(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run with -n, where pytest-xdist is not installed, ends with 4 and names [parallel]."""
    monkeypatch.setattr("conformance.cli.main.find_spec", lambda _name: None)

    result = CliRunner().invoke(app, ["run", "-n", "2"])

    assert result.exit_code == pytest.ExitCode.USAGE_ERROR
    assert "[parallel]" in result.output


class TestPlan:
    """``payments-conformance plan`` says what a run would decide, and sends nothing."""

    def plan(self, *arguments: str) -> tuple[int, str]:
        """Run the command for the reference; return its exit status and output."""
        options = [f"--rootdir={ROOT}", "-pno:cacheprovider", "-pno:randomly", "-pno:xdist"]
        result = CliRunner().invoke(app, ["plan", *arguments, *options])
        return result.exit_code, result.output

    def test_it_is_shown_in_short(self) -> None:
        """The short plan counts by area what would be decided, and says why the rest would not."""
        status, output = self.plan()

        assert status == 0, output
        assert " requirements would be decided:\n" in output
        assert "\n  quotes  " in output
        assert "0 would not be decided:" in output
        assert " cannot be tested by any client." in output

    def test_it_names_what_the_profile_leaves_open(self, tmp_path: Path) -> None:
        """A binding that is null stands in the plan; one that has a value does not."""
        profile = tmp_path / "acme.yaml"
        bindings = "bindings: {uma_receiver: $mei@acme.example, uma_stranger: null}"
        profile.write_text(f"implementation: {{name: Acme}}\n{bindings}\n", encoding="utf-8")

        _, output = self.plan(f"--profile={profile}", "-k", "expired_quote")

        told = output.partition("Bindings that are null")[2]
        assert "uma_stranger" in told
        assert "uma_receiver" not in told

    @pytest.mark.slow
    def test_it_says_how_long_a_run_takes(self) -> None:
        """Requests by round trip by workers, with those that are generated."""
        _, few = self.plan("--fuzz-examples=0", "-k", "expired_quote", "--round-trip=0.5")
        _, most = self.plan("--json")

        found = re.search(r"About (\d+) requests: with a round trip of 500 ms and 1 workers", few)
        assert found is not None, few
        assert f"take {int(found[1]) / 120:.1f} minutes" in few
        # What a whole run sends, give or take a quarter.
        assert 30_000 < json.loads(most)["requests"] < 51_000

    def test_it_accounts_for_every_requirement(self) -> None:
        """Each requirement of the catalogue stands in exactly one of three lists of the JSON."""
        _, output = self.plan("--json", "--fuzz-examples=0")

        content = json.loads(output)
        decided = {entry["id"]: entry["tests"] for entry in content["to_decide"]}
        undecided = {entry["id"]: entry["reason"] for entry in content["not_decided"]}
        assert sorted([*decided, *undecided, *content["untestable"]]) == sorted(catalogue())
        assert all(decided.values())
        assert set(undecided.values()) == {Reason.DESELECTED}

    def test_it_follows_the_profile(self, tmp_path: Path) -> None:
        """The plan names a feature that is not declared and a trigger that is not mapped."""
        profile = tmp_path / "acme.yaml"
        profile.write_text("implementation: {name: Acme}\n", encoding="utf-8")

        status, output = self.plan(f"--profile={profile}")

        assert status == 0, output
        assert f"{Reason.FEATURE_UNDECLARED}: sca" in output
        assert f"{Reason.TRIGGER_MISSING}: quote.expire" in output

    def test_a_wrong_profile_is_told(self) -> None:
        """A profile that does not exist is a usage error: exit status 4 and a message."""
        status, output = self.plan("--profile=absent")

        assert status == 4
        assert "profile absent: no such file" in output


class TestServe:
    """``payments-conformance serve`` starts the reference for people who write clients."""

    def test_it_serves_until_it_is_interrupted(self) -> None:
        """The sandbox takes and prints the credentials of the environment; Ctrl-C ends it."""
        credentials = dict(zip(VARIABLES, ("my-token", "my-secret"), strict=True))
        with subprocess.Popen(
            [*PROGRAM, "serve", "--port=0"],
            env={**os.environ, **credentials},
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        ) as server:
            assert server.stdout is not None
            lines = [server.stdout.readline().strip() for _ in range(4)]
            url = lines[0].removeprefix("base URL: ")
            answer = httpx.get(f"{url}/config", auth=("my-token", "my-secret"), trust_env=False)
            # Ctrl-C reaches the whole group of processes.
            os.killpg(server.pid, signal.SIGINT)
            status = server.wait(20)

        assert lines[1:] == [
            "export PAYMENTS_API_TOKEN_ID=my-token",
            "export PAYMENTS_API_CLIENT_SECRET=my-secret",
            "Ctrl-C stops it.",
        ]
        assert answer.status_code == 200
        assert status == 0
        with pytest.raises(httpx.ConnectError):
            httpx.get(url, trust_env=False)

    def test_a_port_that_is_taken_is_an_error(self) -> None:
        """Where another program listens on the port, the command fails and prints no base URL."""
        with listen(0) as listener:
            listener.listen()
            port = listener.getsockname()[1]
            completed = subprocess.run(
                [*PROGRAM, "serve", f"--port={port}"],
                capture_output=True,
                text=True,
                timeout=30,
                check=False,
            )

        assert completed.returncode != 0
        assert "base URL" not in completed.stdout
        assert "in use" in completed.stderr


@pytest.mark.slow
def test_run_is_pytest_on_the_suite(tmp_path: Path) -> None:
    """``run`` hands its arguments to pytest and collects the suite alone, from whatever folder."""
    completed = subprocess.run(
        [*PROGRAM, "run", "--collect-only", "-q", "--fuzz-examples=0", "-k", "expired_quote"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert completed.returncode == 0, completed.stdout + completed.stderr
    assert "test_an_expired_quote" in completed.stdout
    assert "selftest" not in completed.stdout
