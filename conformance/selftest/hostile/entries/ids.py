"""Identifiers that are more than a name to a shell, a path, a terminal, a page or a template."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlencode

from conformance.selftest.hostile.entry import BROKEN, OPEN, UNDECIDED, Entry, Expected, front
from conformance.selftest.hostile.front import (
    CREATE_CUSTOMER,
    CREATE_QUOTE,
    EXECUTE,
    READ_CUSTOMER,
    Behaviour,
    Turn,
    json_body,
    member,
    only,
    status,
)
from conformance.verdict.decisions import Reason
from conformance.verdict.plan import RequirementVerdict

_IDS = re.compile(rb"(?:Customer|InternalAccount|ExternalAccount|Quote|Transaction):[\w-]+")
_OPEN = (
    Reason.PRECONDITION,
    Reason.TRIGGER_FAILED,
    Reason.TARGET_LOST,
    Reason.TWIN_REFUSED,
)
_RUNS = "customer or expiry"


def suffixed(suffix: str, then: Behaviour | None = None) -> Behaviour:
    """Let every id end in ``suffix``, and understand those that do; else as the reference does.

    ``then`` answers executions.
    """
    spelled = json.dumps(suffix)[1:-1].encode()

    def behave(turn: Turn) -> None:
        if then is not None and re.match(EXECUTE, turn.line):
            then(turn)
            return
        answer = turn.ask(_understood(turn.received, suffix))
        turn.send(replace(answer, body=_IDS.sub(lambda found: found[0] + spelled, answer.body)))

    return behave


def _understood(received: Any, suffix: str) -> Any:
    """Return a request with the ids that the reference knows."""
    path, _, query = received.path.partition("?")
    path = quote(unquote(path).replace(suffix, ""), safe="/:")
    if query:
        pairs = [(name, value.replace(suffix, "")) for name, value in parse_qsl(query)]
        path = f"{path}?{urlencode(pairs)}"
    body = received.body
    if body:
        body = json.dumps(_without(json.loads(body), suffix)).encode()
    return replace(received, path=path, body=body)


def _without(value: Any, suffix: str) -> Any:
    if isinstance(value, str):
        return value.replace(suffix, "")
    if isinstance(value, list):
        return [_without(member, suffix) for member in value]
    if isinstance(value, dict):
        return {name: _without(member, suffix) for name, member in value.items()}
    return value


def aliased(aliases: Mapping[str, str], then: Behaviour) -> Behaviour:
    """Give the first resource of each kind an id of ours; ``then`` answers executions."""
    known: dict[str, str] = {}

    def named(found: re.Match[bytes]) -> bytes:
        real = found[0].decode()
        alias = aliases.get(real.partition(":")[0])
        if alias is not None and known.setdefault(alias, real) == real:
            return json.dumps(alias)[1:-1].encode()
        return found[0]

    def behave(turn: Turn) -> None:
        if re.match(EXECUTE, turn.line):
            then(turn)
            return
        received = turn.received
        path, _, query = received.path.partition("?")
        parts = [unquote(part) for part in path.split("/")]
        pairs = [(name, known.get(value, value)) for name, value in parse_qsl(query)]
        path = "/".join(quote(known.get(part, part), safe=":") for part in parts)
        body = received.body and json.dumps(_replaced(json.loads(received.body), known)).encode()
        path = f"{path}?{urlencode(pairs)}" if pairs else path
        answer = turn.ask(replace(received, path=path, body=body))
        turn.send(replace(answer, body=_IDS.sub(named, answer.body)))

    return behave


def _replaced(value: Any, known: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return known.get(value, value)
    if isinstance(value, list):
        return [_replaced(member, known) for member in value]
    if isinstance(value, dict):
        return {name: _replaced(member, known) for name, member in value.items()}
    return value


_SAME = Expected(
    (OPEN,),
    dict.fromkeys(("CUS-005", "CUS-006", "QUO-110"), RequirementVerdict.PASSED),
    never_received=("pwned", "/control/reset"),
)
"""The specification allows any id, so that the verdicts are those of the reference."""


def _suffixed(name: str, does: str, suffix: str, expected: Expected = _SAME) -> Entry:
    return Entry(f"ids-{name}", does, front(lambda: suffixed(suffix)), expected, _RUNS)


def _scripted(name: str, does: str, suffix: str) -> Entry:
    """Return an entry that also fails a check, so that there are scripts to execute."""
    failing = status(500, {"status": 500, "code": "INTERNAL_ERROR", "message": suffix})
    expected = Expected((BROKEN,), {"QUO-083": RequirementVerdict.FAILED}, scripts=True)
    start = front(lambda: suffixed(suffix, failing))
    return Entry(f"ids-{name}", does, start, expected, "execution")


def _quote(
    name: str,
    does: str,
    value: Any,
    *never: str,
    triggers: Mapping[str, Any] | None = None,
    decided: tuple[Reason, ...] = _OPEN,
) -> Entry:
    """Return an entry whose target gives quotes an id of that value, which a trigger gets."""
    expected = Expected(
        UNDECIDED, {"QUO-110": decided}, never_received=("pwned", "/control/expire", *never)
    )
    profile = {"triggers": triggers} if triggers else {}
    start = front(lambda: only(CREATE_QUOTE, member("id", value)))
    return Entry(f"quote-{name}", does, start, expected, "expiry", profile)


def _customer(name: str, does: str, value: Any) -> Entry:
    """Return an entry whose target gives customers an id of that value."""
    expected = Expected(UNDECIDED, {"CUS-005": (*_OPEN, RequirementVerdict.FAILED)})
    start = front(lambda: only(CREATE_CUSTOMER, member("id", value)))
    return Entry(f"customer-{name}", does, start, expected, "customer or execution")


def _command(*words: str) -> dict[str, Any]:
    return {"quote.expire": {"http": None, "command": list(words)}}


def _changing() -> Behaviour:
    """Give the customer another id at each reading."""
    readings: list[int] = []

    def change(body: Any) -> Any:
        readings.append(1)
        return {**body, "id": f"{body['id']}{len(readings)}"}

    return only(READ_CUSTOMER, json_body(change))


ENTRIES = (
    Entry(
        "ids-within-ids",
        "An id that ends in a quote, and another that begins with it and runs a command.",
        front(
            lambda: aliased(
                {"Customer": "Customer:'", "InternalAccount": "Customer:'$(touch pwned)"},
                status(500, {"status": 500, "code": "INTERNAL_ERROR", "message": "no"}),
            )
        ),
        Expected((BROKEN,), {"QUO-083": RequirementVerdict.FAILED}, scripts=True),
        "execution",
    ),
    _scripted("of-a-shell", "Ids that close a quote and run a command.", "'$(touch pwned)'"),
    _scripted("of-lines", "Ids with line feeds and a command.", "\ntouch pwned\n'\ntouch pwned\n"),
    _scripted("of-curl", "Ids that curl would read files for.", "@/etc/passwd -o pwned {a,b}[1-9]"),
    _suffixed("of-a-path", "Ids that lead to another path.", "/../../../control/reset"),
    _suffixed("of-a-query", "Ids with a query and a fragment.", "?x=y#z"),
    _suffixed("of-percents", "Ids that are percent-encoded already.", "%2e%2e%2f%zz"),
    _suffixed("of-html", "Ids of HTML.", "<script>alert(1)</script><img src=x onerror=alert(1)>"),
    _suffixed(
        "of-a-terminal", "Ids of escape codes, of C0 and C1.", "\x1b[2J\x1b]0;owned\x07\x9b31m\x85"
    ),
    _suffixed("of-bidi", "Ids that turn the direction of a text.", "\u202edetcejer\u2066"),
    _suffixed(
        "of-templates", "Ids that are templates.", "{origin}{quoteId}{{ 7 * 7 }}{0.__class__}%s"
    ),
    _suffixed("of-json", "Ids that end a JSON text.", '"},{"id":"'),
    _suffixed("of-dots-and-dashes", "Ids of dots, dashes, colons and tildes.", ":a.b-c_d=e~"),
    _suffixed("of-5,000-characters", "Ids of 5,000 characters.", "x" * 5_000),
    _suffixed("of-nul", "Ids with a NUL.", "a\0b"),
    _suffixed(
        "of-half-surrogates",
        "Ids with half surrogates, which no URL can spell.",
        "\ud800",
        Expected(UNDECIDED, never_received=("pwned",)),
    ),
    _quote("of-dots", "Quotes whose id is two dots.", ".."),
    _quote("of-nothing", "Quotes with an empty id.", ""),
    _quote("of-null", "Quotes whose id is null.", None),
    _quote("of-a-list", "Quotes whose id is a list.", ["Quote:1"]),
    _quote("of-1-mb", "Quotes whose id has a million characters.", "Quote:" + "x" * 1_000_000),
    _quote(
        "as-an-option",
        "Quotes whose id a command would take for an option.",
        "--help",
        triggers=_command("ls", "{quoteId}"),
        decided=(Reason.TRIGGER_FAILED, Reason.PRECONDITION),
    ),
    _quote(
        "with-nul-for-a-command",
        "Quotes whose id no command can be given.",
        "Quote:a\0b",
        triggers=_command("true", "{quoteId}"),
    ),
    _quote(
        "with-surrogates-for-a-command",
        "Quotes whose id no command can be given, nor a file hold.",
        "Quote:\udc80",
        triggers=_command("true", "{quoteId}"),
    ),
    _customer("of-a-list", "Customers whose id is a list.", [1]),
    Entry(
        "transaction-of-a-list",
        "Quotes whose transaction is a list.",
        front(lambda: only(CREATE_QUOTE, member("transactionId", ["Transaction:1"]))),
        Expected(UNDECIDED, {"TRX-070": (*_OPEN, RequirementVerdict.FAILED)}),
        "transactions",
        {"timing": {"state": 0.3}},
    ),
    Entry(
        "id-that-changes",
        "Customers who have another id at each reading.",
        front(_changing),
        Expected((BROKEN,), {"CUS-005": RequirementVerdict.FAILED}),
        "customer",
    ),
)
