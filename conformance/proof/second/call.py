"""One request as the handlers of the areas see it, and what they answer."""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from conformance.proof.second.check import Rule, demand
from conformance.proof.second.errors import Refusal, invalid
from conformance.proof.second.money import Json
from conformance.proof.second.world import World, newest

MAX_PAGE = 100
NO_JSON = "The body is not JSON."

Reply = tuple[int, Any]


def _float(digits: str) -> float | int:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError
    return int(value) if value.is_integer() and abs(value) < 2**63 else value


def _constant(_: str) -> float:
    raise ValueError


@dataclass
class Call:
    """A request; `agent_of` is the id of the customer for whom an agent makes it."""

    world: World
    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    raw: bytes
    params: dict[str, str] = field(default_factory=dict)
    agent_of: str = ""

    def _media(self) -> str:
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    def json(self, rule: Rule | None = None) -> Json:
        """Return the body, an object, held to a rule.

        Raises:
            Refusal: for another media type, for what is no JSON object, and for a broken rule.
        """
        persona = self.world.persona
        charset = "charset" in self.headers.get("content-type", "")
        if charset and self.world.has("json-charset-refused"):
            raise Refusal(
                persona.format_code, "The body has to be JSON.", status=persona.wrong_media_status
            )
        if self._media() != "application/json" and not self._media().endswith("+json"):
            raise Refusal(
                persona.format_code, "The body has to be JSON.", status=persona.wrong_media_status
            )
        try:
            body = json.loads(self.raw.decode(), parse_float=_float, parse_constant=_constant)
        except (ValueError, RecursionError):
            raise self.unreadable(NO_JSON) from None
        if isinstance(body, list) and self.world.has("list-body-crashes"):
            raise TypeError
        if not isinstance(body, dict):
            raise self.unreadable("The body has to be an object.")
        if rule:
            demand(persona, body, rule)
        return body

    def optional_json(self) -> Json:
        """Return the body, an object, or an empty one where the request has none."""
        return self.json() if self.raw.strip() else {}

    def unreadable(self, reason: str) -> Refusal:
        """Return the refusal of a body that cannot be read."""
        code = self.world.persona.format_code
        errors = {"errors": [{"field": "body", "message": reason}]} if "INPUT" in code else None
        return Refusal(code, reason, details=errors)

    def asked(self, name: str) -> str:
        """Return a query parameter that has to be there.

        Raises:
            Refusal: 400 where it is missing or empty.
        """
        if not self.query.get(name):
            raise invalid(name, "is required in the query")
        return self.query[name]

    def only_platform(self) -> None:
        """Refuse agents, whose policy is about their customer alone."""
        if self.agent_of:
            raise Refusal("UNAUTHORIZED", "An agent may not do this.")

    def concerns(self, customer_id: str | None) -> None:
        """Refuse an agent of another customer, as if there were nothing of that customer."""
        if self.agent_of and self.agent_of != customer_id and not self.world.has("agent-anyone"):
            raise Refusal("NOT_FOUND", "There is no such resource.")

    def page(self, rows: Sequence[Json], *, wrapped: bool = False) -> Reply:
        """Answer a list of records, each with an id, in pages.

        The query has `pageSize` and `after`, which is the `next` of the answer. Where the text
        shows that a list stands under `data`, it is `wrapped` by every persona.
        """
        world, persona = self.world, self.world.persona
        ordered = newest(rows, persona)
        if persona.list_form == "bare":
            return 200, {"data": ordered} if wrapped else ordered
        size, start = persona.page_size, 0
        if "pageSize" in self.query:
            size = self._size(self.query["pageSize"])
        if "after" in self.query:
            ids = [row["id"] for row in ordered]
            if self.query["after"] not in ids:
                raise invalid("after", "names no page")
            start = ids.index(self.query["after"]) + 1
        end = start + size
        body: Json = {"data": ordered[start:end], "next": None}
        if end < len(ordered):
            last = end - 1
            if world.has("page-overlap"):
                last = max(start, end - 2)
            if world.has("page-gap"):
                last = end
            body["next"] = ordered[last]["id"]
        return 200, body

    def _size(self, value: str) -> int:
        if not value.isascii() or not value.isdigit() or not 1 <= int(value[:9]) <= MAX_PAGE:
            raise invalid("pageSize", f"must be a number from 1 to {MAX_PAGE}", kind="number")
        return int(value)


Handler = Callable[[Call], Reply]
Route = tuple[str, str, Handler]


def created(call: Call, body: Any) -> Reply:
    """Answer that something was made, by the persona's status where the text has none."""
    return call.world.persona.created_status, body
