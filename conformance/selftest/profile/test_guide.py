"""The worked examples of the guide to profiles, tried on the implementation that they are for."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from markdown_it import MarkdownIt
from typer.testing import CliRunner

from conformance.cli.main import app
from conformance.contract.data import FIXTURES
from conformance.profile.loading import read_profile
from conformance.proof.personas import running
from conformance.proof.planting import PROFILE

GUIDE = FIXTURES / "profiles" / "README.md"
HELPERS = ("external_account.approve", "payout.release", "rule_based.enable")
"""Triggers that the tests of the examples need beside them."""

UNTRIED = ("customer.reject", "factor_reset.expire")
"""Examples that the second implementation does not know, or that take a quarter of an hour."""


def blocks(heading: str) -> list[str]:
    """Return the YAML below a heading of the guide, to the next heading."""
    found: list[str] = []
    tokens = MarkdownIt("commonmark").parse(GUIDE.read_text(encoding="utf-8"))
    below = False
    for index, token in enumerate(tokens):
        if token.type == "heading_open":
            below = tokens[index + 1].content == heading
        elif below and token.type == "fence" and token.info == "yaml":
            found.append(token.content)
    return found


def all_blocks() -> list[str]:
    """Return all YAML of the guide."""
    tokens = MarkdownIt("commonmark").parse(GUIDE.read_text(encoding="utf-8"))
    return [token.content for token in tokens if token.type == "fence" and token.info == "yaml"]


@pytest.mark.parametrize("block", all_blocks(), ids=lambda block: block.split("\n", 1)[0])
def test_a_profile_takes_each_example(
    block: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Names and values of each block are valid beside the name of an implementation."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ca.pem").touch()
    content = {"implementation": {"name": "x"}, **yaml.safe_load(block)}
    if "{merchant}" in block:
        content.setdefault("setup", [])
    content.pop("tls", None)
    path = tmp_path / "profile.yaml"
    path.write_text(yaml.safe_dump(content), encoding="utf-8")

    assert read_profile(path).implementation.name


@pytest.mark.slow
def test_the_worked_examples_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each kind of trigger does what it says on the second implementation, as the guide says."""
    (block,) = blocks("Worked examples")
    second = yaml.safe_load(PROFILE.read_text(encoding="utf-8"))
    examples = yaml.safe_load(block)["triggers"]
    tried = {name: one for name, one in examples.items() if one is not None and name not in UNTRIED}
    helpers = {name: second["triggers"][name] for name in HELPERS}
    content = {
        **second,
        "features": {
            "platform": "unregulated",
            "direct_onboarding": True,
            "rule_based_accounts": True,
        },
        "triggers": {**helpers, **tried},
    }
    path = tmp_path / "profile.yaml"
    path.write_text(yaml.safe_dump(content), encoding="utf-8")

    with running("strict") as (base_url, environment):
        for name in ("PAYMENTS_API_TOKEN_ID", "PAYMENTS_API_CLIENT_SECRET"):
            monkeypatch.setenv(name, environment[name])
        words = ["doctor", f"--base-url={base_url}", f"--profile={path}", "--verbose"]
        output = CliRunner().invoke(app, words).output

    lines = output.splitlines()
    works = {
        line.split(":")[0].removeprefix("fine").strip() for line in lines if ": works: " in line
    }
    assert set(tried) <= works, output
