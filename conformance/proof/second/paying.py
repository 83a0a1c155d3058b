"""How a quote is paid: what it takes from its source, and when."""

from conformance.proof.second import (
    customer_views,
    demands,
    internals,
    sca,
    transactions,
)
from conformance.proof.second.call import Call
from conformance.proof.second.ends import End
from conformance.proof.second.errors import Refusal, conflict
from conformance.proof.second.money import COINS, Json
from conformance.proof.second.pricing import Price
from conformance.proof.second.world import World, ahead, now

_MAX_RACE_SECONDS = 0.05
"""How long a planted race waits for the other execution, as most have none beside them."""


def open_realtime(world: World, quote: Json) -> None:
    """Give a quote that is funded just in time its reference, and its life; ask its customer."""
    quote["_number"] = f"RT{world.number()}"
    if world.has("realtime-quote-lives-an-hour"):
        quote["expiresAt"] = ahead(3_600)
    if world.has("just-in-time-lives-a-day"):
        quote["expiresAt"] = ahead(86_400)
    if (
        customer_views.needs_sca(world, quote["_source"].owner)
        and world.persona.realtime_sca == "creation"
    ):
        ask(world, quote)


def ask(world: World, quote: Json) -> None:
    """Make a quote wait for its customer's proof."""
    owner = quote["_source"].owner
    cross = quote["_price"].sending != quote["_price"].receiving
    within = cross and quote["_target"].internal is not None
    purpose = "CURRENCY_CONVERSION" if within else "PAYOUT"
    quote["_challenge"] = sca.challenge(world, owner, purpose)
    if quote["_more"] and world.has("bare-second-challenge"):
        quote["_challenge"]["id"] = quote["_challenge"]["id"].partition(":")[2]
    if quote["_more"] and world.has("second-challenge-no-factors"):
        del quote["_challenge"]["availableFactors"]
    owner["_asked"] = quote["id"]
    quote["_second"] = bool(quote["_more"])
    if not quote["_more"]:
        quote["_more"] = owner.pop("_more", 1)
    quote["status"] = "PENDING_AUTHORIZATION"
    transactions.of(world, quote)["status"] = world.persona.authorizing_status


def execute(world: World, quote: Json, *, at_once: bool = False) -> None:
    """Execute a quote that is pending, or ask its customer first.

    Raises:
        Refusal: where the money is not there, or the destination cannot receive.
    """
    source: End = quote["_source"]
    target: End = quote["_target"]
    closed = source.account.get("status") == "CLOSED" and world.has("closed-after-quote")
    frozen = source.account.get("status") == "FROZEN" and world.has("frozen-after-quote")
    if not closed and not frozen:
        by_address = quote["destination"]["destinationType"] == "UMA_ADDRESS"
        demands.require_sendable(
            world, source, deprecated=quote["_deprecated"], by_address=by_address
        )
    if world.persona.approval_noticed == "execution" and not quote["_realtime"]:
        demands.require_approval(world, source, realtime=False, at_once=at_once)
    gone = target.external is not None and target.external["id"] not in world.externals
    if gone and world.persona.gone_destination == "refused":
        raise Refusal("ACCOUNT_NOT_FOUND", "The destination was deleted.")
    if not transactions.is_paid_all_the_same(world, quote):
        demands.require_receivable(world, target, quote["_sent"], source.code)
    demands.require_volume(world, source.owner, (source.code, target.code))
    if source.internal and not world.has("funds-checked-at-creation-only"):
        _require_funds_now(world, quote)
    if asks(world, quote) and not world.has("trust-for-all"):
        ask(world, quote)
        if source.internal and world.has("challenge-debits"):
            internals.take(world, source.internal, quote["_sent"])
            quote["_taken"] = True
        return
    pay(world, quote, at_once=at_once)


def needed(world: World, side: str, priced: Price) -> int:
    """Return what the source of a quote has to have: by a planted bug what is received."""
    received = side == "RECEIVING" and world.has("funds-of-received")
    fees = priced.fee + priced.platform_fee
    if fees and world.has("funds-before-fees"):
        return priced.sent - fees
    return priced.received if received else priced.sent


def _require_funds_now(world: World, quote: Json) -> None:
    try:
        least = needed(world, quote["_locked"][0], quote["_price"])
        internals.require_funds(world, quote["_source"].account, least)
    except Refusal as refusal:
        if world.has("short-execution-ends-quote"):
            quote["status"] = "FAILED"
        if world.has("short-execution-starts-payment"):
            transactions.of(world, quote)["status"] = "PROCESSING"
        if world.has("short-execution-holds"):
            internals.hold_all(world, quote["_source"].account)
        if world.has("late-funds-unprocessable"):
            raise Refusal(refusal.code, refusal.reason, status=422) from None
        raise


def asks(world: World, quote: Json) -> bool:
    """Tell whether the customer of a quote has to prove that it is wanted."""
    owner: Json | None = quote["_source"].owner
    trusted = quote["_target"].account.get("_trusted", False)
    if owner is None or not customer_views.needs_sca(world, owner) or quote["_proven"] or trusted:
        return False
    if quote["_deprecated"] and world.has("transfer-unasked"):
        return False
    if quote["_immediate"] and not quote["_deprecated"] and world.has("immediate-unasked"):
        return False
    if owner.get("_proved") and world.has("proof-opens-others"):
        return False
    if quote["_source"].external and world.has("pull-unasked"):
        return False
    return owner["customerType"] != "BUSINESS" or not world.has("no-challenge-for-business")


def _take_after_check(world: World, quote: Json, account: Json, amount: int) -> None:
    """Debit an account once another execution has looked at its balance too, or none came."""
    internals.require_funds(world, account, amount)
    quote["status"] = "PROCESSING"
    account["_checks"] = mine = account.get("_checks", 0) + 1
    world.another_checks.notify_all()
    world.another_checks.wait_for(lambda: account["_checks"] > mine, _MAX_RACE_SECONDS)
    internals.take(world, account, amount)


def _debited(world: World, quote: Json, code: str) -> int:
    """Return what the source of a quote pays, of which planted bugs leave out a part."""
    amount: int = quote["_sent"]
    own = quote["_price"].platform_fee
    if own and world.has("platform-fee-left"):
        amount -= own
    fees = quote["_price"].fee + own
    if fees and world.has("debit-net"):
        amount -= fees
    cent = 10 ** max(COINS[code].decimals - 2, 0)
    if amount % cent and world.has("coin-debit-in-cents"):
        amount -= amount % cent
    return amount


def _is_taken_unchecked(world: World) -> bool:
    """Tell whether a planted bug does not look at the balance when it debits it."""
    return world.has("funds-checked-at-creation-only") or world.has("funds-before-fees")


def pay(world: World, quote: Json, *, at_once: bool = False) -> None:
    """Debit the source of a quote, and let its transaction settle.

    Raises:
        Refusal: where the source has less.
    """
    account = quote["_source"].internal
    if account and not quote["_taken"] and not world.has("debit-forgotten"):
        amount = _debited(world, quote, account["_code"])
        authorized = quote["_proven"] and not quote["_realtime"]
        received = quote["_locked"][0] == "RECEIVING" and world.has("funds-of-received")
        if received or _is_taken_unchecked(world):
            internals.take(world, account, amount)
        elif world.has("total-keeps-spent"):
            internals.require_funds(world, account, amount)
            account["_spent"] += amount
            internals.take(world, account, amount)
        elif world.has("executions-side-by-side"):
            _take_after_check(world, quote, account, amount)
        elif world.has("unsettled-in-balance"):
            internals.take_later(world, account, amount)
            transactions.of(world, quote)["_unsettled"] = amount
        elif world.has("debit-untold"):
            internals.require_funds(world, account, amount)
            account["_available"] -= amount
        elif not (authorized and world.has("authorized-not-debited")):
            internals.debit(world, account, amount)
    quote["status"] = "PROCESSING"
    quote["_challenge"] = None
    if world.has("executed-expires-now"):
        quote["expiresAt"] = now()
    transactions.start(world, quote, at_once=at_once)


def of(call: Call) -> Json:
    """Return the quote of the path, as it is by now.

    Raises:
        Refusal: 404 where there is none.
    """
    quote = call.world.find(call.world.quotes, call.params["quoteId"], "QUOTE_NOT_FOUND")
    owner = quote["_source"].owner
    call.concerns(owner["id"] if owner else "")
    transactions.refresh_quote(call.world, quote)
    return quote


def is_expired(world: World, quote: Json) -> bool:
    """Tell whether a quote is too old to be paid."""
    if quote["_source"].owner is None and world.has("platform-quote-lasts"):
        return False
    return bool(quote["expiresAt"] <= now() or quote["status"] == "EXPIRED")


def fund_realtime(world: World, quote: Json, reference: str) -> None:
    """Let a payment arrive that a quote asks for; one with another reference changes nothing.

    Raises:
        Refusal: where the quote does not wait for a payment, or its payer sends no more that day.
    """
    transactions.refresh_quote(world, quote)
    demands.require_volume(
        world, quote["_source"].owner, (quote["_source"].code, quote["_target"].code)
    )
    if not quote["_realtime"] or quote["status"] != "PENDING" or is_expired(world, quote):
        raise conflict("The quote waits for no payment.")
    if COINS[quote["_price"].sending].crypto and world.has("coin-payment-ignored"):
        return
    cross = quote["_price"].sending != quote["_price"].receiving
    if cross and world.has("cross-realtime-ignored"):
        return
    if reference == quote["_number"] and world.has("payment-needs-execution"):
        quote["_funded"] = True
        return
    if reference == quote["_number"] or world.has("any-reference"):
        pay(world, _paid_for(world, quote))


def _paid_for(world: World, quote: Json) -> Json:
    """Return the quote that a payment executes: by a planted bug the payer's first open one."""
    payer = quote["_source"].owner
    first = next(
        row
        for row in world.quotes.values()
        if row["_realtime"] and row["status"] == "PENDING" and row["_source"].owner is payer
    )
    other = payer is not None and first is not quote and world.has("payment-executes-first")
    return first if other else quote
