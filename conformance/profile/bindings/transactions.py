"""Bindings of transactions."""

from __future__ import annotations

from pydantic import (
    Field,
)

from conformance.profile.part import ProfilePart


class TransactionBindings(ProfilePart):
    """What the specification leaves open of transactions."""

    transactions_of_customer: str | None = Field(
        "customerId",
        description="The query parameter of `GET /transactions` that keeps to one customer; null "
        "where there is none.",
    )
