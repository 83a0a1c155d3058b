"""Embedded wallets: the signature of the customer's device, and the credentials of a wallet."""

import base64
import binascii
import hashlib
import hmac

from conformance.proof.second.call import Call, Reply, Route, created
from conformance.proof.second.check import one_of, record, text
from conformance.proof.second.errors import Refusal, invalid
from conformance.proof.second.money import Json
from conformance.proof.second.world import World, public


def _payload(call: Call, request: str) -> str:
    digest = hashlib.sha256(call.raw).hexdigest()
    return f"{call.method}|{call.path}|{request}|{digest}"


def sign(key: str, payload: str) -> str:
    """Sign a payload with the key of a device: the payload and its MAC, each in base64."""
    mac = hmac.new(key.encode(), payload.encode(), hashlib.sha256).digest()
    return f"{base64.b64encode(payload.encode()).decode()}.{base64.b64encode(mac).decode()}"


def require_signature(call: Call, account: Json) -> None:
    """Let an action of an embedded wallet pass only with a signature of its device.

    Raises:
        Refusal: 401 with the code of what is wrong; the first one tells what has to be signed.
    """
    world = call.world
    if account["type"] != "EMBEDDED_WALLET" or world.has("wallet-unsigned"):
        return
    given = call.headers.get("service-wallet-signature")
    request = call.headers.get("request-id")
    if not given and world.has("wallet-signature-optional"):
        return
    if not given:
        fresh = world.new_id("Request").partition(":")[2]
        world.wallet_requests[fresh] = {"account": account["id"], "used": False}
        details = {"payloadToSign": _payload(call, fresh), "requestId": fresh}
        raise Refusal(
            "WALLET_SIGNATURE_MISSING", "The wallet's device has to sign.", details=details
        )
    if not request and world.has("wallet-request-id-not-required"):
        request = _request_in(given)
    if not request:
        if world.has("request-id-missing-as-signature"):
            raise Refusal("WALLET_SIGNATURE_MISSING", "The wallet's device has to sign.")
        status = 400 if world.has("request-id-missing-400") else 0
        raise Refusal("REQUEST_ID_MISSING", "The signed retry needs its Request-Id.", status=status)
    _verify(call, account, given, request)


def _request_in(given: str) -> str:
    """Return the id of the request that a signature names, or an empty text."""
    try:
        payload = base64.b64decode(given.partition(".")[0], validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return ""
    return payload.split("|")[2] if payload.count("|") == 3 else ""


def _verify(call: Call, account: Json, given: str, request: str) -> None:
    world = call.world
    first, found, second = given.partition(".")
    try:
        payload = base64.b64decode(first, validate=True).decode()
        base64.b64decode(second, validate=True)
    except (binascii.Error, UnicodeDecodeError):
        found = ""
        payload = ""
    if not found or payload.count("|") != 3:
        if world.has("malformed-signature-crashes"):
            raise ValueError
        raise Refusal("WALLET_SIGNATURE_MALFORMED", "This is no signature.")
    if not hmac.compare_digest(sign(account["_key"], payload), given) and not world.has(
        "wallet-any-key"
    ):
        raise Refusal("WALLET_SIGNATURE_INVALID", "The wallet's device did not sign this.")
    known = world.wallet_requests.get(request)
    expected = _payload(call, request)
    if payload.rpartition("|")[0] != expected.rpartition("|")[0] or not known or known["used"]:
        raise Refusal("WALLET_SIGNATURE_INVALID", "The signature is of another request.")
    if payload != expected and not world.has("wallet-any-body"):
        raise Refusal("WALLET_SIGNATURE_BODY_MISMATCH", "The signature is of another body.")
    known["used"] = True


def _wallet(call: Call) -> Json:
    account = call.world.find(call.world.internals, call.params["accountId"], "ACCOUNT_NOT_FOUND")
    call.concerns(account["customerId"])
    if account["type"] != "EMBEDDED_WALLET":
        raise invalid("accountId", "is no embedded wallet")
    return account


def add(call: Call) -> Reply:
    """POST /internal-accounts/{accountId}/credentials."""
    world, wallet = call.world, _wallet(call)
    body = call.json(
        record(
            {
                "type": one_of("EMAIL_OTP", "SMS_OTP", "PASSKEY"),
                "credentialId": text(most=400),
            },
            needs=("type",),
        )
    )
    kind, identity = body["type"], body.get("credentialId")
    if kind == "PASSKEY" and not identity:
        raise invalid("credentialId", "is required")
    if kind != "PASSKEY" and "desynchronized" in wallet["_traits"]:
        told = "SMS_OTP" if world.has("email-sync-as-sms") else kind
        raise Refusal(f"{told}_CREDENTIAL_SYNC_FAILED", "The provider could not be reached.")
    free = kind == "SMS_OTP" and world.has("second-sms-credential")
    there = not free and _is_there(world, wallet, kind, identity)
    if there and not world.has("second-credential"):
        raise Refusal(f"{kind}_CREDENTIAL_ALREADY_EXISTS", "There is such a credential.")
    row = {
        "id": world.new_id("Credential"),
        "accountId": wallet["id"],
        "type": kind,
        "credentialId": identity,
    }
    world.credentials[row["id"]] = row
    return created(call, public(row))


def _is_there(world: World, wallet: Json, kind: str, identity: str | None) -> bool:
    return any(
        row["type"] == kind
        and (row["credentialId"] == identity if identity else row["accountId"] == wallet["id"])
        for row in world.credentials.values()
    )


def index(call: Call) -> Reply:
    """GET /internal-accounts/{accountId}/credentials."""
    wallet = _wallet(call)
    rows = [
        public(row) for row in call.world.credentials.values() if row["accountId"] == wallet["id"]
    ]
    return call.page(rows)


ROUTES: list[Route] = [
    ("POST", "/internal-accounts/{accountId}/credentials", add),
    ("GET", "/internal-accounts/{accountId}/credentials", index),
]
