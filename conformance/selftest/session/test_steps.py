"""Steps of the profile around a run and its tests."""

from __future__ import annotations

import sys
from pathlib import Path

from conformance.reporting.assemble import assemble
from conformance.selftest.runs import TINY_SUITE, USAGE, run, write
from conformance.verdict.plan import RequirementVerdict

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


APPROVE = """
    import sys
    import urllib.request

    origin, customer = sys.argv[1:]
    open("approvals", "a").write("one\\n")
    request = urllib.request.Request(
        f"{origin}/control/customers/{customer}/review",
        b'{"decision": "APPROVED"}',
        {"content-type": "application/json"},
    )
    urllib.request.urlopen(request)
    """


def test_a_command_is_not_run_again_in_a_replay(tiny: Path, against: tuple[str, str]) -> None:
    """What it came to stands in the journal, and the verdicts are the same."""
    command = f'{{command: [{sys.executable}, approve.py, "{{origin}}", "{{customerId}}"]}}'
    http, back = PROFILE.index("        http:"), PROFILE.index("    setup:")
    profile = f"{PROFILE[:http]}        {command[1:-1]}\n{PROFILE[back:]}"
    write(tiny, {"profile.yaml": profile, "approve.py": APPROVE})
    given = (*TINY_SUITE, "-pno:xdist", "-pno:randomly", "scenarios")
    _, first = run(tiny, *given, against[0], "--profile=profile.yaml", "--report-dir=first")
    approved = (tiny / "approvals").read_text(encoding="utf-8")

    _, again = run(tiny, *given, "--replay=first", "--report-dir=again")

    verdicts = [
        {entry.id: entry.verdict for entry in assemble(tiny / name).requirements}
        for name in ("first", "again")
    ]
    assert approved.count("one") == 2, first
    assert (tiny / "approvals").read_text(encoding="utf-8") == approved
    assert verdicts[0] == verdicts[1], again
    assert RequirementVerdict.PASSED in verdicts[0].values(), first


def test_secrets_of_triggers_are_written_nowhere(tiny: Path, against: tuple[str, str]) -> None:
    """The header goes out with each worker's trigger; journal, report and output hide its value."""
    secret = "s3cr3t-of-the-admin-9f2c"
    header = 'headers: {X-Admin-Key: "key {admin_key}"}'
    profile = PROFILE.replace(
        "json: {decision: APPROVED}}", f"json: {{decision: APPROVED}}, {header}}}"
    )
    write(tiny, {"profile.yaml": f"{profile}secrets: {{admin_key: ADMIN_KEY}}\n"})

    _, output = run(
        tiny,
        *TINY_SUITE,
        *("-n1", against[0], "--profile=profile.yaml", "scenarios"),
        ADMIN_KEY=secret,
    )

    written = [path for path in (tiny / "reports").rglob("*") if path.is_file()]
    texts = [path.read_text(encoding="utf-8", errors="replace") for path in written]
    assert steps_of(tiny) == ["setup", "back", "back", "teardown"], output
    assert any('"x-admin-key": "key ***"' in text for text in texts)
    assert not any(secret in text for text in (output, *texts))


def test_a_secret_that_is_not_set_is_told(tiny: Path, against: tuple[str, str]) -> None:
    """Nothing is sent, and the message names the variable."""
    write(tiny, {"profile.yaml": f"{PROFILE}secrets: {{admin_key: ADMIN_KEY}}\n"})

    status, output = run(tiny, *TINY_SUITE, against[0], "--profile=profile.yaml", "scenarios")

    assert status == USAGE, output
    assert "secrets.admin_key of the profile is not set: export ADMIN_KEY" in output
