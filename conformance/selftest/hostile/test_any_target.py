"""Whole runs against targets that Hypothesis makes up: a verdict comes out, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given

from conformance.reference.server import BackgroundServer
from conformance.selftest.hostile.mangled import FEW, Mangled, targets, wrong
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


@pytest.mark.slow
@FEW
@pytest.mark.usefixtures("few_requirements")
@given(target=targets())
def test_a_run_ends_with_a_verdict(
    upstream: BackgroundServer, folder: Path, target: Mangled
) -> None:
    """The few scenarios of the register end, whatever is mangled, in bounded time and memory."""
    assert not wrong(target, upstream, folder)
