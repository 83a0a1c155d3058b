"""All entries of the register, and their table."""

from __future__ import annotations

from conformance.selftest.hostile.entries import KINDS
from conformance.selftest.hostile.entry import Entry

REGISTER: tuple[tuple[str, Entry], ...] = tuple(
    (kind, entry) for kind, entries in KINDS.items() for entry in entries
)
"""Every entry with its kind, in the order of the table."""


def table() -> str:
    """Return the register as a table in Markdown, one part for each kind."""
    parts = [f"{len(REGISTER)} targets."]
    for kind, entries in KINDS.items():
        rows = [
            f"| {entry.name} | {_cell(entry.does)} | {_cell(str(entry.expected))} |"
            for entry in entries
        ]
        head = ["| Name | What the target does | What must come out |", "| --- | --- | --- |"]
        parts.append("\n".join([f"## {kind}", "", *head, *rows]))
    return "\n\n".join(parts) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")
