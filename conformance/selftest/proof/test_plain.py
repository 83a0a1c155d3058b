"""The comparison with plain schemathesis: which mutants it draws, what it needs, what is told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from conformance.cli.main import app
from conformance.contract.catalogue import catalogue
from conformance.proof import plain
from conformance.proof.compared import Comparison, Comparisons
from conformance.proof.mutation import load
from conformance.proof.patch import MutantError
from conformance.proof.plain import leading_to, sample
from conformance.reference.settings import Settings


def comparison(requests: int, *failures: str) -> Comparison:
    """Return what was found of some mutant."""
    return Comparison("LIM-002/late", "it is late", True, requests, failures, 1000)


@pytest.fixture
def runner(tmp_path: Path) -> plain._Plain:
    """What runs schemathesis, against nobody."""
    settings = Settings(api_token_id="token", api_client_secret="secret")
    return plain._Plain(tmp_path, "http://127.0.0.1:9", settings, 1)


def test_a_seed_draws_mutants_that_need_no_trigger() -> None:
    """The same seed draws the same; each has operations that generated requests can reach."""
    drawn = sample(5, 1)

    assert [mutant.id for mutant in drawn] == [mutant.id for mutant in sample(5, 1)]
    assert len(drawn) == 5
    for mutant in drawn:
        requirement = catalogue()[mutant.requirement]
        assert not requirement.needs.triggers
        assert requirement.operations


def test_it_asks_the_operations_from_which_links_lead_to_one() -> None:
    """A quote is executed after it was created, to an account that a customer created before."""
    wanted = {"createCustomer", "createExternalAccount", "createQuote", "executeQuote"}

    assert wanted <= set(leading_to(["executeQuote"]))
    assert leading_to(["getConfig"]) == ("getConfig",)


def test_it_thinks_of_more_examples_until_it_sends_as_many_requests(
    runner: plain._Plain, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It begins with the share of each operation, and ends where there is nothing more."""
    asked: list[int] = []

    def run(_self: Any, _operations: Any, examples: int) -> plain.Run:
        asked.append(examples)
        return plain.Run(frozenset(), min(examples, 50))

    monkeypatch.setattr(plain._Plain, "run", run)

    assert runner.run_as_often(["getConfig", "getCustomer"], 20)[1].requests == 40
    assert asked == [10, 40]
    assert runner.run_as_often(["getConfig"], 60)[0] >= plain._MAX_EXAMPLES


def test_what_is_not_installed_is_told(
    runner: plain._Plain, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the program the message names the extra that installs it."""
    monkeypatch.setattr("shutil.which", lambda *_, **__: None)

    with pytest.raises(MutantError, match="install the extra `test`"):
        runner.run(["getConfig"], 1)


def test_the_requests_of_the_tests_are_counted() -> None:
    """The tests of a limit send at least the requests at it, past it and without it."""
    assert plain._requests_of_tests({"LIM-002"})["LIM-002"] >= 3


def test_what_was_found_is_told_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file holds what was measured, and the last line sums it up."""
    kept = tmp_path / "kept.json"
    found = [comparison(4), comparison(5, "ServerError of GET /config")]
    monkeypatch.setattr(plain, "KEPT", kept)
    monkeypatch.setattr(plain, "compare", lambda *_: iter(found))

    result = CliRunner().invoke(app, ["mutants", "--plain", "--sample=2", "--figures"])

    assert result.exit_code == 0, result.output
    summary = result.output.splitlines()[-1]
    assert "the suite finds 2, by tests that send 9 requests" in summary
    assert "alone finds 1, with 2,000 requests" in summary
    assert Comparisons.read(kept).mutants == tuple(found)
    assert str(Comparisons.read(kept)) == summary


def test_figures_are_of_a_sample() -> None:
    """What is found of mutants that somebody chose is not kept."""
    result = CliRunner().invoke(app, ["mutants", "--plain", "--only=LIM-002", "--figures"])

    assert result.exit_code == 2
    assert "figures are of a sample" in result.output


def test_the_kept_figures_are_of_mutants_that_there_are() -> None:
    """Each mutant of the kept file is declared, and schemathesis had more requests for it."""
    kept = Comparisons.read()

    assert {one.mutant for one in kept.mutants} <= {mutant.id for mutant in load()}
    assert all(one.requests_of_schemathesis >= one.requests for one in kept.mutants)
