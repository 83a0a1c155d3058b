"""Transactions: settled or failed by what the receiving side does, refunded, approved, listed."""

import datetime as dt
import secrets
from collections.abc import Mapping

from conformance.proof.second import internals
from conformance.proof.second.call import Call, Reply, Route
from conformance.proof.second.errors import Refusal, conflict, invalid
from conformance.proof.second.money import COINS, Json, money
from conformance.proof.second.pricing import Price, shown_rate
from conformance.proof.second.world import World, now, public

STATUSES = ("PENDING", "PROCESSING", "COMPLETED", "FAILED", "EXPIRED")

# Why payouts to an external account fail.
FAILURES = {
    "unknown": "ACCOUNT_INVALID",
    "blocked": "ACCOUNT_CANNOT_RECEIVE",
    "limited": "LIMIT_EXCEEDED",
    "returned": "PAYOUT_RETURNED",
    "screened": "COMPLIANCE_REJECTED",
    "refund-fails": "PAYOUT_RETURNED",
    "refund-held": "PAYOUT_RETURNED",
}
WAITS = {"held": None, "reviewed": "COMPLIANCE_REVIEW"}


def of(world: World, quote: Json) -> Json:
    """Return the transaction of a quote."""
    return world.transactions[quote["transactionId"]]


_WAITING: Json = {
    "type": "OUTGOING",
    "direction": "DEBIT",
    "status": "PENDING",
    "settledAt": None,
    "failureReason": None,
    "pendingReason": None,
    "refund": None,
}
"""What every outgoing transaction shows until it is executed."""


def begin(world: World, quote: Json) -> None:
    """Make the transaction of a new quote."""
    if quote["transactionId"] in world.transactions:
        # A planted bug has given it to two quotes.
        return
    priced, source, target = quote["_price"], quote["_source"], quote["_target"]
    receiving, one = priced.receiving, shown_rate(world, priced)
    if receiving != priced.sending and world.has("received-in-sending-currency"):
        receiving = priced.sending
    row: Json = {
        **_WAITING,
        "id": quote["transactionId"],
        "sentAmount": money(priced.sent, priced.sending),
        "receivedAmount": money(priced.received, receiving),
        "exchangeRate": 1 if one == 1 else float(one),
        "createdAt": quote["createdAt"],
        "description": quote["description"],
        "quoteId": quote["id"],
        "customerId": source.owner["id"] if source.owner else None,
        "platformFees": platform_fees(world, priced),
        "source": dict(quote["source"]),
        "destination": dict(quote["destination"]),
        "_quote": quote,
        "_account": source.account.get("id"),
        "_customer": source.owner["id"] if source.owner else "",
        "_target": target,
    }
    if quote["_immediate"] and world.has("immediate-without-quote-id"):
        row["quoteId"] = None
    if world.has("outgoing-as-credit"):
        row["direction"] = "CREDIT"
    if receiving != priced.sending and world.has("received-name-of-sender"):
        row["receivedAmount"]["currency"]["name"] = COINS[priced.sending].name
    if world.has("received-without-symbol"):
        del row["receivedAmount"]["currency"]["symbol"]
    world.transactions[row["id"]] = row
    if world.persona.announces_quotes:
        world.emit("OUTGOING_PAYMENT.PENDING", shown(world, row))


def leave(world: World, body: Json, code: str, *, account: str | None, owner: str) -> None:
    """Make the transaction of a quote that is refused, which is for a planted bug."""
    amount = money(int(body["lockedCurrencyAmount"]), code)
    row: Json = {
        **_WAITING,
        "id": world.new_id("Transaction"),
        "sentAmount": amount,
        "receivedAmount": amount,
        "exchangeRate": 1,
        "createdAt": now(),
        "description": body.get("description"),
        "quoteId": world.new_id("Quote"),
        "customerId": owner or None,
        "platformFees": None,
        "source": dict(body["source"]),
        "destination": dict(body["destination"]),
        "_account": account,
        "_customer": owner,
    }
    world.transactions[row["id"]] = row


def platform_fees(world: World, priced: Price) -> Json | int | None:
    """Return the platform's fees on a payment in the persona's form; None where it shows none."""
    if world.persona.platform_fees_form == "integer":
        return priced.platform_fee
    return money(priced.platform_fee, priced.sending) if priced.platform_fee else None


def shown(world: World, row: Json) -> Json:
    """Return a transaction as answers and events show it."""
    return _dated(world, public(row))


def _dated(world: World, body: Json) -> Json:
    """Return a transaction whose settledAt is in local time by a planted bug."""
    if body.get("settledAt") and world.has("settled-at-in-local-offset"):
        zone = dt.timezone(dt.timedelta(hours=1))
        body["settledAt"] = body["settledAt"].astimezone(zone).isoformat(timespec="milliseconds")
    return body


def move(world: World, row: Json, status: str) -> None:
    """Give a transaction another status, with its event."""
    row["status"] = status
    by_address = row["destination"].get("destinationType") == "UMA_ADDRESS"
    if by_address and status != "EXPIRED" and world.has("address-untold"):
        return
    if "_approved" in row and world.has("approved-payment-untold"):
        return
    if status == "EXPIRED" or world.has(f"no-{status.lower()}-event"):
        return
    if status == "FAILED" and _is_untold_failure(world, row):
        return
    told = shown(world, row)
    if status == "FAILED" and world.has("failed-event-of-quote"):
        told = public(row["_quote"])
    if status == "FAILED" and world.has("failed-event-without-reason"):
        told["failureReason"] = None
    if status == "COMPLETED" and world.has("completed-event-stale"):
        told["status"] = "PROCESSING"
    world.emit(f"OUTGOING_PAYMENT.{status}", told)


def _is_untold_failure(world: World, row: Json) -> bool:
    """Tell whether a planted bug keeps a failure from being told."""
    if _pays_a_wallet(row) and world.has("coin-failure-untold"):
        return True
    if row["_quote"]["_realtime"] and world.has("just-in-time-failure-untold"):
        return True
    payer = row["_quote"]["_source"].owner
    if payer is None:
        return world.has("platform-failure-untold")
    return payer["customerType"] == "BUSINESS" and world.has("business-failure-untold")


def start(world: World, quote: Json, *, at_once: bool = False) -> None:
    """Let the transaction of a quote that was paid for go its way."""
    row = of(world, quote)
    authorized = quote["_proven"] and not quote["_realtime"]
    if authorized and world.has("authorized-never-started"):
        return
    if row["description"] and world.has("description-lost-on-execution"):
        row["description"] = None
    untold = quote["_immediate"] and world.has("immediate-processing-untold")
    if untold or (quote["_proven"] and world.has("authorized-untold")):
        row["status"] = "PROCESSING"
    else:
        move(world, row, "PROCESSING")
    if at_once:
        settle(world, row)
    else:
        world.later(world.persona.settle_seconds, lambda: settle(world, row))


def _traits(row: Json) -> set[str]:
    traits: set[str] = row["_target"].account.get("_traits") or set()
    return traits


def settle(world: World, row: Json, *, released: bool = False) -> None:
    """End the processing of a transaction, unless the receiving side keeps it waiting."""
    if row["status"] != "PROCESSING":
        return
    for trait, reason in WAITS.items():
        if trait in _traits(row) and not released:
            row["pendingReason"] = reason
            row["_reviewed"] = reason is not None
            return
    row["pendingReason"] = None
    _take_off(world, row)
    target = row["_target"].internal
    failure = next((why for trait, why in FAILURES.items() if trait in _traits(row)), None)
    if target and is_shut(world, target) and not world.has("closed-receives"):
        failure = "ACCOUNT_CANNOT_RECEIVE"
    if _is_stopped(world, row) and not world.has("inactive-receives"):
        failure = "ACCOUNT_CANNOT_RECEIVE"
    if failure:
        _fail(world, row, failure)
        return
    quote = row["_quote"]
    quote["status"] = "COMPLETED"
    row["settledAt"] = now()
    if target and not _is_forgotten(world, quote):
        _credit(world, target, _credited(world, quote))
    info = row["_target"].account.get("accountInfo") or {}
    if info.get("accountType", "").endswith("_WALLET") and not world.has("no-chain"):
        row["destination"]["onChainTransaction"] = _on_chain(_network(world, info))
    on_chain = quote["_realtime"] and COINS[quote["_price"].sending].crypto
    if on_chain and not world.has("no-chain-at-source"):
        row["source"]["onChainTransaction"] = _on_chain("SOLANA")
    _complete(world, row)


def _take_off(world: World, row: Json) -> None:
    """Show the debit of a payment that has settled, where a planted bug did not show it before."""
    account = row["_quote"]["_source"].internal
    amount = row.pop("_unsettled", 0)
    if account and amount:
        account["_unsettled"] -= amount
        internals.changed(world, account)


def _is_forgotten(world: World, quote: Json) -> bool:
    """Tell whether a planted bug forgets the account that a quote pays."""
    moved_in = quote["_deprecated"] and quote["_source"].external
    if moved_in and world.has("transfer-in-uncredited"):
        return True
    return world.has("credit-forgotten")


def _credit(world: World, target: Json, amount: int) -> None:
    extra = 1 if world.has("credit-one-more") else 0
    if world.has("incoming-credit-untold"):
        target["_available"] += amount
    else:
        internals.credit(world, target, amount + extra)
        internals.sweep(world, target, amount)


def _is_cross(quote: Json) -> bool:
    return bool(quote["_price"].sending != quote["_price"].receiving)


def _credited(world: World, quote: Json) -> int:
    """Return what an internal account gets: what is received, or what was sent by a planted bug."""
    source, target = quote["_source"], quote["_target"].internal
    own = source.owner is not None and source.owner["id"] == target["customerId"]
    swapped = own and _is_cross(quote) and world.has("conversion-credited-as-sent")
    return int(quote["_sent"] if swapped else quote["_received"])


def _pays_a_wallet(row: Json) -> bool:
    info = row["_target"].account.get("accountInfo") or {}
    return str(info.get("accountType")).endswith("_WALLET")


def is_shut(world: World, target: Json) -> bool:
    """Tell whether an internal account can receive nothing."""
    failed = target["status"] == "FAILED" and world.has("failed-account-receives")
    closed = target["status"] == "CLOSED" and world.has("closed-account-still-receives")
    return not internals.works(world, target) and not failed and not closed


def _complete(world: World, row: Json) -> None:
    untold = row["_target"].internal and world.has("internal-completion-untold")
    if row.get("_reviewed") and world.has("reviewed-completion-untold"):
        untold = True
    if row["_quote"]["_realtime"] and world.has("just-in-time-completion-untold"):
        untold = True
    if row["_quote"]["_source"].external and world.has("pulled-completion-untold"):
        untold = True
    if row.get("_approved") and world.has("approved-completion-untold"):
        untold = True
    if untold or (_pays_a_wallet(row) and world.has("coin-completion-untold")):
        row["status"] = "COMPLETED"
    else:
        move(world, row, "COMPLETED")


def is_paid_all_the_same(world: World, quote: Json) -> bool:
    """Tell whether an account is paid, by a planted bug, that is reviewed or was disabled."""
    account = quote["_target"].external
    reviewed = account is not None and account["status"] == "UNDER_REVIEW"
    if reviewed and world.has("reviewed-receives"):
        return True
    unverified = account is not None and account["status"] == "UNVERIFIED"
    if unverified and world.has("unverified-receives"):
        return True
    disabled = account is not None and account["status"] == "INACTIVE"
    return disabled and quote["_payable"] and world.has("disabled-after-quote")


def _is_stopped(world: World, row: Json) -> bool:
    """Return whether an external account can receive nothing; one that awaits a proof may."""
    account: Json | None = row["_target"].external
    usable = ("ACTIVE", "PENDING_OWNERSHIP_VERIFICATION")
    stopped = account is not None and account["status"] not in usable
    return stopped and not is_paid_all_the_same(world, row["_quote"])


def _network(world: World, info: Json) -> str:
    """Return the network of a wallet: by a planted bug the same one for all."""
    network = str(info["accountType"]).removesuffix("_WALLET")
    return "BASE" if network != "BASE" and world.has("chain-always-base") else network


def _on_chain(network: str) -> Json:
    return {"transactionHash": f"0x{secrets.token_hex(32)}", "network": network}


def _fail(world: World, row: Json, reason: str) -> None:
    row["failureReason"] = None if world.has("no-failure-reason") else reason
    row["_quote"]["status"] = "FAILED"
    move(world, row, "FAILED")
    if world.has("failure-reason-in-event-only"):
        row["failureReason"] = None
    pulled = row["_quote"]["_source"].external is not None
    ours = not pulled and row["_quote"]["_source"].owner is None
    if ours and world.has("platform-not-refunded"):
        return
    if row["_quote"]["_immediate"] and world.has("immediate-not-refunded"):
        return
    if _pays_a_wallet(row) and world.has("coin-payout-not-refunded"):
        return
    if not world.has("no-refund") and not (pulled and world.has("no-refund-of-pulled")):
        world.later(world.persona.settle_seconds, lambda: _begin_refund(world, row))


def _refund_move(world: World, row: Json, state: str) -> None:
    row["refund"] = {**row["refund"], "status": state}
    words = {"REFUND": f"REFUND_{state}", "REFUNDED": "REFUNDED", "FAILED": "FAILED"}
    if world.persona.refunded_status != "REFUNDED" or state == "COMPLETED":
        row["status"] = words[world.persona.refunded_status]
    told = shown(world, row)
    if state == "COMPLETED" and world.has("refund-event-old-refund"):
        told["refund"] = {**row["refund"], "status": "PENDING"}
    if state == "COMPLETED" and world.has("refund-event-without-refund"):
        del told["refund"]
    if state == "PENDING" and world.has("refund-event-before-refund"):
        told["refund"] = None
    if state == "PENDING" and world.has("refund-pending-untold"):
        return
    payer = row["_quote"]["_source"].owner or {}
    business = payer.get("customerType") == "BUSINESS"
    if not business or not world.has("business-refund-untold"):
        world.emit(f"OUTGOING_PAYMENT.REFUND_{state}", told)


def _begin_refund(world: World, row: Json) -> None:
    row["refund"] = {"status": "PENDING", "reference": f"RF{world.number()}"}
    if row["failureReason"] and world.has("reason-lost-with-refund"):
        row["failureReason"] = None
    _refund_move(world, row, "PENDING")
    if "refund-held" not in _traits(row):
        world.later(world.persona.settle_seconds, lambda: _end_in_time(world, row))


def _end_in_time(world: World, row: Json) -> None:
    # Backstage may have ended it before.
    if row["refund"]["status"] == "PENDING":
        end_refund(world, row)


def end_refund(world: World, row: Json) -> None:
    """End the refund of a failed transaction.

    Raises:
        Refusal: where no refund is pending.
    """
    if not row["refund"] or row["refund"]["status"] != "PENDING":
        raise conflict("No refund is pending.")
    if "refund-fails" in _traits(row):
        if row["_quote"]["_source"].internal and world.has("failed-refund-credited"):
            internals.credit(world, row["_quote"]["_source"].internal, row["_quote"]["_sent"])
        _refund_move(world, row, "FAILED")
        return
    quote = row["_quote"]
    account = quote["_source"].internal
    if account and not world.has("refund-without-money"):
        amount = quote["_sent"]
        if _is_cross(quote) and world.has("cross-refund-of-received"):
            amount = quote["_received"]
        if world.has("refund-balance-untold"):
            account["_available"] += amount
        elif world.has("refund-in-total-only"):
            account["_held"] += amount
            internals.changed(world, account)
        else:
            internals.credit(world, account, amount)
    _refund_move(world, row, "COMPLETED")


def refresh_quote(world: World, quote: Json) -> None:
    """Let a quote, or its challenge, expire whose time has passed."""
    if quote["status"] not in {"PENDING", "PENDING_AUTHORIZATION"}:
        return
    row = of(world, quote)
    challenge = quote["_challenge"]
    if row.get("failureReason") or row["status"] == "EXPIRED":
        return
    if challenge and challenge["expiresAt"] <= now():
        quote["status"] = "EXPIRED"
        quote["_challenge"] = None
        row["failureReason"] = "SCA_NOT_COMPLETED"
        if world.has("lapsed-challenge-as-compliance"):
            row["failureReason"] = "COMPLIANCE_REJECTED"
        move(world, row, world.persona.lapsed_challenge)
    elif quote["expiresAt"] <= now() and not _is_kept_open(world, quote):
        quote["status"] = world.persona.expired_quote
        quote["_challenge"] = None
        kept = world.has("transaction-stays-pending") or world.has("expires-on-attempt")
        if _is_cross(quote) and world.has("cross-quote-stays-pending"):
            kept = True
        if not kept:
            row["status"] = "EXPIRED"


def _is_kept_open(world: World, quote: Json) -> bool:
    """Tell whether a planted bug keeps a quote from expiring."""
    late = quote["_realtime"] and world.has("just-in-time-never-expires")
    ours = quote["_source"].owner is None and world.has("platform-quote-lasts")
    return bool(late) or ours or world.has("quotes-for-ever")


def refresh(world: World, row: Json) -> None:
    """Let a transaction expire whose quote has expired."""
    if row.get("_quote"):
        refresh_quote(world, row["_quote"])


def _query_of_page(call: Call) -> Mapping[str, str]:
    """Return the query of a later page, which forgets its filters by a planted bug."""
    if not call.world.has("next-page-unfiltered"):
        return call.query
    return {name: value for name, value in call.query.items() if name not in {"type", "status"}}


def _wanted(call: Call, row: Json) -> bool:
    query = call.query
    if "after" in query and {"type", "status"} & set(query):
        query = _query_of_page(call)
    owner = call.agent_of or query.get("customerId")
    others = call.agent_of and query.get("customerId") not in {None, call.agent_of}
    if others and call.world.has("agent-lists-others"):
        owner = query["customerId"]
    account = query.get("accountId")
    if owner and row.get("_customer") != owner:
        return False
    if account and row.get("_account") != account:
        return False
    shown_as = row["status"]
    if shown_as == "EXPIRED" and "status" in query and call.world.has("expired-filed-as-pending"):
        shown_as = "PENDING"
    moved = bool(row.get("_quote")) and shown_as != "PENDING"
    if moved and "status" in query and call.world.has("status-filter-of-creation"):
        shown_as = "PENDING"
    seen = {"type": row.get("type"), "status": shown_as}
    fits = [seen[name] == query[name] for name in seen if name in query]
    if any(fits) and not all(fits) and call.world.has("filters-by-either"):
        return True
    return all(fits)


def _same_card(world: World, row: Json, card: str) -> bool:
    mine = row.get("cardId", "")
    bare = bool(mine) and card == mine.partition(":")[2]
    if bare and world.has("card-filter-by-whole-id"):
        return False
    if row.get("originalTransactionId") and world.has("return-row-without-card"):
        return False
    return card in {mine, mine.partition(":")[2]} or world.has("card-filter-ignored")


def index(call: Call) -> Reply:
    """GET /transactions."""
    world, query = call.world, call.query
    card = query.get("cardId")
    both = query.get("type") == "CARD" and "status" in query
    free = both and card is not None and world.has("card-id-with-status")
    if both and not free and not world.has("card-status-filter"):
        raise invalid("status", "applies to payments, and not to cards")
    for row in world.transactions.values():
        refresh(world, row)
    rows = [row for row in world.transactions.values() if _wanted(call, row)]
    old = [row for row in rows if row.get("_quote") and row["_quote"]["_deprecated"]]
    if old and world.has("transfers-unlisted"):
        rows = [row for row in rows if row not in old]
    later = card is not None and "after" in query
    coins = [row for row in rows if _sends_coins(row)]
    if coins and world.has("coin-transactions-unlisted"):
        rows = [row for row in rows if row not in coins]
    if card is not None and not (later and world.has("next-page-other-cards")):
        rows = [row for row in rows if _same_card(world, row, card)]
    if "status" in query:
        rows = [row for row in rows if row["type"] != "CARD"]
    return call.page([_listed(world, row) for row in rows])


def _sends_coins(row: Json) -> bool:
    return bool(row.get("_quote")) and COINS[row["_quote"]["_price"].sending].crypto


def _listed(world: World, row: Json) -> Json:
    """Return a transaction as lists show it."""
    body = _dated(world, public(row))
    sent, received = body.get("sentAmount"), body.get("receivedAmount")
    if sent != received and world.has("transaction-list-swaps-sent-and-received"):
        body |= {"sentAmount": received, "receivedAmount": sent}
    voided = row["type"] == "CARD" and (row["status"], row["direction"]) == ("VOIDED", "DEBIT")
    if voided and world.has("voided-listed-as-authorized"):
        body["status"] = "AUTHORIZED"
    return body


def find(call: Call) -> Json:
    """Return the transaction of the path.

    Raises:
        Refusal: 404 where there is none.
    """
    world = call.world
    key = call.params["transactionId"]
    if key in world.quotes and world.has("transaction-by-quote-id"):
        key = world.quotes[key]["transactionId"]
    row = world.find(world.transactions, key, "TRANSACTION_NOT_FOUND")
    call.concerns(row.get("_customer"))
    refresh(world, row)
    return row


def read(call: Call) -> Reply:
    """GET /transactions/{transactionId}."""
    if not call.world.persona.reads_one:
        raise Refusal("NOT_FOUND", "There is no such operation.")
    return 200, shown(call.world, find(call))


ROUTES: list[Route] = [
    ("GET", "/transactions", index),
    ("GET", "/transactions/{transactionId}", read),
]
