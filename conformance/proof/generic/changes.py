"""The changes that the operators make of the reference: every function and every table of it.

A change is text: a piece of a module (a function, a method, a table, a field of a class) before and
after. Left out is what shapes a start alone (the settings, the schema of the database, imports),
what answers behind the interface (the operations under the control path, which no requirement
speaks of), the world around the service that the sandbox plays (devices, merchants, what causes are
called), annotations, decorators, and texts for people, whose wording is free.
"""

from __future__ import annotations

import ast
import difflib
import pkgutil
import random
import textwrap
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider

from conformance import reference
from conformance.contract.kept import digest
from conformance.proof.generic.operators import DELETED, Operator, is_prose, operators, words_in
from conformance.proof.patch import MutantError
from conformance.reference import routes

ROOT = Path(reference.__path__[0])
_APART = frozenset(
    {"settings", "server", "service", "store", "worker", "control", "stablecoin_control"}
)
"""Modules that start and stop the reference, or stand behind the interface."""
_CONTROL = f"{reference.__name__}.routes:CONTROL"

_SIMULATORS = f"{reference.__name__}.cards.card_simulators"
_DEVICES = f"{reference.__name__}.embedded_wallets.devices"
_RECEIVERS = f"{reference.__name__}.external_accounts.receivers"

_WORLD = frozenset(
    {
        *(
            f"{_SIMULATORS}:{name}"
            for name in (
                *("_MAX_AMOUNT", "_AMOUNT", "_MERCHANT", "AUTHORIZATION_FIELDS"),
                *("MOVEMENT_FIELDS", "inquire", "_named", "_refuse_other_currency"),
                *("_refuse_refund_row", "_too_much", "_answer"),
            )
        ),
        *(
            f"{_DEVICES}:{name}"
            for name in (
                *("DEVICE", "STRANGER", "OUT_OF_SYNC", "_SIGN_FIELDS", "_CONDITION_FIELDS"),
                *("device_of", "_wallet", "_new_key", "_written", "_read"),
            )
        ),
        f"{_RECEIVERS}:MAX_RECEIVED_CENTS",
    }
)
"""What the sandbox plays beside the service: what merchants ask for, devices, who receives."""

_CAUSES = frozenset(
    {
        f"{_SIMULATORS}:CONDITIONS",
        f"{_RECEIVERS}:COUNTERPARTY_FAILURES",
        f"{_RECEIVERS}:PAYMENT_FAILURES",
        f"{reference.__name__}.rules:PAYOUT_RESULTS",
    }
)
"""Tables by causes that triggers alone name: only what they lead to is the service's."""

_LOGGING = "_log"


@dataclass(frozen=True, slots=True)
class Change:
    """One change of the reference that a machine made.

    ``place`` is ``module:name`` or ``module:Class.name``, ``number`` tells apart what one operator
    makes of one place. ``first`` and ``last`` are the lines of the module that have to be executed
    for the change to show, ``start`` is the line on which the piece begins.
    """

    place: str
    operator: str
    number: int
    before: str
    after: str
    start: int
    first: int
    last: int

    @property
    def id(self) -> str:
        """How the change is named; it stays while the source of the place does."""
        return id_of(self.place, self.operator, self.number)

    @property
    def module(self) -> str:
        """The name of the module."""
        return self.place.partition(":")[0]

    @property
    def name(self) -> str:
        """The name of the piece in its module."""
        return self.place.partition(":")[2]

    @property
    def is_function(self) -> bool:
        """Whether the piece is a function or a method, and no table or field."""
        return isinstance(ast.parse(self.before).body[0], ast.FunctionDef | ast.AsyncFunctionDef)

    @property
    def room(self) -> str:
        """The part of the reference: the folder of the module, or the module itself."""
        return self.module.removeprefix(f"{reference.__name__}.").partition(".")[0]

    @property
    def lines(self) -> str:
        """The lines that differ, without their indentation: ``- old`` and ``+ new``."""
        changed = difflib.ndiff(self.before.splitlines(), self.after.splitlines())
        return "\n".join(
            f"{line[0]} {line[2:].strip()}" for line in changed if line[:2] in {"- ", "+ "}
        )

    @property
    def diff(self) -> str:
        """The change as a unified diff of the module."""
        path = f"reference/{path_of(self.module).relative_to(ROOT).as_posix()}"
        lines = difflib.unified_diff(
            self.before.splitlines(), self.after.splitlines(), path, path, lineterm="", n=2
        )
        header, other, *body = lines
        return "\n".join([header, other, f"@@ {self.name}, line {self.first} @@", *body[1:]])

    @property
    def source(self) -> str:
        """The digest of the piece as it is."""
        return digest_of(self.before)


def digest_of(text: str) -> str:
    """Return the short digest of the source of a piece."""
    return digest([text.encode()])[:12]


def path_of(module: str) -> Path:
    """Return the file of a module of the reference."""
    origin = import_module(module).__file__
    assert origin is not None, module
    return Path(origin)


def modules() -> list[str]:
    """Return the names of the modules that are changed."""
    return [
        info.name
        for info in pkgutil.walk_packages(reference.__path__, f"{reference.__name__}.")
        if not info.ispkg and info.name.rpartition(".")[2] not in _APART
    ]


def full_names(names: Iterable[str]) -> list[str]:
    """Return the names of modules, places and changes with the package before them.

    Raises:
        MutantError: a name is of no module that is changed.
    """
    package = f"{reference.__name__}."
    full = [name if name.startswith(package) else package + name for name in names]
    for name in full:
        if (module := name.partition(":")[0]) not in modules():
            known = ", ".join(one.removeprefix(package) for one in modules())
            raise MutantError(f"there is no module {module}; there are {known}")
    return full


def every_change(only: Collection[str] | None = None) -> Iterator[Change]:
    """Yield all changes, or those of some modules and places, and those with some ids."""
    wanted = set(only or modules())
    for source in _sources(sorted({name.partition(":")[0] for name in wanted})):
        for one in source.candidates():
            place = f"{source.name}:{one.piece.name}"
            if {source.name, place, id_of(place, one.operator, one.number)} & wanted:
                yield from source.made([one])


def id_of(place: str, operator: str, number: int) -> str:
    """Return how a change is named."""
    return f"{place}/{operator.replace(' ', '-')}/{number}"


def sampled(count: int, seed: int, names: Collection[str] | None = None) -> list[Change]:
    """Return changes of some modules, or of all, drawn by chance; a seed draws the same ones.

    Each operator has the same chance as long as it has changes left, as two of them make most.
    """
    chance = random.Random(seed)  # noqa: S311 - no secret
    by_operator: dict[str, list[tuple[_Source, _Candidate]]] = defaultdict(list)
    for source in _sources(sorted({name.partition(":")[0] for name in names or modules()})):
        for candidate in source.candidates():
            by_operator[candidate.operator].append((source, candidate))
    for drawn in by_operator.values():
        chance.shuffle(drawn)
    found: dict[tuple[str, str], Change] = {}
    while by_operator and len(found) < count:
        operator = chance.choice(sorted(by_operator))
        source, candidate = by_operator[operator].pop()
        if not by_operator[operator]:
            del by_operator[operator]
        for change in source.made([candidate]):
            found.setdefault((change.place, change.after), change)
    return list(found.values())


def sources() -> dict[str, str]:
    """Return the digest of the source of each place that is changed."""
    return {place: text for source in _sources(modules()) for place, text in source.digests()}


@cache
def _behind_the_interface() -> frozenset[str]:
    """Return the places of what serves the control path."""
    handlers = (f"{row.module.__name__}:{row.function}" for row in routes.CONTROL)
    return frozenset({_CONTROL, *handlers})


def _sources(names: Iterable[str]) -> list[_Source]:
    return [_Source(name) for name in names]


@dataclass(frozen=True, slots=True)
class _Piece:
    """A function, a method, a table or a field of a class of a module."""

    name: str
    node: cst.CSTNode


@dataclass(frozen=True, slots=True, eq=False)
class _Candidate:
    """A replacement of one node of a piece, whose text is not made yet."""

    piece: _Piece
    operator: str
    number: int
    node: cst.CSTNode
    replacement: cst.CSTNode
    lines: tuple[int, int]


class _Source:
    """One module of the reference and its pieces."""

    def __init__(self, module: str) -> None:
        self.name = module
        wrapper = MetadataWrapper(
            cst.parse_module(path_of(module).read_text("utf-8")), unsafe_skip_copy=True
        )
        self._module = wrapper.module
        self._operators = operators(words_in(self._module))
        positions = wrapper.resolve(PositionProvider)
        self._lines = {node: (at.start.line, at.end.line) for node, at in positions.items()}

    def digests(self) -> Iterator[tuple[str, str]]:
        """Yield each place of the module with the digest of its source."""
        for piece in _pieces(self._module):
            yield f"{self.name}:{piece.name}", digest_of(self._text(piece.node))

    def candidates(self) -> Iterator[_Candidate]:
        """Yield what the operators make of each piece, in the order of the source."""
        behind = _behind_the_interface()
        for piece in _pieces(self._module):
            place = f"{self.name}:{piece.name}"
            if place in behind | _WORLD:
                continue
            visitor = _Visitor(self._operators, self._lines, spares_keys=place in _CAUSES)
            piece.node.visit(visitor)
            numbers: Counter[str] = Counter()
            for operator, node, replacement, lines in visitor.found:
                if node is piece.node and operator == DELETED:
                    # Without its name a module does not start.
                    continue
                numbers[operator] += 1
                yield _Candidate(piece, operator, numbers[operator], node, replacement, lines)

    def made(self, candidates: Iterable[_Candidate]) -> Iterator[Change]:
        """Yield the changes of candidates, but for those that change nothing or are no Python."""
        for one in candidates:
            before = self._text(one.piece.node)
            after = self._text(one.piece.node.deep_replace(one.node, one.replacement))
            try:
                if _meaning(after) == _meaning(before):
                    continue
            except SyntaxError:
                continue
            yield Change(
                f"{self.name}:{one.piece.name}",
                one.operator,
                one.number,
                before,
                after,
                self._lines[one.piece.node][0],
                *one.lines,
            )

    def _text(self, node: object) -> str:
        assert isinstance(node, cst.CSTNode)
        return textwrap.dedent(self._module.code_for_node(node)).strip("\n")


def _meaning(text: str) -> str:
    """Return what a piece says; a function that ends by itself returns None, said or not."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and _is_idle(node.body[-1]):
            node.body.pop()
    return ast.dump(tree)


def _is_idle(last: ast.stmt) -> bool:
    if isinstance(last, ast.Return):
        return last.value is None or (
            isinstance(last.value, ast.Constant) and last.value.value is None
        )
    return isinstance(last, ast.Pass)


class _Visitor(cst.CSTVisitor):
    """Finds what the operators make of the nodes of one piece, in the order of its source."""

    def __init__(
        self,
        operators: Sequence[Operator],
        lines: Mapping[cst.CSTNode, tuple[int, int]],
        *,
        spares_keys: bool,
    ) -> None:
        super().__init__()
        self._spares_keys = spares_keys
        self._operators = operators
        self._lines = lines
        self._around: list[tuple[int, int]] = []
        self.found: list[tuple[str, cst.CSTNode, cst.CSTNode, tuple[int, int]]] = []

    def on_visit(self, node: cst.CSTNode) -> bool:
        """Note the replacements of a node; its children follow unless it is to be left alone."""
        if _is_spared(node):
            return False
        if self._spares_keys and isinstance(node, cst.Dict):
            for element in node.elements:
                element.value.visit(self)
            return False
        if isinstance(node, cst.BaseStatement):
            self._around.append(self._header(node))
        for operator in self._operators:
            if isinstance(node, operator.kind) and not is_prose(node):
                self.found += [
                    (operator.name, node, replacement, self._around[-1])
                    for replacement in operator.replacements(node)
                ]
        return True

    def on_leave(self, original_node: cst.CSTNode) -> None:
        """Leave a statement."""
        if isinstance(original_node, cst.BaseStatement) and not _is_spared(original_node):
            self._around.pop()

    def _header(self, node: cst.BaseStatement) -> tuple[int, int]:
        """Return the lines of a statement, without those of the statements in it."""
        first, last = self._lines[node]
        body = getattr(node, "body", None)
        # What a signature says shows in the body, as it is read when the function is made.
        if isinstance(body, cst.IndentedBlock) and not isinstance(node, cst.FunctionDef):
            last = max(first, self._lines[body.body[0]][0] - 1)
        return first, last


def _is_spared(node: cst.CSTNode) -> bool:
    """Return whether nothing in a node is changed: it is no behaviour, or words for people."""
    if isinstance(node, cst.Annotation | cst.Decorator | cst.Import | cst.ImportFrom | cst.Assert):
        return True
    if not isinstance(node, cst.SimpleStatementLine):
        return False
    only = node.body[0]
    if not isinstance(only, cst.Expr):
        return False
    if isinstance(only.value, cst.SimpleString | cst.ConcatenatedString):
        return True
    call = only.value
    return (
        isinstance(call, cst.Call)
        and isinstance(call.func, cst.Attribute)
        and isinstance(call.func.value, cst.Name)
        and call.func.value.value == _LOGGING
    )


def _pieces(module: cst.Module) -> Iterator[_Piece]:
    """Yield the pieces of a module: those of a class one by one."""
    for node in module.body:
        if isinstance(node, cst.FunctionDef):
            yield _Piece(node.name.value, node)
        elif isinstance(node, cst.ClassDef):
            yield from _of_class(node)
        elif isinstance(node, cst.SimpleStatementLine) and (name := _assigned(node)) is not None:
            yield _Piece(name, node)


def _of_class(node: cst.ClassDef) -> Iterator[_Piece]:
    fields = []
    for inner in node.body.body:
        if isinstance(inner, cst.FunctionDef):
            yield _Piece(f"{node.name.value}.{inner.name.value}", inner)
        elif isinstance(inner, cst.SimpleStatementLine) and _assigned(inner) is not None:
            fields.append(inner)
    for field in fields:
        yield _Piece(f"{node.name.value}.{_assigned(field)}", field)


def _assigned(node: cst.SimpleStatementLine) -> str | None:
    """Return the name that a statement gives a value to; None where it does something else."""
    statement = node.body[0]
    if isinstance(statement, cst.AnnAssign) and statement.value is not None:
        return statement.target.value if isinstance(statement.target, cst.Name) else None
    if isinstance(statement, cst.Assign) and len(statement.targets) == 1:
        target = statement.targets[0].target
        return target.value if isinstance(target, cst.Name) else None
    return None
