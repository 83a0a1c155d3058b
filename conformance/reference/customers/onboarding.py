"""Creating, changing and reviewing customers, and the end-user terms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from conformance.reference import errors, fields, rules
from conformance.reference.customers import customers
from conformance.reference.internal_accounts import accounts
from conformance.reference.store import Customer, Json
from conformance.reference.unit import Ask, Unit, new_id
from conformance.reference.verification import contact, sandbox

if TYPE_CHECKING:
    from collections.abc import Sequence

_DETAILS = (
    "fullName",
    "birthDate",
    "nationality",
    "address",
    "email",
    "phoneNumber",
    "idType",
    "identifier",
    "countryOfIssuance",
    "businessInfo",
    "sourceOfFundsCategories",
    "sourceOfFundsOtherDescription",
    "sourceOfWealthCategories",
    "sourceOfWealthOtherDescription",
    "purposeOfAccount",
    "expectedMonthlyTransactionCount",
    "expectedMonthlyTransactionVolume",
    "annualIncomeRange",
    "netWorthRange",
    "pepStatus",
)


def create(unit: Unit, ask: Ask) -> Json:
    """Create a customer and its internal accounts."""
    body = fields.demand(
        ask.body,
        creation_rules(ask.body),
        *name_errors(ask.body),
        *diligence_errors(ask.body),
        *contact.missing_errors(ask.body),
    )
    customer = Customer(
        id=new_id("Customer"),
        customer_type=body["customerType"],
        status=rules.INITIAL_CUSTOMER_STATUS[unit.settings.platform_model],
        platform_customer_id=body.get("platformCustomerId") or generated_platform_id(),
        uma_address=body.get("umaAddress") or f"${new_id('user').replace(':', '-')}@uma.example",
        region=body.get("region"),
        currencies=body.get("currencies") or [],
        details={name: body[name] for name in _DETAILS if body.get(name) is not None},
        consent=accepted_terms(unit, body),
        contact={},
        conditions={},
        created_at=unit.now,
        updated_at=unit.now,
    )
    contact.begin(customer)
    unit.session.add(customer)
    accounts.provision_for_customer(unit, customer.id, customer.currencies)
    outcome = sandbox.outcome_at_creation(unit, customer)
    if outcome is not None:
        decide(unit, customer, outcome)
    return customers.view(customer)


def creation_rules(body: Any) -> Sequence[rules.Field]:
    """Return the field rules of a new customer: a business has some of its own."""
    if isinstance(body, dict) and body.get("customerType") == "BUSINESS":
        return [*rules.CUSTOMER_FIELDS, *rules.BUSINESS_FIELDS]
    return rules.CUSTOMER_FIELDS


def change_rules(wanted: Any) -> Sequence[rules.Field]:
    """Return the field rules of a customer as a change would leave it: those of a new one."""
    return creation_rules(wanted)


def change_errors(wanted: Any) -> list[Json]:
    """Return the errors of a customer as a change would leave it that no field has by itself."""
    return [*name_errors(wanted), *diligence_errors(wanted)]


def combined(customer: Customer, body: Any) -> Any:
    """Return the customer's members as a change asks for them; objects are merged by member."""
    if not isinstance(body, dict):
        return body
    known = {"customerType": customer.customer_type, **customer.details}
    return {**known, **{name: overlaid(known.get(name), body[name]) for name in body}}


def overlaid(old: Any, new: Any) -> Any:
    """Return a member with what a change sends of it laid over."""
    return {**old, **new} if isinstance(old, dict) and isinstance(new, dict) else new


def name_errors(body: Any) -> list[Json]:
    """Return the error of a ``fullName`` of a single word, or of none."""
    name = body.get("fullName") if isinstance(body, dict) else None
    if not isinstance(name, str) or has_given_and_family_name(name):
        return []
    message = "Expected a given and a family name."
    return [errors.field_error("fullName", message)]


def has_given_and_family_name(name: str) -> bool:
    """Return whether a full name has at least two words; an empty one is judged elsewhere."""
    return not name or len(name.split()) > 1


def diligence_errors(body: Any) -> list[Json]:
    """Return an error for each list of categories with OTHER that has no description beside it."""
    if not isinstance(body, dict):
        return []
    message = "A description is required, as the categories include OTHER."
    return [
        errors.field_error(description, message, required=True)
        for categories, description in rules.OTHER_DESCRIPTIONS.items()
        if includes_other(body.get(categories)) and body.get(description) in (None, "")
    ]


def includes_other(categories: Any) -> bool:
    """Return whether a list of categories includes OTHER."""
    return isinstance(categories, list) and "OTHER" in categories


def generated_platform_id() -> str:
    """Return the ``platformCustomerId`` of a customer created without one."""
    return new_id("platform").replace(":", "-")


def accepted_terms(unit: Unit, body: Json) -> Json | None:
    """Return the consent in a request, or ``None``.

    Raises ``Refusal`` (END_USER_TERMS_VERSION_NOT_FOUND) when it names other terms.
    """
    consent: Json | None = body.get("endUserTermsConsent")
    if consent is not None and consent["termsVersion"] != unit.settings.terms_version:
        raise errors.Refusal(
            "END_USER_TERMS_VERSION_NOT_FOUND",
            f"Expected the version {unit.settings.terms_version}. See GET "
            "/customers/end-user-terms.",
        )
    return consent


def update(unit: Unit, ask: Ask) -> Json:
    """Change a customer; accounts in added currencies are opened."""
    customer = customers.get(unit, ask.params["customerId"], lock=True)
    wanted = combined(customer, ask.body)
    body = fields.demand(
        wanted,
        change_rules(wanted),
        *change_errors(wanted),
        *contact.missing_errors(contact.members_after(customer, ask.body)),
    )
    before = customer.details
    changes = {name: body[name] for name in _DETAILS if name in body}
    customer.details = {**customer.details, **changes}
    customer.region = body.get("region", customer.region)
    customer.currencies = body.get("currencies") or customer.currencies
    customer.platform_customer_id = body.get("platformCustomerId") or customer.platform_customer_id
    customer.uma_address = body.get("umaAddress") or customer.uma_address
    customer.consent = accepted_terms(unit, body) or customer.consent
    contact.renew(customer, before)
    customer.updated_at = unit.now
    accounts.provision_for_customer(unit, customer.id, customer.currencies)
    return customers.view(customer)


def read(unit: Unit, ask: Ask) -> Json:
    """Return a customer."""
    return customers.view(customers.get(unit, ask.params["customerId"]))


def terms(unit: Unit, _ask: Ask) -> Json:
    """Return the current end-user terms."""
    return {"version": unit.settings.terms_version, "url": unit.settings.terms_url}


def decide(unit: Unit, customer: Customer, decision: str) -> None:
    """Decide a customer's review; one that was not submitted is submitted first."""
    if customer.status == decision:
        return
    if customer.status == "UNVERIFIED":
        reach(unit, customer, "PENDING")
    if decision not in rules.REVIEW_TRANSITIONS[customer.status]:
        raise errors.Refusal(
            "INVALID_STATE_TRANSITION", f"The customer's verification is {customer.status}."
        )
    reach(unit, customer, decision)


def reopen(unit: Unit, customer: Customer) -> None:
    """Withdraw an approval: the customer is as before its submission."""
    if customer.status != "APPROVED":
        raise errors.Refusal(
            "INVALID_STATE_TRANSITION", f"The customer's verification is {customer.status}."
        )
    reach(unit, customer, "UNVERIFIED")


def reach(unit: Unit, customer: Customer, status: str) -> None:
    """Give a customer a verification status and emit its event, if it has one."""
    customer.status = status
    customer.updated_at = unit.now
    kind = rules.REVIEW_EVENTS.get((customer.customer_type, status))
    if kind is not None:
        unit.emit(kind, customers.view(customer))
