"""Mutants that show by requests which nobody writes by hand: crashes on the rare, lax fields."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from conformance.mutants.mutant import Patch, declare, mutant
from conformance.reference import routes, rules
from conformance.reference.unit import Ask, Unit

_RULES = "conformance.reference.rules"
_READ_JSON = "conformance.reference.app:read_json"

Spoil = Callable[[Ask], Any]


# --- Crashes --------------------------------------------------------------------------------


def _path_in_ascii(ask: Ask) -> None:
    """Break on an id in the path with other characters than ASCII has."""
    for value in ask.params.values():
        value.encode("ascii")


def _query_in_ascii(ask: Ask) -> None:
    """Break on a query with other characters than ASCII has."""
    for name, value in ask.query.items():
        (name + value).encode("ascii")


def _body_in_ascii(ask: Ask) -> None:
    """Break on a body with other characters than ASCII has."""
    json.dumps(ask.body, ensure_ascii=False).encode("ascii")


def _empty_texts(ask: Ask) -> None:
    """Break on an empty text, of which there is no first character."""
    for value in [ask.body, *(ask.body.values() if isinstance(ask.body, dict) else ())]:
        _ = value[0] if isinstance(value, str) else None


def _object(ask: Ask) -> None:
    """Break on a body that is no object."""
    ask.body.items()


def _known_query(ask: Ask) -> None:
    """Break on a parameter of the query that is not known."""
    for name in ask.query:
        _ = {"limit": int, "cursor": str}[name]


CRASHES: Mapping[tuple[str, str], tuple[Spoil, ...]] = {
    ("FUZ-001", "createQuote"): (_body_in_ascii, _object, _empty_texts),
    ("FUZ-002", "executeQuote"): (_path_in_ascii,),
    ("FUZ-003", "authorizeQuote"): (_path_in_ascii, _body_in_ascii, _object, _empty_texts),
    ("FUZ-004", "listTransactions"): (_query_in_ascii,),
    ("FUZ-005", "approveTransaction"): (_path_in_ascii,),
    ("FUZ-006", "createCustomer"): (_body_in_ascii, _object, _empty_texts),
    ("FUZ-007", "updateCustomer"): (_path_in_ascii, _body_in_ascii, _object, _empty_texts),
    ("FUZ-008", "getCustomer"): (_path_in_ascii,),
    ("FUZ-009", "getEndUserTerms"): (_known_query,),
    ("FUZ-010", "getConfig"): (_known_query,),
    ("FUZ-011", "updateConfig"): (_object,),
    ("FUZ-012", "listCustomerInternalAccounts"): (_query_in_ascii,),
    ("FUZ-013", "listPlatformInternalAccounts"): (_query_in_ascii,),
    ("FUZ-014", "fundInternalAccount"): (_path_in_ascii, _body_in_ascii, _object),
    ("FUZ-015", "createExternalAccount"): (_body_in_ascii, _object, _empty_texts),
    ("FUZ-016", "listCustomerExternalAccounts"): (_query_in_ascii,),
    ("FUZ-017", "listPlatformExternalAccounts"): (_known_query,),
    ("FUZ-018", "getExternalAccount"): (_path_in_ascii,),
    ("FUZ-019", "deleteExternalAccount"): (_path_in_ascii,),
    ("FUZ-020", "lookupExternalAccount"): (_path_in_ascii, _query_in_ascii),
    ("FUZ-021", "listDiscoveries"): (_query_in_ascii,),
    ("FUZ-022", "transferIn"): (_body_in_ascii, _object),
    ("FUZ-023", "transferOut"): (_body_in_ascii, _object),
}
"""How each operation, under its requirement, may break on input that is rare."""


def _crashing(operation: str, spoil: Spoil) -> Callable[[Patch], None]:
    row = routes.OPERATIONS[operation]

    def crash(handler: routes.Handler) -> routes.Handler:
        def broken(unit: Unit, ask: Ask) -> Any:
            spoil(ask)
            return handler(unit, ask)

        return broken

    return lambda patch: patch.wrap(f"{row.module.__name__}:{row.function}", crash)


for (_requirement, _operation), _spoils in CRASHES.items():
    for _spoil in _spoils:
        declare(
            _requirement,
            _spoil.__name__.strip("_"),
            f"{_operation}: {(_spoil.__doc__ or '').strip('.').lower()}",
            _crashing(_operation, _spoil),
        )


@mutant("FUZ-001", "a deeply nested body exhausts the stack")
def no_depth(patch: Patch) -> None:
    """Walk the body by a function that calls itself, without a bound."""

    def walk(value: Any) -> None:
        for member in value.values() if isinstance(value, dict) else value:
            if isinstance(member, dict | list):
                walk(member)

    def careless(_read: Any) -> Any:
        async def read_json(request: Any, _limit: int) -> Any:
            text = (await request.body()).decode("utf-8", "replace")
            if text.count("[") > 1_000 or text.count("{") > 1_000:  # noqa: PLR2004
                raise RecursionError
            return json.loads(text)

        return read_json

    _ = walk
    patch.wrap(_READ_JSON, careless)
