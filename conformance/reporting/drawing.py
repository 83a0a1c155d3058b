"""Lays a state machine out: states in a column, moves beside it, each on a lane of its own.

Moves down are to the right of the column, moves up and onto the same state to the left, and so are
refusals, which lead nowhere. No two lines lie on one another, so that a number leads from the
drawing to the table below it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

_CHARACTER_PX = 7.4
_PORT_PX = 22
_LANE_PX = 24
_GAP_PX = 26
_MIN_BOX_PX = 34
_PADDING_PX = 14
_STUB_PX = 22
_MARGIN_PX = 14


@dataclass(frozen=True, slots=True)
class Arc:
    """A move between two states, under the number of the move and in the style of its colour."""

    number: int
    origin: str
    target: str
    style: str


@dataclass(frozen=True, slots=True)
class Stub:
    """A refusal in a state."""

    number: int
    origin: str
    style: str


@dataclass(frozen=True, slots=True)
class Box:
    """A state: its name, and the rectangle that it is drawn as, in pixels."""

    name: str
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Line:
    """A line with its number: ``path`` is that of SVG, ``x`` and ``y`` the place of the number."""

    number: int
    style: str
    path: str
    x: float
    y: float
    refusal: bool


@dataclass(frozen=True, slots=True)
class Drawing:
    """All that is drawn, and the size of it in pixels."""

    width: float
    height: float
    boxes: tuple[Box, ...]
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class _Port:
    """Where a line meets a state: ``index`` is that of its arc or stub, ``order`` sorts them."""

    index: int
    order: tuple[int, int, int]
    ends: bool = False


def draw(states: Sequence[str], arcs: Sequence[Arc], stubs: Sequence[Stub]) -> Drawing:
    """Return the drawing of a machine.

    Args:
        states: their names, from the top; all that arcs and stubs name are among them.
        arcs: the moves.
        stubs: the refusals.
    """
    rank = {name: number for number, name in enumerate(states)}
    right: dict[str, list[_Port]] = defaultdict(list)
    left: dict[str, list[_Port]] = defaultdict(list)
    for index, arc in enumerate(arcs):
        down = rank[arc.target] - rank[arc.origin]
        ports = right if down > 0 else left
        # What comes in is nearest to where it comes from, so that few lines cross.
        begin = (1, -down, -index) if down > 0 else (0, -down, index)
        end = (0, down, index) if down > 0 else (2, down, -index)
        ports[arc.origin].append(_Port(index, begin))
        ports[arc.target].append(_Port(index, end, ends=True))
    for number, stub in enumerate(stubs):
        left[stub.origin].append(_Port(len(arcs) + number, (1, 0, number)))

    heights = {
        name: max(_MIN_BOX_PX, _PORT_PX * max(len(right[name]), len(left[name])) + 8)
        for name in states
    }
    tops: dict[str, float] = {}
    y = float(_MARGIN_PX)
    for name in states:
        tops[name] = y
        y += heights[name] + _GAP_PX
    at_right = _heights_of(right, tops, heights)
    at_left = _heights_of(left, tops, heights)

    lanes_right = _lanes(at_right)
    lanes_left = _lanes({i: span for i, span in at_left.items() if i < len(arcs)})
    stub_px = _STUB_PX if stubs else 0
    width = max(len(name) for name in states) * _CHARACTER_PX + 2 * _PADDING_PX
    x = _MARGIN_PX + stub_px + _LANE_PX * _number_of(lanes_left)
    edge = x + width
    lines = []
    for index, arc in enumerate(arcs):
        if index in at_right:
            lane = edge + _LANE_PX * (lanes_right[index] + 1)
            lines.append(_line(arc, at_right[index], edge, lane))
        else:
            lane = x - stub_px - _LANE_PX * (lanes_left[index] + 1) + _LANE_PX / 2
            lines.append(_line(arc, at_left[index], x, lane))
    for number, stub in enumerate(stubs):
        height = at_left[len(arcs) + number][0]
        path = f"M{x:g} {height:g}H{x - stub_px / 2:g}"
        lines.append(Line(stub.number, stub.style, path, x - stub_px / 2, height, refusal=True))
    return Drawing(
        edge + _LANE_PX * (_number_of(lanes_right) + 1) + _MARGIN_PX / 2,
        y - _GAP_PX + _MARGIN_PX,
        tuple(Box(name, x, tops[name], width, heights[name]) for name in states),
        tuple(lines),
    )


def _heights_of(
    ports: Mapping[str, Iterable[_Port]], tops: Mapping[str, float], heights: Mapping[str, float]
) -> dict[int, tuple[float, float]]:
    """Return for each line where it begins and where it ends, in pixels from the top."""
    begins: dict[int, float] = {}
    ends: dict[int, float] = {}
    for name, of_state in ports.items():
        sorted_ports = sorted(of_state, key=lambda port: port.order)
        first = tops[name] + (heights[name] - _PORT_PX * (len(sorted_ports) - 1)) / 2
        for place, port in enumerate(sorted_ports):
            (ends if port.ends else begins)[port.index] = first + _PORT_PX * place
    return {index: (begin, ends.get(index, begin)) for index, begin in begins.items()}


def _lanes(spans: Mapping[int, tuple[float, float]]) -> dict[int, int]:
    """Return a lane for each span, counted from the column; no two of one lane meet."""
    taken: list[list[tuple[float, float]]] = []
    lanes: dict[int, int] = {}
    for index, span in sorted(spans.items(), key=lambda item: abs(item[1][1] - item[1][0])):
        low, high = min(span), max(span)
        free = (
            lane
            for lane, others in enumerate(taken)
            if all(high + _PORT_PX / 2 < begin or end + _PORT_PX / 2 < low for begin, end in others)
        )
        if (lane := next(free, len(taken))) == len(taken):
            taken.append([])
        taken[lane].append((low, high))
        lanes[index] = lane
    return lanes


def _number_of(lanes: Mapping[int, int]) -> int:
    return max(lanes.values(), default=-1) + 1


def _line(arc: Arc, span: tuple[float, float], edge: float, lane: float) -> Line:
    begin, end = span
    path = f"M{edge:g} {begin:g}H{lane:g}V{end:g}H{edge:g}"
    return Line(arc.number, arc.style, path, lane, (begin + end) / 2, refusal=False)
