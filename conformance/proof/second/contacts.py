"""The contact channels of a customer: codes are sent to them, and confirm them."""

from conformance.proof.second import customer_views, sca
from conformance.proof.second.call import Call, Handler, Reply, Route
from conformance.proof.second.check import record, text
from conformance.proof.second.errors import Refusal, conflict
from conformance.proof.second.money import Json
from conformance.proof.second.world import World, now

CODE = "246810"


def _channel(call: Call, channel: str) -> Json:
    customer = customer_views.of(call)
    if channel not in (customer.get("contactVerification") or {}):
        if call.world.has("any-channel"):
            return customer
        if channel == "phone" and call.world.has("needless-phone-unprocessable"):
            raise Refusal("CONFLICT", "This channel needs no verification.", status=422)
        raise conflict("This channel needs no verification.")
    return customer


def send_code(channel: str) -> Handler:
    """Return the handler that sends the one-time code of a channel."""

    def handler(call: Call) -> Reply:
        if channel == "phone" and _is_needless(call) and call.world.has("needless-phone-sent"):
            return _contact_reply(call, {"status": "SENT"})
        customer = _channel(call, channel)
        if f"_sent_{channel}" in customer and call.world.has("no-resend"):
            raise conflict("A code was sent.")
        _refuse_to_send(call.world, customer, channel)
        customer[f"_resent_{channel}"] = f"_sent_{channel}" in customer
        customer[f"_sent_{channel}"] = True
        call.world.codes[f"{customer['id']}/{channel}"] = sca.code(call.world, CODE)
        customer["_last_sent"] = channel
        if channel == "phone" and call.world.has("phone-verified-by-sending"):
            customer["contactVerification"][channel] = "VERIFIED"
        return _contact_reply(call, {"status": "SENT"})

    return handler


def _is_needless(call: Call) -> bool:
    """Tell whether the phone of the customer of the path needs no verification."""
    return "phone" not in (customer_views.of(call).get("contactVerification") or {})


def _refuse_to_send(world: World, customer: Json, channel: str) -> None:
    """Refuse to send a one-time code by a planted bug."""
    again = channel == "email" and "_sent_email" in customer
    if again and world.has("email-not-resent"):
        raise conflict("A code was sent.")
    if customer.get(f"_guessed_{channel}") and world.has("no-resend-after-guess"):
        raise conflict("A code was sent.")
    business = customer["customerType"] == "BUSINESS"
    if business and channel == "phone" and world.has("business-phone-needless"):
        raise conflict("This channel needs no verification.")
    states = customer.get("contactVerification") or {}
    by_mail = channel == "phone" and states.get("email") == "VERIFIED"
    if by_mail and world.has("phone-needless-after-email"):
        raise conflict("This channel needs no verification.")


def _guess(world: World, customer: Json, channel: str) -> None:
    """Note a wrong code, which undoes the verification by a planted bug."""
    customer[f"_guessed_{channel}"] = True
    states = customer.get("contactVerification") or {}
    if states.get(channel) == "VERIFIED" and world.has("late-guess-unverifies"):
        states[channel] = "PENDING"


def confirm_code(channel: str) -> Handler:
    """Return the handler that compares a one-time code."""

    def handler(call: Call) -> Reply:
        customer = _channel(call, channel)
        body = call.json(record({"code": text(most=12)}, needs=("code",)))
        unsent = f"_sent_{channel}" not in customer
        if unsent and not (channel == "phone" and call.world.has("phone-code-valid-unsent")):
            raise Refusal("INVALID_INPUT", "No code was sent.", details=_code_details())
        wrong = body["code"] != call.world.codes.get(f"{customer['id']}/{channel}", CODE)
        if wrong and channel == "phone" and call.world.has("phone-any-code"):
            wrong = False
        business = customer["customerType"] == "BUSINESS"
        if wrong and business and call.world.has("business-any-code"):
            wrong = False
        if wrong and not call.world.has("any-contact-code"):
            _guess(call.world, customer, channel)
            raise Refusal("INVALID_INPUT", "The code is wrong.", details=_code_details())
        other = customer.get("_last_sent") not in {None, channel}
        if other and call.world.has("one-code-slot"):
            raise Refusal("INVALID_INPUT", "The code is wrong.", details=_code_details())
        if customer.get(f"_resent_{channel}") and call.world.has("resent-code-refused"):
            raise Refusal("INVALID_INPUT", "The code is wrong.", details=_code_details())
        _confirm(call.world, customer, channel)
        if call.world.has("one-code-both-channels"):
            customer["contactVerification"] = {"email": "VERIFIED", "phone": "VERIFIED"}
        customer["updatedAt"] = now()
        answer = customer_views.shown(call.world, customer)
        stays = answer["contactVerification"].get(channel, "VERIFIED") != "VERIFIED"
        if stays and channel == "email":
            answer["contactVerification"] = {**answer["contactVerification"], channel: "VERIFIED"}
        return _contact_reply(call, answer)

    return handler


def _confirm(world: World, customer: Json, channel: str) -> None:
    if channel == "email" and world.has("email-answered-verified"):
        return
    business = customer["customerType"] == "BUSINESS"
    if channel == "email" and business and world.has("business-email-pending"):
        return
    states = customer["contactVerification"]
    waits = channel == "phone" and states.get("email") == "PENDING"
    if waits and world.has("phone-after-email"):
        raise conflict("The email has to be verified first.")
    if channel == "email" and world.has("confirmed-email-left-out"):
        del states["email"]
        return
    if channel == "email":
        _verify_namesakes(world, customer)
    if channel == "phone" and states.get("email") == "VERIFIED" and world.has("phone-resets-email"):
        states["email"] = "PENDING"
    if channel == "phone" and world.has("phone-verifies-email"):
        channel = "email"
    if channel == "phone" and world.has("phone-confirm-marks-all-channels"):
        customer["contactVerification"] = dict.fromkeys(states, "VERIFIED")
    customer["contactVerification"][channel] = "VERIFIED"
    if channel == "email" and "phone" in states and world.has("email-verifies-phone"):
        states["phone"] = "VERIFIED"


def _verify_namesakes(world: World, customer: Json) -> None:
    """Verify, by a planted bug, the email of everybody who has the same one."""
    others = [
        row["contactVerification"]
        for row in world.customers.values()
        if row is not customer
        and row.get("email") == customer.get("email")
        and "email" in (row.get("contactVerification") or {})
    ]
    if others and world.has("email-verified-by-address"):
        for channels in others:
            channels["email"] = "VERIFIED"


def _contact_reply(call: Call, body: Json) -> Reply:
    return (200, body) if call.world.persona.with_contact_body else (204, None)


def _code_details() -> Json:
    return {"errors": [{"field": "code", "message": "is wrong"}]}


ROUTES: list[Route] = [
    ("POST", "/customers/{customerId}/verify-email", send_code("email")),
    ("POST", "/customers/{customerId}/verify-email/confirm", confirm_code("email")),
    ("POST", "/customers/{customerId}/verify-phone", send_code("phone")),
    ("POST", "/customers/{customerId}/verify-phone/confirm", confirm_code("phone")),
]
