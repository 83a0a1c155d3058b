"""Strong customer authentication: challenges, proofs, sessions, and resets of lost factors."""

import datetime as dt
import secrets
from typing import Any

from conformance.proof.second import customer_views
from conformance.proof.second.call import Call, Reply, Route
from conformance.proof.second.check import record, text
from conformance.proof.second.errors import Refusal, conflict, invalid
from conformance.proof.second.money import Json
from conformance.proof.second.world import World, ahead, now, public

CODE = "135790"
PASSKEY = "second-passkey"
FACTORS = ("SMS_OTP", "TOTP", "PASSKEY")
MAX_WRONG = 5
SESSION_DAYS = 180
MAX_RESETS = 5
TERMINAL = frozenset({"COMPLETED", "REJECTED", "EXPIRED"})

ADDRESS = text(r"[0-9a-fA-F.:]{2,45}")


def challenge(world: World, customer: Json, purpose: str) -> Json:
    """Make a challenge for a customer, by the factor that it enrolled last."""
    factors = customer["_factors"] or ["SMS_OTP"]
    row: Json = {
        "id": world.new_id("ScaChallenge"),
        "expiresAt": ahead(300),
        "factor": factors[-1],
        "availableFactors": list(factors),
        "purpose": purpose,
    }
    world.challenges[row["id"]] = row
    world.codes[row["id"]] = code(world, CODE)
    customer.setdefault("_codes", []).append(world.codes[row["id"]])
    return row


def code(world: World, usual: str) -> str:
    """Return a code to send: the usual one, where the persona always sends the same."""
    return usual if world.persona.codes == "same" else f"{secrets.randbelow(900_000) + 100_000}"


def _is_proof(customer: Json, body: Json) -> bool:
    factors = customer["_factors"]
    if {"SMS_OTP", "TOTP"} & set(factors) and body.get("code") in customer.get("_codes", ()):
        return True
    assertion = body.get("passkey")
    return (
        "PASSKEY" in factors
        and isinstance(assertion, dict)
        and assertion.get("credentialId") == PASSKEY
    )


def prove(world: World, customer: Json, body: Json) -> None:
    """Take a proof of a customer.

    Raises:
        Refusal: for a lapsed session, a locked customer, and a wrong proof.
    """
    if _is_locked(world, customer) and not world.has("lock-ignored"):
        status = 409 if world.has("lock-as-conflict") else 0
        if world.has("account-locked-429"):
            status = 429
        raise Refusal("ACCOUNT_LOCKED", "Too many proofs were wrong.", status=status)
    if not customer["_session"] and not world.has("session-ignored"):
        status = 401 if world.has("session-as-unauthorized") else 0
        raise Refusal("SCA_SESSION_REQUIRED", "The customer has to log in.", status=status)
    if _is_proof(customer, body) or world.has("any-proof"):
        if customer["_wrong"] and world.has("right-after-wrong-refused"):
            raise _wrong_proof(world)
        customer["_wrong"] = 0
        return
    customer["_wrong"] += 1
    raise _wrong_proof(world)


def _is_locked(world: World, customer: Json) -> bool:
    """Tell whether a customer is locked out: by a planted bug where anybody is."""
    if customer["_wrong"] >= MAX_WRONG:
        return True
    others = any(row["_wrong"] >= MAX_WRONG for row in world.customers.values())
    return others and world.has("lock-for-all")


def _wrong_proof(world: World) -> Refusal:
    """Return what refuses a wrong proof, by the choice of the persona."""
    status = world.persona.wrong_proof_status
    if status == 401:
        return Refusal("UNAUTHORIZED", "The proof is wrong.")
    return invalid("code", "is wrong", status=status)


def _customer(call: Call) -> Json:
    world = call.world
    customer = world.find(world.customers, call.asked("customerId"), "CUSTOMER_NOT_FOUND")
    call.concerns(customer["id"])
    started = (call.method, call.path) == ("POST", "/sca/factors/reset")
    outside = not customer_views.needs_sca(world, customer) and not world.has("reset-everywhere")
    if outside and not (started and world.has("reset-started-outside")):
        raise conflict("This customer needs no strong authentication.")
    return customer


def login(call: Call) -> Reply:
    """POST /sca/login."""
    customer = _customer(call)
    row = challenge(call.world, customer, "LOGIN")
    return 200, {"challengeId": row["id"], "scaChallenge": public(row)}


def complete_login(call: Call) -> Reply:
    """POST /sca/login/complete."""
    world = call.world
    body = call.json(
        record({"challengeId": text(most=100), "code": text(most=20)}, needs=("challengeId",))
    )
    world.find(world.challenges, body["challengeId"])
    customer = world.find(world.customers, body.get("customerId"), "CUSTOMER_NOT_FOUND")
    call.concerns(customer["id"])
    if body.get("code") != world.codes[body["challengeId"]]:
        raise _wrong_proof(world)
    customer["_session"] = True
    days = 18 if world.has("short-session") else SESSION_DAYS
    if world.has("session-six-months"):
        days = _half_a_year()
    return 200, {"sessionExpiresAt": ahead(days * 86400)}


def _half_a_year() -> int:
    """Return the days from now to the same day of the month half a year later."""
    today = now().date().replace(day=min(now().day, 28))
    later = today.replace(year=today.year + (today.month > 6), month=(today.month + 5) % 12 + 1)
    return (later - today).days


def _refuse_start(world: World, customer: Json, body: Json) -> None:
    """Refuse the start of a reset by a planted bug."""
    if customer["customerType"] == "BUSINESS" and world.has("reset-individuals-only"):
        raise conflict("This customer needs no strong authentication.")
    seen = (customer["id"], body["factor"], "REJECTED")
    failed = [
        row
        for row in world.resets.values()
        if (row["_customer"], row["factor"], row["status"]) == seen
    ]
    if failed and world.has("rejected-blocks-next"):
        raise conflict("The reset of this factor was rejected.")


def _is_reviewed_at_once(world: World, body: Json) -> bool:
    """Tell whether a planted bug starts a reset under review."""
    if body["factor"] == "SMS_OTP" and world.has("sms-reset-starts-in-review"):
        return True
    return world.has("reset-starts-in-review")


def start_reset(call: Call) -> Reply:
    """POST /sca/factors/reset."""
    world, customer = call.world, _customer(call)
    body = call.json(
        record(
            {"factor": text(r"[A-Z_]+", most=20), "endUserIpAddress": ADDRESS},
            ["factor", "endUserIpAddress"],
            closed=world.persona.refuses_unknown,
        )
    )
    _refuse_start(world, customer, body)
    if body["factor"] not in FACTORS:
        raise invalid("factor", "is not known", kind="select")
    if world.persona.cleared_factor == "refused" and body["factor"] not in customer["_factors"]:
        raise invalid("factor", "is not enrolled", kind="select")
    day_ago = now() - dt.timedelta(days=1)
    recent = [moment for moment in customer["_resets"] if moment > day_ago]
    if recent and world.has("resets-per-factor"):
        recent = [
            row["_started"]
            for row in world.resets.values()
            if row["_customer"] == customer["id"] and row["factor"] == body["factor"]
        ]
    others = any(row["_customer"] != customer["id"] for row in world.resets.values())
    if others and world.has("resets-of-all-customers"):
        recent = [row["_started"] for row in world.resets.values() if row["_started"] > day_ago]
    ended = [
        row
        for row in world.resets.values()
        if row["_customer"] == customer["id"] and row["status"] in TERMINAL
    ]
    uncounted = len(ended) if ended and world.has("ended-resets-uncounted") else 0
    limit = MAX_RESETS + 1 if world.has("sixth-reset") else MAX_RESETS
    if len(recent) - uncounted >= limit:
        customer["_capped"] = True
        if world.has("cap-clears-count"):
            customer["_resets"] = []
        raise Refusal("TOO_MANY_RESETS", "Only five resets a day.")
    customer["_resets"] = [*recent, now()]
    reset: Json = {
        "resetId": world.new_id("FactorReset"),
        "status": "PENDING_REVIEW" if _is_reviewed_at_once(world, body) else "INITIATED",
        "factor": body["factor"],
        "enrollmentStatus": None,
        "expiresAt": ahead(900),
        "completedAt": None,
        "_customer": customer["id"],
        "_started": now(),
    }
    if world.persona.enrollment_at == "start" and body["factor"] != "SMS_OTP":
        reset["enrollmentStatus"] = "PENDING"
    world.resets[reset["resetId"]] = reset
    token = world.new_id("Link").partition(":")[2]
    return 201, {
        "resetId": reset["resetId"],
        "livenessAccessToken": f"liveness-{token}",
        "verificationLink": f"{world.origin}/hosted/{token}",
        "expiresAt": reset["expiresAt"],
    }


def _find_first(call: Call) -> None:
    """Look for a reset before its customer, by a planted bug, who has none outside of SCA."""
    world = call.world
    customer = world.customers.get(call.query.get("customerId", ""))
    outside = customer is not None and not customer_views.needs_sca(world, customer)
    if outside and world.has("reset-before-region"):
        raise Refusal("NOT_FOUND", "There is no such reset.")


def _reset(call: Call, customer: Json) -> Json:
    reset = call.world.find(call.world.resets, call.params["resetId"])
    if reset["_customer"] != customer["id"]:
        raise Refusal("NOT_FOUND", "There is no such reset.")
    refresh(call.world, reset)
    return reset


def _has_ended(world: World, reset: Json, *, late: bool) -> bool:
    reopened = late and reset["status"] == "COMPLETED" and world.has("completed-expires")
    return reset["status"] in TERMINAL and not reopened


def refresh(world: World, reset: Json) -> None:
    """Close a reset whose window has passed."""
    late = reset["expiresAt"] <= now()
    if late and not _has_ended(world, reset, late=late) and not _stays(world, reset):
        reset["status"] = "EXPIRED"


def _stays(world: World, reset: Json) -> bool:
    """Tell whether a planted bug keeps a reset from expiring."""
    if reset["status"] == "PENDING_REVIEW" and world.has("reviewed-never-expires"):
        return True
    if reset["status"] != "INITIATED" and world.has("only-initiated-expires"):
        return True
    return reset["status"] == "LIVENESS_PASSED" and world.has("passed-never-expires")


def _reader(call: Call) -> Json:
    """Return the customer who reads a reset; one without them is not found by a planted bug."""
    try:
        return _customer(call)
    except Refusal as refusal:
        if refusal.status == 409 and call.world.has("outside-read-not-found"):
            raise Refusal("NOT_FOUND", "There is no such reset.") from None
        raise


def read_reset(call: Call) -> Reply:
    """GET /sca/factors/reset/{resetId}."""
    world = call.world
    _find_first(call)
    if not call.query.get("customerId") and world.has("reset-read-without-customer"):
        reset = world.find(world.resets, call.params["resetId"])
        refresh(world, reset)
    else:
        reset = _reset(call, _reader(call))
    if "_capped" in world.customers[reset["_customer"]] and world.has("cap-on-reading"):
        raise Refusal("TOO_MANY_RESETS", "Only five resets a day.")
    names = ("status", "factor", "enrollmentStatus", "expiresAt", "completedAt")
    answer = {name: reset[name] for name in names}
    factors = [
        row["factor"] for row in world.resets.values() if row["_customer"] == reset["_customer"]
    ]
    if factors[-1] != reset["factor"] and world.has("reset-factor-of-newest"):
        answer["factor"] = factors[-1]
    if reset["status"] == "COMPLETED" and world.has("completed-reset-without-factor"):
        answer["factor"] = None
    if reset["completedAt"] and world.has("completed-at-reading"):
        answer["completedAt"] = now()
    if reset["completedAt"] and world.has("completed-at-never"):
        answer["completedAt"] = None
    if world.has("reset-expiry-from-reading"):
        answer["expiresAt"] = ahead(900)
    if reset["factor"] == "SMS_OTP" and world.has("sms-enrollment-pending"):
        answer["enrollmentStatus"] = "PENDING"
    if reset["factor"] == "TOTP" and world.has("totp-enrollment-null"):
        answer["enrollmentStatus"] = None
    return 200, answer


def _may_complete(world: World, reset: Json) -> bool:
    if reset["status"] == "PENDING_REVIEW" and world.has("completed-in-review"):
        return True
    return reset["status"] == "LIVENESS_PASSED" or world.has("reset-without-liveness")


def _require_mobile(world: World, reset: Json, body: Json) -> None:
    if body.get("mobile"):
        return
    if reset["factor"] == "SMS_OTP" and not world.has("no-mobile"):
        raise invalid("mobile", "is required", kind="tel")
    if reset["factor"] != "SMS_OTP" and world.has("mobile-always"):
        raise invalid("mobile", "is required", kind="tel")


def complete_reset(call: Call) -> Reply:
    """POST /sca/factors/reset/{resetId}/complete."""
    world = call.world
    _find_first(call)
    if not call.query.get("customerId") and world.has("reset-completed-without-customer"):
        reset = world.find(world.resets, call.params["resetId"])
        customer = world.customers[reset["_customer"]]
        refresh(world, reset)
    else:
        customer = _customer(call)
        reset = _reset(call, customer)
    mobile = record(
        {"countryCode": text(r"\+[0-9]{1,4}"), "number": text(r"[0-9]{4,14}")},
        ("countryCode", "number"),
    )
    needs = ["endUserIpAddress"]
    if b"endUserIpAddress" not in call.raw and world.has("completion-without-address"):
        needs = []
    body = call.json(record({"endUserIpAddress": ADDRESS, "mobile": mobile}, needs))
    if not _may_complete(world, reset):
        raise _incomplete(world, reset)
    _require_mobile(world, reset, body)
    passed = [
        row
        for row in world.resets.values()
        if row["_customer"] == customer["id"] and row["status"] == "LIVENESS_PASSED"
    ]
    if passed and passed[-1] is not reset and world.has("completion-of-newest"):
        reset = passed[-1]
    if customer["customerType"] == "BUSINESS" and world.has("business-reset-stays"):
        return 204, None
    if not world.has("factor-kept"):
        customer["_factors"] = [name for name in customer["_factors"] if name != reset["factor"]]
    reset |= {"status": "COMPLETED", "completedAt": now()}
    if reset["factor"] == "SMS_OTP":
        customer["_factors"].append("SMS_OTP")
        if world.has("enrollment-of-sms"):
            reset["enrollmentStatus"] = "COMPLETED"
    else:
        done = world.has("enrollment-completed-at-once")
        reset["enrollmentStatus"] = "COMPLETED" if done else "PENDING"
    if world.has("reset-completion-200"):
        return 200, {"status": reset["status"]}
    return 204, None


def _incomplete(world: World, reset: Json) -> Refusal:
    """Return what refuses to complete a reset whose liveness has not passed, or that has ended."""
    reason = f"the reset is {reset['status']}"
    terminal = reset["status"] in TERMINAL
    if not terminal and world.has("early-completion-rejects"):
        reset["status"] = "REJECTED"
    early = 409 if world.has("early-completion-conflict") else 400
    status = world.persona.terminal_reset_status if terminal else early
    return invalid("resetId", reason, status=status)


def enroll(world: World, customer: Json, factor: str) -> None:
    """Enroll a factor of a customer, which ends the resets that wait for it."""
    customer["_factors"] = [name for name in customer["_factors"] if name != factor]
    customer["_factors"].append(factor)
    for reset in world.resets.values():
        waits = reset["_customer"] == customer["id"] and reset["status"] == "COMPLETED"
        if not waits or reset["enrollmentStatus"] != "PENDING":
            continue
        if reset["factor"] == factor or world.has("other-factor-enrolls"):
            reset["enrollmentStatus"] = "COMPLETED"


def _is_unnoticed(world: World, reset: Json, result: str) -> bool:
    """Tell whether a planted bug does not note the result of a liveness check."""
    step = (result, reset["status"])
    return (
        (step == ("pass", "INITIATED") and world.has("passed-too-early"))
        or (step == ("fail", "INITIATED") and world.has("failed-too-early"))
        or (step == ("fail", "PENDING_REVIEW") and world.has("failed-liveness-in-review-kept"))
        or (step == ("fail", "LIVENESS_PASSED") and world.has("failed-after-pass-ignored"))
    )


def liveness(world: World, reset: Json, result: str) -> None:
    """Move a reset on: `submit`, `pass`, `fail` or `expire`.

    Raises:
        Refusal: where the reset has ended.
    """
    refresh(world, reset)
    undone = result == "fail" and reset["status"] == "COMPLETED"
    if undone and world.has("completed-then-rejected"):
        reset["status"] = "REJECTED"
        return
    if _has_ended(world, reset, late=result == "expire"):
        raise conflict("The reset has ended.")
    if _is_unnoticed(world, reset, result):
        return
    moves: dict[str, Any] = {
        "submit": "PENDING_REVIEW",
        "pass": "LIVENESS_PASSED",
        "fail": "REJECTED",
        "expire": "EXPIRED",
    }
    moved = _submitted(world, reset) if result == "submit" else reset
    if result != "expire" or not _stays(world, reset):
        moved["status"] = moves[result]
    if result == "fail":
        _reject_others(world, reset)
    itself = result == "pass" and reset["factor"] == "SMS_OTP"
    if itself and world.has("sms-reset-completes-itself"):
        reset |= {"status": "COMPLETED", "completedAt": now()}
    if result == "expire":
        reset["expiresAt"] = now()
        _expire_newest(world, reset)


def _expire_newest(world: World, reset: Json) -> None:
    """Let the newest open reset of a customer expire, by a planted bug, with another one."""
    others = [
        row
        for row in world.resets.values()
        if row["_customer"] == reset["_customer"] and row["status"] not in TERMINAL
    ]
    if others and world.has("expiry-of-newest-reset"):
        others[-1]["status"] = "EXPIRED"


def _submitted(world: World, reset: Json) -> Json:
    """Return what moves on with a submission: by a planted bug the customer's newest open reset."""
    newest = [
        row
        for row in world.resets.values()
        if row["_customer"] == reset["_customer"] and row["status"] not in TERMINAL
    ][-1]
    return newest if newest is not reset and world.has("submission-moves-newest") else reset


def _reject_others(world: World, reset: Json) -> None:
    """Let a failed reset reject, by a planted bug, those that its customer has open beside it."""
    others = [
        row
        for row in world.resets.values()
        if row["_customer"] == reset["_customer"] and row["status"] not in TERMINAL
    ]
    if others and world.has("failure-rejects-all"):
        for row in others:
            row["status"] = "REJECTED"


ROUTES: list[Route] = [
    ("POST", "/sca/login", login),
    ("POST", "/sca/login/complete", complete_login),
    ("POST", "/sca/factors/reset", start_reset),
    ("GET", "/sca/factors/reset/{resetId}", read_reset),
    ("POST", "/sca/factors/reset/{resetId}/complete", complete_reset),
]
