"""The grounds of the operations of verification."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from conformance.exchange.answer import Answer
from conformance.platform.given.verification import submissions_in
from conformance.platform.grounds.ground import Ground
from conformance.platform.grounds.shared import query_of_customer
from conformance.platform.platform import Platform
from conformance.platform.resource import Json


def _create_kyc_link(platform: Platform) -> Ground:
    customer = platform.customers.applicant()
    return Ground(
        path={"customerId": customer["id"]},
        body={"redirectUri": platform.profile.bindings.redirect_uri},
        headers={"Idempotency-Key": "{key}"},
        twin=lambda: platform.verification.links.create(customer),
    )


def _of_channel(channel: str) -> Callable[[Platform], Ground]:
    def confirm(platform: Platform) -> Answer:
        customer = platform.verification.contact.customer(channel)
        platform.verification.contact.arrange_code(customer, channel)
        return platform.verification.contact.confirm_code(customer, channel)

    def lay(platform: Platform) -> Ground:
        customer = platform.verification.contact.customer(channel)
        platform.verification.contact.arrange_code(customer, channel)
        return Ground(
            path={"customerId": customer["id"]},
            body={"code": platform.profile.bindings.contact_wrong_code},
            # With a customer of its own: the codes before may have locked the other one out.
            twin=lambda: confirm(platform),
            right={"code": platform.verification.contact.codes.of_contact(customer, channel)},
            state=lambda: platform.verification.contact.status(customer, channel),
        )

    return lay


def _create_owner(platform: Platform) -> Ground:
    business = platform.customers.applicant(business=True)
    body = platform.verification.owners.body(business)
    return Ground(
        live={"customerId": business["id"]},
        body=body,
        twin=lambda: platform.api.create_beneficial_owner(body),
    )


def _create_document(platform: Platform) -> Ground:
    form = platform.verification.documents.form(platform.customers.applicant(business=False))
    return Ground(
        live={name: form[name] for name in ("documentHolder", "documentType")},
        body=form,
        twin=lambda: platform.api.create_document(form),
    )


def _create_verification(platform: Platform) -> Ground:
    customer = platform.customers.applicant()
    return Ground(
        live={"customerId": customer["id"]},
        body={"customerId": customer["id"]},
        twin=lambda: platform.verification.reviews.submit(customer),
        state=lambda: _submissions(platform, customer),
    )


def _submissions(platform: Platform, customer: Json) -> int:
    """Return how many submissions are found; none may be an answer of its own."""
    answer = platform.api.list_verifications({"customerId": customer["id"]})
    return len(submissions_in(answer.body)) if answer.accepted else 0


GROUNDS: Mapping[str, Callable[[Platform], Ground]] = {
    "createKycLink": _create_kyc_link,
    "sendEmailCode": _of_channel("email"),
    "confirmEmail": _of_channel("email"),
    "sendPhoneCode": _of_channel("phone"),
    "confirmPhone": _of_channel("phone"),
    "createBeneficialOwner": _create_owner,
    "createDocument": _create_document,
    "createVerification": _create_verification,
    "listVerifications": query_of_customer,
}
