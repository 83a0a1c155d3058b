"""Tells in which circumstances a function of the reference is called."""

from __future__ import annotations

import inspect
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import pytest
from sqlalchemy.orm import Session, object_session

from conformance.reference import store
from conformance.reference.routes import OPERATIONS, Handler
from conformance.reference.service import Service
from conformance.reference.unit import Ask, Unit

CIRCUMSTANCES: Mapping[str, str] = {
    "individual": "a person's",
    "business": "a business's",
    "platform": "the platform's own",
    "american": "a customer's in the US",
    "abroad": "a customer's elsewhere",
    "dollars": "in USD",
    "other-currency": "in another currency than USD",
    "creation": "in the answer to a POST",
    "change": "in the answer to a PATCH",
    "deletion": "in the answer to a DELETE",
    "reading": "where one is read",
    "list": "where many are listed",
    "trigger": "by a trigger",
    "background": "in the background",
    "again": "the second time for the same resource",
    "another": "for a second resource of a customer",
}
"""What can be so of a call, each in words; kinds of accounts and quotes come beside these."""

_KINDS: Mapping[str, type[store.Base]] = {
    name: kind
    for name, kind in vars(store).items()
    if inspect.isclass(kind) and issubclass(kind, store.Base) and kind is not store.Base
}
_CURRENCIES = ("currency", "sending_currency", "receiving_currency")
_DEPTH = 4
_REMEMBERED = 400
_METHODS = {"POST": "creation", "PATCH": "change", "PUT": "change", "DELETE": "deletion"}
_REQUESTS = {
    (row.module.__name__, row.function): _METHODS.get(
        row.method, "list" if row.id.startswith("list") else "reading"
    )
    for row in OPERATIONS.values()
}
_request: ContextVar[str] = ContextVar("request", default="background")


@contextmanager
def requests_told(service: Service) -> Iterator[None]:
    """Let calls know which kind of request they belong to, until the block ends."""
    answer = service.answer

    def answering(handler: Handler, ask: Ask) -> Any:
        key = (handler.__module__, getattr(handler, "__name__", ""))
        token = _request.set(_REQUESTS.get(key, "trigger"))
        try:
            return answer(handler, ask)
        finally:
            _request.reset(token)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(service, "answer", answering)
        yield


class Circumstances:
    """Tells the circumstances of calls, and remembers for which resources they were."""

    def __init__(self) -> None:
        self._before: dict[str, list[tuple[str, object]]] = defaultdict(list)

    def forget(self) -> None:
        """Let the next call be the first one."""
        self._before.clear()

    def of(self, place: str, arguments: Sequence[Any]) -> set[str]:
        """Return what is so of a call of the function at ``place``; it counts from now on."""
        ask = next((value for value in arguments if isinstance(value, Ask)), None)
        rows = [value for value in arguments if isinstance(value, store.Base)]
        session = _session_of(arguments, rows)
        found = {_request.get()} | (set() if ask is None else _of_body(ask.body))
        if session is None:
            return found
        with session.no_autoflush:
            rows += _named_by(ask, arguments, session)
            for row in rows:
                found |= _of_row(row, session)
        return found | self._of_memory(place, rows)

    def _of_memory(self, place: str, rows: Sequence[store.Base]) -> set[str]:
        if not rows:
            return set()
        name, owner = str(getattr(rows[0], "id", id(rows[0]))), _owner_of(rows[0])
        before = self._before[place]
        found = set()
        if any(name == known for known, _ in before):
            found.add("again")
        if owner and any(owner == known and name != other for other, known in before):
            found.add("another")
        before.append((name, owner))
        del before[:-_REMEMBERED]
        return found


def _session_of(arguments: Sequence[Any], rows: Sequence[store.Base]) -> Session | None:
    unit = next((value for value in arguments if isinstance(value, Unit)), None)
    if unit is not None:
        return unit.session
    return object_session(rows[0]) if rows else None


def _named_by(ask: Ask | None, arguments: Sequence[Any], session: Session) -> list[store.Base]:
    """Return the rows whose ids stand in a request or among the arguments."""
    values: list[Any] = [value for value in arguments if isinstance(value, str)]
    if ask is not None:
        values += [ask.params, ask.query, ask.agent, ask.body]
    found = []
    for text in _texts(values):
        kind = _KINDS.get(text.partition(":")[0])
        if kind is not None and (row := session.get(kind, text)) is not None:
            found.append(row)
    return found


def _texts(value: Any, depth: int = 0) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif depth < _DEPTH and isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _texts(inner, depth + 1)


def _of_body(body: Any) -> set[str]:
    if not isinstance(body, dict):
        return set()
    kind = body.get("customerType")
    found = {kind.lower()} if kind in ("BUSINESS", "INDIVIDUAL") else set()
    currency = _of_currency(body.get("currency"))
    return found | ({currency} if currency else set())


def _of_row(row: store.Base, session: Session) -> set[str]:
    found = {_of_currency(getattr(row, name, None)) for name in _CURRENCIES}
    owner = _owner_of(row)
    customer = session.get(store.Customer, owner) if isinstance(owner, str) else None
    if owner is None:
        found.add("platform")
    if customer is not None:
        found.add("business" if customer.customer_type == "BUSINESS" else "individual")
        found.add("american" if customer.region in (None, "US") else "abroad")
    if isinstance(row, store.InternalAccount):
        found.add(f"account={row.type}")
    if isinstance(row, store.Transaction):
        found.add(f"transaction={row.type}")
    if isinstance(row, store.Quote):
        found |= {f"source={row.source_kind}", f"destination={row.destination_kind}"}
    return {name for name in found if name}


def _owner_of(row: store.Base) -> object:
    """Return the id of a row's customer, ``None`` where it is the platform's."""
    if isinstance(row, store.Customer):
        return row.id
    return getattr(row, "customer_id", getattr(row, "cardholder_id", ""))


def _of_currency(code: Any) -> str | None:
    if not isinstance(code, str):
        return None
    return "dollars" if code == "USD" else "other-currency"
