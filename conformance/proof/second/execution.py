"""The execution and the authorization of a quote."""

from dataclasses import replace
from decimal import Decimal

from conformance.proof.second import (
    customer_views,
    demands,
    internals,
    paying,
    pricing,
    quote_views,
    sca,
    transactions,
)
from conformance.proof.second.call import Call, Reply, Route
from conformance.proof.second.errors import INPUT, Refusal, conflict, invalid
from conformance.proof.second.money import Json, half_up, money
from conformance.proof.second.pricing import Price, shown_rate
from conformance.proof.second.world import World, ahead, public

_DRIFT = Decimal("0.998")
"""How far a rate has moved until the execution, where a planted bug converts again."""


def _expire_late(world: World, quote: Json) -> None:
    row = transactions.of(world, quote)
    if row["status"] == "PENDING" and world.has("expires-on-attempt"):
        row["status"] = "EXPIRED"
    if not quote["_realtime"] and world.has("expired-execution-debits"):
        _take_what_is_due(world, quote)


def _take_what_is_due(world: World, quote: Json) -> None:
    """Debit the source of a quote too early, where it has enough, which is for planted bugs."""
    account = quote["_source"].internal
    if account and account["_available"] >= quote["_sent"]:
        internals.take(world, account, quote["_sent"])


def _is_taken_again(world: World, quote: Json) -> bool:
    """Tell whether a planted bug takes the execution of a quote that waits for a proof."""
    if world.has("challenge-again"):
        return True
    return bool(quote["_second"]) and world.has("again-at-second-challenge")


def _require_executable(world: World, quote: Json) -> None:
    if "_stale" in quote:
        account = quote["_source"].internal
        if account and world.has("refused-rate-debits"):
            internals.take(world, account, quote["_sent"])
        raise Refusal("QUOTE_RATE_UNAVAILABLE", "The rate cannot be kept.")
    if quote["_source"].external and world.has("pull-not-executable"):
        raise conflict("This quote is only executed when it is made.")


def _expired(world: World) -> Refusal:
    """Return what refuses to execute an expired quote."""
    if world.has("expired-as-invalid"):
        return invalid("quoteId", "has expired")
    status = 409 if world.has("expired-quote-409") else 0
    return Refusal(world.persona.expired_code, "The quote has expired.", status=status)


def execute_call(call: Call) -> Reply:
    """POST /quotes/{quoteId}/execute."""
    world, persona, quote = call.world, call.world.persona, paying.of(call)
    again = quote["status"] == "COMPLETED" and world.has("executed-twice")
    if quote["status"] in {"PROCESSING", "COMPLETED", "FAILED"} and not again:
        if persona.repeated_execution == "refused":
            raise conflict("The quote was executed.")
        return 200, quote_views.shown(world, quote)
    if quote["status"] == "PENDING_AUTHORIZATION":
        if _is_taken_again(world, quote):
            return 200, quote_views.shown(world, quote)
        if not quote["_realtime"] and world.has("refused-execution-reopens"):
            quote |= {"status": "PENDING", "_challenge": None}
            transactions.of(world, quote)["status"] = "PENDING"
        raise conflict("The quote waits for an authorization.")
    late = paying.is_expired(world, quote) and not quote["_realtime"]
    late = late and not _is_renewed(world, quote)
    if late and paying.asks(world, quote) and world.has("expired-asks-for-proof"):
        paying.ask(world, quote)
        return 200, quote_views.shown(world, quote)
    again = "_refused_late" in quote and not quote["_realtime"]
    if again and world.has("second-attempt-executes"):
        paying.execute(world, quote)
        return 200, _executed(world, quote)
    if paying.is_expired(world, quote) and not world.has("quotes-for-ever"):
        quote["_refused_late"] = True
        _expire_late(world, quote)
        raise _expired(world)
    if quote["_realtime"]:
        return _execute_realtime(world, quote)
    _require_executable(world, quote)
    demands.require_signature(call, quote["_source"], quote["_target"])
    _recount(world, quote)
    _convert_again(world, quote)
    paying.execute(world, quote)
    return world.persona.executed_status, _executed(world, quote)


def _is_renewed(world: World, quote: Json) -> bool:
    """Price an expired quote again by a planted bug, which gives it another lifetime."""
    if not world.has("expired-priced-anew"):
        return False
    old: Price = quote["_price"]
    side, amount = quote["_locked"]
    priced = pricing.price(world, (old.sending, old.receiving), side, amount, quote["_extra"])
    quote |= {
        "status": "PENDING",
        "expiresAt": ahead(world.persona.quote_seconds),
        "_price": priced,
        "_sent": priced.sent,
        "_received": priced.received,
    }
    transactions.of(world, quote)["status"] = "PENDING"
    return True


def _recount(world: World, quote: Json) -> None:
    """Price a quote again, by a planted bug, where the standing fee was changed after it."""
    old: Price = quote["_price"]
    codes = (old.sending, old.receiving)
    extra = pricing.platform_fee(world, *codes, quote["_override"])
    if extra == quote["_extra"] or not world.has("execution-recounts-fee"):
        return
    side, amount = quote["_locked"]
    priced = pricing.price(world, codes, side, amount, extra)
    quote |= {"_price": priced, "_sent": priced.sent, "_received": priced.received}
    transactions.of(world, quote).update(
        sentAmount=money(priced.sent, priced.sending),
        receivedAmount=money(priced.received, priced.receiving),
        platformFees=transactions.platform_fees(world, priced),
    )


def _convert_again(world: World, quote: Json) -> None:
    """Convert what a quote sends, by a planted bug, at the rate of its execution."""
    old: Price = quote["_price"]
    if old.sending == old.receiving or not world.has("execution-at-new-rate"):
        return
    priced = replace(old, received=half_up(old.received * _DRIFT), drift=_DRIFT)
    quote |= {"_price": priced, "_received": priced.received}
    transactions.of(world, quote).update(
        receivedAmount=money(priced.received, priced.receiving),
        exchangeRate=float(shown_rate(world, priced)),
    )


def _executed(world: World, quote: Json) -> Json:
    body = quote_views.shown(world, quote)
    if quote["_challenge"] and world.has("challenged-without-transaction"):
        body["transactionId"] = None
    _mistake_executed(world, body)
    if quote["_rail"] and world.has("execution-echoes-rail"):
        body["destination"] = {**body["destination"], "paymentRail": quote["_rail"]}
    if world.has("new-transaction-id"):
        body["transactionId"] = world.new_id("Transaction")
    if world.has("executed-net"):
        body["totalSendingAmount"] -= body["feesIncluded"]
    return body


def _mistake_executed(world: World, body: Json) -> None:
    """Spoil the answer to an execution by a planted bug."""
    if world.has("executed-without-fees"):
        body["feesIncluded"] = 0
    if body["description"] and world.has("executed-without-description"):
        body["description"] = None
    if world.has("executed-answer-stale"):
        body["status"] = "PENDING"
        body.pop("scaChallenge", None)
    sent, received = body["sendingCurrency"], body["receivingCurrency"]
    if sent != received and world.has("executed-currencies-swapped"):
        body |= {"sendingCurrency": received, "receivingCurrency": sent}


def _execute_realtime(world: World, quote: Json) -> Reply:
    waits = customer_views.needs_sca(world, quote["_source"].owner) and not quote["_proven"]
    if waits and world.persona.realtime_sca == "execution":
        paying.ask(world, quote)
        return 200, quote_views.shown(world, quote)
    if quote.get("_funded"):
        # Without a planted bug the payment has executed it.
        paying.pay(world, quote)
    elif world.has("realtime-quote-executable-by-call"):
        paying.pay(world, quote)
    elif world.persona.realtime_execution == "refused":
        raise conflict("A payment to the instructions executes this quote.")
    return 200, quote_views.shown(world, quote)


def _asked(call: Call) -> Json:
    """Return the quote that is authorized; none is there is a conflict by a planted bug."""
    try:
        return paying.of(call)
    except Refusal as refusal:
        if refusal.status == 404 and call.world.has("unknown-quote-authorized"):
            raise conflict("Nothing is asked.") from None
        raise


def authorize(call: Call) -> Reply:
    """POST /quotes/{quoteId}/authorize."""
    world, quote = call.world, _asked(call)
    body = call.json()
    open_still = quote["status"] == "PENDING" and not quote["_realtime"]
    if open_still and not paying.is_expired(world, quote) and world.has("unasked-proof-executes"):
        paying.pay(world, quote)
        return 200, quote_views.shown(world, quote)
    if quote["status"] != "PENDING_AUTHORIZATION":
        status = world.persona.wrong_state_status
        raise Refusal("CONFLICT" if status == 409 else INPUT, "Nothing is asked.", status=status,
                      details=None if status == 409 else _no_question())  # fmt: skip
    _prove(world, quote, body)
    quote = _proven(world, quote)
    quote["_more"] -= 1
    if quote["_more"] > 0 and not world.has("one-challenge-only"):
        paying.ask(world, quote)
        answer = quote_views.shown(world, quote)
        if world.has("second-challenge-hidden"):
            del answer["scaChallenge"]
        return 200, answer
    quote["_proven"] = True
    quote["_source"].owner["_proved"] = True
    asked = quote["_challenge"]
    if world.persona.kept_challenge:
        quote["_last_challenge"] = public(asked)
    if quote["_realtime"]:
        quote["status"] = "PENDING"
        quote["_challenge"] = None
        transactions.of(world, quote)["status"] = "PENDING"
    else:
        frozen = quote["_source"].account.get("status") == "FROZEN"
        if not (frozen and world.has("frozen-while-authorizing")):
            demands.require_sendable(world, quote["_source"])
        if not transactions.is_paid_all_the_same(world, quote):
            demands.require_receivable(
                world, quote["_target"], quote["_sent"], quote["_source"].code
            )
        paying.pay(world, quote)
    return world.persona.executed_status, _authorized(world, quote, asked)


def _authorized(world: World, quote: Json, asked: Json) -> Json:
    """Return a quote as the answer to its last proof shows it; `asked` is the challenge."""
    answer = quote_views.shown(world, quote)
    if world.has("authorize-answer-stale"):
        answer |= {"status": "PENDING_AUTHORIZATION", "scaChallenge": public(asked)}
    if quote["status"] == "PROCESSING" and world.has("authorized-keeps-challenge"):
        answer["scaChallenge"] = public(asked)
    if world.has("authorized-answer-bare-id"):
        answer["id"] = answer["id"].partition(":")[2]
    if world.has("authorized-new-transaction"):
        answer["transactionId"] = world.new_id("Transaction")
    return answer


def _proven(world: World, quote: Json) -> Json:
    """Return the quote that a proof authorizes: by a planted bug its customer's newest one."""
    owner = quote["_source"].owner
    newest = [
        row
        for row in world.quotes.values()
        if row["_source"].owner is owner and row["status"] == "PENDING_AUTHORIZATION"
    ][-1]
    return newest if newest is not quote and world.has("proof-of-newest-quote") else quote


def _prove(world: World, quote: Json, body: Json) -> None:
    """Take a proof; a wrong one makes the quote PENDING again by a planted bug.

    Raises:
        Refusal: as in `sca.prove`.
    """
    owner = quote["_source"].owner
    if owner["_asked"] != quote["id"] and world.has("second-challenge-replaces-first"):
        # No proof fits a challenge that is not kept any more.
        body = {}
    try:
        sca.prove(world, owner, body)
    except Refusal as refusal:
        wrong = refusal.code not in {"ACCOUNT_LOCKED", "SCA_SESSION_REQUIRED"}
        if wrong and not quote["_realtime"] and world.has("wrong-proof-reopens"):
            quote |= {"status": "PENDING", "_challenge": None}
            transactions.of(world, quote)["status"] = "PENDING"
        if wrong and not quote["_realtime"] and world.has("wrong-proof-debits"):
            _take_what_is_due(world, quote)
        raise


def _no_question() -> Json:
    return {"errors": [{"field": "quoteId", "message": "waits for no authorization"}]}


ROUTES: list[Route] = [
    ("POST", "/quotes/{quoteId}/execute", execute_call),
    ("POST", "/quotes/{quoteId}/authorize", authorize),
]
