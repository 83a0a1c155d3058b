"""Bindings of strong customer authentication and agents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import (
    Field,
)

from conformance.profile.part import ProfilePart

_PROOFS: Mapping[str, dict[str, Any]] = {
    "SMS_OTP": {"code": "{code}"},
    "TOTP": {"code": "{code}"},
    "PASSKEY": {"passkeyAssertion": {"id": "conformance"}, "origin": "{origin}"},
}


class AuthenticationBindings(ProfilePart):
    """What the specification leaves open of strong customer authentication and agents."""

    sca_region: str = Field(
        "DE", description="The region of a customer who needs strong authentication."
    )
    sca_code: str = Field(
        "123456",
        description="The one-time code that the sandbox accepts, where `sca.code` tells none; a "
        "guess, whose refusal breaks nothing, where the profile says neither it nor `sca_proofs`.",
    )
    sca_wrong_code: str = Field(
        "000000", description="A one-time code that the sandbox never accepts."
    )
    sca_proofs: dict[str, dict[str, Any]] = Field(
        default_factory=lambda: dict(_PROOFS),
        description="By factor, the body of an authorization; `{code}` is the one-time code, "
        "`{origin}` that of the base URL. That of a passkey is not shown in the specification: "
        "say which one your sandbox takes.",
    )
    sca_login: dict[str, Any] = Field(
        default_factory=lambda: {
            "factor": "SMS_OTP",
            "endUserIpAddress": "{ip}",
            "challengeId": "{challengeId}",
            "code": "{code}",
        },
        description="The body of `POST /sca/login/complete`; `{ip}` is `end_user_ip`, `{code}` "
        "is the one-time code, `{customerId}` and `{challengeId}` (a result of the trigger "
        "`sca.login`) are filled in, and a member whose value there is not is left "
        "out.",
    )
    end_user_ip: str = Field("203.0.113.7", description="The `endUserIpAddress` of requests.")
    reset_factor: str = Field("TOTP", description="A factor that can be reset, beside `SMS_OTP`.")
    reset_mobile: dict[str, Any] = Field(
        default_factory=lambda: {"countryCode": "+49", "number": "15112345678"},
        description="The `mobile` of the completion of an `SMS_OTP` reset.",
    )
    agent_headers: dict[str, str] = Field(
        default_factory=lambda: {"Authorization": "Bearer {token}"},
        description="The headers that carry an agent's credential; `{token}` is a result of the "
        "trigger `agent.connect`.",
    )
