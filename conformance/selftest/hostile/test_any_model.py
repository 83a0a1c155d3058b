"""Models and lost answers against targets that Hypothesis makes up: a verdict comes out."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings

from conformance.proof.host import SUITE
from conformance.reference.server import BackgroundServer
from conformance.selftest.hostile import runs
from conformance.selftest.hostile.mangled import FEW, MODELS, Mangled, targets, wrong
from conformance.selftest.hostile.runs import CLIENT_SECRET, TOKEN_ID


@pytest.fixture(autouse=True)
def _credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PAYMENTS_API_TOKEN_ID", TOKEN_ID)
    monkeypatch.setenv("PAYMENTS_API_CLIENT_SECRET", CLIENT_SECRET)
    monkeypatch.delenv("BASE_URL", raising=False)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty folder, which is the working directory."""
    place = tmp_path / "cwd"
    place.mkdir()
    monkeypatch.chdir(place)
    return place


# Each of them takes ten seconds.
@settings(FEW, max_examples=2)
@given(target=targets())
def test_models_end_with_a_verdict(
    upstream: BackgroundServer, folder: Path, target: Mangled
) -> None:
    """Walks, programs of several clients and lost answers end too."""
    modules = [str(SUITE / module) for module in MODELS]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runs, "ARGUMENTS", (*modules, *runs.ARGUMENTS[1:]))

        assert not wrong(target, upstream, folder, "--model-examples=1")
