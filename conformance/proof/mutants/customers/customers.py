"""Mutants of platforms' own ids for customers, and of reading one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlalchemy import func, select

from conformance.proof.kit.builders import Handler, around, edited, invented, receives
from conformance.proof.kit.edits import as_number, put, turned
from conformance.proof.kit.identifiers import declare_lookups, of_type, owner_of
from conformance.proof.kit.tables import with_status
from conformance.proof.mutant import declare, mutant
from conformance.proof.patch import Apply, Patch
from conformance.reference import errors
from conformance.reference.customers import customers, onboarding
from conformance.reference.store import Customer
from conformance.reference.unit import Ask, Unit

# --- Platforms' own ids ---------------------------------------------------------------------


def creating(then: Callable[[Unit, Customer], None]) -> Apply:
    """Return a patch after which something is done to each new customer."""

    def create(original: Handler, unit: Unit, ask: Ask) -> Any:
        body = original(unit, ask)
        unit.session.flush()
        customer = customers.get(unit, body["id"])
        then(unit, customer)
        return customers.view(customer)

    return around(onboarding, "create", create)


def _own_id(_unit: Unit, customer: Customer) -> None:
    customer.platform_customer_id = customer.id


def _address_of_id(_unit: Unit, customer: Customer) -> None:
    customer.uma_address = f"${customer.platform_customer_id}@uma.example"


declare("CUS-012", "replaced", "the id is generated always", creating(_own_id))
declare(
    "CUS-017",
    "address-of-id",
    "the UMA address follows from the platformCustomerId",
    creating(_address_of_id),
)


for _name, _statement, _change in (
    ("number", "of digits is a number", as_number),
    ("lower-case", "is shown in lower case", str.lower),
):
    declare(
        "CUS-012",
        _name,
        f"a platformCustomerId {_statement}",
        edited(customers, "view", turned("platformCustomerId", _change)),
    )


def _own_id_of_business(unit: Unit, customer: Customer) -> None:
    if customer.customer_type == "BUSINESS":
        _own_id(unit, customer)


declare(
    "CUS-012",
    "of-a-business",
    "the id of a business is generated always",
    creating(_own_id_of_business),
)


def _none_of_business(_unit: Unit, customer: Customer) -> None:
    if customer.customer_type == "BUSINESS" and customer.platform_customer_id.startswith(
        "platform-"
    ):
        customer.platform_customer_id = ""


declare("CUS-013", "of-a-business", "none is generated for a business", creating(_none_of_business))


def _another_at_first(original: Handler, unit: Unit, ask: Ask) -> Any:
    answer = original(unit, ask)
    own_id = ask.body.get("platformCustomerId") or onboarding.generated_platform_id()
    return {**answer, "platformCustomerId": own_id}


declare(
    "CUS-013",
    "answer-alone",
    "the answer to the creation shows an id that is not kept",
    around(onboarding, "create", _another_at_first),
)


@mutant("CUS-013", "none is generated")
def none_generated(patch: Patch) -> None:
    patch.replace(onboarding, "generated_platform_id", str)


@mutant("CUS-014", "the same is generated for all")
def one_for_all(patch: Patch) -> None:
    patch.replace(onboarding, "generated_platform_id", lambda: "default")


def on_known_id(
    answer: Callable[[Customer], Any],
    *,
    business: bool = False,
    member: str = "platformCustomerId",
) -> Apply:
    """Return a patch after which a ``member`` that is known of another customer is answered so.

    With ``business`` that holds for businesses alone.
    """

    def apply(patch: Patch) -> None:
        # Tests send the same ids in every run, so that those of earlier ones do not count.
        known: dict[str, str] = {}

        def create(original: Handler, unit: Unit, ask: Ask) -> Any:
            shared = ask.body.get(member)
            concerned = not business or ask.body.get("customerType") == "BUSINESS"
            if concerned and shared in known:
                return answer(customers.get(unit, known[shared]))
            body = original(unit, ask)
            known[shared or body["platformCustomerId"]] = body["id"]
            return body

        patch.wrap(onboarding, "create", create)

    return apply


def _taken(_customer: Customer) -> None:
    raise errors.Refusal("CONFLICT", "Another customer has this platformCustomerId.")


declare("CUS-015", "unique", "a platformCustomerId is unique", on_known_id(_taken))
declare(
    "CUS-015",
    "of-one-type",
    "a business and an individual share no platformCustomerId",
    on_known_id(_taken, business=True),
)


def _number(unit: Unit, customer: Customer) -> None:
    own = customer.platform_customer_id
    query = select(func.count()).where(Customer.platform_customer_id == own)
    if (number := unit.session.scalars(query).one()) > 1:
        customer.platform_customer_id = f"{own}-{number}"


declare(
    "CUS-015", "numbered", "the next one of a platformCustomerId is numbered", creating(_number)
)
declare("CUS-016", "same", "the customer known by it is answered", on_known_id(customers.view))
declare(
    "CUS-803",
    "same",
    "the customer known by its identification number is answered",
    on_known_id(customers.view, member="identifier"),
)


# --- Customers and accounts -----------------------------------------------------------------


READS = (("CUS-005", "CUS-006", (onboarding, "read"), "customerId", "CUSTOMER"),)

for found, missed, place, parameter, kind in READS:
    declare(found, "another", "another one is answered", edited(*place, put("id", f"{kind}:1")))
    declare(missed, "invented", "one that does not exist is answered", invented(*place, parameter))
    declare(missed, "bad-request", "it is a bad request", with_status(f"{kind}_NOT_FOUND", 400))

declare(
    "CUS-008",
    "type-assumed",
    "a customer without a type is taken for an individual",
    receives(onboarding, "create", lambda body: {"customerType": "INDIVIDUAL", **body}),
)
declare_lookups(
    (
        ("CUS-800", "read", (onboarding, "read"), "customerId", owner_of),
        ("CUS-801", "changed", (onboarding, "update"), "customerId", owner_of),
        ("CUS-800", "any-type", (onboarding, "read"), "customerId", of_type("Customer")),
        ("CUS-801", "any-type", (onboarding, "update"), "customerId", of_type("Customer")),
    )
)
