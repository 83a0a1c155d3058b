"""The files for CI: the inputs of the action are the options, and nothing of them is a command."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
import yaml

from conformance import plugin
from conformance.selftest.collection import ROOT

ACTION = ROOT / ".github" / "actions" / "conformance"
VARIABLES = (
    "BASE_URL_GIVEN",
    "PROFILE",
    "CLASSES",
    "REQUIRE_EXERCISED",
    "BASELINE",
    "RUN_SEED",
    "FUZZ_EXAMPLES",
    "MODEL_EXAMPLES",
    "FAILING_CASES",
    "BUDGET",
    "REPLAY",
    "SHARD",
    "OPTIONS",
)
BESIDE = {"base-url", "options", "python-version"}
"""Inputs that are no option of the suite's own plugin."""

PROGRAM = """#!/bin/sh
for word; do printf '%s\\n' "$word"; done >>"$RUNNER_TEMP/told"
echo end >>"$RUNNER_TEMP/told"
[ "$1" != run ] || exit 1
"""


def judge(folder: Path, **inputs: str) -> tuple[int, list[list[str]], str]:
    """Run the script of the action with a program that writes down what it is told.

    Returns:
        the exit status, the words of each call of the program, and the outputs of the step.
    """
    program = folder / "conformance" / "bin" / "payments-conformance"
    program.parent.mkdir(parents=True)
    program.write_text(PROGRAM, encoding="utf-8")
    program.chmod(0o755)
    given = {**dict.fromkeys(VARIABLES, ""), "REPORT_DIR": str(folder / "report"), **inputs}
    paths = {"RUNNER_TEMP": str(folder), "GITHUB_OUTPUT": str(folder / "outputs")}
    done = subprocess.run(
        ["bash", str(ACTION / "judge.sh")],
        env={**os.environ, **given, **paths},
        cwd=folder,
        check=False,
        timeout=30,
    )
    calls = (folder / "told").read_text(encoding="utf-8").split("end\n")
    words = [call.splitlines() for call in calls if call]
    return done.returncode, words, (folder / "outputs").read_text(encoding="utf-8")


def test_inputs_are_the_options() -> None:
    """Each option of the plugin is an input of the action, and each input is an option."""
    content = yaml.safe_load((ACTION / "action.yml").read_text(encoding="utf-8"))
    parser = pytest.Parser(_ispytest=True)
    plugin.pytest_addoption(parser)
    options = {
        name.removeprefix("--")
        for group in parser._groups
        for option in group.options
        for name in option.names()
    }

    assert set(content["inputs"]) - BESIDE == options


def test_inputs_reach_the_script_by_the_environment() -> None:
    """Every input of the run is a variable of its step, and stands in no script."""
    content = yaml.safe_load((ACTION / "action.yml").read_text(encoding="utf-8"))
    steps = content["runs"]["steps"]
    run = next(step for step in steps if step.get("id") == "run")

    assert set(run["env"]) == {*VARIABLES, "REPORT_DIR"}
    assert not [step for step in steps if "inputs." in step.get("run", "")]


def test_empty_inputs_are_left_out(tmp_path: Path) -> None:
    """Without inputs the reference is judged; the exit status is that of the run."""
    status, calls, outputs = judge(tmp_path)

    assert (status, calls) == (1, [["run", f"--report-dir={tmp_path}/report"]])
    assert outputs == "exit-status=1\n"


def test_inputs_are_words_of_their_own(tmp_path: Path) -> None:
    """Whatever an input holds, it is one word of the command, and never a command itself."""
    (tmp_path / "report").mkdir()
    (tmp_path / "report" / "report.json").write_text("{}", encoding="utf-8")

    _, calls, _ = judge(
        tmp_path,
        BASE_URL_GIVEN="https://x.example/2025-10-13",
        PROFILE='my "profile"; touch broken',
        CLASSES="core cards",
        OPTIONS="-n\n2\n-k expired and $(touch broken)\n",
    )

    assert calls[0] == [
        "run",
        f"--report-dir={tmp_path}/report",
        "--base-url=https://x.example/2025-10-13",
        '--profile=my "profile"; touch broken',
        "--class=core",
        "--class=cards",
        "-n",
        "2",
        "-k expired and $(touch broken)",
    ]
    assert [call[:2] for call in calls[1:]] == [["export", "annotations"], ["export", "sarif"]]
    assert not (tmp_path / "broken").exists()
