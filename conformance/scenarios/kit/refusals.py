"""How a fault in what is told about a customer is refused, and how it is named."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from conformance.exchange.answer import Answer
from conformance.platform.platform import Platform
from conformance.platform.resource import Json, arranged_resource
from conformance.verdict.decisions import FeatureUndeclared, PreconditionFailed, ResourceMissing

REFUSED = (400, 422)
"""The statuses of a refusal for a fault in a body."""

INVALID = ("INVALID_INPUT", "INVALID_REQUEST_FORMAT")
"""The codes that any invalid request may be refused with."""


def refused_or_held(
    platform: Platform, answer: Answer, twin: Answer, *, late: bool = False
) -> None:
    """Assert that a fault is refused at once, or held against the customer at its submission.

    Where an honest service looks at a customer's data first is not said: when it takes them, or
    when they are submitted for review. Where nobody is submitted it has to be at once.

    Args:
        platform: the platform.
        answer: that to the customer, or the change, with the fault.
        twin: that to another customer, or change of another one, without it.
        late: whether it may be left for a submission, even where the suite can make none.
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
    submitted = platform.verification.reviews.submit(
        platform.verification.contact.ready(arranged_resource(answer))
    )
    right = platform.verification.reviews.submit(
        platform.verification.contact.ready(arranged_resource(twin))
    )
    if not submitted.accepted:
        submitted.refused(*REFUSED, twin=right)
        return
    if not right.accepted:
        raise PreconditionFailed(f"without the fault the submission is refused: {right}")
    assert complaints(submitted) - complaints(right), (
        f"the fault was taken, and its submission does not complain: {submitted}"
    )


def complaints(submission: Answer) -> set[tuple[str, str]]:
    """Return the type and the field of each error of a submission."""
    found = submission.body.get("errors") if isinstance(submission.body, Mapping) else None
    return {
        (str(e.get("type")), str(e.get("field"))) for e in found or () if isinstance(e, Mapping)
    }


def listed(refusal: Answer) -> list[Json]:
    """Return the entries of ``details.errors`` of a refusal.

    Raises:
        ResourceMissing: it lists no fields, and does not have to, as its code is another one than
            INVALID_INPUT.
    """
    found = field_errors(refusal)
    if not found and refusal.code != "INVALID_INPUT":
        raise ResourceMissing(f"{refusal.operation.id} was answered with {refusal.code}")
    return [entry for entry in found or () if isinstance(entry, Mapping)]


def require_refusal(answer: Answer) -> None:
    """Raise ``ResourceMissing`` where nothing was refused: whether it has to be is another rule."""
    if answer.accepted:
        raise ResourceMissing(f"it was not refused: {answer}")


def field_errors(refusal: Answer) -> Any:
    """Return what stands under ``details.errors`` of a refusal, be it a list or not."""
    details = refusal.body.get("details") if isinstance(refusal.body, Mapping) else None
    return details.get("errors") if isinstance(details, Mapping) else None


def names(refusal: Answer, *members: str) -> bool:
    """Return whether the invalid fields of a refusal have one of ``members`` among them."""
    return any(last_name(entry.get("field")) in members for entry in listed(refusal))


def last_name(path: object) -> str:
    """Return the name that a path ends in, or no text."""
    found = path_names(path)
    return found[-1] if found else ""


def path_names(path: object) -> list[str]:
    """Return the names along a path; indexes of lists are none."""
    return re.findall(r"[A-Za-z_]\w*", str(path))


NOT_FOUND = (400, 404, 422)

"""What is looked for does not exist, or is no id of its kind."""
