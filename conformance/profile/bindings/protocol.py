"""Bindings of messages and lists."""

from __future__ import annotations

from pydantic import (
    Field,
)

from conformance.profile.part import ProfilePart


class ProtocolBindings(ProfilePart):
    """What the specification leaves open of messages and lists."""

    list_page_size: str | None = Field(
        "limit",
        description="The query parameter of lists that sets the size of a page; null where there "
        "is none.",
    )
    list_cursor: str | None = Field(
        "cursor",
        description="The query parameter of lists that turns the page; null where lists have one "
        "page.",
    )
    list_next: str | None = Field(
        "nextCursor",
        description="The member of a list that holds the next cursor; "
        "null where lists have one page.",
    )
