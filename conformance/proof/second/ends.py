"""The two ends of a quote: from where money comes, and where it goes."""

from dataclasses import dataclass

from conformance.proof.second import external_views, uma
from conformance.proof.second.call import Call
from conformance.proof.second.errors import Refusal, conflict, invalid
from conformance.proof.second.money import Json, coin
from conformance.proof.second.world import World

PULLABLE = "USD_ACCOUNT"


@dataclass(frozen=True)
class End:
    """One end of a quote; `internal` or `external` is the account, where there is one."""

    code: str
    owner: Json | None = None
    internal: Json | None = None
    external: Json | None = None

    @property
    def account(self) -> Json:
        """The account, or an empty record."""
        return self.internal or self.external or {}


def source(call: Call, given: Json, *, at_once: bool = False) -> End:
    """Return where the money of a request comes from.

    Raises:
        Refusal: where there is no such account, or nothing can be taken from it.
    """
    world = call.world
    if given["sourceType"] == "REALTIME_FUNDING":
        owner = None
        named = given.get("customerId")
        if named is None and world.has("platform-funding-refused"):
            raise invalid("source.customerId", "is required")
        unknown = named is not None and named not in world.customers
        if named is not None and not (unknown and world.has("unknown-payer-taken")):
            owner = world.named(
                world.customers, given["customerId"], "CUSTOMER_NOT_FOUND", "source.customerId"
            )
        business = owner is not None and owner["customerType"] == "BUSINESS"
        if business and world.has("business-funding-refused"):
            raise invalid("source.customerId", "is no individual")
        return End(coin(given["currency"]).code, owner)
    if external_views.is_named_by(given["accountId"]):
        account = world.named(
            world.externals, given["accountId"], "ACCOUNT_NOT_FOUND", "source.accountId"
        )
        alien = account["accountInfo"]["accountType"] != PULLABLE
        if alien and not (at_once and world.has("unpullable-at-once")):
            raise invalid("source.accountId", "money cannot be pulled from this account")
        off = account["status"] == "INACTIVE" and (
            world.has("inactive-pulled")
            or (call.path == "/transfer-in" and world.has("inactive-transferred"))
        )
        if account["status"] != "ACTIVE" and not off:
            raise conflict("The source is not active.")
        owner = world.customers.get(account["customerId"])
        return End(account["currency"], owner, external=account)
    account = world.named(
        world.internals, given["accountId"], "ACCOUNT_NOT_FOUND", "source.accountId"
    )
    return End(account["_code"], world.customers.get(account["customerId"]), account)


def destination(call: Call, given: Json) -> End:
    """Return where the money of a request goes.

    Raises:
        Refusal: where there is no such account or address.
    """
    world = call.world
    if given["destinationType"] == "UMA_ADDRESS":
        return End(_receiver(world, given["umaAddress"]))
    key = given["accountId"]
    if external_views.is_named_by(key):
        late = key in world.deleted and world.has("deleted-still-paid")
        table = world.deleted if late else world.externals
        account = world.named(table, key, "ACCOUNT_NOT_FOUND", "destination.accountId")
        kind = account["accountInfo"]["accountType"]
        if kind == "LIGHTNING" and world.has("lightning-unpayable"):
            raise Refusal("INVALID_BANK_ACCOUNT", "There is no rail to this account.")
        if not account["customerId"] and world.has("platform-payee-refused"):
            raise invalid("destination.accountId", "belongs to no customer")
        return End(account["currency"], external=account)
    account = world.named(world.internals, key, "ACCOUNT_NOT_FOUND", "destination.accountId")
    owner = world.customers.get(account["customerId"])
    return End(account["_code"], owner, internal=account)


def _receiver(world: World, address: object) -> str:
    try:
        return uma.receiver(address)
    except Refusal as refusal:
        if refusal.code == "INVALID_UMA_ADDRESS" and world.has("malformed-uma-not-found"):
            raise Refusal("UMA_NOT_FOUND", "Nobody receives there.") from None
        raise
