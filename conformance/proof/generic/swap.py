"""Puts a change of the reference into the running process, and takes it back.

Of a function the code is exchanged, so that everyone who holds the function has the changed one:
tables, decorators, and the closures that it made when the service started. A table is evaluated
anew, with all that is made from it at import, and so are the tables that a changed function makes.
Nothing is imported again.
"""

from __future__ import annotations

import ast
import gc
import inspect
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, partial
from types import CodeType, FunctionType, ModuleType
from typing import Any

from conformance.proof.generic.changes import Change, modules, path_of
from conformance.proof.patch import MutantError
from conformance.reference import app, routes
from conformance.reference.service import Service

_ROUTES = frozenset({"OPERATIONS", "_route"})
"""What shapes the routes, which a service makes when it starts."""


class Unusable(MutantError):
    """A change cannot be put into a running process."""


class Swap:
    """The place in one process where changes are put in and taken back.

    Args:
        service: the running reference.
        router: has its routes; they are made anew where a change may concern them.
    """

    def __init__(self, service: Service, router: Any) -> None:
        self._service = service
        self._router = router
        self._holders = _functions_by_code()
        self._undo: list[Callable[[], None]] = []

    def put(self, change: Change) -> None:
        """Put a change in.

        Raises:
            Unusable: it cannot be put in, or makes no difference.
        """
        module = sys.modules[change.module]
        owner, _, name = change.name.rpartition(".")
        try:
            if change.is_function:
                self._put_function(change, module, owner, name)
            else:
                self._put_value(change, module, owner or name)
            if self._concerns_routes(change):
                self._remake_routes()
        except Unusable:
            self.take_back()
            raise
        except Exception as error:
            # The changed piece ends the start: nobody would come to test such a service.
            self.take_back()
            raise Unusable(f"it cannot be evaluated: {error!r}") from error
        _forget_results()

    def take_back(self) -> None:
        """Take everything back."""
        while self._undo:
            self._undo.pop()()
        _forget_results()

    # Functions

    def _put_function(self, change: Change, module: ModuleType, owner: str, name: str) -> None:
        fresh = _made(change.after, vars(module), owner, name, change.start)
        live = _function(vars(module)[owner] if owner else module, name)
        if fresh.__code__ == live.__code__ and _defaults(fresh) == _defaults(live):
            raise Unusable("it makes the same code")
        for old, new in _pairs(live.__code__, fresh.__code__):
            for function in [live] if old is live.__code__ else self._holders.get(id(old), ()):
                self._set(function, "__code__", new)
        self._set(live, "__defaults__", fresh.__defaults__)
        self._set(live, "__kwdefaults__", fresh.__kwdefaults__)
        self._remake(made_by(change.module, change.name))

    def _set(self, holder: Any, name: str, value: Any) -> None:
        old = getattr(holder, name)
        try:
            setattr(holder, name, value)
        except ValueError as error:
            raise Unusable(str(error)) from error
        self._undo.append(lambda: setattr(holder, name, old))

    # Tables

    def _put_value(self, change: Change, module: ModuleType, name: str) -> None:
        """Evaluate a changed table or field, and after it what is made from it at import."""
        statement = change.after
        if "." in change.name:
            statement = _class_with(change, module)
        before = len(self._undo)
        self._evaluate(statement, module, name)
        if len(self._undo) == before:
            raise Unusable("it makes the same value")
        self._remake(made_from(name))

    def _remake(self, tables: Iterable[_Table]) -> None:
        for table in tables:
            self._evaluate(table.source, sys.modules[table.module], table.name)

    def _evaluate(self, statement: str, module: ModuleType, name: str) -> None:
        scratch = dict(vars(module))
        exec(_compiled(statement), scratch)  # noqa: S102 - a change of the reference
        old, new = vars(module)[name], scratch[name]
        if inspect.isclass(new):
            # Its instances are known by their class, so that only what they start with changes.
            if old.__init__.__defaults__ != new.__init__.__defaults__:
                self._set(old.__init__, "__defaults__", new.__init__.__defaults__)
        elif type(old) is dict:
            self._refill(old, new)
        elif not _is_same(old, new):
            for other in map(sys.modules.__getitem__, modules()):
                if vars(other).get(name) is old:
                    self._set(other, name, new)

    def _refill(self, table: dict[Any, Any], rows: Mapping[Any, Any]) -> None:
        before = dict(table)
        if list(before.items()) == list(rows.items()):
            return
        self._undo.append(partial(_fill, table, before))
        _fill(table, rows)

    # Routes

    def _concerns_routes(self, change: Change) -> bool:
        return change.module == routes.__name__ or change.name in _ROUTES

    def _remake_routes(self) -> None:
        old = self._router.routes
        made = [
            app._route(self._service, row, f"/{self._service.settings.version}")  # noqa: SLF001
            for row in routes.OPERATIONS.values()
        ]
        others = [route for route in old if route.path.startswith("/control")]
        self._set(self._router, "routes", [*made, *others])


def _fill(table: dict[Any, Any], rows: Mapping[Any, Any]) -> None:
    table.clear()
    table.update(rows)


def _functions_by_code() -> dict[int, list[FunctionType]]:
    """Return the functions of the reference that something holds, by the id of their code."""
    found: dict[int, list[FunctionType]] = defaultdict(list)
    names = set(modules())
    for value in gc.get_objects():
        if isinstance(value, FunctionType) and value.__module__ in names:
            found[id(value.__code__)].append(value)
    return found


def _made(source: str, space: Mapping[str, Any], owner: str, name: str, start: int) -> FunctionType:
    """Return the function that a source defines, as if it stood in its module at its line."""
    tree = ast.parse(source)
    definition = tree.body[0]
    assert isinstance(definition, ast.FunctionDef | ast.AsyncFunctionDef)
    definition.decorator_list = []
    if owner:
        tree.body = [
            ast.ClassDef(name=owner, bases=[], keywords=[], body=[definition], decorator_list=[])
        ]
    ast.increment_lineno(ast.fix_missing_locations(tree), start - 1)
    scratch = dict(space)
    exec(_compiled(tree), scratch)  # noqa: S102 - a change of the reference
    function = vars(scratch[owner])[name] if owner else scratch[name]
    assert isinstance(function, FunctionType)
    return function


def _compiled(source: str | ast.Module) -> CodeType:
    flags = annotations.compiler_flag
    code: CodeType = compile(source, "<changed reference>", "exec", flags, dont_inherit=True)
    return code


def _function(holder: Any, name: str) -> FunctionType:
    """Return the function of a module or a class, without what its decorators put around it."""
    value = inspect.getattr_static(holder, name)
    if isinstance(value, property):
        value = value.fget
    if isinstance(value, staticmethod | classmethod):
        value = value.__func__
    function = inspect.unwrap(value)
    if not isinstance(function, FunctionType):
        raise Unusable(f"{name} is no function")
    return function


def _defaults(function: FunctionType) -> tuple[Any, Any]:
    return function.__defaults__, function.__kwdefaults__


def _pairs(old: CodeType, new: CodeType) -> Iterator[tuple[CodeType, CodeType]]:
    """Yield code and its counterpart, and those of the functions in it that have one."""
    yield old, new
    for name in {code.co_name for code in _inner(old)}:
        ours = [code for code in _inner(old) if code.co_name == name]
        theirs = [code for code in _inner(new) if code.co_name == name]
        if len(ours) == len(theirs):
            for one, other in zip(ours, theirs, strict=True):
                if one.co_freevars == other.co_freevars:
                    yield from _pairs(one, other)


def _inner(code: CodeType) -> list[CodeType]:
    return [value for value in code.co_consts if isinstance(value, CodeType)]


def _class_with(change: Change, module: ModuleType) -> str:
    """Return the source of a class with one of its fields changed."""
    source = path_of(module.__name__).read_text("utf-8")
    owner = change.name.partition(".")[0]
    for node in ast.parse(source).body:
        if isinstance(node, ast.ClassDef) and node.name == owner:
            for index, field in enumerate(node.body):
                if field.lineno == change.start:
                    node.body[index] = ast.parse(change.after).body[0]
            if not any(isinstance(one, ast.Call | ast.Name) for one in node.decorator_list):
                break
            return ast.unparse(node)
    raise Unusable(f"{owner} is no class of rows")


@dataclass(frozen=True, slots=True)
class _Table:
    """A table of a module: its source, and the names that the source uses and calls."""

    module: str
    name: str
    source: str
    names: frozenset[str]
    called: frozenset[str]


@cache
def _tables() -> tuple[_Table, ...]:
    """Return all tables of the reference."""
    found = []
    for module in modules():
        source = path_of(module).read_text("utf-8")
        for node in ast.parse(source).body:
            targets: list[ast.expr] = []
            if isinstance(node, ast.AnnAssign) and node.value is not None:
                targets = [node.target]
            elif isinstance(node, ast.Assign):
                targets = node.targets
            for target in targets:
                if isinstance(target, ast.Name):
                    names = frozenset(names_in(node)) - {target.id}
                    text = ast.get_source_segment(source, node) or ""
                    called = frozenset(_called_in(node))
                    found.append(_Table(module, target.id, text, names, called))
    return tuple(found)


def names_in(node: ast.AST) -> Iterator[str]:
    """Yield the names and attributes that a piece of source uses."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name):
            yield inner.id
        elif isinstance(inner, ast.Attribute):
            yield inner.attr


@cache
def made_from(name: str) -> tuple[_Table, ...]:
    """Return the tables that are made from one at import, each after those it is made from."""
    made: dict[tuple[str, str], _Table] = {}
    changed = {name}
    while new := [
        table
        for table in _tables()
        if table.names & changed and (table.module, table.name) not in made and table.name != name
    ]:
        made.update(((table.module, table.name), table) for table in new)
        changed |= {table.name for table in new}
    return tuple(made.values())


@cache
def made_by(module: str, function: str) -> tuple[_Table, ...]:
    """Return the tables that a function of a module makes at import, and those made from them.

    It may be called by another function that makes the table.
    """
    tree = ast.parse(path_of(module).read_text("utf-8"))
    called = {
        node.name: frozenset(_called_in(node))
        for node in tree.body
        if isinstance(node, ast.FunctionDef)
    }
    makers = {function}
    while new := {name for name in called if called[name] & makers} - makers:
        makers |= new
    made = [table for table in _tables() if table.module == module and table.called & makers]
    later = (further for table in made for further in made_from(table.name))
    return tuple({(table.module, table.name): table for table in (*made, *later)}.values())


def _called_in(node: ast.AST) -> Iterator[str]:
    """Yield the names of the functions that a piece of source calls."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Name):
            yield inner.func.id


def _is_same(old: Any, new: Any) -> bool:
    return old is new or (type(old) is type(new) and bool(old == new))


def _forget_results() -> None:
    """Clear what functions of the reference remember of earlier calls."""
    for name in modules():
        for value in vars(sys.modules[name]).values():
            if clear := getattr(value, "cache_clear", None):
                clear()
