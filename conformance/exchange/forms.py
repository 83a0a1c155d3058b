"""Multipart forms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

# The same in every run, so that two runs send the same bytes.
FORM_HEADERS = {"content-type": "multipart/form-data; boundary=payments-conformance-9f1c27e4"}


@dataclass(frozen=True, slots=True)
class File:
    """A file as a part of a multipart form."""

    name: str
    media_type: str
    content: bytes = field(repr=False)

    def __str__(self) -> str:
        return f"<file {self.name}, {self.media_type}, {len(self.content)} bytes>"


Form = Mapping[str, str | File]

"""The parts of a multipart form by their names."""


def form_parts(form: Form) -> list[tuple[str, tuple[str | None, str | bytes, str | None]]]:
    """Return the parts of a form as httpx takes them."""
    return [
        (name, (part.name, part.content, part.media_type))
        if isinstance(part, File)
        else (name, (None, part, None))
        for name, part in form.items()
    ]
