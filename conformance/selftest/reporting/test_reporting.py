"""The report: what it holds, and what a person sees of it."""

from __future__ import annotations

import io
import json
import re
import shlex
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from html import unescape
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.contract.catalogue import Catalogue, Level, Needs, Requirement, Source
from conformance.contract.difference import Difference, Kind
from conformance.exchange.folder import FolderError
from conformance.exchange.journal import Exchange
from conformance.reporting import html, report
from conformance.reporting.assemble import publish
from conformance.reporting.digest import duration, groups, headline
from conformance.reporting.files import put
from conformance.reporting.kills import (
    KINDS,
    FiguresError,
    Finding,
    read_kills,
    write_findings,
)
from conformance.reporting.report import Report, RunInfo, build
from conformance.reporting.terminal import summary
from conformance.verdict.decisions import NO_FACTS, Decision, Facts, Outcome, Reason
from conformance.verdict.gate import NO_TERMS, Terms
from conformance.verdict.plan import Accounting, Plan, RequirementVerdict, TargetVerdict

BASE_URL = "https://sandbox.acme.example/payments/2025-10-13"
SCHEMA = Path(report.__file__).with_name("report.schema.json")
MAX_CHARS = 1_000_000
MAX_LINES = 12
HOSTILE = "</pre><script>alert(1)</script>"

RUN = RunInfo(
    implementation="Acme Payments",
    implementation_version="4.2.1",
    base_url=BASE_URL,
    environment="sandbox",
    suite_version="0.1.0",
    started=datetime(2026, 3, 4, 2, 10, 55, tzinfo=UTC),
    ended=datetime(2026, 3, 4, 2, 14, 7, tzinfo=UTC),
    seconds=192.0,
    seed=42,
    workers=2,
    python="3.11.9",
    platform="Linux-x86_64",
    command="pytest --base-url=… --profile=acme.yaml",
    options={"--base-url": BASE_URL, "--profile": "my profiles/acme.yaml", "--quick": ""},
    features=("regulated",),
    triggers=("quote.expire",),
    requests=4711,
)


def make_requirement(
    identifier: str,
    *,
    level: Level = Level.MUST,
    area: str = "quotes",
    needs: Needs | None = None,
    untestable: str | None = None,
) -> Requirement:
    """Return a requirement with this id, whose statement names the id."""
    return Requirement(
        id=identifier,
        level=level,
        statement=f"The statement of {identifier} holds.",
        source=Source("Endpoints / Quotes", (386,)),
        operations=("executeQuote",),
        area=area,
        needs=needs or Needs(),
        untestable=untestable,
    )


REQUIREMENTS = (
    make_requirement("QUO-001"),
    make_requirement("QUO-002"),
    make_requirement("QUO-003", level=Level.SHOULD),
    make_requirement("QUO-004"),
    make_requirement("QUO-005", needs=Needs(triggers=("quote.expire", "payout.hold"))),
    make_requirement("QUO-006", needs=Needs(features=("sca",))),
    make_requirement("QUO-007", untestable="it is about the inside of the platform"),
    make_requirement("TRX-001", area="transactions"),
    make_requirement("TRX-002", area="transactions"),
)
TESTS = {entry.id: [f"scenarios/test_{entry.area}.py::test_{entry.id}"] for entry in REQUIREMENTS}

ADDRESSES = {
    test: f"conformance.{test.replace('/', '.').replace('.py::', '::')}"
    for tests in TESTS.values()
    for test in tests
}


def unmet(requirement: Requirement) -> tuple[Reason, str] | None:
    """Return why the profile of :data:`RUN` cannot exercise a requirement; ``None`` if it can."""
    if requirement.needs.features:
        return Reason.FEATURE_UNDECLARED, "features.sca"
    if requirement.needs.triggers:
        return Reason.TRIGGER_MISSING, "payout.hold"
    return None


PASSES = tuple(
    Decision(entry.id, Outcome.PASSED, TESTS[entry.id][0])
    for entry in REQUIREMENTS
    if unmet(entry) is None and entry.untestable is None
)


def exchange(number: int, body: Any = None) -> Exchange:
    """Return the exchange ``w-<number>``, in which a quote is executed."""
    return Exchange(
        id=f"w-{number}",
        test="t",
        operation="executeQuote",
        method="POST",
        url=f"{BASE_URL}/quotes/Quote:{number}/execute",
        request_headers={},
        request_body=None,
        status=200,
        response_headers={},
        response_body=body or {"id": f"Quote:{number}"},
        seconds=0.1,
    )


EXCHANGES = {f"w-{number}": exchange(number) for number in range(1, 60)}


def failure(
    identifier: str, detail: str, *exchanges: str, test: str = "", facts: Facts = NO_FACTS
) -> Decision:
    """Return the decision that a requirement failed."""
    node = test or TESTS[identifier][0]
    return Decision(identifier, Outcome.FAILED, node, None, detail, exchanges, facts)


def make_report(
    *decisions: Decision,
    exchanges: Mapping[str, Exchange] = EXCHANGES,
    measured: Path = Path("no such file"),
    by_kind: Path = Path("no such file"),
    observations: Mapping[str, int] | None = None,
    left_out: str = "",
    terms: Terms = NO_TERMS,
    **run: Any,
) -> Report:
    """Return the report of a run with these decisions, in which all other requirements passed.

    ``left_out`` is the id of a requirement whose tests the selection of the run leaves out.
    """
    selected = [test for name, tests in TESTS.items() if name != left_out for test in tests]
    plan = Plan(Catalogue({entry.id: entry for entry in REQUIREMENTS}), TESTS, selected, unmet)
    accounting = Accounting(plan, ended=set(selected))
    decided = {left_out, *(decision.requirement for decision in decisions)}
    accounting.add(decision for decision in PASSES if decision.requirement not in decided)
    accounting.add(decisions)
    return build(
        accounting.conclude(),
        plan,
        RUN.model_copy(update=run),
        exchanges,
        observations or {},
        addresses=ADDRESSES,
        terms=terms,
        measured=measured,
        by_kind=by_kind,
    )


BROKEN = (
    failure(
        "QUO-002",
        "expected a refusal with 400, got 200\nthe twin: 200",
        "w-1",
        "w-2",
        facts=Facts(expected="a refusal with 400", got="200", also="the twin: 200"),
    ),
    failure("QUO-003", "it is late", "w-3"),
    Decision(
        "TRX-001",
        Outcome.INCONCLUSIVE,
        TESTS["TRX-001"][0],
        Reason.TWIN_REFUSED,
        "the same request without the fault was refused as well",
        ("w-4",),
    ),
)

_ACCEPTED = Facts(difference=Difference(Kind.STATUS, "executeQuote", expected="400", got="200"))
SAME_CAUSE = tuple(
    failure(name, f"expected 400 for {name}, got 200", "w-1", facts=_ACCEPTED)
    for name in ("QUO-001", "QUO-002", "QUO-004")
)


def text_of(page: str) -> str:
    """Return the visible words of a page, separated by single spaces."""
    text = re.sub(r"<(style|script)>.*?</\1>|<[^>]+>", " ", page, flags=re.DOTALL)
    return " ".join(unescape(text).split())


@pytest.fixture
def print_summary(pytestconfig: pytest.Config) -> Any:
    """Return a function that returns the lines of the summary of a report."""

    def print_summary(result: Report, folder: Path | None = None) -> list[str]:
        file = io.StringIO()
        summary(result, pytest.TerminalReporter(pytestconfig, file), folder)
        return file.getvalue().splitlines()

    return print_summary


class TestReport:
    """``build`` makes the report of a run."""

    def test_committed_schema(self) -> None:
        """The committed JSON Schema is the one that the model generates."""
        committed = json.loads(SCHEMA.read_text(encoding="utf-8"))

        assert committed == Report.model_json_schema(), (
            f"{SCHEMA.name} is out of date; run payments-conformance generate, and raise "
            "Report.format if a reader of the old form would break"
        )

    def test_fits_its_schema(self) -> None:
        """A written report fits the committed schema, and reads back as it was."""
        result = make_report(*BROKEN, observations={"slow": 2})

        content = report.as_json(result)

        jsonschema_rs.validate(json.loads(SCHEMA.read_text(encoding="utf-8")), json.loads(content))
        assert Report.model_validate_json(content) == result

    def test_schema_is_closed(self) -> None:
        """The schema refuses an unknown member."""
        content = json.loads(make_report().model_dump_json())
        content["run"]["more"] = 1

        with pytest.raises(jsonschema_rs.ValidationError, match="more"):
            jsonschema_rs.validate(json.loads(SCHEMA.read_text(encoding="utf-8")), content)

    @pytest.mark.parametrize(
        ("decisions", "verdict"),
        [
            ((), TargetVerdict.CONFORMANT),
            (BROKEN, TargetVerdict.NOT_CONFORMANT),
            (BROKEN[1:2], TargetVerdict.CONFORMANT),
            (BROKEN[2:], TargetVerdict.INCONCLUSIVE),
        ],
        ids=["all passed", "MUST broken", "SHOULD broken", "one inconclusive"],
    )
    def test_verdict(self, decisions: tuple[Decision, ...], verdict: TargetVerdict) -> None:
        """The verdict on the target follows from the decisions."""
        assert make_report(*decisions).verdict is verdict

    def test_plan_accounts_for_every_rule(self) -> None:
        """Each requirement is decided, not decided with its reason, or untestable."""
        result = make_report(*BROKEN)

        assert result.plan.decided == ("QUO-001", "QUO-002", "QUO-003", "QUO-004", "TRX-002")
        assert [(item.id, item.reason) for item in result.plan.not_decided] == [
            ("QUO-005", Reason.TRIGGER_MISSING),
            ("QUO-006", Reason.FEATURE_UNDECLARED),
            ("TRX-001", Reason.TWIN_REFUSED),
        ]
        assert [entry.id for entry in result.of(RequirementVerdict.UNTESTABLE)] == ["QUO-007"]
        assert set(result.plan.to_decide) == {*result.plan.decided, "TRX-001"}
        assert result.plan.lost == ()

    def test_lost(self) -> None:
        """A requirement whose test has no end is lost, and makes the report inconclusive."""
        plan = Plan(Catalogue({"QUO-001": REQUIREMENTS[0]}), TESTS, TESTS["QUO-001"], unmet)

        result = build(Accounting(plan, ended=()).conclude(), plan, RUN, {}, {})

        assert result.plan.lost == ("QUO-001",)
        assert result.verdict is TargetVerdict.INCONCLUSIVE

    def test_counts(self) -> None:
        """Requirements are counted by area, level and verdict."""
        result = make_report(*BROKEN)

        assert result.counts["quotes"][Level.SHOULD] == {
            **dict.fromkeys(RequirementVerdict, 0),
            RequirementVerdict.WARNED: 1,
        }
        assert result.counts["transactions"][Level.MUST][RequirementVerdict.INCONCLUSIVE] == 1
        assert result.tally("quotes") == {
            RequirementVerdict.PASSED: 2,
            RequirementVerdict.FAILED: 1,
            RequirementVerdict.WARNED: 1,
            RequirementVerdict.INCONCLUSIVE: 0,
            RequirementVerdict.NOT_EXERCISED: 2,
            RequirementVerdict.UNTESTABLE: 1,
        }
        assert sum(result.tally().values()) == len(REQUIREMENTS)

    def test_evidence(self) -> None:
        """Evidence of a failure has message, exchanges, script and the command to run it again."""
        result = make_report(*BROKEN)

        (item,) = result.of(RequirementVerdict.FAILED)[0].evidence
        assert item.detail.startswith("expected a refusal with 400")
        assert f"[w-1] POST {BASE_URL}/quotes/Quote:1/execute" in item.transcript
        assert item.curl.startswith("#!/bin/sh")
        assert "/quotes/Quote:2/execute" in item.curl
        assert shlex.split(item.rerun) == [
            "pytest",
            "--pyargs",
            "conformance.scenarios.test_quotes::test_QUO-002",
            f"--base-url={BASE_URL}",
            "--profile=my profiles/acme.yaml",
            "--quick",
        ]

    def test_only_open_and_broken_rules_have_evidence(self) -> None:
        """Requirements that passed or were not exercised have no evidence."""
        result = make_report(*BROKEN)

        assert {entry.verdict for entry in result.requirements if entry.evidence} == {
            RequirementVerdict.FAILED,
            RequirementVerdict.WARNED,
            RequirementVerdict.INCONCLUSIVE,
        }

    def test_three_shortest(self) -> None:
        """The evidence of five failures is the three with the fewest exchanges.

        The message is that of the first of them.
        """
        chains = [("w-1",) * length for length in (5, 2, 4, 1, 3)]
        result = make_report(
            *(
                failure("QUO-001", f"after {len(chain)}", *chain, test=f"t{len(chain)}")
                for chain in chains
            )
        )

        (entry,) = result.of(RequirementVerdict.FAILED)
        assert [item.test for item in entry.evidence] == ["t1", "t2", "t3"]
        assert entry.detail == "after 1"
        assert entry.checks == {Outcome.FAILED: 5}

    def test_a_passed_check_beside_a_failed_one_is_counted(self) -> None:
        """A requirement that passes in one test and fails in another fails, with both counted."""
        result = make_report(PASSES[0], failure("QUO-001", "no", test="other"))

        (entry,) = result.of(RequirementVerdict.FAILED)
        assert entry.checks == {Outcome.PASSED: 1, Outcome.FAILED: 1}
        assert entry.tests == ("other", "scenarios/test_quotes.py::test_QUO-001")

    def test_long_transcripts_keep_their_end(self) -> None:
        """A long transcript shows the last exchanges and counts the earlier ones."""
        result = make_report(failure("QUO-001", "no", *EXCHANGES))

        (item,) = result.of(RequirementVerdict.FAILED)[0].evidence
        assert item.transcript.startswith(
            "(29 of the exchanges w-1 to w-59 are in the journal alone: earlier ones, and readings "
            "that a later one repeats)\n"
        )
        assert "[w-29]" not in item.transcript
        assert "[w-30]" in item.transcript
        assert "[w-59]" in item.transcript
        assert "/quotes/Quote:1/execute" in item.curl

    def test_a_long_transcript_shows_what_was_done_before_it_waited(self) -> None:
        """Of readings with the same answer the last one is shown, so that requests are not lost."""
        readings = [
            replace(
                exchange(number, {"status": "PENDING"}), method="GET", url=f"{BASE_URL}/{place}"
            )
            for number, place in enumerate(["quotes", "config"] * 30, start=2)
        ]
        chain = {one.id: one for one in (exchange(1), *readings)}
        result = make_report(failure("QUO-001", "no", *chain), exchanges=chain)

        (item,) = result.of(RequirementVerdict.FAILED)[0].evidence
        told = [line for line in item.transcript.splitlines() if line.startswith("[")]
        assert [line.partition("]")[0] for line in told] == ["[w-1", "[w-60", "[w-61"]
        assert item.transcript.startswith("(58 of the exchanges w-1 to w-61 are in the journal")

    def test_missing_exchanges_are_told(self) -> None:
        """The transcript counts exchanges that are not in the journal."""
        result = make_report(failure("QUO-001", "no", "w-1", "gone-1"))

        (item,) = result.of(RequirementVerdict.FAILED)[0].evidence
        assert item.transcript.startswith("(1 of 2 exchanges are not in the journal)\n[w-1] POST")

    def test_size_is_bounded(self) -> None:
        """A report of many long failures is bounded, and still names each requirement."""
        large = {name: exchange(1, {"id": "x" * 900}) for name in EXCHANGES}
        many = [
            failure(identifier, "y" * 100_000, *large, test=f"{identifier}-{number}")
            for identifier in ("QUO-001", "QUO-002", "QUO-004", "TRX-001")
            for number in range(300)
        ]

        result = make_report(*many, exchanges=large)

        failed = [entry.id for entry in result.of(RequirementVerdict.FAILED)]
        assert failed == ["QUO-001", "QUO-002", "QUO-004", "TRX-001"]
        assert len(result.model_dump_json()) < MAX_CHARS
        assert result.of(RequirementVerdict.FAILED)[0].detail.endswith("… (100000 characters)")

    def test_no_room_left(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Failures get the room first; other evidence says that the journal has its exchanges."""
        monkeypatch.setattr(report, "_ROOM", 1_000)
        unclear = Decision(
            "QUO-001", Outcome.INCONCLUSIVE, "t", Reason.HARNESS, "no", tuple(EXCHANGES)
        )

        result = make_report(unclear, BROKEN[0])

        assert "[w-1] POST" in result.of(RequirementVerdict.FAILED)[0].evidence[0].transcript
        (item,) = result.of(RequirementVerdict.INCONCLUSIVE)[0].evidence
        assert item.transcript == "(no room left in the report; the journal has w-1 to w-59)"
        assert item.curl == ""

    def test_what_no_test_came_to_takes_no_place(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A requirement that no test came to takes no room from other inconclusive ones."""
        monkeypatch.setattr(report, "_MAX_INCONCLUSIVE", 1)

        result = make_report(*BROKEN, left_out="QUO-001")

        first, second = result.of(RequirementVerdict.INCONCLUSIVE)
        assert (first.id, first.evidence) == ("QUO-001", ())
        assert "[w-4] POST" in second.evidence[0].transcript

    def test_what_utf8_cannot_carry(self) -> None:
        """A lone surrogate and control characters of a target are shown as escapes."""
        nasty = "lone \ud800, red \x1b[31m, backwards \u202e"
        result = make_report(
            failure("QUO-001", nasty, "w-1"),
            exchanges={"w-1": exchange(1, {"text": nasty})},
            observations={nasty: 1},
        )

        content = json.loads(report.as_json(result))
        entry = content["requirements"][0]
        escaped = r"lone \ud800, red \x1b[31m, backwards \u202e"
        assert entry["detail"] == escaped
        assert r"lone \ud800" in entry["evidence"][0]["transcript"]
        assert content["observations"] == [{"text": escaped, "count": 1}]

    def test_missing_triggers_and_features(self) -> None:
        """A requirement that is not exercised names the one trigger or feature that is missing."""
        result = make_report()

        trigger, feature = result.of(RequirementVerdict.NOT_EXERCISED)
        assert trigger.missing == ("payout.hold",)
        assert feature.missing == ("sca",)

    def test_missing_beyond_the_catalogue(self) -> None:
        """A trigger that a check needed, and its entry does not name, is named too."""
        result = make_report(
            Decision(
                "QUO-001",
                Outcome.NOT_EXERCISED,
                "t",
                Reason.TRIGGER_MISSING,
                "the profile does not map the trigger rate.stale",
                facts=Facts(missing=("rate.stale",)),
            )
        )

        assert result.of(RequirementVerdict.NOT_EXERCISED)[0].missing == ("rate.stale",)

    def test_mutants(self, tmp_path: Path) -> None:
        """Each requirement has the figures of its mutants, or ``None`` where none were measured."""
        measured = tmp_path / "measured.txt"
        measured.write_text("QUO-001 1/2\nQUO-002 1/1\n", encoding="utf-8")

        result = make_report(measured=measured)

        figures = {entry.id: entry.mutants for entry in result.requirements}
        assert figures["QUO-001"] == report.MutantFigures(killed=1, total=2)
        assert figures["QUO-002"] == report.MutantFigures(killed=1, total=1)
        assert figures["QUO-003"] is None

    def test_what_each_kind_of_tests_finds_is_told(self, tmp_path: Path) -> None:
        """The report has the figures of the sample by kind; nothing where none are kept."""
        by_kind = tmp_path / "by_kind.csv"
        assert make_report(by_kind=by_kind).kinds == ()
        findings = [Finding("QUO-001/x", kind, ("QUO-001",)) for kind in KINDS]
        write_findings(findings, "--sample 1 --seed 1", by_kind)

        told = make_report(by_kind=by_kind).kinds

        assert [one.kind for one in told] == [*KINDS]
        assert {(one.found, one.met, one.total) for one in told} == {(1, 1, 1)}

    @pytest.mark.parametrize("line", ["QUO-001", "QUO-001 1", "QUO-001 1/x", "QUO-001 -1/2"])
    def test_figures_are_two_numbers(self, tmp_path: Path, line: str) -> None:
        """A line without two numbers raises FiguresError with file and line."""
        file = tmp_path / "measured.txt"
        file.write_text(f"QUO-000 1/1\n{line}\n", encoding="utf-8")

        with pytest.raises(FiguresError, match=rf"^measured\.txt:2: .* got {line}$"):
            read_kills(file)

    def test_most_frequent_observation_first(self) -> None:
        """Observations are sorted by their number, and then by text."""
        result = make_report(observations={"b": 1, "a": 1, "c": 7})

        assert [(item.text, item.count) for item in result.observations] == [
            ("c", 7),
            ("a", 1),
            ("b", 1),
        ]


class TestDigest:
    """Texts that the page and the terminal share."""

    @pytest.mark.parametrize(
        ("decisions", "sentence"),
        [
            (
                BROKEN,
                (
                    "Acme Payments 4.2.1 is not conformant: it breaks 1 requirement of the 5 "
                    "decided, for 1 cause."
                ),
            ),
            (
                BROKEN[1:2],
                (
                    "Acme Payments 4.2.1 is conformant, 85 % exercised: none of the 6 decided "
                    "requirements is broken; 1 recommendation not followed; 2 more not exercised."
                ),
            ),
            (
                BROKEN[2:],
                (
                    "No verdict on Acme Payments 4.2.1: of the 5 decided requirements none is "
                    "broken, but 1 more could not be decided."
                ),
            ),
        ],
        ids=["not conformant", "conformant", "inconclusive"],
    )
    def test_headline(self, decisions: tuple[Decision, ...], sentence: str) -> None:
        """The headline states the verdict in one sentence with its numbers."""
        assert headline(make_report(*decisions)) == sentence

    def test_headline_of_nothing(self) -> None:
        """The headline of a run that decided nothing says so."""
        nothing = build([], Plan(Catalogue({}), {}, [], unmet), RUN, {}, {})

        assert headline(nothing).startswith("Nothing was decided about Acme Payments 4.2.1")

    def test_headline_counts_causes(self) -> None:
        """Three requirements that fail for one cause are told as such, with the cause as data."""
        result = make_report(*SAME_CAUSE)

        assert headline(result).endswith("it breaks 3 requirements of the 6 decided, for 1 cause.")
        (cause,) = result.causes
        assert cause.requirements == ("QUO-001", "QUO-002", "QUO-004")
        assert (cause.kind, cause.operation, cause.expected, cause.got) == (
            Kind.STATUS,
            "executeQuote",
            "400",
            "200",
        )

    def test_groups(self) -> None:
        """Open requirements are grouped by reason and by what is missing, with advice."""
        trigger, feature = groups(make_report(*BROKEN), RequirementVerdict.NOT_EXERCISED)

        assert trigger.advice == "Map the trigger payout.hold in the profile to exercise this one."
        assert feature.advice.startswith("Declare sca under features in the profile")
        assert [entry.id for entry in trigger.entries] == ["QUO-005"]

    @pytest.mark.parametrize("reason", Reason)
    def test_each_reason_has_advice(self, reason: Reason) -> None:
        """Each reason for no verdict has a complete sentence of advice."""
        decision = Decision("QUO-001", Outcome.INCONCLUSIVE, "t", reason, "")

        (group,) = groups(make_report(decision), RequirementVerdict.INCONCLUSIVE)

        assert group.reason is reason
        assert group.advice.endswith(".")
        assert "{" not in group.advice

    @pytest.mark.parametrize(
        ("seconds", "words"),
        [(0.04, "0.0 s"), (4.21, "4.2 s"), (192.4, "3 min 12 s"), (7500, "2 h 5 min")],
    )
    def test_duration(self, seconds: float, words: str) -> None:
        """A duration is written in units that fit its length."""
        assert duration(seconds) == words


class TestPage:
    """``report.html``."""

    def test_order(self) -> None:
        """The verdict comes first, then failures, open requirements, all of them, the run."""
        words = text_of(html.render(make_report(*BROKEN)))

        places = [
            words.index(heading)
            for heading in (
                "is not conformant: it breaks 1 requirement",
                "Failures (1)",
                "Recommendations not followed (1)",
                "Inconclusive (1)",
                "Not exercised (2)",
                "All requirements (9)",
                "The run Implementation",
            )
        ]
        assert places == sorted(places)

    def test_target_and_time(self) -> None:
        """The page names base URL and environment, and when the run ended and how long it took."""
        words = text_of(html.render(make_report()))

        assert (
            f"Target {BASE_URL} (sandbox), tested until 2026-03-04 02:14:07 UTC, in 3 min 12 s."
        ) in words

    def test_failure(self) -> None:
        """A failure shows requirement, source, expectation, result, transcript, commands."""
        words = text_of(html.render(make_report(*BROKEN)))

        assert "QUO-002 MUST The statement of QUO-002 holds." in words
        assert "Specification 2025-10-13: Endpoints / Quotes, line 386" in words
        assert "Expected a refusal with 400 Got 200 Also the twin: 200" in words
        rerun = "pytest --pyargs conformance.scenarios.test_quotes::test_QUO-002 --base-url="
        assert rerun in words
        assert f"[w-1] POST {BASE_URL}/quotes/Quote:1/execute" in words
        assert "#!/bin/sh" in words

    def test_one_cause(self) -> None:
        """A cause is a heading, with its first failure open and the others folded."""
        page = html.render(make_report(*SAME_CAUSE))

        words = text_of(page)
        assert words.count("executeQuote: answers 200, not 400") == 1
        assert "2 more for the same cause: QUO-002 QUO-004" in words
        assert all(page.count(f'id="about-{name}"') == 1 for name in ("QUO-001", "QUO-004"))

    def test_nothing_but_passes(self) -> None:
        """A section without entries is left out, with its link."""
        page = html.render(make_report())

        assert "Failures (" not in page
        assert "Inconclusive (" not in page
        assert 'href="#failed"' not in page

    def test_interrupted(self) -> None:
        """The page says that the run ended early, and why."""
        words = text_of(html.render(make_report(interrupted="Ctrl-C was pressed.")))

        assert "The run ended early: Ctrl-C was pressed." in words

    def test_hostile_target(self) -> None:
        """Markup that a target sends is shown as text."""
        result = make_report(
            failure("QUO-001", f"expected 1, got {HOSTILE}", "w-1"),
            exchanges={"w-1": exchange(1, {"id": HOSTILE})},
            observations={HOSTILE: 1},
            implementation=HOSTILE,
            command=HOSTILE,
        )

        page = html.render(result)

        assert HOSTILE not in page
        assert page.count("<script>") == 1
        assert HOSTILE in text_of(page)

    def test_loads_nothing(self) -> None:
        """The page refers to no other file, and its policy forbids to load any."""
        page = html.render(make_report(*BROKEN))

        assert not re.search(r"<(link|img|iframe)\b|\bsrc=|@import|url\(", page)
        assert "default-src 'none'" in page

    def test_links_lead_somewhere(self) -> None:
        """Each id of the page is unique, and each link leads to an id."""
        page = html.render(make_report(*BROKEN))

        ids = re.findall(r'\bid="([^"]+)"', page)
        assert len(ids) == len(set(ids))
        assert set(re.findall(r'href="#([^"]+)"', page)) <= set(ids)
        assert set(re.findall(r'aria-labelledby="([^"]+)"', page)) <= set(ids)

    def test_without_javascript(self) -> None:
        """Controls that need a script are hidden until it runs; all rows are in the page."""
        page = html.render(make_report(*BROKEN))

        assert re.search(r'<form class="filter"[^>]* hidden>', page)
        assert all(
            button.endswith(" hidden>") for button in re.findall(r"<button[^>]*class=[^>]*>", page)
        )
        assert [f'<tr id="{entry.id}"' in page for entry in REQUIREMENTS] == [True] * len(
            REQUIREMENTS
        )

    def test_not_by_colour_alone(self) -> None:
        """Each verdict is shown by a word and a symbol, not by colour alone."""
        words = text_of(html.render(make_report(*BROKEN)))

        for label in ("✓ passed", "✗ failed", "! warned", "? inconclusive", "○ not exercised"):
            assert label in words

    def test_proof_is_shown_where_measured(self, tmp_path: Path) -> None:
        """The column for figures of mutants is there only if figures were measured."""
        measured = tmp_path / "measured.txt"
        measured.write_text("QUO-001 1/1\n", encoding="utf-8")

        assert "Verdict Proof" in text_of(html.render(make_report(measured=measured)))
        assert "Proof" not in text_of(html.render(make_report()))

    def test_written(self, tmp_path: Path) -> None:
        """``publish`` writes the page beside the JSON report."""
        publish(make_report(), tmp_path)

        names = {path.name for path in tmp_path.iterdir()}
        assert names == {"report.json", "report.html", "statement.json"}
        page = (tmp_path / "report.html").read_text(encoding="utf-8")
        assert page.startswith("<!doctype html>")

    def test_nothing_of_others_is_overwritten(self, tmp_path: Path) -> None:
        """A foreign page stays as it is, and the JSON report is not written either."""
        (tmp_path / "report.html").write_text("<title>Sales</title>")

        with pytest.raises(FolderError, match=r"report\.html was not written by this suite"):
            publish(make_report(), tmp_path)

        assert (tmp_path / "report.html").read_text() == "<title>Sales</title>"
        assert not (tmp_path / "report.json").exists()


class TestTerminal:
    """``summary`` prints the report to the terminal."""

    def test_failure(self, print_summary: Any) -> None:
        """A failure is one line with its cause, one with the requirement, one with its test."""
        lines = print_summary(make_report(*BROKEN))

        at = lines.index("FAILED expected a refusal with 400, got 200")
        assert lines[at + 1] == (
            "    QUO-002 The statement of QUO-002 holds. (Endpoints / Quotes, line 386)"
        )
        assert lines[at + 2] == "    scenarios/test_quotes.py::test_QUO-002"
        assert lines[at + 3] == "WARNED it is late"

    def test_one_cause(self, print_summary: Any) -> None:
        """Failures with one cause are one finding, with all its requirements."""
        lines = print_summary(make_report(*SAME_CAUSE))

        at = lines.index("FAILED executeQuote: answers 200, not 400")
        assert lines[at + 1].startswith("    QUO-001 The statement of QUO-001 holds.")
        assert lines[at + 2] == "    also QUO-002, QUO-004"
        assert not any(line.startswith("FAILED") for line in lines[at + 1 :])

    def test_failures_stand_below_the_headline(self, print_summary: Any) -> None:
        """What has to be mended is read first, before all that is only counted."""
        lines = print_summary(make_report(*BROKEN))

        assert lines[1] == headline(make_report(*BROKEN))
        assert lines[2].startswith("FAILED ")

    def test_many_causes_take_two_lines_each(self, print_summary: Any) -> None:
        """Each of more causes than a few has two lines of at most 100 characters.

        The first tells what is required, the other one what came.
        """
        names = ["QUO-001", "QUO-002", "QUO-004", "QUO-005"]
        told = [failure(name, f"{name} is wrong, {'very ' * 40}much") for name in names]

        lines = print_summary(make_report(*told))

        for name, line, cause in zip(names, lines[2:10:2], lines[3:10:2], strict=True):
            assert line.startswith(f"FAILED {name}: The statement of {name} holds.")
            assert cause.startswith(f"    {name} is wrong, very")
            assert max(len(line), len(cause)) <= 100

    def test_table(self, print_summary: Any) -> None:
        """The table has a row of numbers for each area, and their sum."""
        rows = [line.split() for line in print_summary(make_report(*BROKEN))]

        assert ["Quotes", "2", "1", "1", "-", "2", "1"] in rows
        assert ["Transactions", "1", "-", "-", "1", "-", "-"] in rows
        assert ["total", "3", "1", "1", "1", "2", "1"] in rows

    def test_open(self, print_summary: Any) -> None:
        """Open requirements are listed by reason, with the missing triggers and features."""
        lines = print_summary(make_report(*BROKEN))

        assert (
            "1 inconclusive, the same request without the fault was refused as well: TRX-001"
            in lines
        )
        assert (
            "1 not exercised, the profile maps no way to bring it about: payout.hold (1)" in lines
        )
        assert "1 not exercised, the profile does not declare the feature: sca (1)" in lines

    def test_the_details_of_what_is_open(
        self, print_summary: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Where no key of the profile is missing, the most frequent details are told."""
        monkeypatch.setattr("conformance.reporting.terminal._MAX_DETAILS", 1)
        reason = Reason.RESOURCE_MISSING
        details = {"QUO-001": "no fee", "QUO-002": "no rate", "QUO-004": "no fee"}
        decisions = [
            Decision(name, Outcome.NOT_EXERCISED, TESTS[name][0], reason, f"{reason}: {detail}")
            for name, detail in details.items()
        ]

        lines = print_summary(make_report(*decisions))

        at = lines.index(f"3 not exercised, {reason}: QUO-001, QUO-002, QUO-004")
        assert lines[at + 1] == "      2 no fee"
        assert lines[at + 2] == "      1 for 1 other cause: see their detail in report.json"

    def test_where_the_reports_are(self, print_summary: Any) -> None:
        """The last line names the two written files."""
        lines = print_summary(make_report(), Path("out"))

        assert lines[-1] == "reports: out/report.html and out/report.json"

    def test_many_failures(self, print_summary: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        """The first failures are listed, and the others counted."""
        monkeypatch.setattr(
            "conformance.reporting.terminal._MAX_CAUSES", {RequirementVerdict.FAILED: 1}
        )
        lines = print_summary(make_report(failure("QUO-001", "no"), failure("QUO-002", "no")))

        assert "and 1 more cause (1 failed), see the report" in lines
        assert not any("QUO-002" in line for line in lines)

    def test_short_when_all_is_well(self, print_summary: Any) -> None:
        """The summary of a conformant run has 12 lines at most, the headline first."""
        lines = print_summary(make_report(), Path("out"))

        assert lines[1] == headline(make_report())
        assert len(lines) <= MAX_LINES

    def test_interrupted(self, print_summary: Any) -> None:
        """The summary says that the run ended early, and why."""
        assert "The run ended early: Ctrl-C" in print_summary(make_report(interrupted="Ctrl-C"))


class TestFiles:
    """``put`` replaces files."""

    def test_replaces(self, tmp_path: Path) -> None:
        """A new file takes the place of the old one, and no other file is left."""
        put({tmp_path / "a.json": "old"})

        put({tmp_path / "a.json": "new"})

        assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("a.json", "new")]

    def test_keeps_the_old_one(self, tmp_path: Path) -> None:
        """If one of the files cannot be written, all old files stay."""
        put({tmp_path / "a.json": "old"})

        with pytest.raises(UnicodeEncodeError):
            put({tmp_path / "a.json": "new", tmp_path / "b.html": "half \ud800"})

        assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("a.json", "old")]


TEXTS = st.text(st.characters(), max_size=40) | st.sampled_from(
    [
        "\ud800",
        "\x1b]0;x\x07",
        "\u202e",
        "</script><script>alert(1)</script>",
        "{{ 7 * 7 }}",
        "\x9b31m",
    ]
)
BODIES = st.recursive(
    TEXTS | st.integers() | st.booleans() | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=12,
)
HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


class TestAnyText:
    """Reports of any text that a target sends."""

    @settings(max_examples=60, derandomize=True, database=None)
    @given(TEXTS, BODIES, TEXTS)
    def test_a_report_can_be_made_of_it(self, detail: str, body: Any, observation: str) -> None:
        """Both files are complete and UTF-8, without markup and without control characters."""
        result = make_report(
            failure("QUO-001", detail, "w-1"),
            exchanges={"w-1": exchange(1, body)},
            observations={observation: 1},
        )

        content, page = report.as_json(result), html.render(result)

        assert Report.model_validate_json(content) == result
        for text in (content, page):
            assert text.encode()
            assert not HIDDEN.search(text)
        assert "<script>alert" not in page
        assert "49" not in re.findall(r"<title>(.*)</title>", page)[0]
