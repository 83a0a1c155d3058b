"""A report in the formats of other tools, each read by its own schema or reader."""

from __future__ import annotations

import json
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from haralyzer import HarParser  # type: ignore[import-untyped]
from markdown_it import MarkdownIt
from typer.testing import CliRunner

from conformance.cli.main import app
from conformance.exchange.journal import Exchange
from conformance.proof.patch import Patch
from conformance.reference.quotes import quotes
from conformance.reporting.badges import badges
from conformance.reporting.har import as_har
from conformance.reporting.job_summary import VARIABLE, append_to_job, as_markdown
from conformance.reporting.report import as_json
from conformance.reporting.sarif import as_sarif
from conformance.selftest.exchange.test_transcript import needs_tools
from conformance.selftest.reporting.test_reporting import (
    BROKEN,
    HOSTILE,
    SAME_CAUSE,
    exchange,
    failure,
    make_report,
)
from conformance.selftest.runs import BROKEN as BROKEN_RUN
from conformance.selftest.runs import OPEN, Inside
from conformance.verdict.baseline import Baseline, KnownFailure
from conformance.verdict.gate import Terms

EXECUTION = """
    from conformance.scenarios.kit.marks import requirement

    @requirement("QUO-083")
    def test_execution(platform):
        answer = platform.api.execute_quote(platform.quotes.pending()["id"])
        assert answer.accepted, answer
    """
SARIF = Path(__file__).with_name("sarif-2.1.0.json")
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def validator() -> jsonschema_rs.Draft4Validator:
    """Return the validator of the schema of SARIF that OASIS publishes."""
    schema = json.loads(SARIF.read_text(encoding="utf-8"))
    return jsonschema_rs.Draft4Validator(schema, validate_formats=True)


@pytest.fixture
def patch() -> Iterator[Patch]:
    """Return what changes the reference until the test ends."""
    patching = Patch()
    yield patching
    patching.revert()


class TestSarif:
    """``as_sarif`` writes SARIF 2.1.0."""

    @pytest.mark.parametrize(
        "decisions",
        [(), BROKEN, SAME_CAUSE, (failure("QUO-001", HOSTILE),)],
        ids=["nothing broken", "broken", "one cause", "hostile"],
    )
    def test_it_fits_its_schema(
        self, validator: jsonschema_rs.Draft4Validator, decisions: Any
    ) -> None:
        """The log fits the schema, with a rule and a result for each broken requirement."""
        result = make_report(*decisions, interrupted=None)

        log = json.loads(as_sarif(result))

        validator.validate(log)
        (run,) = log["runs"]
        ids = [entry.id for entry in result.requirements if entry.verdict in ("failed", "warned")]
        assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ids
        assert [item["ruleId"] for item in run["results"]] == ids

    def test_results(self) -> None:
        """A result has its level, cause, line of the specification and operations."""
        (run,) = json.loads(as_sarif(make_report(*BROKEN)))["runs"]

        failed, warned = run["results"]
        assert (failed["level"], warned["level"]) == ("error", "warning")
        assert failed["message"]["text"].startswith("expected a refusal with 400, got 200")
        (location,) = failed["locations"]
        assert location["physicalLocation"]["region"] == {"startLine": 386}
        assert [one["name"] for one in location["logicalLocations"]] == ["executeQuote"]
        assert "baselineState" not in failed

    def test_known_failures_are_suppressed(self, validator: jsonschema_rs.Draft4Validator) -> None:
        """A known failure is unchanged and suppressed with its reason; another one is new."""
        known = KnownFailure("QUO-001", "ticket 7", make_report().run.started.date(), 1)
        terms = Terms(baseline=Baseline("known.yaml", (known,)))

        log = json.loads(as_sarif(make_report(*SAME_CAUSE, terms=terms)))

        validator.validate(log)
        first, second, _ = log["runs"][0]["results"]
        assert first["baselineState"] == "unchanged"
        assert first["suppressions"] == [{"kind": "external", "justification": "ticket 7"}]
        assert second["baselineState"] == "new"


class TestHar:
    """``as_har`` writes HAR 1.2."""

    def test_it_is_read(self) -> None:
        """A reader of HAR finds each exchange, with its query, bodies, status and time."""
        posted = Exchange(
            id="w-1",
            test="t",
            operation="createQuote",
            method="POST",
            url="https://x.example/2025-10-13/quotes?a=1&b=%20",
            request_headers={"Content-Type": "application/json"},
            request_body={"amount": 1},
            status=201,
            response_headers={"content-type": "application/json"},
            response_body={"id": "Quote:ü"},
            seconds=0.25,
            at=1_772_590_255.5,
        )

        parser = HarParser(json.loads("".join(as_har([posted, exchange(2)]))))

        assert parser.har_data["creator"]["name"] == "payments-conformance"
        # The reader sorts them by time, and the second one is of the epoch.
        second, first = (entry.raw_entry for page in parser.pages for entry in page.entries)
        assert first["startedDateTime"] == "2026-03-04T02:10:55.250Z"
        assert first["time"] == 250
        assert first["comment"] == "w-1 createQuote, t"
        assert first["request"]["queryString"] == [
            {"name": "a", "value": "1"},
            {"name": "b", "value": " "},
        ]
        assert first["request"]["postData"]["text"] == '{"amount": 1}'
        assert first["response"]["statusText"] == "Created"
        assert first["response"]["content"]["text"] == '{"id": "Quote:ü"}'
        assert "postData" not in second["request"]

    def test_no_answer(self) -> None:
        """A request that nothing came to has status 0 and says why."""
        lost = Exchange("w-1", "t", "x", "GET", "http://x", {}, None, 0, {}, None, 1.0, "reset")

        (entry,) = json.loads("".join(as_har([lost])))["log"]["entries"]

        assert (entry["response"]["status"], entry["response"]["statusText"]) == (0, "reset")


class TestMarkdown:
    """``as_markdown`` writes the summary of a job."""

    @pytest.mark.parametrize("text", ["expected 1, got 2", HOSTILE, "| a | [x](http://x) `y`"])
    def test_it_is_read(self, text: str) -> None:
        """It has headings and tables, and nothing that a target sends is markup."""
        result = make_report(failure("QUO-001", text), *BROKEN[1:], interrupted="Ctrl-C")

        tokens = MarkdownIt("gfm-like", {"linkify": False, "html": True}).parse(as_markdown(result))

        assert not any(token.type.startswith("html") for token in tokens)
        children = [child for token in tokens for child in token.children or ()]
        assert {child.type for child in children} <= {
            "text",
            "text_special",
            "strong_open",
            "strong_close",
        }
        assert text in "".join(child.content for child in children)
        headings = [
            tokens[number + 1].content
            for number, token in enumerate(tokens)
            if token.type == "heading_open"
        ]
        assert headings[0].startswith("Acme Payments 4\\.2\\.1 is not") or "is not" in headings[0]
        assert headings[1:] == [
            "Conformance classes",
            "2 causes of what is broken",
            "What was not decided",
        ]

    def test_it_is_appended(self, tmp_path: Path) -> None:
        """It goes behind what is in the file of the job, and nowhere where there is none."""
        file = tmp_path / "summary.md"
        file.write_text("before\n", encoding="utf-8")

        append_to_job(make_report(), {VARIABLE: str(file)})
        append_to_job(make_report(), {})

        text = file.read_text(encoding="utf-8")
        assert text.startswith("before\n## Acme Payments")


class TestBadges:
    """``badges`` makes an SVG image for each class and for the whole."""

    def test_they_are_images(self) -> None:
        """Each is an SVG image whose texts lie within it, with a text for those who cannot see."""
        made = badges(make_report(*BROKEN))

        assert {"whole.svg", "core.svg", "uma.svg"} <= made.keys()
        for image in made.values():
            root = ET.fromstring(image)
            assert root.tag == f"{SVG}svg"
            assert root.attrib["aria-label"] == root.findtext(f"{SVG}title")
            for text in root.iter(f"{SVG}text"):
                end = int(text.attrib["x"]) + int(text.attrib["textLength"])
                assert end < int(root.attrib["width"])

    def test_what_they_say(self) -> None:
        """A badge names its class, and says verdict and share, or that it is not claimed."""
        made = badges(make_report())
        told = {name: ET.fromstring(image).attrib["aria-label"] for name, image in made.items()}

        assert told["core.svg"] == "payments: Core: conformant, 85 % exercised"
        assert told["uma.svg"] == "payments: UMA: not claimed"
        assert told["whole.svg"] == "payments: Whole: conformant, 85 % exercised"


class TestCommand:
    """``payments-conformance export``."""

    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        """Write a report to the folder of a run and return it."""
        (tmp_path / "report.json").write_text(as_json(make_report(*BROKEN)), encoding="utf-8")
        return tmp_path

    def test_files(self, folder: Path) -> None:
        """SARIF goes to the file, badges to the folder, Markdown to the output without one."""
        runner = CliRunner()

        sarif = runner.invoke(
            app, ["export", "sarif", str(folder), "--output", str(folder / "a.sarif")]
        )
        badge = runner.invoke(
            app, ["export", "badges", str(folder), "--output", str(folder / "badges")]
        )
        summary = runner.invoke(app, ["export", "markdown", str(folder)])

        assert (sarif.exit_code, badge.exit_code, summary.exit_code) == (0, 0, 0)
        assert json.loads((folder / "a.sarif").read_text())["version"] == "2.1.0"
        assert (folder / "badges" / "core.svg").is_file()
        assert summary.output.startswith("## Acme Payments")

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["har"], "holds no journal of a run"),
            (["sarif", "--output=/nowhere/at/all"], "/nowhere/at/all: No such file"),
            (["badges"], "give a folder with --output"),
            (["python"], "give --requirement"),
            (["curl", "--requirement=QUO-999"], "holds no journal of a run"),
        ],
    )
    def test_what_cannot_be_written(self, folder: Path, arguments: list[str], message: str) -> None:
        """It ends with 2 and says why."""
        form, *others = arguments
        result = CliRunner().invoke(app, ["export", form, str(folder), *others])

        assert result.exit_code == 2
        assert message in " ".join(result.output.split())

    @needs_tools
    def test_scripts_show_a_failure_again(
        self, inside: Inside, against: tuple[str, str], patch: Patch
    ) -> None:
        """Either script gets the wrong answer of a mutant again, and the right one once mended."""
        patch.replace(quotes, "has_funds", lambda *_: False)
        status, output = inside(EXECUTION, *against)
        assert status == BROKEN_RUN, output
        folder = str(inside.folder / "reports" / "latest")

        def last_line(form: str, *program: str) -> str:
            made = CliRunner().invoke(app, ["export", form, folder, "--requirement=QUO-083"])
            assert made.exit_code == 0, made.output
            done = subprocess.run(
                program, input=made.output, capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, done.stderr
            return done.stdout.strip().splitlines()[-1]

        programs = {"curl": ("sh", "-eu"), "python": (sys.executable, "-")}
        broken = [last_line(form, *program) for form, program in programs.items()]
        patch.revert()
        mended = [last_line(form, *program) for form, program in programs.items()]

        assert ['"code":' in line for line in broken] == [True, True], broken
        assert ['"status":"PROCESSING"' in line for line in mended] == [True, True], mended

    def test_the_requests_of_a_run(self, inside: Inside, against: tuple[str, str]) -> None:
        """The archive has the requests of a run, or those of one requirement, without secrets."""
        status, _ = inside(
            """
            from conformance.scenarios.kit.marks import requirement

            @requirement("QUO-083")
            def test_first(platform):
                assert platform.api.get_config().accepted

            @requirement("QUO-110")
            def test_second(platform):
                assert platform.api.get_config().accepted
                assert platform.api.get_config().accepted
            """,
            *against,
        )
        assert status == OPEN
        folder = str(inside.folder / "reports" / "latest")

        def entries(*arguments: str) -> list[Any]:
            result = CliRunner().invoke(app, ["export", "har", folder, *arguments])
            assert result.exit_code == 0, result.output
            found: list[Any] = json.loads(result.output)["log"]["entries"]
            return found

        whole, part = entries(), entries("--requirement=QUO-110")
        assert sum("test_first" in entry["comment"] for entry in whole) == 1
        assert [("test_second" in entry["comment"]) for entry in part] == [True, True]
        sent = {h["name"].lower(): h["value"] for h in part[0]["request"]["headers"]}
        assert "***" in sent["authorization"]
