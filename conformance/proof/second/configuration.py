"""The platform's configuration, invitations to it, and exchange rates."""

from conformance.proof.second.call import Call, Reply, Route
from conformance.proof.second.check import record, text
from conformance.proof.second.errors import Refusal
from conformance.proof.second.money import COINS, Json, coin, rate
from conformance.proof.second.pricing import CONFIGS
from conformance.proof.second.world import World, now

# What an individual has to tell to transact in a currency.
REQUIRED = {"EUR": ["nationality"], "INR": ["birthDate", "nationality"]}

INVITATIONS = {"claimed": "CLAIMED", "cancelled": "CANCELLED", "elsewhere": "UNCONFIGURED"}
OPEN_INVITATION = "open"


def required(customer: Json, code: str) -> list[str]:
    """Return the members that a customer has to have to transact in a currency."""
    return REQUIRED.get(code, []) if customer["customerType"] == "INDIVIDUAL" else []


def shown(world: World) -> Json:
    """Return the configuration as answers show it."""
    supported: list[Json] = [
        {"currency": code, "providerRequiredCustomerFields": REQUIRED.get(code, [])}
        for code in COINS
    ]
    if world.has("crypto-without-required-fields"):
        for entry in supported:
            if COINS[str(entry["currency"])].crypto:
                del entry["providerRequiredCustomerFields"]
    if world.has("config-empty-left-out"):
        supported = [
            {name: value for name, value in row.items() if value != []} for row in supported
        ]
    if world.has("config-empty-as-null"):
        for row in supported:
            if not row["providerRequiredCustomerFields"]:
                del row["providerRequiredCustomerFields"]
                row["providerRequiredCustomerFields!"] = None
    if world.has("config-required-fields-missing"):
        supported = [{"currency": code} for code in COINS]
    return {"supportedCurrencies": supported, **world.config}


def read(call: Call) -> Reply:
    """GET /config."""
    call.only_platform()
    return 200, shown(call.world)


def change(call: Call) -> Reply:
    """PATCH /config."""
    call.only_platform()
    world = call.world
    body = call.json(
        record(
            {
                "feeConfigs": CONFIGS,
                "cardTokenization2faConfig": record({"sender": text(most=60)}, ("sender",)),
            },
            closed=world.persona.refuses_unknown,
        )
    )
    for fee in body.get("feeConfigs") or ():
        coin(fee["sendingCurrency"])
        if fee["sendingCurrency"] != "USD" and not world.has("fee-in-any-currency"):
            if world.has("refused-fee-kept"):
                world.config["feeConfigs"] = body["feeConfigs"]
            raise Refusal("INVALID_CURRENCY", "Platform fees are taken in USD.", status=400)
    branded = body.get("cardTokenization2faConfig") and "feeConfigs" not in body
    if branded and world.config["feeConfigs"] and world.has("branding-drops-fees"):
        world.config["feeConfigs"] = []
    unnamed = [name for name in world.config if world.config[name] and body.get(name) is None]
    if body and unnamed and world.has("config-replaced"):
        for name in unnamed:
            world.config[name] = [] if name == "feeConfigs" else None
    if not world.has("config-forgotten"):
        world.config |= {name: value for name, value in body.items() if value is not None}
    return (200, shown(world)) if world.persona.config_body else (204, None)


def claim(call: Call) -> Reply:
    """POST /invitations/{code}/claim."""
    code = call.params["code"]
    state = INVITATIONS.get(code, "")
    if state == "CLAIMED":
        if call.world.has("claimed-as-cancelled"):
            raise Refusal("INVITATION_CANCELLED", "It was cancelled.")
        raise Refusal("INVITATION_ALREADY_CLAIMED", "It was claimed before.")
    if state == "CANCELLED" and not call.world.has("cancelled-invitation"):
        raise Refusal("INVITATION_CANCELLED", "It was cancelled.")
    if state == "UNCONFIGURED" and call.world.has("unconfigured-not-found"):
        raise Refusal("INVITATION_NOT_FOUND", "There is no such invitation.")
    if state == "UNCONFIGURED":
        raise Refusal("INVITATIONS_NOT_CONFIGURED", "The platform takes no invitations.")
    if not state and code != OPEN_INVITATION:
        raise Refusal("INVITATION_NOT_FOUND", "There is no such invitation.")
    return 200, {"code": code, "status": "CLAIMED", "claimedAt": now()}


def rates(call: Call) -> Reply:
    """GET /exchange-rates."""
    sending = coin(call.query.get("sendingCurrency", "USD")).code
    wanted = call.query.get("receivingCurrency")
    codes = [coin(wanted).code] if wanted else list(COINS)
    rows = [
        {
            "id": f"{sending}-{code}",
            "sendingCurrency": sending,
            "receivingCurrency": code,
            "rate": float(rate(sending, code)),
            "updatedAt": now(),
        }
        for code in codes
    ]
    return 200, {"data": rows}


ROUTES: list[Route] = [
    ("GET", "/config", read),
    ("PATCH", "/config", change),
    ("POST", "/invitations/{code}/claim", claim),
    ("GET", "/exchange-rates", rates),
]
