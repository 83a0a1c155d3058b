"""Steps of the profile around a run and its tests."""

from __future__ import annotations

from pathlib import Path

from conformance.selftest.runs import TINY_SUITE, USAGE, run, write

PROFILE = """
    implementation: {name: reference}
    environment: sandbox
    features: {platform: unregulated}
    triggers:
      customer.approve:
        http: {url: "{origin}/control/customers/{customerId}/review", json: {decision: APPROVED}}
        back: {command: [/bin/sh, -c, "echo back >> steps"]}
    setup:
      - {command: [/bin/sh, -c, "echo setup >> steps"]}
    teardown:
      - {command: [/bin/sh, -c, "echo teardown >> steps"]}
    """


def steps_of(folder: Path) -> list[str]:
    """Return what the steps of a run wrote, in its order."""
    return (folder / "steps").read_text(encoding="utf-8").split()


def test_they_are_carried_out_once_a_run(tiny: Path, against: tuple[str, str]) -> None:
    """With two processes too, `setup` comes first, `teardown` last, and `back` with each test."""
    write(tiny, {"profile.yaml": PROFILE})

    _, output = run(tiny, *TINY_SUITE, "-n2", against[0], "--profile=profile.yaml", "scenarios")

    assert steps_of(tiny) == ["setup", "back", "back", "teardown"], output


def test_a_setup_that_fails_is_a_mistake_of_the_configuration(
    tiny: Path, against: tuple[str, str]
) -> None:
    """Nothing is collected, and the message names the step."""
    profile = PROFILE.replace("echo setup >> steps", "exit 3")
    write(tiny, {"profile.yaml": profile})

    status, output = run(tiny, *TINY_SUITE, against[0], "--profile=profile.yaml", "scenarios")

    assert status == USAGE, output
    assert "setup.0: /bin/sh ended with 3" in output


def test_a_teardown_that_fails_is_told(tiny: Path, against: tuple[str, str]) -> None:
    """It decides nothing, and the terminal says which step it was."""
    write(tiny, {"profile.yaml": PROFILE.replace("echo teardown >> steps", "exit 3")})

    _, output = run(tiny, *TINY_SUITE, against[0], "--profile=profile.yaml", "scenarios")

    assert "Left behind: teardown.0: /bin/sh ended with 3" in output
    assert "2 passed" in output or "1 passed" in output
