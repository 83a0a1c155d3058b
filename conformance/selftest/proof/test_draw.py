"""What is drawn by chance: seeds, shares of the tests, and what falls on a day."""

from __future__ import annotations

import time
from collections import Counter

import pytest
import typer
from typer.testing import CliRunner

from conformance.cli.main import app
from conformance.proof import personas
from conformance.proof.draw import Draw
from conformance.proof.personas import Judgement
from conformance.proof.second.persona import PERSONAS


def test_a_number_is_a_seed() -> None:
    """It says which share of the tests goes with it."""
    assert str(Draw.parse("7", 3)) == "seed 7, with share 2/3 of the tests"


def test_each_day_has_a_seed_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is the same all day long, and the next on the next day."""
    seeds = []
    for moment in (86_400.0 * 20_000, 86_400.0 * 20_001 - 1, 86_400.0 * 20_001):
        monkeypatch.setattr(time, "time", lambda moment=moment: moment)
        seeds.append(Draw.parse("today", 1).seed)

    assert seeds == [20_000, 20_000, 20_001]


@pytest.mark.parametrize("text", ["", "-1", "yesterday", "1.5"])
def test_anything_else_is_refused(text: str) -> None:
    """The message names the option and what it takes."""
    with pytest.raises(typer.BadParameter, match="--draw: expected a number or today"):
        Draw.parse(text, 1)


def test_successive_seeds_have_all_shares() -> None:
    """Each test belongs to the share of one of them."""
    shards = [Draw(seed, 3).shard for seed in (5, 6, 7)]

    assert {sum(shard.has(f"test_{number}") for shard in shards) for number in range(50)} == {1}


def test_successive_seeds_draw_all_personas(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two are judged with each seed, and in the end each with each share of the tests."""
    asked: Counter[tuple[str, str]] = Counter()

    def judged(persona: str, arguments: list[str], _reports: object) -> Judgement:
        asked.update((persona, one) for one in arguments if one.startswith("--shard"))
        return Judgement(1, (), 0.0)

    monkeypatch.setattr(personas, "judged", judged)

    for seed in range(2 * len(PERSONAS)):
        done = CliRunner().invoke(app, ["personas", f"--draw={seed}", "--shares=2"])
        assert done.exit_code == 0, done.output

    assert asked == {(name, f"--shard={part}/2"): 2 for name in PERSONAS for part in (1, 2)}
