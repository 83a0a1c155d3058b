"""Pages of lists: ``limit``, ``cursor`` and ``sortOrder``."""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from sqlalchemy import BindParameter, Select, and_, bindparam, or_

from conformance.reference import errors, rules

if TYPE_CHECKING:
    from collections.abc import Mapping

    from conformance.reference.store import Json
    from conformance.reference.unit import Unit

Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class Wanted:
    """The page a client asks for; ``after`` is the time and id of the row before it."""

    limit: int
    descending: bool
    after: tuple[int, str] | None


@dataclass(frozen=True, slots=True)
class Page(Generic[Row]):
    """A page of rows and the cursor of the next one, if there is one."""

    rows: list[Row]
    next_cursor: str | None

    def view(self, data: list[Json]) -> Json:
        """Return the list object: ``data``, ``hasMore`` and perhaps ``nextCursor``."""
        body: Json = {"data": data, "hasMore": self.next_cursor is not None}
        if self.next_cursor is not None:
            body["nextCursor"] = self.next_cursor
        return body


def read(query: Mapping[str, str], *, descending: bool) -> Wanted:
    """Read the paging parameters; raises ``Refusal`` (INVALID_INPUT)."""
    found = []
    limit = rules.PAGE_DEFAULT
    if "limit" in query:
        text = query["limit"]
        limit = int(text) if re.fullmatch(r"[0-9]{1,9}", text) else 0
        if not 1 <= limit <= rules.PAGE_MAXIMUM:
            message = f"Expected an integer from 1 to {rules.PAGE_MAXIMUM}."
            found.append(errors.field_error("limit", message))
    order = query.get("sortOrder", "desc" if descending else "asc")
    if order not in ("asc", "desc"):
        found.append(errors.field_error("sortOrder", "Expected asc or desc."))
    after = None
    if "cursor" in query:
        after = _decode(query["cursor"])
        if after is None:
            found.append(errors.field_error("cursor", "Expected the nextCursor of a page."))
    if found:
        raise errors.invalid_input(*found)
    return Wanted(limit, order == "desc", after)


def take(
    unit: Unit,
    query: Select[Any],
    table: Any,
    wanted: Wanted,
    values: Mapping[str, Any] | None = None,
) -> Page[Any]:
    """Run a query for one page of a table that has ``created_at`` and ``id``.

    ``values`` are those of the query's own parameters. A query that is the same object each time
    is put together and looked at by SQLAlchemy once, which takes longer than to run it.
    """
    place: dict[str, Any] = {"rows": wanted.limit + 1}
    if wanted.after is not None:
        place["time"], place["last"] = wanted.after
    ordered = _ordered(query, table, wanted.descending, wanted.after is None)
    rows = list(unit.session.scalars(ordered, {**(values or {}), **place}))
    return _page(rows, wanted)


@lru_cache
def _ordered(query: Select[Any], table: Any, descending: bool, from_start: bool) -> Select[Any]:
    """Return a query in the order of a list, for at most ``rows`` after ``time`` and ``last``."""
    moment, key = table.created_at, table.id
    if not from_start:
        time: BindParameter[int] = bindparam("time")
        last: BindParameter[str] = bindparam("last")
        if descending:
            query = query.where(or_(moment < time, and_(moment == time, key < last)))
        else:
            query = query.where(or_(moment > time, and_(moment == time, key > last)))
    columns = (moment.desc(), key.desc()) if descending else (moment, key)
    rows: BindParameter[int] = bindparam("rows")
    return query.order_by(*columns).limit(rows)


def merge(pages: list[Page[Any]], wanted: Wanted) -> Page[Any]:
    """Return one page of the rows of several tables, each of which was taken as it is wanted."""
    rows = [row for page in pages for row in page.rows]
    rows.sort(key=lambda row: (row.created_at, row.id), reverse=wanted.descending)
    page = _page(rows, wanted)
    if page.next_cursor is None and any(page.next_cursor is not None for page in pages):
        return Page(rows, _encode(rows[-1].created_at, rows[-1].id))
    return page


def _page(rows: list[Any], wanted: Wanted) -> Page[Any]:
    if len(rows) <= wanted.limit:
        return Page(rows, None)
    rows = rows[: wanted.limit]
    return Page(rows, _encode(rows[-1].created_at, rows[-1].id))


def _encode(moment: int, key: str) -> str:
    return base64.urlsafe_b64encode(f"{moment} {key}".encode()).decode()


def _decode(cursor: str) -> tuple[int, str] | None:
    try:
        text = base64.b64decode(cursor.encode(), altchars=b"-_", validate=True).decode("ascii")
    except (ValueError, binascii.Error):
        return None
    match = re.fullmatch(r"([0-9]{1,18}) ([!-~]{1,255})", text)
    return (int(match[1]), match[2]) if match else None
