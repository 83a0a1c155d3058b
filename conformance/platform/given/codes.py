"""One-time codes: those that a sandbox always sends, or that it tells one by one."""

from __future__ import annotations

from typing import Any

from conformance.platform.part import Context, Part
from conformance.platform.resource import Json
from conformance.verdict.decisions import TriggerFailed

CONTACT = "contact.code"
CHALLENGE = "sca.code"
"""The triggers that tell the code which a channel received, or which a challenge asks for."""


class OneTimeCodes(Part):
    """The right codes, as the profile has them: told by a trigger, or the same for all."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._unasked: set[tuple[Any, str]] = set()
        self._last: dict[tuple[Any, str], str] = {}

    @property
    def says_contact(self) -> bool:
        """Whether the profile says which code verifies a contact channel."""
        return self._triggers.maps(CONTACT) or self._says("contact_code")

    @property
    def says_challenge(self) -> bool:
        """Whether the profile says which code answers a challenge."""
        return self._triggers.maps(CHALLENGE) or self._says("sca_code")

    def of_contact(self, customer: Json, channel: str) -> str:
        """Return the code that a channel (``email`` or ``phone``) of a customer received last.

        It is asked for once, as a target may forget what was used. To a channel that received none
        the code of the bindings is as good as any.

        Raises:
            TriggerFailed: the trigger tells none.
        """
        if not self._triggers.maps(CONTACT):
            return self._profile.bindings.contact_code
        place = (customer["id"], channel)
        if place in self._unasked:
            self._last[place] = self._told(CONTACT, customerId=customer["id"], channel=channel)
            self._unasked.remove(place)
        return self._last.get(place, self._profile.bindings.contact_code)

    def note_contact(self, customer: Json, channel: str) -> None:
        """Take in that a channel of a customer was sent a code."""
        self._unasked.add((customer["id"], channel))

    def of_challenge(self, customer_id: Any, challenge_id: Any) -> str:
        """Return the code that a challenge of a customer asks for.

        Where there is no challenge the code of the bindings is as good as any.

        Args:
            customer_id: the customer, where it is known.
            challenge_id: the challenge, where there is one.

        Raises:
            TriggerFailed: the trigger tells none.
        """
        if not challenge_id or not self._triggers.maps(CHALLENGE):
            return self._profile.bindings.sca_code
        return self._told(
            CHALLENGE, customerId=str(customer_id or ""), challengeId=str(challenge_id)
        )

    def _says(self, binding: str) -> bool:
        return binding in self._profile.bindings.model_fields_set

    def _told(self, trigger: str, **parameters: str) -> str:
        code = self._triggers.fire(trigger, **parameters).get("code")
        if not isinstance(code, str | int) or isinstance(code, bool):
            raise TriggerFailed(f"{trigger} should return a code, and returned {code!r}")
        return str(code)
