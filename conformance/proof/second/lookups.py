"""Discoveries of institutions, and lookups of receivers."""

from typing import Any

from conformance.proof.second import uma
from conformance.proof.second.account_types import BANKS
from conformance.proof.second.call import Call, Reply, Route
from conformance.proof.second.errors import Refusal, invalid
from conformance.proof.second.money import COINS, Json, coin, rate, unit_rate
from conformance.proof.second.money import shown as currency
from conformance.proof.second.pricing import least_received
from conformance.proof.second.world import Table, World

MAX_RECEIVED = 100_000_000


def discoveries(call: Call) -> Reply:
    """GET /discoveries."""
    country, code = call.query.get("country"), call.query.get("currency")
    value, label = "bankName", "displayName"
    if call.world.has("names-swapped"):
        value, label = label, value
    rows = [
        {
            value: name,
            label: f"{name} ({bank_country})",
            "country": bank_country,
            "currency": bank_code,
        }
        for (bank_code, bank_country), names in BANKS.items()
        for name in names
        if (code in {None, bank_code} or call.world.has("discoveries-any-currency"))
        and (country in {None, bank_country} or call.world.has("discoveries-any-country"))
    ]
    if call.world.has("bank-name-is-label"):
        rows = [row | {"bankName": row["displayName"]} for row in rows]
    for row in rows:
        first = next(place for bank_code, place in BANKS if bank_code == row["currency"])
        if first != row["country"] and call.world.has("discovery-first-country"):
            row["country"] = first
    return 200, {"data": rows}


def _require_sender(call: Call) -> None:
    world = call.world
    sender = call.query.get("senderUmaAddress")
    customer_id = call.query.get("customerId")
    if not sender and not customer_id:
        raise invalid("customerId", "is required without senderUmaAddress")
    if not customer_id and world.has("lookup-needs-customer"):
        raise invalid("customerId", "is required")
    if customer_id:
        world.find(world.customers, customer_id, "CUSTOMER_NOT_FOUND")
    if sender:
        uma.require_address(sender)
        known = {row.get("umaAddress") for row in world.customers.values()}
        if sender not in known and not customer_id:
            raise Refusal("USER_NOT_FOUND", "No customer has this UMA address.")


def lookup(call: Call) -> Reply:
    """GET /receiver/external-account/{accountId}."""
    world = call.world
    key = call.params["accountId"]
    late = key in world.deleted and world.has("deleted-looked-up")
    account = _looked_up(world, world.deleted if late else world.externals, key)
    call.concerns(account["customerId"])
    _require_sender(call)
    foreign = not account["customerId"] and call.query.get("customerId")
    if foreign and world.has("platform-account-not-looked-up"):
        raise Refusal("NOT_FOUND", "There is no such resource.")
    if not account["customerId"] and world.has("platform-accounts-not-looked-up"):
        raise Refusal("NOT_FOUND", "There is no such resource.")
    sending = coin(call.query.get("sendingCurrency", "USD")).code
    if sending != "USD" and _is_in_dollars(call):
        sending = "USD"
    _shake_hands(world, account)
    receiving = account["currency"]
    again = any(one["accountId"] == account["id"] for one in world.lookups.values())
    row = world.new_id("Lookup")
    payer = call.query.get("customerId")
    world.lookups[row] = {"id": row, "accountId": account["id"]}
    estimate = rate(receiving, sending) if world.has("lookup-inverse") else rate(sending, receiving)
    if sending != "USD" and _is_converted_from_dollars(world):
        estimate = rate("USD", receiving)
    preference: Json = {
        "currency": currency(receiving),
        "estimatedExchangeRate": float(estimate),
        "min": least_received(world, receiving),
        "max": MAX_RECEIVED,
    }
    if account["accountInfo"]["accountType"] == "LIGHTNING" and world.has("millisatoshis"):
        preference["currency"]["decimals"] = 11
    if account["accountInfo"]["accountType"].endswith("_WALLET"):
        _name_network(world, account, preference)
    if not COINS[receiving].decimals and world.has("lookup-min-zero"):
        preference["min"] = 0
    if receiving != sending and world.has("lookup-symbol-of-sender"):
        preference["currency"]["symbol"] = currency(sending)["symbol"]
    answer: Json = {
        "lookupId": row,
        "accountId": account["id"],
        "sendingCurrency": currency(sending),
        "supportedCurrencies": [preference],
    }
    _bound(world, answer, (sending, receiving))
    _mistake_lookup(world, answer, account, again=again)
    return 200, _cached(world, answer, (str(payer), sending, receiving))


def _looked_up(world: World, table: Table, key: str) -> Json:
    """Return the account of a lookup; one that is not there is invalid by a planted bug."""
    if key in world.internals and world.has("internal-account-looked-up"):
        inside = world.internals[key]
        return {
            **{name: inside[name] for name in ("id", "customerId", "_traits")},
            "currency": inside["_code"],
            "platformAccountId": None,
            "accountInfo": {"accountType": inside["type"]},
        }
    try:
        return world.find(table, key, "ACCOUNT_NOT_FOUND")
    except Refusal:
        if world.has("unknown-looked-up-400"):
            raise invalid("accountId", "is not known") from None
        raise


def _cached(world: World, answer: Json, asked: tuple[str, str, str]) -> Json:
    """Return the answer to a lookup, or by a planted bug an earlier one to the same payer."""
    before = world.answered.setdefault(asked, answer)
    other = before["accountId"] != answer["accountId"]
    return before if other and world.has("lookup-cached-per-currency") else answer


def _is_in_dollars(call: Call) -> bool:
    """Tell whether a planted bug prices a lookup against dollars, whatever is asked."""
    world, query = call.world, call.query
    if not query.get("customerId"):
        return world.has("address-lookup-dollars") or world.has("lookup-always-dollars")
    if query.get("senderUmaAddress") and world.has("both-named-dollars"):
        return True
    sender = world.customers.get(query["customerId"], {})
    business = sender.get("customerType") == "BUSINESS" and world.has("business-lookup-dollars")
    return business or world.has("lookup-always-dollars")


def _is_converted_from_dollars(world: World) -> bool:
    """Tell whether a planted bug converts from dollars, whatever a lookup names."""
    return world.has("lookup-rate-from-dollars") or world.has("lookup-priced-in-dollars")


def _name_network(world: World, account: Json, preference: Json) -> None:
    if world.has("lookup-network-in-code"):
        network = account["accountInfo"]["accountType"].removesuffix("_WALLET")
        preference["currency"]["code"] += f".{network}"


def _bound(world: World, answer: Json, codes: tuple[str, str]) -> None:
    """Say between which amounts of its currency somebody may send."""
    if not world.persona.with_nulls:
        return
    sending, receiving = codes
    back = unit_rate(receiving, sending)
    if receiving != sending and world.has("bounds-not-converted"):
        back = unit_rate(sending, sending)
    in_dollars = world.has("lookup-bounds-in-dollars") or world.has("lookup-priced-in-dollars")
    if sending != "USD" and in_dollars:
        back = unit_rate(receiving, "USD")
    uneven = COINS[sending].decimals != COINS[receiving].decimals
    if uneven and world.has("lookup-bounds-unscaled"):
        back = rate(receiving, sending)
    preference = answer["supportedCurrencies"][0]
    preference["minSendingAmount"] = int(preference["min"] * back)
    preference["maxSendingAmount"] = int(MAX_RECEIVED * back)
    mandatory: Any = "true" if world.has("mandatory-as-text") else True
    answer["requiredPayerDataFields"] = [{"name": "FULL_NAME", "mandatory": mandatory}]


def _mistake_lookup(world: World, answer: Json, account: Json, *, again: bool) -> None:
    """Plant the bugs of what a lookup says of its account."""
    if world.has("lookup-bare-account-id"):
        answer["accountId"] = account["id"].partition(":")[2]
    if "phoneNumber" in account["accountInfo"] and world.has("lookup-empty-mobile"):
        answer["supportedCurrencies"] = []
    at_home = answer["sendingCurrency"]["code"] == account["currency"]
    first = account.setdefault("_first_lookup", dict(answer["supportedCurrencies"][0]))
    told = first["estimatedExchangeRate"]
    other = told != answer["supportedCurrencies"][0]["estimatedExchangeRate"]
    if other and world.has("lookup-rate-cached-per-account"):
        answer["supportedCurrencies"][0]["estimatedExchangeRate"] = told
    if at_home and world.has("lookup-at-home-empty"):
        answer["supportedCurrencies"] = []
    if world.has("lookup-of-all-currencies"):
        _receive_everything(answer)
    if again and world.has("second-lookup-without-id"):
        del answer["lookupId"]
    if account["platformAccountId"] and world.has("lookup-names-own-id"):
        answer["accountId"] = account["platformAccountId"]


def _receive_everything(answer: Json) -> None:
    """Say, by a planted bug, that an account receives what the service pays out anywhere."""
    sending, own = answer["sendingCurrency"]["code"], answer["supportedCurrencies"][0]
    answer["supportedCurrencies"] += [
        own | {"currency": currency(code), "estimatedExchangeRate": float(rate(sending, code))}
        for code in COINS
        if code != own["currency"]["code"]
    ]


def _shake_hands(world: World, account: Json) -> None:
    try:
        uma.shake_hands(world, account)
    except Refusal as refusal:
        if refusal.status == 412 and world.has("version-codes-crossed"):
            raise Refusal("NO_COMPATIBLE_UMA_VERSION", refusal.reason, status=412) from None
        if refusal.status == 424 and world.has("counterparty-as-bad-gateway"):
            raise Refusal(refusal.code, refusal.reason, status=502) from None
        silent = refusal.code == "LNURLP_REQUEST_FAILED"
        if silent and world.has("silent-counterparty-400"):
            raise Refusal(refusal.code, refusal.reason, status=400) from None
        raise


ROUTES: list[Route] = [
    ("GET", "/discoveries", discoveries),
    ("GET", "/receiver/external-account/{accountId}", lookup),
]
