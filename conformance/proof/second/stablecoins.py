"""Stablecoins of the platform: registered, minted, burned."""

from typing import Any

from conformance.proof.second.call import Call, Reply, Route, created
from conformance.proof.second.check import is_integer, record, text
from conformance.proof.second.errors import Refusal, invalid
from conformance.proof.second.money import Json, coin
from conformance.proof.second.world import World, now, public

# What is in the way of any operation, of burns, and of mints to external accounts.
ANY = {
    "operations_disabled": "STABLECOIN_SERVICE_OPERATIONS_NOT_ENABLED",
    "provider_invalid": "STABLECOIN_PROVIDER_ACCOUNT_INVALID",
    "provider_revoked": "STABLECOIN_PROVIDER_ACCOUNT_REVOKED",
    "operation_unsupported": "STABLECOIN_OPERATION_NOT_SUPPORTED",
    "provider_down": "STABLECOIN_PROVIDER_ERROR",
    "verification_failed": "STABLECOIN_VERIFICATION_FAILED",
}
BURN = {
    "source_unsupported": "STABLECOIN_BURN_SOURCE_NOT_SUPPORTED",
    "source_unlinked": "STABLECOIN_PROVIDER_SOURCE_NOT_LINKED",
}
EXTERNAL = {
    "account_unlinked": "STABLECOIN_EXTERNAL_ACCOUNT_NOT_LINKED",
    "account_unsupported": "STABLECOIN_EXTERNAL_ACCOUNT_NOT_SUPPORTED",
    "link_failed": "STABLECOIN_EXTERNAL_ACCOUNT_LINK_FAILED",
    "link_method_unknown": "STABLECOIN_EXTERNAL_ACCOUNT_LINK_METHOD_REQUIRED",
    "provider_link_failed": "STABLECOIN_EXTERNAL_ACCOUNT_PROVIDER_LINK_FAILED",
    "provider_link_missing": "STABLECOIN_EXTERNAL_ACCOUNT_PROVIDER_LINK_REQUIRED",
}
TRAITS = (*ANY, *BURN, "provider_ambiguous")


def register(call: Call) -> Reply:
    """POST /stablecoins."""
    call.only_platform()
    world = call.world
    body = call.json(
        record(
            {"name": text(most=100), "ticker": text(r"[A-Za-z0-9]+", most=20)},
            ("name", "ticker"),
            closed=world.persona.refuses_unknown,
        )
    )
    row: Json = {
        "id": world.new_id("Stablecoin"),
        "name": body["name"],
        "ticker": body["ticker"],
        "decimals": coin("USDC").decimals,
        "status": "ACTIVE",
        "createdAt": now(),
        "_supply": 0,
        "_traits": set(),
        "_provider": world.new_id("StablecoinProviderAccount"),
    }
    world.stablecoins[row["id"]] = row
    return created(call, public(row))


def index(call: Call) -> Reply:
    """GET /stablecoins."""
    call.only_platform()
    return call.page([public(row) for row in call.world.stablecoins.values()])


def of(call: Call) -> Json:
    """Return the stablecoin of the path.

    Raises:
        Refusal: 404 where there is none.
    """
    call.only_platform()
    world = call.world
    return world.find(world.stablecoins, call.params["stablecoinId"], "STABLECOIN_NOT_FOUND")


def read(call: Call) -> Reply:
    """GET /stablecoins/{stablecoinId}."""
    return 200, public(of(call))


def _amount(call: Call, body: Json) -> int:
    value: Any = body["amount"]
    if isinstance(value, str) and value.replace(".", "", 1).isascii():
        whole, _, fraction = value.partition(".")
        broken = whole.isdigit() and fraction.isdigit()
        burnt = broken and call.path.endswith("/burns") and call.world.has("burn-fraction-cut")
        if broken and not burnt and not call.world.has("fraction-cut"):
            raise Refusal("STABLECOIN_AMOUNT_NOT_REPRESENTABLE", "Amounts are whole units.")
        value = int(whole[:20]) if whole.isdigit() else None
    if not is_integer(value) or not 1 <= value <= 10**15:
        raise invalid("amount", "must be a positive integer", kind="number")
    return int(value)


def _obstruct(row: Json, causes: dict[str, str]) -> None:
    for trait, code in causes.items():
        if trait in row["_traits"]:
            raise Refusal(code, "The operation cannot be carried out.")


def _require(world: World, row: Json, body: Json) -> None:
    if row["status"] != "ACTIVE" and not world.has("unprovisioned-mint"):
        raise Refusal("STABLECOIN_NOT_PROVISIONED", "The stablecoin is not provisioned.")
    chosen = body.get("stablecoinProviderAccountId")
    if chosen is not None and chosen != row["_provider"]:
        raise Refusal("STABLECOIN_PROVIDER_ACCOUNT_NOT_FOUND", "There is no such link.")
    ambiguous = "provider_ambiguous" in row["_traits"] and chosen is None
    if ambiguous and not world.has("first-provider-link-taken"):
        raise Refusal("STABLECOIN_PROVIDER_ACCOUNT_SELECTION_REQUIRED", "Say which link.")
    _obstruct(row, ANY)


def _operation(call: Call, kind: str, place: str) -> Reply:
    world, row = call.world, of(call)
    body = call.json(
        record(
            {
                place: record(
                    {"internalAccountId": text(most=100), "externalAccountId": text(most=100)}
                ),
                "stablecoinProviderAccountId": text(most=100),
            },
            ("amount", place),
        )
    )
    amount = _amount(call, body)
    _require(world, row, body)
    ends = body[place]
    if ends.get("externalAccountId") is not None:
        account = world.named(
            world.externals,
            ends["externalAccountId"],
            "STABLECOIN_EXTERNAL_ACCOUNT_NOT_FOUND",
            f"{place}.externalAccountId",
        )
        for trait, code in EXTERNAL.items():
            if f"{trait}:{row['id']}" in account["_traits"]:
                raise Refusal(code, "The external account cannot be used.")
    else:
        world.named(
            world.internals,
            ends.get("internalAccountId"),
            "ACCOUNT_NOT_FOUND",
            f"{place}.internalAccountId",
        )
    if kind == "BURN":
        _obstruct(row, BURN)
        if row["_supply"] < amount:
            raise Refusal("INSUFFICIENT_FUNDS", "There is less than that.")
    row["_supply"] += amount if kind == "MINT" else -amount
    operation: Json = {
        "id": world.new_id("StablecoinOperation"),
        "stablecoinId": row["id"],
        "type": kind,
        "status": "COMPLETED",
        "amount": amount,
        "createdAt": now(),
    }
    far = kind == "MINT" and ends.get("externalAccountId") is not None
    untracked = far and world.has("external-mint-untracked")
    if not untracked and not world.has("operation-untracked"):
        world.operations[operation["id"]] = operation
    return created(call, public(operation))


def mint(call: Call) -> Reply:
    """POST /stablecoins/{stablecoinId}/mints."""
    return _operation(call, "MINT", "to")


def burn(call: Call) -> Reply:
    """POST /stablecoins/{stablecoinId}/burns."""
    return _operation(call, "BURN", "from")


def operations(call: Call) -> Reply:
    """GET /stablecoins/{stablecoinId}/operations."""
    row = of(call)
    rows = list(call.world.operations.values())
    own = [operation for operation in rows if operation["stablecoinId"] == row["id"]]
    if len(own) < len(rows) and call.world.has("operations-of-all-coins"):
        own = rows
    burns = [operation for operation in own if operation["type"] == "BURN"]
    if burns and call.world.has("burns-unlisted"):
        own = [operation for operation in own if operation["type"] != "BURN"]
    return call.page([public(operation) for operation in own])


def operation_of(call: Call) -> Reply:
    """GET /stablecoins/{stablecoinId}/operations/{operationId}."""
    of(call)
    world = call.world
    row = world.find(world.operations, call.params["operationId"], "STABLECOIN_OPERATION_NOT_FOUND")
    return 200, public(row)


ROUTES: list[Route] = [
    ("POST", "/stablecoins", register),
    ("GET", "/stablecoins", index),
    ("GET", "/stablecoins/{stablecoinId}", read),
    ("POST", "/stablecoins/{stablecoinId}/mints", mint),
    ("POST", "/stablecoins/{stablecoinId}/burns", burn),
    ("GET", "/stablecoins/{stablecoinId}/operations", operations),
    ("GET", "/stablecoins/{stablecoinId}/operations/{operationId}", operation_of),
]
