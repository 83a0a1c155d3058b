"""Deterministic data: what a test sends follows from the seed of the run and the test's name."""

from __future__ import annotations

import hashlib
import json
import random
import re
import string
from collections.abc import Sequence
from typing import Any, TypeVar

KEY_LENGTH = 32
LENGTHS = (12, 12, 36)
"""How many characters a reference has, in the tests that draw it."""

CASES = (False, False, True)
"""Whether an id of the platform's own is in capitals, in the tests that draw it."""

_T = TypeVar("_T")

_GIVEN = ("Ada", "Noor", "Jonas", "Mireille", "Tomas", "Wanjiru", "Priya", "Lukas", "Ines", "Omar")
_FAMILY = ("Okafor", "Lindqvist", "Marchetti", "Novak", "Castillo", "Bauer", "Mensah", "Tanaka")


class Samples:
    """Names, numbers and amounts for one test, the same in every run with the same seed."""

    def __init__(self, seed: int, test: str) -> None:
        self._name = f"{seed}/{test}"
        self.random = random.Random(self._name)  # noqa: S311 - not for secrets

    def drawn(self, circumstance: str, options: Sequence[_T]) -> _T:
        """Return one of several ways to something that the test leaves open.

        What goes wrong in one of them alone is met by some of the tests, by others with another
        seed. A test draws the same as often as it asks, and no other data of it changes.
        """
        draw = random.Random(f"{self._name}/{circumstance}")  # noqa: S311 - not for secrets
        return draw.choice(options)

    def full_name(self) -> str:
        """Return a given and a family name."""
        return f"{self.random.choice(_GIVEN)} {self.random.choice(_FAMILY)}"

    def digits(self, count: int) -> str:
        """Return ``count`` digits, the first not 0 and the last three no sandbox suffix."""
        if count == 1:
            return "9"
        middle = "".join(self.random.choices(string.digits, k=count - 2))
        return self.random.choice("123456789") + middle + "9"

    def social_security_number(self) -> str:
        """Return a number of the form ``###-##-####`` in the ranges that are issued."""
        area, group = self.random.randint(100, 665), self.random.randint(10, 99)
        return f"{area}-{group}-{self.random.randint(1000, 9999)}"

    def reference(self) -> str:
        """Return a text that no other test uses, in some of the tests as long as a UUID."""
        length = self.drawn("the length of references", LENGTHS)
        return "".join(self.random.choices(string.ascii_lowercase + string.digits, k=length))

    def own_id(self) -> str:
        """Return an id of the platform's own: a reference, in capitals in some of the tests."""
        text = self.reference()
        return text.upper() if self.drawn("the case of the platform's ids", CASES) else text

    def idempotency_key(self, subject: Any) -> str:
        """Return an ``Idempotency-Key`` that no other request and no other run has.

        ``subject`` is what the request is about; it holds an id that the target has given.
        """
        about = f"{self.reference()}/{json.dumps(subject, sort_keys=True)}"
        return hashlib.sha256(about.encode()).hexdigest()[:KEY_LENGTH]

    def amount(self, low: int, high: int) -> int:
        """Return an amount between ``low`` and ``high`` in the smallest unit."""
        return self.random.randint(low, high)

    def filled(self, value: Any) -> Any:
        """Return a JSON value with a digit in the place of each ``#`` in its texts."""
        if isinstance(value, dict):
            return {name: self.filled(member) for name, member in value.items()}
        if isinstance(value, list):
            return [self.filled(member) for member in value]
        if isinstance(value, str):
            return re.sub("#", lambda _: self.random.choice(string.digits), value)
        return value
