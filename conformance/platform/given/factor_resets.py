"""Resets of lost factors."""

from __future__ import annotations

from typing import Any

from conformance.contract.moments import parse_moment
from conformance.contract.states import machine_of
from conformance.exchange.answer import Answer
from conformance.exchange.clock import now
from conformance.platform.given.approved import ApprovedCustomers
from conformance.platform.part import Context, Part
from conformance.platform.resource import Body, Json, Resource, arranged_body, as_resource
from conformance.verdict.decisions import (
    PreconditionFailed,
    ResourceMissing,
    TriggerFailed,
    TriggerMissing,
)

PHONE = "SMS_OTP"
"""The factor that is reset to another phone."""

OVER = ("COMPLETED", "REJECTED", "EXPIRED")
"""The statuses of a reset that nothing follows."""

_WITHOUT_FACTOR = (400, 404, 409, 422)

UNPASSED = ("INITIATED", "PENDING_REVIEW")
"""The statuses of a reset whose liveness check is not passed yet."""


class FactorResets(Part):
    """Resets of factors, at each of their statuses.

    A reset is what its start answered, with its ``customerId`` and its ``factor``.
    """

    def __init__(self, context: Context, approved: ApprovedCustomers) -> None:
        super().__init__(context)
        self._approved = approved

    def start(
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
            "factor": factor or self._profile.bindings.reset_factor,
            "endUserIpAddress": self._profile.bindings.end_user_ip,
        }
        return self._api.start_factor_reset(
            {"customerId": customer["id"]}, usual if body is None else body, valid=valid
        )

    def get(self, reset: Json, *, valid: bool = True) -> Answer:
        """Send ``GET /sca/factors/reset/{resetId}``."""
        return self._api.get_factor_reset(
            reset["resetId"], {"customerId": reset["customerId"]}, valid=valid
        )

    def complete(self, reset: Json, body: Any = None, *, valid: bool = True) -> Answer:
        """Send ``POST /sca/factors/reset/{resetId}/complete``, with the usual body by default."""
        return self._api.complete_factor_reset(
            reset["resetId"],
            {"customerId": reset["customerId"]},
            self.completion_body(reset) if body is None else body,
            valid=valid,
        )

    def completion_body(self, reset: Json) -> Body:
        """Return a body that completes a reset; it names a phone where the factor is one."""
        body: Body = {"endUserIpAddress": self._profile.bindings.end_user_ip}
        if reset["factor"] == PHONE:
            body["mobile"] = dict(self._profile.bindings.reset_mobile)
        return body

    def holder(self, factor: str | None = None, *, business: bool | None = None) -> Resource:
        """Create a customer who needs SCA and has a factor, by default ``bindings.reset_factor``.

        Whether a new customer has it already is left open, so that it is enrolled where the
        profile knows how.
        """
        self._require_feature("factor_reset")
        customer = self._approved.of_type(business, sca=True)
        self.enroll(customer, factor or self._profile.bindings.reset_factor, required=False)
        return customer

    def enroll(self, customer: Json, factor: str, *, required: bool = True) -> None:
        """Let a customer enroll a factor; unless it is required it may be enrolled already."""
        if not required and not self._triggers.maps("sca.enroll"):
            return
        try:
            self._triggers.fire("sca.enroll", customerId=customer["id"], factor=factor)
        except TriggerFailed as error:
            if required:
                raise
            self._observe(f"sca.enroll is refused: {error}")

    def require_factor(self, start: Answer, factor: str) -> Answer:
        """Return the answer to the start of a reset, where nothing but the factor may be missing.

        Raises:
            TriggerMissing: it is refused, and the profile knows no way to enroll the factor.
        """
        if start.status in _WITHOUT_FACTOR and not self._triggers.maps("sca.enroll"):
            raise TriggerMissing("sca.enroll", f"a new customer may have no {factor}: {start}")
        return start

    def started(self, customer: Json | None = None, factor: str | None = None) -> Resource:
        """Start a reset, by default of a new customer and of ``bindings.reset_factor``."""
        lost = factor or self._profile.bindings.reset_factor
        owner = customer or self.holder(lost)
        return self.begun(self.require_factor(self.start(owner, lost), lost), owner, lost)

    def begun(self, start: Answer, owner: Json, lost: str) -> Resource:
        """Return the reset of a factor that a customer has lost, by the answer to its start."""
        body = arranged_body(start)
        if not isinstance(body, dict) or not isinstance(body.get("resetId"), str):
            raise PreconditionFailed(f"a started reset has no resetId: {body!r}")
        return as_resource({**body, "customerId": owner["id"], "factor": lost}, owner)

    def liveness(self, reset: Json, outcome: str) -> None:
        """Let the liveness check of a reset be submitted (``submit``), or ``pass``, or ``fail``."""
        self._triggers.fire(
            f"factor_reset.{outcome}", customerId=reset["customerId"], resetId=reset["resetId"]
        )

    def close_window(self, reset: Json) -> None:
        """Let the window of a reset close."""
        now = self.read(reset)
        self._triggers.fire(
            "factor_reset.expire",
            customerId=reset["customerId"],
            resetId=reset["resetId"],
            expiresAt=now.get("expiresAt") or reset.get("expiresAt"),
        )

    def read(self, reset: Json) -> Body:
        """Return a reset as it stands now."""
        body = arranged_body(self.get(reset))
        if not isinstance(body, dict):
            raise PreconditionFailed(f"a reset is no object: {body!r}")
        return body

    def at_status(self, reset: Json, *statuses: str) -> Body:
        """Return a reset once its status is one of ``statuses``.

        It is polled with growing pauses, until nothing can change any more: at a terminal status,
        or once its window has closed, or after ``timing.state`` of the profile.
        """
        wanted = {*statuses, *OVER}
        # That the window has closed may show a while after.
        waits = "EXPIRED" in statuses
        return self._until(
            lambda: self.read(reset),
            lambda seen: seen.get("status") in wanted or (not waits and has_closed(seen)),
            f"reset {statuses}",
        )

    def initiated(self, customer: Json | None = None, factor: str | None = None) -> Resource:
        """Start a reset whose liveness check the customer has not taken yet."""
        return self._at(self.started(customer, factor), "INITIATED")

    def in_review(self, factor: str | None = None) -> Resource:
        """Start a reset whose liveness check is submitted, and not decided."""
        reset = self.initiated(factor=factor)
        self.liveness(reset, "submit")
        return self._at(reset, "PENDING_REVIEW", "INITIATED")

    def passed(self, customer: Json | None = None, factor: str | None = None) -> Resource:
        """Start a reset whose liveness check is passed."""
        return self.passed_from(self.started(customer, factor))

    def passed_from(self, reset: Resource) -> Resource:
        """Return a reset that was started once its liveness check is passed."""
        before = self.read(reset).get("status")
        if before != "LIVENESS_PASSED":
            self.liveness(reset, "pass")
        return self._at(reset, "LIVENESS_PASSED", before)

    def completed(self, customer: Json | None = None, factor: str | None = None) -> Resource:
        """Start a reset and complete it."""
        reset = self.passed(customer, factor)
        arranged_body(self.complete(reset))
        return self._at(reset, "COMPLETED", "LIVENESS_PASSED")

    def rejected(self, factor: str | None = None) -> Resource:
        """Start a reset whose liveness check is failed."""
        reset = self.initiated(factor=factor)
        self.liveness(reset, "fail")
        return self._at(reset, "REJECTED", "INITIATED")

    def expired(self, factor: str | None = None) -> Resource:
        """Start a reset whose window has closed."""
        reset = self.started(factor=factor)
        self.close_window(reset)
        return self._at(reset, "EXPIRED", "INITIATED")

    def _at(self, reset: Resource, status: str, before: str | None = None) -> Resource:
        """Return a reset that has to have come to a status.

        Args:
            reset: the reset.
            status: the status.
            before: the status that it was brought on from, if it was.

        Raises:
            ResourceMissing: it went on by itself, as the sandbox decides liveness checks at once.
            PreconditionFailed: it has another status.
        """
        # A sandbox that decides by itself may have passed it, and nothing more comes.
        passed = () if before == "LIVENESS_PASSED" else ("LIVENESS_PASSED",)
        now = self.at_status(reset, status, *passed)
        seen = now.get("status")
        if seen == status:
            return reset
        if status in UNPASSED and seen in ("PENDING_REVIEW", "LIVENESS_PASSED"):
            raise ResourceMissing(f"a reset comes to {seen} before it can be seen at {status}")
        stays = (
            before is not None and seen == before and (status == "EXPIRED" or not has_closed(now))
        )
        raise PreconditionFailed(
            f"a reset should have come to {status}, and is at {seen}",
            breaks=machine_of("factor-reset").moving(before, status) if stays else (),
        )


def has_closed(reset: Json) -> bool:
    """Return whether the window of a reset has closed, by our clock."""
    try:
        return parse_moment(str(reset.get("expiresAt"))) < now()
    except (TypeError, ValueError):
        return False
