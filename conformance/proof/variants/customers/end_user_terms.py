"""Conforming variants of the end-user terms and their acceptance."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from conformance.proof.kit.builders import Json, before, edited
from conformance.proof.kit.tables import with_status
from conformance.proof.patch import Apply, Function, Patch
from conformance.proof.variant import declare, variant
from conformance.reference import errors, rules
from conformance.reference.customers import customers, onboarding
from conformance.reference.quotes import parties
from conformance.reference.unit import Ask, Unit


@variant("N071", "the terms say more, and some of it in an object", "onboarding")
def more_terms(patch: Patch) -> None:
    more = {"publishedAt": "2025-10-01T00:00:00Z", "languages": ["en"]}
    edited(
        onboarding, "terms", lambda body: {"version": body["version"], "documents": body, **more}
    )(patch)


@variant("N071", "the version of the terms is a number", "other onboarding")
def numbered_terms(patch: Patch) -> None:
    edited(onboarding, "terms", lambda body: {**body, "version": 7})(patch)

    def own(accepted_terms: Function, unit: Unit, body: Json) -> Any:
        consent = body.get("endUserTermsConsent")
        if consent is None or consent["termsVersion"] != 7:
            return accepted_terms(unit, body)
        return consent

    patch.wrap(onboarding, "accepted_terms", own)
    version = "endUserTermsConsent.termsVersion"
    rows = tuple(row for row in rules.CUSTOMER_FIELDS if row.path != version)
    patch.replace(rules, "CUSTOMER_FIELDS", rows)


_DATE = re.compile(r"\d{4}-\d\d-\d\d")


@variant(
    "N071",
    "what is no date is no version of the terms",
    "further onboarding",
    (onboarding, "accepted_terms"),
    before,
)
def dated_terms(_unit: Unit, body: Json) -> None:
    consent = body.get("endUserTermsConsent")
    if isinstance(consent, dict) and not _DATE.fullmatch(str(consent.get("termsVersion"))):
        path = "endUserTermsConsent.termsVersion"
        raise errors.invalid_input(errors.field_error(path, "Expected a date."))


@variant(
    "N197",
    "the terms are accepted once",
    "last onboarding",
    (onboarding, "update"),
    before,
)
def accepted_once(unit: Unit, ask: Ask) -> None:
    names_consent = isinstance(ask.body, dict) and "endUserTermsConsent" in ask.body
    if names_consent and customers.get(unit, ask.params["customerId"]).consent:
        raise errors.Refusal("CONFLICT", "The terms are accepted already.")


def _consent(change: Callable[[Json], Any]) -> Apply:
    def edit(body: Json) -> Json:
        consent = body.get("endUserTermsConsent")
        return body if not consent else {**body, "endUserTermsConsent": change(consent)}

    return edited(customers, "view", edit)


declare(
    "M77",
    "acceptance-with-offset",
    "the moment of an acceptance ends in +00:00",
    _consent(lambda c: {**c, "acceptedAt": c["acceptedAt"].replace("Z", "+00:00")}),
    "onboarding",
)
declare(
    "N051",
    "acceptance-by-other-names",
    "an acceptance is shown under other names",
    _consent(lambda c: {"at": c["acceptedAt"], "version": c["termsVersion"]}),
    "other onboarding",
)
declare(
    "N001",
    "acceptance-hidden",
    "a customer does not show its acceptance",
    _consent(lambda _: None),
    "further onboarding",
)

for _status, _group in ((400, "codes"), (409, "other codes"), (422, "forms")):
    declare(
        "M25",
        f"terms-{_status}",
        f"quotes before the acceptance of the terms are refused with {_status}",
        with_status("END_USER_TERMS_NOT_ACCEPTED", _status),
        _group,
    )


@variant(
    "M26",
    "the owner of the destination has to accept the terms too",
    "codes",
    (parties, "destination_of"),
)
def terms_of_the_receiver(destination_of: Function, unit: Unit, destination: Json) -> parties.Party:
    party: parties.Party = destination_of(unit, destination)
    if party.customer_id is not None:
        customers.refuse_without_terms(customers.get(unit, party.customer_id))
    return party
