"""Transfers as they were made before there were quotes, and the approval of what comes in."""

from conformance.proof.second import (
    demands,
    ends,
    internals,
    paying,
    pricing,
    quote_form,
    quotes,
    transactions,
)
from conformance.proof.second.call import Call, Reply, Route
from conformance.proof.second.check import integer, record, text
from conformance.proof.second.errors import Refusal, conflict, invalid
from conformance.proof.second.money import Json, money
from conformance.proof.second.world import World


def _to_approve(world: World, row: Json) -> Json:
    """Return what is approved: by a planted bug the customer's first that waits for it."""
    waiting = [
        one
        for one in world.transactions.values()
        if one.get("_agent") and one["status"] == "PENDING" and one["_customer"] == row["_customer"]
    ]
    later = row in waiting[1:] and world.has("approval-of-oldest")
    return waiting[0] if later else row


def approve(call: Call) -> Reply:
    """POST /transactions/{transactionId}/approve."""
    call.only_platform()
    world = call.world
    row = _to_approve(world, transactions.find(call))
    done = "_approved" in row and row["status"] in {"PROCESSING", "COMPLETED"}
    again = done and world.has("approved-twice")
    own = not row.get("_agent") and row["status"] == "PENDING" and row.get("_quote")
    waits = own and own["status"] == "PENDING" and not own["_realtime"]
    alien = waits and world.has("approved-without-agent")
    if not again and not alien and (not row.get("_agent") or row["status"] != "PENDING"):
        raise conflict("The transaction waits for no approval.")
    quote = row["_quote"]
    payer = quote["_source"].owner
    if payer and payer["customerType"] == "BUSINESS" and world.has("business-approval-refused"):
        raise conflict("The transaction waits for no approval.")
    frozen = quote["_source"].account.get("status") == "FROZEN"
    if not (frozen and world.has("approved-from-frozen")):
        demands.require_sendable(world, quote["_source"])
    demands.require_receivable(world, quote["_target"], quote["_sent"], quote["_source"].code)
    if quote["_source"].internal:
        internals.require_funds(world, quote["_source"].internal, quote["_sent"])
    row |= {"_agent": False, "_approved": True}
    if world.persona.approved_at == "later":
        if quote["_source"].internal:
            internals.debit(world, quote["_source"].internal, quote["_sent"])
            quote["_taken"] = True
        world.later(world.persona.settle_seconds, lambda: _pay_approved(world, row))
        return 202, transactions.shown(world, row)
    row["pendingReason"] = None
    paying.pay(world, quote)
    return 200, transactions.shown(world, row)


def _pay_approved(world: World, row: Json) -> None:
    row["pendingReason"] = None
    paying.pay(world, row["_quote"])


def transfer(call: Call, *, outward: bool) -> Reply:
    """Carry out a deprecated transfer within one currency.

    Raises:
        Refusal: for what is in its way.
    """
    world = call.world
    account = {"accountId": text(most=100), "paymentRail": text(most=40)}
    body = call.json(
        record(
            {
                "source": record(account, ("accountId",)),
                "destination": record(account, ("accountId",)),
                "amount": integer(1, pricing.MAX_AMOUNT),
                "remittanceInformation": text(most=quote_form.MAX_REMITTANCE),
                "purposeOfPayment": text(most=200),
            },
            ("source", "destination", "amount"),
            closed=world.persona.refuses_unknown,
        )
    )
    wanted: Json = {
        **{name: body.get(name) for name in ("remittanceInformation", "purposeOfPayment")},
        "source": {"sourceType": "ACCOUNT", **body["source"]},
        "destination": {"destinationType": "ACCOUNT", **body["destination"]},
        "lockedCurrencySide": "RECEIVING" if world.has("transfer-on-top") else "SENDING",
        "lockedCurrencyAmount": body["amount"],
        "immediatelyExecute": not world.has("transfer-left-pending"),
    }
    source = ends.source(call, wanted["source"])
    target = ends.destination(call, wanted["destination"])
    if source.code != target.code:
        raise Refusal("INVALID_CURRENCY", "Transfers stay within one currency.", status=400)
    payer = source.owner
    if payer and payer["customerType"] == "BUSINESS" and world.has("business-transfer-refused"):
        raise invalid("source.accountId", "belongs to no individual")
    fits = source.internal if outward else (source.external and target.internal)
    if not fits:
        raise invalid("source.accountId", "is on the wrong side")
    quote = quotes.make(call, wanted)
    row = transactions.of(world, quote)
    return 201, transactions.shown(world, row) | {"amount": money(body["amount"], source.code)}


def transfer_out(call: Call) -> Reply:
    """POST /transfer-out."""
    return transfer(call, outward=True)


def transfer_in(call: Call) -> Reply:
    """POST /transfer-in."""
    return transfer(call, outward=False)


ROUTES: list[Route] = [
    ("POST", "/transactions/{transactionId}/approve", approve),
    ("POST", "/transfer-in", transfer_in),
    ("POST", "/transfer-out", transfer_out),
]
