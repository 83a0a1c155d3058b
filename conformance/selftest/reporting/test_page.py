"""The HTML report in a real browser: a large one opens, can be used, and shuts nobody out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conformance.contract.catalogue import catalogue
from conformance.contract.states import machines
from conformance.reporting import html
from conformance.reporting.report import Latency, Report, StateTime, TestTime, TimeSpent, build
from conformance.selftest.reporting.test_reporting import EXCHANGES, RUN
from conformance.verdict.decisions import Decision, Facts, Outcome, Reason
from conformance.verdict.plan import Accounting, Plan, RequirementVerdict

axe = pytest.importorskip("axe_playwright_python.sync_playwright")

FAILURES = 300
MAX_OPENING_SECONDS = 1.0
WIDTHS = (1280, 390)
SCHEMES = ("light", "dark")


def decision(number: int, name: str) -> Decision:
    """Return a decision on a requirement: one of nine failed."""
    test = f"scenarios/test_{name}.py::test_it"
    if number % 9 == 0:
        facts = Facts(expected="a refusal with 400", got="201")
        names = tuple(f"w-{1 + (number + i) % 59}" for i in range(6))
        detail = "expected a refusal with 400, got 201"
        return Decision(name, Outcome.FAILED, test, None, detail, names, facts)
    if number % 9 == 5:
        detail = "the deposit was refused"
        return Decision(name, Outcome.INCONCLUSIVE, test, Reason.PRECONDITION, detail, ("w-1",))
    return Decision(name, Outcome.PASSED, test)


def large_report() -> Report:
    """Return a report of the whole catalogue, of which more than 300 requirements failed."""
    names = [name for name, entry in catalogue().items() if entry.untestable is None]
    decisions = [decision(number, name) for number, name in enumerate(names)]
    tests = {one.requirement: [one.test] for one in decisions}
    plan = Plan(catalogue(), tests, [one.test for one in decisions], lambda _: None)
    accounting = Accounting(plan, ended={one.test for one in decisions})
    accounting.add(decisions)
    latency = Latency(
        operation="createQuote", answers=7, p50=0.01, p90=0.02, p99=0.0345, longest=1.5
    )
    state_time = StateTime(
        resource="external account",
        request="createExternalAccount",
        state="PENDING_OWNERSHIP_VERIFICATION",
        times=12_345,
        p50=0.01,
        p90=0.02,
        p99=0.0345,
        longest=86_400.0,
    )
    return build(
        accounting.conclude(),
        plan,
        RUN,
        EXCHANGES,
        {"slow": 2},
        latencies=(latency,),
        state_times=(state_time,),
        time=TimeSpent(
            tests=9.0,
            target=5.0,
            waiting=1.0,
            suite=3.0,
            slowest=(TestTime(test=f"{names[0]}::test_{'of_a_long_name_' * 6}", seconds=4.2),),
        ),
    )


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Write the large report; return its URL."""
    report = large_report()
    assert len(report.of(RequirementVerdict.FAILED)) >= FAILURES
    path: Path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(html.render(report), encoding="utf-8")
    return path.as_uri()


@pytest.fixture
def opened(browser: Any, address: str, request: pytest.FixtureRequest) -> Iterator[Any]:
    """Open the report; at the end, nothing may have been told on the console."""
    width, scheme = getattr(request, "param", (1280, "light"))
    told: list[str] = []
    context = browser.new_context(
        viewport={"width": width, "height": 900},
        color_scheme=scheme,
        permissions=["clipboard-read", "clipboard-write"],
    )
    page = context.new_page()
    page.on("console", lambda message: told.append(message.text))
    page.on("pageerror", lambda error: told.append(str(error)))
    page.goto(address)
    yield page
    context.close()
    assert told == []


everywhere = pytest.mark.parametrize(
    "opened",
    [(width, scheme) for width in WIDTHS for scheme in SCHEMES],
    ids=lambda value: f"{value[0]}-{value[1]}",
    indirect=True,
)


SECTIONS = (
    "details.machine, #latencies details, #state-times details, #time details, "
    "#failed .cause:first-of-type details"
)


def unfold(page: Any, selector: str) -> None:
    """Open all parts of the page that fit a selector."""
    page.evaluate("s => document.querySelectorAll(s).forEach(part => part.open = true)", selector)


@everywhere
def test_nothing_is_wider_than_the_window(opened: Any) -> None:
    """With every machine, table and transcript open, the page need not be moved sideways."""
    unfold(opened, SECTIONS)

    assert opened.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.slow
@pytest.mark.parametrize("opened", [(1280, "light"), (390, "dark")], ids=str, indirect=True)
def test_axe_finds_nothing(opened: Any) -> None:
    """Axe finds no violation in the failures, the machines, the times and an area."""
    unfold(opened, SECTIONS)
    # Of hundreds of parts that are made alike, axe reads the first ones.
    opened.evaluate(
        """() => {
            for (const all of ["#failed article", "#failed .toc li", ".area", ".area tbody tr",
                               "#inconclusive details"])
                [...document.querySelectorAll(all)].slice(12).forEach(part => part.remove());
        }"""
    )

    results = axe.Axe().run(opened)

    assert results.violations_count == 0, results.generate_report()


@pytest.mark.slow
def test_a_large_report_opens_at_once(browser: Any, address: str) -> None:
    """The whole catalogue with 300 failures takes the browser less than a second of work.

    Work is time of the processor, so that other work of the machine does not count.
    """
    spans = []
    for _ in range(3):
        page = browser.new_page()
        developer = page.context.new_cdp_session(page)
        developer.send("Performance.enable", {"timeDomain": "threadTicks"})
        page.goto(address)
        metrics = developer.send("Performance.getMetrics")["metrics"]
        spans.append(next(one["value"] for one in metrics if one["name"] == "TaskDuration"))
        page.close()

    assert min(spans) < MAX_OPENING_SECONDS


def test_every_machine_is_drawn(opened: Any) -> None:
    """Each machine of the specification has a drawing with a number for each of its moves."""
    unfold(opened, "details.machine")

    for machine in machines():
        place = opened.locator(f"#states-{machine.name}")
        moves = {*range(1, len(machine.transitions) + len(machine.forbidden) + 1)}
        numbers = {int(text) for text in place.locator("svg g text").all_text_contents()}
        drawn = place.locator("svg > text").all_text_contents()
        assert numbers == moves
        assert set(machine.states) <= set(drawn)
        assert place.locator("svg").bounding_box()["height"] > 50


def test_the_keyboard_is_enough(opened: Any) -> None:
    """A machine is opened, and a requirement that it names is come to, by keys alone."""
    opened.locator("#states-quote > summary").focus()
    opened.keyboard.press("Enter")
    link = opened.locator("#states-quote a").first
    link.focus()
    opened.keyboard.press("Enter")

    name = link.text_content()
    row = opened.locator(f"tr#{name}")
    assert opened.evaluate("location.hash") == f"#{name}"
    assert row.is_visible()


@pytest.mark.parametrize(
    "name", ["latencies", "state-times", "EVT-251", "about-CNV-001", "run", "states-quote"]
)
def test_links_lead_to_their_place(opened: Any, name: str) -> None:
    """Whatever is above a place and was not shown yet, a link leads to that place."""
    opened.evaluate("name => { location.hash = 'QUO-031'; location.hash = name; }", name)

    opened.wait_for_function(
        """name => {
            const { top, bottom } = document.getElementById(name).getBoundingClientRect();
            return bottom > 0 && top < innerHeight;
        }""",
        arg=name,
        timeout=10_000,
    )


def test_requirements_are_filtered(opened: Any) -> None:
    """Words and verdicts narrow the list of requirements; the tables of states stay whole."""
    unfold(opened, "#states-quote")
    moves = opened.locator("#states-quote tbody tr:visible").count()

    opened.locator("#words").fill("createQuote")
    opened.locator("input[value=failed]").check()

    shown = opened.locator(".area tbody tr:visible")
    assert 0 < shown.count() < 100
    assert set(shown.evaluate_all("rows => rows.map(row => row.dataset.status)")) == {"failed"}
    assert opened.locator("#states-quote tbody tr:visible").count() == moves


def test_a_command_is_copied(opened: Any) -> None:
    """The button beside a command puts the command on the clipboard."""
    block = opened.locator("#failed article .block").first
    block.locator("button").click()

    command = block.locator("pre").text_content()
    opened.wait_for_function("document.querySelector('#failed .copy').firstChild.data == 'Copied'")
    assert opened.evaluate("navigator.clipboard.readText()") == command


@pytest.mark.slow
def test_print_shows_what_is_folded(opened: Any) -> None:
    """On paper the drawings are there, and nothing that asks to be clicked."""
    opened.emulate_media(media="print")

    assert opened.locator("#states-quote svg").is_visible()
    assert not opened.locator("#filter").is_visible()
    assert opened.locator(".copy:visible").count() == 0
