"""The source code of scenarios: what no scenario may do, whatever the target answers."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from functools import cache
from http import HTTPStatus
from pathlib import Path

import pytest

from conformance.contract.catalogue import catalogue
from conformance.selftest.collection import ROOT, node_ids, requirements_by_test

SCENARIOS = sorted((ROOT / "conformance" / "scenarios").rglob("*.py"))
MODULES = [path for path in SCENARIOS if path.name.startswith("test_")]
SUITE = [*SCENARIOS, *sorted((ROOT / "conformance" / "fuzz").glob("*.py"))]
CLIENT_ERRORS = 400
STATUSES = frozenset({"status", "status_code"})
FORBIDDEN = {
    "sleep": "waits are on events, with a limit of the profile",
    "skip": "what cannot be decided is told by an exception of the family Unmet",
    "skipif": "what cannot be decided is told by an exception of the family Unmet",
    "importorskip": "the suite has all that it needs",
    "xfail": "a scenario is right, or it is mended",
    "fail": "an assertion says what was expected and what came",
    "parse_known_args": "options are the plugin's",
}


@cache
def tree(path: Path) -> ast.Module:
    """Return the syntax tree of a file."""
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def place(path: Path, node: ast.AST) -> str:
    """Return file and line of a node, for a message."""
    return f"{path.name}:{getattr(node, 'lineno', 0)}"


def functions(path: Path) -> Iterator[ast.FunctionDef]:
    """Yield the test functions of a file."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
            yield node


def numbers(node: ast.AST, path: Path) -> Iterator[int]:
    """Yield the numbers in an expression, also those of constants of the module and HTTPStatus."""
    constants = {
        target.id: statement.value
        for statement in tree(path).body
        if isinstance(statement, ast.Assign)
        for target in statement.targets
        if isinstance(target, ast.Name)
    }
    for part in ast.walk(node):
        if isinstance(part, ast.Constant) and isinstance(part.value, int):
            yield part.value
        elif isinstance(part, ast.Name) and part.id in constants:
            yield from numbers(constants[part.id], path)
        elif isinstance(part, ast.Attribute) and part.attr in HTTPStatus.__members__:
            yield HTTPStatus[part.attr]


def attributes(node: ast.AST) -> set[str]:
    """Return the names of all attributes in an expression."""
    return {part.attr for part in ast.walk(node) if isinstance(part, ast.Attribute)}


def assertion_conditions(path: Path) -> Iterator[ast.expr]:
    """Yield the condition of every assertion of a file, ``expect`` included."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Assert):
            yield node.test
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "expect":
            yield node.args[0]


def refusals_without_twin(node: ast.expr, path: Path) -> Iterator[str]:
    """Yield what an assertion says about a refusal without its twin."""
    if "code" in attributes(node):
        yield "it asserts on an error code"
    for part in ast.walk(node):
        if isinstance(part, ast.Compare) and attributes(part) & STATUSES:
            denies = all(isinstance(operator, ast.NotEq | ast.NotIn) for operator in part.ops)
            if not denies and any(number >= CLIENT_ERRORS for number in numbers(part, path)):
                yield "it asserts on a status of a refusal"
    if (
        isinstance(node, ast.UnaryOp)
        and isinstance(node.op, ast.Not)
        and "accepted" in attributes(node)
    ):
        yield "it asserts that a request was not accepted"


COMPREHENSIONS = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


def checks(function: ast.FunctionDef) -> Iterator[ast.With]:
    """Yield each ``with check(…)`` of a function."""
    for node in ast.walk(function):
        if isinstance(node, ast.With) and any(
            isinstance(item.context_expr, ast.Call) and names(item.context_expr.func) == {"check"}
            for item in node.items
        ):
            yield node


def variables(node: ast.AST, context: type[ast.Load | ast.Store]) -> Iterator[tuple[str, int]]:
    """Yield name and line of variables that are read or set, but for those of one expression."""
    own: set[str] = set()
    if isinstance(node, ast.Lambda):
        own = {argument.arg for argument in node.args.args}
    if isinstance(node, COMPREHENSIONS):
        own = {name for part in node.generators for name in names(part.target)}
    if isinstance(node, ast.Name) and isinstance(node.ctx, context):
        yield node.id, node.lineno
    for child in ast.iter_child_nodes(node):
        yield from (found for found in variables(child, context) if found[0] not in own)


def left_by_checks(function: ast.FunctionDef) -> Iterator[str]:
    """Yield the variables that are read after the one check that sets them."""
    sets = [*variables(function, ast.Store)]
    reads = [*variables(function, ast.Load)]
    for node in checks(function):
        first, last = node.lineno, node.end_lineno or 0
        for name in {name for name, line in sets if first <= line <= last}:
            if any(other == name and line < first for other, line in sets):
                continue
            later = [line for other, line in sets if other == name and line > last]
            for other, line in reads:
                if other == name and line > last and not any(known <= line for known in later):
                    yield f"{name} in line {line}"


@pytest.mark.parametrize("path", SUITE, ids=lambda path: f"{path.parent.name}/{path.name}")
class TestEveryFile:
    """Each file of scenarios and of fuzzing."""

    def test_says_what_it_is_about(self, path: Path) -> None:
        """Each file except ``__init__.py`` has a docstring."""
        if path.name != "__init__.py":
            assert ast.get_docstring(tree(path))

    def test_waits_skips_and_gives_up_nowhere(self, path: Path) -> None:
        """No file uses or imports a name of FORBIDDEN, such as sleep, skip or xfail."""
        uses = [
            f"{place(path, node)} {node.attr}: {FORBIDDEN[node.attr]}"
            for node in ast.walk(tree(path))
            if isinstance(node, ast.Attribute) and node.attr in FORBIDDEN
        ]
        imports = [
            f"{place(path, node)} {name.name}: {FORBIDDEN[name.name]}"
            for node in ast.walk(tree(path))
            if isinstance(node, ast.ImportFrom)
            for name in node.names
            if name.name in FORBIDDEN
        ]

        assert uses + imports == []

    def test_takes_nothing_from_the_tests_of_another_file(self, path: Path) -> None:
        """What several files of tests need stands in a file that is about it, and has no tests."""
        sources = [
            f"{place(path, node)} {node.module}"
            for node in ast.walk(tree(path))
            if isinstance(node, ast.ImportFrom)
            and str(node.module).rpartition(".")[2].startswith("test_")
        ]

        assert sources == []

    def test_asserts_refusals_with_their_twins(self, path: Path) -> None:
        """No assertion looks at the status or code of a refusal; ``Answer.refused`` does."""
        assertions = [
            f"{place(path, node)} {what}"
            for node in assertion_conditions(path)
            for what in refusals_without_twin(node, path)
        ]

        assert assertions == []

    def test_gives_every_refusal_a_twin(self, path: Path) -> None:
        """Each call of ``refused`` has a twin, also on lines that are seldom reached."""
        calls = [
            place(path, node)
            for node in ast.walk(tree(path))
            if isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "refused"
            and "twin" not in {keyword.arg for keyword in node.keywords}
        ]

        assert calls == []

    def test_swallows_no_exception(self, path: Path) -> None:
        """No file catches Exception or AssertionError, which would hide a failed check."""
        handlers = [
            place(path, node)
            for node in ast.walk(tree(path))
            if isinstance(node, ast.ExceptHandler)
            and (node.type is None or {"Exception", "AssertionError"} & names(node.type))
        ]

        assert handlers == []

    def test_names_no_requirement_that_is_unknown(self, path: Path) -> None:
        """Each text with the form of an id, in markers and checks, is in the catalogue."""
        texts = [
            f"{place(path, node)} {node.value}"
            for node in ast.walk(tree(path))
            if isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and is_identifier(node.value)
            and node.value not in catalogue()
        ]

        assert texts == []


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.stem))
def test_every_scenario_says_its_fact(path: Path) -> None:
    """Each test function of a scenario has a docstring."""
    assert [place(path, f) for f in functions(path) if not ast.get_docstring(f)] == []


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.stem))
def test_no_check_leaves_what_others_read(path: Path) -> None:
    """What a check sets is read in that check alone: one that fails, or is not exercised, ends."""
    assert [place(path, f) for f in functions(path) if [*left_by_checks(f)]] == []


@pytest.mark.slow
@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.stem))
def test_a_scenario_without_requirement_asserts_nothing(path: Path) -> None:
    """A scenario without a requirement makes observations only, as it has no verdict."""
    with_requirement = {
        test.rpartition("::")[2].partition("[")[0]
        for test, requirements in requirements_by_test().items()
        if requirements and test.startswith(f"{path.relative_to(ROOT)}::")
    }

    places = [
        place(path, function)
        for function in functions(path)
        if function.name not in with_requirement
        and (
            "refused" in attributes(function)
            or any(
                isinstance(node, ast.Assert) or getattr(node, "id", "") == "expect"
                for node in ast.walk(function)
            )
        )
    ]

    assert places == []


def test_every_test_has_an_id_of_its_own() -> None:
    """No two tests have one node id, on which selections, reports and re-runs rely."""
    assert [test for test, count in Counter(node_ids()).items() if count > 1] == []


class TestLint:
    """The search for refusals without a twin finds what it is for."""

    @pytest.mark.parametrize(
        "assertion",
        [
            "answer.status == 400",
            "400 == answer.status",
            "answer.status in (400, 404)",
            "answer.status in REFUSED",
            "answer.status >= 400",
            "answer.status == HTTPStatus.CONFLICT",
            "400 <= answer.status < 500",
            "answer.code == 'QUOTE_EXPIRED'",
            "not answer.accepted",
            "answers[0].status_code == 409 and True",
        ],
    )
    def test_a_refusal_by_other_means_is_noticed(self, tmp_path: Path, assertion: str) -> None:
        """An assertion on a status of 400 or more, a code or ``not accepted`` is found."""
        assert self.faults_of(tmp_path, assertion)

    @pytest.mark.parametrize(
        "assertion",
        [
            "answer.accepted",
            "answer.status == 201",
            "answer.status in (200, 202)",
            "answer.status not in REFUSED",
            "answer.body['status'] == 'PENDING'",
            "amount == 400",
            "not answer.accepted or answer.body['status'] == 'PENDING'",
        ],
    )
    def test_what_is_no_refusal_is_let_through(self, tmp_path: Path, assertion: str) -> None:
        """Assertions on successes, bodies and amounts are not found."""
        assert not self.faults_of(tmp_path, assertion)

    @pytest.mark.parametrize(
        ("body", "found"),
        [
            ("    with check('A'):\n        a = 1\n    print(a)", ["a in line 4"]),
            ("    a = 0\n    with check('A'):\n        a = 1\n    print(a)", []),
            ("    with check('A'):\n        a = 1\n    a = 2\n    print(a)", []),
            ("    with check('A'):\n        a = 1\n        print(a)", []),
            ("    with check('A'):\n        [a for a in ()]\n    [a for a in ()]", []),
            ("    with check('A'):\n        a = 1\n    print(lambda a: a)", []),
            ("    with other('A'):\n        a = 1\n    print(a)", []),
        ],
    )
    def test_what_a_check_leaves_is_noticed(self, body: str, found: list[str]) -> None:
        """A variable that one check sets and a later line reads is found."""
        (function,) = ast.parse(f"def test():\n{body}\n").body
        assert isinstance(function, ast.FunctionDef)

        assert [*left_by_checks(function)] == found

    def faults_of(self, folder: Path, assertion: str) -> list[str]:
        """Return what is wrong with an assertion."""
        path = folder / f"{abs(hash(assertion))}.py"
        path.write_text(f"REFUSED = (400, 404)\nassert {assertion}\n", encoding="utf-8")
        (condition,) = assertion_conditions(path)
        return list(refusals_without_twin(condition, path))


def names(node: ast.AST) -> set[str]:
    """Return all names in an expression."""
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}


def is_identifier(text: str) -> bool:
    """Return whether a text has the form of the id of a requirement."""
    prefix, _, number = text.partition("-")
    return len(prefix) == 3 and prefix.isupper() and len(number) == 3 and number.isdigit()
