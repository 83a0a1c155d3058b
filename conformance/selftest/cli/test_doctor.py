"""``payments-conformance doctor`` says what stands in the way of a run, and which key mends it."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from conformance.cli.checkup import reviews, trial
from conformance.cli.checkup.findings import Grade
from conformance.cli.main import app
from conformance.exit_status import EXIT_STATUS
from conformance.proof.personas import running
from conformance.proof.planting import PROFILE as PROFILE_OF_SECOND
from conformance.run import load_profile
from conformance.selftest import standins
from conformance.selftest.runs import unindented
from conformance.selftest.standins import Behaviour, StandIn
from conformance.sut.target import Target

OBSTACLES, PROBLEMS = 4, 9

PROFILE = """
    implementation: {name: reference}
    environment: sandbox
    timing: {event: 2, state: 2}
    features: {platform: unregulated, direct_onboarding: true, webhooks: true}
    triggers:
      webhook.register:
        http: {url: "{origin}/control/webhook-endpoint", json: {url: "{url}"}}
      customer.approve:
        http: {url: "{origin}/control/customers/{customerId}/review", json: {decision: APPROVED}}
      payout.hold: {http: {url: "{origin}/control/nowhere/{externalAccountId}"}}
      payout.screen: {command: ["true"]}
    """


@pytest.fixture
def doctor(tmp_path: Path, credentials: None) -> Callable[..., tuple[int, list[str]]]:
    """Return a function that runs the command; it returns exit status and lines."""
    assert credentials is None
    path = tmp_path / "profile.yaml"

    def run(base_url: str, *options: str, profile: str = PROFILE) -> tuple[int, list[str]]:
        path.write_text(unindented(profile), encoding="utf-8")
        words = ["doctor", f"--base-url={base_url}", f"--profile={path}", *options]
        result = CliRunner().invoke(app, words)
        assert result.exception is None or isinstance(result.exception, SystemExit), result.output
        return result.exit_code, result.output.splitlines()

    return run


def line_about(subject: str, lines: list[str]) -> str:
    """Return the line of one finding."""
    (found,) = (line for line in lines if line[9:].startswith(f"{subject}: "))
    return found


@pytest.mark.slow
def test_it_tries_what_the_profile_maps(
    doctor: Callable[..., tuple[int, list[str]]], against: tuple[str, str]
) -> None:
    """Triggers that are refused, or do nothing, are told with their key."""
    base_url = against[0].removeprefix("--base-url=")

    status, lines = doctor(base_url, "--verbose", "--fuzz-examples=0", "--workers=2")

    assert status == PROBLEMS, lines
    assert line_about("wrong credentials", lines).startswith("fine")
    assert line_about("clock", lines).startswith("fine")
    assert line_about("webhooks", lines).startswith("fine")
    assert line_about("customer.approve", lines).startswith("fine     customer.approve: works: ")
    refused = line_about("payout.hold", lines)
    assert refused.startswith("problem")
    assert " answered 404: " in refused
    assert refused.endswith("[triggers.payout.hold]")
    without_effect = line_about("payout.screen", lines)
    assert without_effect.startswith("problem")
    assert " was not seen: " in without_effect
    assert "with 2 workers" in line_about("cost", lines)


def test_each_time_it_sends_other_data(
    doctor: Callable[..., tuple[int, list[str]]],
    against: tuple[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A target may take some data once, and the run that follows sends those of its seed."""
    seeds: list[int] = []

    def noted(*_tests: object, seed: int, **_options: object) -> str:
        seeds.append(seed)
        return "no test is run"

    monkeypatch.setattr(trial, "run", noted)
    base_url = against[0].removeprefix("--base-url=")

    for options in ((), (), ("--run-seed=7",)):
        doctor(base_url, *options)

    assert len(set(seeds)) == 3
    assert seeds[2] == 7
    assert 1 not in seeds


@pytest.mark.slow
def test_a_step_before_is_told_with_its_own_key(
    doctor: Callable[..., tuple[int, list[str]]], against: tuple[str, str]
) -> None:
    """A trigger is not blamed for the deposit that its payment needs."""
    base_url = against[0].removeprefix("--base-url=")
    without_deposits = PROFILE + "  deposit.arrive: {command: ['true']}\n    "

    _, lines = doctor(base_url, profile=without_deposits)

    held = line_about("payout.hold", lines)
    assert "the deposit of " in held
    assert held.endswith("[triggers.deposit.arrive]")


@pytest.mark.parametrize(("persona", "told"), [("slow", True), ("eager", False)])
def test_an_approval_that_is_not_needed_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, persona: str, *, told: bool
) -> None:
    """It is, where a new account becomes active by itself, with what it keeps from a verdict."""
    collected = trial.collect(str(PROFILE_OF_SECOND))
    with running(persona) as (base_url, environment):
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        target = Target.resolve(base_url, load_profile(str(PROFILE_OF_SECOND)), os.environ)

        found = list(reviews.look_at_approval(target, collected.plan, tmp_path / "review"))

    assert [finding.key for finding in found] == ["triggers.external_account.approve"] * told
    for finding in found:
        assert re.search(
            r"up to [1-9]\d+ requirements .*; [1-9] requirements need it", finding.text
        )


@pytest.mark.slow
def test_the_time_is_bounded(
    doctor: Callable[..., tuple[int, list[str]]], against: tuple[str, str]
) -> None:
    """What is not tried in time is told; it is no problem of the target."""
    base_url = against[0].removeprefix("--base-url=")

    _, lines = doctor(base_url, "--seconds=1", "--verbose")

    assert not any("Traceback" in line for line in lines)
    is_told = any("trial" in line or "the time was over" in line for line in lines)
    # Python loses a signal that comes while it imports; then the trial has gone on to its end.
    is_complete = any("customer.approve: works: " in line for line in lines)
    assert is_told or is_complete, "\n".join(lines)


@pytest.mark.parametrize(
    ("behaviour", "status", "told"),
    [
        pytest.param(standins.answers(401, {}), OBSTACLES, "[credentials]", id="credentials"),
        pytest.param(standins.html(), OBSTACLES, "[--base-url]", id="another site"),
        pytest.param(
            standins.answers(200, {}), PROBLEMS, "GET /config answers 200 to a wrong", id="no check"
        ),
        pytest.param(standins.answers(200, []), PROBLEMS, "round trip: ", id="a list"),
        pytest.param(standins.dies_half_way(), OBSTACLES, "[--base-url]", id="dies"),
        pytest.param(standins.floods(), OBSTACLES, "obstacle", id="floods"),
        pytest.param(standins.echoes(), PROBLEMS, "wrong credentials", id="echoes"),
    ],
)
def test_whatever_answers_a_finding_comes_of_it(
    doctor: Callable[..., tuple[int, list[str]]],
    stand_in: Callable[[Behaviour], StandIn],
    behaviour: Behaviour,
    status: int,
    told: str,
) -> None:
    """Hostile answers raise nothing, and the exit status says how bad it is."""
    ended, lines = doctor(stand_in(behaviour).base_url, "--seconds=0")

    assert ended == status, lines
    assert any(told in line for line in lines)
    assert not any("Traceback" in line for line in lines)


def test_a_host_that_does_not_exist_is_told(
    doctor: Callable[..., tuple[int, list[str]]],
) -> None:
    """The name comes first, and nothing is asked after it."""
    status, lines = doctor("https://no-such-host.invalid/2025-10-13")

    assert status == OBSTACLES
    assert line_about("name", lines).endswith("[--base-url]")
    assert not any(line[9:].startswith("base URL: ") for line in lines)


def test_missing_credentials_are_told(
    doctor: Callable[..., tuple[int, list[str]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The key `credentials` names the variables."""
    monkeypatch.delenv("PAYMENTS_API_CLIENT_SECRET")

    status, lines = doctor("http://127.0.0.1:9/2025-10-13")

    assert status == OBSTACLES
    assert any(line.endswith("[credentials]") for line in lines)


def test_a_profile_that_is_not_valid_is_told(
    doctor: Callable[..., tuple[int, list[str]]],
) -> None:
    """Line, column and key stand in the finding."""
    status, lines = doctor("http://127.0.0.1:9/2025-10-13", profile="implementation: {nam: x}\n")

    assert status == OBSTACLES
    assert "line 1, column 18: implementation.nam: unknown key" in " ".join(lines)


def test_its_exit_statuses_are_its_own() -> None:
    """None of them is a verdict on a target."""
    assert PROBLEMS not in EXIT_STATUS.values()
    assert OBSTACLES not in EXIT_STATUS.values()
    assert list(Grade) == ["fine", "note", "problem", "obstacle"]
