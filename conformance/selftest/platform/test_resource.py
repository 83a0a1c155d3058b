"""Resources: bodies that are not read, and identifiers that no resource has."""

from __future__ import annotations

import re
import uuid
from dataclasses import replace

import pytest

from conformance.platform.given.verification import submissions_in
from conformance.platform.resource import Resource, arranged_body, unknown_id
from conformance.selftest.exchange.test_differences import answered
from conformance.verdict.decisions import PreconditionFailed

MAX_INT_32, MAX_INT_64 = 2**31 - 1, 2**63 - 1


def test_what_is_not_read_is_told() -> None:
    """A body that is nested too deep is not taken for one that is empty."""
    empty = answered(204)
    unread = replace(empty, exchange=replace(empty.exchange, response_body='{"data": [[[…'))

    assert arranged_body(empty) is None
    with pytest.raises(PreconditionFailed, match="nested more than 64 levels deep"):
        arranged_body(unread)


def test_a_member_may_have_any_name() -> None:
    """Members that a target names as it likes are taken in beside others."""
    shown = {"id": "Quote:1", "self": 1, "members": 2}

    assert dict(Resource({"id": "Quote:0"}).but(**shown)) == shown


@pytest.mark.parametrize("summary", [{}, {"verificationStatus": "IN_PROGRESS", "errors": []}])
@pytest.mark.parametrize("listed", [[], [{"id": "Verification:1", "verificationStatus": "X"}]])
def test_submissions_stand_beside_a_summary(
    summary: dict[str, object], listed: list[dict[str, object]]
) -> None:
    """What is told of all of them is no submission itself."""
    assert submissions_in({**summary, "data": listed}) == listed


class TestUnknownId:
    """What an identifier keeps of its form, when another one is made of it."""

    @pytest.mark.parametrize(
        "identifier",
        [
            "f47ac10b-58cc-4372-a567-0e02b2c3d479",
            "01890a5d-ac96-774b-bcce-b302099a8057",
            "f47ac10b58cc4372a5670e02b2c3d479",
        ],
    )
    def test_a_uuid_keeps_its_version_and_variant(self, identifier: str) -> None:
        before, after = uuid.UUID(identifier), uuid.UUID(unknown_id(identifier))

        assert after != before
        assert (after.version, after.variant) == (before.version, before.variant)

    def test_a_ulid_keeps_its_time(self) -> None:
        after = unknown_id("Customer:01ARZ3NDEKTSV4RRFFQ69G5FAV")

        assert after != "Customer:01ARZ3NDEKTSV4RRFFQ69G5FAV"
        assert re.fullmatch("Customer:01ARZ3NDEK[0-9A-HJKMNP-TV-Z]{16}", after)

    def test_a_long_number_keeps_its_size(self) -> None:
        after = int(unknown_id("1541815603606036480"))

        assert after != 1541815603606036480
        assert after <= MAX_INT_64

    @pytest.mark.parametrize("identifier", ["Quote:7", "Quote:1042", "Quote:q-1042", "quote_99"])
    def test_what_is_counted_goes_far_beyond_the_count(self, identifier: str) -> None:
        number = re.search(r"\d+$", unknown_id(identifier))

        assert number is not None
        assert 10**9 < int(number[0]) <= MAX_INT_32

    @pytest.mark.parametrize("identifier", ["abcdefgh", "Card:99", "a", "", "99999999999999"])
    def test_it_is_always_another_one(self, identifier: str) -> None:
        assert unknown_id(identifier) != identifier
