"""Mutants of what all answers have in common."""

from __future__ import annotations

from functools import partial
from typing import Any

from conformance.proof.kit.builders import edited
from conformance.proof.kit.edits import ALL
from conformance.proof.kit.members import FORMLESS_ID, FORMLESS_TIME, Member, declare_members
from conformance.proof.kit.tables import answers, with_columns, with_status
from conformance.proof.mutant import declare, mutant
from conformance.proof.patch import Patch
from conformance.reference import app, errors, money, rules
from conformance.reference.internal_accounts import accounts
from conformance.reference.quotes import quotes

# --- Members of resources -------------------------------------------------------------------


_NUMBER = {"number": 17}


MEMBERS = (
    Member("CNV-003", (accounts, "_view"), "customerId", _NUMBER, False),
    Member("CNV-004", (errors, "view"), "", {"text": "refused", "list": []}, False),
    Member("CNV-005", (errors, "view"), "code", {"number": 400, "empty": "", "null": None}),
    Member("CNV-006", (errors, "view"), "reason", {"number": 400, "null": None}),
    Member("CNV-007", (errors, "view"), "details", {"text": "customerType", "list": []}, False),
    Member(
        "CNV-008",
        (errors, "view"),
        f"details.errors.{ALL}.field",
        {"path": ["customerType"], "null": None},
    ),
    Member(
        "CNV-009",
        (errors, "view"),
        f"details.errors.{ALL}.message",
        {"list": ["Expected string."]},
        False,
    ),
    Member(
        "CNV-011",
        (money, "currency_view"),
        "decimals",
        {"text": "2", "fraction": 2.5, "negative": -2},
        False,
    ),
    Member("CNV-012", (money, "currency_view"), "code", {"number": 840, "empty": "", "null": None}),
    Member("CNV-013", (money, "currency_view"), "decimals", {"null": None}),
    Member(
        "CNV-014",
        (money, "currency_view"),
        "name",
        {"object": {"en": "United States Dollar"}},
        False,
    ),
    Member("CNV-015", (money, "currency_view"), "symbol", {"number": 36}, False),
    Member(
        "CNV-016", (money, "money_view"), "amount", {"text": "100", "fraction": 0.5, "null": None}
    ),
    Member("CNV-017", (money, "money_view"), "currency", {"code-alone": "USD", "null": None}),
    Member("CNV-107", (money, "currency_view"), "name", {}),
    Member("CNV-108", (money, "currency_view"), "symbol", {}),
    Member("CNV-018", (quotes, "view"), "createdAt", FORMLESS_TIME),
    Member("CNV-019", (quotes, "view"), "id", FORMLESS_ID),
)

declare_members(MEMBERS)


# --- Conventions ----------------------------------------------------------------------------


def _nameless_coin(currency: dict[str, Any]) -> dict[str, Any]:
    is_coin = rules.CURRENCIES[currency["code"]].crypto
    return {**currency, "name": None, "symbol": None} if is_coin else currency


for _id in ("CNV-107", "CNV-108"):
    declare(
        _id,
        "coin",
        "a coin has neither name nor symbol",
        edited(money, "currency_view", _nameless_coin),
    )


for _member in ("name", "symbol"):

    def _as_sent(member: str, quote: dict[str, Any]) -> dict[str, Any]:
        value = quote["sendingCurrency"][member]
        return {**quote, "receivingCurrency": {**quote["receivingCurrency"], member: value}}

    declare(
        "CNV-112",
        f"{_member}-of-the-sender",
        f"a quote shows what is received with the {_member} of what is sent",
        edited(quotes, "view", partial(_as_sent, _member)),
    )


declare(
    "CNV-001", "other-success", "an undocumented status means success", answers("getConfig", 207)
)
declare(
    "CNV-001",
    "other-creation",
    "an undocumented status means success",
    answers("createQuote", 206),
)
declare(
    "CNV-010",
    "not-a-bad-request",
    "invalid input is unprocessable",
    with_status("INVALID_INPUT", 422),
)
declare(
    "CNV-003",
    "list-by-number",
    "a list is an object with numbers for names",
    edited(
        accounts,
        "list_for_customers",
        lambda body: {"data": {str(i): row for i, row in enumerate(body["data"])}},
    ),
)


@mutant("CNV-002", "answers are sent as plain text", (app, "respond"), edited)
def plain_text(response: Any) -> Any:
    response.headers["content-type"] = "text/plain"
    return response


declare(
    "CNV-020",
    "four-decimals",
    "US dollars have four decimals",
    with_columns(rules, "CURRENCIES", "USD", decimals=4),
)


for _code, _decimals in (("BRL", 3), ("MXN", 0), ("NGN", 4), ("RWF", 3), ("COP", 1)):
    declare(
        "CNV-109",
        f"{_code}-{_decimals}",
        f"{_code} has {_decimals} decimals",
        with_columns(rules, "CURRENCIES", _code, decimals=_decimals),
    )


declare(
    "CNV-960",
    "code",
    "US dollars are named by their code",
    with_columns(rules, "CURRENCIES", "USD", name="USD"),
)
declare(
    "CNV-960",
    "exchanged",
    "name and symbol are exchanged",
    edited(
        money,
        "currency_view",
        lambda shown: {**shown, "name": shown["symbol"], "symbol": shown["name"]},
    ),
)


@mutant("CNV-021", "a broken body breaks the service")
def broken_by_a_body(patch: Patch) -> None:
    patch.replace(
        app,
        "malformed",
        lambda reason: errors.Refusal("INTERNAL_ERROR", reason),
    )


declare(
    "CNV-021",
    "conflict",
    "a broken body is a conflict",
    with_status("INVALID_REQUEST_FORMAT", 409),
)
