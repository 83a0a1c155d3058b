"""State machines and latencies: what the report says of them, without a browser."""

from __future__ import annotations

import itertools
import json

import pytest

from conformance.contract.data import SPEC
from conformance.contract.states import machines
from conformance.reporting.drawing import Arc, Drawing, Stub, draw
from conformance.reporting.latency import Latencies
from conformance.reporting.machines import NEW, Seen, machines_seen
from conformance.reporting.report import Report
from conformance.selftest.reporting.test_reporting import failure, make_report

STATES = ("A", "B", "C")


def seen(report: Report, machine: str, number: int) -> Seen:
    """Return what a report says of one move of a machine."""
    one = next(one for one in machines_seen(report) if one.machine.name == machine)
    return one.moves[number - 1].seen


def segments(drawing: Drawing) -> list[tuple[float, float, float]]:
    """Return place, begin and end of all upright lines of a drawing."""
    found = []
    for line in drawing.lines:
        if not line.refusal:
            start, _, rest = line.path.removeprefix("M").partition("H")
            lane, _, rest = rest.partition("V")
            end, _, _ = rest.partition("H")
            begin = float(start.split()[1])
            found.append((float(lane), min(begin, float(end)), max(begin, float(end))))
    return found


class TestMoves:
    """A move is what the verdicts on its requirements make of it."""

    def report(self, *names: str, failed: str = "") -> Report:
        """Return a report whose requirements have these ids; one of them may have failed."""
        report = make_report()
        passed = next(entry for entry in report.requirements if entry.id == "QUO-001")
        broken = make_report(failure("QUO-001", "it is not so")).requirements[0]
        entries = (
            (broken if name == failed else passed).model_copy(update={"id": name}) for name in names
        )
        return report.model_copy(update={"requirements": tuple(entries)})

    def test_passed_is_exercised(self) -> None:
        """A move whose requirements passed is exercised."""
        assert seen(self.report("QUO-071"), "quote", 1) is Seen.EXERCISED

    def test_a_passed_refusal_is_as_it_must_be(self) -> None:
        """A move that is forbidden, and whose requirements passed, was refused as it must be."""
        assert seen(self.report("QUO-110"), "quote", 10) is Seen.REFUSED

    def test_one_failure_is_enough(self) -> None:
        """A move of which one requirement failed is failed, whatever the others are."""
        report = self.report("QUO-071", "QUO-072", failed="QUO-072")

        assert seen(report, "quote", 1) is Seen.FAILED

    def test_nothing_decided_is_not_exercised(self) -> None:
        """A move whose requirements were not decided is not exercised."""
        assert seen(self.report("QUO-110"), "quote", 1) is Seen.NOT_EXERCISED

    def test_unknown_requirements_are_not_named(self) -> None:
        """A machine of which the report has no requirement is not drawn."""
        assert [one.machine.name for one in machines_seen(self.report("CON-005"))] == [
            "contact-verification"
        ]


class TestDrawing:
    """No two lines of a drawing lie on one another, and none runs through a state."""

    def check(self, drawing: Drawing) -> None:
        """Compare all lines with each other and with the states."""
        for one, other in itertools.combinations(segments(drawing), 2):
            assert one[0] != other[0] or one[2] < other[1] or other[2] < one[1]
        for lane, _, _ in segments(drawing):
            assert all(lane < box.x or lane > box.x + box.width for box in drawing.boxes)
            assert 0 < lane < drawing.width
        places = [(line.x, line.y) for line in drawing.lines]
        assert len(set(places)) == len(places)
        assert all(box.y + box.height <= drawing.height for box in drawing.boxes)

    def test_moves_of_all_kinds(self) -> None:
        """Moves down, up, onto the same state, twice between two states, and refusals."""
        pairs = [("A", "B"), ("A", "B"), ("A", "C"), ("C", "A"), ("B", "B"), ("B", "B"), ("B", "A")]
        arcs = [Arc(number, *pair, "passed") for number, pair in enumerate(pairs)]

        drawing = draw(STATES, arcs, [Stub(20, "C", "passed"), Stub(21, "B", "failed")])

        assert len(drawing.lines) == len(pairs) + 2
        self.check(drawing)

    @pytest.mark.parametrize("name", [machine.name for machine in machines()])
    def test_machines_of_the_specification(self, name: str) -> None:
        """Each of them can be drawn, with all its states."""
        machine = next(machine for machine in machines() if machine.name == name)
        arcs = [
            Arc(number, move.origin or NEW, target, "passed")
            for number, move in enumerate(machine.transitions)
            for target in move.targets
        ]
        names = dict.fromkeys([NEW, *machine.states, *(arc.target for arc in arcs)])

        drawing = draw(list(names), arcs, [])

        assert [box.name for box in drawing.boxes] == list(names)
        self.check(drawing)


def test_all_machines_are_read() -> None:
    """Each file of ``spec/states`` is read, and every move has requirements and leads somewhere."""
    moves = [move for one in machines() for move in one.transitions]

    assert len(machines()) == len(list((SPEC / "states").glob("*.yaml")))
    assert all(move.requirements and move.targets for move in moves)


class TestLatencies:
    """Percentiles are those of the answers of each operation."""

    def line(self, operation: str, seconds: float, error: str = "", body: object = None) -> str:
        """Return an exchange as a line of the journal."""
        entry = {
            "kind": "exchange",
            "id": "main-1",
            "test": 't["operation": "x"]',
            "operation": operation,
            "request_body": body,
            "seconds": seconds,
            "error": error,
            "at": 1795384849.5,
        }
        return json.dumps(entry)

    def test_percentiles(self) -> None:
        """Of a hundred answers in 1 to 100 seconds, p50 is 50, p90 is 90, and p99 is 99."""
        latencies = Latencies()
        for seconds in range(100, 0, -1):
            latencies.take_in(self.line("getConfig", float(seconds)))

        (one,) = latencies.by_operation()

        assert (one.operation, one.answers) == ("getConfig", 100)
        assert (one.p50, one.p90, one.p99, one.longest) == (50.0, 90.0, 99.0, 100.0)

    def test_what_got_no_answer_does_not_count(self) -> None:
        """A request without an answer is left out, and so is a line that is cut short."""
        latencies = Latencies()
        latencies.take_in(self.line("getConfig", 30.0, error="it broke"))
        latencies.take_in(self.line("getConfig", 1.0)[:-60])

        assert latencies.by_operation() == ()

    def test_bodies_do_not_confuse_it(self) -> None:
        """What stands in a body under the same names is not taken for the exchange's own."""
        latencies = Latencies()
        body = {
            "operation": "evil",
            "seconds": 9.0,
            "error": "",
            "at": '"seconds": 8, "error": "", ',
        }
        latencies.take_in(self.line("getConfig", 0.5, body=body))

        (one,) = latencies.by_operation()

        assert (one.operation, one.longest) == ("getConfig", 0.5)

    def test_the_slowest_in_all_is_the_first(self) -> None:
        """Operations are sorted by the time of all their answers together."""
        latencies = Latencies()
        for operation, seconds in (("getConfig", 1.0), ("createQuote", 0.7), ("createQuote", 0.8)):
            latencies.take_in(self.line(operation, seconds))

        assert [one.operation for one in latencies.by_operation()] == ["createQuote", "getConfig"]
