"""The shell completes what a command takes: ids, areas, features."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from conformance.cli.main import app
from conformance.contract.catalogue import catalogue


def completed(line: str, shell: str = "bash") -> list[str]:
    """Return what the shell is told for a command line whose last word is not complete yet."""
    variables = {
        "_PAYMENTS_CONFORMANCE_COMPLETE": f"complete_{shell}",
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
        "_TYPER_COMPLETE_ARGS": f"payments-conformance {line}",
        "COMP_WORDS": f"payments-conformance {line}",
        "COMP_CWORD": str(len(f"payments-conformance {line}".split(" ")) - 1),
    }
    done = CliRunner().invoke(app, prog_name="payments-conformance", env=variables)
    assert done.exit_code == 0, done.output
    return done.stdout.split()


@pytest.mark.parametrize(
    "line",
    [
        "explain QUO-03",
        "explain LIM-002 QUO-03",
        "export curl --requirement QUO-03",
        "mutants --only QUO-03",
    ],
)
def test_an_id_is_completed(line: str) -> None:
    """Wherever a requirement is named, the ids that begin as the word does are offered."""
    assert completed(line) == [name for name in catalogue() if name.startswith("QUO-03")]


def test_a_prefix_is_enough() -> None:
    """All ids of a subject are offered after its prefix, and none of another."""
    found = completed("explain QUO")

    assert "QUO-031" in found
    assert all(name.startswith("QUO-") for name in found)


def test_some_shells_say_what_an_id_means() -> None:
    """Beside an id stands its statement."""
    found = completed("explain QUO-031", shell="fish")

    assert found[0] == "QUO-031"
    assert " ".join(found[1:]).startswith(catalogue()["QUO-031"].statement[:20])


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("explain --area quo", ["quotes"]),
        ("features --only strong", []),
        ("features --only embedded", ["embedded_wallets"]),
        ("new rule FAM-9999", []),
        ("explain NOTHING", []),
    ],
)
def test_other_names_are_completed(line: str, expected: list[str]) -> None:
    """Areas and features are offered by their names; what nothing begins with has no choice."""
    assert completed(line) == expected


def test_a_new_id_is_one_that_nobody_has() -> None:
    """For a new requirement the next number of each prefix is offered."""
    (free,) = completed("new rule QUO")

    assert free not in catalogue()
    assert free > max(name for name in catalogue() if name.startswith("QUO-"))
