"""A customer as it is found, and as it is shown."""

import datetime as dt

from conformance.proof.second import customer_form
from conformance.proof.second.call import Call
from conformance.proof.second.money import Json
from conformance.proof.second.world import World, public


def status_name(customer: Json) -> str:
    """Return the member that holds the customer's status."""
    return "kybStatus" if customer["customerType"] == "BUSINESS" else "kycStatus"


def is_approved(customer: Json) -> bool:
    """Tell whether the customer is approved."""
    return bool(customer[status_name(customer)] == "APPROVED")


def needs_sca(world: World, customer: Json | None) -> bool:
    """Tell whether a customer, or the platform for None, authorizes movements of money."""
    region = (customer or {}).get("region")
    return region in customer_form.EU and not (region == "HR" and world.has("croatia-outside-sca"))


def shown(world: World, customer: Json) -> Json:
    """Return a customer as answers and events show it."""
    body = public(customer)
    if not customer.get("contactVerification"):
        body.pop("contactVerification", None)
        if world.has("needless-channels-verified"):
            body["contactVerification"] = {"email": "VERIFIED", "phone": "VERIFIED"}
    if customer["customerType"] == "BUSINESS" and world.has("business-with-kyc-status"):
        body["kycStatus"] = body.pop("kybStatus")
    lines = [customer_form.at(body, "address.line1"), customer_form.at(body, "address.line2")]
    if all(lines) and world.has("second-line-joined"):
        body["address"] = {**body["address"], "line1": ", ".join(lines)}
        del body["address"]["line2"]
    agreed = customer_form.at(body, "endUserTermsConsent.timestamp")
    if agreed and world.has("consent-in-local-time"):
        body["endUserTermsConsent"] = {
            **body["endUserTermsConsent"],
            "timestamp": _in_local_time(agreed),
        }
    made = customer["_platform_id_made"] and str(customer["platformCustomerId"])
    if made and made.startswith("second-") and world.has("platform-id-made-at-reading"):
        body["platformCustomerId"] = f"second-{world.number()}"
    return body


def _in_local_time(moment: str) -> str:
    """Return a time two hours east of UTC; one at the ends of the calendar stays as it is."""
    zone = dt.timezone(dt.timedelta(hours=2))
    try:
        return dt.datetime.fromisoformat(moment).astimezone(zone).isoformat()
    except OverflowError:
        return moment


def namesakes(world: World, customer: Json) -> list[Json]:
    """Return who has the platformCustomerId of a customer, oldest first: nobody without one."""
    own = customer.get("platformCustomerId")
    return [row for row in world.customers.values() if own and row.get("platformCustomerId") == own]


def of(call: Call) -> Json:
    """Return the customer of the path.

    Raises:
        Refusal: 404 where there is none.
    """
    customer = call.world.find(
        call.world.customers, call.params["customerId"], "CUSTOMER_NOT_FOUND"
    )
    call.concerns(customer["id"])
    return customer
