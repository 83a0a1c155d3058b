"""The version of the interface, which is the last segment of the base URL."""

from __future__ import annotations

from conformance.platform.platform import Platform
from conformance.scenarios.kit.marks import requirement

VERSION = "2025-10-13"

READ = ("getConfig", "listTransactions", "listPlatformInternalAccounts")
"""What any platform can read."""


@requirement("CNV-022")
def test_the_base_url_ends_in_the_version(platform: Platform) -> None:
    """And what the interface has is below it."""
    answers = [platform.api.client.call(name) for name in READ]

    assert any(answer.accepted for answer in answers), answers
    assert platform.api.client.base_url.rpartition("/")[2] == VERSION


def test_what_is_beside_the_version(platform: Platform) -> None:
    """It is none of the interface; what is there is noted."""
    above = platform.api.client.base_url.rpartition("/")[0]
    places = {"without a version": above, "below another version": f"{above}/2024-01-01"}

    for words, place in places.items():
        answer = platform.api.client.stray("getConfig", path=f"{place}/config")
        platform.observe(f"GET /config {words} is answered with {answer.status}")
