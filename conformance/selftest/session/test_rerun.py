"""The command of the report that runs a test again: pytest takes it, and the same is sent."""

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
from conformance.selftest.standins import StandIn, answers

PROFILE = "my profile.yaml"
REPORT = Path("report")


def run(folder: Path, *words: str, path: Path = ROOT) -> str:
    """Run pytest in a folder, with the package that is found on ``path``; return its output."""
    done = subprocess.run(
        [
            *(sys.executable, "-P", "-m", "pytest", "-pno:cacheprovider", "-pno:randomly"),
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
    return done.stdout + done.stderr


def commands(folder: Path) -> dict[str, str]:
    """Return the command to run each test again that the report shows, by its node id."""
    report = json.loads((folder / REPORT / "report.json").read_text(encoding="utf-8"))
    shown = [item for entry in report["requirements"] for item in entry["evidence"]]
    return {item["test"]: item["rerun"] for item in shown}


def sent(folder: Path, test: str) -> list[Any]:
    """Return the method, the URL and the body of each request of a test."""
    journal = folder / REPORT / "journal/main.jsonl"
    entries = map(json.loads, journal.read_text(encoding="utf-8").splitlines())
    return [
        (entry["method"], entry["url"], entry["request_body"])
        for entry in entries
        if entry["kind"] == "exchange" and entry["test"].endswith(test)
    ]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty folder but for a profile."""
    profile = "implementation: {name: stand-in}\nenvironment: sandbox\n"
    (tmp_path / PROFILE).write_text(profile, encoding="utf-8")
    return tmp_path


LIMITS = "scenarios/protocol/test_limits.py"


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
    """However the tests were asked for, from a wheel and from a checkout."""
    package = wheel if installed else ROOT / "conformance"
    with StandIn(answers(200, {})) as target:
        asked = [word.format(package=package) for word in words]
        options = [f"--base-url={target.base_url}", f"--profile={PROFILE}"]
        output = run(folder, *asked, *options, path=package.parent)
        printed = commands(folder)
        assert printed, output
        node, command = next(iter(printed.items()))
        test = node[node.index("::") :]
        first = sent(folder, test)

        program, *again = shlex.split(command)
        output = run(folder, *again, path=package.parent)

        assert program == "pytest"
        assert "collected 1 item" in output, output
        assert sent(folder, test) == first != []


def test_any_parameter_is_taken(folder: Path) -> None:
    """Of a test beside the suite too, which is named by its file."""
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
    given = ["-pours", "--import-mode=importlib"]
    with StandIn(answers(200, {})) as target:
        options = [f"--base-url={target.base_url}", f"--profile={PROFILE}"]
        output = run(folder, str(folder / "their suite.py"), *given, *options, path=folder)
    printed = commands(folder)
    assert len(printed) == len(names), output

    again = [shlex.split(command)[2] for command in printed.values()]
    output = run(folder, "--pyargs", *again, *given, "--collect-only", "-q", path=folder)

    assert set(printed) <= set(output.splitlines()), output
