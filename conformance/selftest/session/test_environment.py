"""What a run leaves in the current folder, and what it takes from the environment."""

from __future__ import annotations

from pathlib import Path
from shutil import copyfile

import pytest
from typer.testing import CliRunner

from conformance.cli.main import app
from conformance.exchange.curl import curl_chain
from conformance.selftest.collection import ROOT
from conformance.selftest.exchange.test_transcript import BASE_URL, exchange
from conformance.selftest.runs import TINY_SUITE, run


@pytest.mark.slow
def test_no_folder_of_hypothesis_is_left_behind(tiny: Path, against: tuple[str, str]) -> None:
    """A test that generates data writes beside the report at most."""
    (tiny / "scenarios" / "test_generated.py").write_text(
        "from hypothesis import given, strategies\n\n\n"
        "@given(strategies.booleans())\n"
        "def test_generated(flag):\n    assert flag\n",
        encoding="utf-8",
    )

    _, output = run(tiny, *TINY_SUITE, *against, "-n1", "scenarios/test_generated.py")

    assert "1 failed" in output
    assert not (tiny / ".hypothesis").exists()


def test_tests_of_another_checkout_are_refused(tmp_path: Path) -> None:
    """The message has the folder of the tests, and the one that the suite is installed from."""
    folder = tmp_path / "conformance" / "scenarios"
    folder.mkdir(parents=True)
    copyfile(ROOT / "conformance" / "scenarios" / "conftest.py", folder / "conftest.py")

    status, output = run(tmp_path, "conformance/scenarios")

    assert status == pytest.ExitCode.USAGE_ERROR, output
    assert f"these tests are in {tmp_path}" in output
    assert f"the suite is installed from {ROOT};" in output


def test_scripts_use_the_variables_of_the_profile() -> None:
    """The names of the key `credentials` stand in the place of the usual ones."""
    script = curl_chain([exchange()], BASE_URL, ("ACME_ID", "ACME_SECRET"))

    assert "# Needs curl and jq, ACME_ID and ACME_SECRET.\n" in script
    assert 'call -u "$ACME_ID:$ACME_SECRET"' in script
    assert "PAYMENTS_API" not in script


@pytest.mark.parametrize(
    ("variables", "coloured"),
    [
        ({}, False),
        ({"FORCE_COLOR": "1"}, True),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        ({"PY_COLORS": "1", "NO_COLOR": "1"}, True),
        ({"PY_COLORS": "0", "FORCE_COLOR": "1"}, False),
    ],
)
def test_the_doctor_obeys_the_usual_variables_of_colour(
    variables: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    *,
    coloured: bool,
) -> None:
    """Without them the terminal decides, and this is none."""
    for name in ("PY_COLORS", "NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)

    words = ["doctor", "--base-url=http://127.0.0.1:9/x", "--profile=no-such-file"]
    output = CliRunner().invoke(app, words, env=variables).output

    assert ("\x1b[" in output) is coloured


@pytest.mark.parametrize(
    ("variables", "coloured"),
    [({"FORCE_COLOR": "1"}, True), ({"PY_COLORS": "0"}, False)],
)
def test_help_obeys_them_too(
    variables: dict[str, str], monkeypatch: pytest.MonkeyPatch, *, coloured: bool
) -> None:
    """What they say of colours holds for the help of each command."""
    for name in ("PY_COLORS", "NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("typer.rich_utils.FORCE_TERMINAL", None)

    output = CliRunner().invoke(app, ["doctor", "--help"], env=variables).output

    assert ("\x1b[" in output) is coloured
