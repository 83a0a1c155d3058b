"""Mutants of conventions: identifiers, times, and ways to write JSON."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import Any
from unicodedata import normalize

from conformance.proof.kit.builders import Place, edited
from conformance.proof.kit.edits import bare, put, shows, turned, where
from conformance.proof.mutant import declare, mutant
from conformance.proof.mutants.protocol.toolkit import Scope, answered_early, reading, refuse
from conformance.proof.patch import Function, Patch
from conformance.reference.app import BasicAuth
from conformance.reference.cards import card_transactions
from conformance.reference.customers import customers
from conformance.reference.external_accounts import externals, receivers
from conformance.reference.internal_accounts import accounts
from conformance.reference.quotes import quotes
from conformance.reference.transactions import transactions
from conformance.reference.verification import documents, owners, verifications

# --- Identifiers and times ------------------------------------------------------------------


IDENTIFIERS: tuple[tuple[str, Place, str], ...] = (
    ("internal-account-owner", (accounts, "_view"), "customerId"),
    ("external-account-owner", (externals, "view"), "customerId"),
    ("quote-source", (quotes, "view"), "source.accountId"),
    ("quote-destination", (quotes, "view"), "destination.accountId"),
    ("quote-transaction", (quotes, "view"), "transactionId"),
    ("transaction", (transactions, "view"), "id"),
    ("transaction-source", (transactions, "view"), "source.accountId"),
    ("transaction-destination", (transactions, "view"), "destination.accountId"),
    ("quote-of-transaction", (transactions, "view"), "quoteId"),
    ("lookup", (receivers, "lookup"), "lookupId"),
    ("looked-up", (receivers, "lookup"), "accountId"),
    ("beneficial-owner", (owners, "view"), "id"),
    ("business-of-owner", (owners, "view"), "customerId"),
    ("verification", (verifications, "view"), "id"),
    ("submitted-customer", (verifications, "view"), "customerId"),
    ("resource-of-error", (verifications, "view"), "errors.*.resourceId"),
    ("document-holder", (documents, "view"), "documentHolder"),
)
"""Where identifiers are shown: a name, the view and the path."""

for _name, _view, _path in IDENTIFIERS:
    declare(
        "CNV-019",
        f"{_name}-bare",
        f"{_path} does not tell the type",
        edited(*_view, turned(_path, bare)),
    )


_TIMES: tuple[tuple[str, Place, str], ...] = (
    ("quote-expiry", (quotes, "view"), "expiresAt"),
    ("transaction", (transactions, "view"), "createdAt"),
    ("settlement", (transactions, "view"), "settledAt"),
    ("internal-account", (accounts, "_view"), "createdAt"),
)


def _elsewhere(time: str) -> str:
    return time.replace("Z", "+02:00")


for _name, _view, _path in _TIMES:
    declare(
        "CNV-018",
        f"{_name}-in-another-zone",
        f"{_path} is the time of another zone",
        edited(*_view, turned(_path, _elsewhere)),
    )


declare(
    "CNV-018",
    "customers-without-zone",
    "an updatedAt of customers has no zone",
    edited(customers, "view", lambda body: {**body, "updatedAt": "2026-01-15T09:30:00"}),
)


@mutant("CNV-022", "the interface is served below another version")
def another_version(patch: Patch) -> None:
    def moved(scope: Scope) -> None:
        scope["path"] = scope["path"].replace("/2025-10-13/", "/2025-10-14/", 1)

    answered_early(patch, moved)


declare(
    "CNV-025",
    "one-id",
    "internal accounts are numbered for each customer",
    edited(accounts, "_view", put("id", "InternalAccount:1")),
)


@mutant("CNV-026", "the local time is shown as if it were UTC")
def local_time(patch: Patch) -> None:
    def later(time: str) -> str:
        moment = datetime.fromisoformat(time) + timedelta(hours=2)
        return moment.isoformat().replace("+00:00", "Z")

    edited(quotes, "view", turned("createdAt", later))(patch)


for _name, _view, _path in (
    ("quotes", (quotes, "view"), "sendingCurrency.decimals"),
    ("transactions", (transactions, "view"), "sentAmount.currency.decimals"),
    ("balances", (accounts, "_view"), "balance.currency.decimals"),
    ("lookups", (receivers, "lookup"), "sendingCurrency.decimals"),
):
    declare(
        "CNV-030",
        f"{_name}-apart",
        f"{_path} is another number than elsewhere",
        edited(*_view, turned(_path, lambda decimals: decimals + 1)),
    )


declare(
    "CNV-030",
    "coins-apart",
    "the decimals of an account in a crypto currency are another number than elsewhere",
    edited(
        accounts,
        "_view",
        where(
            shows("type", "INTERNAL_CRYPTO"),
            turned("balance.currency.decimals", lambda decimals: decimals + 1),
        ),
    ),
)
declare(
    "CNV-112",
    "coins-apart",
    "the balance of an account in a crypto currency has another symbol than quotes",
    edited(
        accounts,
        "_view",
        where(shows("type", "INTERNAL_CRYPTO"), put("balance.currency.symbol", "¤")),
    ),
)

declare(
    "CNV-112",
    "purchases-apart",
    "what a purchase settled at has another symbol than quotes",
    edited(card_transactions, "view", turned("settledAmount.currency.symbol", "{}.".format)),
)


# --- Ways to write JSON ---------------------------------------------------------------------


declare(
    "CNV-031",
    "packed",
    "JSON has to be packed",
    reading(lambda _, raw: raw != raw.strip(), refuse),
)
declare(
    "CNV-032", "no-escapes", "escapes are not read", reading(lambda _, raw: b"\\u" in raw, refuse)
)
declare(
    "CNV-033",
    "source-first",
    "the source has to come first",
    reading(lambda _, raw: b'"source"' in raw and not raw.startswith(b'{"source"'), refuse),
)
declare(
    "CNV-034",
    "bare-media-type",
    "a media type has no parameters",
    reading(lambda kind, _: ";" in kind, refuse),
)
declare(
    "CNV-038",
    "escapes-kept",
    "escapes are kept as they are written",
    reading(lambda _, raw: b"\\u" in raw, lambda raw: json.loads(raw.replace(b"\\u", b"\\\\u"))),
)


@mutant("CNV-035", "who accepts anything gets a page", (BasicAuth, "__call__"))
async def page_for_anything(
    original: Function, self: Any, scope: Scope, receive: Function, send: Function
) -> None:
    async def sent(message: Any) -> None:
        if message["type"] == "http.response.start":
            pages = [(b"content-type", b"text/html")]
            kept = [pair for pair in message["headers"] if pair[0] != b"content-type"]
            message = {**message, "headers": kept + pages}
        await send(message)

    anything = dict(scope.get("headers", ())).get(b"accept") == b"*/*"
    await original(self, scope, receive, sent if anything else send)


def _garbled(text: str) -> str:
    return text.encode().decode("latin-1")


def _plain(text: str) -> str:
    return normalize("NFKD", text).encode("ascii", "ignore").decode()


for _requirement, _view, _path in (
    ("CNV-036", (quotes, "view"), "description"),
    ("CNV-037", (customers, "view"), "fullName"),
):
    for _change, _statement in (
        (_garbled, "is garbled beyond ASCII"),
        (_plain, "loses what is beyond ASCII"),
    ):
        declare(
            _requirement,
            f"{_path}-{_change.__name__.strip('_')}",
            f"{_path} {_statement}",
            edited(*_view, turned(_path, _change)),
        )
