"""An external account as it is found, shown, and moved."""

from typing import Any

from conformance.proof.second import customer_views
from conformance.proof.second.call import Call
from conformance.proof.second.money import Json, unit_rate
from conformance.proof.second.world import World, masked, now, public

MASKED = ("iban", "clabeNumber", "phoneNumber", "pixKey")
ACCOUNT = "/customers/external-accounts/{externalAccountId}"


def is_named_by(key: Any) -> bool:
    """Tell whether an id is one of an external account, and not of an internal one."""
    return str(key).partition(":")[0].endswith("ExternalAccount")


def shown(world: World, account: Json) -> Json:
    """Return an external account as answers and events show it."""
    body = public(account)
    if not body.get("customerId"):
        body["customerId"] = None
    return _concealed(world, body)


def _concealed(world: World, body: Json) -> Json:
    """Return an account without what the persona does not show of it."""
    info = dict(body["accountInfo"])
    if world.persona.masked:
        info |= {name: masked(info[name]) for name in MASKED if isinstance(info.get(name), str)}
    if not world.persona.shows_beneficiary:
        info.pop("beneficiary", None)
    return body | {"accountInfo": info}


def move(world: World, account: Json, status: str) -> None:
    """Give an external account another status, with its event."""
    before = account["status"]
    if before == status:
        return
    account.setdefault("_first_status", before)
    account["status"] = status
    account["_updated"] = now()
    untold = status == "INACTIVE" and world.has("inactive-untold")
    proven = (before, status) == ("PENDING_OWNERSHIP_VERIFICATION", "ACTIVE")
    if proven and not account["customerId"] and world.has("platform-proof-untold"):
        untold = True
    if status == "UNVERIFIED" and world.has("failed-proof-untold"):
        untold = True
    if account.get("_moved") and world.has("second-status-untold"):
        untold = True
    owner = world.customers.get(account["customerId"])
    if owner and owner["customerType"] == "BUSINESS" and world.has("business-account-untold"):
        untold = True
    account["_moved"] = True
    if not untold and not world.has("no-account-event"):
        world.emit("EXTERNAL_ACCOUNT.STATUS_UPDATED", _told(world, account, before))


def _told(world: World, account: Json, before: str) -> Json:
    """Return what the event of a new status tells; `before` is the one that the account had."""
    told = shown(world, account)
    proven = (before, account["status"]) == ("PENDING_OWNERSHIP_VERIFICATION", "ACTIVE")
    if proven and world.has("stale-account-event"):
        told["status"] = before
    failed = (before, account["status"]) == ("PENDING_OWNERSHIP_VERIFICATION", "UNVERIFIED")
    if failed and world.has("failed-proof-event-old"):
        told["status"] = before
    if world.has("status-event-carries-old-status"):
        told["status"] = before
    if world.has("bare-id-in-events"):
        told["id"] = account["id"].partition(":")[2]
    owner = world.customers.get(account["customerId"])
    if owner and world.has("account-event-of-owner"):
        told = customer_views.shown(world, owner)
    return told


def of(call: Call) -> Json:
    """Return the external account of the path.

    Raises:
        Refusal: 404 where there is none.
    """
    account = call.world.find(
        call.world.externals, call.params["externalAccountId"], "ACCOUNT_NOT_FOUND"
    )
    call.concerns(account["customerId"])
    return account


def in_ownership_limit(world: World, amount: int, code: str) -> bool:
    """Tell whether an amount is below the threshold of accounts whose owner is not proven."""
    return amount * unit_rate(code, "USD") < world.persona.max_unproven_cents
