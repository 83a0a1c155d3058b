"""Verifying the mail address and phone of a customer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.reference import errors
from conformance.reference.store import Json

if TYPE_CHECKING:
    from conformance.reference.unit import Ask, Unit


def send_email(unit: Unit, ask: Ask) -> Json:
    """Send a one-time code to the mail address."""
    raise errors.Refusal("NOT_IMPLEMENTED", "To be written.")


def confirm_email(unit: Unit, ask: Ask) -> Json:
    """Take the code that reached the mail address."""
    raise errors.Refusal("NOT_IMPLEMENTED", "To be written.")


def send_phone(unit: Unit, ask: Ask) -> Json:
    """Send a one-time code to the phone."""
    raise errors.Refusal("NOT_IMPLEMENTED", "To be written.")


def confirm_phone(unit: Unit, ask: Ask) -> Json:
    """Take the code that reached the phone."""
    raise errors.Refusal("NOT_IMPLEMENTED", "To be written.")
