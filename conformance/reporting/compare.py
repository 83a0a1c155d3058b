"""Reports of several implementations side by side, as one HTML page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from conformance.contract.areas import areas
from conformance.contract.catalogue import catalogue
from conformance.exchange.folder import GENERATOR
from conformance.reporting.assemble import suite_version
from conformance.reporting.changes import read_report
from conformance.reporting.html import badges, class_badges, template
from conformance.reporting.report import Entry, Report
from conformance.verdict.claims import ClassVerdict
from conformance.verdict.plan import RequirementVerdict


class NoReports(Exception):
    """There is nothing to compare."""


@dataclass(frozen=True, slots=True)
class Column:
    """One report: its name, and where its page is as seen from that of the comparison.

    ``page`` is empty where there is none.
    """

    name: str
    page: str
    report: Report


@dataclass(frozen=True, slots=True)
class ClassCell:
    """The verdict on a class as HTML, and how much of it was exercised, ``None`` of no claim."""

    badge: str = ""
    percent: int | None = None


@dataclass(frozen=True, slots=True)
class ClassRow:
    """One conformance class: its verdict in each report, empty where the report has none."""

    title: str
    cells: tuple[ClassCell, ...]

    @property
    def alike(self) -> bool:
        """Whether all reports say the same."""
        return len(set(self.cells)) == 1


@dataclass(frozen=True, slots=True)
class Row:
    """One requirement: what each report says of it, ``None`` where it does not know it."""

    id: str
    statement: str
    cells: tuple[Entry | None, ...]

    @property
    def alike(self) -> bool:
        """Whether all reports say the same."""
        return len({None if cell is None else cell.verdict for cell in self.cells}) == 1


@dataclass(frozen=True, slots=True)
class AreaRows:
    """The requirements of one area, and how many of them have which verdict in each report."""

    title: str
    rows: tuple[Row, ...]
    tallies: tuple[Mapping[RequirementVerdict, int], ...]

    @property
    def different(self) -> int:
        """How many requirements the reports do not agree on."""
        return sum(not row.alike for row in self.rows)

    @property
    def alike(self) -> bool:
        """Whether all reports say the same of all of them."""
        return self.different == 0


def read_columns(folders: Sequence[Path], page: Path) -> list[Column]:
    """Read the reports in some folders, sorted by the names of the folders.

    Args:
        folders: each holds a ``report.json``, maybe gzipped, and maybe a ``report.html``.
        page: where the comparison is going to stand.

    Raises:
        NoReports: there is none.
        UnusableReport: one of them cannot be read.
    """
    columns = []
    for folder in sorted(folders):
        report = read_report(folder)
        run = report.run
        name = " ".join(filter(None, (run.implementation, run.implementation_version)))
        beside = folder / "report.html"
        is_near = beside.is_file() and folder.parent.resolve() == page.parent.resolve()
        columns.append(Column(name, f"{folder.name}/{beside.name}" if is_near else "", report))
    if not columns:
        raise NoReports("there are no reports; give the folders of some, each with a report.json")
    return columns


def compare(columns: Sequence[Column]) -> str:
    """Return the page with reports side by side: by area, and by requirement."""
    by_id = [{entry.id: entry for entry in column.report.requirements} for column in columns]
    statements = {entry.id: entry.statement for entries in by_id for entry in entries.values()}
    places = {entry.id: entry.area for entries in by_id for entry in entries.values()}
    # In the order of our catalogue; what only others know stands behind.
    ids = [*(name for name in catalogue() if name in places), *sorted(places.keys() - catalogue())]
    rows = [
        Row(name, statements[name], tuple(entries.get(name) for entries in by_id)) for name in ids
    ]
    parts = [
        _area(area.title, [row for row in rows if places[row.id] == area.name], len(columns))
        for area in areas().values()
    ]
    page = template("compare.html.j2").render(
        columns=columns,
        areas=[part for part in parts if part.rows],
        classes=_classes(columns),
        badges=badges(),
        version=suite_version(),
        generator=GENERATOR,
    )
    return f"{page.strip()}\n"


def _classes(columns: Sequence[Column]) -> list[ClassRow]:
    """Return the conformance classes of all reports, in the order of the first that has them."""
    titles = {one.name: one.title for column in columns for one in column.report.classes}
    shown = [_cells(column.report) for column in columns]
    return [
        ClassRow(title, tuple(cells.get(name, ClassCell()) for cells in shown))
        for name, title in titles.items()
    ]


def _cells(report: Report) -> Mapping[str, ClassCell]:
    badges = class_badges(report)
    return {
        one.name: ClassCell(
            badges[one.name],
            None if one.verdict is ClassVerdict.NOT_CLAIMED else one.exercised.percent,
        )
        for one in report.classes
    }


def _area(title: str, rows: Sequence[Row], number: int) -> AreaRows:
    counts = [
        Counter(cell.verdict for row in rows if (cell := row.cells[i])) for i in range(number)
    ]
    tallies = ({v: count[v] for v in RequirementVerdict if count[v]} for count in counts)
    return AreaRows(title, tuple(rows), tuple(tallies))
