"""A quote as it is shown, with the mistakes that are planted there."""

from decimal import Decimal

from conformance.proof.second import customer_views, internals
from conformance.proof.second.money import COINS, Json, half_up, unit_rate
from conformance.proof.second.money import shown as currency
from conformance.proof.second.pricing import Price, shown_rate
from conformance.proof.second.world import World, public


def shown(world: World, quote: Json) -> Json:
    """Return a quote as answers show it."""
    priced: Price = quote["_price"]
    one = shown_rate(world, priced)
    both = priced.fee + priced.platform_fee
    body = public(quote) | {
        "sendingCurrency": currency(priced.sending),
        "receivingCurrency": currency(priced.receiving),
        "totalSendingAmount": priced.sent,
        "totalReceivingAmount": priced.received,
        "exchangeRate": float(one) if one != 1 or world.persona.rate_as_float else 1,
        "feesIncluded": both if world.persona.fee_sum == "total" else priced.fee,
        "platformFeesIncluded": priced.platform_fee,
        "rateDetails": {
            "counterpartyMultiplier": float(one),
            "counterpartyFixedFee": 0,
            "gridApiMultiplier": float(one),
            "gridApiFixedFee": 0,
            "gridApiVariableFeeRate": float(priced.fee_rate),
            "gridApiVariableFeeAmount": priced.fee,
        },
    }
    _mistake_price(world, quote, body)
    _mistake_unit(world, quote, body)
    _mistake(world, quote, body)
    if quote["_immediate"] and world.has("no-expiry-at-once"):
        body["expiresAt"] = None
    waits = quote["_realtime"] and quote["status"] in {"PENDING", "PENDING_AUTHORIZATION"}
    if waits and world.has("late-transaction-id"):
        body["transactionId"] = None
    if quote["_challenge"]:
        body["scaChallenge"] = _challenge(world, quote)
    elif "_last_challenge" in quote:
        body["scaChallenge"] = quote["_last_challenge"]
    open_to_pay = not customer_views.needs_sca(world, quote["_source"].owner) or quote["_proven"]
    if quote["_realtime"] and quote["_proven"] and world.has("instructions-never"):
        open_to_pay = False
    if quote["_realtime"] and (open_to_pay or world.has("instructions-early")):
        body["paymentInstructions"] = [_instruction(world, quote)]
        ours = quote["_source"].owner is None
        if ours and world.has("platform-realtime-quote-without-instructions"):
            body["paymentInstructions"] = []
        elif priced.sending == "BTC" and world.has("bitcoin-instructions-bare"):
            body["paymentInstructions"] = body["paymentInstructions"][0]
    return body


def _mistake(world: World, quote: Json, body: Json) -> None:
    """Spoil a quote that is shown by a planted bug."""
    priced: Price = quote["_price"]
    if "&" in (body["description"] or "") and world.has("description-escaped"):
        body["description"] = body["description"].replace("&", "&amp;")
    home = priced.sending == priced.receiving
    if home and _is_rate_net(world, quote):
        body["exchangeRate"] = priced.received / priced.sent
    if home and world.has("home-rate-null"):
        body["exchangeRate"] = None
    if COINS[priced.receiving].crypto and world.has("ticker-lower-case"):
        body["receivingCurrency"]["code"] = priced.receiving.lower()
    if priced.sending == priced.receiving and world.has("fees-unshown-at-home"):
        body |= {"feesIncluded": None, "platformFeesIncluded": None}
    elif quote["_fixed"] and world.has("fixed-fee-unshown"):
        body["platformFeesIncluded"] -= quote["_fixed"]
    if world.has("fixed-fee-misnamed"):
        body["rateDetails"]["serviceApiFixedFee"] = body["rateDetails"].pop("gridApiFixedFee")
    if priced.sending != priced.receiving and world.has("fee-in-receiving-currency"):
        one = unit_rate(priced.sending, priced.receiving)
        body["feesIncluded"] = half_up(body["feesIncluded"] * one)
    between = quote["status"] == "PENDING_AUTHORIZATION" and quote["_second"]
    if between and world.has("between-proofs-pending"):
        body["status"] = "PENDING"


def _is_rate_net(world: World, quote: Json) -> bool:
    """Tell whether a planted bug shows a rate within one currency that has the fee in it."""
    if quote["_locked"][0] == "RECEIVING" and world.has("home-rate-with-fee"):
        return True
    return world.has("same-currency-rate-net-of-fees")


def _mistake_price(world: World, quote: Json, body: Json) -> None:
    """Spoil by a planted bug what a quote costs and how long that lasts."""
    priced: Price = quote["_price"]
    by_address = body["destination"]["destinationType"] == "UMA_ADDRESS"
    if by_address and world.has("uma-quote-without-expiry"):
        body["expiresAt"] = None
    for name in ("sendingCurrency", "receivingCurrency"):
        if COINS[body[name]["code"]].decimals > 2 and world.has("quote-coin-decimals"):
            body[name]["decimals"] = 2
    net = priced.sent - priced.fee - priced.platform_fee
    exact = net * unit_rate(priced.sending, priced.receiving)
    broken = quote["_locked"][0] == "SENDING" and exact != int(exact)
    if broken and world.has("received-amount-not-rounded"):
        body["totalReceivingAmount"] = float(exact)
    if quote["_locked"][0] == "RECEIVING" and world.has("shown-fee-on-net"):
        body["feesIncluded"] -= priced.fee - half_up((priced.sent - priced.fee) * priced.fee_rate)
    locked = quote["_locked"][0]
    if priced.receiving == "BTC" and locked == "SENDING" and world.has("received-in-millisatoshis"):
        body["totalReceivingAmount"] *= 1000
    symbol = body["sendingCurrency"]["symbol"]
    if body["receivingCurrency"]["symbol"] != symbol and world.has("received-symbol-of-sender"):
        body["receivingCurrency"]["symbol"] = symbol
    if COINS[priced.receiving].decimals != 2 and world.has("received-decimals-two"):
        body["receivingCurrency"]["decimals"] = 2
    if world.has("receiving-currency-as-code"):
        body["receivingCurrency"] = priced.receiving


def _mistake_unit(world: World, quote: Json, body: Json) -> None:
    """Spoil by a planted bug in which unit a quote tells what is received."""
    places = COINS[quote["_price"].receiving].decimals
    fits = places == 2 or quote["_locked"][0] != "SENDING"
    if not fits and world.has("receiving-total-in-hundredths"):
        whole = Decimal(quote["_price"].received).scaleb(-places)
        body["totalReceivingAmount"] = half_up(whole.scaleb(2))


def _challenge(world: World, quote: Json) -> Json:
    challenge = public(quote["_challenge"])
    if world.has("challenge-expiry-in-seconds"):
        challenge["expiresAt"] = int(challenge["expiresAt"].timestamp())
    return challenge


def _instruction(world: World, quote: Json) -> Json:
    shadow = {"_code": quote["_price"].sending, "_number": quote["id"].partition(":")[2][:16]}
    shown_so = internals.instruction(world, shadow, reference=quote["_number"])
    if COINS[quote["_price"].sending].crypto and world.has("coin-instruction-untyped"):
        del shown_so["accountOrWalletInfo"]["accountType"]
    elif world.has("quote-instruction-type-outside"):
        shown_so["accountType"] = shown_so["accountOrWalletInfo"].pop("accountType")
    return shown_so
