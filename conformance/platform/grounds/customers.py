"""The grounds of the operations of customers."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from conformance.platform.grounds.ground import Ground
from conformance.platform.grounds.shared import approved_customer, members_of, path_of_customer
from conformance.platform.platform import Platform


def _create_customer(platform: Platform) -> Ground:
    body = platform.customers.body(endUserTermsConsent=platform.customers.terms_consent())
    return Ground(body=body, twin=lambda: platform.api.create_customer(body))


def _update_customer(platform: Platform) -> Ground:
    customer = approved_customer(platform)
    return Ground(
        path={"customerId": customer["id"]},
        right={"fullName": platform.samples.full_name()},
        state=members_of(platform, customer, "fullName"),
    )


GROUNDS: Mapping[str, Callable[[Platform], Ground]] = {
    "createCustomer": _create_customer,
    "getCustomer": path_of_customer,
    "updateCustomer": _update_customer,
}
