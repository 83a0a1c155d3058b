"""Texts in Markdown: what stands in them is shown as it is, whoever wrote it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from conformance.text.characters import visible

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>()#+!|~$@&:])")


def escaped(text: object) -> str:
    """Return a text as one line of Markdown in which nothing is markup, link or mention."""
    return _SPECIAL.sub(r"\\\1", visible(" ".join(str(text).split())))


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """Yield the lines of a table; cells are texts, and are escaped."""
    yield f"| {' | '.join(head)} |"
    yield f"|{' --- |' * len(head)}"
    for row in rows:
        yield f"| {' | '.join(map(escaped, row))} |"
