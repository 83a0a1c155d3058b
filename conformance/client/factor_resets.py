"""The suite in the part of a platform whose customers lose factors, and log in."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import httpx

from conformance.client.accounts import Accounts
from conformance.client.actor import Json, filled
from conformance.client.http import Answer
from conformance.target.triggers import Asked
from conformance.verdict.decisions import (
    FeatureUndeclared,
    PreconditionFailed,
    ResourceMissing,
    TriggerFailed,
)

PHONE = "SMS_OTP"
"""The factor that is reset to another phone."""

OVER = ("COMPLETED", "REJECTED", "EXPIRED")
"""The statuses of a reset that nothing follows."""

UNPASSED = ("INITIATED", "PENDING_REVIEW")
"""The statuses of a reset whose liveness check is not passed yet."""

_NOT_OFFERED = (405, 501, 503)


class FactorResets(Accounts):
    """Resets of lost factors, and the logins of customers who authenticate strongly.

    A reset is what its start answered, with its ``customerId`` and its ``factor``.
    """

    def start_reset(
        self,
        customer: Json,
        factor: str | None = None,
        *,
        body: Any = None,
        valid: bool = True,
    ) -> Answer:
        """Send ``POST /sca/factors/reset`` for a customer; one whose id is None is not named.

        Args:
            customer: the customer (its ``id`` is enough).
            factor: the lost one; by default ``bindings.reset_factor``.
            body: in the place of the usual one.
            valid: whether the request is meant to be valid.
        """
        usual = {
            "factor": factor or self.profile.bindings.reset_factor,
            "endUserIpAddress": self.profile.bindings.end_user_ip,
        }
        return self.client.call(
            "startFactorReset",
            query={"customerId": customer["id"]},
            body=usual if body is None else body,
            valid=valid,
        )

    def read_reset(self, reset: Json, *, valid: bool = True) -> Answer:
        """Send ``GET /sca/factors/reset/{resetId}``."""
        return self.client.call(
            "getFactorReset",
            path={"resetId": reset["resetId"]},
            query={"customerId": reset["customerId"]},
            valid=valid,
        )

    def complete_reset(self, reset: Json, body: Any = None, *, valid: bool = True) -> Answer:
        """Send ``POST /sca/factors/reset/{resetId}/complete``, with the usual body by default."""
        return self.client.call(
            "completeFactorReset",
            path={"resetId": reset["resetId"]},
            query={"customerId": reset["customerId"]},
            body=self.completion_body(reset) if body is None else body,
            valid=valid,
        )

    def completion_body(self, reset: Json) -> Json:
        """Return a body that completes a reset; it names a phone where the factor is one."""
        body: Json = {"endUserIpAddress": self.profile.bindings.end_user_ip}
        if reset["factor"] == PHONE:
            body["mobile"] = dict(self.profile.bindings.reset_mobile)
        return body

    def factor_holder(self, factor: str | None = None) -> Json:
        """Create a customer who needs SCA and has a factor, by default ``bindings.reset_factor``.

        Whether a new customer has it already is left open, so that it is enrolled where the
        profile knows how.
        """
        if not self.profile.features.factor_reset:
            raise FeatureUndeclared("the profile does not declare features.factor_reset")
        customer = self.sca_customer()
        self.enroll(customer, factor or self.profile.bindings.reset_factor, demanded=False)
        return customer

    def enroll(self, customer: Json, factor: str, *, demanded: bool = True) -> None:
        """Let a customer enroll a factor; unless it is demanded it may be enrolled already."""
        if not demanded and not self.triggers.maps("sca.enroll"):
            return
        try:
            self.cause("sca.enroll", customerId=customer["id"], factor=factor)
        except TriggerFailed as error:
            if demanded:
                raise
            self.observe(f"sca.enroll is refused: {error}")

    def factor_reset(self, customer: Json | None = None, factor: str | None = None) -> Json:
        """Start a reset, by default of a new customer and of ``bindings.reset_factor``."""
        lost = factor or self.profile.bindings.reset_factor
        owner = customer or self.factor_holder(lost)
        body = self.arranged(self.start_reset(owner, lost))
        if not isinstance(body, dict) or not isinstance(body.get("resetId"), str):
            raise PreconditionFailed(f"a started reset has no resetId: {body!r}")
        return {**body, "customerId": owner["id"], "factor": lost}

    def liveness(self, reset: Json, outcome: str) -> None:
        """Let the liveness check of a reset be submitted (``submit``), or ``pass``, or ``fail``."""
        self.cause(
            f"factor_reset.{outcome}", customerId=reset["customerId"], resetId=reset["resetId"]
        )

    def close_window(self, reset: Json) -> None:
        """Let the window of a reset close."""
        now = self.reset_now(reset)
        self.cause(
            "factor_reset.expire",
            customerId=reset["customerId"],
            resetId=reset["resetId"],
            expiresAt=now.get("expiresAt") or reset.get("expiresAt"),
        )

    def reset_now(self, reset: Json) -> Json:
        """Return a reset as it stands now."""
        body = self.arranged(self.read_reset(reset))
        if not isinstance(body, dict):
            raise PreconditionFailed(f"a reset is no object: {body!r}")
        return body

    def reset_in(self, reset: Json, *statuses: str) -> Json:
        """Return a reset once its status is one of ``statuses``.

        It is polled with growing pauses, until nothing can change any more: at a terminal status,
        or once its window has closed, or after ``timing.state`` of the profile.
        """
        wanted = {*statuses, *OVER}
        # That the window has closed may show a while after.
        waits = "EXPIRED" in statuses
        return self.until(
            lambda: self.reset_now(reset),
            lambda seen: seen.get("status") in wanted or (not waits and has_closed(seen)),
        )

    def initiated_reset(self, customer: Json | None = None, factor: str | None = None) -> Json:
        """Start a reset whose liveness check the customer has not taken yet."""
        return self._at(self.factor_reset(customer, factor), "INITIATED")

    def reviewed_reset(self, factor: str | None = None) -> Json:
        """Start a reset whose liveness check is submitted, and not decided."""
        reset = self.initiated_reset(factor=factor)
        self.liveness(reset, "submit")
        return self._at(reset, "PENDING_REVIEW")

    def passed_reset(self, customer: Json | None = None, factor: str | None = None) -> Json:
        """Start a reset whose liveness check is passed."""
        reset = self.factor_reset(customer, factor)
        if self.reset_now(reset).get("status") != "LIVENESS_PASSED":
            self.liveness(reset, "pass")
        return self._at(reset, "LIVENESS_PASSED")

    def completed_reset(self, customer: Json | None = None, factor: str | None = None) -> Json:
        """Start a reset and complete it."""
        reset = self.passed_reset(customer, factor)
        self.arranged(self.complete_reset(reset))
        return self._at(reset, "COMPLETED")

    def rejected_reset(self) -> Json:
        """Start a reset whose liveness check is failed."""
        reset = self.initiated_reset()
        self.liveness(reset, "fail")
        return self._at(reset, "REJECTED")

    def expired_reset(self) -> Json:
        """Start a reset whose window has closed."""
        reset = self.factor_reset()
        self.close_window(reset)
        return self._at(reset, "EXPIRED")

    def _at(self, reset: Json, status: str) -> Json:
        """Return a reset that has to have come to a status.

        Raises:
            ResourceMissing: it went on by itself, as the sandbox decides liveness checks at once.
            PreconditionFailed: it has another status.
        """
        seen = self.reset_in(reset, status, "LIVENESS_PASSED").get("status")
        if seen == status:
            return reset
        if status in UNPASSED and seen in ("PENDING_REVIEW", "LIVENESS_PASSED"):
            raise ResourceMissing(f"a reset comes to {seen} before it can be seen at {status}")
        raise PreconditionFailed(f"a reset should have come to {status}, and is at {seen}")

    def customer_outside_sca(self) -> Json:
        """Create a customer outside the regions of SCA.

        Raises:
            ResourceMissing: the platform takes no customer of the United States.
        """
        body = {**self.american_body(), "endUserTermsConsent": self.terms_consent()}
        answer = self.create_customer(body)
        if not answer.accepted or not isinstance(answer.body, dict) or "id" not in answer.body:
            raise ResourceMissing(
                f"no customer can be created outside the regions of SCA: {answer}"
            )
        return self.approved(answer.body)

    def begin_login(self, customer: Json) -> Asked | None:
        """Start a login, where there is such a step."""
        mapped = self.triggers.maps("sca.login")
        return self.ask("sca.login", customerId=customer["id"]) if mapped else None

    def login(self, customer: Json, *, auth: httpx.Auth | None = None) -> Answer:
        """Log a customer in: ``POST /sca/login/complete``, after a start where there is one."""
        return self.client.call(
            "completeScaLogin",
            query={"customerId": customer["id"]},
            body=self.login_body(customer),
            auth=auth,
        )

    def login_body(self, customer: Json) -> Json:
        """Return a body that completes a login, shaped by the bindings; it is started for it."""
        names = self.profile.bindings
        begun = self.begin_login(customer)
        if begun is not None and not begun.accepted:
            raise PreconditionFailed(f"a login cannot be started: {begun}")
        words = {
            "{ip}": names.end_user_ip,
            "{code}": names.sca_code,
            "{customerId}": customer["id"],
            "{challengeId}": None if begun is None else begun.results().get("challengeId"),
        }
        body: Json = filled(names.sca_login, words)
        return body

    def session(self, customer: Json) -> Json:
        """Log a customer in and return what the login answers."""
        answer = self.login(customer)
        if answer.status in _NOT_OFFERED:
            raise ResourceMissing(f"logins are not offered: {answer}")
        body = self.arranged(answer)
        if not isinstance(body, dict):
            raise PreconditionFailed(f"a login answers with no object: {answer}")
        return body


def has_closed(reset: Json) -> bool:
    """Return whether the window of a reset has closed, by our clock."""
    try:
        return datetime.fromisoformat(str(reset.get("expiresAt"))) < datetime.now(UTC)
    except (TypeError, ValueError):
        return False
