"""Targets whose ids mean more than a name to a shell, path, terminal, page or template."""

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


def adds_suffix(suffix: str, then: Behaviour | None = None) -> Behaviour:
    """Return a behaviour that adds ``suffix`` to every id and takes ids with it.

    ``then`` answers executions; all else is answered as the reference does.
    """
    escaped_suffix = json.dumps(suffix)[1:-1].encode()

    def behave(turn: Turn) -> None:
        if then is not None and re.match(EXECUTE, turn.line):
            then(turn)
            return
        answer = turn.ask(_without_suffix(turn.received, suffix))
        turn.send(
            replace(answer, body=_IDS.sub(lambda match: match[0] + escaped_suffix, answer.body))
        )

    return behave


def _without_suffix(received: Any, suffix: str) -> Any:
    """Return a request with the ids that the reference knows."""
    path, _, query = received.path.partition("?")
    path = quote(unquote(path).replace(suffix, ""), safe="/:")
    if query:
        pairs = [(name, value.replace(suffix, "")) for name, value in parse_qsl(query)]
        path = f"{path}?{urlencode(pairs)}"
    body = received.body
    if body:
        body = json.dumps(_json_without(json.loads(body), suffix)).encode()
    return replace(received, path=path, body=body)


def _json_without(value: Any, suffix: str) -> Any:
    if isinstance(value, str):
        return value.replace(suffix, "")
    if isinstance(value, list):
        return [_json_without(member, suffix) for member in value]
    if isinstance(value, dict):
        return {name: _json_without(member, suffix) for name, member in value.items()}
    return value


def gives_aliases(aliases: Mapping[str, str], then: Behaviour) -> Behaviour:
    """Return a behaviour that gives the first resource of each kind an id from ``aliases``.

    ``then`` answers executions.
    """
    real_ids: dict[str, str] = {}

    def alias_of(match: re.Match[bytes]) -> bytes:
        real = match[0].decode()
        alias = aliases.get(real.partition(":")[0])
        if alias is not None and real_ids.setdefault(alias, real) == real:
            return json.dumps(alias)[1:-1].encode()
        return match[0]

    def behave(turn: Turn) -> None:
        if re.match(EXECUTE, turn.line):
            then(turn)
            return
        received = turn.received
        path, _, query = received.path.partition("?")
        parts = [unquote(part) for part in path.split("/")]
        pairs = [(name, real_ids.get(value, value)) for name, value in parse_qsl(query)]
        path = "/".join(quote(real_ids.get(part, part), safe=":") for part in parts)
        body = (
            received.body
            and json.dumps(_with_real_ids(json.loads(received.body), real_ids)).encode()
        )
        path = f"{path}?{urlencode(pairs)}" if pairs else path
        answer = turn.ask(replace(received, path=path, body=body))
        turn.send(replace(answer, body=_IDS.sub(alias_of, answer.body)))

    return behave


def _with_real_ids(value: Any, real_ids: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return real_ids.get(value, value)
    if isinstance(value, list):
        return [_with_real_ids(member, real_ids) for member in value]
    if isinstance(value, dict):
        return {name: _with_real_ids(member, real_ids) for name, member in value.items()}
    return value


_SAME = Expected(
    (OPEN,),
    dict.fromkeys(("CUS-005", "CUS-006", "QUO-110"), RequirementVerdict.PASSED),
    never_received=("pwned", "/control/reset"),
)
"""The specification allows any id, so that the verdicts are those of the reference."""


def _suffix_entry(name: str, does: str, suffix: str, expected: Expected = _SAME) -> Entry:
    return Entry(f"ids-{name}", does, front(lambda: adds_suffix(suffix)), expected, _RUNS)


def _script_entry(name: str, does: str, suffix: str) -> Entry:
    """Return an entry that also fails a check, so that there are scripts to execute."""
    failing = status(500, {"status": 500, "code": "INTERNAL_ERROR", "message": suffix})
    expected = Expected((BROKEN,), {"QUO-083": RequirementVerdict.FAILED}, scripts=True)
    start = front(lambda: adds_suffix(suffix, failing))
    return Entry(f"ids-{name}", does, start, expected, "execution")


def _quote_entry(
    name: str,
    does: str,
    value: Any,
    *never: str,
    triggers: Mapping[str, Any] | None = None,
    reasons: tuple[Reason, ...] = _OPEN,
) -> Entry:
    """Return an entry whose target gives quotes the id ``value``, which a trigger gets."""
    expected = Expected(
        UNDECIDED, {"QUO-110": reasons}, never_received=("pwned", "/control/expire", *never)
    )
    profile = {"triggers": triggers} if triggers else {}
    start = front(lambda: only(CREATE_QUOTE, member("id", value)))
    return Entry(f"quote-{name}", does, start, expected, "expiry", profile)


def _customer_entry(name: str, does: str, value: Any) -> Entry:
    """Return an entry whose target gives customers the id ``value``."""
    expected = Expected(UNDECIDED, {"CUS-005": (*_OPEN, RequirementVerdict.FAILED)})
    start = front(lambda: only(CREATE_CUSTOMER, member("id", value)))
    return Entry(f"customer-{name}", does, start, expected, "customer or execution")


def _command(*words: str) -> dict[str, Any]:
    return {"quote.expire": {"http": None, "command": list(words)}}


def _changes_ids() -> Behaviour:
    """Return a behaviour that gives the customer another id at each reading."""
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
            lambda: gives_aliases(
                {"Customer": "Customer:'", "InternalAccount": "Customer:'$(touch pwned)"},
                status(500, {"status": 500, "code": "INTERNAL_ERROR", "message": "no"}),
            )
        ),
        Expected((BROKEN,), {"QUO-083": RequirementVerdict.FAILED}, scripts=True),
        "execution",
    ),
    _script_entry("of-a-shell", "Ids that close a quote and run a command.", "'$(touch pwned)'"),
    _script_entry(
        "of-lines", "Ids with line feeds and a command.", "\ntouch pwned\n'\ntouch pwned\n"
    ),
    _script_entry(
        "of-curl", "Ids that curl would read files for.", "@/etc/passwd -o pwned {a,b}[1-9]"
    ),
    _suffix_entry("of-a-path", "Ids that lead to another path.", "/../../../control/reset"),
    _suffix_entry("of-a-query", "Ids with a query and a fragment.", "?x=y#z"),
    _suffix_entry("of-percents", "Ids that are percent-encoded already.", "%2e%2e%2f%zz"),
    _suffix_entry(
        "of-html", "Ids of HTML.", "<script>alert(1)</script><img src=x onerror=alert(1)>"
    ),
    _suffix_entry(
        "of-a-terminal", "Ids of escape codes, of C0 and C1.", "\x1b[2J\x1b]0;owned\x07\x9b31m\x85"
    ),
    _suffix_entry("of-bidi", "Ids that turn the direction of a text.", "\u202edetcejer\u2066"),
    _suffix_entry(
        "of-templates", "Ids that are templates.", "{origin}{quoteId}{{ 7 * 7 }}{0.__class__}%s"
    ),
    _suffix_entry("of-json", "Ids that end a JSON text.", '"},{"id":"'),
    _suffix_entry("of-dots-and-dashes", "Ids of dots, dashes, colons and tildes.", ":a.b-c_d=e~"),
    _suffix_entry("of-5,000-characters", "Ids of 5,000 characters.", "x" * 5_000),
    _suffix_entry("of-nul", "Ids with a NUL.", "a\0b"),
    _suffix_entry(
        "of-half-surrogates",
        "Ids with half surrogates, which no URL can spell.",
        "\ud800",
        Expected(UNDECIDED, never_received=("pwned",)),
    ),
    _quote_entry("of-dots", "Quotes whose id is two dots.", ".."),
    _quote_entry("of-nothing", "Quotes with an empty id.", ""),
    _quote_entry("of-null", "Quotes whose id is null.", None),
    _quote_entry("of-a-list", "Quotes whose id is a list.", ["Quote:1"]),
    _quote_entry(
        "of-1-mb", "Quotes whose id has a million characters.", "Quote:" + "x" * 1_000_000
    ),
    _quote_entry(
        "as-an-option",
        "Quotes whose id a command would take for an option.",
        "--help",
        triggers=_command("ls", "{quoteId}"),
        reasons=(Reason.TRIGGER_FAILED, Reason.PRECONDITION),
    ),
    _quote_entry(
        "with-nul-for-a-command",
        "Quotes whose id no command can be given.",
        "Quote:a\0b",
        triggers=_command("true", "{quoteId}"),
    ),
    _quote_entry(
        "with-surrogates-for-a-command",
        "Quotes whose id no command can be given, nor a file hold.",
        "Quote:\udc80",
        triggers=_command("true", "{quoteId}"),
    ),
    _customer_entry("of-a-list", "Customers whose id is a list.", [1]),
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
        front(_changes_ids),
        Expected((BROKEN,), {"CUS-005": RequirementVerdict.FAILED}),
        "customer",
    ),
)
