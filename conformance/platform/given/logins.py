"""Logins of customers who authenticate strongly."""

from __future__ import annotations

from collections.abc import Callable

from conformance.exchange.answer import Answer
from conformance.platform.given.codes import OneTimeCodes
from conformance.platform.part import Context, Part
from conformance.platform.resource import Body, Json, arranged_body, fill_template
from conformance.platform.triggers import Asked
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing, TriggerMissing

_NOT_OFFERED = (405, 501, 503)
_WITHOUT_START = (400, 422)
_WITHOUT_SESSION = "SCA_SESSION_REQUIRED"


class Logins(Part):
    """Logins of customers who authenticate strongly."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.codes = OneTimeCodes(context)
        self._logged_in: set[str] = set()

    def in_session(self, customer_id: str | None, send: Callable[[], Answer]) -> Answer:
        """Send what needs a session of a customer, and once more after the first login of all.

        The specification does not say whether a customer has a session before that. One that a
        test let lapse is not opened again.
        """
        answer = send()
        if (
            customer_id is None
            or answer.code != _WITHOUT_SESSION
            or customer_id in self._logged_in
            or self._triggers.was_fired("sca.session_lapse", customerId=customer_id)
        ):
            return answer
        self._logged_in.add(customer_id)
        if not self.complete({"id": customer_id}).accepted:
            return answer
        self._observe("a customer has no session before a first login")
        return send()

    def begin(self, customer: Json) -> Asked | None:
        """Start a login, where there is such a step."""
        mapped = self._triggers.maps("sca.login")
        return self._triggers.ask("sca.login", customerId=customer["id"]) if mapped else None

    def complete(self, customer: Json) -> Answer:
        """Log a customer in: ``POST /sca/login/complete``, after a start where there is one."""
        return self._api.complete_sca_login({"customerId": customer["id"]}, self.body(customer))

    def body(self, customer: Json) -> Body:
        """Return a body that completes a login, shaped by the bindings; it is started for it."""
        names = self._profile.bindings
        begun = self.begin(customer)
        if begun is not None and not begun.accepted:
            raise PreconditionFailed(f"a login cannot be started: {begun}")
        challenge_id = None if begun is None else begun.results().get("challengeId")
        words = {
            "{ip}": names.end_user_ip,
            "{code}": self.codes.of_challenge(customer["id"], challenge_id),
            "{customerId}": customer["id"],
            "{challengeId}": challenge_id,
        }
        body: Body = fill_template(names.sca_login, words)
        return body

    def session(self, customer: Json) -> Body:
        """Log a customer in and return what the login answers.

        Raises:
            TriggerMissing: the login is refused, and the profile maps no way to start one.
        """
        answer = self.complete(customer)
        if answer.status in _WITHOUT_START and not self._triggers.maps("sca.login"):
            raise TriggerMissing("sca.login", f"a login may have to be started: {answer}")
        if answer.status in _NOT_OFFERED:
            raise ResourceMissing(f"logins are not offered: {answer}")
        body = arranged_body(answer)
        if not isinstance(body, dict):
            raise PreconditionFailed(f"a login answers with no object: {answer}")
        return body
