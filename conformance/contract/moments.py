"""Moments in time as ISO 8601 writes them."""

from __future__ import annotations

import re
from datetime import date, datetime, time, timedelta

UTC_MOMENT = "utc-moment"
"""What the OpenAPI document names this form in ``format``."""

_EXTENDED = re.compile(
    r"(\d{4}-(?:\d\d-\d\d|W\d\d-\d|\d{3}))T(\d\d(?::\d\d){0,2})(?:[.,](\d+))?"
    r"(Z|(?!-00)[+-]\d\d(?::\d\d)?|)",
    re.ASCII,
)
_BASIC = re.compile(
    r"(\d{4}(?:\d{4}|W\d{3}|\d{3}))T(\d\d(?:\d\d){0,2})(?:[.,](\d+))?"
    r"(Z|(?!-00)[+-]\d\d(?:\d\d)?|)",
    re.ASCII,
)
_ORDINAL_DIGITS = 7
_UNITS = (timedelta(hours=1), timedelta(minutes=1), timedelta(seconds=1))
# 24:00 ends a day, and second 60 is a leap second.
_MAX_OF_UNITS = (24, 59, 60)
_DAY = timedelta(days=1)


def parse_moment(text: str) -> datetime:
    """Return the moment that an ISO 8601 text names, without a zone where the text has none.

    Calendar, week and ordinal dates are read, in the extended form (``2026-01-15T09:30:00Z``) and
    in the basic one (``20260115T093000Z``), with a point or a comma before the fraction of the
    unit that comes last. Parts of a microsecond are rounded.

    Raises:
        ValueError: the text is no such moment.
    """
    found = _EXTENDED.fullmatch(text) or _BASIC.fullmatch(text)
    if found is None:
        raise ValueError(f"{text!r} is no moment of ISO 8601")
    day, clock, fraction, zone = found.groups()
    numbers = [int(pair) for pair in re.findall(r"\d\d", clock)]
    units = _UNITS[: len(numbers)]
    passed = sum(map(timedelta.__mul__, units, numbers), float(f".{fraction or 0}") * units[-1])
    within = all(number <= most for number, most in zip(numbers, _MAX_OF_UNITS, strict=False))
    if not within or (numbers[0] == _MAX_OF_UNITS[0] and passed > _DAY):
        raise ValueError(f"{text!r} has a time that no day has")
    return datetime.combine(_day(day), time.fromisoformat(f"00{zone}")) + passed


def is_utc_moment(text: str) -> bool:
    """Return whether a text is an ISO 8601 moment that is said to be in UTC."""
    try:
        return parse_moment(text).utcoffset() == timedelta()
    except (ValueError, OverflowError):
        return False


def _day(text: str) -> date:
    digits = text.replace("-", "")
    if len(digits) == _ORDINAL_DIGITS:
        return datetime.strptime(digits, "%Y%j").date()  # noqa: DTZ007 - a day has no zone
    return date.fromisoformat(text)
