"""The proof that an external account is its customer's own, and the trust in a beneficiary."""

from conformance.proof.second import external_views, sca
from conformance.proof.second.call import Call, Reply, Route
from conformance.proof.second.check import one_of, record, text
from conformance.proof.second.errors import Refusal, conflict
from conformance.proof.second.money import Json
from conformance.proof.second.world import World, ahead, public

SIGNATURE = "b3duZXI="


def untrust(call: Call) -> Reply:
    """POST /customers/external-accounts/{externalAccountId}/untrust."""
    world, account = call.world, external_views.of(call)
    call.optional_json()
    if not account["_trusted"]:
        raise conflict("The beneficiary is not trusted.")
    owner = world.customers[account["customerId"]]
    if owner["customerType"] == "BUSINESS" and world.has("business-untrust-refused"):
        raise conflict("The beneficiary is not trusted.")
    challenge = sca.challenge(world, owner, "UNTRUST_BENEFICIARY")
    account["_untrust"] = challenge["id"]
    if world.has("untrust-without-confirm"):
        account |= {"_trusted": False, "_untrusted": True}
    return 200, {"externalAccountId": account["id"], "scaChallenge": public(challenge)}


def confirm_untrust(call: Call) -> Reply:
    """POST /customers/external-accounts/{externalAccountId}/untrust/confirm, or without untrust."""
    world, account = call.world, external_views.of(call)
    short = not call.path.endswith("/untrust/confirm")
    if short != (world.persona.untrust_path == "short"):
        raise Refusal("NOT_FOUND", "There is no such operation.")
    body = call.json()
    known = account["_trusted"] or "_untrusted" in account
    if not known or "_untrust" not in account:
        raise conflict("There is nothing to confirm.")
    if not world.has("untrust-unproven"):
        sca.prove(world, world.customers[account["customerId"]], body)
    begun = [
        row
        for row in world.externals.values()
        if row["customerId"] == account["customerId"] and "_untrust" in row
    ]
    if begun[-1] is not account and world.has("untrust-of-newest"):
        begun[-1]["_trusted"] = False
        return 200, external_views.shown(world, account)
    account["_trusted"] = world.has("confirmed-untrust-forgotten")
    del account["_untrust"]
    return 200, external_views.shown(world, account)


def challenge(call: Call) -> Reply:
    """POST /customers/external-accounts/{externalAccountId}/challenge."""
    world, account = call.world, external_views.of(call)
    body = call.json(record({"method": one_of("WALLET_SIGNATURE", "LIVENESS")}, needs=("method",)))
    if account["status"] != "PENDING_OWNERSHIP_VERIFICATION":
        raise conflict("The ownership of this account is not asked for.")
    account["_challenge"] = body["method"]
    if world.has("challenged-is-active"):
        external_views.move(world, account, "ACTIVE")
    if world.has("challenged-is-reviewed"):
        external_views.move(world, account, "UNDER_REVIEW")
    token = world.new_id("Link").partition(":")[2]
    answer: Json = {"method": body["method"], "expiresAt": ahead(900)}
    if body["method"] == "LIVENESS":
        answer["verificationLink"] = f"{world.origin}/hosted/{token}"
    else:
        answer["message"] = f"I own this account. {token}"
    return 200, answer


def verify(call: Call) -> Reply:
    """POST /customers/external-accounts/{externalAccountId}/verify."""
    world, account = call.world, external_views.of(call)
    body = call.json(record({"signature": text(most=2000)}, needs=("signature",)))
    late = account["status"] == "ACTIVE" and "_owned" in account
    if late and body["signature"] != SIGNATURE and world.has("late-wrong-proof"):
        external_views.move(world, account, "UNVERIFIED")
        return 200, external_views.shown(world, account)
    open_still = account["status"] == "PENDING_OWNERSHIP_VERIFICATION"
    if account["status"] == "UNDER_REVIEW" and world.has("challenged-is-reviewed"):
        open_still = True
    if account["_challenge"] != "WALLET_SIGNATURE" or not open_still:
        raise conflict("No signature is waited for.")
    owner = body["signature"] == SIGNATURE or world.has("any-owner")
    if not owner and world.has("failed-signature-open"):
        return 200, external_views.shown(world, account)
    waiting = [
        row
        for row in world.externals.values()
        if row["customerId"] == account["customerId"]
        and row["status"] == "PENDING_OWNERSHIP_VERIFICATION"
    ]
    if waiting[0] is not account and world.has("proof-of-oldest"):
        account = waiting[0]
    if owner and world.has("proof-not-kept"):
        told = external_views.shown(world, account) | {"status": "ACTIVE"}
        world.emit("EXTERNAL_ACCOUNT.STATUS_UPDATED", told)
        return 200, told
    if world.has("verify-later"):
        world.later(world.persona.settle_seconds, lambda: prove(world, account, owner=owner))
    else:
        prove(world, account, owner=owner)
    return 200, external_views.shown(world, account)


def prove(world: World, account: Json, *, owner: bool) -> None:
    """End a proof of ownership, which shows the owner or somebody else."""
    alive = owner and account["_challenge"] == "LIVENESS"
    dead = not owner and account["_challenge"] == "LIVENESS"
    account["_challenge"] = None
    if not owner and world.has("failed-ownership-stays-pending"):
        return
    if dead and world.has("failed-liveness-open"):
        return
    if owner:
        account["_owned"] = True
    if alive and world.has("liveness-untold"):
        account["status"] = "ACTIVE"
    failed = "INACTIVE" if world.has("disproved-inactive") else "UNVERIFIED"
    good = "UNDER_REVIEW" if alive and world.has("liveness-is-reviewed") else "ACTIVE"
    external_views.move(world, account, good if owner else failed)
    others = [
        row
        for row in world.externals.values()
        if row["customerId"] == account["customerId"]
        and row["status"] == "PENDING_OWNERSHIP_VERIFICATION"
    ]
    if owner and others and world.has("proof-for-all"):
        for row in others:
            external_views.move(world, row, "ACTIVE")


ROUTES: list[Route] = [
    ("POST", f"{external_views.ACCOUNT}/untrust", untrust),
    ("POST", f"{external_views.ACCOUNT}/untrust/confirm", confirm_untrust),
    ("POST", f"{external_views.ACCOUNT}/confirm", confirm_untrust),
    ("POST", f"{external_views.ACCOUNT}/challenge", challenge),
    ("POST", f"{external_views.ACCOUNT}/verify", verify),
]
