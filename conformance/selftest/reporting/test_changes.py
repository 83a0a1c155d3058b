"""``payments-conformance diff``: what changed between two reports."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from typer.testing import CliRunner

from conformance.cli.main import app
from conformance.reporting.changes import GROUPS, Changes, changes, headline
from conformance.reporting.markdown import escaped
from conformance.reporting.report import Report, as_json
from conformance.selftest.reporting.test_reporting import (
    BROKEN,
    HOSTILE,
    failure,
    make_report,
)
from conformance.verdict.decisions import Decision, Outcome, Reason

GOOD, OPEN = make_report(), make_report(*BROKEN[2:])


def ids(found: Changes) -> dict[str, list[str]]:
    """Return the ids of the changed requirements by group, without the empty ones."""
    groups = {name: [change.id for change in getattr(found, name)] for name in GROUPS}
    return {name: members for name, members in groups.items() if members}


@pytest.mark.parametrize(
    ("old", "new", "expected", "regression"),
    [
        pytest.param(GOOD, GOOD, {}, False, id="nothing"),
        pytest.param(
            GOOD,
            make_report(*BROKEN),
            {
                "new_failures": ["QUO-002"],
                "newly_undecided": ["TRX-001"],
                "new_warnings": ["QUO-003"],
            },
            True,
            id="worse",
        ),
        pytest.param(
            make_report(*BROKEN),
            GOOD,
            {"repaired": ["QUO-002"], "newly_decided": ["TRX-001"]},
            False,
            id="better",
        ),
        pytest.param(GOOD, OPEN, {"newly_undecided": ["TRX-001"]}, True, id="newly undecided"),
        pytest.param(
            make_report(failure("QUO-001", "no")),
            make_report(Decision("QUO-001", Outcome.INCONCLUSIVE, "t", Reason.TARGET_LOST, "gone")),
            {"newly_undecided": ["QUO-001"]},
            True,
            id="a failure that is no longer looked at",
        ),
        pytest.param(
            make_report(left_out="QUO-004"), GOOD, {}, False, id="left out of the old one"
        ),
        pytest.param(
            GOOD, make_report(left_out="QUO-004"), {}, False, id="left out of the new one"
        ),
    ],
)
def test_groups(
    old: Report, new: Report, expected: dict[str, list[str]], *, regression: bool
) -> None:
    """Requirements are grouped by how their verdict changed; failures and open ones count."""
    found = changes(old, new)

    assert ids(found) == expected
    assert found.regression is regression


def test_a_verdict_changed_by_hand_is_caught(tmp_path: Path) -> None:
    """A verdict that somebody turned from passed to failed ends in 1, and is named."""
    old, new = tmp_path / "old.json", tmp_path / "new.json"
    old.write_text(as_json(GOOD), encoding="utf-8")
    content = json.loads(as_json(GOOD))
    entry = next(each for each in content["requirements"] if each["id"] == "QUO-004")
    entry["verdict"] = "failed"
    new.write_text(json.dumps(content), encoding="utf-8")

    result = CliRunner().invoke(app, ["diff", str(old), str(new)])

    assert result.exit_code == 1
    assert result.output.startswith(
        "Regression from Acme Payments 4.2.1 to Acme Payments 4.2.1: 1 new failure; 0 repaired"
    )
    assert "QUO-004" in result.output


def test_classes_and_observations() -> None:
    """Changed verdicts of classes and observations that came or went are listed."""
    found = changes(
        make_report(observations={"slow": 3, "old": 1}),
        make_report(*BROKEN, observations={"slow": 9, "new": 1}),
    )

    (core,) = found.classes
    assert (core.name, core.was, core.now) == ("core", "conformant", "not conformant")
    assert (core.percent_was, core.percent_now) == (85, 71)
    assert (found.observations_new, found.observations_gone) == (("new",), ("old",))


def test_headline_of_no_regression() -> None:
    """What is better is told where nothing is worse."""
    assert headline(changes(make_report(*BROKEN), GOOD)) == (
        "No regression from Acme Payments 4.2.1 to Acme Payments 4.2.1: 1 repaired, "
        "1 newly decided."
    )


class TestFormats:
    """Text, JSON and Markdown, of files and of folders."""

    @pytest.fixture
    def folders(self, tmp_path: Path) -> list[str]:
        """Write two reports to folders of runs and return their paths."""
        hostile = failure("QUO-001", f"{HOSTILE} | [x](http://evil.example) @all", "w-1")
        for name, result in {"old": GOOD, "new": make_report(hostile)}.items():
            (tmp_path / name).mkdir()
            (tmp_path / name / "report.json").write_text(as_json(result), encoding="utf-8")
        return [str(tmp_path / "old"), str(tmp_path / "new")]

    def test_json(self, folders: list[str]) -> None:
        """The JSON is read back as what it was made of."""
        result = CliRunner().invoke(app, ["diff", *folders, "--format=json"])

        assert result.exit_code == 1
        assert ids(Changes.model_validate_json(result.output)) == {"new_failures": ["QUO-001"]}

    def test_markdown(self, folders: list[str]) -> None:
        """Read as Markdown it is a heading and a table, in which a target's text is but text."""
        result = CliRunner().invoke(app, ["diff", *folders, "--format=markdown"])

        tokens = MarkdownIt("gfm-like", {"linkify": False, "html": True}).parse(result.output)
        kinds = {child.type for token in tokens for child in token.children or ()}
        assert kinds <= {"text", "text_special"}
        assert not any(token.type.startswith("html") for token in tokens)
        shown = "".join(child.content for token in tokens for child in token.children or ())
        assert f"{HOSTILE} | [x](http://evil.example) @all" in shown
        assert sum(token.type == "tr_open" for token in tokens) == 4


@pytest.mark.parametrize("form", ["text", "markdown", "json"])
def test_nothing_steers_the_terminal(tmp_path: Path, form: str) -> None:
    """Control characters of a report that somebody made up are shown as escapes."""
    content = json.loads(as_json(make_report(failure("QUO-001", "no"))))
    content["requirements"][0]["detail"] = "red \x1b[31m"
    content["run"]["implementation"] = "Acme \x1b[2J"
    for name, text in {"old.json": as_json(GOOD), "new.json": json.dumps(content)}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")

    arguments = [str(tmp_path / "old.json"), str(tmp_path / "new.json"), f"--format={form}"]
    result = CliRunner().invoke(app, ["diff", *arguments])

    assert result.exit_code == 1
    assert "\x1b" not in result.output
    assert "red" in result.output


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "No such file"),
        ("{", "is no report of this suite: "),
        ("[]", "is no report of this suite: "),
        ('{"format": 2}', "is no report of this suite: format: Input should be 1"),
    ],
)
def test_unusable_input(tmp_path: Path, content: str | None, message: str) -> None:
    """What is no report ends with 2 and is named."""
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    good.write_text(as_json(GOOD), encoding="utf-8")
    if content is not None:
        bad.write_text(content, encoding="utf-8")

    result = CliRunner().invoke(app, ["diff", str(good), str(bad)])

    assert result.exit_code == 2
    assert f"{bad}" in result.output
    assert message in result.output


def test_escaped() -> None:
    """Nothing in an escaped text is markup, and it is one line."""
    assert escaped("a\n *b* | <c>") == r"a \*b\* \| \<c\>"
