"""What a failed ``assert`` says: what was expected to hold, then the values in it."""

from __future__ import annotations

import ast
import linecache
import textwrap
import traceback
from types import TracebackType

_EXPLAINED = "assert "
"""What pytest begins with as it explains the values of a failed ``assert``."""


def told(error: AssertionError) -> str:
    """Return the message of an assertion that failed.

    Of ``assert before < after, row`` pytest alone would say the row, and ``assert 0 < 0``. It
    becomes ``expected before < after, got 0 < 0; `` and the row, and what else pytest explains
    follows. A message that no ``assert`` made stays as it is, and one that tells itself what was
    expected is all that is told.
    """
    text = str(error)
    words, _, explained = f"\n{text}".partition(f"\n{_EXPLAINED}")
    if words.startswith("\nexpected "):
        return words.strip()
    expected = _expression(error.__traceback__) if explained else ""
    if not expected:
        return text
    values, _, more = explained.partition("\n")
    first = f"expected {expected}, got {values}"
    return "\n".join(filter(None, ("; ".join(filter(None, (first, words.strip()))), more)))


def _expression(trace: TracebackType | None) -> str:
    """Return the condition of the ``assert`` that ended a trace; empty where it is not known."""
    frames = traceback.extract_tb(trace)
    if not frames or (first := frames[-1].lineno) is None:
        return ""
    lines = linecache.getlines(frames[-1].filename)[first - 1 : frames[-1].end_lineno]
    try:
        statement = ast.parse(textwrap.dedent("".join(lines))).body[0]
    except (SyntaxError, IndexError):
        return ""
    return ast.unparse(statement.test) if isinstance(statement, ast.Assert) else ""
