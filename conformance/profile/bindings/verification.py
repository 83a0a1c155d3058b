"""Bindings of the verification of customers."""

from __future__ import annotations

from typing import Any

from pydantic import (
    Field,
)

from conformance.profile.part import ProfilePart


class VerificationBindings(ProfilePart):
    """What the specification leaves open of the verification of customers."""

    owner: dict[str, Any] = Field(
        default_factory=dict,
        description="Members merged into every beneficial owner that is created.",
    )
    control_role: str = Field(
        "CONTROL_PERSON", description="The role of the person who controls a business."
    )
    contact_region: str = Field(
        "DE", description="The region of a customer whose contact channels have to be verified."
    )
    contact_code: str = Field(
        "123456",
        description="The one-time code that the sandbox sends to a mail address or phone, where "
        "`contact.code` tells none; a guess, whose refusal breaks nothing, where the profile "
        "does not say it.",
    )
    contact_wrong_code: str = Field(
        "000000", description="A one-time code that is always wrong for a mail address or phone."
    )
    redirect_uri: str = Field(
        "https://platform.example/onboarding/done", description="The `redirectUri` of hosted flows."
    )
