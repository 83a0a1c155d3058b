"""The re-run command of the report: pytest takes it, and the same requests are sent."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

from conformance.selftest.collection import ROOT
from conformance.selftest.conftest import CLIENT_SECRET, TOKEN_ID
from conformance.selftest.runs import SPARING
from conformance.selftest.standins import StandIn, answers

PROFILE = "my profile.yaml"
REPORT = Path("report")


def run(folder: Path, *words: str, path: Path = ROOT) -> str:
    """Run pytest in a folder with the package on ``path``; return its output."""
    completed = subprocess.run(
        [
            *(sys.executable, "-P", "-m", "pytest", *SPARING, "-pno:randomly"),
            *(f"--report-dir={folder / REPORT}", *words),
        ],
        cwd=folder,
        env={
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(path),
            "PAYMENTS_API_TOKEN_ID": TOKEN_ID,
            "PAYMENTS_API_CLIENT_SECRET": CLIENT_SECRET,
        },
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return completed.stdout + completed.stderr


def commands(folder: Path) -> dict[str, str]:
    """Return the re-run command of each test in the evidence, by its node id."""
    report = json.loads((folder / REPORT / "report.json").read_text(encoding="utf-8"))
    evidence = [item for entry in report["requirements"] for item in entry["evidence"]]
    return {item["test"]: item["rerun"] for item in evidence}


def requests_of(folder: Path, test: str) -> list[Any]:
    """Return method, URL and body of each request of a test.

    The end-user terms are left out, which a run reads once.
    """
    journal = folder / REPORT / "journal/main.jsonl"
    entries = map(json.loads, journal.read_text(encoding="utf-8").splitlines())
    return [
        (entry["method"], entry["url"], entry["request_body"])
        for entry in entries
        if entry["kind"] == "exchange"
        and entry["test"].endswith(test)
        and entry["operation"] != "getEndUserTerms"
    ]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder that holds a profile alone."""
    profile = "implementation: {name: stand-in}\nenvironment: sandbox\n"
    (tmp_path / PROFILE).write_text(profile, encoding="utf-8")
    return tmp_path


LIMITS = "scenarios/protocol/test_limits.py"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("installed", "words"),
    [
        pytest.param(
            True, ["--pyargs", "conformance.scenarios.protocol.test_limits"], id="wheel-module"
        ),
        pytest.param(True, [f"{{package}}/{LIMITS}"], id="wheel-file"),
        pytest.param(False, [f"{{package}}/{LIMITS}", "--rootdir=/tmp"], id="checkout-other-root"),
    ],
)
def test_it_sends_the_same_again(
    folder: Path, wheel: Path, *, installed: bool, words: list[str]
) -> None:
    """The command repeats one test by module or by file, from a wheel and from a checkout."""
    package = wheel if installed else ROOT / "conformance"
    with StandIn(answers(200, {})) as target:
        arguments = [word.format(package=package) for word in words]
        options = [f"--base-url={target.base_url}", f"--profile={PROFILE}"]
        output = run(folder, *arguments, *options, path=package.parent)
        reruns = commands(folder)
        assert reruns, output
        node, command = next(iter(reruns.items()))
        test = node[node.index("::") :]
        first = requests_of(folder, test)

        program, *rerun_arguments = shlex.split(command)
        output = run(folder, *rerun_arguments, path=package.parent)

        assert program == "pytest"
        assert "collected 1 item" in output, output
        assert requests_of(folder, test) == first != []


@pytest.mark.slow
def test_any_parameter_is_taken(folder: Path) -> None:
    """The command names a test of a file beside the suite, whatever its parameter."""
    names = ["a b", "it's", '"', "$(x)", "a::b", "[1]", "a/b", "\\", "{c}"]
    code = f"""
        import pytest

        @pytest.mark.parametrize("name", [
            pytest.param(name, id=name, marks=pytest.mark.requirement(f"QUO-{{number:03}}"))
            for number, name in enumerate({names!r}, 1)
        ])
        def test_failing(platform, name):
            assert platform.api.call("getConfig").status == 400
        """
    (folder / "their suite.py").write_text(textwrap.dedent(code), encoding="utf-8")
    code = """
        import pathlib
        import conformance.plugin as plugin

        plugin._SUITE = (pathlib.Path(__file__).parent,)
        """
    (folder / "ours.py").write_text(textwrap.dedent(code), encoding="utf-8")
    plugin_options = ["-pours", "--import-mode=importlib"]
    with StandIn(answers(200, {})) as target:
        options = [f"--base-url={target.base_url}", f"--profile={PROFILE}"]
        output = run(folder, str(folder / "their suite.py"), *plugin_options, *options, path=folder)
    reruns = commands(folder)
    assert len(reruns) == len(names), output

    node_ids = [shlex.split(command)[2] for command in reruns.values()]
    output = run(
        folder, "--pyargs", *node_ids, *plugin_options, "--collect-only", "-q", path=folder
    )

    assert set(reruns) <= set(output.splitlines()), output
