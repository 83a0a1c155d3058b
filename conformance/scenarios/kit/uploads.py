"""Uploads of verification documents: statuses of refusals, and errors of a submission."""

from __future__ import annotations

from conformance.platform.platform import Platform
from conformance.platform.resource import Json, Resource, arranged_body

UNFIT = (400, 413, 415, 422)

"""The statuses of a refused form or file; 422 is for documents whose content was examined."""


def errors_about(platform: Platform, holder: Resource) -> list[Json]:
    """Submit a customer for review, and return the errors whose resourceId is the customer's."""
    ready = platform.verification.contact.ready(holder)
    submission = arranged_body(platform.verification.reviews.submit(ready))
    return [error for error in submission["errors"] if error.get("resourceId") == holder["id"]]


def kind_of(error: Json) -> tuple[object, object]:
    """Return the type and the field of an error of a submission."""
    return error.get("type"), error.get("field")
