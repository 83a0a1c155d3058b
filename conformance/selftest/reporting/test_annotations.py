"""Annotations: what a failure says, and that a target cannot give commands by it."""

from __future__ import annotations

from conformance.reporting.annotations import MAX_SHOWN, as_annotations
from conformance.selftest.reporting.test_reporting import BROKEN, failure, make_report


def test_failures_and_warnings_are_told() -> None:
    """The verdict comes first, then each failure and each warning under its id."""
    verdict, failed, warned = as_annotations(make_report(*BROKEN))

    assert verdict.startswith("::error title=Conformance::Acme Payments 4.2.1 is not conformant")
    assert failed.startswith("::error title=QUO-002::The statement of QUO-002 holds.%0Aexpected a")
    assert warned == "::warning title=QUO-003::The statement of QUO-003 holds.%0Ait is late"


def test_without_failures_it_is_a_notice() -> None:
    """A run without failures has one line, which is no error."""
    (verdict,) = as_annotations(make_report())

    assert verdict.startswith("::notice title=Conformance::")


def test_a_target_gives_no_commands() -> None:
    """Lines, per cents and escapes that a target sent stay within the line of the failure."""
    hostile = "x\n::stop-commands::y\r%0A::set-env name=A::b\x1b[2J"
    lines = list(as_annotations(make_report(failure("QUO-002", hostile))))

    assert len(lines) == 2
    assert all("\n" not in line and "\r" not in line and "\x1b" not in line for line in lines)
    assert "%250A::set-env" in lines[1]


def test_there_are_few_of_them() -> None:
    """Of many failures the first nine are told, and of a long message the beginning."""
    report = make_report(failure("QUO-002", "x" * 5000))
    one = next(entry for entry in report.requirements if entry.id == "QUO-002")
    many = report.model_copy(update={"requirements": (one,) * 30})

    lines = list(as_annotations(many))

    assert len(lines) == 1 + MAX_SHOWN
    assert max(map(len, lines)) < 1000
