"""The comparison with plain schemathesis: which mutants it draws, and what it needs."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.contract.catalogue import catalogue
from conformance.proof import plain
from conformance.proof.patch import MutantError
from conformance.proof.plain import sample
from conformance.reference.settings import Settings


def test_a_seed_draws_mutants_that_need_no_trigger() -> None:
    """The same seed draws the same; each has operations that generated requests can reach."""
    drawn = sample(5, 1)

    assert [mutant.id for mutant in drawn] == [mutant.id for mutant in sample(5, 1)]
    assert len(drawn) == 5
    for mutant in drawn:
        requirement = catalogue()[mutant.requirement]
        assert not requirement.needs.triggers
        assert requirement.operations


def test_what_is_not_installed_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the program the message names the extra that installs it."""
    monkeypatch.setattr("shutil.which", lambda *_, **__: None)
    settings = Settings(api_token_id="token", api_client_secret="secret")
    runner = plain._Plain(tmp_path, "http://127.0.0.1:9", settings, 1, 1)

    with pytest.raises(MutantError, match="install the extra `test`"):
        runner.run(["getConfig"])
