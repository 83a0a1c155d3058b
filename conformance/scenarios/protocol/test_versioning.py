"""The version of the interface, which is the last segment of the base URL."""

from __future__ import annotations

from conformance.platform.platform import Platform
from conformance.scenarios.kit.marks import requirement

VERSION = "2025-10-13"

READ_OPERATIONS = ("getConfig", "listTransactions", "listPlatformInternalAccounts")
"""Operations that any platform can read with."""


@requirement("CNV-022")
def test_the_base_url_ends_in_the_version(platform: Platform) -> None:
    """The last segment is 2025-10-13, and at least one operation is served below it."""
    answers = [platform.api.client.call(name) for name in READ_OPERATIONS]

    assert any(answer.accepted for answer in answers), answers
    assert platform.api.client.base_url.rpartition("/")[2] == VERSION


def test_what_is_beside_the_version(platform: Platform) -> None:
    """Answers outside the version are recorded, as they are no part of the interface."""
    above = platform.api.client.base_url.rpartition("/")[0]
    urls = {"without a version": above, "below another version": f"{above}/2024-01-01"}

    for description, url in urls.items():
        answer = platform.api.client.stray("getConfig", path=f"{url}/config")
        platform.observe(f"GET /config {description} is answered with {answer.status}")
