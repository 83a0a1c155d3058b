"""Targets that send the credentials back, in whatever place and spelling."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable
from urllib.parse import quote

from conformance.selftest.hostile.entry import (
    BROKEN,
    CONFORMANT,
    OPEN,
    UNDECIDED,
    Entry,
    Expected,
    front,
    webhook_front,
)
from conformance.selftest.hostile.front import (
    CONFIG,
    CREATE_CUSTOMER,
    EXECUTE,
    READ_CUSTOMER,
    Behaviour,
    Turn,
    body_bytes,
    content,
    json_body,
    only,
    reply,
    sends,
    status,
)
from conformance.selftest.hostile.runs import CLIENT_SECRET, TOKEN_ID
from conformance.verdict.plan import RequirementVerdict

_BASIC = b64encode(f"{TOKEN_ID}:{CLIENT_SECRET}".encode()).decode()
_ESCAPED = "".join(f"\\u{ord(character):04x}" for character in CLIENT_SECRET)
_WARNED = Expected(
    (CONFORMANT, OPEN), {"AUT-043": RequirementVerdict.WARNED, "CUS-005": RequirementVerdict.PASSED}
)
_ANY = Expected((CONFORMANT, *UNDECIDED))


def _reading_entry(
    name: str, does: str, behaviour: Callable[[], Behaviour], expected: Expected = _WARNED
) -> Entry:
    """Return an entry whose target sends a secret back where a customer is read."""
    return Entry(name, does, front(lambda: only(READ_CUSTOMER, behaviour())), expected, "customer")


def _adds_note(spelling: str) -> Callable[[], Behaviour]:
    """Return a behaviour that adds a member ``note`` whose text is spelled so in the JSON."""
    return lambda: body_bytes(lambda body: body[:-1] + f', "note": "{spelling}"}}'.encode())


def _in_json(text: str) -> str:
    return json.dumps(text)[1:-1]


def _failure(message: str) -> Behaviour:
    return status(500, {"status": 500, "code": "INTERNAL_ERROR", "message": message})


def _echoes_in_webhooks(turn: Turn) -> None:
    """Send a delivery that holds the credentials everywhere, then the right one."""
    event = {
        "id": CLIENT_SECRET,
        "type": f"OUTGOING_PAYMENT.{CLIENT_SECRET}",
        "data": {"id": TOKEN_ID, CLIENT_SECRET: _BASIC},
    }
    received = turn.received
    headers = {**received.headers, "x-echo": _BASIC, "x-webhook-signature": CLIENT_SECRET}
    echo = type(received)(received.at, "POST", received.path, headers, json.dumps(event).encode())
    turn.ask(echo)
    turn.send(turn.answer())


ENTRIES = (
    _reading_entry(
        "secret-in-body",
        "Tells the client secret in a member.",
        _adds_note(_in_json(CLIENT_SECRET)),
    ),
    _reading_entry(
        "secret-by-escapes",
        "Tells it with each character as an escape of JSON.",
        _adds_note(_ESCAPED),
    ),
    _reading_entry("secret-in-base64", "Tells the Authorization header.", _adds_note(_BASIC)),
    _reading_entry(
        "token-id-in-body",
        "Tells the token id in a member.",
        _adds_note(_in_json(TOKEN_ID)),
        Expected((CONFORMANT, OPEN), {"CUS-005": RequirementVerdict.PASSED}),
    ),
    _reading_entry(
        "secret-as-a-name",
        "Tells it as the name of a member that nobody knows.",
        lambda: json_body(lambda b: {**b, CLIENT_SECRET: 1}),
    ),
    _reading_entry(
        "secret-in-headers",
        "Tells it in headers of other names.",
        lambda: reply(
            lambda r: r.with_headers(x_echo=_BASIC, set_cookie=CLIENT_SECRET, x_plain=CLIENT_SECRET)
        ),
    ),
    _reading_entry(
        "secret-in-location",
        "Redirects to a URL that holds it.",
        lambda: status(302, {}, location=f"https://x.invalid/{quote(CLIENT_SECRET, safe='')}"),
        Expected(
            (BROKEN,), {"CNV-001": RequirementVerdict.FAILED, "AUT-043": RequirementVerdict.WARNED}
        ),
    ),
    _reading_entry(
        "secret-in-the-media-type",
        "Tells it as the media type.",
        lambda: content(b"{}", content_type=f"text/{CLIENT_SECRET}"),
        Expected((BROKEN,), {"CNV-002": RequirementVerdict.FAILED}),
    ),
    _reading_entry(
        "secret-in-the-reason",
        "Tells it as the reason in the status line.",
        lambda: sends(f"HTTP/1.1 200 {CLIENT_SECRET}\r\ncontent-length: 2\r\n\r\n{{}}".encode()),
        _ANY,
    ),
    _reading_entry(
        "secret-in-broken-http",
        "Tells it in a line that is no HTTP.",
        lambda: sends(f"HTTP/1.1 200 OK\r\n{CLIENT_SECRET} {_BASIC}\r\n\r\n".encode()),
        Expected((OPEN,)),
    ),
    _reading_entry(
        "secret-in-broken-json",
        "Tells it by escapes in what is no JSON.",
        lambda: content(f'{{"note": "{_ESCAPED}",'.encode()),
        Expected((BROKEN,), {"CNV-002": RequirementVerdict.FAILED}),
    ),
    _reading_entry(
        "secret-in-html",
        "Tells it in a page, as HTML spells it.",
        lambda: content(
            CLIENT_SECRET.replace("&", "&amp;").replace('"', "&#34;").encode(),
            content_type="text/html",
        ),
        Expected((BROKEN,), {"CNV-002": RequirementVerdict.FAILED}),
    ),
    _reading_entry(
        "secret-as-retry-after",
        "Tells it as Retry-After.",
        lambda: status(429, {"code": "RATE_LIMITED", "message": ""}, retry_after=CLIENT_SECRET),
        Expected(UNDECIDED),
    ),
    Entry(
        "secret-in-an-error",
        "Refuses an execution with a message that tells it, so that a check quotes it.",
        front(lambda: only(EXECUTE, _failure(f"wrong: {CLIENT_SECRET} {TOKEN_ID} {_BASIC}"))),
        Expected(
            (BROKEN,), {"QUO-083": RequirementVerdict.FAILED, "AUT-043": RequirementVerdict.WARNED}
        ),
        "execution",
        arguments=("--showlocals", "--tb=long", "--log-level=DEBUG", "-vv"),
    ),
    Entry(
        "secret-as-an-id",
        "Gives each customer the client secret as its id.",
        front(lambda: only(CREATE_CUSTOMER, json_body(lambda b: {**b, "id": CLIENT_SECRET}))),
        Expected(UNDECIDED, {"AUT-043": RequirementVerdict.WARNED}),
        "customer or execution",
        arguments=("--showlocals", "--log-level=DEBUG", "-olog_cli=true"),
    ),
    Entry(
        "secret-in-the-configuration",
        "Tells it in the configuration, as a currency.",
        front(
            lambda: only(CONFIG, json_body(lambda b: {**b, "supportedCurrencies": CLIENT_SECRET}))
        ),
        Expected((BROKEN,), {"CFG-001": RequirementVerdict.FAILED}),
        "configuration",
        arguments=("--showlocals", "--tb=long"),
    ),
    Entry(
        "secret-in-a-webhook",
        "Sends webhooks that hold the credentials in id, type, data and headers.",
        webhook_front(lambda _: _echoes_in_webhooks),
        Expected(UNDECIDED, {"QUO-083": RequirementVerdict.PASSED}),
        "webhook or execution",
    ),
    Entry(
        "secret-in-a-trigger",
        "Refuses a trigger with a message that tells it.",
        front(lambda: only(r"POST /control/quotes", _failure(f"{CLIENT_SECRET} \x1b[31m"))),
        Expected((OPEN,), says=("quote.expire",)),
        "expiry",
    ),
)
