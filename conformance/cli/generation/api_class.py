"""The API class: a method for each operation of the OpenAPI document."""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Iterator, Sequence

from conformance.contract.document import Document, Operation

_WIDTH = 100
_HEAD = '''\
"""The operations of the interface, a method each. Written by ``payments-conformance generate``."""

from __future__ import annotations

from typing import Any, Unpack

from conformance.exchange.answer import Answer
from conformance.exchange.forms import Form
from conformance.platform.operations import Operations, Options, Query


class Api(Operations):
    """Sends one request of an operation and returns its answer, whatever it is.

    Its methods come in the order of the document, area by area. Parameters of the path come first,
    then ``query`` and ``body`` or ``form`` where the operation takes one.
    """
'''


def api_class(document: Document) -> str:
    """Return the text of the module that holds the class."""
    lines = _HEAD.splitlines()
    for tag in document.raw["tags"]:
        operations = [o for o in document.operations.values() if tag["name"] in o.raw["tags"]]
        if operations:
            lines += ["", f"    # {tag['name']}"]
        for operation in operations:
            lines += ["", *_method(operation)]
    return "\n".join(lines) + "\n"


def _method(operation: Operation) -> Iterator[str]:
    in_path = re.findall(r"{(\w+)}", operation.path)
    takes = ["self", *(f"{_variable(name)}: Any" for name in in_path)]
    sends = [f'"{operation.id}"']
    if in_path:
        values = ", ".join(f'"{name}": {_variable(name)}' for name in in_path)
        sends.append(f"path={{{values}}}")
    for name, kind in _optional(operation):
        takes.append(f"{name}: {kind} = None")
        sends.append(f"{name}={name}")
    options = "**options"
    head = f"    def {_snake(operation.id)}("
    yield from _fitted(head, [*takes, f"{options}: Unpack[Options]"], ") -> Answer:", 4)
    yield f'        """Send ``{operation.method} {operation.path}``."""'
    yield from _fitted("        return self._send(", [*sends, options], ")", 8)


def _optional(operation: Operation) -> Iterator[tuple[str, str]]:
    """Yield the arguments beside the path that an operation takes, each with its type."""
    if any(parameter["in"] == "query" for parameter in operation.raw["parameters"]):
        yield "query", "Query | None"
    if operation.form_schema is not None:
        yield "form", "Form | None"
    elif operation.request_schema is not None:
        yield "body", "Any"


def _fitted(head: str, arguments: Sequence[str], tail: str, indent: int) -> Iterator[str]:
    """Yield a call or a signature as ruff formats it: on one line, on three, or one each."""
    whole = f"{head}{', '.join(arguments)}{tail}"
    if len(whole) <= _WIDTH:
        yield whole
        return
    inner = " " * (indent + 4)
    together = f"{inner}{', '.join(arguments)}"
    yield head
    if len(together) <= _WIDTH:
        yield together
    else:
        yield from (f"{inner}{argument}," for argument in arguments)
    yield f"{' ' * indent}{tail}"


def _variable(name: str) -> str:
    """Return the name of a parameter in Python, which hides nothing of the language."""
    variable = _snake(name)
    taken = keyword.iskeyword(variable) or hasattr(builtins, variable)
    return f"{variable}_" if taken else variable


def _snake(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
