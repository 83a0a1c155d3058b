"""Cards: purchases that are authorized, cleared, voided, declined, returned and refunded."""

from conformance.proof.second import customer_views, internals
from conformance.proof.second.call import Call, Reply, Route, created
from conformance.proof.second.check import record, text
from conformance.proof.second.errors import Refusal, conflict
from conformance.proof.second.money import Json, money
from conformance.proof.second.money import shown as currency
from conformance.proof.second.world import World, now, public

# What a purchase is declined for.
CAUSES = {
    "inactive": "CARD_NOT_ACTIVE",
    "limited": "SPEND_LIMIT_EXCEEDED",
    "unsourced": "NO_ELIGIBLE_FUNDING_SOURCE",
    "blocked": "BLOCKED",
    "foreign": "UNSUPPORTED_NETWORK",
    "declined": "OTHER",
}


def issue(call: Call) -> Reply:
    """POST /cards."""
    call.only_platform()
    world = call.world
    body = call.json(
        record(
            {"customerId": text(most=100), "fundingAccountId": text(most=100)},
            ("customerId", "fundingAccountId"),
            closed=world.persona.refuses_unknown,
        )
    )
    holder = world.named(world.customers, body["customerId"], "CUSTOMER_NOT_FOUND", "customerId")
    if not customer_views.is_approved(holder) and not world.has("card-before-approval"):
        raise Refusal("CARDHOLDER_KYC_NOT_APPROVED", "The cardholder is not approved.")
    account = world.named(
        world.internals, body["fundingAccountId"], "ACCOUNT_NOT_FOUND", "fundingAccountId"
    )
    card = {
        "id": world.new_id("Card"),
        "customerId": holder["id"],
        "fundingAccountId": account["id"],
        "status": "ACTIVE",
        "lastFour": f"{world.number() % 10_000:04}",
        "createdAt": now(),
    }
    world.cards[card["id"]] = card
    return created(call, public(card))


def read(call: Call) -> Reply:
    """GET /cards/{cardId}."""
    card = call.world.find(call.world.cards, call.params["cardId"])
    call.concerns(card["customerId"])
    return 200, public(card)


def _account(world: World, row: Json) -> Json:
    return world.internals[row["_account"]]


def _row(world: World, card: Json, direction: str, status: str) -> Json:
    account = world.internals[card["fundingAccountId"]]
    row: Json = {
        "id": world.new_id("Transaction"),
        "type": "CARD",
        "cardId": card["id"],
        "direction": direction,
        "status": status,
        "currency": currency(account["_code"]),
        "settledAmount": money(0, account["_code"]),
        "refundedAmount": money(0, account["_code"]),
        "originalTransactionId": None,
        "cardDeclinedReason": None,
        "merchant": {"name": "Corner Shop", "city": "Springfield", "state": "OR"},
        "createdAt": now(),
        "_account": account["id"],
        "_customer": card["customerId"],
        "_open": 0,
    }
    world.transactions[row["id"]] = row
    return row


def _tell(world: World, row: Json) -> None:
    data = public(row)
    if row["status"] == "VOIDED" and row["direction"] == "DEBIT" and world.has("void-event-stale"):
        data["status"] = "AUTHORIZED"
    given = row["refundedAmount"]["amount"]
    if given and row["direction"] == "DEBIT" and world.has("return-event-old-amount"):
        code = row["currency"]["code"]
        data["refundedAmount"] = money(row.get("_told_refunded", 0), code)
    row["_told_refunded"] = given
    settled = row["status"] in {"SETTLED", "PARTIALLY_SETTLED"} and row["direction"] == "DEBIT"
    if settled and world.has("settled-event-old-amount"):
        data["settledAmount"] = money(0, row["currency"]["code"])
    if row["originalTransactionId"] and world.has("refund-event-without-amount"):
        data["settledAmount"] = money(0, row["currency"]["code"])
    if world.has("wrapped-card-event"):
        data = {"transaction": data}
    state = row["status"]
    if state == "VOIDED" and world.has("void-told-as-reversed"):
        state = "REVERSED"
    if not world.has("no-card-event"):
        world.emit(f"CARD_TRANSACTION.{state}", data)


def _add(row: Json, member: str, amount: int) -> None:
    row[member] = money(row[member]["amount"] + amount, row["currency"]["code"])


def purchase(world: World, card: Json, amount: int, cause: str = "") -> Json:
    """Let a merchant ask for a purchase; `cause` says what is in its way, if anything."""
    account = world.internals[card["fundingAccountId"]]
    short = account["_available"] < amount
    reason = CAUSES.get(cause) or ("INSUFFICIENT_FUNDS" if short else None)
    if world.has("decline-other"):
        reason = reason and "OTHER"
    if reason == "INSUFFICIENT_FUNDS" and world.persona.underfunded_card == "EXCEPTION":
        row = _row(world, card, "DEBIT", "EXCEPTION")
    elif reason:
        row = _row(world, card, "DEBIT", "DECLINED")
        row["cardDeclinedReason"] = reason
        if world.has("declined-told-authorized-first"):
            world.emit("CARD_TRANSACTION.AUTHORIZED", public(row))
        if world.has("declined-amount-settled"):
            _add(row, "settledAmount", amount)
        if world.has("declined-held"):
            _hold(world, row, amount)
    else:
        row = _row(world, card, "DEBIT", "AUTHORIZED")
        _hold(world, row, amount)
    if not _is_untold_decline(world, row):
        _tell(world, row)
    if row["status"] == "DECLINED" and world.has("declined-as-failed"):
        row["status"] = "FAILED"
    return row


def _is_untold_decline(world: World, row: Json) -> bool:
    """Tell whether a planted bug keeps a declined purchase from being told."""
    if row["status"] != "DECLINED":
        return False
    earlier = [
        one
        for one in world.transactions.values()
        if one is not row and one.get("cardId") == row["cardId"] and one["status"] == "DECLINED"
    ]
    if earlier and world.has("second-decline-untold"):
        return True
    short = row["cardDeclinedReason"] == "INSUFFICIENT_FUNDS"
    return short and world.has("short-decline-untold")


def _hold(world: World, row: Json, amount: int) -> None:
    account = _account(world, row)
    account["_available"] -= amount
    account["_held"] += amount
    row["_open"] = amount
    internals.changed(world, account)


def _release(world: World, row: Json, amount: int) -> None:
    account = _account(world, row)
    account["_held"] -= amount
    account["_available"] += amount
    row["_open"] -= amount
    internals.changed(world, account)


def settle(world: World, row: Json, amount: int, *, last: bool) -> None:
    """Clear an amount of a purchase; the `last` clearing releases what is still held."""
    newest = _newest_open(world, row)
    if newest is not row and world.has("clearing-of-newest"):
        row = newest
    account = _account(world, row)
    taken = min(amount, row["_open"])
    account["_held"] -= taken
    row["_open"] -= taken
    _add(row, "settledAmount", taken)
    if last and row["_open"]:
        _release(world, row, row["_open"])
    before = row["status"]
    row["status"] = "SETTLED" if last else "PARTIALLY_SETTLED"
    internals.changed(world, account)
    rest = last and before == "PARTIALLY_SETTLED"
    if not rest or not world.has("last-clearing-untold"):
        _tell(world, row)


def _newest_open(world: World, row: Json) -> Json:
    """Return the newest purchase of a card that is open, where one is; that is for planted bugs."""
    waiting = [
        one
        for one in world.transactions.values()
        if one.get("cardId") == row["cardId"] and one.get("_open")
    ]
    return waiting[-1] if waiting else row


def void(world: World, row: Json) -> None:
    """Take a purchase back before it is cleared."""
    newest = _newest_open(world, row)
    if newest is not row and world.has("void-of-newest"):
        row = newest
    if world.has("void-counted-twice"):
        _account(world, row)["_held"] += row["_open"]
    if not world.has("void-keeps-hold"):
        _release(world, row, row["_open"])
    earlier = [
        one
        for one in world.transactions.values()
        if one.get("cardId") == row["cardId"] and one["status"] == "VOIDED"
    ]
    row["status"] = "DECLINED" if world.has("void-as-declined") else "VOIDED"
    if earlier and world.has("second-void-untold"):
        return
    if not world.has("void-untold"):
        _tell(world, row)


def misclear(world: World, row: Json) -> None:
    """Clear a purchase in a way that does not fit its authorization."""
    _release(world, row, row["_open"])
    row["status"] = "EXCEPTION"
    _tell(world, row)


def give_back(world: World, row: Json, amount: int, *, own_payment: bool) -> None:
    """Return an amount of a settled purchase, on a row of its own that belongs to it.

    Raises:
        Refusal: where the purchase is not settled.
    """
    if row["status"] != "SETTLED":
        raise conflict("The purchase is not settled.")
    card = world.cards[row["cardId"]]
    earlier = [
        one["id"]
        for one in world.transactions.values()
        if one.get("originalTransactionId") == row["id"]
    ]
    back = _row(world, card, "CREDIT", "SETTLED")
    back["originalTransactionId"] = None if world.has("refund-orphan") else row["id"]
    if earlier and world.has("second-return-chained"):
        back["originalTransactionId"] = earlier[-1]
    _mistake_return(world, back, row, own_payment=own_payment)
    _add(back, "settledAmount", amount)
    before = row["refundedAmount"]["amount"]
    if before and world.has("second-return-sum"):
        _add(back, "settledAmount", before)
    if not world.has("refunded-amount-stays"):
        _add(row, "refundedAmount", amount)
    if world.has("refunded-status") or _is_whole_return(world, row):
        row["status"] = "REFUNDED"
    internals.credit(world, _account(world, row), amount)
    if own_payment and world.has("refund-told-refunded"):
        world.emit("CARD_TRANSACTION.REFUNDED", public(back))
    elif own_payment and world.has("refund-told-of-purchase"):
        _tell(world, row)
    elif own_payment or not _is_untold(world, row, later=bool(earlier)):
        _tell(world, back if own_payment else row)


def _mistake_return(world: World, back: Json, row: Json, *, own_payment: bool) -> None:
    """Spoil by a planted bug the row of what is returned of a purchase, `row`."""
    newest = [
        one["id"]
        for one in world.transactions.values()
        if one.get("cardId") == row["cardId"] and one["direction"] == "DEBIT"
    ][-1]
    if own_payment and newest != row["id"] and world.has("refund-of-newest-purchase"):
        back["originalTransactionId"] = newest
    if world.has("refund-row-debit"):
        back["direction"] = "DEBIT"


def _is_whole_return(world: World, row: Json) -> bool:
    """Tell whether a planted bug gives a purchase that is returned as a whole another status."""
    whole = row["refundedAmount"]["amount"] >= row["settledAmount"]["amount"]
    return whole and world.has("refunded-card-status-kept")


def _is_untold(world: World, row: Json, *, later: bool) -> bool:
    """Tell whether a planted bug keeps a return, the first or a `later` one, from being told."""
    if world.has("return-untold") or (later and world.has("second-return-untold")):
        return True
    part = row["refundedAmount"]["amount"] < row["settledAmount"]["amount"]
    return part and world.has("part-return-untold")


def reverse_return(call: Call) -> Reply:
    """POST /sandbox/cards/{id}/simulate/return_reversal."""
    world = call.world
    card = world.find(world.cards, call.params["cardId"])
    body = call.json(
        record(
            {"refundTransactionId": text(most=100)},
            ("refundTransactionId",),
            closed=world.persona.refuses_unknown,
        )
    )
    row = world.named(
        world.transactions,
        body["refundTransactionId"],
        "TRANSACTION_NOT_FOUND",
        "refundTransactionId",
    )
    parent = world.transactions.get(row.get("originalTransactionId") or "")
    if not parent or row.get("cardId") != card["id"]:
        raise conflict("There is no return to reverse.")
    if not parent["refundedAmount"]["amount"]:
        again = row["status"] == "VOIDED"
        if not again or not world.has("return-reversed-twice"):
            raise conflict("There is no return to reverse.")
    amount = row["settledAmount"]["amount"]
    account = _account(world, row)
    account["_available"] -= amount
    rest = parent["refundedAmount"]["amount"] - amount
    _add(parent, "refundedAmount", -amount)
    if rest > 0 and world.has("reversal-clears-refunded"):
        _add(parent, "refundedAmount", -rest)
    row["status"] = "VOIDED"
    internals.changed(world, account)
    _tell(world, parent)
    return 200, public(row)


ROUTES: list[Route] = [
    ("POST", "/cards", issue),
    ("GET", "/cards/{cardId}", read),
    ("POST", "/sandbox/cards/{cardId}/simulate/return_reversal", reverse_return),
]
