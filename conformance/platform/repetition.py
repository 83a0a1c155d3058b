"""Targets that keep what they were sent, and take no customer twice.

Two runs with one seed send the same data. Where an id, an address or a number of a person can be
had once, a second run would be refused in its first steps, and not for any mistake of the target.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Mapping
from typing import Any

from conformance.exchange.answer import Answer
from conformance.testdata.samples import Samples
from conformance.verdict.decisions import PreconditionFailed

CREATION = "createCustomer"

_MAX_PROBES = 5
"""For how many refusals another person is tried, as a target may refuse every customer."""

_REFUSED = (400, 409, 422)

_OWN: Mapping[str, tuple[re.Pattern[str], Callable[[Samples], str]]] = {
    "platformCustomerId": (re.compile(r"[a-z0-9]{12,36}|[A-Z0-9]{12,36}"), Samples.own_id),
    "email": (
        re.compile(r"[a-z0-9]{12,36}@example\.com"),
        lambda samples: f"{samples.reference()}@example.com",
    ),
    "phoneNumber": (re.compile(r"\+1415555[1-9]\d\d9"), lambda s: f"+1415555{s.digits(4)}"),
    "identifier": (re.compile(r"[1-6]\d\d-[1-9]\d-[1-9]\d{3}"), Samples.social_security_number),
}
"""What tells one person from another, as the suite writes it, and what it writes for the next."""


class Repetition:
    """What the first refusals of customers tell: whether an earlier run has sent them.

    Args:
        create: sends a body to ``POST /customers``, without being judged.
    """

    def __init__(self, create: Callable[[Mapping[str, Any]], Answer]) -> None:
        self._create = create
        self._left = _MAX_PROBES
        self._is_repeated = False

    def heed(self, body: Any, answer: Answer) -> None:
        """Take in how a request for a customer was answered.

        Once one is taken, the data of this run are new to the target. Before that, another person
        is tried who differs from a refused one in nothing but what is a person's own.

        Raises:
            PreconditionFailed: the target takes other people than those of this seed.
        """
        if answer.accepted:
            self._left = 0
        elif self._left and answer.status in _REFUSED and isinstance(body, Mapping):
            other = _of_another_person(body)
            if other != body:
                self._left -= 1
                # Whoever refuses now and then takes the first one, too.
                self._is_repeated = self._create(other).accepted and not self._create(body).accepted
                if self._is_repeated:
                    self._left = 0
        if self._is_repeated and not answer.accepted:
            raise PreconditionFailed(
                "choose another --run-seed: an earlier run has sent the customers of this one, and "
                f"the target takes none twice: {answer}"
            )


def _of_another_person(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return a body in which what is a person's own, and written as by the suite, is new."""
    samples = Samples(secrets.randbits(64), "another person")
    return {
        name: _OWN[name][1](samples)
        if name in _OWN and isinstance(value, str) and _OWN[name][0].fullmatch(value)
        else value
        for name, value in body.items()
    }
