"""Mutants of what nothing changes: a message shows it otherwise than those before it."""

from __future__ import annotations

from itertools import count
from typing import Any

from conformance.proof.kit.builders import Json, edited
from conformance.proof.kit.edits import (
    derived,
    put,
    replaced,
    shows,
    turned,
    where,
    without,
)
from conformance.proof.mutant import declare
from conformance.reference.external_accounts import externals
from conformance.reference.internal_accounts import accounts
from conformance.reference.quotes import quotes
from conformance.reference.transactions import transactions

_YEARS = count()


def _another_year(_: Any) -> str:
    """Return a time in a year that the last call did not return."""
    return f"20{10 + next(_YEARS) % 80}-01-01T00:00:00Z"


def _turned_round(info: Json) -> Json:
    """Return the details of an account with the texts of all members but its type reversed."""
    return {
        name: value[::-1] if isinstance(value, str) and name != "accountType" else value
        for name, value in info.items()
    }


declare(
    "CNV-891",
    "created-anew",
    "an internal account was created in another year, each time that it is shown",
    edited(accounts, "_view", turned("createdAt", _another_year)),
)
declare(
    "CNV-892",
    "listed-as-another",
    "the list shows another platformAccountId",
    edited(externals, "list_for_customers", replaced("data.*.platformAccountId", "another")),
)
declare(
    "CNV-892",
    "owned-by-nobody-known",
    "the list shows another owner",
    edited(externals, "list_for_customers", replaced("data.*.customerId", "Customer:another")),
)
declare(
    "CNV-893",
    "listed-backwards",
    "the list shows the details of accounts from back to front",
    edited(externals, "list_for_customers", turned("data.*.accountInfo", _turned_round)),
)
declare(
    "CNV-893",
    "read-backwards",
    "reading an account shows its details from back to front",
    edited(externals, "read", turned("accountInfo", _turned_round)),
)
declare(
    "CNV-894",
    "dearer-each-time",
    "a quote takes another fee, each time that it is shown",
    edited(quotes, "view", turned("feesIncluded", lambda fees: fees + next(_YEARS))),
)
declare(
    "CNV-894",
    "another-transaction",
    "executing a quote shows another transaction",
    edited(quotes, "execute", put("transactionId", "Transaction:another")),
)
declare(
    "CNV-895",
    "created-anew",
    "a transaction was created in another year, each time that it is shown",
    edited(transactions, "view", turned("createdAt", _another_year)),
)
declare(
    "CNV-895",
    "renamed-at-last",
    "a payment shows another quote once it is completed",
    edited(
        transactions,
        "view",
        derived(
            "quoteId",
            lambda body: "Quote:another" if body["status"] == "COMPLETED" else body["quoteId"],
        ),
    ),
)
declare(
    "CNV-897",
    "quote-forgotten-at-last",
    "a payment shows no quote once it is completed",
    edited(transactions, "view", where(shows("status", "COMPLETED"), without("quoteId"))),
)
declare(
    "CNV-897",
    "owner-shown-now-and-then",
    "reading an external account shows its owner every other time alone",
    edited(
        externals, "read", lambda body: without("customerId")(body) if next(_YEARS) % 2 else body
    ),
)
declare(
    "CNV-896",
    "last-repeated",
    "the list of external accounts ends with a row that it has already",
    edited(
        externals,
        "list_for_customers",
        lambda body: {**body, "data": [*body["data"], *body["data"][-1:]]},
    ),
)
