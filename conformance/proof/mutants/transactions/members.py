"""Mutants of what a transaction shows."""

from __future__ import annotations

from conformance.proof.kit.builders import edited, instead
from conformance.proof.kit.edits import (
    Edit,
    bare,
    derived,
    put,
    replaced,
    shows,
    turned,
    where,
    without,
)
from conformance.proof.mutant import declare
from conformance.reference import rules
from conformance.reference.transactions import transactions


def _named_as(member: str, other: str) -> Edit:
    """Return an edit after which the currency of an amount has the name of another amount's."""
    return lambda body: put(f"{member}.currency.name", body[other]["currency"]["name"])(body)


_MEMBERS: tuple[tuple[str, str, str, Edit], ...] = (
    ("TRX-001", "no-type", "the id has no type in front", turned("id", bare)),
    ("TRX-001", "missing", "transactions have no id", without("id")),
    ("TRX-002", "number", "the status is a number", replaced("status", 3)),
    ("TRX-002", "missing", "transactions have no status", without("status")),
    ("TRX-003", "number", "the type is a number", replaced("type", 1)),
    ("TRX-812", "word", "the type of a payout is PAYMENT", replaced("type", "PAYMENT")),
    ("TRX-003", "missing", "transactions have no type", without("type")),
    ("TRX-004", "word", "the direction is OUT", replaced("direction", "OUT")),
    ("TRX-004", "case", "the direction is in lower case", replaced("direction", "debit")),
    (
        "TRX-005",
        "integer",
        "sentAmount is an integer without a currency",
        turned("sentAmount", lambda value: value["amount"]),
    ),
    (
        "TRX-005",
        "text",
        "sentAmount is a text with its currency",
        turned("sentAmount", lambda value: f"{value['amount']} USD"),
    ),
    (
        "TRX-006",
        "integer",
        "receivedAmount is an integer without a currency",
        turned("receivedAmount", lambda value: value["amount"]),
    ),
    (
        "TRX-006",
        "text",
        "receivedAmount is a text with its currency",
        turned("receivedAmount", lambda value: f"{value['amount']} USD"),
    ),
    (
        "TRX-007",
        "text",
        "exchangeRate is a text",
        turned("exchangeRate", str),
    ),
    ("TRX-008", "seconds", "settledAt counts seconds", replaced("settledAt", 1_760_000_000)),
    ("TRX-008", "day", "settledAt is a date", replaced("settledAt", "2026-01-15")),
    (
        "TRX-008",
        "local",
        "settledAt is in a local time",
        replaced("settledAt", "2026-01-15T09:00:00-05:00"),
    ),
    ("TRX-009", "seconds", "createdAt counts seconds", replaced("createdAt", 1_760_000_000)),
    (
        "TRX-009",
        "no-zone",
        "createdAt does not say that it is in UTC",
        turned("createdAt", lambda value: str(value).rstrip("Z")),
    ),
    (
        "TRX-010",
        "list",
        "the description is a list of lines",
        turned("description", lambda value: [value]),
    ),
    ("TRX-011", "no-type", "the quoteId has no type in front", turned("quoteId", bare)),
    ("TRX-011", "number", "the quoteId is a number", replaced("quoteId", 7)),
    (
        "TRX-012",
        "object",
        "the failureReason is an object",
        turned("failureReason", lambda value: {"code": value}),
    ),
    ("TRX-013", "flag", "the pendingReason is a flag", replaced("pendingReason", True)),
    (
        "TRX-014",
        "text",
        "the refund is a text",
        turned("refund", lambda value: value["status"]),
    ),
    (
        "TRX-015",
        "missing",
        "the refund has no status",
        turned("refund", without("status")),
    ),
    (
        "TRX-016",
        "missing",
        "a failed transaction does not say why",
        without("failureReason"),
    ),
    (
        "TRX-016",
        "empty",
        "the failureReason of a failed transaction is empty",
        replaced("failureReason", ""),
    ),
    (
        "TRX-017",
        "early",
        "a transaction in processing has a failureReason",
        where(shows("status", "PROCESSING"), lambda body: {**body, "failureReason": "NONE"}),
    ),
    (
        "TRX-017",
        "late",
        "a completed transaction has a failureReason",
        where(shows("status", "COMPLETED"), lambda body: {**body, "failureReason": "NONE"}),
    ),
    (
        "TRX-022",
        "other",
        "transactions name a quote that is not theirs",
        derived("quoteId", lambda body: f"Quote:{body['id']}"),
    ),
    (
        "TRX-024",
        "pending",
        "a transaction in processing shows as pending",
        where(shows("status", "PROCESSING"), replaced("status", "PENDING")),
    ),
    (
        "TRX-026",
        "missing",
        "a completed transaction does not say when it settled",
        without("settledAt"),
    ),
    (
        "TRX-027",
        "early",
        "settledAt is there from the beginning",
        lambda body: {"settledAt": body["createdAt"], **body},
    ),
    (
        "TRX-028",
        "net",
        "sentAmount leaves out the fees",
        turned(
            "sentAmount",
            lambda value: {
                **value,
                "amount": value["amount"] * 199 // 200,
            },
        ),
    ),
    (
        "TRX-029",
        "other",
        "sentAmount is in the receiving currency",
        derived(
            "sentAmount",
            lambda body: {**body["sentAmount"], "currency": body["receivedAmount"]["currency"]},
        ),
    ),
    (
        "TRX-030",
        "sent",
        "receivedAmount is the amount that was sent",
        derived(
            "receivedAmount",
            lambda body: {**body["receivedAmount"], "amount": body["sentAmount"]["amount"]},
        ),
    ),
    (
        "TRX-031",
        "other",
        "receivedAmount is in the sending currency",
        derived(
            "receivedAmount",
            lambda body: {**body["receivedAmount"], "currency": body["sentAmount"]["currency"]},
        ),
    ),
    (
        "TRX-029",
        "name",
        "sentAmount has the name of the receiving currency",
        _named_as("sentAmount", "receivedAmount"),
    ),
    (
        "TRX-031",
        "name",
        "receivedAmount has the name of the sending currency",
        _named_as("receivedAmount", "sentAmount"),
    ),
    (
        "TRX-032",
        "inverse",
        "exchangeRate is turned round",
        turned("exchangeRate", lambda value: 1 / value),
    ),
    ("TRX-032", "one", "exchangeRate is always 1", replaced("exchangeRate", 1)),
    ("TRX-033", "credit", "a payout is a credit", replaced("direction", "CREDIT")),
    ("TRX-034", "fixed", "the description is the service's", replaced("description", "Payout")),
    (
        "TRX-034",
        "short",
        "the description is cut",
        turned("description", lambda value: value[:7]),
    ),
    (
        "TRX-057",
        "always",
        "a completed transaction carries a refund",
        where(
            shows("status", "COMPLETED"), lambda body: {**body, "refund": {"status": "COMPLETED"}}
        ),
    ),
    (
        "TRX-080",
        "word",
        "what waits for approval has a status of its own",
        where(shows("status", "PENDING"), replaced("status", "PENDING_APPROVAL")),
    ),
)

for _id, _name, _statement, _change in _MEMBERS:
    declare(_id, _name, _statement, edited(transactions, "view", _change))

for _id, _reason in (("TRX-810", "AWAITED_PROOF"), ("TRX-811", "AWAITED_APPROVAL")):
    declare(
        _id, "silent", "nobody is told that a customer has to act", instead(rules, _reason, None)
    )

for _id, _member in (
    ("TRX-803", "direction"),
    ("TRX-804", "sentAmount"),
    ("TRX-805", "receivedAmount"),
    ("TRX-806", "exchangeRate"),
    ("TRX-807", "settledAt"),
    ("TRX-808", "quoteId"),
    ("TRX-809", "description"),
    ("TRX-854", "createdAt"),
    ("TRX-855", "platformFees"),
):
    declare(
        _id,
        "missing",
        f"transactions have no {_member}",
        edited(transactions, "view", without(_member)),
    )
