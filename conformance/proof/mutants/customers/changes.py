"""Mutants of changes of customers."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from sqlalchemy import select

from conformance.proof.kit.builders import Handler, Json, around, edited, instead, receives
from conformance.proof.kit.edits import put, replaced, turned, without
from conformance.proof.mutant import declare, mutant
from conformance.proof.mutants.customers.toolkit import (
    FIRST_CATEGORY,
    INFO,
    has,
    refusing,
    unchecked,
)
from conformance.proof.mutants.quotes.toolkit import in_two_steps
from conformance.proof.patch import Patch
from conformance.reference import errors, rules
from conformance.reference.customers import customers, onboarding
from conformance.reference.service import Service
from conformance.reference.store import Customer
from conformance.reference.unit import Ask, Unit

CONSENT = "endUserTermsConsent"

DUE_DILIGENCE = ("annualIncomeRange", "netWorthRange", "pepStatus", "purposeOfAccount")


def _as_before(original: Handler, unit: Unit, ask: Ask) -> Any:
    before = customers.view(customers.get(unit, ask.params["customerId"]))
    original(unit, ask)
    return before


def _not_kept(_original: Handler, unit: Unit, ask: Ask) -> Any:
    return {**customers.view(customers.get(unit, ask.params["customerId"])), **ask.body}


def _replaced(original: Handler, unit: Unit, ask: Ask) -> Any:
    original(unit, ask)
    customer = customers.get(unit, ask.params["customerId"])
    customer.details = dict(ask.body)
    return customers.view(customer)


def _elsewhere_too(original: Handler, unit: Unit, ask: Ask) -> Any:
    answer = original(unit, ask)
    for customer in unit.session.scalars(select(Customer)):
        customer.details = {**customer.details, **ask.body}
    return answer


def _of_the_newest(original: Handler, unit: Unit, ask: Ask) -> Any:
    newest = unit.session.scalars(select(Customer).order_by(Customer.created_at.desc())).first()
    customer = customers.get(unit, ask.params["customerId"])
    before = customer.details
    answer = original(unit, ask)
    if newest is not None and newest is not customer:
        customer.details, newest.details = before, {**newest.details, **ask.body}
    return answer


def _in_part(original: Handler, unit: Unit, ask: Ask) -> Any:
    try:
        return original(unit, ask)
    except errors.Refusal as refusal:
        if refusal.code == "INVALID_INPUT" and "email" in ask.body:
            customer = customers.get(unit, ask.params["customerId"])
            customer.details = {**customer.details, "email": ask.body["email"]}
            unit.session.commit()
        raise


declare(
    "CUS-027",
    "nothing",
    "a change is answered with nothing of use",
    edited(onboarding, "update", lambda _: {}),
)
declare(
    "CUS-027",
    "other-id",
    "a change makes another customer",
    edited(onboarding, "update", put("id", "Customer:0")),
)
declare(
    "CUS-028",
    "as-before",
    "the answer is the customer before the change",
    around(onboarding, "update", _as_before),
)
declare(
    "CUS-029",
    "not-kept",
    "a change is answered and not kept",
    around(onboarding, "update", _not_kept),
)
declare(
    "CUS-030",
    "replaced",
    "a change takes away what it does not send",
    around(onboarding, "update", _replaced),
)
declare(
    "CUS-031",
    "elsewhere",
    "a change is made to all customers",
    around(onboarding, "update", _elsewhere_too),
)
declare(
    "CUS-031",
    "of-the-newest",
    "a change is made to the customer who was created last",
    around(onboarding, "update", _of_the_newest),
)
declare(
    "CUS-032",
    "in-part",
    "what is right of a refused change is kept",
    around(onboarding, "update", _in_part),
)


def _unheard_of_businesses(member: str) -> Callable[..., Any]:
    def update(original: Handler, unit: Unit, ask: Ask) -> Any:
        customer = customers.get(unit, ask.params["customerId"])
        if customer.customer_type == "BUSINESS" and isinstance(ask.body, dict):
            return original(unit, replace(ask, body=without(member)(ask.body)))
        return original(unit, ask)

    return update


for _id, _member in (
    ("CUS-038", "email"),
    ("CUS-039", "phoneNumber"),
    ("CUS-802", "platformCustomerId"),
    ("CUS-810", "region"),
):
    declare(
        _id,
        "of-business",
        f"the {_member} of a business stays as it is",
        around(onboarding, "update", _unheard_of_businesses(_member)),
    )

CHANGEABLE = {
    "fullName": "CUS-034",
    "birthDate": "CUS-035",
    "nationality": "CUS-036",
    "address": "CUS-037",
    "email": "CUS-038",
    "phoneNumber": "CUS-039",
    "currencies": "CUS-040",
    INFO: "BUS-024",
}

for _member, _id in CHANGEABLE.items():
    declare(
        _id,
        "fixed",
        f"{_member} cannot be changed",
        refusing((onboarding, "update"), _member, has(_member)),
    )

FOLLOWING = {
    "platformCustomerId": "CUS-802",
    "region": "CUS-810",
    "sourceOfFundsCategories": "EDD-026",
    "sourceOfWealthCategories": "EDD-027",
    "purposeOfAccount": "EDD-028",
    "expectedMonthlyTransactionCount": "EDD-029",
    "expectedMonthlyTransactionVolume": "EDD-030",
    "annualIncomeRange": "EDD-031",
    "netWorthRange": "EDD-032",
    "pepStatus": "EDD-033",
}

for _member, _id in (CHANGEABLE | FOLLOWING).items():
    declare(
        _id,
        "ignored",
        f"{_member} is not changed",
        receives(onboarding, "update", without(_member)),
    )

for _id, _member in (
    ("EDD-026", "sourceOfFundsCategories"),
    ("EDD-027", "sourceOfWealthCategories"),
):
    declare(
        _id,
        "first-alone",
        f"an update keeps the first of several {_member}",
        receives(onboarding, "update", turned(_member, lambda categories: categories[:1])),
    )

declare(
    "CUS-041",
    "fixed",
    "no number can follow",
    refusing((onboarding, "update"), "idType", has("idType")),
)

for _id, _path in (
    ("CUS-150", "birthDate"),
    ("CUS-151", "nationality"),
    ("CUS-152", "address.country"),
    ("CUS-153", "idType"),
    ("CUS-154", "identifier"),
    ("CUS-618", "identifier"),
    ("BUS-090", f"{INFO}.country"),
    ("BUS-091", f"{INFO}.incorporatedOn"),
    ("BUS-092", f"{INFO}.taxId"),
):
    declare(_id, "unchecked", f"changes do not look at {_path}", unchecked(_path))


def _loose_dates(pattern: str) -> Callable[..., Any]:
    """Return rules of a change that take a birthDate of another form."""

    def change_rules(original: Callable[..., Any], wanted: Any) -> Any:
        loose = isinstance(wanted, dict) and re.fullmatch(pattern, str(wanted.get("birthDate")))
        return [row for row in original(wanted) if not (loose and row.path == "birthDate")]

    return change_rules


for _name, _pattern in (
    ("strokes", r"\d\d/\d\d/\d{4}"),
    ("words", r"[a-z ]+"),
    ("month-13", r"\d{4}-13-\d\d"),
):
    declare(
        "CUS-150",
        _name,
        f"a change may be to a birthDate of another form ({_name})",
        around(onboarding, "change_rules", _loose_dates(_pattern)),
    )


def _held_to_what_is_sent(member: str, name: str) -> Callable[..., Any]:
    """Return a handler that looks at one member of an object where all of it is sent."""

    def update(original: Handler, unit: Unit, ask: Ask) -> Any:
        sent = ask.body.get(member) if isinstance(ask.body, dict) else None
        if not isinstance(sent, dict) or sent.keys() != {name}:
            return original(unit, ask)
        customer = customers.get(unit, ask.params["customerId"])
        customer.details = {**customer.details, member: {**customer.details[member], **sent}}
        return customers.view(customer)

    return update


for _id, _member, _name in (
    ("BUS-090", INFO, "country"),
    ("BUS-091", INFO, "incorporatedOn"),
    ("BUS-092", INFO, "taxId"),
    ("BUS-093", INFO, "taxId"),
    ("CUS-152", "address", "country"),
):
    declare(
        _id,
        "alone",
        f"the {_name} of a changed {_member} is not looked at where it comes alone",
        around(onboarding, "update", _held_to_what_is_sent(_member, _name)),
    )

for _id in ("CUS-155", "EDD-024", "EDD-025"):
    declare(
        _id,
        "unchecked",
        "changes do not look at names and descriptions",
        instead(onboarding, "change_errors", lambda _: []),
    )


declare(
    "CUS-034",
    "two-words",
    "a change is to a fullName of two words alone",
    refusing(
        (onboarding, "update"), "fullName", lambda body: len(str(body.get("fullName")).split()) > 2
    ),
)


def _null_describes(original: Callable[..., list[Json]], wanted: Any) -> list[Json]:
    descriptions = rules.OTHER_DESCRIPTIONS.values()
    emptied = [name for name in descriptions if name in wanted and wanted[name] is None]
    return [error for error in original(wanted) if error["field"] not in emptied]


for _id in ("EDD-024", "EDD-025"):
    declare(
        _id,
        "null",
        "a change takes the description of OTHER away with null",
        around(onboarding, "change_errors", _null_describes),
    )


def _without_the_type(original: Callable[..., Json], customer: Customer, body: Json) -> Json:
    wanted = original(customer, body)
    return wanted if "idType" in body else without("idType")(wanted)


declare(
    "CUS-154",
    "alone",
    "an identifier is held to the idType that comes with it alone",
    around(onboarding, "combined", _without_the_type),
)

for _id in ("EDD-024", "EDD-025"):
    declare(_id, "first", "OTHER counts where it is the first category", FIRST_CATEGORY)


@mutant("CUS-970", "a change writes back all that it read before others have changed it")
def all_written_back(patch: Patch) -> None:
    def look(unit: Unit, ask: Ask) -> tuple[Ask, Any]:
        return ask, customers.get(unit, ask.params["customerId"]).details

    def act(unit: Unit, seen: tuple[Ask, Any]) -> Any:
        ask, details = seen
        customers.get(unit, ask.params["customerId"]).details = details
        return onboarding.update(unit, ask)

    patch.wrap(Service, "serve", in_two_steps(onboarding.update, look, act))


# --- Of whom, of what, and where it is shown ------------------------------------------------


def _of_old(name: str) -> Callable[..., Any]:
    """Return what answers to a change with one member as it was before."""

    def update(original: Handler, unit: Unit, ask: Ask) -> Any:
        before = customers.view(customers.get(unit, ask.params["customerId"]))
        return {**original(unit, ask), name: before.get(name)}

    return update


for _member in ("address", INFO):
    declare(
        "CUS-028",
        f"{_member}-as-before",
        f"the answer shows the {_member} before the change",
        around(onboarding, "update", _of_old(_member)),
    )
declare(
    "CUS-027",
    "other-type",
    "the answer to each change shows an individual",
    edited(onboarding, "update", put("customerType", "INDIVIDUAL")),
)


def _business_replaced(original: Handler, unit: Unit, ask: Ask) -> Any:
    answer = original(unit, ask)
    if answer["customerType"] != "BUSINESS":
        return answer
    return _replaced(lambda *_: None, unit, ask)


declare(
    "CUS-030",
    "of-a-business",
    "a change of a business takes away what it does not send",
    around(onboarding, "update", _business_replaced),
)


declare(
    "CUS-037",
    "parts-lost",
    "a change of an address takes no second line and no state",
    receives(onboarding, "update", without("address.line2", "address.state")),
)


def _not_of_a_business(member: str) -> Callable[[Handler, Unit, Ask], Any]:
    """Return a handler of changes that leaves out one member of a business."""

    def update(original: Handler, unit: Unit, ask: Ask) -> Any:
        customer = customers.get(unit, ask.params["customerId"])
        if customer.customer_type != "BUSINESS" or not isinstance(ask.body, dict):
            return original(unit, ask)
        rest = {name: value for name, value in ask.body.items() if name != member}
        return original(unit, replace(ask, body=rest))

    return update


for _requirement, _member in (("CUS-037", "address"), ("CUS-040", "currencies")):
    declare(
        _requirement,
        f"{_member}-of-a-business",
        f"the {_member} of a business cannot be changed",
        around(onboarding, "update", _not_of_a_business(_member)),
    )


@mutant("CUS-030", "a change takes away the sources of funds that it does not send")
def sources_dropped(patch: Patch) -> None:
    def update(original: Handler, unit: Unit, ask: Ask) -> Any:
        original(unit, ask)
        customer = customers.get(unit, ask.params["customerId"])
        kept = {
            name: value
            for name, value in customer.details.items()
            if name in ask.body or not name.startswith("sourceOfFunds")
        }
        customer.details = kept
        return customers.view(customer)

    patch.wrap(onboarding, "update", update)


@mutant("CUS-030", "each change generates the platform's id anew where it was not sent")
def id_generated_again(patch: Patch) -> None:
    def update(original: Handler, unit: Unit, ask: Ask) -> Any:
        original(unit, ask)
        customer = customers.get(unit, ask.params["customerId"])
        if customer.platform_customer_id.startswith("platform-"):
            customer.platform_customer_id = onboarding.generated_platform_id()
        return customers.view(customer)

    patch.wrap(onboarding, "update", update)


def _unrolled(name: str) -> Callable[..., Any]:
    """Return what keeps a refused change of one member."""

    def update(original: Handler, unit: Unit, ask: Ask) -> Any:
        try:
            return original(unit, ask)
        except errors.Refusal as refusal:
            if refusal.code == "INVALID_INPUT" and name in ask.body:
                customer = customers.get(unit, ask.params["customerId"])
                customer.details = {**customer.details, **ask.body}
                unit.session.commit()
            raise

    return update


for _member in ("fullName", "identifier", "sourceOfFundsCategories", INFO):
    declare(
        "CUS-032",
        f"{_member}-kept",
        f"a change is kept before its {_member} is refused",
        around(onboarding, "update", _unrolled(_member)),
    )


@mutant("CUS-040", "the currencies of approved customers stay as they are")
def currencies_of_approved(patch: Patch) -> None:
    def update(original: Handler, unit: Unit, ask: Ask) -> Any:
        customer = customers.get(unit, ask.params["customerId"])
        before = list(customer.currencies)
        original(unit, ask)
        if customer.status == "APPROVED":
            customer.currencies = before
        return customers.view(customer)

    patch.wrap(onboarding, "update", update)


@mutant("CUS-040", "currencies are added and never taken away")
def currencies_added(patch: Patch) -> None:
    def update(original: Handler, unit: Unit, ask: Ask) -> Any:
        before = list(customers.get(unit, ask.params["customerId"]).currencies)
        original(unit, ask)
        customer = customers.get(unit, ask.params["customerId"])
        customer.currencies = list(dict.fromkeys([*before, *customer.currencies]))
        return customers.view(customer)

    patch.wrap(onboarding, "update", update)


for _member in ("taxId", "incorporatedOn", "registrationNumber", "primaryContactLastName"):
    declare(
        "BUS-024",
        f"{_member}-ignored",
        f"the {_member} of a business is not changed",
        receives(onboarding, "update", without(f"{INFO}.{_member}")),
    )


def _sent_categories(original: Callable[..., Json], customer: Customer, body: Json) -> Any:
    known = {"sourceOfFundsCategories", "sourceOfWealthCategories"} - body.keys()
    return without(*known)(original(customer, body))


for _id in ("EDD-024", "EDD-025"):
    declare(
        _id,
        "sent-alone",
        "a description is asked for by the categories alone that come with it",
        around(onboarding, "combined", _sent_categories),
    )


def _pattern_alone(patch: Patch) -> None:
    def rules_of(original: Callable[..., Any], wanted: Any) -> Any:
        return [row for row in original(wanted) if row.when != (f"{INFO}.country", "US")]

    patch.wrap(onboarding, "change_rules", rules_of)


declare("BUS-093", "any-country", "a new taxId may be that of any country", _pattern_alone)


def _name_of_another(original: Handler, unit: Unit, ask: Ask) -> Any:
    answer = original(unit, ask)
    return answer if "fullName" in ask.body else replaced("region", "CA")(answer)


declare(
    "CUS-027",
    "other-region",
    "the answer to a change shows another region than the customer has",
    around(onboarding, "update", _name_of_another),
)
declare(
    "CUS-041",
    "not-kept",
    "a number that follows is not kept",
    receives(onboarding, "update", without("idType", "identifier")),
)


def _number_from_before(original: Handler, unit: Unit, ask: Ask) -> Any:
    customer = customers.get(unit, ask.params["customerId"])
    before = {"identifier": customer.details["identifier"]}
    answer = original(unit, ask)
    customer.details = {**customer.details, **before}
    return answer


declare(
    "CUS-084",
    "kept-from-before",
    "a change of the identification number keeps the one from before",
    around(onboarding, "update", _number_from_before),
)


def _of_all_who_share(original: Handler, unit: Unit, ask: Ask) -> Any:
    answer = original(unit, ask)
    own_id = customers.get(unit, ask.params["customerId"]).platform_customer_id
    query = select(Customer).where(Customer.platform_customer_id == own_id)
    for customer in unit.session.scalars(query):
        customer.details = {**customer.details, **ask.body}
    return answer


declare(
    "CUS-031",
    "of-all-who-share",
    "a change is made to all customers who share a platformCustomerId",
    around(onboarding, "update", _of_all_who_share),
)


def _takes_away(sent: str, lost: str, *, business: bool = False) -> Callable[..., Any]:
    """Return a handler of changes in which one that sends a member takes another one away."""

    def update(original: Handler, unit: Unit, ask: Ask) -> Any:
        original(unit, ask)
        customer = customers.get(unit, ask.params["customerId"])
        if sent in ask.body and (customer.customer_type == "BUSINESS") == business:
            customer.details = without(lost)(customer.details)
            if lost == CONSENT:
                customer.consent = None
        return customers.view(customer)

    return update


for _sent, _lost, _business in (
    ("fullName", "pepStatus", False),
    ("address", "sourceOfWealthOtherDescription", False),
    ("birthDate", CONSENT, False),
    ("currencies", "annualIncomeRange", False),
    ("currencies", f"{INFO}.entityType", True),
    ("platformCustomerId", "email", False),
    ("identifier", "nationality", False),
    ("sourceOfFundsCategories", "birthDate", False),
    ("netWorthRange", "phoneNumber", False),
    ("pepStatus", "annualIncomeRange", False),
    ("purposeOfAccount", "sourceOfFundsCategories", False),
):
    declare(
        "CUS-030",
        f"{_sent}-without-{_lost}",
        f"a change of the {_sent} of a customer takes its {_lost} away",
        around(onboarding, "update", _takes_away(_sent, _lost, business=_business)),
    )


@mutant("CUS-030", "who moves to an address is a citizen of its country")
def naturalized(patch: Patch) -> None:
    def update(original: Handler, unit: Unit, ask: Ask) -> Any:
        original(unit, ask)
        customer = customers.get(unit, ask.params["customerId"])
        country = (ask.body.get("address") or {}).get("country")
        if country and customer.details.get("nationality"):
            customer.details = {**customer.details, "nationality": country}
        return customers.view(customer)

    patch.wrap(onboarding, "update", update)


@mutant("CUS-030", "a change takes away what the change before it told of due diligence")
def told_by_the_last_change_alone(patch: Patch) -> None:
    told: dict[str, list[str]] = {}

    def update(original: Handler, unit: Unit, ask: Ask) -> Any:
        customer = customers.get(unit, ask.params["customerId"])
        lost = [name for name in told.get(customer.id, ()) if name not in ask.body]
        customer.details = without(*lost)(customer.details)
        told[customer.id] = [name for name in ask.body if name in DUE_DILIGENCE]
        return original(unit, ask)

    patch.wrap(onboarding, "update", update)


for _member in ("currencies", "platformCustomerId"):
    declare(
        "CUS-028",
        f"{_member}-as-before",
        f"the answer shows the {_member} before the change",
        around(onboarding, "update", _of_old(_member)),
    )
