"""Steps of the profile around a run and its tests."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from conformance.reference.server import BackgroundServer
from conformance.reporting.assemble import assemble
from conformance.selftest.conftest import CLIENT_SECRET, TOKEN_ID
from conformance.selftest.runs import (
    TINY,
    TINY_SUITE,
    USAGE,
    read_report,
    run,
    run_within,
    write,
)
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


SECRET = "s3cr3t-of-the-admin-9f2c"


@pytest.fixture(scope="module")
def with_secret(
    reference: BackgroundServer, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, str]:
    """Run the tiny suite with two workers, whose triggers send a secret; return folder, output.

    They are workers of ``--tx``, which may be those of other machines.
    """
    header = 'headers: {X-Admin-Key: "key {admin_key}"}'
    profile = PROFILE.replace(
        "json: {decision: APPROVED}}", f"json: {{decision: APPROVED}}, {header}}}"
    )
    content = f"{profile}secrets: {{admin_key: ADMIN_KEY}}\n"
    folder = write(
        tmp_path_factory.mktemp("steps"),
        {**TINY, "pytest.ini": "[pytest]\n", "profile.yaml": content},
    )
    _, output = run(
        folder,
        *(*TINY_SUITE, "--dist=load", "--tx=2*popen", "scenarios"),
        *(f"--base-url={reference.base_url}", "--profile=profile.yaml"),
        PAYMENTS_API_TOKEN_ID=TOKEN_ID,
        PAYMENTS_API_CLIENT_SECRET=CLIENT_SECRET,
        ADMIN_KEY=SECRET,
    )
    return folder, output


def test_they_are_carried_out_once_a_run(with_secret: tuple[Path, str]) -> None:
    """With two workers too, `setup` comes first, `teardown` last, and `back` with each test."""
    folder, output = with_secret

    steps = (folder / "steps").read_text(encoding="utf-8").split()
    assert steps == ["setup", "back", "back", "teardown"], output


def test_workers_of_any_kind_share_a_run(with_secret: tuple[Path, str]) -> None:
    """``--tx`` spreads a run as ``-n`` does, and it decides as much."""
    folder, output = with_secret

    report = read_report(folder)
    assert report.run.workers == 2
    assert {entry.id: entry.verdict for entry in report.requirements} == {
        "QUO-083": RequirementVerdict.PASSED,
        "QUO-084": RequirementVerdict.PASSED,
        "QUO-015": RequirementVerdict.WARNED,
    }, output


def test_a_setup_that_fails_is_a_mistake_of_the_configuration(
    tiny_within: Path, against: tuple[str, str]
) -> None:
    """Nothing is collected, and the message names the step."""
    profile = PROFILE.replace("echo setup >> steps", "exit 3")
    write(tiny_within, {"profile.yaml": profile})

    status, output = run_within(tiny_within, against[0], "--profile=profile.yaml", "scenarios")

    assert status == USAGE, output
    assert "setup.0: /bin/sh ended with 3" in output


def test_a_teardown_that_fails_is_told(tiny_within: Path, against: tuple[str, str]) -> None:
    """It decides nothing, and the terminal says which step it was."""
    write(tiny_within, {"profile.yaml": PROFILE.replace("echo teardown >> steps", "exit 3")})

    _, output = run_within(tiny_within, against[0], "--profile=profile.yaml", "scenarios")

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


@pytest.mark.slow
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


def test_secrets_of_triggers_are_written_nowhere(with_secret: tuple[Path, str]) -> None:
    """The header goes out with each worker's trigger; journal, report and output hide its value."""
    folder, output = with_secret

    written = [path for path in (folder / "reports").rglob("*") if path.is_file()]
    texts = [path.read_text(encoding="utf-8", errors="replace") for path in written]
    assert any('"x-admin-key": "key ***"' in text for text in texts)
    assert not any(SECRET in text for text in (output, *texts))


def test_a_secret_that_is_not_set_is_told(tiny_within: Path, against: tuple[str, str]) -> None:
    """Nothing is sent, and the message names the variable."""
    write(tiny_within, {"profile.yaml": f"{PROFILE}secrets: {{admin_key: ADMIN_KEY}}\n"})

    status, output = run_within(tiny_within, against[0], "--profile=profile.yaml", "scenarios")

    assert status == USAGE, output
    assert "secrets.admin_key of the profile is not set: export ADMIN_KEY" in output
