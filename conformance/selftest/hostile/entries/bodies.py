"""Targets whose bodies are JSON of another kind, or nearly JSON."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance.selftest.hostile.entry import BROKEN, OPEN, UNDECIDED, Entry, Expected, front
from conformance.selftest.hostile.front import (
    ACCOUNTS,
    CONFIG,
    CREATE_QUOTE,
    EXECUTE,
    INTERFACE,
    READ_CUSTOMER,
    Behaviour,
    body_bytes,
    content,
    json_body,
    once,
    only,
    pass_on,
)
from conformance.verdict.decisions import Reason
from conformance.verdict.plan import RequirementVerdict

_NOT_JSON = Expected((BROKEN,), {"CNV-002": RequirementVerdict.FAILED})
_TOO_DEEP = Expected(
    (OPEN,), {"CNV-002": RequirementVerdict.PASSED, "CUS-005": (Reason.PRECONDITION,)}
)
_WRONG_SHAPE = Expected((BROKEN,), {"CNV-003": RequirementVerdict.FAILED})


def _reading_entry(
    name: str, does: str, behaviour: Callable[[], Behaviour], expected: Expected
) -> Entry:
    """Return an entry whose target shows ``behaviour`` where a customer is read."""
    return Entry(name, does, front(lambda: only(READ_CUSTOMER, behaviour())), expected, "customer")


def _answer_entry(name: str, does: str, value: Any) -> Entry:
    """Return an entry whose target gives ``value`` to all requests but that at the start."""
    behaviour = json_body(lambda _: value)
    return Entry(
        name,
        does,
        front(lambda: only(CONFIG, once(pass_on, behaviour), only(INTERFACE, behaviour))),
        Expected(UNDECIDED, {"ACC-014": tuple(Reason)}),
    )


ENTRIES = (
    _answer_entry("all-null", "Answers everything with null.", None),
    _answer_entry("all-text", "Answers everything with a text.", "id"),
    _answer_entry(
        "all-wrong-members",
        "Answers everything with the right names and values of another kind.",
        {
            "id": ["Customer:1"],
            "status": {},
            "data": {"id": 1},
            "expiresAt": [],
            "transactionId": {},
            "currency": 7,
            "balance": "1",
            "totalBalance": None,
            "source": [],
            "destination": 0,
            "customerId": [],
            "nextCursor": {},
            "supportedCurrencies": 3,
            "code": [],
            "message": {},
        },
    ),
    _reading_entry("null", "Answers a reading with null.", lambda: content(b"null"), _WRONG_SHAPE),
    _reading_entry("nan", "Answers a reading with NaN.", lambda: content(b"NaN"), _NOT_JSON),
    _reading_entry(
        "number-too-large",
        "Answers with a member of 1e400, which is valid JSON.",
        lambda: body_bytes(lambda body: body[:-1] + b', "x": 1e400}'),
        Expected((OPEN, BROKEN, 0)),
    ),
    _reading_entry(
        "number-of-5,000-digits",
        "Answers with an integer of 5,000 digits, which is valid JSON.",
        lambda: body_bytes(lambda body: body[:-1] + b', "x": ' + b"9" * 5_000 + b"}"),
        Expected((OPEN, BROKEN, 0)),
    ),
    _reading_entry(
        "half-surrogates",
        "Answers with half surrogates in names and values.",
        lambda: body_bytes(lambda body: body[:-1] + rb', "x\ud800": "\udfff"}'),
        Expected((OPEN, BROKEN, 0)),
    ),
    _reading_entry(
        "key-twice",
        "Gives the id twice, first the right one.",
        lambda: body_bytes(lambda body: body[:-1] + b', "id": "Customer:other"}'),
        Expected((BROKEN,), {"CUS-005": RequirementVerdict.FAILED}),
    ),
    _reading_entry(
        "1,000-deep",
        "Answers with 1,000 objects in each other.",
        lambda: content(b'{"a":' * 1_000 + b"1" + b"}" * 1_000),
        _TOO_DEEP,
    ),
    _reading_entry(
        "100,000-deep",
        "Answers with 100,000 lists in each other.",
        lambda: content(b"[" * 100_000),
        _TOO_DEEP,
    ),
    _reading_entry(
        "60-deep",
        "Answers with a member of 60 lists in each other.",
        lambda: body_bytes(lambda body: body[:-1] + b', "x": ' + b"[" * 60 + b"]" * 60 + b"}"),
        Expected((0, OPEN)),
    ),
    _reading_entry(
        "latin-1",
        "Answers in Latin-1, though JSON is UTF-8.",
        lambda: body_bytes(lambda body: body[:-1] + ', "x": "Zürich"}'.encode("latin-1")),
        _NOT_JSON,
    ),
    _reading_entry(
        "no-body",
        "Answers 200 with nothing.",
        lambda: content(b""),
        Expected((BROKEN,), {"CUS-005": (RequirementVerdict.FAILED, Reason.PRECONDITION)}),
    ),
    _reading_entry(
        "nul-in-a-text",
        "Sends a NUL in a text, as an escape.",
        lambda: body_bytes(lambda b: b[:-1] + rb', "x": "a\u0000b"}'),
        Expected((0, OPEN)),
    ),
    Entry(
        "accounts-of-text",
        "Lists texts in the place of internal accounts.",
        front(lambda: only(ACCOUNTS, json_body(lambda _: {"data": ["a", "b"]}))),
        Expected(UNDECIDED, {"QUO-083": Reason.PRECONDITION}),
        "execution",
    ),
    Entry(
        "quote-without-members",
        "Creates quotes that have an id alone.",
        front(lambda: only(CREATE_QUOTE, json_body(lambda b: {"id": b["id"]}))),
        Expected(UNDECIDED, {"TRX-070": tuple(Reason)}),
        "execution or expiry or transactions",
    ),
    Entry(
        "executed-list",
        "Executes a quote and answers with a list.",
        front(lambda: only(EXECUTE, json_body(lambda b: [b]))),
        Expected(
            (BROKEN,), {"CNV-003": RequirementVerdict.FAILED, "QUO-083": RequirementVerdict.PASSED}
        ),
        "execution",
    ),
)
