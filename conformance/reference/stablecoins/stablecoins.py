"""Stablecoins of the platform, and what is minted and burnt of them.

They stand outside of the ledger: what backs them lies with their provider.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import Select, select

from conformance.reference import errors, fields, pages
from conformance.reference.external_accounts import externals
from conformance.reference.internal_accounts import accounts
from conformance.reference.rules import Field
from conformance.reference.store import Json, Stablecoin, StablecoinOperation
from conformance.reference.unit import new_id, present, timestamp

if TYPE_CHECKING:
    from conformance.reference.unit import Ask, Unit

PROVISIONED = "PROVISIONED"
UNPROVISIONED = "PENDING_REVIEW"

MAX_ON_NETWORK: dict[str, int] = {
    "SOLANA": 2**64 - 1,
    "BASE": 2**256 - 1,
    "POLYGON": 2**256 - 1,
}
"""The largest amount in the smallest unit that a token of a network can stand for."""

STABLECOIN_FIELDS: tuple[Field, ...] = (
    Field("name", "string", required=True, min_length=1, max_length=100),
    Field("symbol", "string", required=True, pattern=r"[A-Z0-9]{2,12}"),
    Field("baseCurrency", "string", required=True, pattern=r"[A-Z]{3}"),
    Field("network", "string", required=True, enum=tuple(MAX_ON_NETWORK)),
    Field("decimals", "integer", required=True, minimum=0, maximum=18),
)


def _operation_fields(end: str) -> tuple[Field, ...]:
    return (
        Field("amount", "string", required=True, pattern=r"[0-9]{1,80}"),
        Field(end, "object", required=True),
        Field(f"{end}.accountId", "string", min_length=1, nullable=True),
        Field(f"{end}.externalAccountId", "string", min_length=1, nullable=True),
        Field("stablecoinProviderAccountId", "string", nullable=True),
    )


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of operation: the member that names its account, and the rules of its body."""

    end: str
    fields: tuple[Field, ...]


KINDS: dict[str, Kind] = {
    "MINT": Kind("destination", _operation_fields("destination")),
    "BURN": Kind("source", _operation_fields("source")),
}


@dataclass(frozen=True, slots=True)
class Order:
    """An operation that is asked for: of what kind, how much, the account, by which link."""

    kind: str
    amount: int
    end: Json
    provider_account: str


@dataclass(frozen=True, slots=True)
class Obstacle:
    """What stands in the way of operations: the code of the refusal, and which it concerns."""

    code: str
    reason: str
    kinds: tuple[str, ...] = tuple(KINDS)


OBSTACLES: dict[str, Obstacle] = {
    "OPERATIONS_DISABLED": Obstacle(
        "STABLECOIN_SERVICE_OPERATIONS_NOT_ENABLED", "Operations are not enabled for it. Ask us."
    ),
    "OPERATION_UNSUPPORTED": Obstacle(
        "STABLECOIN_OPERATION_NOT_SUPPORTED", "Its provider does not support this operation."
    ),
    "PROVIDER_INVALID": Obstacle(
        "STABLECOIN_PROVIDER_ACCOUNT_INVALID", "Its account at the provider is not valid."
    ),
    "PROVIDER_REVOKED": Obstacle(
        "STABLECOIN_PROVIDER_ACCOUNT_REVOKED", "The link to the provider is revoked. Link it again."
    ),
    "SOURCE_UNLINKED": Obstacle(
        "STABLECOIN_PROVIDER_SOURCE_NOT_LINKED",
        "The source is not linked at the provider. Link it first.",
        ("BURN",),
    ),
    "SOURCE_UNSUPPORTED": Obstacle(
        "STABLECOIN_BURN_SOURCE_NOT_SUPPORTED", "From such a source nothing is burnt.", ("BURN",)
    ),
    "VERIFICATION_FAILED": Obstacle(
        "STABLECOIN_VERIFICATION_FAILED", "The operation could not be verified."
    ),
    "PROVIDER_DOWN": Obstacle(
        "STABLECOIN_PROVIDER_ERROR", "The provider answers with an error. Try again later."
    ),
}
"""What may hold of a stablecoin, in the order in which it is looked at."""

LINK_OBSTACLES: dict[str, Obstacle] = {
    "ACCOUNT_UNSUPPORTED": Obstacle(
        "STABLECOIN_EXTERNAL_ACCOUNT_NOT_SUPPORTED", "Accounts of its kind are not supported."
    ),
    "ACCOUNT_UNLINKED": Obstacle(
        "STABLECOIN_EXTERNAL_ACCOUNT_NOT_LINKED", "The external account is not linked."
    ),
    "LINK_METHOD_UNKNOWN": Obstacle(
        "STABLECOIN_EXTERNAL_ACCOUNT_LINK_METHOD_REQUIRED", "Say how the account is to be linked."
    ),
    "LINK_FAILED": Obstacle(
        "STABLECOIN_EXTERNAL_ACCOUNT_LINK_FAILED", "The external account could not be linked."
    ),
    "PROVIDER_LINK_MISSING": Obstacle(
        "STABLECOIN_EXTERNAL_ACCOUNT_PROVIDER_LINK_REQUIRED", "Link it at the provider first."
    ),
    "PROVIDER_LINK_FAILED": Obstacle(
        "STABLECOIN_EXTERNAL_ACCOUNT_PROVIDER_LINK_FAILED", "The provider could not link it."
    ),
}
"""What may hold of an external account and a stablecoin."""


# --- Stablecoins ----------------------------------------------------------------------------


def create(unit: Unit, ask: Ask) -> Json:
    """Register a stablecoin; it is provisioned once it was reviewed."""
    body = fields.demand(ask.body, STABLECOIN_FIELDS)
    coin = Stablecoin(
        id=new_id("Stablecoin"),
        name=body["name"],
        symbol=body["symbol"],
        base_currency=body["baseCurrency"],
        network=body["network"],
        decimals=int(body["decimals"]),
        status=UNPROVISIONED,
        provider_accounts=[new_id("StablecoinProviderAccount")],
        conditions=[],
        links={},
        created_at=unit.now,
    )
    unit.session.add(coin)
    return view(coin)


def list_all(unit: Unit, ask: Ask) -> Json:
    """Return a page of the platform's stablecoins, the newest first."""
    wanted = pages.read(ask.query, descending=True)
    page = pages.take(unit, select(Stablecoin), Stablecoin, wanted)
    return page.view([view(row) for row in page.rows])


def get(unit: Unit, stablecoin_id: str) -> Stablecoin:
    """Return the stablecoin of an id; raises ``Refusal`` (STABLECOIN_NOT_FOUND)."""
    coin = unit.session.get(Stablecoin, stablecoin_id)
    if coin is None:
        raise errors.Refusal("STABLECOIN_NOT_FOUND", "No stablecoin has this id.")
    return coin


def view(coin: Stablecoin) -> Json:
    """Return a stablecoin as clients see it."""
    return {
        "id": coin.id,
        "name": coin.name,
        "symbol": coin.symbol,
        "baseCurrency": coin.base_currency,
        "network": coin.network,
        "decimals": coin.decimals,
        "issuanceStatus": coin.status,
        "provider": "REFERENCE",
        "createdAt": timestamp(coin.created_at),
    }


# --- Operations -----------------------------------------------------------------------------


def mint(unit: Unit, ask: Ask) -> Json:
    """Issue an amount of a stablecoin."""
    return _operate(unit, ask, "MINT")


def burn(unit: Unit, ask: Ask) -> Json:
    """Take an amount of a stablecoin out of circulation."""
    return _operate(unit, ask, "BURN")


def operations(unit: Unit, ask: Ask) -> Json:
    """Return a page of what was minted and burnt of a stablecoin, the newest first."""
    coin = get(unit, ask.params["stablecoinId"])
    wanted = pages.read(ask.query, descending=True)
    page = pages.take(unit, operations_of(coin), StablecoinOperation, wanted)
    return page.view([operation_view(row) for row in page.rows])


def operations_of(coin: Stablecoin) -> Select[Any]:
    """Return the query for a stablecoin's operations."""
    return select(StablecoinOperation).where(StablecoinOperation.stablecoin_id == coin.id)


def operation_view(operation: StablecoinOperation) -> Json:
    """Return an operation as clients see it."""
    return present(
        {
            "id": operation.id,
            "stablecoinId": operation.stablecoin_id,
            "type": operation.type,
            "status": operation.status,
            "amount": operation.amount,
            KINDS[operation.type].end: operation.end,
            "stablecoinProviderAccountId": operation.provider_account,
            "createdAt": timestamp(operation.created_at),
        }
    )


def _operate(unit: Unit, ask: Ask, kind: str) -> Json:
    coin = get(unit, ask.params["stablecoinId"])
    body = fields.demand(ask.body, KINDS[kind].fields)
    end: Json = body[KINDS[kind].end]
    amount = int(body["amount"])
    refuse_unprovisioned(coin)
    refuse_unrepresentable(coin, amount)
    provider = provider_account(coin, body.get("stablecoinProviderAccountId"))
    refuse_unknown_end(unit, kind, end)
    refuse_link(coin, end.get("externalAccountId"))
    refuse_obstacle(coin, kind)
    if kind == "BURN":
        refuse_uncovered(unit, coin, amount)
    return operation_view(record(unit, coin, Order(kind, amount, end, provider)))


def record(unit: Unit, coin: Stablecoin, order: Order) -> StablecoinOperation:
    """Note an operation; the reference's provider carries it out at once."""
    operation = StablecoinOperation(
        id=new_id("StablecoinOperation"),
        stablecoin_id=coin.id,
        type=order.kind,
        status="COMPLETED",
        amount=str(order.amount),
        end=order.end,
        provider_account=order.provider_account,
        created_at=unit.now,
    )
    unit.session.add(operation)
    return operation


def refuse_unprovisioned(coin: Stablecoin) -> None:
    """Refuse operations before the stablecoin is set up."""
    if coin.status != PROVISIONED:
        raise errors.Refusal("STABLECOIN_NOT_PROVISIONED", "The stablecoin is not set up yet.")


def refuse_unrepresentable(coin: Stablecoin, amount: int) -> None:
    """Refuse an amount that no token of the stablecoin's network can stand for."""
    if not 0 < amount <= MAX_ON_NETWORK[coin.network]:
        raise errors.Refusal(
            "STABLECOIN_AMOUNT_NOT_REPRESENTABLE",
            f"Expected an amount from 1 to {MAX_ON_NETWORK[coin.network]}.",
        )


def provider_account(coin: Stablecoin, named: str | None) -> str:
    """Return the provider account that an operation goes by; one of several has to be named."""
    if named is None:
        if len(coin.provider_accounts) > 1:
            raise errors.Refusal(
                "STABLECOIN_PROVIDER_ACCOUNT_SELECTION_REQUIRED",
                "Several provider accounts are linked. Send stablecoinProviderAccountId.",
            )
        return coin.provider_accounts[0]
    if named not in coin.provider_accounts:
        raise errors.Refusal(
            "STABLECOIN_PROVIDER_ACCOUNT_NOT_FOUND", "No linked provider account has this id."
        )
    return named


def refuse_unknown_end(unit: Unit, kind: str, end: Json) -> None:
    """Refuse an operation that names no account, or one that is not there."""
    internal, external = end.get("accountId"), end.get("externalAccountId")
    if (internal is None) == (external is None):
        path = f"{KINDS[kind].end}.accountId"
        raise errors.invalid_input(errors.field_error(path, "Name one account, of either kind."))
    if internal is not None and accounts.find(unit, internal) is None:
        raise errors.Refusal("ACCOUNT_NOT_FOUND", "No internal account has this id.")
    if external is not None and externals.find(unit, external) is None:
        raise errors.Refusal(
            "STABLECOIN_EXTERNAL_ACCOUNT_NOT_FOUND", "No external account has this id."
        )


def refuse_link(coin: Stablecoin, external: str | None) -> None:
    """Refuse an external account whose link to the stablecoin is not as it has to be."""
    if external in coin.links:
        obstacle = LINK_OBSTACLES[coin.links[external]]
        raise errors.Refusal(obstacle.code, obstacle.reason)


def refuse_obstacle(coin: Stablecoin, kind: str) -> None:
    """Refuse what the state of the stablecoin or of its provider does not permit."""
    for name, obstacle in OBSTACLES.items():
        if name in coin.conditions and kind in obstacle.kinds:
            raise errors.Refusal(obstacle.code, obstacle.reason)


def refuse_uncovered(unit: Unit, coin: Stablecoin, amount: int) -> None:
    """Refuse to burn more than there is."""
    rows = unit.session.scalars(operations_of(coin))
    supply = sum(int(row.amount) if row.type == "MINT" else -int(row.amount) for row in rows)
    if amount > supply:
        raise errors.Refusal("INSUFFICIENT_FUNDS", f"There are {supply}. Burn at most so many.")
