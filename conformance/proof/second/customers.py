"""Customers as the interface makes, lists and changes them."""

import datetime as dt
import re
import unicodedata

from conformance.proof.second import customer_form, customer_views, internals, reviews
from conformance.proof.second.call import Call, Reply, Route, created
from conformance.proof.second.check import demand, one_of, record
from conformance.proof.second.errors import conflict
from conformance.proof.second.money import COINS, Json
from conformance.proof.second.world import World, now


def create(call: Call) -> Reply:
    """POST /customers."""
    call.only_platform()
    world = call.world
    body = call.json()
    if body.get("customerType") is None and world.has("type-by-default"):
        body["customerType"] = "INDIVIDUAL"
    info = body.get("businessInfo")
    if isinstance(info, dict) and "country" not in info and world.has("business-country-defaulted"):
        info["country"] = "US"
    demand(world.persona, body, record({}, needs=("customerType",)))
    customer_form.check(world, body, body)
    given = {name: value for name, value in body.items() if value is not None}
    if not world.persona.refuses_unknown:
        given = {name: value for name, value in given.items() if name in customer_form.MEMBERS}
    _tidy(world, given)
    same = customer_views.namesakes(world, given)
    if same and world.has("shared-platform-customer-id-answers-first"):
        return created(call, customer_views.shown(world, same[0]))
    _mistake(world, given)
    moment = now()
    customer: Json = {
        "id": world.new_id("Customer"),
        "platformCustomerId": f"second-{world.number()}",
        "umaAddress": f"$customer-{world.number()}@second.example",
        **given,
        "createdAt": moment,
        "updatedAt": moment,
        "_factors": list(world.persona.first_factors),
        "_wrong": 0,
        "_session": world.persona.first_session == "creation",
        "_resets": [],
        "_traits": set(),
        "_first_number": customer_form.at(given, "businessInfo.registrationNumber"),
        "_first_name": given.get("fullName"),
        "_first_legal": customer_form.at(given, "businessInfo.legalName"),
        "_first_members": set(given),
        "_first": dict(given),
        "_platform_id_made": "platformCustomerId" not in given,
    }
    business = given["customerType"] == "BUSINESS"
    if "platformCustomerId" not in given and _is_unnamed(world, business=business):
        customer["platformCustomerId"] = None
    customer[customer_views.status_name(customer)] = "UNVERIFIED"
    if world.persona.with_both_statuses:
        customer.setdefault("kycStatus", None)
        customer.setdefault("kybStatus", None)
    if _verifies_contacts(world, customer):
        customer["contactVerification"] = dict.fromkeys(world.persona.eu_channels, "PENDING")
    world.customers[customer["id"]] = customer
    reviews.settle(world, customer)
    answer = customer_views.shown(world, customer)
    if "platformCustomerId" not in given and world.has("generated-id-answered"):
        answer["platformCustomerId"] = f"second-{world.number()}"
    if business and world.has("created-business-bare"):
        answer.pop("businessInfo", None)
    _mistake_created(world, customer, answer)
    return created(call, answer)


def _tidy(world: World, given: Json) -> None:
    """Bring what a customer is made or changed with to one way of writing, where that is done."""
    if not world.persona.tidies:
        return
    for name in ("fullName", "email"):
        if isinstance(given.get(name), str):
            given[name] = unicodedata.normalize("NFC", given[name].strip())
    if isinstance(given.get("email"), str):
        given["email"] = given["email"].lower()
    codes = given.get("currencies")
    if isinstance(codes, list) and all(isinstance(code, str) for code in codes):
        given["currencies"] = sorted(codes)


def _is_unnamed(world: World, *, business: bool) -> bool:
    """Tell whether a planted bug generates no platformCustomerId for a new customer."""
    if business and world.has("business-platform-id-null"):
        return True
    return world.has("platform-id-not-generated")


def _mistake_created(world: World, customer: Json, answer: Json) -> None:
    """Spoil the answer to a creation by a planted bug."""
    waits = customer[customer_views.status_name(customer)] == "UNVERIFIED"
    if waits and world.has("creation-answered-pending"):
        answer[customer_views.status_name(customer)] = "PENDING"
    if "contactVerification" in answer and world.has("creation-without-channels"):
        del answer["contactVerification"]


def _verifies_contacts(world: World, customer: Json) -> bool:
    """Tell whether a new customer has to verify its mail and phone."""
    by_region = customer.get("region") in customer_form.EU
    if customer["customerType"] == "BUSINESS":
        by_country = customer_form.at(customer, "businessInfo.country") in customer_form.EU
        if by_country != by_region and world.has("channels-by-incorporation"):
            return by_country
    return by_region


def _mistake(world: World, given: Json) -> None:
    """Spoil what is given for a new customer by a planted bug, or refuse it."""
    own = given.get("platformCustomerId")
    shared = bool(customer_views.namesakes(world, given))
    if shared and world.has("shared-platform-id"):
        raise conflict("There is a customer with this platformCustomerId.")
    _mistake_place(world, given)
    nameless = given["customerType"] == "INDIVIDUAL" and "fullName" not in given
    if nameless and _is_nameless_there(world) and world.has("second-nameless-refused"):
        raise conflict("There is such a customer.")
    if "-" in str(given.get("identifier")) and world.has("identifier-without-hyphens"):
        given["identifier"] = given["identifier"].replace("-", "")
    codes = _codes(world, given)
    fiat = [code for code in codes if not COINS[code].crypto]
    if len(fiat) < len(codes) and world.has("currencies-without-crypto"):
        given["currencies"] = fiat
    if shared and world.has("shared-platform-id-numbered"):
        given["platformCustomerId"] = f"{own}-{world.number()}"
    zeros = str(own).isdecimal() and str(own)[0] == "0"
    if zeros and world.has("platform-customer-id-zeros-lost"):
        given["platformCustomerId"] = str(int(str(own)))
    for stem in customer_form.CATEGORIES:
        chosen = given.get(f"{stem}Categories") or []
        if len(chosen) > 1 and world.has("second-category-dropped"):
            given[f"{stem}Categories"] = chosen[:1]
    _mistake_name(world, given)
    countries = customer_form.at(given, "businessInfo.countriesOfOperation") or []
    if len(countries) > 1 and world.has("one-country-of-operation"):
        given["businessInfo"] |= {"countriesOfOperation": countries[:1]}


def _mistake_place(world: World, given: Json) -> None:
    region, country = given.get("region"), customer_form.at(given, "address.country")
    if region and country and region != country and world.has("region-from-address"):
        region = given["region"] = country
    home = customer_form.at(given, "businessInfo.country")
    if home and region not in {None, home} and world.has("business-country-from-region"):
        given["businessInfo"] = {**given["businessInfo"], "country": region}


def _codes(world: World, given: Json) -> list[str]:
    """Return the currencies of a new customer, which a planted bug has not looked at before."""
    codes: list[str] = given.get("currencies") or []
    if len(codes) > 1 and world.has("second-currency-unchecked"):
        codes = given["currencies"] = [code for code in COINS if code in codes]
    return codes


def _mistake_name(world: World, given: Json) -> None:
    name = given.get("fullName") or ""
    if not name.isascii() and world.has("names-without-accents"):
        plain = unicodedata.normalize("NFD", name)
        given["fullName"] = "".join(sign for sign in plain if not unicodedata.combining(sign))


def _is_nameless_there(world: World) -> bool:
    rows = world.customers.values()
    return any(row["customerType"] == "INDIVIDUAL" and not row.get("fullName") for row in rows)


def read(call: Call) -> Reply:
    """GET /customers/{customerId}."""
    _parse(call)
    customer = customer_views.of(call)
    answer = customer_views.shown(call.world, customer)
    _mistake_of_status(call.world, customer, answer)
    approved = customer["customerType"] == "BUSINESS" and customer_views.is_approved(customer)
    if approved and call.world.has("approved-business-bare"):
        del answer["businessInfo"]
    home = customer_form.at(answer, "businessInfo.country")
    if home and "region" in answer and call.world.has("business-region-as-country"):
        answer["region"] = home
    _mistake_of_place(call.world, answer)
    old = {name: customer["_first"].get(name) for name in ("email", "phoneNumber")}
    moved = any(value and answer.get(name) != value for name, value in old.items())
    if moved and call.world.has("read-first-contacts"):
        answer |= {name: value for name, value in old.items() if value}
    birth = answer.get("birthDate") or ""
    if "-0" in birth and call.world.has("birth-date-unpadded"):
        answer["birthDate"] = birth.replace("-0", "-")
    channels = answer.get("contactVerification") or {}
    if "VERIFIED" in channels.values() and call.world.has("verified-channel-left-out"):
        waiting = {name: state for name, state in channels.items() if state != "VERIFIED"}
        answer["contactVerification"] = waiting
        if not waiting:
            del answer["contactVerification"]
    return 200, answer


def _parse(call: Call) -> None:
    """Fail, by a planted bug, at the id of a customer who is not there and that is no UUID."""
    key = call.params["customerId"]
    is_uuid = re.fullmatch(r"Customer:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", key)
    if key not in call.world.customers and not is_uuid and call.world.has("odd-id-crashes"):
        raise ValueError


def _mistake_of_place(world: World, answer: Json) -> None:
    """Spoil by a planted bug where a customer who is read is from."""
    home = customer_form.at(answer, "businessInfo.country")
    abroad = home and customer_form.at(answer, "address.country") not in {None, home}
    if abroad and world.has("business-address-abroad"):
        answer["address"] = {**answer["address"], "country": home}
    if answer.get("nationality") and "region" in answer and world.has("region-as-nationality"):
        answer["region"] = answer["nationality"]


def _mistake_of_status(world: World, customer: Json, answer: Json) -> None:
    """Spoil the status of a customer that is read by a planted bug."""
    member = customer_views.status_name(customer)
    if customer[member] == "PENDING":
        customer["_read_pending"] = True
    old = "_read_pending" in customer and customer[member] != "PENDING"
    if old and world.has("decision-not-polled"):
        answer[member] = "PENDING"
    if (member, customer[member]) == ("kybStatus", "REJECTED") and world.has("kyb-declined"):
        answer[member] = "DECLINED"
    if (member, customer[member]) == ("kybStatus", "HOLD") and world.has(
        "held-business-as-pending"
    ):
        answer[member] = "PENDING"
    if member == "kybStatus" and "currencies" in answer and world.has("business-currencies-unread"):
        del answer["currencies"]
    if member == "kybStatus" and world.has("business-read-with-kyc-status"):
        answer["kycStatus"] = answer.pop("kybStatus")


def index(call: Call) -> Reply:
    """GET /customers."""
    call.only_platform()
    return call.page(
        [customer_views.shown(call.world, row) for row in call.world.customers.values()]
    )


def change(call: Call) -> Reply:
    """PATCH /customers/{customerId}."""
    call.only_platform()
    world, customer = call.world, _changing(call)
    body = call.json()
    _tidy(world, body)
    whole = _changed(world, customer, body)
    if "customerType" in body and body["customerType"] != customer["customerType"]:
        demand(world.persona, body, record({"customerType": one_of(customer["customerType"])}))
    customer_form.check(world, body, whole)
    _ask_again(world, customer, whole)
    _mistake_of_change(world, customer, body, whole)
    _shift(world, customer, body, whole)
    _provide_again(world, whole)
    old_name, old_info = (
        customer_form.at(customer, "businessInfo.legalName"),
        customer.get("businessInfo"),
    )
    before = customer_views.shown(world, customer)
    customer.clear()
    customer.update(whole)
    customer["updatedAt"] = now()
    if "fullName" in body:
        _rename(world, customer)
    renamed = customer_form.at(customer, "businessInfo.legalName") != old_name
    settled = customer[customer_views.status_name(customer)] in {"APPROVED", "REJECTED"}
    if renamed and settled and world.has("legal-name-reopens"):
        customer[customer_views.status_name(customer)] = "PENDING"
    answer = customer_views.shown(world, customer)
    if old_info != answer.get("businessInfo") and world.has("change-answer-old-business"):
        answer["businessInfo"] = old_info
    if customer["customerType"] == "BUSINESS" and world.has("changed-business-with-kyc-status"):
        answer["kycStatus"] = answer.pop("kybStatus")
    if settled and world.has("change-answered-unverified"):
        answer[customer_views.status_name(customer)] = "UNVERIFIED"
    if "contactVerification" in answer and world.has("channels-left-out"):
        del answer["contactVerification"]
    if old_info and body.get("businessInfo") and world.has("changed-business-answer-old"):
        answer["businessInfo"] = old_info
    if customer.get("_region_told"):
        answer["region"] = customer.pop("_region_told")
    world.tell_more("CUSTOMER.UPDATED", answer)
    return 200, _answered(world, before, answer)


def _changing(call: Call) -> Json:
    """Return the customer whom a change is for: by a planted bug the one who was created last."""
    named = customer_views.of(call)
    newest = list(call.world.customers.values())[-1]
    other = newest is not named and call.world.has("change-of-newest-customer")
    return newest if other else named


def _ask_again(world: World, customer: Json, whole: Json) -> None:
    """Let a customer verify a channel again whose mail or phone is another one, where it has to."""
    if world.persona.changed_contact == "kept":
        return
    names = {"email": "email", "phone": "phoneNumber"}
    whole["contactVerification"] = {
        channel: status if whole.get(names[channel]) == customer.get(names[channel]) else "PENDING"
        for channel, status in (customer.get("contactVerification") or {}).items()
    }


def _answered(world: World, before: Json, answer: Json) -> Json:
    """Return the answer to a change, or by a planted bug the customer as it was `before`."""
    moved = any(answer[name] != before.get(name) for name in answer if name != "updatedAt")
    return before if moved and world.has("change-answered-old") else answer


def _rename(world: World, customer: Json) -> None:
    """Note that a customer was renamed, and change its status by a planted bug."""
    member = customer_views.status_name(customer)
    customer["_renamed"] = True
    if world.has("rename-reopens"):
        customer[member] = "UNVERIFIED"
    if customer[member] == "REJECTED" and world.has("rename-approves"):
        customer[member] = "APPROVED"
        internals.provision(world, customer)
    bad = reviews.suffix_of(world, customer) == "002" and customer["customerType"] == "INDIVIDUAL"
    if bad and customer[member] == "APPROVED" and world.has("rename-rejects"):
        customer[member] = "REJECTED"


def _mistake_of_change(world: World, customer: Json, body: Json, whole: Json) -> None:
    """Spoil what a change makes of a customer by a planted bug."""
    before = customer.get("currencies") or []
    lost = body.get("currencies") is not None and set(before) - set(body["currencies"])
    if lost and world.has("currencies-appended"):
        whole["currencies"] = list(dict.fromkeys([*before, *body["currencies"]]))
    if body.get("birthDate") and world.has("birth-date-with-time"):
        whole["birthDate"] = f"{body['birthDate']}T00:00:00Z"
    phone = customer.get("phoneNumber")
    changed = phone and body.get("phoneNumber") not in {None, phone}
    if changed and customer["customerType"] == "BUSINESS" and world.has("business-phone-stays"):
        whole["phoneNumber"] = phone
    if body.get("endUserTermsConsent") and not customer.get("endUserTermsConsent"):
        whole["_consented_later"] = True
    consented = customer.get("endUserTermsConsent") and "endUserTermsConsent" not in body
    if consented and world.has("change-forgets-consent"):
        del whole["endUserTermsConsent"]
    other_currencies = body.get("currencies") not in (None, before)
    if (
        other_currencies
        and customer_views.is_approved(customer)
        and world.has("currencies-fixed-by-approval")
    ):
        whole["currencies"] = before
    _drop_by_bugs(world, customer, body, whole)
    number = customer.get("identifier")
    renumbered = number and body.get("idType") and body.get("identifier") not in {None, number}
    if renumbered and world.has("identifier-kept"):
        whole["identifier"] = number
    channels = customer.get("contactVerification") or {}
    business = customer["customerType"] == "BUSINESS"
    known = "VERIFIED" in channels.values()
    if known and business and world.has("business-change-unverifies"):
        whole["contactVerification"] = dict.fromkeys(channels, "PENDING")
    other = not {"email", "phoneNumber"} & set(body)
    if other and "VERIFIED" in channels.values() and world.has("change-unverifies"):
        whole["contactVerification"] = dict.fromkeys(channels, "PENDING")


def _drop_by_bugs(world: World, customer: Json, body: Json, whole: Json) -> None:
    """Take away, by a planted bug, what a change does not name, or leave as it was what it does."""
    business = customer["customerType"] == "BUSINESS"
    if business and body.get("address") and world.has("business-address-stays"):
        whole["address"] = customer.get("address")
    if business and body.get("currencies") and world.has("business-currencies-stay"):
        whole["currencies"] = customer.get("currencies")
    if body.get("currencies") and world.has("currencies-patch-ignored"):
        whole["currencies"] = customer.get("currencies")
    if set(body) == {"fullName"} and world.has("rename-drops-contacts"):
        for name in ("email", "phoneNumber"):
            whole.pop(name, None)
    if "currencies" not in body and world.has("change-drops-currencies"):
        whole["currencies"] = []
    if body.get("nationality") and customer.get("nationality") and world.has("nationality-stays"):
        whole["nationality"] = customer["nationality"]
    if customer.get("email") and "email" not in body and world.has("change-drops-contacts"):
        del whole["email"]
    funds = customer.get("sourceOfFundsCategories") and "sourceOfFundsCategories" not in body
    if funds and world.has("change-drops-diligence"):
        del whole["sourceOfFundsCategories"]


def _shift(world: World, customer: Json, body: Json, whole: Json) -> None:
    """Spoil by a planted bug what a change leaves alone, or the region that it names."""
    region = customer.get("region")
    if region and body.get("region") not in {None, region} and world.has("region-change-answered"):
        whole |= {"region": region, "_region_told": body["region"]}
    born = customer.get("birthDate")
    if born and "birthDate" not in body and world.has("change-shifts-birth-date"):
        day = dt.date.fromisoformat(born) - dt.timedelta(days=1)
        whole["birthDate"] = day.isoformat()
    if body.get("birthDate") and world.has("patched-birth-date-one-day-early"):
        day = dt.date.fromisoformat(body["birthDate"]) - dt.timedelta(days=1)
        whole["birthDate"] = day.isoformat()
    own = "platformCustomerId" not in body and customer["_platform_id_made"]
    if own and world.has("change-renews-platform-id"):
        whole["platformCustomerId"] = f"second-{world.number()}"


def _provide_again(world: World, customer: Json) -> None:
    """Open the accounts of an approved customer who is changed again, by a planted bug."""
    if customer_views.is_approved(customer) and world.has("change-provisions-again"):
        internals.provision(world, customer, again=True)


def _changed(world: World, customer: Json, body: Json) -> Json:
    """Return what a change makes of a customer: by a planted bug what it names, and no more."""
    whole = merged(customer, body)
    kept = {*body, "customerType", "platformCustomerId", "umaAddress"}
    unnamed = [name for name in customer_form.MEMBERS if name in whole and name not in kept]
    if unnamed and world.has("change-replaces-all"):
        for name in unnamed:
            del whole[name]
    return whole


def merged(customer: Json, body: Json) -> Json:
    """Return the customer with the members of a change; objects are merged, null takes away."""
    whole = dict(customer)
    for name, value in body.items():
        old = whole.get(name)
        if name not in customer_form.MEMBERS:
            continue
        if value is None:
            whole.pop(name, None)
        elif isinstance(value, dict) and isinstance(old, dict):
            whole[name] = {**old, **value}
        else:
            whole[name] = value
    return whole


def terms(call: Call) -> Reply:
    """GET /customers/end-user-terms."""
    if call.world.has("terms-as-customer"):
        call.world.find(call.world.customers, "end-user-terms", "CUSTOMER_NOT_FOUND")
    version = "2024-11" if call.world.has("old-terms-told") else customer_form.TERMS["version"]
    url = customer_form.TERMS["url"]
    if call.world.has("terms-url-without-host"):
        url = url.removeprefix("https://second.example")
    return 200, {"termsUrl": url, "termsVersion": version}


ROUTES: list[Route] = [
    ("POST", "/customers", create),
    ("GET", "/customers", index),
    ("GET", "/customers/end-user-terms", terms),
    ("GET", "/customers/{customerId}", read),
    ("PATCH", "/customers/{customerId}", change),
]
