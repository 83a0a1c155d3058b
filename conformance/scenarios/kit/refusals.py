"""Refusals of faulty requests: their statuses, their codes, and the fields that they name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from conformance.exchange.answer import Answer
from conformance.platform.platform import Platform
from conformance.platform.resource import Json, arranged_resource
from conformance.testdata.examples import Change, Example
from conformance.text.paths import value_at
from conformance.verdict.decisions import FeatureUndeclared, PreconditionFailed, ResourceMissing

REFUSED = (400, 422)
"""The statuses of a refusal for a fault in a body."""

INVALID = ("INVALID_INPUT", "INVALID_REQUEST_FORMAT")
"""The codes that any invalid request may be refused with."""

WRONG_AMOUNT = ("INVALID_AMOUNT", "AMOUNT_OUT_OF_RANGE", *INVALID)
"""The codes of an amount that cannot be moved."""

TOO_LARGE = (
    "TRANSACTION_SIZE_LIMIT_EXCEEDED",
    "INSUFFICIENT_FUNDS",
    "DAILY_VOLUME_LIMIT_EXCEEDED",
)
"""The codes of an amount that is more than somebody may move."""


def expect_refused_or_reported(
    platform: Platform, answer: Answer, twin: Answer, *, late: bool = False
) -> None:
    """Assert that a fault in a customer's data is refused at once, or reported by its submission.

    A conforming service may check the data of a customer when it takes them or when the customer is
    submitted for review. Where a regulated target has no submission, it has to refuse them at once.

    Args:
        platform: the suite in the part of a platform.
        answer: the answer to the creation or the update of a customer with the fault.
        twin: the answer to the same request for another customer without the fault.
        late: whether the submission may refuse the fault even where the suite can make none.

    Raises:
        FeatureUndeclared: the fault is accepted, and only the hosted flow could refuse it.
        PreconditionFailed: the submission without the fault is refused as well.
    """
    __tracebackhide__ = True
    features = platform.profile.features
    is_final = features.declares("regulated") and not (features.direct_onboarding or late)
    if not answer.accepted or is_final:
        answer.refused(*REFUSED, twin=twin)
        return
    if not features.direct_onboarding:
        because = "whether the hosted flow refuses it is not for the suite to see"
        raise FeatureUndeclared("direct_onboarding", because=because)
    submission = _submit_whole(platform, answer)
    twin_submission = _submit_whole(platform, twin)
    if not submission.accepted:
        submission.refused(*REFUSED, twin=twin_submission)
        return
    if not twin_submission.accepted:
        raise PreconditionFailed(f"without the fault the submission is refused: {twin_submission}")
    assert submission_errors(submission) - submission_errors(twin_submission), (
        f"the fault was taken, and its submission does not complain: {submission}"
    )


def _submit_whole(platform: Platform, answer: Answer) -> Answer:
    """Submit a customer with what its review surely needs; return the last answer.

    What is wrong may be told once nothing is missing.
    """
    reviews = platform.verification.reviews
    customer = platform.verification.contact.ready(arranged_resource(answer))
    if customer.get("customerType") == "BUSINESS" or customer.get("kybStatus"):
        with suppress(PreconditionFailed, ResourceMissing):
            reviews.prepare_business(customer)
    return reviews.submit_with_documents(customer)


def submission_errors(submission: Answer) -> set[tuple[str, str]]:
    """Return the type and the field of each error of a submission."""
    errors = submission.body.get("errors") if isinstance(submission.body, Mapping) else None
    return {
        (str(error.get("type")), str(error.get("field")))
        for error in errors or ()
        if isinstance(error, Mapping)
    }


def listed_errors(refusal: Answer) -> list[Json]:
    """Return the entries of ``details.errors`` of a refusal.

    Raises:
        ResourceMissing: there are no entries, and none are required: the code of the refusal is not
            INVALID_INPUT.
    """
    errors = field_errors(refusal)
    if not errors and refusal.code != "INVALID_INPUT":
        raise ResourceMissing(f"{refusal.operation.id} was answered with {refusal.code}")
    return [entry for entry in errors or () if isinstance(entry, Mapping)]


def expect_code(refusal: Answer, statuses: Mapping[str, int], *, twin: Answer) -> None:
    """Assert that a request was refused with one of several codes, and with the status of that one.

    Args:
        refusal: the answer to the request with the fault.
        statuses: the HTTP status of each code that fits.
        twin: the answer to the same request without the fault.

    Raises:
        TwinRefused: the twin was refused as well.
    """
    __tracebackhide__ = True
    refusal.refused(*statuses, twin=twin)
    refusal.refused(statuses[str(refusal.code)], twin=twin)


def require_refusal(answer: Answer) -> None:
    """Raise ``ResourceMissing`` where a request was accepted.

    Another requirement decides whether it has to be refused.
    """
    if answer.accepted:
        raise ResourceMissing(f"it was not refused: {answer}")


def field_errors(refusal: Answer) -> Any:
    """Return ``details.errors`` of a refusal, whether it is a list or not; None without it."""
    details = refusal.body.get("details") if isinstance(refusal.body, Mapping) else None
    return details.get("errors") if isinstance(details, Mapping) else None


def names(refusal: Answer, *members: str) -> bool:
    """Return whether an entry of ``details.errors`` of a refusal names one of ``members``."""
    return any(last_name(entry.get("field")) in members for entry in listed_errors(refusal))


def names_fault(refusal: Answer, sample: Example, change: Change) -> bool:
    """Return whether an entry of ``details.errors`` names the member that was sent otherwise.

    Where that is an object, those of its members that are no longer there may be named instead.
    """
    if names(refusal, *change.names):
        return True
    name = change.member.rpartition(".")[2]
    is_object = isinstance(value_at(sample.customer, change.member), Mapping)
    return is_object and names_within(refusal, name)


def names_within(refusal: Answer, member: str) -> bool:
    """Return whether an entry of ``details.errors`` names an object, or one of its members."""
    return any(member in path_names(entry.get("field")) for entry in listed_errors(refusal))


def last_name(path: object) -> str:
    """Return the last name along a path, or an empty text without one."""
    names_on_path = path_names(path)
    return names_on_path[-1] if names_on_path else ""


def path_names(path: object) -> list[str]:
    """Return the names along a path, without the indexes of lists."""
    return re.findall(r"[A-Za-z_]\w*", str(path))


NOT_FOUND = (400, 404, 422)

"""The statuses of a refusal for an id that nothing has, or a resource of another kind."""
