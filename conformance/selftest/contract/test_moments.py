"""Moments in time: which texts are moments of ISO 8601, and which of them are in UTC."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.contract.moments import is_utc_moment, parse_moment

HALF_PAST_NINE = datetime(2026, 1, 15, 9, 30, tzinfo=UTC)
MIDNIGHT = datetime(2026, 1, 16, tzinfo=UTC)


class TestParsing:
    """A moment is read from each of its forms."""

    @pytest.mark.parametrize(
        "text",
        [
            "2026-01-15T09:30:00Z",
            "2026-01-15T09:30:00+00:00",
            "2026-01-15T09:30:00.000+00",
            "2026-01-15T09:30Z",
            "2026-01-15T09,5Z",
            "2026-015T09:30:00Z",
            "2026-W03-4T09:30:00Z",
            "20260115T093000Z",
            "20260115T093000,000Z",
            "2026015T0930+0000",
            "2026W034T093000Z",
            "2026-01-15T11:30:00+02:00",
        ],
    )
    def test_each_form_names_the_same_moment(self, text: str) -> None:
        """Basic and extended form, all kinds of dates, and any unit with a fraction are read."""
        assert parse_moment(text) == HALF_PAST_NINE

    @pytest.mark.parametrize("text", ["2026-01-15T24:00:00Z", "2026-01-15T23:59:60Z"])
    def test_a_day_may_end_with_the_hour_24_or_a_leap_second(self, text: str) -> None:
        """The hour 24 and a leap second are the beginning of the next day."""
        assert parse_moment(text) == MIDNIGHT

    def test_a_fraction_of_any_length_is_read(self) -> None:
        """More digits than those of microseconds are rounded."""
        moment = parse_moment("2026-01-15T09:30:00.1234567Z")

        assert moment == HALF_PAST_NINE + timedelta(microseconds=123_457)

    @pytest.mark.parametrize(
        "text",
        [
            "",
            "yesterday",
            "2026-01-15",
            "2026-01-15 09:30:00Z",
            "2026-02-30T09:30:00Z",
            "2026-13-01T09:30:00Z",
            "2026-01-15T25:00:00Z",
            "2026-01-15T24:00:01Z",
            "2026-01-15T09:60:00Z",
            "2026-01-15T09:30:00-00:00",
            "2026-01-15T093000Z",
            "20260115T09:30:00Z",
            "2026-01-15T09:30:00+0000",
            "9999-12-31T24:00:00Z",
        ],
    )
    def test_other_texts_are_none(self, text: str) -> None:
        """What is no moment, and what mixes both forms, is not in UTC either."""
        assert not is_utc_moment(text)

    @given(st.text())
    def test_any_text_is_judged(self, text: str) -> None:
        """Any text is a moment in UTC or is none."""
        assert is_utc_moment(text) in (True, False)


class TestZone:
    """A moment has to say that it is in UTC."""

    @pytest.mark.parametrize(
        ("text", "is_utc"),
        [
            ("2026-01-15T09:30:00Z", True),
            ("2026-01-15T09:30:00+00:00", True),
            ("2026-01-15T09:30:00", False),
            ("2026-01-15T09:30:00+02:00", False),
        ],
    )
    def test_only_utc_counts(self, text: str, *, is_utc: bool) -> None:
        """A zone of zero is UTC; another one, or none, is not."""
        assert is_utc_moment(text) is is_utc
