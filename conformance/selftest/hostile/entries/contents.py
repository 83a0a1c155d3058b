"""Targets whose contents are wrong: pages of lists, money, states, texts for people."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from conformance.selftest.hostile.entry import BROKEN, UNDECIDED, Entry, Expected, front
from conformance.selftest.hostile.front import (
    ACCOUNTS,
    CREATE_CUSTOMER,
    CREATE_QUOTE,
    EXECUTE,
    READ_CUSTOMER,
    TRANSACTIONS,
    Behaviour,
    Reply,
    body_bytes,
    json_body,
    member,
    only,
    reply,
    status,
)
from conformance.verdict.decisions import Reason
from conformance.verdict.plan import RequirementVerdict

_SHORT = {"timing": {"state": 0.4, "event": 0.4}}
_NOT_LISTED = Expected(UNDECIDED, {"TRX-070": (Reason.PRECONDITION, RequirementVerdict.FAILED)})
_STOPPED = Expected(UNDECIDED, {"QUO-083": (Reason.PRECONDITION, RequirementVerdict.FAILED)})
_MARKS = "\x1b[2J\x1b]0;owned\x07\x9b31m\u202e\u2066\u200f<script>alert(1)</script><img src=x>"


_BALANCES = ("balance", "totalBalance")


def _amount(known: Any, value: Any) -> Any:
    """Return an amount with another value, as a number or with its currency."""
    return {**known, "amount": value} if isinstance(known, dict) else value


def _page_entry(name: str, does: str, change: Callable[[Any], Any], expected: Expected) -> Entry:
    """Return an entry whose target changes its lists of transactions."""
    start = front(lambda: only(TRANSACTIONS, json_body(change)))
    return Entry(f"pages-{name}", does, start, expected, "transactions", _SHORT)


def _lists_endless_pages() -> Behaviour:
    """Return a behaviour that lists nothing, on pages without end."""
    numbers = itertools.count()
    return json_body(lambda body: {**body, "data": [], "nextCursor": f"page-{next(numbers)}"})


def _quote_entry(name: str, does: str, expected: Expected = _STOPPED, **members: Any) -> Entry:
    """Return an entry whose target creates quotes with other members."""
    start = front(lambda: only(CREATE_QUOTE, json_body(lambda body: {**body, **members})))
    return Entry(f"money-{name}", does, start, expected, "execution or limit", _SHORT)


def _balance_entry(name: str, does: str, value: Any) -> Entry:
    """Return an entry whose target shows ``value`` as all balances."""

    def with_balances(account: Any) -> Any:
        return {**account, **{name: _amount(account[name], value) for name in _BALANCES}}

    def change(body: Any) -> Any:
        return {**body, "data": [with_balances(account) for account in body["data"]]}

    start = front(lambda: only(ACCOUNTS, json_body(change)))
    expected = Expected(UNDECIDED, {"QUO-083": (Reason.PRECONDITION, Reason.TRIGGER_FAILED)})
    return Entry(f"money-{name}", does, start, expected, "execution", _SHORT)


def _adds_a_million() -> Behaviour:
    """Return a behaviour that shows a million more in each account at each reading."""
    amounts = itertools.count(1_000_000, 1_000_000)

    def with_more(account: Any) -> Any:
        total = account["totalBalance"]
        amount = total["amount"] if isinstance(total, dict) else total
        return {**account, "totalBalance": _amount(total, amount + next(amounts))}

    return only(
        ACCOUNTS, json_body(lambda b: {**b, "data": [with_more(account) for account in b["data"]]})
    )


def _state_entry(name: str, does: str, value: Any) -> Entry:
    """Return an entry whose target shows one status of transactions for ever."""

    def change(body: Any) -> Any:
        return {**body, "data": [{**transaction, "status": value} for transaction in body["data"]]}

    start = front(lambda: only(TRANSACTIONS, json_body(change)))
    expected = Expected(
        UNDECIDED, {"EVT-011": (Reason.PRECONDITION, RequirementVerdict.FAILED)}, seconds=6
    )
    return Entry(f"state-{name}", does, start, expected, "webhook", _SHORT)


def _text_entry(name: str, does: str, behaviour: Callable[[], Behaviour], runs: str) -> Entry:
    """Return an entry whose target sends texts that must not reach a terminal or a page."""
    return Entry(f"shown-{name}", does, front(behaviour), Expected((0, *UNDECIDED)), runs)


def _with_marks(answer: Reply) -> Reply:
    return answer.with_headers(x_note="\x9b31m<script>alert(1)</script>", server="\x85\x84")


ENTRIES = (
    Entry(
        "pages-without-end",
        "Lists nothing, on pages without end.",
        front(lambda: only(TRANSACTIONS, _lists_endless_pages())),
        Expected(
            UNDECIDED, {"TRX-070": (Reason.PRECONDITION, RequirementVerdict.FAILED)}, at_most=600
        ),
        "transactions",
        _SHORT,
    ),
    _page_entry(
        "to-itself",
        "Leads from an empty page to itself.",
        lambda b: {**b, "data": [], "nextCursor": "same"},
        _NOT_LISTED,
    ),
    _page_entry(
        "of-two-lists", "Holds two lists.", lambda b: {"a": b["data"], "b": []}, _NOT_LISTED
    ),
    _page_entry(
        "of-numbers", "Lists numbers.", lambda b: {**b, "data": [1, None, "x", []]}, _NOT_LISTED
    ),
    _page_entry(
        "among-nonsense",
        "Lists null and numbers before what is right.",
        lambda b: {**b, "data": [None, 7, {}, *b["data"]]},
        Expected(UNDECIDED),
    ),
    _page_entry(
        "with-huge-cursor",
        "Leads on by 100,000 characters.",
        lambda b: {**b, "data": [], "nextCursor": "x" * 100_000},
        Expected(UNDECIDED),
    ),
    _page_entry(
        "with-cursor-of-surrogates",
        "Leads on by half a surrogate.",
        lambda b: {**b, "data": [], "nextCursor": "\ud800"},
        _NOT_LISTED,
    ),
    _quote_entry(
        "as-text", "Writes amounts as texts.", Expected(UNDECIDED), totalSendingAmount="10000"
    ),
    _quote_entry(
        "negative",
        "Quotes negative amounts.",
        Expected((*UNDECIDED, 0)),
        totalSendingAmount=-10_000,
    ),
    _quote_entry(
        "of-a-half", "Quotes half a cent.", Expected((*UNDECIDED, 0)), totalSendingAmount=10_000.5
    ),
    Entry(
        "money-of-1e400",
        "Quotes an amount of 1e400.",
        front(
            lambda: only(
                CREATE_QUOTE,
                body_bytes(lambda b: b[:-1] + b', "totalSendingAmount": 1e400}'),
            )
        ),
        Expected(UNDECIDED),
        "execution or limit",
        _SHORT,
    ),
    _balance_entry("balance-as-text", "Shows balances as texts.", "100000"),
    _balance_entry("balance-of-nothing", "Shows balances of 0 for ever.", 0),
    Entry(
        "money-made",
        "Shows a million more in each account at each reading.",
        front(_adds_a_million),
        Expected(
            (BROKEN,), {"ACC-014": RequirementVerdict.FAILED, "QUO-083": RequirementVerdict.PASSED}
        ),
        "execution",
        _SHORT,
    ),
    _state_entry("processing", "Shows PROCESSING for ever.", "PROCESSING"),
    _state_entry("list", "Shows a list as the status.", ["COMPLETED"]),
    Entry(
        "state-far-away",
        "Creates quotes that expire in the year 9999, beyond what any clock adds up.",
        front(lambda: only(CREATE_QUOTE, member("expiresAt", "9999-12-31T23:59:59-23:59"))),
        Expected(UNDECIDED, {"QUO-110": Reason.TRIGGER_FAILED}),
        "expiry",
        {"triggers": {"quote.expire": {"http": None, "wait": {"until": "expiresAt"}}}},
    ),
    Entry(
        "accepts-everything",
        "Refuses nothing: each refusal becomes a success.",
        front(
            lambda: only(
                CREATE_QUOTE, lambda t: t.send(Reply(201, t.answer().headers, t.answer().body))
            )
        ),
        Expected((BROKEN,), {"LIM-002": RequirementVerdict.FAILED}),
        "limit",
    ),
    _text_entry(
        "in-errors",
        "Refuses executions with escape codes, bidirectional marks and HTML.",
        lambda: only(EXECUTE, status(400, {"status": 400, "code": _MARKS, "message": _MARKS})),
        "execution",
    ),
    _text_entry(
        "in-names",
        "Knows customers by names and members of escape codes and HTML.",
        lambda: only(READ_CUSTOMER, json_body(lambda b: {**b, "fullName": _MARKS, _MARKS: 1})),
        "customer",
    ),
    _text_entry(
        "in-headers",
        "Sends headers of C1 codes and HTML.",
        lambda: only(READ_CUSTOMER, reply(_with_marks)),
        "customer",
    ),
    _text_entry(
        "in-media-types",
        "Sends a media type of C1 codes and HTML.",
        lambda: only(
            READ_CUSTOMER,
            reply(lambda a: a.with_headers(content_type="text/\x9b31m<script>alert(1)</script>")),
        ),
        "customer",
    ),
    _text_entry(
        "in-statuses",
        "Creates customers at a status of escape codes.",
        lambda: only(CREATE_CUSTOMER, json_body(lambda b: {**b, "kycStatus": _MARKS})),
        "customer or execution",
    ),
    _text_entry(
        "in-refusals-of-triggers",
        "Refuses triggers with escape codes and HTML.",
        lambda: only("POST /control/quotes", status(400, {"message": _MARKS})),
        "expiry",
    ),
)
