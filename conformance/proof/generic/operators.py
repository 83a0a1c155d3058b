"""The mutation operators: each yields what may stand in the place of a piece of the source.

Those of mutmut come from the library as they are. What it lacks (a statement or a guard left out,
a row or a member left out, a sort reversed, a loop that runs once) stands here in its notation: a
type of LibCST's nodes, and a function from a node to its replacements.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import libcst as cst
from mutmut.mutation import mutators

DELETED = "statement deleted"

_WORD = re.compile(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)*")
_COUNTERPARTS = {"max": "min", "min": "max", "any": "all", "all": "any"}
_TURNED = {"desc": "asc", "asc": "desc"}
_TRUE, _FALSE = cst.Name("True"), cst.Name("False")


@dataclass(frozen=True, slots=True)
class Operator:
    """One way of breaking code: the nodes that it applies to, and what it makes of one."""

    name: str
    kind: type[cst.CSTNode]
    replacements: Callable[[Any], Iterable[cst.CSTNode]]


def operators(words: Sequence[str]) -> tuple[Operator, ...]:
    """Return all operators; ``words`` are the constants of capitals that a module writes."""
    return (*_LIBRARY, *_OWN, Operator("another word", cst.SimpleString, _another_of(words)))


def words_in(module: cst.Module) -> list[str]:
    """Return the constants of capitals (codes, states, kinds) that a module writes, sorted."""
    found: set[str] = set()

    class Words(cst.CSTVisitor):
        def visit_SimpleString(self, node: cst.SimpleString) -> None:  # noqa: N802 - LibCST's name
            if (word := _word(node)) is not None:
                found.add(word)

    module.visit(Words())
    return sorted(found)


def is_prose(node: cst.CSTNode) -> bool:
    """Return whether a text is made of words for people, whose choice is free."""
    return isinstance(node, cst.SimpleString) and " " in node.value.strip("\"'")


def _word(node: cst.SimpleString) -> str | None:
    value = node.evaluated_value
    return value if isinstance(value, str) and _WORD.fullmatch(value) else None


def _another_of(words: Sequence[str]) -> Callable[[cst.SimpleString], Iterator[cst.CSTNode]]:
    def another(node: cst.SimpleString) -> Iterator[cst.CSTNode]:
        word = _word(node)
        if word in words and len(words) > 1:
            following = words[(words.index(word) + 1) % len(words)]
            yield node.with_changes(value=f'"{following}"')

    return another


# --- Statements -----------------------------------------------------------------------------


def _deleted(node: cst.SimpleStatementLine) -> Iterator[cst.CSTNode]:
    for index, statement in enumerate(node.body):
        if isinstance(
            statement, cst.Expr | cst.Assign | cst.AugAssign | cst.Return | cst.Raise | cst.Del
        ):
            body = [*node.body[:index], cst.Pass(), *node.body[index + 1 :]]
            yield node.with_changes(body=body)


def _condition_fixed(node: cst.If) -> Iterator[cst.CSTNode]:
    """Leave a guard or a branch out, or take it always."""
    yield node.with_changes(test=_FALSE)
    yield node.with_changes(test=_TRUE)


def _condition_negated(node: cst.If | cst.IfExp | cst.While | cst.CompIf) -> Iterator[cst.CSTNode]:
    yield node.with_changes(test=cst.UnaryOperation(cst.Not(), _in_brackets(node.test)))


def _operand_dropped(node: cst.BooleanOperation) -> Iterator[cst.CSTNode]:
    yield _in_brackets(node.left)
    yield _in_brackets(node.right)


def _filter_dropped(node: cst.CompFor) -> Iterator[cst.CSTNode]:
    for index in range(len(node.ifs)):
        yield node.with_changes(ifs=[*node.ifs[:index], *node.ifs[index + 1 :]])


def _loop_once(node: cst.For) -> Iterator[cst.CSTNode]:
    if isinstance(node.body, cst.IndentedBlock) and not node.asynchronous:
        stop = cst.SimpleStatementLine([cst.Break()])
        yield node.with_changes(body=node.body.with_changes(body=[*node.body.body, stop]))


def _first_alone(node: cst.CompFor) -> Iterator[cst.CSTNode]:
    """Let a comprehension see the first item alone."""
    items = cst.Call(cst.Name("list"), [cst.Arg(node.iter)])
    first = cst.Subscript(
        items, [cst.SubscriptElement(cst.Slice(lower=None, upper=cst.Integer("1")))]
    )
    if not node.asynchronous:
        yield node.with_changes(iter=first)


def _in_brackets(node: cst.BaseExpression) -> cst.BaseExpression:
    if node.lpar:
        return node
    bracketed: cst.BaseExpression = node.with_changes(
        lpar=[cst.LeftParen()], rpar=[cst.RightParen()]
    )
    return bracketed


# --- Values ---------------------------------------------------------------------------------


def _one_less(node: cst.Integer) -> Iterator[cst.CSTNode]:
    value = node.evaluated_value - 1
    yield (
        cst.Integer(str(value))
        if value >= 0
        else cst.UnaryOperation(cst.Minus(), cst.Integer(str(-value)))
    )


def _member_dropped(node: cst.Dict | cst.List | cst.Set) -> Iterator[cst.CSTNode]:
    for index in range(len(node.elements)):
        left = [*node.elements[:index], *node.elements[index + 1 :]]
        if left or not isinstance(node, cst.Set):
            yield node.with_changes(elements=left)


def _item_dropped(node: cst.Tuple) -> Iterator[cst.CSTNode]:
    for index in range(len(node.elements)):
        left = [*node.elements[:index], *node.elements[index + 1 :]]
        if len(left) == 1:
            left = [left[0].with_changes(comma=cst.Comma())]
        if left or node.lpar:
            yield node.with_changes(elements=left)


def _counterpart(node: cst.Call) -> Iterator[cst.CSTNode]:
    """Swap the largest and the smallest, one of all and all of them."""
    if isinstance(node.func, cst.Name) and node.func.value in _COUNTERPARTS:
        yield node.with_changes(func=cst.Name(_COUNTERPARTS[node.func.value]))


def _sort_reversed(node: cst.Call) -> Iterator[cst.CSTNode]:
    name = node.func.attr.value if isinstance(node.func, cst.Attribute) else None
    if (isinstance(node.func, cst.Name) and node.func.value == "sorted") or name == "sort":
        given = [arg for arg in node.args if arg.keyword and arg.keyword.value == "reverse"]
        others = [arg for arg in node.args if arg not in given]
        turned = [] if given else [cst.Arg(_TRUE, keyword=cst.Name("reverse"))]
        yield node.with_changes(args=[*others, *turned])
    elif name in _TURNED and not node.args:
        yield node.with_deep_changes(node.func, attr=cst.Name(_TURNED[name]))
    elif name == "order_by":
        for index, arg in enumerate(node.args):
            turned_arg = arg.with_changes(
                value=cst.Call(cst.Attribute(_in_brackets(arg.value), cst.Name("desc")))
            )
            left = [*node.args[:index], *node.args[index + 1 :]]
            yield node.with_changes(args=[*node.args[:index], turned_arg, *node.args[index + 1 :]])
            if left:
                yield node.with_changes(args=left)


_OWN = (
    Operator(DELETED, cst.SimpleStatementLine, _deleted),
    Operator("condition fixed", cst.If, _condition_fixed),
    Operator("condition negated", cst.If, _condition_negated),
    Operator("condition negated", cst.IfExp, _condition_negated),
    Operator("condition negated", cst.While, _condition_negated),
    Operator("condition negated", cst.CompIf, _condition_negated),
    Operator("operand dropped", cst.BooleanOperation, _operand_dropped),
    Operator("filter dropped", cst.CompFor, _filter_dropped),
    Operator("loop once", cst.For, _loop_once),
    Operator("loop once", cst.CompFor, _first_alone),
    Operator("one less", cst.Integer, _one_less),
    Operator("member dropped", cst.Dict, _member_dropped),
    Operator("member dropped", cst.List, _member_dropped),
    Operator("member dropped", cst.Set, _member_dropped),
    Operator("member dropped", cst.Tuple, _item_dropped),
    Operator("counterpart", cst.Call, _counterpart),
    Operator("sort reversed", cst.Call, _sort_reversed),
)

_LIBRARY = tuple(
    Operator(function.__name__.removeprefix("operator_").replace("_", " "), kind, function)
    for kind, function in mutators.mutation_operators
)
