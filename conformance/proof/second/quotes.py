"""Quotes: from where, to where, at which price."""

from conformance.proof.second import (
    demands,
    ends,
    external_views,
    internals,
    paying,
    pricing,
    quote_form,
    quote_views,
    transactions,
    uma,
)
from conformance.proof.second.call import Call, Reply, Route
from conformance.proof.second.ends import End
from conformance.proof.second.errors import Refusal
from conformance.proof.second.money import COINS, Json
from conformance.proof.second.pricing import Price
from conformance.proof.second.world import World, ahead, now


def create(call: Call) -> Reply:
    """POST /quotes."""
    world, body = call.world, quote_form.read(call)
    if body.get("immediatelyExecute") is False and world.has("false-executes"):
        body["immediatelyExecute"] = True
    at_once = body.get("immediatelyExecute") and body["lockedCurrencySide"] == "RECEIVING"
    if at_once and world.has("receiving-not-at-once"):
        body["immediatelyExecute"] = False
    pulls = external_views.is_named_by(body["source"].get("accountId"))
    if pulls and body.get("immediatelyExecute") and world.has("immediate-pull-waits"):
        body["immediatelyExecute"] = False
    inside = body["source"]["sourceType"] == "ACCOUNT" and not pulls
    if inside and body.get("immediatelyExecute") and world.has("immediate-from-account-waits"):
        body["immediatelyExecute"] = False
    by_address = body["destination"]["destinationType"] == "UMA_ADDRESS"
    if by_address and body.get("immediatelyExecute") and world.has("immediate-uma-waits"):
        body["immediatelyExecute"] = False
    if body.get("immediatelyExecute") and world.has("immediate-flag-ignored"):
        body["immediatelyExecute"] = False
    quote = make(call, body)
    return _status(world, quote), _created(world, quote)


def _created(world: World, quote: Json) -> Json:
    """Return a quote as the answer to its creation shows it."""
    answer = quote_views.shown(world, quote)
    world.tell_more("QUOTE.CREATED", answer)
    executed = quote["_immediate"] and quote["status"] in {"PROCESSING", "COMPLETED"}
    if executed and world.has("immediate-answer-stale"):
        answer["status"] = "PENDING"
    if executed and world.has("immediate-execution-answers-transaction"):
        return transactions.shown(world, transactions.of(world, quote))
    if executed and world.has("immediate-other-transaction"):
        answer["transactionId"] = world.new_id("Transaction")
    if quote["_immediate"] and quote["_challenge"] and world.has("immediate-challenge-no-purpose"):
        del answer["scaChallenge"]["purpose"]
    if quote["_immediate"] and quote["_challenge"] and world.has("immediate-without-challenge"):
        del answer["scaChallenge"]
    return answer


def _status(world: World, quote: Json) -> int:
    """Return the status of the answer to the creation of a quote."""
    if quote["_immediate"] and world.has("immediate-quote-200"):
        return 200
    return 202 if _is_answered_otherwise(world, quote) else 201


def _is_answered_otherwise(world: World, quote: Json) -> bool:
    """Tell whether a planted bug answers the creation of a quote with another status than 201."""
    if quote["_challenge"]:
        if quote["_immediate"]:
            return world.has("challenged-quote-202")
        return world.has("waiting-just-in-time-202")
    if quote["_source"].external and quote["_immediate"] and world.has("pulled-at-once-202"):
        return True
    if quote["_source"].internal and not quote["_source"].owner and world.has("platform-quote-202"):
        return True
    by_address = not quote["_target"].account
    return by_address and world.has("uma-quote-202")


def make(call: Call, body: Json) -> Json:
    """Create a quote, and execute it where the body says so.

    Raises:
        Refusal: for whatever is in its way.
    """
    world = call.world
    source = ends.source(call, body["source"], at_once=bool(body.get("immediatelyExecute")))
    target = _target(call, source, body)
    if body.get("lookupId") is not None:
        world.named(world.lookups, body["lookupId"], "LOOKUP_REQUEST_NOT_FOUND", "lookupId")
    call.concerns(source.owner["id"] if source.owner else "")
    if demands.pays_itself(world, source, target, body):
        raise Refusal("SELF_PAYMENT", "Source and destination are the same account.")
    codes = (source.code, target.code)
    body = _as_taken(world, body, source, codes)
    realtime = body["source"]["sourceType"] == "REALTIME_FUNDING"
    at_once = bool(body.get("immediatelyExecute"))
    demands.require_owner(world, source, codes, realtime=realtime, at_once=at_once)
    by_address = body["destination"]["destinationType"] == "UMA_ADDRESS"
    deprecated = call.path.startswith("/transfer-")
    demands.require_sendable(world, source, deprecated=deprecated, by_address=by_address)
    demands.require_rail(world, target, body["destination"])
    demands.demand_rail(world, target, body)
    demands.refuse_by_bugs(world, source, target, body)
    demands.require_registration(world, source.owner, target)
    demands.require_market(world, source.owner, codes)
    if target.external:
        _request_payment(world, target.external)
    extra = _extra(world, codes, body)
    amount = _amount(world, codes, body)
    priced = pricing.price(world, codes, body["lockedCurrencySide"], amount, extra)
    demands.require_limits(world, source.owner, priced, body)
    if world.persona.destination_noticed == "creation" or body.get("immediatelyExecute"):
        demands.require_receivable(world, target, priced.sent, source.code)
    if body.get("immediatelyExecute"):
        needed = paying.needed(world, body["lockedCurrencySide"], priced)
        demands.require_immediate(call, source, target, needed, realtime=realtime)
    elif source.internal and (
        world.persona.funds_noticed == "creation" or world.has("funds-checked-at-creation-only")
    ):
        needed = paying.needed(world, body["lockedCurrencySide"], priced)
        internals.require_funds(world, source.internal, needed)
    quote = _record(world, body, (source, target), priced)
    quote["_deprecated"] = call.path.startswith("/transfer-")
    quote["_fixed"] = extra.get("fixedAmount") or 0
    quote["_extra"] = extra
    _keep_override(world, body, source)
    if realtime:
        paying.open_realtime(world, quote)
    if realtime and body.get("immediatelyExecute") and quote["status"] == "PENDING":
        paying.execute(world, quote)
    elif not realtime and body.get("immediatelyExecute"):
        paying.execute(world, quote, at_once=world.persona.immediate_status == "COMPLETED")
    return quote


def _target(call: Call, source: End, body: Json) -> End:
    """Return the destination of a quote; one that is not there leaves, by a planted bug, a trace.

    Raises:
        Refusal: as in `_destination`.
    """
    try:
        return ends.destination(call, body["destination"])
    except Refusal as refusal:
        if refusal.status == 404 and call.world.has("refused-quote-leaves-transaction"):
            owner = source.owner["id"] if source.owner else ""
            account = source.account.get("id")
            transactions.leave(call.world, body, source.code, account=account, owner=owner)
        raise


def _as_taken(world: World, body: Json, source: End, codes: tuple[str, str]) -> Json:
    """Return the body of a quote, without its immediate execution by a planted bug."""
    at_once = body.get("immediatelyExecute")
    if at_once and codes[0] != codes[1] and world.has("cross-at-once-waits"):
        return body | {"immediatelyExecute": False}
    realtime = body["source"]["sourceType"] == "REALTIME_FUNDING"
    if at_once and realtime and world.has("immediate-realtime-accepted"):
        return body | {"immediatelyExecute": False}
    wallet = source.account.get("type") == "EMBEDDED_WALLET"
    if at_once and wallet and world.has("wallet-at-once-waits"):
        return body | {"immediatelyExecute": False}
    return body


def _request_payment(world: World, account: Json) -> None:
    try:
        uma.request_payment(world, account)
    except Refusal as refusal:
        if refusal.code == "SENDER_NOT_ACCEPTED" and world.has("sender-refused-at-quote"):
            raise Refusal(refusal.code, refusal.reason, status=424) from None
        if refusal.status == 412 and world.has("outdated-at-quote-400"):
            raise Refusal(refusal.code, refusal.reason, status=400) from None
        if refusal.code == "LNURLP_REQUEST_FAILED" and world.has("silent-at-quote-400"):
            raise Refusal(refusal.code, refusal.reason, status=400) from None
        raise


def _extra(world: World, codes: tuple[str, str], body: Json) -> Json:
    override = body.get("platformFeeOverride")
    foreign = override is not None and codes[0] != "USD"
    funded = body["source"]["sourceType"] == "REALTIME_FUNDING"
    if foreign and funded and world.has("override-unchecked-just-in-time"):
        return dict(override or {})
    extra = pricing.platform_fee(world, *codes, override)
    realtime = body["source"]["sourceType"] == "REALTIME_FUNDING"
    if extra and not override and realtime and world.has("standing-fee-not-just-in-time"):
        return {}
    pulls = str(body["source"].get("accountId")).startswith("ExternalAccount:")
    if extra and not override and pulls and world.has("standing-fee-not-pulled"):
        return {}
    coins = COINS[codes[1]].crypto and not override
    if extra and coins and world.has("standing-fee-not-to-coins"):
        return {}
    late = override and body["lockedCurrencySide"] == "RECEIVING"
    return {} if late and extra and world.has("override-lost-receiving") else extra


def _amount(world: World, codes: tuple[str, str], body: Json) -> int:
    """Return the locked amount, which a planted bug reads as hundredths of a crypto currency."""
    amount = int(body["lockedCurrencyAmount"])
    received = COINS[codes[1]]
    in_coins = body["lockedCurrencySide"] == "RECEIVING" and received.crypto
    if in_coins and world.has("locked-coins-in-cents"):
        amount *= 10 ** (received.decimals - 2)
    return amount


def _keep_override(world: World, body: Json, source: End) -> None:
    """Make the platform fee of a quote the standing one, by a planted bug."""
    fee = body.get("platformFeeOverride")
    if fee is not None and source.code == "USD" and world.has("override-kept"):
        world.config["feeConfigs"] = [{"sendingCurrency": "USD", **fee}]


def _described(world: World, body: Json) -> str | None:
    given: str | None = body.get("description")
    return given.strip() if given and world.persona.tidies else given


def _transaction_id(world: World, body: Json) -> str:
    """Return a fresh id, or by a planted bug that of a pending quote with an equal body."""
    twins = [
        row for row in world.quotes.values() if row["_body"] == body and row["status"] == "PENDING"
    ]
    if twins and world.has("twin-quotes-one-transaction"):
        return str(twins[0]["transactionId"])
    return world.new_id("Transaction")


def _record(world: World, body: Json, ends: tuple[End, End], priced: Price) -> Json:
    source, target = ends
    moment = now()
    given = {name: value for name, value in body["destination"].items() if name != "paymentRail"}
    if given != body["destination"] and world.has("rail-echo"):
        given = dict(body["destination"])
    origin = body["source"]
    if origin["sourceType"] == "REALTIME_FUNDING" and world.has("realtime-source-as-account"):
        origin = {"sourceType": "ACCOUNT", "accountId": world.new_id("InternalAccount")}
    seconds = 3600 if world.has("long-quote") else world.persona.quote_seconds
    if body["destination"].get("paymentRail") in {"ACH", "WIRE"} and world.has("slow-rail-hour"):
        seconds = 3600
    quote: Json = {
        "id": world.new_id("Quote"),
        "status": "PENDING",
        "createdAt": moment,
        "expiresAt": ahead(seconds),
        "source": origin,
        "destination": given,
        "transactionId": _transaction_id(world, body),
        "description": _described(world, body),
        "_body": body,
        "_rail": body["destination"].get("paymentRail"),
        "_locked": (body["lockedCurrencySide"], body["lockedCurrencyAmount"]),
        "_override": body.get("platformFeeOverride"),
        "_sent": priced.sent,
        "_received": priced.received,
        "_price": priced,
        "_source": source,
        "_target": target,
        "_more": 0,
        "_second": False,
        "_taken": False,
        "_proven": False,
        "_challenge": None,
        "_realtime": body["source"]["sourceType"] == "REALTIME_FUNDING",
        "_immediate": bool(body.get("immediatelyExecute")),
        "_payable": target.account.get("status") == "ACTIVE",
    }
    world.quotes[quote["id"]] = quote
    transactions.begin(world, quote)
    return quote


def read(call: Call) -> Reply:
    """GET /quotes/{quoteId}."""
    if not call.world.persona.reads_one:
        raise Refusal("NOT_FOUND", "There is no such operation.")
    return 200, quote_views.shown(call.world, paying.of(call))


ROUTES: list[Route] = [
    ("POST", "/quotes", create),
    ("GET", "/quotes/{quoteId}", read),
]
