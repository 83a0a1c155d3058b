"""Uploads of documents, and what a review says about them."""

from __future__ import annotations

from conformance.platform.platform import Platform
from conformance.platform.resource import Json, Resource, arranged_body

UNFIT = (400, 413, 415, 422)

"""How a form or a file that breaks a rule may be refused; the last is for looked-at documents."""


def errors_about(platform: Platform, holder: Resource) -> list[Json]:
    """Submit a customer and return the errors that are about it."""
    submission = arranged_body(platform.verification.reviews.submit(holder))
    return [error for error in submission["errors"] if error.get("resourceId") == holder["id"]]


def kind_of(error: Json) -> tuple[object, object]:
    """Return what an error of a submission is about."""
    return error.get("type"), error.get("field")
